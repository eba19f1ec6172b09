//! Harm: what flows lose to those they compete with, against solo runs of the same condition.

use std::collections::BTreeSet;

use super::conditions::Conditions;
use super::labels::LabelValue;
use super::metrics::Metric;
use super::plan::StudyPlan;
use super::results::StudyRun;
use crate::metric;

/// What harm is measured by, and where it is written to.
const HARMS: [(Metric, Metric); 3] = [
    (Metric::GoodputBps, Metric::HarmGoodput),
    (Metric::RttNsMean, Metric::HarmRtt),
    (Metric::CompletionNs, Metric::HarmCompletion),
];

/// A flow that had the link for itself.
struct Solo {
    conditions: Conditions,
    labels: Vec<Option<LabelValue>>,
    values: [Option<f64>; HARMS.len()],
}

/// Adds harm to the flows that competed (METRICS.md N4).
pub(super) fn add(plan: &StudyPlan, runs: &mut [StudyRun]) {
    let same = plan.same.clone().unwrap_or_else(|| usual(plan, runs));
    let labels_of = |labels: &[Option<LabelValue>]| -> Vec<Option<LabelValue>> {
        same.iter().map(|&place| labels[place].clone()).collect()
    };
    let solos: Vec<Solo> = runs
        .iter()
        .filter(|run| run.flows.len() == 1)
        .map(|run| Solo {
            conditions: run.conditions.clone(),
            labels: labels_of(&run.flows[0].labels),
            values: HARMS.map(|(metric, _)| run.flows[0].measure.values.get(metric)),
        })
        .collect();
    if solos.is_empty() {
        return;
    }
    for run in runs.iter_mut().filter(|run| run.flows.len() > 1) {
        for flow in &mut run.flows {
            let labels = labels_of(&flow.labels);
            for (index, (of, harm)) in HARMS.into_iter().enumerate() {
                let alone: Vec<f64> = solos
                    .iter()
                    .filter(|solo| solo.conditions == run.conditions && solo.labels == labels)
                    .filter_map(|solo| solo.values[index])
                    .collect();
                let values = &mut flow.measure.values;
                let value = of.better().and_then(|better| {
                    metric::harm(metric::stats::mean(&alone)?, values.get(of)?, better)
                });
                values.set(harm, value);
            }
        }
    }
}

/// The labels that make the groups, but for those that tell solo runs from the others: of which a flow that competed has
/// a value that no solo run has.
fn usual(plan: &StudyPlan, runs: &[StudyRun]) -> Vec<usize> {
    let (solos, others): (Vec<&StudyRun>, Vec<&StudyRun>) =
        runs.iter().partition(|run| run.flows.len() == 1);
    let values = |runs: &[&StudyRun], place: usize| -> BTreeSet<Option<LabelValue>> {
        let flows = runs.iter().flat_map(|run| &run.flows);
        flows.map(|flow| flow.labels[place].clone()).collect()
    };
    let places = plan.group_by.iter().copied();
    places
        .filter(|&place| {
            plan.labels[place].of_flows || values(&others, place).is_subset(&values(&solos, place))
        })
        .collect()
}
