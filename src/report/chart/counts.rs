//! How many values a chart is made of.

use super::axis::grouped;
use super::interval::{Estimate, FEW, Spread};

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
    let has = |of: &&Estimate| of.spread != Spread::Unknown;
    let has_interval = |of: &Estimate| of.spread.interval().is_some();
    let mut without = estimates().filter(|of| !has(of)).peekable();
    let mixed = without.peek().is_some() && estimates().any(has_interval);
    if mixed && without.all(|of| of.n == 1) {
        format!("{n} (1 where there is no interval)")
    } else {
        n
    }
}

/// What the marks of values are, where some are drawn.
pub(super) fn each_note<'e>(
    marks: &str,
    estimates: impl Iterator<Item = &'e Estimate>,
) -> Option<String> {
    let estimates: Vec<&Estimate> = estimates.collect();
    let any = |is: &dyn Fn(&Spread) -> bool| estimates.iter().any(|of| is(&of.spread));
    if !any(&|spread| !spread.values().is_empty()) {
        None
    } else if any(&|spread| spread.interval().is_some()) {
        Some(format!("{marks}: each run, where there are {FEW} or fewer"))
    } else {
        Some(format!("{marks}: each run"))
    }
}
