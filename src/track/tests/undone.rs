//! Timeouts that their sender takes back, and timers that other signs show than silence.

use super::{last_reason, opened, play};
use crate::event::{Class, Evidence, Reason};

/// Ten packets, of which a timer repeats the first at 500, and what an ACK of `acked` then makes their sender try.
fn after_timer(before: &str, acked: u32, tried: &[u32]) -> String {
    let sent = |start: u32, at: u32| format!("{at} A>B data {start}..{}\n", start + 1000);
    let first: String = (0..10).map(|n| sent(1000 * n, 100 + n)).collect();
    let tried: String = tried.iter().map(|&start| sent(start, 530)).collect();
    opened(&format!(
        "{first}
         {before}
         500 A>B data 0..1000
         520 B>A ack {acked}
         {tried}
         551 B>A ack {acked} sack 10000..11000
         552 B>A ack {acked} sack 10000..12000
         563 A>B data {acked}..{}",
        acked + 1000
    ))
}

#[test]
fn who_goes_on_with_what_is_new_when_not_all_was_lost_has_taken_its_timeout_back() {
    let tried = [10_000, 11_000, 12_000];
    assert_eq!(
        last_reason(&after_timer("", 4000, &tried)),
        Some(Reason::Fast)
    );
    // Two packets are what it tries to find that out (RFC 5682 section 2.1).
    assert_eq!(
        last_reason(&after_timer("", 4000, &tried[..2])),
        Some(Reason::Timeout)
    );
    // The receiver held what the repeat was missing for: all that was not reported may be lost.
    let held = "125 B>A ack 0 sack 1000..4000";
    assert_eq!(
        last_reason(&after_timer(held, 4000, &tried)),
        Some(Reason::Timeout)
    );
}

#[test]
fn one_dsack_does_not_take_back_a_timeout_of_several_repeats() {
    // The DSACK tells that the last of them was for nothing; of the others nobody knows (RFC 3708 section 3).
    let reason = |before: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             {before}
             1300 A>B data 0..1000
             1320 B>A ack 1000 sack 0..1000
             1340 A>B data 3000..4000
             1360 B>A ack 1000 sack 3000..4000
             1372 A>B data 1000..2000"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(""), Some(Reason::Fast));
    assert_eq!(reason("500 A>B data 0..1000"), Some(Reason::Timeout));
}

/// Four packets, of which the receiver lacks the first and asks for it.
const ASKS: &str = "100 A>B data 0..1000
     101 A>B data 1000..2000
     102 A>B data 2000..3000
     103 A>B data 3000..4000
     123 B>A ack 0 sack 1000..2000
     124 B>A ack 0 sack 1000..3000";

#[test]
fn a_timer_that_runs_out_among_repeats_that_were_asked_for_is_not_taken_back_by_one_dsack() {
    let reason = |asked: &str| {
        let trace = format!(
            "{ASKS}
             {asked}
             800 A>B data 0..1000
             820 B>A ack 3000 sack 0..1000
             831 A>B data 3000..4000"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(""), Some(Reason::Fast));
    assert_eq!(reason("135 A>B data 0..1000"), Some(Reason::Timeout));
}

#[test]
fn a_second_timer_is_taken_back_by_an_ack_of_what_was_sent_once_whatever_its_sender_was_at() {
    // With a second one a sender tries whether timers ran out for nothing, also in a fast repair.
    let reason = |first: &str, acked: u32, told: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..5000
             105 A>B data 5000..6000
             124 B>A ack 0 sack 1000..2000
             125 B>A ack 0 sack 1000..3000
             135 A>B data 0..1000
             {first}
             1300 A>B data 0..1000
             1320 B>A ack {acked} {told}
             1331 A>B data {acked}..{}",
            acked + 1000
        );
        last_reason(&opened(&trace))
    };
    let (first, needless) = ("500 A>B data 0..1000", "sack 0..1000");
    assert_eq!(reason(first, 4000, needless), Some(Reason::Fast));
    assert_eq!(reason("", 4000, needless), Some(Reason::Timeout));
    // The repeat may have been what was missing, but not all was lost.
    assert_eq!(reason(first, 4000, ""), Some(Reason::Fast));
    // What it covers was reported before: all that was not may be lost, unless SACK reports more.
    assert_eq!(reason(first, 3000, needless), Some(Reason::Timeout));
    let more = "sack 0..1000 sack 4000..5000";
    assert_eq!(reason(first, 3000, more), Some(Reason::Fast));
    // Something else was repeated in between.
    let other = "500 A>B data 0..1000\n520 A>B data 5000..6000";
    assert_eq!(reason(other, 4000, needless), Some(Reason::Timeout));
}

#[test]
fn a_report_of_what_was_sent_once_takes_a_timeout_back_though_it_goes_on_above_that() {
    // 3000..4000 had passed before both timers; 5000..6000 is new since the second one.
    let reason = |reported: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..5000
             500 A>B data 0..1000
             1300 A>B data 0..1000
             1320 B>A ack 0 sack {reported}
             1331 A>B data 5000..6000
             1351 B>A ack 0 sack 5000..6000 sack {reported}
             1362 A>B data 1000..2000"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason("3000..4000"), Some(Reason::Fast));
    // All of it may have been lost.
    assert_eq!(reason("5000..6000"), Some(Reason::Timeout));
}

#[test]
fn an_ack_of_what_is_repeated_by_then_takes_no_timeout_back() {
    let reason = |acked: u32| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             500 A>B data 0..1000
             1300 A>B data 0..1000
             1320 B>A ack 1000 sack 0..1000
             1331 A>B data 1000..2000
             1351 B>A ack {acked}
             1362 A>B data {acked}..{}",
            acked + 1000
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(2000), Some(Reason::Timeout));
    // What was sent once has come, too.
    assert_eq!(reason(3000), Some(Reason::Fast));
}

#[test]
fn a_report_of_what_was_sent_twice_takes_no_timeout_back() {
    let reason = |probe: &str| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             {probe}
             700 A>B data 0..1000
             1500 A>B data 0..1000
             1520 B>A ack 1000 sack 2000..3000
             1531 A>B data 1000..2000"
        )))
    };
    assert_eq!(reason("300 A>B data 2000..3000"), Some(Reason::Timeout));
    assert_eq!(reason(""), Some(Reason::Fast));
}

#[test]
fn a_timer_that_runs_out_in_a_fast_repair_has_given_all_up_though_what_it_brings_was_acknowledged_here()
 {
    // The ACKs of 135 and later are lost on the way to A, which goes on with what it knows nothing of.
    let reason = |asked: &str, timers: &[u32]| {
        let after = timers[timers.len() - 1] + 31;
        let brought = |at: &u32| {
            let answer = at + 20;
            format!("{at} A>B data 0..1000\n{answer} B>A ack 4000 sack 0..1000 sack 5000..6000\n")
        };
        let timers = timers.iter().map(brought).collect::<Vec<_>>().concat();
        let trace = format!(
            "{ASKS}
             {asked}
             136 A>B data 5000..6000
             155 B>A ack 4000
             156 B>A ack 4000 sack 5000..6000
             {timers}
             {after} A>B data 4000..5000"
        );
        last_reason(&opened(&trace))
    };
    let asked = "135 A>B data 0..1000";
    assert_eq!(reason(asked, &[500]), Some(Reason::Timeout));
    // More than one can have run out by then, and what the second brings is told to have been for nothing.
    assert_eq!(reason(asked, &[3000]), Some(Reason::Fast));
    assert_eq!(reason(asked, &[500, 900]), Some(Reason::Fast));
    // No timer is so quick.
    assert_eq!(reason(asked, &[190]), Some(Reason::Fast));
    // Nothing was asked for: so is the first.
    let none = "135 B>A ack 1000 sack 2000..3000";
    assert_eq!(reason(none, &[500]), Some(Reason::Fast));
}

#[test]
fn what_is_brought_again_takes_no_timeout_back_of_which_something_was_repeated() {
    let reason = |repeated: &str| {
        let trace = format!(
            "{ASKS}
             135 A>B data 0..1000
             136 A>B data 5000..6000
             155 B>A ack 4000
             156 B>A ack 4000 sack 5000..6000
             500 A>B data 0..1000
             {repeated}
             900 A>B data 0..1000
             920 B>A ack 4000 sack 0..1000 sack 5000..6000
             931 A>B data 4000..4500"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(""), Some(Reason::Fast));
    assert_eq!(reason("531 A>B data 4500..5000"), Some(Reason::Timeout));
}

#[test]
fn who_repeats_again_what_it_had_probed_with_has_not_taken_its_timeout_back() {
    // The DSACK tells that the timer's repeat was for nothing. Nothing that was sent since the probe has come but that, so
    // that who repeats its bytes again has given up all that was outstanding (RFC 6675 section 5.1).
    let reason = |probe: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             {probe}
             500 A>B data 0..1000
             520 B>A ack 2000 sack 0..1000
             531 A>B data 2000..3000"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason("170 A>B data 2000..3000"), Some(Reason::Timeout));
    assert_eq!(reason(""), Some(Reason::Fast));
}

/// Six packets with ids from 2 to 7, all acknowledged at 125.
const NUMBERED: &str = "100 A>B data 0..1000 ack 0 id 2
     101 A>B data 1000..2000 ack 0 id 3
     102 A>B data 2000..3000 ack 0 id 4
     103 A>B data 3000..4000 ack 0 id 5
     104 A>B data 4000..5000 ack 0 id 6
     105 A>B data 5000..6000 ack 0 id 7
     125 B>A ack 6000
     ";

#[test]
fn what_a_timer_brings_with_new_bytes_behind_begins_its_repairs_all_the_same() {
    // Small packets, which are put together when they are repeated; ids 9 to 11 were lost before they came here, as the
    // number of an ACK tells.
    let reason = |at: u32| {
        let trace = format!(
            "{NUMBERED}
             135 A>B data 6000..6100 ack 0 id 8
             140 A>B at 6400 ack 0 id 12
             {at} A>B data 6000..6200 ack 0 id 13
             {} B>A ack 6200
             {} A>B data 6200..6400 ack 0 id 14",
            at + 20,
            at + 31
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(535), Some(Reason::Timeout));
    // Too soon for a timer.
    assert_eq!(reason(180), Some(Reason::Fast));
}

#[test]
fn ids_tell_that_what_a_hole_leaves_out_was_sent_before_the_packet_below_it() {
    // The first four packets are lost; a timer repeats the first, and its answer lets two new ones be tried.
    let told = |above: u32| {
        let rows = play(&format!(
            "0 B>A syn
             10 A>B syn ack 0 id 0
             30 B>A ack 0
             300 A>B data 0..1000 ack 0 id 6
             320 B>A ack 1000
             330 A>B data 4000..5000 ack 0 id {above}
             331 A>B data 5000..6000 ack 0 id {}
             332 A>B data 1000..2000 ack 0 id {}
             333 A>B data 2000..3000 ack 0 id {}",
            above + 1,
            above + 2,
            above + 3
        ))
        .rows;
        let first = rows[0].verdict;
        (first.class, first.evidence, rows[4].verdict.reason)
    };
    assert_eq!(
        told(7),
        (Class::Retransmission, Evidence::IpId, Some(Reason::Timeout))
    );
    // Three that came between were lost behind it.
    assert_eq!(told(10).0, Class::New);
}

#[test]
fn nobody_probes_for_a_tail_that_was_sent_before_a_repair() {
    // Ids 9 and 11 are 7000..8000 and the tail, lost both. Its repeat answers the ACK of the repair.
    let trace = format!(
        "{NUMBERED}
         135 A>B data 6000..7000 ack 0 id 8
         137 A>B data 8000..9000 ack 0 id 10
         155 B>A ack 7000
         157 B>A ack 7000 sack 8000..9000
         170 A>B data 7000..8000 ack 0 id 12
         190 B>A ack 9000
         231 A>B data 9000..10000 ack 0 id 13"
    );
    let seen = play(&opened(&trace));
    let last = seen.rows.last().unwrap().verdict;
    assert_eq!(
        (last.class, last.reason),
        (Class::Retransmission, Some(Reason::Fast))
    );
}

/// Over 20 ms towards the receiver and 10 ms to the sender, a timer's repeat of 1000..2000 at `at`, as it was asked for
/// 300 ms before; the last data passed at `last`, and an ACK at `heard`.
fn asked_long_ago(at: u32, heard: u32, last: u32, stamped: bool) -> Option<Reason> {
    let stamp = |value: u32, echo: u32| {
        if stamped {
            format!("ts {value}/{echo}")
        } else {
            String::new()
        }
    };
    let trace = format!(
        "0 A>B syn {}
         20 B>A syn ack 0 {}
         30 A>B ack 0 {}
         100 A>B data 0..1000 ack 0 {}
         200 B>A ack 1000 {}
         210 A>B data 1000..2000 ack 0 {}
         211 A>B data 2000..3000 ack 0 {}
         212 A>B data 3000..4000 ack 0 {}
         310 B>A ack 1000 {} sack 2000..3000
         311 B>A ack 1000 {} sack 2000..4000
         322 A>B data 1000..2000 ack 0 {}
         323 A>B data 4000..5000 ack 0 {}
         324 A>B data 5000..6000 ack 0 {}
         460 A>B data 6000..7000 ack 0 {}
         {} B>A ack 1000 {} sack 2000..5000
         {last} A>B data 5000..6000 ack 0 {}
         {at} A>B data 1000..2000 ack 0 {}",
        stamp(1000, 0),
        stamp(20, 1000),
        stamp(1030, 20),
        stamp(1100, 20),
        stamp(200, 1100),
        stamp(1210, 200),
        stamp(1211, 200),
        stamp(1212, 200),
        stamp(310, 1211),
        stamp(311, 1211),
        stamp(1322, 311),
        stamp(1323, 311),
        stamp(1324, 311),
        stamp(1460, 311),
        heard,
        stamp(heard, 1211),
        stamp(1000 + last, heard),
        stamp(1000 + at, heard),
    );
    last_reason(&trace)
}

#[test]
fn a_timer_is_told_a_shortest_round_trip_after_the_last_data_where_clocks_tell_of_queues() {
    // Answers took 100 ms at first, so that a smoothed round trip is longer than 40 ms.
    assert_eq!(asked_long_ago(640, 590, 600, true), Some(Reason::Timeout));
    // It may answer what passed last.
    assert_eq!(asked_long_ago(615, 590, 600, true), Some(Reason::Fast));
    // Without clocks a queue on the way to the sender may hold the answer up.
    assert_eq!(asked_long_ago(640, 470, 600, false), Some(Reason::Fast));
}
