//! Lanes give what one walk gives, whatever the bytes are.

use proptest::prelude::*;

use super::build::Pcap;
use super::*;
use crate::capture::lanes::Lanes;
use crate::capture::pcap::PcapWalker;

/// What a walk of a whole file gives: entries, where it stopped, and what it needs or found wrong.
fn walked(file: &[u8], lanes: Option<&mut Lanes>) -> (Vec<String>, usize, String) {
    let (walker, header_bytes) = PcapWalker::recognise(file).unwrap().unwrap();
    let (bytes, mut at, mut entries) = (&file[header_bytes..], 0, Vec::new());
    let outcome = walker.walk(bytes, &mut at, &mut entries, lanes);
    let entries = entries.iter().map(|entry| format!("{entry:?}")).collect();
    (entries, at, format!("{outcome:?}"))
}

fn assert_lanes_change_nothing(file: &[u8], lane_bytes: &[usize]) {
    let alone = walked(file, None);
    for &bytes in lane_bytes {
        assert!(
            walked(file, Some(&mut Lanes::of(bytes))) == alone,
            "lanes of {bytes} bytes differ"
        );
    }
}

const LANE_BYTES: [usize; 6] = [1, 50, 1_000, 4_096, 10_000, 64 << 10];

const BOTH: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// Packets that carry a capture file that is being downloaded: its records, with headers as plausible
/// as those around them, run on from one packet to the next.
fn download_of_a_capture(order: ByteOrder) -> Vec<u8> {
    let mut inner = Pcap::new(order, 0xa1b2_c3d4);
    for index in 0..4_000 {
        inner = inner.record(1_600_000_000 + index / 100, index % 100, &[3; 84]);
    }
    let mut outer = Pcap::new(order, 0xa1b2_c3d4);
    for (index, packet) in inner.bytes.chunks(1_448).enumerate() {
        outer = outer.record(1_600_000_000 + index as u32 / 50, 7, packet);
    }
    outer.bytes
}

#[test]
fn records_inside_packets_are_not_taken_for_records() {
    for order in BOTH {
        let file = download_of_a_capture(order);
        // 4,000 records of 100 bytes behind a header of 24, in packets of 1,448.
        assert_eq!(walked(&file, None).0.len(), 277);
        assert_lanes_change_nothing(&file, &LANE_BYTES);
    }
}

#[test]
fn odd_clocks_and_lengths_are_walked_all_the_same() {
    let record = |pcap: Pcap, index: u32, kind: u32| match kind {
        0 => pcap.record(2_000_000_000 - index * 70_000, index, &vec![1; 700]),
        1 => pcap.record(0, 0, &vec![0; index as usize % 300]),
        2 => pcap.record(index << 16, u32::MAX, &[]),
        _ => pcap.cut_record(1, 1, &vec![2; 20_000 * (index as usize % 7)], 3),
    };
    for order in BOTH {
        for kinds in [&[0][..], &[1], &[2], &[3], &[0, 1, 2, 3]] {
            let mut pcap = Pcap::new(order, 0xa1b2_c3d4);
            for index in 0..300 {
                pcap = record(pcap, index, kinds[index as usize % kinds.len()]);
            }
            assert_lanes_change_nothing(&pcap.bytes, &LANE_BYTES);
            let cut = pcap.bytes.len() - 9;
            assert_lanes_change_nothing(&pcap.bytes[..cut], &LANE_BYTES);
            let damaged = pcap.lying_record(1, RECORD_BYTES_MAX + 1);
            let after = damaged.record(2, 2, &[5; 500]).record(3, 3, &[5; 500]);
            assert_lanes_change_nothing(&after.bytes, &LANE_BYTES);
        }
    }
}

#[test]
fn lanes_are_found_and_kept_on_an_ordinary_capture() {
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for index in 0..2_000_u32 {
        let data: Vec<u8> = (0..1_000).map(|at| (at * 31 + index * 17) as u8).collect();
        pcap = pcap.record(1_600_000_000, index, &data);
    }
    let mut lanes = Lanes::of(64 << 10);
    assert_eq!(
        walked(&pcap.bytes, Some(&mut lanes)),
        walked(&pcap.bytes, None)
    );
    assert_eq!(lanes.kept(), 20, "a guess was wrong without reason");
}

proptest! {
    #[test]
    fn any_bytes_are_walked_in_lanes_as_by_one(
        big: bool,
        nanoseconds: bool,
        records in prop::collection::vec(
            (0u32..5, 0u32..2_000_000, 0usize..400, 0u32..500, any::<bool>()),
            0..200,
        ),
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        cut in 0usize..50,
        lane_bytes in 1usize..20_000,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let magic = if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        let mut pcap = Pcap::new(order, magic);
        for (seconds, fraction, len, more, nested) in records {
            let mut data = vec![seconds as u8; len];
            if nested {
                let inner = Pcap::new(order, magic).record(seconds, 1, &data);
                data = inner.record(seconds, 2, &data).bytes.split_off(24);
            }
            pcap = pcap.cut_record(seconds, fraction, &data, len as u32 + more);
        }
        let mut bytes = pcap.bytes;
        for (place, value) in noise {
            if bytes.len() > 24 {
                let place = 24 + place.index(bytes.len() - 24);
                bytes[place] = value;
            }
        }
        bytes.truncate(bytes.len().saturating_sub(cut).max(24));
        assert_lanes_change_nothing(&bytes, &[lane_bytes]);
    }
}
