//! Who sends packets to whom, in words.

use std::borrow::Cow;

use crate::analyze::Flow;
use crate::decode::Transport;
use crate::path::FlowKey;

/// What stands behind the ends of a flow of UDP, as one of TCP may have the same; else nothing.
pub(super) fn mark(flow: &Flow<'_>) -> &'static str {
    match flow.transport() {
        Transport::Tcp => "",
        Transport::Udp => " (UDP)",
    }
}

/// Sender and receiver of a flow of a path: with ports where there are any, and behind the receiver what it is of, if that
/// is not TCP.
pub(super) fn ends(key: &FlowKey) -> [String; 2] {
    let has_ports = key.src.port() > 0 || key.dst.port() > 0;
    let [src, dst] = [key.src, key.dst].map(|end| {
        if has_ports {
            end.to_string()
        } else {
            end.ip().to_string()
        }
    });
    let protocol: Cow<'_, str> = match (key.protocol, has_ports) {
        (6, true) => return [src, dst],
        (1, _) => "ICMP".into(),
        (2, _) => "IGMP".into(),
        // Later fragments, and headers that a snap length cut.
        (6, false) => "TCP without ports".into(),
        (17, true) => "UDP".into(),
        (17, false) => "UDP without ports".into(),
        (44, _) => "IPv6 fragments".into(),
        (47, _) => "GRE".into(),
        (50, _) => "ESP".into(),
        (58, _) => "ICMPv6".into(),
        (132, _) => "SCTP".into(),
        (136, _) => "UDP-Lite".into(),
        (other, _) => format!("IP protocol {other}").into(),
    };
    [src, format!("{dst} ({protocol})")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Endpoint;

    #[test]
    fn what_has_no_ports_is_told_by_its_protocol() {
        let named = |protocol: u8, port: u16| {
            let key = FlowKey {
                src: Endpoint::v4([10, 0, 0, 1], port),
                dst: Endpoint::v4([10, 0, 0, 2], port),
                protocol,
            };
            ends(&key).join(" > ")
        };
        assert_eq!(named(6, 80), "10.0.0.1:80 > 10.0.0.2:80");
        assert_eq!(named(17, 80), "10.0.0.1:80 > 10.0.0.2:80 (UDP)");
        assert_eq!(named(17, 0), "10.0.0.1 > 10.0.0.2 (UDP without ports)");
        assert_eq!(named(1, 0), "10.0.0.1 > 10.0.0.2 (ICMP)");
        assert_eq!(named(89, 0), "10.0.0.1 > 10.0.0.2 (IP protocol 89)");
    }
}
