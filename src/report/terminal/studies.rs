//! What of a study is not as its manifest means it, in words.

use crate::study::{FlowRule, Metric, PathCapacity, StudyFlow, StudyPlan, StudyResults, StudyRun};

use super::counted;
use super::warnings::overfull;

/// Runs through which more came than their capacity lets through; one is said of all, as it is one
/// line of the manifest that is wrong.
#[must_use]
pub fn too_much_for_capacity(results: &StudyResults) -> Option<String> {
    let found = results.runs.iter();
    let found = found.filter_map(|run| Some((run, overfull(rates(run)?)?)));
    let found: Vec<_> = found.collect();
    let (run, said) = found.first()?;
    Some(match found.len() - 1 {
        0 => format!("{}: {said}", run.name),
        more => format!(
            "{}: {said}; so it is of {}",
            run.name,
            counted(more as u64, "other run")
        ),
    })
}

/// Goodput, and what the capacity let through in its time.
fn rates(run: &StudyRun) -> Option<(f64, f64)> {
    let goodput_bps = run.values.get(Metric::GoodputBps)?;
    let capacity_bps = match run.conditions.capacity.as_ref()? {
        PathCapacity::Constant(bps) => *bps,
        PathCapacity::Trace(_) => goodput_bps / run.values.get(Metric::Utilisation)?,
    };
    // An ACK in a window may be of what came before it.
    let passed_bps = match run.window_ns {
        Some(_) => goodput_bps.min(run.values.get(Metric::ThroughputBps)?),
        None => goodput_bps,
    };
    Some((passed_bps, capacity_bps))
}

/// Flows that rules were to give a label and that have none: how many, of which the first is which.
#[must_use]
pub fn unlabelled(plan: &StudyPlan, results: &StudyResults, place: usize) -> Option<String> {
    let mut lacking: Vec<(&str, &FlowRule, &StudyFlow)> = Vec::new();
    let (mut runs, mut any) = (0, false);
    for (planned, run) in plan.runs.iter().zip(&results.runs) {
        let before = lacking.len();
        any |= run.flows.iter().any(|flow| flow.labels[place].is_some());
        if let Some(rule) = planned.flow_rules.iter().find(|rule| rule.label == place) {
            let flows = run.flows.iter();
            let flows = flows.filter(|flow| flow.labels[place].is_none());
            lacking.extend(flows.map(|flow| (run.name.as_str(), rule, flow)));
        }
        runs += u64::from(lacking.len() > before);
    }
    let &(run, rule, flow) = lacking.first()?;
    let name = &plan.labels[place].name;
    let of_runs = counted(runs, "run");
    let flows = counted(lacking.len() as u64, "flow");
    let which = if any {
        format!("{flows} of {of_runs} got none, and stand in groups of their own")
    } else {
        "no flow has got one".to_owned()
    };
    let looked_at = rule.looked_at(flow.measure.ends.as_ref(), flow.start);
    let (example, remedy) = match looked_at {
        Some((words, key)) => (format!("{words} of {run}"), format!("name {key} there, or")),
        None => (format!("number {} of {run}", flow.start), String::new()),
    };
    Some(format!(
        "label '{name}': {which}: no `values` of its [[runs.flows]] fits; the first is {example}: {remedy} give all that are left a value by `other`"
    ))
}
