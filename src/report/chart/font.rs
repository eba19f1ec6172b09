//! The embedded font: widths, and glyphs for bitmaps.
//!
//! The drawing library can set text too, but drops what lies left of each glyph, so that words run
//! together, and rounds positions to whole pixels.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};

use super::canvas::Type;

/// Name of the font. An SVG is drawn with the fonts of whoever looks at it, so the name goes on
/// with what comes closest.
pub(super) const FAMILY: &str = "Inter, Helvetica Neue, Arial, Liberation Sans, sans-serif";

/// The files: OpenType, with the letters of European languages.
pub(in crate::report) const REGULAR: &[u8] =
    include_bytes!("../../../assets/fonts/Inter-Regular.subset.otf");
pub(in crate::report) const BOLD: &[u8] =
    include_bytes!("../../../assets/fonts/Inter-SemiBold.subset.otf");

static REGULAR_FACE: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(REGULAR).ok());
static BOLD_FACE: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(BOLD).ok());

/// `None` only if the embedded file were damaged: charts would be without text, and the tests fail.
fn face(font: Type) -> Option<&'static FontRef<'static>> {
    if font.bold {
        BOLD_FACE.as_ref()
    } else {
        REGULAR_FACE.as_ref()
    }
}

/// Width of a text, in pixels.
pub(super) fn text_width(text: &str, font: Type) -> f64 {
    let Some((face, px)) = face(font).and_then(|face| Some((face, scale_of(face, font, 1.0)?)))
    else {
        return 0.0;
    };
    let scaled = face.as_scaled(px);
    let advance = |letter| scaled.h_advance(face.glyph_id(blank(letter)));
    f64::from(text.chars().map(advance).sum::<f32>())
}

/// Calls `pixel` with place and coverage (0 to 1) of each pixel of a text that begins at the
/// origin, on the baseline, magnified by `scale`.
pub(super) fn cover<E>(
    text: &str,
    font: Type,
    scale: f64,
    mut pixel: impl FnMut(i32, i32, f64) -> Result<(), E>,
) -> Result<(), E> {
    let (Some(face), Some(glyphs)) = (face(font), place(text, font, scale)) else {
        return Ok(());
    };
    for outline in glyphs
        .into_iter()
        .filter_map(|glyph| face.outline_glyph(glyph))
    {
        let bounds = outline.px_bounds();
        let (left, top) = (bounds.min.x as i32, bounds.min.y as i32);
        let mut done = Ok(());
        outline.draw(|x, y, coverage| {
            if done.is_ok() && coverage > 0.0 {
                done = pixel(
                    left + x as i32,
                    top + y as i32,
                    f64::from(coverage.min(1.0)),
                );
            }
        });
        done?;
    }
    Ok(())
}

/// A blank at which no line is broken looks like any other.
const fn blank(letter: char) -> char {
    if letter == '\u{a0}' { ' ' } else { letter }
}

/// A font size of one pixel is three quarters of a point: 72 points and 96 pixels an inch.
fn scale_of(face: &FontRef<'_>, font: Type, scale: f64) -> Option<PxScale> {
    face.pt_to_px_scale((0.75 * font.px * scale) as f32)
}

/// Glyphs side by side.
fn place(text: &str, font: Type, scale: f64) -> Option<Vec<Glyph>> {
    let face = face(font)?;
    let scaled = face.as_scaled(scale_of(face, font, scale)?);
    let mut x = 0.0;
    let mut glyphs = Vec::with_capacity(text.len());
    for letter in text.chars() {
        let mut glyph = scaled.scaled_glyph(blank(letter));
        glyph.position = point(x, 0.0);
        x += scaled.h_advance(glyph.id);
        glyphs.push(glyph);
    }
    Some(glyphs)
}
