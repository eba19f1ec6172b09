//! Packets that ids tell to have been lost, and those that they do not (METRICS.md X3).

use std::collections::BTreeSet;

use super::{opened, play};
use crate::event::Class;

/// Ten packets came with ids that count by one, of which one was lost and repeated after more ids were skipped. As many
/// as this sender may have lost count as lost (METRICS.md X3); more than twice what came were taken by others.
#[test]
fn ids_skipped_by_far_more_than_what_came_are_no_losses() {
    let after = |id: u32| {
        let first = (0..8).map(|n| {
            let (end, id) = (n + 1, n + 2);
            format!("10{n} A>B data {n}000..{end}000 id {id}")
        });
        let rest = [
            "120 B>A ack 8000".to_owned(),
            "140 A>B data 9000..10000 id 11".to_owned(),
            "160 B>A ack 8000 sack 9000..10000".to_owned(),
            format!("170 A>B data 8000..9000 id {id}"),
            "190 B>A ack 10000".to_owned(),
        ];
        let trace: Vec<String> = first.chain(rest).collect();
        play(&opened(&trace.join("\n"))).state.skipped_packets
    };
    assert_eq!(after(12), 1);
    assert_eq!(after(12 + 19), 20);
    assert_eq!(after(12 + 20), 0);
}

#[test]
fn ids_skipped_where_nothing_was_repeated_are_no_losses() {
    // All arrived, and what is lost is repeated: others took ids 6 to 8.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         123 B>A ack 4000
         140 A>B data 4000..5000 id 9
         160 B>A ack 5000",
    );
    assert_eq!(play(&trace).state.skipped_packets, 0);
    // Here the repeat may still come.
    let missing = trace
        .replace("4000..5000", "5000..6000")
        .replace("ack 5000", "ack 4000");
    assert_eq!(play(&missing).state.skipped_packets, 3);
}

#[test]
fn ids_skipped_while_there_was_no_reason_to_repeat_are_no_losses() {
    // One packet was lost behind here. Later no byte is missing where ids 10 and 11 are skipped, B has told of no loss,
    // and no timer can have run out: another connection took them.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         123 B>A ack 1000 sack 2000..4000
         130 A>B data 1000..2000 id 6
         150 B>A ack 4000
         300 A>B data 4000..5000 id 7
         301 A>B data 5000..6000 id 8
         320 B>A ack 5000
         321 B>A ack 6000
         322 A>B data 6000..7000 id 9
         323 A>B data 7000..8000 id 12
         343 B>A ack 8000",
    );
    let skipped = |trace: &str| play(trace).state.skipped_packets;
    assert_eq!(skipped(&trace), 0);
    // A duplicate ACK may have asked for repeats, of which A learns half a round trip later.
    let told = trace.replace("320 B>A ack 5000", "319 B>A ack 4000\n320 B>A ack 5000");
    assert_eq!(skipped(&told), 2);
    // Within such a pause a probe may have been sent.
    let pause = trace
        .replace("323 A>B", "363 A>B")
        .replace("343 B>A", "383 B>A");
    assert_eq!(skipped(&pause), 2);
}

/// The path takes no full packets: a first flight of four, ids 2 to 5, and two repeats by timers, ids 7 and 8, are
/// lost, and what follows is a quarter as long. The number of an ACK tells of the flight.
#[test]
fn pieces_of_packets_that_the_path_did_not_take_are_no_more_losses_than_ids_skipped() {
    let pieces: Vec<String> = (1..16)
        .map(|n| {
            let (at, id, start) = (970 + 40 * n, 11 + n, 250 * n);
            let end = start + 250;
            let ack = at + 20;
            format!(
                "{at} A>B data {start}..{end} ack 100 id {id}\n{ack} B>A ack {end} sack 4000..4500"
            )
        })
        .collect();
    let seen = play(&opened(&format!(
        "100 B>A data 0..100 ack 0
         110 A>B at 4000 ack 100 id 6
         930 A>B data 0..250 ack 100 id 9
         950 B>A ack 250
         970 A>B data 4000..4250 ack 100 id 10
         971 A>B data 4250..4500 ack 100 id 11
         991 B>A ack 250 sack 4000..4500
         {}",
        pieces.join("\n")
    )));
    let again = seen.rows.iter().filter(|row| row.verdict.reason.is_some());
    assert_eq!(again.count(), 16);
    assert_eq!((seen.lost, seen.state.skipped_packets), ([6, 0], 6));
}

#[test]
fn what_was_lost_before_the_first_id_is_more_than_ids_skipped() {
    // 0..4000 was lost before anything came, and no id is known of it; a timer repeats the lowest.
    let lost = |number: &str| {
        play(&format!(
            "0 A>B syn
             20 B>A syn ack 0
             250 A>B data 0..1000 ack 0 id 6
             270 B>A ack 1000
             {number}
             281 A>B data 4000..5000 ack 0 id 8
             301 B>A ack 1000 sack 4000..5000
             311 A>B data 1000..2000 ack 0 id 9
             312 A>B data 2000..3000 ack 0 id 10
             332 B>A ack 3000 sack 4000..5000
             342 A>B data 3000..4000 ack 0 id 11
             362 B>A ack 5000
             372 A>B data 5000..6000 ack 0 id 12"
        ))
        .lost
    };
    assert_eq!(lost("280 A>B at 4000 ack 0 id 7"), [3, 0]);
    assert_eq!(lost("280 A>B at 1000 ack 0 id 7"), [3, 0]);
}

#[test]
fn ids_tell_how_long_the_packets_of_merged_frames_are() {
    // The path takes 900 bytes of the 1000 that B announced: frames of 10 and 20 packets would have 9 and 18. Later two
    // are lost, 63000..64800.
    let trace = opened(
        "100 A>B data 0..900 ack 0 id 2
         120 B>A ack 900
         130 A>B data 900..9900 ack 0 id 3
         131 A>B data 9900..27900 ack 0 id 13
         150 B>A ack 27900
         160 A>B data 27900..36900 ack 0 id 33
         161 A>B data 36900..45900 ack 0 id 43
         180 B>A ack 45900
         190 A>B data 45900..63000 ack 0 id 53
         191 A>B data 64800..82800 ack 0 id 74
         210 B>A ack 63000 sack 64800..82800
         220 A>B data 63000..64800 ack 0 id 94
         240 B>A ack 82800
         250 A>B data 82800..83700 ack 0 id 96
         270 B>A ack 83700",
    );
    assert_eq!(play(&trace).state.skipped_packets, 2);
}

#[test]
fn timers_run_from_when_an_ack_has_come_to_their_sender() {
    // An ACK takes 10 ms to A and back, and a round trip 30: what A sends when it has heard is no timer's, whatever
    // became of id 4.
    let repeats = |ms: u32| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000 ack 0 id 2
             101 A>B data 1000..2000 ack 0 id 3
             120 B>A ack 2000
             {ms} A>B data 2000..3000 ack 0 id 5"
        )));
        seen.rows.last().unwrap().verdict.class == Class::Retransmission
    };
    assert_eq!(
        [150, 157, 159, 180].map(repeats),
        [false, false, true, true]
    );
}

#[test]
fn frames_too_long_for_a_packet_take_the_ids_behind_them_whatever_the_receiver_takes() {
    // B's SYN was not seen. Packets of 1448 bytes, of which all but the third were merged; later one of 1448 is lost.
    let frames = "0 A>B data 0..2896 id 2
         1 A>B data 2896..8688 id 4
         2 A>B data 8688..10136 id 8
         3 A>B data 10136..14000 id 9
         43 A>B data 14000..16896 id 12
         44 A>B data 16896..18344 id 14
         84 A>B data 18344..21240 id 15";
    let rest = "85 A>B data 22688..24136 id 18
         125 A>B data 21240..22688 id 19
         165 A>B data 24136..25584 id 20";
    let seen = play(&format!("{frames}\n{rest}"));
    assert_eq!(seen.lost, [1, 0]);
    let classes: Vec<Class> = seen.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(classes[..8], [Class::New; 8]);
    assert_eq!(classes[8..], [Class::Retransmission, Class::New]);
    let again = |trace: &str| {
        // Without timestamps they may be counted over a whole host.
        let rows = play(&trace.replace("id", "ts 7/3 id")).rows;
        rows.iter().filter_map(|row| row.verdict.reason).count()
    };
    // They do so behind a gap, too,
    let behind_a_gap = "0 A>B data 0..2576 id 2
         1 A>B data 59000..61576 id 4
         22 A>B data 61576..62864 id 6
         23 A>B data 62864..64152 id 7
         33 A>B data 64152..66728 id 8";
    assert_eq!(again(behind_a_gap), 0);
    // and where the last packet of a frame is not full.
    let with_an_end = "0 A>B data 0..1440 id 2
         1 A>B data 1440..2880 id 3
         2 A>B data 2880..4101 id 4
         3 A>B data 4101..12293 id 5
         184 A>B data 12293..13733 id 11
         185 A>B data 13733..15173 id 12";
    assert_eq!(again(with_an_end), 0);
    // But long packets, as data centres have them, are no frames of two: id 5 was lost, and is repeated.
    let jumbo = "0 A>B data 0..8948 id 2
         1 A>B data 8948..17896 id 3
         2 A>B data 17896..26844 id 4
         302 A>B data 26844..35792 id 6";
    assert_eq!(again(jumbo), 1);
}

#[test]
fn packets_repeated_in_smaller_pieces_are_no_more_losses_than_ids_skipped() {
    // B's data is unanswered all the time, so that skipped ids may be ACKs. Of A, 3000..5000 was lost as ids 5
    // and 6, and comes again in three pieces beside a SACK block that takes room: two packets were lost.
    let seen = play(&opened(
        "100 A>B data 0..1000 ack 0 id 2
         100 A>B data 1000..2000 ack 0 id 3
         100 A>B data 2000..3000 ack 0 id 4
         101 B>A data 0..1000 ack 0
         102 A>B data 5000..6000 ack 0 id 7
         120 B>A data 1000..2000 ack 3000 sack 5000..6000
         140 A>B data 3000..3900 ack 0 id 8
         141 A>B data 3900..4800 ack 0 id 9
         142 A>B data 4800..5000 ack 0 id 10",
    ));
    assert_eq!(seen.lost, [2, 0]);
}

#[test]
fn a_packet_repeated_in_two_pieces_was_lost_once_without_ids() {
    // Of A, 2000..4000 was lost as two full packets, and each comes again as 980 bytes and 20, for the SACK block of 12
    // bytes and the option before it took their room.
    let seen = play(&opened(
        "100 A>B data 0..1000 ack 0
         100 A>B data 1000..2000 ack 0
         101 B>A data 0..100 ack 0
         102 A>B data 4000..5000 ack 0
         103 A>B data 5000..6000 ack 0
         104 A>B data 6000..7000 ack 0
         120 B>A ack 2000 sack 4000..5000
         121 B>A ack 2000 sack 4000..6000
         122 B>A ack 2000 sack 4000..7000
         140 A>B data 2000..2980 ack 0
         141 A>B data 2980..3000 ack 0
         142 A>B data 3000..3980 ack 0
         143 A>B data 3980..4000 ack 0",
    ));
    assert_eq!(seen.lost, [2, 0]);
}

#[test]
fn small_packets_lost_together_are_lost_each() {
    // As above, but ids 5, 6 and 7 were three packets of 100 bytes, repeated as they were.
    let seen = play(&opened(
        "100 A>B data 0..1000 ack 0 id 2
         100 A>B data 1000..2000 ack 0 id 3
         100 A>B data 2000..3000 ack 0 id 4
         101 B>A data 0..1000 ack 0
         102 A>B data 3300..4300 ack 0 id 8
         120 B>A data 1000..2000 ack 3000 sack 3300..4300
         140 A>B data 3000..3100 ack 0 id 9
         141 A>B data 3100..3200 ack 0 id 10
         142 A>B data 3200..3300 ack 0 id 11",
    ));
    assert_eq!(seen.lost, [3, 0]);
}

/// Id 5 is skipped before a pause that is long enough for a timer.
const SKIPPED: &str = "100 A>B data 0..1000 ack 0 id 2
     101 A>B data 1000..2000 ack 0 id 3
     102 A>B data 2000..3000 ack 0 id 4
     120 B>A ack 1000
     121 B>A ack 2000
     122 B>A ack 3000
     400 A>B data 3000..4000 ack 0 id 6
     420 B>A ack 4000";

#[test]
fn ids_that_a_host_counts_for_all_its_connections_tell_of_no_lost_tail() {
    let class_after = |handshake: &str| {
        let seen = play(&format!("{handshake}\n{SKIPPED}"));
        seen.rows.last().unwrap().verdict.class
    };
    let of_client = |ttl: u8| {
        class_after(&format!(
            "0 A>B syn ttl {ttl} id 0\n20 B>A syn ack 0\n30 A>B ack 0 id 1"
        ))
    };
    assert_eq!(of_client(64), Class::Retransmission);
    assert_eq!(of_client(65), Class::New);
    // Linux answers a SYN with id 0; who counts that as a packet has a counter before there is a connection.
    let of_server = |answer: &str| {
        class_after(&format!(
            "0 B>A syn\n20 A>B syn ack 0 {answer}\n30 B>A ack 0"
        ))
    };
    assert_eq!(of_server("id 0"), Class::Retransmission);
    assert_eq!(of_server("id 1"), Class::New);
    assert_eq!(of_server("id 1 ts 7/0"), Class::Retransmission);
    assert_eq!(of_server("id 0 ttl 128"), Class::New);
    // Where no SYN was seen, nobody knows.
    assert_eq!(class_after("90 B>A ack 0"), Class::New);
    let stamped = SKIPPED.replace("ack", "ts 7/7 ack").replace(
        "400 A>B data 3000..4000 ts 7/7",
        "400 A>B data 3000..4000 ts 8/7",
    );
    assert_eq!(
        play(&stamped).rows.last().unwrap().verdict.class,
        Class::Retransmission
    );
}

#[test]
fn ids_of_such_a_host_are_its_connections_own_after_a_thousand_without_a_doubt() {
    let class_after = |packets: u64, skips: bool| {
        let id = |packet: u64| packet + 2 + u64::from(skips && packet > 500);
        let told = (0..packets).map(|packet| {
            let (at, end, id) = (100 + packet, packet + 1, id(packet));
            format!("{at} A>B data {packet}000..{end}000 ack 0 id {id}\n{at} B>A ack {end}000\n")
        });
        let told: String = told.collect();
        let (at, end, id) = (500 + packets, packets + 1, id(packets) + 1);
        let trace = format!(
            "0 A>B syn ttl 128 id 0
             20 B>A syn ack 0
             30 A>B ack 0 id 1
             {told}
             {at} A>B data {packets}000..{end}000 ack 0 id {id}"
        );
        play(&trace).rows.last().unwrap().verdict.class
    };
    // The ACK of the handshake and what skips an id are steps, too.
    assert_eq!(class_after(1021, false), Class::New);
    assert_eq!(class_after(1024, false), Class::Retransmission);
    // An id that was skipped although nothing was missing tells of others.
    assert_eq!(class_after(1100, true), Class::New);
}

/// `count` packets of 1000 bytes, but for `lost`, one a millisecond and with ids from 2 on, and an ACK of each of the
/// first `acked` from 20 ms after the last one was sent.
fn flight(count: i64, lost: Option<i64>, acked: i64) -> String {
    let sent = (0..count).filter(|&n| Some(n) != lost);
    let data = sent.map(|n| {
        let start = 1000 * n;
        format!(
            "{} A>B data {start}..{} id {}",
            100 + n,
            start + 1000,
            2 + n
        )
    });
    let acks = (1..=acked).map(|n| format!("{} B>A ack {}", 99 + count + n, 1000 * n));
    data.chain(acks).collect::<Vec<String>>().join("\n")
}

/// The class of each packet of `trace`, but for the first `known`.
fn classes_after(known: usize, trace: &str) -> Vec<Class> {
    let rows = play(&opened(trace)).rows;
    rows[known..].iter().map(|row| row.verdict.class).collect()
}

const AGAIN: Class = Class::Retransmission;

/// Packets 20 and 21 were lost, and a packet without payload behind them. What comes then took its turn after these, and
/// was not sent before as the last of them: who probes for that waits for two round trips, of 30 ms here.
#[test]
fn what_leaves_bytes_out_is_no_probe_before_the_time_of_one() {
    let last = |silence_ms: i64| {
        let (flight, at) = (flight(20, None, 20), 139 + silence_ms);
        classes_after(20, &format!("{flight}\n{at} A>B data 22000..23000 id 25"))
    };
    assert_eq!(last(40), [Class::New]);
    assert_eq!(last(70), [AGAIN]);
}

/// Packets 20 to 23 were lost, and a timer brings all of them again, of which 22 is lost once more: its id counts for no
/// further packet that was sent before.
#[test]
fn what_is_lost_again_behind_a_timer_leaves_the_last_of_the_tail_a_repeat() {
    let rest = "400 A>B data 20000..21000 id 26
        420 B>A ack 21000
        430 A>B data 21000..22000 id 27
        432 A>B data 23000..24000 id 29
        450 B>A ack 22000
        452 B>A ack 22000 sack 23000..24000
        462 A>B data 22000..23000 id 30
        482 B>A ack 24000
        492 A>B data 24000..25000 id 31";
    let classes = classes_after(20, &format!("{}\n{rest}", flight(20, None, 20)));
    assert_eq!(classes, [AGAIN, AGAIN, AGAIN, AGAIN, Class::New]);
}

/// A timer brings 18 again, and 19, which had come. All of that is acknowledged when the sender goes on with three
/// packets that are lost, ids 24 to 26: these were new, and what brings the first of them again is a timer.
#[test]
fn once_all_is_acknowledged_a_timer_has_given_up_nothing_more() {
    let rest = "139 B>A ack 18000 sack 19000..20000
        400 A>B data 18000..19000 id 22
        420 B>A ack 20000
        425 A>B data 19000..20000 id 23
        445 B>A ack 20000 sack 19000..20000
        800 A>B data 20000..21000 id 27
        820 B>A ack 21000";
    let classes = classes_after(19, &format!("{}\n{rest}", flight(20, Some(18), 18)));
    assert_eq!(classes, [AGAIN, AGAIN, AGAIN]);
}

/// The same, where SACK told the sender of 19 alone: it had gone on with 20 and 21, ids 25 and 26, and the latter was
/// lost, before it sent 22 to 24, which were lost, too. 25 was not sent before.
#[test]
fn who_had_not_heard_that_all_is_acknowledged_went_on_with_what_it_was_not_told_of() {
    let rest = "140 B>A ack 18000 sack 19000..20000
        400 A>B data 18000..19000 id 24
        420 B>A ack 22000
        425 A>B data 20000..21000 id 25
        445 B>A ack 22000 sack 20000..21000
        800 A>B data 22000..23000 id 30
        820 B>A ack 23000
        830 A>B data 23000..24000 id 31
        831 A>B data 24000..25000 id 32
        850 B>A ack 24000
        851 B>A ack 25000
        861 A>B data 25000..26000 id 33";
    let classes = classes_after(21, &format!("{}\n{rest}", flight(22, Some(18), 18)));
    assert_eq!(classes, [AGAIN, AGAIN, AGAIN, AGAIN, AGAIN, Class::New]);
}

/// 4000..5000 was lost as id 6, and its repeat is, time and again, while SACK tells of the hole: ids 8, 10, 12 and 14 are
/// no other connection's.
#[test]
fn ids_skipped_while_a_hole_is_open_are_those_of_repeats_that_were_lost_again() {
    let mut trace: Vec<String> = (0..4)
        .map(|n| {
            let (start, end, id) = (1000 * n, 1000 * (n + 1), 2 + n);
            let (at, acked) = (100 + n, 120 + n);
            format!("{at} A>B data {start}..{end} ack 0 id {id}\n{acked} B>A ack {end}")
        })
        .collect();
    trace.sort_by_key(|lines| lines.starts_with('1'));
    for n in 0..5 {
        let (start, end, id) = (5000 + 1000 * n, 6000 + 1000 * n, 7 + 2 * n);
        let (at, told) = (130 + 20 * n, 150 + 20 * n);
        trace.push(format!(
            "{at} A>B data {start}..{end} ack 0 id {id}\n{told} B>A ack 4000 sack 5000..{end}"
        ));
    }
    trace.push("300 A>B data 4000..5000 ack 0 id 16\n320 B>A ack 10000".to_owned());
    let seen = play(&opened(&trace.join("\n")));
    assert_eq!((seen.lost, seen.state.skipped_packets), ([1, 0], 5));
}

/// Ids 4 to 9 and 16 to 22 were packets that were lost. What comes behind them after a pause may be a timer's, and is taken for that;
/// then their repeats come, each asked for by an ACK, and new data right behind the last one: its sender has got ACKs in
/// between, so that the pause is no other connection's work.
#[test]
fn new_data_behind_repeats_that_acks_asked_for_does_not_give_up_ids() {
    let trace = "0 A>B data 0..100 ts 221/580 ack 0 id 2
         3 A>B data 100..200 ts 224/583 ack 0 id 3
         4 B>A ack 100 ts 620/221
         7 B>A ack 200 ts 623/224
         22 A>B data 800..900 ts 243/601 ack 0 id 10
         26 B>A ack 200 ts 642/224 sack 800..900
         31 A>B data 900..1200 ts 252/611 ack 0 id 11
         34 A>B data 1200..1300 ts 255/614 ack 0 id 12
         35 B>A ack 200 ts 651/224 sack 800..1200
         38 B>A ack 200 ts 654/224 sack 800..1300
         40 A>B data 1300..1400 ts 261/620 ack 0 id 13
         43 A>B data 1400..1500 ts 264/623 ack 0 id 14
         44 B>A ack 200 ts 660/224 sack 800..1400
         49 B>A ack 200 ts 664/224 sack 800..1500
         62 A>B data 200..800 ts 283/642 ack 0 id 15
         66 B>A ack 1500 ts 682/283
         188 A>B data 3100..4548 ts 409/682 ack 0 id 23
         192 B>A ack 1500 ts 808/283 sack 3100..4548
         228 A>B data 1500..2700 ts 449/808 ack 0 id 24
         232 B>A ack 2700 ts 848/449 sack 3100..4548
         268 A>B data 2700..3100 ts 489/848 ack 0 id 25
         269 A>B data 4548..5996 ts 489/848 ack 0 id 26";
    assert_eq!(play(trace).state.skipped_packets, 13);
}

/// Frames of ten packets, one for more than two round trips, of which a queue drops some as a whole, repeats among them:
/// what is skipped before one that a timer might have brought is one frame, and no more than a timer sends.
#[test]
fn ids_of_frames_that_were_lost_before_repeats_of_new_ones_are_losses() {
    // Which frame passes, and how many were lost since the one before.
    let whole = (0..20).map(|frame| (frame, 0_u32));
    let repaired = [
        (21, 1),
        (23, 1),
        (20, 1),
        (22, 0),
        (24, 0),
        (26, 1),
        (28, 1),
        (25, 2),
        (27, 0),
        (29, 0),
        (31, 1),
        (33, 1),
        (30, 1),
        (32, 1),
    ];
    // What goes on from the highest byte are repeats of new frames that were lost, each with another one.
    let going_on = (34..41).map(|frame| (frame, 1));
    let at_last = (41..50).map(|frame| (frame, 0));
    let (mut id, mut at, mut lost, mut trace) = (2, 100, 0, Vec::new());
    let mut have = BTreeSet::new();
    let bytes = |frame: u32| format!("{}..{}", 10_000 * frame, 10_000 * (frame + 1));
    for (frame, skipped) in whole.chain(repaired).chain(going_on).chain(at_last) {
        id += 10 * skipped;
        lost += 10 * skipped;
        trace.push(format!("{at} A>B data {} id {id}", bytes(frame)));
        id += 10;
        have.insert(frame);
        let una = (0..=frame.max(33)).find(|frame| !have.contains(frame));
        let una = una.unwrap_or(frame + 1);
        let above = have.range(una..).rev().take(2);
        let sack: Vec<String> = above.map(|&frame| bytes(frame)).collect();
        let sack = match &sack[..] {
            [] => String::new(),
            blocks => format!(" sack {}", blocks.join(" sack ")),
        };
        trace.push(format!("{} B>A ack {}{sack}", at + 1, 10_000 * una));
        at += 60;
    }
    let played = play(&opened(&trace.join("\n")));
    assert_eq!(played.state.skipped_packets, u64::from(lost));
}

#[test]
fn a_lost_fin_is_no_lost_data() {
    // Id 4 was 2000..3000, and 7 the FIN, which the number behind it tells of.
    let skipped = |number: u32| {
        let fin = number - 1;
        play(&opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             103 A>B data 3000..4000 id 5
             123 B>A ack 2000 sack 3000..4000
             134 A>B data 2000..3000 id 6
             154 B>A ack 4000
             400 B>A data 0..100 ack 4000
             410 A>B at {number} ack 100 id 8
             440 A>B at {fin} fin ack 100 id 9
             460 B>A ack 4000"
        )))
        .state
        .skipped_packets
    };
    assert_eq!(skipped(4001), 1);
    // A packet of its own, which was lost as well, or with the FIN.
    assert_eq!(skipped(5001), 2);
}
