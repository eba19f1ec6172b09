//! What a walk shows to be otherwise than it was assumed, so that another is needed.

use super::feed::{PointFacts, Sight};
use super::offload::pieces;
use super::others::UdpChecksums;
use super::sighting::Identity;
use super::walk::{Start, Walked};

/// Whether a walk showed anything to be otherwise than it was assumed, so that another is needed.
pub(super) fn improve(walked: &Walked, sight: &mut Sight, start: &mut Start) -> bool {
    let mut changed = false;
    // What was found out on the way is known from the start.
    start
        .headings
        .extend(walked.accounted.headings.iter().copied());
    for &(flow, heading) in &walked.accounted.turned {
        start.headings.insert(flow, heading);
        changed = true;
    }
    if sight.pieces.is_empty() {
        sight.pieces = pieces(&walked.sizes);
        changed |= !sight.pieces.is_empty();
    }
    let udp_checksums = walked.facts.iter().map(|facts| facts.udp.told()).max();
    if udp_checksums > Some(sight.rules.udp_checksums) {
        sight.rules.udp_checksums = UdpChecksums::Unfinished;
        changed = true;
    }
    if let Some(options) = cut_off(walked).filter(|&options| options > sight.rules.options) {
        sight.rules = sight.rules.cut(options);
        changed = true;
    }
    start.clock = walked.accounted.calibration.clock.clone();
    // What headings and offload change tells other clocks.
    start.calibration = walked.otherwise.clone().filter(|_| !changed);
    changed || start.calibration.is_some()
}

/// What a snap length that cut headers may have cut off where packets were not found: there were too few of them to be
/// seen in the first look.
fn cut_off(walked: &Walked) -> Option<Identity> {
    let flows = || walked.accounted.flows.iter().flatten();
    let appeared: u64 = flows().map(|flow| flow.appeared_packets).sum();
    let dropped: u64 = flows().map(|flow| flow.dropped_packets).sum();
    let most = |of: fn(&PointFacts) -> u64| walked.facts.iter().map(of).max().unwrap_or(0);
    let (headers_cut, heads_cut) = (
        most(|facts| facts.headers_cut),
        most(|facts| facts.heads_cut),
    );
    if heads_cut > 0 && appeared > 0 && appeared + dropped >= heads_cut {
        Some(Identity::WithoutAck)
    } else if headers_cut > 0 && appeared > 0 {
        Some(Identity::WithoutSack)
    } else {
        None
    }
}
