//! Measurements that were not made from captures: CSV and Parquet tables, flent archives, lines
//! of a text.
//!
//! A file becomes columns of numbers or texts; which of them is a metric and which a label is for
//! the caller to say. What the file is, its first bytes tell, not its name; it may be compressed
//! as captures may.

mod bytes;
mod delimited;
mod error;
mod flent;
mod lines;
mod parquet;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

pub(super) use error::COLUMNS_LISTED;
pub use error::{ImportError, ImportErrorKind, Place};
pub(super) use flent::flows as flent_flows;

use super::template::Template;

/// Bytes of a file after decompression. A larger one is refused.
pub const BYTES_MAX: u64 = 256 << 20;

/// Cells of a table: rows times columns. A larger one is refused.
pub const CELLS_MAX: u64 = 16 << 20;

/// A table that was measured elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredTable {
    /// What it was read from.
    pub format: MeasuredFormat,
    /// Its columns, as they stand in the file; of a flent archive `time_s` and then the series by
    /// name. All have the same length.
    pub columns: Vec<MeasuredColumn>,
    /// Series with an instant of their own for each value: what a flent archive measured before it
    /// was interpolated to the common times of the columns. Empty for other formats.
    pub series: Vec<MeasuredSeries>,
    /// What the file says about itself: of a flent archive the plain values of its metadata, such
    /// as `NAME` and `SERIES_META.Ping (ms) ICMP.UNITS`. Empty for other formats.
    pub metadata: BTreeMap<String, String>,
    /// Line of each row, where the file has lines.
    lines: Vec<u64>,
}

/// Where a table came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MeasuredFormat {
    /// Text with a header line; separated by comma, semicolon or tab.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// The JSON archive of flent, the Flexible Network Tester.
    Flent,
    /// Text of which each line that counts is as a template says.
    Lines,
}

/// A column and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredColumn {
    /// The name in the file; of a column without one the empty text.
    pub name: String,
    /// Its cells.
    pub values: MeasuredValues,
    /// Cells that say more than their value does, by row, ascending: `007` for 7, and `none`, which is no number but
    /// may be a label.
    written: Vec<(usize, Box<str>)>,
    /// Whether these are all that are written in another way: `5.0` for 5, too.
    is_as_written: bool,
}

/// Cells of a column; `None` is an empty cell, or one that says NA, NaN, None or null.
#[derive(Clone, Debug, PartialEq)]
pub enum MeasuredValues {
    /// Every cell is a number.
    Numbers(Vec<Option<f64>>),
    /// Some cell is not.
    Texts(Vec<Option<String>>),
    /// Cells of a type that is neither, such as dates and lists, which are not read.
    Other {
        /// What the file says of their type.
        kind: String,
        /// Number of cells.
        cells: usize,
    },
}

/// Values with their instants.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSeries {
    /// The name in the file.
    pub name: String,
    /// Instant in seconds, by the clock of the file, and value; in the order of the file.
    pub points: Vec<(f64, f64)>,
}

impl MeasuredTable {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ImportError`] with the place in the file: it cannot be read, is of no known format, is
    /// damaged, or larger than [`BYTES_MAX`] or [`CELLS_MAX`].
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        Self::read_as_written(path, &[])
    }

    /// The same; cells of a text in the columns of these names, or at these places, are as labels what is written in
    /// all of their digits ([`MeasuredTable::texts`]).
    ///
    /// # Errors
    /// As [`MeasuredTable::read`].
    pub(super) fn read_as_written(path: &Path, as_written: &[&str]) -> Result<Self, ImportError> {
        let read = bytes::read(path).and_then(|bytes| Self::parse(&bytes, as_written));
        read.map_err(|fault| fault.in_file(path))
    }

    /// Reads a text whose lines the template takes apart: a row a line that is as it says, a column
    /// a label of it; cells as for [`MeasuredTable::read_as_written`].
    ///
    /// # Errors
    /// As [`MeasuredTable::read`]; or no line is so.
    pub(super) fn read_lines(
        path: &Path,
        template: &Template,
        as_written: &[&str],
    ) -> Result<Self, ImportError> {
        let read = bytes::read(path).and_then(|bytes| lines::parse(&bytes, template, as_written));
        read.map_err(|fault| fault.in_file(path))
    }

    /// Reads a file that is in memory, not compressed.
    fn parse(bytes: &[u8], as_written: &[&str]) -> Result<Self, error::Fault> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        match first {
            None => Err(ImportErrorKind::Empty.into()),
            Some(_) if bytes.starts_with(parquet::MAGIC) => parquet::parse(bytes),
            Some(b'{') => flent::parse(bytes),
            Some(_) => delimited::parse(bytes, as_written),
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column of a name, or by its place: `#1` is the first.
    ///
    /// # Errors
    /// What is wrong with the name: there is no such column, there are several, or it is neither of numbers nor texts.
    pub fn column(&self, name: &str) -> Result<&MeasuredColumn, ImportErrorKind> {
        let mut named = (self.columns.iter().enumerate()).filter(|(_, column)| column.name == name);
        match (named.next(), named.next()) {
            (Some((_, column)), None) => column.readable(),
            (Some((first, _)), Some((second, _))) => Err(ImportErrorKind::AmbiguousColumn {
                name: name.to_owned(),
                first: first + 1,
                second: second + 1,
            }),
            (None, _) => match self.by_place(name) {
                Some(column) => column.readable(),
                None => Err(ImportErrorKind::NoColumn {
                    name: name.to_owned(),
                    columns: self.columns.iter().map(|c| c.name.clone()).collect(),
                }),
            },
        }
    }

    /// The numbers of a column, `None` for empty cells.
    ///
    /// # Errors
    /// As [`MeasuredTable::column`]; or a cell is not a finite number: which.
    pub fn numbers(&self, name: &str) -> Result<&[Option<f64>], ImportErrorKind> {
        let not_a_number = |row: usize, text: String| ImportErrorKind::NotANumber {
            name: name.to_owned(),
            place: self.place(row),
            text,
        };
        match &self.column(name)?.values {
            MeasuredValues::Numbers(numbers) => {
                match position(numbers, |number| !number.is_finite()) {
                    Some((row, number)) => Err(not_a_number(row, number.to_string())),
                    None => Ok(numbers),
                }
            }
            MeasuredValues::Texts(texts) => {
                let odd = position(texts, |text| text.parse::<f64>().is_err());
                // A column of texts has a cell that is no number; that is what made it one.
                let (row, text) = odd.map_or((0, String::new()), |(row, text)| (row, text.clone()));
                Err(not_a_number(row, text))
            }
            // Of such a column the name is an error already.
            MeasuredValues::Other { .. } => Ok(&[]),
        }
    }

    /// The cells of a column as labels, `None` for those without a value. In a text they are what is written, also the
    /// word `none` and digits (`5.10`, `007`), but for numbers as programs write them: these, and those that no text
    /// holds, are as short as they can be (`10.0` is `10`, and `1e2` is `100`).
    ///
    /// # Errors
    /// As [`MeasuredTable::column`].
    pub fn texts(&self, name: &str) -> Result<Vec<Option<Cow<'_, str>>>, ImportErrorKind> {
        Ok(self.column(name)?.texts().collect())
    }

    /// Where a row (from 0) stands in the file: its line, or its number from 1.
    #[must_use]
    pub fn place(&self, row: usize) -> Place {
        match self.lines.get(row) {
            Some(&line) => Place::Line(line),
            None => Place::Row(row as u64 + 1),
        }
    }

    fn by_place(&self, name: &str) -> Option<&MeasuredColumn> {
        let place: usize = name.strip_prefix('#')?.parse().ok()?;
        self.columns.get(place.checked_sub(1)?)
    }
}

impl MeasuredColumn {
    fn new(name: impl Into<String>, values: MeasuredValues) -> Self {
        Self {
            name: name.into(),
            values,
            written: Vec::new(),
            is_as_written: false,
        }
    }

    /// Itself, at this place (from 0) of a table of which these columns are as they are written.
    fn among(mut self, place: usize, as_written: &[&str]) -> Self {
        let by_place = |name: &str| {
            name.strip_prefix('#')
                .is_some_and(|at| at.parse() == Ok(place + 1))
        };
        self.is_as_written = as_written
            .iter()
            .any(|name| *name == self.name || by_place(name));
        self
    }

    /// Itself, where its cells can be read.
    fn readable(&self) -> Result<&Self, ImportErrorKind> {
        match &self.values {
            MeasuredValues::Other { kind, .. } => Err(ImportErrorKind::NeitherNumberNorText {
                name: self.name.clone(),
                kind: kind.clone(),
            }),
            _ => Ok(self),
        }
    }

    /// Its cells as labels, see [`MeasuredTable::texts`].
    pub(super) fn texts(&self) -> impl Iterator<Item = Option<Cow<'_, str>>> {
        let mut written = self.written.iter().peekable();
        (0..self.values.len()).map(move |row| {
            if let Some((_, text)) = written.next_if(|(at, _)| *at == row) {
                return Some(Cow::Borrowed(&**text));
            }
            match &self.values {
                MeasuredValues::Numbers(numbers) => numbers[row].map(|n| Cow::Owned(n.to_string())),
                MeasuredValues::Texts(texts) => texts[row].as_deref().map(Cow::Borrowed),
                MeasuredValues::Other { .. } => None,
            }
        })
    }
}

impl MeasuredValues {
    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
            Self::Other { cells, .. } => *cells,
        }
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The first cell that has a value of which `is` holds, with its row.
fn position<T>(cells: &[Option<T>], is: impl Fn(&T) -> bool) -> Option<(usize, &T)> {
    let cells = cells.iter().enumerate();
    cells
        .filter_map(|(row, cell)| cell.as_ref().map(|cell| (row, cell)))
        .find(|(_, cell)| is(cell))
}

/// Refuses more cells than allowed.
fn check_cells(cells: u64) -> Result<(), ImportErrorKind> {
    if cells > CELLS_MAX {
        return Err(ImportErrorKind::TooManyCells { cells });
    }
    Ok(())
}
