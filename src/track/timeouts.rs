//! Timers that ran out: what they gave up, and how what passes later tells that there was none, or that it was taken back.

use super::delays::nearly;
use super::emissions::Emissions;
use super::half::HalfFlow;
use super::ids::Step;
use super::in_flight::{PARTS_MAX, Sent};
use super::lost_edges::LostEdge;
use super::ranges::Hole;
use super::repair::{Heard, Last};
use super::steps::FLIGHT_MAX;
use crate::decode::Segment;
use crate::event::{
    Amendment, Class, Confidence, Direction, Evidence, FlowSink, LossPlace, Reason, Verdict,
};
use crate::time::CaptureTime;

/// Packets that a sender sends at once come so close together, in ns.
const BURST_NS: i64 = 1_000_000;

/// What is found out later to have been a timer's repeat of what never came here.
const TIMERS: Verdict = Verdict {
    class: Class::Retransmission,
    reason: Some(Reason::Timeout),
    lost: Some(LossPlace::Upstream),
    evidence: Evidence::Sequence,
    confidence: Confidence::Medium,
};

/// What a timer repeats when it runs out, and all that was outstanding then.
#[derive(Clone, Debug)]
pub(super) struct AfterTimeout {
    /// Offset after all that had been sent.
    pub(super) until: i64,
    /// When the first repeat passed.
    pub(super) at: CaptureTime,
    /// When a packet of the peer had passed last by then.
    heard_at: Option<CaptureTime>,
    /// Nothing but what timers brought was repeated since, and none of it had been asked for before.
    pub(super) alone: bool,
    /// Another one had run out before it, and no data passed in between: then an ACK of what was sent once takes it back,
    /// whatever its sender was at before.
    is_second: bool,
    /// Another one had run out before, and what that gave up is not repaired yet, be it that its sender took that back.
    pub(super) goes_on: bool,
    /// What ids tell to have been sent above all that was seen is outstanding for certain.
    is_certain: bool,
    /// Without SACK it takes an ACK of something sent since to end it (RFC 6582 section 3.2, step 2).
    ends_above: bool,
    /// The timer's repeat was told to be for nothing, or its sender goes on with what is new, so that it has taken the
    /// timeout back, as far as is known.
    pub(super) taken_back: bool,
    /// Where the first packet above the repeat begins that was sent once and is not known to have arrived.
    untold_from: i64,
    /// The highest byte that SACK had reported by then.
    reported_to: Option<i64>,
    /// What was acknowledged when new data passed last, and how often that was more than before.
    answered: (Option<i64>, u8),
    pub(super) lost_edge: Option<LostEdge>,
    /// That its sender had been asked for the repeat round trips before told of it, while ACKs went on.
    is_by_asking: bool,
    /// It ran out in a repair that no timer had begun.
    pub(super) ends_fast_repair: bool,
}

impl AfterTimeout {
    /// Whether all that was outstanding is acknowledged by `ack`.
    pub(super) fn ends_at(&self, ack: i64) -> bool {
        ack >= self.until + i64::from(self.ends_above)
    }

    /// Up to where all is repeated for certain.
    pub(super) fn repairs_to(&self) -> i64 {
        if self.is_certain {
            self.until
        } else {
            i64::MIN
        }
    }
}

impl HalfFlow {
    /// A timer that ran out brings what passes at `at`, with `len` bytes.
    pub(super) fn timed_out(&mut self, at: CaptureTime, len: u32) -> Reason {
        let until = self.reached(len);
        self.begin_timeout(at, until);
        Reason::Timeout
    }

    /// What passes at `at` and begins at `start` repeats bytes and goes on above the highest one seen with what is new, as
    /// senders do that put small segments together (RFC 9293 section 3.8.6): where it ends a timer's silence and begins
    /// with the lowest bytes, the timer brings it.
    #[cold]
    pub(super) fn note_timer_of_longer(&mut self, start: i64, at: CaptureTime, len: u32) {
        if self.una == Some(start) && self.quiet_ns(at) > self.delays.run_out_ns() {
            self.timed_out(at, len);
        }
    }

    /// A timer that ran out brought what passed at `at`; all below `until` had been sent.
    fn begin_timeout(&mut self, at: CaptureTime, until: i64) {
        let before = self.repair.after_timeout();
        // What follows sooner goes on with the same repair: timers wait twice as long each time.
        let soonest_ns = nearly(self.delays.shortest_round_trip_ns());
        let before = before.map(|after| (after, at.since(after.at) >= soonest_ns));
        let alone = match before {
            Some((after, is_later)) => after.alone && is_later,
            None => !self.was_edge_asked_for(),
        };
        let goes_on = self.repair.timeout.is_some();
        let is_second = before
            .is_some_and(|(after, is_later)| is_later && self.times.data_at == Some(after.at));
        // Below the first byte there is nothing to repair.
        let is_certain = self.ids.is_of_its_own() && self.has_sent_unseen();
        let after = AfterTimeout {
            until,
            at,
            heard_at: self.times.heard_at,
            alone,
            is_second,
            goes_on,
            is_certain,
            ends_above: self.sack.are_lacking(),
            taken_back: false,
            untold_from: self.first_untold(self.una.map_or(self.high, |una| una + 1), at),
            reported_to: self.board.highest_end(),
            answered: (self.una, 0),
            lost_edge: None,
            is_by_asking: self.repair.heard == Heard::AskedLongAgo,
            ends_fast_repair: self.is_in_fast_repair(at),
        };
        self.repair.timeout = (until != 0).then(|| Box::new(after));
        self.emissions.on_timeout();
    }

    /// What begins at `start` is the first above the highest byte seen since a timer ran out, with nothing else repeated
    /// since, and leaves out more than the two packets that its sender may have tried before it (RFC 5682 section 2.1):
    /// that had been sent before, and so the timer gave it up as well (METRICS.md X2, RT11).
    pub(super) fn give_up_left_out(&mut self, start: i64) {
        let (high, tried) = (self.high, 2 * i64::from(self.packet_size.full()));
        let timeout = self.repair.timeout.as_deref_mut();
        let timeout = timeout.filter(|after| after.alone && !after.taken_back);
        if let Some(after) = timeout
            && after.until >= high
            && start - after.until > tried
        {
            after.until = start;
        }
    }

    /// Whether SACK told the sender of what passes at `at` that the lowest bytes are missing, longer ago than it takes until
    /// these are repeated.
    fn is_in_fast_repair(&self, at: CaptureTime) -> bool {
        let hole = self
            .una
            .and_then(|una| self.holes.first_within(una, una + 1));
        let told_at = hole.and_then(|hole| hole.told_at);
        Self::is_long_since(told_at, self.reaction_ns(), at)
    }

    /// Whether the left edge was repeated before as its sender was asked for it, in a repair that goes on.
    fn was_edge_asked_for(&self) -> bool {
        let earlier = self.una.and_then(|una| self.copy_before(una));
        self.has_repair_open()
            && earlier.is_some_and(|earlier| earlier.verdict.reason == Some(Reason::Fast))
    }

    /// Packets from `above` on that were sent once by then, of some, and whether SACK has reported each.
    fn singles(&self, above: i64, by: CaptureTime) -> impl Iterator<Item = (&Sent, bool)> {
        let parts = self.in_flight.overlapping(above, self.high).take(PARTS_MAX);
        parts
            .filter_map(|part| self.in_flight.get(part))
            .filter(move |sent| sent.start >= above && sent.is_single_by(by))
            .map(|sent| (sent, self.board.covers(sent.start, sent.end())))
    }

    /// Where the first packet from `above` on begins that was sent once by then and that no SACK has reported, among some.
    fn first_untold(&self, above: i64, by: CaptureTime) -> i64 {
        let untold = self.singles(above, by).find(|&(_, is_told)| !is_told);
        untold.map_or(i64::MAX, |(sent, _)| sent.start)
    }

    /// Whether SACK has reported a packet from `above` on that was sent once by then, among some.
    fn has_told_of_single(&self, above: Option<i64>, by: CaptureTime) -> bool {
        let above = above.unwrap_or(i64::MIN);
        self.singles(above, by).any(|(_, is_told)| is_told)
    }

    /// `segment`, which ends at `end`, is new. Where it answers what the peer sent after the ACK of all that was seen, nothing
    /// is left of what a timer gave up. Where its sender has gone on so since a timer ran out by more than the two packets that
    /// it may try (RFC 5682 section 2.1), and repeated nothing but what timers brought, although ACKs told that not all
    /// had been lost, it has taken the timeout back: who has not repeats first (METRICS.md RF5).
    #[cold]
    pub(super) fn take_back_gone_on(&mut self, segment: &Segment, end: i64) {
        if self.is_answer(segment) {
            self.repair.timeout = None;
            return;
        }
        let (una, tried) = (self.una, 2 * i64::from(self.packet_size.full()));
        let are_seen = self.sack.are_seen;
        let timeout = self.repair.timeout.as_deref_mut();
        let Some(after) = timeout.filter(|after| !after.taken_back) else {
            return;
        };
        let (before, times) = after.answered;
        if una > before {
            after.answered = (una, times.saturating_add(1));
        }
        // Without SACK the first ACK may be of what the receiver held; the next one is of nothing that was repeated.
        let not_all_lost = are_seen && una > Some(after.untold_from) || after.answered.1 >= 2;
        if after.alone && not_all_lost && end - after.until > tried {
            after.taken_back = true;
            self.emissions.forget_timeout();
        }
    }

    /// What begins at `start` fills `hole`: whether what it was sent with had been given up by a timer, which no id told.
    ///
    /// What its sender tries that is new, when a timer's repeat is answered (RFC 5682 section 2.1), leaves out all that
    /// had been sent before the timer ran out (METRICS.md X2, RT10 and RT11).
    pub(super) fn find_timer_below<S: FlowSink>(
        &mut self,
        dir: Direction,
        (segment, start): (&Segment, i64),
        hole: &Hole,
        sink: &mut S,
    ) {
        let begins = self.una == Some(start) && hole.start == start && !self.repair.goes_on();
        if !begins || self.repair.timeout.is_some() {
            return;
        }
        let index = self.in_flight.overlapping(start - 1, start).start;
        let Some(&last) = self.in_flight.get(index).filter(|last| last.end() == start) else {
            return;
        };
        let (left_out, full) = (hole.end - start, i64::from(self.packet_size.full()));
        let answered_ns = hole.opened_at.since(last.at);
        let gave_up = if last.verdict.reason == Some(Reason::Timeout) {
            // Two packets may have been tried before.
            left_out > 2 * full && answered_ns < 2 * self.delays.round_trip_ns()
        } else if self.was_sent_above(segment, hole, &last) {
            let by_ids = Verdict {
                evidence: Evidence::IpId,
                confidence: Confidence::High,
                ..TIMERS
            };
            self.judge_timers(dir, (index, &last), by_ids, sink)
        } else {
            // A sender begins again after a pause with some packets at once (RFC 5681 section 4.1, RFC 6928).
            left_out > i64::from(FLIGHT_MAX) * full
                && answered_ns >= nearly(self.delays.shortest_round_trip_ns())
                && self.may_be_timers(index, &last)
                && self.judge_timers(dir, (index, &last), TIMERS, sink)
        };
        if gave_up {
            self.begin_timeout(last.at, hole.end);
        }
    }

    /// The packet `sent`, the range at `index`, is a timer's repeat, `now`, if it was taken for new, or for a probe: that
    /// repeats the last packet, and more had been sent. Whether it was.
    fn judge_timers<S: FlowSink>(
        &mut self,
        dir: Direction,
        (index, sent): (usize, &Sent),
        now: Verdict,
        sink: &mut S,
    ) -> bool {
        if sent.verdict.reason != Some(Reason::TailProbe) {
            return self.judge_repeat(dir, (sent.start, sent.end()), now, sink);
        }
        let now = Verdict {
            reason: now.reason,
            ..sent.verdict
        };
        self.judge_again(dir, index, now, sink);
        true
    }

    /// Whether what `hole` leaves out had been sent before `last`, the packet below it, as ids tell: what opened it is the
    /// next packet, and `segment`, which fills it, came later.
    fn was_sent_above(&self, segment: &Segment, hole: &Hole, last: &Sent) -> bool {
        let Some((opener, own)) = hole.opener_id.zip(segment.ip_id) else {
            return false;
        };
        let opener = self.ids.unwrap_at(hole.opened_at, opener);
        self.ids.counts()
            && self.ids.is_of_its_own()
            && opener == self.ids.unwrap_at(last.at, last.id) + 1
            && self.ids.unwrap(own) > opener
    }

    /// Whether a timer may have run out before `sent` passed, the range at `index`.
    fn may_be_timers(&self, index: usize, sent: &Sent) -> bool {
        let before = index.checked_sub(1);
        let before = before.and_then(|before| self.in_flight.get(before));
        before.is_some_and(|before| {
            // It begins anew with the ACK of what was sent before.
            let silence_ns = sent.at.since(before.at) - self.delays.downstream.smoothed_ns();
            before.end() == sent.start && silence_ns > self.delays.run_out_ns()
        })
    }

    /// Whether more ids were skipped than repeats can have taken of what was seen to be missing: twice each, and of the
    /// lowest a probe's and another timer's. So some were of what was sent above all that was seen.
    fn has_sent_unseen(&self) -> bool {
        let missing = self.in_flight_bytes().unwrap_or(0);
        let packets = missing.div_ceil(self.packet_size.full().into());
        packets > 0 && self.emissions.unseen_new() as u64 > 2 * packets + 2
    }

    /// Up to where what a timer gave up is repeated for certain, packets included that only skipped ids tell of.
    pub(super) fn repairs_to(&self) -> i64 {
        let after = self.repair.after_timeout();
        after.map_or(i64::MIN, AfterTimeout::repairs_to)
    }

    /// Up to where the sender is known to have sent, packets included that only skipped ids tell of: where ids count,
    /// or may and there are no more than a sender begins with, or than the receiver's window has room for. Each was as
    /// large as the packets seen, with one of `len` bytes that passes.
    pub(super) fn reached(&self, len: u32) -> i64 {
        let (seen, unseen) = (self.sent_to(), self.emissions.unseen_new());
        let reached = seen + unseen as i64 * i64::from(self.packet_size.full_with(len));
        let has_room = unseen <= usize::from(FLIGHT_MAX)
            || self.window.end().is_some_and(|end| reached <= end);
        let tells = self.ids.counts() || (self.ids.may_count() && has_room);
        if tells { reached } else { seen }
    }

    /// The repeat that passed at `at`, which a timer brought, is told to have been sent for nothing. With nothing else
    /// repeated by then, as by timers before, the sender takes the timeout back (RFC 3708 section 3, RFC 4015 section 3, RFC 5682 section
    /// 2.1): what it repeats from now on, it was asked for.
    pub(super) fn undo_timeout(&mut self, at: CaptureTime) {
        let are_seen = self.sack.are_seen;
        let timeout = self.repair.timeout.as_deref_mut();
        let Some(after) = timeout.filter(|after| are_seen && after.at == at) else {
            return;
        };
        if after.alone && !after.goes_on {
            after.taken_back = true;
            self.emissions.forget_timeout();
        }
    }

    /// What ends at `end` is repeated: a timeout of a second timer is taken back by then, if an ACK or SACK has told of what
    /// was sent once before, and not reported when it ran out (RFC 5682 section 3.1). What is repeated now tells nothing of
    /// that any more.
    pub(super) fn take_back_second(&mut self, end: i64) {
        let (una, highest) = (self.una, self.board.highest_end());
        let are_seen = self.sack.are_seen;
        let timeout = self.repair.timeout.as_deref();
        let Some(after) = timeout.filter(|after| after.is_second && are_seen) else {
            return;
        };
        let is_reported = highest > after.reported_to
            && (highest
                .and_then(|highest| self.copy_before(highest - 1))
                .is_some_and(|sent| sent.is_single_by(after.at))
                || self.has_told_of_single(after.reported_to.max(una), after.at));
        let is_told = una > Some(after.untold_from) || is_reported;
        let untold_from = if after.untold_from < end {
            self.first_untold(end, after.at)
        } else {
            after.untold_from
        };
        if let Some(after) = self.repair.timeout.as_deref_mut() {
            after.untold_from = untold_from;
            after.taken_back |= is_told;
        }
        if is_told {
            self.emissions.forget_timeout();
        }
    }

    /// A repeat at `start` passes: it may show that a timeout that was taken back, as far as was known, was not.
    pub(super) fn doubt_taken_back(&mut self, start: i64) {
        let timeout = self.repair.timeout.as_deref();
        let goes_on =
            timeout.is_some_and(|after| after.taken_back && self.is_given_up(after, start));
        if let Some(after) = self.repair.timeout.as_deref_mut().filter(|_| goes_on) {
            after.taken_back = false;
            after.alone = false;
            self.emissions.on_timeout();
        }
    }

    /// Whether a repeat at `start` shows that its sender did not take back the timeout `after`: it had repeated these
    /// bytes before that, and nothing that was sent since then has been delivered but what the timer brought, so it
    /// cannot know that repeat to be lost (RFC 8985 section 6.2), unless it has given up all that was outstanding (RFC
    /// 6675 section 5.1).
    fn is_given_up(&self, after: &AfterTimeout, start: i64) -> bool {
        let Some(earlier) = self.copy_before(start) else {
            return false;
        };
        let since = earlier.at.plus_ns(1)..CaptureTime::MAX;
        let released = self.times.released_latest;
        let reported = || {
            self.board
                .highest_end()
                .is_some_and(|highest| self.in_flight.has_reported(&since, highest))
        };
        start < after.until
            && earlier.verdict.class == Class::Retransmission
            && earlier.at < after.at
            && (released <= Some(earlier.at) || released == Some(after.at))
            && !reported()
    }

    /// Data `start..end` passes at `at`: in one burst with the repeat of the left edge below it, which was taken for a
    /// timer's first, it shows that an ACK had asked for that, as a timer leaves a window of one packet (RFC 5681 section
    /// 3.1).
    #[inline]
    pub(super) fn doubt_timeout<S: FlowSink>(
        &mut self,
        dir: Direction,
        (start, end): (i64, i64),
        at: CaptureTime,
        sink: &mut S,
    ) {
        if self.repair.after_timeout().is_some() {
            self.take_back_timeout(dir, (start, end), at, sink);
        }
    }

    /// How long one burst of packets takes at most, in ns.
    pub(super) fn burst_ns(&self) -> i64 {
        BURST_NS.min(self.delays.round_trip_ns() / 8)
    }

    /// Whether an ACK that passed at `heard_at` cannot have been answered yet by what passes at `at`, be that twice as
    /// quick as any answer before.
    fn is_unheard(&self, heard_at: CaptureTime, at: CaptureTime) -> bool {
        let trip_ns = self.delays.upstream.min_ns().unwrap_or(0);
        at.since(heard_at) < trip_ns / 2
    }

    /// Whether what begins at `start` is a repeat that goes on where the last one ended, or above, of a sender that got an ACK
    /// since it sent what its timer brought, which passed at `timer_at`: what SACK reports opens the window of some, such as
    /// BBR's, that have given up all that was outstanding. Not of one that finds out which of its repeats are lost.
    fn goes_on_by_acks(&self, start: i64, timer_at: CaptureTime) -> bool {
        let trip_ns = self.delays.upstream.min_ns().unwrap_or(0);
        let heard = self.times.heard_at;
        let goes_on = self.repair.last_repeat.end(self.high) <= Some(start);
        self.sack.are_seen
            && goes_on
            && start < self.high
            && !self.repair.finds_lost()
            && heard.is_some_and(|passed| passed.plus_ns(trip_ns) > timer_at)
    }

    #[cold]
    fn take_back_timeout<S: FlowSink>(
        &mut self,
        dir: Direction,
        (start, end): (i64, i64),
        at: CaptureTime,
        sink: &mut S,
    ) {
        let asked = self.acks.dup_run > 0 || self.board.highest_end().is_some();
        let first = self.repair.after_timeout().filter(|after| !after.goes_on);
        let timer_at = first.map(|after| after.at);
        if timer_at.is_some_and(|timer_at| self.goes_on_by_acks(start, timer_at)) {
            return;
        }
        let heard_at = self.times.heard_at;
        let heard_nothing = first.is_some_and(|after| after.heard_at == heard_at);
        // Of who was asked all the time only the ACK of the repeat itself opens the window.
        let was_asked = first.is_some_and(|after| after.is_by_asking);
        let unanswered_ns = was_asked.then(|| nearly(self.delays.shortest_round_trip_ns()));
        let soon_ns = unanswered_ns.unwrap_or_else(|| self.burst_ns());
        // Some count their window in bytes, and fill it with several packets.
        let window = i64::from(self.packet_size.largest());
        let Some(&edge) = self.in_flight.nth_unacked(0).filter(|edge| {
            let before = self.in_flight.earlier.of(edge.start).last();
            asked
                && timer_at == Some(edge.at)
                && edge.verdict.reason == Some(Reason::Timeout)
                && self.times.data_at == Some(edge.at)
                && edge.end() <= start
                && end - edge.start > window
                && at.since(edge.at) <= soon_ns
                // What no ACK came before since it passed, none has asked for.
                && before.is_none_or(|before| heard_at >= Some(before.at))
                && (heard_nothing
                    || was_asked
                    || heard_at.is_some_and(|heard_at| self.is_unheard(heard_at, at)))
        }) else {
            // It may have been acknowledged behind this point by now.
            if was_asked && timer_at.is_some_and(|timer_at| at.since(timer_at) <= soon_ns) {
                self.repair.timeout = None;
                self.emissions.forget_timeout();
            }
            return;
        };
        let now = Verdict {
            reason: Some(Reason::Fast),
            ..edge.verdict
        };
        self.repair.timeout = None;
        self.emissions.forget_timeout();
        self.forget_timeout_of(edge.at);
        // One packet, whatever it repeats, is told of once.
        let index = self.in_flight.overlapping(edge.start, edge.start + 1).start;
        for part in self.in_flight.one_packet(index) {
            if let Some(sent) = self.in_flight.get_mut(part) {
                sent.verdict = now;
            }
        }
        let amendment = Amendment {
            ordinal: None,
            sent_at: edge.at,
            offset: edge.start,
            payload_len: edge.len,
            was: edge.verdict,
            now,
        };
        self.tell_amendment(dir, amendment, edge.row, sink);
    }

    /// The stream goes on with `segment` after what was taken for a timer's repeat: whether that was one.
    #[cold]
    pub(super) fn doubt_timer<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        step: Step,
        sink: &mut S,
    ) {
        // A timer opens the window for one packet (RFC 5681 section 3.1, RFC 8985 section 7.3): a
        // second one before any ACK and any further timer shows that there was none. Ids skipped in the
        // pause were taken by others then, and older ones by repeats that were lost. While none are open
        // there is nothing to tell apart.
        let echo = segment.timestamps.map(|ts| ts.echo);
        let no_ack_since = self.una.is_some() && !self.emissions.timer_is_answered()
            || self.emissions.is_unheard(echo);
        if self.repair.last.is_timer()
            && no_ack_since
            && !self.emissions.is_idle()
            && !self.is_quiet(segment.at)
        {
            if self.repair.last == Last::TimerBehindSkipped {
                self.ids.share();
                self.emissions = Emissions::default();
            } else {
                self.emissions.forget_timer();
            }
            self.repair.is_of_tail = false;
            self.take_back_timer(dir, sink);
        }
        // What was lost with it would have been repeated when it was acknowledged, a round trip later here.
        let late_ns = 2 * self.delays.round_trip_ns();
        let is_late = self.times.progress_at > self.times.data_at
            && self
                .times
                .progress_at
                .is_some_and(|progress| segment.at.since(progress) > late_ns);
        // Or its sender went on with new data first (RFC 5682 section 2.1), which was lost, too, before a further timer.
        let may_have_gone_on = step.skipped() > 0 && self.ids.is_confirmed();
        if is_late && self.emissions.has_surplus() && !may_have_gone_on {
            self.ids.doubt();
            self.emissions = Emissions::default();
            self.repair.is_of_tail = false;
            self.take_back_timer(dir, sink);
        } else if is_late
            && matches!(step, Step::Ahead(0) | Step::Early(0))
            && self.delays.upstream.min_ns().is_some()
        {
            // Nothing was: timers had taken more of the ids that were skipped.
            self.emissions.forget_unseen_new();
        }
    }
}
