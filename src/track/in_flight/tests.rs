//! Where in a flight a range lies, and how much of one is looked at.

use super::*;
use proptest::prelude::*;

fn passed(start: i64, len: u32) -> Sent {
    Sent {
        start,
        at: CaptureTime::MIN,
        len,
        tsval: 0,
        row: 0,
        id: 0,
        copies: 1,
        marks: Marks::default(),
        verdict: Verdict::NEW,
    }
}

#[test]
fn of_a_long_flight_no_more_than_some_thousands_are_looked_at() {
    let mut in_flight = InFlight::default();
    let ranges = LOOKED_AT_MAX as i64 + 3;
    (0..ranges).for_each(|start| in_flight.push(passed(start, 1)));
    for sent in in_flight.sent.iter_mut().skip(3) {
        sent.marks.set(Marks::SACKED);
    }
    let unreported = |start, most| in_flight.unreported_within(start, ranges, most);
    assert_eq!(
        (unreported(0, 9), unreported(1, 9), unreported(0, 2)),
        (3, 2, 2)
    );
    // The last one is too far from the first.
    in_flight.sent[LOOKED_AT_MAX + 2].marks = Marks::default();
    let unreported = |start| in_flight.unreported_within(start, ranges, 9);
    assert_eq!((unreported(2), unreported(3)), (1, 1));
}

proptest! {
    /// Against the plain binary search, the slow and obvious twin.
    #[test]
    fn the_guessed_search_finds_what_a_binary_search_finds(
        parts in proptest::collection::vec((0_i64..3000, 1_u32..3000), 0..50),
        offset in -100_i64..200_000,
    ) {
        let mut in_flight = InFlight::default();
        let mut start = 0;
        for (gap, len) in parts {
            start += gap;
            in_flight.push(passed(start, len));
            start += i64::from(len);
        }
        let plain = in_flight.sent.partition_point(|sent| sent.end() <= offset);
        prop_assert_eq!(in_flight.first_ending_above(offset), plain);
    }
}
