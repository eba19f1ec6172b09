//! Drops: why, how many in a row, and who lost together (METRICS.md B6).

use std::collections::BTreeMap;

use super::limit::QueueLimit;
use super::queue::Amount;

/// A packet that came in and never left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DroppedPacket {
    /// When it came in, by the first point's clock, in ns.
    pub at_ns: i64,
    /// Its flow: the number that [`Hop::flow`](super::Hop::flow) takes.
    pub flow: u32,
    /// Its record at the point where it came in.
    pub frame: u64,
    /// IP total length in bytes.
    pub ip_len: u32,
    /// What it found waiting.
    pub found: Amount,
    /// What else was dropped of its frame of offload: all of that needed room at once.
    pub with_it: Amount,
    /// Drops in a row before it, without a packet between them that passed.
    pub run_before: u64,
    /// A packet like it passed, and it may be that one that was dropped.
    pub uncertain: bool,
    /// Why, as far as the queue tells.
    pub cause: DropCause,
}

/// Why a packet was dropped, as far as the queue that it met tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
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

/// What pattern the drops make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

/// Adds a drop to those before it, and to each of its frame the others, unless another packet passed that came in then:
/// a frame that passes in part is taken packet by packet.
pub(super) fn add(drops: &mut Vec<DroppedPacket>, mut drop: DroppedPacket, passed_at: i64) {
    let of = |drop: &DroppedPacket| (drop.frame, drop.at_ns, drop.flow);
    let frame = of(&drop);
    if passed_at != drop.at_ns {
        for other in drops
            .iter_mut()
            .rev()
            .take_while(|other| of(other) == frame)
        {
            drop.with_it.add(other.ip_len);
            other.with_it.add(drop.ip_len);
        }
    }
    drops.push(drop);
}

/// A packet passed that came in at this time: what was dropped of its frame was dropped by itself.
pub(super) fn pass(drops: &mut [DroppedPacket], at: i64) {
    let is_beside = |drop: &&mut DroppedPacket| drop.at_ns == at && drop.with_it.packets > 0;
    for drop in drops.iter_mut().rev().take_while(is_beside) {
        drop.with_it = Amount::default();
    }
}

/// Tells causes of all drops of one way, by the limit of a queue that adds a `header` to each packet.
pub(super) fn judge(drops: &mut [DroppedPacket], limit: Option<QueueLimit>, header: u64) {
    for drop in drops {
        drop.cause = match limit {
            Some(limit) if limit.is_reached(drop, header) => DropCause::Full,
            _ if drop.found.packets == 0 => DropCause::Idle,
            _ => DropCause::Early,
        };
    }
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

#[cfg(test)]
mod tests {
    use super::super::limit::{FoundByPassed, header_of, shown_limit, shows_early};
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
            with_it: Amount::default(),
            run_before: 0,
            uncertain: false,
            cause: DropCause::default(),
        }
    }

    /// Causes by the limit that the drops show.
    fn judged(drops: &mut [DroppedPacket], passed: &FoundByPassed) -> Option<QueueLimit> {
        let (limit, header) = shown_limit(drops, passed, false).unzip();
        judge(drops, limit, header.unwrap_or(0));
        limit
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
        let passed = passed(&[10, 11, 12, 13]);
        assert_eq!(judged(&mut drops, &passed), None);
        assert!(!shows_early(&drops, &passed));
    }

    /// A queue of 60 packets whose drops find up to 66 by the stamps, and which packets pass that do: nothing shows that
    /// it was not full. Drops at random are where fewer waited than packets passed beside.
    #[test]
    fn drops_are_early_where_enough_packets_passed_beyond_them() {
        let at = |found: &[u64]| -> Vec<DroppedPacket> {
            found.iter().map(|&packets| drop(1, 0, packets)).collect()
        };
        let all: Vec<u64> = (0..=65).cycle().take(1000).collect();
        let full = [&[60; 34][..], &[62; 12], &[63; 11], &[66; 2]].concat();
        assert!(!shows_early(&at(&full), &passed(&all)));
        let random = [3, 12, 20, 33, 41, 50, 64];
        assert!(shows_early(&at(&random), &passed(&all)));
        assert!(!shows_early(&at(&random), &passed(&[65; 3])));
        assert!(shows_early(&at(&[0, 0, 60]), &passed(&[])));
        // No more than half of them are.
        assert!(!shows_early(
            &at(&[&full[..40], &random].concat()),
            &passed(&all)
        ));
        // A tenth and two packets more; and more bytes, which small ones are not.
        assert!(!shows_early(&at(&[38, 40, 42]), &passed(&[46; 100])));
        assert!(shows_early(&at(&[38, 40, 42]), &passed(&[47; 100])));
        let mut small = FoundByPassed::default();
        for _ in 0..100 {
            let (packets, bytes) = (47, 47 * 60);
            small.add(Amount { packets, bytes }, 60);
        }
        assert!(!shows_early(&at(&[38, 40, 42]), &small));
    }

    /// Nine packets are dropped at 300, and forty pass that wait for a link that stands still behind the queue.
    #[test]
    fn drops_that_agree_are_not_early_though_more_waited_elsewhere() {
        let drops: Vec<DroppedPacket> = (0..9).map(|at| drop(at, 0, 300)).collect();
        assert!(!shows_early(&drops, &passed(&[371; 40])));
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
        // What the largest that passed made of it, to within 64 bytes.
        assert_eq!(limit, Some(QueueLimit::Bytes(148_480)));
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Full));
    }

    /// Packets of three sizes at a queue that counts 60 kB with so many bytes more of each, and sends one for each that
    /// comes: what was dropped, and what passed found.
    fn of_three_sizes(header: u64) -> (Vec<DroppedPacket>, FoundByPassed) {
        let (mut drops, mut passed) = (Vec::new(), FoundByPassed::default());
        let mut waiting: std::collections::VecDeque<u64> = std::collections::VecDeque::new();
        let mut random = 1_u64;
        for at in 0..20_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let ip_len = [100, 500, 1400][(random >> 33) as usize % 3];
            if at % 3 > 0 {
                waiting.pop_front();
            }
            let (packets, bytes) = (waiting.len() as u64, waiting.iter().sum());
            let found = Amount { packets, bytes };
            if bytes + ip_len + header * (packets + 1) > 60_000 {
                drops.push(DroppedPacket {
                    ip_len: ip_len as u32,
                    found,
                    ..drop(at, 0, 0)
                });
            } else {
                passed.add(found, ip_len as u32);
                waiting.push_back(ip_len);
            }
        }
        (drops, passed)
    }

    #[test]
    fn the_drops_show_which_header_a_queue_counts_with_each_packet() {
        for (header, is_ethernet) in [(0, false), (14, false), (0, true), (14, true)] {
            let (mut drops, passed) = of_three_sizes(header);
            assert!(drops.len() > 1000);
            let given = QueueLimit::Bytes(60_000);
            assert_eq!(header_of(given, &drops, &passed, is_ethernet), header);
            let shown = shown_limit(&drops, &passed, is_ethernet);
            assert!(
                matches!(shown, Some((QueueLimit::Bytes(59_900..=60_000), found)) if found == header),
                "{shown:?}"
            );
            assert_eq!(judged(&mut drops, &passed), shown.map(|(limit, _)| limit));
            assert!(drops.iter().all(|drop| drop.cause == DropCause::Full));
        }
        // Drops at random, where nothing came near a limit, tell of no header.
        let (drops, passed) = (vec![drop(0, 0, 20)], passed(&[10, 20]));
        assert_eq!(
            header_of(QueueLimit::Bytes(60_000), &drops, &passed, false),
            0
        );
        assert_eq!(
            header_of(QueueLimit::Packets(20), &drops, &passed, false),
            0
        );
    }

    /// Of packets of one size 39 wait, and another one has no room in 60 kB with any header.
    #[test]
    fn of_headers_that_explain_as_much_a_capture_of_ethernet_has_its_own() {
        let drops: Vec<DroppedPacket> = (0..10).map(|at| drop(at, 0, 39)).collect();
        let (given, passed) = (QueueLimit::Bytes(60_000), passed(&[38; 50]));
        assert_eq!(header_of(given, &drops, &passed, true), 14);
        assert_eq!(header_of(given, &drops, &passed, false), 2);
    }

    /// Most drops find 20 packets, others fewer that are larger, and others little: passed is what is smaller.
    #[test]
    fn bytes_are_counted_where_they_explain_clearly_more_drops_than_packets() {
        let limit_of = |usual: usize, larger: usize, little: usize| {
            let found = |packets, bytes| DroppedPacket {
                found: Amount { packets, bytes },
                ..drop(0, 0, 0)
            };
            let mut drops = vec![found(20, 58_000); usual];
            drops.extend(vec![found(15, 58_000); larger]);
            drops.extend((0..little as u64).map(|at| found(3 + at % 8, 10_000)));
            let mut passed = FoundByPassed::default();
            for packets in (3..19).cycle().take(800) {
                let bytes = packets * 1000;
                passed.add(Amount { packets, bytes }, 1500);
            }
            let limit = judged(&mut drops, &passed);
            let full = |drop: &&DroppedPacket| drop.cause == DropCause::Full;
            (limit, drops.iter().filter(full).count())
        };
        let (packets, bytes) = (QueueLimit::Packets(20), QueueLimit::Bytes(58_000));
        // An eighth more, and three; a fifth of the drops is neither's.
        assert_eq!(limit_of(60, 20, 30), (Some(bytes), 80));
        assert_eq!(limit_of(60, 10, 30), (Some(packets), 60));
        // All, of which packets leave five.
        assert_eq!(limit_of(95, 5, 0), (Some(bytes), 100));
        assert_eq!(limit_of(95, 3, 0), (Some(packets), 95));
    }

    /// Of a queue of 83 packets of 1500 bytes two drops seem to find another one, and four one less.
    #[test]
    fn drops_that_seem_to_find_more_make_no_others_early() {
        let found = |packets, bytes| DroppedPacket {
            found: Amount { packets, bytes },
            ..drop(0, 0, 0)
        };
        let mut drops = vec![found(83, 124_500); 349];
        drops.extend(vec![found(84, 124_736); 24]);
        drops.extend(vec![found(84, 126_000); 2]);
        drops.extend(vec![found(82, 123_000); 4]);
        let mut passed = passed(&[82; 879]);
        for _ in 0..32 {
            let (packets, bytes) = (83, 123_236);
            passed.add(Amount { packets, bytes }, 1500);
        }
        let limit = judged(&mut drops, &passed);
        assert_eq!(limit, Some(QueueLimit::Bytes(124_736)));
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Full));
    }

    /// A frame of four packets is dropped at a queue of 60 kB that holds 54 and counts 14 bytes more of each, and one of
    /// another.
    #[test]
    fn all_of_a_frame_needs_room_at_once() {
        let dropped = |passed_at| {
            let mut drops = Vec::new();
            for frame in [0, 0, 0, 0, 7] {
                let piece = DroppedPacket {
                    frame,
                    ..drop(1, 0, 36)
                };
                add(&mut drops, piece, passed_at);
            }
            drops
        };
        let mut drops = dropped(0);
        let with_it = |drop: &DroppedPacket| (drop.with_it.packets, drop.with_it.bytes);
        assert_eq!(
            drops.iter().map(with_it).collect::<Vec<_>>(),
            [(3, 4500), (3, 4500), (3, 4500), (3, 4500), (0, 0)]
        );
        judge(&mut drops, Some(QueueLimit::Bytes(60_000)), 14);
        let causes: Vec<DropCause> = drops.iter().map(|drop| drop.cause).collect();
        assert_eq!(causes[..4], [DropCause::Full; 4]);
        assert_eq!(causes[4], DropCause::Early);
        // Where one of its packets passes, before or behind them, each is taken for itself.
        assert!(dropped(1).iter().all(|drop| with_it(drop) == (0, 0)));
        drops.pop();
        pass(&mut drops, 1);
        assert!(drops.iter().all(|drop| with_it(drop) == (0, 0)));
    }

    #[test]
    fn a_limit_of_bytes_that_drops_show_is_no_less_than_what_waited() {
        let limit =
            |shown: QueueLimit, bytes| shown.with_what_waited(Amount { packets: 40, bytes });
        let bytes = QueueLimit::Bytes;
        assert_eq!(limit(bytes(59_000), 59_060), bytes(59_060));
        assert_eq!(limit(bytes(59_000), 58_000), bytes(59_000));
        // A packet more is a stamp that was late.
        assert_eq!(limit(bytes(59_000), 60_500), bytes(59_000));
        let packets = QueueLimit::Packets(39);
        assert_eq!(limit(packets, 60_000), packets);
    }

    /// The headers of the packets of a frame of offload are not seen.
    #[test]
    fn a_frame_of_offload_has_no_room_where_its_headers_have_none() {
        let is_full = |bytes: u64, ip_len| {
            let found = Amount { packets: 3, bytes };
            let frame = DroppedPacket {
                ip_len,
                found,
                ..drop(0, 0, 0)
            };
            QueueLimit::Bytes(60_000).is_reached(&frame, 14)
        };
        // A packet more is 1500 bytes, and a twentieth of the limit 3000.
        assert!(!is_full(56_900, 1500) && is_full(57_000, 1500));
        assert!(!is_full(52_400, 3000) && is_full(52_500, 3000));
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
