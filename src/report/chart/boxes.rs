//! Boxes and whiskers of some quantities beside each other, such as throughput and ping.

use std::collections::BTreeSet;

use crate::metric::stats::{BoxPlot, mean};

use super::axis::{Axis, Quantity, SPREAD, Scale};
use super::canvas::{Align, Canvas, Stroke};
use super::counts::n_words;
use super::fit::wrap;
use super::font::text_width;
use super::frame::{Panel, ROOM_MIN, header};
use super::interval::{FEW, beside_others, half_whisker};
use super::label::joined;
use super::legend::Swatch;
use super::letters::LABEL;
use super::looks::Looks;
use super::names_below::{below, draw_name};
use super::palette::{Colour, LineStyle, Marker};
use super::style::Style;
use super::tiles::{RowHeights, Tiles, columns_max};

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

/// Lines of a name below its box, and the room between two names.
const NAME_LINES: usize = 5;
const NAME_GAP: f64 = 8.0;

/// Width of a box with the space around it, at least, with a short name and a long one; and of the
/// labels of vertical axes.
const BOX_MIN: f64 = 66.0;
const NAMED_MIN: f64 = 124.0;
const LABELS: f64 = 92.0;

/// So many names are explained in a legend rather than cut.
const NUMBERED_MAX: usize = 12;

/// Values that a box is drawn of; fewer have no quartiles to speak of, and are drawn themselves.
pub(super) const VALUES_MIN: usize = FEW + 1;

/// The part of an axis that is left above the largest value, where it ends behind its last tick.
const ABOVE: f64 = 0.04;

/// Of the dots of a few values.
const DOT: f64 = 6.0;

/// The line of a median, the paper on either side of it, and boxes so low that both would hide them.
const MEDIAN: f64 = 3.0;
const MEDIAN_RIM: f64 = 1.5;
const FLAT: f64 = 4.0 * MEDIAN;

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
        let names = self.names(&canvas, &panels);
        let legend = names.legend(looks, has_boxes);
        let top = header(&mut canvas, &self.title, &joined(&notes), &legend);
        let (columns, in_row) = grid(&canvas, &panels, &names);
        let rows = self.rows(&panels, in_row);
        let tiles = Tiles::new(&canvas, top, rows.len(), columns, LABELS);
        let below = rows.iter().map(|row| {
            let shown: Vec<String> = row.samples.iter().map(|(of, _)| names.shown(of)).collect();
            let shown = shown.iter().map(String::as_str);
            below(shown, tiles.width() / row.boxes() - NAME_GAP, NAME_LINES)
        });
        let below = below.fold(0.0, f64::max);
        let heights = RowHeights {
            alone: 0.4 * style.size.height(),
            each: 0.36 * style.size.height(),
            least: ROOM_MIN,
        };
        let tiles = tiles.above_names(style, rows.len(), below, heights);
        for (index, row) in rows.iter().enumerate() {
            draw_row(&mut canvas, &tiles, (index, row), &names, looks);
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

impl Boxes {
    /// What is written below the boxes: names; where these would be cut, numbers, unless there are so many that the
    /// legend would take the room of the boxes, and cut names tell them apart, too.
    fn names<'p>(&self, canvas: &Canvas, panels: &'p [Vec<(&'p str, Vec<f64>)>]) -> Names<'p> {
        let whole = Names::default();
        let (columns, in_row) = grid(canvas, panels, &whole);
        let rows = self.rows(panels, in_row);
        let width = Tiles::new(canvas, 0.0, rows.len(), columns, LABELS).width();
        let mut numbered: Vec<&str> = Vec::new();
        for (name, _) in panels.iter().flatten() {
            if !numbered.contains(name) {
                numbered.push(name);
            }
        }
        let is_few = numbered.len() <= NUMBERED_MAX;
        let suffice = |row: &Row<'_>| {
            let room = width / row.boxes() - NAME_GAP;
            let names: BTreeSet<&str> = row.samples.iter().map(|(name, _)| *name).collect();
            let shown = names.iter().map(|name| wrap(name, LABEL, room, NAME_LINES));
            let shown: BTreeSet<Vec<String>> = shown.collect();
            let is_cut = shown.iter().flatten().any(|line| line.contains('…'));
            shown.len() == names.len() && !(is_cut && is_few)
        };
        if rows.iter().all(suffice) {
            whole
        } else {
            Names { numbered }
        }
    }
}

/// How boxes are named below them.
#[derive(Default)]
struct Names<'n> {
    /// Names that have a number, from 1 on, and stand in the legend.
    numbered: Vec<&'n str>,
}

impl Names<'_> {
    fn shown(&self, name: &str) -> String {
        let place = self.numbered.iter().position(|of| *of == name);
        place.map_or_else(|| name.to_owned(), |place| (place + 1).to_string())
    }

    /// The names that have a number, and what the mean of a box looks like.
    fn legend(&self, looks: &Looks, has_boxes: bool) -> Vec<(Swatch, String)> {
        let numbered = self.numbered.iter().enumerate().map(|(place, name)| {
            let swatch = Swatch::Filled(looks.style(name));
            (swatch, format!("{}: {name}", place + 1))
        });
        let mean = Swatch::Mark(Marker::Diamond, Colour::INK);
        let mean = has_boxes.then(|| (mean, "mean".to_owned()));
        numbered.chain(mean).collect()
    }
}

/// Panels beside each other, and boxes in each: so many that those of a quantity stand in one panel,
/// or, where these are too many for any, some in each.
fn grid(canvas: &Canvas, panels: &[Vec<(&str, Vec<f64>)>], names: &Names<'_>) -> (usize, usize) {
    let most = panels.iter().map(Vec::len).max().unwrap_or(1);
    let columns_max = match (most, panels.len()) {
        (..=5, 3) => columns_max(canvas.style, 3),
        (..=8, _) => columns_max(canvas.style, 2),
        _ => 1,
    };
    let shown = panels.iter().flatten().map(|(name, _)| names.shown(name));
    let widest = shown.map(|name| text_width(&name, LABEL) + 14.0);
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

impl Row<'_> {
    /// How many there are, to divide a width by.
    fn boxes(&self) -> f64 {
        self.samples.len().max(1) as f64
    }
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
    // From 0, as panels beside each other and charts of other settings are compared: what is alike looks alike.
    if quantity.is_delay() && min > 0.0 && max / min > SPREAD {
        Axis::for_delays(quantity, min, max, 6)
    } else {
        let mut axis = Axis::linear(quantity, min.min(0.0), max, 6);
        let ends_on_tick = axis.ticks.last().is_none_or(|&(last, _)| last >= axis.max);
        if !ends_on_tick {
            // A dot on the rim would lie on what is written above it.
            axis.max += ABOVE * (axis.max - axis.min);
        }
        axis
    }
}

fn draw_row(
    canvas: &mut Canvas,
    tiles: &Tiles,
    (index, row): (usize, &Row<'_>),
    names: &Names<'_>,
    looks: &Looks,
) {
    let samples = row.samples;
    let mut x = Axis::tight(Quantity::FNESS, 0.0, row.boxes(), 1);
    x.ticks.clear();
    let panel = tiles.panel(index, x, row.y.clone());
    panel.draw_back_above(canvas);
    let pitch = (panel.right - panel.left) / row.boxes();
    for (place, (name, values)) in samples.iter().enumerate() {
        let middle = panel.left + (place as f64 + 0.5) * pitch;
        let at = (middle, panel.bottom);
        draw_name(canvas, &names.shown(name), at, pitch - NAME_GAP, NAME_LINES);
        draw_box(canvas, &panel, (middle, pitch), looks.style(name), values);
    }
}

fn draw_box(
    canvas: &mut Canvas,
    panel: &Panel,
    (middle, pitch): (f64, f64),
    style: LineStyle,
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
        let step = (pitch * 0.22).min(2.0 * DOT + 1.0);
        for (place, &value) in values.iter().enumerate() {
            let x = middle + beside_others(place, values.len(), step);
            canvas.marker((x, height(value)), DOT, Marker::Disc, style.colour);
        }
        return;
    }
    let half = (pitch * 0.3).min(46.0);
    for &value in stats.outliers.iter().take(OUTLIERS_MAX) {
        canvas.marker((middle, height(value)), 3.5, Marker::Disc, style.colour);
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
    canvas.bar((middle - half, high), (middle + half, low), style);
    let median = height(stats.median);
    let is_flat = low - high < FLAT;
    // Of a flat box the colour is seen at either end.
    let across = if is_flat { half / 2.0 } else { half };
    let line = [(middle - across, median), (middle + across, median)];
    if !is_flat {
        let rim = Stroke::solid(Colour::Paper, MEDIAN + 2.0 * MEDIAN_RIM);
        canvas.line(&line, rim);
    }
    canvas.line(&line, Stroke::solid(Colour::INK, MEDIAN));
    canvas.marker((middle, height(mean)), 8.0, Marker::Diamond, Colour::Paper);
    canvas.marker((middle, height(mean)), 6.0, Marker::Diamond, Colour::INK);
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::super::palette::variant;
    use super::super::style::Size;
    use super::super::tests::{assert_legible, texts};
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

    fn of_one(quantity: Quantity, values: Vec<f64>) -> Canvas {
        let boxes = Boxes {
            title: String::new(),
            note: String::new(),
            panels: vec![BoxPanel {
                quantity,
                samples: vec![("bbr".to_owned(), values)],
            }],
        };
        boxes.draw(Style::default()).unwrap()
    }

    #[test]
    fn values_that_are_alike_stand_beside_each_other() {
        let canvas = of_one(Quantity::COMPLETION, vec![3.999, 4.0, 4.001]);
        let dots = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Marker { at, radius, .. } => Some((at.0, *radius)),
            _ => None,
        });
        let dots: Vec<(f64, f64)> = dots.collect();
        assert_eq!(dots.len(), 3);
        for pair in dots.windows(2) {
            assert!(pair[1].0 - pair[0].0 > 2.0 * pair[0].1, "{dots:?}");
        }
    }

    #[test]
    fn a_flat_box_has_its_colour_on_either_side_of_its_median() {
        let colour = variant("bbr").colour;
        for apart in [0.0, 5e4, 2e5] {
            let values = (0..6).map(|of| 18e6 + apart * f64::from(of)).collect();
            let canvas = of_one(Quantity::GOODPUT, values);
            let (from, to) = canvas
                .shapes
                .iter()
                .find_map(|shape| match shape {
                    Shape::Rect {
                        from,
                        to,
                        colour: of,
                    } if *of == colour => Some((*from, *to)),
                    _ => None,
                })
                .unwrap();
            assert!(to.1 - from.1 >= 3.0);
            let across = canvas.shapes.iter().filter_map(|shape| match shape {
                Shape::Line { points, stroke }
                    if from.1 < points[0].1 && points[0].1 < to.1 && points[0].0 >= from.0 =>
                {
                    Some((points[1].0 - points[0].0, stroke.width))
                }
                _ => None,
            });
            for (length, width) in across {
                let hides = width + 6.0 > to.1 - from.1;
                assert!(
                    !hides || length < 0.6 * (to.0 - from.0),
                    "{apart}: {length} {width}"
                );
            }
        }
    }

    #[test]
    fn delays_begin_at_0_however_close_they_are() {
        for close in [
            (25e-3, 31e-3),
            (60e-3, 75e-3),
            (20e-3, 90e-3),
            (20e-3, 20.1e-3),
        ] {
            let axis = y_axis(Quantity::RTT, &[("bbr", vec![close.0, close.1])]);
            assert!(axis.min.abs() < 1e-12, "{close:?} {axis:?}");
        }
        // Unless some would be nothing beside others.
        let axis = y_axis(Quantity::RTT, &[("bbr", vec![1e-3, 0.1])]);
        assert_eq!(axis.scale, Scale::Log);
    }

    #[test]
    fn no_dot_lies_on_the_rim_where_the_axis_ends_behind_its_last_tick() {
        let axis = |most: f64| y_axis(Quantity::COMPLETION, &[("bbr", vec![most])]);
        assert!(axis(12.1).share(12.1) < 0.97, "{:?}", axis(12.1));
        assert!((axis(12.1).ticks.last().unwrap().0 - 12.0).abs() < 1e-9);
        assert!((axis(12.0).max - 12.0).abs() < 1e-9, "{:?}", axis(12.0));
    }

    #[test]
    fn boxes_whose_names_would_be_cut_have_numbers_that_the_legend_explains() {
        let shown = |names: &[&str]| {
            let values = vec![10e6, 20e6, 50e6, 60e6];
            let samples = names
                .iter()
                .map(|name| ((*name).to_owned(), values.clone()));
            let samples: Vec<_> = samples.collect();
            let boxes = Boxes {
                title: "Goodput".to_owned(),
                note: String::new(),
                panels: [Quantity::GOODPUT, Quantity::THROUGHPUT]
                    .map(|quantity| BoxPanel {
                        quantity,
                        samples: samples.clone(),
                    })
                    .to_vec(),
            };
            let style = Style {
                size: Size::OneColumn,
                ..Style::default()
            };
            let canvas = boxes.draw(style).unwrap();
            assert_legible(&canvas);
            let texts = texts(&canvas).into_iter();
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        // Five lines hold neither of the long names, nor what tells them apart, which is in their middle.
        let long = [
            "2.773-and-a-gain-of-the-window-of-2.00",
            "2.773-and-a-gain-of-the-window-of-2.25",
        ];
        let [one, two] = long.map(|name| {
            format!("bbr3-of-the-third-draft-with-pacing-and-with-a-gain-at-the-start-of-{name}-and-a-threshold-of-loss-of-0.02-ecn")
        });
        let texts = shown(&[&one, &two, "cubic"]);
        let times = |text: &str| texts.iter().filter(|of| *of == text).count();
        assert_eq!(["1", "2", "3"].map(times), [2; 3], "{texts:?}");
        for words in ["1: bbr3", "2: bbr3"] {
            assert!(
                texts.iter().any(|text| text.starts_with(words)),
                "{texts:?}"
            );
        }
        assert_eq!(times("3: cubic"), 1, "{texts:?}");
        // Names that have room stand below their boxes, and nowhere else.
        let texts = shown(&["bbr3", "bbr", "cubic"]);
        let times = |text: &str| texts.iter().filter(|of| *of == text).count();
        assert_eq!(["bbr3", "bbr", "cubic"].map(times), [2; 3], "{texts:?}");
        // One that would be cut, though nothing is like it, is whole in the legend, but of many that would be too long.
        let is_numbered = |names: &[&str]| shown(names).iter().any(|text| text.starts_with("1: "));
        assert!(is_numbered(&[&one, "bbr", "cubic"]));
        let many: Vec<String> = (0..=NUMBERED_MAX).map(|of| format!("{of}-{one}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(is_numbered(&many[1..]) && !is_numbered(&many));
        // Those that would read the same have numbers however many they are.
        let alike = (0..=NUMBERED_MAX).map(|of| one.replace("2.773", &of.to_string()));
        let alike: Vec<String> = alike.collect();
        let alike: Vec<&str> = alike.iter().map(String::as_str).collect();
        assert!(is_numbered(&alike));
    }
}
