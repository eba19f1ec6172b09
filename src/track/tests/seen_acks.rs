//! ACKs that look like one that passed, where a copy of data has been seen.

use std::fmt::Write as _;

use super::{opened, play};

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

#[test]
fn a_copy_is_known_behind_sixty_others() {
    // Each report passes before and behind a queue of 60.
    let mut trace = "100 A>B data 0..1000
         100 A>B data 0..1000
         101 A>B data 1000..200000\n"
        .to_owned();
    for n in 0..160 {
        for report in [n, n - 60].into_iter().filter(|n| (0..100).contains(n)) {
            let end = 3000 + 1000 * report;
            let _ = writeln!(trace, "{} B>A ack 1000 sack 2000..{end}", 121 + n / 2);
        }
    }
    let signs = play(&opened(&trace)).signs;
    let reports = signs.iter().filter(|sign| sign.contains("SackBlocks"));
    assert_eq!(reports.count(), 100);
}

/// The second of two ACKs that look the same counts when no copy is expected: duplicate ACKs at the end of a flow whose
/// first packet was copied by the network, with so many ACKs in between, and then `more`.
fn dup_acks_behind(acks: i64, more: &str) -> usize {
    let mut trace = "100 A>B data 0..1000\n100 A>B data 0..1000\n".to_owned();
    for n in 1..=acks {
        let (start, end) = (1000 * n, 1000 * n + 1000);
        let _ = writeln!(trace, "{} A>B data {start}..{end}", 100 + 30 * n);
        let _ = writeln!(trace, "{} B>A ack {end}", 120 + 30 * n);
    }
    let (end, at) = (1000 * (acks + 1), 130 + 30 * acks);
    let _ = write!(
        trace,
        "{at} A>B data {end}..{}
         {more}
         {} B>A ack {end}",
        end + 1000,
        at + 20
    );
    let signs = play(&opened(&trace)).signs;
    signs.iter().filter(|sign| sign.ends_with("DupAck")).count()
}

#[test]
fn one_copy_that_the_network_made_tells_nothing_a_thousand_acks_later() {
    assert_eq!(dup_acks_behind(900, ""), 0);
    assert_eq!(dup_acks_behind(1100, ""), 1);
    // Until there is another.
    let (start, end) = (1101 * 1000, 1102 * 1000);
    let (first, second) = (130 + 30 * 1100 + 19, 130 + 30 * 1100 + 20);
    let copy = format!(
        "{} A>B data {start}..{end}
         {first} B>A ack {start}
         {second} B>A ack {start}",
        130 + 30 * 1100
    );
    assert_eq!(dup_acks_behind(1100, &copy), 1);
}

/// Duplicate ACKs of a capture that has each packet `times`, but for so many lines: 1000..2000 is lost, and reports are
/// cut off, as is `first` of the ACK that has none.
fn dup_acks_of_cut_reports(times: usize, without: usize, first: &str) -> usize {
    let trace = format!(
        "0 A>B syn ts 1/0
         20 B>A syn ack 0 ts 1/1
         30 A>B ack 0 ts 31/1
         100 A>B data 0..1000 ts 101/1
         102 A>B data 2000..3000 ts 103/1
         103 A>B data 3000..4000 ts 104/1
         104 A>B data 4000..5000 ts 105/1
         120 B>A ack 1000 {first} ts 101/101
         122 B>A ack 1000 cut long ts 103/101
         123 B>A ack 1000 cut long ts 104/101
         124 B>A ack 1000 cut long ts 105/101
         134 A>B data 1000..2000 ts 135/105
         154 B>A ack 5000 ts 135/135"
    );
    let seen: Vec<&str> = trace
        .lines()
        .skip(without)
        .flat_map(|line| std::iter::repeat_n(line, times))
        .collect();
    let signs = play(&seen.join("\n")).signs;
    signs.iter().filter(|sign| sign.ends_with("DupAck")).count()
}

#[test]
fn acks_whose_reports_are_cut_off_are_copies_where_all_packets_pass_twice() {
    // X7: three tell of what came above the hole, whether they are seen once or twice. That at 120 is whole, and would
    // report if it told of more.
    assert_eq!(dup_acks_of_cut_reports(1, 0, ""), 3);
    assert_eq!(dup_acks_of_cut_reports(2, 0, ""), 3);
    // Without SYNs a longer header tells of SACK: that at 120 may be another one when it comes again.
    assert_eq!(dup_acks_of_cut_reports(1, 3, "cut"), 3);
    assert_eq!(dup_acks_of_cut_reports(2, 3, "cut"), 4);
}

#[test]
fn the_first_ack_that_is_seen_may_have_a_copy() {
    // The capture begins amid the flow.
    let dup_acks = |id: u32| {
        let trace = format!(
            "100 A>B data 0..1000 id 7
             101 A>B data 0..1000 id 7
             102 A>B data 1000..2000 id 8
             120 B>A ack 1000 id 5
             121 B>A ack 1000 id {id}"
        );
        let signs = play(&trace).signs;
        signs.iter().filter(|sign| sign.ends_with("DupAck")).count()
    };
    assert_eq!(dup_acks(5), 0);
    assert_eq!(dup_acks(6), 1);
}
