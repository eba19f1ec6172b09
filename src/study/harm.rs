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

/// The smaller of two flows over the larger, above which they count as equally large.
const EQUAL_SIZE: f64 = 0.95;

/// A flow that had the link for itself.
struct Solo {
    conditions: Conditions,
    acked_bytes: Option<f64>,
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
            acked_bytes: run.flows[0].measure.values.get(Metric::AckedBytes),
            values: HARMS.map(|(metric, _)| run.flows[0].measure.values.get(metric)),
        })
        .collect();
    if solos.is_empty() {
        return;
    }
    for run in runs.iter_mut().filter(|run| run.flows.len() > 1) {
        for flow in &mut run.flows {
            let labels = labels_of(&flow.labels);
            let bytes = flow.measure.values.get(Metric::AckedBytes);
            for (index, (of, harm)) in HARMS.into_iter().enumerate() {
                let alone: Vec<f64> = solos
                    .iter()
                    .filter(|solo| solo.conditions == run.conditions && solo.labels == labels)
                    // A flow that sends more takes longer, whoever is beside it.
                    .filter(|solo| of != Metric::CompletionNs || are_equal(solo.acked_bytes, bytes))
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

/// Whether two flows are known to be about equally large.
fn are_equal(one: Option<f64>, other: Option<f64>) -> bool {
    one.zip(other)
        .is_some_and(|(one, other)| one.min(other) >= EQUAL_SIZE * one.max(other))
}

/// The labels that make the groups, but for those that tell solo runs from the others: of which a flow that competed
/// has a value that no solo run has.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::Watch;

    #[test]
    fn completion_is_compared_with_flows_that_are_as_large() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        // Two solo runs, and two pairs: of flows as large as the first of them, and of others.
        write(
            "flows.csv",
            "rep,cca,acked_bytes,completion_ns\n1,a,100,2\n2,a,500,50\n3,a,98,8\n3,a,300,9\n",
        );
        write(
            "study.toml",
            "[study]\ngroup_by = [\"cca\"]\n[[measured]]\nfiles = \"flows.csv\"\nrows = \"flows\"\nrun = [\"rep\"]\ncolumns = { rep = \"rep\", cca = \"cca\" }\n[measured.metrics]\nacked_bytes = \"acked_bytes\"\ncompletion_ns = \"completion_ns\"\n",
        );
        let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
        let results = plan.carry_out(None, &Watch::default());
        let pair = results.runs.iter().find(|run| run.flows.len() == 2);
        let flows = pair.unwrap().flows.iter();
        let harms = flows.map(|flow| flow.measure.values.get(Metric::HarmCompletion));
        assert_eq!(harms.collect::<Vec<_>>(), [Some(0.75), None]);
    }

    #[test]
    fn flows_are_equally_large_within_a_twentieth() {
        for (one, other, equal) in [
            (Some(100.0), Some(100.0), true),
            (Some(95.0), Some(100.0), true),
            (Some(100.0), Some(94.0), false),
            (Some(9.8e6), Some(26.5e6), false),
            (None, Some(100.0), false),
            (None, None, false),
        ] {
            assert_eq!(are_equal(one, other), equal, "{one:?} {other:?}");
            assert_eq!(are_equal(other, one), equal, "{other:?} {one:?}");
        }
    }
}
