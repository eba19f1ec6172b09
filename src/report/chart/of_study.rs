//! The charts that fit the results of a study, as far as its labels and numbers allow: bars with
//! intervals, boxes, heat maps, lines, ECDFs, spider plots, fairness of pairs, completion times.
//!
//! Which label tells TCP variants apart, and which are loss and delay, is what the study's reports
//! were told; else labels by their usual names. Where there are more settings than a chart has room
//! for, there are several charts, cut where a label changes.

mod amounts;
mod completions;
mod grid;
mod metric_map;
mod mobility;
mod pair_series;
mod pairs;
mod series;
mod settings;
mod splits;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::LinkSide;
use crate::study::{
    Conditions, LOSSES, LabelValue, Metric, PathCapacity, ReportPlan, StudyResults, StudyRun,
    VARIANTS, Values, rate_label,
};

use super::axis::Quantity;
use super::canvas::Canvas;
use super::looks::Looks;
use super::palette::ALL_RUNS;
use super::style::{Size, Style};
use settings::{Setting, Settings};

/// Charts of one kind; a study that has more is better looked at by its tables.
pub const CHARTS_MAX: usize = 12;

/// Maps on one chart.
const MAPS_MAX: usize = 12;

/// Names that labels of a delay usually have, one-way or not.
const DELAYS: [&str; 4] = ["delay", "owd", "latency", "rtt"];

/// One chart of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyChart {
    /// What it belongs to.
    pub topic: &'static str,
    /// The beginning of its file name: letters, digits, `-` and `_`.
    pub stem: String,
    /// The chart.
    pub canvas: Canvas,
}

/// The charts of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyCharts {
    /// The charts, in a fixed order.
    pub charts: Vec<StudyChart>,
    /// Kinds of which there are more than are drawn: the beginnings of their file names.
    pub left_out: Vec<String>,
}

/// The charts of a study. `reports` tell which labels are what.
#[must_use]
pub fn of_study(reports: &[ReportPlan], results: &StudyResults, style: Style) -> StudyCharts {
    let roles = Roles::of(reports, results);
    let study = Study {
        results,
        roles,
        goodput: compared_goodput(results),
        looks: looks(reports, results, roles),
        style,
    };
    let mut charts = StudyCharts::default();
    amounts::bars(&study, &mut charts);
    amounts::boxes(&study, &mut charts);
    completions::ecdfs(&study, &mut charts);
    series::series(&study, reports, &mut charts);
    pairs::fness(&study, reports, &mut charts);
    pair_series::goodput(&study, &mut charts);
    pairs::queue_share(&study, reports, &mut charts);
    pairs::retransmissions(&study, reports, &mut charts);
    pairs::completion(&study, &mut charts);
    grid::heat_maps(&study, &mut charts);
    grid::lines(&study, &mut charts);
    metric_map::maps(&study, reports, &mut charts);
    splits::split_maps(&study, &mut charts);
    splits::paths(&study, reports, &mut charts);
    splits::accuracy(&study, &mut charts);
    mobility::spiders(&study, reports, &mut charts);
    mobility::ecdfs(&study, reports, &mut charts);
    charts
}

impl StudyCharts {
    /// Adds charts of one kind: numbered where there are several, the first ones where there are
    /// too many.
    fn add(
        &mut self,
        topic: &'static str,
        kind: &str,
        canvases: impl IntoIterator<Item = Option<Canvas>>,
    ) {
        let mut all = canvases.into_iter().flatten();
        let canvases: Vec<Canvas> = all.by_ref().take(CHARTS_MAX).collect();
        if all.next().is_some() {
            self.left_out.push(kind.to_owned());
        }
        let several = canvases.len() > 1;
        for (index, canvas) in canvases.into_iter().enumerate() {
            let stem = if several {
                format!("{kind}-{:02}", index + 1)
            } else {
                kind.to_owned()
            };
            self.charts.push(StudyChart {
                topic,
                stem,
                canvas,
            });
        }
    }
}

/// Places of labels with a role, among all labels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Roles {
    variant: Option<usize>,
    loss: Option<usize>,
    delay: Option<usize>,
    /// Of the link, where it makes groups.
    rate: Option<usize>,
}

impl Roles {
    fn of(reports: &[ReportPlan], results: &StudyResults) -> Self {
        let mut told = Self {
            variant: None,
            loss: None,
            delay: None,
            rate: None,
        };
        for report in reports {
            match report {
                ReportPlan::AccessNetwork { variant, .. }
                | ReportPlan::Mobility { variant }
                | ReportPlan::Pairs { variant, .. } => told.variant = Some(*variant),
                ReportPlan::Series(report) => told.variant = Some(report.variant),
                ReportPlan::HeatMap(_) | ReportPlan::SplitAccuracy | ReportPlan::Summary { .. } => {
                }
                ReportPlan::UtilisationGrid { labels, .. } => {
                    told.variant = Some(labels.variant);
                    told.loss = Some(labels.loss);
                    told.delay = Some(labels.delay);
                    told.rate = labels.rate;
                }
            }
        }
        let named = |usual: &[&str]| {
            let mut usual = usual.iter();
            usual.find_map(|usual| results.labels.iter().position(|label| label.name == *usual))
        };
        let grouped = |place: &usize| results.group_by.contains(place);
        let numbers =
            |place: &usize| grouped(place) && settings::is_number(&results.labels[*place]);
        Self {
            variant: told.variant.or_else(|| named(&VARIANTS)).or_else(|| {
                let mut places = results.group_by.iter().copied();
                places.find(|&place| !settings::is_number(&results.labels[place]))
            }),
            loss: told.loss.or_else(|| named(&LOSSES).filter(numbers)),
            delay: told.delay.or_else(|| named(&DELAYS).filter(numbers)),
            rate: told
                .rate
                .or_else(|| rate_label(&results.labels))
                .filter(grouped),
        }
    }
}

/// How all variants look that any chart may show: those of flows, those of runs with all that ran in them.
fn looks(reports: &[ReportPlan], results: &StudyResults, roles: Roles) -> Looks {
    let mut places: BTreeSet<usize> = roles.variant.into_iter().collect();
    places.extend(reports.iter().filter_map(|report| match report {
        ReportPlan::Series(report) => Some(report.variant),
        _ => None,
    }));
    let labels = results.runs.iter().flat_map(|run| {
        let flows = run.flows.iter().map(|flow| &flow.labels);
        flows.chain([&run.labels])
    });
    let values = labels.flat_map(|labels| places.iter().map(|&place| labels[place].as_ref()));
    // In the order that the study has, which bars and rows of tables have, too.
    let values: BTreeSet<Option<&LabelValue>> = values.collect();
    let names: Vec<String> = values.into_iter().map(settings::name_of).collect();
    Looks::of(names.iter().map(String::as_str))
}

/// What goodput is compared as where runs of different settings stand beside each other, or are taken together: over
/// the capacity, where that is not the same in all runs, but known and constant.
fn compared_goodput(results: &StudyResults) -> Metric {
    let runs = || results.runs.iter().filter(|run| run.error.is_none());
    let capacity = |run: &StudyRun| match run.conditions.capacity {
        Some(PathCapacity::Constant(bps)) => Some(bps),
        _ => None,
    };
    let is_known = |values: &Values| {
        values.get(Metric::GoodputBps).is_none() || values.get(Metric::Utilisation).is_some()
    };
    let are_known = |run: &StudyRun| {
        let mut flows = run.flows.iter();
        is_known(&run.values) && flows.all(|flow| is_known(&flow.measure.values))
    };
    let capacities: Option<Vec<f64>> = runs().map(capacity).collect();
    let differ = |all: Vec<f64>| all.iter().any(|bps| bps.total_cmp(&all[0]).is_ne());
    if capacities.is_some_and(differ) && runs().all(are_known) {
        Metric::Utilisation
    } else {
        Metric::GoodputBps
    }
}

/// A study as its charts see it.
struct Study<'a> {
    results: &'a StudyResults,
    roles: Roles,
    /// Goodput, or utilisation in its place.
    goodput: Metric,
    /// Of all variants: the same in all its charts.
    looks: Looks,
    style: Style,
}

impl<'a> Study<'a> {
    /// A variant in words; where no label tells variants, what all runs are.
    fn variant_name(&self, variant: Option<&LabelValue>) -> String {
        match (variant, self.roles.variant) {
            (None, None) => ALL_RUNS.to_owned(),
            (variant, _) => settings::name_of(variant),
        }
    }

    /// Labels that make groups, without the variant's and some others.
    fn settings(&self, without: &[Option<usize>]) -> Settings<'a> {
        Settings::of(self.results, &[&[self.roles.variant], without].concat())
    }

    /// Labels that make groups, the variant's too, without some.
    fn settings_without(&self, without: &[usize]) -> Settings<'a> {
        let without: Vec<Option<usize>> = without.iter().copied().map(Some).collect();
        Settings::of(self.results, &without).with_variant(self.roles.variant)
    }

    /// The label of the rate, where runs of one and of another cannot be compared: where goodput is not over the
    /// capacity.
    fn rate_apart(&self) -> Option<usize> {
        let goodput = self.goodput == Metric::GoodputBps;
        self.roles.rate.filter(|_| goodput)
    }

    /// A note on round-trip times with more behind it where some of them lack the queue of the link.
    fn with_vantage(&self, note: String) -> String {
        let runs = self.runs().count();
        let captured = |side| move |run: &&StudyRun| run.shortfall.captured == side;
        let behind = self.runs().filter(captured(LinkSide::Behind)).count();
        let unknown = self.runs().filter(captured(LinkSide::Unknown));
        let unknown = unknown.filter(|run| run.records.is_some()).count();
        let which = match behind {
            0 => return note,
            _ if behind == runs => String::new(),
            _ => format!("{behind} of all {runs} runs "),
        };
        let unknown = match unknown {
            0 => String::new(),
            unknown => format!(" (of {unknown} it is not known)"),
        };
        format!("{note}; {which}captured behind the link{unknown}, without its queue")
    }

    /// A note with more behind it where runs of several rates are taken together, as the label of the rate makes no
    /// groups and goodput is not over the capacity.
    fn with_rates(&self, note: String) -> String {
        let results = self.results;
        let place = rate_label(&results.labels);
        let together =
            |place: &usize| self.goodput == Metric::GoodputBps && !results.group_by.contains(place);
        let Some(place) = place.filter(together) else {
            return note;
        };
        let rates: BTreeSet<&LabelValue> = self
            .runs()
            .filter_map(|run| run.labels[place].as_ref())
            .collect();
        if rates.len() < 2 {
            return note;
        }
        format!("{note}; runs at {} rates together", rates.len())
    }

    /// Settings that can be compared: all, or those of each rate; of many rates all, as each would have a chart.
    fn comparable<T>(
        &self,
        found: BTreeMap<Setting, T>,
    ) -> BTreeMap<Option<LabelValue>, BTreeMap<Setting, T>> {
        let settings = self.settings(&[]);
        let rate = |setting: &Setting| settings.value(setting, self.rate_apart()?).cloned();
        let rates: BTreeSet<Option<LabelValue>> = found.keys().map(rate).collect();
        if rates.len() > settings::PARTS_MAX {
            return BTreeMap::from([(None, found)]);
        }
        let mut apart: BTreeMap<Option<LabelValue>, BTreeMap<Setting, T>> = BTreeMap::new();
        for (setting, of) in found {
            let of_rate = apart.entry(rate(&setting)).or_default();
            of_rate.insert(setting, of);
        }
        apart
    }

    /// Whether a chart is higher than the slide that it is for.
    fn is_too_high(&self, canvas: &Canvas) -> bool {
        let size = self.style.size;
        size == Size::Slide && canvas.height > size.height()
    }

    /// Charts with room for `capacity` on each; for slides, which have a height, half as much until all fit, unless
    /// that makes more charts than are drawn.
    fn fitting(
        &self,
        capacity: usize,
        draw: impl Fn(usize) -> Vec<Option<Canvas>>,
    ) -> Vec<Option<Canvas>> {
        let is_too_high = |canvas: &Canvas| self.is_too_high(canvas);
        let (mut capacity, mut drawn) = (capacity, draw(capacity));
        while capacity > 1 && drawn.iter().flatten().any(is_too_high) {
            capacity /= 2;
            let next = draw(capacity);
            if next.len() > CHARTS_MAX.max(drawn.len()) {
                break;
            }
            drawn = next;
        }
        drawn
    }

    /// `what – study: condition`.
    fn title(&self, what: &str, condition: &str) -> String {
        if condition.is_empty() {
            format!("{what} – {}", self.results.name)
        } else {
            format!("{what} – {}: {condition}", self.results.name)
        }
    }
}

/// What a metric is drawn as, and what its unit is in the base unit of that.
fn drawn(metric: Metric) -> (Quantity, f64) {
    match metric {
        Metric::GoodputBps => (Quantity::GOODPUT, 1.0),
        Metric::RttNsMean => (Quantity::RTT.called("Mean RTT"), 1e-9),
        Metric::PingNsMean => (Quantity::PING, 1e-9),
        Metric::CompletionNs => (Quantity::COMPLETION, 1e-9),
        Metric::Overhead => (Quantity::OVERHEAD, 1.0),
        Metric::WireOverhead => (Quantity::OVERHEAD.called("Overhead on the wire"), 1.0),
        Metric::RetransmissionRate => (Quantity::RETRANSMISSION_RATE, 1.0),
        Metric::Utilisation => (Quantity::UTILISATION, 1.0),
        Metric::QueueShare => (
            Quantity::SHARE.called("Queueing delay, of a full buffer’s"),
            1.0,
        ),
        _ => (Quantity::PLAIN, 1.0),
    }
}

/// Whether the capacity changed during a run.
fn moves(conditions: &Conditions) -> bool {
    matches!(conditions.capacity, Some(PathCapacity::Trace(_)))
}
