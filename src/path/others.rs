//! What makes a packet that is not TCP, or not whole, the same packet at another point.

use std::hash::Hasher;

use super::rules::{Identity, Rules, UdpChecksums};
use crate::decode::IpPacket;
use crate::seq::Seq;

/// How many packets of a point have a checksum that a card was yet to finish.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UdpTally {
    datagrams: u64,
    unfinished: u64,
}

impl UdpTally {
    pub(super) fn see(&mut self, packet: &IpPacket) {
        if let Some(checksum) = udp_checksum(packet) {
            self.datagrams += 1;
            self.unfinished += u64::from(folded(checksum.into()) == unfinished_sum(packet));
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.datagrams += other.datagrams;
        self.unfinished += other.unfinished;
    }

    /// By chance one in 65,536 has such a checksum.
    pub(super) fn told(self) -> UdpChecksums {
        if self.unfinished >= 2 && 1000 * self.unfinished >= self.datagrams {
            UdpChecksums::Unfinished
        } else {
            UdpChecksums::Count
        }
    }
}

/// The checksum of a datagram that has one.
pub(super) fn udp_checksum(packet: &IpPacket) -> Option<u16> {
    let is_seen = packet.protocol == UDP && packet.fragment_offset == 0 && packet.head_len >= 8;
    let checksum = word(packet, UDP_CHECKSUM);
    (is_seen && checksum != 0).then_some(checksum)
}

/// What senders put in the place of a checksum that the card is to finish: the sum of addresses, protocol and length.
fn unfinished_sum(packet: &IpPacket) -> u16 {
    let lengths = u32::from(packet.protocol) + u32::from(word(packet, UDP_LENGTH));
    folded(sum_of_addresses(packet) + lengths)
}

/// Writes what counts of such a packet: its length and first bytes, less what translation rewrites and, of UDP, less a
/// checksum that one of the points does not have.
pub(super) fn write_other(hasher: &mut impl Hasher, packet: &IpPacket, rules: Rules) {
    hasher.write_u64(u64::from(packet.len) << 16 | u64::from(packet.fragment_offset));
    let counted = match rules.options {
        Identity::WithoutAck => COUNTED_OF_CUT,
        _ => COUNTED,
    };
    let head = &packet.head[..counted];
    let is_translated = rules.identity >= Identity::WithoutAddresses;
    match packet.protocol {
        // Only the first fragment has a header.
        _ if packet.fragment_offset > 0 => hasher.write(head),
        UDP if rules.udp_checksums == UdpChecksums::Unfinished => hasher.write(&head[8..]),
        _ if !is_translated => hasher.write(head),
        UDP | UDP_LITE => {
            hasher.write_u16(untranslated_sum(packet, &[0, 2], Pseudo::Counts));
            hasher.write(&head[8..]);
        }
        ICMP | ICMPV6 => write_icmp(hasher, packet, head),
        _ => hasher.write(&head[8..]),
    }
}

/// Whether the snap length cut off some of the bytes that count, as a header of IPv6 leaves them no room in 64 bytes.
pub(super) fn is_head_cut(packet: &IpPacket) -> bool {
    let captured = u32::from(packet.head_len);
    packet.fragment_offset == 0
        && captured < COUNTED as u32
        && packet.len > ip_header_len(packet) + captured
}

/// The sequence number of a TCP segment that was cut behind it.
pub(super) fn cut_seq(packet: &IpPacket) -> Option<Seq> {
    let is_seen = packet.protocol == TCP && packet.fragment_offset == 0 && packet.head_len >= 8;
    let bytes = packet.head[4..8].try_into().ok()?;
    is_seen.then_some(Seq(u32::from_be_bytes(bytes)))
}

/// Whether a TCP segment that was cut is longer than headers are.
pub(super) fn surely_has_payload(packet: &IpPacket) -> bool {
    /// The longest header of TCP.
    const TCP_HEADER_MAX: u32 = 60;
    packet.protocol == TCP
        && packet.fragment_offset == 0
        && packet.len > ip_header_len(packet) + TCP_HEADER_MAX
}

/// Length of an IP header without options, in bytes.
fn ip_header_len(packet: &IpPacket) -> u32 {
    if packet.src.ip().is_ipv4() { 20 } else { 40 }
}

/// Type, code and, of what asks and what answers, the sequence number and the rest of the checksum, since identifiers
/// are translated as ports are (RFC 5508 section 3.1). Errors are told by the packet that they are about.
fn write_icmp(hasher: &mut impl Hasher, packet: &IpPacket, head: &[u8]) {
    hasher.write(&head[..2]);
    if is_query(packet) {
        let pseudo = if packet.protocol == ICMP {
            Pseudo::None
        } else {
            Pseudo::Counts
        };
        hasher.write_u16(untranslated_sum(packet, &[ICMP_IDENTIFIER], pseudo));
        hasher.write(&head[6..8]);
    }
    hasher.write(&head[8..]);
}

/// Whether a packet of ICMP asks or answers.
fn is_query(packet: &IpPacket) -> bool {
    match packet.protocol {
        // Echo, timestamp and address mask (RFC 792, RFC 950).
        ICMP => matches!(packet.head[0], 0 | 8 | 13..=18),
        // Echo (RFC 4443 section 4).
        ICMPV6 => matches!(packet.head[0], 128 | 129),
        _ => false,
    }
}

/// The identifier of a packet that asks or answers, as far as it was captured.
pub(super) fn query_identifier(packet: &IpPacket) -> Option<u16> {
    let is_seen = packet.fragment_offset == 0 && packet.head_len >= 6;
    (is_seen && is_query(packet)).then(|| word(packet, ICMP_IDENTIFIER))
}

/// Whether a checksum is over the addresses, too (RFC 768, RFC 8200 section 8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pseudo {
    Counts,
    None,
}

/// What is left of a checksum without the addresses and the words of the header that translation rewrites: who rewrites
/// these makes up for it in the checksum (RFC 3022 section 4.2), so it stays the same. 0 where there is no checksum.
fn untranslated_sum(packet: &IpPacket, words_at: &[usize], pseudo: Pseudo) -> u16 {
    let checksum = match packet.protocol {
        ICMP | ICMPV6 => word(packet, ICMP_CHECKSUM),
        _ => word(packet, UDP_CHECKSUM),
    };
    if checksum == 0 {
        return 0;
    }
    let mut translated: u32 = words_at.iter().map(|&at| u32::from(word(packet, at))).sum();
    if pseudo == Pseudo::Counts {
        translated += sum_of_addresses(packet);
    }
    // In one's complement, what is taken away is added as what it lacks of all ones.
    folded(u32::from(!checksum) + u32::from(!folded(translated)))
}

/// Of the words of both addresses; those that IPv4 has none of are 0 or all ones.
fn sum_of_addresses(packet: &IpPacket) -> u32 {
    let octets = [packet.src, packet.dst].map(|end| end.octets());
    let words = octets.as_flattened().chunks_exact(2);
    words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum()
}

/// A word of what a packet carries, from a byte on.
fn word(packet: &IpPacket, at: usize) -> u16 {
    u16::from_be_bytes([packet.head[at], packet.head[at + 1]])
}

/// A sum of words in one's complement, where all ones are 0.
fn folded(sum: u32) -> u16 {
    (sum % 0xffff) as u16
}

/// Where the fields are.
const ICMP_CHECKSUM: usize = 2;
const ICMP_IDENTIFIER: usize = 4;
const UDP_LENGTH: usize = 4;
const UDP_CHECKSUM: usize = 6;

/// Bytes behind the IP header that count.
const COUNTED: usize = 16;

/// The same where a snap length cut more of them off.
const COUNTED_OF_CUT: usize = 8;

pub(super) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMPV6: u8 = 58;
pub(super) const UDP_LITE: u8 = 136;

#[cfg(test)]
mod tests {
    use foldhash::quality::FixedState;
    use std::hash::BuildHasher;

    use super::*;
    use crate::decode::{Ecn, Endpoint, HEAD_LEN};

    const HOSTS: [[u8; 4]; 2] = [[10, 0, 0, 1], [192, 0, 2, 7]];
    const ROUTER: [u8; 4] = [198, 51, 100, 201];

    /// A packet with the checksum that its sender gives it.
    fn packet([src, dst]: [[u8; 4]; 2], protocol: u8, mut words: Vec<u16>) -> IpPacket {
        let (at, pseudo) = match protocol {
            ICMP => (1, Vec::new()),
            _ => (3, [src, dst].concat()),
        };
        words[at] = 0;
        let of_addresses = pseudo
            .chunks(2)
            .map(|word| u16::from_be_bytes([word[0], word[1]]));
        let of_length = [u16::from(protocol), 2 * words.len() as u16];
        let more: Vec<u16> = of_addresses.chain(of_length).collect();
        let counted = if pseudo.is_empty() { &[] } else { &more[..] };
        let mut sum: u32 = words
            .iter()
            .chain(counted)
            .map(|&word| u32::from(word))
            .sum();
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        words[at] = !(sum as u16);
        let mut head = [0; HEAD_LEN];
        for (place, word) in head.chunks_exact_mut(2).zip(&words) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        IpPacket {
            src: Endpoint::v4(src, 0),
            dst: Endpoint::v4(dst, 0),
            protocol,
            len: 20 + 2 * words.len() as u32,
            id: None,
            ecn: Ecn::NotEct,
            fragment_offset: 0,
            head,
            head_len: HEAD_LEN as u8,
        }
    }

    fn key(packet: &IpPacket, identity: Identity) -> u64 {
        let mut hasher = FixedState::with_seed(1).build_hasher();
        write_other(
            &mut hasher,
            packet,
            Rules {
                identity,
                ..Rules::STRICTEST
            },
        );
        hasher.finish()
    }

    /// The first words, the rest the same for all packets of a second: `ping` begins its payload with the time.
    fn with_payload(first: &[u16], last: u16) -> Vec<u16> {
        [first, &[0x1234, 0x6789, 0, 0, 0, 0, last]].concat()
    }

    #[test]
    fn pings_behind_a_translator_are_told_from_each_other_and_from_their_answers() {
        let echo = |ends, kind: u16, id, number| {
            packet(ends, ICMP, with_payload(&[kind << 8, 0, id, number], 9))
        };
        let [host, server] = HOSTS;
        let asks = |number| echo([host, server], 8, 77, number);
        let asks_behind = |number| echo([ROUTER, server], 8, 40_001, number);
        let identity = Identity::WithoutEndpoints;
        assert_eq!(key(&asks(1), identity), key(&asks_behind(1), identity));
        let answer = echo([server, ROUTER], 0, 40_001, 1);
        for other in [asks_behind(2), answer] {
            assert_ne!(key(&asks(1), identity), key(&other, identity));
        }
        // Beyond the bytes that count, its checksum tells one from another.
        let mut other = asks_behind(1);
        other.head[3] ^= 1;
        assert_ne!(key(&asks(1), identity), key(&other, identity));
        assert_ne!(
            key(&asks(1), Identity::Full),
            key(&asks_behind(1), Identity::Full)
        );
    }

    /// Packets of QUIC begin with the same connection id, and may have no IP id.
    #[test]
    fn datagrams_behind_a_translator_are_told_from_each_other_by_the_rest_of_their_checksum() {
        let [host, server] = HOSTS;
        let sent =
            |src, port, last| packet([src, server], UDP, with_payload(&[port, 443, 22, 0], last));
        for identity in [Identity::WithoutAddresses, Identity::WithoutEndpoints] {
            for last in 0..100 {
                let behind = sent(ROUTER, 61_000, last);
                assert_eq!(
                    key(&sent(host, 5000, last), identity),
                    key(&behind, identity)
                );
                assert_ne!(
                    key(&sent(host, 5000, last + 1), identity),
                    key(&behind, identity)
                );
            }
        }
    }

    #[test]
    fn errors_behind_a_translator_are_the_same_whatever_it_rewrote_in_them() {
        let [host, server] = HOSTS;
        // Port unreachable, about a datagram of 100 bytes with IP id 0x4321.
        let about = |host, checksum| {
            let words = vec![
                0x0303, 0, 0, 0, 0x4500, 100, 0x4321, 0x4000, 0x4011, checksum,
            ];
            packet([server, host], ICMP, words)
        };
        let identity = Identity::WithoutAddresses;
        assert_eq!(
            key(&about(ROUTER, 0x1111), identity),
            key(&about(host, 0x2222), identity)
        );
    }
}
