//! How much memory a table's connections take, and connections put away to have some of it back.

use super::{ConnectionTable, Head, Observer, TableFacts, Tracked, YoungPayload};
use crate::decode::Segment;
use crate::flow::clock::is_silence;
use crate::flow::index::Index;

impl<O: Observer> ConnectionTable<O> {
    /// Memory that the connections alive take, in bytes, or that what is kept of them will take where that is more.
    ///
    /// Counted where a connection has just been given segments and its state is at hand: a walk
    /// through a million of them would wait for memory as often as tracking does.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let place = size_of::<Head>() + size_of::<usize>() + Index::ENTRY_BYTES;
        let (kept, details) = Self::single_bytes();
        let half_open = &self.half_open;
        let singles = half_open.with_payload() * kept + half_open.with_details() * details;
        self.tracked.capacity() * place + half_open.memory_bytes() + singles + self.held_bytes
    }

    /// Counts again what the connection at `index` holds.
    #[inline]
    pub(super) fn count_memory(&mut self, index: usize) {
        let (head, flow) = (&mut self.heads[index], &self.tracked[index]);
        let packets = head.young.memory_bytes();
        let state = if let Some(flow) = flow {
            let held = flow.connection.memory_bytes() + O::memory_bytes(&flow.sink);
            size_of::<Tracked<O::Sink>>() + held
        } else {
            let (kept, details) = head.expected_bytes::<O>();
            packets.max(kept) + details
        };
        let held = state + head.syns.capacity() * size_of::<Segment>();
        self.held_bytes = self.held_bytes + held - head.held_bytes;
        head.held_bytes = held;
    }

    /// Lets `change` make the sinks of the connections alive smaller, and counts what they hold then.
    pub fn give_up(&mut self, mut change: impl FnMut(&mut O::Sink)) {
        for index in 0..self.tracked.len() {
            if let Some(flow) = &mut self.tracked[index] {
                change(&mut flow.sink);
                self.count_memory(index);
            }
        }
    }

    /// What it has held so far.
    #[must_use]
    pub fn facts(&self) -> TableFacts {
        self.facts
    }

    /// Payload of the connections of one packet so far that has some.
    pub fn single_payloads(&self) -> impl Iterator<Item = YoungPayload> {
        self.half_open.payloads()
    }

    /// Memory that what is kept of a connection of one packet with payload will take, in bytes: without what can be
    /// given up, and that.
    pub(super) fn single_bytes() -> (usize, usize) {
        O::expected_bytes(1, 1)
    }

    /// Puts away half of the connections of one packet so far, or of a SYN and its answer, without
    /// payload: those that have been silent longest.
    pub fn put_away_half_open(&mut self) {
        for before in self.half_open.take_silent_half() {
            self.put_away_begun(&before, true);
        }
        self.half_open.shrink();
    }

    /// Puts away the connections that have been silent for so long, in ns of capture time.
    pub fn put_away_silent(&mut self, silent_ns: i64) {
        let mut ended = Vec::new();
        for index in (0..self.tracked.len()).rev() {
            if is_silence(self.clock.now.since(self.heads[index].last_at), silent_ns) {
                let next = self.take_out(index, true);
                self.end(&mut ended, next);
            }
        }
        self.hand_back(&mut ended);
        for before in self.half_open.take_silent(self.clock.now, silent_ns, 0) {
            self.put_away_begun(&before, true);
        }
        self.shrink();
    }

    /// Memory that closing all live connections would free, in bytes: what they hold beyond what their
    /// records will take.
    #[must_use]
    pub fn excess_bytes(&self) -> usize {
        let alive = 0..self.tracked.len();
        alive.map(|index| self.excess_of(index)).sum::<usize>() + self.half_open.excess_bytes()
    }

    fn excess_of(&self, index: usize) -> usize {
        let head = &self.heads[index];
        let (held, kept) = match &self.tracked[index] {
            None => (head.young.memory_bytes(), head.expected_bytes::<O>().0),
            Some(flow) => {
                let held = size_of::<Tracked<O::Sink>>() + flow.connection.memory_bytes();
                let kept = if flow.connection.has_payload() {
                    O::expected_bytes(0, 0).0
                } else {
                    0
                };
                (held, kept)
            }
        };
        held.saturating_sub(kept) + head.syns.capacity() * size_of::<Segment>()
    }

    /// Puts away a quarter of the connections that hold more than what is kept of them: first those without
    /// payload, then those that have been silent longest. Of the others nothing would be free, and when
    /// they go on they would be kept once more.
    pub fn put_away_excess(&mut self) {
        self.make_room_among(|table, index| table.excess_of(index) > 0);
        self.put_away_half_open();
        self.shrink();
    }

    /// Gives back most of the memory that is not in use.
    fn shrink(&mut self) {
        let room = self.tracked.len() / 4 * 5;
        self.tracked.shrink_to(room);
        self.heads.shrink_to(room);
        if self.young.is_sparse() {
            self.shrink_young();
        }
        self.half_open.shrink();
    }

    /// Gives back the room of packets whose connections are young no longer.
    pub(super) fn shrink_young(&mut self) {
        let all = self.heads.iter_mut().map(|head| &mut head.young);
        self.young.shrink(all);
    }
}
