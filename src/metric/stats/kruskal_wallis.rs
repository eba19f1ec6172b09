//! Does one of several groups tend to larger values? Asked of ranks, so of any distribution.

use super::distribution::chi_squared_tail;
use super::ranks::Ranks;
use super::{is_sample, sum};

/// The test of Kruskal and Wallis, corrected for ties.
///
/// Source: definition S7 in METRICS.md; W. Kruskal, W. Wallis, Use of Ranks in One-Criterion
/// Variance Analysis, JASA 47 (1952).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KruskalWallis {
    /// Number of values in all groups.
    pub n: u64,
    /// H, divided by `1 - sum(t^3 - t) / (n^3 - n)` over the runs of t equal values.
    pub h: f64,
    /// Degrees of freedom: groups less one.
    pub df: u64,
    /// Probability of such an H or a larger one if all groups came from one distribution: that of
    /// chi squared, an approximation that is good from five values a group on.
    pub p: f64,
    /// Effect size `H / (n - 1)`: 0, no relation, to 1.
    pub epsilon_squared: f64,
}

impl KruskalWallis {
    /// Compares samples; `None` for fewer than two, where one has no values or a value that is not
    /// finite, where all values are equal, or where no sample has two: then ranks lie between samples
    /// alone, and H is its df whatever the values are.
    #[must_use]
    pub fn of<S: AsRef<[f64]>>(samples: &[S]) -> Option<Self> {
        let samples: Vec<&[f64]> = samples.iter().map(AsRef::as_ref).collect();
        if samples.len() < 2 || !samples.iter().all(|sample| is_sample(sample)) {
            return None;
        }
        let all = samples.concat();
        if all.len() == samples.len() {
            return None;
        }
        let Ranks { ranks, ties } = Ranks::of(&all);
        let n = all.len() as f64;
        let mut rest = ranks.as_slice();
        let mean_rank = f64::midpoint(n, 1.0);
        // As distances from the mean rank: the textbook's form subtracts two large numbers.
        let spread = sum(samples.iter().map(|sample| {
            let (of_sample, after) = rest.split_at(sample.len());
            rest = after;
            let size = sample.len() as f64;
            size * (sum(of_sample.iter().copied()) / size - mean_rank).powi(2)
        }));
        let untied = 1.0 - ties / (n.powi(3) - n);
        if untied <= 0.0 {
            return None;
        }
        let h = 12.0 * spread / (n * (n + 1.0)) / untied;
        let df = samples.len() as u64 - 1;
        Some(Self {
            n: all.len() as u64,
            h,
            df,
            p: chi_squared_tail(h, df as f64),
            epsilon_squared: h / (n - 1.0),
        })
    }
}
