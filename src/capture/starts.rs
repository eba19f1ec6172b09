//! Where records could begin: guesses, from which [lanes](super::lanes) are walked.

use std::ops::Range;

use memchr::memmem;

use super::pcap::{Header, Shape};
use super::record::Entry;
use super::{ByteOrder, RECORD_BYTES_MAX};

/// How far behind a place a start is looked for.
const SEARCH_BYTES_MAX: usize = 128 << 10;

/// Records in a row, and their bytes, that make a start plausible.
const CHAIN_RECORDS: usize = 6;
const CHAIN_BYTES: usize = 4 << 10;

/// Where a record's header has the first of its two lengths, neither of which is zero.
const FIRST_LEN: Range<usize> = 8..12;

/// The first place from `from` on at which a run of pcap records could begin, dated near `seconds`.
pub(super) fn pcap_record(shape: Shape, bytes: &[u8], from: usize, seconds: u32) -> Option<usize> {
    // The upper half of the seconds is the same for 18 hours.
    let upper = (seconds >> 16) as u16;
    let (upper, behind) = match shape.order {
        ByteOrder::Little => (upper.to_le_bytes(), 2),
        ByteOrder::Big => (upper.to_be_bytes(), 0),
    };
    let end = bytes.len().min(from + SEARCH_BYTES_MAX);
    let found = memmem::Finder::new(&upper);
    let mut next = from;
    while let Some(place) = bytes.get(next..end).and_then(|rest| found.find(rest)) {
        let place = next + place;
        next = place + 1;
        let Some(start) = place.checked_sub(behind).filter(|&start| start >= from) else {
            continue;
        };
        if is_plausible(shape, &bytes[start..]) {
            return Some(start);
        }
        // Clocks of simulations begin at zero, and their payload is zeros: all of it looks like the seconds.
        let behind_times = bytes.get(start + FIRST_LEN.start..end).unwrap_or_default();
        let zeros = behind_times.iter().take_while(|&&byte| byte == 0).count();
        next = next.max((start + zeros).saturating_sub(FIRST_LEN.len() - 1));
    }
    None
}

fn is_plausible(shape: Shape, records: &[u8]) -> bool {
    let mut at = 0;
    for tried in 0.. {
        if tried >= CHAIN_RECORDS && at >= CHAIN_BYTES {
            return true;
        }
        let Some(header) = records.get(at..).and_then(|rest| shape.header(rest)) else {
            // To the end of the bytes, and nothing spoke against it.
            return tried > 0;
        };
        if !could_be(shape, header) {
            return false;
        }
        at += shape.header_bytes + header.captured_len as usize;
    }
    false
}

fn could_be(shape: Shape, header: Header) -> bool {
    header.fraction < shape.fraction_end()
        && (1..=RECORD_BYTES_MAX).contains(&header.captured_len)
        && header.original_len >= header.captured_len
}

/// The first place from `from` on at which a run of pcapng packet blocks could begin, as far from `block`, which is
/// one, as whole words are. `step` gives what comes behind such a block, if it is one; `packet` is the type of these as
/// it stands in the file.
pub(super) fn pcapng_block(
    bytes: &[u8],
    (from, block): (usize, usize),
    packet: [u8; 4],
    step: impl Fn(&[u8], usize) -> Option<(Entry, usize)>,
) -> Option<usize> {
    let first = from + block.wrapping_sub(from) % packet.len();
    let end = bytes.len().min(from + SEARCH_BYTES_MAX);
    let words = bytes.get(first..end)?.chunks_exact(packet.len());
    words
        .zip((first..).step_by(packet.len()))
        .filter(|&(word, _)| word == packet)
        .map(|(_, start)| start)
        .find(|&start| {
            let mut at = start;
            (0..CHAIN_RECORDS).all(|_| match step(bytes, at) {
                Some((_, next)) => {
                    at = next;
                    true
                }
                None => false,
            })
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::capture::pcap::LengthOrder;

    proptest! {
        /// Against each place looked at, the slow twin: bytes like those of a simulation, whose seconds are few and
        /// whose payload is zeros.
        #[test]
        fn what_is_passed_over_is_no_start(
            records in proptest::collection::vec((0_u32..3, 1_u32..40, 0_usize..3), 1..20),
            from in 0_usize..200,
            seconds in prop_oneof![Just(0_u32), Just(1 << 16)],
        ) {
            let shape = Shape {
                order: ByteOrder::Little,
                ns_per_unit: 1,
                header_bytes: 16,
                lengths: LengthOrder::CapturedFirst,
            };
            let mut bytes = Vec::new();
            for (more, len, odd) in records {
                for field in [seconds + more, 7, len, len] {
                    bytes.extend(field.to_le_bytes());
                }
                bytes.extend((0..len as usize).map(|at| u8::from(at % 3 < odd)));
            }
            let upper = seconds >> 16;
            let slow = (from..bytes.len().saturating_sub(3)).find(|&start| {
                let seconds = u32::from_le_bytes(bytes[start..start + 4].try_into().unwrap());
                seconds >> 16 == upper && is_plausible(shape, &bytes[start..])
            });
            prop_assert_eq!(pcap_record(shape, &bytes, from, seconds), slow);
        }
    }
}
