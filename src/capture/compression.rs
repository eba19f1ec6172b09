//! Decompression, bounded in memory, and with an early end told apart from an end.

mod gzip_members;
mod lz4_frames;
mod parts;
mod stepwise;
mod xz_streams;
mod zstd_frames;

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gzip_members::GzipMembers;
use lz4_frames::{FRAME_BYTES, Lz4Frames};
use parts::Parts;
use stepwise::Stepwise;
use xz_streams::XzStreams;
use zstd_frames::ZstdFrames;

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

/// First bytes that tell a compression apart: xz's magic, which is the longest, or magic and length of a skippable
/// frame.
const MAGIC_BYTES: usize = 8;

/// Skippable frames that are looked behind, in bytes: longer ones are taken for zstd's.
const SKIPPABLE_BYTES_MAX: usize = 16 << 10;

/// Compressed bytes read at a time.
const INPUT_BYTES: usize = 256 << 10;

/// Bytes that a stream may expand to whatever it is made of.
const EXPANDED_BYTES_MIN: u64 = 1 << 30;

/// How many times as long as it is a longer stream may become. Captures become a hundred times as long, and those of
/// zeros through segmentation offload 2,500 times: of a frame of 64 KiB some 25 bytes are left, which tell it from
/// others. It is what a stream of 200 KiB may become anyway: a longer one takes no more time for each of its bytes.
const EXPANSION_MAX: u64 = 5000;

/// The same of what is cleared for frames, beside what is in them: captures have hundreds of bytes in a frame.
const CLEARED_MAX: u64 = 1000;

/// Which of both a stream goes beyond, in words.
const EXPANDS: &str = "expands 5,000 times and more";
const HOLDS_FRAMES: &str = "holds thousands of frames of less than 270 bytes on average";
const _: () = assert!(EXPANSION_MAX == 5000, "as is said");
const _: () = assert!(
    EXPANDED_BYTES_MIN / FRAME_BYTES > 2000 && FRAME_BYTES / CLEARED_MAX < 270,
    "as is said"
);

/// A stream that goes beyond a bound, which is part of what is said of it.
fn too_large(bound: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, bound)
}

impl Compression {
    /// Tells by the [first bytes](first_bytes) of a file how it is compressed, if it is.
    pub(crate) fn of(first: &[u8]) -> Option<Self> {
        let skipped = skippable_len(first);
        match first.get(skipped..).unwrap_or_default() {
            [0x1f, 0x8b, ..] if skipped == 0 => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] if skipped == 0 => Some(Self::Xz),
            [0x04, 0x22, 0x4d, 0x18, ..] | [0x02, 0x21, 0x4c, 0x18, ..] => Some(Self::Lz4),
            _ => (skipped > 0).then_some(Self::Zstd),
        }
    }

    /// A reader of what `input` holds compressed. Where that is made of independent parts, and
    /// `threads` are more than one, they decompress it side by side, besides the one that reads.
    pub(crate) fn decoder<R: Read + Send + 'static>(
        self,
        input: R,
        threads: usize,
    ) -> io::Result<Box<dyn Read + Send>> {
        self.bounded(input, threads, Bounds::CAPTURES)
    }

    fn bounded<R: Read + Send + 'static>(
        self,
        input: R,
        threads: usize,
        bounds: Bounds,
    ) -> io::Result<Box<dyn Read + Send>> {
        let consumed = Arc::new(AtomicU64::new(0));
        let cleared = Arc::new(AtomicU64::new(0));
        let decoder = if threads > 1 && Parts::are_known_in(self) {
            Box::new(Parts::new(self, Box::new(input), threads, &consumed))
        } else {
            self.stream(counted(input, &consumed), &cleared, false)?
        };
        Ok(Box::new(Bounded {
            decoder,
            consumed,
            cleared,
            expanded: 0,
            bounds,
        }))
    }

    /// One decompressor of all of `input`, which may follow a part that was decompressed before. `cleared` is what it
    /// has counted for frames, beside what is in them.
    fn stream<R: BufRead + Send + 'static>(
        self,
        input: R,
        cleared: &Arc<AtomicU64>,
        follows: bool,
    ) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => Box::new(Stepwise::new(input, GzipMembers::new(follows))),
            Self::Zstd => Box::new(Stepwise::new(input, ZstdFrames::new()?)),
            Self::Xz => Box::new(Stepwise::new(input, XzStreams::default())),
            Self::Lz4 => Box::new(Lz4Frames::new(input, Arc::clone(cleared))),
        })
    }
}

/// Reads the first bytes of a file: as many as tell how it is compressed, or all there are.
pub(crate) fn first_bytes(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::with_capacity(MAGIC_BYTES);
    loop {
        let skipped = skippable_len(&first);
        let missing = skipped.saturating_add(MAGIC_BYTES);
        let missing = missing.saturating_sub(first.len());
        if missing == 0 || skipped > SKIPPABLE_BYTES_MAX {
            return Ok(first);
        }
        if input
            .by_ref()
            .take(missing as u64)
            .read_to_end(&mut first)?
            == 0
        {
            return Ok(first);
        }
    }
}

/// How long the skippable frames are that a file begins with, by what they say. They are common to zstd and lz4; pzstd
/// begins its files with one.
fn skippable_len(first: &[u8]) -> usize {
    let mut skipped = 0;
    while let Some(&[0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..]) = first.get(skipped..) {
        let len = u32::from_le_bytes([a, b, c, d]) as usize;
        skipped = skipped.saturating_add(len).saturating_add(8);
    }
    skipped
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

/// Counts the bytes of a compressed stream as they are used, however many are read ahead.
struct Counted<R> {
    input: R,
    bytes: Arc<AtomicU64>,
}

fn counted<R: Read>(input: R, bytes: &Arc<AtomicU64>) -> Counted<BufReader<R>> {
    Counted {
        input: BufReader::with_capacity(INPUT_BYTES, input),
        bytes: Arc::clone(bytes),
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes.fetch_add(amount as u64, Ordering::Relaxed);
        self.input.consume(amount);
    }
}

impl<R: BufRead> Read for Counted<R> {
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
    bounds: Bounds,
}

/// What a stream may become.
#[derive(Clone, Copy)]
struct Bounds {
    /// So many bytes whatever it is made of.
    bytes_min: u64,
    /// So many times as long as it is, if that is more.
    expansion_max: u64,
}

impl Bounds {
    const CAPTURES: Self = Self {
        bytes_min: EXPANDED_BYTES_MIN,
        expansion_max: EXPANSION_MAX,
    };
}

impl Read for Bounded {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let consumed = self.consumed.load(Ordering::Relaxed);
        let cleared = self.cleared.load(Ordering::Relaxed);
        let bound = |times| self.bounds.bytes_min.max(consumed.saturating_mul(times));
        if self.expanded > bound(self.bounds.expansion_max) {
            return Err(too_large(EXPANDS));
        }
        if cleared > bound(CLEARED_MAX) {
            return Err(too_large(HOLDS_FRAMES));
        }
        let read = self.decoder.read(buf)?;
        self.expanded += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

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

    /// Bounds that streams of zeros reach in each format.
    pub(super) fn less(bytes_min: u64) -> Bounds {
        Bounds {
            bytes_min,
            expansion_max: 1000,
        }
    }

    #[test]
    fn zeros_of_segmentation_offload_are_a_capture() {
        // Frames of 64 KiB of zeros, but for what tells one from the other: numbers, times and checksums.
        let mut state = 7_u64;
        let mut bytes = Vec::new();
        while bytes.len() < 16 << 20 {
            for _ in 0..3 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                bytes.extend(&state.to_be_bytes()[..7]);
            }
            bytes.resize(bytes.len() + (64 << 10), 0);
        }
        let bounds = Bounds {
            bytes_min: 8 << 20,
            ..Bounds::CAPTURES
        };
        for (compression, encode) in ENCODERS {
            let packed = encode(&bytes);
            let input = io::Cursor::new(packed.clone());
            let mut decoder = compression.bounded(input, 1, bounds).unwrap();
            let read = io::copy(&mut decoder, &mut io::sink()).unwrap();
            assert_eq!(read, bytes.len() as u64, "{compression}: {}", packed.len());
        }
    }

    /// So many bytes come out of a stream, or why it ends.
    fn decoded(compression: Compression, bytes: Vec<u8>, bytes_min: u64) -> Result<u64, String> {
        let mut decoder = compression
            .bounded(io::Cursor::new(bytes), 1, less(bytes_min))
            .unwrap();
        io::copy(&mut decoder, &mut io::sink()).map_err(|error| {
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
            error.to_string()
        })
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
                _ => Err(EXPANDS.to_owned()),
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
                Compression::Lz4 => Err(HOLDS_FRAMES.to_owned()),
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

    /// Gives some bytes in pieces, and then its end or a failure.
    pub(super) struct Pieces {
        pub(super) bytes: io::Cursor<Vec<u8>>,
        pub(super) piece: usize,
        pub(super) fails: bool,
    }

    impl Read for Pieces {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let most = buf.len().min(self.piece);
            match self.bytes.read(&mut buf[..most])? {
                0 if self.fails => Err(io::ErrorKind::ConnectionReset.into()),
                read => Ok(read),
            }
        }
    }

    /// All that a reader gives, asked for so many bytes at a time, and how it ends.
    pub(super) fn all_of(mut reader: impl Read, asked: usize) -> (Vec<u8>, Option<String>) {
        let (mut bytes, mut buf) = (Vec::new(), vec![0; asked]);
        loop {
            match reader.read(&mut buf) {
                Ok(0) => return (bytes, None),
                Ok(read) => bytes.extend_from_slice(&buf[..read]),
                Err(error) => return (bytes, Some(format!("{:?} {error}", error.kind()))),
            }
        }
    }

    /// So many bytes, of which every other one can be told from those before.
    pub(super) fn half_noise(len: usize, seed: u32) -> Vec<u8> {
        let mut state = seed | 1;
        let next = |place| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            if place % 2 == 0 {
                7
            } else {
                (state >> 9) as u8
            }
        };
        (0..len).map(next).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Whole, changed, cut, or read from what fails: what comes before that is all there, by
        /// whatever pieces it comes in and goes out.
        #[test]
        fn what_comes_before_damage_does_not_depend_on_how_it_is_read(
            format in 1..4_usize,
            lens in proptest::collection::vec((0..300_000_usize, any::<u32>()), 1..4),
            changed in proptest::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
            cut in proptest::option::of(any::<prop::sample::Index>()),
            fails in any::<bool>(),
            (piece, asked) in (1..5_000_usize, 1..5_000_usize),
        ) {
            // Not lz4, which gives nothing of a block that is damaged or cut.
            let (format, encode) = ENCODERS[format];
            let plain: Vec<Vec<u8>> = lens.iter().map(|&(len, seed)| half_noise(len, seed)).collect();
            let mut stream: Vec<u8> = plain.iter().flat_map(|part| encode(part)).collect();
            if let Some((place, change)) = changed {
                let place = place.index(stream.len());
                stream[place] ^= change;
            }
            if let Some(cut) = cut {
                stream.truncate(cut.index(stream.len() + 1));
            }
            let read = |piece, asked| {
                let bytes = io::Cursor::new(stream.clone());
                let decoder = format.decoder(Pieces { bytes, piece, fails }, 1).unwrap();
                all_of(decoder, asked)
            };
            let whole = read(usize::MAX, 1 << 20);
            let again = read(piece, asked);
            prop_assert!(whole == again, "{piece} in, {asked} out");
            if changed.is_none() && cut.is_none() {
                prop_assert!(whole.0 == plain.concat());
                prop_assert_eq!(whole.1.is_some(), fails);
            }
        }
    }
}
