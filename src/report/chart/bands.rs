//! Lines over a condition, with bands of what can be trusted: goodput against loss or delay.

use super::axis::{Axis, Quantity};
use super::canvas::{Canvas, Stroke};
use super::frame::{Panel, Swatch, header};
use super::grouped_bars::{Estimate, n_words};
use super::palette::{Colour, variant};
use super::plot::{joined, marked, outline};
use super::style::Style;
use super::thin;

/// Lines, each of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct BandLines {
    /// What it is about, and under which condition.
    pub title: String,
    /// What the bands are (`95 % confidence interval of the mean`), and what else is to be said.
    pub note: String,
    /// What changes from left to right: its units.
    pub x: Quantity,
    /// What it is called.
    pub x_name: String,
    /// What is measured.
    pub y: Quantity,
    /// Names of variants and their points: the condition in the base unit, and what was measured.
    pub lines: Vec<(String, Vec<(f64, Estimate)>)>,
}

impl BandLines {
    fn points(&self) -> impl Iterator<Item = &(f64, Estimate)> {
        self.lines.iter().flat_map(|(_, points)| points)
    }

    /// The figure; none without points.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        let ends = |of: &Estimate| of.interval.unwrap_or((of.value, of.value));
        let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min);
        let most = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
        let low = least(&mut self.points().map(|(_, of)| ends(of).0.min(of.value)))?;
        let high = most(&mut self.points().map(|(_, of)| ends(of).1.max(of.value)))?;
        let start = least(&mut self.points().map(|&(x, _)| x))?;
        let end = most(&mut self.points().map(|&(x, _)| x))?;
        let x = Axis::tight(self.x, start, end, style.size.ticks_across(1.0));
        let x = Axis {
            title: x.title.replacen(self.x.name, &self.x_name, 1),
            ..x
        };
        let y = Axis::linear(self.y, low.min(0.0), high, 7);
        let mut legend: Vec<(Swatch, String)> = self
            .lines
            .iter()
            .map(|(name, _)| (Swatch::Line(variant(name)), name.clone()))
            .collect();
        if self.points().any(|(_, of)| of.interval.is_some()) {
            legend.push((Swatch::Band(Colour::INK), "interval".to_owned()));
        }
        let mut canvas = Canvas::new(style, style.size.height());
        let notes = [
            self.note.clone(),
            n_words(self.points().map(|(_, of)| of.n)),
        ];
        let top = header(&mut canvas, &self.title, &joined(&notes), &legend);
        let height = style.size.height();
        canvas.height = height.max((top + 0.55 * height).ceil());
        let panel = Panel::between(&canvas, top, canvas.height - 16.0, x, y);
        panel.draw_back(&mut canvas);
        let lines: Vec<(&str, Vec<(f64, Estimate)>)> = self
            .lines
            .iter()
            .map(|(name, points)| {
                let mut points = points.clone();
                points.sort_by(|one, two| one.0.total_cmp(&two.0));
                (name.as_str(), points)
            })
            .collect();
        for (name, points) in &lines {
            let slices = thin::band(points.iter().filter_map(|&(x, of)| {
                let (low, high) = of.interval?;
                let ((x, low), (_, high)) = (panel.at(x, low), panel.at(x, high));
                Some((x, low, high))
            }));
            if slices.len() > 1 {
                canvas.area(outline(&slices), variant(name).colour, 0.18);
            }
        }
        for (rank, (name, points)) in lines.iter().enumerate().rev() {
            let style = variant(name);
            let at: Vec<(f64, f64)> = points
                .iter()
                .map(|&(x, of)| panel.at(x, of.value))
                .collect();
            canvas.line(
                &thin::line(at.iter().copied()),
                Stroke::solid(style.colour, 3.0),
            );
            // Every point was measured; of more than can be told apart, some are marked.
            let marks = if at.len() <= 60 {
                at
            } else {
                marked(&at, rank, lines.len())
            };
            for point in marks {
                canvas.marker(point, 7.0, style.marker, style.colour);
            }
        }
        Some(canvas)
    }
}
