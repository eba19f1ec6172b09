//! What held the sender back.

use std::fmt::Write as _;

use super::{opened, play};

#[test]
fn a_recovery_lasts_until_all_that_was_sent_before_it_is_acknowledged() {
    let seen = play(&opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         121 B>A ack 0 sack 1000..2000
         122 B>A ack 0 sack 1000..3000
         123 B>A ack 0 sack 1000..4000
         133 A>B data 0..1000
         134 A>B data 4000..5000
         153 B>A ack 4000
         154 B>A ack 5000",
    ));
    // The segment of 134 was sent after the repair began.
    assert_eq!(seen.recoveries, ["133..153 fast"]);
}

#[test]
fn a_repair_by_timeout_is_one_and_one_without_an_end_ends_with_the_flow() {
    let seen = play(&opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         1500 A>B data 0..1000
         3900 A>B data 0..1000",
    ));
    assert_eq!(seen.recoveries, ["1500..3900 timeout"]);
}

#[test]
fn a_repeat_of_what_was_acknowledged_begins_no_recovery() {
    let seen = play(&opened(
        "100 A>B data 0..1000 id 2
         120 B>A ack 1000
         400 A>B data 0..1000 id 3",
    ));
    assert!(seen.recoveries.is_empty());
    // Nor while more is in flight.
    let seen = play(&opened(
        "100 A>B data 0..1000 id 2
         120 B>A ack 1000
         390 A>B data 1000..2000 id 3
         400 A>B data 0..1000 id 4
         410 B>A ack 2000",
    ));
    assert!(seen.recoveries.is_empty());
}

#[test]
fn a_pause_with_nothing_in_flight_is_the_applications_but_for_one_trip_to_the_sender() {
    // The ACK of 120 reaches the sender and its next data comes back 10 ms later at the earliest.
    // The window of a SYN-ACK is not scaled (RFC 7323 section 2.2), hence the update at 40.
    let seen = play(&opened(
        "40 B>A ack 0
         100 A>B data 0..1000
         120 B>A ack 1000
         630 A>B data 1000..2000
         650 B>A ack 2000
         660 A>B data 2000..3000
         680 B>A ack 3000",
    ));
    assert_eq!(seen.state.application_limited_ns, 500_000_000);
    assert_eq!(seen.state.receiver_limited_ns, 0);
}

#[test]
fn an_echo_that_comes_after_a_pause_tells_the_pause_too() {
    // As above, but each request echoes the ACK before it: the pause later, of which the way takes 10 ms. Also where
    // that is within four variations of a young estimate, which begins with half a round trip (RFC 6298 section 2.2).
    for pause in [510, 18] {
        let mut trace = String::from(
            "0 A>B syn ts 0/0
             20 B>A syn ack 0 ts 20/0
             30 A>B ack 0 ts 30/20\n",
        );
        for n in 0..10 {
            let (at, start) = (100 + (20 + pause) * n, 1000 * n);
            let end = start + 1000;
            let echo = if n == 0 { 20 } else { at - pause };
            writeln!(trace, "{at} A>B data {start}..{end} ack 0 ts {at}/{echo}").unwrap();
            let at = at + 20;
            writeln!(trace, "{at} B>A ack {end} ts {at}/{}", at - 20).unwrap();
        }
        let seen = play(&trace);
        let paused_ms = 9 * i64::from(pause - 10);
        assert_eq!(seen.state.application_limited_ns, paused_ms * 1_000_000);
    }
}

#[test]
fn data_that_is_held_up_on_its_way_ends_no_pause_of_the_application() {
    // B has got all that passed by 141. What comes then was sent 10 ms after the ACK of 120, as it echoes, and waited
    // for 800 ms; or 10 ms before it came, after the ACK of 141.
    let limited_ns = |sent_ms: u32, echo: u32| {
        let trace = format!(
            "0 A>B syn ts 0/0
             20 B>A syn ack 0 ts 20/0
             30 A>B ack 0 ts 30/20
             100 A>B data 0..1000 ack 0 ts 100/20
             120 B>A ack 1000 ts 120/100
             121 A>B data 1000..2000 ack 0 ts 120/20
             141 B>A ack 2000 ts 141/120
             940 A>B data 2000..3000 ack 0 ts {sent_ms}/{echo}
             941 A>B data 3000..4000 ack 0 ts {sent_ms}/{echo}
             961 B>A ack 4000 ts 961/{sent_ms}"
        );
        play(&trace).state.application_limited_ns
    };
    assert_eq!(limited_ns(130, 120), 0);
    assert!(limited_ns(930, 141) > 700_000_000);
}

#[test]
fn a_pause_counts_once_and_only_when_what_ends_it_is_acknowledged() {
    let paused_ms = |rest: &str| {
        let trace = format!(
            "40 A>B data 0..1000
             60 B>A ack 1000
             {rest}"
        );
        play(&opened(&trace)).state.application_limited_ns / 1_000_000
    };
    // The way to A and back takes 10 ms of it.
    let asked = "5060 A>B data 1000..2000\n";
    assert_eq!(paused_ms(asked), 0);
    assert_eq!(paused_ms(&format!("{asked}5080 B>A ack 2000")), 4990);
    // A keep-alive, or a repeat of old data, begins nothing new. But who repeats has not heard of the ACK, and was
    // waiting for the one of 2080.
    for (repeat, ms) in [("999..1000", 4990), ("0..1000", 5060 - 2080 - 10)] {
        let repeat = format!("2060 A>B data {repeat}\n2080 B>A ack 1000\n");
        assert_eq!(paused_ms(&repeat), 0);
        let both = format!("{repeat}{asked}5080 B>A ack 2000");
        assert_eq!(paused_ms(&both), ms);
    }
}

#[test]
fn a_silence_that_a_repeat_of_what_never_passed_ends_is_not_the_applications() {
    let limited_ns = |id: u32| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             123 B>A ack 4000
             1000 A>B data 4000..5000 id {id}
             1020 B>A ack 5000"
        )));
        seen.state.application_limited_ns
    };
    // The ids 6 to 8 were of a flight that was lost, and a timer repeats its first packet.
    assert_eq!(limited_ns(9), 0);
    // The next id: nothing had been sent for 877 ms, of which the way takes 10.
    assert_eq!(limited_ns(6), 867_000_000);
}

/// Who owes an ACK takes no clock of what comes meanwhile (RFC 7323 section 4.3), and echoes an old one with whatever it
/// sends next.
#[test]
fn a_pause_that_its_senders_clock_shows_is_the_applications_whatever_it_echoes() {
    let limited_ns = |tsval: u32| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000 ts 1100/500
             120 B>A data 0..500 ack 0 ts 620/1090
             125 B>A data 500..600 ack 1000 ts 625/1100
             126 A>B ack 600 ts 1126/620
             2100 A>B data 1000..2000 ack 600 ts {tsval}/620
             2120 B>A ack 2000 ts 2620/{tsval}"
        )));
        seen.state.application_limited_ns
    };
    // Nothing was in flight from 125 on, and the way to the sender and back takes 9.5 ms: 10 at first, then 6, smoothed
    // (RFC 6298 section 2).
    assert_eq!(limited_ns(3100), 1_965_500_000);
    // It had sent it long before: a queue held it up.
    assert_eq!(limited_ns(1130), 0);
}

#[test]
fn a_closed_window_is_the_receivers_time_not_the_applications() {
    // A window of 8 with a scale of 7 is 1024 bytes: room for one segment.
    let seen = play(&opened(
        "40 B>A ack 0
         100 A>B data 0..1000
         120 B>A ack 1000 win 0
         1120 B>A ack 1000 win 8
         1130 A>B data 1000..2000
         1150 B>A ack 2000 win 500",
    ));
    assert_eq!(seen.state.application_limited_ns, 0);
    // From 120 to 1120, and while the second segment filled the window, 1130 to 1150.
    assert_eq!(seen.state.receiver_limited_ns, 1_020_000_000);
}

#[test]
fn the_receivers_time_ends_with_the_last_new_ack() {
    // A window of 8 with a scale of 7 is 1024 bytes: room for one segment. It is closed from 120 on.
    let limited_ms = |rest: &str| {
        let trace = format!(
            "40 B>A ack 0
             100 A>B data 0..1000
             120 B>A ack 1000 win 0
             {rest}"
        );
        play(&opened(&trace)).state.receiver_limited_ns / 1_000_000
    };
    assert_eq!(limited_ms(""), 0);
    let freed = "1120 B>A ack 1000 win 500\n";
    assert_eq!(limited_ms(freed), 0);
    // Closed again from 1200 to 1300, and data that is acknowledged at last: both times count.
    let again = format!("{freed}1200 B>A ack 1000 win 0\n1300 B>A ack 1000 win 500\n");
    assert_eq!(limited_ms(&again), 0);
    let ended = format!("{again}1310 A>B data 1000..2000\n1330 B>A ack 2000 win 500");
    assert_eq!(limited_ms(&ended), 1100);
    // An ACK while it is closed counts the time until then: the second segment was under way.
    let closed = "121 A>B data 1000..2000\n220 B>A ack 2000 win 0\n900 B>A ack 2000 win 500\n";
    assert_eq!(limited_ms(closed), 100);
}

/// METRICS.md R8: it waited behind nothing at any link.
#[test]
fn data_that_may_be_the_answer_to_the_ack_of_all_before_ends_a_row_of_acks() {
    let breaks = |again_ms: u32| {
        // An ACK takes 10 ms to the sender and its data back.
        let seen = play(&format!(
            "0 A>B syn
             20 B>A syn ack 0
             30 A>B ack 0
             30 A>B data 0..1000
             50 B>A ack 1000
             {again_ms} A>B data 1000..2000
             100 B>A ack 2000"
        ));
        seen.delivered
    };
    let (one, other) = ((50, 1000), (100, 1000));
    assert_eq!(breaks(59), [one, other]);
    assert_eq!(breaks(60), [one, (60, 0), other]);
    // Nor where its sender had not heard of that: it echoes what came before.
    let seen = play(
        "0 A>B syn ts 0/0
         20 B>A syn ack 0 ts 20/0
         30 A>B ack 0 ts 30/20
         30 A>B data 0..1000 ack 0 ts 30/20
         50 B>A ack 1000 ts 50/30
         90 A>B data 1000..2000 ack 0 ts 50/20
         100 B>A ack 2000 ts 100/50",
    );
    assert_eq!(seen.delivered, [one, other]);
    // Nor where more is on its way.
    let seen = play(&opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         120 B>A ack 1000
         140 A>B data 2000..3000
         160 B>A ack 3000",
    ));
    assert_eq!(seen.delivered, [(120, 1000), (160, 2000)]);
}
