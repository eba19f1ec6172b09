//! Packets that repeat what passed in hundreds of small ones.

use std::fmt::Write as _;

use super::{describe, opened, play};

/// So many bytes and one, each a packet of its own, then all of them but the last in one, twice, and what tells of
/// that.
fn last_rows(bytes: u32, end: &str) -> Vec<String> {
    let mut trace = String::new();
    for byte in 0..bytes {
        let _ = writeln!(trace, "{} A>B data {byte}..{}", 100 + byte, byte + 1);
    }
    let _ = write!(
        trace,
        "1900 A>B data {bytes}..{}\n2000 A>B data 0..{bytes}\n3000 A>B data 0..{bytes}\n{end}",
        bytes + 1
    );
    let seen = play(&opened(&trace));
    let rows = seen.rows.iter().zip(&seen.data);
    rows.skip(bytes as usize + 1)
        .map(|(row, data)| describe(row, data))
        .collect()
}

#[test]
fn that_they_were_not_needed_is_told_of_many_as_of_few() {
    for bytes in [3, 256, 257, 900] {
        let rows = |end: &str| last_rows(bytes, end);
        let first = format!("2000 retransmission 0..{bytes} timeout downstream seen_before");
        let again = format!("3000 retransmission 0..{bytes} timeout downstream seen_before");
        assert_eq!(rows(""), [first.clone(), again], "{bytes}");
        let unneeded = format!("3000 retransmission 0..{bytes} unneeded dsack");
        let dsack = format!("3020 B>A ack {bytes} sack 0..{bytes}");
        assert_eq!(rows(&dsack), [first, unneeded], "{bytes}");
    }
}

#[test]
fn each_packet_lost_before_counts_once() {
    for bytes in [3, 256, 257, 900] {
        let mut trace = String::new();
        for byte in 0..bytes {
            let _ = writeln!(trace, "{} A>B data {byte}..{}", 100 + byte, byte + 1);
        }
        let _ = write!(trace, "2000 A>B data 0..{bytes}\n4000 A>B data 0..{bytes}");
        let seen = play(&opened(&trace));
        assert_eq!(seen.lost, [0, i64::from(bytes) + 1], "{bytes}");
    }
}

#[test]
fn rows_wait_as_long_as_segments_are_in_flight() {
    let mut trace = String::new();
    for segment in 0..70_000 {
        let start = 1000 * segment;
        let _ = writeln!(trace, "100 A>B data {start}..{}", start + 1000);
    }
    trace += "120 B>A ack 1000\n121 B>A ack 70000000";
    let rows = play(&opened(&trace)).rows;
    assert_eq!(rows.len(), 70_000);
    assert!(rows.iter().all(|row| row.rtt.is_some()));
}

#[test]
fn each_piece_of_a_repeat_counts_once_however_the_next_one_is_cut() {
    // Three packets are lost, and so are the four pieces that they are repeated in, as SACK blocks of data both ways leave
    // them less room; then they are repeated as they were: each new packet holds the end of one piece and the begin of
    // the next.
    let trace = opened(
        "100 A>B data 0..1000
         100 A>B data 1000..2000
         100 A>B data 2000..3000
         100 A>B data 3000..4000
         100 A>B data 4000..5000
         100 A>B data 5000..6000
         120 B>A ack 0 sack 3000..4000
         120 B>A ack 0 sack 3000..5000
         120 B>A ack 0 sack 3000..6000
         130 A>B data 0..980
         130 A>B data 980..1960
         130 A>B data 1960..2940
         130 A>B data 2940..3000
         131 A>B data 6000..7000
         151 B>A ack 0 sack 3000..7000
         161 A>B data 0..1000
         161 A>B data 1000..2000
         161 A>B data 2000..3000
         181 B>A ack 7000",
    );
    assert_eq!(play(&trace).lost, [0, 3 + 4]);
}

#[test]
fn what_was_too_young_to_tell_of_a_loss_tells_of_it_later_however_the_next_repeat_is_cut() {
    // The first four packets are lost, and so are the two that they are repeated in. What is repeated then, and comes, is cut
    // elsewhere, 5 ms after the second of these, which may be under way still, or 25.
    for (later, cut) in [(0, 900), (0, 1100), (0, 1200), (20, 900), (20, 1100)] {
        let [third, told, rest, last] = [165 + later, 186 + later, 200 + later, 220 + later];
        let trace = opened(&format!(
            "100 A>B data 0..500
             100 A>B data 500..800
             100 A>B data 800..1100
             100 A>B data 1100..1400
             100 A>B data 1400..2400
             100 A>B data 2400..3400
             100 A>B data 3400..4400
             120 B>A ack 0 sack 1400..2400
             120 B>A ack 0 sack 1400..3400
             120 B>A ack 0 sack 1400..4400
             130 A>B data 0..500
             135 A>B data 4400..5400
             155 B>A ack 0 sack 1400..5400
             160 A>B data 500..1400
             {third} A>B data 0..{cut}
             {} A>B data 5400..6400
             {told} B>A ack 0 sack 1400..6400
             {rest} A>B data {cut}..1400
             {last} B>A ack 6400",
            third + 1
        ));
        assert_eq!(play(&trace).lost, [0, 4 + 2], "{later} {cut}");
    }
}
