//! Fairness of pairs of variants: every run as a point, its density beside it, for the two orders in
//! which the flows may start.

use crate::metric::stats::{Density, DensityRange, quantile};

use super::axis::{Axis, Quantity};
use super::boxes::VALUES_MIN;
use super::canvas::{Align, Canvas, Point, Stroke};
use super::counts::n_words;
use super::fit::{shorten, wrap};
use super::font::text_width;
use super::frame::{Panel, ROOM_MIN, header};
use super::label::joined;
use super::legend::Swatch;
use super::letters::{AXIS_TITLE, LABEL, baseline};
use super::names_below::{below, draw_name};
use super::palette::{Colour, Marker};
use super::style::Style;
use super::tiles::{RowHeights, Tiles};

/// Values of one pair of variants, A and B.
#[derive(Clone, Debug, PartialEq)]
pub struct FnessPair {
    /// Both names, such as `bbr | cubic`: A, then B.
    pub name: String,
    /// fness of the runs in which A started first: -1 is A alone, 1 is B alone.
    pub a_first: Vec<f64>,
    /// fness of the runs in which B started first, of the same A and B.
    pub b_first: Vec<f64>,
}

/// Pairs beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct FnessScatter {
    /// What it is about, and under which condition.
    pub title: String,
    /// Over which part of the runs.
    pub note: String,
    /// What a point is: `a run`.
    pub point: String,
    /// The A of all pairs, where they have it in common and their names are those of B alone.
    pub a: Option<String>,
    /// The pairs.
    pub pairs: Vec<FnessPair>,
}

/// Told apart in every kind of colour vision, and in grey: yellow and violet, as the study has them.
const A_FIRST: Colour = Colour::ORANGE;
const B_FIRST: Colour = Colour::Data(0x54, 0x27, 0x88);
const A_MARK: Marker = Marker::Disc;
const B_MARK: Marker = Marker::Diamond;

/// Fewer values than these are drawn larger.
const FEW: usize = 10;

/// Values of which a median says something.
pub(super) const MEDIAN_MIN: usize = 3;

/// Between the middle of a pair and its first points, and between the middle of a point and its
/// number.
const POINT_GAP: f64 = 12.0;
const NUMBER_GAP: f64 = 13.0;

/// From where a median reaches, and up to which share of a side.
const MEDIAN_START: f64 = 6.0;
const MEDIAN_END: f64 = 0.7;

/// The widest that the name of an A that all pairs have may get, as a share of the width.
const NAME_MAX: f64 = 0.3;

const NAME_LINES: usize = 4;
/// Between two names.
const NAME_GAP: f64 = 8.0;
const LABELS: f64 = 86.0;

/// Where densities are drawn: fness ends at -1 and 1.
const RANGE: DensityRange = DensityRange {
    low: -1.0,
    high: 1.0,
    points: 121,
};

impl FnessScatter {
    /// The figure; none without runs.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        let counts = || {
            let pairs = self.pairs.iter();
            pairs.flat_map(|pair| [pair.a_first.len() as u64, pair.b_first.len() as u64])
        };
        if counts().sum::<u64>() == 0 {
            return None;
        }
        let mut canvas = Canvas::new(style, style.size.height());
        let top = self.draw_header(&mut canvas, counts());
        let width = Tiles::new(&canvas, top, 1, 1, LABELS).width();
        let most = (width / self.pitch_min()) as usize;
        let in_row = self.in_row(width, most.max(1));
        let rows = self.pairs.len().div_ceil(in_row);
        let [a, b] = self.sides(style);
        let tiles = Tiles::new(&canvas, top, rows, 1, LABELS);
        let names = self.pairs.iter().map(|pair| pair.name.as_str());
        let below = below(names, tiles.width() / in_row as f64 - NAME_GAP, NAME_LINES);
        let heights = RowHeights {
            alone: 0.45 * style.size.height(),
            each: 0.36 * style.size.height(),
            least: ROOM_MIN,
        };
        let tiles = tiles.above_names(style, rows, below, heights);
        for (row, pairs) in self.pairs.chunks(in_row).enumerate() {
            let mut x = Axis::tight(Quantity::FNESS, 0.0, in_row as f64, 1);
            x.ticks.clear();
            let y = Axis {
                title: format!("fness (−1: {a} alone, 0: even, 1: {b} alone)"),
                ..Axis::linear(Quantity::FNESS, -1.0, 1.0, 4)
            };
            let panel = tiles.panel(row, x, y);
            panel.draw_back_above(&mut canvas);
            let (_, even) = panel.at(0.0, 0.0);
            canvas.line(
                &[(panel.left, even), (panel.right, even)],
                Stroke::solid(Colour::GREY, 2.0),
            );
            let pitch = (panel.right - panel.left) / in_row as f64;
            for (place, pair) in pairs.iter().enumerate() {
                let middle = panel.left + (place as f64 + 0.5) * pitch;
                let at = (middle, panel.bottom);
                draw_name(&mut canvas, &pair.name, at, pitch - NAME_GAP, NAME_LINES);
                for (values, side, look) in [
                    (&pair.a_first, -1.0, (A_MARK, A_FIRST)),
                    (&pair.b_first, 1.0, (B_MARK, B_FIRST)),
                ] {
                    draw_side(&mut canvas, &panel, (middle, side), pitch, values, look);
                }
            }
        }
        canvas.height = tiles.height(rows);
        Some(canvas)
    }

    /// What A and B are called.
    fn sides(&self, style: Style) -> [String; 2] {
        match &self.a {
            // As the name of the axis, behind which there is more.
            Some(a) => [
                shorten(a, AXIS_TITLE, NAME_MAX * style.size.width()),
                "the other".to_owned(),
            ],
            None => ["A", "B"].map(str::to_owned),
        }
    }

    /// The least width of a pair: with room for all numbers that stand beside points, where there are any.
    fn pitch_min(&self) -> f64 {
        const LEAST: f64 = 130.0;
        let pairs = self.pairs.iter();
        let sides = pairs.flat_map(|pair| [&pair.a_first, &pair.b_first]);
        let alone = sides.filter(|side| side.len() == 1).flatten();
        let numbered = alone.map(|&fness| 2.0 * reach(&super::fness::in_words(fness)));
        numbered.fold(LEAST, f64::max)
    }

    /// Pairs in a row of a width: at most so many, fewer where a name would be shortened otherwise, down to half; and
    /// as many in each row as can be.
    fn in_row(&self, width: f64, most: usize) -> usize {
        let even = |in_row: usize| self.pairs.len().div_ceil(self.pairs.len().div_ceil(in_row));
        let are_whole = |in_row: &usize| {
            let room = width / even(*in_row) as f64 - NAME_GAP;
            let names = self.pairs.iter();
            let mut lines = names.flat_map(|pair| wrap(&pair.name, LABEL, room, NAME_LINES));
            lines.all(|line| !line.contains('…'))
        };
        let fewer = most.div_ceil(2)..=most;
        even(fewer.rev().find(are_whole).unwrap_or(most))
    }

    /// Title and legend, with densities and medians where there are any.
    fn draw_header(&self, canvas: &mut Canvas, counts: impl Iterator<Item = u64>) -> f64 {
        let pairs = self.pairs.iter();
        let sides: Vec<Vec<f64>> = pairs
            .flat_map(|pair| [sorted(&pair.a_first), sorted(&pair.b_first)])
            .collect();
        let mut notes = vec![
            self.note.clone(),
            format!(
                "each point is {}, {} for each pair and order",
                self.point,
                n_words(counts.filter(|&n| n > 0))
            ),
        ];
        if sides.iter().any(|side| density(side).is_some()) {
            notes.push("areas: Gaussian kernel density".to_owned());
        }
        let mut legend = Vec::new();
        let [a, b] = self.sides(canvas.style);
        if self.pairs.iter().any(|pair| !pair.a_first.is_empty()) {
            legend.push((Swatch::Mark(A_MARK, A_FIRST), format!("{a} started first")));
        }
        if self.pairs.iter().any(|pair| !pair.b_first.is_empty()) {
            legend.push((Swatch::Mark(B_MARK, B_FIRST), format!("{b} started first")));
        }
        if sides.iter().any(|side| side.len() >= MEDIAN_MIN) {
            let line = Swatch::Stroke(Stroke::solid(Colour::INK, 3.0));
            legend.push((line, "median".to_owned()));
        }
        header(canvas, &self.title, &joined(&notes), &legend)
    }
}

/// The numbers among some values, ascending.
fn sorted(values: &[f64]) -> Vec<f64> {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let mut sorted: Vec<f64> = finite.collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The density of some values; of so few that they have no box either, each would be a hill of its own.
fn density(values: &[f64]) -> Option<Density> {
    let density = Density::of(values, RANGE);
    density.filter(|_| values.len() >= VALUES_MIN)
}

/// How far from the middle of a pair the number beside its only point on a side ends, with half of what is between two
/// pairs.
fn reach(number: &str) -> f64 {
    POINT_GAP + NUMBER_GAP + text_width(number, LABEL) + 2.0
}

/// Height of a number's middle, that is to be at `y`, but not across a line at `line`.
fn beside(line: f64, y: f64) -> f64 {
    let apart = 0.65 * LABEL.px;
    if y > line {
        y.max(line + apart)
    } else {
        y.min(line - apart)
    }
}

/// Points next to the middle, and the density behind them, to the left (-1) or right (1) of it.
fn draw_side(
    canvas: &mut Canvas,
    panel: &Panel,
    (middle, side): (f64, f64),
    pitch: f64,
    values: &[f64],
    (mark, colour): (Marker, Colour),
) {
    let sorted = sorted(values);
    let width = (pitch * 0.42).min(150.0);
    if let Some(density) = density(&sorted) {
        let peak = density
            .points
            .iter()
            .map(|&(_, density)| density)
            .fold(0.0, f64::max);
        let mut outline: Vec<Point> = density
            .points
            .iter()
            .map(|&(value, density)| {
                let (_, y) = panel.at(panel.x.min, value);
                (middle + side * (6.0 + width * density / peak), y)
            })
            .collect();
        outline.push((middle + side * 6.0, panel.at(panel.x.min, 1.0).1));
        outline.push((middle + side * 6.0, panel.at(panel.x.min, -1.0).1));
        canvas.area(outline.clone(), colour, 0.3);
    }
    let is_few = sorted.len() < FEW;
    // Below a few points, one of which it would cut in two; above many, which would hide it.
    if is_few {
        draw_median(canvas, panel, (middle, side), width, &sorted);
    }
    for (index, &value) in sorted.iter().enumerate() {
        let (_, y) = panel.at(panel.x.min, value);
        let x = middle + side * offset(index, sorted.len(), width);
        // A few points stand for themselves.
        let radius = if is_few { 8.0 } else { 4.0 };
        canvas.marker((x, y), radius, mark, colour);
        let text = super::fness::in_words(value);
        // One alone bears its number, where that does not reach into the next pair.
        if sorted.len() == 1 && reach(&text) <= pitch / 2.0 {
            let align = if side < 0.0 {
                Align::Right
            } else {
                Align::Left
            };
            let (_, even) = panel.at(panel.x.min, 0.0);
            // Not across the axis.
            let middle = beside(even, y).min(panel.bottom - 0.7 * LABEL.px);
            let at = (x + side * NUMBER_GAP, baseline(middle, LABEL));
            canvas.text(at, &text, LABEL, align);
        }
    }
    if !is_few {
        draw_median(canvas, panel, (middle, side), width, &sorted);
    }
}

/// How far from the middle of a pair a point is, the one at `index` of so many on a side that is `width` wide.
fn offset(index: usize, points: usize, width: f64) -> f64 {
    // Spread evenly whatever their number: by the golden ratio.
    let spread = |index: usize| (index as f64 * 0.618_034).fract();
    let reach = width * 0.45;
    if !(MEDIAN_MIN..FEW).contains(&points) {
        return POINT_GAP + spread(index) * reach;
    }
    // Of a few the golden ratio leaves out a part of the width: they stand about the middle of their median.
    let before = (0..points).filter(|&other| spread(other) < spread(index));
    let place = (before.count() as f64 + 0.5) / points as f64;
    f64::midpoint(MEDIAN_START, width * MEDIAN_END) + (place - 0.5) * reach
}

/// The median of some values, which ascend, across their points; none of too few.
fn draw_median(
    canvas: &mut Canvas,
    panel: &Panel,
    (middle, side): (f64, f64),
    width: f64,
    sorted: &[f64],
) {
    if let Some(median) = quantile(sorted, 0.5).filter(|_| sorted.len() >= MEDIAN_MIN) {
        let (_, y) = panel.at(panel.x.min, median);
        let ends = [MEDIAN_START, width * MEDIAN_END].map(|end| (middle + side * end, y));
        canvas.line(&ends, Stroke::solid(Colour::Paper, 6.0));
        canvas.line(&ends, Stroke::solid(Colour::INK, 3.0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::super::style::Size;
    use super::*;

    fn scatter_of(pairs: Vec<FnessPair>) -> FnessScatter {
        FnessScatter {
            title: String::new(),
            note: String::new(),
            point: "a run".to_owned(),
            a: None,
            pairs,
        }
    }

    #[test]
    fn rows_are_shorter_where_names_would_lose_their_middle() {
        let in_row = |name: &str| {
            let pair = FnessPair {
                name: format!("{name} | {name}"),
                a_first: vec![0.1; 3],
                b_first: vec![0.2; 3],
            };
            let scatter = scatter_of(vec![pair; 21]);
            scatter.in_row(1400.0, 11)
        };
        assert_eq!(in_row("cubic"), 11);
        // Of `westwood+` ten would have room for `wes…ood+`.
        assert_eq!(in_row("westwood+"), 7);
        // What no row of six has room for does not make more rows.
        assert_eq!(in_row(&"w".repeat(30)), 11);
    }

    #[test]
    fn beside_points_all_numbers_stand() {
        let pairs = (0..16).map(|place| FnessPair {
            name: format!("bbr | cubic, buffer {place}"),
            a_first: vec![-0.29 - 0.01 * f64::from(place)],
            b_first: vec![-0.3 - 0.02 * f64::from(place)],
        });
        let scatter = scatter_of(pairs.collect());
        for size in [Size::OneColumn, Size::TwoColumns, Size::Slide] {
            let style = Style {
                size,
                ..Style::default()
            };
            let canvas = scatter.draw(style).unwrap();
            let numbers = canvas.shapes.iter().filter(|shape| {
                matches!(shape, Shape::Text { text, .. } if text.starts_with("−0.") && text.len() > 6)
            });
            assert_eq!(numbers.count(), 32, "{size:?}");
        }
    }

    #[test]
    fn no_median_of_a_few_runs_cuts_its_point_in_two() {
        let scatter = |values: Vec<f64>| {
            scatter_of(vec![FnessPair {
                name: "bbr | cubic".to_owned(),
                a_first: values,
                b_first: Vec::new(),
            }])
        };
        let places = |values: Vec<f64>| {
            let canvas = scatter(values).draw(Style::default()).unwrap();
            let median = canvas.shapes.iter().rposition(
                |shape| matches!(shape, Shape::Line { stroke, .. } if stroke.colour == Colour::INK),
            );
            let point = canvas.shapes.iter().rposition(
                |shape| matches!(shape, Shape::Marker { colour, .. } if *colour == A_FIRST),
            );
            (median.unwrap(), point.unwrap())
        };
        let (median, point) = places(vec![-0.1, 0.2, 0.4]);
        assert!(median < point);
        // Among many the line is what would be lost.
        let (median, point) = places((0..40).map(|of| 0.01 * f64::from(of)).collect());
        assert!(median > point);
    }

    #[test]
    fn a_few_points_stand_about_the_middle_of_their_median() {
        for n in MEDIAN_MIN..FEW {
            let scatter = scatter_of(vec![FnessPair {
                name: "bbr | cubic".to_owned(),
                a_first: (0..n).map(|of| 0.1 * of as f64 - 0.5).collect(),
                b_first: (0..n).map(|of| 0.4 - 0.1 * of as f64).collect(),
            }]);
            let canvas = scatter.draw(Style::default()).unwrap();
            let shapes = || canvas.shapes.iter();
            let medians: Vec<[f64; 2]> = shapes()
                .filter_map(|shape| match shape {
                    Shape::Line { points, stroke }
                        if *stroke == Stroke::solid(Colour::INK, 3.0) =>
                    {
                        let (one, other) = (points[0].0, points[1].0);
                        Some([one.min(other), one.max(other)])
                    }
                    _ => None,
                })
                // The legend's.
                .skip(1)
                .collect();
            assert_eq!(medians.len(), 2);
            for (colour, [low, high]) in [A_FIRST, B_FIRST].into_iter().zip(medians) {
                // The first is the legend's.
                let marks = shapes().filter_map(|shape| match shape {
                    Shape::Marker { at, colour: of, .. } if *of == colour => Some(at.0),
                    _ => None,
                });
                let places: Vec<f64> = marks.skip(1).collect();
                assert_eq!(places.len(), n);
                let mean = places.iter().sum::<f64>() / n as f64;
                assert!(
                    (mean - f64::midpoint(low, high)).abs() < 1.0,
                    "{n}: {places:?}"
                );
                assert!(places.iter().all(|place| (low..=high).contains(place)));
                // Each has a place of its own.
                let mut sorted = places.clone();
                sorted.sort_by(f64::total_cmp);
                sorted.dedup_by(|one, other| (*one - *other).abs() < 1.0);
                assert_eq!(sorted.len(), n, "{places:?}");
            }
        }
    }

    #[test]
    fn no_number_lies_on_the_line_of_an_even_share() {
        for value in [0.0, 0.03, -0.03, 0.5, -1.0] {
            let scatter = scatter_of(vec![FnessPair {
                name: "bbr | cubic".to_owned(),
                a_first: vec![value],
                b_first: Vec::new(),
            }]);
            let canvas = scatter.draw(Style::default()).unwrap();
            let even = canvas.shapes.iter().find_map(|shape| match shape {
                Shape::Line { points, stroke } if *stroke == Stroke::solid(Colour::GREY, 2.0) => {
                    Some(points[0].1)
                }
                _ => None,
            });
            let number = super::super::fness::in_words(value);
            let at = canvas.shapes.iter().find_map(|shape| match shape {
                Shape::Text {
                    at, text, align, ..
                } if *text == number && *align != Align::Centre => Some(at.1),
                _ => None,
            });
            let apart = (at.unwrap() - baseline(even.unwrap(), LABEL)).abs();
            assert!(apart >= 0.6 * LABEL.px, "{value}: {apart}");
        }
    }
}
