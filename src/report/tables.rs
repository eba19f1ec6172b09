//! Tables as Parquet, CSV, JSON lines or Arrow files.
//!
//! ```
//! use ccanalyze::Analysis;
//! use ccanalyze::analyze::Config;
//! use ccanalyze::report::{Pending, tables};
//! use ccanalyze::table::RunTables;
//!
//! let config = Config::default();
//! let analysis = Analysis::of(["testdata/captures/drop-one.pcap"], &config);
//! let run = RunTables::of(&analysis, &config);
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! // A table that is small, as one data frame. The ending decides the format.
//! let file = Pending::create(&folder.join("flows.csv"))?;
//! tables::write(&run.flows().into_frame(), file, &vec![])?;
//! assert!(std::fs::read_to_string(folder.join("flows.csv"))?.contains("10.77.0.1"));
//!
//! // One that may be large, block by block, on all cores.
//! let mut file = Pending::create(&folder.join("series.parquet"))?;
//! tables::fill(run.series(), &mut file, &vec![], &tables::Workers::new(None))?;
//! file.commit()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod groups;
mod packed;

use std::io::{self, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use polars::prelude::*;

use super::{Pending, ReportError};

pub use blocks::{Workers, fill};
pub use groups::fill_packed;

/// A format that tables are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TableFormat {
    /// Apache Parquet, compressed with zstd.
    Parquet,
    /// Comma-separated values with a header; null is an empty cell.
    Csv,
    /// One JSON object a line.
    JsonLines,
    /// Apache Arrow IPC file (Feather version 2).
    Arrow,
}

impl TableFormat {
    /// The format that the ending of `path` names.
    ///
    /// # Errors
    /// [`ReportError::UnknownFormat`] for any other ending.
    pub fn of(path: &Path) -> Result<Self, ReportError> {
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .map(str::to_ascii_lowercase);
        match ending.as_deref() {
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            Some("json" | "jsonl" | "ndjson") => Ok(Self::JsonLines),
            Some("arrow" | "feather" | "ipc") => Ok(Self::Arrow),
            _ => Err(ReportError::UnknownFormat {
                path: path.to_path_buf(),
            }),
        }
    }
}

/// Makes sure that a table can be written to `path`, in which format: what writes CSV starts threads of its own.
///
/// # Errors
/// [`ReportError::UnknownFormat`], and [`ReportError::Write`] where there are no threads to be had.
pub(crate) fn prepare(path: &Path) -> Result<TableFormat, ReportError> {
    let format = TableFormat::of(path)?;
    if format == TableFormat::Csv && !has_threads_for_csv() {
        let why = "what writes CSV starts some of its own";
        return Err(ReportError::Write {
            path: path.to_path_buf(),
            source: io::Error::new(io::ErrorKind::WouldBlock, why),
        });
    }
    Ok(format)
}

/// Whether the threads that CSV is written with could be started, which is tried once.
fn has_threads_for_csv() -> bool {
    static STARTED: OnceLock<bool> = OnceLock::new();
    *STARTED.get_or_init(|| {
        // Without threads it panics, and so it would for good: nothing of that is to be seen.
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let started = panic::catch_unwind(|| csv(io::sink(), false)).is_ok();
        panic::set_hook(hook);
        started
    })
}

/// `results.parquet` and `pairs` give `results.pairs.parquet`.
#[must_use]
pub fn sibling(results: &Path, table: &str) -> PathBuf {
    let ending = results.extension().unwrap_or_default().to_string_lossy();
    results.with_extension(format!("{table}.{ending}"))
}

/// What a file says about how it was made, where its format has a place for that.
pub type Metadata = Vec<(String, String)>;

/// Writes one table into a file that was begun, in the format its name asks for, and puts it in
/// its place.
///
/// # Errors
/// As [`fill`], and when it cannot be put there.
pub fn write(
    table: &DataFrame,
    mut pending: Pending,
    metadata: &Metadata,
) -> Result<PathBuf, ReportError> {
    let workers = Workers::new(None);
    fill(table.into(), &mut pending, metadata, &workers)?;
    pending.commit()
}

/// Gives up a file that was begun for a table without rows, and removes the one that an earlier run
/// wrote there.
///
/// # Errors
/// [`ReportError::Write`] when that cannot be removed.
pub fn withdraw(table: &DataFrame, pending: Pending) -> Result<(), ReportError> {
    let columns: Vec<&str> = table
        .get_column_names()
        .into_iter()
        .map(PlSmallStr::as_str)
        .collect();
    pending.withdraw(&columns)
}

/// Pages come to it encoded and compressed.
fn parquet<W: Write>(out: W, metadata: &Metadata) -> ParquetWriter<W> {
    let metadata = KeyValueMetadata::from_static(metadata.clone());
    ParquetWriter::new(out).with_key_value_metadata(Some(metadata))
}

fn csv<W: Write>(out: W, header: bool) -> CsvWriter<W> {
    CsvWriter::new(out).include_header(header)
}

fn json_lines(table: &mut DataFrame, out: impl Write) -> PolarsResult<()> {
    JsonWriter::new(out)
        .with_json_format(JsonFormat::JsonLines)
        .finish(table)
}

fn write_arrow(table: &mut DataFrame, out: impl Write, metadata: &Metadata) -> PolarsResult<()> {
    let mut writer = IpcWriter::new(out);
    let entries = metadata
        .iter()
        .map(|(key, value)| (key.as_str().into(), value.as_str().into()));
    writer.set_custom_schema_metadata(Arc::new(entries.collect()));
    writer.finish(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides_the_format() {
        for (name, format) in [
            ("r.parquet", TableFormat::Parquet),
            ("r.CSV", TableFormat::Csv),
            ("a.b.json", TableFormat::JsonLines),
            ("r.arrow", TableFormat::Arrow),
        ] {
            assert_eq!(TableFormat::of(Path::new(name)).unwrap(), format, "{name}");
        }
        assert!(TableFormat::of(Path::new("results")).is_err());
        assert!(TableFormat::of(Path::new("results.xlsx")).is_err());
    }

    #[test]
    fn tables_stand_beside_the_results() {
        assert_eq!(
            sibling(Path::new("out/r.parquet"), "pairs"),
            Path::new("out/r.pairs.parquet")
        );
    }
}
