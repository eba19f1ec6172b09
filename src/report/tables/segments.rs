//! The table of a run's segments, which may be larger than the capture.

use std::io::Write;

use polars::prelude::*;
use polars_parquet::parquet::metadata::Descriptor;
use polars_parquet::parquet::page::CompressedPage;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::{Metadata, Pending, ReportError, TableFormat, Workers, failure, fill, packed, parquet};
use crate::analyze::Analysis;
use crate::table::{SegmentGroup, SegmentTable};

/// Rows in a group: enough to compress well, few enough to be read in parts.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// Writes the table of a run's segments into a file that was begun, as [`fill`] does.
///
/// # Errors
/// As [`fill`].
pub fn fill_with_segments(
    analysis: &Analysis,
    pending: &mut Pending,
    metadata: &Metadata,
    workers: &Workers,
) -> Result<(), ReportError> {
    let path = pending.path().to_path_buf();
    if TableFormat::of(&path)? != TableFormat::Parquet {
        let table = SegmentTable::of(analysis);
        return fill(table.blocks(ROW_GROUP_ROWS), pending, metadata, workers);
    }
    write_groups(analysis, &mut *pending, metadata, workers)
        .map_err(|error| failure(path, error))?;
    pending.complete()
}

/// Groups of rows are gathered while those before are encoded, each of those on a thread.
fn write_groups<W: Write + Send>(
    analysis: &Analysis,
    out: W,
    metadata: &Metadata,
    workers: &Workers,
) -> PolarsResult<()> {
    let pool = workers.pool();
    let table = SegmentTable::of(analysis);
    let mut writer = parquet(out, metadata).batched(SegmentTable::empty().schema())?;
    let columns: Vec<Descriptor> = writer
        .parquet_schema()
        .columns()
        .iter()
        .map(|column| column.descriptor.clone())
        .collect();
    let at_a_time = pool.map_or(1, ThreadPool::current_num_threads);
    let mut rows = table.rows();
    let mut refill = |groups: &mut [SegmentGroup]| {
        for group in groups {
            group.refill(&mut rows, ROW_GROUP_ROWS);
        }
    };
    let encode = |group: &SegmentGroup| -> PolarsResult<(u64, Vec<Vec<CompressedPage>>)> {
        let cells = group.columns(&table);
        let mut zstd = packed::compressor()?;
        let columns = cells.iter().zip(&columns);
        let pages = columns.map(|(cells, of)| packed::pages(cells, of, &mut zstd));
        Ok((group.len() as u64, pages.collect::<PolarsResult<_>>()?))
    };
    let mut groups: Vec<SegmentGroup> = Vec::new();
    let mut following: Vec<SegmentGroup> = Vec::new();
    groups.resize_with(at_a_time, SegmentGroup::default);
    following.resize_with(at_a_time, SegmentGroup::default);
    refill(&mut groups);
    while groups.first().is_some_and(|group| !group.is_empty()) {
        let is_full = |group: &&SegmentGroup| !group.is_empty();
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
