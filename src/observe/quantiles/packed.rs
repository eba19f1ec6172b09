//! Delays of a flow that has ended, in as few bytes as they take.

use super::{DelayDistribution, DelayStats, FEW, Held, LISTED_MAX};
use crate::packing::{put_all, step, stepped, take_all, take_many};

/// Numbers that [`DelayStats`] are written as.
pub(in crate::observe) const STATS_NUMBERS: usize = 5;

impl DelayStats {
    /// Its numbers, told from `like`: all 0 where both are the same.
    pub(in crate::observe) fn numbers(&self, like: &Self) -> [u64; STATS_NUMBERS] {
        [
            step(like.samples, self.samples),
            step(like.ns_min.cast_unsigned(), self.ns_min.cast_unsigned()),
            step(like.ns_range(), self.ns_range()),
            step(like.ns_others(), self.ns_others()),
            step(like.overflows.into(), self.overflows.into()),
        ]
    }

    /// Those of which [`numbers`](Self::numbers) gave these.
    pub(in crate::observe) fn of_numbers(numbers: [u64; STATS_NUMBERS], like: &Self) -> Self {
        let ns_min = stepped(like.ns_min.cast_unsigned(), numbers[1]);
        let ns_max = ns_min.wrapping_add(stepped(like.ns_range(), numbers[2]));
        Self {
            samples: stepped(like.samples, numbers[0]),
            sum_ns: ns_max.wrapping_add(stepped(like.ns_others(), numbers[3])),
            overflows: stepped(like.overflows.into(), numbers[4]) as u32,
            ns_min: ns_min.cast_signed(),
            ns_max: ns_max.cast_signed(),
        }
    }

    /// From the smallest to the largest, wrapped.
    fn ns_range(&self) -> u64 {
        self.ns_max.wrapping_sub(self.ns_min).cast_unsigned()
    }

    /// The sum of all but the largest, wrapped: 0 of a single one.
    fn ns_others(&self) -> u64 {
        self.sum_ns.wrapping_sub(self.ns_max.cast_unsigned())
    }
}

impl DelayDistribution {
    /// Writes the buckets behind `bytes`: all that the [statistics](Self::stats) do not say.
    pub(in crate::observe) fn put_buckets(&self, bytes: &mut Vec<u8>) {
        match &self.held {
            // Of one delay it is known.
            Held::Few(_) if self.stats.samples <= 1 => {}
            Held::Few(few) => put_listed(bytes, &few[..(self.stats.samples as usize).min(FEW)]),
            Held::Listed(listed) => put_listed(bytes, listed),
            Held::Counted {
                first_bucket,
                counts,
            } => {
                put_all(bytes, &[u64::from(*first_bucket), counts.len() as u64]);
                let counts: Vec<u64> = counts.iter().map(|&count| u64::from(count)).collect();
                put_all(bytes, &counts);
            }
        }
    }

    /// The distribution with these statistics, whose buckets come next.
    pub(in crate::observe) fn take(stats: DelayStats, bytes: &mut &[u8]) -> Self {
        let held = match stats.samples {
            0 => Held::default(),
            1 => {
                let mut few = [0; FEW];
                few[0] = super::bucket_of(stats.ns_min.max(0).unsigned_abs());
                Held::Few(few)
            }
            samples if samples <= FEW as u64 => {
                let mut few = [0; FEW];
                for (place, bucket) in few.iter_mut().zip(take_listed(bytes, samples as usize)) {
                    *place = bucket;
                }
                Held::Few(few)
            }
            samples if samples <= LISTED_MAX as u64 => {
                Held::Listed(take_listed(bytes, samples as usize).collect())
            }
            _ => {
                let [first_bucket, len] = take_all(bytes);
                let counts = take_many(bytes, len as usize);
                Held::Counted {
                    first_bucket: first_bucket as u16,
                    counts: counts.into_iter().map(|count| count as u32).collect(),
                }
            }
        };
        Self { stats, held }
    }
}

/// Buckets, each as the step from the one before: delays of a flow are near each other.
fn put_listed(bytes: &mut Vec<u8>, buckets: &[u16]) {
    let mut steps = [0; LISTED_MAX];
    let mut before = 0;
    for (place, &bucket) in steps.iter_mut().zip(buckets) {
        *place = step(before, bucket.into());
        before = bucket.into();
    }
    put_all(bytes, &steps[..buckets.len().min(LISTED_MAX)]);
}

/// So many buckets, as [`put_listed`] wrote them.
fn take_listed(bytes: &mut &[u8], len: usize) -> impl Iterator<Item = u16> {
    let mut bucket = 0;
    take_many(bytes, len).into_iter().map(move |step| {
        bucket = stepped(bucket, step);
        bucket as u16
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_stats() -> impl Strategy<Value = DelayStats> {
        any::<(u64, u64, u32, i64, i64)>().prop_map(
            |(samples, sum_ns, overflows, ns_min, ns_max)| DelayStats {
                samples,
                sum_ns,
                overflows,
                ns_min,
                ns_max,
            },
        )
    }

    /// None, some and many; of one kind, and as far apart as can be.
    fn delays() -> impl Strategy<Value = Vec<i64>> {
        let delay = prop_oneof![
            4 => 20_000_000..30_000_000_i64,
            1 => any::<i64>(),
            1 => Just(i64::MAX),
            1 => Just(0),
        ];
        prop_oneof![
            prop::collection::vec(delay.clone(), 0..12),
            prop::collection::vec(delay, 250..600),
        ]
    }

    proptest! {
        #[test]
        fn statistics_come_back_as_they_were(stats in any_stats(), like in any_stats()) {
            let numbers = stats.numbers(&like);
            prop_assert_eq!(DelayStats::of_numbers(numbers, &like), stats.clone());
            prop_assert_eq!(stats.numbers(&stats), [0; STATS_NUMBERS]);
        }

        #[test]
        fn distributions_come_back_as_they_were(delays in delays()) {
            let mut distribution = DelayDistribution::default();
            for delay in delays {
                distribution.add(delay);
            }
            let mut bytes = Vec::new();
            distribution.put_buckets(&mut bytes);
            let mut rest = &bytes[..];
            let again = DelayDistribution::take(distribution.stats.clone(), &mut rest);
            prop_assert_eq!(again, distribution);
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_few_delays_of_one_kind_take_two_bytes_each() {
        let mut distribution = DelayDistribution::default();
        for delay in 0..8 {
            distribution.add(40_000_000 + delay * 100_000);
        }
        let mut bytes = Vec::new();
        distribution.put_buckets(&mut bytes);
        assert!(bytes.len() <= 16, "{}", bytes.len());
    }
}
