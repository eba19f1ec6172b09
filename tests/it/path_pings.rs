//! Pings beside what else passes two points.

use std::fs;

use super::cli::run;
use super::wire::{Ipv4, Packet, pcap, tcp4};

const MS: i64 = 1_000_000;
const HOSTS: [[u8; 4]; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]];

/// What two points see of a run: 300 packets of data, 10 ms from point to point, ACKs that take 5 ms back, and 40 pings
/// and their replies. `seed` tells runs apart, in which all pings have the same number and payload.
fn points_of_run(seed: u16) -> [Vec<Packet>; 2] {
    let ends = [(HOSTS[0], 1000 + seed), (HOSTS[1], 5001)];
    let start = 1_000_000_000 * (1 + i64::from(seed));
    let isn = u32::from(seed) * 1_000_000;
    [0, 1].map(|point| {
        let mut packets = Vec::new();
        for n in 0..300 {
            let at = start + i64::from(n) * 10 * MS;
            let [ahead, behind] = [at + point * 10 * MS, at + 20 * MS - point * 5 * MS];
            let data = [isn + 1 + n * 1000, isn + 7];
            let acked = [isn + 7, isn + 1 + (n + 1) * 1000];
            packets.push(Packet::ipv4(ahead, tcp4(ends, data, 0x10, 1000)));
            let back = [ends[1], ends[0]];
            packets.push(Packet::ipv4(behind, tcp4(back, acked, 0x10, 0)));
            if n < 40 {
                let [ahead, behind] = [ahead, behind].map(|at| at + MS);
                packets.push(Packet::ipv4(ahead, echo(HOSTS, 8, seed, n as u16)));
                let back = [HOSTS[1], HOSTS[0]];
                packets.push(Packet::ipv4(behind, echo(back, 0, seed, n as u16)));
            }
        }
        packets
    })
}

/// A capture of packets in the order of their times.
fn file(mut packets: Vec<Packet>) -> Vec<u8> {
    packets.sort_by_key(|packet| packet.at_ns);
    pcap(packets)
}

/// An echo request (8) or reply (0) of 56 bytes that are all 0.
pub(crate) fn echo(hosts: [[u8; 4]; 2], kind: u16, seed: u16, number: u16) -> Vec<u8> {
    let header = Ipv4 {
        id: 1000 * seed + 2 * number + kind,
        fragment: 0,
        protocol: 1,
        ..Ipv4::tcp(hosts)
    };
    let words = [kind << 8, 0, 70 + seed, number];
    let checksum = !words.iter().sum::<u16>();
    let words = [words[0], checksum, words[2], words[3]];
    let mut packet = header.header(84);
    packet.extend(words.map(u16::to_be_bytes).concat());
    packet.resize(84, 0);
    packet
}

#[test]
fn captures_of_two_runs_are_refused_though_their_pings_look_alike() {
    let folder = tempfile::tempdir().unwrap();
    for seed in [1, 2] {
        for (name, capture) in ["before", "after"].iter().zip(points_of_run(seed)) {
            fs::write(
                folder.path().join(format!("{seed}-{name}.pcap")),
                file(capture),
            )
            .unwrap();
        }
    }
    let path = |before: &str, after: &str| {
        run(
            folder.path(),
            &["path", "--before", before, "--after", after],
        )
    };
    let one = path("1-before.pcap", "1-after.pcap");
    assert_eq!(one.status, 0, "{}", one.stderr);
    assert!(
        one.stdout.contains("340 packets, 0 dropped"),
        "{}",
        one.stdout
    );
    let two = path("1-before.pcap", "2-after.pcap");
    let said = "1-before.pcap: none of its packets is in 2-after.pcap";
    assert!(
        two.status != 0 && two.stderr.contains(said),
        "{}",
        two.stderr
    );
    // In a study, too.
    let [one, two] = [1, 2].map(|seed| points_of_run(seed)[0].clone());
    fs::write(folder.path().join("both.pcap"), file([one, two].concat())).unwrap();
    for (before, said) in [
        ("1-before.pcap", "none of its packets is in"),
        ("both.pcap", "none of the packets of its flows is in"),
    ] {
        let manifest = format!(
            "[[runs]]\nfiles = \"1-after.pcap\"\nbefore = \"{before}\"\nafter = \"2-after.pcap\"\n"
        );
        fs::write(folder.path().join("study.toml"), manifest).unwrap();
        let args = ["study", "study.toml", "--out", "study", "--no-charts"];
        let study = run(folder.path(), &args);
        let is_said = study.stderr.contains("its queue: ") && study.stderr.contains(said);
        assert!(study.status != 0 && is_said, "{}", study.stderr);
    }
}

/// Ports of 0 tell nobody what a flow is.
#[test]
fn pings_are_said_to_be_icmp() {
    let folder = tempfile::tempdir().unwrap();
    for (name, capture) in ["before", "after"].iter().zip(points_of_run(1)) {
        fs::write(folder.path().join(name), file(capture)).unwrap();
    }
    let args = [
        "path",
        "--before",
        "before",
        "--after",
        "after",
        "--report",
        "page.html",
    ];
    let run = run(folder.path(), &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for said in [
        "│ 10.0.0.1 > 10.0.0.2 (ICMP) ",
        "│ 10.0.0.2 > 10.0.0.1 (ICMP) ",
        "│ 10.0.0.1:1001 > 10.0.0.2:5001 ",
    ] {
        assert!(run.stdout.contains(said), "{}", run.stdout);
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains(">10.0.0.2 (ICMP)<") && !page.contains("10.0.0.2:0"));
}
