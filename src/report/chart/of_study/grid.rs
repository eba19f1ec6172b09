//! Over loss and delay: maps with the number in each cell, and
//! lines over any label with numbers.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::stats::quantile;
use crate::study::units::Dimension;
use crate::study::{Average, Label, LabelKind, LabelValue, Metric, StudyRun};

use super::super::axis::Quantity;
use super::super::bands::BandLines;
use super::super::counts::n_words;
use super::super::heat_map::{HeatMap, HeatMaps, HeatScale};
use super::super::interval::{Estimate, Spread, wider};
use super::amounts::{band_words, estimate, interval_note};
use super::settings::{Page, Setting, Settings, axis_name, is_number, text_of, written};
use super::{MAPS_MAX, Study, StudyCharts, drawn};

const TOPIC: &str = "Over loss, delay and other numbers";

/// Runs of a loss and a delay that make an interval which says something.
const RUNS_MIN: usize = 3;

/// Values that a line needs along its axis.
const POINTS_MIN: usize = 3;

type Variant = Option<LabelValue>;

/// Values by loss and delay.
pub(super) type Cells = BTreeMap<(LabelValue, LabelValue), Vec<f64>>;

/// Runs of one flow with a loss and a delay, by setting and variant.
pub(super) fn cells(
    study: &Study<'_>,
    metric: Metric,
) -> BTreeMap<Setting, BTreeMap<Variant, Cells>> {
    let (Some(loss), Some(delay)) = (study.roles.loss, study.roles.delay) else {
        return BTreeMap::new();
    };
    let settings = study.settings(&[Some(loss), Some(delay)]);
    let (_, scale) = drawn(metric);
    let mut found: BTreeMap<Setting, BTreeMap<Variant, Cells>> = BTreeMap::new();
    for run in study.runs() {
        let parts = study.parts(run);
        let ([part], Some(loss), Some(delay), Some(value)) = (
            parts.as_slice(),
            run.labels[loss].clone(),
            run.labels[delay].clone(),
            run.values.get(metric),
        ) else {
            continue;
        };
        if part.values.len() > 1 {
            continue;
        }
        let variants = found.entry(settings.setting(part.labels)).or_default();
        let cells = variants.entry(part.variant.clone()).or_default();
        cells.entry((loss, delay)).or_default().push(value * scale);
    }
    found
}

pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// The values of rows or columns, in order.
pub(super) fn axis<'c, T: 'c>(
    cells: impl Iterator<Item = &'c BTreeMap<(LabelValue, LabelValue), T>>,
    of: impl Fn(&'c (LabelValue, LabelValue)) -> &'c LabelValue,
) -> Vec<LabelValue> {
    let values: BTreeSet<&LabelValue> = cells.flat_map(BTreeMap::keys).map(of).collect();
    values.into_iter().cloned().collect()
}

pub(super) fn texts(values: &[LabelValue]) -> Vec<String> {
    values.iter().map(text_of).collect()
}

impl Study<'_> {
    /// What the columns and rows of a map are.
    pub(super) fn axis_titles(&self) -> Option<[String; 2]> {
        let title = |place: usize| axis_name(&self.results.labels[place]).1;
        Some([title(self.roles.delay?), title(self.roles.loss?)])
    }
}

/// Utilisation over loss and delay; goodput where no capacity is known.
pub(super) fn heat_maps(study: &Study<'_>, charts: &mut StudyCharts) {
    let Some([of_columns, of_rows]) = study.axis_titles() else {
        return;
    };
    let known = cells(study, Metric::Utilisation);
    let (metric, found) = if known.is_empty() {
        (Metric::GoodputBps, cells(study, Metric::GoodputBps))
    } else {
        (Metric::Utilisation, known)
    };
    let (quantity, _) = drawn(metric);
    let settings = study.settings(&[study.roles.loss, study.roles.delay]);
    let canvas = |page: Page<BTreeMap<Variant, Cells>>| {
        let all = || page.entries.iter().flat_map(|(_, maps)| maps.values());
        let (rows, columns) = (axis(all(), |at| &at.0), axis(all(), |at| &at.1));
        if rows.len() < 2 || columns.len() < 2 {
            return None;
        }
        let n = all().flat_map(BTreeMap::values);
        let n = n_words(n.map(|values| values.len() as u64));
        let map = |name: String, cells: &Cells| {
            let cell = |loss: &LabelValue, delay: &LabelValue| {
                median(cells.get(&(loss.clone(), delay.clone()))?)
            };
            let row = |loss| columns.iter().map(|delay| cell(loss, delay)).collect();
            HeatMap {
                name,
                scale: HeatScale::Amount,
                cells: rows.iter().map(row).collect(),
            }
        };
        let maps = page.entries.iter().flat_map(|(setting, variants)| {
            variants.iter().map(move |(variant, cells)| {
                let name = study.variant_name(variant.as_ref());
                let name = if setting.is_empty() {
                    name
                } else {
                    format!("{name}, {setting}")
                };
                (name, cells)
            })
        });
        let what = format!("{} over loss and delay", quantity.name);
        let maps = HeatMaps {
            title: study.title(&what, &page.common.words()),
            note: format!("median of runs, {n}"),
            quantity,
            columns: (of_columns.clone(), texts(&columns)),
            rows: (of_rows.clone(), texts(&rows)),
            maps: maps.map(|(name, cells)| map(name, cells)).collect(),
        };
        maps.draw(study.style)
    };
    let pages = settings.pages(found, MAPS_MAX, BTreeMap::len);
    charts.add(TOPIC, "map", pages.into_iter().map(canvas));
}

/// Goodput over each label with numbers that has some values.
pub(super) fn lines(study: &Study<'_>, charts: &mut StudyCharts) {
    let grid = [study.roles.loss, study.roles.delay];
    let cells = cells(study, Metric::GoodputBps);
    let cells = cells
        .values()
        .flat_map(BTreeMap::values)
        .flat_map(BTreeMap::values);
    let few = cells.map(Vec::len).max().unwrap_or(0) < RUNS_MIN;
    let places = study.results.group_by.iter().copied().filter(|&place| {
        is_number(&study.results.labels[place]) && Some(place) != study.roles.variant
    });
    for place in places {
        // Over loss, and the other way round: with few runs each, all delays together.
        let together = match grid {
            [Some(loss), Some(delay)] if place == loss => Some(delay),
            [Some(loss), Some(delay)] if place == delay => Some(loss),
            _ => None,
        };
        let together = together.filter(|&label| few && is_whole_grid(study, place, label));
        let canvases = lines_over(study, place, together);
        charts.add(TOPIC, &format!("lines-{}", safe(study, place)), canvases);
    }
}

/// Smallest and largest of several values.
fn spread(values: &[f64]) -> Spread {
    let ends = values.iter().map(|&value| (value, value)).reduce(wider);
    match ends.filter(|_| values.len() > 1) {
        Some((low, high)) => Spread::Interval(low, high),
        None => Spread::Unknown,
    }
}

/// What a chart over this label is called: by its role or name; by its place where the name, which
/// comes from a manifest, is none for a file.
fn safe(study: &Study<'_>, place: usize) -> String {
    /// Longer names would not fit a file's.
    const NAME_MAX: usize = 40;
    let name = study.results.labels[place].name.as_str();
    let is_safe = name.len() <= NAME_MAX
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if study.roles.loss == Some(place) {
        "loss".to_owned()
    } else if study.roles.delay == Some(place) {
        "delay".to_owned()
    } else if is_safe && !["loss", "delay"].contains(&name) {
        name.to_owned()
    } else {
        format!("label-{}", place + 1)
    }
}

/// A point of a line: a number of a label, and goodputs.
type Points = BTreeMap<LabelValue, Vec<f64>>;

/// Lines of variants, by setting.
type Lines = BTreeMap<Setting, BTreeMap<Variant, Points>>;

/// Goodputs over the label at `place`, where they make a line; those of all values of `together` are
/// of one setting.
fn points_over(
    study: &Study<'_>,
    settings: &Settings<'_>,
    place: usize,
    together: Option<usize>,
) -> Lines {
    let mut found = Lines::new();
    let belongs = |run: &&StudyRun| together.is_none_or(|label| run.labels[label].is_some());
    for run in study.runs().filter(belongs) {
        let parts = study.parts(run);
        let company = study.company(run);
        for part in parts {
            let x = part.labels[place].clone();
            let Some(x) = x.filter(|x| x.number().is_some()) else {
                continue;
            };
            let values: Vec<f64> = part
                .values
                .iter()
                .filter_map(|values| values.get(Metric::GoodputBps))
                .collect();
            if let Some(mean) = crate::metric::stats::mean(&values) {
                let setting = settings.setting(part.labels).with(company.clone());
                let lines = found.entry(setting).or_default();
                let points = lines.entry(part.variant).or_default();
                points.entry(x).or_default().push(mean);
            }
        }
    }
    found.retain(|_, lines| lines.values().any(|points| points.len() >= POINTS_MIN));
    found
}

/// Whether each variant has runs of the same values of the label `together` at all its values of the one at `place`:
/// else their mean over one would change with the other, too.
fn is_whole_grid(study: &Study<'_>, place: usize, together: usize) -> bool {
    let settings = study.settings(&[Some(place), Some(together)]);
    let mut found: BTreeMap<(Setting, Variant), BTreeMap<LabelValue, BTreeSet<LabelValue>>> =
        BTreeMap::new();
    for run in study.runs() {
        for part in study.parts(run) {
            let [at, with] = [place, together].map(|label| part.labels[label].clone());
            if let (Some(at), Some(with)) = (at, with) {
                let line = (settings.setting(part.labels), part.variant);
                let line = found.entry(line).or_default();
                line.entry(at).or_default().insert(with);
            }
        }
    }
    let is_even = |line: &BTreeMap<LabelValue, BTreeSet<LabelValue>>| {
        let mut sets = line.values();
        let first = sets.next();
        sets.all(|set| Some(set) == first)
    };
    found.values().all(is_even)
}

/// What the numbers of a label are drawn as, in the unit that it has in all charts, and one of them in the base unit of
/// that.
fn drawn_label(label: &Label) -> (Quantity, f64) {
    match label.kind {
        LabelKind::Number(Some(unit)) => {
            let (quantity, size) = match unit.dimension {
                Dimension::Rate => (Quantity::GOODPUT, unit.factor),
                Dimension::Time => (Quantity::DELAY, unit.factor / 1e9),
                Dimension::Percent => (Quantity::LOSS, 0.01),
                Dimension::Size => (Quantity::IN_FLIGHT, unit.factor),
                Dimension::Packets | Dimension::Bdp => return (Quantity::PLAIN, 1.0),
            };
            (quantity.in_unit_of(size), size)
        }
        _ => (Quantity::PLAIN, 1.0),
    }
}

fn lines_over(
    study: &Study<'_>,
    place: usize,
    together: Option<usize>,
) -> Vec<Option<super::Canvas>> {
    let average = study.results.average;
    let settings = study.settings(&[Some(place), together]);
    let found = points_over(study, &settings, place, together);
    let label = &study.results.labels[place];
    let (x, x_scale) = drawn_label(label);
    let (name, whole) = axis_name(label);
    // Packets and bandwidth-delay products have no ladder of units.
    let x_name = if x == Quantity::PLAIN {
        whole
    } else {
        name.clone()
    };
    let pages = settings.pages(found, 1, |_| 1);
    let canvas = |page: Page<BTreeMap<Variant, Points>>| {
        let lines: Vec<(String, Vec<(f64, Estimate)>)> = page
            .entries
            .iter()
            .flat_map(|(_, lines)| lines)
            .map(|(variant, points)| {
                let points = points.iter().filter_map(|(x, values)| {
                    let mut of = estimate(average, values)?;
                    if together.is_some() {
                        of.spread = spread(values);
                    }
                    Some((x.number()? * x_scale, of))
                });
                (study.variant_name(variant.as_ref()), points.collect())
            })
            .collect();
        let estimates = lines.iter().flat_map(|(_, points)| points);
        let note = interval_note(average, estimates.map(|(_, of)| of));
        let note = match together {
            Some(label) => format!(
                "{} of runs of every {}, with their smallest and largest",
                match average {
                    Average::Mean => "mean",
                    Average::Median => "median",
                },
                written(&study.results.labels[label])
            ),
            None => note.to_owned(),
        };
        let lines = BandLines {
            title: study.title(
                &format!("Goodput over {}", written(label)),
                &page.common.words(),
            ),
            note,
            interval: match together {
                Some(_) => "smallest to largest",
                None => band_words(average),
            },
            x,
            x_name: x_name.clone(),
            y: drawn(Metric::GoodputBps).0,
            lines,
        };
        lines.draw_as(study.style, &study.looks)
    };
    pages.into_iter().map(canvas).collect()
}
