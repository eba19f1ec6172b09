//! Which of several groups differ? Each with each, corrected for the number of tests.

use super::describe::{Interval, mean, mean_from};
use super::distribution::{normal_tail, student_t_quantile, student_t_tail};
use super::ranks::Ranks;
use super::{is_sample, variance};

/// Up to so many values in each of two samples without ties, P of Mann and Whitney is exact.
const EXACT_MAX: usize = 20;

/// A test of two samples, two-sided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PairTest {
    /// Do the means differ? Welch's t, for groups of unlike variance.
    WelchT,
    /// Does one tend to larger values? Mann and Whitney's U, for any distribution.
    MannWhitney,
}

/// Two of several samples compared.
///
/// Source: definition S8 in METRICS.md.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairComparison {
    /// Place of the first sample.
    pub a: usize,
    /// Place of the second.
    pub b: usize,
    /// Mean of A less mean of B.
    pub difference: f64,
    /// Its 95 % confidence interval; of Welch's t only.
    pub ci95: Option<Interval>,
    /// t, or the U of A; `None` where the test is undefined: a sample of Welch's t has one value,
    /// or nothing varies.
    pub statistic: Option<f64>,
    /// Degrees of freedom by Welch and Satterthwaite; of Welch's t only.
    pub df: Option<f64>,
    /// Cohen's d (difference over the pooled standard deviation) of Welch's t; `U / (na nb)` of
    /// Mann and Whitney: how often a value of A is above one of B, 0 to 1, ties half.
    pub effect: Option<f64>,
    /// Probability of such a difference by chance, uncorrected; `None` as `statistic`.
    pub p: Option<f64>,
    /// The same corrected by Holm for all pairs.
    pub p_holm: Option<f64>,
    /// The same corrected by Bonferroni for all pairs.
    pub p_bonferroni: Option<f64>,
}

/// Compares every two samples: (0, 1), (0, 2), … (1, 2), …
///
/// `None` where a sample has no values or one that is not finite, or where a difference of means is
/// beyond what an `f64` holds.
///
/// Source: definition S8 in METRICS.md.
#[must_use]
pub fn compare_pairs<S: AsRef<[f64]>>(
    samples: &[S],
    test: PairTest,
) -> Option<Vec<PairComparison>> {
    let mut pairs = Vec::new();
    for (a, first) in samples.iter().enumerate() {
        for (b, second) in samples.iter().enumerate().skip(a + 1) {
            pairs.push(compare(a, first.as_ref(), b, second.as_ref(), test)?);
        }
    }
    let p: Vec<Option<f64>> = pairs.iter().map(|pair| pair.p).collect();
    let corrected = holm(&p).into_iter().zip(bonferroni(&p));
    for (pair, (p_holm, p_bonferroni)) in pairs.iter_mut().zip(corrected) {
        pair.p_holm = p_holm;
        pair.p_bonferroni = p_bonferroni;
    }
    Some(pairs)
}

/// Corrects the P of several tests so that any false alarm among them is as likely as one alone:
/// the smallest times their number, the next times one less, …, never falling, at most 1.
///
/// A test without P does not count.
///
/// Source: definition S8 in METRICS.md; S. Holm, A Simple Sequentially Rejective Multiple Test
/// Procedure, Scand. J. Statist. 6 (1979).
#[must_use]
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&place| p[place].is_some()).collect();
    order.sort_by(|&a, &b| p[a].unwrap_or(1.0).total_cmp(&p[b].unwrap_or(1.0)));
    let mut corrected = vec![None; p.len()];
    let mut floor = 0.0_f64;
    for (rank, &place) in order.iter().enumerate() {
        let tests_left = (order.len() - rank) as f64;
        floor = floor.max((p[place].unwrap_or(1.0) * tests_left).min(1.0));
        corrected[place] = Some(floor);
    }
    corrected
}

/// Corrects the P of several tests by their number: each times that, at most 1.
///
/// Stricter than [`holm`] without being safer; some papers state it. A test without P does not
/// count.
///
/// Source: definition S8 in METRICS.md.
#[must_use]
pub fn bonferroni(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let tests = p.iter().flatten().count() as f64;
    p.iter().map(|p| p.map(|p| (p * tests).min(1.0))).collect()
}

fn compare(
    a: usize,
    first: &[f64],
    b: usize,
    second: &[f64],
    test: PairTest,
) -> Option<PairComparison> {
    if !is_sample(first) || !is_sample(second) {
        return None;
    }
    // From a point among them: means that are large beside their difference leave it few digits.
    let origin = mean(first)?;
    let difference = mean_from(origin, first)? - mean_from(origin, second)?;
    if !difference.is_finite() {
        return None;
    }
    let undefined = PairComparison {
        a,
        b,
        difference,
        ci95: None,
        statistic: None,
        df: None,
        effect: None,
        p: None,
        p_holm: None,
        p_bonferroni: None,
    };
    let tested = match test {
        PairTest::WelchT => welch_t(undefined, first, second),
        PairTest::MannWhitney => mann_whitney(undefined, first, second),
    };
    Some(tested.unwrap_or(undefined))
}

/// B. L. Welch, The Generalization of "Student's" Problem, Biometrika 34 (1947).
fn welch_t(pair: PairComparison, a: &[f64], b: &[f64]) -> Option<PairComparison> {
    let (na, nb) = (a.len() as f64, b.len() as f64);
    let (variance_a, variance_b) = (variance(a)?, variance(b)?);
    let (part_a, part_b) = (variance_a / na, variance_b / nb);
    let error = (part_a + part_b).sqrt();
    if error <= 0.0 {
        return None;
    }
    // By shares of the error: its square may be beyond what an f64 holds.
    let (share_a, share_b) = (part_a / (part_a + part_b), part_b / (part_a + part_b));
    let df = 1.0 / (share_a.powi(2) / (na - 1.0) + share_b.powi(2) / (nb - 1.0));
    let t = pair.difference / error;
    if !(df.is_finite() && t.is_finite()) {
        return None;
    }
    let half = student_t_quantile(0.025, df) * error;
    let pooled = ((na - 1.0) * variance_a + (nb - 1.0) * variance_b) / (na + nb - 2.0);
    Some(PairComparison {
        ci95: Some(Interval {
            low: pair.difference - half,
            high: pair.difference + half,
        }),
        statistic: Some(t),
        df: Some(df),
        effect: Some(pair.difference / pooled.sqrt()),
        p: Some((2.0 * student_t_tail(t.abs(), df)).min(1.0)),
        ..pair
    })
}

/// H. Mann, D. Whitney, On a Test of Whether One of Two Random Variables is Stochastically Larger
/// than the Other, Ann. Math. Statist. 18 (1947).
fn mann_whitney(pair: PairComparison, a: &[f64], b: &[f64]) -> Option<PairComparison> {
    let Ranks { ranks, ties } = Ranks::of(&[a, b].concat());
    let (na, nb) = (a.len() as f64, b.len() as f64);
    let u = ranks[..a.len()].iter().sum::<f64>() - na * (na + 1.0) / 2.0;
    let small = a.len() <= EXACT_MAX && b.len() <= EXACT_MAX;
    let p = if small && ties == 0.0 {
        exact_p(u, a.len(), b.len())
    } else {
        approximate_p(u, na, nb, ties)?
    };
    Some(PairComparison {
        statistic: Some(u),
        effect: Some(u / (na * nb)),
        p: Some(p),
        ..pair
    })
}

/// Two-sided P of U by the normal distribution, with corrections for ties and for continuity;
/// `None` where all values are equal.
fn approximate_p(u: f64, na: f64, nb: f64, ties: f64) -> Option<f64> {
    let n = na + nb;
    let variance = na * nb / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    let z = ((u - na * nb / 2.0).abs() - 0.5) / variance.sqrt();
    (variance > 0.0).then(|| (2.0 * normal_tail(z)).min(1.0))
}

/// Two-sided P of U without ties: every order of the values counted.
fn exact_p(u: f64, na: usize, nb: usize) -> f64 {
    let orders = orders_by_u(na, nb);
    let above = u.max((na * nb) as f64 - u) as usize;
    let tail: f64 = orders[above..].iter().sum();
    (2.0 * tail / orders.iter().sum::<f64>()).min(1.0)
}

/// In how many orders of `na + nb` different values U is 0, 1, … `na nb`: the coefficients of the
/// Gaussian binomial, whole numbers below 2^53 for samples up to [`EXACT_MAX`].
fn orders_by_u(na: usize, nb: usize) -> Vec<f64> {
    let mut orders = vec![0.0; na * nb + 1];
    orders[0] = 1.0;
    // Times (1 - x^(nb + i)), then over (1 - x^i).
    for i in 1..=na {
        for u in (nb + i..orders.len()).rev() {
            orders[u] -= orders[u - nb - i];
        }
        for u in i..orders.len() {
            orders[u] += orders[u - i];
        }
    }
    orders
}
