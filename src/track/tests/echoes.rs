//! What echoes of timestamps tell of repeats (METRICS.md X2).

use super::{opened, play};
use crate::event::{Class, ClassifiedSegment, Reason};

/// Which repeats of a trace were not needed, by where they begin.
fn unneeded(trace: &str) -> Vec<i64> {
    let rows = play(trace).rows;
    let found = |row: &&ClassifiedSegment| row.verdict.reason == Some(Reason::Unneeded);
    rows.iter().filter(found).map(|row| row.offset).collect()
}

const NONE: [i64; 0] = [];

/// A late flight of two that a timer repeats, and the ACK of both.
const LATE_FLIGHT: &str = "80 A>B data 0..1000 ts 80/1
         100 B>A ack 1000 ts 2/80
         110 A>B data 1000..2000 ts 110/2
         110 A>B data 2000..3000 ts 110/2
         400 A>B data 1000..2000 ts 400/2
         400 A>B data 2000..3000 ts 400/2
         430 B>A ack 3000 ts 9/110";

#[test]
fn what_was_repeated_behind_the_left_edge_was_not_needed_where_that_had_not_come_again() {
    // The ACK echoes the first copy of 1000..2000, so the second had not come (it would be echoed), nor what followed it.
    assert_eq!(unneeded(&opened(LATE_FLIGHT)), [1000, 2000]);
    assert_eq!(play(&opened(LATE_FLIGHT)).lost, [0, 0]);
    // Nor any other copy that followed one of them.
    let again = LATE_FLIGHT.replace(
        "430",
        "1200 A>B data 1000..2000 ts 1200/2
         1200 A>B data 2000..3000 ts 1200/2
         1230",
    );
    assert_eq!(unneeded(&opened(&again)), [1000, 2000, 1000, 2000]);
    assert_eq!(play(&opened(&again)).lost, [0, 0]);
    // Answered is the repeat of the lowest bytes, late, and of what followed it nothing is known.
    let needed = LATE_FLIGHT.replace("ts 9/110", "ts 9/400");
    assert_eq!(unneeded(&opened(&needed)), NONE);
    // What was repeated before the lowest bytes may have come.
    let before = LATE_FLIGHT.replace("400 A>B data 2000..3000 ts 400/2", "");
    let before = before.replace(
        "400 A>B data 1000",
        "390 A>B data 2000..3000 ts 390/2
         400 A>B data 1000",
    );
    assert_eq!(unneeded(&opened(&before)), [1000]);
}

#[test]
fn what_lies_above_a_repeat_and_came_in_its_turn_shows_that_it_was_not_needed() {
    // 3000..4000 passed before the repeat of 2000..3000. Had that been missing, an ACK would have told so at once (RFC 5681
    // section 4.2), and the repeat would have set the echo (RFC 7323 section 4.3).
    let trace = "80 A>B data 0..1000 ts 80/1
         100 B>A ack 1000 ts 2/80
         110 A>B data 1000..2000 ts 110/2
         111 A>B data 2000..3000 ts 111/2
         112 A>B data 3000..4000 ts 112/2
         145 A>B data 2000..3000 ts 145/2
         170 B>A ack 4000 ts 9/110";
    assert_eq!(unneeded(&opened(trace)), [2000]);
    assert_eq!(play(&opened(trace)).lost, [0, 0]);
    // It is the repeat that brought it about where that is echoed,
    let echoed = trace.replace("ts 9/110", "ts 9/145");
    assert_eq!(unneeded(&opened(&echoed)), NONE);
    // and may be where nothing above came before it.
    let above = trace.replace("112 A>B data 3000", "146 A>B data 3000");
    assert_eq!(unneeded(&opened(&above)), NONE);
}

#[test]
fn what_echoes_news_is_no_copy_of_what_passed_before_that_however_soon_it_comes() {
    // Each of two duplicate ACKs of a millisecond of its own brings 0..1000 about once more.
    let trace = "100 A>B data 0..1000 ts 100/1
         101 A>B data 1000..2000 ts 101/1
         160 B>A ack 0 ts 9/1
         160 A>B data 0..1000 ack 0 ts 160/9
         161 B>A ack 0 ts 10/1
         161 A>B data 0..1000 ack 0 ts 160/10";
    let class = |trace: &str| play(&opened(trace)).rows.last().unwrap().verdict.class;
    assert_eq!(class(trace), Class::Retransmission);
    // The same packet echoes the same,
    let same = trace.replace("160/10", "160/9");
    assert_eq!(class(&same), Class::Duplicate);
    // and where copies pass, the ACK may have passed before it and be recorded after it.
    let copied = trace.replace(
        "160 B>A ack 0",
        "101 A>B data 1000..2000 ts 101/1\n160 B>A ack 0",
    );
    assert_eq!(class(&copied), Class::Duplicate);
    // Nor is it the original, where what came before it was a repeat.
    let lost = trace.replace("100 A>B data 0..1000 ts 100/1", "");
    assert_eq!(class(&lost), Class::Retransmission);
    assert_eq!(class(&lost.replace("160/10", "160/9")), Class::Reordered);
}

#[test]
fn what_echoes_none_of_the_acks_that_told_of_its_hole_is_the_original_though_others_have_echoed_them()
 {
    // A timer does not run out within a tick of the clock, and no ACK had asked for it: the ACK of 121 is echoed by what
    // was sent when it had come, and not by what the hole was left by, late.
    let late = |echo: u32| {
        let trace = format!(
            "100 A>B data 0..1000 ack 0 ts 100/1
             100 A>B data 2000..3000 ack 0 ts 100/1
             121 B>A ack 1000 sack 2000..3000 ts 9/100
             131 A>B data 3000..4000 ack 0 ts 131/9
             151 B>A ack 1000 sack 2000..4000 ts 10/100
             155 A>B data 1000..2000 ack 0 ts 100/{echo}"
        );
        let rows = play(&opened(&trace)).rows;
        rows.last().map(|row| (row.offset, row.verdict.class))
    };
    assert_eq!(late(1), Some((1000, Class::Reordered)));
    assert_eq!(late(9), Some((1000, Class::Retransmission)));
}

#[test]
fn what_a_timer_brings_echoes_how_long_its_sender_was_silent_and_not_how_long_the_way_to_it_is() {
    // What passes here for the sender is answered a millisecond later. A timer that ran 200 ms from the last progress
    // on, 24 ms before `ms`, brings a repeat that echoes what passed 135 ms before it.
    let lost = |ms: i64, from: i64, longer: i64| {
        let [a, b, c, d] = [0, 1000, 2000, 3000].map(|len| from + len);
        let [told, goes_on, again] = [20, 21, 41].map(|then| ms + then);
        let [repeat, acked] = [176, 196].map(|then| ms + then + longer);
        format!(
            "{ms} A>B data {a}..{b} ack 0 ts {ms}/{0}
             {ms} A>B data {b}..{c} ack 0 ts {ms}/{0}
             {told} B>A ack {a} sack {b}..{c} ts {told}/{0}
             {goes_on} A>B data {c}..{d} ack 0 ts {goes_on}/{told}
             {again} B>A ack {a} sack {b}..{d} ts {again}/{0}
             {repeat} A>B data {a}..{b} ack 0 ts {repeat}/{again}
             {acked} B>A ack {d} ts {acked}/{repeat}
             ",
            ms - 24
        )
    };
    let steady = (0..8)
        .map(|n| {
            let (sent, acked) = (100 + 25 * n, 121 + 25 * n);
            let (from, to) = (1000 * n, 1000 * (n + 1));
            format!(
                "{sent} A>B data {from}..{to} ack 0 ts {sent}/{}
                 {acked} B>A ack {to} ts {acked}/{sent}
                 {} A>B ack 0 ts {0}/{acked}
                 ",
                sent - 1,
                acked + 1
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let reasons = |trace: &str| {
        let rows = play(&opened(trace)).rows;
        let reasons = rows.iter().filter_map(|row| row.verdict.reason);
        reasons.collect::<Vec<_>>()
    };
    let once = format!("{steady}{}", lost(320, 8000, 0));
    assert_eq!(reasons(&once), [Reason::Timeout]);
    // Nor does the next one find a longer way, however long the timer before it took.
    let [longer, then] = [lost(320, 8000, 600), lost(1140, 11_000, 0)];
    let twice = format!("{steady}{longer}{then}");
    assert_eq!(reasons(&twice), [Reason::Timeout; 2]);
}

#[test]
fn what_answers_later_data_of_the_peer_goes_on_with_no_repair() {
    // Ids 7 to 12 were 5000..6000, what timers repeated of it, and perhaps what came behind it.
    let first = |n| {
        let (at, end, id) = (100 + n, n + 1, n + 2);
        format!("{at} A>B data {n}000..{end}000 id {id} ts {at}/90\n")
    };
    let first = (0..5).map(first).collect::<Vec<_>>().concat();
    let class_after = |acked: u32, last: &str| {
        let seen = play(&opened(&format!(
            "{first}
             124 B>A ack 5000 ts 119/104
             1000 A>B data 5000..6000 id 13 ts 1000/119
             1020 B>A ack {acked} ts 1015/1000
             {last}"
        )));
        assert_eq!(seen.rows[5].verdict.class, Class::Retransmission);
        seen.rows.last().map(|row| row.verdict.class)
    };
    let class = |last: &str| class_after(6000, last);
    let goes_on = "1032 A>B data 6000..7000 id 14 ts 1030/1015";
    assert_eq!(class(goes_on), Some(Class::Retransmission));
    let asks = "1026 B>A data 0..100 ack 6000 ts 1021/1000";
    let answers = goes_on.replace("7000 id", "7000 ack 100 id");
    let answers = |echo: u32| format!("{asks}\n{}", answers.replace("1015", &echo.to_string()));
    assert_eq!(class(&answers(1021)), Some(Class::New));
    // Its sender had not heard of that yet.
    assert_eq!(class(&answers(1015)), Some(Class::Retransmission));
    // Not all that was seen is acknowledged: it may wait for that.
    let waits = answers(1021).replace("ack 6000", "ack 5500");
    assert_eq!(class_after(5500, &waits), Some(Class::Retransmission));
    // An id was skipped: it may have gone on with what was lost again.
    let skips = answers(1021).replace("id 14", "id 15");
    assert_eq!(class(&skips), Some(Class::Retransmission));
}

#[test]
fn without_timestamps_what_answers_later_data_of_the_peer_comes_later_than_what_an_ack_asks_for() {
    // The way to A and back takes 10 ms, with the four variations of a first sample 30, and timers are late by up to 12.
    let class = |at: u32| {
        let first = |n| format!("{} A>B data {n}000..{}000 id {}\n", 100 + n, n + 1, n + 2);
        let first = (0..5).map(first).collect::<Vec<_>>().concat();
        let asks = at - 11;
        let seen = play(&opened(&format!(
            "{first}
             124 B>A ack 5000
             1000 A>B data 5000..6000 id 13
             1020 B>A ack 6000
             {asks} B>A data 0..100 ack 6000
             {at} A>B data 6000..7000 ack 100 id 14"
        )));
        seen.rows.last().map(|row| row.verdict.class)
    };
    assert_eq!(class(1055), Some(Class::Retransmission));
    assert_eq!(class(1070), Some(Class::New));
}
