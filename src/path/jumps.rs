//! Clocks that are set by more than packets are waited for, and stamps that are wrong: what keeps two points side by
//! side while they are walked (METRICS.md B2).

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// Whether a record's time is wrong: it is further than `apart_ns` from those of the two records before it and the two
/// behind it, which are near each other.
pub(super) fn is_stray(before: [i64; 2], at: i64, behind: [i64; 2], apart_ns: i64) -> bool {
    let near = |one: i64, other: i64| one.abs_diff(other) <= apart_ns.unsigned_abs();
    let [first, ..] = before;
    let others = [before[1], behind[0], behind[1]];
    others.iter().all(|&other| near(first, other)) && !near(first, at)
}

/// Gives records whose times are wrong those of the records before them.
pub(super) fn mend<T>(records: &mut [T], at: impl Fn(&mut T) -> &mut i64) {
    for index in 2..records.len().saturating_sub(2) {
        let mut time = |index: usize| *at(&mut records[index]);
        let before = [time(index - 2), time(index - 1)];
        let behind = [time(index + 1), time(index + 2)];
        if is_stray(before, time(index), behind, APART_NS) {
            *at(&mut records[index]) = before[1];
        }
    }
}

/// A packet that a point is about to see: what it is told from others by, and when by the common clock.
pub(super) type Coming = (u64, i64);

/// By how much the clock of a point was set whose times go on far from where they were, in ns: what most of the packets
/// `ahead` are apart from the same at the other point. `None` where they are near these, or are not there: then the
/// path was idle, or the point saw nothing for a while.
pub(super) fn set_by(
    ahead: impl Iterator<Item = Coming>,
    of_other: impl Iterator<Item = Coming>,
    waits_there: impl Fn(u64) -> Option<i64>,
    apart_ns: i64,
) -> Option<i64> {
    let mut first_at: HashMap<u64, i64, FixedState> = HashMap::default();
    for (key, at) in of_other {
        first_at.entry(key).or_insert(at);
    }
    let mut all = 0;
    let mut apart: Vec<i64> = Vec::new();
    for (key, at) in ahead {
        all += 1;
        let other = waits_there(key).or_else(|| first_at.get(&key).copied());
        apart.extend(other.map(|other| at.saturating_sub(other)));
    }
    if apart.len() < FOUND_MIN || apart.len() * 2 < all {
        return None;
    }
    apart.sort_unstable();
    let middle = apart[apart.len() / 2];
    (middle.unsigned_abs() > apart_ns.unsigned_abs() / 2).then_some(middle)
}

/// Fewer that are at both points tell nothing.
const FOUND_MIN: usize = 4;

/// Wrong times are further from others, in ns.
pub(super) const APART_NS: i64 = 10_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_time_far_from_all_around_it_is_wrong_and_a_clock_that_is_set_is_not() {
        let mended = |seconds: &[i64]| {
            let mut times: Vec<i64> = seconds.iter().map(|s| s * SECOND).collect();
            mend(&mut times, |at| at);
            times.iter().map(|at| at / SECOND).collect::<Vec<_>>()
        };
        assert_eq!(mended(&[1, 2, 3600, 4, 5]), [1, 2, 2, 4, 5]);
        assert_eq!(mended(&[1, 2, -3600, 4, 5]), [1, 2, 2, 4, 5]);
        for as_they_are in [
            // Set forward, back, and an hour in which nothing happened.
            &[1, 2, 33, 34, 35, 36][..],
            &[41, 42, 3, 4, 5, 6],
            &[1, 2, 3600, 3601, 3602],
            // Two clocks in one capture.
            &[1, 101, 2, 102, 3, 103, 4, 104],
        ] {
            assert_eq!(mended(as_they_are), as_they_are);
        }
    }

    #[test]
    fn a_clock_was_set_where_what_comes_is_far_from_the_same_at_the_other_point() {
        let coming = |keys: std::ops::Range<u64>, from: i64| {
            keys.map(move |key| (key, (from + key.cast_signed()) * SECOND / 100))
        };
        let set_by = |ahead: i64, keys: std::ops::Range<u64>| {
            let waits = |key: u64| (key == 9).then_some(9 * SECOND / 100);
            set_by(coming(0..40, ahead), coming(keys, 0), waits, 10 * SECOND)
        };
        assert_eq!(set_by(3000, 0..80), Some(30 * SECOND));
        assert_eq!(set_by(-3000, 0..80), Some(-30 * SECOND));
        assert_eq!(set_by(10, 0..80), None);
        // What the point sees now is not what the other one sees: it missed what came in between.
        assert_eq!(set_by(3000, 40..80), None);
        assert_eq!(set_by(3000, 0..15), None);
    }
}
