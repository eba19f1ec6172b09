//! The number that a FIN takes is no payload.

use super::{check, check_signs, opened, play};
use crate::event::{Class, Reason};

#[test]
fn a_byte_in_the_place_of_an_acknowledged_fin_is_a_keep_alive() {
    let trace = opened(
        "100 A>B data 0..1000 ack 0
         101 A>B fin ack 0
         120 B>A ack 1001
         121 A>B at 1000 ack 0
         9000 A>B data 1000..1001 ack 0
         9020 B>A ack 1001
         9500 A>B at 1000 ack 0
         9520 B>A ack 1001",
    );
    check(
        &trace,
        "100 new 0..1000 rtt 20 delayed_ack
         9000 keep_alive 1000..1001",
    );
    check_signs(&trace, &["9000 KeepAlive", "9500 KeepAlive"]);
    let state = play(&trace).state;
    assert_eq!((state.acked_bytes, state.unique_bytes), (Some(1000), 1000));
}

#[test]
fn a_byte_that_comes_behind_its_fin_and_its_ack_is_late() {
    // The records of two queues, written in turns; a keep-alive comes when nothing was sent for long.
    let trace = |ms: u32| {
        opened(&format!(
            "100 A>B fin at 1 ack 0 id 3
             120 B>A ack 1
             {ms} A>B data 0..1 ack 0 id 2"
        ))
    };
    check(&trace(121), "121 reordered 0..1 ip_id");
    assert_eq!(play(&trace(121)).state.unique_bytes, 1);
    check_signs(&trace(121), &[]);
    check(&trace(9000), "9000 keep_alive 0..1");
}

#[test]
fn data_behind_an_acknowledged_fin_is_none_of_the_stream() {
    let seen = play(&opened(
        "100 A>B data 0..1000 ack 0
         101 A>B fin ack 0
         120 B>A ack 1001
         130 A>B data 1000..1500 ack 0
         140 A>B data 1500..2000 ack 0
         160 B>A ack 1001",
    ));
    assert_eq!(seen.state.acked_bytes, Some(1000));
    assert_eq!((seen.state.unique_bytes, seen.state.strays), (1000, 2));
}

#[test]
fn an_ack_of_one_number_more_than_was_seen_is_that_of_a_fin() {
    let counts = |trace: &str| {
        let seen = play(&opened(trace));
        (seen.state.acked_bytes, seen.acked, seen.state.unseen_bytes)
    };
    // The capture has the FIN behind its ACK, or lost it.
    let trace = "100 A>B data 0..1000 ack 0
         120 B>A ack 1001
         121 A>B fin ack 0";
    assert_eq!(counts(trace), (Some(1000), 1000, Some(0)));
    let (lost, _) = trace.rsplit_once('\n').unwrap();
    assert_eq!(counts(lost), (Some(1000), 1000, Some(0)));
    // What follows shows that it was a byte: one that is late, and one that was never seen.
    for (byte, unseen) in [("130 A>B data 1000..1001", 0), ("", 1)] {
        let more = format!(
            "{lost}
             {byte}
             131 A>B data 1001..1500
             150 B>A ack 1500"
        );
        assert_eq!(counts(&more), (Some(1500), 1500, Some(unseen)));
    }
}

#[test]
fn a_number_taken_for_a_fins_is_told_as_what_it_was_when_its_ack_passed() {
    let counts = |trace: &str| {
        let seen = play(&opened(trace));
        (seen.state.acked_bytes, seen.acked, seen.acked_at)
    };
    // The capture lost the last byte: data above it shows that, or the FIN, with no further ACK.
    for above in ["data 1001..1500 ack 0", "at 1001 fin ack 0"] {
        let lost = format!(
            "100 A>B data 0..1000 ack 0
             120 B>A ack 1000
             140 B>A ack 1001
             900 A>B {above}"
        );
        assert_eq!(counts(&lost), (Some(1001), 1001, 140), "{above}");
    }
    // The capture has data and FIN behind the ACK of both, in one packet and in several.
    for behind in [
        "data 1000..2000 fin ack 0",
        "data 1000..1500 ack 0
         142 A>B data 1500..2000 ack 0
         143 A>B fin ack 0",
        // Of the FIN alone it is not known.
        "data 1000..1500 ack 0
         142 A>B data 1500..2000 ack 0",
    ] {
        let late = format!(
            "100 A>B data 0..1000 ack 0
             120 B>A ack 1000
             140 B>A ack 2001
             141 A>B {behind}"
        );
        assert_eq!(counts(&late), (Some(2000), 2000, 140), "{behind}");
    }
}

#[test]
fn an_rst_acknowledges_nothing() {
    // Who gets it drops the connection before looking at the ACK number (RFC 9293 section 3.10.7.4), and it comes when
    // an application closes, not when data comes: the time between says nothing of the path.
    let seen = play(&opened(
        "100 A>B data 0..1000 ack 0
         120 B>A ack 1000
         130 A>B data 1000..2000 ack 0
         950 B>A rst ack 2000",
    ));
    assert_eq!((seen.acked, seen.state.acked_bytes), (1000, Some(1000)));
    assert_eq!(seen.rtts_ms, [20]);
    assert!(seen.closing.reset && seen.signs.is_empty());
}

#[test]
fn ids_skipped_behind_an_acknowledged_fin_were_those_of_acks() {
    // The ACKs of B's second segment are lost on their way here, and A has nothing left to repeat.
    let trace = opened(
        "100 A>B data 0..1000 ack 0 id 2
         101 A>B data 1000..2000 ack 0 id 3
         102 A>B data 2000..3000 ack 0 id 4
         103 A>B data 3000..4000 fin ack 0 id 5
         123 B>A ack 1000 sack 2000..4001
         133 A>B data 1000..2000 ack 0 id 6
         153 B>A ack 4001
         160 B>A data 0..1000 ack 4001
         170 A>B at 4001 ack 1000 id 7
         180 B>A data 1000..2000 ack 4001
         400 B>A data 1000..2000 ack 4001
         800 B>A data 1000..2000 ack 4001
         810 A>B at 4001 ack 2000 id 11",
    );
    let seen = play(&trace);
    assert_eq!(seen.state.skipped_packets, 0);
    assert_eq!(seen.lost, [0, 1]);
}

#[test]
fn a_fin_above_missing_data_does_not_move_where_the_last_repeat_ended() {
    // A timer repeats in order what was sent last, though that is not a round trip old: it is no copy.
    let trace = opened(
        "50 A>B data 0..1000
         51 A>B data 1000..2000
         71 B>A ack 0 sack 1000..2000
         400 A>B data 0..1000
         420 B>A ack 2000
         430 A>B data 2000..3000
         645 A>B data 3000..4000
         648 A>B data 2000..3000
         655 A>B data 3000..4000",
    );
    let last = |trace: &str| play(trace).rows.last().map(|row| row.verdict.class);
    assert_eq!(last(&trace), Some(Class::Retransmission));
    let closed = trace.replace("655 A>B", "650 A>B at 6000 fin\n655 A>B");
    assert_ne!(closed, trace);
    assert_eq!(last(&closed), Some(Class::Retransmission));
}

#[test]
fn a_fin_that_comes_alone_ends_the_silence_before_the_data_that_it_left_out() {
    // All that A sends is its answer, lost before it came here, and its FIN, which is reported: a round trip later the answer
    // is repeated as it was asked for, long after the handshake.
    let reason = |at: u32| {
        let trace = opened(&format!(
            "280 B>A data 0..500 ack 0
             300 A>B at 1000 fin ack 500
             320 B>A ack 0 sack 1000..1001
             {at} A>B data 0..1000 ack 500"
        ));
        play(&trace).rows[0].verdict.reason
    };
    assert_eq!(reason(345), Some(Reason::Fast));
    assert_eq!(reason(600), Some(Reason::Timeout));
}
