//! Frames of lz4, one after the other.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lz4_flex::frame::FrameDecoder;

const LEGACY_MAGIC: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

/// What each lz4 frame counts as, beside what is in it: whatever that is, the decoder clears a block
/// of up to 4 MiB for it first, which takes as long as to decompress so many bytes. Frames of less
/// than 270 bytes each are a bomb made of time, once there are more than four thousand.
pub(super) const FRAME_BYTES: u64 = 256 << 10;

/// Reads lz4 frames that follow each other, one decoder after the other.
///
/// The library's decoder answers `Ok(0)` at the end of a frame and at the end of the input alike,
/// wherever that is; so the end of a frame is told here by whether the decoder ran into the end of
/// the input to find it.
pub(super) struct Lz4Frames<R: Read> {
    frame: Lz4Frame<R>,
    cleared: Arc<AtomicU64>,
}

enum Lz4Frame<R: Read> {
    Between(Watched<R>),
    Inside(Box<FrameDecoder<Watched<R>>>),
    Ended,
}

impl<R: Read> Lz4Frames<R> {
    pub(super) fn new(input: R, cleared: Arc<AtomicU64>) -> Self {
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
                        self.cleared.fetch_add(FRAME_BYTES, Ordering::Relaxed);
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
                input.has_end_marks = magic != LEGACY_MAGIC;
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
