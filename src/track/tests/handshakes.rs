//! How long a handshake takes (METRICS.md F2).

use super::play;

#[test]
fn of_repeated_syns_the_echo_tells_which_was_answered() {
    // F2, by Karn's rule: A's first SYN was lost before it came to B, or its answer before it came here.
    let bare = "0 A>B syn
         1000 A>B syn
         1020 B>A syn ack 0
         1030 A>B ack 0";
    assert_eq!(play(bare).handshake, None);
    for (echo, server_ms) in [(1, None), (1001, Some(20))] {
        let seen = play(&format!(
            "0 A>B syn ts 1/0
             1000 A>B syn ts 1001/0
             1020 B>A syn ack 0 ts 7/{echo}
             1030 A>B ack 0 ts 1031/7"
        ));
        // Who had the first copy already echoes it in the answer to the second, too: no time, and surely not that
        // of the second.
        let expected = server_ms.map(|ms| ((ms + 10) * 1_000_000, ms * 1_000_000, 10_000_000));
        assert_eq!(seen.handshake, expected);
    }
    // Both copies within a tick of A's clock; but sooner than any timer, the network made one of them: the packet
    // passed with the first, from which data and its ACKs are timed, too.
    for (second, expected) in [
        (1000, None),
        (5, Some((30_000_000, 20_000_000, 10_000_000))),
    ] {
        let (answer, ack) = (second + 15, second + 25);
        let alike = format!(
            "0 A>B syn ts 1/0
             {second} A>B syn ts 1/0
             {answer} B>A syn ack 0 ts 7/1
             {ack} A>B ack 0 ts 2/7"
        );
        assert_eq!(play(&alike).handshake, expected);
    }
}

#[test]
fn a_handshake_that_is_seen_twice_is_one_with_timestamps_and_without() {
    // F2: each packet before and behind a queue. Sooner than any timer nobody repeats.
    for [first, second, third] in [["", "", ""], ["ts 1/0", "ts 7/1", "ts 31/7"]] {
        let seen = play(&format!(
            "0 A>B syn {first}
             2 A>B syn {first}
             20 B>A syn ack 0 {second}
             21 B>A syn ack 0 {second}
             30 A>B ack 0 {third}
             31 A>B ack 0 {third}"
        ));
        let expected = Some((30_000_000, 20_000_000, 10_000_000));
        assert_eq!(seen.handshake, expected);
    }
}

#[test]
fn a_syn_that_is_repeated_with_another_id_was_not_copied_by_the_network() {
    // F2, by Karn's rule: some senders repeat a SYN sooner than any timer of RFC 6298.
    for (second, expected) in [(1, Some((95_000_000, 85_000_000, 10_000_000))), (2, None)] {
        let seen = play(&format!(
            "0 A>B syn id 1
             70 A>B syn id {second}
             85 B>A syn ack 0
             95 A>B ack 0"
        ));
        assert_eq!(seen.handshake, expected);
    }
}

#[test]
fn data_from_further_on_does_not_tell_when_the_handshake_was_confirmed() {
    // F2: A's ACK and its first data were lost before they came here, so 1000..2000 is no answer at once.
    let trace = |first: &str| {
        play(&format!(
            "0 A>B syn
             20 B>A syn ack 0
             170 A>B data {first} ack 0"
        ))
    };
    assert_eq!(trace("1000..2000").handshake, None);
    // What goes on right behind the SYN may carry the ACK itself.
    let expected = Some((170_000_000, 20_000_000, 150_000_000));
    assert_eq!(trace("0..1000").handshake, expected);
}

#[test]
fn a_syn_whose_answer_was_lost_further_on_is_no_round_trip() {
    // F2: the first SYN was answered once, so the half towards B is known; which of the two answers A
    // confirms, only the echo tells.
    let bare = "0 A>B syn
         20 B>A syn ack 0
         1000 A>B syn
         1020 B>A syn ack 0
         1030 A>B ack 0";
    assert_eq!(play(bare).handshake, None);
    let stamped = "0 A>B syn ts 1/0
         20 B>A syn ack 0 ts 7/1
         1000 A>B syn ts 1001/0
         1020 B>A syn ack 0 ts 1007/1
         1030 A>B ack 0 ts 1031/1007";
    let expected = Some((30_000_000, 20_000_000, 10_000_000));
    assert_eq!(play(stamped).handshake, expected);
}

#[test]
fn where_both_open_at_once_no_half_of_the_handshake_counts_twice() {
    // METRICS.md F2, RFC 9293 section 3.5: both SYN-ACKs answer SYNs. Towards A and back it takes 10 ms, towards B 20
    // ms.
    let trace = "0 A>B syn ts 1/0
         5 B>A syn ts 100/0
         15 A>B syn ack 0 ts 2/100
         20 B>A syn ack 0 ts 101/1
         30 A>B data 0..100 ack 0 ts 3/101
         50 B>A ack 100 ts 102/3";
    assert_eq!(play(trace).handshake, None);
    // So it is where the other side answers first, and sends first behind that.
    let trace = "0 A>B syn ts 1/0
         4 B>A syn ts 100/0
         10 B>A syn ack 0 ts 101/1
         12 A>B syn ack 0 ts 2/100
         22 A>B data 0..100 ack 0 ts 3/101
         40 B>A ack 100 ts 102/3";
    assert_eq!(play(trace).handshake, None);
    // Where one SYN is lost, its sender answers the other one.
    let trace = "0 A>B syn ts 1/0
         5 B>A syn ts 100/0
         15 A>B syn ack 0 ts 2/100
         35 B>A ack 0 ts 101/2";
    assert_eq!(
        play(trace).handshake,
        Some((30_000_000, 10_000_000, 20_000_000))
    );
}
