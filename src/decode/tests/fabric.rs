//! Encapsulations of switches and meshes, and the tunnels in UDP that have little to tell them by.

use super::*;

const FRAME: [u8; 14] = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 8, 0];

/// Ethernet with these bytes from the ether type on, and the packet.
fn ethernet(header: &[u8]) -> Vec<u8> {
    [&[2; 12], header, &tcp_v4()].concat()
}

fn check(name: &str, link: u16, bytes: &[u8]) {
    let found = match decode_bytes(link, bytes) {
        Decoded::Segment(segment) => segment,
        other => panic!("{name}: {other:?}"),
    };
    let expected = segment(RAW, &tcp_v4());
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name}");
    // Cut before the packet, it is not one of something else; an address that is cut may be IP.
    for cut in 0..bytes.len() - tcp_v4().len() {
        let cut = Record {
            original_len: bytes.len() as u32,
            ..record(link, &bytes[..cut])
        };
        let found = decode(&cut, 0, &DecodeOptions::default());
        assert!(
            matches!(
                found,
                Decoded::Skipped(Skip::HeaderCut | Skip::Udp | Skip::NonIp | Skip::MalformedIp)
            ),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn tags_of_switches_are_passed_over() {
    for (name, header) in [
        ("vn-tag", &[0x89, 0x26, 0x80, 5, 0, 1, 8, 0][..]),
        (
            "vn-tag, vlan",
            &[0x89, 0x26, 0x80, 5, 0, 1, 0x81, 0, 0, 7, 8, 0],
        ),
        ("e-tag", &[0x89, 0x3f, 0, 1, 0, 2, 0, 0, 8, 0]),
        ("hsr", &[0x89, 0x2f, 0, 86, 0, 5, 8, 0]),
        ("cisco metadata", &[0x89, 0x09, 1, 1, 0, 1, 0, 2, 8, 0]),
        (
            "arista, 64 bits",
            &[0xd2, 0x8b, 0, 1, 0, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 8, 0],
        ),
        (
            "arista, 48 bits of UTC",
            &[0xd2, 0x8b, 0, 1, 1, 0x20, 1, 2, 3, 4, 5, 6, 8, 0],
        ),
        ("macsec in clear", &[0x88, 0xe5, 0, 0, 0, 0, 0, 1, 8, 0]),
        (
            "macsec in clear, with its channel",
            &[
                0x88, 0xe5, 0x20, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 1, 8, 0,
            ],
        ),
    ] {
        check(name, ETHERNET, &ethernet(header));
    }
    for (skip, header) in [
        (
            Skip::Encrypted,
            &[0x88, 0xe5, 0x0c, 0, 0, 0, 0, 1, 8, 0][..],
        ),
        // Only the check value is changed: what comes behind is not to be told.
        (Skip::Encrypted, &[0x88, 0xe5, 0x04, 0, 0, 0, 0, 1, 8, 0]),
        (Skip::NonIp, &[0x88, 0xe5, 0x80, 0, 0, 0, 0, 1, 8, 0]),
        (Skip::NonIp, &[0x89, 0x09, 2, 1, 0, 1, 0, 2, 8, 0]),
        (Skip::NonIp, &[0xd2, 0x8b, 0, 2, 0, 0x10, 1, 2, 8, 0]),
    ] {
        assert_eq!(skipped(ETHERNET, &ethernet(header)), skip, "{header:02x?}");
    }
}

#[test]
fn headers_with_a_frame_behind_them_are_entered() {
    let frame_behind = |header: &[u8]| ethernet(&[header, &FRAME].concat());
    for (name, bytes) in [
        ("trill", frame_behind(&[0x22, 0xf3, 0, 1, 0, 1, 0, 2])),
        // The length of options is in bits 5 to 9: one word.
        (
            "trill, options",
            frame_behind(&[0x22, 0xf3, 0, 0x41, 0, 1, 0, 2, 9, 9, 9, 9]),
        ),
        ("fabricpath", frame_behind(&[0x89, 3, 0, 0x40])),
        (
            "batman",
            frame_behind(&[0x43, 5, 0x40, 15, 50, 1, 2, 2, 2, 2, 2, 2]),
        ),
        (
            "batman, two addresses",
            frame_behind(&[
                0x43, 5, 0x42, 15, 50, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 1, 0,
            ]),
        ),
        (
            "nsh",
            frame_behind(&[0x89, 0x4f, 0x0f, 0xc2, 2, 3, 0, 0, 1, 0xff]),
        ),
        (
            "nsh, ipv4",
            ethernet(&[0x89, 0x4f, 0x0f, 0xc2, 2, 1, 0, 0, 1, 0xff]),
        ),
        (
            "nsh, metadata, nsh, mpls",
            ethernet(&[
                0x89, 0x4f, 0x0f, 0xc3, 2, 4, 0, 0, 1, 0xff, 7, 7, 7, 7, 0x0f, 0xc2, 2, 5, 0, 0, 1,
                0xff, 0, 2, 1, 9,
            ]),
        ),
    ] {
        check(name, ETHERNET, &bytes);
    }
    for header in [
        &[0x22, 0xf3, 0x40, 1, 0, 1, 0, 2][..],
        // A fragment, and another version.
        &[0x43, 5, 0x41, 15, 50, 1, 2, 2, 2, 2, 2, 2],
        &[0x43, 5, 0x40, 14, 50, 1, 2, 2, 2, 2, 2, 2],
        // Shorter than its own header, and of no protocol that is known.
        &[0x89, 0x4f, 0x0f, 0xc1, 2, 3, 0, 0, 1, 0xff],
        &[0x89, 0x4f, 0x0f, 0xc2, 2, 9, 0, 0, 1, 0xff],
    ] {
        assert_eq!(
            skipped(ETHERNET, &frame_behind(header)),
            Skip::NonIp,
            "{header:02x?}"
        );
    }
    let endless = [0x0f, 0xc2, 2, 4, 0, 0, 1, 0xff].repeat(100);
    let endless = [&[2; 12], &[0x89, 0x4f][..], &endless].concat();
    assert_eq!(skipped(ETHERNET, &endless), Skip::TooDeep);
}

#[test]
fn a_pseudowire_without_a_control_word_is_told_by_what_ip_would_say() {
    for first in [0x4c, 0x45, 0x60, 0x6c, 0x1c] {
        let frame = with(&FRAME, 0, first);
        let label = [0x88, 0x47, 0, 2, 1, 9];
        check(
            "pseudowire",
            ETHERNET,
            &ethernet(&[&label[..], &frame].concat()),
        );
    }
    // IP from addresses that look like an ether type stays IP, padded or not.
    let mut packet = tcp_v4();
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[10..12].copy_from_slice(&[0, 0]);
    let mut frame = [&[2; 12], &[0x88, 0x47, 0, 2, 1, 9][..], &packet].concat();
    assert_eq!(segment(ETHERNET, &frame).src.ip().to_string(), "8.0.0.1");
    let sum: u32 = packet[..20]
        .chunks(2)
        .map(|two| u32::from(two[0]) << 8 | u32::from(two[1]))
        .sum();
    let sum = !((sum >> 16) as u16 + sum as u16);
    frame[28..30].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(segment(ETHERNET, &frame).src.ip().to_string(), "8.0.0.1");
    // Also with a wrong checksum, as no IP is behind what would be an Ethernet header.
    frame[28] ^= 1;
    assert_eq!(segment(ETHERNET, &frame).src.ip().to_string(), "8.0.0.1");
    let mut packet = ipv6(6, &tcp_v4()[20..]);
    packet[12..14].copy_from_slice(&[8, 0]);
    let frame = [&[2; 12], &[0x88, 0x47, 0, 2, 1, 9][..], &packet, &[0; 10]].concat();
    assert!(segment(ETHERNET, &frame).src.ip().is_ipv6());
}

#[test]
fn tunnels_in_ip_lead_to_the_same_segment() {
    let packet = tcp_v4();
    let pad = |prefix: &[&[u8]]| [prefix, &[&packet]].concat().concat();
    for (name, bytes) in [
        ("ethernet", ipv6(143, &pad(&[&FRAME]))),
        ("wccp", ipv4(47, &pad(&[&[0, 0, 0x88, 0x3e]]))),
        (
            "wccp 2",
            ipv4(47, &pad(&[&[0, 0, 0x88, 0x3e, 0x40, 0, 1, 1]])),
        ),
        (
            "nsh in gre",
            ipv4(
                47,
                &pad(&[&[0, 0, 0x89, 0x4f, 0x0f, 0xc2, 2, 3, 0, 0, 1, 0xff], &FRAME]),
            ),
        ),
        (
            "nsh in vxlan gpe",
            udp(
                4790,
                &pad(&[
                    &[0x0c, 0, 0, 4, 0, 0, 7, 0],
                    &[0x0f, 0xc2, 2, 1, 0, 0, 1, 0xff],
                ]),
            ),
        ),
        (
            "gtp-u, ethernet",
            udp(2152, &pad(&[&[0x30, 0xff, 0, 94, 0, 0, 0, 1], &FRAME])),
        ),
        (
            "gtp-u, ethernet that begins like IP",
            udp(
                2152,
                &pad(&[&[0x30, 0xff, 0, 94, 0, 0, 0, 1], &with(&FRAME, 0, 0x46)]),
            ),
        ),
        ("lisp", udp(4341, &pad(&[&[0x80, 0, 0, 1, 0, 0, 0, 1]]))),
        (
            "lisp, the first fragment",
            fragment_of(17, 9, 0, true, &udp(4341, &pad(&[&[0; 8]]))[20..100]),
        ),
        (
            "gre in udp",
            udp(4754, &pad(&[&[0x20, 0, 8, 0, 0, 0, 0, 1]])),
        ),
        ("gue", udp(6080, &pad(&[&[1, 4, 0, 0, 9, 9, 9, 9]]))),
        ("gue, alone", udp(6080, &packet)),
        (
            "capwap",
            udp(5247, &pad(&[&[0, 0x10, 2, 0, 0, 0, 0, 0], &FRAME])),
        ),
        (
            "capwap, 802.11",
            udp(
                5247,
                &pad(&[
                    &[0, 0x10, 3, 0, 0, 0, 0, 0],
                    &[0x08, 1, 0, 0],
                    &[2; 18],
                    &[0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0],
                ]),
            ),
        ),
        (
            "capwap, 802.11 turned round",
            udp(
                5247,
                &pad(&[
                    &[0, 0x10, 3, 0, 0, 0, 0, 0],
                    &[0x11, 0x08, 0, 0],
                    &[2; 18],
                    // The 1891st frame, whole: not the sixth part of the 775th.
                    &[0x76, 0x30, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0],
                ]),
            ),
        ),
        // An identity of 16 bytes, a signature of 20.
        (
            "ayiya",
            udp(
                5072,
                &pad(&[&[0x41, 0x52, 0x11, 4], &[9; 4], &[7; 16 + 20]]),
            ),
        ),
        (
            "tzsp",
            udp(37_008, &pad(&[&[1, 0, 0, 1, 0, 10, 1, 0xd0, 1], &FRAME])),
        ),
    ] {
        check(name, RAW, &bytes);
    }
}

#[test]
fn udp_that_only_uses_such_a_port_is_no_tunnel() {
    let packet = tcp_v4();
    let broken = with(&packet, 8, 1);
    let blank = with(&with(&packet, 10, 0), 11, 0);
    for (port, inside) in [
        // IP whose checksum is wrong, or missing where there is less than it says.
        (4341, [&[0x80, 0, 0, 1, 0, 0, 0, 1][..], &broken].concat()),
        (
            4341,
            [&[0x80, 0, 0, 1, 0, 0, 0, 1][..], &blank[..60]].concat(),
        ),
        (4341, vec![0x45; 60]),
        (4754, [&[0x0f, 0, 8, 0][..], &packet].concat()),
        (6080, [&[0x20, 4, 0, 0][..], &packet].concat()),
        (6080, [&[0, 17, 0, 0][..], &packet].concat()),
        (6080, broken),
        // To keep alive; of no binding; without a frame.
        (
            5247,
            [&[0, 0x10, 2, 8, 0, 0, 0, 0][..], &FRAME, &packet].concat(),
        ),
        (
            5247,
            [&[0, 0x10, 0, 0, 0, 0, 0, 0][..], &FRAME, &packet].concat(),
        ),
        (5247, [&[0, 0x10, 2, 0, 0, 0, 0, 0][..], &packet].concat()),
        // A heartbeat; of neither version.
        (
            5072,
            [&[0x01, 0, 0x10, 4, 0, 0, 0, 0, 7][..], &packet].concat(),
        ),
        (
            5072,
            [&[0x01, 0, 0x11, 59, 0, 0, 0, 0, 7][..], &packet].concat(),
        ),
        // As of QUIC towards a port of a client's.
        (37_008, vec![0x40; 60]),
        (37_008, [&[1, 0, 0, 1][..], &[0; 60]].concat()),
    ] {
        assert_eq!(skipped(RAW, &udp(port, &inside)), Skip::Udp, "{port}");
    }
    let dtls = [
        1, 0, 0, 0, 23, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 1, 0, 2, 7, 7,
    ];
    assert_eq!(skipped(RAW, &udp(5247, &dtls)), Skip::Encrypted);
    let second = [&[0, 0x10, 2, 0x80, 0, 1, 0, 8][..], &packet].concat();
    assert_eq!(skipped(RAW, &udp(5247, &second)), Skip::LaterFragment);
}

#[test]
fn random_datagrams_to_the_port_of_a_tunnel_are_none() {
    // As of an encrypted download to a client that has such a port.
    let mut state = 7_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    for port in [6635, 3544, 4341, 6080, 30_030] {
        for _ in 0..20_000 {
            let inside: Vec<u8> = std::iter::repeat_with(&mut random).take(200).collect();
            let mut packet = udp(port, &inside);
            // Most of them get no further than the first bytes: as of addresses and labels that lead on.
            packet[28 + 2] |= 1;
            packet[28 + 4] = 0x60 | packet[28 + 4] & 0xf;
            packet[28] = 0x60 | packet[28] & 0xf;
            let found = decode_bytes(RAW, &packet);
            assert!(matches!(found, Decoded::Skipped(_)), "{port}: {found:?}");
        }
    }
}

#[test]
fn what_is_in_udp_tunnels_and_pseudowires_is_left_out_where_tunnels_are() {
    let options = DecodeOptions {
        layer: TunnelLayer::Outermost,
    };
    let packet = tcp_v4();
    let frame = [&FRAME[..], &packet].concat();
    let vxlan = udp(4789, &[&[8, 0, 0, 0, 0, 0, 0, 0][..], &frame].concat());
    let plain = udp(4789, &[0x40; 60]);
    let mpls = |inside: &[u8]| [&[2; 12], &[0x88, 0x47, 0, 1, 1, 9][..], inside].concat();
    for (link, bytes, skip) in [
        (RAW, vxlan, Some(Skip::Tunnel)),
        (
            RAW,
            udp(5247, &[1, 0, 0, 0, 23, 0xfe, 0xfd, 0, 1, 0, 0]),
            Some(Skip::Tunnel),
        ),
        (RAW, plain, Some(Skip::Udp)),
        (
            ETHERNET,
            mpls(&[&[0; 4][..], &frame].concat()),
            Some(Skip::Tunnel),
        ),
        // Labels are no tunnel of their own.
        (ETHERNET, mpls(&packet), None),
    ] {
        let found = match decode(&record(link, &bytes), 0, &options) {
            Decoded::Skipped(skip) => Some(skip),
            _ => None,
        };
        assert_eq!(found, skip, "{bytes:02x?}");
    }
    // The outermost IP packet is that of the frame.
    let bytes = mpls(&[&[0; 4][..], &frame].concat());
    let (found, packet) = decode_packet(&record(ETHERNET, &bytes), 0, &options);
    assert!(matches!(found, Decoded::Segment(_)), "{found:?}");
    assert_eq!(packet.unwrap().src.ip(), segment(RAW, &tcp_v4()).src.ip());
}

#[test]
fn ethernet_in_l2tp_of_version_3_is_told_by_making_sense() {
    let expected = format!("{:?}", segment(RAW, &tcp_v4()));
    let session = |number: u8, between: usize, frame: &[u8]| {
        [&[0, 0, 0, number], &vec![9; between][..], frame, &tcp_v4()].concat()
    };
    let in_udp = |message: &[u8]| udp(1701, &[&[0, 3, 0, 0], message].concat());
    // Cookies of 0, 4 and 8 bytes, each with a header of 4 and without.
    for between in [0, 4, 8, 12] {
        let message = session(7, between, &FRAME);
        for bytes in [ipv4(115, &message), in_udp(&message)] {
            let found = format!("{:?}", segment(RAW, &bytes));
            assert_eq!(found, expected, "{between} bytes");
        }
    }
    // Control messages, and what is no frame, wherever it begins.
    for message in [session(0, 4, &FRAME), session(7, 4, &[])] {
        assert_eq!(skipped(RAW, &ipv4(115, &message)), Skip::OtherProtocol);
        assert_eq!(skipped(RAW, &in_udp(&message)), Skip::Udp);
    }
}

#[test]
fn each_type_of_arubas_gre_holds_802_11() {
    let of = |kind: u16| {
        let frame = [&[0x08, 1, 0, 0][..], &[2; 18], &[0, 0]].concat();
        let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        let gre = [&[0, 0], &kind.to_be_bytes()[..], &frame, &snap];
        ipv4(47, &[&gre.concat()[..], &tcp_v4()].concat())
    };
    // Wireshark has GRE_ARUBA_8200 to GRE_ARUBA_8370, sixteen apart, and Zeek 0x9000 beside them.
    for kind in (0x8200..=0x8370).step_by(0x10).chain([0x9000]) {
        check(&format!("{kind:04x}"), RAW, &of(kind));
    }
    for kind in [0x81f0, 0x8201, 0x820f, 0x8380, 0x9010] {
        assert_eq!(skipped(RAW, &of(kind)), Skip::NonIp, "{kind:04x}");
    }
}

#[test]
fn ethernet_in_ip_of_mikrotik_is_entered() {
    let of = |header: [u8; 8]| ipv4(47, &[&header[..], &FRAME, &tcp_v4()].concat());
    // A frame of 94 bytes in tunnel 25, whose number alone has its low byte first.
    let whole = of([0x20, 1, 0x64, 0, 0, 94, 25, 0]);
    check("eoip", RAW, &whole);
    check(
        "eoip, the first fragment",
        RAW,
        &fragment_of(47, 9, 0, true, &whole[20..100]),
    );
    for (skip, bytes) in [
        // To keep it alive.
        (Skip::NonIp, ipv4(47, &[0x20, 1, 0x64, 0, 0, 0, 25, 0])),
        (Skip::NonIp, of([0x20, 0, 0x64, 0, 0, 94, 25, 0])),
        (Skip::OtherProtocol, of([0x30, 1, 0x64, 0, 0, 94, 25, 0])),
        (Skip::OtherProtocol, of([0x20, 1, 0x64, 1, 0, 94, 25, 0])),
    ] {
        assert_eq!(skipped(RAW, &bytes), skip, "{bytes:02x?}");
    }
}

#[test]
fn a_frame_on_a_trunk_of_ciscos_is_in_another() {
    // To 01-00-0c-00-00, and in the bits behind that what kind of frame is inside.
    let of = |last: u8, frame: &[u8]| {
        let len = (12 + frame.len() + 4) as u16;
        let header = [
            &[1, 0, 0x0c, 0, 0, last],
            &[2; 6][..],
            &len.to_be_bytes(),
            &[0xaa, 0xaa, 3, 0, 0, 0x0c, 0, 0x14, 0, 0, 0, 0],
        ];
        [&header.concat()[..], frame].concat()
    };
    let frame = [&FRAME[..], &tcp_v4()].concat();
    check("isl", ETHERNET, &of(3, &frame));
    // Token ring, and a frame that is shorter than what comes before it.
    assert_eq!(skipped(ETHERNET, &of(0x10, &frame)), Skip::NonIp);
    let short = with(&of(3, &frame), 13, 11);
    assert_eq!(skipped(ETHERNET, &short), Skip::MalformedLink);
    let endless = (0..40).fold(frame, |inside, _| of(0, &inside));
    assert_eq!(skipped(ETHERNET, &endless), Skip::TooDeep);
    // Without a length in IP there is that of the frame, less its check sequence.
    let open = with(&with(&tcp_v4(), 2, 0), 3, 0);
    let mut bytes = of(0, &[&FRAME[..], &open].concat());
    bytes.extend([9; 8]);
    assert_eq!(segment(ETHERNET, &bytes).payload_len, 28);
}

#[test]
fn older_tunnels_in_udp_are_entered() {
    // GTP of version 0 (3GPP TS 09.60 section 6), of which the last eight bytes are whose tunnel it is.
    let gtp = |flags: u8, message: u8| {
        let header = [&[flags, message, 0, 80], &[0; 8][..], &[9; 8]];
        udp(3386, &[&header.concat()[..], &tcp_v4()].concat())
    };
    check("gtp 0", RAW, &gtp(0x1e, 0xff));
    // Charging (GTP'), version 1, an echo.
    for (flags, message) in [(0x0e, 0xff), (0x30, 0xff), (0x1e, 1)] {
        assert_eq!(skipped(RAW, &gtp(flags, message)), Skip::Udp);
    }
    // LWAPP data (RFC 5412): flags, a fragment's number, a length, status.
    let lwapp = |flags: u8, control: [u8; 2]| {
        let frame = [&control, &[0; 22][..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat();
        let len = (frame.len() + tcp_v4().len()) as u8;
        let header = [flags, 0, 0, len, 0, 0];
        udp(12_222, &[&header, &frame[..], &tcp_v4()].concat())
    };
    check("lwapp", RAW, &lwapp(0, [8, 2]));
    check("lwapp, radio 1, first part", RAW, &lwapp(0x0b, [8, 2]));
    check("lwapp, turned round", RAW, &lwapp(0, [2, 8]));
    // From a controller, which answers from the port for control.
    let mut answer = lwapp(0, [2, 8]);
    answer[20..24].copy_from_slice(&[0x2f, 0xbf, 0x4e, 0x89]);
    check("lwapp, answer", RAW, &answer);
    // Control, another version, management; the last part.
    for (flags, control) in [(4, [8, 2]), (0x40, [8, 2]), (0, [0x80, 0])] {
        assert_eq!(skipped(RAW, &lwapp(flags, control)), Skip::Udp);
    }
    assert_eq!(skipped(RAW, &lwapp(2, [8, 2])), Skip::LaterFragment);
    // What some client sends from such a port has no such length.
    let client = with(&lwapp(2, [8, 2]), 31, 1);
    assert_eq!(skipped(RAW, &client), Skip::Udp);
    // What Juniper mirrors: who asked for it and which session it is of.
    let mirrored = |inside: &[u8]| udp(30_030, &[&[0, 0, 0, 1, 0, 0, 0, 2], inside].concat());
    check("jmirror", RAW, &mirrored(&tcp_v4()));
    let broken = with(&tcp_v4(), 8, 1);
    assert_eq!(skipped(RAW, &mirrored(&broken)), Skip::Udp);
}
