//! Packets by etherparse's builder, and packets broken at random.

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice, VlanId};
use proptest::prelude::*;

use super::*;

proptest! {
    /// Whatever a record holds, decoding it ends, and says something.
    #[test]
    fn any_bytes_under_any_link_type_are_decoded(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        link in prop::sample::select(LINK_TYPES),
        original_len: u32,
    ) {
        let record = Record { original_len, ..record(link, &bytes) };
        let mut table = FragmentTable::new();
        if let Decoded::Fragment(fragment) = decode(&record, 0, &DecodeOptions::default()) {
            table.push(fragment);
        }
    }

    /// Random bytes seldom get far: packets of every kind, with a few bytes changed, do.
    #[test]
    fn damaged_packets_are_decoded(
        kind in 0..8_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut: prop::sample::Index,
    ) {
        let packet = tcp_v4();
        let mut bytes = match kind {
            0 => packet,
            1 => ipv6(0, &[&[6, 0, 0xc2, 4, 0, 0, 1, 0], &packet[20..]].concat()),
            2 => ipv4(47, &[&[0x10, 0, 0x88, 0xbe], &[0; 12][..], &[2; 12], &[8, 0], &packet].concat()),
            3 => udp(2152, &[&[0x34, 0xff, 0, 90, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0], &packet[..]].concat()),
            4 => udp(1701, &[&[0x4a, 2, 0, 90, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0xff, 3, 0, 0x21], &packet[..]].concat()),
            5 => udp(3544, &ipv6(6, &packet[20..])),
            6 => fragment_of(6, 1, 0, false, &packet[20..]),
            _ => ipv6(44, &[&[60, 0, 0, 1, 0, 0, 0, 5, 6, 0, 1, 4, 0, 0, 0, 0], &packet[20..]].concat()),
        };
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= value;
        }
        let cut = cut.index(bytes.len() + 1);
        let record = Record { original_len: bytes.len() as u32, ..record(RAW, &bytes[..cut]) };
        let mut table = FragmentTable::new();
        if let Decoded::Fragment(fragment) = decode(&record, 0, &DecodeOptions::default()) {
            let segments = u64::from(table.push(fragment).is_some());
            prop_assert_eq!(segments + table.skipped().total(), 1);
        }
    }

    /// What etherparse's own slicer finds in a packet, damaged or not, is what is found here.
    #[test]
    fn decoding_agrees_with_etherparse(
        version in prop::sample::select(&[4_u8, 6][..]),
        vlan in 0_u16..3,
        payload in prop::collection::vec(any::<u8>(), 0..80),
        ports: (u16, u16),
        numbers: (u32, u32, u16),
        options in prop::collection::vec(tcp_option(), 0..3),
        flags: (bool, bool, bool, bool),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let link = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let id = VlanId::try_new(vlan).unwrap();
        let ip = match (vlan, version) {
            (0, 4) => link.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
            (0, _) => link.ipv6([1; 16], [2; 16], 64),
            (1, 4) => link.single_vlan(id).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
            (1, _) => link.single_vlan(id).ipv6([1; 16], [2; 16], 64),
            (_, 4) => link.double_vlan(id, id).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
            _ => link.double_vlan(id, id).ipv6([1; 16], [2; 16], 64),
        };
        let mut tcp = ip
            .tcp(ports.0, ports.1, numbers.0, numbers.2)
            .options(&options)
            .unwrap();
        if flags.0 { tcp = tcp.ack(numbers.1); }
        if flags.1 { tcp = tcp.syn(); }
        if flags.2 { tcp = tcp.fin(); }
        if flags.3 { tcp = tcp.ece().psh(); }
        let mut bytes = Vec::new();
        tcp.write(&mut bytes, &payload).unwrap();
        if let Some((at, value)) = damage {
            let at = at.index(bytes.len());
            bytes[at] ^= value;
        }

        let oracle = LaxSlicedPacket::from_ethernet(&bytes).unwrap();
        let found = decode_bytes(ETHERNET, &bytes);
        match (&found, &oracle.transport) {
            (Decoded::Segment(found), Some(TransportSlice::Tcp(tcp))) => {
                prop_assert_eq!(found.seq, Seq(tcp.sequence_number()));
                prop_assert_eq!(found.ack, Seq(tcp.acknowledgment_number()));
                prop_assert_eq!(found.src.port(), tcp.source_port());
                prop_assert_eq!(found.dst.port(), tcp.destination_port());
                prop_assert_eq!(found.window, tcp.window_size());
                let flags = found.flags;
                prop_assert_eq!(flags.has(TcpFlags::ACK), tcp.ack());
                prop_assert_eq!(flags.has(TcpFlags::SYN), tcp.syn());
                prop_assert_eq!(flags.has(TcpFlags::FIN), tcp.fin());
                prop_assert_eq!(flags.has(TcpFlags::RST), tcp.rst());
                prop_assert_eq!(flags.has(TcpFlags::PSH), tcp.psh());
                prop_assert_eq!(flags.has(TcpFlags::URG), tcp.urg());
                prop_assert_eq!(flags.has(TcpFlags::ECE), tcp.ece());
                prop_assert_eq!(flags.has(TcpFlags::CWR), tcp.cwr());
                prop_assert_eq!(flags.has(TcpFlags::AE), tcp.ns());
                match oracle.net {
                    Some(LaxNetSlice::Ipv4(ip)) => {
                        prop_assert_eq!(found.src.ip(), ip.header().source_addr());
                        prop_assert_eq!(found.ip_id, Some(ip.header().identification()));
                    }
                    Some(LaxNetSlice::Ipv6(ip)) => {
                        prop_assert_eq!(found.src.octets(), ip.header().source());
                        prop_assert_eq!(found.dst.octets(), ip.header().destination());
                    }
                    other => prop_assert!(false, "{other:?}"),
                }
                // The oracle's payload is what was captured; the IP header may have said more. The text of an RST is
                // none.
                let (len, text) = (found.payload_len as usize, tcp.payload().len());
                let fits = if tcp.rst() { len == 0 } else { len >= text };
                prop_assert!(fits);
                if damage.is_none() && !tcp.rst() {
                    prop_assert_eq!(len, payload.len());
                }
                let stamps = tcp.options_iterator().map_while(Result::ok).fold(None, |last, option| {
                    match option {
                        TcpOptionElement::Timestamp(value, echo) => Some(Timestamps { value, echo }),
                        _ => last,
                    }
                });
                // etherparse stops at options whose length is not the standard's; here they are
                // passed over, so stamps may be found behind them.
                if stamps.is_some() {
                    prop_assert_eq!(found.timestamps, stamps);
                }
            }
            (Decoded::Segment(_), other) => {
                // It does not look into tunnels or behind MPLS, nor believe a length beyond the
                // slice; one changed byte can make none of these.
                prop_assert!(damage.is_some(), "{other:?}");
            }
            (_, _) => {
                prop_assert!(damage.is_some(), "{found:?}");
            }
        }
    }
}

fn tcp_option() -> impl Strategy<Value = TcpOptionElement> {
    prop_oneof![
        Just(TcpOptionElement::Noop),
        any::<u16>().prop_map(TcpOptionElement::MaximumSegmentSize),
        any::<u8>().prop_map(TcpOptionElement::WindowScale),
        Just(TcpOptionElement::SelectiveAcknowledgementPermitted),
        any::<(u32, u32)>()
            .prop_map(|block| { TcpOptionElement::SelectiveAcknowledgement(block, [None; 3]) }),
        any::<(u32, u32)>().prop_map(|(value, echo)| TcpOptionElement::Timestamp(value, echo)),
    ]
}

/// Every link type that is decoded, and one that is not.
const LINK_TYPES: &[u16] = &[
    0, 1, 6, 7, 9, 10, 11, 12, 14, 50, 51, 100, 101, 104, 105, 107, 108, 109, 113, 119, 127, 129,
    149, 163, 166, 189, 192, 204, 219, 228, 229, 239, 258, 274, 276,
];
