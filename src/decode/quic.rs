//! What a datagram of QUIC shows of itself: all else is encrypted.

/// The first bytes of a QUIC packet, if that is what a datagram begins with: nothing but its endpoints knows for certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuicHeader {
    /// A long one, as during the handshake (RFC 8999 section 5.1).
    Long {
        /// Of QUIC, 0 in a negotiation of it.
        version: u32,
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

impl QuicHeader {
    const LONG: u8 = 0x80;
    const FIXED: u8 = 0x40;
    const SPIN: u8 = 0x20;

    /// What a payload begins with; `None` where that was not captured.
    pub(super) fn of(payload: &[u8]) -> Option<Self> {
        let (&first, rest) = payload.split_first()?;
        if first & Self::LONG != 0 {
            let version = u32::from_be_bytes(*rest.first_chunk()?);
            return Some(Self::Long { version });
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
    use super::*;

    #[test]
    fn the_first_bytes_tell_which_header_it_is() {
        // RFC 9001 appendix A.2, the client's Initial, and A.5, a short header of ChaCha20-Poly1305.
        let initial = [0xc0, 0, 0, 0, 1, 0x08];
        assert_eq!(
            QuicHeader::of(&initial),
            Some(QuicHeader::Long { version: 1 })
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
}
