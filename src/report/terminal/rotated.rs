//! Captures that are parts of one, as a recorder that begins a new file now and then leaves them.

use std::collections::HashSet;

use crate::analyze::{Analysis, CaptureAnalysis, Flow, Quality};
use crate::decode::Endpoint;

use super::called;

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
