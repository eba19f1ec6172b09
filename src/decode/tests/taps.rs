//! Headers of capturing systems.

use super::*;

/// That a header of this link type leads to the segment behind it, and that what is cut is called so.
fn check(name: &str, link: u16, header: &[u8]) {
    let packet = tcp_v4();
    let bytes = [header, &packet].concat();
    let found = segment(link, &bytes);
    assert_eq!(
        format!("{found:?}"),
        format!("{:?}", segment(RAW, &packet)),
        "{name}"
    );
    for cut in 0..header.len() {
        let cut = Record {
            original_len: bytes.len() as u32,
            ..record(link, &bytes[..cut])
        };
        let found = decode(&cut, 0, &DecodeOptions::default());
        assert!(
            matches!(found, Decoded::Skipped(Skip::HeaderCut)),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn what_capturing_systems_put_before_a_packet_is_passed_over() {
    let ethernet = [&[0x02; 12], &[8, 0][..]].concat();
    let with = |header: &[u8]| [header, &ethernet].concat();
    check("c_hdlc with direction", 205, &[1, 0x0f, 0, 8, 0]);
    check("frame relay with direction", 206, &[0, 0x18, 0x41, 3, 0xcc]);
    // FreeBSD's two lengths, padded to 64 and 72; OpenBSD's.
    for (len, padded) in [(61, 64), (69, 72), (100, 100)] {
        check(
            "pflog",
            117,
            &[&[len, 2][..], &vec![0; padded - 2]].concat(),
        );
    }
    // Type 2 is Ethernet; with its first bit, an extension header follows, and one more.
    let erf = |kind: u8| [&[0; 8], &[kind, 4, 0, 98, 0, 0, 0, 80][..]].concat();
    check("erf", 197, &with(&[&erf(2)[..], &[0; 2]].concat()));
    check(
        "erf, coloured",
        175,
        &with(&[&erf(11)[..], &[0; 2]].concat()),
    );
    check(
        "erf, extended",
        197,
        &with(
            &[
                &erf(0x82)[..],
                &[0x83, 0, 0, 0, 0, 0, 0, 1],
                &[3; 8],
                &[0; 2],
            ]
            .concat(),
        ),
    );
    check("erf, ipv4", 197, &erf(22));
    check("juniper", 178, &with(b"MGC\x01"));
    check(
        "juniper, extended",
        178,
        &with(b"MGC\x80\x00\x03\x02\x01\x04"),
    );
    check("juniper, no ethernet", 178, b"MGC\x03\x02\x00\x00\x00");
    let pppoe = [&[2; 12][..], b"\x88\x64\x11\0\0\x01\0\x42\0\x21"].concat();
    check("juniper's pppoe", 167, &[b"MGC\0", &pppoe[..]].concat());
    check("juniper's ppp", 179, b"MGC\x01\0\x21");
    check("juniper's frame relay", 180, b"MGC\0\x18\x41\x03\xcc");
    check("juniper's hdlc", 181, b"MGC\0\x0f\0\x08\0");
    check("juniper's hdlc, without", 181, b"MGC\x02\x02\0\0\0");
    check("juniper's ggsn, without", 133, b"MGC\x03\x02\0\0\0");
    check("juniper's voice", 183, &[b"MGC\0", &[0; 18][..]].concat());
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let atm = |cookie: usize| [b"MGC\0", &vec![0; cookie][..], &snap].concat();
    check("juniper's atm", 137, &atm(4));
    check("juniper's other atm", 135, &atm(8));
    check("juniper's atm without llc", 135, b"MGC\0\0\0\0\0\0\0\0\0");
    check("sun's atm", 123, &[&[2, 0, 0, 32][..], &snap].concat());
    check(
        "ip over fibre channel",
        122,
        &[&[0; 16][..], &snap].concat(),
    );
    check("solaris", 226, &[&[1, 2][..], &[0; 22]].concat());
    check("slip", 8, &[&[1, 0x45][..], &[0; 14]].concat());
    check(
        "ip over infiniband",
        242,
        &[&[0; 40][..], &[8, 0, 0, 0]].concat(),
    );
    let tagged = |tag: &[u8]| [&[2; 12][..], tag, &[8, 0]].concat();
    check("broadcom", 281, &tagged(&[0, 0, 0, 1]));
    check("broadcom, in front", 282, &with(&[0, 0, 0, 1]));
    check("marvell", 284, &tagged(&[0xc0, 8, 0, 1]));
    check(
        "marvell, with ether type",
        285,
        &tagged(&[0xda, 0xda, 0, 0, 0xc0, 8, 0, 1]),
    );
    check("exported ip", 252, b"\0\x0c\0\x04ip\0\0\0\0\0\0");
    check(
        "exported ethernet, behind another tag",
        252,
        &with(b"\0\x14\0\x04\x01\x02\x03\x04\0\x0c\0\x10eth_withoutfcs\0\0\0\0\0\0"),
    );
}

#[test]
fn loopback_may_say_an_ether_type() {
    // As Wireshark has it: above what a length can be, a family is none; in either byte order.
    check("loopback, ether type", 0, &[0, 0, 8, 0]);
    check("loopback, ether type, turned round", 0, &[0, 8, 0, 0]);
    check("loop, vlan", 108, &[0, 0, 0x81, 0, 0, 7, 8, 0]);
    let v6 = ipv6(6, &tcp_v4()[20..]);
    let found = segment(0, &[&[0xdd, 0x86, 0, 0], &v6[..]].concat());
    assert_eq!(found.src, segment(229, &v6).src);
    let arp = [&[0, 0, 8, 6], &[0; 28][..]].concat();
    assert_eq!(skipped(0, &arp), Skip::NonIp);
    // No family, and a length rather than a type.
    let other = [&[0, 0, 5, 0xdc], &tcp_v4()[..]].concat();
    assert_eq!(skipped(0, &other), Skip::NonIp);
}

#[test]
fn arcnet_has_short_headers() {
    // Two addresses, on Linux an offset, then 212 for IP, a split flag and a number (RFC 1201 section 2).
    check("arcnet", 7, &[1, 2, 212, 0, 0, 9]);
    check("arcnet, linux", 129, &[1, 2, 0xa8, 0xe7, 212, 0, 0, 9]);
    // That a frame gets as long as the hardware needs it.
    check("padded", 7, &[1, 2, 212, 0xff, 0xff, 0xff, 212, 0, 0, 9]);
    // The first of two parts; RFC 1051 has neither flag nor number.
    check("arcnet, first part", 7, &[1, 2, 212, 1, 0, 9]);
    check("arcnet, older", 7, &[1, 2, 240]);
    let v6 = ipv6(6, &tcp_v4()[20..]);
    let found = segment(7, &[&[1, 2, 196, 0, 0, 9], &v6[..]].concat());
    assert_eq!(found.src, segment(229, &v6).src);
    let of = |header: &[u8]| skipped(7, &[header, &tcp_v4()].concat());
    assert_eq!(of(&[1, 2, 212, 2, 0, 9]), Skip::LaterFragment);
    assert_eq!(of(&[1, 2, 213, 0, 0, 9]), Skip::NonIp);
}

#[test]
fn a_header_that_says_otherwise_is_no_way_to_a_packet() {
    let packet = tcp_v4();
    let of = |link: u16, header: &[u8]| skipped(link, &[header, &packet].concat());
    assert_eq!(of(117, &[0; 64]), Skip::MalformedLink);
    assert_eq!(of(178, b"MGD\0"), Skip::MalformedLink);
    assert_eq!(of(133, b"MGC\x01"), Skip::UnknownLinkType);
    assert_eq!(of(181, b"MGC\0\x8f\0\0\x01"), Skip::NonIp);
    // ERF of ATM, and extension headers without end.
    assert_eq!(
        of(197, &[[0; 8], [3, 0, 0, 0, 0, 0, 0, 0]].concat()),
        Skip::NonIp
    );
    assert_eq!(skipped(197, &[0xff; 1000]), Skip::MalformedLink);
    // Exported TCP has no addresses; nor has what no tag names.
    assert_eq!(of(252, b"\0\x0c\0\x04tcp\0\0\0\0\0"), Skip::NonIp);
    assert_eq!(of(252, &[0; 4]), Skip::NonIp);
    assert_eq!(of(252, &[0xff; 8]), Skip::MalformedLink);
}
