//! Two flows against each other: fairness, how full the queue is, short flows beside long ones.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::stats::mean;
use crate::study::{LabelValue, Metric, ReportPlan, StudyFlow, StudyRun, seen_from};

use super::super::axis::Quantity;
use super::super::boxes::{BoxPanel, Boxes};
use super::super::canvas::Canvas;
use super::super::counts::n_words;
use super::super::densities::{FnessPair, FnessScatter, MEDIAN_MIN};
use super::super::heat_map::{HeatMap, HeatMaps, HeatScale};
use super::super::style::Size;
use super::amounts::left_out_note;
use super::settings::{Page, Setting, name_of};
use super::{CHARTS_MAX, MAPS_MAX, Study, StudyCharts, drawn};

pub(super) const TOPIC: &str = "Two flows";

/// Pairs of variants on one chart.
const PAIRS_MAX: usize = 18;
/// Maps on a slide, where each needs room for its name.
const MAPS_MAX_SLIDE: usize = 6;

/// A flow is short beside one that has so many times its bytes, unless their ends are closer than this share of the
/// time that both took, or the times that they took closer than this share of the longer one.
const SHORT: f64 = 4.0;
const TOGETHER: f64 = 0.1;
const ALIKE: f64 = 0.05;

type Variant = Option<LabelValue>;

impl Study<'_> {
    /// Runs of two flows, in the order of their start.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&StudyRun, [&StudyFlow; 2])> {
        self.runs().filter_map(|run| match run.flows.as_slice() {
            [first, second] => Some((run, [first, second])),
            _ => None,
        })
    }

    /// The variants of two flows; none where a label tells variants and one of the two has none.
    pub(super) fn variants_of_pair(&self, flows: [&StudyFlow; 2]) -> Option<[Variant; 2]> {
        let variants = flows.map(|flow| self.variant_of(flow));
        let are_told = self.roles.variant.is_none() || variants.iter().all(Option::is_some);
        are_told.then_some(variants)
    }

    /// The setting of a run of two flows: labels that only one of them has are none.
    pub(super) fn setting_of_pair(&self, run: &StudyRun) -> Setting {
        self.settings(&[]).setting(&run.labels)
    }
}

/// Pairs of variants by their names, A and B.
type Pairs = BTreeMap<(Variant, Variant), FnessPair>;

/// The variants that pairs are seen from, in their order.
fn references(reports: &[ReportPlan]) -> Vec<Variant> {
    let references = reports.iter().find_map(|report| match report {
        ReportPlan::Pairs { references, .. } => Some(references.clone()),
        _ => None,
    });
    references.into_iter().flatten().map(Some).collect()
}

/// Fairness of each pair, for both orders in which its flows may start; charts of their own for each variant that pairs
/// are seen from.
pub(super) fn fness(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    let references = references(reports);
    let found = pairs_by_reference(study, &references).into_iter();
    let canvases = found.flat_map(|(place, found)| {
        let a = references.get(place).map(|a| name_of(a.as_ref()));
        fness_of(study, a.as_deref(), &found)
    });
    charts.add(TOPIC, "fness", canvases);
}

/// The charts of pairs that are all seen from the variant of this name, where there is one.
fn fness_of(
    study: &Study<'_>,
    a: Option<&str>,
    found: &BTreeMap<Setting, Pairs>,
) -> Vec<Option<Canvas>> {
    // A chart a setting, unless these are many, or runs so few that each is but a point or two; a slide has no room for
    // a second row.
    let most = found.values().map(BTreeMap::len).max().unwrap_or(0);
    let has_many_runs = |pair: &FnessPair| pair.a_first.len().max(pair.b_first.len()) >= MEDIAN_MIN;
    let shaped = study.style.size == Size::Slide
        || found.values().flat_map(BTreeMap::values).any(has_many_runs);
    let room = if found.len() <= CHARTS_MAX && most > 2 && shaped {
        most
    } else {
        PAIRS_MAX
    };
    let settings = study.settings(&[]);
    let canvas = |page: Page<Pairs>| {
        let pairs = page.entries.into_iter().flat_map(|(setting, pairs)| {
            pairs.into_values().map(move |pair| FnessPair {
                name: named(&pair.name, &setting),
                ..pair
            })
        });
        let scatter = FnessScatter {
            title: study.title(
                &match a {
                    Some(a) => format!("Fairness of {a} and others"),
                    None => "Fairness of pairs A | B".to_owned(),
                },
                &page.common.words(),
            ),
            note: String::new(),
            point: "a run".to_owned(),
            a: a.map(str::to_owned),
            pairs: pairs.collect(),
        };
        scatter.draw(study.style)
    };
    let draw = |capacity: usize| {
        let pages = settings.pages(found.clone(), capacity, BTreeMap::len);
        pages.into_iter().map(canvas).collect()
    };
    study.fitting(room, draw)
}

/// The runs of each pair, under each setting, by the place of the variant that it is seen from; behind these those that
/// are seen from none of them.
fn pairs_by_reference(
    study: &Study<'_>,
    references: &[Variant],
) -> BTreeMap<usize, BTreeMap<Setting, Pairs>> {
    let mut found: BTreeMap<usize, BTreeMap<Setting, Pairs>> = BTreeMap::new();
    for (run, flows) in study.pairs() {
        let Some(fness) = run.values.get(Metric::Fness) else {
            continue;
        };
        let Some([first, second]) = study.variants_of_pair(flows) else {
            continue;
        };
        for (a, b, order) in seen_from([&first, &second], references) {
            let place = references.iter().position(|of| of == a);
            let name = match place {
                Some(_) => name_of(b.as_ref()),
                None => format!("{} | {}", name_of(a.as_ref()), name_of(b.as_ref())),
            };
            let of_place = found.entry(place.unwrap_or(references.len())).or_default();
            let pairs = of_place.entry(study.setting_of_pair(run)).or_default();
            let pair = pairs.entry((a.clone(), b.clone()));
            let pair = pair.or_insert_with(|| FnessPair {
                name,
                a_first: Vec::new(),
                b_first: Vec::new(),
            });
            // The run's A is the flow that started first.
            match order {
                0 => pair.a_first.push(fness),
                _ => pair.b_first.push(-fness),
            }
        }
    }
    found
}

/// What is not empty of two parts of a name.
fn named(first: &str, second: &str) -> String {
    match (first, second) {
        (name, "") | ("", name) => name.to_owned(),
        _ => format!("{first}, {second}"),
    }
}

/// How long packets of each pair wait, of what they would in a full buffer; runs captured behind the queue have none.
pub(super) fn queue_share(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    let about = PairMaps {
        kind: "queue-share",
        title: "Mean queueing delay over that of a full buffer",
        quantity: drawn(Metric::QueueShare).0,
        parts: [""],
        firsts: references(reports),
        note: |n| {
            format!("both flows together, mean of runs, {n}; of captures from before the queue")
        },
    };
    about.draw(study, charts, |run, _| [run.values.get(Metric::QueueShare)]);
}

/// What the flows of each pair sent again.
pub(super) fn retransmissions(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    let of = |flow: &StudyFlow| flow.measure.values.get(Metric::RetransmittedPackets);
    let any = |(_, flows): (&StudyRun, [&StudyFlow; 2])| {
        flows
            .into_iter()
            .filter_map(of)
            .any(|packets| packets > 0.0)
    };
    // Nothing but zeros says nothing.
    if !study.pairs().any(any) {
        return;
    }
    let about = PairMaps {
        kind: "pair-retransmissions",
        title: "Retransmissions of two flows",
        quantity: Quantity::RETRANSMISSIONS,
        parts: ["of the first flow", "of the second flow"],
        firsts: references(reports),
        note: |n| format!("mean of runs, {n}"),
    };
    about.draw(study, charts, |_, flows| flows.map(of));
}

/// Maps of what runs of two flows have, over who started first and who second: so many of each setting.
struct PairMaps<const PARTS: usize> {
    kind: &'static str,
    title: &'static str,
    quantity: Quantity,
    /// What each map of a setting is of.
    parts: [&'static str; PARTS],
    /// The variants that started first, of the runs that count; none: whichever there are.
    firsts: Vec<Variant>,
    /// What the numbers are, with how many values each is the mean of.
    note: fn(&str) -> String,
}

/// Values of each pair.
type OfPairs = BTreeMap<(Variant, Variant), Vec<f64>>;

/// Whatever started first or second, in order.
fn variants<'a>(pairs: impl Iterator<Item = &'a OfPairs>) -> Vec<Variant> {
    let names = pairs
        .flat_map(BTreeMap::keys)
        .flat_map(|(first, second)| [first, second]);
    let names: BTreeSet<&Variant> = names.collect();
    names.into_iter().cloned().collect()
}

impl<const PARTS: usize> PairMaps<PARTS> {
    fn draw(
        &self,
        study: &Study<'_>,
        charts: &mut StudyCharts,
        values: impl Fn(&StudyRun, [&StudyFlow; 2]) -> [Option<f64>; PARTS],
    ) {
        let mut found: BTreeMap<Setting, [OfPairs; PARTS]> = BTreeMap::new();
        for (run, flows) in study.pairs() {
            let of_run = values(run, flows);
            if of_run.iter().all(Option::is_none) {
                continue;
            }
            let Some([first, second]) = study.variants_of_pair(flows) else {
                continue;
            };
            if !self.firsts.is_empty() && !self.firsts.contains(&first) {
                continue;
            }
            let none = || std::array::from_fn(|_| OfPairs::new());
            let parts = found.entry(study.setting_of_pair(run)).or_insert_with(none);
            for (pairs, value) in parts.iter_mut().zip(of_run) {
                let of_pair = pairs.entry((first.clone(), second.clone())).or_default();
                of_pair.extend(value);
            }
        }
        // One variant alone is no map; but beside settings that have more it is one of one cell, on whatever page.
        if variants(found.values().flatten()).len() < 2 {
            return;
        }
        let room = match study.style.size {
            Size::Slide => MAPS_MAX_SLIDE,
            _ => MAPS_MAX,
        };
        // On whatever page a map is, a colour is the same amount.
        let means = found.values().flatten().flat_map(BTreeMap::values);
        let most = means.filter_map(|values| mean(values)).fold(0.0, f64::max);
        let settings = study.settings(&[]);
        let draw = |capacity: usize| {
            let pages = settings.pages(found.clone(), capacity, |_| PARTS);
            let canvases = pages.iter().map(|page| self.canvas(study, page, most));
            canvases.collect()
        };
        charts.add(TOPIC, self.kind, study.fitting(room, draw));
    }

    fn canvas(
        &self,
        study: &Study<'_>,
        page: &Page<[OfPairs; PARTS]>,
        most: f64,
    ) -> Option<Canvas> {
        let pairs = || page.entries.iter().flat_map(|(_, parts)| parts);
        let names = variants(pairs());
        let (firsts, seconds) = if self.firsts.is_empty() {
            (names.clone(), names)
        } else {
            let of_page = || pairs().flat_map(BTreeMap::keys);
            let firsts: BTreeSet<&Variant> = of_page().map(|(first, _)| first).collect();
            let seconds: BTreeSet<&Variant> = of_page().map(|(_, second)| second).collect();
            let in_order = self.firsts.iter().filter(|first| firsts.contains(first));
            (
                in_order.cloned().collect(),
                seconds.into_iter().cloned().collect(),
            )
        };
        let n = pairs().flat_map(BTreeMap::values);
        let n = n_words(n.map(|values| values.len() as u64).filter(|&n| n > 0));
        let texts = |of: &[Variant]| -> Vec<String> {
            of.iter().map(|name| name_of(name.as_ref())).collect()
        };
        let map = |setting: &str, part: &str, pairs: &OfPairs| {
            let cell = |second: &Variant, first: &Variant| {
                mean(pairs.get(&(first.clone(), second.clone()))?)
            };
            let row = |second: &Variant| firsts.iter().map(|first| cell(second, first)).collect();
            HeatMap {
                name: named(setting, part),
                scale: HeatScale::Amount,
                cells: seconds.iter().map(row).collect(),
            }
        };
        let maps = page.entries.iter().flat_map(|(setting, parts)| {
            let parts = self.parts.iter().zip(parts);
            parts.map(|(part, pairs)| map(setting, part, pairs))
        });
        let maps = HeatMaps {
            title: study.title(self.title, &page.common.words()),
            note: (self.note)(&n),
            quantity: self.quantity,
            columns: ("First flow".to_owned(), texts(&firsts)),
            rows: ("Second flow".to_owned(), texts(&seconds)),
            maps: maps.collect(),
        };
        maps.draw_up_to(most, study.style)
    }
}

/// Completion times.
#[derive(Clone, Default)]
struct Times {
    /// By the variant of a flow and of that beside it: of short, of long flows.
    of: [BTreeMap<(Variant, Variant), Vec<f64>>; 2],
    /// Flows that had not completed.
    unfinished: usize,
}

fn completion_times(study: &Study<'_>) -> BTreeMap<Setting, Times> {
    let mut found: BTreeMap<Setting, Times> = BTreeMap::new();
    for (run, pair) in study.pairs() {
        let Some([short, long]) = short_and_long(pair) else {
            continue;
        };
        let times = found.entry(study.setting_of_pair(run)).or_default();
        for ((of, flow), beside) in times.of.iter_mut().zip([short, long]).zip([long, short]) {
            if flow.measure.is_unfinished() {
                times.unfinished += 1;
                continue;
            }
            let Some(ns) = flow.measure.values.get(Metric::CompletionNs) else {
                continue;
            };
            let names = (study.variant_of(flow), study.variant_of(beside));
            let values = of.entry(names).or_default();
            values.push(ns * drawn(Metric::CompletionNs).1);
        }
    }
    found
}

/// Which of two flows is the short one, if one is.
fn short_and_long([first, second]: [&StudyFlow; 2]) -> Option<[&StudyFlow; 2]> {
    // Flows that run for a time and not for a size end together, or last equally long, whatever they got.
    let spans = first.measure.span_ns.zip(second.measure.span_ns);
    let are_timed = spans.is_some_and(|(one, other)| {
        let all_ns = one.1.max(other.1) - one.0.min(other.0);
        let apart_ns = (one.1 - other.1).abs();
        let [one_ns, other_ns] = [one, other].map(|(first, last)| last - first);
        let longer_ns = one_ns.max(other_ns);
        apart_ns as f64 <= TOGETHER * all_ns as f64
            || (one_ns - other_ns).abs() as f64 <= ALIKE * longer_ns as f64
    });
    let bytes = |flow: &StudyFlow| flow.measure.values.get(Metric::AckedBytes);
    let is_short = |one: &StudyFlow, other: &StudyFlow| {
        let pair = bytes(one).zip(bytes(other));
        pair.is_some_and(|(one, other)| one * SHORT <= other)
    };
    if are_timed {
        None
    } else if is_short(first, second) {
        Some([first, second])
    } else if is_short(second, first) {
        Some([second, first])
    } else {
        None
    }
}

/// Completion times of short flows beside long ones, and of these.
pub(super) fn completion(study: &Study<'_>, charts: &mut StudyCharts) {
    let found = completion_times(study);
    let (quantity, _) = drawn(Metric::CompletionNs);
    let canvas = |page: Page<Times>| {
        let panel = |of: usize, beside: &str, name: &'static str| {
            let samples = page.entries.iter().flat_map(|(setting, times)| {
                times.of[of].iter().map(move |((variant, other), values)| {
                    let (variant, other) = (name_of(variant.as_ref()), name_of(other.as_ref()));
                    let name = format!("{variant} beside {beside} {other}");
                    (named(&name, setting), values.clone())
                })
            });
            BoxPanel {
                quantity: quantity.called(name),
                samples: samples.collect(),
            }
        };
        let unfinished = page.entries.iter().map(|(_, times)| times.unfinished).sum();
        let boxes = Boxes {
            title: study.title("Completion times, short beside long", &page.common.words()),
            note: format!(
                "a flow is short beside one with {SHORT} times its bytes{}",
                left_out_note(unfinished)
            ),
            panels: vec![
                panel(0, "long", "Completion time of the short flow"),
                panel(1, "short", "Completion time of the long flow"),
            ],
        };
        boxes.draw_as(study.style, &study.looks)
    };
    let settings = study.settings(&[]);
    let draw = |capacity: usize| {
        let pages = settings.pages(found.clone(), capacity, |times| times.of[0].len());
        pages.into_iter().map(canvas).collect()
    };
    charts.add(TOPIC, "completion", study.fitting(PAIRS_MAX, draw));
}
