//! Lines over a condition, with bands of what can be trusted: goodput against loss or delay.

use super::axis::{Axis, Quantity, SPREAD};
use super::canvas::{Canvas, Point, Stroke};
use super::counts::{each_note, n_of};
use super::frame::{Panel, header};
use super::interval::{Estimate, FEW, Reach, Spread, wider};
use super::label::joined;
use super::legend::Swatch;
use super::looks::Looks;
use super::palette::{Colour, LineStyle};
use super::plot::{marked, outline};
use super::style::Style;
use super::thin;

/// Half the width of a whisker's ends.
const WHISKER: f64 = 10.0;

/// Lines whose bands are told apart; those of more are a wall that hides the lines.
const BANDS_MAX: usize = 6;

/// So many values of few runs are drawn as marks; of more, which would hide the lines, there is a band from the
/// smallest to the largest.
const MARKS_MAX: usize = 80;
const MARK: f64 = 3.5;

/// Lines, each of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct BandLines {
    /// What it is about, and under which condition.
    pub title: String,
    /// What the bands are (`95 % confidence interval of the mean`), and what else is to be said.
    pub note: String,
    /// What the intervals are, for the legend (`95 % confidence interval`).
    pub interval: &'static str,
    /// What changes from left to right: its units.
    pub x: Quantity,
    /// What it is called.
    pub x_name: String,
    /// What is measured.
    pub y: Quantity,
    /// Names of variants and their points: the condition in the base unit, and what was measured. A name that comes
    /// again goes on behind a gap, across which nothing is drawn.
    pub lines: Vec<(String, Vec<(f64, Estimate)>)>,
}

impl BandLines {
    fn points(&self) -> impl Iterator<Item = &(f64, Estimate)> {
        self.lines.iter().flat_map(|(_, points)| points)
    }

    fn estimates(&self) -> impl Iterator<Item = &Estimate> {
        self.points().map(|(_, of)| of)
    }

    /// The figure; none without points.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        let names = self.lines.iter().map(|(name, _)| name.as_str());
        self.draw_as(style, &Looks::of(names))
    }

    /// The figure, of variants that look as those of other figures; none without points.
    #[must_use]
    pub fn draw_as(&self, style: Style, looks: &Looks) -> Option<Canvas> {
        if let Some(bare) = self.without_wall() {
            return bare.draw_as(style, looks);
        }
        let (low, high) = Reach::of(self.estimates()).range(self.estimates())?;
        // Time begins at 0.
        let begin = (self.x == Quantity::TIME).then_some(0.0);
        let at = self.points().map(|&(x, _)| x).chain(begin);
        let at: Vec<f64> = at.collect();
        let x = Axis::for_chosen(self.x, &at, style.size.ticks_across(1.0))?;
        let x = Axis {
            title: x.title.replacen(self.x.name, &self.x_name, 1),
            ..x
        };
        let y = if self.x != Quantity::TIME && self.y.is_rate() && low > 0.0 && high / low > SPREAD
        {
            // From 0 all but the quickest links would be one line.
            Axis::log(self.y, low, high)
        } else {
            Axis::linear(self.y, low.min(0.0), high, 7)
        };
        let lines = self.in_order(looks);
        let mut canvas = Canvas::new(style, style.size.height());
        // A band that ended below the rim would not look cut.
        let reach = Reach {
            low: y.min,
            high: y.max,
        };
        let mut notes = vec![self.note.clone()];
        notes.extend(reach.farthest(self.estimates()).map(|end| {
            let end = self.y.format(end);
            format!("intervals go on beyond the axis, to {end} at most")
        }));
        let few = self.few();
        if few == Few::Marks {
            notes.extend(each_note("small marks", self.estimates()));
        }
        notes.push(n_of(|| self.estimates()));
        let top = header(
            &mut canvas,
            &self.title,
            &joined(&notes),
            &self.legend(&lines, few),
        );
        let height = style.size.height();
        canvas.height = height.max((top + 0.55 * height).ceil());
        let panel = Panel::between(&canvas, top, canvas.height - 16.0, x, y);
        panel.draw_back(&mut canvas);
        // Bands of several must not add up to more than a line.
        let opacity = (0.3 / (lines.len() as f64).sqrt()).min(0.18);
        for line in &lines {
            for points in &line.parts {
                let look = (line.style.colour, opacity);
                draw_intervals(&mut canvas, &panel, reach, look, (points, few));
            }
        }
        for (rank, line) in lines.iter().enumerate().rev() {
            line.draw(&mut canvas, &panel, (rank, lines.len()));
        }
        if few == Few::Marks {
            for line in &lines {
                line.mark_values(&mut canvas, &panel);
            }
        }
        Some(canvas)
    }

    /// How values are drawn where they are few.
    fn few(&self) -> Few {
        let values = self.estimates().map(|of| of.spread.values().len());
        if values.sum::<usize>() <= MARKS_MAX {
            Few::Marks
        } else {
            Few::Bands
        }
    }

    /// The same without intervals, which is said, where so many would hide what they are about.
    fn without_wall(&self) -> Option<Self> {
        let same = self.lines.chunk_by(|(one, _), (next, _)| one == next);
        let lines = same.count();
        let few = self.few();
        let has_band = |of: &Estimate| few.band(of).is_some();
        if lines <= BANDS_MAX || !self.estimates().any(has_band) {
            return None;
        }
        let said = format!("not drawn: those of {lines} lines would cover each other");
        let mut bare = Self {
            note: format!("{} ({said})", self.note),
            ..self.clone()
        };
        let points = bare.lines.iter_mut().flat_map(|(_, points)| points);
        let points = points.map(|(_, of)| of).filter(|of| has_band(of));
        points.for_each(|of| of.spread = Spread::Unknown);
        Some(bare)
    }

    /// The lines, and what their bands are.
    fn legend(&self, lines: &[BandLine<'_>], few: Few) -> Vec<(Swatch, String)> {
        let mut legend: Vec<(Swatch, String)> = lines
            .iter()
            .map(|line| (Swatch::Line(line.style), line.name.to_owned()))
            .collect();
        let parts = lines.iter().flat_map(|line| &line.parts);
        let mut stretches = parts.flat_map(|points| stretches(points, few));
        let Some(first) = stretches.next() else {
            return legend;
        };
        let swatch = if first.len() > 1 || stretches.any(|stretch| stretch.len() > 1) {
            Swatch::Band(Colour::INK)
        } else {
            Swatch::Tick(Colour::INK, 3.0)
        };
        let of_few = few == Few::Bands && self.estimates().any(|of| !of.spread.values().is_empty());
        let has_interval = self.estimates().any(|of| of.spread.interval().is_some());
        let name = match (has_interval, of_few) {
            (true, true) => format!(
                "{}; of {FEW} runs or fewer smallest to largest",
                self.interval
            ),
            (false, true) => "smallest to largest run".to_owned(),
            _ => self.interval.to_owned(),
        };
        legend.push((swatch, name));
        legend
    }

    /// The lines with their points from left to right.
    fn in_order(&self, looks: &Looks) -> Vec<BandLine<'_>> {
        let same = self.lines.chunk_by(|(one, _), (next, _)| one == next);
        same.map(|parts| {
            let name = parts[0].0.as_str();
            let in_order = |(_, points): &(String, Points)| {
                let mut points = points.clone();
                points.sort_by(|one, two| one.0.total_cmp(&two.0));
                points
            };
            BandLine {
                name,
                style: looks.style(name),
                parts: parts.iter().map(in_order).collect(),
            }
        })
        .collect()
    }
}

/// How values are drawn where they are so few that they have no interval.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Few {
    /// Each.
    Marks,
    /// As a band from the smallest to the largest.
    Bands,
}

impl Few {
    /// What is drawn as a band.
    fn band(self, of: &Estimate) -> Option<(f64, f64)> {
        match self {
            Self::Marks => of.spread.interval(),
            Self::Bands => of.spread.ends(),
        }
    }
}

/// A line with its look, and the parts of it that have points without a gap.
struct BandLine<'n> {
    name: &'n str,
    style: LineStyle,
    parts: Vec<Points>,
}

impl BandLine<'_> {
    /// Draws the line, which is one of so many.
    fn draw(&self, canvas: &mut Canvas, panel: &Panel, (rank, lines): (usize, usize)) {
        let stroke = Stroke::solid(self.style.colour, 3.0);
        let at = |&(x, of): &(f64, Estimate)| panel.at(x, of.value);
        let all: Vec<Point> = self.parts.iter().flatten().map(at).collect();
        for points in &self.parts {
            canvas.line(&thin::line(points.iter().map(at)), stroke);
        }
        // Every point was measured; of more than can be told apart, some are marked, and those that no line shows.
        let marks = if all.len() <= 60 {
            all
        } else {
            let alone = self.parts.iter().filter(|points| points.len() == 1);
            let mut marks = marked(&all, rank, lines);
            marks.extend(alone.flatten().map(at));
            marks
        };
        for point in marks {
            canvas.marker(point, 7.0, self.style.marker, self.style.colour);
        }
    }

    /// Draws the values of points that have few, smaller than what marks their mean.
    fn mark_values(&self, canvas: &mut Canvas, panel: &Panel) {
        for &(x, of) in self.parts.iter().flatten() {
            for &value in of.spread.values() {
                let at = panel.at(x, value);
                canvas.marker(at, MARK, self.style.marker, self.style.colour);
            }
        }
    }
}

/// Points of a line: the condition, and what was measured.
type Points = Vec<(f64, Estimate)>;

/// Points with a band that follow each other.
fn stretches(points: &[(f64, Estimate)], few: Few) -> impl Iterator<Item = &[(f64, Estimate)]> {
    let has = move |point: &(f64, Estimate)| few.band(&point.1).is_some();
    let chunks = points.chunk_by(move |one, two| has(one) == has(two));
    chunks.filter(move |chunk| has(&chunk[0]))
}

/// A band where points that have one follow each other; a whisker about one that is alone, of
/// which a band would show nothing.
fn draw_intervals(
    canvas: &mut Canvas,
    panel: &Panel,
    reach: Reach,
    (colour, opacity): (Colour, f64),
    (points, few): (&[(f64, Estimate)], Few),
) {
    for stretch in stretches(points, few) {
        let slices = stretch.iter().filter_map(|&(x, of)| {
            let (low, high) = few.band(&of)?;
            let ((x, low), (_, high)) = (panel.at(x, low), panel.at(x, high));
            Some((x, low, high))
        });
        match thin::band(slices).as_slice() {
            [(x, _, _)] => {
                let bands = stretch.iter().filter_map(|(_, of)| few.band(of));
                if let Some(interval) = bands.reduce(wider) {
                    let of = (stretch[0].1.value, interval);
                    reach.whisker(canvas, panel, *x, of, (WHISKER, colour));
                }
            }
            slices => canvas.area(outline(slices), colour, opacity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::canvas::Shape;

    fn areas(spreads: [Spread; 3]) -> (usize, bool) {
        let point = |(index, spread): (usize, Spread)| {
            let of = Estimate {
                value: 5e6,
                spread,
                n: 4,
            };
            (index as f64, of)
        };
        let points: Points = spreads.into_iter().enumerate().map(point).collect();
        let lines = BandLines {
            title: String::new(),
            note: String::new(),
            interval: "95 % confidence interval",
            x: Quantity::PLAIN,
            x_name: "Loss".to_owned(),
            y: Quantity::GOODPUT,
            lines: vec![("cubic".to_owned(), points)],
        };
        let canvas = lines.draw(Style::default()).unwrap();
        let shapes = canvas.shapes.iter();
        let areas = shapes.filter(|shape| matches!(shape, Shape::Area { .. }));
        let told = canvas.shapes.iter().any(
            |shape| matches!(shape, Shape::Text { text, .. } if text == "95 % confidence interval"),
        );
        (areas.count(), told)
    }

    #[test]
    fn an_interval_is_a_band_only_beside_another_one() {
        let (some, none) = (Spread::Interval(4e6, 6e6), Spread::Unknown);
        // The band and its sample in the legend.
        assert_eq!(areas([some, some, none]), (2, true));
        // Nothing was measured that would tell how far the middle one can be trusted.
        assert_eq!(areas([some, none, some]), (0, true));
        assert_eq!(areas([none; 3]), (0, false));
    }

    #[test]
    fn bands_of_many_lines_do_not_hide_them() {
        let drawn = |lines: usize| {
            let of = Estimate {
                value: 5e6,
                spread: Spread::Interval(4e6, 60e6),
                n: 4,
            };
            let points = vec![(0.0, of), (1.0, of)];
            let line = |number: usize| (format!("variant {number}"), points.clone());
            let lines = BandLines {
                title: String::new(),
                note: "mean of runs, with its 95 % confidence interval".to_owned(),
                interval: "95 % confidence interval",
                x: Quantity::PLAIN,
                x_name: "Loss".to_owned(),
                y: Quantity::GOODPUT,
                lines: (0..lines).map(line).collect(),
            };
            let canvas = lines.draw(Style::default()).unwrap();
            let shapes = || canvas.shapes.iter();
            let areas = shapes().filter(|shape| matches!(shape, Shape::Area { .. }));
            let text = |shape: &Shape| match shape {
                Shape::Text { text, .. } => format!("{text} "),
                _ => String::new(),
            };
            (areas.count(), shapes().map(text).collect::<String>())
        };
        let (areas, texts) = drawn(BANDS_MAX);
        assert_eq!(areas, BANDS_MAX + 1);
        assert!(!texts.contains("not drawn"), "{texts}");
        let (areas, texts) = drawn(20);
        assert_eq!(areas, 0);
        assert!(
            texts.contains("(not drawn: those of 20 lines would cover each other)"),
            "{texts}"
        );
        // Nor does what is not drawn take half of the axis.
        assert!(texts.contains("4 5 Goodput"), "{texts}");
    }

    #[test]
    fn time_begins_at_0_and_no_condition_does() {
        let first_tick = |x: Quantity| {
            let of = Estimate {
                value: 5e6,
                spread: Spread::Unknown,
                n: 4,
            };
            let lines = BandLines {
                title: String::new(),
                note: String::new(),
                interval: "95 % confidence interval",
                x,
                x_name: "x".to_owned(),
                y: Quantity::GOODPUT,
                lines: vec![("cubic".to_owned(), vec![(6.0, of), (9.0, of)])],
            };
            let canvas = lines.draw(Style::default()).unwrap();
            let below = canvas.shapes.iter().filter_map(|shape| match shape {
                Shape::Text { text, at, .. } => Some((text.parse::<f64>().ok()?, at.1)),
                _ => None,
            });
            // Ticks of the other axis are above these.
            let (tick, _) = below
                .reduce(|lowest, text| if text.1 > lowest.1 { text } else { lowest })
                .unwrap();
            tick
        };
        assert!(first_tick(Quantity::TIME).abs() < 1e-9);
        assert!(first_tick(Quantity::PLAIN) >= 6.0);
    }

    #[test]
    fn an_interval_that_is_alone_at_an_end_of_time_stays_within_the_axes() {
        let ends = |spread: Spread| {
            let of = |spread| Estimate {
                value: 5e6,
                spread,
                n: 4,
            };
            let points = vec![
                (0.0, of(spread)),
                (1.0, of(Spread::Unknown)),
                (2.0, of(spread)),
            ];
            let lines = BandLines {
                title: String::new(),
                note: String::new(),
                interval: "95 % confidence interval",
                x: Quantity::TIME,
                x_name: "Time".to_owned(),
                y: Quantity::GOODPUT,
                lines: vec![("cubic".to_owned(), points)],
            };
            let canvas = lines.draw(Style::default()).unwrap();
            let at = canvas.shapes.iter().filter_map(|shape| match shape {
                Shape::Line { points, .. } => Some(points.iter().map(|at| at.0)),
                _ => None,
            });
            at.flatten().fold(f64::MIN, f64::max)
        };
        let (with, without) = (ends(Spread::Interval(4e6, 6e6)), ends(Spread::Unknown));
        assert!((with - without).abs() < 1e-9, "{with} {without}");
    }

    #[test]
    fn what_goes_on_beyond_the_axis_is_said() {
        let points = |high: f64| -> Points {
            let of = Estimate {
                value: 5e6,
                spread: Spread::Interval(0.0, high),
                n: 4,
            };
            vec![(0.0, of), (1.0, of)]
        };
        let said = |high: f64| {
            let lines = BandLines {
                title: String::new(),
                note: String::new(),
                interval: "95 % confidence interval",
                x: Quantity::PLAIN,
                x_name: "Loss".to_owned(),
                y: Quantity::GOODPUT,
                lines: vec![("cubic".to_owned(), points(high))],
            };
            let canvas = lines.draw(Style::default()).unwrap();
            let mut shapes = canvas.shapes.iter();
            shapes.any(|shape| {
                matches!(shape, Shape::Text { text, .. }
                    if text.contains("intervals go on beyond the axis, to 37.0 Mbit/s at most"))
            })
        };
        assert!(said(37e6) && !said(7e6));
    }

    #[test]
    fn a_few_values_are_drawn_themselves_or_as_a_band_where_they_are_many() {
        let drawn = |points: usize, spread: Spread| {
            let of = Estimate {
                value: 5e6,
                spread,
                n: 3,
            };
            let lines = BandLines {
                title: String::new(),
                note: "mean of runs".to_owned(),
                interval: "95 % confidence interval",
                x: Quantity::PLAIN,
                x_name: "Loss".to_owned(),
                y: Quantity::GOODPUT,
                lines: vec![(
                    "cubic".to_owned(),
                    (20..20 + points).map(|x| (x as f64, of)).collect(),
                )],
            };
            let canvas = lines.draw(Style::default()).unwrap();
            let count =
                |is: &dyn Fn(&Shape) -> bool| canvas.shapes.iter().filter(|of| is(of)).count();
            let bands = count(&|shape| matches!(shape, Shape::Area { .. }));
            let marks =
                count(&|shape| matches!(shape, Shape::Marker { radius, .. } if *radius == MARK));
            let has = |wanted: &str| {
                count(&|shape| matches!(shape, Shape::Text { text, .. } if text.contains(wanted)))
                    > 0
            };
            let said = has("mean of runs · small marks: each run · n = 3");
            (bands, marks, said, has("smallest to largest run"))
        };
        let three = Spread::Three([4e6, 5e6, 6e6]);
        assert_eq!(drawn(5, three), (0, 15, true, false));
        // The band and its sample in the legend.
        assert_eq!(drawn(MARKS_MAX, three), (2, 0, false, true));
        let interval = Spread::Interval(4e6, 6e6);
        assert_eq!(drawn(5, interval), (2, 0, false, false));
    }

    #[test]
    fn means_over_rates_that_span_decades_have_a_log_scale() {
        let title = |y: Quantity, largest: f64, low: f64| {
            let of = |value: f64| Estimate {
                value,
                spread: Spread::Interval(low * value, 1.1 * value),
                n: 4,
            };
            let points = vec![(5e6, of(4e6)), (500e6, of(largest))];
            let lines = BandLines {
                title: String::new(),
                note: String::new(),
                interval: "95 % confidence interval",
                x: Quantity::GOODPUT.called("Capacity"),
                x_name: "Capacity".to_owned(),
                y,
                lines: vec![("cubic".to_owned(), points)],
            };
            let canvas = lines.draw(Style::default()).unwrap();
            let texts = canvas.shapes.iter().filter_map(|shape| match shape {
                Shape::Text { text, .. } => text.strip_prefix(y.name).map(str::to_owned),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("|")
        };
        assert!(title(Quantity::GOODPUT, 480e6, 0.9).contains("log scale"));
        // Close together, an interval that reaches 0, and no rate.
        assert!(!title(Quantity::GOODPUT, 100e6, 0.9).contains("log scale"));
        assert!(!title(Quantity::GOODPUT, 480e6, 0.0).contains("log scale"));
        assert!(!title(Quantity::OVERHEAD, 480e6, 0.9).contains("log scale"));
    }
}
