//! Lanes give what one walk gives, whatever the bytes are.

use proptest::prelude::*;

use super::build::{Pcap, Pcapng, Section};
use super::*;
use crate::capture::lanes::Lanes;
use crate::capture::pcap::PcapWalker;
use crate::capture::pcapng::PcapngWalker;

/// What a walk of a whole file gives: entries, where it stopped, and what it needs or found wrong.
fn walked(file: &[u8], lanes: Option<&mut Lanes>) -> (Vec<String>, usize, String) {
    let (mut at, mut entries) = (0, Vec::new());
    let outcome = if let Some((walker, header_bytes)) = PcapWalker::recognise(file).unwrap() {
        walker.walk(&file[header_bytes..], &mut at, &mut entries, lanes)
    } else {
        let mut walker = PcapngWalker::recognise(file).unwrap().unwrap();
        walker.walk(file, &mut at, &mut entries, lanes)
    };
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
    assert_all_lanes_kept(&pcap.bytes);
    for order in BOTH {
        let mut pcapng = Pcapng::new().section(order).interface(1, 0, &[]);
        for index in 0..2_000_u32 {
            let data: Vec<u8> = (0..1_000).map(|at| (at * 31 + index * 17) as u8).collect();
            pcapng = pcapng.packet(0, u64::from(index), &data);
        }
        assert_all_lanes_kept(&pcapng.bytes);
    }
}

fn assert_all_lanes_kept(file: &[u8]) {
    let mut lanes = Lanes::of(64 << 10);
    assert_eq!(walked(file, Some(&mut lanes)), walked(file, None));
    assert_eq!(lanes.kept(), 20, "a guess was wrong without reason");
}

#[test]
fn starts_are_looked_for_once_a_walk_whatever_the_blocks_are() {
    type Add = fn(Pcapng<Section>, u64) -> Pcapng<Section>;
    let kinds: [(usize, Add); 4] = [
        (1, |pcapng, tick| {
            pcapng.packet(0, tick, &[7; 60]).block(0x0bad, &[6; 8])
        }),
        (1, |pcapng, tick| {
            pcapng.packet(0, tick, &[7; 60]).statistics(0, tick, 0)
        }),
        (0, |pcapng, _| pcapng.simple_packet(60, &[7; 60])),
        (0, |pcapng, tick| pcapng.old_packet(0, 9, tick, &[7; 60])),
    ];
    for (walks, add) in kinds {
        let mut pcapng = Pcapng::new()
            .section(ByteOrder::Little)
            .interface(1, 0, &[]);
        for tick in 0..1_000 {
            pcapng = add(pcapng, tick);
        }
        let mut lanes = Lanes::of(1_000);
        assert_eq!(
            walked(&pcapng.bytes, Some(&mut lanes)),
            walked(&pcapng.bytes, None)
        );
        assert_eq!(lanes.walks(), walks);
    }
}

#[test]
fn where_no_start_is_found_none_is_looked_for_next_time() {
    let bytes = vec![0; 10_000];
    let mut lanes = Lanes::of(1_000);
    let looked = std::cell::Cell::new(0);
    let mut looks = || {
        let guess = |_| {
            looked.set(looked.get() + 1);
            None
        };
        let (mut at, mut entries) = (0, Vec::new());
        lanes.walk(
            guess,
            |next| next,
            (&bytes, &mut at),
            &mut entries,
            |_, _| None,
        );
        looked.get()
    };
    assert_eq!([looks(), looks(), looks()], [9; 3]);
}

#[test]
fn blocks_inside_packets_and_between_them_are_walked_all_the_same() {
    for order in BOTH {
        let mut inner = Pcapng::new().section(order).interface(1, 0, &[]);
        for tick in 0..4_000 {
            inner = inner.packet(0, tick, &[3; 84]);
        }
        let mut outer = Pcapng::new().section(order).interface(1, 0, &[]);
        for (tick, packet) in (0..).zip(inner.bytes.chunks(1_448)) {
            outer = outer.packet(0, tick, packet);
            if tick % 100 == 99 {
                // Statistics, names, and what nobody knows.
                outer = outer.block(5, &[0; 12]).block(0x0bad, &vec![6; 9_000]);
            }
        }
        // A change of byte order: what was guessed by the other is no block any more.
        let other = BOTH[usize::from(order == BOTH[0])];
        outer = outer.section(other).interface(1, 0, &[]);
        for tick in 0..300 {
            outer = outer.packet(0, tick, &[6; 700]);
        }
        // 4,000 blocks of 116 bytes and what is before them, in packets of 1,448.
        assert_eq!(walked(&outer.bytes, None).0.len(), 321 + 300);
        assert_lanes_change_nothing(&outer.bytes, &LANE_BYTES);
        let cut = outer.bytes.len() - 9;
        assert_lanes_change_nothing(&outer.bytes[..cut], &LANE_BYTES);
    }
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

    #[test]
    fn any_blocks_are_walked_in_lanes_as_by_one(
        big: bool,
        blocks in prop::collection::vec((0u32..8, 0usize..400, any::<bool>()), 0..200),
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        cut in 0usize..50,
        lane_bytes in 1usize..20_000,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let begun = Pcapng::new().section(order).interface(1, 0, &[]);
        let first = begun.bytes.len();
        let mut pcapng = begun;
        for (tick, (kind, len, nested)) in (0..).zip(blocks) {
            let mut data = vec![kind as u8; len];
            if nested {
                let inner = Pcapng::new().section(order).interface(1, 0, &[]);
                data = inner.packet(0, tick, &data).packet(0, tick, &data).bytes.split_off(first);
            }
            pcapng = match kind {
                0..6 => pcapng.packet(0, tick, &data),
                6 => pcapng.block(0x0bad, &data),
                _ => pcapng.interface(101, 0, &[]),
            };
        }
        let mut bytes = pcapng.bytes;
        for (place, value) in noise {
            if bytes.len() > first {
                let place = first + place.index(bytes.len() - first);
                bytes[place] = value;
            }
        }
        bytes.truncate(bytes.len().saturating_sub(cut).max(first));
        assert_lanes_change_nothing(&bytes, &[lane_bytes]);
    }
}
