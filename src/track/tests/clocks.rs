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

/// METRICS.md R1: over a round trip of 40 ms the clock is set back by 10 ms, which no delay below 0 shows.
#[test]
fn what_passed_before_a_clock_was_set_back_gives_no_sample_and_what_passes_behind_does() {
    let told = |trace: &str| {
        let told = play(&opened(trace));
        let rtts = told
            .rows
            .iter()
            .map(|row| row.rtt.map(|(ns, _)| ns / 1_000_000));
        (rtts.collect::<Vec<_>>(), told.timestamp_rtts_ms)
    };
    // Data is what shows it first.
    let data = "100 A>B data 0..1000 ts 10/1
         120 A>B data 1000..2000 ts 12/1
         125 A>B data 2000..3000 ts 13/1
         117 A>B data 3000..4000 ts 14/1
         130 B>A ack 1000 ts 2/10
         150 B>A ack 2000 ts 3/12
         155 B>A ack 3000 ts 4/13
         157 B>A ack 4000 ts 5/14
         160 A>B data 4000..5000 ts 15/5
         200 B>A ack 5000 ts 6/15";
    let (rtts, echoes) = told(data);
    assert_eq!(rtts, [None, None, None, Some(40), Some(40)]);
    assert_eq!(echoes, [40, 40]);
    // And an ACK, which is behind the one before.
    let ack = "90 B>A ack 0 ts 1/0
         100 A>B data 0..1000 ts 10/1
         110 A>B data 1000..2000 ts 11/1
         140 B>A ack 1000 ts 2/10
         138 B>A ack 2000 ts 3/11
         140 A>B data 2000..3000 ts 14/3
         180 B>A ack 3000 ts 6/14";
    assert_eq!(told(ack).0, [Some(40), None, Some(40)]);
    // As far as network cards swap packets, nothing was set.
    let swapped = "100 A>B data 0..1000 ts 10/1
         120 A>B data 1000..2000 ts 12/1
         119 A>B data 2000..3000 ts 13/1
         140 B>A ack 1000 ts 2/10
         160 B>A ack 2000 ts 3/12
         159 B>A ack 3000 ts 4/13";
    assert_eq!(told(swapped).0, [Some(40), Some(40), Some(40)]);
}
