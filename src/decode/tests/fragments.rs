//! Segments in several IP packets.

use super::*;

#[test]
fn fragments_in_any_order_make_the_segment_they_were() {
    let packet = tcp_v4();
    let tcp = &packet[20..];
    let whole = segment(RAW, &packet);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let mut table = FragmentTable::new();
        // The header's end is in the second part, and the third overlaps it.
        let parts = [
            fragment_of(6, 7, 0, true, &tcp[..24]),
            fragment_of(6, 7, 3, true, &tcp[24..40]),
            fragment_of(6, 7, 4, false, &tcp[32..]),
        ];
        let found: Vec<Segment> = order
            .iter()
            .filter_map(|&part| push(&mut table, 0, &parts[part]))
            .collect();
        let [found] = found.as_slice() else {
            panic!("{order:?}: {found:?}")
        };
        assert_eq!((found.src, found.dst), (whole.src, whole.dst));
        assert_eq!(
            (found.seq, found.ack, found.flags),
            (whole.seq, whole.ack, whole.flags)
        );
        assert_eq!(found.payload_len, whole.payload_len);
        assert_eq!(found.timestamps, whole.timestamps);
        assert_eq!(found.ip_packets, 3);
        assert_eq!(
            found.ip_len,
            parts.iter().map(|part| part.len() as u32).sum::<u32>()
        );
        assert_eq!(table.records_in_whole(), 3);
        assert_eq!(table.skipped().total(), 0);
    }
}

#[test]
fn fragments_that_contradict_each_other_are_no_segment() {
    let packet = tcp_v4();
    let mut table = FragmentTable::new();
    assert!(push(&mut table, 0, &fragment_of(6, 7, 1, false, &[])).is_none());
    assert!(push(&mut table, 0, &fragment_of(6, 7, 0, true, &packet[20..])).is_none());
    assert_eq!(table.skipped().count(Skip::MalformedTcp), 2);
}

#[test]
fn ipv6_fragments_may_begin_with_extension_headers() {
    let payload = [&[6, 0, 1, 4, 0, 0, 0, 0], &tcp_v4()[20..]].concat();
    let fragment = |offset: u16, more: u16, part: &[u8]| {
        let [high, low] = ((offset * 8) | more).to_be_bytes();
        ipv6(44, &[&[60, 0, high, low, 0, 0, 0, 5][..], part].concat())
    };
    let mut table = FragmentTable::new();
    assert!(push(&mut table, 0, &fragment(4, 0, &payload[32..])).is_none());
    let found = push(&mut table, 0, &fragment(0, 1, &payload[..32])).unwrap();
    assert_eq!(found.payload_len, segment(RAW, &tcp_v4()).payload_len);
}

#[test]
fn the_first_fragment_of_a_tunnel_packet_tells_what_is_inside() {
    let outer = fragment_of(
        47,
        7,
        0,
        true,
        &[&[0, 0, 8, 0][..], &tcp_v4()].concat()[..64],
    );
    let found = segment(RAW, &outer);
    assert_eq!(found.payload_len, segment(RAW, &tcp_v4()).payload_len);
    assert_eq!(found.ip_packets, 1);
}

#[test]
fn fragments_without_the_others_are_given_up() {
    let mut table = FragmentTable::new();
    let first = |id| fragment_of(6, id, 0, true, &tcp_v4()[20..60]);
    let last = |id| fragment_of(6, id, 5, false, &tcp_v4()[60..]);
    for id in 0..=FRAGMENTS_MAX as u16 {
        assert!(push(&mut table, 0, &first(id)).is_none());
    }
    assert!(
        push(&mut table, 0, &last(0)).is_none(),
        "the oldest was given up"
    );
    assert!(push(&mut table, 0, &last(5)).is_some());
    assert!(
        push(&mut table, 31, &last(6)).is_none(),
        "its first half is too old"
    );
    let records = FRAGMENTS_MAX as u64 + 1 + 3;
    assert_eq!(table.skipped().count(Skip::FragmentIncomplete), records - 2);
    assert_eq!(table.records_in_whole() + table.skipped().total(), records);
}

#[test]
fn a_number_that_comes_again_is_another_datagrams() {
    let mut table = FragmentTable::new();
    let at = |seq: u8| {
        let mut tcp = tcp_v4()[20..].to_vec();
        tcp[7] = seq;
        tcp
    };
    let [lost, next] = [at(1), at(2)];
    // Of the first datagram the second fragment is lost, and its number comes again 20 s later.
    assert!(push(&mut table, 0, &fragment_of(6, 7, 0, true, &lost[..40])).is_none());
    assert!(push(&mut table, 20, &fragment_of(6, 7, 0, true, &next[..40])).is_none());
    let found = push(&mut table, 20, &fragment_of(6, 7, 5, false, &next[40..])).unwrap();
    assert_eq!(
        found.seq.0.to_be_bytes()[3],
        2,
        "not the header that was lost with its rest"
    );
    assert_eq!(found.ip_packets, 2);
    assert_eq!(table.skipped().count(Skip::FragmentIncomplete), 1);
}

#[test]
fn fragments_that_pass_twice_make_two_copies_of_the_segment() {
    let tcp = &tcp_v4()[20..];
    let parts = [
        fragment_of(6, 7, 0, true, &tcp[..24]),
        fragment_of(6, 7, 3, true, &tcp[24..40]),
        fragment_of(6, 7, 5, false, &tcp[40..]),
    ];
    // One by one, and one datagram after the other.
    for order in [[0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2], [2, 2, 0, 1, 0, 1]] {
        let mut table = FragmentTable::new();
        let mut whole = order
            .iter()
            .filter_map(|&part| push(&mut table, 0, &parts[part]));
        let segments: Vec<Segment> = whole.by_ref().collect();
        let packets: Vec<u16> = segments.iter().map(|segment| segment.ip_packets).collect();
        assert_eq!(packets, [3, 3], "{order:?}");
        assert_eq!(table.skipped().total(), 0);
    }
}

fn push(table: &mut FragmentTable, seconds: i64, bytes: &[u8]) -> Option<Segment> {
    let at = CaptureTime::from_ns(seconds * 1_000_000_000);
    let record = Record {
        at,
        ..record(RAW, bytes)
    };
    match decode(&record, 0, &DecodeOptions::default()) {
        Decoded::Fragment(fragment) => table.push(fragment),
        other => panic!("{other:?}"),
    }
}
