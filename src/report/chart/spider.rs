//! Spider plots: several quantities of each variant as a polygon, on three or more axes.

use std::f64::consts::TAU;

use super::axis::Quantity;
use super::canvas::{Align, Canvas, Point, Stroke};
use super::counts::n_words;
use super::fit::wrap;
use super::font::text_width;
use super::frame::header;
use super::label::joined;
use super::legend::Swatch;
use super::letters::{AXIS_TITLE, HALF_DIGIT, LABEL, MARGIN, SUBTITLE};
use super::looks::Looks;
use super::palette::{Colour, LineStyle};
use super::style::{Size, Style};

/// One variant in one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct SpiderShape {
    /// The variant.
    pub name: String,
    /// A value for each axis, in the base unit; where one is missing, there is no polygon.
    pub values: Vec<Option<f64>>,
    /// Values that each is the mean of.
    pub n: u64,
}

/// Spider plots of some settings beside each other, on the same axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Spiders {
    /// What it is about.
    pub title: String,
    /// What the values are.
    pub note: String,
    /// The axes, clockwise from the top: at least three.
    pub axes: Vec<Quantity>,
    /// Names of the settings, and the variants in each.
    pub panels: Vec<(String, Vec<SpiderShape>)>,
}

/// From the end of an axis to its name, and beyond which a marker at its end reaches.
const AROUND: f64 = 12.0;

/// From a name to the side of its panel.
const SIDE: f64 = 6.0;

/// An axis that points up or down by more than this has its name above or below its end.
const STEEP: f64 = 0.35;

/// Two lines of text at the end of an axis, and the name of a setting above.
const TEXT: f64 = 27.0;
const END: f64 = AROUND + 2.0 * TEXT;
const NAME: f64 = 44.0;
/// Each further line of it.
const NAME_LINE: f64 = 28.0;

/// On paper a figure may be higher than others by this much, but no web larger than this share of
/// their height.
const PAPER: f64 = 1.4;
const LARGE: f64 = 0.34;

/// A web with a smaller radius cannot be read; of many axes even less.
const RADIUS_MIN: f64 = 100.0;
const RADIUS_MIN_MANY: f64 = 150.0;

impl Spiders {
    /// The largest value on each axis, over all settings: where the axis ends.
    fn ends(&self) -> Vec<f64> {
        let shapes = || self.panels.iter().flat_map(|(_, shapes)| shapes);
        (0..self.axes.len())
            .map(|axis| {
                let values = shapes().filter_map(|shape| *shape.values.get(axis)?);
                values.filter(|value| value.is_finite()).fold(0.0, f64::max)
            })
            .collect()
    }

    fn complete(&self, shape: &SpiderShape) -> bool {
        let mut values = shape.values.iter();
        shape.values.len() == self.axes.len()
            && values.all(|value| value.is_some_and(f64::is_finite))
    }

    /// The figure; none with fewer than three axes, or without a complete shape.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        let shapes = self.panels.iter().flat_map(|(_, shapes)| shapes);
        self.draw_as(style, &Looks::of(shapes.map(|shape| shape.name.as_str())))
    }

    /// The figure, drawn with `looks` so that variants match other figures; none with fewer than three axes, or
    /// without a complete shape.
    #[must_use]
    pub fn draw_as(&self, style: Style, looks: &Looks) -> Option<Canvas> {
        let shapes = || {
            let all = self.panels.iter().flat_map(|(_, shapes)| shapes);
            all.filter(|shape| self.complete(shape))
        };
        if self.axes.len() < 3 || shapes().next().is_none() {
            return None;
        }
        let mut canvas = Canvas::new(style, style.size.height());
        let notes = [
            self.note.clone(),
            n_words(shapes().map(|shape| shape.n)),
            "all axes begin with 0 in the middle".to_owned(),
        ];
        let top = header(
            &mut canvas,
            &self.title,
            &joined(&notes),
            &legend(shapes(), looks),
        );
        let rims = self.rims();
        let room = (canvas.width - 2.0 * MARGIN, canvas.height - top - 10.0);
        let layout = |height: f64| match style.size {
            Size::Slide => Layout::new(&rims, self.panels.len(), (room.0, height)),
            _ => Layout::new(&rims, self.panels.len(), (room.0, PAPER * height))
                .at_most(LARGE * style.size.height()),
        };
        let further = self.further_lines(room.0 / layout(room.1).columns as f64);
        let rows = |of: &Layout| self.panels.len().div_ceil(of.columns) as f64;
        let layout = layout(room.1 - further * rows(&layout(room.1)));
        let pitch = room.0 / layout.columns as f64;
        let further = self.further_lines(pitch);
        let rows = rows(&layout);
        let needed = layout.row_height(&rims) + further;
        // A slide keeps its shape, with the webs spread over it; on paper height costs.
        let row_height = match style.size {
            Size::Slide => needed.max(room.1 / rows),
            _ => needed,
        };
        for (index, (name, shapes)) in self.panels.iter().enumerate() {
            let left = MARGIN + (index % layout.columns) as f64 * pitch;
            let row_top =
                top + (index / layout.columns) as f64 * row_height + (row_height - needed) / 2.0;
            let above = layout.radius * reach(&rims, |rim| -rim.down) + NAME + further + END;
            let web = Web {
                middle: (left + pitch / 2.0, row_top + above),
                radius: layout.radius,
                rims: &rims,
            };
            // The last line of each is above its web.
            let lines = named(name, pitch);
            for (line, name) in lines.iter().rev().enumerate() {
                let baseline = row_top + 28.0 + further - line as f64 * NAME_LINE;
                canvas.text((web.middle.0, baseline), name, AXIS_TITLE, Align::Centre);
            }
            web.draw(&mut canvas, (left, left + pitch));
            self.draw_shapes(&mut canvas, &web, shapes, looks);
        }
        canvas.height = (top + rows * row_height + 10.0).ceil();
        Some(canvas)
    }

    /// Draws the complete ones of some shapes.
    fn draw_shapes(
        &self,
        canvas: &mut Canvas,
        web: &Web<'_>,
        shapes: &[SpiderShape],
        looks: &Looks,
    ) {
        if !shapes.iter().any(|shape| self.complete(shape)) {
            canvas.text(web.middle, "no values", SUBTITLE, Align::Centre);
        }
        for shape in shapes.iter().filter(|shape| self.complete(shape)) {
            web.draw_shape(canvas, shape, looks.style(&shape.name));
        }
    }

    /// Height of what names take beyond a line, in columns of this width.
    fn further_lines(&self, pitch: f64) -> f64 {
        let lines = self.panels.iter().map(|(name, _)| named(name, pitch).len());
        lines.max().unwrap_or(1).saturating_sub(1) as f64 * NAME_LINE
    }

    fn rims(&self) -> Vec<Rim> {
        self.axes
            .iter()
            .zip(self.ends())
            .enumerate()
            .map(|(axis, (quantity, end))| Rim::new(axis, self.axes.len(), *quantity, end))
            .collect()
    }
}

/// A panel's name in a column of this width: two lines rather than a part of it.
fn named(name: &str, pitch: f64) -> Vec<String> {
    wrap(name, AXIS_TITLE, pitch - 20.0, 2)
}

/// Each variant once, in the order of other figures.
fn legend<'s>(
    shapes: impl Iterator<Item = &'s SpiderShape>,
    looks: &Looks,
) -> Vec<(Swatch, String)> {
    let mut legend: Vec<(Swatch, String)> = Vec::new();
    for shape in shapes {
        let entry = (Swatch::Line(looks.style(&shape.name)), shape.name.clone());
        if !legend.contains(&entry) {
            legend.push(entry);
        }
    }
    legend.sort_by_key(|(_, name)| looks.place(name));
    legend
}

/// An axis: where it points, where it ends, and what stands there.
struct Rim {
    /// To the right and down, of a length of 1.
    right: f64,
    down: f64,
    /// The largest value, in the base unit.
    end: f64,
    /// Its name and the largest value in words.
    texts: [String; 2],
}

impl Rim {
    /// The first axis points up, the others follow clockwise.
    fn new(axis: usize, axes: usize, quantity: Quantity, end: f64) -> Self {
        let angle = TAU * axis as f64 / axes as f64;
        Self {
            right: angle.sin(),
            down: -angle.cos(),
            end,
            texts: [quantity.name.to_owned(), quantity.format(end)],
        }
    }

    /// Where a value is on the axis: at its beginning where all are 0.
    fn share(&self, value: f64) -> f64 {
        if self.end > 0.0 {
            (value / self.end).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    fn width(&self) -> f64 {
        let widths = self.texts.iter().map(|text| text_width(text, LABEL));
        widths.fold(0.0, f64::max)
    }

    /// Whether its name stands above or below its end; beside it otherwise, which takes width.
    fn is_steep(&self) -> bool {
        self.down.abs() > STEEP
    }
}

/// How far the axes reach in one direction, of a length of 1.
fn reach(rims: &[Rim], towards: impl Fn(&Rim) -> f64) -> f64 {
    rims.iter().map(towards).fold(0.0, f64::max)
}

/// How webs share the room below the title.
struct Layout {
    columns: usize,
    radius: f64,
}

impl Layout {
    /// As large as they can be; if that is too small to be read, larger and higher than the room.
    fn new(rims: &[Rim], panels: usize, (width, height): (f64, f64)) -> Self {
        let by_width = |columns: usize| radius_across(rims, width / columns as f64);
        let by_height = |columns: usize| {
            let rows = panels.div_ceil(columns) as f64;
            let down = reach(rims, |rim| rim.down) + reach(rims, |rim| -rim.down);
            (height / rows - NAME - 2.0 * END - AROUND) / down
        };
        let layouts = (1..=panels.max(1)).map(|columns| Self {
            columns,
            radius: by_width(columns).min(by_height(columns)),
        });
        let best = layouts.reduce(|best, next| {
            if next.radius > best.radius {
                next
            } else {
                best
            }
        });
        let radius_min = if rims.len() > 4 {
            RADIUS_MIN_MANY
        } else {
            RADIUS_MIN
        };
        if let Some(best) = best.filter(|best| best.radius >= radius_min) {
            return best;
        }
        let mut columns = (1..=panels.max(1)).rev();
        let columns = columns.find(|&columns| by_width(columns) >= radius_min);
        let columns = columns.unwrap_or(1);
        // Four are two and two rather than three and one.
        let columns = panels.div_ceil(panels.div_ceil(columns).max(1)).max(1);
        Self {
            columns,
            radius: by_width(columns).clamp(0.5 * radius_min, 1.3 * radius_min),
        }
    }

    fn at_most(self, radius: f64) -> Self {
        Self {
            radius: self.radius.min(radius),
            ..self
        }
    }

    fn row_height(&self, rims: &[Rim]) -> f64 {
        let down = reach(rims, |rim| rim.down) + reach(rims, |rim| -rim.down);
        NAME + 2.0 * END + AROUND + self.radius * down
    }
}

/// The largest radius at which axes and their names fit a width; 0 where names do not.
fn radius_across(rims: &[Rim], width: f64) -> f64 {
    let below = rims.iter().filter(|rim| rim.down > STEEP);
    let (names, texts) = below.fold((0, 2.0 * SIDE - AROUND), |(names, texts), rim| {
        (names + 1, texts + rim.width() + AROUND)
    });
    if names > 1 && texts > width {
        return 0.0;
    }
    let across = rims.iter().filter(|rim| rim.right.abs() > 0.2);
    let radius = across.map(|rim| {
        let beside = if rim.is_steep() { 0.0 } else { rim.width() };
        (width / 2.0 - AROUND - beside) / rim.right.abs()
    });
    radius.fold(f64::INFINITY, f64::min).clamp(0.0, width)
}

/// Where one plot is.
struct Web<'a> {
    middle: Point,
    radius: f64,
    rims: &'a [Rim],
}

impl Web<'_> {
    /// A place on an axis, from 0 in the middle to 1 at its end.
    fn at(&self, rim: &Rim, share: f64) -> Point {
        (
            self.middle.0 + share * self.radius * rim.right,
            self.middle.1 + share * self.radius * rim.down,
        )
    }

    fn draw(&self, canvas: &mut Canvas, (left, right): (f64, f64)) {
        for ring in 1..=4 {
            let share = f64::from(ring) / 4.0;
            let mut points: Vec<Point> = self.rims.iter().map(|rim| self.at(rim, share)).collect();
            points.extend(points.first().copied());
            canvas.line(&points, Stroke::solid(Colour::GRID, 1.5));
        }
        for rim in self.rims {
            let (x, y) = self.at(rim, 1.0);
            canvas.line(&[self.middle, (x, y)], Stroke::solid(Colour::GREY, 1.5));
            // Two lines: above or below the end, moved where they would leave the panel, or beside.
            let half = rim.width() / 2.0;
            let (x, align) = if rim.is_steep() {
                let leftmost = left + half + SIDE;
                let rightmost = (right - half - SIDE).max(leftmost);
                (x.clamp(leftmost, rightmost), Align::Centre)
            } else if rim.right > 0.0 {
                (x + AROUND, Align::Left)
            } else {
                (x - AROUND, Align::Right)
            };
            let first = match rim.is_steep() {
                true if rim.down < 0.0 => y - AROUND - TEXT - 2.0,
                true => y + AROUND + 2.0 * HALF_DIGIT * LABEL.px,
                false => y + HALF_DIGIT * LABEL.px - TEXT / 2.0,
            };
            for (line, text) in rim.texts.iter().enumerate() {
                let baseline = first + line as f64 * TEXT;
                canvas.text((x, baseline), text, LABEL, align);
            }
        }
    }

    fn draw_shape(&self, canvas: &mut Canvas, shape: &SpiderShape, style: LineStyle) {
        let values = shape.values.iter().flatten().zip(self.rims);
        let mut points: Vec<Point> = values
            .map(|(value, rim)| self.at(rim, rim.share(*value)))
            .collect();
        canvas.area(points.clone(), style.colour, 0.08);
        for &point in &points {
            canvas.marker(point, 6.5, style.marker, style.colour);
        }
        points.extend(points.first().copied());
        canvas.line(&points, Stroke::solid(style.colour, 3.0));
    }
}
