//! Time in bins: which are drawn, and how much of them the capture covers.

use super::super::axis::{Axis, Quantity, nice_step};
use super::super::choice::{NamedFlow, Scene};
use super::super::style::Style;
use super::super::thin;
use super::Sample;

/// How time is cut for a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report::chart) struct Bins {
    /// Length of one, in seconds.
    pub(in crate::report::chart) length_s: f64,
    pub(in crate::report::chart) first: i64,
    pub(in crate::report::chart) last: i64,
    /// How much of the last one rates there are of, where the capture ends within it, in seconds.
    pub(in crate::report::chart) covered_s: Option<f64>,
}

impl Bins {
    pub(in crate::report::chart) fn of(scene: &Scene<'_>, bin_ns: i64) -> Option<Self> {
        let (first, last) = scene.bin_span?;
        Some(Self {
            length_s: bin_ns as f64 / 1e9,
            first,
            last,
            covered_s: None,
        })
    }

    /// The same time in longer bins, so that there are no more than `bins_max`; and how many of
    /// the old make one of the new.
    pub(in crate::report::chart) fn joined(&self, bins_max: i64) -> (Self, i64) {
        let bins = (self.last - self.first + 1) as f64;
        let joined = nice_step(bins, bins_max.max(1) as usize).max(1.0) as i64;
        let bins = Self {
            length_s: self.length_s * joined as f64,
            first: self.first.div_euclid(joined),
            last: self.last.div_euclid(joined),
            covered_s: None,
        };
        (bins, joined)
    }

    /// These without the last, where the capture ends within it and enough are left: a rate over all of it would fall as
    /// if less had been sent. Where most of what a drawn flow sent is in that bin it stays, and rates there are over the
    /// part that was captured. What to say of either, where it can be seen; `joined` bins of the flows make one of these.
    pub(in crate::report::chart) fn whole(
        self,
        scene: &Scene<'_>,
        joined: i64,
    ) -> (Self, Option<String>) {
        /// So many are a course.
        const LEFT_MIN: i64 = 2;
        /// Among so many one is seen.
        const FEW: i64 = 50;
        /// What is missing of one in so many is not seen.
        const SEEN: i64 = 10;
        let length_ns = ((self.length_s * 1e9).round() as i64).max(1);
        let end = scene
            .capture
            .span
            .map(|span| span.last.since(scene.capture.origin));
        let is_cut = end.is_some_and(|end_ns| {
            let missing_ns = length_ns - end_ns.rem_euclid(length_ns) - 1;
            end_ns.div_euclid(length_ns) == self.last && missing_ns > length_ns / SEEN
        });
        let left = self.last - self.first;
        if !is_cut || left < LEFT_MIN {
            return (self, None);
        }
        let (shown, _) = scene.largest(scene.lines_max());
        if shown
            .iter()
            .any(|flow| self.is_mostly_in_last(flow, joined))
        {
            let captured_s = end.unwrap_or(0).rem_euclid(length_ns) as f64 / 1e9;
            // A rate over next to nothing is chance.
            let covered_s = captured_s.max(self.length_s / SEEN as f64);
            let covered = Quantity::TIME.format_set(covered_s);
            let said = format!("the last: over the {covered} of it that were captured");
            let bins = Self {
                covered_s: Some(covered_s),
                ..self
            };
            return (bins, Some(said));
        }
        let last = self.last - 1;
        let said = "the last, captured in part, left out".to_owned();
        (Self { last, ..self }, (left < FEW).then_some(said))
    }

    /// Whether at least half of what a flow sent is in the last of these.
    fn is_mostly_in_last(&self, flow: &NamedFlow<'_>, joined: i64) -> bool {
        let (mut all, mut there) = (0_u64, 0_u64);
        for bin in flow.flow.record.series().bins() {
            all += bin.payload_bytes;
            if bin.index.div_euclid(joined) == self.last {
                there += bin.payload_bytes;
            }
        }
        there > 0 && there >= all - there
    }

    /// How much time a rate in one of these is over, in seconds.
    pub(in crate::report::chart) fn covered_s(&self, bin: i64) -> f64 {
        let of_last = self.covered_s.filter(|_| bin == self.last);
        of_last.unwrap_or(self.length_s)
    }

    /// How many bins lie in a stretch of time that nobody can see in: 1, unless there are many.
    fn stretch(&self) -> i64 {
        let bins = self.last.saturating_sub(self.first).saturating_add(1);
        let stretch = bins / STRETCHES_MAX + i64::from(bins % STRETCHES_MAX > 0);
        stretch.max(1)
    }

    /// How far apart neighbours on a line may be without a gap between them, in bins.
    pub(in crate::report::chart) fn reach(&self) -> i64 {
        2 * self.stretch() - 1
    }

    /// The samples of a line as they are read, in order: all of them, or where there are very many,
    /// of each stretch the first, the lowest, the highest and the last, with the range of all.
    pub(in crate::report::chart) fn thinned(
        &self,
        samples: impl IntoIterator<Item = Sample>,
    ) -> Vec<Sample> {
        let stretch = self.stretch();
        if stretch == 1 {
            return samples.into_iter().collect();
        }
        let of = |sample: &Sample| sample.bin.div_euclid(stretch);
        let mut ranges: Vec<(i64, (f64, f64))> = Vec::new();
        let seen = samples.into_iter().inspect(|sample| {
            let Some((low, high)) = sample.range else {
                return;
            };
            match ranges.last_mut() {
                Some((last, range)) if *last == of(sample) => {
                    *range = (range.0.min(low), range.1.max(high));
                }
                _ => ranges.push((of(sample), (low, high))),
            }
        });
        let mut kept = thin::extremes(seen, of, |sample| sample.value);
        for sample in &mut kept {
            let place = ranges.binary_search_by_key(&of(sample), |&(stretch, _)| stretch);
            if let (Some(range), Ok(place)) = (&mut sample.range, place) {
                *range = ranges[place].1;
            }
        }
        kept
    }

    /// A value for each bin from the first to the last of `amounts`, which are in order, 0 where
    /// there is none; of many bins without any, as many as it takes to draw them. What is before or
    /// after all that is drawn does not count.
    pub(in crate::report::chart) fn filled<'a>(
        &self,
        amounts: impl Iterator<Item = (i64, u64)> + 'a,
        value: impl Fn(i64, u64) -> f64 + 'a,
    ) -> impl Iterator<Item = Sample> + 'a {
        let stretch = self.stretch();
        let drawn = self.first..=self.last;
        let mut last = None;
        let amounts = amounts.filter(move |(bin, _)| drawn.contains(bin));
        let all = amounts.flat_map(move |(bin, amount)| {
            let before = last.replace(bin).unwrap_or(bin - 1);
            let empty = (before + 1..bin).step_by(usize::try_from(stretch).unwrap_or(usize::MAX));
            // The line comes up from 0 right before the next value.
            let end = (stretch > 1 && bin - before > 2).then_some(bin - 1);
            let empty = empty.chain(end).map(|bin| (bin, 0));
            empty.chain(std::iter::once((bin, amount)))
        });
        all.map(move |(bin, amount)| Sample {
            bin,
            value: value(bin, amount),
            range: None,
        })
    }

    /// Samples of bins that are made of `joined` of these, each over all of its bins, as many as it takes to draw it.
    pub(in crate::report::chart) fn spread(
        &self,
        samples: impl Iterator<Item = Sample>,
        joined: i64,
    ) -> impl Iterator<Item = Sample> {
        let stretch = usize::try_from(self.stretch()).unwrap_or(usize::MAX);
        let (first, last) = (self.first, self.last);
        samples.flat_map(move |sample| {
            let from = sample.bin * joined;
            let bins = (from.max(first)..=(from + joined - 1).min(last)).step_by(stretch);
            bins.map(move |bin| Sample { bin, ..sample })
        })
    }

    /// The time axis: from the first packet on, unless nothing was sent for long.
    pub(in crate::report::chart) fn axis(&self, style: Style) -> Axis {
        let (first, end) = (
            self.first as f64 * self.length_s,
            (self.last + 1) as f64 * self.length_s,
        );
        let start = if first < 0.0 || first > 0.25 * end {
            first
        } else {
            0.0
        };
        Axis::of_time(start, end, style.size.ticks_across(1.0))
    }

    /// The middle of a bin, in seconds.
    pub(in crate::report::chart) fn middle_s(&self, bin: i64) -> f64 {
        (bin as f64 + 0.5) * self.length_s
    }

    /// Their length, in words.
    pub(in crate::report::chart) fn words(&self) -> String {
        format!("bins of {}", Quantity::TIME.format_set(self.length_s))
    }
}

/// Stretches of time on a chart: a good two for each pixel of the widest, for the thinning by
/// pixels to find the extremes still there.
const STRETCHES_MAX: i64 = 8192;
