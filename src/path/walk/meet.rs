//! What two sightings of one packet tell.

use super::super::clock::{ClockChoice, Heading, Side};
use super::super::matcher::Packet;
use super::super::probe::TOLERANCE_NS;
use super::super::spool::Signs;
use super::Walk;

impl Walk<'_> {
    /// Learns from two sightings of one packet about clocks and headings. Whether it tells of no clock, as it may be
    /// another ([`Signs::QUICK`]).
    pub(super) fn meet(&mut self, side: Side, seen: &Packet, other: &Packet) -> bool {
        let (first, second) = match side {
            Side::First => (seen, other),
            Side::Second => (other, seen),
        };
        let flows = [first.flow as usize, second.flow as usize];
        let headings = &self.known.headings;
        let known = headings[flows[0]].or(headings[flows[1]]);
        let heading = known.unwrap_or_else(|| {
            let back = self.numbers.get(&self.known.keys[flows[0]].reversed());
            match back.and_then(|&back| headings[back as usize]) {
                Some(back) => back.opposite(),
                None if second.at >= first.at => Heading::Forward,
                None => Heading::Reverse,
            }
        });
        for flow in [first.flow, second.flow] {
            if self.known.headings[flow as usize].is_none() {
                self.learn_heading(flow, heading);
            }
        }
        if first.flow != second.flow {
            self.translated.entry(first.flow).or_insert(second.flow);
            let either = flows.map(|flow| self.known.asked_for[flow]).contains(&true);
            for flow in flows {
                self.known.asked_for[flow] = either;
            }
        }
        let first_at = first
            .own_at
            .saturating_sub(self.steps.by_ns(Side::First, first.frame));
        let second_at = second
            .own_at
            .saturating_sub(self.steps.by_ns(Side::Second, second.frame));
        let raw = second_at.saturating_sub(first_at);
        let has_id = !first.has.has(Signs::NO_ID);
        let is_quick = self.lately.is_quick(heading, raw, first.ip_len, has_id);
        if !is_quick {
            self.envelopes.add(heading, second_at, raw, first.ip_len);
        }
        self.matches += 1;
        if self.matches.is_multiple_of(FOLLOW_EVERY) {
            self.follow_clock();
        }
        is_quick
    }

    /// Clocks that drift apart are followed, so that no packet waits longer for it.
    fn follow_clock(&mut self) {
        let apart = match self.config.clock {
            // It is known for all of the captures.
            _ if self.matcher.knows_clocks() => false,
            _ if self.trails.iter().any(|trail| trail.set_by != 0) => false,
            ClockChoice::Keep => false,
            ClockChoice::Fix => true,
            ClockChoice::Auto => !self.envelopes.agree(TOLERANCE_NS),
        };
        if let (true, Some(estimate)) = (apart, self.envelopes.estimate_evenly([0.0; 2])) {
            self.clock = estimate.clock;
        }
    }
}

/// Packets found between two looks at how far the clocks have drifted.
const FOLLOW_EVERY: u64 = 1 << 16;
