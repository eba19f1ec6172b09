//! What does not go along the path.

use super::*;

/// A host asks another, 20 times, and is answered 1 ms later.
fn talk(src: [u8; 4], dst: [u8; 4]) -> Vec<Packet> {
    let packets = (0..20_u16).flat_map(|n| {
        let at = SECOND + 5 * MS + i64::from(n) * 11 * MS;
        [data(n, at), ack(n, at + MS)]
    });
    packets
        .map(|packet| Packet {
            src,
            dst,
            sport: 2222,
            ..packet
        })
        .collect()
}

const SERVER: [u8; 4] = [10, 0, 0, 1];
const CLIENT: [u8; 4] = [10, 0, 0, 2];
const ROUTER: [u8; 4] = [10, 0, 0, 254];

#[test]
fn what_is_answered_between_the_points_is_no_drop() {
    // The server asks the router, before the queue, or the router the server; the same of the client, behind it. What
    // the router says leaves on the link there, and came in nowhere.
    for (point, host) in [(0, SERVER), (1, CLIENT)] {
        for [src, dst] in [[host, ROUTER], [ROUTER, host]] {
            let mut points = download(Some);
            points[point].extend(talk(src, dst));
            let hop = hop(&points[0], &points[1]);
            let flows: Vec<_> = hop.flows_in_order();
            let of =
                |is: fn(&&PathFlow) -> bool| flows.iter().copied().filter(is).collect::<Vec<_>>();
            let passed = of(|flow| flow.passed_packets > 0);
            assert_eq!(
                passed.iter().map(|flow| flow.packets).collect::<Vec<_>>(),
                [40; 2]
            );
            let appeared = of(|flow| flow.passed_packets == 0);
            assert_eq!(appeared.len(), 1);
            assert_eq!((appeared[0].appeared_packets, appeared[0].packets), (20, 0));
            assert_eq!(appeared[0].heading as usize, 1 - point);
            assert_eq!(hop.ways.each_ref().map(|way| way.drops.len()), [0, 0]);
            assert_eq!((hop.left_aside.flows, hop.left_aside.packets), (1, 20));
            assert_eq!(hop.quality(), ["packets_appeared", "aside_left_out"]);
        }
    }
}

#[test]
fn what_two_servers_say_to_each_other_is_no_drop() {
    let mut points = download(Some);
    // Both send data that pass.
    let beside = |packet: Packet| Packet {
        src: ROUTER,
        sport: 90,
        ..packet
    };
    let [first, second] = download(|packet| Some(beside(packet)));
    points[0].extend(first.into_iter().map(beside));
    points[1].extend(second);
    points[0].extend(talk(SERVER, ROUTER));
    let hop = hop(&points[0], &points[1]);
    assert_eq!((hop.left_aside.flows, hop.left_aside.packets), (2, 40));
    assert_eq!(hop.flows_in_order().len(), 4);
    assert!(
        hop.flows
            .iter()
            .flatten()
            .all(|flow| flow.packets == 40 && flow.passed_packets == 40)
    );
}

#[test]
fn what_is_not_answered_or_goes_to_a_host_beyond_was_dropped() {
    let drops = |talk: Vec<Packet>| {
        let [mut first, second] = download(Some);
        first.extend(talk);
        let hop = hop(&first, &second);
        assert_eq!(hop.left_aside, LeftAside::default());
        hop.ways[Heading::Forward as usize].drops.len()
    };
    // Nobody answers: it may have been on its way to who is beyond.
    let asked = talk(SERVER, ROUTER).into_iter();
    assert_eq!(drops(asked.filter(|packet| !packet.back).collect()), 20);
    // The client is behind the second point, which has missed it.
    assert_eq!(drops(talk(SERVER, CLIENT)), 20);
}
