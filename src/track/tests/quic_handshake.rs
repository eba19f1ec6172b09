//! Round trips of the handshake of QUIC.

use crate::decode::{QuicHeader, QuicPackets};
use crate::event::Direction;
use crate::time::CaptureTime;
use crate::track::RoundTrips;

use Direction::{Forward as CLIENT, Reverse as SERVER};

const MS: i64 = 1_000_000;

const INITIAL: QuicPackets = QuicPackets::INITIAL;
const ZERO_RTT: QuicPackets = QuicPackets::ZERO_RTT;
const HANDSHAKE: QuicPackets = QuicPackets::HANDSHAKE;
const RETRY: QuicPackets = QuicPackets::RETRY;
const CUT: QuicPackets = QuicPackets::CUT;

/// A datagram that passes at this ms, its version and these packets; without any it begins with a short header.
type Passed = (i64, Direction, Option<(u32, QuicPackets)>);

/// One of version 1 or, without a packet whose kind is known, of a negotiation.
fn passed(at_ms: i64, dir: Direction, packets: QuicPackets) -> Passed {
    let version = u32::from(packets != QuicPackets::default());
    (at_ms, dir, Some((version, packets)))
}

/// What else uses the same ports may look like a long header (RFC 9443), of a version that nobody knows.
fn something_else(at_ms: i64, dir: Direction) -> Passed {
    (at_ms, dir, Some((0x0060_1234, QuicPackets::default())))
}

/// The halves that these datagrams tell, in ms: towards the server and towards the client.
fn halves_ms(datagrams: &[Passed]) -> [Option<i64>; 2] {
    let mut round_trips = RoundTrips::default();
    for &(at_ms, dir, packets) in datagrams {
        let header = match packets {
            Some((version, packets)) => QuicHeader::Long { version, packets },
            None => QuicHeader::Short {
                fixed: true,
                spin: false,
                id: [0; 4],
            },
        };
        round_trips.pass(dir, CaptureTime::from_ns(at_ms * MS), 1200, header);
    }
    let handshake = round_trips.handshake().unwrap_or_default();
    let halves = [handshake.towards_server_ns(), handshake.towards_client_ns()];
    assert!(handshake.opening(CLIENT).is_none());
    halves.map(|ns| ns.map(|ns| ns / MS))
}

#[test]
fn each_side_is_timed_by_what_it_answers() {
    let told = halves_ms(&[
        passed(0, CLIENT, INITIAL),
        passed(1, CLIENT, ZERO_RTT),
        something_else(2, SERVER),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(31, SERVER, HANDSHAKE),
        (31, SERVER, None),
        // What it answers is not known of a client's Initial alone, which its timer may have sent again.
        passed(37, CLIENT, INITIAL),
        passed(38, CLIENT, INITIAL.and(HANDSHAKE)),
        (39, CLIENT, None),
        passed(70, SERVER, HANDSHAKE),
    ]);
    assert_eq!(told, [Some(30), Some(8)]);
}

#[test]
fn a_flight_of_several_datagrams_is_timed_from_its_first() {
    let told = halves_ms(&[
        passed(0, CLIENT, INITIAL),
        passed(2, CLIENT, INITIAL),
        passed(30, SERVER, INITIAL),
        passed(90, SERVER, INITIAL.and(HANDSHAKE)),
        passed(110, SERVER, HANDSHAKE),
        passed(130, SERVER, HANDSHAKE),
        passed(135, CLIENT, HANDSHAKE),
    ]);
    assert_eq!(told, [Some(30), Some(45)]);
}

#[test]
fn of_what_a_timer_sent_again_nobody_knows_which_is_answered() {
    let opened = [
        passed(0, CLIENT, INITIAL),
        passed(300, CLIENT, INITIAL),
        passed(330, SERVER, INITIAL.and(HANDSHAKE)),
        passed(338, CLIENT, HANDSHAKE),
    ];
    assert_eq!(halves_ms(&opened), [None, Some(8)]);
    let greeted = [
        passed(0, CLIENT, INITIAL),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(330, SERVER, INITIAL.and(HANDSHAKE)),
        passed(338, CLIENT, HANDSHAKE),
    ];
    assert_eq!(halves_ms(&greeted), [Some(30), None]);
    let by_initial = [
        passed(0, CLIENT, INITIAL),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(330, SERVER, INITIAL),
        passed(338, CLIENT, HANDSHAKE),
    ];
    assert_eq!(halves_ms(&by_initial), [Some(30), None]);
    // Data that are sent with the first Initial go on until the server answers.
    let early = [
        passed(0, CLIENT, INITIAL),
        passed(27, CLIENT, ZERO_RTT),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(38, CLIENT, HANDSHAKE),
    ];
    assert_eq!(halves_ms(&early), [Some(30), Some(8)]);
    // Copies that the network makes come sooner.
    let copied = [
        passed(0, CLIENT, INITIAL),
        passed(24, CLIENT, INITIAL),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(38, CLIENT, HANDSHAKE),
    ];
    assert_eq!(halves_ms(&copied), [Some(30), Some(8)]);
}

#[test]
fn a_retry_and_a_negotiation_are_answers_to_the_first_initial() {
    for answer in [RETRY, QuicPackets::default()] {
        let told = halves_ms(&[
            passed(0, CLIENT, INITIAL),
            passed(30, SERVER, answer),
            passed(38, CLIENT, INITIAL),
            passed(90, SERVER, INITIAL.and(HANDSHAKE)),
            passed(99, CLIENT, HANDSHAKE),
        ]);
        assert_eq!(told, [Some(30), Some(9)], "{answer:?}");
    }
    // Who asks with a version that nobody knows is told others before, and asks again.
    let told = halves_ms(&[
        passed(0, CLIENT, QuicPackets::default()),
        passed(30, SERVER, QuicPackets::default()),
        passed(38, CLIENT, INITIAL),
        passed(70, SERVER, INITIAL.and(HANDSHAKE)),
        passed(79, CLIENT, HANDSHAKE),
    ]);
    assert_eq!(told, [Some(32), Some(9)]);
}

#[test]
fn what_was_not_captured_is_not_told() {
    // The snap length cut what came behind the Initial, of the server or of the client.
    let told = halves_ms(&[
        passed(0, CLIENT, INITIAL.and(CUT)),
        passed(30, SERVER, INITIAL.and(CUT)),
        passed(31, SERVER, HANDSHAKE),
        passed(38, CLIENT, HANDSHAKE),
    ]);
    assert_eq!(told, [Some(30), None]);
    let told = halves_ms(&[
        passed(0, CLIENT, INITIAL),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(38, CLIENT, INITIAL.and(CUT)),
        passed(60, CLIENT, HANDSHAKE),
    ]);
    assert_eq!(told, [Some(30), None]);
    // The capture began behind the client's Initial, or later; the other side is not the client.
    let late = [
        passed(30, SERVER, INITIAL),
        passed(31, SERVER, HANDSHAKE),
        passed(38, CLIENT, INITIAL.and(HANDSHAKE)),
        passed(70, SERVER, HANDSHAKE),
    ];
    let answered = [late[0], passed(37, CLIENT, INITIAL), late[1], late[2]];
    for begun in [&late[..], &late[1..], &answered] {
        assert_eq!(halves_ms(begun), [None, None], "{begun:?}");
    }
    assert_eq!(halves_ms(&[(0, SERVER, None), late[0], late[2]]), [None; 2]);
    // A packet with a short header shows that the client's Handshake packets passed elsewhere.
    let told = halves_ms(&[
        passed(0, CLIENT, INITIAL),
        passed(30, SERVER, INITIAL.and(HANDSHAKE)),
        (38, CLIENT, None),
        passed(60, CLIENT, HANDSHAKE),
    ]);
    assert_eq!(told, [Some(30), None]);
}

#[test]
fn a_clock_that_was_set_tells_nothing() {
    let told = halves_ms(&[
        passed(0, CLIENT, INITIAL),
        passed(-30, SERVER, INITIAL.and(HANDSHAKE)),
        passed(3_600_000, CLIENT, HANDSHAKE),
    ]);
    assert_eq!(told, [None, None]);
}
