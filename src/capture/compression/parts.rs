//! Decompresses a stream of independent parts side by side: frames of zstd, members of gzip whose
//! headers tell their length (BGZF).
//!
//! What comes out is what one decompressor gives, whatever the bytes are: a part counts only if it
//! ends cleanly where its header or its blocks said. From the first that does not, or is too long to
//! be held, one decompressor goes on as if there had been no parts.

mod helpers;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Compression, INPUT_BYTES, counted};
use helpers::{Decompressed, Helpers, Job, Outcome};

/// How much is held at a time.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Compressed bytes that are worth handing over.
    part_bytes: usize,
    /// Compressed bytes of the longest part.
    part_bytes_max: usize,
    /// Bytes that a part may become.
    expanded_bytes_max: usize,
}

/// `pzstd` makes frames of 2 to 32 MiB by its level, 8 unless asked otherwise.
const SIZES: Sizes = Sizes {
    part_bytes: 512 << 10,
    part_bytes_max: 9 << 20,
    expanded_bytes_max: 32 << 20,
};

/// How many times as long as it is a part may become. With far less than what ends a whole stream
/// ([`super::EXPANSION_MAX`]), and a part's bytes far below those that any may have, no stream ends
/// within a part, for which its parts would have to be told apart.
const EXPANSION_MAX: usize = 100;
const _: () = assert!(EXPANSION_MAX as u64 * 10 <= super::EXPANSION_MAX);

/// The decompressed bytes of a stream.
pub(super) struct Parts {
    format: Compression,
    sizes: Sizes,
    input: Input,
    /// Compressed bytes that have been decompressed.
    consumed: Arc<AtomicU64>,
    /// Parts that are being decompressed, in order.
    ahead: VecDeque<Part>,
    /// What the last one came to, and how much of it was read.
    bytes: Decompressed,
    read: usize,
    /// Room for others.
    used: Vec<Decompressed>,
    helpers: Helpers,
    /// A part has come out: the stream may end here.
    begun: bool,
    /// One decompressor for all that is left.
    rest: Option<Box<dyn Read + Send>>,
}

/// A part on its way.
struct Part {
    compressed: Arc<[u8]>,
    /// `None` where nobody else decompresses it.
    outcome: Option<Outcome>,
}

impl Parts {
    /// The bytes of `input`, decompressed by up to so many threads besides the one that reads.
    /// `consumed` grows by the compressed bytes that they come from.
    pub(super) fn new(
        format: Compression,
        input: Box<dyn Read + Send>,
        threads: usize,
        consumed: &Arc<AtomicU64>,
    ) -> Self {
        Self {
            format,
            sizes: SIZES,
            input: Input::new(input),
            consumed: Arc::clone(consumed),
            ahead: VecDeque::new(),
            bytes: Decompressed::default(),
            read: 0,
            used: Vec::new(),
            helpers: Helpers::new(threads),
            begun: false,
            rest: None,
        }
    }

    /// Whether streams of this format may have parts that tell their length.
    pub(super) fn are_known_in(format: Compression) -> bool {
        matches!(format, Compression::Gzip | Compression::Zstd)
    }

    /// Hands over parts until there are enough, or what comes next is none.
    fn hand_over(&mut self) {
        while self.ahead.len() <= self.helpers.wanted()
            && let Some(compressed) = self.input.next_part(self.format, self.sizes)
        {
            // Most streams have one part, which needs no help.
            let outcome = if self.ahead.is_empty() {
                None
            } else {
                let job = self.job(&compressed);
                self.helpers.decompress(job)
            };
            self.ahead.push_back(Part {
                compressed,
                outcome,
            });
        }
    }

    fn job(&mut self, compressed: &Arc<[u8]>) -> Job {
        let expanded = compressed.len().saturating_mul(EXPANSION_MAX);
        Job {
            compressed: Arc::clone(compressed),
            format: self.format,
            bytes_max: expanded.min(self.sizes.expanded_bytes_max),
            room: self.used.pop().unwrap_or_default(),
        }
    }

    /// The next part's bytes; `None` where one decompressor is to go on.
    fn next(&mut self) -> Option<Decompressed> {
        let part = self.ahead.front()?;
        let bytes = if let Some(outcome) = &part.outcome {
            outcome.recv().ok().flatten()
        } else {
            let compressed = Arc::clone(&part.compressed);
            self.job(&compressed).carry_out()
        }?;
        let part = self.ahead.pop_front()?;
        let compressed = part.compressed.len() as u64;
        self.consumed.fetch_add(compressed, Ordering::Relaxed);
        Some(bytes)
    }

    /// Begins to decompress all that was not read yet in one go.
    fn go_on(&mut self) -> io::Result<Box<dyn Read + Send>> {
        // Other files may have the threads.
        self.helpers.dismiss();
        self.used = Vec::new();
        self.bytes = Decompressed::default();
        let mut left = Vec::new();
        for part in self.ahead.drain(..) {
            left.extend_from_slice(&part.compressed);
        }
        let input = std::mem::replace(&mut self.input, Input::new(Box::new(io::empty())));
        left.extend_from_slice(input.left());
        let failure = Failure(input.failure);
        let left = Cursor::new(left).chain(failure).chain(input.reader);
        // Formats with parts clear nothing.
        self.format
            .stream(counted(left, &self.consumed), &Arc::default(), self.begun)
    }
}

impl Read for Parts {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(rest) = &mut self.rest {
                return rest.read(buf);
            }
            let read = self.bytes.get(self.read..).unwrap_or_default().read(buf)?;
            self.read += read;
            if read > 0 || buf.is_empty() {
                return Ok(read);
            }
            self.hand_over();
            if let Some(bytes) = self.next() {
                let used = std::mem::replace(&mut self.bytes, bytes);
                self.used.push(used);
                self.read = 0;
                self.begun = true;
            } else if self.begun && self.ahead.is_empty() && self.input.is_used_up() {
                return Ok(0);
            } else {
                self.rest = Some(self.go_on()?);
            }
        }
    }
}

/// The compressed bytes.
struct Input {
    reader: Box<dyn Read + Send>,
    bytes: Vec<u8>,
    /// Where in `bytes` the next part begins.
    at: usize,
    /// Nothing more is to be read; `failure` tells why, where it was not the end.
    ended: bool,
    failure: Option<io::Error>,
}

/// How long the frame or member is that some bytes begin with.
enum Found {
    Whole(usize),
    /// It takes more bytes to tell.
    More,
    /// Only its decompressor can tell.
    Nothing,
}

impl Input {
    fn new(reader: Box<dyn Read + Send>) -> Self {
        Self {
            reader,
            bytes: Vec::new(),
            at: 0,
            ended: false,
            failure: None,
        }
    }

    fn left(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn is_used_up(&self) -> bool {
        self.ended && self.failure.is_none() && self.left().is_empty()
    }

    /// The next frames or members that are worth handing over, or the last; `None` where the next is
    /// too long, is not whole, or does not tell its length.
    fn next_part(&mut self, format: Compression, sizes: Sizes) -> Option<Arc<[u8]>> {
        let mut len = 0;
        while len < sizes.part_bytes {
            let found = match self.left().get(len..) {
                None | Some([]) => Found::More,
                Some(rest) if format == Compression::Zstd => frame(rest, sizes),
                Some(rest) => member(rest),
            };
            match found {
                Found::Whole(more) => len += more,
                Found::More if !self.ended && self.left().len() < sizes.part_bytes_max => {
                    self.read_more();
                }
                Found::More | Found::Nothing => break,
            }
        }
        let part = self.left().get(..len).filter(|part| !part.is_empty())?;
        let part = Arc::from(part);
        self.at += len;
        Some(part)
    }

    fn read_more(&mut self) {
        // What has been handed over makes room.
        self.bytes.drain(..self.at);
        self.at = 0;
        let mut filled = self.bytes.len();
        self.bytes.resize(filled + INPUT_BYTES, 0);
        while let Some(room) = self.bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            match self.reader.read(room) {
                Ok(0) => self.ended = true,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(error);
                }
            }
            if self.ended {
                break;
            }
        }
        self.bytes.truncate(filled);
    }
}

/// A zstd frame, skippable ones too: its blocks tell their lengths (RFC 8878 section 3.1.1.2).
fn frame(bytes: &[u8], sizes: Sizes) -> Found {
    match zstd::zstd_safe::find_frame_compressed_size(bytes) {
        Ok(len) if (1..=bytes.len()).contains(&len) => Found::Whole(len),
        // Damaged, or not all of it is here. Most files are one frame, which says how long it is.
        _ => match zstd::zstd_safe::get_frame_content_size(bytes) {
            Ok(Some(len)) if len > sizes.expanded_bytes_max as u64 => Found::Nothing,
            _ => Found::More,
        },
    }
}

/// A gzip member of BGZF, whose header tells its length (SAM specification section 4.1, RFC 1952
/// section 2.3.1.1).
fn member(bytes: &[u8]) -> Found {
    const EXTRA: u8 = 4;
    let Some((&[id1, id2, method, flags, _, _, _, _, _, _, len1, len2], behind)) =
        bytes.split_first_chunk::<12>()
    else {
        return Found::More;
    };
    if [id1, id2, method] != [0x1f, 0x8b, 8] || flags & EXTRA == 0 {
        return Found::Nothing;
    }
    let extra_len = usize::from(u16::from_le_bytes([len1, len2]));
    let Some(mut extra) = behind.get(..extra_len) else {
        return Found::More;
    };
    while let &[kind1, kind2, len1, len2, ref rest @ ..] = extra {
        let len = usize::from(u16::from_le_bytes([len1, len2]));
        let Some((value, others)) = rest.split_at_checked(len) else {
            break;
        };
        if let (b"BC", &[low, high]) = (&[kind1, kind2], value) {
            let len = usize::from(u16::from_le_bytes([low, high])) + 1;
            return if len > bytes.len() {
                Found::More
            } else {
                Found::Whole(len)
            };
        }
        extra = others;
    }
    Found::Nothing
}

/// Fails once, where reading did.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _buf: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
