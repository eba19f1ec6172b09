//! Packets in packets: IP in IP, GRE, and the tunnels in UDP.

use etherparse::UdpHeaderSlice;

use super::rest::Rest;
use super::skip::Skip;
use super::{Decoded, Outcome, TunnelLayer, Way, fabric, ip, link, wifi};

/// What an IP protocol other than the transports carries.
pub(super) fn ip_protocol(way: Way<'_>, protocol: u8, rest: Rest<'_>) -> Outcome {
    match protocol {
        4 => ip::v4(way.into_tunnel()?, rest),
        41 => ip::v6(way.into_tunnel()?, rest),
        47 => gre(way.into_tunnel()?, rest),
        97 => ether_ip(way.into_tunnel()?, rest),
        115 => l2tp_3(way.into_tunnel()?, rest, Skip::OtherProtocol),
        137 => link::mpls(way.into_tunnel()?, rest),
        // Ethernet, as in SRv6 (RFC 8986 section 10.1).
        143 => link::ethernet(way.into_tunnel()?, rest),
        _ => Err(Skip::OtherProtocol),
    }
}

/// A UDP datagram: a tunnel when it goes to a tunnel's port and looks like it.
pub(super) fn udp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let Ok(header) = UdpHeaderSlice::from_slice(rest.bytes) else {
        return Err(rest.short_of(UDP_LEN, Skip::Udp));
    };
    let enter: Enter = match header.destination_port() {
        4789 | 8472 => vxlan,
        4790 => vxlan_gpe,
        6081 => geneve,
        2152 => gtp_u,
        3386 => gtp_0,
        1701 => l2tp,
        3544 => teredo,
        6635 => mpls_in_udp,
        4341 => lisp,
        4754 => gre_in_udp,
        5072 => ayiya,
        5247 => capwap,
        12_222 => lwapp,
        6080 => gue,
        30_030 => jmirror,
        37_008 => tzsp,
        _ => match header.source_port() {
            // The other way round only where servers answer from the port.
            2152 => gtp_u,
            1701 => l2tp,
            3544 => teredo,
            5072 => ayiya,
            5247 => capwap,
            // Controllers send data from the port for control as well.
            12_222 | 12_223 => lwapp,
            _ => return Err(Skip::Udp),
        },
    };
    // Of a datagram's first fragment there is less.
    let told = usize::from(header.length()).saturating_sub(UDP_LEN);
    let inside = rest.after(UDP_LEN, Skip::Udp)?;
    let inside = inside.of_len(inside.wire_len.max(told));
    if way.layer == TunnelLayer::Outermost {
        return Err(if is_entered(way, enter, inside) {
            Skip::Tunnel
        } else {
            Skip::Udp
        });
    }
    enter(way.deeper()?, inside)
}

/// Whether a datagram is of a tunnel, which is only known by entering it: it leads to IP, or to what is not UDP.
#[cold]
fn is_entered(mut way: Way<'_>, enter: Enter, inside: Rest<'_>) -> bool {
    let (mut found, mut packet) = (Decoded::Skipped(Skip::Udp), None);
    let way = Way {
        inner: Some(&mut packet),
        each: None,
        datagrams: None,
        ..way.beside(&mut found)
    };
    let is_other = way
        .deeper()
        .is_ok_and(|way| !matches!(enter(way, inside), Err(Skip::Udp)));
    is_other || packet.is_some()
}

type Enter = fn(Way<'_>, Rest<'_>) -> Outcome;

/// GRE (RFC 2784, RFC 2890; version 1 with PPP inside: RFC 2637).
pub(super) fn gre(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[high, low, type_high, type_low], _) = rest.split::<4>(Skip::OtherProtocol)?;
    let flags = u16::from_be_bytes([high, low]);
    let optional = |mask: u16| usize::from(flags & mask != 0) * 4;
    let inner_type = u16::from_be_bytes([type_high, type_low]);
    // Checksum and offset come together, if either or routing is there.
    let len = 4 + optional(GRE_CHECKSUM | GRE_ROUTING) + optional(GRE_KEY) + optional(GRE_SEQUENCE);
    match flags & 7 {
        0 => {
            let mut inside = rest.after(len, Skip::OtherProtocol)?;
            if flags & GRE_ROUTING != 0 {
                inside = after_routes(inside)?;
            }
            match inner_type {
                ERSPAN_2 if flags & GRE_SEQUENCE == 0 => link::ethernet(way, inside),
                ERSPAN_2 => link::ethernet(way, inside.after(8, Skip::OtherProtocol)?),
                ERSPAN_3 => erspan_3(way, inside),
                PPP => link::ppp(way, inside),
                WCCP => wccp(way, inside),
                _ if is_arubas(inner_type) => wifi::frame(way, inside),
                _ => link::ether_type(way, inner_type, inside),
            }
        }
        1 if inner_type == PPP => {
            let inside = rest.after(len + optional(GRE_ACKNOWLEDGMENT), Skip::OtherProtocol)?;
            // Without a sequence number there is only an acknowledgment.
            if flags & GRE_SEQUENCE == 0 {
                return Err(Skip::NonIp);
            }
            link::ppp(way, inside)
        }
        1 if inner_type == EOIP && flags == GRE_KEY | 1 => eoip(way, rest),
        _ => Err(Skip::OtherProtocol),
    }
}

/// Whether a GRE type is one of those that Aruba's access points put 802.11 frames into: sixteen apart, one for each of
/// their networks.
fn is_arubas(inner_type: u16) -> bool {
    matches!(inner_type, 0x8200..=0x8370 if inner_type.is_multiple_of(0x10)) || inner_type == 0x9000
}

/// `MikroTik`'s Ethernet over IP: where PPTP has its key, a frame's length and a tunnel's number. Without a frame it
/// keeps the tunnel alive.
fn eoip(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[_, _, _, _, high, low, _, _], inside) = rest.split::<8>(Skip::OtherProtocol)?;
    match u16::from_be_bytes([high, low]) {
        0 => Err(Skip::NonIp),
        len => link::ethernet(way, inside.of_len(usize::from(len))),
    }
}

/// Past the source routes, which end with one of no length (RFC 1701).
fn after_routes(mut rest: Rest<'_>) -> Result<Rest<'_>, Skip> {
    loop {
        let (&[_, _, _, len], behind) = rest.split::<4>(Skip::OtherProtocol)?;
        rest = behind.after(usize::from(len), Skip::OtherProtocol)?;
        if len == 0 {
            return Ok(rest);
        }
    }
}

/// ERSPAN type III: twelve bytes, and eight more when the last bit says so.
fn erspan_3(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (header, inside) = rest.split::<12>(Skip::OtherProtocol)?;
    let platform_len = usize::from(header[11] & 1) * 8;
    link::ethernet(way, inside.after(platform_len, Skip::OtherProtocol)?)
}

/// Redirected to a web cache (draft-wilson-wrec-wccp-v2 section 4.12): IP, in version 2 behind four
/// bytes whose first says nothing that IP's could say.
fn wccp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.bytes.first() {
        Some(0x45..=0x4f | 0x60..=0x6f) => ip::any(way, rest),
        _ => ip::any(way, rest.after(4, Skip::OtherProtocol)?),
    }
}

/// Ethernet in IP (RFC 3378).
fn ether_ip(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.split::<2>(Skip::OtherProtocol)? {
        ([0x30, 0], inside) => link::ethernet(way, inside),
        _ => Err(Skip::OtherProtocol),
    }
}

/// VXLAN (RFC 7348 section 5).
fn vxlan(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.split::<8>(Skip::Udp)? {
        // The I flag is the one that makes it VXLAN; other bits are extensions.
        (&[flags, ..], inside) if flags & 0x08 != 0 => link::ethernet(way, inside),
        _ => Err(Skip::Udp),
    }
}

/// VXLAN with the inner protocol in its header (draft-ietf-nvo3-vxlan-gpe).
fn vxlan_gpe(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.split::<8>(Skip::Udp)? {
        (&[flags, _, _, 1, ..], inside) if flags & 0x04 != 0 => ip::v4(way, inside),
        (&[flags, _, _, 2, ..], inside) if flags & 0x04 != 0 => ip::v6(way, inside),
        (&[flags, _, _, 4, ..], inside) if flags & 0x04 != 0 => fabric::service_header(way, inside),
        (&[flags, _, _, 5, ..], inside) if flags & 0x04 != 0 => link::mpls(way, inside),
        (&[flags, ..], inside) if flags & 0x08 != 0 => link::ethernet(way, inside),
        _ => Err(Skip::Udp),
    }
}

/// Geneve (RFC 8926 section 3.4).
fn geneve(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[first, _, high, low, ..], inside) = rest.split::<8>(Skip::Udp)?;
    if first >> 6 != 0 {
        return Err(Skip::Udp);
    }
    let inside = inside.after(usize::from(first & 0x3f) * 4, Skip::Udp)?;
    link::ether_type(way, u16::from_be_bytes([high, low]), inside)
}

/// GTP-U, version 1, user data (3GPP TS 29.281 section 5).
fn gtp_u(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[flags, message, ..], mut inside) = rest.split::<8>(Skip::Udp)?;
    if flags & 0xf0 != 0x30 || message != 0xff {
        return Err(Skip::Udp);
    }
    // The three optional fields are there together.
    if flags & 0x07 != 0 {
        let (&[_, _, _, mut next], behind) = inside.split::<4>(Skip::Udp)?;
        inside = behind;
        while flags & 0x04 != 0 && next != 0 {
            let (&[words], _) = inside.split::<1>(Skip::Udp)?;
            let len = usize::from(words) * 4;
            if len == 0 {
                return Err(Skip::Udp);
            }
            let behind = inside.after(len, Skip::Udp)?;
            next = inside.bytes[len - 1];
            inside = behind;
        }
    }
    // An Ethernet session of 5G has no other sign.
    if link::is_frame(inside) && !ip::makes_sense(inside) {
        return link::ethernet(way, inside);
    }
    ip::any(way, inside)
}

/// IP where it makes sense; else the datagram is of something else.
fn fitting_ip(way: Way<'_>, inside: Rest<'_>) -> Outcome {
    if !ip::fits(inside) {
        return Err(Skip::Udp);
    }
    ip::any(way, inside)
}

/// GTP, version 0, user data (3GPP TS 09.60 section 6): IP has to make sense behind it, as PPP may be there as well.
fn gtp_0(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.split::<20>(Skip::Udp)? {
        (&[flags, 0xff, ..], inside) if flags & 0xf0 == 0x10 => fitting_ip(way, inside),
        _ => Err(Skip::Udp),
    }
}

/// What Juniper's routers mirror: two numbers, which may be any, so that IP has to make sense behind them.
fn jmirror(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let inside = rest.after(8, Skip::Udp).or(Err(Skip::Udp))?;
    fitting_ip(way, inside)
}

/// LISP data (RFC 9300 section 5): flags that may be any, so that IP has to make sense behind them.
fn lisp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let inside = rest.after(8, Skip::Udp)?;
    fitting_ip(way, inside)
}

/// MPLS in UDP (RFC 7510): labels may be any, so that IP has to make sense under them, or a frame.
fn mpls_in_udp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let under = link::under_labels(rest).or(Err(Skip::Udp))?;
    let is_frame = |control_len| {
        let frame = under.after(control_len, Skip::Udp);
        frame.is_ok_and(link::is_frame)
    };
    if !ip::fits(under) && !is_frame(0) && !is_frame(4) {
        return Err(Skip::Udp);
    }
    link::mpls(way, rest)
}

/// GRE in UDP (RFC 8086): version 0, without routes and without bits that are reserved.
fn gre_in_udp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    const ALLOWED: u16 = GRE_CHECKSUM | GRE_KEY | GRE_SEQUENCE;
    let (&flags, _) = rest.split::<2>(Skip::Udp)?;
    if u16::from_be_bytes(flags) & !ALLOWED != 0 {
        return Err(Skip::Udp);
    }
    gre(way, rest)
}

/// Generic UDP encapsulation (draft-ietf-intarea-gue): IP behind a header that names it, or alone.
fn gue(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[first, protocol, _, _], behind) = rest.split::<4>(Skip::Udp)?;
    let inside = match (first >> 5, protocol) {
        (0, 4 | 41) => behind.after(usize::from(first & 0x1f) * 4, Skip::Udp)?,
        (2 | 3, _) => rest,
        _ => return Err(Skip::Udp),
    };
    fitting_ip(way, inside)
}

/// CAPWAP data (RFC 5415 section 4): a frame as of Ethernet or Wi-Fi, perhaps under DTLS.
fn capwap(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[preamble, len, binding, flags, ..], _) = rest.split::<8>(Skip::Udp)?;
    if let [1, 0, 0, 0, 20..=23, 0xfe, ..] = *rest.bytes {
        return Err(Skip::Encrypted);
    }
    // Version 0 without DTLS, of 802.11, and not to keep alive.
    if preamble != 0 || len >> 3 < 2 || binding & 0x3e != 2 || flags & 0x08 != 0 {
        return Err(Skip::Udp);
    }
    let is_fragment = flags & 0x80 != 0;
    if is_fragment && (rest.bytes[6] != 0 || rest.bytes[7] >> 3 != 0) {
        return Err(Skip::LaterFragment);
    }
    let inside = rest.after(usize::from(len >> 3) * 4, Skip::Udp)?;
    let is_native = binding & 1 != 0;
    if is_native {
        return wireless(way, inside);
    }
    if !link::frame_follows(inside.bytes, 0) {
        return Err(Skip::Udp);
    }
    link::ethernet(way, inside)
}

/// LWAPP data (RFC 5412): flags, the number that a frame's parts share, a length, and a status. It does not
/// say where a part belongs, but which is the last. Its port may be any client's: the length tells, and
/// what is cut off tells nothing.
fn lwapp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    const NOT_LAST: u8 = 1;
    const PART: u8 = 2;
    const CONTROL: u8 = 4;
    let (&[flags, _, high, low, ..], inside) = rest.split::<6>(Skip::Udp).or(Err(Skip::Udp))?;
    let version = flags >> 6;
    let len = usize::from(u16::from_be_bytes([high, low]));
    if version != 0 || flags & CONTROL != 0 || len != inside.wire_len {
        return Err(Skip::Udp);
    }
    if flags & (PART | NOT_LAST) == PART {
        return Err(Skip::LaterFragment);
    }
    wireless(way, inside)
}

/// A data frame of Wi-Fi in a tunnel between an access point and its controller.
fn wireless(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let is_data = |control: u8| control & 0xf == 8;
    match *rest.bytes {
        [control, ..] if is_data(control) => wifi::frame(way, rest),
        // Some access points of Cisco's send both controls of a frame turned round, and nothing else of it.
        [_, control, ..] if is_data(control) => wifi::turned_frame(way, rest),
        _ => Err(Skip::Udp),
    }
}

/// AYIYA (draft-massar-v6ops-ayiya section 4): IP behind an identity and a signature, whose lengths come first.
fn ayiya(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    const FORWARD: u8 = 1;
    let (&[identity, signature, operation, next, ..], behind) = rest.split::<8>(Skip::Udp)?;
    if operation & 0xf != FORWARD {
        return Err(Skip::Udp);
    }
    let identity_len = 1_usize << (identity >> 4);
    let inside = behind.after(identity_len + usize::from(signature >> 4) * 4, Skip::Udp)?;
    match next {
        4 => ip::v4(way, inside),
        41 => ip::v6(way, inside),
        _ => Err(Skip::Udp),
    }
}

/// `TaZmen` sniffer protocol, version 1 with Ethernet: tags up to one that ends them.
fn tzsp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[1, 0 | 1, 0, 1], mut tags) = rest.split::<4>(Skip::Udp)? else {
        return Err(Skip::Udp);
    };
    loop {
        let (&[tag], behind) = tags.split::<1>(Skip::Udp)?;
        tags = match tag {
            0 => behind,
            1 => return link::ethernet(way, behind),
            _ => {
                let (&[len], behind) = behind.split::<1>(Skip::Udp)?;
                behind.after(usize::from(len), Skip::Udp)?
            }
        };
    }
}

/// L2TP version 2, data messages (RFC 2661 section 3.1).
fn l2tp(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[high, low], inside) = rest.split::<2>(Skip::Udp)?;
    let is_control = high & 0x80 != 0;
    match low & 0xf {
        _ if is_control => return Err(Skip::Udp),
        2 => {}
        // Two bytes of nothing.
        3 => return l2tp_3(way, inside.after(2, Skip::Udp)?, Skip::Udp),
        _ => return Err(Skip::Udp),
    }
    let (has_length, has_sequence, has_offset) =
        (high & 0x40 != 0, high & 0x08 != 0, high & 0x02 != 0);
    let ids_end = usize::from(has_length) * 2 + 4 + usize::from(has_sequence) * 4;
    let mut inside = inside.after(ids_end, Skip::Udp)?;
    if has_offset {
        let (&[high, low], behind) = inside.split::<2>(Skip::Udp)?;
        inside = behind.after(usize::from(u16::from_be_bytes([high, low])), Skip::Udp)?;
    }
    link::ppp(way, inside)
}

/// L2TP version 3, from the session on (RFC 3931 section 4.1): Ethernet behind a cookie and a header of its kind, each
/// of which is there or not as the ends agreed, so that a frame has to make sense behind them.
fn l2tp_3(way: Way<'_>, rest: Rest<'_>, otherwise: Skip) -> Outcome {
    let (&session, inside) = rest.split::<4>(otherwise)?;
    let is_control = session == [0; 4];
    // As Linux has it unless told otherwise, then without that header, and with cookies of both lengths.
    let frame = [4, 0, 8, 12].into_iter().find_map(|len| {
        let frame = inside.after(len, otherwise).ok()?;
        link::is_frame(frame).then_some(frame)
    });
    match frame {
        Some(frame) if !is_control => link::ethernet(way, frame),
        _ => Err(otherwise),
    }
}

/// Teredo (RFC 4380 section 5.1.1): IPv6, perhaps after authentication and origin.
fn teredo(way: Way<'_>, mut rest: Rest<'_>) -> Outcome {
    if let [0, 1, id_len, auth_len, ..] = *rest.bytes {
        rest = rest.after(13 + usize::from(id_len) + usize::from(auth_len), Skip::Udp)?;
    }
    if let [0, 0, ..] = *rest.bytes {
        rest = rest.after(8, Skip::Udp)?;
    }
    match rest.bytes.first() {
        Some(first) if first >> 4 == 6 && ip::fits(rest) => ip::v6(way, rest),
        _ => Err(Skip::Udp),
    }
}

/// Length of the UDP header, in bytes.
const UDP_LEN: usize = 8;

const GRE_CHECKSUM: u16 = 0x8000;
const GRE_ROUTING: u16 = 0x4000;
const GRE_KEY: u16 = 0x2000;
const GRE_SEQUENCE: u16 = 0x1000;
/// Version 1 only.
const GRE_ACKNOWLEDGMENT: u16 = 0x0080;

/// GRE protocol type of ERSPAN: type I without a sequence number, else type II.
const ERSPAN_2: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;
/// GRE protocol type of Ethernet over IP, in version 1 only.
const EOIP: u16 = 0x6400;
const PPP: u16 = 0x880b;
const WCCP: u16 = 0x883e;
