//! Files that are mapped give what files that are read give, also when they get shorter meanwhile.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::super::cost::Budget;
use super::super::mapped::MappedFile;
use super::super::reader::FileReader;
use super::super::source::{Opener, Progress};
use super::build::{Pcap, Pcapng};
use super::compressed::noisy;
use super::*;

/// Length of a record of [`noisy`]: 16 bytes of header and 40 of noise.
const RECORD: usize = 56;

/// A capture file in a folder of its own.
pub(super) struct OnDisk {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl OnDisk {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.pcap");
        std::fs::write(&path, bytes).unwrap();
        Self {
            path,
            _folder: folder,
        }
    }

    pub(super) fn read(&self, window_bytes: usize, io: Io) -> Outcome {
        let source = CaptureSource::File(self.path.clone());
        read_with(
            vec![source],
            &ReadOptions {
                window_bytes,
                io,
                repair: false,
                ..ReadOptions::default()
            },
        )
    }

    fn open(&self, window_bytes: usize, io: Io) -> CaptureReader {
        let source = CaptureSource::File(self.path.clone());
        CaptureReader::open(
            vec![source],
            &ReadOptions {
                window_bytes,
                io,
                repair: false,
                ..ReadOptions::default()
            },
        )
        .unwrap()
    }

    fn truncate(&self, len: usize) {
        let file: File = OpenOptions::new().write(true).open(&self.path).unwrap();
        file.set_len(len as u64).unwrap();
    }
}

/// The same records, the same errors at the same places, the same facts.
pub(super) fn assert_same(one: &Outcome, other: &Outcome) {
    assert_eq!(one.records, other.records);
    let told = |outcome: &Outcome| {
        let place = |error: &CaptureError| {
            (
                error.record_index,
                error.offset_bytes,
                format!("{:?}", error.kind),
            )
        };
        outcome.errors.iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(told(one), told(other));
    for (one, other) in one.facts.iter().zip(&other.facts) {
        let path = one.path.clone();
        assert_eq!(
            *one,
            FileFacts {
                path,
                ..other.clone()
            }
        );
    }
}

#[test]
fn windows_of_any_size_give_the_same_mapped_and_read() {
    let mut pcapng = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 0, &[(9, &[9])]);
    for tick in 0..3_000 {
        pcapng = pcapng.packet(0, tick, &vec![tick as u8; tick as usize % 900]);
        if tick % 1_000 == 500 {
            pcapng = pcapng.block(0x0bad, &vec![7; 300_000]);
            pcapng = pcapng.section(ByteOrder::Big).interface(101, 0, &[]);
        }
    }
    for bytes in [noisy(20_000), pcapng.bytes] {
        for cut in [0, 1, 17] {
            let bytes = &bytes[..bytes.len() - cut];
            let expected = read(bytes);
            let file = OnDisk::new(bytes);
            for window_bytes in [1, 5_000, 1 << 16, 1 << 20, 1 << 30] {
                for io in [Io::Auto, Io::Mapped, Io::Read] {
                    assert_same(&expected, &file.read(window_bytes, io));
                }
            }
        }
    }
}

#[test]
fn large_files_give_the_same_whichever_way_is_found_to_be_faster() {
    let bytes = large();
    assert!(bytes.len() > 32 << 20, "smaller ones are read");
    let expected = read(&bytes);
    let file = OnDisk::new(&bytes);
    for io in [Io::Auto, Io::Mapped, Io::Read] {
        assert_same(&expected, &file.read(WINDOW_BYTES, io));
    }
}

/// A file of 40 MB.
fn large() -> Vec<u8> {
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for second in 0..20_000 {
        pcap = pcap.record(second, 0, &vec![second as u8; 2_000]);
    }
    pcap.bytes
}

#[test]
fn a_part_that_was_left_is_handed_over_once() {
    let file = OnDisk::new(&large());
    let mut reader = file.open(WINDOW_BYTES, Io::Mapped);
    let (mut window, mut records, mut left) = (Window::new(), 0, 0);
    while reader.read_window(&mut window).unwrap() {
        let behind = reader.take_behind();
        left += usize::from(behind.is_some());
        drop(behind);
        // The part in use is still there.
        records += seen(&window).len();
        assert!(reader.take_behind().is_none());
    }
    // Once behind the first 32 MiB, once as the last window wants more than there is: the file may have grown.
    assert_eq!((left, records), (2, 20_000));
}

/// A reader of the file, and the progress that it tells.
fn reading(file: &OnDisk) -> (FileReader, Progress) {
    let way = Way {
        io: Io::Read,
        repair: false,
        decompressors: 1,
    };
    let mut opener = Opener::new(CaptureSource::File(file.path.clone()), &Arc::default());
    let progress = Progress::new(None);
    let reader = FileReader::open(&mut opener, way, &progress).unwrap();
    (reader, progress)
}

fn mapping(file: &OnDisk) -> MappedFile {
    MappedFile::new(Arc::new(File::open(&file.path).unwrap()))
}

#[test]
fn a_file_whose_mapping_costs_too_much_is_read_from_there_on() {
    let bytes = large();
    let expected = read(&bytes).records;
    let file = OnDisk::new(&bytes);
    let (mut reader, progress) = reading(&file);
    // Nothing costs less than nothing.
    reader.map(mapping(&file).within(Budget::new(Duration::ZERO, 1)));
    let (mut window, mut records, mut mapped) = (Window::new(), Vec::new(), Vec::new());
    while reader.read_window(&mut window, 100_000).unwrap() {
        mapped.push(window.view.is_some());
        records.extend(seen(&window));
        assert!(reader.confirm(&mut window, 100_000).unwrap());
    }
    assert!(mapped[0] && !mapped[mapped.len() - 1] && mapped.is_sorted_by_key(|mapped| !mapped));
    assert_eq!(records, expected);
    assert_eq!(progress.bytes_consumed(), bytes.len() as u64);
}

#[test]
fn a_file_that_was_read_goes_on_mapped_after_any_window() {
    let bytes = noisy(20_000);
    let expected = read(&bytes).records;
    let file = OnDisk::new(&bytes);
    for mapped_after in [0, 1, 5] {
        let (mut reader, progress) = reading(&file);
        let (mut window, mut records) = (Window::new(), Vec::new());
        for read in 0.. {
            if read == mapped_after {
                reader.map(mapping(&file));
            }
            if !reader.read_window(&mut window, 100_000).unwrap() {
                break;
            }
            assert_eq!(window.view.is_some(), read >= mapped_after);
            records.extend(seen(&window));
        }
        assert_eq!(records, expected, "{mapped_after}");
        assert_eq!(progress.bytes_consumed(), bytes.len() as u64);
    }
}

#[test]
fn windows_of_large_records_have_more_bytes_and_no_more_than_eight_times_as_many() {
    for (captured_bytes, times) in [(40, 1), (496, 4), (3_000, 8)] {
        let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
        for second in 0..1_000 {
            pcap = pcap.record(second, 0, &vec![1; captured_bytes]);
        }
        let mut reader = OnDisk::new(&pcap.bytes).open(16_000, Io::Mapped);
        let mut window = Window::new();
        let mut next = || {
            reader
                .read_window(&mut window)
                .unwrap()
                .then(|| window.len())
        };
        let record_bytes = 16 + captured_bytes;
        // By the records of the first, which tell how large they are.
        assert_eq!(next(), Some(16_000 / record_bytes));
        assert_eq!(next(), Some(16_000 * times / record_bytes));
    }
}

/// Whatever was read before stands, and the error tells what happened, and where.
fn assert_shrank(error: &CaptureError, before: usize, now: usize, records: usize) {
    let CaptureErrorKind::Shrank {
        before: was,
        now: is,
    } = error.kind
    else {
        panic!("{error:?}");
    };
    assert_eq!((was, is), (before as u64, now as u64));
    assert_eq!(error.record_index, records as u64 + 1);
    assert_eq!(error.offset_bytes, (24 + RECORD * records) as u64);
    assert!(
        error
            .to_string()
            .contains("truncated while it was being read")
    );
}

#[test]
fn a_file_truncated_between_windows_ends_in_a_clear_error() {
    let bytes = noisy(20_000);
    let expected = read(&bytes).records;
    // Inside a page, inside a record header, between records, and before what was read already.
    for now in [700_001, 24 + RECORD * 10_000 + 7, 24 + RECORD * 12_000, 3] {
        for io in [Io::Mapped, Io::Read] {
            let file = OnDisk::new(&bytes);
            let mut reader = file.open(4_096, io);
            let (mut window, mut records) = (Window::new(), Vec::new());
            for _ in 0..10 {
                assert!(reader.read_window(&mut window).unwrap());
                records.extend(seen(&window));
                assert!(reader.confirm(&mut window).unwrap());
            }
            file.truncate(now);
            let error = loop {
                match reader.read_window(&mut window) {
                    Ok(true) => records.extend(seen(&window)),
                    Ok(false) => panic!("an end like any other"),
                    Err(error) => break error,
                }
            };
            assert_eq!(records, expected[..records.len()], "{io:?} {now}");
            if now > 100 {
                assert_eq!(records.len(), (now - 24) / RECORD, "{io:?} {now}");
            }
            assert_shrank(&error, bytes.len(), now, records.len());
            assert!(!reader.read_window(&mut window).unwrap());
        }
    }
}

#[test]
fn a_file_truncated_under_a_window_leaves_what_is_left_of_it() {
    let bytes = noisy(20_000);
    let expected = read(&bytes).records;
    for (now, left) in [(24 + RECORD * 5_000 + 30, 5_000), (24 + RECORD - 1, 0)] {
        let file = OnDisk::new(&bytes);
        let mut reader = file.open(1 << 20, Io::Mapped);
        let mut window = Window::new();
        assert!(reader.read_window(&mut window).unwrap());
        assert!(window.len() > 10_000);
        file.truncate(now);
        // Pages that are gone read as zeros: no crash, and `confirm` tells.
        let lost = seen(&window);
        assert_eq!(lost.last().unwrap().bytes, [0; 40]);
        let mut records = Vec::new();
        let error = match reader.confirm(&mut window) {
            Ok(true) => panic!("half of it is lost"),
            Ok(false) => {
                records.extend(seen(&window));
                assert!(reader.confirm(&mut window).unwrap(), "it is in memory now");
                reader.read_window(&mut window).unwrap_err()
            }
            Err(error) => error,
        };
        assert_eq!(records, expected[..left]);
        assert_shrank(&error, bytes.len(), now, left);
        assert_eq!(reader.files()[0].records, left as u64);
    }
}

#[test]
fn a_file_that_grows_is_read_to_its_new_end() {
    let bytes = noisy(20_000);
    let half = 24 + RECORD * 10_000;
    for io in [Io::Mapped, Io::Read] {
        let file = OnDisk::new(&bytes[..half]);
        let mut reader = file.open(1 << 16, io);
        let mut window = Window::new();
        assert!(reader.read_window(&mut window).unwrap());
        let mut records = window.len();
        std::fs::write(&file.path, &bytes).unwrap();
        while reader.read_window(&mut window).unwrap() {
            records += window.len();
        }
        assert_eq!(records, 20_000, "{io:?}");
    }
}

#[test]
fn progress_counts_mapped_bytes() {
    let bytes = noisy(20_000);
    let file = OnDisk::new(&bytes);
    for io in [Io::Mapped, Io::Read] {
        let mut reader = file.open(1 << 16, io);
        let mut window = Window::new();
        while reader.read_window(&mut window).unwrap() {}
        assert_eq!(reader.bytes_consumed(), bytes.len() as u64, "{io:?}");
    }
}
