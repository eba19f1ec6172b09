//! Bars in groups, with intervals: variant beside variant, for each setting.

use super::axis::{Axis, Quantity, number, significant};
use super::canvas::{Align, Canvas, Stroke, Type};
use super::counts::{each_note, n_of};
use super::fit::wrap;
use super::font::text_width;
use super::frame::header;
use super::interval::{Estimate, Reach, beside_others, farther};
use super::label::joined;
use super::legend::Swatch;
use super::letters::LABEL;
use super::looks::Looks;
use super::names_below::{below, draw_name};
use super::palette::{Colour, Marker};
use super::style::Style;
use super::tiles::{RowHeights, Tiles};

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
/// Intervals and values that reach so far above a bar go on above its number, in units of layout.
const LONG: f64 = 48.0;
/// Of the dots of values, and with the paper about them.
const DOT: f64 = 5.0;
const DOT_RIM: f64 = 6.5;
/// Between what a number stands above and the upper rim of a panel, at least.
const HEADROOM: f64 = 10.0;
const BAR_MAX: f64 = 74.0;

/// The height of a row on a slide, at least, as a share of its own.
const LOW: f64 = 0.15;

/// A row whose highest bar is less than this share of the highest of all has a scale of its own.
const SEEN: f64 = 0.25;

/// Lines of a group's name.
const NAME_LINES: usize = 5;
/// Between two names.
const NAME_GAP: f64 = 12.0;
/// So many groups less in a row, at most, for names that are whole.
const FEWER_MAX: usize = 2;

/// The vertical axis of a row, and how far intervals are drawn.
#[derive(Clone, Debug, PartialEq)]
struct RowScale {
    y: Axis,
    reach: Reach,
    /// The least and the largest that is drawn.
    ends: (f64, f64),
    /// The largest value.
    largest: f64,
}

impl RowScale {
    /// From 0 to the highest bar of some groups, with room for a number above it; none without any.
    fn of(groups: &[(String, Vec<Bar>)], quantity: Quantity) -> Option<Self> {
        let reach = Reach::of(estimates(groups));
        let (low, high) = reach.range(estimates(groups))?;
        let largest = estimates(groups).map(|of| of.value.abs());
        let largest = largest.fold(0.0, f64::max);
        let ends = (low.min(0.0), high.max(0.0));
        Some(Self {
            y: Axis::linear_in(quantity, largest, ends.0, 1.1 * ends.1, 7),
            reach,
            ends,
            largest,
        })
    }

    /// The same in a row of this height, with room for a number above the dots of the highest bar.
    fn in_height(&self, quantity: Quantity, height: f64) -> Self {
        let (low, high) = self.ends;
        let room = (HEADROOM + DOT_RIM + 1.0) / height;
        if self.y.max - high >= room * (self.y.max - self.y.min) {
            return self.clone();
        }
        let max = (high - room * low) / (1.0 - room);
        Self {
            y: Axis::linear_in(quantity, self.largest, low, max.max(1.1 * high), 7),
            ..self.clone()
        }
    }
}

fn estimates(groups: &[(String, Vec<Bar>)]) -> impl Iterator<Item = &Estimate> {
    let bars = groups.iter().flat_map(|(_, bars)| bars);
    bars.filter_map(|(_, estimate)| estimate.as_ref())
}

impl GroupedBars {
    /// The axis of each row: the same, unless that leaves nothing to be seen of some.
    fn scales(&self, in_row: usize, whole: &RowScale) -> Vec<RowScale> {
        let rows = self.groups.chunks(in_row);
        let own: Vec<RowScale> = rows
            .map(|groups| RowScale::of(groups, self.quantity).unwrap_or_else(|| whole.clone()))
            .collect();
        if own.iter().any(|scale| scale.y.max < SEEN * whole.y.max) {
            own
        } else {
            vec![whole.clone(); own.len()]
        }
    }

    /// What arrows stand for, where there are any: how far the longest of these intervals goes.
    fn arrow_note(&self, scales: &[RowScale], in_row: usize) -> Option<String> {
        let rows = self.groups.chunks(in_row).zip(scales);
        let beyond = rows.filter_map(|(groups, scale)| scale.reach.farthest(estimates(groups)));
        let farthest = self.quantity.format(beyond.reduce(farther)?);
        Some(format!(
            "arrow: the interval goes on, to {farthest} at most"
        ))
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
        let bars = self.groups.iter().flat_map(|(_, bars)| bars);
        self.draw_as(style, &Looks::of(bars.map(|(name, _)| name.as_str())))
    }

    /// The figure, of variants that look as those of other figures; none without any bar.
    #[must_use]
    pub fn draw_as(&self, style: Style, looks: &Looks) -> Option<Canvas> {
        let whole = RowScale::of(&self.groups, self.quantity)?;
        self.draw_in(style, looks, &whole)
    }

    /// Figures of one quantity that are laid side by side: on one scale, unless that leaves nothing
    /// to be seen of some.
    pub(super) fn draw_together(
        charts: &[Self],
        style: Style,
        looks: &Looks,
    ) -> Vec<Option<Canvas>> {
        let own = charts
            .iter()
            .map(|chart| RowScale::of(&chart.groups, chart.quantity));
        let own: Vec<Option<RowScale>> = own.collect();
        let groups = charts.iter().flat_map(|chart| chart.groups.iter().cloned());
        let groups: Vec<(String, Vec<Bar>)> = groups.collect();
        let common = charts
            .first()
            .and_then(|chart| RowScale::of(&groups, chart.quantity))
            .filter(|common| {
                let mut scales = own.iter().flatten();
                scales.all(|own| own.y.max >= SEEN * common.y.max)
            });
        let scales = own
            .into_iter()
            .map(|own| Some(common.clone().unwrap_or(own?)));
        let charts = charts.iter().zip(scales);
        charts
            .map(|(chart, scale)| chart.draw_in(style, looks, &scale?))
            .collect()
    }

    fn draw_in(&self, style: Style, looks: &Looks, whole: &RowScale) -> Option<Canvas> {
        let bars_most = self.groups.iter().map(|(_, bars)| bars.len()).max()?;
        let mut canvas = Canvas::new(style, style.size.height());
        let width = |labels: f64| Tiles::new(&canvas, 0.0, 1, 1, labels).width();
        let in_row = self.in_row(width(labels_width(std::slice::from_ref(whole))), bars_most);
        let scales = self.scales(in_row, whole);
        let rows = scales.len();
        // Scales of their own have labels of their own.
        let labels = labels_width(&scales);
        let width = width(labels);
        let mut notes = vec![self.note.clone()];
        notes.extend(self.arrow_note(&scales, in_row));
        notes.extend(each_note("dots", estimates(&self.groups)));
        notes.push(n_of(|| estimates(&self.groups)));
        if scales.iter().any(|scale| scale.y.max < whole.y.max) {
            notes.push("each row has a scale of its own".to_owned());
        }
        let top = header(
            &mut canvas,
            &self.title,
            &joined(&notes),
            &self.legend(looks),
        );
        let names = self.groups.iter().map(|(name, _)| name.as_str());
        let below = below(names, width / in_row as f64 - NAME_GAP, NAME_LINES);
        let height = style.size.height();
        let heights = RowHeights {
            alone: 0.35 * height,
            each: 0.3 * height,
            least: LOW * height,
        };
        let tiles = Tiles::new(&canvas, top, rows, 1, labels);
        let tiles = tiles.above_names(style, rows, below, heights);
        let unit = Axis::tight(Quantity::FNESS, 0.0, in_row as f64, 1);
        for (row, (groups, scale)) in self.groups.chunks(in_row).zip(&scales).enumerate() {
            let scale = &scale.in_height(self.quantity, tiles.room());
            let mut panel = tiles.panel(row, unit.clone(), scale.y.clone());
            panel.x.ticks.clear();
            panel.draw_back_above(&mut canvas);
            let pitch = (panel.right - panel.left) / in_row as f64;
            for (place, (name, bars)) in groups.iter().enumerate() {
                let middle = panel.left + (place as f64 + 0.5) * pitch;
                let at = (middle, panel.bottom);
                draw_name(&mut canvas, name, at, pitch - NAME_GAP, NAME_LINES);
                let room = (middle, pitch, bars_most);
                let of = (scale, looks);
                self.draw_group(&mut canvas, &panel, of, room, bars);
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

    fn legend(&self, looks: &Looks) -> Vec<(Swatch, String)> {
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in self.groups.iter().flat_map(|(_, bars)| bars) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        // The order of the bars in each group, also where the first groups lack some.
        names.sort_by_key(|name| looks.place(name));
        let entry = |name: &String| (Swatch::Filled(looks.style(name)), name.clone());
        names.into_iter().map(entry).collect()
    }

    fn draw_group(
        &self,
        canvas: &mut Canvas,
        panel: &super::frame::Panel,
        (scale, looks): (&RowScale, &Looks),
        (middle, pitch, bars_most): (f64, f64, usize),
        bars: &[Bar],
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
            canvas.bar((from, high), (to, low), looks.style(name));
            let mut tip = high;
            let dots = estimate.spread.values().iter();
            let dots: Vec<f64> = dots.map(|&value| panel.at(0.0, value).1).collect();
            if let Some(interval) = estimate.spread.interval() {
                let shape = ((width * 0.22).min(10.0), Colour::INK);
                let of = (estimate.value, interval);
                tip = tip.min(
                    scale
                        .reach
                        .outlined_whisker(canvas, panel, centre, of, shape),
                );
            }
            tip = dots.iter().map(|y| y - DOT_RIM).fold(tip, f64::min);
            // At the end of a long interval, or at a value, it would look like what is there.
            let (top, bottom) = font.map_or((high, high), |font| {
                (high - 11.0 - 0.75 * font.px, high - 5.0)
            });
            let covers = |y: &f64| (top - DOT_RIM..bottom + DOT_RIM).contains(y) && *y < high;
            let is_long = high - tip > LONG && !dots.iter().any(covers);
            let foot = if is_long { high } else { tip };
            if let Some(font) = font.filter(|_| foot - HEADROOM > panel.top) {
                let number = number_of(estimate.value, &panel.y);
                if is_long {
                    let half = text_width(&number, font) / 2.0 + 3.0;
                    canvas.rect((centre - half, top), (centre + half, bottom), Colour::WHITE);
                }
                canvas.text((centre, foot - 8.0), &number, font, Align::Centre);
            }
            for (place, y) in dots.into_iter().enumerate() {
                let step = (width * 0.22).min(2.0 * DOT_RIM);
                let all = estimate.spread.values().len();
                let at = (centre + beside_others(place, all, step), y);
                canvas.marker(at, DOT_RIM, Marker::Disc, Colour::Paper);
                canvas.marker(at, DOT, Marker::Disc, Colour::INK);
            }
        }
    }

    /// The font in which all numbers have room above their bars; none where there is none.
    fn number_font(&self, width: f64, y: &Axis) -> Option<Type> {
        let widest = |font: Type| {
            estimates(&self.groups)
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

/// The room that the widest label of some vertical axes takes.
fn labels_width(scales: &[RowScale]) -> f64 {
    let ticks = scales.iter().flat_map(|scale| &scale.y.ticks);
    let widths = ticks.map(|(_, text)| text_width(text, LABEL) + 14.0);
    widths.fold(0.0, f64::max)
}

/// The number above a bar: three digits, but no finer than can be seen beside the highest.
fn number_of(value: f64, y: &Axis) -> String {
    let (value, max) = (value / y.unit, y.max.max(y.min.abs()) / y.unit);
    let finest = (4.0 - max.log10().ceil()).clamp(0.0, 12.0) as usize;
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

#[cfg(test)]
mod tests;
