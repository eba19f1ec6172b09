//! The series of a flow that is alive.

use std::collections::BTreeMap;
use std::ops::Range;

use super::series::{Bin, PackedBins, SeriesFacts};
use crate::time::CaptureTime;

/// Number of the bin of the instant `at`; bin 0 begins at `origin`, each is `bin_ns` (at least 1)
/// long.
pub(super) fn bin_of(origin: CaptureTime, bin_ns: i64, at: CaptureTime) -> i64 {
    at.since(origin).div_euclid(bin_ns.max(1))
}

/// From when to when the bin with this number lasts.
pub(super) fn span_of(origin: CaptureTime, bin_ns: i64, index: i64) -> Range<CaptureTime> {
    let start = origin.plus_ns(index.saturating_mul(bin_ns));
    start..start.plus_ns(bin_ns)
}

/// The bins of a flow that is alive. The one in use lies open, the others are packed: they are many,
/// and hardly any is looked at again.
#[derive(Clone, Debug)]
pub(super) struct LiveSeries {
    /// The bin in use: nearly always the one wanted next.
    current: Bin,
    /// When that begins and ends.
    current_start: CaptureTime,
    current_end: CaptureTime,
    /// It is one of the flow's: there is one, and it does not take what belongs to bins that are not kept.
    is_kept: bool,
    others: Others,
    origin: CaptureTime,
    bin_ns: i64,
    bins_max: u32,
    cut: bool,
    given_up: bool,
}

/// The bins that are not in use, in order.
#[derive(Clone, Debug)]
enum Others {
    Packed(PackedBins),
    /// Once one was wanted again, by their numbers: a clock that runs backwards makes each before all others.
    Open(BTreeMap<i64, Bin>),
}

impl LiveSeries {
    /// No bins yet; bin 0 begins at `origin`, each is `bin_ns` (at least 1) long, and no more than
    /// `bins_max` are kept: the first that are used. `None` where none is asked for, so that none is missing.
    pub(super) fn new(origin: CaptureTime, bin_ns: i64, bins_max: Option<u32>) -> Self {
        let given_up = bins_max == Some(0);
        let bins_max = bins_max.unwrap_or(0);
        // One that is used for all instants where none is kept.
        let (current_start, current_end) = if bins_max == 0 {
            (CaptureTime::MIN, CaptureTime::MAX)
        } else {
            (CaptureTime::MAX, CaptureTime::MIN)
        };
        Self {
            current: Bin::default(),
            current_start,
            current_end,
            is_kept: false,
            others: Others::Packed(PackedBins::NONE),
            origin,
            bin_ns: bin_ns.max(1),
            bins_max,
            cut: given_up,
            given_up,
        }
    }

    /// Whether all bins were given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// How many bins there are.
    fn len(&self) -> usize {
        let others = match &self.others {
            Others::Packed(packed) => packed.len() as usize,
            Others::Open(bins) => bins.len(),
        };
        others + usize::from(self.is_kept)
    }

    /// Memory that the bins take besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        match &self.others {
            Others::Packed(packed) => packed.memory_bytes(),
            // Nodes of such a map are half full at least, mostly two thirds.
            Others::Open(bins) => bins.len() * size_of::<(i64, Bin)>() / 2 * 3,
        }
    }

    /// The flow has ended: writes its bins behind `bytes`.
    pub(super) fn end(&mut self, bytes: &mut Vec<u8>) -> SeriesFacts {
        if self.is_given_up() {
            return SeriesFacts::GIVEN_UP;
        }
        let start = bytes.len();
        let bins = match &mut self.others {
            Others::Packed(packed) => packed.end(self.is_kept.then_some(&self.current), bytes),
            Others::Open(bins) => {
                if self.is_kept {
                    bins.insert(self.current.index, self.current);
                }
                pack(bins.values()).end(None, bytes)
            }
        };
        SeriesFacts {
            bins,
            len: bytes.len() - start,
            cut: self.cut,
            given_up: false,
        }
    }

    /// Gives up all bins, those to come too.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
        self.bins_max = 0;
        self.cut = true;
        self.others = Others::Packed(PackedBins::NONE);
        self.is_kept = false;
        (self.current_start, self.current_end) = (CaptureTime::MIN, CaptureTime::MAX);
    }

    /// The bin of the instant `at`.
    #[inline]
    pub(super) fn at(&mut self, at: CaptureTime) -> &mut Bin {
        if at < self.current_start || at >= self.current_end {
            self.turn_to(at);
        }
        &mut self.current
    }

    #[cold]
    fn turn_to(&mut self, at: CaptureTime) {
        let index = bin_of(self.origin, self.bin_ns, at);
        Range {
            start: self.current_start,
            end: self.current_end,
        } = span_of(self.origin, self.bin_ns, index);
        self.put_back();
        self.take(index);
    }

    /// Puts the bin in use among the others.
    fn put_back(&mut self) {
        if std::mem::take(&mut self.is_kept) {
            match &mut self.others {
                Others::Packed(packed) => packed.push(&self.current),
                Others::Open(bins) => {
                    bins.insert(self.current.index, self.current);
                }
            }
        }
    }

    /// Takes the bin with this number into use, which is made where there is none and room for it.
    fn take(&mut self, index: i64) {
        if let Others::Packed(packed) = &self.others
            && packed.ends_before(index)
            && packed.len() < self.bins_max
        {
            self.is_kept = true;
            self.current = Bin {
                index,
                ..Bin::default()
            };
            return;
        }
        self.take_any(index);
    }

    /// The same of one that may be there, or of which there may be no room.
    #[inline(never)]
    fn take_any(&mut self, index: i64) {
        let new = Bin {
            index,
            ..Bin::default()
        };
        let has_room = self.len() < self.bins_max as usize;
        let known = match &mut self.others {
            Others::Packed(packed) if packed.ends_before(index) => None,
            Others::Packed(packed) => {
                let mut bins: BTreeMap<i64, Bin> =
                    packed.bins().map(|bin| (bin.index, bin)).collect();
                let known = bins.remove(&index);
                self.others = Others::Open(bins);
                known
            }
            Others::Open(bins) => bins.remove(&index),
        };
        // Without room for a new one, what is in use takes what belongs to others.
        self.is_kept = known.is_some() || has_room;
        self.cut |= !self.is_kept && self.bins_max > 0;
        self.current = known.unwrap_or(new);
    }
}

fn pack<'a>(bins: impl Iterator<Item = &'a Bin>) -> PackedBins {
    let mut packed = PackedBins::NONE;
    for bin in bins {
        packed.push(bin);
    }
    packed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::observe::Series;

    fn counts(mut series: LiveSeries) -> Vec<(i64, u64)> {
        let mut packed = Vec::new();
        let facts = series.end(&mut packed);
        let series = Series {
            packed: &packed,
            facts,
        };
        let bins = series.bins();
        bins.map(|bin| (bin.index, bin.data_packets)).collect()
    }

    #[test]
    fn bins_are_sparse_and_in_order_even_when_the_clock_steps_back() {
        let mut series = LiveSeries::new(CaptureTime::from_ns(1000), 100, Some(10));
        for ns in [1000, 1099, 5000, 1100, 900, 1000] {
            series.at(CaptureTime::from_ns(ns)).data_packets += 1;
        }
        assert_eq!(counts(series), [(-1, 1), (0, 3), (1, 1), (40, 1)]);
    }

    #[test]
    fn of_a_clock_that_runs_backwards_or_between_two_days_all_bins_are_kept_by_their_numbers() {
        let day = 86_400;
        let backwards = (0..5000).rev().collect::<Vec<i64>>();
        let between = (0..5000).map(|second| second / 2 + second % 2 * day);
        for seconds in [backwards, between.collect()] {
            let mut series = LiveSeries::new(CaptureTime::from_ns(0), 1, Some(u32::MAX));
            for second in seconds {
                series.at(CaptureTime::from_ns(second)).data_packets += 1;
            }
            // Nothing that lies in order has to make way for a bin among the others; one is in use.
            assert!(matches!(&series.others, Others::Open(bins) if bins.len() == 4999));
            let counts = counts(series);
            assert!(counts.len() == 5000 && counts.is_sorted());
        }
    }

    #[test]
    fn where_no_bins_are_asked_for_none_is_kept_and_none_is_missing() {
        let mut series = LiveSeries::new(CaptureTime::from_ns(0), 100, None);
        for ns in [0, 100, -5, i64::MIN, i64::MAX] {
            series.at(CaptureTime::from_ns(ns)).data_packets += 1;
        }
        assert!(!series.is_given_up());
        assert_eq!(series.memory_bytes(), 0);
        assert_eq!(series.end(&mut Vec::new()), SeriesFacts::default());
        // What is given up besides, such as rows, is said of it.
        series.give_up();
        assert_eq!(series.end(&mut Vec::new()), SeriesFacts::GIVEN_UP);
    }

    #[test]
    fn beyond_the_limit_the_first_bins_stay_and_the_series_says_so() {
        let begin = || {
            let mut series = LiveSeries::new(CaptureTime::from_ns(0), 100, Some(3));
            for ns in [0, 100, 200, 300, 400, 50, 150, -1, 250] {
                series.at(CaptureTime::from_ns(ns)).data_packets += 1;
            }
            series
        };
        assert!(begin().end(&mut Vec::new()).cut);
        assert_eq!(counts(begin()), [(0, 2), (1, 2), (2, 2)]);
        let mut series = begin();
        series.give_up();
        series.at(CaptureTime::from_ns(0)).data_packets += 1;
        series.at(CaptureTime::MAX).data_packets += 1;
        assert_eq!(series.memory_bytes(), 0);
        let mut packed = Vec::new();
        assert_eq!(series.end(&mut packed), SeriesFacts::GIVEN_UP);
        assert!(packed.is_empty());
    }

    proptest! {
        #[test]
        fn whatever_the_clock_does_the_bins_are_those_of_a_map(
            times in prop::collection::vec(prop_oneof![0..2000_i64, -50..50_i64], 0..60),
            is_sorted in any::<bool>(),
            bins_max in 1..12_u32,
        ) {
            let mut times = times;
            if is_sorted {
                times.sort_unstable();
            }
            let mut series = LiveSeries::new(CaptureTime::from_ns(0), 100, Some(bins_max));
            let mut expected = BTreeMap::new();
            let mut is_cut = false;
            for ns in times {
                series.at(CaptureTime::from_ns(ns)).data_packets += 1;
                let index = ns.div_euclid(100);
                if expected.contains_key(&index) || expected.len() < bins_max as usize {
                    *expected.entry(index).or_insert(0) += 1;
                } else {
                    is_cut = true;
                }
                prop_assert_eq!(series.len(), expected.len());
            }
            let cut = series.cut;
            prop_assert_eq!(counts(series), Vec::from_iter(expected));
            prop_assert_eq!(cut, is_cut);
        }
    }
}
