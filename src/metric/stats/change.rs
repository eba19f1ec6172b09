//! One value beside its baseline.

/// Change against a baseline, in percent of the baseline: `100 (value - baseline) / baseline`.
///
/// `None` where the baseline is not positive.
///
/// Source: definition S5 in METRICS.md.
#[must_use]
pub fn change_percent(value: f64, baseline: f64) -> Option<f64> {
    let change = 100.0 * (value - baseline) / baseline;
    (baseline > 0.0 && change.is_finite()).then_some(change)
}
