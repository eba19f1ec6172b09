//! Columns of large tables, as close to the file as a table can be: without a string, or an
//! `Option`, for each row.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

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
    /// Each row has a whole number of its own, or a count.
    Numbers(&'a Numbers),
    /// Each row has a real number of its own; finite.
    Reals(&'a Values<f64>),
    /// Yes or no.
    Truths(&'a Values<bool>),
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

/// Cells of a column, one a row, of which some may be null.
#[derive(Clone, Debug, Default)]
pub struct Values<T> {
    /// Those that are not null.
    values: Vec<T>,
    /// Whether each is not null; empty where none can be.
    valid: Vec<bool>,
}

/// Whole numbers, or counts as the bits of a `u64`.
pub type Numbers = Values<i64>;

impl<T> FromIterator<Option<T>> for Values<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(cells: I) -> Self {
        let mut values = Vec::new();
        let cell = |cell: Option<T>| {
            let valid = cell.is_some();
            values.extend(cell);
            valid
        };
        let valid = cells.into_iter().map(cell).collect();
        Self { values, valid }
    }
}

impl<T: Copy + Default> Values<T> {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            values: Vec::with_capacity(rows),
            valid: Vec::with_capacity(rows),
        }
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.valid.clear();
    }

    /// Adds a cell to a column with nulls.
    #[inline]
    pub(super) fn push(&mut self, cell: Option<T>) {
        self.valid.push(cell.is_some());
        self.values.extend(cell);
    }

    /// Adds cells to a column without nulls.
    pub(crate) fn extend(&mut self, cells: impl Iterator<Item = T>) {
        self.values.extend(cells);
    }

    /// Adds cells to a column with nulls.
    pub(crate) fn extend_some(&mut self, cells: impl ExactSizeIterator<Item = Option<T>>) {
        // With room for all of them at once, instead of a look before each.
        let (mut end, all) = (self.values.len(), self.values.len() + cells.len());
        self.values.resize(all, T::default());
        let places = &mut self.values[..];
        self.valid.extend(cells.map(|cell| {
            // A null is written over by the next one.
            places[end] = cell.unwrap_or_default();
            end += usize::from(cell.is_some());
            cell.is_some()
        }));
        self.values.truncate(end);
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len().max(self.valid.len())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those that are not null.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Whether each is not null; `None` where all are.
    #[must_use]
    pub fn valid(&self) -> Option<&[bool]> {
        (self.valid.len() > self.values.len()).then_some(&self.valid)
    }

    /// All of them.
    pub(super) fn cells(&self) -> impl Iterator<Item = Option<T>> {
        let mut values = self.values.iter().copied();
        (0..self.len()).map(move |row| {
            if self.valid.get(row).is_some_and(|valid| !valid) {
                None
            } else {
                values.next()
            }
        })
    }
}

/// Text, one a row, of which some may be null: each word once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Place of each row's word.
    rows: Vec<u32>,
    /// The same as runs.
    runs: Vec<(u32, u32)>,
    words: Vec<Option<Box<str>>>,
}

impl Texts {
    /// All of them.
    pub(super) fn cells(&self) -> impl Iterator<Item = Option<&str>> {
        let word = |&place: &u32| self.words.get(place as usize)?.as_deref();
        self.rows.iter().map(word)
    }

    pub(super) fn column(&self) -> Packed<'_> {
        let words = self.words.iter();
        Packed::Shared {
            keys: &self.rows,
            runs: &self.runs,
            values: words
                .map(|word| word.as_deref().map(Shared::Text))
                .collect(),
        }
    }
}

/// Adds a row to keys and their runs.
#[inline]
fn push_key(rows: &mut Vec<u32>, runs: &mut Vec<(u32, u32)>, key: u32) {
    rows.push(key);
    match runs.last_mut() {
        Some((last, rows)) if *last == key => *rows += 1,
        _ => runs.push((key, 1)),
    }
}

/// What rows say in words, as far as it was put together: `K` tells one word from another.
#[derive(Debug)]
pub(super) struct Words<K> {
    rows: Vec<u32>,
    runs: Vec<(u32, u32)>,
    /// Places of the words.
    found: HashMap<K, u32, RandomState>,
    /// Place of null.
    null: Option<u32>,
}

impl<K: Eq + Hash> Words<K> {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            rows: Vec::with_capacity(rows),
            runs: Vec::new(),
            found: HashMap::default(),
            null: None,
        }
    }

    /// Adds a row.
    pub(super) fn push<Q>(&mut self, cell: Option<&Q>)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned + ?Sized,
        Q::Owned: Into<K>,
    {
        let next = self.found.len() as u32 + u32::from(self.null.is_some());
        let place = match cell {
            None => *self.null.get_or_insert(next),
            Some(cell) => match self.found.get(cell) {
                Some(&place) => place,
                None => *self.found.entry(cell.to_owned().into()).or_insert(next),
            },
        };
        push_key(&mut self.rows, &mut self.runs, place);
    }

    /// With the text of each word.
    #[expect(
        clippy::iter_over_hash_type,
        reason = "each word is put in its place, in whatever order"
    )]
    pub(super) fn into_texts(self, text: impl Fn(K) -> Box<str>) -> Texts {
        let all = self.found.len() + usize::from(self.null.is_some());
        let mut words = vec![None; all];
        for (word, place) in self.found {
            words[place as usize] = Some(text(word));
        }
        Texts {
            rows: self.rows,
            runs: self.runs,
            words,
        }
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
        push_key(&mut self.rows, &mut self.runs, key);
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
