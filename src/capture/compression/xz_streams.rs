//! Streams of xz, one after the other.

use std::io;

use liblzma::stream::{Action, Status, Stream};

use super::stepwise::{Decompressor, Step};

/// Memory the decoder may use, in bytes: its largest preset needs 65 MiB.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

#[derive(Default)]
pub(super) struct XzStreams {
    /// The one that is being decompressed; `None` between streams.
    stream: Option<Stream>,
    /// One has ended: what follows may be padding.
    has_ended: bool,
}

impl XzStreams {
    /// The stream that the next bytes belong to.
    fn stream(&mut self) -> io::Result<&mut Stream> {
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => Stream::new_stream_decoder(MEMORY_BYTES_MAX, 0)?,
        };
        Ok(self.stream.insert(stream))
    }
}

impl Decompressor for XzStreams {
    const WANTS_ALL: bool = false;

    fn wanted(&self) -> usize {
        usize::MAX
    }

    fn step(&mut self, bytes: &[u8], room: &mut [u8]) -> Step {
        if self.is_between() && self.has_ended && bytes.first() == Some(&0) {
            return Step::past_zeros(bytes);
        }
        let stream = match self.stream() {
            Ok(stream) => stream,
            Err(error) => return Step::failed(error),
        };
        let before = (stream.total_in(), stream.total_out());
        let outcome = stream.process(bytes, room, Action::Run);
        // Both have moved on where it fails, too.
        let consumed = (stream.total_in() - before.0) as usize;
        let filled = (stream.total_out() - before.1) as usize;
        if matches!(outcome, Ok(Status::StreamEnd)) {
            (self.stream, self.has_ended) = (None, true);
        }
        Step {
            consumed,
            filled,
            failure: outcome.err().map(io::Error::from),
        }
    }

    fn is_between(&self) -> bool {
        self.stream.is_none()
    }
}
