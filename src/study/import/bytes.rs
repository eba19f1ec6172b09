//! A file as bytes, decompressed, up to a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::capture::{Compression, first_bytes};

use super::BYTES_MAX;
use super::error::{Fault, ImportErrorKind};

/// Reads a file of at most [`BYTES_MAX`] decompressed bytes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let mut file = File::open(path).map_err(ImportErrorKind::Io)?;
    let first = first_bytes(&mut file).map_err(ImportErrorKind::Io)?;
    let compression = Compression::of(&first);
    let whole = io::Cursor::new(first).chain(file);
    let reader: Box<dyn Read> = match compression {
        Some(compression) => compression.decoder(whole, 1).map_err(ImportErrorKind::Io)?,
        None => Box::new(whole),
    };
    let mut bytes = Vec::new();
    reader
        .take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(ImportErrorKind::Io)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(ImportErrorKind::TooLarge {
            limit_bytes: BYTES_MAX,
        }
        .into());
    }
    Ok(bytes)
}
