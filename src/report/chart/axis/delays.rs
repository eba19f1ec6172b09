//! Axes of delays, which spread over decades.

use super::{Axis, Quantity};

/// Delays that spread over more than this have a log scale: the largest over the smallest.
pub(in crate::report::chart) const SPREAD: f64 = 50.0;

impl Axis {
    /// Log scale where the largest is more than [`SPREAD`] times the smallest; linear from 0 otherwise,
    /// or from near the smallest where all are close together, as jitter is on a long path.
    pub(in crate::report::chart) fn for_delays(
        quantity: Quantity,
        min: f64,
        max: f64,
        ticks_max: usize,
    ) -> Self {
        if min > 0.0 && max / min > SPREAD {
            Self::log(quantity, min, max)
        } else if min > 0.7 * max {
            let margin = (max - min).max(max * 0.01) * 0.3;
            // On either side: what lies on a rim looks cut, and of one value alone nothing else would be seen.
            Self::linear(quantity, (min - margin).max(0.0), max + margin, ticks_max)
        } else {
            Self::linear(quantity, 0.0, max, ticks_max)
        }
    }

    /// [`for_delays`](Self::for_delays), where some may be 0, as clocks are that are coarse, or less, as those are that
    /// disagree; `values` tells which is the smallest above 0.
    pub(in crate::report::chart) fn for_any_delays(
        quantity: Quantity,
        (min, max): (f64, f64),
        values: impl Iterator<Item = f64>,
        ticks_max: usize,
    ) -> Self {
        if min > 0.0 {
            return Self::for_delays(quantity, min, max, ticks_max);
        }
        // One without a length would have no scale.
        let max = max.max(1e-9);
        let least = values.filter(|&value| value > 0.0).reduce(f64::min);
        let spreads = least.is_some_and(|least| max / least > SPREAD);
        match least {
            Some(least) if spreads && min == 0.0 => Self::log(quantity, least, max).with_zero(),
            _ => Self::linear(quantity, min, max, ticks_max),
        }
    }

    /// [`for_any_delays`](Self::for_any_delays), where values have ranges, and `middle` is the least of their means that counts:
    /// ends of ranges far below it, as of one packet that met no queue, press nothing together on a linear scale.
    pub(in crate::report::chart) fn for_ranges(
        quantity: Quantity,
        (min, max): (f64, f64),
        values: impl Iterator<Item = f64>,
        middle: Option<f64>,
        ticks_max: usize,
    ) -> Self {
        let is_near = |end: f64, least: f64| least > 0.0 && end <= SPREAD * least;
        if middle.is_some_and(|middle| is_near(max, middle)) && !is_near(max, min) {
            return Self::linear(quantity, min.min(0.0), max, ticks_max);
        }
        Self::for_any_delays(quantity, (min, max), values, ticks_max)
    }
}
