//! The options of TCP.

use std::num::NonZeroU16;

use super::*;

#[test]
fn options_are_read_up_to_the_first_that_lies() {
    let syn = [
        2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 15,
    ];
    let found = segment(RAW, &with_options(TcpFlags::SYN, &syn));
    assert_eq!(found.syn.mss.map(NonZeroU16::get), Some(1460));
    assert_eq!(found.syn.window_scale, Some(14));
    assert!(found.syn.sack_permitted);
    assert_eq!(found.timestamps, Some(Timestamps { value: 1, echo: 2 }));
    let late = segment(RAW, &with_options(TcpFlags::ACK, &syn));
    assert_eq!(
        (late.syn, late.timestamps),
        (SynOptions::default(), found.timestamps)
    );

    let stamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let sack = [1, 1, 5, 18, 0, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0, 7, 0, 0, 0, 8];
    let both = [&stamps[..], &sack].concat();
    let found = segment(RAW, &with_options(TcpFlags::ACK, &both));
    let block = |start, end| SackBlock {
        start: Seq(start),
        end: Seq(end),
    };
    assert_eq!(found.timestamps, Some(Timestamps { value: 1, echo: 2 }));
    assert_eq!(found.sack.as_slice(), [block(9, 10), block(7, 8)]);

    for lie in [[8, 0, 8, 10], [8, 1, 1, 1], [5, 255, 0, 0], [254, 30, 0, 0]] {
        let found = segment(
            RAW,
            &with_options(TcpFlags::ACK, &[&lie[..], &stamps].concat()),
        );
        assert_eq!(found.timestamps, None, "{lie:?}");
    }
    for honest in [[1, 1, 1, 1], [30, 4, 0, 0], [254, 4, 0, 0], [1, 3, 3, 1]] {
        let found = segment(
            RAW,
            &with_options(TcpFlags::ACK, &[&honest[..], &stamps].concat()),
        );
        assert_eq!(
            found.timestamps,
            Some(Timestamps { value: 1, echo: 2 }),
            "{honest:?}"
        );
    }
}

#[test]
fn a_syn_tells_of_multipath_tcp() {
    // MP_CAPABLE of version 1 without a key, as a SYN has it.
    let capable = [30, 4, 0x01, 0x81];
    for (flags, is_told) in [
        (TcpFlags::SYN, true),
        (TcpFlags::SYN.with(TcpFlags::ACK), true),
        (TcpFlags::ACK, false),
    ] {
        let found = segment(RAW, &with_options(flags, &capable));
        assert_eq!(found.syn.multipath, is_told, "{flags:?}");
    }
    assert!(
        !segment(RAW, &with_options(TcpFlags::SYN, &[2, 4, 5, 180]))
            .syn
            .multipath
    );
}

/// The byte of IPv4 and of IPv6 that says how far a packet may go, and what a SYN with it tells of its sender.
#[test]
fn a_syn_tells_whether_its_sender_begins_with_more_than_64_hops() {
    for (flags, hops, above) in [
        (TcpFlags::SYN, 64, false),
        (TcpFlags::SYN, 65, true),
        (TcpFlags::SYN, 128, true),
        (TcpFlags::ACK, 128, false),
    ] {
        let mut v4 = with_options(flags, &[]);
        let mut v6 = ipv6(6, &v4[20..]);
        (v4[8], v6[7]) = (hops, hops);
        for packet in [v4, v6] {
            let found = segment(RAW, &packet);
            assert_eq!(found.syn.ttl_above_64, above, "{hops} {packet:?}");
        }
    }
}

/// A segment with `flags` and `options`, which are padded with the end of options.
fn with_options(flags: TcpFlags, options: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 20];
    header.extend_from_slice(options);
    header.resize(header.len().next_multiple_of(4), 0);
    header[12] = (header.len() as u8 / 4) << 4;
    header[13] = flags.0 as u8;
    ipv4(6, &header)
}
