//! One value beside its baseline.

use crate::metric::ratio;

/// Change against a baseline, in percent of the baseline: `100 (value - baseline) / baseline`.
///
/// `None` where the baseline is not positive, or one of both or the change is no finite number.
///
/// Source: definition S5 in METRICS.md.
#[must_use]
pub fn change_percent(value: f64, baseline: f64) -> Option<f64> {
    ratio(100.0 * (value - baseline), baseline)
}
