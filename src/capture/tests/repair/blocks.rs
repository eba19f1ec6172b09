//! Damaged pcapng files, and the way on behind the damage.

use super::*;

/// Twenty packets of 40 bytes in pcapng, and where each block begins.
fn blocks() -> (Vec<u8>, Vec<usize>) {
    let mut file = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 0, &[]);
    let mut places = Vec::new();
    for index in 0..20_u64 {
        places.push(file.bytes.len());
        file = file.packet(0, 1_700_000_000_000_000 + index, &[index as u8; 40]);
    }
    (file.bytes, places)
}

#[test]
fn broken_blocks_are_skipped_and_counted() {
    let (intact, places) = blocks();
    let whole = read(&intact).clean().records;
    // Garbage between blocks, of any length.
    for garbage in [
        noise(1),
        noise(64),
        vec![0; 4096],
        vec![6, 0, 0, 0, 64, 0, 0, 0],
    ] {
        let mut bytes = intact.clone();
        bytes.splice(places[8]..places[8], garbage.iter().copied());
        let outcome = mend(&bytes).clean();
        assert_eq!(outcome.records, whole, "{garbage:?}");
        let (at, len) = (places[8] as u64, garbage.len() as u64);
        assert_eq!(gaps(&outcome), [(9, at, len, Damage::Garbage)]);
    }
    // A block whose lengths differ, and one that is too long to be.
    for length in [60_u32, 76, 68, 0x7fff_fff0] {
        let mut bytes = intact.clone();
        bytes[places[8] + 4..places[8] + 8].copy_from_slice(&length.to_le_bytes());
        let outcome = mend(&bytes).clean();
        assert_eq!(outcome.records.len(), 19);
        assert_eq!(gaps(&outcome), [(9, places[8] as u64, 72, Damage::Garbage)]);
    }
    // A whole block that names an interface that there is not: only itself is lost.
    let mut bytes = intact.clone();
    bytes[places[8] + 8] = 3;
    let outcome = mend(&bytes).clean();
    assert_eq!(outcome.records.len(), 19);
    let fault = BlockFault::UnknownInterface {
        interface: 3,
        described: 1,
    };
    assert_eq!(
        gaps(&outcome),
        [(9, places[8] as u64, 72, Damage::Block(fault))]
    );
    // Cut short at the end: as without repair.
    let cut = mend(&intact[..places[19] + 20]);
    assert_eq!(cut.records.len(), 19);
    assert!(matches!(
        cut.kind(),
        CaptureErrorKind::Truncated { have: 20, need: 72 }
    ));
}

/// Secrets of a capture, and a packet, of more bytes than are looked at for anything else.
#[test]
fn a_long_block_is_no_damage() {
    let head = Pcapng::new()
        .section(ByteOrder::Little)
        .interface(1, 0, &[]);
    let file = head.packet(0, 1, &[1; 40]).block(10, &vec![6; 5 << 20]);
    let file = file.packet(0, 2, &vec![2; 5 << 20]).packet(0, 3, &[3; 40]);
    let bytes = file.packet(0, 4, &[4; 40]).bytes;
    let whole = read(&bytes).clean().records;
    let outcome = mend(&bytes).clean();
    assert_eq!(outcome.records, whole);
    assert!(gaps(&outcome).is_empty(), "{:?}", gaps(&outcome));
    // Behind damage, too: the block that is next to what is found need not be looked at as a whole.
    let damaged = [&bytes[..48], &noise(77), &bytes[48..]].concat();
    let outcome = mend(&damaged).clean();
    assert_eq!(outcome.records, whole);
    assert_eq!(gaps(&outcome), [(1, 48, 77, Damage::Garbage)]);
}

#[test]
fn an_interface_whose_description_is_damaged_keeps_its_number() {
    let mut file = Pcapng::new().section(ByteOrder::Little);
    let damaged = file.bytes.len() + 16;
    file = file
        .interface(1, 0, &[(2, b"eth0")])
        .interface(101, 0, &[(9, &[9])]);
    for index in 0..20_u32 {
        let second = 1_700_000_000 + u64::from(index);
        let ticks = second
            * if index % 2 == 0 {
                1_000_000
            } else {
                1_000_000_000
            };
        file = file.packet(index % 2, ticks, &[9; 40]);
    }
    let whole = read(&file.bytes).clean().records;
    let mut bytes = file.bytes;
    // The length of its name.
    bytes[damaged + 2..damaged + 4].copy_from_slice(&[0, 0x40]);
    let outcome = mend(&bytes).clean();
    let of_second = |record: &&Seen| record.link == 101;
    let expected: Vec<i64> = whole
        .iter()
        .filter(of_second)
        .map(|record| record.at_ns)
        .collect();
    assert_eq!(outcome.times(), expected);
    assert!(outcome.records.iter().all(|record| record.link == 101));
    let fault = BlockFault::LostInterface { interface: 0 };
    assert_eq!(gaps(&outcome)[1].3, Damage::Block(fault));
}

/// Headers of a section that say nothing else of use: with an option longer than they are, and of an unknown version.
fn damaged_headers(order: ByteOrder) -> [Vec<u8>; 2] {
    let whole = Pcapng::new().section(order).bytes;
    let options = [&whole[8..24], &[0x40; 8]].concat();
    let behind = Pcapng::new().section(order).block(0x0a0d_0d0a, &options);
    let mut version = whole.clone();
    version[12..14].fill(9);
    [behind.bytes[whole.len()..].to_vec(), version]
}

#[test]
fn a_section_whose_header_is_damaged_is_read_by_its_byte_order() {
    let (second, _) = blocks();
    let mut file = Pcapng::new().section(ByteOrder::Big).interface(101, 0, &[]);
    for index in 0..8 {
        file = file.packet(0, index, &[5; 40]);
    }
    let first = file.bytes;
    let whole = read(&[&first[..], &second].concat()).clean().records;
    let check = |first: &[u8], second: &[u8], at: usize| {
        let outcome = mend(&[first, second].concat()).clean();
        assert_eq!(outcome.records, whole);
        let damaged: Vec<u64> = gaps(&outcome).iter().map(|gap| gap.1).collect();
        assert_eq!(damaged, [at as u64]);
    };
    for header in damaged_headers(ByteOrder::Big) {
        check(&[&header, &first[28..]].concat(), &second, 0);
    }
    for header in damaged_headers(ByteOrder::Little) {
        check(&first, &[&header, &second[28..]].concat(), first.len());
    }
    // Too long to be.
    let mut length = first;
    length[4] = 0x7f;
    check(&length, &second, 0);
}
