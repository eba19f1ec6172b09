//! The report of the heat map, drawn: means of a metric over two labels, and their change against the
//! baseline.

use std::collections::BTreeMap;

use crate::study::units::Dimension;
use crate::study::{Group, HeatMapReport, LabelValue, Metric, ReportPlan, SampleKind};

use super::super::axis::Quantity;
use super::super::counts::n_words;
use super::super::heat_map::{HeatMap, HeatMaps, HeatScale};
use super::grid::{axis, texts};
use super::settings::{Page, Setting, axis_name};
use super::{MAPS_MAX, Study, StudyCharts, drawn};

const TOPIC: &str = "A metric over two labels";

/// A value and the samples that it rests on, by row and column.
type Cells = BTreeMap<(LabelValue, LabelValue), (f64, usize)>;

/// What is drawn of each group.
struct Measure<'a> {
    title: String,
    note: &'a str,
    quantity: Quantity,
    scale: HeatScale,
    of: &'a dyn Fn(&Group) -> Option<f64>,
}

/// Means and changes of every such report.
pub(super) fn maps(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    for report in reports {
        let ReportPlan::HeatMap(report) = report else {
            continue;
        };
        let (quantity, scale) = shown(report.metric);
        let means = Measure {
            title: quantity.name.to_owned(),
            note: "mean of runs",
            quantity,
            scale: HeatScale::Amount,
            of: &|group| Some(group.statistics.mean * scale),
        };
        let changes = Measure {
            title: format!("{}, change against the baseline", quantity.name),
            note: "change of the mean of runs",
            quantity: Quantity::SHARE.called("Change"),
            scale: HeatScale::Change,
            of: &|group| Some(group.change_percent? / 100.0),
        };
        charts.add(TOPIC, "heat-map", figures(study, *report, &means));
        charts.add(TOPIC, "heat-map-change", figures(study, *report, &changes));
    }
}

/// What a metric is drawn as, whichever it is, and what its unit is in the base unit of that.
fn shown(metric: Metric) -> (Quantity, f64) {
    let known = drawn(metric);
    if known.0 != Quantity::PLAIN {
        return known;
    }
    let (quantity, scale) = match metric.dimension() {
        Some(Dimension::Rate) => (Quantity::THROUGHPUT, 1.0),
        Some(Dimension::Time) => (Quantity::DELAY, 1e-9),
        Some(Dimension::Size) => (Quantity::IN_FLIGHT, 1.0),
        _ => known,
    };
    (quantity.called(metric.name()), scale)
}

fn figures(
    study: &Study<'_>,
    report: HeatMapReport,
    measure: &Measure<'_>,
) -> Vec<Option<super::Canvas>> {
    let results = study.results;
    let settings = study.settings_without(&[report.rows, report.columns]);
    let apart = results.tells_compositions_apart(SampleKind::Run, report.metric);
    let mut found: BTreeMap<Setting, Cells> = BTreeMap::new();
    for group in &results.groups {
        if group.kind != SampleKind::Run || group.metric != report.metric {
            continue;
        }
        let mut labels = vec![None; results.labels.len()];
        for (&place, value) in results.group_by.iter().zip(&group.key) {
            labels[place].clone_from(value);
        }
        let at = labels[report.rows]
            .clone()
            .zip(labels[report.columns].clone());
        if let (Some(at), Some(value)) = (at, (measure.of)(group)) {
            let composition = group.composition.clone().filter(|_| apart);
            let setting = settings.setting(&labels).among(composition);
            let cells = found.entry(setting).or_default();
            cells.insert(at, (value, group.statistics.n));
        }
    }
    let name = |place: usize| axis_name(&results.labels[place]).1;
    let canvas = |page: Page<Cells>| {
        let all = || page.entries.iter().map(|(_, cells)| cells);
        let (rows, columns) = (axis(all(), |at| &at.0), axis(all(), |at| &at.1));
        let n = n_words(all().flat_map(BTreeMap::values).map(|&(_, n)| n as u64));
        let map = |(name, cells): &(String, Cells)| {
            let cell = |row: &LabelValue, column: &LabelValue| {
                cells
                    .get(&(row.clone(), column.clone()))
                    .map(|&(value, _)| value)
            };
            let row = |row| columns.iter().map(|column| cell(row, column)).collect();
            HeatMap {
                name: name.clone(),
                scale: measure.scale,
                cells: rows.iter().map(row).collect(),
            }
        };
        let maps = HeatMaps {
            title: study.title(&measure.title, &page.common.words()),
            note: format!("{}, {n}", measure.note),
            quantity: measure.quantity,
            columns: (name(report.columns), texts(&columns)),
            rows: (name(report.rows), texts(&rows)),
            maps: page.entries.iter().map(map).collect(),
        };
        maps.draw(study.style)
    };
    let pages = settings.pages(found, MAPS_MAX, |_| 1);
    pages.into_iter().map(canvas).collect()
}
