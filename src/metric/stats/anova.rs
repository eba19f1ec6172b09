//! Do the means of several groups differ? One-way analysis of variance.

use super::distribution::{f_quantile, f_tail};
use super::{ALPHA, is_sample, sum, variance};
use crate::metric::ratio;

/// What an analysis of variance needs of a group, as papers print it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSummary {
    /// Number of values.
    pub n: u64,
    /// Their sum.
    pub sum: f64,
    /// Their variance over `n - 1`; `None` for one value.
    pub variance: Option<f64>,
}

impl GroupSummary {
    /// Summarises a sample; `None` without values, or where one is not finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        is_sample(values).then(|| Self {
            n: values.len() as u64,
            sum: sum(values.iter().copied()),
            variance: variance(values),
        })
    }

    /// The mean of the group.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.sum / self.n as f64
    }

    /// Squared distances from the group's mean.
    fn squares(&self) -> Option<f64> {
        match self.n {
            0 => None,
            1 => Some(0.0),
            n => Some((n - 1) as f64 * self.variance?),
        }
    }
}

/// One source of variation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// Sum of squares.
    pub ss: f64,
    /// Degrees of freedom.
    pub df: u64,
    /// Mean square: `ss / df`.
    pub ms: f64,
}

/// One-way analysis of variance.
///
/// It assumes normal groups of like variance; [`super::KruskalWallis`] assumes neither.
///
/// Source: definition S6 in METRICS.md.
#[derive(Clone, Debug, PartialEq)]
pub struct Anova {
    /// The groups, as given.
    pub groups: Vec<GroupSummary>,
    /// Variation of the groups' means around the mean of all.
    pub between: Variation,
    /// Variation of the values around the mean of their group.
    pub within: Variation,
    /// Sum of squares around the mean of all.
    pub total_ss: f64,
    /// Degrees of freedom of all values.
    pub total_df: u64,
    /// `between.ms / within.ms`; `None` where nothing varies within the groups.
    pub f: Option<f64>,
    /// Probability of such an F or a larger one if all means were equal; `None` as `f`.
    pub p: Option<f64>,
    /// The F that chance exceeds with probability [`ALPHA`].
    pub f_crit: f64,
}

/// A line of the source-of-variation table; `None` where papers leave the cell empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnovaRow {
    /// `Between Groups`, `Within Groups` or `Total`.
    pub source: &'static str,
    /// Sum of squares.
    pub ss: f64,
    /// Degrees of freedom.
    pub df: u64,
    /// Mean square.
    pub ms: Option<f64>,
    /// F.
    pub f: Option<f64>,
    /// P.
    pub p: Option<f64>,
    /// Critical F.
    pub f_crit: Option<f64>,
}

impl Anova {
    /// Compares samples; `None` as [`Anova::of_summaries`], or where a sample has no values or one
    /// that is not finite.
    #[must_use]
    pub fn of_samples<S: AsRef<[f64]>>(samples: &[S]) -> Option<Self> {
        let groups = samples
            .iter()
            .map(|sample| GroupSummary::of(sample.as_ref()))
            .collect::<Option<Vec<_>>>()?;
        // From the mean of all: sums that are large beside what varies would leave that few digits.
        let n: u64 = groups.iter().map(|group| group.n).sum();
        let origin = sum(groups.iter().map(|group| group.sum)) / n as f64;
        let sums: Vec<f64> = samples
            .iter()
            .map(|sample| sum(sample.as_ref().iter().map(|value| value - origin)))
            .collect();
        Self::of_sums(&groups, &sums)
    }

    /// Compares groups of which only the summaries are known.
    ///
    /// `None` for fewer than two groups, where a group is empty or lacks its variance, where no
    /// group has two values, or where a sum is not finite.
    #[must_use]
    pub fn of_summaries(groups: &[GroupSummary]) -> Option<Self> {
        let sums: Vec<f64> = groups.iter().map(|group| group.sum).collect();
        Self::of_sums(groups, &sums)
    }

    /// Compares groups whose values add up to `sums`, counted from any one point.
    fn of_sums(groups: &[GroupSummary], sums: &[f64]) -> Option<Self> {
        let sizes = groups.iter().map(|group| group.n);
        let n = sizes.fold(0, u64::saturating_add);
        let between_df = (groups.len() as u64).checked_sub(1).filter(|&df| df > 0)?;
        let within_df = n.checked_sub(groups.len() as u64).filter(|&df| df > 0)?;
        let squares = groups
            .iter()
            .map(GroupSummary::squares)
            .collect::<Option<Vec<_>>>()?;
        let mean = sum(sums.iter().copied()) / n as f64;
        let squared = |(group, total): (&GroupSummary, &f64)| {
            let size = group.n as f64;
            size * (total / size - mean).powi(2)
        };
        let between = Variation::of(sum(groups.iter().zip(sums).map(squared)), between_df);
        let within = Variation::of(sum(squares), within_df);
        let total_ss = between.ss + within.ss;
        if !total_ss.is_finite() || within.ss < 0.0 {
            return None;
        }
        let f = (within.ms > 0.0).then(|| between.ms / within.ms);
        let (df1, df2) = (between_df as f64, within_df as f64);
        Some(Self {
            groups: groups.to_vec(),
            between,
            within,
            total_ss,
            total_df: between_df + within_df,
            f,
            p: f.map(|f| f_tail(f, df1, df2)),
            f_crit: f_quantile(ALPHA, df1, df2),
        })
    }

    /// Share of the variation that the groups explain in this sample: `SSb / SSt`, 0 to 1.
    /// `None` where nothing varies.
    #[must_use]
    pub fn eta_squared(&self) -> Option<f64> {
        ratio(self.between.ss, self.total_ss)
    }

    /// The same estimated for the population, without the bias of eta squared:
    /// `(SSb - dfb MSw) / (SSt + MSw)`. Slightly below 0 where the groups explain nothing.
    /// `None` where nothing varies.
    #[must_use]
    pub fn omega_squared(&self) -> Option<f64> {
        let explained = self.between.ss - self.between.df as f64 * self.within.ms;
        let all = self.total_ss + self.within.ms;
        ratio(explained, all)
    }

    /// The source-of-variation table, as spreadsheets print it.
    #[must_use]
    pub fn rows(&self) -> [AnovaRow; 3] {
        let row = |source, variation: Variation| AnovaRow {
            source,
            ss: variation.ss,
            df: variation.df,
            ms: Some(variation.ms),
            f: None,
            p: None,
            f_crit: None,
        };
        [
            AnovaRow {
                f: self.f,
                p: self.p,
                f_crit: Some(self.f_crit),
                ..row("Between Groups", self.between)
            },
            row("Within Groups", self.within),
            AnovaRow {
                source: "Total",
                ss: self.total_ss,
                df: self.total_df,
                ms: None,
                f: None,
                p: None,
                f_crit: None,
            },
        ]
    }
}

impl Variation {
    fn of(ss: f64, df: u64) -> Self {
        Self {
            ss,
            df,
            ms: ss / df as f64,
        }
    }
}
