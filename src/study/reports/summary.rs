//! What an author puts into a paper: a row a variant in each setting, and of the metrics that most are about the mean
//! with half of its confidence interval, or the median with quartiles.

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, ReportTable};
use crate::metric::stats::Describe;
use crate::study::composition::Composition;
use crate::study::groups::{GroupKey, Had, Kin, Samplings};
use crate::study::labels::{Label, LabelKind, LabelValue, UNLABELLED};
use crate::study::metrics::Metric;
use crate::study::plan::Average;
use crate::study::results::StudyResults;

/// What it may tell of delays: the first, where the manifest does not say it.
pub(super) const DELAYS: [Metric; 2] = [Metric::RttNsMean, Metric::QueueDelayNsMean];

/// What stands behind the flows of runs whose numbers are of all of them.
const TOGETHER: &str = "together";

/// What the table is about: the beginning of the names of its columns, and the factor to their unit.
fn metrics(delay: Metric) -> [(Metric, &'static str, f64); 4] {
    let delay_ms = match delay {
        Metric::QueueDelayNsMean => "queue_delay_ms",
        _ => "rtt_ms",
    };
    [
        (Metric::GoodputBps, "goodput_mbps", 1e-6),
        (Metric::CompletionNs, "completion_s", 1e-9),
        (delay, delay_ms, 1e-6),
        (Metric::RetransmissionRate, "retransmission_percent", 100.0),
    ]
}

/// What is known of each metric.
type OfMetrics = BTreeMap<Metric, Describe>;

/// A group of flows and of runs of one flow; or of runs of which only is known what several flows had together. Or
/// several such groups that the label of the columns alone tells apart.
struct Row {
    key: GroupKey,
    composition: Option<Composition>,
    had: Had,
    /// By the value of the label of the columns.
    of: BTreeMap<Option<LabelValue>, OfMetrics>,
}

impl Row {
    /// The flows of its runs, in words.
    fn flows(&self) -> Option<String> {
        let words = self.composition.as_ref().map(Composition::words);
        match self.had {
            Had::OneFlow => words,
            Had::Several => Some(words.map_or_else(
                || TOGETHER.to_owned(),
                |words| format!("{words} {TOGETHER}"),
            )),
        }
    }
}

/// The most values that one of its metrics has.
fn n(of: &OfMetrics) -> Option<u64> {
    of.values().map(|of| of.n as u64).max()
}

/// Values of a label that have columns of their own; of more, as of a label with a value a run, all are rows.
const COLUMNS_MAX: usize = 64;

/// A value of the label of the columns in words, as it stands above these: a number with its unit.
fn above(label: &Label, value: Option<&LabelValue>) -> String {
    match (value, label.kind) {
        (None, _) => UNLABELLED.to_owned(),
        (Some(value), LabelKind::Number(Some(unit))) => {
            format!("{} {}", value.text(), unit.symbol())
        }
        (Some(value), LabelKind::Number(None)) => format!("{} {}", label.name, value.text()),
        (Some(value), LabelKind::Text) => value.text().to_owned(),
    }
}

pub(super) fn tables(
    results: &StudyResults,
    samples: &Samplings,
    delay: Metric,
    columns: Option<usize>,
) -> Vec<ReportTable> {
    let metrics = metrics(delay);
    let wanted = metrics.map(|(metric, ..)| metric);
    let mut columns = columns;
    let mut rows = rows(results, samples, &wanted, columns);
    let values_of = |rows: &[Row]| -> BTreeSet<Option<LabelValue>> {
        rows.iter().flat_map(|row| row.of.keys().cloned()).collect()
    };
    let mut values = values_of(&rows);
    let too_many = columns.filter(|_| values.len() > COLUMNS_MAX);
    if too_many.is_some() {
        columns = None;
        rows = self::rows(results, samples, &wanted, None);
        values = values_of(&rows);
    }
    // Where labels tell all rows apart, what their flows are says nothing more.
    let keys: BTreeSet<&GroupKey> = rows.iter().map(|row| &row.key).collect();
    let is_told = keys.len() < rows.len();
    let places = others(results, columns);
    let mut builder = Builder::new(rows).labels(results, &places, |row| &row.key);
    if is_told {
        builder = builder.text("composition", Row::flows);
    }
    for value in &values {
        let above = columns.map(|place| above(&results.labels[place], value.as_ref()));
        let of = |row: &Row| row.of.get(value).cloned();
        builder = of_value(builder, of, above.as_deref(), (metrics, results.average));
    }
    let has_interval = |row: &Row| {
        let mut all = row.of.values().flat_map(BTreeMap::values);
        all.any(|of| of.ci95.is_some())
    };
    let title = match results.average {
        Average::Median => "Medians of each group, with quartiles",
        Average::Mean if builder.any(has_interval) => {
            "Means of each group, ± half of their 95 % confidence interval"
        }
        Average::Mean => "Means of each group",
    };
    let title = match (columns, too_many) {
        (Some(place), _) => format!("{title}, {} in columns", results.labels[place].name),
        (None, Some(place)) => format!(
            "{title}; {} has more than {COLUMNS_MAX} values, too many for columns",
            results.labels[place].name
        ),
        (None, None) => title.to_owned(),
    };
    vec![builder.table("summary", &title)]
}

/// A part of what is known of a metric.
type Part = (&'static str, fn(&Describe) -> Option<f64>);

/// What stands for several runs.
const fn parts(average: Average) -> &'static [Part] {
    match average {
        Average::Mean => &[
            ("mean", |of| Some(of.mean)),
            ("ci95_half", |of| {
                let interval = of.ci95?;
                Some((interval.high - interval.low) / 2.0)
            }),
        ],
        Average::Median => &[
            ("median", |of| Some(of.median)),
            ("q1", |of| Some(of.q1)),
            ("q3", |of| Some(of.q3)),
        ],
    }
}

/// The columns of one value of the label that has columns, below what stands above them.
fn of_value(
    mut builder: Builder<Row>,
    of: impl Fn(&Row) -> Option<OfMetrics>,
    above: Option<&str>,
    (metrics, average): ([(Metric, &'static str, f64); 4], Average),
) -> Builder<Row> {
    let named = |name: &str| match above {
        Some(above) => format!("{above}_{name}"),
        None => name.to_owned(),
    };
    let below = |builder: Builder<Row>| match above {
        Some(above) => builder.below(above),
        None => builder,
    };
    builder = below(builder.count(named("n"), |row| n(&of(row)?)));
    for (metric, name, factor) in metrics {
        let described = |row: &Row| of(row)?.get(&metric).copied();
        for (part, value) in parts(average) {
            let name = named(&format!("{name}_{part}"));
            builder = below(builder.real(name, |row| Some(value(&described(row)?)? * factor)));
        }
        let name = named(&format!("{name}_n"));
        builder = below(builder.count(name, |row| Some(described(row)?.n as u64)));
    }
    builder
}

/// The labels that make the groups, without that of the columns.
fn others(results: &StudyResults, columns: Option<usize>) -> Vec<usize> {
    let places = results.group_by.iter().copied();
    places.filter(|&place| Some(place) != columns).collect()
}

/// What a flow got, alone and beside others; what several got together where no more is known.
fn rows(
    results: &StudyResults,
    samples: &Samplings,
    metrics: &[Metric],
    columns: Option<usize>,
) -> Vec<Row> {
    let column = results
        .group_by
        .iter()
        .position(|&place| Some(place) == columns);
    // Those that the manifest wants.
    let wanted: BTreeSet<Metric> = results.groups.iter().map(|group| group.metric).collect();
    let mut rows: BTreeMap<(Kin, Had), Row> = BTreeMap::new();
    for &metric in metrics.iter().filter(|metric| wanted.contains(metric)) {
        for ((kin, had), samples) in samples.of_any(metric) {
            let Some(described) = Describe::of(&samples) else {
                continue;
            };
            let (mut key, composition) = kin.clone();
            let value = column.and_then(|column| key.remove(column));
            let row = rows.entry(((key.clone(), composition.clone()), had));
            let row = row.or_insert_with(|| Row {
                key,
                composition,
                had,
                of: BTreeMap::new(),
            });
            let of_value = row.of.entry(value).or_default();
            of_value.insert(metric, described);
        }
    }
    rows.into_values().collect()
}
