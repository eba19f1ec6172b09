//! Text as charts have it: its kinds, and its room.

use super::canvas::Type;
use super::palette::Colour;

/// Between the rim and whatever is nearest to it, in pixels.
pub(super) const MARGIN: f64 = 36.0;

pub(super) const TITLE: Type = Type {
    px: 32.0,
    bold: true,
    colour: Colour::INK,
};
pub(super) const SUBTITLE: Type = Type {
    px: 22.0,
    bold: false,
    colour: Colour::SOFT_INK,
};
pub(super) const LABEL: Type = Type {
    px: 23.0,
    bold: false,
    colour: Colour::INK,
};
pub(super) const AXIS_TITLE: Type = Type {
    px: 23.0,
    bold: true,
    colour: Colour::INK,
};

/// How far text sits below the middle of a line for its digits to be centred on it, in em.
pub(super) const HALF_DIGIT: f64 = 0.36;

/// The baseline that centres text on the height `y`.
pub(super) fn baseline(y: f64, font: Type) -> f64 {
    y + HALF_DIGIT * font.px
}
