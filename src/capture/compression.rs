//! Decompression, bounded in memory, and with an early end told apart from an end.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use lz4_flex::frame::FrameDecoder;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// gzip, also of several members (BGZF).
    Gzip,
    /// Zstandard, also of several frames.
    Zstd,
    /// xz, also of several streams.
    Xz,
    /// LZ4 frames.
    Lz4,
}

/// First bytes that tell a compression apart; the longest magic is xz's.
pub(super) const MAGIC_BYTES: usize = 6;

/// Compressed bytes read at a time.
const INPUT_BYTES: usize = 256 << 10;

/// Bytes that a stream may expand to whatever it is made of.
const EXPANDED_BYTES_MIN: u64 = 1 << 30;

/// How many times as long as it is a longer stream may become. Captures become a hundred times as
/// long at most; beyond it is a stream that was made to be endless.
const EXPANSION_MAX: u64 = 1000;

/// What each lz4 frame counts as, beside what is in it: whatever that is, the decoder clears a block
/// of up to 4 MiB for it first, which takes as long as to decompress so many bytes. Frames of less
/// than 270 bytes each are a bomb made of time, once there are more than four thousand.
const LZ4_FRAME_BYTES: u64 = 256 << 10;

/// Memory the xz decoder may use, in bytes: its largest preset needs 65 MiB.
const XZ_MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Largest zstd window, as a power of two: 128 MiB, what the `zstd` command accepts by itself.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
const LZ4_LEGACY_MAGIC: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

impl Compression {
    /// Tells by the first bytes of a file how it is compressed, if it is.
    pub(crate) fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // Skippable frames are common to zstd and lz4; pzstd begins its files with one.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ if first.starts_with(&LZ4_MAGIC) || first.starts_with(&LZ4_LEGACY_MAGIC) => {
                Some(Self::Lz4)
            }
            _ => None,
        }
    }

    /// A reader of what `input` holds compressed.
    pub(crate) fn decoder<R: Read + Send + 'static>(
        self,
        input: R,
    ) -> io::Result<Box<dyn Read + Send>> {
        self.bounded(input, EXPANDED_BYTES_MIN)
    }

    fn bounded<R: Read + Send + 'static>(
        self,
        input: R,
        bytes_min: u64,
    ) -> io::Result<Box<dyn Read + Send>> {
        let consumed = Arc::new(AtomicU64::new(0));
        let cleared = Arc::new(AtomicU64::new(0));
        let input = Counted {
            input,
            bytes: Arc::clone(&consumed),
        };
        let decoder = self.unbounded(input, &cleared)?;
        Ok(Box::new(Bounded {
            decoder,
            consumed,
            cleared,
            expanded: 0,
            bytes_min,
        }))
    }

    /// `cleared` is what the decoder has counted for frames, beside what is in them.
    fn unbounded<R: Read + Send + 'static>(
        self,
        input: R,
        cleared: &Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let input = BufReader::with_capacity(INPUT_BYTES, input);
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(input)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(input)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
            Self::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES_MAX, CONCATENATED)?;
                Box::new(XzDecoder::new_stream(input, stream))
            }
            Self::Lz4 => Box::new(Lz4Frames::new(input, Arc::clone(cleared))),
        })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Lz4 => "lz4",
        })
    }
}

/// Counts the bytes of a compressed stream.
struct Counted<R> {
    input: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buf)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Ends a stream that expands too much: a decompression bomb.
struct Bounded {
    decoder: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    cleared: Arc<AtomicU64>,
    expanded: u64,
    bytes_min: u64,
}

impl Read for Bounded {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let consumed = self.consumed.load(Ordering::Relaxed);
        let expanded = self.expanded + self.cleared.load(Ordering::Relaxed);
        if expanded > self.bytes_min.max(consumed.saturating_mul(EXPANSION_MAX)) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.decoder.read(buf)?;
        self.expanded += read as u64;
        Ok(read)
    }
}

/// Reads lz4 frames that follow each other, one decoder after the other.
///
/// The library's decoder answers `Ok(0)` at the end of a frame and at the end of the input alike,
/// wherever that is; so the end of a frame is told here by whether the decoder ran into the end of
/// the input to find it.
struct Lz4Frames<R: Read> {
    frame: Lz4Frame<R>,
    cleared: Arc<AtomicU64>,
}

enum Lz4Frame<R: Read> {
    Between(Watched<R>),
    Inside(Box<FrameDecoder<Watched<R>>>),
    Ended,
}

impl<R: Read> Lz4Frames<R> {
    fn new(input: R, cleared: Arc<AtomicU64>) -> Self {
        let first = io::Cursor::new(Vec::new());
        let input = Watched {
            input,
            first,
            ended: false,
            has_end_marks: true,
        };
        Self {
            frame: Lz4Frame::Between(input),
            cleared,
        }
    }
}

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            // An error leaves `Ended` behind: nothing after it can be trusted.
            match std::mem::replace(&mut self.frame, Lz4Frame::Ended) {
                Lz4Frame::Ended => return Ok(0),
                Lz4Frame::Between(input) => {
                    if let Some(input) = next_lz4_frame(input)? {
                        self.cleared.fetch_add(LZ4_FRAME_BYTES, Ordering::Relaxed);
                        self.frame = Lz4Frame::Inside(Box::new(FrameDecoder::new(input)));
                    }
                }
                Lz4Frame::Inside(mut decoder) => {
                    let read = decoder.read(buf)?;
                    if read > 0 {
                        self.frame = Lz4Frame::Inside(decoder);
                        return Ok(read);
                    }
                    let input = decoder.into_inner();
                    if input.ended && input.has_end_marks {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    self.frame = Lz4Frame::Between(input);
                }
            }
        }
    }
}

/// Skips skippable frames; `None` at the end of the input.
fn next_lz4_frame<R: Read>(mut input: Watched<R>) -> io::Result<Option<Watched<R>>> {
    loop {
        let mut magic = Vec::with_capacity(4);
        input.by_ref().take(4).read_to_end(&mut magic)?;
        input.ended = false;
        match *magic {
            [] => return Ok(None),
            [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                let mut length = [0; 4];
                input.read_exact(&mut length)?;
                let length = u64::from(u32::from_le_bytes(length));
                if io::copy(&mut input.by_ref().take(length), &mut io::sink())? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            _ if magic.len() < 4 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => {
                input.has_end_marks = magic != LZ4_LEGACY_MAGIC;
                input.first = io::Cursor::new(magic);
                return Ok(Some(input));
            }
        }
    }
}

/// Notes whether a reader was asked for more than there is; `first` goes before its bytes.
struct Watched<R> {
    input: R,
    first: io::Cursor<Vec<u8>>,
    ended: bool,
    /// Frames of the legacy format end where the input ends.
    has_end_marks: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.first.read(buf)?;
        if read > 0 || buf.is_empty() {
            return Ok(read);
        }
        let read = self.input.read(buf)?;
        self.ended |= read == 0;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    type Encode = fn(&[u8]) -> Vec<u8>;

    const ENCODERS: [(Compression, Encode); 4] = [
        (Compression::Lz4, lz4),
        (Compression::Gzip, |bytes| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }),
        (Compression::Zstd, |bytes| {
            zstd::encode_all(bytes, 1).unwrap()
        }),
        (Compression::Xz, |bytes| {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }),
    ];

    fn lz4(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// So many bytes come out of a stream, or why it ends.
    fn decoded(
        compression: Compression,
        bytes: Vec<u8>,
        bytes_min: u64,
    ) -> Result<u64, io::ErrorKind> {
        let mut decoder = compression
            .bounded(io::Cursor::new(bytes), bytes_min)
            .unwrap();
        io::copy(&mut decoder, &mut io::sink()).map_err(|error| error.kind())
    }

    #[test]
    fn a_stream_that_expands_without_end_ends_where_it_may() {
        let bytes_min = 8 << 20;
        for (compression, encode) in ENCODERS {
            let bomb = encode(&vec![0; 32 << 20]);
            let read = decoded(compression, bomb, bytes_min);
            // Zeros are as much as gzip can make of a byte: 1,032. A byte of lz4 says that at most
            // 255 bytes are repeated.
            let ends = match compression {
                Compression::Lz4 => Ok(32 << 20),
                _ => Err(io::ErrorKind::FileTooLarge),
            };
            assert_eq!(read, ends, "{compression}");
        }
    }

    #[test]
    fn frames_that_hold_hardly_anything_end_where_they_may() {
        for (compression, encode) in ENCODERS {
            let tiny = encode(b"a").repeat(5000);
            let read = decoded(compression, tiny, EXPANDED_BYTES_MIN);
            // 5000 blocks of 4 MiB would be cleared for 5000 bytes.
            let ends = match compression {
                Compression::Lz4 => Err(io::ErrorKind::FileTooLarge),
                _ => Ok(5000),
            };
            assert_eq!(read, ends, "{compression}");
        }
        // As many, but each with what a few packets take.
        let state = (0..5000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()[0]);
        let noise: Vec<u8> = state.take(400).collect();
        let small = lz4(&noise).repeat(5000);
        let read = decoded(Compression::Lz4, small, EXPANDED_BYTES_MIN);
        assert_eq!(read, Ok(400 * 5000));
    }

    #[test]
    fn what_expands_as_captures_do_is_read_to_its_end() {
        // A hundred bytes of zeros after each ten of noise.
        let mut state = 7_u64;
        let mut bytes = Vec::new();
        while bytes.len() < 4 << 20 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            bytes.extend(state.to_be_bytes());
            bytes.resize(bytes.len() + 100, 0);
        }
        for (compression, encode) in ENCODERS {
            let read = decoded(compression, encode(&bytes), 1 << 10);
            assert_eq!(read, Ok(bytes.len() as u64), "{compression}");
        }
    }
}
