//! Columns: name with unit, type, METRICS.md entry, and where the value comes from.

use polars::prelude::{Column as PolarsColumn, DataFrame, NamedFrom, Series};

/// How a column's value is taken from a row. `None` is null: not seen, or undefined.
pub enum Value<R> {
    /// A count or an amount: unsigned, 64 bits.
    Count(fn(&R) -> Option<u64>),
    /// A time, an offset, a delay: signed, 64 bits.
    Whole(fn(&R) -> Option<i64>),
    /// A rate, a ratio, a mean: floating-point, 64 bits; finite.
    Real(fn(&R) -> Option<f64>),
    /// Text.
    Text(fn(&R) -> Option<String>),
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
                Value::Text(_) => "text",
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
    let columns: Vec<PolarsColumn> = columns
        .iter()
        .map(|column| {
            let name = column.name.into();
            match column.value {
                Value::Count(of) => Series::new(name, rows.iter().map(of).collect::<Vec<_>>()),
                Value::Whole(of) => Series::new(name, rows.iter().map(of).collect::<Vec<_>>()),
                Value::Real(of) => {
                    let finite = |row| of(row).filter(|value| value.is_finite());
                    Series::new(name, rows.iter().map(finite).collect::<Vec<_>>())
                }
                Value::Listed(place, of) => {
                    let finite = |row| of(row, place).filter(|value| value.is_finite());
                    Series::new(name, rows.iter().map(finite).collect::<Vec<_>>())
                }
                Value::Text(of) => Series::new(name, rows.iter().map(of).collect::<Vec<_>>()),
                Value::Truth(of) => Series::new(name, rows.iter().map(of).collect::<Vec<_>>()),
            }
            .into()
        })
        .collect();
    DataFrame::new(rows.len(), columns)
        .expect("columns of one list have distinct names and one length")
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
