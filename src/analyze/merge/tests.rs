//! Rates of flows whose ACKs were not seen.

use std::fs;

use crate::analyze::{Analysis, CaptureInput, Config, Watch};
use crate::capture::CaptureSource;

/// The data of a download, and an ACK of its receiver from before all of it.
fn data_and_early_ack() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let bytes = fs::read("testdata/captures/drop-one.pcap").unwrap();
    let (header, mut rest) = bytes.split_at(24);
    let (mut data, mut ack) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (record, further) = rest.split_at(16 + length);
        let ip = &record[16 + 14..];
        let from_server = u16::from_be_bytes([ip[20], ip[21]]) < 30_000;
        let is_syn = ip[20 + 13] & 2 != 0;
        if from_server && u16::from_be_bytes([ip[2], ip[3]]) > 500 {
            data.extend_from_slice(record);
        } else if !from_server && !is_syn && ack.is_empty() {
            ack = record.to_vec();
        }
        rest = further;
    }
    (header.to_vec(), data, ack)
}

#[test]
fn data_without_acks_has_a_goodput_only_where_its_receiver_was_not_seen() {
    // METRICS.md G1.
    let (header, data, ack) = data_and_early_ack();
    let [alone, behind_an_ack] = [&[][..], &ack].map(|before| {
        let bytes = [&header, before, &data].concat();
        let source = CaptureSource::Reader {
            name: "download".to_owned(),
            reader: Box::new(std::io::Cursor::new(bytes)),
        };
        let input = CaptureInput {
            name: "download".to_owned(),
            sources: vec![source],
        };
        let analysis = Analysis::run(vec![input], &Config::default(), &Watch::default());
        let flow = analysis.captures[0].flows().next().unwrap();
        assert!(flow.summary().payload_bytes > 100_000);
        (flow.goodput_bps(), flow.throughput_bps())
    });
    assert!(alone.0.unwrap() > 1e6, "{alone:?}");
    assert!(alone.1 > alone.0, "{alone:?}");
    assert_eq!(behind_an_ack, (None, None));
}
