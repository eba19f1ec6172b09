//! Frames of zstd, one after the other, block by block.

use std::io::{self, BufRead, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

/// Largest window, as a power of two: 128 MiB, what the `zstd` command accepts by itself.
const WINDOW_LOG_MAX: u32 = 27;

/// Bytes of a block's header (RFC 8878 section 3.1.1.2), and fewest of a frame's.
const BLOCK_HEADER_BYTES: usize = 3;
const FRAME_HEADER_BYTES_MIN: usize = 5;

/// The bytes of a stream, all that come before what is damaged, however it is read.
///
/// The library's reader hands over many blocks at a time, and what the first of them came to is lost
/// when the last is damaged. Here each is decompressed before the next one's header is looked at.
pub(super) struct ZstdFrames<R> {
    input: R,
    decoder: Decoder<'static>,
    /// Bytes that the decoder asks for next: up to the end of a block, and the next one's header.
    wanted: usize,
    /// It may hold bytes for which there was no room yet.
    is_full: bool,
    /// Whether the input may end here.
    is_between: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(super) fn new(input: R) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
        Ok(Self {
            input,
            decoder,
            wanted: FRAME_HEADER_BYTES_MIN,
            is_full: false,
            is_between: true,
        })
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            let mut bytes: &[u8] = &[];
            if !self.is_full {
                bytes = self.input.fill_buf()?;
                if bytes.is_empty() {
                    return if self.is_between {
                        Ok(0)
                    } else {
                        Err(io::ErrorKind::UnexpectedEof.into())
                    };
                }
                bytes = &bytes[..bytes.len().min(self.wanted)];
            }
            let mut taken = InBuffer::around(bytes);
            let mut given = OutBuffer::around(&mut *buf);
            let wanted = self.decoder.run(&mut taken, &mut given)?;
            let (consumed, filled) = (taken.pos(), given.pos());
            self.input.consume(consumed);
            self.is_full = filled == buf.len();
            self.is_between = wanted == 0;
            self.wanted = match wanted {
                0 => FRAME_HEADER_BYTES_MIN,
                // No further than the end of this block.
                _ if wanted > BLOCK_HEADER_BYTES => wanted - BLOCK_HEADER_BYTES,
                _ => wanted,
            };
            if filled > 0 {
                return Ok(filled);
            }
        }
    }
}
