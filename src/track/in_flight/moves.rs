//! How much may be moved to put ranges between others.

/// Ranges that are moved at a time without being counted: a sixth of a megabyte.
const PAGE: usize = 4096;

/// Pages that may be moved at first, and one more for each packet of the sender that was seen: what numbers in packets
/// claim grants nothing. A sender fills its holes from the lowest up, each in a flight of a round trip, so with one packet
/// in ten lost a flight of 100,000 packets moves 0.6 pages a packet; holes filled at random would move half of millions
/// of ranges each time.
const PAGES_MIN: u64 = 1 << 18;

/// Pages of ranges moved so far, in one vector that is kept in the order of a stream.
#[derive(Clone, Debug, Default)]
pub(in crate::track) struct Moves(u32);

impl Moves {
    /// Whether something may go to `place` among `len` others, after so many packets of the sender: a vector that can be
    /// moved at either end moves the fewer.
    #[inline]
    pub(in crate::track) fn allow(&mut self, place: usize, len: usize, packets: u64) -> bool {
        let pages = place.min(len - place) / PAGE;
        pages == 0 || self.take(pages, packets)
    }

    #[cold]
    fn take(&mut self, pages: usize, packets: u64) -> bool {
        let moved = u64::from(self.0) + pages as u64;
        if moved > PAGES_MIN.saturating_add(packets) {
            return false;
        }
        self.0 = u32::try_from(moved).unwrap_or(u32::MAX);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_either_end_there_is_always_room() {
        let mut moves = Moves(u32::MAX);
        for len in [0, 10, 2 * PAGE - 1, 100 * PAGE] {
            let near = PAGE - 1;
            assert!(moves.allow(near.min(len), len, 0));
            assert!(moves.allow(len - near.min(len), len, 0));
        }
        assert!(!moves.allow(PAGE, 2 * PAGE, 0));
    }

    #[test]
    fn as_much_may_be_moved_as_packets_were_seen() {
        let mut moves = Moves::default();
        let len = (2 * PAGE) << 18;
        assert!(moves.allow(len / 2, len, 0), "as much as at first");
        assert!(!moves.allow(PAGE, len, 0), "no more");
        assert!(moves.allow(PAGE, len, 1));
        assert!(!moves.allow(PAGE, len, 1));
        assert!(moves.allow(3 * PAGE, len, 4));
        assert!(!moves.allow(PAGE, len, 4));
    }

    /// One packet in ten of each flight is lost before it comes here, and the holes are filled from the lowest up.
    #[test]
    fn who_repairs_a_tenth_of_flights_of_a_hundred_thousand_packets_is_never_refused() {
        const PACKETS: usize = 100_000;
        let mut moves = Moves::default();
        for flight in 0..50 {
            let packets = flight * PACKETS as u64;
            for hole in 0..PACKETS / 10 {
                assert!(moves.allow(hole * 10, PACKETS, packets), "flight {flight}");
            }
        }
    }
}
