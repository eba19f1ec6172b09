//! The first few of many.

/// So many are worth a selection.
const MANY: usize = 1024;

/// The `most` of `all` that are first by `rank`, in that order, and how many there are in all.
// In one pass, as each of a million flows is fetched from another place of the memory, and with no more kept than
// twice as many as are wanted.
pub(crate) fn keep_first<T, K: Ord + Copy>(
    all: impl Iterator<Item = T>,
    most: usize,
    rank: impl Fn(&T) -> K,
) -> (Vec<T>, usize) {
    let kept_max = most.saturating_mul(2).max(MANY);
    let (mut kept, mut count, mut last_kept) = (Vec::new(), 0, None);
    for one in all {
        count += 1;
        let ranked = (rank(&one), one);
        if last_kept.is_some_and(|last| ranked.0 > last) {
            continue;
        }
        kept.push(ranked);
        if kept.len() > kept_max {
            kept.select_nth_unstable_by_key(most, |&(rank, _)| rank);
            kept.truncate(most);
            last_kept = kept.iter().map(|&(rank, _)| rank).max();
        }
    }
    kept.sort_unstable_by_key(|&(rank, _)| rank);
    kept.truncate(most);
    (kept.into_iter().map(|(_, one)| one).collect(), count)
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However many there are, in whatever order they come, they are those that sorting all puts first.
        #[test]
        fn the_first_are_those_of_all_in_order(
            numbers in prop::collection::vec(0..500_u64, 0..4000),
            most in 0..1500_usize,
        ) {
            let rank = |&(place, number): &(usize, u64)| (Reverse(number), place);
            let (kept, count) = keep_first(numbers.iter().copied().enumerate(), most, rank);
            let mut all: Vec<(usize, u64)> = numbers.iter().copied().enumerate().collect();
            all.sort_by_key(rank);
            all.truncate(most);
            prop_assert_eq!(kept, all);
            prop_assert_eq!(count, numbers.len());
        }
    }
}
