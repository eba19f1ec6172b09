//! Tables of packets, which may be larger than the capture: their columns are never a data frame.

use std::io::Write;

use polars::prelude::*;
use polars_parquet::parquet::metadata::Descriptor;
use polars_parquet::parquet::page::CompressedPage;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::{Metadata, Pending, ReportError, TableFormat, Workers, failure, fill, packed, parquet};
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
    let path = pending.path().to_path_buf();
    if TableFormat::of(&path)? != TableFormat::Parquet {
        return fill(table.blocks(ROW_GROUP_ROWS), pending, metadata, workers);
    }
    write_groups(table, &mut *pending, metadata, workers).map_err(|error| failure(path, error))?;
    pending.complete()
}

/// Groups of rows are gathered while those before are encoded, each of those on a thread.
fn write_groups<T: PackedTable, W: Write + Send>(
    table: &T,
    out: W,
    metadata: &Metadata,
    workers: &Workers,
) -> PolarsResult<()> {
    let pool = workers.pool();
    let mut writer = parquet(out, metadata).batched(table.blocks(1).empty().schema())?;
    let columns: Vec<Descriptor> = writer
        .parquet_schema()
        .columns()
        .iter()
        .map(|column| column.descriptor.clone())
        .collect();
    let at_a_time = pool.map_or(1, ThreadPool::current_num_threads);
    let mut rows = table.rows();
    let mut refill = |groups: &mut [T::Group]| {
        for group in groups {
            T::refill(group, &mut rows, ROW_GROUP_ROWS);
        }
    };
    let encode = |group: &T::Group| -> PolarsResult<(u64, Vec<Vec<CompressedPage>>)> {
        let cells = table.columns(group);
        let mut zstd = packed::compressor()?;
        let columns = cells.iter().zip(&columns);
        let pages = columns.map(|(cells, of)| packed::pages(cells, of, &mut zstd));
        Ok((T::len(group) as u64, pages.collect::<PolarsResult<_>>()?))
    };
    let mut groups: Vec<T::Group> = Vec::new();
    let mut following: Vec<T::Group> = Vec::new();
    groups.resize_with(at_a_time, T::Group::default);
    following.resize_with(at_a_time, T::Group::default);
    refill(&mut groups);
    while groups.first().is_some_and(|group| T::len(group) > 0) {
        let is_full = |group: &&T::Group| T::len(group) > 0;
        let encoded: Vec<_> = if let Some(pool) = pool {
            let full = groups.par_iter().filter(is_full);
            let encode = || full.map(encode).collect();
            pool.install(|| rayon::join(|| refill(&mut following), encode).1)
        } else {
            refill(&mut following);
            groups.iter().filter(is_full).map(encode).collect()
        };
        for pages in encoded {
            let (rows, pages) = pages?;
            writer.write_row_group(rows, &pages)?;
        }
        std::mem::swap(&mut groups, &mut following);
    }
    writer.finish().map(drop)
}
