//! Tables as Parquet, CSV, JSON lines or Arrow files.

mod blocks;
mod packed;
mod segments;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::*;

use super::{Pending, ReportError};

pub use blocks::{Workers, fill_with_blocks};
pub use segments::fill_with_segments;

/// A format that tables are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    table: &mut DataFrame,
    mut pending: Pending,
    metadata: &Metadata,
) -> Result<PathBuf, ReportError> {
    fill(table, &mut pending, metadata)?;
    pending.commit()
}

/// Writes one table into a file that was begun, in the format its name asks for, to the last byte;
/// it still has to be put in its place.
///
/// # Errors
/// [`ReportError`] with the path, when the file or the format's writer fails.
pub fn fill(
    table: &mut DataFrame,
    pending: &mut Pending,
    metadata: &Metadata,
) -> Result<(), ReportError> {
    let path = pending.path().to_path_buf();
    let format = TableFormat::of(&path)?;
    let written = match format {
        TableFormat::Parquet => parquet(&mut *pending, metadata).finish(table).map(drop),
        TableFormat::Csv => csv(&mut *pending, true).finish(table),
        TableFormat::JsonLines => json_lines(table, &mut *pending),
        TableFormat::Arrow => write_arrow(table, &mut *pending, metadata),
    };
    written.map_err(|error| failure(path, error))?;
    pending.complete()
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

fn failure(path: PathBuf, error: PolarsError) -> ReportError {
    match error {
        PolarsError::IO { error, .. } => ReportError::Write {
            path,
            source: std::io::Error::new(error.kind(), error.to_string()),
        },
        other => ReportError::Format {
            path,
            message: other.to_string(),
        },
    }
}

/// Rows in a group: enough to compress well, few enough to be read in parts.
const ROW_GROUP_ROWS: usize = 1 << 17;

fn parquet<W: Write>(out: W, metadata: &Metadata) -> ParquetWriter<W> {
    ParquetWriter::new(out)
        .with_compression(ParquetCompression::Zstd(None))
        .with_row_group_size(Some(ROW_GROUP_ROWS))
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(metadata.clone())))
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
