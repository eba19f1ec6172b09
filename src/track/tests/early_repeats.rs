//! Repeats that their sender sent by no ACK, and those that were overtaken: what shows whether they were needed
//! (METRICS.md RU3, RU5).

use super::{check, opened, play};

/// Two packets that their sender repeats at once, of a path on which answers take 20 ms: both copies of each come to a
/// receiver that sends no DSACKs.
const AT_ONCE: &str = "60 A>B data 0..1000 id 51
     80 B>A ack 1000 id 1
     100 A>B data 1000..2000 id 52
     101 A>B data 2000..3000 id 53
     102 A>B data 1000..2000 id 54
     103 A>B data 2000..3000 id 55
     121 B>A ack 3000 id 2
     122 B>A ack 3000 id 3
     123 B>A ack 3000 id 4";

#[test]
fn what_is_repeated_before_an_ack_can_tell_was_not_needed_where_a_duplicate_ack_comes_for_it() {
    let trace = opened(AT_ONCE);
    // 19 ms after the repeat the ACK may be for either copy; what comes for nothing behind it is for the other one.
    check(
        &trace,
        "60 new 0..1000 rtt 20 clean
         100 new 1000..2000
         101 new 2000..3000
         102 retransmission 1000..2000 unneeded dsack
         103 retransmission 2000..3000 unneeded dsack",
    );
    assert_eq!(play(&trace).lost, [0, 0]);
    // Only one came twice: duplicate ACKs tell of repeats in the order in which they were sent, so it was the first.
    let once = trace.replace("123 B>A ack 3000 id 4", "");
    check(
        &once,
        "60 new 0..1000 rtt 20 clean
         100 new 1000..2000
         101 new 2000..3000
         102 retransmission 1000..2000 unneeded dsack
         103 retransmission 2000..3000 fast downstream seen_before",
    );
    assert_eq!(play(&once).lost, [0, 1]);
    // Repeated by a timer, when its ACK was long overdue, it was needed, most likely.
    let timer = opened(
        "60 A>B data 0..1000 id 51
         80 B>A ack 1000 id 1
         100 A>B data 1000..2000 id 52
         400 A>B data 1000..2000 id 53
         420 B>A ack 2000 id 2
         421 B>A ack 2000 id 3",
    );
    assert_eq!(play(&timer).lost, [0, 1]);
    // Where the clock was set back between both copies, it is not known how long after the first the repeat passed.
    let set_back = opened(
        "9100 A>B data 0..1000 id 51
         7400 A>B data 0..1000 id 52
         7420 B>A ack 1000 id 1
         7421 B>A ack 1000 id 2",
    );
    assert_eq!(play(&set_back).lost, [0, 1]);
    // A receiver that knows DSACK would have sent one.
    let dsack = trace.replace("80 B>A ack 1000", "80 B>A ack 1000 sack 0..1000");
    assert_eq!(play(&dsack).lost, [0, 2]);
}

#[test]
fn what_is_repeated_at_once_was_needed_where_what_lies_above_had_been_reported() {
    // The receiver had 2000..3000 and lacked what came before it: one duplicate ACK is for the repeat of that, and the
    // last one for something else.
    let trace = opened(&AT_ONCE.replace(
        "121 B>A ack 3000 id 2
     122 B>A ack 3000 id 3",
        "121 B>A ack 1000 sack 2000..3000 id 2
     122 B>A ack 3000 id 3",
    ));
    check(
        &trace,
        "60 new 0..1000 rtt 20 clean
         100 new 1000..2000
         101 new 2000..3000
         102 retransmission 1000..2000 fast downstream seen_before
         103 retransmission 2000..3000 unneeded dsack",
    );
}

#[test]
fn an_older_echo_tells_nothing_of_a_repeat_that_others_overtook() {
    // Of 1000..2000, which has the clock of the packet before it, the repeat comes after what was sent behind it, and
    // the receiver takes no clock older than the newest that came.
    let trace = |reported: &str| {
        opened(&format!(
            "99 A>B data 0..1000 ts 100/0
             100 A>B data 1000..2000 ts 100/0
             101 A>B data 2000..3000 ts 101/0
             102 A>B data 3000..4000 ts 102/0
             103 A>B data 4000..5000 ts 103/0
             119 B>A ack 1000 ts 19/100
             121 B>A ack 1000 sack 2000..3000 ts 21/100
             122 B>A ack 1000 sack 2000..4000 ts 22/100
             123 B>A ack 1000 sack 2000..5000 ts 23/100
             133 A>B data 1000..2000 ts 133/23
             134 A>B data 5000..6000 ts 134/23
             {reported}
             158 B>A ack 6000 ts 58/100"
        ))
    };
    let overtaken = "154 B>A ack 1000 sack 2000..6000 ts 54/100";
    assert_eq!(play(&trace(overtaken)).lost, [0, 1]);
    // An echo that is not the one from before is the original's clock.
    let moved = trace(overtaken).replace("1000..2000 ts 100", "1000..2000 ts 101");
    assert_eq!(play(&moved.replace("ts 58/100", "ts 58/101")).lost, [0, 0]);
    // One that comes in its turn sets the echo, so this is the original's.
    assert_eq!(play(&trace("")).lost, [0, 0]);
}
