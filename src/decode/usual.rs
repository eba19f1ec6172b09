//! The usual packet: IPv4 without options right behind a header of Ethernet or of another common link,
//! TCP with the options that established connections use. Nearly all records are one, and they are
//! decoded here in one step.
//!
//! Whatever is not quite so is left to the general way, layer by layer; what both can decode they
//! decode to the same, which the tests hold them to.

#[cfg(test)]
mod tests;

use super::plain::is_plain;
use super::segment::{Ecn, Endpoint, SackBlocks, Segment, SynOptions, TcpFlags, Timestamps};
use crate::capture::Record;
use crate::seq::Seq;
use crate::time::CaptureTime;

/// IPv4 and TCP without options, in bytes.
const HEADERS_LEN: usize = (IP_LEN + TCP_LEN) as usize;
/// The same with Ethernet's.
const ETHERNET_HEADERS_LEN: usize = 14 + HEADERS_LEN;
const IP_LEN: u16 = 20;
const TCP_LEN: u16 = 20;
/// Two no-operations and the timestamps option, as one word (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 0x0101_080a;
/// Two no-operations and the SACK option but for its length (RFC 2018 section 3).
const SACK: u32 = 0x0101_0500;

/// A segment between IPv4 hosts that has nothing but what established connections send, in as few
/// words as that takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usual {
    pub(crate) at: CaptureTime,
    /// Sender's in the upper half, receiver's in the lower: ports too.
    pub(crate) addresses: u64,
    /// Sequence number in the upper half, acknowledgement number in the lower.
    pub(crate) numbers: u64,
    /// `TSval` in the upper half, `TSecr` in the lower; meaningless without [`TIMESTAMPS`](Self::TIMESTAMPS).
    pub(crate) timestamps: u64,
    pub(crate) ports: u32,
    pub(crate) ip_len: u16,
    pub(crate) ip_id: u16,
    pub(crate) payload_len: u16,
    pub(crate) window: u16,
    /// TCP's flags, and those below.
    pub(crate) bits: u16,
}

impl Usual {
    const FLAGS: u16 = 0x1ff;
    /// The two of ECN in the IP header.
    const ECN_SHIFT: u16 = 9;
    pub(crate) const IP_ID: u16 = 1 << 11;
    pub(crate) const TIMESTAMPS: u16 = 1 << 12;

    /// All of a segment but its position in the capture and its SACK blocks; `None` where it has
    /// anything else.
    pub(crate) fn of(segment: &Segment) -> Option<Self> {
        let (addresses, ports) = Self::pack_ends(&segment.src, &segment.dst)?;
        let is_usual = segment.flags.0 & !Self::FLAGS == 0
            && segment.ip_packets == 1
            && segment.syn == SynOptions::default()
            && !segment.length_from_frame
            && !segment.header_cut;
        let mut bits = segment.flags.0 | (segment.ecn as u16) << Self::ECN_SHIFT;
        if segment.ip_id.is_some() {
            bits |= Self::IP_ID;
        }
        if segment.timestamps.is_some() {
            bits |= Self::TIMESTAMPS;
        }
        is_usual.then_some(Self {
            at: segment.at,
            addresses,
            numbers: two(segment.seq.0, segment.ack.0),
            timestamps: segment.timestamps.map_or(0, |ts| two(ts.value, ts.echo)),
            ports,
            ip_len: u16::try_from(segment.ip_len).ok()?,
            ip_id: segment.ip_id.unwrap_or(0),
            payload_len: u16::try_from(segment.payload_len).ok()?,
            window: segment.window,
            bits,
        })
    }

    /// Addresses and ports of two ends; `None` where they are not both IPv4.
    #[inline]
    pub(crate) fn pack_ends(src: &Endpoint, dst: &Endpoint) -> Option<(u64, u32)> {
        let addresses = two(src.v4_address()?, dst.v4_address()?);
        Some((
            addresses,
            u32::from(src.port()) << 16 | u32::from(dst.port()),
        ))
    }

    /// Sender's address and port, and the receiver's.
    #[inline]
    pub(crate) fn v4_ends(&self) -> [(u32, u16); 2] {
        [
            ((self.addresses >> 32) as u32, (self.ports >> 16) as u16),
            (self.addresses as u32, self.ports as u16),
        ]
    }

    /// Sender and receiver.
    #[inline]
    pub(crate) fn ends(&self) -> (Endpoint, Endpoint) {
        let [src, dst] = self
            .v4_ends()
            .map(|(address, port)| Endpoint::v4(address.to_be_bytes(), port));
        (src, dst)
    }

    #[inline]
    pub(crate) fn seq(&self) -> Seq {
        Seq((self.numbers >> 32) as u32)
    }

    #[inline]
    pub(crate) fn ack(&self) -> Seq {
        Seq(self.numbers as u32)
    }

    /// The timestamps, whether they count or not.
    #[inline]
    pub(crate) fn any_timestamps(&self) -> Timestamps {
        Timestamps {
            value: (self.timestamps >> 32) as u32,
            echo: self.timestamps as u32,
        }
    }

    pub(crate) const NOTHING: Self = Self {
        at: CaptureTime::from_ns(0),
        addresses: 0,
        numbers: 0,
        timestamps: 0,
        ports: 0,
        ip_len: 0,
        ip_id: 0,
        payload_len: 0,
        window: 0,
        bits: 0,
    };

    /// Nothing but an instant and flags.
    pub(crate) fn nothing(at: CaptureTime, flags: TcpFlags) -> Self {
        Self {
            at,
            bits: flags.0 & Self::FLAGS,
            ..Self::NOTHING
        }
    }

    #[inline]
    pub(crate) fn flags(&self) -> TcpFlags {
        TcpFlags(self.bits & Self::FLAGS)
    }

    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.bits >> Self::ECN_SHIFT) as u8)
    }

    /// Whether one of those bits is set.
    #[inline]
    pub(crate) fn has(&self, bit: u16) -> bool {
        self.bits & bit != 0
    }

    /// The segment, at its position in the capture and with its SACK blocks.
    pub(crate) fn segment(&self, ordinal: u64, sack: Option<&SackBlocks>) -> Segment {
        let (src, dst) = self.ends();
        Segment {
            at: self.at,
            ordinal,
            seq: self.seq(),
            ack: self.ack(),
            flags: self.flags(),
            window: self.window,
            payload_len: u32::from(self.payload_len),
            ip_len: u32::from(self.ip_len),
            ip_id: self.ip_id(),
            ecn: self.ecn(),
            timestamps: self.timestamps(),
            sack: sack.copied().unwrap_or_default(),
            ..Segment::empty(src, dst)
        }
    }

    /// Whether it is plain, as only those are whose flags and window say so.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        is_plain(self.flags(), self.window)
    }

    #[inline]
    pub(crate) fn ip_id(&self) -> Option<u16> {
        self.has(Self::IP_ID).then_some(self.ip_id)
    }

    #[inline]
    pub(crate) fn timestamps(&self) -> Option<Timestamps> {
        self.has(Self::TIMESTAMPS).then(|| self.any_timestamps())
    }
}

#[inline]
fn two(upper: u32, lower: u32) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

/// The segment of a usual packet right behind a header of Ethernet; `None` when it takes the general way,
/// [`decode`](super::decode), to tell.
#[inline]
#[must_use]
pub fn usual(record: &Record<'_>, ordinal: u64) -> Option<Segment> {
    let mut usual = Usual::NOTHING;
    let blocks = usual.fill(record)?;
    Some(usual.segment_with(ordinal, blocks))
}

/// The same, also behind the header of any other link that announces IPv4 at a known place, and with options in any
/// order.
#[inline(never)]
pub(crate) fn nearly_usual(record: &Record<'_>, ordinal: u64) -> Option<Segment> {
    let (head, behind) = packet_of(record)?.split_first_chunk::<HEADERS_LEN>()?;
    if head[0] != 0x45 {
        return None;
    }
    let mut usual = Usual::NOTHING;
    let blocks = usual.fill_from(record.at, head, behind, options_one_by_one)?;
    Some(usual.segment_with(ordinal, blocks))
}

impl Usual {
    /// Becomes the segment of a usual packet right behind a header of Ethernet, with options laid out as nearly every
    /// system does, and gives its SACK blocks as they stand; `None` when it takes more looking to tell what the record
    /// is, and then what is here means nothing.
    // Each field is written as soon as it is read: kept until all is known to be usual, they are more than there are
    // registers.
    #[inline(always)]
    pub(crate) fn fill<'a>(&mut self, record: &Record<'a>) -> Option<&'a [[u8; 8]]> {
        let (head, behind) = record.bytes.split_first_chunk::<ETHERNET_HEADERS_LEN>()?;
        // Ether type, version and header length in one word.
        let ipv4 = u32_at(head, 12) & 0xffff_ff00 == 0x0800_4500;
        if !(record.link.0 == 1 && ipv4) {
            return None;
        }
        self.fill_from(record.at, head.last_chunk()?, behind, options)
    }

    /// The same of the headers of IPv4, without options, and TCP.
    #[inline(always)]
    fn fill_from<'a>(
        &mut self,
        at: CaptureTime,
        head: &[u8; HEADERS_LEN],
        behind: &'a [u8],
        options: impl Fn(&'a [u8]) -> Option<(FoundTimestamps, &'a [[u8; 8]])>,
    ) -> Option<&'a [[u8; 8]]> {
        // Whole, and TCP.
        let fragment = u16_at(head, 6) & 0x3fff != 0;
        if fragment || head[9] != super::ip::TCP {
            return None;
        }
        let u64_at = |at: usize| two(u32_at(head, at), u32_at(head, at + 4));
        self.at = at;
        self.addresses = u64_at(12);
        self.ports = u32_at(head, 20);
        self.numbers = u64_at(24);
        self.ip_id = u16_at(head, 4);
        self.window = u16_at(head, 34);
        self.ip_len = u16_at(head, 2);
        // Nine bits of flags below four of the header's length in words.
        let flags = u16_at(head, 32);
        let header_len = (flags >> 12) * 4;
        let options_len = header_len.checked_sub(TCP_LEN)?;
        self.payload_len = self.ip_len.checked_sub(IP_LEN + header_len)?;
        let flags = flags & Self::FLAGS;
        // What comes with an RST is no payload.
        if flags & TcpFlags::SYN.with(TcpFlags::RST).0 != 0
            && (self.payload_len > 0 || flags & TcpFlags::SYN.0 != 0)
        {
            return None;
        }
        let (timestamps, blocks) = options(behind.get(..usize::from(options_len))?)?;
        self.timestamps = timestamps.both;
        let ecn = u16::from(head[1] & 3) << Self::ECN_SHIFT;
        self.bits = flags | ecn | Self::IP_ID | timestamps.bit;
        Some(blocks)
    }

    /// The segment, at its position in the capture and with these SACK blocks.
    fn segment_with(&self, ordinal: u64, blocks: &[[u8; 8]]) -> Segment {
        let mut sack = SackBlocks::default();
        sack.put(blocks);
        self.segment(ordinal, Some(&sack))
    }
}

/// What comes behind the header of a link that is known to announce IPv4: Ethernet, also with VLAN tags, PPP, what
/// Linux writes for any interface, loopback, nothing at all. The numbers are [`link`](super::link)'s.
fn packet_of<'a>(record: &Record<'a>) -> Option<&'a [u8]> {
    match (record.link.0, record.bytes) {
        (1, bytes) => match bytes.get(12..)? {
            [0x08, 0x00, packet @ ..]
            | [0x81, 0x00, _, _, 0x08, 0x00, packet @ ..]
            | [0x88, 0xa8, _, _, 0x81, 0x00, _, _, 0x08, 0x00, packet @ ..] => Some(packet),
            _ => None,
        },
        (9, [0x00, 0x21, packet @ ..] | [0xff, 0x03, 0x00, 0x21, packet @ ..])
        | (0 | 108, [2, 0, 0, 0, packet @ ..] | [0, 0, 0, 2, packet @ ..])
        | (12 | 14 | 101 | 228, packet) => Some(packet),
        (113, [_, _, h0, h1, behind @ ..]) if is_of_wires([*h0, *h1]) => {
            behind.get(10..)?.strip_prefix(&[0x08, 0x00])
        }
        (276, [0x08, 0x00, _, _, _, _, _, _, h0, h1, behind @ ..]) if is_of_wires([*h0, *h1]) => {
            behind.get(10..)
        }
        _ => None,
    }
}

/// Whether a hardware type of Linux is Ethernet, loopback or none, so that the protocol is an ether type.
fn is_of_wires(hardware: [u8; 2]) -> bool {
    matches!(u16::from_be_bytes(hardware), 1 | 772 | 65534)
}

#[inline]
fn u16_at<const N: usize>(head: &[u8; N], at: usize) -> u16 {
    u16::from_be_bytes([head[at], head[at + 1]])
}

#[inline]
fn u32_at<const N: usize>(head: &[u8; N], at: usize) -> u32 {
    u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

/// Timestamps as in [`Usual`], and the bit that says whether there are any: an `Option` takes a branch to get out of.
#[derive(Clone, Copy, Default)]
struct FoundTimestamps {
    both: u64,
    bit: u16,
}

/// Timestamps, SACK, both or none, laid out as nearly every system does; `None` when there is more to it.
#[inline]
fn options(options: &[u8]) -> Option<(FoundTimestamps, &[[u8; 8]])> {
    let (timestamps, others) = match options.split_first_chunk::<12>() {
        Some((&[k0, k1, k2, k3, v0, v1, v2, v3, e0, e1, e2, e3], others))
            if u32::from_be_bytes([k0, k1, k2, k3]) == TIMESTAMPS =>
        {
            let found = FoundTimestamps {
                both: u64::from_be_bytes([v0, v1, v2, v3, e0, e1, e2, e3]),
                bit: Usual::TIMESTAMPS,
            };
            (found, others)
        }
        _ => (FoundTimestamps::default(), options),
    };
    if others.is_empty() {
        return Some((timestamps, &[]));
    }
    let (&[k0, k1, k2, len], blocks) = others.split_first_chunk::<4>()?;
    let says_sack = u32::from_be_bytes([k0, k1, k2, 0]) == SACK;
    let (blocks, odd) = blocks.as_chunks::<8>();
    let is_all = usize::from(len) == 2 + 8 * blocks.len() && odd.is_empty();
    (says_sack && is_all && !blocks.is_empty()).then_some((timestamps, blocks))
}

/// The same, wherever they begin: simulated hosts put what fills the last word behind.
fn options_one_by_one(mut options: &[u8]) -> Option<(FoundTimestamps, &[[u8; 8]])> {
    let (mut timestamps, mut blocks) = (FoundTimestamps::default(), [].as_slice());
    loop {
        options = match *options {
            [] | [0, ..] => return Some((timestamps, blocks)),
            [1, ref behind @ ..] => behind,
            [8, 10, v0, v1, v2, v3, e0, e1, e2, e3, ref behind @ ..] => {
                timestamps.both = u64::from_be_bytes([v0, v1, v2, v3, e0, e1, e2, e3]);
                timestamps.bit = Usual::TIMESTAMPS;
                behind
            }
            [5, len @ (10 | 18 | 26 | 34), ref behind @ ..] if blocks.is_empty() => {
                let (value, behind) = behind.split_at_checked(usize::from(len) - 2)?;
                blocks = value.as_chunks::<8>().0;
                behind
            }
            _ => return None,
        };
    }
}
