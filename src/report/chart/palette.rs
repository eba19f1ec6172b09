//! Colours and markers that are told apart without colour vision, and in grey.

use super::fill::Fill;
use super::style::Theme;
use super::vision::{APART, apart, linear};

/// A colour by what it is for; the theme decides what it looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// What the chart is drawn on.
    Paper,
    /// Text and axes.
    Ink,
    /// Text of second rank.
    SoftInk,
    /// Lines of the grid.
    Grid,
    /// What stays in the background.
    Grey,
    /// A colour of data, as it looks on white: red, green, blue. Brighter on black.
    Data(u8, u8, u8),
    /// The same whatever it is drawn on: red, green, blue.
    Exact(u8, u8, u8),
}

impl Colour {
    pub(super) const WHITE: Self = Self::Paper;
    pub(super) const INK: Self = Self::Ink;
    pub(super) const SOFT_INK: Self = Self::SoftInk;
    pub(super) const GRID: Self = Self::Grid;
    pub(super) const GREY: Self = Self::Grey;
    pub(super) const BLACK: Self = Self::Ink;

    // Okabe and Ito, "Color Universal Design" (2008); their yellow is too faint on white.
    pub(super) const BLUE: Self = Self::Data(0x00, 0x72, 0xb2);
    pub(super) const VERMILLION: Self = Self::Data(0xd5, 0x5e, 0x00);
    pub(super) const GREEN: Self = Self::Data(0x00, 0x9e, 0x73);
    pub(super) const PURPLE: Self = Self::Data(0xcc, 0x79, 0xa7);
    pub(super) const ORANGE: Self = Self::Data(0xe6, 0x9f, 0x00);
    pub(super) const SKY: Self = Self::Data(0x56, 0xb4, 0xe9);
    /// In place of the yellow.
    pub(super) const BROWN: Self = Self::Data(0x7a, 0x4f, 0x1d);

    /// Red, green, blue.
    pub(super) fn rgb(self, theme: Theme) -> (u8, u8, u8) {
        let dark = theme == Theme::Dark;
        match self {
            Self::Paper if dark => (0x14, 0x17, 0x1c),
            Self::Paper => (0xff, 0xff, 0xff),
            Self::Ink if dark => (0xec, 0xec, 0xec),
            Self::Ink => (0x22, 0x22, 0x22),
            Self::SoftInk if dark => (0xb4, 0xb7, 0xbd),
            Self::SoftInk => (0x55, 0x55, 0x55),
            Self::Grid if dark => (0x33, 0x38, 0x40),
            Self::Grid => (0xe4, 0xe4, 0xe4),
            // No green and no purple is like it, to any eyes.
            Self::Grey if dark => (0x74, 0x78, 0x7f),
            Self::Grey => (0xb0, 0xb0, 0xb0),
            Self::Data(r, g, b) if dark => {
                // A third of the way to white: the darkest of them keeps a contrast above 4.
                let lift = |part: u8| part + (255 - part) / 3;
                (lift(r), lift(g), lift(b))
            }
            Self::Data(r, g, b) | Self::Exact(r, g, b) => (r, g, b),
        }
    }

    /// Black or white: what is read better on this colour.
    pub(super) fn text_on(self) -> Self {
        // Contrast with white is 1.05 / (l + 0.05), with black (l + 0.05) / 0.05: equal at 0.179.
        if self.luminance() > 0.179 {
            Self::Exact(0x11, 0x11, 0x11)
        } else {
            Self::Exact(0xff, 0xff, 0xff)
        }
    }

    /// How bright it is on white, from 0 to 1 (WCAG 2.1, relative luminance).
    pub(super) fn luminance(self) -> f64 {
        let [r, g, b] = linear(self, Theme::Light);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }
}

/// Colours that a heat map runs through, from its lowest to its highest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ramp {
    /// From light to dark: more is darker, in grey too (Brewer, `YlGnBu`).
    Amount,
    /// From one colour over white to another: below, even, above (Brewer, `PuOr`).
    Difference,
}

impl Ramp {
    const fn stops(self) -> &'static [(u8, u8, u8)] {
        match self {
            Self::Amount => &[
                (0xff, 0xff, 0xd9),
                (0xc7, 0xe9, 0xb4),
                (0x7f, 0xcd, 0xbb),
                (0x41, 0xb6, 0xc4),
                (0x22, 0x5e, 0xa8),
                (0x0c, 0x2c, 0x84),
            ],
            Self::Difference => &[
                (0xb3, 0x58, 0x06),
                (0xf1, 0xa3, 0x40),
                (0xf7, 0xf7, 0xf7),
                (0x99, 0x8e, 0xc3),
                (0x54, 0x27, 0x88),
            ],
        }
    }

    /// The colour at a place from 0 to 1.
    pub(super) fn at(self, share: f64) -> Colour {
        let stops = self.stops();
        let place = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
        let below = (place as usize).min(stops.len() - 2);
        let (one, two) = (stops[below], stops[below + 1]);
        let part = |one: u8, two: u8| {
            let (one, two) = (f64::from(one), f64::from(two));
            (one + (two - one) * (place - below as f64)).round() as u8
        };
        Colour::Exact(part(one.0, two.0), part(one.1, two.1), part(one.2, two.2))
    }
}

/// The shape at the points of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Marker {
    /// A filled circle.
    Disc,
    /// A circle.
    Ring,
    /// A square on its side.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle that points up.
    Up,
    /// A triangle that points down.
    Down,
    /// A cross of diagonals.
    Cross,
    /// An upright cross.
    Plus,
}

/// How the lines and bars of different flows or variants look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineStyle {
    /// Of line, bar and marker.
    pub colour: Colour,
    /// At some of the points of a line.
    pub marker: Marker,
    /// Of bars and boxes.
    pub fill: Fill,
}

impl LineStyle {
    /// Whether some reader may take one for the other: to some eyes the colours are close, and lines have the same
    /// marker, or bars the same fill.
    pub(super) fn is_like(self, other: Self) -> bool {
        let same = self.marker == other.marker || self.fill == other.fill;
        same && apart(self.colour, other.colour) < APART
    }
}

const fn style(colour: Colour, marker: Marker) -> LineStyle {
    filled(colour, marker, Fill::Plain)
}

const fn filled(colour: Colour, marker: Marker, fill: Fill) -> LineStyle {
    LineStyle {
        colour,
        marker,
        fill,
    }
}

/// Flows that get a line of their own.
pub(super) const LINES_MAX: usize = LINES.len();

/// One style a flow, the most distinct first.
pub(super) const LINES: [LineStyle; 8] = [
    style(Colour::BLUE, Marker::Disc),
    style(Colour::VERMILLION, Marker::Square),
    style(Colour::GREEN, Marker::Up),
    style(Colour::ORANGE, Marker::Diamond),
    style(Colour::PURPLE, Marker::Down),
    style(Colour::SKY, Marker::Plus),
    style(Colour::BLACK, Marker::Cross),
    style(Colour::BROWN, Marker::Ring),
];

/// All other flows together.
pub(super) const OTHER: LineStyle = style(Colour::GREY, Marker::Ring);

/// What stands beside that and is no variant either.
pub(super) const DARK: LineStyle = LINES[6];

/// Congestion-control variants, by every name that is usual, and how each looks in all charts. Whatever stands beside
/// whatever else, none [is like](LineStyle::is_like) another, nor one of [`OTHER_NAMES`]: the common ones by their
/// colours, the rarer ones by strokes on their bars.
const VARIANTS: [(&[&str], LineStyle); 10] = [
    (&["cubic"], LINES[0]),
    (&["bbr", "bbr1", "bbrv1"], LINES[1]),
    (&["bbr3", "bbrv3"], LINES[2]),
    (&["reno", "newreno", "linuxreno"], LINES[3]),
    (&["bbr2", "bbrv2"], LINES[4]),
    (&["westwood", "westwood+", "westwoodplus"], LINES[5]),
    (&["vegas"], LINES[6]),
    (&["illinois"], LINES[7]),
    (
        &["dctcp"],
        style(Colour::Data(0x33, 0x22, 0x88), Marker::Square),
    ),
    (
        &["htcp"],
        filled(Colour::Data(0x99, 0x99, 0x33), Marker::Cross, Fill::Rising),
    ),
];

/// Other names, and what is no flow, such as pairs of them: colours that no variant above has (Tol, "muted", 2021),
/// each with a shape of its own. Where two bars have the same strokes, they are as far apart in grey as can be, too.
pub(super) const OTHER_NAMES: [LineStyle; 7] = [
    filled(
        Colour::Data(0x44, 0xaa, 0x99),
        Marker::Diamond,
        Fill::Falling,
    ),
    filled(Colour::Data(0x88, 0x22, 0x55), Marker::Disc, Fill::Level),
    filled(Colour::Data(0xcc, 0x66, 0x77), Marker::Cross, Fill::Level),
    filled(Colour::Data(0x11, 0x77, 0x33), Marker::Plus, Fill::Falling),
    filled(Colour::Data(0xaa, 0x44, 0x99), Marker::Ring, Fill::Rising),
    filled(Colour::Data(0xb8, 0xa2, 0x38), Marker::Up, Fill::Crossed),
    filled(
        Colour::Data(0x5b, 0x6b, 0x7b),
        Marker::Square,
        Fill::Crossed,
    ),
];

/// How a variant looks by itself: the same in all charts, whatever else is in them. Case, blanks and the
/// signs in `bbr-v3` or `bbr_v3` do not matter, and what follows a known name after anything but a letter or digit
/// (`cubic, n = 6`, `bbr-deep`) does not either; `bbr+cubic` is none of the two. Other names get one of seven more
/// styles by a fixed hash. Names of one study may clash: [`Looks`](super::Looks) tells these apart.
#[must_use]
pub fn variant(name: &str) -> LineStyle {
    claim(name).style
}

/// What a name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Whose is better: lower is. Names in full, names with something behind them, others, mixes.
    pub(super) rank: usize,
    pub(super) style: LineStyle,
}

/// What charts call the runs of a study of which no label tells variants: nothing stands beside it.
pub(super) const ALL_RUNS: &str = "all runs";

pub(super) fn claim(name: &str) -> Claim {
    if name == ALL_RUNS {
        return Claim {
            rank: 0,
            style: LINES[0],
        };
    }
    let name: String = name
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect();
    if let Some((rank, style)) = known(&name) {
        return Claim { rank, style };
    }
    // What more than one name long is: the longest beginning that is known.
    let ends = name.rmatch_indices(|letter: char| !letter.is_alphanumeric());
    let stems = ends.filter(|(_, sign)| *sign != "+");
    let mut stems = stems.filter(|(end, _)| !name[..*end].contains('+'));
    let stem = stems.find_map(|(end, _)| known(&name[..end]));
    let is_mix = name.contains('+');
    if let Some((_, style)) = stem {
        let rank = KNOWN_MAX;
        return Claim { rank, style };
    }
    // FNV-1a.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Claim {
        rank: KNOWN_MAX + 1 + usize::from(is_mix),
        style: OTHER_NAMES[(hash % OTHER_NAMES.len() as u64) as usize],
    }
}

/// More than a variant has names.
const KNOWN_MAX: usize = 8;

/// The place of a name among those of its variant, and how that looks.
fn known(name: &str) -> Option<(usize, LineStyle)> {
    let plain: String = name
        .chars()
        .filter(|letter| !['-', '_', '.'].contains(letter))
        .collect();
    VARIANTS.iter().find_map(|&(names, style)| {
        let place = names.iter().position(|&known| known == plain)?;
        Some((place, style))
    })
}

/// Styles for names that clash, no two of a colour while these last: first those that no variant has, the ones least
/// like the first colours before others; then each colour with every other marker, and on bars with other strokes.
pub(super) fn spare() -> impl Iterator<Item = LineStyle> {
    const ORDER: [usize; 7] = [1, 5, 6, 3, 4, 2, 0];
    const MARKERS: [Marker; 8] = [
        Marker::Disc,
        Marker::Square,
        Marker::Up,
        Marker::Diamond,
        Marker::Down,
        Marker::Plus,
        Marker::Cross,
        Marker::Ring,
    ];
    let all = || {
        let others = ORDER.into_iter().map(|place| OTHER_NAMES[place]);
        others.chain(VARIANTS.iter().rev().map(|&(_, style)| style))
    };
    let turned = (1..MARKERS.len()).flat_map(move |turn| {
        all().map(move |of| {
            filled(
                of.colour,
                later(&MARKERS, of.marker, turn),
                later(&Fill::ALL, of.fill, turn),
            )
        })
    });
    all().chain(turned)
}

/// What stands so many places behind one of some, around their end.
fn later<T: Copy + PartialEq>(all: &[T], one: T, places: usize) -> T {
    let place = all.iter().position(|&of| of == one).unwrap_or(0);
    all[(place + places) % all.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_variants_are_alike_to_anyone() {
        let all: Vec<LineStyle> = spare().take(VARIANTS.len() + OTHER_NAMES.len()).collect();
        for (place, one) in all.iter().enumerate() {
            for other in &all[..place] {
                let apart = apart(one.colour, other.colour);
                assert!(!one.is_like(*other), "{apart:.3}: {one:?} and {other:?}");
            }
        }
        // What is seen most is plain.
        assert!(
            VARIANTS[..9]
                .iter()
                .all(|(_, style)| style.fill == Fill::Plain)
        );
        // Strokes that are the same lie on colours that are as far apart as the least of the first eight, and in grey,
        // where the plain ones cannot all differ, a tenth of the way from black to white.
        let lightness = |of: &LineStyle| of.colour.luminance().cbrt();
        for (place, one) in all.iter().enumerate() {
            let before = all[..place].iter();
            for other in before.filter(|of| of.fill == one.fill && one.fill != Fill::Plain) {
                let grey = (lightness(one) - lightness(other)).abs();
                assert!(grey >= 0.1, "{grey:.3}: {one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn flows_and_all_others_together_are_told_apart_by_colour_alone() {
        // Shares of the link are areas: no markers there.
        let all: Vec<Colour> = LINES.iter().chain([&OTHER]).map(|of| of.colour).collect();
        for (place, one) in all.iter().enumerate() {
            for other in &all[..place] {
                let apart = apart(*one, *other);
                assert!(apart >= APART, "{apart:.3}: {one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn a_variant_looks_the_same_by_every_name() {
        for names in [
            &["cubic", "CUBIC", "Cubic (6 flows)"][..],
            &[
                "bbr",
                "BBRv1",
                "bbr1",
                "bbr-deep",
                "bbr-v1",
                "bbr_v1, n = 6",
            ],
            &["bbr3", "bbr-v3", "BBR v3", "bbr-v3-deep"],
            &["bbr2", "bbr_v2"],
            &["htcp", "H-TCP"],
            &["reno", "NewReno"],
            &["westwood", "Westwood+"],
        ] {
            for name in names {
                assert_eq!(variant(name), variant(names[0]), "{name}");
            }
        }
        assert_ne!(variant("bbr"), variant("bbr2"));
        assert_ne!(variant("bbr2"), variant("bbr3"));
        // Both together are neither.
        for mix in ["bbr+cubic", "bbr + cubic, deep"] {
            let style = variant(mix);
            assert!(VARIANTS.iter().all(|&(_, known)| known != style), "{mix}");
        }
        // Whatever runs, a name keeps what it had: figures of two papers can be compared.
        assert_eq!(variant("copa"), variant(" Copa "));
        assert!(VARIANTS.iter().all(|&(_, known)| known != variant("copa")));
    }

    #[test]
    fn spare_styles_are_all_different_and_begin_with_all_colours() {
        let all: Vec<LineStyle> = spare().collect();
        assert_eq!(all.len(), 8 * (VARIANTS.len() + OTHER_NAMES.len()));
        for (place, one) in all.iter().enumerate() {
            let before = &all[..place];
            assert!(!before.contains(one), "{one:?}");
            let is_new = before.iter().all(|of| of.colour != one.colour);
            assert_eq!(is_new, place < 17, "{one:?}");
        }
    }

    #[test]
    fn colours_stand_out_from_what_they_are_drawn_on() {
        let contrast = |one: f64, two: f64| (one.max(two) + 0.05) / (one.min(two) + 0.05);
        let of = |colour: Colour, theme| {
            let (r, g, b) = colour.rgb(theme);
            Colour::Exact(r, g, b).luminance()
        };
        for theme in [Theme::Light, Theme::Dark] {
            let paper = of(Colour::Paper, theme);
            // WCAG 2.1, 1.4.3: text needs 4.5.
            for text in [Colour::Ink, Colour::SoftInk] {
                assert!(
                    contrast(of(text, theme), paper) >= 4.5,
                    "{text:?} {theme:?}"
                );
            }
            let data = VARIANTS.iter().map(|&(_, style)| style);
            let data = data.chain(OTHER_NAMES).chain([OTHER]);
            for LineStyle { colour, .. } in data {
                // Orange and sky on white are the faintest, as their authors chose them.
                let found = contrast(of(colour, theme), paper);
                assert!(found >= 2.1, "{colour:?} {theme:?}: {found}");
            }
        }
    }
}
