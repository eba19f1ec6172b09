//! Runs, or their flows, in steps of time: throughput beside ping, as boxes and over time.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::metric::stats::mean;
use crate::study::{LabelValue, ReportPlan, SeriesKind, SeriesLine, SeriesOf, SeriesReport};

use super::super::axis::Quantity;
use super::super::bands::BandLines;
use super::super::boxes::{BoxPanel, Boxes};
use super::super::interval::Estimate;
use super::amounts::{band_words, estimate, interval_note};
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

/// Runs or flows of one setting, by variant; those of one run stand behind each other.
type Lines<'r> = BTreeMap<Variant, Vec<SeriesLine<'r>>>;

/// Boxes of the steps of all runs or flows of a setting, and the steps over time.
pub(super) fn series(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    let Some(report) = reports.iter().find_map(|report| match report {
        ReportPlan::Series(report) => Some(*report),
        _ => None,
    }) else {
        return;
    };
    let settings = study.settings(&[]);
    let mut found: BTreeMap<Setting, Lines<'_>> = BTreeMap::new();
    for line in study.runs().flat_map(|run| report.lines(run)) {
        // Flows of one run are beside each other, whatever labels tell them apart.
        let setting = settings.setting(&line.run.labels);
        let lines = found.entry(setting).or_default();
        let variant = line.label(report.variant).cloned();
        lines.entry(variant).or_default().push(line);
    }
    let pages = settings.pages(found, 1, |_| 1);
    let boxes = pages.iter().map(|page| draw_boxes(study, report, page));
    charts.add(TOPIC, "series-boxes", boxes);
    let lines = pages.iter().flat_map(|page| {
        let kinds = kinds(report, page).into_iter();
        kinds.map(move |kind| draw_lines(study, report, kind, page))
    });
    charts.add(TOPIC, "series", lines);
}

/// The rate, and pings where all have them, else round-trip times.
fn kinds(report: SeriesReport, page: &Page<Lines<'_>>) -> [SeriesKind; 2] {
    let lines = || {
        page.entries
            .iter()
            .flat_map(|(_, lines)| lines.values())
            .flatten()
    };
    let all_have_pings = lines().all(|line| line.has(SeriesKind::Ping));
    let any_has_rtt = lines().any(|line| line.has(SeriesKind::Rtt));
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
    page: &Page<Lines<'_>>,
) -> Option<super::Canvas> {
    let panel = |kind: SeriesKind| {
        let (quantity, scale) = drawn(kind);
        let lines = page.entries.iter().flat_map(|(_, lines)| lines);
        let samples = lines.map(|(variant, lines)| {
            let points = lines.iter().flat_map(|line| line.points);
            let values = points.filter_map(|point| Some(point.get(kind)? * scale));
            (name_of(variant.as_ref()), values.collect())
        });
        BoxPanel {
            quantity,
            samples: samples.collect(),
        }
    };
    let has_values = |panel: &BoxPanel| panel.samples.iter().any(|(_, values)| !values.is_empty());
    let panels = kinds(report, page).map(|kind| (kind, panel(kind)));
    let panels = panels.into_iter().filter(|(_, panel)| has_values(panel));
    let (kinds, panels): (Vec<SeriesKind>, Vec<BoxPanel>) = panels.unzip();
    let names: Vec<&str> = panels.iter().map(|panel| panel.quantity.name).collect();
    let note = match report.of {
        SeriesOf::Runs => "values of steps of time".to_owned(),
        SeriesOf::Flows => "values of steps of time of each flow".to_owned(),
    };
    let note = match kinds.last() {
        Some(&last) => with_vantage(study, last, note),
        None => note,
    };
    let boxes = Boxes {
        title: study.title(&names.join(" beside "), &page.common.words()),
        note,
        panels,
    };
    boxes.draw_as(study.style, &study.looks)
}

/// A kind of values over the time since the first of each run, runs of a variant together.
fn draw_lines(
    study: &Study<'_>,
    report: SeriesReport,
    kind: SeriesKind,
    page: &Page<Lines<'_>>,
) -> Option<super::Canvas> {
    let (quantity, scale) = drawn(kind);
    let average = study.results.average;
    let lines = || page.entries.iter().flat_map(|(_, lines)| lines);
    let all = lines().flat_map(|(_, lines)| lines);
    let step_ns = all.filter_map(step_ns).min()?;
    let is_cut = Cell::new(false);
    let parts = |(variant, lines): (&Variant, &Vec<SeriesLine<'_>>)| {
        let name = name_of(variant.as_ref());
        let steps: Vec<(i64, Step)> = steps(lines, kind, step_ns).into_iter().collect();
        let all = steps.len();
        let lasting = steps.into_iter().filter(|(_, of)| of.is_of_most);
        let steps: Vec<(i64, Step)> = lasting.collect();
        is_cut.set(is_cut.get() || steps.len() < all);
        let parts = steps.chunk_by(|(_, one), (_, next)| one.goes_on || next.came_on);
        let point = |(step, of): &(i64, Step)| {
            let values: Vec<f64> = of.values.iter().map(|value| value * scale).collect();
            Some((
                *step as f64 * step_ns as f64 / 1e9,
                estimate(average, &values)?,
            ))
        };
        let parts = parts.map(|part| (name.clone(), part.iter().filter_map(point).collect()));
        parts.collect::<Vec<(String, Vec<(f64, Estimate)>)>>()
    };
    // Whether a run has several flows of one variant, which are one value of it.
    let are_several = |lines: &Vec<SeriesLine<'_>>| {
        let mut two = lines.windows(2);
        report.of == SeriesOf::Flows && two.any(|two| std::ptr::eq(two[0].run, two[1].run))
    };
    let of_several = if lines().any(|(_, lines)| are_several(lines)) {
        "; of several flows of a variant in a run: their mean"
    } else {
        ""
    };
    let drawn_lines: Vec<(String, Vec<(f64, Estimate)>)> = lines().flat_map(parts).collect();
    let estimates = drawn_lines.iter().flat_map(|(_, points)| points);
    let note = interval_note(average, estimates.map(|(_, of)| of));
    let cut = if is_cut.get() {
        "; up to where half of a variant’s runs have ended"
    } else {
        ""
    };
    let lines = BandLines {
        title: study.title(
            &format!("{} over time", quantity.name),
            &page.common.words(),
        ),
        note: with_vantage(
            study,
            kind,
            format!(
                "steps of {}{cut}; {note}{of_several}",
                Quantity::TIME.format(step_ns as f64 / 1e9)
            ),
        ),
        interval: band_words(average),
        x: Quantity::TIME,
        x_name: "Time since the first step".to_owned(),
        y: quantity,
        lines: drawn_lines,
    };
    lines.draw_as(study.style, &study.looks)
}

/// What runs have in one step of time.
#[derive(Default)]
struct Step {
    /// One of each run: points of a run are not independent.
    values: Vec<f64>,
    /// Whether a run goes on from here to a later step without a gap.
    goes_on: bool,
    /// Whether a run came here from an earlier step so.
    came_on: bool,
    /// Whether most runs have not ended before it: the mean of those that are left tells of what made them last.
    is_of_most: bool,
}

/// Whether so many of some runs tell of all of them.
pub(super) fn are_most(some: usize, all: usize) -> bool {
    2 * some > all
}

/// The steps in which these runs, or flows of runs, have values.
fn steps(lines: &[SeriesLine<'_>], kind: SeriesKind, step_ns: i64) -> BTreeMap<i64, Step> {
    let mut steps: BTreeMap<i64, Step> = BTreeMap::new();
    let mut ends: Vec<i64> = Vec::new();
    for of_run in lines.chunk_by(|one, next| std::ptr::eq(one.run, next.run)) {
        let mut own: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for line in of_run {
            let since = |time_ns: i64| time_ns.saturating_sub(line.start_ns);
            let points = || {
                let points = line.points.iter();
                points.filter_map(|point| Some((since(point.time_ns), point.get(kind)?)))
            };
            // Times are seldom quite even.
            let usual = usual_step_ns(points().map(|(since, _)| since)).unwrap_or(0);
            let reach = usual.saturating_add(usual / 2);
            let mut last: Option<(i64, i64)> = None;
            for (since, value) in points() {
                let step = since.saturating_add(step_ns / 2).div_euclid(step_ns);
                own.entry(step).or_default().push(value);
                let before = last.replace((since, step));
                if let Some((before, from)) = before
                    && from != step
                    && since.saturating_sub(before) <= reach
                {
                    steps.entry(from).or_default().goes_on = true;
                    steps.entry(step).or_default().came_on = true;
                }
            }
        }
        ends.extend(own.keys().next_back());
        for (step, values) in own {
            steps.entry(step).or_default().values.extend(mean(&values));
        }
    }
    for (&step, of) in &mut steps {
        let last = ends.iter().filter(|&&end| end >= step).count();
        of.is_of_most = are_most(last, ends.len());
    }
    steps
}

/// The usual time from one point of a run or a flow to the next.
fn step_ns(line: &SeriesLine<'_>) -> Option<i64> {
    usual_step_ns(line.points.iter().map(|point| point.time_ns))
}

/// The usual time from one instant to the next: the median.
fn usual_step_ns(times_ns: impl Iterator<Item = i64>) -> Option<i64> {
    let times_ns: Vec<i64> = times_ns.collect();
    let mut steps: Vec<i64> = times_ns
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .filter(|&step| step > 0)
        .collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied()
}
