//! UDP datagrams, for those who ask for them.

use super::fragments::Fragment;
use super::ip::{self, IpHeader};
use super::quic::QuicHeader;
use super::rest::Rest;
use super::segment::{Ecn, Endpoint};
use crate::time::CaptureTime;

/// Length of the UDP header, in bytes (RFC 768).
const HEADER_LEN: u32 = 8;

/// One UDP datagram that is no tunnel's, decoded.
///
/// Lengths are the headers', never those of the captured bytes (METRICS.md, "Words").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Datagram {
    /// When it was captured.
    pub at: CaptureTime,
    /// Position of its record in the capture.
    pub ordinal: u64,
    /// Who sent it.
    pub src: Endpoint,
    /// Whom it is for.
    pub dst: Endpoint,
    /// UDP payload, in bytes: by UDP's length or, where that is 0 or contradicts IP's, by IP's.
    pub payload_len: u32,
    /// IP total length in bytes, over all fragments: headers and payload.
    pub ip_len: u32,
    /// IP packets that it came in: 1, or the number of fragments.
    pub ip_packets: u16,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
    /// The IP length was 0, and the lengths are by the frame's (METRICS.md C2).
    pub length_from_frame: bool,
    /// What its payload begins with, were it QUIC's; `None` where it has none, or that was not captured.
    pub quic: Option<QuicHeader>,
}

impl Datagram {
    /// What `rest` begins with, which `ip` carries; `None` where it has no whole UDP header.
    pub(super) fn of(at: CaptureTime, ordinal: u64, ip: &IpHeader, rest: Rest<'_>) -> Option<Self> {
        let &[src, src_low, dst, dst_low, len, len_low, ..] = rest.bytes.first_chunk::<8>()?;
        let by_ip = u32::try_from(rest.wire_len).ok()?;
        // 0 in jumbograms (RFC 2675 section 4), and where hardware was to cut it into several.
        let by_udp = u32::from(u16::from_be_bytes([len, len_low]));
        let is_sane = (HEADER_LEN..=by_ip).contains(&by_udp);
        let told = if is_sane { by_udp } else { by_ip };
        let payload_len = told.checked_sub(HEADER_LEN)?;
        // Without what fills up a short frame.
        let payload = &rest.bytes[HEADER_LEN as usize..];
        let payload = &payload[..payload.len().min(payload_len as usize)];
        Some(Self {
            at,
            ordinal,
            src: ip.src.with_port(u16::from_be_bytes([src, src_low])),
            dst: ip.dst.with_port(u16::from_be_bytes([dst, dst_low])),
            payload_len,
            ip_len: ip.len,
            ip_packets: ip.packets,
            ecn: ip.ecn,
            length_from_frame: ip.length_from_frame,
            quic: QuicHeader::of(payload),
        })
    }
}

/// What records hold of UDP, in their order.
#[derive(Debug, Default)]
pub struct Datagrams {
    /// Datagrams in one IP packet each.
    pub whole: Vec<Datagram>,
    /// Parts of others, for [`FragmentTable::push_datagram`](super::FragmentTable::push_datagram).
    pub fragments: Vec<Fragment>,
}

impl Datagrams {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.whole.clear();
        self.fragments.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.whole.len() + self.fragments.len()
    }
}

/// What carries a conversation's payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// UDP (RFC 768), whatever is above it.
    Udp,
}

impl Transport {
    /// By the IP protocol number; `None` of all others.
    #[must_use]
    pub const fn of(protocol: u8) -> Option<Self> {
        match protocol {
            ip::TCP => Some(Self::Tcp),
            ip::UDP => Some(Self::Udp),
            _ => None,
        }
    }

    /// The word in manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

shown_by_name!(Transport);
