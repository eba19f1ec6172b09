//! Copies of bytes that lie below the highest byte seen, entered into what is remembered.

use super::cover::Cover;
use super::earlier_copies::Needed;
use super::half::HalfFlow;
use super::in_flight::{Marks, PARTS_MAX, Sent};
use super::rtt::later;
use crate::decode::{Segment, TcpFlags};
use crate::event::{Amendment, Class, Direction, Evidence, FlowSink, LossPlace, Reason, Verdict};
use crate::time::CaptureTime;

/// Which emission of the same bytes a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhichCopy {
    /// The first, and the first to arrive.
    First,
    /// A further one.
    Again,
    /// The first, overtaken by a further one.
    LateOriginal,
}

/// Repeats remembered that a further repeat of the same bytes came after; others are judged for good.
const SUPERSEDED_MAX: usize = 256;

/// A repeat that was repeated itself before any ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Superseded {
    start: i64,
    end: i64,
    at: CaptureTime,
    tsval: u32,
    row: u32,
    needed: Needed,
}

impl HalfFlow {
    /// Sets a mark on the ranges that share a byte with `start..end`, which a packet holds.
    pub(super) fn mark(&mut self, start: i64, end: i64, mark: Marks) {
        for index in self.in_flight.overlapping(start, end).take(PARTS_MAX) {
            if let Some(sent) = self.in_flight.get_mut(index) {
                sent.marks.set(mark);
            }
        }
    }

    /// A repeat has passed; `peer` has what its sender had acknowledged. A receiver that takes no window and no clock
    /// of an ACK that another one has overtaken, as Linux, goes on with the echo that it had, whichever copy came; and
    /// so does every receiver where a packet has no timestamps although others of its sender have.
    #[inline]
    pub(super) fn note_old_ack(&mut self, segment: &Segment, peer: &Self) {
        let (Some(unwrapper), Some(acked), Some(own)) =
            (peer.unwrapper(), peer.una, self.unwrapper())
        else {
            return;
        };
        let tells = segment.flags.has(TcpFlags::ACK) && self.echoes.newest().is_some();
        let is_untimed = segment.timestamps.is_none();
        if tells && (is_untimed || unwrapper.offset(segment.ack, acked) < acked) {
            let start = own.offset(segment.seq, self.high);
            self.mark(
                start,
                start + i64::from(segment.payload_len),
                Marks::OLD_ACK,
            );
        }
    }

    /// The range at `index` is about to be repeated by the packet `start..end`: what it was before, where it was a
    /// needed repeat of its own.
    fn needed_before(&self, index: usize, start: i64, end: i64) -> Option<Needed> {
        let sent = self.in_flight.get(index)?;
        let same = sent.start == start && sent.end() == end;
        let repeat = sent.verdict.class == Class::Retransmission
            && sent.verdict.reason != Some(Reason::Unneeded);
        let is_part = self.in_flight.continues(index)
            || self.in_flight.continues(index + 1)
            || self.in_flight.is_rest(index);
        if !(same && repeat) || is_part {
            return None;
        }
        let lost = if sent.marks.has(Marks::LOST_DOWNSTREAM) {
            Some(LossPlace::Downstream)
        } else {
            let upstream = sent.marks.has(Marks::LOST_UPSTREAM);
            upstream.then_some(LossPlace::Upstream)
        };
        let verdict = sent.verdict;
        Some(Needed { verdict, lost })
    }

    /// The range at `index`, a `needed` repeat, is about to be repeated itself.
    fn note_superseded(&mut self, index: usize, needed: Needed) {
        let Some(sent) = self.in_flight.get(index) else {
            return;
        };
        let earlier = Superseded {
            start: sent.start,
            end: sent.end(),
            at: sent.at,
            tsval: sent.tsval,
            row: sent.row,
            needed,
        };
        if self.superseded.len() < SUPERSEDED_MAX {
            self.superseded.push(earlier);
        }
    }

    /// Of the repeats of the range at `index` before the latest, the last one that is taken for needed was not: whether
    /// there was one.
    pub(super) fn amend_earlier<S: FlowSink>(
        &mut self,
        dir: Direction,
        index: usize,
        evidence: Evidence,
        sink: &mut S,
    ) -> bool {
        let Some(&Sent { start, len, .. }) = self.in_flight.get(index) else {
            return false;
        };
        let Some((copy, needed)) = self.in_flight.earlier.take_needed(start) else {
            return false;
        };
        self.superseded
            .retain(|earlier| (earlier.start, earlier.at) != (start, copy.at));
        let amendment = needed.unneeded(copy.at, (start, len), evidence);
        let packets = self.wire_packets(len, copy.tsval);
        let lost = needed.lost.map(|place| (place, packets));
        self.tell_unneeded(dir, amendment, lost, copy.row, sink);
        true
    }

    /// A repeat before the latest, which showed so many packets to be `lost`, was not needed.
    fn tell_unneeded<S: FlowSink>(
        &mut self,
        dir: Direction,
        amendment: Amendment,
        lost: Option<(LossPlace, u16)>,
        row: u32,
        sink: &mut S,
    ) {
        if let Some((place, packets)) = lost {
            self.take_back_lost(dir, place, packets, sink);
        }
        self.tell_amendment(dir, amendment, row, sink);
    }

    /// The cumulative ACK moves as `cover` tells: repeats of the left edge that were sent later than what it echoes did
    /// not bring it about (RFC 3522), the latest or not; nor did those that passed within `early`, which it comes too
    /// soon after.
    #[cold]
    pub(super) fn amend_superseded<S: FlowSink>(
        &mut self,
        dir: Direction,
        cover: &Cover,
        early: Option<(CaptureTime, CaptureTime)>,
        sink: &mut S,
    ) {
        let &Cover { ack, una, echo, .. } = cover;
        // Without clocks the next ACK may tell.
        let kept = if echo.is_some() { ack } else { una };
        let unneeded = |earlier: &Superseded| {
            let is_older = || echo.is_some_and(|echo| later(earlier.tsval, echo));
            earlier.end <= ack
                && (earlier.start <= una && is_older()
                    || cover.is_not_due_to(earlier.at, earlier.tsval))
        };
        self.amend_some_superseded(dir, i64::MIN, unneeded, Evidence::Dsack, sink);
        let early = |earlier: &Superseded| {
            let is_early = |(from, to)| from < earlier.at && earlier.at < to;
            earlier.end <= ack && early.is_some_and(is_early)
        };
        self.amend_some_superseded(dir, kept, early, Evidence::Timing, sink);
    }

    /// Repeats that passed after `since` and lie below `ack` were not needed.
    pub(super) fn amend_superseded_since<S: FlowSink>(
        &mut self,
        dir: Direction,
        ack: i64,
        since: CaptureTime,
        sink: &mut S,
    ) {
        let unneeded = |earlier: &Superseded| earlier.end <= ack && earlier.at > since;
        self.amend_some_superseded(dir, i64::MIN, unneeded, Evidence::Timing, sink);
    }

    /// Takes out what lies below `kept`, and changes the judgement on those that were not needed.
    fn amend_some_superseded<S: FlowSink>(
        &mut self,
        dir: Direction,
        kept: i64,
        unneeded: impl Fn(&Superseded) -> bool,
        evidence: Evidence,
        sink: &mut S,
    ) {
        let mut list = std::mem::take(&mut self.superseded);
        list.retain(|earlier| {
            if !unneeded(earlier) {
                return earlier.end > kept;
            }
            let Superseded {
                start,
                end,
                at,
                tsval,
                row,
                needed,
            } = *earlier;
            self.in_flight.earlier.forget_needed(start, at);
            let len = (end - start) as u32;
            let amendment = needed.unneeded(at, (start, len), evidence);
            let packets = self.wire_packets(len, tsval);
            let lost = needed.lost.map(|place| (place, packets));
            self.tell_unneeded(dir, amendment, lost, row, sink);
            false
        });
        self.superseded = list;
    }

    /// A sender repeats in the order of the stream, without SACK all and with it what is missing: how many
    /// packets it repeats after the last one that was seen before it goes on at `start`; more than `most`
    /// do not matter. And up to where it has repeated so, where that is known. `edge`: its left edge, where that was to
    /// be repeated before `start`; `heard_by`: when the last ACK passed that it can have heard of.
    pub(super) fn packets_since_repeat(
        &self,
        start: i64,
        edge: Option<i64>,
        heard_by: CaptureTime,
        most: u16,
    ) -> (u16, Option<i64>) {
        if self.sack.are_seen {
            return self.missing_since_repeat(start, edge, heard_by, most);
        }
        let last = self.repair.last_repeat.end(self.high);
        // Each partial ACK asks for one packet (RFC 6582 section 3.2), which was seen.
        if last.is_some_and(|end| self.was_asked_before(end)) && self.una >= Some(self.high) {
            return (0, None);
        }
        // After a timeout new data may come in between (RFC 5682 section 2.1).
        let highest = || {
            self.repair.after_timeout()?;
            self.emissions.repeated_to().max(self.una)
        };
        let Some(end) = last.or_else(highest) else {
            return (0, None);
        };
        let between = (start.min(self.high) - end).max(0) as u64;
        let packets = between.div_ceil(u64::from(self.packet_size.full()));
        (u16::try_from(packets).unwrap_or(u16::MAX), None)
    }

    /// The same of a repeat with SACK: what the sender knew to be missing below it, from the cumulative ACK where a
    /// repair begins, or else from the highest byte repeated in it on (RFC 6675 section 2, `HighRxt`), or where the
    /// last repeat ended if it has gone back below that. After new data nobody knows, but where it goes back then:
    /// from `edge` on.
    fn missing_since_repeat(
        &self,
        start: i64,
        edge: Option<i64>,
        heard_by: CaptureTime,
        most: u16,
    ) -> (u16, Option<i64>) {
        let repeated_to = self.emissions.repeated_to();
        let (from, least) = if !self.repair.goes_on() {
            (self.una, 0)
        } else if let Some(last) = self.repair.last_repeat.end(self.high) {
            // Until the first id is skipped nobody takes note of more than the last repeat.
            let highest = repeated_to.unwrap_or(last);
            let is_later_round = last <= start && start < highest;
            (Some(if is_later_round { last } else { highest }), 0)
        } else {
            // The left edge itself may have arrived meanwhile.
            let goes_back = Some(start) < repeated_to;
            (edge.filter(|_| goes_back), 1)
        };
        let Some(from) = from else {
            return (0, None);
        };
        let packet = self.packet_size.full();
        // What goes back to what was repeated before, or on to new bytes, comes when all above has been
        // repeated, too (RFC 6675 section 5, `NextSeg`).
        if start < from || start >= self.sent_to() {
            let (never_seen, to) =
                self.holes
                    .packets_missing(from, self.high, Some(heard_by), packet, most);
            return (never_seen, Some(to));
        }
        (self.missing_between(from, start, most).max(least), None)
    }

    /// The packets missing in `from..start` when the latter is repeated; more than `most` do not matter.
    pub(super) fn missing_between(&self, from: i64, start: i64, most: u16) -> u16 {
        let packet = self.packet_size.full();
        // Who repeats this takes all that is missing below it for lost, too.
        let (never_seen, _) = self.holes.packets_missing(from, start, None, packet, most);
        // What its sender has sent above all that was seen is missing, too.
        let beyond = (start - from.max(self.high)).max(0) as u64;
        let beyond = u16::try_from(beyond.div_ceil(packet.into())).unwrap_or(u16::MAX);
        let never_seen = never_seen.saturating_add(beyond).min(most);
        // What passed here and was lost behind is missing as well.
        let within = self
            .in_flight
            .unreported_within(from, start, most - never_seen);
        never_seen + within
    }

    /// Whether what is repeated from `start` on at `at` was asked for a timeout before: its sender repeated it
    /// then (RFC 5681 section 3.2), and that was lost.
    pub(super) fn was_repeated_unseen(&self, start: Option<i64>, at: CaptureTime) -> bool {
        let hole = start.and_then(|start| self.holes.first_within(start, start + 1));
        hole.and_then(|hole| hole.asked_at)
            .is_some_and(|asked_at| at.since(asked_at) > self.delays.run_out_ns())
    }

    /// Without SACK each duplicate ACK that passes at `at` tells of one more packet that came above what
    /// is missing (RFC 5681 section 3.2): at least as many as there were.
    #[cold]
    pub(super) fn note_overtaking(&mut self, at: CaptureTime) {
        let Some(last) = usize::from(self.acks.dup_run).checked_sub(1) else {
            return;
        };
        if let Some(sent) = self.in_flight.nth_unacked(last) {
            self.note_delivered((sent.at, sent.id), at);
        }
    }

    /// Whether a repeat of `len` bytes from `start` on is what was cut off the repeat below it, which was
    /// full but for the options that SACK blocks take: both were one packet that was lost.
    pub(super) fn is_cut_off(&self, start: i64, len: u32) -> bool {
        /// TCP options take no more, in bytes.
        const OPTIONS_MAX: u32 = 40;
        let full = self.packet_size.full();
        let below = self.in_flight.overlapping(start - 1, start).start;
        self.in_flight.get(below).is_some_and(|sent| {
            let cut = sent.len.saturating_add(len) <= full
                && sent.len.saturating_add(OPTIONS_MAX) >= full;
            cut && sent.end() == start
                && sent.verdict.class == Class::Retransmission
                && sent.marks.has(Marks::LOST_UPSTREAM)
        })
    }

    /// Parts what is remembered around `offset`, of which one part may have been answered and not the other.
    fn part(&mut self, offset: i64) {
        let mss = self.packet_size.mss.get();
        let Some(below) = self.in_flight.part(offset, mss, self.packets) else {
            return;
        };
        for index in [below, below + 1] {
            if let Some(sent) = self.in_flight.get_mut(index)
                && (self.una >= Some(sent.end()) || self.board.covers(sent.start, sent.end()))
            {
                sent.marks.set(Marks::SACKED);
            }
        }
    }

    /// Whether `start..end`, which is not remembered, may be entered. An acknowledged range that was forgotten may not: it
    /// would come before ranges in the history that were released earlier.
    fn may_enter(&self, start: i64, end: i64) -> bool {
        self.una.is_none_or(|una| end > una)
            || self
                .in_flight
                .lowest_start()
                .is_some_and(|low| start >= low)
    }

    /// Enters a copy of `start..end`, all of it below the highest byte seen: what was remembered
    /// becomes sent again, what was not is inserted. How many packets this shows to have been lost
    /// after they passed here: those that no ACK covers, each once.
    pub(super) fn cover(
        &mut self,
        segment: &Segment,
        start: i64,
        end: i64,
        verdict: Verdict,
        copy: WhichCopy,
    ) -> u32 {
        let mut lost = 0;
        let mut at = start;
        self.part(start);
        self.part(end);
        let covered = self.in_flight.overlapping(start, end);
        let leaves_rest = self.in_flight.leaves_rest(&covered);
        let mut index = covered.start;
        let (mut last_is_due, mut last_is_told) = (true, false);
        loop {
            if copy == WhichCopy::LateOriginal && index > covered.start + PARTS_MAX {
                break;
            }
            let next = self
                .in_flight
                .get(index)
                .map_or(end, |sent| sent.start.min(end));
            if at < next && self.may_enter(at, next) {
                let mut sent = sent_of(segment, at, (next - at) as u32, verdict);
                sent.mark_part_of(start, end);
                if copy != WhichCopy::First {
                    sent.marks.set(Marks::RESENT);
                }
                self.in_flight.insert(sent, self.packets);
                index = self.in_flight.overlapping(next, end).start;
            }
            let needed = if copy == WhichCopy::Again {
                self.needed_before(index, start, end)
            } else {
                None
            };
            if let Some(needed) =
                needed.filter(|_| segment.timestamps.is_some() || !self.sack.are_seen)
            {
                self.note_superseded(index, needed);
            }
            let packet_size = self.packet_size.mss;
            let (una, mss) = (self.una.unwrap_or(i64::MIN), packet_size.get());
            if self
                .in_flight
                .get(index)
                .is_some_and(|sent| sent.start < end)
            {
                if copy == WhichCopy::LateOriginal {
                    self.in_flight.put_first(index, segment, self.packets);
                } else {
                    self.in_flight.keep_copy(index, needed, self.packets);
                }
            }
            let Some(sent) = self.in_flight.get_mut(index) else {
                break;
            };
            if sent.start >= end {
                // It may have been one packet with what has now been sent anew, and gives no sample then (Karn's rule).
                let is_cut = copy != WhichCopy::LateOriginal && sent.marks.take(Marks::CONTINUES);
                if is_cut {
                    sent.marks.set(Marks::SAMPLED);
                    if leaves_rest {
                        sent.marks.set(Marks::REST);
                    }
                }
                // Of a packet that is cut here the lower part was too young to tell of a loss: the rest will.
                if !last_is_due && sent.marks.take(Marks::PARTED) {
                    sent.marks.set(Marks::REST);
                }
                // What became of it has been told with the part below.
                if is_cut && last_is_told && !sent.marks.has(Marks::FRAMED) {
                    sent.marks.set(Marks::PARTED);
                }
                break;
            }
            at = sent.end();
            if copy != WhichCopy::LateOriginal {
                // What was sent together with it, of late, may be on its way still.
                let since_ns = segment.at.since(sent.at);
                let is_due =
                    sent.start <= start || since_ns >= self.delays.downstream.smoothed_ns();
                last_is_due = is_due;
                // Of a packet of which the part below was too young to tell of it, nothing is told yet.
                last_is_told = sent.is_told_below() && (index == covered.start || last_is_told);
                if sent.is_lost_by_repeat(start, verdict, una, mss, is_due) {
                    lost += u32::from(packet_size.packets(sent.len, segment.timestamps.is_some()));
                    last_is_told = true;
                }
                sent.take_copy(segment, end, verdict);
                // The last byte of what was parted was another one's; this packet's may give a sample.
                if !self.board.holds(sent.end() - 1) {
                    sent.marks.take(Marks::SAMPLED);
                }
            }
            sent.copies = sent.copies.saturating_add(1);
            sent.marks.set(Marks::RESENT);
            index += 1;
        }
        if copy != WhichCopy::LateOriginal && index > covered.start + PARTS_MAX {
            self.in_flight.merge(self.in_flight.overlapping(start, end));
        }
        lost
    }
}

impl Sent {
    /// It is the part of a packet `start..end` that was not remembered.
    fn mark_part_of(&mut self, start: i64, end: i64) {
        if self.end() < end {
            self.marks.set(Marks::SAMPLED);
            self.marks.set(Marks::GOES_ON);
        }
        if self.start > start {
            self.marks.take(Marks::LOST_UPSTREAM);
            self.marks.set(Marks::CONTINUES);
        }
    }

    /// Whether it came with the SYN and the receiver, which acknowledges up to `una`, did not take it (RFC 7413 section
    /// 4.2.2).
    pub(super) fn is_refused(&self, una: i64) -> bool {
        self.marks.has(Marks::ON_SYN) && (0..self.end()).contains(&una)
    }

    /// The latest copy is that in `segment`, a packet that ends at `end` and was judged `verdict`.
    fn take_copy(&mut self, segment: &Segment, end: i64, verdict: Verdict) {
        self.at = segment.at;
        self.tsval = segment.timestamps.map_or(0, |ts| ts.value);
        self.id = segment.ip_id.unwrap_or(0);
        self.verdict = verdict;
        self.marks.take(Marks::GOES_ON);
        self.marks.take(Marks::OLD_ACK);
        if self.end() < end {
            self.marks.set(Marks::GOES_ON);
        }
    }

    /// Whether the loss of its packet is told with a range below.
    fn is_told_below(&self) -> bool {
        let above = self.marks.has(Marks::CONTINUES) && !self.marks.has(Marks::FRAMED);
        above || self.marks.has(Marks::PARTED)
    }

    /// A packet that begins at `start` and was judged `verdict` repeats this range: whether that
    /// shows, for the first time, that the latest copy was lost after it had passed. `una`: the
    /// cumulative ACK, `mss`: the payload of the largest packet, where that is known; `is_due`: it would have been
    /// acknowledged by now.
    fn is_lost_by_repeat(
        &mut self,
        start: i64,
        verdict: Verdict,
        una: i64,
        mss: Option<u16>,
        is_due: bool,
    ) -> bool {
        let repeats = matches!(verdict.class, Class::New | Class::Retransmission);
        let told = self.marks.has(Marks::SACKED) || self.marks.has(Marks::HELD) && self.start > una;
        let answered = self.end() <= una || told;
        // A probe into a closed window arrives and is not taken, nor is what is refused.
        let probe = self.verdict.class == Class::WindowProbe || self.is_refused(una);
        self.marks.take(Marks::ON_SYN);
        // The loss of a packet counts with its lowest range; a frame that is longer than any
        // packet was several.
        let above = self.is_told_below();
        for mark in [Marks::FRAMED, Marks::CONTINUES, Marks::PARTED, Marks::REST] {
            self.marks.take(mark);
        }
        // Where there was no room to part it.
        let counted = self.marks.take(Marks::LOST_DOWNSTREAM)
            && self.start < start
            && mss.is_none_or(|mss| self.len <= u32::from(mss));
        let lost = repeats && is_due && !answered && !probe && !above && !counted;
        self.marks.take(Marks::LOST_UPSTREAM);
        if lost || counted {
            self.marks.set(Marks::LOST_DOWNSTREAM);
        }
        if self.start > start {
            self.marks.set(Marks::CONTINUES);
        } else if verdict.lost == Some(LossPlace::Upstream) {
            self.marks.set(Marks::LOST_UPSTREAM);
        }
        lost
    }
}

/// A range as it passes for the first time.
#[inline]
pub(super) fn sent_of(segment: &Segment, start: i64, len: u32, verdict: Verdict) -> Sent {
    let ids = (segment.timestamps, segment.ip_id);
    let mut marks = Marks::default();
    if segment.flags.any(TcpFlags::FIN.with(TcpFlags::SYN)) {
        let fin = segment.flags.has(TcpFlags::FIN);
        marks.set(if fin { Marks::FIN } else { Marks::ON_SYN });
    }
    if verdict.lost == Some(LossPlace::Upstream) {
        marks.set(Marks::LOST_UPSTREAM);
    }
    Sent {
        marks,
        verdict,
        ..Sent::once(segment.at, start, len, ids)
    }
}
