//! Deterministic traces of a 10 Gbit/s link, and the truth about them.
//!
//! [`Synth::write`] plays TCP connections event by event and writes what a vantage point near the
//! servers sees, so that flows interleave as on a link. Servers answer a request with data;
//! clients acknowledge every second segment, or after 40 ms. Segments get lost before or behind
//! the vantage point (0.1 % each), are reported missing by SACK and repeated a round trip later;
//! others are overtaken by up to eight (0.05 % before, 0.05 % behind). Rounds take 2 to 62 ms.
//!
//! The same [`Synth`] always gives the same bytes. What is kept in memory are the connections
//! alive and what they have in flight, never the packets written. TCP checksums are zero, as
//! where they are left to the network card.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// 16 elephants that fill the link.
    Bulk,
    /// 200 elephants, and a mouse every 120 packets: 50,000 flows in 6 million packets.
    Mix,
    /// So many connections, all open at the same time, two segments now and then on each.
    Many(u64),
    /// A single connection with 20,000 segments in flight.
    One,
    /// Frames of 64 bytes at 14.88 million a second: ACKs of 64 connections, one way only.
    Acks,
    /// VLAN, `QinQ`, IPv6, IP options, fragments, keep-alives, sequence wrap, a clock that steps
    /// back; in pcapng also a second interface with SLL2.
    Ugly,
    /// [`Bulk`](Self::Bulk) that carries pcap files: records within payload.
    PcapInPayload,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// pcap with microseconds.
    Micros,
    /// pcap with nanoseconds.
    Nanos,
    /// pcapng with nanoseconds.
    Pcapng,
}

/// A trace to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Synth {
    /// Kind of traffic.
    pub(crate) profile: Profile,
    /// Records to write, all of them packets.
    pub(crate) packets: u64,
    /// Bytes kept of each packet; `u32::MAX` keeps all.
    pub(crate) snap: u32,
    /// Another seed, another trace of the same kind.
    pub(crate) seed: u64,
    /// File format.
    pub(crate) format: Format,
    /// Segments that get lost of 10,000, half of them before and half behind the vantage point.
    pub(crate) losses: u64,
}

/// One direction of a connection that carried payload, or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// IP packets.
    pub(crate) packets: u64,
    /// IP packets with payload.
    pub(crate) data_packets: u64,
    /// Sum of IP total lengths.
    pub(crate) ip_bytes: u64,
    /// Payload bytes, every copy counted.
    pub(crate) payload_bytes: u64,
    /// Distinct stream bytes that passed.
    pub(crate) unique_bytes: u64,
    /// Payload bytes below the highest ACK that passed.
    pub(crate) acked_bytes: u64,
    /// Segments that were not the first emission of their bytes.
    pub(crate) retransmissions: u64,
    /// First emissions overtaken before they passed.
    pub(crate) reordered: u64,
}

impl Counts {
    /// Adds all counts of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.data_packets += other.data_packets;
        self.ip_bytes += other.ip_bytes;
        self.payload_bytes += other.payload_bytes;
        self.unique_bytes += other.unique_bytes;
        self.acked_bytes += other.acked_bytes;
        self.retransmissions += other.retransmissions;
        self.reordered += other.reordered;
    }
}

/// A flow, and what is true of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowTruth {
    /// Sender.
    pub(crate) src: SocketAddr,
    /// Receiver.
    pub(crate) dst: SocketAddr,
    /// What passed.
    pub(crate) counts: Counts,
}

/// What is true of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    /// Records written.
    pub(crate) records: u64,
    /// Bytes written.
    pub(crate) file_bytes: u64,
    /// All flows together.
    pub(crate) total: Counts,
    /// Each flow, in no particular order.
    pub(crate) flows: Vec<FlowTruth>,
}

impl Synth {
    /// A pcap file with nanoseconds and whole packets, of seed 7.
    pub(crate) fn new(profile: Profile, packets: u64) -> Self {
        Self {
            profile,
            packets,
            snap: u32::MAX,
            seed: 7,
            format: Format::Nanos,
            losses: 20,
        }
    }

    /// Keeps 96 bytes of each packet.
    pub(crate) fn snapped(self) -> Self {
        Self { snap: 96, ..self }
    }

    /// Writes the trace to `out`, which should be buffered.
    pub(crate) fn write<W: Write>(&self, out: W) -> io::Result<Truth> {
        let mut file = File::begin(self, out)?;
        let mut truth = Truth::default();
        match self.profile {
            Profile::Acks => storm(self, &mut file, &mut truth)?,
            _ => Link::new(self).play(self, &mut file, &mut truth)?,
        }
        file.out.flush()?;
        truth.records = file.records;
        truth.file_bytes = file.bytes;
        Ok(truth)
    }
}

/// Payload of a full segment with timestamps, in bytes.
const MSS: u32 = 1448;

/// Time that a full frame takes at 10 Gbit/s, in ns.
const FRAME_NS: u64 = 1230;

/// Mean time between packets of a link full of data one way and ACKs the other, in ns.
const PACKET_NS: u64 = 870;

/// When traces begin, in ns since the epoch.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

/// Longest that a client holds back an ACK, in ns.
const DELAYED_ACK_NS: u64 = 40_000_000;

/// What a sender waits before it repeats its last segments, besides a round trip, in ns.
const TIMEOUT_NS: u64 = 200_000_000;

/// `SplitMix64`: small, fast, and good enough to make traffic.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in `0.0..1.0`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

// What stands around TCP.

/// How the packets of a connection are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrap {
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
fn wrap_of(number: u64) -> Wrap {
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
struct Packet {
    at: u64,
    /// Number of its connection.
    number: u64,
    wrap: Wrap,
    /// From the server.
    down: bool,
    id: u16,
    seq: u32,
    ack: u32,
    flags: u8,
    /// Offset in its stream: tells the payload.
    offset: u64,
    len: u32,
    tsval: u32,
    tsecr: u32,
    /// Absolute sequence numbers.
    sack: [(u32, u32); 3],
    sacks: u8,
    timestamps: bool,
}

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Client and server of a connection.
fn ends(number: u64, wrap: Wrap) -> (SocketAddr, SocketAddr) {
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

/// A capture file being written.
struct File<W> {
    out: W,
    format: Format,
    snap: usize,
    records: u64,
    bytes: u64,
    /// Taken off every timestamp, in ns, from record `step_at` on.
    step_ns: u64,
    step_at: u64,
    /// Content of the streams, and a segment more so that any slice is whole.
    content: Vec<u8>,
    buffer: Vec<u8>,
}

/// Bytes after which the content of streams repeats; longer than the windows of compressors.
const CONTENT_BYTES: usize = 1 << 20;

impl<W: Write> File<W> {
    fn begin(synth: &Synth, out: W) -> io::Result<Self> {
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

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes a packet, in two fragments where its connection is so, and returns how many IP
    /// packets and IP bytes that was.
    fn packet(&mut self, packet: &Packet) -> io::Result<(u64, u64)> {
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
    fn record(
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
fn content(synth: &Synth) -> Vec<u8> {
    let mut random = Random(synth.seed ^ 0x00c0_ffee);
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

fn link_header(packet: &Packet, cooked: bool, buffer: &mut Vec<u8>) {
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
fn ip_header(
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
fn tcp_header(packet: &Packet, tcp: &mut [u8; 60]) -> usize {
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

// What happens on the link.

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
struct Flying {
    offset: u64,
    len: u32,
    id: u16,
    tsval: u32,
    /// It was sent before.
    again: bool,
    /// An earlier copy of it passed.
    seen: bool,
}

/// A segment that got lost and will be repeated.
#[derive(Clone, Copy, Debug)]
struct Lost {
    offset: u64,
    len: u32,
    seen: bool,
    /// Segments above it that must arrive before the sender believes in the loss.
    missing: u8,
}

/// An ACK on its way to the vantage point.
#[derive(Clone, Copy, Debug)]
struct Answer {
    at: u64,
    ack: u64,
    sack: [(u64, u64); 3],
    sacks: u8,
    tsval: u32,
    tsecr: u32,
}

/// Steps of a connection besides its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Syn,
    SynAck,
    HandshakeAck,
    Request,
    KeepAlive,
    KeepAliveAnswer,
    ServerFin,
    ClientFin,
    LastAck,
}

/// A connection that is alive. Times are in ns from the start, at the vantage point; what the
/// client does is written down when the segment that makes it do so passes.
#[derive(Debug)]
struct Connection {
    number: u64,
    wrap: Wrap,
    /// Vantage point to server and back, in ns.
    up_ns: u64,
    /// Vantage point to client and back, in ns.
    down_ns: u64,
    step: Option<(u64, Step)>,
    client_isn: u32,
    server_isn: u32,
    client_id: u16,
    server_id: u16,
    client_clock: u32,
    server_clock: u32,
    request_len: u32,
    /// Bytes the server will send; `u64::MAX` never ends.
    total: u64,
    /// First byte not yet sent.
    next: u64,
    next_at: u64,
    /// Segments sent back to back, left in this burst, and time from burst to burst, in ns.
    burst: u32,
    burst_left: u32,
    rest_ns: u64,
    /// Bursts double: slow start.
    growing: bool,
    /// Segments that pass before the one that was overtaken.
    late: Option<(u32, Flying)>,
    late_at: u64,
    /// Offset of the highest segment that passed.
    passed: u64,
    /// Like `late`, behind the vantage point.
    late_behind: Option<(u32, Flying)>,
    lost: Vec<Lost>,
    /// When which segment is sent again.
    again: VecDeque<(u64, Lost)>,
    /// Client: next byte expected, ranges above it (the latest first), last ACK.
    expected: u64,
    above: Vec<(u64, u64)>,
    last_ack: u64,
    /// An ACK is held back until then.
    held_until: u64,
    /// `TSval` that the client echoes.
    recent: u32,
    /// `TSval` that the server echoes, and the one it will next, from when on.
    echo: u32,
    echo_next: (u64, u32),
    answers: VecDeque<Answer>,
    keep_alives: u8,
    /// See [`Synth::losses`].
    losses: u64,
    up: Counts,
    down: Counts,
}

const NEVER: u64 = u64::MAX;

impl Connection {
    /// When something happens next.
    fn due(&self) -> u64 {
        let step = self.step.map_or(NEVER, |(at, _)| at);
        let again = self.again.front().map_or(NEVER, |&(at, _)| at);
        let answer = self.answers.front().map_or(NEVER, |answer| answer.at);
        step.min(again)
            .min(answer)
            .min(self.next_at)
            .min(self.late_at)
            .min(self.held_until)
    }

    /// A packet with everything but its own fields.
    fn packet(&self, at: u64, down: bool) -> Packet {
        Packet {
            at,
            number: self.number,
            wrap: self.wrap,
            down,
            id: 0,
            seq: 0,
            ack: 0,
            flags: ACK,
            offset: 0,
            len: 0,
            tsval: 0,
            tsecr: 0,
            sack: [(0, 0); 3],
            sacks: 0,
            timestamps: true,
        }
    }

    /// The clock that stamps what passes at `at`: milliseconds.
    fn stamp(clock: u32, at: u64) -> u32 {
        clock.wrapping_add((at / 1_000_000) as u32)
    }

    fn server_id(&mut self) -> u16 {
        self.server_id = self.server_id.wrapping_add(1);
        self.server_id
    }

    fn client_id(&mut self) -> u16 {
        self.client_id = self.client_id.wrapping_add(1);
        self.client_id
    }

    fn server_seq(&self, offset: u64) -> u32 {
        self.server_isn.wrapping_add(1).wrapping_add(offset as u32)
    }

    /// The client receives a segment that passed at `at`.
    fn deliver(&mut self, at: u64, flying: &Flying) {
        let (start, end) = (flying.offset, flying.offset + u64::from(flying.len));
        for lost in &mut self.lost {
            if lost.offset < start {
                lost.missing -= 1;
            }
        }
        let round_ns = self.up_ns + self.down_ns;
        while let Some(place) = self.lost.iter().position(|lost| lost.missing == 0) {
            let lost = self.lost.remove(place);
            self.again.push_back((at + round_ns, lost));
        }
        if start <= self.last_ack {
            self.recent = flying.tsval;
        }
        if start > self.expected {
            let mut range = (start, end);
            self.above.retain(|&(other_start, other_end)| {
                let touches = other_start <= range.1 && other_end >= range.0;
                if touches {
                    range = (range.0.min(other_start), range.1.max(other_end));
                }
                !touches
            });
            self.above.insert(0, range);
            self.answer(at);
            return;
        }
        let holes = !self.above.is_empty();
        self.expected = self.expected.max(end);
        if let Some(place) = self
            .above
            .iter()
            .position(|&(start, _)| start <= self.expected)
        {
            self.expected = self.expected.max(self.above.remove(place).1);
        }
        if holes || self.held_until != NEVER {
            self.answer(at);
        } else {
            self.held_until = at + DELAYED_ACK_NS;
        }
    }

    /// The client sends an ACK, caused by what passed at `at`.
    fn answer(&mut self, at: u64) {
        self.held_until = NEVER;
        self.last_ack = self.expected;
        let mut sack = [(0, 0); 3];
        let sacks = self.above.len().min(3);
        sack[..sacks].copy_from_slice(&self.above[..sacks]);
        let passes = at + self.down_ns;
        self.answers.push_back(Answer {
            at: passes,
            ack: self.expected,
            sack,
            sacks: sacks as u8,
            tsval: Self::stamp(self.client_clock, at + self.down_ns / 2),
            tsecr: self.recent,
        });
    }
}

/// What opens connections, and how those that it opens send.
#[derive(Clone, Copy, Debug)]
struct Arrivals {
    /// Connections that stay, opened in the first `opening_ns` ns.
    elephants: u64,
    opening_ns: u64,
    /// Segments in a burst of theirs, and mean time from burst to burst, in ns.
    burst: u32,
    rest_ns: u64,
    /// Mean time between short connections, in ns.
    mouse_ns: u64,
    /// Round-trip time of all connections, where it does not vary, in ns.
    round_ns: Option<u64>,
}

impl Arrivals {
    fn of(synth: &Synth) -> Self {
        let filling = |elephants: u64, burst: u32, percent: u64| Self {
            elephants,
            opening_ns: 20_000_000,
            burst,
            rest_ns: elephants * u64::from(burst) * FRAME_NS * 100 / percent,
            mouse_ns: NEVER,
            round_ns: None,
        };
        match synth.profile {
            Profile::Bulk | Profile::PcapInPayload | Profile::Acks => filling(16, 16, 95),
            Profile::Mix => Self {
                opening_ns: 100_000_000,
                mouse_ns: 120 * PACKET_NS,
                ..filling(200, 16, 70)
            },
            Profile::Many(connections) => {
                let length_ns = synth.packets * PACKET_NS;
                // Four packets open a connection; a burst makes three.
                let bursts = (synth.packets / connections.max(1)).saturating_sub(4) / 3;
                Self {
                    elephants: connections,
                    opening_ns: length_ns * 6 / 10,
                    burst: 2,
                    rest_ns: length_ns / (2 * bursts.max(1)),
                    mouse_ns: NEVER,
                    round_ns: None,
                }
            }
            Profile::One => Self {
                opening_ns: 1,
                round_ns: Some(20_000 * FRAME_NS),
                ..filling(1, 64, 100)
            },
            Profile::Ugly => Self {
                opening_ns: 1_000_000,
                mouse_ns: 60 * PACKET_NS,
                ..filling(14, 8, 50)
            },
        }
    }
}

/// All connections.
struct Link {
    arrivals: Arrivals,
    random: Random,
    ugly: bool,
    losses: u64,
    connections: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    /// When each connection is due; [`ELEPHANT`] and [`MOUSE`] open new ones.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    opened: u64,
    opened_elephants: u64,
}

const ELEPHANT: u32 = u32::MAX;
const MOUSE: u32 = u32::MAX - 1;

impl Link {
    fn new(synth: &Synth) -> Self {
        let arrivals = Arrivals::of(synth);
        let mut heap = BinaryHeap::new();
        heap.push(Reverse((0, ELEPHANT)));
        if arrivals.mouse_ns != NEVER {
            heap.push(Reverse((0, MOUSE)));
        }
        Self {
            arrivals,
            random: Random(synth.seed),
            ugly: synth.profile == Profile::Ugly,
            losses: synth.losses,
            connections: Vec::new(),
            free: Vec::new(),
            heap,
            opened: 0,
            opened_elephants: 0,
        }
    }

    fn play<W: Write>(
        mut self,
        synth: &Synth,
        file: &mut File<W>,
        truth: &mut Truth,
    ) -> io::Result<()> {
        while file.records < synth.packets {
            let Some(mut top) = self.heap.peek_mut() else {
                break;
            };
            let Reverse((at, index)) = *top;
            if index >= MOUSE {
                std::collections::binary_heap::PeekMut::pop(top);
                self.open(at, index);
                continue;
            }
            let Some(connection) = &mut self.connections[index as usize] else {
                break;
            };
            connection.advance(at, &mut self.random, file)?;
            let due = connection.due();
            if due == NEVER {
                std::collections::binary_heap::PeekMut::pop(top);
                if let Some(connection) = self.connections[index as usize].take() {
                    connection.tell(truth);
                }
                self.free.push(index);
            } else {
                // Only sinks from the top: cheaper than to take it out and put it back.
                *top = Reverse((due, index));
            }
        }
        for connection in self.connections.into_iter().flatten() {
            connection.tell(truth);
        }
        Ok(())
    }

    fn open(&mut self, at: u64, kind: u32) {
        let arrivals = self.arrivals;
        let elephant = kind == ELEPHANT;
        let random = &mut self.random;
        if elephant {
            self.opened_elephants += 1;
            if self.opened_elephants < arrivals.elephants {
                let gap = 2 * arrivals.opening_ns / arrivals.elephants;
                self.heap.push(Reverse((at + random.below(gap + 1), kind)));
            }
        } else {
            let gap = random.below(2 * arrivals.mouse_ns + 1);
            self.heap.push(Reverse((at + gap, kind)));
        }
        let round_ns = arrivals
            .round_ns
            .unwrap_or(2_000_000 + random.below(60_000_000));
        let up_ns = 40_000 + random.below(360_000);
        let total = if elephant {
            NEVER
        } else {
            // Pareto with an exponent of 1.2, from 4 to 2,000 segments.
            let segments = 4.0 * random.unit().max(1e-9).powf(-1.0 / 1.2);
            segments.min(2000.0) as u64 * u64::from(MSS) - random.below(u64::from(MSS))
        };
        let number = self.opened;
        self.opened += 1;
        let wrap = if self.ugly {
            wrap_of(number)
        } else {
            Wrap::Plain
        };
        // Every fourth stream wraps soon.
        let server_isn = if number % 4 == 1 {
            u32::MAX - random.below(60_000) as u32
        } else {
            random.next() as u32
        };
        let rest_ns = arrivals.rest_ns / 2 + random.below(arrivals.rest_ns.max(1));
        let connection = Connection {
            number,
            wrap,
            up_ns,
            down_ns: round_ns - up_ns,
            step: Some((at, Step::Syn)),
            client_isn: random.next() as u32,
            server_isn,
            client_id: random.next() as u16,
            server_id: random.next() as u16,
            client_clock: random.next() as u32,
            server_clock: random.next() as u32,
            request_len: 100 + random.below(400) as u32,
            total,
            next: 0,
            next_at: NEVER,
            burst: if elephant { arrivals.burst } else { 10 },
            burst_left: 0,
            rest_ns: if !elephant {
                round_ns
            } else if arrivals.elephants == 1 {
                FRAME_NS * u64::from(arrivals.burst)
            } else {
                rest_ns
            },
            growing: !elephant,
            late: None,
            late_at: NEVER,
            passed: 0,
            late_behind: None,
            lost: Vec::new(),
            again: VecDeque::new(),
            expected: 0,
            above: Vec::new(),
            last_ack: 0,
            held_until: NEVER,
            recent: 0,
            echo: 0,
            echo_next: (NEVER, 0),
            answers: VecDeque::new(),
            keep_alives: if self.ugly && number.is_multiple_of(3) {
                2
            } else {
                0
            },
            losses: self.losses,
            up: Counts::default(),
            down: Counts::default(),
        };
        let index = if let Some(index) = self.free.pop() {
            self.connections[index as usize] = Some(Box::new(connection));
            index
        } else {
            self.connections.push(Some(Box::new(connection)));
            (self.connections.len() - 1) as u32
        };
        self.heap.push(Reverse((at, index)));
    }
}

impl Connection {
    /// Lets happen what is due at `at`.
    fn advance<W: Write>(
        &mut self,
        at: u64,
        random: &mut Random,
        file: &mut File<W>,
    ) -> io::Result<()> {
        if self.next_at == at {
            return self.send(at, random, file);
        }
        if self.answers.front().is_some_and(|answer| answer.at == at)
            && let Some(answer) = self.answers.pop_front()
        {
            return self.pass_answer(&answer, file);
        }
        if self.held_until == at {
            self.answer(at);
            return Ok(());
        }
        if self.late_at == at {
            self.late_at = NEVER;
            if let Some((_, flying)) = self.late.take() {
                // Those that should have overtaken it may have been lost before they passed.
                self.down.reordered += u64::from(self.passed > flying.offset);
                self.pass(at, &flying, file)?;
                self.deliver(at, &flying);
            }
            return Ok(());
        }
        if self.again.front().is_some_and(|&(due, _)| due == at)
            && let Some((_, lost)) = self.again.pop_front()
        {
            let flying = Flying {
                offset: lost.offset,
                len: lost.len,
                id: self.server_id(),
                tsval: Self::stamp(self.server_clock, at),
                again: true,
                seen: lost.seen,
            };
            self.pass(at, &flying, file)?;
            self.deliver(at, &flying);
            return Ok(());
        }
        match self.step {
            Some((due, step)) if due == at => self.take(at, step, file),
            _ => Ok(()),
        }
    }

    /// The server sends its next segment.
    fn send<W: Write>(
        &mut self,
        at: u64,
        random: &mut Random,
        file: &mut File<W>,
    ) -> io::Result<()> {
        if self.burst_left == 0 {
            self.burst_left = self.burst;
            if self.growing {
                self.burst = (self.burst * 2).min(256);
            }
        }
        self.burst_left -= 1;
        let len = (self.total - self.next).min(u64::from(MSS)) as u32;
        let flying = Flying {
            offset: self.next,
            len,
            id: self.server_id(),
            tsval: Self::stamp(self.server_clock, at),
            again: false,
            seen: false,
        };
        self.next += u64::from(len);
        let last = self.next == self.total;
        let before =
            u64::from(self.burst_left).min(((self.total - self.next) / u64::from(MSS)).min(8));
        self.next_at = if last {
            NEVER
        } else if self.burst_left > 0 {
            at + FRAME_NS
        } else {
            // From the start of this burst to the start of the next.
            let took = FRAME_NS * (u64::from(self.burst.min(256)) - 1);
            at + self
                .rest_ns
                .saturating_sub(if self.growing { 0 } else { took })
                .max(FRAME_NS)
        };
        // One draw decides between the rare fates.
        match random.below(10_000) {
            fate if fate < self.losses => {
                // Half are lost before they pass, half behind.
                let seen = fate < self.losses / 2;
                if seen {
                    self.pass(at, &flying, file)?;
                }
                self.lost.push(Lost {
                    offset: flying.offset,
                    len,
                    seen,
                    missing: 3,
                });
            }
            9990..=9994 if before > 0 && self.late.is_none() => {
                self.late = Some((1 + random.below(before) as u32, flying));
                return Ok(());
            }
            9995..=9999 if before > 0 && self.late_behind.is_none() => {
                self.pass(at, &flying, file)?;
                self.late_behind = Some((1 + random.below(before) as u32, flying));
                return Ok(());
            }
            _ => {
                self.pass(at, &flying, file)?;
                self.deliver(at, &flying);
            }
        }
        self.count_down(at);
        if last {
            let due = at + self.up_ns + self.down_ns + TIMEOUT_NS;
            for (place, lost) in std::mem::take(&mut self.lost).into_iter().enumerate() {
                self.again.push_back((due + FRAME_NS * place as u64, lost));
            }
        }
        Ok(())
    }

    /// One more segment has passed those that are overtaken.
    fn count_down(&mut self, at: u64) {
        if let Some((before, _)) = &mut self.late {
            *before -= 1;
            if *before == 0 {
                self.late_at = at + 100;
            }
        }
        if let Some((before, flying)) = &mut self.late_behind {
            *before -= 1;
            if *before == 0 {
                let flying = *flying;
                self.late_behind = None;
                self.deliver(at, &flying);
            }
        }
    }

    /// A data segment passes the vantage point.
    fn pass<W: Write>(&mut self, at: u64, flying: &Flying, file: &mut File<W>) -> io::Result<()> {
        if at >= self.echo_next.0 {
            self.echo = self.echo_next.1;
            self.echo_next.0 = NEVER;
        }
        let packet = Packet {
            id: flying.id,
            seq: self.server_seq(flying.offset),
            ack: self.client_isn.wrapping_add(1 + self.request_len),
            flags: ACK
                | if flying.offset + u64::from(flying.len) == self.total {
                    PSH
                } else {
                    0
                },
            offset: flying.offset,
            len: flying.len,
            tsval: flying.tsval,
            tsecr: self.echo,
            ..self.packet(at, true)
        };
        let (packets, bytes) = file.packet(&packet)?;
        let len = u64::from(flying.len);
        self.passed = self.passed.max(flying.offset);
        self.up.acked_bytes = u64::from(self.request_len);
        self.down.packets += packets;
        self.down.data_packets += packets;
        self.down.ip_bytes += bytes;
        self.down.payload_bytes += len;
        self.down.unique_bytes += if flying.seen { 0 } else { len };
        self.down.retransmissions += u64::from(flying.again);
        Ok(())
    }

    /// An ACK passes the vantage point.
    fn pass_answer<W: Write>(&mut self, answer: &Answer, file: &mut File<W>) -> io::Result<()> {
        let mut packet = Packet {
            id: self.client_id(),
            seq: self.client_isn.wrapping_add(1 + self.request_len),
            ack: self.server_seq(answer.ack),
            tsval: answer.tsval,
            tsecr: answer.tsecr,
            sacks: answer.sacks,
            ..self.packet(answer.at, false)
        };
        for (to, from) in packet.sack.iter_mut().zip(&answer.sack) {
            *to = (self.server_seq(from.0), self.server_seq(from.1));
        }
        self.count_up(file.packet(&packet)?);
        self.down.acked_bytes = self.down.acked_bytes.max(answer.ack);
        if self.echo_next.0 == NEVER {
            self.echo_next = (answer.at + self.up_ns, answer.tsval);
        }
        if answer.ack == self.total {
            let next = if self.keep_alives > 0 {
                (answer.at + 20_000_000, Step::KeepAlive)
            } else {
                (answer.at + self.up_ns, Step::ServerFin)
            };
            self.step = Some(next);
        }
        Ok(())
    }

    fn count_up(&mut self, (packets, bytes): (u64, u64)) {
        self.up.packets += packets;
        self.up.ip_bytes += bytes;
    }

    fn count_down_empty(&mut self, (packets, bytes): (u64, u64)) {
        self.down.packets += packets;
        self.down.ip_bytes += bytes;
    }

    /// A packet of the client, or of the server, without payload.
    fn empty(&mut self, at: u64, down: bool) -> Packet {
        let packet = self.packet(at, down);
        if down {
            Packet {
                id: self.server_id(),
                seq: self.server_seq(self.next),
                ack: self.client_isn.wrapping_add(1 + self.request_len),
                tsval: Self::stamp(self.server_clock, at),
                tsecr: self.echo,
                ..packet
            }
        } else {
            Packet {
                id: self.client_id(),
                seq: self.client_isn.wrapping_add(1 + self.request_len),
                ack: self.server_seq(self.expected),
                tsval: Self::stamp(self.client_clock, at),
                tsecr: self.recent,
                ..packet
            }
        }
    }

    /// Handshake, request and end.
    fn take<W: Write>(&mut self, at: u64, step: Step, file: &mut File<W>) -> io::Result<()> {
        let down = matches!(
            step,
            Step::SynAck | Step::KeepAlive | Step::ServerFin | Step::LastAck
        );
        let mut packet = self.empty(at, down);
        self.step = None;
        match step {
            Step::Syn => {
                packet.seq = self.client_isn;
                packet.ack = 0;
                packet.flags = SYN;
                packet.tsecr = 0;
                self.echo = packet.tsval;
                self.step = Some((at + self.up_ns, Step::SynAck));
            }
            Step::SynAck => {
                packet.seq = self.server_isn;
                packet.ack = self.client_isn.wrapping_add(1);
                packet.flags = SYN | ACK;
                self.recent = packet.tsval;
                self.step = Some((at + self.down_ns, Step::HandshakeAck));
            }
            Step::HandshakeAck => {
                packet.seq = self.client_isn.wrapping_add(1);
                packet.ack = self.server_seq(0);
                self.step = Some((at + 20_000, Step::Request));
            }
            Step::Request => {
                packet.seq = self.client_isn.wrapping_add(1);
                packet.ack = self.server_seq(0);
                packet.flags = ACK | PSH;
                packet.len = self.request_len;
                self.echo = packet.tsval;
                self.up.data_packets += 1;
                self.up.payload_bytes += u64::from(self.request_len);
                self.up.unique_bytes += u64::from(self.request_len);
                self.next_at = at + self.up_ns;
            }
            Step::KeepAlive => {
                self.keep_alives -= 1;
                packet.seq = self.server_seq(self.total - 1);
                // Some systems send a byte, others none.
                packet.len = u32::from(self.keep_alives);
                packet.offset = self.total - 1;
                self.down.payload_bytes += u64::from(packet.len);
                self.down.data_packets += u64::from(packet.len);
                self.step = Some((at + self.down_ns, Step::KeepAliveAnswer));
            }
            Step::KeepAliveAnswer => {
                self.step = Some(if self.keep_alives > 0 {
                    (at + 20_000_000, Step::KeepAlive)
                } else {
                    (at + self.up_ns, Step::ServerFin)
                });
            }
            Step::ServerFin => {
                packet.flags = FIN | ACK;
                self.step = Some((at + self.down_ns, Step::ClientFin));
            }
            Step::ClientFin => {
                packet.flags = FIN | ACK;
                packet.ack = packet.ack.wrapping_add(1);
                self.step = Some((at + self.up_ns, Step::LastAck));
            }
            Step::LastAck => {
                packet.seq = packet.seq.wrapping_add(1);
                packet.ack = packet.ack.wrapping_add(1);
            }
        }
        let written = file.packet(&packet)?;
        if down {
            self.count_down_empty(written);
        } else {
            self.count_up(written);
        }
        Ok(())
    }

    /// Enters what passed into the truth.
    fn tell(&self, truth: &mut Truth) {
        let (client, server) = ends(self.number, self.wrap);
        for (src, dst, counts) in [(client, server, self.up), (server, client, self.down)] {
            if counts.data_packets > 0 {
                truth.total.add(&counts);
                truth.flows.push(FlowTruth { src, dst, counts });
            }
        }
    }
}

/// ACKs and nothing else, but for one request each.
fn storm<W: Write>(synth: &Synth, file: &mut File<W>, truth: &mut Truth) -> io::Result<()> {
    const CONNECTIONS: usize = 64;
    const REQUEST: u32 = 6;
    let mut random = Random(synth.seed);
    let mut acks = [0_u32; CONNECTIONS];
    let mut counts = [Counts::default(); CONNECTIONS];
    acks.fill_with(|| random.next() as u32);
    let isns = acks;
    while file.records < synth.packets {
        let index = random.below(CONNECTIONS as u64) as usize;
        let counted = &mut counts[index];
        let first = counted.packets == 0;
        let packet = Packet {
            at: file.records * 67 + file.records / 5,
            number: index as u64,
            wrap: Wrap::Plain,
            down: false,
            id: counted.packets as u16,
            seq: isns[index].wrapping_add(if first { 0 } else { REQUEST }),
            ack: acks[index],
            flags: ACK,
            offset: 0,
            len: if first { REQUEST } else { 0 },
            tsval: 0,
            tsecr: 0,
            sack: [(0, 0); 3],
            sacks: 0,
            timestamps: false,
        };
        acks[index] = acks[index].wrapping_add(2 * MSS);
        let (packets, bytes) = file.packet(&packet)?;
        counted.packets += packets;
        counted.ip_bytes += bytes;
        if first {
            counted.data_packets = 1;
            counted.payload_bytes = u64::from(REQUEST);
            counted.unique_bytes = u64::from(REQUEST);
        }
    }
    for (number, counts) in counts.into_iter().enumerate() {
        let (src, dst) = ends(number as u64, Wrap::Plain);
        if counts.data_packets > 0 {
            truth.total.add(&counts);
            truth.flows.push(FlowTruth { src, dst, counts });
        }
    }
    Ok(())
}
