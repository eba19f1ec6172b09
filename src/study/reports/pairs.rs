//! The fairness study: two flows against each other, in both orders of start.

use std::collections::{BTreeMap, BTreeSet};

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

    /// Mean over the runs of a ratio, in percent.
    fn percent(&self, metric: Metric) -> Option<f64> {
        Some(mean(&self.of_runs(metric))? * 100.0)
    }

    fn fness(&self) -> Option<Describe> {
        Describe::of(&self.of_runs(Metric::Fness))
    }
}

/// How full the queue was: columns of percent.
const QUEUE: [(&str, Metric); 2] = [
    ("queue_share_percent", Metric::QueueShare),
    ("queue_occupancy_percent", Metric::QueueOccupancy),
];

/// What the flows of a pair are called, by who began first.
const ORDERS: [&str; 2] = ["first", "second"];

/// Two variants in both orders, seen from `a`.
struct Orders {
    key: GroupKey,
    a: LabelValue,
    b: LabelValue,
    a_first: Option<Describe>,
    b_first: Option<Describe>,
}

/// What a variant that began second met: a row of the cross table.
struct CrossRow<'a> {
    key: &'a GroupKey,
    second: &'a LabelValue,
    of: BTreeMap<&'a LabelValue, &'a Row<'a>>,
}

/// `references`: the variants that pairs are seen from; none: the one that stands first.
pub(super) fn tables(
    results: &StudyResults,
    variant: usize,
    references: &[LabelValue],
) -> Vec<ReportTable> {
    let places = conditions(results, variant);
    let rows = rows(results, variant, &places);
    let orders = orders(&rows, references);
    let crossed = cross_table(results, &places, &rows, references);
    let text = |value: &Option<LabelValue>| value.as_ref().map(|value| value.text().to_owned());
    let mut builder = Builder::new(rows)
        .labels(results, &places, |row| &row.key)
        .text("first", |row| text(&row.first))
        .text("second", |row| text(&row.second))
        .count("runs", |row| Some(row.runs.len() as u64))
        .real("fness_mean", |row| Some(row.fness()?.mean))
        .real("fness_median", |row| Some(row.fness()?.median))
        .real("fness_q1", |row| Some(row.fness()?.q1))
        .real("fness_q3", |row| Some(row.fness()?.q3));
    for (name, metric) in QUEUE {
        builder = builder.real(name, |row| row.percent(metric));
    }
    let columns = [
        ("queue_occupancy_percent", Metric::QueueOccupancy, 100.0),
        ("queue_dropped_packets", Metric::QueueDroppedPackets, 1.0),
        ("retransmitted_packets", Metric::RetransmittedPackets, 1.0),
        ("goodput_mbps", Metric::GoodputBps, 1e-6),
        ("acked_mb", Metric::AckedBytes, 1e-6),
        ("completion_s", Metric::CompletionNs, 1e-9),
    ];
    for (name, metric, factor) in columns {
        for (flow, order) in ORDERS.into_iter().enumerate() {
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
        crossed,
    ]
}

/// How full the queue was and what was sent again: a row a variant that began second, with columns below each that
/// began first.
fn cross_table(
    results: &StudyResults,
    places: &[usize],
    rows: &[Row<'_>],
    references: &[LabelValue],
) -> ReportTable {
    let mut crossed: BTreeMap<(&GroupKey, &LabelValue), CrossRow<'_>> = BTreeMap::new();
    let mut firsts: BTreeSet<&LabelValue> = BTreeSet::new();
    for row in rows {
        let (Some(first), Some(second)) = (&row.first, &row.second) else {
            continue;
        };
        if !references.is_empty() && !references.contains(first) {
            continue;
        }
        firsts.insert(first);
        let of_second = crossed.entry((&row.key, second));
        let of_second = of_second.or_insert_with(|| CrossRow {
            key: &row.key,
            second,
            of: BTreeMap::new(),
        });
        of_second.of.insert(first, row);
    }
    // Each has columns of its own.
    let are_too_many = firsts.len() > FIRSTS_MAX;
    if are_too_many {
        crossed.clear();
        firsts.clear();
    }
    let mut firsts: Vec<&LabelValue> = firsts.into_iter().collect();
    // In the order in which the manifest names them.
    firsts.sort_by_key(|first| references.iter().position(|of| of == *first));
    let mut builder = Builder::new(crossed.into_values().collect())
        .labels(results, places, |row| row.key)
        .text("second", |row| Some(row.second.text().to_owned()));
    for first in firsts {
        let above = first.text();
        for (name, metric) in QUEUE {
            let name = format!("{above}_{name}");
            builder = builder
                .real(name, |row| row.of.get(first)?.percent(metric))
                .below(above);
        }
        for (flow, order) in ORDERS.into_iter().enumerate() {
            let name = format!("{above}_{order}_retransmitted_packets");
            let of_flow = |row: &Row<'_>| row.of_flow(flow, Metric::RetransmittedPackets);
            builder = builder
                .real(name, |row| of_flow(row.of.get(first)?))
                .below(above);
        }
    }
    let title = if are_too_many {
        "How full the queue was and what either flow sent again: not of more than 64 variants, but of those that `reference` names"
    } else {
        "How full the queue was and what either flow sent again, below the variant that started first: means over runs"
    };
    builder.table("pairs-cross", title)
}

/// Variants that have columns in the cross table; of more, as of a label with a value a run, there is none.
const FIRSTS_MAX: usize = 64;

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

/// From which of two variants a pair is seen: A and B, and which of the two is A. Of two references from either of
/// them; without any, from the one that stands first; a pair of one variant once.
pub(crate) fn seen_from<'v, V: Ord>(
    [first, second]: [&'v V; 2],
    references: &[V],
) -> Vec<(&'v V, &'v V, usize)> {
    let sides = [(first, second, 0), (second, first, 1)];
    let mut of_references = sides.to_vec();
    of_references.retain(|(a, ..)| references.contains(a));
    if of_references.is_empty() || first == second {
        vec![sides[usize::from(second < first)]]
    } else {
        of_references
    }
}

fn orders(rows: &[Row<'_>], references: &[LabelValue]) -> Vec<Orders> {
    type Key<'r> = (&'r GroupKey, usize, &'r LabelValue, &'r LabelValue);
    let mut orders: BTreeMap<Key<'_>, [Option<Describe>; 2]> = BTreeMap::new();
    for row in rows {
        let (Some(first), Some(second)) = (&row.first, &row.second) else {
            continue;
        };
        if first == second {
            continue;
        }
        for (a, b, order) in seen_from([first, second], references) {
            let place = references.iter().position(|of| of == a);
            let key = (&row.key, place.unwrap_or(references.len()), a, b);
            orders.entry(key).or_default()[order] = row.fness();
        }
    }
    let orders = orders.into_iter();
    orders
        .map(|((key, _, a, b), [a_first, b_first])| Orders {
            key: key.clone(),
            a: a.clone(),
            b: b.clone(),
            a_first,
            b_first,
        })
        .collect()
}
