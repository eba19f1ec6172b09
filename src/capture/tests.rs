//! Captures made byte by byte, read in every way.

use std::io::{self, Read};

use super::*;

pub(crate) mod build;
mod compressed;
mod cuts;
mod damage;
mod files;
mod lanes;
mod mapped;
mod pcap;
mod pcapng;
mod properties;
mod repair;

/// A record as the tests compare it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    file: usize,
    frame: u64,
    at_ns: i64,
    link: u16,
    bytes: Vec<u8>,
    original_len: u32,
}

/// Everything that reading gives: records, errors in their order, facts.
#[derive(Debug)]
struct Outcome {
    records: Vec<Seen>,
    errors: Vec<CaptureError>,
    facts: Vec<FileFacts>,
}

impl Outcome {
    fn times(&self) -> Vec<i64> {
        self.records.iter().map(|record| record.at_ns).collect()
    }

    fn kind(&self) -> &CaptureErrorKind {
        assert_eq!(self.errors.len(), 1, "one error in {self:?}");
        &self.errors[0].kind
    }

    fn clean(self) -> Self {
        assert!(self.errors.is_empty(), "{:?}", self.errors);
        self
    }
}

fn read_sources(sources: Vec<CaptureSource>, window_bytes: usize) -> Outcome {
    let options = ReadOptions {
        window_bytes,
        io: Io::Auto,
        ..ReadOptions::default()
    };
    read_with(sources, &options)
}

fn read_with(sources: Vec<CaptureSource>, options: &ReadOptions) -> Outcome {
    let mut outcome = Outcome {
        records: Vec::new(),
        errors: Vec::new(),
        facts: Vec::new(),
    };
    let mut reader = match CaptureReader::open(sources, options) {
        Ok(reader) => reader,
        Err(error) => {
            outcome.errors.push(error);
            return outcome;
        }
    };
    let mut window = Window::new();
    loop {
        match reader.read_window(&mut window) {
            Ok(true) => {
                assert!(!window.is_empty(), "a window without records is the end");
                outcome.records.extend(seen(&window));
                assert!(reader.confirm(&mut window).unwrap(), "nothing was lost");
            }
            Ok(false) => break,
            Err(error) => {
                assert!(window.is_empty(), "no records come with an error");
                outcome.errors.push(error);
                assert!(outcome.errors.len() < 100, "the same error for ever");
            }
        }
    }
    assert!(
        !reader.read_window(&mut window).unwrap(),
        "the end stays the end"
    );
    outcome.facts = reader.files().to_vec();
    outcome
}

/// The records of a window, their bytes copied.
fn seen(window: &Window) -> Vec<Seen> {
    let records = (0..window.len()).map(|index| window.record(index));
    records
        .map(|record| Seen {
            file: window.file(),
            frame: record.frame,
            at_ns: record.at.as_ns(),
            link: record.link.0,
            bytes: record.bytes.to_vec(),
            original_len: record.original_len,
        })
        .collect()
}

fn source(name: &str, bytes: &[u8]) -> CaptureSource {
    CaptureSource::Reader {
        name: name.to_owned(),
        reader: Box::new(io::Cursor::new(bytes.to_vec())),
    }
}

fn read(bytes: &[u8]) -> Outcome {
    read_sources(vec![source("test.pcap", bytes)], WINDOW_BYTES)
}

/// Gives its bytes in pieces of 1, 2, … `largest`, 1, … bytes.
struct InPieces {
    bytes: io::Cursor<Vec<u8>>,
    largest: usize,
    last: usize,
}

impl Read for InPieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.last = self.last % self.largest + 1;
        let room = buf.len().min(self.last);
        self.bytes.read(&mut buf[..room])
    }
}

fn in_pieces(bytes: &[u8], largest: usize) -> CaptureSource {
    let reader = InPieces {
        bytes: io::Cursor::new(bytes.to_vec()),
        largest,
        last: 0,
    };
    CaptureSource::Reader {
        name: "pieces".to_owned(),
        reader: Box::new(reader),
    }
}

/// Fails once its bytes are used up.
struct ThenFails(io::Cursor<Vec<u8>>);

impl Read for ThenFails {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buf)? {
            0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

const SECOND: i64 = 1_000_000_000;

#[test]
fn readers_and_windows_cross_threads() {
    fn crosses<T: Send>() {}
    crosses::<CaptureReader>();
    crosses::<Window>();
    crosses::<CaptureError>();
    crosses::<Progress>();
}
