//! Tables that are written block by block, several of them made and encoded side by side.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::mpsc::sync_channel;

use polars::io::parquet::write::BatchedWriter;
use polars::prelude::*;
use polars_parquet::write::Descriptor;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{
    Metadata, Pending, ReportError, TableFormat, csv, json_lines, packed, parquet, prepare,
    write_arrow,
};
use crate::table::{Block, Blocks};

/// Threads that make and encode tables: how many changes nothing but the time taken.
#[derive(Debug)]
pub struct Workers {
    threads: Option<usize>,
    /// Of what is small there is no need for them. `None` where there are no threads to be had.
    pool: OnceLock<Option<ThreadPool>>,
}

impl Workers {
    /// So many threads; `None` for as many as there are cores.
    #[must_use]
    pub fn new(threads: Option<usize>) -> Self {
        Self {
            threads,
            pool: OnceLock::new(),
        }
    }

    /// Does some work within the threads, which may share in it.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.pool() {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// `None` where there are no threads to be had: the slow way is still a way.
    fn pool(&self) -> Option<&ThreadPool> {
        let threads = self.threads.unwrap_or(0);
        let build = || ThreadPoolBuilder::new().num_threads(threads).build().ok();
        self.pool.get_or_init(build).as_ref()
    }
}

/// Writes a table into a file that was begun, in the format its name asks for, to the last byte; it still
/// has to be put in its place. No more of it is held than a block for each of the workers and one more; of an
/// Arrow file all.
///
/// # Errors
/// [`ReportError`] with the path, when the file or the format's writer fails.
pub fn fill(
    blocks: Blocks<'_>,
    pending: &mut Pending,
    metadata: &Metadata,
    workers: &Workers,
) -> Result<(), ReportError> {
    let format = prepare(pending.path())?;
    let out = &mut *pending;
    let written = match format {
        TableFormat::Parquet => in_row_groups(blocks, out, metadata, workers),
        TableFormat::Csv => {
            let header = csv(&mut *out, true).finish(&mut blocks.empty().clone());
            let encode = |table: &mut DataFrame, text: &mut _| csv(text, false).finish(table);
            header.and_then(|()| in_text(blocks, out, workers, encode))
        }
        TableFormat::JsonLines => {
            in_text(blocks, out, workers, |table, text| json_lines(table, text))
        }
        TableFormat::Arrow => write_arrow(&mut blocks.into_frame(), out, metadata),
    };
    written.map_err(|error| pending.failed_with(error.to_string()))?;
    pending.complete()
}

/// Calls `encode` with each part of a table, on the workers, and `write` with what that gave, in order,
/// while the next parts are put together. There is no more than one part for each worker and one more.
pub(super) fn each<P: Send, W, T: Send>(
    mut parts: impl Iterator<Item = P>,
    workers: &Workers,
    writer: &mut W,
    encode: impl Fn(P) -> PolarsResult<T> + Sync,
    write: impl Fn(&mut W, T) -> PolarsResult<()>,
) -> PolarsResult<()> {
    let Some(first) = parts.next() else {
        return Ok(());
    };
    // As most tables.
    let Some(second) = parts.next() else {
        return write(writer, encode(first)?);
    };
    let mut parts = [first, second].into_iter().chain(parts);
    let Some(pool) = workers.pool() else {
        return parts.try_for_each(|part| write(writer, encode(part)?));
    };
    pool.in_place_scope(|scope| {
        let mut begun = VecDeque::new();
        loop {
            // One more than there are threads, so that none waits for what is written.
            while begun.len() <= pool.current_num_threads()
                && let Some(part) = parts.next()
            {
                let (give, encoded) = sync_channel(1);
                let encode = &encode;
                scope.spawn(move |_| {
                    // Nobody takes it once writing has failed.
                    let _ = give.send(encode(part));
                });
                begun.push_back(encoded);
            }
            let Some(encoded) = begun.pop_front() else {
                return Ok(());
            };
            // Only a panic ends a worker without a word, and the scope hands it on.
            let Ok(encoded) = encoded.recv() else {
                return Ok(());
            };
            write(writer, encoded?)?;
        }
    })
}

fn in_text<W: Write>(
    blocks: Blocks<'_>,
    out: &mut W,
    workers: &Workers,
    format: impl Fn(&mut DataFrame, &mut Vec<u8>) -> PolarsResult<()> + Sync,
) -> PolarsResult<()> {
    let encode = |block: Block<'_>| {
        let mut text = Vec::new();
        format(&mut block.into_frame(), &mut text)?;
        Ok(text)
    };
    let write = |out: &mut W, text: Vec<u8>| Ok(out.write_all(&text)?);
    each(blocks, workers, out, encode, write)
}

/// Each block is a group of rows.
fn in_row_groups<W: Write + Send>(
    blocks: Blocks<'_>,
    out: W,
    metadata: &Metadata,
    workers: &Workers,
) -> PolarsResult<()> {
    let mut writer = parquet(out, metadata).batched(blocks.empty().schema())?;
    let columns = leaves(&mut writer);
    let encode = |block: Block<'_>| {
        let filled = block.fill();
        let mut zstd = packed::compressor()?;
        let pages = packed::all_pages(&filled.columns(), &columns, &mut zstd)?;
        Ok((filled.len() as u64, pages))
    };
    let write = |writer: &mut BatchedWriter<W>, (rows, pages): (u64, Vec<_>)| {
        writer.write_row_group(rows, &pages)
    };
    each(blocks, workers, &mut writer, encode, write)?;
    writer.finish().map(drop)
}

/// What the file says of each of its columns.
pub(super) fn leaves<W: Write>(writer: &mut BatchedWriter<W>) -> Vec<Descriptor> {
    let columns = writer.parquet_schema().columns().iter();
    columns.map(|leaf| leaf.descriptor.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fill_packed;
    use super::*;
    use crate::Analysis;
    use crate::analyze::Config;
    use crate::table::{PackedTable as _, SegmentTable};

    #[test]
    fn without_threads_tables_are_written_all_the_same() {
        let config = Config {
            segments: true,
            ..Config::default()
        };
        let analysis = Analysis::of(["testdata/captures/drop-one.pcap"], &config);
        let table = SegmentTable::of(&analysis);
        let folder = tempfile::tempdir().unwrap();
        let metadata = Metadata::new();
        let written = |workers: &Workers| {
            let begin = |name| Pending::create(&folder.path().join(name)).unwrap();
            ["blocks.parquet", "blocks.csv", "segments.parquet"].map(|name| {
                let mut pending = begin(name);
                if name == "segments.parquet" {
                    fill_packed(&table, &mut pending, &metadata, workers).unwrap();
                } else {
                    fill(table.blocks(50), &mut pending, &metadata, workers).unwrap();
                }
                std::fs::read(pending.commit().unwrap()).unwrap()
            })
        };
        assert!(table.blocks(50).count() > 3);
        let none = Workers {
            threads: None,
            pool: OnceLock::from(None),
        };
        let some = Workers::new(Some(3));
        assert!(written(&none) == written(&some));
        assert!(none.pool().is_none() && some.pool().is_some());
    }
}
