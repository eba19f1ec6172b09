//! Packets of UDP.

use super::*;

/// The checksum that a sender's own capture has of a datagram of [`data`], where its card makes checksums: the sum of
/// the addresses, the protocol and the length.
fn unfinished_sum(datagram: &Packet) -> u16 {
    let of_addresses: u16 = 0x0a00 + 0x0001 + 0x0a00 + 0x0002;
    of_addresses + 17 + 8 + datagram.len
}

/// Few or many of them, and so late that a look at the beginnings shows none.
#[test]
fn datagrams_are_found_whose_checksums_their_sender_left_to_its_card() {
    for (before, datagrams) in [(40, 3), (40, 80), (9000, 3)] {
        let mut points = [Vec::new(), Vec::new()];
        for n in 0..before {
            let at = SECOND + i64::from(n) * MS;
            points[0].extend([data(n, at), ack(n, at + 700 * US)]);
            points[1].extend([data(n, at + 200 * US), ack(n, at + 600 * US)]);
        }
        for n in before..before + datagrams {
            let datagram = Packet {
                udp: true,
                sport: 7000,
                len: 900,
                ..data(n, SECOND + i64::from(n) * MS)
            };
            points[0].push(Packet {
                checksum: unfinished_sum(&datagram),
                ..datagram.clone()
            });
            points[1].push(Packet {
                at: datagram.at + 300 * US,
                ..datagram
            });
        }
        let hop = hop(&points[0], &points[1]);
        let mut flows = hop.flows.iter().flatten();
        let flow = flows.find(|flow| flow.key.protocol == 17).unwrap();
        let passed = u64::from(datagrams);
        assert_eq!((flow.packets, flow.passed_packets), (passed, passed));
        assert_eq!(flow.appeared_packets, 0);
        let delays = [flow.delay.ns_min(), flow.delay.ns_max()];
        assert_eq!(delays, [Some(300 * US); 2]);
        assert_eq!(hop.quality(), [""; 0]);
    }
}

/// Nothing but their turn tells them apart: the same length, no id, payload that is encrypted beyond the bytes that
/// count.
#[test]
fn datagrams_without_a_checksum_or_an_id_are_found_by_their_turn() {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..300_u16 {
        let at = SECOND + i64::from(n) * 50 * MS;
        let datagram = Packet {
            udp: true,
            id: 0,
            sport: 443,
            ..data(n, at)
        };
        points[0].push(Packet {
            checksum: unfinished_sum(&datagram),
            ..datagram.clone()
        });
        points[1].extend((n != 100).then_some(Packet {
            at: at + 3 * MS,
            ..datagram
        }));
    }
    let hop = hop(&points[0], &points[1]);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.packets, flow.passed_packets), (300, 299));
    assert_eq!((flow.dropped_packets, flow.appeared_packets), (1, 0));
    assert_eq!(flow.delay.ns_max(), Some(3 * MS));
}

/// Behind a header of IPv6, 64 bytes leave 10 of what a datagram holds.
#[test]
fn datagrams_are_found_where_their_payload_was_cut_off() {
    let datagrams = |point: usize| -> Vec<Packet> {
        let datagram = |n: u16| Packet {
            at: SECOND + i64::from(n) * MS + point as i64 * 200 * US,
            udp: true,
            len: 900,
            snap: [44, 96][point],
            ..data(n, 0)
        };
        (0..40).map(datagram).collect()
    };
    // Zeros that are not there are none.
    let filled = |point: usize| -> Vec<u8> {
        let mut bytes = file(&datagrams(point));
        let (record, head) = (16 + [44, 96][point], 16 + 14 + 20 + 8);
        for record in bytes[24..].chunks_mut(record) {
            record[head..].fill(7);
        }
        bytes
    };
    let folder = tempfile::tempdir().unwrap();
    let points = [0, 1].map(|point| {
        let path = folder.path().join(point.to_string());
        fs::write(&path, filled(point)).unwrap();
        Point::file(path)
    });
    let analysis = PathAnalysis::of(&points, &PathConfig::default()).unwrap();
    let flow = flow(&analysis.hops[0], Heading::Forward);
    assert_eq!((flow.packets, flow.passed_packets), (40, 40));
    assert_eq!(flow.delay.ns_max(), Some(200 * US));
    assert_eq!(
        analysis.hops[0].quality(),
        ["one_way", "matched_without_ack"]
    );
}

/// A stream whose datagrams are all the same, as of a test of the network, alone or beside a download: the point has
/// each once.
#[test]
fn datagrams_that_are_all_the_same_are_no_copies() {
    for beside in [0_u16, 100] {
        let mut points = [Vec::new(), Vec::new()];
        for n in 0..200_u16 {
            let at = SECOND + i64::from(n) * 50 * MS;
            let same = Packet {
                udp: true,
                sport: 7000,
                ..data(0, at)
            };
            points[0].push(same.clone());
            // One in 40 is lost.
            points[1].extend((n % 40 != 17).then_some(Packet {
                at: at + MS,
                ..same
            }));
            if n < beside {
                points[0].push(data(n + 1, at + 2 * MS));
                points[1].push(data(n + 1, at + 3 * MS));
            }
        }
        let hop = hop(&points[0], &points[1]);
        assert_eq!(hop.facts.each_ref().map(|facts| facts.copies), [0, 0]);
        let mut flows = hop.flows.iter().flatten();
        let flow = flows.find(|flow| flow.key.protocol == 17).unwrap();
        assert_eq!((flow.packets, flow.dropped_packets), (200, 5));
        assert_eq!(flow.appeared_packets, 0);
        // Behind a loss, each is still the one that came in just before.
        let delays = [flow.delay.ns_min(), flow.delay.ns_max()];
        assert_eq!(delays, [Some(MS); 2]);
    }
}

/// What a card takes apart on the way out is one datagram where it was captured. What is in its packets is not to be
/// seen then, beyond the first.
#[test]
fn datagrams_that_hold_several_are_told_of() {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..20_u16 {
        let at = SECOND + i64::from(n) * 10 * MS;
        points[0].extend([data(n, at), ack(n, at + 6 * MS)]);
        points[1].extend([data(n, at + MS), ack(n, at + 5 * MS)]);
        let datagram = |part: u16, len: u16| Packet {
            udp: true,
            sport: 443,
            len,
            ..data(10 * n + part, at + MS)
        };
        points[0].push(datagram(0, 4000));
        points[1].extend((0..4).map(|part| datagram(part, 1000)));
    }
    assert_eq!(hop(&points[0], &points[1]).merged_datagrams, 1);
    let alike = points[1].clone();
    assert_eq!(hop(&points[1], &alike).merged_datagrams, 0);
}

/// A UDP datagram over IPv6 of 1000 bytes, number `n`, as a record that keeps `snap` bytes.
fn record_of_six(n: u32, at: i64, snap: usize) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
    bytes.extend([1008_u16.to_be_bytes(), [17, 64]].concat());
    for host in [1, 2] {
        bytes.extend([&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[host]].concat());
    }
    let words = [5000_u16, 6000, 1008, n as u16 + 1];
    bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    bytes.extend(n.to_be_bytes());
    bytes.resize(14 + 40 + 1008, 0);
    let kept = snap.min(bytes.len());
    let times = [at / SECOND, at % SECOND].map(|part| part as u32);
    let header = [times[0], times[1], kept as u32, bytes.len() as u32];
    let header = header.iter().flat_map(|field| field.to_le_bytes());
    header.chain(bytes[..kept].iter().copied()).collect()
}

/// One of the points keeps 60 bytes: of IPv6, which has no id, no more than 6 behind its header. That these packets are
/// left out there does not make them dropped.
#[test]
fn what_looks_alike_at_one_point_counts_at_neither() {
    for cut in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let points = [0, 1].map(|point| {
            let seen_at = |n: u32| SECOND + i64::from(n) * 10 * MS + point as i64 * MS;
            let of_four = |numbers: std::ops::Range<u16>| {
                let packets = numbers.map(|n| data(n, seen_at(n.into())));
                file(&packets.collect::<Vec<_>>())
            };
            let snap = if point == cut { 60 } else { 96 };
            // All of IPv6 is in the middle.
            let mut bytes = of_four(0..40);
            bytes.extend((40..80).flat_map(|n| record_of_six(n, seen_at(n), snap)));
            bytes.extend(&of_four(80..120)[24..]);
            let path = folder.path().join(point.to_string());
            fs::write(&path, bytes).unwrap();
            Point::file(path)
        });
        let analysis = PathAnalysis::of(&points, &PathConfig::default()).unwrap();
        let hop = &analysis.hops[0];
        let count = |of: fn(&PathFlow) -> u64| hop.flows.iter().flatten().map(of).sum::<u64>();
        assert_eq!(count(|flow| flow.passed_packets), 80);
        assert_eq!(
            count(|flow| flow.dropped_packets + flow.appeared_packets),
            0
        );
        assert_eq!(hop.facts[cut].untold, 40);
        assert!(hop.quality().contains(&"headers_cut"));
    }
}

/// A translator keeps their IP ids, which is all that tells them apart: they have no checksums, and what the first
/// point keeps of them is alike. It cut the headers of a download besides.
#[test]
fn translated_datagrams_are_told_apart_by_their_ip_id_where_headers_were_cut() {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..300_u16 {
        let at = SECOND + i64::from(n) * MS;
        let datagram = Packet {
            udp: true,
            sport: 443,
            len: 900,
            checksum: 0,
            id: 30_000 + n,
            ..data(n, at)
        };
        let cut = |packet: Packet| Packet { snap: 44, ..packet };
        let translated = |packet: Packet| Packet {
            src: [192, 0, 2, 9],
            at: packet.at + 5 * MS,
            ..packet
        };
        let segment = data(n, at + 500 * US);
        points[0].extend([cut(datagram.clone()), cut(segment.clone())]);
        points[1].extend((n % 50 != 20).then(|| translated(datagram)));
        points[1].push(translated(segment));
    }
    points[1].sort_by_key(|packet| packet.at);
    let hop = hop(&points[0], &points[1]);
    let datagrams = hop.flows.iter().flatten().find(|flow| flow.key.is_udp());
    let datagrams = datagrams.unwrap();
    assert_eq!((datagrams.packets, datagrams.dropped_packets), (300, 6));
    assert_eq!(
        (datagrams.delay.ns_max(), datagrams.uncertain_packets),
        (Some(5 * MS), 0)
    );
    let quality = hop.quality();
    assert!(
        quality.contains(&"matched_without_addresses"),
        "{quality:?}"
    );
    assert!(!quality.contains(&"matched_without_ip_id"), "{quality:?}");
}

/// Where the translator rewrites ids, too, quality says so.
#[test]
fn translated_packets_whose_ids_are_rewritten_are_said_to_be_matched_without_them() {
    let [first, second] = download(|packet| {
        Some(Packet {
            src: [192, 0, 2, 9],
            id: packet.id ^ 0x5a5a,
            ..packet
        })
    });
    let quality = hop(&first, &second).quality();
    assert!(
        quality.contains(&"matched_without_addresses"),
        "{quality:?}"
    );
    assert!(quality.contains(&"matched_without_ip_id"), "{quality:?}");
}
