//! Frames that are several packets on the wire.

use super::{opened, play};

/// The first three of four packets of a frame are lost behind this point, and repeated by a frame.
const THREE_LOST: &str = "
    100 A>B data 0..4000 id 2
    101 A>B data 4000..6000 id 6
    121 B>A ack 0 sack 3000..6000
    133 A>B data 0..3000 id 8
    153 B>A ack 6000";

#[test]
fn what_a_frame_repeats_were_so_many_packets_that_were_lost() {
    // X3, C7: of the MSS of 1000.
    assert_eq!(play(&opened(THREE_LOST)).lost, [0, 3]);
    // By packets of their own it is the same.
    let one_by_one = "133 A>B data 0..1000 id 8
         133 A>B data 1000..2000 id 9
         133 A>B data 2000..3000 id 10";
    let trace = THREE_LOST.replace("133 A>B data 0..3000 id 8", one_by_one);
    assert_eq!(play(&opened(&trace)).lost, [0, 3]);
    // The last of a frame may have less than is full, and be lost as well.
    let trace = THREE_LOST
        .replace("0..4000", "0..2500")
        .replace("0..3000", "0..2500")
        .replace("4000..6000", "2500..4500")
        .replace("3000..6000", "2500..4500")
        .replace("ack 6000", "ack 4500");
    assert_eq!(play(&opened(&trace)).lost, [0, 3]);
}

#[test]
fn a_frame_that_was_repeated_for_nothing_takes_back_all_of_its_packets() {
    let told = "201 B>A ack 6000 sack 0..3000";
    assert_eq!(play(&opened(&format!("{THREE_LOST}\n{told}"))).lost, [0, 0]);
    // Of two repeats, the first of which was taken for lost as well, a DSACK each.
    let twice = THREE_LOST.replace("153 B>A", "160 A>B data 0..3000 id 11\n181 B>A");
    let lost = |rest: &str| play(&opened(&format!("{twice}\n{rest}"))).lost;
    assert_eq!(lost(""), [0, 6]);
    assert_eq!(lost(told), [0, 3]);
    let both = format!("{told}\n202 B>A ack 6000 sack 0..3000");
    assert_eq!(lost(&both), [0, 0]);
}
