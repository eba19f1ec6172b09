//! How it looks: tables as files, the summary on the terminal, charts.

#[cfg(feature = "charts")]
pub mod chart;
mod digits;
#[cfg(feature = "cli")]
mod ends;
#[cfg(feature = "cli")]
pub mod html;
#[cfg(feature = "cli")]
mod largest;
mod output;
#[cfg(feature = "charts")]
mod rivals;
pub mod study;
pub mod tables;
#[cfg(feature = "cli")]
pub(crate) mod terminal;

use std::io;
use std::path::{Path, PathBuf};

use crate::capture::{display_name, is_out_of_files};

#[cfg(feature = "charts")]
pub use output::OutputFolder;
pub use output::{Pending, abandon};

/// A result could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The file could not be created, written or put in its place.
    #[error("{}: cannot be written: {}", display_name(path), Refusal(source, path))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder of charts, which is replaced as a whole, holds what is no chart of an earlier run.
    #[error(
        "{}: is replaced by new charts, but '{found}' in it is no chart of an earlier run: move it elsewhere, or let the results have another name",
        display_name(path)
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// The name of one such thing.
        found: String,
    },
    /// The table could not be turned into its format.
    #[error("{}: cannot be written: {message}", display_name(path))]
    Format {
        /// The file.
        path: PathBuf,
        /// What the format's writer said.
        message: String,
    },
    /// A chart could not be drawn.
    #[cfg(feature = "charts")]
    #[error(transparent)]
    Chart(#[from] chart::ChartError),
    /// The ending of the file names no format that tables are written in.
    #[error(
        "{}: the ending must be .parquet, .csv, .json, .jsonl, .arrow or .feather, since it decides the format",
        display_name(path)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
}

/// Whether the folder is there that something is to be made in.
fn is_folder_there(path: &Path) -> bool {
    let folder = path.parent();
    folder.is_some_and(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}

/// Why a result could not be written to a place, and what to do about it.
struct Refusal<'a>(&'a io::Error, &'a Path);

impl std::fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0.kind() {
            // As of file systems in which the kernel alone makes files.
            io::ErrorKind::NotFound if is_folder_there(self.1) => {
                "no file can be made in its folder; take another one"
            }
            io::ErrorKind::NotFound => "its folder is not there; make it first",
            io::ErrorKind::PermissionDenied => "this user may not write there; take another folder",
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                "a file stands where a folder is to be; remove it, or take another name"
            }
            io::ErrorKind::IsADirectory => "it is a directory; take another name",
            io::ErrorKind::ReadOnlyFilesystem => {
                "it is read-only, or its file system is; take another name or folder"
            }
            io::ErrorKind::Unsupported => {
                "it is no file but a pipe or device; take the name of a file"
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                return write!(f, "{}; make room, or take another folder", self.0);
            }
            // Until it is complete a file has a longer name.
            io::ErrorKind::InvalidFilename => {
                return write!(f, "{}; take another name", self.0);
            }
            io::ErrorKind::FileTooLarge => {
                return write!(
                    f,
                    "{}; lift the limit of the shell (ulimit -f), or take another folder",
                    self.0
                );
            }
            io::ErrorKind::WouldBlock => {
                "no threads are to be had; raise the limit on processes (ulimit -u, or that of the container), or take the name of a .parquet file"
            }
            _ if is_out_of_files(self.0) => {
                return write!(f, "{}; raise the limit of the shell (ulimit -n)", self.0);
            }
            _ => return write!(f, "{}; is there room, and may you write there?", self.0),
        })
    }
}
