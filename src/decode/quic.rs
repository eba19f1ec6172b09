//! What a datagram of QUIC shows of itself: all else is encrypted.

/// The first bytes of a QUIC packet, if that is what a datagram begins with: nothing but its endpoints knows for certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuicHeader {
    /// A long one, as during the handshake (RFC 8999 section 5.1).
    Long {
        /// Of QUIC, 0 in a negotiation of it.
        version: u32,
        /// Of all that the datagram holds, as far as it was captured.
        packets: QuicPackets,
    },
    /// A short one, as of all packets after it (RFC 8999 section 5.2).
    Short {
        /// The bit is set that is set in all packets of all versions so far, unless both sides have said that it need not
        /// be (RFC 9287).
        fixed: bool,
        /// The spin bit (RFC 9000 section 17.4), in versions that have one.
        spin: bool,
        /// What comes next: the beginning of the connection ID, where it has one, and 0 where nothing was captured.
        id: [u8; 4],
    },
}

/// Kinds of packets with long headers that came in one datagram (RFC 9000 section 12.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuicPackets(u8);

impl QuicPackets {
    /// The first of a side, and their ACKs (RFC 9000 section 17.2.2).
    pub const INITIAL: Self = Self(1);
    /// A client's data before it has heard anything (RFC 9000 section 17.2.3).
    pub const ZERO_RTT: Self = Self(1 << 1);
    /// What only who has the other side's Initial can send (RFC 9000 section 17.2.4).
    pub const HANDSHAKE: Self = Self(1 << 2);
    /// A server's wish to be asked again (RFC 9000 section 17.2.5).
    pub const RETRY: Self = Self(1 << 3);
    /// What comes behind one of them was not captured.
    pub const CUT: Self = Self(1 << 4);

    /// Packets in a datagram of which a header was looked for: more are in none, as an Initial fills most of it.
    const MAX: usize = 8;

    /// These kinds and those.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether one of these kinds is among them.
    #[must_use]
    pub fn has(self, kinds: Self) -> bool {
        self.0 & kinds.0 != 0
    }

    /// The kind that the first byte of a long header tells, in versions whose kinds are known.
    fn of_first(first: u8, version: u32) -> Option<Self> {
        const IN_ORDER: [QuicPackets; 4] = [
            QuicPackets::INITIAL,
            QuicPackets::ZERO_RTT,
            QuicPackets::HANDSHAKE,
            QuicPackets::RETRY,
        ];
        let kind = usize::from(first >> 4 & 3);
        let is_known = QuicHeader::is_as_of_version_1(version);
        is_known.then(|| match version {
            // It counts them from one further on (RFC 9369 section 3.2).
            QuicHeader::VERSION_2 => IN_ORDER[(kind + 3) % 4],
            _ => IN_ORDER[kind],
        })
    }

    /// All that a datagram of this version begins with, as far as it was captured.
    fn all_of(mut datagram: &[u8], version: u32) -> Self {
        let mut all = Self::default();
        for _ in 0..Self::MAX {
            let Some((kind, rest)) = Self::first_of(datagram, version) else {
                break;
            };
            all = all.and(kind);
            let Some(rest) = rest else {
                return all.and(Self::CUT);
            };
            datagram = rest;
        }
        all
    }

    /// The kind of the packet that comes first, and what follows it, where that was captured.
    fn first_of(datagram: &[u8], version: u32) -> Option<(Self, Option<&[u8]>)> {
        let (&first, mut rest) = datagram.split_first()?;
        if first & QuicHeader::LONG == 0 {
            return None;
        }
        let Some(of) = take(&mut rest, 4) else {
            return Some((Self::CUT, None));
        };
        if of != version.to_be_bytes() {
            return None;
        }
        let kind = Self::of_first(first, version)?;
        let rest = if kind.has(Self::RETRY) {
            Some(&[][..])
        } else {
            behind(rest, kind)
        };
        Some((kind, rest))
    }
}

/// What follows a packet of this kind, by the length that its header gives behind the version.
fn behind(mut header: &[u8], kind: QuicPackets) -> Option<&[u8]> {
    for _id in [(); 2] {
        let &len = take(&mut header, 1)?.first()?;
        take(&mut header, len.into())?;
    }
    if kind.has(QuicPackets::INITIAL) {
        let token_len = take_number(&mut header)?;
        take(&mut header, token_len)?;
    }
    let len = take_number(&mut header)?;
    take(&mut header, len)?;
    Some(header)
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

/// A number whose first two bits tell how many bytes it has (RFC 9000 section 16).
fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let len = 1 << (bytes.first()? >> 6);
    let mut number = take(bytes, len)?
        .iter()
        .fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    number &= u64::MAX >> (2 + 8 * (8 - len));
    usize::try_from(number).ok()
}

impl QuicHeader {
    const LONG: u8 = 0x80;
    const FIXED: u8 = 0x40;
    const SPIN: u8 = 0x20;

    /// Of RFC 9369.
    const VERSION_2: u32 = 0x6b33_43cf;

    /// Whether headers of this version are as those of version 1, but for the numbers of kinds of packets: of that, of version 2,
    /// and of drafts 17 to 34.
    #[must_use]
    pub fn is_as_of_version_1(version: u32) -> bool {
        matches!(version, 1 | Self::VERSION_2 | 0xff00_0011..=0xff00_0022)
    }

    /// What a payload begins with; `None` where that was not captured.
    pub(super) fn of(payload: &[u8]) -> Option<Self> {
        let (&first, rest) = payload.split_first()?;
        if first & Self::LONG != 0 {
            let version = u32::from_be_bytes(*rest.first_chunk()?);
            let packets = QuicPackets::all_of(payload, version);
            return Some(Self::Long { version, packets });
        }
        Some(Self::Short {
            fixed: first & Self::FIXED != 0,
            spin: first & Self::SPIN != 0,
            id: rest.first_chunk().copied().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_bytes_tell_which_header_it_is() {
        // RFC 9001 appendix A.2, the client's Initial, and A.5, a short header of ChaCha20-Poly1305.
        let initial = [0xc0, 0, 0, 0, 1, 0x08];
        let packets = QuicPackets::INITIAL.and(QuicPackets::CUT);
        assert_eq!(
            QuicHeader::of(&initial),
            Some(QuicHeader::Long {
                version: 1,
                packets
            })
        );
        let short = |fixed, spin, id| Some(QuicHeader::Short { fixed, spin, id });
        let chacha = [0x4c, 0xfe, 0x41, 0x89, 0x65, 0x5e];
        let id = [0xfe, 0x41, 0x89, 0x65];
        assert_eq!(QuicHeader::of(&chacha), short(true, false, id));
        assert_eq!(QuicHeader::of(&[0x60]), short(true, true, [0; 4]));
        assert_eq!(QuicHeader::of(&[0x00, 0x40]), short(false, false, [0; 4]));
    }

    #[test]
    fn what_was_cut_away_is_not_known() {
        assert_eq!(QuicHeader::of(&[]), None);
        assert_eq!(QuicHeader::of(&[0xc0, 0, 0, 0]), None);
    }

    /// A packet with these first byte, version and bytes behind its IDs, of which one is as in RFC 9001 appendix A.
    fn packet(first: u8, version: u32, behind: &[u8]) -> Vec<u8> {
        const ID: [u8; 8] = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
        let version = version.to_be_bytes();
        [&[first], &version[..], &[8], &ID, &[0], behind].concat()
    }

    fn kinds(datagram: &[u8]) -> QuicPackets {
        match QuicHeader::of(datagram) {
            Some(QuicHeader::Long { packets, .. }) => packets,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_packets_of_a_datagram_are_told() {
        // Tokens of 0 and of 3 bytes, and lengths of one, two and four bytes.
        let initial = packet(0xc1, 1, &[0, 2, 7, 7]);
        let with_token = packet(0xc1, 1, &[3, 9, 9, 9, 0x40, 2, 7, 7]);
        let early = packet(0xd0, 1, &[0x80, 0, 0, 1, 7]);
        let handshake = packet(0xe0, 1, &[0x40, 3, 7, 7, 7]);
        let short = [0x40, 1, 2, 3, 4, 5, 6, 7];
        for (datagram, told) in [
            (vec![&initial[..]], [true, false, false, false]),
            (
                vec![&initial, &handshake, &short],
                [true, false, true, false],
            ),
            (
                vec![&with_token, &early, &handshake],
                [true, true, true, false],
            ),
            (vec![&handshake], [false, false, true, false]),
            // What fills up a datagram is no packet.
            (vec![&initial, &[0; 40]], [true, false, false, false]),
            (vec![&initial, &[0xff; 40]], [true, false, false, false]),
            (
                vec![&packet(0xf0, 1, &[7; 40])],
                [false, false, false, true],
            ),
        ] {
            let kinds = kinds(&datagram.concat());
            let all = [
                QuicPackets::INITIAL,
                QuicPackets::ZERO_RTT,
                QuicPackets::HANDSHAKE,
                QuicPackets::RETRY,
            ];
            assert_eq!(all.map(|kind| kinds.has(kind)), told, "{datagram:?}");
            assert!(!kinds.has(QuicPackets::CUT), "{datagram:?}");
        }
        // As far as it was captured.
        let both = [initial.clone(), handshake].concat();
        let cut = |len: usize| {
            let kinds = kinds(&both[..len]);
            (
                kinds.has(QuicPackets::HANDSHAKE),
                kinds.has(QuicPackets::CUT),
            )
        };
        assert_eq!(cut(both.len() - 1), (true, true));
        assert_eq!(cut(initial.len() + 5), (true, true));
        assert_eq!(cut(initial.len() + 4), (false, true));
        assert_eq!(cut(initial.len() - 1), (false, true));
        // Nothing tells that more came.
        assert_eq!(cut(initial.len()), (false, false));
    }

    #[test]
    fn kinds_are_those_of_the_version() {
        let initial = |first, version| kinds(&packet(first, version, &[0, 0])).0;
        assert_eq!(initial(0xd0, 0x6b33_43cf), QuicPackets::INITIAL.0);
        assert_eq!(initial(0xc0, 0x6b33_43cf), QuicPackets::RETRY.0);
        assert_eq!(initial(0xc0, 0xff00_001d), QuicPackets::INITIAL.0);
        // Of a negotiation, and of a version that nobody knows.
        assert_eq!(initial(0xc0, 0), 0);
        assert_eq!(initial(0xc0, 0x5130_3530), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let long = [&[0xc0, 0, 0, 0, 1][..], &bytes].concat();
            let _ = QuicHeader::of(&long);
            prop_assert!(QuicHeader::of(&bytes).is_none_or(|_| !bytes.is_empty()));
        }
    }
}
