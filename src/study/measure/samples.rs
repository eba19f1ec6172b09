//! A flow bin by bin, as reports and charts over time take it.

use std::ops::Range;

use super::{Run, Sample};
use crate::analyze::Flow;
use crate::metric;
use crate::observe::Bin;
use crate::study::window::BinRange;

/// Bins of a flow's samples that are made up where nothing happened; a flow that lasts longer has
/// samples only of bins in which something did.
const SILENT_BINS_MAX: i64 = 1 << 20;

impl Run<'_> {
    /// A flow over time: every bin from its first to its last one or, where a window counts, of that.
    pub(super) fn samples(&self, flow: &Flow<'_>) -> Vec<Sample> {
        let bins = self.bins(flow);
        let bin_ns = self.bin_ns();
        let floor_ns = flow.summary().rtt.ns_min();
        let is_told = flow.delivered_bytes().is_some();
        let sample = |bin: &Bin| Sample {
            time_ns: bin.index.saturating_mul(bin_ns),
            goodput_bps: is_told
                .then(|| metric::rate_bps(flow.delivered_in(bin), bin_ns))
                .flatten(),
            rtt_ns_mean: bin.rtt_ns_mean(),
            retransmitted_packets: flow.tcp().map(|_| bin.retransmitted_packets),
            pm: self.balance(floor_ns, bin).map(|balance| balance.pm),
        };
        let silent = |bins: Range<i64>| {
            let are_kept = bins.end.saturating_sub(bins.start) < SILENT_BINS_MAX;
            let bins = if are_kept { bins } else { 0..0 };
            bins.map(|index| {
                sample(&Bin {
                    index,
                    ..Bin::default()
                })
            })
        };
        let (mut next, end) = self.counted_bins(flow, &bins);
        let mut samples = Vec::with_capacity(bins.len());
        for bin in bins {
            samples.extend(silent(next..bin.index));
            samples.push(sample(&bin));
            next = bin.index + 1;
        }
        samples.extend(silent(next..end));
        samples
    }

    /// The first and the one after the last of the bins over which a flow is told, of which it has these: those of the
    /// window, as far as they are known (METRICS.md Y3), or from its first to its last.
    fn counted_bins(&self, flow: &Flow<'_>, bins: &[Bin]) -> BinRange {
        let own = (
            bins.first().map_or(0, |bin| bin.index),
            bins.last().map_or(0, |bin| bin.index.saturating_add(1)),
        );
        let within = self.window.and_then(|window| self.whole_bins(window));
        let known_through = flow.record.series().complete_through();
        match (within, known_through) {
            (Some(((first, end), _, _)), Some(last)) => (first, end.min(last.saturating_add(1))),
            _ => own,
        }
    }
}
