//! Where in a flight a range lies, and how much of one is looked at.

use super::*;
use proptest::prelude::*;

pub(super) fn passed(start: i64, len: u32) -> Sent {
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

/// Every second of many bytes has passed; the others come when nothing may be moved any more.
#[test]
fn what_cannot_be_put_between_others_is_not_remembered() {
    const RANGES: i64 = 10_000;
    let mut in_flight = InFlight::default();
    (0..RANGES).for_each(|index| in_flight.push(passed(2 * index, 1)));
    in_flight.push(passed(2 * RANGES, 2));
    while in_flight.release_next(RANGES).is_some() {}
    let acked = in_flight.acked;
    while in_flight.moves.allow(4096, 8192, 0) {}
    in_flight.insert(passed(RANGES + 1, 1), 0);
    assert_eq!((in_flight.sent.len(), in_flight.acked), (10_001, acked));
    // Near its ends a flight has room as before.
    in_flight.insert(passed(1, 1), 0);
    assert_eq!(in_flight.part(2 * RANGES + 1, None, 0), Some(10_001));
    assert_eq!((in_flight.sent.len(), in_flight.acked), (10_003, acked + 1));
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

/// Of a flow that sends a range each `step_ns` and has one at a time in flight, so many released: what is
/// remembered of them, with the first copies.
fn remembered(ranges: i64, step_ns: i64) -> InFlight {
    let mut in_flight = InFlight::default();
    for number in 0..ranges {
        let (start, at) = (number * 1000, CaptureTime::from_ns(number * step_ns));
        let sent = passed(start, 1000);
        in_flight.push(Sent { at, ..sent });
        in_flight.keep_copy(in_flight.sent.len() - 1, None, 0);
        in_flight.release_next(start + 1000);
        in_flight.trim(1, at);
    }
    in_flight
}

/// What must be remembered is, and little more; of what is forgotten nothing is left, of the rest all.
#[test]
fn the_history_is_that_of_a_quarter_second_and_little_more() {
    // Five a second; a thousand a second; more than are kept for their youth; none is old yet.
    let cases = [
        (100, 200_000_000, 8),
        (2000, 1_000_000, 250),
        (5000, 1000, HISTORY_MAX),
        (200, 1000, 200),
    ];
    for (ranges, step_ns, least) in cases {
        let in_flight = remembered(ranges, step_ns);
        let (len, acked) = (in_flight.sent.len(), in_flight.acked as usize);
        let most = least + (least / 8).max(TRIMMED_TOGETHER_MIN as usize);
        assert_eq!(len, acked, "nothing is in flight");
        assert!((least..=most).contains(&len), "{len} of {least} to {most}");
        let lowest = (ranges - len as i64) * 1000;
        assert_eq!(in_flight.lowest_start(), Some(lowest));
        let has_first = |start| in_flight.earlier.of(start).next().is_some();
        assert!(
            has_first(lowest) && has_first((ranges - 1) * 1000),
            "{ranges}"
        );
        assert!(!(0..lowest).step_by(1000).any(has_first), "{ranges}");
    }
}

/// As many as are in flight are remembered whatever their age.
#[test]
fn the_history_is_as_long_as_the_flight() {
    let mut in_flight = InFlight::default();
    (0..500).for_each(|number| in_flight.push(passed(number * 10, 10)));
    let late = CaptureTime::from_ns(i64::from(u32::MAX));
    for number in 1..=400 {
        in_flight.release_next(number * 10);
        in_flight.trim(100, late);
    }
    assert_eq!(in_flight.unacked(), 100);
    assert!(
        (100..=116).contains(&in_flight.acked),
        "{}",
        in_flight.acked
    );
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
