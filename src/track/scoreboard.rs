//! What the receiver of one direction has reported by SACK.

mod list;

use thin_vec::ThinVec;

use self::list::RangeList;
use super::in_flight::Moves;
use super::ranges::{HOLES_MAX, StreamRange};
use crate::decode::{SackBlock, SackBlocks, Timestamps};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// Disjoint ranges kept for one direction by the SACK scoreboard: as many as holes. A peer that reports more is
/// lying or hopeless: the lowest range is given up, and its bytes count as in flight again.
const RANGES_MAX: usize = HOLES_MAX as usize;

/// Ranges that are looked at for a segment. Only what is reported and never passed here is above all that was seen: so
/// much of it in so many pieces is made up, to keep an analysis busy.
const LOOKED_AT_MAX: usize = 256;

/// How often what was reported is taken back in one direction. A receiver may throw it away (RFC 2018 section 8), which
/// hardly any does; one that does it with each ACK would make all that is in flight be looked at each time.
const TAKEN_BACK_MAX: u8 = 64;

/// The SACK scoreboard of one direction (RFC 6675 section 3), in the room of a pointer: most
/// directions never need one.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard(Option<Box<Board>>);

/// Disjoint ranges, sorted, not touching.
///
/// Blocks arrive mostly at the upper end and leave at the lower one, and few are alive at a time:
/// a sorted list searched from above.
#[derive(Clone, Debug, Default)]
struct Board {
    ranges: RangeList,
    moves: Moves,
    bytes: u64,
    /// By their places in the option, blocks of which all bytes are in `ranges` or have been passed by
    /// the cumulative ACK since. An empty one where there is none.
    last: [SackBlock; SackBlocks::MAX],
    /// Below it nothing is entered any more: a range that ended there was given up, and what is reported of it again
    /// would make all its segments be looked at again.
    given_up: Option<i64>,
    /// How often the receiver has thrown away what it had reported.
    taken_back: u8,
    /// Room for what the next ACK reports for the first time.
    fresh: ThinVec<StreamRange>,
    /// Of this an ACK that had no room for all news may have left something out.
    untold: Option<StreamRange>,
    /// What the last report before any data said: where that is in the stream was not known.
    early: Option<(Seq, SackBlocks)>,
    /// Since when data is reported from above all that was seen, as when it was last found to be.
    beyond_since: Option<CaptureTime>,
    /// What the last duplicate ACK echoed, or the last that reported more; 0 where it had no timestamps.
    echo: u32,
}

/// What an ACK with these timestamps echoes.
#[inline]
fn echo_of(timestamps: Option<Timestamps>) -> u32 {
    timestamps.map_or(0, |timestamps| timestamps.echo)
}

impl Scoreboard {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |board| {
            size_of::<Board>() + board.ranges.capacity() * size_of::<StreamRange>()
        })
    }

    /// Bytes in all ranges.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |board| board.bytes)
    }

    /// How many of the bytes lie at or above `offset`, where the highest are; `None` where these are in more ranges
    /// than are looked at for each segment.
    pub(super) fn bytes_from(&self, offset: i64) -> Option<u64> {
        self.0
            .as_ref()
            .map_or(Some(0), |board| board.bytes_from(offset))
    }

    /// End of the highest range.
    #[inline]
    pub(super) fn highest_end(&self) -> Option<i64> {
        self.0.as_ref()?.ranges.last().map(|range| range.end)
    }

    /// Whether what was not reported of `start..end` may have arrived all the same: an ACK had no room for it.
    pub(super) fn leaves_out(&self, start: i64, end: i64) -> bool {
        let untold = self.0.as_ref().and_then(|board| board.untold);
        untold.is_some_and(|untold| start < untold.end && untold.start < end)
    }

    /// A duplicate ACK, or one that reports more, has these timestamps.
    #[inline]
    pub(super) fn note_echo(&mut self, timestamps: Option<Timestamps>) {
        if let Some(board) = &mut self.0 {
            board.echo = echo_of(timestamps);
        }
    }

    /// Whether the last of these had that `echo`, as far as is known.
    pub(super) fn echoes(&self, echo: u32) -> bool {
        self.0.as_ref().is_some_and(|board| board.echo == echo)
    }

    /// An ACK has reported as much as it had room for, above what was `highest` before; `una` is acknowledged.
    pub(super) fn note_crowded(&mut self, una: i64, highest: Option<i64>) {
        let Some(board) = &mut self.0 else { return };
        let start = match board.untold {
            Some(untold) if untold.end > una => untold.start,
            _ => highest.unwrap_or(una),
        };
        let end = board.ranges.last().map_or(start, |range| range.end);
        board.untold = Some(StreamRange { start, end });
    }

    /// Keeps what an ACK reports that passes at `at` before any data.
    pub(super) fn keep_early(&mut self, at: CaptureTime, report: (Seq, SackBlocks)) {
        let board = self.0.get_or_insert_default();
        board.early = Some(report);
        board.beyond_since.get_or_insert(at);
    }

    /// What the last ACK before any data said.
    pub(super) fn take_early(&mut self) -> Option<(Seq, SackBlocks)> {
        self.0.as_mut()?.early.take()
    }

    /// Whether data is reported from above all that was seen, at the time of an ACK that passes at `at`.
    pub(super) fn note_beyond(&mut self, at: CaptureTime, is_beyond: bool) {
        if let Some(board) = &mut self.0 {
            let since = board.beyond_since.take().unwrap_or(at);
            board.beyond_since = is_beyond.then_some(since);
        }
    }

    /// No data is reported from above all that was seen.
    pub(super) fn forget_beyond(&mut self) {
        if let Some(board) = &mut self.0 {
            board.beyond_since = None;
        }
    }

    /// Since when data is reported from above all that was seen.
    pub(super) fn beyond_since(&self) -> Option<CaptureTime> {
        self.0.as_ref().and_then(|board| board.beyond_since)
    }

    /// Whether all of `start..end` was reported.
    pub(super) fn covers(&self, start: i64, end: i64) -> bool {
        self.0
            .as_ref()
            .is_some_and(|board| board.covers(start, end))
    }

    /// Room for what an ACK reports for the first time.
    #[inline]
    pub(super) fn take_fresh(&mut self) -> ThinVec<StreamRange> {
        let board = self.0.as_mut();
        board.map_or_else(ThinVec::new, |board| std::mem::take(&mut board.fresh))
    }

    /// Puts that back, for the next one.
    #[inline]
    pub(super) fn keep_fresh(&mut self, mut list: ThinVec<StreamRange>) {
        list.clear();
        if let Some(board) = &mut self.0 {
            board.fresh = list;
        }
    }

    /// Whether the byte at `offset` was reported.
    #[inline]
    pub(super) fn holds(&self, offset: i64) -> bool {
        self.0.as_ref().is_some_and(|board| board.holds(offset))
    }

    /// Adds the blocks of an ACK as far as they lie at or above `floor`, and calls `fresh` with each
    /// part that was not reported before. `range` tells where a block is, if it makes sense; the sender of the data has
    /// sent so many packets so far.
    pub(super) fn report(
        &mut self,
        blocks: &[SackBlock],
        floor: i64,
        packets: u64,
        range: impl Fn(SackBlock) -> Option<StreamRange>,
        mut fresh: impl FnMut(StreamRange),
    ) {
        let board = self.0.get_or_insert_default();
        let floor = board.given_up.map_or(floor, |given_up| floor.max(given_up));
        for (index, &block) in blocks.iter().enumerate() {
            // All but the first repeat what the ACKs before reported (RFC 2018 section 4), and mostly
            // in the same places.
            if board.last.get(index) == Some(&block) {
                continue;
            }
            let found = range(block);
            if let Some(last) = board.last.get_mut(index) {
                // What lies below the floor may be above it later: before any data that is higher than afterwards.
                let whole = found.filter(|found| found.start >= floor);
                *last = whole.map_or_else(SackBlock::default, |_| block);
            }
            if let Some(StreamRange { start, end }) = found.filter(|found| found.end > floor) {
                board.insert(start.max(floor), end, packets, &mut fresh);
            }
        }
    }

    /// Enters the blocks of an ACK where all but the first, `start..end`, are as they were, and that only lets a range
    /// grow at its upper end: the part that was not reported before. Else `None`, and nothing changes.
    #[inline(always)]
    pub(super) fn grow_first(
        &mut self,
        blocks: &[SackBlock],
        start: i64,
        end: i64,
        timestamps: Option<Timestamps>,
    ) -> Option<StreamRange> {
        let board = self.0.as_mut()?;
        let ([first, others @ ..], [_, last @ ..]) = (blocks, &board.last) else {
            return None;
        };
        if last.get(..others.len()) != Some(others) {
            return None;
        }
        let part = board.grow_one(start, end);
        if part.is_some() {
            board.last[0] = *first;
            board.echo = echo_of(timestamps);
        }
        part
    }

    /// The receiver has thrown away what it had reported: forgets all, but not for the umpteenth time. Whether it did.
    pub(super) fn take_back(&mut self) -> bool {
        let Some(board) = &mut self.0 else {
            return false;
        };
        let taken_back = board.taken_back + 1;
        let forgets = taken_back <= TAKEN_BACK_MAX;
        if forgets {
            **board = Board {
                taken_back,
                ..Board::default()
            };
        }
        forgets
    }

    /// Forgets all below `offset`, which the cumulative ACK has passed.
    pub(super) fn release_below(&mut self, offset: i64) {
        if let Some(board) = &mut self.0 {
            board.release_below(offset);
        }
    }
}

impl Board {
    fn bytes_from(&self, offset: i64) -> Option<u64> {
        let ranges = self.ranges.as_slice();
        let first = ranges.len().saturating_sub(LOOKED_AT_MAX);
        if first > 0 && ranges[first - 1].end > offset {
            return None;
        }
        let above = ranges[first..].iter().rev();
        let above = above.take_while(|range| range.end > offset);
        let bytes = above.map(|range| (range.end - range.start.max(offset)) as u64);
        Some(bytes.sum())
    }

    /// Whether all of `start..end` was reported.
    fn covers(&self, start: i64, end: i64) -> bool {
        let ranges = self.ranges.as_slice();
        let index = ranges.partition_point(|range| range.end < end);
        ranges.get(index).is_some_and(|range| range.start <= start)
    }

    /// Adds `start..end` and calls `fresh` with each part of it that was not reported before.
    fn insert(&mut self, start: i64, end: i64, packets: u64, mut fresh: impl FnMut(StreamRange)) {
        // The ranges that touch the new one are those from `first` up to `last`.
        let first = self.first_ending_at_or_above(start);
        if self.grow(first, start, end, &mut fresh)
            || !self
                .moves
                .allow(first, self.ranges.as_slice().len(), packets)
        {
            return;
        }
        let mut last = first;
        let mut merged = StreamRange { start, end };
        let mut from = start;
        let touching = self.ranges.as_slice()[first..].iter();
        for range in touching.take_while(|range| range.start <= end) {
            if from < range.start {
                fresh(StreamRange {
                    start: from,
                    end: range.start,
                });
                self.bytes += (range.start - from) as u64;
            }
            from = from.max(range.end);
            merged.start = merged.start.min(range.start);
            merged.end = merged.end.max(range.end);
            last += 1;
        }
        if from < end {
            fresh(StreamRange { start: from, end });
            self.bytes += (end - from) as u64;
        }
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges.as_mut_slice()[first] = merged;
            self.ranges.remove(first + 1..last);
        }
        let ranges = self.ranges.as_slice();
        if ranges.len() > RANGES_MAX {
            let dropped = ranges[0];
            self.ranges.remove(0..1);
            self.bytes -= (dropped.end - dropped.start) as u64;
            self.given_up = self.given_up.max(Some(dropped.end));
            self.last = [SackBlock::default(); SackBlocks::MAX];
        }
    }

    /// Index of the first range that ends at or above `offset`: mostly one of the highest, which the
    /// blocks of an ACK repeat.
    #[inline(always)]
    fn first_ending_at_or_above(&self, offset: i64) -> usize {
        let ranges = self.ranges.as_slice();
        let below = ranges.len().saturating_sub(3);
        for (index, range) in (below..ranges.len()).zip(&ranges[below..]).rev() {
            if range.start <= offset {
                return index + usize::from(range.end < offset);
            }
        }
        ranges[..below].partition_point(|range| range.end < offset)
    }

    /// Adds `start..end` where that only lets a range grow at its upper end: the part that was not reported before.
    #[inline(always)]
    fn grow_one(&mut self, start: i64, end: i64) -> Option<StreamRange> {
        // Mostly the highest one.
        let Some(range) = self.ranges.last_mut().filter(|range| range.start <= start) else {
            return self.grow_lower(start, end);
        };
        if range.end < start || end <= range.end {
            return None;
        }
        let from = std::mem::replace(&mut range.end, end);
        self.bytes += (end - from) as u64;
        Some(StreamRange { start: from, end })
    }

    #[inline(never)]
    fn grow_lower(&mut self, start: i64, end: i64) -> Option<StreamRange> {
        let index = self.first_ending_at_or_above(start);
        let mut part = None;
        self.grow(index, start, end, &mut |grown| part = Some(grown));
        part
    }

    /// Adds `start..end` where it begins in the range at `index` and reaches no other, as nearly all
    /// blocks do: they repeat a range, or let it grow at its upper end.
    #[inline(always)]
    fn grow(
        &mut self,
        index: usize,
        start: i64,
        end: i64,
        fresh: &mut impl FnMut(StreamRange),
    ) -> bool {
        let ranges = self.ranges.as_mut_slice();
        let next = ranges.get(index + 1).map_or(i64::MAX, |next| next.start);
        let Some(range) = ranges.get_mut(index).filter(|range| range.start <= start) else {
            return false;
        };
        if end <= range.end {
            return true;
        }
        if end >= next {
            return false;
        }
        fresh(StreamRange {
            start: range.end,
            end,
        });
        self.bytes += (end - range.end) as u64;
        range.end = end;
        true
    }

    /// Whether the byte at `offset` was reported.
    fn holds(&self, offset: i64) -> bool {
        let ranges = self.ranges.as_slice();
        let index = ranges.partition_point(|range| range.end <= offset);
        ranges.get(index).is_some_and(|range| range.start <= offset)
    }

    /// Forgets all below `offset`, which the cumulative ACK has passed.
    fn release_below(&mut self, offset: i64) {
        let mut gone = 0;
        for range in self.ranges.as_mut_slice() {
            if range.end <= offset {
                self.bytes -= (range.end - range.start) as u64;
                gone += 1;
            } else {
                if range.start < offset {
                    self.bytes -= (offset - range.start) as u64;
                    range.start = offset;
                }
                break;
            }
        }
        if gone > 0 {
            self.ranges.remove(0..gone);
            self.last = [SackBlock::default(); SackBlocks::MAX];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;
    use proptest::prelude::*;

    fn range_of(block: SackBlock) -> Option<StreamRange> {
        let (start, end) = (i64::from(block.start.0), i64::from(block.end.0));
        (start < end).then_some(StreamRange { start, end })
    }

    fn block() -> impl Strategy<Value = SackBlock> {
        (0_u32..64, 0_u32..=64).prop_map(|(start, end)| SackBlock {
            start: Seq(start),
            end: Seq(end),
        })
    }

    fn reported(board: &mut Scoreboard, start: u32, end: u32) -> usize {
        let block = SackBlock {
            start: Seq(start),
            end: Seq(end),
        };
        let mut parts = 0;
        board.report(&[block], 0, 0, range_of, |_| parts += 1);
        parts
    }

    #[test]
    fn what_was_given_up_is_not_reported_again() {
        let mut board = Scoreboard::default();
        assert_eq!(reported(&mut board, 10, 900), 1);
        for number in 0..RANGES_MAX as u32 {
            assert_eq!(
                reported(&mut board, 1000 + 2 * number, 1001 + 2 * number),
                1
            );
        }
        // A lower one, and one that lies on both sides of what was given up.
        assert_eq!(reported(&mut board, 10, 900), 0);
        assert_eq!(reported(&mut board, 20, 910), 1);
        assert_eq!(reported(&mut board, 20, 910), 0);
        assert_eq!(board.bytes(), RANGES_MAX as u64);
    }

    /// Of 300 ranges of one byte each, at 0, 2 and so on.
    #[test]
    fn bytes_above_are_summed_up_where_they_are_in_few_ranges() {
        let mut board = Scoreboard::default();
        assert_eq!(board.bytes_from(0), Some(0));
        for number in 0..300 {
            reported(&mut board, 2 * number, 2 * number + 1);
        }
        let first = 2 * (300 - LOOKED_AT_MAX as i64);
        assert_eq!(board.bytes_from(first), Some(LOOKED_AT_MAX as u64));
        assert_eq!(board.bytes_from(first - 1), Some(LOOKED_AT_MAX as u64));
        assert_eq!(board.bytes_from(first - 2), None);
        assert_eq!(board.bytes_from(598), Some(1));
        assert_eq!(board.bytes_from(599), Some(0));
    }

    #[test]
    fn what_was_reported_is_taken_back_so_often_and_then_stands() {
        let mut board = Scoreboard::default();
        assert!(!board.take_back());
        for _ in 0..TAKEN_BACK_MAX {
            assert_eq!(reported(&mut board, 10, 20), 1);
            assert!(board.take_back());
        }
        assert_eq!(reported(&mut board, 10, 20), 1);
        assert!(!board.take_back());
        assert_eq!(reported(&mut board, 10, 20), 0);
        assert_eq!(board.bytes(), 10);
    }

    proptest! {
        /// Against a flag a byte, the slow and obvious twin: which bytes are new, which are held.
        #[test]
        fn it_agrees_with_a_flag_a_byte(
            acks in proptest::collection::vec(
                (proptest::collection::vec(block(), 0..3), any::<bool>(), 0_i64..8, 0_u8..6),
                0..20,
            ),
        ) {
            let mut board = Scoreboard::default();
            let mut flags = [false; 64];
            let mut una = 0;
            let mut repeated: Vec<SackBlock> = Vec::new();
            for (mut blocks, repeats, step, fate) in acks {
                // A receiver repeats blocks behind the newest one.
                if repeats {
                    blocks.extend(repeated.iter().take(2));
                }
                repeated.clone_from(&blocks);
                let mut fresh = [false; 64];
                board.report(&blocks, una, 0, range_of, |part| {
                    let part = &mut fresh[part.start as usize..part.end as usize];
                    assert!(part.iter().all(|&flag| !flag), "told once");
                    part.fill(true);
                });
                let mut expected = [false; 64];
                for range in blocks.iter().copied().filter_map(range_of) {
                    for at in range.start.max(una)..range.end {
                        expected[at as usize] = !std::mem::replace(&mut flags[at as usize], true)
                            || expected[at as usize];
                    }
                }
                prop_assert_eq!(fresh, expected);
                if fate == 0 {
                    // What is reported again then is new again.
                    board.take_back();
                    flags.fill(false);
                }
                una = (una + step).min(64);
                board.release_below(una);
                flags[..una as usize].fill(false);
                let held = flags.iter().filter(|&&flag| flag).count() as u64;
                prop_assert_eq!(board.bytes(), held);
                for start in 0..64_usize {
                    prop_assert_eq!(board.holds(start as i64), flags[start]);
                    for end in start + 1..=64 {
                        let all = flags[start..end].iter().all(|&flag| flag);
                        prop_assert_eq!(board.covers(start as i64, end as i64), all);
                    }
                }
                let ranges = board.0.as_ref().map_or(&[][..], |board| board.ranges.as_slice());
                for pair in ranges.windows(2) {
                    prop_assert!(pair[0].end < pair[1].start, "touching ranges must merge");
                }
            }
        }
    }
}
