//! Columns: name with unit, type, METRICS.md entry, and where the values come from.

use std::net::IpAddr;
use std::sync::Arc;

use super::packed::{Numbers, Values, Words};

/// Adds cells to a column, one for each of some rows.
type Fill<R, C> = Box<dyn Fn(&[R], &mut C)>;

/// A column's type, and how its cells are made of rows: of many with one call, for which the compiler knows what each
/// takes. Cells that are `None` are null: not seen, or undefined.
pub(super) enum Value<R> {
    /// Counts or amounts: unsigned, 64 bits.
    Count(Fill<R, Numbers>),
    /// Times, offsets, delays: signed, 64 bits.
    Whole(Fill<R, Numbers>),
    /// Rates, ratios, means: floating-point, 64 bits; finite.
    Real(Fill<R, Values<f64>>),
    /// Text.
    Text(Fill<R, Words<Arc<str>>>),
    /// Addresses, as text.
    Address(Fill<R, Words<IpAddr>>),
    /// Yes or no.
    Truth(Fill<R, Values<bool>>),
}

/// Adds counts or amounts.
pub(super) fn put_counts<R>(rows: &[R], cells: &mut Numbers, of: impl Fn(&R) -> Option<u64>) {
    cells.extend_some(rows.iter().map(|row| of(row).map(u64::cast_signed)));
}

/// Adds times, offsets, delays.
pub(super) fn put_whole<R>(rows: &[R], cells: &mut Numbers, of: impl Fn(&R) -> Option<i64>) {
    cells.extend_some(rows.iter().map(of));
}

/// Adds rates, ratios, means: null where they are not finite.
pub(super) fn put_reals<R>(rows: &[R], cells: &mut Values<f64>, of: impl Fn(&R) -> Option<f64>) {
    let finite = |value: &f64| value.is_finite();
    cells.extend_some(rows.iter().map(|row| of(row).filter(finite)));
}

/// Adds text that rows make up.
pub(super) fn put_texts<R>(
    rows: &[R],
    cells: &mut Words<Arc<str>>,
    of: impl Fn(&R) -> Option<String>,
) {
    for row in rows {
        cells.push(of(row).as_deref());
    }
}

/// Adds text that is there already.
pub(super) fn put_names<R>(
    rows: &[R],
    cells: &mut Words<Arc<str>>,
    of: impl for<'r> Fn(&'r R) -> Option<&'r str>,
) {
    for row in rows {
        cells.push(of(row));
    }
}

/// Adds addresses.
pub(super) fn put_addresses<R>(
    rows: &[R],
    cells: &mut Words<IpAddr>,
    of: impl Fn(&R) -> Option<IpAddr>,
) {
    for row in rows {
        cells.push(of(row).as_ref());
    }
}

/// Adds what is yes or no.
pub(super) fn put_truths<R>(rows: &[R], cells: &mut Values<bool>, of: impl Fn(&R) -> Option<bool>) {
    cells.extend_some(rows.iter().map(of));
}

/// One column of a table with rows of type `R`.
pub(super) struct Column<R> {
    /// Its name, unit last.
    pub(super) name: &'static str,
    /// Its entry in METRICS.md; `-` for identity.
    pub(super) metric: &'static str,
    /// Its type, and where its values come from.
    pub(super) value: Value<R>,
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
                Value::Real(_) => "f64",
                Value::Text(_) | Value::Address(_) => "text",
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
            value: $crate::table::schema::value!($kind $of),
        }),*]
    };
}
pub(super) use column_list;

/// Type and values of a column of such a list.
macro_rules! value {
    (Count $of:expr) => { $crate::table::schema::value!(Count put_counts $of) };
    (Whole $of:expr) => { $crate::table::schema::value!(Whole put_whole $of) };
    (Real $of:expr) => { $crate::table::schema::value!(Real put_reals $of) };
    (Text $of:expr) => { $crate::table::schema::value!(Text put_texts $of) };
    (Name $of:expr) => { $crate::table::schema::value!(Text put_names $of) };
    (Address $of:expr) => { $crate::table::schema::value!(Address put_addresses $of) };
    (Truth $of:expr) => { $crate::table::schema::value!(Truth put_truths $of) };
    ($kind:ident $put:ident $of:expr) => {
        $crate::table::schema::Value::$kind(Box::new(move |rows, cells| {
            $crate::table::schema::$put(rows, cells, $of);
        }))
    };
}
pub(super) use value;
