//! What many values say together: description, comparison, distribution.
//!
//! | item | METRICS.md |
//! | --- | --- |
//! | [`Describe`], [`mean`], [`variance`] | S1 |
//! | [`quantile`] | S2 |
//! | [`Describe::ci95`], [`Interval`] | S3 |
//! | [`BoxPlot`] | S4 |
//! | [`change_percent`] | S5 |
//! | [`Anova`], [`GroupSummary`] | S6 |
//! | [`KruskalWallis`] | S7 |
//! | [`compare_pairs`], [`PairTest`], [`holm`], [`bonferroni`] | S8 |
//! | [`ecdf`] | S9 |
//! | [`Density`] | S10 |
//!
//! Samples are slices of finite numbers: what was not measured is left out by the caller, so that
//! `n` tells how much there was. A sample with NaN or an infinity has no statistics (`None`).

mod anova;
mod box_plot;
mod change;
mod density;
mod describe;
mod distribution;
mod kruskal_wallis;
mod pairwise;
mod ranks;

#[cfg(test)]
mod tests;

pub use anova::{Anova, AnovaRow, GroupSummary, Variation};
pub use box_plot::BoxPlot;
pub use change::change_percent;
pub use density::{Density, DensityRange, ecdf};
pub use describe::{Describe, Interval, mean, quantile, variance};
pub use kruskal_wallis::KruskalWallis;
pub use pairwise::{PairComparison, PairTest, bonferroni, compare_pairs, holm};

/// Significance level of critical values.
pub const ALPHA: f64 = 0.05;

/// The sum of many values, with the rounding errors of each step added back at the end.
///
/// A plain sum of a million samples loses digits that a variance then multiplies. Source: A.
/// Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54
/// (1974).
fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() {
            (sum - next) + value
        } else {
            (value - next) + sum
        };
        sum = next;
    }
    sum + lost
}

/// The values in ascending order; `None` without values, or where one is not finite.
fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if !is_sample(values) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

/// Whether there are values and all are finite.
fn is_sample(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|value| value.is_finite())
}
