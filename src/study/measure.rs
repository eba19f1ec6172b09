//! One run reduced: from all that was found in a capture to a row for it and a row a flow.

mod buffer;
mod rates;
mod samples;
mod series;
mod side;
mod windowed;

use std::fmt;

use super::conditions::Conditions;
use super::labels::FlowEnds;
use super::metrics::{Metric, Values};
use super::window::Window;
use crate::analyze::{
    CaptureAnalysis, Config, Flow, GivenUp, LinkSide, Ping, Quality, Sharing, goes_the_main_way,
};
use crate::capture::{CaptureError, FileFacts};
use crate::metric::{self, Balance, stats};
use crate::observe::{Bin, DelayDistribution, Span};
use crate::time::CaptureTime;

pub use series::{SeriesKind, SeriesOf, SeriesPoint};
use windowed::{behind_all, no_whole_bin, within_capture};

/// What a run is measured with, besides its capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasureOptions<'a> {
    /// How the capture was analysed.
    pub config: &'a Config,
    /// Under what conditions it was taken.
    pub conditions: &'a Conditions,
    /// Which part of it counts.
    pub window: Window,
    /// Flows with less payload do not count; `None`: those below 1 % of the largest.
    pub min_flow_bytes: Option<u64>,
    /// On which side of the queue it was captured, where that is known; else its packets may tell (METRICS.md Y2).
    pub captured: LinkSide,
    /// Keep the samples of each bin.
    pub samples: bool,
    /// Keep the run, or each of its flows, over time in steps of so many ns, a multiple of a bin.
    pub steps: Option<(SeriesOf, i64)>,
}

/// One run, reduced to numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMeasure {
    /// First and last record, in ns since the epoch; `None` where it is no capture.
    pub span_ns: Option<(i64, i64)>,
    /// Records of the capture; `None` where it is none.
    pub records: Option<u64>,
    /// First instant that counts and the one after the last, in ns since the epoch; `None` where
    /// all of the run counts.
    pub window_ns: Option<(i64, i64)>,
    /// Numbers of the run.
    pub values: Values,
    /// The flows that count, in the order of their first payload.
    pub flows: Vec<FlowMeasure>,
    /// Flows that were too small to count; `None` where it is no capture.
    pub flows_left_out: Option<u64>,
    /// The run over time; empty where no report asks for it.
    pub series: Vec<SeriesPoint>,
    /// What of its capture is not in these numbers.
    pub shortfall: Shortfall,
}

/// What of a run's captures is not in its numbers, or is not as the manifest says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortfall {
    /// Places at which a file was damaged and was repaired.
    pub damaged_places: u64,
    /// Bytes that were passed over there.
    pub skipped_bytes: u64,
    /// What was given up for want of memory.
    pub given_up: GivenUp,
    /// What waited in the queue contradicts the buffer of the conditions (METRICS.md B6).
    pub buffer_refuted: bool,
    /// What left the queue contradicts the constant capacity of the conditions (METRICS.md B5).
    pub capacity_refuted: bool,
    /// On which side of the link it was captured (METRICS.md Y2): behind it round-trip times lack the queue there.
    pub captured: LinkSide,
    /// For so long its window would go on behind the last record, in ns, where whole bins of it do; it ends there.
    pub window_beyond_ns: Option<i64>,
    /// Packets that were not captured, by its files' own count.
    pub dropped_packets: u64,
    /// Packets of UDP beside its flows, and of both, where these are many and not analysed.
    pub udp_beside: Option<[u64; 2]>,
}

impl Shortfall {
    /// Adds the damage of these files, and what they lost.
    pub(super) fn add_damage(&mut self, files: &[FileFacts]) {
        for file in files {
            self.damaged_places += file.gaps_total;
            self.skipped_bytes += file.skipped_bytes;
            let dropped = file.drops.unwrap_or(0);
            self.dropped_packets = self.dropped_packets.saturating_add(dropped);
        }
    }
}

/// One flow, reduced to numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMeasure {
    /// Rank of its connection by first record, from 0; `None` where it is of no capture.
    pub connection_id: Option<u64>,
    /// Who sent to whom; `None` where it is of no capture.
    pub ends: Option<FlowEnds>,
    /// First and last payload, in ns since the epoch; `None` where it is of no capture.
    pub span_ns: Option<(i64, i64)>,
    /// Numbers of the flow.
    pub values: Values,
    /// What the reader must know (METRICS.md Q1), joined by commas.
    pub quality: String,
    /// The flow over time, bin by bin; empty where no report asks for it.
    pub samples: Vec<Sample>,
    /// Further bins of the window, in which nothing happened; 0 where no window counts.
    pub silent_bins: u64,
    /// The flow over time in the steps of a report; empty where none asks for it.
    pub series: Vec<SeriesPoint>,
}

impl FlowMeasure {
    /// Whether it had not completed when its last payload passed: the capture ended before it did, or it was reset.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        Quality::INCOMPLETE.iter().any(|&quality| self.has(quality))
    }

    /// Whether the reader must know this of it.
    #[must_use]
    pub fn has(&self, quality: Quality) -> bool {
        self.quality.split(',').any(|word| word == quality.name())
    }
}

/// One bin of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Start of the bin after the first record of the capture, in ns.
    pub time_ns: i64,
    /// Goodput; 0 where nothing was acknowledged, `None` where no ACK of the flow was seen.
    pub goodput_bps: Option<f64>,
    /// Mean round-trip time; `None` without a sample.
    pub rtt_ns_mean: Option<f64>,
    /// Data segments sent again; `None` of UDP.
    pub retransmitted_packets: Option<u64>,
    /// Balanced metric; `None` without capacity or round-trip time.
    pub pm: Option<f64>,
}

impl RunMeasure {
    /// Reduces what was found in a capture.
    ///
    /// # Errors
    /// Says why the run does not count: the capture could not be read to its end, or holds no flow.
    pub fn of(capture: &CaptureAnalysis, options: &MeasureOptions<'_>) -> Result<Self, String> {
        if let Some(error) = capture.error() {
            return Err(why_not_read(error, error.place_in_file()));
        }
        let span = capture.span.ok_or("it holds no packet")?;
        let (flows, flows_left_out) = counted(capture, options.min_flow_bytes);
        if flows.is_empty() {
            return Err(none_counts(capture, options.min_flow_bytes));
        }
        let spans: Vec<Span> = flows.iter().filter_map(Flow::data_span).collect();
        let window = options.window.within(&spans);
        if window.is_some_and(|(start, end)| start >= end) {
            return Err("its window is empty: nothing happens in it".to_owned());
        }
        if let Some(late) = window.and_then(|(start, _)| behind_all(start, &spans)) {
            return Err(late);
        }
        let (window, window_beyond_ns) = within_capture(window, span.last);
        let mut run = Run {
            capture,
            options,
            flows: &flows,
            main_way: &goes_the_main_way(&flows),
            window,
            captured: options.captured,
        };
        if run.captured == LinkSide::Unknown {
            run.captured = run.side();
        }
        if window.is_some_and(|window| run.whole_bins(window).is_none()) {
            return Err(no_whole_bin(options.config.bin_ns, window_beyond_ns));
        }
        let empty_rtts_ns = run.empty_rtts_ns();
        let with_paths = flows.iter().zip(empty_rtts_ns);
        let mut measures: Vec<FlowMeasure> = with_paths
            .map(|(flow, empty_rtt_ns)| run.flow(flow, empty_rtt_ns))
            .collect();
        if let Some(step_ns) = run.step_ns_of(SeriesOf::Flows) {
            let series = run.series_of_flows(step_ns);
            for (measure, series) in measures.iter_mut().zip(series) {
                measure.series = series;
            }
        }
        let mut shortfall = Shortfall {
            given_up: capture.given_up,
            captured: run.captured,
            window_beyond_ns: run.bins_beyond(window_beyond_ns),
            udp_beside: capture.udp_beside(),
            ..Shortfall::default()
        };
        shortfall.add_damage(&capture.files);
        Ok(Self {
            span_ns: Some((span.first.as_ns(), span.last.as_ns())),
            records: Some(capture.records),
            window_ns: window.map(|(start, end)| (start.as_ns(), end.as_ns())),
            values: run.values(&measures),
            flows: measures,
            flows_left_out: Some(flows_left_out),
            series: run
                .step_ns_of(SeriesOf::Runs)
                .map_or_else(Vec::new, |step_ns| run.series(step_ns)),
            shortfall,
        })
    }
}

/// Why no flow counts.
fn none_counts(capture: &CaptureAnalysis, min_flow_bytes: Option<u64>) -> String {
    match (largest_bytes(capture), min_flow_bytes) {
        (Some(largest), Some(least)) => format!(
            "no flow has as much payload as `min_flow` asks for, {least} bytes: the largest has {largest}"
        ),
        _ if capture.has_udp => "it holds no flow with payload".to_owned(),
        _ => {
            "it holds no TCP flow with payload (`udp` of [analysis] takes those of UDP)".to_owned()
        }
    }
}

/// Payload of the largest flow.
fn largest_bytes(capture: &CaptureAnalysis) -> Option<u64> {
    let flows = capture.flows();
    flows.map(|flow| flow.payload_bytes()).max()
}

/// The flows that count, in the order of their first payload, and how many do not.
fn counted(capture: &CaptureAnalysis, min_flow_bytes: Option<u64>) -> (Vec<Flow<'_>>, u64) {
    let largest = largest_bytes(capture).unwrap_or(0);
    let counts = |flow: &Flow<'_>| match min_flow_bytes {
        Some(least) => flow.payload_bytes() >= least,
        None => flow.counts_beside(largest),
    };
    let mut flows: Vec<Flow<'_>> = capture.flows().filter(counts).collect();
    let left_out = (capture.flows().count() - flows.len()) as u64;
    flows.sort_by_key(|flow| {
        (
            flow.data_span().map(|span| span.first),
            flow.connection_id,
            flow.dir(),
        )
    });
    (flows, left_out)
}

/// A run being reduced.
struct Run<'a> {
    capture: &'a CaptureAnalysis,
    options: &'a MeasureOptions<'a>,
    flows: &'a [Flow<'a>],
    /// Whether each of them goes the main way (METRICS.md N0).
    main_way: &'a [bool],
    window: Option<(CaptureTime, CaptureTime)>,
    /// On which side of the link its packets were captured.
    captured: LinkSide,
}

impl Run<'_> {
    /// The step in which these are wanted over time, in ns.
    fn step_ns_of(&self, of: SeriesOf) -> Option<i64> {
        let wanted = self.options.steps.filter(|&(wanted, _)| wanted == of);
        wanted.map(|(_, step_ns)| step_ns)
    }

    /// Mean capacity from `start` to `end`, in bit/s.
    fn capacity_bps(&self, start: CaptureTime, end: CaptureTime) -> Option<f64> {
        let capacity = self.options.conditions.capacity.as_ref()?;
        Some(capacity.mean_bps(self.capture.origin, start, end))
    }

    /// Numbers of a flow, whose path has this RTT where it is empty.
    fn flow(&self, flow: &Flow<'_>, empty_rtt_ns: Option<i64>) -> FlowMeasure {
        let mut values = match self.window {
            None => self.whole(flow),
            Some(window) => self.windowed(flow, window),
        };
        let share = self.queue_share(values.get(Metric::RttNsMean), empty_rtt_ns);
        values.set(Metric::QueueShare, share);
        self.set_balance(flow, &mut values);
        let (sender, receiver) = flow.ends();
        let span = flow.data_span();
        let words: Vec<&str> = flow.quality().into_iter().map(Quality::name).collect();
        let (samples, silent_bins) = if self.options.samples {
            let samples = self.samples(flow);
            let silent_bins = self.silent_bins(flow, samples.len());
            (samples, silent_bins)
        } else {
            (Vec::new(), 0)
        };
        let mut measure = FlowMeasure {
            connection_id: Some(flow.connection_id),
            ends: Some(FlowEnds {
                sender,
                receiver,
                direction: flow.dir(),
                transport: flow.transport(),
            }),
            span_ns: span.map(|span| (span.first.as_ns(), span.last.as_ns())),
            values,
            quality: words.join(","),
            samples,
            silent_bins,
            series: Vec::new(),
        };
        if measure.is_unfinished() {
            measure.values.set(Metric::CompletionNs, None);
        }
        measure
    }

    /// Numbers of a flow over all of its time: those of the results table.
    fn whole(&self, flow: &Flow<'_>) -> Values {
        let summary = flow.summary();
        let mut values = Values::default();
        let mut set = |metric, value: Option<f64>| values.set(metric, value);
        let whole = |value: Option<i64>| value.map(|value| value as f64);
        let goodput_bps = flow.goodput_bps();
        set(Metric::GoodputBps, goodput_bps);
        set(Metric::ThroughputBps, flow.throughput_bps());
        set(Metric::IpBytes, Some(summary.ip_bytes as f64));
        set(
            Metric::AckedBytes,
            flow.state().acked_bytes.map(|bytes| bytes as f64),
        );
        set(Metric::Overhead, flow.overhead());
        set(Metric::WireOverhead, flow.wire_overhead());
        let interval = flow.data_span().zip(flow.goodput_interval_ns());
        let utilisation = interval.and_then(|(span, (interval_ns, _))| {
            let end = span.first.plus_ns(interval_ns);
            metric::utilisation(goodput_bps?, self.capacity_bps(span.first, end)?)
        });
        set(Metric::Utilisation, utilisation);
        set(Metric::CompletionNs, whole(flow.completion_ns()));
        let handshake = flow.connection().handshake().round_trip_ns();
        set(
            Metric::HandshakeRttNs,
            whole(handshake.map(|(all, _, _)| all)),
        );
        let rtt = &summary.rtt;
        set(Metric::RttNsMin, whole(rtt.ns_min()));
        set(Metric::RttNsMean, rtt.ns_mean());
        set(Metric::RttNsMax, whole(rtt.ns_max()));
        let queue = rtt.ns_mean().zip(rtt.ns_min());
        set(
            Metric::QueueDelayNsMean,
            queue.map(|(mean, min)| mean - min as f64),
        );
        set(Metric::DataPackets, Some(summary.data_packets as f64));
        if flow.tcp().is_some() {
            let (figures, incidents) = (flow.figures(), summary.incidents());
            let mut set_count = |metric, count: u64| set(metric, Some(count as f64));
            set_count(Metric::WireIpBytes, figures.wire_ip_bytes(incidents));
            let retransmitted = incidents.retransmitted_packets;
            set_count(Metric::RetransmittedPackets, retransmitted);
            let on_wire = figures.wire_retransmitted_packets(incidents);
            set_count(Metric::WireRetransmittedPackets, on_wire);
            set_count(Metric::RetransmittedBytes, incidents.retransmitted_bytes);
            set(Metric::RetransmissionRate, summary.retransmission_rate());
        }
        let in_flight = summary.in_flight_bytes_max().map(|bytes| bytes as f64);
        set(Metric::InFlightBytesMax, in_flight);
        set_quantiles(rtt, &mut values);
        values
    }

    /// The balanced metric and its parts: means over the bins that have it.
    fn set_balance(&self, flow: &Flow<'_>, values: &mut Values) {
        if self.lacks_bins(flow) {
            return;
        }
        let floor_ns = flow.balance_floor_ns();
        let bins = self.bins(flow);
        let balances: Vec<_> = bins
            .iter()
            .filter_map(|bin| self.balance(floor_ns, bin))
            .collect();
        let mean =
            |part: fn(&Balance) -> f64| stats::mean(&balances.iter().map(part).collect::<Vec<_>>());
        values.set(Metric::Pm, mean(|balance| balance.pm));
        values.set(Metric::PmGoodput, mean(|balance| balance.goodput));
        values.set(Metric::PmDelay, mean(|balance| balance.delay));
        values.set(
            Metric::PmRetransmission,
            mean(|balance| balance.retransmission),
        );
    }

    /// The balanced metric of one bin (METRICS.md P1) of a flow with this smallest RTT.
    fn balance(&self, floor_ns: Option<i64>, bin: &Bin) -> Option<Balance> {
        let start = self.start_of(bin.index);
        let capacity_bps = self.capacity_bps(start, start.plus_ns(self.bin_ns()))?;
        let weights = self.options.config.weights;
        bin.balance(self.bin_ns(), capacity_bps, floor_ns?, weights)
    }

    fn start_of(&self, bin: i64) -> CaptureTime {
        let after_ns = bin.saturating_mul(self.bin_ns());
        self.capture.origin.plus_ns(after_ns)
    }

    /// How long a bin lasts: as its series was made, with whatever configuration.
    fn bin_ns(&self) -> i64 {
        self.options.config.bin_ns.max(1)
    }

    /// Numbers of the run from those of its flows.
    fn values(&self, flows: &[FlowMeasure]) -> Values {
        let mut values = Values::default();
        if let [only] = flows {
            values = only.values.clone();
        } else {
            self.set_sums(flows, &mut values);
        }
        values.set(Metric::Flows, Some(flows.len() as f64));
        // What goes the other way takes nothing from it.
        if let ([first, second], [true, true]) = (self.flows, self.main_way) {
            values.set(Metric::Fness, self.fness(first, second));
        }
        let within = self.window_span();
        let pairs = &self.capture.pairs;
        // Beyond the largest flows, payload over time is not kept.
        let sharing = if self.flows.len() <= self.options.config.pairs.top {
            Sharing::of(self.flows, self.main_way, within)
        } else {
            Sharing {
                jain: pairs.jain.filter(|_| within.is_none()),
                exact: true,
                ratio: pairs.sharing_ratio,
                bound: pairs.sharing_bound,
            }
        };
        values.set(Metric::Jain, sharing.jain.filter(|_| sharing.exact));
        if self.window.is_none() {
            values.set(Metric::SharingRatio, sharing.ratio);
            values.set(Metric::SharingBound, sharing.bound);
        }
        self.set_pings(&mut values);
        values
    }

    /// The window, with the last instant that counts.
    fn window_span(&self) -> Option<Span> {
        self.window.map(|(start, end)| Span {
            first: start,
            last: end.plus_ns(-1),
        })
    }

    /// Pairwise fairness, the first flow being A (METRICS.md N1): over the timespan of the shorter one, and no more of
    /// it than lies in the window; `None` where they are not active at the same time there, or their payload is not known
    /// to the byte.
    fn fness(&self, first: &Flow<'_>, second: &Flow<'_>) -> Option<f64> {
        let (a, b) = (first.data_span()?, second.data_span()?);
        let shorter = a.shorter(b);
        let both = a.common(b)?;
        let span = match self.window_span() {
            Some(window) => both.common(window).and_then(|_| shorter.common(window))?,
            None => shorter,
        };
        let payloads = [first, second].map(|flow| flow.payload_within(span));
        let [(first_bytes, true), (second_bytes, true)] = payloads else {
            return None;
        };
        metric::fness(first_bytes, second_bytes)
    }

    /// Numbers of several flows together.
    fn set_sums(&self, flows: &[FlowMeasure], values: &mut Values) {
        let each: Vec<&Values> = flows.iter().map(|flow| &flow.values).collect();
        values.set_sums(&each);
        // Those of a window are told by bins, and which are the smallest and the largest is not known where some are missing.
        let has_delays = self.window.is_none() || !self.flows.iter().any(|of| self.lacks_bins(of));
        if has_delays {
            let all = |metric: Metric| flows.iter().filter_map(move |flow| flow.values.get(metric));
            values.set(Metric::RttNsMin, all(Metric::RttNsMin).reduce(f64::min));
            values.set(Metric::RttNsMax, all(Metric::RttNsMax).reduce(f64::max));
            for metric in [
                Metric::RttNsMean,
                Metric::QueueDelayNsMean,
                Metric::QueueShare,
            ] {
                values.set(metric, self.mean_by_samples(flows, metric));
            }
        }
        values.set(Metric::RetransmissionRate, self.retransmission_rate(values));
        if self.window.is_some() {
            let overhead = rates::overhead_of(&each);
            values.set(Metric::Overhead, overhead);
            let is_on_wire = values.get(Metric::WireIpBytes).is_some();
            values.set(Metric::WireOverhead, overhead.filter(|_| is_on_wire));
        } else {
            let mut rtts = DelayDistribution::default();
            for flow in self.flows {
                rtts.add_all(&flow.summary().rtt);
            }
            set_quantiles(&rtts, values);
        }
        self.set_rates(flows, values);
    }

    /// Mean of a metric over the flows, each as often as it has RTT samples.
    fn mean_by_samples(&self, flows: &[FlowMeasure], metric: Metric) -> Option<f64> {
        let weighted = self.flows.iter().zip(flows).filter_map(|(flow, measure)| {
            let samples = match self.window {
                None => flow.summary().rtt.samples(),
                Some(_) => self.bins(flow).iter().map(|bin| bin.rtt_samples).sum(),
            };
            Some((samples as f64, measure.values.get(metric)?))
        });
        let (weight, sum) = weighted.fold((0.0, 0.0), |(weight, sum), (samples, value)| {
            (weight + samples, sum + samples * value)
        });
        (weight > 0.0).then(|| sum / weight)
    }

    /// The pings that count.
    fn pings(&self) -> impl Iterator<Item = &Ping> {
        let counts = |ping: &&Ping| {
            self.window
                .is_none_or(|(start, end)| start <= ping.at && ping.at < end)
        };
        self.capture.pings.iter().filter(counts)
    }

    fn set_pings(&self, values: &mut Values) {
        let pings: Vec<&Ping> = self.pings().collect();
        let times: Vec<f64> = pings
            .iter()
            .filter_map(|ping| Some(ping.rtt_ns? as f64))
            .collect();
        values.set(Metric::PingNsMin, times.iter().copied().reduce(f64::min));
        values.set(Metric::PingNsMean, stats::mean(&times));
        values.set(Metric::PingNsMax, times.iter().copied().reduce(f64::max));
        values.set(
            Metric::PingLoss,
            (!pings.is_empty()).then(|| 1.0 - times.len() as f64 / pings.len() as f64),
        );
    }
}

/// Sets the quantiles of round-trip times.
fn set_quantiles(rtts: &DelayDistribution, values: &mut Values) {
    let quantiles = rtts.ns_quantiles([0.50, 0.95, 0.99]);
    let metrics = [Metric::RttNsP50, Metric::RttNsP95, Metric::RttNsP99];
    for (metric, ns) in metrics.into_iter().zip(quantiles) {
        values.set(metric, ns.map(|ns| ns as f64));
    }
}

/// Why a capture was not read to its end, by its `place`, and what may be done about it. That the
/// records before it are used, as the error itself says, is not so here.
pub(super) fn why_not_read(error: &CaptureError, place: impl fmt::Display) -> String {
    if error.kind.is_damage() {
        format!("{place}; --repair goes on behind the damage")
    } else {
        place.to_string()
    }
}

/// An error with what caused it.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
