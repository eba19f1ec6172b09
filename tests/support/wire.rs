//! Captures in the making: TCP over IPv4, and files of pcap and pcapng. Tests of several crates and examples share this,
//! and each needs some of it.

use std::borrow::Borrow;

/// Packets that begin with their IP header, as captures name that.
pub(crate) const RAW_IP: u16 = 101;
/// Packets that begin with an Ethernet header.
pub(crate) const ETHERNET: u16 = 1;

/// A packet as a capture holds it.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) at_ns: i64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) original_len: u32,
}

impl Packet {
    /// One that begins with its IPv4 header, and is as long as that says, whatever is captured of it.
    pub(crate) fn ipv4(at_ns: i64, bytes: Vec<u8>) -> Self {
        Self {
            at_ns,
            original_len: u32::from(u16::from_be_bytes([bytes[2], bytes[3]])),
            bytes,
        }
    }
}

/// What an IPv4 header says.
#[derive(Clone, Copy)]
pub(crate) struct Ipv4 {
    /// Source and destination.
    pub(crate) hosts: [[u8; 4]; 2],
    pub(crate) id: u16,
    pub(crate) ecn: u8,
    /// Flags and offset.
    pub(crate) fragment: u16,
    pub(crate) protocol: u8,
}

impl Ipv4 {
    /// That of TCP, which is not to be fragmented.
    pub(crate) const fn tcp(hosts: [[u8; 4]; 2]) -> Self {
        Self {
            hosts,
            id: 0,
            ecn: 0,
            fragment: 0x4000,
            protocol: 6,
        }
    }

    /// The header of a packet that says to be so long.
    pub(crate) fn header(self, len: u16) -> Vec<u8> {
        let mut header = vec![0x45, self.ecn];
        header.extend([len, self.id, self.fragment].map(u16::to_be_bytes).concat());
        header.extend([64, self.protocol, 0, 0]);
        header.extend(self.hosts.concat());
        header
    }
}

/// A TCP header: source and destination, sequence and acknowledgement.
pub(crate) fn tcp(
    ports: [u16; 2],
    numbers: [u32; 2],
    flags: u8,
    window: u16,
    options: &[u8],
) -> Vec<u8> {
    let mut header = ports.map(u16::to_be_bytes).concat();
    header.extend(numbers.map(u32::to_be_bytes).concat());
    header.extend([(20 + options.len() as u8) << 2, flags]);
    header.extend(window.to_be_bytes());
    header.extend([0; 4]);
    header.extend(options);
    header
}

/// The headers of a TCP segment over IPv4 with so many bytes of payload.
pub(crate) fn tcp4(
    ends: [([u8; 4], u16); 2],
    numbers: [u32; 2],
    flags: u8,
    payload_bytes: u16,
) -> Vec<u8> {
    let ip = Ipv4::tcp(ends.map(|(host, _)| host));
    let tcp = tcp(ends.map(|(_, port)| port), numbers, flags, 0xffff, &[]);
    [ip.header(40 + payload_bytes), tcp].concat()
}

/// What a pcap file says of its records.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    /// 1 or 1000.
    pub(crate) tick_ns: i64,
    pub(crate) snap: u32,
    pub(crate) link: u16,
    pub(crate) order: fn(u32) -> [u8; 4],
}

impl Format {
    /// Of raw IP, with nanoseconds, in little-endian order.
    pub(crate) const RAW: Self = Self {
        tick_ns: 1,
        snap: 262_144,
        link: RAW_IP,
        order: u32::to_le_bytes,
    };

    /// The begin of the file.
    pub(crate) fn head(self) -> Vec<u8> {
        let magic = if self.tick_ns == 1 {
            0xa1b2_3c4d
        } else {
            0xa1b2_c3d4
        };
        let mut head = (self.order)(magic).to_vec();
        // Version 2.4 is two numbers of 16 bits.
        let is_big = (self.order)(1) == [0, 0, 0, 1];
        head.extend(if is_big { [0, 2, 0, 4] } else { [2, 0, 4, 0] });
        let rest = [0, 0, self.snap, u32::from(self.link)];
        head.extend(rest.map(self.order).as_flattened());
        head
    }

    /// The packet as a record.
    pub(crate) fn record(self, packet: &Packet) -> Vec<u8> {
        let fields = [
            packet.at_ns.div_euclid(1_000_000_000) as u32,
            (packet.at_ns.rem_euclid(1_000_000_000) / self.tick_ns) as u32,
            packet.bytes.len() as u32,
            packet.original_len,
        ];
        let mut record = Vec::with_capacity(16 + packet.bytes.len());
        record.extend(fields.map(self.order).as_flattened());
        record.extend(&packet.bytes);
        record
    }

    /// The file of these packets.
    pub(crate) fn file(self, packets: impl IntoIterator<Item: Borrow<Packet>>) -> Vec<u8> {
        let mut file = self.head();
        for packet in packets {
            file.extend(self.record(packet.borrow()));
        }
        file
    }
}

/// A pcap file of packets that begin with their IP header.
pub(crate) fn pcap(packets: impl IntoIterator<Item: Borrow<Packet>>) -> Vec<u8> {
    Format::RAW.file(packets)
}

/// A block of pcapng.
pub(crate) fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = (12 + padded) as u32;
    let mut block = Vec::with_capacity(length as usize);
    block.extend([kind, length].map(u32::to_le_bytes).as_flattened());
    block.extend(body);
    block.resize(8 + padded, 0);
    block.extend(length.to_le_bytes());
    block
}

/// The block that a section of pcapng begins with.
pub(crate) fn section_block() -> Vec<u8> {
    let body = [0x1a2b_3c4d, 1, u32::MAX, u32::MAX];
    block(0x0a0d_0d0a, body.map(u32::to_le_bytes).as_flattened())
}

/// The block of a packet, at so many ticks of its interface's clock.
pub(crate) fn packet_block(interface: u32, ticks: u64, bytes: &[u8], original_len: u32) -> Vec<u8> {
    let fields = [
        interface,
        (ticks >> 32) as u32,
        ticks as u32,
        bytes.len() as u32,
        original_len,
    ];
    let mut body = fields.map(u32::to_le_bytes).concat();
    body.extend(bytes);
    block(6, &body)
}
