//! Charts as pixels.

use std::cell::RefCell;
use std::convert::Infallible;

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
}

impl Surface for Raster<'_> {
    type Failure = Infallible;

    fn line(&mut self, points: &[Point], stroke: Stroke) -> Result<(), Infallible> {
        let Some(path) = Self::path(points, false) else {
            return Ok(());
        };
        // Steps have square corners and ends.
        let same = |one: f64, other: f64| one.total_cmp(&other).is_eq();
        let square = points
            .windows(2)
            .all(|pair| same(pair[0].0, pair[1].0) || same(pair[0].1, pair[1].1));
        let (line_cap, line_join) = if square {
            (LineCap::Square, LineJoin::Miter)
        } else {
            (LineCap::Butt, LineJoin::Round)
        };
        let pen = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_cap,
            line_join,
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
        self.area(&[from, (to.0, from.1), to, (from.0, to.1)], colour, 1.0)
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
