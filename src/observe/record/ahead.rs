//! Records of a list that are fetched from memory before they are asked for.

use super::ConnectionRecord;
use crate::prefetch::{LINE_BYTES, prefetch};

/// What is asked of records that are gone through, in lines of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// Outlines at most: those of both flows are within these.
    Outlines = 3,
    /// All; of a long series the rest comes on its own, one line after the other.
    All = 16,
}

/// Of a list that is gone through and is at `place`: begins to fetch what comes soon. Each record is somewhere else in
/// the memory, and its numbers are elsewhere again.
#[inline]
pub(crate) fn expect_ahead<T>(
    items: &[T],
    place: usize,
    wanted: Wanted,
    record: impl Fn(&T) -> &ConnectionRecord,
) {
    const AHEAD: usize = 8;
    if let Some(coming) = items.get(place + 2 * AHEAD) {
        prefetch(record(coming));
    }
    if let Some(come) = items.get(place + AHEAD) {
        record(come).expect(wanted);
    }
}

impl ConnectionRecord {
    /// So much of it is asked for soon: begins to fetch that from memory.
    #[inline]
    fn expect(&self, wanted: Wanted) {
        let lines = self.packed.chunks(LINE_BYTES);
        lines
            .take(wanted as usize)
            .for_each(|line| prefetch(&line[0]));
    }
}
