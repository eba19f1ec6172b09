use super::*;

fn made() -> WayMaker {
    let link = (Link::default(), Some(80e6));
    WayMaker::new(Heading::Forward, link, &PathConfig::default(), 0)
}

/// 1 MB leaves in 100 ms, then 2 MB in each of five bins after a pause, in 1.5 s.
#[test]
fn the_highest_rate_is_that_of_the_best_second() {
    let mut way = made().finish(None, &mut []);
    let bin = |index, bytes| QueueBin {
        index,
        left: Amount { packets: 1, bytes },
        ..QueueBin::default()
    };
    way.bins = vec![bin(0, 1_000_000)];
    way.bins.extend((9..14).map(|index| bin(index, 2_000_000)));
    assert_eq!(way.delivered_bps_max(100_000_000), None);
    way.span = Some((0, 1_500_000_000));
    // Bins 4 to 13 hold 10 MB; bins 0 to 9 hold 3.
    assert_eq!(way.delivered_bps_max(100_000_000), Some(80e6));
}

/// A bin of 100 ms in which a packet waited at the least, and another one that has what would be in further ones.
#[test]
fn what_single_bins_tell_is_not_known_of_a_series_that_was_cut() {
    let mut way = made().finish(None, &mut []);
    let bin = |index| QueueBin {
        index,
        min: Amount {
            packets: 1,
            bytes: 1500,
        },
        ..QueueBin::default()
    };
    way.bins = (0..20).map(bin).collect();
    way.span = Some((0, 2_000_000_000));
    assert_eq!(way.standing(100_000_000), Some((1.0, 1500.0)));
    assert_eq!(way.delivered_bps_max(100_000_000), Some(0.0));
    way.series_cut = true;
    assert_eq!(way.standing(100_000_000), None);
    assert_eq!(way.delivered_bps_max(100_000_000), None);
}

/// Forty packets of 1500 bytes fill a queue that counts 14 bytes more of each, and nothing else does.
#[test]
fn what_is_filled_of_a_limit_has_the_headers_that_the_queue_counts() {
    let mut way = forty_waited(None, 0);
    let (held, limit) = (way.max(), |packets: u64| packets * 1514);
    assert_eq!(held.bytes, held.packets * 1500);
    way.limit = Some(QueueLimit::Bytes(limit(held.packets)));
    way.header_bytes = 14;
    assert_eq!(way.max(), held);
    assert_eq!(way.max_counted().bytes, limit(held.packets));
    let filled = way.occupancy(held.packets as f64, held.bytes as f64);
    assert_eq!(filled, Some(1.0));
}

#[test]
fn two_drops_make_no_pattern_unless_a_limit_was_given_or_nothing_waited() {
    let way = |limit, early_is_shown, drops: usize, cause| {
        let mut way = made().finish(limit, &mut []);
        way.early_is_shown = early_is_shown;
        let dropped = DroppedPacket {
            at_ns: 0,
            flow: 0,
            frame: 1,
            ip_len: 1500,
            found: Amount {
                packets: 39,
                bytes: 58_500,
            },
            with_it: Amount::default(),
            run_before: 0,
            uncertain: false,
            cause,
        };
        way.drops = vec![dropped; drops];
        (way.pattern(), way.fullness_is_open())
    };
    let limit = Some(QueueLimit::Packets(40));
    let early = Some(DropPattern::Early);
    assert_eq!(way(None, false, 0, DropCause::Early), (None, false));
    assert_eq!(way(None, false, 2, DropCause::Early), (None, true));
    assert_eq!(way(None, true, 2, DropCause::Early), (None, true));
    assert_eq!(way(None, true, 2, DropCause::Idle), (early, false));
    assert_eq!(way(limit, false, 2, DropCause::Early), (early, false));
    let tail = Some(DropPattern::Tail);
    assert_eq!(way(limit, false, 2, DropCause::Full), (tail, false));
    // Three that show no limit were early only where that is shown.
    assert_eq!(way(None, false, 3, DropCause::Early), (None, true));
    assert_eq!(way(None, true, 3, DropCause::Early), (early, false));
}

/// Forty packets come at once, and leave one after the other; three that come with them are dropped or not.
fn forty_waited(given: Option<QueueLimit>, drops: usize) -> Way {
    let mut maker = made();
    for left_at in 1..=40 {
        let left_before = Some((left_at - 1) * 1_000_000).filter(|&at| at > 0);
        maker.pass(
            1500,
            Passed {
                at: 0,
                left_at: left_at * 1_000_000,
                left_before,
            },
            None,
        );
    }
    for _ in 0..drops {
        let drop = DroppedPacket {
            at_ns: 0,
            flow: 0,
            frame: 1,
            ip_len: 1500,
            found: Amount::default(),
            with_it: Amount::default(),
            run_before: 0,
            uncertain: false,
            cause: DropCause::Early,
        };
        maker.lose(drop, None);
    }
    maker.finish(given, &mut [])
}

#[test]
fn a_limit_that_what_waited_contradicts_is_not_used() {
    let packets = |n| Some(QueueLimit::Packets(n));
    let held = forty_waited(None, 0).max().packets;
    assert!((39..=40).contains(&held), "{held}");
    let shown = forty_waited(None, 3).limit;
    assert_eq!(shown, packets(held));
    for (given, drops, limit, refuted) in [
        (packets(40), 3, packets(40), None),
        // More waited; the drops show a limit, or do not.
        (packets(20), 3, shown, packets(20)),
        (packets(20), 0, None, packets(20)),
        (
            Some(QueueLimit::Bytes(30_000)),
            3,
            shown,
            Some(QueueLimit::Bytes(30_000)),
        ),
        // Much less waited while packets were dropped; without drops it need never have been full.
        (packets(1000), 3, shown, packets(1000)),
        (packets(1000), 0, packets(1000), None),
        (None, 3, shown, None),
    ] {
        let way = forty_waited(given, drops);
        assert_eq!(
            (way.limit, way.limit_refuted),
            (limit, refuted),
            "{given:?}"
        );
        assert_eq!(way.limit_is_estimated, given.is_none() || refuted.is_some());
        let full = |drop: &DroppedPacket| drop.cause == DropCause::Full;
        assert_eq!(way.drops.iter().all(full), limit.is_some() || drops == 0);
    }
}

/// Forty waited once, and drops found ten: that is what they found, but not what the queue holds.
#[test]
fn what_drops_show_is_no_limit_where_more_waited() {
    let shown = |found: u64| {
        let mut maker = made();
        maker.drops = vec![
            DroppedPacket {
                at_ns: 0,
                flow: 0,
                frame: 1,
                ip_len: 1500,
                found: Amount {
                    packets: found,
                    bytes: found * 1500,
                },
                with_it: Amount::default(),
                run_before: 0,
                uncertain: false,
                cause: DropCause::Early,
            };
            9
        ];
        maker.sweep.hold(0, (1..=40).map(|left_at| (left_at, 1500)));
        let way = maker.finish(None, &mut []);
        assert_eq!(way.pattern(), Some(DropPattern::Tail));
        way.limit
    };
    assert_eq!(shown(40), Some(QueueLimit::Packets(40)));
    assert_eq!(shown(35), Some(QueueLimit::Packets(35)));
    assert_eq!(shown(10), None);
}

#[test]
fn a_rate_that_is_exceeded_or_does_not_explain_what_waits_is_not_constant() {
    let mut way = made().finish(None, &mut []);
    // Ten bins of 100 ms with 1 MB each, in packets of 1250 bytes, are 80 Mbit/s.
    let bin = |index, busy_ns| QueueBin {
        index,
        busy_ns,
        left: Amount {
            packets: 800,
            bytes: 1_000_000,
        },
        ..QueueBin::default()
    };
    way.span = Some((0, 1_000_000_000));
    let mut varies = |rate_bps: Option<f64>, busy_ns| {
        way.rate_bps = rate_bps;
        way.bins = (0..10).map(|index| bin(index, busy_ns)).collect();
        let varies = way.rate_varies(100_000_000);
        assert_eq!(way.link_bps(Some(100e6), 100_000_000), Some(100e6));
        let found = way.link_bps(None, 100_000_000);
        assert_eq!(found, rate_bps.filter(|_| !varies));
        varies
    };
    assert!(!varies(None, 100_000_000));
    assert!(!varies(Some(100e6), 80_000_000));
    assert!(varies(Some(100e6), 90_000_000));
    assert!(!varies(Some(78e6), 100_000_000));
    assert!(varies(Some(75e6), 100_000_000));
}

/// Of 2000 packets that find up to 19 waiting, eight find up to 40 when the link has stood still for a moment; fifty are
/// dropped at twenty.
#[test]
fn a_moment_in_which_more_waited_does_not_contradict_a_limit_that_was_given() {
    let given = QueueLimit::Packets(20);
    let way = |beyond: u64, drops: usize| {
        let mut maker = made();
        for packets in (0..2000).map(|n| n % 20).chain((0..beyond).map(|n| 33 + n)) {
            let bytes = packets * 1500;
            maker.found_by_passed.add(Amount { packets, bytes }, 1500);
        }
        let dropped = forty_waited(None, 1).drops[0];
        let found = Amount {
            packets: 20,
            bytes: 30_000,
        };
        maker.drops = vec![DroppedPacket { found, ..dropped }; drops];
        maker.sweep.hold(0, (1..=40).map(|left_at| (left_at, 1500)));
        maker.finish(Some(given), &mut [])
    };
    let stands = way(8, 50);
    assert_eq!((stands.limit, stands.limit_refuted), (Some(given), None));
    assert_eq!(stands.pattern(), Some(DropPattern::Tail));
    assert_eq!(way(13, 50).limit_refuted, Some(given));
    assert_eq!(way(8, 20).limit_refuted, Some(given));
}
