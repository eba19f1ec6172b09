//! Frames of zstd, one after the other, block by block.

use std::io;

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use super::stepwise::{Decompressor, Step};

/// Largest window, as a power of two: 128 MiB, what the `zstd` command accepts by itself.
const WINDOW_LOG_MAX: u32 = 27;

/// Bytes of a block's header (RFC 8878 section 3.1.1.2), and fewest of a frame's.
const BLOCK_HEADER_BYTES: usize = 3;
const FRAME_HEADER_BYTES_MIN: usize = 5;

/// Decompresses each block before the next one's header is looked at.
pub(super) struct ZstdFrames {
    /// Of one frame: with the buffers of another it would take some that are damaged for whole, and what comes out
    /// would depend on how many threads decompress.
    decoder: Decoder<'static>,
    /// Bytes to the end of what it is in: a header, a block, or a checksum.
    wanted: usize,
    is_between: bool,
}

impl ZstdFrames {
    /// # Errors
    /// When there is no memory for it.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            decoder: decoder()?,
            wanted: FRAME_HEADER_BYTES_MIN,
            is_between: true,
        })
    }
}

fn decoder() -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
    Ok(decoder)
}

impl Decompressor for ZstdFrames {
    /// What is in a block that is not compressed comes as its bytes do, but for the last of them where the frame turns
    /// out to be damaged.
    const WANTS_ALL: bool = true;

    fn wanted(&self) -> usize {
        self.wanted
    }

    fn step(&mut self, bytes: &[u8], room: &mut [u8]) -> Step {
        let mut taken = InBuffer::around(bytes);
        let mut given = OutBuffer::around(room);
        let outcome = self.decoder.run(&mut taken, &mut given);
        let (consumed, filled) = (taken.pos(), given.pos());
        let outcome = outcome.and_then(|wanted| {
            self.is_between = wanted == 0;
            self.wanted = match wanted {
                0 => FRAME_HEADER_BYTES_MIN,
                // It asks for a block and the next one's header.
                _ if wanted > BLOCK_HEADER_BYTES => wanted - BLOCK_HEADER_BYTES,
                _ => wanted,
            };
            if self.is_between {
                self.decoder = decoder()?;
            }
            Ok(())
        });
        Step {
            consumed,
            filled,
            failure: outcome.err(),
        }
    }

    fn is_between(&self) -> bool {
        self.is_between
    }
}
