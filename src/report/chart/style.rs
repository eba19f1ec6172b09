//! How large a chart is, and what it is drawn on.

use std::str::FromStr;

/// What every chart of a run has in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// Where it will be shown.
    pub size: Size,
    /// What it is drawn on.
    pub theme: Theme,
}

/// Where a chart will be shown: decides how large it is, so that its text is readable there.
///
/// A chart is laid out in units of which a letter is always as high; a smaller chart has less room,
/// not smaller letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Size {
    /// One column of a paper with two, 89 mm: letters of 6.4 pt.
    OneColumn,
    /// Across both columns, or a report, 182 mm: letters of 7.4 pt; half of it can still be read.
    #[default]
    TwoColumns,
    /// A slide of 1920 by 1080 pixels.
    Slide,
}

impl Size {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::OneColumn, Self::TwoColumns, Self::Slide];

    /// The word of the option.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneColumn => "one-column",
            Self::TwoColumns => "two-columns",
            Self::Slide => "slide",
        }
    }

    /// Width of a chart, in units of layout.
    pub(super) const fn width(self) -> f64 {
        match self {
            Self::OneColumn => 900.0,
            Self::TwoColumns => 1600.0,
            Self::Slide => 1200.0,
        }
    }

    /// Height of a chart with one panel, in units of layout.
    pub(super) const fn height(self) -> f64 {
        match self {
            Self::OneColumn => 640.0,
            Self::TwoColumns => 900.0,
            Self::Slide => 675.0,
        }
    }

    /// Pixels of a bitmap that make one unit of layout.
    pub(super) const fn pixels(self) -> f64 {
        match self {
            Self::OneColumn | Self::TwoColumns => 1.0,
            Self::Slide => 1.6,
        }
    }

    /// Width in print, in metres.
    pub(super) const fn print_width_m(self) -> Option<f64> {
        match self {
            Self::OneColumn => Some(0.0889),
            Self::TwoColumns => Some(0.182),
            Self::Slide => None,
        }
    }

    /// The height of a slide, or of a page with room for a caption: what is higher is not printed as large as it is
    /// laid out for.
    pub(super) fn height_max(self) -> f64 {
        const PAGE_M: f64 = 0.23;
        let page = |width_m: f64| self.width() * PAGE_M / width_m;
        self.print_width_m().map_or(self.height(), page)
    }

    /// The most ticks that a horizontal axis over `share` (0 to 1) of the width has room for.
    pub(super) fn ticks_across(self, share: f64) -> usize {
        ((self.width() * share / 125.0) as usize).max(2)
    }
}

shown_by_name!(Size);

impl FromStr for Size {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.iter().copied();
        all.find(|of| of.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|size| size.name()).collect();
            let names = names.join(", ");
            format!("'{name}' is no size of charts: these are {names}")
        })
    }
}

/// What charts are drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on near black, with brighter colours.
    Dark,
}

impl Theme {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Light, Self::Dark];

    /// The word of the option.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

shown_by_name!(Theme);

impl FromStr for Theme {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.iter().copied();
        all.find(|of| of.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|theme| theme.name()).collect();
            let names = names.join(", ");
            format!("'{name}' is no theme of charts: these are {names}")
        })
    }
}
