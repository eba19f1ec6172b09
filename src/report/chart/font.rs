//! The embedded font: widths, and glyphs for bitmaps.
//!
//! The drawing library can set text too, but drops what lies left of each glyph, so that words run
//! together, and rounds positions to whole pixels.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use foldhash::fast::FixedState;

use super::canvas::{Point, Type};

/// Name of the font. An SVG is drawn with the fonts of whoever looks at it, so the name goes on
/// with what comes closest.
pub(super) const FAMILY: &str = "Inter, Helvetica Neue, Arial, Liberation Sans, sans-serif";

/// The files: OpenType, with the Latin, Greek and Cyrillic letters of European languages.
pub(in crate::report) const REGULAR: &[u8] =
    include_bytes!("../../../assets/fonts/Inter-Regular.subset.otf");
pub(in crate::report) const BOLD: &[u8] =
    include_bytes!("../../../assets/fonts/Inter-SemiBold.subset.otf");

/// Places in a pixel, from left to right, that a letter is drawn at.
const PLACES: f32 = 4.0;

/// Shades that a pixel is told apart in: few, so that few blends of colours arise.
const LEVELS: u32 = 32;

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

/// Width of a text, in pixels. Where the font lacks a letter, an SVG has that of another one, and how wide it is
/// there is not known: as wide as letters are at most, as those of Chinese and Japanese are.
pub(super) fn text_width(text: &str, font: Type) -> f64 {
    let Some((face, px)) = face(font).and_then(|face| Some((face, scale_of(face, font, 1.0)?)))
    else {
        return 0.0;
    };
    let advance = |letter| advance(face, letter, px);
    f64::from(letters(text).map(advance).sum::<f32>())
}

/// Calls `pixel` with place and coverage (in parts of 256) of each pixel that a text covers which
/// begins at `start`, in pixels, on the baseline; `scale` is the pixels of a unit of layout.
pub(super) fn cover(
    text: &str,
    font: Type,
    scale: f64,
    start: Point,
    mut pixel: impl FnMut(i32, i32, u32),
) {
    let Some(face) = face(font) else { return };
    let Some(px) = scale_of(face, font, scale) else {
        return;
    };
    // Letters that stand on the rim of a pixel are sharp; across, a word would look uneven.
    let baseline = start.1.round() as i32;
    let mut x = start.0 as f32;
    for letter in letters(text) {
        let glyph = glyph_of(face, letter);
        let place = (x * PLACES).round() / PLACES;
        x += advance(face, letter, px);
        let within = place - place.floor();
        let key = (font.bold, px.y.to_bits(), glyph.0, within.to_bits());
        with_shades(
            key,
            || shades(face, glyph, px, within),
            |shades| {
                let left = shades.left + place.floor() as i32;
                let rows = shades.levels.chunks(shades.width.max(1));
                for (row, y) in rows.zip(shades.top + baseline..) {
                    for (&level, x) in row.iter().zip(left..) {
                        if level > 0 {
                            pixel(x, y, u32::from(level) * (256 / LEVELS));
                        }
                    }
                }
            },
        );
    }
}

/// A glyph as pixels.
#[derive(Default)]
struct Shades {
    /// Where it begins, from its place on the baseline.
    left: i32,
    top: i32,
    width: usize,
    /// How much of each pixel it covers, row by row, in [`LEVELS`].
    levels: Vec<u8>,
}

/// What tells glyphs apart: weight, size, number in the font, and where in a pixel it begins.
type GlyphKey = (bool, u32, u16, u32);

thread_local! {
    /// Glyphs that were drawn: those of one chart are nearly all that the next one needs.
    static DRAWN: RefCell<HashMap<GlyphKey, Shades, FixedState>> = RefCell::default();
}

/// Glyphs that are kept, some 500 bytes each.
const DRAWN_MAX: usize = 4096;

/// Hands over a glyph, which is only drawn where it was not before.
fn with_shades(key: GlyphKey, draw: impl FnOnce() -> Shades, then: impl FnOnce(&Shades)) {
    DRAWN.with_borrow_mut(|drawn| {
        if drawn.len() >= DRAWN_MAX {
            drawn.clear();
        }
        then(drawn.entry(key).or_insert_with(draw));
    });
}

/// Draws a glyph that begins at `within` a pixel; one without an outline, as a space, covers nothing.
fn shades(face: &FontRef<'_>, glyph: GlyphId, px: PxScale, within: f32) -> Shades {
    let glyph = glyph.with_scale_and_position(px, point(within, 0.0));
    let Some(outline) = face.outline_glyph(glyph) else {
        return Shades::default();
    };
    let bounds = outline.px_bounds();
    let mut levels = Vec::new();
    outline.draw(|_, _, coverage| {
        levels.push((coverage.min(1.0) * LEVELS as f32).round() as u8);
    });
    Shades {
        left: bounds.min.x as i32,
        top: bounds.min.y as i32,
        width: bounds.width() as usize,
        levels,
    }
}

/// The letters that are drawn: accents that follow their letter, as in names of files on macOS, are left out.
fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|&letter| !is_accent(letter))
}

/// A combining mark (Unicode block 0300).
fn is_accent(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

/// Whether the font has a letter, or leaves out no more than an accent.
pub(super) fn has(letter: char, font: Type) -> bool {
    is_accent(letter)
        || face(font).is_none_or(|face| face.glyph_id(blank(letter)) != GlyphId::default())
}

/// From where a letter begins to where the next one does, in pixels: an em where the font lacks it.
fn advance(face: &FontRef<'_>, letter: char, px: PxScale) -> f32 {
    match face.glyph_id(blank(letter)) {
        GlyphId(0) => em(face, px),
        glyph => face.as_scaled(px).h_advance(glyph),
    }
}

/// The size of a font of this scale, which counts from the highest letter to the lowest.
fn em(face: &FontRef<'_>, px: PxScale) -> f32 {
    let units = face.units_per_em();
    units.map_or(px.y, |units| px.y * units / face.height_unscaled())
}

/// How a letter is drawn: a question mark where the font lacks it, whose own sign for that is empty.
fn glyph_of(face: &FontRef<'_>, letter: char) -> GlyphId {
    match face.glyph_id(blank(letter)) {
        GlyphId(0) => face.glyph_id('?'),
        glyph => glyph,
    }
}

/// A blank at which no line is broken looks like any other.
const fn blank(letter: char) -> char {
    if letter == '\u{a0}' { ' ' } else { letter }
}

/// A font size of one pixel is three quarters of a point: 72 points and 96 pixels an inch.
fn scale_of(face: &FontRef<'_>, font: Type, scale: f64) -> Option<PxScale> {
    face.pt_to_px_scale((0.75 * font.px * scale) as f32)
}

#[cfg(test)]
mod tests {
    use super::super::fit::wrap;
    use super::super::letters::{LABEL, TITLE};
    use super::*;

    #[test]
    fn a_name_without_blanks_is_broken_between_its_letters() {
        let lines = wrap("輻輳制御甲", LABEL, 3.1 * LABEL.px, 4);
        assert_eq!(lines, ["輻輳制", "御甲"]);
    }

    #[test]
    fn a_letter_that_the_font_lacks_is_seen() {
        let pixels = |text: &str| {
            let mut found = Vec::new();
            cover(text, LABEL, 1.0, (0.0, 30.0), |x, y, share| {
                found.push((x, y, share));
            });
            found
        };
        for letter in ["日", "ש", "\u{fffd}"] {
            assert_eq!(pixels(letter), pixels("?"), "{letter}");
            // An em: what takes its place in an SVG has as much room.
            assert!((text_width(letter, LABEL) - LABEL.px).abs() < 1e-3);
        }
        assert!(pixels(" \u{a0}").is_empty());
        assert_eq!(pixels("o\u{30b}"), pixels("o"));
        for font in [LABEL, TITLE] {
            assert!(has('é', font) && has('µ', font) && has('\u{a0}', font) && !has('日', font));
            for letter in "őŁžșțİğ ΩάЖж".chars() {
                assert!(has(letter, font), "{letter}");
            }
        }
    }
}
