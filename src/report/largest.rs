//! The flows that are shown where not all can be.

use std::cmp::Reverse;

use crate::analyze::{CaptureAnalysis, Flow, keep_first};
use crate::path::{Hop, PathFlow};

/// The flows with the most payload, `most` at most, in the order of the results, each with the place of its
/// capture; and how many flows there are.
pub(super) fn largest_flows(
    captures: &[CaptureAnalysis],
    most: usize,
) -> (Vec<(usize, Flow<'_>)>, usize) {
    let captures = captures.iter().enumerate();
    let all = captures.flat_map(|(index, capture)| capture.flows().map(move |flow| (index, flow)));
    let (mut flows, count) = keep_first(all, most, |&(index, flow)| {
        let bytes = flow.payload_bytes();
        (Reverse(bytes), index, flow.connection_id, flow.dir())
    });
    flows.sort_unstable_by_key(|&(index, flow)| (index, flow.connection_id, flow.dir()));
    (flows, count)
}

/// The flows with the most IP bytes, `most` at most, by hop and way, each with the place of its hop; and how many flows
/// there are.
pub(super) fn largest_path_flows(hops: &[Hop], most: usize) -> (Vec<(usize, &PathFlow)>, usize) {
    let hops = hops.iter().enumerate();
    let all = hops.flat_map(|(place, hop)| {
        let flows = hop.flows_in_order().into_iter();
        flows.map(move |flow| (place, flow))
    });
    let (mut flows, count) = keep_first(all, most, |&(place, flow)| {
        (Reverse(flow.ip_bytes), place, flow.first_ns, flow.key)
    });
    flows.sort_by_key(|&(place, flow)| (place, flow.heading, flow.first_ns, flow.key));
    (flows, count)
}
