//! Answers that were lost before they came here (METRICS.md, what skipped ids tell).

use std::fmt::Write as _;

use super::*;
use crate::event::{Class, Confidence, Reason};

/// A answers B with data at once, three times; then `end`.
fn asked(end: &str) -> Seen {
    play(&opened(&format!(
        "100 A>B data 0..500 ack 0 id 2
         120 B>A data 0..100 ack 500
         130 A>B data 500..1000 ack 100 id 3
         150 B>A data 100..200 ack 1000
         160 A>B data 1000..1500 ack 200 id 4
         180 B>A data 200..300 ack 1500
         {end}"
    )))
}

#[test]
fn an_answer_that_comes_with_a_timer_was_sent_before_by_who_answers_at_once() {
    // Id 5 was the answer, which is repeated 230 ms after it was due: that of a probe of one packet (RFC 8985 section 7.2)
    // and of a timer with a floor of 200 ms (RFC 6298). It had the ACK that was owed.
    let again = |ms: u32| {
        let seen = asked(&format!(
            "{ms} A>B data 1500..2000 ack 300 id 6
             {} B>A ack 2000",
            ms + 20
        ));
        (seen.rows[3].verdict, seen.lost)
    };
    let (verdict, lost) = again(420);
    assert_eq!(verdict.class, Class::Retransmission);
    assert_eq!(verdict.reason, Some(Reason::TailProbe));
    assert_eq!(lost, [1, 0]);
    // Sooner or later than either, id 5 may have been an ACK.
    for ms in [250, 1200] {
        let (verdict, lost) = again(ms);
        assert_eq!((verdict.class, lost), (Class::New, [0, 0]), "{ms}");
    }
    // What has no payload is no answer, but the ACK of a question that came again.
    let seen = asked("415 B>A data 200..300 ack 1500\n418 A>B ack 300 id 6");
    assert_eq!(seen.state.skipped_packets, 0);
}

#[test]
fn who_has_sent_after_a_pause_before_may_have_acknowledged_what_it_answers() {
    // At 460 A sends what B did not ask for just then.
    let paused = |pause: u32| {
        let at = 190 + pause;
        let seen = asked(&format!(
            "190 A>B ack 300 id 5
             {at} A>B data 1500..2000 ack 300 id 6
             {} B>A data 300..400 ack 2000
             {} A>B data 2000..2500 ack 400 id 8
             {} B>A ack 2500",
            at + 20,
            at + 250,
            at + 270
        ));
        seen.rows[4].verdict.class
    };
    assert_eq!(paused(270), Class::New);
    assert_eq!(paused(50), Class::Retransmission);
}

#[test]
fn who_came_by_itself_once_may_do_so_again_however_it_answers_later() {
    let seen = asked(
        "190 A>B ack 300 id 5
         460 A>B data 1500..2000 ack 300 id 6
         480 B>A data 300..400 ack 2000
         490 A>B data 2000..2500 ack 400 id 7
         510 B>A data 400..500 ack 2500
         740 A>B data 2500..3000 ack 500 id 9
         760 B>A ack 3000",
    );
    assert_eq!(seen.rows[5].verdict.class, Class::New);
}

#[test]
fn who_never_answered_at_once_may_have_acknowledged_first() {
    let trace = opened(
        "100 A>B data 0..500 ack 0 id 2
         120 B>A data 0..100 ack 500
         160 A>B ack 100 id 3
         170 A>B data 500..1000 ack 100 id 4
         190 B>A data 100..200 ack 1000
         430 A>B data 1000..1500 ack 200 id 6
         450 B>A ack 1500",
    );
    assert_eq!(play(&trace).rows[2].verdict.class, Class::New);
}

#[test]
fn what_the_peer_has_repeated_may_be_answered_for_the_first_time() {
    // B repeats its question, as its first copy or the answer was lost: what passes 9 ms later and more, which is nearly the
    // way to A and back, may answer that, and id 5 was an ACK of an earlier copy. What passes sooner answers the first one.
    let answered = |repeated: u32, at: u32| {
        let seen = asked(&format!(
            "{repeated} B>A data 200..300 ack 1500
             {at} A>B data 1500..2000 ack 300 id 6
             {} B>A ack 2000",
            at + 20
        ));
        seen.rows[3].verdict.class
    };
    assert_eq!(answered(390, 420), Class::New);
    assert_eq!(answered(411, 420), Class::New);
    assert_eq!(answered(412, 420), Class::Retransmission);
    // No timer of A's is so short.
    assert_eq!(answered(255, 258), Class::New);
}

#[test]
fn the_echo_tells_which_copy_of_a_question_is_answered() {
    // B's timer runs out as A's does, 30 ms before that passes: A would have answered the repeat by then, and echoes what it
    // answers (RFC 7323 section 4.3).
    let class = |clocks: [u32; 2], echo: u32| {
        let [first, again] = clocks;
        let seen = play(&opened(&format!(
            "100 A>B data 0..500 ack 0 id 2 ts 100/20
             120 B>A data 0..100 ack 500 ts 120/100
             130 A>B data 500..1000 ack 100 id 3 ts 130/120
             150 B>A data 100..200 ack 1000 ts {first}/130
             360 B>A data 100..200 ack 1000 ts {again}/130
             390 A>B data 1000..1500 ack 200 id 5 ts 390/{echo}
             410 B>A ack 1500 ts 410/390"
        )));
        (seen.rows[2].verdict.class, seen.lost)
    };
    assert_eq!(class([150, 360], 150), (Class::Retransmission, [1, 0]));
    // The first copy was lost behind here, perhaps, and id 4 was an ACK. So it may be where the clock of both copies is one,
    // or what is echoed is the clock of another packet.
    for (clocks, echo) in [([150, 360], 360), ([150, 150], 150), ([150, 360], 120)] {
        assert_eq!(class(clocks, echo), (Class::New, [0, 0]), "{clocks:?}");
    }
}

#[test]
fn an_answer_is_one_of_several_ids_that_were_lost() {
    // Of a question of two packets A may have acknowledged each.
    let seen = asked(
        "181 B>A data 300..400 ack 1500
         421 A>B data 1500..2000 ack 400 id 7
         441 B>A ack 2000
         451 A>B data 2000..2500 ack 400 id 8
         471 B>A ack 2500",
    );
    let classes: Vec<_> = seen.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(classes[3..], [Class::Retransmission, Class::New]);
    assert_eq!(seen.lost, [1, 0]);
}

#[test]
fn acks_that_were_lost_with_an_answer_are_not_repeated() {
    // Of 5, 6 and 7 one was the answer. Nothing else follows as soon as that is acknowledged, as ACKs are not repeated.
    let seen = asked(
        "181 B>A data 300..400 ack 1500
         400 B>A data 300..400 ack 1500
         404 A>B data 1500..2000 ack 400 id 8
         424 B>A data 400..500 ack 2000
         524 A>B data 2000..2500 ack 500 id 9
         544 B>A ack 2500",
    );
    let classes: Vec<_> = seen.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(classes[3..], [Class::Retransmission, Class::New]);
    assert_eq!(seen.lost, [1, 0]);
}

#[test]
fn a_timer_repeats_first_what_was_sent_first() {
    // 1000..1500 is not acknowledged: a timer's repeat would be of that (RFC 6298 section 5.4).
    let trace = opened(
        "100 A>B data 0..500 ack 0 id 2
         120 B>A data 0..100 ack 500
         130 A>B data 500..1000 ack 100 id 3
         150 B>A data 100..200 ack 1000
         160 A>B data 1000..1500 ack 200 id 4
         180 B>A data 200..300 ack 1000
         420 A>B data 1500..2000 ack 300 id 6
         440 B>A ack 2000",
    );
    assert_eq!(play(&trace).rows[3].verdict.class, Class::New);
}

#[test]
fn ids_that_nothing_explains_may_be_anyones_later_too() {
    // A answers at once, and 4 and 5 were skipped within 10 ms: its host may count what it sends to others.
    let class = |first: u32| {
        let trace = opened(&format!(
            "100 A>B data 0..500 ack 0 id 2
             120 B>A data 0..100 ack 500
             130 A>B data 500..1000 ack 100 id 3
             150 B>A data 100..200 ack 1000
             160 A>B data 1000..1500 ack 200 id {first}
             180 B>A data 200..300 ack 1500
             420 A>B data 1500..2000 ack 300 id {}
             440 B>A ack 2000",
            first + 2
        ));
        play(&trace).rows[3].verdict.class
    };
    assert_eq!(class(6), Class::New);
    assert_eq!(class(4), Class::Retransmission);
}

#[test]
fn a_repeat_is_no_packet_that_came_by_itself() {
    // Nothing is owed at 450, so that id 6 was no ACK: its first copy was sent sooner than a timer takes.
    let seen = asked(
        "190 A>B data 1500..2000 ack 300 id 5
         210 B>A ack 2000
         450 A>B data 2000..2500 ack 300 id 7
         470 B>A data 300..400 ack 2500
         480 A>B data 2500..3000 ack 400 id 8
         500 B>A data 400..500 ack 3000
         730 A>B data 3000..3500 ack 500 id 10
         750 B>A ack 3500",
    );
    let classes: Vec<_> = seen.rows.iter().map(|row| row.verdict.class).collect();
    let again = Class::Retransmission;
    assert_eq!(classes[3..], [Class::New, again, Class::New, again]);
}

#[test]
fn who_answers_a_question_that_was_late_answers_at_once() {
    // B asks again at 400, as its question was lost, here or behind. A is silent for 280 ms, but sends nothing by itself.
    for first in ["ack 1000", "data 100..200 ack 1000"] {
        let trace = opened(&format!(
            "100 A>B data 0..500 ack 0 id 2
             120 B>A data 0..100 ack 500
             130 A>B data 500..1000 ack 100 id 3
             150 B>A {first}
             400 B>A data 100..200 ack 1000
             410 A>B data 1000..1500 ack 200 id 4
             430 B>A data 200..300 ack 1500
             670 A>B data 1500..2000 ack 300 id 6
             690 B>A ack 2000"
        ));
        let class = play(&trace).rows[3].verdict.class;
        assert_eq!(class, Class::Retransmission, "{first}");
    }
}

#[test]
fn a_repeat_that_acknowledges_answers_nothing() {
    // A's timer repeats 500..1000 at 400, with the ACK that is owed. It may acknowledge alone what comes next.
    let trace = opened(
        "100 A>B data 0..500 ack 0 id 2
         120 B>A ack 500
         125 A>B data 500..1000 ack 0 id 3
         180 B>A data 0..100 ack 500
         400 A>B data 500..1000 ack 100 id 4
         420 B>A data 100..200 ack 1000
         660 A>B data 1000..1500 ack 200 id 6
         680 B>A ack 1500",
    );
    assert_eq!(play(&trace).rows[3].verdict.class, Class::New);
}

#[test]
fn one_answer_at_once_tells_but_is_no_proof() {
    // CLASS: what extends the highest byte seen is a second emission with `medium` confidence where skipped ids tell.
    let trace = opened(
        "100 A>B data 0..500 ack 0 id 2
         120 B>A data 0..100 ack 500
         130 A>B data 500..1000 ack 100 id 3
         150 B>A data 100..200 ack 1000
         390 A>B data 1000..1500 ack 200 id 5
         410 B>A ack 1500",
    );
    let verdict = play(&trace).rows[2].verdict;
    assert_eq!(verdict.class, Class::Retransmission);
    assert_eq!(verdict.confidence, Confidence::Medium);
}

/// A answers B at once, and again after B has asked three times, with id `id`, and goes on as before.
fn asked_again(id: u32) -> Seen {
    asked(&format!(
        "390 B>A data 200..300 ack 1500
         790 B>A data 200..300 ack 1500
         1600 A>B data 1500..2000 ack 300 id {id}
         1620 B>A data 300..400 ack 2000
         1630 A>B data 2000..2500 ack 400 id {}
         1650 B>A ack 2500",
        id + 1
    ))
}

#[test]
fn of_more_ids_than_copies_of_a_question_some_were_answers() {
    // Each copy that came has one ACK (RFC 5681 section 4.2), but the first is answered with data, which was lost.
    let seen = asked_again(10);
    let classes: Vec<_> = seen.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(classes[3..], [Class::Retransmission, Class::New]);
    assert_eq!(seen.state.skipped_packets, 5 - 2);
    // Three may have been ACKs all.
    let seen = asked_again(8);
    assert_eq!(seen.rows[3].verdict.class, Class::New);
    assert_eq!(seen.state.skipped_packets, 0);
    // Of four one at least was not, so one was the answer: then two were ACKs.
    let seen = asked_again(9);
    assert_eq!(seen.rows[3].verdict.class, Class::Retransmission);
    assert_eq!(seen.state.skipped_packets, 2);
}

#[test]
fn what_the_network_copies_of_a_question_asks_for_an_ack_too() {
    let skipped = |again: &str| {
        asked(&format!(
            "181 B>A data 300..400 ack 1500 id 7
             {again}
             390 B>A data 200..300 ack 1500 id 8
             790 B>A data 200..300 ack 1500 id 9
             1200 A>B data 1500..2000 ack 400 id 15
             1220 B>A ack 2000 id 10"
        ))
        .state
        .skipped_packets
    };
    assert_eq!(skipped(""), 10 - 3);
    assert_eq!(skipped("182 B>A data 300..400 ack 1500 id 7"), 10 - 4);
}

#[test]
fn many_ids_are_answers_where_they_are_of_one_connection_for_certain() {
    // The answer of 30 packets was lost, and what timers repeated of it. A SYN-ACK with id 0 comes from a host that
    // counts for each connection; others may have sent as much to others.
    let answered = |id: u32| {
        let mut trace = format!("0 B>A syn\n10 A>B syn ack 0 id {id}\n20 B>A data 0..100 ack 0\n");
        for i in 1..=30 {
            let (at, start) = (29 + i, 1000 * (i - 1));
            let end = start + 1000;
            let _ = writeln!(trace, "{at} A>B data {start}..{end} ack 100 id {i}");
        }
        trace += "80 B>A data 100..200 ack 30000
             290 B>A data 100..200 ack 30000
             690 B>A data 100..200 ack 30000
             700 A>B data 30000..31000 ack 200 id 65
             720 B>A ack 31000
             730 A>B data 31000..32000 ack 200 id 66
             750 B>A ack 32000";
        let seen = play(&trace);
        let classes: Vec<_> = seen.rows[30..]
            .iter()
            .map(|row| row.verdict.class)
            .collect();
        (classes, seen.state.skipped_packets)
    };
    assert_eq!(answered(0), (vec![Class::Retransmission; 2], 34 - 3));
    assert_eq!(answered(777), (vec![Class::New; 2], 0));
}

#[test]
fn what_is_repeated_for_nothing_asks_for_an_ack_too() {
    // 200..300 was lost behind here; 300..400 is repeated though SACK had told of it. A knows no DSACK.
    let class = |repeat: &str| {
        let seen = asked(&format!(
            "181 B>A data 300..400 ack 1500
             191 A>B ack 200 sack 300..400 id 5
             212 B>A data 200..300 ack 1500
             {repeat}
             222 A>B ack 400 id 6
             300 B>A data 400..500 ack 1500
             1200 A>B data 1500..2000 ack 500 id 9
             1220 B>A ack 2000"
        ));
        seen.rows[3].verdict.class
    };
    assert_eq!(class(""), Class::Retransmission);
    assert_eq!(class("213 B>A data 300..400 ack 1500"), Class::New);
}

#[test]
fn acks_beside_an_answer_are_no_surplus_over_what_timers_take() {
    // Two of the six ids were ACKs, three repeats, and one the answer: no other connection took any.
    let seen = asked(
        "390 B>A data 200..300 ack 1500
         790 B>A data 200..300 ack 1500
         1600 A>B data 1500..2000 ack 300 id 11
         1620 B>A ack 2000
         1720 B>A data 300..400 ack 2000
         1730 A>B data 2000..2500 ack 400 id 12
         1750 B>A ack 2500",
    );
    let classes: Vec<_> = seen.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(classes[3..], [Class::Retransmission, Class::New]);
    assert_eq!(seen.state.skipped_packets, 4);
}

#[test]
fn what_sack_has_told_of_had_its_ack() {
    // Of 300..400 the ACK has passed, id 5; 200..300 came twice at most.
    let class = |id: u32| {
        let seen = asked(&format!(
            "181 B>A data 300..400 ack 1500
             191 A>B ack 200 sack 300..400 id 5
             390 B>A data 200..300 ack 1500
             1200 A>B data 1500..2000 ack 400 id {id}
             1220 B>A ack 2000"
        ));
        seen.rows[3].verdict.class
    };
    assert_eq!(class(8), Class::New);
    assert_eq!(class(9), Class::Retransmission);
}
