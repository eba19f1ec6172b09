//! Packets that are not asked for, and those that one point did not capture.

use super::super::unseen::{Unseen, UnseenKind};
use super::*;

/// Bursts of 12 packets of two flows, of which the link sends one a ms; the last two find the queue full: one of each.
fn bursts() -> [Vec<Packet>; 2] {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..1200_u16 {
        let (burst, place) = (i64::from(n / 12), i64::from(n % 12));
        let start = SECOND + burst * 20 * MS;
        let packet = |at: i64| Packet {
            sport: if place % 3 == 2 { 81 } else { 80 },
            ..data(n, at)
        };
        points[0].push(packet(start + place * 10 * US));
        points[1].extend((place < 10).then(|| packet(start + (place + 1) * MS)));
    }
    points
}

#[test]
fn what_a_filter_leaves_out_takes_its_place_in_the_queue() {
    let [first, second] = bursts();
    let hop_of = |filter: Option<&str>| {
        let config = PathConfig {
            filter: filter.map(|filter| Filter::parse(filter).unwrap()),
            packets: true,
            ..PathConfig::default()
        };
        analyse(&[&first, &second], &config).unwrap().hops.remove(0)
    };
    let (all, one) = (hop_of(None), hop_of(Some("port 81")));
    let [queue, same] = [&all, &one].map(|hop| {
        let way = &hop.ways[0];
        (way.packets_mean(), way.rate_bps, way.max(), way.limit)
    });
    assert_eq!(queue, same);
    let port = |flow: u32| all.flows[flow as usize].as_ref().unwrap().key.src.port();
    let drops = all.ways[0].drops.iter();
    let told = |drop: &DroppedPacket| (drop.frame, drop.found, drop.cause);
    // Of the first and the last burst nobody knows.
    let of_one: Vec<_> = drops
        .filter(|drop| port(drop.flow) == 81)
        .map(told)
        .collect();
    let found: Vec<_> = one.ways[0].drops.iter().map(told).collect();
    assert_eq!((found.len(), found), (98, of_one));
    assert_eq!(one.ways[0].pattern(), Some(DropPattern::Tail));
    assert_eq!(one.ways[0].arrived().packets, 398);
    assert_eq!(one.flows.iter().flatten().count(), 1);
    assert_eq!(one.packets.iter().count(), 400);
    let [all, one] = [all, one].map(|hop| hop.quality().contains(&"filtered"));
    assert!(one && !all);
}

/// What a filter keeps at one of the points is the same packet at the other, whatever translates its addresses.
#[test]
fn a_filter_keeps_translated_flows_by_either_name() {
    let [first, second] = download(|packet| {
        Some(Packet {
            src: [192, 0, 2, 9],
            ..packet
        })
    });
    for filter in ["host 10.0.0.1", "host 192.0.2.9"] {
        let config = PathConfig {
            filter: Some(Filter::parse(filter).unwrap()),
            ..PathConfig::default()
        };
        let hop = analyse(&[&first, &second], &config).unwrap().hops.remove(0);
        let passed: Vec<u64> = hop
            .flows
            .iter()
            .flatten()
            .map(|flow| flow.passed_packets)
            .collect();
        assert_eq!(passed, [40, 40], "{filter}");
    }
}

/// A download that both points have, and 145 datagrams, of which the second has `seen`.
fn datagrams_beside(seen: u16) -> Hop {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..300_u16 {
        let at = SECOND + i64::from(n) * MS;
        points[0].push(data(n, at));
        points[1].push(data(n, at + 2 * MS));
        if n >= 10 && n % 2 == 0 {
            let datagram = |at: i64| Packet {
                udp: true,
                id: 30_000 + n,
                ..data(n, at)
            };
            points[0].push(datagram(at + 100 * US));
            points[1].extend((n < 10 + 2 * seen).then(|| datagram(at + 2100 * US)));
        }
    }
    hop(&points[0], &points[1])
}

#[test]
fn a_protocol_that_one_point_did_not_capture_was_not_dropped() {
    let hop = datagrams_beside(0);
    let unseen = Unseen {
        kind: UnseenKind::Udp,
        point: 0,
        flows: 1,
        packets: 145,
    };
    assert_eq!(hop.unseen, [unseen]);
    assert!(
        hop.ways[0].drops.is_empty() && hop.ways[0].is_incomplete && !hop.ways[1].is_incomplete
    );
    assert!(hop.quality().contains(&"protocol_left_out"));
    let hop = datagrams_beside(1);
    assert!(hop.unseen.is_empty());
    assert_eq!(hop.ways[0].drops.len(), 144);
}

/// What waited of the other protocol is not known, and so not whether the queue was full.
#[test]
fn a_queue_of_which_a_point_did_not_capture_all_shows_no_pattern() {
    let [mut first, mut second] = bursts();
    let datagrams = |points: &mut Vec<Packet>| {
        for packet in points.iter_mut().filter(|packet| packet.sport == 81) {
            packet.udp = true;
        }
    };
    datagrams(&mut first);
    second.retain(|packet| packet.sport == 80);
    let hop = hop(&first, &second);
    let way = &hop.ways[0];
    assert_eq!(hop.unseen.len(), 1);
    assert_eq!((way.pattern(), way.limit), (None, None));
    assert!(!way.drops.is_empty());
}
