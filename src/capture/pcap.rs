//! pcap: one file header, then records.
//!
//! Layout after `draft-ietf-opsawg-pcap`; the oddities of old writers after libpcap's `sf-pcap.c`
//! and Wireshark's `wiretap/libpcap.c`. As in both, the time zone of the file header is ignored:
//! timestamps are UTC, whatever it says.

use pcap_parser::pcap::{parse_pcap_frame_modified, parse_pcap_header};
use pcap_parser::{BOM_MAGIC, LegacyPcapBlock, PcapHeader, SHB_MAGIC};

use super::clock::pcap_time;
use super::error::CaptureErrorKind;
use super::facts::{ByteOrder, CaptureFormat, FileFacts, TimeResolution};
use super::lanes::{Lanes, walk_to};
use super::record::{Entry, LinkType};
use super::starts::pcap_record;
use super::{RECORD_BYTES_MAX, variant};

const FILE_HEADER_BYTES: usize = 24;

/// File header of Ixia's variants: four bytes more, the total length of the records.
const IXIA_HEADER_BYTES: usize = 28;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const MODIFIED: u32 = 0xa1b2_cd34;
const IXIA_HARDWARE: u32 = 0x1c00_01ac;
const IXIA_SOFTWARE: u32 = 0x1c00_01ab;
const MAGICS: [u32; 5] = [
    MICROSECONDS,
    NANOSECONDS,
    MODIFIED,
    IXIA_HARDWARE,
    IXIA_SOFTWARE,
];

/// Bits of the link type field that are 0 in every file that tcpdump or Wireshark would read.
const LINK_RESERVED: u32 = 0x0bff_0000;

/// Walks the records of one pcap file.
#[derive(Clone, Debug)]
pub(super) struct PcapWalker {
    format: CaptureFormat,
    shape: Shape,
    link: LinkType,
    snap_len: u32,
}

/// How records of a file are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) order: ByteOrder,
    /// 16, or more in the modified formats: what follows the lengths is of no use here.
    pub(super) header_bytes: usize,
    pub(super) lengths: LengthOrder,
    pub(super) ns_per_unit: i64,
}

/// Which of a record's two lengths comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthOrder {
    CapturedFirst,
    /// Before version 2.3.
    OriginalFirst,
    /// Version 2.3 was written both ways: the captured length is the smaller one.
    SmallerIsCaptured,
}

/// The header of one record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) seconds: u32,
    pub(super) fraction: u32,
    pub(super) captured_len: u32,
    pub(super) original_len: u32,
}

impl Header {
    /// Nothing but zeros: no record, but a part of the file that was never written.
    fn is_hole(self) -> bool {
        self.seconds | self.fraction | self.captured_len | self.original_len == 0
    }

    #[cold]
    #[inline(never)]
    fn is_empty_record(self) -> bool {
        self.captured_len == 0 && !self.is_no_record()
    }

    /// Whether nobody wrote this as the header of a record.
    pub(super) fn is_no_record(self) -> bool {
        self.is_hole() || self.is_file_header()
    }

    /// Whether this is where another file begins: of pcap its magic, version 2.4, and a time zone of 0; of pcapng the
    /// type of its first block, and what tells that one's byte order. Either may be in the other byte order.
    #[cold]
    fn is_file_header(self) -> bool {
        let either =
            |word: u32, known: &[u32]| known.contains(&word) || known.contains(&word.swap_bytes());
        let is_pcap = either(self.seconds, &MAGICS)
            && either(self.fraction, &[0x0004_0002, 0x0002_0004])
            && self.captured_len == 0;
        is_pcap || self.seconds == SHB_MAGIC && either(self.captured_len, &[BOM_MAGIC])
    }
}

impl Shape {
    /// The first fraction that makes up a second.
    pub(super) fn fraction_end(self) -> u32 {
        if self.ns_per_unit == 1 {
            1_000_000_000
        } else {
            1_000_000
        }
    }

    /// The record header that `bytes` begin with; `None` when they are too few.
    pub(super) fn header(self, bytes: &[u8]) -> Option<Header> {
        let fields: &[u8; 16] = bytes.get(..self.header_bytes)?.first_chunk()?;
        let field = |at| self.order.u32_at(fields, at);
        let (seconds, fraction, first, second) = (field(0)?, field(4)?, field(8)?, field(12)?);
        let swapped = match self.lengths {
            LengthOrder::CapturedFirst => false,
            LengthOrder::OriginalFirst => true,
            LengthOrder::SmallerIsCaptured => first > second,
        };
        let (captured_len, original_len) = if swapped {
            (second, first)
        } else {
            (first, second)
        };
        Some(Header {
            seconds,
            fraction,
            captured_len,
            original_len,
        })
    }

    /// The record header that `bytes` begin with, if the whole record is there.
    fn whole(self, bytes: &[u8]) -> Option<Header> {
        let header = self.header(bytes)?;
        let room = bytes.len() - self.header_bytes;
        (header.captured_len as usize <= room).then_some(header)
    }
}

/// The header of a record in the standard layout, if the whole record is there. By hand, since it
/// is read for nearly every record there is; the tests compare it with the library's.
#[inline]
fn standard(bytes: &[u8], word: impl Fn([u8; 4]) -> u32) -> Option<Header> {
    let (fields, behind) = bytes.split_first_chunk::<16>()?;
    let (words, _) = fields.as_chunks::<4>();
    let &[seconds, fraction, captured_len, original_len] = words else {
        return None;
    };
    let header = Header {
        seconds: word(seconds),
        fraction: word(fraction),
        captured_len: word(captured_len),
        original_len: word(original_len),
    };
    (header.captured_len as usize <= behind.len()).then_some(header)
}

impl From<LegacyPcapBlock<'_>> for Header {
    #[inline]
    fn from(block: LegacyPcapBlock<'_>) -> Self {
        Self {
            seconds: block.ts_sec,
            fraction: block.ts_usec,
            captured_len: block.caplen,
            original_len: block.origlen,
        }
    }
}

impl PcapWalker {
    /// Reads the file header; also gives its length. `None` when the file is not pcap.
    pub(super) fn recognise(first: &[u8]) -> Result<Option<(Self, usize)>, CaptureErrorKind> {
        let Some(magic) = first.first_chunk() else {
            return if begins_like_pcap(first) {
                Err(truncated(first, FILE_HEADER_BYTES))
            } else {
                Ok(None)
            };
        };
        let in_order = |order: ByteOrder| {
            let magic = order.u32(*magic);
            MAGICS.contains(&magic).then_some((order, magic))
        };
        let Some((order, magic)) = in_order(ByteOrder::Little).or_else(|| in_order(ByteOrder::Big))
        else {
            return Ok(None);
        };
        let header_bytes = match magic {
            IXIA_HARDWARE | IXIA_SOFTWARE => IXIA_HEADER_BYTES,
            _ => FILE_HEADER_BYTES,
        };
        let Some((header, records)) = first.split_at_checked(header_bytes) else {
            return Err(truncated(first, header_bytes));
        };
        let header = read_file_header(header, order)?;
        Self::new(magic, order, &header, records).map(|walker| Some((walker, header_bytes)))
    }

    fn new(
        magic: u32,
        order: ByteOrder,
        header: &PcapHeader,
        records: &[u8],
    ) -> Result<Self, CaptureErrorKind> {
        let version = (header.version_major, header.version_minor);
        let lengths = match version {
            // 543.0 is what tcpdump of DG/UX writes.
            (2, 0..=2) | (543, 0) => LengthOrder::OriginalFirst,
            (2, 3) => LengthOrder::SmallerIsCaptured,
            (2, 4) => LengthOrder::CapturedFirst,
            (major, minor) => {
                let format = CaptureFormat::Pcap;
                return Err(CaptureErrorKind::UnsupportedVersion {
                    format,
                    major,
                    minor,
                });
            }
        };
        // The upper 16 bits tell whether frames carry a check sequence (bit 26) and its length
        // (bits 28 to 31, in 16-bit words). Lengths come from IP headers here, so it is ignored.
        let field = header.network.0.cast_unsigned();
        if field & LINK_RESERVED != 0 {
            return Err(CaptureErrorKind::BadLinkType(field));
        }
        let mut link = (field & 0xffff) as u16;
        let mut ns_per_unit = match magic {
            NANOSECONDS | IXIA_HARDWARE => 1,
            _ => 1_000,
        };
        let mut format = match magic {
            MODIFIED => CaptureFormat::PcapModified,
            IXIA_HARDWARE | IXIA_SOFTWARE => CaptureFormat::PcapIxia,
            _ => CaptureFormat::Pcap,
        };
        if magic == MICROSECONDS
            && version == (2, 2)
            && let Some(aix_link) = link_of_aix(link)
        {
            format = CaptureFormat::PcapAix;
            link = aix_link;
            ns_per_unit = 1;
        }
        let mut shape = Shape {
            order,
            header_bytes: 16,
            lengths,
            ns_per_unit,
        };
        let variants: &[usize] = match (magic, version) {
            (MODIFIED, _) => &variant::MODIFIED_HEADER_BYTES,
            (MICROSECONDS, (2, 4)) => &variant::STANDARD_HEADER_BYTES,
            _ => &[16],
        };
        shape.header_bytes = variant::header_bytes(shape, variants, header.snaplen, records);
        if shape.header_bytes != 16 {
            format = CaptureFormat::PcapModified;
        } else if variant::holds_nanoseconds(shape, header.snaplen, records) {
            shape.ns_per_unit = 1;
        }
        Ok(Self {
            format,
            shape,
            link: LinkType(link),
            snap_len: header.snaplen,
        })
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Snap length by the word of the file, in bytes.
    pub(super) fn snap_len(&self) -> u32 {
        self.snap_len
    }

    /// The record whose bytes begin at `start` of a window.
    #[inline]
    pub(super) fn entry(&self, header: Header, start: usize) -> Entry {
        Entry {
            at: pcap_time(header.seconds, header.fraction, self.shape.ns_per_unit),
            start: start as u32,
            captured_len: header.captured_len,
            original_len: header.original_len,
            link: self.link,
        }
    }

    /// See `Walker::walk`.
    pub(super) fn walk(
        &self,
        bytes: &[u8],
        at: &mut usize,
        entries: &mut Vec<Entry>,
        lanes: Option<&mut Lanes>,
    ) -> Result<usize, CaptureErrorKind> {
        let shape = self.shape;
        match (shape.order, shape.header_bytes, shape.lengths) {
            (ByteOrder::Little, 16, LengthOrder::CapturedFirst) => self.walk_by(
                |rest| standard(rest, u32::from_le_bytes),
                (bytes, at),
                entries,
                lanes,
            ),
            (ByteOrder::Big, 16, LengthOrder::CapturedFirst) => self.walk_by(
                |rest| standard(rest, u32::from_be_bytes),
                (bytes, at),
                entries,
                lanes,
            ),
            (ByteOrder::Little, 24, LengthOrder::CapturedFirst) => self.walk_by(
                |rest| {
                    parse_pcap_frame_modified(rest)
                        .ok()
                        .map(|(_, block)| block.into())
                },
                (bytes, at),
                entries,
                lanes,
            ),
            _ => self.walk_by(|rest| shape.whole(rest), (bytes, at), entries, lanes),
        }
    }

    #[inline]
    fn walk_by(
        &self,
        whole: impl Fn(&[u8]) -> Option<Header>,
        (bytes, at): (&[u8], &mut usize),
        entries: &mut Vec<Entry>,
        lanes: Option<&mut Lanes>,
    ) -> Result<usize, CaptureErrorKind> {
        let header_bytes = self.shape.header_bytes;
        let step = |bytes: &[u8], at: usize| {
            let header = bytes.get(at..).and_then(&whole)?;
            if header.captured_len.wrapping_sub(1) >= RECORD_BYTES_MAX && !header.is_empty_record()
            {
                return None;
            }
            let start = at + header_bytes;
            let entry = self.entry(header, start);
            Some((entry, start + header.captured_len as usize))
        };
        match lanes {
            Some(lanes) => {
                let first = bytes.get(*at..).and_then(|rest| self.shape.header(rest));
                let seconds = first.map(|header| header.seconds);
                let guess = |from| pcap_record(self.shape, bytes, from, seconds?);
                lanes.walk(guess, |next| next, (bytes, at), entries, step);
            }
            None => walk_to(usize::MAX, (bytes, at), entries, &step),
        }
        match bytes.get(*at..).and_then(|rest| self.shape.header(rest)) {
            None => Ok(header_bytes),
            Some(header) if header.is_hole() => Err(CaptureErrorKind::Hole),
            Some(header) if header.is_file_header() => Err(CaptureErrorKind::AnotherCapture),
            Some(header) if header.captured_len > RECORD_BYTES_MAX => {
                Err(CaptureErrorKind::RecordTooLong {
                    length_bytes: header.captured_len.into(),
                })
            }
            Some(header) => Ok(header_bytes + header.captured_len as usize),
        }
    }

    pub(super) fn describe(&self, facts: &mut FileFacts) {
        facts.format = Some(self.format);
        facts.byte_order = Some(self.shape.order);
        facts.resolution = Some(match self.shape.ns_per_unit {
            1 => TimeResolution::NANOSECONDS,
            _ => TimeResolution::MICROSECONDS,
        });
        facts.snap_len = (self.snap_len > 0).then_some(self.snap_len);
    }
}

/// Reads the fields, whichever of the magics stands before them: the library knows three.
fn read_file_header(bytes: &[u8], order: ByteOrder) -> Result<PcapHeader, CaptureErrorKind> {
    let mut plain = [0; FILE_HEADER_BYTES];
    for (to, from) in plain.iter_mut().zip(bytes) {
        *to = *from;
    }
    let magic = match order {
        ByteOrder::Little => MICROSECONDS.to_le_bytes(),
        ByteOrder::Big => MICROSECONDS.to_be_bytes(),
    };
    plain[..4].copy_from_slice(&magic);
    match parse_pcap_header(&plain) {
        Ok((_, header)) => Ok(header),
        Err(_) => Err(truncated(bytes, FILE_HEADER_BYTES)),
    }
}

/// Whether a file begins here, by its magic, version 2.4, and a time zone of 0.
#[cold]
pub(super) fn begins_file(bytes: &[u8]) -> bool {
    let &[a, b, c, d, 0 | 2, 0 | 2, 0 | 4, 0 | 4, 0, 0, 0, 0, ..] = bytes else {
        return false;
    };
    let magic = u32::from_le_bytes([a, b, c, d]);
    MAGICS.contains(&magic) || MAGICS.contains(&magic.swap_bytes())
}

fn begins_like_pcap(first: &[u8]) -> bool {
    MAGICS.iter().any(|magic| {
        magic.to_le_bytes().starts_with(first) || magic.to_be_bytes().starts_with(first)
    })
}

/// AIX writes interface types (`ifType` of RFC 1573) where others write link types.
fn link_of_aix(interface_type: u16) -> Option<u16> {
    match interface_type {
        6 => Some(1),
        9 => Some(6),
        15 => Some(10),
        24 => Some(0),
        _ => None,
    }
}

fn truncated(first: &[u8], need: usize) -> CaptureErrorKind {
    CaptureErrorKind::Truncated {
        have: first.len() as u64,
        need: need as u64,
    }
}

#[cfg(test)]
mod tests {
    use pcap_parser::pcap::{parse_pcap_frame, parse_pcap_frame_be};
    use proptest::prelude::*;

    use super::*;

    fn fields(header: Option<Header>) -> Option<[u32; 4]> {
        header.map(|header| {
            [
                header.seconds,
                header.fraction,
                header.captured_len,
                header.original_len,
            ]
        })
    }

    proptest! {
        #[test]
        fn a_standard_header_is_what_the_library_reads(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..64),
            captured_len in 0_u8..64,
            big: bool,
        ) {
            if let Some(len) = bytes.get_mut(8..12) {
                len.copy_from_slice(&if big {
                    u32::from(captured_len).to_be_bytes()
                } else {
                    u32::from(captured_len).to_le_bytes()
                });
            }
            let (found, expected) = if big {
                (standard(&bytes, u32::from_be_bytes), parse_pcap_frame_be(&bytes))
            } else {
                (standard(&bytes, u32::from_le_bytes), parse_pcap_frame(&bytes))
            };
            let expected = expected.ok().map(|(_, block)| Header::from(block));
            prop_assert_eq!(fields(found), fields(expected));
        }
    }
}
