//! How large the packets of one direction are.

use std::hint::cold_path;

/// What timestamps take off what a segment can carry, in bytes.
const OPTIONS_LEN: u16 = 12;

/// The longest payload that Ethernet carries, and the shortest of a full packet on usual paths: what is left of the
/// smallest MTU of IPv6 (RFC 8200 section 5) with options of TCP. In bytes.
const USUAL_MAX: u32 = 1460;
const USUAL_MIN: u32 = 1200;

/// How large the packets of one direction are, as far as is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PacketSize {
    /// Largest payload of one packet seen, in bytes; 0 before one.
    pub(super) largest_payload: u32,
    /// Largest segment that the receiver takes, in bytes, where it announced that.
    pub(super) mss: Mss,
}

impl PacketSize {
    /// Takes note of a packet that carries `len` bytes.
    #[inline]
    pub(super) fn note(&mut self, len: u32) {
        self.largest_payload = self.largest_payload.max(len);
    }

    /// Whether anything tells.
    pub(super) fn is_known(self) -> bool {
        self.mss.get().is_some() || self.largest_payload > 0
    }

    /// Payload of a full packet, as far as it is known, in bytes: an id stands for one, a frame for
    /// several, where segmentation is left to the network card.
    pub(super) fn full(self) -> u32 {
        match self.largest_payload {
            0 => self.mss.get().map_or(1, u32::from).max(1),
            largest => self.of_one(largest),
        }
    }

    /// The same, or what the receiver takes where that is more, as options take some of it.
    pub(super) fn largest(self) -> u32 {
        self.full().max(self.mss.get().map_or(0, u32::from))
    }

    /// Payload of a full packet that is `stamped` with timestamps or not, which take room that the MSS does not tell of.
    pub(super) fn full_stamped(self, stamped: bool) -> u32 {
        let options_len = if stamped { OPTIONS_LEN } else { 0 };
        let most = self.mss.get().map_or(u32::MAX, u32::from);
        self.full()
            .min(most.saturating_sub(options_len.into()))
            .max(1)
    }

    /// Payload of a full packet where one that carries `len` bytes was among those that came: what was lost before it
    /// may be the first that were as large.
    pub(super) fn full_with(self, len: u32) -> u32 {
        if self.is_known() {
            self.full().max(self.of_one(len))
        } else {
            len.max(1)
        }
    }

    /// The payload of a packet of a frame of `len` bytes, which is one or, with segmentation by the card, several.
    fn of_one(self, len: u32) -> u32 {
        let mss = self.mss.get().map_or(u32::MAX, u32::from);
        len.min(mss).max(1)
    }
}

/// The largest segment that a receiver takes, in bytes (RFC 9293 section 3.7.1), where it announced that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mss(u32);

impl Default for Mss {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Mss {
    /// What was announced.
    pub(super) fn of(mss: Option<u16>) -> Self {
        mss.map_or_else(Self::default, |mss| Self(mss.into()))
    }

    /// What packets of so many bytes show, `stamped` with timestamps or not.
    pub(super) fn of_packets(payload_len: u32, stamped: bool) -> Self {
        Self(payload_len + if stamped { OPTIONS_LEN.into() } else { 0 })
    }

    #[inline]
    pub(super) fn get(self) -> Option<u16> {
        u16::try_from(self.0).ok()
    }

    /// How many packets a frame with so much payload is on the wire, `stamped` with timestamps or not: several, when
    /// segmentation is left to the network card.
    #[inline]
    pub(super) fn packets(self, payload_len: u32, stamped: bool) -> u16 {
        // Nearly always, told at once.
        if payload_len <= self.0.saturating_sub(OPTIONS_LEN.into()) {
            1
        } else {
            cold_path();
            self.packets_of_frame(payload_len, stamped)
        }
    }

    /// Whether a frame with so much payload is several packets, or may be, as nobody knows what the receiver takes.
    pub(super) fn may_be_several(self, payload_len: u32, stamped: bool) -> bool {
        match self.get() {
            Some(_) => self.packets(payload_len, stamped) > 1,
            None => payload_len > USUAL_MAX,
        }
    }

    /// Whether a frame with so much payload is so many packets where these are as long as on nearly all paths.
    pub(super) fn is_usual(payload_len: u32, packets: u16) -> bool {
        let fewest = payload_len.div_ceil(USUAL_MAX);
        let most = payload_len.div_ceil(USUAL_MIN);
        (fewest..=most).contains(&packets.into())
    }

    /// The same of one that may be several.
    #[inline(never)]
    fn packets_of_frame(self, payload_len: u32, stamped: bool) -> u16 {
        // Some senders leave no room for options.
        if payload_len <= self.0 {
            return 1;
        }
        self.of_full(stamped).map_or(1, |full| {
            u16::try_from(payload_len.div_ceil(full.into())).unwrap_or(u16::MAX)
        })
    }

    /// Payload of each packet of a frame that is several but the last, `stamped` with timestamps or not, in bytes; never 0.
    pub(super) fn of_full(self, stamped: bool) -> Option<u16> {
        let mss = self.get().filter(|&mss| mss > 0)?;
        let options_len = if stamped { OPTIONS_LEN } else { 0 };
        Some(mss - options_len.min(mss - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Mss, PacketSize};

    #[test]
    fn a_full_packet_is_what_is_known_of_it() {
        let mut size = PacketSize::default();
        assert_eq!((size.full(), size.full_with(700)), (1, 700));
        size.mss = Mss::of(Some(1460));
        assert_eq!((size.full(), size.full_with(700)), (1460, 1460));
        size.note(1000);
        assert_eq!(size.full(), 1000);
        assert_eq!((size.full_with(700), size.full_with(1448)), (1000, 1448));
        assert_eq!(size.full_with(2 * 1460), 1460);
        assert_eq!(
            (size.full_stamped(false), size.full_stamped(true)),
            (1000, 1000)
        );
        // A frame of several packets.
        size.note(4344);
        assert_eq!(size.full(), 1460);
        assert_eq!(
            (size.full_stamped(false), size.full_stamped(true)),
            (1460, 1448)
        );
    }

    #[test]
    fn a_frame_is_as_many_packets_as_timestamps_leave_room_for() {
        let mss = Mss::of(Some(1460));
        assert_eq!(mss.packets(1448, true), 1);
        assert_eq!(mss.packets(1460, false), 1);
        // What is not above the MSS is one packet, whatever else it carries.
        assert_eq!(mss.packets(1460, true), 1);
        assert_eq!(mss.packets(1461, true), 2);
        assert_eq!(mss.packets(1461, false), 2);
        assert_eq!(mss.packets(2 * 1448, true), 2);
        // An MSS of nothing much makes no number that wraps around.
        assert_eq!(Mss::of(Some(1)).packets(65_536, false), u16::MAX);
        // Without an announcement nobody can tell.
        assert_eq!(Mss::default().packets(60_000, true), 1);
    }

    #[test]
    fn a_frame_longer_than_ethernet_carries_may_be_several_where_nothing_was_announced() {
        let may_be = |mss: Mss, len| mss.may_be_several(len, true);
        assert!(!may_be(Mss::default(), 1460) && may_be(Mss::default(), 1461));
        let jumbo = Mss::of(Some(8960));
        assert!(!may_be(jumbo, 8948) && may_be(jumbo, 8961));
        let usual = [1, 2, 3, 4].map(|packets| Mss::is_usual(2896, packets));
        assert_eq!(usual, [false, true, true, false]);
        assert!(Mss::is_usual(14_480, 10) && !Mss::is_usual(14_480, 9));
    }
}
