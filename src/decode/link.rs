//! Link layers: from a record's first byte to the IP header.

use etherparse::Ethernet2HeaderSlice;

use super::rest::Rest;
use super::skip::Skip;
use super::{Outcome, Way, fabric, ip, taps, wifi};
use crate::capture::{LinkType, Record};

/// A packet that begins as its link type says. Numbers are those of the pcap registry and the
/// `DLT_*` values that some systems write instead.
#[inline]
pub(super) fn decode(way: Way<'_>, link: LinkType, rest: Rest<'_>) -> Outcome {
    match link.0 {
        1 => ethernet(way, rest),
        other => decode_other(way, other, rest),
    }
}

fn decode_other(way: Way<'_>, link: u16, rest: Rest<'_>) -> Outcome {
    match link {
        // Raw IP; 12 and 14 are its DLT on most systems and on OpenBSD.
        12 | 14 | 101 => ip::any(way, rest),
        228 => ip::v4(way, rest),
        229 => ip::v6(way, rest),
        113 => linux_cooked(way, rest),
        276 => linux_cooked_2(way, rest),
        0 | 108 => bsd_family(way, rest, 4),
        // OpenBSD's IPsec interface: family, SPI and flags.
        109 => bsd_family(way, rest, 12),
        // What Solaris' interfaces tell of a packet: the version of that, a family, and in 22 bytes more where from and
        // to.
        226 => ip::any(way, rest.after(24, Skip::MalformedLink)?),
        // BSD's SLIP: direction, and the packet's header as it was compressed.
        8 => ip::any(way, rest.after(16, Skip::MalformedLink)?),
        // Written as PPP of either kind, Cisco's HDLC begins with an address that is none of PPP's.
        9 | 50 => match rest.bytes {
            [0x0f | 0x8f, 0, ..] => cisco_hdlc(way, rest),
            _ => ppp(way, rest),
        },
        // A byte for the direction comes first, or stands in the place of the address.
        204 => ppp(way, rest.after(1, Skip::MalformedLink)?),
        166 => match rest.bytes {
            [_, 3, ..] => ppp(way, rest.after(2, Skip::MalformedLink)?),
            _ => ppp(way, rest.after(1, Skip::MalformedLink)?),
        },
        51 => pppoe(way, rest),
        104 => cisco_hdlc(way, rest),
        205 => cisco_hdlc(way, rest.after(1, Skip::MalformedLink)?),
        107 => frame_relay(way, rest),
        206 => frame_relay(way, rest.after(1, Skip::MalformedLink)?),
        105 => wifi::frame(way, rest),
        127 => wifi::radiotap(way, rest),
        119 => wifi::prism(way, rest),
        163 => wifi::avs(way, rest),
        192 => per_packet_info(way, rest),
        239 => nflog(way, rest),
        149 | 258 => apple_tap(way, rest),
        117 => taps::pflog(way, rest),
        175 | 197 => taps::erf(way, rest),
        130..=137 | 164 | 167 | 168 | 174 | 178..=181 | 183 | 194 | 200 | 232..=234 | 238 => {
            taps::juniper(way, link, rest)
        }
        252 => taps::exported(way, rest),
        // IP over InfiniBand: a global route header, then an ether type and two bytes of nothing.
        242 => {
            let (&[.., high, low, _, _], inside) = rest.split::<44>(Skip::MalformedLink)?;
            ether_type(way, u16::from_be_bytes([high, low]), inside)
        }
        // Tags of switches: Broadcom's in two places, Marvell's in two lengths.
        281 | 284 => taps::switch_tag(way, rest, 4),
        282 => ethernet(way, rest.after(4, Skip::MalformedLink)?),
        285 => taps::switch_tag(way, rest, 8),
        // FDDI: frame control and two addresses. Token ring: one more byte, and routes.
        10 => llc(way, rest.after(13, Skip::MalformedLink)?),
        6 => token_ring(way, rest),
        // ARCNET: two addresses, and on Linux where in its buffer the card has the packet.
        7 => arcnet(way, rest.after(2, Skip::MalformedLink)?),
        129 => arcnet(way, rest.after(4, Skip::MalformedLink)?),
        11 | 100 => llc(way, rest),
        // ATM of Sun: direction and kind, and the two parts of the circuit's number.
        123 => llc(way, rest.after(4, Skip::MalformedLink)?),
        // IP over Fibre Channel: the two names.
        122 => llc(way, rest.after(16, Skip::MalformedLink)?),
        219 => mpls(way, rest),
        // An mPacket: preamble and start-of-frame delimiter; other delimiters are parts of frames.
        274 => match rest.split::<8>(Skip::MalformedLink)? {
            ([.., 0xd5], inside) => ethernet(way, inside.without_trailer(4)),
            _ => Err(Skip::NonIp),
        },
        _ => Err(Skip::UnknownLinkType),
    }
}

/// The link type that a record is said to begin with, or the one that the header of a tap says to
/// come behind that.
#[cold]
pub(super) fn told(record: &Record<'_>) -> LinkType {
    match (record.link.0, record.bytes) {
        (192, [_, _, _, _, a, b, ..]) | (149 | 258, [_, _, _, _, _, _, _, _, a, b, ..]) => {
            LinkType(u16::from_le_bytes([*a, *b]))
        }
        _ => record.link,
    }
}

/// Ethernet, with an ether type or a length.
#[inline]
pub(super) fn ethernet(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let Ok(header) = Ethernet2HeaderSlice::from_slice(rest.bytes) else {
        return Err(rest.short_of(ETHERNET_LEN, Skip::MalformedLink));
    };
    let inside = rest.after(ETHERNET_LEN, Skip::MalformedLink)?;
    match header.ether_type().0 {
        IPV4 => ip::v4(way, inside),
        _ if fabric::is_trunk(rest) => fabric::trunk(way, rest),
        other => ether_type(way, other, inside),
    }
}

/// What an ether type announces; up to 1500 it is the length of an LLC frame.
pub(super) fn ether_type(way: Way<'_>, mut ether_type: u16, mut rest: Rest<'_>) -> Outcome {
    loop {
        match ether_type {
            IPV4 => return ip::v4(way, rest),
            0x86dd => return ip::v6(way, rest),
            // VLAN and QinQ, however many.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => {
                let (&[_, _, high, low], inside) = rest.split::<4>(Skip::MalformedLink)?;
                ether_type = u16::from_be_bytes([high, low]);
                rest = inside;
            }
            0x8847 | 0x8848 => return mpls(way, rest),
            0x8864 => return pppoe(way, rest),
            0x6558 => return ethernet(way.deeper()?, rest),
            0x880b => return ppp(way.deeper()?, rest),
            // 802.1ah: a service tag of four bytes (six with its ether type), then a frame.
            0x88e7 => return ethernet(way.deeper()?, rest.after(4, Skip::MalformedLink)?),
            0..=1500 => return llc(way, rest.of_len(usize::from(ether_type))),
            0x8870 => return llc(way, rest),
            other => return fabric::other(way, other, rest),
        }
    }
}

/// LLC (IEEE 802.2), with SNAP or IP's own service access point.
pub(super) fn llc(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (header, inside) = rest.split::<3>(Skip::NonIp)?;
    match header {
        [0xaa, 0xaa, 3] => {
            let (&[a, b, c, high, low], inside) = inside.split::<5>(Skip::MalformedLink)?;
            let protocol = u16::from_be_bytes([high, low]);
            match ([a, b, c], protocol) {
                // Encapsulated Ethernet (RFC 1042) and bridge tunnel (IEEE 802.1H).
                ([0, 0, 0 | 0xf8], 0x0600..) => ether_type(way.deeper()?, protocol, inside),
                // Bridged Ethernet with and without its check sequence (RFC 2684 section 5.2).
                ([0, 0x80, 0xc2], 1 | 7) => {
                    ethernet(way.deeper()?, inside.after(2, Skip::MalformedLink)?)
                }
                _ => Err(Skip::NonIp),
            }
        }
        [6, 6, 3] => ip::v4(way, inside),
        // Routed over frame relay and ATM: a network layer protocol id (RFC 2684 section 5.1).
        [0xfe, 0xfe, 3] => nlpid(way, inside),
        _ => Err(Skip::NonIp),
    }
}

/// PPP (RFC 1661, RFC 1662): address and control may be left out, and the protocol may be one byte.
pub(super) fn ppp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let rest = match rest.bytes {
        [0xff, 3, ..] => rest.after(2, Skip::MalformedLink)?,
        _ => rest,
    };
    let (&[first], behind) = rest.split::<1>(Skip::MalformedLink)?;
    let (protocol, inside) = if first & 1 == 1 {
        (u16::from(first), behind)
    } else {
        let (&[second], behind) = behind.split::<1>(Skip::MalformedLink)?;
        (u16::from_be_bytes([first, second]), behind)
    };
    match protocol {
        0x0021 => ip::v4(way, inside),
        0x0057 => ip::v6(way, inside),
        0x0281 | 0x0283 => mpls(way, inside),
        0x002d | 0x002f | 0x0061 | 0x0063 | 0x0065 | 0x00fb | 0x00fd => Err(Skip::Compressed),
        0x0053 | 0x0055 => Err(Skip::Encrypted),
        _ => Err(Skip::NonIp),
    }
}

/// A `PPPoE` session (RFC 2516 section 4).
fn pppoe(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.split::<6>(Skip::MalformedLink)? {
        ([0x11, 0, ..], inside) => ppp(way, inside),
        ([0x11, ..], _) => Err(Skip::NonIp),
        _ => Err(Skip::MalformedLink),
    }
}

/// An MPLS label stack (RFC 3032). What is under it is not said, and told by the first four bits:
/// IP, a pseudowire's control word (RFC 4385 section 3), or else a pseudowire without one.
pub(super) fn mpls(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let rest = under_labels(rest)?;
    match rest.bytes.first().map(|first| first >> 4) {
        // Addresses may begin so as well: without a control word when the IP header would
        // contradict itself and the frame does not.
        Some(4 | 6 | 1) if is_frame(rest) && !ip::makes_sense(rest) => pseudowire(way, rest),
        Some(4) => ip::v4(way.deeper()?, rest),
        Some(6) => ip::v6(way.deeper()?, rest),
        // A locally made address may begin with four zero bits as well: without a control word
        // when the ether type then makes sense, and with one it does not.
        Some(0) if !frame_follows(rest.bytes, 4) && frame_follows(rest.bytes, 0) => {
            pseudowire(way, rest)
        }
        Some(0) => pseudowire(way, rest.after(4, Skip::MalformedLink)?),
        Some(1) => Err(Skip::NonIp),
        Some(_) => pseudowire(way, rest),
        None => Err(rest.short_of(1, Skip::MalformedLink)),
    }
}

/// An Ethernet frame under labels: a tunnel, but that for who asks for packets its IP packet is the outermost there is.
fn pseudowire(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let way = if way.inner.is_some() {
        way.deeper()?
    } else {
        way.into_tunnel()?
    };
    ethernet(way, rest)
}

/// What is under a stack of labels.
pub(super) fn under_labels(mut rest: Rest<'_>) -> Result<Rest<'_>, Skip> {
    loop {
        let (&[_, _, third, _], inside) = rest.split::<4>(Skip::MalformedLink)?;
        rest = inside;
        if third & 1 == 1 {
            return Ok(rest);
        }
    }
}

/// Whether an Ethernet frame begins here, as far as its ether type tells, and IP, where it is that. An IP address may
/// look like an ether type.
pub(super) fn is_frame(rest: Rest<'_>) -> bool {
    let inside = || rest.after(14, Skip::MalformedLink);
    let is_ip = matches!(rest.bytes.get(12..14), Some([0x08, 0x00] | [0x86, 0xdd]));
    frame_follows(rest.bytes, 0) && (!is_ip || inside().is_ok_and(ip::makes_sense))
}

/// Whether the ether type of an Ethernet frame at `start` is one that is decoded.
pub(super) fn frame_follows(bytes: &[u8], start: usize) -> bool {
    matches!(
        bytes.get(start + 12..start + 14),
        Some([0x08, 0x00 | 0x06] | [0x86, 0xdd] | [0x81, 0] | [0x88, 0xa8 | 0x47 | 0x48 | 0x64])
    )
}

/// Linux "any" captures: the protocol is an ether type, unless the hardware type says otherwise.
fn linux_cooked(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (header, inside) = rest.split::<16>(Skip::MalformedLink)?;
    let [.., high, low] = *header;
    let hardware = u16::from_be_bytes([header[2], header[3]]);
    cooked(way, hardware, u16::from_be_bytes([high, low]), inside)
}

fn linux_cooked_2(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (header, inside) = rest.split::<20>(Skip::MalformedLink)?;
    let [high, low, ..] = *header;
    let hardware = u16::from_be_bytes([header[8], header[9]]);
    cooked(way, hardware, u16::from_be_bytes([high, low]), inside)
}

fn cooked(way: Way<'_>, hardware: u16, protocol: u16, rest: Rest<'_>) -> Outcome {
    match (hardware, protocol) {
        // ARPHRD_NETLINK: the protocol is a netlink family.
        (824, _) => Err(Skip::NonIp),
        (801, _) => wifi::frame(way, rest),
        (803, _) => wifi::radiotap(way, rest),
        // LINUX_SLL_P_802_2, and what Linux calls the raw 802.3 frames of Novell.
        (_, 4) => llc(way, rest),
        (_, ..0x0600) => Err(Skip::NonIp),
        (_, protocol) => ether_type(way, protocol, rest),
    }
}

/// BSD loopback: an address family of the capturing machine, in its byte order; of some writers an ether type.
fn bsd_family(way: Way<'_>, rest: Rest<'_>, header_len: usize) -> Outcome {
    let (&family, _) = rest.split::<4>(Skip::MalformedLink)?;
    let inside = rest.after(header_len, Skip::MalformedLink)?;
    // Families are small, so the two halves tell the order.
    let family = match u32::from_le_bytes(family) {
        little @ ..0x1_0000 => little,
        big => big.swap_bytes(),
    };
    match family {
        2 => ip::v4(way, inside),
        // AF_INET6 of Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS.
        10 | 23 | 24 | 28 | 30 => ip::v6(way, inside),
        0x0600..=0xffff => ether_type(way, family as u16, inside),
        _ => Err(Skip::NonIp),
    }
}

/// Cisco HDLC: address, control, ether type.
pub(super) fn cisco_hdlc(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[_, _, high, low], inside) = rest.split::<4>(Skip::MalformedLink)?;
    match u16::from_be_bytes([high, low]) {
        ..0x0600 => Err(Skip::NonIp),
        protocol => ether_type(way, protocol, inside),
    }
}

/// Frame relay (RFC 2427): an address of two to four bytes, then an unnumbered frame or, as Cisco
/// has it, an ether type.
pub(super) fn frame_relay(way: Way<'_>, mut rest: Rest<'_>) -> Outcome {
    loop {
        let (&[byte], behind) = rest.split::<1>(Skip::MalformedLink)?;
        rest = behind;
        if byte & 1 == 1 {
            break;
        }
    }
    match rest.bytes {
        [3, 0, ..] => nlpid(way, rest.after(2, Skip::MalformedLink)?),
        [3, ..] => nlpid(way, rest.after(1, Skip::MalformedLink)?),
        _ => {
            let (&protocol, inside) = rest.split::<2>(Skip::MalformedLink)?;
            ether_type(way, u16::from_be_bytes(protocol), inside)
        }
    }
}

/// A network layer protocol id (RFC 2427 section 4).
fn nlpid(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[id], inside) = rest.split::<1>(Skip::MalformedLink)?;
    match id {
        0xcc => ip::v4(way, inside),
        0x8e => ip::v6(way, inside),
        0xcf => ppp(way, inside),
        0x80 => match inside.split::<5>(Skip::MalformedLink)? {
            (&[0, 0, 0, high, low], inside) => {
                ether_type(way.deeper()?, u16::from_be_bytes([high, low]), inside)
            }
            _ => Err(Skip::NonIp),
        },
        _ => Err(Skip::NonIp),
    }
}

/// Token ring: access and frame control, two addresses, routes when the source's first bit is set.
fn token_ring(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (header, inside) = rest.split::<14>(Skip::MalformedLink)?;
    let routes_len = match (header[8] & 0x80, inside.bytes.first()) {
        (0x80, Some(control)) => usize::from(control & 0x1f),
        _ => 0,
    };
    llc(way, inside.after(routes_len, Skip::MalformedLink)?)
}

/// ARCNET behind its addresses: a protocol, and before a packet which part of it this is, and its number (RFC 1201
/// section 2). RFC 1051 has neither.
fn arcnet(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[protocol], behind) = rest.split::<1>(Skip::MalformedLink)?;
    if protocol == 240 {
        return ip::v4(way, behind);
    }
    let ip: fn(Way<'_>, Rest<'_>) -> Outcome = match protocol {
        212 => ip::v4,
        196 => ip::v6,
        _ => return Err(Skip::NonIp),
    };
    let (&[part, _, _], inside) = match behind.bytes {
        // Too long for a short frame and too short for a long one: padding, and all of it again.
        [0xff, ..] => behind
            .after(4, Skip::MalformedLink)?
            .split::<3>(Skip::MalformedLink)?,
        _ => behind.split::<3>(Skip::MalformedLink)?,
    };
    // The first of several parts has an odd number.
    if part != 0 && part & 1 == 0 {
        return Err(Skip::LaterFragment);
    }
    ip(way, inside)
}

/// Per-packet information: a header that says its own length and the link type of what follows.
fn per_packet_info(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[_, _, len_low, len_high, a, b, ..], _) = rest.split::<8>(Skip::MalformedLink)?;
    let len = usize::from(u16::from_le_bytes([len_low, len_high]));
    nested(
        way,
        u16::from_le_bytes([a, b]),
        rest.after(len.max(8), Skip::MalformedLink)?,
    )
}

/// macOS' tap of many interfaces: length, record type and link type, in the order of the machine.
fn apple_tap(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (header, _) = rest.split::<12>(Skip::MalformedLink)?;
    let [l0, l1, l2, l3, .., d0, d1, _, _] = *header;
    let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    let inside = rest.after(len.max(12), Skip::MalformedLink)?;
    nested(way, u16::from_le_bytes([d0, d1]), inside)
}

fn nested(way: Way<'_>, link: u16, rest: Rest<'_>) -> Outcome {
    decode(way.deeper()?, LinkType(link), rest)
}

/// Linux' netfilter log: attributes in the machine's byte order, one of which is the packet.
fn nflog(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (_, mut attributes) = rest.split::<4>(Skip::MalformedLink)?;
    loop {
        let (&[len_a, len_b, type_a, type_b], inside) =
            attributes.split::<4>(Skip::MalformedLink)?;
        // Types are below 256, so whichever byte is zero tells the order.
        let (len, kind) = if type_b == 0 {
            (u16::from_le_bytes([len_a, len_b]), type_a)
        } else {
            (u16::from_be_bytes([len_a, len_b]), type_b)
        };
        let len = usize::from(len);
        if len < 4 {
            return Err(Skip::MalformedLink);
        }
        if kind == NFLOG_PAYLOAD {
            return ip::any(way, inside.of_len(len - 4));
        }
        attributes = attributes.after(len.next_multiple_of(4), Skip::MalformedLink)?;
    }
}

/// Length of the Ethernet header, in bytes.
const ETHERNET_LEN: usize = 14;
const IPV4: u16 = 0x0800;
/// `NFULA_PAYLOAD`.
const NFLOG_PAYLOAD: u8 = 9;
