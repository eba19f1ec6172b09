//! pcapng: sections, clocks, blocks, and blocks that lie.

use pcap_parser::EPB_MAGIC;
use proptest::prelude::*;

use super::build::{Pcapng, Section};
use super::*;
use crate::capture::pcapng::{INTERFACES_MAX, PcapngWalker};

#[test]
fn pcapng_resolutions_and_offsets() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for (resolution, offset, ticks, ns) in [
            (6, 0, 5_123_456, 5_123_456_000),
            (9, 1, 5, SECOND + 5),
            (9, -3600, 0, -3600 * SECOND),
            (12, 0, 5_123_456_789_012, 5_123_456_789),
            (0, 0, 17, 17 * SECOND),
            (0x8a, 0, 1024 + 512, SECOND * 3 / 2),
            (0xa0, 2, 1 << 31, SECOND * 5 / 2),
            (0xff, 0, u64::MAX, 0),
        ] {
            let offset = i64::to_le_bytes(offset);
            let offset = if order == ByteOrder::Big {
                offset.into_iter().rev().collect::<Vec<_>>()
            } else {
                offset.to_vec()
            };
            let file = Pcapng::new()
                .section(order)
                .interface(
                    1,
                    0,
                    &[(2, b"eth0"), (9, &[resolution]), (14, &offset), (0, &[])],
                )
                .packet(0, ticks, &[1, 2, 3]);
            assert_eq!(
                read(&file.bytes).clean().times(),
                [ns],
                "{order:?} {resolution:#x}"
            );
        }
    }
}

#[test]
fn sections_have_their_own_order_interfaces_and_drops() {
    let file = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 96, &[(9, &[9])])
        .interface(113, 200, &[])
        .packet(1, 2_000_000, &[1])
        .old_packet(0, 3, 3_000_000_000, &[2, 2])
        .statistics(0, 5, 1)
        .statistics(0, 7, 1)
        .statistics(1, 10, 0)
        .statistics(9, 1000, 0)
        .section(ByteOrder::Big)
        .interface(101, 0, &[])
        .packet(0, 4_000_000, &[3, 3, 3])
        .statistics(0, 100, 2);
    let outcome = read(&file.bytes).clean();
    let seen: Vec<_> = outcome
        .records
        .iter()
        .map(|record| (record.at_ns / SECOND, record.link, record.bytes.len()))
        .collect();
    assert_eq!(seen, [(2, 113, 1), (3, 1, 2), (4, 101, 3)]);
    let facts = &outcome.facts[0];
    assert_eq!(
        (facts.interface_drops, facts.system_drops),
        (Some(117), Some(3))
    );
    // Two interfaces and a section: 8 (of which 3 stand beside a packet, too), 10 and 102.
    assert_eq!(facts.drops, Some(120));
    assert_eq!(facts.resolution, Some(TimeResolution::MICROSECONDS));
    assert_eq!(facts.snap_len, Some(96));
}

#[test]
fn drops_beside_packets_count_once_with_those_of_statistics() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let count = |dropped: u8| match order {
            ByteOrder::Little => [dropped, 0, 0, 0, 0, 0, 0, 0],
            ByteOrder::Big => [0, 0, 0, 0, 0, 0, 0, dropped],
        };
        let (three, four, six) = (count(3), count(4), count(6));
        let file = Pcapng::new()
            .section(order)
            .interface(1, 0, &[])
            .interface(1, 0, &[])
            .interface(1, 0, &[])
            // Behind a comment, before the end of options, and none behind that.
            .packet_with(0, &[(1, b"odd"), (4, &three), (0, &[])])
            .packet_with(0, &[(0, &[]), (4, &six)])
            .packet_with(0, &[(2, &[0; 4]), (4, &four)])
            .packet_with(1, &[(4, &six)])
            .packet_with(1, &[(4, &six)])
            .statistics(1, 5, 1)
            .statistics(2, 20, 0)
            .old_packet(2, 6, 1, &[1])
            .old_packet(2, u16::MAX, 1, &[1]);
        let outcome = read(&file.bytes).clean();
        assert_eq!(outcome.records.len(), 7);
        let facts = &outcome.facts[0];
        assert_eq!(
            (facts.interface_drops, facts.system_drops),
            (Some(25), Some(1))
        );
        // 3 + 4 of the first, 6 + 6 rather than 5 + 1 of the second, 20 rather than 6 of the third.
        assert_eq!(facts.drops, Some(39), "{order:?}");
    }
}

#[test]
fn malformed_options_beside_a_packet_cost_nothing_but_their_count() {
    let six = [6, 0, 0, 0, 0, 0, 0, 0];
    let file = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 0, &[])
        .packet_with(0, &[(4, &six[..7])])
        .packet_with(0, &[(4, &six[..4])])
        .packet_with(0, &[(4, &[])]);
    let mut bytes = file.bytes;
    let clean = read(&bytes).clean();
    assert_eq!((clean.records.len(), clean.facts[0].drops), (3, None));
    // The last option is longer than its block.
    let at = bytes.len() - 6;
    bytes[at..at + 2].copy_from_slice(&[0xff; 2]);
    let clean = read(&bytes).clean();
    assert_eq!((clean.records.len(), clean.facts[0].drops), (3, None));
}

#[test]
fn zeros_where_a_block_should_begin_were_never_written() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let file = Pcapng::new().section(order).interface(1, 0, &[]);
        let mut bytes = file.packet(0, 1, &[7; 60]).bytes;
        let end = bytes.len() as u64;
        bytes.resize(bytes.len() + 4096, 0);
        let outcome = read(&bytes);
        assert_eq!(outcome.records.len(), 1);
        assert!(matches!(outcome.kind(), CaptureErrorKind::Hole));
        assert_eq!(outcome.errors[0].offset_bytes, end);
    }
}

#[test]
fn a_section_has_so_many_interfaces_and_no_more() {
    let described = |interfaces: usize| {
        (0..interfaces).fold(Pcapng::new().section(ByteOrder::Little), |file, _| {
            file.interface(1, 0, &[])
        })
    };
    let last = INTERFACES_MAX as u32 - 1;
    let outcome = read(&described(INTERFACES_MAX).packet(last, 0, &[1]).bytes).clean();
    assert_eq!(outcome.records.len(), 1);
    let flood = described(INTERFACES_MAX).packet(0, 0, &[1]);
    let flood = flood.interface(1, 0, &[]).packet(0, 0, &[1]);
    let outcome = read(&flood.bytes);
    assert_eq!(outcome.records.len(), 1, "those before it are kept");
    assert!(matches!(
        outcome.kind(),
        CaptureErrorKind::BadBlock {
            fault: BlockFault::TooManyInterfaces(INTERFACES_MAX),
            ..
        }
    ));
}

#[test]
fn simple_packets_take_the_time_before_them_and_the_snap_length() {
    let file = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 4, &[])
        .simple_packet(100, &[1; 4])
        .packet(0, 9_000_000, &[2])
        .simple_packet(3, &[3; 3])
        .simple_packet(6, &[4; 4]);
    let outcome = read(&file.bytes).clean();
    assert_eq!(outcome.times(), [0, 9 * SECOND, 9 * SECOND, 9 * SECOND]);
    assert_eq!(outcome.facts[0].untimed_records, 3);
    let lengths: Vec<_> = outcome
        .records
        .iter()
        .map(|record| (record.bytes.len(), record.original_len))
        .collect();
    assert_eq!(lengths, [(4, 100), (1, 1), (3, 3), (4, 6)]);
}

fn fault_of(file: &Pcapng<Section>) -> BlockFault {
    let outcome = read(&file.bytes);
    assert_eq!(
        outcome.records.len(),
        1,
        "the record before the damage stands"
    );
    assert_eq!(outcome.errors[0].record_index, 2);
    let CaptureErrorKind::BadBlock { fault, .. } = *outcome.kind() else {
        panic!("{outcome:?}");
    };
    fault
}

#[test]
fn pcapng_blocks_that_contradict_themselves() {
    let file = || {
        let start = Pcapng::new().section(ByteOrder::Big).interface(1, 0, &[]);
        start.packet(0, 1, &[1; 8])
    };
    let unknown = BlockFault::UnknownInterface {
        interface: 1,
        described: 1,
    };
    assert_eq!(fault_of(&file().packet(1, 1, &[1])), unknown);
    assert_eq!(fault_of(&file().old_packet(1, 0, 1, &[1])), unknown);
    let captured = fault_of(&file().lying_packet(u32::MAX));
    assert_eq!(
        captured,
        BlockFault::CapturedLength {
            captured: u32::MAX,
            room: 8
        }
    );
    for length in [0, 4, 8, 11, 13, 28, 30, 33] {
        assert_eq!(
            fault_of(&file().lying_block(6, length, length)),
            BlockFault::Length(length)
        );
    }
    assert_eq!(
        fault_of(&file().lying_block(6, 0xffff_fffc, 0)),
        BlockFault::TooLong(0xffff_fffc)
    );
    let mismatch = BlockFault::LengthMismatch { start: 40, end: 44 };
    assert_eq!(fault_of(&file().lying_block(6, 40, 44)), mismatch);
    assert_eq!(fault_of(&file().lying_block(0x0bad, 40, 44)), mismatch);
    assert_eq!(
        fault_of(&file().interface(1, 0, &[(9, &[6, 6])])),
        BlockFault::Options
    );
    assert_eq!(
        fault_of(&file().interface(1, 0, &[(14, &[0; 4])])),
        BlockFault::Options
    );
    assert_eq!(
        fault_of(&file().block(1, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9])),
        BlockFault::Options
    );
    let no_magic = fault_of(&file().block(0x0a0d_0d0a, &[0; 16]));
    assert_eq!(no_magic, BlockFault::ByteOrderMagic(0));
}

#[test]
fn skipped_blocks_may_be_larger_than_any_window() {
    let file = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 0, &[])
        .block(0x0bad, &vec![0; 3 << 20])
        .packet(0, 1, &[1]);
    let mut reader = CaptureReader::open(
        vec![source("big", &file.bytes)],
        &ReadOptions {
            window_bytes: 1 << 16,
            ..ReadOptions::default()
        },
    )
    .unwrap();
    let mut window = Window::new();
    assert!(reader.read_window(&mut window).unwrap());
    assert_eq!(window.len(), 1);
    assert!(window.bytes.len() <= 1 << 20, "{}", window.bytes.len());
}

proptest! {
    /// The short way takes a block only if the long way takes it, and finds the same in it.
    #[test]
    fn the_usual_block_is_what_the_long_way_finds(
        big: bool,
        interface in 0u32..2,
        ticks: u64,
        len in 0usize..100,
        noise in prop::option::of((0usize..140, any::<u8>())),
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let start = Pcapng::new().section(order).interface(1, 0, &[(9, &[9])]);
        let header_bytes = start.bytes.len();
        let mut bytes = start.packet(interface, ticks, &vec![7; len]).bytes;
        let mut walker = PcapngWalker::recognise(&bytes).unwrap().unwrap();
        walker
            .walk(&bytes[..header_bytes], &mut 0, &mut Vec::new(), None)
            .unwrap();
        if let Some((place, value)) = noise && let Some(byte) = bytes.get_mut(header_bytes + place) {
            *byte = value;
        }
        let block = &bytes[header_bytes..];
        if let Some((entry, length)) = walker.usual(block, 5, order) {
            let found = walker.packet(EPB_MAGIC, &block[..length], 5).unwrap();
            prop_assert_eq!(format!("{entry:?}"), format!("{found:?}"));
        } else {
            let whole = noise.is_none() && interface == 0;
            prop_assert!(!whole, "a faultless block is usual");
        }
    }
}
