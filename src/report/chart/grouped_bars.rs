//! Bars in groups, with intervals: variant beside variant, for each setting.

use super::axis::{Axis, Quantity, number, significant};
use super::canvas::{Align, Canvas, Stroke, Type};
use super::counts::{each_note, n_of};
use super::fit::wrap;
use super::font::text_width;
use super::frame::{LABEL, header};
use super::interval::{Estimate, Reach, farther};
use super::label::joined;
use super::legend::Swatch;
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
}

impl RowScale {
    /// From 0 to the highest bar of some groups, with room for a number above it; none without any.
    fn of(groups: &[(String, Vec<Bar>)], quantity: Quantity) -> Option<Self> {
        let reach = Reach::of(estimates(groups));
        let (low, high) = reach.range(estimates(groups))?;
        let largest = estimates(groups).map(|of| of.value.abs());
        let largest = largest.fold(0.0, f64::max);
        let y = Axis::linear_in(quantity, largest, low.min(0.0), 1.1 * high.max(0.0), 7);
        Some(Self { y, reach })
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
            if let Some(font) = font.filter(|_| foot - 10.0 > panel.top) {
                let number = number_of(estimate.value, &panel.y);
                if is_long {
                    let half = text_width(&number, font) / 2.0 + 3.0;
                    canvas.rect((centre - half, top), (centre + half, bottom), Colour::WHITE);
                }
                canvas.text((centre, foot - 8.0), &number, font, Align::Centre);
            }
            for (place, y) in dots.into_iter().enumerate() {
                // Beside each other, as values that are alike would be one.
                let step = (width * 0.22).min(2.0 * DOT_RIM);
                let middle = (estimate.spread.values().len() - 1) as f64 / 2.0;
                let at = (centre + (place as f64 - middle) * step, y);
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
mod tests {
    use super::super::interval::Spread;
    use super::*;
    use crate::report::chart::canvas::Shape;

    #[test]
    fn rows_are_shorter_where_names_would_lose_their_middle() {
        let estimate = Estimate {
            value: 1e6,
            spread: Spread::Unknown,
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
    fn a_long_interval_ends_in_an_arrow_and_leaves_the_bars_their_height() {
        let bar = |name: &str, value, (low, high)| {
            let estimate = Estimate {
                value,
                spread: Spread::Interval(low, high),
                n: 4,
            };
            (name.to_owned(), Some(estimate))
        };
        let drawn = |high: f64| {
            let figure = GroupedBars {
                title: "Retransmitted".to_owned(),
                note: "mean of runs".to_owned(),
                quantity: Quantity::RETRANSMISSION_RATE,
                groups: vec![(
                    "deep".to_owned(),
                    vec![
                        bar("bbr", 0.06, (0.0, high)),
                        bar("cubic", 0.02, (0.01, 0.03)),
                    ],
                )],
            };
            let canvas = figure.draw(Style::default()).unwrap();
            let arrows = canvas.shapes.iter().filter(
                |shape| matches!(shape, Shape::Area { colour, .. } if *colour == Colour::INK),
            );
            let said = canvas.shapes.iter().any(|shape| {
                matches!(shape, Shape::Text { text, .. }
                    if text == "mean of runs · arrow: the interval goes on, to 44.0 % at most · n = 4")
            });
            let bars = canvas.shapes.iter().filter_map(|shape| match shape {
                Shape::Rect { from, to, .. } => Some(to.1 - from.1),
                _ => None,
            });
            (arrows.count(), said, bars.fold(0.0, f64::max))
        };
        let (arrows, said, height) = drawn(0.44);
        assert_eq!((arrows, said), (1, true));
        // Whole, the interval would leave the bar an eighth of the panel; now it has half of it.
        assert!(height > 300.0, "{height}");
        let (arrows, said, _) = drawn(0.09);
        assert_eq!((arrows, said), (0, false));
    }

    #[test]
    fn few_values_are_dots_which_no_number_covers() {
        let bar = |value, spread, n| {
            let estimate = Estimate { value, spread, n };
            ("cubic".to_owned(), Some(estimate))
        };
        let drawn = |bars: Vec<Bar>| {
            let figure = GroupedBars {
                title: String::new(),
                note: "mean of runs".to_owned(),
                quantity: Quantity::GOODPUT,
                groups: vec![("deep".to_owned(), bars)],
            };
            figure.draw(Style::default()).unwrap()
        };
        let three = bar(4e6, Spread::Three([1.2e6, 4.2e6, 6.6e6]), 3);
        let canvas = drawn(vec![three.clone()]);
        let dots = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Marker { at, colour, .. } if *colour == Colour::INK => Some(*at),
            _ => None,
        });
        let dots: Vec<(f64, f64)> = dots.collect();
        let [low, middle, high] = dots[..] else {
            panic!("{dots:?}");
        };
        assert!(low.1 > middle.1 && middle.1 > high.1 && low.0 < high.0);
        // The middle one lies where the number would be.
        let number = canvas.shapes.iter().find_map(|shape| match shape {
            Shape::Text { at, text, .. } if text == "4.00" => Some(at.1),
            _ => None,
        });
        assert!(number.is_some_and(|y| y < high.1), "{number:?} {high:?}");
        let said =
            |canvas: &Canvas, wanted: &str| super::super::tests::texts(canvas).contains(&wanted);
        assert!(said(&canvas, "mean of runs · dots: each run · n = 3"));
        let four = bar(4e6, Spread::Interval(3e6, 5e6), 4);
        let both = drawn(vec![three, four.clone()]);
        let words = "mean of runs · dots: each run, where there are 3 or fewer · n = 3 to 4";
        assert!(said(&both, words));
        assert!(said(&drawn(vec![four]), "mean of runs · n = 4"));
    }

    #[test]
    fn the_interval_of_a_bar_as_dark_as_its_line_is_seen() {
        let estimate = Estimate {
            value: 5e6,
            spread: Spread::Interval(4e6, 6e6),
            n: 5,
        };
        let figure = GroupedBars {
            title: String::new(),
            note: String::new(),
            quantity: Quantity::GOODPUT,
            groups: vec![(
                "deep".to_owned(),
                vec![("vegas".to_owned(), Some(estimate))],
            )],
        };
        let canvas = figure.draw(Style::default()).unwrap();
        let colour = super::super::palette::variant("vegas").colour;
        // The last one, behind that of the legend.
        let bar = canvas.shapes.iter().rev().find_map(|shape| match shape {
            Shape::Rect {
                from,
                to,
                colour: of,
            } if *of == colour => Some((*from, *to)),
            _ => None,
        });
        let (from, to) = bar.unwrap();
        let within = |at: &(f64, f64)| from.0 <= at.0 && at.0 <= to.0 && from.1 <= at.1;
        let lines = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Line { points, stroke } if points.iter().all(within) => {
                Some((points.clone(), *stroke))
            }
            _ => None,
        });
        let lines: Vec<_> = lines.collect();
        // The line down to the lower end and the bar across it, of the bar's own colour, each on paper that stands
        // out on either side.
        let of = |colour| {
            lines
                .iter()
                .filter(move |(_, stroke)| stroke.colour == colour)
        };
        assert_eq!((of(colour).count(), of(Colour::Paper).count()), (2, 2));
        for ((dark, line), (light, rim)) in of(colour).zip(of(Colour::Paper)) {
            assert!(rim.width >= line.width + 4.0, "{rim:?}");
            assert!(light[0].0 <= dark[0].0 && light[1].0 >= dark[1].0);
        }
        let last_rim = lines.iter().rposition(|(_, of)| of.colour == Colour::Paper);
        let first_line = lines.iter().position(|(_, of)| of.colour == colour);
        assert!(last_rim < first_line, "the paper would cover the line");
    }

    #[test]
    fn a_row_with_a_scale_of_its_own_has_room_for_its_labels() {
        let group = |value: f64| {
            let estimate = Estimate {
                value,
                spread: Spread::Unknown,
                n: 1,
            };
            let bars = (0..12).map(|bar| (format!("variant {bar}"), Some(estimate)));
            ("deep".to_owned(), bars.collect())
        };
        let mut figure = GroupedBars {
            title: String::new(),
            note: String::new(),
            quantity: Quantity::RETRANSMISSION_RATE,
            groups: (0..6).map(|_| group(0.5)).collect(),
        };
        figure.groups.extend((0..6).map(|_| group(4e-9)));
        let canvas = figure.draw(Style::default()).unwrap();
        let shown = super::super::tests::texts(&canvas);
        assert!(shown.contains(&"0.0000002"), "{shown:?}");
        super::super::tests::assert_legible(&canvas);
        let lefts = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Text {
                at,
                text,
                font,
                align: Align::Right,
            } => Some(at.0 - text_width(text, *font)),
            _ => None,
        });
        let left = lefts.fold(f64::INFINITY, f64::min);
        assert!(left >= super::super::frame::MARGIN, "{left}");
    }

    #[test]
    fn what_is_small_among_small_ones_has_a_number() {
        let y = Axis::linear_in(Quantity::RETRANSMISSION_RATE, 9e-7, 0.0, 9e-7, 7);
        assert_eq!(number_of(4e-7, &y), "0.00004");
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
