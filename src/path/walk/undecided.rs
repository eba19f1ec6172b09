//! Flows of which no packet was found at both points: which way they go, if any.

use super::Walk;
use crate::path::aside::Flows;
use crate::path::clock::Heading;
use crate::path::hosts::Hosts;
use crate::path::spool::Spool;

impl Walk<'_> {
    /// Whether a flow goes neither way, of which nothing has told.
    pub(super) fn is_aside(&mut self, flow: u32) -> bool {
        let flows = Flows {
            known: &self.known,
            numbers: &self.numbers,
            hosts: &self.hosts,
        };
        self.aside.takes(flow, flows)
    }

    /// Leaves out flows that go neither way, of all that was noted.
    pub(super) fn leave_aside(&mut self, spool: &mut Spool) {
        self.hosts = Hosts::of(&self.known);
        for flow in 0..self.known.keys.len() {
            self.is_aside(flow as u32);
        }
        let packets = spool.leave_out(self.aside.flows());
        self.aside.leave_out(packets);
    }

    /// Decides which way a flow goes before it is taken into account, if nothing told yet: the other way than what
    /// comes back, or that of the other flows of its hosts. If that turns out wrong, it is one that seems to go the
    /// other way, and the next walk knows.
    pub(super) fn decide_heading(&mut self, flow: u32) {
        if self.known.headings[flow as usize].is_none() && !self.aside.flows().contains(&flow) {
            let key = self.known.keys[flow as usize];
            let back = self.numbers.get(&key.reversed()).copied();
            // What was decided tells nothing itself.
            let back = back.filter(|back| !self.decided.contains(back));
            let back = back.and_then(|back| self.known.headings[back as usize]);
            let heading = back
                .map(Heading::opposite)
                .or_else(|| self.hosts.heading(key))
                .unwrap_or(Heading::Forward);
            self.known.headings[flow as usize] = Some(heading);
            self.decided.insert(flow);
        }
    }
}
