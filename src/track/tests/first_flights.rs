//! First flights that were lost before they came here: all that is known of them are ids that were skipped.

use super::*;
use crate::event::Class;

#[test]
fn a_first_flight_that_was_lost_is_told_when_ids_are_known_to_count() {
    // Ids 2 to 4 were 0..3000, of which a probe would repeat the last; three steps of a counter have been seen with id
    // 7. The samples are what they were.
    let trace = "330 A>B data 0..1000 id 5
         350 B>A ack 1000
         360 A>B data 1000..2000 id 6
         361 A>B data 2000..3000 id 7
         381 B>A ack 3000
         391 A>B data 3000..4000 id 8
         411 B>A ack 4000";
    let expected = "330 retransmission 0..1000 timeout upstream ip_id rtt 20 clean
         360 retransmission 1000..2000 timeout upstream ip_id rtt 21 recovery
         361 retransmission 2000..3000 timeout upstream ip_id
         391 new 3000..4000 rtt 20 clean";
    check(&opened(trace), expected);
    assert_eq!(play(&opened(trace)).state.skipped_packets, 3);
    // Numbers that jump about tell nothing.
    let random = trace.replace("id 6", "id 9000").replace("id 7", "id 30000");
    let rows = play(&opened(&random)).rows;
    assert!(rows.iter().all(|row| row.verdict.class == Class::New));
}

#[test]
fn a_first_flight_and_the_ack_before_it_are_told_by_the_id_of_the_syn() {
    // Id 8 was the ACK of the handshake, 9 and 10 were 0..2000, and what is here was 11 before.
    let trace = |syn: &str| {
        format!(
            "0 A>B syn {syn}
             20 B>A syn ack 0
             290 A>B data 2000..2100 id 12
             310 B>A ack 0 sack 2000..2100
             320 A>B data 0..1000 id 13
             340 B>A ack 1000 sack 2000..2100
             350 A>B data 1000..2000 id 14
             370 B>A ack 2100
             380 A>B data 2100..3100 id 15
             400 B>A ack 3100"
        )
    };
    let told = |syn: &str| play(&trace(syn)).rows[0].verdict.class;
    assert_eq!(told("id 7"), Class::Retransmission);
    assert_eq!(play(&trace("id 7")).state.skipped_packets, 3);
    // It was not sent before, or the SYN has a number of another kind.
    assert_eq!(told("id 8"), Class::New);
    assert_eq!(told("id 900"), Class::New);
    // A host that offers neither timestamps nor a window scale counts for all its connections, most likely.
    assert_eq!(told("bare id 7"), Class::New);
    assert_eq!(told("bare ts 1/0 id 7"), Class::Retransmission);
    // Or what it offers was cut off.
    assert_eq!(told("bare cut id 7"), Class::Retransmission);
}

#[test]
fn the_answer_of_who_opened_as_well_takes_the_next_id() {
    // Id 8 was that of the SYN-ACK, and 10 that of 1000..2000. A waits for longer than a round trip, 20 ms, so that a
    // packet may have been lost before its data.
    let trace = |answer: &str| {
        format!(
            "0 A>B syn id 7
             5 B>A syn
             15 A>B syn ack 0 {answer}
             25 B>A ack 0
             60 A>B data 0..1000 ack 0 id 9
             61 A>B data 2000..3000 ack 0 id 11
             80 B>A ack 1000 sack 2000..3000
             90 A>B data 1000..2000 ack 0 id 12
             110 B>A ack 3000
             120 A>B data 3000..4000 ack 0 id 13
             140 B>A ack 4000"
        )
    };
    let lost = |answer: &str| play(&trace(answer)).state.skipped_packets;
    assert_eq!(lost("id 8"), 1);
    // A host that has no counter for it yet.
    assert_eq!(lost("id 0"), 2);
}

#[test]
fn a_lost_first_flight_is_told_without_an_mss() {
    // Ids 2 to 6 were 0..7000, which the timer gave up. Nothing but the repeat itself tells how much is in a packet.
    check(
        "0 A>B syn bare id 0
         20 B>A syn bare ack 0
         30 A>B ack 0 id 1
         260 A>B data 0..1400 ack 0 id 7
         280 B>A ack 1400
         290 A>B data 1400..2800 ack 0 id 8
         291 A>B data 2800..4200 ack 0 id 9
         311 B>A ack 4200
         321 A>B data 4200..5600 ack 0 id 10
         321 A>B data 5600..7000 ack 0 id 11
         322 A>B data 7000..8400 ack 0 id 12
         342 B>A ack 8400",
        "260 retransmission 0..1400 timeout upstream ip_id rtt 20 clean
         290 retransmission 1400..2800 timeout upstream ip_id
         291 retransmission 2800..4200 timeout upstream ip_id
         321 retransmission 4200..5600 timeout upstream ip_id
         321 retransmission 5600..7000 timeout upstream ip_id
         322 new 7000..8400 rtt 20 recovery",
    );
}

#[test]
fn a_timers_floor_may_count_the_round_trip_in_or_not() {
    // Ids 2 to 4 were 0..3000, sent when the SYN-ACK had come; the ACK of the handshake waited 15 ms on its way here.
    let trace = "0 A>B syn id 0
         20 B>A syn ack 0
         45 A>B ack 0 id 1
         230 A>B data 0..1000 ack 0 id 5
         250 B>A ack 1000
         260 A>B data 1000..2000 ack 0 id 6
         261 A>B data 2000..3000 ack 0 id 7
         281 B>A ack 3000";
    let rows = play(trace).rows;
    assert!(
        rows.iter()
            .all(|row| row.verdict.class == Class::Retransmission)
    );
}

#[test]
fn an_ack_that_data_overtook_tells_how_long_the_handshake_took() {
    // F2: an ACK with the first number and without payload was sent before all data, however late it comes.
    let trace = |more: &str| {
        play(&format!(
            "0 A>B syn
             20 B>A syn ack 0
             30 A>B data 1000..2000 ack 0
             {more}"
        ))
    };
    let expected = Some((32_000_000, 20_000_000, 12_000_000));
    assert_eq!(trace("32 A>B at 0 ack 0").handshake, expected);
    let data = "31 A>B data 0..1000 ack 0";
    assert_eq!(
        trace(&format!("{data}\n32 A>B at 0 ack 0")).handshake,
        expected
    );
    // Data may be repeated, and behind a first flight nobody waits any more.
    assert_eq!(trace(data).handshake, None);
    let far = "31 A>B data 20000..21000 ack 0\n32 A>B at 0 ack 0";
    assert_eq!(trace(far).handshake, None);
}

#[test]
fn a_syn_that_crosses_the_other_sides_is_no_copy_of_the_answer_to_that() {
    // F2, RFC 9293 section 3.5: A answers B's SYN after 2 ms, B confirms that 10 ms later. A's SYN and SYN-ACK have no
    // ids, one, or two.
    for (first, second) in [("", ""), ("id 3", "id 3"), ("id 3", "id 4")] {
        let seen = play(&format!(
            "0 A>B syn {first}
             10 B>A syn
             12 A>B syn ack 0 {second}
             22 B>A ack 0"
        ));
        assert_eq!(
            seen.handshake,
            Some((12_000_000, 2_000_000, 10_000_000)),
            "{first} {second}"
        );
    }
}

#[test]
fn a_first_flight_of_full_packets_may_be_lost_behind_a_smaller_one() {
    // Ids 3 to 5 were 300..3300.
    check(
        &opened(
            "100 A>B data 0..300 id 2
             120 B>A ack 300
             400 A>B data 300..1300 id 6
             420 B>A ack 1300
             430 A>B data 1300..2300 id 7
             431 A>B data 2300..3300 id 8
             451 B>A ack 3300
             461 A>B data 3300..4300 id 9
             481 B>A ack 4300",
        ),
        "100 new 0..300 rtt 20 clean
         400 retransmission 300..1300 timeout upstream ip_id rtt 20 clean
         430 retransmission 1300..2300 timeout upstream ip_id
         431 retransmission 2300..3300 timeout upstream ip_id
         461 new 3300..4300 rtt 20 clean",
    );
    // Its last packet is repeated by a probe first.
    check(
        &opened(
            "100 A>B data 0..300 id 2
             120 B>A ack 300
             200 A>B data 2300..3300 id 6
             220 B>A ack 300 sack 2300..3300
             230 A>B data 300..1300 id 7
             231 A>B data 1300..2300 id 8
             251 B>A ack 3300
             261 A>B data 3300..4300 id 9
             281 B>A ack 4300",
        ),
        "100 new 0..300 rtt 20 clean
         200 retransmission 2300..3300 tail_probe upstream ip_id rtt 20 sack
         230 retransmission 300..1300 fast upstream ip_id
         231 retransmission 1300..2300 fast upstream ip_id
         261 new 3300..4300 rtt 20 clean",
    );
}

#[test]
fn what_a_larger_packet_leaves_out_may_have_been_as_many_smaller_ones() {
    // Ids 4 to 8 were 200..700, five packets of 100 bytes, and what comes is new.
    check(
        &opened(
            "100 A>B data 0..100 id 2
             101 A>B data 100..200 id 3
             120 B>A ack 100
             121 B>A ack 200
             175 A>B data 700..1700 id 9
             195 B>A ack 200 sack 700..1700
             205 A>B data 200..700 id 10
             225 B>A ack 1700",
        ),
        "100 new 0..100 rtt 20 clean
         101 new 100..200 rtt 20 clean
         175 new 700..1700 rtt 20 sack
         205 retransmission 200..700 fast upstream ip_id",
    );
}

#[test]
fn each_copy_of_a_syn_asks_for_an_ack_of_its_own() {
    // The answers to A's SYN, of which it sends another, come three times; two of A's ACKs are lost, ids 3 and 4, and
    // one of those that come later, id 6. Nothing else is: no timer runs out within 44 ms.
    let seen = play(
        "0 A>B syn id 1 ts 207/0
         1 B>A syn ack 0 ts 587/207
         1002 B>A syn ack 0 ts 1590/207
         1022 A>B syn id 2 ts 1231/0
         1023 B>A syn ack 0 ts 1611/207
         1067 A>B data 0..100 ack 0 id 5 ts 1274/1611
         1067 B>A ack 100 ts 1655/1274
         1074 B>A data 0..1000 ack 100 ts 1662/1274
         1322 B>A data 0..1000 ack 100 ts 1910/1274
         1364 A>B ack 1000 id 7 ts 1572/1910
         1364 B>A data 1000..2000 ack 100 ts 1952/1572
         1364 B>A data 2000..3000 ack 100 ts 1952/1572
         1407 A>B ack 2000 id 8 ts 1615/1952
         1407 A>B ack 3000 id 9 ts 1615/1952
         1407 B>A data 3000..4000 ack 100 ts 1995/1615
         1407 B>A data 4000..5000 ack 100 ts 1995/1615
         1450 A>B ack 4000 id 10 ts 1658/1995
         1450 A>B ack 5000 id 11 ts 1658/1995",
    );
    assert_eq!(seen.rows[0].verdict.class, Class::New);
    assert_eq!(seen.state.skipped_packets, 0);
}
