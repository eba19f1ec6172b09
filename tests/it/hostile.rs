//! Captures whose clocks and numbers make no sense.

use ccanalyze::analyze::{Analysis, CaptureInput, Config, Watch};
use ccanalyze::capture::CaptureSource;

use super::noise::Noise;
use super::support::{
    FILE_HEADER, RAW_US, RECORD_HEADER, close, connections, records, records_mut, tables_of,
};
use super::wire::{Packet, tcp4};

fn analyze(pcap: Vec<u8>) -> Analysis {
    let reader = Box::new(std::io::Cursor::new(pcap));
    let name = "hostile.pcap".to_owned();
    let sources = vec![CaptureSource::Reader {
        name: name.clone(),
        reader,
    }];
    let config = Config {
        segments: true,
        time_sequence: true,
        gaps: true,
        ..Config::default()
    };
    Analysis::run(
        vec![CaptureInput { name, sources }],
        &config,
        &Watch::default(),
    )
}

fn drop_one() -> Vec<u8> {
    std::fs::read("testdata/captures/drop-one.pcap").unwrap()
}

/// The test profile checks every addition for overflow, so this also shows that none overflows.
#[test]
fn clocks_that_jump_by_decades_do_no_harm_and_lose_no_packet() {
    let pcap = drop_one();
    let records = records(&pcap).count() as u64;
    let mut noise = Noise(0x1234_5678_9abc_def1);
    for _ in 0..40 {
        let mut damaged = pcap.clone();
        for record in records_mut(&mut damaged) {
            if noise.next().is_multiple_of(10) {
                let seconds = [0, u32::MAX, noise.next() as u32][noise.next() as usize % 3];
                record[..4].copy_from_slice(&seconds.to_le_bytes());
            }
        }
        let analysis = analyze(damaged);
        let capture = &analysis.captures[0];
        assert!(capture.error().is_none());
        assert_eq!(capture.tcp_records, records);
        let packets: u64 = capture.flows().map(|flow| flow.summary().packets).sum();
        // All of them are in the flows: both directions of the one connection carry payload.
        assert_eq!(packets, records);
    }
}

#[test]
fn sequence_numbers_that_make_no_sense_do_no_harm_and_lose_no_packet() {
    /// From the record header to the TCP sequence number: record, Ethernet and IPv4 headers.
    const TO_SEQ: usize = RECORD_HEADER + 14 + 20 + 4;
    let pcap = drop_one();
    let records = records(&pcap).count() as u64;
    let mut noise = Noise(0xfeed_beef_0bad_cafe);
    for _ in 0..40 {
        let mut damaged = pcap.clone();
        for record in records_mut(&mut damaged) {
            if noise.next().is_multiple_of(20) {
                let number = (noise.next() as u32).to_be_bytes();
                let field = TO_SEQ + 4 * (noise.next() as usize % 2);
                record[field..field + 4].copy_from_slice(&number);
            }
        }
        let analysis = analyze(damaged);
        let capture = &analysis.captures[0];
        assert_eq!(capture.tcp_records, records);
        assert!(capture.flows().count() >= 2);
    }
}

/// Ten bytes a second, of which only the first are acknowledged, 100 us later: goodput is 800 kbit/s
/// over these 100 us, the most that a second delivered is 80 bit. One is no share of the other.
#[test]
fn goodput_of_less_than_a_second_is_no_utilisation() {
    let mut pcap = connections(1, 3);
    let ends = [([10, 0, 0, 2], 80), ([10, 0, 0, 1], 1000)];
    let ack = Packet::ipv4(100_000, tcp4(ends, [0, 11], 0x10, 0));
    let ack = RAW_US.record(&ack);
    let behind_the_first = FILE_HEADER + RECORD_HEADER + 50;
    pcap.splice(behind_the_first..behind_the_first, ack);
    let captures = tables_of(pcap).captures;
    let value = |name: &str| captures.column(name).unwrap().f64().unwrap().get(0);
    close(value("goodput_bps").unwrap(), 800_000.0, 1e-9);
    close(value("capacity_estimated_bps").unwrap(), 80.0, 1e-9);
    assert_eq!(value("utilisation_estimated"), None);
}
