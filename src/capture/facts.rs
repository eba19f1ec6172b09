//! What is known of a capture file besides its records.

use std::fmt;
use std::path::PathBuf;

use super::{Compression, Gap, Window};
use crate::time::CaptureTime;

/// What to do where a snap length cut headers: room for all options of TCP behind IPv6 (114
/// bytes from Ethernet on), and for a tunnel's headers (70 of VXLAN over IPv6).
pub(crate) const SNAP_LEN_ADVICE: &str =
    "capture with a snap length of 128 or more, with tunnels of 192 or more";

/// What one file of a capture says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileFacts {
    /// The file as it was named; `-` for standard input.
    pub path: PathBuf,
    /// File format; `None` while (or because) the file could not be recognised.
    pub format: Option<CaptureFormat>,
    /// How the file is compressed; `None` for a plain file.
    pub compression: Option<Compression>,
    /// Byte order of the file; of the latest section in pcapng.
    pub byte_order: Option<ByteOrder>,
    /// Steps of the timestamps; the coarsest of all interfaces in pcapng. `None` in a file that
    /// describes no interface.
    pub resolution: Option<TimeResolution>,
    /// Snap length by the word of the file, in bytes; the smallest of all interfaces in pcapng.
    /// `None` where the file states none (0).
    pub snap_len: Option<u32>,
    /// Records read so far.
    pub records: u64,
    /// Records that say no time and have that of the record before, 0 where there is none: Simple Packet Blocks of pcapng.
    pub untimed_records: u64,
    /// Times of the first and of the latest record, in the order of the file.
    pub span: Option<(CaptureTime, CaptureTime)>,
    /// Packets that the interfaces dropped by their own count (`isb_ifdrop`), all interfaces and
    /// sections together; `None` where the file has no such count.
    pub interface_drops: Option<u64>,
    /// Packets that the operating system dropped (`isb_osdrop`), counted likewise.
    pub system_drops: Option<u64>,
    /// Packets dropped while capturing: of each interface both counts, or the sum of those that its packets have beside
    /// them (`epb_dropcount`, and the count of the obsolete Packet Block) where that is more.
    pub drops: Option<u64>,
    /// Places at which the file is damaged and was repaired, in order; at most 32 of them.
    pub gaps: Vec<Gap>,
    /// How many there are in all.
    pub gaps_total: u64,
    /// Bytes that were passed over at all of them.
    pub skipped_bytes: u64,
}

impl FileFacts {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            format: None,
            compression: None,
            byte_order: None,
            resolution: None,
            snap_len: None,
            records: 0,
            untimed_records: 0,
            span: None,
            interface_drops: None,
            system_drops: None,
            drops: None,
            gaps: Vec::new(),
            gaps_total: 0,
            skipped_bytes: 0,
        }
    }

    /// Takes note of what a window holds.
    pub(super) fn see(&mut self, window: &Window) {
        let Some(last) = window.len().checked_sub(1) else {
            return;
        };
        let at = |index| window.record(index).at;
        let first = self.span.map_or_else(|| at(0), |(first, _)| first);
        self.span = Some((first, at(last)));
    }
}

/// Two parts of a capture, read one after the other, that were not captured so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap<'a> {
    /// The part that was read first.
    pub before: &'a FileFacts,
    /// The part that begins before the other one ends.
    pub behind: &'a FileFacts,
    /// By how much, in ns.
    pub by_ns: i64,
}

impl<'a> Overlap<'a> {
    /// The largest overlap of the parts of a capture, in reading order; `None` where there is none but what the order
    /// of packets from several processors makes.
    #[must_use]
    pub fn largest(files: &'a [FileFacts]) -> Option<Self> {
        let mut latest: Option<(&FileFacts, CaptureTime)> = None;
        let mut largest: Option<Self> = None;
        for behind in files {
            let Some((first, last)) = behind.span else {
                continue;
            };
            if let Some((before, end)) = latest {
                let by_ns = end.since(first);
                if by_ns >= OVERLAP_MIN_NS && largest.as_ref().is_none_or(|most| by_ns > most.by_ns)
                {
                    largest = Some(Self {
                        before,
                        behind,
                        by_ns,
                    });
                }
            }
            if latest.is_none_or(|(_, end)| last > end) {
                latest = Some((behind, last));
            }
        }
        largest
    }
}

/// The least that is an overlap.
const OVERLAP_MIN_NS: i64 = 10_000_000;

/// A capture file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CaptureFormat {
    /// pcap, and pcap with nanosecond timestamps.
    Pcap,
    /// pcap with the longer record headers of Alexey Kuznetzov's patches of 1999, or of Nokia.
    PcapModified,
    /// pcap as AIX writes it: its own link types, nanoseconds under the microsecond magic.
    PcapAix,
    /// pcap as Ixia's "lcap" writes it: a file header of 28 bytes.
    PcapIxia,
    /// pcapng.
    Pcapng,
}

impl fmt::Display for CaptureFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pcap => "pcap",
            Self::PcapModified => "modified pcap",
            Self::PcapAix => "AIX pcap",
            Self::PcapIxia => "Ixia pcap",
            Self::Pcapng => "pcapng",
        })
    }
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The 16-bit number at `at`; `None` past the end of `bytes`.
    #[inline]
    pub(super) fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Self::Little => u16::from_le_bytes(field),
            Self::Big => u16::from_be_bytes(field),
        })
    }

    /// The 32-bit number at `at`; `None` past the end of `bytes`.
    #[inline]
    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        bytes.get(at..)?.first_chunk().map(|field| self.u32(*field))
    }

    /// The 64-bit number in `field`.
    pub(super) fn u64(self, field: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(field),
            Self::Big => u64::from_be_bytes(field),
        }
    }

    /// The 32-bit number in `field`.
    #[inline]
    pub(super) fn u32(self, field: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(field),
            Self::Big => u32::from_be_bytes(field),
        }
    }
}

/// Steps of a capture's timestamps, as a fraction of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeResolution {
    /// 10 to the minus this many seconds: 6 is microseconds.
    PowerOfTen(u8),
    /// 2 to the minus this many seconds.
    PowerOfTwo(u8),
}

impl TimeResolution {
    /// Microseconds, the default of both formats.
    pub const MICROSECONDS: Self = Self::PowerOfTen(6);
    /// Nanoseconds.
    pub const NANOSECONDS: Self = Self::PowerOfTen(9);

    /// Length of one step, in nanoseconds; below 1 when finer than a nanosecond.
    #[must_use]
    pub fn step_ns(self) -> f64 {
        match self {
            Self::PowerOfTen(digits) => 1e9 / 10f64.powi(i32::from(digits)),
            Self::PowerOfTwo(bits) => 1e9 / 2f64.powi(i32::from(bits)),
        }
    }
}

impl fmt::Display for TimeResolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PowerOfTen(0) | Self::PowerOfTwo(0) => f.write_str("s"),
            Self::PowerOfTen(3) => f.write_str("ms"),
            Self::PowerOfTen(6) => f.write_str("us"),
            Self::PowerOfTen(9) => f.write_str("ns"),
            Self::PowerOfTen(12) => f.write_str("ps"),
            Self::PowerOfTen(digits) => write!(f, "10^-{digits} s"),
            Self::PowerOfTwo(bits) => write!(f, "2^-{bits} s"),
        }
    }
}
