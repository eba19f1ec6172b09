//! Runs in steps of time: throughput beside ping, as boxes and over time.

use std::collections::BTreeMap;

use crate::study::{LabelValue, ReportPlan, SeriesKind, SeriesReport, StudyRun};

use super::super::axis::Quantity;
use super::super::bands::BandLines;
use super::super::boxes::{BoxPanel, Boxes};
use super::super::interval::Estimate;
use super::amounts::{estimate, interval_note};
use super::settings::{Page, Setting, name_of};
use super::{Study, StudyCharts};

const TOPIC: &str = "Steps of time";

type Variant = Option<LabelValue>;

/// What a kind of values is drawn as, and what its unit is in the base unit of that.
fn drawn(kind: SeriesKind) -> (Quantity, f64) {
    match kind {
        SeriesKind::Goodput => (Quantity::GOODPUT, 1.0),
        SeriesKind::Throughput => (Quantity::THROUGHPUT, 1.0),
        SeriesKind::Rtt => (Quantity::RTT, 1e-9),
        SeriesKind::Ping => (Quantity::PING, 1e-9),
    }
}

/// Runs of one setting, by variant.
type Runs<'r> = BTreeMap<Variant, Vec<&'r StudyRun>>;

/// Boxes of the steps of all runs of a setting, and the steps over time.
pub(super) fn series(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    let Some(report) = reports.iter().find_map(|report| match report {
        ReportPlan::Series(report) => Some(*report),
        _ => None,
    }) else {
        return;
    };
    let settings = study.settings(&[]);
    let mut found: BTreeMap<Setting, Runs<'_>> = BTreeMap::new();
    for run in study.runs().filter(|run| !run.series.is_empty()) {
        let runs = found.entry(settings.setting(&run.labels)).or_default();
        let variant = run.labels[report.variant].clone();
        runs.entry(variant).or_default().push(run);
    }
    let pages = settings.pages(found, 1, |_| 1);
    let boxes = pages.iter().map(|page| draw_boxes(study, report, page));
    charts.add(TOPIC, "series-boxes", boxes);
    let lines = pages.iter().flat_map(|page| {
        let kinds = kinds(report, page).into_iter();
        kinds.map(move |kind| draw_lines(study, kind, page))
    });
    charts.add(TOPIC, "series", lines);
}

/// The rate, and pings where all runs have them, else round-trip times.
fn kinds(report: SeriesReport, page: &Page<Runs<'_>>) -> [SeriesKind; 2] {
    let runs = || {
        page.entries
            .iter()
            .flat_map(|(_, runs)| runs.values())
            .flatten()
    };
    let has = |run: &StudyRun, kind| run.series.iter().any(|point| point.get(kind).is_some());
    let all_have_pings = runs().all(|run| has(run, SeriesKind::Ping));
    let any_has_rtt = runs().any(|run| has(run, SeriesKind::Rtt));
    let usual = if all_have_pings || !any_has_rtt {
        SeriesKind::Ping
    } else {
        SeriesKind::Rtt
    };
    [report.rate, report.delay.unwrap_or(usual)]
}

fn with_vantage(study: &Study<'_>, kind: SeriesKind, note: String) -> String {
    match kind {
        SeriesKind::Rtt => study.with_vantage(note),
        _ => note,
    }
}

fn draw_boxes(
    study: &Study<'_>,
    report: SeriesReport,
    page: &Page<Runs<'_>>,
) -> Option<super::Canvas> {
    let panel = |kind: SeriesKind| {
        let (quantity, scale) = drawn(kind);
        let runs = page.entries.iter().flat_map(|(_, runs)| runs);
        let samples = runs.map(|(variant, runs)| {
            let points = runs.iter().flat_map(|run| &run.series);
            let values = points.filter_map(|point| Some(point.get(kind)? * scale));
            (name_of(variant.as_ref()), values.collect())
        });
        BoxPanel {
            quantity,
            samples: samples.collect(),
        }
    };
    let [rate, delay] = kinds(report, page);
    let what = format!("{} beside {}", drawn(rate).0.name, drawn(delay).0.name);
    let boxes = Boxes {
        title: study.title(&what, &page.common.words()),
        note: with_vantage(study, delay, "values of steps of time".to_owned()),
        panels: [rate, delay]
            .map(panel)
            .into_iter()
            .filter(|panel| panel.samples.iter().any(|(_, values)| !values.is_empty()))
            .collect(),
    };
    boxes.draw_as(study.style, &study.looks)
}

/// A kind of values over the time since the first of each run, runs of a variant together.
fn draw_lines(study: &Study<'_>, kind: SeriesKind, page: &Page<Runs<'_>>) -> Option<super::Canvas> {
    let (quantity, scale) = drawn(kind);
    let runs = || page.entries.iter().flat_map(|(_, runs)| runs);
    let all = runs().flat_map(|(_, runs)| runs);
    let step_ns = all.filter_map(|run| step_ns(run)).min()?;
    let line = |(variant, runs): (&Variant, &Vec<&StudyRun>)| {
        let mut steps: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for run in runs {
            let start = run.series.first().map_or(0, |point| point.time_ns);
            for point in &run.series {
                if let Some(value) = point.get(kind) {
                    let since = point.time_ns.saturating_sub(start);
                    let step = since.saturating_add(step_ns / 2).div_euclid(step_ns);
                    steps.entry(step).or_default().push(value * scale);
                }
            }
        }
        let points = steps.into_iter().filter_map(|(step, values)| {
            Some((step as f64 * step_ns as f64 / 1e9, estimate(&values)?))
        });
        (name_of(variant.as_ref()), points.collect())
    };
    let lines: Vec<(String, Vec<(f64, Estimate)>)> = runs().map(line).collect();
    let estimates = lines.iter().flat_map(|(_, points)| points);
    let note = interval_note(estimates.map(|(_, of)| of));
    let lines = BandLines {
        title: study.title(
            &format!("{} over time", quantity.name),
            &page.common.words(),
        ),
        note: with_vantage(
            study,
            kind,
            format!(
                "steps of {}; {note}",
                Quantity::TIME.format(step_ns as f64 / 1e9)
            ),
        ),
        interval: "95 % confidence interval",
        x: Quantity::TIME,
        x_name: "Time since the first step".to_owned(),
        y: quantity,
        lines,
    };
    lines.draw_as(study.style, &study.looks)
}

/// The usual time from one point of a run to the next: the median.
fn step_ns(run: &StudyRun) -> Option<i64> {
    let mut steps: Vec<i64> = run
        .series
        .windows(2)
        .map(|pair| pair[1].time_ns.saturating_sub(pair[0].time_ns))
        .filter(|&step| step > 0)
        .collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied()
}
