//! Spider plots: several quantities of each variant as a polygon, on three or more axes.

use std::f64::consts::TAU;

use super::axis::Quantity;
use super::canvas::{Align, Canvas, Point, Stroke};
use super::font::text_width;
use super::frame::{AXIS_TITLE, HALF_DIGIT, LABEL, MARGIN, SUBTITLE, Swatch, header};
use super::grouped_bars::n_words;
use super::label::shorten;
use super::palette::{Colour, variant};
use super::plot::joined;
use super::style::Style;

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

/// From the end of an axis to its name.
const AROUND: f64 = 22.0;

impl Spiders {
    /// The largest value on each axis, over all settings: where the axis ends.
    fn ends(&self) -> Vec<f64> {
        let shapes = || self.panels.iter().flat_map(|(_, shapes)| shapes);
        (0..self.axes.len())
            .map(|axis| {
                let values = shapes().filter_map(|shape| *shape.values.get(axis)?);
                let end = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
                if end > 0.0 { end } else { 1.0 }
            })
            .collect()
    }

    /// The figure; none with fewer than three axes, or without a complete shape.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        let complete = |shape: &SpiderShape| {
            shape.values.len() == self.axes.len()
                && shape
                    .values
                    .iter()
                    .all(|value| value.is_some_and(f64::is_finite))
        };
        let shapes = || {
            let all = self.panels.iter().flat_map(|(_, shapes)| shapes);
            all.filter(|shape| complete(shape))
        };
        if self.axes.len() < 3 || shapes().next().is_none() {
            return None;
        }
        let mut legend: Vec<(Swatch, String)> = Vec::new();
        for shape in shapes() {
            let entry = (Swatch::Line(variant(&shape.name)), shape.name.clone());
            if !legend.contains(&entry) {
                legend.push(entry);
            }
        }
        let mut canvas = Canvas::new(style, style.size.height());
        let notes = [
            self.note.clone(),
            n_words(shapes().map(|shape| shape.n)),
            "all axes begin with 0 in the middle".to_owned(),
        ];
        let top = header(&mut canvas, &self.title, &joined(&notes), &legend);
        let ends = self.ends();
        let names = self.axes.iter().map(|quantity| quantity.name.to_owned());
        let numbers = self.axes.iter().zip(&ends);
        let numbers = numbers.map(|(quantity, &end)| quantity.format(end));
        let widest = names
            .chain(numbers)
            .map(|text| text_width(&text, LABEL))
            .fold(0.0, f64::max)
            .min(0.2 * canvas.width);
        // The ends of the axes stand around the web, each within its own panel; the more axes, the
        // closer are their names.
        let angle = |axis: usize| TAU * axis as f64 / self.axes.len() as f64;
        let across = |axis: usize| angle(axis).sin().abs();
        let across = (0..self.axes.len()).map(across).fold(0.0, f64::max);
        let beside = |radius: f64| across * (radius + AROUND) + widest + 8.0;
        let radius_min = if self.axes.len() > 4 { 150.0 } else { 100.0 };
        let in_row = (canvas.width - 2.0 * MARGIN) / (2.0 * beside(radius_min));
        let columns = self.panels.len().clamp(1, (in_row as usize).max(1));
        let rows = self.panels.len().div_ceil(columns);
        let columns = self.panels.len().div_ceil(rows);
        let pitch = (canvas.width - 2.0 * MARGIN) / columns as f64;
        let radius = ((pitch / 2.0 - beside(0.0)) / across)
            .min(0.34 * style.size.height())
            .max(radius_min.min(pitch * 0.28));
        let down = |axis: usize| -angle(axis).cos();
        let lowest = (0..self.axes.len()).map(down).fold(0.0, f64::max);
        let row_height = (1.0 + lowest) * radius + 190.0;
        for (index, (name, shapes)) in self.panels.iter().enumerate() {
            let left = MARGIN + (index % columns) as f64 * pitch;
            let row_top = top + (index / columns) as f64 * row_height;
            let name = shorten(name, AXIS_TITLE, pitch - 20.0);
            let middle = (left + pitch / 2.0, row_top + 115.0 + radius);
            canvas.text((middle.0, row_top + 28.0), &name, AXIS_TITLE, Align::Centre);
            let web = Web {
                middle,
                radius,
                ends: self.ends(),
            };
            self.draw_web(&mut canvas, &web, (left, left + pitch));
            if !shapes.iter().any(complete) {
                canvas.text(middle, "no values", SUBTITLE, Align::Centre);
            }
            for shape in shapes.iter().filter(|shape| complete(shape)) {
                web.draw_shape(&mut canvas, shape);
            }
        }
        canvas.height = (top + rows as f64 * row_height + 10.0).ceil();
        Some(canvas)
    }

    fn draw_web(&self, canvas: &mut Canvas, web: &Web, (left, right): (f64, f64)) {
        let axes = self.axes.len();
        for ring in 1..=4 {
            let share = f64::from(ring) / 4.0;
            let mut points: Vec<Point> = (0..axes).map(|axis| web.at(axis, share)).collect();
            points.extend(points.first().copied());
            canvas.line(&points, Stroke::solid(Colour::GRID, 1.5));
        }
        for (axis, quantity) in self.axes.iter().enumerate() {
            let tip = web.at(axis, 1.0);
            canvas.line(&[web.middle, tip], Stroke::solid(Colour::GREY, 1.5));
            let (x, y) = web.at(axis, 1.0 + AROUND / web.radius);
            let across = (x - web.middle.0) / web.radius;
            let align = if across.abs() < 0.2 {
                Align::Centre
            } else if across > 0.0 {
                Align::Left
            } else {
                Align::Right
            };
            let room = match align {
                Align::Left => right - x - 4.0,
                Align::Right => x - left - 4.0,
                Align::Centre => right - left,
            };
            let end = quantity.format(web.ends[axis]);
            let name = shorten(quantity.name, LABEL, room.max(text_width(&end, LABEL)));
            // Two lines: above the top, below the bottom, beside the others.
            let first = if y < web.middle.1 - 0.8 * web.radius {
                y - 24.0
            } else if y > web.middle.1 + 0.8 * web.radius {
                y + 14.0
            } else {
                y - 10.0
            };
            let baseline = first + HALF_DIGIT * LABEL.px;
            canvas.text((x, baseline), &name, LABEL, align);
            canvas.text((x, baseline + 27.0), &end, LABEL, align);
        }
    }
}

/// Where one plot is.
struct Web {
    middle: Point,
    radius: f64,
    ends: Vec<f64>,
}

impl Web {
    /// A place on an axis, from 0 in the middle to 1 at its end; the first axis points up.
    fn at(&self, axis: usize, share: f64) -> Point {
        let angle = TAU * axis as f64 / self.ends.len() as f64;
        (
            self.middle.0 + share * self.radius * angle.sin(),
            self.middle.1 - share * self.radius * angle.cos(),
        )
    }

    fn draw_shape(&self, canvas: &mut Canvas, shape: &SpiderShape) {
        let style = variant(&shape.name);
        let mut points: Vec<Point> = shape
            .values
            .iter()
            .flatten()
            .zip(&self.ends)
            .enumerate()
            .map(|(axis, (value, end))| self.at(axis, (value / end).clamp(0.0, 1.0)))
            .collect();
        canvas.area(points.clone(), style.colour, 0.08);
        for &point in &points {
            canvas.marker(point, 6.5, style.marker, style.colour);
        }
        points.extend(points.first().copied());
        canvas.line(&points, Stroke::solid(style.colour, 3.0));
    }
}
