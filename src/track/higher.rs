//! What a segment is that extends the highest byte seen: new, or what was lost before without a hole to show it.

use super::delays::{TICKS_NS, TIMER_NS_MIN, nearly};
use super::half::HalfFlow;
use super::ids::Step;
use super::in_flight::{Marks, PARTS_MAX};
use super::marking::Emission;
use super::rtt::OwnEcho;
use crate::decode::Segment;
use crate::event::{Class, Confidence, Evidence, LossPlace, Reason, Verdict};
use crate::time::CaptureTime;

/// How it was told what a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// By ids that were skipped, or nothing tells otherwise.
    Order,
    /// Its sender was known to have sent that far.
    SentTo,
    /// By what its receiver reported, or its own mark.
    Itself,
}

impl HalfFlow {
    /// What `segment` is, which begins at or above the highest byte seen.
    pub(super) fn judge_higher(
        &mut self,
        segment: &Segment,
        (start, end): (i64, i64),
        step: Step,
    ) -> (Verdict, Told) {
        let is_late = matches!(step, Step::Behind(_));
        if segment.payload_len <= 1 && self.window.is_closed() {
            self.old_copies.on_probe();
            let verdict = Verdict::of(Class::WindowProbe, Evidence::Sequence, Confidence::High);
            return (verdict, Told::Order);
        }
        if self.emission_by_mark(segment) == Some(Emission::First) {
            return (Verdict::NEW, Told::Itself);
        }
        if self.was_sent(segment, end, step) {
            let evidence = self.emissions.sent_to_evidence();
            let verdict = self.lost_tail_of_timers(start, end, segment, evidence);
            return (verdict, Told::SentTo);
        }
        if !is_late && let Some(verdict) = self.judge_below_report(start, end, segment.at) {
            return (verdict, Told::Itself);
        }
        let verdict = if self.cannot_repeat(step, start) || self.answers(segment, start, step) {
            Verdict::NEW
        } else {
            self.judge_new(segment, start, end)
        };
        if verdict == Verdict::NEW && self.is_lost_by_mark(segment) {
            let verdict = self.lost_tail_of_timers(start, end, segment, Evidence::Ecn);
            return (verdict, Told::Itself);
        }
        (verdict, Told::Order)
    }

    /// What a segment is at or above the highest byte seen. Where it is the first to echo anything, the time since that may
    /// be that of its sender's silence, and tells nothing of the way to it.
    fn judge_new(&mut self, segment: &Segment, start: i64, end: i64) -> Verdict {
        let is_own = self.own_echo == OwnEcho::Counted && self.delays.upstream.is_single();
        let own = is_own.then(|| std::mem::take(&mut self.delays.upstream));
        let verdict = self.judge_new_by_others(segment, start, end);
        if let Some(own) = own
            && verdict.reason.is_none_or(|reason| reason == Reason::Fast)
        {
            self.delays.upstream = own;
        }
        verdict
    }

    /// A segment at or above the highest byte seen is new, unless all copies before it were lost
    /// upstream and nothing sent after them arrived: then only skipped ids tell.
    // Called once.
    #[inline(always)]
    fn judge_new_by_others(&mut self, segment: &Segment, start: i64, end: i64) -> Verdict {
        // Nothing was delivered after a lost tail, so only a timer tells the sender of it; the
        // shortest is a tail probe's (RFC 8985 section 7.2). What else was lost follows.
        // A repair may go on for bytes above the highest seen, for a round trip after the last repeat.
        let repairs = self.is_repairing_tail(segment.at);
        let is_quiet = self.is_quiet(segment.at);
        if !repairs && !is_quiet {
            return Verdict::NEW;
        }
        // Of a counter of all connections, ids were skipped by others of these.
        if !self.are_ids_unshared() {
            return Verdict::NEW;
        }
        // What was sent in order above was sent after this.
        if repairs && self.emissions.lay_above(start) {
            return self.lost_tail(start, end, segment, Evidence::IpId);
        }
        // Nothing is repeated sooner than a round trip after it was sent: the shortest one seen,
        // or most of a usual one, which a queue may have made much longer.
        let usual_ns = if repairs {
            self.delays.downstream.recent_ns() + self.delays.upstream.recent_ns()
        } else {
            self.delays.round_trip_ns()
        };
        let round_trip_ns = self.delays.shortest_round_trip_ns().max(usual_ns / 4 * 3);
        // While one half is unknown, only a timer's time is long enough for certain.
        let round_trip_ns = match self.delays.upstream.min_ns() {
            Some(_) => round_trip_ns,
            None => self.delays.run_out_ns(),
        };
        let above = end - self.high;
        let len = segment.payload_len;
        let mss = self.skipped_len(above, len);
        // While SACK tells of losses there is no probe (RFC 8985 section 7.2), and a timer repeats the lowest bytes
        // first.
        let steered = self.sack.are_seen
            && !self.emissions.repeats_all()
            && self.una.is_some_and(|una| una < start)
            && (self.has_repair_open() || self.board.highest_end().is_some());
        // A probe repeats the last packet alone, a repair what lies below it first: that was skipped twice, and counted
        // once where a timer brings it.
        let hole = (above - i64::from(len)).max(0);
        let below = if self.may_be_probed(segment.at) || self.emissions.repeats_all() {
            hole
        } else {
            2 * hole
        };
        let by = segment.at.plus_ns(-round_trip_ns);
        if self
            .emissions
            .was_sent_before(above, below, len, mss, by, steered)
        {
            self.lost_tail(start, end, segment, Evidence::IpId)
        } else {
            Verdict::NEW
        }
    }

    /// Whether a sender that SACK tells of losses had nothing to repeat below the highest byte seen before what it sends
    /// `silence_ns` after the packet before: all that is not acknowledged has passed, and nothing that passed later has been
    /// delivered, which is what tells of a loss (RFC 6675 section 4, RFC 8985 section 6.2), nor can a timer have run out.
    pub(super) fn has_nothing_below(&self, silence_ns: i64) -> bool {
        let tells = self.sack.are_seen && silence_ns < nearly(TIMER_NS_MIN);
        let Some(una) = self.una.filter(|_| tells) else {
            return false;
        };
        let delivered_at = self.times.reported_latest.max(self.times.released_latest);
        // With the last one before it, though that may be acknowledged.
        let parts = self
            .in_flight
            .overlapping(una.min(self.high - 1), self.high);
        let mut sent = parts.clone().filter_map(|part| self.in_flight.get(part));
        let mss = self.packet_size.mss;
        self.holes.first_within(una, self.high).is_none()
            && parts.len() <= PARTS_MAX
            && sent.all(|sent| {
                let is_done = sent.end() <= una || sent.marks.has(Marks::SACKED);
                // A frame of several packets may have taken more ids than it seems to, where a path takes shorter ones.
                (is_done || Some(sent.at) > delivered_at)
                    && !mss.may_be_several(sent.len, sent.tsval != 0)
            })
    }

    /// Whether a packet at or above the highest byte seen that begins at `start` is new for certain: what was
    /// skipped and is here now, however late; and what leaves bytes out right behind a repeat, as two packets
    /// after a timeout do (RFC 5682 section 2.1), since what is repeated is repeated in order.
    pub(super) fn cannot_repeat(&self, step: Step, start: i64) -> bool {
        let follows_repeat = self.repair.is_of_tail || self.is_highest_repeat();
        let leaves_out = follows_repeat && start > self.high && !self.may_go_on_at(start);
        matches!(step, Step::Behind(_)) || (leaves_out && step == Step::Ahead(0))
    }

    /// Whether `segment`, which begins at `start`, answers data of the peer that came after the ACK of all that was seen:
    /// who had something to repeat had done so when it heard of that ACK, and nothing was sent in between, as ids tell.
    fn answers(&self, segment: &Segment, start: i64, step: Step) -> bool {
        step == Step::Ahead(0) && start == self.high && self.is_answer(segment)
    }

    /// Whether who sends `segment` had heard that all that was seen is acknowledged, and of what came after that.
    pub(super) fn is_answer(&self, segment: &Segment) -> bool {
        let echo = segment.timestamps.map(|ts| ts.echo);
        let is_later = || {
            let trip_ns = self.delays.upstream.patience_ns() + TICKS_NS;
            let progress_at = self.times.progress_at;
            self.delays.upstream.min_ns().is_some()
                && progress_at.is_some_and(|progress| segment.at.since(progress) > trip_ns)
        };
        self.una >= Some(self.high)
            && self.owes_ack
            && (self.emissions.has_heard_more(echo) || is_later())
    }

    /// Whether a repair before any timer may go on at `start`: what lies between the highest byte seen and that may
    /// have been repeated by what was skipped since.
    fn may_go_on_at(&self, start: i64) -> bool {
        let packets = (start - self.high) / i64::from(self.packet_size.full());
        let skipped = self.emissions.skipped_at(self.high);
        !self.emissions.repeats_all()
            && skipped.is_some_and(|skipped| i64::from(skipped) >= packets)
    }

    /// Whether the last data packet repeated bytes, and none above them had been repeated in that repair.
    fn is_highest_repeat(&self) -> bool {
        self.repair
            .last_repeat
            .end(self.high)
            .is_some_and(|end| self.emissions.repeated_to().is_none_or(|to| to <= end))
    }

    /// Whether a packet at or above the highest byte seen that passes at `at` may go on with a repair.
    pub(super) fn is_repairing_tail(&self, at: CaptureTime) -> bool {
        let pause_ns = self.times.data_at.map_or(0, |last| at.since(last));
        // What answers the ACK of a repeat comes as late as queues on both halves of the path make it.
        let lately = self.repair.last_repeat.is_some()
            && (pause_ns <= self.delays.round_trip_ns() / 2 * 3 || !self.is_quiet(at));
        self.repair.goes_on() || self.repair.is_of_tail || lately
    }

    /// Whether what is repeated at `at` from `start` on, above the highest byte seen, goes on with a repair, for which it
    /// needs no timer.
    pub(super) fn goes_on_repairing(&self, at: CaptureTime, start: i64) -> bool {
        // One that SACK steers goes on for what was lost above all that arrived.
        let steered = self.sack.are_seen && !self.emissions.repeats_all();
        self.repair.is_of_tail
            || self.repair.goes_on()
            || steered && (self.is_repairing_tail(at) || self.waited_for_late(start))
    }

    /// Whether what is repeated from `start` on, the lowest of several packets, had been told to be lost by the ACK of a
    /// repeat, and waited longer than that takes for what might have been late alone: a round trip at most (RFC 8985
    /// section 6.2, step 5), before any timer ran out, and a probe would have brought the last of them.
    fn waited_for_late(&self, start: i64) -> bool {
        let skipped = self.emissions.skipped_at(self.high);
        skipped.is_some_and(|skipped| skipped > 1) && self.is_told_by_repeat(start)
    }

    /// Whether the ACK of a repeat, in a repair that SACK steers, has told its sender that what begins at `start`, above that,
    /// and was sent before it is lost (RFC 8985 section 6.2).
    pub(super) fn is_told_by_repeat(&self, start: i64) -> bool {
        let repeated = self.repair.last_repeat.end(self.high);
        self.sack.are_seen && repeated.is_some_and(|end| end <= start)
    }

    /// Whether what is repeated at `at` above the highest byte seen goes on with all that a timer gave up: it needs no further
    /// timer. Few skipped ids may have been further repeats of the lowest bytes, as they were asked for, probed for, and by another
    /// timer.
    pub(super) fn goes_on_giving_up(&self, at: CaptureTime) -> bool {
        const REPEATS_MAX: usize = 3;
        let is_known = || {
            self.repair
                .after_timeout()
                .is_some_and(|after| after.ends_fast_repair)
        };
        self.emissions.repeats_all()
            && (self.emissions.unseen_new() > REPEATS_MAX || is_known())
            && !self.is_quiet(at)
    }

    /// The same as [`lost_tail`](Self::lost_tail) where it is told of each packet: what goes on with a timer's repeat above
    /// the highest byte seen had been given up with it (RFC 6675 section 5.1).
    fn lost_tail_of_timers(
        &mut self,
        start: i64,
        end: i64,
        segment: &Segment,
        evidence: Evidence,
    ) -> Verdict {
        let mut verdict = self.lost_tail(start, end, segment, evidence);
        let index = self.in_flight.overlapping(start - 1, start).start;
        let below = self
            .in_flight
            .get(index)
            .and_then(|below| below.verdict.reason);
        if verdict.reason == Some(Reason::Fast) && below == Some(Reason::Timeout) {
            verdict.reason = Some(Reason::Timeout);
        }
        verdict
    }

    /// That `segment` repeats `start..end`, above the highest byte seen, whose first copy was lost before it came here.
    pub(super) fn lost_tail(
        &mut self,
        start: i64,
        end: i64,
        segment: &Segment,
        evidence: Evidence,
    ) -> Verdict {
        Verdict {
            class: Class::Retransmission,
            reason: Some(self.reason(start, end, segment.at)),
            lost: Some(LossPlace::Upstream),
            evidence,
            confidence: Confidence::Medium,
        }
    }
}
