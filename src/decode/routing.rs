//! The last address of a source route: TCP's, as its checksum has it (RFC 8200 section 8.1).

use super::rest::Rest;
use super::segment::Endpoint;

/// Where the packet goes in the end, by the routing header that `rest` begins with; `None` where it
/// has arrived, or the header is of a kind that is not known.
#[cold]
pub(super) fn final_v6(dst: Endpoint, rest: Rest<'_>) -> Option<Endpoint> {
    let &[_, words, kind, left, compression, pad, ..] = rest.bytes else {
        return None;
    };
    if left == 0 {
        return None;
    }
    let header = rest.bytes.get(..(usize::from(words) + 1) * 8)?;
    let last = match kind {
        // In order (RFC 2460 section 4.4), and Mobile IPv6's one home address (RFC 6275 section 6.4).
        0 | 2 => *header.get(8..)?.last_chunk()?,
        // Segment routing: the list is in reverse (RFC 8754 section 2).
        4 => *header.get(8..)?.first_chunk()?,
        // RPL: what the last address has in common with the destination is left out (RFC 6554 section 3).
        3 => {
            let shared = usize::from(compression & 0xf);
            let end = header.len().checked_sub(usize::from(pad >> 4))?;
            let tail = header.get(end.checked_sub(16 - shared)?.max(8)..end)?;
            let mut address = dst.octets();
            address
                .get_mut(shared..)?
                .copy_from_slice(tail.get(..16 - shared)?);
            address
        }
        _ => return None,
    };
    Some(Endpoint::v6(last, 0))
}

/// The home address of a mobile sender, in a destination options header (RFC 6275 section 6.3).
#[cold]
pub(super) fn home(rest: Rest<'_>) -> Option<Endpoint> {
    let &[_, words, ..] = rest.bytes else {
        return None;
    };
    let mut options = rest.bytes.get(2..(usize::from(words) + 1) * 8)?;
    loop {
        options = match options {
            [PAD, behind @ ..] => behind,
            [HOME_ADDRESS, 16, behind @ ..] => {
                return Some(Endpoint::v6(*behind.first_chunk()?, 0));
            }
            [_, len, behind @ ..] => behind.get(usize::from(*len)..)?,
            _ => return None,
        };
    }
}

/// Where the packet goes in the end, by a loose or strict source route among IPv4's options (RFC 791
/// section 3.1); `None` where it has arrived, or has no such route.
pub(super) fn final_v4(mut options: &[u8]) -> Option<Endpoint> {
    loop {
        options = match options {
            [NO_OPERATION, behind @ ..] => behind,
            [LOOSE_ROUTE | STRICT_ROUTE, len, pointer, ..] => {
                let route = options.get(3..usize::from(*len))?;
                return (pointer <= len)
                    .then(|| route.last_chunk())?
                    .map(|last| Endpoint::v4(*last, 0));
            }
            [END, ..] => return None,
            [_, len, ..] if *len >= 2 => options.get(usize::from(*len)..)?,
            _ => return None,
        };
    }
}

// Options of IPv4.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const LOOSE_ROUTE: u8 = 131;
const STRICT_ROUTE: u8 = 137;

// Options of IPv6.
const PAD: u8 = 0;
const HOME_ADDRESS: u8 = 0xc9;
