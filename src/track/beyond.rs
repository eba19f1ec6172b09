//! What SACK reports from above all data that was seen, as in a capture that begins while losses are being repaired:
//! what passes below it was sent before.

use super::delays::nearly;
use super::dsacks::stream_range;
use super::half::{HalfFlow, REACH_MAX};
use super::ranges::StreamRange;
use crate::decode::Segment;
use crate::event::{Class, Confidence, Evidence, Reason, Verdict};
use crate::time::CaptureTime;

impl HalfFlow {
    /// SACK reports data of this direction before any was seen, and where the stream is: what it says is kept for then.
    #[cold]
    pub(super) fn keep_early_report(&mut self, segment: &Segment) {
        self.board
            .keep_early(segment.at, (segment.ack, segment.sack));
    }

    /// The first data of a stream met in the middle passes: enters what was reported before from above it.
    pub(super) fn enter_early_report(&mut self) {
        let (Some(unwrapper), Some((ack, sack))) = (self.unwrapper(), self.board.take_early())
        else {
            return;
        };
        // Below the first byte nothing is known.
        let ack = unwrapper.offset(ack, 0);
        let bounds = StreamRange {
            start: i64::MIN,
            end: REACH_MAX,
        };
        let range = |block| stream_range(unwrapper, block, ack, bounds);
        self.board
            .report(sack.as_slice(), ack.max(0), self.packets, range, |_| ());
    }

    /// SACK has reported news at `at`: whether from above the highest byte seen.
    #[inline]
    pub(super) fn note_beyond(&mut self, at: CaptureTime) {
        let is_beyond = self.is_reported_beyond();
        self.steady &= !is_beyond;
        self.board.note_beyond(at, is_beyond);
    }

    /// Data has passed, or the stream's end: whether SACK still reports data from above the highest byte seen.
    pub(super) fn note_seen_beyond(&mut self) -> bool {
        let is_beyond = self.is_reported_beyond();
        if !is_beyond {
            self.board.forget_beyond();
        }
        is_beyond
    }

    /// Whether SACK reports data from above the highest byte seen, but for a FIN that was.
    #[inline]
    fn is_reported_beyond(&self) -> bool {
        let seen_to = self.fin.map_or(self.high, |fin| fin + 1);
        self.board
            .highest_end()
            .is_some_and(|end| end > seen_to.max(self.high))
    }

    /// What a packet `start..end` at or above the highest byte seen, which passes at `at`, is where SACK had reported
    /// what lies above it: nothing is sent for the first time so long after that.
    pub(super) fn judge_below_report(
        &mut self,
        start: i64,
        end: i64,
        at: CaptureTime,
    ) -> Option<Verdict> {
        if !self.is_reported_beyond() {
            return None;
        }
        // Some rewrite sequence numbers and leave those of SACK as they are.
        let highest = self.board.highest_end();
        let is_below = highest.is_some_and(|highest| end < highest && self.may_have_sent(highest));
        // The original may be late by less. Where it is not known how long it takes to the sender, the capture has just
        // begun: of what came late then, there is little.
        let trip_ns = nearly(self.delays.upstream.min_ns().unwrap_or(0));
        let is_told = self
            .board
            .beyond_since()
            .is_some_and(|since| at.since(since) >= trip_ns);
        if !(is_below && is_told) {
            return None;
        }
        let reason = if self.board.covers(start, end) {
            Reason::Unneeded
        } else {
            self.reason(start, end, at)
        };
        // Where the first copy was lost nobody knows, or whether it was.
        Some(Verdict {
            class: Class::Retransmission,
            reason: Some(reason),
            lost: None,
            evidence: Evidence::Sack,
            confidence: Confidence::Medium,
        })
    }
}
