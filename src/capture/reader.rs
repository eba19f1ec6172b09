//! Fills windows from one file; the end, a cut and a failure are three outcomes.

use std::io;
use std::path::PathBuf;

use super::error::{CaptureError, CaptureErrorKind};
use super::facts::FileFacts;
use super::lanes::Lanes;
use super::mapped::{MappedFile, Part};
use super::pcap::PcapWalker;
use super::pcapng::PcapngWalker;
use super::record::{Entry, Window};
use super::repair::Repair;
use super::resemblance::looks_like;
use super::source::{Opener, Progress, Stream};
use super::{Io, Way};
use crate::time::CaptureTime;

/// Bytes asked for at a time: larger reads fall out of the cache before they are walked.
pub(super) const READ_BYTES: usize = 256 << 10;

/// Room made at first: of thousands of small files none needs a whole window.
const FIRST_BYTES: usize = 64 << 10;

/// Bytes looked at to recognise the format and its variant.
const PEEK_BYTES: usize = 16 << 10;

/// Smaller files are read where nothing else is asked for: to find out whether a mapping would be better takes too much
/// of the time they take.
const MAPPED_BYTES_MIN: u64 = 32 << 20;

/// Of smaller records, each line of memory is looked at, mapped or read, and none is saved.
const MAPPED_RECORD_BYTES_MIN: usize = 256;

/// Where in a file that is asked, when some records have told how large they are, and after how many bytes again: a
/// part of it may be kept in other pieces than the one before.
const ASK_FROM: u64 = 1 << 20;
const ASK_AGAIN_BYTES: u64 = 256 << 20;

/// Of larger records a window has more bytes: what is done at a time is to be enough for several threads, and of each
/// record of a mapped file no more than its headers are looked at.
const RECORD_BYTES: usize = 128;

/// How many times as many at most.
const STRETCH_MAX: usize = 8;

/// The same of a file that is read, payload and all: more would leave the cache before it is decoded.
const READ_STRETCH_MAX: usize = 2;

/// One file of a capture, being read.
pub(super) struct FileReader {
    path: PathBuf,
    stream: Stream,
    /// The same file, as long as it is mapped; `carry` is empty then.
    mapped: Option<MappedFile>,
    /// The same file, where it may be mapped later, and the place in it from which on that is asked.
    candidate: Option<(MappedFile, u64)>,
    /// Where the window before began, in a file that is mapped.
    checkpoint: Option<Checkpoint>,
    lanes: Lanes,
    /// Bytes of a record of the window before; 0 where there is none.
    record_bytes: usize,
    walker: Walker,
    /// Finds the way on behind damage, where that is wanted.
    repair: Option<Repair>,
    /// Bytes read but not walked; they go to the start of the next window.
    carry: Vec<u8>,
    /// Where in the uncompressed file `carry` begins.
    base: u64,
    records: u64,
    /// What ended the reading, told once the records before it have been handed out.
    failure: Option<CaptureError>,
    /// A failure to read that lies behind the bytes of `carry`.
    read_failure: Option<CaptureErrorKind>,
    ended: bool,
    /// Records read to learn the time of the first.
    probe: Option<Window>,
}

/// What is needed to read a window once more.
struct Checkpoint {
    walker: Walker,
    base: u64,
    records: u64,
}

/// The two families of formats.
#[derive(Clone)]
pub(super) enum Walker {
    Pcap(PcapWalker),
    Pcapng(PcapngWalker),
}

impl Walker {
    /// Appends the whole records of `bytes` from `at` on and moves `at` behind them; gives how many
    /// bytes from there on are needed to get further, which is more than there are. With `lanes`
    /// it goes about it from several places at once, if that helps.
    fn walk(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        entries: &mut Vec<Entry>,
        lanes: Option<&mut Lanes>,
    ) -> Result<usize, CaptureErrorKind> {
        match self {
            Self::Pcap(walker) => walker.walk(bytes, at, entries, lanes),
            Self::Pcapng(walker) => walker.walk(bytes, at, entries, lanes),
        }
    }
}

/// The first bytes of a file, and what kept more of them from being read.
fn first_bytes(stream: &mut Stream) -> (Vec<u8>, Option<CaptureErrorKind>) {
    let mut bytes = vec![0; PEEK_BYTES];
    let (mut filled, mut failure) = (0, None);
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match stream.read(room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(kind) => {
                failure = Some(kind);
                break;
            }
        }
    }
    bytes.truncate(filled);
    (bytes, failure)
}

impl FileReader {
    /// Opens a file and reads as much as tells its format.
    pub(super) fn open(
        opener: &mut Opener,
        way: Way,
        progress: &Progress,
    ) -> Result<Self, CaptureError> {
        let mut stream = opener.open(progress, way.decompressors)?;
        let file_error = |kind| CaptureError {
            path: opener.path().to_owned(),
            record_index: 0,
            offset_bytes: 0,
            kind,
        };
        let (mut carry, read_failure) = first_bytes(&mut stream);
        let (walker, header_bytes) = match recognise(&carry) {
            Ok(recognised) => recognised,
            Err(kind) => match PcapngWalker::recognise_damaged(&carry).filter(|_| way.repair) {
                Some(walker) => (Walker::Pcapng(walker), 0),
                None => return Err(file_error(read_failure.unwrap_or(kind))),
            },
        };
        carry.drain(..header_bytes);
        let (mapped, candidate) = match way.io {
            _ if read_failure.is_some() || way.repair => (None, None),
            Io::Auto => (None, stream.mapped(MAPPED_BYTES_MIN).zip(Some(ASK_FROM))),
            Io::Mapped => (stream.mapped(0), None),
            Io::Read => (None, None),
        };
        let mut reader = Self {
            path: opener.path().to_owned(),
            stream,
            mapped: None,
            candidate,
            checkpoint: None,
            lanes: Lanes::default(),
            record_bytes: 0,
            walker,
            repair: way.repair.then(Repair::default),
            carry,
            base: header_bytes as u64,
            records: 0,
            failure: None,
            read_failure,
            ended: false,
            probe: None,
        };
        if let Some(mapped) = mapped {
            reader.map(mapped);
        }
        Ok(reader)
    }

    /// Goes on with the file mapped, from the first byte that is not walked.
    pub(super) fn map(&mut self, mapped: MappedFile) {
        self.stream.count(-(self.carry.len() as i64));
        self.carry.clear();
        self.mapped = Some(mapped);
    }

    /// Maps the file from here on where that is faster, which is asked now and then, and reads it where it is not any
    /// more.
    fn map_or_read(&mut self) -> Result<(), CaptureError> {
        if let Some(mapped) = self.mapped.take_if(|mapped| mapped.costs_too_much()) {
            self.candidate = Some((mapped, self.base + ASK_AGAIN_BYTES));
            return self.go_on_reading();
        }
        let (base, record_bytes) = (self.base, self.record_bytes);
        let due = |&mut (_, ask_at): &mut (MappedFile, u64)| base >= ask_at;
        if let Some((mut mapped, _)) = self.candidate.take_if(due) {
            let may_pay = self.read_failure.is_none() && record_bytes >= MAPPED_RECORD_BYTES_MIN;
            if may_pay && mapped.pays(base, record_bytes) {
                self.map(mapped);
            } else {
                self.candidate = Some((mapped, base + ASK_AGAIN_BYTES));
            }
        }
        Ok(())
    }

    /// Time of the first record, which is still handed out later; `None` without records.
    pub(super) fn first_time(&mut self) -> Option<CaptureTime> {
        let mut window = Window::new();
        match self.read_window(&mut window, 1) {
            Ok(true) => {
                let at = window.record(0).at;
                self.probe = Some(window);
                Some(at)
            }
            Ok(false) => None,
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    /// Whether the next window, or the one after it, is an error.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether all of it has been handed out, and there is no error to tell.
    pub(super) fn is_at_end(&self) -> bool {
        self.ended && self.failure.is_none() && self.probe.is_none()
    }

    /// Copies what is known of the file.
    pub(super) fn describe(&self, facts: &mut FileFacts) {
        facts.compression = self.stream.compression();
        facts.records = self.records;
        match &self.walker {
            Walker::Pcap(walker) => walker.describe(facts),
            Walker::Pcapng(walker) => walker.describe(facts),
        }
        if let Some(repair) = &self.repair {
            repair.describe(facts);
        }
    }

    /// Refills `window`, aiming at `target` bytes; see `CaptureReader::read_window`.
    pub(super) fn read_window(
        &mut self,
        window: &mut Window,
        target: usize,
    ) -> Result<bool, CaptureError> {
        if let Some(probe) = self.probe.take() {
            *window = probe;
            return Ok(true);
        }
        window.clear();
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(false);
        }
        window.first_frame = self.records + 1;
        self.map_or_read()?;
        if self.mapped.is_none() || self.fill_mapped(window, target).is_err() {
            // What cannot be mapped, or can no longer, is read.
            window.clear();
            self.unmap()?;
            self.fill(window, target);
        }
        self.records += window.len() as u64;
        if window.is_empty() {
            return self.failure.take().map_or(Ok(false), Err);
        }
        Ok(true)
    }

    /// See `CaptureReader::take_behind`.
    pub(super) fn take_behind(&mut self) -> Option<Part> {
        self.mapped.as_mut()?.take_behind()
    }

    /// See `CaptureReader::confirm`.
    pub(super) fn confirm(
        &mut self,
        window: &mut Window,
        target: usize,
    ) -> Result<bool, CaptureError> {
        if self.mapped.as_ref().is_none_or(MappedFile::is_whole) {
            return Ok(true);
        }
        window.clear();
        self.unmap()?;
        self.read_window(window, target).map(|_| false)
    }

    /// Goes on by reading, from where the window before began.
    fn unmap(&mut self) -> Result<(), CaptureError> {
        if self.mapped.take().is_none() {
            return Ok(());
        }
        if let Some(start) = self.checkpoint.take() {
            self.stream.count(start.base as i64 - self.base as i64);
            self.walker = start.walker;
            self.base = start.base;
            self.records = start.records;
        }
        self.failure = None;
        self.ended = false;
        self.go_on_reading()
    }

    /// Goes on by reading, from the first byte that is not walked.
    fn go_on_reading(&mut self) -> Result<(), CaptureError> {
        let (base, record_index) = (self.base, self.records + 1);
        self.stream.go_on_from(base).map_err(|kind| {
            self.ended = true;
            CaptureError {
                path: self.path.clone(),
                record_index,
                offset_bytes: base,
                kind,
            }
        })
    }

    /// Walks the next `target` bytes of a mapped file, or more where records are large. An
    /// error is that they cannot be had, or have gone.
    fn fill_mapped(&mut self, window: &mut Window, target: usize) -> io::Result<()> {
        self.checkpoint = Some(Checkpoint {
            walker: self.walker.clone(),
            base: self.base,
            records: self.records,
        });
        let target = target * self.stretch();
        let (mut wanted, mut missing) = (target, 1);
        loop {
            let Some(mapped) = &mut self.mapped else {
                return Ok(());
            };
            let Some(view) = mapped.view(self.base, wanted)? else {
                self.end(0, missing, 0, 0);
                break;
            };
            let (mut at, bytes) = (0, view.bytes());
            let lanes = Some(&mut self.lanes);
            let walked = self.walker.walk(bytes, &mut at, &mut window.entries, lanes);
            let (left, at_end) = (bytes.len() - at, view.at_end);
            let records = window.entries.len();
            window.view = Some(view);
            self.note_sizes(at, records);
            self.base += at as u64;
            self.stream.count(at as i64);
            match walked {
                Err(kind) => self.fail(kind, 0, records),
                Ok(need) if records == 0 => {
                    if at_end {
                        self.end(left, need, 0, 0);
                    } else {
                        missing = need;
                        wanted = need.max(target);
                        continue;
                    }
                }
                Ok(_) => {}
            }
            break;
        }
        match &self.mapped {
            Some(mapped) if !mapped.is_whole() => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Reads and walks by turns until the window has its bytes, or the file its end.
    fn fill(&mut self, window: &mut Window, target: usize) {
        let target = target * self.stretch().min(READ_STRETCH_MAX);
        let Window { bytes, entries, .. } = window;
        let mut filled = self.carry.len();
        grow(bytes, FIRST_BYTES.min(target).max(filled));
        bytes[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        let (mut at, mut end) = (0, None);
        loop {
            let (base, so_far) = (self.base, (&bytes[..filled], &mut at));
            let walked = match &mut self.repair {
                None => self.walker.walk(so_far.0, so_far.1, entries, None),
                Some(repair) => {
                    let begin = (base, self.records);
                    Ok(repair.walk(&mut self.walker, begin, so_far, end.is_some(), entries))
                }
            };
            let missing = match walked {
                Ok(need) => need,
                Err(kind) => {
                    self.fail(kind, at, entries.len());
                    return;
                }
            };
            if let Some(failure) = end {
                match failure {
                    None => self.end(filled - at, missing, at, entries.len()),
                    Some(kind) => self.fail(kind, at, entries.len()),
                }
                return;
            }
            // Repair reads far ahead of the walk: a window that ended with what is read would hold
            // next to nothing, and all that is ahead is copied from window to window.
            let full = if self.repair.is_some() { at } else { filled };
            if full >= target && !entries.is_empty() {
                break;
            }
            if entries.is_empty() && at > filled / 2 {
                // Nothing points at the bytes walked so far: the rest, which is less, may move.
                bytes.copy_within(at..filled, 0);
                self.base += at as u64;
                filled -= at;
                at = 0;
            }
            // A length field is only believed as far as there are bytes to show for it.
            let wanted = (at + missing).min(filled + filled.max(READ_BYTES));
            let doubled = if filled < bytes.len() {
                0
            } else {
                (2 * filled).min(target)
            };
            grow(bytes, wanted.max(doubled).max(filled + 1));
            let room = bytes.len().min(filled + READ_BYTES);
            match self.read(&mut bytes[filled..room]) {
                // What is left is walked once more, as what nothing comes after.
                Ok(0) => end = Some(None),
                Ok(read) => filled += read,
                Err(kind) => end = Some(Some(kind)),
            }
        }
        self.carry.extend_from_slice(&bytes[at..filled]);
        self.base += at as u64;
        let records = entries.len();
        self.note_sizes(at, records);
    }

    /// So many records took so many bytes.
    fn note_sizes(&mut self, bytes: usize, records: usize) {
        self.record_bytes = bytes.checked_div(records).unwrap_or(0);
    }

    /// How many times as many bytes as asked for the next window has, by the records of the one before.
    fn stretch(&self) -> usize {
        (self.record_bytes / RECORD_BYTES).clamp(1, STRETCH_MAX)
    }

    fn read(&mut self, buf: &mut [u8]) -> Result<usize, CaptureErrorKind> {
        match self.read_failure.take() {
            Some(kind) => Err(kind),
            None => self.stream.read(buf),
        }
    }

    /// The file has ended, `have` bytes behind the last whole record.
    fn end(&mut self, have: usize, need: usize, at: usize, records: usize) {
        self.ended = true;
        let offset = self.base + at as u64;
        if let Some((before, now)) = self.stream.lost() {
            self.fail_at(offset, CaptureErrorKind::Shrank { before, now }, records);
            return;
        }
        let open = match &self.walker {
            Walker::Pcapng(walker) => walker.open_block(),
            Walker::Pcap(_) => None,
        };
        if let Some((walked, need)) = open {
            let have = walked + have as u64;
            self.fail_at(
                offset - walked,
                CaptureErrorKind::Truncated { have, need },
                records,
            );
        } else if have > 0 {
            let kind = CaptureErrorKind::Truncated {
                have: have as u64,
                need: need as u64,
            };
            self.fail_at(offset, kind, records);
        }
    }

    /// Reading stops `at` bytes into the window, after `records` of it.
    fn fail(&mut self, kind: CaptureErrorKind, at: usize, records: usize) {
        self.fail_at(self.base + at as u64, kind, records);
    }

    fn fail_at(&mut self, offset_bytes: u64, kind: CaptureErrorKind, records: usize) {
        self.ended = true;
        self.failure = Some(CaptureError {
            path: self.path.clone(),
            record_index: self.records + records as u64 + 1,
            offset_bytes,
            kind,
        });
    }
}

fn grow(bytes: &mut Vec<u8>, len: usize) {
    if bytes.len() < len {
        bytes.resize(len, 0);
    }
}

/// Tells the format by the first bytes of a file; also gives how many of them are its header.
pub(super) fn recognise(first: &[u8]) -> Result<(Walker, usize), CaptureErrorKind> {
    if first.is_empty() {
        return Err(CaptureErrorKind::Empty);
    }
    if let Some((walker, header_bytes)) = PcapWalker::recognise(first)? {
        return Ok((Walker::Pcap(walker), header_bytes));
    }
    if let Some(walker) = PcapngWalker::recognise(first)? {
        return Ok((Walker::Pcapng(walker), 0));
    }
    Err(CaptureErrorKind::NotACapture {
        first_bytes: first.iter().take(16).copied().collect(),
        looks_like: looks_like(first),
    })
}
