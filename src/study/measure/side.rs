//! On which side of the link a run was captured, as its packets tell (METRICS.md Y2).

use std::collections::BTreeMap;

use super::Run;
use crate::analyze::LinkSide;
use crate::metric;

/// Parts of the capacity that a link may show: packets have headers.
const SHOWN: [f64; 2] = [0.9, 1.2];

/// How much more than the capacity may come in a bin behind the link: clocks, and what a path made wait.
const BIN_ABOVE: f64 = 1.15;

impl Run<'_> {
    /// By the link that packets show, the one that the study names, if it names one; else by what no link of this
    /// capacity lets pass.
    pub(super) fn side(&self) -> LinkSide {
        let capacity_bps = self.options.conditions.capacity_bps_max();
        let [least, most] = SHOWN;
        let rates_bps = capacity_bps.map_or(0.0..=f64::INFINITY, |bps| least * bps..=most * bps);
        match LinkSide::of(self.flows, self.bin_ns(), &rates_bps) {
            LinkSide::Unknown if self.exceeds_capacity() => LinkSide::Before,
            side => side,
        }
    }

    /// Whether more came in a bin than the link can have let pass.
    fn exceeds_capacity(&self) -> bool {
        let mut ip_bytes = BTreeMap::new();
        let flows = self.flows.iter().zip(self.main_way);
        for (flow, _) in flows.filter(|&(_, &goes_main_way)| goes_main_way) {
            for bin in flow.record.series().bins() {
                *ip_bytes.entry(bin.index).or_insert(0_u64) += bin.ip_bytes;
            }
        }
        ip_bytes.into_iter().any(|(bin, bytes)| {
            // Where the capacity changes, what comes behind the link passed it some time ago.
            let capacities = (-1..=1).filter_map(|near| {
                let start = self.start_of(bin.saturating_add(near));
                self.capacity_bps(start, start.plus_ns(self.bin_ns()))
            });
            let capacity_bps = capacities.reduce(f64::max);
            let bps = metric::rate_bps(bytes, self.bin_ns());
            bps.zip(capacity_bps)
                .is_some_and(|(bps, capacity_bps)| bps > BIN_ABOVE * capacity_bps)
        })
    }
}
