//! A distribution of delays in bounded memory.

mod packed;

pub(super) use packed::STATS_NUMBERS;

use thin_vec::{ThinVec, thin_vec};

/// Buckets an octave, as a power of two: 128 of them are 0.8 % wide, so that wherever a delay is told to be in its bucket,
/// it is within 1 % of where it was.
const SUB_BITS: u32 = 7;

/// Delays in nanoseconds: exact minimum, maximum, mean and count; quantiles within 1 %
/// (METRICS.md R2).
///
/// A histogram with logarithmic buckets, of which only the range in use is held: some hundred
/// counters a flow, and none for the flows with some dozen delays only, which are the most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayDistribution {
    stats: DelayStats,
    held: Held,
}

/// Delays in nanoseconds: exact minimum, maximum, mean and count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayStats {
    samples: u64,
    /// The low 64 bits of the sum, and how often these were full: 584 years of delays.
    sum_ns: u64,
    overflows: u32,
    ns_min: i64,
    ns_max: i64,
}

impl DelayStats {
    /// Adds a delay; negative ones do not exist and are taken for 0.
    #[inline]
    pub fn add(&mut self, delay_ns: i64) {
        let delay_ns = delay_ns.max(0);
        if self.samples == 0 {
            self.ns_min = delay_ns;
        }
        self.samples += 1;
        let (sum_ns, full) = self.sum_ns.overflowing_add(delay_ns.unsigned_abs());
        self.sum_ns = sum_ns;
        self.overflows = self.overflows.saturating_add(u32::from(full));
        self.ns_min = self.ns_min.min(delay_ns);
        self.ns_max = self.ns_max.max(delay_ns);
    }

    /// Adds all delays of others.
    fn add_all(&mut self, others: &Self) {
        if others.samples == 0 {
            return;
        }
        if self.samples == 0 {
            self.clone_from(others);
            return;
        }
        self.samples += others.samples;
        let (sum_ns, full) = self.sum_ns.overflowing_add(others.sum_ns);
        self.sum_ns = sum_ns;
        let full = others.overflows.saturating_add(u32::from(full));
        self.overflows = self.overflows.saturating_add(full);
        self.ns_min = self.ns_min.min(others.ns_min);
        self.ns_max = self.ns_max.max(others.ns_max);
    }

    /// Number of delays.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Smallest, in ns; exact. `None` without samples.
    #[must_use]
    pub fn ns_min(&self) -> Option<i64> {
        (self.samples > 0).then_some(self.ns_min)
    }

    /// Largest, in ns; exact. `None` without samples.
    #[must_use]
    pub fn ns_max(&self) -> Option<i64> {
        (self.samples > 0).then_some(self.ns_max)
    }

    /// Arithmetic mean, in ns. `None` without samples.
    #[must_use]
    pub fn ns_mean(&self) -> Option<f64> {
        (self.samples > 0).then(|| {
            let sum_ns = match self.overflows {
                // The same number, and the processor makes a float of 64 bits by itself.
                0 => self.sum_ns as f64,
                full => (u128::from(full) << 64 | u128::from(self.sum_ns)) as f64,
            };
            let mean = sum_ns / self.samples as f64;
            // Beyond 104 days a float counts no single nanoseconds.
            mean.clamp(self.ns_min as f64, self.ns_max as f64)
        })
    }
}

/// Delays held in place.
const FEW: usize = 8;

/// Delays held one by one: gaps between packets spread over six decades, whose counters would take 5 kB in each of a
/// hundred thousand flows of some dozen packets.
const LISTED_MAX: usize = 256;

/// The delays, as far as quantiles need them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Held {
    /// The bucket of each, in the order they came.
    Few([u16; FEW]),
    /// The same of more.
    Listed(ThinVec<u16>),
    /// How many in each bucket, from the lowest in use on.
    Counted {
        first_bucket: u16,
        counts: ThinVec<u32>,
    },
}

impl Default for Held {
    fn default() -> Self {
        Self::Few([0; FEW])
    }
}

impl Held {
    /// Adds a delay in `bucket` to `held` others.
    #[inline]
    fn add(&mut self, held: u64, bucket: u16) {
        match self {
            Self::Counted {
                first_bucket,
                counts,
            } => {
                let known = bucket.checked_sub(*first_bucket);
                if let Some(count) = known.and_then(|index| counts.get_mut(usize::from(index))) {
                    *count = count.saturating_add(1);
                    return;
                }
            }
            Self::Few(few) => {
                if let Some(place) = few.get_mut(held as usize) {
                    *place = bucket;
                    return;
                }
            }
            Self::Listed(listed) => {
                if listed.len() < listed.capacity().min(LISTED_MAX) {
                    listed.push(bucket);
                    return;
                }
            }
        }
        self.add_rarely(bucket);
    }

    /// The same where that takes more room.
    #[cold]
    fn add_rarely(&mut self, bucket: u16) {
        match self {
            Self::Few(few) => {
                let mut listed = ThinVec::with_capacity(2 * FEW);
                listed.extend_from_slice(few);
                listed.push(bucket);
                *self = Self::Listed(listed);
            }
            Self::Listed(listed) if listed.len() < LISTED_MAX => listed.push(bucket),
            Self::Listed(listed) => {
                let listed = std::mem::take(listed);
                let lowest = listed.iter().copied().min().unwrap_or(bucket);
                let highest = listed.iter().copied().max().unwrap_or(bucket);
                *self = Self::Counted {
                    first_bucket: lowest,
                    counts: thin_vec![0; usize::from(highest - lowest) + 1],
                };
                for bucket in listed {
                    self.count(bucket, 1);
                }
                self.count(bucket, 1);
            }
            Self::Counted { .. } => self.count(bucket, 1),
        }
    }

    /// Counts so many delays of a bucket, whatever the range in use.
    fn count(&mut self, bucket: u16, delays: u64) {
        let Self::Counted {
            first_bucket,
            counts,
        } = self
        else {
            return;
        };
        if bucket < *first_bucket {
            let missing = usize::from(*first_bucket - bucket);
            counts.splice(0..0, std::iter::repeat_n(0, missing));
            *first_bucket = bucket;
        }
        let index = usize::from(bucket - *first_bucket);
        if index >= counts.len() {
            counts.resize(index + 1, 0);
        }
        let delays = u32::try_from(delays).unwrap_or(u32::MAX);
        counts[index] = counts[index].saturating_add(delays);
    }

    /// The buckets of `held` delays that are not counted, in order; `None` where they are.
    fn sorted(&self, held: u64) -> Option<Vec<u16>> {
        let mut sorted = match self {
            Self::Few(few) => few[..(held as usize).min(FEW)].to_vec(),
            Self::Listed(listed) => listed.to_vec(),
            Self::Counted { .. } => return None,
        };
        sorted.sort_unstable();
        Some(sorted)
    }

    /// Those that are counted, from the lowest on, and how many delays are in each.
    fn counted(&self) -> impl Iterator<Item = (u16, u64)> {
        let (first_bucket, counts) = match self {
            Self::Few(_) | Self::Listed(_) => (0, &[][..]),
            Self::Counted {
                first_bucket,
                counts,
            } => (*first_bucket, &counts[..]),
        };
        (first_bucket..).zip(counts.iter().map(|&count| u64::from(count)))
    }

    /// Buckets in use and how many of `held` delays are in each, in order.
    fn buckets(&self, held: u64) -> Vec<(u16, u64)> {
        match self.sorted(held) {
            Some(sorted) => sorted
                .chunk_by(|one, two| one == two)
                .map(|same| (same[0], same.len() as u64))
                .collect(),
            None => self.counted().filter(|&(_, count)| count > 0).collect(),
        }
    }

    /// Where the delays of these ranks, from 1, among `held` are.
    fn places_of<const N: usize>(&self, ranks: [u64; N], held: u64) -> [Option<Place>; N] {
        if let Some(sorted) = self.sorted(held) {
            return ranks.map(|rank| {
                let &bucket = sorted.get(rank.checked_sub(1)? as usize)?;
                let below = sorted.partition_point(|&other| other < bucket) as u64;
                let up_to = sorted.partition_point(|&other| other <= bucket) as u64;
                Some(Place {
                    bucket,
                    rank: rank - below,
                    of: up_to - below,
                })
            });
        }
        ranks.map(|rank| {
            let mut below = 0;
            self.counted().find_map(|(bucket, count)| {
                let found = (below + count >= rank).then(|| Place {
                    bucket,
                    rank: rank - below,
                    of: count,
                });
                below += count;
                found
            })
        })
    }
}

/// Which of the delays of a bucket one is, in their order.
#[derive(Clone, Copy, Debug)]
struct Place {
    bucket: u16,
    /// From 1.
    rank: u64,
    /// How many there are.
    of: u64,
}

impl Place {
    /// The delay, if all of the bucket lie as far from each other, within `least..=most`, between which all delays do. To
    /// tell the middle for each of them would give flows that differ by a few tenths of a percent the same quantiles, or
    /// such as differ by a whole step, and tests of runs would take either for a difference between them.
    fn ns(self, least: i64, most: i64) -> i64 {
        let (lowest, width) = range_of(self.bucket);
        let [first, last] = [lowest, lowest + width - 1].map(|ns| (ns as i64).clamp(least, most));
        let halves = (2 * self.rank - 1) as f64 / (2 * self.of) as f64;
        first + ((last - first) as f64 * halves).round() as i64
    }
}

impl DelayDistribution {
    /// Memory that it holds besides itself, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        match &self.held {
            Held::Few(_) => 0,
            Held::Listed(listed) => listed.capacity() * size_of::<u16>(),
            Held::Counted { counts, .. } => counts.capacity() * size_of::<u32>(),
        }
    }

    /// Adds a delay; negative ones do not exist and are taken for 0.
    #[inline]
    pub fn add(&mut self, delay_ns: i64) {
        let bucket = bucket_of(delay_ns.max(0).unsigned_abs());
        self.held.add(self.stats.samples, bucket);
        self.stats.add(delay_ns);
    }

    /// Adds all delays of others: the same as if each had been [added](Self::add), in any order.
    pub fn add_all(&mut self, others: &Self) {
        let mut held = self.stats.samples;
        for (bucket, count) in others.held.buckets(others.stats.samples) {
            // Once there are many, one more is counted, and all others with it.
            for added in 0..count {
                if let Held::Counted { .. } = self.held {
                    self.held.count(bucket, count - added);
                    break;
                }
                self.held.add(held, bucket);
                held += 1;
            }
        }
        self.stats.add_all(&others.stats);
    }

    /// Number, minimum, maximum and mean: all but the quantiles.
    #[must_use]
    pub fn stats(&self) -> &DelayStats {
        &self.stats
    }

    /// Number of delays.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.stats.samples
    }

    /// Smallest, in ns; exact. `None` without samples.
    #[must_use]
    pub fn ns_min(&self) -> Option<i64> {
        self.stats.ns_min()
    }

    /// Largest, in ns; exact. `None` without samples.
    #[must_use]
    pub fn ns_max(&self) -> Option<i64> {
        self.stats.ns_max()
    }

    /// Arithmetic mean, in ns. `None` without samples.
    #[must_use]
    pub fn ns_mean(&self) -> Option<f64> {
        self.stats.ns_mean()
    }

    /// All samples, in order, as ranges of 0.8 % at most.
    pub fn buckets(&self) -> impl Iterator<Item = DelayBucket> {
        let (ns_min, ns_max) = (self.stats.ns_min, self.stats.ns_max);
        self.held
            .buckets(self.stats.samples)
            .into_iter()
            .map(move |(bucket, count)| {
                let (lowest, width) = range_of(bucket);
                DelayBucket {
                    ns_min: (lowest as i64).clamp(ns_min, ns_max),
                    ns_max: ((lowest + width - 1) as i64).clamp(ns_min, ns_max),
                    count,
                }
            })
    }

    /// The delay that a share `q` (0 to 1) of the samples does not exceed, in ns, within 1 %:
    /// the sample of rank `ceil(q * n)`. `None` without samples.
    #[must_use]
    pub fn ns_quantile(&self, q: f64) -> Option<i64> {
        let [ns] = self.ns_quantiles([q]);
        ns
    }

    /// Several of these at once: delays that are held one by one are sorted for them.
    #[must_use]
    pub fn ns_quantiles<const N: usize>(&self, shares: [f64; N]) -> [Option<i64>; N] {
        let DelayStats {
            samples,
            ns_min,
            ns_max,
            ..
        } = self.stats;
        if samples == 0 {
            return [None; N];
        }
        let ranks = shares.map(|q| ((q * samples as f64).ceil() as u64).clamp(1, samples));
        let places = self.held.places_of(ranks, samples);
        std::array::from_fn(|which| {
            // Of few samples it is the smallest or the largest, which are known exactly.
            Some(match (places[which], ranks[which]) {
                (Some(_), 1) if samples > 1 => ns_min,
                (Some(place), rank) if rank < samples => place.ns(ns_min, ns_max),
                _ => ns_max,
            })
        })
    }
}

/// Delays that lie close together, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DelayBucket {
    /// None of them is smaller, in ns.
    pub ns_min: i64,
    /// None of them is larger, in ns; within 0.8 % of `ns_min`.
    pub ns_max: i64,
    /// How many.
    pub count: u64,
}

/// Delays below `2^SUB_BITS` have a bucket each; above, `2^SUB_BITS` buckets share an octave: 7,424 in all.
fn bucket_of(ns: u64) -> u16 {
    let octave = ns.max(1).ilog2().saturating_sub(SUB_BITS);
    ((octave << SUB_BITS) + (ns >> octave) as u32) as u16
}

/// Smallest delay of a bucket, and how many delays share it.
fn range_of(bucket: u16) -> (u64, u64) {
    let octave = (bucket >> SUB_BITS).saturating_sub(1);
    (
        u64::from(bucket - (octave << SUB_BITS)) << octave,
        1 << octave,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against sorting, the slow and obvious twin.
        #[test]
        fn quantiles_are_within_one_percent_of_the_sorted_ranks(
            mut delays in proptest::collection::vec(0_i64..20_000_000_000, 1..600),
            q in 0.0_f64..=1.0,
        ) {
            let mut distribution = DelayDistribution::default();
            for &delay in &delays {
                distribution.add(delay);
            }
            delays.sort_unstable();
            let rank = ((q * delays.len() as f64).ceil() as usize).clamp(1, delays.len());
            let exact = delays[rank - 1];
            let found = distribution.ns_quantile(q).unwrap();
            prop_assert!((found - exact).abs() as f64 <= exact as f64 * 0.01, "{found} for {exact}");
            let is_known = rank == 1 || rank == delays.len();
            prop_assert!(!is_known || found == exact, "smallest or largest: {found} for {exact}");
            let at_once = distribution.ns_quantiles([q, 0.5]);
            prop_assert_eq!(at_once, [Some(found), distribution.ns_quantile(0.5)]);
            prop_assert_eq!(distribution.ns_min(), delays.first().copied());
            prop_assert_eq!(distribution.ns_max(), delays.last().copied());
        }
    }

    proptest! {
        /// Every delay is counted once, in a range that holds it and is no wider than 0.8 %.
        #[test]
        fn buckets_hold_every_delay_once(
            mut delays in proptest::collection::vec(0_i64..20_000_000_000, 1..600),
        ) {
            let mut distribution = DelayDistribution::default();
            for &delay in &delays {
                distribution.add(delay);
            }
            delays.sort_unstable();
            let mut sorted = delays.into_iter();
            for bucket in distribution.buckets() {
                prop_assert!((bucket.ns_max - bucket.ns_min) as f64 <= 0.008 * bucket.ns_min as f64);
                for delay in sorted.by_ref().take(bucket.count as usize) {
                    prop_assert!((bucket.ns_min..=bucket.ns_max).contains(&delay));
                }
            }
            prop_assert_eq!(sorted.next(), None);
        }
    }

    proptest! {
        /// Whether they are held in place, one by one or counted.
        #[test]
        fn those_of_several_are_as_if_they_were_one(
            parts in proptest::collection::vec(
                prop_oneof![
                    proptest::collection::vec(0_i64..20_000_000_000, 0..20),
                    proptest::collection::vec(0_i64..20_000_000_000, 200..400),
                    proptest::collection::vec(1000_i64..1010, 200..400),
                ],
                0..4,
            ),
        ) {
            let of = |delays: &[i64]| {
                let mut distribution = DelayDistribution::default();
                for &delay in delays {
                    distribution.add(delay);
                }
                distribution
            };
            let mut together = DelayDistribution::default();
            for part in &parts {
                together.add_all(&of(part));
            }
            let one = of(&parts.concat());
            prop_assert_eq!(together.stats(), one.stats());
            prop_assert!(together.buckets().eq(one.buckets()));
        }
    }

    /// Flows whose delays differ by a tenth of a percent do not have the same quantiles, nor such as are a bucket apart.
    #[test]
    fn quantiles_follow_what_moves_within_a_bucket() {
        for late_ns in (0..1_000_000).step_by(50_000) {
            let mut distribution = DelayDistribution::default();
            for sample in 0..1000 {
                distribution.add(50_000_000 + late_ns + sample * 1000);
            }
            for (q, rank) in [(0.01, 10), (0.5, 500), (0.95, 950), (0.99, 990)] {
                let exact = 50_000_000 + late_ns + (rank - 1) * 1000;
                let found = distribution.ns_quantile(q).unwrap();
                assert!((found - exact).abs() <= 5000, "{found} for {exact}");
            }
        }
    }

    #[test]
    fn buckets_grow_without_gaps() {
        let mut last = bucket_of(0);
        for ns in 1..100_000 {
            let bucket = bucket_of(ns);
            assert!(bucket == last || bucket == last + 1, "gap at {ns}");
            last = bucket;
        }
    }

    #[test]
    fn without_samples_all_is_undefined() {
        let empty = DelayDistribution::default();
        assert_eq!(
            (empty.ns_min(), empty.ns_max(), empty.ns_quantile(0.5)),
            (None, None, None)
        );
        assert_eq!(empty.ns_mean(), None);
    }

    /// As clocks that jump make them: the sum does not fit 64 bits.
    #[test]
    fn the_mean_of_centuries_is_exact() {
        let mut centuries = DelayStats::default();
        centuries.add(0);
        for _ in 0..7 {
            centuries.add(1 << 62);
        }
        // 7 * 2^62 / 8.
        assert_eq!(centuries.ns_mean(), Some(7.0 * 2_f64.powi(59)));
    }
}
