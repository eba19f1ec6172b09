//! Why a measured table could not be used.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::CELLS_MAX;
use crate::capture::display_name;

/// Names of columns that a message lists.
pub(in crate::study) const COLUMNS_LISTED: usize = 12;

/// A measured table could not be read.
#[derive(Debug)]
pub struct ImportError {
    /// The file.
    pub path: PathBuf,
    /// Where in it; `None` for the file as a whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub kind: ImportErrorKind,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A line, from 1.
    Line(u64),
    /// A line and a column of it in bytes, both from 1.
    LineColumn(u64, u64),
    /// A row of a format without lines, from 1.
    Row(u64),
}

/// What is wrong with a measured table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// Opening, reading or decompressing failed.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// There is nothing in it.
    #[error("is empty: expected a table as CSV or Parquet, or a flent archive")]
    Empty,
    /// It is larger than allowed.
    #[error("has more than {} MiB after decompression, which is the limit: split it", limit_bytes >> 20)]
    TooLarge {
        /// What is allowed.
        limit_bytes: u64,
    },
    /// It has more cells than allowed.
    #[error("has {cells} cells, but {CELLS_MAX} is the limit: leave columns out, or split it")]
    TooManyCells {
        /// Rows times columns.
        cells: u64,
    },
    /// Bytes that are no text.
    #[error("is not text in UTF-8: save it as UTF-8")]
    NotUtf8,
    /// A header and nothing below.
    #[error("has a header but no rows")]
    NoRows,
    /// No line of a text is as its template says.
    #[error("has no line like '{template}'")]
    NoLine {
        /// The template.
        template: String,
    },
    /// A row is longer or shorter than the header.
    #[error(
        "this row has {cells} cells, but the header has {header}: is a quote or a separator missing?"
    )]
    UnequalCells {
        /// Cells of the row.
        cells: u64,
        /// Cells of the header.
        header: u64,
    },
    /// The CSV reader gave up.
    #[error("cannot be read as CSV: {0}")]
    Csv(String),
    /// The JSON reader gave up, or the JSON is none of flent.
    #[error("cannot be read as a flent archive (JSON with `results` and `x_values`): {0}")]
    Flent(String),
    /// A flent archive of a version that is not known.
    #[error("is a flent archive of version {version}; versions 1 to {known} can be read", known = super::flent::VERSION_MAX)]
    FlentVersion {
        /// By the word of the file.
        version: u64,
    },
    /// A flent series does not fit the times of the archive.
    #[error("series '{name}' has {values} values, but there are {times} times (`x_values`)")]
    FlentLength {
        /// The series.
        name: String,
        /// Its values.
        values: usize,
        /// The times.
        times: usize,
    },
    /// The Parquet reader gave up.
    #[error("cannot be read as Parquet: {0}")]
    Parquet(String),
    /// There is no column of a name.
    #[error("has no column '{name}': it has {}", Listed(.columns))]
    NoColumn {
        /// The name asked for.
        name: String,
        /// The names there are.
        columns: Vec<String>,
    },
    /// Two columns have the name.
    #[error(
        "has two columns '{name}', the {first}. and the {second}.: say '#{first}' or '#{second}'"
    )]
    AmbiguousColumn {
        /// The name asked for.
        name: String,
        /// Place of the first such column, from 1.
        first: usize,
        /// Place of the second.
        second: usize,
    },
    /// A column of dates, lists or the like.
    #[error(
        "column '{name}' is of type {kind}, neither number nor text: write it as one of these, such as a time in seconds"
    )]
    NeitherNumberNorText {
        /// The column.
        name: String,
        /// By the word of the file.
        kind: String,
    },
    /// A cell that should be a number.
    #[error("{place}: '{text}' in column '{name}' is not a number")]
    NotANumber {
        /// The column.
        name: String,
        /// Where the cell is.
        place: Place,
        /// The cell.
        text: String,
    },
}

/// What is wrong and where, before it is known in which file.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) place: Option<Place>,
    pub(super) kind: ImportErrorKind,
}

impl Fault {
    pub(super) fn at(place: Place, kind: ImportErrorKind) -> Self {
        Self {
            place: Some(place),
            kind,
        }
    }

    pub(super) fn in_file(self, path: &Path) -> ImportError {
        ImportError {
            path: path.to_owned(),
            place: self.place,
            kind: self.kind,
        }
    }
}

impl From<ImportErrorKind> for Fault {
    fn from(kind: ImportErrorKind) -> Self {
        Self { place: None, kind }
    }
}

impl ImportError {
    /// What is wrong and where in the file, for a message that names the file already.
    pub(in crate::study) fn in_its_file(&self) -> String {
        let at = self.place.map(|place| format!("{place}: "));
        format!("{}{}", at.unwrap_or_default(), self.kind)
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", display_name(&self.path), self.in_its_file())
    }
}

impl Error for ImportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.kind.source()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::LineColumn(line, column) => write!(f, "line {line}, column {column}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// Names in a message, not too many of them.
struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, name) in self.0.iter().take(COLUMNS_LISTED).enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            write!(f, "{separator}'{name}'")?;
        }
        match self.0.len().checked_sub(COLUMNS_LISTED) {
            Some(more) if more > 0 => write!(f, " and {more} more"),
            _ => Ok(()),
        }
    }
}
