//! `--udp`: conversations of UDP are flows, too.

use std::fs;

use ccanalyze::Analysis;
use ccanalyze::analyze::{
    Capacity, CaptureAnalysis, CaptureInput, Config, Flow, PacketAnalysis, Quality, Watch,
};
use ccanalyze::capture::{CaptureSource, Io, LinkType};
use ccanalyze::decode::{Filter, Skip, Transport};
use ccanalyze::flow::ConnectionLimits;
use ccanalyze::table::Tables;
use ccanalyze::time::CaptureTime;

use super::support::{close, csv};
use super::wire::{Ipv4, Packet, RAW_IP, pcap, tcp4};

pub(crate) const MS: i64 = 1_000_000;

/// UDP from one host and port to another, of which the headers alone are captured.
pub(crate) fn udp(at_ns: i64, hosts: [u8; 2], ports: [u16; 2], payload: u16) -> Packet {
    let ip = Ipv4 {
        protocol: 17,
        ..Ipv4::tcp(hosts.map(|host| [10, 0, 0, host]))
    };
    let mut bytes = ip.header(28 + payload);
    bytes.extend(
        [ports[0], ports[1], 8 + payload, 0]
            .map(u16::to_be_bytes)
            .concat(),
    );
    Packet::ipv4(at_ns, bytes)
}

/// A TCP flow from 10.0.0.1:443 to 10.0.0.2:5000: 1000 bytes at 2, 3, ... 1001 ms, each acknowledged 5 ms later.
pub(crate) fn tcp_flow() -> Vec<Packet> {
    let mut packets = Vec::new();
    for index in 0..1000 {
        let at_ns = (2 + index) * MS;
        let seq = 1 + 1000 * index as u32;
        let ends = [([10, 0, 0, 1], 443), ([10, 0, 0, 2], 5000)];
        let data = tcp4(ends, [seq, 1], 0x10, 1000);
        packets.push(Packet::ipv4(at_ns, data));
        let ack = tcp4([ends[1], ends[0]], [1, seq + 1000], 0x10, 0);
        packets.push(Packet::ipv4(at_ns + 5 * MS, ack));
    }
    packets
}

/// Between the same ports, UDP: 500 bytes at 101.5, 102.5, ... 600.5 ms, and two answers of 10.
pub(crate) fn udp_flow() -> Vec<Packet> {
    let sent = (0..500).map(|index| udp(101 * MS + MS / 2 + index * MS, [1, 2], [443, 5000], 500));
    let answers = [200, 300].map(|ms| udp(ms * MS + MS / 4, [2, 1], [5000, 443], 10));
    sent.chain(answers).collect()
}

pub(crate) fn in_order(mut packets: Vec<Packet>) -> Vec<Packet> {
    packets.sort_by_key(|packet| packet.at_ns);
    packets
}

pub(crate) fn both() -> Vec<Packet> {
    in_order([tcp_flow(), udp_flow()].concat())
}

pub(crate) fn with_udp() -> Config {
    Config {
        udp: true,
        ..Config::default()
    }
}

pub(crate) fn analyzed(packets: &[Packet], config: &Config) -> Analysis {
    let name = "capture".to_owned();
    let reader = Box::new(std::io::Cursor::new(pcap(packets)));
    let input = CaptureInput {
        name: name.clone(),
        sources: vec![CaptureSource::Reader { name, reader }],
    };
    Analysis::run(vec![input], config, &Watch::default())
}

/// All tables, as text.
fn told(analysis: &Analysis, config: &Config) -> String {
    let mut tables = Tables::of(analysis, config);
    let all = [
        &mut tables.flows,
        &mut tables.pairs,
        &mut tables.pair_series,
        &mut tables.series,
        &mut tables.captures,
    ];
    all.map(csv).concat()
}

pub(crate) fn of_udp(capture: &CaptureAnalysis) -> Vec<Flow<'_>> {
    let flows = capture.flows();
    flows
        .filter(|flow| flow.transport() == Transport::Udp)
        .collect()
}

#[test]
fn a_conversation_is_two_flows_of_what_passed() {
    let analysis = analyzed(&both(), &with_udp());
    let capture = &analysis.captures[0];
    assert_eq!((capture.connections_total, capture.flows().count()), (2, 3));
    let udp = of_udp(capture);
    let [forward, reverse] = udp[..] else {
        panic!("{udp:?}")
    };
    let summary = forward.summary();
    assert_eq!((summary.packets, summary.data_packets), (500, 500));
    assert_eq!(
        (summary.payload_bytes, summary.ip_bytes),
        (250_000, 264_000)
    );
    // 499 ms from the first to the last.
    close(
        forward.goodput_bps().unwrap(),
        250_000.0 * 8.0 / 0.499,
        1e-12,
    );
    close(
        forward.throughput_bps().unwrap(),
        264_000.0 * 8.0 / 0.499,
        1e-12,
    );
    assert_eq!(forward.completion_ns(), Some(499 * MS));
    assert_eq!(forward.goodput_interval_ns(), Some((499 * MS, false)));
    assert_eq!((forward.overhead(), forward.limited_by()), (None, None));
    assert_eq!(forward.quality(), [Quality::Udp]);
    assert_eq!(forward.connection_id, reverse.connection_id);
    assert_eq!(reverse.payload_bytes(), 20);
    close(reverse.goodput_bps().unwrap(), 20.0 * 8.0 / 0.1, 1e-12);
    let bins = forward.record.series().bins();
    let (packets, bytes) = bins.fold((0, 0), |(packets, bytes), bin| {
        (packets + bin.data_packets, bytes + bin.payload_bytes)
    });
    assert_eq!((packets, bytes), (500, 250_000));
    // TCP between the same ports is as it is without.
    let tcp = capture.flows().find(|flow| flow.tcp().is_some()).unwrap();
    assert_eq!(
        (tcp.payload_bytes(), tcp.state().acked_bytes),
        (1_000_000, Some(1_000_000))
    );
}

#[test]
fn a_flow_of_udp_and_one_of_tcp_are_compared_by_payload() {
    let analysis = analyzed(&both(), &with_udp());
    let capture = &analysis.captures[0];
    let flows: Vec<Flow<'_>> = capture.flows().collect();
    let [pair] = capture.pairs.pairs[..] else {
        panic!("{:?}", capture.pairs)
    };
    // TCP began first. From 101.5 to 600.5 ms it sent at 102, 103, ... 600.
    assert!(flows[pair.a].tcp().is_some() && flows[pair.b].tcp().is_none());
    assert_eq!(
        (pair.bytes_a, pair.bytes_b, pair.exact),
        (499_000, 250_000, true)
    );
    close(pair.fness.unwrap(), -1.0 + 250.0 / 499.0, 1e-12);
    let (x, y) = (499.0_f64, 250.0_f64);
    let jain = (x + y).powi(2) / (2.0 * (x * x + y * y));
    close(capture.pairs.jain.unwrap(), jain, 1e-12);
    // All that was delivered, from 2 ms to the last ACK at 1006.
    close(
        capture.goodput_bps().unwrap(),
        (1_250_000.0 + 20.0) * 8.0 / 1.004,
        1e-12,
    );
    let delivered = capture.delivered_towards_capacity().unwrap();
    assert_eq!(delivered.bytes, 1_250_020);
    // Whether what passed of UDP arrived nobody knows.
    let most = capture.delivered_most();
    assert!(most.lacks_acks && most.bps().is_none());
}

#[test]
fn two_flows_of_udp_are_compared() {
    let mut packets = udp_flow();
    packets.extend((0..250).map(|index| udp(102 * MS + 2 * index * MS, [1, 2], [443, 5001], 500)));
    let analysis = analyzed(&in_order(packets), &with_udp());
    let capture = &analysis.captures[0];
    // The shorter one lasts from 102 to 600 ms.
    let pairs: Vec<_> = capture
        .pairs
        .pairs
        .iter()
        .filter(|pair| pair.bytes_b > 1000)
        .collect();
    let [pair] = pairs[..] else {
        panic!("{:?}", capture.pairs)
    };
    assert_eq!((pair.bytes_a, pair.bytes_b), (498 * 500, 250 * 500));
    close(pair.fness.unwrap(), -1.0 + 250.0 / 498.0, 1e-12);
    // Until the last data, as there is no ACK.
    close(
        capture.goodput_bps().unwrap(),
        375_020.0 * 8.0 / 0.499,
        1e-12,
    );
}

#[test]
fn what_takes_acks_to_tell_is_null_and_not_0() {
    let config = Config {
        capacity: Some(Capacity { bps: 10e6 }),
        ..with_udp()
    };
    let analysis = analyzed(&both(), &config);
    let tables = Tables::of(&analysis, &config);
    let known = [
        "capture",
        "connection_id",
        "src_ip",
        "src_port",
        "dst_ip",
        "dst_port",
        "ip_version",
        "direction",
        "start_ns",
        "end_ns",
        "packets",
        "data_packets",
        "ip_bytes",
        "payload_bytes",
        "goodput_bps",
        "goodput_basis",
        "throughput_bps",
        "utilisation",
        "completion_ns",
        "ce_marks",
        "quality",
    ];
    let nulls = |text: &str, known: &[&str], is_udp: fn(&str) -> bool| {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let rows: Vec<&str> = lines.filter(|line| is_udp(line)).collect();
        assert!(!rows.is_empty(), "{text}");
        for row in rows {
            for (name, value) in header.iter().zip(row.split(',')) {
                assert_eq!(!value.is_empty(), known.contains(name), "{name}: {value}");
            }
        }
    };
    let mut flows = tables.flows;
    nulls(&csv(&mut flows), &known, |line| line.ends_with(",udp"));
    let known = [
        "capture",
        "connection_id",
        "src_ip",
        "src_port",
        "dst_ip",
        "dst_port",
        "bin",
        "bin_start_ns",
        "goodput_bps",
        "ip_bytes",
        "payload_bytes",
        "data_packets",
    ];
    let mut series = tables.series;
    // The conversation is the second connection.
    nulls(&csv(&mut series), &known, |line| {
        line.starts_with("capture,1,")
    });
}

#[test]
fn without_the_option_nothing_is_told_of_udp() {
    let config = Config::default();
    let with = analyzed(&both(), &config);
    let without = analyzed(&in_order(tcp_flow()), &config);
    let flows = |analysis: &Analysis| csv(&mut Tables::of(analysis, &config).flows);
    assert_eq!(flows(&with), flows(&without));
    let [asked, not_asked] = [&with_udp(), &config].map(|config| {
        let capture = analyzed(&both(), config).captures.remove(0);
        (
            capture.records,
            capture.tcp_records,
            capture.skipped,
            capture.udp_beside(),
        )
    });
    // They are counted in the same way; only without is it said that they are missing.
    assert_eq!(asked.1 + asked.2.total(), asked.0);
    assert_eq!(asked.2.count(Skip::Udp), 502);
    assert_eq!(
        (asked.0, asked.1, asked.2),
        (not_asked.0, not_asked.1, not_asked.2)
    );
    assert_eq!((asked.3, not_asked.3), (None, Some([502, 2502])));
}

/// Many conversations, some of them in fragments, some long, between TCP: the same tables however they are read.
pub(crate) fn crowd() -> Vec<Packet> {
    let mut packets = both();
    for number in 0..6000_i64 {
        let (client, at_ns) = (number as u16, number * MS / 6);
        packets.push(udp(at_ns, [1, 2], [10_000 + client % 3000, 53], 40));
        packets.push(udp(at_ns + MS, [2, 1], [53, 10_000 + client % 3000], 200));
    }
    for index in 0..300_i64 {
        let at_ns = 300 * MS + index * MS;
        let ip = Ipv4 {
            protocol: 17,
            id: index as u16,
            fragment: 0x2000,
            ..Ipv4::tcp([[10, 0, 0, 3], [10, 0, 0, 4]])
        };
        let mut first = ip.header(20 + 1480);
        first.extend([7000, 7001, 8 + 2000, 0].map(u16::to_be_bytes).concat());
        packets.push(Packet::ipv4(at_ns, first));
        let rest = Ipv4 {
            fragment: 1480 / 8,
            ..ip
        };
        packets.push(Packet::ipv4(at_ns + MS / 8, rest.header(20 + 528)));
    }
    in_order(packets)
}

#[test]
fn threads_and_how_files_are_taken_in_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crowd.pcap");
    fs::write(&path, pcap(crowd())).unwrap();
    let of = |threads, io, memory_bytes| {
        let config = Config {
            threads: Some(threads),
            io,
            memory_bytes,
            ..with_udp()
        };
        let analysis = Analysis::of([&path], &config);
        let given_up = analysis.captures[0].given_up.anything();
        (told(&analysis, &config), given_up)
    };
    let usual = Config::default().memory_bytes;
    for memory_bytes in [usual, 1_500_000] {
        let alone = of(1, Io::Read, memory_bytes);
        assert_eq!(alone.1, memory_bytes < usual);
        for (threads, io) in [(2, Io::Mapped), (8, Io::Auto)] {
            assert!(of(threads, io, memory_bytes) == alone, "{threads} {io:?}");
        }
    }
    let analysis = Analysis::of([&path], &with_udp());
    let udp = of_udp(&analysis.captures[0]);
    assert_eq!(udp.len(), 2 + 2 * 3000 + 1);
    // Two packets each, of which the second has no UDP header.
    let in_fragments = udp
        .iter()
        .find(|flow| flow.ends().1.port() == 7001)
        .unwrap();
    let summary = in_fragments.summary();
    assert_eq!((summary.packets, summary.payload_bytes), (600, 300 * 2000));
    assert_eq!(summary.ip_bytes, 300 * (1500 + 548));
    // Nobody owes an answer.
    assert_eq!(in_fragments.quality(), [Quality::Udp]);
    assert_eq!(analysis.captures[0].quality().mid_stream_flows, 1);
}

#[test]
fn packets_that_are_pushed_come_to_the_same() {
    let config = with_udp();
    let mut pushed = PacketAnalysis::new("capture", config.clone());
    for packet in crowd() {
        let at = CaptureTime::from_ns(packet.at_ns);
        pushed.push(at, LinkType(RAW_IP), &packet.bytes, packet.original_len);
    }
    let flows = |captures: Vec<CaptureAnalysis>| {
        csv(&mut Tables::of(&Analysis { captures }, &config).flows)
    };
    let expected = flows(analyzed(&crowd(), &config).captures);
    assert!(expected.lines().count() > 6000);
    assert_eq!(flows(vec![pushed.finish()]), expected);
}

#[test]
fn more_conversations_than_the_limit_are_put_away_and_say_so() {
    let config = Config {
        limits: ConnectionLimits {
            connections_max: 10,
            ..ConnectionLimits::default()
        },
        ..with_udp()
    };
    let analysis = analyzed(&crowd(), &config);
    let capture = &analysis.captures[0];
    assert!(capture.cut_by_limit > 1000, "{}", capture.cut_by_limit);
    let udp = of_udp(capture);
    let bytes: u64 = udp.iter().map(Flow::payload_bytes).sum();
    assert_eq!(bytes, 250_020 + 6000 * 240 + 600_000);
    let limited = udp
        .iter()
        .filter(|flow| flow.quality().contains(&Quality::LimitHit));
    assert!(limited.count() as u64 > capture.cut_by_limit);
}

#[test]
fn a_filter_is_for_datagrams_too() {
    let config = Config {
        filter: Some(Filter::parse("port 7001").unwrap()),
        ..with_udp()
    };
    let analysis = analyzed(&crowd(), &config);
    let flows: Vec<Flow<'_>> = analysis.captures[0].flows().collect();
    assert_eq!(flows.len(), 1);
    assert_eq!(flows[0].payload_bytes(), 600_000);
}

#[test]
fn tcp_alone_leaves_udp_out_and_udp_tcp() {
    let transports = |expression: &str| {
        let config = Config {
            filter: Some(Filter::parse(expression).unwrap()),
            ..with_udp()
        };
        let analysis = analyzed(&both(), &config);
        let flows = analysis.captures[0].flows();
        let mut found: Vec<&str> = flows.map(|flow| flow.transport().name()).collect();
        found.dedup();
        found
    };
    assert_eq!(transports("tcp port 443"), ["tcp"]);
    assert_eq!(transports("udp"), ["udp"]);
    assert_eq!(transports("port 443"), ["tcp", "udp"]);
}

/// What passed of UDP is no goodput of a capture whose TCP nobody acknowledged.
#[test]
fn beside_tcp_without_acks_the_goodput_of_a_capture_is_not_known() {
    let goodput = |packets: &[Packet]| {
        let analysis = analyzed(packets, &with_udp());
        analysis.captures[0].goodput_bps()
    };
    let mut one_way = tcp_flow();
    one_way.retain(|packet| packet.bytes[12..16] == [10, 0, 0, 1]);
    assert_eq!(goodput(&in_order([one_way, udp_flow()].concat())), None);
    assert!(goodput(&both()).is_some() && goodput(&udp_flow()).is_some());
}
