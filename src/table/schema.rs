//! Columns: name with unit, type, METRICS.md entry, and where the value comes from.

use polars::prelude::{
    BooleanChunkedBuilder, ChunkedBuilder, DataFrame, Float64Type, Int64Type, IntoSeries,
    PrimitiveChunkedBuilder, Series, StringChunkedBuilder, UInt64Type,
};

/// How a column's value is taken from a row. `None` is null: not seen, or undefined.
pub enum Value<R> {
    /// A count or an amount: unsigned, 64 bits.
    Count(fn(&R) -> Option<u64>),
    /// A time, an offset, a delay: signed, 64 bits.
    Whole(fn(&R) -> Option<i64>),
    /// A rate, a ratio, a mean: floating-point, 64 bits; finite.
    Real(fn(&R) -> Option<f64>),
    /// Text that the row makes up.
    Text(fn(&R) -> Option<String>),
    /// Text that is there already.
    Name(for<'r> fn(&'r R) -> Option<&'r str>),
    /// Yes or no.
    Truth(fn(&R) -> Option<bool>),
    /// One of several numbers that rows hold in a list, by its place there; finite.
    Listed(usize, fn(&R, usize) -> Option<f64>),
}

/// One column of a table with rows of type `R`.
pub struct Column<R> {
    /// Its name, unit last.
    pub name: &'static str,
    /// Its entry in METRICS.md; `-` for identity.
    pub metric: &'static str,
    /// Where its value comes from.
    pub value: Value<R>,
}

/// A column as the documentation lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSchema {
    /// Its name.
    pub name: &'static str,
    /// Its type: `u64`, `i64`, `f64`, `text` or `bool`. Every column may be null.
    pub kind: &'static str,
    /// Its entry in METRICS.md; `-` for identity.
    pub metric: &'static str,
}

/// A table as the documentation lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// What follows the results' name.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: Vec<ColumnSchema>,
}

pub(super) fn describe<R>(name: &'static str, columns: &[Column<R>]) -> TableSchema {
    let columns = columns
        .iter()
        .map(|column| ColumnSchema {
            name: column.name,
            kind: match column.value {
                Value::Count(_) => "u64",
                Value::Whole(_) => "i64",
                Value::Real(_) | Value::Listed(..) => "f64",
                Value::Text(_) | Value::Name(_) => "text",
                Value::Truth(_) => "bool",
            },
            metric: column.metric,
        })
        .collect();
    TableSchema { name, columns }
}

/// Fills a data frame from rows.
///
/// # Panics
/// Never: the columns of one list have distinct names and as many values as there are rows, which
/// is all that a data frame asks for.
pub(super) fn frame<R>(columns: &[Column<R>], rows: &[R]) -> DataFrame {
    /// Rows whose records stay in the cache while column after column reads them.
    const BLOCK_ROWS: usize = 64;
    let mut cells: Vec<Cells> = columns
        .iter()
        .map(|column| Cells::new(column, rows.len()))
        .collect();
    for block in rows.chunks(BLOCK_ROWS) {
        for (column, cells) in columns.iter().zip(&mut cells) {
            cells.extend(&column.value, block);
        }
    }
    let columns = cells
        .into_iter()
        .map(|cells| cells.into_series().into())
        .collect();
    DataFrame::new(rows.len(), columns)
        .expect("columns of one list have distinct names and one length")
}

/// The cells of one column.
enum Cells {
    Count(PrimitiveChunkedBuilder<UInt64Type>),
    Whole(PrimitiveChunkedBuilder<Int64Type>),
    Real(PrimitiveChunkedBuilder<Float64Type>),
    Text(StringChunkedBuilder),
    Truth(BooleanChunkedBuilder),
}

impl Cells {
    fn new<R>(column: &Column<R>, rows: usize) -> Self {
        let name = column.name.into();
        match column.value {
            Value::Count(_) => Self::Count(PrimitiveChunkedBuilder::new(name, rows)),
            Value::Whole(_) => Self::Whole(PrimitiveChunkedBuilder::new(name, rows)),
            Value::Real(_) | Value::Listed(..) => {
                Self::Real(PrimitiveChunkedBuilder::new(name, rows))
            }
            Value::Text(_) | Value::Name(_) => Self::Text(StringChunkedBuilder::new(name, rows)),
            Value::Truth(_) => Self::Truth(BooleanChunkedBuilder::new(name, rows)),
        }
    }

    /// Adds the cells of some rows; the column is the one that `self` was made for.
    fn extend<R>(&mut self, value: &Value<R>, rows: &[R]) {
        let finite = |value: &f64| value.is_finite();
        let rows = rows.iter();
        match (self, value) {
            (Self::Count(cells), Value::Count(of)) => {
                rows.for_each(|row| cells.append_option(of(row)));
            }
            (Self::Whole(cells), Value::Whole(of)) => {
                rows.for_each(|row| cells.append_option(of(row)));
            }
            (Self::Real(cells), Value::Real(of)) => {
                rows.for_each(|row| cells.append_option(of(row).filter(finite)));
            }
            (Self::Real(cells), Value::Listed(place, of)) => {
                rows.for_each(|row| cells.append_option(of(row, *place).filter(finite)));
            }
            (Self::Text(cells), Value::Text(of)) => {
                rows.for_each(|row| cells.append_option(of(row).as_deref()));
            }
            (Self::Text(cells), Value::Name(of)) => {
                rows.for_each(|row| cells.append_option(of(row)));
            }
            (Self::Truth(cells), Value::Truth(of)) => {
                rows.for_each(|row| cells.append_option(of(row)));
            }
            _ => unreachable!("cells are made for their column"),
        }
    }

    fn into_series(self) -> Series {
        match self {
            Self::Count(cells) => cells.finish().into_series(),
            Self::Whole(cells) => cells.finish().into_series(),
            Self::Real(cells) => cells.finish().into_series(),
            Self::Text(cells) => cells.finish().into_series(),
            Self::Truth(cells) => cells.finish().into_series(),
        }
    }
}

/// Shorthand for a list of columns.
macro_rules! column_list {
    ($($name:literal $metric:literal $kind:ident $of:expr;)*) => {
        vec![$($crate::table::schema::Column {
            name: $name,
            metric: $metric,
            value: $crate::table::schema::Value::$kind($of),
        }),*]
    };
}
pub(super) use column_list;
