//! Captures that are parts of one, as a recorder that begins a new file now and then leaves them.

use std::collections::HashSet;

use crate::analyze::{Analysis, CaptureAnalysis, Flow, Quality};
use crate::decode::Endpoint;
use crate::study::{PlannedRun, StudyPlan, StudyResults, StudyRun};

use super::runs::first_of;
use super::{called, counted};

/// No more than so long passes between the last record of a file and the first one of the next, in ns, while a flow
/// goes on.
const PAUSE_MAX_NS: i64 = 1_000_000_000;

/// Captures that were named apart and in which one flow goes on from one to the other.
pub(super) fn parts_of_one(analysis: &Analysis) -> Option<String> {
    let spans = analysis.captures.iter();
    let spans = spans.filter_map(|capture| Some((capture.span?, capture)));
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|(span, _)| (span.first, span.last));
    let mut said = None;
    let mut pairs = 0;
    for [(before, first), (after, second)] in spans.array_windows() {
        let pause_ns = after.first.since(before.last);
        if (0..=PAUSE_MAX_NS).contains(&pause_ns)
            && let Some((sender, receiver)) = goes_on(first, second)
        {
            pairs += 1;
            said.get_or_insert_with(|| {
                format!(
                    "{sender} to {receiver} goes on from {} to {}",
                    called(first),
                    called(second)
                )
            });
        }
    }
    let more = match pairs {
        0 | 1 => "",
        2 => ", and so it is of another pair of captures",
        _ => ", and so it is of others",
    };
    said.map(|said| {
        format!(
            "{said}{more}: if these are parts of one capture, `--concat` takes them as one, without which a flow in two of them is two"
        )
    })
}

/// A flow that had not ended in one capture, and goes on in another one.
fn goes_on(first: &CaptureAnalysis, second: &CaptureAnalysis) -> Option<(Endpoint, Endpoint)> {
    let is = |flow: &Flow<'_>, quality| flow.quality().contains(&quality);
    let begun = first.flows().filter(|flow| is(flow, Quality::Unfinished));
    let begun: HashSet<(Endpoint, Endpoint)> = begun.map(|flow| flow.ends()).collect();
    let goes_on = second.flows().filter(|flow| is(flow, Quality::MidStream));
    goes_on
        .map(|flow| flow.ends())
        .find(|ends| begun.contains(ends))
}

/// What is said of runs that are parts of one capture.
const ONE_FILE: &str = "a run is one file, which `mergecap -w` makes of its parts";

/// Runs whose files go on in others, by their names, which are no runs.
pub(super) fn runs_without_further_parts(plan: &StudyPlan) -> Option<String> {
    let runs: HashSet<_> = plan.runs.iter().map(|run| run.path.as_path()).collect();
    let said = |run: &PlannedRun| {
        let next = run
            .next_part
            .as_deref()
            .filter(|part| !runs.contains(part))?;
        let next = next.file_name()?.to_string_lossy().into_owned();
        Some(format!(
            "{next} stands beside it, as `tcpdump -C` leaves the parts of one capture, and is not counted: {ONE_FILE}"
        ))
    };
    let runs = plan.runs.iter();
    first_of(runs.filter_map(|run| Some((run.name.as_str(), said(run)?))))
}

/// Runs in which flows go on from others: they are parts of one capture, and count as repetitions.
pub(super) fn runs_of_one_capture(results: &StudyResults) -> Option<String> {
    let runs = results.runs.iter();
    let mut spans: Vec<_> = runs.filter_map(|run| Some((run.span_ns?, run))).collect();
    spans.sort_by_key(|(span_ns, _)| *span_ns);
    let pairs = spans
        .array_windows()
        .filter_map(|[(before, one), (after, next)]| {
            let is_near = (0..=PAUSE_MAX_NS).contains(&after.0.saturating_sub(before.1));
            let (sender, receiver) = flow_that_goes_on(one, next).filter(|_| is_near)?;
            Some((one, next, sender, receiver))
        });
    let pairs: Vec<_> = pairs.collect();
    let (one, next, sender, receiver) = pairs.first()?;
    let more = match pairs.len() - 1 {
        0 => String::new(),
        more => format!(", and so it is of {}", counted(more as u64, "other pair")),
    };
    Some(format!(
        "{sender} to {receiver} goes on from {} to {}{more}: these are parts of one capture, each of which counts as a run; {ONE_FILE}",
        one.name, next.name
    ))
}

/// The ends of a flow that had not ended in one run, and goes on in another one.
fn flow_that_goes_on(one: &StudyRun, next: &StudyRun) -> Option<(Endpoint, Endpoint)> {
    let ends = |run: &StudyRun, quality: Quality| -> Vec<(Endpoint, Endpoint)> {
        let flows = run.flows.iter().map(|flow| &flow.measure);
        let ends = flows
            .filter(|flow| flow.has(quality))
            .filter_map(|flow| flow.ends);
        ends.map(|ends| (ends.sender, ends.receiver)).collect()
    };
    let begun = ends(one, Quality::Unfinished);
    let mut later = ends(next, Quality::MidStream).into_iter();
    later.find(|ends| begun.contains(ends))
}
