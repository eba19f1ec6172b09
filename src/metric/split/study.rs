//! All ways to put two segments of a grid of measurements together.

use super::{Composition, PathClass, PathModel, SplitPrediction, compose};
use crate::metric::finite;

/// Two settings are one where each quantity differs by at most this share: 0.01 + 0.02 is not
/// 0.03 in binary.
const SAME: f64 = 1e-9;

/// Throughput of one algorithm on every setting of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SplitGrid {
    cells: Vec<(PathModel, f64)>,
}

impl SplitGrid {
    /// Adds the throughput in bits per second of one setting, which replaces what it had.
    pub fn insert(&mut self, model: PathModel, throughput_bps: f64) {
        match self.cells.iter_mut().find(|(cell, _)| same(cell, &model)) {
            Some((_, throughput)) => *throughput = throughput_bps,
            None => self.cells.push((model, throughput_bps)),
        }
    }

    /// Throughput on a setting in bits per second; `None` where it was not measured, or is no finite number.
    #[must_use]
    pub fn throughput_bps(&self, model: PathModel) -> Option<f64> {
        let found = self.cells.iter().find(|(cell, _)| same(cell, &model));
        found.and_then(|&(_, throughput)| finite(throughput))
    }

    /// What to expect of a path of two segments; `None` where a segment or the composed path was
    /// not measured.
    #[must_use]
    pub fn predict(
        &self,
        first: PathModel,
        second: PathModel,
        composition: Composition,
    ) -> Option<SplitPrediction> {
        let composed = compose(first, second, composition);
        Some(SplitPrediction::of(
            self.throughput_bps(first)?,
            self.throughput_bps(second)?,
            self.throughput_bps(composed)?,
            composed.rate_bps,
        ))
    }
}

/// What counts as a path that profits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitFilter {
    /// The gain must be above this.
    pub gain_min: f64,
    /// The utilisation by the split connection must be above this.
    pub utilisation_min: f64,
}

impl Default for SplitFilter {
    /// The study's: more than three times faster, more than half of the link.
    fn default() -> Self {
        Self {
            gain_min: 3.0,
            utilisation_min: 0.5,
        }
    }
}

/// A path of two segments that profits from a split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitScenario {
    /// The segment at the sender.
    pub first: PathModel,
    /// The segment at the receiver.
    pub second: PathModel,
    /// What is expected of it.
    pub prediction: SplitPrediction,
    /// Its class; `None` for none of the three.
    pub class: Option<PathClass>,
}

/// How many paths are left after each filter, and where those belong that pass all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitCounts {
    /// Paths of two measured segments whose composed path was measured too.
    pub initial: u64,
    /// Paths of the initial ones above the least gain.
    pub gain: u64,
    /// Paths of these above the least utilisation, too.
    pub utilisation: u64,
    /// Paths of these in each class, in the order of [`PathClass::ALL`].
    pub classes: [u64; 3],
    /// Paths that pass all filters and are in no class.
    pub unclassed: u64,
}

/// Counts over every ordered pair of settings of a grid, and the paths that pass both filters, in
/// the order in which the settings were inserted.
///
/// Source: definition T7 in METRICS.md.
#[must_use]
pub fn study_splits(grid: &SplitGrid, filter: SplitFilter) -> (SplitCounts, Vec<SplitScenario>) {
    let mut counts = SplitCounts::default();
    let mut scenarios = Vec::new();
    for &(first, _) in &grid.cells {
        for &(second, _) in &grid.cells {
            let Some(prediction) = grid.predict(first, second, Composition::OnGrid) else {
                continue;
            };
            counts.initial += 1;
            // Without any throughput end to end, every split is a gain.
            if prediction.split_bps <= filter.gain_min * prediction.end_to_end_bps {
                continue;
            }
            counts.gain += 1;
            let utilisation = prediction.split_utilisation().unwrap_or(0.0);
            if utilisation <= filter.utilisation_min {
                continue;
            }
            counts.utilisation += 1;
            let class = PathClass::of(first, second);
            match class {
                Some(class) => counts.classes[class as usize] += 1,
                None => counts.unclassed += 1,
            }
            scenarios.push(SplitScenario {
                first,
                second,
                prediction,
                class,
            });
        }
    }
    (counts, scenarios)
}

fn same(a: &PathModel, b: &PathModel) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() <= SAME * a.abs().max(b.abs());
    close(a.delay_ns, b.delay_ns) && close(a.rate_bps, b.rate_bps) && close(a.loss, b.loss)
}
