//! How long packets took lately that are no other than they were taken for: what tells losses of packets that look
//! alike.

use std::ops::RangeInclusive;

/// A packet that waits, and another may be taken for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) number: u64,
    /// Whether it has the same checksum, and is behind what of its flow was found last.
    pub(super) rank: (bool, bool),
    /// How long it would have taken.
    pub(super) delay: i64,
}

/// What the latest packets took, [so many](LATEST) at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatestDelays {
    delays: [i64; LATEST],
    seen: u64,
}

impl Default for LatestDelays {
    fn default() -> Self {
        Self {
            delays: [0; LATEST],
            seen: 0,
        }
    }
}

impl LatestDelays {
    #[inline]
    pub(super) fn note(&mut self, delay: i64) {
        self.delays[self.seen as usize % LATEST] = delay;
        self.seen += 1;
    }

    /// In no order.
    pub(super) fn known(&self) -> &[i64] {
        &self.delays[..LATEST.min(self.seen as usize)]
    }

    /// Packets so far.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }
}

/// The latest packets that left and are no other than they were taken for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    delays: LatestDelays,
    /// From which slot on packets are newer than all of them.
    behind: u64,
}

impl Latest {
    #[inline]
    pub(super) fn note(&mut self, number: u64, delay: i64) {
        self.delays.note(delay);
        self.behind = self.behind.max(number + 1);
    }

    /// What others may have taken beside them; `None` where they are few.
    pub(super) fn usual(&self) -> Option<RangeInclusive<i64>> {
        let known = self.delays.known();
        let (least, most) = (*known.iter().min()?, *known.iter().max()?);
        let more = most.saturating_sub(least).saturating_mul(LONGER);
        let most = most.saturating_add(more).saturating_add(LONGER_NS);
        (known.len() >= KNOWN_MIN).then(|| least.saturating_sub(LONGER_NS)..=most)
    }

    /// Whether the older of two packets was lost: it would have taken much longer than all others lately, and the
    /// younger no longer than they did; and it is no queue that has grown meanwhile, as a packet that came in behind it
    /// has left, or none came in between the two.
    pub(super) fn tell_lost(
        &self,
        usual: &RangeInclusive<i64>,
        older: &Choice,
        younger: &Choice,
    ) -> bool {
        let is_late = older.delay > *usual.end() && usual.contains(&younger.delay);
        let was_passed = older.number < self.behind || younger.number == older.number + 1;
        is_late && was_passed && older.delay.saturating_sub(younger.delay) > LONGER_NS
    }
}

/// The newest packet of a flow that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    /// When it came in, and in which frame: of those of one time the later one is newer.
    pub(super) came: (i64, u64),
    /// Numbers of the slots from which on packets are newer, by point: clocks that are set do not
    /// change the order of records.
    pub(super) behind: [u64; 2],
    /// How many in a row had the same checksum at both points, up to twice those that count.
    same_sums: u8,
}

impl Newest {
    pub(super) const NONE: Self = Self {
        came: (i64::MIN, 0),
        behind: [0; 2],
        same_sums: 0,
    };

    /// A packet of the flow was found, and had the same checksum, if it had one at both points.
    #[inline]
    pub(super) fn found(&mut self, same_sums: Option<bool>, came: (i64, u64), behind: [u64; 2]) {
        self.came = self.came.max(came);
        match same_sums {
            Some(true) => self.same_sums = (self.same_sums + 1).min(2 * SUMS_MIN),
            Some(false) => self.same_sums = 0,
            None => {}
        }
        for (newest, found) in self.behind.iter_mut().zip(behind) {
            *newest = found.max(*newest);
        }
    }

    /// Whether checksums tell packets of the flow apart: no card has to finish them, and nothing rewrites them. Where
    /// that finds none for a packet it may be otherwise by now: then they tell less.
    pub(super) fn sums_tell(&mut self) -> bool {
        let tell = self.same_sums >= SUMS_MIN;
        self.same_sums = self.same_sums.saturating_sub(1);
        tell
    }
}

/// So many packets of a flow in a row with the same checksum at both points show that it tells them apart.
const SUMS_MIN: u8 = 8;

/// Packets that tell how long others take.
pub(super) const LATEST: usize = 64;

/// Fewer tell nothing.
const KNOWN_MIN: usize = 8;

/// A packet that takes so many times as much longer than others as these differ, and this time, in ns, was lost.
const LONGER: i64 = 4;
const LONGER_NS: i64 = 20_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_centuries_are_usual_where_all_are_as_long() {
        let usual = |delays: [i64; 2]| {
            let mut latest = Latest::default();
            for number in 0..LATEST as u64 {
                latest.note(number, delays[number as usize % 2]);
            }
            latest.usual().unwrap()
        };
        assert!(usual([0, i64::MAX]).contains(&i64::MAX));
        assert!(usual([i64::MIN, i64::MAX]).contains(&0));
        let few = usual([1_000_000, 2_000_000]);
        assert!(few.contains(&1_500_000) && !few.contains(&1_000_000_000_000));
    }
}
