//! Copies of repeats that are one packet with what follows.

use super::{check, opened, opened_bare, play};
use crate::event::Class;

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

#[test]
fn the_copy_of_what_is_partly_new_is_a_duplicate_whatever_its_sender_numbers() {
    // A timer repeats 0..200 with what was written since, as one packet; a router is captured on both its sides. Of
    // another packet that ends there its sender had heard nothing yet: that is a repeat.
    let trace = |ids: [&str; 2], copy: &str| {
        let [first, second] = ids;
        opened(&format!(
            "100 A>B data 0..200{first}
             101 A>B data 0..200{first}
             500 A>B data 0..300{second}
             501 A>B data {copy}
             520 B>A ack 300"
        ))
    };
    let expected = |evidence: &str| {
        format!(
            "100 new 0..200
             101 duplicate 0..200 {evidence}
             500 new 0..300 again 200
             501 duplicate 0..300 {evidence}"
        )
    };
    for (ids, evidence) in [(["", ""], "timing"), ([" id 700", " id 90"], "ip_id")] {
        check(
            &trace(ids, &format!("0..300{}", ids[1])),
            &expected(evidence),
        );
    }
    let clocks = [" ts 7/3", " ts 407/3"];
    check(&trace(clocks, "0..300 ts 407/3"), &expected("timing"));
    let other = play(&trace([" id 700", " id 90"], "200..300 id 5000")).rows;
    let class = other.last().map(|row| row.verdict.class);
    assert_eq!(class, Some(Class::Retransmission));
}
