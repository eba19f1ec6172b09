//! What a walk shows to be otherwise than it was assumed, so that another is needed.

use std::collections::{HashMap, HashSet};

use super::clock::Side;
use super::early::Early;
use super::feed::{self, Point, PointFacts, Sight};
use super::flows::PathFlow;
use super::look::{SAMPLE_MAX, both};
use super::offload::pieces;
use super::probe;
use super::rules::{Identity, UdpChecksums};
use super::sighting::{FlowKey, Print};
use super::unseen;
use super::walk::{Start, Walked};
use super::{PathConfig, PathError};

/// Whether a walk showed anything to be otherwise than it was assumed, so that another is needed.
pub(super) fn improve(
    points: [&Point; 2],
    walked: &Walked,
    sight: &mut Sight,
    start: &mut Start,
    config: &PathConfig,
) -> Result<bool, PathError> {
    // Where packets are not in order, all that rests on their order is otherwise.
    let mut changed = walked.in_order_ns != start.in_order_ns;
    start.in_order_ns = walked.in_order_ns;
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
    let alone = alone(walked);
    changed |= leave_out(&alone, walked, sight);
    // What is known to be otherwise may be why they were not found.
    changed = changed || see_through(points, &alone, sight, start, config)?;
    // What is known to be otherwise may be why they were not found.
    changed = changed || leave_out_unseen(walked, sight, start);
    if changed {
        // What is told apart otherwise has other keys.
        start.early = None;
    } else if walked.accounted.early_packets > 0 && start.early.is_none() {
        let early_ns = walked.accounted.calibration.early_ns();
        start.early = early_ns.map(|ns| Early {
            ns,
            twins: walked.twins.clone(),
        });
        changed = start.early.is_some();
    }
    start.clock = walked.accounted.calibration.clock.clone();
    // What headings and offload change tells other clocks.
    start.calibration = walked.otherwise.clone().filter(|_| !changed);
    Ok(changed || start.calibration.is_some())
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

/// Looks at the flows alone of which hardly a packet was found at the other point: what became of the others tells
/// nothing of what translates these, as where one of two protocols is translated.
fn see_through(
    points: [&Point; 2],
    alone: &[HashSet<FlowKey>; 2],
    sight: &mut Sight,
    start: &mut Start,
    config: &PathConfig,
) -> Result<bool, PathError> {
    if !sight.flow_rules.is_empty() || alone.iter().any(HashSet::is_empty) {
        return Ok(false);
    }
    let [first, second] = both(points, |point| {
        let of_point = &alone[usize::from(std::ptr::eq(point, points[1]))];
        let wanted = |print: &Print| print.is_told_apart() && of_point.contains(&print.flow);
        feed::prints(point, sight, u64::MAX, SAMPLE_MAX, wanted)
    });
    let prints = [first?, second?];
    let mut packets: HashMap<FlowKey, usize> = HashMap::new();
    for print in prints.iter().flatten() {
        *packets.entry(print.flow).or_default() += 1;
    }
    let probe = probe::compare(prints, config.clock);
    let Some(probe) = probe.filter(|probe| probe.rules != sight.rules) else {
        return Ok(false);
    };
    for (flows, found) in probe.found {
        let at_most = flows.map(|flow| packets.get(&flow).copied().unwrap_or(0));
        if found * 2 < at_most[0].min(at_most[1]) {
            continue;
        }
        let back = flows.map(FlowKey::reversed);
        let rules = flows
            .into_iter()
            .chain(back)
            .map(|flow| (flow, probe.rules));
        sight.flow_rules.extend(rules);
        for flow in flows {
            if let Some(&heading) = probe.headings.get(&flow) {
                start.headings.insert(flow, heading);
            }
        }
    }
    Ok(!sight.flow_rules.is_empty())
}

/// Leaves out what one point alone tells apart: that nothing of it was found is no loss.
fn leave_out(alone: &[HashSet<FlowKey>; 2], walked: &Walked, sight: &mut Sight) -> bool {
    let before = sight.left_out.len();
    for (of_point, untold) in alone.iter().zip(walked.untold.iter().rev()) {
        let flows = of_point.iter();
        let flows = flows.filter(|flow| untold.contains(&flow.of_hosts()));
        sight.left_out.extend(flows.copied());
    }
    sight.left_out.len() > before
}

/// Leaves out what one point alone captured: nobody knows what became of it.
fn leave_out_unseen(walked: &Walked, sight: &mut Sight, start: &mut Start) -> bool {
    let flows: Vec<&PathFlow> = walked.accounted.flows.iter().flatten().collect();
    let unseen = unseen::find(&flows);
    let is_more = !unseen.is_empty();
    for (unseen, keys) in unseen {
        start.unseen[unseen.point] = true;
        sight.unseen.push(unseen);
        sight.left_out.extend(keys);
    }
    is_more
}

/// The flows of which more packets were seen at one point alone than passed, of each point.
fn alone(walked: &Walked) -> [HashSet<FlowKey>; 2] {
    let mut alone = walked.aside.keys().clone();
    let is_alone = |flow: &&PathFlow| {
        let PathFlow {
            dropped_packets,
            appeared_packets,
            ..
        } = **flow;
        dropped_packets + appeared_packets > flow.passed_packets
    };
    for flow in walked.accounted.flows.iter().flatten().filter(is_alone) {
        let came_in_at = Side::entry(flow.heading);
        if flow.dropped_packets > 0 {
            alone[came_in_at as usize].insert(flow.key);
        }
        if flow.appeared_packets > 0 {
            alone[came_in_at.other() as usize].insert(flow.key);
        }
    }
    alone
}
