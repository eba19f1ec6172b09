//! What a chart consists of, as data, and its way into PNG and SVG.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::error::{ChartError, ChartFault, attempt};
use super::font::has;
use super::label::visible;
use super::palette::{Colour, LineStyle, Marker};
use super::raster;
use super::style::Style;
use super::vector;
use super::{bitmap, mark};
use crate::report::Refusal;

/// Where a text lies with respect to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Centre,
    Right,
    /// It reads upwards and ends there, its baseline a vertical line: for names below columns that are too narrow.
    Upwards,
}

/// Size and weight of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Type {
    /// Font size, in pixels.
    pub(super) px: f64,
    pub(super) bold: bool,
    pub(super) colour: Colour,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) colour: Colour,
    /// Width, in pixels.
    pub(super) width: f64,
    /// Length of dashes and of the gaps between them, in pixels.
    pub(super) dash: Option<(f64, f64)>,
}

impl Stroke {
    pub(super) const fn solid(colour: Colour, width: f64) -> Self {
        Self {
            colour,
            width,
            dash: None,
        }
    }

    pub(super) const fn dashed(colour: Colour, width: f64) -> Self {
        Self {
            colour,
            width,
            dash: Some((12.0, 8.0)),
        }
    }
}

/// A point, in pixels from the upper left corner.
pub(super) type Point = (f64, f64);

/// One thing drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Line {
        points: Vec<Point>,
        stroke: Stroke,
    },
    Area {
        points: Vec<Point>,
        colour: Colour,
        opacity: f64,
    },
    Rect {
        from: Point,
        to: Point,
        colour: Colour,
    },
    Marker {
        at: Point,
        radius: f64,
        marker: Marker,
        colour: Colour,
    },
    Text {
        at: Point,
        text: String,
        font: Type,
        align: Align,
    },
}

/// A chart: shapes in the order they cover each other, on paper.
///
/// Lengths are in units of layout: pixels of a PNG, unless the size of the style magnifies it.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    pub(super) style: Style,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Canvas {
    /// Nothing yet, as wide as the style's size.
    pub(super) fn new(style: Style, height: f64) -> Self {
        Self {
            style,
            width: style.size.width(),
            height: height.ceil(),
            shapes: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, points: &[Point], stroke: Stroke) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line {
                points: points.to_vec(),
                stroke,
            });
        }
    }

    pub(super) fn area(&mut self, points: Vec<Point>, colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Area {
            points,
            colour,
            opacity,
        });
    }

    pub(super) fn rect(&mut self, from: Point, to: Point, colour: Colour) {
        self.shapes.push(Shape::Rect { from, to, colour });
    }

    /// A bar of a variant, in its colour and with its strokes.
    pub(super) fn bar(&mut self, from: Point, to: Point, style: LineStyle) {
        self.rect(from, to, style.colour);
        for stroke in style.fill.strokes(from, to) {
            self.area(stroke, Colour::Paper, 1.0);
        }
    }

    pub(super) fn marker(&mut self, at: Point, radius: f64, marker: Marker, colour: Colour) {
        self.shapes.push(Shape::Marker {
            at,
            radius,
            marker,
            colour,
        });
    }

    /// Text with its baseline at `at`.
    pub(super) fn text(&mut self, at: Point, text: &str, font: Type, align: Align) {
        self.shapes.push(Shape::Text {
            at,
            text: text.chars().map(visible).collect(),
            font,
            align,
        });
    }

    /// Writes `<stem>.png` or `<stem>.svg` and returns the file's name.
    ///
    /// # Errors
    /// Names the file.
    pub fn save(&self, folder: &Path, stem: &str, svg: bool) -> Result<PathBuf, ChartError> {
        let name = PathBuf::from(format!("{stem}.{}", if svg { "svg" } else { "png" }));
        let path = folder.join(&name);
        let mark = mark(stem);
        let bytes = if svg {
            let head = format!("><metadata>{mark}</metadata>");
            let svg = self.to_svg();
            svg.map(|svg| svg.replacen('>', &head, 1).into_bytes())
        } else {
            self.to_png(&mark)
        };
        let saved = bytes.map_err(ChartFault::Drawing).and_then(|bytes| {
            let refused = |error| ChartFault::Writing(Refusal(&error, &path).to_string());
            std::fs::write(&path, bytes).map_err(refused)
        });
        saved.map_err(|fault| ChartError { path, fault })?;
        Ok(name)
    }

    /// Letters that a PNG shows a question mark for, since the font lacks them; not those that none would show.
    pub(super) fn lacking(&self) -> BTreeSet<char> {
        let texts = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { text, font, .. } => Some((text, *font)),
            _ => None,
        });
        let letters = texts.flat_map(|(text, font)| text.chars().map(move |letter| (letter, font)));
        let lacking = letters.filter(|&(letter, font)| letter != '\u{fffd}' && !has(letter, font));
        lacking.map(|(letter, _)| letter).collect()
    }

    /// The chart as a PNG with a mark of what made it.
    fn to_png(&self, mark: &str) -> Result<Vec<u8>, String> {
        let (width, height) = self.pixels();
        let width_m = self.style.size.print_width_m();
        let draw = || {
            raster::with_pixels(self, |pixels| {
                bitmap::encode(pixels, (width, height), width_m, mark)
            })
        };
        attempt(draw).flatten()
    }

    /// The chart as an SVG, its text as text.
    ///
    /// # Errors
    /// In the drawing library's words, or those of a panic.
    pub fn to_svg(&self) -> Result<String, String> {
        attempt(|| vector::svg(self, self.pixels())).flatten()
    }

    /// Width and height, in pixels.
    pub(super) fn pixels(&self) -> (u32, u32) {
        let pixels = self.style.size.pixels();
        (
            (self.width * pixels).round() as u32,
            (self.height * pixels).round() as u32,
        )
    }
}
