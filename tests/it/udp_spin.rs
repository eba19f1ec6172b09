//! Round trips of QUIC, which its handshake and its spin bit show.

use ccanalyze::Analysis;
use ccanalyze::analyze::{Capacity, Config};
use ccanalyze::table::Tables;

use super::support::{csv, shared};
use super::udp::{MS, analyzed, in_order, of_udp, udp, with_udp};
use super::wire::Packet;

/// A datagram from 10.0.0.1:443 to 10.0.0.2:5000 or back, whose payload begins with such a byte.
fn quic(at_ms: i64, back: bool, first: u8, payload: u16) -> Packet {
    let (hosts, ports) = if back {
        ([2, 1], [5000, 443])
    } else {
        ([1, 2], [443, 5000])
    };
    let mut packet = udp(at_ms * MS, hosts, ports, payload);
    packet.bytes.push(first);
    packet
}

/// 20 round trips of 40 ms: four datagrams of the server, which the client, 5 ms away, answers one by one. From the second
/// on each of them turns the bit, and 30 ms after the client has, the server does.
fn download() -> Vec<Packet> {
    let round = |round: i64| {
        let by_server = 0x40 | (round as u8 & 1) << 5;
        (0..4).flat_map(move |index| {
            let at_ms = 40 * round + index;
            [
                quic(at_ms, false, by_server, 1200),
                quic(at_ms + 10, true, by_server ^ 0x20, 40),
            ]
        })
    };
    in_order((0..20).flat_map(round).collect())
}

/// What the rows of a table say, each after its source's port.
fn told(analysis: &Analysis, config: &Config, columns: &[&str]) -> Vec<Vec<String>> {
    let mut flows = Tables::of(analysis, config).flows;
    let text = csv(&mut flows);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let places: Vec<usize> = std::iter::once(&"src_port")
        .chain(columns)
        .map(|name| {
            rows.headers()
                .unwrap()
                .iter()
                .position(|head| head == *name)
        })
        .map(Option::unwrap)
        .collect();
    let row = |row: csv::StringRecord| places.iter().map(|&place| row[place].to_owned()).collect();
    let mut rows: Vec<Vec<String>> = rows.records().map(|one| row(one.unwrap())).collect();
    rows.sort();
    rows
}

const ROUND_TRIPS: [&str; 8] = [
    "rtt_samples",
    "rtt_ns_min",
    "rtt_ns_max",
    "queue_delay_ns_max",
    "rtt_exact_samples",
    "rtt_ts_samples",
    "rtt_ts_ns_min",
    "rtt_ts_ns_max",
];

#[test]
fn turns_of_the_spin_bit_are_round_trips() {
    let config = Config {
        capacity: Some(Capacity { bps: 20e6 }),
        ..with_udp()
    };
    let analysis = analyzed(&download(), &config);
    // 19 turns of the server's, each answered 10 ms later. Those of the client but the last are answered 30 ms later, and
    // are of mere ACKs.
    assert_eq!(
        told(&analysis, &config, &ROUND_TRIPS),
        [
            [
                "443", "19", "10000000", "10000000", "0", "", "19", "10000000", "10000000"
            ],
            ["5000", "", "", "", "", "", "18", "30000000", "30000000"],
        ]
    );
    // Nobody knows what was sent again.
    let balance = told(&analysis, &config, &["pm", "retransmission_rate"]);
    assert_eq!(balance, [["443", "", ""], ["5000", "", ""]]);
    let flows = of_udp(&analysis.captures[0]);
    let data = flows.iter().find(|flow| flow.payload_bytes() == 96_000);
    let bins = data.unwrap().record.series().bins();
    let samples: Vec<u64> = bins.map(|bin| bin.rtt_samples).collect();
    // Answered at 50, 90, ... 770 ms.
    assert_eq!(samples, [2, 2, 3, 2, 3, 2, 3, 2]);
}

#[test]
fn without_turns_no_round_trip_is_known() {
    let mut packets = download();
    for packet in &mut packets {
        *packet.bytes.last_mut().unwrap() &= !0x20;
    }
    let config = with_udp();
    let rows = told(&analyzed(&packets, &config), &config, &ROUND_TRIPS);
    for row in rows {
        assert!(row[1..].iter().all(String::is_empty), "{row:?}");
    }
    let mut series = Tables::of(&analyzed(&packets, &config), &config).series;
    let text = csv(&mut series);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let place = rows
        .headers()
        .unwrap()
        .iter()
        .position(|head| head == "rtt_samples");
    assert!(
        rows.records()
            .all(|row| row.unwrap()[place.unwrap()].is_empty())
    );
}

/// What another program, spindump, says of a capture beside it: 1,783 and 215 us to the client, 170,479 and 160,875 us to
/// the server (`test/trace_quic_v23_aiortc_spin.expected` of EricssonResearch/spindump).
#[test]
fn a_capture_tells_what_another_program_tells() {
    let Some(folder) = shared("corpus/spindump") else {
        return;
    };
    let config = with_udp();
    let analysis = Analysis::of([folder.join("trace_quic_v23_aiortc_spin.pcap")], &config);
    let columns = ["rtt_ns_min", "rtt_ns_max", "rtt_ts_ns_min", "rtt_ts_ns_max"];
    assert_eq!(
        told(&analysis, &config, &columns),
        [
            ["443", "215000", "1783000", "215000", "1783000"],
            ["52120", "", "", "160875000", "170479000"],
        ]
    );
}

const HANDSHAKE: [&str; 3] = [
    "handshake_rtt_ns",
    "handshake_server_ns",
    "handshake_client_ns",
];

/// A datagram with a long header of version 1 or several, of these first bytes, without IDs, tokens and content.
fn long(at_ms: i64, back: bool, first: &[u8]) -> Packet {
    let packets = first.iter().flat_map(|&first| {
        let token: &[u8] = if first & 0x30 == 0 { &[0] } else { &[] };
        [&[first, 0, 0, 0, 1, 0, 0], token, &[0]].concat()
    });
    let packets: Vec<u8> = packets.collect();
    // Who answers is the server, on port 443.
    let mut packet = quic(at_ms, !back, 0, packets.len() as u16);
    packet.bytes.pop();
    packet.bytes.extend(packets);
    packet
}

#[test]
fn the_handshake_of_quic_is_one_of_its_flows() {
    let (initial, handshake) = (0xc0, 0xe0);
    let packets = vec![
        long(0, false, &[initial]),
        long(30, true, &[initial, handshake]),
        long(31, true, &[handshake]),
        long(36, false, &[initial]),
        long(38, false, &[initial, handshake]),
    ];
    let config = with_udp();
    let rows = told(&analyzed(&packets, &config), &config, &HANDSHAKE);
    let halves = ["38000000", "30000000", "8000000"];
    let row = |port| [&[port], &halves[..]].concat();
    assert_eq!(rows, [row("443"), row("5000")]);
}

/// By the times of its packets: 93.41 ms from the first to the second, which has a Handshake packet behind an Initial, and
/// 4.678 ms from there to the fourth, which is the client's first one.
#[test]
fn the_handshake_of_a_capture_from_the_wild_is_told() {
    let Some(folder) = shared("corpus/pcap2qlog") else {
        return;
    };
    let config = with_udp();
    let analysis = Analysis::of([folder.join("spin_bit.pcap")], &config);
    let rows = told(&analysis, &config, &HANDSHAKE);
    let halves = ["98088000", "93410000", "4678000"];
    let row = |port| [&[port], &halves[..]].concat();
    assert_eq!(rows, [row("4433"), row("52740")]);
}
