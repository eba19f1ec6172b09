//! Colours and markers that are told apart without colour vision, and in grey.

/// An opaque colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

impl Colour {
    pub(super) const WHITE: Self = Self(255, 255, 255);
    /// Text and axes.
    pub(super) const INK: Self = Self(0x22, 0x22, 0x22);
    /// Text of second rank.
    pub(super) const SOFT_INK: Self = Self(0x55, 0x55, 0x55);
    pub(super) const GRID: Self = Self(0xe4, 0xe4, 0xe4);
    pub(super) const GREY: Self = Self(0x8c, 0x8c, 0x8c);

    // Okabe and Ito, "Color Universal Design" (2008); their yellow is too faint on white.
    pub(super) const BLUE: Self = Self(0x00, 0x72, 0xb2);
    pub(super) const VERMILLION: Self = Self(0xd5, 0x5e, 0x00);
    pub(super) const GREEN: Self = Self(0x00, 0x9e, 0x73);
    pub(super) const PURPLE: Self = Self(0xcc, 0x79, 0xa7);
    pub(super) const ORANGE: Self = Self(0xe6, 0x9f, 0x00);
    pub(super) const SKY: Self = Self(0x56, 0xb4, 0xe9);
    pub(super) const BLACK: Self = Self(0, 0, 0);
    /// In place of the yellow.
    pub(super) const BROWN: Self = Self(0x7a, 0x4f, 0x1d);
}

/// The shape at the points of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Ring,
    Square,
    Diamond,
    Up,
    Down,
    Cross,
    Plus,
}

/// How the lines of different flows look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineStyle {
    pub(super) colour: Colour,
    pub(super) marker: Marker,
}

/// Flows that get a line of their own.
pub(super) const LINES_MAX: usize = LINES.len();

/// One style a flow, the most distinct first.
pub(super) const LINES: [LineStyle; 8] = [
    LineStyle {
        colour: Colour::BLUE,
        marker: Marker::Disc,
    },
    LineStyle {
        colour: Colour::VERMILLION,
        marker: Marker::Square,
    },
    LineStyle {
        colour: Colour::GREEN,
        marker: Marker::Up,
    },
    LineStyle {
        colour: Colour::ORANGE,
        marker: Marker::Diamond,
    },
    LineStyle {
        colour: Colour::PURPLE,
        marker: Marker::Down,
    },
    LineStyle {
        colour: Colour::SKY,
        marker: Marker::Plus,
    },
    LineStyle {
        colour: Colour::BLACK,
        marker: Marker::Cross,
    },
    LineStyle {
        colour: Colour::BROWN,
        marker: Marker::Ring,
    },
];

/// All other flows together.
pub(super) const OTHER: LineStyle = LineStyle {
    colour: Colour::GREY,
    marker: Marker::Ring,
};
