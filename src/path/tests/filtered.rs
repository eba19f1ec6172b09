//! Packets that are not asked for.

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
