//! Reads a compressed stream so that all comes out that is before damage, however it is read.

use std::io::{self, BufRead, Read};

/// What takes a stream's bytes in and gives them decompressed, in steps small enough for none to lose
/// what came before damage.
pub(super) trait Decompressor {
    /// Whether what a step gives depends on how many of the bytes that it wants it gets: it gets all of them, but at
    /// the input's end.
    const WANTS_ALL: bool;

    /// Bytes that the next step may take at most.
    fn wanted(&self) -> usize;

    /// Takes some bytes, or none to give what it holds, and fills some of the room, which is not empty.
    fn step(&mut self, bytes: &[u8], room: &mut [u8]) -> Step;

    /// Whether the stream may end here.
    fn is_between(&self) -> bool;
}

/// What a step did.
pub(super) struct Step {
    /// Bytes that it took.
    pub(super) consumed: usize,
    /// Bytes that it gave.
    pub(super) filled: usize,
    /// What follows these.
    pub(super) failure: Option<io::Error>,
}

impl Step {
    /// Past the zeros that `bytes` begin with: behind a stream they pad to blocks of tapes and disks.
    pub(super) fn past_zeros(bytes: &[u8]) -> Self {
        Self {
            consumed: bytes.iter().take_while(|&&byte| byte == 0).count(),
            filled: 0,
            failure: None,
        }
    }

    /// Nothing yet.
    fn nothing() -> Self {
        Self {
            consumed: 0,
            filled: 0,
            failure: None,
        }
    }

    /// Nothing but this.
    pub(super) fn failed(error: io::Error) -> Self {
        Self {
            failure: Some(error),
            ..Self::nothing()
        }
    }
}

/// The decompressed bytes of a stream.
///
/// The libraries' readers give either bytes or an error, and what came before damage in the same call is
/// lost.
pub(super) struct Stepwise<R, D> {
    input: R,
    decompressor: D,
    /// Bytes of the next step, as long as the input has not given all of them.
    gathered: Vec<u8>,
    /// It may hold bytes for which there was no room yet.
    is_full: bool,
    failure: Option<io::Error>,
}

impl<R: BufRead, D: Decompressor> Stepwise<R, D> {
    pub(super) fn new(input: R, decompressor: D) -> Self {
        Self {
            input,
            decompressor,
            gathered: Vec::new(),
            is_full: false,
            failure: None,
        }
    }

    /// Takes what the input gives next; `None` at its end, where nothing is left to be taken.
    fn step(&mut self, room: &mut [u8]) -> io::Result<Option<Step>> {
        let bytes = self.input.fill_buf()?;
        let is_at_end = bytes.is_empty();
        if is_at_end && self.gathered.is_empty() {
            return Ok(None);
        }
        let missing = self
            .decompressor
            .wanted()
            .saturating_sub(self.gathered.len());
        let bytes = &bytes[..bytes.len().min(missing)];
        let is_enough = !D::WANTS_ALL || bytes.len() == missing || is_at_end;
        if is_enough && self.gathered.is_empty() {
            let step = self.decompressor.step(bytes, room);
            self.input.consume(step.consumed);
            return Ok(Some(step));
        }
        let taken = bytes.len();
        self.gathered.extend_from_slice(bytes);
        self.input.consume(taken);
        if !is_enough {
            return Ok(Some(Step::nothing()));
        }
        let step = self.decompressor.step(&self.gathered, room);
        self.gathered.drain(..step.consumed);
        Ok(Some(step))
    }
}

impl<R: BufRead, D: Decompressor> Read for Stepwise<R, D> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let step = if self.is_full {
                self.decompressor.step(&[], buf)
            } else if let Some(step) = self.step(buf)? {
                step
            } else {
                return if self.decompressor.is_between() {
                    Ok(0)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            };
            self.is_full = step.filled == buf.len() && !self.decompressor.is_between();
            self.failure = step.failure;
            if step.filled > 0 {
                return Ok(step.filled);
            }
        }
    }
}
