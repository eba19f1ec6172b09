//! How a table lies on its page.

use super::{Column, WORDS_WIDTH, are_kin, width};

/// How names of columns stand above these.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Headings {
    Line,
    /// The unit below the name, or half of a name below the other.
    TwoLines,
    Upright,
}

/// Height of a line, in points at normal size.
const LINE: f64 = 9.0;

/// No wider than the text of the page.
const FITTED: Option<[&str; 2]> = Some([
    "\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%\n",
    "}",
]);

/// How a table lies on its page; lengths in points.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// What is around it where it fits a page, over both columns of a document that has two.
    pub(super) float: [&'static str; 2],
    pub(super) packages_of_float: &'static str,
    /// What is around it where it runs over pages.
    pub(super) begin: &'static str,
    pub(super) end: &'static str,
    pub(super) packages: &'static str,
    /// What makes its letters smaller, and its columns closer.
    pub(super) letters_begin: &'static str,
    /// Width and height of the text of a page: what the class `article` has on the smaller of the usual papers.
    pub(super) page: f64,
    page_height: f64,
    /// Width of letters over that of the normal size.
    pub(super) letters: f64,
    /// From one line to the next.
    line: f64,
    /// Space between two columns.
    space: f64,
    /// What it is within, and the end of that, where it is made smaller on pages that are narrower than it.
    pub(super) fitted: Option<[&'static str; 2]>,
    pub(super) headings: Headings,
}

impl Form {
    const NORMAL: Self = Self {
        float: ["\\begin{table*}", "\\end{table*}"],
        packages_of_float: "booktabs",
        begin: "{",
        end: "}\n",
        packages: "booktabs,longtable",
        letters_begin: "",
        page: 344.0,
        page_height: 548.0,
        letters: 1.0,
        line: 12.0,
        space: 12.0,
        fitted: None,
        headings: Headings::Line,
    };
    const SMALL: Self = Self {
        letters_begin: "\\footnotesize\\setlength{\\tabcolsep}{3pt}",
        letters: 0.85,
        line: 9.5,
        space: 6.0,
        ..Self::NORMAL
    };
    const STACKED: Self = Self {
        headings: Headings::TwoLines,
        ..Self::SMALL
    };
    /// As wide as it is in classes of two columns (`IEEEtran` has 516 points over both, `acmart` 506), and with letters
    /// of more than 7 points in `article`.
    const STACKED_FITTED: Self = Self {
        packages_of_float: "booktabs,graphicx",
        page: 382.0,
        fitted: FITTED,
        ..Self::STACKED
    };
    const UPRIGHT: Self = Self {
        packages_of_float: "booktabs,graphicx",
        packages: "booktabs,longtable,graphicx",
        headings: Headings::Upright,
        ..Self::SMALL
    };
    /// With letters of 6 points or more in `article`.
    const UPRIGHT_FITTED: Self = Self {
        page: 458.0,
        fitted: FITTED,
        ..Self::UPRIGHT
    };
    pub(super) const ACROSS: Self = Self {
        // The sideways tables of `rotating` leave the page in the class `acmart`.
        float: [
            "\\begin{table*}[p]\n\\centering\\rotatebox{90}{\\begin{minipage}{\\textheight}",
            "\\end{minipage}}\n\\end{table*}",
        ],
        packages_of_float: "booktabs,graphicx",
        begin: "\\begin{landscape}",
        end: "\\end{landscape}\n",
        packages: "booktabs,longtable,graphicx,pdflscape",
        letters_begin: "\\scriptsize\\setlength{\\tabcolsep}{3pt}",
        page: 548.0,
        page_height: 344.0,
        letters: 0.8,
        line: 8.0,
        space: 6.0,
        fitted: None,
        headings: Headings::Upright,
    };
    pub(super) const ALL: [Self; 7] = [
        Self::NORMAL,
        Self::SMALL,
        Self::STACKED,
        Self::STACKED_FITTED,
        Self::UPRIGHT,
        Self::UPRIGHT_FITTED,
        Self::ACROSS,
    ];

    /// Whether a table of so many rows may be so: what runs over pages cannot be made smaller.
    pub(super) fn suits(self, columns: &[&Column], rows: usize) -> bool {
        self.holds(columns) && (self.fitted.is_none() || self.fits_page(columns, rows))
    }

    /// Whether so many rows have room on a page, with a title of two lines and the rules.
    pub(super) fn fits_page(self, columns: &[&Column], rows: usize) -> bool {
        const AROUND: f64 = 48.0;
        let names = columns.iter().map(|column| column.header_width);
        let header = match self.headings {
            Headings::Line => self.line,
            Headings::TwoLines => 2.0 * self.line,
            Headings::Upright => names.fold(0.0, f64::max) * self.letters,
        };
        let above = if columns.iter().any(|column| column.above.is_some()) {
            // With its rule.
            1.5 * self.line
        } else {
            0.0
        };
        let lines = columns
            .iter()
            .map(|column| column.lines())
            .fold(1.0, f64::max);
        AROUND + header + above + rows as f64 * lines * self.line <= self.page_height
    }

    pub(super) fn holds(self, columns: &[&Column]) -> bool {
        self.width_of(columns) <= self.page
    }

    pub(super) fn width_of(self, columns: &[&Column]) -> f64 {
        let kin = columns.chunk_by(|one, next| are_kin(one, next));
        kin.map(|kin| self.width_of_kin(kin)).sum()
    }

    /// What columns below the same words take: what stands above them is never broken, and widens the last of them.
    fn width_of_kin(self, kin: &[&Column]) -> f64 {
        let own: f64 = kin.iter().map(|column| self.width(column)).sum();
        let above = kin.first().and_then(|first| first.above.as_ref());
        own.max(above.map_or(0.0, |above| width(above) * self.letters + self.space))
    }

    /// What a column takes, with the space beside it.
    pub(super) fn width(self, column: &Column) -> f64 {
        let header = match self.headings {
            Headings::Line => column.header_width,
            Headings::TwoLines => column.stacked_width,
            Headings::Upright => LINE,
        };
        let cells = column.cells_width.min(WORDS_WIDTH);
        header.max(cells) * self.letters + self.space
    }
}
