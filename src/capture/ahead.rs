//! Reads ahead on a thread of its own, so that decompression and what follows go on at the same time.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// Bytes handed over at a time: enough for the handing over not to count.
const BLOCK_BYTES: usize = 1 << 20;

/// Blocks that wait to be taken. One more is being filled and one being used, so that a file takes 4 MiB.
const BLOCKS_WAITING: usize = 2;

/// What comes from the other thread; after an error or the end, nothing more does.
enum Piece {
    Block(Vec<u8>),
    Failed(io::Error),
    End,
}

/// The bytes of a reader, read by another thread; dropping it ends that thread with its next block.
pub(super) struct ReadAhead {
    pieces: Receiver<Piece>,
    /// Blocks go back to be filled again.
    used: Sender<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
    ended: bool,
}

impl ReadAhead {
    /// Starts the thread; gives `reader` itself back where none is to be had.
    pub(super) fn start(reader: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let (out, pieces) = sync_channel(BLOCKS_WAITING);
        let (used, empty) = channel();
        let reader = Arc::new(Mutex::new(Some(reader)));
        let taken = Arc::clone(&reader);
        let started = thread::Builder::new()
            .name("decompress".to_owned())
            .spawn(move || {
                if let Some(reader) = take(&taken) {
                    hand_over(reader, &out, &empty);
                }
            });
        if started.is_err()
            && let Some(reader) = take(&reader)
        {
            return reader;
        }
        Box::new(Self {
            pieces,
            used,
            block: Vec::new(),
            at: 0,
            ended: false,
        })
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            if self.ended || buf.is_empty() {
                return Ok(0);
            }
            match self.pieces.recv() {
                Ok(Piece::Block(block)) => {
                    let used = std::mem::replace(&mut self.block, block);
                    self.at = 0;
                    // Nobody fills it again once the end is reached.
                    let _ = self.used.send(used);
                }
                Ok(Piece::End) => self.ended = true,
                Ok(Piece::Failed(error)) => {
                    self.ended = true;
                    return Err(error);
                }
                // Only a panic ends the thread without a word.
                Err(_) => {
                    self.ended = true;
                    return Err(io::Error::other("the decompressor failed"));
                }
            }
        }
        let read = (&self.block[self.at..]).read(buf)?;
        self.at += read;
        Ok(read)
    }
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().ok()?.take()
}

/// Fills block after block until the end, an error, or until nobody listens. What was read before an
/// error goes first.
fn hand_over(mut reader: Box<dyn Read + Send>, out: &SyncSender<Piece>, empty: &Receiver<Vec<u8>>) {
    loop {
        let mut block = empty.try_recv().unwrap_or_default();
        block.resize(BLOCK_BYTES, 0);
        let mut filled = 0;
        let mut last = None;
        while filled < BLOCK_BYTES && last.is_none() {
            match reader.read(&mut block[filled..]) {
                Ok(0) => last = Some(Piece::End),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => last = Some(Piece::Failed(error)),
            }
        }
        block.truncate(filled);
        if out.send(Piece::Block(block)).is_err() {
            return;
        }
        if let Some(last) = last {
            // Nobody listening any more is as good an end.
            let _ = out.send(last);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives 3 MiB and then what `end` says.
    struct Source {
        left: usize,
        end: fn() -> io::Result<usize>,
    }

    impl Read for Source {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if self.left == 0 {
                return (self.end)();
            }
            let read = buf.len().min(self.left).min(100_000);
            for (index, byte) in buf[..read].iter_mut().enumerate() {
                *byte = (self.left - index) as u8;
            }
            self.left -= read;
            Ok(read)
        }
    }

    fn all_of(end: fn() -> io::Result<usize>) -> (Vec<u8>, io::Result<usize>) {
        let left = 3 << 20;
        let mut ahead = ReadAhead::start(Box::new(Source { left, end }));
        let mut bytes = Vec::new();
        let outcome = ahead.read_to_end(&mut bytes);
        assert_eq!(ahead.read(&mut [0; 9]).unwrap(), 0, "the end stays the end");
        (bytes, outcome)
    }

    #[test]
    fn bytes_come_in_order_before_the_end_and_before_an_error() {
        let expected: Vec<u8> = (1..=3 << 20).rev().map(|left: usize| left as u8).collect();
        let (bytes, outcome) = all_of(|| Ok(0));
        assert!(bytes == expected && outcome.is_ok());
        let (bytes, outcome) = all_of(|| Err(io::ErrorKind::InvalidData.into()));
        assert!(bytes == expected);
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_decompressor_that_panics_is_an_error_not_an_end() {
        let (_, outcome) = all_of(|| panic!("a bug in the library"));
        assert_eq!(outcome.unwrap_err().to_string(), "the decompressor failed");
    }
}
