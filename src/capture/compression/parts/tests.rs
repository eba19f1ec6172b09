use std::io::Write as _;
use std::time::Duration;

use proptest::prelude::*;

use super::super::tests::{Pieces, all_of, half_noise, less};
use super::*;

/// Small enough for the parts of a few bytes that are made here.
const SMALL: Sizes = Sizes {
    part_bytes: 150,
    part_bytes_max: 600,
    expanded_bytes_max: 2_000,
};

/// Both formats that have parts.
const FORMATS: [Compression; 2] = [Compression::Gzip, Compression::Zstd];

fn in_parts(format: Compression, input: Pieces, threads: usize) -> Parts {
    let mut parts = Parts::new(format, Box::new(input), threads, &Arc::default());
    parts.sizes = SMALL;
    parts
}

/// The slow and obvious twin.
fn in_one(format: Compression, input: Pieces) -> Box<dyn Read + Send> {
    format.decoder(input, 1).unwrap()
}

fn gzip_member(bytes: &[u8], tells_length: bool) -> Vec<u8> {
    // Other fields may stand before BGZF's own.
    let extra = |len: u16| [b"xy\x01\0\0BC\x02\0".as_slice(), &len.to_le_bytes()].concat();
    let member = |len: u16| {
        let builder = flate2::GzBuilder::new();
        let builder = if tells_length {
            builder.extra(extra(len))
        } else {
            builder
        };
        let mut encoder = builder.write(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let len = member(0).len() as u16;
    member(len - 1)
}

fn zstd_frame(bytes: &[u8], tells_length: bool) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.include_contentsize(tells_length).unwrap();
    encoder.write_all(bytes).unwrap();
    let mut frame = encoder.finish().unwrap();
    if tells_length {
        // As pzstd does: a skippable frame before each.
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
        frame.splice(0..0, skippable);
    }
    frame
}

fn part(format: Compression, bytes: &[u8], tells_length: bool) -> Vec<u8> {
    match format {
        Compression::Zstd => zstd_frame(bytes, tells_length),
        _ => gzip_member(bytes, tells_length),
    }
}

fn pieces(stream: &[u8], piece: usize, fails: bool) -> Pieces {
    Pieces {
        bytes: Cursor::new(stream.to_vec()),
        piece,
        fails,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whole, cut, changed, followed by garbage, or read from what fails.
    #[test]
    fn parts_come_to_what_one_decompressor_gives(
        format in prop::sample::select(&FORMATS[..]),
        lens in proptest::collection::vec((0..700_usize, any::<u32>(), 0..8_u8), 0..12),
        (piece, fails) in (1..2_000_usize, any::<bool>()),
        changed in proptest::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        behind in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..5),
            proptest::collection::vec(Just(0), 0..30),
        ],
    ) {
        let mut stream: Vec<u8> = lens
            .iter()
            .flat_map(|&(len, seed, odd)| {
                // Some become far more than they are.
                let bytes = if odd == 1 { vec![7; len * 5] } else { half_noise(len, seed) };
                part(format, &bytes, odd != 0)
            })
            .collect();
        stream.extend(behind);
        if let Some((place, change)) = changed && !stream.is_empty() {
            let place = place.index(stream.len());
            stream[place] ^= change;
        }
        if let Some(cut) = cut {
            stream.truncate(cut.index(stream.len() + 1));
        }
        let expected = all_of(in_one(format, pieces(&stream, piece, fails)), 4096);
        for (threads, piece) in [(2, piece), (3, 7), (8, usize::MAX)] {
            let found = all_of(in_parts(format, pieces(&stream, piece, fails), threads), 1000);
            prop_assert!(found == expected, "with {threads} threads, {piece} bytes at a time");
        }
    }
}

#[test]
fn whole_parts_are_decompressed_side_by_side() {
    for format in FORMATS {
        let bytes = half_noise(40_000, 5);
        let stream: Vec<u8> = bytes
            .chunks(400)
            .flat_map(|chunk| part(format, chunk, true))
            .collect();
        let mut first = [0; 1];
        let mut begin = || {
            let mut parts = in_parts(format, pieces(&stream, usize::MAX, false), 2);
            parts.read_exact(&mut first).unwrap();
            let handed_over = parts.ahead.iter().filter(|part| part.outcome.is_some());
            (handed_over.count(), parts)
        };
        // Tests that run beside this one may have all the threads there can be.
        let (mut handed_over, mut parts) = begin();
        for _ in 0..10_000 {
            if handed_over == 2 {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
            (handed_over, parts) = begin();
        }
        // One was decompressed here, the next two are with others.
        assert_eq!(handed_over, 2);
        let (rest, error) = all_of(&mut parts, 1000);
        assert_eq!((first.to_vec(), error), (bytes[..1].to_vec(), None));
        assert!(rest == bytes[1..] && parts.rest.is_none());
    }
}

#[test]
fn what_is_too_long_to_be_held_is_left_to_one_decompressor() {
    for format in FORMATS {
        let long = part(format, &half_noise(6_000, 9), true);
        let bomb = part(format, &vec![0; 60_000], true);
        for odd in [long, bomb] {
            let stream = [part(format, b"first", true), odd].concat();
            let expected = all_of(in_one(format, pieces(&stream, 100, false)), 1000);
            let mut parts = in_parts(format, pieces(&stream, 100, false), 2);
            assert_eq!(all_of(&mut parts, 1000), expected);
            assert!(parts.rest.is_some() && expected.1.is_none());
        }
    }
}

#[test]
fn a_bomb_ends_where_it_does_for_one_decompressor() {
    let bytes_min = 8 << 20;
    for format in FORMATS {
        // Longer than a part may become, so that one decompressor goes on.
        let captured = part(format, b"captured", true);
        let bomb = part(format, &vec![0; 12 << 20], true);
        let stream = [captured, bomb].concat();
        let all = |threads| {
            let input = pieces(&stream, usize::MAX, false);
            all_of(
                format.bounded(input, threads, less(bytes_min)).unwrap(),
                1 << 20,
            )
        };
        let one = all(1);
        assert!(one.1.is_some(), "{format}");
        assert!(all(3) == one, "{format}");
    }
}
