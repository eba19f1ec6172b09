//! What the receiver holds above the cumulative ACK, told by duplicate ACKs where there is no SACK.
//!
//! A receiver answers each segment that comes above what it misses at once, in the order in which they come (RFC 5681
//! section 4.2). So each duplicate ACK tells of one packet: the one that passed here as long before it as the answer
//! before took, or nearly so; and as many of them as there are packets tell of all.

use std::ops::Range;

use super::half::HalfFlow;
use super::in_flight::{InFlight, Marks, Sent};
use crate::time::CaptureTime;

/// What ACKs are delayed more or less than one another, in ns, where nothing is in their way.
const JITTER_NS: i64 = 50_000;

impl HalfFlow {
    /// A duplicate ACK that reports nothing by SACK passed at `at`.
    #[cold]
    pub(super) fn note_held(&mut self, at: CaptureTime) {
        if self.is_each_answered() {
            self.note_all_held();
            return;
        }
        let latest_ns = self.old_copies.latest_ns();
        let soonest_ns = self.delays.downstream.min_ns().unwrap_or(0);
        let earliest = at.plus_ns(-latest_ns.max(soonest_ns)).plus_ns(-JITTER_NS);
        let within = earliest..at.plus_ns(JITTER_NS.min(soonest_ns) - soonest_ns);
        let slowest_ns = self.delays.downstream.patience_ns();
        let since = at.plus_ns(-slowest_ns).plus_ns(-JITTER_NS);
        let Some(index) = self.only_one_passed(&within, since) else {
            return;
        };
        // One packet of a frame brought it about: the others may be lost.
        let packet_len = self.packet_size.full();
        let sent = self.in_flight.nth_unacked_mut(index);
        if let Some(sent) = sent.filter(|sent| sent.len <= packet_len) {
            sent.marks.set(Marks::HELD);
            let sent_at = sent.at;
            self.old_copies.note_rtt(at.since(sent_at));
        }
    }

    /// Place of the first range above what the receiver misses first.
    fn first_above_edge(&self) -> usize {
        let edge = self.in_flight.nth_unacked(0);
        usize::from(edge.is_some_and(|edge| Some(edge.start) <= self.una))
    }

    /// Whether there are as many duplicate ACKs as packets that passed above what the receiver misses, each once. A
    /// single one may answer something else.
    fn is_each_answered(&self) -> bool {
        let (first, unacked) = (self.first_above_edge(), self.in_flight.unacked());
        // What was repeated comes first.
        let is_once = |sent: &Sent| sent.copies == 1;
        self.acks.dup_run > 1
            && usize::from(self.acks.dup_run) == unacked.saturating_sub(first)
            && !self.has_repair_open()
            && self.in_flight.nth_unacked(first).is_some_and(is_once)
    }

    /// Whatever passed above what the receiver misses has come, but for frames of several packets.
    fn note_all_held(&mut self) {
        let packet_len = self.packet_size.full();
        for place in (self.first_above_edge()..self.in_flight.unacked()).rev() {
            let Some(sent) = self.in_flight.nth_unacked_mut(place) else {
                return;
            };
            // Those below have been told of.
            if sent.marks.has(Marks::HELD) || sent.len > packet_len {
                return;
            }
            sent.marks.set(Marks::HELD);
        }
    }

    /// Which of the ranges above the cumulative ACK passed within that time, where it is one alone and none passed from
    /// `since` until then.
    fn only_one_passed(&self, within: &Range<CaptureTime>, since: CaptureTime) -> Option<usize> {
        let unacked = self.in_flight.unacked();
        let first = self.first_above_edge();
        // What was repeated comes first, in order, and behind it what was not: within either, time goes on.
        let is_repeated = |sent: &Sent| sent.copies > 1;
        let repeated = if self.in_flight.nth_unacked(first).is_some_and(is_repeated) {
            self.in_flight
                .partition_unacked(first..unacked, is_repeated)
        } else {
            first
        };
        let until = if let Some(end) = self.repair.last_repeat.end(self.high) {
            self.in_flight
                .partition_unacked(first..repeated, |sent| sent.start < end)
        } else {
            repeated
        };
        let passed = |ranges: Range<usize>| {
            let from = self
                .in_flight
                .partition_unacked(ranges.clone(), |sent| sent.at < within.start.min(since));
            let to = self
                .in_flight
                .partition_unacked(from..ranges.end, |sent| sent.at <= within.end);
            from..to
        };
        let (again, once) = (passed(first..until), passed(repeated..unacked));
        let only = match (again.len(), once.len()) {
            (1, 0) => again.start,
            (0, 1) => once.start,
            _ => return None,
        };
        let sent = self.in_flight.nth_unacked(only)?;
        (sent.at >= within.start).then_some(only)
    }

    /// An ACK has moved over so many segments, the first of them what the receiver had asked for: of those above it each
    /// ACK before that did not move had told of one, and the others of these lie above a further hole. How many, saturated.
    #[inline]
    pub(super) fn note_released(&mut self, segments: u32) -> u16 {
        let segments = u16::try_from(segments).unwrap_or(u16::MAX);
        let told = self.acks.dup_run.saturating_add(self.acks.still_held);
        if told > 0 {
            let left = told.saturating_sub(segments.saturating_sub(1));
            self.acks.still_held = if self.is_none_told() { 0 } else { left };
        }
        segments
    }

    /// Whether nothing that the receiver told of is left: what it asks for passed after that, and with it all above it.
    #[cold]
    fn is_none_told(&self) -> bool {
        let next = self.in_flight.nth_unacked(0);
        self.sack.are_seen || next.is_none_or(|next| next.copies == 1 && next.at > self.told_by())
    }

    /// When the last passed here that the latest ACK that did not move can have told of.
    fn told_by(&self) -> CaptureTime {
        let soonest_ns = self.delays.downstream.min_ns().unwrap_or(0);
        self.times.stood_at.plus_ns(-soonest_ns / 2)
    }

    /// The same where some of what it told of lies above a further hole, and so is still held by the receiver; else never.
    pub(super) fn held_by(&self) -> CaptureTime {
        if self.acks.still_held > 0 {
            self.told_by()
        } else {
            CaptureTime::MIN
        }
    }

    /// Whether the receiver holds all of `start..end`, as duplicate ACKs told: not what it asks for.
    pub(super) fn is_held(&self, start: i64, end: i64) -> bool {
        let mut ranges = self.in_flight.overlapping(start, end);
        !self.sack.are_seen
            && Some(start) > self.una
            && !ranges.is_empty()
            && ranges.all(|index| {
                let sent = self.in_flight.get(index);
                sent.is_some_and(|sent| sent.marks.has(Marks::HELD))
            })
    }
}

impl InFlight {
    /// The first of these ranges above the cumulative ACK of which `is_before` does not hold, which holds of none
    /// behind it.
    fn partition_unacked(&self, within: Range<usize>, is_before: impl Fn(&Sent) -> bool) -> usize {
        let (mut low, mut high) = (within.start, within.end);
        while low < high {
            // Numbers of ranges are small.
            let middle = low + (high - low) / 2;
            if self.nth_unacked(middle).is_some_and(&is_before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
