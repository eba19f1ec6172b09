//! Round trips that QUIC's spin bit shows, of a download over a path whose delays are known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::decode::QuicHeader;
use crate::event::{Direction, FlowSink, RttSample};
use crate::time::CaptureTime;
use crate::track::RoundTrips;

const MS: i64 = 1_000_000;

/// Data from the server, which the client answers.
const DATA: Direction = Direction::Reverse;
const ACKS: Direction = Direction::Forward;

/// From the server to here, from here to the client, and back.
const TO_HERE: i64 = 13 * MS;
const TO_CLIENT: i64 = 4 * MS;

/// From here to the client and back: it answers at once.
const BY_CLIENT: i64 = 2 * TO_CLIENT;
/// From here to the server and back: from there something goes out each millisecond, at full ones.
const BY_SERVER: i64 = 2 * TO_HERE;

/// What passes here.
#[derive(Clone, Copy, Debug)]
struct Passed {
    at_ns: i64,
    dir: Direction,
    payload_len: u32,
    spin: bool,
}

/// Packets of a download of so many, one each millisecond, of each of which `spin` makes of the bit that RFC 9000 section
/// 17.4 asks for what its sender sends. Data that `lag` says something of comes so much later here and, with what is behind
/// it, in another order.
fn download(
    packets: i64,
    mut spin: impl FnMut(Direction, bool) -> bool,
    lag: impl Fn(i64) -> i64,
) -> Vec<Passed> {
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
            passed.push(Passed {
                at_ns: at + TO_CLIENT,
                dir: ACKS,
                payload_len: 40,
                spin: bit,
            });
            arrivals.push(Reverse((at + TO_CLIENT + TO_HERE, acked, true, bit)));
        }
        let bit = spin(DATA, by_server);
        let at_ns = now + TO_HERE + lag(number);
        passed.push(Passed {
            at_ns,
            dir: DATA,
            payload_len: 1200,
            spin: bit,
        });
        arrivals.push(Reverse((at_ns + TO_CLIENT, number, false, bit)));
    }
    passed.sort_by_key(|passed| passed.at_ns);
    passed
}

fn honest(_: Direction, spin: bool) -> bool {
    spin
}

fn on_time(_: i64) -> i64 {
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
        let header = QuicHeader::Long { version };
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
    let told = told(&download(1000, honest, on_time));
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
    let told = told(&download(1000, honest, on_time));
    assert_eq!(told.samples[DATA.index()], told.echoes[DATA.index()]);
    assert!(told.samples[ACKS.index()].is_empty());
}

#[test]
fn what_is_late_turns_nothing_back() {
    // Two in a hundred, each by 5 ms, so that it comes behind the five after it: some of them behind a turn.
    let told = told(&download(4000, honest, |number| {
        if number % 50 == 7 { 5 * MS } else { 0 }
    }));
    let data = &told.echoes[DATA.index()];
    assert!(data.len() > 4000 / 34 - 20, "{}", data.len());
    assert!(data.iter().all(|&ns| ns == BY_CLIENT), "{data:?}");
}

/// A direction that turned twice while nothing of the other was seen is believed again, and no round trip is made of what
/// is missing in between.
#[test]
fn turns_that_were_not_seen_make_no_long_round_trip() {
    let mut packets = download(1000, honest, on_time);
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
        let packets = download(
            1000,
            |dir, spin| if dir == DATA { by_server } else { spin },
            on_time,
        );
        assert_eq!(told(&packets), Told::default());
    }
}

/// Endpoints that hide the bit choose it anew for each packet (RFC 9000 section 17.4), one side or both.
#[test]
fn a_bit_by_chance_tells_nothing() {
    for seed in 1..200_u64 {
        for sides in [&[DATA][..], &[ACKS], &[ACKS, DATA]] {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let packets = download(
                500,
                |dir, spin| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    if sides.contains(&dir) {
                        state >> 40 & 1 != 0
                    } else {
                        spin
                    }
                },
                on_time,
            );
            assert_eq!(told(&packets), Told::default(), "seed {seed}, {sides:?}");
        }
    }
}

#[test]
fn versions_with_another_bit_or_none_tell_nothing() {
    let packets = download(1000, honest, on_time);
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
    let packets = download(1000, honest, on_time);
    assert_eq!(told_after(&[], &packets), told(&packets));
    let told = told_of(&[], &packets, |place| (place != 3, [1, 2, 3, 4]));
    assert_eq!(told, Told::default());
}

/// Until then anything may look as if it turned.
#[test]
fn a_few_packets_tell_nothing() {
    let packets = download(1000, honest, on_time);
    let turns = |len: usize| told(&packets[..len]).echoes.concat().len();
    assert_eq!(turns(31), 0);
    assert!(turns(100) > 0);
}

#[test]
fn a_clock_that_steps_back_makes_no_round_trip() {
    let mut packets = download(1000, honest, on_time);
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
    let mut packets = download(1000, honest, on_time);
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
    let packets = download(1000, honest, on_time);
    let random = |place: usize| (place as u32).wrapping_mul(0x9e37_79b9).to_le_bytes();
    assert_eq!(
        told_of(&[1], &packets, |place| (true, random(place))),
        told(&packets)
    );
}
