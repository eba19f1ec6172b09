//! What names a connection, and which shard it belongs to.

use std::hash::{BuildHasher, Hash, Hasher};

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
        state.write_u128(u128::from_le_bytes(self.low.octets()));
        state.write_u128(u128::from_le_bytes(self.high.octets()));
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

    /// The shard of the connection, below [`SHARDS`]; the same in every run.
    #[inline]
    #[must_use]
    pub fn shard(&self) -> usize {
        let hash = foldhash::fast::FixedState::with_seed(0x5eed).hash_one(self);
        (hash >> 59) as usize
    }
}

const _: () = assert!(SHARDS == 1 << (64 - 59));
