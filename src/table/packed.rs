//! Columns of large tables, as close to the file as a table can be: without a string, or an
//! `Option`, for each row.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

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
    pub(crate) fn extend_all(&mut self, values: &[T]) {
        self.values.extend_from_slice(values);
    }

    /// Adds cells to a column with nulls: those that are not null, and whether each is not.
    pub(super) fn extend_valid(&mut self, values: &[T], valid: &[bool]) {
        self.values.extend_from_slice(values);
        self.valid.extend_from_slice(valid);
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
    words: Vec<Option<Arc<str>>>,
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

/// What rows say in words, as far as it was put together: `K` tells one word from another.
#[derive(Debug)]
pub(super) struct Words<K> {
    rows: Vec<u32>,
    runs: Vec<(u32, u32)>,
    /// Each word once.
    distinct: Vec<Option<K>>,
    /// Places of the words.
    found: HashMap<K, u32, RandomState>,
    /// Place of null.
    null: Option<u32>,
}

impl<K: Eq + Hash + Clone> Words<K> {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            rows: Vec::with_capacity(rows),
            runs: Vec::new(),
            distinct: Vec::new(),
            found: HashMap::default(),
            null: None,
        }
    }

    /// Adds a row.
    #[inline]
    pub(super) fn push<Q>(&mut self, cell: Option<&Q>)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned + ?Sized,
        Q::Owned: Into<K>,
    {
        let place = self.recent(cell).unwrap_or_else(|| self.place(cell));
        self.rows.push(place);
        match self.runs.last_mut() {
            Some((last, rows)) if *last == place => *rows += 1,
            _ => self.runs.push((place, 1)),
        }
    }

    /// The place of a word that one of the last two rows says: these are mostly of the same flow, or of the other one
    /// of its connection.
    #[inline]
    fn recent<Q>(&self, cell: Option<&Q>) -> Option<u32>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let [before, last] = *self.rows.last_chunk()?;
        let is_said = |place: u32| {
            let word = self.distinct.get(place as usize);
            word.is_some_and(|word| word.as_ref().map(Borrow::borrow) == cell)
        };
        [last, before].into_iter().find(|&place| is_said(place))
    }

    /// The place of a word, which it may get now.
    #[inline(never)]
    fn place<Q>(&mut self, cell: Option<&Q>) -> u32
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned + ?Sized,
        Q::Owned: Into<K>,
    {
        let known = cell.map_or(self.null.as_ref(), |word| self.found.get(word));
        if let Some(&place) = known {
            return place;
        }
        let place = self.distinct.len() as u32;
        let word: Option<K> = cell.map(|word| word.to_owned().into());
        match &word {
            Some(word) => drop(self.found.insert(word.clone(), place)),
            None => self.null = Some(place),
        }
        self.distinct.push(word);
        place
    }

    /// With the text of each word.
    pub(super) fn into_texts(self, text: impl Fn(K) -> Arc<str>) -> Texts {
        let words = self.distinct.into_iter();
        Texts {
            rows: self.rows,
            runs: self.runs,
            words: words.map(|word| word.map(&text)).collect(),
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
    /// The number of the last row, where there is one: beside the runs, as it is asked for with every row.
    last: u32,
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
        // As nearly all rows of most columns.
        if let Some((key, rows)) = self.runs.last_mut()
            && number == self.last
        {
            *rows += 1;
            self.rows.push(*key);
            return;
        }
        let key = match self.near.get(number as usize) {
            Some(&place) if place > 0 => place - 1,
            _ => self.find(number),
        };
        self.last = number;
        self.rows.push(key);
        self.runs.push((key, 1));
    }

    /// Adds rows.
    pub(super) fn extend(&mut self, numbers: &[u32]) {
        self.rows.reserve(numbers.len());
        for &number in numbers {
            self.push(number);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of few words, so that many rows say what one before them said.
    fn words() -> impl Strategy<Value = Vec<Option<String>>> {
        prop::collection::vec(prop::option::of("[ab]{0,2}"), 0..100)
    }

    proptest! {
        #[test]
        fn each_word_is_kept_once(said in words()) {
            let mut words = Words::<Arc<str>>::with_capacity(said.len());
            for word in &said {
                words.push(word.as_deref());
            }
            let texts = words.into_texts(|word| word);
            prop_assert!(texts.cells().eq(said.iter().map(Option::as_deref)));
            let mut distinct = said.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(texts.words.len(), distinct.len());
            let runs = texts.runs.iter();
            let rows: Vec<u32> = runs.flat_map(|&(key, rows)| std::iter::repeat_n(key, rows as usize)).collect();
            prop_assert_eq!(rows, texts.rows);
        }

        #[test]
        fn cells_come_back_as_they_were(
            parts in prop::collection::vec(prop::collection::vec(any::<Option<i64>>(), 0..5), 0..10),
        ) {
            let mut numbers = Numbers::default();
            for part in &parts {
                numbers.extend_some(part.iter().copied());
            }
            let cells = parts.concat();
            prop_assert!(numbers.cells().eq(cells.iter().copied()));
            let some: Vec<i64> = cells.iter().copied().flatten().collect();
            prop_assert_eq!(numbers.values(), some);
            prop_assert_eq!(numbers.valid().is_some(), cells.contains(&None));
        }
    }
}
