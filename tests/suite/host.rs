//! One end of a connection: what it has received, and the answers that the RFCs ask of it.

use super::play::Packet;

/// Ranges of a stream, disjoint, lowest first, each with a number that grows with its last change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(pub(crate) Vec<(i64, i64, u64)>);

impl Ranges {
    pub(crate) fn insert(&mut self, start: i64, end: i64, stamp: u64) {
        let (mut low, mut high) = (start, end);
        self.0.retain(|&(s, e, _)| {
            let apart = e < low || s > high;
            if !apart {
                low = low.min(s);
                high = high.max(e);
            }
            apart
        });
        self.0.push((low, high, stamp));
        self.0.sort_unstable();
    }

    pub(crate) fn covers(&self, start: i64, end: i64) -> bool {
        self.0.iter().any(|&(s, e, _)| s <= start && end <= e)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|&(s, e, _)| (e - s) as u64).sum()
    }
}

/// What an arriving segment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Nothing,
    /// A pure ACK, at once.
    Ack,
    /// A pure ACK, unless more arrives in time.
    Later,
    SynAck,
}

/// State of one end in one incarnation of the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    /// All that it has emitted, and the end of it.
    pub(crate) emitted: Ranges,
    pub(crate) next: i64,
    /// The FIN was emitted: it takes the number after the last byte.
    pub(crate) fin: bool,
    /// What the peer has acknowledged, how often in a row, and the highest byte that SACK told of.
    pub(crate) una: i64,
    pub(crate) dup_acks: u32,
    pub(crate) sacked: i64,
    /// Below this it repairs losses.
    pub(crate) recovery: i64,
    pub(crate) peer_known: bool,
    /// All of the peer's stream below has arrived; the FIN counts as one.
    pub(crate) rcv_next: i64,
    above: Ranges,
    peer_fin: Option<i64>,
    stamp: u64,
    /// RFC 7323 section 4.3.
    pub(crate) ts_recent: u32,
    pub(crate) last_ack_sent: i64,
    pub(crate) window: u32,
    /// Segments that wait for an ACK, and which timer is the valid one.
    pub(crate) waiting: u32,
    pub(crate) timer: u64,
    pub(crate) ece: bool,
    pub(crate) closed: bool,
    /// To be reported first in the next ACK (RFC 2883).
    pub(crate) dsack: Option<(i64, i64)>,
}

impl End {
    pub(crate) fn new(window: u32) -> Self {
        Self {
            window,
            ..Self::default()
        }
    }

    /// Takes an arriving segment. `every`: segments per ACK.
    pub(crate) fn on_arrival(&mut self, packet: &Packet, ce: bool, every: u32) -> Answer {
        if packet.flags.rst {
            self.closed = true;
        }
        if self.closed {
            return Answer::Nothing;
        }
        if packet.flags.syn {
            self.peer_known = true;
            self.ts_recent = packet.ts_value;
            if packet.len > 0 {
                self.on_stream(packet, 1);
            }
            return if packet.flags.ack {
                Answer::Ack
            } else {
                Answer::SynAck
            };
        }
        self.on_ack(packet);
        if packet.flags.cwr {
            self.ece = false;
        }
        self.ece |= ce;
        let newer = packet.ts_value.wrapping_sub(self.ts_recent).cast_signed() >= 0;
        if newer && packet.start <= self.last_ack_sent {
            self.ts_recent = packet.ts_value;
        }
        self.on_stream(packet, every)
    }

    fn on_ack(&mut self, packet: &Packet) {
        let Some(ack) = packet.ack else { return };
        if ack > self.una {
            self.una = ack;
            self.dup_acks = 0;
        } else if ack == self.una && packet.len == 0 {
            self.dup_acks += 1;
        }
        let blocks = &packet.sack[usize::from(packet.dsack)..];
        let highest = blocks.iter().map(|&(_, end)| end).max().unwrap_or(0);
        self.sacked = self.sacked.max(highest);
    }

    fn on_stream(&mut self, packet: &Packet, every: u32) -> Answer {
        let (start, end) = (packet.start, packet.start + i64::from(packet.len));
        if packet.flags.fin {
            self.peer_fin = Some(end);
        }
        if packet.len == 0 && !packet.flags.fin {
            // RFC 9293 section 3.10.7.4: what is not acceptable is answered with an ACK.
            return if start < self.rcv_next {
                Answer::Ack
            } else {
                Answer::Nothing
            };
        }
        if packet.len > 0 && start >= self.rcv_next && self.window == 0 {
            return Answer::Ack;
        }
        self.stamp += 1;
        let in_order = start <= self.rcv_next && self.above.0.is_empty();
        if packet.len > 0 {
            if end <= self.rcv_next {
                self.dsack = Some((start, end));
                return Answer::Ack;
            }
            if self.above.covers(start, end) {
                self.dsack = Some((start, end));
                self.above.insert(start, end, self.stamp);
                return Answer::Ack;
            }
            if start < self.rcv_next {
                self.dsack = Some((start, self.rcv_next));
            }
            self.above.insert(start.max(self.rcv_next), end, self.stamp);
        }
        while let Some(&(low, high, _)) = self.above.0.first()
            && low <= self.rcv_next
        {
            self.rcv_next = self.rcv_next.max(high);
            self.above.0.remove(0);
        }
        let finished = self.peer_fin == Some(self.rcv_next);
        if finished {
            self.rcv_next += 1;
        }
        self.waiting += 1;
        if !in_order || finished || packet.flags.fin || self.waiting >= every {
            Answer::Ack
        } else {
            Answer::Later
        }
    }

    /// SACK blocks of the next ACK, the newest first (RFC 2018 section 4), after a DSACK.
    pub(crate) fn sack_blocks(&mut self, room: usize) -> (Vec<(i64, i64)>, bool) {
        let dsack = self.dsack.take();
        let mut held = self.above.0.clone();
        held.sort_unstable_by_key(|&(_, _, stamp)| std::cmp::Reverse(stamp));
        let blocks = dsack
            .into_iter()
            .chain(held.into_iter().map(|(start, end, _)| (start, end)))
            .take(room)
            .collect();
        (blocks, dsack.is_some())
    }

    /// Whether the sender has a reason to repeat what begins at `start`, last sent `age_ns` ago.
    pub(crate) fn may_repeat(&self, start: i64, age_ns: i64, round_trip_ns: i64) -> bool {
        let told = self.sacked > start
            || self.dup_acks >= 3
            || (self.una == start && start < self.recovery);
        told || age_ns >= 2 * round_trip_ns || age_ns >= 200_000_000
    }
}
