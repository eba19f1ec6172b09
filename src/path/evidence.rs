//! Which packets tell of the clocks (METRICS.md B2): those that are surely themselves, and of others what several say.
//!
//! Two packets without an IP id may look alike, as ACKs that repeat each other. Where a capture misses the one as it
//! comes in and the other as it leaves, what is left of both is taken for one packet, which would have left before it
//! came in: one such packet would outweigh thousands that contradict it.

use super::clock::Heading;
use super::envelope::SMALL_MAX;
use super::latest::{LATEST, LatestDelays};
use super::probe::TOLERANCE_NS;

/// What packets of both ways took lately, small ones and others on their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Lately {
    of: [[Steady; 2]; 2],
}

impl Lately {
    /// A packet was found, `raw` by the two clocks after it was seen at the first point. Whether it has no id, and took
    /// clearly less than those before it; of a large one, which may have found a queue empty that was not before, so
    /// much less that it and what goes the other way would take less than nothing together.
    #[inline]
    pub(super) fn is_quick(
        &mut self,
        heading: Heading,
        raw: i64,
        ip_len: u32,
        has_id: bool,
    ) -> bool {
        let took = match heading {
            Heading::Forward => raw,
            Heading::Reverse => raw.saturating_neg(),
        };
        let is_large = ip_len > SMALL_MAX;
        let steady = &mut self.of[heading as usize][usize::from(is_large)];
        let mut is_quick = !has_id && steady.is_quick(took);
        steady.latest.note(took);
        if is_quick && is_large {
            let back = self.of[heading.opposite() as usize].iter();
            let back = back.filter_map(|steady| Some(steady.steadiest()?.0)).min();
            is_quick = back.is_some_and(|back| took.saturating_add(back) < -TOLERANCE_NS);
        }
        is_quick
    }
}

/// How steady the latest packets of a way are.
#[derive(Clone, Debug)]
struct Steady {
    latest: LatestDelays,
    /// Less than this was quick when so many had been seen.
    least: i64,
    seen_then: u64,
}

impl Default for Steady {
    fn default() -> Self {
        Self {
            latest: LatestDelays::default(),
            least: i64::MIN,
            seen_then: 0,
        }
    }
}

impl Steady {
    fn is_quick(&mut self, took: i64) -> bool {
        let seen = self.latest.seen();
        let is_new = seen - self.seen_then < NEW;
        if is_new && took >= self.least {
            return false;
        }
        let Some((low, middle)) = self.steadiest() else {
            return false;
        };
        let unsteady = middle.saturating_sub(low).saturating_mul(UNSTEADY);
        self.least = low.saturating_sub(unsteady).saturating_sub(TOLERANCE_NS);
        self.seen_then = seen;
        took < self.least
    }

    /// What the steadiest of them and the middle one took.
    fn steadiest(&self) -> Option<(i64, i64)> {
        let known = self.latest.known();
        let mut sorted = [0; LATEST];
        let sorted = &mut sorted[..known.len()];
        sorted.copy_from_slice(known);
        sorted.sort_unstable();
        (sorted.len() >= KNOWN_MIN)
            .then(|| (sorted[sorted.len() / LOW - 1], sorted[sorted.len() / 2 - 1]))
    }
}

/// Fewer tell nothing.
const KNOWN_MIN: usize = 16;

/// Where the steadiest packets are: one of so many took no longer. What is less by so many times as much as the middle
/// one is more is quick, until one of so many is.
const LOW: usize = 8;
const UNSTEADY: i64 = 2;

/// Packets until what was found is old.
const NEW: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that take 5 us and up to 12 more, and 3 that would have left before they came in.
    #[test]
    fn a_packet_that_is_much_quicker_than_others_is_no_evidence() {
        let mut lately = Lately::default();
        let quick = |n: i64| [70, 90, 91].contains(&n);
        let mut told = Vec::new();
        for n in 0..200 {
            let took = if quick(n) {
                -600_000
            } else {
                5000 + n * 7 % 13 * 1000
            };
            if lately.is_quick(Heading::Reverse, -took, 72, false) {
                told.push(n);
            }
        }
        assert_eq!(told, [70, 90, 91]);
    }

    /// Of a clock that is set back, the first few packets behind it tell nothing, and all others do.
    #[test]
    fn what_many_packets_say_is_evidence() {
        let mut lately = Lately::default();
        let took = |n: i64| 5000 + n % 13 * 1000 - if n < 100 { 0 } else { 2_000_000 };
        let told: Vec<i64> = (0..300)
            .filter(|&n| lately.is_quick(Heading::Forward, took(n), 60, false))
            .collect();
        assert_eq!(told, (100..108).collect::<Vec<_>>());
        // Those that an id tells from all others are evidence from the first one on.
        let told =
            (300..400).any(|n| lately.is_quick(Heading::Forward, took(n) - 5_000_000, 60, true));
        assert!(!told);
    }

    /// A queue of 20 ms that is empty for one packet is; what the way back contradicts is not.
    #[test]
    fn a_large_packet_that_found_no_queue_is_evidence() {
        for (took, quick) in [(30_000, false), (-30_000, true)] {
            let mut lately = Lately::default();
            for _ in 0..100 {
                lately.is_quick(Heading::Forward, 20_000_000, 1500, false);
                lately.is_quick(Heading::Reverse, -5000, 72, false);
            }
            assert_eq!(lately.is_quick(Heading::Forward, took, 1500, false), quick);
        }
    }

    /// A clock that gains 100 ppm, and a packet each second.
    #[test]
    fn clocks_that_drift_are_evidence() {
        let mut lately = Lately::default();
        let told =
            (0..1000).filter(|n| lately.is_quick(Heading::Forward, 5000 - n * 100_000, 60, false));
        assert_eq!(told.count(), 0);
    }
}
