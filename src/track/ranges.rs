//! Ranges of one direction's stream, and those that were never seen.

use std::collections::VecDeque;

use super::earlier_copies::Opened;
use super::in_flight::Moves;
use crate::decode::Segment;
use crate::time::CaptureTime;

/// Holes kept for one direction unless asked otherwise: every other packet of a flight that 10 Gbit/s over 300 ms hold.
/// One more drops the lowest, which then counts as seen.
pub(super) const HOLES_MAX: u32 = 1 << 17;

/// Holes that have been filled and keep their place, beyond as many as there are others: taking out each by itself
/// would move all that were lost once more and lie below.
const FILLED_MAX: usize = 64;

/// How far below a hole that falls into two one that has been filled is looked for, to take its place.
const NEAR_HOLES: usize = 32;

/// Bytes `start..end` of one direction's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamRange {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// Bytes below the highest byte seen that this capture has not seen, and what it knows of the
/// packet that made them a hole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    pub(super) start: i64,
    pub(super) end: i64,
    /// When the packet above it passed.
    pub(super) opened_at: CaptureTime,
    /// Packets seen in this direction before that packet.
    pub(super) opened_after: u64,
    /// IP id of the packet above it, where there is one.
    pub(super) opener_id: Option<u16>,
    /// `TSval` of the packet above it, where there is one.
    pub(super) opener_tsval: Option<u32>,
    /// Packets that can be missing in it: ids skipped since what lies below it was seen, less those
    /// that have filled a part of it. `None` where ids do not tell.
    pub(super) missing: Option<u32>,
    /// How many ACKs have told the sender of it so far, and when the first and the third passed.
    pub(super) told: u8,
    pub(super) told_at: Option<CaptureTime>,
    pub(super) asked_at: Option<CaptureTime>,
}

/// ACKs that report data above a hole before the sender takes it for a loss (RFC 5681 section 3.2,
/// RFC 6675 section 5).
pub(super) const ASKS: u8 = 3;

impl Hole {
    /// Bytes `start..end`, skipped by `opener`, which came after `packets` packets.
    pub(super) fn new(start: i64, end: i64, opener: &Segment, packets: u64) -> Self {
        Self {
            start,
            end,
            opened_at: opener.at,
            opened_after: packets,
            opener_id: opener.ip_id,
            opener_tsval: opener.timestamps.map(|ts| ts.value),
            missing: None,
            told: 0,
            told_at: None,
            asked_at: None,
        }
    }

    /// When it opened, and after how many packets.
    pub(super) fn opened(&self) -> Opened {
        Opened {
            at: self.opened_at,
            after: self.opened_after,
        }
    }

    /// Whether none of its bytes is missing any more.
    fn is_filled(&self) -> bool {
        self.start == self.end
    }

    /// How many bytes it has, of those that this connection can have sent.
    fn bytes(&self) -> u64 {
        (self.end - self.start.max(0)).max(0) as u64
    }

    /// An ACK that passes at `at` tells the sender that these bytes are missing; `asks`: so clearly
    /// that it repeats them.
    fn tell(&mut self, at: CaptureTime, asks: bool) {
        self.told = self.told.saturating_add(1);
        self.told_at.get_or_insert(at);
        if asks || self.told >= ASKS {
            self.asked_at.get_or_insert(at);
        }
    }
}

/// The holes of one direction, in the room of a pointer where there was none.
#[derive(Clone, Debug)]
pub(super) struct Holes {
    open: Option<Box<Open>>,
    /// Holes kept; one more drops the lowest.
    pub(super) most: u32,
}

/// Disjoint and sorted. Nearly always few, opened at the upper end and filled from the lower one on.
#[derive(Clone, Debug)]
struct Open {
    /// Those that have been filled since have no bytes; the lowest and the highest has some.
    list: VecDeque<Hole>,
    filled: usize,
    moves: Moves,
    /// The sender has been asked for all below: SACK told of them often enough. The lowest number
    /// where it was asked for none.
    asked_below: i64,
    /// Below it ends no hole that the sender has not been asked for; may be too low.
    untold_from: i64,
    /// Bytes of holes given up because there were more.
    forgotten_bytes: u64,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            // Most flows with a hole have one: no room for four, which is the default.
            list: VecDeque::with_capacity(1),
            filled: 0,
            moves: Moves::default(),
            asked_below: i64::MIN,
            untold_from: i64::MIN,
            forgotten_bytes: 0,
        }
    }
}

impl Default for Holes {
    fn default() -> Self {
        Self {
            open: None,
            most: HOLES_MAX,
        }
    }
}

impl Holes {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.open.as_ref().map_or(0, |open| {
            size_of::<Open>() + open.list.capacity() * size_of::<Hole>()
        })
    }

    /// Bytes of holes given up because there were more.
    pub(super) fn forgotten_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.forgotten_bytes)
    }

    /// Adds a hole above all others.
    pub(super) fn open(&mut self, hole: Hole) {
        let most = self.most as usize;
        let open = self.open.get_or_insert_default();
        debug_assert!(
            open.list.back().is_none_or(|last| last.end <= hole.start),
            "holes open upwards"
        );
        if open.len() >= most {
            open.forget_lowest(most / 8);
        }
        open.untold_from = open.untold_from.min(hole.end);
        open.list.push_back(hole);
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.list.is_empty())
    }

    /// SACK brought news of data up to `highest`: the sender knows of the holes below it. One that
    /// more than `clear` bytes were reported above is taken for lost at once and, while others are
    /// being repaired, every one (RFC 8985 section 6.2).
    #[inline]
    pub(super) fn tell_below(
        &mut self,
        highest: i64,
        clear: i64,
        recovering: bool,
        at: CaptureTime,
    ) {
        // Nearly always: the ACKs before asked for all that are so low.
        if let Some(open) = &mut self.open
            && highest > open.untold_from
        {
            open.tell_below(highest, clear, recovering, at);
        }
    }

    /// Where the lowest hole ends that was opened after `at`, if any was.
    pub(super) fn opened_until(&self, at: CaptureTime) -> Option<i64> {
        let list = &self.open.as_ref()?.list;
        let first = list.partition_point(|hole| hole.opened_at <= at);
        let found = list.range(first..).find(|hole| !hole.is_filled());
        found.map(|hole| hole.end)
    }

    /// A duplicate ACK for `una`, or (`asks`) a partial one, tells of the hole that it points into.
    pub(super) fn tell_at(&mut self, una: i64, asks: bool, at: CaptureTime) {
        let Some(open) = &mut self.open else { return };
        let index = open.first_ending_above(una);
        if let Some(hole) = open.list.get_mut(index).filter(|hole| hole.start <= una) {
            hole.tell(at, asks);
        }
    }

    /// The lowest hole that shares a byte with `start..end`.
    pub(super) fn first_within(&self, start: i64, end: i64) -> Option<Hole> {
        self.open.as_ref()?.within(start, end).next().copied()
    }

    /// How many packets of `packet` bytes are missing in `start..end`, where there is a `known` as ACKs told that
    /// passed until then, and where the last of them ends; more than `most` do not matter.
    pub(super) fn packets_missing(
        &self,
        start: i64,
        end: i64,
        known: Option<CaptureTime>,
        packet: u32,
        most: u16,
    ) -> (u16, i64) {
        let (packet, most) = (u64::from(packet.max(1)), u64::from(most));
        let (mut packets, mut to) = (0, start);
        let holes = self.open.as_ref().map(|open| open.within(start, end));
        for hole in holes.into_iter().flatten() {
            let is_known =
                known.is_none_or(|known| hole.told_at.is_some_and(|told_at| told_at <= known));
            if packets >= most || !is_known {
                break;
            }
            let (from, last) = (hole.start.max(start), hole.end.min(end));
            let missing = ((last - from) as u64).div_ceil(packet).min(most - packets);
            packets += missing;
            to = last.min(from + (missing * packet) as i64);
        }
        (packets as u16, to)
    }

    /// Takes `start..end` out of the holes of a sender that has sent so many packets so far, and returns how many bytes
    /// that filled.
    pub(super) fn fill(&mut self, start: i64, end: i64, packets: u64) -> u64 {
        let most = self.most as usize;
        self.open
            .as_mut()
            .map_or(0, |open| open.fill(start, end, (most, packets)))
    }

    /// Where the highest hole begins of which more than `least` bytes are in `start..end`.
    pub(super) fn last_wide(&self, start: i64, end: i64, least: i64) -> Option<i64> {
        let list = &self.open.as_ref()?.list;
        let below = list.partition_point(|hole| hole.start < end);
        list.range(..below)
            .rev()
            .take_while(|hole| hole.end > start)
            .map(|hole| (hole.start.max(start), hole.end.min(end)))
            .find(|(from, to)| to - from > least)
            .map(|(from, _)| from)
    }

    /// Whether all holes end at `offset` or below it.
    #[inline]
    pub(super) fn are_below(&self, offset: i64) -> bool {
        let last = self.open.as_ref().and_then(|open| open.list.back());
        last.is_none_or(|hole| hole.end <= offset)
    }

    /// Bytes of holes from offset 0 up to `offset`.
    pub(super) fn bytes_below(&self, offset: i64) -> u64 {
        self.below(offset).map(|(_, bytes)| bytes).sum()
    }

    /// Packets of these holes, of at most `packet` bytes each: as many as ids were skipped there, but no more than of
    /// `usual` bytes each.
    pub(super) fn packets_below(&self, offset: i64, packet: u32, usual: u32) -> u64 {
        let packets = |bytes: u64, len: u32| bytes.div_ceil(len.max(1).into());
        self.below(offset)
            .map(|(hole, bytes)| {
                let skipped = hole.missing.map_or(0, u64::from);
                skipped
                    .min(packets(bytes, usual))
                    .max(packets(bytes, packet))
            })
            .sum()
    }

    /// Holes that begin below `offset`, and how many bytes of each lie from offset 0 up to that.
    fn below(&self, offset: i64) -> impl Iterator<Item = (&Hole, u64)> {
        let list = self.open.as_ref().map(|open| &open.list);
        list.into_iter()
            .flatten()
            .take_while(move |hole| hole.start < offset)
            .map(move |hole| {
                let bytes = hole.end.min(offset) - hole.start.max(0);
                (hole, bytes.max(0) as u64)
            })
    }
}

impl Open {
    /// How many there are that have not been filled.
    fn len(&self) -> usize {
        self.list.len() - self.filled
    }

    fn first_ending_above(&self, offset: i64) -> usize {
        self.list.partition_point(|hole| hole.end <= offset)
    }

    /// Those that share a byte with `start..end`.
    fn within(&self, start: i64, end: i64) -> impl Iterator<Item = &Hole> {
        let holes = self.list.range(self.first_ending_above(start)..);
        holes
            .take_while(move |hole| hole.start < end)
            .filter(|hole| !hole.is_filled())
    }

    /// The lowest hole counts as seen from here on, and so do some `more`: all others are looked at each time.
    #[cold]
    fn forget_lowest(&mut self, more: usize) {
        self.drop_filled();
        for dropped in self.list.drain(..=more) {
            self.forgotten_bytes += dropped.bytes();
        }
    }

    fn tell_below(&mut self, highest: i64, clear: i64, recovering: bool, at: CaptureTime) {
        let lowest = self.list.front();
        let recovering = recovering || lowest.is_some_and(|hole| hole.asked_at.is_some());
        let first = self.first_ending_above(self.asked_below);
        self.untold_from = i64::MAX;
        for hole in self.list.range_mut(first..) {
            if hole.is_filled() {
                continue;
            }
            if hole.end >= highest {
                self.untold_from = self.untold_from.min(hole.end);
                break;
            }
            hole.tell(at, recovering || highest - hole.end > clear);
            if hole.asked_at.is_some() {
                self.asked_below = hole.end;
                self.untold_from = i64::MAX;
            } else {
                self.untold_from = self.untold_from.min(hole.end);
            }
        }
    }

    fn fill(&mut self, start: i64, end: i64, (most, packets): (usize, u64)) -> u64 {
        let mut filled = 0;
        let mut index = self.first_ending_above(start);
        // What is left of a hole may end lower than it did.
        self.untold_from = self.untold_from.min(start);
        while let Some(hole) = self.list.get_mut(index).filter(|hole| hole.start < end) {
            let (from, to) = (hole.start.max(start), hole.end.min(end));
            if !hole.is_filled() {
                filled += (to - from) as u64;
                hole.missing = hole.missing.map(|missing| missing.saturating_sub(1));
                match (hole.start < from, to < hole.end) {
                    (false, false) => {
                        hole.start = hole.end;
                        self.filled += 1;
                    }
                    (true, false) => hole.end = from,
                    (false, true) => hole.start = to,
                    (true, true) => {
                        let above = Hole { start: to, ..*hole };
                        hole.end = from;
                        self.part(index, above, (most, packets));
                        // What is left of the hole lies above `end`.
                        break;
                    }
                }
            }
            index += 1;
        }
        self.trim();
        filled
    }

    /// The hole at `index` has been filled in its middle: what is left `above` becomes another one.
    #[cold]
    fn part(&mut self, index: usize, above: Hole, (most, packets): (usize, u64)) {
        let near = self.list.range(..=index).rev().take(NEAR_HOLES);
        if let Some(distance) = near.map(Hole::is_filled).position(|filled| filled) {
            for place in index - distance..index {
                self.list.swap(place, place + 1);
            }
            self.list[index] = above;
            self.filled -= 1;
        } else if self.moves.allow(index + 1, self.list.len(), packets) {
            self.list.insert(index + 1, above);
        } else {
            self.forgotten_bytes += above.bytes();
        }
        if self.len() > most {
            self.forget_lowest(0);
        }
    }

    /// Takes out those that have been filled where that is cheap.
    #[inline]
    fn trim(&mut self) {
        if self.filled == 0 {
            return;
        }
        while self.list.front().is_some_and(Hole::is_filled) {
            self.list.pop_front();
            self.filled -= 1;
        }
        while self.list.back().is_some_and(Hole::is_filled) {
            self.list.pop_back();
            self.filled -= 1;
        }
        if self.filled > self.len() + FILLED_MAX {
            self.drop_filled();
        }
    }

    fn drop_filled(&mut self) {
        self.list.retain(|hole| !hole.is_filled());
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes of the stream that is filled at random: of so many holes that those filled are taken out at times.
    const BYTES: i64 = 1024;

    fn range() -> impl Strategy<Value = (i64, i64)> {
        let len = prop_oneof![1_i64..9, 1_i64..60];
        (0_i64..BYTES, len).prop_map(|(start, len)| (start, (start + len).min(BYTES)))
    }

    fn hole(start: i64, end: i64) -> Hole {
        Hole {
            start,
            end,
            opened_at: CaptureTime::MIN,
            opened_after: 0,
            opener_id: None,
            opener_tsval: None,
            missing: None,
            told: 0,
            told_at: None,
            asked_at: None,
        }
    }

    #[test]
    fn a_hole_filled_here_and_there_becomes_no_more_than_are_kept() {
        let mut holes = Holes {
            most: 8,
            ..Holes::default()
        };
        holes.open(hole(-50, 10_000));
        let filled: u64 = (0..100)
            .map(|number| number * 37 % 100 * 100)
            .map(|start| holes.fill(start, start + 1, 0))
            .sum();
        assert_eq!(holes.open.as_ref().unwrap().len(), 8);
        // What lies in those given up counts as seen, and is told.
        assert_eq!(
            holes.forgotten_bytes() + holes.bytes_below(i64::MAX),
            10_000 - filled
        );
    }

    #[test]
    fn of_more_holes_than_are_kept_an_eighth_goes_at_once() {
        let mut holes = Holes {
            most: 32,
            ..Holes::default()
        };
        for at in 0..33 {
            holes.open(hole(10 * at, 10 * at + 3));
        }
        assert_eq!(
            (holes.open.as_ref().unwrap().len(), holes.forgotten_bytes()),
            (28, 15)
        );
    }

    proptest! {
        /// Against holes that are looked through each time, the slow twin.
        #[test]
        fn telling_of_holes_leaves_out_only_what_changes_nothing(
            steps in proptest::collection::vec((0_u8..4, 0_i64..4, 1_i64..6, any::<bool>()), 0..80),
        ) {
            let (mut quick, mut slow) = (Holes::default(), Holes::default());
            let mut top = 0;
            for (now, (what, skip, len, recovering)) in (0..).zip(steps) {
                let at = CaptureTime::from_ns(now);
                if let Some(open) = &mut slow.open {
                    open.untold_from = i64::MIN;
                }
                match what {
                    0 => {
                        let start = top + skip;
                        top = start + len;
                        quick.open(hole(start, top));
                        slow.open(hole(start, top));
                    }
                    1 => {
                        let end = top - skip * len;
                        prop_assert_eq!(quick.fill(end - len, end, 0), slow.fill(end - len, end, 0));
                    }
                    _ => {
                        let highest = top + len - skip * 3;
                        quick.tell_below(highest, 4, recovering, at);
                        slow.tell_below(highest, 4, recovering, at);
                    }
                }
                let known = |holes: &Holes| {
                    let open = holes.open.as_ref()?;
                    Some((format!("{:?}", open.list), open.asked_below))
                };
                prop_assert_eq!(known(&quick), known(&slow));
            }
        }

        #[test]
        fn filling_holes_agrees_with_a_flag_a_byte(
            opened in proptest::collection::vec((0_i64..4, 1_i64..6), 1..300),
            fills in proptest::collection::vec(range(), 0..300),
        ) {
            let mut holes = Holes::default();
            let mut flags = [false; BYTES as usize];
            let mut at = 0;
            for &(skip, len) in &opened {
                let (start, end) = (at + skip, (at + skip + len).min(BYTES));
                if start < end {
                    holes.open(hole(start, end));
                    flags[start as usize..end as usize].fill(true);
                    at = end + 1;
                }
            }
            for &(start, end) in &fills {
                let part = &mut flags[start as usize..end as usize];
                let open = part.iter().filter(|&&flag| flag).count() as u64;
                let place = |found: Option<usize>| found.map(|place| start + place as i64);
                let lowest = holes.first_within(start, end);
                prop_assert_eq!(
                    lowest.map(|hole| hole.start.max(start)),
                    place(part.iter().position(|&flag| flag))
                );
                let to = place(part.iter().rposition(|&flag| flag)).map_or(start, |last| last + 1);
                let missing = holes.packets_missing(start, end, None, 1, u16::MAX);
                prop_assert_eq!(missing, (open as u16, to));
                prop_assert_eq!(holes.fill(start, end, 0), open);
                part.fill(false);
                let open = flags.iter().filter(|&&flag| flag).count() as u64;
                prop_assert_eq!(holes.bytes_below(BYTES), open);
                prop_assert_eq!(holes.is_empty(), open == 0);
            }
        }
    }
}
