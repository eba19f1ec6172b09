//! Tails and critical values of the distributions, from statrs.
//!
//! Tails are never `1 - cdf`, which is 0 from 1e-16 on: a P of 1e-205 is a result. Critical values
//! are searched on the tail by bisection, because the inverse functions of statrs lose digits for
//! many degrees of freedom (Student's t with 100,000: 1.959981 instead of 1.959988).

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

/// Probability that F with these degrees of freedom is above `f`; all positive.
pub(super) fn f_tail(f: f64, df_between: f64, df_within: f64) -> f64 {
    // Written so that nothing cancels where f is large.
    let x = df_within / (df_between * f + df_within);
    beta_reg(df_within / 2.0, df_between / 2.0, x.clamp(0.0, 1.0))
}

/// The value that F with these degrees of freedom exceeds with probability `tail`.
pub(super) fn f_quantile(tail: f64, df_between: f64, df_within: f64) -> f64 {
    quantile(tail, |f| f_tail(f, df_between, df_within))
}

/// Probability that Student's t with `df` > 0 is above `t`.
pub(super) fn student_t_tail(t: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |distribution| distribution.sf(t))
}

/// The value that Student's t with `df` > 0 exceeds with probability `tail`, below one half.
pub(super) fn student_t_quantile(tail: f64, df: f64) -> f64 {
    quantile(tail, |t| student_t_tail(t, df))
}

/// Probability that chi squared with `df` > 0 is above `x`.
pub(super) fn chi_squared_tail(x: f64, df: f64) -> f64 {
    ChiSquared::new(df).map_or(f64::NAN, |distribution| distribution.sf(x))
}

/// Probability that a standard normal value is above `z`.
pub(super) fn normal_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// The positive value at which a falling tail passes `tail`, to the last bit that it resolves.
fn quantile(tail: f64, tail_of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while tail_of(high) > tail {
        low = high;
        high *= 2.0;
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if tail_of(middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}
