//! What is UDP, and told to who asks for it.

use super::*;

/// What a record holds of UDP.
fn told(link: u16, bytes: &[u8], original_len: u32) -> (Decoded, Datagrams) {
    told_of(TunnelLayer::default(), link, bytes, original_len)
}

fn told_of(layer: TunnelLayer, link: u16, bytes: &[u8], original_len: u32) -> (Decoded, Datagrams) {
    let mut found = Decoded::Skipped(Skip::NonIp);
    let mut datagrams = Datagrams::default();
    let record = Record {
        original_len,
        ..record(link, bytes)
    };
    let options = DecodeOptions { layer };
    decode_datagrams(&record, 7, &options, &mut found, &mut datagrams);
    (found, datagrams)
}

/// The one datagram that a packet holds, which is skipped as UDP all the same.
fn datagram(link: u16, bytes: &[u8]) -> Datagram {
    let (found, datagrams) = told(link, bytes, bytes.len() as u32);
    assert!(matches!(found, Decoded::Skipped(Skip::Udp)), "{found:?}");
    assert!(datagrams.fragments.is_empty());
    let [datagram] = datagrams.whole[..] else {
        panic!("{datagrams:?}")
    };
    datagram
}

/// UDP from port 4000 to port 443 that says to be so long.
fn of_len(len: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [4000, 443, len, 0].map(u16::to_be_bytes).concat();
    bytes.extend(payload);
    bytes
}

#[test]
fn lengths_are_those_of_the_headers() {
    let payload = [7; 100];
    // What UDP says, where that is not more than IP has; less is padding.
    for (len, expected) in [(108, 100), (68, 60), (8, 0), (0, 100), (7, 100), (109, 100)] {
        let packet = ipv4(17, &of_len(len, &payload));
        let found = datagram(RAW, &packet);
        assert_eq!(found.payload_len, expected, "{len}");
        assert_eq!(found.ip_len, 128);
        assert_eq!((found.src.port(), found.dst.port()), (4000, 443));
        assert_eq!((found.ordinal, found.ip_packets), (7, 1));
    }
    let found = datagram(RAW, &ipv6(17, &of_len(108, &payload)));
    assert_eq!((found.payload_len, found.ip_len), (100, 148));
    // Nothing is as long as what was captured of it, or as the frame is padded to.
    let packet = ipv4(17, &of_len(108, &payload));
    let (_, cut) = told(RAW, &packet[..28], packet.len() as u32);
    assert_eq!((cut.whole[0].payload_len, cut.whole[0].ip_len), (100, 128));
    let frame = [&[2; 12], &[0x81, 0, 0, 7, 8, 0][..], &packet, &[0; 9]].concat();
    let found = datagram(ETHERNET, &frame);
    assert_eq!((found.payload_len, found.ip_len), (100, 128));
}

#[test]
fn a_length_of_zero_is_taken_from_the_frame_as_with_tcp() {
    // IP's length is 0, as of a frame that hardware was to cut, and so is UDP's.
    let packet = ipv4(17, &of_len(0, &[7; 100]));
    let packet = with(&with(&packet, 2, 0), 3, 0);
    let found = datagram(RAW, &packet);
    assert!(found.length_from_frame);
    assert_eq!((found.payload_len, found.ip_len), (100, 128));
}

#[test]
fn a_header_that_is_not_whole_is_no_datagram() {
    let packet = ipv4(17, &of_len(8, &[]));
    let (found, datagrams) = told(RAW, &packet[..27], packet.len() as u32);
    assert!(matches!(found, Decoded::Skipped(Skip::HeaderCut)));
    assert_eq!(datagrams.len(), 0);
    let (found, datagrams) = told(RAW, &ipv4(17, &[0; 7]), 27);
    assert!(matches!(found, Decoded::Skipped(Skip::Udp)));
    assert_eq!(datagrams.len(), 0);
}

/// Of a tunnel what is in it, and a datagram to a tunnel's port that is none.
#[test]
fn the_innermost_datagram_counts() {
    let inner = ipv4(17, &of_len(108, &[7; 100]));
    let vxlan = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &[2; 12], &[8, 0], &inner].concat();
    let found = datagram(RAW, &udp(4789, &vxlan));
    assert_eq!((found.dst.port(), found.payload_len), (443, 100));
    let found = datagram(RAW, &udp(4789, &[0; 60]));
    assert_eq!((found.dst.port(), found.payload_len), (4789, 60));
    // TCP in a tunnel is TCP alone.
    let vxlan = [&vxlan[..22], &tcp_v4()].concat();
    let packet = udp(4789, &vxlan);
    let (found, datagrams) = told(RAW, &packet, packet.len() as u32);
    assert!(matches!(found, Decoded::Segment(_)), "{found:?}");
    assert_eq!(datagrams.len(), 0);
}

/// A tunnel that is not entered is no conversation, whatever is in it: that of TCP is none either.
#[test]
fn a_tunnel_is_no_datagram_where_the_outermost_layer_counts() {
    let inner = ipv4(17, &of_len(108, &[7; 100]));
    let frame = [&[2; 12], &[8, 0][..], &inner].concat();
    let gtp_u = [0x30, 0xff, 0, 128, 0, 0, 0, 1];
    for (bytes, skip) in [
        (
            udp(4789, &[&[8, 0, 0, 0, 0, 0, 1, 0][..], &frame].concat()),
            Skip::Tunnel,
        ),
        (
            udp(6081, &[&[0, 0, 8, 0, 0, 0, 1, 0][..], &inner].concat()),
            Skip::Tunnel,
        ),
        (udp(2152, &[&gtp_u[..], &inner].concat()), Skip::Tunnel),
        (ipv4(4, &inner), Skip::Tunnel),
        (udp(4789, &[0; 60]), Skip::Udp),
        (inner.clone(), Skip::Udp),
    ] {
        let len = bytes.len() as u32;
        let (found, datagrams) = told_of(TunnelLayer::Outermost, RAW, &bytes, len);
        assert!(
            matches!(found, Decoded::Skipped(reason) if reason == skip),
            "{found:?}"
        );
        let expected = usize::from(skip == Skip::Udp);
        assert_eq!(datagrams.len(), expected, "{datagrams:?}");
    }
}

#[test]
fn fragments_are_put_together_in_any_order() {
    let whole = of_len(108, &[7; 100]);
    let parts = [
        fragment_of(17, 7, 0, true, &whole[..48]),
        fragment_of(17, 7, 6, true, &whole[48..96]),
        fragment_of(17, 7, 12, false, &whole[96..]),
    ];
    let ip_len: usize = parts.iter().map(Vec::len).sum();
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let mut table = FragmentTable::new();
        let mut found = Vec::new();
        for &part in &order {
            let (skipped, datagrams) = told(RAW, &parts[part], parts[part].len() as u32);
            // They count as they do where nobody asks.
            let reason = if part == 0 {
                Skip::Udp
            } else {
                Skip::LaterFragment
            };
            assert!(matches!(skipped, Decoded::Skipped(skip) if skip == reason));
            assert!(datagrams.whole.is_empty());
            let [fragment] = datagrams.fragments[..] else {
                panic!("{datagrams:?}")
            };
            found.extend(table.push_datagram(fragment));
        }
        let [found] = found[..] else {
            panic!("{order:?}: {found:?}")
        };
        assert_eq!((found.src.port(), found.dst.port()), (4000, 443));
        assert_eq!((found.payload_len, found.ip_packets), (100, 3));
        assert_eq!(found.ip_len as usize, ip_len);
    }
}

/// Extension headers stand before the fragment header, where each packet has them, and behind it, in what is cut; there
/// the first fragment may end among them.
#[test]
fn fragments_of_ipv6_may_begin_with_extension_headers() {
    let whole = [&[17, 0, 1, 4, 0, 0, 0, 0][..], &of_len(108, &[7; 100])].concat();
    let fragment = |offset: u16, more: u16, part: &[u8]| {
        let [high, low] = ((offset * 8) | more).to_be_bytes();
        let inside = [&[60, 0, high, low, 0, 0, 0, 5][..], part].concat();
        ipv6(0, &[&[44, 0, 1, 4, 0, 0, 0, 0][..], &inside].concat())
    };
    for first_len in [8, 16, 48] {
        let (first, rest) = whole.split_at(first_len);
        let parts = [
            fragment(0, 1, first),
            fragment(first_len as u16 / 8, 0, rest),
        ];
        for order in [[0, 1], [1, 0]] {
            let mut table = FragmentTable::new();
            let found = order.map(|part| {
                let (_, datagrams) = told(RAW, &parts[part], parts[part].len() as u32);
                assert!(datagrams.whole.is_empty(), "{first_len}: {datagrams:?}");
                table.push_datagram(datagrams.fragments[0])
            });
            let [None, Some(found)] = found else {
                panic!("{first_len}: {found:?}")
            };
            assert_eq!((found.src.port(), found.dst.port()), (4000, 443));
            assert_eq!((found.payload_len, found.ip_packets), (100, 2));
        }
    }
    // What is cut may be TCP, which is in nobody's datagram.
    let whole = [&[6, 0, 1, 4, 0, 0, 0, 0][..], &tcp_v4()[20..]].concat();
    let mut table = FragmentTable::new();
    for part in [fragment(0, 1, &whole[..8]), fragment(1, 0, &whole[8..])] {
        let (_, datagrams) = told(RAW, &part, part.len() as u32);
        assert!(table.push_datagram(datagrams.fragments[0]).is_none());
    }
}

/// The first fragment of a tunnel's packet tells what is in it; it is none of a datagram that waits for others.
#[test]
fn a_tunnel_in_fragments_is_no_datagram() {
    let inner = ipv4(17, &of_len(108, &[7; 100]));
    let vxlan = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &[2; 12], &[8, 0], &inner].concat();
    let first = fragment_of(17, 7, 0, true, &udp(4789, &vxlan)[20..92]);
    let (_, datagrams) = told(RAW, &first, first.len() as u32);
    assert!(datagrams.fragments.is_empty());
    let [found] = datagrams.whole[..] else {
        panic!("{datagrams:?}")
    };
    assert_eq!((found.dst.port(), found.payload_len), (443, 100));
}

/// Several frames of Wi-Fi in one record.
#[test]
fn each_datagram_of_an_aggregate_is_told() {
    let subframe = |packet: &[u8]| {
        let len = packet.len() as u8 + 8;
        let mut bytes = [
            &[2; 12],
            &[0, len, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0][..],
            packet,
        ]
        .concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let header = [&[0x88, 1, 0, 0][..], &[2; 18], &[0, 0, 0x80, 0]].concat();
    let one = subframe(&ipv4(17, &of_len(18, &[7; 10])));
    let other = subframe(&ipv4(17, &of_len(28, &[7; 20])));
    let bytes = [&header[..], &one, &subframe(&tcp_v4()), &other].concat();
    let (found, datagrams) = told(105, &bytes, bytes.len() as u32);
    assert!(matches!(found, Decoded::Segment(_)), "{found:?}");
    let lens: Vec<u32> = datagrams.whole.iter().map(|one| one.payload_len).collect();
    assert_eq!(lens, [10, 20]);
}
