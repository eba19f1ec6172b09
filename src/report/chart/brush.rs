//! Takes the shapes of a chart apart into what every drawing surface knows.

use super::canvas::{Align, Canvas, Point, Shape, Stroke, Type};
use super::palette::{Colour, Marker};

/// What a chart is drawn on. Lengths are in units of layout, as those of the [`Canvas`].
pub(super) trait Surface {
    /// What may go wrong.
    type Failure;

    /// A line without gaps, whatever the stroke says of dashes.
    fn line(&mut self, points: &[Point], stroke: Stroke) -> Result<(), Self::Failure>;

    /// A filled polygon; opacity is from 0 to 1.
    fn area(&mut self, points: &[Point], colour: Colour, opacity: f64)
    -> Result<(), Self::Failure>;

    /// A filled rectangle between two corners.
    fn rect(&mut self, from: Point, to: Point, colour: Colour) -> Result<(), Self::Failure>;

    /// A filled circle.
    fn disc(&mut self, at: Point, radius: f64, colour: Colour) -> Result<(), Self::Failure>;

    /// Text with its baseline at `at`.
    fn text(
        &mut self,
        at: Point,
        text: &str,
        font: Type,
        align: Align,
    ) -> Result<(), Self::Failure>;
}

/// Puts the shapes of a chart on a surface, in their order.
pub(super) fn draw<S: Surface>(canvas: &Canvas, surface: &mut S) -> Result<(), S::Failure> {
    canvas
        .shapes
        .iter()
        .try_for_each(|shape| put(surface, shape))
}

fn put<S: Surface>(surface: &mut S, shape: &Shape) -> Result<(), S::Failure> {
    match shape {
        Shape::Line { points, stroke } => match stroke.dash {
            None => surface.line(points, *stroke),
            Some((on, off)) => dashes(points, on, off)
                .iter()
                .try_for_each(|dash| surface.line(dash, *stroke)),
        },
        Shape::Area {
            points,
            colour,
            opacity,
        } => surface.area(points, *colour, *opacity),
        Shape::Rect { from, to, colour } => surface.rect(*from, *to, *colour),
        Shape::Marker {
            at,
            radius,
            marker,
            colour,
        } => put_marker(surface, *at, *radius, *marker, *colour),
        Shape::Text {
            at,
            text,
            font,
            align,
        } => surface.text(*at, text, *font, *align),
    }
}

fn put_marker<S: Surface>(
    surface: &mut S,
    at: Point,
    r: f64,
    marker: Marker,
    colour: Colour,
) -> Result<(), S::Failure> {
    let (x, y) = at;
    let thick = Stroke::solid(colour, (r * 0.5).max(1.5));
    match marker {
        Marker::Disc => surface.disc(at, r, colour),
        Marker::Ring => {
            surface.disc(at, r, colour)?;
            surface.disc(at, r * 0.55, Colour::WHITE)
        }
        Marker::Square => {
            let r = r * 0.9;
            surface.rect((x - r, y - r), (x + r, y + r), colour)
        }
        Marker::Diamond => {
            let r = r * 1.2;
            surface.area(
                &[(x - r, y), (x, y - r), (x + r, y), (x, y + r)],
                colour,
                1.0,
            )
        }
        Marker::Up => surface.area(
            &[
                (x - 1.1 * r, y + 0.8 * r),
                (x, y - 1.1 * r),
                (x + 1.1 * r, y + 0.8 * r),
            ],
            colour,
            1.0,
        ),
        Marker::Down => surface.area(
            &[
                (x - 1.1 * r, y - 0.8 * r),
                (x, y + 1.1 * r),
                (x + 1.1 * r, y - 0.8 * r),
            ],
            colour,
            1.0,
        ),
        Marker::Cross => {
            surface.line(&[(x - r, y - r), (x + r, y + r)], thick)?;
            surface.line(&[(x - r, y + r), (x + r, y - r)], thick)
        }
        Marker::Plus => {
            let r = r * 1.2;
            surface.line(&[(x - r, y), (x + r, y)], thick)?;
            surface.line(&[(x, y - r), (x, y + r)], thick)
        }
    }
}
/// Cuts a line into dashes.
fn dashes(points: &[Point], on: f64, off: f64) -> Vec<Vec<Point>> {
    let mut result: Vec<Vec<Point>> = Vec::new();
    let mut walked = 0.0;
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let between = |share: f64| {
            (
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            )
        };
        let mut done = 0.0;
        while done < length {
            let phase = (walked + done) % (on + off);
            let left = if phase < on {
                on - phase
            } else {
                on + off - phase
            };
            // Rounding must not make the steps vanish.
            let next = (done + left.max(0.01)).min(length);
            if phase < on {
                result.push(vec![between(done / length), between(next / length)]);
            }
            done = next;
        }
        walked += length;
    }
    result
}
