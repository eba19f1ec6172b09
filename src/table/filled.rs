//! Some rows of a table as columns: what files of columns are written from, and data frames are made of.

use std::net::IpAddr;
use std::sync::Arc;

use polars::prelude::{
    BooleanChunked, Column as PolarsColumn, DataFrame, Float64Chunked, Int64Chunked, IntoSeries,
    NewChunkedArray, PlSmallStr, Series, StringChunked, UInt64Chunked,
};

use super::packed::{Numbers, Packed, Texts, Values, Words};
use super::schema::{Column, Value};

/// Columns that are filled, in the order of their table.
#[derive(Debug)]
pub struct Filled {
    rows: usize,
    columns: Vec<(PlSmallStr, Cells)>,
}

/// The cells of one column.
#[derive(Debug)]
enum Cells {
    /// As the bits of a `u64`.
    Count(Numbers),
    Whole(Numbers),
    Real(Values<f64>),
    Truth(Values<bool>),
    Text(Texts),
}

impl Filled {
    /// The cells of these rows, of which there are `len`. They are made as they are wanted: what a row refers to is
    /// still in the cache while column after column asks for it.
    pub(super) fn of<R>(
        columns: &[Column<R>],
        len: usize,
        mut rows: impl Iterator<Item = R>,
    ) -> Self {
        let mut filler = Filler::new(columns, len);
        let mut block = Vec::with_capacity(len.min(BLOCK_ROWS));
        loop {
            block.extend(rows.by_ref().take(BLOCK_ROWS));
            if block.is_empty() {
                return filler.finish();
            }
            filler.extend(&block);
            block.clear();
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The columns, in order.
    #[must_use]
    pub fn columns(&self) -> Vec<Packed<'_>> {
        let cells = self.columns.iter().map(|(_, cells)| cells);
        cells.map(Cells::column).collect()
    }

    /// The columns as a data frame.
    ///
    /// # Panics
    /// Never: the columns of one list have distinct names and as many values as there are rows, which
    /// is all that a data frame asks for.
    #[must_use]
    pub fn into_frame(self) -> DataFrame {
        let series = |(name, cells): (PlSmallStr, Cells)| cells.into_series(name).into();
        DataFrame::new(self.rows, self.columns.into_iter().map(series).collect())
            .expect("columns of one list have distinct names and one length")
    }
}

/// A data frame of these rows.
pub(super) fn frame<R>(columns: &[Column<R>], rows: &[R]) -> DataFrame {
    let mut filler = Filler::new(columns, rows.len());
    for block in rows.chunks(BLOCK_ROWS) {
        filler.extend(block);
    }
    filler.finish().into_frame()
}

/// Rows that stay in the cache while column after column reads them.
const BLOCK_ROWS: usize = 64;

/// The columns of a table, as far as there are rows.
struct Filler<'a, R> {
    columns: &'a [Column<R>],
    cells: Vec<Filling>,
    rows: usize,
}

impl<'a, R> Filler<'a, R> {
    /// Columns that will have so many rows.
    fn new(columns: &'a [Column<R>], rows: usize) -> Self {
        let cells = columns
            .iter()
            .map(|column| Filling::new(&column.value, rows));
        Self {
            columns,
            cells: cells.collect(),
            rows: 0,
        }
    }

    /// Adds some rows, few enough to stay in the cache.
    fn extend(&mut self, rows: &[R]) {
        self.rows += rows.len();
        for (column, cells) in self.columns.iter().zip(&mut self.cells) {
            cells.extend(&column.value, rows);
        }
    }

    fn finish(self) -> Filled {
        let names = self.columns.iter().map(|column| column.name.into());
        let cells = self.cells.into_iter().map(Filling::into_cells);
        Filled {
            rows: self.rows,
            columns: names.zip(cells).collect(),
        }
    }
}

impl From<&DataFrame> for Filled {
    /// The columns of a table that is there already.
    fn from(table: &DataFrame) -> Self {
        let columns = table.columns().iter();
        Self {
            rows: table.height(),
            columns: columns
                .map(|column| (column.name().clone(), Cells::from(column)))
                .collect(),
        }
    }
}

impl Cells {
    fn column(&self) -> Packed<'_> {
        match self {
            Self::Count(cells) | Self::Whole(cells) => Packed::Numbers(cells),
            Self::Real(cells) => Packed::Reals(cells),
            Self::Truth(cells) => Packed::Truths(cells),
            Self::Text(cells) => cells.column(),
        }
    }

    fn into_series(self, name: PlSmallStr) -> Series {
        match self {
            Self::Count(cells) => {
                let counts = cells.cells().map(|cell| cell.map(i64::cast_unsigned));
                UInt64Chunked::from_iter_options(name, counts).into_series()
            }
            Self::Whole(cells) => {
                Int64Chunked::from_iter_options(name, cells.cells()).into_series()
            }
            Self::Real(cells) => {
                Float64Chunked::from_iter_options(name, cells.cells()).into_series()
            }
            Self::Truth(cells) => {
                BooleanChunked::from_iter_options(name, cells.cells()).into_series()
            }
            Self::Text(cells) => {
                StringChunked::from_iter_options(name, cells.cells()).into_series()
            }
        }
    }
}

impl From<&PolarsColumn> for Cells {
    /// The cells of a column of a data frame.
    fn from(column: &PolarsColumn) -> Self {
        let series = column.as_materialized_series();
        if let Ok(cells) = series.u64() {
            let counts = cells.iter().map(|cell| cell.map(u64::cast_signed));
            return Self::Count(counts.collect());
        }
        if let Ok(cells) = series.i64() {
            return Self::Whole(cells.iter().collect());
        }
        if let Ok(cells) = series.f64() {
            return Self::Real(cells.iter().collect());
        }
        if let Ok(cells) = series.bool() {
            return Self::Truth(cells.iter().collect());
        }
        let mut words = Words::<Arc<str>>::with_capacity(column.len());
        if let Ok(cells) = series.str() {
            cells.iter().for_each(|cell| words.push(cell));
        }
        Self::Text(words.into_texts(|word| word))
    }
}

/// The cells of one column, as far as there are rows.
enum Filling {
    Count(Numbers),
    Whole(Numbers),
    Real(Values<f64>),
    Truth(Values<bool>),
    Text(Words<Arc<str>>),
    Address(Words<IpAddr>),
}

impl Filling {
    fn new<R>(value: &Value<R>, rows: usize) -> Self {
        match value {
            Value::Count(_) => Self::Count(Values::with_capacity(rows)),
            Value::Whole(_) => Self::Whole(Values::with_capacity(rows)),
            Value::Real(_) => Self::Real(Values::with_capacity(rows)),
            Value::Text(_) => Self::Text(Words::with_capacity(rows)),
            Value::Address(_) => Self::Address(Words::with_capacity(rows)),
            Value::Truth(_) => Self::Truth(Values::with_capacity(rows)),
        }
    }

    /// Adds the cells of some rows; the column is the one that `self` was made for.
    fn extend<R>(&mut self, value: &Value<R>, rows: &[R]) {
        match (self, value) {
            (Self::Count(cells), Value::Count(fill)) | (Self::Whole(cells), Value::Whole(fill)) => {
                fill(rows, cells);
            }
            (Self::Real(cells), Value::Real(fill)) => fill(rows, cells),
            (Self::Text(cells), Value::Text(fill)) => fill(rows, cells),
            (Self::Address(cells), Value::Address(fill)) => fill(rows, cells),
            (Self::Truth(cells), Value::Truth(fill)) => fill(rows, cells),
            _ => unreachable!("cells are made for their column"),
        }
    }

    fn into_cells(self) -> Cells {
        match self {
            Self::Count(cells) => Cells::Count(cells),
            Self::Whole(cells) => Cells::Whole(cells),
            Self::Real(cells) => Cells::Real(cells),
            Self::Truth(cells) => Cells::Truth(cells),
            Self::Text(words) => Cells::Text(words.into_texts(|word| word)),
            Self::Address(words) => {
                Cells::Text(words.into_texts(|address| address.to_string().into()))
            }
        }
    }
}
