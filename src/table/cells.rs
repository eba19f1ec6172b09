//! The cells of any table, for writers of text.

use polars::prelude::{AnyValue, DataFrame};

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Not seen, or undefined.
    Null,
    /// Words.
    Text(String),
    /// A count, an amount, a time.
    Whole(i128),
    /// A rate, a ratio, a mean.
    Real(f64),
    /// Less than this power of ten, and more than 0: a probability that is as good as none.
    Below(i32),
    /// A value of a label that is a number: it tells rows apart, by all of its digits.
    Label(f64),
    /// A mean.
    Mean {
        /// Its value.
        value: f64,
        /// Half of its confidence interval, where it has one.
        half: Option<f64>,
        /// Of how many values, where other means of its row are of another number.
        n: Option<u64>,
    },
    /// A median.
    Median {
        /// Its value.
        value: f64,
        /// The quartiles, where it is of several values.
        quartiles: Option<[f64; 2]>,
        /// Of how many values, where other medians of its row are of another number.
        n: Option<u64>,
    },
}

impl Cell {
    /// Its number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Null | Self::Text(_) => None,
            Self::Whole(number) => Some(*number as f64),
            Self::Below(_) => Some(0.0),
            Self::Real(number)
            | Self::Label(number)
            | Self::Mean { value: number, .. }
            | Self::Median { value: number, .. } => Some(*number),
        }
    }
}

/// The columns of a table: name and cells, each as long as the table.
#[must_use]
pub fn cells(table: &DataFrame) -> Vec<(String, Vec<Cell>)> {
    table
        .columns()
        .iter()
        .map(|column| {
            let cells = (0..table.height())
                .map(|row| column.get(row).map_or(Cell::Null, |value| cell(&value)))
                .collect();
            (column.name().to_string(), cells)
        })
        .collect()
}

fn cell(value: &AnyValue<'_>) -> Cell {
    match value {
        AnyValue::Null => Cell::Null,
        AnyValue::UInt64(number) => Cell::Whole(i128::from(*number)),
        AnyValue::Int64(number) => Cell::Whole(i128::from(*number)),
        AnyValue::Float64(number) => Cell::Real(*number),
        other => Cell::Text(other.str_value().into_owned()),
    }
}
