//! Rows of segments that wait until nothing can change them.

use std::collections::VecDeque;

use crate::event::{RttLabel, Verdict};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// A row of `--segments` on its way to being final.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) ordinal: u64,
    pub(super) at: CaptureTime,
    /// Of the first byte, on the wire: that of the offset, but for a segment out of reach.
    pub(super) seq: Seq,
    pub(super) offset: i64,
    pub(super) payload_len: u32,
    pub(super) verdict: Verdict,
    pub(super) rtt: Option<(i64, RttLabel)>,
    pub(super) in_flight_bytes: Option<u64>,
}

/// The rows of one direction whose class is not final yet, in the order the segments passed.
///
/// A row is final when its bytes have left [`InFlight`](super::in_flight::InFlight): no ACK, SACK, DSACK or late
/// original can then be matched with it any more.
#[derive(Debug, Default)]
pub(super) struct Rows(Option<Box<HeldRows>>);

#[derive(Debug, Default)]
struct HeldRows {
    rows: VecDeque<Row>,
    /// Number of the first row in `rows`; numbers wrap.
    first: u32,
}

impl Rows {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let rows = self.0.as_ref().map_or(0, |held| held.rows.capacity());
        rows * size_of::<Row>()
    }

    /// Adds a row and returns its number.
    pub(super) fn push(&mut self, row: Row) -> u32 {
        let held = self.0.get_or_insert_default();
        held.rows.push_back(row);
        held.first.wrapping_add(held.rows.len() as u32 - 1)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Row> {
        let held = self.0.as_mut()?;
        held.rows.get_mut(number.wrapping_sub(held.first) as usize)
    }

    /// Takes out the next final row: one that ends at or below `offset`, or the oldest of more than `most`.
    pub(super) fn pop_final(&mut self, offset: i64, most: u32) -> Option<Row> {
        let held = self.0.as_mut()?;
        let row = held.rows.front()?;
        if row.offset + i64::from(row.payload_len) > offset && held.rows.len() <= most as usize {
            return None;
        }
        held.first = held.first.wrapping_add(1);
        held.rows.pop_front()
    }
}
