//! Ids that were skipped before a timer begins again with the lowest bytes.

use super::repeats::ends_with_new;
use super::*;
use crate::event::Reason;

/// 0..2000 of who counts for each connection, and of 2000..4000, ids 4 and 5, and what is `later`.
fn lost_with_tail(later: &str) -> String {
    format!(
        "0 B>A syn
         10 A>B syn ack 0 id 0
         30 B>A ack 0
         100 A>B data 0..1000 ack 0 id 2
         101 A>B data 1000..2000 ack 0 id 3
         121 B>A ack 2000
         {later}"
    )
}

#[test]
fn what_is_tried_when_a_timers_repeat_is_answered_is_repeated_in_the_end() {
    // Ids 7 and 8 were 4000..6000 (RFC 5682 section 2.1).
    let tried = lost_with_tail(
        "430 A>B data 2000..3000 ack 0 id 6
         450 B>A ack 3000
         710 A>B data 3000..4000 ack 0 id 9
         730 B>A ack 4000
         740 A>B data 4000..5000 ack 0 id 10
         741 A>B data 5000..6000 ack 0 id 11
         761 B>A ack 6000
         771 A>B data 6000..7000 ack 0 id 12
         791 B>A ack 7000",
    );
    check(
        &tried,
        "100 new 0..1000 rtt 21 delayed_ack
         101 new 1000..2000 rtt 20 clean
         430 retransmission 2000..3000 timeout upstream ip_id rtt 20 clean
         710 retransmission 3000..4000 timeout upstream ip_id rtt 20 clean
         740 retransmission 4000..5000 timeout upstream ip_id
         741 retransmission 5000..6000 timeout upstream ip_id
         771 new 6000..7000 rtt 20 clean",
    );
    let fourth = |trace: &str| play(trace).rows[4].verdict.class;
    assert_eq!(fourth(&tried), Class::Retransmission);
    // No timer is so quick.
    let soon = tried.replace("710 A", "600 A").replace("730 B", "620 B");
    assert_eq!(fourth(&soon), Class::New);
}

#[test]
fn nothing_is_tried_before_a_timers_repeat_is_answered_or_when_its_sender_has_gone_on() {
    // Ids 7 and 8 were 2000..3000 again.
    assert!(ends_with_new(&lost_with_tail(
        "430 A>B data 2000..3000 ack 0 id 6
         710 A>B data 2000..3000 ack 0 id 9
         730 B>A ack 3000
         740 A>B data 3000..4000 ack 0 id 10
         760 B>A ack 4000
         770 A>B data 4000..5000 ack 0 id 11"
    )));
    // Ids 8 and 9 were repeats of 4000..5000, the third that was lost.
    let gone_on = |last: u16| {
        lost_with_tail(&format!(
            "430 A>B data 2000..3000 ack 0 id 7
             450 B>A ack 3000
             460 A>B data 3000..4000 ack 0 id 8
             480 B>A ack 4000
             760 A>B data 4000..5000 ack 0 id {last}
             780 B>A ack 5000
             790 A>B data 5000..6000 ack 0 id {}",
            last + 1
        ))
    };
    assert!(ends_with_new(&gone_on(11)));
}

#[test]
fn a_second_timer_of_a_repair_tries_nothing() {
    // Ids 7 and 8 were 4000..6000; 10 and 11 were repeats of what a second timer gave up.
    let trace = |again: u16| {
        lost_with_tail(&format!(
            "430 A>B data 2000..3000 ack 0 id 6
             450 B>A ack 3000
             710 A>B data 3000..4000 ack 0 id 9
             730 B>A ack 4000
             990 A>B data 4000..5000 ack 0 id {again}
             1010 B>A ack 5000
             1020 A>B data 5000..6000 ack 0 id {}
             1040 B>A ack 6000
             1050 A>B data 6000..7000 ack 0 id {}",
            again + 1,
            again + 2
        ))
    };
    assert!(ends_with_new(&trace(12)));
    let rows = play(&trace(12)).rows;
    assert_eq!(rows[5].verdict.class, Class::Retransmission);
}

#[test]
fn a_timer_runs_from_when_progress_has_come_to_its_sender() {
    // Who waits for 200 ms first cannot have repeated anything between 300 and 600 ms after the ACK had come to it.
    let trace = |timer: u32| {
        format!(
            "0 A>B syn
             100 B>A syn ack 0
             110 A>B ack 0 id 1
             200 A>B data 0..1000 id 2
             300 B>A ack 1000
             {timer} A>B data 1000..2000 id 5
             {} B>A ack 2000
             {} A>B data 2000..3000 id 6",
            timer + 100,
            timer + 110
        )
    };
    assert!(!ends_with_new(&trace(880)));
    // One of both ids was such a repeat.
    assert!(ends_with_new(&trace(920)));
}

/// B lacks 1000..5000, ids 3 to 6, and has told of it; of the repeats 1000..2000 came, and a timer brings 2000..3000
/// with the id `timers`.
fn repaired_by_timer(timers: u16) -> String {
    opened(&format!(
        "100 A>B data 0..1000 id 2
         102 A>B data 5000..6000 id 7
         103 A>B data 6000..7000 id 8
         104 A>B data 7000..8000 id 9
         120 B>A ack 1000
         122 B>A ack 1000 sack 5000..6000
         123 B>A ack 1000 sack 5000..7000
         124 B>A ack 1000 sack 5000..8000
         134 A>B data 1000..2000 id 10
         154 B>A ack 2000 sack 5000..8000
         450 A>B data 2000..3000 id {timers}
         470 B>A ack 3000 sack 5000..8000
         480 A>B data 3000..4000 id {}
         481 A>B data 4000..5000 id {}
         501 B>A ack 8000
         511 A>B data 8000..9000 id {}",
        timers + 1,
        timers + 2,
        timers + 3
    ))
}

#[test]
fn what_a_timer_goes_back_for_had_been_repeated_before_anything_new() {
    // Ids 11 to 13 were 2000..5000.
    assert!(ends_with_new(&repaired_by_timer(13)));
    assert!(ends_with_new(&repaired_by_timer(14)));
    // That is all that was missing.
    assert!(!ends_with_new(&repaired_by_timer(15)));
}

#[test]
fn before_a_timer_no_more_was_repeated_than_had_been_told_to_have_come() {
    // 1000..3000 is missing; of three skipped ids one was 1000..2000 again, as B reports one packet, and two were new.
    let first = "100 A>B data 0..1000 id 2
         103 A>B data 3000..4000 id 5
         120 B>A ack 1000
         123 B>A ack 1000 sack 3000..4000";
    let later = |end: u32, id: u16| {
        format!(
            "450 A>B data 1000..2000 id {id}
             470 B>A ack 2000 sack 3000..{end}
             480 A>B data 2000..3000 id {}
             500 B>A ack {end}
             510 A>B data {end}..{} id {}
             511 A>B data {}..{} id {}
             531 B>A ack {}
             541 A>B data {}..{} id {}",
            id + 1,
            end + 1000,
            id + 2,
            end + 1000,
            end + 2000,
            id + 3,
            end + 2000,
            end + 2000,
            end + 3000,
            id + 4
        )
    };
    let classes = |trace: &str| -> Vec<Class> {
        let rows = play(&opened(trace)).rows;
        rows[rows.len() - 3..]
            .iter()
            .map(|row| row.verdict.class)
            .collect()
    };
    let (new, repeat) = (Class::New, Class::Retransmission);
    let one = format!("{first}\n{}", later(4000, 9));
    assert_eq!(classes(&one), [repeat, repeat, new]);
    // Where it reports two, both were.
    let two = format!(
        "{first}
         104 A>B data 4000..5000 id 6
         124 B>A ack 1000 sack 3000..5000
         {}",
        later(5000, 10)
    );
    assert_eq!(classes(&two), [repeat, new, new]);
}

#[test]
fn what_waits_was_repeated_before_timers_repeated_it() {
    // Id 5 was 3000..4000, which the ACK of 1000..2000 tells to be lost: it was repeated then, and by a timer before.
    let trace = |timers: u16| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             102 A>B data 2000..3000 id 4
             120 B>A ack 1000
             122 B>A ack 1000 sack 2000..3000
             141 A>B data 1000..2000 id 6
             161 B>A ack 3000
             1000 A>B data 3000..4000 id {timers}
             1020 B>A ack 4000
             1030 A>B data 4000..5000 id {}",
            timers + 1
        ))
    };
    assert!(ends_with_new(&trace(9)));
    assert!(!ends_with_new(&trace(10)));
}

#[test]
fn what_is_repeated_before_it_is_known_to_be_lost_does_not_wait_any_more() {
    // Ids 3 and 4 were 1000..3000, 6 and 7 were 4000..6000. B's ACKs tell of one packet above these, which is enough for
    // A. Before the timer brings 5000..6000, that was repeated, id 11, and 6000..7000 was new, id 12.
    let trace = |timers: u16| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             103 A>B data 3000..4000 id 5
             120 B>A ack 1000
             123 B>A ack 1000 sack 3000..4000
             141 A>B data 1000..2000 id 8
             161 B>A ack 2000 sack 3000..4000
             171 A>B data 2000..3000 id 9
             191 B>A ack 4000
             201 A>B data 4000..5000 id 10
             221 B>A ack 5000
             500 A>B data 5000..6000 id {timers}
             520 B>A ack 6000
             530 A>B data 6000..7000 id {}",
            timers + 1
        ))
    };
    assert!(!ends_with_new(&trace(13)));
    assert!(ends_with_new(&trace(12)));
}

#[test]
fn what_answers_the_ack_of_a_repeat_goes_on_with_the_repair_however_long_queues_make_that() {
    // Id 7 was 5000..6000, which the ACK of 1000..2000 tells to be lost, 180 ms before its sender's answer comes.
    let trace = |last: u32| {
        format!(
            "0 A>B syn
             20 B>A syn ack 0
             200 A>B ack 0 id 1
             300 A>B data 0..1000 id 2
             302 A>B data 2000..3000 id 4
             303 A>B data 3000..4000 id 5
             304 A>B data 4000..5000 id 6
             320 B>A ack 1000
             322 B>A ack 1000 sack 2000..3000
             323 B>A ack 1000 sack 2000..4000
             324 B>A ack 1000 sack 2000..5000
             503 A>B data 1000..2000 id 8
             523 B>A ack 5000
             {last} A>B data 5000..6000 id 9"
        )
    };
    assert_eq!(last_reason(&trace(704)), Some(Reason::Fast));
    // Later than one and a half round trips after the repeat, but within one of when the ACK has come to its sender.
    assert_eq!(last_reason(&trace(805)), Some(Reason::Fast));
    // Then a timer had run out.
    assert_eq!(last_reason(&trace(890)), Some(Reason::Timeout));
    // Without SACK no ACK tells of what was sent before something that came.
    let bare = trace(704).replace("syn", "syn bare");
    let bare: Vec<&str> = bare
        .lines()
        .map(|line| line.split(" sack").next().unwrap_or(line))
        .collect();
    assert_eq!(last_reason(&bare.join("\n")), Some(Reason::Timeout));
    // Nor does any tell that the repeat itself is lost.
    let probed = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         120 B>A ack 1000
         300 A>B data 1000..2000 id 4
         478 A>B data 1000..2000 id 5",
    );
    let probed = probed.replace("30 A>B ack", "80 A>B ack");
    assert_eq!(last_reason(&probed), Some(Reason::Timeout));
}

#[test]
fn without_sack_each_partial_ack_asked_for_one_packet() {
    // Ids 8 and 9 were 5000..7000: all repeats that were asked for were seen (RFC 6582 section 3.2).
    check(
        &opened_bare(
            "100 A>B data 0..1000 id 2
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             104 A>B data 4000..5000 id 6
             120 B>A ack 1000
             122 B>A ack 1000
             123 B>A ack 1000
             124 B>A ack 1000
             134 A>B data 1000..2000 id 7
             154 B>A ack 5000
             420 A>B data 5000..6000 id 10
             440 B>A ack 6000
             450 A>B data 6000..7000 id 11
             451 A>B data 7000..8000 id 12
             471 B>A ack 8000",
        ),
        "100 new 0..1000 rtt 20 clean
         102 new 2000..3000
         103 new 3000..4000
         104 new 4000..5000
         134 retransmission 1000..2000 fast upstream ip_id
         420 retransmission 5000..6000 timeout upstream ip_id
         450 retransmission 6000..7000 timeout upstream ip_id
         451 new 7000..8000 rtt 20 recovery",
    );
}

#[test]
fn what_a_timer_gave_up_is_over_when_its_sender_answers_what_came_after_the_ack_of_all() {
    // Ids 3 to 5 were 1000..2000 twice or more, and B has all that it was sent: what is missing at 511 is of the answer.
    let trace = |asked: &str| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             120 B>A ack 1000
             400 A>B data 1000..2000 id 6
             420 B>A ack 2000
             {asked} ack 2000
             510 A>B data 4000..5000 ack 100 id 9
             511 A>B data 5000..6000 ack 100 id 10
             512 A>B data 6000..7000 ack 100 id 11
             530 B>A ack 2000 sack 4000..5000
             531 B>A ack 2000 sack 4000..6000
             532 B>A ack 2000 sack 4000..7000
             543 A>B data 2000..3000 ack 100 id 12"
        ))
    };
    assert_eq!(
        last_reason(&trace("500 B>A data 0..100")),
        Some(Reason::Fast)
    );
    // Nobody asked for anything in between.
    assert_eq!(last_reason(&trace("420 B>A")), Some(Reason::Timeout));
}

#[test]
fn who_is_in_a_fast_repair_tries_nothing_after_a_timer() {
    // Id 3 was 1000..2000, 7 was 5000..6000; the repeat at 134 is lost behind this point. Ids 10 and 11 were 5000..6000.
    let trace = "0 B>A syn
         10 A>B syn ack 0 id 0
         30 B>A ack 0
         100 A>B data 0..1000 ack 0 id 2
         102 A>B data 2000..3000 ack 0 id 4
         103 A>B data 3000..4000 ack 0 id 5
         104 A>B data 4000..5000 ack 0 id 6
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         123 B>A ack 1000 sack 2000..4000
         124 B>A ack 1000 sack 2000..5000
         134 A>B data 1000..2000 ack 0 id 8
         450 A>B data 1000..2000 ack 0 id 9
         470 B>A ack 5000
         760 A>B data 5000..6000 ack 0 id 12
         780 B>A ack 6000
         790 A>B data 6000..7000 ack 0 id 13";
    assert!(ends_with_new(trace));
    // Or before it.
    assert!(ends_with_new(
        &trace.replace("134 A>B data 1000..2000 ack 0 id 8", "")
    ));
}

#[test]
fn what_comes_after_a_silence_above_the_lowest_bytes_goes_on_in_order() {
    // Id 11 was 2000..3000, the only one that is missing below it; one of the next two at least was new.
    let trace = repaired_by_timer(14)
        .replace("450 A>B data 2000..3000", "450 A>B data 3000..4000")
        .replace("470 B>A ack 3000", "470 B>A ack 2000 sack 3000..4000")
        .replace("480 A>B data 3000..4000", "480 A>B data 2000..3000");
    assert!(!ends_with_new(&trace));
}
