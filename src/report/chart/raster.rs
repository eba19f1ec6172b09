//! Charts as pixels.

use std::cell::RefCell;
use std::convert::Infallible;
use std::f64::consts::TAU;

use super::brush::{self, Surface};
use super::canvas::{Align, Canvas, Point, Stroke, Type};
use super::fill::{Outline, WHOLE};
use super::font::{cover, text_width};
use super::palette::Colour;
use super::style::Theme;

/// Red, green, blue, and a byte that is always 0: four are compared and copied at once.
pub(super) type Pixel = [u8; 4];

/// Draws a chart and hands over its pixels, row by row.
pub(super) fn with_pixels<T>(canvas: &Canvas, then: impl FnOnce(&[Pixel]) -> T) -> T {
    PIXELS.with_borrow_mut(|pixels| {
        let theme = canvas.style.theme;
        let (width, height) = canvas.pixels();
        let (width, height) = (width as usize, height as usize);
        pixels.clear();
        pixels.resize(width * height, rgb(Colour::Paper, theme));
        let mut raster = Raster {
            pixels,
            width,
            height,
            theme,
            scale: canvas.style.size.pixels(),
            outline: Outline::default(),
        };
        let Ok(()) = brush::draw(canvas, &mut raster);
        then(pixels)
    })
}

thread_local! {
    /// Kept from chart to chart: to get its 6 MB anew from the system, page by page, would take as
    /// long as to draw in them.
    static PIXELS: RefCell<Vec<Pixel>> = const { RefCell::new(Vec::new()) };
}

fn rgb(colour: Colour, theme: Theme) -> Pixel {
    let (red, green, blue) = colour.rgb(theme);
    [red, green, blue, 0]
}

struct Raster<'a> {
    pixels: &'a mut [Pixel],
    width: usize,
    height: usize,
    theme: Theme,
    /// Pixels of a unit of layout.
    scale: f64,
    outline: Outline,
}

impl Raster<'_> {
    fn at(&self, point: Point) -> Point {
        (point.0 * self.scale, point.1 * self.scale)
    }

    fn add(&mut self, corners: &[Point]) {
        let scale = self.scale;
        self.outline
            .add(corners.iter().map(|&(x, y)| (x * scale, y * scale)));
    }

    fn add_disc(&mut self, at: Point, radius: f64) {
        let (x, y) = self.at(at);
        let radius = radius * self.scale;
        // Nowhere farther from the circle than a tenth of a pixel: 1 - cos(pi / n) = 0.1 / radius.
        let corners = (7.1 * radius.max(1.0).sqrt()).ceil();
        self.outline.add((0..corners as usize).map(|corner| {
            let (sin, cos) = (TAU * corner as f64 / corners).sin_cos();
            (x + radius * cos, y + radius * sin)
        }));
    }

    /// Fills what was added.
    fn fill(&mut self, colour: Colour, opacity: f64) {
        let ink = rgb(colour, self.theme);
        let size = (self.width, self.height);
        let (pixels, width) = (&mut *self.pixels, self.width);
        let weight = 256.0 * opacity / f64::from(WHOLE);
        self.outline.fill(size, |y, columns, coverage| {
            let row = &mut pixels[y * width..][columns];
            let share = (weight * f64::from(coverage)).round() as u32;
            if share >= 256 {
                row.fill(ink);
            } else {
                for pixel in row {
                    blend(pixel, ink, share);
                }
            }
        });
    }
}

impl Surface for Raster<'_> {
    type Failure = Infallible;

    fn line(&mut self, points: &[Point], stroke: Stroke) -> Result<(), Infallible> {
        let half = stroke.width / 2.0;
        for pair in points.windows(2) {
            self.add(&piece(pair[0], pair[1], half));
        }
        for at in points.windows(3) {
            if gapes(at[0], at[1], at[2]) {
                self.add_disc(at[1], half);
            }
        }
        self.fill(stroke.colour, 1.0);
        Ok(())
    }

    fn area(&mut self, points: &[Point], colour: Colour, opacity: f64) -> Result<(), Infallible> {
        self.add(points);
        self.fill(colour, opacity);
        Ok(())
    }

    fn rect(&mut self, from: Point, to: Point, colour: Colour) -> Result<(), Infallible> {
        // It may be thin, but not gone.
        let least = 1.0 / (3.0 * self.scale);
        let to = (to.0.max(from.0 + least), to.1.max(from.1 + least));
        self.area(&[from, (to.0, from.1), to, (from.0, to.1)], colour, 1.0)
    }

    fn disc(&mut self, at: Point, radius: f64, colour: Colour) -> Result<(), Infallible> {
        self.add_disc(at, radius);
        self.fill(colour, 1.0);
        Ok(())
    }

    fn text(&mut self, at: Point, text: &str, font: Type, align: Align) -> Result<(), Infallible> {
        let width = text_width(text, font);
        let left = match align {
            Align::Left => at.0,
            Align::Centre => at.0 - width / 2.0,
            Align::Right => at.0 - width,
        };
        let ink = rgb(font.colour, self.theme);
        let start = self.at((left, at.1));
        cover(text, font, self.scale, start, |x, y, share| {
            let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
                return;
            };
            if x < self.width && y < self.height {
                blend(&mut self.pixels[y * self.width + x], ink, share);
            }
        });
        Ok(())
    }
}

/// A straight piece of line. Steps have square corners and ends.
fn piece(from: Point, to: Point, half: f64) -> [Point; 4] {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (across, along) = if dx == 0.0 || dy == 0.0 {
        (half, half)
    } else {
        (half, 0.0)
    };
    let length = dx.hypot(dy);
    let (dx, dy) = (dx / length, dy / length);
    let (nx, ny) = (dy * across, -dx * across);
    let (from, to) = (
        (from.0 - dx * along, from.1 - dy * along),
        (to.0 + dx * along, to.1 + dy * along),
    );
    [
        (from.0 + nx, from.1 + ny),
        (to.0 + nx, to.1 + ny),
        (to.0 - nx, to.1 - ny),
        (from.0 - nx, from.1 - ny),
    ]
}

/// Whether a line turns so far that a gap can be seen between two of its pieces.
fn gapes(from: Point, at: Point, to: Point) -> bool {
    let (one, two) = ((at.0 - from.0, at.1 - from.1), (to.0 - at.0, to.1 - at.1));
    let along = one.0 * two.0 + one.1 * two.1;
    let across = one.0 * two.1 - one.1 * two.0;
    // Three degrees: a gap of a tenth of a pixel beside a line that is four wide.
    along <= 0.0 || across.abs() > 0.05 * along
}

/// Puts a colour over another, of which it hides so many parts of 256.
fn blend(below: &mut Pixel, above: Pixel, share: u32) {
    for (below, above) in below.iter_mut().zip(above) {
        let sum = u32::from(above) * share + u32::from(*below) * (256 - share);
        *below = ((sum + 128) / 256) as u8;
    }
}
