//! Ids that count for one connection alone, and packets without payload that take some.

use super::{Seen, opened, play};
use crate::event::{Class, Evidence, Reason};

/// A handshake in which A answers, with the id 0 of who counts for each connection, or with `id`.
fn answered_with(id: u32, rest: &str) -> String {
    format!(
        "0 B>A syn
         10 A>B syn ack 0 id {id}
         30 B>A ack 0
         {rest}"
    )
}

/// `rounds` requests, each of which is answered with five packets: the last one is lost, and repeated by a probe.
fn lost_tails(rounds: u32) -> String {
    let round = |n: u32| {
        let (at, start, id, asked) = (100 + 200 * n, 5000 * n, 10 + 6 * n, 100 * (n + 1));
        let first: Vec<String> = (0..4)
            .map(|k| {
                let (from, at, id) = (start + 1000 * k, at + k, id + k);
                format!(
                    "{at} A>B data {from}..{} ack {asked} id {id}\n",
                    from + 1000
                )
            })
            .collect();
        let (tail, end) = (start + 4000, start + 5000);
        format!(
            "{} B>A data {}..{asked} ack {start}
             {}
             {} B>A ack {tail}
             {} A>B data {tail}..{end} ack {asked} id {}
             {} B>A ack {end}\n",
            at - 10,
            asked - 100,
            first.concat(),
            at + 24,
            at + 95,
            id + 5,
            at + 115,
        )
    };
    (0..rounds).map(round).collect()
}

fn repeats(seen: &Seen) -> usize {
    let repeats = |class| class == Class::Retransmission;
    seen.rows
        .iter()
        .filter(|row| repeats(row.verdict.class))
        .count()
}

#[test]
fn all_that_a_deep_queue_held_may_be_lost_of_who_counts_for_the_connection() {
    // Eight hundred packets came, and then an outage of 2 s swallowed 1,100 of them, the first of which the sender repeats
    // after it.
    let told = |id: u32| {
        let first = (0..800).map(|n| {
            let (at, start, id) = (100 + n, 1000 * n, 5 + n);
            format!("{at} A>B data {start}..{} ack 0 id {id}", start + 1000)
        });
        let later = (0..10).map(|n| {
            let (at, start, id) = (3000 + 31 * n, 800_000 + 1000 * n, 1905 + n);
            let (end, answer) = (start + 1000, at + 20);
            format!("{at} A>B data {start}..{end} ack 0 id {id}\n{answer} B>A ack {end}")
        });
        let acked = std::iter::once("919 B>A ack 800000".to_owned());
        let lines: Vec<String> = first.chain(acked).chain(later).collect();
        let seen = play(&answered_with(id, &lines.join("\n")));
        (repeats(&seen), seen.rows.len())
    };
    assert_eq!(told(0), (10, 810));
    // Others of its host may have sent so many.
    assert_eq!(told(1), (0, 810));
}

#[test]
fn new_data_of_a_timer_may_be_lost_as_well() {
    // Ids 4 to 16 were 2000..15000. The ACK of the timer's repeat lets its sender try two packets of new data (RFC 5682
    // section 2.1), ids 18 and 19, which are lost, too; the next timer gives up all.
    let told = |id: u32, second: u32| {
        let trace = format!(
            "90 B>A data 0..100 ack 0
             91 A>B ack 100 id 1
             100 A>B data 0..1000 ack 100 id 2
             101 A>B data 1000..2000 ack 100 id 3
             121 B>A ack 2000
             430 A>B data 2000..3000 ack 100 id 17
             450 B>A ack 3000
             710 A>B data 3000..4000 ack 100 id {second}
             730 B>A ack 4000
             740 A>B data 4000..5000 ack 100 id {}
             741 A>B data 5000..6000 ack 100 id {}",
            second + 1,
            second + 2
        );
        let told = |trace: &str| repeats(&play(trace));
        (told(&answered_with(id, &trace)), told(&opened(&trace)))
    };
    // Of who opened it is not known whether others of its host have sent so many.
    assert_eq!(told(0, 20), (4, 0));
    // Who sends nothing in between has nothing to repeat.
    assert_eq!(told(0, 18), (0, 0));
    assert_eq!(told(1, 20), (0, 0));
}

#[test]
fn lost_tails_are_no_doubt_of_ids_that_are_a_connections_own() {
    let told = |id: u32| repeats(&play(&answered_with(id, &lost_tails(20))));
    assert_eq!(told(0), 20);
    // A host that counts its SYN-ACK with all else may have sent the others elsewhere.
    assert!(told(9) < 10);
}

#[test]
fn skipped_ids_that_are_a_connections_own_are_losses_however_many() {
    // An outage takes 60 packets of 100 bytes, which are repeated together.
    let lost = |id: u32| {
        let few: Vec<String> = (0..40)
            .map(|n| {
                let (at, start) = (100 + n, 100 * n);
                format!(
                    "{at} A>B data {start}..{} ack 0 id {}\n",
                    start + 100,
                    2 + n
                )
            })
            .collect();
        let outage = answered_with(
            id,
            &format!(
                "{}
                 160 B>A ack 4000
                 900 A>B data 4000..5000 ack 0 id 102
                 920 B>A ack 5000
                 931 A>B data 5000..6000 ack 0 id 103
                 951 B>A ack 6000",
                few.concat()
            ),
        );
        play(&outage).state.skipped_packets
    };
    assert_eq!(lost(0), 60);
    assert_eq!(lost(1), 0);
}

#[test]
fn an_id_that_is_skipped_while_a_fin_waits_is_its_acks() {
    // The id before `id` is that of the ACK of the FIN; of 4000..5000 it is known that it was lost.
    let lost = |fin: &str, id: u32| {
        let ack = u32::from(!fin.is_empty());
        let trace = format!(
            "100 A>B data 0..1000 ack 0 id 2
             101 A>B data 1000..2000 ack 0 id 3
             {fin}
             106 A>B data 2000..3000 ack 0 id 4
             128 B>A ack 3000
             138 A>B data 3000..4000 ack {ack} id {id}
             140 A>B data 5000..6000 ack {ack} id {}
             158 B>A ack 4000
             160 B>A ack 4000 sack 5000..6000
             172 A>B data 4000..5000 ack {ack} id {}
             192 B>A ack 6000",
            id + 2,
            id + 3
        );
        play(&opened(&trace)).state.skipped_packets
    };
    assert_eq!(lost("105 B>A fin", 6), 1);
    // It has one: of two that are skipped one was data.
    assert_eq!(lost("105 B>A fin", 7), 2);
    assert_eq!(lost("", 6), 2);
}

#[test]
fn ids_that_are_skipped_behind_a_probe_are_those_of_others() {
    // A keep-alive a second, of which the last, id 6, is lost.
    let class = |probe: &str| {
        let trace = opened(&format!(
            "100 A>B data 0..1000 ack 0 id 2
             101 A>B data 1000..2000 ack 0 id 3
             102 A>B data 2000..3000 ack 0 id 4
             123 B>A ack 3000
             1102 A>B ack 0 {probe} id 5
             1122 B>A ack 3000
             3000 A>B data 3000..4000 ack 0 id 7
             3020 B>A ack 4000"
        ));
        play(&trace).rows[3].verdict.class
    };
    assert_eq!(class("at 2999"), Class::New);
    assert_eq!(class(""), Class::Retransmission);
}

#[test]
fn a_fill_with_the_id_after_that_of_what_opened_the_hole_is_a_repeat() {
    let told = |id: u32| {
        let trace = opened(&format!(
            "100 A>B data 1000..2000 ack 0 id 500
             104 A>B data 0..1000 ack 0 id {id}
             124 B>A ack 2000"
        ))
        .replace("ack 0 id 1\n", "ack 0\n");
        let verdict = play(&trace).rows[1].verdict;
        (verdict.class, verdict.evidence)
    };
    assert_eq!(told(501), (Class::Retransmission, Evidence::IpId));
    assert_eq!(told(499), (Class::Reordered, Evidence::IpId));
    // So far away it is a number like any other.
    assert_eq!(told(30_000), (Class::Reordered, Evidence::Timing));
}

/// B's requests are answered with two packets; the tail of the second answer, id 5, is lost. An ACK passes at `acked`,
/// which its sender had not heard of when it probes at 385, 75 ms after the packet before.
fn unheard_before_a_probe(acked: u32, clock: u32) -> String {
    format!(
        "0 A>B syn ts 1000/0
         20 B>A syn ack 0 ts 20/1000
         30 A>B ack 0 id 1 ts 1030/20
         100 A>B data 0..1000 ack 0 id 2 ts 1100/20
         101 A>B data 1000..2000 ack 0 id 3 ts 1101/20
         121 B>A ack 2000 ts 121/1101
         300 B>A data 0..100 ack 2000 ts 300/1101
         310 A>B data 2000..3000 ack 100 id 4 ts 1310/300
         {acked} B>A ack 3000 ts {acked}/1310
         385 A>B data 3000..4000 ack 100 id 6 ts {clock}/300
         405 B>A ack 4000 ts 405/{clock}"
    )
}

#[test]
fn an_ack_that_its_sender_had_not_heard_of_does_not_end_its_silence() {
    let told = |acked: u32, clock: u32| {
        let verdict = play(&unheard_before_a_probe(acked, clock)).rows[3].verdict;
        (verdict.class, verdict.reason)
    };
    let probed = (Class::Retransmission, Some(Reason::TailProbe));
    assert_eq!(told(365, 1385), probed);
    // Its own clock has not gone on: some take no clock of what has no payload.
    assert_eq!(told(365, 1310).0, Class::New);
}

#[test]
fn who_was_silent_by_its_own_clock_had_not_just_been_asked() {
    // Behind a queue: A answers 300 ms after an ACK passes. It had heard of the ACK of 112, which asks for the hole; that of
    // 113 may have been lost on its way.
    let reason = |clock: u32| {
        let rows = play(&opened(&format!(
            "100 A>B data 0..1000 ack 0 ts 50/1
             140 A>B data 2000..3000 ack 0 ts 90/1
             141 A>B data 3000..4000 ack 0 ts 91/1
             142 A>B data 4000..5000 ack 0 ts 92/1
             143 A>B data 5000..6000 ack 0 ts 93/1
             150 B>A ack 1000 ts 10/50
             151 B>A ack 1000 sack 2000..3000 ts 11/90
             152 B>A ack 1000 sack 2000..5000 ts 12/90
             153 B>A ack 1000 sack 2000..6000 ts 13/90
             452 A>B data 1000..2000 ack 0 ts {clock}/12"
        )))
        .rows;
        rows[5].verdict.reason
    };
    assert_eq!(reason(120), Some(Reason::Fast));
    assert_eq!(reason(390), Some(Reason::Timeout));
}

#[test]
fn the_copy_of_the_first_packet_that_is_seen_has_its_id() {
    // A capture of both sides of a queue begins amid the flow. What a timer repeats, or who has no ids, is no copy.
    let class = |at: u32, ids: [u32; 2]| {
        let [first, second] = ids;
        let trace = format!(
            "100 A>B data 0..1000 id {first}
             {at} A>B data 0..1000 id {second}
             400 B>A ack 1000"
        );
        play(&trace).rows.last().map(|row| row.verdict.class)
    };
    assert_eq!(class(130, [7, 7]), Some(Class::Duplicate));
    for (at, ids) in [(130, [7, 8]), (130, [0, 0]), (301, [7, 7])] {
        assert_eq!(class(at, ids), Some(Class::Retransmission));
    }
}
