//! What the receiver holds above the cumulative ACK, told by duplicate ACKs where there is no SACK.

use super::play;
use crate::event::{LossPlace, Reason};

/// Without SACK: 1000..2000, id 3, is lost before it comes here, and so is its first repeat, id 7.
const ABOVE_A_HOLE: &str = "0 A>B syn bare id 0
     1 B>A syn bare ack 0
     30 A>B ack 0 id 1
     90 A>B data 0..500 ack 0 id 2
     95 A>B data 500..1000 ack 0 id 3
     96 B>A ack 1000
     110 A>B data 2000..3000 ack 0 id 5
     111 B>A ack 1000
     120 A>B data 3000..4000 ack 0 id 6
     121 B>A ack 1000
     ";

#[test]
fn a_duplicate_ack_tells_that_the_receiver_holds_what_came_just_before_it() {
    // All that was outstanding is repeated after a timeout (RFC 6582 section 3.2, without SACK).
    let trace = format!(
        "{ABOVE_A_HOLE}520 A>B data 2000..3000 ack 0 id 8
         521 B>A ack 1000
         530 A>B data 3000..4000 ack 0 id 9
         531 B>A ack 1000
         990 A>B data 1000..2000 ack 0 id 10
         991 B>A ack 4000"
    );
    let rows = play(&trace).rows;
    let reasons: Vec<_> = rows.iter().map(|row| row.verdict.reason).collect();
    let unneeded = Some(Reason::Unneeded);
    assert_eq!(reasons[4..6], [unneeded, unneeded]);
    assert_eq!(play(&trace).lost[1], 0);
}

#[test]
fn a_duplicate_ack_that_several_packets_may_have_brought_about_tells_of_none() {
    // One of them was lost behind here, and answers take between 1 and 31 ms.
    let trace = "0 A>B syn bare id 0
         1 B>A syn bare ack 0
         30 A>B ack 0 id 1
         60 A>B data 0..500 ack 0 id 2
         65 A>B data 500..1000 ack 0 id 3
         96 B>A ack 1000
         110 A>B data 2000..3000 ack 0 id 5
         120 A>B data 3000..4000 ack 0 id 6
         141 B>A ack 1000
         520 A>B data 2000..3000 ack 0 id 8
         530 A>B data 3000..4000 ack 0 id 9
         990 A>B data 1000..2000 ack 0 id 10
         991 B>A ack 4000";
    let rows = play(trace).rows;
    assert!(
        rows[4..6]
            .iter()
            .all(|row| row.verdict.reason != Some(Reason::Unneeded))
    );
}

#[test]
fn what_the_receiver_asks_for_it_does_not_hold() {
    // The duplicate ACK was not for 2000..3000: its ACK asks for that.
    let trace = format!(
        "{ABOVE_A_HOLE}520 A>B data 1000..2000 ack 0 id 8
         521 B>A ack 2000
         530 A>B data 2000..3000 ack 0 id 9
         531 B>A ack 4000"
    );
    let last = play(&trace).rows.last().map(|row| row.verdict);
    assert_eq!(
        last.and_then(|verdict| verdict.lost),
        Some(LossPlace::Downstream)
    );
}
