//! Captures compressed in every way.

use std::io::Write;

use super::build::Pcap;
use super::*;

pub(super) type Compressor = fn(&[u8]) -> Vec<u8>;

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4_linked(bytes: &[u8]) -> Vec<u8> {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    let info = FrameInfo::new()
        .block_mode(BlockMode::Linked)
        .block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What `lz4 -l` writes: blocks without an end mark.
fn lz4_legacy(bytes: &[u8]) -> Vec<u8> {
    let block = lz4_flex::block::compress(bytes);
    let length = (block.len() as u32).to_le_bytes();
    [&[0x02, 0x21, 0x4c, 0x18], &length[..], &block].concat()
}

pub(super) const COMPRESSORS: [(Compression, Compressor); 4] = [
    (Compression::Gzip, gzip),
    (Compression::Zstd, zstd),
    (Compression::Xz, xz),
    (Compression::Lz4, lz4),
];

/// Records that do not compress away to nothing.
pub(super) fn noisy(records: u32) -> Vec<u8> {
    let mut pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
    let mut state = 1u64;
    for second in 0..records {
        let noise: Vec<u8> = (0..40)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        pcap = pcap.record(second, 0, &noise);
    }
    pcap.bytes
}

#[test]
fn compressed_captures_of_one_and_several_parts() {
    let bytes = noisy(5_000);
    let plain = read(&bytes).clean();
    for (format, compress) in COMPRESSORS {
        let (first, second) = bytes.split_at(bytes.len() / 3);
        let skippable = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let whole = compress(&bytes);
        let parts = [compress(first), compress(second)].concat();
        let mut files = vec![
            whole.clone(),
            parts,
            [compress(&[]), whole.clone()].concat(),
        ];
        if matches!(format, Compression::Zstd | Compression::Lz4) {
            files.push([&whole[..], &skippable].concat());
            files.push([&skippable[..], &skippable, &whole].concat());
        }
        if format == Compression::Lz4 {
            files.extend([lz4_linked(&bytes), lz4_legacy(&bytes)]);
        }
        for file in files {
            let outcome = read(&file).clean();
            assert_eq!(outcome.records, plain.records, "{format}");
            assert_eq!(outcome.facts[0].compression, Some(format));
            let pieces = read_sources(vec![in_pieces(&file, 7)], 1000).clean();
            assert_eq!(pieces.records, plain.records, "{format} in pieces");
        }
        assert!(matches!(
            read(&compress(&[])).kind(),
            CaptureErrorKind::Empty
        ));
        assert!(matches!(
            read(&compress(&whole)).kind(),
            CaptureErrorKind::NotACapture { .. }
        ));
    }
}

#[test]
fn skippable_frames_without_end_are_no_reason_to_read_on() {
    let endless = [0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff].to_vec();
    let empty = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(1 << 20);
    for bytes in [endless, empty] {
        let mut left = &bytes[..];
        let first = crate::capture::compression::first_bytes(&mut left).unwrap();
        assert!(first.len() < 100_000, "{} bytes", first.len());
        assert_eq!(Compression::of(&first), Some(Compression::Zstd));
    }
}

#[test]
fn compressed_captures_cut_short() {
    let bytes = noisy(200);
    let plain = read(&bytes).clean();
    for (format, compress) in COMPRESSORS {
        let parts = [
            compress(&bytes[..24 + 56 * 100]),
            compress(&bytes[24 + 56 * 100..]),
        ];
        let file = parts.concat();
        for cut in (6..file.len())
            .step_by(11)
            .chain(file.len() - 9..file.len())
        {
            if cut == parts[0].len() {
                continue;
            }
            let outcome = read(&file[..cut]);
            assert_eq!(
                outcome.records,
                plain.records[..outcome.records.len()],
                "{format} {cut}"
            );
            let CaptureErrorKind::Compression { error, .. } = outcome.kind() else {
                panic!("{format} cut at {cut}: {:?}", outcome.errors);
            };
            assert_eq!(
                error.kind(),
                io::ErrorKind::UnexpectedEof,
                "{format} cut at {cut}"
            );
            assert!(outcome.errors[0].to_string().contains("stream ends early"));
            if cut > parts[0].len() {
                assert!(outcome.records.len() >= 100, "{format} {cut}");
            }
        }
    }
}

#[test]
fn zeros_behind_a_stream_of_gzip_and_xz_are_padding() {
    let bytes = noisy(50);
    let expected = read(&bytes).clean().records;
    let (first, second) = bytes.split_at(1000);
    let zeros = [0; 700];
    for compress in [gzip, xz] {
        let padded = [&compress(first)[..], &zeros, &compress(second), &zeros].concat();
        assert_eq!(read(&padded).clean().records, expected);
        // Not anything else, nor zeros in the place of a member.
        let with_garbage = [&compress(&bytes)[..], &zeros, b"x"].concat();
        assert_eq!(read(&with_garbage).errors.len(), 1);
    }
}

#[test]
fn what_follows_a_compressed_capture_costs_none_of_it() {
    let bytes = noisy(50);
    let expected = read(&bytes).clean().records;
    for (format, compress) in COMPRESSORS {
        let followed = [compress(&bytes), bytes.clone()].concat();
        let outcome = read(&followed);
        assert_eq!(outcome.records, expected, "{format}");
        assert!(
            matches!(outcome.kind(), CaptureErrorKind::Compression { .. }),
            "{format}"
        );
        // What was read before is right: it is whole.
        let said = outcome.errors[0].to_string();
        assert!(said.contains("something else behind its end"), "{said}");
    }
}

#[test]
fn damage_casts_doubt_on_what_was_read_in_words_of_no_library() {
    let bytes = noisy(400);
    for (format, compress) in COMPRESSORS {
        let whole = compress(&bytes);
        let (mut told, mut by_checksum) = (0, 0);
        for place in (20..whole.len()).step_by(whole.len() / 60) {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x10;
            let outcome = read(&damaged);
            let of_stream =
                |error: &&CaptureError| matches!(error.kind, CaptureErrorKind::Compression { .. });
            for error in outcome.errors.iter().filter(of_stream) {
                let said = error.to_string();
                let is_doubted = said.contains("records that were read may be wrong");
                let is_short = said.contains("ends early");
                assert!(is_doubted || is_short, "{format} {place}: {said}");
                assert!(!said.contains("Error"), "{format} {place}: {said}");
                told += u32::from(is_doubted);
                by_checksum += u32::from(said.contains("(damaged before here:"));
            }
        }
        // Of these streams nothing but the check shows most damage; others come to lengths of records that cannot be.
        let is_checked = [Compression::Xz, Compression::Lz4].contains(&format);
        assert!(told > 10 || !is_checked, "{format}: {told}");
        // What a checksum is wrong of has been read as a whole.
        assert!(by_checksum > 0 || format != Compression::Lz4, "{format}");
    }
}
