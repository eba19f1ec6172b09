//! How long a packet is, where its header does not say.

use super::*;

#[test]
fn a_length_of_zero_is_taken_from_the_frame() {
    let offloaded = with(&with(&tcp_v4(), 2, 0), 3, 0);
    let big = Record {
        original_len: 80_000,
        ..record(RAW, &offloaded)
    };
    let Decoded::Segment(found) = decode(&big, 0, &DecodeOptions::default()) else {
        panic!()
    };
    assert_eq!((found.ip_len, found.payload_len), (80_000, 80_000 - 52));
    assert!(found.length_from_frame);

    let tcp = &tcp_v4()[20..];
    let offloaded = with(&ipv6(6, tcp), 5, 0);
    let big = Record {
        original_len: 80_000,
        ..record(RAW, &offloaded)
    };
    let Decoded::Segment(found) = decode(&big, 0, &DecodeOptions::default()) else {
        panic!()
    };
    assert_eq!((found.ip_len, found.payload_len), (80_000, 80_000 - 72));
    assert!(found.length_from_frame);

    // A jumbogram has a length, in an option (RFC 2675).
    let jumbo = [&[6, 0, 0xc2, 4, 0, 1, 0x38, 0x80], tcp].concat();
    let found = segment(RAW, &with(&ipv6(0, &jumbo), 5, 0));
    assert_eq!((found.ip_len, found.payload_len), (80_040, 80_000 - 8 - 32));
    assert!(!found.length_from_frame);
}

#[test]
fn packets_of_gigabytes_are_not_believed_whoever_says_so() {
    let v4 = with(&with(&tcp_v4(), 2, 0), 3, 0);
    let v6 = with(&ipv6(6, &tcp_v4()[20..]), 5, 0);
    for (packet, longest) in [(v4, 16 << 20), (v6, (16 << 20) + 40)] {
        let said = |original_len| {
            let big = Record {
                original_len,
                ..record(RAW, &packet)
            };
            decode(&big, 0, &DecodeOptions::default())
        };
        assert!(matches!(said(longest), Decoded::Segment(_)));
        for longer in [longest + 1, 1 << 31, u32::MAX] {
            let found = said(longer);
            assert!(
                matches!(found, Decoded::Skipped(Skip::MalformedIp)),
                "{longer}: {found:?}"
            );
        }
    }
}
