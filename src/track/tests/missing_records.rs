//! Ids that were skipped while this capture lost records (METRICS.md X3).

use std::fmt::Write as _;

use super::*;
use crate::event::Class;

/// A sends 600 bytes, and then each 10 ms 200, until 390, ids 2 to 31; then `later`.
fn small_packets(later: &str) -> Seen {
    let mut trace = opened("");
    for i in 0..30 {
        let (at, start) = (100 + 10 * i, if i == 0 { 0 } else { 400 + 200 * i });
        let end = 600 + 200 * i;
        let (id, clock) = (2 + i, 20.max(at - 10));
        let _ = writeln!(
            trace,
            "{at} A>B data {start}..{end} id {id} ts {at}/{clock}"
        );
        let told = at + 5;
        let _ = writeln!(trace, "{told} B>A ack {end} ts {told}/{at}");
    }
    play(&(trace + later))
}

#[test]
fn what_passes_after_a_gap_of_the_record_is_new() {
    // 6400..10400 took 20 ids, and nothing of what passed from 400 to 700 was recorded. A echoes what B sent in the meantime.
    let later = "710 A>B data 10400..10600 id 52 ts 710/695
         715 B>A ack 10600 ts 715/710
         720 A>B data 10600..10800 id 53 ts 720/715
         725 B>A ack 10800 ts 725/720";
    let seen = small_packets(later);
    assert!(seen.rows.iter().all(|row| row.verdict.class == Class::New));
    assert_eq!(seen.state.unseen_bytes, Some(4000));
    assert_eq!(seen.state.skipped_packets, 0);
    // It may have been silent, and sent them at 700, if it has heard of nothing else.
    let repeated = small_packets(&later.replace("710/695", "710/395"));
    let last = repeated.rows[30].verdict.class;
    assert_eq!(last, Class::Retransmission);
}

#[test]
fn what_was_skipped_at_the_end_may_have_passed_where_records_are_missing() {
    // An ACK without payload tells that 1800..2400 was sent, three packets, and nothing passes after it.
    let skipped = |echo: u32| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..400 id 2 ts 100/20
             101 A>B data 400..800 id 3 ts 101/20
             120 B>A ack 400 ts 120/100
             121 B>A ack 800 ts 121/101
             131 A>B data 800..1200 id 4 ts 131/121
             132 A>B ack 0 id 5 ts 132/121
             133 A>B ack 0 id 6 ts 133/121
             134 A>B ack 0 id 7 ts 134/121
             150 B>A ack 1200 ts 150/131
             160 A>B data 1200..1400 id 8 ts 160/150
             165 A>B data 1600..1800 id 10 ts 165/150
             185 B>A ack 1400 sack 1600..1800 ts 185/160
             186 B>A ack 1400 sack 1600..1800 ts 186/160
             187 B>A ack 1400 sack 1600..1800 ts 187/160
             197 A>B data 1400..1600 id 11 ts 197/187
             217 B>A ack 1800 ts 217/197
             400 A>B at 2400 ack 0 id 15 ts 400/{echo}"
        )));
        seen.state.skipped_packets
    };
    // 1400..1600 was lost before it came here.
    assert_eq!(skipped(380), 1);
    assert_eq!(skipped(217), 1 + 3);
}

#[test]
fn while_records_are_missing_as_many_ids_may_be_those_of_acks_as_numbers_leave_over() {
    // 6400..6600 is lost before it comes here. B asks, and asks twice more from 450 to 700, of which nothing was recorded: of
    // 8 ids one to three were those of 6800..7400.
    let trace = "400 A>B data 6600..6800 id 33 ts 400/395
         405 B>A ack 6400 sack 6600..6800 ts 405/390
         406 B>A ack 6400 sack 6600..6800 ts 406/390
         407 B>A ack 6400 sack 6600..6800 ts 407/390
         420 A>B data 6400..6600 id 34 ts 420/407
         440 B>A data 0..100 ack 6800 ts 440/420
         710 A>B data 7400..7600 ack 300 id 43 ts 710/695
         715 B>A ack 7600 ts 715/710";
    let counts = |trace: &str| {
        let seen = small_packets(trace);
        (seen.state.unseen_bytes, seen.state.skipped_packets)
    };
    assert_eq!(counts(trace), (Some(600), 1));
    // What B acknowledges shows it, too, where A has heard of nothing that was not recorded.
    let told = trace.replace("710 A>B", "705 B>A ack 7200 ts 705/690\n710 A>B");
    assert_eq!(counts(&told), (Some(600), 1));
    // Where nothing does, those that ACKs were not owed for are packets.
    let untold = trace.replace("710/695", "710/440");
    let (unseen, skipped) = counts(&untold);
    assert!(unseen == Some(600) && skipped > 1, "{skipped}");
}

#[test]
fn a_hole_of_a_full_packet_was_one_however_many_ids_were_skipped_there() {
    // Ten full packets; then id 14 was a repeat of 10000..11000, which was lost before it came here, and id 15 12000..13000,
    // which B acknowledges.
    let mut trace = opened("");
    for i in 0..10 {
        let (at, start, end) = (100 + 10 * i, 1000 * i, 1000 * (i + 1));
        let (id, clock, told) = (2 + i, 20.max(at - 10), at + 5);
        let _ = writeln!(
            trace,
            "{at} A>B data {start}..{end} id {id} ts {at}/{clock}"
        );
        let _ = writeln!(trace, "{told} B>A ack {end} ts {told}/{at}");
    }
    let seen = play(
        &(trace
            + "200 A>B data 10000..11000 id 12 ts 200/195
               201 A>B data 11000..12000 id 13 ts 201/195
               221 B>A ack 10000 sack 11000..12000 ts 221/190
               233 A>B data 13000..14000 id 16 ts 233/221
               253 B>A ack 10000 sack 11000..14000 ts 253/190
               263 A>B data 10000..11000 id 17 ts 263/253
               283 B>A ack 14000 ts 283/263"),
    );
    assert_eq!(seen.state.unseen_bytes, Some(1000));
    assert_eq!(seen.state.skipped_packets, 1);
}
