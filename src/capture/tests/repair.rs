//! Damaged files, and the way on behind the damage.

use proptest::prelude::*;

use super::build::{Pcap, Pcapng};
use super::*;

mod blocks;

/// A day of 2023.
const START: u32 = 1_700_000_000;

fn mend(bytes: &[u8]) -> Outcome {
    let options = ReadOptions {
        repair: true,
        ..ReadOptions::default()
    };
    read_with(vec![source("test.pcap", bytes)], &options)
}

/// `count` records of 60 bytes, a second apart.
fn intact(count: u32) -> Vec<u8> {
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for index in 0..count {
        pcap = pcap.record(START + index, 7, &[index as u8; 60]);
    }
    pcap.bytes
}

/// Where the record of this number, from 0, begins in [`intact`].
fn place(index: usize) -> usize {
    24 + 76 * index
}

fn gaps(outcome: &Outcome) -> Vec<(u64, u64, u64, Damage)> {
    let gap = |gap: &Gap| {
        (
            gap.record_index,
            gap.offset_bytes,
            gap.skipped_bytes,
            gap.damage,
        )
    };
    outcome.facts[0].gaps.iter().map(gap).collect()
}

/// As good as random.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

#[test]
fn garbage_between_records_is_skipped_and_counted() {
    let whole = read(&intact(20)).clean().records;
    for garbage in [
        noise(1),
        noise(15),
        noise(1000),
        vec![0; 4096],
        vec![0xff; 333],
        b"text, not records\n".repeat(9),
    ] {
        let mut bytes = intact(20);
        bytes.splice(place(8)..place(8), garbage.iter().copied());
        let outcome = mend(&bytes).clean();
        assert_eq!(outcome.records, whole, "{garbage:?}");
        let (at, len) = (place(8) as u64, garbage.len() as u64);
        assert_eq!(gaps(&outcome), [(9, at, len, Damage::Garbage)]);
        assert_eq!(outcome.facts[0].skipped_bytes, len);
    }
}

#[test]
fn without_repair_garbage_is_an_error_that_tells_where() {
    let mut bytes = intact(20);
    bytes.splice(place(8)..place(8), [0xff; 333]);
    let outcome = read(&bytes);
    assert_eq!(outcome.records.len(), 8);
    let text = outcome.errors[0].to_string();
    assert!(
        text.starts_with("test.pcap: record 9 at byte 632: record length of 4294967295 bytes"),
        "{text}"
    );
}

#[test]
fn a_part_that_was_never_written_is_no_run_of_empty_records() {
    let mut bytes = intact(20);
    bytes.splice(place(8)..place(8), [0; 4096]);
    let outcome = read(&bytes);
    assert_eq!(outcome.records.len(), 8);
    assert!(matches!(outcome.kind(), CaptureErrorKind::Hole));
    assert_eq!(outcome.errors[0].offset_bytes, place(8) as u64);
    // A record without bytes is one, as long as anything in its header says so.
    let empty = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4)
        .cut_record(0, 0, &[], 60)
        .record(1, 0, &[]);
    assert_eq!(read(&empty.bytes).clean().records.len(), 2);
}

#[test]
fn a_damaged_length_costs_no_record_but_its_own_bytes() {
    // Too long for any record, longer than the snap length, and into the records behind it.
    for length in [u32::MAX, 1 << 20, 70_000, 100, 200] {
        let mut bytes = intact(20);
        bytes[place(5) + 8..place(5) + 12].copy_from_slice(&length.to_le_bytes());
        let outcome = mend(&bytes).clean();
        let times: Vec<i64> = outcome
            .times()
            .iter()
            .map(|ns| ns / SECOND - i64::from(START))
            .collect();
        // 100 and 200 are more than the original length, and so is its whole header in doubt.
        let expected: Vec<i64> = (0..20).filter(|&index| index != 5).collect();
        assert_eq!(times, expected, "{length}");
        assert_eq!(gaps(&outcome), [(6, place(5) as u64, 76, Damage::Garbage)]);
    }
}

#[test]
fn a_record_that_lost_bytes_ends_where_the_next_begins() {
    let mut bytes = intact(20);
    bytes.drain(place(5) + 16 + 20..place(6) - 10);
    let outcome = mend(&bytes).clean();
    assert_eq!(outcome.records.len(), 20);
    assert_eq!(outcome.records[5].bytes, [5; 30]);
    assert_eq!(outcome.records[5].original_len, 60);
    let next = (place(5) + 16 + 30) as u64;
    assert_eq!(gaps(&outcome), [(7, next, 0, Damage::Cut)]);
}

#[test]
fn a_file_written_behind_another_is_found() {
    // Two captures in one file, a year apart: `cat a.pcap b.pcap`.
    let mut bytes = intact(20);
    let mut later = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for index in 0..30 {
        later = later.record(START + 365 * 86_400 + index, 0, &[1; 44]);
    }
    bytes.extend(later.bytes);
    let outcome = mend(&bytes).clean();
    assert_eq!(outcome.records.len(), 50);
    assert_eq!(
        gaps(&outcome),
        [(21, place(20) as u64, 24, Damage::Garbage)]
    );
}

#[test]
fn a_file_written_behind_another_is_read_by_its_own_header() {
    let unlike = [
        (ByteOrder::Little, 0xa1b2_3c4d, 1),
        (ByteOrder::Big, 0xa1b2_c3d4, 1),
        (ByteOrder::Little, 0xa1b2_c3d4, 101),
    ];
    // The first of the two is whole, or ends in the middle of a record.
    for ((order, magic, link), end) in unlike.into_iter().flat_map(|file| [(file, 20), (file, 19)])
    {
        let mut later = Pcap::with_version(order, magic, (2, 4), link);
        for index in 0..30 {
            later = later.record(START + 30 + index, 999_999, &[1; 44]);
        }
        let own = read(&later.bytes).clean().records;
        let mut bytes = intact(20);
        bytes.truncate(place(end) + if end == 20 { 0 } else { 30 });
        bytes.extend(later.bytes);
        let outcome = mend(&bytes).clean();
        assert_eq!(outcome.records.len(), 50);
        for (found, own) in outcome.records[20..].iter().zip(&own) {
            assert_eq!(
                (found.at_ns, found.link),
                (own.at_ns, own.link),
                "{order:?} {magic:x} {link}"
            );
            assert_eq!(
                (&found.bytes, found.original_len),
                (&own.bytes, own.original_len)
            );
        }
    }
    // And a section of pcapng behind pcap, and the other way round.
    let mut section = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 0, &[]);
    for index in 0..30 {
        section = section.packet(0, 1_700_000_000_000_000 + index, &[1; 44]);
    }
    for (one, other) in [(&intact(20), &section.bytes), (&section.bytes, &intact(20))] {
        let expected: Vec<i64> = [one, other]
            .into_iter()
            .flat_map(|file| read(file).clean().times())
            .collect();
        assert_eq!(mend(&[&one[..], other].concat()).clean().times(), expected);
    }
}

#[test]
fn a_capture_that_a_packet_carries_is_no_capture_behind_it() {
    // A file in one packet, with records of another resolution and year, and damage before, in, and behind that.
    let mut inner = Pcap::new(ByteOrder::Little, 0xa1b2_3c4d);
    for index in 0..12 {
        inner = inner.record(START + 365 * 86_400 + index, 0, &[1; 44]);
    }
    let mut outer = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for index in 0..20 {
        let data = if index == 8 {
            &inner.bytes[..]
        } else {
            &[2; 60]
        };
        outer = outer.record(START + index, 7, data);
    }
    for damaged in [place(7) + 8, place(8) + 8] {
        let mut bytes = outer.bytes.clone();
        bytes[damaged..damaged + 4].fill(0xff);
        let outcome = mend(&bytes).clean();
        let behind = outcome
            .records
            .iter()
            .filter(|record| record.at_ns / SECOND >= i64::from(START) + 9);
        let seconds: Vec<i64> = behind
            .map(|record| record.at_ns / SECOND - i64::from(START))
            .collect();
        assert!(
            seconds.ends_with(&(9..20).collect::<Vec<i64>>()),
            "{seconds:?}"
        );
        assert!(
            outcome
                .records
                .iter()
                .rev()
                .take(11)
                .all(|record| record.at_ns % SECOND == 7000)
        );
    }
}

#[test]
fn lengths_that_are_read_one_field_late_are_no_run_of_records() {
    // Four bytes of a record are missing, or its length is four too small or too large: the original length of each
    // record behind it, which is as large, then stands where its captured length should.
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for index in 0..200 {
        pcap = pcap.record(START + index, 500_000 + index, &[index as u8; 60]);
    }
    let times = |outcome: &Outcome| -> Vec<i64> {
        outcome
            .times()
            .iter()
            .map(|ns| ns / SECOND - i64::from(START))
            .collect()
    };
    let mut bytes = pcap.bytes.clone();
    bytes.drain(place(5) + 20..place(5) + 24);
    let outcome = mend(&bytes).clean();
    assert_eq!(times(&outcome), (0..200).collect::<Vec<i64>>());
    assert_eq!(gaps(&outcome), [(7, place(6) as u64 - 4, 0, Damage::Cut)]);
    for (length, lost, gap) in [
        (56, None, (7, place(6) as u64 - 4, 4, Damage::Garbage)),
        (64, Some(5), (6, place(5) as u64, 76, Damage::Garbage)),
    ] {
        let mut bytes = pcap.bytes.clone();
        bytes[place(5) + 8] = length;
        let outcome = mend(&bytes).clean();
        let expected: Vec<i64> = (0..200).filter(|&second| Some(second) != lost).collect();
        assert_eq!(times(&outcome), expected, "{length}");
        assert_eq!(gaps(&outcome), [gap]);
    }
}

#[test]
fn a_file_header_at_the_end_is_no_record() {
    // Of the file behind it not even the header is whole: what is there reads as a record without bytes.
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut bytes = intact(20);
        bytes.extend(&Pcap::new(order, 0xa1b2_c3d4).bytes[..16]);
        let outcome = mend(&bytes).clean();
        assert_eq!(outcome.records.len(), 20);
        assert_eq!(
            gaps(&outcome),
            [(21, place(20) as u64, 16, Damage::Garbage)]
        );
    }
}

#[test]
fn garbage_at_the_end_is_skipped_and_a_cut_record_is_told() {
    let mut bytes = intact(20);
    bytes.extend(vec![0; 10_000]);
    let outcome = mend(&bytes).clean();
    assert_eq!(outcome.records.len(), 20);
    assert_eq!(
        gaps(&outcome),
        [(21, place(20) as u64, 10_000, Damage::Garbage)]
    );
    let cut = mend(&intact(20)[..place(19) + 30]);
    assert_eq!(cut.records.len(), 19);
    assert!(matches!(
        cut.kind(),
        CaptureErrorKind::Truncated { have: 30, need: 76 }
    ));
    assert!(gaps(&cut).is_empty());
}

#[test]
fn odd_records_are_no_damage() {
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for index in 0..40 {
        pcap = pcap.record(START + index, 0, &[1; 60]);
    }
    let pcap = pcap
        // Longer than the snap length of 65,535, without bytes, dated zero, next century, a year
        // back, more captured than there was, a fraction of two seconds.
        .record(START + 40, 0, &vec![2; 80_000])
        .record(START + 41, 0, &[])
        .record(0, 1, &[3; 60])
        .record(u32::MAX, 0, &[3; 60])
        .record(START + 42, 0, &[4; 60])
        .cut_record(START + 43, 0, &[5; 60], 40)
        .record(START + 44, 2_000_000, &[6; 60])
        .record(START + 45, 0, &[7; 60]);
    let mut pcap = pcap;
    for index in 0..40 {
        pcap = pcap.record(START - 365 * 86_400 + index, 0, &[8; 60]);
    }
    let outcome = mend(&pcap.bytes).clean();
    assert_eq!(outcome.records, read(&pcap.bytes).clean().records);
    assert!(gaps(&outcome).is_empty(), "{:?}", gaps(&outcome));
    // A writer that puts 0 for the original length of all.
    let mut pcap = Pcap::new(ByteOrder::Big, 0xa1b2_c3d4);
    for index in 0..100 {
        pcap = pcap.cut_record(START + index, 0, &[1; 60], 0);
    }
    let outcome = mend(&pcap.bytes).clean();
    assert_eq!(outcome.records.len(), 100);
    assert!(gaps(&outcome).is_empty());
}

#[test]
fn more_garbage_than_is_looked_at_at_a_time_changes_nothing() {
    let whole = read(&intact(50)).clean().records;
    let mut bytes = intact(50);
    bytes.splice(place(30)..place(30), noise(9 << 20));
    let expected = [(31, place(30) as u64, 9 << 20, Damage::Garbage)];
    for window_bytes in [1, 1 << 16, WINDOW_BYTES, 8 << 20] {
        let options = ReadOptions {
            window_bytes,
            io: Io::Mapped,
            repair: true,
            ..ReadOptions::default()
        };
        let outcome = read_with(vec![source("test.pcap", &bytes)], &options).clean();
        assert_eq!(outcome.records, whole);
        assert_eq!(gaps(&outcome), expected);
    }
}

#[test]
fn many_damaged_places_are_all_counted_and_some_are_kept() {
    let mut bytes = intact(200);
    for index in (10..190).step_by(3).rev() {
        bytes.splice(place(index)..place(index), [0xff; 20]);
    }
    let outcome = mend(&bytes).clean();
    assert_eq!(outcome.records.len(), 200);
    let facts = &outcome.facts[0];
    assert_eq!(
        (facts.gaps.len(), facts.gaps_total, facts.skipped_bytes),
        (32, 60, 1200)
    );
}

/// What is read ahead to decide about damage goes from window to window: with one for each damaged
/// place a file of ten megabytes took ten seconds.
#[test]
fn windows_are_as_large_where_all_is_damaged() {
    let records = intact(10);
    let part = [&records[24..], &[0xa5; 3000]].concat();
    let bytes = [&records[..24], &part.repeat(2500)].concat();
    let options = ReadOptions {
        repair: true,
        ..ReadOptions::default()
    };
    let mut reader = CaptureReader::open(vec![source("test.pcap", &bytes)], &options).unwrap();
    let (mut window, mut windows, mut read) = (Window::new(), 0, 0);
    while reader.read_window(&mut window).unwrap() {
        windows += 1;
        read += window.len();
    }
    // Of 2500 damaged places, in 9.4 MB.
    assert_eq!((read, reader.files()[0].gaps_total), (25_000, 2500));
    assert!(windows <= 11, "{windows}");
}

#[test]
fn a_compressed_file_that_ends_early_gives_its_whole_records() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for (index, byte) in noise(5000).into_iter().enumerate() {
        pcap = pcap.record(START + index as u32, 0, &[byte; 60]);
    }
    gzip.write_all(&pcap.bytes).unwrap();
    let packed = gzip.finish().unwrap();
    let cut = &packed[..packed.len() * 2 / 3];
    let (plain, mended) = (read(cut), mend(cut));
    assert!(plain.records.len() > 1000, "{}", plain.records.len());
    assert_eq!(mended.records, plain.records);
    assert!(matches!(
        mended.kind(),
        CaptureErrorKind::Compression { .. }
    ));
    assert!(gaps(&mended).is_empty());
}

proptest! {
    /// Whatever is put between two records and however the file comes: the same records, gaps and
    /// errors; and the records before and, where three follow, behind the damage are there.
    #[test]
    fn repair_does_not_depend_on_windows(
        garbage in proptest::collection::vec(any::<u8>(), 0..300),
        at in 0_usize..=20,
        big: bool,
        ng: bool,
        window_bytes in 1_usize..2000,
        largest in 1_usize..200,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let mut places = Vec::new();
        let mut bytes = if ng {
            let mut file = Pcapng::new().section(order).interface(1, 0, &[]);
            for index in 0..20 {
                places.push(file.bytes.len());
                file = file.packet(0, index, &[9; 33]);
            }
            file.bytes
        } else {
            let mut file = Pcap::new(order, 0xa1b2_c3d4);
            for index in 0..20 {
                places.push(file.bytes.len());
                file = file.record(START + index, 0, &[9; 33]);
            }
            file.bytes
        };
        places.push(bytes.len());
        bytes.splice(places[at]..places[at], garbage.iter().copied());
        let whole = mend(&bytes);
        let options = ReadOptions { window_bytes, repair: true, ..ReadOptions::default() };
        let pieces = read_with(vec![in_pieces(&bytes, largest)], &options);
        prop_assert_eq!(&whole.records, &pieces.records);
        prop_assert_eq!(&whole.facts[0].gaps, &pieces.facts[0].gaps);
        prop_assert_eq!(whole.errors.len(), pieces.errors.len());
        if at <= 17 && whole.errors.is_empty() {
            prop_assert!(whole.records.len() >= 20, "{}", whole.records.len());
            prop_assert!(whole.facts[0].skipped_bytes <= garbage.len() as u64);
        }
        if whole.facts[0].gaps_total == 0 {
            let plain = read(&bytes);
            prop_assert_eq!(&plain.records, &whole.records);
            let texts = |outcome: &Outcome| outcome.errors.iter().map(ToString::to_string).collect::<Vec<_>>();
            prop_assert_eq!(texts(&plain), texts(&whole));
        }
    }
}
