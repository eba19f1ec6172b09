//! What options bound or leave out, as README.md says it of each.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::cli::run;
use super::support::{connections, later};
use super::wire::{Ipv4, Packet, pcap, tcp4};

/// The `segment`th 100 bytes of a connection.
fn data(at_ms: u32, port: u16, segment: u32) -> Packet {
    let ends = [([10, 0, 0, 1], port), ([10, 0, 0, 2], 80)];
    let headers = tcp4(ends, [1 + 100 * segment, 1], 0x18, 100);
    Packet::ipv4(i64::from(at_ms) * 1_000_000, headers)
}

/// Ten packets of one connection, which are in others between other hosts.
fn in_tunnel() -> Vec<u8> {
    let around = Ipv4 {
        protocol: 4,
        ..Ipv4::tcp([[192, 0, 2, 1], [192, 0, 2, 2]])
    };
    let packets = (0..10).map(|number| {
        let inner = data(number, 1000, number);
        Packet::ipv4(inner.at_ns, [around.header(160), inner.bytes].concat())
    });
    pcap(packets)
}

/// Captures of which each has too much of something.
fn captures() -> [(&'static str, Vec<u8>); 6] {
    let packet_each = (0..300).map(|number| data(number, 1000 + number as u16, 0));
    // When the next connection begins, this one has long gone on.
    let several_each = (0..1200).map(|number| data(number, 1000 + number as u16 / 4, number % 4));
    let flight = (0..100).map(|number| data(number, 1000, number));
    let ends = [([10, 0, 0, 2], 80), ([10, 0, 0, 1], 1000)];
    let ack = Packet::ipv4(500_000_000, tcp4(ends, [1, 10_001], 0x10, 0));
    // Each second segment comes when all others are there.
    let with_holes = (0..100).map(|number| data(number, 1000, number % 50 * 2 + number / 50));
    [
        ("bins.pcap", connections(1, 20)),
        ("packet-each.pcap", pcap(packet_each)),
        ("several-each.pcap", pcap(several_each)),
        ("flight.pcap", pcap(flight.chain([ack]))),
        ("holes.pcap", pcap(with_holes)),
        ("tunnel.pcap", in_tunnel()),
    ]
}

/// The rows of a table of JSON lines.
fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let row = |line| serde_json::from_str(line).unwrap();
    text.lines().map(row).collect()
}

/// What became of each of them with these options.
fn told(folder: &Path, options: &[&str]) -> [String; 6] {
    let captures = captures();
    for (name, bytes) in &captures {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let names = captures.map(|(name, _)| name);
    let args = [&names[..], &["--out", "r.jsonl", "--no-charts"], options].concat();
    let run = run(folder, &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let [flows, series, all] =
        ["r.jsonl", "r.series.jsonl", "r.captures.jsonl"].map(|table| rows(&folder.join(table)));
    let of = |table: &[Value], name: &str| -> Vec<Value> {
        let rows = table.iter().filter(|row| row["capture"] == name);
        rows.cloned().collect()
    };
    let flow = |name: &str| of(&flows, name).remove(0);
    let is_said = |name: &str, word: &str| {
        let quality = flow(name)["quality"].as_str().unwrap().to_owned();
        quality.split(',').any(|said| said == word)
    };
    let put_away = |name: &str| of(&all, name)[0]["connections_put_away"].clone();
    [
        format!(
            "{} bins up to {}, series_cut: {}",
            of(&series, "bins.pcap").len(),
            of(&series, "bins.pcap").last().unwrap()["bin"],
            is_said("bins.pcap", "series_cut")
        ),
        format!("{} put away", put_away("packet-each.pcap")),
        format!("{} put away", put_away("several-each.pcap")),
        format!(
            "{} RTT samples, limit_hit: {}",
            flow("flight.pcap")["rtt_samples"],
            is_said("flight.pcap", "limit_hit")
        ),
        format!("{} sent again", flow("holes.pcap")["retransmitted_packets"]),
        format!(
            "flows: {}, skipped: {}",
            of(&flows, "tunnel.pcap").len(),
            of(&all, "tunnel.pcap")[0]["skipped_by_reason"]
        ),
    ]
}

/// Each option changes what becomes of its own capture, and of no other.
#[test]
fn each_option_bounds_what_it_is_said_to_bound() {
    let folder = tempfile::tempdir().unwrap();
    let whole = [
        "20 bins up to 190, series_cut: false",
        "0 put away",
        "0 put away",
        "100 RTT samples, limit_hit: false",
        "0 sent again",
        "flows: 1, skipped: \"\"",
    ];
    assert_eq!(told(folder.path(), &[]), whole);
    for (options, place, expected) in [
        // The first are kept.
        (
            &["--max-bins", "5"][..],
            0,
            "5 bins up to 40, series_cut: true",
        ),
        // One stays in each of the 32 parts.
        (&["--max-half-open", "32"], 1, "268 put away"),
        (&["--max-flows", "32"], 2, "268 put away"),
        (
            &["--max-in-flight", "8"],
            3,
            "8 RTT samples, limit_hit: true",
        ),
        // Of 49 holes, 8 are remembered when the others are filled.
        (&["--max-holes", "8"], 4, "41 sent again"),
        (&["--outer"], 5, "flows: 0, skipped: \"tunnel=10\""),
    ] {
        let mut all = whole;
        all[place] = expected;
        assert_eq!(told(folder.path(), options), all, "{options:?}");
    }
}

/// A packet is lost behind the capture, and repeated when its connection has been put away: its ACK then covers what passed
/// before. Of one file all is there; the other one lacks a packet of each flow.
#[test]
fn what_was_put_away_is_no_loss_of_the_capture() {
    const LOST: u32 = 7;
    const ALL: u32 = 20;
    let folder = tempfile::tempdir().unwrap();
    for (name, lacks) in [("whole.pcap", None), ("lacks.pcap", Some(3))] {
        let mut packets = Vec::new();
        for at in 0..=ALL {
            let (number, acked) = match at {
                0..LOST => (at, at + 1),
                LOST..ALL => (at, LOST),
                _ => (LOST, ALL),
            };
            for port in 1000..1064_u16 {
                let ends = [([10, 0, 0, 1], port), ([10, 0, 0, 2], 80)];
                let at_ns = i64::from(at) * 10_000_000 + i64::from(port) * 1000;
                if lacks != Some(number) {
                    let data = tcp4(ends, [1 + 1000 * number, 1], 0x10, 1000);
                    packets.push(Packet::ipv4(at_ns, data));
                }
                let ack = tcp4([ends[1], ends[0]], [1, 1 + 1000 * acked], 0x10, 0);
                packets.push(Packet::ipv4(at_ns + 100, ack));
            }
        }
        fs::write(folder.path().join(name), pcap(packets)).unwrap();
    }
    for (name, options, lacks) in [
        ("whole.pcap", &[][..], false),
        ("lacks.pcap", &[][..], true),
        ("whole.pcap", &["--max-flows", "32"][..], false),
    ] {
        let args = [&[name, "--out", "r.jsonl", "--no-charts"][..], options].concat();
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let all = rows(&folder.path().join("r.captures.jsonl"));
        let unseen_bytes = if lacks { 64 * 1000 } else { 0 };
        assert_eq!(all[0]["unseen_bytes"], unseen_bytes, "{name} {options:?}");
        let is_said = run.stderr.contains("that the capture never saw");
        assert_eq!(is_said, lacks, "{name} {options:?}");
        let mut not_known = 0;
        for flow in rows(&folder.path().join("r.jsonl")) {
            let quality = flow["quality"].as_str().unwrap();
            let has = |word: &str| quality.split(',').any(|said| said == word);
            assert_eq!(
                has("records_dropped"),
                lacks,
                "{name} {options:?}: {quality}"
            );
            if flow["unseen_bytes"].is_null() {
                assert!(has("limit_hit"), "{name} {options:?}: {quality}");
                not_known += 1;
            }
        }
        assert_eq!(not_known > 0, !options.is_empty(), "{name} {options:?}");
    }
}

#[test]
fn packets_in_tunnels_are_followed_along_a_path_by_what_is_outermost_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let before = in_tunnel();
    fs::write(folder.path().join("after.pcap"), later(before.clone(), 1)).unwrap();
    fs::write(folder.path().join("before.pcap"), before).unwrap();
    let path = ["path", "--before", "before.pcap", "--after", "after.pcap"];
    for (options, source) in [(&[][..], "10.0.0.1"), (&["--outer"], "192.0.2.1")] {
        let args = [&path[..], &["--out", "p.jsonl", "--no-charts"], options].concat();
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let flows = rows(&folder.path().join("p.jsonl"));
        let sources: Vec<&Value> = flows.iter().map(|flow| &flow["src_ip"]).collect();
        assert_eq!(sources, [source], "{options:?}");
    }
}
