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

/// 68 bytes of a frame hold the timestamps of all packets but of those that ask for a connection.
#[test]
fn nor_do_timestamps_of_syns() {
    for cut in [0, 1] {
        let asked = |n: u16, at: i64| Packet {
            flags: SYN,
            sacks: 1,
            sport: 9000 + n,
            ..data(n, at)
        };
        let mut points = download(Some);
        for n in 0..3 {
            let at = SECOND + i64::from(n) * 100 * MS + 3 * MS;
            points[0].push(asked(n, at));
            points[1].push(asked(n, at + 2 * MS));
            points[0].push(Packet {
                back: true,
                ..asked(n, at + 6 * MS)
            });
            points[1].push(Packet {
                back: true,
                ..asked(n, at + 5 * MS)
            });
        }
        // Nobody answers the last one, which is lost.
        points[0].push(asked(4, SECOND + 333 * MS));
        for packet in &mut points[cut] {
            packet.snap = 68;
        }
        let hop = hop(&points[0], &points[1]);
        let count = |of: fn(&PathFlow) -> u64| hop.flows.iter().flatten().map(of).sum::<u64>();
        assert_eq!(count(|flow| flow.dropped_packets), 1);
        assert_eq!(count(|flow| flow.passed_packets), 2 * (40 + 3));
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

/// The first point keeps 44 bytes: 10 behind the IP header, as 64 bytes leave behind one of IPv6. Of all packets, or of
/// so few that all others are enough to match by.
#[test]
fn packets_cut_behind_the_sequence_number_are_found_by_it() {
    for one_in in [1, 39] {
        let [mut first, mut second] = download(Some);
        let cut = first.iter_mut().enumerate();
        for (_, packet) in cut.filter(|(n, _)| n % one_in == 1 % one_in) {
            packet.snap = 44;
        }
        // One that was cut is lost, of data.
        let mut behind = first.iter().skip(2);
        let lost = behind.find(|packet| !packet.back && packet.snap == 44);
        let lost = lost.unwrap().id;
        second.retain(|packet| packet.id != lost);
        let hop = hop(&first, &second);
        for (heading, delay, dropped) in [(Heading::Forward, 2 * MS, 1), (Heading::Reverse, MS, 0)]
        {
            let flow = flow(&hop, heading);
            assert_eq!((flow.packets, flow.dropped_packets), (40, dropped));
            assert_eq!(flow.dropped_data_packets, dropped);
            let delays = [flow.delay.ns_min(), flow.delay.ns_max()];
            assert_eq!(delays, [Some(delay); 2], "{heading:?}");
        }
        assert_eq!(hop.quality(), ["headers_cut", "matched_without_ack"]);
    }
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

/// A router of two protocols translates the addresses of one: of IPv4, say, beside a download over IPv6 that is much
/// more, or is all that there is to be seen at first.
#[test]
fn some_flows_alone_are_seen_through_where_they_alone_are_translated() {
    for (others, later) in [(800, 0), (17_000, 17_001)] {
        let mut points = [Vec::new(), Vec::new()];
        for n in 0..others {
            let at = SECOND + i64::from(n) * 500 * US;
            points[0].push(data(n, at));
            points[1].push(data(n, at + 2 * MS));
        }
        for n in 0..30_u16 {
            let inside = |packet: Packet| Packet {
                src: [192, 168, 0, 5],
                sport: 40_000,
                ..packet
            };
            let outside = |packet: Packet| Packet {
                src: [192, 0, 2, 9],
                sport: 61_234,
                checksum: packet.checksum ^ 0x5555,
                ..packet
            };
            let at = SECOND + i64::from(later) * 500 * US + i64::from(n) * 10 * MS + 100 * US;
            points[0].push(inside(data(n, at)));
            points[0].push(inside(ack(n, at + 6 * MS)));
            points[1].push(outside(ack(n, at + 5 * MS)));
            // One of them is lost.
            points[1].extend((n != 20).then(|| outside(data(n, at + 2 * MS))));
        }
        let hop = hop(&points[0], &points[1]);
        for flow in hop.flows.iter().flatten() {
            let dropped = u64::from(flow.key.src.port() == 40_000);
            let passed = flow.passed_packets + dropped;
            assert_eq!((flow.packets, flow.dropped_packets), (passed, dropped));
            assert_eq!(flow.appeared_packets, 0);
        }
        assert_eq!(hop.flows_in_order().len(), 3);
        assert_eq!(hop.identity, Identity::Full);
        assert_eq!(hop.quality(), ["matched_without_ports"]);
    }
}

#[test]
fn rewritten_ip_ids_are_seen_through_and_said() {
    let hop = check_clean(|packet| Some(Packet { id: 0, ..packet }));
    assert_eq!(hop.quality(), ["matched_without_ip_id"]);
}

/// A socket that is closed answers all that comes alike (RST without IP id); the path copies one of these.
#[test]
fn a_copy_is_not_taken_for_the_next_packet_with_the_same_headers() {
    let [mut first, mut second] = download(Some);
    let begin = SECOND + 500 * MS;
    let equal = |at| ack(100, begin + at);
    second.extend([0, 10 * MS, 20 * MS].map(equal));
    first.extend([MS, 3 * MS, 11 * MS, 21 * MS].map(equal));
    let hop = hop(&first, &second);
    let back = flow(&hop, Heading::Reverse);
    assert_eq!((back.packets, back.passed_packets), (43, 43));
    assert_eq!((back.dropped_packets, back.appeared_packets), (0, 1));
    let delays = [back.delay.ns_min(), back.delay.ns_max()];
    assert_eq!(delays, [Some(MS); 2]);
    assert!(!hop.clock_is_fixed());
}

/// As captures of all interfaces of a router have packets, or of a bridge with three ports.
#[test]
fn packets_that_a_point_has_more_than_once_count_once() {
    let copied = |packets: &[Packet], times: i64| -> Vec<Packet> {
        let copies = packets.iter().flat_map(|packet| {
            (0..times).map(|copy| Packet {
                at: packet.at + copy * 1500 * US,
                ttl: packet.ttl - copy as u8,
                ..packet.clone()
            })
        });
        copies.collect()
    };
    let [first, second] = download(|packet| {
        let lost = !packet.back && (110..113).contains(&packet.id);
        (!lost).then_some(packet)
    });
    for (first_times, second_times) in [(2, 1), (1, 2), (2, 2), (3, 2)] {
        let hop = hop(&copied(&first, first_times), &copied(&second, second_times));
        for (heading, delay, dropped) in [(Heading::Forward, 2 * MS, 3), (Heading::Reverse, MS, 0)]
        {
            let flow = flow(&hop, heading);
            assert_eq!((flow.packets, flow.dropped_packets), (40, dropped));
            assert_eq!((flow.appeared_packets, flow.uncertain_packets), (0, 0));
            assert_eq!(flow.delay.ns_min(), Some(delay));
            assert_eq!(flow.delay.ns_max(), Some(delay));
        }
        let copies = hop.facts.each_ref().map(|facts| facts.copies);
        let expected = [80 * (first_times - 1), 77 * (second_times - 1)];
        assert_eq!(copies.map(|copies| copies as i64), expected);
        assert_eq!(hop.quality(), ["copies_left_out"]);
    }
}

#[test]
fn a_flow_that_is_lost_as_a_whole_goes_the_way_that_its_hosts_tell() {
    // SYNs of the one that downloads to another port come in at the second point, and never leave at the first, which
    // ends before the last two of them.
    let syn = |at_ms: i64| Packet {
        sport: 81,
        flags: SYN,
        ..ack(0, SECOND + at_ms * MS)
    };
    let with = |more: Vec<Packet>| {
        let [first, mut second] = download(Some);
        second.extend(more);
        second.sort_by_key(|packet| packet.at);
        let hop = hop(&first, &second);
        let mut flows = hop.flows.iter().flatten();
        let flow = flows.find(|flow| flow.key.dst.port() == 81).unwrap();
        assert_eq!((flow.heading, flow.appeared_packets), (Heading::Reverse, 0));
        (flow.dropped_packets, flow.undecided_packets)
    };
    let syns = || vec![syn(50), syn(100), syn(1000), syn(2000)];
    assert_eq!(with(syns()), (4, 0));
    // Whether what follows an answer came to the first point when its capture had ended, nobody knows.
    let answer = Packet {
        back: false,
        flags: SYN | ACK,
        ..syn(2001)
    };
    assert_eq!(with([syns(), vec![answer]].concat()), (2, 2));
    // Nor of anything but SYNs.
    let others = |at| Packet {
        flags: ACK,
        ..syn(at)
    };
    assert_eq!(with(vec![others(50), others(1000)]), (1, 1));
}

#[test]
fn of_two_that_came_in_at_once_the_later_may_leave_when_the_capture_has_ended() {
    // The second capture ends with the last data packet but one. The last one came in at the same time: where it is
    // recorded later, nobody knows what became of it; where earlier, what came in behind it has left.
    let with = |later: bool| {
        let [mut first, mut second] = download(Some);
        first.retain(|packet| !packet.back);
        let last = first.pop().unwrap();
        let at = first.last().unwrap().at;
        let last = Packet { at, ..last };
        first.insert(first.len() - usize::from(!later), last);
        second.retain(|packet| packet.at <= at + 2 * MS);
        let hop = hop(&first, &second);
        let flow = flow(&hop, Heading::Forward);
        (
            flow.passed_packets,
            flow.dropped_packets,
            flow.undecided_packets,
        )
    };
    assert_eq!(with(true), (39, 0, 1));
    assert_eq!(with(false), (39, 1, 0));
}

#[test]
fn what_no_other_flow_tells_of_is_taken_to_go_forward_both_ways() {
    // Another sender beside the first point: its data and the ACKs of it are at the second one alone, as what joins
    // there is and what leaves for elsewhere.
    let [first, mut second] = download(Some);
    let at = |ms: i64| SECOND + ms * MS;
    let beside = |packet: Packet| Packet {
        src: [10, 0, 9, 9],
        dst: [10, 0, 9, 8],
        ..packet
    };
    second.extend([beside(data(0, at(50))), beside(ack(0, at(60)))]);
    second.sort_by_key(|packet| packet.at);
    let hop = hop(&first, &second);
    assert_eq!(hop.ways[Heading::Reverse as usize].drops, []);
    let flows = hop.flows.iter().flatten();
    let appeared: Vec<u64> = flows.map(|flow| flow.appeared_packets).collect();
    assert_eq!(appeared.iter().sum::<u64>(), 2);
}

/// The first point's host asks its neighbours, and the server of its cloud: no router passes that on. Between two ports
/// of a bridge such packets go like all others.
#[test]
fn packets_of_a_link_count_where_both_points_are_on_it() {
    for passes in [false, true] {
        let [mut first, mut second] = download(Some);
        for n in 0..20_u16 {
            let at = SECOND + i64::from(n) * 20 * MS + 3 * MS;
            let asks = |dst: [u8; 4]| Packet {
                dst,
                sport: 9000,
                ..data(n, at)
            };
            let near = asks([169, 254, 169, 254]);
            // A datagram to all on the link is left out at any rate, as multicast to it is.
            let to_all = Packet {
                udp: true,
                ..asks([255; 4])
            };
            first.extend([near.clone(), to_all]);
            second.extend(passes.then_some(Packet {
                at: at + MS,
                ..near
            }));
        }
        let hop = hop(&first, &second);
        let dropped = hop.flows.iter().flatten().map(|flow| flow.dropped_packets);
        assert_eq!(dropped.sum::<u64>(), 0);
        let near = hop.flows.iter().flatten();
        let near = near.filter(|flow| flow.key.src.port() == 9000);
        let passed: Vec<u64> = near.map(|flow| flow.passed_packets).collect();
        assert_eq!(passed, if passes { vec![20] } else { vec![] });
    }
}

/// The last packet of a message is lost, and repeated when a timer runs out: without an IP id both look alike, and
/// nothing came in between the two.
#[test]
fn a_last_packet_that_was_lost_is_told_from_its_repeat_by_how_long_others_took() {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..20_u16 {
        let packet = Packet {
            id: 0,
            ..data(n, SECOND + i64::from(n) * MS)
        };
        points[0].push(packet.clone());
        let repeat = Packet {
            at: packet.at + 300 * MS,
            ..packet.clone()
        };
        points[0].extend((n == 19).then_some(repeat.clone()));
        let left = if n == 19 { repeat } else { packet };
        points[1].push(Packet {
            at: left.at + 2 * MS,
            ..left
        });
    }
    let hop = hop(&points[0], &points[1]);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.packets, flow.dropped_packets), (21, 1));
    assert_eq!(flow.delay.ns_max(), Some(2 * MS));
}

/// What the filter keeps begins behind all that the first look would be at without it.
#[test]
fn a_few_packets_that_a_filter_keeps_are_found_however_late_they_are() {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..17_030_u16 {
        let sport = if n < 17_000 { 80 } else { 81 };
        let at = SECOND + i64::from(n) * 100 * US;
        points[0].push(Packet {
            sport,
            ..data(n, at)
        });
        points[1].push(Packet {
            sport,
            ..data(n, at + MS)
        });
    }
    let config = PathConfig {
        filter: Some(Filter::parse("port 81").unwrap()),
        ..PathConfig::default()
    };
    let analysis = analyse(&[&points[0], &points[1]], &config).unwrap();
    let flow = flow(&analysis.hops[0], Heading::Forward);
    assert_eq!((flow.packets, flow.passed_packets), (30, 30));
    // So are those of a capture that begins so late.
    let late = points[1].split_off(17_020);
    let analysis = analyse(&[&points[0], &late], &PathConfig::default()).unwrap();
    let passed = analysis.hops[0].flows.iter().flatten();
    assert_eq!(passed.map(|flow| flow.passed_packets).sum::<u64>(), 10);
}

/// Two ACKs with the same headers, of which the first is lost and the second is dated 1 us after it left, so that it comes
/// up when only the other waits: 20 before them had the same checksum at both points, and these two have not.
#[test]
fn a_packet_with_another_checksum_is_another_packet() {
    let [mut first, mut second] = download(Some);
    let base = SECOND + 207 * MS;
    let alike = |checksum: u16, at: i64| Packet {
        checksum,
        ..ack(100, at)
    };
    second.extend([alike(1, base), alike(2, base + MS + US)]);
    first.push(alike(2, base + MS));
    let config = PathConfig {
        packets: true,
        ..PathConfig::default()
    };
    let analysis = analyse(&[&first, &second], &config).unwrap();
    let hop = &analysis.hops[0];
    let flow = flow(hop, Heading::Reverse);
    assert_eq!((flow.dropped_packets, flow.uncertain_packets), (1, 0));
    let dropped = hop
        .packets
        .iter()
        .find(|packet| packet.outcome == Outcome::Dropped);
    assert_eq!(dropped.map(|packet| packet.at_ns), Some(base));
}

/// One of the points has none of the checksums that the other one has, as where a card finishes them: two ACKs with the
/// same headers could be each other, whatever theirs are.
#[test]
fn checksums_of_which_none_agrees_tell_nothing_apart() {
    let finished = |packet: Packet| Packet {
        checksum: packet.checksum ^ 0x5555,
        ..packet
    };
    let [mut first, mut second] = download(|packet| Some(finished(packet)));
    for late in [0, 100 * US] {
        let base = SECOND + 207 * MS + late;
        let alike = |at: i64| Packet {
            checksum: 1 + late as u16,
            ..ack(100, at)
        };
        second.push(finished(alike(base)));
        first.push(alike(base + MS));
    }
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Reverse);
    assert_eq!((flow.passed_packets, flow.uncertain_packets), (42, 2));
}

/// That a packet was not seen coming in is known long after it left, when all that came in by then have been told.
#[test]
fn what_was_not_seen_coming_in_has_its_place_in_time() {
    let [first, mut second] = download(Some);
    second.push(data(20, SECOND + 203 * MS));
    let config = PathConfig {
        packets: true,
        ..PathConfig::default()
    };
    let analysis = analyse(&[&first, &second], &config).unwrap();
    let hop = &analysis.hops[0];
    let heading = |packet: &PacketFate| hop.flows[packet.flow as usize].as_ref().unwrap().heading;
    let forward = hop
        .packets
        .iter()
        .filter(|packet| heading(packet) == Heading::Forward);
    let forward: Vec<PacketFate> = forward.collect();
    assert_eq!(forward.len(), 41);
    assert_eq!(forward[21].outcome, Outcome::Appeared);
    assert!(forward.is_sorted_by_key(|packet| packet.at_ns));
}
