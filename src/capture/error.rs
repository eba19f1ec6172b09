//! Why a capture could not be read to its end.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;

use super::display_name::spoken_name;
use super::{CaptureFormat, Compression, RECORD_BYTES_MAX};

/// A capture could not be read to its end. What was read before stands.
#[derive(Debug)]
#[non_exhaustive]
pub struct CaptureError {
    /// The file; `-` for standard input.
    pub path: PathBuf,
    /// Number of the record that could not be read, from 1 as `frame.number`; 0 is the file itself
    /// or its header.
    pub record_index: u64,
    /// Where that record (or block) begins, in bytes from the start of the uncompressed file.
    pub offset_bytes: u64,
    /// What is wrong.
    pub kind: CaptureErrorKind,
}

/// What is wrong with a capture file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureErrorKind {
    /// Opening or reading failed.
    #[error("{}", explain_io(.0))]
    Io(io::Error),
    /// There is no source to be read.
    #[error("has no files: a capture is read from one at least")]
    NoSources,
    /// The path is a directory.
    #[error("is a directory, not a capture file: name the files in it")]
    Directory,
    /// There is not a single byte, before or after decompression.
    #[error("is empty (0 bytes): the capture was never started, or its disk was full")]
    Empty,
    /// The first bytes are of no known capture format.
    #[error(
        "is not a capture but {}: expected pcap or pcapng, plain or compressed with gzip, zstd, xz or lz4",
        Resemblance(*.looks_like, .first_bytes)
    )]
    NotACapture {
        /// The first bytes, at most 16, after decompression.
        first_bytes: Vec<u8>,
        /// What the file seems to be instead.
        looks_like: Option<&'static str>,
    },
    /// The file ends inside a header, record or block.
    #[error(
        "needs {need} bytes but the file ends after {have}: the capture was cut short (still being written, or the disk was full?)"
    )]
    Truncated {
        /// Bytes that are there.
        have: u64,
        /// Bytes that have to be there, as far as is known.
        need: u64,
    },
    /// The file became shorter while it was being read.
    #[error(
        "the file was truncated while it was being read, from {before} bytes to {now}: read it again when nothing writes to it"
    )]
    Shrank {
        /// Its size when it was opened, in bytes.
        before: u64,
        /// Its size when the end was reached, in bytes.
        now: u64,
    },
    /// A record claims more bytes than any packet has.
    #[error(
        "record length of {length_bytes} bytes, but {max} is the largest that can be: the file is damaged from here on",
        max = RECORD_BYTES_MAX
    )]
    RecordTooLong {
        /// The captured length by the word of the file, in bytes.
        length_bytes: u64,
    },
    /// There is nothing but zeros where a record should begin.
    #[error(
        "nothing but zeros where a record should begin: the file was never written there (a crash, or a full disk?)"
    )]
    Hole,
    /// The header of another capture stands where a record should begin.
    #[error(
        "another capture begins where a record should: captures are put together by mergecap, not by cat"
    )]
    AnotherCapture,
    /// A pcapng block contradicts itself or the blocks before it.
    #[error("pcapng block of type {block_type:#x}: {fault}: the file is damaged from here on")]
    BadBlock {
        /// Block type by the pcapng registry.
        block_type: u32,
        /// The contradiction.
        fault: BlockFault,
    },
    /// The format is known, its version is not.
    #[error(
        "{format} version {major}.{minor} is not supported: convert the file, with editcap for one"
    )]
    UnsupportedVersion {
        /// Format of the file.
        format: CaptureFormat,
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// The link type of a pcap header is none: bits that must be 0 are not.
    #[error(
        "link type {0:#010x} is not one, its reserved bits are set: the file header is damaged"
    )]
    BadLinkType(u32),
    /// The run was told to stop before the end of the file.
    #[error("was not read to its end: the run was interrupted")]
    Interrupted,
    /// Decompression failed.
    #[error("{}", explain_compression(*.format, .error))]
    Compression {
        /// How the file is compressed.
        format: Compression,
        /// What the decompressor said.
        error: io::Error,
    },
}

/// How a pcapng block contradicts itself or the blocks before it. Lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Hash)]
#[non_exhaustive]
pub enum BlockFault {
    /// The length is not a multiple of 4, or too small for the fields of the block.
    #[error("its length of {0} bytes cannot be")]
    Length(u32),
    /// The length is larger than such a block can be.
    #[error("its length of {0} bytes is too large")]
    TooLong(u32),
    /// The length at the end is not the length at the start.
    #[error("its length is {start} bytes at its start and {end} at its end")]
    LengthMismatch {
        /// Length at the start of the block.
        start: u32,
        /// Length at the end of the block.
        end: u32,
    },
    /// The packet is longer than the block that holds it.
    #[error("{captured} captured bytes do not fit into its {room}")]
    CapturedLength {
        /// Captured length of the packet.
        captured: u32,
        /// Bytes that the block has for it.
        room: u32,
    },
    /// The interface has not been described in this section.
    #[error("names interface {interface}, but only {described} are described before it")]
    UnknownInterface {
        /// The interface, from 0.
        interface: u32,
        /// How many are described.
        described: usize,
    },
    /// The interface has been described, but the description cannot be used.
    #[error("names interface {interface}, whose description cannot be used")]
    LostInterface {
        /// The interface, from 0.
        interface: u32,
    },
    /// The section has as many interfaces as it can have before this one.
    #[error("describes one more interface than the {0} that a section can have")]
    TooManyInterfaces(usize),
    /// The byte-order magic of a section header is neither way round.
    #[error("its byte-order magic is {0:#010x}, not 0x1a2b3c4d in either order")]
    ByteOrderMagic(u32),
    /// The version of a section is not known.
    #[error("its version {major}.{minor} is not supported")]
    Version {
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// The options run out of the block, or one has a length it cannot have.
    #[error("its options are malformed")]
    Options,
}

impl CaptureError {
    /// There is no source to read the capture of this name from.
    pub(crate) fn without_sources(name: PathBuf) -> Self {
        Self {
            path: name,
            record_index: 0,
            offset_bytes: 0,
            kind: CaptureErrorKind::NoSources,
        }
    }

    /// The run was told to stop when `records` of the file had been read.
    #[must_use]
    pub fn interrupted(path: PathBuf, records: u64) -> Self {
        Self {
            path,
            record_index: if records == 0 {
                0
            } else {
                records.saturating_add(1)
            },
            offset_bytes: 0,
            kind: CaptureErrorKind::Interrupted,
        }
    }
}

impl CaptureErrorKind {
    /// Whether there may be more records behind it, for
    /// [`ReadOptions::repair`](super::ReadOptions::repair) to find.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::RecordTooLong { .. } | Self::Hole | Self::AnotherCapture | Self::BadBlock { .. }
        )
    }
}

impl CaptureError {
    /// Whether nothing is wrong but that the run was told to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self.kind, CaptureErrorKind::Interrupted)
    }

    /// What is wrong and where, without what became of the records before it.
    #[must_use]
    pub fn place(&self) -> impl fmt::Display + '_ {
        Place(self)
    }

    /// What is wrong and where in its file, for where that is known.
    #[must_use]
    pub fn place_in_file(&self) -> impl fmt::Display + '_ {
        PlaceInFile(self)
    }
}

struct Place<'a>(&'a CaptureError);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CaptureError { path, .. } = self.0;
        write!(f, "{}: {}", spoken_name(path), self.0.place_in_file())
    }
}

struct PlaceInFile<'a>(&'a CaptureError);

impl fmt::Display for PlaceInFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CaptureError {
            record_index,
            offset_bytes,
            kind,
            ..
        } = self.0;
        if *record_index == 0 || matches!(kind, CaptureErrorKind::Interrupted) {
            write!(f, "{kind}")
        } else {
            write!(f, "record {record_index} at byte {offset_bytes}: {kind}")
        }
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place())?;
        match self.record_index.checked_sub(1) {
            None | Some(0) => Ok(()),
            Some(1) => f.write_str("; the record before it is used"),
            Some(before) => write!(f, "; the {before} records before it are used"),
        }
    }
}

/// What the operating system or the decompressor said is part of this error's text, and no source.
impl Error for CaptureError {}

fn explain_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "may not be read by this user: its owner, for one who captured it as root, can let you (chmod a+r)".to_owned()
        }
        _ if is_out_of_files(error) => {
            format!("cannot be read: {error}; raise the limit of the shell (ulimit -n)")
        }
        _ => format!("cannot be read: {error}"),
    }
}

/// Whether this process, or all together, have as many files open as they may. No kind of error says so, but every Unix
/// has the same numbers for it.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    /// ENFILE and EMFILE.
    const NUMBERS: [i32; 2] = [23, 24];
    cfg!(unix)
        && error
            .raw_os_error()
            .is_some_and(|number| NUMBERS.contains(&number))
}

fn explain_compression(format: Compression, error: &io::Error) -> String {
    match (error.kind(), format) {
        (io::ErrorKind::UnexpectedEof, _) => {
            format!(
                "the {format} stream ends early: the file was cut short, copy or fetch it again"
            )
        }
        (io::ErrorKind::FileTooLarge, _) => format!(
            "the {format} stream {error}, which hardly any capture does (a decompression bomb?): decompress it first, if it is none"
        ),
        (_, Compression::Zstd) if error.to_string().contains("memory") => format!(
            "the zstd stream cannot be decompressed: {error} (made with --long above 27: try zstd -d --long=31 first)"
        ),
        (_, Compression::Xz) if error.to_string().contains("memory") => format!(
            "the xz stream cannot be decompressed: {error} (it needs more than 256 MiB: try xz -d first)"
        ),
        // It is over what was read already.
        _ if says_checksum(error) => format!(
            "the {format} stream cannot be decompressed: {} (damaged before here: records that were read may be wrong)",
            in_words(error)
        ),
        // What is damaged makes other bytes at first, and sense no more some time later.
        _ => format!(
            "the {format} stream cannot be decompressed: {} (damaged, here or before, so that records that were read may be wrong, or something else behind its end?)",
            in_words(error)
        ),
    }
}

fn says_checksum(error: &io::Error) -> bool {
    error.to_string().to_lowercase().contains("checksum")
}

/// What a library says of damage; one of them says it by the names of its source.
fn in_words(error: &io::Error) -> String {
    let said = error.to_string();
    if said.contains("ChecksumError") {
        "its checksum is wrong".to_owned()
    } else if said.contains("DecompressionError") {
        "its codes are wrong".to_owned()
    } else {
        said
    }
}

/// What a file looks like, or, where that is nothing known, its first bytes.
struct Resemblance<'a>(Option<&'static str>, &'a [u8]);

impl fmt::Display for Resemblance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(what) => write!(f, "looks like {what}"),
            None => write!(f, "begins with {}", Hex(self.1)),
        }
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_char(' ')?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_told_with_what_helps() {
        for number in [23, 24] {
            let said = explain_io(&io::Error::from_raw_os_error(number));
            assert!(
                said.ends_with("; raise the limit of the shell (ulimit -n)"),
                "{said}"
            );
        }
        let other = explain_io(&io::Error::from_raw_os_error(5));
        assert!(!other.contains("ulimit"), "{other}");
    }
}
