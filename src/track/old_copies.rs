//! Repeats of what the receiver had already, told by its duplicate ACKs, where no DSACK tells them.
//!
//! A receiver answers each segment that lies below what it has acknowledged at once, with the ACK
//! that it sent last (RFC 9293 section 3.10.7.4), and one that fills a gap at once, too (RFC 5681
//! section 4.2). So each repeat that was not needed brings a duplicate ACK, which reports nothing
//! new by SACK, in the order in which they were sent.
//!
//! Without SACK such repeats are those sent behind a repeat of the left edge, whose ACK leaps over
//! what the receiver held, and covered by that ACK. With SACK, from receivers that know no DSACK
//! (RFC 2883), those that an ACK or SACK covered before a round trip was over, or that were sent before one was over
//! since the copy before them.

use thin_vec::ThinVec;

use super::cover::AckTiming;
use super::delays::nearly;
use super::half::HalfFlow;
use super::in_flight::{Marks, Sent};
use crate::decode::Segment;
use crate::event::{Class, Direction, Evidence, FlowSink};
use crate::time::CaptureTime;

/// Repeats remembered; one more forgets the oldest.
const REPEATS_MAX: usize = 1024;

/// Ranges looked at that the ACK before may have covered.
const RELEASED_MAX: usize = 8;

/// Repeats whose bytes are covered, and for which a duplicate ACK may come.
#[derive(Clone, Debug, Default)]
pub(super) struct OldCopies {
    /// When they passed and where they start, in the order in which they were sent.
    repeats: ThinVec<(CaptureTime, i64)>,
    /// How long the last answer took, in ns.
    latest_ns: i64,
    /// A DSACK was seen: the receiver tells such repeats itself.
    dsacks: bool,
    /// DSACKs of packets that passed here once and were no repeats; saturates.
    copied_behind: u32,
}

/// The left edge, as an ACK moves on from it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    /// SACK tells what the receiver holds above it.
    Sack,
    /// It was sent once.
    Sent,
    /// It was repeated last at this time, from this byte on.
    Repeated(CaptureTime, i64),
}

impl OldCopies {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.repeats.is_empty()
    }

    /// How many they are; saturates.
    #[inline]
    pub(super) fn count(&self) -> u16 {
        u16::try_from(self.repeats.len()).unwrap_or(u16::MAX)
    }

    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.repeats.capacity() * size_of::<(CaptureTime, i64)>()
    }

    /// A DSACK passed.
    pub(super) fn on_dsack(&mut self) {
        self.dsacks = true;
        self.repeats.clear();
    }

    /// Either side looks whether the other is there, or has room: that is a duplicate ACK itself, and answered with one
    /// (RFC 9293 section 3.8.4). Answers to what was sent before have come by then.
    #[cold]
    pub(super) fn on_probe(&mut self) {
        self.repeats.clear();
    }

    /// Whether a DSACK was seen.
    pub(super) fn are_told_by_dsacks(&self) -> bool {
        self.dsacks
    }

    /// A DSACK told of a packet that its sender sent once.
    pub(super) fn note_copied_behind(&mut self) {
        self.copied_behind = self.copied_behind.saturating_add(1);
    }

    /// Whether the path behind has copied any packet that was sent once.
    pub(super) fn has_copied_behind(&self) -> bool {
        self.copied_behind > 0
    }

    /// Whether the path behind copies packets, a quarter or more of the `packets` that passed: then a DSACK of a repeat
    /// does not tell that the receiver had its bytes before.
    pub(super) fn are_copied_behind(&self, packets: u64) -> bool {
        4 * u64::from(self.copied_behind) >= packets
    }

    /// An answer took so long, in ns.
    #[inline]
    pub(super) fn note_rtt(&mut self, rtt_ns: i64) {
        self.latest_ns = rtt_ns;
    }

    /// Nothing waits in a queue any more: an answer may take no longer than the quickest one did, in ns.
    #[cold]
    pub(super) fn forget_queue(&mut self, soonest_ns: Option<i64>) {
        self.latest_ns = self.latest_ns.min(soonest_ns.unwrap_or(0));
    }

    /// How long the last answer took, in ns.
    pub(super) fn latest_ns(&self) -> i64 {
        self.latest_ns
    }

    /// What was sent at `sent_at` is answered at `at`, and so was all before it.
    #[inline]
    pub(super) fn on_answer(&mut self, sent_at: CaptureTime, at: CaptureTime) {
        self.note_rtt(at.since(sent_at));
        if !self.is_empty() {
            self.clear_before(sent_at);
        }
    }

    fn clear_before(&mut self, sent_at: CaptureTime) {
        let before = self.repeats.partition_point(|&(at, _)| at < sent_at);
        self.repeats.drain(..before);
    }

    /// An ACK or SACK that passes at `at` covers `sent`, of a receiver that agreed to SACK: most likely
    /// for an earlier copy than the latest, where it comes sooner than the last answer did but for an
    /// eighth, or where that was repeated `too_soon` for an ACK to have asked for it.
    #[cold]
    pub(super) fn on_covered(&mut self, sent: &Sent, at: CaptureTime, too_soon: bool) {
        if self.dsacks || !sent.is_repeat() {
            return;
        }
        let elapsed_ns = at.since(sent.at);
        if too_soon || elapsed_ns < nearly(self.latest_ns) {
            self.add(sent.at, sent.start);
        } else {
            // The queue may drain.
            self.latest_ns = self.latest_ns.min(elapsed_ns);
            self.clear_before(sent.at);
        }
    }

    /// The cumulative ACK that passes at `at` covers `sent`, and shows no answer to its latest copy.
    #[cold]
    pub(super) fn on_released(&mut self, sent: &Sent, at: CaptureTime, edge: Edge, too_soon: bool) {
        match edge {
            Edge::Sack if !sent.marks.has(Marks::SACKED) => self.on_covered(sent, at, too_soon),
            Edge::Repeated(edge_at, start)
                if sent.start > start && sent.at >= edge_at && sent.is_repeat() =>
            {
                self.add(sent.at, sent.start);
            }
            _ => {}
        }
    }

    /// A repeat that passed at `at` and starts at `start` was sent for nothing, most likely.
    pub(super) fn add(&mut self, at: CaptureTime, start: i64) {
        if self.dsacks {
            return;
        }
        if self.repeats.len() == REPEATS_MAX {
            self.repeats.remove(0);
        }
        // Mostly at the back.
        let place = self.repeats.partition_point(|&(other, _)| other <= at);
        self.repeats.insert(place, (at, start));
    }

    /// Takes out the first, where it passed at `latest` or before.
    fn take_next(&mut self, latest: CaptureTime) -> Option<(CaptureTime, i64)> {
        let &(at, _) = self.repeats.first()?;
        (at <= latest).then(|| self.repeats.remove(0))
    }
}

impl Sent {
    /// Whether it is a repeat of what passed here before.
    fn is_repeat(&self) -> bool {
        self.copies >= 2
            && self.verdict.class == Class::Retransmission
            && !self.marks.has(Marks::CONTINUES)
    }
}

impl HalfFlow {
    /// The cumulative ACK moves on from `una`: what tells which of the repeats that it covers were
    /// sent for nothing.
    pub(super) fn begin_release(&mut self, una: i64) -> Edge {
        if self.sack.are_seen {
            return Edge::Sack;
        }
        // What is answered from now on was sent later.
        self.old_copies.repeats.clear();
        self.in_flight
            .nth_unacked(0)
            .filter(|edge| edge.start <= una && edge.verdict.class == Class::Retransmission)
            .map_or(Edge::Sent, |edge| Edge::Repeated(edge.at, edge.start))
    }

    /// An ACK reports `sent` by SACK, which was repeated.
    #[cold]
    pub(super) fn on_reported_copy(&mut self, sent: &Sent, timing: AckTiming) {
        let AckTiming {
            at,
            highest_before: highest,
            ..
        } = timing;
        let first = self.in_flight.first_copy(sent);
        let too_soon = self.delays.is_sooner_than_answers(sent, &first, highest);
        self.old_copies.on_covered(sent, at, too_soon);
        if timing.is_too_soon_for(sent)
            && timing.may_answer_earlier(sent, &first, &self.delays.downstream)
        {
            self.unneeded.push((sent.start, Evidence::Timing));
        }
    }

    /// A duplicate ACK passed with the window of the one before it, which reports nothing new. Whether it answers
    /// a repeat of what the receiver had already.
    #[cold]
    pub(super) fn on_answer_to_old<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        sink: &mut S,
    ) -> bool {
        // Of an ACK without id, a copy made by the network looks the same.
        if self.sack.are_seen && (segment.header_cut || segment.ip_id.is_none()) {
            return false;
        }
        let soonest_ns = nearly(self.delays.downstream.min_ns().unwrap_or(0));
        let latest = segment.at.plus_ns(-soonest_ns);
        let Some((at, start)) = self.old_copies.take_next(latest) else {
            return false;
        };
        self.old_copies.on_answer(at, segment.at);
        // What has been forgotten in the meantime stays as it was told.
        let Some(index) = self.in_flight.overlapping(start, start + 1).next() else {
            return true;
        };
        for part in self.in_flight.one_packet(index) {
            self.amend(dir, part, Evidence::Dsack, sink);
        }
        true
    }

    /// Without SACK: the cumulative ACK that passes at `at` moves on from `una` to `ack` and answers the first copy of
    /// the edge. What passed before a repeat and arrived had arrived when that did, so its ACK covers it, too: repeats
    /// of what lies below the edge that passed after it did not bring the ACK about that left the edge out. Where the
    /// edge is answered later than answers come, it may have been late behind here: then only those that the ACK came
    /// too soon for.
    #[cold]
    pub(super) fn amend_overtaken<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        una: i64,
        ack: i64,
        sink: &mut S,
    ) {
        let timing = self.ack_timing(at, None);
        let Some(edge) = self.in_flight.nth_unacked(0).filter(|edge| {
            let once = edge.copies == 1 && edge.verdict.class == Class::New;
            let again = edge.copies == 2 && timing.is_too_soon_for(edge);
            (once || again) && edge.start == una && edge.end() <= ack
        }) else {
            return;
        };
        let edge_at = self.in_flight.first_copy(edge).at;
        let is_late = at.since(edge_at) > self.delays.downstream.patience_ns();
        let answered = self.times.progress_at.filter(|_| is_late);
        let since = answered.map_or(edge_at, |answered| {
            edge_at.max(answered.plus_ns(-nearly(timing.soonest_ns.unwrap_or(0))))
        });
        let edge = self.in_flight.overlapping(una, una + 1).start;
        for index in (edge.saturating_sub(RELEASED_MAX)..edge).rev() {
            let is_later = |sent: &Sent| sent.is_repeat() && sent.at > since;
            if self.in_flight.get(index).is_some_and(is_later) {
                self.amend(dir, index, Evidence::Timing, sink);
            }
        }
        if !self.superseded.is_empty() {
            self.amend_superseded_since(dir, una, since, sink);
        }
    }
}
