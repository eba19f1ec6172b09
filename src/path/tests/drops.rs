//! What drops tell of the queue.

use super::jitter::chance;
use super::*;

/// A packet comes every ms and one leaves, soon while nine wait, or up to thirty: what comes beside them is dropped
/// when `CoDel` would drop. Where the queue is always equally full it is drop-tail.
#[test]
fn drops_of_a_full_queue_are_no_codels_whenever_they_come() {
    let pattern = |waiting: fn(i64) -> i64| {
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        let mut left_at = 0;
        for n in 0..2500_i64 {
            let at = SECOND + n * MS;
            first.push(data(n as u16, at));
            let delay = if n < 50 { 1 } else { waiting(n) };
            left_at = (at + delay * MS).max(left_at + 1);
            second.push(data(n as u16, left_at));
        }
        let dropped = [200, 300, 371, 429, 479, 524, 2000, 2100, 2171, 2229];
        for (number, n) in (4000..).zip(dropped) {
            first.push(data(number, SECOND + n * MS + MS / 2));
        }
        let hop = hop(&first, &second);
        let way = &hop.ways[Heading::Forward as usize];
        assert_eq!(way.drops.len(), dropped.len());
        (way.pattern(), way.limit.is_some())
    };
    assert_eq!(pattern(|_| 10), (Some(DropPattern::Tail), true));
    assert_eq!(
        pattern(|n| 10 + (n / 20) % 20),
        (Some(DropPattern::Head), false)
    );
}

/// Two flows with a packet each 10 ms, of which the second one waits for less time; every 20th of the first is dropped.
fn of_two_flows(late: impl Fn(u16) -> i64) -> Hop {
    let of_second = |packet: Packet| Packet {
        sport: 81,
        ..packet
    };
    let [mut first, mut second] = [Vec::new(), Vec::new()];
    for n in 0..200 {
        let at = SECOND + i64::from(n) * 10 * MS;
        first.extend([data(n, at), of_second(data(n, at + 5 * MS))]);
        if n % 20 != 7 {
            second.push(data(n, at + 30 * MS + late(n)));
        }
        second.push(of_second(data(n, at + 7 * MS)));
    }
    hop(&first, &second)
}

#[test]
fn drops_tell_nothing_of_limits_where_flows_have_queues_of_their_own() {
    let hop = of_two_flows(|_| 0);
    let way = &hop.ways[Heading::Forward as usize];
    assert!(way.several_queues);
    assert_eq!(way.drops.len(), 10);
    assert_eq!((way.limit, way.pattern()), (None, None));
    assert!(hop.quality().contains(&"several_queues"));
}

/// Where packets of one flow overtake each other, too, it is no queue that lets them.
#[test]
fn flows_that_do_not_keep_their_own_order_show_no_queues() {
    let hop = of_two_flows(|n| if n % 2 == 0 { 15 * MS } else { 0 });
    let way = &hop.ways[Heading::Forward as usize];
    assert!(!way.several_queues);
    assert!(way.pattern().is_some());
}

/// The first hop has neither the queue nor the link that were given.
#[test]
fn of_three_points_one_hop_has_the_queue_that_was_given() {
    let [first, second] = download(|packet| (packet.id != 105).then_some(packet));
    let third = second.iter().map(|packet| Packet {
        at: packet.at + if packet.back { -MS } else { MS },
        ..packet.clone()
    });
    let config = PathConfig {
        limit: Some(QueueLimit::Packets(20)),
        capacity_bps: Some(10e6),
        hop: Some(1),
        ..PathConfig::default()
    };
    let points = [&first[..], &second, &third.collect::<Vec<_>>()];
    let hops = analyse(&points, &config).unwrap().hops;
    let given = hops.iter().map(|hop| (hop.ways[0].limit, hop.capacity_bps));
    assert_eq!(
        given.collect::<Vec<_>>(),
        [(None, None), (config.limit, config.capacity_bps)]
    );
}

/// A packet comes twice in the ms that sending one takes, and ten may wait. Records of one point or both are late by up to
/// 0.2, 0.9 or 8 ms, as of several processors, and what they tell is the same: all drops found ten, and
/// nothing overtook anything.
#[test]
fn what_is_told_by_times_does_not_change_with_the_order_of_records() {
    let late_by_up_to = |late_ns: [i64; 2]| {
        let record = |packet: Packet, point: usize, n: u16| {
            let late = chance(n.wrapping_mul(2) + point as u16) * late_ns[point] / 1000;
            Packet {
                at: packet.at + late,
                ahead: -late,
                ..packet
            }
        };
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        let mut begins: Vec<i64> = Vec::new();
        for n in 0..2000 {
            let at = SECOND + i64::from(n) * 500 * US;
            first.push(record(data(n, at), 0, n));
            let waiting = begins
                .iter()
                .rev()
                .take_while(|&&begins| begins > at)
                .count();
            if waiting < 10 {
                let begin = begins.last().map_or(at, |last| at.max(last + MS));
                begins.push(begin);
                second.push(record(data(n, begin + MS + 50 * US), 1, n));
            }
        }
        let hop = hop(&first, &second);
        let way = &hop.ways[Heading::Forward as usize];
        let drops = way
            .drops
            .iter()
            .map(|drop| (drop.at_ns, drop.found, drop.cause));
        let flow = flow(&hop, Heading::Forward);
        (
            drops.collect::<Vec<_>>(),
            way.bins.clone(),
            (way.limit, way.rate_bps, way.span),
            (flow.reordered_packets, flow.dropped_run_max),
        )
    };
    let in_order = late_by_up_to([0; 2]);
    assert!(in_order.0.len() > 900);
    assert!(in_order.0.iter().all(|drop| drop.2 == DropCause::Full));
    assert_eq!(in_order.3, (0, 1));
    for late_ns in [200 * US, 900 * US, 8 * MS] {
        for late_ns in [[late_ns, 0], [0, late_ns], [late_ns; 2]] {
            assert_eq!(late_by_up_to(late_ns), in_order, "{late_ns:?}");
        }
    }
}

/// A packet comes twice in the ms that sending one takes, and ten may wait; every 20th takes 40 ms more behind the link,
/// where others overtake it.
#[test]
fn what_is_late_behind_the_link_does_not_wait_in_the_queue() {
    let [mut first, mut second] = [Vec::new(), Vec::new()];
    let mut begins: Vec<i64> = Vec::new();
    for n in 0..2000 {
        let at = SECOND + i64::from(n) * 500 * US;
        first.push(data(n, at));
        let waiting = begins.iter().rev().take_while(|&&begin| begin > at).count();
        if waiting < 10 {
            let begin = begins.last().map_or(at, |last| at.max(last + MS));
            begins.push(begin);
            let late = if n % 20 == 0 { 40 * MS } else { 0 };
            second.push(data(n, begin + MS + late));
        }
    }
    second.sort_by_key(|packet| packet.at);
    let hop = hop(&first, &second);
    let way = &hop.ways[Heading::Forward as usize];
    assert!(flow(&hop, Heading::Forward).reordered_packets > 40);
    assert!(way.drops.len() > 900);
    // The one that is being sent is of the ten.
    assert_eq!(way.limit, Some(QueueLimit::Packets(9)));
    assert_eq!(way.pattern(), Some(DropPattern::Tail));
    // 40 ms of 40 packets or more in this second would be another 1.6.
    let mean = way.packets_mean();
    assert!(mean.is_some_and(|mean| mean < 9.5), "{mean:?}");
    let full = |drop: &&DroppedPacket| drop.cause == DropCause::Full;
    assert_eq!(way.drops.iter().filter(full).count(), way.drops.len());
}
