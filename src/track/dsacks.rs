//! What a DSACK tells: bytes that came to the receiver twice (RFC 2883).

use super::half::{HalfFlow, REACH_MAX};
use super::in_flight::{Marks, PARTS_MAX};
use super::ranges::StreamRange;
use crate::decode::{SackBlock, Segment};
use crate::event::{Class, Direction, Evidence, FlowSink, Reason};
use crate::seq::{Seq, Unwrapper};

impl HalfFlow {
    /// A DSACK tells that `twice` came to the receiver twice.
    pub(super) fn on_arrived_twice<S: FlowSink>(
        &mut self,
        dir: Direction,
        twice: StreamRange,
        sink: &mut S,
    ) {
        let are_copied = self.old_copies.are_copied_behind(self.packets);
        // It tells of one packet (RFC 2883 section 4), however much it claims.
        let parts = self.in_flight.overlapping(twice.start, twice.end);
        for index in parts.take(PARTS_MAX) {
            let copied = self.in_flight.get_mut(index).is_some_and(|sent| {
                // What gives its sample yet, as the same ACK covers it, is to give no exact one (METRICS.md R3); a repeat
                // would pass behind that ACK.
                let is_sample_due = sent.copies == 1 && !sent.marks.has(Marks::SAMPLED);
                if is_sample_due {
                    sent.marks.has(Marks::COPIED)
                } else {
                    sent.marks.take(Marks::COPIED)
                }
            });
            // The network's copy arrived twice, not the sender's.
            if !copied && !are_copied && !self.is_another_copy(dir, index, twice, sink) {
                self.amend(dir, index, Evidence::Dsack, sink);
            }
        }
    }

    /// Whether what came `twice` is the range at `index`, and DSACKs tell of more copies of it than were taken for
    /// unneeded by now, which the latest one was: each tells of one (RFC 2883 section 4).
    fn is_another_copy<S: FlowSink>(
        &mut self,
        dir: Direction,
        index: usize,
        twice: StreamRange,
        sink: &mut S,
    ) -> bool {
        let Some(&sent) = self
            .in_flight
            .get(index)
            .filter(|sent| (sent.start, sent.end()) == (twice.start, twice.end) && sent.copies > 1)
        else {
            return false;
        };
        let (dsacks, needed) = self.in_flight.earlier.count_dsack(twice.start);
        let unneeded = usize::from(sent.copies - 1).saturating_sub(needed);
        sent.verdict.reason == Some(Reason::Unneeded)
            && usize::from(dsacks) > unneeded
            && self.amend_earlier(dir, index, Evidence::Dsack, sink)
    }

    /// Whether `twice`, which came to the receiver twice, is a packet that passed here once and repeated nothing: the
    /// path behind copied it (RFC 2883 section 5.1).
    pub(super) fn is_copied_behind(&self, twice: StreamRange) -> bool {
        let index = self.in_flight.overlapping(twice.start, twice.end).start;
        self.in_flight.get(index).is_some_and(|sent| {
            (sent.start, sent.end()) == (twice.start, twice.end)
                && sent.copies == 1
                && sent.verdict.class == Class::New
                && !sent.marks.has(Marks::COPIED)
        })
    }

    /// An ACK passes again that has passed here: where that is so of all packets, a copy of data is the capture's, and
    /// no DSACK tells of it.
    #[cold]
    pub(super) fn on_ack_again<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        sink: &mut S,
    ) {
        let (Some(unwrapper), Some(una)) = (self.unwrapper(), self.una) else {
            return;
        };
        let ack = unwrapper.offset(segment.ack, una);
        let bounds = self.sack_bounds(ack);
        let range = |block| stream_range(unwrapper, block, ack, bounds);
        let blocks = segment.sack.as_slice();
        if let Some(twice) = find_dsack(blocks, ack, range)
            .filter(|&twice| !(self.was_reported(twice, ack) || are_left_over(blocks, ack, range)))
        {
            self.on_arrived_twice(dir, twice, sink);
        }
    }

    /// Whether `twice`, below an ACK, is of more than the one packet that a DSACK tells of (RFC 2883 section 4), all of
    /// it reported before: what had waited above a hole is reported once more with the ACK that closes the hole. So
    /// does a receiver that has closed its side and acknowledges a FIN before it forgets what it had to report: with
    /// the FIN's number in it that may be one packet, as nobody repeats a FIN that was reported.
    #[cold]
    pub(super) fn was_reported(&self, twice: StreamRange, ack: i64) -> bool {
        // A FIN takes a number, too.
        let packet = i64::from(self.packet_size.full()) + 1;
        let mut parts = self.in_flight.overlapping(twice.start, twice.end);
        let is_reported = |index| {
            let sent = self.in_flight.get(index);
            sent.is_some_and(|sent| sent.marks.has(Marks::SACKED))
        };
        let has_fin = self
            .fin
            .is_some_and(|fin| (fin + 1, fin + 1) == (ack, twice.end));
        (has_fin || twice.end - twice.start > packet) && !parts.is_empty() && parts.all(is_reported)
    }

    /// Where SACK blocks of an ACK of `ack` may lie: not below the SYN, where that was seen, as where something on the
    /// way changes numbers and not the blocks.
    #[inline]
    pub(super) fn sack_bounds(&self, ack: i64) -> StreamRange {
        StreamRange {
            start: if self.has_syn { -1 } else { i64::MIN },
            end: self.high.max(ack) + REACH_MAX,
        }
    }
}

/// Where in the stream a SACK block of an ACK of `ack` lies, within `bounds`.
#[inline]
pub(super) fn stream_range(
    unwrapper: Unwrapper,
    block: SackBlock,
    ack: i64,
    bounds: StreamRange,
) -> Option<StreamRange> {
    let start = unwrapper.offset(block.start, ack);
    let end = unwrapper.offset(block.end, ack);
    let sane =
        start < end && end - start <= REACH_MAX && bounds.start <= start && end <= bounds.end;
    sane.then_some(StreamRange { start, end })
}

/// Whether more blocks than the first lie below the ACK: what had waited above a hole is reported once more with the
/// ACK that closes it. Only the first block tells of what came twice (RFC 2883 section 4), and the others of what lies
/// above the ACK.
#[cold]
pub(super) fn are_left_over(
    blocks: &[SackBlock],
    ack: i64,
    range: impl Fn(SackBlock) -> Option<StreamRange>,
) -> bool {
    let others = blocks.iter().copied().skip(1);
    others.filter_map(range).any(|other| other.end <= ack)
}

/// What came to the receiver twice, as the first of these blocks tells where it is a DSACK (RFC 2883 section 4).
#[inline]
pub(super) fn find_dsack(
    blocks: &[SackBlock],
    ack: i64,
    range: impl Fn(SackBlock) -> Option<StreamRange>,
) -> Option<StreamRange> {
    let first = blocks.first().copied().and_then(&range)?;
    let twice = first.end <= ack || around_first(blocks).and_then(&range).is_some();
    twice.then_some(first)
}

/// The second block where the first lies inside it, if it is a block at all.
#[inline]
pub(super) fn around_first(blocks: &[SackBlock]) -> Option<SackBlock> {
    let [first, second, ..] = blocks else {
        return None;
    };
    let is_short = |from: Seq, to: Seq| i64::from(to.0.wrapping_sub(from.0)) <= REACH_MAX;
    (is_short(second.start, first.start) && is_short(first.end, second.end)).then_some(*second)
}
