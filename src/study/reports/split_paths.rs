//! Paths of two segments that a manifest names: what to expect of each variant on them, whole and split.

use super::utilisation_grid::{Measured, number_of_delay};
use super::{Builder, Context, GridLabels, ReportTable};
use crate::metric::split::{Composition, PathModel, SplitPrediction, compose};
use crate::study::groups::GroupKey;
use crate::study::labels::{Label, LabelKind, LabelValue};
use crate::study::results::StudyResults;

/// What a path looks like in a manifest.
const EXAMPLE: &str = "paths = [\"20ms 0% | 40ms 1%\"]";

/// A path of two segments, each of which is a place of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitPath {
    /// The segment at the sender, and that at the receiver.
    pub segments: [PathSegment; 2],
}

/// One segment of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSegment {
    /// Its one-way delay: a value of the label of that.
    pub delay: LabelValue,
    /// Its loss: a value of the label of that.
    pub loss: LabelValue,
}

impl PathSegment {
    /// It at this rate; `None` where the labels are no numbers.
    pub(crate) fn model(
        &self,
        labels: &[Label],
        places: GridLabels,
        rate_bps: f64,
    ) -> Option<PathModel> {
        Some(PathModel {
            delay_ns: number_of_delay(&labels[places.delay], &self.delay)?,
            rate_bps,
            loss: self.loss.number()? / 100.0,
        })
    }
}

impl SplitPath {
    /// A path as a manifest has it: all of it was measured.
    pub(super) fn parse(
        text: &str,
        places: GridLabels,
        context: &Context<'_>,
    ) -> Result<Self, String> {
        let is_none = || {
            format!(
                "'{text}' is no path of two segments, each with a delay and a loss: write {EXAMPLE}"
            )
        };
        let segment = |text: &str| {
            let mut words: Vec<&str> = text.split_whitespace().collect();
            words.sort_by_key(|word| word.ends_with('%'));
            let [delay, loss] = words[..] else {
                return Err(is_none());
            };
            if delay.ends_with('%') || !loss.ends_with('%') {
                return Err(is_none());
            }
            Ok(PathSegment {
                delay: (context.value)(places.delay, delay)?,
                loss: (context.value)(places.loss, loss)?,
            })
        };
        let (first, second) = text.split_once('|').ok_or_else(is_none)?;
        let path = Self {
            segments: [segment(first)?, segment(second)?],
        };
        path.measured_whole(places, context)
            .map_err(|why| format!("nothing can be expected of '{text}' end to end: {why}"))?;
        Ok(path)
    }

    /// Whether runs have the delay and the loss of both segments together, each.
    fn measured_whole(&self, places: GridLabels, context: &Context<'_>) -> Result<(), String> {
        let [first, second] = &self.segments;
        let model = |segment: &PathSegment| segment.model(context.labels, places, 0.0);
        let Some((first, second)) = model(first).zip(model(second)) else {
            return Ok(());
        };
        let whole = compose(first, second, Composition::OnGrid);
        // 0.1 and 0.2 are 0.3 together.
        let written = |number: f64| (number * 1e9).round() / 1e9;
        let factor = factor(&context.labels[places.delay]).unwrap_or(1.0);
        (context.value)(places.delay, &written(whole.delay_ns / factor).to_string())?;
        (context.value)(places.loss, &written(whole.loss * 100.0).to_string())?;
        Ok(())
    }

    /// It in words.
    pub(crate) fn words(&self, labels: &[Label], places: GridLabels) -> String {
        let unit = |place: usize| match labels[place].kind {
            LabelKind::Number(Some(unit)) => unit.symbol(),
            _ => "",
        };
        let segments = self.segments.each_ref().map(|segment| {
            format!(
                "{} {}, {} {}",
                segment.delay.text(),
                unit(places.delay),
                segment.loss.text(),
                unit(places.loss)
            )
        });
        segments.join(" | ")
    }
}

/// How many ns the number of a delay is.
fn factor(label: &Label) -> Option<f64> {
    match label.kind {
        LabelKind::Number(Some(unit)) => Some(unit.factor),
        _ => None,
    }
}

/// A path, a variant, and what is expected.
struct Row {
    key: GroupKey,
    variant: Option<LabelValue>,
    path: String,
    prediction: SplitPrediction,
}

/// A row a path, a rate and a variant.
pub(super) fn table(
    results: &StudyResults,
    measured: &[Measured],
    (labels, paths): (GridLabels, &[SplitPath]),
    places: &[usize],
) -> ReportTable {
    let mut rows = Vec::new();
    for path in paths {
        for of in measured {
            for rate_bps in of.rates_bps() {
                let segments = path.segments.each_ref();
                let [first, second] =
                    segments.map(|segment| segment.model(&results.labels, labels, rate_bps));
                let prediction = first.zip(second).and_then(|(first, second)| {
                    of.grid.predict(first, second, Composition::OnGrid)
                });
                rows.extend(prediction.map(|prediction| Row {
                    key: of.key.clone(),
                    variant: of.variant.clone(),
                    path: path.words(&results.labels, labels),
                    prediction,
                }));
            }
        }
    }
    Builder::new(rows)
        .text("path", |row| Some(row.path.clone()))
        .labels(results, places, |row| &row.key)
        .label(results.labels[labels.variant].column(), |row| {
            row.variant.as_ref()
        })
        .real("rate_mbps", |row| Some(row.prediction.rate_bps / 1e6))
        .real("end_to_end_mbps", |row| {
            Some(row.prediction.end_to_end_bps / 1e6)
        })
        .real("split_mbps", |row| Some(row.prediction.split_bps / 1e6))
        .share("end_to_end_utilisation", |row| {
            Some(row.prediction.end_to_end_bps / row.prediction.rate_bps)
        })
        .share("split_utilisation", |row| {
            row.prediction.split_utilisation()
        })
        .real("gain", |row| row.prediction.gain())
        .table(
            "split-paths",
            "What to expect of the paths that the manifest names, end to end and split",
        )
}
