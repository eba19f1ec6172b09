//! The fairness study: two flows against each other, in both orders of start.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Builder, ReportTable, conditions, key};
use crate::metric::stats::{Describe, mean};
use crate::study::groups::GroupKey;
use crate::study::labels::LabelValue;
use crate::study::metrics::Metric;
use crate::study::results::{StudyResults, StudyRun};

/// Runs in which the same variants met in the same order.
struct Row<'a> {
    key: GroupKey,
    first: Option<LabelValue>,
    second: Option<LabelValue>,
    runs: Vec<&'a StudyRun>,
}

impl Row<'_> {
    fn of_runs(&self, metric: Metric) -> Vec<f64> {
        self.runs
            .iter()
            .filter_map(|run| run.values.get(metric))
            .collect()
    }

    /// Mean over the runs of a number of the first (0) or second (1) flow.
    fn of_flow(&self, flow: usize, metric: Metric) -> Option<f64> {
        let values: Vec<f64> = self
            .runs
            .iter()
            .filter_map(|run| run.flows[flow].measure.values.get(metric))
            .collect();
        mean(&values)
    }

    fn fness(&self) -> Option<Describe> {
        Describe::of(&self.of_runs(Metric::Fness))
    }
}

/// Two variants in both orders, seen from the first of them by name.
struct Orders {
    key: GroupKey,
    a: LabelValue,
    b: LabelValue,
    a_first: Option<Describe>,
    b_first: Option<Describe>,
}

pub(super) fn tables(results: &StudyResults, variant: usize) -> Vec<ReportTable> {
    let places = conditions(results, variant);
    let rows = rows(results, variant, &places);
    let orders = orders(&rows);
    let text = |value: &Option<LabelValue>| value.as_ref().map(|value| value.text().to_owned());
    let mut builder = Builder::new(rows)
        .labels(results, &places, |row| &row.key)
        .text("first", |row| text(&row.first))
        .text("second", |row| text(&row.second))
        .count("runs", |row| Some(row.runs.len() as u64))
        .real("fness_mean", |row| Some(row.fness()?.mean))
        .real("fness_median", |row| Some(row.fness()?.median))
        .real("fness_q1", |row| Some(row.fness()?.q1))
        .real("fness_q3", |row| Some(row.fness()?.q3))
        .real("queue_share_percent", |row| {
            Some(mean(&row.of_runs(Metric::QueueShare))? * 100.0)
        })
        .real("queue_occupancy_percent", |row| {
            Some(mean(&row.of_runs(Metric::QueueOccupancy))? * 100.0)
        });
    let columns = [
        ("queue_occupancy_percent", Metric::QueueOccupancy, 100.0),
        ("queue_dropped_packets", Metric::QueueDroppedPackets, 1.0),
        ("retransmitted_packets", Metric::RetransmittedPackets, 1.0),
        ("goodput_mbps", Metric::GoodputBps, 1e-6),
        ("acked_mb", Metric::AckedBytes, 1e-6),
        ("completion_s", Metric::CompletionNs, 1e-9),
    ];
    for (name, metric, factor) in columns {
        for (flow, order) in ["first", "second"].into_iter().enumerate() {
            builder = builder.real(format!("{order}_{name}"), |row| {
                Some(row.of_flow(flow, metric)? * factor)
            });
        }
    }
    vec![
        builder.table(
            "pairs",
            "Two flows that share a link: means over the runs of each pair and order of start",
        ),
        Builder::new(orders)
            .labels(results, &places, |orders| &orders.key)
            .text("a", |orders| Some(orders.a.text().to_owned()))
            .text("b", |orders| Some(orders.b.text().to_owned()))
            .count("a_first_runs", |orders| Some(orders.a_first.map_or(0, |fness| fness.n as u64)))
            .real("a_first_fness", |orders| Some(orders.a_first?.mean))
            .count("b_first_runs", |orders| Some(orders.b_first.map_or(0, |fness| fness.n as u64)))
            .real("b_first_fness", |orders| Some(-orders.b_first?.mean))
            .table(
                "pairs-orders",
                "fness of A and B for both orders of start, always seen from A: below 0, A has more",
            ),
    ]
}

fn rows<'a>(results: &'a StudyResults, variant: usize, places: &[usize]) -> Vec<Row<'a>> {
    type Key = (GroupKey, Option<LabelValue>, Option<LabelValue>);
    let mut rows: BTreeMap<Key, Vec<&StudyRun>> = BTreeMap::new();
    for run in &results.runs {
        if let [first, second] = &run.flows[..] {
            let key = (
                key(&run.labels, places),
                first.labels[variant].clone(),
                second.labels[variant].clone(),
            );
            rows.entry(key).or_default().push(run);
        }
    }
    rows.into_iter()
        .map(|((key, first, second), runs)| Row {
            key,
            first,
            second,
            runs,
        })
        .collect()
}

fn orders(rows: &[Row<'_>]) -> Vec<Orders> {
    type Key<'r> = (&'r GroupKey, &'r LabelValue, &'r LabelValue);
    let mut orders: BTreeMap<Key<'_>, [Option<Describe>; 2]> = BTreeMap::new();
    for row in rows {
        let (Some(first), Some(second)) = (&row.first, &row.second) else {
            continue;
        };
        let (a, b, order) = match first.cmp(second) {
            Ordering::Less => (first, second, 0),
            Ordering::Equal => continue,
            Ordering::Greater => (second, first, 1),
        };
        orders.entry((&row.key, a, b)).or_default()[order] = row.fness();
    }
    let orders = orders.into_iter();
    orders
        .map(|((key, a, b), [a_first, b_first])| Orders {
            key: key.clone(),
            a: a.clone(),
            b: b.clone(),
            a_first,
            b_first,
        })
        .collect()
}
