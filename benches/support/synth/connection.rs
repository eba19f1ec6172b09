//! A connection as both of its ends know it.

use std::collections::VecDeque;

use super::packet::{ACK, Packet, Wrap};
use super::{Counts, DELAYED_ACK_NS};

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flying {
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) id: u16,
    pub(super) tsval: u32,
    /// It was sent before.
    pub(super) again: bool,
    /// An earlier copy of it passed.
    pub(super) seen: bool,
}

/// A segment that got lost and will be repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) seen: bool,
    /// Segments above it that must arrive before the sender believes in the loss.
    pub(super) missing: u8,
}

/// An ACK on its way to the vantage point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) at: u64,
    pub(super) ack: u64,
    pub(super) sack: [(u64, u64); 3],
    pub(super) sacks: u8,
    pub(super) tsval: u32,
    pub(super) tsecr: u32,
}

/// Steps of a connection besides its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Syn,
    SynAck,
    HandshakeAck,
    Request,
    KeepAlive,
    KeepAliveAnswer,
    ServerFin,
    ClientFin,
    LastAck,
}

/// A connection that is alive. Times are in ns from the start, at the vantage point; what the
/// client does is written down when the segment that makes it do so passes.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) number: u64,
    pub(super) wrap: Wrap,
    /// Vantage point to server and back, in ns.
    pub(super) up_ns: u64,
    /// Vantage point to client and back, in ns.
    pub(super) down_ns: u64,
    pub(super) step: Option<(u64, Step)>,
    pub(super) client_isn: u32,
    pub(super) server_isn: u32,
    pub(super) client_id: u16,
    pub(super) server_id: u16,
    pub(super) client_clock: u32,
    pub(super) server_clock: u32,
    pub(super) request_len: u32,
    /// Bytes the server will send; `u64::MAX` never ends.
    pub(super) total: u64,
    /// First byte not yet sent.
    pub(super) next: u64,
    pub(super) next_at: u64,
    /// Segments sent back to back, left in this burst, and time from burst to burst, in ns.
    pub(super) burst: u32,
    pub(super) burst_left: u32,
    pub(super) rest_ns: u64,
    /// Bursts double: slow start.
    pub(super) growing: bool,
    /// Segments that pass before the one that was overtaken.
    pub(super) late: Option<(u32, Flying)>,
    pub(super) late_at: u64,
    /// Offset of the highest segment that passed.
    pub(super) passed: u64,
    /// Like `late`, behind the vantage point.
    pub(super) late_behind: Option<(u32, Flying)>,
    pub(super) lost: Vec<Lost>,
    /// When which segment is sent again.
    pub(super) again: VecDeque<(u64, Lost)>,
    /// Client: next byte expected, ranges above it (the latest first), last ACK.
    pub(super) expected: u64,
    pub(super) above: Vec<(u64, u64)>,
    pub(super) last_ack: u64,
    /// An ACK is held back until then.
    pub(super) held_until: u64,
    /// `TSval` that the client echoes.
    pub(super) recent: u32,
    /// `TSval` that the server echoes, and the one it will next, from when on.
    pub(super) echo: u32,
    pub(super) echo_next: (u64, u32),
    pub(super) answers: VecDeque<Answer>,
    pub(super) keep_alives: u8,
    /// See [`Synth::losses`].
    pub(super) losses: u64,
    pub(super) up: Counts,
    pub(super) down: Counts,
}

pub(super) const NEVER: u64 = u64::MAX;

impl Connection {
    /// When something happens next.
    pub(super) fn due(&self) -> u64 {
        let step = self.step.map_or(NEVER, |(at, _)| at);
        let again = self.again.front().map_or(NEVER, |&(at, _)| at);
        let answer = self.answers.front().map_or(NEVER, |answer| answer.at);
        step.min(again)
            .min(answer)
            .min(self.next_at)
            .min(self.late_at)
            .min(self.held_until)
    }

    /// A packet with everything but its own fields.
    pub(super) fn packet(&self, at: u64, down: bool) -> Packet {
        Packet {
            at,
            number: self.number,
            wrap: self.wrap,
            down,
            id: 0,
            seq: 0,
            ack: 0,
            flags: ACK,
            offset: 0,
            len: 0,
            tsval: 0,
            tsecr: 0,
            sack: [(0, 0); 3],
            sacks: 0,
            timestamps: true,
        }
    }

    /// The clock that stamps what passes at `at`: milliseconds.
    pub(super) fn stamp(clock: u32, at: u64) -> u32 {
        clock.wrapping_add((at / 1_000_000) as u32)
    }

    pub(super) fn server_id(&mut self) -> u16 {
        self.server_id = self.server_id.wrapping_add(1);
        self.server_id
    }

    pub(super) fn client_id(&mut self) -> u16 {
        self.client_id = self.client_id.wrapping_add(1);
        self.client_id
    }

    pub(super) fn server_seq(&self, offset: u64) -> u32 {
        self.server_isn.wrapping_add(1).wrapping_add(offset as u32)
    }

    /// The client receives a segment that passed at `at`.
    pub(super) fn deliver(&mut self, at: u64, flying: &Flying) {
        let (start, end) = (flying.offset, flying.offset + u64::from(flying.len));
        for lost in &mut self.lost {
            if lost.offset < start {
                lost.missing -= 1;
            }
        }
        let round_ns = self.up_ns + self.down_ns;
        while let Some(place) = self.lost.iter().position(|lost| lost.missing == 0) {
            let lost = self.lost.remove(place);
            self.again.push_back((at + round_ns, lost));
        }
        if start <= self.last_ack {
            self.recent = flying.tsval;
        }
        if start > self.expected {
            let mut range = (start, end);
            self.above.retain(|&(other_start, other_end)| {
                let touches = other_start <= range.1 && other_end >= range.0;
                if touches {
                    range = (range.0.min(other_start), range.1.max(other_end));
                }
                !touches
            });
            self.above.insert(0, range);
            self.answer(at);
            return;
        }
        let holes = !self.above.is_empty();
        self.expected = self.expected.max(end);
        if let Some(place) = self
            .above
            .iter()
            .position(|&(start, _)| start <= self.expected)
        {
            self.expected = self.expected.max(self.above.remove(place).1);
        }
        if holes || self.held_until != NEVER {
            self.answer(at);
        } else {
            self.held_until = at + DELAYED_ACK_NS;
        }
    }

    /// The client sends an ACK, caused by what passed at `at`.
    pub(super) fn answer(&mut self, at: u64) {
        self.held_until = NEVER;
        self.last_ack = self.expected;
        let mut sack = [(0, 0); 3];
        let sacks = self.above.len().min(3);
        sack[..sacks].copy_from_slice(&self.above[..sacks]);
        let passes = at + self.down_ns;
        self.answers.push_back(Answer {
            at: passes,
            ack: self.expected,
            sack,
            sacks: sacks as u8,
            tsval: Self::stamp(self.client_clock, at + self.down_ns / 2),
            tsecr: self.recent,
        });
    }
}
