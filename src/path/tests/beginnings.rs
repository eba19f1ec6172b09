//! Captures of which one begins later than the other.

use super::*;

/// What comes before a [`download`]: a SYN that goes back and is lost, another a second later, the answer to it, and an ACK.
/// Each takes 1 ms.
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

/// Packets that were dropped, and undecided ones, forward and back, where each point's capture begins so long before the data.
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
