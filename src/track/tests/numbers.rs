//! What the numbers of segments without payload tell of data that was sent before them (RFC 9293 section 3.10.7.4).

use super::*;
use crate::event::{Class, Reason};

fn classes(trace: &str) -> Vec<Class> {
    let rows = play(&opened(trace)).rows;
    rows.iter().map(|row| row.verdict.class).collect()
}

#[test]
fn the_first_data_of_a_flow_that_an_ack_overtook_is_late() {
    // The ACK at 125 tells that 0..2000 was sent. A round trip takes 30 ms; neither ids nor clocks are there.
    let at = |ms: [u32; 2]| {
        let [first, second] = ms;
        classes(&format!(
            "120 B>A data 0..500 ack 0
             125 A>B at 2000 ack 500
             {first} A>B data 0..1000 ack 0
             {second} A>B data 1000..2000 ack 0"
        ))
    };
    assert_eq!(at([127, 128]), [Class::New; 2]);
    assert_eq!(at([400, 401]), [Class::Retransmission; 2]);
}

#[test]
fn data_that_an_ack_overtook_after_a_pause_is_late() {
    let at = |ms: u32| {
        classes(&format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             9000 B>A data 0..500 ack 1000
             9010 A>B at 2000 ack 500
             {ms} A>B data 1000..2000 ack 0"
        ))
    };
    assert_eq!(at(9012), [Class::New; 2]);
    assert_eq!(at(9250), [Class::New, Class::Retransmission]);
}

#[test]
fn a_repair_goes_on_below_the_number_of_an_ack() {
    // 0..1000 is lost, and 2000..4000, as the ACK at 125 tells. A timer brings what comes at 400, and the ACK of that
    // the rest.
    let trace = |id: &dyn Fn(u32) -> String| {
        opened(&format!(
            "100 A>B data 1000..2000 ack 0 {}
             120 B>A data 0..500 ack 0 sack 1000..2000
             125 A>B at 4000 ack 500 {}
             400 A>B data 0..1000 ack 500 {}
             420 B>A ack 2000
             430 A>B data 2000..3000 ack 500 {}
             431 A>B data 3000..4000 ack 500 {}
             451 B>A ack 4000
             461 A>B data 4000..5000 ack 500 {}
             481 B>A ack 5000",
            id(3),
            id(6),
            id(7),
            id(8),
            id(9),
            id(10)
        ))
    };
    let told = |trace: &str| {
        let rows = play(trace).rows;
        rows.iter()
            .map(|row| row.verdict.reason)
            .collect::<Vec<_>>()
    };
    let timeout = Some(Reason::Timeout);
    let expected = [None, timeout, timeout, timeout, None];
    assert_eq!(told(&trace(&|_| String::new())), expected);
    // Whether ids count is not known yet.
    assert_eq!(told(&trace(&|id| format!("id {id}"))), expected);
}

#[test]
fn acks_of_what_passed_before_the_capture_tell_how_far_the_stream_is() {
    // 3000 bytes were in flight as it began: three ACKs cover them, on the general path and on the quiet one.
    for (first, quiet) in [("sack 5000..6000", false), ("", true)] {
        let seen = play(&format!(
            "100 A>B data 5000..6000
             101 B>A ack 3000 {first}
             102 B>A ack 4000
             103 B>A ack 5000
             120 B>A ack 6000"
        ));
        assert_eq!(seen.acks, [-2000, -1000, 0, 1000], "quiet: {quiet}");
        // They cover no payload that was seen.
        assert_eq!((seen.acked, seen.state.acked_bytes), (1000, Some(1000)));
    }
}

#[test]
fn a_segment_that_was_sent_before_what_told_of_more_tells_of_nothing() {
    // The first ACK tells that 1000..40000 was sent, the second one was sent earlier. Their ids do not count yet.
    let lost = |second: &str| {
        let trace = format!(
            "0 A>B syn data 0..1000 id 0
             1 A>B at 40000 ack 0 id 0
             2 A>B at {second} ack 0 id 0
             3 A>B data 1000..2000 ack 0 id 1
             4 A>B data 2000..3000 ack 0 id 2
             5 A>B data 3000..4000 ack 0 id 3"
        );
        play(&trace).state.skipped_packets
    };
    assert_eq!(lost("30000"), lost("40000"));
}

#[test]
fn ids_skipped_before_an_ack_that_tells_nothing_new_are_none_of_a_hole() {
    // Ids 5 and 6 were 3000..5000, as the number of the ACK behind them tells; 8 and 9 were further ACKs. They come again in
    // three pieces, as options take more room then.
    let lost = |first: u32| {
        let trace = opened(&format!(
            "100 A>B data 0..1000 ack 0 id 2
             101 A>B data 1000..2000 ack 0 id 3
             102 A>B data 2000..3000 ack 0 id 4
             103 B>A data 0..500 ack 0
             103 B>A data 500..1000 ack 0
             104 A>B at 5000 ack 500 id {first}
             104 A>B at 5000 ack 1000 id {}
             105 A>B data 5000..6000 ack 1000 id {}
             122 B>A ack 3000
             125 B>A ack 3000 sack 5000..6000
             135 A>B data 3000..3800 ack 1000 id {}
             135 A>B data 3800..4600 ack 1000 id {}
             135 A>B data 4600..5000 ack 1000 id {}",
            first + 3,
            first + 4,
            first + 5,
            first + 6,
            first + 7
        ));
        play(&trace).lost[0]
    };
    assert_eq!(lost(7), 2);
    // Three packets, as pieces of some other size.
    assert_eq!(lost(8), 3);
}

#[test]
fn each_number_tells_of_the_ids_that_were_skipped_before_it() {
    // Ids 5 and 7 were 3000..4000 and 4000..5000.
    let trace = "100 A>B data 0..1000 ack 0 id 2
         101 A>B data 1000..2000 ack 0 id 3
         102 A>B data 2000..3000 ack 0 id 4
         103 B>A data 0..500 ack 0
         103 B>A data 500..1000 ack 0
         104 A>B at 4000 ack 500 id 6
         105 A>B at 5000 ack 1000 id 8
         106 A>B data 5000..6000 ack 1000 id 9
         122 B>A ack 3000
         125 B>A ack 3000 sack 5000..6000
         135 A>B data 3000..4000 ack 1000 id 10
         135 A>B data 4000..5000 ack 1000 id 11";
    assert_eq!(play(&opened(trace)).lost[0], 2);
}
