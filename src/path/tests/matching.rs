//! What makes two sightings one packet (METRICS.md B1).

use super::*;

#[test]
fn what_routers_change_on_the_way_does_not_matter() {
    let hop = check_clean(|packet| {
        Some(Packet {
            ttl: packet.ttl - 3,
            vlan: true,
            snap: 2000,
            ..packet
        })
    });
    assert_eq!(hop.identity, Identity::Full);
    check_clean(|packet| {
        Some(Packet {
            raw_ip: true,
            snap: 40,
            ..packet
        })
    });
}

/// Some ACKs have SACK blocks, and the second point keeps 70 bytes: up to before the first. One in
/// four, or so few that all others are enough to match by.
#[test]
fn sack_blocks_that_one_point_cut_off_do_not_matter() {
    for one_in in [4, 39] {
        let hop = with_sack_cut(one_in, |packet| packet);
        assert_eq!(hop.identity, Identity::WithoutSack);
        assert_eq!(hop.quality(), ["headers_cut", "matched_without_sack"]);
    }
}

#[test]
fn nor_do_they_where_addresses_are_translated() {
    for one_in in [4, 39] {
        let hop = with_sack_cut(one_in, |packet| Packet {
            src: [192, 0, 2, 9],
            checksum: packet.checksum ^ 0x5555,
            ..packet
        });
        assert_eq!(hop.identity, Identity::WithoutAddresses);
        assert_eq!(
            hop.quality()[1..],
            ["matched_without_addresses", "matched_without_sack"]
        );
    }
}

fn with_sack_cut(one_in: u16, change: impl Fn(Packet) -> Packet) -> Hop {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..40_u16 {
        let at = SECOND + i64::from(n) * 10 * MS;
        points[0].push(data(n, at));
        points[1].push(change(data(n, at + MS)));
        let mut back = ack(n, at + 6 * MS);
        back.sacks = if n % one_in == 1 { 2 } else { 0 };
        points[0].push(back.clone());
        (back.at, back.snap) = (at + 5 * MS, 70);
        points[1].push(change(back));
    }
    let hop = hop(&points[0], &points[1]);
    for heading in [Heading::Forward, Heading::Reverse] {
        let flow = flow(&hop, heading);
        assert_eq!((flow.packets, flow.passed_packets), (40, 40), "{heading:?}");
    }
    hop
}

#[test]
fn translated_addresses_are_seen_through_and_said() {
    let translated = |packet: Packet| Packet {
        src: [192, 0, 2, 9],
        checksum: packet.checksum ^ 0x5555,
        ..packet
    };
    let hop = check_clean(|packet| Some(translated(packet)));
    assert_eq!(hop.identity, Identity::WithoutAddresses);
    assert_eq!(hop.quality(), ["matched_without_addresses"]);
    let hop = check_clean(|packet| {
        Some(Packet {
            sport: 61_000,
            ..translated(packet)
        })
    });
    assert_eq!(hop.quality(), ["matched_without_ports"]);
}

#[test]
fn rewritten_ip_ids_are_seen_through_and_said() {
    let hop = check_clean(|packet| Some(Packet { id: 0, ..packet }));
    assert_eq!(hop.quality(), ["matched_without_ip_id"]);
}
