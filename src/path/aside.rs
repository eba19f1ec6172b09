//! Flows that come to a point and do not go on along the path: what is said to a host on the same side of the next
//! point, as to the router itself.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use super::account::Known;
use super::clock::{Heading, Side};
use super::hosts::Hosts;
use super::sighting::FlowKey;

/// Flows that come in at one of the points and are answered there.
///
/// An answer that never came past the other point was given on this side of it, so that what it answers was not on its
/// way to that point, and is no drop (METRICS.md B1). What leaves at a point and came from such a host takes its place
/// on the link like all that [appears](super::spool::Kind::Appeared).
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// The points at which each flow was seen, by its number.
    seen: Vec<[bool; 2]>,
    flows: HashSet<u32, FixedState>,
    /// The same, by the point where they come in.
    keys: [HashSet<FlowKey>; 2],
    packets: u64,
}

/// How much was left out, as it goes to a host on the same side of the next point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftAside {
    /// Flows.
    pub flows: u64,
    /// Their packets.
    pub packets: u64,
}

/// What is known of flows, by now.
#[derive(Clone, Copy)]
pub(super) struct Flows<'a> {
    pub(super) known: &'a Known,
    /// Of each.
    pub(super) numbers: &'a HashMap<FlowKey, u32, FixedState>,
    pub(super) hosts: &'a Hosts,
}

impl Aside {
    /// A flow has packets at a point.
    pub(super) fn see(&mut self, flow: u32, point: Side) {
        let flow = flow as usize;
        if flow >= self.seen.len() {
            self.seen.resize(flow + 1, [false; 2]);
        }
        self.seen[flow][point as usize] = true;
    }

    /// Whether a flow is aside, of which nothing has told which way it goes.
    pub(super) fn takes(&mut self, flow: u32, flows: Flows<'_>) -> bool {
        if self.flows.contains(&flow) {
            return true;
        }
        let Some(point) = self.answered_at(flow, flows) else {
            return false;
        };
        self.flows.insert(flow);
        self.keys[point as usize].insert(flows.known.keys[flow as usize]);
        true
    }

    /// The point at which a flow comes in and is answered, if it is.
    fn answered_at(&self, flow: u32, flows: Flows<'_>) -> Option<Side> {
        let key = flows.known.keys[flow as usize];
        let back = flows.numbers.get(&key.reversed()).copied();
        let back = back.filter(|&back| back != flow)?;
        let headings = &flows.known.headings;
        if headings[flow as usize].is_some() || headings[back as usize].is_some() {
            return None;
        }
        let seen_at = |flow: u32| self.seen.get(flow as usize).copied();
        let point = match (seen_at(flow), seen_at(back)) {
            (Some([true, false]), Some([true, false])) => Side::First,
            (Some([false, true]), Some([false, true])) => Side::Second,
            _ => return None,
        };
        // Who is beyond the other point has been missed there.
        let is_beyond = |host| flows.hosts.is_beyond(host, point.other());
        let heading = flows.hosts.heading(key).unwrap_or(Heading::Forward);
        let comes_in = Side::entry(heading) == point;
        (comes_in && !is_beyond(key.src) && !is_beyond(key.dst)).then_some(point)
    }

    /// Flows that come in at a point and are answered there.
    pub(super) fn flows(&self) -> &HashSet<u32, FixedState> {
        &self.flows
    }

    /// So many packets of theirs are left out.
    pub(super) fn leave_out(&mut self, packets: u64) {
        self.packets += packets;
    }

    /// The same, by the point where they come in.
    pub(super) fn keys(&self) -> &[HashSet<FlowKey>; 2] {
        &self.keys
    }

    pub(super) fn facts(&self) -> LeftAside {
        LeftAside {
            flows: self.flows.len() as u64,
            packets: self.packets,
        }
    }
}
