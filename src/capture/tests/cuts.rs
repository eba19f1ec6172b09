//! Captures cut short at every byte.

use super::build::{Pcap, Pcapng};
use super::*;

/// Cuts a file at every byte: the records before the cut come out, and the error tells where.
fn cut_everywhere(bytes: &[u8], header_bytes: usize, record_ends: &[usize]) {
    for cut in 1..bytes.len() {
        let outcome = read(&bytes[..cut]);
        let whole = record_ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(outcome.records.len(), whole, "cut at {cut}");
        if outcome.errors.is_empty() {
            continue;
        }
        let CaptureErrorKind::Truncated { have, need } = *outcome.kind() else {
            panic!("cut at {cut}: {outcome:?}");
        };
        let error = &outcome.errors[0];
        assert_eq!(error.offset_bytes + have, cut as u64, "cut at {cut}");
        assert!(have < need, "cut at {cut}: {have} of {need}");
        let index = if cut < header_bytes {
            0
        } else {
            whole as u64 + 1
        };
        assert_eq!(error.record_index, index, "cut at {cut}");
    }
}

#[test]
fn pcap_cut_at_every_byte() {
    for magic in [0xa1b2_c3d4, 0xa1b2_cd34, 0x1c00_01ac] {
        let mut pcap = Pcap::new(ByteOrder::Little, magic);
        let header_bytes = pcap.bytes.len();
        let mut ends = Vec::new();
        for second in 0..5 {
            pcap = pcap.record(second, 0, &[5; 21]);
            ends.push(pcap.bytes.len());
        }
        cut_everywhere(&pcap.bytes, header_bytes, &ends);
        let clean: Vec<usize> = (1..pcap.bytes.len())
            .filter(|cut| read(&pcap.bytes[..*cut]).errors.is_empty())
            .collect();
        ends.pop();
        ends.insert(0, header_bytes);
        assert_eq!(clean, ends, "only between records is a cut an end");
    }
}

#[test]
fn pcapng_cut_at_every_byte() {
    let pcapng = Pcapng::new().section(ByteOrder::Big).interface(1, 0, &[]);
    let mut file = pcapng.packet(0, 1, &[1; 5]);
    let mut ends = vec![file.bytes.len()];
    file = file.block(0x0bad, &[9; 40]).simple_packet(6, &[2; 6]);
    ends.push(file.bytes.len());
    file = file
        .block(4, &[0; 4])
        .section(ByteOrder::Little)
        .interface(1, 0, &[])
        .packet(0, 2, &[3]);
    ends.push(file.bytes.len());
    cut_everywhere(&file.bytes, 28, &ends);
}
