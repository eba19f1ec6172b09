//! How much may be moved to put ranges between others.

/// Ranges that are moved at a time without being counted: a sixth of a megabyte.
const PAGE: usize = 4096;

/// Pages that may be moved at first, and one more for so many bytes of the stream: four ranges a byte. A sender fills
/// its holes from the lowest up, each in a flight of a round trip, so with one packet in ten lost a flight of 100,000
/// packets moves three a byte; holes filled at random would move half of millions each time.
const PAGES_MIN: u64 = 1 << 18;
const BYTES_EACH: u64 = 1024;

/// Pages of ranges moved so far, in one vector that is kept in the order of a stream.
#[derive(Debug, Default)]
pub(in crate::track) struct Moves(u32);

impl Moves {
    /// Whether something may go to `place` among `len` others, where the stream has come to `offset`: a vector that can
    /// be moved at either end moves the fewer.
    #[inline]
    pub(in crate::track) fn allow(&mut self, place: usize, len: usize, offset: i64) -> bool {
        let pages = place.min(len - place) / PAGE;
        pages == 0 || self.take(pages, offset)
    }

    #[cold]
    fn take(&mut self, pages: usize, offset: i64) -> bool {
        let moved = u64::from(self.0) + pages as u64;
        let allowed = PAGES_MIN + offset.max(0).unsigned_abs() / BYTES_EACH;
        if moved > allowed {
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
    fn as_much_may_be_moved_as_the_stream_is_long() {
        let mut moves = Moves::default();
        let len = (2 * PAGE) << 18;
        assert!(moves.allow(len / 2, len, 0), "as much as at first");
        assert!(!moves.allow(PAGE, len, 1023), "no more");
        assert!(moves.allow(PAGE, len, 1024));
        assert!(!moves.allow(PAGE, len, 2047));
        assert!(moves.allow(3 * PAGE, len, 4096));
        assert!(!moves.allow(PAGE, len, i64::MIN));
    }

    /// One packet in ten of each flight is lost before it comes here, and the holes are filled from the lowest up.
    #[test]
    fn who_repairs_a_tenth_of_flights_of_a_hundred_thousand_packets_is_never_refused() {
        const PACKETS: usize = 100_000;
        let mut moves = Moves::default();
        for flight in 0..50 {
            let offset = flight * PACKETS as i64 * 1448;
            for hole in 0..PACKETS / 10 {
                assert!(moves.allow(hole * 10, PACKETS, offset), "flight {flight}");
            }
        }
    }
}
