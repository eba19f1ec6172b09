//! Boxes and whiskers of some quantities beside each other, such as throughput and ping.

use crate::metric::stats::{BoxPlot, mean};

use super::axis::{Axis, Quantity, Scale};
use super::canvas::{Align, Canvas, Stroke};
use super::font::text_width;
use super::frame::{LABEL, Panel, header};
use super::grouped_bars::{below, columns_max, draw_name, n_words};
use super::interval::half_whisker;
use super::label::joined;
use super::legend::Swatch;
use super::looks::Looks;
use super::palette::{Colour, Marker};
use super::style::Style;
use super::tiles::Tiles;

/// Values of each variant, of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPanel {
    /// What they are.
    pub quantity: Quantity,
    /// Names of variants, or of variants and settings, and their values; those that are no numbers
    /// do not count.
    pub samples: Vec<(String, Vec<f64>)>,
}

/// Boxes in panels beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxes {
    /// What it is about, and under which condition.
    pub title: String,
    /// What the values are.
    pub note: String,
    /// One panel a quantity.
    pub panels: Vec<BoxPanel>,
}

/// Lines of a name below its box.
const NAME_LINES: usize = 5;

/// Width of a box with the space around it, at least, with a short name and a long one; and of the
/// labels of vertical axes.
const BOX_MIN: f64 = 66.0;
const NAMED_MIN: f64 = 124.0;
const LABELS: f64 = 92.0;

/// Values that a box is drawn of; fewer have no quartiles to speak of, and are drawn themselves.
pub(super) const VALUES_MIN: usize = 4;

/// Outliers that are drawn of one box; more make a blot.
const OUTLIERS_MAX: usize = 400;

impl Boxes {
    /// The figure; none without values.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        self.draw_as(style, &Looks::default())
    }

    /// The figure, drawn with `looks` so that variants match other figures; none without values.
    #[must_use]
    pub fn draw_as(&self, style: Style, looks: &Looks) -> Option<Canvas> {
        let panels: Vec<Vec<(&str, Vec<f64>)>> = self
            .panels
            .iter()
            .map(|panel| {
                let named = panel.samples.iter().map(|(name, values)| {
                    let finite = values.iter().copied().filter(|value| value.is_finite());
                    (name.as_str(), finite.collect())
                });
                named.collect()
            })
            .collect();
        let counts = || {
            panels
                .iter()
                .flatten()
                .map(|(_, values)| values.len() as u64)
        };
        if counts().sum::<u64>() == 0 {
            return None;
        }
        let mut canvas = Canvas::new(style, style.size.height());
        let has_boxes = counts().any(|n| n >= VALUES_MIN as u64);
        let has_points = counts().any(|n| (1..VALUES_MIN as u64).contains(&n));
        let mut notes = vec![self.note.clone()];
        if has_boxes {
            notes.push("box: quartiles and median; whiskers: up to 1.5 times its height beyond; dots: values beyond these".to_owned());
        }
        if has_points {
            notes.push(format!("fewer than {VALUES_MIN} values: each as a dot"));
        }
        notes.push(n_words(counts()));
        let mean = (
            Swatch::Mark(Marker::Diamond, Colour::INK),
            "mean".to_owned(),
        );
        let legend: Vec<(Swatch, String)> = has_boxes.then_some(mean).into_iter().collect();
        let top = header(&mut canvas, &self.title, &joined(&notes), &legend);
        let most = panels.iter().map(Vec::len).max().unwrap_or(1);
        let (columns, in_row) = grid(&canvas, &panels, most);
        let rows = self.rows(&panels, in_row);
        let tiles = Tiles::new(&canvas, top, rows.len(), columns, LABELS);
        let below = rows.iter().map(|row| {
            let names = row.samples.iter().map(|(name, _)| *name);
            let pitch = tiles.width() / row.samples.len().max(1) as f64;
            below(names, pitch - 8.0, NAME_LINES)
        });
        let below = below.fold(0.0, f64::max);
        let room = if rows.len() <= columns {
            (style.size.height() - top - 44.0 - below - 16.0).max(0.4 * style.size.height())
        } else {
            0.36 * style.size.height()
        };
        let tiles = tiles.with(room, below);
        for (index, row) in rows.iter().enumerate() {
            draw_row(&mut canvas, &tiles, (index, row), looks);
        }
        canvas.height = tiles.height(rows.len());
        Some(canvas)
    }
}

impl Boxes {
    /// The boxes of each quantity, so many in a row, as many in each as can be.
    fn rows<'p>(&self, panels: &'p [Vec<(&'p str, Vec<f64>)>], in_row: usize) -> Vec<Row<'p>> {
        let mut rows = Vec::new();
        for (of, samples) in self.panels.iter().zip(panels) {
            let y = y_axis(of.quantity, samples);
            let even = samples
                .len()
                .div_ceil(samples.len().div_ceil(in_row).max(1));
            rows.extend(samples.chunks(even.max(1)).map(|samples| Row {
                y: y.clone(),
                samples,
            }));
        }
        rows
    }
}

/// Panels beside each other, and boxes in each: so many that those of a quantity stand in one panel,
/// or, where these are too many for any, some in each.
fn grid(canvas: &Canvas, panels: &[Vec<(&str, Vec<f64>)>], most: usize) -> (usize, usize) {
    let columns_max = match (most, panels.len()) {
        (..=5, 3) => columns_max(canvas.style, 3),
        (..=8, _) => columns_max(canvas.style, 2),
        _ => 1,
    };
    let names = panels.iter().flatten();
    let widest = names.map(|(name, _)| text_width(name, LABEL) + 14.0);
    let pitch = widest.fold(0.0, f64::max).clamp(BOX_MIN, NAMED_MIN);
    let in_row = |columns: usize| {
        let width = Tiles::new(canvas, 0.0, columns, columns, LABELS).width();
        ((width / pitch) as usize).max(1)
    };
    let whole = (1..=columns_max).rev();
    let mut whole = whole.filter(|&columns| in_row(columns) >= most);
    let columns = whole.next().unwrap_or(columns_max);
    (columns, in_row(columns))
}

/// Boxes beside each other.
struct Row<'a> {
    y: Axis,
    samples: &'a [(&'a str, Vec<f64>)],
}

fn y_axis(quantity: Quantity, samples: &[(&str, Vec<f64>)]) -> Axis {
    let all = || {
        samples
            .iter()
            .flat_map(|(_, values)| values.iter().copied())
    };
    let (min, max) = (
        all().reduce(f64::min).unwrap_or(0.0),
        all().reduce(f64::max).unwrap_or(0.0),
    );
    // Within a tenth of each other they are alike: an axis about them alone would hide it.
    let alike = max - min < 0.1 * max;
    if quantity.is_delay() && !alike {
        Axis::for_delays(quantity, min, max, 6)
    } else {
        Axis::linear(quantity, min.min(0.0), max, 6)
    }
}

fn draw_row(canvas: &mut Canvas, tiles: &Tiles, (index, row): (usize, &Row<'_>), looks: &Looks) {
    let samples = row.samples;
    let mut x = Axis::tight(Quantity::FNESS, 0.0, samples.len().max(1) as f64, 1);
    x.ticks.clear();
    let panel = tiles.panel(index, x, row.y.clone());
    panel.draw_back_above(canvas);
    let pitch = (panel.right - panel.left) / samples.len().max(1) as f64;
    for (place, (name, values)) in samples.iter().enumerate() {
        let middle = panel.left + (place as f64 + 0.5) * pitch;
        let at = (middle, panel.bottom);
        draw_name(canvas, name, at, pitch - 8.0, NAME_LINES);
        draw_box(
            canvas,
            &panel,
            (middle, pitch),
            looks.style(name).colour,
            values,
        );
    }
}

fn draw_box(
    canvas: &mut Canvas,
    panel: &Panel,
    (middle, pitch): (f64, f64),
    colour: Colour,
    values: &[f64],
) {
    let (Some(stats), Some(mean)) = (BoxPlot::of(values), mean(values)) else {
        canvas.text((middle, panel.bottom - 8.0), "–", LABEL, Align::Centre);
        return;
    };
    let height = |value: f64| {
        // A log scale has no 0: it stands on the rim.
        let value = if panel.y.scale == Scale::Log {
            value.max(panel.y.min)
        } else {
            value
        };
        panel.at(panel.x.min, value).1
    };
    if values.len() < VALUES_MIN {
        for &value in values {
            canvas.marker((middle, height(value)), 6.0, Marker::Disc, colour);
        }
        return;
    }
    let half = (pitch * 0.3).min(46.0);
    for &value in stats.outliers.iter().take(OUTLIERS_MAX) {
        canvas.marker((middle, height(value)), 3.5, Marker::Disc, colour);
    }
    let cap = half * 0.45;
    for (quartile, end) in [
        (stats.q1, stats.whisker_low),
        (stats.q3, stats.whisker_high),
    ] {
        half_whisker(
            canvas,
            middle,
            (height(quartile), height(end)),
            cap,
            Colour::INK,
        );
    }
    let (low, high) = (height(stats.q1), height(stats.q3));
    // A box without height is still there.
    let (high, low) = if low - high < 3.0 {
        (high - 1.5, low + 1.5)
    } else {
        (high, low)
    };
    canvas.rect((middle - half, high), (middle + half, low), colour);
    let median = height(stats.median);
    canvas.line(
        &[(middle - half, median), (middle + half, median)],
        Stroke::solid(Colour::Paper, 6.0),
    );
    canvas.line(
        &[(middle - half, median), (middle + half, median)],
        Stroke::solid(Colour::INK, 3.0),
    );
    canvas.marker((middle, height(mean)), 8.0, Marker::Diamond, Colour::Paper);
    canvas.marker((middle, height(mean)), 6.0, Marker::Diamond, Colour::INK);
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::super::palette::variant;
    use super::super::tests::texts;
    use super::*;

    #[test]
    fn fewer_values_than_a_box_needs_are_dots() {
        let three = vec![2e6, 4e6, 9e6];
        let boxes = |values: Vec<f64>| Boxes {
            title: "Throughput".to_owned(),
            note: String::new(),
            panels: vec![BoxPanel {
                quantity: Quantity::THROUGHPUT,
                samples: vec![
                    ("bbr".to_owned(), three.clone()),
                    ("cubic".to_owned(), values),
                ],
            }],
        };
        for (values, has_box) in [(vec![1e6], false), (vec![1e6, 2e6, 5e6, 6e6], true)] {
            let canvas = boxes(values).draw(Style::default()).unwrap();
            let boxed = |name: &str| {
                let of_variant = variant(name).colour;
                let is_box = |shape: &Shape| matches!(shape, Shape::Rect { colour, .. } if *colour == of_variant);
                canvas.shapes.iter().any(is_box)
            };
            assert!(!boxed("bbr"));
            assert_eq!(boxed("cubic"), has_box);
            let texts = texts(&canvas).join(" ");
            assert!(texts.contains("fewer than 4 values"), "{texts}");
            assert_eq!(texts.contains("quartiles"), has_box, "{texts}");
            assert_eq!(texts.contains("mean"), has_box, "{texts}");
        }
    }
}
