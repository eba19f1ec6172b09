//! Charts as pixels.

use std::cell::RefCell;
use std::convert::Infallible;
use std::ops::Range;

use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, PixmapMut, Transform};

use super::brush::{self, Surface};
use super::canvas::{Align, Canvas, Point, Stroke, Type};
use super::font::{cover, text_width};
use super::palette::Colour;
use super::style::Theme;

/// Red, green, blue, and full opacity.
pub(super) type Pixel = [u8; 4];

/// Draws a chart and hands over its pixels, row by row.
pub(super) fn with_pixels<T>(canvas: &Canvas, then: impl FnOnce(&[Pixel]) -> T) -> T {
    PIXELS.with_borrow_mut(|pixels| {
        let theme = canvas.style.theme;
        let (width, height) = canvas.pixels();
        pixels.clear();
        pixels.resize(width as usize * height as usize, rgb(Colour::Paper, theme));
        let pixmap = PixmapMut::from_bytes(pixels.as_flattened_mut(), width, height);
        if let Some(pixmap) = pixmap {
            let mut raster = Raster {
                pixmap,
                theme,
                scale: canvas.style.size.pixels(),
            };
            let Ok(()) = brush::draw(canvas, &mut raster);
        }
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
    [red, green, blue, u8::MAX]
}

struct Raster<'a> {
    pixmap: PixmapMut<'a>,
    theme: Theme,
    /// Pixels of a unit of layout.
    scale: f64,
}

impl Raster<'_> {
    /// A path through points, in units of layout; `None` where it has no extent.
    fn path(points: &[Point], closed: bool) -> Option<Path> {
        let (&(x, y), others) = points.split_first()?;
        let mut path = PathBuilder::new();
        path.move_to(x as f32, y as f32);
        for &(x, y) in others {
            path.line_to(x as f32, y as f32);
        }
        if closed {
            path.close();
        }
        path.finish()
    }

    fn paint(&self, colour: Colour, opacity: f64) -> Paint<'static> {
        let (red, green, blue) = colour.rgb(self.theme);
        let mut paint = Paint::default();
        paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
        paint
    }

    fn magnified(&self) -> Transform {
        Transform::from_scale(self.scale as f32, self.scale as f32)
    }

    fn fill(&mut self, path: Option<Path>, colour: Colour, opacity: f64) {
        if let Some(path) = path {
            let (paint, scale) = (self.paint(colour, opacity), self.magnified());
            self.pixmap
                .fill_path(&path, &paint, FillRule::Winding, scale, None);
        }
    }

    /// Fills a rectangle between its corner with the lower and that with the higher numbers. Most shapes are such, and
    /// the library takes six times as long over one, and thirty times as long over a path of that form.
    fn fill_rect(&mut self, from: Point, to: Point, colour: Colour) {
        let ink = rgb(colour, self.theme);
        let (width, height) = (self.pixmap.width() as usize, self.pixmap.height() as usize);
        let across = Stretch::of(from.0 * self.scale, to.0 * self.scale, width);
        let along = Stretch::of(from.1 * self.scale, to.1 * self.scale, height);
        let (pixels, _) = self.pixmap.data_mut().as_chunks_mut::<4>();
        for (y, quarters) in along.all() {
            let row = &mut pixels[y * width..][..width];
            for &(x, part) in across.rims.iter().flatten() {
                blend(&mut row[x], ink, part * quarters * 16);
            }
            let inner = &mut row[across.whole.clone()];
            if quarters == 4 {
                inner.fill(ink);
            } else {
                let blend = |below| blend(below, ink, quarters * 64);
                inner.iter_mut().for_each(blend);
            }
        }
    }
}

/// The pixels of a row, or of a column, between two places, to a quarter of a pixel: so few blends of colours arise.
#[derive(Debug, Default, PartialEq)]
struct Stretch {
    /// Those at its ends that are covered in part, and how many quarters.
    rims: [Option<(usize, u32)>; 2],
    /// Those between, or none.
    whole: Range<usize>,
}

impl Stretch {
    /// Of so many pixels those between the places `from` and `to`.
    fn of(from: f64, to: f64, pixels: usize) -> Self {
        let place = |at: f64| (at * 4.0).round().clamp(0.0, 4.0 * pixels as f64) as usize;
        let (from, to) = (place(from), place(to));
        let (first, last) = (from / 4, to / 4);
        if from >= to {
            Self::default()
        } else if first == last {
            Self {
                rims: [Some((first, (to - from) as u32)), None],
                whole: 0..0,
            }
        } else {
            let rim = |pixel, quarters| (quarters > 0).then_some((pixel, quarters as u32));
            Self {
                rims: [
                    rim(first, from.next_multiple_of(4) - from),
                    rim(last, to % 4),
                ],
                whole: from.div_ceil(4)..last,
            }
        }
    }

    /// All of them, with how many quarters of each.
    fn all(&self) -> impl Iterator<Item = (usize, u32)> {
        let whole = self.whole.clone().map(|pixel| (pixel, 4));
        self.rims.into_iter().flatten().chain(whole)
    }
}

/// The rectangles that make up a line of this width along the axes, with square corners and ends; `None` for any other
/// line.
///
/// What goes on in one direction is one, and those that go up or down end within the ones across: where the rims of two
/// lie on each other they are darker.
fn bars(points: &[Point], width: f64) -> Option<impl Iterator<Item = (Point, Point)>> {
    let same = |one: f64, other: f64| one.total_cmp(&other).is_eq();
    let across = move |one: &Point, next: &Point| same(one.1, next.1);
    let along = move |one: &Point, next: &Point| same(one.0, next.0);
    let half = width / 2.0;
    let bar = move |run: &[Point], end: f64| {
        let bounds = |(least, most): (Point, Point), &(x, y): &Point| {
            let least = (least.0.min(x - half), least.1.min(y - end));
            (least, (most.0.max(x + half), most.1.max(y + end)))
        };
        let none = (f64::INFINITY, f64::INFINITY);
        let start = (none, (-none.0, -none.1));
        (run.len() > 1).then(|| run.iter().fold(start, bounds))
    };
    let is_one = points.windows(2).all(|step| along(&step[0], &step[1]));
    let ends_along = if is_one { half } else { 0.0 };
    let is_along_axes = |step: &[Point]| across(&step[0], &step[1]) || along(&step[0], &step[1]);
    points.windows(2).all(is_along_axes).then(|| {
        let across = points.chunk_by(across).map(move |run| bar(run, half));
        let along = points.chunk_by(along).map(move |run| bar(run, ends_along));
        across.chain(along).flatten()
    })
}

impl Surface for Raster<'_> {
    type Failure = Infallible;

    fn line(&mut self, points: &[Point], stroke: Stroke) -> Result<(), Infallible> {
        if let Some(bars) = bars(points, stroke.width) {
            bars.for_each(|(from, to)| self.fill_rect(from, to, stroke.colour));
            return Ok(());
        }
        let Some(path) = Self::path(points, false) else {
            return Ok(());
        };
        let pen = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            ..tiny_skia::Stroke::default()
        };
        let (paint, scale) = (self.paint(stroke.colour, 1.0), self.magnified());
        self.pixmap.stroke_path(&path, &paint, &pen, scale, None);
        Ok(())
    }

    fn area(&mut self, points: &[Point], colour: Colour, opacity: f64) -> Result<(), Infallible> {
        self.fill(Self::path(points, true), colour, opacity);
        Ok(())
    }

    fn rect(&mut self, from: Point, to: Point, colour: Colour) -> Result<(), Infallible> {
        // It may be thin, but not gone.
        let least = 1.0 / (3.0 * self.scale);
        let to = (to.0.max(from.0 + least), to.1.max(from.1 + least));
        self.fill_rect(from, to, colour);
        Ok(())
    }

    fn disc(&mut self, at: Point, radius: f64, colour: Colour) -> Result<(), Infallible> {
        let circle = PathBuilder::from_circle(at.0 as f32, at.1 as f32, radius as f32);
        self.fill(circle, colour, 1.0);
        Ok(())
    }

    fn text(&mut self, at: Point, text: &str, font: Type, align: Align) -> Result<(), Infallible> {
        let width = text_width(text, font);
        let (x, y) = (at.0 * self.scale, at.1 * self.scale);
        let width = width * self.scale;
        // Upwards, it is drawn as on a page that has been turned: its x is our -y, its y our x.
        let start = match align {
            Align::Left => (x, y),
            Align::Centre => (x - width / 2.0, y),
            Align::Right => (x - width, y),
            Align::Upwards => (-y - width, x),
        };
        let ink = rgb(font.colour, self.theme);
        let (width, height) = (self.pixmap.width(), self.pixmap.height());
        let (pixels, _) = self.pixmap.data_mut().as_chunks_mut::<4>();
        cover(text, font, self.scale, start, |x, y, share| {
            let (x, y) = match align {
                Align::Upwards => (y, -x - 1),
                _ => (x, y),
            };
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else {
                return;
            };
            if x < width && y < height {
                blend(&mut pixels[(y * width + x) as usize], ink, share);
            }
        });
        Ok(())
    }
}

/// Puts a colour over another, of which it hides so many parts of 256.
fn blend(below: &mut Pixel, above: Pixel, share: u32) {
    for (below, above) in below.iter_mut().zip(above) {
        let sum = u32::from(above) * share + u32::from(*below) * (256 - share);
        *below = ((sum + 128) / 256) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How dark each pixel of a canvas of 8 by 6 pixels is, of 255, when this has been put on its paper; lengths are in
    /// pixels.
    fn shades(put: impl FnOnce(&mut Raster<'_>)) -> Vec<Vec<u8>> {
        let mut pixels = [[u8::MAX; 4]; 8 * 6];
        put(&mut Raster {
            pixmap: PixmapMut::from_bytes(pixels.as_flattened_mut(), 8, 6).unwrap(),
            theme: Theme::Light,
            scale: 1.0,
        });
        let (ink, ..) = Colour::INK.rgb(Theme::Light);
        let shade = |pixel: &Pixel| {
            let dark = u32::from(u8::MAX - pixel[0]) * 255;
            (dark / u32::from(u8::MAX - ink)) as u8
        };
        pixels
            .chunks(8)
            .map(|row| row.iter().map(shade).collect())
            .collect()
    }

    fn line(points: &[Point], width: f64) -> Vec<Vec<u8>> {
        shades(|raster| {
            let Ok(()) = raster.line(points, Stroke::solid(Colour::INK, width));
        })
    }

    #[test]
    fn a_rectangle_covers_its_pixels_to_a_quarter() {
        let found = shades(|raster| {
            let Ok(()) = raster.rect((1.5, 1.0), (4.25, 3.5), Colour::INK);
        });
        // Halves at the left and below, a quarter at the right.
        let none = [0; 8];
        let full = [0, 127, 255, 255, 63, 0, 0, 0];
        let half = [0, 63, 127, 127, 31, 0, 0, 0];
        assert_near(&found, &[none, full, full, half, none, none]);
    }

    #[test]
    fn one_within_a_pixel_or_beyond_the_paper_is_what_is_of_it_on_the_paper() {
        let found = shades(|raster| {
            let Ok(()) = raster.rect((2.25, 0.0), (2.75, 0.5), Colour::INK);
            let Ok(()) = raster.rect((6.0, 4.0), (90.0, 1e300), Colour::INK);
            let Ok(()) = raster.rect((-5.0, -5.0), (-1.0, 9.0), Colour::INK);
            let Ok(()) = raster.rect((f64::NAN, 2.0), (f64::NAN, 3.0), Colour::INK);
        });
        let (none, lowest) = ([0; 8], [0, 0, 0, 0, 0, 0, 255, 255]);
        let first = [0, 0, 63, 0, 0, 0, 0, 0];
        assert_near(&found, &[first, none, none, none, lowest, lowest]);
    }

    #[test]
    fn a_thin_rectangle_is_there() {
        for thousandth in 0..1000 {
            let at = 1.0 + f64::from(thousandth) / 1000.0;
            let found = shades(|raster| {
                let Ok(()) = raster.rect((at, 1.0), (at, 2.0), Colour::INK);
            });
            let row = found[1].iter().map(|&shade| u32::from(shade));
            assert!(row.sum::<u32>() >= 60, "{at}");
        }
    }

    #[test]
    fn steps_are_as_dark_where_they_turn_and_go_on() {
        // To the right in two steps, back over the second one, and down, on rims of pixels.
        let points = [(1.5, 1.0), (3.0, 1.0), (5.5, 1.0), (4.0, 1.0), (4.0, 3.0)];
        let found = line(&points, 1.0);
        let none = [0; 8];
        let half = |shades: [u8; 8]| shades.map(|shade| shade / 2);
        let across = [0, 255, 255, 255, 255, 255, 0, 0];
        // The corner lies within the line.
        let down = [0, 0, 0, 127, 127, 0, 0, 0];
        let mut below = half(across);
        (below[3], below[4]) = (191, 191);
        assert_near(&found, &[half(across), below, down, none, none, none]);
    }

    #[test]
    fn a_straight_line_has_square_ends() {
        let none = [0; 8];
        let found = line(&[(2.0, 2.5), (4.0, 2.5)], 1.0);
        let across = [0, 127, 255, 255, 127, 0, 0, 0];
        assert_near(&found, &[none, none, across, none, none, none]);
        let found = line(&[(2.5, 4.0), (2.5, 2.0)], 1.0);
        let (end, middle) = ([0, 0, 127, 0, 0, 0, 0, 0], [0, 0, 255, 0, 0, 0, 0, 0]);
        assert_near(&found, &[none, end, middle, middle, end, none]);
    }

    /// A rim that two bars share is blended twice, each with 128 of 256.
    fn assert_near(found: &[Vec<u8>], expected: &[[u8; 8]]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let near = |(one, other): (&u8, &u8)| one.abs_diff(*other) <= 2;
            assert!(
                found.iter().zip(expected).all(near),
                "{found:?} {expected:?}"
            );
        }
    }
}
