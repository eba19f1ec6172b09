//! The flows that are shown where not all can be.

use std::cmp::Reverse;

use crate::analyze::{Analysis, Flow};
use crate::path::{Hop, PathFlow};

/// The flows with the most payload, `most` at most, in the order of the results, each with the place of its
/// capture; and how many flows there are.
pub(super) fn largest_flows(analysis: &Analysis, most: usize) -> (Vec<(usize, Flow<'_>)>, usize) {
    /// So many are worth a selection.
    const MANY: usize = 1024;
    let rank = |&(bytes, index, flow): &(u64, usize, Flow<'_>)| {
        (Reverse(bytes), index, flow.connection_id, flow.dir())
    };
    let captures = analysis.captures.iter().enumerate();
    let all = captures.flat_map(|(index, capture)| capture.flows().map(move |flow| (index, flow)));
    let (mut flows, mut count) = (Vec::new(), 0);
    for (index, flow) in all {
        count += 1;
        flows.push((flow.payload_bytes(), index, flow));
        if flows.len() > most.saturating_add(MANY) {
            flows.select_nth_unstable_by_key(most, rank);
            flows.truncate(most);
        }
    }
    flows.sort_unstable_by_key(rank);
    flows.truncate(most);
    flows.sort_unstable_by_key(|&(_, index, flow)| (index, flow.connection_id, flow.dir()));
    let flows = flows.into_iter().map(|(_, index, flow)| (index, flow));
    (flows.collect(), count)
}

/// The flows with the most IP bytes, `most` at most, by hop and way, each with the place of its hop; and how many flows
/// there are.
pub(super) fn largest_path_flows(hops: &[Hop], most: usize) -> (Vec<(usize, &PathFlow)>, usize) {
    let mut flows = Vec::new();
    for (place, hop) in hops.iter().enumerate() {
        let all = hop.flows_in_order().into_iter();
        flows.extend(all.map(|flow| (place, flow)));
    }
    let count = flows.len();
    flows.sort_by_key(|&(place, flow)| (Reverse(flow.ip_bytes), place, flow.first_ns, flow.key));
    flows.truncate(most);
    flows.sort_by_key(|&(place, flow)| (place, flow.heading, flow.first_ns, flow.key));
    (flows, count)
}
