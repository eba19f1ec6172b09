//! Where the bytes come from: opening, recognising compression, counting what was read.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::ahead::ReadAhead;
use super::compression::{Compression, first_bytes};
use super::error::{CaptureError, CaptureErrorKind};
use super::mapped::MappedFile;
use super::pipe::{self, Pipe};

/// Where one file of a capture comes from.
pub enum CaptureSource {
    /// A file, or a named pipe.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Anything that can be read; `name` takes the place of the path in facts and errors.
    Reader {
        /// What to call it.
        name: String,
        /// Gives the bytes of the file. Where it waits for some, so does the run, also when that was told to
        /// [stop](super::ReadOptions::stop): of a socket, with a time after which it returns.
        reader: Box<dyn Read + Send>,
    },
}

impl fmt::Debug for CaptureSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Stdin => f.write_str("Stdin"),
            Self::Reader { name, .. } => {
                let mut reader = f.debug_struct("Reader");
                reader.field("name", name).finish_non_exhaustive()
            }
        }
    }
}

impl CaptureSource {
    /// Size of the file, in bytes; `None` for anything but a regular file.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        let Self::File(path) = self else { return None };
        fs::metadata(path)
            .ok()
            .filter(fs::Metadata::is_file)
            .map(|meta| meta.len())
    }
}

/// The uncompressed bytes of a small file that stands beside captures, compressed or not.
///
/// # Errors
/// The file cannot be read, or holds more than `bytes_max` bytes.
pub fn read_small_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let first = first_bytes(&mut file)?;
    let compression = Compression::of(&first);
    let input = io::Cursor::new(first).chain(file);
    let reader: Box<dyn Read + Send> = match compression {
        None => Box::new(input),
        Some(compression) => compression.decoder(input, 1)?,
    };
    let mut bytes = Vec::new();
    reader
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("it holds more than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// How far a capture has been read; clones watch the same capture, from any thread.
#[derive(Clone, Debug)]
pub struct Progress {
    consumed: Arc<AtomicU64>,
    total: Option<u64>,
}

impl Progress {
    pub(super) fn new(total: Option<u64>) -> Self {
        Self {
            consumed: Arc::default(),
            total,
        }
    }

    /// Bytes of the input files read so far; compressed bytes where a file is compressed.
    #[must_use]
    pub fn bytes_consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Size of all input files together, in bytes; `None` when one of them is a pipe.
    #[must_use]
    pub fn bytes_total(&self) -> Option<u64> {
        self.total
    }
}

/// A source that can be opened: once, or (regular files) as often as needed.
pub(super) struct Opener {
    path: PathBuf,
    from: Origin,
    /// Size, of regular files only.
    bytes: Option<u64>,
    failure: Option<CaptureError>,
    /// Ends the waiting for a pipe.
    stop: Arc<AtomicBool>,
}

/// Where the bytes come from.
enum Origin {
    Path,
    Stdin,
    Reader(Option<Box<dyn Read + Send>>),
}

impl Opener {
    pub(super) fn new(source: CaptureSource, stop: &Arc<AtomicBool>) -> Self {
        let (path, from) = match source {
            CaptureSource::File(path) => (path, Origin::Path),
            CaptureSource::Stdin => (PathBuf::from("-"), Origin::Stdin),
            CaptureSource::Reader { name, reader } => {
                (PathBuf::from(name), Origin::Reader(Some(reader)))
            }
        };
        let bytes = match from {
            Origin::Path => fs::metadata(&path)
                .ok()
                .filter(fs::Metadata::is_file)
                .map(|meta| meta.len()),
            Origin::Stdin | Origin::Reader(_) => None,
        };
        Self {
            path,
            from,
            bytes,
            failure: None,
            stop: Arc::clone(stop),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Whether opening it a second time gives the same bytes from their start.
    pub(super) fn opens_again(&self) -> bool {
        self.bytes.is_some()
    }

    /// The same source, known to fail: `error` is what opening it gives.
    pub(super) fn failed_with(self, error: CaptureError) -> Self {
        Self {
            failure: Some(error),
            ..self
        }
    }

    /// Up to so many `decompressors` may decompress it side by side.
    pub(super) fn open(
        &mut self,
        progress: &Progress,
        decompressors: usize,
    ) -> Result<Stream, CaptureError> {
        match self.failure.take() {
            Some(error) => Err(error),
            None => self
                .stream(progress, decompressors)
                .map_err(|kind| CaptureError {
                    path: self.path.clone(),
                    record_index: 0,
                    offset_bytes: 0,
                    kind,
                }),
        }
    }

    fn stream(
        &mut self,
        progress: &Progress,
        decompressors: usize,
    ) -> Result<Stream, CaptureErrorKind> {
        let mut regular = None;
        let input: Box<dyn Read + Send> = match &mut self.from {
            Origin::Path => {
                let file = pipe::open(&self.path).map_err(CaptureErrorKind::Io)?;
                let meta = file.metadata().map_err(CaptureErrorKind::Io)?;
                // Some systems open directories, and fail only when they are read.
                if meta.is_dir() {
                    return Err(CaptureErrorKind::Directory);
                }
                // It may have become shorter since it was looked at first.
                let bytes = meta.len().max(self.bytes.unwrap_or(0));
                if meta.is_file() {
                    let file = Arc::new(file);
                    regular = Some(Regular {
                        file: Arc::clone(&file),
                        bytes,
                    });
                    Box::new(file)
                } else {
                    Box::new(Pipe::new(file, Arc::clone(&self.stop)))
                }
            }
            Origin::Stdin => {
                Box::new(Pipe::stdin(Arc::clone(&self.stop)).map_err(CaptureErrorKind::Io)?)
            }
            Origin::Reader(reader) => reader.take().unwrap_or_else(|| Box::new(io::empty())),
        };
        Stream::open(input, regular, progress, &self.stop, decompressors)
    }
}

/// A regular file, which has a size and can be read from anywhere.
struct Regular {
    file: Arc<File>,
    /// Size when it was first looked at or opened.
    bytes: u64,
}

/// The uncompressed bytes of one file.
pub(super) struct Stream {
    reader: Box<dyn Read + Send>,
    compression: Option<Compression>,
    input_failed: Arc<AtomicBool>,
    consumed: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    /// The file itself, where it holds what is read and nothing else.
    plain: Option<Regular>,
}

impl Stream {
    fn open(
        input: Box<dyn Read + Send>,
        regular: Option<Regular>,
        progress: &Progress,
        stop: &Arc<AtomicBool>,
        decompressors: usize,
    ) -> Result<Self, CaptureErrorKind> {
        let input_failed = Arc::new(AtomicBool::new(false));
        let mut input = Input {
            reader: input,
            consumed: Arc::clone(&progress.consumed),
            failed: Arc::clone(&input_failed),
        };
        let first = first_bytes(&mut input).map_err(|error| input_error(error, stop))?;
        if first.is_empty() {
            return Err(CaptureErrorKind::Empty);
        }
        let compression = Compression::of(&first);
        let input = io::Cursor::new(first).chain(input);
        let reader = match compression {
            None => Box::new(input),
            Some(format) => format
                .decoder(input, decompressors)
                .map(ReadAhead::start)
                .map_err(|error| CaptureErrorKind::Compression { format, error })?,
        };
        Ok(Self {
            reader,
            compression,
            input_failed,
            consumed: Arc::clone(&progress.consumed),
            stop: Arc::clone(stop),
            plain: regular.filter(|_| compression.is_none()),
        })
    }

    /// The file to be mapped, if it is a regular one without compression, of at least `bytes_min`.
    pub(super) fn mapped(&self, bytes_min: u64) -> Option<MappedFile> {
        let plain = self.plain.as_ref()?;
        (plain.bytes >= bytes_min).then(|| MappedFile::new(Arc::clone(&plain.file)))
    }

    /// Counts bytes that were mapped instead of read; negative, when they are to be read after all.
    pub(super) fn count(&self, bytes: i64) {
        self.consumed
            .fetch_add(bytes.cast_unsigned(), Ordering::Relaxed);
    }

    /// Goes on reading from `offset` of the file, which must be one that can be mapped.
    pub(super) fn go_on_from(&mut self, offset: u64) -> Result<(), CaptureErrorKind> {
        let Some(plain) = &self.plain else {
            return Ok(());
        };
        let mut file = Arc::clone(&plain.file);
        file.seek(SeekFrom::Start(offset))
            .map_err(CaptureErrorKind::Io)?;
        self.reader = Box::new(Input {
            reader: Box::new(file),
            consumed: Arc::clone(&self.consumed),
            failed: Arc::clone(&self.input_failed),
        });
        Ok(())
    }

    /// Size of a plain regular file when it was opened, and now, if it has become shorter.
    pub(super) fn lost(&self) -> Option<(u64, u64)> {
        let plain = self.plain.as_ref()?;
        let now = plain.file.metadata().ok()?.len();
        (now < plain.bytes).then_some((plain.bytes, now))
    }

    pub(super) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Reads some bytes; 0 is the end. The file's failure and the decompressor's are told apart.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<usize, CaptureErrorKind> {
        self.reader
            .read(buf)
            .map_err(|error| match self.compression {
                Some(format) if !self.input_failed.load(Ordering::Relaxed) => {
                    CaptureErrorKind::Compression { format, error }
                }
                _ => input_error(error, &self.stop),
            })
    }
}

/// A failure of the input itself: of a pipe that was told to stop, that it was.
fn input_error(error: io::Error, stop: &AtomicBool) -> CaptureErrorKind {
    if stop.load(Ordering::Relaxed) {
        CaptureErrorKind::Interrupted
    } else if error.kind() == io::ErrorKind::IsADirectory {
        CaptureErrorKind::Directory
    } else {
        CaptureErrorKind::Io(error)
    }
}

/// The bytes as they lie in the file: counted, interrupted calls repeated, failure noted.
struct Input {
    reader: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    failed: Arc<AtomicBool>,
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buf) {
                Ok(read) => {
                    self.consumed.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}
