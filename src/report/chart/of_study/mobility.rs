//! While the capacity changes: the balanced metric, and several quantities on their own axes.

use std::collections::BTreeMap;

use crate::metric::stats::mean;
use crate::study::{LabelValue, Metric, ReportPlan, StudyRun, means_over_bins};

use super::super::axis::Quantity;
use super::super::distribution::{Distribution, Distributions};
use super::super::spider::{SpiderShape, Spiders};
use super::super::style::Size;
use super::settings::{Page, Setting};
use super::{Study, StudyCharts, drawn, moves};

const TOPIC: &str = "Goodput, delay and retransmissions together";

/// Panels on one chart; spiders on a slide, which has a height.
const PANELS_MAX: usize = 6;
const PANELS_MAX_SLIDE: usize = 4;

type Variant = Option<LabelValue>;

impl Study<'_> {
    /// Whether a run belongs here: where the capacity of some changes, only these do.
    fn of_mobility(&self) -> impl Fn(&StudyRun) -> bool {
        let any = self.runs().any(|run| moves(&run.conditions));
        move |run| !any || moves(&run.conditions)
    }
}

/// What runs have on an axis of a web, by setting and variant.
type OfAxis = BTreeMap<Setting, BTreeMap<Variant, Vec<f64>>>;

/// The axes of webs, and what runs have on each.
struct Webs {
    axes: [(Quantity, OfAxis); 3],
    note: String,
}

impl Webs {
    /// Of whole runs.
    fn of_runs(study: &Study<'_>) -> Self {
        let of = |metric| study.means(metric, &[], study.of_mobility());
        Self {
            axes: [
                (drawn(study.goodput).0, of(study.goodput)),
                // Short names leave more room for the webs.
                (Quantity::RTT, of(Metric::RttNsMean)),
                (
                    Quantity::RETRANSMISSION_RATE,
                    of(Metric::RetransmissionRate),
                ),
            ],
            note: "means of runs, of RTT the mean of each".to_owned(),
        }
    }

    /// Of the bins of runs, as the report has them, over the capacity where goodput is; none where a run has none, as one that was measured elsewhere: packets
    /// a bin are not packets a run.
    fn of_bins(study: &Study<'_>) -> Option<Self> {
        let of_mobility = study.of_mobility();
        let settings = study.settings(&[]);
        let mut found: [OfAxis; 3] = Default::default();
        for run in study.runs().filter(|run| of_mobility(run)) {
            if run.flows.iter().all(|flow| flow.measure.samples.is_empty()) {
                return None;
            }
            let goodput = |mbps: f64| match study.goodput {
                Metric::Utilisation => Some(mbps * 1e6 / run.conditions.capacity_bps()?),
                _ => Some(mbps * 1e6),
            };
            let company = study.company(run);
            let mut of_run: BTreeMap<(Setting, Variant), [Vec<f64>; 3]> = BTreeMap::new();
            for flow in &run.flows {
                let setting = settings.setting(&flow.labels).with(company.clone());
                let of = of_run.entry((setting, study.variant_of(flow))).or_default();
                let [goodput_mbps, rtt_ms, retransmitted, _] = means_over_bins(&flow.measure);
                of[0].extend(goodput_mbps.and_then(goodput));
                of[1].extend(rtt_ms.map(|ms| ms / 1e3));
                of[2].extend(retransmitted);
            }
            for ((setting, variant), values) in of_run {
                for (of_axis, values) in found.iter_mut().zip(values) {
                    if let Some(mean) = mean(&values) {
                        let of_setting = of_axis.entry(setting.clone()).or_default();
                        of_setting.entry(variant.clone()).or_default().push(mean);
                    }
                }
            }
        }
        let bin = Quantity::TIME.format(study.results.bin_ns as f64 / 1e9);
        let [goodput, rtt, retransmitted] = found;
        Some(Self {
            axes: [
                (drawn(study.goodput).0, goodput),
                (Quantity::RTT, rtt),
                (Quantity::RETRANSMITTED_A_BIN, retransmitted),
            ],
            note: format!("means of runs, of each over its bins of {bin}"),
        })
    }
}

/// The means of each variant as a polygon: with the report on mobility those of bins, as it has them.
pub(super) fn spiders(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    type Shapes = BTreeMap<Variant, SpiderShape>;
    let mut found: BTreeMap<Setting, Shapes> = BTreeMap::new();
    let of_bins = is_asked_for(reports)
        .then(|| Webs::of_bins(study))
        .flatten();
    let Webs { axes, note } = of_bins.unwrap_or_else(|| Webs::of_runs(study));
    let quantities = axes.each_ref().map(|(quantity, _)| *quantity);
    let goodput = quantities[0];
    for (axis, (_, of_axis)) in axes.into_iter().enumerate() {
        for (setting, variants) in of_axis {
            let shapes = found.entry(setting).or_default();
            for (variant, values) in variants {
                let name = study.variant_name(variant.as_ref());
                let shape = shapes.entry(variant).or_insert_with(|| SpiderShape {
                    name,
                    values: vec![None; quantities.len()],
                    n: values.len() as u64,
                });
                shape.values[axis] = mean(&values);
            }
        }
    }
    // One polygon alone says nothing.
    found.retain(|_, shapes| shapes.len() > 1);
    let what = format!("{}, delay, retransmissions", goodput.name);
    let note = study.with_vantage(study.with_rates(note));
    let canvas = |page: Page<Shapes>| {
        let spiders = Spiders {
            title: study.title(&what, &page.common.words()),
            note: note.clone(),
            axes: quantities.to_vec(),
            panels: page
                .entries
                .into_iter()
                .map(|(name, shapes)| (name, shapes.into_values().collect()))
                .collect(),
        };
        spiders.draw_as(study.style, &study.looks)
    };
    let room = match study.style.size {
        Size::Slide => PANELS_MAX_SLIDE,
        _ => PANELS_MAX,
    };
    // All webs of a chart have the same axes.
    let settings = study.settings(&[]);
    let of_rates = study.comparable(found).into_values();
    let pages = of_rates.flat_map(|found| settings.pages(found, room, |_| 1));
    charts.add(TOPIC, "spider", pages.map(canvas));
}

/// Whether there is the report on mobility.
fn is_asked_for(reports: &[ReportPlan]) -> bool {
    let is_it = |report: &ReportPlan| matches!(report, ReportPlan::Mobility { .. });
    reports.iter().any(is_it)
}

/// How the balanced metric of bins is distributed, by variant.
pub(super) fn ecdfs(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    type Values = BTreeMap<Variant, Vec<f64>>;
    if !is_asked_for(reports) {
        return;
    }
    let of_mobility = study.of_mobility();
    let settings = study.settings(&[]);
    let mut found: BTreeMap<Setting, Values> = BTreeMap::new();
    for run in study.runs().filter(|run| of_mobility(run)) {
        for flow in &run.flows {
            let pms: Vec<f64> = flow
                .measure
                .samples
                .iter()
                .filter_map(|bin| bin.pm)
                .collect();
            if !pms.is_empty() {
                let of_setting = found.entry(settings.setting(&flow.labels)).or_default();
                let values = of_setting.entry(study.variant_of(flow)).or_default();
                values.extend(pms);
            }
        }
    }
    let canvas = |page: Page<Values>| {
        let panel = |(name, values): (String, Values)| {
            let distributions = values.into_iter().map(|(of, values)| {
                let of = study.variant_name(of.as_ref());
                let style = study.looks.style(&of);
                Distribution::of_values(of, style, &values)
            });
            (name, distributions.collect())
        };
        let distributions = Distributions {
            title: study.title("Balanced metric Pm", &page.common.words()),
            // A third of it is about delay.
            note: study.with_vantage("of the bins of all flows; n counts bins".to_owned()),
            quantity: Quantity::PM,
            panels: page.entries.into_iter().map(panel).collect(),
            histogram: false,
        };
        distributions.draw_as(study.style, &study.looks)
    };
    let pages = settings.pages(found, PANELS_MAX, |_| 1);
    charts.add(TOPIC, "pm-ecdf", pages.into_iter().map(canvas));
}
