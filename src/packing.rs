//! Numbers in as few bytes as they take, for what is kept packed.

/// The sign in the lowest bit: numbers near 0 are short.
#[inline]
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// The number of which [`zigzag`] gave this.
#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Writes a number with its sign behind the `len` bytes of `room`, which has eight more, and moves `len`
/// behind it: in as few bytes as it takes, at least one. How many.
#[inline]
pub(crate) fn put_signed(room: &mut [u8], len: &mut usize, value: i64) -> u32 {
    let value = zigzag(value);
    let bytes = (u64::BITS - 1 - (value | 1).leading_zeros()) / 8 + 1;
    room[*len..*len + 8].copy_from_slice(&value.to_le_bytes());
    *len += bytes as usize;
    bytes
}

/// A number with its sign, as [`put_signed`] wrote it, of `len` bytes, 8 at most.
#[inline]
pub(crate) fn take_signed(bytes: &mut &[u8], len: usize) -> i64 {
    unzigzag(take(bytes, len))
}

/// A number of `len` bytes, 8 at most, lowest first.
#[inline]
pub(crate) fn take(bytes: &mut &[u8], len: usize) -> u64 {
    let value = match bytes.first_chunk::<8>() {
        // None of no bytes: 64 are no shift.
        Some(chunk) => {
            let mask = u64::MAX.unbounded_shr(64 - 8 * len as u32);
            u64::from_le_bytes(*chunk) & mask
        }
        None => take_last(bytes, len),
    };
    *bytes = bytes.get(len..).unwrap_or_default();
    value
}

/// The same where fewer than eight bytes are left.
#[cold]
fn take_last(bytes: &[u8], len: usize) -> u64 {
    let mut chunk = [0; 8];
    let len = len.min(bytes.len());
    chunk[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(chunk)
}
