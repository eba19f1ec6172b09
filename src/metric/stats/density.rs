//! How values are spread: all of them as a step curve, or smoothed.

use super::{Describe, is_sample, sorted, sum};

/// The steps of the empirical distribution: each different value, ascending, with the share of
/// values that are at most that large, which ends with 1. Empty without values, or where one is not
/// finite.
///
/// Source: definition S9 in METRICS.md.
#[must_use]
pub fn ecdf(values: &[f64]) -> Vec<(f64, f64)> {
    let sorted = sorted(values).unwrap_or_default();
    let n = sorted.len() as f64;
    let mut upto = 0;
    // In ascending order, what is not below the next is equal to it.
    sorted
        .chunk_by(|a, b| a >= b)
        .map(|run| {
            upto += run.len();
            (run[0], upto as f64 / n)
        })
        .collect()
}

/// Where a density is drawn: `points` values from `low` to `high`, both included, and where bells are narrower than
/// what is between these, more about each value of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DensityRange {
    /// First value.
    pub low: f64,
    /// Last value.
    pub high: f64,
    /// How many, at least 2.
    pub points: usize,
}

/// A kernel density estimate: the sample as a sum of Gaussian bells.
///
/// Source: definition S10 in METRICS.md; B. Silverman, Density Estimation for Statistics and Data
/// Analysis (1986), equation 3.31.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// Standard deviation of a bell: `0.9 min(s, IQR / 1.34) n^(-1/5)`, with s alone where the IQR
    /// is 0.
    pub bandwidth: f64,
    /// Value and density at it, per unit of the values.
    pub points: Vec<(f64, f64)>,
}

/// Steps between points that a bandwidth has, at least, for the points to show each bell.
const BELL_STEPS: f64 = 2.0;
/// Where else they do, in bandwidths from its middle.
const BELL: [f64; 13] = [
    -4.0, -3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0,
];

impl Density {
    /// Estimates the density of a sample over a range.
    ///
    /// `None` without values, where one is not finite, where all are equal (there is no bandwidth
    /// then), or where the range is empty or not finite.
    #[must_use]
    pub fn of(values: &[f64], range: DensityRange) -> Option<Self> {
        let width = range.high - range.low;
        let is_range = range.points >= 2 && width > 0.0 && width.is_finite();
        if !is_sample(values) || !is_range {
            return None;
        }
        let bandwidth = silverman(&Describe::of(values)?)?;
        let step = width / (range.points - 1) as f64;
        let scale = values.len() as f64 * bandwidth * std::f64::consts::TAU.sqrt();
        let bell = |at: f64, value: f64| (-0.5 * ((at - value) / bandwidth).powi(2)).exp();
        let mut places: Vec<f64> = (0..range.points)
            .map(|place| range.low + step * place as f64)
            .collect();
        if bandwidth < BELL_STEPS * step {
            let of_bell = |value: f64| BELL.map(|share| value + share * bandwidth);
            let of_bells = values.iter().flat_map(|&value| of_bell(value));
            places.extend(of_bells.filter(|at| (range.low..=range.high).contains(at)));
            places.sort_by(f64::total_cmp);
            places.dedup();
        }
        let density = |at: f64| sum(values.iter().map(|&value| bell(at, value))) / scale;
        let points = places.into_iter().map(|at| (at, density(at))).collect();
        Some(Self { bandwidth, points })
    }
}

fn silverman(sample: &Describe) -> Option<f64> {
    let std_dev = sample.std_dev?;
    let robust = sample.iqr() / 1.34;
    let spread = if robust > 0.0 {
        std_dev.min(robust)
    } else {
        std_dev
    };
    let bandwidth = 0.9 * spread * (sample.n as f64).powf(-0.2);
    (bandwidth > 0.0).then_some(bandwidth)
}
