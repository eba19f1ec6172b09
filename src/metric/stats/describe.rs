//! One sample in a row of a table.

use super::distribution::student_t_quantile;
use super::{sorted, sum};
use crate::metric::finite;

/// What a sample looks like.
///
/// Source: definitions S1 to S3 in METRICS.md.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Describe {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Standard deviation of the population, estimated from the sample (over `n - 1`); `None` for
    /// one value.
    pub std_dev: Option<f64>,
    /// First quartile, by [`quantile`].
    pub q1: f64,
    /// Third quartile, by [`quantile`].
    pub q3: f64,
    /// 95 % confidence interval of the mean by Student's t: `mean ± t(0.975, n - 1) s / sqrt(n)`.
    /// `None` for one value.
    pub ci95: Option<Interval>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

/// The values from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Describe {
    /// Describes a sample; `None` without values, where one is not finite, or where their sum is
    /// beyond what an `f64` holds.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values)?;
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let mean = mean(&sorted)?;
        let std_dev = variance(&sorted).map(f64::sqrt);
        Some(Self {
            n: sorted.len(),
            mean,
            median: quantile(&sorted, 0.5)?,
            std_dev,
            q1: quantile(&sorted, 0.25)?,
            q3: quantile(&sorted, 0.75)?,
            ci95: std_dev.map(|std_dev| confidence95(sorted.len(), mean, std_dev)),
            min,
            max,
        })
    }

    /// Interquartile range.
    #[must_use]
    pub fn iqr(&self) -> f64 {
        self.q3 - self.q1
    }
}

/// Arithmetic mean; `None` without values, or where it is not finite.
///
/// Source: definition S1 in METRICS.md.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    finite(sum(values.iter().copied()) / values.len() as f64)
}

/// Mean distance of values from `origin`; `None` without values, or where it is not finite.
pub(super) fn mean_from(origin: f64, values: &[f64]) -> Option<f64> {
    finite(sum(values.iter().map(|value| value - origin)) / values.len() as f64)
}

/// What is the same comes out of computations that far apart, as a part of it: one or two units in the last place.
pub(super) const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// Variance of the population, estimated from the sample: squared distances from the mean over
/// `n - 1`; 0 where the values are as far apart as rounding puts what is the same. `None` for fewer than
/// two values, or where it is not finite.
///
/// Source: definition S1 in METRICS.md.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let n = values.len() as f64;
    let (least, most) = values.iter().fold((mean, mean), |(least, most), value| {
        (value.min(least), value.max(most))
    });
    if most - least <= ROUNDING * least.abs().max(most.abs()) {
        return Some(0.0);
    }
    let squares = sum(values.iter().map(|value| (value - mean).powi(2)));
    // The mean is rounded; what it misses by is in the distances, which would else add up to 0.
    let missed = sum(values.iter().map(|value| value - mean)) / n;
    finite((squares - n * missed.powi(2)) / (n - 1.0))
}

/// The quantile `p` (0 to 1) of values in ascending order: linear between the two values around
/// position `(n - 1) p`.
///
/// This is type 7 of Hyndman and Fan, the default of numpy, R and Excel (`PERCENTILE.INC`).
/// `None` without values, where `p` is not in 0 ..= 1, or where two values are further apart than
/// an `f64` holds.
///
/// Source: definition S2 in METRICS.md; R. Hyndman, Y. Fan, Sample Quantiles in Statistical
/// Packages, The American Statistician 50 (1996).
#[must_use]
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let position = last as f64 * p;
    let below = position.floor();
    let low = sorted[below as usize];
    let high = sorted[(below as usize + 1).min(last)];
    finite(low + (high - low) * (position - below))
}

fn confidence95(n: usize, mean: f64, std_dev: f64) -> Interval {
    let t = student_t_quantile(0.025, (n - 1) as f64);
    let half = t * std_dev / (n as f64).sqrt();
    Interval {
        low: mean - half,
        high: mean + half,
    }
}
