//! How full the buffer was, as round-trip times tell it (METRICS.md Y2).

use std::collections::BTreeMap;

use super::Run;
use crate::analyze::{Flow, LinkSide};

impl Run<'_> {
    /// Queueing delay over the time that a full buffer takes to drain, of a flow with this mean RTT and this RTT of the
    /// empty path; `None` behind the queue, where it does not show, and where nobody knows whether that is so.
    pub(super) fn queue_share(
        &self,
        rtt_ns_mean: Option<f64>,
        empty_rtt_ns: Option<i64>,
    ) -> Option<f64> {
        if self.captured != LinkSide::Before {
            return None;
        }
        let conditions = self.options.conditions;
        let full_ns = 8e9 * conditions.buffer_bytes()? / conditions.capacity_bps()?;
        let queue_delay_ns = rtt_ns_mean? - empty_rtt_ns? as f64;
        Some(queue_delay_ns / full_ns).filter(|share| share.is_finite())
    }

    /// Of each flow that goes the main way, as data of others wait elsewhere, the smallest RTT that one on its path has:
    /// a flow that starts when another one has filled the queue may never see it empty. Flows between the same two hosts
    /// are on one path, and all that go the same way are where the conditions name its RTT.
    pub(super) fn empty_rtts_ns(&self) -> Vec<Option<i64>> {
        let is_one_path = self.options.conditions.base_rtt_ns.is_some();
        let path = |flow: &Flow<'_>, goes_main_way: bool| {
            (goes_main_way, (!is_one_path).then(|| flow.hosts()))
        };
        let paths = self.flows.iter().zip(self.main_way);
        let paths: Vec<_> = paths.map(|(flow, &main)| path(flow, main)).collect();
        let mut smallest = BTreeMap::new();
        for (flow, path) in self.flows.iter().zip(&paths) {
            if let Some(rtt_ns) = flow.summary().rtt.ns_min() {
                let least = smallest.entry(path).or_insert(rtt_ns);
                *least = rtt_ns.min(*least);
            }
        }
        paths
            .iter()
            .map(|path| smallest.get(path).copied().filter(|_| path.0))
            .collect()
    }
}
