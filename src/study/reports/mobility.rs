//! The mobility study: goodput, delay, retransmissions and the balanced metric in bins of time.

use std::collections::BTreeMap;

use super::{Builder, ReportTable, conditions, key};
use crate::metric::stats::{Describe, mean, quantile};
use crate::study::groups::GroupKey;
use crate::study::labels::LabelValue;
use crate::study::measure::{FlowMeasure, Sample};
use crate::study::metrics::Metric;
use crate::study::results::StudyResults;

/// Steps of the distribution of the balanced metric.
const ECDF_STEPS: u32 = 100;

/// One variant in one scenario.
struct Row {
    key: GroupKey,
    variant: Option<LabelValue>,
    runs: u64,
    samples: u64,
    /// Means of each run, over its flows.
    goodput_mbps: Vec<f64>,
    rtt_ms: Vec<f64>,
    retransmitted: Vec<f64>,
    pm: Vec<f64>,
    /// All samples of the balanced metric, ascending.
    pm_samples: Vec<f64>,
}

/// Means of each run.
type Measure = fn(&Row) -> &Vec<f64>;

/// The best variant of a scenario by one measure.
struct Best {
    key: GroupKey,
    measure: &'static str,
    variant: String,
    mean: f64,
    /// Others whose mean is the same, or whose confidence interval overlaps the best one's.
    also: Vec<String>,
}

pub(super) fn tables(results: &StudyResults, variant: usize) -> Vec<ReportTable> {
    let places = conditions(results, variant);
    let rows = rows(results, variant, &places);
    let best = rows.chunk_by(|a, b| a.key == b.key).flat_map(|scenario| {
        [
            best(scenario, "goodput", |row| &row.goodput_mbps),
            best(scenario, "pm", |row| &row.pm),
        ]
    });
    let best: Vec<Best> = best.flatten().collect();
    let label = results.labels[variant].column();
    let ecdf = ecdf_table(results, &rows, &places, &label);
    let mut builder = Builder::new(rows)
        .labels(results, &places, |row| &row.key)
        .label(&label, |row| row.variant.as_ref())
        .count("runs", |row| Some(row.runs))
        .count("samples", |row| Some(row.samples));
    let columns: [(&str, Measure); 4] = [
        ("goodput_mbps", |row| &row.goodput_mbps),
        ("rtt_ms", |row| &row.rtt_ms),
        ("retransmitted_packets", |row| &row.retransmitted),
        ("pm", |row| &row.pm),
    ];
    for (name, values) in columns {
        let described = move |row: &Row| Describe::of(values(row));
        builder = builder
            .real(format!("{name}_mean"), |row| Some(described(row)?.mean))
            .real(format!("{name}_ci95_low"), |row| {
                Some(described(row)?.ci95?.low)
            })
            .real(format!("{name}_ci95_high"), |row| {
                Some(described(row)?.ci95?.high)
            });
    }
    vec![
        builder.table(
            "mobility",
            "Means over the bins of each run, and half of their 95 % confidence interval over runs",
        ),
        Builder::new(best)
            .labels(results, &places, |best| &best.key)
            .text("measure", |best| Some(best.measure.to_owned()))
            .text("best", |best| Some(best.variant.clone()))
            .real("mean", |best| Some(best.mean))
            .text("also", |best| {
                (!best.also.is_empty()).then(|| best.also.join(", "))
            })
            .table(
                "mobility-best",
                "The best variant of each scenario by goodput (Mbit/s) and by the balanced metric",
            ),
        ecdf,
    ]
}

/// A row a step of the distribution of each variant's samples; `label` is the column of the variant.
fn ecdf_table(results: &StudyResults, rows: &[Row], places: &[usize], label: &str) -> ReportTable {
    let points: Vec<(GroupKey, Option<LabelValue>, f64, Option<f64>)> = rows
        .iter()
        .filter(|row| !row.pm_samples.is_empty())
        .flat_map(|row| {
            (0..=ECDF_STEPS).map(|step| {
                let share = f64::from(step) / f64::from(ECDF_STEPS);
                let value = quantile(&row.pm_samples, share);
                (row.key.clone(), row.variant.clone(), share, value)
            })
        })
        .collect();
    Builder::new(points)
        .labels(results, places, |(key, _, _, _)| key)
        .label(label, |(_, variant, _, _)| variant.as_ref())
        .real("share", |&(_, _, share, _)| Some(share))
        .real("pm", |&(_, _, _, value)| value)
        .table(
            "mobility-pm-ecdf",
            "The share of bins whose balanced metric is not above pm",
        )
}

fn rows(results: &StudyResults, variant: usize, places: &[usize]) -> Vec<Row> {
    let mut rows: BTreeMap<(GroupKey, Option<LabelValue>), Row> = BTreeMap::new();
    for run in &results.runs {
        // The flows of a run are not independent: those of one variant are one value (METRICS.md Y5).
        let mut flows: BTreeMap<(GroupKey, Option<LabelValue>), [Vec<f64>; 4]> = BTreeMap::new();
        for flow in &run.flows {
            let samples = &flow.measure.samples;
            let of = (key(&flow.labels, places), flow.labels[variant].clone());
            let row = rows.entry(of.clone()).or_insert_with(|| Row::new(&of));
            row.samples += samples.len() as u64 + flow.measure.silent_bins;
            row.pm_samples
                .extend(samples.iter().filter_map(|sample| sample.pm));
            let means = flows.entry(of).or_default();
            for (means, mean) in means.iter_mut().zip(means_over_bins(&flow.measure)) {
                means.extend(mean);
            }
        }
        for (of, means) in flows {
            if let Some(row) = rows.get_mut(&of) {
                row.runs += u64::from(means.iter().any(|values| !values.is_empty()));
                let [goodput_mbps, rtt_ms, retransmitted, pm] = means.map(|values| mean(&values));
                row.goodput_mbps.extend(goodput_mbps);
                row.rtt_ms.extend(rtt_ms);
                row.retransmitted.extend(retransmitted);
                row.pm.extend(pm);
            }
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    for row in &mut rows {
        row.pm_samples.sort_by(f64::total_cmp);
    }
    rows
}

/// Means over the bins of a flow: goodput in Mbit/s, round-trip time in ms, retransmitted packets, balanced metric.
pub(crate) fn means_over_bins(flow: &FlowMeasure) -> [Option<f64>; 4] {
    MEASURES.map(|(measure, sum)| {
        let values: Vec<f64> = flow.samples.iter().filter_map(measure).collect();
        // In silent bins there was nothing of what is summed up, where that is known.
        let is_known = sum.and_then(|sum| flow.values.get(sum)).is_some();
        let silent = if is_known { flow.silent_bins } else { 0 };
        mean_with_zeros(&values, silent)
    })
}

/// The mean of some values and of so many zeros.
fn mean_with_zeros(values: &[f64], zeros: u64) -> Option<f64> {
    let n = values.len() as f64;
    let of_values = mean(values).unwrap_or(0.0);
    let all = n + zeros as f64;
    (all > 0.0).then(|| of_values * n / all)
}

/// A measure of a bin and, where it is 0 in a silent one, what it is a part of.
type MeasureOfBin = (fn(&Sample) -> Option<f64>, Option<Metric>);

/// Goodput, round-trip time, retransmitted packets and balanced metric of a bin, in the units of the table.
const MEASURES: [MeasureOfBin; 4] = [
    (
        |sample| Some(sample.goodput_bps? / 1e6),
        Some(Metric::GoodputBps),
    ),
    (|sample| Some(sample.rtt_ns_mean? / 1e6), None),
    (
        |sample| Some(sample.retransmitted_packets? as f64),
        Some(Metric::RetransmittedPackets),
    ),
    (|sample| sample.pm, None),
];

impl Row {
    fn new((key, variant): &(GroupKey, Option<LabelValue>)) -> Self {
        Self {
            key: key.clone(),
            variant: variant.clone(),
            runs: 0,
            samples: 0,
            goodput_mbps: Vec::new(),
            rtt_ms: Vec::new(),
            retransmitted: Vec::new(),
            pm: Vec::new(),
            pm_samples: Vec::new(),
        }
    }
}

/// The variant with the largest mean, of equal ones the first, and those that may be as good.
fn best(scenario: &[Row], measure: &'static str, values: Measure) -> Option<Best> {
    let described: Vec<(&Row, Describe)> = scenario
        .iter()
        .filter_map(|row| Some((row, Describe::of(values(row))?)))
        .collect();
    let name = |row: &Row| {
        row.variant
            .as_ref()
            .map_or("-", LabelValue::text)
            .to_owned()
    };
    let larger = |best, other| {
        let (_, most): &(&Row, Describe) = best;
        let (_, of_other): &(&Row, Describe) = other;
        if of_other.mean > most.mean {
            other
        } else {
            best
        }
    };
    let (first, most) = described.iter().reduce(larger)?;
    let also = described
        .iter()
        .filter(|(row, _)| !std::ptr::eq(*row, *first))
        .filter(|(_, other)| {
            let reaches = most.ci95.zip(other.ci95);
            other.mean >= most.mean || reaches.is_some_and(|(most, other)| other.high >= most.low)
        })
        .map(|(row, _)| name(row))
        .collect();
    Some(Best {
        key: first.key.clone(),
        measure,
        variant: name(first),
        mean: most.mean,
        also,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::labels::{Label, LabelKind};

    #[test]
    fn of_equal_means_the_first_is_best_and_the_others_are_as_good() {
        let label = Label {
            name: "cca".to_owned(),
            kind: LabelKind::Text,
            order: Vec::new(),
            names: Vec::new(),
            of_flows: false,
        };
        let row = |variant: &str, goodput_mbps: f64| Row {
            goodput_mbps: vec![goodput_mbps],
            ..Row::new(&(Vec::new(), label.value(variant).ok()))
        };
        let rows = [row("bbr", 9.0), row("cubic", 10.0), row("reno", 10.0)];
        let best = best(&rows, "goodput", |row| &row.goodput_mbps).unwrap();
        assert_eq!((best.variant.as_str(), best.mean), ("cubic", 10.0));
        // One run has no interval that could reach anywhere.
        assert_eq!(best.also, ["reno"]);
    }
}
