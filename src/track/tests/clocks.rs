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
