//! Looks ahead where the times of a point jump.

use super::super::clock::ClockChoice;
use super::super::jumps::{self, APART_NS, Coming};
use super::Walk;
use crate::path::clock::Side;

impl Walk<'_> {
    /// The next packet of a point is far in time from the one before it: its time may be wrong, or the clock was set.
    #[cold]
    pub(super) fn come_to_jump(&mut self, side: Side) {
        let trail = self.trail(side);
        trail.jumps += 1;
        if trail.jumps > JUMPS_MAX {
            return;
        }
        self.look_ahead(side);
        let trail = self.trail(side);
        let (last, at) = (trail.last, trail.at);
        if let ([Some(first), Some(second)], [this, one, other, ..]) = (last, &trail.batch[at..])
            && jumps::is_stray([first, second], this.at, [one.at, other.at], APART_NS)
        {
            // Who wants times kept has wrong ones, too.
            if self.config.clock != ClockChoice::Keep {
                self.trail(side).batch[at].at = second;
            }
            return;
        }
        self.look_ahead(side.other());
        let next = self.trails[side.other() as usize].next;
        let next = next.map(|seen| (seen.key, seen.packet.at));
        let set_by = jumps::set_by(
            self.ahead(side).take(AHEAD),
            next.into_iter().chain(self.ahead(side.other())),
            |key| self.matcher.waits_since(side.other(), key),
            self.config.patience_ns.max(APART_NS),
        );
        // Times that make no sense may add up to more than there is.
        let trail = self.trail(side);
        trail.set_by = trail.set_by.saturating_add(set_by.unwrap_or(0));
    }

    /// What is at hand of a point, behind its next packet.
    fn ahead(&self, side: Side) -> impl Iterator<Item = Coming> {
        let trail = &self.trails[side as usize];
        let all = trail.batch[trail.at..].iter();
        all.map(move |sighting| (sighting.key, self.in_order(side, sighting.at)))
    }

    /// Has as many packets of a point at hand as tell whether its clock was set.
    fn look_ahead(&mut self, side: Side) {
        while self.trail(side).batch.len() - self.trail(side).at < 2 * AHEAD
            && let Some(more) = self.receive(side)
        {
            self.trail(side).batch.extend(more);
        }
    }
}

/// Packets of a point that are compared with the other's.
const AHEAD: usize = 1 << 13;

/// Of more jumps nobody asks why: packets are that rare.
const JUMPS_MAX: u32 = 1 << 10;
