//! Puts the shapes of a chart on bitmaps and into SVG: the only file that names the drawing library.

use std::cell::RefCell;

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

use super::canvas::{Align, Canvas, Point, Shape, Stroke, Type};
use super::font::{FAMILY, cover, text_width};
use super::palette::{Colour, Marker};
use super::style::Theme;

/// A bitmap is drawn so many times larger and then averaged: smooth edges, and text that is set
/// to fractions of a pixel.
const BITMAP_SCALE: u32 = 3;

/// An SVG has coordinates of a tenth of a pixel, for the library knows only whole numbers.
const SVG_SCALE: u32 = 10;

/// The pixels of a chart, row by row, three bytes each.
pub(super) fn bitmap(canvas: &Canvas, size: (u32, u32)) -> Result<Vec<u8>, String> {
    let large = (size.0 * BITMAP_SCALE, size.1 * BITMAP_SCALE);
    let (red, green, blue) = Colour::Paper.rgb(canvas.style.theme);
    let paper = [red, green, blue];
    LARGE.with_borrow_mut(|pixels| {
        pixels.clear();
        pixels.resize((large.0 * large.1) as usize, paper);
        let pixels = pixels.as_flattened_mut();
        let mut backend = BitMapBackend::with_buffer(pixels, large);
        let scale = canvas.style.size.pixels() * f64::from(BITMAP_SCALE);
        draw(canvas, &mut backend, scale, false)?;
        drop(backend);
        Ok(average(pixels, large.0 as usize, paper))
    })
}

thread_local! {
    /// The bitmap that is averaged, kept from chart to chart: to get its 40 MB anew from the system,
    /// page by page, would take as long as to draw in them.
    static LARGE: RefCell<Vec<[u8; 3]>> = const { RefCell::new(Vec::new()) };
}

/// A chart as SVG.
pub(super) fn svg(canvas: &Canvas, size: (u32, u32)) -> Result<String, String> {
    let large = (size.0 * SVG_SCALE, size.1 * SVG_SCALE);
    let mut text = String::new();
    let mut backend = SVGBackend::with_string(&mut text, large);
    let scale = canvas.style.size.pixels() * f64::from(SVG_SCALE);
    draw(canvas, &mut backend, scale, true)?;
    backend.present().map_err(|error| error.to_string())?;
    drop(backend);
    // Coordinates stay fine; the picture is as large as the PNG would be.
    let written = format!("width=\"{}\" height=\"{}\"", large.0, large.1);
    let wanted = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(text.replacen(&written, &wanted, 1))
}

fn draw<B: DrawingBackend>(
    canvas: &Canvas,
    backend: &mut B,
    scale: f64,
    vector: bool,
) -> Result<(), String> {
    let mut brush = Brush {
        backend,
        theme: canvas.style.theme,
        scale,
        vector,
    };
    if vector {
        brush.shape(&Shape::Rect {
            from: (0.0, 0.0),
            to: (canvas.width, canvas.height),
            colour: Colour::Paper,
        })?;
    }
    canvas
        .shapes
        .iter()
        .try_for_each(|shape| brush.shape(shape))
}

/// Each pixel of the result is the mean of a square of them. Most of a chart is paper, which needs
/// no arithmetic.
fn average(pixels: &[u8], row_len: usize, paper: [u8; 3]) -> Vec<u8> {
    /// Pixels of the result that are looked at together.
    const RUN: usize = 20;
    let scale = BITMAP_SCALE as usize;
    let blank = paper.repeat(RUN * scale);
    let mut result = Vec::with_capacity(pixels.len() / (scale * scale));
    for rows in pixels.chunks_exact(3 * row_len * scale) {
        for from in (0..3 * row_len).step_by(blank.len()) {
            let to = (from + blank.len()).min(3 * row_len);
            let mut lines = rows.chunks_exact(3 * row_len).map(|row| &row[from..to]);
            if lines.all(|line| line == &blank[..to - from]) {
                result.extend_from_slice(&blank[..(to - from) / scale]);
            } else {
                average_run(rows, row_len, from, to, &mut result);
            }
        }
    }
    result
}

/// The means of the squares from one byte of some rows to another.
fn average_run(rows: &[u8], row_len: usize, from: usize, to: usize, result: &mut Vec<u8>) {
    let scale = BITMAP_SCALE as usize;
    let share = (scale * scale) as u16;
    for left in (from..to).step_by(3 * scale) {
        for channel in left..left + 3 {
            let mut sum = 0;
            for row in rows.chunks_exact(3 * row_len) {
                let square = row[channel..].iter().step_by(3).take(scale);
                sum += square.map(|&value| u16::from(value)).sum::<u16>();
            }
            result.push(((sum + share / 2) / share) as u8);
        }
    }
}

/// Puts shapes on a drawing surface.
struct Brush<'a, B: DrawingBackend> {
    backend: &'a mut B,
    theme: Theme,
    scale: f64,
    /// The surface keeps lines as lines and sets text itself.
    vector: bool,
}

impl<B: DrawingBackend> Brush<'_, B> {
    fn at(&self, point: Point) -> (i32, i32) {
        (
            (point.0 * self.scale).round() as i32,
            (point.1 * self.scale).round() as i32,
        )
    }

    fn rgb(&self, colour: Colour) -> RGBColor {
        let (red, green, blue) = colour.rgb(self.theme);
        RGBColor(red, green, blue)
    }

    fn fill(&self, colour: Colour, opacity: f64) -> ShapeStyle {
        ShapeStyle {
            color: self.rgb(colour).mix(opacity),
            filled: true,
            stroke_width: 1,
        }
    }

    fn shape(&mut self, shape: &Shape) -> Result<(), String> {
        match shape {
            Shape::Line { points, stroke } => match stroke.dash {
                None => self.line(points, *stroke),
                Some((on, off)) => dashes(points, on, off)
                    .iter()
                    .try_for_each(|dash| self.line(dash, *stroke)),
            },
            Shape::Area {
                points,
                colour,
                opacity,
            } => self.area(points, *colour, *opacity),
            Shape::Rect { from, to, colour } => {
                let (from, to) = (self.at(*from), self.at(*to));
                // The library's bitmaps include the last row and column, its SVGs do not.
                let rim = i32::from(!self.vector);
                let to = ((to.0 - rim).max(from.0), (to.1 - rim).max(from.1));
                self.backend
                    .draw_rect(from, to, &self.fill(*colour, 1.0), true)
                    .map_err(|error| error.to_string())
            }
            Shape::Marker {
                at,
                radius,
                marker,
                colour,
            } => self.marker(*at, *radius, *marker, *colour),
            Shape::Text {
                at,
                text,
                font,
                align,
            } => self.text(*at, text, *font, *align),
        }
    }

    fn line(&mut self, points: &[Point], stroke: Stroke) -> Result<(), String> {
        let width = (stroke.width * self.scale).round().max(1.0);
        if self.vector {
            let style = ShapeStyle {
                stroke_width: width as u32,
                ..self.fill(stroke.colour, 1.0)
            };
            let path: Vec<(i32, i32)> = points.iter().map(|&point| self.at(point)).collect();
            return self
                .backend
                .draw_path(path, &style)
                .map_err(|error| error.to_string());
        }
        // The library's own thick lines grow thorns where they turn sharply.
        let half = stroke.width / 2.0;
        for pair in points.windows(2) {
            self.thick(pair[0], pair[1], half, stroke.colour)?;
        }
        let mut inner = points
            .iter()
            .copied()
            .take(points.len().saturating_sub(1))
            .skip(1);
        inner.try_for_each(|joint| self.disc(joint, half, stroke.colour))
    }

    /// A straight piece of line.
    fn thick(&mut self, from: Point, to: Point, half: f64, colour: Colour) -> Result<(), String> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length <= 0.0 {
            return Ok(());
        }
        if dx == 0.0 || dy == 0.0 {
            let (across, along) = if dx == 0.0 { (half, 0.0) } else { (0.0, half) };
            let low = (from.0.min(to.0) - across, from.1.min(to.1) - along);
            let high = (from.0.max(to.0) + across, from.1.max(to.1) + along);
            return self.shape(&Shape::Rect {
                from: low,
                to: high,
                colour,
            });
        }
        let (nx, ny) = (-dy / length * half, dx / length * half);
        let corners = [
            (from.0 + nx, from.1 + ny),
            (to.0 + nx, to.1 + ny),
            (to.0 - nx, to.1 - ny),
            (from.0 - nx, from.1 - ny),
        ];
        self.area(&corners, colour, 1.0)
    }

    fn area(&mut self, points: &[Point], colour: Colour, opacity: f64) -> Result<(), String> {
        let path: Vec<(i32, i32)> = points.iter().map(|&point| self.at(point)).collect();
        self.backend
            .fill_polygon(path, &self.fill(colour, opacity))
            .map_err(|error| error.to_string())
    }

    fn disc(&mut self, at: Point, radius: f64, colour: Colour) -> Result<(), String> {
        let radius = (radius * self.scale).round() as u32;
        let at = self.at(at);
        self.backend
            .draw_circle(at, radius, &self.fill(colour, 1.0), true)
            .map_err(|error| error.to_string())
    }

    fn marker(&mut self, at: Point, r: f64, marker: Marker, colour: Colour) -> Result<(), String> {
        let (x, y) = at;
        let thick = Stroke::solid(colour, (r * 0.5).max(1.5));
        match marker {
            Marker::Disc => self.disc(at, r, colour),
            Marker::Ring => {
                self.disc(at, r, colour)?;
                self.disc(at, r * 0.55, Colour::WHITE)
            }
            Marker::Square => {
                let r = r * 0.9;
                self.shape(&Shape::Rect {
                    from: (x - r, y - r),
                    to: (x + r, y + r),
                    colour,
                })
            }
            Marker::Diamond => {
                let r = r * 1.2;
                self.area(
                    &[(x - r, y), (x, y - r), (x + r, y), (x, y + r)],
                    colour,
                    1.0,
                )
            }
            Marker::Up => self.area(
                &[
                    (x - 1.1 * r, y + 0.8 * r),
                    (x, y - 1.1 * r),
                    (x + 1.1 * r, y + 0.8 * r),
                ],
                colour,
                1.0,
            ),
            Marker::Down => self.area(
                &[
                    (x - 1.1 * r, y - 0.8 * r),
                    (x, y + 1.1 * r),
                    (x + 1.1 * r, y - 0.8 * r),
                ],
                colour,
                1.0,
            ),
            Marker::Cross => {
                self.line(&[(x - r, y - r), (x + r, y + r)], thick)?;
                self.line(&[(x - r, y + r), (x + r, y - r)], thick)
            }
            Marker::Plus => {
                let r = r * 1.2;
                self.line(&[(x - r, y), (x + r, y)], thick)?;
                self.line(&[(x, y - r), (x, y + r)], thick)
            }
        }
    }

    fn text(&mut self, at: Point, text: &str, font: Type, align: Align) -> Result<(), String> {
        if self.vector {
            return self.text_as_text(at, text, font, align);
        }
        let width = text_width(text, font);
        let left = match align {
            Align::Left => at.0,
            Align::Centre => at.0 - width / 2.0,
            Align::Right => at.0 - width,
        };
        let (left, baseline) = self.at((left, at.1));
        let (width, height) = self.backend.get_size();
        let color = self.rgb(font.colour);
        cover(text, font, self.scale, |x, y, coverage| {
            let (x, y) = (left + x, baseline + y);
            if x < 0 || y < 0 || x >= width as i32 || y >= height as i32 {
                return Ok(());
            }
            self.backend
                .draw_pixel((x, y), color.mix(coverage).to_backend_color())
        })
        .map_err(|error| error.to_string())
    }

    /// Text that whoever looks at it can search and copy.
    fn text_as_text(
        &mut self,
        at: Point,
        text: &str,
        font: Type,
        align: Align,
    ) -> Result<(), String> {
        /// The library's font size is over the one that it writes.
        const SIZE_OVER_EM: f64 = 1.24;
        /// Above the baseline by so many em is what the library takes for the top of a text.
        const TOP_EM: f64 = 0.76;
        let h_pos = match align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right => HPos::Right,
        };
        let style = if font.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let font_px = font.px * self.scale * SIZE_OVER_EM;
        let style = TextStyle {
            font: FontDesc::new(FontFamily::Name(FAMILY), font_px, style),
            color: self.rgb(font.colour).to_backend_color(),
            pos: Pos::new(h_pos, VPos::Top),
        };
        let at = self.at((at.0, at.1 - TOP_EM * font.px));
        self.backend
            .draw_text(text, &style, at)
            .map_err(|error| error.to_string())
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
