//! The same packets in every format give the same flows.

use std::io::Write as _;

use ccanalyze::Analysis;
use ccanalyze::analyze::Config;

use super::cli::run;
use super::support::{RAW_US, RECORD_HEADER, capture, field, flows_of, records};
use super::wire::{ETHERNET, Format, Packet, block, packet_block, section_block, tcp4};

/// What the packets of `drop-one.pcap` are written as here.
pub(super) const ETHERNET_US: Format = Format {
    link: ETHERNET,
    ..RAW_US
};

/// A file of microseconds, in which packets are 1 or 2 of them apart, may be of a link of 4 or of 10 Gbit/s; one of
/// nanoseconds says that they were just so far apart (METRICS.md R8).
#[test]
fn steps_of_the_clock_that_the_file_names_are_no_rate_of_a_link() {
    let ends = [([10, 0, 0, 1], 1001), ([10, 0, 0, 2], 80)];
    let mut packets = Vec::new();
    for index in 0..200_u32 {
        let (at_ns, seq) = (i64::from(index * 6 / 5) * 1000, 1 + 1000 * index);
        let data = tcp4(ends, [seq, 1], 0x10, 1000);
        packets.push(Packet::ipv4(at_ns, data));
        let ack = tcp4([ends[1], ends[0]], [1, seq + 1000], 0x10, 0);
        packets.push(Packet::ipv4(at_ns + 5_000_000, ack));
    }
    packets.sort_by_key(|packet| packet.at_ns);
    for (tick_ns, is_told) in [(1000, false), (1, true)] {
        let format = Format {
            tick_ns,
            ..Format::RAW
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quick.pcap");
        std::fs::write(&path, format.file(&packets)).unwrap();
        let config = Config::default();
        let analysis = Analysis::of([&path], &config);
        let mut flows = analysis.captures[0].flows();
        let link = flows.next().unwrap().link(config.bin_ns);
        assert_eq!(link.is_some(), is_told, "{link:?}");
    }
}

#[test]
fn the_format_of_a_capture_changes_no_flow() {
    let packets = packets();
    let plain = ETHERNET_US.file(&packets);
    let nanoseconds = Format {
        tick_ns: 1,
        ..ETHERNET_US
    };
    let big_endian = Format {
        order: u32::to_be_bytes,
        ..ETHERNET_US
    };
    let expected = flows_of(plain.clone());
    assert_eq!(expected.lines().count(), 3, "a header and two flows");
    for (format, bytes) in [
        ("pcap, nanoseconds", nanoseconds.file(&packets)),
        ("pcap, big-endian", big_endian.file(&packets)),
        ("pcapng", pcapng(&packets, 6)),
        ("pcapng, nanoseconds", pcapng(&packets, 9)),
        ("gzip", gzip(&plain)),
        ("zstd", zstd::encode_all(&plain[..], 3).unwrap()),
        ("xz", xz(&plain)),
        ("lz4", lz4(&plain)),
        ("pcapng in gzip", gzip(&pcapng(&packets, 9))),
    ] {
        assert_eq!(flows_of(bytes), expected, "{format}");
    }
}

#[test]
fn segments_in_an_aggregate_of_wifi_frames_are_those_of_frames_of_their_own() {
    let mut packets = packets();
    for packet in &mut packets {
        packet.bytes.resize(packet.original_len as usize, 0);
    }
    let ends = |packet: &Packet| packet.bytes[26..34].to_vec();
    let groups: Vec<&[Packet]> = packets
        .chunk_by(|one, other| ends(one) == ends(other))
        .flat_map(|run| run.chunks(3))
        .collect();
    assert!(groups.iter().filter(|group| group.len() > 1).count() > 30);
    // What is together in an aggregate has passed at once, as its twin in frames of its own does here.
    let apart = |group: &&[Packet]| -> Vec<Packet> {
        let frame = |packet| wifi(group[0].at_ns, std::slice::from_ref(packet));
        group.iter().map(frame).collect()
    };
    let twin: Vec<Packet> = groups.iter().flat_map(apart).collect();
    let whole: Vec<Packet> = groups
        .iter()
        .map(|group| wifi(group[0].at_ns, group))
        .collect();
    let wifi_pcap = |packets: &[Packet]| {
        let format = Format {
            link: 105,
            ..ETHERNET_US
        };
        format.file(packets)
    };
    assert_eq!(flows_of(wifi_pcap(&whole)), flows_of(wifi_pcap(&twin)));
    let rows = |packets: &[Packet]| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.pcap"), wifi_pcap(packets)).unwrap();
        let run = run(folder.path(), &["in.pcap", "-q", "--segments", "rows.csv"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let table = std::fs::read_to_string(folder.path().join("rows.csv"));
        without_column(&table.unwrap(), "frame")
    };
    assert_eq!(rows(&whole), rows(&twin));
}

/// A frame of 802.11 `QoS` data that is an aggregate of the packets of Ethernet frames.
fn wifi(at_ns: i64, packets: &[Packet]) -> Packet {
    let mut bytes = [&[0x88, 1, 0, 0][..], &[2; 18], &[0, 0, 0x80, 0]].concat();
    for packet in packets {
        bytes.resize((bytes.len() - 26).next_multiple_of(4) + 26, 0);
        let ip = &packet.bytes[14..];
        bytes.extend([2; 12]);
        bytes.extend((ip.len() as u16 + 8).to_be_bytes());
        bytes.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        bytes.extend(ip);
    }
    Packet {
        at_ns,
        original_len: bytes.len() as u32,
        bytes,
    }
}

/// A table of CSV without one of its columns.
fn without_column(table: &str, name: &str) -> Vec<String> {
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let place = columns.iter().position(|column| *column == name).unwrap();
    let without = |row: &str| {
        let cells = row.split(',').enumerate();
        let kept = cells.filter(|&(at, _)| at != place).map(|(_, cell)| cell);
        kept.collect::<Vec<_>>().join(",")
    };
    table.lines().map(without).collect()
}

#[test]
fn packets_without_a_time_are_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = (&packets()[..10], &packets()[10]);
    let simple = [&last.original_len.to_le_bytes()[..], &last.bytes].concat();
    let file = [pcapng(first, 9), block(3, &simple)].concat();
    std::fs::write(folder.path().join("a.pcapng"), file).unwrap();
    let args = ["a.pcapng", "--no-charts", "--out", "r.csv"];
    let run = run(folder.path(), &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let said = "1 of its 11 records say no time";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let table = std::fs::read_to_string(folder.path().join("r.captures.csv")).unwrap();
    let cells: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    let place = cells[0].iter().position(|name| *name == "untimed_records");
    assert_eq!(cells[1][place.unwrap()], "1");
    // Delays between two points rest on times as well.
    let path = ["path", "--before", "a.pcapng", "--after"];
    let drop_one = capture("drop-one.pcap");
    let run = super::cli::run(
        folder.path(),
        &[&path[..], &[drop_one.to_str().unwrap()]].concat(),
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let said = format!(": a.pcapng: {said}");
    assert!(run.stderr.contains(&said), "{}", run.stderr);
}

#[test]
fn packets_of_an_interface_that_is_not_known_are_told_beside_the_flows_of_others() {
    let folder = tempfile::tempdir().unwrap();
    // LINKTYPE_USER0, no snap length.
    let private = block(1, &[147, 0, 0, 0, 0, 0, 0, 0]);
    let packets = packets();
    let (known, last) = packets.split_at(packets.len() - 2);
    let mut file = [pcapng(known, 9), private.clone()].concat();
    for packet in last {
        let ticks = packet.at_ns as u64 / 1000;
        file.extend(packet_block(1, ticks, &packet.bytes, packet.original_len));
    }
    std::fs::write(folder.path().join("a.pcapng"), file).unwrap();
    let run = run(folder.path(), &["a.pcapng", "--no-charts"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let said =
        "2 packets are missing, and so may be whole flows: their link type 147 (USER) is not known";
    assert!(run.stderr.contains(said), "{} {}", run.stderr, run.stdout);
    // Where there are no others, it is told as the reason why there are none.
    let alone = last.iter().map(|packet| {
        let ticks = packet.at_ns as u64 / 1000;
        packet_block(0, ticks, &packet.bytes, packet.original_len)
    });
    let alone = [section_block(), private].into_iter().chain(alone);
    std::fs::write(
        folder.path().join("b.pcapng"),
        alone.collect::<Vec<_>>().concat(),
    )
    .unwrap();
    let run = self::run(folder.path(), &["b.pcapng", "--no-charts"]);
    let all = format!("{} {}", run.stderr, run.stdout);
    assert!(!all.contains("are missing"), "{all}");
    assert_eq!(all.matches("link type 147 (USER)").count(), 1, "{all}");
}

/// The packets of a nanosecond pcap, at whole microseconds.
pub(super) fn packets() -> Vec<Packet> {
    let file = std::fs::read(capture("drop-one.pcap")).unwrap();
    assert_eq!(field(&file, 0), 0xa1b2_3c4d, "little-endian nanoseconds");
    let packet = |record| Packet {
        at_ns: i64::from(field(record, 0)) * 1_000_000_000
            + i64::from(field(record, 4) / 1000 * 1000),
        original_len: field(record, 12),
        bytes: record[RECORD_HEADER..].to_vec(),
    };
    records(&file).map(packet).collect()
}

fn pcapng(packets: &[Packet], digits: u8) -> Vec<u8> {
    let mut file = section_block();
    // Ethernet, no snap length, if_tsresol, end of options.
    let interface = [
        1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, digits, 0, 0, 0, 0, 0, 0, 0,
    ];
    file.extend(block(1, &interface));
    for packet in packets {
        let ticks = packet.at_ns as u64 / 10_u64.pow(9 - u32::from(digits));
        let block = packet_block(0, ticks, &packet.bytes, packet.original_len);
        file.extend(block);
    }
    file
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
