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
    // Who repeats what lies below has heard of less.
    let below = fast.replace(
        "data 7000..8000 id 12",
        "data 0..1000 id 12\n731 A>B data 7000..8000 id 13",
    );
    let below = below.replace("4000 id 13", "4000 id 14");
    assert_eq!(last_reason(&below), timeout);
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

#[test]
fn what_is_lost_before_a_timer_repeats_the_left_edge_that_sack_told_of_was_new_first() {
    // 3000..6000 were ids 5 to 7. Then 7000..9000, ids 9 and 10, are new and lost as well, until a timer repeats 3000..4000.
    // Of its ACK follows what else it gave up, ids 12 and 13 lost again, and then 7000..8000.
    let trace = "0 A>B syn ts 1000/0
         20 B>A syn ack 0 ts 5000/1000
         30 A>B ack 0 id 1 ts 1030/5000
         100 A>B data 0..1000 id 2 ts 1100/5000
         101 A>B data 1000..2000 id 3 ts 1101/5000
         102 A>B data 2000..3000 id 4 ts 1102/5000
         122 B>A ack 3000 ts 5102/1102
         132 A>B data 6000..7000 id 8 ts 1132/5102
         152 B>A ack 3000 sack 6000..7000 ts 5132/1102
         380 A>B data 3000..4000 id 11 ts 1380/5132
         400 B>A ack 4000 sack 6000..7000 ts 5380/1380
         410 A>B data 7000..8000 id 14 ts 1410/5380";
    assert_eq!(last_reason(trace), Some(Reason::Timeout));
}

#[test]
fn who_is_not_told_by_sack_may_repeat_all_that_is_not_acknowledged_before_new_data() {
    // 0..1000 and 2000..3000, ids 2 and 4, were lost. Ids 8 to 10 may have been any of 1000..5000 again, so what follows need
    // not have been sent before; it would have been, had these been 5000..8000.
    let trace = "0 B>A syn bare
         14 A>B syn bare ack 0 id 0
         15 B>A ack 0
         100 A>B data 1000..2000 id 3
         101 A>B data 3000..4000 id 5
         102 A>B data 4000..5000 id 6
         103 B>A ack 0
         104 B>A ack 0
         105 B>A ack 0
         123 A>B data 0..1000 id 7
         163 A>B data 7000..8000 id 11";
    assert_eq!(last_reason(trace), None);
}

#[test]
fn what_a_timer_gave_up_is_repeated_in_order() {
    // 2000..5000, ids 4 to 6, and 6000..7000, id 8, are lost, and repeated when the timer has run out, but 3000..4000 is lost
    // again: what passes above tells that, though no id does and new data has passed since.
    let plain = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         105 A>B data 5000..6000
         107 A>B data 7000..8000
         121 B>A ack 2000
         125 B>A ack 2000 sack 5000..6000
         127 B>A ack 2000 sack 7000..8000 sack 5000..6000
         400 A>B data 2000..3000
         420 B>A ack 3000 sack 7000..8000 sack 5000..6000
         431 A>B data 4000..5000
         451 B>A ack 3000 sack 4000..6000 sack 7000..8000
         460 A>B data 8000..9000
         461 A>B data 3000..4000",
    );
    assert_eq!(last_reason(&plain), Some(Reason::Fast));
    // Part of it had come to B.
    let partly = plain
        .replace("420 B>A ack 3000", "420 B>A ack 4000")
        .replace("431 A>B data 4000..5000", "431 A>B data 6000..7000")
        .replace(
            "ack 3000 sack 4000..6000 sack 7000..8000",
            "ack 4000 sack 5000..8000",
        )
        .replace("461 A>B data 3000..4000", "461 A>B data 4000..5000");
    assert_eq!(last_reason(&partly), Some(Reason::Fast));
    // It is the first repeat, and what was sent above is late.
    let late = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         105 A>B data 6000..7000 id 8
         106 A>B data 7000..8000 id 9
         123 B>A ack 3000
         125 B>A ack 3000 sack 6000..7000
         126 B>A ack 3000 sack 6000..8000
         400 A>B data 3000..4000 id 10
         410 A>B data 5000..6000 id 7
         420 B>A ack 4000 sack 6000..8000
         430 B>A ack 4000 sack 5000..8000
         440 A>B data 4000..5000 id 11",
    );
    assert_eq!(last_reason(&late), Some(Reason::Timeout));
}

#[test]
fn what_a_timer_gave_up_is_repeated_before_what_is_new_where_as_much_was_skipped() {
    // 2000..5000, ids 4 to 6, are lost, and 4000..5000 again, id 10 with what `skipped` besides; then what is new passes, 6000..7000 or
    // above.
    let trace = |(start, end): (u32, u32), skipped: u32| {
        let id = 10 + skipped;
        opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             105 A>B data 5000..6000 id 7
             121 B>A ack 2000
             125 B>A ack 2000 sack 5000..6000
             400 A>B data 2000..3000 id 8
             420 B>A ack 3000 sack 5000..6000
             430 A>B data 3000..4000 id 9
             431 A>B data {start}..{end} id {id}
             450 B>A ack 4000 sack 5000..6000
             451 B>A ack 4000 sack {start}..{end} sack 5000..6000
             461 A>B data 4000..5000 id {}",
            id + 1
        ))
    };
    let (fast, timeout) = (Some(Reason::Fast), Some(Reason::Timeout));
    let next = (6000, 7000);
    assert_eq!(last_reason(&trace(next, 1)), fast);
    // Nothing was: some senders send new data in between.
    assert_eq!(last_reason(&trace(next, 0)), timeout);
    // Or what was skipped is new, and left out, too.
    let above = (7000, 8000);
    assert_eq!(last_reason(&trace(above, 1)), timeout);
    assert_eq!(last_reason(&trace(above, 2)), fast);
    // Others of its host may have taken the ids.
    let shared = trace(next, 1).replace("A>B syn", "A>B syn ttl 128 id 0");
    assert_eq!(last_reason(&shared), timeout);
}

#[test]
fn what_passes_before_its_sender_has_heard_tells_nothing_however_long_it_waits_on_its_way() {
    // What answers an ACK waits in a queue and comes 20 ms later, but for that of the handshake. 61000..64000, ids 63 to 65, are
    // lost, and 63000..64000 again, id 69. What passes at 483 is the first that was sent when B had told of what came since.
    let firsts = (0..60).map(|n| {
        let (at, id, end, clock) = (100 + n, n + 2, n + 1, 1080 + n);
        let echo = if n > 20 { 5080 + n } else { 5001 };
        let acked = if n > 0 {
            format!("{at} B>A ack {n}000 ts {}/{}\n", 5000 + at, clock - 1)
        } else {
            String::new()
        };
        format!("{at} A>B data {n}000..{end}000 ack 0 id {id} ts {clock}/{echo}\n{acked}")
    });
    let firsts: String = firsts.collect();
    let trace = |between: &str| {
        format!(
            "0 A>B syn ts 1000/0
             1 B>A syn ack 0 ts 5001/1000
             2 A>B ack 0 id 1 ts 1001/5001
             {firsts}160 A>B data 60000..61000 ack 0 id 62 ts 1140/5140
             161 B>A ack 61000 ts 5161/1140
             164 A>B data 64000..65000 ack 0 id 66 ts 1144/5144
             165 B>A ack 61000 sack 64000..65000 ts 5165/1140
             440 A>B data 61000..62000 ack 0 id 67 ts 1420/5165
             441 B>A ack 62000 sack 64000..65000 ts 5441/1420
             461 A>B data 62000..63000 ack 0 id 68 ts 1441/5441
             462 A>B data 65000..66000 ack 0 id 70 ts 1442/5441
             462 B>A ack 63000 sack 64000..65000 ts 5462/1441
             463 B>A ack 63000 sack 64000..66000 ts 5463/1441
             {between} A>B data 66000..67000 ack 0 id 71 ts 1452/5441
             483 A>B data 63000..64000 ack 0 id 72 ts 1463/5463"
        )
    };
    assert_eq!(last_reason(&trace("472")), Some(Reason::Fast));
    // It may have heard of that by then, and repeats what it knows to be lost before anything new.
    assert_eq!(last_reason(&trace("482")), Some(Reason::Timeout));
}

#[test]
fn the_lowest_lost_repeat_comes_first() {
    // 2000..3000, 4000..5000 and 6000..7000, ids 4, 6 and 8, are lost, and 3000..4000 behind this point. Of the repeats after
    // the timer those of 3000..4000 and of 6000..7000, ids 11 and 13, are lost again.
    let trace = opened(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         103 A>B data 3000..4000 id 5
         105 A>B data 5000..6000 id 7
         107 A>B data 7000..8000 id 9
         121 B>A ack 2000
         125 B>A ack 2000 sack 5000..6000
         127 B>A ack 2000 sack 7000..8000 sack 5000..6000
         400 A>B data 2000..3000 id 10
         420 B>A ack 3000 sack 7000..8000 sack 5000..6000
         431 A>B data 4000..5000 id 12
         432 A>B data 8000..9000 id 14
         451 B>A ack 3000 sack 4000..6000 sack 7000..8000
         452 B>A ack 3000 sack 7000..9000 sack 4000..6000
         462 A>B data 3000..4000 id 15",
    );
    assert_eq!(last_reason(&trace), Some(Reason::Fast));
}
