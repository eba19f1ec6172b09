//! IPv4 and IPv6, their extension headers, and what they carry.

use etherparse::{Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice};

use super::datagram::Datagram;
use super::fragments::{Fragment, Head};
use super::rest::Rest;
use super::segment::{Ecn, Endpoint};
use super::skip::Skip;
use super::{Decoded, Outcome, Way, icmp, routing, tcp, tunnel};

/// What an IP header says to the layers above.
#[derive(Clone, Copy, Debug)]
pub(super) struct IpHeader {
    /// The sender, at port 0 until a TCP header is found.
    pub(super) src: Endpoint,
    /// The receiver, at port 0.
    pub(super) dst: Endpoint,
    /// Total length in bytes: header and payload.
    pub(super) len: u32,
    /// Packets that `len` is of.
    pub(super) packets: u16,
    /// IPv4 identification.
    pub(super) id: Option<u16>,
    pub(super) ecn: Ecn,
    /// Time to live, or hop limit.
    pub(super) ttl: u8,
    /// The header's length was 0, and `len` is by the frame.
    pub(super) length_from_frame: bool,
}

/// Where a fragment belongs in its datagram.
#[derive(Clone, Copy, Debug)]
struct Part {
    identification: u32,
    offset: u32,
    more: bool,
}

/// IP of the version that its first four bits say.
pub(super) fn any(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.bytes.first().map(|first| first >> 4) {
        Some(4) => v4(way, rest),
        Some(6) => v6(way, rest),
        Some(_) => Err(Skip::MalformedIp),
        None => Err(rest.short_of(1, Skip::MalformedIp)),
    }
}

/// Whether there is an IP header that contradicts neither itself nor how much there is: for those
/// who have nothing but that to tell by.
#[cold]
pub(super) fn makes_sense(rest: Rest<'_>) -> bool {
    match *rest.bytes {
        [first @ 0x45..=0x4f, _, high, low, ..] => {
            let header_len = usize::from(first & 0xf) * 4;
            let len = usize::from(u16::from_be_bytes([high, low]));
            let is_there = len <= rest.wire_len;
            let agrees = match rest.bytes.get(..header_len) {
                // The first fragment of a tunnel's packet has less than it says.
                Some(header) => checksum_is_right(header) || is_there && header[10..12] == [0, 0],
                None => is_there,
            };
            agrees && (len == 0 || len >= header_len)
        }
        [0x60..=0x6f, _, _, _, high, low, next, ..] => {
            let len = V6_LEN + usize::from(u16::from_be_bytes([high, low]));
            // The first fragment of a tunnel's packet has less than it says: TCP, or what may come before it.
            let leads_to_tcp = matches!(next, 0 | 6 | 43 | 44 | 51 | 60);
            let padding = rest.wire_len.checked_sub(len);
            len == V6_LEN || padding.map_or(leads_to_tcp, |padding| padding <= PADDING_MAX)
        }
        _ => false,
    }
}

/// The same where it is known how much there is, of the first of several fragments, too: and it is no longer than that.
#[cold]
pub(super) fn fits(rest: Rest<'_>) -> bool {
    let len = match *rest.bytes {
        [0x40..=0x4f, _, high, low, ..] => usize::from(u16::from_be_bytes([high, low])),
        [_, _, _, _, high, low, ..] => V6_LEN + usize::from(u16::from_be_bytes([high, low])),
        _ => return false,
    };
    len <= rest.wire_len && makes_sense(rest)
}

/// Whether the checksum of an IPv4 header is right (RFC 1071). One of 0 was left for hardware to
/// fill in.
fn checksum_is_right(header: &[u8]) -> bool {
    let (pairs, _) = header.as_chunks::<2>();
    let words = pairs
        .iter()
        .map(|&pair| u32::from(u16::from_be_bytes(pair)));
    let sum: u32 = words.sum();
    (sum >> 16) + (sum & 0xffff) == 0xffff
}

/// IPv4 (RFC 791).
#[inline]
pub(super) fn v4(mut way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let Ok(header) = Ipv4HeaderSlice::from_slice(rest.bytes) else {
        return Err(bad_v4(rest));
    };
    let header_len = header.slice().len();
    let length_from_frame = header.total_len() == 0;
    let len = if length_from_frame {
        rest.wire_len
    } else {
        usize::from(header.total_len())
    };
    if len < header_len || len > BYTES_MAX {
        return Err(Skip::MalformedIp);
    }
    let inside = rest.of_len(len).after(header_len, Skip::MalformedIp)?;
    let mut ip = IpHeader {
        src: Endpoint::v4(header.source(), 0),
        dst: Endpoint::v4(header.destination(), 0),
        len: len as u32,
        packets: 1,
        id: Some(header.identification()),
        ecn: Ecn::from_bits(header.ecn().value()),
        ttl: header.ttl(),
        length_from_frame,
    };
    if header_len > V4_LEN {
        follow_route(&mut ip, header.options());
    }
    let protocol = header.protocol().0;
    way.pass(&ip, protocol, header.fragments_offset().value(), inside);
    if header.is_fragmenting_payload() {
        let part = Part {
            identification: u32::from(header.identification()),
            offset: u32::from(header.fragments_offset().value()) * 8,
            more: header.more_fragments(),
        };
        return fragment(way, &ip, protocol, inside, part);
    }
    if protocol == TCP {
        return tcp::segment(way, &ip, inside);
    }
    let (protocol, inside) = extensions(protocol, inside)?;
    carried(way, &ip, protocol, inside)
}

/// Makes the last stop of a source route among IPv4's options the destination.
#[cold]
fn follow_route(ip: &mut IpHeader, options: &[u8]) {
    if let Some(last) = routing::final_v4(options) {
        ip.dst = last;
    }
}

/// IPv6 (RFC 8200).
pub(super) fn v6(mut way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let Ok(header) = Ipv6HeaderSlice::from_slice(rest.bytes) else {
        let whole = rest.bytes.first().is_none_or(|first| first >> 4 == 6);
        return Err(if whole {
            rest.short_of(V6_LEN, Skip::MalformedIp)
        } else {
            Skip::MalformedIp
        });
    };
    let mut protocol = header.next_header().0;
    let mut inside = rest.after(V6_LEN, Skip::MalformedIp)?;
    let mut length_from_frame = false;
    match (header.payload_length(), jumbo_len(protocol, inside)) {
        (0, Some(len)) => inside = inside.of_len(len),
        (0, None) if inside.wire_len > BYTES_MAX => return Err(Skip::MalformedIp),
        (0, None) => length_from_frame = inside.wire_len > 0,
        (len, _) => inside = inside.of_len(usize::from(len)),
    }
    let mut ip = IpHeader {
        src: Endpoint::v6(header.source(), 0),
        dst: Endpoint::v6(header.destination(), 0),
        len: (V6_LEN + inside.wire_len) as u32,
        packets: 1,
        id: None,
        ecn: Ecn::from_bits(header.traffic_class()),
        ttl: header.hop_limit(),
        length_from_frame,
    };
    loop {
        (protocol, inside) = extensions_of(&mut ip, protocol, inside)?;
        way.pass(&ip, protocol, 0, inside);
        if protocol != V6_FRAGMENT {
            return carried(way, &ip, protocol, inside);
        }
        let Ok(header) = Ipv6FragmentHeaderSlice::from_slice(inside.bytes) else {
            return Err(inside.short_of(V6_FRAGMENT_LEN, Skip::MalformedIp));
        };
        protocol = header.next_header().0;
        inside = inside.after(V6_FRAGMENT_LEN, Skip::MalformedIp)?;
        // An atomic fragment (RFC 6946) is a whole datagram with a header too many.
        if header.is_fragmenting_payload() {
            let part = Part {
                identification: header.identification(),
                offset: u32::from(header.fragment_offset().value()) * 8,
                more: header.more_fragments(),
            };
            return fragment(way, &ip, protocol, inside, part);
        }
    }
}

/// The protocol behind the extension headers, and its bytes: hop-by-hop, routing, destination,
/// mobility, HIP, shim6 (RFC 8200 section 4), and the authentication header (RFC 4302), which
/// IPv4 has too. Stops at a fragment header.
pub(super) fn extensions(protocol: u8, rest: Rest<'_>) -> Result<(u8, Rest<'_>), Skip> {
    past_extensions(protocol, rest, |_, _| {})
}

/// [`extensions`] of a packet whose `ip` gets the addresses that they say it has for those above.
fn extensions_of<'a>(
    ip: &mut IpHeader,
    protocol: u8,
    rest: Rest<'a>,
) -> Result<(u8, Rest<'a>), Skip> {
    past_extensions(protocol, rest, |protocol, header| match protocol {
        ROUTING => ip.dst = routing::final_v6(ip.dst, header).unwrap_or(ip.dst),
        DESTINATION_OPTIONS => ip.src = routing::home(header).unwrap_or(ip.src),
        _ => {}
    })
}

#[inline]
fn past_extensions(
    mut protocol: u8,
    mut rest: Rest<'_>,
    mut look: impl FnMut(u8, Rest<'_>),
) -> Result<(u8, Rest<'_>), Skip> {
    loop {
        let len_of: fn(u8) -> usize = match protocol {
            0 | ROUTING | DESTINATION_OPTIONS | 135 | 139 | 140 => {
                |words| (usize::from(words) + 1) * 8
            }
            AUTHENTICATION => |words| (usize::from(words) + 2) * 4,
            _ => return Ok((protocol, rest)),
        };
        let (&[next, words], _) = rest.split::<2>(Skip::MalformedIp)?;
        let behind = rest.after(len_of(words), Skip::MalformedIp)?;
        look(protocol, rest);
        (protocol, rest) = (next, behind);
    }
}

/// What an IP packet carries, whole or as the first part of a fragmented tunnel packet.
fn carried(way: Way<'_>, ip: &IpHeader, protocol: u8, rest: Rest<'_>) -> Outcome {
    match protocol {
        TCP => tcp::segment(way, ip, rest),
        1 => icmp::v4(way, ip, rest),
        58 => icmp::v6(way, ip, rest),
        UDP => udp(way, ip, rest, None),
        50 => Err(Skip::Encrypted),
        108 => Err(Skip::Compressed),
        _ => tunnel::ip_protocol(way, protocol, rest),
    }
}

/// UDP, of which `rest` is the first fragment where it is a `part`. What is no tunnel is told to who asks for it.
fn udp(mut way: Way<'_>, ip: &IpHeader, rest: Rest<'_>, part: Option<Fragment>) -> Outcome {
    let Some(before) = way.datagrams.as_ref().map(|datagrams| datagrams.len()) else {
        return tunnel::udp(way, rest);
    };
    let (at, ordinal) = (way.at, way.ordinal);
    let mut found = Decoded::Skipped(Skip::Udp);
    let outcome = tunnel::udp(way.beside(&mut found), rest);
    // What was told by now was in a tunnel.
    if outcome == Err(Skip::Udp)
        && let Some(datagrams) = &mut way.datagrams
        && datagrams.len() == before
    {
        match part {
            Some(part) => datagrams.fragments.push(part),
            None => datagrams.whole.extend(Datagram::of(at, ordinal, ip, rest)),
        }
    }
    if outcome.is_ok() {
        way.arrive(found);
    }
    outcome
}

/// A fragment. TCP waits for the other ones; a tunnel packet's first fragment is entered, since
/// the headers inside carry lengths of their own.
fn fragment(mut way: Way<'_>, ip: &IpHeader, protocol: u8, rest: Rest<'_>, part: Part) -> Outcome {
    let fragment = |way: &Way<'_>| Fragment {
        at: way.at,
        ordinal: way.ordinal,
        src: ip.src,
        dst: ip.dst,
        protocol,
        identification: part.identification,
        offset: part.offset,
        payload_len: rest.wire_len as u32,
        more_fragments: part.more,
        ip_len: ip.len,
        ip_id: ip.id,
        ecn: ip.ecn,
        length_from_frame: ip.length_from_frame,
        has_record: true,
        head: Head::of(part.offset, rest.bytes),
    };
    if part.offset == 0 {
        // Extension headers that are cut by the end of the fragment are seen when it is whole.
        if let Ok((behind, inside)) = extensions(protocol, rest)
            && behind != TCP
        {
            if behind == UDP {
                let part = fragment(&way);
                return udp(way, ip, inside, Some(part));
            }
            return carried(way, ip, behind, inside);
        }
    } else if protocol == UDP {
        let part = fragment(&way);
        if let Some(datagrams) = &mut way.datagrams {
            datagrams.fragments.push(part);
        }
        return Err(Skip::LaterFragment);
    } else if !matches!(
        protocol,
        TCP | 0 | ROUTING | AUTHENTICATION | DESTINATION_OPTIONS
    ) {
        return Err(Skip::LaterFragment);
    }
    let fragment = fragment(&way);
    // Behind extension headers there may be UDP.
    if protocol != TCP
        && let Some(datagrams) = &mut way.datagrams
    {
        datagrams.fragments.push(fragment);
    }
    way.arrive(Decoded::Fragment(fragment));
    Ok(())
}

/// The length in a jumbo payload option (RFC 2675 section 2), which is of all that follows the
/// IPv6 header. Linux writes it first in the hop-by-hop header, where BIG TCP has it. One
/// beyond [`BYTES_MAX`] is not believed.
fn jumbo_len(protocol: u8, rest: Rest<'_>) -> Option<usize> {
    let len = match (protocol, rest.bytes) {
        (0, [_, _, 0xc2, 4, a, b, c, d, ..]) => u32::from_be_bytes([*a, *b, *c, *d]) as usize,
        _ => return None,
    };
    (len <= BYTES_MAX).then_some(len)
}

#[cold]
fn bad_v4(rest: Rest<'_>) -> Skip {
    match rest.bytes.first() {
        Some(first) if first >> 4 == 4 && first & 0xf >= 5 => {
            rest.short_of(usize::from(first & 0xf) * 4, Skip::MalformedIp)
        }
        Some(_) => Skip::MalformedIp,
        None => rest.short_of(1, Skip::MalformedIp),
    }
}

/// Bytes that may follow an IPv6 packet: what fills a frame up to Ethernet's least, and a check
/// sequence.
const PADDING_MAX: usize = 64;

/// Longest packet believed, in bytes, where it says its length in 32 bits or its frame does: no interface has packets
/// of 16 MiB, and gigabytes in one packet would be all that is seen of a capture.
const BYTES_MAX: usize = 16 << 20;

/// IP protocol number of TCP.
pub(super) const TCP: u8 = 6;
/// IP protocol number of UDP.
pub(super) const UDP: u8 = 17;
const ROUTING: u8 = 43;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const V6_FRAGMENT: u8 = 44;
/// Length of the fragment header, in bytes (RFC 8200 section 4.5).
const V6_FRAGMENT_LEN: usize = 8;
/// Length of the IPv4 header without options, in bytes.
const V4_LEN: usize = 20;
/// Length of the IPv6 header, in bytes.
const V6_LEN: usize = 40;
