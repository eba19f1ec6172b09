//! Source routes: the connection's end is the last stop, as in TCP's checksum.

use super::*;

/// IPv6 that carries a TCP segment behind one extension header.
fn behind(kind: u8, header: &[u8]) -> Segment {
    let tcp = &tcp_v4()[20..];
    segment(RAW, &ipv6(kind, &[header, tcp].concat()))
}

fn addresses(segment: &Segment) -> [String; 2] {
    [segment.src, segment.dst].map(|end| end.ip().to_string())
}

const SRC: &str = "2020:2020:2020:2020:2020:2020:2020:2020";
const DST: &str = "2121:2121:2121:2121:2121:2121:2121:2121";
const SEVENS: &str = "707:707:707:707:707:707:707:707";
const NINES: &str = "909:909:909:909:909:909:909:909";

#[test]
fn the_last_stop_of_a_routing_header_is_the_destination() {
    for (name, dst, header) in [
        // Next header, length, type, segments left; then two addresses.
        (
            "type 0: the last",
            NINES,
            [&[6, 4, 0, 1, 0, 0, 0, 0][..], &[7; 16], &[9; 16]].concat(),
        ),
        (
            "segments: the first",
            SEVENS,
            [&[6, 4, 4, 1, 1, 0, 0, 0][..], &[7; 16], &[9; 16]].concat(),
        ),
        (
            "behind segments: TLVs",
            SEVENS,
            [&[6, 3, 4, 1, 0, 0, 0, 0][..], &[7; 16], &[5, 6], &[0; 6]].concat(),
        ),
        (
            "mobile: home",
            NINES,
            [&[6, 2, 2, 1, 0, 0, 0, 0][..], &[9; 16]].concat(),
        ),
        (
            // 14 bytes are as in the destination; two bytes of address, six of padding.
            "rpl: the end of the last",
            "2121:2121:2121:2121:2121:2121:2121:909",
            [6, 1, 3, 1, 0xee, 0x60, 0, 0, 9, 9, 0, 0, 0, 0, 0, 0].to_vec(),
        ),
        (
            "arrived",
            DST,
            [&[6, 2, 4, 0, 0, 0, 0, 0][..], &[9; 16]].concat(),
        ),
        (
            "of a kind nobody knows",
            DST,
            [&[6, 2, 9, 1, 0, 0, 0, 0][..], &[9; 16]].concat(),
        ),
        ("without any address", DST, vec![6, 0, 4, 1, 0, 0, 0, 0]),
        (
            "rpl with more padding than there is",
            DST,
            vec![6, 0, 3, 1, 0, 0xf0, 0, 0],
        ),
    ] {
        let found = behind(43, &header);
        assert_eq!(addresses(&found), [SRC, dst].map(str::to_owned), "{name}");
        assert_eq!(found.payload_len, 28, "{name}");
    }
}

#[test]
fn a_mobile_sender_is_known_by_its_home() {
    let home = [&[6, 2, 1, 2, 0, 0, 0xc9, 16][..], &[7; 16]].concat();
    assert_eq!(
        addresses(&behind(60, &home)),
        [SEVENS, DST].map(str::to_owned)
    );
    for options in [
        [1, 4, 0, 0, 0, 0],
        [1, 99, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0xc9],
    ] {
        let header = [&[6, 0][..], &options].concat();
        assert_eq!(
            addresses(&behind(60, &header)),
            [SRC, DST].map(str::to_owned)
        );
    }
}

#[test]
fn a_fragment_goes_where_its_route_ends() {
    let route = [&[44, 2, 4, 1, 0, 0, 0, 0][..], &[7; 16]].concat();
    let tcp = &tcp_v4()[20..];
    let bytes = ipv6(
        43,
        &[&route[..], &[6, 0, 0, 1, 0, 0, 0, 9], &tcp[..40]].concat(),
    );
    let Decoded::Fragment(fragment) = decode_bytes(RAW, &bytes) else {
        panic!();
    };
    assert_eq!(fragment.dst.ip().to_string(), SEVENS);
}

#[test]
fn the_end_of_an_ipv4_source_route_is_the_destination() {
    let tcp = &tcp_v4()[20..];
    let with_options = |options: &[u8]| {
        let mut packet = ipv4(6, &[options, tcp].concat());
        packet[0] = 0x40 | (5 + options.len() as u8 / 4);
        addresses(&segment(RAW, &packet))[1].clone()
    };
    let (there, last) = ("192.0.2.2", "198.51.100.9");
    for (name, dst, options) in [
        ("loose", last, &[131, 7, 4, 198, 51, 100, 9, 0][..]),
        (
            "strict, behind a no-operation",
            last,
            &[1, 137, 7, 4, 198, 51, 100, 9],
        ),
        (
            "of two the last",
            last,
            &[131, 11, 8, 10, 9, 9, 9, 198, 51, 100, 9, 0],
        ),
        ("arrived", there, &[131, 7, 8, 198, 51, 100, 9, 0]),
        ("recorded, not to go", there, &[7, 7, 4, 198, 51, 100, 9, 0]),
        (
            "longer than the options",
            there,
            &[131, 99, 4, 198, 51, 100, 9, 0],
        ),
        ("without an address", there, &[131, 3, 3, 0]),
        ("of no length", there, &[148, 0, 0, 0]),
        ("behind the end", there, &[0, 131, 7, 4, 198, 51, 100, 9]),
    ] {
        assert_eq!(with_options(options), dst, "{name}");
    }
}
