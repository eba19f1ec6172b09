//! How a sender answers its peer: what it answers with data at once it acknowledges with that, and with no packet besides.

use super::delays::{TIMER_NS_MIN, nearly};
use super::half::HalfFlow;
use super::ids::Step;
use super::times::Times;
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
            && self.owes_ack
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

    /// Whether what begins at `start` and passes at `at` was sent before, as an answer to data of the `peer`, and not an ACK
    /// alone, where one of both was owed: who answers at once sends none besides, and its timer, or a probe of this packet
    /// alone (RFC 8985 section 7.2), sends the answer again so long after. Not if the peer's last data, perhaps its
    /// question again, passed as long before as answers take: then this may be the first answer to it.
    pub(super) fn is_answer_again(&self, start: i64, at: CaptureTime, peer: &Times) -> bool {
        let silence_ns = self.times.silence_ns(at);
        let upstream = &self.delays.upstream;
        // A queue that stood when the shortest was measured, the handshake's perhaps, may have drained.
        let least_ns = upstream.min_ns().unwrap_or(0) / 2;
        let answered_ns = least_ns..upstream.patience_ns().max(nearly(TIMER_NS_MIN));
        let may_answer = peer
            .data_at
            .is_none_or(|asked_at| answered_ns.contains(&at.since(asked_at)));
        self.limits.answers == Answers::AtOnce
            && start == self.high
            && self.una >= Some(self.high)
            && self.ids.is_of_its_own()
            && silence_ns >= nearly(TIMER_NS_MIN)
            && self
                .delays
                .probe_ns_max()
                .is_some_and(|most| silence_ns <= most)
            && !may_answer
    }
}
