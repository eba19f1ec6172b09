//! Captures of which one begins later than the other.

use super::*;

/// What comes before a [`download`]: a SYN that goes back and is lost, another a second later, the answer to it, and an
/// ACK. Each takes 1 ms.
fn opened() -> [Vec<Packet>; 2] {
    let [mut first, mut second] = download(Some);
    for (n, before_ms, flags) in [
        (0, 960, SYN),
        (1, 60, SYN),
        (2, 50, SYN | ACK),
        (3, 40, ACK),
    ] {
        let back = flags != SYN | ACK;
        let packet = |at| Packet {
            back,
            flags,
            id: 9000 + n,
            len: 0,
            ..data(0, at)
        };
        let at = SECOND - before_ms * MS;
        let (entry, exit) = if back {
            (&mut second, &mut first)
        } else {
            (&mut first, &mut second)
        };
        entry.push(packet(at));
        if n > 0 {
            exit.push(packet(at + MS));
        }
    }
    [first, second]
}

/// Packets that were dropped, and undecided ones, forward and back, where each point's capture begins so long before
/// the data.
fn at_the_beginning(before_ms: [i64; 2]) -> [(u64, u64); 2] {
    let mut points = opened();
    for (point, before_ms) in points.iter_mut().zip(before_ms) {
        point.retain(|packet| packet.at >= SECOND - before_ms * MS);
    }
    let hop = hop(&points[0], &points[1]);
    [Heading::Forward, Heading::Reverse].map(|heading| {
        let flow = flow(&hop, heading);
        (flow.dropped_packets, flow.undecided_packets)
    })
}

#[test]
fn a_syn_is_lost_before_a_point_sees_anything_but_not_before_its_capture_begins() {
    // The first capture had begun, and had nothing to see before the second SYN.
    assert_eq!(at_the_beginning([2000, 2000]), [(0, 0), (1, 0)]);
    // It begins behind the second SYN, with the answer to it.
    assert_eq!(at_the_beginning([55, 2000]), [(0, 0), (0, 2)]);
    // The second capture begins behind the answer, with the ACK of it.
    assert_eq!(at_the_beginning([2000, 45]), [(0, 1), (0, 1)]);
}

/// Thirty packets are in the queue, which sends one a millisecond, when the first capture begins. Much later the second
/// clock begins to gain, so that a walk whose notes did not fit is made again with other clocks.
#[test]
fn what_waits_at_the_beginning_is_held_however_long_the_captures_are() {
    let mut points = [Vec::new(), Vec::new()];
    let mut left_at = 0;
    for n in 0..60_000_u16 {
        let came_at = SECOND + (i64::from(n.max(29)) - 29) * 1250 * US - i64::from(n >= 30) * MS;
        left_at = (came_at + MS).max(left_at + MS);
        let ahead = (left_at - 60 * SECOND).max(0) / 10_000;
        points[0].extend((n >= 30).then(|| data(n, came_at)));
        points[1].push(Packet {
            ahead,
            ..data(n, left_at)
        });
        if n % 20 == 0 {
            let ahead = (came_at - 60 * SECOND).max(0) / 10_000;
            points[1].push(Packet {
                ahead,
                ..ack(n / 20, came_at + 100 * US)
            });
            points[0].push(ack(n / 20, came_at + 200 * US));
        }
    }
    for memory_bytes in [PathConfig::default().memory_bytes, 12 << 20] {
        let config = PathConfig {
            memory_bytes,
            clock: ClockChoice::Fix,
            ..PathConfig::default()
        };
        let analysis = analyse(&[&points[0], &points[1]], &config).unwrap();
        let hop = &analysis.hops[0];
        let flow = flow(hop, Heading::Forward);
        assert_eq!((flow.undecided_packets, flow.appeared_packets), (30, 0));
        // The first of them is being sent, and the next packet comes in before that is over.
        let most = hop.ways[Heading::Forward as usize].max().packets;
        assert!(
            (29..=30).contains(&most),
            "{most} with {memory_bytes} bytes"
        );
    }
}

/// Packets are waited for so briefly that the first five are known not to have been seen coming in before any is.
#[test]
fn a_flow_begins_when_its_first_packet_was_seen_coming_in() {
    let [mut first, second] = download(Some);
    let begin = SECOND + 50 * MS;
    first.retain(|packet| packet.at >= begin);
    let config = PathConfig {
        patience_ns: 20 * MS,
        ..PathConfig::default()
    };
    let analysis = analyse(&[&first, &second], &config).unwrap();
    assert_eq!(flow(&analysis.hops[0], Heading::Forward).first_ns, begin);
}

/// No bin is shorter than 1 ns, and no patience outlasts the captures.
#[test]
fn bins_of_nothing_and_endless_patience_are_as_near_as_there_is_to_them() {
    let [first, mut second] = download(Some);
    second.drain(40..43);
    let dropped = |bin_ns, patience_ns| {
        let config = PathConfig {
            bin_ns,
            patience_ns,
            ..PathConfig::default()
        };
        let analysis = analyse(&[&first, &second], &config).unwrap();
        assert!(analysis.hops[0].bin_ns >= 1);
        flow(&analysis.hops[0], Heading::Forward).dropped_packets
    };
    let usual = PathConfig::default();
    let expected = dropped(usual.bin_ns, usual.patience_ns);
    assert!(expected > 0);
    assert_eq!(dropped(usual.bin_ns, i64::MAX), expected);
    for bin_ns in [0, -1, i64::MIN] {
        assert_eq!(dropped(bin_ns, usual.patience_ns), expected);
    }
}
