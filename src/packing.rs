//! Numbers in as few bytes as they take, for what is kept packed.

/// The sign in the lowest bit: numbers near 0 are short.
#[inline]
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// The number of which [`zigzag`] gave this.
#[inline]
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// From one number to another, near 0 where they are near each other.
#[inline]
pub(crate) fn step(from: u64, to: u64) -> u64 {
    zigzag(to.wrapping_sub(from).cast_signed())
}

/// Where such a step leads.
#[inline]
pub(crate) fn stepped(from: u64, step: u64) -> u64 {
    from.wrapping_add_signed(unzigzag(step))
}

/// Small numbers in one, 64 bits in all, which are taken out in the order that they were put in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bits {
    bits: u64,
    len: u32,
}

impl Bits {
    /// Those in a number.
    pub(crate) fn of(number: u64) -> Self {
        Self {
            bits: number,
            len: u64::BITS,
        }
    }

    /// All of them.
    pub(crate) fn number(self) -> u64 {
        self.bits
    }

    /// Puts in a number of so many bits, 63 at most.
    #[inline]
    pub(crate) fn put(&mut self, len: u32, value: u64) {
        self.bits |= value.unbounded_shl(self.len);
        self.len += len;
    }

    /// Puts in whether something holds.
    #[inline]
    pub(crate) fn put_flag(&mut self, flag: bool) {
        self.put(1, flag.into());
    }

    /// Takes out the next number.
    #[inline]
    pub(crate) fn take(&mut self, len: u32) -> u64 {
        let value = self.bits & ((1 << len) - 1);
        self.bits >>= len;
        value
    }

    /// Takes out whether something holds.
    #[inline]
    pub(crate) fn take_flag(&mut self) -> bool {
        self.take(1) != 0
    }
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

/// Writes numbers, 16 at most, behind the `len` bytes of `room`, which has eight more than they can take, and
/// moves `len` behind them: each in as few bytes as it takes, none for 0. How many these are, in half a byte
/// each, the first lowest.
#[inline]
pub(crate) fn put_numbers(room: &mut [u8], len: &mut usize, numbers: &[u64]) -> u64 {
    let mut lens = 0;
    for (place, &number) in numbers.iter().enumerate() {
        // Most are, and each is nearly always or hardly ever.
        if number == 0 {
            continue;
        }
        // All eight: the next number is written over those that are 0.
        room[*len..*len + 8].copy_from_slice(&number.to_le_bytes());
        let bytes = (u64::BITS - number.leading_zeros()).div_ceil(8);
        lens |= u64::from(bytes) << (LEN_BITS * place);
        *len += bytes as usize;
    }
    lens
}

/// The numbers that [`put_numbers`] wrote, of which many are 0, into places that are 0; `lens` are their lengths.
#[inline]
pub(crate) fn take_numbers(bytes: &mut &[u8], lens: u64, numbers: &mut [u64]) {
    let mut left = not_zero(lens);
    let mut at = 0;
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        let Some(number) = numbers.get_mut(bit as usize / LEN_BITS) else {
            break;
        };
        let len = (lens >> bit & LEN_MASK) as usize;
        *number = number_at(bytes, at, len);
        at += len;
    }
    *bytes = bytes.get(at..).unwrap_or_default();
}

/// One of the numbers that [`put_numbers`] wrote.
#[inline]
pub(crate) fn number_of(bytes: &[u8], lens: u64, place: usize) -> u64 {
    let shift = LEN_BITS * place;
    let before = lens & ((1 << shift) - 1);
    number_at(
        bytes,
        len_of_all(before),
        (lens >> shift & LEN_MASK) as usize,
    )
}

/// How many bytes all numbers take that [`put_numbers`] wrote.
#[inline]
pub(crate) fn len_of_all(lens: u64) -> usize {
    // Of numbers that were written two halves of a byte are 16 at most, and all sixteen 128: no sum leaves its byte.
    const LOW: u64 = u64::MAX / 0xff * LEN_MASK;
    let pairs = (lens & LOW) + (lens >> LEN_BITS & LOW);
    (pairs.wrapping_mul(u64::MAX / 0xff) >> (u64::BITS - 8)) as usize
}

/// Of each half byte the lowest bit, set where any of its bits is.
#[inline]
fn not_zero(lens: u64) -> u64 {
    let pairs = lens | lens >> 1;
    (pairs | pairs >> 2) & (u64::MAX / LEN_MASK)
}

/// Bits of the length of a number, 0 to 8 bytes.
const LEN_BITS: usize = 4;
const LEN_MASK: u64 = (1 << LEN_BITS) - 1;

/// Numbers whose lengths are written together.
const GROUP: usize = 16;

/// Bytes that a group may take, with what is written behind it at once.
const ROOM: usize = 8 * (GROUP + 2);

/// Writes numbers behind `bytes`, with what it takes to [find](take_all) them again: half a byte each, and
/// as many as they have.
pub(crate) fn put_all(bytes: &mut Vec<u8>, numbers: &[u64]) {
    for group in numbers.chunks(GROUP) {
        // Where they are to be: of other places they would be copied, which waits for what has just been written there.
        let start = bytes.len();
        bytes.extend_from_slice(&[0; ROOM]);
        let room = &mut bytes[start..];
        let lens_len = lens_len(group.len());
        let mut end = lens_len;
        let lens = put_numbers(room, &mut end, group);
        room[..lens_len].copy_from_slice(&lens.to_le_bytes()[..lens_len]);
        bytes.truncate(start + end);
    }
}

/// As many numbers as `N`, as [`put_all`] wrote them.
pub(crate) fn take_all<const N: usize>(bytes: &mut &[u8]) -> [u64; N] {
    let mut numbers = [0; N];
    for group in numbers.chunks_mut(GROUP) {
        let lens = take(bytes, lens_len(group.len()));
        take_numbers(bytes, lens, group);
    }
    numbers
}

/// The first `FIRST` of the `N` numbers that [`put_all`] wrote, no more than it writes together.
#[inline]
pub(crate) fn first_of<const N: usize, const FIRST: usize>(mut bytes: &[u8]) -> [u64; FIRST] {
    let lens = take(&mut bytes, lens_len(N.min(GROUP)));
    let mut at = 0;
    std::array::from_fn(|place| {
        let len = (lens >> (LEN_BITS * place) & LEN_MASK) as usize;
        let number = number_at(bytes, at, len);
        at += len;
        number
    })
}

/// As [`take_all`], where how many is only known now.
pub(crate) fn take_many(bytes: &mut &[u8], many: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    while numbers.len() < many && !bytes.is_empty() {
        let start = numbers.len();
        numbers.resize(many.min(start + GROUP), 0);
        let group = &mut numbers[start..];
        let lens = take(bytes, lens_len(group.len()));
        take_numbers(bytes, lens, group);
    }
    numbers
}

/// Bytes that the lengths of so many numbers take.
fn lens_len(numbers: usize) -> usize {
    (LEN_BITS * numbers).div_ceil(8)
}

/// A number of `len` bytes, 8 at most, lowest first.
#[inline]
pub(crate) fn take(bytes: &mut &[u8], len: usize) -> u64 {
    let value = number_at(bytes, 0, len);
    *bytes = bytes.get(len..).unwrap_or_default();
    value
}

/// The number of `len` bytes, 8 at most, that begins at `at`.
#[inline]
fn number_at(bytes: &[u8], at: usize, len: usize) -> u64 {
    /// The bits of so many bytes.
    const MASKS: [u64; LEN_MASK as usize + 1] = {
        let mut masks = [u64::MAX; LEN_MASK as usize + 1];
        let mut len = 0;
        while len < 8 {
            masks[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        masks
    };
    match bytes.get(at..at + 8).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk) & MASKS[len & LEN_MASK as usize],
        None => last_number(bytes.get(at..).unwrap_or_default(), len),
    }
}

/// The same where fewer than eight bytes are left.
#[cold]
fn last_number(bytes: &[u8], len: usize) -> u64 {
    let mut chunk = [0; 8];
    let len = len.min(bytes.len());
    chunk[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back_as_they_were(
            numbers in prop::collection::vec(prop_oneof![Just(0), 0..70_000_u64, any::<u64>()], 0..60),
            pair: [u64; 2],
        ) {
            let mut bytes = Vec::new();
            put_all(&mut bytes, &numbers);
            put_all(&mut bytes, &pair);
            put_all(&mut bytes, &[u64::MAX; 40]);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_many(&mut rest, numbers.len()), numbers);
            prop_assert_eq!(first_of::<2, 1>(rest), [pair[0]]);
            prop_assert_eq!(first_of::<2, 2>(rest), pair);
            prop_assert_eq!(take_all::<2>(&mut rest), pair);
            prop_assert_eq!(take_all::<40>(&mut rest), [u64::MAX; 40]);
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn the_sign_is_the_lowest_bit(value: i64) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
