//! What a queue holds at most, and in what it counts that (METRICS.md B6).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::losses::DroppedPacket;
use super::queue::Amount;
use crate::decode::FULL_PACKET_LEN;

/// What a queue holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueLimit {
    /// So many packets.
    Packets(u64),
    /// So many bytes, as the queue counts them: headers of a link may be among them
    /// ([`Way::header_bytes`](super::Way::header_bytes)).
    Bytes(u64),
}

impl QueueLimit {
    /// Whether a packet has no room beside what it found, in a queue that adds a `header` to each.
    /// Stamps of the two points and of what happens between them differ by a little, so one packet less is full too.
    pub(super) fn is_reached(self, drop: &DroppedPacket, header: u64) -> bool {
        match self {
            Self::Packets(limit) => drop.found.packets + drop.with_it.packets + 1 >= limit,
            Self::Bytes(limit) => {
                // Of a frame of offload the headers of each of its packets count, which nobody sees.
                let is_frame = u64::from(drop.ip_len) > PACKET_BYTES;
                let unseen = if is_frame { limit / FRAME_HEADERS } else { 0 };
                with_drop(drop, header) + PACKET_BYTES + unseen > limit
            }
        }
    }

    /// Whether so much waited, headers included, that this is not the limit: a tenth more and two packets, as stamps of
    /// the two points differ from what the queue sees.
    #[must_use]
    pub fn is_contradicted_by(self, held: Amount) -> bool {
        match self {
            Self::Packets(limit) => held.packets > clearly_more(limit, 2),
            Self::Bytes(limit) => held.bytes > clearly_more(limit, 2 * PACKET_BYTES),
        }
    }

    /// Whether it is above what waited at the most, by more than that: of a queue whose drops show that it was full
    /// then, it is not the limit.
    #[must_use]
    pub fn is_out_of_reach_of(self, held: Amount) -> bool {
        let more = |held: u64| held.saturating_add(held / 10);
        match self {
            Self::Packets(limit) => limit > more(held.packets).saturating_add(2),
            Self::Bytes(limit) => limit > more(held.bytes).saturating_add(2 * PACKET_BYTES),
        }
    }

    /// A limit of bytes that drops show is no less than what waited: that, where it is less than a packet more.
    pub(super) fn with_what_waited(self, held: Amount) -> Self {
        match self {
            Self::Bytes(limit)
                if (limit..limit.saturating_add(PACKET_BYTES)).contains(&held.bytes) =>
            {
                Self::Bytes(held.bytes)
            }
            other => other,
        }
    }

    /// Part of the limit that `packets` or `bytes` fill; 1 is full.
    #[must_use]
    pub fn share(self, packets: f64, bytes: f64) -> Option<f64> {
        match self {
            Self::Packets(limit) => (limit > 0).then(|| packets / limit as f64),
            Self::Bytes(limit) => (limit > 0).then(|| bytes / limit as f64),
        }
    }
}

/// What is more than a limit though stamps of the two points differ from what the queue sees: a tenth and a few.
fn clearly_more(limit: u64, few: u64) -> u64 {
    limit.saturating_add(limit / 10).saturating_add(few)
}

/// How many packets that passed found so many waiting, and how many made so many bytes of them, in steps of
/// [`STEP_BYTES`], with each of the [`HEADERS`].
#[derive(Clone, Debug, Default)]
pub(super) struct FoundByPassed {
    packets: Vec<u64>,
    bytes: [Vec<u64>; HEADERS.len()],
}

impl FoundByPassed {
    #[inline]
    pub(super) fn add(&mut self, found: Amount, ip_len: u32) {
        count(&mut self.packets, found.packets.min(FOUND_MAX));
        for (counts, header) in self.bytes.iter_mut().zip(HEADERS) {
            count(counts, steps(with_packet(found, ip_len, header)));
        }
    }

    /// Packets that passed though they found more than so many.
    fn above(&self, packets: u64) -> u64 {
        let counts = self.packets.iter().skip(packets as usize + 1);
        counts.sum()
    }
}

#[inline]
fn count(counts: &mut Vec<u64>, value: u64) {
    let place = value as usize;
    if place >= counts.len() {
        counts.resize(place + 1, 0);
    }
    counts[place] += 1;
}

/// Bytes that wait with the packet that comes in, as a queue counts them that adds a `header` to each.
#[inline]
fn with_packet(found: Amount, ip_len: u32, header: u64) -> u64 {
    (found.with_headers(header).bytes).saturating_add(u64::from(ip_len) + header)
}

/// The same of a packet that was dropped, with what was dropped of its frame.
fn with_drop(drop: &DroppedPacket, header: u64) -> u64 {
    with_packet(drop.found, drop.ip_len, header) + drop.with_it.with_headers(header).bytes
}

#[inline]
fn steps(bytes: u64) -> u64 {
    (bytes / STEP_BYTES).min(STEPS_MAX)
}

/// Where a header stands among those that explain drops as well: that of Ethernet comes first where one of the captures
/// `is_ethernet`, as packets of one size tell hardly anything and what a host counts for its link is that; then the smallest.
fn rank(header: u64, is_ethernet: bool) -> (bool, u64) {
    (is_ethernet && header != ETHERNET, header)
}

/// Whether a limit that is given stands though clearly more waited once: less than a quarter as many packets passed that
/// found so much as were dropped at it. A link that paused for a moment, and sent what it owed then, makes them.
pub(super) fn stands(
    limit: QueueLimit,
    header: u64,
    drops: &[DroppedPacket],
    passed: &FoundByPassed,
) -> bool {
    let beyond = match limit {
        QueueLimit::Packets(limit) => passed.above(clearly_more(limit, 2)),
        QueueLimit::Bytes(limit) => {
            let of_header = HEADERS.iter().position(|&of| of == header);
            let passed = of_header.map_or(&[][..], |of_header| &passed.bytes[of_header]);
            let steps = steps(clearly_more(limit, 2 * PACKET_BYTES));
            passed.iter().skip(steps as usize + 1).sum()
        }
    };
    // A queue may be full at every drop though it holds far more than this, but then packets pass beyond.
    beyond * 4 < found_full(drops, limit, header) as u64
}

/// The header of those that queues add to each packet under which a limit of bytes that is known tells best which
/// packets were dropped: of these the fewest would have had room, and of those that passed the fewest would not. Of
/// several the first by [`rank`].
pub(super) fn header_of(
    limit: QueueLimit,
    drops: &[DroppedPacket],
    passed: &FoundByPassed,
    is_ethernet: bool,
) -> u64 {
    let QueueLimit::Bytes(limit) = limit else {
        return 0;
    };
    let wrong_of = |header: u64, passed: &[u64]| -> u64 {
        let fits = |drop: &&DroppedPacket| with_drop(drop, header) <= limit;
        let dropped = drops.iter().filter(fits).count() as u64;
        let beyond = passed.iter().skip(steps(limit) as usize + 1);
        dropped + beyond.sum::<u64>()
    };
    let wrong = HEADERS.into_iter().zip(&passed.bytes);
    let wrong = wrong.map(|(header, passed)| (wrong_of(header, passed), header));
    let least = wrong.min_by_key(|&(wrong, header)| (wrong, rank(header, is_ethernet)));
    least.map_or(0, |(_, header)| header)
}

/// The limit that drops show, and the header that the queue adds to each packet.
///
/// It counts what tells drops best from packets that passed: bytes where these do so for clearly more of them than
/// packets do. The limit is what most drops found waiting, or else what hardly any packet passed beyond.
pub(super) fn shown_limit(
    drops: &[DroppedPacket],
    passed: &FoundByPassed,
    is_ethernet: bool,
) -> Option<(QueueLimit, u64)> {
    let drops_told = |of: &dyn Fn(&DroppedPacket) -> u64, passed: &[u64]| {
        told_apart(drops.iter().filter(|drop| has_waited(drop)).map(of), passed)
    };
    let by_packets = drops_told(&packets_of, &passed.packets);
    let by_bytes = HEADERS.into_iter().zip(&passed.bytes);
    let by_bytes = by_bytes.map(|(header, passed)| {
        let told = drops_told(&|drop| steps_of(drop, header), passed);
        (told, Reverse(rank(header, is_ethernet)))
    });
    let (by_bytes, Reverse((_, header))) = by_bytes.max()?;
    let waited = drops.iter().filter(|drop| has_waited(drop)).count() as u64;
    let few = DROPS_MIN as u64;
    let clearly = by_bytes > by_packets + by_bytes / 8 + few
        || 2 * (waited - by_bytes) + few < waited - by_packets;
    let usual = usual_limit(drops, passed, header);
    let beyond = || passed_limit(drops, passed, header, clearly);
    let limit = if clearly {
        // Stamps that differ from what the queue saw make the most that a drop found too much: what tells more of them.
        let usual = usual.filter(|limit| matches!(limit, QueueLimit::Bytes(_)));
        let of_bytes = usual.into_iter().chain(beyond());
        of_bytes.max_by_key(|&limit| found_full(drops, limit, header))
    } else {
        usual.or_else(beyond)
    }?;
    let header = match limit {
        QueueLimit::Packets(_) => 0,
        QueueLimit::Bytes(_) => header,
    };
    Some((limit, header))
}

/// Whether more than half of the drops were before the queue was full, whatever it holds: nothing waited, or of packets
/// that passed four times as many found clearly more as were dropped at so much or more.
///
/// Not where more than half found as many to within a packet, as drops at random do not: what passed beyond waited for
/// something else, as for a link that stood still behind the queue.
pub(super) fn shows_early(drops: &[DroppedPacket], passed: &FoundByPassed) -> bool {
    let usual = usual(drops.iter().map(packets_of)).filter(|&packets| packets >= LIMIT_MIN);
    let is_near = |drop: &DroppedPacket| {
        usual.is_some_and(|packets| drop.found.packets.abs_diff(packets) <= 1)
    };
    let agree = drops.iter().filter(|drop| is_near(drop)).count();
    if agree >= DROPS_MIN && agree * 2 > drops.len() {
        return false;
    }
    let mut found: Vec<u64> = drops.iter().map(packets_of).collect();
    found.sort_unstable();
    let (packets, bytes) = (Above::of(&passed.packets), Above::of(&passed.bytes[0]));
    let is_early = |drop: &&DroppedPacket| {
        let as_much = found.len() - found.partition_point(|&packets| packets < packets_of(drop));
        let in_packets = packets.above(clearly_more(drop.found.packets, 2));
        let in_bytes = bytes.above(steps(clearly_more(with_drop(drop, 0), 2 * PACKET_BYTES)));
        drop.found.packets == 0 || in_packets.min(in_bytes) >= 4 * as_much as u64
    };
    drops.iter().filter(is_early).count() * 2 > drops.len()
}

/// How many passed with each value or more, by the value.
struct Above(Vec<u64>);

impl Above {
    /// Given how many passed by their values.
    fn of(passed: &[u64]) -> Self {
        let mut sums: Vec<u64> = passed.to_vec();
        let mut sum = 0;
        for count in sums.iter_mut().rev() {
            sum += *count;
            *count = sum;
        }
        Self(sums)
    }

    /// How many passed with more than this.
    fn above(&self, value: u64) -> u64 {
        self.0.get(value as usize + 1).copied().unwrap_or(0)
    }
}

fn packets_of(drop: &DroppedPacket) -> u64 {
    drop.found.packets
}

fn steps_of(drop: &DroppedPacket, header: u64) -> u64 {
    steps(with_drop(drop, header))
}

/// Whether so much waited that it may have been what a queue holds.
fn has_waited(drop: &DroppedPacket) -> bool {
    drop.found.packets >= LIMIT_MIN
}

/// Given how many passed by their values: of the drops from some value on, less what passed from there on, the most.
fn told_apart(drops: impl Iterator<Item = u64>, passed: &[u64]) -> u64 {
    let mut drops: Vec<u64> = drops.collect();
    drops.sort_unstable_by_key(|&value| Reverse(value));
    let mut beyond = 0;
    let mut passed = passed.iter().enumerate().rev().peekable();
    let told = (1..).zip(&drops).map(|(dropped, &value)| {
        while let Some((_, count)) = passed.next_if(|&(place, _)| place as u64 >= value) {
            beyond += count;
        }
        u64::saturating_sub(dropped, beyond)
    });
    told.max().unwrap_or(0)
}

/// What most drops found waiting, when hardly any packet passed that found more.
fn usual_limit(drops: &[DroppedPacket], passed: &FoundByPassed, header: u64) -> Option<QueueLimit> {
    let packets = usual(drops.iter().map(packets_of))?;
    let near = |drop: &&DroppedPacket| drop.found.packets.abs_diff(packets) <= 1;
    let at_limit: Vec<&DroppedPacket> = drops.iter().filter(near).collect();
    let believed = at_limit.len() >= DROPS_MIN
        && at_limit.len() * 2 > drops.len()
        && packets >= LIMIT_MIN
        && passed.above(packets + 1) * 4 < at_limit.len() as u64;
    if !believed {
        return None;
    }
    // Packets of several sizes tell a limit of bytes: the bytes are always nearly the same, the
    // packets are not.
    let bytes_of = |drop: &DroppedPacket| drop.found.with_headers(header).bytes;
    let bytes = usual(at_limit.iter().map(|drop| bytes_of(drop)))?;
    let spread =
        |of: &dyn Fn(&DroppedPacket) -> u64| at_limit.iter().map(|drop| of(drop)).sum::<u64>();
    // A packet more or less is as many bytes as those that waited have, which may be ACKs.
    let of_packets = spread(&|drop| drop.found.packets.abs_diff(packets)) * (bytes / packets);
    let of_bytes = spread(&|drop| bytes_of(drop).abs_diff(bytes));
    if of_bytes * 2 < of_packets {
        // At least what was there; what would not fit is less than a packet more.
        let most = at_limit.iter().map(|drop| bytes_of(drop));
        let most = most.filter(|&most| most < bytes + PACKET_BYTES).max();
        return most.map(QueueLimit::Bytes);
    }
    Some(QueueLimit::Packets(packets))
}

/// What hardly any packet passed beyond, in packets or, if more drops were beyond that or it `is_of_bytes`, in bytes:
/// drops of a queue that counts bytes find as many packets as there is room for, whatever their sizes, and of those with
/// other reasons beside them most need not be at a full queue.
fn passed_limit(
    drops: &[DroppedPacket],
    passed: &FoundByPassed,
    header: u64,
    is_of_bytes: bool,
) -> Option<QueueLimit> {
    let beyond = |of: &dyn Fn(&DroppedPacket) -> u64, passed: &[u64]| -> Vec<&DroppedPacket> {
        let least = least_beyond(drops.iter().filter(|drop| has_waited(drop)).map(of), passed);
        let is_beyond = |drop: &&DroppedPacket| least.is_some_and(|least| of(drop) >= least);
        drops
            .iter()
            .filter(|drop| has_waited(drop))
            .filter(is_beyond)
            .collect()
    };
    let of_header = HEADERS.iter().position(|&of| of == header)?;
    let passed_bytes = &passed.bytes[of_header];
    let of_bytes = beyond(&|drop| steps_of(drop, header), passed_bytes);
    let of_packets = beyond(&packets_of, &passed.packets);
    let is_of_bytes = is_of_bytes || of_packets.len() < of_bytes.len();
    let found = if is_of_bytes { &of_bytes } else { &of_packets };
    if found.len() < DROPS_MIN || found.len() * 2 <= drops.len() && found.len() < DROPS_MANY {
        return None;
    }
    if is_of_bytes {
        let most = found
            .iter()
            .map(|drop| drop.found.with_headers(header).bytes);
        // Of large frames drops find little, and those that passed made it more.
        let least = found.iter().map(|drop| steps_of(drop, header)).min()?;
        return most
            .chain(most_below(least, passed_bytes))
            .max()
            .map(QueueLimit::Bytes);
    }
    usual(found.iter().map(|drop| drop.found.packets)).map(QueueLimit::Packets)
}

/// Most bytes that packets which passed made of what they found, below so many steps.
fn most_below(steps: u64, passed: &[u64]) -> Option<u64> {
    let below = passed.iter().zip(0..steps);
    let most = below.filter(|&(&count, _)| count > 0).last();
    most.map(|(_, place)| place * STEP_BYTES)
}

/// The least of the values of drops from which on packets that passed are less than a quarter as many, given how many
/// passed by their values.
fn least_beyond(drops: impl Iterator<Item = u64>, passed: &[u64]) -> Option<u64> {
    let mut drops: Vec<u64> = drops.collect();
    drops.sort_unstable();
    let mut above: u64 = passed.iter().sum();
    let mut passed = passed.iter().zip(0..).peekable();
    (drops.iter().zip((1..=drops.len() as u64).rev()))
        .find(|&(&value, left)| {
            while let Some((count, _)) = passed.next_if(|&(_, place)| place < value) {
                above -= count;
            }
            above * 4 < left
        })
        .map(|(&value, _)| value)
}

/// Whether nine tenths of the drops or more found no room.
pub(super) fn nearly_all_found_full(
    drops: &[DroppedPacket],
    limit: QueueLimit,
    header: u64,
) -> bool {
    found_full(drops, limit, header) * 10 >= drops.len() * 9
}

/// How many drops found no room.
fn found_full(drops: &[DroppedPacket], limit: QueueLimit, header: u64) -> usize {
    let full = |drop: &&DroppedPacket| limit.is_reached(drop, header);
    drops.iter().filter(full).count()
}

/// The most frequent value; the smallest of several. `None` without values.
fn usual(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts
        .into_iter()
        .find(|&(_, count)| count == most)
        .map(|(value, _)| value)
}

/// Bytes that queues add to those of IP: none; the header of PPP, as simulators have it; that of Ethernet, as Linux
/// counts, also with a VLAN tag.
const HEADERS: [u64; 4] = [0, 2, ETHERNET, 18];
const ETHERNET: u64 = 14;
const PACKET_BYTES: u64 = FULL_PACKET_LEN as u64;
/// Of the bytes of frames of offload so many-th are headers that are not in them: 66 beside 1448.
const FRAME_HEADERS: u64 = 20;
/// Drops from which on a limit is believed to be one: fewer show none.
pub const DROPS_MIN: usize = 3;
/// Packets from which on a limit is believed to be one: fewer wait by chance.
const LIMIT_MIN: u64 = 3;
/// Drops beyond what passes that are no chance, however many others there are.
const DROPS_MANY: usize = 10;
/// Packets that are told apart by how many there were.
const FOUND_MAX: u64 = 1 << 16;
/// Bytes that wait are told apart by so many.
const STEP_BYTES: u64 = 64;
/// Steps of them that are told apart: of 16 MiB.
const STEPS_MAX: u64 = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_what_waited_may_be_any_numbers() {
        let most = Amount {
            packets: u64::MAX,
            bytes: u64::MAX,
        };
        for limit in [QueueLimit::Packets, QueueLimit::Bytes] {
            assert!(!limit(u64::MAX).is_out_of_reach_of(most));
            assert!(!limit(u64::MAX).is_contradicted_by(most));
            assert!(limit(u64::MAX).is_out_of_reach_of(Amount::default()));
            assert!(limit(0).is_contradicted_by(most));
            assert_eq!(limit(u64::MAX).with_what_waited(most), limit(u64::MAX));
        }
    }
}
