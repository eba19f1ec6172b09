//! Flights of tens of thousands of packets, as of 10 Gbit/s over long paths (METRICS.md X2).

use std::fmt::Write as _;

use super::{opened, play};
use crate::event::{Class, Evidence, LossPlace, Reason};

#[test]
fn ids_that_have_come_round_do_not_make_a_repeat_of_an_original() {
    // As of full packets of 10 Gbit/s over 40 and over 80 ms: the first packet is repeated when more than half of all
    // ids were used up behind it, so that its own seems to lie before, and when all were. One in so many came here.
    for (packets, one_in) in [(40_000, 1), (65_535, 1), (40_000, 20), (65_535, 20)] {
        let mut trace = opened("40 B>A ack 0 win 65535\n");
        for segment in (one_in - 1..packets).step_by(one_in as usize) {
            let (ms, start, id) = (100 + segment / 1000, 100 * segment, (2 + segment) as u16);
            writeln!(trace, "{ms} A>B data {start}..{} id {id}", start + 100).unwrap();
        }
        for segments in 1..=3 {
            let (first, last) = (100 * one_in, 100 * one_in * (segments + 1));
            writeln!(trace, "180 B>A ack 0 sack {first}..{last} win 65535").unwrap();
        }
        let id = (2 + packets) as u16;
        writeln!(trace, "190 A>B data 0..100 id {id}").unwrap();
        let row = play(&trace).rows.pop().unwrap();
        let verdict = (row.verdict.class, row.verdict.reason);
        let expected = (Class::Retransmission, Some(Reason::Fast));
        assert_eq!(verdict, expected, "{packets} {one_in}");
    }
}

#[test]
fn half_of_a_long_flight_may_be_lost() {
    // As where a window grows to twice of what 10 Gbit/s over 70 ms hold and a queue in front of them drops every
    // other packet: each is repeated a round trip later, and nothing is forgotten.
    let mut trace = opened("40 B>A ack 0 win 65535\n");
    let part = |packet: u32| format!("{}..{}", 100 * packet, 100 * packet + 100);
    for packet in (1..60_000_u32).step_by(2) {
        let (ms, part, id) = (100 + packet / 1000, part(packet), (2 + packet) as u16);
        writeln!(trace, "{ms} A>B data {part} id {id}").unwrap();
        writeln!(trace, "{ms} B>A ack 0 sack {part} win 65535").unwrap();
    }
    for packet in (0..60_000_u32).step_by(2) {
        let (ms, part, id) = (
            170 + packet / 1000,
            part(packet),
            (60_002 + packet / 2) as u16,
        );
        writeln!(trace, "{ms} A>B data {part} id {id}").unwrap();
    }
    trace += "230 B>A ack 6000000 win 65535";
    let seen = play(&trace);
    let (first, repeats) = seen.rows.split_at(30_000);
    assert!(first.iter().all(|row| row.verdict.class == Class::New));
    assert_eq!(repeats.len(), 30_000);
    for row in repeats {
        let verdict = (row.verdict.class, row.verdict.reason, row.verdict.lost);
        let (class, reason) = (Class::Retransmission, Some(Reason::Fast));
        assert_eq!(
            verdict,
            (class, reason, Some(LossPlace::Upstream)),
            "{row:?}"
        );
    }
}

#[test]
fn an_original_that_many_have_overtaken_is_known_by_its_id() {
    // By 999 and, as with 10 Gbit/s within 12 ms, by 9,999: it is not that most of a turn was lost.
    for (late, overtakers) in [(59_000, 999), (50_000, 9_999)] {
        let mut trace = opened("40 B>A ack 0 win 65535\n");
        let id = |segment: u32| (2 + segment) as u16;
        for segment in (0..60_000).filter(|&segment| segment != late) {
            let (ms, start) = (100 + segment / 1000, 100 * segment);
            writeln!(
                trace,
                "{ms} A>B data {start}..{} id {}",
                start + 100,
                id(segment)
            )
            .unwrap();
        }
        let start = 100 * late;
        writeln!(
            trace,
            "160 A>B data {start}..{} id {}",
            start + 100,
            id(late)
        )
        .unwrap();
        writeln!(trace, "161 A>B data 6000000..6000100 id {}", id(60_000)).unwrap();
        let rows = play(&trace).rows;
        let [.., original, next] = &rows[..] else {
            panic!("rows");
        };
        let (class, evidence) = (original.verdict.class, original.verdict.evidence);
        assert_eq!(
            (class, evidence),
            (Class::Reordered, Evidence::IpId),
            "{overtakers}"
        );
        assert_eq!(next.verdict.class, Class::New);
    }
}

#[test]
fn a_repeat_that_comes_round_is_no_copy_of_the_network() {
    // Without clocks, sent again with the very id that it had a turn before.
    let mut trace = opened("40 B>A ack 0 win 65535\n");
    for segment in 0..65_536_u32 {
        let (ms, start, id) = (100 + segment / 1000, 100 * segment, (2 + segment) as u16);
        writeln!(trace, "{ms} A>B data {start}..{} id {id}", start + 100).unwrap();
    }
    trace += "170 B>A ack 0 sack 100..400 win 65535
              180 A>B data 0..100 id 2";
    let row = play(&trace).rows.pop().unwrap();
    assert_eq!(row.verdict.class, Class::Retransmission);
}

#[test]
fn what_was_reported_far_below_the_highest_asks_for_the_left_edge_again() {
    // Both holes are repeated, and a round trip later SACK tells that the higher one came: so the other, sent before
    // it, was lost again (RFC 8985 section 6.2), without any timer.
    let mut trace = "0 A>B syn\n300 B>A syn ack 0\n300 A>B ack 0 id 1\n".to_owned();
    for segment in 0..10_000_u32 {
        let (start, id) = (100 * segment, (2 + segment) as u16);
        writeln!(trace, "400 A>B data {start}..{} id {id}", start + 100).unwrap();
    }
    trace += "700 B>A ack 0 sack 1100..1000000 sack 100..1000 win 65535
              701 A>B data 0..100 id 10002
              702 A>B data 1000..1100 id 10003
              1002 B>A ack 0 sack 100..1000000 win 65535
              1003 A>B data 0..100 id 10004";
    let row = play(&trace).rows.pop().unwrap();
    assert_eq!(row.verdict.class, Class::Retransmission);
    assert_eq!(row.verdict.reason, Some(Reason::Fast));
}
