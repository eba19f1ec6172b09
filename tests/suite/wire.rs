//! Packets as bytes: what each vantage point records, as a pcap file.

use super::play::{Packet, Played, Seen};
use super::script::{Host, Ids, Script};

/// Headers and a little more: enough for every tool, and small.
const SNAP: usize = 120;

/// 2026-01-01 00:00:00 UTC.
const EPOCH_S: i64 = 1_767_225_600;

/// One record: when, and the packets that it holds (several under segmentation offload).
struct Record<'p> {
    at_ns: i64,
    packet: &'p Packet,
    ce: bool,
    /// Payload of all of them.
    len: u32,
}

/// Whether the capture tool keeps a packet.
pub(crate) fn is_captured(script: &Script, packet: &Packet, seen: &Seen) -> bool {
    script.captured.only.is_none_or(|host| host == packet.host)
        && seen.at_ns >= script.captured.from_ns
        && !is_dropped(script, packet)
}

/// Whether the capture tool drops a packet.
pub(crate) fn is_dropped(script: &Script, packet: &Packet) -> bool {
    let mut dropped = script.captured.dropped.iter();
    packet.len > 0 && !packet.rtx && dropped.any(|range| range.contains(&packet.start))
}

/// What the vantage point at `position` records, in pcap format with nanoseconds.
pub(crate) fn pcap(script: &Script, played: &Played, position: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, SNAP as u32, 1_u32] {
        bytes.extend(word.to_le_bytes());
    }
    for record in records(script, played, position) {
        let frame = frame(script, &record);
        let at_ns = record.at_ns + EPOCH_S * 1_000_000_000;
        let original = frame.len() as u32 + record.len;
        let padding = (record.len as usize).min(SNAP.saturating_sub(frame.len()));
        let captured = (frame.len() + padding) as u32;
        let second = (at_ns / 1_000_000_000) as u32;
        for word in [second, (at_ns % 1_000_000_000) as u32, captured, original] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(frame);
        bytes.resize(bytes.len() + padding, 0);
    }
    bytes
}

fn records<'p>(script: &Script, played: &'p Played, position: usize) -> Vec<Record<'p>> {
    let mut records: Vec<Record<'p>> = Vec::new();
    for seen in &played.seen[position] {
        let packet = &played.packets[seen.packet];
        if !is_captured(script, packet, seen) {
            continue;
        }
        // Before segmentation, one frame stands for all packets of a group.
        if position == 2 * packet.host.index()
            && packet.group.is_some()
            && let Some(whole) = records
                .iter_mut()
                .rev()
                .find(|record| record.packet.group == packet.group)
        {
            whole.len += packet.len;
            continue;
        }
        records.push(Record {
            at_ns: seen.at_ns,
            packet,
            ce: seen.ce,
            len: packet.len,
        });
    }
    records
}

/// Headers only: the payload is zeros.
fn frame(script: &Script, record: &Record<'_>) -> Vec<u8> {
    let packet = record.packet;
    let tcp = tcp(script, packet);
    let tcp_len = tcp.len() as u32 + record.len;
    let ecn: u32 = match (record.ce, packet.ect) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => 0,
    };
    let (own, peer) = (
        packet.host.index() as u8 + 1,
        packet.host.peer().index() as u8 + 1,
    );
    let v6 = script.ids == Ids::Absent;
    let mut bytes = vec![2, 0, 0, 0, 0, peer, 2, 0, 0, 0, 0, own];
    let addresses: Vec<u8> = if v6 {
        let address = |last| [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
        [address(own), address(peer)].concat()
    } else {
        vec![192, 0, 2, own, 192, 0, 2, peer]
    };
    if v6 {
        bytes.extend([0x86, 0xdd]);
        bytes.extend((6_u32 << 28 | ecn << 20).to_be_bytes());
        bytes.extend((tcp_len as u16).to_be_bytes());
        bytes.extend([6, 64]);
        bytes.extend(&addresses);
    } else {
        let mut ip = vec![0x45, ecn as u8];
        ip.extend((20 + tcp_len as u16).to_be_bytes());
        ip.extend(packet.id.to_be_bytes());
        ip.extend([0x40, 0, 64, 6, 0, 0]);
        ip.extend(&addresses);
        let sum = checksum(0, &ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend([8, 0]);
        bytes.extend(ip);
    }
    let start = bytes.len();
    bytes.extend(&tcp);
    // Pseudo header (RFC 9293 section 3.1); zeros as payload add nothing.
    let sum = checksum(u64::from(tcp_len) + 6, &[addresses, tcp].concat());
    bytes[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// The TCP port of a host.
pub(crate) fn port(host: Host) -> u16 {
    match host {
        Host::A => 40_000,
        Host::B => 443,
    }
}

fn tcp(script: &Script, packet: &Packet) -> Vec<u8> {
    let (own, peer) = (packet.host.index(), packet.host.peer().index());
    let wire = |isn: u32, offset: i64| isn.wrapping_add(1).wrapping_add(offset as u32);
    let options = options(script, packet, |offset| wire(packet.isn[peer], offset));
    let flags = packet.flags;
    let bits = [
        (flags.fin, 1),
        (flags.syn, 2),
        (flags.rst, 4),
        (packet.len > 0, 8),
        (flags.ack, 16),
        (flags.urg, 32),
        (flags.ece, 64),
        (flags.cwr, 128),
    ];
    let bits: u8 = bits
        .iter()
        .filter(|(set, _)| *set)
        .map(|(_, bit)| bit)
        .sum();
    let mut bytes = Vec::new();
    bytes.extend(port(packet.host).to_be_bytes());
    bytes.extend(port(packet.host.peer()).to_be_bytes());
    // A SYN's own number comes before its data.
    let first = packet.start - i64::from(flags.syn && packet.len > 0);
    bytes.extend(wire(packet.isn[own], first).to_be_bytes());
    let ack = packet.ack.map_or(0, |ack| wire(packet.isn[peer], ack));
    bytes.extend(ack.to_be_bytes());
    bytes.extend([(20 + options.len() as u8) << 2, bits]);
    bytes.extend(packet.window.to_be_bytes());
    let urgent = if flags.urg { packet.len as u16 } else { 0 };
    bytes.extend([0; 2]);
    bytes.extend(urgent.to_be_bytes());
    bytes.extend(options);
    bytes
}

fn options(script: &Script, packet: &Packet, wire: impl Fn(i64) -> u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    if packet.flags.syn {
        let mss: u16 = if script.ids == Ids::Absent {
            1440
        } else {
            1460
        };
        bytes.extend([2, 4]);
        bytes.extend(mss.to_be_bytes());
        if script.sack {
            bytes.extend([1, 1, 4, 2]);
        }
        if let Some(shift) = script.window_scale {
            bytes.extend([1, 3, 3, shift]);
        }
    }
    if script.timestamps {
        bytes.extend([1, 1, 8, 10]);
        bytes.extend(packet.ts_value.to_be_bytes());
        bytes.extend(packet.ts_echo.to_be_bytes());
    }
    if !packet.sack.is_empty() {
        bytes.extend([1, 1, 5, 2 + 8 * packet.sack.len() as u8]);
        for &(start, end) in &packet.sack {
            bytes.extend(wire(start).to_be_bytes());
            bytes.extend(wire(end).to_be_bytes());
        }
    }
    bytes
}

/// The Internet checksum (RFC 1071) of an even number of bytes.
fn checksum(start: u64, bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks_exact(2)
        .map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]])));
    let mut sum = start + words.sum::<u64>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
