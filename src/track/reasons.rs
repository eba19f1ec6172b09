//! Why a sender repeated what it had sent.

use super::delays::{Delays, PROBE_NS_MIN, TICKS_NS, TIMER_NS_MIN, UNSET_TIMER_NS_MIN, nearly};
use super::half::HalfFlow;
use super::in_flight::{Marks, PARTS_MAX, Sent};
use super::repair::Heard;
use super::rtt::OwnEcho;
use crate::decode::Segment;
use crate::event::{Class, Reason};
use crate::time::CaptureTime;

impl HalfFlow {
    /// Why the sender repeated `start..end` at `at`.
    ///
    /// What a timer or a probe brings echoes what its sender had heard long before: the time since is that of its
    /// silence, and tells nothing of the way to it.
    pub(super) fn reason(&mut self, start: i64, end: i64, at: CaptureTime) -> Reason {
        let with_own = self.delays.upstream;
        if self.own_echo == OwnEcho::Counted {
            self.delays.upstream = with_own.before_latest();
        }
        let reason = self.reason_by_others(start, end, at);
        let ran_out = self
            .repair
            .timeout
            .as_deref()
            .is_some_and(|after| after.at == at);
        if !ran_out && reason != Reason::TailProbe {
            self.delays.upstream = with_own;
        }
        reason
    }

    /// The same, by what the packets before it tell of the path.
    fn reason_by_others(&mut self, start: i64, end: i64, at: CaptureTime) -> Reason {
        let una = self.una.unwrap_or(i64::MIN);
        let len = (end - start) as u32;
        let silence_ns = self.quiet_ns(at);
        let reported_above =
            self.board.highest_end().is_some_and(|high| high > end) || self.acks.dup_run >= 3;
        // A probe repeats the last segment, or the end of it; what begins below that is more than one. Where numbers
        // tell of what was sent above, they do so to the byte, but for that of a FIN; ids do to a packet.
        let is_last = end + 1 >= self.sent_to()
            && end + i64::from(self.packet_size.full_with(len)) > self.reached(len)
            && end >= self.high
            && self
                .in_flight
                .highest_start()
                .is_none_or(|last| start >= last);
        if !reported_above
            && is_last
            && self.repair.may_probe(una)
            && (!self.has_repair_open() || self.is_of_no_timer(start, silence_ns))
            && (silence_ns > self.delays.round_trip_ns() || self.is_probe_above(start, end, at))
            && !self.is_late_for_probe(start, silence_ns)
        {
            // Nobody probes without SACK (RFC 8985 section 7), nor did an ACK ask for it.
            if self.sack.are_lacking() {
                return self.timed_out(at, len);
            }
            self.repair.begin_probe(self.high.max(end));
            return Reason::TailProbe;
        }
        // The timer runs from the last progress and may have been set a little before it passed here.
        let timer_ns = self.delays.run_out_ns();
        if silence_ns > timer_ns {
            // What waited in queues has left them.
            self.old_copies
                .forget_queue(self.delays.downstream.min_ns());
        }
        let timed_out = silence_ns > timer_ns
            || silence_ns > self.untold_timer_ns(start) && self.is_edge_untold(start)
            || self.is_edge_silent(start, at)
            || self.is_unasked(start, end, at) && !self.is_too_soon_for_timers(start, at)
            || self.ran_out_while_writing(start, at, timer_ns)
            || self.ran_out_while_told(start, at)
            || self.repair.heard == Heard::AskedLongAgo
            || self.repeats_again_unasked(start, end, at);
        if timed_out {
            return self.timed_out(at, len);
        }
        self.asked_for(start, end, at)
    }

    /// The same of what no timer can have brought when it was sent, but one that ran out before.
    pub(super) fn asked_for(&mut self, start: i64, end: i64, at: CaptureTime) -> Reason {
        let una = self.una.unwrap_or(i64::MIN);
        let timer_ns = self.delays.run_out_ns();
        self.take_back_second(end);
        self.doubt_taken_back(start);
        let Some(after) = self.repair.after_timeout() else {
            // Who repeats something else has taken a timeout back that was for nothing.
            self.repair.timeout = None;
            return Reason::Fast;
        };
        let is_outstanding = start < after.until;
        // The timer gave up what was sent before it ran out, once. A repeat that was made since is lost, too, as ACKs
        // of what was sent later tell a round trip after it, and its sender enters fast recovery (RFC 8985 section
        // 6.2); or the timer, which SACK does not set anew (RFC 6298 section 5.3), has run out again.
        let seen_at = || {
            let earlier = self.copy_before(start).map(|earlier| earlier.at);
            let is_late =
                |earlier| at.since(earlier) >= nearly(self.delays.shortest_round_trip_ns());
            earlier.filter(|&earlier| earlier >= after.at && is_late(earlier))
        };
        if is_outstanding
            && self.sack.are_seen
            && let Some(earlier) = seen_at().or_else(|| self.lost_edge_at(after, start, at))
        {
            let set_at = self.set_anew_since(earlier, at);
            if start <= una && at.since(set_at) > timer_ns {
                return self.timed_out(at, (end - start) as u32);
            }
            self.repair.timeout = None;
            return Reason::Fast;
        }
        // What was outstanding when it ran out is lost to its sender, which does not enter fast recovery before all of
        // it is acknowledged, whatever SACK reports in the meantime (RFC 6675 section 5.1, RFC 6582 section 4).
        // What was sent since may have been asked for by what is reported above.
        // Where all is acknowledged that was outstanding, and without SACK that is not the end, who repeats something
        // before the timer heeds duplicate ACKs all the same.
        let repairs = is_outstanding
            || self.board.highest_end().is_none_or(|high| high <= end) && una < after.until;
        if let Some(after) = self.repair.timeout.as_deref_mut() {
            after.alone = false;
        }
        if start >= una && repairs {
            return Reason::Timeout;
        }
        Reason::Fast
    }

    /// When the timer was set last of who repeats at `at` what it had repeated at `earlier`: an ACK that makes progress sets it
    /// anew (RFC 6298 section 5.3). But not by some while they repair (RFC 6582 section 4), who do not find out either that
    /// a repeat is lost: nothing came for half a round trip and more since they were told of what they had sent later.
    fn set_anew_since(&self, earlier: CaptureTime, at: CaptureTime) -> CaptureTime {
        let heard = self.heard_progress(at).map(|(_, heard)| heard);
        let told_by = at.plus_ns(-(self.delays.round_trip_ns() / 2 * 3));
        let later = earlier.plus_ns(1)..told_by;
        let highest = self.board.highest_end();
        let was_told = highest.is_some_and(|highest| self.in_flight.has_reported(&later, highest));
        heard
            .filter(|_| !was_told)
            .map_or(earlier, |heard| earlier.max(heard))
    }

    /// What who sent `segment` had heard of the hole that it fills. Who had heard of the ACK that asked for it, but not
    /// yet of one that passed here sooner after that than a timer runs out, repeats it since it was asked to, however
    /// long that takes to come back. Who misses something of what its `peer` sent takes no clock of what comes then.
    pub(super) fn has_heard(&self, segment: &Segment, peer: &Self) -> Heard {
        let Some(unwrapper) = self.unwrapper().filter(|_| self.sack.are_seen) else {
            return Heard::Unknown;
        };
        let start = unwrapper.offset(segment.seq, self.high);
        let Some(hole) = self.holes.first_within(start, start + 1) else {
            return self.has_heard_of_copy(segment, start, peer);
        };
        let Some(timestamps) = segment.timestamps else {
            return match hole.asked_at {
                Some(asked_at) if self.is_first_since(asked_at) => Heard::Asked,
                Some(asked_at) if self.was_asked_untimed(start, asked_at, segment.at) => {
                    Heard::AskedLongAgo
                }
                _ => Heard::Unknown,
            };
        };
        if !peer.is_whole_at(segment) {
            return Heard::Unknown;
        }
        let Some(unheard_at) = peer.echoes.passed_after(timestamps.echo) else {
            // It had heard all.
            let heard = hole.asked_at.zip(self.times.heard_at);
            let is_long_ago = heard.is_some_and(|(asked_at, heard_at)| {
                self.was_asked_long_ago(start, asked_at, heard_at)
            });
            return if is_long_ago {
                Heard::AskedLongAgo
            } else {
                Heard::Unknown
            };
        };
        if hole.told_at.is_some_and(|told_at| unheard_at <= told_at) {
            return Heard::Nothing;
        }
        let timer_ns = self.delays.run_out_ns();
        // What it has not heard of may have been lost on the way, and its own clock may tell that it was silent since.
        let own_silence_ns = self.own_silence_ns(timestamps.value, segment.at);
        if own_silence_ns.is_some_and(|own_ns| own_ns > timer_ns) {
            return Heard::Unknown;
        }
        let Some(asked_at) = hole.asked_at else {
            return Heard::Unknown;
        };
        let within_ns = unheard_at.since(asked_at);
        if self.was_asked_long_ago(start, asked_at, unheard_at) {
            Heard::AskedLongAgo
        } else if 0 < within_ns && within_ns < timer_ns {
            Heard::Asked
        } else {
            Heard::Unknown
        }
    }

    /// The same of the left edge, at `start`, that passed here once: who repeats it long after it was asked to has done so
    /// before, and that was lost on its way here.
    fn has_heard_of_copy(&self, segment: &Segment, start: i64, peer: &Self) -> Heard {
        // Nearly always, told at once: no timer runs out so soon.
        let timer_ns = Some(UNSET_TIMER_NS_MIN);
        if self.una != Some(start)
            || !Self::is_long_since(self.times.progress_at, timer_ns, segment.at)
        {
            return Heard::Unknown;
        }
        let first = self.copy_before(start).filter(|first| first.copies == 1);
        let asked_at = first.and_then(|first| self.asked_after(first));
        let is_long_ago = asked_at.is_some_and(|asked_at| match segment.timestamps {
            Some(timestamps) => {
                let unheard_at = peer.echoes.passed_after(timestamps.echo);
                let heard_at = unheard_at.or(self.times.heard_at);
                peer.is_whole_at(segment)
                    && heard_at
                        .is_some_and(|heard_at| self.was_asked_long_ago(start, asked_at, heard_at))
            }
            None => self.was_asked_untimed(start, asked_at, segment.at),
        });
        if is_long_ago {
            Heard::AskedLongAgo
        } else {
            Heard::Unknown
        }
    }

    /// When ACKs had asked for `first` at the latest: they reported three packets that were sent since (RFC 6675 section 4).
    fn asked_after(&self, first: &Sent) -> Option<CaptureTime> {
        let above = (1..PARTS_MAX).map_while(|n| self.in_flight.nth_unacked(n));
        let mut came = above.filter(|sent| {
            sent.marks.has(Marks::SACKED) && sent.copies == 1 && sent.at >= first.at
        });
        let third = came.nth(2)?;
        Some(third.at.plus_ns(self.delays.downstream.patience_ns()))
    }

    /// Whether who repeats the left edge, at `start`, had been asked for it at `asked_at`, round trips before what it had
    /// heard of by then, at `heard_at`, and had heard of no progress for as long as a timer takes: who is asked
    /// repeats it at once, and who finds that to be lost, too, does so a round trip and a quarter later (RFC 8985 section
    /// 6.2). Progress in a repair need not set the timer anew (RFC 6582 section 4): where it would have been repeated three
    /// times by then, half of the time will do.
    fn was_asked_long_ago(&self, start: i64, asked_at: CaptureTime, heard_at: CaptureTime) -> bool {
        let round_trip_ns = self.delays.round_trip_ns();
        let asked_ns = heard_at.since(asked_at);
        let often = asked_ns >= 4 * round_trip_ns && !self.repair.finds_lost();
        let timer_ns = if often {
            UNSET_TIMER_NS_MIN
        } else {
            nearly(TIMER_NS_MIN)
        };
        self.una == Some(start)
            && !self.old_copies.are_told_by_dsacks()
            && asked_ns >= 2 * round_trip_ns
            && Self::is_long_since(
                self.times.progress_at,
                Some(timer_ns.max(round_trip_ns)),
                heard_at,
            )
    }

    /// The same without timestamps, of what passes at `at`: queues on the way to its sender do not show, but who has repeated
    /// something above as it was asked for has answered by then, the lowest first (RFC 6675 section 5).
    fn was_asked_untimed(&self, start: i64, asked_at: CaptureTime, at: CaptureTime) -> bool {
        let heard_at = at.plus_ns(-self.delays.upstream.patience_ns());
        self.repair.was_asked_above(start) && self.was_asked_long_ago(start, asked_at, heard_at)
    }

    /// Whether the packet that is judged is the first that its sender sent since it heard of an ACK that passed at
    /// `asked_at`, as ids tell, and three ACKs asked for it, of which one will have come to it.
    fn is_first_since(&self, asked_at: CaptureTime) -> bool {
        let heard_at = asked_at.plus_ns(nearly(self.delays.upstream.min_ns().unwrap_or(0)));
        self.ids.counts()
            && self.ids.last_skipped() == 0
            && self.times.packet_at() < Some(heard_at)
            && self.acks.dup_run >= 3
    }

    /// The copy that passed last of what begins at `start`.
    pub(super) fn copy_before(&self, start: i64) -> Option<&Sent> {
        let index = self.in_flight.overlapping(start, start + 1).start;
        let earlier = self.in_flight.get(index);
        earlier.filter(|sent| sent.start <= start)
    }

    /// Whether what ends at `end` was repeated as it was asked for.
    pub(super) fn was_asked_before(&self, end: i64) -> bool {
        self.copy_before(end - 1)
            .is_some_and(|sent| sent.verdict.reason == Some(Reason::Fast))
    }

    /// Whether nothing can have made the sender repeat the packet from `start` to `end` so shortly after it sent
    /// `earlier`: neither it nor anything above was acknowledged or reported, which is what asks for repeats (RFC 5681,
    /// RFC 6675 section 5, RFC 8985 section 6.2), and no timer is so quick, but the one that repeats the last packet
    /// alone.
    pub(super) fn has_no_reason(&self, start: i64, end: i64, earlier: &Sent, gap_ns: i64) -> bool {
        let Some(una) = self.una.filter(|&una| una <= start) else {
            return false;
        };
        let reported = self.board.highest_end().is_some_and(|high| high > start);
        // With SACK duplicate ACKs tell of nothing above what they report.
        let asked = self.acks.dup_run > 0 && !self.sack.are_seen;
        let repairs = self.repair.goes_on() || self.repair.after_timeout().is_some();
        let soon_ns = if end == self.high {
            self.delays.round_trip_ns().min(TIMER_NS_MIN)
        } else {
            TIMER_NS_MIN
        };
        !(reported || repairs || asked || earlier.is_refused(una)) && gap_ns < soon_ns
    }

    /// Whether what was repeated is not acknowledged yet, nor all that had been sent by then: nobody probes meanwhile
    /// (RFC 8985 section 7.2).
    pub(super) fn has_repair_open(&self) -> bool {
        self.repair
            .until()
            .is_some_and(|until| self.una < Some(until))
    }

    /// Whether a silence before a repeat of what begins at `start` is too long for a probe, and nothing lower is
    /// outstanding, so that a timer repeats it. Since when its sender was silent is not known where the first copy was lost
    /// before it came here; then a probe comes first, and no id was skipped but for that copy.
    fn is_late_for_probe(&self, start: i64, silence_ns: i64) -> bool {
        let is_first = start >= self.high
            && self.do_ids_tell()
            && self.emissions.skipped_at(self.high) == Some(1);
        if is_first {
            return false;
        }
        let is_lowest = self.una.is_none_or(|una| start <= una);
        let longest_ns = self.delays.probe_ns_max();
        is_lowest && longest_ns.is_some_and(|longest_ns| silence_ns > longest_ns)
    }

    /// Whether what begins at `start` is repeated after a silence as long as a timer takes, though that repeats the lowest
    /// bytes.
    fn is_of_no_timer(&self, start: i64, silence_ns: i64) -> bool {
        self.una.is_some_and(|una| una < start)
            && silence_ns > self.delays.run_out_ns()
            && self.repair.after_timeout().is_none()
    }

    /// Whether the last segment, `start..end`, is repeated unasked although lower ones are outstanding, of which a timer
    /// repeats the lowest: a probe waits no longer than the timer would (RFC 8985 section 7.2), which may be less than
    /// a round trip.
    fn is_probe_above(&self, start: i64, end: i64, at: CaptureTime) -> bool {
        self.sack.are_seen
            && self.una.is_some_and(|una| una < start)
            && self.repair.after_timeout().is_none()
            && self.is_unasked(start, end, at)
    }

    /// Whether nothing that its sender can have got since it sent the copy before asked for a repeat of `start..end`.
    fn is_unasked(&self, start: i64, end: i64, at: CaptureTime) -> bool {
        // Where the clock stepped back since, nothing is known of the time between.
        let Some(earlier) = self.copy_before(start).filter(|earlier| earlier.at <= at) else {
            return false;
        };
        if self.is_timers_again(earlier, start, at) || self.has_run_out_since(earlier, start, at) {
            return true;
        }
        let (Some(heard_at), Some(_)) = (self.times.heard_at, self.delays.upstream.min_ns()) else {
            return false;
        };
        let unheard = earlier.at.since(heard_at) > self.delays.upstream.patience_ns();
        unheard && !self.is_cut_anew(earlier, (start, end), at)
    }

    /// Whether what begins at `start` and passes at `at` was sent once before, in a frame of several packets, and less than a
    /// round trip ago, or than any timer takes, and none had run out: none is so quick of who leaves segmentation to its
    /// card, as timers of some simulators are. A router said that packets are too big (RFC 1191).
    fn is_too_soon_for_timers(&self, start: i64, at: CaptureTime) -> bool {
        let trip_ns = self.delays.shortest_round_trip_ns();
        let soon_ns = nearly(trip_ns.max(PROBE_NS_MIN));
        self.repair.after_timeout().is_none()
            && self.copy_before(start).is_some_and(|earlier| {
                let is_first = earlier.copies == 1 && earlier.verdict.class == Class::New;
                let is_frame =
                    earlier.len > self.packet_size.full() || earlier.marks.has(Marks::FRAMED);
                is_first && is_frame && at.since(earlier.at) < soon_ns
            })
    }

    /// Whether a repeat of `earlier`, a packet or a frame of several, is a smaller one and comes sooner than common timers: a router said that
    /// packets are too big (RFC 1191).
    pub(super) fn is_cut_anew(
        &self,
        earlier: &Sent,
        (start, end): (i64, i64),
        at: CaptureTime,
    ) -> bool {
        let full = self.packet_size.full();
        let is_smaller = end - start < i64::from(earlier.len);
        // What another one has left of it.
        let is_rest = [Marks::REST, Marks::PARTED, Marks::FRAMED]
            .into_iter()
            .any(|mark| earlier.marks.has(mark));
        let goes_on = is_rest && self.repair.last_repeat.end(self.high) == Some(start);
        // A frame of several packets is cut into others of several.
        let is_frame = earlier.len > full || is_rest && end - start > i64::from(full);
        // Timers repeat frames in packets, too, and some are as short as a round trip. What else repeats a packet in pieces
        // is not known, and a queue before that router may make its word as late as a timer.
        let trip_ns = self.delays.shortest_round_trip_ns();
        let timer_ns = if is_frame { PROBE_NS_MIN } else { TIMER_NS_MIN };
        let soon_ns = nearly(trip_ns.max(timer_ns));
        at.since(earlier.at) < soon_ns
            && (is_frame || end - start < i64::from(full))
            && (is_smaller || goes_on)
    }

    /// Whether the left edge, at `start`, has waited longer than `timer_ns` for an ACK, and none told of data above it:
    /// new data that its sender goes on with does not set the timer anew (RFC 6298 section 5.1). Without SACK neither
    /// do ACKs that tell of some (section 5.3); while what a timer gave up is outstanding they ask for no repeat (RFC
    /// 6582 section 4), and what they ask for else comes before the timer, which may take a round trip longer than
    /// that.
    fn ran_out_while_writing(&self, start: i64, at: CaptureTime, timer_ns: i64) -> bool {
        let (is_told, lacks_sack) = (self.acks.dup_run > 0, self.sack.are_lacking());
        let told =
            is_told && !lacks_sack || self.board.highest_end().is_some() || self.sack.are_cut();
        let timer_ns = if is_told && self.repair.after_timeout().is_none() {
            timer_ns.saturating_add(self.delays.round_trip_ns())
        } else {
            timer_ns
        };
        if told || Some(start) > self.una {
            return false;
        }
        // Of what was lost before it came here it is known that it had been sent by then.
        let hole = || self.holes.first_within(start, start + 1);
        let copied_at = self.copy_before(start).map(|earlier| earlier.at);
        let sent_at = copied_at.or_else(|| hole().map(|hole| hole.opened_at));
        sent_at.is_some_and(|sent_at| {
            let set_at = self
                .times
                .progress_at
                .map_or(sent_at, |progress| progress.max(sent_at));
            at.since(set_at) > timer_ns
        })
    }

    /// How long it takes at most, in ns, until what an ACK asks for passes here, where that is known: the way to its
    /// sender and back, and as long as packets may be overtaken: a quarter of a round trip, or all of one where DSACKs
    /// have told its sender to be patient (RFC 8985 section 6.2), and where no timestamps tell of queues on that way; and
    /// by how much its timer for that is late.
    pub(super) fn reaction_ns(&self) -> Option<i64> {
        self.delays.upstream.min_ns()?;
        let tells = self.echoes.newest().is_some() && !self.old_copies.are_told_by_dsacks();
        let overtaken_ns = if tells {
            self.delays.shortest_round_trip_ns() / 4
        } else {
            self.delays.round_trip_ns()
        };
        Some(self.delays.upstream.patience_ns() + overtaken_ns + TICKS_NS)
    }

    /// The silence, in ns, after which a timer brought another copy of what begins at `start` and nobody asked for, however
    /// short that timer is set: where it is known how long answers take, two round trips, as what a router refuses is
    /// repeated sooner.
    fn untold_timer_ns(&self, start: i64) -> i64 {
        let Delays {
            downstream,
            upstream,
        } = self.delays;
        let known = upstream.min_ns().and(downstream.min_ns());
        let longest_ns = nearly(TIMER_NS_MIN);
        match known.and(self.copy_before(start)) {
            Some(_) => longest_ns.min(2 * self.delays.round_trip_ns() + TICKS_NS),
            None => longest_ns,
        }
    }

    /// Whether no ACK has told of anything above the left edge, at `start`, so that only a timer, however short, or a
    /// probe brings it again. Without SACK the one that moved there in a repair asks for it (RFC 6582 section 3.2).
    fn is_edge_untold(&self, start: i64) -> bool {
        let is_asked_by_progress = self.sack.are_lacking()
            && self.has_repair_open()
            && self.repair.after_timeout().is_none();
        self.una == Some(start)
            && !is_asked_by_progress
            && !self.is_told_by_repeat(start)
            && self.acks.dup_run == 0
            && self.board.highest_end().is_none()
            && !self.sack.are_cut()
    }

    /// Whether neither data passed nor any ACK for two round trips before the left edge, at `start`, does at `at`, whatever
    /// SACK told before: what an ACK asks for comes a round trip and a quarter later at most (RFC 8985 section 6.2).
    /// Without timestamps queues on the way to its sender do not show.
    fn is_edge_silent(&self, start: i64, at: CaptureTime) -> bool {
        let (Some(_), Some(reaction_ns)) = (self.delays.downstream.min_ns(), self.reaction_ns())
        else {
            return false;
        };
        let silence_ns = reaction_ns.max(2 * self.delays.round_trip_ns() + TICKS_NS);
        let is_long_since = |past| Self::is_long_since(past, Some(silence_ns), at);
        self.una == Some(start)
            && self.sack.are_seen
            && self.echoes.newest().is_some()
            && is_long_since(self.times.data_at)
            && is_long_since(self.times.heard_at)
    }

    /// Whether more than `ns` have gone by at `at` since `past`, where both are known.
    pub(super) fn is_long_since(
        past: Option<CaptureTime>,
        ns: Option<i64>,
        at: CaptureTime,
    ) -> bool {
        past.zip(ns).is_some_and(|(past, ns)| at.since(past) > ns)
    }

    /// Whether the left edge, at `start`, has waited longer than the quickest of timers for an ACK, though ACKs told of
    /// data above, and neither data passed for a round trip nor any ACK that can have brought it about. A repeat that was
    /// asked for meanwhile need not set the timer anew (RFC 6298 sections 5.1 to 5.3).
    fn ran_out_while_told(&self, start: i64, at: CaptureTime) -> bool {
        let round_trip_ns = self.delays.round_trip_ns().max(PROBE_NS_MIN);
        let timer_ns = nearly(TIMER_NS_MIN).max(round_trip_ns);
        // A queue that has drained is in the smoothed time for long: where the timer was set anew by no repeat either, and
        // timestamps tell of queues on the way to the sender, the shortest will do.
        let copied_at = self.copy_before(start).map(|earlier| earlier.at);
        let tells = self.echoes.newest().is_some();
        let silence_ns = if tells && Self::is_long_since(copied_at, Some(timer_ns), at) {
            nearly(self.delays.shortest_round_trip_ns()).max(PROBE_NS_MIN)
        } else {
            round_trip_ns
        };
        // Nothing that was seen was outstanding before the hole opened that it fills: nor did a timer run.
        let hole = self.holes.first_within(start, start + 1);
        let opened_at = hole
            .filter(|hole| hole.start == start)
            .map(|hole| hole.opened_at);
        let progress_at = self.times.progress_at;
        let set_at = progress_at.map(|at| opened_at.map_or(at, |opened_at| opened_at.max(at)));
        Some(start) <= self.una
            && Self::is_long_since(set_at, Some(timer_ns), at)
            && Self::is_long_since(self.times.data_at, Some(silence_ns), at)
            && Self::is_long_since(self.times.heard_at, self.reaction_ns(), at)
    }

    /// Whether its sender has a reason to repeat the left edge, at `start`, at `at` although it sent `earlier` less
    /// than a round trip before.
    pub(super) fn is_edge_due(&self, earlier: &Sent, start: i64, at: CaptureTime) -> bool {
        self.is_asked_anew(earlier, start, at) || self.has_run_out_since(earlier, start, at)
    }

    /// Whether three duplicate ACKs ask for the left edge, at `start`, that its sender had not heard of when it sent
    /// `earlier`: they do so whatever they answer (RFC 5681 section 3.2), as repeats that were not needed.
    fn is_asked_anew(&self, earlier: &Sent, start: i64, at: CaptureTime) -> bool {
        let trip_ns = self.delays.upstream.min_ns().unwrap_or(0);
        // What comes in one burst with the answer to the ACK that moved there was sent before the others came.
        let heard_ns = trip_ns + self.burst_ns();
        self.acks.dup_run >= 3
            && self.una == Some(start)
            && self.times.progress_at.is_some_and(|progress| {
                earlier.at.since(progress) <= heard_ns && at.since(progress) >= trip_ns / 2
            })
            && !self.seen_acks.expects_copies()
    }

    /// Whether the timer of the left edge, at `start`, which was repeated as `earlier`, has run out within a round trip
    /// since that: it goes on from the last progress when its sender is asked for the edge (RFC 6298 section 5).
    fn has_run_out_since(&self, earlier: &Sent, start: i64, at: CaptureTime) -> bool {
        let timer_ns = self.delays.run_out_ns();
        self.una == Some(start)
            && earlier.verdict.class == Class::Retransmission
            && at.since(earlier.at) < nearly(self.delays.shortest_round_trip_ns())
            && self.times.progress_at.is_some_and(|progress| {
                earlier.at.since(progress) < timer_ns && timer_ns < at.since(progress)
            })
    }
}
