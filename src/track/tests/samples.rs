//! Which segments give an RTT sample where holes, repeats and frames meet (METRICS.md R1).

use super::{check, check_in_flight, opened, opened_bare, play};

/// The samples of the data segments of A, in ms, in the order they passed.
fn rtts(trace: &str) -> Vec<Option<i64>> {
    let rows = play(trace).rows;
    let rtts = rows.iter().map(|row| row.rtt.map(|(ns, _)| ns / 1_000_000));
    rtts.collect()
}

#[test]
fn what_a_second_hole_held_back_gives_no_sample_without_sack() {
    // At the receiver: 3000..4000 passes while both 0..1000 and 2000..3000 are under way, and waits for the latter.
    let trace = opened_bare(
        "100 A>B data 1000..2000 ts 11/0
         101 B>A ack 0 ts 5/9
         102 A>B data 3000..4000 ts 12/0
         103 B>A ack 0 ts 5/9
         104 A>B data 0..1000 ts 10/0
         105 B>A ack 2000 ts 6/10
         110 A>B data 2000..3000 ts 11/0
         111 B>A ack 4000 ts 7/11",
    );
    assert_eq!(rtts(&trace), [None, None, Some(1), Some(1)]);
}

#[test]
fn what_waited_gives_no_sample_where_the_window_moves_meanwhile() {
    // RFC 5681 section 2 counts no ACK with another window as a duplicate; it stands where it is all the same.
    let held = "100 A>B data 1000..2000 ts 11/0
         101 B>A ack 0 ts 5/9 win 510
         102 A>B data 2000..3000 ts 12/0
         103 B>A ack 0 ts 5/9 win 520
         104 A>B data 0..1000 ts 10/0
         105 B>A ack 3000 ts 6/10 win 530";
    assert_eq!(rtts(&opened_bare(held)), [None, None, Some(1)]);
    // Without an ACK when they came nothing was missing there: they are in the wrong order here alone.
    let silent: Vec<&str> = held
        .lines()
        .filter(|line| !line.contains("ack 0"))
        .collect();
    let trace = opened_bare(&silent.join("\n"));
    assert_eq!(rtts(&trace), [Some(5), Some(3), Some(1)]);
}

#[test]
fn what_was_overtaken_and_comes_long_after_gives_no_sample_as_a_repeat_of_it_was_missed() {
    // Answers take 20 ms. What was lost behind here is repeated at 220, which the capture missed; `told` moves the ACK over it
    // or, above another hole, reports it.
    let trace = |told: &str| {
        opened(&format!(
            "50 B>A ack 0 ts 1/0
             60 A>B data 0..1000 ts 6/1
             80 B>A ack 1000 ts 2/6
             90 A>B data 1000..2000 ts 9/2
             110 B>A ack 2000 ts 3/9
             111 A>B data 2000..3000 ts 10/3
             112 A>B data 3000..4000 ts 11/3
             113 A>B data 4000..5000 ts 12/3
             {told}"
        ))
    };
    let reported = "133 B>A ack 2000 ts 4/9 sack 4000..5000";
    let of = |told: &str| rtts(&trace(&format!("{reported}\n{told}")))[2..].to_vec();
    let last = Some(20);
    assert_eq!(of("240 B>A ack 5000 ts 5/14"), [None, None, last]);
    let by_sack = "240 B>A ack 2000 ts 5/9 sack 3000..5000";
    assert_eq!(of(by_sack), [None, None, last]);
    // A little later others have overtaken it on the way.
    assert_eq!(of("136 B>A ack 5000 ts 5/14"), [Some(25), Some(24), last]);
    // Its own clock comes back: it came late.
    assert_eq!(of("240 B>A ack 3000 ts 5/10"), [Some(129), None, last]);
    // The clock of its first copy does, though another one passed.
    let repeated = "150 A>B data 2000..3000 ts 16/4\n290 B>A ack 3000 ts 5/10";
    assert_eq!(of(repeated), [Some(179), None, last, None]);
    // Nothing has overtaken it.
    let above = rtts(&trace("240 B>A ack 5000 ts 5/10"));
    assert_eq!(above[2..], [Some(129), Some(128), Some(127)]);
}

#[test]
fn an_echo_tells_which_copy_was_answered_below_what_was_not_seen() {
    for (echo, expected) in [
        (10, [Some(320), None]),
        (40, [None, Some(20)]),
        (39, [None; 2]),
    ] {
        let trace = opened(&format!(
            "50 B>A ack 0 ts 1/0
             100 A>B data 0..1000 ts 10/1
             400 A>B data 0..1000 ts 40/1
             420 B>A ack 5000 ts 9/{echo}"
        ));
        assert_eq!(rtts(&trace), expected);
    }
}

#[test]
fn what_passed_after_its_ack_makes_no_stretch_ack() {
    check(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 2000
             121 B>A ack 3000
             122 A>B data 1000..2000
             123 A>B data 2000..3000
             130 A>B data 3000..4000
             150 B>A ack 4000",
        ),
        "100 new 0..1000 rtt 20 delayed_ack
         122 new 1000..2000
         123 new 2000..3000
         130 new 3000..4000 rtt 20 clean",
    );
}

#[test]
fn a_repeat_that_ends_within_a_segment_gives_its_own_sample() {
    // More options left it less room; the rest comes by itself.
    check(
        &opened(
            "100 A>B data 0..1000 ts 10/0
             400 A>B data 0..988 ts 40/0
             401 A>B data 988..1000 ts 41/0
             420 B>A ack 988 ts 9/40
             422 B>A ack 1000 ts 9/41",
        ),
        "100 new 0..1000
         400 retransmission 0..988 timeout downstream seen_before rtt 20 recovery
         401 retransmission 988..1000 timeout downstream seen_before rtt 21 recovery",
    );
}

#[test]
fn a_repeat_across_segments_gives_one_sample_where_one_ack_covers_it() {
    check(
        &opened(
            "100 A>B data 0..500 ts 7/3
             101 A>B data 500..1000 ts 7/3
             102 A>B data 1000..1500 ts 7/3
             400 A>B data 0..1000 ts 20/3
             420 B>A ack 1500 ts 4/20",
        ),
        "100 new 0..500
         101 new 500..1000
         102 new 1000..1500
         400 retransmission 0..1000 timeout downstream seen_before rtt 20 recovery",
    );
}

#[test]
fn a_part_repeated_at_the_instant_of_the_whole_gives_no_sample_where_its_clock_is_not_echoed() {
    // R1: it is no rest of that repeat, whose clock the ACK echoes (RFC 7323 section 4.3).
    let trace = opened(
        "100 A>B data 0..500 ts 7/3
         101 A>B data 500..1000 ts 7/3
         400 A>B data 0..1000 ts 20/3
         400 A>B data 500..1000 ts 21/3
         420 B>A ack 1000 ts 4/20",
    );
    assert_eq!(rtts(&trace)[3], None);
}

#[test]
fn so_does_one_that_begins_with_what_was_not_seen() {
    let trace = opened(
        "100 A>B data 500..1000 ts 7/3
         101 A>B data 1000..1500 ts 7/3
         400 A>B data 0..1000 ts 20/3
         420 B>A ack 1500 ts 4/20",
    );
    assert_eq!(rtts(&trace), [None, None, Some(20)]);
}

#[test]
fn a_segment_of_which_a_part_was_sent_again_gives_no_sample() {
    // Karn's rule (RFC 6298 section 3), though its last byte was sent once.
    assert_eq!(
        rtts(&opened(
            "100 A>B data 0..1000
             400 A>B data 0..12
             420 B>A ack 12
             440 B>A ack 1000"
        )),
        [None, None]
    );
}

#[test]
fn the_last_byte_of_a_frame_gives_its_sample_by_sack_though_others_lack() {
    let seen = opened(
        "100 A>B data 0..3000
         121 B>A ack 0 sack 2000..3000
         133 A>B data 0..2000
         153 B>A ack 3000",
    );
    assert_eq!(rtts(&seen), [Some(21), None]);
    // Nor does a repeat of all of it change that: its last byte had been reported when it passed.
    let seen = opened(
        "100 A>B data 0..3000 ts 10/3
         121 B>A ack 0 sack 2000..3000 ts 4/9
         133 A>B data 0..3000 ts 13/4
         153 B>A ack 3000 ts 7/13",
    );
    assert_eq!(rtts(&seen), [Some(21), None]);
    // Its last byte came with the ACK.
    let seen = opened(
        "100 A>B data 0..3000
         121 B>A ack 0 sack 1000..2000
         141 B>A ack 3000",
    );
    assert_eq!(rtts(&seen), [Some(41)]);
}

#[test]
fn a_report_from_before_the_first_data_counts_when_it_comes_again() {
    // METRICS.md I1: 7000 less 1000 acknowledged and 2000 reported. The report of 99 tells nothing yet, as nobody knows
    // where the stream is.
    check_in_flight(
        "99 B>A ack 1000 sack 2000..4000
         100 A>B data 5000..6000
         110 B>A ack 1000 sack 2000..4000
         111 A>B data 6000..7000",
        &[None, Some(4000)],
    );
}

#[test]
fn an_ack_that_tells_of_a_copy_that_came_again_gives_no_sample_of_the_one_before() {
    // The ACKs of the first copy were lost. Its clock is echoed all the same, as old data moves none (RFC 7323 section
    // 4.3), in the ACK that the repeat brought about, and there is no telling when the first was answered.
    let trace = opened(
        "50 B>A ack 0 ts 1/0
         100 A>B data 0..1000 ts 10/1
         400 A>B data 0..1000 ts 40/1
         420 B>A ack 1000 sack 0..1000 ts 9/10",
    );
    check(
        &trace,
        "100 new 0..1000
         400 retransmission 0..1000 unneeded dsack",
    );
    // Without that the ACK may have been late.
    assert_eq!(rtts(&trace.replace(" sack 0..1000", "")), [Some(320), None]);
}

#[test]
fn a_frame_of_which_a_part_was_sent_again_gives_no_second_sample() {
    // SACK reports its last byte. What is repeated below came first after all, as the echo of the last ACK shows.
    let seen = play(&opened(
        "100 A>B data 0..20000 ts 10/1
         107 B>A ack 9000 ts 2/10 sack 10000..20000
         108 A>B data 9000..10000 ts 11/2
         109 B>A ack 20000 ts 2/10",
    ));
    assert_eq!(seen.rtts_ms, [7]);
    let rows: Vec<Option<i64>> = seen
        .rows
        .iter()
        .map(|row| row.rtt.map(|(ns, _)| ns / 1_000_000))
        .collect();
    assert_eq!(rows, [Some(7), None]);
}

#[test]
fn what_came_behind_the_copy_that_is_echoed_did_not_wait_for_another_one() {
    // The timer ran out too soon: the first copies were acknowledged together.
    let answered = |clocks: [u32; 2], echo: u32, sack: &str| {
        let [first, again] = clocks;
        rtts(&opened(&format!(
            "100 A>B data 0..1000 ts {first}/0
             101 A>B data 1000..2000 ts 101/0
             102 A>B data 2000..3000 ts 102/0
             400 A>B data 0..1000 ts {again}/0
             401 A>B data 3000..4000 ts 401/0
             {sack}420 B>A ack 4000 ts 900/{echo}"
        )))
    };
    let samples = [Some(320), Some(319), Some(318), None, Some(19)];
    assert_eq!(answered([100, 400], 100, ""), samples);
    // The repeat closed the hole: what came behind that alone did not wait.
    let samples = [None, None, None, Some(20), Some(19)];
    assert_eq!(answered([100, 400], 400, ""), samples);
    // It is not known which of both came.
    assert_eq!(answered([100, 100], 100, "")[1..3], [None; 2]);
    // What was reported waited.
    let reported = "410 B>A ack 0 ts 890/99 sack 1000..2000\n";
    let samples = [Some(320), Some(309), Some(318), None, Some(19)];
    assert_eq!(answered([100, 400], 100, reported), samples);
}
