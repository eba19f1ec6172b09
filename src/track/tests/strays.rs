//! What does not fit the stream, and what follows it (RFC 9293 section 3.10.7.4).

use super::{Seen, check, check_signs, opened, play};

/// The class of each data segment.
fn classes(seen: &Seen) -> Vec<&'static str> {
    let rows = seen.rows.iter();
    rows.map(|row| row.verdict.class.name()).collect()
}

/// B's window of 500 with a scale of 7 is 64,000 bytes: with 2000 acknowledged A cannot have sent more than
/// 66,000, whatever this capture missed.
const BOGUS: &str = "100 A>B data 0..1000
     101 A>B data 1000..2000
     120 B>A ack 2000
     130 B>A ack 5000000
     140 A>B data 2000..3000
     160 B>A ack 3000";

#[test]
fn an_ack_of_what_cannot_have_been_sent_acknowledges_nothing() {
    let seen = play(&opened(BOGUS));
    assert_eq!(seen.state.acked_bytes, Some(3000));
    assert_eq!(seen.state.unseen_bytes, Some(0));
    assert_eq!(seen.acked, 3000);
    check(
        &opened(BOGUS),
        "100 new 0..1000 rtt 20 delayed_ack
         101 new 1000..2000 rtt 19 clean
         140 new 2000..3000 rtt 20 clean",
    );
}

#[test]
fn neither_do_its_window_and_its_sack_blocks_count() {
    let trace = BOGUS.replace(
        "ack 5000000",
        "ack 5000000 sack 5001000..5002000 win 0\n131 B>A ack 6000000",
    );
    check_signs(&opened(&trace), &[]);
    assert_eq!(play(&opened(&trace)).state.acked_bytes, Some(3000));
}

#[test]
fn acks_that_go_on_from_there_show_that_the_capture_lost_that_much() {
    // C5 and C6: the second ACK is above the first and within its window, as a receiver's next one is.
    let seen = play(&opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         120 B>A ack 2000
         5000 B>A ack 5000000
         5010 B>A ack 5002000
         5100 A>B data 5002000..5003000
         5120 B>A ack 5003000",
    ));
    assert_eq!(seen.state.acked_bytes, Some(5_003_000));
    assert_eq!(seen.state.unseen_bytes, Some(5_000_000));
}

#[test]
fn such_an_ack_counts_from_when_it_passed() {
    // Nothing above 66,000 can have been sent. What follows is an ACK, or data that it answers or lets pass.
    for (follows, in_flight, acked_at) in [
        ("5010 A>B data 99000..100000", Some(0), 5000),
        ("5010 B>A ack 102000", None, 5010),
        ("5010 A>B data 100000..101000", Some(1000), 5000),
        ("5010 A>B data 163000..164000", Some(64_000), 5000),
    ] {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             120 B>A ack 2000
             5000 B>A ack 100000
             {follows}"
        )));
        assert_eq!(seen.acks[..3], [0, 2000, 100_000], "{follows}");
        assert_eq!(seen.acked_at, acked_at, "{follows}");
        let last = seen.data.get(2).and_then(|data| data.in_flight_bytes);
        assert_eq!(last, in_flight, "{follows}");
    }
    // Not data from below it, or from beyond its window, nor what is so far that it may be as old.
    for (ack, data) in [
        (100_000, "2000..3000"),
        (100_000, "165000..166000"),
        (5_000_000, "5000000..5001000"),
    ] {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             120 B>A ack 2000
             5000 B>A ack {ack}
             5010 A>B data {data}"
        )));
        assert_eq!(seen.state.acked_bytes, Some(2000), "{data}");
    }
}

#[test]
fn data_that_was_seen_shows_it_too() {
    let seen = play(&opened(
        "100 A>B data 0..1000
         120 B>A ack 1000
         5000 A>B data 5000000..5001000
         5020 B>A ack 5001000",
    ));
    assert_eq!(seen.state.acked_bytes, Some(5_001_000));
    assert_eq!(seen.state.unseen_bytes, Some(4_999_000));
}

#[test]
fn within_the_window_an_ack_of_what_was_not_seen_counts() {
    // C6: the capture lost 2000..40000, and its sender had room for it.
    let seen = play(&opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         120 B>A ack 2000
         150 B>A ack 40000",
    ));
    assert_eq!(seen.state.acked_bytes, Some(40_000));
    assert_eq!(seen.state.unseen_bytes, Some(38_000));
}

#[test]
fn a_fin_may_lie_just_behind_a_full_window() {
    // Window and all are used up; the FIN takes one number more (RFC 9293 section 3.4).
    let seen = play(&opened(
        "100 A>B data 0..1000
         120 B>A ack 1000 win 0
         130 A>B fin
         150 B>A ack 1001 win 0",
    ));
    assert_eq!(seen.state.acked_bytes, Some(1000));
}

/// After 2000 bytes B's window ends at 66,000. A segment at 100,000,000, or at -20,000,000, is none that A can have
/// sent: one of an earlier connection, or of another host.
#[test]
fn a_segment_where_the_sender_cannot_be_changes_nothing() {
    for stray in ["100000000..100001000", "-20000000..-19999000"] {
        let trace = opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             120 B>A ack 2000
             130 A>B data {stray}
             140 A>B data 2000..3000
             150 B>A ack 2000
             160 B>A ack 3000"
        ));
        let seen = play(&trace);
        assert_eq!(
            classes(&seen),
            ["new", "new", "ambiguous", "new"],
            "{stray}"
        );
        assert_eq!(seen.state.unique_bytes, 3000);
        assert_eq!(seen.state.unseen_bytes, Some(0));
        assert_eq!(seen.state.strays, 1);
        // Nothing was in flight from 120 to 140, less the 10 ms that an ACK takes to A and data back.
        assert_eq!(seen.state.application_limited_ns, 10_000_000);
    }
}

#[test]
fn data_that_goes_on_from_there_shows_that_the_capture_lost_that_much() {
    let seen = play(&opened(
        "100 A>B data 0..1000
         120 B>A ack 1000
         5000 A>B data 5000000..5001000
         5001 A>B data 5001000..5002000
         5020 B>A ack 5002000",
    ));
    assert_eq!(classes(&seen), ["new"; 3]);
    assert_eq!(seen.state.unseen_bytes, Some(4_999_000));
    assert_eq!(seen.state.strays, 0);
    // R1: both were acknowledged 20 ms after the first of them passed.
    let rtt: Vec<i64> = seen
        .rows
        .iter()
        .filter_map(|row| Some(row.rtt?.0 / 1_000_000))
        .collect();
    assert_eq!(rtt, [20, 20, 19]);
}

#[test]
fn a_fin_below_data_that_was_seen_is_none() {
    // A FIN comes behind all data (RFC 9293 section 3.10.7.4), so these are of another connection: C5.
    for stray in [500, 80_000] {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B at {stray} fin
             120 B>A ack 2000
             130 A>B data 2000..90000
             150 B>A ack 90000"
        );
        assert_eq!(
            play(&opened(&trace)).state.acked_bytes,
            Some(90_000),
            "{stray}"
        );
    }
}

#[test]
fn a_fin_or_rst_from_elsewhere_ends_nothing() {
    let far = "100 A>B data 0..1000
         120 B>A ack 1000
         130 A>B at 300000000 rst
         140 B>A at 300000000 fin ack 1000
         150 A>B data 1000..2000
         170 B>A ack 2000";
    let closing = play(&opened(far)).closing;
    assert_eq!((closing.fin, closing.reset), ([false, false], false));
    let near = far
        .replace("300000000 rst", "1000 rst")
        .replace("300000000 fin", "0 fin");
    let closing = play(&opened(&near)).closing;
    assert_eq!((closing.fin, closing.reset), ([false, true], true));
}

#[test]
fn where_the_window_is_unknown_strays_are_told_from_16_mib_on() {
    // The capture began in mid-flow. Neither ACK nor segment has one that goes on from it.
    let seen = play(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         120 B>A ack 2000
         130 B>A ack 20000000
         131 A>B data 20000000..20001000
         140 A>B data 2000..3000
         160 B>A ack 3000",
    );
    assert_eq!(seen.state.acked_bytes, Some(3000));
    assert_eq!(seen.state.unique_bytes, 3000);
    assert_eq!(seen.state.unseen_bytes, Some(0));
    // Each of these has.
    let seen = play(
        "100 A>B data 0..1000
         120 B>A ack 1000
         130 B>A ack 20000000
         131 B>A ack 20001000
         140 A>B data 20001000..20002000
         160 B>A ack 20002000",
    );
    assert_eq!(seen.state.acked_bytes, Some(20_002_000));
    assert_eq!(seen.state.unseen_bytes, Some(20_000_000));
}

/// A answers B's SYN twice, with other numbers, as two servers behind a balancer may: `shift` apart. B takes the first.
fn answered_twice(shift: i64, rest: &str) -> String {
    format!(
        "0 B>A syn
         10 A>B syn ack 0
         11 A>B syn at {} ack 0
         {rest}",
        shift - 1
    )
}

#[test]
fn of_several_answers_to_a_syn_that_one_counts_which_is_acknowledged() {
    for shift in [700_000, -700_000, 1 << 30] {
        let first = "30 B>A ack 0
             100 A>B data 0..1000 ack 0
             120 B>A ack 1000";
        let expected = "100 new 0..1000 rtt 20 clean";
        check(&answered_twice(shift, first), expected);
        // Or that which the server goes on behind, where the capture has no ACK of the client before.
        let unconfirmed = first.replace("30 B>A ack 0", "");
        check(&answered_twice(shift, &unconfirmed), expected);
        let second = format!(
            "30 B>A ack {shift}
             100 A>B data {shift}..{} ack 0
             120 B>A ack {}",
            shift + 1000,
            shift + 1000
        );
        let rows = play(&answered_twice(shift, &second)).rows;
        assert_eq!((rows[0].offset, rows[0].verdict.class.name()), (0, "new"));
    }
}

#[test]
fn the_handshake_takes_as_long_as_the_answer_that_counts() {
    let trace = |ack: i64| {
        let rest = format!("31 B>A ack {ack}");
        play(&answered_twice(700_000, &rest)).handshake
    };
    let ms = |server: i64, client: i64| {
        Some((
            (server + client) * 1_000_000,
            server * 1_000_000,
            client * 1_000_000,
        ))
    };
    assert_eq!(trace(0), ms(10, 21));
    assert_eq!(trace(700_000), ms(11, 20));
}
