//! What was lost upstream above all that was seen, and what of a first flight is late.

use super::repeats::{MISSING, ends_with_new};
use super::*;
use crate::event::{Class, Reason};

#[test]
fn a_repair_with_sack_goes_on_above_all_that_arrived() {
    // Ids 3 and 7 were 1000..2000 and 5000..6000. The ACK at 153 tells of a packet emitted after both, so A repeats
    // the second, too, and goes on with new data at once: no timer, which would send one packet.
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             104 A>B data 4000..5000 id 6
             120 B>A ack 1000
             122 B>A ack 1000 sack 2000..3000
             123 B>A ack 1000 sack 2000..4000
             124 B>A ack 1000 sack 2000..5000
             133 A>B data 1000..2000 id 8
             153 B>A ack 5000
             164 A>B data 5000..6000 id 9
             165 A>B data 6000..7000 id 10
             185 B>A ack 7000",
        ),
        "100 new 0..1000 rtt 20 clean
         102 new 2000..3000 rtt 20 sack
         103 new 3000..4000 rtt 20 sack
         104 new 4000..5000 rtt 20 sack
         133 retransmission 1000..2000 fast upstream ip_id
         164 retransmission 5000..6000 fast upstream ip_id
         165 new 6000..7000 rtt 20 recovery",
    );
}

#[test]
fn a_handshake_that_a_timer_ended_says_nothing_of_how_long_repeats_take() {
    // The first SYN-ACK was lost before it came here, and the second echoes the first SYN. Id 6 was 3600..4500.
    let trace = |waited: &str| {
        format!(
            "0 B>A syn ts 100/0
             {waited} A>B syn ack 0 ts 7/100
             1210 B>A ack 0 ts 1310/7
             1220 A>B data 0..900 ack 0 ts 17/1310 id 2
             1221 A>B data 900..1800 ack 0 ts 17/1310 id 3
             1222 A>B data 1800..2700 ack 0 ts 17/1310 id 4
             1223 A>B data 2700..3600 ack 0 ts 17/1310 id 5
             1243 B>A ack 3600 ts 1343/17
             1700 A>B data 3600..4500 ack 0 ts 490/1343 id 7
             1720 B>A ack 4500 ts 1820/490"
        )
    };
    assert!(!ends_with_new(&trace("1000 B>A syn ts 1100/0\n1200")));
    // Where nothing was repeated the path may take as long as that.
    assert!(ends_with_new(&trace("1200")));
}

/// Round trips of 400 ms, which the smoothed one shows for long.
const SLOW: &str = "100 A>B data 0..1000 id 2
     500 B>A ack 1000
     510 A>B data 1000..2000 id 3
     910 B>A ack 2000
     920 A>B data 2000..3000 id 4
     1320 B>A ack 3000
     1330 A>B data 3000..4000 id 5
     1730 B>A ack 4000";

#[test]
fn a_queue_that_has_drained_delays_no_repeat() {
    // Then of 30: ids 7 and 9 were 5000..6000 and 7000..8000.
    let trace = format!(
        "{SLOW}
         2000 A>B data 4000..5000 id 6
         2002 A>B data 6000..7000 id 8
         2020 B>A ack 5000
         2022 B>A ack 5000 sack 6000..7000
         2032 A>B data 5000..6000 id 10
         2052 B>A ack 7000
         2062 A>B data 7000..8000 id 11"
    );
    assert!(!ends_with_new(&opened(&trace)));
}

#[test]
fn a_repeat_that_comes_late_takes_nothing_from_what_was_lost_above() {
    // Id 11 was 9000..10000; id 13 turns up, and was a repeat.
    let trace = format!(
        "{MISSING}
         190 A>B data 2000..3000 id 12
         191 A>B data 4000..5000 id 14
         192 A>B data 3000..4000 id 13
         212 B>A ack 9000
         230 A>B data 9000..10000 id 15"
    );
    assert!(!ends_with_new(&opened(&trace)));
    // Without a skipped one there is nothing that it could repeat.
    let none = trace
        .replace("id 12", "id 11")
        .replace("id 13", "id 12")
        .replace("id 14", "id 13")
        .replace("id 15", "id 14");
    assert!(ends_with_new(&opened(&none)));
}

#[test]
fn what_is_skipped_before_a_repair_beyond_what_is_repeated_below_was_new() {
    // Id 12 was 2000..3000, which alone is missing below the first repeat that came, so id 11 was 9000..10000, sent
    // before.
    let trace = |ids: [u16; 4]| {
        let [a, b, c, d] = ids;
        opened(&format!(
            "{MISSING}
             192 A>B data 3000..4000 id {a}
             193 A>B data 4000..5000 id {b}
             212 B>A ack 2000 sack 3000..9000
             222 A>B data 2000..3000 id {c}
             242 B>A ack 9000
             252 A>B data 9000..10000 id {d}"
        ))
    };
    assert!(!ends_with_new(&trace([13, 14, 15, 16])));
    // Where none was skipped beyond that, it is new.
    assert!(ends_with_new(&trace([12, 13, 14, 15])));
}

#[test]
fn ids_of_a_first_flight_tell_what_is_late_before_they_are_believed() {
    // Late for longer than it takes to ask for a repeat.
    let flight = "100 A>B data 2000..3000 id 4
         120 B>A ack 0 sack 2000..3000
         121 A>B data 4000..5000 id 6
         141 B>A ack 0 sack 4000..5000 sack 2000..3000
         142 A>B data 0..1000 id 2";
    let class_of_last = |trace: &str| {
        let rows = play(&opened(trace)).rows;
        rows.last().map(|row| row.verdict.class)
    };
    assert_eq!(class_of_last(flight), Some(Class::Reordered));
    // A repeat has a later one of a counter, and random numbers tell nothing.
    for id in ["id 7", "id 40000"] {
        let other = flight.replace("id 2", id);
        assert_ne!(class_of_last(&other), Some(Class::Reordered), "{id}");
    }
}

#[test]
fn a_latest_round_trip_that_was_short_makes_no_repeat_of_new_data_after_a_pause() {
    // The latest is of 30; id 8 was taken 50 ms before the data, at the earliest.
    let trace = format!(
        "{SLOW}
         2000 A>B data 4000..5000 id 6
         2020 B>A ack 5000
         2300 A>B ack 0 id 7
         2350 A>B data 5000..6000 id 9"
    );
    assert!(ends_with_new(&opened(&trace)));
    // Long enough before, it may have been these bytes.
    assert!(!ends_with_new(&opened(&trace.replace("2350 ", "2700 "))));
}

#[test]
fn after_a_timeout_two_packets_at_once_are_new_though_sack_is_there() {
    // Ids 3 and 7 were 1000..2000 and its first repeat. A timer repeats it again, and what is sent then before any
    // ACK is no repeat of a tail, of which there is one at a time.
    let trace = "100 A>B data 0..1000 id 2
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         104 A>B data 4000..5000 id 6
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         123 B>A ack 1000 sack 2000..4000
         124 B>A ack 1000 sack 2000..5000
         500 A>B data 1000..2000 id 8
         520 B>A ack 5000
         531 A>B data 5000..6000 id 9
         532 A>B data 6000..7000 id 10";
    let classes: Vec<Class> = play(&opened(trace))
        .rows
        .iter()
        .map(|row| row.verdict.class)
        .collect();
    assert_eq!(
        classes[4..],
        [Class::Retransmission, Class::New, Class::New]
    );
}

#[test]
fn a_repeat_of_more_than_the_last_segment_is_no_probe() {
    // RFC 8985 section 7.3: a probe is the last segment; two of them in one packet come from a timer.
    let trace = |repeat: &str| {
        opened(&format!(
            "100 A>B data 0..500
             101 A>B data 500..1000
             700 A>B data {repeat}
             720 B>A ack 1000"
        ))
    };
    let reason = |trace: &str| play(trace).rows.last().and_then(|row| row.verdict.reason);
    assert_eq!(reason(&trace("500..1000")), Some(Reason::TailProbe));
    assert_eq!(reason(&trace("600..1000")), Some(Reason::TailProbe));
    assert_eq!(reason(&trace("0..1000")), Some(Reason::Timeout));
}

#[test]
fn ids_of_a_silence_that_a_timer_ends_were_the_timers_repeats_as_far_as_they_can_have_been() {
    // RFC 6298 section 5: the timers of 200, 600, 1400 and 3000 ms repeat the lowest segment that A holds for lost, as
    // B's ACK did not come, and a probe may have been before them. So nothing was sent above 1000 before the ACK of
    // 3220 came.
    let trace = |skipped: u16| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             122 B>A ack 3000
             3200 A>B data 1000..2000 id {}
             3220 B>A ack 3000 sack 1000..2000
             3240 A>B data 3000..4000 id {}",
            5 + skipped,
            6 + skipped
        ))
    };
    assert!(ends_with_new(&trace(3)));
    // More than that were not repeated by timers.
    assert!(!ends_with_new(&trace(9)));
}

#[test]
fn a_segment_without_payload_tells_that_nothing_was_sent_above_its_number() {
    // RFC 9293 section 3.10.7.4: id 3 was no data, or A's number would be higher; a keep-alive's is one below (3.8.4).
    let trace = |told: &str| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             121 B>A ack 1000
             400 A>B data 1000..2000 id 6
             420 B>A ack 2000
             5000 A>B {told} ack 0 id 7
             9000 A>B data 2000..3000 id 8"
        ))
    };
    assert!(ends_with_new(&trace("at 2000")));
    assert!(ends_with_new(&trace("at 1999")));
    assert!(!ends_with_new(&trace("at 1000")));
}

#[test]
fn a_late_frame_of_several_packets_gives_back_all_their_ids() {
    // Frames of three packets each, as network cards merge them; the third comes behind the fifth.
    let trace = opened(
        "100 A>B data 0..3000 id 2
         101 A>B data 3000..6000 id 5
         103 A>B data 9000..12000 id 11
         104 A>B data 12000..15000 id 14
         105 A>B data 6000..9000 id 8
         106 A>B data 15000..18000 id 17
         126 B>A ack 18000",
    );
    assert_eq!(play(&trace).state.skipped_packets, 0);
    // Where it never comes, and before ids are known to count.
    let lost = trace.replace("105 A>B data 6000..9000 id 8", "");
    let lost = lost.replace("ack 18000", "ack 6000");
    assert_eq!(play(&lost).state.skipped_packets, 3);
    let early = opened(
        "100 A>B data 0..3000 id 2
         103 A>B data 6000..9000 id 8
         105 A>B data 3000..6000 id 5
         106 A>B data 9000..12000 id 11
         107 A>B data 12000..15000 id 14
         126 B>A ack 15000",
    );
    assert_eq!(play(&early).state.skipped_packets, 0);
}

#[test]
fn a_tail_that_is_lost_with_its_first_repeat_asked_for_a_round_trip_later_was_new() {
    // 1000..2000, 3000..4000 and the tail 7000..8000, id 9, are lost before they come here. The ACK at 121 is the first
    // to tell of any; the first repeat comes as soon as it can, so what was skipped before it was no repeat.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 2000..3000 id 4
         102 A>B data 4000..5000 id 6
         103 A>B data 5000..6000 id 7
         104 A>B data 6000..7000 id 8
         120 B>A ack 1000
         121 B>A ack 1000 sack 2000..3000
         122 B>A ack 1000 sack 4000..5000 sack 2000..3000
         123 B>A ack 1000 sack 4000..6000 sack 2000..3000
         124 B>A ack 1000 sack 4000..7000 sack 2000..3000
         134 A>B data 1000..2000 id 10
         135 A>B data 3000..4000 id 11
         154 B>A ack 3000 sack 4000..7000
         155 B>A ack 7000
         166 A>B data 7000..8000 id 12",
    );
    let rows = play(&trace).rows;
    let last = rows.last().map(|row| (row.verdict.class, row.verdict.lost));
    assert_eq!(
        last,
        Some((Class::Retransmission, Some(LossPlace::Upstream)))
    );
}

#[test]
fn the_number_of_an_ack_tells_what_was_sent_before_it() {
    // RFC 9293 section 3.10.7.4: without payload, too, a segment carries SND.NXT. Neither ids nor clocks are needed.
    let trace = "100 A>B data 0..1000
         120 B>A data 0..500 ack 1000
         125 A>B at 3000 ack 500
         340 A>B data 1000..2000 ack 500
         341 A>B data 2000..3000 ack 500
         361 B>A ack 3000
         371 A>B data 3000..4000 ack 500
         391 B>A ack 4000";
    check(
        &opened(trace),
        "100 new 0..1000 rtt 20 clean
         340 retransmission 1000..2000 timeout upstream
         341 retransmission 2000..3000 timeout upstream
         371 new 3000..4000 rtt 20 clean",
    );
    // What the ACK overtook comes at once.
    let late = trace
        .replace("340 A>B", "126 A>B")
        .replace("341 A>B", "127 A>B");
    let rows = play(&opened(&late)).rows;
    assert!(rows.iter().all(|row| row.verdict.class == Class::New));
    // Nor is what an ACK overtook by long sent again: its clock is older.
    let old = opened(
        "100 A>B data 0..1000 ts 10/1
         120 B>A data 0..500 ack 1000 ts 2/10
         125 A>B at 2000 ack 500 ts 30/2
         340 A>B data 1000..2000 ack 500 ts 20/2",
    );
    let rows = play(&old).rows;
    assert!(rows.iter().all(|row| row.verdict.class == Class::New));
    // The number behind a FIN is no byte.
    let ended = opened(
        "100 A>B data 0..1000 id 2
         101 A>B fin at 1000 id 3
         121 B>A fin ack 1001
         122 A>B at 1001 ack 1 id 4",
    );
    assert_eq!(play(&ended).state.skipped_packets, 0);
}

#[test]
fn a_probe_of_a_short_last_segment_counts_as_one_packet() {
    // Ids 6 to 8 were 4000..6600, of which the last is repeated first, above two that are missing; then new data.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         123 B>A ack 4000
         190 A>B data 6000..6600 id 9
         210 B>A ack 4000 sack 6000..6600
         220 A>B data 4000..5000 id 10
         240 B>A ack 5000 sack 6000..6600
         250 A>B data 5000..6000 id 11
         270 B>A ack 6600
         280 A>B data 6600..7600 id 12
         300 B>A ack 7600",
    );
    let seen = play(&trace);
    let repeats = seen
        .rows
        .iter()
        .filter(|row| row.verdict.class == Class::Retransmission);
    assert_eq!(repeats.count(), 3);
    assert_eq!(
        seen.rows.last().map(|row| row.verdict.class),
        Some(Class::New)
    );
    assert_eq!(seen.state.skipped_packets, 3);
}

#[test]
fn what_is_sent_before_any_ack_of_a_timers_packet_is_new_by_what_it_echoes() {
    // Others took ids 6 to 9 in a pause. What was sent next echoes what came before the ACK at 260.
    let next = |echo: u32, at: u32| {
        format!(
            "100 A>B data 0..1000 id 2 ts 100/30
             101 A>B data 1000..2000 id 3 ts 101/30
             102 A>B data 2000..3000 id 4 ts 102/30
             122 B>A ack 3000 ts 122/102
             140 A>B data 3000..4000 id 5 ts 140/122
             160 B>A ack 4000 ts 160/140
             240 A>B data 4000..5000 id 10 ts 240/160
             260 B>A ack 5000 ts 260/240
             {at} A>B data 5000..6000 id 11 ts {at}/{echo}"
        )
    };
    let classes = |trace: &str| {
        let rows = play(&opened(trace)).rows;
        [rows[4].verdict.class, rows[5].verdict.class]
    };
    assert_eq!(classes(&next(160, 262)), [Class::New; 2]);
    assert_eq!(classes(&next(260, 271)), [Class::Retransmission; 2]);
}

#[test]
fn what_was_lost_with_a_tail_is_repeated_when_its_first_packet_is_acknowledged() {
    // Requests with pauses between them, in which ids 5 to 10 are skipped: more than timers can have taken.
    let next = |at: u32, id: u32| {
        format!(
            "100 A>B data 0..1000 id 2
             120 B>A ack 1000
             200 A>B data 1000..2000 id 3
             220 B>A ack 2000
             300 A>B data 2000..3000 id 4
             320 B>A ack 3000
             900 A>B data 3000..4000 id 11
             920 B>A ack 4000
             {at} A>B data 4000..5000 id {id}"
        )
    };
    let class = |trace: &str| play(&opened(trace)).rows[3].verdict.class;
    assert_eq!(class(&next(1500, 12)), Class::New);
    // The rest of a flight that was lost follows.
    assert_eq!(class(&next(930, 12)), Class::Retransmission);
}

#[test]
fn what_was_lost_before_the_first_id_counts_beside_what_was_skipped_later() {
    // 0..3000 was lost before here, and id 11, a repeat of 1000..2000, too.
    let state = play(
        "0 B>A syn
         10 A>B syn ack 0
         20 B>A ack 0
         100 A>B data 3000..4000 id 9
         120 B>A ack 0 sack 3000..4000
         140 A>B data 0..1000 id 10
         141 A>B data 2000..3000 id 12
         160 B>A ack 1000 sack 3000..4000
         161 B>A ack 1000 sack 2000..4000
         400 A>B data 1000..2000 id 13
         420 B>A ack 4000",
    )
    .state;
    assert_eq!(state.skipped_packets, 4);
}

#[test]
fn one_id_more_than_what_a_fin_leaves_out_was_that_of_its_first_copy() {
    let skipped = |fin_id: u32| {
        let trace = format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             122 B>A ack 3000
             300 A>B at 4000 fin id {fin_id}
             320 B>A ack 3000 sack 4000..4001
             330 A>B data 3000..4000 id {}
             350 B>A ack 4001",
            fin_id + 1
        );
        play(&opened(&trace)).state.skipped_packets
    };
    assert_eq!([6, 7, 8].map(skipped), [1, 1, 3]);
}

#[test]
fn an_id_skipped_between_repeats_was_a_repeat_of_what_is_lost_behind_here() {
    // 1000..4000 passed and was lost. Of the repeats id 11 never came: A sends new data, and repeats once more.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         100 A>B data 1000..2000 id 3
         100 A>B data 2000..3000 id 4
         100 A>B data 3000..4000 id 5
         101 A>B data 4000..5000 id 6
         101 A>B data 5000..6000 id 7
         101 A>B data 6000..7000 id 8
         101 A>B data 7000..8000 id 9
         120 B>A ack 1000
         121 B>A ack 1000 sack 4000..5000
         121 B>A ack 1000 sack 4000..6000
         121 B>A ack 1000 sack 4000..7000
         121 B>A ack 1000 sack 4000..8000
         131 A>B data 1000..2000 id 10
         132 A>B data 3000..4000 id 12
         151 B>A ack 2000 sack 4000..8000
         152 B>A ack 2000 sack 3000..8000
         161 A>B data 8000..9000 id 13
         162 A>B data 2000..3000 id 14
         181 B>A ack 2000 sack 3000..9000
         182 B>A ack 9000",
    );
    let rows = play(&trace).rows;
    let classes: Vec<Class> = rows
        .iter()
        .rev()
        .take(2)
        .map(|row| row.verdict.class)
        .collect();
    assert_eq!(classes, [Class::Retransmission, Class::New]);
}

#[test]
fn an_ack_that_cannot_have_come_to_the_sender_ends_no_silence() {
    // Ten ms to the sender and back: at 166 A has not heard of the delayed ACK at 160, so it is silent since 102, for
    // as long as a probe takes (RFC 8985 section 7.2). At 175 it may send something new.
    let rows = |at: &str| {
        play(&opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             120 B>A ack 1000
             121 B>A ack 2000
             160 B>A ack 3000
             {at} A>B data 3000..4000 id 6
             196 B>A ack 4000"
        )))
        .rows
    };
    assert_eq!(rows("166")[3].verdict.reason, Some(Reason::TailProbe));
    assert_eq!(rows("175")[3].verdict.class, Class::New);
}

#[test]
fn what_one_probe_repeated_does_not_wait_for_the_next() {
    // Each answer ends with a packet that is lost and comes 60 ms later, when a timer has repeated it.
    let rows = play(&opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         120 B>A ack 1000
         121 B>A ack 2000
         200 A>B data 2000..3000 id 4
         220 B>A ack 3000
         280 A>B data 3000..3500 id 6
         300 B>A data 0..200 ack 3500
         310 A>B data 3500..4500 ack 200 id 7
         311 A>B data 4500..5500 ack 200 id 8
         330 B>A ack 4500
         331 B>A ack 5500
         400 A>B data 5500..6000 ack 200 id 10
         420 B>A ack 6000",
    ))
    .rows;
    let repeats = rows
        .iter()
        .filter(|row| row.verdict.class == Class::Retransmission);
    assert!(repeats.map(|row| row.offset).eq([3000, 5500]));
}

#[test]
fn what_leaves_bytes_out_right_behind_a_repeat_is_new() {
    // Ids 4 to 9 were repeats and, last, 2000..3000. What is repeated is repeated in order, so what comes next above
    // that one, and was not sent before it, is new.
    let class = |id: u16| {
        let trace = format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             900 A>B data 0..1000 id 10
             920 B>A ack 1000
             931 A>B data 1000..2000 id 11
             932 A>B data 3000..4000 id {id}
             952 B>A ack 2000 sack 3000..4000"
        );
        play(&opened(&trace))
            .rows
            .last()
            .map(|row| row.verdict.class)
    };
    assert_eq!(class(12), Some(Class::New));
    // Where 2000..3000 was repeated just before, the repair goes on.
    assert_eq!(class(13), Some(Class::Retransmission));
}
