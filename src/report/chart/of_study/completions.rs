//! How long many short flows took, by size and variant: in runs of a few flows boxes tell it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analyze::Quality;
use crate::study::{Metric, StudyFlow, StudyRun};

use super::super::completion::{FLOWS_MIN, Times};
use super::settings::{Page, Setting};
use super::{Study, StudyCharts};

/// A chart a setting.
pub(super) fn ecdfs(study: &Study<'_>, charts: &mut StudyCharts) {
    let settings = study.settings(&[]);
    let mut found: BTreeMap<Setting, Times> = BTreeMap::new();
    for run in study.runs() {
        let flows = larger_flows(run);
        if flows.len() < FLOWS_MIN {
            continue;
        }
        for flow in flows {
            let values = &flow.measure.values;
            // One of which nothing was acknowledged has no size.
            let Some(bytes) = values.get(Metric::AckedBytes) else {
                continue;
            };
            let measure = &flow.measure;
            let is_whole = !measure.is_unfinished() && !measure.has(Quality::MidStream);
            let seconds = values.get(Metric::CompletionNs).filter(|_| is_whole);
            let seconds = seconds.map(|ns| ns / 1e9);
            let variant = study.variant_of(flow);
            let of_setting = found.entry(settings.setting(&flow.labels)).or_default();
            of_setting.add(bytes as u64, seconds, || {
                let name = study.variant_name(variant.as_ref());
                study.roles.variant.map(|_| Arc::from(name))
            });
        }
    }
    let canvas = |page: Page<Times>| {
        let condition = page.common.words();
        let title = |what: &str| study.title(what, &condition);
        let mut of_setting = page.entries.into_iter();
        let (_, times) = of_setting.next()?;
        times.figure(title, "variant", &study.looks, study.style)
    };
    let pages = settings.pages(found, 1, |_| 1);
    charts.add(
        "Variant beside variant",
        "completion-ecdf",
        pages.into_iter().map(canvas),
    );
}

/// Of each connection the flow of which more was acknowledged, as far as that is known.
fn larger_flows(run: &StudyRun) -> Vec<&StudyFlow> {
    let mut alone = Vec::new();
    let mut larger: BTreeMap<u64, &StudyFlow> = BTreeMap::new();
    let acked = |flow: &StudyFlow| flow.measure.values.get(Metric::AckedBytes).unwrap_or(0.0);
    for flow in &run.flows {
        match flow.measure.connection_id {
            Some(connection) => {
                let of_connection = larger.entry(connection).or_insert(flow);
                if acked(flow) > acked(of_connection) {
                    *of_connection = flow;
                }
            }
            None => alone.push(flow),
        }
    }
    larger.into_values().chain(alone).collect()
}
