//! How it looks: tables as files, the summary on the terminal, charts.

#[cfg(feature = "charts")]
pub mod chart;
#[cfg(all(feature = "charts", feature = "cli"))]
pub mod html;
mod output;
pub mod study;
pub mod tables;
#[cfg(feature = "cli")]
pub mod terminal;

use std::io;
use std::path::PathBuf;

pub use output::{OutputFolder, Pending, abandon};

/// A result could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file could not be created, written or put in its place.
    #[error("{}: cannot be written ({source}); is there room, and may you write there?", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The table could not be turned into its format.
    #[error("{}: cannot be written: {message}", path.display())]
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
        "{}: the ending must be .parquet, .csv, .json or .arrow, since it decides the format",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
}
