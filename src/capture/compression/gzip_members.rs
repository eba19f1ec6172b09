//! Members of gzip (RFC 1952), one after the other.

use std::io::{self, BufRead, Read};

use flate2::{Decompress, FlushDecompress, Status};

/// Size of the window, as a power of two: the largest that DEFLATE knows.
const WINDOW_BITS: u8 = 15;

/// The bytes of a stream, all that come before what is damaged, however it is read.
///
/// The library's reader gives either bytes or an error, and what came before damage in the same step
/// is lost.
pub(super) struct GzipMembers<R> {
    input: R,
    /// The member that is being decompressed.
    member: Option<Decompress>,
    /// It may hold bytes for which there was no room yet.
    is_full: bool,
    /// What follows the bytes that were given last.
    failure: Option<io::Error>,
}

impl<R: BufRead> GzipMembers<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            member: None,
            is_full: false,
            failure: None,
        }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let mut bytes: &[u8] = &[];
            if !self.is_full {
                bytes = self.input.fill_buf()?;
                if bytes.is_empty() {
                    return if self.member.is_none() {
                        Ok(0)
                    } else {
                        Err(io::ErrorKind::UnexpectedEof.into())
                    };
                }
            }
            let member = self
                .member
                .get_or_insert_with(|| Decompress::new_gzip(WINDOW_BITS));
            let before = (member.total_in(), member.total_out());
            let outcome = member.decompress(bytes, buf, FlushDecompress::None);
            // Both have moved on where it fails, too.
            let consumed = (member.total_in() - before.0) as usize;
            let filled = (member.total_out() - before.1) as usize;
            self.input.consume(consumed);
            let was_full = std::mem::replace(&mut self.is_full, filled == buf.len());
            match outcome {
                Ok(Status::StreamEnd) => {
                    self.member = None;
                    self.is_full = false;
                }
                Ok(_) if consumed > 0 || filled > 0 || was_full => {}
                // The library has a reason, but which depends on how much it is given at a time.
                Ok(_) | Err(_) => {
                    let what = "its codes or its checksum are wrong";
                    self.failure = Some(io::Error::new(io::ErrorKind::InvalidData, what));
                }
            }
            if filled > 0 {
                return Ok(filled);
            }
        }
    }
}
