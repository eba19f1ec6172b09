//! A file as bytes, decompressed, up to a limit.

use std::io;
use std::path::Path;

use crate::capture::read_small_file;

use super::BYTES_MAX;
use super::error::{Fault, ImportErrorKind};

/// Reads a file of at most [`BYTES_MAX`] decompressed bytes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let read = read_small_file(path, BYTES_MAX).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => ImportErrorKind::TooLarge {
            limit_bytes: BYTES_MAX,
        },
        _ => ImportErrorKind::Io(error),
    });
    Ok(read?)
}
