//! What to say where no flow was found, as far as the packets tell why.

use crate::analyze::CaptureAnalysis;
use crate::capture::LinkType;
use crate::decode::{Skip, Tally};

/// What kind of flow was not found in any of these captures, why, and what to do: behind `no`.
pub(in crate::report) fn nothing_found(captures: &[CaptureAnalysis]) -> String {
    let mut skipped = Tally::default();
    let (mut records, mut tcp, mut has_udp) = (0, 0, false);
    for capture in captures {
        records += capture.records;
        tcp += capture.tcp_records;
        skipped.merge(&capture.skipped);
        has_udp |= capture.has_udp;
    }
    let are_whole = captures.iter().all(|capture| capture.error().is_none());
    let why = if records == 0 && are_whole {
        Some(NO_PACKET.to_owned())
    } else {
        why(records, tcp, &skipped, has_udp)
    };
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let what = if has_udp { "flow" } else { "TCP flow" };
    format!("{what} with payload{why}")
}

const NO_PACKET: &str =
    "no packet was captured; check the interface, and the filter that it was captured with";

/// `has_udp`: conversations of UDP count, too.
fn why(records: u64, tcp: u64, skipped: &Tally, has_udp: bool) -> Option<String> {
    let filtered = skipped.count(Skip::Filtered);
    let looked_at = records - filtered;
    if records > 0 && looked_at == 0 {
        return Some("no packet matches the filter".to_owned());
    }
    // What is said of nearly nothing would be beside the point.
    let is_most = |count: u64| 2 * count > looked_at;
    if is_most(skipped.count(Skip::UnknownLinkType)) {
        return skipped.unknown_link().map(unknown);
    }
    let count_of = |reasons: &[Skip]| reasons.iter().map(|&skip| skipped.count(skip)).sum();
    let told = |list: &[(&[Skip], &str)]| {
        list.iter().find_map(|&(reasons, text)| {
            let count = count_of(reasons);
            let number = if count == looked_at { "all" } else { "most" };
            let text = match reasons {
                [Skip::Udp] if has_udp => UDP_WITHOUT,
                _ => text,
            };
            is_most(count).then(|| format!("{number} packets {text}"))
        })
    };
    let only_control = || "nothing but handshakes, resets or ACKs was seen".to_owned();
    let (what, udp) = if has_udp {
        ("packet of TCP or UDP", skipped.count(Skip::Udp))
    } else {
        ("TCP packet", 0)
    };
    told(&KEPT_FROM).or_else(|| match (tcp, udp, filtered) {
        // What is neither is no reason where the filter left these out.
        (0, 0, 1..) => Some(format!("no {what} matches the filter")),
        (0, ..) => told(&SOMETHING_ELSE),
        _ => Some(only_control()),
    })
}

/// What keeps TCP from being seen.
const KEPT_FROM: [(&[Skip], &str); 6] = [
    (
        &[Skip::HeaderCut],
        "were cut by the snap length before the end of their headers: capture with a snap length of 128 or more, with tunnels of 192 or more",
    ),
    (
        &[Skip::Encrypted],
        "are encrypted below TCP (protected Wi-Fi, IPsec, MACsec): decrypt them first, as airdecap-ng does with Wi-Fi, or capture where they are not",
    ),
    (
        &[Skip::Compressed],
        "are compressed below TCP (IPComp, PPP): capture where they are not",
    ),
    (
        &[Skip::FragmentIncomplete, Skip::LaterFragment],
        "are IP fragments, and others of their datagrams are not there: a capture filter on ports leaves out all but the first, one on addresses does not",
    ),
    (
        &[Skip::BadCheckSequence],
        "were received with errors, by the receiver's word",
    ),
    (
        &[Skip::Tunnel],
        "are in tunnels, which are not entered with --outer",
    ),
];

/// What there is instead, where there is no TCP at all.
const SOMETHING_ELSE: [(&[Skip], &str); 4] = [
    (
        &[Skip::Icmp],
        "are ICMP; pings that were answered are in a table of their own, beside that of --out",
    ),
    (
        &[Skip::Udp],
        "are UDP, as of QUIC or of a tunnel that is not known, which is analysed only with --udp",
    ),
    (
        &[Skip::OtherProtocol],
        "are of IP protocols other than TCP, and of no tunnel that is known",
    ),
    (
        &[Skip::NonIp, Skip::MalformedIp, Skip::MalformedLink],
        "are not IP, or not of the link type that the file says: where that is wrong, editcap -T writes another",
    ),
];

/// What is said of UDP where it is analysed.
const UDP_WITHOUT: &str = "are UDP without payload";

/// What to do about a link type.
pub(super) fn unknown(link: LinkType) -> String {
    let number = link.0;
    let name = name(link).map_or_else(String::new, |name| format!(" ({name})"));
    let what = match number {
        147..=162 => "it is for private use and says nothing of what is in the packets",
        _ => "capture at an interface of another kind",
    };
    format!(
        "link type {number}{name} is not known: {what}; where it is wrong, editcap -T writes another"
    )
}

/// Names of link types that are not decoded, as in the pcap registry: those that people have met.
fn name(link: LinkType) -> Option<&'static str> {
    let name = match link.0 {
        3 => "AX25",
        8 => "SLIP",
        106 => "ATM_CLIP",
        114 => "LTALK",
        122 => "IP_OVER_FC",
        123 => "SUNATM",
        138 => "APPLE_IP_OVER_IEEE1394",
        139 => "MTP2_WITH_PHDR",
        140 => "MTP2",
        141 => "MTP3",
        142 => "SCCP",
        143 => "DOCSIS",
        144 => "LINUX_IRDA",
        147..=162 => "USER",
        177 => "LINUX_LAPD",
        179 => "JUNIPER_PPP",
        180 => "JUNIPER_FRELAY",
        181 => "JUNIPER_CHDLC",
        187 => "BLUETOOTH_HCI_H4",
        189 => "USB_LINUX",
        195 => "IEEE802_15_4_WITHFCS",
        201 => "BLUETOOTH_HCI_H4_WITH_PHDR",
        209 => "I2C_LINUX",
        215 => "IEEE802_15_4_NONASK_PHY",
        220 => "USB_LINUX_MMAPPED",
        226 => "IPNET",
        227 => "CAN_SOCKETCAN",
        230 => "IEEE802_15_4_NOFCS",
        231 => "DBUS",
        235 => "DVB_CI",
        240 => "NETANALYZER",
        241 => "NETANALYZER_TRANSPARENT",
        243 => "MPEG_2_TS",
        245 => "NFC_LLCP",
        247 => "INFINIBAND",
        248 => "SCTP",
        249 => "USBPCAP",
        251 => "BLUETOOTH_LE_LL",
        253 => "NETLINK",
        254 => "BLUETOOTH_LINUX_MONITOR",
        256 => "BLUETOOTH_LE_LL_WITH_PHDR",
        266 => "USB_DARWIN",
        271 => "VSOCK",
        272 => "NORDIC_BLE",
        280 => "VPP_DISPATCH",
        283 => "IEEE802_15_4_TAP",
        _ => return None,
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of ten packets, of which so many were skipped for a reason.
    fn said(skipped: &[(Skip, u64)], tcp: u64) -> String {
        why(10, tcp, &tally(skipped), false).unwrap_or_default()
    }

    fn tally(skipped: &[(Skip, u64)]) -> Tally {
        let mut tally = Tally::default();
        for &(skip, count) in skipped {
            tally.add_many(skip, count);
        }
        tally
    }

    #[test]
    fn where_udp_is_analysed_it_lacks_payload_or_the_filter_leaves_it_out() {
        let said = |skipped: &[(Skip, u64)], tcp| why(10, tcp, &tally(skipped), true);
        let (udp, filtered) = (Skip::Udp, Skip::Filtered);
        for (skipped, tcp, text) in [
            (vec![(udp, 10)], 0, "all packets are UDP without payload"),
            (
                vec![(udp, 6), (Skip::Icmp, 4)],
                0,
                "most packets are UDP without payload",
            ),
            (
                vec![(udp, 2), (filtered, 8)],
                0,
                "all packets are UDP without payload",
            ),
            (
                vec![(filtered, 8), (Skip::Icmp, 2)],
                0,
                "no packet of TCP or UDP matches the filter",
            ),
            (vec![(filtered, 10)], 0, "no packet matches the filter"),
            (
                vec![(udp, 9)],
                1,
                "nothing but handshakes, resets or ACKs was seen",
            ),
        ] {
            assert_eq!(said(&skipped, tcp).as_deref(), Some(text), "{skipped:?}");
        }
    }

    #[test]
    fn what_most_packets_are_is_said() {
        for (skip, words) in [
            (Skip::HeaderCut, "with tunnels of 192 or more"),
            (Skip::Encrypted, "encrypted below TCP"),
            (Skip::FragmentIncomplete, "IP fragments"),
            (Skip::Tunnel, "--outer"),
            (Skip::MalformedIp, "editcap -T"),
            (Skip::NonIp, "not IP"),
            (Skip::Udp, "a tunnel that is not known"),
            (Skip::OtherProtocol, "of IP protocols other than TCP"),
        ] {
            let all = said(&[(skip, 10)], 0);
            assert!(
                all.starts_with("all packets ") && all.contains(words),
                "{all}"
            );
            let most = said(&[(skip, 6), (Skip::Icmp, 4)], 0);
            assert!(most.starts_with("most packets "), "{most}");
            // No more than half, and what the filter took out is none of them.
            assert_eq!(said(&[(skip, 5), (Skip::Icmp, 5)], 0), "");
            let rest = said(&[(skip, 4), (Skip::Filtered, 6)], 0);
            let hides_tcp = KEPT_FROM.iter().any(|(reasons, _)| reasons.contains(&skip));
            let words = if hides_tcp {
                "all packets "
            } else {
                "no TCP packet matches the filter"
            };
            assert!(rest.starts_with(words), "{rest}");
        }
        let both = said(&[(Skip::MalformedIp, 4), (Skip::NonIp, 6)], 0);
        assert!(both.starts_with("all packets are not IP"), "{both}");
        assert_eq!(
            said(&[(Skip::Filtered, 10)], 0),
            "no packet matches the filter"
        );
        assert!(said(&[(Skip::Icmp, 10)], 0).starts_with("all packets are ICMP"));
        assert_eq!(why(0, 0, &Tally::default(), false), None);
    }

    #[test]
    fn where_tcp_is_seen_other_packets_are_no_reason_but_what_hides_tcp_is() {
        for (skip, words) in [
            (Skip::NonIp, "nothing but handshakes"),
            (Skip::Udp, "nothing but handshakes"),
            (Skip::Encrypted, "most packets are encrypted"),
        ] {
            let text = said(&[(skip, 9)], 1);
            assert!(text.starts_with(words), "{text}");
        }
    }

    #[test]
    fn an_unknown_link_type_is_named() {
        let of = |link| {
            let mut tally = Tally::default();
            tally.add_unknown(LinkType(link));
            why(1, 0, &tally, false).unwrap_or_default()
        };
        assert!(of(63).starts_with("link type 63 is not known: "));
        assert!(of(189).starts_with("link type 189 (USB_LINUX) is not known: "));
        assert!(of(147).contains("(USER) is not known: it is for private use"));
    }
}
