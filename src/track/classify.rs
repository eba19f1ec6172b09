//! The evidence ladder of METRICS.md, "What a data segment is": what a data segment is.

use super::copies::WhichCopy;
use super::delays::nearly;
use super::earlier_copies::EarlierCopy;
use super::half::HalfFlow;
use super::in_flight::{Marks, PARTS_MAX, Sent};
use super::marking::Emission;
use super::ranges::Hole;
use super::repair::Heard;
use super::rtt::later;
use crate::decode::{Segment, TcpFlags};
use crate::event::{
    Amendment, Class, Confidence, Direction, Evidence, FlowSink, LossPlace, Reason, Verdict,
};
use crate::time::CaptureTime;

impl HalfFlow {
    /// Whether a byte that begins at `start` and was seen before is a message of its own, which its sender repeats
    /// since no ACK of it came: it is pushed, as the byte of a keep-alive is not, and was sent as one byte.
    pub(super) fn is_message(&self, segment: &Segment, start: i64) -> bool {
        let known = self.in_flight.overlapping(start, start + 1);
        let earlier = self.in_flight.get(known.start);
        segment.flags.has(TcpFlags::PSH)
            && earlier.is_some_and(|sent| sent.start == start && sent.len == segment.payload_len)
    }

    /// All bytes were seen here before: a copy by the network, a copy by the sender, or the
    /// original, overtaken by the sender's copy of it.
    pub(super) fn judge_copy(
        &mut self,
        segment: &Segment,
        start: i64,
        end: i64,
    ) -> (Verdict, WhichCopy) {
        let known = self.in_flight.overlapping(start, end);
        let earlier = self
            .in_flight
            .get(known.start)
            .copied()
            .filter(|sent| sent.start <= start);
        let by_mark = earlier.and_then(|earlier| self.copy_by_mark(segment, &earlier));
        if let Some((class @ (Class::Duplicate | Class::Reordered), copy)) = by_mark {
            return (Verdict::of(class, Evidence::Ecn, Confidence::High), copy);
        }
        if let Some(earlier) = earlier.filter(|_| by_mark.is_none()) {
            if let Some(evidence) = self.is_network_copy(segment, start, &earlier) {
                return (
                    Verdict::of(Class::Duplicate, evidence, Confidence::High),
                    WhichCopy::Again,
                );
            }
            if self.is_late_by_time(segment, start, &earlier) {
                let verdict = Verdict::of(Class::Reordered, Evidence::Timing, Confidence::Medium);
                return (verdict, WhichCopy::LateOriginal);
            }
            let first = self.in_flight.first_copy(&earlier);
            if let Some(evidence) = self.is_older(segment, &first) {
                let mut verdict = Verdict::of(Class::Reordered, evidence, Confidence::High);
                if self.is_after_next(segment, end) {
                    verdict.class = Class::Retransmission;
                    verdict.reason = Some(if end <= self.una.unwrap_or(i64::MIN) {
                        Reason::Unneeded
                    } else {
                        self.reason(start, end, segment.at)
                    });
                }
                return (verdict, WhichCopy::LateOriginal);
            }
        }
        if earlier.is_none() && self.is_first_copy_by_id(segment, end) {
            return (
                Verdict::of(Class::Duplicate, Evidence::IpId, Confidence::Medium),
                WhichCopy::Again,
            );
        }
        let una = self.una.unwrap_or(i64::MIN);
        let from = start.max(una);
        let answered = end <= una || self.board.covers(from, end) || self.is_held(from, end);
        let (reason, lost) = if answered {
            if !self.emissions.is_idle() {
                self.emissions.on_timeout();
            }
            self.note_needless(start, end, segment.at);
            (Reason::Unneeded, None)
        } else if earlier.is_some_and(|earlier| earlier.is_refused(una)) {
            (Reason::Fast, None)
        } else {
            let reason = self.reason(start, end, segment.at);
            let is_cut = |earlier: &Sent| self.is_cut_anew(earlier, (start, end), segment.at);
            if reason == Reason::Fast && earlier.as_ref().is_some_and(is_cut) {
                self.emissions.note_cut(segment.payload_len, self.packets);
            }
            (reason, Some(LossPlace::Downstream))
        };
        let verdict = Verdict {
            class: Class::Retransmission,
            reason: Some(reason),
            lost,
            evidence: Evidence::SeenBefore,
            confidence: Confidence::High,
        };
        (verdict, WhichCopy::Again)
    }

    /// Whether a copy comes too soon after a repeat to be a second one, where neither ids nor
    /// clocks tell: nothing is repeated twice within a round trip.
    fn is_late_by_time(&self, segment: &Segment, start: i64, earlier: &Sent) -> bool {
        let shortest_ns = self.delays.shortest_round_trip_ns();
        let untold = !self.ids.counts()
            && segment
                .timestamps
                .is_none_or(|ts| ts.value == earlier.tsval);
        untold
            && earlier.copies == 1
            && earlier.verdict.class == Class::Retransmission
            && segment.at.since(earlier.at) < nearly(shortest_ns)
            && !self.cannot_be_a_copy()
            && !self.is_edge_due(earlier, start, segment.at)
    }

    /// Whether a segment was emitted before the first copy of its bytes that was seen, and what shows it.
    fn is_older(&self, segment: &Segment, first: &EarlierCopy) -> Option<Evidence> {
        if let Some(own) = segment.ip_id.filter(|_| self.ids.counts()) {
            let is_older = self.ids.unwrap(own) < self.ids.unwrap_at(first.at, first.id);
            return is_older.then_some(Evidence::IpId);
        }
        let ts = segment.timestamps?;
        later(first.tsval, ts.value).then_some(Evidence::Tsval)
    }

    /// Whether a segment that ends at `end` was emitted later than what lies above it in the stream and was never
    /// repeated: that makes it a repeat, which a later one has overtaken.
    fn is_after_next(&self, segment: &Segment, end: i64) -> bool {
        let above = self.in_flight.overlapping(end, self.high).take(PARTS_MAX);
        let next = above
            .filter_map(|index| self.in_flight.get(index))
            .find(|sent| sent.start >= end && !sent.marks.has(Marks::RESENT));
        next.is_some_and(|next| {
            if let Some(own) = segment.ip_id.filter(|_| self.ids.counts()) {
                self.ids.unwrap(own) > self.ids.unwrap_at(next.at, next.id)
            } else {
                segment
                    .timestamps
                    .is_some_and(|ts| later(ts.value, next.tsval))
            }
        })
    }

    /// Some bytes fill a hole: the original, late, or a second emission.
    pub(super) fn judge_fill(
        &mut self,
        segment: &Segment,
        start: i64,
        end: i64,
        hole: &Hole,
    ) -> Verdict {
        let (class, evidence, confidence) = self.weigh_fill(segment, hole);
        if class != Class::Retransmission {
            return Verdict::of(class, evidence, confidence);
        }
        let una = self.una.unwrap_or(i64::MIN);
        if end <= una || self.board.covers(start.max(una), end) {
            // The receiver has the bytes, this capture never saw them: its own loss, not the path's.
            return Verdict {
                class,
                reason: Some(Reason::Unneeded),
                lost: None,
                evidence,
                confidence,
            };
        }
        let reason = if self.repair.heard == Heard::Asked {
            self.asked_for(start, end, segment.at)
        } else {
            self.reason(start, end, segment.at)
        };
        // Where the first copy of what came before the capture began was lost, nobody knows.
        let lost = (start >= 0).then_some(LossPlace::Upstream);
        Verdict {
            class,
            reason: Some(reason),
            lost,
            evidence,
            confidence,
        }
    }

    fn weigh_fill(&self, segment: &Segment, hole: &Hole) -> (Class, Evidence, Confidence) {
        use Class::{Ambiguous, Reordered, Retransmission};
        if let (Some(id), Some(opener), true) = (segment.ip_id, hole.opener_id, self.ids.counts()) {
            let id = self.ids.unwrap(id);
            let is_late = id < self.ids.unwrap_at(hole.opened_at, opener);
            let class = if is_late && !self.is_between_repeats(id, hole) {
                Reordered
            } else {
                Retransmission
            };
            return (class, Evidence::IpId, Confidence::High);
        }
        if let (Some(ts), Some(opener)) = (segment.timestamps, hole.opener_tsval) {
            // First transmissions are in stream order, so what carries a later clock than a
            // segment above it was emitted after it: a second time.
            if later(opener, ts.value) {
                return (Reordered, Evidence::Tsval, Confidence::High);
            }
            if later(ts.value, opener) {
                return (Retransmission, Evidence::Tsval, Confidence::High);
            }
        }
        match self.emission_by_mark(segment) {
            Some(Emission::First) => return (Reordered, Evidence::Ecn, Confidence::High),
            Some(Emission::Again) => return (Retransmission, Evidence::Ecn, Confidence::Medium),
            None => {}
        }
        if let (Some(_), Some(opener)) = (segment.timestamps, hole.opener_tsval) {
            // Nobody asked for it, and a timer is slower than the clock.
            let untold = self.repair.heard == Heard::Nothing;
            if untold || self.ticks_before_repeat(hole, opener) {
                return (Reordered, Evidence::Tsval, Confidence::Medium);
            }
        }
        if let (Some(id), Some(opener)) = (segment.ip_id, hole.opener_id) {
            if self.ids.is_just_before(id, opener) {
                return (Reordered, Evidence::IpId, Confidence::Medium);
            }
            if self.ids.is_just_after(id, opener) {
                return (Retransmission, Evidence::IpId, Confidence::Medium);
            }
        }
        let elapsed_ns = segment.at.since(hole.opened_at);
        let upstream_ns = nearly(self.delays.upstream.min_ns().unwrap_or(0));
        let timer_possible = elapsed_ns >= self.delays.timeout_ns() / 2;
        // Of what was told by reports that were cut off nobody knows when, but not sooner than a round trip.
        let may_be_told =
            self.sack.are_cut() && elapsed_ns >= nearly(self.delays.shortest_round_trip_ns());
        match hole.told_at {
            None if timer_possible => (Retransmission, Evidence::Timing, Confidence::Medium),
            // No ACK was ever captured, so none that is missing proves anything.
            None if self.una.is_none() || may_be_told => {
                (Ambiguous, Evidence::None, Confidence::Low)
            }
            // Nothing told the sender of the hole, and no timer can have run out.
            None => (Reordered, Evidence::Timing, Confidence::Medium),
            Some(at) if segment.at.since(at) < upstream_ns && !timer_possible => {
                if may_be_told {
                    (Ambiguous, Evidence::None, Confidence::Low)
                } else {
                    // Without timestamps the handshake alone tells how long it takes the sender to react.
                    let confidence = match segment.timestamps {
                        Some(_) => Confidence::High,
                        None => Confidence::Medium,
                    };
                    (Reordered, Evidence::Timing, confidence)
                }
            }
            Some(_) => {
                let asked = hole
                    .asked_at
                    .is_some_and(|at| segment.at.since(at) >= upstream_ns);
                if asked || timer_possible || self.may_have_waited(segment.at, hole) {
                    let confidence = if self.sack.are_cut() {
                        Confidence::Low
                    } else {
                        Confidence::Medium
                    };
                    (Retransmission, Evidence::Sack, confidence)
                } else {
                    (Ambiguous, Evidence::None, Confidence::Low)
                }
            }
        }
    }

    /// Whether a packet with this unwrapped `id`, which fills a `hole`, was sent after a repeat of what lies below it,
    /// and what lies above is one, too: then it is a repeat, which the one above has overtaken, as senders repeat in
    /// order.
    fn is_between_repeats(&self, id: u64, hole: &Hole) -> bool {
        let repeat_of = |offset| {
            let index = self.in_flight.overlapping(offset, offset + 1).start;
            let sent = self.in_flight.get(index);
            sent.filter(|sent| sent.verdict.class == Class::Retransmission)
        };
        repeat_of(hole.end).is_some()
            && repeat_of(hole.start - 1)
                .is_some_and(|below| id > self.ids.unwrap_at(below.at, below.id))
    }

    /// Whether the sender, told of a hole by SACK, may have waited for as long as packets may be overtaken, a quarter
    /// of the shortest round trip (RFC 8985 section 6.2), before it sent what passes at `at`: an original would be late
    /// by more than a round trip.
    fn may_have_waited(&self, at: CaptureTime, hole: &Hole) -> bool {
        let Some(upstream_ns) = self.delays.upstream.min_ns().filter(|_| self.sack.are_seen) else {
            return false;
        };
        let waited_ns = nearly(upstream_ns) + self.delays.shortest_round_trip_ns() / 4;
        hole.told_at
            .is_some_and(|told_at| at.since(told_at) >= waited_ns)
    }

    /// The original of `start..end` came after a copy of it: the copy was not needed, and where it passed for new, as
    /// nothing above it had been seen, it was none.
    pub(super) fn blame_first_copy<S: FlowSink>(
        &mut self,
        dir: Direction,
        start: i64,
        end: i64,
        sink: &mut S,
    ) {
        for index in self.in_flight.overlapping(start, end).take(PARTS_MAX) {
            let Some(&sent) = self.in_flight.get(index) else {
                continue;
            };
            let is_whole = (sent.start, sent.end()) == (start, end);
            if is_whole && sent.verdict == Verdict::NEW && sent.copies == 1 {
                let verdict = Verdict {
                    class: Class::Retransmission,
                    ..sent.verdict
                };
                let now = verdict.as_unneeded(Evidence::SeenBefore);
                self.judge_again(dir, index, now, sink);
                continue;
            }
            self.amend(dir, index, Evidence::SeenBefore, sink);
            while is_whole && self.amend_earlier(dir, index, Evidence::SeenBefore, sink) {}
        }
    }

    /// The highest packet was taken for a timer's repeat of a lost tail by ids that others had taken: it is
    /// new.
    pub(super) fn take_back_timer<S: FlowSink>(&mut self, dir: Direction, sink: &mut S) {
        let index = self.in_flight.overlapping(self.high - 1, self.high).start;
        let Some(sent) = self
            .in_flight
            .get_mut(index)
            .filter(|sent| sent.verdict.class == Class::Retransmission && sent.copies == 1)
        else {
            return;
        };
        let was_lost = sent.marks.take(Marks::LOST_UPSTREAM);
        sent.marks.take(Marks::RESENT);
        let sent_at = sent.at;
        if was_lost {
            self.tell_lost_upstream(dir, -1, sink);
        }
        self.forget_repair(sent_at);
        self.judge_again(dir, index, Verdict::NEW, sink);
    }

    /// The latest copy of the range at `index`, a packet of its own, is something else than it was taken for.
    pub(super) fn judge_again<S: FlowSink>(
        &mut self,
        dir: Direction,
        index: usize,
        now: Verdict,
        sink: &mut S,
    ) {
        let Some(sent) = self.in_flight.get_mut(index) else {
            return;
        };
        let amendment = Amendment {
            ordinal: None,
            sent_at: sent.at,
            offset: sent.start,
            payload_len: sent.len,
            was: std::mem::replace(&mut sent.verdict, now),
            now,
        };
        let row = sent.row;
        self.tell_amendment(dir, amendment, row, sink);
    }

    /// Tells the sink that the judgement on a packet changed, and its row, where rows are wanted.
    pub(super) fn tell_amendment<S: FlowSink>(
        &mut self,
        dir: Direction,
        mut amendment: Amendment,
        row: u32,
        sink: &mut S,
    ) {
        let Amendment { was, now, .. } = amendment;
        // Better evidence for a part of a packet whose other parts were needed tells nothing of that packet.
        let is_told = |told: Verdict| was.reason != now.reason || told.reason == was.reason;
        if S::SEGMENTS
            && let Some(row) = self.rows.get_mut(row).filter(|row| is_told(row.verdict))
        {
            row.verdict = now;
            amendment.ordinal = Some(row.ordinal);
        }
        sink.amended(dir, &amendment);
    }

    /// The latest copy of a remembered range turns out unneeded.
    pub(super) fn amend<S: FlowSink>(
        &mut self,
        dir: Direction,
        index: usize,
        evidence: Evidence,
        sink: &mut S,
    ) {
        let Some(sent) = self.in_flight.get_mut(index) else {
            return;
        };
        let lost = [
            (Marks::LOST_UPSTREAM, LossPlace::Upstream),
            (Marks::LOST_DOWNSTREAM, LossPlace::Downstream),
        ]
        .map(|(mark, place)| sent.marks.take(mark).then_some(place));
        let Sent {
            verdict: was,
            row,
            at: sent_at,
            len,
            tsval,
            ..
        } = *sent;
        // Timing is the weaker proof: a DSACK or an echo takes its place.
        let proven = was.reason == Some(Reason::Unneeded)
            && (was.evidence != Evidence::Timing || evidence == Evidence::Timing);
        let is_news = was.class == Class::Retransmission && !proven;
        let now = was.as_unneeded(evidence);
        if is_news {
            sent.verdict = now;
        }
        let packets = self.wire_packets(len, tsval);
        for place in lost.into_iter().flatten() {
            self.take_back_lost(dir, place, packets, sink);
        }
        if !is_news {
            return;
        }
        if was.reason == Some(Reason::Timeout) && evidence == Evidence::Dsack {
            self.undo_timeout(sent_at);
        }
        if was.reason == Some(Reason::TailProbe) {
            self.repair.end_probe();
        }
        // A packet that repeats several is unneeded when all of them had arrived: mostly a neighbour tells that it is
        // not.
        let unneeded = |part: &Sent| part.verdict.reason == Some(Reason::Unneeded);
        let is_needed = |part| self.in_flight.get(part).is_some_and(|part| !unneeded(part));
        if index > 0 && self.in_flight.continues(index) && is_needed(index - 1)
            || self.in_flight.continues(index + 1) && is_needed(index + 1)
            || self.in_flight.is_rest(index)
        {
            return;
        }
        let packet = self.in_flight.one_packet(index);
        let mut parts = packet.filter_map(|part| self.in_flight.get(part));
        let (mut offset, mut payload_len) = (i64::MAX, 0);
        if !parts.all(|part| {
            offset = offset.min(part.start);
            payload_len += part.len;
            unneeded(part)
        }) {
            return;
        }
        let amendment = Amendment {
            ordinal: None,
            sent_at,
            offset,
            payload_len,
            was,
            now,
        };
        self.tell_amendment(dir, amendment, row, sink);
    }
}
