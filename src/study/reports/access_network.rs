//! The access-network study: one TCP variant beside each other one, alone, with its like, and mixed.

use std::collections::BTreeMap;

use super::{Builder, ReportTable, conditions, key};
use crate::metric::stats::{change_percent, mean};
use crate::study::groups::GroupKey;
use crate::study::labels::LabelValue;
use crate::study::metrics::{Metric, Values};
use crate::study::results::{StudyResults, StudyRun};

/// How many flows of each variant a run has: of the reference, of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Connections {
    /// So many flows of one variant.
    Same(usize),
    /// So many of the reference, and so many of the other, against each other.
    Mixed(usize, usize),
}

impl Connections {
    fn described(self) -> String {
        match self {
            Self::Same(1) => "1 connection".to_owned(),
            Self::Same(n) => format!("{n} connections - same TCP"),
            Self::Mixed(a, b) => format!("{a}+{b} connections (mixed)"),
        }
    }
}

/// Numbers of one variant in each run of a row: means over its flows there.
type Side = Vec<Values>;

/// A row: conditions, the other variant, and both sides.
struct Row {
    key: GroupKey,
    other: LabelValue,
    connections: Connections,
    sides: [Side; 2],
}

impl Row {
    fn mean(&self, side: usize, metric: Metric) -> Option<f64> {
        let values: Vec<f64> = self.sides[side]
            .iter()
            .filter_map(|values| values.get(metric))
            .collect();
        mean(&values)
    }
}

/// The metrics of the study: name, the same without its unit, metric, factor.
const COLUMNS: [(&str, &str, Metric, f64); 6] = [
    ("goodput_mbps", "goodput", Metric::GoodputBps, 1e-6),
    ("ip_volume_mb", "ip_volume", Metric::IpBytes, 1e-6),
    ("overhead_percent", "overhead", Metric::Overhead, 100.0),
    ("rtt_ms_max", "rtt_max", Metric::RttNsMax, 1e-6),
    ("rtt_ms_mean", "rtt_mean", Metric::RttNsMean, 1e-6),
    ("rtt_ms_min", "rtt_min", Metric::RttNsMin, 1e-6),
];

pub(super) fn tables(
    results: &StudyResults,
    variant: usize,
    reference: &LabelValue,
) -> Vec<ReportTable> {
    let places = conditions(results, variant);
    let rows = rows(results, variant, reference, &places);
    let mut builder = Builder::new(rows)
        .labels(results, &places, |row| &row.key)
        .text("reference", |_| Some(reference.text().to_owned()))
        .text("other", |row| Some(row.other.text().to_owned()))
        .text("connections", |row| Some(row.connections.described()))
        .count("reference_runs", |row| Some(row.sides[0].len() as u64))
        .count("other_runs", |row| Some(row.sides[1].len() as u64));
    for (name, bare, metric, factor) in COLUMNS {
        let scaled =
            move |row: &Row, side: usize| row.mean(side, metric).map(|value| value * factor);
        builder = builder
            .real(format!("reference_{name}"), |row| scaled(row, 0))
            .real(format!("other_{name}"), |row| scaled(row, 1))
            .real(format!("change_{bare}_percent"), |row| {
                change_percent(scaled(row, 0)?, scaled(row, 1)?)
            });
    }
    let title = format!(
        "{} beside other TCP variants: change in percent of the other",
        reference.text()
    );
    vec![builder.table("access-network", &title)]
}

fn rows(
    results: &StudyResults,
    variant: usize,
    reference: &LabelValue,
    places: &[usize],
) -> Vec<Row> {
    // Runs of one variant alone, and runs in which the reference meets one other.
    let mut same: BTreeMap<(GroupKey, usize), BTreeMap<LabelValue, Side>> = BTreeMap::new();
    let mut mixed: BTreeMap<(GroupKey, LabelValue, Connections), [Side; 2]> = BTreeMap::new();
    for run in results.runs.iter().filter(|run| run.error.is_none()) {
        let Some(by_variant) = by_variant(run, variant) else {
            continue;
        };
        let key = key(&run.labels, places);
        let variants: Vec<(&LabelValue, &Vec<&Values>)> = by_variant.iter().collect();
        match variants[..] {
            [(only, flows)] => {
                let sides = same.entry((key, flows.len())).or_default();
                sides
                    .entry(only.clone())
                    .or_default()
                    .push(Values::mean_of(flows));
            }
            [(a, of_a), (b, of_b)] if a == reference || b == reference => {
                let ((_, ours), (other, theirs)) = if a == reference {
                    ((a, of_a), (b, of_b))
                } else {
                    ((b, of_b), (a, of_a))
                };
                let connections = Connections::Mixed(ours.len(), theirs.len());
                let sides = mixed.entry((key, other.clone(), connections)).or_default();
                sides[0].push(Values::mean_of(ours));
                sides[1].push(Values::mean_of(theirs));
            }
            _ => {}
        }
    }
    let mut rows: Vec<Row> = mixed
        .into_iter()
        .map(|((key, other, connections), sides)| Row {
            key,
            other,
            connections,
            sides,
        })
        .collect();
    for ((key, n), sides) in same {
        let Some(ours) = sides.get(reference) else {
            continue;
        };
        for (other, theirs) in sides.iter().filter(|(other, _)| *other != reference) {
            rows.push(Row {
                key: key.clone(),
                other: other.clone(),
                connections: Connections::Same(n),
                sides: [ours.clone(), theirs.clone()],
            });
        }
    }
    rows.sort_by(|a, b| (&a.key, &a.other, a.connections).cmp(&(&b.key, &b.other, b.connections)));
    rows
}

/// Numbers of the flows of a run by variant; `None` where one has none.
fn by_variant(run: &StudyRun, variant: usize) -> Option<BTreeMap<LabelValue, Vec<&Values>>> {
    let mut flows: BTreeMap<LabelValue, Vec<&Values>> = BTreeMap::new();
    // What was measured of a whole run is told of its flow, if it had one; of several nobody knows what each had.
    if run.flows.is_empty() && run.is_one_flow() {
        flows.insert(run.labels[variant].clone()?, vec![&run.values]);
    }
    for flow in &run.flows {
        flows
            .entry(flow.labels[variant].clone()?)
            .or_default()
            .push(&flow.measure.values);
    }
    Some(flows)
}
