//! Numbers without what arithmetic has left behind their digits.

/// `number` with so many digits: what a change of units has left behind these decides nothing.
pub(super) fn to_digits(number: f64, digits: usize) -> f64 {
    let behind_first = digits.saturating_sub(1);
    let text = format!("{number:.behind_first$e}");
    text.parse().unwrap_or(number)
}
