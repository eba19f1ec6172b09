//! The tables of a study as files in one folder: Parquet, CSV, Markdown and LaTeX.

mod digits;
mod latex;
mod means;
mod readable;
mod text;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::tables::{self, Metadata};
use super::{Pending, ReportError, output};
use crate::table::StudyTable;

#[cfg(feature = "cli")]
pub(in crate::report) use {
    digits::{in_full, rounded},
    readable::columns,
    text::shown,
};

/// Endings of the files of a table.
const ENDINGS: [&str; 4] = ["md", "tex", "csv", "parquet"];

/// What files of a study's tables say they were made of: the manifest.
pub const MADE_OF: &str = "ccanalyze.manifest";

/// The files that tables become in `folder`.
pub fn files_of<'a>(
    tables: &'a [StudyTable],
    folder: &'a Path,
) -> impl Iterator<Item = PathBuf> + 'a {
    tables.iter().flat_map(move |table| {
        let file = |ending: &str| folder.join(format!("{}.{ending}", table.name));
        ENDINGS.map(file)
    })
}

/// Writes each table in each format for `folder`, which is made where it is not there: all are complete, and none is in
/// its place yet.
///
/// # Errors
/// [`ReportError`] with the file that cannot be written.
pub fn fill_tables(
    tables: &[StudyTable],
    folder: &Path,
    metadata: &Metadata,
) -> Result<Vec<Pending>, ReportError> {
    let mut complete = Vec::new();
    let workers = tables::Workers::new(None);
    for table in tables {
        for (ending, content) in [("md", text::markdown(table)), ("tex", latex::latex(table))] {
            let path = folder.join(format!("{}.{ending}", table.name));
            let mut pending = Pending::create(&path)?;
            pending
                .write_all(content.as_bytes())
                .map_err(|source| ReportError::Write { path, source })?;
            pending.complete()?;
            complete.push(pending);
        }
        for ending in ["csv", "parquet"] {
            let path = folder.join(format!("{}.{ending}", table.name));
            let mut pending = Pending::create(&path)?;
            tables::fill((&table.frame).into(), &mut pending, metadata, &workers)?;
            complete.push(pending);
        }
    }
    Ok(complete)
}

/// Removes tables that an earlier run of a study left in its folder, all but those that it has now: those whose Parquet
/// file says so, with what stands beside it in the other formats.
///
/// # Errors
/// [`ReportError`] with the file that cannot be removed.
pub fn remove_older(folder: &Path, tables: &[StudyTable]) -> Result<(), ReportError> {
    let failed = |source| ReportError::Write {
        path: folder.to_path_buf(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let is_new = name.is_none_or(|name| tables.iter().any(|new| new.name == name));
        if is_new || path.extension().is_none_or(|ending| ending != "parquet") {
            continue;
        }
        if output::remove_older(&path, &[MADE_OF])? {
            for ending in ENDINGS {
                output::remove_older(&path.with_extension(ending), &[])?;
            }
        }
    }
    Ok(())
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
