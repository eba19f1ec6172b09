//! Ranges of one direction's stream, and those that were never seen.

use thin_vec::ThinVec;

use crate::decode::Segment;
use crate::time::CaptureTime;

/// Holes kept for one direction unless asked otherwise. One more drops the lowest, which then
/// counts as seen.
pub(super) const HOLES_MAX: u32 = 4096;

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

/// The holes of one direction: disjoint and sorted. Nearly always few, opened at the upper end.
#[derive(Debug)]
pub(super) struct Holes {
    list: ThinVec<Hole>,
    /// The sender has been asked for all below: SACK told of them often enough. The lowest number
    /// where it was asked for none.
    asked_below: i64,
    /// Below it ends no hole that the sender has not been asked for; may be too low.
    untold_from: i64,
    /// Holes kept; one more drops the lowest.
    pub(super) most: u32,
    /// Bytes of holes given up because there were more.
    pub(super) forgotten_bytes: u64,
}

impl Default for Holes {
    fn default() -> Self {
        Self {
            list: ThinVec::new(),
            asked_below: i64::MIN,
            untold_from: i64::MIN,
            most: HOLES_MAX,
            forgotten_bytes: 0,
        }
    }
}

impl Holes {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.list.capacity() * size_of::<Hole>()
    }

    /// Adds a hole above all others.
    pub(super) fn open(&mut self, hole: Hole) {
        debug_assert!(
            self.list.last().is_none_or(|last| last.end <= hole.start),
            "holes open upwards"
        );
        if self.list.len() >= self.most as usize {
            self.forget_lowest(self.most as usize / 8);
        }
        if self.list.capacity() == 0 {
            // Most flows with a hole have one: no room for four, which is the default.
            self.list.reserve_exact(1);
        }
        self.untold_from = self.untold_from.min(hole.end);
        self.list.push(hole);
    }

    /// The lowest hole counts as seen from here on, and so do some `more`: all others are moved each time.
    #[cold]
    fn forget_lowest(&mut self, more: usize) {
        for dropped in self.list.drain(..=more) {
            self.forgotten_bytes += (dropped.end - dropped.start.max(0)).max(0) as u64;
        }
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// SACK brought news of data up to `highest`: the sender knows of the holes below it. One that
    /// more than `clear` bytes were reported above is taken for lost at once and, while others are
    /// being repaired, every one (RFC 8985 section 6.2).
    pub(super) fn tell_below(
        &mut self,
        highest: i64,
        clear: i64,
        recovering: bool,
        at: CaptureTime,
    ) {
        // Nearly always: the ACKs before asked for all that are so low.
        if highest <= self.untold_from {
            return;
        }
        let asked = self.asked_below;
        let recovering = recovering
            || self
                .list
                .first()
                .is_some_and(|hole| hole.asked_at.is_some());
        let first = self.list.partition_point(|hole| hole.end <= asked);
        self.untold_from = i64::MAX;
        for hole in &mut self.list[first..] {
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

    /// Where the lowest hole ends that was opened after `at`, if any was.
    pub(super) fn opened_until(&self, at: CaptureTime) -> Option<i64> {
        let first = self.list.partition_point(|hole| hole.opened_at <= at);
        self.list.get(first).map(|hole| hole.end)
    }

    /// A duplicate ACK for `una`, or (`asks`) a partial one, tells of the hole that it points into.
    pub(super) fn tell_at(&mut self, una: i64, asks: bool, at: CaptureTime) {
        let index = self.list.partition_point(|hole| hole.end <= una);
        if let Some(hole) = self.list.get_mut(index).filter(|hole| hole.start <= una) {
            hole.tell(at, asks);
        }
    }

    /// The lowest hole that shares a byte with `start..end`.
    pub(super) fn first_within(&self, start: i64, end: i64) -> Option<Hole> {
        let index = self.list.partition_point(|hole| hole.end <= start);
        self.list
            .get(index)
            .filter(|hole| hole.start < end)
            .copied()
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
        let first = self.list.partition_point(|hole| hole.end <= start);
        let (packet, most) = (u64::from(packet.max(1)), u64::from(most));
        let (mut packets, mut to) = (0, start);
        for hole in &self.list[first..] {
            let is_known =
                known.is_none_or(|known| hole.told_at.is_some_and(|told_at| told_at <= known));
            if hole.start >= end || packets >= most || !is_known {
                break;
            }
            let (from, last) = (hole.start.max(start), hole.end.min(end));
            let missing = ((last - from) as u64).div_ceil(packet).min(most - packets);
            packets += missing;
            to = last.min(from + (missing * packet) as i64);
        }
        (packets as u16, to)
    }

    /// Takes `start..end` out of the holes and returns how many bytes that filled.
    pub(super) fn fill(&mut self, start: i64, end: i64) -> u64 {
        let first = self.list.partition_point(|hole| hole.end <= start);
        let mut filled = 0;
        let mut index = first;
        // What is left of a hole may end lower than it did.
        self.untold_from = self.untold_from.min(start);
        while let Some(hole) = self
            .list
            .get(index)
            .copied()
            .filter(|hole| hole.start < end)
        {
            let from = hole.start.max(start);
            let to = hole.end.min(end);
            filled += (to - from) as u64;
            let missing = hole.missing.map(|missing| missing.saturating_sub(1));
            self.list[index].missing = missing;
            match (hole.start < from, to < hole.end) {
                (false, false) => {
                    self.list.remove(index);
                }
                (true, false) => {
                    self.list[index].end = from;
                    index += 1;
                }
                (false, true) => {
                    self.list[index].start = to;
                    index += 1;
                }
                (true, true) => {
                    self.list[index].end = from;
                    let above = Hole {
                        start: to,
                        missing,
                        ..hole
                    };
                    self.list.insert(index + 1, above);
                    if self.list.len() > self.most as usize {
                        self.forget_lowest(0);
                    }
                    // What is left of the hole lies above `end`.
                    break;
                }
            }
        }
        filled
    }

    /// Where the highest hole begins of which more than `least` bytes are in `start..end`.
    pub(super) fn last_wide(&self, start: i64, end: i64, least: i64) -> Option<i64> {
        let below = self.list.partition_point(|hole| hole.start < end);
        self.list[..below]
            .iter()
            .rev()
            .take_while(|hole| hole.end > start)
            .map(|hole| (hole.start.max(start), hole.end.min(end)))
            .find(|(from, to)| to - from > least)
            .map(|(from, _)| from)
    }

    /// Whether all holes end at `offset` or below it.
    #[inline]
    pub(super) fn are_below(&self, offset: i64) -> bool {
        self.list.last().is_none_or(|hole| hole.end <= offset)
    }

    /// Bytes of holes from offset 0 up to `offset`.
    pub(super) fn bytes_below(&self, offset: i64) -> u64 {
        self.list
            .iter()
            .take_while(|hole| hole.start < offset)
            .map(|hole| (hole.end.min(offset) - hole.start.max(0)).max(0) as u64)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range() -> impl Strategy<Value = (i64, i64)> {
        (0_i64..63).prop_flat_map(|start| (Just(start), start + 1..=64))
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
            .map(|start| holes.fill(start, start + 1))
            .sum();
        assert_eq!(holes.list.len(), 8);
        // What lies in those given up counts as seen, and is told.
        assert_eq!(
            holes.forgotten_bytes + holes.bytes_below(i64::MAX),
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
        assert_eq!((holes.list.len(), holes.forgotten_bytes), (28, 15));
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
                slow.untold_from = i64::MIN;
                match what {
                    0 => {
                        let start = top + skip;
                        top = start + len;
                        quick.open(hole(start, top));
                        slow.open(hole(start, top));
                    }
                    1 => {
                        let end = top - skip * len;
                        prop_assert_eq!(quick.fill(end - len, end), slow.fill(end - len, end));
                    }
                    _ => {
                        let highest = top + len - skip * 3;
                        quick.tell_below(highest, 4, recovering, at);
                        slow.tell_below(highest, 4, recovering, at);
                    }
                }
                prop_assert_eq!(format!("{:?}", quick.list), format!("{:?}", slow.list));
                prop_assert_eq!(quick.asked_below, slow.asked_below);
            }
        }

        #[test]
        fn filling_holes_agrees_with_a_flag_a_byte(
            opened in proptest::collection::vec((0_i64..4, 1_i64..6), 1..10),
            fills in proptest::collection::vec(range(), 0..20),
        ) {
            let mut holes = Holes::default();
            let mut flags = [false; 64];
            let mut at = 0;
            for &(skip, len) in &opened {
                let (start, end) = (at + skip, (at + skip + len).min(64));
                if start < end {
                    holes.open(hole(start, end));
                    flags[start as usize..end as usize].fill(true);
                    at = end + 1;
                }
            }
            for &(start, end) in &fills {
                let part = &mut flags[start as usize..end as usize];
                let open = part.iter().filter(|&&flag| flag).count() as u64;
                prop_assert_eq!(holes.first_within(start, end).is_some(), open > 0);
                prop_assert_eq!(holes.fill(start, end), open);
                part.fill(false);
            }
            prop_assert_eq!(holes.bytes_below(64), flags.iter().filter(|&&flag| flag).count() as u64);
        }
    }
}
