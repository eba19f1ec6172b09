//! Connections put away as the clock goes on, or when there are too many.

use super::young::SIDE_BY_SIDE;
use super::{ConnectionTable, Observer};
use crate::flow::clock::is_silence;
use crate::flow::room::rank_at;
use crate::time::CaptureTime;

impl<O: Observer> ConnectionTable<O> {
    #[inline]
    pub(super) fn keep_house(&mut self, at: CaptureTime) {
        if self.clock.turns(at) && self.clock.turn(at) {
            self.sweep();
        }
    }

    /// Puts away what is over, and what has been silent for too long, to have its memory back.
    ///
    /// Later than [`is_past`](Self::is_past) would: one absurd time, or records out of order, must
    /// not end a connection that goes on.
    #[cold]
    fn sweep(&mut self) {
        let limits = self.limits;
        let soon_ns = limits.linger_ns.min(limits.idle_ns);
        let now = self.clock.surely();
        let is_silent = |&index: &usize| {
            let head = &self.heads[index];
            // Whether a connection is over takes its state, which nothing but silence is no reason to make.
            let goes_on = self.tracked[index].is_none() && !head.young.ends;
            let least_ns = if goes_on { limits.idle_ns } else { soon_ns };
            is_silence(now.since(head.last_at), least_ns)
        };
        // The last first: what takes the place of one that is taken out has been looked at.
        let silent: Vec<usize> = (0..self.tracked.len()).rev().filter(is_silent).collect();
        let mut ended = Vec::new();
        for indices in silent.chunks(SIDE_BY_SIDE) {
            self.grow_up(indices);
            for &index in indices {
                let silent_ns = now.since(self.heads[index].last_at);
                if limits.ended(self.state(index), silent_ns) {
                    let next = self.take_out(index, false);
                    self.end(&mut ended, next);
                }
            }
        }
        self.hand_back(&mut ended);
        // A SYN that was refused is over (RFC 9293 section 3.10.7.3).
        let half_open = &mut self.half_open;
        let refused = half_open.take_refused(now, soon_ns, soon_ns);
        let idle = half_open.take_silent(now, limits.idle_ns, limits.idle_ns / 8);
        for before in refused.iter().chain(&idle) {
            self.put_away_begun(before, false);
        }
    }

    /// Puts away a quarter of the connections: first those without payload, then those that have
    /// been silent longest.
    pub(super) fn make_room(&mut self) {
        self.make_room_among(|_, _| true);
    }

    /// The same of those that are `wanted`.
    pub(super) fn make_room_among(&mut self, wanted: impl Fn(&Self, usize) -> bool) {
        let rank = |table: &Self, index: usize| {
            let head = &table.heads[index];
            let has_payload = table.tracked[index].as_ref().map_or_else(
                || head.young.payload_bytes() > 0,
                |flow| flow.connection.has_payload(),
            );
            (has_payload, head.last_at)
        };
        let alive = (0..self.tracked.len()).filter(|&index| wanted(self, index));
        let ranks: Vec<(bool, CaptureTime)> = alive.map(|index| rank(self, index)).collect();
        let quarter = ranks.len() / 4;
        let Some(limit) = rank_at(ranks, quarter) else {
            return;
        };
        let mut ended = Vec::new();
        for index in (0..self.tracked.len()).rev() {
            if rank(self, index) <= limit && wanted(self, index) {
                let next = self.take_out(index, true);
                self.end(&mut ended, next);
            }
        }
        self.hand_back(&mut ended);
    }
}
