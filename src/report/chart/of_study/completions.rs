//! How long many short flows took, by size and variant: in runs of a few flows boxes tell it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analyze::Quality;
use crate::study::{Metric, StudyFlow, StudyRun};

use super::super::completion::{FLOWS_MIN, Times, is_whole, larger};
use super::settings::{Page, Setting};
use super::{Study, StudyCharts};

/// A chart a setting of which a run has many flows: of all of its runs, as some may have a few less.
pub(super) fn ecdfs(study: &Study<'_>, charts: &mut StudyCharts) {
    let settings = study.settings(&[]);
    let mut found: BTreeMap<Setting, Times> = BTreeMap::new();
    let mut of_many: BTreeSet<Setting> = BTreeSet::new();
    for run in study.runs() {
        let flows = larger_flows(run);
        let has_many = flows.len() >= FLOWS_MIN;
        for (_, flow) in flows {
            let measure = &flow.measure;
            let value = |metric| measure.values.get(metric);
            let is_whole = is_whole(|quality| measure.has(quality));
            let seconds = value(Metric::CompletionNs).filter(|_| is_whole);
            let seconds = seconds.map(|ns| ns / 1e9);
            let bytes = value(Metric::AckedBytes).map(|bytes| bytes as u64);
            let variant = study.variant_of(flow);
            let setting = settings.setting(&flow.labels);
            if has_many {
                of_many.insert(setting.clone());
            }
            found.entry(setting).or_default().add(bytes, seconds, || {
                let name = study.variant_name(variant.as_ref());
                study.roles.variant.map(|_| Arc::from(name))
            });
        }
    }
    found.retain(|setting, _| of_many.contains(setting));
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

/// Of each connection of TCP the flow of more bytes: those that were acknowledged or, where no ACK tells, those of its
/// packets, which decide between two flows but are the size of none.
fn larger_flows(run: &StudyRun) -> Vec<(u64, &StudyFlow)> {
    let is_tcp = |flow: &&StudyFlow| !flow.measure.has(Quality::Udp);
    let mut flows: Vec<&StudyFlow> = run.flows.iter().filter(is_tcp).collect();
    flows.sort_by_key(|flow| flow.measure.connection_id);
    let sized = flows.into_iter().map(|flow| {
        let value = |metric| flow.measure.values.get(metric);
        let bytes = value(Metric::AckedBytes).or(value(Metric::IpBytes));
        let bytes = bytes.unwrap_or(0.0) as u64;
        (flow.measure.connection_id, bytes, flow)
    });
    larger(sized)
}
