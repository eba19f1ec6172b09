//! One sample as a box with whiskers.

use super::describe::ROUNDING;
use super::{quantile, sorted};

/// How far a whisker reaches beyond its quartile, in interquartile ranges.
const WHISKER_IQR: f64 = 1.5;

/// Tukey's box plot of a sample.
///
/// Source: definition S4 in METRICS.md; J. Tukey, Exploratory Data Analysis (1977).
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// First quartile: lower edge of the box.
    pub q1: f64,
    /// Median: the line in the box.
    pub median: f64,
    /// Third quartile: upper edge of the box.
    pub q3: f64,
    /// Smallest value that is at most 1.5 interquartile ranges below the first quartile.
    pub whisker_low: f64,
    /// Largest value that is at most 1.5 interquartile ranges above the third quartile.
    pub whisker_high: f64,
    /// The values beyond the whiskers, in ascending order.
    pub outliers: Vec<f64>,
}

impl BoxPlot {
    /// The box plot of a sample; `None` without values, or where one is not finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values)?;
        let q1 = quantile(&sorted, 0.25)?;
        let q3 = quantile(&sorted, 0.75)?;
        // A value at a fence is within it, whatever rounding makes of both: rates are multiples of a packet's, and so meet.
        let rounding = 4.0 * ROUNDING * q1.abs().max(q3.abs());
        let reach = WHISKER_IQR * (q3 - q1) + rounding;
        // The median lies between the fences, so values remain.
        let below = sorted.partition_point(|&value| value < q1 - reach);
        let upto = sorted.partition_point(|&value| value <= q3 + reach);
        let inside = sorted.get(below..upto)?;
        Some(Self {
            q1,
            median: quantile(&sorted, 0.5)?,
            q3,
            whisker_low: *inside.first()?,
            whisker_high: *inside.last()?,
            outliers: [&sorted[..below], &sorted[upto..]].concat(),
        })
    }
}
