//! The connection-splitting study: utilisation over loss and delay, and what a split would gain.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Builder, ReportTable, SplitPath, key, split_paths};
use crate::metric::split::{
    PathClass, PathModel, SplitCounts, SplitFilter, SplitGrid, SplitScenario, study_splits,
};
use crate::metric::stats::Describe;
use crate::study::groups::GroupKey;
use crate::study::labels::{Label, LabelKind, LabelValue};
use crate::study::metrics::Metric;
use crate::study::results::{StudyResults, StudyRun};

/// The labels that make the grid, by place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridLabels {
    /// Tells the TCP variants apart.
    pub variant: usize,
    /// Share of packets lost at random, in percent.
    pub loss: usize,
    /// One-way delay.
    pub delay: usize,
    /// Rate of the link; settings of different rates are put together to paths.
    pub rate: Option<usize>,
}

/// One line of the grid: what a variant makes of one loss, over all delays.
struct Line {
    key: GroupKey,
    variant: Option<LabelValue>,
    loss: LabelValue,
    runs: usize,
    /// Median utilisation by delay.
    cells: BTreeMap<LabelValue, f64>,
}

/// One of the two segments of a path.
type Segment = fn(&SplitScenario) -> PathModel;

/// A path that profits, with its other labels and the variant.
type PathRow = (GroupKey, Option<LabelValue>, SplitScenario);

/// A variant and what splits would gain it.
struct Splits {
    key: GroupKey,
    variant: Option<LabelValue>,
    settings: u64,
    counts: SplitCounts,
    scenarios: Vec<SplitScenario>,
}

pub(super) fn tables(
    results: &StudyResults,
    labels: GridLabels,
    paths: &[SplitPath],
) -> Vec<ReportTable> {
    let of_grid = [Some(labels.variant), Some(labels.loss), Some(labels.delay)];
    let places: Vec<usize> = results
        .group_by
        .iter()
        .copied()
        .filter(|place| !of_grid.contains(&Some(*place)) && !results.labels[*place].of_flows)
        .collect();
    let without_rate: Vec<usize> = places
        .iter()
        .copied()
        .filter(|place| labels.rate != Some(*place))
        .collect();
    let mut tables = vec![grid(results, labels, &places)];
    let measured = measured(results, labels, &without_rate);
    tables.extend(splits(results, labels, &measured, &without_rate));
    if !paths.is_empty() {
        let of_paths = (labels, paths);
        tables.push(split_paths::table(
            results,
            &measured,
            of_paths,
            &without_rate,
        ));
    }
    tables
}

/// Runs of the grid: one flow, with a loss and a delay.
fn runs(results: &StudyResults, labels: GridLabels) -> impl Iterator<Item = &StudyRun> {
    results.runs.iter().filter(move |run| {
        run.is_one_flow() && run.labels[labels.loss].is_some() && run.labels[labels.delay].is_some()
    })
}

fn grid(results: &StudyResults, labels: GridLabels, places: &[usize]) -> ReportTable {
    type LineKey = (GroupKey, Option<LabelValue>, Option<LabelValue>);
    let mut samples: BTreeMap<LineKey, BTreeMap<LabelValue, Vec<f64>>> = BTreeMap::new();
    for run in runs(results, labels) {
        let line = (
            key(&run.labels, places),
            run.labels[labels.variant].clone(),
            run.labels[labels.loss].clone(),
        );
        let (Some(delay), Some(utilisation)) = (
            run.labels[labels.delay].clone(),
            run.values.get(Metric::Utilisation),
        ) else {
            continue;
        };
        let cells = samples.entry(line).or_default();
        cells.entry(delay).or_default().push(utilisation);
    }
    let mut delays: Vec<LabelValue> = samples.values().flat_map(BTreeMap::keys).cloned().collect();
    delays.sort();
    delays.dedup();
    let lines: Vec<Line> = samples
        .into_iter()
        .filter_map(|((key, variant, loss), cells)| {
            Some(Line {
                key,
                variant,
                loss: loss?,
                runs: cells.values().map(Vec::len).sum(),
                cells: cells
                    .into_iter()
                    .filter_map(|(delay, samples)| Some((delay, Describe::of(&samples)?.median)))
                    .collect(),
            })
        })
        .collect();
    let mut builder = Builder::new(lines)
        .labels(results, places, |line| &line.key)
        .label(results.labels[labels.variant].column(), |line| {
            line.variant.as_ref()
        })
        .real(results.labels[labels.loss].column(), |line| {
            line.loss.number()
        })
        .count("runs", |line| Some(line.runs as u64));
    let name = results.labels[labels.delay].column();
    for delay in delays {
        builder = builder.share(format!("{name}_{}", delay.text()), |line| {
            line.cells.get(&delay).copied()
        });
    }
    builder.table(
        "utilisation-grid",
        "Median utilisation over loss (lines) and one-way delay (columns)",
    )
}

/// Settings and their goodputs, of each variant.
type Settings = BTreeMap<(GroupKey, Option<LabelValue>), Vec<(PathModel, Vec<f64>)>>;

/// What was measured of a variant: the median of each setting.
pub(super) struct Measured {
    pub(super) key: GroupKey,
    pub(super) variant: Option<LabelValue>,
    pub(super) grid: SplitGrid,
    models: Vec<PathModel>,
}

impl Measured {
    /// The rates of its links, from the slowest.
    pub(super) fn rates_bps(&self) -> Vec<f64> {
        let mut rates: Vec<f64> = self.models.iter().map(|model| model.rate_bps).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup_by(|one, other| one.total_cmp(other).is_eq());
        rates
    }
}

fn measured(results: &StudyResults, labels: GridLabels, places: &[usize]) -> Vec<Measured> {
    let mut goodputs = Settings::new();
    for run in runs(results, labels) {
        let (Some(model), Some(goodput_bps)) = (
            model(results, labels, run),
            run.values.get(Metric::GoodputBps),
        ) else {
            continue;
        };
        let of = (key(&run.labels, places), run.labels[labels.variant].clone());
        let settings = goodputs.entry(of).or_default();
        match settings.iter_mut().find(|(known, _)| *known == model) {
            Some((_, samples)) => samples.push(goodput_bps),
            None => settings.push((model, vec![goodput_bps])),
        }
    }
    goodputs
        .into_iter()
        .map(|((key, variant), settings)| {
            let mut grid = SplitGrid::default();
            for (model, samples) in &settings {
                if let Some(described) = Describe::of(samples) {
                    grid.insert(*model, described.median);
                }
            }
            Measured {
                key,
                variant,
                grid,
                models: settings.into_iter().map(|(model, _)| model).collect(),
            }
        })
        .collect()
}

/// What every two settings of a variant make together.
fn predicted(measured: &[Measured]) -> Vec<Splits> {
    let splits = |of: &Measured| {
        let (counts, scenarios) = study_splits(&of.grid, SplitFilter::default());
        Splits {
            key: of.key.clone(),
            variant: of.variant.clone(),
            settings: of.models.len() as u64,
            counts,
            scenarios,
        }
    };
    measured.iter().map(splits).collect()
}

fn splits(
    results: &StudyResults,
    labels: GridLabels,
    measured: &[Measured],
    places: &[usize],
) -> Vec<ReportTable> {
    let splits = predicted(measured);
    let paths: Vec<PathRow> = splits
        .iter()
        .flat_map(|splits| {
            let of = (splits.key.clone(), splits.variant.clone());
            let mut paths = splits.scenarios.clone();
            paths.sort_by(in_order);
            paths
                .into_iter()
                .map(move |path| (of.0.clone(), of.1.clone(), path))
        })
        .collect();
    let name = results.labels[labels.variant].column();
    let of_paths = paths_table(results, paths, places, &name);
    vec![counts_table(results, splits, places, &name), of_paths]
}

/// Paths by the numbers of their first and then of their second segment, as the columns have them.
fn in_order(one: &SplitScenario, other: &SplitScenario) -> Ordering {
    let numbers = |path: &SplitScenario| {
        let of = |model: PathModel| [model.delay_ns, model.rate_bps, model.loss];
        [of(path.first), of(path.second)]
    };
    let (one, other) = (numbers(one), numbers(other));
    let mut pairs = one.iter().flatten().zip(other.iter().flatten());
    let first = pairs.find_map(|(a, b)| Some(a.total_cmp(b)).filter(|order| order.is_ne()));
    first.unwrap_or(Ordering::Equal)
}

/// A row a path that profits from a split; `name` is the column of the variant.
fn paths_table(
    results: &StudyResults,
    paths: Vec<PathRow>,
    places: &[usize],
    name: &str,
) -> ReportTable {
    let mut of_paths = Builder::new(paths)
        .labels(results, places, |(key, _, _)| key)
        .label(name, |(_, variant, _)| variant.as_ref());
    let segments: [(&str, Segment); 2] =
        [("first", |path| path.first), ("second", |path| path.second)];
    for (segment, model) in segments {
        of_paths = of_paths
            .real(format!("{segment}_delay_ms"), |(_, _, path)| {
                Some(model(path).delay_ns / 1e6)
            })
            .real(format!("{segment}_rate_mbps"), |(_, _, path)| {
                Some(model(path).rate_bps / 1e6)
            })
            .real(format!("{segment}_loss_percent"), |(_, _, path)| {
                Some(model(path).loss * 100.0)
            });
    }
    of_paths
        .real("split_mbps", |(_, _, path)| {
            Some(path.prediction.split_bps / 1e6)
        })
        .real("end_to_end_mbps", |(_, _, path)| {
            Some(path.prediction.end_to_end_bps / 1e6)
        })
        .real("gain", |(_, _, path)| path.prediction.gain())
        .share("split_utilisation", |(_, _, path)| {
            path.prediction.split_utilisation()
        })
        .text("class", |(_, _, path)| {
            path.class.map(|class| class.name().to_owned())
        })
        .table(
            "splits",
            "Paths of two measured settings that profit from a split between them",
        )
}

/// A row a variant: how many paths there are, and how many of them profit.
fn counts_table(
    results: &StudyResults,
    splits: Vec<Splits>,
    places: &[usize],
    name: &str,
) -> ReportTable {
    let mut of_variants = Builder::new(splits)
        .labels(results, places, |splits| &splits.key)
        .label(name, |splits| splits.variant.as_ref())
        .count("settings", |splits| Some(splits.settings))
        .count("paths", |splits| Some(splits.counts.initial))
        .count("gain_above_3", |splits| Some(splits.counts.gain))
        .count("utilisation_above_half", |splits| {
            Some(splits.counts.utilisation)
        });
    for (index, class) in PathClass::ALL.iter().copied().enumerate() {
        let name = class
            .name()
            .to_lowercase()
            .replace([' ', ',', '-'], "_")
            .replace("__", "_");
        of_variants = of_variants.count(name, |splits| Some(splits.counts.classes[index]));
    }
    of_variants
        .count("no_class", |splits| Some(splits.counts.unclassed))
        .table(
            "split-counts",
            "How many paths of two measured settings profit from a split, by class",
        )
}

/// The setting of a run.
fn model(results: &StudyResults, labels: GridLabels, run: &StudyRun) -> Option<PathModel> {
    let delay = run.labels[labels.delay].as_ref()?;
    Some(PathModel {
        delay_ns: number_of_delay(&results.labels[labels.delay], delay)?,
        rate_bps: run.conditions.capacity_bps()?,
        loss: run.labels[labels.loss].as_ref()?.number()? / 100.0,
    })
}

/// A value of the label of delays, in ns.
pub(super) fn number_of_delay(label: &Label, value: &LabelValue) -> Option<f64> {
    match label.kind {
        LabelKind::Number(Some(unit)) => Some(value.number()? * unit.factor),
        _ => None,
    }
}
