//! What the flows of a run did to a queue, where it was captured before and after it.

use std::path::{Path, PathBuf};

use super::conditions::{Buffer, Conditions, PathCapacity};
use super::measure::RunMeasure;
use super::metrics::{Metric, Values};
use super::window::{BinRange, whole_bins};
use crate::analyze::{Config, LinkSide};
use crate::path::{
    FlowBin, Heading, Hop, PathAnalysis, PathConfig, PathError, PathFlow, Point, QueueBin,
    QueueLimit, Way,
};

/// Captures of a run at both sides of the queue of its bottleneck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePoints {
    /// Where packets come in.
    pub before: PathBuf,
    /// Where they leave.
    pub after: PathBuf,
}

impl QueuePoints {
    /// On which side of the queue a capture was taken; not known of one that is neither.
    pub(super) fn side(&self, capture: &Path) -> LinkSide {
        if self.after == capture {
            LinkSide::Behind
        } else if self.before == capture {
            LinkSide::Before
        } else {
            LinkSide::Unknown
        }
    }

    /// What happened between them.
    fn hop(&self, config: &Config, conditions: &Conditions) -> Result<Hop, PathError> {
        let config = PathConfig {
            decode: config.decode,
            filter: config.filter.clone(),
            bin_ns: config.bin_ns,
            limit: limit(conditions),
            memory_bytes: config.memory_bytes,
            repair: config.repair,
            ..PathConfig::default()
        };
        let points = [&self.before, &self.after].map(Point::file);
        let mut analysis = PathAnalysis::of(&points, &config)?;
        Ok(analysis.hops.remove(0))
    }
}

/// Adds to a run what its flows had in the queue (METRICS.md Y6).
///
/// # Errors
/// Says why the two captures tell nothing.
pub(super) fn add(
    measure: &mut RunMeasure,
    points: &QueuePoints,
    config: &Config,
    conditions: &Conditions,
) -> Result<(), String> {
    let hop = &points
        .hop(config, conditions)
        .map_err(|error| format!("its queue: {}", super::measure::with_causes(&error)))?;
    if let Some(error) = hop.facts.iter().find_map(|facts| facts.errors.first()) {
        return Err(format!(
            "its queue: {}",
            super::measure::why_not_read(error, error.place())
        ));
    }
    for facts in &hop.facts {
        measure.shortfall.add_damage(&facts.files);
    }
    let way = &hop.ways[Heading::Forward as usize];
    measure.shortfall.buffer_refuted = way.limit_refuted.is_some();
    if let Some(PathCapacity::Constant(bps)) = conditions.capacity {
        measure.shortfall.capacity_refuted = way.contradicts(bps, hop.bin_ns);
    }
    let queue = Queue {
        hop,
        way,
        window_ns: measure.window_ns,
    };
    let mut headings = Vec::new();
    let (mut passed, mut dropped) = (0, 0);
    for flow in &mut measure.flows {
        let ends = flow.ends.map(|ends| (ends.sender, ends.receiver));
        let mut of_path = hop.flows.iter().flatten();
        let of_path = of_path.find(|of_path| Some((of_path.key.src, of_path.key.dst)) == ends);
        headings.extend(of_path.map(|of_path| of_path.heading));
        passed += of_path.map_or(0, |of_path| of_path.passed_packets);
        dropped += of_path.map_or(0, |of_path| of_path.dropped_data_packets);
        if let Some(of_path) = of_path.filter(|flow| flow.heading == Heading::Forward) {
            queue.set_flow(of_path, &mut flow.values);
        }
    }
    let [before, after] = &hop.points;
    if headings.is_empty() {
        return Err(format!(
            "its queue: none of its flows is in {before}: is that of another run?"
        ));
    }
    // Who sends data has heard from the other side.
    if passed == 0 && dropped > 0 {
        return Err(format!(
            "its queue: none of the packets of its flows is in {after}: is that of another run?"
        ));
    }
    if !headings.contains(&Heading::Forward) {
        return Err(format!(
            "its queue: its packets pass {after} before {before}: are 'before' and 'after' the wrong way round?"
        ));
    }
    queue.set_run(&mut measure.values);
    Ok(())
}

/// The limit of the queue, where the conditions say it.
fn limit(conditions: &Conditions) -> Option<QueueLimit> {
    match conditions.buffer? {
        Buffer::Packets(packets) => Some(QueueLimit::Packets(packets.round() as u64)),
        Buffer::Bytes(_) | Buffer::Bdp(_) => {
            let bytes = conditions.buffer_bytes()?;
            Some(QueueLimit::Bytes(bytes.round() as u64))
        }
    }
}

/// The queue of the way forward, over the time that counts.
struct Queue<'a> {
    hop: &'a Hop,
    way: &'a Way,
    window_ns: Option<(i64, i64)>,
}

impl Queue<'_> {
    /// The bins that lie within the window as a whole; all without a window.
    fn bins(&self) -> BinRange {
        let Some((start, end)) = self.window_ns else {
            return (i64::MIN, i64::MAX);
        };
        let since = |at: i64| at.saturating_sub(self.hop.origin_ns);
        whole_bins((since(start), since(end)), self.hop.bin_ns)
    }

    fn duration_ns(&self) -> Option<i64> {
        let (first, last) = self.bins();
        match self.window_ns {
            None => self.way.duration_ns(),
            Some(_) => (first < last)
                .then(|| {
                    self.way
                        .seen_ns(self.hop.bin_start_ns(first), self.hop.bin_start_ns(last))
                })
                .filter(|&ns| ns > 0),
        }
    }

    fn of_way(&self) -> impl Iterator<Item = &QueueBin> {
        let (first, last) = self.bins();
        let bins = self.way.bins.iter();
        bins.filter(move |bin| (first..last).contains(&bin.index))
    }

    fn of_flow<'f>(&self, flow: &'f PathFlow) -> impl Iterator<Item = &'f FlowBin> {
        let (first, last) = self.bins();
        let bins = flow.bins.iter();
        bins.filter(move |bin| (first..last).contains(&bin.index))
    }

    /// Mean of the queue over its limit.
    fn occupancy(&self) -> Option<f64> {
        let duration_ns = self.duration_ns()? as f64;
        let sum = |of: fn(&QueueBin) -> u128| self.of_way().map(of).sum::<u128>() as f64;
        let packets = sum(|bin| bin.packets_ns) / duration_ns;
        let bytes = sum(|bin| bin.bytes_ns) / duration_ns;
        self.way.occupancy(packets, bytes)
    }

    /// IP bytes times the ns that they waited.
    fn waited(&self, flow: &PathFlow) -> f64 {
        let waited = self.of_flow(flow).map(|bin| bin.waited_byte_ns);
        waited.sum::<u128>() as f64
    }

    fn set_run(&self, values: &mut Values) {
        values.set(Metric::QueueOccupancy, self.occupancy());
        let dropped: u64 = self.of_way().map(|bin| bin.dropped.packets).sum();
        values.set(Metric::QueueDroppedPackets, Some(dropped as f64));
    }

    fn set_flow(&self, flow: &PathFlow, values: &mut Values) {
        let forward = |flow: &&PathFlow| flow.heading == Heading::Forward;
        let flows = self.hop.flows.iter().flatten().filter(forward);
        let all: f64 = flows.map(|flow| self.waited(flow)).sum();
        let part = (all > 0.0).then(|| self.waited(flow) / all);
        let occupancy = self.occupancy().zip(part);
        values.set(
            Metric::QueueOccupancy,
            occupancy.map(|(occupancy, part)| occupancy * part),
        );
        let dropped: u64 = self.of_flow(flow).map(|bin| bin.dropped_packets).sum();
        values.set(Metric::QueueDroppedPackets, Some(dropped as f64));
    }
}
