//! Keep-alives and window probes, with a byte and without (METRICS.md X7).

use super::{check_signs, opened, play};
use crate::event::{Class, Reason, Verdict};

#[test]
fn an_empty_segment_one_below_the_next_byte_is_a_keep_alive() {
    check_signs(
        &opened(
            "100 A>B data 0..1000 ack 0
             120 B>A ack 1000
             9000 A>B at 999 ack 0
             9020 B>A ack 1000",
        ),
        &["9000 KeepAlive"],
    );
}

#[test]
fn a_keep_alive_that_is_seen_twice_counts_once() {
    // With a byte and without, in a row or with what it asks for in between, and again later.
    for probe in ["at 999", "data 999..1000"] {
        for copy in [9000, 9015] {
            let trace = opened(&format!(
                "100 A>B data 0..1000 ack 0 id 2
                 100 A>B data 0..1000 ack 0 id 2
                 120 B>A ack 1000 id 1
                 120 B>A ack 1000 id 1
                 9000 A>B {probe} ack 0 id 3
                 {copy} A>B {probe} ack 0 id 3
                 9020 B>A ack 1000 id 2
                 9020 B>A ack 1000 id 2
                 19000 A>B {probe} ack 0 id 4
                 19000 A>B {probe} ack 0 id 4",
            ));
            check_signs(&trace, &["9000 KeepAlive", "19000 KeepAlive"]);
        }
    }
}

#[test]
fn a_window_probe_that_is_seen_twice_counts_once() {
    for probe in ["at 999", "data 1000..1001"] {
        let trace = opened(&format!(
            "100 A>B data 0..1000 ack 0 id 2
             100 A>B data 0..1000 ack 0 id 2
             120 B>A ack 1000 win 0 id 1
             120 B>A ack 1000 win 0 id 1
             400 A>B {probe} ack 0 id 3
             400 A>B {probe} ack 0 id 3
             420 B>A ack 1000 win 0 id 2
             420 B>A ack 1000 win 0 id 2
             900 A>B {probe} ack 0 id 4
             900 A>B {probe} ack 0 id 4",
        ));
        let signs = play(&trace).signs;
        let probes: Vec<_> = signs
            .iter()
            .filter(|sign| sign.ends_with("Probe"))
            .collect();
        assert_eq!(probes, ["400 WindowProbe", "900 WindowProbe"]);
    }
}

#[test]
fn an_ack_that_a_byte_overtook_is_no_keep_alive() {
    // The handshake's, behind a request of one byte; nor one that comes late into a window that is closed by then.
    for window in [500, 0] {
        let trace = format!(
            "0 A>B syn id 1
             20 B>A syn ack 0
             30 A>B data 0..1 ack 0 id 3
             31 B>A ack 1 win {window}
             32 A>B at 0 ack 0 id 2"
        );
        let signs = play(&trace).signs;
        let signs = signs.iter().filter(|sign| !sign.ends_with("ZeroWindow"));
        assert_eq!(signs.count(), 0, "{window}");
    }
}

#[test]
fn a_keep_alive_may_follow_the_answer_to_the_peers_at_once() {
    // Both look whether the other is there, once a second. What was sent last is no ACK that is late.
    let signs = |stamps: [&str; 4]| {
        let [first, second, answer, probe] = stamps;
        let trace = opened(&format!(
            "100 A>B data 0..900 ack 0 {first}
             101 A>B data 900..1800 ack 0 {second}
             120 B>A ack 1800
             1120 B>A at -1 ack 1800
             1121 A>B ack 0 {answer}
             1129 A>B at 1799 ack 0 {probe}
             1149 B>A ack 1800"
        ));
        play(&trace).signs
    };
    let keep_alive = vec!["1129 KeepAlive".to_owned()];
    assert_eq!(signs(["id 2", "id 3", "id 4", "id 5"]), keep_alive);
    assert_eq!(signs(["ts 1/0", "ts 1/0", "ts 7/0", "ts 8/0"]), keep_alive);
    // Else it may have been overtaken.
    assert!(signs([""; 4]).is_empty());
    assert!(signs(["ts 1/0", "ts 1/0", "ts 7/0", "ts 7/0"]).is_empty());
}

#[test]
fn a_keep_alive_needs_no_data_before_it() {
    check_signs(
        &opened(
            "9000 A>B at -1 ack 0
             9020 B>A ack 0",
        ),
        &["9000 KeepAlive"],
    );
}

#[test]
fn a_keep_alive_may_be_the_first_payload_of_a_capture() {
    // Mid-flow, A's ACK tells what it had sent: the byte below was acknowledged, since only then a sender looks whether
    // the peer is there (RFC 9293 section 3.8.4).
    let trace = |first: &str, number: u32| {
        format!(
            "100 B>A ack 0 id 7
             101 A>B at {number} ack 0 id 2
             102 A>B at {number} ack 0 id 3
             45000 A>B data {first} id 4
             45020 B>A ack 1000 id 8
             46000 A>B data 1000..2000 id 5
             46020 B>A ack 2000 id 9"
        )
    };
    let looks = play(&trace("999..1000", 1000));
    assert_eq!(looks.signs, ["45000 KeepAlive"]);
    let (byte, data) = (&looks.data[0], &looks.data[1]);
    assert_eq!((byte.offset, byte.verdict.class), (-1, Class::KeepAlive));
    assert_eq!((byte.unique_len, data.offset), (0, 0));
    // What is next, or more than a byte, is data.
    for (first, number) in [
        ("999..1000", 999),
        ("998..1000", 1000),
        ("999..1000", 1001),
        ("999..1000 psh", 1000),
    ] {
        let seen = play(&trace(first, number));
        assert!(seen.signs.is_empty(), "{first} {number}");
        let verdicts = seen.data.iter().map(|data| data.verdict);
        assert!(verdicts.eq([Verdict::NEW; 2]), "{first} {number}");
        assert_eq!(seen.data[0].offset, 0);
    }
}

#[test]
fn a_probe_looks_just_below_what_was_acknowledged_though_the_capture_lost_it() {
    // 1000..2000 was not seen, but the ACK of it, which closes the window.
    check_signs(
        &opened(
            "40 B>A ack 0
             100 A>B data 0..1000
             120 B>A ack 2000 win 0
             400 A>B at 1999 ack 0
             420 B>A ack 2000 win 500",
        ),
        &["120 ZeroWindow", "400 WindowProbe"],
    );
}

#[test]
fn where_no_ack_is_seen_the_last_byte_of_a_packet_alone_is_a_keep_alive() {
    // A path on which the answers go another way. What is pushed, comes soon, or was sent as one byte may be a repeat.
    let class = |cut: u32, at: u32, byte: &str| {
        let trace = format!(
            "100 A>B data 0..{cut} id 4
             110 A>B data {cut}..1000 id 5
             {} A>B ack 0 id 6
             {at} A>B data {byte} id 7",
            at - 100
        );
        let rows = play(&trace).rows;
        rows.last().map(|row| row.verdict.class)
    };
    assert_eq!(class(500, 45_000, "999..1000"), Some(Class::KeepAlive));
    for (cut, at, byte) in [
        (500, 45_000, "999..1000 psh"),
        (500, 45_000, "998..1000"),
        (500, 300, "999..1000"),
        (999, 45_000, "999..1000"),
    ] {
        let expected = Some(Class::Retransmission);
        assert_eq!(class(cut, at, byte), expected, "{cut} {at} {byte}");
    }
}

#[test]
fn what_a_probe_brings_about_is_no_answer_to_a_repeat_before_it() {
    // The repeat at 300 is answered sooner than the data before was, whose ACK B had delayed, but no sooner than a round
    // trip takes: it may have been for nothing, and a duplicate ACK would tell. That to a keep-alive, or one that looks
    // for room, does not (RFC 9293 section 3.8.4), nor B's own.
    let repeat = |probe: &str| {
        let trace = opened(&format!(
            "100 A>B data 0..1000 ack 0 id 2
             140 B>A ack 1000 id 1
             200 A>B data 1000..2000 ack 0 id 3
             300 A>B data 1000..2000 ack 0 id 4
             321 B>A ack 2000 id 2 {probe}"
        ));
        let seen = play(&trace);
        (seen.rows[2].verdict.reason, seen.lost)
    };
    let (lost, unneeded) = (
        (Some(Reason::TailProbe), [0, 1]),
        (Some(Reason::Unneeded), [0, 0]),
    );
    for probe in [
        "win 0\n 600 A>B at 1999 ack 0 id 5\n 620 B>A ack 2000 win 0 id 3",
        "win 0\n 600 A>B data 2000..2001 ack 0 id 5\n 620 B>A ack 2000 win 0 id 3",
        "\n 9000 A>B at 1999 ack 0 id 5\n 9020 B>A ack 2000 id 3",
        "\n 9000 A>B data 1999..2000 ack 0 id 5\n 9020 B>A ack 2000 id 3",
        "\n 9000 B>A at -1 ack 2000 id 3\n 9000 A>B ack 0 id 5",
    ] {
        assert_eq!(repeat(probe), lost, "{probe}");
    }
    assert_eq!(repeat("\n 342 B>A ack 2000 id 3"), unneeded);
}
