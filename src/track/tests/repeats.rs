//! Which repeat of what a packet is, where others were lost or came late (METRICS.md X2).

use super::{check, opened, play};
use crate::event::{Class, Reason};

#[test]
fn without_sack_a_partial_ack_asks_for_what_was_sent_just_before() {
    // Neither ids nor clocks nor SACK: 0..1000 is late on its way to B and repeated after three duplicate ACKs. It
    // comes before that repeat, and its ACK asks for what follows the three behind it, which passed 19 ms ago.
    let trace = |before: &str, after: &str| {
        format!(
            "0 A>B syn bare
             20 B>A syn bare ack 0
             30 A>B ack 0
             100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             121 B>A ack 0
             122 B>A ack 0
             123 B>A ack 0
             {before}
             133 A>B data 0..1000
             {after}
             135 B>A ack 4000
             145 A>B data 4000..5000"
        )
    };
    let more = "126 A>B data 4000..5000
             127 A>B data 5000..6000";
    let class = |trace: &str| play(trace).rows[7].verdict.class;
    assert_eq!(class(&trace(more, "")), Class::Retransmission);
    // SACK would have told what is missing (RFC 6675 section 5).
    let with_sack = trace(more, "").replace(" bare", "");
    assert_eq!(class(&with_sack), Class::Duplicate);
    // No partial ACK asks for what was sent since the repair began.
    let later = more.replace("126", "134").replace("127", "134");
    assert_eq!(class(&trace("", &later)), Class::Duplicate);
}

#[test]
fn each_late_original_of_a_repeat_of_several_is_told_by_itself() {
    // Three small packets are late, and are repeated as one (RFC 9293 section 3.8.6): then each comes with a clock that
    // is older than the repeat's, though it is later than that of the one before.
    let trace = opened(
        "100 A>B data 0..1000 ts 100/0
         110 A>B data 1300..2300 ts 110/0
         120 B>A ack 1000 ts 900/100
         130 B>A ack 1000 sack 1300..2300 ts 910/100
         145 A>B data 1000..1300 ts 145/910
         146 A>B data 1000..1100 ts 102/0
         147 A>B data 1100..1200 ts 104/0
         148 A>B data 1200..1300 ts 106/0
         165 B>A ack 2300 ts 945/145",
    );
    check(
        &trace,
        "100 new 0..1000 rtt 20 clean
         110 new 1300..2300 rtt 20 sack
         145 retransmission 1000..1300 unneeded seen_before
         146 reordered 1000..1100 tsval
         147 reordered 1100..1200 tsval
         148 reordered 1200..1300 tsval",
    );
    assert_eq!(play(&trace).lost, [0, 0]);
}

#[test]
fn new_data_among_repeats_of_a_timer_leaves_them_in_order() {
    // Without SACK: id 3 was 1000..2000, and 5 to 7 were 3000..6000, lost before they came here. After the first ACK A
    // tries two packets of new data (RFC 5682 section 2.1), and then repeats all in order: so 12 to 14 were 3000..6000
    // again, and carried nothing that is above 9000.
    let trace = "0 A>B syn bare id 0
         20 B>A syn bare ack 0
         30 A>B ack 0 id 1
         100 A>B data 0..1000 id 2
         102 A>B data 2000..3000 id 4
         106 A>B data 6000..7000 id 8
         120 B>A ack 1000
         122 B>A ack 1000
         126 B>A ack 1000
         400 A>B data 1000..2000 id 9
         420 B>A ack 3000
         430 A>B data 7000..8000 id 10
         431 A>B data 8000..9000 id 11
         435 A>B data 6000..7000 id 15
         451 B>A ack 3000
         480 A>B data 9000..10000 id 16";
    let last = play(trace).rows.last().map(|row| row.verdict.class);
    assert_eq!(last, Some(Class::New));
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
    let trace = "0 A>B syn bare
         20 B>A syn ack 0 bare
         30 A>B ack 0 id 0
         80 A>B data 0..1000 id 1
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
    let without_sack = |trace: String| {
        format!("0 A>B syn bare\n20 B>A syn ack 0 bare\n30 A>B ack 0 id 1\n{trace}")
    };
    assert!(ends_with_new(&without_sack(trace([""; 3]))));
    // Where the sender has not been told so clearly, id 10 may have been 8000..9000.
    let untold = trace(["", "", ""]).replace("126 B>A ack 4000", "");
    assert!(!ends_with_new(&without_sack(untold)));
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
fn what_lies_between_two_repeats_is_one_that_was_overtaken() {
    // Ids 4 to 8 were lost with 2000..7000, and a timer repeats all; id 11 overtakes id 10.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         121 B>A ack 2000
         500 A>B data 2000..3000 id 9
         520 B>A ack 3000
         531 A>B data 4000..5000 id 11
         532 A>B data 3000..4000 id 10",
    );
    let repeats = |trace: &str| {
        let rows = play(trace).rows;
        let classes = rows[2..].iter().map(|row| row.verdict.class);
        classes
            .map(|class| class == Class::Retransmission)
            .collect()
    };
    let all: Vec<bool> = repeats(&trace);
    assert_eq!(all, [true, true, true]);
    // Sent before the timer ran out, it is the first copy.
    let late: Vec<bool> = repeats(&trace.replace("3000..4000 id 10", "3000..4000 id 5"));
    assert_eq!(late, [true, true, false]);
}

#[test]
fn a_repeat_that_goes_on_with_new_data_is_one_sample() {
    // Before any other ACK; and where the receiver takes its new part later.
    let at_once = "150 B>A ack 1500 ts 900/130";
    let in_parts = "150 B>A ack 1000 ts 900/130
         160 B>A ack 1500 ts 910/130";
    for acks in [at_once, in_parts] {
        let seen = play(&format!(
            "100 A>B data 0..1000 ts 100/0
             130 A>B data 0..1500 ts 130/0
             {acks}"
        ));
        assert_eq!(seen.rtts_ms, [20], "{acks}");
        assert_eq!(seen.rows[1].rtt.map(|(ns, _)| ns), Some(20_000_000));
    }
}

/// At the sender: a timer makes it repeat all, of which the receiver lacked 0..1000 alone; no ids, clocks or SACK.
const ALL_REPEATED: &str = " 0 A>B syn bare
     20 B>A syn bare ack 0
     21 A>B ack 0
     100 A>B data 0..1000
     101 A>B data 1000..2000
     102 A>B data 2000..3000
     103 A>B data 3000..4000
     400 A>B data 0..1000
     401 A>B data 1000..2000
     402 A>B data 2000..3000
     403 A>B data 3000..4000
     420 B>A ack 4000";

#[test]
fn three_duplicate_acks_ask_for_what_was_sent_within_a_round_trip_before_them() {
    // The ACKs at 422 to 424 answer repeats that were not needed, but the sender cannot know that of them.
    let trace = format!(
        "{ALL_REPEATED}
         421 A>B data 4000..5000
         422 B>A ack 4000
         423 B>A ack 4000
         424 B>A ack 4000
         425 A>B data 4000..5000"
    );
    let last_class = |trace: &str| play(trace).rows.last().map(|row| row.verdict.class);
    assert_eq!(last_class(&trace), Some(Class::Retransmission));
    // Two do not ask for it: it is the network's copy.
    let two = trace.replace("424 B>A ack 4000", "424 B>A ack 4000 win 400");
    assert_eq!(last_class(&two), Some(Class::Duplicate));
    // So is what follows the answer to the third one.
    let answered = format!("{trace}\n 428 A>B data 4000..5000");
    assert_eq!(last_class(&answered), Some(Class::Duplicate));
}

#[test]
fn a_timer_that_runs_out_within_a_round_trip_of_a_fast_repeat_brings_another_one() {
    // The timer runs from the ACK at 120 on (RFC 6298 section 5): the repeat that was asked for does not stop it.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         104 A>B data 4000..5000
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         123 B>A ack 1000 sack 2000..4000
         284 B>A ack 1000 sack 2000..5000
         294 A>B data 1000..2000
         319 A>B data 1000..2000",
    );
    let seen = |trace: &str| {
        let last = play(trace).rows.last().map(|row| row.verdict);
        last.map(|verdict| (verdict.class, verdict.reason))
    };
    let timeout = (Class::Retransmission, Some(Reason::Timeout));
    assert_eq!(seen(&trace), Some(timeout));
    // Before the timer can have run out it is the network's copy, as nothing is repeated twice within a round trip.
    let copied = trace
        .replace("319 A>B", "295 A>B")
        .replace("294 A>B", "290 A>B");
    assert_eq!(seen(&copied), Some((Class::Duplicate, None)));
}

#[test]
fn new_data_in_one_burst_takes_back_no_more_than_a_timers_first_repeat() {
    // The ACK at 520 opens the window again, so that new data follows what the timer brings next.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         104 A>B data 4000..5000
         121 B>A ack 0 sack 1000..2000
         124 B>A ack 0 sack 3000..5000 sack 1000..2000
         500 A>B data 0..1000
         520 B>A ack 2000 sack 3000..5000
         530 A>B data 2000..3000
         531 A>B data 5000..6000",
    );
    check(
        &trace,
        "100 new 0..1000
         101 new 1000..2000 rtt 20 sack
         102 new 2000..3000
         103 new 3000..4000 rtt 21 sack
         104 new 4000..5000 rtt 20 sack
         500 retransmission 0..1000 timeout downstream seen_before
         530 retransmission 2000..3000 timeout downstream seen_before
         531 new 5000..6000",
    );
}

#[test]
fn packets_that_are_repeated_with_parts_of_the_next_are_lost_once_each() {
    // Three of 972 bytes, as options left room for, come again in full ones, sooner than answers took before: what the first
    // repeat has of the second packet may be on its way still, and its rest is repeated next.
    let slow = |n: u32| {
        let (at, end) = (100 + 70 * n, 100 * (n + 1));
        format!(
            "{at} A>B data {}..{end} ack 0\n{} B>A ack {end}\n",
            end - 100,
            at + 60
        )
    };
    let slow: Vec<String> = (0..10).map(slow).collect();
    let lost = |end: u32| {
        let trace = opened(&format!(
            "{}
             900 A>B data 1000..1972 ack 0
             901 A>B data 1972..2944 ack 0
             902 A>B data 2944..3916 ack 0
             903 A>B data 3916..4888 ack 0
             925 B>A ack 1000 sack 3916..4888
             936 A>B data 1000..2000 ack 0
             936 A>B data 2000..3000 ack 0
             936 A>B data 3000..{end} ack 0",
            slow.concat()
        ));
        play(&trace).lost[1]
    };
    assert_eq!(lost(3916), 3);
    // Nothing was repeated twice.
    assert_eq!(lost(3500), 3);
}
