//! Sequence numbers on the wire and offsets in a stream.

use std::fmt;

/// A TCP sequence number as it stands on the wire: a position modulo 2^32 (RFC 9293 section 3.4).
///
/// Deliberately not `Ord`: serial order is not transitive, so sorting by it is a bug.
/// Deliberately no `Sub`: a capture may hold any two values, and a distance must never panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// Signed distance in bytes from `base` to `self`, within -2^31 ..= 2^31 - 1.
    #[must_use]
    pub const fn offset_from(self, base: Self) -> i32 {
        self.0.wrapping_sub(base.0).cast_signed()
    }

    /// The sequence number `n` bytes further on.
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }
}

/// As on the wire.
impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Sequence space one segment takes, in bytes: payload, plus one each for SYN and FIN
/// (RFC 9293 section 3.4). The only place in the crate where this rule is written.
#[must_use]
pub const fn seq_len(payload_len: u32, syn: bool, fin: bool) -> u32 {
    payload_len.wrapping_add(syn as u32 + fin as u32)
}

/// Unwraps the sequence numbers of one direction to 64-bit stream offsets (METRICS.md, "Words").
///
/// Offset 0 is the first data byte: ISN + 1, or the first byte seen in a capture that starts
/// mid-flow, where earlier bytes that turn up later get negative offsets. A number is taken to be
/// the one nearest to `near`, so streams longer than 4 GiB and wraps need no further care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwrapper {
    base: Seq,
}

impl Unwrapper {
    /// Offsets are counted from `base`, the sequence number of the first data byte.
    #[must_use]
    pub const fn new(base: Seq) -> Self {
        Self { base }
    }

    /// The sequence number of offset 0.
    #[must_use]
    pub const fn base(self) -> Seq {
        self.base
    }

    /// The offset of `seq` that is nearest to the offset `near`.
    #[must_use]
    pub const fn offset(self, seq: Seq, near: i64) -> i64 {
        let near_seq = Seq(self.base.0.wrapping_add(near as u32));
        near.saturating_add(seq.offset_from(near_seq) as i64)
    }

    /// The wire sequence number of `offset`.
    #[must_use]
    pub const fn seq(self, offset: i64) -> Seq {
        Seq(self.base.0.wrapping_add(offset as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever two values a capture holds, the distance is defined and undoes itself.
        #[test]
        fn offset_from_is_inverse_of_wrapping_add(base: u32, step: i32) {
            prop_assert_eq!(Seq(base.wrapping_add_signed(step)).offset_from(Seq(base)), step);
        }

        /// Any offset survives the way over the wire as long as the reference is within 2 GiB.
        #[test]
        fn unwrapping_finds_the_offset_it_came_from(
            base: u32,
            near in 0_i64..1 << 50,
            step in i64::from(i32::MIN)..i64::from(i32::MAX),
        ) {
            let unwrapper = Unwrapper::new(Seq(base));
            prop_assert_eq!(unwrapper.offset(unwrapper.seq(near + step), near), near + step);
        }
    }

    #[test]
    fn syn_and_fin_take_one_number_each() {
        assert_eq!(seq_len(0, true, false), 1);
        assert_eq!(seq_len(1448, false, true), 1449);
    }
}
