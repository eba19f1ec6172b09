//! While the capacity changes: the balanced metric, and several quantities on their own axes.

use std::collections::BTreeMap;

use crate::metric::stats::mean;
use crate::study::{LabelValue, Metric, ReportPlan, StudyRun};

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

/// The means of each variant as a polygon.
pub(super) fn spiders(study: &Study<'_>, charts: &mut StudyCharts) {
    type Shapes = BTreeMap<Variant, SpiderShape>;
    let mut found: BTreeMap<Setting, Shapes> = BTreeMap::new();
    let axes = [study.goodput, Metric::RttNsMean, Metric::RetransmissionRate];
    let goodput = drawn(study.goodput).0;
    for (axis, metric) in axes.into_iter().enumerate() {
        for (setting, variants) in study.means(metric, &[], study.of_mobility()) {
            let shapes = found.entry(setting).or_default();
            for (variant, values) in variants {
                let name = study.variant_name(variant.as_ref());
                let shape = shapes.entry(variant).or_insert_with(|| SpiderShape {
                    name,
                    values: vec![None; axes.len()],
                    n: values.len() as u64,
                });
                shape.values[axis] = mean(&values);
            }
        }
    }
    // One polygon alone says nothing.
    found.retain(|_, shapes| shapes.len() > 1);
    let what = format!("{}, delay, retransmissions", goodput.name);
    let note = study.with_rates("means of runs, of RTT the mean of each".to_owned());
    let note = study.with_vantage(note);
    let canvas = |page: Page<Shapes>| {
        let spiders = Spiders {
            title: study.title(&what, &page.common.words()),
            note: note.clone(),
            // Short names leave more room for the webs.
            axes: vec![goodput, Quantity::RTT, Quantity::RETRANSMISSION_RATE],
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

/// How the balanced metric of bins is distributed, by variant.
pub(super) fn ecdfs(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    type Values = BTreeMap<Variant, Vec<f64>>;
    let is_asked_for = |report: &ReportPlan| matches!(report, ReportPlan::Mobility { .. });
    if !reports.iter().any(is_asked_for) {
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
