//! A metric over two labels, as a table to read like a heat map: its mean, and its change against
//! the baseline.

use std::collections::BTreeMap;

use super::{Builder, ReportTable};
use crate::study::composition::Composition;
use crate::study::groups::{Group, GroupKey, SampleKind};
use crate::study::labels::LabelValue;
use crate::study::metrics::Metric;
use crate::study::results::StudyResults;
use crate::study::units::Dimension;

/// What the report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatMapReport {
    /// What the cells show.
    pub metric: Metric,
    /// Place of the label whose values are the lines.
    pub rows: usize,
    /// Place of the label whose values are the columns.
    pub columns: usize,
}

/// A metric as the cells show it: its name with the unit, and the factor to it.
fn shown(metric: Metric) -> (String, f64) {
    let name = metric.name();
    match metric.dimension() {
        Some(Dimension::Rate) => (name.replace("_bps", "_mbps"), 1e-6),
        Some(Dimension::Time) => (name.replace("_ns", "_ms"), 1e-6),
        Some(Dimension::Size) => (name.replace("_bytes", "_mb"), 1e-6),
        _ => (name.to_owned(), 1.0),
    }
}

/// A line: the other labels, its own, and the cells by their column.
struct Line {
    key: GroupKey,
    composition: Option<Composition>,
    row: LabelValue,
    cells: BTreeMap<LabelValue, f64>,
}

pub(super) fn tables(results: &StudyResults, report: HeatMapReport) -> Vec<ReportTable> {
    let (name, factor) = shown(report.metric);
    let means = lines(results, report, |group| {
        Some(group.statistics.mean * factor)
    });
    let changes = lines(results, report, |group| group.change_percent);
    let mut tables = vec![table(results, report, means, &name).table(
        "heat-map",
        "Means of the groups over two labels, the one in lines and the other in columns",
    )];
    if !changes.is_empty() {
        let name = format!("{}_change_percent", report.metric.name());
        tables.push(table(results, report, changes, &name).table(
            "heat-map-change",
            "Change of these means against the baseline, in percent of it",
        ));
    }
    tables
}

/// The labels of groups that are neither lines nor columns.
fn others(results: &StudyResults, report: HeatMapReport) -> Vec<usize> {
    let is_other = |place: &usize| ![report.rows, report.columns].contains(place);
    results.group_by.iter().copied().filter(is_other).collect()
}

/// The other labels of a line, its runs' flows where these matter, and its own value.
type Place = (GroupKey, Option<Composition>, LabelValue);

fn lines(
    results: &StudyResults,
    report: HeatMapReport,
    cell_of: impl Fn(&Group) -> Option<f64>,
) -> Vec<Line> {
    let index_of = |place: usize| results.group_by.iter().position(|&label| label == place);
    let others: Vec<usize> = others(results, report)
        .into_iter()
        .filter_map(index_of)
        .collect();
    let (Some(row), Some(column)) = (index_of(report.rows), index_of(report.columns)) else {
        return Vec::new();
    };
    let apart = results.tells_compositions_apart(SampleKind::Run, report.metric);
    let mut lines: BTreeMap<Place, BTreeMap<LabelValue, f64>> = BTreeMap::new();
    for group in &results.groups {
        if group.kind != SampleKind::Run || group.metric != report.metric {
            continue;
        }
        if let (Some(row), Some(column), Some(cell)) =
            (&group.key[row], &group.key[column], cell_of(group))
        {
            let key = others.iter().map(|&index| group.key[index].clone());
            let composition = group.composition.clone().filter(|_| apart);
            let place = (key.collect(), composition, row.clone());
            let cells = lines.entry(place).or_default();
            cells.insert(column.clone(), cell);
        }
    }
    lines
        .into_iter()
        .map(|((key, composition, row), cells)| Line {
            key,
            composition,
            row,
            cells,
        })
        .collect()
}

fn table(
    results: &StudyResults,
    report: HeatMapReport,
    lines: Vec<Line>,
    measure: &str,
) -> Builder<Line> {
    let mut columns: Vec<LabelValue> = lines
        .iter()
        .flat_map(|line| line.cells.keys().cloned())
        .collect();
    columns.sort();
    columns.dedup();
    let label = &results.labels[report.columns];
    let apart = lines.iter().any(|line| line.composition.is_some());
    let mut builder =
        Builder::new(lines).labels(results, &others(results, report), |line| &line.key);
    if apart {
        builder = builder.text("composition", |line| {
            line.composition.as_ref().map(Composition::words)
        });
    }
    builder = builder
        .text("measure", |_| Some(measure.to_owned()))
        .label(results.labels[report.rows].column(), |line| Some(&line.row));
    for column in columns {
        let name = format!("{}_{}", label.column(), column.text());
        let cell = |line: &Line| line.cells.get(&column).copied();
        builder = if Metric::named(measure).is_some_and(Metric::is_share) {
            builder.share(name, cell)
        } else {
            builder.real(name, cell)
        };
    }
    builder
}
