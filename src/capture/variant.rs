//! Tells record headers of different lengths apart where the magic does not.
//!
//! Patched libpcaps of 1999 and Nokia's systems wrote longer record headers under a magic that was
//! already in use. As Wireshark does, the first records are tried with each known length.

use super::RECORD_BYTES_MAX;
use super::pcap::{Header, Shape};

/// Under the standard magic: the standard, the patch of 1999-04-17, Nokia.
pub(super) const STANDARD_HEADER_BYTES: [usize; 3] = [16, 24, 20];

/// Under the modified magic: the patches of 1999-10-29 (and of others) and of 1999-09-15.
pub(super) const MODIFIED_HEADER_BYTES: [usize; 2] = [24, 28];

/// Records tried with each length.
const RECORDS_TRIED: usize = 3;

/// Records whose fractions of a second are looked at.
const FRACTIONS_TRIED: usize = 16;

/// Farther apart than this, in seconds, records do not bear each other out: a day.
const NEAR_SECONDS: u32 = 86_400;

/// The length, of those in `known`, that makes sense of the first `records` of a file.
///
/// The first of `known` is the rule: it stays unless one of the first three records makes no sense
/// with it, and another length makes sense of three records (or of all there are). So damage in a
/// file of the usual kind is read as damage, not as another format.
pub(super) fn header_bytes(shape: Shape, known: &[usize], snap_len: u32, records: &[u8]) -> usize {
    let Some((&usual, others)) = known.split_first() else {
        return shape.header_bytes;
    };
    let sense = |header_bytes| {
        makes_sense(
            Shape {
                header_bytes,
                ..shape
            },
            snap_len,
            records,
        )
    };
    if sense(usual) == Sense::None {
        others
            .iter()
            .copied()
            .find(|length| sense(*length) == Sense::Proven)
            .unwrap_or(usual)
    } else {
        usual
    }
}

/// Whether the records of a microsecond file hold nanoseconds, as some writers that chose the wrong magic have left
/// them: most fractions of the first records are a second and more in microseconds, and none is in nanoseconds.
/// Only records that make sense otherwise tell: what comes behind damage may be anything.
pub(super) fn holds_nanoseconds(shape: Shape, snap_len: u32, mut records: &[u8]) -> bool {
    let (mut tried, mut beyond, mut before) = (0, 0, None);
    while tried < FRACTIONS_TRIED
        && shape.ns_per_unit == 1_000
        && let Some(header) = shape.header(records)
        && is_possible(header, snap_len, before)
    {
        if header.fraction >= 1_000_000_000 {
            return false;
        }
        tried += 1;
        before = Some(header.seconds);
        beyond += usize::from(header.fraction >= 1_000_000);
        let length = shape.header_bytes + header.captured_len as usize;
        records = records.get(length..).unwrap_or_default();
    }
    beyond * 2 > tried
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    /// At least one record makes none.
    None,
    /// Nothing speaks against it, but there are too few bytes to tell.
    Possible,
    /// Three records in a row do, or all to the very end of the bytes.
    Proven,
}

fn makes_sense(shape: Shape, snap_len: u32, mut records: &[u8]) -> Sense {
    let mut before = None;
    for tried in 0..RECORDS_TRIED {
        if records.is_empty() && tried > 0 {
            return Sense::Proven;
        }
        let Some(header) = shape.header(records) else {
            return Sense::Possible;
        };
        if header.fraction >= shape.fraction_end() || !is_possible(header, snap_len, before) {
            return Sense::None;
        }
        before = Some(header.seconds);
        let length = shape.header_bytes + header.captured_len as usize;
        match records.get(length..) {
            Some(rest) => records = rest,
            None => return Sense::Possible,
        }
    }
    Sense::Proven
}

/// Whether lengths and seconds of a record make sense, behind one of the second `before`.
fn is_possible(header: Header, snap_len: u32, before: Option<u32>) -> bool {
    let len_max = if snap_len == 0 {
        RECORD_BYTES_MAX
    } else {
        snap_len.min(RECORD_BYTES_MAX)
    };
    // Some writers add a link header to the snap length.
    (1..=len_max.saturating_add(64)).contains(&header.captured_len)
        && header.captured_len <= header.original_len
        && before.is_none_or(|before| header.seconds.abs_diff(before) <= NEAR_SECONDS)
}
