//! What was lost upstream while older losses were being repaired.

use super::*;
use crate::event::{Class, Confidence, Evidence};

#[test]
fn an_id_skipped_while_an_ack_is_owed_was_a_repeats_where_one_was_due() {
    // 1000..4000 was lost. A repeats in order, so id 11 repeated 2000..3000, whatever B had sent meanwhile.
    let trace = "100 A>B data 0..1000 id 2
         100 A>B data 4000..5000 id 6
         101 A>B data 5000..6000 id 7
         102 A>B data 6000..7000 id 8
         103 A>B data 7000..8000 id 9
         120 B>A data 0..500 ack 1000
         121 B>A data 500..1000 ack 1000 sack 4000..6000
         122 B>A data 1000..1500 ack 1000 sack 4000..7000
         123 B>A data 1500..2000 ack 1000 sack 4000..8000
         133 A>B data 1000..2000 ack 2000 id 10
         135 B>A data 2000..2500 ack 1000 sack 4000..8000
         145 A>B data 3000..4000 ack 2500 id 12
         165 B>A ack 2000 sack 3000..8000
         175 A>B data 2000..3000 ack 2500 id 13
         195 B>A ack 8000";
    let skipped = |trace: &str| play(&opened(trace)).state.skipped_packets;
    assert_eq!(skipped(trace), 4);
    // Where the repeat came, what was skipped behind it was an ACK.
    let came = trace
        .replace("135 B>A", "134 A>B data 2000..3000 ack 2000 id 11\n135 B>A")
        .replace("id 12", "id 13")
        .replace("165 B>A ack 2000", "165 B>A ack 4000")
        .replace(
            "175 A>B data 2000..3000 ack 2500 id 13",
            "175 A>B data 8000..9000 ack 2500 id 14",
        )
        .replace("ack 8000", "ack 9000");
    assert_eq!(skipped(&came), 3);
}

/// Id 3 was 1000..2000, which is repeated as `last`, after id 7 was skipped.
fn lost_before(last: &str) -> u64 {
    let trace = format!(
        "100 A>B data 0..1000 ack 0 id 2
         101 A>B data 2000..3000 ack 0 id 4
         102 A>B data 3000..4000 ack 0 id 5
         103 A>B data 4000..5000 ack 0 id 6
         120 B>A data 0..500 ack 1000
         121 B>A data 500..1000 ack 1000 sack 2000..5000
         {last}
         420 B>A ack 5000"
    );
    play(&opened(&trace)).state.skipped_packets
}

#[test]
fn of_skipped_ids_no_more_are_acks_than_packets_came() {
    // None of B's packets has come to A, one has, or both have: each takes one ACK at most (RFC 5681 section 4.2).
    assert_eq!(lost_before("400 A>B data 1000..2000 ack 0 id 8"), 2);
    assert_eq!(lost_before("400 A>B data 1000..2000 ack 500 id 8"), 1);
    assert_eq!(lost_before("400 A>B data 1000..2000 ack 500 id 9"), 2);
    assert_eq!(lost_before("400 A>B data 1000..2000 ack 1000 id 9"), 1);
    // An ACK without payload is one of those.
    let with_ack = |ack| format!("399 A>B ack {ack} id 8\n400 A>B data 1000..2000 ack {ack} id 9");
    assert_eq!(lost_before(&with_ack(500)), 2);
    assert_eq!(lost_before(&with_ack(1000)), 1);
    // What reports by SACK may leave out how many came before.
    let sack = "400 A>B data 1000..2000 ack 0 sack 500..1000 id 8";
    assert_eq!(lost_before(sack), 1);
}

#[test]
fn ids_skipped_while_an_ack_is_owed_may_be_those_of_other_connections() {
    // More at once than a sender sends after a silence (RFC 6928): id 3 alone was this connection's.
    assert_eq!(lost_before("400 A>B data 1000..2000 ack 0 id 18"), 1);
    // Ids 6 to 8 were others', as nothing is missing there and nobody had asked for a repeat: so may id 10 have been.
    let skips_often = "100 A>B data 0..1000 ack 0 id 2
         101 A>B data 2000..3000 ack 0 id 4
         102 A>B data 3000..4000 ack 0 id 5
         103 A>B data 4000..5000 ack 0 id 9
         120 B>A data 0..500 ack 1000
         121 B>A data 500..1000 ack 1000 sack 2000..5000
         400 A>B data 1000..2000 ack 0 id 11
         420 B>A ack 5000";
    assert_eq!(play(&opened(skips_often)).state.skipped_packets, 1);
}

#[test]
fn an_ack_that_comes_late_was_none_of_what_was_lost() {
    let late = "400 A>B data 1000..2000 ack 1000 id 8
         401 A>B ack 500 id 7";
    assert_eq!(lost_before(late), 1);
}

#[test]
fn a_repeat_that_goes_back_comes_when_all_above_has_been_repeated() {
    // 0..4000 was lost before the first id. Of the repeats id 12 was lost, which the SACK at 153 tells, and 14 and 15.
    let rows = play(
        "0 A>B syn
         20 B>A syn ack 0
         30 A>B ack 0
         100 A>B data 4000..5000 id 9
         101 A>B data 5000..6000 id 10
         102 A>B data 6000..7000 id 11
         120 B>A ack 0 sack 4000..5000
         121 B>A ack 0 sack 4000..6000
         122 B>A ack 0 sack 4000..7000
         133 A>B data 1000..2000 id 13
         153 B>A ack 0 sack 1000..2000 sack 4000..7000
         163 A>B data 0..1000 id 16
         183 B>A ack 2000 sack 4000..7000
         193 A>B data 2000..3000 id 17
         194 A>B data 3000..4000 id 18
         195 A>B data 7000..8000 id 19
         215 B>A ack 8000",
    )
    .rows;
    // So nothing above 7000 was lost.
    let last = rows.last().map(|row| row.verdict.class);
    assert_eq!(last, Some(Class::New));
}

#[test]
fn what_an_acks_number_tells_to_be_lost_counts_though_its_id_is_the_first() {
    // 0..3000 was lost, and id 11, a first repeat of 0..1000.
    let state = play(
        "0 A>B syn
         20 B>A syn ack 0
         30 A>B ack 0
         120 B>A data 0..500 ack 0
         125 A>B at 3000 ack 500 id 10
         600 A>B data 0..1000 ack 500 id 12
         620 B>A ack 1000
         630 A>B data 1000..2000 ack 500 id 13
         631 A>B data 2000..3000 ack 500 id 14
         651 B>A ack 3000
         661 A>B data 3000..4000 ack 500 id 15
         681 B>A ack 4000",
    )
    .state;
    assert_eq!(state.skipped_packets, 4);
}

#[test]
fn what_is_repeated_below_an_acks_number_is_none_of_what_ids_were_skipped_for_above() {
    // The ACK at 125 tells that 0..4000 was sent. After the timer at 340 two new packets test whether that
    // was needed (RFC 5682 section 2.1), ids 9 and 10, both lost: 4000..6000 is repeated when all below has been.
    check(
        "0 A>B syn
         20 B>A syn ack 0
         30 A>B ack 0
         120 B>A data 0..500 ack 0
         125 A>B at 4000 ack 500 id 7
         340 A>B data 0..1000 ack 500 id 8
         360 B>A ack 1000
         371 A>B data 1000..2000 ack 500 id 11
         391 B>A ack 2000
         401 A>B data 2000..3000 ack 500 id 12
         402 A>B data 3000..4000 ack 500 id 13
         422 B>A ack 4000
         432 A>B data 4000..5000 ack 500 id 14
         433 A>B data 5000..6000 ack 500 id 15
         453 B>A ack 6000
         463 A>B data 6000..7000 ack 500 id 16
         483 B>A ack 7000",
        "340 retransmission 0..1000 timeout upstream
         371 retransmission 1000..2000 timeout upstream
         401 retransmission 2000..3000 timeout upstream
         402 retransmission 3000..4000 timeout upstream
         432 retransmission 4000..5000 fast upstream ip_id
         433 retransmission 5000..6000 fast upstream ip_id
         463 new 6000..7000 rtt 20 clean",
    );
}

#[test]
fn reports_that_are_cut_off_tell_of_all_that_lacks_below_data_that_had_come() {
    // 1000..2000 and 3000..4000 are missing; three ACKs of which the options are cut off, longer than timestamps are,
    // say so.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 2000..3000
         102 A>B data 4000..5000
         103 A>B data 5000..6000
         104 A>B data 6000..7000
         120 B>A ack 1000 cut
         121 B>A ack 1000 cut long
         122 B>A ack 1000 cut long
         123 B>A ack 1000 cut long
         124 B>A ack 1000 cut long
         134 A>B data 1000..2000
         135 A>B data 3000..4000
         155 B>A ack 7000 cut",
    );
    let fills = |trace: &str| {
        let rows = play(trace).rows;
        let late = rows.iter().filter(|row| row.verdict.class != Class::New);
        late.map(|row| (row.verdict.class, row.verdict.confidence))
            .collect::<Vec<_>>()
    };
    let (repeat, low) = (Class::Retransmission, Confidence::Low);
    assert_eq!(fills(&trace), [(repeat, low); 2]);
    // What one report told, too shortly ago, its sender may have known from others.
    let few = trace
        .replace("122 B>A ack 1000 cut long", "")
        .replace("124 B>A ack 1000 cut long", "");
    let few = few.replace("123 B>A", "130 B>A");
    assert_eq!(fills(&few)[1], (Class::Ambiguous, low));
    // Without SACK, ACKs are no longer than they were.
    let plain = trace.replace(" long", "");
    let late = (Class::Reordered, Confidence::Medium);
    assert_eq!(fills(&plain)[1], late);
    // Nor where all are so long: signed ones (RFC 2385), or those of MPTCP.
    let signed = trace.replace(" long", "").replace(" cut", " cut long");
    assert_eq!(fills(&signed), fills(&plain));
}

#[test]
fn reports_that_are_cut_off_tell_of_nothing_that_lacks_since_a_little_while() {
    // As above, but nobody can have told of 3000..4000 when these ACKs passed: an answer takes 20 ms.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 2000..3000
         118 A>B data 4000..5000
         120 B>A ack 1000 cut
         121 B>A ack 1000 cut long
         122 B>A ack 1000 cut long
         134 A>B data 3000..4000
         135 A>B data 1000..2000",
    );
    let rows = play(&trace).rows;
    assert_eq!(rows[3].verdict.class, Class::Reordered);
    assert_ne!(rows[4].verdict.class, Class::Reordered);
}

#[test]
fn where_a_repair_goes_back_what_leaves_bytes_out_behind_that_is_repeated() {
    // Ids 6 to 8 were 4000..7000, and 12 was 4000..5000 once more, before the repair went back to 0..1000.
    let trace = "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         123 B>A ack 0 sack 3000..4000
         140 A>B data 0..1000 id 9
         140 A>B data 1000..2000 id 10
         140 A>B data 2000..3000 id 11
         161 B>A ack 0 sack 1000..4000
         172 A>B data 0..1000 id 13
         172 A>B data 5000..6000 id 14
         192 B>A ack 4000 sack 5000..6000";
    let last = play(&opened(trace)).rows.last().map(|row| row.verdict);
    let told = last.map(|verdict| (verdict.class, verdict.evidence));
    assert_eq!(told, Some((Class::Retransmission, Evidence::IpId)));
}

/// Whether each data packet from the one at `from` on is a retransmission.
fn repeats_from(from: i64, trace: &str) -> Vec<bool> {
    let rows = play(&opened(trace)).rows;
    let last = rows.iter().filter(|row| row.at.as_ns() >= from * 1_000_000);
    last.map(|row| row.verdict.class == Class::Retransmission)
        .collect()
}

#[test]
fn what_leaves_bytes_out_behind_a_lower_repeat_goes_on_with_the_tail_where_as_much_was_skipped() {
    // Ids 3 and 5 were 1000..2000 and 3000..4000, 7 to 10 were 5000..9000, 11 was 1000..2000 once more, and 14 is
    // 6000..7000.
    let trace = "100 A>B data 0..1000 id 2
         102 A>B data 2000..3000 id 4
         104 A>B data 4000..5000 id 6
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         124 B>A ack 1000 sack 4000..5000 sack 2000..3000
         135 A>B data 3000..4000 id 12
         155 B>A ack 1000 sack 2000..5000
         165 A>B data 5000..6000 id 13
         166 A>B data 1000..2000 id 15
         167 A>B data 7000..8000 id 16
         168 A>B data 8000..9000 id 17
         169 A>B data 9000..10000 id 18
         190 B>A ack 6000 sack 7000..10000";
    assert_eq!(repeats_from(165, trace), [true, true, true, true, false]);
    // Nothing was skipped behind the first of the tail: then what leaves bytes out is new.
    let none = trace
        .replace("id 15", "id 14")
        .replace("data 7000..8000 id 16", "data 9000..10000 id 15");
    assert_eq!(repeats_from(165, &none)[..3], [true, true, false]);
}

#[test]
fn of_what_is_skipped_before_a_repair_goes_back_only_what_lies_below_was_repeated() {
    // Ids 3 to 8 were 1000..7000, 14 to 19 those again, which A knows at 171, when 22 to 25, 13000..17000, are gone.
    // 26 is 1000..2000 once more.
    let trace = "100 A>B data 0..1000 id 2
         107 A>B data 7000..8000 id 9
         109 A>B data 9000..10000 id 11
         110 A>B data 10000..11000 id 12
         111 A>B data 11000..12000 id 13
         120 B>A ack 1000
         127 B>A ack 1000 sack 7000..8000
         129 B>A ack 1000 sack 9000..10000 sack 7000..8000
         130 B>A ack 1000 sack 9000..11000 sack 7000..8000
         131 B>A ack 1000 sack 9000..12000 sack 7000..8000
         141 A>B data 8000..9000 id 20
         142 A>B data 12000..13000 id 21
         161 B>A ack 1000 sack 7000..12000
         162 B>A ack 1000 sack 7000..13000
         172 A>B data 2000..3000 id 27
         173 A>B data 3000..4000 id 28
         174 A>B data 4000..5000 id 29
         175 A>B data 5000..6000 id 30
         176 A>B data 6000..7000 id 31
         192 B>A ack 1000 sack 2000..3000 sack 7000..13000
         193 B>A ack 1000 sack 2000..4000 sack 7000..13000
         194 B>A ack 1000 sack 2000..5000 sack 7000..13000
         195 B>A ack 1000 sack 2000..6000 sack 7000..13000
         196 B>A ack 1000 sack 2000..13000
         202 A>B data 1000..2000 id 32
         203 A>B data 13000..14000 id 33
         204 A>B data 14000..15000 id 34
         205 A>B data 15000..16000 id 35
         206 A>B data 16000..17000 id 36
         207 A>B data 17000..18000 id 37
         228 B>A ack 18000";
    assert_eq!(
        repeats_from(202, trace),
        [true, true, true, true, true, false]
    );
    // Later by more than a round trip of 30 ms, a round of repeats may have been lost in between, and nothing new.
    let late = trace.lines().map(|line| match line.trim().split_once(' ') {
        Some((at, rest)) if at > "160" => format!("{}{} {rest}", "1", at),
        _ => line.into(),
    });
    let late = late.collect::<Vec<_>>().join("\n");
    assert_eq!(
        repeats_from(1203, &late),
        [false, false, false, false, false]
    );
}

#[test]
fn of_what_is_skipped_behind_new_data_only_what_was_lost_below_was_repeated() {
    // Id 3 was 1000..2000, 5 to 7 were 3000..6000, which A knows from 163 on, and 11 to 14 are 8000..12000.
    let trace = "100 A>B data 0..1000 id 2
         102 A>B data 2000..3000 id 4
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         133 A>B data 6000..7000 id 8
         134 A>B data 1000..2000 id 9
         153 B>A ack 1000 sack 6000..7000 sack 2000..3000
         155 A>B data 7000..8000 id 10
         166 A>B data 3000..4000 id 15
         167 A>B data 4000..5000 id 16
         168 A>B data 5000..6000 id 17
         170 B>A ack 3000 sack 6000..8000
         186 B>A ack 4000 sack 6000..8000
         197 A>B data 8000..9000 id 18
         198 A>B data 9000..10000 id 19
         199 A>B data 10000..11000 id 20
         200 A>B data 11000..12000 id 21
         201 A>B data 12000..13000 id 22
         222 B>A ack 13000";
    assert_eq!(repeats_from(197, trace), [true, true, true, true, false]);
}

#[test]
fn ids_skipped_before_the_first_repeat_of_a_hole_are_of_a_lost_tail_unless_that_may_be_the_second()
{
    // Ids 3 to 6 were 1000..5000, and 8 was 6000..6500. The queue on the way here grows.
    let asked = "125 B>A ack 1000 sack 5000..6000";
    let trace = |asked: &str| {
        format!(
            "100 A>B data 0..1000 id 2
             105 A>B data 5000..6000 id 7
             {asked}
             190 A>B data 1000..2000 id 9
             191 A>B data 2000..3000 id 10
             192 A>B data 3000..4000 id 11
             193 A>B data 4000..5000 id 12
             210 B>A ack 2000 sack 5000..6000
             211 B>A ack 3000 sack 5000..6000
             212 B>A ack 4000 sack 5000..6000
             213 B>A ack 6000
             280 A>B data 6000..6500 id 13"
        )
    };
    let expected = |last: bool| [true, true, true, true, last];
    assert_eq!(repeats_from(190, &trace(asked)), expected(true));
    // What was sent since may have been reported by then, which tells that a first repeat, id 8, was lost.
    let again = format!("{asked}\n155 B>A ack 1000 sack 5000..6000");
    assert_eq!(repeats_from(190, &trace(&again)), expected(false));
    // So it is where clocks tell that what was lost has waited for long.
    let stamped = "100 A>B data 0..1000 id 2 ts 100/90
         105 A>B data 5000..6000 id 7 ts 105/90
         125 B>A ack 1000 sack 5000..6000 ts 125/100
         190 A>B data 1000..2000 id 9 ts 180/125
         191 A>B data 2000..3000 id 10 ts 180/125
         192 A>B data 3000..4000 id 11 ts 180/125
         193 A>B data 4000..5000 id 12 ts 180/125
         213 B>A ack 6000 ts 213/180
         280 A>B data 6000..6500 id 13 ts 270/213";
    assert_eq!(repeats_from(190, stamped), expected(true));
}

#[test]
fn what_is_known_to_be_missing_above_is_repeated_before_a_repair_goes_back() {
    // Ids 3, 5 and 7 were 1000..2000, 3000..4000 and 5000..6000, 9 was 1000..2000 again, and 12 is 5000..6000.
    let trace = "100 A>B data 0..1000 id 2
         102 A>B data 2000..3000 id 4
         104 A>B data 4000..5000 id 6
         106 A>B data 6000..7000 id 8
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         124 B>A ack 1000 sack 4000..5000 sack 2000..3000
         126 B>A ack 1000 sack 6000..7000 sack 4000..5000 sack 2000..3000
         135 A>B data 3000..4000 id 10
         136 A>B data 7000..8000 id 11
         155 B>A ack 1000 sack 2000..5000 sack 6000..7000
         166 A>B data 1000..2000 id 13
         186 B>A ack 5000 sack 6000..8000
         197 A>B data 5000..6000 id 14
         198 A>B data 8000..9000 id 15
         219 B>A ack 9000";
    assert_eq!(repeats_from(166, trace), [true, true, false]);
}

#[test]
fn a_timers_repair_goes_on_above_all_that_was_seen_though_a_hole_came_first() {
    // Id 4 was 2000..3000. The path fails: id 8 was that again, and 9 to 15 were 6000..13000. The ACK of what a timer
    // brings at 400 lets two packets go.
    let trace = |skipped: u32| {
        let id = |packet: u32| 8 + skipped + packet;
        let rest = |packet: u32| {
            let (start, at) = (8000 + 1000 * packet, 461 + packet);
            let id = id(packet + 3);
            format!("{at} A>B data {start}..{} id {id}\n", start + 1000)
        };
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 3000..4000 id 5
             103 A>B data 4000..5000 id 6
             104 A>B data 5000..6000 id 7
             121 B>A ack 2000
             122 B>A ack 2000 sack 3000..4000
             123 B>A ack 2000 sack 3000..5000
             124 B>A ack 2000 sack 3000..6000
             400 A>B data 2000..3000 id {}
             420 B>A ack 6000
             430 A>B data 6000..7000 id {}
             431 A>B data 7000..8000 id {}
             451 B>A ack 8000
             {}
             490 B>A ack 14000",
            id(0),
            id(1),
            id(2),
            (0..6).map(rest).collect::<String>()
        ))
    };
    let last_repeated = |trace: &str| {
        let rows = play(trace).rows;
        let repeats = rows
            .iter()
            .filter(|row| row.verdict.class == Class::Retransmission);
        repeats
            .map(|row| row.offset + i64::from(row.payload_len))
            .max()
    };
    let repeated = |skipped: u32| {
        let trace = trace(skipped);
        (last_repeated(&trace), play(&trace).recoveries)
    };
    assert_eq!(repeated(8), (Some(13000), vec!["400..490 timeout".into()]));
    // One was 2000..3000 again, as it was asked for: nobody probes while SACK tells of losses (RFC 8985 section 7.2), nor
    // had another timer run out. So two were 6000..8000.
    assert_eq!(repeated(3).0, Some(8000));
    assert_eq!(repeated(1), (Some(3000), vec!["400..420 timeout".into()]));
    // Where nothing told it of a loss they may all have been new, which it tries (RFC 5682 section 2.1).
    let untold = trace(3);
    let untold: Vec<&str> = untold
        .lines()
        .filter(|line| !line.contains("sack"))
        .collect();
    assert_eq!(last_repeated(&untold.join("\n")), Some(3000));
}

#[test]
fn what_a_timer_gave_up_goes_on_though_its_sender_had_not_heard_that_all_that_came_is_acknowledged()
{
    // The path fails: ids 8 to 15 were 6000..14000. The way back had failed before, so that the timer repeats what has been
    // acknowledged here, and the ACK of that asks for 4000, which closes the last gap.
    let rest = |packet: u32| {
        let (start, at) = (6000 + 1000 * packet, 441 + packet);
        let id = 18 + packet;
        format!(
            "{at} A>B data {start}..{} id {id} ts {}/304\n",
            start + 1000,
            at + 8
        )
    };
    let trace = opened(&format!(
        "100 A>B data 0..1000 id 2 ts 108/200
         101 A>B data 1000..2000 id 3 ts 109/200
         102 A>B data 2000..3000 id 4 ts 110/200
         103 A>B data 3000..4000 id 5 ts 111/200
         104 A>B data 5000..6000 id 7 ts 113/200
         121 B>A ack 1000 ts 221/108
         122 B>A ack 4000 ts 222/111
         124 B>A ack 4000 ts 224/111 sack 5000..6000
         404 A>B data 0..1000 id 16 ts 412/200
         420 B>A ack 4000 ts 304/111 sack 0..1000 sack 5000..6000
         440 A>B data 4000..5000 id 17 ts 448/304
         440 B>A ack 6000 ts 324/448
         {}
         490 B>A ack 14000 ts 374/457",
        (0..8).map(rest).collect::<String>()
    ));
    let seen = play(&trace);
    let repeats = |row: &&ClassifiedSegment| row.verdict.class == Class::Retransmission;
    let starts: Vec<i64> = seen
        .rows
        .iter()
        .filter(repeats)
        .map(|row| row.offset)
        .collect();
    let expected: Vec<i64> = [0, 4000]
        .into_iter()
        .chain((6..14).map(|start| 1000 * start))
        .collect();
    assert_eq!(starts, expected);
}

#[test]
fn without_timestamps_the_handshake_alone_tells_how_soon_a_sender_can_react() {
    // The ACK at 122 tells of the hole 2 ms before it is filled, and the handshake took 10 ms to the sender and back.
    let trace = opened(
        "100 A>B data 0..1000
         102 A>B data 2000..3000
         122 B>A ack 1000 sack 2000..3000
         124 A>B data 1000..2000",
    );
    let last = |trace: &str| {
        let row = play(trace).rows.last().map(|row| row.verdict);
        row.map(|verdict| (verdict.class, verdict.evidence, verdict.confidence))
    };
    let late = |confidence| Some((Class::Reordered, Evidence::Timing, confidence));
    assert_eq!(last(&trace), late(Confidence::Medium));
    // What opened the hole has no clock to compare with.
    let stamped = format!("{trace} ts 7/0");
    assert_eq!(last(&stamped), late(Confidence::High));
}
