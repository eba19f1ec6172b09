//! A packet, and what stands around TCP in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How the packets of a connection are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrap {
    Plain,
    Vlan,
    QinQ,
    V6,
    IpOptions,
    /// Datagrams with more than 800 bytes of payload come in two fragments.
    Fragments,
    /// Linux cooked, version 2; plain where the format allows one link type only.
    Cooked,
}

/// The wraps of an ugly trace, in turn.
pub(super) fn wrap_of(number: u64) -> Wrap {
    match number % 7 {
        0 => Wrap::Plain,
        1 => Wrap::Vlan,
        2 => Wrap::QinQ,
        3 => Wrap::V6,
        4 => Wrap::IpOptions,
        5 => Wrap::Fragments,
        _ => Wrap::Cooked,
    }
}

/// One packet about to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) at: u64,
    /// Number of its connection.
    pub(super) number: u64,
    pub(super) wrap: Wrap,
    /// From the server.
    pub(super) down: bool,
    pub(super) id: u16,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u8,
    /// Offset in its stream: tells the payload.
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) tsval: u32,
    pub(super) tsecr: u32,
    /// Absolute sequence numbers.
    pub(super) sack: [(u32, u32); 3],
    pub(super) sacks: u8,
    pub(super) timestamps: bool,
}

pub(super) const FIN: u8 = 0x01;
pub(super) const SYN: u8 = 0x02;
pub(super) const PSH: u8 = 0x08;
pub(super) const ACK: u8 = 0x10;

/// Client and server of a connection.
pub(super) fn ends(number: u64, wrap: Wrap) -> (SocketAddr, SocketAddr) {
    // 28,000 ephemeral ports a client host.
    let (host, port) = (number / 28_000, 32_768 + (number % 28_000) as u16);
    let server = (number % 251) as u8;
    let (client, server) = if wrap == Wrap::V6 {
        (
            IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 1, host as u16 + 1)),
            IpAddr::V6(Ipv6Addr::new(
                0x2001,
                0xdb8,
                0,
                2,
                0,
                0,
                2,
                u16::from(server) + 1,
            )),
        )
    } else {
        let [.., high, low] = (host + 1).to_be_bytes();
        (
            IpAddr::V4(Ipv4Addr::new(10, 1, high, low)),
            IpAddr::V4(Ipv4Addr::new(192, 0, 2, server)),
        )
    };
    (SocketAddr::new(client, port), SocketAddr::new(server, 443))
}
