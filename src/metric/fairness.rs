//! Who got how much of a shared link.

use super::{finite, ratio};

/// Pairwise fairness of two flows from their payload bytes over one time span, in -1 ..= 1.
///
/// `1 - a/b` where B sent at least as much as A, `-1 + b/a` otherwise: 0 is even, -1 is A alone,
/// 1 is B alone, 0.5 is B twice A. `None` where neither sent.
///
/// Source: definition N1 in METRICS.md.
#[must_use]
pub fn fness(bytes_a: u64, bytes_b: u64) -> Option<f64> {
    if bytes_a == 0 && bytes_b == 0 {
        None
    } else if bytes_b >= bytes_a {
        Some(1.0 - bytes_a as f64 / bytes_b as f64)
    } else {
        Some(-1.0 + bytes_b as f64 / bytes_a as f64)
    }
}

/// Jain's index of n rates: `(sum x)^2 / (n * sum x^2)`, in 1/n ..= 1.
///
/// `None` without rates, where all are 0, or where one is no finite number or has no finite square.
///
/// Source: definition N2 in METRICS.md; R. Jain, D. Chiu, W. Hawe, DEC-TR-301 (1984).
#[must_use]
pub fn jain_index(rates: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for rate in rates {
        n += 1.0;
        sum += rate;
        squares += rate * rate;
    }
    finite(sum * sum / (n * squares)).filter(|_| squares > 0.0)
}

/// Sharing ratio of n downloads: their mean goodput over a fair share of `total_bps`.
///
/// 1 where all run at the same rate all the time; up to [`sharing_bound`] where they begin together and take turns, and
/// more where some begin when others have ended. `None` without flows, where the total is not positive, or where a
/// goodput or the total is no finite number.
///
/// Source: definition N3 in METRICS.md.
#[must_use]
pub fn sharing_ratio(goodputs_bps: &[f64], total_bps: f64) -> Option<f64> {
    // mean / (total / n) = sum / total.
    let sum = goodputs_bps.iter().sum();
    ratio(sum, total_bps).filter(|_| !goodputs_bps.is_empty())
}

/// Upper bound of the sharing ratio of n equal downloads that begin together, reached where they are served one after
/// another: `H_n = 1 + 1/2 + ... + 1/n`.
///
/// Source: definition N3 in METRICS.md.
#[must_use]
pub fn sharing_bound(n: usize) -> f64 {
    (1..=n).map(|k| 1.0 / k as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fness_is_zero_when_even_and_signed_by_the_winner() {
        for (a, b, expected) in [
            (10, 10, Some(0.0)),
            (10, 20, Some(0.5)),
            (20, 10, Some(-0.5)),
            (10, 0, Some(-1.0)),
            (0, 10, Some(1.0)),
            (0, 0, None),
        ] {
            assert_eq!(fness(a, b), expected, "fness({a}, {b})");
        }
    }

    #[test]
    fn jain_is_one_when_even_and_one_nth_when_one_takes_all() {
        assert_eq!(jain_index([3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain_index([5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index([0.0, 0.0]), None);
        assert_eq!(jain_index([]), None);
        assert_eq!(jain_index([f64::INFINITY, 1.0]), None);
        assert_eq!(jain_index([1e200, 1e200]), None);
    }

    #[test]
    fn six_downloads_in_turn_share_at_most_2_45() {
        assert!((sharing_bound(6) - 2.45).abs() < 1e-12);
        // Two downloads that split the link in halves all the time.
        assert_eq!(sharing_ratio(&[5e6, 5e6], 10e6), Some(1.0));
    }
}
