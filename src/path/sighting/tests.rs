use super::*;

fn packet(dst: Endpoint, protocol: u8, kind: u8) -> IpPacket {
    let mut head = [0; HEAD_LEN];
    head[0] = kind;
    IpPacket {
        src: dst,
        dst,
        protocol,
        len: 72,
        id: None,
        ecn: Ecn::NotEct,
        fragment_offset: 0,
        head,
        head_len: 8,
    }
}

#[test]
fn what_no_router_passes_on_is_told_from_what_one_does() {
    let v6 = |upper: u16, lower: u8| {
        let mut octets = [0; 16];
        octets[..2].copy_from_slice(&upper.to_be_bytes());
        octets[15] = lower;
        Endpoint::v6(octets, 0)
    };
    let (global, link_local) = (v6(0x2001, 1), v6(0xfe80, 1));
    let stays = |dst, protocol, kind| stays_on_link(&packet(dst, protocol, kind));
    // Neighbour solicitation and advertisement, whomever they are for; a router's.
    for dst in [global, link_local, v6(0xff02, 1)] {
        assert!(
            [133, 134, 135, 136, 137]
                .iter()
                .all(|&kind| stays(dst, 58, kind))
        );
    }
    // A report of groups, a name asked for by multicast DNS, the same over IPv4.
    assert!(stays(v6(0xff02, 0x16), 58, 143));
    assert!(stays(v6(0xff02, 0xfb), 17, 0));
    assert!(stays(Endpoint::v4([224, 0, 0, 251], 0), 17, 0));
    assert!(stays(Endpoint::v4([255; 4], 0), 17, 0));
    // An echo request, multicast to a site and to all, TCP beside a bridge, a port that looks alike.
    assert!(!stays(global, 58, 128));
    assert!(!stays(v6(0xff05, 1), 17, 0) && !stays(v6(0xff0e, 1), 17, 0));
    assert!(!stays(link_local, 6, 135) && !stays(global, 17, 135));
    assert!(!stays(Endpoint::v4([224, 0, 1, 1], 0), 17, 0));
    assert!(!stays(Endpoint::v4([10, 0, 0, 255], 0), 17, 0));
    assert!(!stays(Endpoint::v4([10, 0, 0, 1], 0), 1, 135));
}

#[test]
fn packets_without_an_id_look_alike_where_their_headers_are_cut() {
    let told = |protocol: u8, captured: u8, id: Option<u16>, len: u32| {
        let packet = IpPacket {
            head_len: captured,
            id,
            len,
            ..packet(Endpoint::v6([1; 16], 0), protocol, 0)
        };
        let print = Print {
            at: 0,
            frame: 1,
            flow: untracked_flow(&packet),
            packet,
            segment: None,
            checksum: 0,
        };
        print.is_told_apart()
    };
    assert!(!told(TCP, 0, None, 72) && !told(TCP, 7, None, 72));
    assert!(told(TCP, 8, None, 72) && told(TCP, 0, Some(7), 72));
    assert!(!told(UDP, 7, None, 72) && told(UDP, 8, None, 72));
    // All there is of it.
    assert!(told(UDP, 4, None, 44));
}
