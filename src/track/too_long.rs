//! Packets above all that was seen that are sent again in pieces, as they were longer than the path takes.
//!
//! A router that drops them tells their sender how long they may be (RFC 1191 section 4), or the sender finds out by
//! itself (RFC 4821). It sends all of them again at once: no timer, which opens the window for one packet, and perhaps
//! sooner than a round trip after them, as the router is nearer than the receiver.

use super::half::HalfFlow;
use super::in_flight::{Marks, Sent};
use crate::decode::{Segment, TcpFlags};
use crate::event::{Direction, Evidence, FlowSink, Verdict};

/// Ranges looked at before a packet.
const LATELY_MAX: usize = 8;

/// A packet just above the highest byte seen, shorter than packets were before, which ids were skipped before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    len: u32,
    /// Payload of a full packet before it.
    full: u32,
    /// A longer one has passed: some senders fill no packet.
    is_shorter: bool,
    end: i64,
    /// Up to where what was skipped reaches, if those packets were full.
    sent_to: i64,
    /// Of what was skipped so much was taken for others' packets.
    elsewhere: u16,
}

impl HalfFlow {
    /// Takes note of a segment that begins at `start`, where it may be a piece of a packet: senders push the end of what
    /// they were given, and leave nothing out before that. `elsewhere`: of the ids skipped before it so many were taken for
    /// others'.
    pub(super) fn note_piece(&mut self, segment: &Segment, start: i64, elsewhere: Option<u16>) {
        let skipped = self.emissions.unseen_new();
        if skipped == 0 {
            return;
        }
        let lost = i64::try_from(skipped).unwrap_or(i64::MAX);
        let len = segment.payload_len;
        let full = self.full_lately(len, segment.timestamps.is_some());
        // SACK blocks take room, too.
        let ends = segment.flags.has(TcpFlags::PSH) || !segment.sack.as_slice().is_empty();
        let is_short = len < full && !ends;
        if is_short && start == self.high {
            self.emissions.note_piece(Piece {
                len,
                full,
                is_shorter: len < self.packet_size.largest_payload,
                end: start + i64::from(len),
                sent_to: start.saturating_add(lost.saturating_mul(full.into())),
                elsewhere: elsewhere.unwrap_or(0),
            });
        }
    }

    /// The highest range and so many below it.
    pub(super) fn lately(&self, most: usize) -> impl Iterator<Item = &Sent> {
        let from = self.in_flight.overlapping(self.high - 1, self.high).start;
        (from.saturating_sub(most)..=from).filter_map(|index| self.in_flight.get(index))
    }

    /// Payload of a full packet, `stamped` with timestamps or not, before one of `len` bytes: that of the last ones if
    /// these were longer, as the path may have taken more before them.
    fn full_lately(&self, len: u32, stamped: bool) -> u32 {
        let full = self.packet_size.full_stamped(stamped);
        let lately = self.lately(LATELY_MAX).map(|sent| sent.len.min(full));
        lately.max().filter(|&lately| lately > len).unwrap_or(full)
    }

    /// Whether `segment`, which begins at `start`, not below the highest byte seen, is the next piece behind one: as long,
    /// where packets were longer before, or the rest of a packet. Then all that was skipped is known to be repeated,
    /// however many pieces that takes.
    pub(super) fn goes_on_in_pieces<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        start: i64,
        sink: &mut S,
    ) -> bool {
        let Some(piece) = self.emissions.take_piece() else {
            return false;
        };
        let len = segment.payload_len;
        let is_as_long = piece.is_shorter && len == piece.len;
        let goes_on = piece.end == start && (is_as_long || len + piece.len == piece.full);
        if !goes_on || !self.are_ids_unshared() {
            return false;
        }
        self.emissions.amend_lost(piece.elsewhere.into());
        if piece.sent_to > self.high {
            self.emissions.note_sent(piece.sent_to, segment.at, true);
        }
        let (start, end) = (piece.end - i64::from(piece.len), piece.end);
        let now = self.lost_tail(start, end, segment, Evidence::IpId);
        if self.judge_repeat(dir, (start, end), now, sink) {
            self.mark(start, end, Marks::RESENT);
            self.repair.is_of_tail = true;
        }
        true
    }

    /// The packet `start..end` repeats bytes, `now`, if it is known and was taken for new: whether it was.
    pub(super) fn judge_repeat<S: FlowSink>(
        &mut self,
        dir: Direction,
        (start, end): (i64, i64),
        now: Verdict,
        sink: &mut S,
    ) -> bool {
        let index = self.in_flight.overlapping(start, end).start;
        let Some(sent) = self.in_flight.get_mut(index).filter(|sent| {
            sent.start == start && sent.end() == end && sent.verdict == Verdict::NEW
        }) else {
            return false;
        };
        if now.lost.is_some() {
            sent.marks.set(Marks::LOST_UPSTREAM);
            self.tell_lost_upstream(dir, 1, sink);
        }
        self.judge_again(dir, index, now, sink);
        true
    }
}
