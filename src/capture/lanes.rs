//! Walks a run of records from several places at once, and gives what one walk would.
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

use super::record::Entry;
use crate::prefetch::{LINE_BYTES, prefetch};

/// Walks that overlap. More find no more of the memory's time to use.
const LANES_MAX: usize = 20;

/// Shorter lanes are not worth finding a start for.
const LANE_BYTES_MIN: usize = 64 << 10;

/// Walks without lanes after one in which most starts were wrong: a capture may be made of such.
const PAUSE_WALKS: u32 = 15;

/// The lanes of a window; kept, so that their memory is.
#[derive(Debug)]
pub(super) struct Lanes {
    all: Vec<Lane>,
    bytes_min: usize,
    /// Lanes of the last walk whose start was right.
    kept: usize,
    /// Walks to come without lanes.
    pause: u32,
    #[cfg(test)]
    walks: usize,
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
            #[cfg(test)]
            walks: 0,
        }
    }

    /// How often something was walked.
    #[cfg(test)]
    pub(super) fn walks(&self) -> usize {
        self.walks
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// Appends the records of `bytes` from `at` on, and moves `at` behind the last that `step` gives.
    ///
    /// The same as calling `step` until it gives nothing. `guess` gives a place from the one that it is given on where
    /// a record may begin; `ahead`, of the place of the next record, the one that the step after that needs to have at
    /// hand.
    pub(super) fn walk(
        &mut self,
        guess: impl Fn(usize) -> Option<usize>,
        ahead: impl Fn(usize) -> usize,
        (bytes, at): (&[u8], &mut usize),
        entries: &mut Vec<Entry>,
        step: impl Fn(&[u8], usize) -> Option<(Entry, usize)>,
    ) {
        let wanted = self.wanted(bytes.len().saturating_sub(*at));
        let lanes = self.cut(guess, bytes, *at, wanted);
        if lanes > 1 {
            walk_in_turns(&mut self.all[..lanes], bytes, ahead, &step);
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
        if self.kept < wanted / 2 {
            self.pause = PAUSE_WALKS;
        }
        #[cfg(test)]
        {
            self.walks += 1;
        }
    }

    /// How many lanes so many bytes are worth.
    fn wanted(&mut self, bytes: usize) -> usize {
        if self.pause > 0 {
            self.pause -= 1;
            1
        } else {
            (bytes / self.bytes_min).clamp(1, LANES_MAX)
        }
    }

    /// Finds the lanes of `bytes` from `at` on, as many as `wanted` at most; gives how many. The first begins at `at`.
    fn cut(
        &mut self,
        guess: impl Fn(usize) -> Option<usize>,
        bytes: &[u8],
        at: usize,
        wanted: usize,
    ) -> usize {
        let left = bytes.len().saturating_sub(at);
        self.all.resize_with(LANES_MAX, Lane::default);
        let mut found = 0;
        for index in 0..wanted {
            let nominal = at + left / wanted * index;
            let start = if index == 0 { Some(at) } else { guess(nominal) };
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
    ahead: impl Fn(usize) -> usize,
    step: &impl Fn(&[u8], usize) -> Option<(Entry, usize)>,
) {
    let mut open = lanes.len();
    while open > 0 {
        open = 0;
        for lane in &mut *lanes {
            if lane.at < lane.end
                && let Some((entry, next)) = step(bytes, lane.at)
            {
                expect(bytes, ahead(next));
                lane.entries.push(entry);
                lane.at = next;
                open += 1;
            } else {
                lane.end = lane.at;
            }
        }
    }
}

/// Begins to fetch the headers of the record at `at`, and the end of the one before it, before the other lanes have
/// their turns: what is left of these turns is too much for the processor to look beyond.
#[inline]
fn expect(bytes: &[u8], at: usize) {
    const END_BYTES: usize = 4;
    for place in [at.wrapping_sub(END_BYTES), at, at.wrapping_add(LINE_BYTES)] {
        if let Some(byte) = bytes.get(place) {
            prefetch(byte);
        }
    }
}
