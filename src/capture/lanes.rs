//! Walks a run of pcap records from several places at once, and gives what one walk would.
//!
//! Where the next record begins is known only when the length of this one is, so a walk of bytes that
//! are not in the cache waits for memory once a record: some 100 ns where records are large. The waits
//! of several walks in one thread overlap. So the bytes are cut into lanes, a plausible start is
//! guessed for each, and the lanes are walked in turns, a record each.
//!
//! The guesses decide about time only, never about what comes out: the first lane begins where it
//! must, and the entries of a lane are taken only if the one before it ended exactly where it
//! begins. A lane that begins anywhere else is dropped, and its part walked again from the right
//! place. (A capture of a download of a capture has plausible records inside its packets.)

use memchr::memmem;

use super::pcap::{Header, Shape};
use super::record::Entry;
use super::{ByteOrder, RECORD_BYTES_MAX};
use crate::prefetch::prefetch;

/// Walks that overlap. More find no more of the memory's time to use.
const LANES_MAX: usize = 20;

/// Shorter lanes are not worth finding a start for.
const LANE_BYTES_MIN: usize = 64 << 10;

/// How far behind its place a lane's start is looked for.
const SEARCH_BYTES_MAX: usize = 128 << 10;

/// Walks without lanes after one in which most starts were wrong: a capture may be made of such.
const PAUSE_WALKS: u32 = 15;

/// Records in a row, and their bytes, that make a start plausible.
const CHAIN_RECORDS: usize = 6;
const CHAIN_BYTES: usize = 4 << 10;

/// The lanes of a window; kept, so that their memory is.
#[derive(Debug)]
pub(super) struct Lanes {
    all: Vec<Lane>,
    bytes_min: usize,
    /// Lanes of the last walk whose start was right.
    kept: usize,
    /// Walks to come without lanes.
    pause: u32,
}

#[derive(Debug, Default)]
struct Lane {
    start: usize,
    /// How far it has been walked, and where it is to end.
    at: usize,
    end: usize,
    entries: Vec<Entry>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self::of(LANE_BYTES_MIN)
    }
}

impl Lanes {
    /// Lanes of at least so many bytes: at least 1.
    pub(super) fn of(bytes_min: usize) -> Self {
        Self {
            all: Vec::new(),
            bytes_min,
            kept: 0,
            pause: 0,
        }
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// Appends the records of `bytes` from `at` on, and moves `at` behind the last that `step` gives.
    ///
    /// The same as calling `step` until it gives nothing.
    pub(super) fn walk(
        &mut self,
        shape: Shape,
        (bytes, at): (&[u8], &mut usize),
        entries: &mut Vec<Entry>,
        step: impl Fn(&[u8], usize) -> Option<(Entry, usize)>,
    ) {
        let lanes = self.cut(shape, bytes, *at);
        if lanes > 1 {
            walk_in_turns(&mut self.all[..lanes], bytes, &step);
        }
        self.kept = 0;
        for lane in &mut self.all[..lanes] {
            // The records before a lane that does not follow the one before it; none if it does.
            walk_to(lane.start, (bytes, at), entries, &step);
            if *at == lane.start {
                entries.append(&mut lane.entries);
                *at = lane.at;
                self.kept += 1;
            }
        }
        walk_to(usize::MAX, (bytes, at), entries, &step);
        if self.kept < lanes / 2 {
            self.pause = PAUSE_WALKS;
        }
    }

    /// Finds the lanes of `bytes` from `at` on; gives how many. The first begins at `at`.
    fn cut(&mut self, shape: Shape, bytes: &[u8], at: usize) -> usize {
        let left = bytes.len().saturating_sub(at);
        let wanted = if self.pause > 0 {
            self.pause -= 1;
            1
        } else {
            (left / self.bytes_min).clamp(1, LANES_MAX)
        };
        self.all.resize_with(LANES_MAX, Lane::default);
        let mut found = 0;
        let first = bytes.get(at..).and_then(|rest| shape.header(rest));
        for index in 0..wanted {
            let nominal = at + left / wanted * index;
            let start = match &first {
                _ if index == 0 => Some(at),
                Some(first) => plausible_start(shape, bytes, nominal, first.seconds),
                None => None,
            };
            let Some(start) = start else { continue };
            if found > 0 {
                if self.all[found - 1].start >= start {
                    continue;
                }
                self.all[found - 1].end = start;
            }
            let lane = &mut self.all[found];
            lane.entries.clear();
            (lane.start, lane.at, lane.end) = (start, start, usize::MAX);
            found += 1;
        }
        found
    }
}

/// Walks on until the records end, or one begins at `end` or behind it.
#[inline]
pub(super) fn walk_to(
    end: usize,
    (bytes, at): (&[u8], &mut usize),
    entries: &mut Vec<Entry>,
    step: &impl Fn(&[u8], usize) -> Option<(Entry, usize)>,
) {
    while *at < end
        && let Some((entry, next)) = step(bytes, *at)
    {
        entries.push(entry);
        *at = next;
    }
}

/// Takes one record of each lane after the other, until all have come to their end.
fn walk_in_turns(
    lanes: &mut [Lane],
    bytes: &[u8],
    step: &impl Fn(&[u8], usize) -> Option<(Entry, usize)>,
) {
    let mut open = lanes.len();
    while open > 0 {
        open = 0;
        for lane in &mut *lanes {
            if lane.at < lane.end
                && let Some((entry, next)) = step(bytes, lane.at)
            {
                expect(bytes, next);
                lane.entries.push(entry);
                lane.at = next;
                open += 1;
            } else {
                lane.end = lane.at;
            }
        }
    }
}

/// Begins to fetch the headers of the record at `at`, which two lines of the cache hold, before the other lanes have
/// their turns: what is left of these turns is too much for the processor to look beyond.
#[inline]
fn expect(bytes: &[u8], at: usize) {
    for place in [at, at + 64] {
        if let Some(byte) = bytes.get(place) {
            prefetch(byte);
        }
    }
}

/// The first place from `from` on at which a run of records could begin, dated near `seconds`.
fn plausible_start(shape: Shape, bytes: &[u8], from: usize, seconds: u32) -> Option<usize> {
    // The upper half of the seconds is the same for 18 hours.
    let upper = (seconds >> 16) as u16;
    let (upper, behind) = match shape.order {
        ByteOrder::Little => (upper.to_le_bytes(), 2),
        ByteOrder::Big => (upper.to_be_bytes(), 0),
    };
    let end = bytes.len().min(from + SEARCH_BYTES_MAX);
    let haystack = bytes.get(from..end)?;
    memmem::find_iter(haystack, &upper)
        .filter_map(|place| (from + place).checked_sub(behind))
        .find(|&start| start >= from && is_plausible(shape, &bytes[start..]))
}

fn is_plausible(shape: Shape, records: &[u8]) -> bool {
    let mut at = 0;
    for tried in 0.. {
        if tried >= CHAIN_RECORDS && at >= CHAIN_BYTES {
            return true;
        }
        let Some(header) = records.get(at..).and_then(|rest| shape.header(rest)) else {
            // To the end of the bytes, and nothing spoke against it.
            return tried > 0;
        };
        if !could_be(shape, header) {
            return false;
        }
        at += shape.header_bytes + header.captured_len as usize;
    }
    false
}

fn could_be(shape: Shape, header: Header) -> bool {
    let fraction_end = if shape.ns_per_unit == 1 {
        1_000_000_000
    } else {
        1_000_000
    };
    header.fraction < fraction_end
        && (1..=RECORD_BYTES_MAX).contains(&header.captured_len)
        && header.original_len >= header.captured_len
}
