//! Estimates with intervals, and how far these are drawn.

use super::canvas::{Canvas, Stroke};
use super::frame::Panel;
use super::palette::Colour;

/// Intervals that all end within so many times the largest value are drawn whole.
const WHOLE: f64 = 2.0;

/// So far they are drawn where one goes on beyond that, as those of two runs can: values would be too small to be
/// compared, and of an interval that is cut its length tells nothing.
const REACH: f64 = 1.6;

/// Of the lines of intervals, and of the paper on either side of one that lies on a bar, in units of layout.
const WIDTH: f64 = 2.0;
const RIM: f64 = 2.0;

/// So few values are drawn themselves: their interval is one of Student's t, 4.3 standard errors of three and 12.7 of
/// two, and tells how few they are rather than where they lie.
pub(super) const FEW: usize = 3;

/// A mean or the like, over `n` values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// In the base unit of its quantity.
    pub value: f64,
    /// How far it can be trusted.
    pub spread: Spread,
    /// Number of values.
    pub n: u64,
}

/// What tells how far an estimate can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Nothing, as of one value alone.
    Unknown,
    /// Its interval: lower and upper end.
    Interval(f64, f64),
    /// The values, of two.
    Two([f64; 2]),
    /// The values, of three.
    Three([f64; 3]),
}

impl Spread {
    /// The values, where they are so few that they are drawn themselves.
    pub(super) fn of_few(values: &[f64]) -> Option<Self> {
        match *values {
            [one, two] => Some(Self::Two([one, two])),
            [one, two, three] => Some(Self::Three([one, two, three])),
            _ => None,
        }
    }

    /// The interval, where there is one.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Interval(low, high) => Some((low, high)),
            _ => None,
        }
    }

    /// The values, where they are few.
    pub(super) fn values(&self) -> &[f64] {
        match self {
            Self::Two(values) => values,
            Self::Three(values) => values,
            Self::Unknown | Self::Interval(..) => &[],
        }
    }

    /// The ends of the interval, or the least and the largest of a few values.
    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        let values = self.values().iter().map(|&value| (value, value));
        self.interval().or_else(|| values.reduce(wider))
    }
}

/// From the lower of two lower ends to the higher of two higher ones.
pub(super) fn wider(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Between which values intervals are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Reach {
    /// For some estimates to be compared with each other.
    pub(super) fn of<'e>(estimates: impl Iterator<Item = &'e Estimate>) -> Self {
        let (mut largest, mut farthest) = (0.0_f64, 0.0_f64);
        for of in estimates {
            largest = largest.max(of.value.abs());
            let interval = of.spread.interval();
            let ends = interval.map_or(0.0, |(low, high)| low.abs().max(high.abs()));
            farthest = farthest.max(ends);
        }
        let high = if largest > 0.0 && farthest > WHOLE * largest {
            REACH * largest
        } else {
            f64::INFINITY
        };
        Self { low: -high, high }
    }

    /// The lowest and the highest of what is drawn; none without estimates.
    pub(super) fn range<'e>(
        &self,
        estimates: impl Iterator<Item = &'e Estimate>,
    ) -> Option<(f64, f64)> {
        let ranges = estimates.map(|of| {
            let interval = of.spread.interval();
            let drawn = interval.map(|(low, high)| (self.cut(low), self.cut(high)));
            // Values are never cut.
            let drawn = drawn.or_else(|| of.spread.ends());
            drawn.map_or((of.value, of.value), |ends| {
                wider(ends, (of.value, of.value))
            })
        });
        ranges.reduce(wider)
    }

    /// An end of an interval, or where it is cut.
    fn cut(&self, end: f64) -> f64 {
        end.clamp(self.low, self.high)
    }

    fn is_beyond(&self, end: f64) -> bool {
        end < self.low || end > self.high
    }

    /// The end of an interval that is farthest beyond; none where all are drawn whole.
    pub(super) fn farthest<'e>(
        &self,
        estimates: impl Iterator<Item = &'e Estimate>,
    ) -> Option<f64> {
        let ends = estimates.filter_map(|of| of.spread.interval());
        let ends = ends.flat_map(|(low, high)| [low, high]);
        ends.filter(|&end| self.is_beyond(end)).reduce(farther)
    }

    /// Draws the interval of an estimate as a vertical line: with a bar at an end, with an arrow
    /// where it goes on. Returns the height that it reaches.
    pub(super) fn whisker(
        &self,
        canvas: &mut Canvas,
        panel: &Panel,
        x: f64,
        (value, interval): (f64, (f64, f64)),
        (half, colour): (f64, Colour),
    ) -> f64 {
        self.line(canvas, panel, x, (value, interval), (half, colour, WIDTH))
    }

    /// The same with a rim of paper, to be seen on bars, one of which may have the colour of the line.
    pub(super) fn outlined_whisker(
        &self,
        canvas: &mut Canvas,
        panel: &Panel,
        x: f64,
        (value, interval): (f64, (f64, f64)),
        (half, colour): (f64, Colour),
    ) -> f64 {
        let rim = (half + RIM, Colour::Paper, WIDTH + 2.0 * RIM);
        self.line(canvas, panel, x, (value, interval), rim);
        self.whisker(canvas, panel, x, (value, interval), (half, colour))
    }

    fn line(
        &self,
        canvas: &mut Canvas,
        panel: &Panel,
        x: f64,
        (value, interval): (f64, (f64, f64)),
        (half, colour, width): (f64, Colour, f64),
    ) -> f64 {
        let height = |value: f64| panel.at(panel.x.min, value).1;
        for end in [interval.0, interval.1] {
            let span = (height(value), height(self.cut(end)));
            let stroke = Stroke::solid(colour, width);
            if self.is_beyond(end) {
                arrow(canvas, x, span, half.max(5.0), stroke);
            } else {
                // Of an estimate at an end of the axis, such as the last one of a time, half of the bar has room.
                let bar = [(x - half).max(panel.left), (x + half).min(panel.right)];
                stroke_to_bar(canvas, x, span, bar, stroke);
            }
        }
        height(self.cut(interval.1))
    }
}

/// How far from their middle one of a few dots stands: beside each other, as values that are alike would be one.
pub(super) fn beside_others(place: usize, all: usize, step: f64) -> f64 {
    (place as f64 - (all as f64 - 1.0) / 2.0) * step
}

/// The one of two values that is farther from 0.
pub(super) fn farther(one: f64, two: f64) -> f64 {
    if two.abs() > one.abs() { two } else { one }
}

/// A vertical line with a bar at the end that it leads to.
pub(super) fn half_whisker(
    canvas: &mut Canvas,
    x: f64,
    span: (f64, f64),
    half: f64,
    colour: Colour,
) {
    let bar = [x - half, x + half];
    stroke_to_bar(canvas, x, span, bar, Stroke::solid(colour, WIDTH));
}

fn stroke_to_bar(
    canvas: &mut Canvas,
    x: f64,
    (from, to): (f64, f64),
    bar: [f64; 2],
    stroke: Stroke,
) {
    canvas.line(&[(x, from), (x, to)], stroke);
    canvas.line(&bar.map(|x| (x, to)), stroke);
}

/// A vertical line with an arrowhead at the end that it leads to.
fn arrow(canvas: &mut Canvas, x: f64, (from, to): (f64, f64), half: f64, stroke: Stroke) {
    let base = to + 2.0 * half * (from - to).signum();
    canvas.line(&[(x, from), (x, base)], stroke);
    let head = vec![(x - half, base), (x, to), (x + half, base)];
    canvas.area(head, stroke.colour, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_cut_where_they_would_dwarf_the_values() {
        let estimate = |value, (low, high)| Estimate {
            value,
            spread: Spread::Interval(low, high),
            n: 4,
        };
        let of = [estimate(0.06, (0.0, 0.44)), estimate(0.02, (0.01, 0.03))];
        let reach = Reach::of(of.iter());
        assert_eq!(reach.range(of.iter()), Some((0.0, REACH * 0.06)));
        assert_eq!(reach.farthest(of.iter()), Some(0.44));
        // What reaches twice as far is drawn whole.
        let of = [estimate(0.06, (0.0, 0.12))];
        let reach = Reach::of(of.iter());
        assert_eq!(reach.range(of.iter()), Some((0.0, 0.12)));
        assert_eq!(reach.farthest(of.iter()), None);
        // Nothing to compare with: all of it.
        let of = [estimate(0.0, (-1.0, 1.0))];
        let reach = Reach::of(of.iter());
        assert_eq!(reach.range(of.iter()), Some((-1.0, 1.0)));
        assert_eq!(reach.range([].iter()), None);
    }
    #[test]
    fn values_are_never_cut() {
        let of = [Estimate {
            value: 1.0,
            spread: Spread::Three([0.0, 0.0, 3.0]),
            n: 3,
        }];
        let reach = Reach::of(of.iter());
        assert_eq!(reach.range(of.iter()), Some((0.0, 3.0)));
        assert_eq!(reach.farthest(of.iter()), None);
    }
}
