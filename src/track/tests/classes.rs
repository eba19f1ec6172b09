//! What a data segment is (METRICS.md, "What a data segment is").

use std::fmt::Write as _;

use super::{check, opened, play};
use crate::event::{Class, Reason};

#[test]
fn a_later_id_in_a_hole_is_a_second_emission() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             103 A>B data 3000..4000 id 5
             120 B>A ack 2000
             123 B>A ack 2000 sack 3000..4000
             140 A>B data 2000..3000 id 6
             160 B>A ack 4000",
        ),
        "100 new 0..1000 rtt 20 delayed_ack
         101 new 1000..2000 rtt 19 clean
         103 new 3000..4000 rtt 20 sack
         140 retransmission 2000..3000 fast upstream ip_id",
    );
}

#[test]
fn an_earlier_id_in_a_hole_is_a_late_original() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             103 A>B data 3000..4000 id 5
             104 A>B data 2000..3000 id 4
             120 B>A ack 1000
             121 B>A ack 2000
             123 B>A ack 2000 sack 3000..4000
             124 B>A ack 4000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 1000..2000 rtt 20 clean
         103 new 3000..4000 rtt 20 sack
         104 reordered 2000..3000 ip_id rtt 20 delayed_ack",
    );
}

#[test]
fn a_later_timestamp_in_a_hole_is_a_second_emission() {
    check(
        &opened(
            "100 A>B data 0..1000 ts 100/0
             101 A>B data 2000..3000 ts 101/0
             140 A>B data 1000..2000 ts 140/0",
        ),
        "100 new 0..1000
         101 new 2000..3000
         140 retransmission 1000..2000 fast upstream tsval",
    );
}

#[test]
fn an_earlier_timestamp_in_a_hole_is_a_late_original() {
    check(
        &opened(
            "100 A>B data 0..1000 ts 100/0
             102 A>B data 2000..3000 ts 101/0
             103 A>B data 1000..2000 ts 100/0",
        ),
        "100 new 0..1000
         102 new 2000..3000
         103 reordered 1000..2000 tsval",
    );
}

#[test]
fn a_hole_filled_before_anybody_could_tell_the_sender_is_reordering() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 2000..3000
             102 A>B data 1000..2000",
        ),
        "100 new 0..1000
         101 new 2000..3000
         102 reordered 1000..2000 timing",
    );
}

#[test]
fn a_hole_reported_three_times_and_a_trip_ago_is_repaired() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 2000..3000
             102 A>B data 3000..4000
             103 A>B data 4000..5000
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             122 B>A ack 1000 sack 2000..4000
             123 B>A ack 1000 sack 2000..5000
             134 A>B data 1000..2000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         102 new 3000..4000 rtt 20 sack
         103 new 4000..5000 rtt 20 sack
         134 retransmission 1000..2000 fast upstream sack",
    );
}

#[test]
fn a_hole_reported_once_and_filled_a_trip_later_is_ambiguous() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 2000..3000
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             135 A>B data 1000..2000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         135 ambiguous 1000..2000 none",
    );
}

#[test]
fn the_same_packet_again_is_a_duplicate_however_late() {
    // At a receiver, ACKs follow at once: little is in flight, much is acknowledged meanwhile.
    let mut trace = String::new();
    let mut expected = String::new();
    for n in 0..20 {
        let (at, start, end) = (100 + 2 * n, 1000 * n, 1000 * (n + 1));
        let _ = writeln!(trace, "{at} A>B data {start}..{end} id {}", n + 2);
        let _ = writeln!(trace, "{} B>A ack {end}", at + 1);
        let _ = writeln!(expected, "{at} new {start}..{end} rtt 1 clean");
    }
    trace += "140 A>B data 4000..5000 id 6\n";
    expected += "140 duplicate 4000..5000 ip_id";
    check(&opened(&trace), &expected);
}

#[test]
fn a_repeat_that_is_cut_otherwise_has_copies_too() {
    // Options take room: 4000..5000 is repeated in two packets, and the network copies the second one. No two packets
    // within 65,536 have one id where ids count up.
    let mut trace = String::new();
    let mut expected = String::new();
    for n in 0..20 {
        let (at, start, end) = (100 + n, 1000 * n, 1000 * (n + 1));
        let _ = writeln!(trace, "{at} A>B data {start}..{end} id {}", n + 2);
        let _ = writeln!(expected, "{at} new {start}..{end}");
    }
    trace += "400 A>B data 4000..4980 id 22
        401 A>B data 4980..5000 id 23
        403 A>B data 4980..5000 id 23
        404 A>B data 4980..5000 id 24";
    expected += "400 retransmission 4000..4980 timeout downstream seen_before
401 retransmission 4980..5000 timeout downstream seen_before
403 duplicate 4980..5000 ip_id
404 retransmission 4980..5000 timeout downstream seen_before";
    check(&opened(&trace), &expected);
}

#[test]
fn bytes_repeated_after_their_ack_passed_were_not_needed() {
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 1000
             135 A>B data 0..1000",
        ),
        "100 new 0..1000 rtt 20 clean
         135 retransmission 0..1000 unneeded seen_before",
    );
}

#[test]
fn a_repeat_of_the_tail_after_two_round_trips_is_a_tail_probe() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             120 B>A ack 1000
             190 A>B data 1000..2000
             210 B>A ack 2000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 1000..2000
         190 retransmission 1000..2000 tail_probe downstream seen_before",
    );
}

#[test]
fn without_sack_a_repeat_of_the_tail_is_a_timers() {
    // RFC 8985 section 7 probes the tails of connections with SACK alone; RFC 6298 has no floor that all keep.
    let reason = |answer: &str, again: &str| {
        let rows = play(&format!(
            "0 A>B syn
             20 B>A syn {answer} ack 0
             30 A>B ack 0
             100 A>B data 0..1000
             101 A>B data 1000..2000
             120 B>A ack 1000
             {again} A>B data 1000..2000
             420 B>A ack 2000"
        ))
        .rows;
        rows[2].verdict.reason
    };
    assert_eq!(reason("bare", "190"), Some(Reason::Timeout));
    assert_eq!(reason("bare", "400"), Some(Reason::Timeout));
    assert_eq!(reason("", "190"), Some(Reason::TailProbe));
}

#[test]
fn a_tail_lost_upstream_is_told_by_skipped_ids() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             120 B>A ack 1000
             121 B>A ack 2000
             122 B>A ack 3000
             200 A>B data 3000..4000 id 6
             220 B>A ack 4000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 1000..2000 rtt 20 clean
         102 new 2000..3000 rtt 20 clean
         200 retransmission 3000..4000 tail_probe upstream ip_id",
    );
}

#[test]
fn a_repeat_of_the_head_after_a_long_silence_is_a_timeout() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             400 A>B data 0..1000
             420 B>A ack 1000
             430 A>B data 1000..2000
             431 A>B data 2000..3000
             450 B>A ack 3000",
        ),
        "100 new 0..1000
         101 new 1000..2000
         102 new 2000..3000
         400 retransmission 0..1000 timeout downstream seen_before
         430 retransmission 1000..2000 timeout downstream seen_before
         431 retransmission 2000..3000 timeout downstream seen_before",
    );
}

#[test]
fn a_segment_that_is_partly_new_is_new_and_counts_its_old_bytes_apart() {
    check(
        &opened(
            "100 A>B data 0..1000
             400 A>B data 500..1500",
        ),
        "100 new 0..1000
         400 new 500..1500 again 500",
    );
}

#[test]
fn the_byte_before_the_next_on_an_idle_flow_is_a_keep_alive() {
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 1000
             9000 A>B data 999..1000
             9020 B>A ack 1000",
        ),
        "100 new 0..1000 rtt 20 clean
         9000 keep_alive 999..1000",
    );
}

#[test]
fn a_message_of_one_byte_that_is_repeated_is_no_keep_alive() {
    // A key that was pressed; its ACK passed here and was lost later. RFC 9293 section 3.9.1: what is sent is pushed,
    // and the byte of a keep-alive (section 3.8.4) is not sent by anyone.
    check(
        &opened(
            "100 A>B psh data 0..1
             120 B>A ack 1
             330 A>B psh data 0..1
             350 B>A ack 1
             9000 A>B data 0..1",
        ),
        "100 new 0..1 rtt 20 clean
         330 retransmission 0..1 unneeded seen_before
         9000 keep_alive 0..1",
    );
}

#[test]
fn a_byte_into_a_closed_window_is_a_probe() {
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 1000 win 0
             400 A>B data 1000..1001
             420 B>A ack 1000 win 0
             900 A>B data 1000..1001",
        ),
        "100 new 0..1000 rtt 20 clean
         400 window_probe 1000..1001
         900 window_probe 1000..1001",
    );
}

#[test]
fn what_comes_from_below_the_start_of_a_capture_was_not_seen_before() {
    check(
        "100 A>B data 5000..6000 ack 0 id 7
         101 A>B data 6000..7000 ack 0 id 8
         102 A>B data 7000..8000 ack 0 id 9
         103 A>B data 8000..9000 ack 0 id 10
         104 A>B data 4000..5000 ack 0 id 6",
        "100 new 0..1000
         101 new 1000..2000
         102 new 2000..3000
         103 new 3000..4000
         104 reordered -1000..0 ip_id",
    );
}

#[test]
fn a_skipped_id_that_a_short_hole_took_leaves_none_for_what_comes_after() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..1100 id 3
             121 B>A ack 1100
             200 A>B data 1100..2100 id 4
             220 B>A ack 2100
             300 A>B data 2200..3200 id 6
             320 B>A ack 2100 sack 2200..3200
             340 A>B data 2100..2200 id 7
             360 B>A ack 3200",
        ),
        "100 new 0..1000 rtt 21 delayed_ack
         101 new 1000..1100 rtt 20 clean
         200 new 1100..2100 rtt 20 clean
         300 new 2200..3200 rtt 20 sack
         340 retransmission 2100..2200 fast upstream ip_id",
    );
}

#[test]
fn an_answer_may_come_a_little_sooner_than_the_handshake_did() {
    // 10 ms to the sender and back, less an eighth: one exchange is no minimum.
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 2000..3000
             102 A>B data 3000..4000
             103 A>B data 4000..5000
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             122 B>A ack 1000 sack 2000..4000
             123 B>A ack 1000 sack 2000..5000
             132 A>B data 1000..2000
             152 B>A ack 5000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         102 new 3000..4000 rtt 20 sack
         103 new 4000..5000 rtt 20 sack
         132 retransmission 1000..2000 fast upstream sack",
    );
}

#[test]
fn the_peers_data_shows_how_soon_an_answer_can_come() {
    // As above, but A acknowledged B's data within 6 ms, so 8 ms are enough for an answer.
    check(
        &opened(
            "50 B>A data 0..100 ack 0
             56 A>B ack 100
             100 A>B data 0..1000 ack 100
             101 A>B data 2000..3000 ack 100
             102 A>B data 3000..4000 ack 100
             103 A>B data 4000..5000 ack 100
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             122 B>A ack 1000 sack 2000..4000
             123 B>A ack 1000 sack 2000..5000
             129 A>B data 1000..2000 ack 100
             149 B>A ack 5000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         102 new 3000..4000 rtt 20 sack
         103 new 4000..5000 rtt 20 sack
         129 retransmission 1000..2000 fast upstream sack",
    );
}

#[test]
fn an_older_clock_shows_a_duplicate_however_late_it_comes() {
    // The round trip is 30 ms, but at 140 A's clock stood at 9 or later, so what carries 7 was emitted before: the
    // packet of 100 again. At 180 it carries 12, as a repeat does.
    check(
        &opened(
            "100 A>B data 0..1000 ts 7/3
             110 A>B data 1000..2000 ts 9/3
             120 B>A ack 1000 ts 4/7
             140 A>B data 0..1000 ts 7/3
             180 A>B data 1000..2000 ts 12/4",
        ),
        "100 new 0..1000 rtt 20 clean
         110 new 1000..2000
         140 duplicate 0..1000 tsval
         180 retransmission 1000..2000 tail_probe downstream seen_before",
    );
}

#[test]
fn the_first_fin_that_is_acknowledged_ends_the_stream() {
    let state = play(&opened(
        "100 A>B data 0..1000
         120 B>A ack 1000
         130 A>B at 1000 fin
         150 B>A ack 1001
         160 A>B at 1001 fin
         180 B>A ack 1002",
    ))
    .state;
    assert_eq!(
        (state.acked_bytes, state.unseen_bytes),
        (Some(1000), Some(0))
    );
}

/// A FIN takes the number after the last byte: what is below has been sent, and comes again.
#[test]
fn what_a_fin_passed_without_is_repeated_when_it_comes() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             120 B>A ack 1000
             200 A>B at 2000 fin id 4
             220 B>A ack 1000 sack 2000..2001
             500 A>B data 1000..2000 id 5
             520 B>A ack 2001",
        ),
        "100 new 0..1000 rtt 20 clean
         500 retransmission 1000..2000 timeout upstream ip_id",
    );
    check(
        &opened(
            "200 A>B at 100 fin
             220 B>A ack 0 sack 100..101
             500 A>B data 0..100
             520 B>A ack 101",
        ),
        "500 retransmission 0..100 timeout upstream sack",
    );
    // Nothing may be sent beyond the window, so the number is not of this stream.
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 1000 win 10
             200 A>B at 9000000 fin
             500 A>B data 1000..2000
             520 B>A ack 2000 win 10",
        ),
        "100 new 0..1000 rtt 20 clean
         500 new 1000..2000 rtt 20 clean",
    );
}

#[test]
fn an_id_skipped_stands_for_a_packet_not_for_a_frame_of_many() {
    // The receiver's card merges packets (MSS 1000). After a pause 4000..9000 is lost, five packets with ids 6 to 10:
    // just what is missing below 9000..13000, which was not sent before.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..4000 id 4
         103 B>A ack 4000
         300 A>B data 9000..13000 id 11
         301 B>A ack 4000 sack 9000..13000
         331 A>B data 4000..9000 id 15
         332 B>A ack 13000",
    );
    check(
        &trace,
        "100 new 0..1000 rtt 3 stretch_ack
         101 new 1000..2000 rtt 2 stretch_ack
         102 new 2000..4000 rtt 1 stretch_ack
         300 new 9000..13000 rtt 1 sack
         331 retransmission 4000..9000 fast upstream ip_id",
    );
    assert_eq!(play(&trace).state.skipped_packets, 5);
}

#[test]
fn a_hole_reported_once_is_filled_again_when_packets_can_be_overtaken_no_more() {
    // RFC 8985 section 6.2: the sender waits for a quarter of the round trip of 30 ms.
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 2000..3000
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             138 A>B data 1000..2000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         138 retransmission 1000..2000 fast upstream sack",
    );
}

#[test]
fn a_stray_segment_is_listed_with_its_own_number() {
    // ISN 999: the first byte is number 1000. The stray is 2^31 - 10,000 behind it, farther than any window
    // reaches (RFC 7323 section 2.3).
    let seen = play(&opened(
        "100 A>B data 0..1000
         101 A>B data 2147473648..2147474648
         102 A>B data 1000..2000
         120 B>A ack 2000",
    ));
    let rows: Vec<(u32, &str)> = seen
        .rows
        .iter()
        .map(|row| (row.seq.0, row.verdict.class.name()))
        .collect();
    assert_eq!(
        rows,
        [(1000, "new"), (2_147_474_648, "ambiguous"), (2000, "new")]
    );
    assert_eq!(seen.state.strays, 1);
}

#[test]
fn what_shows_a_repeat_to_be_unneeded_does_not_change_the_keep_alive_behind_it() {
    let trace = opened(
        "80 A>B data 0..1000
         100 B>A ack 1000 id 5
         110 A>B data 1000..2000
         400 A>B data 1000..2000
         416 B>A ack 2000 id 6
         5000 A>B data 1999..2000
         5020 B>A ack 2000 sack 1000..2000 id 7",
    );
    let rows = play(&trace).rows;
    assert_eq!(rows[2].verdict.reason, Some(Reason::Unneeded));
    assert_eq!(rows[3].verdict.class, Class::KeepAlive);
}

#[test]
fn a_byte_at_the_edge_of_a_window_that_was_closed_below_what_was_sent_is_a_probe() {
    // The receiver took half of the second segment: the rest is outstanding when a byte looks for room (RFC 9293
    // section 3.8.6.1).
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             121 B>A ack 1500 win 0
             300 A>B data 1500..1501
             320 B>A ack 1500 win 0",
        ),
        "100 new 0..1000 rtt 21 delayed_ack
         101 new 1000..2000
         300 window_probe 1500..1501",
    );
}

#[test]
fn an_original_that_is_later_than_its_repeat_is_as_late_as_its_hole_is_old() {
    // RFC 4737 section 4: three packets came between, the repeat among them, since 101.
    let seen = play(&opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 2000..3000 id 4
         102 A>B data 3000..4000 id 5
         120 B>A ack 1000
         121 B>A ack 1000 sack 2000..3000
         122 B>A ack 1000 sack 2000..4000
         140 A>B data 1000..2000 id 6
         145 A>B data 1000..2000 id 3",
    ));
    let classes: Vec<Class> = seen.rows.iter().map(|row| row.verdict.class).collect();
    assert_eq!(classes[3..], [Class::Retransmission, Class::Reordered]);
    assert_eq!(seen.data[4].extent, Some((3, 44_000_000)));
}
