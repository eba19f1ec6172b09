//! Why a packet was repeated, and which repeats were not needed (METRICS.md X2).

use super::{check, opened, play};
use crate::event::{Class, ClassifiedSegment, Reason};

#[test]
fn a_dsack_shows_that_a_copy_was_not_needed() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             121 B>A ack 0 sack 1000..2000
             122 B>A ack 0 sack 1000..3000
             123 B>A ack 0 sack 1000..4000
             133 A>B data 0..1000
             134 B>A ack 4000
             153 B>A ack 4000 sack 0..1000",
        ),
        "100 new 0..1000
         101 new 1000..2000 rtt 20 sack
         102 new 2000..3000 rtt 20 sack
         103 new 3000..4000 rtt 20 sack
         133 retransmission 0..1000 unneeded dsack",
    );
}

#[test]
fn an_ack_that_echoes_the_original_shows_that_the_copy_was_not_needed() {
    check(
        &opened(
            "100 A>B data 0..1000 ts 100/0
             101 A>B data 1000..2000 ts 101/0
             400 A>B data 0..1000 ts 400/0
             402 B>A ack 1000 ts 900/100
             403 B>A ack 2000 ts 900/101",
        ),
        // The echo of 101 says that the second segment, too, came in its turn: its ACK was late.
        "100 new 0..1000 rtt 302 recovery
         101 new 1000..2000 rtt 302 recovery
         400 retransmission 0..1000 unneeded dsack",
    );
}

#[test]
fn an_older_echo_shows_all_repeats_of_the_left_edge_to_be_unneeded() {
    // The ACKs of the first copy were lost, until one came that echoes its clock: no timer's repeat was needed, and
    // nothing was lost on the way to B.
    let trace = opened(
        "80 A>B data 0..1000 ts 80/1
         100 B>A ack 1000 ts 2/80
         110 A>B data 1000..2000 ts 110/2
         400 A>B data 1000..2000 ts 400/2
         1000 A>B data 1000..2000 ts 1000/2
         2200 A>B data 1000..2000 ts 2200/2
         2230 B>A ack 2000 ts 9/110",
    );
    check(
        &trace,
        "80 new 0..1000 rtt 20 clean
         110 new 1000..2000 rtt 2120 recovery
         400 retransmission 1000..2000 unneeded dsack
         1000 retransmission 1000..2000 unneeded dsack
         2200 retransmission 1000..2000 unneeded dsack",
    );
    assert_eq!(play(&trace).lost, [0, 0]);
    // Where it echoes the second copy's, that one was needed, and the first was lost.
    let second = trace.replace("ts 9/110", "ts 9/400");
    let seen = play(&second);
    assert_eq!(seen.lost, [0, 1]);
    let unneeded = |row: &&ClassifiedSegment| row.verdict.reason == Some(Reason::Unneeded);
    assert_eq!(seen.rows.iter().filter(unneeded).count(), 2);
}

#[test]
fn a_repeat_cut_otherwise_is_no_duplicate_of_the_one_before_it() {
    // Neither ids nor clocks: 1010..2010 is as long as 1000..2000, a part of which passed just now, but not it.
    check(
        &opened(
            "100 A>B data 0..1000
             100 A>B data 1000..2000
             100 A>B data 2000..3000
             500 A>B data 0..1010
             500 A>B data 1010..2010",
        ),
        "100 new 0..1000
         100 new 1000..2000
         100 new 2000..3000
         500 retransmission 0..1010 timeout downstream seen_before
         500 retransmission 1010..2010 timeout downstream seen_before",
    );
}

#[test]
fn without_sack_an_older_echo_shows_that_what_follows_the_repaired_was_there() {
    // One ACK answers two segments at most (RFC 5681 section 4.2), with the clock of the first (RFC 7323 section 4.3):
    // this one covers five, so the receiver held data above the first, and a repeat that fills a part of a gap is
    // acknowledged at once: the ACK was for the first alone, and the others were there.
    check(
        "80 A>B data 0..1000 ts 1/1
         100 B>A ack 1000 ts 2/1
         110 A>B data 1000..2000 ts 3/2
         111 A>B data 2000..3000 ts 3/2
         112 A>B data 3000..4000 ts 3/2
         113 A>B data 4000..5000 ts 3/2
         114 A>B data 5000..6000 ts 3/2
         400 A>B data 1000..2000 ts 300/2
         401 A>B data 2000..3000 ts 301/2
         402 A>B data 3000..4000 ts 302/2
         403 A>B data 4000..5000 ts 303/2
         420 B>A ack 6000 ts 9/300",
        "80 new 0..1000 rtt 20 clean
         110 new 1000..2000
         111 new 2000..3000
         112 new 3000..4000
         113 new 4000..5000
         114 new 5000..6000
         400 retransmission 1000..2000 timeout downstream seen_before rtt 20 recovery
         401 retransmission 2000..3000 unneeded dsack
         402 retransmission 3000..4000 unneeded dsack
         403 retransmission 4000..5000 unneeded dsack",
    );
}

#[test]
fn without_sack_an_ack_for_two_repeats_may_have_waited_for_the_second() {
    // Nothing above was held back, so the ACK may be a delayed one for both repeats.
    check(
        "80 A>B data 0..1000 ts 1/1
         100 B>A ack 1000 ts 2/1
         110 A>B data 1000..2000 ts 3/2
         111 A>B data 2000..3000 ts 3/2
         400 A>B data 1000..2000 ts 300/2
         401 A>B data 2000..3000 ts 301/2
         420 B>A ack 3000 ts 9/300",
        "80 new 0..1000 rtt 20 clean
         110 new 1000..2000
         111 new 2000..3000
         400 retransmission 1000..2000 timeout downstream seen_before rtt 20 recovery
         401 retransmission 2000..3000 timeout downstream seen_before",
    );
}

#[test]
fn without_sack_a_repeat_that_overtook_the_left_edge_may_have_been_needed() {
    // 3000..4000 passed here before the left edge did: when that came, it could be there by its repeat.
    check(
        "80 A>B data 0..1000 ts 1/1
         100 B>A ack 1000 ts 2/1
         110 A>B data 1000..2000 ts 3/2
         111 A>B data 2000..3000 ts 3/2
         112 A>B data 3000..4000 ts 3/2
         113 A>B data 4000..5000 ts 3/2
         400 A>B data 3000..4000 ts 302/2
         401 A>B data 1000..2000 ts 300/2
         421 B>A ack 5000 ts 9/300",
        "80 new 0..1000 rtt 20 clean
         110 new 1000..2000
         111 new 2000..3000
         112 new 3000..4000
         113 new 4000..5000
         400 retransmission 3000..4000 timeout downstream seen_before
         401 retransmission 1000..2000 timeout downstream seen_before rtt 20 recovery",
    );
}

/// A flight, and what a timer repeats of it.
const REPEATED: &str = "80 A>B data 0..1000
         100 B>A ack 1000
         110 A>B data 1000..2000
         111 A>B data 2000..3000
         112 A>B data 3000..4000
         113 A>B data 4000..5000
         400 A>B data 1000..2000
         400 A>B data 2000..3000
         400 A>B data 3000..4000";

/// What is seen of it up to the left edge's repeat.
const REPEATED_SEEN: &str = "80 new 0..1000 rtt 20 clean
         110 new 1000..2000
         111 new 2000..3000
         112 new 3000..4000
         113 new 4000..5000
         400 retransmission 1000..2000 timeout downstream seen_before";

#[test]
fn without_sack_each_duplicate_ack_shows_a_repeat_that_was_not_needed() {
    // 1000..2000 was lost. Its repeat fills the gap, which is acknowledged at once (RFC 5681 section 4.2), and each
    // of the two behind it lies below that ACK and is answered with the same one (RFC 9293 section 3.10.7.4).
    let trace = format!(
        "{REPEATED}
         420 B>A ack 5000
         421 B>A ack 5000
         421 B>A ack 5000"
    );
    check(
        &trace,
        &format!(
            "{REPEATED_SEEN}
         400 retransmission 2000..3000 unneeded dsack
         400 retransmission 3000..4000 unneeded dsack"
        ),
    );
    assert_eq!(play(&trace).lost, [0, 1]);
    // Where only one comes, one of the two may have been needed, or was lost itself.
    let one = trace.trim_end().rsplit_once('\n').unwrap().0;
    assert_eq!(play(one).lost, [0, 2]);
    // What comes sooner than any answer did before is none to these repeats.
    let soon = trace
        .replace("400 A>B data 2000", "408 A>B data 2000")
        .replace("400 A>B data 3000", "408 A>B data 3000");
    assert_eq!(play(&soon).lost, [0, 3]);
    // With another window it may tell of that alone.
    let window = trace.replace("421 B>A ack 5000", "421 B>A ack 5000 win 600");
    assert_eq!(play(&window).lost, [0, 2]);
}

#[test]
fn without_sack_repeats_that_fill_a_gap_each_are_needed() {
    // Each repeat moves the ACK, as every other segment was lost: the duplicate ACKs are for those between.
    let trace = format!(
        "{REPEATED}
         400 A>B data 4000..5000
         420 B>A ack 3000
         421 B>A ack 3000
         422 B>A ack 5000
         423 B>A ack 5000"
    );
    check(
        &trace,
        &format!(
            "{REPEATED_SEEN}
         400 retransmission 2000..3000 unneeded dsack
         400 retransmission 3000..4000 timeout downstream seen_before
         400 retransmission 4000..5000 unneeded dsack"
        ),
    );
    assert_eq!(play(&trace).lost, [0, 2]);
}

/// 0..1000 comes to B late, though before its repeat does; B reports by SACK, but knows no DSACK.
const REORDERED: &str = "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         121 B>A ack 0 sack 1000..2000 id 2
         122 B>A ack 0 sack 1000..3000 id 3
         123 B>A ack 0 sack 1000..4000 id 4
         133 A>B data 0..1000
         145 B>A ack 4000 id 5
         153 B>A ack 4000 id 6";

#[test]
fn with_sack_a_duplicate_ack_without_news_shows_a_repeat_that_was_not_needed() {
    let trace = opened(REORDERED);
    // The last answers took 20 ms, the ACK came 12 ms after the repeat, and 20 ms after it one more that
    // tells nothing new: that is for the repeat.
    check(
        &trace,
        "100 new 0..1000
         101 new 1000..2000 rtt 20 sack
         102 new 2000..3000 rtt 20 sack
         103 new 3000..4000 rtt 20 sack
         133 retransmission 0..1000 unneeded dsack",
    );
    assert_eq!(play(&trace).lost, [0, 0]);
    let lost = |from: &str, to: &str| play(&trace.replace(from, to)).lost;
    // As late as other answers, the ACK was for the repeat.
    assert_eq!(lost("145 B>A", "152 B>A"), [0, 1]);
    // An ACK without id may be the network's copy of the one before it.
    assert_eq!(lost("ack 4000 id 6", "ack 4000"), [0, 1]);
    // A receiver that knows DSACK would have sent one.
    let dsack = "ack 4000 sack 2000..3000 id 5";
    assert_eq!(lost("ack 4000 id 5", dsack), [0, 1]);
}

#[test]
fn what_was_sent_later_and_answered_leaves_no_answer_to_wait_for() {
    // 4000..5000 was sent after the repeat and is answered: the ACK at 175 is for something else.
    let trace = opened(&REORDERED.replace(
        "153 B>A ack 4000 id 6",
        "146 A>B data 4000..5000
         166 B>A ack 5000 id 6
         175 B>A ack 5000 id 7",
    ));
    assert_eq!(play(&trace).lost, [0, 1]);
}

#[test]
fn ids_that_others_take_within_a_burst_are_no_lost_tail() {
    // Only a timer tells a sender of a lost tail, and none runs out within a round trip of 30 ms.
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             122 B>A ack 3000
             130 A>B data 3000..4000 id 9
             131 A>B data 4000..5000 id 10
             151 B>A ack 5000",
        ),
        "100 new 0..1000 rtt 22 stretch_ack
         101 new 1000..2000 rtt 21 stretch_ack
         102 new 2000..3000 rtt 20 stretch_ack
         130 new 3000..4000 rtt 21 delayed_ack
         131 new 4000..5000 rtt 20 clean",
    );
}

/// Id 3 was 1000..2000 and is lost; ids 7 and 9 repeat it, of which the second comes first.
#[test]
fn a_repeat_that_another_one_overtook_is_no_late_original() {
    let trace = |late: &str| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 2000..3000 id 4
             102 A>B data 3000..4000 id 5
             103 A>B data 4000..5000 id 6
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             122 B>A ack 1000 sack 2000..4000
             123 B>A ack 1000 sack 2000..5000
             140 A>B data 5000..6000 id 8
             160 B>A ack 1000 sack 2000..6000
             170 A>B data 1000..2000 id 9
             172 A>B data 1000..2000 {late}
             190 B>A ack 6000"
        ))
    };
    let seen = play(&trace("id 7"));
    let told: Vec<Class> = seen.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(told[5..], [Class::Retransmission; 2]);
    assert_eq!((seen.lost, seen.state.skipped_packets), ([1, 0], 1));
    // A DSACK tells of the one that came last here.
    let twice = format!("{}\n192 B>A ack 6000 sack 1000..2000", trace("id 7"));
    let reasons = play(&twice)
        .rows
        .iter()
        .map(|row| row.verdict.reason)
        .collect::<Vec<_>>();
    assert_eq!(reasons[5..], [Some(Reason::Unneeded), Some(Reason::Fast)]);
    // What was sent between 0..1000 and 2000..3000 is the original.
    let original = play(&trace("id 3"));
    assert_eq!(original.rows[6].verdict.class, Class::Reordered);
    assert_eq!(original.lost, [0, 0]);
}

#[test]
fn ids_skipped_between_repeats_were_repeats_of_what_lies_between() {
    // The ACK at 105 is lost, and A repeats all: 1000..2000 and 3000..4000 as ids 7 and 9, which are lost before they
    // come here. So no id is left for what 800 could repeat.
    let trace = "80 A>B data 0..1000 id 1
         81 A>B data 1000..2000 id 2
         82 A>B data 2000..3000 id 3
         83 A>B data 3000..4000 id 4
         84 A>B data 4000..5000 id 5
         105 B>A ack 5000
         400 A>B data 0..1000 id 6
         440 A>B data 2000..3000 id 8
         480 A>B data 4000..5000 id 10
         800 A>B data 5000..6000 id 11
         820 B>A ack 6000";
    let seen = play(trace);
    let last = seen.rows.last().map(|row| row.verdict.class.name());
    assert_eq!(last, Some("new"));
    // With ids 7 and 8 for the first of them, one carried something else.
    let more = trace
        .replace("id 11", "id 12")
        .replace("id 10", "id 11")
        .replace("id 8", "id 9");
    let last = play(&more).rows.last().map(|row| row.verdict.class.name());
    assert_eq!(last, Some("retransmission"));
}

/// B lacks 2000..5000, whose ids 4 to 6 were skipped, and says so at 124: A repeats what is missing from the lowest
/// byte on (RFC 6675 section 4, `NextSeg`), after what waited in a queue before the capture.
pub(super) const MISSING: &str = "100 A>B data 0..1000 id 2
     101 A>B data 1000..2000 id 3
     102 A>B data 5000..6000 id 7
     103 A>B data 6000..7000 id 8
     104 A>B data 7000..8000 id 9
     121 B>A ack 2000
     122 B>A ack 2000 sack 5000..6000
     123 B>A ack 2000 sack 5000..7000
     124 B>A ack 2000 sack 5000..8000
     160 A>B data 8000..9000 id 10
     180 B>A ack 2000 sack 5000..9000";

#[test]
fn with_sack_an_id_skipped_between_repeats_was_a_repeat_of_what_is_missing_there() {
    // Id 12 was 3000..4000, so no id is left for new data that 9000..10000 could repeat.
    let trace = format!(
        "{MISSING}
         190 A>B data 2000..3000 id 11
         191 A>B data 4000..5000 id 13
         210 B>A ack 3000 sack 4000..9000
         230 A>B data 9000..10000 id 14"
    );
    assert!(ends_with_new(&opened(&trace)));
    // All that is missing was repeated: where one more was skipped, that was 9000..10000.
    let more = trace.replace("id 14", "id 15").replace("id 13", "id 14");
    assert!(!ends_with_new(&opened(&more)));
}

#[test]
fn with_sack_ids_skipped_before_the_first_repeat_were_repeats_of_what_is_missing_below() {
    // Ids 11 and 12 were 2000..4000: A does not begin with 4000..5000.
    let trace = format!(
        "{MISSING}
         192 A>B data 4000..5000 id 13
         212 B>A ack 2000 sack 4000..9000
         230 A>B data 9000..10000 id 14"
    );
    assert!(ends_with_new(&opened(&trace)));
}

/// Whether the last packet of A is taken to be new.
pub(super) fn ends_with_new(trace: &str) -> bool {
    let rows = play(trace).rows;
    rows.last()
        .is_some_and(|row| row.verdict.class == Class::New)
}

#[test]
fn what_leaves_bytes_out_right_behind_a_timers_repeat_is_new() {
    // Ids 6 to 11 were 4000..7000 and three timers' repeats of 4000..5000. Told that it got through, A sends two
    // packets of new data before it repeats more (RFC 5682 section 2.1); were they repeats, 5000..6000 would come
    // first.
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             123 B>A ack 4000
             2000 A>B data 4000..5000 id 12
             2020 B>A ack 5000
             2030 A>B data 7000..8000 id 13
             2031 A>B data 8000..9000 id 14
             2050 B>A ack 5000 sack 7000..8000
             2051 B>A ack 5000 sack 7000..9000",
        ),
        "100 new 0..1000 rtt 23 stretch_ack
         101 new 1000..2000 rtt 22 stretch_ack
         102 new 2000..3000 rtt 21 stretch_ack
         103 new 3000..4000 rtt 20 stretch_ack
         2000 retransmission 4000..5000 timeout upstream ip_id
         2030 new 7000..8000 rtt 20 sack
         2031 new 8000..9000 rtt 20 sack",
    );
}

#[test]
fn what_a_timer_repeats_after_three_signs_of_its_loss_had_been_repeated_before() {
    // RFC 5681 section 3.2: the third sign makes A repeat 4000..5000 at once; that was id 10, so no id is left for
    // what 8000..9000 could repeat.
    let trace = |sacks: [&str; 3]| {
        format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             104 A>B data 5000..6000 id 7
             105 A>B data 6000..7000 id 8
             106 A>B data 7000..8000 id 9
             123 B>A ack 4000
             124 B>A ack 4000{}
             125 B>A ack 4000{}
             126 B>A ack 4000{}
             500 A>B data 4000..5000 id 11
             520 B>A ack 8000
             525 A>B data 8000..9000 id 12",
            sacks[0], sacks[1], sacks[2]
        )
    };
    let sacks = [" sack 5000..6000", " sack 5000..7000", " sack 5000..8000"];
    assert!(ends_with_new(&opened(&trace(sacks))));
    assert!(ends_with_new(&trace([""; 3])));
    // Where the sender has not been told so clearly, id 10 may have been 8000..9000.
    let untold = trace(["", "", ""]).replace("126 B>A ack 4000", "");
    assert!(!ends_with_new(&untold));
}

#[test]
fn pieces_of_what_is_repeated_in_parts_are_judged_each_by_itself() {
    // RFC 2883: three DSACKs, one for each piece; what was lost once counts once, and not at all when nothing was.
    let trace = |dsacks: &str| {
        opened(&format!(
            "100 A>B data 0..900
             101 A>B data 900..1800
             400 A>B data 0..300
             401 A>B data 300..600
             402 A>B data 600..900
             420 B>A ack 1800{dsacks}"
        ))
    };
    let pieces = |trace: &str| {
        let seen = play(trace);
        let repeats = seen.rows.iter().skip(2);
        let reasons: Vec<_> = repeats.map(|row| row.verdict.reason).collect();
        (reasons, seen.lost)
    };
    let none = pieces(&trace(""));
    assert_eq!(none.1, [0, 1], "one packet");
    assert!(
        none.0
            .iter()
            .all(|&reason| reason != Some(Reason::Unneeded))
    );
    let all = " sack 0..300
             421 B>A ack 1800 sack 300..600
             422 B>A ack 1800 sack 600..900";
    assert_eq!(
        pieces(&trace(all)),
        (vec![Some(Reason::Unneeded); 3], [0, 0])
    );
    let middle = " sack 300..600";
    let told = pieces(&trace(middle)).0.into_iter();
    let unneeded = told.map(|reason| reason == Some(Reason::Unneeded));
    assert_eq!(unneeded.collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn a_timer_repeats_one_packet_so_a_burst_after_a_pause_shows_a_shared_counter() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             122 B>A ack 3000
             5000 A>B data 3000..4000 id 12
             5001 A>B data 4000..5000 id 13
             5002 A>B data 5000..6000 id 14
             5022 B>A ack 6000",
        ),
        "100 new 0..1000 rtt 22 stretch_ack
         101 new 1000..2000 rtt 21 stretch_ack
         102 new 2000..3000 rtt 20 stretch_ack
         5000 new 3000..4000 rtt 22 stretch_ack
         5001 new 4000..5000 rtt 21 stretch_ack
         5002 new 5000..6000 rtt 20 stretch_ack",
    );
}

#[test]
fn what_was_taken_for_a_timers_repeat_is_taken_back_with_all_that_followed() {
    // As above, up to the packet that shows it.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         122 B>A ack 3000
         5000 A>B data 3000..4000 id 12",
    );
    let alone = play(&trace);
    assert_eq!((alone.lost, alone.recoveries.len()), ([1, 0], 1));
    let seen = play(&format!("{trace}\n5001 A>B data 4000..5000 id 13"));
    assert_eq!((seen.lost, seen.recoveries.len()), ([0, 0], 0));
}

#[test]
fn a_repeat_that_was_lost_leaves_nothing_to_repeat_after_a_pause() {
    // Id 6 was the repeat of 0..1000: had it carried new data, a timer would have sent 4000..5000 alone.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         121 B>A ack 0 sack 1000..2000
         123 B>A ack 0 sack 3000..4000 sack 1000..2000
         133 A>B data 2000..3000 id 7
         153 B>A ack 0 sack 1000..4000
         400 A>B data 0..1000 id 8
         420 B>A ack 4000
         1000 A>B data 4000..5000 id 9
         1001 A>B data 5000..6000 id 10
         1021 B>A ack 6000",
    );
    check(
        &trace,
        "100 new 0..1000
         101 new 1000..2000 rtt 20 sack
         102 new 2000..3000
         103 new 3000..4000 rtt 20 sack
         133 retransmission 2000..3000 fast downstream seen_before
         400 retransmission 0..1000 timeout downstream seen_before
         1000 new 4000..5000 rtt 21 delayed_ack
         1001 new 5000..6000 rtt 20 clean",
    );
    assert_eq!(play(&trace).state.skipped_packets, 1);
}

#[test]
fn what_a_receiver_took_back_is_needed_again() {
    // The ACK at 90 points at 1000, which was reported at 51: the receiver has thrown away what it held (RFC 2018
    // section 8), and all of it is in flight again.
    let trace = opened(
        "30 A>B data 0..1000
         31 A>B data 1000..2000
         32 A>B data 2000..3000
         51 B>A ack 0 sack 1000..2000
         52 B>A ack 0 sack 1000..3000
         70 A>B data 0..1000
         90 B>A ack 1000
         400 A>B data 1000..2000
         420 B>A ack 2000
         421 A>B data 2000..3000
         441 B>A ack 3000",
    );
    check(
        &trace,
        "30 new 0..1000
         31 new 1000..2000 rtt 20 sack
         32 new 2000..3000 rtt 20 sack
         70 retransmission 0..1000 fast downstream seen_before
         400 retransmission 1000..2000 timeout downstream seen_before
         421 retransmission 2000..3000 timeout downstream seen_before",
    );
    let in_flight: Vec<_> = play(&trace)
        .data
        .iter()
        .map(|data| data.in_flight_bytes)
        .collect();
    assert_eq!(in_flight[3..], [Some(1000), Some(2000), Some(1000)]);
}
