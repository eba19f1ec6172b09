//! Copies of repeats that are one packet with what follows.

use super::{check, opened_bare};

#[test]
fn the_copy_of_a_repeat_that_fills_a_hole_and_goes_on_above_it_is_a_duplicate() {
    // Without SACK. 200..400, id 3, was lost before it came here; a mirror port copies what repeats it with the rest.
    check(
        &opened_bare(
            "90 A>B data 0..200 id 2
             92 B>A ack 200
             100 A>B data 400..600 id 4
             101 A>B data 600..800 id 5
             102 B>A ack 200
             103 B>A ack 200
             140 A>B data 200..800 id 6
             140 A>B data 200..800 id 6
             142 B>A ack 800",
        ),
        "90 new 0..200 rtt 2 clean
         100 new 400..600
         101 new 600..800
         140 retransmission 200..800 fast upstream ip_id
         140 duplicate 200..800 ip_id",
    );
}
