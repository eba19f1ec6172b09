//! Segments in IP fragments are what they are without.

use std::fs;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Metric, StudyPlan};

use super::formats::{ETHERNET_US, packets};
use super::support::tables_of;
use super::wire::Packet;

/// Bytes in front of the IP header, and of that itself, in the capture.
const LINK: usize = 14;
const IP: usize = 20;

/// A packet in so many fragments, if it is as large, passed one microsecond after the other.
fn in_fragments(packet: &Packet, parts: usize) -> Vec<Packet> {
    let (headers, tcp) = packet.bytes.split_at(LINK + IP);
    let tcp_len = packet.original_len as usize - LINK - IP;
    if tcp_len < 1000 {
        return vec![packet.clone()];
    }
    let part_len = tcp_len.div_ceil(parts).next_multiple_of(8);
    let fragment = |part: usize| {
        let (from, to) = (part * part_len, tcp_len.min((part + 1) * part_len));
        let more = u16::from(to < tcp_len) << 13;
        let mut bytes = headers.to_vec();
        bytes[LINK + 2..LINK + 4].copy_from_slice(&((IP + to - from) as u16).to_be_bytes());
        let pieces = (from / 8) as u16 | more;
        bytes[LINK + 6..LINK + 8].copy_from_slice(&pieces.to_be_bytes());
        bytes.extend(&tcp[from.min(tcp.len())..to.min(tcp.len())]);
        Packet {
            at_ns: packet.at_ns + 1000 * part as i64,
            original_len: (LINK + IP + to - from) as u32,
            bytes,
        }
    };
    (0..parts).map(fragment).collect()
}

/// Columns of the flows of these packets.
fn flows(packets: &[Packet], columns: &[&str]) -> Vec<Vec<String>> {
    let tables = tables_of(ETHERNET_US.file(packets));
    let column = |name: &&str| {
        let column = tables.flows.column(name).unwrap();
        let column = column.as_materialized_series();
        column.iter().map(|value| value.to_string()).collect()
    };
    columns.iter().map(column).collect()
}

#[test]
fn rates_over_data_segments_do_not_depend_on_fragments() {
    let packets = packets();
    let columns = [
        "retransmitted_packets",
        "retransmission_rate",
        "lost_downstream",
        "unique_bytes",
    ];
    let whole = flows(&packets, &columns);
    assert!(whole[0].iter().any(|packets| packets != "0"), "{whole:?}");
    for parts in [2, 3, 5] {
        let fragments: Vec<Packet> = packets
            .iter()
            .flat_map(|packet| in_fragments(packet, parts))
            .collect();
        assert_eq!(flows(&fragments, &columns), whole, "{parts} fragments");
    }
}

/// METRICS.md X1, of a run: of the segments of all its flows.
#[test]
fn rates_of_runs_do_not_depend_on_fragments() {
    let rate = |parts: usize, window: &str| {
        let folder = tempfile::tempdir().unwrap();
        let both = packets().into_iter().flat_map(|packet| {
            // Beside it, that of another connection.
            let mut other = packet.clone();
            let ports = &mut other.bytes[LINK + IP..][..4];
            ports[if ports[0] > ports[2] { 1 } else { 3 }] ^= 1;
            [packet, other]
        });
        let fragments = both.flat_map(|packet| in_fragments(&packet, parts));
        let file = ETHERNET_US.file(fragments.collect::<Vec<_>>());
        fs::write(folder.path().join("1.pcap"), file).unwrap();
        let manifest =
            format!("[analysis]\nwindow = \"{window}\"\n[[runs]]\nfiles = \"{{run}}.pcap\"\n");
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let plan = StudyPlan::read(&folder.path().join("s.toml")).unwrap();
        let results = plan.carry_out(None, &Watch::default());
        assert_eq!(results.runs[0].flows.len(), 2);
        results.runs[0].values.get(Metric::RetransmissionRate)
    };
    for window in ["all", "skip 0s"] {
        let whole = rate(1, window);
        assert!(whole > Some(0.0), "{whole:?}");
        assert_eq!(rate(3, window), whole, "{window}");
    }
}

#[test]
fn copies_of_fragmented_datagrams_are_known_as_such() {
    for parts in [1, 2, 5] {
        for one_by_one in [false, true] {
            // At a router whose interfaces are all captured: a datagram passes, and passes again, or each fragment
            // does.
            let twice = |packet: &Packet| {
                let fragments = in_fragments(packet, parts);
                if one_by_one {
                    fragments
                        .iter()
                        .flat_map(|part| [part.clone(), part.clone()])
                        .collect()
                } else {
                    [fragments.clone(), fragments].concat()
                }
            };
            let packets: Vec<Packet> = packets().iter().flat_map(twice).collect();
            let flows = flows(&packets, &["quality", "duplicate_packets"]);
            for (quality, copies) in flows[0].iter().zip(&flows[1]) {
                assert!(
                    quality.contains("copies"),
                    "{parts} fragments: {quality}, {copies} copies"
                );
            }
        }
    }
}
