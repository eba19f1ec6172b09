//! Packets as a capture file.

use std::io::{self, Write};
use std::net::IpAddr;

use super::packet::{Packet, SYN, Wrap, ends};
use super::random::Random;
use super::{EPOCH_NS, Format, Profile, Synth};

/// A capture file being written.
pub(super) struct File<W> {
    pub(super) out: W,
    pub(super) format: Format,
    pub(super) snap: usize,
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// Taken off every timestamp, in ns, from record `step_at` on.
    pub(super) step_ns: u64,
    pub(super) step_at: u64,
    /// Content of the streams, and a segment more so that any slice is whole.
    pub(super) content: Vec<u8>,
    pub(super) buffer: Vec<u8>,
}

/// Bytes after which the content of streams repeats; longer than the windows of compressors.
pub(super) const CONTENT_BYTES: usize = 1 << 20;

impl<W: Write> File<W> {
    pub(super) fn begin(synth: &Synth, out: W) -> io::Result<Self> {
        let mut file = Self {
            out,
            format: synth.format,
            snap: synth.snap as usize,
            records: 0,
            bytes: 0,
            step_ns: 30_000_000,
            step_at: if synth.profile == Profile::Ugly {
                synth.packets / 2
            } else {
                u64::MAX
            },
            content: content(synth),
            buffer: Vec::with_capacity(2048),
        };
        let snap = synth.snap.min(262_144);
        let mut head: Vec<u8> = Vec::new();
        match synth.format {
            Format::Micros | Format::Nanos => {
                let magic: u32 = if synth.format == Format::Nanos {
                    0xa1b2_3c4d
                } else {
                    0xa1b2_c3d4
                };
                for field in [magic, 0x0004_0002, 0, 0, snap, 1] {
                    head.extend(field.to_le_bytes());
                }
            }
            Format::Pcapng => {
                for field in [0x0a0d_0d0a_u32, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28] {
                    head.extend(field.to_le_bytes());
                }
                for link in [1_u32, 276] {
                    // if_tsresol is 9: nanoseconds.
                    for field in [1, 32, link, snap, 0x0001_0009, 9, 0, 32] {
                        head.extend(field.to_le_bytes());
                    }
                }
            }
        }
        file.put(&head)?;
        Ok(file)
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes a packet, in two fragments where its connection is so, and returns how many IP
    /// packets and IP bytes that was.
    pub(super) fn packet(&mut self, packet: &Packet) -> io::Result<(u64, u64)> {
        let mut tcp = [0_u8; 60];
        let tcp_len = tcp_header(packet, &mut tcp);
        let tcp = &tcp[..tcp_len];
        let whole = tcp_len + packet.len as usize;
        if packet.wrap == Wrap::Fragments && packet.len > 800 {
            let first = 800;
            let bytes = self.record(packet, tcp, tcp_len, first, 0, true)?
                + self.record(packet, tcp, first, whole, first, false)?;
            Ok((2, bytes))
        } else {
            let bytes = self.record(packet, tcp, tcp_len, whole, 0, false)?;
            Ok((1, bytes))
        }
    }

    /// Writes the part of a datagram from `fragment` to `end` bytes of TCP header and payload.
    /// `payload` is where payload begins in it.
    pub(super) fn record(
        &mut self,
        packet: &Packet,
        tcp: &[u8],
        payload: usize,
        end: usize,
        fragment: usize,
        more: bool,
    ) -> io::Result<u64> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend([0; 16]);
        if self.format == Format::Pcapng {
            buffer.extend([0; 12]);
        }
        let head = buffer.len();
        let cooked = packet.wrap == Wrap::Cooked && self.format == Format::Pcapng;
        link_header(packet, cooked, &mut buffer);
        let ip_len = ip_header(packet, end - fragment, fragment, more, &mut buffer);
        if fragment == 0 {
            buffer.extend_from_slice(tcp);
        }
        let before = buffer.len() - head;
        let payload_len = end - payload;
        let kept = payload_len.min(self.snap.saturating_sub(before));
        let start = (packet.offset as usize + payload - tcp.len()) % CONTENT_BYTES;
        buffer.extend_from_slice(&self.content[start..start + kept]);
        let mut original = before + payload_len;
        if !cooked && original < 60 {
            // The padding of short frames is captured too.
            buffer.resize(head + 60, 0);
            original = 60;
        }
        let captured = original.min(self.snap);
        buffer.truncate(head + captured);
        let mut at = EPOCH_NS + packet.at;
        if self.records >= self.step_at {
            at -= self.step_ns;
        }
        let mut field = |place: usize, value: u32| {
            buffer[place..place + 4].copy_from_slice(&value.to_le_bytes());
        };
        match self.format {
            Format::Micros | Format::Nanos => {
                let fraction = at % 1_000_000_000;
                field(0, (at / 1_000_000_000) as u32);
                field(
                    4,
                    if self.format == Format::Nanos {
                        fraction
                    } else {
                        fraction / 1000
                    } as u32,
                );
                field(8, captured as u32);
                field(12, original as u32);
            }
            Format::Pcapng => {
                let padded = captured.next_multiple_of(4);
                let block = (32 + padded) as u32;
                field(0, 6);
                field(4, block);
                field(8, u32::from(cooked));
                field(12, (at >> 32) as u32);
                field(16, at as u32);
                field(20, captured as u32);
                field(24, original as u32);
                buffer.resize(head + padded, 0);
                buffer.extend(block.to_le_bytes());
            }
        }
        self.records += 1;
        self.put(&buffer)?;
        self.buffer = buffer;
        Ok(ip_len as u64)
    }
}

/// What the streams carry: noise, or a capture file that begins anywhere.
pub(super) fn content(synth: &Synth) -> Vec<u8> {
    let mut random = Random::of(synth.seed ^ 0x00c0_ffee);
    let mut content = Vec::with_capacity(CONTENT_BYTES + 2048);
    while content.len() < CONTENT_BYTES {
        if synth.profile == Profile::PcapInPayload {
            let seconds = (EPOCH_NS / 1_000_000_000) as u32;
            let (at, len) = (
                random.below(1_000_000_000) as u32,
                60 + random.below(200) as u32,
            );
            for field in [seconds, at, len, len] {
                content.extend(field.to_le_bytes());
            }
            content.extend((0..len).map(|_| random.next() as u8));
        } else {
            content.extend(random.next().to_le_bytes());
        }
    }
    content.truncate(CONTENT_BYTES);
    content.extend_from_within(..2048);
    content
}

pub(super) fn link_header(packet: &Packet, cooked: bool, buffer: &mut Vec<u8>) {
    let ether_type: u16 = if packet.wrap == Wrap::V6 {
        0x86dd
    } else {
        0x0800
    };
    if cooked {
        buffer.extend(ether_type.to_be_bytes());
        buffer.extend([0, 0, 0, 0, 0, 2, 0, 1, 0, 6]);
        buffer.extend([2, 0, 0, 0, 0, 1, 0, 0]);
        return;
    }
    if packet.down {
        buffer.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
    } else {
        buffer.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    }
    match packet.wrap {
        Wrap::Vlan => buffer.extend([0x81, 0, 0, 100]),
        Wrap::QinQ => buffer.extend([0x88, 0xa8, 0, 7, 0x81, 0, 0, 100]),
        _ => {}
    }
    buffer.extend(ether_type.to_be_bytes());
}

/// Appends an IP header for `len` bytes behind it and returns the IP total length.
pub(super) fn ip_header(
    packet: &Packet,
    len: usize,
    fragment: usize,
    more: bool,
    buffer: &mut Vec<u8>,
) -> usize {
    let (client, server) = ends(packet.number, packet.wrap);
    let (src, dst) = if packet.down {
        (server, client)
    } else {
        (client, server)
    };
    match (src.ip(), dst.ip()) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let header_len = if packet.wrap == Wrap::IpOptions {
                24
            } else {
                20
            };
            let total = header_len + len;
            let start = buffer.len();
            let pieces = (fragment / 8) as u16 | if more { 0x2000 } else { 0 };
            let dont_fragment = if packet.wrap == Wrap::Fragments {
                0
            } else {
                0x4000
            };
            let [id_high, id_low] = packet.id.to_be_bytes();
            let [len_high, len_low] = (total as u16).to_be_bytes();
            let [pieces_high, pieces_low] = (pieces | dont_fragment).to_be_bytes();
            let first = 0x40 | (header_len / 4) as u8;
            buffer.extend([first, 0, len_high, len_low, id_high, id_low]);
            buffer.extend([pieces_high, pieces_low, 64, 6, 0, 0]);
            buffer.extend(src.octets());
            buffer.extend(dst.octets());
            if header_len > 20 {
                // Router alert (RFC 2113).
                buffer.extend([0x94, 4, 0, 0]);
            }
            let sum: u32 = buffer[start..]
                .chunks_exact(2)
                .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
                .sum();
            let sum = (sum & 0xffff) + (sum >> 16);
            let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
            buffer[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
            total
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            buffer.extend([0x60, 0, 0, 0]);
            buffer.extend((len as u16).to_be_bytes());
            buffer.extend([6, 64]);
            buffer.extend(src.octets());
            buffer.extend(dst.octets());
            40 + len
        }
        _ => 0,
    }
}

/// Fills in a TCP header and returns its length.
pub(super) fn tcp_header(packet: &Packet, tcp: &mut [u8; 60]) -> usize {
    let (client, server) = ends(packet.number, packet.wrap);
    let (src, dst) = if packet.down {
        (server.port(), client.port())
    } else {
        (client.port(), server.port())
    };
    tcp[0..2].copy_from_slice(&src.to_be_bytes());
    tcp[2..4].copy_from_slice(&dst.to_be_bytes());
    tcp[4..8].copy_from_slice(&packet.seq.to_be_bytes());
    tcp[8..12].copy_from_slice(&packet.ack.to_be_bytes());
    tcp[13] = packet.flags;
    tcp[14..16].copy_from_slice(&u16::MAX.to_be_bytes());
    let mut len = 20;
    let mut option = |bytes: &[u8]| {
        tcp[len..len + bytes.len()].copy_from_slice(bytes);
        len += bytes.len();
    };
    if packet.flags & SYN != 0 {
        // MSS 1460, SACK permitted.
        option(&[2, 4, 0x05, 0xb4, 4, 2]);
    } else if packet.timestamps {
        option(&[1, 1]);
    }
    if packet.timestamps {
        option(&[8, 10]);
        option(&packet.tsval.to_be_bytes());
        option(&packet.tsecr.to_be_bytes());
    }
    if packet.flags & SYN != 0 {
        // A shift of 10: windows of 64 MiB.
        option(&[1, 3, 3, 10]);
        if !packet.timestamps {
            option(&[1, 1]);
        }
    }
    if packet.sacks > 0 {
        option(&[1, 1, 5, 2 + 8 * packet.sacks]);
        for (start, end) in &packet.sack[..usize::from(packet.sacks)] {
            option(&start.to_be_bytes());
            option(&end.to_be_bytes());
        }
    }
    tcp[12] = ((len / 4) << 4) as u8;
    len
}
