//! One packet as one point saw it, and what makes it the same packet at another.

use std::hash::{BuildHasher, Hasher};
use std::net::IpAddr;

use foldhash::quality::FixedState;

use super::offload::Pieces;
use super::others::{
    ICMPV6, TCP, UDP, UDP_LITE, cut_seq, is_head_cut, surely_has_payload, udp_checksum, write_other,
};
use super::rules::{Identity, Ids, Rules};
use super::spool::Signs;
use crate::capture::Record;
use crate::decode::DecodeOptions;
use crate::decode::{
    Decoded, Ecn, Endpoint, Filter, HEAD_LEN, IpPacket, Segment, TcpFlags, decode_packet, usual,
};
use crate::seq::Seq;

/// Sender, receiver and protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Who sends; port 0 where the protocol has none or it was not seen.
    pub src: Endpoint,
    /// Who receives.
    pub dst: Endpoint,
    /// IP protocol number.
    pub protocol: u8,
}

impl FlowKey {
    /// Whether its packets are of UDP.
    #[must_use]
    pub fn is_udp(&self) -> bool {
        self.protocol == super::others::UDP
    }

    /// Whether a filter wants its packets, as tcpdump has it: ports are TCP's, UDP's and SCTP's, and a later fragment
    /// has none. Fragments of IPv6 are of any protocol.
    pub(crate) fn is_kept_by(&self, filter: &Filter) -> bool {
        let has_ports = matches!(self.protocol, TCP | UDP | SCTP)
            && (self.src.port() != 0 || self.dst.port() != 0);
        let kept = |protocol| filter.keeps_packet(protocol, has_ports, &self.src, &self.dst);
        match self.protocol {
            IPV6_FRAGMENT => [IPV6_FRAGMENT, TCP, UDP, SCTP, ICMPV6]
                .into_iter()
                .any(kept),
            protocol => kept(protocol),
        }
    }

    /// Flows beyond those that are told apart.
    pub(super) fn others() -> Self {
        let nobody = Endpoint::v4([0; 4], 0);
        Self {
            src: nobody,
            dst: nobody,
            protocol: u8::MAX,
        }
    }

    /// The flow of a TCP segment.
    #[inline]
    pub(super) fn of(segment: &Segment) -> Self {
        Self {
            src: segment.src,
            dst: segment.dst,
            protocol: TCP,
        }
    }

    /// Whether one of its ends has an address of its own link alone, from or to which no router passes on a packet
    /// (RFC 3927 section 2.7, RFC 4291 section 2.5.6).
    pub(super) fn is_link_local(&self) -> bool {
        [self.src, self.dst].iter().any(|end| match end.ip() {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        })
    }

    /// The same without ports.
    pub(super) fn of_hosts(&self) -> Self {
        Self {
            src: self.src.with_port(0),
            dst: self.dst.with_port(0),
            ..*self
        }
    }

    /// The other direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            ..self
        }
    }
}

/// A packet's headers, before it is decided how much of them counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Print {
    pub(super) at: i64,
    pub(super) frame: u64,
    pub(super) flow: FlowKey,
    pub(super) packet: IpPacket,
    /// The TCP segment in it, if it is one and whole.
    pub(super) segment: Option<Segment>,
    /// The checksum of TCP or UDP, which is over the payload too; where headers repeat it tells packets
    /// apart. 0 where it was not captured.
    pub(super) checksum: u16,
}

impl Print {
    /// `None` where the record holds no IP packet that may leave its link.
    pub(super) fn of(record: &Record<'_>, options: DecodeOptions) -> Option<Self> {
        match usual(record, record.frame) {
            Some(segment) => Some(Self::of_usual(&segment, usual_checksum(record))),
            None => Self::of_unusual(record, options),
        }
    }

    /// Of a frame that holds no [usual] segment.
    pub(super) fn of_unusual(record: &Record<'_>, options: DecodeOptions) -> Option<Self> {
        let (decoded, packet) = decode_packet(record, record.frame, &options);
        let packet = packet?;
        let segment = match decoded {
            Decoded::Segment(segment) | Decoded::FirstOf(segment, _) => Some(segment),
            _ => None,
        };
        let flow = match &segment {
            Some(segment) => FlowKey {
                src: segment.src,
                dst: segment.dst,
                protocol: packet.protocol,
            },
            None => untracked_flow(&packet),
        };
        // Of a host that has no address yet nobody can tell on which side it is: all hosts look alike.
        let is_nobody = flow.src.ip().is_unspecified();
        if is_nobody || stays_on_link(&packet) {
            return None;
        }
        Some(Self {
            at: record.at.as_ns(),
            frame: record.frame,
            flow,
            checksum: match (&segment, packet.head_len) {
                (Some(_), 18..) => u16::from_be_bytes([packet.head[16], packet.head[17]]),
                _ => udp_checksum(&packet).unwrap_or(0),
            },
            packet,
            segment,
        })
    }

    /// Of a TCP segment in a frame as nearly all are.
    pub(super) fn of_usual(segment: &Segment, checksum: u16) -> Self {
        Self {
            at: segment.at.as_ns(),
            frame: segment.ordinal,
            flow: FlowKey::of(segment),
            packet: IpPacket {
                src: segment.src.with_port(0),
                dst: segment.dst.with_port(0),
                protocol: TCP,
                len: segment.ip_len,
                id: segment.ip_id,
                ecn: segment.ecn,
                fragment_offset: 0,
                head: [0; HEAD_LEN],
                head_len: 0,
            },
            checksum,
            segment: Some(*segment),
        }
    }

    /// Whether enough of it was captured to tell it from others of its flow: an IP id, ports and sequence number, or of
    /// another protocol the first bytes, where checksums are. Of IPv6, which has no id, a snap length may leave less.
    pub(super) fn is_told_apart(&self) -> bool {
        self.packet.id.is_some() || self.packet.head_len >= 8 || !self.head_cut()
    }

    /// Whether the snap length cut its TCP header.
    pub(super) fn header_cut(&self) -> bool {
        match &self.segment {
            Some(segment) => segment.header_cut,
            None => self.packet.protocol == TCP && self.head_cut(),
        }
    }

    /// Whether the snap length cut it so early that strict rules cannot hold.
    pub(super) fn head_cut(&self) -> bool {
        self.segment.is_none() && is_head_cut(&self.packet)
    }

    /// What even a point keeps of a TCP segment that a snap length cut in the middle of its header.
    pub(super) fn seq_key(&self) -> Option<u64> {
        let seq = self.segment.map(|segment| segment.seq);
        let seq = seq.or_else(|| cut_seq(&self.packet))?;
        Some(HASH.hash_one(seq.0))
    }

    /// The TCP segment, where it is one.
    pub(super) fn segment(&self) -> Option<&Segment> {
        self.segment.as_ref()
    }

    /// What this packet is told from others by, at points where these rules hold.
    pub(super) fn key(&self, rules: Rules) -> u64 {
        let mut hasher = hasher_of(&self.flow, self.packet.id, rules);
        match (&self.segment, cut_seq(&self.packet)) {
            (Some(segment), _) => write_segment(&mut hasher, segment, rules.options),
            (None, Some(seq)) if rules.options == Identity::WithoutAck => {
                write_cut(&mut hasher, seq, self.packet.len);
            }
            (None, _) => write_other(&mut hasher, &self.packet, rules),
        }
        hasher.finish()
    }

    /// The packets that a frame of segmentation or receive offload holds, with the headers of the frame. A frame that
    /// holds one packet gives itself.
    pub(super) fn split(&self, pieces: Option<Pieces>) -> impl Iterator<Item = Self> + '_ {
        let packet_len = pieces.map_or(0, |pieces| pieces.packet_len);
        let piece = self.segment.map_or(0, |segment| {
            packet_len.saturating_sub(segment.ip_len.saturating_sub(segment.payload_len))
        });
        let ids_count = pieces.is_some_and(|pieces| pieces.ids_count);
        let parts = match self.segment {
            Some(segment) if piece > 0 => segment.payload_len.div_ceil(piece).clamp(1, PARTS_MAX),
            _ => 1,
        };
        (0..parts).map(move |part| {
            if parts == 1 {
                *self
            } else {
                self.part(part, parts, piece, ids_count)
            }
        })
    }

    fn part(&self, part: u32, parts: u32, piece: u32, ids_count: bool) -> Self {
        let mut whole = *self;
        let Some(segment) = &mut whole.segment else {
            return whole;
        };
        let headers = segment.ip_len.saturating_sub(segment.payload_len);
        let before = part * piece;
        let is_last = part + 1 == parts;
        let len = if is_last {
            segment.payload_len - before
        } else {
            piece
        };
        segment.seq.0 = segment.seq.0.wrapping_add(before);
        segment.payload_len = len;
        segment.ip_len = headers + len;
        if !is_last {
            // The last packet of a burst carries these.
            segment.flags.0 &= !(TcpFlags::PSH.0 | TcpFlags::FIN.0);
        }
        let ids_on = if ids_count { part as u16 } else { 0 };
        whole.packet.id = whole.packet.id.map(|id| id.wrapping_add(ids_on));
        whole.packet.len = headers + len;
        // The checksum was of the whole.
        whole.checksum = 0;
        whole
    }
}

/// Whether no router passes a packet on: it is for those on its own link, and neither comes into a queue
/// nor is lost in it. Neighbour discovery (RFC 4861 section 7.1: what a router passed on is not accepted), as
/// ARP is for IPv4, multicast to the link alone (RFC 4291 section 2.7, RFC 5771 section 4), and broadcast to it (RFC
/// 1812 section 5.3.5.1).
fn stays_on_link(packet: &IpPacket) -> bool {
    const ROUTER_SOLICITATION: u8 = 133;
    const REDIRECT: u8 = 137;
    if packet.protocol == ICMPV6 && packet.fragment_offset == 0 && packet.head_len > 0 {
        let kind = packet.head[0];
        if (ROUTER_SOLICITATION..=REDIRECT).contains(&kind) {
            return true;
        }
    }
    match packet.dst.ip() {
        IpAddr::V4(dst) => matches!(dst.octets(), [224, 0, 0, _] | [255, 255, 255, 255]),
        // Scopes: 1 is the interface, 2 the link.
        IpAddr::V6(dst) => {
            matches!(dst.octets(), [0xff, flags_scope, ..] if flags_scope & 0xf <= 2)
        }
    }
}

/// Whether a packet begins with ports.
fn has_ports(packet: &IpPacket) -> bool {
    matches!(packet.protocol, TCP | UDP | SCTP | UDP_LITE)
        && packet.fragment_offset == 0
        && packet.head_len >= 4
}

/// Addresses, and ports where the protocol has them in its first bytes.
fn untracked_flow(packet: &IpPacket) -> FlowKey {
    let has_ports = has_ports(packet);
    let port = |at: usize| {
        if has_ports {
            u16::from_be_bytes([packet.head[at], packet.head[at + 1]])
        } else {
            0
        }
    };
    FlowKey {
        src: packet.src.with_port(port(0)),
        dst: packet.dst.with_port(port(2)),
        protocol: packet.protocol,
    }
}

/// What counts of the IP header, and of the ports.
#[inline]
fn hasher_of(flow: &FlowKey, id: Option<u16>, rules: Rules) -> impl Hasher + use<> {
    let mut hasher = HASH.build_hasher();
    if rules.identity < Identity::WithoutAddresses {
        hasher.write_u128(u128::from_le_bytes(flow.src.octets()));
        hasher.write_u128(u128::from_le_bytes(flow.dst.octets()));
    }
    if rules.identity < Identity::WithoutEndpoints {
        hasher.write_u32(u32::from(flow.src.port()) << 16 | u32::from(flow.dst.port()));
    }
    if rules.ids == Ids::Count {
        hasher.write_u32(id.map_or(u32::MAX, u32::from));
    }
    hasher.write_u8(flow.protocol);
    hasher
}

/// What there is of a TCP segment that was cut in the middle of its header.
fn write_cut(hasher: &mut impl Hasher, seq: Seq, ip_len: u32) {
    hasher.write_u64(u64::from(seq.0) << 32 | u64::from(ip_len));
}

#[inline]
fn write_segment(hasher: &mut impl Hasher, segment: &Segment, options: Identity) {
    if options == Identity::WithoutAck {
        write_cut(hasher, segment.seq, segment.ip_len);
        return;
    }
    // Of the packets of a frame the first alone has CWR, or each (RFC 3168 section 6.1.2, RFC 9768 section 3.2):
    // the frame does not say which.
    let flags = if segment.payload_len > 0 {
        segment.flags.0 & !TcpFlags::CWR.0
    } else {
        segment.flags.0
    };
    hasher.write_u64(u64::from(segment.seq.0) << 32 | u64::from(segment.ack.0));
    hasher.write_u64(
        u64::from(segment.payload_len) << 32 | u64::from(segment.window) << 16 | u64::from(flags),
    );
    // Of IPv4, 66 to 69 bytes of a frame hold all timestamps but those of SYNs.
    let is_syn = segment.flags.has(TcpFlags::SYN);
    if options == Identity::WithoutOptions || options == Identity::WithoutSack && is_syn {
        return;
    }
    if let Some(timestamps) = segment.timestamps {
        hasher.write_u64(u64::from(timestamps.value) << 32 | u64::from(timestamps.echo));
    }
    if options == Identity::WithoutSack {
        return;
    }
    for block in segment.sack.as_slice() {
        hasher.write_u64(u64::from(block.start.0) << 32 | u64::from(block.end.0));
    }
}

/// A packet as one point saw it, as far as matching needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    /// When, by the point's own clock, in ns.
    pub(super) at: i64,
    /// What it is told from others by.
    pub(super) key: u64,
    /// Number of its record in its file.
    pub(super) frame: u64,
    /// Its flow; a number of the point's own until the walk translates it.
    pub(super) flow: u32,
    /// IP total length in bytes.
    pub(super) ip_len: u32,
    /// Checksum of TCP or UDP, or 0.
    pub(super) checksum: u16,
    /// Whether it has payload, asks for a new connection, is marked.
    pub(super) has: Signs,
}

const _: () = assert!(size_of::<Sighting>() <= 40);

impl Sighting {
    pub(super) fn of(print: &Print, flow: u32, rules: Rules) -> Self {
        let segment = print.segment.as_ref();
        let mut has = signs(segment, print.packet.ecn);
        has.set(Signs::NO_ID, !rules.tell_by(print.packet.id));
        if segment.is_none() {
            has.set(Signs::PAYLOAD, surely_has_payload(&print.packet));
        }
        Self {
            at: print.at,
            key: print.key(rules),
            frame: print.frame,
            flow,
            ip_len: segment.map_or(print.packet.len, |segment| segment.ip_len),
            checksum: print.checksum,
            has,
        }
    }

    /// Of a TCP segment in a frame as nearly all are: as [`of`](Self::of) its print, sooner.
    #[inline]
    pub(super) fn of_usual(
        segment: &Segment,
        checksum: u16,
        key: &FlowKey,
        flow: u32,
        rules: Rules,
    ) -> Self {
        let mut hasher = hasher_of(key, segment.ip_id, rules);
        write_segment(&mut hasher, segment, rules.options);
        let mut has = signs(Some(segment), segment.ecn);
        has.set(Signs::NO_ID, !rules.tell_by(segment.ip_id));
        Self {
            at: segment.at.as_ns(),
            key: hasher.finish(),
            frame: segment.ordinal,
            flow,
            ip_len: segment.ip_len,
            checksum,
            has,
        }
    }
}

#[inline]
fn signs(segment: Option<&Segment>, ecn: Ecn) -> Signs {
    let has_payload = segment.is_some_and(|segment| segment.payload_len > 0);
    let asks = |flags: TcpFlags| flags.has(TcpFlags::SYN) && !flags.has(TcpFlags::ACK);
    let is_syn = segment.is_some_and(|segment| asks(segment.flags));
    let mut signs = Signs::default();
    signs.set(Signs::PAYLOAD, has_payload);
    signs.set(Signs::SYN, is_syn);
    signs.set(Signs::CE, ecn == Ecn::Ce);
    signs
}

/// The TCP checksum in a frame as nearly all are.
#[inline]
pub(super) fn usual_checksum(record: &Record<'_>) -> u16 {
    match record.bytes.get(USUAL_CHECKSUM..USUAL_CHECKSUM + 2) {
        Some(&[high, low]) => u16::from_be_bytes([high, low]),
        _ => 0,
    }
}

/// Keys are the same in every run.
const HASH: FixedState = FixedState::with_seed(0x0ddb_a115);

/// A frame is not taken for more packets than this: 512 KiB of the smallest usual segments.
const PARTS_MAX: u32 = 1024;

/// Where the checksum is in a frame of Ethernet, IPv4 without options and TCP.
const USUAL_CHECKSUM: usize = 14 + 20 + 16;

const SCTP: u8 = 132;

const IPV6_FRAGMENT: u8 = 44;

#[cfg(test)]
mod tests;
