//! Round trips that QUIC's spin bit shows, of a download over a path whose delays are known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::decode::{QuicHeader, QuicPackets};
use crate::event::{Direction, FlowSink, RttSample};
use crate::time::CaptureTime;
use crate::track::RoundTrips;

const MS: i64 = 1_000_000;

/// Data from the server, which the client answers.
const DATA: Direction = Direction::Reverse;
const ACKS: Direction = Direction::Forward;

/// How long it takes from the server to here, and from here to the client, each way.
#[derive(Clone, Copy, Debug)]
struct Path {
    to_here: i64,
    to_client: i64,
}

/// Mostly.
const PATH: Path = Path {
    to_here: 13 * MS,
    to_client: 4 * MS,
};

const NEAR_SERVER: Path = Path {
    to_here: MS / 20,
    to_client: 20 * MS,
};

const NEAR_CLIENT: Path = Path {
    to_here: 20 * MS,
    to_client: MS / 20,
};

/// From here to the client and back: it answers at once.
const BY_CLIENT: i64 = 2 * PATH.to_client;
/// From here to the server and back: from there something goes out each millisecond, at full ones.
const BY_SERVER: i64 = 2 * PATH.to_here;

/// What passes here.
#[derive(Clone, Copy, Debug)]
struct Passed {
    at_ns: i64,
    dir: Direction,
    payload_len: u32,
    spin: bool,
}

/// Packets of a download of so many, one each millisecond, of each of which `spin` makes of the bit that RFC 9000 section
/// 17.4 asks for what its sender sends. Those that `lag` says something of come so much later here and, with what is behind
/// them, in another order.
fn download_over(
    path: Path,
    packets: i64,
    mut spin: impl FnMut(Direction, bool) -> bool,
    lag: impl Fn(Direction, i64) -> i64,
) -> Vec<Passed> {
    let Path { to_here, to_client } = path;
    // When, what number, whether it reaches the server or the client, and its bit.
    let mut arrivals = BinaryHeap::new();
    let mut passed = Vec::new();
    let (mut by_client, mut by_server) = (false, false);
    let (mut highest_data, mut highest_ack) = (-1, -1);
    for number in 0..packets {
        let now = number * MS;
        while let Some(&Reverse((at, acked, is_ack, bit))) = arrivals.peek()
            && at <= now
        {
            arrivals.pop();
            if is_ack {
                if acked > highest_ack {
                    (highest_ack, by_server) = (acked, bit);
                }
                continue;
            }
            if acked > highest_data {
                (highest_data, by_client) = (acked, !bit);
            }
            let bit = spin(ACKS, by_client);
            let at_ns = at + to_client + lag(ACKS, acked);
            passed.push(Passed {
                at_ns,
                dir: ACKS,
                payload_len: 40,
                spin: bit,
            });
            arrivals.push(Reverse((at_ns + to_here, acked, true, bit)));
        }
        let bit = spin(DATA, by_server);
        let at_ns = now + to_here + lag(DATA, number);
        passed.push(Passed {
            at_ns,
            dir: DATA,
            payload_len: 1200,
            spin: bit,
        });
        arrivals.push(Reverse((at_ns + to_client, number, false, bit)));
    }
    passed.sort_by_key(|passed| passed.at_ns);
    passed
}

fn download(packets: i64, spin: impl FnMut(Direction, bool) -> bool) -> Vec<Passed> {
    download_over(PATH, packets, spin, on_time)
}

fn honest(_: Direction, spin: bool) -> bool {
    spin
}

fn on_time(_: Direction, _: i64) -> i64 {
    0
}

/// The round trips of each direction, in ns: those that count as RTT samples, and all.
#[derive(Debug, Default, PartialEq)]
struct Told {
    samples: [Vec<i64>; 2],
    echoes: [Vec<i64>; 2],
}

impl FlowSink for Told {
    fn rtt(&mut self, dir: Direction, sample: &RttSample) {
        assert_eq!(sample.at.since(sample.sent_at), sample.rtt_ns);
        self.samples[dir.index()].push(sample.rtt_ns);
    }

    fn timestamp_rtt(&mut self, dir: Direction, _at: CaptureTime, rtt_ns: i64) {
        self.echoes[dir.index()].push(rtt_ns);
    }
}

/// What is told of packets behind a handshake; `of` says of the bit that is fixed, and of the connection ID, what a packet
/// in this place has.
fn told_of(handshake: &[u32], packets: &[Passed], of: impl Fn(usize) -> (bool, [u8; 4])) -> Told {
    let (mut round_trips, mut told) = (RoundTrips::default(), Told::default());
    for &version in handshake {
        let packets = QuicPackets::INITIAL;
        let header = QuicHeader::Long { version, packets };
        round_trips.pass(ACKS, CaptureTime::from_ns(0), 1200, header);
    }
    for (place, packet) in packets.iter().enumerate() {
        let (fixed, id) = of(place);
        let spin = packet.spin;
        let header = QuicHeader::Short { fixed, spin, id };
        let at = CaptureTime::from_ns(packet.at_ns);
        round_trips.pass(packet.dir, at, packet.payload_len, header);
        round_trips.tell(&mut told);
    }
    told
}

fn told_after(handshake: &[u32], packets: &[Passed]) -> Told {
    told_of(handshake, packets, |_| (true, [1, 2, 3, 4]))
}

fn told(packets: &[Passed]) -> Told {
    told_after(&[1], packets)
}

#[test]
fn round_trips_are_those_to_either_side_of_the_vantage_point() {
    let told = told(&download(1000, honest));
    let [acks, data] = &told.echoes;
    // One a round trip of 34 ms from the first of the server's, which answers what the client sent at 17 ms, to the last
    // that comes to it before the end.
    assert_eq!(data.len(), (1000 - 47) / 34);
    assert!(data.iter().all(|&ns| ns == BY_CLIENT), "{data:?}");
    assert!(acks.iter().all(|&ns| ns == BY_SERVER), "{acks:?}");
    assert!(acks.len().abs_diff(data.len()) <= 1);
}

/// Nobody has to answer an ACK: what passes next may have waited for its application.
#[test]
fn what_answers_no_data_is_no_sample() {
    let told = told(&download(1000, honest));
    assert_eq!(told.samples[DATA.index()], told.echoes[DATA.index()]);
    assert!(told.samples[ACKS.index()].is_empty());
}

/// Round trips of `packets` over a path are those that it takes, but for a millisecond until the server sends again, and those
/// until something comes that is not late, `late_ns` in all.
#[track_caller]
fn check_round_trips(path: Path, packets: &[Passed], data_min: usize, late_ns: i64) {
    check_told(path, &told(packets), data_min, late_ns);
}

#[track_caller]
fn check_told(path: Path, told: &Told, data_min: usize, late_ns: i64) {
    let [acks, data] = &told.echoes;
    assert!(data.len() >= data_min, "{} of data", data.len());
    for (echoes, least) in [(data, 2 * path.to_client), (acks, 2 * path.to_here)] {
        let within = least..=least + MS + late_ns;
        let odd: Vec<_> = echoes.iter().filter(|ns| !within.contains(ns)).collect();
        assert!(odd.is_empty(), "{path:?}: {within:?}: {odd:?}");
    }
}

#[test]
fn what_is_late_turns_nothing_back() {
    // Two in a hundred, each by 5 ms, so that it comes behind the five after it: some of them behind a turn.
    let some = |wanted: Direction, late_ns: i64| {
        move |dir: Direction, number: i64| {
            if dir == wanted && number % 50 == 7 {
                late_ns
            } else {
                0
            }
        }
    };
    for (dir, late_ns) in [(DATA, 5 * MS), (ACKS, 5 * MS), (ACKS, 9 * MS)] {
        let packets = download_over(PATH, 4000, honest, some(dir, late_ns));
        check_round_trips(PATH, &packets, 4000 / 34 - 25, MS);
    }
    // Near either host, whose turn is here long before what is late.
    for path in [NEAR_SERVER, NEAR_CLIENT] {
        for dir in [ACKS, DATA] {
            let packets = download_over(path, 20_000, honest, some(dir, 5 * MS));
            check_round_trips(path, &packets, 20_000 / 41 - 100, MS);
        }
    }
}

/// Several that come in a row, as where a route flaps: as many as it takes to believe nothing of before, too.
#[test]
fn what_is_late_together_makes_no_shorter_round_trip() {
    for path in [PATH, NEAR_SERVER, NEAR_CLIENT] {
        for wanted in [ACKS, DATA] {
            for count in 2..5 {
                let together = |dir: Direction, number: i64| {
                    let place = number % 501;
                    if dir == wanted && place < count {
                        6 * MS + MS / 10 - place * (MS - MS / 100)
                    } else {
                        0
                    }
                };
                let packets = download_over(path, 20_000, honest, together);
                check_round_trips(path, &packets, 20_000 / 41 / 3, count * MS);
            }
        }
    }
}

/// In the first round trips nobody knows how long one takes, nor who is the client: what follows tells of what is late.
#[test]
fn what_is_late_in_the_beginning_makes_no_short_round_trip() {
    for (handshake, count) in [(&[1][..], 1), (&[1], 2), (&[], 1)] {
        for first in 0..100 {
            for wanted in [ACKS, DATA] {
                let some = |dir: Direction, number: i64| {
                    let place = number - first;
                    if dir == wanted && (0..count).contains(&place) {
                        5 * MS + MS / 10 - place * (MS - MS / 100)
                    } else {
                        0
                    }
                };
                let packets = download_over(NEAR_SERVER, 1000, honest, some);
                let told = told_after(handshake, &packets);
                check_told(NEAR_SERVER, &told, 1000 / 41 - 4, count * MS);
            }
        }
    }
}

/// One or two datagrams of each side in a round trip, and those of one that the capture lacks.
#[test]
fn a_turn_that_was_not_seen_makes_no_round_trip_of_several() {
    for per_turn in [1, 2] {
        for lacks in 100..110 {
            let turn = |place: i64| {
                let round = place / 2;
                let (dir, at_ms) = if place % 2 == 0 {
                    (ACKS, 0)
                } else {
                    (DATA, 30)
                };
                (0..per_turn).map(move |index| Passed {
                    at_ns: (100 * round + at_ms + index) * MS,
                    dir,
                    payload_len: 500,
                    spin: round % 2 != 0,
                })
            };
            let seen = (0..400).filter(|&place| place != lacks);
            let told = told(&seen.flat_map(turn).collect::<Vec<_>>());
            let [acks, data] = &told.echoes;
            assert!(acks.len() > 150 && data.len() > 150);
            assert!(acks.iter().all(|&ns| ns == 30 * MS), "{lacks}: {acks:?}");
            assert!(data.iter().all(|&ns| ns == 70 * MS), "{lacks}: {data:?}");
        }
    }
}

/// A direction that turned twice while nothing of the other was seen is believed again, and no round trip is made of what
/// is missing in between.
#[test]
fn turns_that_were_not_seen_make_no_long_round_trip() {
    let mut packets = download(1000, honest);
    let unseen = 300 * MS..380 * MS;
    packets.retain(|packet| packet.dir == DATA || !unseen.contains(&packet.at_ns));
    let told = told(&packets);
    let [acks, data] = &told.echoes;
    assert!(data.len() >= 1000 / 34 - 4, "{}", data.len());
    assert!(data.iter().all(|&ns| ns == BY_CLIENT), "{data:?}");
    assert!(acks.iter().all(|&ns| ns == BY_SERVER), "{acks:?}");
}

#[test]
fn a_bit_that_stays_tells_nothing() {
    for by_server in [false, true] {
        let packets = download(1000, |dir, spin| if dir == DATA { by_server } else { spin });
        assert_eq!(told(&packets), Told::default());
    }
}

/// Endpoints that hide the bit choose it anew for each packet (RFC 9000 section 17.4), one side or both.
#[test]
fn a_bit_by_chance_tells_nothing() {
    for seed in 1..200_u64 {
        for sides in [&[DATA][..], &[ACKS], &[ACKS, DATA]] {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let packets = download(500, |dir, spin| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                if sides.contains(&dir) {
                    state >> 40 & 1 != 0
                } else {
                    spin
                }
            });
            assert_eq!(told(&packets), Told::default(), "seed {seed}, {sides:?}");
        }
    }
}

#[test]
fn versions_with_another_bit_or_none_tell_nothing() {
    let packets = download(1000, honest);
    // Draft 16, one by Google, and one by Facebook.
    for version in [0xff00_0010, 0x5130_3530, 0xface_b002] {
        assert_eq!(told_after(&[version], &packets), Told::default());
    }
    let known = told(&packets);
    // Version 2, drafts 17 and 34, and version 1 after another was offered, which others use the ports of, too.
    let second = [0x6b33_43cf];
    let agreed = [0x5130_3530, 0x1a2a_3a4a, 0, 1, 0x8000_0000];
    for handshake in [&second[..], &[0xff00_0011], &[0xff00_0022], &agreed] {
        assert_eq!(told_after(handshake, &packets), known);
    }
}

#[test]
fn without_a_handshake_all_have_to_look_like_it() {
    let packets = download(1000, honest);
    assert_eq!(told_after(&[], &packets), told(&packets));
    let told = told_of(&[], &packets, |place| (place != 3, [1, 2, 3, 4]));
    assert_eq!(told, Told::default());
}

/// Until then anything may look as if it turned.
#[test]
fn a_few_packets_tell_nothing() {
    let packets = download(1000, honest);
    let turns = |len: usize| told(&packets[..len]).echoes.concat().len();
    assert_eq!(turns(31), 0);
    assert!(turns(100) > 0);
}

#[test]
fn a_clock_that_steps_back_makes_no_round_trip() {
    let mut packets = download(1000, honest);
    for packet in packets.iter_mut().skip(800) {
        packet.at_ns -= 3600 * 1000 * MS;
    }
    let told = told(&packets);
    let round_trips = told.echoes.concat();
    assert!(
        round_trips
            .iter()
            .all(|ns| [BY_CLIENT, BY_SERVER].contains(ns))
    );
}

/// Whoever changes it begins with 0 (RFC 9000 section 17.4), which is no answer.
#[test]
fn a_change_of_the_connection_id_turns_nothing() {
    let mut packets = download(1000, honest);
    // The client's, when it has sent 1 for some time and the server's turn to 1 is still on its way to it.
    let turn = |packets: &[Passed], dir, from: usize| {
        let mut of_dir = (from..packets.len()).filter(|&place| packets[place].dir == dir);
        of_dir.find(|&place| packets[place].spin).unwrap()
    };
    let zero =
        (600..packets.len()).find(|&place| !packets[place].spin && packets[place].dir == DATA);
    let change = turn(&packets, DATA, zero.unwrap()) + 1;
    for packet in &mut packets[change..change + 8] {
        packet.spin &= packet.dir == DATA;
    }
    let id = |place: usize| [1, 2, 3, u8::from(place >= change)];
    let told = told_of(&[1], &packets, |place| (true, id(place)));
    let [acks, data] = &told.echoes;
    assert!(data.iter().all(|&ns| ns == BY_CLIENT), "{data:?}");
    assert!(acks.iter().all(|&ns| ns == BY_SERVER), "{acks:?}");
}

/// Without connection IDs what follows is encrypted.
#[test]
fn connections_without_ids_tell_the_same() {
    let packets = download(1000, honest);
    let random = |place: usize| (place as u32).wrapping_mul(0x9e37_79b9).to_le_bytes();
    assert_eq!(
        told_of(&[1], &packets, |place| (true, random(place))),
        told(&packets)
    );
}

/// STUN and DTLS have none of the values that QUIC's first byte has (RFC 9443).
#[test]
fn what_else_uses_the_same_ports_tells_nothing() {
    let packets = download(1000, honest);
    let others = packets.iter().enumerate().flat_map(|(place, &packet)| {
        let other = (place % 5 == 0).then_some((
            Passed {
                spin: false,
                ..packet
            },
            false,
        ));
        [(packet, true)].into_iter().chain(other)
    });
    let (all, fixed): (Vec<Passed>, Vec<bool>) = others.unzip();
    assert_eq!(
        told_of(&[1], &all, |place| (fixed[place], [1, 2, 3, 4])),
        told(&packets)
    );
}

/// A queue of a second drains, or a route becomes shorter.
#[test]
fn round_trips_that_become_much_shorter_are_told_again() {
    let long = Path {
        to_client: 500 * MS,
        ..PATH
    };
    let mut packets = download_over(long, 5000, honest, on_time);
    let end = packets.last().unwrap().at_ns + MS;
    let short = download(1000, honest).into_iter().map(|packet| Passed {
        at_ns: end + packet.at_ns,
        ..packet
    });
    packets.extend(short);
    let data = &told(&packets).echoes[DATA.index()];
    let by_now = data.iter().filter(|&&ns| ns == BY_CLIENT).count();
    assert!(by_now > 1000 / 34 - 5, "{data:?}");
}
