//! Packets that look alike, of which a capture misses some.

use super::*;

/// A download whose packets have no IP id, and each tenth ACK is repeated after 600 us; all take 5 us. `seen` is what a
/// point sees of the `n`th ACK or, with 1, of its repeat.
fn download_with_repeats(ahead: i64, seen: impl Fn(usize, u16, usize) -> bool) -> Hop {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..2000_u16 {
        let at = SECOND + i64::from(n) * MS;
        points[0].push(data(n, at));
        points[1].push(data(n, at + 5 * US + i64::from(n % 7) * US));
        for repeat in 0..if n % 10 == 0 { 2 } else { 1 } {
            let at = at + 200 * US + repeat as i64 * 600 * US;
            for (point, at) in [(1, at), (0, at + 5 * US + i64::from(n % 5) * US)] {
                if seen(point, n, repeat) {
                    points[point].push(ack(n, at));
                }
            }
        }
    }
    let [first, second] = points.map(|packets| {
        let mut packets: Vec<Packet> = packets
            .into_iter()
            .map(|packet| Packet {
                id: 0,
                checksum: 7,
                ..packet
            })
            .collect();
        packets.sort_by_key(|packet| packet.at);
        packets
    });
    let second: Vec<Packet> = second
        .into_iter()
        .map(|packet| Packet { ahead, ..packet })
        .collect();
    hop(&first, &second)
}

/// Of three pairs the first one was not seen coming in: its repeat would have left 595 us before it came in.
#[test]
fn a_few_packets_that_look_alike_are_no_evidence_against_clocks() {
    let missed = |point, n, repeat| point == 1 && [500, 1000, 1500].contains(&n) && repeat == 0;
    let hop = download_with_repeats(0, |point, n, repeat| !missed(point, n, repeat));
    assert!(!hop.clock_is_fixed(), "{:?}", hop.clock);
    assert_eq!(hop.negative_delays(), None);
    let back = flow(&hop, Heading::Reverse);
    assert_eq!(back.delay.ns_max(), Some(9 * US));
    assert_eq!((back.passed_packets, back.appeared_packets), (2197, 3));
}

/// What is left of a pair, of which one was missed at each point, says nothing of clocks, and that it may be another.
#[test]
fn what_left_long_before_it_came_in_is_uncertain() {
    let missed = |point, n, repeat| [500, 1000, 1500].contains(&n) && repeat == 1 - point;
    let hop = download_with_repeats(0, |point, n, repeat| !missed(point, n, repeat));
    assert!(!hop.clock_is_fixed(), "{:?}", hop.clock);
    assert_eq!(flow(&hop, Heading::Reverse).uncertain_packets, 3);
}

#[test]
fn clocks_that_are_wrong_are_corrected_by_packets_that_look_alike() {
    for ahead in [3 * SECOND, -5 * MS] {
        let missed = |point, n, repeat| point == 1 && [500, 1000, 1500].contains(&n) && repeat == 0;
        let hop = download_with_repeats(ahead, |point, n, repeat| !missed(point, n, repeat));
        let clock = hop.clock_estimate.as_ref().unwrap();
        assert!(
            (clock.clock.offset_ns - ahead as f64).abs() <= 2.0 * US as f64,
            "{clock:?}"
        );
        assert!(hop.clock_is_fixed() && clock.steps.is_empty());
        let back = flow(&hop, Heading::Reverse);
        assert_eq!((back.passed_packets, back.appeared_packets), (2197, 3));
    }
}
