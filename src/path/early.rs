//! Packets that left too early to be what they were taken for: others that look alike (METRICS.md B1).

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Keys of packets.
pub(super) type Twins = HashSet<u64, BuildHasherDefault<Passthrough>>;

/// What left too early to be the packet that it was taken for.
#[derive(Clone, Debug)]
pub(super) struct Early {
    /// What left so long before another packet came in, in ns, is not that one: by the way forward and back, which is by
    /// the point where packets come in.
    pub(super) ns: [i64; 2],
    /// Keys of packets of which another one was seen to leave.
    pub(super) twins: Twins,
}

/// Keys of twins that are kept.
pub(super) const TWINS_MAX: usize = 1 << 16;

/// Keys are hashes already.
#[derive(Default)]
pub(super) struct Passthrough(u64);

impl Hasher for Passthrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
