//! The tables of a study as files in one folder: Parquet, CSV, Markdown and LaTeX.

mod text;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::tables::{self, Metadata};
use super::{Pending, ReportError};
use crate::table::StudyTable;

#[cfg(all(feature = "charts", feature = "cli"))]
pub(in crate::report) use text::rounded;

/// Writes each table in each format into `folder`, which is made where it is not there. Every
/// file is complete or not there at all.
///
/// # Errors
/// [`ReportError`] with the file that cannot be written.
pub fn write_tables(
    tables: Vec<StudyTable>,
    folder: &Path,
    metadata: &Metadata,
) -> Result<Vec<PathBuf>, ReportError> {
    let mut written = Vec::new();
    for mut table in tables {
        for (ending, content) in [("md", text::markdown(&table)), ("tex", text::latex(&table))] {
            let path = folder.join(format!("{}.{ending}", table.name));
            let mut pending = Pending::create(&path)?;
            pending
                .write_all(content.as_bytes())
                .map_err(|source| ReportError::Write { path, source })?;
            written.push(pending.commit()?);
        }
        for ending in ["csv", "parquet"] {
            let pending = Pending::create(&folder.join(format!("{}.{ending}", table.name)))?;
            written.push(tables::write(&mut table.frame, pending, metadata)?);
        }
    }
    Ok(written)
}

/// Makes the folder of a study's results.
///
/// # Errors
/// [`ReportError::Write`] when it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), ReportError> {
    std::fs::create_dir_all(folder).map_err(|source| ReportError::Write {
        path: folder.to_path_buf(),
        source,
    })
}
