//! The table of a run's segments, which may be larger than the capture.

use std::io::Write;

use polars::prelude::*;
use polars_parquet::parquet::metadata::Descriptor;
use polars_parquet::parquet::page::CompressedPage;
use rayon::prelude::*;

use super::{
    Metadata, Pending, ROW_GROUP_ROWS, ReportError, TableFormat, failure, json_lines, packed,
    parquet, write_arrow,
};
use crate::analyze::Analysis;
use crate::table::{SegmentGroup, SegmentTable, segment_blocks};

/// Writes the table of a run's segments into a file that was begun, as [`fill`] does, but never holds
/// more of it than a few groups of rows; of an Arrow file all. On how many `threads` changes nothing but
/// the time taken.
///
/// # Errors
/// As [`fill`].
pub fn fill_with_segments(
    analysis: &Analysis,
    pending: &mut Pending,
    metadata: &Metadata,
    threads: Option<usize>,
) -> Result<(), ReportError> {
    let path = pending.path().to_path_buf();
    let blocks = |each: &mut dyn FnMut(DataFrame) -> PolarsResult<()>| {
        segment_blocks(analysis, ROW_GROUP_ROWS, each)
    };
    let written = match TableFormat::of(&path)? {
        TableFormat::Parquet => write_groups(analysis, &mut *pending, metadata, threads),
        TableFormat::Csv => {
            let mut first = true;
            blocks(&mut |mut table| {
                let header = std::mem::replace(&mut first, false);
                CsvWriter::new(&mut *pending)
                    .include_header(header)
                    .finish(&mut table)
            })
        }
        TableFormat::JsonLines => blocks(&mut |mut table| json_lines(&mut table, &mut *pending)),
        TableFormat::Arrow => {
            let mut all: Option<DataFrame> = None;
            let gathered = blocks(&mut |table| match &mut all {
                None => {
                    all = Some(table);
                    Ok(())
                }
                Some(all) => all.vstack_mut_owned(table).map(drop),
            });
            gathered.and_then(|()| match &mut all {
                Some(all) => write_arrow(all, &mut *pending, metadata),
                None => Ok(()),
            })
        }
    };
    written.map_err(|error| failure(path, error))?;
    pending.complete()
}

/// Groups of rows are gathered while those before are encoded, each of those on a thread.
fn write_groups<W: Write + Send>(
    analysis: &Analysis,
    out: W,
    metadata: &Metadata,
    threads: Option<usize>,
) -> PolarsResult<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| polars_err!(ComputeError: "{error}"))?;
    let table = SegmentTable::of(analysis);
    let mut writer = parquet(out, metadata).batched(SegmentTable::empty().schema())?;
    let columns: Vec<Descriptor> = writer
        .parquet_schema()
        .columns()
        .iter()
        .map(|column| column.descriptor.clone())
        .collect();
    let at_a_time = pool.current_num_threads();
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
        let full = || groups.par_iter().filter(|group| !group.is_empty());
        let ((), encoded) = pool.install(|| {
            rayon::join(
                || refill(&mut following),
                || full().map(encode).collect::<Vec<_>>(),
            )
        });
        for pages in encoded {
            let (rows, pages) = pages?;
            writer.write_row_group(rows, &pages)?;
        }
        std::mem::swap(&mut groups, &mut following);
    }
    writer.finish().map(drop)
}
