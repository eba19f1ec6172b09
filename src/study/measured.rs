//! Runs that were measured elsewhere: from what a table says to the numbers of a run.

use super::conditions::{Conditions, PathCapacity};
use super::labels::LabelValue;
use super::measure::{FlowMeasure, RunMeasure, SeriesKind, SeriesPoint, Shortfall};
use super::metrics::{Metric, Values};
use super::window::Window;
use crate::metric;
use crate::metric::stats::{mean, quantile};
use crate::observe::Span;
use crate::time::CaptureTime;

/// A run that came as a table.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// Its numbers, or why it has none and is left out.
    pub outcome: Result<RunMeasure, String>,
    /// Labels that each of its flows has of its own; `None` where it has that of the run.
    pub flow_labels: Vec<Vec<Option<LabelValue>>>,
}

impl MeasuredRun {
    /// Its outcome, with what follows from its numbers under such conditions.
    pub(super) fn outcome_under(&self, conditions: &Conditions) -> Result<RunMeasure, String> {
        let mut measure = self.outcome.clone()?;
        complete(&mut measure.values, conditions);
        for flow in &mut measure.flows {
            complete(&mut flow.values, conditions);
        }
        Ok(measure)
    }
}

impl RunMeasure {
    /// A run of which only these numbers are known.
    pub(super) fn of_values(values: Values) -> Self {
        Self {
            span_ns: None,
            records: None,
            window_ns: None,
            values,
            flows: Vec::new(),
            flows_left_out: None,
            series: Vec::new(),
            shortfall: Shortfall::default(),
        }
    }

    /// A run of which the numbers of its flows are known, in the order of their start.
    ///
    /// Of the run's own numbers those are set that follow from these, whenever the flows began and
    /// ended: sums of counts, what follows from such sums, extremes.
    pub(super) fn of_flows(flows: Vec<Values>) -> Self {
        let mut values = match &flows[..] {
            [only] => only.clone(),
            _ => together(&flows),
        };
        values.set(Metric::Flows, Some(flows.len() as f64));
        let flow = |values| FlowMeasure {
            connection_id: None,
            ends: None,
            span_ns: None,
            values,
            quality: String::new(),
            samples: Vec::new(),
            silent_bins: 0,
            series: Vec::new(),
        };
        Self {
            flows: flows.into_iter().map(flow).collect(),
            ..Self::of_values(values)
        }
    }

    /// A run of which points in time are known.
    ///
    /// # Errors
    /// Says that no point has a value, or none within the window.
    pub(super) fn of_points(points: &MeasuredPoints, window: Window) -> Result<Self, String> {
        let known: Vec<SeriesPoint> = points.known().collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else {
            return Err("it has no values in these columns".to_owned());
        };
        let span = Span {
            first: CaptureTime::from_ns(first.time_ns),
            last: CaptureTime::from_ns(last.time_ns),
        };
        let within = window.within(&[span]);
        let rtts = known.iter().filter_map(|point| point.get(SeriesKind::Rtt));
        let floor_ns = rtts.reduce(f64::min);
        let series: Vec<SeriesPoint> = known
            .into_iter()
            .filter(|point| {
                let at = CaptureTime::from_ns(point.time_ns);
                within.is_none_or(|(start, end)| start <= at && at < end)
            })
            .collect();
        if series.is_empty() {
            return Err("its window is empty: nothing was measured in it".to_owned());
        }
        let all =
            |kind| -> Vec<f64> { series.iter().filter_map(|point| point.get(kind)).collect() };
        let mut values = Values::default();
        values.set(Metric::GoodputBps, mean(&all(SeriesKind::Goodput)));
        values.set(Metric::ThroughputBps, mean(&all(SeriesKind::Throughput)));
        set_rtt(&mut values, all(SeriesKind::Rtt), floor_ns);
        let pings = match (&points.pings_ns[..], within) {
            ([_, ..], None) => points.pings_ns.clone(),
            _ => all(SeriesKind::Ping),
        };
        values.set(Metric::PingNsMin, pings.iter().copied().reduce(f64::min));
        values.set(Metric::PingNsMean, mean(&pings));
        values.set(Metric::PingNsMax, pings.iter().copied().reduce(f64::max));
        Ok(Self {
            series,
            ..Self::of_values(values)
        })
    }
}

/// What a table says about a run over time.
#[derive(Clone, Debug, Default)]
pub(super) struct MeasuredPoints {
    /// Instants in ns, ascending.
    pub(super) times_ns: Vec<i64>,
    /// Values at these instants, in the units of [`SeriesKind`].
    pub(super) series: Vec<(SeriesKind, Vec<Option<f64>>)>,
    /// Every single ping, in ns, where the table keeps them besides the points.
    pub(super) pings_ns: Vec<f64>,
}

impl MeasuredPoints {
    /// The points that have any value.
    fn known(&self) -> impl Iterator<Item = SeriesPoint> {
        self.times_ns
            .iter()
            .enumerate()
            .filter_map(|(row, &time_ns)| {
                let mut values = [None; SeriesKind::ALL.len()];
                for (kind, cells) in &self.series {
                    values[*kind as usize] = cells.get(row).copied().flatten();
                }
                let known = values.iter().any(Option::is_some);
                known.then(|| SeriesPoint::new(time_ns, values))
            })
    }
}

/// `floor_ns` is the smallest of the whole run, which delays of queues count from in a window, too (METRICS.md R5).
fn set_rtt(values: &mut Values, mut rtts: Vec<f64>, floor_ns: Option<f64>) {
    rtts.sort_by(f64::total_cmp);
    let (mean, min) = (mean(&rtts), rtts.first().copied());
    values.set(Metric::RttNsMin, min);
    values.set(Metric::RttNsMean, mean);
    values.set(Metric::RttNsMax, rtts.last().copied());
    values.set(Metric::RttNsP50, quantile(&rtts, 0.50));
    values.set(Metric::RttNsP95, quantile(&rtts, 0.95));
    values.set(Metric::RttNsP99, quantile(&rtts, 0.99));
    let queue = mean.zip(floor_ns).map(|(mean, floor)| mean - floor);
    values.set(Metric::QueueDelayNsMean, queue);
}

/// What follows for a run from the numbers of its flows.
fn together(flows: &[Values]) -> Values {
    let mut values = Values::default();
    let all = |metric: Metric| flows.iter().map(move |flow| flow.get(metric));
    values.set_sums(&flows.iter().collect::<Vec<_>>());
    let whole = |metric| all(metric).collect::<Option<Vec<f64>>>();
    let extreme = |metric, pick: fn(f64, f64) -> f64| whole(metric)?.into_iter().reduce(pick);
    values.set(Metric::RttNsMin, extreme(Metric::RttNsMin, f64::min));
    values.set(Metric::RttNsMax, extreme(Metric::RttNsMax, f64::max));
    values
}

/// Sets what follows from other numbers and the conditions, where the table does not say it itself.
fn complete(values: &mut Values, conditions: &Conditions) {
    let constant_bps = match conditions.capacity {
        Some(PathCapacity::Constant(bps)) => Some(bps),
        _ => None,
    };
    let goodput_bps = values.get(Metric::GoodputBps);
    let utilisation = goodput_bps
        .zip(constant_bps)
        .and_then(|(goodput, capacity)| metric::utilisation(goodput, capacity));
    let error = values
        .get(Metric::PredictedBps)
        .zip(goodput_bps)
        .and_then(|(predicted, measured)| metric::split::prediction_error(predicted, measured));
    let follows = [
        (Metric::Utilisation, utilisation),
        (Metric::PredictionError, error),
    ];
    for (metric, value) in follows.into_iter().chain(values.ratios()) {
        values.set(metric, values.get(metric).or(value));
    }
}
