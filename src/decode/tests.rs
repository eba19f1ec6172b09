//! Packets by hand; in `random`, packets by etherparse's builder and packets broken at random.

mod datagrams;
mod fabric;
mod fragments;
mod lengths;
mod options;
mod random;
mod routing;
mod snapped;
mod taps;
mod wifi;

use etherparse::{PacketBuilder, TcpOptionElement};

use super::*;
use crate::capture::LinkType;
use crate::seq::Seq;

const ETHERNET: u16 = 1;
const RAW: u16 = 101;

#[test]
fn ends_are_written_as_addresses_of_sockets_are() {
    use std::net::SocketAddr;
    let v6 = [0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    for (end, text) in [
        (Endpoint::v4([10, 0, 0, 1], 80), "10.0.0.1:80"),
        (Endpoint::v6(v6, 5002), "[fd77::1]:5002"),
    ] {
        assert_eq!(end.to_string(), text);
        assert_eq!(format!("{end:>16}"), format!("{text:>16}"));
        let address: SocketAddr = text.parse().unwrap();
        assert_eq!(SocketAddr::from(end), address);
        assert_eq!(Endpoint::from(address), end);
    }
    let zoned: SocketAddr = "[fe80::1%3]:80".parse().unwrap();
    assert_eq!(Endpoint::from(zoned).to_string(), "[fe80::1]:80");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one line a case")]
fn every_link_layer_and_tunnel_leads_to_the_same_segment() {
    let packet = tcp_v4();
    let expected = segment(RAW, &packet);
    let ethernet = [&[0x02; 12], &[8, 0][..]].concat();
    let ethernet = ethernet.as_slice();
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let wifi = [&[0x08, 1, 0, 0][..], &[2; 18], &[0, 0]].concat();
    let wifi_qos = [&[0x88, 1, 0, 0][..], &[2; 18], &[0, 0, 0, 0]].concat();
    let wifi_four = [&[0x88, 0x83, 0, 0][..], &[2; 18], &[0, 0], &[2; 6], &[0; 6]].concat();
    let radiotap_padded = [0, 0, 9, 0, 2, 0, 0, 0, 0x20];
    let radiotap_clock = [
        &[0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0][..],
        &[0; 12],
        &[0],
    ]
    .concat();
    let pad = |prefix: &[&[u8]]| [prefix, &[&packet]].concat().concat();
    for (name, link, bytes) in [
        ("ethernet", ETHERNET, pad(&[ethernet])),
        ("vlan", ETHERNET, pad(&[&[2; 12], &[0x81, 0, 0, 7, 8, 0]])),
        (
            "three tags",
            ETHERNET,
            pad(&[
                &[2; 12],
                &[0x88, 0xa8, 0, 7, 0x91, 0, 0, 7, 0x81, 0, 0, 7, 8, 0],
            ]),
        ),
        (
            "802.3",
            ETHERNET,
            pad(&[&[2; 12], &[0, packet.len() as u8 + 8], &snap]),
        ),
        (
            "mpls",
            ETHERNET,
            pad(&[&[2; 12], &[0x88, 0x47, 0, 1, 0, 9, 0, 2, 1, 9]]),
        ),
        (
            "pseudowire",
            ETHERNET,
            pad(&[&[2; 12], &[0x88, 0x47, 0, 2, 1, 9], &[0; 4], ethernet]),
        ),
        (
            "bare pseudowire",
            ETHERNET,
            pad(&[&[2; 12], &[0x88, 0x47, 0, 2, 1, 9], ethernet]),
        ),
        (
            "pppoe",
            ETHERNET,
            pad(&[&[2; 12], &[0x88, 0x64, 0x11, 0, 0, 5, 0, 90, 0, 0x21]]),
        ),
        (
            "802.1ah",
            ETHERNET,
            pad(&[&[2; 12], &[0x88, 0xe7, 0, 0, 0, 1], ethernet]),
        ),
        ("raw", 12, packet.clone()),
        ("raw, OpenBSD", 14, packet.clone()),
        ("ipv4", 228, packet.clone()),
        ("null", 0, pad(&[&[2, 0, 0, 0]])),
        ("null, big-endian", 0, pad(&[&[0, 0, 0, 2]])),
        ("loop", 108, pad(&[&[0, 0, 0, 2]])),
        ("enc", 109, pad(&[&[2, 0, 0, 0], &[0; 8]])),
        ("cooked", 113, pad(&[&[0; 14], &[8, 0]])),
        (
            "cooked, vlan",
            113,
            pad(&[&[0; 14], &[0x81, 0, 0, 7, 8, 0]]),
        ),
        ("cooked 2", 276, pad(&[&[8, 0], &[0; 18]])),
        ("ppp", 9, pad(&[&[0xff, 3, 0, 0x21]])),
        ("ppp without address", 9, pad(&[&[0, 0x21]])),
        ("ppp, one byte", 9, pad(&[&[0x21]])),
        ("ppp, hdlc", 50, pad(&[&[0xff, 3, 0, 0x21]])),
        ("ppp, cisco alike", 9, pad(&[&[0x0f, 0, 8, 0]])),
        ("ppp, cisco", 50, pad(&[&[0x0f, 0, 8, 0]])),
        ("ppp, direction", 204, pad(&[&[1, 0xff, 3, 0, 0x21]])),
        ("ppp, direction for address", 166, pad(&[&[1, 3, 0, 0x21]])),
        ("pppoe alone", 51, pad(&[&[0x11, 0, 0, 5, 0, 90, 0, 0x21]])),
        ("cisco hdlc", 104, pad(&[&[0x0f, 0, 8, 0]])),
        ("frame relay", 107, pad(&[&[0x18, 0x41, 3, 0xcc]])),
        ("frame relay, cisco", 107, pad(&[&[0x18, 0x41, 8, 0]])),
        ("fddi", 10, pad(&[&[0x50], &[2; 12], &snap])),
        ("token ring", 6, pad(&[&[0x10, 0x40], &[2; 12], &snap])),
        (
            "token ring, routes",
            6,
            pad(&[&[0x10, 0x40], &[0x82; 12], &[4, 0, 1, 2], &snap]),
        ),
        ("atm", 100, pad(&[&snap])),
        ("wifi", 105, pad(&[&wifi, &snap])),
        ("wifi, qos", 105, pad(&[&wifi_qos, &snap])),
        ("wifi, four addresses", 105, pad(&[&wifi_four, &snap])),
        (
            "radiotap",
            127,
            pad(&[&[0, 0, 8, 0, 0, 0, 0, 0], &wifi, &snap]),
        ),
        (
            "radiotap, padded",
            127,
            pad(&[&radiotap_padded, &wifi_qos, &[0; 2], &snap]),
        ),
        (
            "radiotap, clock",
            127,
            pad(&[&radiotap_clock, &wifi, &snap]),
        ),
        (
            "prism",
            119,
            pad(&[&[0x44, 0, 0, 0, 144, 0, 0, 0], &[0; 136], &wifi, &snap]),
        ),
        (
            "avs",
            163,
            pad(&[&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64], &[0; 56], &wifi, &snap]),
        ),
        (
            "ppi",
            192,
            pad(&[&[0, 0, 8, 0, 105, 0, 0, 0], &wifi, &snap]),
        ),
        (
            "nflog",
            239,
            pad(&[&[2, 0, 0, 0, 5, 0, 10, 0, 1, 0, 0, 0, 84, 0, 9, 0]]),
        ),
        (
            "pktap",
            258,
            pad(&[&[12, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], ethernet]),
        ),
        (
            "mpacket",
            274,
            [pad(&[&[0x55; 7], &[0xd5], ethernet]), vec![0; 4]].concat(),
        ),
        ("ip in ip", RAW, ipv4(4, &packet)),
        (
            "authentication",
            RAW,
            ipv4(51, &pad(&[&[4, 4, 0, 0], &[0; 20]])),
        ),
        ("gre", RAW, ipv4(47, &pad(&[&[0, 0, 8, 0]]))),
        (
            "gre, all flags",
            RAW,
            ipv4(47, &pad(&[&[0xf0, 0, 8, 0], &[0; 12], &[0; 4]])),
        ),
        (
            "gre, ethernet",
            RAW,
            ipv4(47, &pad(&[&[0, 0, 0x65, 0x58], ethernet])),
        ),
        (
            "gre, 802.11",
            RAW,
            ipv4(47, &pad(&[&[0, 0, 0x82, 0], &wifi, &snap])),
        ),
        (
            "erspan 1",
            RAW,
            ipv4(47, &pad(&[&[0, 0, 0x88, 0xbe], ethernet])),
        ),
        (
            "erspan 2",
            RAW,
            ipv4(47, &pad(&[&[0x10, 0, 0x88, 0xbe], &[0; 12], ethernet])),
        ),
        (
            "erspan 3",
            RAW,
            ipv4(47, &pad(&[&[0x10, 0, 0x22, 0xeb], &[1; 24], ethernet])),
        ),
        (
            "pptp",
            RAW,
            ipv4(
                47,
                &pad(&[&[0x30, 0x81, 0x88, 0x0b], &[0; 12], &[0xff, 3, 0x21]]),
            ),
        ),
        ("ether ip", RAW, ipv4(97, &pad(&[&[0x30, 0], ethernet]))),
        ("mpls in ip", RAW, ipv4(137, &pad(&[&[0, 2, 1, 9]]))),
        (
            "vxlan",
            RAW,
            udp(4789, &pad(&[&[8, 0, 0, 0, 0, 0, 1, 0], ethernet])),
        ),
        (
            "vxlan gpe",
            RAW,
            udp(4790, &pad(&[&[0x0c, 0, 0, 1, 0, 0, 1, 0]])),
        ),
        (
            "geneve",
            RAW,
            udp(6081, &pad(&[&[1, 0, 8, 0, 0, 0, 1, 0], &[0; 4]])),
        ),
        (
            "gtp-u",
            RAW,
            udp(2152, &pad(&[&[0x30, 0xff, 0, 90, 0, 0, 0, 1]])),
        ),
        (
            "gtp-u, extensions",
            RAW,
            udp(
                2152,
                &pad(&[
                    &[0x34, 0xff, 0, 90, 0, 0, 0, 1],
                    &[0, 0, 0, 0x85, 1, 0, 9, 0],
                ]),
            ),
        ),
        (
            "l2tp",
            RAW,
            udp(
                1701,
                &pad(&[&[0x40, 2, 0, 90, 0, 1, 0, 1, 0xff, 3, 0, 0x21]]),
            ),
        ),
        ("mpls in udp", RAW, udp(6635, &pad(&[&[0, 2, 1, 9]]))),
        ("in ipv6", RAW, ipv6(4, &packet)),
        (
            "two tunnels",
            RAW,
            ipv4(41, &ipv6(47, &pad(&[&[0, 0, 8, 0]]))),
        ),
    ] {
        let found = match decode_bytes(link, &bytes) {
            Decoded::Segment(segment) => segment,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name}");
    }
}

#[test]
fn ipv6_and_its_extension_headers_lead_to_the_same_segment() {
    let tcp = &tcp_v4()[20..];
    let expected = segment(229, &ipv6(6, tcp));
    assert_eq!((expected.ip_id, expected.ecn), (None, Ecn::Ce));
    for (first, headers) in [
        (0, &[6, 0, 1, 4, 0, 0, 0, 0][..]),
        (
            43,
            &[
                6, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ],
        ),
        (44, &[6, 0, 0, 0, 0, 0, 0, 9]),
        (
            0,
            &[
                60, 0, 0, 0, 0, 0, 0, 0, 51, 0, 0, 0, 0, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0,
            ],
        ),
    ] {
        let found = segment(RAW, &ipv6(first, &[headers, tcp].concat()));
        assert_eq!(found.seq, expected.seq);
        assert_eq!(found.payload_len, expected.payload_len);
        assert_eq!(found.ip_len, expected.ip_len + headers.len() as u32);
        assert!(!found.length_from_frame);
    }
    for (link, family) in [(0, [30, 0, 0, 0]), (0, [0, 0, 0, 28]), (108, [0, 0, 0, 24])] {
        let found = segment(link, &[&family[..], &ipv6(6, tcp)].concat());
        assert_eq!(found.src, expected.src);
    }
}

#[test]
fn every_other_record_is_skipped_for_its_reason() {
    let packet = tcp_v4();
    let mut nested = packet.clone();
    for _ in 0..40 {
        nested = ipv4(4, &nested);
    }
    let ethernet = |ether_type: [u8; 2]| [&[2; 12], &ether_type[..], &[0; 46]].concat();
    let protected = [&[0x08, 0x41, 0, 0][..], &[0; 30]].concat();
    for (skip, link, bytes) in [
        (Skip::UnknownLinkType, 189, packet.clone()),
        (Skip::NonIp, ETHERNET, ethernet([8, 6])),
        (
            Skip::NonIp,
            ETHERNET,
            [&[2; 12], &[0, 38, 0x42, 0x42, 3][..], &[0; 35]].concat(),
        ),
        (Skip::NonIp, 105, vec![0x80; 40]),
        (Skip::Udp, RAW, udp(53, &packet)),
        (Skip::Udp, RAW, udp(4789, &[0; 60])),
        (Skip::Icmp, RAW, ipv4(1, &[3, 1, 0, 0, 0, 0, 0, 0])),
        (Skip::OtherProtocol, RAW, ipv4(89, &[0; 40])),
        (Skip::TooDeep, RAW, nested),
        (Skip::Encrypted, RAW, ipv4(50, &[0; 40])),
        (
            Skip::Encrypted,
            ETHERNET,
            with(&ethernet([0x88, 0xe5]), 14, 0x2c),
        ),
        (Skip::Encrypted, 105, protected),
        // The frame would be read but for the flag of a failed check.
        (
            Skip::BadCheckSequence,
            127,
            [
                &[0, 0, 9, 0, 2, 0, 0, 0, 0x50, 0x08, 1, 0, 0][..],
                &[2; 18],
                &[0; 2],
                &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0],
                &packet,
                &[0; 4],
            ]
            .concat(),
        ),
        (Skip::Compressed, RAW, ipv4(108, &[0; 40])),
        (Skip::Compressed, 9, vec![0xff, 3, 0, 0x2d, 0, 0]),
        (Skip::MalformedLink, ETHERNET, vec![2; 10]),
        (Skip::MalformedIp, RAW, vec![0x55; 60]),
        (Skip::MalformedIp, RAW, packet[..12].to_vec()),
        (Skip::MalformedIp, 228, with(&packet, 0, 0x44)),
        (Skip::MalformedIp, RAW, with(&packet, 3, 19)),
        (Skip::MalformedTcp, RAW, with(&packet, 3, 39)),
        (Skip::MalformedTcp, RAW, with(&packet, 32, 0x40)),
        (Skip::MalformedTcp, RAW, with(&packet, 3, 51)),
        (
            Skip::LaterFragment,
            RAW,
            fragment_of(17, 9, 8, false, &[0; 64]),
        ),
    ] {
        assert_eq!(skipped(link, &bytes), skip, "{link} {bytes:02x?}");
    }
}

#[test]
fn a_tunnel_is_not_entered_when_the_outermost_layer_counts() {
    let options = DecodeOptions {
        layer: TunnelLayer::Outermost,
    };
    let packet = tcp_v4();
    let outcome = |bytes: &[u8]| match decode(&record(RAW, bytes), 0, &options) {
        Decoded::Skipped(skip) => Some(skip),
        _ => None,
    };
    assert_eq!(outcome(&packet), None);
    assert_eq!(outcome(&ipv4(4, &packet)), Some(Skip::Tunnel));
    assert_eq!(outcome(&udp(2152, &packet)), Some(Skip::Udp));
}

#[test]
fn ethernet_padding_is_no_payload() {
    let bare = PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(1, 2, 3, 4);
    let mut frame = Vec::new();
    bare.write(&mut frame, &[]).unwrap();
    frame.resize(64, 0xff);
    assert_eq!(segment(ETHERNET, &frame).payload_len, 0);
}

#[test]
fn an_aggregate_gives_its_first_tcp_segment() {
    let packet = tcp_v4();
    let subframe = |protocol: [u8; 2], body: &[u8]| {
        let len = body.len() as u8 + 8;
        let mut bytes = [
            &[2; 12],
            &[0, len, 0xaa, 0xaa, 3, 0, 0, 0][..],
            &protocol,
            body,
        ]
        .concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let header = [&[0x88, 1, 0, 0][..], &[2; 18], &[0, 0, 0x80, 0]].concat();
    let arp = subframe([8, 6], &[0; 29]);
    let tcp = subframe([8, 0], &packet);
    let found = segment(105, &[&header[..], &arp, &tcp].concat());
    assert_eq!(found.payload_len, segment(RAW, &packet).payload_len);
    // The others are counted and told, but no ARP, and none that is cut off.
    let later = with(&tcp, 14 + 8 + 27, 9);
    let [one, two] = [&packet, &with(&packet, 27, 9)].map(|packet| segment(RAW, packet).seq);
    for (behind, frames, seqs) in [
        (0, vec![&tcp], vec![one]),
        (1, vec![&tcp, &later], vec![one, two]),
        (2, vec![&arp, &tcp, &arp, &later, &tcp], vec![one, two, one]),
    ] {
        let bytes = frames
            .iter()
            .fold(header.clone(), |all, frame| [&all[..], frame].concat());
        for bytes in [bytes.clone(), [&bytes[..], &tcp[..40]].concat()] {
            let (first, others) = match decode_bytes(105, &bytes) {
                Decoded::Segment(one) => (one, 0),
                Decoded::FirstOf(one, others) => (one, others),
                other => panic!("{other:?}"),
            };
            assert_eq!((first.seq, others), (found.seq, behind));
            let mut told = Vec::new();
            let options = DecodeOptions::default();
            decode_each(&record(105, &bytes), 0, &options, &mut |segment| {
                told.push(segment.seq);
            });
            assert_eq!(told, seqs);
        }
    }
    assert_eq!(
        skipped(105, &[&header[..], &arp, &arp].concat()),
        Skip::NonIp
    );
}

#[test]
fn echoes_make_a_ping_series() {
    let Decoded::Echo(echo) = decode_bytes(RAW, &ipv4(1, &[8, 0, 0, 0, 1, 2, 0, 7, 0, 0])) else {
        panic!();
    };
    assert_eq!(
        (echo.kind, echo.identifier, echo.sequence),
        (EchoKind::Request, 0x102, 7)
    );
    assert_eq!(echo.src.to_string(), "192.0.2.1");
    let Decoded::Echo(echo) = decode_bytes(RAW, &ipv6(58, &[129, 0, 0, 0, 1, 2, 0, 8])) else {
        panic!();
    };
    assert_eq!((echo.kind, echo.sequence), (EchoKind::Reply, 8));
}

fn record(link: u16, bytes: &[u8]) -> Record<'_> {
    let original_len = bytes.len() as u32;
    Record {
        frame: 1,
        at: CaptureTime::default(),
        link: LinkType(link),
        bytes,
        original_len,
    }
}

fn decode_bytes(link: u16, bytes: &[u8]) -> Decoded {
    decode(&record(link, bytes), 0, &DecodeOptions::default())
}

fn segment(link: u16, bytes: &[u8]) -> Segment {
    match decode_bytes(link, bytes) {
        Decoded::Segment(segment) => segment,
        other => panic!("{other:?}"),
    }
}

fn skipped(link: u16, bytes: &[u8]) -> Skip {
    match decode_bytes(link, bytes) {
        Decoded::Skipped(skip) => skip,
        other => panic!("{other:?}"),
    }
}

/// A segment of 28 bytes with the timestamps option, in IPv4: 80 bytes.
fn tcp_v4() -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(40_000, 443, 0xdead_beef, 512)
        .ack(0x1234_5678)
        .options(&[
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::Timestamp(7, 9),
        ])
        .unwrap()
        .write(&mut packet, &[0x5a; 28])
        .unwrap();
    packet
}

fn ipv4(protocol: u8, inside: &[u8]) -> Vec<u8> {
    let len = (20 + inside.len()) as u16;
    let mut packet = vec![0x45, 0, 0, 0, 0, 1, 0, 0, 64, protocol, 0, 0];
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    packet.extend([192, 0, 2, 1, 192, 0, 2, 2]);
    packet.extend(inside);
    packet
}

/// IPv6 with ECN bits 11.
fn ipv6(next: u8, inside: &[u8]) -> Vec<u8> {
    let [high, low] = (inside.len() as u16).to_be_bytes();
    let mut packet = vec![0x60, 0x30, 0, 0, high, low, next, 64];
    packet.extend([[0x20; 16], [0x21; 16]].concat());
    packet.extend(inside);
    packet
}

fn udp(port: u16, inside: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0xc0, 0];
    datagram.extend(port.to_be_bytes());
    datagram.extend(((inside.len() + 8) as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(inside);
    ipv4(17, &datagram)
}

fn with(bytes: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] = value;
    bytes
}

/// A fragment at `offset` units of eight bytes.
fn fragment_of(protocol: u8, id: u16, offset: u16, more: bool, inside: &[u8]) -> Vec<u8> {
    let mut packet = ipv4(protocol, inside);
    packet[4..6].copy_from_slice(&id.to_be_bytes());
    packet[6..8].copy_from_slice(&(offset | u16::from(more) << 13).to_be_bytes());
    packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    packet
}
