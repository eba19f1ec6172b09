//! What an author puts into a paper: a row a variant in each setting, and of the metrics that most are about the mean
//! with half of its confidence interval, or the median with quartiles.

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, ReportTable};
use crate::metric::stats::Describe;
use crate::study::composition::Composition;
use crate::study::groups::{GroupKey, Had, Kin, Samplings};
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

/// A group of flows and of runs of one flow; or of runs of which only is known what several flows had together.
struct Row {
    key: GroupKey,
    composition: Option<Composition>,
    had: Had,
    of: BTreeMap<Metric, Describe>,
}

impl Row {
    fn n(&self) -> u64 {
        self.of.values().map(|of| of.n as u64).max().unwrap_or(0)
    }

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

pub(super) fn tables(
    results: &StudyResults,
    samples: &Samplings,
    delay: Metric,
) -> Vec<ReportTable> {
    let metrics = metrics(delay);
    let rows = rows(results, samples, &metrics.map(|(metric, ..)| metric));
    // Where labels tell all rows apart, what their flows are says nothing more.
    let keys: BTreeSet<&GroupKey> = rows.iter().map(|row| &row.key).collect();
    let is_told = keys.len() < rows.len();
    let mut builder = Builder::new(rows).labels(results, &results.group_by, |row| &row.key);
    if is_told {
        builder = builder.text("composition", Row::flows);
    }
    builder = builder.count("n", |row| Some(row.n()));
    let has_interval = builder.any(|row| row.of.values().any(|of| of.ci95.is_some()));
    for (metric, name, factor) in metrics {
        let scaled = |row: &Row, of: fn(&Describe) -> f64| Some(of(row.of.get(&metric)?) * factor);
        if results.average == Average::Median {
            builder = builder
                .real(format!("{name}_median"), |row| scaled(row, |of| of.median))
                .real(format!("{name}_q1"), |row| scaled(row, |of| of.q1))
                .real(format!("{name}_q3"), |row| scaled(row, |of| of.q3))
                .count(format!("{name}_n"), |row| {
                    Some(row.of.get(&metric)?.n as u64)
                });
            continue;
        }
        let half = |of: &Describe| Some((of.ci95?.high - of.ci95?.low) / 2.0);
        builder = builder
            .real(format!("{name}_mean"), |row| scaled(row, |of| of.mean))
            .real(format!("{name}_ci95_half"), |row| {
                Some(half(row.of.get(&metric)?)? * factor)
            })
            .count(format!("{name}_n"), |row| {
                Some(row.of.get(&metric)?.n as u64)
            });
    }
    let title = if results.average == Average::Median {
        "Medians of each group, with quartiles"
    } else if has_interval {
        "Means of each group, ± half of their 95 % confidence interval"
    } else {
        "Means of each group"
    };
    vec![builder.table("summary", title)]
}

/// What a flow got, alone and beside others; what several got together where no more is known.
fn rows(results: &StudyResults, samples: &Samplings, metrics: &[Metric]) -> Vec<Row> {
    // Those that the manifest wants.
    let wanted: BTreeSet<Metric> = results.groups.iter().map(|group| group.metric).collect();
    let mut rows: BTreeMap<(&Kin, Had), Row> = BTreeMap::new();
    for &metric in metrics.iter().filter(|metric| wanted.contains(metric)) {
        for ((kin, had), samples) in samples.of_any(metric) {
            let Some(described) = Describe::of(&samples) else {
                continue;
            };
            let row = rows.entry((kin, had)).or_insert_with(|| Row {
                key: kin.0.clone(),
                composition: kin.1.clone(),
                had,
                of: BTreeMap::new(),
            });
            row.of.insert(metric, described);
        }
    }
    rows.into_values().collect()
}
