//! Reads capture files: records, and when they were captured.
//!
//! Knows pcap (both byte orders, microseconds and nanoseconds, and the variants found in the wild)
//! and pcapng, plain or compressed with gzip, zstd, xz or lz4; everything is told by its first
//! bytes, never by its name. [`CaptureReader`] is the way in, [`Window`] what comes out.
//!
//! ```
//! use ccanalyze::capture::{CaptureReader, CaptureSource, ReadOptions, Window};
//!
//! // A pcap file of one record: 2 of 60 bytes, captured 1.5 s after the epoch.
//! let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
//! for field in [0u32, 0, 65_535, 1, 1, 500_000, 2, 60] {
//!     file.extend(field.to_le_bytes());
//! }
//! file.extend([0xab, 0xcd]);
//!
//! let reader = Box::new(std::io::Cursor::new(file));
//! let source = CaptureSource::Reader { name: "example".to_owned(), reader };
//! let mut capture = CaptureReader::open(vec![source], &ReadOptions::default())?;
//! let mut window = Window::new();
//! while capture.read_window(&mut window)? {
//!     for record in window.all() {
//!         assert_eq!((record.frame, record.at.as_ns()), (1, 1_500_000_000));
//!         assert_eq!((record.bytes, record.original_len), (&[0xab, 0xcd][..], 60));
//!     }
//! }
//! assert_eq!(capture.files()[0].records, 1);
//! # Ok::<(), ccanalyze::capture::CaptureError>(())
//! ```

mod ahead;
mod clock;
mod compression;
mod cost;
mod display_name;
mod error;
mod facts;
mod interface;
mod lanes;
mod mapped;
mod mapping;
mod pcap;
mod pcapng;
mod pipe;
mod reader;
mod record;
mod repair;
mod resemblance;
mod source;
mod starts;
mod variant;

#[cfg(test)]
pub(crate) mod tests;

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use compression::Compression;
#[cfg(feature = "charts")]
pub(crate) use display_name::acts;
#[cfg(feature = "cli")]
pub(crate) use display_name::spoken_name;
pub use display_name::{DisplayName, display_name};
#[cfg(feature = "tables")]
pub(crate) use error::is_out_of_files;
pub use error::{BlockFault, CaptureError, CaptureErrorKind};
pub(crate) use facts::SNAP_LEN_ADVICE;
pub use facts::{ByteOrder, CaptureFormat, FileFacts, Overlap, TimeResolution};
pub use record::{LinkType, Record, Window};
pub use repair::{Damage, Gap};
pub use source::{CaptureSource, Progress, read_small_file};

use crate::time::CaptureTime;
use reader::FileReader;
use source::Opener;

/// Largest captured length of one record that is believed, in bytes.
///
/// 64 times what `tcpdump` captures at most (262,144), and far above the largest packet that
/// segmentation offload builds; a longer one is damage, and reading it would only allocate memory.
pub const RECORD_BYTES_MAX: u32 = 16 << 20;

/// Record bytes a [`Window`] holds unless [`ReadOptions`] say otherwise: enough that threads wait for
/// each other seldom, and that the state of a connection is fetched for many of its packets at once;
/// few enough that what was walked is still in the cache when it is decoded.
pub const WINDOW_BYTES: usize = 2 << 20;

/// Largest [`ReadOptions::window_bytes`] that is honoured: positions in a window are 32 bits wide.
const WINDOW_BYTES_MAX: usize = 128 << 20;

/// How to read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Bytes of the capture file that a window aims at. It holds more where a single record is larger, and of large
    /// records up to twice as much of a file that is read and eight times as much of one that is mapped. Results do not
    /// depend on it. Clamped to 1 byte ..= 128 MiB.
    pub window_bytes: usize,
    /// How files are taken in; [`Io::Read`] unless asked otherwise, since who maps files has to call
    /// [`CaptureReader::confirm`]. Which records come out does not depend on it.
    pub io: Io,
    /// Go on behind damage at the next records that make sense, instead of ending there with an
    /// error; [`FileFacts::gaps`] then tells what was passed over. Files are read, never mapped.
    pub repair: bool,
    /// Threads that decompress a file side by side, besides the one that reads it ahead, where it is
    /// made of independent parts whose lengths are told: zstd of several frames, BGZF. Below 2, and
    /// for other files, that one does it alone. More than 8 are not used, by all captures of a
    /// process together. Which records come out does not depend on it.
    pub decompressors: usize,
    /// Set by another thread, it ends the waiting for what comes from a pipe, with
    /// [`CaptureErrorKind::Interrupted`] behind the records that came until then. Regular files are read as ever: there
    /// the next window is never far. So are readers ([`CaptureSource::Reader`]), which nothing interrupts: one that waits
    /// for bytes, as that of a socket, has to look at the same flag, and return an end or an error.
    pub stop: Arc<AtomicBool>,
}

/// How the bytes of a file are taken in.
///
/// Only regular files without compression can be mapped: everything else is read, whatever is asked. The first mapping
/// installs a handler of `SIGBUS` for the whole process, for files that get shorter while they are read; what is not
/// about a mapping of this crate it hands on to the handler that was there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Io {
    /// Large files are mapped as long as that is measured to be faster than reading them.
    #[default]
    Auto,
    /// All files are mapped that can be.
    Mapped,
    /// All files are read.
    Read,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            window_bytes: WINDOW_BYTES,
            io: Io::Read,
            repair: false,
            decompressors: 1,
            stop: Arc::default(),
        }
    }
}

/// Reads one capture: one file, or several that follow each other.
pub struct CaptureReader {
    /// In reading order; a file that has been read leaves its place empty.
    files: Vec<OneFile>,
    facts: Vec<FileFacts>,
    current: usize,
    window_bytes: usize,
    way: Way,
    progress: Progress,
}

/// How each file is read.
#[derive(Clone, Copy, Debug)]
struct Way {
    io: Io,
    repair: bool,
    decompressors: usize,
}

/// A file of the capture: not yet opened, being read, or done.
enum OneFile {
    Waiting(Opener),
    Open(Box<FileReader>),
    Done,
}

impl CaptureReader {
    /// Opens one capture.
    ///
    /// Several sources (rotated files) are ordered by the time of their first record: files that
    /// cannot be read come first, so that their error is seen at once, files without records last,
    /// and ties stay in the order given. To learn that order, each file is read up to its first
    /// record; regular files are closed again until their turn comes.
    ///
    /// # Errors
    /// No source, or a single one that cannot be opened, or is not a capture. With several sources that error
    /// comes from [`read_window`](Self::read_window), and the other files are read all the same.
    pub fn open(sources: Vec<CaptureSource>, options: &ReadOptions) -> Result<Self, CaptureError> {
        if sources.is_empty() {
            return Err(CaptureError::without_sources(PathBuf::new()));
        }
        let window_bytes = options.window_bytes.clamp(1, WINDOW_BYTES_MAX);
        let openers: Vec<Opener> = sources
            .into_iter()
            .map(|source| Opener::new(source, &options.stop))
            .collect();
        let bytes_total = openers.iter().map(Opener::bytes).sum();
        let progress = Progress::new(bytes_total);
        let way = Way {
            io: options.io,
            repair: options.repair,
            decompressors: options.decompressors,
        };
        let mut reader = Self {
            files: Vec::with_capacity(openers.len()),
            facts: Vec::with_capacity(openers.len()),
            current: 0,
            window_bytes,
            way,
            progress,
        };
        if openers.len() == 1 {
            for mut opener in openers {
                let mut facts = FileFacts::new(opener.path().to_owned());
                let file = FileReader::open(&mut opener, way, &reader.progress)?;
                file.describe(&mut facts);
                reader.files.push(OneFile::Open(Box::new(file)));
                reader.facts.push(facts);
            }
        } else {
            let mut probed: Vec<Probed> = openers
                .into_iter()
                .map(|opener| Probed::new(opener, way, &reader.progress))
                .collect();
            probed.sort_by_key(Probed::order);
            for file in probed {
                reader.files.push(file.file);
                reader.facts.push(file.facts);
            }
        }
        Ok(reader)
    }

    /// Refills `window` with the next records, all of one file.
    ///
    /// `Ok(false)` is the end: nothing was read, and nothing more will be. A file that ends inside
    /// a record, or is damaged, first gives the whole records before the damage; the error comes
    /// with the next call, and the call after it goes on with the next file.
    ///
    /// # Errors
    /// The file cannot be opened or read, is not a capture, is damaged, or is cut short.
    pub fn read_window(&mut self, window: &mut Window) -> Result<bool, CaptureError> {
        window.clear();
        while let Some(slot) = self.files.get_mut(self.current) {
            if let OneFile::Waiting(opener) = slot {
                match FileReader::open(opener, self.way, &self.progress) {
                    Ok(file) => *slot = OneFile::Open(Box::new(file)),
                    Err(error) => {
                        self.leave_file();
                        return Err(error);
                    }
                }
            }
            let Some(OneFile::Open(file)) = self.files.get_mut(self.current) else {
                self.leave_file();
                continue;
            };
            let outcome = file.read_window(window, self.window_bytes);
            window.file = self.current;
            if let Some(facts) = self.facts.get_mut(self.current) {
                file.describe(facts);
                if let Ok(true) = outcome {
                    facts.see(window);
                }
            }
            match outcome {
                Ok(true) => return Ok(true),
                Ok(false) => self.leave_file(),
                Err(error) => {
                    window.clear();
                    self.leave_file();
                    return Err(error);
                }
            }
        }
        Ok(false)
    }

    /// Whether `window`, the last one that was read, still holds what the file does.
    ///
    /// It always does, unless the file is mapped and was truncated after
    /// [`read_window`](Self::read_window): what was done with the records since then may rest on
    /// zeros. `Ok(false)` says so, and `window` then has what is left of its records, read into
    /// memory where nothing can happen to them; it is empty when none are. The file's end is then
    /// reported as any other, by the call that reaches it.
    ///
    /// # Errors
    /// The file can no longer be read, or has no record left where the window began.
    pub fn confirm(&mut self, window: &mut Window) -> Result<bool, CaptureError> {
        let Some(OneFile::Open(file)) = self.files.get_mut(self.current) else {
            return Ok(true);
        };
        if window.file != self.current {
            return Ok(true);
        }
        let outcome = file.confirm(window, self.window_bytes);
        if let Some(facts) = self.facts.get_mut(self.current) {
            file.describe(facts);
        }
        if outcome.is_err() {
            window.clear();
            self.leave_file();
        }
        outcome
    }

    /// What was mapped of a file and is not looked at any more, if anything: to drop it takes the system a while, so
    /// better by a thread that has time. Where nobody asks, the reader drops it later.
    pub(crate) fn take_behind(&mut self) -> Option<impl Send + use<>> {
        match self.files.get_mut(self.current)? {
            OneFile::Open(file) => file.take_behind(),
            OneFile::Waiting(_) | OneFile::Done => None,
        }
    }

    /// Bytes of the input files consumed so far: compressed bytes where a file is compressed.
    #[must_use]
    pub fn bytes_consumed(&self) -> u64 {
        self.progress.bytes_consumed()
    }

    /// Size of all input files together, in bytes; `None` when one of them is a pipe.
    #[must_use]
    pub fn bytes_total(&self) -> Option<u64> {
        self.progress.bytes_total()
    }

    /// A handle that other threads can watch the reading with.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// What is known of each file so far, in reading order: [`Window::file`] is an index into it.
    /// A file's facts are complete once a window of a later file, an error or the end was returned.
    #[must_use]
    pub fn files(&self) -> &[FileFacts] {
        &self.facts
    }

    /// Whether nothing is left to be told, not even an error.
    pub(crate) fn is_at_end(&self) -> bool {
        let mut left = self.files.get(self.current..).unwrap_or_default().iter();
        left.all(|file| match file {
            OneFile::Waiting(_) => false,
            OneFile::Open(file) => file.is_at_end(),
            OneFile::Done => true,
        })
    }

    fn leave_file(&mut self) {
        if let Some(slot) = self.files.get_mut(self.current) {
            *slot = OneFile::Done;
        }
        self.current += 1;
    }
}

impl std::fmt::Debug for CaptureReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaptureReader")
            .field("files", &self.facts)
            .field("current", &self.current)
            .field("window_bytes", &self.window_bytes)
            .finish_non_exhaustive()
    }
}

/// A file read up to its first record, to find its place among the others.
struct Probed {
    file: OneFile,
    facts: FileFacts,
    start: Start,
}

enum Start {
    Unreadable,
    At(CaptureTime),
    NoRecords,
}

impl Probed {
    fn new(mut opener: Opener, way: Way, progress: &Progress) -> Self {
        let mut facts = FileFacts::new(opener.path().to_owned());
        // What is opened again later must not be counted twice.
        let again = opener.opens_again();
        let unwatched = Progress::new(None);
        let watch = if again { &unwatched } else { progress };
        // One record is not worth much.
        let way = Way {
            decompressors: 1,
            ..way
        };
        match FileReader::open(&mut opener, way, watch) {
            // Opening again gives the error again, when its turn comes.
            Err(error) => Self {
                file: OneFile::Waiting(opener.failed_with(error)),
                facts,
                start: Start::Unreadable,
            },
            Ok(mut reader) => {
                let start = match reader.first_time() {
                    Some(at) => Start::At(at),
                    None if reader.has_failed() => Start::Unreadable,
                    None => Start::NoRecords,
                };
                reader.describe(&mut facts);
                facts.records = 0;
                let file = if again {
                    OneFile::Waiting(opener)
                } else {
                    OneFile::Open(Box::new(reader))
                };
                Self { file, facts, start }
            }
        }
    }

    fn order(&self) -> (Reverse<bool>, bool, CaptureTime) {
        let unreadable = matches!(self.start, Start::Unreadable);
        let empty = matches!(self.start, Start::NoRecords);
        let at = match self.start {
            Start::At(at) => at,
            Start::Unreadable | Start::NoRecords => CaptureTime::MIN,
        };
        (Reverse(unreadable), empty, at)
    }
}

impl From<PathBuf> for CaptureSource {
    /// `-` is standard input, everything else a file (a file of that name is `./-`).
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(path)
        }
    }
}
