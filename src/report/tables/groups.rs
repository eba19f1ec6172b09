//! Tables of packets, which may be larger than the capture: their columns are never a data frame.

use std::io::Write;
use std::sync::Mutex;

use polars::io::parquet::write::BatchedWriter;
use polars::prelude::*;

use super::blocks::{Workers, each, fill, leaves};
use super::{Metadata, Pending, ReportError, TableFormat, packed, parquet};
use crate::table::PackedTable;

/// Rows in a group: enough to compress well, few enough to be read in parts.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// Writes a table of packets into a file that was begun, as [`fill`] does others.
///
/// # Errors
/// As [`fill`].
pub fn fill_packed<T: PackedTable>(
    table: &T,
    pending: &mut Pending,
    metadata: &Metadata,
    workers: &Workers,
) -> Result<(), ReportError> {
    if TableFormat::of(pending.path())? != TableFormat::Parquet {
        return fill(table.blocks(ROW_GROUP_ROWS), pending, metadata, workers);
    }
    write_groups(table, &mut *pending, metadata, workers)
        .map_err(|error| pending.failed_with(error.to_string()))?;
    pending.complete()
}

/// Groups of rows are gathered while those before are encoded.
fn write_groups<T: PackedTable, W: Write + Send>(
    table: &T,
    out: W,
    metadata: &Metadata,
    workers: &Workers,
) -> PolarsResult<()> {
    let mut writer = parquet(out, metadata).batched(table.blocks(1).empty().schema())?;
    let columns = leaves(&mut writer);
    // Groups that have been encoded, whose memory the next ones take.
    let used: Mutex<Vec<T::Group>> = Mutex::default();
    let mut rows = table.rows();
    let groups = std::iter::from_fn(|| {
        let mut group = used.lock().ok()?.pop().unwrap_or_default();
        T::refill(&mut group, &mut rows, ROW_GROUP_ROWS);
        (T::len(&group) > 0).then_some(group)
    });
    let encode = |group: T::Group| {
        let mut zstd = packed::compressor()?;
        let pages = packed::all_pages(&table.columns(&group), &columns, &mut zstd)?;
        let encoded = (T::len(&group) as u64, pages);
        if let Ok(mut used) = used.lock() {
            used.push(group);
        }
        Ok(encoded)
    };
    let write = |writer: &mut BatchedWriter<W>, (rows, pages): (u64, Vec<_>)| {
        writer.write_row_group(rows, &pages)
    };
    each(groups, workers, &mut writer, encode, write)?;
    writer.finish().map(drop)
}
