//! A flow bin by bin, as reports and charts over time take it.

use super::{Run, Sample};
use crate::analyze::Flow;
use crate::metric;
use crate::observe::Bin;

/// Bins of a flow's samples that are made up where nothing happened; a flow that lasts longer has
/// samples only of bins in which something did.
const SILENT_BINS_MAX: i64 = 1 << 20;

impl Run<'_> {
    /// A flow over time: every bin from its first to its last one within the window.
    pub(super) fn samples(&self, flow: &Flow<'_>) -> Vec<Sample> {
        let bins = self.bins(flow);
        let bin_ns = self.bin_ns();
        let floor_ns = flow.balance_floor_ns();
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
        let mut next = bins.first().map_or(0, |bin| bin.index);
        let mut samples = Vec::with_capacity(bins.len());
        for bin in bins {
            if bin.index.saturating_sub(next) < SILENT_BINS_MAX {
                let silent = (next..bin.index).map(|index| Bin {
                    index,
                    ..Bin::default()
                });
                samples.extend(silent.map(|bin| sample(&bin)));
            }
            samples.push(sample(&bin));
            next = bin.index + 1;
        }
        samples
    }

    /// Bins of the window, as far as they are known, of which a flow has no sample: in these it got nothing (METRICS.md Y3).
    pub(super) fn silent_bins(&self, flow: &Flow<'_>, samples: usize) -> u64 {
        let within = self.window.and_then(|window| self.whole_bins(window));
        let known_through = flow.record.series().complete_through();
        let Some((((first, end), _, _), known)) = within.zip(known_through) else {
            return 0;
        };
        let bins = end.min(known.saturating_add(1)).saturating_sub(first);
        u64::try_from(bins)
            .unwrap_or(0)
            .saturating_sub(samples as u64)
    }
}
