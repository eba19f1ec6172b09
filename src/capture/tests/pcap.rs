//! pcap of every kind.

use super::build::{Pcap, Pcapng};
use super::*;

/// Three records, at 1 s + 7 units, 2 s, and 3 s − 1 unit.
fn three(pcap: Pcap) -> Vec<u8> {
    let last_unit = if pcap.nanoseconds {
        999_999_999
    } else {
        999_999
    };
    pcap.record(1, 7, &[1; 10])
        .record(2, 0, &[])
        .cut_record(2, last_unit, &[3; 33], 1500)
        .bytes
}

fn assert_three(bytes: &[u8], ns_per_unit: i64) -> FileFacts {
    let outcome = read(bytes).clean();
    assert_eq!(
        outcome.times(),
        [
            SECOND + 7 * ns_per_unit,
            2 * SECOND,
            3 * SECOND - ns_per_unit
        ]
    );
    let lengths: Vec<_> = outcome
        .records
        .iter()
        .map(|record| (record.bytes.len(), record.original_len))
        .collect();
    assert_eq!(lengths, [(10, 10), (0, 0), (33, 1500)]);
    assert_eq!(outcome.records[2].bytes, [3; 33]);
    assert_eq!(
        outcome
            .records
            .iter()
            .map(|record| record.frame)
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert!(
        outcome
            .records
            .iter()
            .all(|record| record.link == 1 && record.file == 0)
    );
    assert_eq!(outcome.facts[0].records, 3);
    outcome.facts[0].clone()
}

#[test]
fn pcap_of_every_magic_and_byte_order() {
    use ByteOrder::{Big, Little};
    for (magic, ns_per_unit, format) in [
        (0xa1b2_c3d4, 1_000, CaptureFormat::Pcap),
        (0xa1b2_3c4d, 1, CaptureFormat::Pcap),
        (0xa1b2_cd34, 1_000, CaptureFormat::PcapModified),
        (0x1c00_01ac, 1, CaptureFormat::PcapIxia),
        (0x1c00_01ab, 1_000, CaptureFormat::PcapIxia),
    ] {
        for order in [Little, Big] {
            let facts = assert_three(&three(Pcap::new(order, magic)), ns_per_unit);
            assert_eq!(
                (facts.format, facts.byte_order),
                (Some(format), Some(order))
            );
            assert_eq!(facts.snap_len, Some(65_535));
            assert_eq!(facts.resolution.unwrap().step_ns() as i64, ns_per_unit);
        }
    }
}

#[test]
fn record_headers_of_other_lengths_are_recognised() {
    for (magic, extra) in [(0xa1b2_c3d4, 8), (0xa1b2_c3d4, 4), (0xa1b2_cd34, 12)] {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let mut pcap = Pcap::new(order, magic);
            pcap.extra_bytes = extra;
            for second in 1..5 {
                pcap = pcap.record(second, 0, &[7; 60]);
            }
            let outcome = read(&pcap.bytes).clean();
            let expected: Vec<_> = (1..5).map(|second| second * SECOND).collect();
            assert_eq!(outcome.times(), expected, "{magic:#x} + {extra}");
            assert_eq!(outcome.facts[0].format, Some(CaptureFormat::PcapModified));
        }
    }
}

#[test]
fn old_versions_swap_the_lengths() {
    for (version, swapped) in [
        ((2, 2), true),
        ((543, 0), true),
        ((2, 3), true),
        ((2, 3), false),
    ] {
        let mut pcap = Pcap::with_version(ByteOrder::Big, 0xa1b2_c3d4, version, 1);
        pcap.swap_lengths = swapped;
        assert_three(&three(pcap), 1_000);
    }
}

#[test]
fn aix_writes_nanoseconds_and_interface_types() {
    let mut pcap = Pcap::with_version(ByteOrder::Big, 0xa1b2_c3d4, (2, 2), 6);
    pcap.swap_lengths = true;
    pcap.nanoseconds = true;
    assert_eq!(
        assert_three(&three(pcap), 1).format,
        Some(CaptureFormat::PcapAix)
    );
}

#[test]
fn unknown_versions_are_refused() {
    for version in [(1, 4), (2, 5), (3, 0), (543, 1)] {
        let pcap = Pcap::with_version(ByteOrder::Little, 0xa1b2_c3d4, version, 1);
        let outcome = read(&pcap.bytes);
        assert!(matches!(
            outcome.kind(),
            CaptureErrorKind::UnsupportedVersion { .. }
        ));
        assert_eq!(outcome.errors[0].record_index, 0);
    }
}

#[test]
fn frame_check_sequence_bits_are_no_link_type() {
    let link = 0x2400_0001;
    assert_three(
        &three(Pcap::with_version(
            ByteOrder::Little,
            0xa1b2_c3d4,
            (2, 4),
            link,
        )),
        1_000,
    );
    let bad = Pcap::with_version(ByteOrder::Little, 0xa1b2_c3d4, (2, 4), 0x46c5_e1f5);
    assert!(matches!(
        read(&bad.bytes).kind(),
        CaptureErrorKind::BadLinkType(0x46c5_e1f5)
    ));
}

#[test]
fn seconds_are_unsigned_and_fractions_may_exceed_a_second() {
    let pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    let bytes = pcap
        .record(u32::MAX, 0, &[1])
        .record(5, 2_500_000, &[1])
        .bytes;
    assert_eq!(
        read(&bytes).clean().times(),
        [4_294_967_295 * SECOND, 7 * SECOND + SECOND / 2]
    );
}

#[test]
fn nanoseconds_under_the_magic_of_microseconds_are_nanoseconds() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut pcap = Pcap::new(order, 0xa1b2_c3d4);
        // One in the first millisecond of its second, as one of a thousand is.
        let fractions = [999_999_999, 123_456, 1_000_000, 500_000_000];
        for fraction in fractions {
            pcap = pcap.record(5, fraction, &[1; 60]);
        }
        let outcome = read(&pcap.bytes).clean();
        let expected = fractions.map(|fraction| 5 * SECOND + i64::from(fraction));
        assert_eq!(outcome.times(), expected);
        let resolution = outcome.facts[0].resolution;
        assert_eq!(resolution, Some(TimeResolution::NANOSECONDS));
    }
    // No fraction of nanoseconds either.
    let pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    let bytes = pcap.record(5, 1_000_000_000, &[1]).bytes;
    assert_eq!(read(&bytes).clean().times(), [1005 * SECOND]);
}

#[test]
fn what_comes_behind_damage_does_not_tell_the_resolution() {
    // Twelve bytes of the first record are missing: what its length leads to is read as records with fractions of two
    // seconds, and lengths that lead on.
    let mut data = vec![0, 0x80, 0x1e, 0, 60, 0, 0, 0, 60, 0, 0, 0];
    data.resize(60, 0);
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for index in 0..20 {
        pcap = pcap.record(1_700_000_000 + index, 7, &data);
    }
    let mut bytes = pcap.bytes;
    bytes.drain(60..72);
    let outcome = read(&bytes);
    assert_eq!(outcome.times()[0], 1_700_000_000 * SECOND + 7_000);
    let resolution = outcome.facts[0].resolution;
    assert_eq!(resolution, Some(TimeResolution::MICROSECONDS));
}

#[test]
fn another_capture_behind_one_is_told_whatever_its_format_is() {
    use ByteOrder::{Big, Little};
    let ways: [fn(ByteOrder) -> Vec<u8>; 2] = [
        |order| Pcap::new(order, 0xa1b2_c3d4).record(1, 2, &[7; 60]).bytes,
        |order| {
            let section = Pcapng::new().section(order).interface(1, 0, &[]);
            section.packet(0, 3, &[7; 60]).bytes
        },
    ];
    for (first, second) in [(0, 0), (0, 1), (1, 0)] {
        for (one, other) in [(Little, Little), (Little, Big), (Big, Little), (Big, Big)] {
            let bytes = [ways[first](one), ways[second](other)].concat();
            let outcome = read(&bytes);
            assert_eq!(outcome.records.len(), 1, "{first} {second}");
            assert!(matches!(outcome.kind(), CaptureErrorKind::AnotherCapture));
        }
    }
}

#[test]
fn lengths_that_contradict_the_snap_length_or_the_wire_are_kept() {
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    pcap = pcap
        .cut_record(1, 0, &vec![1; 70_000], 70_000)
        .cut_record(2, 0, &[2; 50], 20);
    let outcome = read(&pcap.bytes).clean();
    assert_eq!(outcome.records[0].bytes.len(), 70_000);
    assert_eq!(
        (
            outcome.records[1].bytes.len(),
            outcome.records[1].original_len
        ),
        (50, 20)
    );
}

#[test]
fn a_header_alone_is_a_capture_without_records() {
    for bytes in [
        Pcap::new(ByteOrder::Little, 0xa1b2_c3d4).bytes,
        Pcapng::new().section(ByteOrder::Big).bytes,
        Pcapng::new()
            .section(ByteOrder::Little)
            .interface(1, 0, &[])
            .bytes,
    ] {
        assert!(read(&bytes).clean().records.is_empty());
    }
}

#[test]
fn lengths_of_4_gigabytes_are_damage_not_memory() {
    for length in [RECORD_BYTES_MAX + 1, u32::MAX] {
        let pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4).record(1, 0, &[1; 4]);
        let bytes = pcap.lying_record(2, length).bytes;
        let outcome = read(&bytes);
        assert_eq!(outcome.records.len(), 1);
        let CaptureErrorKind::RecordTooLong { length_bytes } = *outcome.kind() else {
            panic!("{outcome:?}");
        };
        assert_eq!(length_bytes, u64::from(length));
        assert_eq!(
            outcome.errors[0].to_string(),
            format!(
                "test.pcap: record 2 at byte 44: record length of {length} bytes, but 16777216 is the largest that \
                 can be: the file is damaged from here on; the record before it is used"
            )
        );
    }
}

#[test]
fn a_believable_length_takes_no_more_memory_than_there_are_bytes() {
    let bytes = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4)
        .lying_record(1, RECORD_BYTES_MAX)
        .bytes;
    let mut reader = CaptureReader::open(
        vec![source("short", &bytes)],
        &ReadOptions {
            window_bytes: 1,
            ..ReadOptions::default()
        },
    )
    .unwrap();
    let mut window = Window::new();
    assert!(reader.read_window(&mut window).is_err());
    assert!(window.bytes.len() < 1 << 20, "{}", window.bytes.len());
}

#[test]
fn the_largest_record_is_read() {
    let big = vec![9; RECORD_BYTES_MAX as usize];
    let pcap = Pcap::new(ByteOrder::Big, 0xa1b2_c3d4)
        .record(1, 0, &big)
        .record(2, 0, &[1]);
    let outcome = read(&pcap.bytes).clean();
    assert_eq!(outcome.records[0].bytes.len(), big.len());
    assert_eq!(outcome.records[1].bytes, [1]);
}
