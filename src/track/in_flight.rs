//! The segments of one direction that passed and may still be answered.

use std::collections::VecDeque;
use std::ops::Range;

pub(super) use self::marks::Marks;
pub(super) use self::merge::PARTS_MAX;
pub(super) use self::moves::Moves;
use super::earlier_copies::{EarlierCopies, EarlierCopy, Needed, Opened};
use crate::decode::{Segment, Timestamps};
use crate::event::{Class, Verdict};
use crate::prefetch::{prefetch, prefetch_behind};
use crate::time::CaptureTime;

/// Ranges of segments remembered for one direction unless asked otherwise: a flight of 4 GiB at
/// 1 kB a segment. One more forgets the lowest, which then gives no RTT sample.
pub(super) const IN_FLIGHT_MAX: u32 = 4 << 20;

/// Acknowledged segments kept behind the cumulative ACK, besides as many as are in flight: what a
/// late original or a copy is compared with.
const HISTORY_MIN: usize = 8;

/// Acknowledged segments younger than this are kept too, in ns of capture time: copies that the
/// network makes come within a fraction of a second.
const HISTORY_NS: i64 = 250_000_000;

/// But never more than so many, and an eighth, for their youth alone: 45 KiB of a flow at full speed.
const HISTORY_MAX: usize = 1024;

/// The history is looked at when an eighth has joined it, and so many: its lowest range left the cache long ago.
const TRIMMED_TOGETHER_MIN: u32 = 16;

/// Room for ranges at first: a page's answer takes no more than twice as many.
const ROOM_MIN: usize = 8;

/// Room for so many grows by half from then on.
const ROOM_LARGE: usize = 64;

/// Ranges between two repeats that are looked at: a flight may have millions, and a sender that is not one of TCP could
/// ask for all of them with each packet.
const LOOKED_AT_MAX: usize = 4096;

/// One range of the stream that passed here, and its latest copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) start: i64,
    /// When the latest copy passed.
    pub(super) at: CaptureTime,
    pub(super) len: u32,
    /// `TSval` of the latest copy; meaningless where the flow has no timestamps.
    pub(super) tsval: u32,
    /// Row of the latest copy, for `--segments`.
    pub(super) row: u32,
    /// IP id of the latest copy; meaningless for IPv6.
    pub(super) id: u16,
    /// Copies that passed here, network duplicates not counted; saturates.
    pub(super) copies: u8,
    /// What the SACK scoreboard and the RTT matching know of it.
    pub(super) marks: Marks,
    /// The judgement on the latest copy.
    pub(super) verdict: Verdict,
}

// 10 Gbit/s over 100 ms hold 86_000 of these in a flow: 40 bytes keep that within 4 MiB.
const _: () = assert!(size_of::<Sent>() <= 40);

impl Sent {
    /// Whether it was sent once, and by then.
    pub(super) fn is_single_by(&self, by: CaptureTime) -> bool {
        self.copies == 1 && self.at <= by
    }

    /// New data that passes at `at`, of a packet with these timestamps and this IP id.
    #[inline]
    pub(super) fn once(
        at: CaptureTime,
        start: i64,
        len: u32,
        (timestamps, ip_id): (Option<Timestamps>, Option<u16>),
    ) -> Self {
        Self {
            start,
            at,
            len,
            tsval: timestamps.map_or(0, |ts| ts.value),
            row: 0,
            id: ip_id.unwrap_or(0),
            copies: 1,
            marks: Marks::default(),
            verdict: Verdict::NEW,
        }
    }

    pub(super) fn end(&self) -> i64 {
        self.start + i64::from(self.len)
    }

    /// The ACK number that answers it and nothing after it.
    pub(super) fn exact_ack(&self) -> i64 {
        self.end() + i64::from(self.marks.has(Marks::FIN))
    }

    /// Its latest copy, as one of several.
    pub(super) fn latest(&self) -> EarlierCopy {
        EarlierCopy::new(self.at, self.tsval, self.row, self.id)
    }
}

/// [`Sent`] ranges in stream order, disjoint, as a ring.
///
/// New data joins at the back and ACKs release from the front in nearly every capture, so both
/// ends are O(1); a SACK or a copy in the middle costs a binary search, a filled hole an insertion
/// that moves the shorter side. What the cumulative ACK has passed stays in front as history.
#[derive(Clone, Debug)]
pub(super) struct InFlight {
    sent: VecDeque<Sent>,
    /// The earlier copies of those of which more have passed.
    pub(super) earlier: EarlierCopies,
    /// How many at the front the cumulative ACK has passed.
    acked: u32,
    /// Where the range is that SACK will report next, mostly: the one above those reported last.
    next_reported: u32,
    /// How many the cumulative ACK has passed when the history is looked at again.
    trimmed_from: u32,
    /// Ranges remembered; one more forgets the lowest.
    pub(super) ranges_max: u32,
    moves: Moves,
    /// One was forgotten that the cumulative ACK had not passed.
    pub(super) has_forgotten: bool,
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            sent: VecDeque::new(),
            earlier: EarlierCopies::default(),
            acked: 0,
            next_reported: 0,
            trimmed_from: 0,
            ranges_max: IN_FLIGHT_MAX,
            moves: Moves::default(),
            has_forgotten: false,
        }
    }
}

impl InFlight {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.sent.capacity() * size_of::<Sent>() + self.earlier.memory_bytes()
    }

    /// Begins to fetch what new data and the next ACK will change.
    #[inline]
    pub(super) fn expect(&self) {
        if let Some(highest) = self.sent.back() {
            prefetch_behind(highest, size_of::<Sent>());
            if let Some(unacked) = self.nth_unacked(0) {
                prefetch(unacked);
            }
            // Where the history is mostly looked at when it is trimmed.
            if let Some(oldest) = self
                .sent
                .get(self.acked.saturating_sub(HISTORY_MAX as u32) as usize)
            {
                prefetch(oldest);
            }
        }
    }

    /// Makes room for so many more ranges.
    pub(super) fn reserve(&mut self, ranges: usize) {
        self.sent.reserve_exact(ranges);
    }

    /// The highest range.
    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Sent> {
        self.sent.back_mut()
    }

    /// Adds new data above everything else.
    #[inline]
    pub(super) fn push(&mut self, sent: Sent) {
        debug_assert!(
            self.sent.back().is_none_or(|last| last.end() <= sent.start),
            "data joins at the back"
        );
        let len = self.sent.len();
        if len >= self.ranges_max as usize || len == self.sent.capacity() {
            self.make_room();
        }
        self.sent.push_back(sent);
    }

    /// Where there is much, half as much again: twice as much, which a ring takes by itself, is more than most flows
    /// ever fill.
    #[cold]
    fn make_room(&mut self) {
        let len = self.sent.len();
        if len >= self.ranges_max as usize {
            self.forget_lowest();
            self.has_forgotten |= self.acked == 0;
            self.acked = self.acked.saturating_sub(1);
        } else {
            let more = if len < ROOM_LARGE { len } else { len / 2 };
            self.sent.reserve_exact(more.max(ROOM_MIN));
        }
    }

    #[inline]
    fn forget_lowest(&mut self) {
        if let Some(sent) = self.sent.pop_front()
            && sent.copies > 1
        {
            self.earlier.forget(sent.start);
        }
    }

    /// Adds a range that no other overlaps, wherever it belongs; its sender has sent so many packets so far.
    pub(super) fn insert(&mut self, sent: Sent, packets: u64) {
        let index = self.sent.partition_point(|other| other.start < sent.start);
        if index == self.sent.len() {
            self.push(sent);
            return;
        }
        if self.moves.allow(index, self.sent.len(), packets) {
            self.sent.insert(index, sent);
            self.acked += u32::from(index < self.acked as usize);
        }
    }

    /// Indices of the ranges that share a byte with `start..end`.
    pub(super) fn overlapping(&self, start: i64, end: i64) -> std::ops::Range<usize> {
        // Mostly asked for what was pushed last: those before it end where it starts, or below.
        if let Some(highest) = self.sent.back()
            && highest.start <= start
            && start < highest.end()
            && highest.start < end
        {
            return self.sent.len() - 1..self.sent.len();
        }
        self.run_from(self.first_ending_above(start), end)
    }

    /// [`overlapping`](Self::overlapping), of a part of the stream that SACK has just reported.
    #[inline(always)]
    pub(super) fn reported(&mut self, start: i64, end: i64) -> std::ops::Range<usize> {
        let next = self.next_reported as usize;
        let first = match self.sent.get(next) {
            Some(sent) if sent.start <= start && start < sent.end() => next,
            _ => self.first_ending_above(start),
        };
        let found = self.run_from(first, end);
        self.next_reported = found.end as u32;
        found
    }

    /// Indices of the ranges from `first` on that begin below `end`: a few, nearly always.
    #[inline(always)]
    fn run_from(&self, first: usize, end: i64) -> std::ops::Range<usize> {
        /// From so many on they are searched and not counted.
        const FEW: usize = 64;
        let mut last = first;
        while self.sent.get(last).is_some_and(|sent| sent.start < end) {
            last += 1;
            if last == first + FEW {
                return first..self.sent.partition_point(|sent| sent.start < end);
            }
        }
        first..last
    }

    /// Index of the first range that ends above `offset`.
    ///
    /// Nearly all segments of a flow are of one size, so where a range lies tells its index but for
    /// a few: guessed, then searched in steps that double. A flight of 20,000 is megabytes, and
    /// each step of a plain binary search in it would wait for memory.
    fn first_ending_above(&self, offset: i64) -> usize {
        let len = self.sent.len();
        let (Some(lowest), Some(highest)) = (self.sent.front(), self.sent.back()) else {
            return 0;
        };
        if highest.end() <= offset {
            return len;
        }
        if lowest.end() > offset {
            return 0;
        }
        let below = |index: usize| {
            self.sent
                .get(index)
                .is_some_and(|sent| sent.end() <= offset)
        };
        // The guess may be wrong, so an overflow does no harm.
        let (share, span) = (offset - lowest.start, highest.end() - lowest.start);
        let guess = (share as u64).saturating_mul(len as u64) / span as u64;
        let guess = (guess as usize).min(len - 1);
        let (mut low, mut high) = (0, len - 1);
        let mut step = 1;
        if below(guess) {
            low = guess;
            while low + step < high && below(low + step) {
                low += step;
                step *= 2;
            }
            high = high.min(low + step);
        } else {
            high = guess;
            while high > low + step && !below(high - step) {
                high -= step;
                step *= 2;
            }
            low = low.max(high.saturating_sub(step));
        }
        // `low` ends at or below `offset`, `high` above.
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if below(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// A repeat begins or ends at `offset`: parts the range around it, so that what is repeated is told from what is
    /// not. What a packet was, both parts are; a frame longer than `mss` was several. The index of the lower part,
    /// where there are two now. Its sender has sent so many packets so far.
    pub(super) fn part(&mut self, offset: i64, mss: Option<u16>, packets: u64) -> Option<usize> {
        let index = self.first_ending_above(offset);
        let whole = *self.sent.get(index).filter(|sent| sent.start < offset)?;
        let len = self.sent.len();
        if len >= self.ranges_max as usize || !self.moves.allow(index + 1, len, packets) {
            return None;
        }
        let mut above = whole;
        above.start = offset;
        above.len = (whole.end() - offset) as u32;
        above.marks.take(Marks::LOST_UPSTREAM);
        above.marks.take(Marks::LOST_DOWNSTREAM);
        above.marks.set(Marks::CONTINUES);
        let is_frame = mss.is_some_and(|mss| whole.len > u32::from(mss));
        above.marks.set(if is_frame {
            Marks::FRAMED
        } else {
            Marks::PARTED
        });
        if whole.copies > 1 {
            self.earlier.part(whole.start, offset, packets);
        }
        if let Some(below) = self.sent.get_mut(index) {
            below.len = (offset - below.start) as u32;
            below.marks.take(Marks::FIN);
            below.marks.set(Marks::SAMPLED);
        }
        self.sent.insert(index + 1, above);
        if index < self.acked as usize {
            self.acked += 1;
        }
        Some(index)
    }

    /// Whether the latest copy of the range at `index` is one packet with that of the range below.
    pub(super) fn continues(&self, index: usize) -> bool {
        self.sent
            .get(index)
            .is_some_and(|sent| sent.marks.has(Marks::CONTINUES))
    }

    /// Indices of the ranges whose latest copies are one packet with that of the range at `index`.
    pub(super) fn one_packet(&self, index: usize) -> std::ops::Range<usize> {
        let (mut first, mut last) = (index, index + 1);
        while first > 0 && self.continues(first) {
            first -= 1;
        }
        while self.continues(last) {
            last += 1;
        }
        first..last
    }

    /// Whether what became of the packet of the range at `index` is told with a range below.
    pub(super) fn is_rest(&self, index: usize) -> bool {
        let first = self.one_packet(index).start;
        let first = self.sent.get(first);
        first.is_some_and(|sent| sent.marks.has(Marks::REST))
    }

    /// Whether a repeat of the ranges `covered` leaves something of a packet above them, and what
    /// became of it is told with what is left below them.
    pub(super) fn leaves_rest(&self, covered: &std::ops::Range<usize>) -> bool {
        if covered.is_empty() {
            return false;
        }
        let packet = self.one_packet(covered.end - 1);
        packet.end > covered.end && (packet.start < covered.start || self.is_rest(covered.end - 1))
    }

    pub(super) fn get(&self, index: usize) -> Option<&Sent> {
        self.sent.get(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Sent> {
        self.sent.get_mut(index)
    }

    /// How many of the ranges of `start..end` passed once and were not reported by SACK; more than `most` do not
    /// matter, and no more than the first [`LOOKED_AT_MAX`] are looked at.
    pub(super) fn unreported_within(&self, start: i64, end: i64, most: u16) -> u16 {
        let first = self.first_ending_above(start);
        let unreported = |sent: &&Sent| sent.copies == 1 && !sent.marks.has(Marks::SACKED);
        let near = self.sent.range(first..).take(LOOKED_AT_MAX);
        let within = near.take_while(|sent| sent.start < end);
        within.filter(unreported).take(usize::from(most)).count() as u16
    }

    /// How many of the ranges of `start..end` were not reported by SACK, of so many at most.
    pub(super) fn untold_within(&self, start: i64, end: i64, most: u16) -> u16 {
        let first = self.first_ending_above(start);
        let within = self.sent.range(first..).take(LOOKED_AT_MAX);
        let within = within.take_while(|sent| sent.start < end);
        let untold = within.filter(|sent| !sent.marks.has(Marks::SACKED));
        untold.take(usize::from(most)).count() as u16
    }

    /// The first copy of a range that is remembered.
    #[inline(always)]
    pub(super) fn first_copy(&self, sent: &Sent) -> EarlierCopy {
        let kept = (sent.copies > 1).then(|| self.earlier.first(sent.start));
        kept.flatten().unwrap_or_else(|| sent.latest())
    }

    /// The only copy of the next range to be released that had the timestamp `echo`, where that range begins at `una`
    /// or below it and was emitted more than once.
    #[inline(always)]
    pub(super) fn next_with(&self, una: i64, echo: Option<u32>) -> Option<EarlierCopy> {
        let is_repeated = |sent: &&Sent| sent.copies > 1 || sent.marks.has(Marks::RESENT);
        let next = self.nth_unacked(0).filter(|next| next.start <= una);
        self.copy_with(next.filter(is_repeated)?, echo?)
    }

    #[cold]
    fn copy_with(&self, sent: &Sent, tsval: u32) -> Option<EarlierCopy> {
        let earlier = (sent.copies > 1).then(|| self.earlier.of(sent.start));
        let all = earlier.into_iter().flatten().chain([sent.latest()]);
        let mut found = all.filter(|copy| copy.tsval == tsval);
        found.next().filter(|_| found.next().is_none())
    }

    /// The latest copy of the range at `index` is about to give way to a further one; `needed`: what it was, if a repeat
    /// of its own; its sender has sent so many packets so far.
    pub(super) fn keep_copy(&mut self, index: usize, needed: Option<Needed>, packets: u64) {
        let Some(sent) = self.sent.get(index) else {
            return;
        };
        let mut copy = sent.latest();
        copy.needed = needed;
        copy.is_sampled = sent.marks.has(Marks::SAMPLED);
        if sent.copies == 1 {
            self.earlier.set_first(sent.start, copy, packets);
        } else {
            self.earlier.add(sent.start, copy, packets);
        }
    }

    /// A repeat has filled `start..end` of a hole.
    pub(super) fn note_filled(&mut self, start: i64, end: i64, opened: Opened) {
        self.earlier.note_filled(start, end, opened);
    }

    /// When the hole at `offset` opened that a repeat has filled.
    pub(super) fn opened(&self, offset: i64) -> Option<Opened> {
        self.earlier.opened(offset)
    }

    /// The first copy of the range at `index` has passed after further ones, as `segment`; its row
    /// is that of the copy seen first. Its sender has sent so many packets so far.
    pub(super) fn put_first(&mut self, index: usize, segment: &Segment, packets: u64) {
        if let Some(sent) = self.sent.get(index) {
            let tsval = segment.timestamps.map_or(0, |ts| ts.value);
            let row = self.first_copy(sent).row;
            let first = EarlierCopy::new(segment.at, tsval, row, segment.ip_id.unwrap_or(0));
            if sent.copies == 1 {
                self.earlier.set_first(sent.start, first, packets);
            } else {
                self.earlier.add_first(sent.start, first, packets);
            }
        }
    }

    /// Those that the cumulative ACK has not passed, lowest first.
    #[inline]
    pub(super) fn unacked_ranges(&self) -> impl Iterator<Item = &Sent> {
        self.sent.range(self.acked as usize..)
    }

    /// The `n`th range, from 0, of those that the cumulative ACK has not passed.
    #[inline]
    pub(super) fn nth_unacked(&self, n: usize) -> Option<&Sent> {
        self.sent.get(self.acked as usize + n)
    }

    /// The same, to be changed.
    pub(super) fn nth_unacked_mut(&mut self, n: usize) -> Option<&mut Sent> {
        self.sent.get_mut(self.acked as usize + n)
    }

    /// Whether any that is remembered from below `start` was sent after `since`.
    pub(super) fn is_any_sent_since(&self, since: CaptureTime, start: i64) -> bool {
        let above = self.first_ending_above(start);
        let mut below = self.sent.range(..above).rev().take(LOOKED_AT_MAX);
        below.any(|sent| sent.at > since)
    }

    /// Whether SACK, up to `highest`, has reported any that was sent within `times`, of those above the cumulative ACK:
    /// the highest first, which mostly was sent last.
    pub(super) fn has_reported(&self, times: &Range<CaptureTime>, highest: i64) -> bool {
        let (unacked, above) = (self.acked as usize, self.first_ending_above(highest));
        let below = self.sent.range(unacked.min(above)..above);
        below
            .rev()
            .take(LOOKED_AT_MAX)
            .any(|sent| times.contains(&sent.at) && sent.marks.has(Marks::SACKED))
    }

    /// When the highest range passed, where it was sent once and new.
    pub(super) fn highest_new_at(&self) -> Option<CaptureTime> {
        let once = |sent: &&Sent| sent.copies == 1 && sent.verdict.class == Class::New;
        self.sent.back().filter(once).map(|sent| sent.at)
    }

    /// Number of ranges that the cumulative ACK has not passed.
    #[inline]
    pub(super) fn unacked(&self) -> usize {
        self.sent.len() - self.acked as usize
    }

    /// The next range that ends at or below `ack`, once each, lowest first.
    #[inline]
    pub(super) fn release_next(&mut self, ack: i64) -> Option<&mut Sent> {
        let index = self.acked as usize;
        let sent = self.sent.get_mut(index).filter(|sent| sent.end() <= ack)?;
        self.acked += 1;
        Some(sent)
    }

    /// The same, and the first copy of that range.
    #[inline(always)]
    pub(super) fn release_next_copies(&mut self, ack: i64) -> Option<(&mut Sent, EarlierCopy)> {
        let first = self.first_copy(self.nth_unacked(0)?);
        self.release_next(ack).map(|sent| (sent, first))
    }

    /// Forgets acknowledged ranges beyond the history, some at a time; `flight`: how many were in flight before the ACK
    /// at `now`.
    #[inline]
    pub(super) fn trim(&mut self, flight: usize, now: CaptureTime) {
        if self.acked >= self.trimmed_from {
            self.trim_now(flight, now);
        }
    }

    #[inline(never)]
    fn trim_now(&mut self, flight: usize, now: CaptureTime) {
        let acked = self.acked as usize;
        let keep = flight.max(HISTORY_MIN);
        let mut gone = acked.saturating_sub(keep.max(HISTORY_MAX));
        while acked - gone > keep
            && let Some(sent) = self.sent.get(gone)
            && now.since(sent.at) >= HISTORY_NS
        {
            gone += 1;
        }
        if let Some(highest) = gone.checked_sub(1).and_then(|index| self.sent.get(index)) {
            self.earlier.forget(highest.start);
            self.sent.drain(..gone);
        }
        self.acked -= gone as u32;
        self.next_reported = self.next_reported.saturating_sub(gone as u32);
        self.trimmed_from = self.acked + (self.acked / 8).max(TRIMMED_TOGETHER_MIN);
    }

    /// Start of the highest range remembered.
    pub(super) fn highest_start(&self) -> Option<i64> {
        self.sent.back().map(|sent| sent.start)
    }

    /// Start of the lowest range remembered.
    pub(super) fn lowest_start(&self) -> Option<i64> {
        self.sent.front().map(|sent| sent.start)
    }
}

mod marks;
mod merge;
mod moves;
#[cfg(test)]
mod tests;
