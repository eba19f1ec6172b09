//! Files that are no captures, or cannot be read.

use super::build::Pcap;
use super::*;

#[test]
fn what_is_no_capture_is_said_to_be_what_it_is() {
    for (bytes, what) in [
        (&b"snoop\0\0\0\0\0\0\x02"[..], "Sun snoop"),
        (b"\x7fELF\x02\x01\x01", "an ELF program"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"PK\x03\x04abcd", "a zip archive"),
        (b"time,src,dst\n1,2,3\n", "text"),
        (b"version https://git-lfs.github.com/spec/v1", "git-lfs"),
    ] {
        let text = read(bytes).errors[0].to_string();
        assert!(
            text.contains(what) && text.contains("expected pcap or pcapng"),
            "{text}"
        );
    }
    let looks_like_erf = |bytes: &[u8]| {
        let text = read(bytes).errors[0].to_string();
        text.contains("an ERF capture of Endace's (convert it: editcap -F pcapng)")
    };
    // Time from its low byte on, type, flags, length of the record, drops, length on the wire.
    let erf = |seconds: u32, kind: u8, len: u8| {
        let head = [
            &[7, 0, 0, 0],
            &seconds.to_le_bytes()[..],
            &[kind, 4, 0, len],
        ];
        let mut record = [&head.concat()[..], &[0, 0, 0, 64]].concat();
        record.resize(usize::from(len), 0x5a);
        record
    };
    let second = erf(1_500_000_001, 0x82, 96);
    assert!(looks_like_erf(
        &[erf(1_500_000_000, 2, 80), second.clone()].concat()
    ));
    for first in [
        // After the second by hours, before it by years; of no type; shorter than its header.
        erf(1_500_100_000, 2, 80),
        erf(1_000_000_000, 2, 80),
        erf(1_500_000_000, 0, 80),
        erf(1_500_000_000, 2, 15),
    ] {
        assert!(!looks_like_erf(&[first, second.clone()].concat()));
    }
    assert_eq!(
        read(&[0, 1, 2]).errors[0].to_string(),
        "test.pcap: is not a capture but begins with 00 01 02: expected pcap or pcapng, plain or \
         compressed with gzip, zstd, xz or lz4"
    );
    assert!(matches!(read(&[]).kind(), CaptureErrorKind::Empty));
}

#[test]
fn errors_of_the_file_system_keep_their_cause() {
    let dir = tempfile::tempdir().unwrap();
    let missing = read_sources(vec![dir.path().join("no.pcap").into()], WINDOW_BYTES);
    let CaptureErrorKind::Io(error) = missing.kind() else {
        panic!("{missing:?}")
    };
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    // Its words are the system's: a source besides would be told a second time.
    assert!(std::error::Error::source(&missing.errors[0]).is_none());
    let directory = read_sources(vec![dir.path().to_owned().into()], WINDOW_BYTES);
    assert!(matches!(directory.kind(), CaptureErrorKind::Directory));
}

#[test]
fn an_error_while_reading_comes_after_the_records_before_it() {
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    for second in 0..2_000 {
        pcap = pcap.record(second, 0, &[1; 50]);
    }
    for keep in [pcap.bytes.len(), 24 + 66 * 10, 24 + 66 * 10 + 5] {
        let failing = Box::new(ThenFails(io::Cursor::new(pcap.bytes[..keep].to_vec())));
        let name = "disk".to_owned();
        let outcome = read_sources(
            vec![CaptureSource::Reader {
                name,
                reader: failing,
            }],
            WINDOW_BYTES,
        );
        assert_eq!(outcome.records.len(), (keep - 24) / 66);
        assert!(matches!(outcome.kind(), CaptureErrorKind::Io(_)));
        assert_eq!(outcome.errors[0].record_index, (keep as u64 - 24) / 66 + 1);
    }
}
