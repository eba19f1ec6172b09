//! What holds of any bytes.

use proptest::prelude::*;

use super::build::{Pcap, Pcapng};
use super::compressed::COMPRESSORS;
use super::mapped::{OnDisk, assert_same};
use super::*;

/// A small capture of any of the formats, with records of any lengths.
fn any_capture() -> impl Strategy<Value = Vec<u8>> {
    let order = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
    let magic = prop_oneof![
        Just(0xa1b2_c3d4_u32),
        Just(0xa1b2_3c4d),
        Just(0xa1b2_cd34),
        Just(0)
    ];
    let lengths = prop::collection::vec(0usize..300, 0..40);
    (order, magic, lengths).prop_map(|(order, magic, lengths)| {
        let data = |index: usize, length: usize| vec![index as u8; length];
        if magic == 0 {
            let mut file = Pcapng::new().section(order).interface(1, 0, &[]);
            for (index, length) in lengths.into_iter().enumerate() {
                file = match index % 5 {
                    3 => file.block(0x0bad, &vec![0; length / 4 * 4]),
                    4 => file.simple_packet(length as u32, &data(index, length)),
                    _ => file.packet(0, index as u64, &data(index, length)),
                };
            }
            return file.bytes;
        }
        let mut file = Pcap::new(order, magic);
        for (index, length) in lengths.into_iter().enumerate() {
            file = file.record(index as u32, 0, &data(index, length));
        }
        file.bytes
    })
}

proptest! {
    #[test]
    fn windows_and_pieces_of_any_size_give_the_same(
        bytes in any_capture(),
        window_bytes in 1usize..2_000,
        largest in 1usize..600,
        cut in 0usize..100,
    ) {
        let bytes = &bytes[..bytes.len() - cut.min(bytes.len() - 1)];
        let whole = read(bytes);
        let pieces = read_sources(vec![in_pieces(bytes, largest)], window_bytes);
        assert_same(&whole, &pieces);
        let file = OnDisk::new(bytes);
        for io in [Io::Mapped, Io::Read] {
            assert_same(&whole, &file.read(window_bytes, io));
        }
    }

    /// A capture with any of its bytes changed never panics, in any window size.
    #[test]
    fn damaged_bytes_never_panic(
        mut bytes in any_capture(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        compressor in 0usize..5,
        window_bytes in 1usize..5_000,
    ) {
        if let Some((_, compress)) = COMPRESSORS.get(compressor) {
            bytes = compress(&bytes);
        }
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let outcome = read_sources(vec![source("damaged", &bytes)], window_bytes);
        for error in &outcome.errors {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }

    #[test]
    fn random_bytes_never_panic(
        magic in prop::sample::select(vec![
            &[][..], &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0], &[0xa1, 0xb2, 0xcd, 0x34, 0, 2, 0, 4],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0],
            &[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd], &[0xfd, b'7', b'z', b'X', b'Z', 0],
            &[0x04, 0x22, 0x4d, 0x18], &[0x02, 0x21, 0x4c, 0x18], &[0x50, 0x2a, 0x4d, 0x18],
        ]),
        random in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        read(&[magic, &random].concat());
    }
}
