//! On which side of the path hosts are: what tells of a flow of which no packet was found at both points.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::account::Known;
use super::clock::{Heading, Side};
use super::sighting::FlowKey;
use crate::decode::Endpoint;

/// Hosts, and which way they were seen to send.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// By heading of what a host sends; both, where it forwards, or lies between the points.
    sends: HashMap<Endpoint, [bool; 2], FixedState>,
}

impl Hosts {
    /// As far as the headings of these flows tell.
    pub(super) fn of(known: &Known) -> Self {
        let mut hosts = Self::default();
        for (&key, heading) in known.keys.iter().zip(&known.headings) {
            if let Some(heading) = *heading {
                hosts.note(key, heading);
            }
        }
        hosts
    }

    /// A flow goes this way.
    pub(super) fn note(&mut self, key: FlowKey, heading: Heading) {
        for (host, sends) in [(key.src, heading), (key.dst, heading.opposite())] {
            let seen = self.sends.entry(host.with_port(0)).or_default();
            seen[sends as usize] = true;
        }
    }

    /// Whether a host is known to be beyond a point, as seen from the other one: all that it sends comes from there.
    pub(super) fn is_beyond(&self, host: Endpoint, point: Side) -> bool {
        let from_there = Side::BOTH.map(|side| side == point);
        self.sends.get(&host.with_port(0)) == Some(&from_there)
    }

    /// Which way a flow goes by its sender, or else by its receiver; `None` where neither tells.
    pub(super) fn heading(&self, key: FlowKey) -> Option<Heading> {
        let sends = |host: Endpoint| match self.sends.get(&host.with_port(0)) {
            Some([true, false]) => Some(Heading::Forward),
            Some([false, true]) => Some(Heading::Reverse),
            _ => None,
        };
        sends(key.src).or_else(|| sends(key.dst).map(Heading::opposite))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_tells_which_way_its_other_flows_go_unless_it_sends_both_ways() {
        let flow = |src: u8, dst: u8, port: u16| FlowKey {
            src: Endpoint::v4([10, 0, 0, src], port),
            dst: Endpoint::v4([10, 0, 0, dst], 80),
            protocol: 6,
        };
        let mut hosts = Hosts::default();
        hosts.note(flow(1, 2, 1000), Heading::Forward);
        assert_eq!(hosts.heading(flow(1, 3, 1001)), Some(Heading::Forward));
        assert_eq!(hosts.heading(flow(2, 3, 1001)), Some(Heading::Reverse));
        assert_eq!(hosts.heading(flow(3, 1, 1001)), Some(Heading::Reverse));
        assert_eq!(hosts.heading(flow(3, 4, 1001)), None);
        // A router between the points: the other end tells, if it does.
        hosts.note(flow(5, 1, 1002), Heading::Reverse);
        hosts.note(flow(5, 2, 1003), Heading::Forward);
        assert_eq!(hosts.heading(flow(5, 3, 1001)), None);
        assert_eq!(hosts.heading(flow(5, 2, 1001)), Some(Heading::Forward));
    }
}
