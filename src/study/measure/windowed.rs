//! Numbers of a flow within a window, from its bins: those that lie in the window as a whole.

use super::Run;
use crate::analyze::Flow;
use crate::metric;
use crate::observe::{Bin, Span};
use crate::study::metrics::{Metric, Values};
use crate::study::window::{BinRange, whole_bins};
use crate::time::CaptureTime;

impl Run<'_> {
    /// The bins that lie within the window as a whole: their numbers, when they begin and when they
    /// end. `None` where the window is too short for one.
    pub(super) fn whole_bins(
        &self,
        (start, end): (CaptureTime, CaptureTime),
    ) -> Option<(BinRange, CaptureTime, CaptureTime)> {
        let origin = self.capture.origin;
        let span_ns = (start.since(origin), end.since(origin));
        let (first, last) = whole_bins(span_ns, self.bin_ns());
        (first < last).then(|| ((first, last), self.start_of(first), self.start_of(last)))
    }

    /// How much longer the window would be, `beyond_ns`, where whole bins of it are left out for that.
    pub(super) fn bins_beyond(&self, beyond_ns: i64) -> Option<i64> {
        let (start, end) = self.window?;
        let after_last = |end| self.whole_bins((start, end)).map(|(bins, _, _)| bins.1);
        (after_last(end.plus_ns(beyond_ns)) > after_last(end)).then_some(beyond_ns)
    }

    /// The bins of a flow that count.
    pub(super) fn bins(&self, flow: &Flow<'_>) -> Vec<Bin> {
        let bins = flow.record.series().bins();
        let Some(window) = self.window else {
            return bins.collect();
        };
        let Some(((first, last), _, _)) = self.whole_bins(window) else {
            return Vec::new();
        };
        bins.filter(|bin| (first..last).contains(&bin.index))
            .collect()
    }

    /// Whether bins of a flow that count are missing: there were too many, or they were given up.
    pub(super) fn lacks_bins(&self, flow: &Flow<'_>) -> bool {
        let last = match self.window.map(|window| self.whole_bins(window)) {
            None => i64::MAX,
            Some(None) => return false,
            Some(Some(((_, after_last), _, _))) => after_last.saturating_sub(1),
        };
        flow.record.series().complete_through() < Some(last)
    }

    /// Numbers of a flow within a window. What bins do not tell (quantiles, completion time,
    /// handshake) is undefined, and all is where bins of the window are missing.
    pub(super) fn windowed(&self, flow: &Flow<'_>, window: (CaptureTime, CaptureTime)) -> Values {
        let mut values = Values::default();
        let Some((_, start, end)) = self.whole_bins(window) else {
            return values;
        };
        // A sum without what is missing would be too small.
        if self.lacks_bins(flow) {
            return values;
        }
        let bins = self.bins(flow);
        let mut set = |metric, value: Option<f64>| values.set(metric, value);
        let sum = |of: fn(&Bin) -> u64| bins.iter().map(of).sum::<u64>();
        let interval_ns = end.since(start);
        let (acked, ip) = (sum(|bin| bin.acked_bytes), sum(|bin| bin.ip_bytes));
        let has_acks = flow.state().acked_bytes.is_some();
        let delivered = bins.iter().map(|bin| flow.delivered_in(bin)).sum();
        let is_told = flow.delivered_bytes().is_some();
        let goodput_bps = metric::rate_bps(delivered, interval_ns).filter(|_| is_told);
        set(Metric::GoodputBps, goodput_bps);
        set(Metric::ThroughputBps, metric::rate_bps(ip, interval_ns));
        set(Metric::IpBytes, Some(ip as f64));
        set(Metric::AckedBytes, has_acks.then_some(acked as f64));
        let again_bytes = sum(|bin| bin.retransmitted_bytes);
        let fresh = sum(|bin| bin.payload_bytes).saturating_sub(seen_again(flow, again_bytes));
        set(
            Metric::Overhead,
            metric::overhead(ip, fresh).filter(|_| has_acks),
        );
        let utilisation = goodput_bps
            .zip(self.capacity_bps(start, end))
            .and_then(|(goodput, capacity)| metric::utilisation(goodput, capacity));
        set(Metric::Utilisation, utilisation);
        set_round_trips(&mut values, &bins, flow);
        set_packets(&mut values, &bins);
        if flow.tcp().is_some() {
            set_repeats(&mut values, &bins, again_bytes);
            set_on_wire(&mut values, flow);
        }
        values
    }
}

/// What to say of a window that begins when all flows have ended; none where one has not.
pub(super) fn behind_all(start: CaptureTime, spans: &[Span]) -> Option<String> {
    let first = spans.iter().map(|span| span.first).min()?;
    let last = spans.iter().map(|span| span.last).max()?;
    let seconds = |at: CaptureTime| at.since(first) as f64 / 1e9;
    (start > last).then(|| {
        format!(
            "its window begins {:.1} s after the first payload, the last one is after {:.1} s",
            seconds(start),
            seconds(last)
        )
    })
}

/// A window, no longer than the capture whose `last` record this is: what passed later nobody knows. And how much longer
/// it would be, in ns.
pub(super) fn within_capture(
    window: Option<(CaptureTime, CaptureTime)>,
    last: CaptureTime,
) -> (Option<(CaptureTime, CaptureTime)>, i64) {
    let known_until = last.plus_ns(1);
    let beyond_ns = window.map_or(0, |(_, end)| end.since(known_until).max(0));
    let within = window.map(|(start, end)| (start, end.min(known_until)));
    (within, beyond_ns)
}

/// What to say of a window that is shorter than a bin, after so much of it was left out as the capture had ended.
pub(super) fn no_whole_bin(bin_ns: i64, beyond_ns: i64) -> String {
    let bin_ms = bin_ns as f64 / 1e6;
    let (before, remedy) = if beyond_ns > 0 {
        (" before the last record", "begin earlier")
    } else {
        ("", "longer")
    };
    format!(
        "its window holds no whole bin of {bin_ms} ms{before}: make it {remedy}, or `bin` in [analysis] shorter"
    )
}

/// Sets the round-trip times of these bins of a flow.
fn set_round_trips(values: &mut Values, bins: &[Bin], flow: &Flow<'_>) {
    let mut set = |metric, value: Option<f64>| values.set(metric, value);
    let sum = |of: fn(&Bin) -> u64| bins.iter().map(of).sum::<u64>();
    let samples = sum(|bin| bin.rtt_samples);
    let timed = || bins.iter().filter(|bin| bin.rtt_samples > 0);
    let rtt_ns_min = timed().map(|bin| bin.rtt_ns_min).min();
    set(Metric::RttNsMin, rtt_ns_min.map(|ns| ns as f64));
    let total: f64 = timed().map(|bin| bin.rtt_ns_sum as f64).sum();
    let rtt_ns_mean = (samples > 0).then(|| total / samples as f64);
    set(Metric::RttNsMean, rtt_ns_mean);
    let rtt_ns_max = timed().map(|bin| bin.rtt_ns_max).max();
    set(Metric::RttNsMax, rtt_ns_max.map(|ns| ns as f64));
    // The empty path is known from all of the flow, not only from the window.
    let queue = rtt_ns_mean.zip(flow.summary().rtt.ns_min());
    set(
        Metric::QueueDelayNsMean,
        queue.map(|(mean, min)| mean - min as f64),
    );
}

/// Sets the packets of these bins, of which `again_bytes` were sent again, and what was in flight.
fn set_packets(values: &mut Values, bins: &[Bin]) {
    let packets: u64 = bins.iter().map(|bin| bin.data_packets).sum();
    values.set(Metric::DataPackets, Some(packets as f64));
    let in_flight = bins.iter().filter_map(|bin| bin.in_flight_bytes_max).max();
    values.set(
        Metric::InFlightBytesMax,
        in_flight.map(|bytes| bytes as f64),
    );
}

/// Sets what of these bins was sent again, `again_bytes` of it.
fn set_repeats(values: &mut Values, bins: &[Bin], again_bytes: u64) {
    let mut set = |metric, value: Option<f64>| values.set(metric, value);
    let sum = |of: fn(&Bin) -> u64| bins.iter().map(of).sum::<u64>();
    let segments = sum(Bin::data_segments);
    let again = sum(|bin| bin.retransmitted_packets);
    set(Metric::RetransmittedPackets, Some(again as f64));
    set(Metric::RetransmittedBytes, Some(again_bytes as f64));
    set(
        Metric::RetransmissionRate,
        (segments > 0).then(|| again as f64 / segments as f64),
    );
}

/// What passed on the wire is what was captured, unless frames of several packets were: how many of these a bin has is
/// not kept.
fn set_on_wire(values: &mut Values, flow: &Flow<'_>) {
    if flow.summary().incidents().super_segments > 0 {
        return;
    }
    for (on_wire, captured) in [
        (Metric::WireIpBytes, Metric::IpBytes),
        (Metric::WireOverhead, Metric::Overhead),
        (
            Metric::WireRetransmittedPackets,
            Metric::RetransmittedPackets,
        ),
    ] {
        values.set(on_wire, values.get(captured));
    }
}

/// How much of so many repeated bytes of a flow had passed before: the share that had of all that it repeated, which is all
/// of it where nothing was lost before the vantage point, and nothing where all was.
fn seen_again(flow: &Flow<'_>, repeated_bytes: u64) -> u64 {
    let all = flow.summary().incidents().retransmitted_bytes;
    let twice = flow
        .payload_bytes()
        .saturating_sub(flow.state().unique_bytes)
        .min(all);
    let seen = u128::from(repeated_bytes) * u128::from(twice) / u128::from(all.max(1));
    u64::try_from(seen).unwrap_or(u64::MAX)
}
