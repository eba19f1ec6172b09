//! Rows of segments that wait until nothing can change them.

use std::collections::VecDeque;

use crate::event::ClassifiedSegment;

/// The rows of one direction whose class is not final yet, in the order the segments passed.
///
/// A row is final when its bytes have left [`InFlight`](super::in_flight::InFlight): no ACK, SACK, DSACK or late
/// original can then be matched with it any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(Option<Box<HeldRows>>);

#[derive(Clone, Debug, Default)]
struct HeldRows {
    rows: VecDeque<ClassifiedSegment>,
    /// Number of the first row in `rows`; numbers wrap.
    first: u32,
}

impl Rows {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let rows = self.0.as_ref().map_or(0, |held| held.rows.capacity());
        rows * size_of::<ClassifiedSegment>()
    }

    /// So many more come soon.
    pub(super) fn reserve(&mut self, rows: usize) {
        /// Of more, few wait at a time: mostly the first window.
        const WAITING: usize = 16;
        if rows > 0 {
            let held = self.0.get_or_insert_default();
            held.rows.reserve_exact(rows.min(WAITING));
        }
    }

    /// Adds a row and returns its number.
    #[inline]
    pub(super) fn push(&mut self, row: ClassifiedSegment) -> u32 {
        let held = self.0.get_or_insert_default();
        held.rows.push_back(row);
        held.first.wrapping_add(held.rows.len() as u32 - 1)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut ClassifiedSegment> {
        let held = self.0.as_mut()?;
        held.rows.get_mut(number.wrapping_sub(held.first) as usize)
    }

    /// Hands on the final rows, and forgets them: those that end at or below `offset`, and the oldest of more than
    /// `most`.
    #[inline]
    pub(super) fn take_final(
        &mut self,
        offset: i64,
        most: u32,
        mut each: impl FnMut(&ClassifiedSegment),
    ) {
        let Some(held) = &mut self.0 else {
            return;
        };
        while let Some(row) = held.rows.front()
            && (row.offset + i64::from(row.payload_len) <= offset
                || held.rows.len() > most as usize)
        {
            each(row);
            held.rows.pop_front();
            held.first = held.first.wrapping_add(1);
        }
    }
}
