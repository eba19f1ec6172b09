//! The earlier copies of ranges of which later ones have passed: few, so they are kept apart.

use std::collections::VecDeque;
use std::ops::Range;

use super::in_flight::Moves;
use crate::event::{Amendment, Evidence, LossPlace, Verdict};
use crate::time::CaptureTime;

/// Earlier copies of one range that are remembered; the first is one of them.
const COPIES_MAX: usize = 8;

/// Holes filled by repeats that are remembered: an original that is later than its own repeat comes soon after.
const FILLED_MAX: usize = 16;

/// What is known of a copy of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlierCopy {
    /// When it passed.
    pub(super) at: CaptureTime,
    /// Its `TSval`; meaningless where the flow has no timestamps.
    pub(super) tsval: u32,
    /// Its row, for `--segments`; of a first copy that passed after others, that of the copy seen first.
    pub(super) row: u32,
    /// Its IP id; meaningless for IPv6.
    pub(super) id: u16,
    /// What it was told to be, if that is a repeat of its own that was needed: known for as long as its range is, and
    /// to [`Superseded`](super::copies::Superseded) only until an ACK covers it.
    pub(super) needed: Option<Needed>,
    /// It gives no RTT sample: its packet has given it, or its last byte is in a range above.
    pub(super) is_sampled: bool,
    /// Of the first of a range: DSACKs that told of it; saturates.
    dsacks: u8,
}

/// A repeat that was needed, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needed {
    pub(super) verdict: Verdict,
    /// Where it showed an earlier copy to be lost.
    pub(super) lost: Option<LossPlace>,
}

impl Needed {
    /// It was not, after all: of a repeat that passed at `sent_at`, of so many bytes from `offset` on.
    pub(super) fn unneeded(
        self,
        sent_at: CaptureTime,
        (offset, payload_len): (i64, u32),
        evidence: Evidence,
    ) -> Amendment {
        Amendment {
            ordinal: None,
            sent_at,
            offset,
            payload_len,
            was: self.verdict,
            now: self.verdict.as_unneeded(evidence),
        }
    }
}

impl EarlierCopy {
    /// A copy that is no repeat of its own, or whose part in that is not known.
    pub(super) fn new(at: CaptureTime, tsval: u32, row: u32, id: u16) -> Self {
        Self {
            at,
            tsval,
            row,
            id,
            needed: None,
            is_sampled: false,
            dsacks: 0,
        }
    }
}

/// Earlier copies by where their ranges start, in the room of a pointer where there is none.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlierCopies(Option<Box<Kept>>);

/// In the order of the stream, and those of one range in the order in which their sender emitted them.
#[derive(Clone, Debug, Default)]
struct Kept {
    all: VecDeque<(i64, EarlierCopy)>,
    moves: Moves,
    /// The latest holes that repeats have filled.
    filled: VecDeque<Filled>,
}

/// A part of a hole that a repeat has filled.
#[derive(Clone, Copy, Debug)]
struct Filled {
    start: i64,
    end: i64,
    opened: Opened,
}

/// When a hole opened, and after how many packets of its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) at: CaptureTime,
    pub(super) after: u64,
}

impl Kept {
    /// Where those are of the range which starts at `start`.
    fn of(&self, start: i64) -> Range<usize> {
        let first = self.all.partition_point(|&(other, _)| other < start);
        let copies = self.all.range(first..);
        first..first + copies.take_while(|&&(other, _)| other == start).count()
    }

    /// Inserts one of a sender that has sent so many packets so far.
    fn insert(&mut self, place: usize, (start, copy): (i64, EarlierCopy), packets: u64) {
        // Repeats go up the stream, so mostly at the back.
        if self.moves.allow(place, self.all.len(), packets) {
            self.all.insert(place, (start, copy));
        }
    }
}

impl EarlierCopies {
    /// Memory that they hold besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |kept| {
            kept.all.capacity() * size_of::<(i64, EarlierCopy)>()
                + kept.filled.capacity() * size_of::<Filled>()
        })
    }

    /// A repeat has filled `start..end` of a hole.
    pub(super) fn note_filled(&mut self, start: i64, end: i64, opened: Opened) {
        let filled = &mut self.0.get_or_insert_default().filled;
        if filled.len() == FILLED_MAX {
            filled.pop_front();
        }
        filled.push_back(Filled { start, end, opened });
    }

    /// When the hole at `offset` opened that a repeat has filled.
    pub(super) fn opened(&self, offset: i64) -> Option<Opened> {
        let filled = &self.0.as_deref()?.filled;
        let mut latest_first = filled.iter().rev();
        let found = latest_first.find(|filled| (filled.start..filled.end).contains(&offset))?;
        Some(found.opened)
    }

    /// The first of the range which starts at `start`.
    pub(super) fn first(&self, start: i64) -> Option<EarlierCopy> {
        let all = &self.0.as_deref()?.all;
        let first = all.partition_point(|&(other, _)| other < start);
        let found = all.get(first).filter(|&&(other, _)| other == start);
        found.map(|&(_, copy)| copy)
    }

    /// Those of the range which starts at `start`, in the order in which they were emitted.
    pub(super) fn of(&self, start: i64) -> impl Iterator<Item = EarlierCopy> {
        let kept = self.0.as_deref();
        kept.into_iter()
            .flat_map(move |kept| kept.all.range(kept.of(start)).map(|&(_, copy)| copy))
    }

    /// Remembers the first of the range which starts at `start`, in place of what was known of it before;
    /// its sender has sent so many packets so far.
    pub(super) fn set_first(&mut self, start: i64, first: EarlierCopy, packets: u64) {
        let kept = &mut **self.0.get_or_insert_default();
        let old = kept.of(start);
        let place = old.start;
        kept.all.drain(old);
        kept.insert(place, (start, first), packets);
    }

    /// Remembers one more of the range which starts at `start`, the latest of those that are known.
    pub(super) fn add(&mut self, start: i64, copy: EarlierCopy, packets: u64) {
        if let Some(kept) = self.0.as_deref_mut() {
            let others = kept.of(start);
            if (1..COPIES_MAX).contains(&others.len()) {
                kept.insert(others.end, (start, copy), packets);
            }
        }
    }

    /// Remembers one of the range which starts at `start` that was emitted before those that are known.
    pub(super) fn add_first(&mut self, start: i64, first: EarlierCopy, packets: u64) {
        let kept = &mut **self.0.get_or_insert_default();
        let others = kept.of(start);
        if others.len() == COPIES_MAX {
            kept.all.remove(others.end - 1);
        }
        kept.insert(others.start, (start, first), packets);
    }

    /// A DSACK tells of the range which starts at `start`: how many have done so by now, and how many of its copies
    /// after the first are taken for needed repeats.
    pub(super) fn count_dsack(&mut self, start: i64) -> (u8, usize) {
        let Some(kept) = self.0.as_deref_mut() else {
            return (0, 0);
        };
        let mut copies = kept.of(start);
        let Some((_, first)) = copies.next().and_then(|first| kept.all.get_mut(first)) else {
            return (0, 0);
        };
        first.dsacks = first.dsacks.saturating_add(1);
        let dsacks = first.dsacks;
        let later = kept.all.range(copies);
        let needed = later.filter(|(_, copy)| copy.needed.is_some()).count();
        (dsacks, needed)
    }

    /// The latest repeat of the range which starts at `start` that is taken for needed: it is no longer.
    pub(super) fn take_needed(&mut self, start: i64) -> Option<(EarlierCopy, Needed)> {
        let kept = self.0.as_deref_mut()?;
        let copies = kept.of(start);
        let mut latest_first = kept.all.range_mut(copies).rev();
        latest_first.find_map(|(_, copy)| {
            let needed = copy.needed.take()?;
            Some((*copy, needed))
        })
    }

    /// The repeat of the range which starts at `start` that passed at `at` is told to be unneeded.
    pub(super) fn forget_needed(&mut self, start: i64, at: CaptureTime) {
        if let Some(kept) = self.0.as_deref_mut() {
            let copies = kept.of(start);
            let mut copies = kept.all.range_mut(copies);
            if let Some((_, copy)) = copies.find(|(_, copy)| copy.at == at) {
                copy.needed = None;
            }
        }
    }

    /// The range which starts at `start` has another end from now on: none of its copies is told as a packet of its own.
    pub(super) fn forget_all_needed(&mut self, start: i64) {
        if let Some(kept) = self.0.as_deref_mut() {
            let copies = kept.of(start);
            for (_, copy) in kept.all.range_mut(copies) {
                copy.needed = None;
            }
        }
    }

    /// What is known of the range which starts at `start` is known of one that starts at `offset`, above it and below
    /// the next, too.
    pub(super) fn part(&mut self, start: i64, offset: i64, packets: u64) {
        self.forget_all_needed(start);
        let copies: Vec<EarlierCopy> = self.of(start).collect();
        for (number, copy) in copies.into_iter().enumerate() {
            if number == 0 {
                self.set_first(offset, copy, packets);
            } else {
                self.add(offset, copy, packets);
            }
        }
    }

    /// Forgets those of the ranges that start at `start` or below it.
    pub(super) fn forget(&mut self, start: i64) {
        if let Some(Kept { all, .. }) = self.0.as_deref_mut() {
            while all.front().is_some_and(|&(lowest, _)| lowest <= start) {
                all.pop_front();
            }
        }
    }

    /// Forgets those of the ranges that start in `start..end`.
    pub(super) fn forget_within(&mut self, start: i64, end: i64) {
        if let Some(Kept { all, .. }) = self.0.as_deref_mut() {
            let place = |offset| all.partition_point(|&(start, _)| start < offset);
            let gone = place(start)..place(end);
            all.drain(gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(row: u32) -> EarlierCopy {
        EarlierCopy::new(CaptureTime::from_ns(i64::from(row)), row, row, 0)
    }

    const NONE: [u32; 0] = [];

    fn rows(all: &EarlierCopies, start: i64) -> Vec<u32> {
        all.of(start).map(|copy| copy.row).collect()
    }

    #[test]
    fn they_are_found_by_their_ranges_until_these_are_forgotten() {
        let mut all = EarlierCopies::default();
        assert_eq!(rows(&all, 0), NONE);
        for start in [300, 100, 200] {
            all.set_first(start, copy(start as u32), 0);
        }
        all.set_first(200, copy(7), 0);
        assert_eq!(
            [99, 100, 200, 300].map(|start| rows(&all, start)),
            [vec![], vec![100], vec![7], vec![300]]
        );
        all.forget(250);
        assert_eq!(
            [100, 200, 300].map(|start| rows(&all, start)),
            [vec![], vec![], vec![300]]
        );
    }

    #[test]
    fn a_repeat_is_taken_for_needed_until_its_range_is_told_of_or_has_another_end() {
        let needed = Needed {
            verdict: Verdict::NEW,
            lost: None,
        };
        let all = || {
            let mut all = EarlierCopies::default();
            all.set_first(100, copy(1), 0);
            for row in [2, 3] {
                let mut repeat = copy(row);
                repeat.needed = Some(needed);
                all.add(100, repeat, 0);
            }
            all
        };
        let row = |all: &mut EarlierCopies| all.take_needed(100).map(|(copy, _)| copy.row);
        let mut taken = all();
        assert_eq!([1, 2, 3].map(|_| row(&mut taken)), [Some(3), Some(2), None]);
        let mut told = all();
        assert_eq!(told.count_dsack(100), (1, 2));
        told.forget_needed(100, copy(3).at);
        assert_eq!(told.count_dsack(100), (2, 1));
        assert_eq!(row(&mut told), Some(2));
        let mut parted = all();
        parted.part(100, 150, 0);
        assert_eq!(
            [100, 150].map(|start| parted.take_needed(start)),
            [None, None]
        );
    }

    #[test]
    fn those_of_a_range_are_in_the_order_in_which_they_were_emitted() {
        let mut all = EarlierCopies::default();
        all.add(100, copy(1), 0);
        assert_eq!(rows(&all, 100), NONE, "without a first one");
        all.set_first(100, copy(2), 0);
        all.set_first(200, copy(9), 0);
        all.add(100, copy(3), 0);
        all.add(100, copy(4), 0);
        all.add_first(100, copy(1), 0);
        assert_eq!(rows(&all, 100), [1, 2, 3, 4]);
        all.part(100, 150, 0);
        assert_eq!(rows(&all, 150), [1, 2, 3, 4]);
        all.forget_within(100, 150);
        assert_eq!(rows(&all, 100), NONE);
        (5..20).for_each(|row| all.add(150, copy(row), 0));
        assert_eq!(rows(&all, 150), [1, 2, 3, 4, 5, 6, 7, 8], "no more");
        all.add_first(150, copy(0), 0);
        assert_eq!(rows(&all, 150), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(rows(&all, 200), [9]);
    }
}
