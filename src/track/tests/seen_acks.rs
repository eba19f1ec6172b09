//! ACKs that look like one that passed, where a copy of data has been seen.

use super::play;

/// A's first packet is seen twice; 1000..2000 is lost, and four ACKs say so, a millisecond apart or with `pause` behind
/// the first. What B adds to its SYN-ACK, to its first ACK and to all later ones.
fn dup_acks(opening: &str, first: &str, later: &str, pause: i64) -> usize {
    let [second, third, fourth] = [1, 2, 3].map(|n| 121 + pause + n);
    let trace = format!(
        "0 A>B syn {opening} id 0
         20 B>A syn {opening} ack 0 {later}
         30 A>B ack 0 id 1
         40 A>B data 0..1000 ack 0 id 2
         40 A>B data 0..1000 ack 0 id 2
         59 B>A ack 500 {first}
         60 B>A ack 1000 {later}
         101 A>B data 2000..3000 ack 0 id 4
         102 A>B data 3000..4000 ack 0 id 5
         103 A>B data 4000..5000 ack 0 id 6
         104 A>B data 5000..6000 ack 0 id 7
         121 B>A ack 1000 {later}
         {second} B>A ack 1000 {later}
         {third} B>A ack 1000 {later}
         {fourth} B>A ack 1000 {later}"
    );
    let signs = play(&trace).signs;
    signs.iter().filter(|sign| sign.ends_with("DupAck")).count()
}

#[test]
fn acks_that_have_no_number_of_their_own_are_no_copies() {
    // Without SACK each tells that one more packet has come, though it looks like the one before.
    for id in ["", "id 0", "id 1", "id 40000"] {
        assert_eq!(dup_acks("bare", id, id, 0), 4, "{id}");
    }
}

#[test]
fn an_ack_that_looks_like_another_says_nothing_where_sack_would_tell_more() {
    // It would report what has come since; the one at 60 passed too early.
    assert_eq!(dup_acks("", "", "", 0), 0);
    assert_eq!(dup_acks("", "", "", 200), 1);
}
