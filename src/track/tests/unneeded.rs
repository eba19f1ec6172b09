//! Repeats that were not needed, and what shows it (METRICS.md X2).

use super::{check, opened, opened_bare, play};
use crate::event::{ClassifiedSegment, Reason};

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
fn a_dsack_tells_nothing_of_a_repeat_where_the_path_behind_copies_packets() {
    // Each packet comes to B twice, which a DSACK tells (RFC 2883 section 5.1). 1000..2000 was lost: its repeat came
    // first, and then the copy of that.
    let trace = opened(
        "100 A>B data 0..1000
         120 B>A ack 1000
         121 B>A ack 1000 sack 0..1000
         130 A>B data 1000..2000
         131 A>B data 2000..3000
         132 A>B data 3000..4000
         151 B>A ack 1000 sack 2000..3000
         151 B>A ack 1000 sack 2000..3000 sack 2000..3000
         152 B>A ack 1000 sack 2000..4000
         152 B>A ack 1000 sack 3000..4000 sack 2000..4000
         165 A>B data 1000..2000
         185 B>A ack 4000
         186 B>A ack 4000 sack 1000..2000",
    );
    check(
        &trace,
        "100 new 0..1000 rtt 20 clean
         130 new 1000..2000
         131 new 2000..3000 rtt 20 sack
         132 new 3000..4000 rtt 20 sack
         165 retransmission 1000..2000 fast downstream seen_before",
    );
    assert_eq!(play(&trace).lost, [0, 1]);
    // Of a path that does so to one packet in seven, the repeat alone may have come twice.
    let seldom = trace
        .replace("151 B>A ack 1000 sack 2000..3000 sack 2000..3000", "")
        .replace("152 B>A ack 1000 sack 3000..4000 sack 2000..4000", "");
    let last = *play(&seldom).rows.last().unwrap();
    assert_eq!(last.verdict.reason, Some(Reason::Unneeded));
    assert_eq!(play(&seldom).lost, [0, 0]);
}

#[test]
fn a_dsack_tells_nothing_of_a_repeat_that_closed_the_hole_where_a_packet_was_copied_before() {
    // 0..1000 came twice although it was sent once, so the path behind copies packets (RFC 2883 section 5.1). The ACK
    // of 185 echoes the clock of the repeat, which that came with for the first time (RFC 7323 section 4.3).
    let trace = opened(
        "100 A>B data 0..1000 ts 100/1
         120 B>A ack 1000 ts 20/100
         121 B>A ack 1000 sack 0..1000 ts 21/100
         130 A>B data 1000..2000 ts 130/21
         131 A>B data 2000..3000 ts 131/21
         132 A>B data 3000..4000 ts 132/21
         133 A>B data 4000..5000 ts 133/21
         151 B>A ack 1000 sack 2000..3000 ts 51/100
         152 B>A ack 1000 sack 2000..4000 ts 52/100
         153 B>A ack 1000 sack 2000..5000 ts 53/100
         165 A>B data 1000..2000 ts 165/53
         185 B>A ack 5000 ts 85/165
         186 B>A ack 5000 sack 1000..2000 ts 86/165",
    );
    let last = |trace: &str| *play(trace).rows.last().unwrap();
    assert_eq!(last(&trace).verdict.reason, Some(Reason::Fast));
    assert_eq!(play(&trace).lost, [0, 1]);
    // Without such a packet it was the original that came late; and so it was where that closed the hole.
    let alone = trace.replace(" sack 0..1000", "");
    assert_eq!(last(&alone).verdict.reason, Some(Reason::Unneeded));
    let late = trace.replace("ts 85/165", "ts 85/130");
    assert_eq!(last(&late).verdict.reason, Some(Reason::Unneeded));
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

#[test]
fn after_a_timers_silence_no_answer_waits_in_a_queue() {
    // Answers took 60 ms until the timer ran out, and 22 ms after it: the ACK at 622 is for the repeat, and the one at
    // 623 for that of what had been reported.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         161 B>A ack 0 sack 1000..2000 id 2
         163 B>A ack 0 sack 3000..4000 sack 1000..2000 id 3
         600 A>B data 0..1000
         604 A>B data 1000..2000
         622 B>A ack 2000 sack 3000..4000 id 4
         623 B>A ack 2000 sack 3000..4000 id 5",
    );
    check(
        &trace,
        "100 new 0..1000
         101 new 1000..2000 rtt 60 sack
         102 new 2000..3000
         103 new 3000..4000 rtt 60 sack
         600 retransmission 0..1000 timeout downstream seen_before
         604 retransmission 1000..2000 unneeded seen_before",
    );
    // Sooner than any answer came, the ACK is for the first copy, late.
    let late = trace.replace("622 B>A", "615 B>A");
    assert_eq!(play(&late).lost, [0, 0]);
}

#[test]
fn a_repeat_without_timestamps_is_in_no_echo() {
    // The SYNs agreed on timestamps, but data that was queued before has none: the echo is that of the handshake.
    let trace = " 0 A>B syn ts 4294967000/0
         20 B>A syn ack 0 ts 500/4294967000
         30 A>B ack 0 ts 4294967030/500
         100 A>B data 0..1000 ack 0
         400 A>B data 0..1000 ack 0
         420 B>A ack 1000 ts 900/4294967030";
    assert_eq!(play(trace).lost, [0, 1]);
}

#[test]
fn the_echo_that_comes_with_the_ack_of_a_fin_may_be_one_from_before_what_closed_the_gap() {
    // Some receivers acknowledge a FIN before they take the clock of the segment that closed the gap below it.
    let trace = "100 A>B data 0..1000 ts 100/0
         101 A>B data 1000..2000 ts 101/0
         102 A>B data 2000..3000 fin ts 102/0
         120 B>A ack 1000 ts 600/100
         122 B>A ack 1000 sack 2000..3001 ts 602/100
         350 A>B data 1000..2000 ts 350/602
         370 B>A ack 3001 ts 850/100";
    let last = |trace: &str| {
        let seen = play(&opened(trace));
        let reason = seen.rows.last().and_then(|row| row.verdict.reason);
        (reason, seen.lost)
    };
    assert_eq!(last(trace), (Some(Reason::Timeout), [0, 1]));
    // The echo of what closed the gap (RFC 7323 section 4.3).
    let of_first = trace.replace("850/100", "850/101");
    assert_eq!(last(&of_first), (Some(Reason::Unneeded), [0, 0]));
    // Nor do those tell anything who echo nothing, or one time for ever.
    let open = trace.replace(" fin", "").replace("3001", "3000");
    for echo in ["850/0", "850/100"] {
        let told = last(&open.replace("850/100", echo));
        assert_eq!(told, (Some(Reason::Timeout), [0, 1]), "{echo}");
    }
}

/// 0..1000 is late behind here, and repeated twice before it comes: three copies, of which each DSACK tells of one that
/// was not the first.
#[test]
fn each_dsack_of_a_packet_shows_one_more_copy_of_it_that_was_not_needed() {
    let trace = |second: &str| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             121 B>A ack 0 sack 1000..2000 id 21
             122 B>A ack 0 sack 1000..3000 id 22
             123 B>A ack 0 sack 1000..4000 id 23
             133 A>B data 0..1000 id 6
             134 A>B data 4000..5000 id 7
             154 B>A ack 0 sack 1000..5000 id 24
             164 A>B data 0..1000 id 8
             170 B>A ack 5000 id 25
             172 B>A ack 5000 sack 0..1000 id 26
             {second}"
        ))
    };
    let first = |reason: &str| {
        format!(
            "100 new 0..1000
             101 new 1000..2000 rtt 20 sack
             102 new 2000..3000 rtt 20 sack
             103 new 3000..4000 rtt 20 sack
             133 retransmission 0..1000 {reason}
             134 new 4000..5000 rtt 20 sack
             164 retransmission 0..1000 unneeded dsack"
        )
    };
    check(&trace(""), &first("fast downstream seen_before"));
    assert_eq!(play(&trace("")).lost, [0, 1]);
    let both = trace("184 B>A ack 5000 sack 0..1000 id 27");
    check(&both, &first("unneeded dsack"));
    assert_eq!(play(&both).lost, [0, 0]);
    // A third one tells of a copy that the path behind made.
    let third = format!("{both}\n186 B>A ack 5000 sack 0..1000 id 28");
    check(&third, &first("unneeded dsack"));
    assert_eq!(play(&third).lost, [0, 0]);
}

/// 2000..3000 is so late that its repeat comes before it, and before anything above it: for new, until then.
#[test]
fn what_passed_for_new_was_a_repeat_where_the_original_comes_after_it() {
    let trace = opened(
        "100 A>B data 0..1000 ts 100/20
         101 A>B data 1000..2000 ts 101/20
         120 B>A ack 1000 ts 120/100
         121 B>A ack 2000 ts 121/101
         320 A>B data 2000..3000 ts 320/121
         330 A>B data 2000..3000 ts 102/20
         340 B>A ack 3000 ts 340/320",
    );
    check(
        &trace,
        "100 new 0..1000 rtt 20 clean
         101 new 1000..2000 rtt 20 clean
         320 retransmission 2000..3000 unneeded seen_before rtt 20 recovery
         330 reordered 2000..3000 tsval",
    );
    assert_eq!(play(&trace).lost, [0, 0]);
}

/// 0..1000 was repeated twice when the original came, which neither repeat was needed for.
#[test]
fn no_repeat_was_needed_that_came_before_the_original() {
    check(
        &opened(
            "101 A>B data 1000..2000 ts 101/20
             102 A>B data 2000..3000 ts 102/20
             103 A>B data 3000..4000 ts 103/20
             121 B>A ack 0 sack 1000..2000 ts 121/20
             122 B>A ack 0 sack 1000..3000 ts 122/20
             123 B>A ack 0 sack 1000..4000 ts 123/20
             134 A>B data 0..1000 ts 134/123
             135 A>B data 4000..5000 ts 135/123
             156 B>A ack 0 sack 1000..5000 ts 156/20
             167 A>B data 0..1000 ts 167/156
             170 A>B data 0..1000 ts 100/20
             190 B>A ack 5000 ts 190/134",
        ),
        "101 new 1000..2000 rtt 20 sack
         102 new 2000..3000 rtt 20 sack
         103 new 3000..4000 rtt 20 sack
         134 retransmission 0..1000 unneeded seen_before rtt 56 recovery
         135 new 4000..5000 rtt 21 sack
         167 retransmission 0..1000 unneeded seen_before
         170 reordered 0..1000 tsval",
    );
}

#[test]
fn what_came_in_one_burst_with_the_left_edge_may_have_been_acknowledged_with_it() {
    // Without SACK. The timer repeats all in one burst, during which the sender's clock ticks. All of it was needed,
    // and acknowledged by one late ACK, which echoes the clock of the first (RFC 7323 section 4.3).
    let trace = opened_bare(
        "100 A>B data 0..1000 ts 100/1
         100 A>B data 1000..2000 ts 100/1
         100 A>B data 2000..3000 ts 100/1
         400 A>B data 0..1000 ts 400/1
         400 A>B data 1000..2000 ts 401/1
         400 A>B data 2000..3000 ts 401/1
         420 B>A ack 3000 ts 9/400",
    );
    let unneeded = |trace: &str| {
        let rows = play(trace).rows;
        let reasons = rows.iter().map(|row| row.verdict.reason);
        reasons
            .filter(|&reason| reason == Some(Reason::Unneeded))
            .count()
    };
    assert_eq!(unneeded(&trace), 0);
    assert_eq!(play(&trace).lost, [0, 3]);
    // What comes later did not wait with it: the receiver held that already.
    let later = trace
        .replace(
            "400 A>B data 1000..2000 ts 401",
            "405 A>B data 1000..2000 ts 405",
        )
        .replace(
            "400 A>B data 2000..3000 ts 401",
            "410 A>B data 2000..3000 ts 410",
        );
    assert_eq!(unneeded(&later), 2);
    // Nor was any of it needed where the echo is older than all of that.
    assert_eq!(unneeded(&trace.replace("ts 9/400", "ts 9/100")), 3);
}

#[test]
fn a_repeat_of_what_an_ack_stopped_at_was_needed_however_soon_the_next_one_comes() {
    // ACKs take 20 ms, but the last comes 5 after the third copy of 1100..2000. The one before had stopped there.
    let reason = |stopped: &str| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000 ack 0
             120 B>A ack 1000
             130 A>B data 1000..1100 ack 0
             131 A>B data 1100..2000 ack 0
             431 A>B data 1000..1100 ack 0
             432 A>B data 1100..2000 ack 0
             {stopped}
             1400 A>B data 1100..2000 ack 0
             1405 B>A ack 2000"
        )));
        seen.rows.last().unwrap().verdict.reason
    };
    assert_eq!(reason("1000 B>A ack 1100"), Some(Reason::Timeout));
    // What came as soon as the copies before passed, or just before the third, may have had another one behind it.
    for stopped in ["440 B>A ack 1100", "1390 B>A ack 1100"] {
        assert_eq!(reason(stopped), Some(Reason::Unneeded));
    }
}
