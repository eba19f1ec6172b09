//! Columns of large tables, as close to the file as a table can be: without a string, or an
//! `Option`, for each row.

use std::collections::HashMap;

use super::blocks::Blocks;

/// A value that rows refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shared<'a> {
    /// Text.
    Text(&'a str),
    /// A count, as the bits of a `u64`, or a whole number.
    Whole(i64),
}

/// The cells of one column in a group of rows.
#[derive(Debug)]
pub enum Packed<'a> {
    /// Rows refer to values, to each of them at least one; `None` is null. Values may repeat.
    Shared {
        /// Place of each row's value.
        keys: &'a [u32],
        /// The same as runs: the place, and for how many rows.
        runs: &'a [(u32, u32)],
        /// The values.
        values: Vec<Option<Shared<'a>>>,
    },
    /// Each row has a number of its own.
    Numbers(&'a Numbers),
    /// Yes or no, and never null.
    Truths(&'a [bool]),
}

/// A table of which a file of columns is written from packed columns, a group of rows at a time: one
/// whose rows are packets.
pub trait PackedTable: Sync {
    /// Its rows, one after the other.
    type Rows<'a>
    where
        Self: 'a;
    /// Some of them as columns.
    type Group: Default + Send;

    /// Its rows from the first.
    fn rows(&self) -> Self::Rows<'_>;

    /// Puts the next rows, `rows_max` at most, in the place of those that a group has.
    fn refill(group: &mut Self::Group, rows: &mut Self::Rows<'_>, rows_max: usize);

    /// How many rows a group has.
    fn len(group: &Self::Group) -> usize;

    /// The columns of a group, in the order of the table.
    fn columns<'a>(&'a self, group: &'a Self::Group) -> Vec<Packed<'a>>;

    /// The same table in blocks of no more than `rows_max` rows, for files that have no columns.
    fn blocks(&self, rows_max: usize) -> Blocks<'_>;
}

/// Numbers, one a row, of which some may be null: whole ones, or counts as the bits of a `u64`.
#[derive(Debug, Default)]
pub struct Numbers {
    /// Those that are not null.
    values: Vec<i64>,
    /// Whether each is not null; empty where none can be.
    valid: Vec<bool>,
}

impl Numbers {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.valid.clear();
    }

    /// Adds a cell to a column with nulls.
    #[inline]
    pub(super) fn push(&mut self, cell: Option<i64>) {
        self.valid.push(cell.is_some());
        self.values.extend(cell);
    }

    /// Adds cells to a column without nulls.
    pub(crate) fn extend(&mut self, cells: impl Iterator<Item = i64>) {
        self.values.extend(cells);
    }

    /// Adds cells to a column with nulls.
    pub(crate) fn extend_some(&mut self, cells: impl ExactSizeIterator<Item = Option<i64>>) {
        // With room for all of them at once, instead of a look before each.
        let (mut end, all) = (self.values.len(), self.values.len() + cells.len());
        self.values.resize(all, 0);
        let places = &mut self.values[..];
        self.valid.extend(cells.map(|cell| {
            // A null is written over by the next one.
            places[end] = cell.unwrap_or(0);
            end += usize::from(cell.is_some());
            cell.is_some()
        }));
        self.values.truncate(end);
    }

    /// Those that are not null.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// Whether each is not null; `None` where all are.
    #[must_use]
    pub fn valid(&self) -> Option<&[bool]> {
        (self.valid.len() > self.values.len()).then_some(&self.valid)
    }
}

/// Numbers that are looked up in a list; those above, as of a length in a damaged file, in a map.
const NEAR: usize = 1 << 22;

/// Values as rows refer to them: in the order in which they are first referred to.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Place of each row's value.
    rows: Vec<u32>,
    /// The same as runs.
    runs: Vec<(u32, u32)>,
    /// The values' numbers.
    numbers: Vec<u32>,
    /// Places of values in `numbers`, by number, plus one; 0 where a number is not among them.
    near: Vec<u32>,
    /// The same of the numbers from [`NEAR`] on.
    far: HashMap<u32, u32>,
}

impl Keys {
    pub(super) fn clear(&mut self) {
        for number in self.numbers.drain(..) {
            if let Some(place) = self.near.get_mut(number as usize) {
                *place = 0;
            }
        }
        self.rows.clear();
        self.runs.clear();
        self.far.clear();
    }

    /// Adds a row that refers to a value, by the value's number.
    #[inline]
    pub(super) fn push(&mut self, number: u32) {
        let key = match self.near.get(number as usize) {
            Some(&place) if place > 0 => place - 1,
            _ => self.find(number),
        };
        self.rows.push(key);
        match self.runs.last_mut() {
            Some((last, rows)) if *last == key => *rows += 1,
            _ => self.runs.push((key, 1)),
        }
    }

    #[cold]
    fn find(&mut self, number: u32) -> u32 {
        let index = number as usize;
        let place = if index < NEAR {
            if self.near.len() <= index {
                self.near.resize(index + 1, 0);
            }
            &mut self.near[index]
        } else {
            self.far.entry(number).or_default()
        };
        if *place == 0 {
            self.numbers.push(number);
            *place = self.numbers.len() as u32;
        }
        *place - 1
    }

    /// A column of the values, each told from its number.
    pub(super) fn column<'a>(&'a self, value: impl Fn(u32) -> Option<Shared<'a>>) -> Packed<'a> {
        Packed::Shared {
            keys: &self.rows,
            runs: &self.runs,
            values: self.numbers.iter().map(|&number| value(number)).collect(),
        }
    }
}
