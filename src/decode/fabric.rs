//! What switches and meshes put into Ethernet: tags, and headers with a frame behind them.

use super::rest::Rest;
use super::skip::Skip;
use super::{Outcome, Way, ip, link};

/// What any other ether type announces: a tag with another ether type behind it, or a header.
#[cold]
pub(super) fn other(way: Way<'_>, ether_type: u16, rest: Rest<'_>) -> Outcome {
    match past_tag(ether_type, rest)? {
        Some((behind, rest)) => link::ether_type(way.deeper()?, behind, rest),
        None => header(way, ether_type, rest),
    }
}

/// Past a tag: the ether type behind it, and what that announces. `None` where `ether_type` is of no
/// tag.
fn past_tag(ether_type: u16, rest: Rest<'_>) -> Result<Option<(u16, Rest<'_>)>, Skip> {
    let len = match ether_type {
        // Cisco's VN-tag; HSR (IEC 62439-3): path, size and sequence number.
        0x8926 | 0x892f => 4,
        // E-tag (IEEE 802.1BR).
        0x893f => 6,
        // Cisco's metadata, version 1 with one option: a security group.
        0x8909 => match rest.split::<2>(Skip::MalformedLink)? {
            ([1, 1], _) => 6,
            _ => return Err(Skip::NonIp),
        },
        // Arista's timestamps: subtype, version, and 64 or 48 bits.
        0xd28b => match rest.split::<4>(Skip::MalformedLink)? {
            ([0, 1, 0 | 1, 0x10], _) => 12,
            ([0, 1, 0 | 1, 0x20], _) => 10,
            _ => return Err(Skip::NonIp),
        },
        0x88e5 => security_tag_len(rest)?,
        _ => return Ok(None),
    };
    let inside = rest.after(len, Skip::MalformedLink)?;
    let (&kind, inside) = inside.split::<2>(Skip::MalformedLink)?;
    Ok(Some((u16::from_be_bytes(kind), inside)))
}

/// Length of a `MACsec` tag (IEEE 802.1AE section 9) behind its ether type, where what it protects is
/// neither encrypted nor otherwise changed.
fn security_tag_len(rest: Rest<'_>) -> Result<usize, Skip> {
    const ENCRYPTED_OR_CHANGED: u8 = 0x0c;
    const HAS_CHANNEL: u8 = 0x20;
    let (&[control, _], _) = rest.split::<2>(Skip::MalformedLink)?;
    match control {
        0x80.. => Err(Skip::NonIp),
        _ if control & ENCRYPTED_OR_CHANGED != 0 => Err(Skip::Encrypted),
        _ if control & HAS_CHANNEL != 0 => Ok(14),
        _ => Ok(6),
    }
}

/// A header with a frame or a packet behind it, by its ether type.
fn header(way: Way<'_>, ether_type: u16, rest: Rest<'_>) -> Outcome {
    match ether_type {
        0x22f3 => trill(way, rest),
        0x4305 => batman(way, rest),
        0x894f => service_header(way, rest),
        // Cisco's FabricPath: a tree, a time to live, and a frame.
        0x8903 => link::ethernet(way.deeper()?, rest.after(2, Skip::MalformedLink)?),
        _ => Err(Skip::NonIp),
    }
}

/// Whether a frame is one of Cisco's inter-switch link, which only says so in its destination.
pub(super) fn is_trunk(frame: Rest<'_>) -> bool {
    matches!(frame.bytes, [0x01 | 0x0c, 0, 0x0c, 0, 0, ..])
}

/// A frame of Cisco's inter-switch link (ISL): a length, from LLC on, and behind 26 bytes another frame with its check
/// sequence, of Ethernet or of what the destination's last bits say.
#[cold]
pub(super) fn trunk(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    const BEHIND_LENGTH: usize = 12;
    let (header, inside) = rest.split::<26>(Skip::MalformedLink)?;
    let is_ethernet = header[5] >> 4 == 0;
    if !is_ethernet {
        return Err(Skip::NonIp);
    }
    let len = usize::from(u16::from_be_bytes([header[12], header[13]]));
    match len.checked_sub(BEHIND_LENGTH) {
        Some(len) => link::ethernet(way.deeper()?, inside.of_len(len).without_trailer(4)),
        None => Err(Skip::MalformedLink),
    }
}

/// TRILL (RFC 6325 section 3): flags with the length of options, two nicknames, options, a frame.
fn trill(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[high, low, _, _, _, _], inside) = rest.split::<6>(Skip::MalformedLink)?;
    if high >> 6 != 0 {
        return Err(Skip::NonIp);
    }
    let options_len = usize::from(high & 7) << 2 | usize::from(low >> 6);
    let inside = inside.after(options_len * 4, Skip::MalformedLink)?;
    link::ethernet(way.deeper()?, inside)
}

/// batman-adv, compatibility version 15: frames for one host, with one or two addresses. Fragments
/// and frames for all hosts are left out.
fn batman(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let len = match rest.split::<2>(Skip::MalformedLink)? {
        ([0x40, 15], _) => 10,
        ([0x42, 15], _) => 18,
        _ => return Err(Skip::NonIp),
    };
    link::ethernet(way.deeper()?, rest.after(len, Skip::MalformedLink)?)
}

/// Network service header (RFC 8300 section 2): its length in words is in the second byte, what
/// follows it in the fourth.
pub(super) fn service_header(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[first, second, _, next], _) = rest.split::<4>(Skip::MalformedLink)?;
    let len = usize::from(second & 0x3f) * 4;
    if first >> 6 != 0 || len < 8 {
        return Err(Skip::NonIp);
    }
    let way = way.deeper()?;
    let inside = rest.after(len, Skip::MalformedLink)?;
    match next {
        1 => ip::v4(way, inside),
        2 => ip::v6(way, inside),
        3 => link::ethernet(way, inside),
        4 => service_header(way, inside),
        5 => link::mpls(way, inside),
        _ => Err(Skip::NonIp),
    }
}
