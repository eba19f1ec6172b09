//! The pairs of flows that are shown where not all can be, and of many alike those that are.

use std::cmp::Reverse;

use crate::analyze::{Flow, Pair};
use crate::observe::Span;

/// A pair is a short one that was together for less than one in so many of the longest of its capture.
const SHORT: i64 = 2;

/// What tells of a pair whether it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rivals {
    /// Place of their capture.
    pub(super) capture: usize,
    /// Payload of the smaller of both, in bytes.
    pub(super) payload_bytes: u64,
    /// For how long both were there while they are compared, in ns.
    pub(super) together_ns: i64,
}

impl Rivals {
    /// Those of a pair of a capture with these flows.
    pub(super) fn of(capture: usize, pair: &Pair, flows: &[Flow<'_>]) -> Self {
        let payload_bytes = |place: usize| flows.get(place).map_or(0, Flow::payload_bytes);
        Self {
            capture,
            payload_bytes: payload_bytes(pair.a).min(payload_bytes(pair.b)),
            together_ns: together(pair, flows).map_or(0, |span| span.length_ns()),
        }
    }
}

/// The time of a comparison in which both flows are there.
pub(super) fn together(pair: &Pair, flows: &[Flow<'_>]) -> Option<Span> {
    let (a, b) = (
        flows.get(pair.a)?.data_span()?,
        flows.get(pair.b)?.data_span()?,
    );
    let compared = Span {
        first: pair.start,
        last: pair.end,
    };
    compared.common(a)?.common(b)
}

/// Places of the `most` pairs of which even the smaller flow is large, in their order; those that were together for a moment
/// of what others were come last, however large.
pub(super) fn largest_pairs(pairs: &[Rivals], most: usize) -> Vec<usize> {
    if pairs.len() <= most {
        return (0..pairs.len()).collect();
    }
    let captures = pairs.iter().map(|pair| pair.capture + 1).max().unwrap_or(0);
    let mut longest = vec![0; captures];
    for pair in pairs {
        longest[pair.capture] = pair.together_ns.max(longest[pair.capture]);
    }
    let size = |pair: &Rivals| {
        let is_long = pair.together_ns.saturating_mul(SHORT) >= longest[pair.capture];
        (is_long, pair.payload_bytes)
    };
    let mut ranked: Vec<_> = pairs.iter().map(size).zip(0..).collect();
    ranked.sort_by_key(|&(size, place)| (Reverse(size), place));
    let sizes: Vec<_> = ranked.iter().map(|&(size, _)| size).collect();
    let chosen = largest_places(&sizes, most).into_iter();
    let mut chosen: Vec<usize> = chosen.map(|rank| ranked[rank].1).collect();
    chosen.sort_unstable();
    chosen
}

/// Places of the `n` largest of some sizes, which descend. Of those that are as large as the last of
/// them, some from all over are taken: the first ones, as of a thousand equal flows, tell of the
/// beginning only.
pub(super) fn largest_places<T: Ord>(sizes: &[T], n: usize) -> Vec<usize> {
    let Some(last) = sizes.get(n.saturating_sub(1)).filter(|_| n > 0) else {
        return (0..sizes.len().min(n)).collect();
    };
    let larger = sizes.partition_point(|size| size > last);
    let alike = sizes.partition_point(|size| size >= last) - larger;
    let room = n - larger;
    let spread = (0..room).map(|index| larger + index * alike / room);
    (0..larger).chain(spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_pairs_large_ones_are_shown_that_were_together_for_long() {
        let pair = |capture, payload_bytes, together_ns| Rivals {
            capture,
            payload_bytes,
            together_ns,
        };
        // The first is the largest, and together for a moment; the last one's capture is short.
        let pairs = [
            pair(0, 900, 4),
            pair(0, 500, 10),
            pair(0, 100, 10),
            pair(0, 600, 5),
            pair(1, 300, 1),
        ];
        assert_eq!(largest_pairs(&pairs, 2), [1, 3]);
        assert_eq!(largest_pairs(&pairs, 3), [1, 3, 4]);
        assert_eq!(largest_pairs(&pairs, 4), [1, 2, 3, 4]);
        assert_eq!(largest_pairs(&pairs, 5), [0, 1, 2, 3, 4]);
        assert!(largest_pairs(&[], 5).is_empty());
    }

    #[test]
    fn of_equal_flows_some_from_all_over_are_chosen() {
        for (sizes, n, chosen) in [
            (&[9, 8, 7, 6][..], 2, &[0, 1][..]),
            (&[9, 8], 3, &[0, 1]),
            (&[9, 5, 5, 5, 5, 5, 5, 1], 4, &[0, 1, 3, 5]),
            (&[5; 10], 5, &[0, 2, 4, 6, 8]),
            (&[5, 5, 4], 2, &[0, 1]),
            (&[5, 5], 0, &[]),
            (&[], 2, &[]),
        ] {
            assert_eq!(largest_places(sizes, n), chosen, "{n} of {sizes:?}");
        }
    }
}
