//! Whether two captures are of one path and one time, by what became of all packets.

use super::clock::Heading;
use super::flows::PathFlow;
use super::others::{ICMP, ICMPV6};
use super::{Hop, PathError};

/// Two captures that have hardly a packet in common: a few may look alike by chance, above all pings, of which all may
/// be the same but for what is translated on the way.
///
/// Where the path loses nearly all, or one capture has more than the other, packets of a way come in and never leave, or
/// leave without having come in. Both on one way, and many times what passed, is nothing that a path does. That pings
/// passed tells nothing of all others.
pub(super) fn refuse(hop: &Hop) -> Option<PathError> {
    // Otherwise it is told why packets were not found.
    if hop.merged_datagrams > 0 || hop.given_up > 0 {
        return None;
    }
    let flows = || hop.flows.iter().flatten();
    let telling = || flows().filter(|flow| !matches!(flow.key.protocol, ICMP | ICMPV6));
    let of_way = |heading: Heading, of: fn(&PathFlow) -> u64| -> u64 {
        telling()
            .filter(|flow| flow.heading == heading)
            .map(of)
            .sum()
    };
    let alone = [Heading::Forward, Heading::Reverse].map(|heading| {
        let dropped = of_way(heading, |flow| flow.dropped_packets);
        dropped.min(of_way(heading, |flow| flow.appeared_packets))
    });
    let alone: u64 = alone.iter().sum();
    let told: u64 = telling().map(|flow| flow.passed_packets).sum();
    let found = flows().map(|flow| flow.passed_packets).sum();
    let dropped = flows().map(|flow| flow.dropped_packets).sum();
    let appeared = flows().map(|flow| flow.appeared_packets).sum();
    let are_strangers = alone >= ALONE_MIN && alone > found && alone > told * ALONE_TO_FOUND;
    let [first, second] = hop.points.clone();
    are_strangers.then_some(PathError::HardlyAnythingInCommon {
        first,
        second,
        found,
        dropped,
        appeared,
    })
}

/// So many packets that are in either capture alone are no chance.
const ALONE_MIN: u64 = 100;
/// So many times what passed are nearly all.
const ALONE_TO_FOUND: u64 = 20;
