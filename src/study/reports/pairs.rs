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

    fn fness(&self) -> Option<Describe> {
        Describe::of(&self.of_runs(Metric::Fness))
    }
}

/// Two variants in both orders, seen from `a`.
struct Orders {
    key: GroupKey,
    a: LabelValue,
    b: LabelValue,
    a_first: Option<Describe>,
    b_first: Option<Describe>,
}

/// What second flows met: a line of the cross table.
struct Line<'a> {
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
        crossed,
    ]
}

/// How full the queue was and what was sent again: a line a variant that started second, with columns below each that
/// started first.
fn cross_table(
    results: &StudyResults,
    places: &[usize],
    rows: &[Row<'_>],
    references: &[LabelValue],
) -> ReportTable {
    let mut lines: BTreeMap<(&GroupKey, &LabelValue), Line<'_>> = BTreeMap::new();
    let mut firsts: BTreeSet<&LabelValue> = BTreeSet::new();
    for row in rows {
        let (Some(first), Some(second)) = (&row.first, &row.second) else {
            continue;
        };
        if !references.is_empty() && !references.contains(first) {
            continue;
        }
        firsts.insert(first);
        let line = lines.entry((&row.key, second)).or_insert_with(|| Line {
            key: &row.key,
            second,
            of: BTreeMap::new(),
        });
        line.of.insert(first, row);
    }
    // Each has columns of its own.
    let are_too_many = firsts.len() > FIRSTS_MAX;
    if are_too_many {
        lines.clear();
        firsts.clear();
    }
    let mut firsts: Vec<&LabelValue> = firsts.into_iter().collect();
    // In the order in which the manifest names them.
    firsts.sort_by_key(|first| references.iter().position(|of| of == *first));
    let mut builder = Builder::new(lines.into_values().collect())
        .labels(results, places, |line| line.key)
        .text("second", |line| Some(line.second.text().to_owned()));
    for first in firsts {
        for (name, of) in CROSSED {
            builder = builder
                .real(format!("{}_{name}", first.text()), |line| {
                    of(line.of.get(first)?)
                })
                .below(first.text());
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

/// A number of the runs of a pair.
type OfRow = fn(&Row<'_>) -> Option<f64>;

/// What stands in a cell of the cross table.
const CROSSED: [(&str, OfRow); 4] = [
    ("queue_share_percent", |row| {
        Some(mean(&row.of_runs(Metric::QueueShare))? * 100.0)
    }),
    ("queue_occupancy_percent", |row| {
        Some(mean(&row.of_runs(Metric::QueueOccupancy))? * 100.0)
    }),
    ("first_retransmitted_packets", |row| {
        row.of_flow(0, Metric::RetransmittedPackets)
    }),
    ("second_retransmitted_packets", |row| {
        row.of_flow(1, Metric::RetransmittedPackets)
    }),
];

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
