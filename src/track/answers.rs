//! How a sender answers its peer: what it answers with data at once it acknowledges with that, and with no packet besides.

use super::delays::{TIMER_NS_MIN, nearly};
use super::half::HalfFlow;
use super::ids::Step;
use crate::decode::Segment;
use crate::time::CaptureTime;

/// What a sender's data came with so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answers {
    /// Nothing that tells.
    #[default]
    Unknown,
    /// It answered the peer's, whose ACK it was, and never came by itself after a silence as long as a timer's.
    AtOnce,
    /// It came by itself after such a silence: its sender may have acknowledged the peer's data long before.
    ByItself,
}

impl HalfFlow {
    /// A packet of this sender passes, and its ACK has been told to `peer`, which was known to have `had_before` until
    /// then.
    #[inline]
    pub(super) fn note_answer(
        &mut self,
        peer: &Self,
        segment: &Segment,
        step: Step,
        had_before: Option<i64>,
    ) {
        let answers = self.limits.answers;
        if segment.payload_len == 0 || answers == Answers::ByItself {
            return;
        }
        let answers_first = answers == Answers::Unknown
            && matches!(step, Step::Ahead(0) | Step::Early(0))
            && had_before != peer.known_to_have();
        if answers_first && self.continues(segment.seq, segment.payload_len) {
            self.limits.answers = Answers::AtOnce;
        } else if self.is_answered() && !self.is_below_highest(segment.seq, segment.payload_len) {
            self.note_by_itself(peer, segment.at);
        }
    }

    /// Data above all that was seen passes at `at`, when all before it is acknowledged.
    #[inline]
    pub(super) fn note_by_itself(&mut self, peer: &Self, at: CaptureTime) {
        let silence_ns = self.times.silence_ns(at);
        if silence_ns >= nearly(TIMER_NS_MIN)
            && self.ids.last_skipped() == 0
            && !(self.owes_ack || peer.may_miss_ack())
        {
            self.limits.answers = Answers::ByItself;
        }
    }

    /// Whether data of this direction, or its end, is not acknowledged: an ACK of it may have been lost.
    pub(super) fn may_miss_ack(&self) -> bool {
        self.sent_data && self.una.is_none_or(|una| una < self.high) || self.waits_for_end()
    }

    /// How many of the `skipped` ids were those of ACKs, where `acks` can have been asked for, if one of these packets was the
    /// first copy of `segment`.
    pub(super) fn acks_beside_answer(
        &self,
        skipped: u16,
        acks: u16,
        segment: &Segment,
        peer: &Self,
    ) -> u16 {
        if self.is_answer_again(segment, peer) {
            acks.min(skipped.saturating_sub(1))
        } else {
            acks
        }
    }

    /// Whether `segment` has data that was sent before, as an answer to data of the `peer`, and not an ACK alone, where one
    /// of both was owed: who answers at once sends none besides, and its timer, or a probe of this packet alone (RFC 8985
    /// section 7.2), sends the answer again so long after. Not if what the peer asked last, perhaps again, passed as long
    /// before as answers take: then this may be the first answer to it.
    fn is_answer_again(&self, segment: &Segment, peer: &Self) -> bool {
        let silence_ns = self.times.silence_ns(segment.at);
        let upstream = &self.delays.upstream;
        let least_ns = nearly(upstream.min_ns().unwrap_or(0));
        let answered_ns = least_ns..upstream.patience_ns().max(nearly(TIMER_NS_MIN));
        let may_answer = || {
            peer.asked_at(segment)
                .is_none_or(|asked_at| answered_ns.contains(&segment.at.since(asked_at)))
        };
        self.limits.answers == Answers::AtOnce
            && self.una >= Some(self.high)
            && silence_ns >= nearly(TIMER_NS_MIN)
            && self
                .delays
                .probe_ns_max()
                .is_some_and(|most| silence_ns <= most)
            && !may_answer()
    }

    /// When the last data passed that the peer can have answered with `segment`, which is entered: the first copy of what
    /// it acknowledges last, where it echoes the clock of that and not that of a repeat (RFC 7323 section 4.3).
    fn asked_at(&self, segment: &Segment) -> Option<CaptureTime> {
        let echoed = || {
            let echo = segment.timestamps?.echo;
            let last = self.copy_before(self.una? - 1)?;
            let first = self.in_flight.first_copy(last);
            (first.tsval == echo && last.tsval != echo).then_some(first.at)
        };
        echoed().or(self.times.data_at)
    }
}
