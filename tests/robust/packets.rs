//! TCP conversations played from a script of bytes: any bytes are a script, so a fuzzer can write
//! it, and twelve of them are a packet, so that a small change of the script is a small change of
//! the conversation.

#[path = "../support/wire.rs"]
pub(crate) mod wire;

use wire::{Ipv4, tcp};
pub(crate) use wire::{Packet, RAW_IP, pcap};

/// Bytes of one step, which is one packet.
pub(crate) const STEP_BYTES: usize = 12;

/// Bytes kept of each packet: all headers and options, little of the payload.
const SNAP_BYTES: usize = 120;

/// When scripts begin, in seconds since the epoch.
const START_S: i64 = 1_700_000_000;

/// Changes of everything a script says, which must change nothing but the answers' names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Twist {
    /// Added to all times, in ns.
    pub(crate) later_ns: i64,
    /// Added to all sequence numbers.
    pub(crate) seq: u32,
    /// The two ends of each connection get each other's address and port.
    pub(crate) exchange: bool,
    /// Other hosts, which have nothing to do with those of a script without this.
    pub(crate) elsewhere: bool,
}

/// What one direction of a connection has sent.
#[derive(Clone, Copy, Default)]
struct Sender {
    /// After the highest byte sent.
    next: u32,
    clock: u32,
    ip_id: u16,
}

/// What a step is, in the script's first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Data,
    Ack,
    Syn,
    SynAck,
    Fin,
    Reset,
    DataFin,
}

/// Plays a script, of packets that begin with their IP header; what is left of it after the last whole step is ignored.
pub(crate) fn play(script: &[u8], twist: Twist) -> Vec<Packet> {
    let mut senders = [[Sender::default(); 2]; 4];
    for (index, connection) in senders.iter_mut().enumerate() {
        // One connection wraps at once, one wraps soon, one looks as if it were signed.
        connection[0].next = [1_000, u32::MAX - 5_000, 0x7fff_f000, 0][index];
        connection[1].next = 77;
    }
    let mut at_ns = START_S * 1_000_000_000;
    let (steps, _) = script.as_chunks::<STEP_BYTES>();
    steps
        .iter()
        .map(|step| {
            let amount = i64::from(step[1]);
            at_ns += match step[0] >> 6 {
                0 => amount * 1_000,
                1 => amount * 1_000_000,
                2 => amount * 100_000_000,
                // A clock that steps back, by at most 25 ms.
                _ => amount * -100_000,
            };
            let connection = usize::from(step[0] & 3);
            let bytes = packet(step, &mut senders[connection], twist);
            Packet {
                at_ns: at_ns + twist.later_ns,
                original_len: bytes.len() as u32,
                bytes: bytes[..bytes.len().min(SNAP_BYTES)].to_vec(),
            }
        })
        .collect()
}

/// The packet of one step, whole.
fn packet(step: &[u8; STEP_BYTES], ends: &mut [Sender; 2], twist: Twist) -> Vec<u8> {
    let kind = match step[0] >> 3 & 7 {
        0 | 1 => Kind::Data,
        2 => Kind::Ack,
        3 => Kind::Syn,
        4 => Kind::SynAck,
        5 => Kind::Fin,
        6 => Kind::Reset,
        _ => Kind::DataFin,
    };
    let way = usize::from(step[0] >> 2 & 1);
    let word = |at: usize| i16::from_le_bytes([step[at], step[at + 1]]);
    let has = |bit: u8| step[8] & 1 << bit != 0;
    let (off, ack_off) = (word(2), word(4));
    let peer = ends[1 - way];
    let sender = &mut ends[way];
    let payload_len = if matches!(kind, Kind::Data | Kind::DataFin) {
        word(6) as u16 & if has(2) { 0xefff } else { 0x7ff }
    } else {
        0
    };
    let mut seq = sender.next;
    if has(0) {
        // Somewhere else in the stream, or with the sixth bit anywhere at all.
        let off = i32::from(off) << if has(6) { 16 } else { 0 };
        seq = seq.wrapping_add_signed(off);
    }
    let mut ack = peer.next;
    if has(1) {
        ack = ack.wrapping_add_signed(i32::from(ack_off));
    }
    let flags: u8 = match kind {
        Kind::Data => 0x18,
        Kind::Ack => 0x10,
        Kind::Syn => 0x02,
        Kind::SynAck => 0x12,
        Kind::Fin | Kind::DataFin => 0x11,
        Kind::Reset => 0x04,
    };
    let takes = u32::from(payload_len) + u32::from(flags & 3 != 0);
    let end = seq.wrapping_add(takes);
    if !has(6) && end.wrapping_sub(sender.next).cast_signed() > 0 {
        sender.next = end;
    }
    sender.clock = sender.clock.wrapping_add(u32::from(step[9]));
    sender.ip_id = sender.ip_id.wrapping_add(u16::from(step[10] & 3));
    let shifted = |seq: u32| seq.wrapping_add(twist.seq);

    let mut options = Vec::new();
    if flags & 2 != 0 {
        options.extend([2, 4, 5, 0xb4, 4, 2, 3, 3, step[11] & 15, 1]);
    }
    if has(3) {
        options.extend([8, 10]);
        options.extend(sender.clock.to_be_bytes());
        options.extend(peer.clock.to_be_bytes());
    }
    if has(4) && flags & 2 == 0 {
        // A block that begins above the ACK; with the fifth bit one below it, a DSACK, comes first.
        let blocks = 1 + usize::from(has(5));
        options.extend([5, 2 + 8 * blocks as u8]);
        if has(5) {
            options.extend(shifted(ack.wrapping_sub(u32::from(step[11]) + 1)).to_be_bytes());
            options.extend(shifted(ack).to_be_bytes());
        }
        let start = shifted(ack.wrapping_add(1 + (u32::from(step[10]) << 4)));
        let end = start.wrapping_add(1 + u32::from(step[11]) * 8);
        options.extend([start, end].map(u32::to_be_bytes).as_flattened());
    }
    options.resize(options.len().next_multiple_of(4), 1);

    let tcp_len = 20 + options.len() + usize::from(payload_len);
    let mut bytes = ip_header(step, way, sender.ip_id, tcp_len, twist);
    let connection = step[0] & 3;
    let ports = ports(connection, (way == 1) != twist.exchange);
    // Without the flag the field means nothing, and most hosts send 0.
    let ack = if flags & 0x10 == 0 { 0 } else { shifted(ack) };
    let window = u16::from(step[11]) << 8;
    bytes.extend(tcp(ports, [shifted(seq), ack], flags, window, &options));
    bytes.resize(bytes.len() + usize::from(payload_len), 0);
    bytes
}

/// The third connection is IPv6, the others are IPv4.
fn ip_header(
    step: &[u8; STEP_BYTES],
    way: usize,
    ip_id: u16,
    tcp_len: usize,
    twist: Twist,
) -> Vec<u8> {
    let connection = step[0] & 3;
    let net = if twist.elsewhere { 20 } else { 10 };
    // The first two connections are between the same hosts.
    let hosts = [(1, 9), (1, 9), (2, 9), (9, 8)][usize::from(connection)];
    let (src, dst) = if (way == 1) == twist.exchange {
        hosts
    } else {
        (hosts.1, hosts.0)
    };
    let ecn = step[9] & 3;
    if connection == 2 {
        let address = |host: u8| {
            let mut address = [0; 16];
            (address[0], address[1], address[15]) = (0xfd, net, host);
            address
        };
        let mut bytes = vec![0x60, ecn << 4, 0, 0];
        bytes.extend((tcp_len as u16).to_be_bytes());
        bytes.extend([6, 64]);
        bytes.extend(address(src));
        bytes.extend(address(dst));
        return bytes;
    }
    // Segmentation offload leaves the length to the network card, as 0.
    let length = if step[8] & 0x80 != 0 {
        0
    } else {
        20 + tcp_len as u16
    };
    let hosts = [src, dst].map(|host| [net, 0, 0, host]);
    Ipv4 {
        id: ip_id,
        ecn,
        ..Ipv4::tcp(hosts)
    }
    .header(length)
}

fn ports(connection: u8, exchanged: bool) -> [u16; 2] {
    let (client, server) = (40_000 + u16::from(connection), 443);
    if exchanged {
        [server, client]
    } else {
        [client, server]
    }
}
