//! Captures reduced to the numbers that studies put into charts.

use ccanalyze::analyze::{Capacity, CaptureAnalysis, Config, Flow};
use ccanalyze::metric::{Balance, BalanceWeights, balance};

use super::{Failure, Gallery};

/// A flow of at least one hundredth of the largest.
pub(super) struct FlowNumbers {
    /// Last number of the sender's IPv4 address.
    pub(super) sender: u8,
    pub(super) goodput_bps: Option<f64>,
    pub(super) rtt_s: Option<f64>,
    pub(super) overhead: Option<f64>,
    pub(super) retransmission_rate: f64,
    pub(super) queue_delay_s: Option<f64>,
    pub(super) completion_s: f64,
    pub(super) payload_bytes: u64,
    /// Goodput of each bin of 100 ms, without the first and the last.
    pub(super) goodputs: Vec<f64>,
    /// Mean RTT of each bin, in seconds.
    pub(super) rtts: Vec<f64>,
    /// The balanced metric of each bin.
    pub(super) pms: Vec<f64>,
}

/// A run: its flows in the order of their first packets, and what pairs of them share.
pub(super) struct RunNumbers {
    pub(super) flows: Vec<FlowNumbers>,
    /// fness of the first two in each second in which both were active; A is the first.
    pub(super) fness: Vec<f64>,
}

impl RunNumbers {
    pub(super) fn of(gallery: &Gallery, capture: &str, bps: f64) -> Result<Self, Failure> {
        let config = Config {
            capacity: Some(Capacity { bps }),
            ..Config::default()
        };
        let analysis = gallery.analyse(capture, &config)?;
        let capture = &analysis.captures[0];
        let largest = capture
            .flows()
            .map(|flow| flow.summary().payload_bytes)
            .max()
            .unwrap_or(0);
        let large: Vec<Flow<'_>> = capture
            .flows()
            .filter(|flow| flow.summary().payload_bytes * 100 >= largest)
            .collect();
        Ok(Self {
            flows: large.iter().map(|flow| numbers(flow, bps)).collect(),
            fness: fness(capture, &large),
        })
    }
}

fn numbers(flow: &Flow<'_>, bps: f64) -> FlowNumbers {
    const BIN_S: f64 = 0.1;
    let summary = flow.summary();
    let rtt = &summary.rtt;
    let bins = flow.record.series.bins();
    let inner = bins.get(1..bins.len().saturating_sub(1)).unwrap_or(&[]);
    let rtt_min = rtt.ns_min().unwrap_or(0);
    FlowNumbers {
        sender: flow
            .ends()
            .0
            .ip()
            .to_string()
            .rsplit('.')
            .next()
            .and_then(|part| part.parse().ok())
            .unwrap_or(0),
        goodput_bps: flow.goodput_bps(),
        rtt_s: rtt.ns_mean().map(|ns| ns / 1e9),
        overhead: flow.overhead(),
        retransmission_rate: summary.incidents().retransmitted_packets as f64
            / summary.data_packets.max(1) as f64,
        queue_delay_s: rtt.ns_mean().map(|ns| (ns - rtt_min as f64) / 1e9),
        completion_s: flow.completion_ns().unwrap_or(0) as f64 / 1e9,
        payload_bytes: summary.payload_bytes,
        goodputs: inner
            .iter()
            .map(|bin| 8.0 * bin.acked_bytes as f64 / BIN_S)
            .collect(),
        rtts: inner
            .iter()
            .filter_map(|bin| Some(bin.rtt_ns_mean()? / 1e9))
            .collect(),
        pms: inner
            .iter()
            .filter_map(|bin| {
                let goodput = 8.0 * bin.acked_bytes as f64 / BIN_S;
                let found: Balance = balance(
                    goodput,
                    bps,
                    rtt_min as f64,
                    bin.rtt_ns_mean()?,
                    bin.retransmitted_bytes,
                    BalanceWeights::default(),
                )?;
                Some(found.pm)
            })
            .collect(),
    }
}

/// fness of the first two flows, second by second.
fn fness(capture: &CaptureAnalysis, large: &[Flow<'_>]) -> Vec<f64> {
    const BINS: i64 = 10;
    let [a, b, ..] = large else {
        return Vec::new();
    };
    let (a, b) = match (a.data_span(), b.data_span()) {
        (Some(one), Some(two)) if two.first < one.first => (b, a),
        _ => (a, b),
    };
    let (Some(span_a), Some(span_b)) = (a.data_span(), b.data_span()) else {
        return Vec::new();
    };
    let bin = |at: ccanalyze::time::CaptureTime| at.since(capture.origin) / 100_000_000;
    let first = bin(span_a.first.max(span_b.first)) / BINS + 1;
    let last = bin(span_a.last.min(span_b.last)) / BINS;
    let bytes = |flow: &Flow<'_>, second: i64| -> u64 {
        let bins = flow.record.series.bins().iter();
        bins.filter(|bin| bin.index / BINS == second)
            .map(|bin| bin.payload_bytes)
            .sum()
    };
    (first..last)
        .filter_map(|second| ccanalyze::metric::fness(bytes(a, second), bytes(b, second)))
        .collect()
}
