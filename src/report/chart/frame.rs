//! What surrounds the data: title, legend, axes.

use super::axis::Axis;
use super::canvas::{Align, Canvas, Point, Stroke, Type};
use super::fit::{fill, shorten, wrap};
use super::font::text_width;
use super::legend::{self, Swatch};
use super::letters::{AXIS_TITLE, HALF_DIGIT, LABEL, MARGIN, SUBTITLE, TITLE};
use super::palette::Colour;
use super::style::Size;

/// Draws title, subtitle and legend; returns where the space below them begins.
pub(super) fn header(
    canvas: &mut Canvas,
    title: &str,
    subtitle: &str,
    entries: &[(Swatch, String)],
) -> f64 {
    let room = canvas.width - 2.0 * MARGIN;
    let mut y = MARGIN - 12.0;
    // A slide has a height.
    let lines = if canvas.style.size == Size::Slide {
        2
    } else {
        3
    };
    // Of a title a line of a word or two would look like all of it.
    for line in fill(title, TITLE, room, lines) {
        y += 38.0;
        canvas.text((MARGIN, y), &line, TITLE, Align::Left);
    }
    for (index, line) in wrap(subtitle, SUBTITLE, room, 4).iter().enumerate() {
        y += if index == 0 { 36.0 } else { 29.0 };
        canvas.text((MARGIN, y), line, SUBTITLE, Align::Left);
    }
    y += 20.0;
    if entries.is_empty() {
        y
    } else {
        legend::draw(canvas, y, entries)
    }
}

/// The rectangle that data is drawn in, and its axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Panel {
    /// Where its titles begin, left of all labels: the same for panels above each other.
    pub(super) rim: f64,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// Below a panel: ticks and title of the horizontal axis, in pixels.
pub(super) const X_AXIS_HEIGHT: f64 = 78.0;

/// The height of a panel at least, however long a legend is, in pixels.
pub(super) const ROOM_MIN: f64 = 100.0;

/// The same of one of several panels on a slide.
pub(super) const ROOM_MIN_SLIDE: f64 = 85.0;

/// Between panels beside each other, in pixels.
pub(super) const COLUMN_GAP: f64 = 40.0;

/// Above a panel: title of the vertical axis, in pixels.
pub(super) const Y_TITLE_HEIGHT: f64 = 44.0;

impl Panel {
    /// A panel between two heights, as wide as the chart; both axes' titles are within them.
    pub(super) fn between(canvas: &Canvas, top: f64, bottom: f64, x: Axis, y: Axis) -> Self {
        let widest = y
            .ticks
            .iter()
            .map(|(_, text)| text_width(text, LABEL))
            .fold(0.0, f64::max);
        // Panels above each other share their left rim unless labels are very wide.
        let left = MARGIN + (widest + 14.0).max(70.0);
        Self {
            rim: MARGIN,
            left,
            top: top + Y_TITLE_HEIGHT,
            right: canvas.width - MARGIN - 10.0,
            bottom: bottom - X_AXIS_HEIGHT,
            x,
            y,
        }
    }

    /// This panel and another one beside it, in two halves of the chart's width: for slides, which are wide.
    pub(super) fn beside(self, other: Self, canvas: &Canvas) -> [Self; 2] {
        let labels = self.left.max(other.left) - MARGIN;
        let pitch = f64::midpoint(canvas.width - 2.0 * MARGIN, COLUMN_GAP);
        let place = |rim: f64, panel: Self| Self {
            rim,
            left: rim + labels,
            right: rim + pitch - COLUMN_GAP - 10.0,
            ..panel
        };
        [place(MARGIN, self), place(MARGIN + pitch, other)]
    }

    /// Where a pair of values lies.
    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        let across = self.left + self.x.share(x) * (self.right - self.left);
        (
            across,
            self.bottom - self.y.share(y) * (self.bottom - self.top),
        )
    }

    /// Draws what lies behind the data.
    pub(super) fn draw_back(&self, canvas: &mut Canvas) {
        self.draw_y_axis(canvas);
        self.draw_x_axis(canvas);
    }

    /// Draws what lies behind the data, without labels of the horizontal axis: the panel below has
    /// them.
    pub(super) fn draw_back_above(&self, canvas: &mut Canvas) {
        self.draw_y_axis(canvas);
        self.draw_x_ticks(canvas);
    }

    fn draw_y_axis(&self, canvas: &mut Canvas) {
        for (y, text) in self.y_labels() {
            canvas.line(
                &[(self.left, y), (self.right, y)],
                Stroke::solid(Colour::GRID, 1.5),
            );
            canvas.text(
                (self.left - 12.0, y + HALF_DIGIT * LABEL.px),
                text,
                LABEL,
                Align::Right,
            );
        }
        if let Some(share) = self.y.broken_at() {
            let middle = self.bottom - share * (self.bottom - self.top);
            draw_break(canvas, (self.left, middle), (1.0, -0.5), (0.0, 1.0));
        }
        let title = shorten(&self.y.title, AXIS_TITLE, self.right - self.rim);
        let at = (self.rim, self.top - 20.0);
        canvas.text(at, &title, AXIS_TITLE, Align::Left);
    }

    fn draw_x_ticks(&self, canvas: &mut Canvas) {
        let ink = Stroke::solid(Colour::INK, 2.0);
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], ink);
        for (value, _) in &self.x.ticks {
            let (x, _) = self.at(*value, self.y.min);
            let y = self.bottom;
            canvas.line(&[(x, y), (x, y + 8.0)], ink);
        }
        if let Some(share) = self.x.broken_at() {
            let middle = self.left + share * (self.right - self.left);
            draw_break(canvas, (middle, self.bottom), (-0.5, 1.0), (1.0, 0.0));
        }
    }

    /// Draws the horizontal axis.
    pub(super) fn draw_x_axis(&self, canvas: &mut Canvas) {
        self.draw_x_ticks(canvas);
        for (x, text) in self.x_labels(canvas.width) {
            canvas.text((x, self.bottom + 32.0), text, LABEL, Align::Centre);
        }
        // No wider than the panel and its labels: there may be another one beside it.
        let (from, to) = (self.rim, self.right + 10.0);
        let fits = |font: &Type| text_width(&self.x.title, *font) <= to - from;
        let fonts = [AXIS_TITLE.px, 20.0, 17.0].map(|px| Type { px, ..AXIS_TITLE });
        let font = fonts.into_iter().find(fits).unwrap_or(AXIS_TITLE);
        let title = shorten(&self.x.title, font, to - from);
        // Below the panel's middle, unless it would be cut there.
        let half = text_width(&title, font) / 2.0;
        let middle =
            f64::midpoint(self.left, self.right).clamp(from + half, (to - half).max(from + half));
        canvas.text((middle, self.bottom + 68.0), &title, font, Align::Centre);
    }

    /// Labels of the horizontal axis that have room, and where their middles are: all; or decades
    /// alone; or every second, third, … of them.
    fn x_labels(&self, width: f64) -> Vec<(f64, &str)> {
        let all: Vec<(f64, &str)> = self
            .x
            .ticks
            .iter()
            .map(|(value, text)| (self.at(*value, self.y.min).0, text.as_str()))
            .filter(|&(x, text)| x + text_width(text, LABEL) / 2.0 < width - 4.0)
            .collect();
        let fits = |labels: &[(f64, &str)]| {
            labels.windows(2).all(|pair| {
                let half = |text: &str| text_width(text, LABEL) / 2.0;
                pair[0].0 + half(pair[0].1) + 10.0 <= pair[1].0 - half(pair[1].1)
            })
        };
        if fits(&all) {
            return all;
        }
        self.x.sparser(&all, fits)
    }

    /// Labels of the vertical axis that have room, and their heights, from below: all; or decades
    /// alone; or every second, third, … of them.
    fn y_labels(&self) -> Vec<(f64, &str)> {
        let ticks = self.y.ticks.iter();
        let all: Vec<(f64, &str)> = ticks
            .map(|(value, text)| (self.at(self.x.min, *value).1, text.as_str()))
            .collect();
        let fits = |labels: &[(f64, &str)]| {
            let pairs = labels.windows(2);
            pairs
                .into_iter()
                .all(|pair| pair[0].0 - pair[1].0 >= LABEL.px)
        };
        if fits(&all) {
            return all;
        }
        self.y.sparser(&all, fits)
    }
}

impl Axis {
    /// As many of its labels as fit: decades of a log scale first; of numbers that somebody chose the ends, and
    /// whatever has room.
    fn sparser<'t>(
        &self,
        all: &[(f64, &'t str)],
        fits: impl Fn(&[(f64, &'t str)]) -> bool,
    ) -> Vec<(f64, &'t str)> {
        let decade = |text: &str| text.trim_start_matches(['0', '.']).starts_with('1');
        let decades: Vec<(f64, &str)> = all
            .iter()
            .copied()
            .filter(|&(_, text)| self.is_log() && (decade(text) || text == "0"))
            .collect();
        if self.is_chosen {
            let ends = all.first().into_iter().chain(all.last());
            let mut kept: Vec<(f64, &str)> = Vec::new();
            for label in ends.chain(&decades).chain(all) {
                let place = kept.partition_point(|(at, _)| *at < label.0);
                let mut more = kept.clone();
                more.insert(place, *label);
                if fits(&more) {
                    kept = more;
                }
            }
            return kept;
        }
        let source = if decades.len() > 1 { &decades } else { all };
        (1..=source.len().max(1))
            .map(|step| source.iter().copied().step_by(step).collect::<Vec<_>>())
            .find(|labels| fits(labels))
            .unwrap_or_default()
    }
}

/// Two short strokes `across` an axis, one after the other `along` it: it is broken there.
fn draw_break(canvas: &mut Canvas, at: Point, across: Point, along: Point) {
    const HALF: f64 = 9.0;
    const APART: f64 = 3.0;
    let stroke = |side: f64| {
        let middle = (at.0 + side * along.0, at.1 + side * along.1);
        let end = |side: f64| (middle.0 + side * across.0, middle.1 + side * across.1);
        [end(-HALF), end(HALF)]
    };
    let ([a, b], [c, d]) = (stroke(-APART), stroke(APART));
    canvas.area(vec![a, b, d, c], Colour::Paper, 1.0);
    for ends in [[a, b], [c, d]] {
        canvas.line(&ends, Stroke::solid(Colour::INK, 2.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::axis::Quantity;
    use crate::report::chart::canvas::Shape;
    use crate::report::chart::style::{Size, Style};

    #[test]
    fn a_low_panel_has_as_many_labels_as_fit_one_above_the_other() {
        let panel = |bottom, y| Panel {
            rim: MARGIN,
            left: 100.0,
            top: 0.0,
            right: 900.0,
            bottom,
            x: Axis::linear(Quantity::TIME, 0.0, 1.0, 5),
            y,
        };
        let texts = |panel: &Panel| -> Vec<String> {
            let labels = panel.y_labels().into_iter();
            labels.map(|(_, text)| text.to_owned()).collect()
        };
        // 50 µs to 200 ms in 12 steps: four decades have room.
        let delays = Axis::log(Quantity::RTT, 70e-6, 0.2);
        assert_eq!(delays.ticks.len(), 12);
        assert_eq!(texts(&panel(600.0, delays.clone())).len(), 12);
        assert_eq!(
            texts(&panel(130.0, delays)),
            ["100 µs", "1 ms", "10 ms", "100 ms"]
        );
        let nine = Axis::log(Quantity::RTT, 1e-9, 1.0);
        // 14 pixels a decade: every second one.
        assert_eq!(
            texts(&panel(130.0, nine)),
            ["1 ns", "100 ns", "10 µs", "1 ms", "100 ms"]
        );
    }

    #[test]
    fn of_numbers_that_somebody_chose_the_ends_and_what_has_room_are_labelled() {
        let delays = [0.001, 0.02, 0.04, 0.06, 0.08, 0.1];
        let labels = |right: f64| -> Vec<String> {
            let panel = Panel {
                rim: MARGIN,
                left: 100.0,
                top: 0.0,
                right,
                bottom: 400.0,
                x: Axis::for_chosen(Quantity::RTT, &delays, 5).unwrap(),
                y: Axis::linear(Quantity::RTT, 0.0, 1.0, 5),
            };
            let labels = panel.x_labels(right + 60.0).into_iter();
            labels.map(|(_, text)| text.to_owned()).collect()
        };
        assert_eq!(labels(1500.0), ["1", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(600.0), ["1", "20", "40", "60", "100"]);
        assert_eq!(labels(180.0), ["1", "100"]);
    }

    #[test]
    fn a_title_is_whole_in_three_lines_but_on_a_slide() {
        let title = "Goodput and delay by variant – lab: events, 20 Mbit/s, several, ingress, 25 bbr + 25 cubic + 25 reno";
        let lines = |title: &str, size| -> Vec<String> {
            let style = Style {
                size,
                ..Style::default()
            };
            let mut canvas = Canvas::new(style, style.size.height());
            header(&mut canvas, title, "", &[]);
            let texts = super::super::tests::texts(&canvas).into_iter();
            texts.map(str::to_owned).collect()
        };
        assert_eq!(lines(title, Size::OneColumn).join(" "), title);
        let long = [title; 4].join(", ");
        let lines = |size| lines(&long, size).len();
        // What a slide is high does not grow with its title.
        assert_eq!((lines(Size::OneColumn), lines(Size::Slide)), (3, 2));
    }

    #[test]
    fn titles_of_panels_beside_each_other_stay_apart() {
        let style = Style {
            size: Size::Slide,
            ..Style::default()
        };
        let mut canvas = Canvas::new(style, style.size.height());
        // A packet far from the first one, as where a clock was set.
        let at = 3_189_158_019.848_99;
        let x = Axis::of_time(at, at + 1e-3, 5);
        let panel = |canvas: &Canvas| {
            let y = Axis::linear(Quantity::OFFSET, 0.0, 1e4, 5);
            Panel::between(canvas, 0.0, canvas.height - 16.0, x.clone(), y)
        };
        let both = panel(&canvas).beside(panel(&canvas), &canvas);
        for panel in both {
            panel.draw_x_axis(&mut canvas);
        }
        let said = super::super::tests::texts(&canvas);
        let titles = said
            .iter()
            .filter(|text| text.ends_with("after the first packet (ms)"));
        assert_eq!(titles.count(), 2, "{said:?}");
        super::super::tests::assert_legible(&canvas);
    }

    #[test]
    fn ticks_stand_at_the_bottom_of_a_broken_axis_too() {
        let values = [0.0, 1e-5, 1e-3, 0.5];
        let y = Axis::for_any_delays(Quantity::RTT, (0.0, 0.5), values.into_iter(), 8);
        let whole = Axis::log(Quantity::RTT, 1e-5, 0.5);
        let lines_of = |y: Axis| -> Vec<Vec<Point>> {
            let mut canvas = Canvas::new(Style::default(), 900.0);
            let x = Axis::linear(Quantity::TIME, 0.0, 1.0, 5);
            let panel = Panel::between(&canvas, 0.0, 900.0, x, y);
            panel.draw_back(&mut canvas);
            let bottom = panel.bottom;
            let shapes = canvas.shapes.into_iter().filter_map(|shape| match shape {
                Shape::Line { points, .. } => Some(points),
                _ => None,
            });
            let below = move |points: &Vec<Point>| points.iter().all(|at| at.1 >= bottom - 40.0);
            shapes.filter(below).collect()
        };
        let upright = |line: &&Vec<Point>| (line[0].0 - line[1].0).abs() < 1e-9;
        let (broken, whole) = (lines_of(y), lines_of(whole));
        let ticks = |lines: &[Vec<Point>]| -> Vec<Vec<Point>> {
            lines.iter().filter(upright).cloned().collect()
        };
        let height = |lines: &[Vec<Point>]| ticks(lines)[0][0].1;
        assert_eq!(ticks(&broken).len(), 6);
        assert!((height(&broken) - height(&whole)).abs() < 1e-9);
        // Two strokes say that it is broken.
        let slanted = |lines: &[Vec<Point>]| {
            let slanted = |line: &&Vec<Point>| line[0].0 < line[1].0 && line[0].1 > line[1].1;
            lines.iter().filter(slanted).count()
        };
        assert_eq!((slanted(&broken), slanted(&whole)), (2, 0));
    }
}
