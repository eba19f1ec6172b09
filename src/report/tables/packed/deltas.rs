//! Whole numbers as differences from one to the next.

use polars_parquet::parquet::encoding::{bitpacked, uleb128, zigzag_leb128};

use super::range;

/// Differences that share a smallest one.
const BLOCK: usize = 128;

/// Numbers as differences, of which [`BLOCK`] share a smallest one, and `PACK` a width
/// (`DELTA_BINARY_PACKED`).
pub(super) fn put_deltas(out: &mut Vec<u8>, values: &[i64]) {
    /// As many as one call packs.
    const PACK: usize = 64;
    put_uleb(out, BLOCK);
    put_uleb(out, BLOCK / PACK);
    put_uleb(out, values.len());
    put_signed(out, values.first().copied().unwrap_or(0));
    let mut deltas = [0_i64; BLOCK];
    let rest = values.get(1..).unwrap_or_default();
    for (block, before) in rest.chunks(BLOCK).zip(values.chunks(BLOCK)) {
        if are_all(block, before[0]) {
            // The smallest difference is 0, and so is the width of both packs.
            out.extend_from_slice(&[0; 1 + BLOCK / PACK]);
            continue;
        }
        for ((delta, value), before) in deltas.iter_mut().zip(block).zip(before) {
            *delta = value.wrapping_sub(*before);
        }
        let least = deltas[..block.len()].iter().copied();
        let least = least.fold(i64::MAX, i64::min);
        // What is behind the last one is written, and never read.
        deltas[block.len()..].fill(least);
        put_signed(out, least);
        let mut packs = [[0_u64; PACK]; BLOCK / PACK];
        let widths = out.len();
        for (pack, deltas) in packs.iter_mut().zip(deltas.chunks_exact(PACK)) {
            let mut all = 0;
            for (packed, delta) in pack.iter_mut().zip(deltas) {
                *packed = delta.wrapping_sub(least) as u64;
                all |= *packed;
            }
            out.push((u64::BITS - all.leading_zeros()) as u8);
        }
        for (index, pack) in packs.iter().enumerate() {
            // A pack without any value has no bytes.
            if index * PACK >= block.len() {
                out[widths + index] = 0;
                continue;
            }
            let width = usize::from(out[widths + index]);
            let start = out.len();
            out.resize(start + width * PACK / 8, 0);
            if width > 0 {
                bitpacked::encode(pack, width, &mut out[start..]);
            }
        }
    }
}

/// Whether all of these are `number`, as in many columns most are 0.
fn are_all(values: &[i64], number: i64) -> bool {
    // Without a way out before the end, of which the compiler compares several at once.
    values.iter().fold(0, |bits, value| bits | (value ^ number)) == 0
}

/// Smallest and largest.
pub(super) fn number_range(values: &[i64]) -> Option<(i64, i64)> {
    let blocks = values.chunks(BLOCK).filter_map(|block| {
        let first = *block.first()?;
        if are_all(block, first) {
            return Some((first, first));
        }
        range(block)
    });
    blocks.reduce(|(min, max), (least, most)| (min.min(least), max.max(most)))
}

/// Puts a number in as few times seven bits as it takes.
pub(super) fn put_uleb(out: &mut Vec<u8>, number: usize) {
    let mut bytes = [0; 10];
    let used = uleb128::encode(number as u64, &mut bytes);
    out.extend_from_slice(&bytes[..used]);
}

/// The same of a number with its sign.
fn put_signed(out: &mut Vec<u8>, number: i64) {
    let (bytes, used) = zigzag_leb128::encode(number);
    out.extend_from_slice(&bytes[..used]);
}
