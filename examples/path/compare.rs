//! One scenario against its truth.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ccanalyze::path::{
    DropCause, Heading, Hop, Outcome, PacketFate, PathAnalysis, PathConfig, Point, QueueLimit, Way,
};

use crate::limits::{self, Limits};
use crate::records::times_ns;
use crate::skew::{self, Wrong};
use crate::truth::{Ends, Scenario};

/// What was compared.
pub(crate) struct Compared {
    pub(crate) name: String,
    /// Drops found and drops logged.
    pub(crate) drops: (u64, u64),
    /// Flows whose number of drops is not the log's.
    pub(crate) flows_wrong: usize,
    /// Found: at a full queue, before it was full, with nothing waiting.
    pub(crate) causes: [u64; 3],
    /// The log's words for the causes, with their numbers.
    pub(crate) logged: String,
    pub(crate) limit: Option<QueueLimit>,
    /// Packets that were matched with another than themselves, of so many.
    pub(crate) matches: Option<(u64, u64)>,
    /// Mean packets waiting: found and logged.
    pub(crate) queue: Option<(f64, f64)>,
    /// How near the queue is to the log's.
    pub(crate) series: Near,
    /// How far log and captures themselves are apart.
    pub(crate) limits: Limits,
    /// How near the delay of each packet is to that between the two frames that the log calls it, in
    /// ns.
    pub(crate) delays: Near,
    /// How near the time that each packet waited is to the log's, in ns.
    pub(crate) waits: Near,
    /// What remains of it with a clock that is off, in the order of [`Wrong::ALL`].
    pub(crate) skewed: Vec<Skewed>,
}

/// The result with one clock wrong, against that with both clocks right.
pub(crate) struct Skewed {
    pub(crate) flows_wrong: usize,
    /// Largest difference of a packet's delay, in ns.
    pub(crate) delay_error_max: i64,
    /// What the uncertainty was said to be, in ns.
    pub(crate) uncertainty: Option<f64>,
    /// Delays that are off by more than 100 us, of so many.
    pub(crate) far: (usize, usize),
    /// In how many pieces the clock was taken to run evenly, and how often to be set.
    pub(crate) pieces: usize,
    pub(crate) steps: usize,
}

/// How many of some values are near to the truth.
#[derive(Default)]
pub(crate) struct Near {
    pub(crate) values: u64,
    pub(crate) close: u64,
    sum: u64,
    pub(crate) worst: u64,
}

impl Near {
    pub(crate) fn add(&mut self, difference: u64, near: u64) {
        self.values += 1;
        self.close += u64::from(difference <= near);
        self.sum += difference;
        self.worst = self.worst.max(difference);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.values += other.values;
        self.close += other.close;
        self.sum += other.sum;
        self.worst = self.worst.max(other.worst);
    }

    /// Mean difference; `None` without values.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.values > 0).then(|| self.sum as f64 / self.values as f64)
    }
}

pub(crate) fn compare(scenario: &Scenario) -> Result<Compared, String> {
    let points = [&scenario.before, &scenario.after].map(|path| Point::file(path.clone()));
    let analysis = analyse(&points)?;
    let hop = &analysis.hops[0];
    let way = &hop.ways[Heading::Forward as usize];
    let drops = drops_by_flow(hop);
    let mut logged: BTreeMap<&str, u64> = BTreeMap::new();
    for ((_, cause), count) in &scenario.drops {
        *logged.entry(cause).or_default() += count;
    }
    let words: Vec<String> = logged
        .iter()
        .map(|(cause, count)| format!("{count} {cause}"))
        .collect();
    let all = hop.ways.iter().flat_map(|way| &way.drops);
    let mut causes = [0; 3];
    all.for_each(|drop| causes[drop.cause as usize] += 1);
    let Packets {
        matches,
        delays,
        waits,
    } = packets(hop, scenario)?;
    let (queue, series) = if scenario.samples.is_empty() {
        (
            logged_mean(hop, way, scenario),
            limits::maxima(hop, scenario, false),
        )
    } else {
        samples(hop, scenario)
    };
    Ok(Compared {
        name: scenario.name.clone(),
        drops: (drops.values().sum(), logged.values().sum()),
        flows_wrong: flows_wrong(&drops, scenario),
        causes,
        logged: words.join(", "),
        limit: way.limit,
        matches,
        queue,
        series,
        limits: limits::of(hop, scenario),
        delays,
        waits,
        skewed: skewed(hop, scenario)?,
    })
}

fn analyse(points: &[Point]) -> Result<PathAnalysis, String> {
    let config = PathConfig {
        bin_ns: 10_000_000,
        packets: true,
        ..PathConfig::default()
    };
    PathAnalysis::of(points, &config).map_err(|error| error.to_string())
}

fn drops_by_flow(hop: &Hop) -> BTreeMap<Ends, u64> {
    let mut drops = BTreeMap::new();
    for flow in hop.flows_in_order() {
        let (src, dst) = (flow.key.src, flow.key.dst);
        let ends = (src.ip(), src.port(), dst.ip(), dst.port());
        *drops.entry(ends).or_default() += flow.dropped_packets;
    }
    drops
}

fn flows_wrong(drops: &BTreeMap<Ends, u64>, scenario: &Scenario) -> usize {
    let mut truth: BTreeMap<Ends, u64> = drops.keys().map(|&ends| (ends, 0)).collect();
    for ((ends, _), count) in &scenario.drops {
        *truth.entry(*ends).or_default() += count;
    }
    truth
        .iter()
        .filter(|(ends, count)| drops.get(*ends).copied().unwrap_or(0) != **count)
        .count()
}

/// Matches that are wrong, of so many, and how near delays and waits are.
struct Packets {
    matches: Option<(u64, u64)>,
    delays: Near,
    waits: Near,
}

fn packets(hop: &Hop, scenario: &Scenario) -> Result<Packets, String> {
    let times = [times_ns(&scenario.before)?, times_ns(&scenario.after)?];
    // Frames are counted from 1.
    let time = |point: usize, frame: u64| times[point].get((frame as usize).checked_sub(1)?);
    let (mut wrong, mut all) = (0, 0);
    let (mut delays, mut waits) = (Near::default(), Near::default());
    for packet in &hop.packets {
        let (Some(entry), Some(exit)) = (packet.entry_frame, packet.exit_frame) else {
            continue;
        };
        let heading = hop.flows[packet.flow as usize]
            .as_ref()
            .map(|flow| flow.heading);
        let (before, after) = match heading {
            Some(Heading::Reverse) => (exit, entry),
            _ => (entry, exit),
        };
        // Of frames of offload, the log has the first packet only.
        let Some(&(truth, wait)) = scenario.joined.get(&after) else {
            continue;
        };
        all += 1;
        wrong += u64::from(truth != before);
        if let (Some(entry), Some(exit), Some(delay)) =
            (time(0, truth), time(1, after), packet.delay_ns)
        {
            let passed = match heading {
                Some(Heading::Reverse) => entry - exit,
                _ => exit - entry,
            };
            delays.add(delay.abs_diff(passed), 20_000);
        }
        if let (Some(wait), Some(ours)) = (wait, packet.queue_delay_ns) {
            waits.add(ours.abs_diff(wait), 20_000);
        }
    }
    Ok(Packets {
        matches: (!scenario.joined.is_empty()).then_some((wrong, all)),
        delays,
        waits,
    })
}

/// By Little's law, from how long the log says that each packet waited, those too that it took and
/// dropped later.
fn logged_mean(hop: &Hop, way: &Way, scenario: &Scenario) -> Option<(f64, f64)> {
    let held = limits::forward(hop).filter_map(|packet| limits::held(&packet, scenario));
    let waits = scenario.waits_ns? + held.sum::<i64>() as f64;
    let duration = way.duration_ns()? as f64;
    Some((way.packets_mean()?, waits / duration))
}

/// Times at which the queue of the way forward grew or shrank by a packet.
pub(crate) fn changes(hop: &Hop, wait_ns: impl Fn(&PacketFate) -> Option<i64>) -> Vec<(i64, i64)> {
    let mut changes = Vec::new();
    for packet in limits::forward(hop) {
        if let (Outcome::Passed | Outcome::Dropped, Some(wait)) = (packet.outcome, wait_ns(&packet))
            && wait > 0
        {
            changes.push((packet.at_ns, 1));
            changes.push((packet.at_ns + wait, -1));
        }
    }
    changes.sort_unstable();
    changes
}

/// Ours at the instants of the log's samples.
fn samples(hop: &Hop, scenario: &Scenario) -> (Option<(f64, f64)>, Near) {
    let changes = changes(hop, |packet| packet.queue_delay_ns);
    let mut changes = changes.into_iter().peekable();
    let (mut waiting, mut near, mut sums) = (0_i64, Near::default(), (0.0, 0.0));
    for &(at, truth) in &scenario.samples {
        while let Some((_, change)) = changes.next_if(|&(then, _)| then <= at) {
            waiting += change;
        }
        near.add(waiting.abs_diff(truth as i64), 1);
        sums = (sums.0 + waiting as f64, sums.1 + truth as f64);
    }
    let samples = scenario.samples.len() as f64;
    (Some((sums.0 / samples, sums.1 / samples)), near)
}

/// A packet's record where it came in and where it left, and which packet of a frame of offload.
type Frames = (Option<Heading>, Option<u64>, Option<u64>, usize);

fn delays(hop: &Hop) -> BTreeMap<Frames, i64> {
    let mut delays = BTreeMap::new();
    for packet in &hop.packets {
        let flow = hop.flows[packet.flow as usize].as_ref();
        let heading = flow.map(|flow| flow.heading);
        if let Some(delay) = packet.delay_ns {
            let mut frames = (heading, packet.entry_frame, packet.exit_frame, 0);
            while delays.contains_key(&frames) {
                frames.3 += 1;
            }
            delays.insert(frames, delay);
        }
    }
    delays
}

/// What remains of clocks that are wrong, a line each.
pub(crate) fn clocks(scenario: &Scenario) -> Result<String, String> {
    let points = [&scenario.before, &scenario.after].map(|path| Point::file(path.clone()));
    let analysis = analyse(&points)?;
    let mut text = String::new();
    for (one, (_, what)) in skewed(&analysis.hops[0], scenario)?.iter().zip(Wrong::ALL) {
        let _ = writeln!(
            text,
            "{}, {what}: off by {:.1} us, stated {:.1} us; far {} of {}; {} pieces, {} steps; {} flows with other drops",
            scenario.name,
            one.delay_error_max as f64 / 1e3,
            one.uncertainty.unwrap_or(0.0) / 1e3,
            one.far.0,
            one.far.1,
            one.pieces,
            one.steps,
            one.flows_wrong
        );
    }
    Ok(text)
}

/// The same captures, but the clock of one is wrong.
fn skewed(right: &Hop, scenario: &Scenario) -> Result<Vec<Skewed>, String> {
    let right = delays(right);
    let wrong = Wrong::ALL.iter();
    wrong
        .map(|&(wrong, _)| skewed_so(&right, scenario, wrong))
        .collect()
}

fn skewed_so(
    right: &BTreeMap<Frames, i64>,
    scenario: &Scenario,
    wrong: Wrong,
) -> Result<Skewed, String> {
    let place = usize::from(!wrong.is_first());
    let mut points = [scenario.before.clone(), scenario.after.clone()];
    let copy = skew::copy(&points[place], wrong)?;
    points[place] = copy.path().to_path_buf();
    let points = points.map(Point::file);
    let analysis = analyse(&points)?;
    let hop = &analysis.hops[0];
    let wrong = delays(hop);
    let error = |(frames, delay): (&Frames, &i64)| {
        let other = wrong.get(frames).copied().unwrap_or(i64::MAX);
        other.saturating_sub(*delay).saturating_abs()
    };
    let estimate = hop.clock_estimate.as_ref();
    Ok(Skewed {
        flows_wrong: flows_wrong(&drops_by_flow(hop), scenario),
        delay_error_max: right.iter().map(error).max().unwrap_or(0),
        uncertainty: estimate.and_then(|clock| clock.uncertainty_ns),
        far: (
            right.iter().filter(|&of| error(of) > 100_000).count(),
            right.len(),
        ),
        pieces: estimate.map_or(0, |clock| clock.pieces),
        steps: estimate.map_or(0, |clock| clock.steps.len()),
    })
}

/// The part of drops that were found at a full queue.
pub(crate) fn full(causes: [u64; 3]) -> u64 {
    causes[DropCause::Full as usize]
}
