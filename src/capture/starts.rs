//! Where records could begin: guesses, from which [lanes](super::lanes) are walked.

use memchr::memmem;

use super::pcap::{Header, Shape};
use super::record::Entry;
use super::{ByteOrder, RECORD_BYTES_MAX};

/// How far behind a place a start is looked for.
const SEARCH_BYTES_MAX: usize = 128 << 10;

/// Records in a row, and their bytes, that make a start plausible.
const CHAIN_RECORDS: usize = 6;
const CHAIN_BYTES: usize = 4 << 10;

/// The first place from `from` on at which a run of pcap records could begin, dated near `seconds`.
pub(super) fn pcap_record(shape: Shape, bytes: &[u8], from: usize, seconds: u32) -> Option<usize> {
    // The upper half of the seconds is the same for 18 hours.
    let upper = (seconds >> 16) as u16;
    let (upper, behind) = match shape.order {
        ByteOrder::Little => (upper.to_le_bytes(), 2),
        ByteOrder::Big => (upper.to_be_bytes(), 0),
    };
    let end = bytes.len().min(from + SEARCH_BYTES_MAX);
    let haystack = bytes.get(from..end)?;
    memmem::find_iter(haystack, &upper)
        .filter_map(|place| (from + place).checked_sub(behind))
        .find(|&start| start >= from && is_plausible(shape, &bytes[start..]))
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
