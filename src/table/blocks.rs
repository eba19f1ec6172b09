//! Tables made block by block.
//!
//! As one data frame, the flows of a busy link and their series take several times the memory that
//! their analysis did, and one thread after the other to make and to write.

use polars::prelude::DataFrame;

use super::filled::{Filled, frame};
use super::schema::Column;

/// Cells of a block, at most: some megabytes, and rows enough to compress well.
const CELLS_MAX: usize = 1 << 20;

/// Some rows of a table that follow each other, whose cells are not there yet.
pub struct Block<'a> {
    fill: Box<dyn FnOnce() -> Filled + Send + 'a>,
}

impl Block<'_> {
    /// Works the cells out.
    #[must_use]
    pub fn fill(self) -> Filled {
        (self.fill)()
    }

    /// Its rows, worked out, as a data frame.
    #[must_use]
    pub fn into_frame(self) -> DataFrame {
        self.fill().into_frame()
    }
}

impl std::fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Block")
    }
}

/// The blocks of a table, in order; none of a table without rows.
pub struct Blocks<'a> {
    empty: DataFrame,
    blocks: Box<dyn Iterator<Item = Block<'a>> + 'a>,
}

impl Blocks<'_> {
    /// A data frame without rows: the columns' names and types.
    #[must_use]
    pub fn empty(&self) -> &DataFrame {
        &self.empty
    }

    /// All that is left, at once.
    ///
    /// # Panics
    /// Never: blocks of one table have the same columns.
    #[must_use]
    pub fn into_frame(self) -> DataFrame {
        let mut all = self.empty;
        for block in self.blocks {
            all.vstack_mut_owned(block.into_frame())
                .expect("blocks of one table have the same columns");
        }
        all.rechunk_mut();
        all
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.blocks.next()
    }
}

impl<'a> From<&'a DataFrame> for Blocks<'a> {
    /// Parts of a table that is there already.
    fn from(table: &'a DataFrame) -> Self {
        let rows_max = rows_max(table.width());
        let starts = (0..table.height()).step_by(rows_max);
        let blocks = starts.map(move |start| Block {
            fill: Box::new(move || Filled::from(&table.slice(start as i64, rows_max))),
        });
        Self {
            empty: table.clear(),
            blocks: Box::new(blocks),
        }
    }
}

impl std::fmt::Debug for Blocks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blocks")
    }
}

/// Rows of a block of so many columns.
pub(super) fn rows_max(columns: usize) -> usize {
    (CELLS_MAX / columns.max(1)).max(1)
}

/// A table of these rows.
pub(super) fn of_rows<'a, R: Send + 'a>(
    columns: fn() -> Vec<Column<R>>,
    mut rows: impl Iterator<Item = R> + 'a,
) -> Blocks<'a> {
    let rows_max = rows_max(columns().len());
    let groups = std::iter::from_fn(move || {
        let group: Vec<R> = rows.by_ref().take(rows_max).collect();
        (!group.is_empty()).then_some(group)
    });
    of_groups(columns, groups, |group| (group.len(), group))
}

/// A table of groups, of which `rows` makes rows: how many, and these.
pub(super) fn of_groups<'a, R: 'a, G: Send + 'a, I: IntoIterator<Item = R>>(
    columns: fn() -> Vec<Column<R>>,
    groups: impl Iterator<Item = G> + 'a,
    rows: impl Fn(G) -> (usize, I) + Copy + Send + 'a,
) -> Blocks<'a> {
    let blocks = groups.map(move |group| Block {
        fill: Box::new(move || {
            let (len, rows) = rows(group);
            Filled::of(&columns(), len, rows.into_iter())
        }),
    });
    Blocks {
        empty: frame(&columns(), &[]),
        blocks: Box::new(blocks),
    }
}
