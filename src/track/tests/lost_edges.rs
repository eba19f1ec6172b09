//! Repeats of the left edge that were lost before they came here.

use super::*;
use crate::event::Reason;

#[test]
fn what_a_timer_gave_up_above_all_that_was_seen_may_leave_out_the_repeat_of_the_left_edge() {
    // Ids 6 to 9 were 4000..8000, 11 was 5000..6000 again: B reports what was sent with it.
    let trace = |last: &str| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             123 B>A ack 4000
             400 A>B data 4000..5000 id 10
             420 B>A ack 5000
             430 A>B data {last} id 12
             450 B>A ack 5000 sack {last}
             461 A>B data 5000..6000 id 13"
        ))
    };
    assert_eq!(last_reason(&trace("6000..7000")), Some(Reason::Fast));
    // Above what was given up is what its sender tries that is new.
    assert_eq!(last_reason(&trace("9000..10000")), Some(Reason::Timeout));
}

#[test]
fn the_left_edge_may_have_been_repeated_since_a_timer_by_what_was_lost_before_it_came_here() {
    // The timer repeats 1000..2000. Of its ACK the sender repeats 3000..4000, id 11, which is lost again, and goes on with
    // new data. That is reported, so the repeat is known to be lost (RFC 8985 section 6.2): no timer's work goes on.
    let trace = |new: u16, reported: &str, at: u16| {
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 2000..3000 id 4
             102 A>B data 4000..5000 id 6
             103 A>B data 5000..6000 id 7
             104 A>B data 6000..7000 id 8
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             122 B>A ack 1000 sack 4000..5000 sack 2000..3000
             123 B>A ack 1000 sack 4000..6000 sack 2000..3000
             124 B>A ack 1000 sack 4000..7000 sack 2000..3000
             700 A>B data 1000..2000 id 10
             720 B>A ack 3000 sack 4000..7000
             730 A>B data 7000..8000 id {new}
             750 B>A ack 3000 {reported}
             {at} A>B data 3000..4000 id {}",
            new + 1
        ))
    };
    let reported = "sack 4000..8000";
    assert_eq!(last_reason(&trace(12, reported, 760)), Some(Reason::Fast));
    // It is the first repeat of these where no id was skipped, or none that can be known to be lost.
    let timeout = Some(Reason::Timeout);
    assert_eq!(last_reason(&trace(11, reported, 760)), timeout);
    assert_eq!(last_reason(&trace(12, "sack 4000..7000", 760)), timeout);
    assert_eq!(last_reason(&trace(12, reported, 751)), timeout);
    let fast = trace(12, reported, 760);
    for (was, is) in [
        // Others of its host may have taken the id, or an ACK that it owed.
        ("A>B syn", "A>B syn ttl 128 id 0"),
        ("720 B>A ack", "720 B>A data 0..100 ack"),
        // It passed before the ACK can have been heard of.
        ("720 B", "729 B"),
    ] {
        assert!(fast.contains(was));
        assert_eq!(last_reason(&fast.replace(was, is)), timeout, "{is}");
    }
    // It was of what is left out.
    let left_out = trace(12, "sack 8000..9000 sack 4000..7000", 760);
    let left_out = left_out.replace("7000..8000 id", "8000..9000 id");
    assert_eq!(last_reason(&left_out), timeout);
    // The first of such packets tells since when.
    let two = trace(14, reported, 760).replace(
        "data 7000..8000 id 14",
        "data 7000..8000 id 12\n740 A>B data 8000..9000 id 14",
    );
    assert_eq!(last_reason(&two), Some(Reason::Fast));
    // Nor where its sender goes on with something else when it has heard of that.
    let other = trace(12, reported, 780)
        .replace("4000 id 13", "4000 id 14")
        .replace("780 A>B", "765 A>B data 8000..9000 id 13\n780 A>B");
    assert_eq!(last_reason(&other), timeout);
    // Nor is it asked for when the timer has run out again.
    assert_eq!(last_reason(&trace(12, reported, 1000)), timeout);
}
