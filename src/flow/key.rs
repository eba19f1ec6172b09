//! What finds a connection again: the two ends of its segments, in no direction.

use std::hash::BuildHasher;

use crate::decode::{Datagram, Endpoint, Segment};

/// Shards that connections are spread over; fixed, so that nothing depends on how many threads
/// work on them.
pub const SHARDS: usize = 32;

/// Odd, and without a pattern: the fraction of the golden ratio, and a number found by search
/// (Steele and Vigna, "Computationally easy, spectrally good multipliers", 2022).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const SPREAD: u64 = 0xd134_2543_de82_ef95;

/// The shard of a segment's connection, below [`SHARDS`]; the same for both directions, and in
/// every run.
///
/// Who picks addresses to fill one shard only keeps the other cores idle: within a shard, the
/// table hashes with a seed.
#[inline]
#[must_use]
pub fn shard_of(segment: &Segment) -> usize {
    shard_between(segment.src.into(), segment.dst.into())
}

/// The shard of a datagram's conversation, below [`SHARDS`], as [`shard_of`] has it of a segment's connection.
#[must_use]
pub fn shard_of_datagram(datagram: &Datagram) -> usize {
    shard_between(datagram.src.into(), datagram.dst.into())
}

#[inline]
pub(super) fn shard_between(one: EndWords, other: EndWords) -> usize {
    // In a sum of plain products, clients that count up would undo servers that count down. Folded products do not
    // add up so.
    let end = |end: EndWords| {
        folded_product(
            end.lower ^ SPREAD,
            end.upper ^ u64::from(end.port) << 40 ^ GOLDEN,
        )
    };
    // The sum has no direction, and the product's high bits depend on all lower ones.
    let both = end(one).wrapping_add(end(other));
    ((both ^ both >> 32).wrapping_mul(GOLDEN) >> 59) as usize
}

/// An end as words: half an IPv6 address each, and a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndWords {
    upper: u64,
    lower: u64,
    port: u16,
}

impl EndWords {
    /// Of an IPv4 address, as an [`Endpoint`] holds it.
    #[inline]
    pub(super) fn v4(address: u32, port: u16) -> Self {
        Self {
            upper: 0,
            lower: 0xffff << 32 | u64::from(address),
            port,
        }
    }
}

impl From<Endpoint> for EndWords {
    #[inline]
    fn from(end: Endpoint) -> Self {
        let address = end.address();
        Self {
            upper: (address >> 64) as u64,
            lower: address as u64,
            port: end.port(),
        }
    }
}

const _: () = assert!(SHARDS == 1 << (64 - 59));

/// Hashes the ends of a segment, the same for both directions.
///
/// Seeded anew for each table, so that nobody can write a capture whose connections all fall
/// together. The seed moves entries within the table only; no result depends on it.
#[derive(Clone, Debug)]
pub(super) struct EndsHasher {
    seeds: [u64; 2],
}

impl EndsHasher {
    pub(super) fn new() -> Self {
        let random = foldhash::fast::RandomState::default();
        Self {
            seeds: [random.hash_one(0), random.hash_one(1)],
        }
    }

    #[inline]
    pub(super) fn hash(&self, one: &Endpoint, other: &Endpoint) -> u64 {
        self.hash_between((*one).into(), (*other).into())
    }

    #[inline]
    pub(super) fn hash_between(&self, one: EndWords, other: EndWords) -> u64 {
        // A sum of two seeded hashes has no direction, and takes no comparison to bring the ends
        // into an order.
        let sum = self.end(one).wrapping_add(self.end(other));
        sum ^ sum >> 32
    }

    #[inline]
    fn end(&self, end: EndWords) -> u64 {
        let low = end.lower ^ self.seeds[0];
        let high =
            (end.upper ^ self.seeds[1]).wrapping_add(u64::from(end.port).wrapping_mul(GOLDEN));
        folded_product(low, high)
    }
}

/// The 128-bit product of two seeded words, folded: as foldhash does.
#[inline]
fn folded_product(low: u64, high: u64) -> u64 {
    let product = u128::from(low) * u128::from(high);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A /16 of clients on one server, as scans and load tests have it: no two of 65,536 may meet
    /// in 64 bits, and no shard may have much more than its part.
    #[test]
    fn neighbouring_addresses_and_ports_are_spread() {
        let hasher = EndsHasher::new();
        let server = Endpoint::v4([10, 0, 0, 1], 443);
        let clients = (0..=u16::MAX).map(|client| {
            let [high, low] = client.to_be_bytes();
            Endpoint::v4([10, 1, 0, high], 40_000 + u16::from(low))
        });
        let mut hashes: Vec<u64> = clients
            .map(|client| hasher.hash(&client, &server))
            .collect();
        let mut low_bits = [0_u32; 256];
        for hash in &hashes {
            low_bits[(hash & 0xff) as usize] += 1;
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 1 << 16);
        // 256 each on average, with a standard deviation of 16.
        assert!(
            low_bits.iter().all(|&count| (150..400).contains(&count)),
            "{low_bits:?}"
        );
    }

    /// Addresses and ports of both sides that count, up or down, as scripts set up load tests: limits are
    /// limits of a shard, which none may reach long before the others.
    #[test]
    fn connections_are_spread_over_the_shards_however_their_ends_count() {
        let v4 = |address: u32, port: u16| Endpoint::v4(address.to_be_bytes(), port);
        let v6 = |low: u32, port: u16| {
            let address = 0x2001_0db8_u128 << 96 | u128::from(low) << 64 | u128::from(low);
            Endpoint::v6(address.to_be_bytes(), port)
        };
        let (up, down) = (|i: u32| 0x0a00_0000 + i, |i: u32| 0x0b01_0000 - i);
        let count = |ends: &dyn Fn(u32) -> (Endpoint, Endpoint)| {
            let mut shards = [0_u32; SHARDS];
            for (one, other) in (0..1 << 16).map(ends) {
                let shard = shard_between(one.into(), other.into());
                assert_eq!(shard, shard_between(other.into(), one.into()));
                shards[shard] += 1;
            }
            shards
        };
        let port = |i: u32| i as u16;
        for (kind, shards) in [
            (
                "one server",
                count(&|i| (v4(up(i), 5000), v4(0x0b00_0000, 80))),
            ),
            (
                "both up",
                count(&|i| (v4(up(i), 5000), v4(0x0b00_0000 + i, 80))),
            ),
            (
                "up and down",
                count(&|i| (v4(up(i), 5000), v4(down(i), 80))),
            ),
            (
                "equal ports",
                count(&|i| (v4(up(i), 179), v4(down(i), 179))),
            ),
            ("ports", count(&|i| (v4(1, port(i)), v4(2, !port(i))))),
            (
                "equal addresses",
                count(&|i| (v4(1, port(i)), v4(1, !port(i)))),
            ),
            ("IPv6", count(&|i| (v6(up(i), 5000), v6(down(i), 80)))),
        ] {
            // 2048 each on average, with a standard deviation of 45.
            let is_even = shards.iter().all(|count| (1700..2400).contains(count));
            assert!(is_even, "{kind}: {shards:?}");
        }
    }

    #[test]
    fn both_directions_hash_alike_and_swapped_ports_do_not() {
        let hasher = EndsHasher::new();
        let (a, b) = (Endpoint::v4([10, 0, 0, 1], 80), Endpoint::v6([7; 16], 9));
        assert_eq!(hasher.hash(&a, &b), hasher.hash(&b, &a));
        assert_ne!(
            hasher.hash(&a, &b),
            hasher.hash(&a.with_port(9), &b.with_port(80))
        );
    }
}
