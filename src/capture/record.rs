//! What a capture file holds: records, and windows of them.

use std::ops::Range;

use super::mapped::View;
use crate::prefetch::prefetch_behind;
use crate::time::CaptureTime;

/// Records ahead of the one that is looked at: what takes as long as to fetch one.
const AHEAD: usize = 8;

/// Bytes from the start of a packet to the end of its headers, mostly.
const HEADERS_BYTES: usize = 64;

/// A link-layer header type, as numbered by the pcap link-type registry (`LINKTYPE_*`).
///
/// Values that some systems write as `DLT_*` (raw IP as 12 or 14, for one) are kept as they stand
/// in the file; decoding knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// An Ethernet header.
    pub const ETHERNET: Self = Self(1);

    /// The IP header, of either version: what tunnels and programs that make packets have.
    pub const RAW_IP: Self = Self(101);
}

/// One packet as the capture file holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Number of the record in its file, from 1, as Wireshark's `frame.number` (which also counts
    /// the custom blocks of a pcapng file, entries of a journal and events of sysdig, if it has any:
    /// they hold no packets).
    pub frame: u64,
    /// When it was captured.
    pub at: CaptureTime,
    /// What its bytes begin with.
    pub link: LinkType,
    /// The captured bytes: the packet, or its beginning when the snap length cut it.
    pub bytes: &'a [u8],
    /// Length of the packet on the wire, in bytes, by the word of the capture file.
    pub original_len: u32,
}

/// Where a record lies in the bytes of its window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) at: CaptureTime,
    pub(super) start: u32,
    pub(super) captured_len: u32,
    pub(super) original_len: u32,
    pub(super) link: LinkType,
}

/// A run of whole records that follow each other in one file; it borrows from nobody, so that it can
/// be handed to other threads, and is reused, so that reading a file allocates only at its start.
///
/// Where the file is mapped, the records are those of the file itself. Should it get shorter in the
/// meantime, some of them turn to zeros: [`CaptureReader::confirm`](super::CaptureReader::confirm)
/// tells.
#[derive(Debug, Default)]
pub struct Window {
    /// Where the records lie, in a file that is mapped.
    pub(super) view: Option<View>,
    /// Read into directly, so it only ever grows: beyond the last entry lie bytes of no meaning.
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    pub(super) first_frame: u64,
    pub(super) file: usize,
}

impl Window {
    /// An empty window, to be filled by [`CaptureReader::read_window`](super::CaptureReader::read_window).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.view = None;
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.view {
            Some(view) => view.bytes(),
            None => &self.bytes,
        }
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Index of the file, among those read as one capture, that the records are from.
    #[must_use]
    pub fn file(&self) -> usize {
        self.file
    }

    /// The records at `indices`, which must be less than [`len`](Self::len).
    ///
    /// # Panics
    /// When they are out of range, as slice indexing does.
    pub fn records(&self, indices: Range<usize>) -> impl Iterator<Item = Record<'_>> {
        let bytes = self.bytes();
        let first_frame = self.first_frame + indices.start as u64;
        let entries = &self.entries[indices];
        entries.iter().enumerate().map(move |(index, entry)| {
            if let Some(soon) = entries.get(index + AHEAD) {
                prefetch_behind(bytes, soon.start as usize);
                prefetch_behind(bytes, soon.start as usize + HEADERS_BYTES);
            }
            entry.record(bytes, first_frame + index as u64)
        })
    }

    /// All its records, in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = Record<'_>> {
        self.records(0..self.len())
    }

    /// The record at `index`, which must be less than [`len`](Self::len).
    ///
    /// # Panics
    /// When `index` is out of range, as slice indexing does.
    #[inline]
    #[must_use]
    pub fn record(&self, index: usize) -> Record<'_> {
        self.entries[index].record(self.bytes(), self.first_frame + index as u64)
    }
}

impl Entry {
    /// The record, whose frame has this number, in the bytes of its window.
    #[inline]
    fn record<'a>(&self, bytes: &'a [u8], frame: u64) -> Record<'a> {
        let start = self.start as usize;
        Record {
            frame,
            at: self.at,
            link: self.link,
            bytes: &bytes[start..start + self.captured_len as usize],
            original_len: self.original_len,
        }
    }
}
