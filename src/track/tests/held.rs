//! What the receiver holds above the cumulative ACK, told by duplicate ACKs where there is no SACK.

use super::{ClassifiedSegment, opened, opened_bare, play};
use crate::event::{Confidence, LossPlace, Reason};

/// Without SACK: 1000..2000, id 3, is lost before it comes here, and so is its first repeat, id 7.
const ABOVE_A_HOLE: &str = "0 A>B syn bare id 0
     1 B>A syn bare ack 0
     30 A>B ack 0 id 1
     90 A>B data 0..500 ack 0 id 2
     95 A>B data 500..1000 ack 0 id 3
     96 B>A ack 1000
     110 A>B data 2000..3000 ack 0 id 5
     111 B>A ack 1000
     120 A>B data 3000..4000 ack 0 id 6
     121 B>A ack 1000
     ";

#[test]
fn a_duplicate_ack_tells_that_the_receiver_holds_what_came_just_before_it() {
    // All that was outstanding is repeated after a timeout (RFC 6582 section 3.2, without SACK).
    let trace = format!(
        "{ABOVE_A_HOLE}520 A>B data 2000..3000 ack 0 id 8
         521 B>A ack 1000
         530 A>B data 3000..4000 ack 0 id 9
         531 B>A ack 1000
         990 A>B data 1000..2000 ack 0 id 10
         991 B>A ack 4000"
    );
    let rows = play(&trace).rows;
    let reasons: Vec<_> = rows.iter().map(|row| row.verdict.reason).collect();
    let unneeded = Some(Reason::Unneeded);
    assert_eq!(reasons[4..6], [unneeded, unneeded]);
    assert_eq!(rows[4].verdict.confidence, Confidence::Medium);
    assert_eq!(play(&trace).lost[1], 0);
}

#[test]
fn what_is_held_above_a_second_hole_gives_no_round_trip() {
    // 1000..2000 and 3000..4000 come late to B, the others had been told of by then: three duplicate ACKs, of which the
    // first was for 2000..3000.
    let samples = |more: &str, acks: &str| -> Vec<Option<i64>> {
        let trace = format!(
            "0 A>B syn bare
             20 B>A syn bare ack 0
             30 A>B ack 0
             100 A>B data 0..1000 ack 0
             120 B>A ack 1000
             200 A>B data 1000..2000 ack 0
             201 A>B data 2000..3000 ack 0
             202 A>B data 3000..4000 ack 0
             203 A>B data 4000..5000 ack 0
             204 A>B data 5000..6000 ack 0
             221 B>A ack 1000
             222 A>B data 6000..7000 ack 0
             223 B>A ack 1000
             223 A>B data 7000..8000 ack 0
             224 B>A ack 1000
             {more}
             228 B>A ack 3000
             240 B>A ack 6000
             {acks}
             400 A>B data 8000..9000 ack 0
             401 A>B data 9000..10000 ack 0
             402 A>B data 10000..11000 ack 0
             403 A>B data 11000..12000 ack 0
             421 B>A ack 8000
             424 B>A ack 10000
             428 B>A ack 12000"
        );
        let rows = play(&trace).rows;
        let rtt_ms = |row: &ClassifiedSegment| Some(row.rtt?.0 / 1_000_000);
        rows.iter().map(rtt_ms).collect()
    };
    let (late, later) = (Some(28), Some(38));
    let together = ("243 B>A ack 8000", [Some(21), Some(20)]);
    let one_by_one = ("242 B>A ack 7000\n243 B>A ack 8000", [Some(20), Some(20)]);
    // Of these one was late, and one was held.
    let again = [Some(24), None, Some(26), Some(25)];
    for (acks, then) in [together, one_by_one] {
        let held = [Some(20), late, None, later, None, None];
        let expected = [&held[..], &then, &again].concat();
        assert_eq!(samples("", acks), expected);
        // An ACK for a copy of something: what is sent after it is not what it told of, then or later.
        assert_eq!(samples("226 B>A ack 1000", acks), expected);
    }
}

#[test]
fn a_duplicate_ack_that_several_packets_may_have_brought_about_tells_of_none() {
    // One of them was lost behind here, and answers take between 1 and 31 ms.
    let trace = "0 A>B syn bare id 0
         1 B>A syn bare ack 0
         30 A>B ack 0 id 1
         60 A>B data 0..500 ack 0 id 2
         65 A>B data 500..1000 ack 0 id 3
         96 B>A ack 1000
         110 A>B data 2000..3000 ack 0 id 5
         120 A>B data 3000..4000 ack 0 id 6
         141 B>A ack 1000
         520 A>B data 2000..3000 ack 0 id 8
         530 A>B data 3000..4000 ack 0 id 9
         990 A>B data 1000..2000 ack 0 id 10
         991 B>A ack 4000";
    let rows = play(trace).rows;
    assert!(
        rows[4..6]
            .iter()
            .all(|row| row.verdict.reason != Some(Reason::Unneeded))
    );
}

#[test]
fn what_the_receiver_asks_for_it_does_not_hold() {
    // The duplicate ACK was not for 2000..3000: its ACK asks for that.
    let trace = format!(
        "{ABOVE_A_HOLE}520 A>B data 1000..2000 ack 0 id 8
         521 B>A ack 2000
         530 A>B data 2000..3000 ack 0 id 9
         531 B>A ack 4000"
    );
    let last = play(&trace).rows.last().map(|row| row.verdict);
    assert_eq!(
        last.and_then(|verdict| verdict.lost),
        Some(LossPlace::Downstream)
    );
}

/// Without SACK and clocks: what passes here is answered after 20 ms. Nothing is lost, but the duplicate ACKs at 120,
/// for copies of what the receiver has, make the sender repeat 1000..2000.
const FALSE_ALARM: &str = "0 A>B syn bare id 0
     20 B>A syn bare ack 0
     30 A>B ack 0 id 1
     40 A>B data 0..1000 ack 0 id 2
     60 B>A ack 1000
     110 A>B data 1000..2000 ack 0 id 3
     113 A>B data 2000..3000 ack 0 id 4
     116 A>B data 3000..4000 ack 0 id 5
     117 B>A ack 1000
     118 B>A ack 1000
     119 B>A ack 1000
     ";

#[test]
fn without_sack_a_repeat_did_not_bring_about_an_ack_that_leaves_out_what_passed_before_it() {
    // An ACK for the repeat would cover 3000..4000 as well, which arrived: the ACK after it tells.
    let told = |behind: &str, last: &str| {
        let trace = format!(
            "{FALSE_ALARM}120 A>B data 1000..2000 ack 0 id 6
             {behind}133 B>A ack 3000
             {last}"
        );
        let seen = play(&trace);
        (seen.rows[4].verdict.reason, seen.lost[1])
    };
    let first = |last: &str| told("", last);
    assert_eq!(first("136 B>A ack 4000"), (Some(Reason::Unneeded), 0));
    // Also where that one was repeated too shortly before to be answered by it.
    let again = "135 A>B data 3000..4000 ack 0 id 7
         136 B>A ack 4000";
    assert_eq!(first(again), (Some(Reason::Unneeded), 0));
    // It may have been lost, and the repeat was needed.
    let lost = "150 A>B data 3000..4000 ack 0 id 7
         170 B>A ack 4000";
    assert_eq!(first(lost), (Some(Reason::Fast), 2));
    // Of two copies that the ACK may answer, the later one came after the repeat.
    let behind = "121 A>B data 3000..4000 ack 0 id 7\n";
    let again = again.replace("id 7", "id 8");
    assert_eq!(told(behind, &again).0, Some(Reason::Fast));
}

#[test]
fn what_is_late_behind_here_does_not_show_the_repeat_that_its_answer_overtook_to_be_unneeded() {
    // 1000..2000 is lost behind here. 3000..4000 is held up there, and comes 1 ms after the repeat that is answered
    // within the time that any answer takes.
    let told = |first: &str, answers: [u32; 2]| {
        let [repeat, edge] = answers;
        let trace = format!(
            "0 A>B syn bare id 0
             20 B>A syn bare ack 0
             30 A>B ack 0 id 1
             40 A>B data 0..1000 ack 0 id 2
             60 B>A ack 1000
             110 A>B data 1000..2000 ack 0 id 3
             111 A>B data 2000..3000 ack 0 id 4
             112 A>B data 3000..4000 ack 0 id 5
             112 A>B data 4000..5000 ack 0 id 6
             112 A>B data 5000..6000 ack 0 id 7
             131 B>A ack 1000
             132 B>A ack 1000
             132 B>A ack 1000
             {first}142 A>B data 1000..2000 ack 0 id 9
             {repeat} B>A ack 3000
             {edge} B>A ack 6000"
        );
        let seen = play(&trace);
        let repeats = seen.rows.into_iter().skip(6);
        let reasons: Vec<_> = repeats.filter_map(|row| row.verdict.reason).collect();
        (reasons, seen.lost[1])
    };
    let (fast, unneeded) = (Reason::Fast, Reason::Unneeded);
    assert_eq!(told("", [162, 163]), (vec![fast], 1));
    // The ACK comes too soon for the repeat, or what it leaves out is answered as soon as anything.
    assert_eq!(told("", [155, 163]), (vec![unneeded], 0));
    assert_eq!(told("", [160, 161]), (vec![unneeded], 0));
    let twice = |ms: u32| format!("{ms} A>B data 1000..2000 ack 0 id 8\n");
    assert_eq!(told(&twice(134), [155, 163]), (vec![fast, unneeded], 1));
    let unneeded = vec![unneeded, unneeded];
    assert_eq!(told(&twice(139), [155, 163]), (unneeded, 0));
}

#[test]
fn every_repeat_that_an_ack_comes_too_early_for_was_not_needed() {
    // Both repeats passed less than half of the shortest answer before the ACK.
    let trace = format!(
        "{FALSE_ALARM}122 A>B data 1000..2000 ack 0 id 6
         125 A>B data 1000..2000 ack 0 id 7
         130 B>A ack 4000"
    );
    let seen = play(&trace);
    let reasons: Vec<_> = seen.rows.iter().map(|row| row.verdict.reason).collect();
    let unneeded = Some(Reason::Unneeded);
    assert_eq!(reasons[4..], [unneeded, unneeded]);
    assert_eq!(seen.lost[1], 0);
}

#[test]
fn times_that_cannot_be_told_apart_by_a_clock_do_no_harm() {
    let trace = "-9223372036854 A>B syn bare id 0
         -9223372036854 B>A syn bare ack 0
         -9223372036854 A>B ack 0 id 1
         -9223372036854 A>B data 0..1000 ack 0 id 2
         -9223372036854 A>B data 1000..2000 ack 0 id 3
         9223372036854 B>A ack 2000
         9223372036854 A>B data 3000..4000 ack 0 id 4
         9223372036854 A>B data 4000..5000 ack 0 id 5
         9223372036854 B>A ack 2000
         9223372036854 B>A ack 2000";
    assert_eq!(play(trace).rows.len(), 4);
}

#[test]
fn a_duplicate_ack_may_take_longer_than_the_last_answer_did() {
    // Answers took 20 to 41 ms; that to 2000..3000 takes 45, and the two packets behind it, of which one alone passed
    // within 40 ms before that, are lost behind here.
    let trace = "0 A>B syn bare id 0
         20 B>A syn bare ack 0
         30 A>B ack 0 id 1
         40 A>B data 0..500 ack 0 id 2
         60 B>A ack 500
         60 A>B data 500..700 ack 0 id 3
         61 A>B data 700..1000 ack 0 id 4
         101 B>A ack 1000
         105 A>B data 1000..2000 ack 0 id 5
         110 A>B data 2000..3000 ack 0 id 6
         112 A>B data 3000..4000 ack 0 id 7
         120 A>B data 4000..5000 ack 0 id 8
         155 B>A ack 1000
         600 A>B data 1000..2000 ack 0 id 9
         620 B>A ack 3000
         630 A>B data 3000..4000 ack 0 id 10
         630 A>B data 4000..5000 ack 0 id 11
         650 B>A ack 4000
         651 B>A ack 5000";
    let seen = play(trace);
    let unneeded = |row: &ClassifiedSegment| row.verdict.reason == Some(Reason::Unneeded);
    assert!(!seen.rows.iter().any(unneeded));
    assert_eq!(seen.lost[1], 3);
}

#[test]
fn a_duplicate_ack_tells_nothing_of_what_passed_longer_before_it_than_the_last_answer_took() {
    let reason = |ms: u32| {
        let trace = format!(
            "0 A>B syn bare id 0
             20 B>A syn bare ack 0
             30 A>B ack 0 id 1
             40 A>B data 0..1000 ack 0 id 2
             60 B>A ack 1000
             110 A>B data 2000..3000 ack 0 id 4
             {ms} B>A ack 1000
             400 A>B data 2000..3000 ack 0 id 5"
        );
        let rows = play(&trace).rows;
        rows.last().and_then(|row| row.verdict.reason)
    };
    assert_eq!(reason(130), Some(Reason::Unneeded));
    assert_eq!(reason(131), Some(Reason::Timeout));
}

#[test]
fn a_duplicate_ack_tells_of_the_last_of_several_repairs() {
    // All of 1000..5000 is lost behind here, and repeated for nothing; of the second round 2000..3000 arrives.
    let trace = "0 A>B syn bare id 0
         20 B>A syn bare ack 0
         30 A>B ack 0 id 1
         40 A>B data 0..1000 ack 0 id 2
         60 B>A ack 1000
         100 A>B data 1000..2000 ack 0 id 3
         100 A>B data 2000..3000 ack 0 id 4
         100 A>B data 3000..4000 ack 0 id 5
         100 A>B data 4000..5000 ack 0 id 6
         400 A>B data 1000..2000 ack 0 id 7
         400 A>B data 2000..3000 ack 0 id 8
         400 A>B data 3000..4000 ack 0 id 9
         400 A>B data 4000..5000 ack 0 id 10
         1000 A>B data 1000..2000 ack 0 id 11
         1000 A>B data 2000..3000 ack 0 id 12
         1020 B>A ack 1000
         2200 A>B data 1000..2000 ack 0 id 13
         2200 A>B data 2000..3000 ack 0 id 14";
    let last = play(trace).rows.last().and_then(|row| row.verdict.reason);
    assert_eq!(last, Some(Reason::Unneeded));
}

#[test]
fn a_duplicate_ack_for_an_old_copy_tells_of_nothing_else() {
    // 1000..2000 is lost behind here, and later 4000..6000; the ACK at 421 is for the repeat of 2000..3000.
    let trace = "0 A>B syn bare id 0
         20 B>A syn bare ack 0
         30 A>B ack 0 id 1
         40 A>B data 0..1000 ack 0 id 2
         60 B>A ack 1000
         100 A>B data 1000..2000 ack 0 id 3
         101 A>B data 2000..3000 ack 0 id 4
         102 A>B data 3000..4000 ack 0 id 5
         400 A>B data 1000..2000 ack 0 id 6
         401 A>B data 2000..3000 ack 0 id 7
         401 A>B data 4000..5000 ack 0 id 8
         401 A>B data 5000..6000 ack 0 id 9
         420 B>A ack 4000
         421 B>A ack 4000
         800 A>B data 4000..5000 ack 0 id 10
         800 A>B data 5000..6000 ack 0 id 11
         820 B>A ack 6000";
    let seen = play(trace);
    let last = seen.rows.last().and_then(|row| row.verdict.reason);
    assert_eq!(last, Some(Reason::Timeout));
    assert_eq!(seen.lost[1], 3);
}

#[test]
fn a_duplicate_ack_tells_nothing_of_a_frame_of_several_packets() {
    // The capture cut the SACK blocks off. 2000..5000 was captured before a card cut it to three packets (the MSS is
    // 1000), of which one brought about the only duplicate ACK: the others were lost (RFC 5681 section 4.2).
    let trace = |frame: &str| {
        opened(&format!(
            "100 A>B data 0..1000
             120 B>A ack 1000 cut
             130 A>B data 1000..2000
             131 A>B data {frame}
             151 B>A ack 1000 cut long
             550 A>B data 1000..2000
             551 A>B data {frame}
             570 B>A ack 2000 cut"
        ))
    };
    let last = |frame: &str| {
        play(&trace(frame))
            .rows
            .last()
            .map(|row| row.verdict.reason)
    };
    assert_ne!(last("2000..5000"), Some(Some(Reason::Unneeded)));
    // Of one packet it tells.
    assert_eq!(last("2000..3000"), Some(Some(Reason::Unneeded)));
}

#[test]
fn as_many_duplicate_acks_as_packets_tell_that_all_have_come() {
    // At the receiver, which answers at once. 200..400 was lost before it came here, and comes again in one packet with
    // what follows: that was not lost.
    let trace = "0 A>B syn bare id 0
         0 B>A syn bare ack 0
         30 A>B ack 0 id 1
         90 A>B data 0..200 ack 0 id 2
         90 B>A ack 200
         100 A>B data 400..600 ack 0 id 4
         100 A>B data 600..800 ack 0 id 5
         100 B>A ack 200
         100 A>B data 800..1000 ack 0 id 6
         100 B>A ack 200
         100 B>A ack 200
         140 A>B data 200..1000 ack 0 id 7
         140 B>A ack 1000";
    assert_eq!(play(trace).lost, [1, 0]);
    // With one ACK fewer one of them may not have come, and which is not known.
    let one_less = trace.replacen("100 B>A ack 200", "", 1);
    assert_eq!(play(&one_less).lost, [1, 3]);
}

#[test]
fn of_what_one_repeat_covers_that_is_not_lost_whose_ack_was_not_due() {
    // Small messages without SACK: duplicate ACKs ask for the first, and its sender sends the others along with it (RFC
    // 9293 section 3.8.6). Of these the last ones had left it just before.
    let lost = |again: u32| {
        let trace = opened_bare(&format!(
            "100 A>B data 0..10
             120 B>A ack 10
             200 A>B data 10..20
             201 A>B data 20..30
             202 A>B data 30..40
             203 A>B data 40..50
             221 B>A ack 10
             222 B>A ack 10
             223 B>A ack 10
             224 A>B data 50..60
             224 A>B data 60..70
             {again} A>B data 10..70
             {} B>A ack 70",
            again + 20
        ));
        play(&trace).lost
    };
    // Of three packets the duplicate ACKs tell, and an ACK takes 20 ms.
    assert_eq!(lost(234), [0, 1]);
    assert_eq!(lost(246), [0, 3]);
}
