//! Ranges that one packet has repeated, made one where they are many.

use std::ops::Range;

use super::{InFlight, Marks};

/// Ranges that one packet repeats and that are remembered apart: a frame of 64 KiB holds a fifth of that in full
/// packets. Beyond, each further repeat, and each report of one, would look at all of them again.
pub(in crate::track) const PARTS_MAX: usize = 256;

impl Marks {
    /// What is so of a packet of several ranges when another one above joins it: of all of them, what the receiver
    /// told; of the lowest, how it begins; else what is so of any.
    fn join(&mut self, above: Self) {
        const ALL: u16 = Marks::SACKED.0 | Marks::HELD.0;
        const LOWEST: u16 = Marks::CONTINUES.0 | Marks::REST.0 | Marks::PARTED.0 | Marks::FRAMED.0;
        self.0 = self.0 & (above.0 | !ALL) | above.0 & !(ALL | LOWEST);
    }
}

impl InFlight {
    /// One packet has just repeated the ranges `covered`: of more than [`PARTS_MAX`] one is left, or one on each side
    /// of the cumulative ACK, which is what further repeats of them find.
    pub(in crate::track) fn merge(&mut self, covered: Range<usize>) {
        if covered.len() > PARTS_MAX {
            let acked = (self.acked as usize).clamp(covered.start, covered.end);
            self.merge_side(acked..covered.end);
            self.merge_side(covered.start..acked);
        }
    }

    #[cold]
    fn merge_side(&mut self, parts: Range<usize>) {
        let (Some(&lowest), Some(&highest)) = (
            self.sent.get(parts.start),
            self.sent.get(parts.end.wrapping_sub(1)),
        ) else {
            return;
        };
        if parts.len() < 2 {
            return;
        }
        let mut whole = lowest;
        for part in self.sent.range(parts.start + 1..parts.end) {
            whole.marks.join(part.marks);
            whole.copies = whole.copies.max(part.copies);
        }
        self.sent.drain(parts.start + 1..parts.end);
        whole.len = (highest.end() - lowest.start) as u32;
        whole.marks.take(Marks::GOES_ON);
        whole.marks.set(Marks(highest.marks.0 & Marks::GOES_ON.0));
        if let Some(place) = self.sent.get_mut(parts.start) {
            *place = whole;
        }
        self.earlier.forget_all_needed(lowest.start);
        self.earlier.forget_within(lowest.start + 1, highest.end());
        if parts.end <= self.acked as usize {
            self.acked -= (parts.len() - 1) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::passed;
    use super::*;

    /// So many bytes that passed one by one, of which the lowest `acked` are acknowledged.
    fn one_by_one(bytes: i64, acked: i64) -> InFlight {
        let mut in_flight = InFlight::default();
        (0..bytes).for_each(|start| in_flight.push(passed(start, 1)));
        while in_flight.release_next(acked).is_some() {}
        in_flight
    }

    fn ranges(in_flight: &InFlight) -> Vec<(i64, i64)> {
        let all = in_flight.sent.iter();
        all.map(|sent| (sent.start, sent.end())).collect()
    }

    #[test]
    fn what_one_packet_repeats_becomes_one_range_on_each_side_of_the_ack() {
        let few = PARTS_MAX as i64;
        let mut in_flight = one_by_one(few, 0);
        in_flight.merge(0..PARTS_MAX);
        assert_eq!(in_flight.sent.len(), PARTS_MAX, "so many stay as they are");

        let mut in_flight = one_by_one(few + 3, 100);
        for index in [0, 50, 150] {
            in_flight.keep_copy(index, None, 0);
        }
        in_flight
            .sent
            .get_mut(PARTS_MAX)
            .expect("the last but two")
            .marks
            .set(Marks::GOES_ON);
        in_flight.merge(1..PARTS_MAX + 1);
        assert_eq!(
            ranges(&in_flight).len(),
            PARTS_MAX + 3,
            "256 are not too many"
        );
        in_flight.merge(1..PARTS_MAX + 2);
        let left = [(0, 1), (1, 100), (100, few + 2), (few + 2, few + 3)];
        assert_eq!(ranges(&in_flight), left);
        assert_eq!((in_flight.acked, in_flight.unacked()), (2, 2));
        let kept = |start| in_flight.earlier.of(start).next().is_some();
        assert_eq!([0, 50, 150].map(kept), [true, false, false]);
        assert!(
            !in_flight
                .sent
                .get(2)
                .is_some_and(|sent| sent.marks.has(Marks::GOES_ON))
        );
    }

    #[test]
    fn what_is_told_of_all_is_told_of_the_whole() {
        let mut in_flight = one_by_one(300, 0);
        for index in 0..300 {
            let marks = &mut in_flight.sent.get_mut(index).expect("one of 300").marks;
            marks.set(Marks::SACKED);
            if index != 7 {
                marks.set(Marks::HELD);
            }
            if index > 0 {
                marks.set(Marks::CONTINUES);
            }
        }
        in_flight
            .sent
            .get_mut(9)
            .expect("one of 300")
            .marks
            .set(Marks::LOST_DOWNSTREAM);
        in_flight
            .sent
            .get_mut(299)
            .expect("the last")
            .marks
            .set(Marks::FIN);
        in_flight.merge(0..300);
        let whole = in_flight.sent.front().expect("one").marks;
        let marks = [
            Marks::SACKED,
            Marks::HELD,
            Marks::CONTINUES,
            Marks::LOST_DOWNSTREAM,
            Marks::FIN,
        ];
        assert_eq!(
            marks.map(|mark| whole.has(mark)),
            [true, false, false, true, true]
        );
    }
}
