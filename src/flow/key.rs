//! What names a connection, and which shard it belongs to.

use std::hash::{Hash, Hasher};

use crate::decode::{Endpoint, Segment};

/// Shards that connections are spread over; fixed, so that nothing depends on how many threads
/// work on them.
pub const SHARDS: usize = 32;

/// The two endpoints of a connection, in no direction: equal for the segments of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionKey {
    low: Endpoint,
    high: Endpoint,
}

impl Hash for ConnectionKey {
    /// In three words instead of the two slices with their lengths, and the two ports, that
    /// deriving gives: this is done twice a packet.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.low.address());
        state.write_u128(self.high.address());
        state.write_u32(u32::from(self.low.port()) << 16 | u32::from(self.high.port()));
    }
}

impl ConnectionKey {
    /// The connection of a segment.
    #[inline]
    #[must_use]
    pub fn of(segment: &Segment) -> Self {
        if segment.src <= segment.dst {
            Self {
                low: segment.src,
                high: segment.dst,
            }
        } else {
            Self {
                low: segment.dst,
                high: segment.src,
            }
        }
    }
}

/// The shard of a segment's connection, below [`SHARDS`]; the same for both directions, and in
/// every run.
///
/// Needs no key, since the sum over both ends has no direction. Who picks addresses to fill one
/// shard only keeps the other cores idle: within a shard, the table hashes with a seed.
#[inline]
#[must_use]
pub fn shard_of(segment: &Segment) -> usize {
    /// The golden ratio's fraction in 64 bits, and an odd number without a pattern: any will do.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    const MIX: u64 = 0xd6e8_feb8_6659_fd93;
    let end = |end: &Endpoint| {
        let address = end.address();
        let folded = (address >> 64) as u64 ^ address as u64;
        (folded ^ u64::from(end.port()) << 40).wrapping_mul(MIX)
    };
    let both = end(&segment.src).wrapping_add(end(&segment.dst));
    // The product's high bits depend on all lower ones.
    ((both ^ both >> 32).wrapping_mul(SPREAD) >> 59) as usize
}

const _: () = assert!(SHARDS == 1 << (64 - 59));
