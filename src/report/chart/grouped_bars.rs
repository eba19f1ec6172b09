//! Bars in groups, with intervals: variant beside variant, for each setting.

use super::axis::{Axis, Quantity, grouped, number, significant};
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

/// A row whose highest bar is less than this share of the highest of all has a scale of its own.
const SEEN: f64 = 0.15;

/// Lines of a group's name.
const NAME_LINES: usize = 5;
/// Between two names.
const NAME_GAP: f64 = 12.0;
/// So many groups less in a row, at most, for names that are whole.
const FEWER_MAX: usize = 2;
const LINE: f64 = 28.0;

impl GroupedBars {
    fn estimates(&self) -> impl Iterator<Item = &Estimate> {
        let bars = self.groups.iter().flat_map(|(_, bars)| bars);
        bars.filter_map(|(_, estimate)| estimate.as_ref())
    }

    /// From 0 to the highest bar of some groups, with room for a number above it; none without any.
    fn y_axis(&self, groups: &[(String, Vec<Bar>)]) -> Option<Axis> {
        let bars = groups.iter().flat_map(|(_, bars)| bars);
        let estimates: Vec<&Estimate> = bars.filter_map(|(_, bar)| bar.as_ref()).collect();
        let ends = |of: &Estimate| of.interval.unwrap_or((of.value, of.value));
        let lowest = estimates.iter().map(|of| ends(of).0.min(of.value));
        let highest = estimates.iter().map(|of| ends(of).1.max(of.value));
        let low = lowest.reduce(f64::min)?.min(0.0);
        let high = 1.1 * highest.reduce(f64::max)?.max(0.0);
        let largest = estimates.iter().map(|of| of.value.abs());
        let largest = largest.fold(0.0, f64::max);
        Some(Axis::linear_in(self.quantity, largest, low, high, 7))
    }

    /// The axis of each row: the same, unless that leaves nothing to be seen of some.
    fn y_axes(&self, in_row: usize, whole: &Axis) -> Vec<Axis> {
        let rows = self.groups.chunks(in_row);
        let own: Vec<Axis> = rows
            .map(|groups| self.y_axis(groups).unwrap_or_else(|| whole.clone()))
            .collect();
        if own.iter().any(|axis| axis.max < SEEN * whole.max) {
            own
        } else {
            vec![whole.clone(); own.len()]
        }
    }

    /// Groups in a row, of a width: a group needs room for its bars, and its name for a word or two;
    /// a few groups less where a name would be shortened otherwise.
    fn in_row(&self, width: f64, bars_most: usize) -> usize {
        let words = self.groups.iter().flat_map(|(name, _)| name.split(' '));
        let widest = words.map(|word| text_width(word, LABEL) + 14.0);
        let named = widest.fold(0.0, f64::max).clamp(110.0, 160.0);
        let in_row = |bar: f64| {
            let pitch = (bars_most as f64 * bar + 24.0).max(named);
            ((width / pitch) as usize).clamp(1, self.groups.len().max(1))
        };
        let roomy = self.groups.len().div_ceil(in_row(NUMBERED)) <= ROWS_MAX;
        let most = in_row(if roomy { NUMBERED } else { BAR_MIN });
        let are_whole = |in_row: &usize| {
            let room = width / *in_row as f64 - NAME_GAP;
            let mut lines = self
                .groups
                .iter()
                .flat_map(|(name, _)| wrap(name, LABEL, room, NAME_LINES));
            lines.all(|line| !line.contains('…'))
        };
        let fewer = most.saturating_sub(FEWER_MAX).max(1)..=most;
        let in_row = fewer.rev().find(are_whole).unwrap_or(most);
        self.groups
            .len()
            .div_ceil(self.groups.len().div_ceil(in_row))
    }

    /// The figure; none without any bar.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        let whole = self.y_axis(&self.groups)?;
        let bars_most = self.groups.iter().map(|(_, bars)| bars.len()).max()?;
        let labels = whole.ticks.iter();
        let labels = labels.map(|(_, text)| text_width(text, LABEL) + 14.0);
        let labels = labels.fold(0.0, f64::max);
        let mut canvas = Canvas::new(style, style.size.height());
        let width = Tiles::new(&canvas, 0.0, 1, 1, labels).width();
        let in_row = self.in_row(width, bars_most);
        let axes = self.y_axes(in_row, &whole);
        let rows = axes.len();
        let mut notes = vec![self.note.clone(), n_words(self.estimates().map(|of| of.n))];
        if axes.iter().any(|axis| axis.max < whole.max) {
            notes.push("each row has a scale of its own".to_owned());
        }
        let top = header(&mut canvas, &self.title, &joined(&notes), &self.legend());
        let names = self.groups.iter().map(|(name, _)| name.as_str());
        let below = below(names, width / in_row as f64 - NAME_GAP, NAME_LINES);
        let height = style.size.height();
        let room = if rows == 1 {
            (height - top - 44.0 - below - 16.0).max(0.35 * height)
        } else {
            0.3 * height
        };
        let tiles = Tiles::new(&canvas, top, rows, 1, labels).with(room, below);
        let unit = Axis::tight(Quantity::FNESS, 0.0, in_row as f64, 1);
        for (row, (groups, y)) in self.groups.chunks(in_row).zip(axes).enumerate() {
            let mut panel = tiles.panel(row, unit.clone(), y);
            panel.x.ticks.clear();
            panel.draw_back_above(&mut canvas);
            let pitch = (panel.right - panel.left) / in_row as f64;
            for (place, (name, bars)) in groups.iter().enumerate() {
                let middle = panel.left + (place as f64 + 0.5) * pitch;
                let at = (middle, panel.bottom);
                draw_name(&mut canvas, name, at, pitch - NAME_GAP, NAME_LINES);
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
            let (high, low) = seen(height, zero);
            canvas.rect((from, high), (to, low), variant(name).colour);
            let mut tip = high;
            if let Some((interval_low, interval_high)) = estimate.interval {
                let ((_, low), (_, high)) =
                    (panel.at(0.0, interval_low), panel.at(0.0, interval_high));
                whisker(
                    canvas,
                    centre,
                    (low, high),
                    (width * 0.22).min(10.0),
                    Colour::INK,
                );
                tip = tip.min(high);
            }
            if let Some(font) = font.filter(|_| tip - 10.0 > panel.top) {
                let number = number_of(estimate.value, &panel.y);
                canvas.text((centre, tip - 8.0), &number, font, Align::Centre);
            }
        }
    }

    /// The font in which all numbers have room above their bars; none where there is none.
    fn number_font(&self, width: f64, y: &Axis) -> Option<Type> {
        let widest = |font: Type| {
            self.estimates()
                .map(|of| number_of(of.value, y))
                .map(|number| text_width(&number, font))
                .fold(0.0, f64::max)
        };
        [LABEL.px, 20.0, 17.0]
            .into_iter()
            .map(|px| Type { px, ..LABEL })
            .find(|&font| widest(font) <= width - GAP)
    }
}

/// The number above a bar: three digits, but no finer than can be seen beside the highest.
fn number_of(value: f64, y: &Axis) -> String {
    let (value, max) = (value / y.unit, y.max.max(y.min.abs()) / y.unit);
    let finest = (4.0 - max.log10().ceil()).clamp(0.0, 4.0) as usize;
    let text = significant(value);
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    if digits <= finest {
        return text;
    }
    let step = 10_f64.powi(-i32::try_from(finest).unwrap_or(0));
    if value > 0.0 && value < step / 2.0 {
        return format!("<{}", number(step, finest));
    }
    number(value, finest)
}

/// Upper and lower end of a bar from `zero` to `height`: what is too small to be seen is still
/// there, on its side of the line; what is 0 is not.
fn seen(height: f64, zero: f64) -> (f64, f64) {
    const LEAST: f64 = 3.0;
    if height < zero {
        (height.min(zero - LEAST), zero)
    } else if height > zero {
        (zero, height.max(zero + LEAST))
    } else {
        (zero, zero)
    }
}

/// A vertical line with a bar at either end.
pub(super) fn whisker(
    canvas: &mut Canvas,
    x: f64,
    (low, high): (f64, f64),
    half: f64,
    colour: Colour,
) {
    half_whisker(canvas, x, (low, high), half, colour);
    half_whisker(canvas, x, (high, low), half, colour);
}

/// A vertical line with a bar at the end that it leads to.
pub(super) fn half_whisker(
    canvas: &mut Canvas,
    x: f64,
    (from, to): (f64, f64),
    half: f64,
    colour: Colour,
) {
    let stroke = Stroke::solid(colour, 2.0);
    canvas.line(&[(x, from), (x, to)], stroke);
    canvas.line(&[(x - half, to), (x + half, to)], stroke);
}

/// Draws a name in lines below the data.
pub(super) fn draw_name(canvas: &mut Canvas, name: &str, at: (f64, f64), width: f64, lines: usize) {
    for (line, text) in wrap(name, LABEL, width, lines).iter().enumerate() {
        let baseline = at.1 + 32.0 + line as f64 * LINE;
        canvas.text((at.0, baseline), text, LABEL, Align::Centre);
    }
}

/// The height that names below the data take, each in a width of its own.
pub(super) fn below<'n>(names: impl Iterator<Item = &'n str>, width: f64, lines: usize) -> f64 {
    let lines = names
        .map(|name| wrap(name, LABEL, width, lines).len())
        .max();
    20.0 + lines.unwrap_or(0) as f64 * LINE
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shorter_where_names_would_lose_their_middle() {
        let estimate = Estimate {
            value: 1e6,
            interval: None,
            n: 1,
        };
        let bars = |name: &str| GroupedBars {
            title: String::new(),
            note: String::new(),
            quantity: Quantity::GOODPUT,
            groups: (0..12)
                .map(|group| {
                    let bars = vec![("cubic".to_owned(), Some(estimate))];
                    (name.replace('#', &group.to_string()), bars)
                })
                .collect(),
        };
        let width = 1000.0;
        assert_eq!(bars("case #").in_row(width, 1), 6);
        let long = bars("core, #-bytefifo-vegas-westwood, 10 Mbit/s, several, 3 flows");
        let in_row = long.in_row(width, 1);
        assert!((4..6).contains(&in_row), "{in_row}");
    }

    #[test]
    fn numbers_are_no_finer_than_can_be_seen() {
        for (max, value, text) in [
            (250e6, 177e6, "177"),
            (250e6, 2.804e6, "2.8"),
            (250e6, 0.385e6, "0.4"),
            (250e6, 0.01e6, "<0.1"),
            (12e6, 0.4042e6, "0.40"),
            (2.5e6, 0.0687e6, "0.069"),
            (2.5e6, 2.17e6, "2.17"),
            (2.5e6, 0.0, "0"),
        ] {
            let y = Axis::linear_in(Quantity::GOODPUT, 1e6, 0.0, max, 7);
            assert_eq!(number_of(value, &y), text, "{value} of {max}");
        }
    }
}
