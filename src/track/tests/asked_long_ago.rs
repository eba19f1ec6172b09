//! Timers of senders that were asked for a repeat, made it, and do not find out that it was lost (METRICS.md RT5, RT12, RT13).

use std::fmt::Write as _;

use super::{last_reason, opened, play};
use crate::event::{Class, Reason};

/// A segment each 10 ms, all but the second of which arrive, and each echoes an ACK that passed 19 ms before; the third
/// ACK that asks for the second one passes at 151 ms, the last that makes progress at 121 ms. What was asked for is lost
/// before it comes here.
fn told_all_the_time(until: u32) -> String {
    let mut trace = "100 A>B data 0..1000 ack 0 ts 100/1\n".to_owned();
    for ms in (110..until).step_by(10) {
        let start = 1000 * (ms / 10 - 9);
        let echo = if ms < 140 { 1 } else { ms - 19 };
        let _ = writeln!(
            trace,
            "{ms} A>B data {start}..{} ack 0 ts {ms}/{echo}",
            start + 1000
        );
        if ms >= 120 {
            let sack = if ms < 130 {
                String::new()
            } else {
                format!(" sack 2000..{}", start - 1000)
            };
            let at = ms + 1;
            let _ = writeln!(trace, "{at} B>A ack 1000{sack} ts {at}/100");
        }
    }
    opened(&trace)
}

#[test]
fn who_was_asked_round_trips_ago_repeats_by_its_timer() {
    let reason = |ms: u32, echo: u32| {
        let repeat = format!("{ms} A>B data 1000..2000 ack 0 ts {ms}/{echo}");
        last_reason(&(told_all_the_time(ms) + &repeat))
    };
    assert_eq!(reason(320, 301), Some(Reason::Timeout));
    // It may have found out that what it repeated first was lost (RFC 8985 section 6.2).
    assert_eq!(reason(220, 201), Some(Reason::Fast));
    // Behind a queue: when it sent this no timer had run out.
    assert_eq!(reason(320, 261), Some(Reason::Fast));
    // DSACKs let it wait longer before it takes something to be lost.
    let dsack = "135 B>A ack 1000 sack 0..1000 sack 2000..3000 ts 131/100\n";
    let patient = told_all_the_time(320).replace("140 A>B", &format!("{dsack}140 A>B"));
    let repeat = "320 A>B data 1000..2000 ack 0 ts 320/301";
    assert_eq!(last_reason(&(patient + repeat)), Some(Reason::Fast));
}

#[test]
fn who_goes_on_before_the_repeat_is_answered_had_no_timer() {
    let reasons = |ms: u32| {
        let trace = told_all_the_time(320);
        let next = format!(
            "320 A>B data 1000..2000 ack 0 ts 320/301
             {ms} A>B data 23000..24000 ack 0 ts {ms}/311"
        );
        let seen = play(&(trace + &next));
        let repeat = seen.rows.iter().position(|row| row.offset == 1000).unwrap();
        let verdicts = [seen.rows[repeat].verdict, seen.verdicts[repeat]];
        verdicts.map(|verdict| verdict.reason)
    };
    assert_eq!(reasons(330), [Some(Reason::Fast); 2]);
    // A window of one packet opens again when that is acknowledged (RFC 5681 section 3.1).
    assert_eq!(reasons(360), [Some(Reason::Timeout); 2]);
}

#[test]
fn who_goes_on_so_soon_had_no_timer_though_the_repeat_is_acknowledged_here() {
    let reason = |ms: u32| {
        let next = format!(
            "320 A>B data 1000..2000 ack 0 ts 320/301
             321 B>A ack 22000 ts 321/320
             {ms} A>B data 23000..24000 ack 0 ts {ms}/311
             {} A>B data 22000..23000 ack 0 ts {ms}/311",
            ms + 1
        );
        last_reason(&(told_all_the_time(320) + &next))
    };
    // The ACK of the repeat took 1 ms, and the way to the sender takes 10.
    assert_eq!(reason(328), Some(Reason::Fast));
    assert_eq!(reason(360), Some(Reason::Timeout));
}

#[test]
fn what_no_ack_can_have_asked_for_is_a_timers_though_data_goes_on() {
    // A round trip takes 30 ms. What was sent after the first repeat is told of at 330; an answer comes within some 35 ms.
    let reason = |ms: u32| {
        let trace = format!(
            "100 A>B data 0..1000 ack 0 ts 100/1
             101 A>B data 1000..2000 ack 0 ts 101/1
             102 A>B data 2000..3000 ack 0 ts 102/1
             103 A>B data 3000..4000 ack 0 ts 103/1
             121 B>A ack 0 sack 1000..2000 ts 121/1
             122 B>A ack 0 sack 1000..3000 ts 122/1
             123 B>A ack 0 sack 1000..4000 ts 123/1
             133 A>B data 4000..5000 ack 0 ts 133/123
             153 B>A ack 0 sack 1000..5000 ts 153/1
             163 A>B data 5000..6000 ack 0 ts 163/153
             250 A>B data 0..1000 ack 0 ts 250/153
             310 A>B data 6000..7000 ack 0 ts 310/153
             330 B>A ack 0 sack 6000..7000 sack 1000..5000 ts 330/1
             {} A>B data 7000..8000 ack 0 ts {}/153
             {ms} A>B data 0..1000 ack 0 ts {ms}/330",
            ms - 20,
            ms - 20
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(372), Some(Reason::Timeout));
    assert_eq!(reason(352), Some(Reason::Fast));
}

#[test]
fn what_is_repeated_again_before_anything_since_can_be_acknowledged_was_given_up() {
    let reason_of = |ms: u32, range: &str, id: u16| {
        let trace = format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             104 A>B data 4000..5000 id 6
             122 B>A ack 0 sack 2000..3000
             123 B>A ack 0 sack 2000..4000
             124 B>A ack 0 sack 2000..5000
             134 A>B data 0..1000 id 7
             135 A>B data 1000..2000 id 9
             136 B>A ack 0 sack 2000..5000
             137 A>B data 5000..6000 id 10
             {ms} A>B data {range} id {id}"
        );
        last_reason(&opened(&trace))
    };
    let reason = |ms: u32, id: u16| reason_of(ms, "1000..2000", id);
    // An ACK takes 20 ms.
    assert_eq!(reason(150, 11), Some(Reason::Timeout));
    assert_eq!(reason(175, 11), Some(Reason::Fast));
    // It was sent before the other one.
    assert_eq!(reason(150, 8), Some(Reason::Fast));
    // A router said that it is too big.
    assert_eq!(reason_of(150, "1000..1500", 11), Some(Reason::Fast));
}

#[test]
fn the_first_echo_of_who_was_silent_tells_nothing_of_the_way_to_it() {
    // Id 8 was the ACK of the SYN-ACK, 9 and 10 were 0..2000, and what is here was 11 before.
    let trace = "0 A>B syn id 7 ts 1/0
         20 B>A syn ack 0 ts 5/1
         290 A>B data 2000..2100 ack 0 id 12 ts 290/5
         310 B>A ack 0 sack 2000..2100 ts 310/1
         320 A>B data 0..1000 ack 0 id 13 ts 320/310
         340 B>A ack 1000 sack 2000..2100 ts 340/320
         350 A>B data 1000..2000 ack 0 id 14 ts 350/340
         370 B>A ack 2100 ts 370/350
         380 A>B data 2100..3100 ack 0 id 15 ts 380/370
         400 B>A ack 3100 ts 400/380";
    let seen = play(trace);
    assert_eq!(seen.rows[0].verdict.class, Class::Retransmission);
    assert_eq!(seen.state.skipped_packets, 3);
}
