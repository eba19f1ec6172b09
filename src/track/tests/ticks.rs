//! Holes that are filled with the `TSval` of the packet that opened them.

use super::{check, opened, play};
use crate::event::{Class, Evidence};

#[test]
fn a_clock_that_went_on_before_anybody_could_tell_shows_a_late_original() {
    // The round trip is 30 ms. A's clock stood at 103 at most 2 ms after the packet that left the hole, so what carries
    // 101 was emitted before anything can have asked for it, however late it comes.
    check(
        &opened(
            "100 A>B data 0..1000 ts 100/0
             101 A>B data 2000..3000 ts 101/0
             103 A>B data 3000..4000 ts 103/0
             104 A>B data 4000..5000 ts 104/0
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             123 B>A ack 1000 sack 2000..4000
             124 B>A ack 1000 sack 2000..5000
             136 A>B data 1000..2000 ts 101/0
             156 B>A ack 5000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         103 new 3000..4000 rtt 20 sack
         104 new 4000..5000 rtt 20 sack
         136 reordered 1000..2000 tsval rtt 20 stretch_ack",
    );
}

#[test]
fn a_clock_that_does_not_tick_in_a_round_trip_tells_nothing() {
    // Ticks of half a second: a repeat carries the number of the packet that left the hole.
    check(
        &opened(
            "100 A>B data 0..1000 ts 7/0
             101 A>B data 2000..3000 ts 7/0
             103 A>B data 3000..4000 ts 7/0
             104 A>B data 4000..5000 ts 7/0
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             123 B>A ack 1000 sack 2000..4000
             124 B>A ack 1000 sack 2000..5000
             136 A>B data 1000..2000 ts 7/0
             137 A>B data 5000..6000 ts 8/0
             156 B>A ack 6000",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         103 new 3000..4000 rtt 20 sack
         104 new 4000..5000 rtt 20 sack
         136 retransmission 1000..2000 fast upstream sack
         137 new 5000..6000 rtt 19 recovery",
    );
}

/// Two packets, and then a flight in one tick of the clock that `ts` names, of which the second packet comes last.
fn flight(ts: [u32; 3]) -> String {
    let [first, second, flight] = ts;
    opened(&format!(
        "40 A>B data 0..1000 ts {first}/0
         60 B>A ack 1000
         70 A>B data 1000..2000 ts {second}/0
         90 B>A ack 2000
         100 A>B data 2000..3000 ts {flight}/0
         101 A>B data 4000..5000 ts {flight}/0
         101 A>B data 5000..6000 ts {flight}/0
         101 A>B data 6000..7000 ts {flight}/0
         120 B>A ack 3000
         121 B>A ack 3000 sack 4000..5000
         121 B>A ack 3000 sack 4000..6000
         121 B>A ack 3000 sack 4000..7000
         136 A>B data 3000..4000 ts {flight}/0"
    ))
}

#[test]
fn a_clock_measured_before_a_hole_tells_what_equal_numbers_mean() {
    let before = "40 new 0..1000 rtt 20 clean
         70 new 1000..2000 rtt 20 clean
         100 new 2000..3000 rtt 20 clean
         101 new 4000..5000 rtt 20 sack
         101 new 5000..6000 rtt 20 sack
         101 new 6000..7000 rtt 20 sack
         ";
    // Sixty ticks in the 61 ms before: a repeat, a round trip of 30 ms later, would carry another number.
    let late = format!("{before}136 reordered 3000..4000 tsval");
    check(&flight([40, 70, 100]), &late);
    // Two ticks: nobody knows when the next one is due.
    let repeat = format!("{before}136 retransmission 3000..4000 fast upstream sack");
    check(&flight([1, 2, 3]), &repeat);
}

#[test]
fn who_had_heard_of_no_ack_that_told_of_a_hole_fills_it_with_the_original() {
    // Of ticks of half a second nothing else is known.
    let filled = |echo: u32| {
        let trace = opened(&format!(
            "100 A>B data 0..1000 ack 0 ts 7/20
             101 A>B data 2000..3000 ack 0 ts 7/20
             103 A>B data 3000..4000 ack 0 ts 7/20
             104 A>B data 4000..5000 ack 0 ts 7/20
             120 B>A ack 1000 ts 40/7
             121 B>A ack 1000 sack 2000..3000 ts 41/7
             123 B>A ack 1000 sack 2000..4000 ts 43/7
             124 B>A ack 1000 sack 2000..5000 ts 44/7
             136 A>B data 1000..2000 ack 0 ts 7/{echo}"
        ));
        play(&trace).rows[4].verdict
    };
    let late = filled(20);
    assert_eq!(
        (late.class, late.evidence),
        (Class::Reordered, Evidence::Tsval)
    );
    // It had heard of the one that asked for it.
    let asked = filled(43);
    assert_eq!(
        (asked.class, asked.evidence),
        (Class::Retransmission, Evidence::Sack)
    );
}

#[test]
fn a_clock_that_has_not_ticked_tells_no_more_than_none() {
    // Late, and repeated as asked for, with a clock of so long a tick that all of it has one value.
    check(
        &opened(
            "100 A>B data 0..1000 ts 7/3
             101 A>B data 2000..3000 ts 7/3
             120 B>A ack 1000 ts 4/7
             121 B>A ack 1000 sack 2000..3000 ts 4/7
             124 A>B data 1000..2000 ts 7/4
             133 A>B data 1000..2000 ts 7/4
             144 B>A ack 3000 ts 4/7
             153 B>A ack 3000 sack 1000..2000 ts 4/7",
        ),
        "100 new 0..1000 rtt 20 clean
         101 new 2000..3000 rtt 20 sack
         124 reordered 1000..2000 timing
         133 retransmission 1000..2000 unneeded dsack",
    );
}
