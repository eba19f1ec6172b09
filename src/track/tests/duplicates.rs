//! Copies that the network made, and those that only look alike.

use std::fmt::Write as _;

use super::{check, opened, play};
use crate::event::Class;

#[test]
fn the_same_clock_within_a_round_trip_is_a_duplicate_without_ids() {
    // Nothing is repeated within a round trip of 30 ms; a queue has drawn the copies apart.
    check(
        &opened(
            "100 A>B data 0..1000 ts 7/3
             105 A>B data 0..1000 ts 7/3
             120 B>A ack 1000 ts 4/7",
        ),
        "100 new 0..1000 rtt 20 clean
         105 duplicate 0..1000 timing",
    );
}

#[test]
fn without_ids_and_clocks_what_follows_a_copy_within_a_round_trip_is_a_duplicate() {
    // IPv6 without timestamps: nothing is repeated within a round trip of 30 ms, nor repeated again.
    check(
        &opened(
            "100 A>B data 0..1000
             105 A>B data 0..1000
             120 B>A ack 1000
             130 A>B data 1000..2000
             160 A>B data 1000..2000
             163 A>B data 1000..2000
             180 B>A ack 2000",
        ),
        "100 new 0..1000 rtt 20 clean
         105 duplicate 0..1000 timing
         130 new 1000..2000
         160 retransmission 1000..2000 fast downstream seen_before
         163 duplicate 1000..2000 timing",
    );
}

#[test]
fn what_follows_a_late_original_that_was_asked_for_is_its_repeat() {
    // Neither ids nor clocks: what was reported missing at 121 is repeated at 133, a trip to the sender later.
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 2000..3000
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             124 A>B data 1000..2000
             133 A>B data 1000..2000
             144 B>A ack 3000
             153 B>A ack 3000 sack 1000..2000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         124 reordered 1000..2000 timing
         133 retransmission 1000..2000 unneeded dsack",
    );
}

#[test]
fn where_each_packet_has_a_copy_what_follows_a_repeat_is_its_copy() {
    // Neither ids nor clocks, behind a path that copies each packet, and a queue: what comes 3 ms after the repeat.
    let trace = |copies: [&str; 2]| {
        let [first, second] = copies;
        let trace = opened(&format!(
            "100 A>B data 0..1000
             {first}
             104 A>B data 2000..3000
             {second}
             120 B>A ack 1000
             124 B>A ack 1000 sack 2000..3000
             143 A>B data 1000..2000
             146 A>B data 1000..2000
             163 B>A ack 3000"
        ));
        play(&trace).rows.last().unwrap().verdict.class
    };
    let copies = ["103 A>B data 0..1000", "107 A>B data 2000..3000"];
    assert_eq!(trace(copies), Class::Duplicate);
    // Where nothing else has one, it is the original, late.
    assert_eq!(trace([""; 2]), Class::Reordered);
}

#[test]
fn a_frame_and_the_packets_it_is_cut_into_are_the_same() {
    // A router that is captured on all its interfaces: frames of three packets as they come in, and these as they
    // leave.
    let trace = "100 A>B data 0..3000 id 2 ts 7/3
         101 A>B data 0..1000 id 2 ts 7/3
         102 A>B data 1000..2000 id 3 ts 7/3
         103 A>B data 3000..6000 id 5 ts 7/3
         104 A>B data 2000..3000 id 4 ts 7/3
         105 A>B data 3000..4000 id 5 ts 7/3
         106 A>B data 4000..5000 id 6 ts 7/3
         107 A>B data 5000..6000 id 7 ts 7/3
         127 B>A ack 6000 ts 4/7";
    let expected = "100 new 0..3000 rtt 27 delayed_ack
         101 duplicate 0..1000 ip_id
         102 duplicate 1000..2000 ip_id
         103 new 3000..6000 rtt 24 clean
         104 duplicate 2000..3000 ip_id
         105 duplicate 3000..4000 ip_id
         106 duplicate 4000..5000 ip_id
         107 duplicate 5000..6000 ip_id";
    check(&opened(trace), expected);
    assert_eq!(play(&opened(trace)).state.skipped_packets, 0);
    // With an id of its own it is a repeat.
    let repeated = trace.replace(
        "107 A>B data 5000..6000 id 7",
        "107 A>B data 5000..6000 id 8",
    );
    let rows = play(&opened(&repeated)).rows;
    let last = rows.last().map(|row| row.verdict.class);
    assert_eq!(last, Some(Class::Retransmission));
    // Packets of one size that is less than the largest, the last one shorter still.
    check(
        &opened(
            "100 A>B data 0..1500 id 2
             101 A>B data 0..600 id 2
             101 A>B data 600..1200 id 3
             101 A>B data 1200..1500 id 4
             120 B>A ack 1500",
        ),
        "100 new 0..1500 rtt 20 clean
         101 duplicate 0..600 ip_id
         101 duplicate 600..1200 ip_id
         101 duplicate 1200..1500 ip_id",
    );
    // And packets that are merged behind where they were seen first.
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 0..2000 id 2
             122 B>A ack 2000",
        ),
        "100 new 0..1000 rtt 22 delayed_ack
         101 new 1000..2000 rtt 21 clean
         102 duplicate 0..2000 ip_id",
    );
}

#[test]
fn a_frame_and_its_packets_are_the_same_where_no_ids_tell() {
    // Nothing is repeated within a round trip of 30 ms. Packets are cut from a frame, merged into one, and cut
    // otherwise than in the frames before; a part of a frame that was asked for is repeated a round trip later all the
    // same.
    check(
        &opened(
            "100 A>B data 0..4380
             101 A>B data 0..1460
             101 A>B data 1460..2920
             101 A>B data 2920..4380
             102 A>B data 4380..5840
             102 A>B data 5840..7300
             103 A>B data 4380..7300
             104 A>B data 7300..11680
             104 A>B data 11680..16060
             105 A>B data 7300..13140
             105 A>B data 13140..16060
             120 B>A ack 4380
             121 B>A ack 4380 sack 5840..16060
             134 A>B data 4380..5840
             154 B>A ack 16060",
        ),
        "100 new 0..4380 rtt 20 clean
         101 duplicate 0..1460 timing
         101 duplicate 1460..2920 timing
         101 duplicate 2920..4380 timing
         102 new 4380..5840
         102 new 5840..7300 rtt 19 sack
         103 duplicate 4380..7300 timing
         104 new 7300..11680 rtt 17 sack
         104 new 11680..16060 rtt 17 sack
         105 duplicate 7300..13140 timing
         105 duplicate 13140..16060 timing
         134 retransmission 4380..5840 fast downstream seen_before",
    );
}

#[test]
fn a_frame_that_is_repeated_in_smaller_packets_is_repeated() {
    // Without ids and clocks: a router's word that packets are too big came from nearby (RFC 8201), and what was sent
    // as three full packets of 1000 bytes is repeated in packets of 800.
    let played = play(&opened(
        "100 A>B data 0..3000
         105 A>B data 0..800
         105 A>B data 800..1600
         105 A>B data 1600..2400
         105 A>B data 2400..3000
         125 B>A ack 3000",
    ));
    let classes: Vec<Class> = played.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(classes[0], Class::New);
    assert_eq!(classes[1..], [Class::Retransmission; 4]);
}

#[test]
fn nothing_holds_a_copy_up_for_as_long_as_a_timer_takes() {
    // A round trip of half a second, and senders whose timers are shorter.
    let class = |at: u32| {
        let trace = format!(
            "0 A>B syn
             480 B>A syn ack 0
             490 A>B ack 0
             500 A>B data 0..1000
             {at} A>B data 0..1000"
        );
        play(&trace).rows[1].verdict.class
    };
    assert_eq!(class(600), Class::Duplicate);
    assert_eq!(class(800), Class::Retransmission);
}

#[test]
fn what_carries_an_old_clock_was_not_sent_again_however_long_it_waited() {
    // The clock ticks once a ms, but in 40 ms it has not gone on.
    let trace = opened(
        "100 A>B data 0..1000 ts 100/3
         120 B>A ack 1000 ts 4/100
         200 A>B data 1000..2000 ts 200/4
         240 A>B data 1000..2000 ts 200/4
         260 B>A ack 2000 ts 5/200",
    );
    let class = |trace: &str| play(trace).rows[2].verdict.class;
    assert_eq!(class(&trace), Class::Duplicate);
    // One that ticks ten times a second may not have.
    let slow = trace
        .replace("ts 100", "ts 1")
        .replace("ts 200", "ts 2")
        .replace("/100", "/1")
        .replace("/200", "/2");
    assert_eq!(class(&slow), Class::Retransmission);
}

#[test]
fn the_same_number_is_that_of_the_same_packet_before_it_is_known_to_count() {
    // A round trip has 30 ms, and a queue held the copy up for longer.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         150 A>B data 0..1000 id 2
         170 B>A ack 1000",
    );
    let class = |trace: &str| play(trace).rows[1].verdict.class;
    assert_eq!(class(&trace), Class::Duplicate);
    // Random ones are as good, but one that all packets have, or 0, tells nothing.
    assert_eq!(class(&trace.replace("id 2", "id 40000")), Class::Duplicate);
    assert_eq!(class(&trace.replace("id 2", "id 1")), Class::Retransmission);
    assert_eq!(class(&trace.replace("id 2", "id 0")), Class::Retransmission);
    // A timer may have run out.
    let late = trace.replace("150 A", "305 A").replace("170 B", "325 B");
    assert_eq!(class(&late), Class::Retransmission);
}

#[test]
fn a_number_that_others_have_as_well_tells_nothing() {
    // What ACKs are numbered is one thing, and data another; or all of it is the same.
    let seen = |ack: &str, repeat: &str| {
        let trace = format!(
            "0 A>B syn {ack}
             20 B>A syn ack 0
             30 A>B ack 0 {ack}
             100 A>B data 0..1000 id 7
             101 A>B data 1000..2000 {repeat}
             102 A>B data 2000..3000 id 7
             121 B>A ack 0 sack 1000..2000
             122 B>A ack 0 sack 1000..3000
             132 A>B data 0..1000 id 7
             152 B>A ack 3000"
        );
        let seen = play(&trace);
        (seen.rows[3].verdict.class, seen.lost, seen.rtts_ms)
    };
    for ack in ["id 0", "id 1", "id 7", "id 30000"] {
        let expected = (Class::Retransmission, [0, 1], vec![20, 20]);
        assert_eq!(seen(ack, "id 7"), expected, "{ack}");
    }
    // Where the packet beside it has another one, it is a copy.
    let class = seen("id 0", "id 40000").0;
    assert_eq!(class, Class::Duplicate);
}

#[test]
fn a_packet_that_was_kept_as_it_was_is_a_repeat_when_a_timer_may_have_run_out() {
    // The clock of 0..1000 ticked once a ms, but a proxy sends 1000..2000 again as it had come.
    let class = |at: i64| {
        let trace = opened(&format!(
            "100 A>B data 0..1000 ts 100/3
             120 B>A ack 1000 ts 4/100
             200 A>B data 1000..2000 ts 200/4
             {at} A>B data 1000..2000 ts 200/4"
        ));
        play(&trace).rows[2].verdict.class
    };
    assert_eq!(class(399), Class::Duplicate);
    assert_eq!(class(400), Class::Retransmission);
    assert_eq!(class(1200), Class::Retransmission);
}

#[test]
fn a_timer_repeats_in_order_what_was_sent_just_before_it() {
    // Neither ids nor clocks: 2000..4000 passed less than a round trip before.
    let class = |last: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             398 A>B data 2000..3000
             399 A>B data 3000..4000
             402 A>B data 0..1000
             403 A>B data 1000..2000
             404 A>B data 2000..3000
             405 A>B data {last}"
        );
        let rows = play(&opened(&trace)).rows;
        [rows[6].verdict.class, rows[7].verdict.class]
    };
    assert_eq!(class("3000..4000"), [Class::Retransmission; 2]);
    // The network's copy follows something else.
    assert_eq!(
        class("2000..3000"),
        [Class::Retransmission, Class::Duplicate]
    );
}

#[test]
fn what_goes_on_behind_a_repeat_is_a_copy_within_a_millisecond() {
    // 1000..2000 was sent 2 ms before it comes again behind the repeat, or 1.
    let class = |sent: i64| {
        let trace = format!(
            "100 A>B data 0..1000
             {sent} A>B data 1000..2000
             402 A>B data 0..1000
             402 A>B data 1000..2000"
        );
        play(&opened(&trace)).rows[3].verdict.class
    };
    assert_eq!(class(400), Class::Retransmission);
    assert_eq!(class(401), Class::Duplicate);
}

#[test]
fn a_copy_that_others_came_before_takes_nothing_from_what_ids_tell_was_lost() {
    // Id 5 was 3000..4000, and is repeated; the network's copy of id 4 is below id 6, and was not skipped.
    let trace = |copy: &str| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 4000..5000 id 6
             {copy}
             104 A>B data 5000..6000 id 7
             105 A>B data 6000..7000 id 8
             122 B>A ack 3000
             123 B>A ack 3000 sack 4000..5000
             124 B>A ack 3000 sack 4000..6000
             125 B>A ack 3000 sack 4000..7000
             135 A>B data 3000..4000 id 9
             155 B>A ack 7000"
        ))
    };
    let lost = |copy: &str| play(&trace(copy)).state.skipped_packets;
    assert_eq!(lost(""), 1);
    assert_eq!(lost("103 A>B data 2000..3000 id 4"), 1);
    // What was skipped is late.
    assert_eq!(lost("103 A>B data 3000..4000 id 5"), 0);
}

#[test]
fn a_copy_that_comes_later_than_a_timer_is_its_senders_own_whatever_its_clock() {
    // Of a sender that keeps its packets as they were: the second one's clock had gone on before the copy came.
    let class = |at: u32| {
        let trace = opened(&format!(
            "100 A>B data 0..1000 ts 7/3
             101 A>B data 1000..2000 ts 8/3
             {at} A>B data 0..1000 ts 7/3"
        ));
        play(&trace).rows[2].verdict.class
    };
    assert_eq!(class(250), Class::Duplicate);
    assert_eq!(class(5000), Class::Retransmission);
}

#[test]
fn behind_a_long_queue_a_copy_may_come_as_late_as_answers_do() {
    // Round trips of half a second: both sides of a queue are captured.
    check(
        "0 A>B syn ts 1/0
         480 B>A syn ack 0 ts 2/1
         490 A>B ack 0 ts 3/2
         500 A>B data 0..1000 ts 7/2
         501 A>B data 1000..2000 ts 8/2
         950 A>B data 0..1000 ts 7/2
         980 B>A ack 1000 ts 4/7",
        "500 new 0..1000 rtt 480 clean
         501 new 1000..2000
         950 duplicate 0..1000 tsval",
    );
}

#[test]
fn what_is_no_longer_remembered_is_seen_again_where_its_id_is_as_far_back_as_its_bytes() {
    // As where the records of two interfaces come in turns, each for some time: 20 packets with the ids 2 to 21, of
    // which the first is forgotten when the others are acknowledged.
    let class = |copy: &str| {
        let mut trace = String::new();
        for n in 0..20 {
            let (at, start) = (100 + 40 * n, 1000 * n);
            let end = start + 1000;
            writeln!(trace, "{at} A>B data {start}..{end} id {}", n + 2).unwrap();
            writeln!(trace, "{} B>A ack {end}", at + 20).unwrap();
        }
        let seen = play(&opened(&format!("{trace}{copy}")));
        seen.rows.last().map(|row| row.verdict.class)
    };
    assert_eq!(class("900 A>B data 0..1000 id 2"), Some(Class::Duplicate));
    // The next id: the sender has sent it now.
    let repeat = Some(Class::Retransmission);
    assert_eq!(class("900 A>B data 0..1000 id 22"), repeat);
    // Sent before two of the others, and overtaken by them.
    let late = "895 A>B data 20000..21000 id 23\n900 A>B data 0..1000 id 22";
    assert_eq!(class(late), repeat);
}

#[test]
fn copies_from_before_a_queue_are_known_by_the_round_trip_of_a_handshake_that_was_copied_too() {
    // X5: neither ids nor timestamps, and each packet is seen twice from the first one on.
    check(
        "0 A>B syn
         3 A>B syn
         20 B>A syn ack 0
         20 B>A syn ack 0
         40 A>B ack 0
         43 A>B ack 0
         100 A>B data 0..1000 ack 0
         101 A>B data 1000..2000 ack 0
         108 A>B data 0..1000 ack 0
         109 A>B data 1000..2000 ack 0
         120 B>A ack 1000
         120 B>A ack 1000
         121 B>A ack 2000
         121 B>A ack 2000",
        "100 new 0..1000 rtt 20 clean
         101 new 1000..2000 rtt 20 clean
         108 duplicate 0..1000 timing
         109 duplicate 1000..2000 timing",
    );
}

/// As above with a queue that grows: copies of 0..1000 and 1000..2000 pass later than a round trip of 30 ms.
fn held_up(before: &str, copies: &str) -> String {
    opened(&format!(
        "100 A>B data 0..1000 ack 0
         100 A>B data 0..1000 ack 0
         120 B>A ack 1000
         130 A>B data 1000..2000 ack 0
         131 A>B data 2000..3000 ack 0
         {before}
         {copies}"
    ))
}

#[test]
fn where_copies_pass_what_nothing_asked_for_is_one_behind_a_long_queue() {
    // X5: neither 1000..2000 nor what was sent behind it had arrived, so nobody had asked for it.
    check(
        &held_up("", "180 A>B data 1000..2000 ack 0\n190 B>A ack 3000"),
        "100 new 0..1000 rtt 20 clean
         100 duplicate 0..1000 timing
         130 new 1000..2000 rtt 60 delayed_ack
         131 new 2000..3000 rtt 59 clean
         180 duplicate 1000..2000 timing",
    );
}

#[test]
fn where_copies_pass_what_was_asked_for_or_a_timer_repeats_is_a_repeat() {
    let class = |trace: &str| play(trace).rows[4].verdict.class;
    // A report of what is above, the time of a timer, and that of a probe of the last packet.
    for (before, copy) in [
        (
            "151 B>A ack 1000 sack 2000..3000",
            "180 A>B data 1000..2000",
        ),
        ("", "331 A>B data 1000..2000"),
        ("", "200 A>B data 2000..3000"),
    ] {
        let trace = held_up(before, copy);
        assert_eq!(class(&trace), Class::Retransmission, "{before} {copy}");
    }
    // A duplicate ACK without SACK.
    let trace = held_up("151 B>A ack 1000", "180 A>B data 1000..2000").replace("syn", "syn bare");
    assert_eq!(class(&trace), Class::Retransmission);
    // Without any nothing asked for it.
    let trace = held_up("", "180 A>B data 1000..2000").replace("syn", "syn bare");
    assert_eq!(class(&trace), Class::Duplicate);
    // With SACK it tells of nothing above what it reports.
    let trace = held_up(
        "132 A>B data 3000..4000\n151 B>A ack 1000 sack 2000..3000",
        "160 A>B data 3000..4000",
    );
    let last = play(&trace).rows.last().map(|row| row.verdict.class);
    assert_eq!(last, Some(Class::Duplicate));
}

#[test]
fn what_ids_tell_of_a_repair_is_the_same_with_copies_of_its_repeats() {
    // Ids 3, 4 and 7 were lost, and 11, the second of three repeats: what follows them is new.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         110 A>B data 3000..4000 id 5
         111 A>B data 4000..5000 id 6
         112 A>B data 6000..7000 id 8
         113 A>B data 7000..8000 id 9
         120 B>A ack 1000
         130 B>A ack 1000 sack 3000..4000
         131 B>A ack 1000 sack 3000..5000
         132 B>A ack 1000 sack 6000..7000 sack 3000..5000
         133 B>A ack 1000 sack 6000..8000 sack 3000..5000
         145 A>B data 1000..2000 id 10
         146 A>B data 5000..6000 id 12
         165 B>A ack 2000 sack 6000..8000 sack 3000..5000
         166 B>A ack 2000 sack 3000..8000
         180 A>B data 8000..9000 id 13",
    );
    let rows = "100 new 0..1000 rtt 20 clean
         110 new 3000..4000 rtt 20 sack
         111 new 4000..5000 rtt 20 sack
         112 new 6000..7000 rtt 20 sack
         113 new 7000..8000 rtt 20 sack
         145 retransmission 1000..2000 fast upstream ip_id
         146 retransmission 5000..6000 fast upstream ip_id
         180 new 8000..9000";
    check(&trace, rows);
    let repeat = "145 A>B data 1000..2000 id 10";
    let trace = trace.replace(repeat, &format!("{repeat}\n{repeat}"));
    let row = "145 retransmission 1000..2000 fast upstream ip_id\n";
    let copy = "145 duplicate 1000..2000 ip_id\n";
    check(&trace, &rows.replace(row, &format!("{row}{copy}")));
}

#[test]
fn the_copy_of_a_repeat_that_is_cut_otherwise_is_a_duplicate_without_ids() {
    // SACK blocks of the sender's own had left less room in the first copies.
    check(
        &opened(
            "100 A>B data 0..900 ts 7/3
             101 A>B data 900..1800 ts 7/3
             102 A>B data 1800..2700 ts 7/3
             103 A>B data 2700..3600 ts 7/3
             122 B>A ack 0 sack 1800..2700 ts 4/6
             123 B>A ack 0 sack 1800..3600 ts 5/6
             140 A>B data 0..1000 ts 9/5
             140 A>B data 0..1000 ts 9/5
             141 A>B data 1000..1800 ts 9/5
             141 A>B data 1000..1800 ts 9/5
             161 B>A ack 3600 ts 6/9",
        ),
        "100 new 0..900
         101 new 900..1800
         102 new 1800..2700 rtt 20 sack
         103 new 2700..3600 rtt 20 sack
         140 retransmission 0..1000 fast downstream seen_before rtt 21 recovery
         140 duplicate 0..1000 timing
         141 retransmission 1000..1800 fast downstream seen_before
         141 duplicate 1000..1800 timing",
    );
}

#[test]
fn a_copy_behind_a_queue_ends_no_silence_of_the_sender() {
    // RFC 8985 section 7.2: two round trips after the last packet, which was captured behind a queue, too.
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             121 B>A ack 1000
             155 A>B data 1000..2000 id 3
             165 A>B data 1000..2000 id 4
             185 B>A ack 2000",
        ),
        "100 new 0..1000 rtt 21 clean
         101 new 1000..2000
         155 duplicate 1000..2000 ip_id
         165 retransmission 1000..2000 tail_probe downstream seen_before",
    );
}
