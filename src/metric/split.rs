//! Would a proxy that splits the connection help? The heuristic of the connection-splitting study:
//! a split connection is as fast as its slower segment alone, an unsplit one as the path that the
//! two segments make together.

mod study;

#[cfg(test)]
mod tests;

pub use study::{SplitCounts, SplitFilter, SplitGrid, SplitScenario, study_splits};

use super::{ratio, utilisation};

/// One-way delay of a segment that counts as short: a last hop.
const SHORT_DELAY_NS: f64 = 1e6;

/// A path, or a segment of one, as the study models it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathModel {
    /// One-way propagation delay.
    pub delay_ns: f64,
    /// Link rate.
    pub rate_bps: f64,
    /// Share of packets lost at random, 0 to 1.
    pub loss: f64,
}

/// How the losses and delays of two segments are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Composition {
    /// Delay adds; a packet is lost on the first segment, or on the second after passing the first:
    /// `l1 + (1 - l1) l2`.
    Exact,
    /// As the study does to stay on its grid of measurements: a delay of at most 1 ms vanishes
    /// beside one as long or longer, and losses add.
    OnGrid,
}

/// The path that two segments make together. Its rate is that of the slower.
///
/// Source: definition T1 in METRICS.md.
#[must_use]
pub fn compose(first: PathModel, second: PathModel, composition: Composition) -> PathModel {
    let longer = first.delay_ns.max(second.delay_ns);
    let shorter = first.delay_ns.min(second.delay_ns);
    let (delay_ns, loss) = match composition {
        Composition::Exact => (
            longer + shorter,
            first.loss + (1.0 - first.loss) * second.loss,
        ),
        Composition::OnGrid if shorter <= SHORT_DELAY_NS => (longer, first.loss + second.loss),
        Composition::OnGrid => (longer + shorter, first.loss + second.loss),
    };
    PathModel {
        delay_ns,
        rate_bps: first.rate_bps.min(second.rate_bps),
        loss,
    }
}

/// Throughput expected with and without a split between two segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitPrediction {
    /// The slower segment alone: `min(t(first), t(second))`, in bits per second.
    pub split_bps: f64,
    /// The composed path: `t(compose(first, second))`, in bits per second.
    pub end_to_end_bps: f64,
    /// Rate of the slower link: what both are measured against.
    pub rate_bps: f64,
}

impl SplitPrediction {
    /// Predicts from the throughput measured on each segment alone and on the composed path.
    ///
    /// Source: definitions T2 and T3 in METRICS.md.
    #[must_use]
    pub fn of(first_bps: f64, second_bps: f64, composed_bps: f64, rate_bps: f64) -> Self {
        Self {
            split_bps: first_bps.min(second_bps),
            end_to_end_bps: composed_bps,
            rate_bps,
        }
    }

    /// How many times faster the split makes it; `None` where nothing passes without, or one of both is no
    /// finite number.
    ///
    /// Source: definition T4 in METRICS.md.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        ratio(self.split_bps, self.end_to_end_bps)
    }

    /// Share of the slower link that the split connection takes; `None` without a rate, or where one of both is
    /// no finite number.
    ///
    /// Source: definition N5 in METRICS.md.
    #[must_use]
    pub fn split_utilisation(&self) -> Option<f64> {
        utilisation(self.split_bps, self.rate_bps)
    }
}

/// Error of a prediction as a share of what was measured: positive where too much was predicted.
/// `None` where the measured value is not positive, or one of both is no finite number.
///
/// Source: definition T5 in METRICS.md.
#[must_use]
pub fn prediction_error(predicted: f64, measured: f64) -> Option<f64> {
    ratio(predicted - measured, measured)
}

/// Which paths profit from a split: the three classes of the study.
///
/// Source: definition T6 in METRICS.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathClass {
    /// I. A lossy segment of at most 1 ms, and a longer one without loss: a lossy last mile.
    LossyLastMile,
    /// II. Loss on both segments, one of at most 1 ms, the other longer.
    LossyAsymmetric,
    /// III. Loss on both segments, both longer than 1 ms.
    LossySymmetric,
}

impl PathClass {
    /// All classes, in the order of the study.
    pub const ALL: &'static [Self] = &[
        Self::LossyLastMile,
        Self::LossyAsymmetric,
        Self::LossySymmetric,
    ];

    /// The class of a path of two segments, in any order; `None` for all other paths.
    #[must_use]
    pub fn of(first: PathModel, second: PathModel) -> Option<Self> {
        let (short, long) = if first.delay_ns <= second.delay_ns {
            (first, second)
        } else {
            (second, first)
        };
        let is_short = |segment: PathModel| segment.delay_ns <= SHORT_DELAY_NS;
        match (is_short(short), is_short(long)) {
            (true, false) if short.loss > 0.0 && long.loss <= 0.0 => Some(Self::LossyLastMile),
            (true, false) if short.loss > 0.0 => Some(Self::LossyAsymmetric),
            (false, false) if short.loss > 0.0 && long.loss > 0.0 => Some(Self::LossySymmetric),
            _ => None,
        }
    }

    /// The name that the study's table has.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LossyLastMile => "Asymmetric, last-mile",
            Self::LossyAsymmetric => "Asymmetric, lossy",
            Self::LossySymmetric => "Symmetric, lossy",
        }
    }
}

shown_by_name!(PathClass);
