//! What names a connection, and which shard it belongs to.

use std::hash::BuildHasher;

use crate::decode::{Endpoint, Segment};

/// Shards that connections are spread over; fixed, so that nothing depends on how many threads
/// work on them.
pub const SHARDS: usize = 32;

/// The two endpoints of a connection, in no direction: equal for the segments of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionKey {
    low: Endpoint,
    high: Endpoint,
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
