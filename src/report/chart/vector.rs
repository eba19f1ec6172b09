//! Charts as SVG: the only file that names the library for them.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, ShapeStyle, TextStyle,
};

use super::brush::{self, Surface};
use super::canvas::{Align, Canvas, Point, Stroke, Type};
use super::font::FAMILY;
use super::palette::Colour;
use super::style::Theme;

/// Coordinates are in tenths of a pixel, for the library knows only whole numbers.
const SVG_SCALE: u32 = 10;

/// A chart as SVG: as wide as in print or, where it is for a screen, of a width and height in pixels.
pub(super) fn svg(canvas: &Canvas, size: (u32, u32)) -> Result<String, String> {
    let large = (size.0 * SVG_SCALE, size.1 * SVG_SCALE);
    let mut text = String::new();
    let mut surface = Vector {
        backend: SVGBackend::with_string(&mut text, large),
        theme: canvas.style.theme,
        scale: canvas.style.size.pixels() * f64::from(SVG_SCALE),
    };
    surface.rect((0.0, 0.0), (canvas.width, canvas.height), Colour::Paper)?;
    brush::draw(canvas, &mut surface)?;
    surface.backend.present().map_err(said)?;
    drop(surface);
    // Coordinates stay fine; the picture is as large as the PNG would be.
    let written = format!("width=\"{}\" height=\"{}\"", large.0, large.1);
    let wanted = match canvas.style.size.print_width_m() {
        Some(width_m) => {
            let width_mm = 1000.0 * width_m;
            let height_mm = width_mm * f64::from(size.1) / f64::from(size.0);
            format!("width=\"{width_mm:.1}mm\" height=\"{height_mm:.1}mm\"")
        }
        None => format!("width=\"{}\" height=\"{}\"", size.0, size.1),
    };
    Ok(text.replacen(&written, &wanted, 1))
}

/// Lines stay lines, and text is text that whoever looks at it can search and copy.
struct Vector<'a> {
    backend: SVGBackend<'a>,
    theme: Theme,
    scale: f64,
}

impl Vector<'_> {
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
}

impl Surface for Vector<'_> {
    type Failure = String;

    fn line(&mut self, points: &[Point], stroke: Stroke) -> Result<(), String> {
        let style = ShapeStyle {
            stroke_width: (stroke.width * self.scale).round().max(1.0) as u32,
            ..self.fill(stroke.colour, 1.0)
        };
        let path: Vec<(i32, i32)> = points.iter().map(|&point| self.at(point)).collect();
        self.backend.draw_path(path, &style).map_err(said)
    }

    fn area(&mut self, points: &[Point], colour: Colour, opacity: f64) -> Result<(), String> {
        let path: Vec<(i32, i32)> = points.iter().map(|&point| self.at(point)).collect();
        let style = self.fill(colour, opacity);
        self.backend.fill_polygon(path, &style).map_err(said)
    }

    fn rect(&mut self, from: Point, to: Point, colour: Colour) -> Result<(), String> {
        let (from, to) = (self.at(from), self.at(to));
        let to = (to.0.max(from.0), to.1.max(from.1));
        let style = self.fill(colour, 1.0);
        self.backend.draw_rect(from, to, &style, true).map_err(said)
    }

    fn disc(&mut self, at: Point, radius: f64, colour: Colour) -> Result<(), String> {
        let radius = (radius * self.scale).round() as u32;
        let style = self.fill(colour, 1.0);
        self.backend
            .draw_circle(self.at(at), radius, &style, true)
            .map_err(said)
    }

    fn text(&mut self, at: Point, text: &str, font: Type, align: Align) -> Result<(), String> {
        /// The library's font size is over the one that it writes.
        const SIZE_OVER_EM: f64 = 1.24;
        /// Above the baseline by so many em is what the library takes for the top of a text.
        const TOP_EM: f64 = 0.76;
        let h_pos = match align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right | Align::Upwards => HPos::Right,
        };
        let style = if font.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let font_px = font.px * self.scale * SIZE_OVER_EM;
        let face = FontDesc::new(FontFamily::Name(FAMILY), font_px, style);
        let (face, top) = match align {
            Align::Upwards => (
                face.transform(FontTransform::Rotate270),
                (at.0 - TOP_EM * font.px, at.1),
            ),
            _ => (face, (at.0, at.1 - TOP_EM * font.px)),
        };
        let style = TextStyle {
            font: face,
            color: self.rgb(font.colour).to_backend_color(),
            pos: Pos::new(h_pos, VPos::Top),
        };
        self.backend
            .draw_text(text, &style, self.at(top))
            .map_err(said)
    }
}

/// The library's words for what went wrong.
fn said(error: impl std::error::Error) -> String {
    error.to_string()
}
