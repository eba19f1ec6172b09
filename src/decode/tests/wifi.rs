//! 802.11 frames of meshes.

use super::*;

const SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];

/// A `QoS` data frame up to its body, with these flags and this control.
fn header(flags: u8, control: [u8; 2]) -> Vec<u8> {
    let fourth = if flags & 3 == 3 { &[2; 6][..] } else { &[] };
    [
        &[0x88, flags, 0, 0],
        &[2; 18][..],
        &[0, 0],
        fourth,
        &control,
    ]
    .concat()
}

/// A mesh control (IEEE 802.11-2020 section 9.2.4.7.3): with no, one or two addresses.
fn mesh(addresses: u8) -> Vec<u8> {
    let extension = vec![4; usize::from(addresses) * 6];
    [&[addresses, 31, 1, 0, 0, 0], &extension[..]].concat()
}

#[test]
fn a_mesh_puts_its_control_before_the_packet() {
    let packet = tcp_v4();
    let expected = format!("{:?}", segment(RAW, &packet));
    // From mesh point to mesh point, to all of them, and decrypted by the driver, which left the flag.
    for flags in [3, 2, 0x43] {
        for addresses in 0..=2 {
            let headers = [header(flags, [0, 1]), mesh(addresses), SNAP.to_vec()].concat();
            let found = segment(105, &[&headers[..], &packet].concat());
            assert_eq!(format!("{found:?}"), expected, "{flags} {addresses}");
        }
    }
    // In frames of no mesh the bit is one of a time or of a queue's length, and LLC comes at once.
    for flags in [1, 2, 3] {
        let found = segment(105, &[&header(flags, [0, 1])[..], &SNAP, &packet].concat());
        assert_eq!(format!("{found:?}"), expected, "{flags}");
    }
    // Without the bit, to an access point, and with three addresses, which is reserved.
    for (flags, control, addresses) in [(3, [0, 0], 0), (1, [0, 1], 0), (3, [0, 1], 3)] {
        let headers = [header(flags, control), mesh(addresses), SNAP.to_vec()].concat();
        let found = skipped(105, &[&headers[..], &packet].concat());
        assert_eq!(found, Skip::NonIp, "{flags} {control:?} {addresses}");
    }
    let encrypted = [&header(0x43, [0, 1])[..], &mesh(0), &[7; 60]].concat();
    assert_eq!(skipped(105, &encrypted), Skip::Encrypted);
}

#[test]
fn in_an_aggregate_of_a_mesh_each_frame_has_its_control() {
    let packet = tcp_v4();
    let subframe = |addresses: u8| {
        let body = [&mesh(addresses)[..], &SNAP, &packet].concat();
        let mut bytes = [&[2; 12], &[0, body.len() as u8][..], &body].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let bytes = [header(3, [0x80, 1]), subframe(0), subframe(2)].concat();
    let found = decode_bytes(105, &bytes);
    assert_eq!(found, Decoded::FirstOf(segment(RAW, &packet), 1));
}
