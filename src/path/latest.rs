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

/// The latest packets that left and are no other than they were taken for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest {
    delays: [i64; LATEST],
    seen: u64,
    /// From which slot on packets are newer than all of them.
    behind: u64,
}

impl Default for Latest {
    fn default() -> Self {
        Self {
            delays: [0; LATEST],
            seen: 0,
            behind: 0,
        }
    }
}

impl Latest {
    #[inline]
    pub(super) fn note(&mut self, number: u64, delay: i64) {
        self.delays[self.seen as usize % LATEST] = delay;
        self.seen += 1;
        self.behind = self.behind.max(number + 1);
    }

    /// What others may have taken beside them; `None` where they are few.
    pub(super) fn usual(&self) -> Option<RangeInclusive<i64>> {
        let known = &self.delays[..LATEST.min(self.seen as usize)];
        let (least, most) = (*known.iter().min()?, *known.iter().max()?);
        let more = LONGER * most.saturating_sub(least);
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

/// Packets that tell how long others take.
const LATEST: usize = 64;

/// Fewer tell nothing.
const KNOWN_MIN: usize = 8;

/// A packet that takes so many times as much longer than others as these differ, and this time, in ns, was lost.
const LONGER: i64 = 4;
const LONGER_NS: i64 = 20_000_000;
