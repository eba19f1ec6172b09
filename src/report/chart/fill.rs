//! How the bars and boxes of variants are filled: where colours are alike to some readers, strokes tell them apart.

use super::canvas::Point;

/// What lies on a bar, over its colour: strokes of paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Nothing: the colour alone.
    Plain,
    /// Strokes from the lower left to the upper right.
    Rising,
    /// Strokes from the upper left to the lower right.
    Falling,
    /// Strokes from left to right.
    Level,
    /// Rising and falling ones.
    Crossed,
}

/// From one stroke to the next, and how wide each is, in units of layout: the narrowest bar shows two of them, and half
/// the size leaves a pixel and more of each.
const PITCH: f64 = 8.0;
const WIDTH: f64 = 2.5;
/// Of strokes that cross, which would take half of the colour.
const CROSSED_PITCH: f64 = 12.0;
/// The edge of a bar has no strokes: how high it is, is what it is there for.
const RIM: f64 = 2.5;

impl Fill {
    /// All of them, the ones first that take least from a colour.
    pub(super) const ALL: [Self; 5] = [
        Self::Plain,
        Self::Rising,
        Self::Falling,
        Self::Level,
        Self::Crossed,
    ];

    /// The strokes on a bar between two corners, as polygons.
    pub(super) fn strokes(self, from: Point, to: Point) -> Vec<Vec<Point>> {
        let (left, right) = (from.0.min(to.0) + RIM, from.0.max(to.0) - RIM);
        let (top, bottom) = (from.1.min(to.1) + RIM, from.1.max(to.1) - RIM);
        if left >= right || top >= bottom {
            return Vec::new();
        }
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        // Counted from the lower left corner, where bars begin: those beside each other look the same.
        let rising = |at: Point| ((at.0 - left) + (at.1 - bottom)) / std::f64::consts::SQRT_2;
        let falling = |at: Point| ((at.0 - left) - (at.1 - bottom)) / std::f64::consts::SQRT_2;
        let level = |at: Point| bottom - at.1;
        match self {
            Self::Plain => Vec::new(),
            Self::Rising => bands(&corners, rising, PITCH),
            Self::Falling => bands(&corners, falling, PITCH),
            Self::Level => bands(&corners, level, PITCH),
            Self::Crossed => {
                let mut both = bands(&corners, rising, CROSSED_PITCH);
                both.extend(bands(&corners, falling, CROSSED_PITCH));
                both
            }
        }
    }
}

/// The parts of a polygon where `measure`, a distance, is near half a pitch, one and a half, and so on.
fn bands(corners: &[Point], measure: impl Fn(Point) -> f64, pitch: f64) -> Vec<Vec<Point>> {
    let measures = || corners.iter().map(|&corner| measure(corner));
    let (low, high) = (
        measures().fold(f64::INFINITY, f64::min),
        measures().fold(f64::NEG_INFINITY, f64::max),
    );
    let mut bands = Vec::new();
    let mut middle = ((low / pitch - 0.5).floor() + 0.5) * pitch;
    while middle - WIDTH / 2.0 < high {
        let (least, most) = (middle - WIDTH / 2.0, middle + WIDTH / 2.0);
        let above = clipped(corners, |at| measure(at) - least);
        let band = clipped(&above, |at| most - measure(at));
        if band.len() > 2 {
            bands.push(band);
        }
        middle += pitch;
    }
    bands
}

/// The part of a polygon where `inside`, which is linear, is not below 0.
fn clipped(corners: &[Point], inside: impl Fn(Point) -> f64) -> Vec<Point> {
    let next = corners.iter().cycle().skip(1);
    let mut kept = Vec::new();
    for (&one, &two) in corners.iter().zip(next) {
        let (a, b) = (inside(one), inside(two));
        if a >= 0.0 {
            kept.push(one);
        }
        if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
            let part = a / (a - b);
            kept.push((
                one.0 + part * (two.0 - one.0),
                one.1 + part * (two.1 - one.1),
            ));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::boxes::{BoxPanel, Boxes};
    use crate::report::chart::canvas::{Canvas, Shape};
    use crate::report::chart::grouped_bars::GroupedBars;
    use crate::report::chart::interval::{Estimate, Spread};
    use crate::report::chart::looks::Looks;
    use crate::report::chart::palette::Colour;
    use crate::report::chart::{Quantity, Style, variant};

    fn area(corners: &[Point]) -> f64 {
        let next = corners.iter().cycle().skip(1);
        let sides = corners.iter().zip(next);
        let twice: f64 = sides.map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum();
        twice.abs() / 2.0
    }

    #[test]
    fn strokes_lie_within_the_rim_of_a_bar_and_leave_most_of_its_colour() {
        for fill in Fill::ALL {
            let strokes = fill.strokes((100.0, 300.0), (122.0, 180.0));
            assert_eq!(strokes.is_empty(), fill == Fill::Plain);
            for &(x, y) in strokes.iter().flatten() {
                let across = (100.0 + RIM - 1e-6..=122.0 - RIM + 1e-6).contains(&x);
                let along = (180.0 + RIM - 1e-6..=300.0 - RIM + 1e-6).contains(&y);
                assert!(across && along, "{fill:?} {x} {y}");
            }
            let covered: f64 = strokes.iter().map(|stroke| area(stroke)).sum();
            let share = covered / (22.0 * 120.0);
            let wanted = match fill {
                Fill::Plain => 0.0..=0.0,
                Fill::Crossed => 0.25..=0.4,
                _ => 0.18..=0.31,
            };
            assert!(wanted.contains(&share), "{fill:?} {share}");
        }
    }

    #[test]
    fn a_bar_that_is_hardly_there_keeps_its_colour() {
        for fill in Fill::ALL {
            let strokes = fill.strokes((0.0, 300.0), (40.0, 300.0 - 2.0 * RIM));
            assert!(strokes.is_empty(), "{fill:?}");
        }
    }

    #[test]
    fn bars_boxes_and_their_legends_have_the_strokes_of_the_variant() {
        let strokes_after = |canvas: &Canvas, colour: Colour| -> Vec<usize> {
            let mut found = Vec::new();
            for (place, shape) in canvas.shapes.iter().enumerate() {
                if matches!(shape, Shape::Rect { colour: of, .. } if *of == colour) {
                    let after = canvas.shapes[place + 1..].iter();
                    let is_stroke = |shape: &&Shape| {
                        matches!(
                            shape,
                            Shape::Area {
                                colour: Colour::Paper,
                                ..
                            }
                        )
                    };
                    found.push(after.take_while(is_stroke).count());
                }
            }
            found
        };
        let colour = |name: &str| variant(name).colour;
        assert_eq!(variant("prague").fill, Fill::Level);
        let estimate = Estimate {
            value: 5e6,
            spread: Spread::Unknown,
            n: 1,
        };
        let bars = GroupedBars {
            title: String::new(),
            note: String::new(),
            quantity: Quantity::GOODPUT,
            groups: vec![(
                "deep".to_owned(),
                ["cubic", "prague"]
                    .map(|name| (name.to_owned(), Some(estimate)))
                    .to_vec(),
            )],
        };
        let drawn = bars.draw(Style::default()).unwrap();
        assert_eq!(strokes_after(&drawn, colour("cubic")), [0, 0]);
        let [legend, bar] = strokes_after(&drawn, colour("prague"))[..] else {
            panic!("a bar and its place in the legend");
        };
        assert!(legend == 2 && bar > 20, "{legend} {bar}");
        let boxes = Boxes {
            title: String::new(),
            note: String::new(),
            panels: vec![BoxPanel {
                quantity: Quantity::GOODPUT,
                samples: vec![("prague".to_owned(), vec![1e6, 2e6, 3e6, 4e6, 5e6])],
            }],
        };
        let drawn = boxes
            .draw_as(Style::default(), &Looks::of(["prague"]))
            .unwrap();
        assert!(strokes_after(&drawn, colour("prague"))[0] > 20);
    }
}
