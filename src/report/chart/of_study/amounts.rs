//! Variant beside variant: bars with intervals, boxes.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::stats::{Describe, mean};
use crate::study::{
    Average, Composition, LabelValue, Metric, PathCapacity, StudyFlow, StudyRun, Values,
};

use super::super::axis::Quantity;
use super::super::boxes::{BoxPanel, Boxes, VALUES_MIN};
use super::super::canvas::Canvas;
use super::super::grouped_bars::{Bar, GroupedBars};
use super::super::interval::{Estimate, Spread};
use super::super::label::count;
use super::settings::{Page, Part, Setting, name_of};
use super::{Study, StudyCharts, drawn};

/// Settings on one chart of bars.
const SETTINGS_MAX: usize = 24;

/// So few are drawn together, also those with a single variant.
const SETTINGS_FEW: usize = 8;

/// Values by variant.
type ByVariant = BTreeMap<Option<LabelValue>, Vec<f64>>;

impl Study<'_> {
    /// Runs that count.
    pub(super) fn runs(&self) -> impl Iterator<Item = &StudyRun> {
        self.results.runs.iter().filter(|run| run.error.is_none())
    }

    /// The labels that tell flows apart: the variant's, and those that make groups.
    fn telling(&self) -> Vec<usize> {
        let variant = self.roles.variant;
        let grouped = self.results.group_by.iter().copied();
        let others = grouped.filter(|&place| Some(place) != variant);
        variant.into_iter().chain(others).collect()
    }

    /// The flows that share the link in a run.
    pub(super) fn company(&self, run: &StudyRun) -> Composition {
        Composition::of_run(run, &self.telling())
    }

    /// What each variant has in a run, its flows of other labels that make groups apart.
    pub(super) fn parts<'r>(&self, run: &'r StudyRun) -> Vec<Part<'r>> {
        let telling = self.telling();
        let mut parts: BTreeMap<Vec<&Option<LabelValue>>, Part<'r>> = BTreeMap::new();
        for flow in &run.flows {
            let variant = self.variant_of(flow);
            let kind = telling.iter().map(|&place| &flow.labels[place]);
            let part = parts.entry(kind.collect()).or_insert_with(|| Part {
                variant,
                labels: &flow.labels,
                values: Vec::new(),
                unfinished: Vec::new(),
                whole: false,
            });
            part.values.push(&flow.measure.values);
            part.unfinished.push(flow.measure.is_unfinished());
        }
        if run.flows.is_empty() {
            let variant = self
                .roles
                .variant
                .and_then(|place| run.labels[place].clone());
            let whole = Part {
                variant,
                labels: &run.labels,
                values: vec![&run.values],
                unfinished: vec![false],
                whole: true,
            };
            parts.insert(Vec::new(), whole);
        }
        parts.into_values().collect()
    }

    pub(super) fn variant_of(&self, flow: &StudyFlow) -> Option<LabelValue> {
        self.roles
            .variant
            .and_then(|place| flow.labels[place].clone())
    }

    /// Means over the flows of each run and variant, by setting; flows of one run are not
    /// independent.
    pub(super) fn means(
        &self,
        metric: Metric,
        without: &[Option<usize>],
        of: impl Fn(&StudyRun) -> bool,
    ) -> BTreeMap<Setting, ByVariant> {
        let settings = self.settings(without);
        let (_, scale) = drawn(metric);
        let mut found: BTreeMap<Setting, ByVariant> = BTreeMap::new();
        for run in self.runs().filter(|run| of(run)) {
            let parts = self.parts(run);
            let company = self.company(run);
            for part in parts {
                let values: Vec<f64> = part
                    .values
                    .iter()
                    .filter_map(|values| Some(values.get(metric)? * scale))
                    .collect();
                if let Some(mean) = mean(&values) {
                    let setting = settings.setting(part.labels).with(company.clone());
                    let of_setting = found.entry(setting).or_default();
                    of_setting.entry(part.variant).or_default().push(mean);
                }
            }
        }
        found
    }
}

/// What stands for some values, with what is known of it: its interval, or where they are few they themselves.
pub(super) fn estimate(average: Average, values: &[f64]) -> Option<Estimate> {
    match average {
        Average::Mean => mean_of(values),
        Average::Median => median_of(values),
    }
}

/// The median of some values with their quartiles; where they are few, with them.
pub(super) fn median_of(values: &[f64]) -> Option<Estimate> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let described = Describe::of(&values)?;
    let quartiles = || match described.n {
        1 => Spread::Unknown,
        _ => Spread::Interval(described.q1, described.q3),
    };
    Some(Estimate {
        value: described.median,
        spread: Spread::of_few(&values).unwrap_or_else(quartiles),
        n: described.n as u64,
    })
}

fn mean_of(values: &[f64]) -> Option<Estimate> {
    let described = Describe::of(values)?;
    // What is never below 0 has no mean there either.
    let floor = if described.min >= 0.0 {
        0.0
    } else {
        f64::NEG_INFINITY
    };
    let interval = || match described.ci95 {
        Some(of) => Spread::Interval(of.low.max(floor), of.high),
        None => Spread::Unknown,
    };
    Some(Estimate {
        value: described.mean,
        spread: Spread::of_few(values).unwrap_or_else(interval),
        n: described.n as u64,
    })
}

/// What is said of estimates: with intervals where there are any. Of values that are drawn themselves the chart tells.
pub(super) fn interval_note<'e>(
    average: Average,
    estimates: impl Iterator<Item = &'e Estimate>,
) -> &'static str {
    let estimates: Vec<&Estimate> = estimates.collect();
    let intervals = estimates.iter().filter_map(|of| of.spread.interval());
    let intervals: Vec<(f64, f64)> = intervals.collect();
    if estimates.iter().all(|of| of.spread == Spread::Unknown) {
        "one run each, so without intervals"
    } else if average == Average::Median {
        if intervals.is_empty() {
            "median of runs"
        } else {
            "median of runs, with quartiles"
        }
    } else if intervals.is_empty() {
        "mean of runs"
    } else if intervals
        .iter()
        .any(|&(low, high)| low == 0.0 && high > 0.0)
    {
        "mean of runs, with its 95 % confidence interval (cut at 0)"
    } else {
        "mean of runs, with its 95 % confidence interval"
    }
}

/// What the bands of lines are called.
pub(super) const fn band_words(average: Average) -> &'static str {
    match average {
        Average::Mean => "95 % confidence interval",
        Average::Median => "quartiles",
    }
}

/// What the charts of bars that have one scale have in common: a rate, where it tells them apart, and words.
type Kin = (Option<LabelValue>, Vec<String>);

/// Goodput, latency, overhead and retransmissions, variant beside variant for each setting.
pub(super) fn bars(study: &Study<'_>, charts: &mut StudyCharts) {
    for metric in [
        study.goodput,
        Metric::RttNsMean,
        Metric::Overhead,
        Metric::RetransmissionRate,
    ] {
        let (quantity, _) = drawn(metric);
        let found = study.means(metric, &[], |_| true);
        let few = found.len() <= SETTINGS_FEW;
        let found = found
            .into_iter()
            .map(|(setting, variants)| (setting.clone(), (setting, variants)));
        // First what can be compared, unless one chart has room for all.
        let (several, one): (BTreeMap<_, _>, BTreeMap<_, _>) =
            found.partition(|(_, (_, variants))| few || variants.len() > 1);
        let settings = study.settings(&[]);
        let draw_alike = |pages: &[(Kin, GroupedBars)]| {
            let charts: Vec<GroupedBars> = pages.iter().map(|(_, bars)| bars.clone()).collect();
            GroupedBars::draw_together(&charts, study.style, &study.looks)
        };
        let draw = |capacity: usize| {
            let of_rate = |(rate, found): (Option<LabelValue>, _)| {
                let pages = settings.pages(found, capacity, |_| 1);
                let with_kin = move |page: Page<_>| {
                    let kin = (rate.clone(), page.common.kin().to_vec());
                    (kin, grouped_bars(study, quantity, page))
                };
                pages.into_iter().map(with_kin)
            };
            let parts = [&several, &one].into_iter();
            let parts = parts.flat_map(|found| study.comparable(found.clone()));
            let pages: Vec<(Kin, GroupedBars)> = parts.flat_map(of_rate).collect();
            // Pages of one rate that only the last label in common tells apart are compared with each other.
            let kin = pages.chunk_by(|(one, _), (next, _)| one == next);
            kin.flat_map(draw_alike).collect()
        };
        let kind = match metric {
            Metric::GoodputBps => "bars-goodput",
            Metric::Utilisation => "bars-utilisation",
            Metric::RttNsMean => "bars-latency",
            Metric::Overhead => "bars-overhead",
            _ => "bars-retransmissions",
        };
        charts.add(
            "Variant beside variant",
            kind,
            study.fitting(SETTINGS_MAX, draw),
        );
    }
}

/// The bars of a page: a group a setting.
fn grouped_bars(
    study: &Study<'_>,
    quantity: Quantity,
    page: Page<(Setting, ByVariant)>,
) -> GroupedBars {
    let mut settings = page.entries.iter().map(|(_, (setting, _))| setting);
    let of_several = settings.any(Setting::has_several_of_a_variant);
    let bar = |(name, values): (Option<LabelValue>, Vec<f64>)| {
        let name = study.variant_name(name.as_ref());
        (name, estimate(study.results.average, &values))
    };
    let groups: Vec<(String, Vec<Bar>)> = page
        .entries
        .into_iter()
        .map(|(name, (_, variants))| (name, variants.into_iter().map(bar).collect()))
        .collect();
    let estimates = groups.iter().flat_map(|(_, bars)| bars);
    let note = interval_note(
        study.results.average,
        estimates.filter_map(|(_, bar)| bar.as_ref()),
    );
    let mut note = study.with_rates(if of_several {
        format!("{note}; of several flows of a variant in a run: their mean")
    } else {
        note.to_owned()
    });
    if quantity == drawn(Metric::RttNsMean).0 {
        note = study.with_vantage(note);
    }
    GroupedBars {
        title: study.title(quantity.name, &page.common.words()),
        note,
        quantity,
        groups,
    }
}

/// Values of each variant: goodput, delay, completion times.
#[derive(Default)]
struct Samples {
    goodput: ByVariant,
    utilisation: ByVariant,
    rtt: ByVariant,
    ping: ByVariant,
    /// Runs that have none, or none that is of one variant.
    without_ping: usize,
    completion: ByVariant,
    /// Whether some are of flows, and some of runs of which flows are not known, as measured elsewhere.
    of_flows: bool,
    of_runs: bool,
    /// Flows whose completion times are not among these, as they had not completed.
    unfinished: usize,
    /// Capacity of the first of the runs, in bit/s, and whether another one has another.
    capacity_bps: Option<f64>,
    capacities_differ: bool,
}

impl Samples {
    /// Takes note of the link of a run, as far as it is one.
    fn note_link(&mut self, run: &StudyRun) {
        if let Some(PathCapacity::Constant(bps)) = run.conditions.capacity {
            let first_bps = *self.capacity_bps.get_or_insert(bps);
            self.capacities_differ |= first_bps.total_cmp(&bps).is_ne();
        }
    }

    /// Whether there are variants with enough values to compare; with fewer, settings are taken together.
    fn compare(&self) -> bool {
        let enough = |values: &&Vec<f64>| values.len() >= VALUES_MIN;
        self.goodput.values().filter(enough).count() > 1
    }

    fn join(&mut self, other: Self) {
        self.unfinished += other.unfinished;
        self.without_ping += other.without_ping;
        self.of_flows |= other.of_flows;
        self.of_runs |= other.of_runs;
        for (all, more) in [
            (&mut self.goodput, other.goodput),
            (&mut self.utilisation, other.utilisation),
            (&mut self.rtt, other.rtt),
            (&mut self.ping, other.ping),
            (&mut self.completion, other.completion),
        ] {
            for (variant, values) in more {
                all.entry(variant).or_default().extend(values);
            }
        }
    }

    /// Ping where all runs have it, else RTT: the two are never on one axis.
    fn delay(&self) -> Metric {
        let all_have = self.without_ping == 0 || self.rtt.is_empty();
        if all_have && !self.ping.is_empty() {
            Metric::PingNsMean
        } else {
            Metric::RttNsMean
        }
    }

    /// What the values are of.
    fn words(&self) -> String {
        let what = match (self.of_flows, self.of_runs) {
            (false, true) => "values of runs",
            (true, true) => "values of flows, or of runs without any",
            _ => "values of flows",
        };
        let more = match self.delay() {
            Metric::PingNsMean if self.of_flows => ", pings of runs",
            Metric::PingNsMean => "",
            _ if self.ping.is_empty() => "",
            _ => "; RTT, as not all runs have pings",
        };
        format!("{what}{more}")
    }

    /// Goodput, or what stands for it, beside ping or RTT; and completion times.
    fn panels(self, goodput: Metric) -> Vec<BoxPanel> {
        let delay = self.delay();
        let rate = match goodput {
            Metric::Utilisation => self.utilisation,
            _ => self.goodput,
        };
        let delays = match delay {
            Metric::PingNsMean => self.ping,
            _ => self.rtt,
        };
        let panels = [
            (goodput, rate),
            (delay, delays),
            (Metric::CompletionNs, self.completion),
        ];
        let panels = panels.into_iter().filter(|(_, values)| !values.is_empty());
        panels
            .map(|(metric, values)| BoxPanel {
                quantity: drawn(metric).0,
                samples: values
                    .into_iter()
                    .map(|(variant, values)| (name_of(variant.as_ref()), values))
                    .collect(),
            })
            .collect()
    }
}

/// Settings of which too little is known for boxes of their own.
#[derive(Default)]
struct Together {
    /// Those that have all variants. What others have would show where a variant ran, not how it did.
    taken: usize,
    all: usize,
}

impl Together {
    /// The samples of the settings that have all variants, as one.
    fn of(settings: Vec<Samples>) -> (Self, Samples) {
        let all = settings.len();
        let variants: BTreeSet<Option<LabelValue>> = settings
            .iter()
            .flat_map(|samples| samples.goodput.keys().cloned())
            .collect();
        let (mut taken, mut joined) = (0, Samples::default());
        for samples in settings {
            if samples.goodput.keys().eq(&variants) {
                taken += 1;
                joined.join(samples);
            }
        }
        (Self { taken, all }, joined)
    }

    /// What to say of it; nothing of a setting by itself.
    fn words(&self) -> Option<String> {
        if self.all < 2 {
            return None;
        }
        let all = count(self.all, "setting");
        Some(if self.taken == self.all {
            format!("{all} together")
        } else {
            format!("{} of {all} together, those with all variants", self.taken)
        })
    }
}

/// Box and whisker of goodput beside ping or RTT, and of completion times, by variant.
pub(super) fn boxes(study: &Study<'_>, charts: &mut StudyCharts) {
    let settings = study.settings(&[]);
    let (alone, rest): (BTreeMap<_, _>, BTreeMap<_, _>) = samples(study)
        .into_iter()
        .partition(|(_, samples)| samples.compare());
    // What is too little alone is taken together, by the first label, and by what cannot be compared.
    let kept = settings.first_and(study.rate_apart());
    let broad = settings.only(&kept);
    let mut groups: BTreeMap<Setting, Vec<Samples>> = BTreeMap::new();
    for (setting, samples) in rest {
        groups.entry(setting.only(&kept)).or_default().push(samples);
    }
    let mut together: BTreeMap<Setting, (Together, Samples)> = groups
        .into_iter()
        .map(|(setting, all)| (setting, Together::of(all)))
        .collect();
    together.retain(|_, (_, samples)| samples.compare());
    let alone = alone
        .into_iter()
        .map(|(setting, samples)| (setting, (Together::default(), samples)));
    let mut pages = settings.pages(alone.collect(), 1, |_| 1);
    pages.extend(broad.pages(together, 1, |_| 1));
    let canvases = |page: Page<(Together, Samples)>| {
        let of = page.entries.into_iter().next();
        of.map_or_else(Vec::new, |(_, (together, samples))| {
            draw_boxes(study, &page.common.words(), &together, samples)
        })
    };
    charts.add(
        "Variant beside variant",
        "boxes",
        pages.into_iter().flat_map(canvases),
    );
}

/// The values of all flows, and pings of runs, by setting.
fn samples(study: &Study<'_>) -> BTreeMap<Setting, Samples> {
    let settings = study.settings(&[]);
    let mut found: BTreeMap<Setting, Samples> = BTreeMap::new();
    for run in study.runs() {
        let parts = study.parts(run);
        let company = study.company(run);
        let several = parts.len() > 1;
        for part in parts {
            let setting = settings.setting(part.labels).with(company.clone());
            let samples = found.entry(setting).or_default();
            samples.of_runs |= part.whole;
            samples.of_flows |= !part.whole;
            samples.note_link(run);
            let add = |metric, values: &mut ByVariant, of: &Values| {
                if let Some(value) = of.get(metric) {
                    let values = values.entry(part.variant.clone()).or_default();
                    values.push(value * drawn(metric).1);
                }
            };
            for (of, &is_unfinished) in part.values.iter().zip(&part.unfinished) {
                add(Metric::GoodputBps, &mut samples.goodput, of);
                add(Metric::Utilisation, &mut samples.utilisation, of);
                add(Metric::RttNsMean, &mut samples.rtt, of);
                if is_unfinished {
                    samples.unfinished += 1;
                } else {
                    add(Metric::CompletionNs, &mut samples.completion, of);
                }
            }
            // A ping belongs to a run: to a variant where it has but one.
            if !several && run.values.get(Metric::PingNsMean).is_some() {
                add(Metric::PingNsMean, &mut samples.ping, &run.values);
            } else {
                samples.without_ping += 1;
            }
        }
    }
    found
}

/// That the completion times of so many flows are not there.
pub(super) fn left_out_note(unfinished: usize) -> String {
    match unfinished {
        0 => String::new(),
        1 => "; without the completion time of 1 flow that had not completed".to_owned(),
        n => format!("; without the completion times of {n} flows that had not completed"),
    }
}

/// The boxes of a setting, or of several `together`: of all quantities on one chart, unless that is too high for a
/// slide or a page.
fn draw_boxes(
    study: &Study<'_>,
    common: &str,
    together: &Together,
    samples: Samples,
) -> Vec<Option<Canvas>> {
    let values = samples.words();
    let note = study.with_rates(match together.words() {
        Some(together) => format!("{together}; {values}"),
        None => values,
    });
    let left_out = left_out_note(samples.unfinished);
    let draw = |panels: Vec<BoxPanel>| {
        let has_completion = |panels: &[BoxPanel]| {
            panels
                .iter()
                .any(|panel| panel.quantity == Quantity::COMPLETION)
        };
        let mut note = note.clone();
        let rtt = drawn(Metric::RttNsMean).0;
        if panels.iter().any(|panel| panel.quantity == rtt) {
            note = study.with_vantage(note);
        }
        if has_completion(&panels) {
            note.push_str(&left_out);
        }
        let what = match panels.as_slice() {
            [one] => format!("{} by variant", one.quantity.name),
            [one, other, ..] => {
                let other = if other.quantity == Quantity::COMPLETION {
                    "completion time"
                } else {
                    "delay"
                };
                format!("{} and {other} by variant", one.quantity.name)
            }
            [] => String::new(),
        };
        let boxes = Boxes {
            title: study.title(&what, common),
            note,
            panels,
        };
        boxes.draw_as(study.style, &study.looks)
    };
    // One setting has one capacity, unless that is none of the labels.
    let goodput = if together.all > 1 || samples.capacities_differ {
        study.goodput
    } else {
        Metric::GoodputBps
    };
    let panels = samples.panels(goodput);
    let whole = draw(panels.clone());
    if whole
        .as_ref()
        .is_some_and(|canvas| canvas.height > study.style.size.height_max())
    {
        panels.into_iter().map(|panel| draw(vec![panel])).collect()
    } else {
        vec![whole]
    }
}
