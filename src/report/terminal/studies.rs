//! What of a study is not as its manifest means it, in words.

use crate::study::{FlowRule, StudyFlow, StudyPlan, StudyResults};

use super::counted;

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
