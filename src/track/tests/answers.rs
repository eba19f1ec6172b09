//! Answers that were lost before they came here (METRICS.md, what skipped ids tell).

use super::*;
use crate::event::{Class, Reason};

/// A answers B with data at once, three times; then `end`.
fn asked(end: &str) -> Seen {
    play(&opened(&format!(
        "100 A>B data 0..500 ack 0 id 2
         120 B>A data 0..100 ack 500
         130 A>B data 500..1000 ack 100 id 3
         150 B>A data 100..200 ack 1000
         160 A>B data 1000..1500 ack 200 id 4
         180 B>A data 200..300 ack 1500
         {end}"
    )))
}

#[test]
fn an_answer_that_comes_with_a_timer_was_sent_before_by_who_answers_at_once() {
    // Id 5 was the answer, which is repeated 230 ms after it was due: that of a probe of one packet (RFC 8985 section 7.2)
    // and of a timer with a floor of 200 ms (RFC 6298). It had the ACK that was owed.
    let again = |ms: u32| {
        let seen = asked(&format!(
            "{ms} A>B data 1500..2000 ack 300 id 6
             {} B>A ack 2000",
            ms + 20
        ));
        (seen.rows[3].verdict, seen.lost)
    };
    let (verdict, lost) = again(420);
    assert_eq!(verdict.class, Class::Retransmission);
    assert_eq!(verdict.reason, Some(Reason::TailProbe));
    assert_eq!(lost, [1, 0]);
    // Sooner or later than either, id 5 may have been an ACK.
    for ms in [250, 1200] {
        let (verdict, lost) = again(ms);
        assert_eq!((verdict.class, lost), (Class::New, [0, 0]), "{ms}");
    }
}

#[test]
fn who_has_sent_after_a_pause_before_may_have_acknowledged_what_it_answers() {
    // At 460 A sends what B did not ask for just then.
    let paused = |pause: u32| {
        let at = 190 + pause;
        let seen = asked(&format!(
            "190 A>B ack 300 id 5
             {at} A>B data 1500..2000 ack 300 id 6
             {} B>A data 300..400 ack 2000
             {} A>B data 2000..2500 ack 400 id 8
             {} B>A ack 2500",
            at + 20,
            at + 250,
            at + 270
        ));
        seen.rows[4].verdict.class
    };
    assert_eq!(paused(270), Class::New);
    assert_eq!(paused(50), Class::Retransmission);
}

#[test]
fn who_came_by_itself_once_may_do_so_again_however_it_answers_later() {
    let seen = asked(
        "190 A>B ack 300 id 5
         460 A>B data 1500..2000 ack 300 id 6
         480 B>A data 300..400 ack 2000
         490 A>B data 2000..2500 ack 400 id 7
         510 B>A data 400..500 ack 2500
         740 A>B data 2500..3000 ack 500 id 9
         760 B>A ack 3000",
    );
    assert_eq!(seen.rows[5].verdict.class, Class::New);
}

#[test]
fn who_never_answered_at_once_may_have_acknowledged_first() {
    let trace = opened(
        "100 A>B data 0..500 ack 0 id 2
         120 B>A data 0..100 ack 500
         160 A>B ack 100 id 3
         170 A>B data 500..1000 ack 100 id 4
         190 B>A data 100..200 ack 1000
         430 A>B data 1000..1500 ack 200 id 6
         450 B>A ack 1500",
    );
    assert_eq!(play(&trace).rows[2].verdict.class, Class::New);
}

#[test]
fn what_the_peer_has_repeated_may_be_answered_for_the_first_time() {
    // B repeats its question, as its first copy or the answer was lost: what passes 5 ms later and more, which is half of the
    // way to A and back, may answer that, and id 5 was an ACK of an earlier copy. What passes sooner answers the first one.
    let answered = |repeated: u32, at: u32| {
        let seen = asked(&format!(
            "{repeated} B>A data 200..300 ack 1500
             {at} A>B data 1500..2000 ack 300 id 6
             {} B>A ack 2000",
            at + 20
        ));
        seen.rows[3].verdict.class
    };
    assert_eq!(answered(390, 420), Class::New);
    assert_eq!(answered(415, 420), Class::New);
    assert_eq!(answered(416, 420), Class::Retransmission);
    // No timer of A's is so short.
    assert_eq!(answered(255, 260), Class::New);
}
