//! What capturing systems put before a packet: filters that log, cards, routers and switches.

use super::rest::Rest;
use super::skip::Skip;
use super::{Outcome, Way, ip, link};

/// The BSDs' log of a packet filter: a header that says its own length, padded to four bytes. Only
/// the first 45 bytes of it are the same everywhere.
pub(super) fn pflog(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[len], _) = rest.split::<1>(Skip::MalformedLink)?;
    if len < PFLOG_LEN_MIN {
        return Err(Skip::MalformedLink);
    }
    let len = usize::from(len).next_multiple_of(4);
    ip::any(way, rest.after(len, Skip::MalformedLink)?)
}

/// Endace's extensible record format: time, type, flags, lengths; extension headers for as long as a
/// type's first bit is set; two bytes before Ethernet.
pub(super) fn erf(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[.., mut kind, _, _, _, _, _, _, _], mut inside) =
        rest.split::<16>(Skip::MalformedLink)?;
    let record = kind & 0x7f;
    while kind & 0x80 != 0 {
        let (extension, behind) = inside.split::<8>(Skip::MalformedLink)?;
        (kind, inside) = (extension[0], behind);
    }
    match record {
        // Ethernet, with a colour, from a module, and with a hash.
        2 | 11 | 16 | 20 => link::ethernet(way, inside.after(2, Skip::MalformedLink)?),
        22 => ip::v4(way, inside),
        23 => ip::v6(way, inside),
        _ => Err(Skip::NonIp),
    }
}

/// Juniper's routers: a magic number, flags, perhaps an extension with its length, and what the link type says or,
/// without a link header, IP.
pub(super) fn juniper(way: Way<'_>, link: u16, rest: Rest<'_>) -> Outcome {
    let (&[b'M', b'G', b'C', flags], mut inside) = rest.split::<4>(Skip::MalformedLink)? else {
        return Err(Skip::MalformedLink);
    };
    if flags & JUNIPER_EXTENDED != 0 {
        let (&len, behind) = inside.split::<2>(Skip::MalformedLink)?;
        inside = behind.after(usize::from(u16::from_be_bytes(len)), Skip::MalformedLink)?;
    }
    if flags & JUNIPER_NO_LINK != 0 {
        // The protocol family comes in the place of the link header.
        return ip::any(way, inside.after(4, Skip::MalformedLink)?);
    }
    match link {
        // The second kind of ATM interface has a longer cookie.
        135 => juniper_atm(way, inside.after(8, Skip::MalformedLink)?),
        137 => juniper_atm(way, inside.after(4, Skip::MalformedLink)?),
        179 => link::ppp(way, inside),
        180 => link::frame_relay(way, inside),
        181 => link::cisco_hdlc(way, inside),
        // Voice.
        183 => ip::any(way, inside.after(18, Skip::MalformedLink)?),
        167 | 178 => link::ethernet(way, inside),
        _ => Err(Skip::UnknownLinkType),
    }
}

/// A packet on an ATM circuit: with LLC or alone.
fn juniper_atm(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    match rest.bytes.first() {
        Some(0x45..=0x4f | 0x60..=0x6f) => ip::any(way, rest),
        _ => link::llc(way, rest),
    }
}

/// Ethernet with a switch's tag of `len` bytes between the addresses and the ether type.
pub(super) fn switch_tag(way: Way<'_>, rest: Rest<'_>, len: usize) -> Outcome {
    let (&kind, inside) = rest
        .after(12 + len, Skip::MalformedLink)?
        .split::<2>(Skip::MalformedLink)?;
    link::ether_type(way, u16::from_be_bytes(kind), inside)
}

/// What Wireshark exports: tags, one of which names the protocol of what comes behind them. TCP
/// alone has no addresses, so it is of no use.
pub(super) fn exported(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let mut name: &[u8] = &[];
    let mut tags = rest;
    loop {
        let (&[kind_high, kind_low, len_high, len_low], inside) =
            tags.split::<4>(Skip::MalformedLink)?;
        let len = usize::from(u16::from_be_bytes([len_high, len_low]));
        let value = inside.bytes.get(..len).unwrap_or_default();
        tags = inside.after(len, Skip::MalformedLink)?;
        match u16::from_be_bytes([kind_high, kind_low]) {
            EXPORTED_END => break,
            // Padded to four bytes.
            EXPORTED_PROTOCOL => name = value.split(|&byte| byte == 0).next().unwrap_or_default(),
            _ => {}
        }
    }
    match name {
        b"ip" => ip::v4(way, tags),
        b"ipv6" => ip::v6(way, tags),
        b"eth" | b"eth_withoutfcs" | b"eth_withfcs" | b"eth_maybefcs" => link::ethernet(way, tags),
        _ => Err(Skip::NonIp),
    }
}

/// Shortest header of a packet filter's log, in bytes.
const PFLOG_LEN_MIN: u8 = 45;

// Bits of Juniper's flags.
const JUNIPER_NO_LINK: u8 = 0x02;
const JUNIPER_EXTENDED: u8 = 0x80;

// Tags of exported packets.
const EXPORTED_END: u16 = 0;
/// `EXP_PDU_TAG_DISSECTOR_NAME`.
const EXPORTED_PROTOCOL: u16 = 12;
