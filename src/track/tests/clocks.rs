//! Captures whose clock stepped back.

use super::{opened, play};
use crate::event::Reason;

/// A download over 20 ms, of which 1000..2000 is lost and repeated, before the clock steps back.
const REPEATED: &str = "1000 A>B data 0..1000
         1020 B>A ack 1000
         1100 A>B data 1000..2000
         1101 A>B data 2000..3000
         1102 A>B data 3000..4000
         1103 A>B data 4000..5000
         1121 B>A ack 1000 sack 2000..3000
         1122 B>A ack 1000 sack 2000..4000
         1123 B>A ack 1000 sack 2000..5000
         1133 A>B data 1000..2000
         ";

fn opened_and(rest: &str) -> String {
    opened(REPEATED) + rest
}

#[test]
fn a_clock_that_stepped_back_makes_no_answer_too_early_and_no_silence() {
    // Its answer passes behind the step.
    let trace = opened_and(
        "533 B>A ack 5000
         540 A>B data 5000..6000
         560 B>A ack 6000",
    );
    let reasons = |trace: &str| -> Vec<_> {
        let rows = play(trace).rows;
        rows.iter().filter_map(|row| row.verdict.reason).collect()
    };
    assert_eq!(reasons(&trace), [Reason::Fast]);
    assert_eq!(play(&trace).lost, [0, 1]);
    // A repeat that was lost, too, is repeated behind the step, as what was sent behind it was reported.
    let again = opened_and(
        "1134 A>B data 5000..6000
         554 B>A ack 1000 sack 2000..6000
         566 A>B data 1000..2000
         586 B>A ack 6000",
    );
    assert_eq!(reasons(&again), [Reason::Fast, Reason::Fast]);
}

/// Samples in ms, and those of the timestamps of A.
fn samples(trace: &str) -> (Vec<Option<i64>>, Vec<i64>) {
    let told = play(&opened(trace));
    let rtts = told.rows.iter().map(|row| row.rtt);
    let rtts = rtts.map(|rtt| rtt.map(|(ns, _)| ns / 1_000_000));
    (rtts.collect(), told.timestamp_rtts_ms)
}

/// Over 40 ms, six packets and then, with a clock that was set back by 10 ms, six more; `acks` come of these.
fn set_back(acks: &str) -> String {
    let data = |packet: i64, at: i64| {
        let start = 1000 * packet;
        format!(
            "{at} A>B data {start}..{} ts {}/1\n",
            start + 1000,
            10 + packet
        )
    };
    let before = (0..6).map(|packet| data(packet, 100 + packet));
    let behind = (6..12).map(|packet| data(packet, 90 + packet));
    before.chain(behind).collect::<String>() + acks
}

/// METRICS.md R1: no delay below 0 shows that the clock was set back by 10 ms.
#[test]
fn what_passed_before_a_clock_was_set_back_gives_no_sample() {
    let acks = "130 B>A ack 1000 ts 2/10
         135 B>A ack 6000 ts 3/15
         136 B>A ack 9000 ts 4/18
         139 B>A ack 10000 ts 5/19
         140 B>A ack 11000 ts 6/20
         141 B>A ack 12000 ts 7/21";
    let (rtts, echoes) = samples(&set_back(acks));
    // Three pass behind before it is certain.
    assert_eq!(rtts[..9], [None; 9]);
    assert_eq!(rtts[9..], [Some(40); 3]);
    assert_eq!(echoes, [40; 3]);
}

/// It was set back once, by more than a round trip, and not by the ACKs behind, which are before the last one, again.
#[test]
fn what_passes_behind_a_clock_that_was_set_back_gives_samples_whatever_the_other_side_is_dated() {
    let trace = "300 A>B data 0..1000 ts 10/1
         340 B>A ack 1000 ts 2/10
         241 A>B data 1000..2000 ts 11/2
         242 A>B data 2000..3000 ts 12/2
         243 A>B data 3000..4000 ts 13/2
         244 A>B data 4000..5000 ts 14/2
         245 A>B data 5000..6000 ts 15/2
         284 B>A ack 5000 ts 3/14
         285 B>A ack 6000 ts 4/15";
    let (rtts, echoes) = samples(trace);
    let expected = [Some(40), None, None, None, Some(40), Some(40)];
    assert_eq!((rtts, echoes), (expected.to_vec(), vec![40; 3]));
}

/// The same where packets of the receiver are those that are dated back, and each would be answered by four.
#[test]
fn an_ack_that_is_dated_back_gives_no_sample() {
    let trace = "99 B>A ack 0 ts 1/0
         100 A>B data 0..1000 ts 10/1
         101 A>B data 1000..2000 ts 11/1
         102 A>B data 2000..3000 ts 12/1
         103 A>B data 3000..4000 ts 13/1
         104 A>B data 4000..5000 ts 14/1
         140 B>A ack 1000 ts 2/10
         131 B>A ack 2000 ts 3/11
         132 B>A ack 2000 ts 3/11 sack 3000..4000
         133 B>A ack 4000 ts 4/13
         134 B>A ack 5000 ts 5/14
         150 A>B data 5000..6000 ts 15/5
         190 B>A ack 6000 ts 6/15";
    let (rtts, echoes) = samples(trace);
    let expected = [Some(40), None, None, None, None, Some(40)];
    assert_eq!((rtts, echoes), (expected.to_vec(), vec![40, 40]));
}

/// Captures in disorder have right times, however far back a record is.
#[test]
fn what_is_written_late_takes_no_samples() {
    let one_late = "100 A>B data 0..1000 ts 10/1
         101 A>B data 1000..2000 ts 11/1
         105 A>B data 3000..4000 ts 13/1
         102 A>B data 2000..3000 ts 12/1
         106 A>B data 4000..5000 ts 14/1
         140 B>A ack 1000 ts 2/10
         141 B>A ack 2000 ts 3/11
         145 B>A ack 4000 ts 5/13
         142 B>A ack 3000 ts 4/12
         146 B>A ack 5000 ts 6/14";
    let (rtts, _) = samples(one_late);
    assert_eq!(rtts.iter().flatten().count(), 5, "{rtts:?}");
    // As far as network cards swap packets, what an ACK tells counts as well.
    let swapped = "100 A>B data 0..1000 ts 10/1
         120 A>B data 1000..2000 ts 12/1
         119 A>B data 2000..3000 ts 13/1
         140 B>A ack 1000 ts 2/10
         160 B>A ack 2000 ts 3/12
         159 B>A ack 3000 ts 4/13";
    assert_eq!(samples(swapped).0, [Some(40); 3]);
}

/// METRICS.md F2, R1, R4: what says no time is dated as of the year 1970, and here hours before all else.
#[test]
fn what_was_dated_hours_too_early_has_no_round_trip() {
    let trace = |first| {
        format!(
            "{first} A>B syn ts 1/0
             20000020 B>A syn ack 0 ts 5/1
             20000040 A>B ack 0 ts 2/5
             20000041 A>B data 0..1000 ts 3/5
             20000061 B>A ack 1000 ts 6/3"
        )
    };
    let told = |first| {
        let seen = play(&trace(first));
        let handshake = seen.handshake.map(|(all_ns, ..)| all_ns / 1_000_000);
        (handshake, seen.timestamp_rtts_ms)
    };
    assert_eq!(told(20_000_000), (Some(40), vec![20, 20]));
    assert_eq!(told(0), (None, vec![20]));
    // So it is of data.
    let data = |first| {
        let seen = play(&format!(
            "{first} A>B data 0..1000 ts 3/5
             20000020 B>A ack 1000 ts 6/3
             20000030 A>B data 1000..2000 ts 4/6
             20000050 B>A ack 2000 ts 7/4"
        ));
        let rtts = seen.rows.iter().map(|row| row.rtt);
        let rtts: Vec<_> = rtts.map(|rtt| rtt.map(|(ns, _)| ns / 1_000_000)).collect();
        (rtts, seen.timestamp_rtts_ms)
    };
    assert_eq!(data(20_000_000), (vec![Some(20), Some(20)], vec![20, 20]));
    assert_eq!(data(0), (vec![None, Some(20)], vec![20]));
}
