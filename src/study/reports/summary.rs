//! What an author puts into a paper: a row a variant in each setting, and of the metrics that most are about the mean
//! with half of its confidence interval.

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, ReportTable, key};
use crate::metric::stats::Describe;
use crate::study::composition::Composition;
use crate::study::groups::{GroupKey, SampleKind};
use crate::study::metrics::Metric;
use crate::study::results::StudyResults;

/// What it may tell of delays: the first, where the manifest does not say it.
pub(super) const DELAYS: [Metric; 2] = [Metric::RttNsMean, Metric::QueueDelayNsMean];

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

/// A group of flows, or of runs of which no flows are known.
struct Row {
    key: GroupKey,
    composition: Option<Composition>,
    of: BTreeMap<Metric, Describe>,
}

impl Row {
    fn n(&self) -> u64 {
        self.of.values().map(|of| of.n as u64).max().unwrap_or(0)
    }
}

pub(super) fn tables(results: &StudyResults, delay: Metric) -> Vec<ReportTable> {
    let metrics = metrics(delay);
    let rows = rows(results, &metrics.map(|(metric, ..)| metric));
    // Where labels tell all rows apart, what their flows are says nothing more.
    let keys: BTreeSet<&GroupKey> = rows.iter().map(|row| &row.key).collect();
    let is_told = keys.len() < rows.len();
    let mut builder = Builder::new(rows).labels(results, &results.group_by, |row| &row.key);
    if is_told {
        builder = builder.text("composition", |row| {
            row.composition.as_ref().map(Composition::words)
        });
    }
    builder = builder.count("n", |row| Some(row.n()));
    for (metric, name, factor) in metrics {
        let half = |of: &Describe| Some((of.ci95?.high - of.ci95?.low) / 2.0);
        builder = builder
            .real(format!("{name}_mean"), |row| {
                Some(row.of.get(&metric)?.mean * factor)
            })
            .real(format!("{name}_ci95_half"), |row| {
                Some(half(row.of.get(&metric)?)? * factor)
            })
            .count(format!("{name}_n"), |row| {
                Some(row.of.get(&metric)?.n as u64)
            });
    }
    vec![builder.table(
        "summary",
        "Means of each group, ± half of their 95 % confidence interval",
    )]
}

/// What a flow got, alone and beside others; what a run got where its flows are not known.
fn rows(results: &StudyResults, metrics: &[Metric]) -> Vec<Row> {
    let without_flows = results.runs.iter().filter(|run| run.flows.is_empty());
    let without_flows: BTreeSet<GroupKey> = without_flows
        .map(|run| key(&run.labels, &results.group_by))
        .collect();
    let mut rows: BTreeMap<(&GroupKey, &Option<Composition>), Row> = BTreeMap::new();
    // Runs stand before flows, which take their place where both are known.
    for group in &results.groups {
        let is_row = group.kind == SampleKind::Flow || without_flows.contains(&group.key);
        let is_shown = metrics.contains(&group.metric);
        if is_row && is_shown {
            let row = rows
                .entry((&group.key, &group.composition))
                .or_insert_with(|| Row {
                    key: group.key.clone(),
                    composition: group.composition.clone(),
                    of: BTreeMap::new(),
                });
            row.of.insert(group.metric, group.statistics);
        }
    }
    rows.into_values().collect()
}
