//! What the flows of a run got together: goodput, throughput, utilisation, and the time it took.

use super::{FlowMeasure, Run};
use crate::analyze::{Flow, counts_towards_capacity};
use crate::metric;
use crate::observe::Span;
use crate::study::metrics::{Metric, Values};
use crate::time::CaptureTime;

/// When the last of a flow was delivered or, in a one-way capture, passed (METRICS.md G1).
fn delivered_until(flow: &Flow<'_>) -> Option<CaptureTime> {
    let (interval_ns, _) = flow.goodput_interval_ns()?;
    Some(flow.data_span()?.first.plus_ns(interval_ns))
}

impl Run<'_> {
    /// Goodput, throughput and utilisation of all flows together, and how long they took.
    pub(super) fn set_rates(&self, flows: &[FlowMeasure], values: &mut Values) {
        let spans = self.flows.iter().filter_map(Flow::data_span);
        let first = spans.map(|span| span.first).min();
        let interval = match self.window {
            Some(window) => self.whole_bins(window).map(|(_, start, end)| (start, end)),
            None => first.zip(self.flows.iter().filter_map(delivered_until).max()),
        };
        if self.window.is_none() {
            let completed = (self.flows.iter())
                .filter_map(|flow| flow.figures().completion_span())
                .reduce(Span::joined);
            let completion = completed
                .map(|span| span.length_ns() as f64)
                .filter(|_| !flows.iter().any(FlowMeasure::is_unfinished));
            values.set(Metric::CompletionNs, completion);
        }
        let Some((start, end)) = interval else {
            return;
        };
        let rate = |bytes: Option<f64>| {
            let bytes = bytes? as u64;
            metric::rate_bps(bytes, end.since(start)).filter(|_| self.tells_rates(bytes))
        };
        let delivered = self.flows.iter().zip(flows);
        let delivered = delivered.map(|(flow, measure)| self.delivered_bytes(flow, measure));
        let goodput_bps = rate(delivered.sum());
        let throughput_bps = rate(values.get(Metric::IpBytes));
        values.set(Metric::GoodputBps, goodput_bps);
        values.set(Metric::ThroughputBps, throughput_bps);
        values.set(Metric::Utilisation, self.utilisation(flows, (start, end)));
    }

    /// Share of the data segments of all flows that are retransmissions (METRICS.md X1), which those of a run have by
    /// these `values`: packets are more where some came in fragments.
    pub(super) fn retransmission_rate(&self, values: &Values) -> Option<f64> {
        let segments: u64 = if self.window.is_some() {
            let bins = self.flows.iter().flat_map(|flow| self.bins(flow));
            bins.map(|bin| bin.data_segments()).sum()
        } else {
            let flows = self.flows.iter();
            flows.map(|flow| flow.summary().data_segments()).sum()
        };
        let again = values.get(Metric::RetransmittedPackets)?;
        (segments > 0).then(|| again / segments as f64)
    }

    /// What was delivered of the capacity by the flows that it is for: each direction of a link has its own.
    fn utilisation(
        &self,
        flows: &[FlowMeasure],
        (start, end): (CaptureTime, CaptureTime),
    ) -> Option<f64> {
        let counts = counts_towards_capacity(self.flows, self.main_way);
        let counted = || counts.iter().zip(self.flows.iter().zip(flows));
        let counted = || counted().filter_map(|(&counts, both)| counts.then_some(both));
        let bytes = counted().map(|(flow, measure)| self.delivered_bytes(flow, measure));
        let bytes = bytes.sum::<Option<f64>>()? as u64;
        let spans = counted().filter_map(|(flow, _)| flow.data_span());
        let last = counted().filter_map(|(flow, _)| flow.last_delivered_at());
        let (start, end) = match self.window {
            Some(_) => (start, end),
            None => (spans.map(|span| span.first).min()?, last.max()?),
        };
        let goodput_bps = metric::rate_bps(bytes, end.since(start));
        let goodput_bps = goodput_bps.filter(|_| self.tells_rates(bytes))?;
        metric::utilisation(goodput_bps, self.capacity_bps(start, end)?)
    }

    /// Payload of a flow that counts as delivered, in bytes: what was acknowledged, or what passed of UDP. `None` where
    /// it is not known.
    fn delivered_bytes(&self, flow: &Flow<'_>, measure: &FlowMeasure) -> Option<f64> {
        if flow.tcp().is_some() {
            return measure.values.get(Metric::AckedBytes);
        }
        if self.window.is_none() {
            return Some(flow.payload_bytes() as f64);
        }
        // Of a window in which bins are missing none is known.
        measure.values.get(Metric::IpBytes)?;
        let bins = self.bins(flow);
        Some(bins.iter().map(|bin| bin.payload_bytes).sum::<u64>() as f64)
    }

    /// Whether so many bytes are a rate: none in a window are a rate of 0; in a whole run nothing tells then from when
    /// to when they would have been (METRICS.md G1).
    fn tells_rates(&self, bytes: u64) -> bool {
        bytes > 0 || self.window.is_some()
    }
}

/// Overhead of several flows together, from what each has: none where nothing was delivered, to which its packets come.
pub(super) fn overhead_of(flows: &[&Values]) -> Option<f64> {
    let (mut ip, mut delivered) = (0.0, 0.0);
    for flow in flows {
        let ip_bytes = flow.get(Metric::IpBytes)?;
        flow.get(Metric::AckedBytes)?;
        ip += ip_bytes;
        let overhead = flow.get(Metric::Overhead);
        delivered += overhead.map_or(0.0, |overhead| ip_bytes / (1.0 + overhead));
    }
    (delivered > 0.0).then(|| ip / delivered - 1.0)
}
