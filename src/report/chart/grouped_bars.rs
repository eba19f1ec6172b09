//! Bars in groups, with intervals: variant beside variant, for each setting.

use super::axis::{Axis, Quantity, grouped, significant};
use super::canvas::{Align, Canvas, Stroke, Type};
use super::font::text_width;
use super::frame::{LABEL, Swatch, header};
use super::label::wrap;
use super::palette::{Colour, variant};
use super::plot::joined;
use super::style::{Size, Style};
use super::tiles::Tiles;

/// A mean or the like, over `n` values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// In the base unit of its quantity.
    pub value: f64,
    /// How far it can be trusted: lower and upper end.
    pub interval: Option<(f64, f64)>,
    /// Number of values.
    pub n: u64,
}

/// A bar: the name of its variant, and what it shows; `None` where nothing was measured.
pub type Bar = (String, Option<Estimate>);

/// Bars in groups; each variant has its colour.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupedBars {
    /// What it is about, and under which condition.
    pub title: String,
    /// What the intervals are (`95 % confidence interval of the mean`) and what else is to be said.
    pub note: String,
    /// What is measured.
    pub quantity: Quantity,
    /// Names of the groups, and the bars of each.
    pub groups: Vec<(String, Vec<Bar>)>,
}

/// Width of a bar, in units of layout; and where there is room for the number above it. There is
/// unless that takes too many rows.
const BAR_MIN: f64 = 22.0;
const NUMBERED: f64 = 50.0;
const ROWS_MAX: usize = 4;
/// Between two numbers.
const GAP: f64 = 8.0;
const BAR_MAX: f64 = 74.0;

/// Lines of a group's name.
const NAME_LINES: usize = 4;
const LINE: f64 = 28.0;

impl GroupedBars {
    fn estimates(&self) -> impl Iterator<Item = &Estimate> {
        let bars = self.groups.iter().flat_map(|(_, bars)| bars);
        bars.filter_map(|(_, estimate)| estimate.as_ref())
    }

    /// The figure; none without any bar.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        let ends = |of: &Estimate| of.interval.unwrap_or((of.value, of.value));
        let min = self
            .estimates()
            .map(|of| ends(of).0.min(of.value))
            .reduce(f64::min)?;
        let max = self
            .estimates()
            .map(|of| ends(of).1.max(of.value))
            .reduce(f64::max)?;
        // Room for a number above the highest.
        let (low, high) = (min.min(0.0), 1.1 * max.max(0.0));
        let largest = self.estimates().map(|of| of.value.abs());
        let y = Axis::linear_in(self.quantity, largest.fold(0.0, f64::max), low, high, 7);
        let mut canvas = Canvas::new(style, style.size.height());
        let notes = [self.note.clone(), n_words(self.estimates().map(|of| of.n))];
        let top = header(&mut canvas, &self.title, &joined(&notes), &self.legend());
        let bars_most = self.groups.iter().map(|(_, bars)| bars.len()).max()?;
        let labels = y
            .ticks
            .iter()
            .map(|(_, text)| text_width(text, LABEL) + 14.0)
            .fold(0.0, f64::max);
        let width = Tiles::new(&canvas, top, 1, 1, labels).width();
        // A group needs room for its bars, and its name for a word or two.
        let in_row = |bar: f64| {
            let pitch = (bars_most as f64 * bar + 24.0).max(110.0);
            ((width / pitch) as usize).clamp(1, self.groups.len().max(1))
        };
        let roomy = self.groups.len().div_ceil(in_row(NUMBERED)) <= ROWS_MAX;
        let in_row = in_row(if roomy { NUMBERED } else { BAR_MIN });
        let rows = self.groups.len().div_ceil(in_row);
        let in_row = self.groups.len().div_ceil(rows);
        let tiles = Tiles::new(&canvas, top, rows, 1, labels);
        let below = 20.0 + NAME_LINES as f64 * LINE;
        let room = if rows == 1 {
            (style.size.height() - top - 44.0 - below - 16.0).max(0.35 * style.size.height())
        } else {
            0.3 * style.size.height()
        };
        let tiles = tiles.with(room, below);
        let unit = Axis::tight(Quantity::FNESS, 0.0, in_row as f64, 1);
        for (row, groups) in self.groups.chunks(in_row).enumerate() {
            let mut panel = tiles.panel(row, unit.clone(), y.clone());
            panel.x.ticks.clear();
            panel.draw_back_above(&mut canvas);
            let pitch = (panel.right - panel.left) / in_row as f64;
            for (place, (name, bars)) in groups.iter().enumerate() {
                let middle = panel.left + (place as f64 + 0.5) * pitch;
                for (line, text) in wrap(name, LABEL, pitch - 12.0, NAME_LINES)
                    .iter()
                    .enumerate()
                {
                    let baseline = panel.bottom + 32.0 + line as f64 * LINE;
                    canvas.text((middle, baseline), text, LABEL, Align::Centre);
                }
                self.draw_group(&mut canvas, &panel, (middle, pitch), bars, bars_most);
            }
            // The zero line lies above the bars.
            let (_, zero) = panel.at(0.0, 0.0);
            canvas.line(
                &[(panel.left, zero), (panel.right, zero)],
                Stroke::solid(Colour::INK, 2.0),
            );
        }
        canvas.height = tiles.height(rows);
        Some(canvas)
    }

    fn legend(&self) -> Vec<(Swatch, String)> {
        let mut legend: Vec<(Swatch, String)> = Vec::new();
        for (name, _) in self.groups.iter().flat_map(|(_, bars)| bars) {
            let entry = (Swatch::Bar(variant(name).colour), name.clone());
            if !legend.contains(&entry) {
                legend.push(entry);
            }
        }
        legend
    }

    fn draw_group(
        &self,
        canvas: &mut Canvas,
        panel: &super::frame::Panel,
        (middle, pitch): (f64, f64),
        bars: &[Bar],
        bars_most: usize,
    ) {
        let width = ((pitch - 24.0) / bars_most as f64).clamp(4.0, BAR_MAX);
        let left = middle - width * bars.len() as f64 / 2.0;
        let font = self.number_font(width, &panel.y);
        for (place, (name, estimate)) in bars.iter().enumerate() {
            let from = left + place as f64 * width + 2.0;
            let to = from + width - 4.0;
            let centre = f64::midpoint(from, to);
            let (_, zero) = panel.at(0.0, 0.0);
            let Some(estimate) = estimate else {
                canvas.text((centre, zero - 8.0), "–", LABEL, Align::Centre);
                continue;
            };
            let (_, height) = panel.at(0.0, estimate.value);
            // What is too small to be seen is still there.
            let (high, low) = (
                height.min(zero),
                height.max(zero).max(height.min(zero) + 2.0),
            );
            canvas.rect((from, high), (to, low), variant(name).colour);
            let mut tip = high;
            if let Some((interval_low, interval_high)) = estimate.interval {
                let ((_, low), (_, high)) =
                    (panel.at(0.0, interval_low), panel.at(0.0, interval_high));
                whisker(canvas, centre, (low, high), (width * 0.22).min(10.0));
                tip = tip.min(high);
            }
            if let Some(font) = font.filter(|_| tip - 10.0 > panel.top) {
                let number = significant(estimate.value / panel.y.unit);
                canvas.text((centre, tip - 8.0), &number, font, Align::Centre);
            }
        }
    }

    /// The font in which all numbers have room above their bars; none where there is none.
    fn number_font(&self, width: f64, y: &Axis) -> Option<Type> {
        let widest = |font: Type| {
            self.estimates()
                .map(|of| significant(of.value / y.unit))
                .map(|number| text_width(&number, font))
                .fold(0.0, f64::max)
        };
        [LABEL.px, 20.0, 17.0]
            .into_iter()
            .map(|px| Type { px, ..LABEL })
            .find(|&font| widest(font) <= width - GAP)
    }
}

/// A vertical line with a bar at either end.
pub(super) fn whisker(canvas: &mut Canvas, x: f64, (low, high): (f64, f64), half: f64) {
    let ink = Stroke::solid(Colour::INK, 2.0);
    canvas.line(&[(x, low), (x, high)], ink);
    for y in [low, high] {
        canvas.line(&[(x - half, y), (x + half, y)], ink);
    }
}

/// How many values there are, in words: `n = 5`, or `n = 3 to 7`.
pub(super) fn n_words(n: impl Iterator<Item = u64>) -> String {
    let (mut least, mut most) = (u64::MAX, 0);
    for n in n {
        least = least.min(n);
        most = most.max(n);
    }
    match (least, most) {
        (u64::MAX, _) => String::new(),
        (least, most) if least == most => format!("n = {}", grouped(most)),
        (least, most) => format!("n = {} to {}", grouped(least), grouped(most)),
    }
}

/// As many panels beside each other as a size has room for.
pub(super) fn columns_max(style: Style, roomy: usize) -> usize {
    if style.size == Size::OneColumn {
        1.max(roomy / 2)
    } else {
        roomy
    }
}
