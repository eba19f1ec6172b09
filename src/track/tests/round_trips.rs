//! Which segments give an RTT sample, and which do not (METRICS.md R1).

use super::{check, opened, play};
use crate::event::Class;

#[test]
fn a_segment_and_its_ack_are_a_sample() {
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 1000",
        ),
        "100 new 0..1000 rtt 20 clean",
    );
}

#[test]
fn an_ack_for_two_segments_gives_two_samples_of_which_the_first_was_delayed() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             121 B>A ack 2000",
        ),
        "100 new 0..1000 rtt 21 delayed_ack
         101 new 1000..2000 rtt 20 clean",
    );
}

#[test]
fn what_has_an_ack_of_its_own_was_held_back_by_nothing() {
    // Without SACK or timestamps: the ACK of 171 closes the hole, for which 1000..2000 had waited. What was in flight
    // when the repeat passed, and came behind it, is answered when it comes.
    let seen = play(
        "90 A>B data 0..500
         99 B>A ack 500
         100 A>B data 500..1000
         101 A>B data 1000..2000
         121 B>A ack 500
         148 A>B data 2000..3000
         149 A>B data 3000..4000
         150 A>B data 500..1000
         171 B>A ack 2000
         172 B>A ack 3000
         173 B>A ack 4000",
    );
    let rtts = seen
        .rows
        .iter()
        .map(|row| row.rtt.map(|(ns, _)| ns / 1_000_000));
    let expected = [Some(9), None, None, Some(24), Some(24), None];
    assert_eq!(rtts.collect::<Vec<_>>(), expected);
}

#[test]
fn an_ack_for_three_segments_is_a_stretch_ack() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             122 B>A ack 3000",
        ),
        "100 new 0..1000 rtt 22 stretch_ack
         101 new 1000..2000 rtt 21 stretch_ack
         102 new 2000..3000 rtt 20 stretch_ack",
    );
}

#[test]
fn a_sack_gives_samples_and_a_repeated_segment_none() {
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
             153 B>A ack 4000",
        ),
        "100 new 0..1000
         101 new 1000..2000 rtt 20 sack
         102 new 2000..3000 rtt 20 sack
         103 new 3000..4000 rtt 20 sack
         133 retransmission 0..1000 fast downstream seen_before",
    );
}

#[test]
fn what_waited_for_a_repair_gives_no_sample_without_sack() {
    check(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             121 B>A ack 0
             122 B>A ack 0
             400 A>B data 0..1000
             420 B>A ack 3000",
        ),
        "100 new 0..1000
         101 new 1000..2000
         102 new 2000..3000
         400 retransmission 0..1000 timeout downstream seen_before",
    );
}

#[test]
fn an_echo_tells_which_copy_was_answered() {
    check(
        &opened(
            "100 A>B data 0..1000 ts 100/0
             101 A>B data 1000..2000 ts 101/0
             400 A>B data 0..1000 ts 400/0
             420 B>A ack 1000 ts 900/400",
        ),
        "100 new 0..1000
         101 new 1000..2000
         400 retransmission 0..1000 timeout downstream seen_before rtt 20 recovery",
    );
}

#[test]
fn a_network_copy_does_not_cost_the_sample() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 2000..3000 id 4
             120 B>A ack 1000
             121 B>A ack 2000
             122 B>A ack 3000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 1000..2000 rtt 20 clean
         102 new 2000..3000 rtt 20 clean
         103 duplicate 2000..3000 ip_id",
    );
}

#[test]
fn sequence_numbers_may_wrap_within_a_segment() {
    check(
        &format!(
            "isn A 4294966795\n{}",
            opened(
                "100 A>B data 0..1000
                 101 A>B data 1000..2000
                 120 B>A ack 1000
                 121 B>A ack 2000",
            )
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 1000..2000 rtt 20 clean",
    );
}

#[test]
fn a_stream_met_in_the_middle_counts_from_the_first_byte_seen() {
    check(
        "100 A>B data 5000..6000 ack 0
         120 B>A ack 6000
         130 A>B data 6000..7000 ack 0
         150 B>A ack 7000",
        "100 new 0..1000 rtt 20 clean
         130 new 1000..2000 rtt 20 clean",
    );
}

#[test]
fn a_repeated_syn_takes_no_ack_back() {
    // A's SYN was late and sent twice; what is acknowledged later is new all the same.
    let seen = play(&opened(
        "40 A>B syn
         100 A>B data 0..1000
         120 B>A ack 1000",
    ));
    assert_eq!((seen.acked, seen.state.acked_bytes), (1000, Some(1000)));
}

#[test]
fn the_first_ack_of_a_stream_met_in_the_middle_acknowledges_what_was_seen() {
    let seen = play(
        "100 A>B data 5000..6000
         120 B>A ack 6000",
    );
    assert_eq!((seen.acked, seen.state.acked_bytes), (1000, Some(1000)));
}

#[test]
fn a_syn_may_be_acknowledged_with_its_data() {
    // Fast open (RFC 7413 section 4.2): all of the data, or none of it.
    for ack in [0, 100] {
        let seen = play(&format!(
            "0 A>B data 0..100 syn
             20 B>A syn ack {ack}
             30 A>B ack 0"
        ));
        assert_eq!(seen.handshake, Some((30_000_000, 20_000_000, 10_000_000)));
    }
}

#[test]
fn a_late_answer_with_another_number_moves_no_stream() {
    // Two hosts answered, and the peer has acknowledged one of them.
    let seen = play(&opened(
        "isn A 70000
         40 A>B syn
         isn A 999
         100 A>B data 0..1000
         120 B>A ack 1000",
    ));
    assert_eq!((seen.acked, seen.state.acked_bytes), (1000, Some(1000)));
    assert_eq!(seen.state.unseen_bytes, Some(0));
}

#[test]
fn an_overtaken_echo_is_a_sample_once() {
    // R4: the first echo of each TSval, whatever passed before it: 4 comes back after 5 did, and 7 at 130, after 8 at
    // 120; when it comes once more it says nothing new, and 6 was never echoed.
    let seen = play(
        "70 A>B data 0..1000 ts 4/1
         71 A>B data 1000..2000 ts 5/1
         80 B>A ack 2000 ts 1/5
         81 B>A ack 1000 ts 1/4
         90 A>B data 2000..3000 ts 6/1
         100 A>B data 3000..4000 ts 7/1
         105 A>B data 4000..5000 ts 8/1
         120 B>A ack 5000 ts 2/8
         130 B>A ack 4000 ts 1/7
         131 B>A ack 4000 ts 1/7
         132 B>A ack 5000 ts 2/8",
    );
    assert_eq!(seen.timestamp_rtts_ms, [9, 11, 15, 30]);
}

#[test]
fn a_clock_overtaken_on_its_way_is_dated_when_it_passes() {
    // METRICS.md R4: 5 passes behind 6; once more it says nothing new, and 4 was echoed before it comes late.
    let seen = play(
        "70 A>B data 0..1000 ts 4/1
         80 B>A ack 1000 ts 1/4
         90 A>B data 2000..3000 ts 6/1
         91 A>B data 1000..2000 ts 5/1
         92 A>B data 0..1000 ts 4/1
         93 A>B data 1000..2000 ts 5/1
         100 B>A ack 1000 ts 1/4 sack 2000..3000
         101 B>A ack 3000 ts 2/5
         110 A>B data 3000..4000 ts 7/1
         120 B>A ack 4000 ts 3/7",
    );
    assert_eq!(seen.timestamp_rtts_ms, [10, 10, 10]);
}

#[test]
fn a_clock_of_an_earlier_connection_does_not_stop_this_one() {
    let seen = play(&opened(
        "70 A>B data 0..1000 ts 4/1
         80 B>A ack 1000 ts 1/4
         85 A>B rst ack 0 ts 1000000004/1
         90 A>B data 1000..2000 ts 6/1
         100 B>A ack 2000 ts 2/6
         110 A>B data 2000..3000 ts 8/2
         120 B>A ack 3000 ts 3/8",
    ));
    assert_eq!(seen.timestamp_rtts_ms, [10, 10, 10]);
}

#[test]
fn an_echo_overtaken_by_very_many_is_forgotten() {
    // Eight ticks of the clock are remembered before one was overtaken, the latest echo's among them, and 64 from then on.
    let data = |n| format!("{} A>B data {n}000..{}000 ts {}/1", 100 + n, n + 1, 10 + n);
    let ack = |at: i64, echo: i64| format!("{at} B>A ack {}000 ts 2/{echo}", echo - 9);
    let first = (0..=20)
        .map(data)
        .chain([ack(130, 30), ack(131, 23), ack(131, 22)]);
    let then = (40..=140)
        .map(data)
        .chain([ack(300, 150), ack(301, 87), ack(301, 86)]);
    let trace: Vec<String> = first.chain(then).collect();
    let rtts = play(&trace.join("\n")).timestamp_rtts_ms;
    assert_eq!(rtts, [10, 18, 60, 124]);
}

#[test]
fn what_was_acknowledged_before_it_passed_gives_no_sample() {
    // A network card's queues swapped each ACK with its data. R1 asks for the first ACK that covers a
    // segment, and that one was here before it.
    check(
        &opened(
            "100 B>A ack 1000
             100 A>B data 0..1000
             130 B>A ack 2000
             130 A>B data 1000..2000
             140 A>B data 2000..3000
             160 B>A ack 3000",
        ),
        "100 new 0..1000
         130 new 1000..2000
         140 new 2000..3000 rtt 20 clean",
    );
}

#[test]
fn a_byte_probed_twice_gives_no_sample_without_an_echo() {
    // R1, Karn's rule: the ACK at 1470 may answer either probe.
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 1000 win 0
             650 A>B data 1000..1001
             670 B>A ack 1000 win 0
             1450 A>B data 1000..1001
             1470 B>A ack 1001",
        ),
        "100 new 0..1000 rtt 20 clean
         650 window_probe 1000..1001
         1450 window_probe 1000..1001",
    );
}

#[test]
fn clocks_in_their_upper_half_are_echoed_too() {
    // Nothing is later than the first echo, wherever the clock stands (RFC 7323 section 5.2).
    let seen = play(
        "100 A>B data 0..1000 ts 3000000000/1
         120 B>A ack 1000 ts 2/3000000000
         130 A>B data 1000..2000 ts 3000000030/1
         150 B>A ack 2000 ts 2/3000000030",
    );
    assert_eq!(seen.timestamp_rtts_ms, [20, 20]);
}

#[test]
fn an_ack_for_much_that_was_not_seen_gives_no_sample_for_what_is_below() {
    // The capture stood still from 110 to 500: it lost 2000..9000, and the ACKs of 1000..2000 and after. R1 asks
    // for the first ACK. What passed after the gap gives its sample, and where data came first, too.
    check(
        &opened(
            "50 B>A ack 0
             100 A>B data 0..1000
             101 A>B data 1000..2000
             500 B>A ack 9000
             501 A>B data 9000..10000
             520 B>A ack 10000
             530 A>B data 10000..11000
             531 A>B data 11000..12000
             900 A>B data 20000..21000
             920 B>A ack 21000",
        ),
        "100 new 0..1000
         101 new 1000..2000
         501 new 9000..10000 rtt 19 clean
         530 new 10000..11000
         531 new 11000..12000
         900 new 20000..21000 rtt 20 stretch_ack",
    );
}

#[test]
fn an_ack_for_one_packet_more_than_was_seen_gives_its_samples() {
    // The capture lost 1000..2000, the second of two that one ACK answers (RFC 5681 section 4.2).
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 2000",
        ),
        "100 new 0..1000 rtt 20 delayed_ack",
    );
}

#[test]
fn a_repeat_of_two_segments_in_one_gives_one_sample() {
    // R1: by the first ACK that covers its last byte; the one at 420 covers half of it.
    let trace = opened(
        "100 A>B data 0..1000 ts 7/3
         101 A>B data 1000..2000 ts 7/3
         400 A>B data 0..2000 ts 20/3
         420 B>A ack 1000 ts 4/20
         425 B>A ack 2000 ts 5/20",
    );
    check(
        &trace,
        "100 new 0..1000
         101 new 1000..2000
         400 retransmission 0..2000 timeout downstream seen_before rtt 25 recovery",
    );
    assert_eq!(play(&trace).rtts_ms, [25]);
}

#[test]
fn a_damaged_clock_does_not_make_what_comes_after_it_late() {
    // METRICS.md CLASS, R4. A clock that ticks ten times a second: a repeat carries the same number as its first copy.
    let trace = |damaged: &str| {
        opened(&format!(
            "100 A>B data 0..1000 ts 70/3
             101 A>B data 1000..2000 ts {damaged}/3
             102 A>B data 2000..3000 ts 70/3
             103 A>B data 3000..4000 ts 70/3
             121 B>A ack 0 ts 4/3 sack 1000..2000
             122 B>A ack 0 ts 4/3 sack 1000..3000
             123 B>A ack 0 ts 4/3 sack 1000..4000
             160 A>B data 0..1000 ts 70/4
             180 B>A ack 4000 ts 5/70
             200 A>B data 4000..5000 ts 71/5
             220 B>A ack 5000 ts 6/71"
        ))
    };
    for damaged in ["70", "2000000070", "3000000070", "1048700"] {
        let seen = play(&trace(damaged));
        assert_eq!(
            seen.rows[4].verdict.class,
            Class::Retransmission,
            "{damaged}"
        );
        assert_eq!(seen.timestamp_rtts_ms, [80, 20], "{damaged}");
    }
}

#[test]
fn of_three_copies_the_echo_tells_any() {
    let trace = |clocks: [u32; 3], echo: u32| {
        let [first, second, third] = clocks;
        opened(&format!(
            "100 A>B data 0..1000 ts {first}/0
             400 A>B data 0..1000 ts {second}/0
             1000 A>B data 0..1000 ts {third}/0
             1020 B>A ack 1000 ts 900/{echo}"
        ))
    };
    let rtts = |clocks, echo| -> Vec<Option<i64>> {
        let rows = play(&trace(clocks, echo)).rows;
        let rtts = rows.iter().map(|row| row.rtt.map(|(ns, _)| ns / 1_000_000));
        rtts.collect()
    };
    let clocks = [100, 400, 1000];
    assert_eq!(rtts(clocks, 100), [Some(920), None, None]);
    assert_eq!(rtts(clocks, 400), [None, Some(620), None]);
    assert_eq!(rtts(clocks, 1000), [None, None, Some(20)]);
    // No copy had it, or two had.
    assert_eq!(rtts(clocks, 401), [None; 3]);
    assert_eq!(rtts([100, 100, 1000], 100), [None; 3]);
    assert_eq!(rtts([100, 400, 400], 400), [None; 3]);
    assert_eq!(rtts([100, 400, 400], 100), [Some(920), None, None]);
}

#[test]
fn what_the_network_copied_before_its_ack_is_no_exact_sample() {
    // METRICS.md R3: it passed here twice, also where the ACK says so itself. A copy after the ACK changes nothing.
    let both_came = "B>A ack 2000 sack 1000..2000";
    for (copied_at, answer, exact) in [
        (103, "B>A ack 2000", 1),
        (103, both_came, 1),
        (125, "B>A ack 2000", 2),
    ] {
        let mut lines = [
            (100, "A>B data 0..1000 id 2"),
            (101, "A>B data 1000..2000 id 3"),
            (120, "B>A ack 1000"),
            (121, answer),
            (copied_at, "A>B data 1000..2000 id 3"),
        ];
        lines.sort_unstable();
        let lines = lines.iter().map(|(at, what)| format!("{at} {what}\n"));
        let seen = play(&opened(&lines.collect::<String>()));
        assert_eq!(seen.rtts_ms, [20, 20]);
        assert_eq!(seen.exact_rtts, exact);
    }
}
