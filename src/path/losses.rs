//! Drops: why, how many in a row, and who lost together (METRICS.md B6).

use std::collections::BTreeMap;

use super::queue::Amount;

/// A packet that came in and never left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DroppedPacket {
    /// When it came in, by the first point's clock, in ns.
    pub at_ns: i64,
    /// Its flow: an index into the hop's flows.
    pub flow: u32,
    /// Its record at the point where it came in.
    pub frame: u64,
    /// IP total length in bytes.
    pub ip_len: u32,
    /// What it found waiting.
    pub found: Amount,
    /// Drops in a row before it, without a packet between them that passed.
    pub run_before: u64,
    /// A packet like it passed, and it may be that one that was dropped.
    pub uncertain: bool,
    /// Why, as far as the queue tells.
    pub cause: DropCause,
}

/// Why a packet was dropped, as far as the queue that it met tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropCause {
    /// The queue was full.
    Full,
    /// The queue was neither full nor empty: active queue management, or loss at random.
    #[default]
    Early,
    /// Nothing waited: not the queue's doing.
    Idle,
}

impl DropCause {
    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Early => "early",
            Self::Idle => "idle",
        }
    }
}

shown_by_name!(DropCause);

/// What a queue holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueLimit {
    /// So many packets.
    Packets(u64),
    /// So many IP bytes.
    Bytes(u64),
}

impl QueueLimit {
    /// Whether a packet of `ip_len` bytes has no room beside what it `found`. Stamps of the two
    /// points and of what happens between them differ by a little, so one packet less is full too.
    fn is_reached(self, found: Amount, ip_len: u32) -> bool {
        match self {
            Self::Packets(limit) => found.packets + 1 >= limit,
            Self::Bytes(limit) => found.bytes + u64::from(ip_len) + PACKET_BYTES > limit,
        }
    }

    /// Whether so much waited that this is not the limit: a tenth more and two packets, as stamps of the two
    /// points differ from what the queue sees.
    #[must_use]
    pub fn is_contradicted_by(self, held: Amount) -> bool {
        let more = |limit: u64, few: u64| limit.saturating_add(limit / 10).saturating_add(few);
        match self {
            Self::Packets(limit) => held.packets > more(limit, 2),
            Self::Bytes(limit) => held.bytes > more(limit, 2 * PACKET_BYTES),
        }
    }

    /// Whether it is above what waited at the most, by more than that: of a queue whose drops show that it was full
    /// then, it is not the limit.
    #[must_use]
    pub fn is_out_of_reach_of(self, held: Amount) -> bool {
        let more = |held: u64| held.saturating_add(held / 10);
        match self {
            Self::Packets(limit) => limit > more(held.packets) + 2,
            Self::Bytes(limit) => limit > more(held.bytes) + 2 * PACKET_BYTES,
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

/// What pattern the drops make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropPattern {
    /// Most were at a full queue: drop-tail.
    Tail,
    /// Most were before it was full: active queue management, or loss at random.
    Early,
    /// They come as those of `CoDel` do, which drops what it had taken.
    Head,
}

impl DropPattern {
    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tail => "tail",
            Self::Early => "early",
            Self::Head => "head",
        }
    }
}

shown_by_name!(DropPattern);

/// Drops that follow each other without a pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// When the first came in, in ns.
    pub start_ns: i64,
    /// When the last came in, in ns.
    pub end_ns: i64,
    /// Packets dropped.
    pub drops: u64,
    /// IP bytes dropped.
    pub bytes: u64,
    /// Most drops in a row, without a packet between them that passed.
    pub run_max: u64,
    /// What the first one found waiting.
    pub found: Amount,
    /// Drops of each flow that lost, by flow.
    pub flows: Vec<(u32, u64)>,
}

/// How many packets that passed found so many waiting, and how many made so many bytes of them, in steps of
/// [`STEP_BYTES`].
#[derive(Clone, Debug, Default)]
pub(super) struct FoundByPassed {
    packets: Vec<u64>,
    bytes: Vec<u64>,
}

impl FoundByPassed {
    #[inline]
    pub(super) fn add(&mut self, found: Amount, ip_len: u32) {
        count(&mut self.packets, found.packets);
        count(&mut self.bytes, steps(found, ip_len));
    }

    /// Packets that passed though they found more than so many.
    fn above(&self, packets: u64) -> u64 {
        let counts = self.packets.iter().skip(packets as usize + 1);
        counts.sum()
    }
}

#[inline]
fn count(counts: &mut Vec<u64>, value: u64) {
    let place = (value as usize).min(FOUND_MAX);
    if place >= counts.len() {
        counts.resize(place + 1, 0);
    }
    counts[place] += 1;
}

/// Bytes that wait with the packet that comes in.
#[inline]
fn steps(found: Amount, ip_len: u32) -> u64 {
    (found.bytes + u64::from(ip_len)) / STEP_BYTES
}

/// Tells causes of all drops of one way.
pub(super) fn judge(drops: &mut [DroppedPacket], limit: Option<QueueLimit>) {
    for drop in drops {
        drop.cause = match limit {
            Some(limit) if limit.is_reached(drop.found, drop.ip_len) => DropCause::Full,
            _ if drop.found.packets == 0 => DropCause::Idle,
            _ => DropCause::Early,
        };
    }
}

/// The limit that drops show: what most of them found waiting, or else what hardly any packet passed beyond.
pub(super) fn shown_limit(drops: &[DroppedPacket], passed: &FoundByPassed) -> Option<QueueLimit> {
    usual_limit(drops, passed).or_else(|| passed_limit(drops, passed))
}

/// What most drops found waiting, when hardly any packet passed that found more.
fn usual_limit(drops: &[DroppedPacket], passed: &FoundByPassed) -> Option<QueueLimit> {
    let packets = usual(drops.iter().map(|drop| drop.found.packets))?;
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
    let bytes = usual(at_limit.iter().map(|drop| drop.found.bytes))?;
    let spread =
        |of: &dyn Fn(&DroppedPacket) -> u64| at_limit.iter().map(|drop| of(drop)).sum::<u64>();
    // A packet more or less is as many bytes as those that waited have, which may be ACKs.
    let of_packets = spread(&|drop| drop.found.packets.abs_diff(packets)) * (bytes / packets);
    let of_bytes = spread(&|drop| drop.found.bytes.abs_diff(bytes));
    if of_bytes * 2 < of_packets {
        // At least what was there; what would not fit is less than a packet more.
        let most = at_limit.iter().map(|drop| drop.found.bytes);
        let most = most.filter(|&most| most < bytes + PACKET_BYTES).max();
        return most.map(QueueLimit::Bytes);
    }
    Some(QueueLimit::Packets(packets))
}

/// What hardly any packet passed beyond, in packets or, if more drops were beyond that, in bytes: drops of a queue that
/// counts bytes find as many packets as there is room for, whatever their sizes, and of those with other reasons beside
/// them most need not be at a full queue.
fn passed_limit(drops: &[DroppedPacket], passed: &FoundByPassed) -> Option<QueueLimit> {
    let waited = |drop: &&DroppedPacket| drop.found.packets >= LIMIT_MIN;
    let beyond = |of: fn(&DroppedPacket) -> u64, passed: &[u64]| -> Vec<&DroppedPacket> {
        let least = least_beyond(drops.iter().filter(waited).map(of), passed);
        let is_beyond = |drop: &&DroppedPacket| least.is_some_and(|least| of(drop) >= least);
        drops.iter().filter(waited).filter(is_beyond).collect()
    };
    let of_packets = beyond(|drop| drop.found.packets, &passed.packets);
    let of_bytes = beyond(|drop| steps(drop.found, drop.ip_len), &passed.bytes);
    let found = of_packets.len().max(of_bytes.len());
    if found < DROPS_MIN || found * 2 <= drops.len() && found < DROPS_MANY {
        return None;
    }
    if of_packets.len() < found {
        let most = of_bytes.iter().map(|drop| drop.found.bytes).max();
        return most.map(QueueLimit::Bytes);
    }
    let packets = of_packets.iter().map(|drop| drop.found.packets);
    usual(packets).map(QueueLimit::Packets)
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
pub(super) fn nearly_all_found_full(drops: &[DroppedPacket], limit: QueueLimit) -> bool {
    let full = drops
        .iter()
        .filter(|drop| limit.is_reached(drop.found, drop.ip_len));
    full.count() * 10 >= drops.len() * 9
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

/// What pattern the drops make; `None` without drops.
pub(super) fn pattern(drops: &[DroppedPacket]) -> Option<DropPattern> {
    let full = drops.iter().filter(|drop| drop.cause == DropCause::Full);
    let full = full.count();
    (!drops.is_empty()).then_some(if full * 2 > drops.len() {
        DropPattern::Tail
    } else {
        DropPattern::Early
    })
}

/// Groups drops, which are in the order they came in, that are at most `pause_ns` apart.
pub(super) fn episodes(drops: &[DroppedPacket], pause_ns: i64) -> Vec<Episode> {
    drops
        .chunk_by(|one, next| next.at_ns.saturating_sub(one.at_ns) <= pause_ns)
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let mut flows: BTreeMap<u32, u64> = BTreeMap::new();
            for drop in group {
                *flows.entry(drop.flow).or_default() += 1;
            }
            Some(Episode {
                start_ns: first.at_ns,
                end_ns: last.at_ns,
                drops: group.len() as u64,
                bytes: group.iter().map(|drop| u64::from(drop.ip_len)).sum(),
                // A run may have begun before it.
                run_max: (1..)
                    .zip(group)
                    .map(|(so_far, drop)| (drop.run_before + 1).min(so_far))
                    .max()
                    .unwrap_or(0),
                found: first.found,
                flows: flows.into_iter().collect(),
            })
        })
        .collect()
}

/// IP bytes of a usual full packet.
const PACKET_BYTES: u64 = 1500;
/// Drops from which on a limit is believed to be one.
pub(super) const DROPS_MIN: usize = 3;
/// Packets from which on a limit is believed to be one: fewer wait by chance.
const LIMIT_MIN: u64 = 3;
/// Drops beyond what passes that are no chance, however many others there are.
const DROPS_MANY: usize = 10;
/// Packets, and steps of bytes, that are told apart by how many there were.
const FOUND_MAX: usize = 1 << 16;
/// Bytes that wait are told apart by so many.
const STEP_BYTES: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn drop(at_ns: i64, flow: u32, packets: u64) -> DroppedPacket {
        DroppedPacket {
            at_ns,
            flow,
            frame: 0,
            ip_len: 1500,
            found: Amount {
                packets,
                bytes: packets * 1500,
            },
            run_before: 0,
            uncertain: false,
            cause: DropCause::default(),
        }
    }

    /// Causes by the limit that the drops show.
    fn judged(drops: &mut [DroppedPacket], passed: &FoundByPassed) -> Option<QueueLimit> {
        let shown = shown_limit(drops, passed);
        judge(drops, shown);
        shown
    }

    fn passed(found: &[u64]) -> FoundByPassed {
        let mut passed = FoundByPassed::default();
        for &packets in found {
            let bytes = packets * 1500;
            passed.add(Amount { packets, bytes }, 1500);
        }
        passed
    }

    #[test]
    fn a_run_counts_in_an_episode_as_far_as_it_lies_in_it() {
        // Three in a row, the last a second later.
        let drop = |at_ns, run_before| DroppedPacket {
            run_before,
            ..drop(at_ns, 0, 0)
        };
        let drops = [drop(0, 0), drop(1_000_000, 1), drop(1_000_000_000, 2)];
        let runs = |pause_ns| -> Vec<u64> {
            let episodes = episodes(&drops, pause_ns);
            episodes.iter().map(|episode| episode.run_max).collect()
        };
        assert_eq!(runs(100_000_000), [2, 1]);
        assert_eq!(runs(2_000_000_000), [3]);
    }

    #[test]
    fn what_most_drops_found_is_the_limit() {
        let mut drops = [drop(1, 0, 10), drop(2, 0, 10), drop(3, 0, 9), drop(9, 0, 4)];
        let limit = judged(&mut drops, &passed(&[9, 9, 8, 10]));
        assert_eq!(limit, Some(QueueLimit::Packets(10)));
        let causes = drops.map(|drop| drop.cause);
        assert_eq!(causes[..3], [DropCause::Full; 3]);
        assert_eq!(causes[3], DropCause::Early);
        assert_eq!(pattern(&drops), Some(DropPattern::Tail));
    }

    #[test]
    fn what_other_packets_passed_with_is_no_limit() {
        let mut drops = [drop(1, 0, 10), drop(2, 0, 10), drop(3, 0, 10)];
        assert_eq!(judged(&mut drops, &passed(&[10, 11, 12, 13])), None);
        assert_eq!(pattern(&drops), Some(DropPattern::Early));
    }

    #[test]
    fn a_limit_of_bytes_lets_more_small_packets_in() {
        let mut drops: Vec<DroppedPacket> = (0..10).map(|at| drop(at, 0, 20)).collect();
        for drop in &mut drops[..5] {
            // A small packet more.
            drop.found.packets += 1;
            drop.found.bytes += 60;
        }
        let limit = judged(&mut drops, &passed(&[20; 50]));
        assert_eq!(limit, Some(QueueLimit::Bytes(30_060)));
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Full));
    }

    /// Frames of up to 60 kB in a queue of 150 kB: a fifth of them at most are alike.
    #[test]
    fn a_limit_of_bytes_shows_where_no_two_drops_find_as_much() {
        let mut drops: Vec<DroppedPacket> = (0..10).map(|at| drop(at, 0, 20)).collect();
        for (drop, place) in drops.iter_mut().zip(0..) {
            drop.found.packets += 3 * u64::from(place % 5_u32);
            drop.found.bytes = 140_000 - 10_000 * u64::from(place % 7_u32);
            drop.ip_len = 160_000 - drop.found.bytes as u32;
        }
        let mut passed = FoundByPassed::default();
        for bytes in (0..148_000).step_by(1000) {
            let packets = bytes / 4000;
            passed.add(Amount { packets, bytes }, 1500);
        }
        let limit = judged(&mut drops, &passed);
        assert_eq!(limit, Some(QueueLimit::Bytes(140_000)));
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Full));
    }

    #[test]
    fn a_limit_shows_beside_more_drops_at_random_if_nothing_passed_beyond() {
        let drops = |full: i64| -> Vec<DroppedPacket> {
            let random = (0..40).map(|at| drop(at, 0, at as u64 % 38));
            random
                .chain((40..40 + full).map(|at| drop(at, 0, 39)))
                .collect()
        };
        let passed = passed(&(0..390).map(|n| n % 39).collect::<Vec<u64>>());
        let limit = |full| judged(&mut drops(full), &passed);
        assert_eq!(limit(10), Some(QueueLimit::Packets(39)));
        // By chance, as the highest of many.
        assert_eq!(limit(9), None);
    }

    /// Large packets do not pass: that is no queue.
    #[test]
    fn what_is_dropped_with_little_waiting_shows_no_limit() {
        let mut drops: Vec<DroppedPacket> = (0..20).map(|at| drop(at, 0, at as u64 % 3)).collect();
        assert_eq!(judged(&mut drops, &FoundByPassed::default()), None);
    }

    #[test]
    fn a_limit_of_packets_that_acks_reach_is_none_of_bytes() {
        let mut drops: Vec<DroppedPacket> = (0..10).map(|at| drop(at, 0, 30)).collect();
        for (place, drop) in drops.iter_mut().enumerate() {
            // Stamps of the two points differ from what the queue sees.
            drop.found.packets -= u64::from(place % 3 == 2);
            drop.found.bytes = drop.found.packets * 52;
            drop.ip_len = 52;
        }
        let limit = judged(&mut drops, &passed(&[29; 50]));
        assert_eq!(limit, Some(QueueLimit::Packets(30)));
    }

    #[test]
    fn drops_anywhere_are_early_and_those_at_an_empty_queue_idle() {
        let mut drops = [drop(1, 0, 2), drop(2, 0, 5), drop(3, 0, 0), drop(9, 0, 1)];
        assert_eq!(judged(&mut drops, &passed(&[5, 6, 7])), None);
        assert_eq!(drops[2].cause, DropCause::Idle);
        assert_eq!(pattern(&drops), Some(DropPattern::Early));
    }

    #[test]
    fn an_episode_ends_with_a_pause_and_tells_who_lost() {
        let drops = [
            drop(0, 4, 9),
            drop(50, 2, 9),
            drop(90, 4, 9),
            drop(400, 2, 9),
        ];
        let episodes = episodes(&drops, 100);
        assert_eq!(episodes.len(), 2);
        assert_eq!(episodes[0].flows, [(2, 1), (4, 2)]);
        assert_eq!((episodes[0].start_ns, episodes[0].end_ns), (0, 90));
        assert_eq!(episodes[1].flows, [(2, 1)]);
    }
}
