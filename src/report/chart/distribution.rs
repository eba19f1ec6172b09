//! How values are distributed: a histogram above the share of values that are no larger (ECDF), or
//! the latter alone, in panels beside each other.

use super::axis::{Axis, Quantity, grouped};
use super::canvas::{Align, Canvas, Point, Stroke};
use super::fit::wrap;
use super::frame::{Panel, ROOM_MIN, X_AXIS_HEIGHT, Y_TITLE_HEIGHT, header};
use super::label::joined;
use super::legend::Swatch;
use super::letters::{AXIS_TITLE, MARGIN, SUBTITLE};
use super::looks::Looks;
use super::palette::LineStyle;
use super::plot::marked;
use super::style::{Size, Style};
use super::thin;

/// Columns of a histogram.
const COLUMNS: usize = 90;

/// Nine tenths of the values in less than this share of an axis are crowded.
const CROWDED: f64 = 0.1;

/// The share of the values of a line on either side that an axis may leave out.
const OUTER: f64 = 0.05;

/// Values of one flow, variant or setting, in the base unit of their quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Whose they are.
    pub name: String,
    /// How its line looks.
    pub style: LineStyle,
    /// Smallest and largest of some values, and how many there are; in order.
    pub steps: Vec<(f64, f64, u64)>,
}

impl Distribution {
    /// Of single values, in any order; those that are no numbers do not count.
    #[must_use]
    pub fn of_values(name: String, style: LineStyle, values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values
            .iter()
            .copied()
            .filter(|value| value.is_finite())
            .collect();
        sorted.sort_by(f64::total_cmp);
        let steps = sorted
            .chunk_by(|one, two| one.total_cmp(two).is_eq())
            .map(|same| (same[0], same[0], same.len() as u64))
            .collect();
        Self { name, style, steps }
    }

    /// How many values there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.steps.iter().map(|&(_, _, count)| count).sum()
    }

    /// The value that a share of the values does not exceed.
    fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = share * self.n() as f64;
        let mut below = 0;
        let step = self.steps.iter().find(|(_, _, count)| {
            below += count;
            below as f64 >= wanted
        });
        step.map(|&(_, high, _)| high)
    }

    fn extent(&self) -> Option<(f64, f64)> {
        Some((self.steps.first()?.0, self.steps.last()?.1))
    }

    /// The corners of its ECDF: value, and the share of values up to it.
    pub(super) fn ecdf(&self) -> Vec<(f64, f64)> {
        let n = self.n().max(1) as f64;
        let mut below = 0;
        let mut corners = Vec::with_capacity(2 * self.steps.len());
        for &(low, high, count) in &self.steps {
            corners.push((low, below as f64 / n));
            below += count;
            corners.push((high, below as f64 / n));
        }
        corners
    }

    /// The share of the values in each column of a histogram over `axis`.
    pub(super) fn columns(&self, axis: &Axis, columns: usize) -> Vec<f64> {
        let n = self.n().max(1) as f64;
        let mut shares = vec![0.0; columns];
        let place = |value: f64| axis.share(value) * columns as f64;
        for &(low, high, count) in &self.steps {
            let (from, to) = (place(low), place(high));
            let first = (from as usize).min(columns - 1);
            let last = (to as usize).min(columns - 1);
            for (column, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
                // What covers several columns is spread over them evenly.
                let overlap = if first == last {
                    1.0
                } else {
                    (to.min(column as f64 + 1.0) - from.max(column as f64)) / (to - from)
                };
                *share += count as f64 * overlap / n;
            }
        }
        shares
    }
}

/// Some distributions in one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Distributions {
    /// What it is about, and under which condition.
    pub title: String,
    /// How the values came about.
    pub note: String,
    /// What they are.
    pub quantity: Quantity,
    /// Panels with their names, drawn beside each other; only one has a histogram.
    pub panels: Vec<(String, Vec<Distribution>)>,
    /// Whether a histogram is drawn above the ECDF; of one panel only.
    pub histogram: bool,
}

impl Distributions {
    /// Whether a few far values would press nine tenths of all into a tenth of a linear axis.
    fn is_crowded(&self, min: f64, max: f64) -> bool {
        let all = || self.panels.iter().flat_map(|(_, panel)| panel);
        let low = all().filter_map(|of| of.quantile(0.05)).reduce(f64::min);
        let high = all().filter_map(|of| of.quantile(0.95)).reduce(f64::max);
        let (Some(low), Some(high)) = (low, high) else {
            return false;
        };
        max > 5.0 * min && high - low < CROWDED * max
    }

    /// What an axis is cut to: the values of every line but its outermost, where all would leave these less than half
    /// of it, and some room about them. Delays have a log scale for that.
    fn central(&self, min: f64, max: f64) -> Option<(f64, f64)> {
        let all = || self.panels.iter().flat_map(|(_, panel)| panel);
        let low = all().filter_map(|of| of.quantile(OUTER)).reduce(f64::min)?;
        let high = all().filter_map(|of| of.quantile(1.0 - OUTER));
        let high = high.reduce(f64::max)?;
        let is_cut = low < high && high - low < 0.5 * (max - min) && !self.quantity.is_delay();
        let room = 0.15 * (high - low);
        is_cut.then_some((min.max(low - room), max.min(high + room)))
    }

    fn axis(&self, (min, max): (f64, f64), ticks: usize) -> Axis {
        if let Some((min, max)) = self.central(min, max) {
            return self.even(min, max, ticks);
        }
        if min > 0.0 && self.quantity.is_delay() && self.is_crowded(min, max) {
            Axis::log(self.quantity, min, max)
        } else if min > 0.0 {
            Axis::for_delays(self.quantity, min, max, ticks)
        } else if min == 0.0 && max > 0.0 && self.quantity.is_delay() {
            let all = self.panels.iter().flat_map(|(_, panel)| panel);
            let steps = all.flat_map(|of| &of.steps);
            let values = steps.flat_map(|&(low, high, _)| [low, high]);
            Axis::for_any_delays(self.quantity, (min, max), values, ticks)
        } else {
            self.even(min, max, ticks)
        }
    }

    /// With three ticks at least: two tell a scale, but not at a glance.
    fn even(&self, min: f64, max: f64, ticks: usize) -> Axis {
        // One value alone stands in the middle.
        let margin = if max > min { 0.0 } else { 0.01 * max.abs() };
        let (min, max) = (min - margin, max + margin);
        let axis = |ticks| Axis::tight(self.quantity, min, max, ticks);
        let mut axes = (ticks..=2 * ticks).map(axis);
        let found = axes.find(|axis| axis.ticks.len() > 2);
        found.unwrap_or_else(|| axis(ticks))
    }

    /// How many values lie beyond the axis, in words; empty where none do.
    fn beyond(&self, min: f64, max: f64) -> String {
        let all = self.panels.iter().flat_map(|(_, panel)| panel);
        let steps = all.flat_map(|of| &of.steps);
        let (mut beyond, mut n) = (0, 0);
        for &(low, high, count) in steps {
            n += count;
            beyond += if low < min || high > max { count } else { 0 };
        }
        if beyond == 0 {
            return String::new();
        }
        format!("{} of {} lie beyond the axis", grouped(beyond), grouped(n))
    }

    /// The figure; none without values.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        self.draw_as(style, &Looks::default())
    }

    /// The figure, with names in the order of other figures; none without values.
    #[must_use]
    pub fn draw_as(&self, style: Style, looks: &Looks) -> Option<Canvas> {
        let all = || self.panels.iter().flat_map(|(_, panel)| panel);
        let min = all()
            .filter_map(|of| Some(of.extent()?.0))
            .reduce(f64::min)?;
        let max = all()
            .filter_map(|of| Some(of.extent()?.1))
            .reduce(f64::max)?;
        let columns = self.columns(style);
        let ticks = style.size.ticks_across(1.0 / columns as f64);
        let x = self.axis((min, max), ticks);
        let mut canvas = Canvas::new(style, style.size.height());
        let notes = joined(&[self.note.clone(), self.beyond(x.lowest(), x.max)]);
        let top = header(&mut canvas, &self.title, &notes, &self.legend(looks));
        if self.histogram && self.panels.len() == 1 {
            self.draw_both(&mut canvas, top, &x);
        } else {
            self.draw_panels(&mut canvas, top, &x, columns);
        }
        Some(canvas)
    }

    fn columns(&self, style: Style) -> usize {
        let most = if style.size == Size::OneColumn { 1 } else { 3 };
        self.panels.len().clamp(1, most)
    }

    /// Each name once; with the number of values where there is one panel.
    fn legend(&self, looks: &Looks) -> Vec<(Swatch, String)> {
        let panels = self.panels.iter().flat_map(|(_, panel)| panel);
        let mut all: Vec<&Distribution> = panels.collect();
        all.sort_by_key(|of| looks.place(&of.name));
        let mut legend: Vec<(Swatch, String)> = Vec::new();
        for of in all {
            let name = if self.panels.len() == 1 {
                format!("{} (n = {})", of.name, grouped(of.n()))
            } else {
                of.name.clone()
            };
            let entry = (Swatch::Line(of.style), name);
            if !legend.contains(&entry) {
                legend.push(entry);
            }
        }
        legend
    }

    fn draw_both(&self, canvas: &mut Canvas, top: f64, x: &Axis) {
        let height = canvas.style.size.height();
        // A slide has a height, and room for panels beside each other.
        let is_wide = canvas.style.size == Size::Slide;
        let shares: Vec<Vec<f64>> = self.panels[0]
            .1
            .iter()
            .map(|of| of.columns(x, COLUMNS))
            .collect();
        let peak = shares.iter().flatten().copied().fold(0.0, f64::max);
        let count = Quantity::SHARE.called("Share of values in a column");
        let y = Axis::linear(count, 0.0, peak.max(1e-4), 4);
        let room = if is_wide {
            (height - 16.0 - top - Y_TITLE_HEIGHT - X_AXIS_HEIGHT).max(ROOM_MIN)
        } else {
            0.26 * height
        };
        let between = |top: f64, room: f64, y: Axis| {
            let end = top + Y_TITLE_HEIGHT + room + X_AXIS_HEIGHT;
            Panel::between(canvas, top, end, x.clone(), y)
        };
        let above = between(top, room, y);
        let [above, below] = if is_wide {
            above.beside(between(top, room, ecdf_axis()), canvas)
        } else {
            let below = between(above.bottom + 30.0, room * 1.3, ecdf_axis());
            let left = above.left.max(below.left);
            [above, below].map(|panel| Panel { left, ..panel })
        };
        canvas.height = (below.bottom + X_AXIS_HEIGHT + 16.0).ceil();
        if is_wide {
            above.draw_back(canvas);
        } else {
            above.draw_back_above(canvas);
        }
        for (of, shares) in self.panels[0].1.iter().zip(&shares).rev() {
            let outline = steps(&above, shares);
            canvas.line(&outline, Stroke::solid(of.style.colour, 2.5));
        }
        below.draw_back(canvas);
        draw_ecdfs(canvas, &below, &self.panels[0].1);
    }

    fn draw_panels(&self, canvas: &mut Canvas, top: f64, x: &Axis, columns: usize) {
        const GAP: f64 = 36.0;
        const LINE: f64 = 30.0;
        let rows = self.panels.len().div_ceil(columns);
        let pitch = (canvas.width - 2.0 * MARGIN + GAP) / columns as f64;
        let names = self.panels.iter();
        let names: Vec<Vec<String>> = names
            .map(|(name, _)| wrap(name, AXIS_TITLE, pitch - GAP, 3))
            .collect();
        let lines = names.iter().map(Vec::len).max().unwrap_or(0);
        let above = lines as f64 * LINE + Y_TITLE_HEIGHT;
        let room = if rows == 1 {
            (canvas.height - top - above - X_AXIS_HEIGHT - 16.0).max(220.0)
        } else {
            0.36 * canvas.style.size.height()
        };
        let mut bottom = top;
        for (index, (name, panel_of)) in self.panels.iter().enumerate() {
            let left = MARGIN + (index % columns) as f64 * pitch;
            let row_height = above + room + X_AXIS_HEIGHT + 6.0;
            let top = top + above + (index / columns) as f64 * row_height;
            let mut y = ecdf_axis();
            if !name.is_empty() {
                let n: u64 = panel_of.iter().map(Distribution::n).sum();
                y.title = format!("ECDF (%), n = {}", grouped(n));
            }
            for (line, text) in names[index].iter().rev().enumerate() {
                let baseline = top - Y_TITLE_HEIGHT - 2.0 - line as f64 * LINE;
                canvas.text((left, baseline), text, AXIS_TITLE, Align::Left);
            }
            let panel = Panel {
                rim: left,
                left: left + 70.0,
                top,
                right: left + pitch - GAP - 10.0,
                bottom: top + room,
                x: x.clone(),
                y,
            };
            panel.draw_back(canvas);
            draw_ecdfs(canvas, &panel, panel_of);
            if panel_of.iter().all(|of| of.steps.is_empty()) {
                nothing(canvas, &panel);
            }
            bottom = panel.bottom;
        }
        canvas.height = (bottom + X_AXIS_HEIGHT + 16.0).ceil();
    }
}

/// Says that a panel is empty.
fn nothing(canvas: &mut Canvas, panel: &Panel) {
    let middle = (
        f64::midpoint(panel.left, panel.right),
        f64::midpoint(panel.top, panel.bottom) - 8.0,
    );
    canvas.text(middle, "no values", SUBTITLE, Align::Centre);
}

fn ecdf_axis() -> Axis {
    Axis::linear(
        Quantity::SHARE.called("Share of values up to this (ECDF)"),
        0.0,
        1.0,
        5,
    )
}

fn draw_ecdfs(canvas: &mut Canvas, panel: &Panel, of: &[Distribution]) {
    for (rank, each) in of.iter().enumerate().rev() {
        let corners = within(&each.ecdf(), (panel.x.lowest(), panel.x.max));
        let line = thin::line(corners.iter().map(|&(value, share)| panel.at(value, share)));
        canvas.line(&line, Stroke::solid(each.style.colour, 3.0));
        for point in marked(&line, rank, of.len()) {
            canvas.marker(point, 7.0, each.style.marker, each.style.colour);
        }
    }
}

/// The corners of an ECDF between two values, from one to the other.
fn within(corners: &[(f64, f64)], (min, max): (f64, f64)) -> Vec<(f64, f64)> {
    let before = corners
        .iter()
        .take_while(|&&(value, _)| value < min)
        .count();
    let until = corners
        .iter()
        .take_while(|&&(value, _)| value <= max)
        .count();
    let mut found = Vec::with_capacity(until - before + 2);
    if before > 0 {
        found.push((min, corners[before - 1].1));
    }
    found.extend(&corners[before..until]);
    if until < corners.len() {
        let share = until.checked_sub(1).map_or(0.0, |last| corners[last].1);
        found.push((max, share));
    }
    found
}

/// The outline of a histogram whose columns divide the panel evenly.
fn steps(panel: &Panel, shares: &[f64]) -> Vec<Point> {
    let width = (panel.right - panel.left) / shares.len().max(1) as f64;
    let mut points = vec![(panel.left, panel.bottom)];
    for (column, &share) in shares.iter().enumerate() {
        let (left, (_, y)) = (
            panel.left + column as f64 * width,
            panel.at(panel.x.min, share),
        );
        points.push((left, y));
        points.push((left + width, y));
    }
    points.push((panel.right, panel.bottom));
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::palette::variant;

    fn distribution(values: &[f64]) -> Distribution {
        Distribution::of_values("cubic".to_owned(), variant("cubic"), values)
    }

    #[test]
    fn an_ecdf_climbs_by_one_nth_at_each_value() {
        let of = distribution(&[3.0, 1.0, f64::NAN, 3.0, 2.0]);
        assert_eq!(of.n(), 4);
        assert_eq!(
            of.ecdf(),
            [
                (1.0, 0.0),
                (1.0, 0.25),
                (2.0, 0.25),
                (2.0, 0.5),
                (3.0, 0.5),
                (3.0, 1.0)
            ]
        );
    }

    #[test]
    fn columns_of_a_histogram_hold_all_values_once() {
        let axis = Axis::linear(Quantity::PM, 0.0, 10.0, 5);
        let mut of = distribution(&[0.0, 5.0, 5.0, 10.0]);
        assert_eq!(of.columns(&axis, 2), [0.25, 0.75]);
        // Four values somewhere from 0 to 8: half of the span is in the first of two columns, and
        // three eighths of it are beyond 5.
        of.steps = vec![(0.0, 8.0, 4)];
        let columns = of.columns(&axis, 2);
        assert!((columns[0] - 0.625).abs() < 1e-9 && (columns[1] - 0.375).abs() < 1e-9);
    }

    #[test]
    fn values_that_few_others_would_press_together_have_a_log_scale() {
        let title = |values: &[f64]| {
            let figure = Distributions {
                title: "RTT".to_owned(),
                note: String::new(),
                quantity: Quantity::RTT,
                panels: vec![(String::new(), vec![distribution(values)])],
                histogram: true,
            };
            let canvas = figure.draw(Style::default()).unwrap();
            canvas.shapes.iter().any(|shape| {
                matches!(shape, super::super::canvas::Shape::Text { text, .. } if text.contains("log scale"))
            })
        };
        // Two to three milliseconds, but for one of 50: 2 % of a linear axis up to that.
        let mut near: Vec<f64> = (0..99)
            .map(|index| 2e-3 + 1e-5 * f64::from(index))
            .collect();
        near.push(0.05);
        assert!(title(&near));
        // Spread over the axis; and close together.
        let spread: Vec<f64> = (1..=20).map(|index| 2.5e-3 * f64::from(index)).collect();
        assert!(!title(&spread));
        assert!(!title(&near[..99]));
    }

    #[test]
    fn few_values_far_away_do_not_press_the_others_together() {
        let figure = |far: f64| {
            let mut values: Vec<f64> = (0..1000).map(|of| f64::from(of) / 1000.0).collect();
            values.extend([-far, far, far]);
            let figure = Distributions {
                title: "Pm".to_owned(),
                note: "of all bins".to_owned(),
                quantity: Quantity::PM,
                panels: vec![(String::new(), vec![distribution(&values)])],
                histogram: false,
            };
            let shapes = figure.draw(Style::default()).unwrap().shapes;
            let texts = shapes.into_iter().filter_map(|shape| match shape {
                super::super::canvas::Shape::Text { text, .. } => Some(text),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        };
        let far = figure(30.0);
        let said = "of all bins · 3 of 1003 lie beyond the axis";
        assert!(far.iter().any(|text| text == said), "{far:?}");
        assert!(far.iter().any(|text| text == "0.5"), "{far:?}");
        let near = figure(0.8);
        assert!(near.iter().any(|text| text == "of all bins"), "{near:?}");
    }

    #[test]
    fn zeros_beside_a_log_scale_are_drawn_and_not_said_to_lie_beyond_it() {
        // Two in five gaps below what the clock tells, the others over four decades.
        let figure = Distributions {
            title: "Gaps".to_owned(),
            note: "as they passed".to_owned(),
            quantity: Quantity::GAP,
            panels: vec![(
                String::new(),
                vec![distribution(&[0.0, 0.0, 1e-6, 1e-4, 1e-2])],
            )],
            histogram: true,
        };
        let canvas = figure.draw(Style::default()).unwrap();
        let said = |words: &str| {
            canvas.shapes.iter().any(|shape| {
                matches!(shape, super::super::canvas::Shape::Text { text, .. } if text == words)
            })
        };
        assert!(said("as they passed"));
        let axis = Axis::for_any_delays(Quantity::GAP, (0.0, 1e-2), [1e-6, 1e-2].into_iter(), 5);
        let drawn = within(&figure.panels[0].1[0].ecdf(), (axis.lowest(), axis.max));
        assert_eq!(drawn[..2], [(0.0, 0.0), (0.0, 0.4)]);
    }

    #[test]
    fn an_ecdf_is_cut_at_both_ends_of_an_axis() {
        let corners = distribution(&[0.0, 1.0, 2.0, 3.0]).ecdf();
        let cut = within(&corners, (0.5, 2.5));
        let (first, last) = (cut[0], cut[cut.len() - 1]);
        assert_eq!((first, last), ((0.5, 0.25), (2.5, 0.75)));
        assert_eq!(within(&corners, (0.0, 3.0)), corners);
    }

    #[test]
    fn one_value_alone_stands_in_the_middle() {
        for (quantity, value) in [
            (Quantity::GAP, 1.23e-6),
            (Quantity::GOODPUT, 5e6),
            (Quantity::PM, -0.5),
        ] {
            let figure = Distributions {
                title: String::new(),
                note: String::new(),
                quantity,
                panels: vec![(String::new(), vec![distribution(&[value; 4])])],
                histogram: true,
            };
            let axis = figure.axis((value, value), 6);
            assert!((0.3..0.7).contains(&axis.share(value)), "{axis:?}");
            assert!(axis.ticks.len() > 2, "{axis:?}");
        }
    }

    #[test]
    fn without_values_there_is_no_figure() {
        let figure = |panels| Distributions {
            title: "Pm".to_owned(),
            note: String::new(),
            quantity: Quantity::PM,
            panels,
            histogram: true,
        };
        assert_eq!(figure(Vec::new()).draw(Style::default()), None);
        let empty = vec![(String::new(), vec![distribution(&[])])];
        assert_eq!(figure(empty).draw(Style::default()), None);
        let one = vec![(String::new(), vec![distribution(&[0.5]), distribution(&[])])];
        assert!(figure(one).draw(Style::default()).is_some());
    }
}
