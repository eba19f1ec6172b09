//! Captures of what attackers send, as long as one likes, made while they are read: every packet
//! from somebody else, so that nothing that is kept of one is of use for another.

use std::io::Read;

use super::wire::{self, ETHERNET, Format, Ipv4, Packet, block, section_block};

/// A kind of flood.
pub(crate) struct Torrent {
    pub(crate) name: &'static str,
    /// The begin of the file.
    head: fn() -> Vec<u8>,
    /// What is in it so many times: records or blocks.
    turn: fn(u64) -> Vec<u8>,
    /// Records of a turn.
    pub(crate) records: u64,
    /// Connections that each turn begins.
    pub(crate) connections: u64,
}

const SYN: u8 = 2;
const RST: u8 = 4;
const PSH_ACK: u8 = 0x18;
const ACK: u8 = 0x10;
/// What data packets hold.
const PAYLOAD_BYTES: usize = 72;

impl Torrent {
    /// One of raw bytes in which each turn is a record.
    const fn of(name: &'static str, turn: fn(u64) -> Vec<u8>, connections: u64) -> Self {
        Self {
            name,
            head: || FORMAT.head(),
            turn,
            records: 1,
            connections,
        }
    }

    /// A capture with so many turns.
    pub(crate) fn reader(&self, turns: u64) -> TorrentReader {
        TorrentReader {
            made: (self.head)(),
            turn: self.turn,
            at: 0,
            next: 0,
            end: turns,
        }
    }
}

pub(crate) const TORRENTS: [Torrent; 30] = [
    Torrent::of("SYN", |turn| tcp(turn, SYN, 0), 1),
    Torrent::of("SYN over IPv6", |turn| tcp6(turn, SYN, 0), 1),
    Torrent::of("SYN with data", |turn| tcp(turn, SYN, PAYLOAD_BYTES), 1),
    Torrent::of("SYN-ACK", |turn| tcp(turn, SYN | ACK, 0), 1),
    Torrent::of("RST", |turn| tcp(turn, RST, 0), 1),
    Torrent::of("RST-ACK", |turn| tcp(turn, RST | ACK, 0), 1),
    Torrent::of("ACK", |turn| tcp(turn, ACK, 0), 1),
    Torrent::of("FIN-ACK", |turn| tcp(turn, ACK | 1, 0), 1),
    Torrent::of("no flags", |turn| tcp(turn, 0, 0), 1),
    Torrent::of("all flags", |turn| tcp(turn, 0xff, 0), 1),
    Torrent::of("data", |turn| tcp(turn, PSH_ACK, PAYLOAD_BYTES), 1),
    Torrent::of(
        "data over IPv6",
        |turn| tcp6(turn, PSH_ACK, PAYLOAD_BYTES),
        1,
    ),
    Torrent {
        records: 2,
        ..Torrent::of("SYN and SYN-ACK", answered, 1)
    },
    Torrent {
        records: 2,
        ..Torrent::of("SYN and RST-ACK", refused, 1)
    },
    Torrent {
        records: 3,
        ..Torrent::of("SYN, SYN-ACK and RST", hidden, 1)
    },
    Torrent {
        records: 2,
        ..Torrent::of(
            "SYN and SYN-ACK, 40 a second",
            |turn| slow(turn, answered),
            1,
        )
    },
    Torrent {
        records: 3,
        ..Torrent::of(
            "SYN, SYN-ACK and RST, 40 a second",
            |turn| slow(turn, hidden),
            1,
        )
    },
    Torrent::of("pings", ping, 0),
    Torrent::of("first fragments", |turn| fragment(turn, PSH_ACK, 0x2000), 0),
    Torrent::of("last fragments", |turn| fragment(turn, PSH_ACK, 100), 0),
    Torrent::of("400 VLAN tags", vlans, 1),
    Torrent::of("50 tunnels", tunnels, 0),
    Torrent {
        head: || {
            Format {
                snap: u32::MAX,
                ..FORMAT
            }
            .head()
        },
        ..Torrent::of("a snap length of 4 GiB", |turn| tcp(turn, SYN, 0), 1)
    },
    Torrent {
        head: section_block,
        ..Torrent::of("pcapng, an interface a packet", interface, 1)
    },
    Torrent {
        head: Vec::new,
        ..Torrent::of("pcapng, a section a packet", section, 1)
    },
    Torrent {
        head: section_block,
        records: 0,
        ..Torrent::of("pcapng, sections alone", |_| section_block(), 0)
    },
    Torrent {
        head: section_block,
        records: 0,
        ..Torrent::of("pcapng, interfaces alone", |_| interface_block(), 0)
    },
    Torrent {
        head: section_block,
        records: 0,
        ..Torrent::of("pcapng, names alone", names, 0)
    },
    Torrent {
        head: section_block,
        records: 0,
        ..Torrent::of("pcapng, statistics alone", |_| block(5, &[0; 12]), 0)
    },
    Torrent {
        head: section_block,
        records: 0,
        ..Torrent::of("pcapng, empty blocks", |_| block(0x0bad, &[]), 0)
    },
];

/// Reads a capture that is made meanwhile.
pub(crate) struct TorrentReader {
    made: Vec<u8>,
    at: usize,
    turn: fn(u64) -> Vec<u8>,
    next: u64,
    end: u64,
}

impl Read for TorrentReader {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.made.len() && self.next < self.end {
            self.made = (self.turn)(self.next);
            (self.next, self.at) = (self.next + 1, 0);
        }
        let rest = &self.made[self.at..];
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        self.at += len;
        Ok(len)
    }
}

const FORMAT: Format = Format {
    link: ETHERNET,
    ..Format::RAW
};

/// A pcap record of an Ethernet frame; 100,000 turns a second.
fn record(turn: u64, kind: u16, ip: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    bytes.extend(kind.to_be_bytes());
    bytes.extend(ip);
    FORMAT.record(&Packet {
        at_ns: 1_700_000_000_000_000_000 + turn as i64 * 10_000,
        original_len: bytes.len() as u32,
        bytes,
    })
}

/// A number of 32 bits that no other turn has.
fn own(turn: u64, factor: u32) -> u32 {
    // Odd factors permute numbers of 32 bits.
    (turn as u32).wrapping_mul(factor | 1)
}

fn ipv4(src: [u8; 4], dst: [u8; 4], protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let header = Ipv4 {
        id: u16::from_be_bytes([src[2], src[3]]),
        fragment,
        protocol,
        ..Ipv4::tcp([src, dst])
    };
    [&header.header(20 + payload.len() as u16)[..], payload].concat()
}

fn segment(turn: u64, ports: [u16; 2], flags: u8, payload_bytes: usize) -> Vec<u8> {
    let numbers = [own(turn, 2_246_822_519), own(turn, 3_266_489_917)];
    let mut segment = wire::tcp(ports, numbers, flags, 1024, &[]);
    segment.resize(20 + payload_bytes, 0);
    segment
}

const TARGET: [u8; 4] = [10, 0, 0, 1];
const PORTS: [u16; 2] = [40_000, 80];

fn source(turn: u64) -> [u8; 4] {
    own(turn, 2_654_435_761).to_be_bytes()
}

fn tcp(turn: u64, flags: u8, payload_bytes: usize) -> Vec<u8> {
    let segment = segment(turn, PORTS, flags, payload_bytes);
    record(turn, 0x0800, &ipv4(source(turn), TARGET, 6, 0, &segment))
}

fn reply(turn: u64, flags: u8) -> Vec<u8> {
    let segment = segment(turn, [PORTS[1], PORTS[0]], flags, 0);
    record(turn, 0x0800, &ipv4(TARGET, source(turn), 6, 0, &segment))
}

fn tcp6(turn: u64, flags: u8, payload_bytes: usize) -> Vec<u8> {
    let segment = segment(turn, PORTS, flags, payload_bytes);
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((segment.len() as u16).to_be_bytes());
    packet.extend([6, 64, 0x20, 1, 0, 0]);
    packet.extend([0; 8]);
    packet.extend(source(turn));
    packet.extend([0xfd; 16]);
    packet.extend(segment);
    record(turn, 0x86dd, &packet)
}

fn answered(turn: u64) -> Vec<u8> {
    [tcp(turn, SYN, 0), reply(turn, SYN | ACK)].concat()
}

fn refused(turn: u64) -> Vec<u8> {
    [tcp(turn, SYN, 0), reply(turn, RST | ACK)].concat()
}

fn hidden(turn: u64) -> Vec<u8> {
    [answered(turn), tcp(turn, RST, 0)].concat()
}

/// Packets of a turn without payload, which come so slowly that connections fall silent meanwhile.
fn slow(turn: u64, packets: fn(u64) -> Vec<u8>) -> Vec<u8> {
    const RECORD_BYTES: usize = 16 + 14 + 20 + 20;
    let mut records = packets(turn);
    let (seconds, ns) = (1_700_000_000 + turn / 40, turn % 40 * 25_000_000);
    for record in records.chunks_exact_mut(RECORD_BYTES) {
        record[..4].copy_from_slice(&(seconds as u32).to_le_bytes());
        record[4..8].copy_from_slice(&(ns as u32).to_le_bytes());
    }
    records
}

fn ping(turn: u64) -> Vec<u8> {
    let id = own(turn, 1).to_be_bytes();
    let echo = [8, 0, 0, 0, id[0], id[1], id[2], id[3]];
    record(turn, 0x0800, &ipv4(source(turn), TARGET, 1, 0, &echo))
}

fn fragment(turn: u64, flags: u8, fragment: u16) -> Vec<u8> {
    let segment = segment(turn, PORTS, flags, PAYLOAD_BYTES - 8);
    let packet = ipv4(source(turn), TARGET, 6, fragment, &segment[..80]);
    record(turn, 0x0800, &packet)
}

fn vlans(turn: u64) -> Vec<u8> {
    let segment = segment(turn, PORTS, SYN, 0);
    let mut inside = [0, 1, 0x81, 0].repeat(400);
    inside.extend([0, 1, 8, 0]);
    inside.extend(ipv4(source(turn), TARGET, 6, 0, &segment));
    record(turn, 0x8100, &inside)
}

/// An IP packet in fifty others.
fn tunnels(turn: u64) -> Vec<u8> {
    let segment = segment(turn, PORTS, SYN, 0);
    let innermost = ipv4(source(turn), TARGET, 6, 0, &segment);
    let around = |inside: Vec<u8>, _| ipv4(TARGET, TARGET, 4, 0, &inside);
    record(turn, 0x0800, &(0..50).fold(innermost, around))
}

/// Ethernet, and a snap length of 4 GiB.
fn interface_block() -> Vec<u8> {
    block(1, &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])
}

fn packet_block(turn: u64, interface: u32) -> Vec<u8> {
    let frame = &tcp(turn, SYN, 0)[16..];
    let at_us = 1_700_000_000_000_000 + turn * 10;
    wire::packet_block(interface, at_us, frame, frame.len() as u32)
}

fn interface(turn: u64) -> Vec<u8> {
    [interface_block(), packet_block(turn, turn as u32)].concat()
}

fn section(turn: u64) -> Vec<u8> {
    [section_block(), interface_block(), packet_block(turn, 0)].concat()
}

fn names(turn: u64) -> Vec<u8> {
    let mut body = vec![1, 0, 10, 0];
    body.extend(source(turn));
    body.extend(b"host.a\0\0\0\0\0\0\0\0");
    block(4, &body)
}

/// The most memory that this process ever had, in bytes; 0 where the system does not tell.
pub(crate) fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib: Option<u64> = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0) * 1024
}
