//! Rates of flows whose ACKs were not seen, and payload of those that are not compared.

use std::fs;
use std::path::Path;

use crate::analyze::{
    Analysis, CaptureInput, Config, DeliveredMost, Flow, PacketAnalysis, PairConfig, Quality,
    Sharing, Watch, goes_the_main_way,
};
use crate::capture::CaptureSource;
use crate::capture::tests::build::Pcap;
use crate::observe::Span;

/// A request and the download it asks for.
fn header_and_records() -> (Vec<u8>, Vec<Vec<u8>>) {
    let bytes = fs::read("testdata/captures/drop-one.pcap").unwrap();
    let (header, mut rest) = bytes.split_at(24);
    let mut records = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (record, further) = rest.split_at(16 + length);
        records.push(record.to_vec());
        rest = further;
    }
    (header.to_vec(), records)
}

/// The data of a download, and an ACK of its receiver from before all of it.
fn data_and_early_ack() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (header, records) = header_and_records();
    let (mut data, mut ack) = (Vec::new(), Vec::new());
    for record in records {
        let ip = &record[16 + 14..];
        let from_server = u16::from_be_bytes([ip[20], ip[21]]) < 30_000;
        let is_syn = ip[20 + 13] & 2 != 0;
        if from_server && u16::from_be_bytes([ip[2], ip[3]]) > 500 {
            data.extend(record);
        } else if !from_server && !is_syn && ack.is_empty() {
            ack = record;
        }
    }
    (header, data, ack)
}

fn analyse(bytes: Vec<u8>) -> Analysis {
    let source = CaptureSource::Reader {
        name: "download".to_owned(),
        reader: Box::new(std::io::Cursor::new(bytes)),
    };
    let input = CaptureInput {
        name: "download".to_owned(),
        sources: vec![source],
    };
    Analysis::run(vec![input], &Config::default(), &Watch::default())
}

/// Whoever has the results alone can ask for what is made of bins.
#[test]
fn a_capture_says_how_long_its_bins_are() {
    let download = "testdata/captures/two-flows-cubic-bbr.pcap.zst";
    for (bin_ns, expected) in [(10_000_000, 10_000_000), (0, 1), (-5, 1)] {
        let config = Config {
            bin_ns,
            ..Config::default()
        };
        let found = Analysis::of([download, "testdata/none.pcap"], &config).captures;
        let of_packets = PacketAnalysis::new("none", config).finish();
        let all = found.iter().chain([&of_packets]);
        assert!(all.map(|capture| capture.bin_ns).eq([expected; 3]));
        let flows: Vec<_> = found[0].flows().collect();
        let most = DeliveredMost::of(&flows, expected);
        assert!(most.bps_at_least.is_some(), "{expected}");
        assert_eq!(found[0].delivered_most(), most);
    }
}

#[test]
fn data_without_acks_has_a_goodput_only_where_its_receiver_was_not_seen() {
    // METRICS.md G1.
    let (header, data, ack) = data_and_early_ack();
    let [alone, behind_an_ack] = [&[][..], &ack].map(|before| {
        let bytes = [&header, before, &data].concat();
        let analysis = analyse(bytes);
        let flow = analysis.captures[0].flows().next().unwrap();
        assert!(flow.payload_bytes() > 100_000);
        (flow.goodput_bps(), flow.throughput_bps())
    });
    assert!(alone.0.unwrap() > 1e6, "{alone:?}");
    assert!(alone.1 > alone.0, "{alone:?}");
    assert_eq!(behind_an_ack, (None, None));
}

/// METRICS.md Q1: of a capture of all interfaces, in which each packet is twice, and of one in which every fifth is.
#[test]
fn who_reads_of_packets_captured_twice_is_told() {
    let (header, records) = header_and_records();
    let copied = |one_in: usize| {
        let mut copied = header.clone();
        for (number, record) in records.iter().enumerate() {
            copied.extend(record);
            if number % one_in == 0 {
                copied.extend(record);
            }
        }
        analyse(copied)
    };
    // A request and the download: all of both, or one packet in five of the download.
    for (one_in, flows) in [(1, 2), (5, 0)] {
        let analysis = copied(one_in);
        let capture = &analysis.captures[0];
        assert!(capture.quality().duplicate_packets > 50);
        assert_eq!(capture.quality().copied_flows, flows);
        for flow in capture.flows() {
            assert_eq!(flow.quality().contains(&Quality::Copies), flows > 0);
        }
    }
}

/// A packet of raw IPv4 from port 1000 to port 80, or back, at so many ms.
fn raw(
    at_ms: u32,
    is_back: bool,
    flags: u8,
    (seq, ack): (u32, u32),
    payload_len: usize,
) -> (u32, Vec<u8>) {
    let ip_len = 40 + payload_len;
    let (mut ends, mut ports) = ([[10, 0, 0, 1], [10, 0, 0, 2]], [1000_u16, 80]);
    if is_back {
        ends.reverse();
        ports.reverse();
    }
    let mut packet = vec![0x45, 0];
    packet.extend((ip_len as u16).to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    packet.extend(ends.concat());
    packet.extend(ports.map(u16::to_be_bytes).concat());
    packet.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
    packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    packet.resize(ip_len, 0);
    (at_ms, packet)
}

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// A capture of raw IP of these packets.
fn of_raw(packets: &[(u32, Vec<u8>)]) -> Analysis {
    let file = packets
        .iter()
        .fold(Pcap::raw_ip(0xa1b2_c3d4), |file, (ms, bytes)| {
            file.record(ms / 1000, ms % 1000 * 1000, bytes)
        });
    analyse(file.bytes)
}

/// A handshake, after which the numbers are 101 and 501.
fn opened() -> [(u32, Vec<u8>); 3] {
    [
        raw(0, false, SYN, (100, 0), 0),
        raw(10, true, SYN | ACK, (500, 101), 0),
        raw(20, false, ACK, (101, 501), 0),
    ]
}

/// METRICS.md G1, G2 and L1: their interval ends with the ACK of the last byte that was acknowledged.
#[test]
fn where_nothing_was_acknowledged_there_is_no_interval() {
    let analysis = of_raw(&[
        raw(30, false, ACK, (101, 501), 1000),
        raw(40, true, ACK, (501, 101), 0),
        raw(330, false, ACK, (101, 501), 1000),
        raw(340, true, ACK, (501, 101), 0),
    ]);
    let flow = analysis.captures[0].flows().next().unwrap();
    assert_eq!(flow.state().acked_bytes, Some(0));
    assert_eq!((flow.goodput_bps(), flow.throughput_bps()), (None, None));
    assert!(flow.limited_by().is_none());
    // A byte is enough.
    let analysis = of_raw(&[
        raw(30, false, ACK, (101, 501), 1000),
        raw(40, true, ACK, (501, 102), 0),
    ]);
    let flow = analysis.captures[0].flows().next().unwrap();
    assert_eq!(flow.throughput_bps(), Some(8.0 * 1040.0 / 0.01));
    assert!(flow.limited_by().is_some());
}

/// METRICS.md F1: the last data before a keep-alive is the latest, also where records are not in order.
#[test]
fn a_keep_alive_behind_records_out_of_order_does_not_end_the_flow() {
    let packets = [
        raw(30, false, ACK, (101, 501), 1000),
        raw(40, false, ACK, (2101, 501), 1000),
        raw(35, false, ACK, (1101, 501), 1000),
        raw(50, true, ACK, (501, 3101), 0),
        raw(5000, false, ACK, (3100, 501), 1),
        raw(5001, true, ACK, (501, 3101), 0),
    ];
    let analysis = of_raw(&[&opened()[..], &packets].concat());
    let flow = analysis.captures[0].flows().next().unwrap();
    assert_eq!(flow.figures().incidents().keepalives, 1);
    assert_eq!(flow.completion_ns(), Some(10_000_000));
}

/// METRICS.md F1 and G1: the byte that a keep-alive may have (RFC 9293 section 3.8.4) is no data.
#[test]
fn a_flow_neither_begins_nor_ends_with_a_keep_alive() {
    let keep_alive = |at_ms, seq| {
        let answer = raw(at_ms + 10, true, ACK, (501, seq + 1), 0);
        [raw(at_ms, false, ACK, (seq, 501), 1), answer]
    };
    let data = [
        raw(20_000, false, ACK, (101, 501), 1000),
        raw(20_010, true, ACK, (501, 1101), 0),
        raw(20_020, false, ACK, (1101, 501), 1000),
        raw(20_040, true, ACK, (501, 2101), 0),
    ];
    let (first, second) = (keep_alive(30_000, 2100), keep_alive(40_000, 2100));
    // One that a mirror port has twice.
    let copied = [second[0].clone(), second[0].clone(), second[1].clone()];
    let mut packets = [
        &opened()[..],
        &keep_alive(10_000, 100),
        &data,
        &first,
        &copied,
    ]
    .concat();
    // IP ids count up by one in each direction; the copy has that of its original.
    let mut ids = [0_u16; 2];
    for place in 0..packets.len() {
        let is_copy = place > 0 && packets[place].0 == packets[place - 1].0;
        let packet = &mut packets[place].1;
        let is_back = usize::from(packet[15] == 2);
        ids[is_back] += u16::from(!is_copy);
        packet[4..6].copy_from_slice(&ids[is_back].to_be_bytes());
    }
    let analysis = of_raw(&packets);
    let flow = analysis.captures[0].flows().next().unwrap();
    let incidents = flow.figures().incidents();
    assert_eq!((incidents.keepalives, incidents.duplicate_packets), (3, 1));
    assert_eq!(flow.payload_bytes(), 2004);
    assert_eq!(flow.completion_ns(), Some(20_000_000));
    assert_eq!(flow.goodput_bps(), Some(2000.0 * 8.0 / 0.04));
}

/// METRICS.md F1, G1: data in a SYN (RFC 7413) is before the handshake, from where a flow's completion is counted, and
/// is data: goodput begins with it, also where it is sent again, as the server did not take it.
#[test]
fn a_flow_completes_from_its_first_data_behind_the_handshake() {
    let sent = [
        raw(0, false, SYN, (100, 0), 300),
        raw(40, true, SYN | ACK, (500, 401), 0),
        raw(41, false, ACK, (401, 501), 1000),
        raw(50, false, ACK, (1401, 501), 1000),
        raw(80, true, ACK, (501, 1401), 0),
        raw(90, true, ACK, (501, 2401), 0),
    ];
    let analysis = of_raw(&sent);
    let flow = analysis.captures[0].flows().next().unwrap();
    assert_eq!(flow.completion_ns(), Some(9_000_000));
    assert_eq!(flow.goodput_bps(), Some(2300.0 * 8.0 / 0.09));
    assert_eq!(flow.data_span().unwrap().length_ns(), 50_000_000);

    let again = [
        raw(0, false, SYN, (100, 0), 300),
        raw(40, true, SYN | ACK, (500, 101), 0),
        raw(41, false, ACK, (101, 501), 300),
        raw(50, false, ACK, (401, 501), 1000),
        raw(90, true, ACK, (501, 1401), 0),
    ];
    let analysis = of_raw(&again);
    let flow = analysis.captures[0].flows().next().unwrap();
    assert_eq!(flow.completion_ns(), Some(9_000_000));
    assert_eq!(flow.goodput_bps(), Some(1300.0 * 8.0 / 0.09));

    // All that there was came with two SYNs, of which the first was lost.
    let alone = [
        raw(0, false, SYN, (100, 0), 300),
        raw(1000, false, SYN, (100, 0), 300),
        raw(1040, true, SYN | ACK, (500, 401), 0),
    ];
    let analysis = of_raw(&alone);
    let flow = analysis.captures[0].flows().next().unwrap();
    assert_eq!(flow.completion_ns(), Some(1_000_000_000));
}

/// METRICS.md F1: a keep-alive's byte is no data, also where a SYN's data is all that came before it, and a SYN that comes
/// again behind data is not ahead of it.
#[test]
fn keep_alives_and_late_copies_of_syns_do_not_begin_a_flow_behind_its_handshake() {
    let completion = |packets: &[(u32, Vec<u8>)]| {
        let opened = [
            raw(0, false, SYN, (100, 0), 300),
            raw(40, true, SYN | ACK, (500, 401), 0),
            raw(41, false, ACK, (401, 501), 0),
        ];
        let analysis = of_raw(&[&opened[..], packets].concat());
        let capture = &analysis.captures[0];
        capture.flows().next().unwrap().completion_ns()
    };
    let keep_alive = |at_ms| {
        [
            raw(at_ms, false, ACK, (400, 501), 1),
            raw(at_ms + 10, true, ACK, (501, 401), 0),
        ]
    };
    let data = [
        raw(10_000, false, ACK, (401, 501), 1000),
        raw(10_009, false, ACK, (1401, 501), 1000),
        raw(10_050, true, ACK, (501, 2401), 0),
    ];
    let kept = [keep_alive(5000), keep_alive(6000)].concat();
    assert_eq!(completion(&[&kept[..], &data].concat()), Some(9_000_000));
    assert_eq!(completion(&kept), Some(0));
    let copy = [raw(10_020, false, SYN, (100, 0), 300)];
    let with_copy = [&data[..2], &copy, &data[2..]].concat();
    assert_eq!(completion(&with_copy), Some(9_000_000));
}

/// METRICS.md Q1: how a flow of 1000 bytes ended, of which its receiver acknowledged so many.
#[test]
fn who_reads_of_a_flow_that_did_not_complete_is_told() {
    const FIN: u8 = 0x11;
    const RST: u8 = 0x14;
    let quality = |acked: u32, end: Option<(bool, u8)>| {
        let mut packets = vec![
            raw(0, false, SYN, (0, 0), 0),
            raw(20, true, SYN | ACK, (0, 1), 0),
            raw(40, false, ACK, (1, 1), 500),
            raw(41, false, ACK, (501, 1), 500),
            raw(60, true, ACK, (1, 1 + acked), 0),
        ];
        packets.extend(end.map(|(is_back, flags)| {
            let numbers = if is_back { (1, 1 + acked) } else { (1001, 1) };
            raw(80, is_back, flags, numbers, 0)
        }));
        let analysis = of_raw(&packets);
        let flow = analysis.captures[0].flows().next().unwrap();
        assert_eq!(flow.payload_bytes(), 1000);
        flow.quality()
    };
    for is_back in [false, true] {
        assert_eq!(quality(500, Some((is_back, RST))), [Quality::Reset]);
        assert_eq!(quality(1000, Some((is_back, RST))), []);
    }
    assert_eq!(quality(500, Some((false, FIN))), []);
    assert_eq!(quality(500, None), [Quality::Unfinished]);
}

/// Of flows beyond the largest packets are not known one by one: only where all or none of them are within.
#[test]
fn payload_of_flows_that_are_not_compared_is_said_not_to_be_exact() {
    let two = Path::new("testdata/captures/two-flows-cubic-bbr.pcap.zst");
    for top in [0, 64] {
        let pairs = PairConfig {
            top,
            ..PairConfig::default()
        };
        let config = Config {
            pairs,
            ..Config::default()
        };
        let analysis = Analysis::of([two], &config);
        let capture = &analysis.captures[0];
        let flows = capture
            .flows()
            .filter(|flow| flow.payload_bytes() > 100_000);
        let flows: Vec<Flow<'_>> = flows.collect();
        assert_eq!(flows.len(), 2);
        let spans = flows.iter().map(|flow| flow.data_span().unwrap());
        let common = spans.reduce(|one, other| one.common(other).unwrap());
        let sharing = Sharing::of(&flows, &goes_the_main_way(&flows), common);
        assert!(sharing.jain.is_some());
        assert_eq!(sharing.exact, top > 0);
        for flow in &flows {
            let own = flow.data_span().unwrap();
            let all = flow.payload_bytes();
            assert_eq!(flow.payload_within(own), (all, true));
            let before = Span {
                first: own.first.plus_ns(-9),
                last: own.first.plus_ns(-1),
            };
            assert_eq!(flow.payload_within(before), (0, true));
            let half = Span {
                last: own.first.plus_ns(own.length_ns() / 2),
                ..own
            };
            let (bytes, exact) = flow.payload_within(half);
            assert_eq!(exact, top > 0);
            assert!((all / 4..all / 4 * 3).contains(&bytes), "{bytes} of {all}");
        }
    }
}
