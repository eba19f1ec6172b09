//! A run or a flow over time: its goodput, throughput, round-trip times and pings in steps.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Range;
use std::slice;

use super::Run;
use crate::analyze::{Delivered, Flow, Ping};
use crate::metric;
use crate::study::units::Dimension;
use crate::study::window::whole_bins;
use crate::time::CaptureTime;

/// Steps of a capture that are kept; a longer one keeps those in which something happened.
const STEPS_MAX: i64 = 1 << 20;

/// What a run has over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SeriesKind {
    /// Acknowledged payload of all flows over the step, in bit/s.
    Goodput,
    /// IP bytes of all flows over the step, in bit/s.
    Throughput,
    /// Mean of the round-trip times taken in the step, in ns.
    Rtt,
    /// Mean of the pings sent in the step, in ns.
    Ping,
}

impl SeriesKind {
    /// All of them, in their order.
    pub const ALL: &'static [Self] = &[Self::Goodput, Self::Throughput, Self::Rtt, Self::Ping];

    /// Its name, unit last.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_bps",
            Self::Throughput => "throughput_bps",
            Self::Rtt => "rtt_ns",
            Self::Ping => "ping_ns",
        }
    }

    /// What it is a quantity of.
    #[must_use]
    pub const fn dimension(self) -> Dimension {
        match self {
            Self::Goodput | Self::Throughput => Dimension::Rate,
            Self::Rtt | Self::Ping => Dimension::Time,
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

shown_by_name!(SeriesKind);

/// What is followed over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesOf {
    /// All flows of a run together.
    #[default]
    Runs,
    /// Each flow of a run.
    Flows,
}

impl SeriesOf {
    /// Its name in manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Flows => "flows",
        }
    }
}

/// A run, or a flow, in one step of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesPoint {
    /// Start of the step, in ns: after the first record of the capture, or by the clock of the
    /// table that it was read from.
    pub time_ns: i64,
    values: [Option<f64>; SeriesKind::ALL.len()],
}

impl SeriesPoint {
    /// A point with these values, in the order of [`SeriesKind::ALL`].
    #[must_use]
    pub fn new(time_ns: i64, values: [Option<f64>; SeriesKind::ALL.len()]) -> Self {
        Self { time_ns, values }
    }

    /// Its value of a kind.
    #[must_use]
    pub fn get(&self, kind: SeriesKind) -> Option<f64> {
        self.values[kind as usize]
    }

    /// Its values, in the order of [`SeriesKind::ALL`].
    #[must_use]
    pub fn values(&self) -> [Option<f64>; SeriesKind::ALL.len()] {
        self.values
    }
}

/// What happened in a step.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    delivered_bytes: u64,
    ip_bytes: u64,
    rtt_samples: u64,
    rtt_ns_sum: f64,
    pings: Answered,
}

/// Pings that were answered.
#[derive(Clone, Copy, Debug, Default)]
struct Answered {
    answered: u64,
    ns_sum: f64,
}

/// Pings by the step in which they were sent.
type PingSteps = BTreeMap<i64, Answered>;

impl Step {
    /// What it says of each [`SeriesKind`].
    fn values(&self, step_ns: i64, is_delivery_told: bool) -> [Option<f64>; SeriesKind::ALL.len()] {
        let mean = |n: u64, sum: f64| (n > 0).then(|| sum / n as f64);
        [
            metric::rate_bps(self.delivered_bytes, step_ns).filter(|_| is_delivery_told),
            metric::rate_bps(self.ip_bytes, step_ns),
            mean(self.rtt_samples, self.rtt_ns_sum),
            mean(self.pings.answered, self.pings.ns_sum),
        ]
    }
}

impl Run<'_> {
    /// From the first data of its flows to the last of their new ACKs, or of their data where no ACKs were seen.
    fn busy(&self) -> Option<(CaptureTime, CaptureTime)> {
        let spans = self.flows.iter().filter_map(|flow| {
            let (first, (ns, _)) = (flow.data_span()?.first, flow.goodput_interval_ns()?);
            Some((first, first.plus_ns(ns)))
        });
        spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The run in steps of `step_ns`, a multiple of a bin: those that lie as a whole within its window, or within the
    /// time in which its flows did something.
    pub(super) fn series(&self, step_ns: i64) -> Vec<SeriesPoint> {
        let mut pings = PingSteps::new();
        for ping in self.pings() {
            add_ping(&mut pings, self.step_of(ping, step_ns), ping);
        }
        self.series_with(step_ns, Some(&pings))
    }

    /// Each of its flows in such steps, as if it had been alone: with the pings between its two hosts, and also within a
    /// window as long as it did something.
    pub(super) fn series_of_flows(&self, step_ns: i64) -> Vec<Vec<SeriesPoint>> {
        // Once for all flows, of which there may be as many as pings.
        let mut pings: BTreeMap<[IpAddr; 2], PingSteps> = BTreeMap::new();
        for ping in self.pings() {
            let between = pings.entry(hosts(ping.src, ping.dst)).or_default();
            add_ping(between, self.step_of(ping, step_ns), ping);
        }
        let series = |flow: &Flow<'_>| {
            let (sender, receiver) = flow.ends();
            let pings = pings.get(&hosts(sender.ip(), receiver.ip()));
            self.series_of_flow(flow, step_ns, pings)
        };
        self.flows.iter().map(series).collect()
    }

    fn series_of_flow(
        &self,
        flow: &Flow<'_>,
        step_ns: i64,
        pings: Option<&PingSteps>,
    ) -> Vec<SeriesPoint> {
        let mut alone = Run {
            flows: slice::from_ref(flow),
            ..*self
        };
        if let (Some((start, end)), Some((first, last))) = (self.window, alone.busy()) {
            let (start, end) = (start.max(first), end.min(last));
            if start >= end {
                return Vec::new();
            }
            alone.window = Some((start, end));
        }
        alone.series_with(step_ns, pings)
    }

    /// Its flows in such steps, with these pings as far as steps count.
    fn series_with(&self, step_ns: i64, pings: Option<&PingSteps>) -> Vec<SeriesPoint> {
        let bins_a_step = (step_ns / self.bin_ns()).max(1);
        let known_before = self.steps_known_before(bins_a_step);
        let mut steps = self.steps_of_flows(bins_a_step, known_before);
        let whole = self.whole_steps(bins_a_step, known_before);
        if whole.is_none() && self.window.is_some() {
            return Vec::new();
        }
        let range = whole.clone().unwrap_or_else(|| {
            let ends = steps.first_key_value().zip(steps.last_key_value());
            ends.map_or(0..0, |((&first, _), (&last, _))| first..last + 1)
        });
        steps.retain(|index, _| range.contains(index));
        for (&index, pings) in pings.iter().flat_map(|pings| pings.range(range.clone())) {
            steps.entry(index).or_default().pings = *pings;
        }
        // What is silent counts as well, at either end, too: but for the room that it takes.
        if let Some(whole) =
            whole.filter(|whole| whole.end.saturating_sub(whole.start) <= STEPS_MAX)
        {
            for index in whole {
                steps.entry(index).or_default();
            }
        }
        let is_delivery_told = Delivered::is_told(self.flows.iter().copied());
        let point = |(index, step): (i64, Step)| {
            SeriesPoint::new(
                index.saturating_mul(step_ns),
                step.values(step_ns, is_delivery_told),
            )
        };
        steps.into_iter().map(point).collect()
    }

    /// The steps in which flows did something that counts, but for those of which bins are missing.
    fn steps_of_flows(&self, bins_a_step: i64, known_before: i64) -> BTreeMap<i64, Step> {
        let mut steps: BTreeMap<i64, Step> = BTreeMap::new();
        for flow in self.flows {
            for bin in self.bins(flow) {
                let step = steps.entry(bin.index.div_euclid(bins_a_step)).or_default();
                step.delivered_bytes += flow.delivered_in(&bin);
                step.ip_bytes += bin.ip_bytes;
                step.rtt_samples += bin.rtt_samples;
                step.rtt_ns_sum += bin.rtt_ns_sum as f64;
            }
        }
        steps.retain(|&index, _| index < known_before);
        steps
    }

    /// The first step of which bins of a flow are missing: it would have less than its bytes.
    fn steps_known_before(&self, bins_a_step: i64) -> i64 {
        let known = self.flows.iter();
        let known = known.map(|flow| flow.record.series().complete_through());
        let known_through = known.min().flatten();
        known_through.map_or(i64::MIN, |last| {
            last.saturating_add(1).div_euclid(bins_a_step)
        })
    }

    /// The steps that lie as a whole within the window, or between the first data of the flows and their end: in others they
    /// begin or end, and have less than a step's bytes. `None` where there is none: of a run that is too short for one there
    /// is nothing but those in which something happened.
    fn whole_steps(&self, bins_a_step: i64, known_before: i64) -> Option<Range<i64>> {
        let (bins, _, _) = self.whole_bins(self.window.or_else(|| self.busy())?)?;
        let (first, end) = whole_bins(bins, bins_a_step);
        let end = end.min(known_before);
        (first < end).then_some(first..end)
    }

    /// The step in which a ping was sent.
    fn step_of(&self, ping: &Ping, step_ns: i64) -> i64 {
        ping.at.since(self.capture.origin).div_euclid(step_ns)
    }
}

/// Two hosts, whichever of them asked.
fn hosts(one: IpAddr, other: IpAddr) -> [IpAddr; 2] {
    [one.min(other), one.max(other)]
}

/// Adds a ping to those of its step, if it was answered.
fn add_ping(steps: &mut PingSteps, step: i64, ping: &Ping) {
    if let Some(ns) = ping.rtt_ns {
        let of = steps.entry(step).or_default();
        of.answered += 1;
        of.ns_sum += ns as f64;
    }
}
