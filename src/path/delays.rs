//! Delays from point to point, which are below 0 where clocks are believed that contradict each other (METRICS.md B3).

use crate::observe::DelayDistribution;

/// Delays of either sign: exact minimum, maximum and mean; quantiles within 1 %.
#[derive(Clone, Debug, Default)]
pub struct PathDelays {
    late: DelayDistribution,
    /// Those below 0, without their sign.
    early: DelayDistribution,
}

impl PathDelays {
    #[inline]
    pub(super) fn add(&mut self, delay_ns: i64) {
        if delay_ns < 0 {
            self.early.add(delay_ns.saturating_neg());
        } else {
            self.late.add(delay_ns);
        }
    }

    /// Smallest, in ns. `None` without packets.
    #[must_use]
    pub fn ns_min(&self) -> Option<i64> {
        let early = self.early.ns_max().map(i64::saturating_neg);
        early.or(self.late.ns_min())
    }

    /// Largest, in ns. `None` without packets.
    #[must_use]
    pub fn ns_max(&self) -> Option<i64> {
        let early = self.early.ns_min().map(i64::saturating_neg);
        self.late.ns_max().or(early)
    }

    /// Arithmetic mean, in ns. `None` without packets.
    #[must_use]
    pub fn ns_mean(&self) -> Option<f64> {
        let Some(early) = self.early.ns_mean() else {
            return self.late.ns_mean();
        };
        let [early_count, late_count] = self.counts().map(|count| count as f64);
        let sum = self.late.ns_mean().unwrap_or(0.0) * late_count - early * early_count;
        Some(sum / (early_count + late_count))
    }

    /// The delay that a share `q` (0 to 1) of the packets does not exceed, in ns, within 1 %. `None` without packets.
    #[must_use]
    pub fn ns_quantile(&self, q: f64) -> Option<i64> {
        let [early, late] = self.counts();
        if early == 0 {
            return self.late.ns_quantile(q);
        }
        let all = early + late;
        let rank = ((q * all as f64).ceil() as u64).clamp(1, all);
        // Of a rank among so many, from 1: half of one less, so that rounding makes no other of it.
        let share = |rank: u64, of: u64| (rank as f64 - 0.5) / of as f64;
        if rank > early {
            self.late.ns_quantile(share(rank - early, late))
        } else {
            let early_ns = self.early.ns_quantile(share(early - rank + 1, early));
            early_ns.map(i64::saturating_neg)
        }
    }

    /// How many are below 0, and how many are not.
    fn counts(&self) -> [u64; 2] {
        [self.early.samples(), self.late.samples()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(delays: impl IntoIterator<Item = i64>) -> PathDelays {
        let mut all = PathDelays::default();
        delays.into_iter().for_each(|delay| all.add(delay));
        all
    }

    /// -50 to 49: half of them are below 0, and their sum is -50.
    #[test]
    fn delays_of_both_signs_are_of_one_distribution() {
        let all = of(-50..50);
        assert_eq!((all.ns_min(), all.ns_max()), (Some(-50), Some(49)));
        assert_eq!(all.ns_mean(), Some(-0.5));
        let quantiles = [0.0, 0.01, 0.25, 0.5, 0.51, 0.95, 1.0].map(|q| all.ns_quantile(q));
        assert_eq!(quantiles, [-50, -50, -26, -1, 0, 44, 49].map(Some));
    }

    #[test]
    fn all_may_be_below_0_or_there_may_be_none() {
        let early = of([-3, -9]);
        assert_eq!((early.ns_min(), early.ns_max()), (Some(-9), Some(-3)));
        assert_eq!(
            (early.ns_mean(), early.ns_quantile(0.5)),
            (Some(-6.0), Some(-9))
        );
        let none = of([]);
        assert_eq!(
            (none.ns_min(), none.ns_max(), none.ns_quantile(0.5)),
            (None, None, None)
        );
        assert_eq!(none.ns_mean(), None);
    }
}
