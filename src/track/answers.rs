//! How a sender answers its peer: what it answers with data at once it acknowledges with that, and with no packet besides. And
//! how many of the ids that were skipped can have been those of ACKs.

use super::delays::{TIMER_NS_MIN, nearly};
use super::half::HalfFlow;
use super::ids::Step;
use super::steps::FLIGHT_MAX;
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

/// What the receiver of one direction was known to have got before a packet of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    /// What it was known to have.
    pub(super) has: Option<i64>,
    /// Its window, not scaled.
    window: Option<u16>,
    /// Repeats of what it had, for which ACKs may come.
    old_copies: u16,
}

impl HalfFlow {
    /// What the receiver is known to have got.
    #[inline(always)]
    pub(super) fn received(&self) -> Received {
        Received {
            has: self.known_to_have(),
            window: self.window.advertised,
            old_copies: self.old_copies.count(),
        }
    }

    /// What the receiver is known to have, in bytes from anywhere.
    #[inline]
    pub(super) fn known_to_have(&self) -> Option<i64> {
        Some(self.una? + self.board.bytes().cast_signed())
    }

    /// How many ACKs without payload the receiver of this direction can have sent since its packet before `segment`,
    /// which it sent and which has just been entered: each answers a packet that came (RFC 5681 section 4.2), and what
    /// came since is told of here, with SACK, or as nothing that was sent has yet to come. `before`: what was known
    /// before it.
    pub(super) fn acks_before(&self, segment: &Segment, before: &Received) -> u16 {
        let (Some(had), Some(has)) = (before.has, self.known_to_have()) else {
            return u16::MAX;
        };
        // A FIN that is repeated has an ACK that tells of nothing else, and what was thrown away came.
        let has_ended = self.fin.is_some_and(|fin| had > fin);
        let all_told = self.sack.are_seen || has > had && self.una >= Some(self.high);
        if !all_told || has_ended || has < had || self.acks.told == u16::MAX {
            return u16::MAX;
        }
        if has == had {
            // What came twice has an ACK that tells of nothing else.
            if !self.old_copies.is_empty() {
                return u16::MAX;
            }
            // It may have told of its window twice.
            return u16::from(before.window != Some(segment.window));
        }
        // A frame may have been several packets.
        let packets = ((has - had) as u64).div_ceil(self.packet_size.full().into());
        let packets = u16::try_from(packets)
            .unwrap_or(u16::MAX)
            .max(self.acks.told)
            .saturating_add(before.old_copies);
        packets - u16::from(segment.payload_len == 0)
    }

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
        } else if skipped > acks && self.limits.answers == Answers::AtOnce {
            // More than ACKs: the answer was among them, and it is no ACK alone.
            acks.saturating_sub(1)
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

    /// How many of the `skipped` ids may be those of ACKs, where `acks` can have been asked for.
    pub(super) fn acks_among(&self, skipped: u16, acks: u16) -> u16 {
        if !self.owes_ack {
            0
        } else if self.ids.is_confirmed()
            || self.ids.is_of_its_own() && skipped.saturating_sub(acks) <= FLIGHT_MAX
        {
            acks
        } else {
            u16::MAX
        }
    }
}
