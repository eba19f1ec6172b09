//! 802.11 frames, and the headers that capturing drivers put before them.

use super::rest::Rest;
use super::skip::Skip;
use super::{Decoded, Outcome, Way, link};

/// An 802.11 frame without a check sequence (IEEE 802.11-2020 section 9.2).
pub(super) fn frame(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    frame_of(way, rest, 1, Controls::AsSent)
}

/// The same with its header padded to a multiple of `align` bytes.
fn aligned_frame(way: Way<'_>, rest: Rest<'_>, align: usize) -> Outcome {
    frame_of(way, rest, align, Controls::AsSent)
}

/// The same with the two bytes of its frame control and of its sequence control turned round.
pub(super) fn turned_frame(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    frame_of(way, rest, 1, Controls::Turned)
}

/// How the two bytes of frame control and sequence control lie in a frame.
#[derive(Clone, Copy)]
enum Controls {
    AsSent,
    Turned,
}

fn frame_of(mut way: Way<'_>, rest: Rest<'_>, align: usize, controls: Controls) -> Outcome {
    let (&first, _) = rest.split::<2>(Skip::MalformedLink)?;
    // Where in these the byte is that was sent first.
    let (first_at, [control, flags]) = match controls {
        Controls::AsSent => (0, first),
        Controls::Turned => (1, [first[1], first[0]]),
    };
    let is_data = control & 0x0c == 0x08;
    let has_body = control & 0x40 == 0;
    if !is_data || !has_body {
        return Err(Skip::NonIp);
    }
    let is_qos = control & 0x80 != 0;
    let has_four_addresses = flags & (TO_DS | FROM_DS) == TO_DS | FROM_DS;
    let has_ht_control = is_qos && flags & ORDER != 0;
    let qos_at = 24 + usize::from(has_four_addresses) * 6;
    let len = qos_at + usize::from(is_qos) * 2 + usize::from(has_ht_control) * 4;
    let body = rest.after(len.next_multiple_of(align), Skip::MalformedLink)?;
    let fragment_number = rest.bytes[22 + first_at] & 0xf;
    if fragment_number != 0 {
        return Err(Skip::LaterFragment);
    }
    let is_aggregate = is_qos && rest.bytes[qos_at] & AGGREGATE != 0;
    // Frames to an access point have something else in the bit.
    let is_mesh = is_qos && flags & FROM_DS != 0 && rest.bytes[qos_at + 1] & MESH != 0;
    let inside = if is_mesh && !is_aggregate {
        past_mesh_control(body)?
    } else {
        body
    };
    // Some drivers decrypt and leave the flag; no cipher's header looks like SNAP's.
    if flags & PROTECTED != 0 && !inside.bytes.starts_with(&[0xaa, 0xaa, 3]) {
        return Err(Skip::Encrypted);
    }
    if is_aggregate {
        aggregate(&mut way, body, is_mesh)
    } else {
        link::llc(way, inside)
    }
}

/// Past a mesh control (section 9.2.4.7.3): how many addresses it has, a time to live, a number, and these. Frames of
/// no mesh may have the bit that tells of it; no LLC of theirs begins with such a number.
fn past_mesh_control(body: Rest<'_>) -> Result<Rest<'_>, Skip> {
    match body.bytes.first() {
        Some(&addresses @ 0..=2) => body.after(6 + usize::from(addresses) * 6, Skip::MalformedLink),
        _ => Ok(body),
    }
}

/// An aggregate of frames (A-MSDU, section 9.3.2.2): its first TCP segment and how many more there are, each of which
/// is told to who asks; without any, the first echo in it, or else the first frame's reason.
fn aggregate(way: &mut Way<'_>, mut rest: Rest<'_>, is_mesh: bool) -> Outcome {
    let mut found = None;
    let mut reason = None;
    loop {
        let (frame, behind) = match subframe(rest) {
            Ok(split) => split,
            Err(short) => {
                reason = reason.or(Some(short));
                break;
            }
        };
        let mut here = Decoded::Skipped(Skip::NonIp);
        let body = if is_mesh {
            past_mesh_control(frame)
        } else {
            Ok(frame)
        };
        match body.and_then(|body| link::llc(way.beside(&mut here), body)) {
            Ok(()) => {
                if let (Decoded::Segment(segment), Some(each)) = (&here, &mut way.each) {
                    each(segment);
                }
                found = Some(found.map_or(here, |found| together(found, here)));
            }
            Err(skip) => reason = reason.or(Some(skip)),
        }
        // The packet of what was found first is the record's.
        if found.is_some() {
            way.inner = None;
        }
        match behind {
            Ok(behind) => rest = behind,
            Err(short) => {
                reason = reason.or(Some(short));
                break;
            }
        }
    }
    match found {
        Some(found) => {
            *way.found = found;
            Ok(())
        }
        None => Err(reason.unwrap_or(Skip::MalformedLink)),
    }
}

/// What two parts of one record are together.
fn together(one: Decoded, other: Decoded) -> Decoded {
    let others = match other {
        Decoded::Segment(_) => 1,
        Decoded::FirstOf(_, behind) => behind.saturating_add(1),
        _ => return one,
    };
    match one {
        Decoded::Segment(first) => Decoded::FirstOf(first, others),
        Decoded::FirstOf(first, behind) => Decoded::FirstOf(first, behind.saturating_add(others)),
        _ => other,
    }
}

/// The frame in an aggregate that `rest` begins with, and what comes behind it, if there is anything.
type Subframe<'a> = (Rest<'a>, Result<Rest<'a>, Skip>);

fn subframe(rest: Rest<'_>) -> Result<Subframe<'_>, Skip> {
    let (&[.., high, low], inside) = rest.split::<14>(Skip::MalformedLink)?;
    let len = usize::from(u16::from_be_bytes([high, low]));
    let behind = rest.after((14 + len).next_multiple_of(4), Skip::MalformedLink);
    Ok((inside.of_len(len), behind))
}

/// Radiotap: its length, and in its flags whether the frame ends with a check sequence, whether it
/// failed it, and whether the 802.11 header is padded.
pub(super) fn radiotap(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[version, _, len_low, len_high], _) = rest.split::<4>(Skip::MalformedLink)?;
    let len = usize::from(u16::from_le_bytes([len_low, len_high]));
    if version != 0 || len < 8 {
        return Err(Skip::MalformedLink);
    }
    let mut inside = rest.after(len, Skip::MalformedLink)?;
    let flags = radiotap_flags(&rest.bytes[..len]);
    if flags & RADIOTAP_BAD != 0 {
        return Err(Skip::BadCheckSequence);
    }
    if flags & RADIOTAP_CHECK_SEQUENCE != 0 {
        inside = inside.without_trailer(4);
    }
    aligned_frame(
        way,
        inside,
        if flags & RADIOTAP_PADDED == 0 { 1 } else { 4 },
    )
}

/// The flags field, which comes second: after the clock, which is eight bytes and aligned to eight.
fn radiotap_flags(header: &[u8]) -> u8 {
    let (words, _) = header.as_chunks::<4>();
    let presence = words.iter().skip(1);
    let Some(extended) = presence.clone().position(|word| word[3] & 0x80 == 0) else {
        return 0;
    };
    let first = presence.clone().next().map_or(0, |word| word[0]);
    let mut at = 8 + extended * 4;
    if first & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    if first & 2 != 0 {
        header.get(at).copied().unwrap_or(0)
    } else {
        0
    }
}

/// Prism: its length is the second word, in the capturing machine's order. AVS came with the same
/// link type for a while.
pub(super) fn prism(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[a, b, c, _, l0, l1, l2, l3], _) = rest.split::<8>(Skip::MalformedLink)?;
    if [a, b, c] == AVS_MAGIC {
        return avs(way, rest);
    }
    let len = match u32::from_le_bytes([l0, l1, l2, l3]) {
        little @ ..0x1_0000 => little,
        big => big.swap_bytes(),
    };
    frame(way, rest.after((len as usize).max(8), Skip::MalformedLink)?)
}

/// AVS: its length is the second word, in network order.
pub(super) fn avs(way: Way<'_>, rest: Rest<'_>) -> Outcome {
    let (&[_, _, _, _, l0, l1, l2, l3], _) = rest.split::<8>(Skip::MalformedLink)?;
    let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    frame(way, rest.after(len.max(8), Skip::MalformedLink)?)
}

// Bits of the frame control's second byte.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;
/// Bit of the `QoS` control field: the body is an aggregate.
const AGGREGATE: u8 = 0x80;
/// Bit of its second byte: a mesh control comes before LLC.
const MESH: u8 = 0x01;
// Bits of radiotap's flags.
const RADIOTAP_CHECK_SEQUENCE: u8 = 0x10;
const RADIOTAP_PADDED: u8 = 0x20;
/// The frame failed its check.
const RADIOTAP_BAD: u8 = 0x40;
const AVS_MAGIC: [u8; 3] = [0x80, 0x21, 0x10];
