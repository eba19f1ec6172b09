//! How many values a chart is made of.

use super::axis::grouped;
use super::interval::Estimate;

/// How many values there are, in words: `n = 5`, or `n = 3 to 7`.
pub(super) fn n_words(n: impl Iterator<Item = u64>) -> String {
    let (mut least, mut most) = (u64::MAX, 0);
    for n in n {
        least = least.min(n);
        most = most.max(n);
    }
    match (least, most) {
        (u64::MAX, _) => String::new(),
        (least, most) if least == most => format!("n = {}", grouped(most)),
        (least, most) => format!("n = {} to {}", grouped(least), grouped(most)),
    }
}

/// Values that estimates are the mean of; where some have no interval, as one alone has none, it is said.
pub(super) fn n_of<'e, I: Iterator<Item = &'e Estimate>>(estimates: impl Fn() -> I) -> String {
    let n = n_words(estimates().map(|of| of.n));
    let has = |of: &&Estimate| of.interval.is_some();
    let mut without = estimates().filter(|of| !has(of)).peekable();
    let mixed = without.peek().is_some() && estimates().any(|of| has(&of));
    if mixed && without.all(|of| of.n == 1) {
        format!("{n} (1 where there is no interval)")
    } else {
        n
    }
}
