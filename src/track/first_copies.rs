//! The first copies of ranges of which later ones have passed: few, so they are kept apart.

use std::collections::VecDeque;

use super::in_flight::Moves;
use crate::time::CaptureTime;

/// What is known of the copy of a range that its sender emitted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstCopy {
    /// When it passed.
    pub(super) at: CaptureTime,
    /// Its `TSval`; meaningless where the flow has no timestamps.
    pub(super) tsval: u32,
    /// Row of the copy seen first, for `--segments`.
    pub(super) row: u32,
    /// Its IP id; meaningless for IPv6.
    pub(super) id: u16,
}

/// First copies by where their ranges start, in the room of a pointer where there is none.
#[derive(Debug, Default)]
pub(super) struct FirstCopies(Option<Box<Kept>>);

/// In the order of the stream.
#[derive(Debug, Default)]
struct Kept {
    all: VecDeque<(i64, FirstCopy)>,
    moves: Moves,
}

impl FirstCopies {
    /// Memory that they hold besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let room = self.0.as_ref().map_or(0, |kept| kept.all.capacity());
        room * size_of::<(i64, FirstCopy)>()
    }

    /// That of the range which starts at `start`.
    pub(super) fn get(&self, start: i64) -> Option<FirstCopy> {
        let all = &self.0.as_deref()?.all;
        let place = all.binary_search_by_key(&start, |&(start, _)| start).ok()?;
        all.get(place).map(|&(_, first)| first)
    }

    /// Remembers that of the range which starts at `start`, in place of what it was before.
    pub(super) fn set(&mut self, start: i64, first: FirstCopy) {
        let Kept { all, moves } = &mut **self.0.get_or_insert_default();
        match all.binary_search_by_key(&start, |&(start, _)| start) {
            Ok(place) => all[place].1 = first,
            // Repeats go up the stream, so mostly at the back.
            Err(place) if moves.allow(place, all.len(), start) => {
                all.insert(place, (start, first));
            }
            Err(_) => {}
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

    #[test]
    fn they_are_found_by_their_ranges_until_these_are_forgotten() {
        let first = |row| FirstCopy {
            at: CaptureTime::from_ns(i64::from(row)),
            tsval: row,
            row,
            id: 0,
        };
        let mut all = FirstCopies::default();
        assert_eq!(all.get(0), None);
        for start in [300, 100, 200] {
            all.set(start, first(start as u32));
        }
        all.set(200, first(7));
        let rows =
            |all: &FirstCopies| [99, 100, 200, 300].map(|start| all.get(start).map(|f| f.row));
        assert_eq!(rows(&all), [None, Some(100), Some(7), Some(300)]);
        all.forget(250);
        assert_eq!(rows(&all), [None, None, None, Some(300)]);
    }
}
