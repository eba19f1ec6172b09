//! Floods and scans: SYNs that nobody answers cost little, and cost nothing to those that talk.

use std::io::Read;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, Watch};
use ccanalyze::capture::CaptureSource;

use super::answers::analyze_with;
use super::packets::{Packet, Twist, pcap, play};
use super::torrents::{TORRENTS, peak_bytes};
use super::wire::{Format, tcp4};

/// A pcap file of SYNs, each from another address or port, made while it is read.
struct Scan {
    next: u64,
    end: u64,
    /// What has been made and not yet read.
    made: Vec<u8>,
    at: usize,
}

impl Scan {
    fn new(syns: u64) -> Self {
        Self {
            next: 0,
            end: syns,
            made: Format::RAW.head(),
            at: 0,
        }
    }

    fn syn(number: u64) -> Packet {
        const SYN: u8 = 2;
        let [.., a, b, c, d] = number.to_be_bytes();
        let ends = [([100, b, c, d], 40_000), ([10, 0, 0, a], 80)];
        // 100,000 a second.
        let at_ns = 1_700_000_000_000_000_000 + number as i64 * 10_000;
        Packet::ipv4(at_ns, tcp4(ends, [number as u32, 0], SYN, 0))
    }
}

impl Read for Scan {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.made.len() && self.next < self.end {
            let until = self.end.min(self.next + 1000);
            let record = |number| Format::RAW.record(&Self::syn(number));
            self.made = (self.next..until).flat_map(record).collect();
            (self.next, self.at) = (until, 0);
        }
        let rest = &self.made[self.at..];
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        self.at += len;
        Ok(len)
    }
}

fn analyze(reader: Box<dyn Read + Send>, config: &Config) -> ccanalyze::analyze::CaptureAnalysis {
    let name = "scan".to_owned();
    let sources = vec![CaptureSource::Reader {
        name: name.clone(),
        reader,
    }];
    let input = CaptureInput { name, sources };
    Analysis::run(vec![input], config, &Watch::default())
        .captures
        .remove(0)
}

#[test]
fn every_flood_is_counted_to_the_packet() {
    for torrent in &TORRENTS {
        let name = torrent.name.to_owned();
        let reader = Box::new(torrent.reader(500));
        // This looks that records are TCP or skipped, and flows add up.
        let capture = analyze_with(
            vec![CaptureSource::Reader { name, reader }],
            &Config::default(),
        );
        assert_eq!(
            capture.errors.len(),
            0,
            "{}: {:?}",
            torrent.name,
            capture.errors
        );
        assert_eq!(
            (
                capture.records,
                capture.connections_total,
                capture.cut_by_limit
            ),
            (500 * torrent.records, 500 * torrent.connections, 0),
            "{}",
            torrent.name
        );
    }
}

/// Connections of one packet that has payload are flows like others, also when too many wait.
#[test]
fn a_flood_of_data_has_a_flow_for_each_packet() {
    let torrent = TORRENTS.iter().find(|torrent| torrent.name == "data");
    for half_open_max in [usize::MAX, 100] {
        let mut config = Config::default();
        config.limits.half_open_max = half_open_max;
        let reader = Box::new(torrent.unwrap().reader(10_000));
        let capture = analyze(reader, &config);
        assert_eq!(
            (capture.connections_total, capture.flows().count()),
            (10_000, 10_000)
        );
        for flow in capture.flows() {
            assert_eq!((flow.summary().packets, flow.payload_bytes()), (1, 72));
            assert_eq!(flow.record.series().bins().len(), 1);
        }
        assert_eq!(capture.cut_by_limit > 0, half_open_max == 100);
    }
}

#[test]
fn a_scan_is_counted_and_nothing_of_it_is_put_away_early() {
    let capture = analyze(Box::new(Scan::new(50_000)), &Config::default());
    assert_eq!((capture.records, capture.tcp_records), (50_000, 50_000));
    assert_eq!(capture.connections_total, 50_000);
    assert_eq!((capture.flows().count(), capture.cut_by_limit), (0, 0));
}

#[test]
fn a_flood_beyond_the_limit_puts_away_its_own_oldest_and_no_flow() {
    let mut config = Config::default();
    config.limits.half_open_max = 100;
    // A connection with data both ways, and before, within and after it the flood.
    let data = [0x00, 1, 0, 0, 0, 0, 100, 0, 0, 0, 0, 200];
    let answer = [0x04, 1, 0, 0, 0, 0, 100, 0, 0, 0, 0, 200];
    let talk = play(&[data, answer].concat().repeat(20), Twist::default());
    let mut packets: Vec<Packet> = (0..20_000).map(Scan::syn).collect();
    packets.extend(talk);
    packets.sort_by_key(|packet| packet.at_ns);
    let capture = analyze(Box::new(std::io::Cursor::new(pcap(&packets))), &config);
    assert_eq!(capture.connections_total, 20_001);
    assert!(capture.cut_by_limit > 15_000, "{}", capture.cut_by_limit);
    let flows: Vec<_> = capture.flows().collect();
    assert_eq!(flows.len(), 2);
    for flow in flows {
        assert_eq!(flow.summary().data_packets, 20);
        assert!(!flow.connection().facts().cut_by_limit);
    }
}

/// Five million, as a scan of the Internet at its edge: `cargo test --release --no-default-features
/// --test robust five_million_syns -- --ignored`.
#[test]
#[ignore = "takes a minute, and memory is that of the whole process: to be run alone"]
fn five_million_syns_stay_below_a_gigabyte() {
    let capture = analyze(Box::new(Scan::new(5_000_000)), &Config::default());
    assert_eq!(capture.connections_total, 5_000_000);
    let peak = peak_bytes();
    assert!((1..1_000_000_000).contains(&peak), "{peak} bytes");
}

/// The same, each answered: `... five_million_answered -- --ignored`.
#[test]
#[ignore = "takes a minute, and memory is that of the whole process: to be run alone"]
fn five_million_answered_syns_stay_below_a_gigabyte() {
    let mut torrents = TORRENTS.iter();
    let scan = torrents.find(|torrent| torrent.name == "SYN and SYN-ACK");
    let reader = Box::new(scan.unwrap().reader(5_000_000));
    let capture = analyze(reader, &Config::default());
    assert_eq!(
        (capture.connections_total, capture.cut_by_limit),
        (5_000_000, 0)
    );
    let peak = peak_bytes();
    assert!((1..1_000_000_000).contains(&peak), "{peak} bytes");
}
