//! Columns: name with unit, type, METRICS.md entry, and where the value comes from.

use std::net::IpAddr;

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
    /// An address, as text.
    Address(fn(&R) -> Option<IpAddr>),
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
                Value::Text(_) | Value::Name(_) | Value::Address(_) => "text",
                Value::Truth(_) => "bool",
            },
            metric: column.metric,
        })
        .collect();
    TableSchema { name, columns }
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
