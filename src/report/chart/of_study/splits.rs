//! Paths split in two: what to expect of them, beside what was measured.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::split::{Composition, PathModel, SplitGrid, SplitPrediction};
use crate::study::units::Dimension;
use crate::study::{
    GridLabels, LabelKind, LabelValue, Metric, PathSegment, ReportPlan, SplitPath, StudyRun,
};

use super::super::axis::Quantity;
use super::super::counts::n_words;
use super::super::grouped_bars::{Bar, GroupedBars};
use super::super::heat_map::{HeatMap, HeatMaps, HeatScale};
use super::super::interval::{Estimate, Spread};
use super::super::looks::Looks;
use super::super::palette::{DARK, OTHER};
use super::grid::{Cells, axis, cells, median, texts};
use super::settings::{Page, Setting, axis_name, is_number, unit};
use super::{Study, StudyCharts, drawn};

const TOPIC: &str = "Split paths";

/// One-way delay of a segment that counts as short (METRICS.md T1).
const LAST_HOP_NS: f64 = 1e6;

/// The rate of a setting, and the goodputs of each variant.
type Rated = (f64, BTreeMap<Option<LabelValue>, Cells>);

/// One variant's measurements, for predictions.
struct Measured {
    grid: SplitGrid,
    losses: Vec<LabelValue>,
    delays: Vec<LabelValue>,
    rate_bps: f64,
    delay_unit_ns: f64,
}

impl Measured {
    fn of(cells: &Cells, rate_bps: f64, delay_unit_ns: f64) -> Self {
        let mut measured = Self {
            grid: SplitGrid::default(),
            losses: axis(std::iter::once(cells), |at| &at.0),
            delays: axis(std::iter::once(cells), |at| &at.1),
            rate_bps,
            delay_unit_ns,
        };
        for ((loss, delay), values) in cells {
            if let (Some(model), Some(bps)) = (measured.model(loss, delay), median(values)) {
                measured.grid.insert(model, bps);
            }
        }
        measured
    }

    fn model(&self, loss: &LabelValue, delay: &LabelValue) -> Option<PathModel> {
        Some(PathModel {
            delay_ns: delay.number()? * self.delay_unit_ns,
            rate_bps: self.rate_bps,
            loss: loss.number()? / 100.0,
        })
    }

    /// End to end and split at the end of `first`, in bit/s; the loss is in the second segment.
    fn both(&self, first: PathModel, loss: &LabelValue, delay: &LabelValue) -> Option<(f64, f64)> {
        let second = self.model(loss, delay)?;
        let found = self.grid.predict(first, second, Composition::OnGrid)?;
        Some((found.end_to_end_bps, found.split_bps))
    }

    /// The lossless segment behind which a split can be predicted for most others, and the delays
    /// of these.
    fn first(&self) -> Option<(PathModel, Vec<LabelValue>)> {
        let lossless = self.losses.iter().find(|loss| loss.number() == Some(0.0))?;
        let candidates = self.delays.iter().filter_map(|delay| {
            let first = self.model(lossless, delay)?;
            // A last hop vanishes in the prediction: the path and its second segment are one.
            if first.delay_ns <= LAST_HOP_NS {
                return None;
            }
            let predicted = self.delays.iter().filter(|second| {
                let mut losses = self.losses.iter();
                losses.any(|loss| self.both(first, loss, second).is_some())
            });
            Some((first, predicted.cloned().collect::<Vec<_>>()))
        });
        // The first of those with the most.
        candidates
            .reduce(|best, next| {
                if next.1.len() > best.1.len() {
                    next
                } else {
                    best
                }
            })
            .filter(|(_, delays)| delays.len() > 1)
    }

    /// Utilisation end to end and split behind `first`, over losses and these delays of the second
    /// segment, and the difference.
    fn maps(&self, first: PathModel, delays: &[LabelValue], rate_bps: f64) -> Vec<HeatMap> {
        let map = |name: &str, scale, of: fn((f64, f64)) -> f64| {
            let cell = |loss, delay| Some(of(self.both(first, loss, delay)?) / rate_bps);
            let row = |loss| delays.iter().map(|delay| cell(loss, delay)).collect();
            HeatMap {
                name: name.to_owned(),
                scale,
                cells: self.losses.iter().map(row).collect(),
            }
        };
        vec![
            map("end to end, measured", HeatScale::Amount, |(whole, _)| {
                whole
            }),
            map("split, predicted", HeatScale::Amount, |(_, split)| split),
            map("difference", HeatScale::Difference, |(whole, split)| {
                split - whole
            }),
        ]
    }
}

/// A path split behind a segment without loss: measured end to end, predicted, and the difference.
pub(super) fn split_maps(study: &Study<'_>, charts: &mut StudyCharts) {
    let Some([of_columns, of_rows]) = study.axis_titles() else {
        return;
    };
    let unit = |place: Option<usize>, wanted: Dimension| {
        let LabelKind::Number(Some(unit)) = study.results.labels[place?].kind else {
            return None;
        };
        (unit.dimension == wanted).then_some(unit.factor)
    };
    let (Some(delay_unit_ns), Some(_)) = (
        unit(study.roles.delay, Dimension::Time),
        unit(study.roles.loss, Dimension::Percent),
    ) else {
        return;
    };
    let settings = study.settings(&[study.roles.loss, study.roles.delay]);
    let mut canvases = Vec::new();
    for page in settings.pages(rated(study), 1, |_| 1) {
        for (_, (rate_bps, variants)) in page.entries {
            for (variant, cells) in variants {
                let measured = Measured::of(&cells, rate_bps, delay_unit_ns);
                let Some((first, delays)) = measured.first() else {
                    continue;
                };
                let before = Quantity::DELAY.format_set(first.delay_ns / 1e9);
                let n = n_words(cells.values().map(|values| values.len() as u64));
                let name = study.variant_name(variant.as_ref());
                let what = format!("{name} split after {before} without loss");
                let maps = HeatMaps {
                    title: study.title(&what, &page.common.words()),
                    note: format!("medians of runs, {n}; predicted: the slower segment alone"),
                    quantity: Quantity::UTILISATION,
                    columns: (
                        format!("{of_columns} of the second segment"),
                        texts(&delays),
                    ),
                    rows: (of_rows.clone(), texts(&measured.losses)),
                    maps: measured.maps(first, &delays, rate_bps),
                };
                canvases.push(maps.draw(study.style));
            }
        }
    }
    charts.add(TOPIC, "split", canvases);
}

/// Goodputs of the grid under each setting of which the rate is known, by variant.
fn rated(study: &Study<'_>) -> BTreeMap<Setting, Rated> {
    let rates = rates(study);
    let cells = cells(study, Metric::GoodputBps).into_iter();
    let rated = cells.filter_map(|(setting, variants)| {
        let rate_bps = rates.get(&setting).copied().flatten()?;
        Some((setting, (rate_bps, variants)))
    });
    rated.collect()
}

/// What to expect of the paths that the report names, whole and split, variant beside variant: a chart a path.
pub(super) fn paths(study: &Study<'_>, reports: &[ReportPlan], charts: &mut StudyCharts) {
    let paths = reports.iter().find_map(|report| match report {
        ReportPlan::UtilisationGrid { labels, paths } => Some((*labels, paths)),
        _ => None,
    });
    let Some((labels, paths)) = paths.filter(|(_, paths)| !paths.is_empty()) else {
        return;
    };
    let settings = study.settings(&[study.roles.loss, study.roles.delay]);
    let pages = settings.pages(rated(study), 1, |_| 1);
    let [end_to_end, split] = ENDS;
    let looks = Looks::told([(end_to_end, OTHER), (split, DARK)]);
    let canvases = paths.iter().flat_map(|path| {
        let looks = &looks;
        pages.iter().map(move |page| {
            let (_, (rate_bps, variants)) = page.entries.first()?;
            let group = |(variant, cells): (&Option<LabelValue>, &Cells)| {
                let name = study.variant_name(variant.as_ref());
                (name, bars(study, (labels, path), *rate_bps, cells).to_vec())
            };
            let what = format!(
                "Utilisation of {}",
                path.words(&study.results.labels, labels)
            );
            let bars = GroupedBars {
                title: study.title(&what, &page.common.words()),
                note: "medians of runs; split: the slower segment alone, as measured".to_owned(),
                quantity: Quantity::UTILISATION,
                groups: variants.iter().map(group).collect(),
            };
            bars.draw_as(study.style, looks)
        })
    });
    charts.add(TOPIC, "split-path", canvases);
}

/// What bars of a path are.
const ENDS: [&str; 2] = ["end to end", "split"];

/// A variant on a path, end to end and split.
fn bars(
    study: &Study<'_>,
    (labels, path): (GridLabels, &SplitPath),
    rate_bps: f64,
    cells: &Cells,
) -> [Bar; 2] {
    let model = |segment: &PathSegment| segment.model(&study.results.labels, labels, rate_bps);
    let counted = cells.iter().filter_map(|((loss, delay), values)| {
        let (delay, loss) = (delay.clone(), loss.clone());
        Some((model(&PathSegment { delay, loss })?, values))
    });
    // Their medians, and how many runs these are of.
    let [mut goodputs, mut runs] = [SplitGrid::default(), SplitGrid::default()];
    for (model, values) in counted {
        if let Some(bps) = median(values) {
            goodputs.insert(model, bps);
            runs.insert(model, values.len() as f64);
        }
    }
    let segments = path.segments.each_ref().map(model);
    let [Some(first), Some(second)] = segments else {
        return ENDS.map(|name| (name.to_owned(), None));
    };
    let predicted = |grid: &SplitGrid| grid.predict(first, second, Composition::OnGrid);
    let both = predicted(&goodputs).zip(predicted(&runs));
    let estimate = |of: fn(&SplitPrediction) -> f64| {
        both.map(|(goodputs, runs)| Estimate {
            value: of(&goodputs) / rate_bps,
            spread: Spread::Unknown,
            // Of both segments the fewer.
            n: of(&runs) as u64,
        })
    };
    let [end_to_end, split] = ENDS;
    [
        (end_to_end.to_owned(), estimate(|of| of.end_to_end_bps)),
        (split.to_owned(), estimate(|of| of.split_bps)),
    ]
}

/// The capacity of each setting of the grid; none where it is not known or not the same.
fn rates(study: &Study<'_>) -> BTreeMap<Setting, Option<f64>> {
    let settings = study.settings(&[study.roles.loss, study.roles.delay]);
    let mut rates: BTreeMap<Setting, Option<f64>> = BTreeMap::new();
    for run in study.runs() {
        let rate = run.conditions.capacity_bps();
        let known = rates.entry(settings.setting(&run.labels)).or_insert(rate);
        if *known != rate {
            *known = None;
        }
    }
    rates
}

/// Labels of one kind of quantity that tell paths apart, such as the delays of both segments.
struct Axis {
    places: Vec<usize>,
    title: String,
}

impl Axis {
    /// What a run has of these labels.
    fn of(&self, run: &StudyRun) -> Vec<Option<LabelValue>> {
        self.places
            .iter()
            .map(|&place| run.labels[place].clone())
            .collect()
    }
}

/// The two axes of a map of paths: labels with numbers that make no groups, by what they measure.
fn axes(study: &Study<'_>, runs: &[&StudyRun]) -> Option<[Axis; 2]> {
    let labels = &study.results.labels;
    let varies = |place: &usize| {
        let values: BTreeSet<_> = runs.iter().map(|run| &run.labels[*place]).collect();
        values.len() > 1
    };
    let places = (0..labels.len())
        .filter(|place| is_number(&labels[*place]) && !study.results.group_by.contains(place))
        .filter(varies);
    let mut kinds: Vec<(&str, Vec<usize>)> = Vec::new();
    for place in places {
        let of = unit(&labels[place]);
        match kinds.iter_mut().find(|(kind, _)| *kind == of) {
            Some((_, places)) => places.push(place),
            None => kinds.push((of, vec![place])),
        }
    }
    let axis = |(unit, places): (&str, Vec<usize>)| {
        let names: Vec<String> = places
            .iter()
            .map(|&place| axis_name(&labels[place]).0)
            .collect();
        let names = names.join(" | ");
        Axis {
            places,
            title: if unit.is_empty() {
                names
            } else {
                format!("{names} ({unit})")
            },
        }
    };
    let [columns, rows] = <[_; 2]>::try_from(kinds).ok()?;
    Some([axis(columns), axis(rows)])
}

/// Measured and predicted, in bit/s.
type Both = [Vec<f64>; 2];

/// What was measured and predicted of each path, by its values of the labels of rows and of columns.
type Paths = BTreeMap<(Vec<Option<LabelValue>>, Vec<Option<LabelValue>>), Both>;

/// What was predicted of split paths beside what was measured, and the difference.
pub(super) fn accuracy(study: &Study<'_>, charts: &mut StudyCharts) {
    let predicted = |run: &&StudyRun| run.values.get(Metric::PredictedBps).is_some();
    let runs: Vec<&StudyRun> = study.runs().filter(predicted).collect();
    let Some([columns, rows]) = axes(study, &runs) else {
        return;
    };
    let settings = study.settings(&[]);
    let mut found: BTreeMap<Setting, Paths> = BTreeMap::new();
    for run in runs {
        let paths = found.entry(settings.setting(&run.labels)).or_default();
        let both = paths.entry((rows.of(run), columns.of(run))).or_default();
        for (values, metric) in both
            .iter_mut()
            .zip([Metric::GoodputBps, Metric::PredictedBps])
        {
            values.extend(run.values.get(metric));
        }
    }
    let canvas = |page: Page<Paths>| {
        let (_, paths) = page.entries.into_iter().next()?;
        let title = study.title("Split paths, measured and predicted", &page.common.words());
        accuracy_maps(title, &paths, [&columns.title, &rows.title]).draw(study.style)
    };
    let pages = settings.pages(found, 1, |_| 1);
    charts.add(TOPIC, "split-accuracy", pages.into_iter().map(canvas));
}

fn accuracy_maps(title: String, paths: &Paths, [columns, rows]: [&str; 2]) -> HeatMaps {
    let of_rows: BTreeSet<_> = paths.keys().map(|(row, _)| row).collect();
    let of_columns: BTreeSet<_> = paths.keys().map(|(_, column)| column).collect();
    let joined = |values: &[Option<LabelValue>]| {
        let texts = values
            .iter()
            .map(|value| value.as_ref().map_or("–", LabelValue::text));
        texts.collect::<Vec<_>>().join(" | ")
    };
    let map = |name: &str, scale, of: &dyn Fn(&Both) -> Option<f64>| {
        let row = |row: &Vec<_>| {
            let cell = |column: &&Vec<_>| of(paths.get(&(row.clone(), (*column).clone()))?);
            of_columns.iter().map(cell).collect()
        };
        HeatMap {
            name: name.to_owned(),
            scale,
            cells: of_rows.iter().map(|of| row(of)).collect(),
        }
    };
    let n = n_words(paths.values().map(|[measured, _]| measured.len() as u64));
    let difference = |[measured, predicted]: &Both| Some(median(predicted)? - median(measured)?);
    HeatMaps {
        title,
        note: format!("medians of runs, {n}; difference: predicted less measured"),
        quantity: drawn(Metric::GoodputBps).0,
        columns: (
            columns.to_owned(),
            of_columns.iter().map(|of| joined(of)).collect(),
        ),
        rows: (
            rows.to_owned(),
            of_rows.iter().map(|of| joined(of)).collect(),
        ),
        maps: vec![
            map("measured", HeatScale::Amount, &|[measured, _]| {
                median(measured)
            }),
            map("predicted", HeatScale::Amount, &|[_, predicted]| {
                median(predicted)
            }),
            map("difference", HeatScale::Difference, &difference),
        ],
    }
}
