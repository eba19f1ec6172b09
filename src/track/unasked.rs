//! Repeats that no ACK can have asked for, though ACKs went on: those of timers that ran out meanwhile, and those that pass
//! before any ACK can tell of the copy before them.

use super::delays::{Delays, TIMER_NS_MIN, UNSET_TIMER_NS_MIN, nearly};
use super::earlier_copies::EarlierCopy;
use super::half::HalfFlow;
use super::in_flight::{PARTS_MAX, Sent};
use super::repair::Heard;
use crate::event::{Class, Reason};
use crate::time::CaptureTime;

impl Delays {
    /// Whether the last repeat of `sent` passed before any ACK that tells of its `first` copy can have brought it about,
    /// and SACK, which reached as far as `highest`, had reported nothing above: had the first been lost, what was sent
    /// behind it would have been. Who repeats so soon goes by no ACK, as one that has window left and no new data to
    /// fill it with (RFC 6675 section 4, `NextSeg` (3)). Of two between which the clock was set nothing is known.
    #[cold]
    pub(super) fn is_sooner_than_answers(
        &self,
        sent: &Sent,
        first: &EarlierCopy,
        highest: Option<i64>,
    ) -> bool {
        sent.at.since(first.at).abs() < nearly(self.shortest_round_trip_ns())
            && highest.is_none_or(|highest| highest <= sent.start)
    }
}

impl HalfFlow {
    /// Whether the left edge, which was repeated as `earlier`, is repeated again at `at` for a timer that ran out,
    /// although ACKs came all the time.
    pub(super) fn is_timers_again(&self, earlier: &Sent, start: i64, at: CaptureTime) -> bool {
        let again = earlier.copies >= 2 && earlier.verdict.class == Class::Retransmission;
        if Some(start) > self.una {
            return false;
        }
        if self.was_asked_in_this_repair(earlier, at) {
            return true;
        }
        if !again {
            return false;
        }
        if !(self.sack.are_seen || self.sack.are_cut()) {
            return self.was_asked_once(earlier, at);
        }
        // It runs from when they were sent or from the last progress on, whatever was repeated since (RFC 6298 section 5).
        let first = self.in_flight.earlier.first(earlier.start);
        let sent_at = first.map_or(earlier.at, |first| first.at);
        let progress_at = self.times.progress_at.unwrap_or(sent_at);
        let set_at = progress_at.max(sent_at).min(earlier.at);
        let is_unasked = || {
            !self.has_delivered_since(earlier.at)
                || self.echoes.newest().is_some()
                    && Self::is_long_since(self.times.heard_at, self.reaction_ns(), at)
        };
        let waited_ns = at.since(set_at);
        self.sack.are_seen
            && (waited_ns >= UNSET_TIMER_NS_MIN && self.has_gone_on_since(earlier)
                || waited_ns >= nearly(TIMER_NS_MIN) && is_unasked())
    }

    /// Whether `start..end` was repeated before, with SACK, and again at `at` before anything that was sent since can have
    /// been acknowledged, or, of the left edge, has been: so neither SACK (RFC 6675 section 5) nor the order of deliveries
    /// (RFC 8985 section 6.2) asked for it, and its sender has given up all that was outstanding (RFC 6675 section 5.1).
    pub(super) fn repeats_again_unasked(&self, start: i64, end: i64, at: CaptureTime) -> bool {
        let soon_ns = nearly(self.delays.shortest_round_trip_ns());
        let is_unasked = |earlier: &Sent| {
            at.since(earlier.at) < soon_ns
                || self.una == Some(start)
                    && !self.has_delivered_since(self.before_burst(earlier))
                    && !self.reports_unseen()
        };
        self.repair.after_timeout().is_none()
            && self.repeat_before(start, end, at).is_some_and(is_unasked)
    }

    /// The same of what had been acknowledged here by then: its sender knew of nothing above but what SACK reported.
    fn repeats_again_needlessly(&self, start: i64, end: i64, at: CaptureTime) -> bool {
        self.repair.timeout.is_none()
            && self.repeat_before(start, end, at).is_some_and(|earlier| {
                self.times.reported_latest <= Some(self.before_burst(earlier))
                    && !self.in_flight.is_any_sent_since(earlier.at, start)
                    && !self.reports_unseen()
            })
    }

    /// Just before the packets that were sent at once with `earlier`, which may have been sent later.
    fn before_burst(&self, earlier: &Sent) -> CaptureTime {
        earlier.at.plus_ns(-self.burst_ns())
    }

    /// The copy before of `start..end`, which passes at `at`, where that was a repeat in the same piece, and no probe.
    fn repeat_before(&self, start: i64, end: i64, at: CaptureTime) -> Option<&Sent> {
        let tells = self.sack.are_seen && self.repair.heard != Heard::UnknownLate;
        self.copy_before(start).filter(|earlier| {
            tells
                && earlier.verdict.class == Class::Retransmission
                && earlier.verdict.reason != Some(Reason::TailProbe)
                && earlier.at < at
                // Nor is that cut anew.
                && (earlier.start, earlier.end()) == (start, end)
        })
    }

    /// Whether SACK reports what never passed here: when that was sent nobody knows.
    fn reports_unseen(&self) -> bool {
        let Some(una) = self.una.filter(|_| !self.holes.is_empty()) else {
            return false;
        };
        let mut from = una;
        for _ in 0..PARTS_MAX {
            let Some(hole) = self.holes.first_within(from, self.high) else {
                return false;
            };
            let is_reported = |byte| self.board.covers(byte, byte + 1);
            if is_reported(hole.start.max(una)) || is_reported(hole.end - 1) {
                return true;
            }
            from = hole.end;
        }
        false
    }

    /// Whether something that was sent after `at` has been delivered: duplicate ACKs ask for one repeat alone (RFC 6675
    /// section 5), and for another one such a segment must have come first (RFC 8985 section 6.2).
    fn has_delivered_since(&self, at: CaptureTime) -> bool {
        let latest = self.times.released_latest.max(self.times.reported_latest);
        latest > Some(at)
    }

    /// Whether the sender sent new data when it had long been told that the repeat `earlier` was lost, too: one that
    /// knows by what was sent later repeats that first (RFC 8985 section 6.2, RFC 6675 section 5), so this one knows by
    /// its timer alone. An answer takes a round trip, and such a sender waits as long as packets may be overtaken: a
    /// quarter of the shortest round trip, or up to a whole one where DSACKs have told it to be more patient.
    fn has_gone_on_since(&self, earlier: &Sent) -> bool {
        let (Some(new_at), Some(highest), Some(_)) = (
            self.in_flight.highest_new_at(),
            self.board.highest_end(),
            self.delays.upstream.min_ns(),
        ) else {
            return false;
        };
        let mut told_ns = 2 * self.delays.round_trip_ns();
        if !self.old_copies.are_told_by_dsacks() {
            let Delays {
                downstream,
                upstream,
            } = self.delays;
            let answer_ns = downstream.patience_ns() + upstream.patience_ns();
            told_ns = told_ns.min(answer_ns + self.delays.shortest_round_trip_ns() / 4);
        }
        let told = new_at.plus_ns(-told_ns);
        let times = earlier.at.plus_ns(1)..told;
        times.start < times.end && self.in_flight.has_reported(&times, highest)
    }

    /// Without SACK: whether the left edge was asked for by `earlier` in the repair that goes on. Each ACK that moves
    /// it asks for one repeat, and duplicate ACKs for none until the repair is over (RFC 6582 section 3.2), so that
    /// another one is a timer's, which may have run since the repair began: partial ACKs but for the first need not
    /// set it anew (section 4, the Impatient variant).
    pub(super) fn was_asked_in_this_repair(&self, earlier: &Sent, at: CaptureTime) -> bool {
        let timer_ns = self.delays.run_out_ns();
        self.sack.are_lacking()
            && self.repair.after_timeout().is_none()
            && self.has_repair_open()
            && earlier.verdict.class == Class::Retransmission
            && earlier.verdict.reason == Some(Reason::Fast)
            && self
                .limits
                .repair_start
                .is_some_and(|began_at| began_at <= earlier.at && at.since(began_at) > timer_ns)
    }

    /// Without SACK: whether the left edge was where it is at `at` when `earlier` was sent, which repeats it, a round
    /// trip before: third duplicate ACKs and partial ones ask for one repeat each (RFC 6582 section 3.2).
    fn was_asked_once(&self, earlier: &Sent, at: CaptureTime) -> bool {
        let trip_ns = nearly(self.delays.upstream.min_ns().unwrap_or(0));
        let known = self
            .times
            .progress_at
            .is_none_or(|progress| earlier.at.since(progress) >= trip_ns);
        known
            && at.since(earlier.at) >= self.delays.round_trip_ns()
            && earlier.verdict.reason != Some(Reason::TailProbe)
    }

    /// What passes at `at` repeats `start..end`, which had been acknowledged here by then, as its sender did not know: it may
    /// tell all the same that a timer has run out.
    pub(super) fn note_needless(&mut self, start: i64, end: i64, at: CaptureTime) {
        self.doubt_taken_back(start);
        if let Some(earlier) = self.copy_before(start).copied()
            && self.was_asked_in_this_repair(&earlier, at)
        {
            self.timed_out(at, earlier.len);
            return;
        }
        // Who is in a fast repair when a timer runs out does not try whether it did so for nothing (RFC 5682 section 2.1),
        // but does when the next one runs out.
        if self.quiet_ns(at) <= self.delays.run_out_ns() {
            if self.repeats_again_needlessly(start, end, at) {
                self.timed_out(at, (end - start) as u32);
            }
            return;
        }
        let is_first = self.repair.timeout.is_none() && self.timers_before(at) <= 1;
        if is_first && self.repair.was_asked_above(start) {
            self.timed_out(at, self.packet_size.full());
        } else if let Some(after) = self.repair.timeout.as_deref_mut()
            && self.times.data_at == Some(after.at)
        {
            after.taken_back = true;
            self.emissions.forget_timeout();
        }
    }
}
