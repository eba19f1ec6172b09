//! One TCP segment, as far as the headers tell.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU16;
use std::str::FromStr;

use crate::seq::Seq;
use crate::time::CaptureTime;

/// An address and a port. IPv4 addresses are held as IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Endpoint {
    octets: [u8; 16],
    port: u16,
}

impl Endpoint {
    /// The endpoint at `port` of an IPv4 host.
    #[inline]
    #[must_use]
    pub fn v4(address: [u8; 4], port: u16) -> Self {
        // By arithmetic, so that it happens in registers: this is done twice a packet.
        let mapped = 0xffff << 32 | u128::from(u32::from_be_bytes(address));
        Self {
            octets: mapped.to_be_bytes(),
            port,
        }
    }

    /// The endpoint at `port` of an IPv6 host.
    #[inline]
    #[must_use]
    pub fn v6(address: [u8; 16], port: u16) -> Self {
        Self {
            octets: address,
            port,
        }
    }

    /// The same address at another port.
    #[inline]
    #[must_use]
    pub fn with_port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// The address, as IPv4 where it is one.
    #[must_use]
    pub fn ip(&self) -> IpAddr {
        Ipv6Addr::from(self.octets).to_canonical()
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address as a number: compared in registers, where sixteen octets are compared in memory.
    #[inline]
    pub(crate) fn address(&self) -> u128 {
        u128::from_be_bytes(self.octets)
    }

    /// The IPv4 address as a number; `None` for others.
    #[inline]
    pub(crate) fn v4_address(&self) -> Option<u32> {
        let address = self.address();
        (address >> 32 == 0xffff).then_some(address as u32)
    }

    /// The address as sixteen octets.
    #[inline]
    #[must_use]
    pub fn octets(&self) -> [u8; 16] {
        self.octets
    }
}

impl Ord for Endpoint {
    /// By address, then by port.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (self.address(), self.port).cmp(&(other.address(), other.port))
    }
}

impl PartialOrd for Endpoint {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `10.0.0.1:80` or, as the port has to be kept apart from an IPv6 address, `[fd77::1]:80` (RFC 3986 section 3.2.2).
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::from(*self).fmt(f)
    }
}

/// As it is shown: sixteen octets would tell nobody which host that is.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As it is shown.
impl FromStr for Endpoint {
    type Err = AddrParseError;

    fn from_str(text: &str) -> Result<Self, AddrParseError> {
        text.parse().map(|address: SocketAddr| address.into())
    }
}

impl From<Endpoint> for SocketAddr {
    fn from(end: Endpoint) -> Self {
        Self::new(end.ip(), end.port)
    }
}

impl From<SocketAddr> for Endpoint {
    /// The address and the port alone: an end has no scope and no flow label.
    fn from(address: SocketAddr) -> Self {
        match address.ip() {
            IpAddr::V4(ip) => Self::v4(ip.octets(), address.port()),
            IpAddr::V6(ip) => Self::v6(ip.octets(), address.port()),
        }
    }
}

impl From<(Ipv4Addr, u16)> for Endpoint {
    fn from((address, port): (Ipv4Addr, u16)) -> Self {
        Self::v4(address.octets(), port)
    }
}

/// TCP's control bits (RFC 9293 section 3.1; CWR and ECE from RFC 3168; AE from RFC 9768).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer counts.
    pub const URG: Self = Self(0x20);
    /// ECN echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN.
    pub const AE: Self = Self(0x100);

    /// Whether every bit of `bits` is set.
    #[inline]
    #[must_use]
    pub const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Whether any bit of `bits` is set.
    #[inline]
    #[must_use]
    pub const fn any(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }

    /// Those of `bits`.
    #[must_use]
    pub const fn only(self, bits: Self) -> Self {
        Self(self.0 & bits.0)
    }

    /// The bits of both.
    #[must_use]
    pub const fn with(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }
}

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// 00: not ECN-capable.
    #[default]
    NotEct,
    /// 01: ECT(1), also L4S (RFC 9331).
    Ect1,
    /// 10: ECT(0).
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

impl Ecn {
    /// From the low two bits of the traffic-class octet.
    #[inline]
    #[must_use]
    pub const fn from_bits(traffic_class: u8) -> Self {
        match traffic_class & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// The timestamps option (RFC 7323 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timestamps {
    /// `TSval`: the sender's clock.
    pub value: u32,
    /// `TSecr`: the peer's clock, echoed. Meaningful only with ACK set.
    pub echo: u32,
}

/// What is looked at in a SYN alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SynOptions {
    /// Maximum segment size (RFC 9293 section 3.7.1), in bytes; one of 0 says nothing.
    pub mss: Option<NonZeroU16>,
    /// Window scale shift (RFC 7323 section 2), 0 to 14.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// Of Multipath TCP (RFC 8684 section 3): the connection may be one of several that carry one stream.
    pub multipath: bool,
    /// Time to live, or hop limit, above 64: its sender begins with 128, as Windows does, or more. No option, but it
    /// tells what kind of host this is.
    pub ttl_above_64: bool,
}

impl SynOptions {
    /// These options and, where one is not among them, that of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            mss: self.mss.or(other.mss),
            window_scale: self.window_scale.or(other.window_scale),
            sack_permitted: self.sack_permitted || other.sack_permitted,
            multipath: self.multipath || other.multipath,
            ttl_above_64: self.ttl_above_64 || other.ttl_above_64,
        }
    }
}

/// One SACK block as on the wire: `start..end` (RFC 2018 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub start: Seq,
    /// Sequence number just after the block.
    pub end: Seq,
}

/// Up to four SACK blocks, in the option's order; more do not fit the option space.
#[derive(Clone, Copy, Debug, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// The most that there can be: RFC 9293's 40 bytes of options cannot hold a fifth.
    pub const MAX: usize = 4;

    /// Adds a block; what is beyond [`MAX`](Self::MAX) is dropped.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }

    /// Becomes the blocks of an option, as they stand there.
    // In its place: a copy would be made in larger pieces than these were written in, and for such the processor waits
    // until all that was written before is in the cache.
    #[inline]
    pub(crate) fn put(&mut self, blocks: &[[u8; 8]]) {
        for (place, &[s0, s1, s2, s3, e0, e1, e2, e3]) in self.blocks.iter_mut().zip(blocks) {
            place.start = Seq(u32::from_be_bytes([s0, s1, s2, s3]));
            place.end = Seq(u32::from_be_bytes([e0, e1, e2, e3]));
        }
        self.len = blocks.len().min(Self::MAX) as u8;
    }

    /// The blocks.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// By the blocks alone: what an earlier option left behind the last one does not count.
impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for SackBlocks {}

impl Hash for SackBlocks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

/// One TCP segment, decoded.
///
/// Lengths are the IP header's, never those of the captured bytes, so a snap length changes
/// nothing (METRICS.md, "Words").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// When it was captured.
    pub at: CaptureTime,
    /// Position of its record in the capture: grows from record to record, also over the files
    /// of one capture.
    pub ordinal: u64,
    /// Who sent it.
    pub src: Endpoint,
    /// Whom it is for.
    pub dst: Endpoint,
    /// Sequence number of its first byte (of the SYN, where it has one).
    pub seq: Seq,
    /// Acknowledgement number; meaningful only with ACK set.
    pub ack: Seq,
    /// Control bits.
    pub flags: TcpFlags,
    /// Window as on the wire, unscaled.
    pub window: u16,
    /// TCP payload, in bytes.
    pub payload_len: u32,
    /// IP total length in bytes, over all fragments: headers and payload.
    pub ip_len: u32,
    /// IP packets that it came in: 1, or the number of fragments.
    pub ip_packets: u16,
    /// IPv4 identification; `None` for IPv6.
    pub ip_id: Option<u16>,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// Options of a SYN; all absent on other segments.
    pub syn: SynOptions,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// The IP length was 0 (segmentation offload, BIG TCP) and the lengths are by the frame's
    /// original length (METRICS.md C2).
    pub length_from_frame: bool,
    /// The snap length cut the TCP header, so options may be missing.
    pub header_cut: bool,
}

impl Segment {
    /// A segment without flags, options and payload, to be filled in.
    #[inline]
    pub(crate) fn empty(src: Endpoint, dst: Endpoint) -> Self {
        Self {
            at: CaptureTime::from_ns(0),
            ordinal: 0,
            src,
            dst,
            seq: Seq(0),
            ack: Seq(0),
            flags: TcpFlags(0),
            window: 500,
            payload_len: 0,
            ip_len: 40,
            ip_packets: 1,
            ip_id: None,
            ecn: Ecn::NotEct,
            timestamps: None,
            syn: SynOptions::default(),
            sack: SackBlocks::default(),
            length_from_frame: false,
            header_cut: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_read_as_it_is_shown() {
        for text in ["10.0.0.1:80", "[fd77::1]:443"] {
            let end: Endpoint = text.parse().unwrap();
            assert_eq!(end.to_string(), text);
            assert_eq!(format!("{:?}", Some(end)), format!("Some({text})"));
        }
        // Of the sixteen octets, these are IPv4.
        let mapped: Endpoint = "[::ffff:10.0.0.1]:80".parse().unwrap();
        assert_eq!(mapped, Endpoint::v4([10, 0, 0, 1], 80));
        assert!("10.0.0.1".parse::<Endpoint>().is_err());
    }

    #[test]
    fn blocks_are_the_same_whatever_stood_in_their_place_before() {
        let (mut used, mut fresh) = (SackBlocks::default(), SackBlocks::default());
        used.put(&[[1; 8], [2; 8]]);
        used.put(&[[3; 8]]);
        fresh.put(&[[3; 8]]);
        assert_eq!(used, fresh);
        fresh.put(&[[3; 8], [2; 8]]);
        assert_ne!(used, fresh);
    }
}
