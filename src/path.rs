//! Two points along a path: what happened to each packet between them (METRICS.md, "Between two points").
//!
//! [`PathAnalysis::of`] takes captures from before and after a queue, or from more points in
//! order, and finds each packet of one at the next by what its headers keep: who was dropped, how
//! long it took, what waited. Files are read as streams: their beginnings to look, then all of them
//! side by side. What became of packets is kept in few bytes each until clocks and links are known.
//!
//! ```no_run
//! use ccanalyze::path::{PathAnalysis, PathConfig, Point};
//!
//! let points = [Point::file("before.pcap"), Point::file("behind.pcap")];
//! let path = PathAnalysis::of(&points, &PathConfig::default())?;
//! let hop = &path.hops[0];
//! for flow in hop.flows_in_order() {
//!     let (src, dst) = (flow.key.src, flow.key.dst);
//!     let delay_ns = flow.queue_delay.ns_quantile(0.95);
//!     println!("{src} > {dst}: {} of {} dropped, {delay_ns:?} ns", flow.dropped_packets, flow.packets);
//! }
//! for way in &hop.ways {
//!     println!("{}: {:?} bit/s, room for {:?}", way.heading, way.rate_bps, way.limit);
//!     for drop in &way.drops {
//!         let sender = hop.flow(drop.flow).map(|flow| flow.key.src);
//!         println!("{} ns: from {sender:?}, {} packets waited: {}", drop.at_ns, drop.found.packets, drop.cause);
//!     }
//! }
//! # Ok::<(), ccanalyze::path::PathError>(())
//! ```

mod account;
mod arranger;
mod aside;
mod beginnings;
mod bends;
mod calibrate;
mod clock;
mod copies;
mod delays;
mod early;
mod envelope;
mod evidence;
mod fates;
mod feed;
mod flows;
mod gaps;
mod held;
mod hosts;
mod idle;
mod improve;
mod jitter;
mod jumps;
mod latest;
mod limit;
mod line;
mod link;
mod look;
mod losses;
mod matcher;
mod names;
mod offload;
mod others;
mod overtaken;
mod probe;
mod queue;
mod rules;
mod sighting;
mod spool;
mod stamps;
mod steps;
mod strangers;
#[cfg(test)]
mod tests;
mod threads;
mod unseen;
mod walk;
mod way;

use std::collections::{HashMap, HashSet};

pub use aside::LeftAside;
pub use clock::{Clock, ClockChoice, ClockEstimate, ClockStep, Heading};
pub use delays::PathDelays;
pub use fates::{FateIter, Fates, Outcome, PacketFate};
pub use feed::{Point, PointFacts};
pub use flows::{FlowBin, PathFlow};
pub use gaps::{CaptureGap, GapKind};
pub use limit::{DROPS_MIN, QueueLimit};
pub use link::{Link, TapPlace};
pub use losses::{DropCause, DropPattern, DroppedPacket, Episode};
pub use queue::{Amount, QueueBin};
pub use rules::Identity;
pub use sighting::FlowKey;
#[cfg(feature = "cli")]
pub(crate) use unseen::UNSEEN_MIN;
pub use unseen::{Unseen, UnseenKind};
pub use walk::WAITING_MAX;
pub use way::{EPISODE_PAUSE_NS, Way};

use crate::analyze::{FlowNames, Watch};
use crate::capture::{CaptureError, SNAP_LEN_ADVICE};
use crate::decode::{DecodeOptions, Filter};
use crate::observe::{BIN_NS, MEMORY_BYTES};
use feed::Sight;
use improve::improve;
use look::look;
use rules::Rules;
use walk::{Start, Walked, walk};

/// What a run is asked for.
#[derive(Clone, Debug)]
pub struct PathConfig {
    /// How records are decoded.
    pub decode: DecodeOptions,
    /// Which packets are told of: flows, drops, fates. What others there are takes its place in the queue and on the
    /// link. All, without a filter.
    pub filter: Option<Filter>,
    /// What flows are called in tables, on the terminal and on pages; charts are told by their own options. No number
    /// depends on it.
    pub names: FlowNames,
    /// Length of a bin of the series, in ns, at least 1.
    pub bin_ns: i64,
    /// What the queue of the way forward holds at most, where that is known.
    pub limit: Option<QueueLimit>,
    /// Rate of the link of the way forward in IP bits per second, where that is known.
    pub capacity_bps: Option<f64>,
    /// Number of the only hop whose queue and link these two are, where they are not those of all.
    pub hop: Option<usize>,
    /// What to do about clocks that do not agree.
    pub clock: ClockChoice,
    /// A packet that was not found at the next point for so long was dropped, in ns, at least 1.
    pub patience_ns: i64,
    /// Keep the fate of each packet.
    pub packets: bool,
    /// Memory for packets that wait and for notes of what became of packets, in bytes: three
    /// quarters of it at most, and no more than 1 GiB ([`WAITING_MAX`], 11 million notes). Flows,
    /// bins, drops and fates of packets are results, and are kept whatever it is.
    pub memory_bytes: u64,
    /// Go on behind damage in a file, at the next records that make sense.
    pub repair: bool,
}

impl Default for PathConfig {
    fn default() -> Self {
        Self {
            decode: DecodeOptions::default(),
            filter: None,
            names: FlowNames::default(),
            bin_ns: BIN_NS,
            limit: None,
            capacity_bps: None,
            hop: None,
            clock: ClockChoice::default(),
            patience_ns: 10_000_000_000,
            packets: false,
            memory_bytes: MEMORY_BYTES,
            repair: false,
        }
    }
}

/// Longest patience, in ns: longer than captures last, and short of the end of time, at which all is given up.
const PATIENCE_NS_MAX: i64 = 1 << 62;

/// Why nothing can be said about two points.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// A capture could not be opened.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A path has two points at least.
    #[error(
        "a path needs two points at least: name a capture from before the queue and one from after it"
    )]
    TooFewPoints,
    /// A point has no files.
    #[error("point {number} of the path has no files: each is read from one at least")]
    NoFiles {
        /// Which one, from 1.
        number: usize,
    },
    /// No packet of one capture is in the other.
    #[error(
        "{first}: none of its packets is in {second}, and by their clocks they begin {apart_s} s apart: were both taken at the same time, on one path? (a proxy between the points makes new packets of its own)"
    )]
    NothingInCommon {
        /// The one point.
        first: String,
        /// The next point.
        second: String,
        /// How far their first packets are apart, each by its own clock, in s.
        apart_s: u64,
    },
    /// Hardly a packet of one capture is in the other.
    #[error(
        "{first}: hardly any of its packets is in {second}: {found} are in both, {dropped} came in and never left, and {appeared} left without having come in: were both taken at the same time, on one path? (a proxy between the points makes new packets of its own; if they take longer than the patience from one to the other, or a clock was set by more meanwhile, a longer one finds them)"
    )]
    HardlyAnythingInCommon {
        /// The one point.
        first: String,
        /// The next point.
        second: String,
        /// Packets that are in both.
        found: u64,
        /// Packets that came in and never left.
        dropped: u64,
        /// Packets that left without having come in.
        appeared: u64,
    },
    /// A point has no packet to look for.
    #[error(
        "{point}: there is no IP packet in it{}",
        if *.filtered {
            " that the filter keeps"
        } else {
            ": was it the right interface?"
        }
    )]
    NoPackets {
        /// The point.
        point: String,
        /// A filter left out what there may have been.
        filtered: bool,
    },
    /// A point has packets, of which too little was captured to tell them apart.
    #[error(
        "{point}: the snap length cut the headers of its packets so short that they all look alike: {}",
        SNAP_LEN_ADVICE
    )]
    HeadersCut {
        /// The point.
        point: String,
    },
}

/// What happened between the points of a path.
#[derive(Debug)]
pub struct PathAnalysis {
    /// From each point to the next.
    pub hops: Vec<Hop>,
}

/// Two points that follow each other, and what happened between them.
#[derive(Debug)]
pub struct Hop {
    /// What the points are called.
    pub points: [String; 2],
    /// What is known of each capture.
    pub facts: [PointFacts; 2],
    /// How packets were told apart.
    pub identity: Identity,
    /// How much of their options counted: [`Identity::Full`] or, where a snap length cut them off,
    /// less.
    pub options: Identity,
    /// How packets of some flows were told apart, where that is less strict: these alone are translated; and
    /// [`Identity::WithoutId`] where IP ids are rewritten with addresses.
    pub of_some: Vec<Identity>,
    /// The second clock against the first; `None` where packets are too few.
    pub clock_estimate: Option<ClockEstimate>,
    /// The correction that was made: none, when the clocks were believed.
    pub clock: Clock,
    /// Time of the first packet at either point, by the first clock, in ns: bin 0 begins here.
    pub origin_ns: i64,
    /// Length of a bin, in ns.
    pub bin_ns: i64,
    /// A filter chooses whose packets are told of; queue and link are those of all.
    pub is_filtered: bool,
    /// Flows, by [number](Self::flow); `None` where nothing can be said about one, or nobody asks for it.
    pub flows: Vec<Option<PathFlow>>,
    /// The way forward and the way back: each its own [`Heading`]'s.
    pub ways: [Way; 2],
    /// The fate of each packet; none where it was not asked for.
    pub packets: Fates,
    /// Rate of the link of the way forward in IP bits per second, where it was given.
    pub capacity_bps: Option<f64>,
    /// Flows of UDP whose datagrams hold several at one point and are smaller at the other (offload): their packets are
    /// not found.
    pub merged_datagrams: u64,
    /// What came in and was left out, as it was answered before it could have come to the other point.
    pub left_aside: LeftAside,
    /// What one point alone captured, and was left out for that.
    pub unseen: Vec<Unseen>,
    /// Packets given up before their time, since too many waited ([`WAITING_MAX`]).
    pub given_up: u64,
}

impl Hop {
    /// The flow of this number, which drops, episodes and fates have; `None` where nothing is told of it.
    #[must_use]
    pub fn flow(&self, number: u32) -> Option<&PathFlow> {
        self.flows.get(number as usize)?.as_ref()
    }

    /// Flows in the order of their first packet.
    #[must_use]
    pub fn flows_in_order(&self) -> Vec<&PathFlow> {
        let mut flows: Vec<&PathFlow> = self.flows.iter().flatten().collect();
        flows.sort_by_key(|flow| (flow.first_ns, flow.key));
        flows
    }

    /// When a bin begins, by the first clock, in ns.
    #[must_use]
    pub fn bin_start_ns(&self, bin: i64) -> i64 {
        self.origin_ns
            .saturating_add(bin.saturating_mul(self.bin_ns))
    }

    /// Whether the clocks were corrected.
    #[must_use]
    pub fn clock_is_fixed(&self) -> bool {
        self.clock != Clock::default()
    }

    /// Whether a clock was seen to be set in the middle, and that was corrected.
    #[must_use]
    pub fn clock_is_set(&self) -> bool {
        let estimate = self.clock_estimate.as_ref();
        self.clock_is_fixed() && estimate.is_some_and(|estimate| !estimate.steps.is_empty())
    }

    /// The smallest delay, in ns, where packets left before they came in by the clocks as they are taken.
    #[must_use]
    pub fn negative_delays(&self) -> Option<i64> {
        let least = self
            .flows
            .iter()
            .flatten()
            .filter_map(|flow| flow.delay.ns_min())
            .min();
        least.filter(|&ns| ns < -probe::TOLERANCE_NS)
    }

    /// What did not count when packets were told apart, as names.
    pub fn matched_without(&self) -> impl Iterator<Item = &'static str> + use<> {
        let also = Some(self.options).filter(|&options| options != self.identity);
        let rules = [Some(self.identity), also].into_iter().flatten();
        let mut rules: Vec<Identity> = rules.chain(self.of_some.iter().copied()).collect();
        rules.dedup();
        rules.into_iter().filter_map(Identity::name)
    }

    /// What the reader must know, as names.
    #[must_use]
    pub fn quality(&self) -> Vec<&'static str> {
        let any = |of: fn(&PointFacts) -> u64| self.facts.iter().any(|facts| of(facts) > 0);
        let count = |of: fn(&PathFlow) -> u64| self.flows.iter().flatten().map(of).sum::<u64>();
        let one_way = self
            .clock_estimate
            .as_ref()
            .is_some_and(|clock| clock.uncertainty_ns.is_none());
        let several_queues = self.ways.iter().any(|way| way.several_queues);
        let series_cut = self.ways.iter().any(|way| way.series_cut);
        let has_jitter = self.ways.iter().any(|way| way.has_jitter);
        let mut gaps = self.facts.iter().flat_map(|facts| &facts.gaps);
        let has_gap = gaps.any(|gap| gap.why.is_of_capture());
        let rate_varies = self.ways.iter().any(|way| way.rate_varies(self.bin_ns));
        [
            (self.is_filtered, "filtered"),
            (self.clock_is_fixed(), "clocks_corrected"),
            (self.clock_is_set(), "clock_set"),
            (one_way, "one_way"),
            (
                any(|facts| facts.super_segments + facts.whole_frames),
                "super_segments",
            ),
            (any(|facts| facts.headers_cut + facts.untold), "headers_cut"),
            (any(|facts| facts.clock_steps_back), "clock_steps_back"),
            (self.negative_delays().is_some(), "negative_delays"),
            (any(|facts| facts.copies), "copies_left_out"),
            (has_gap, "capture_gap"),
            (
                any(|facts| facts.errors.len() as u64 + u64::from(facts.is_repaired())),
                "capture_damaged",
            ),
            (count(|flow| flow.appeared_packets) > 0, "packets_appeared"),
            (self.left_aside.packets > 0, "aside_left_out"),
            (!self.unseen.is_empty(), "protocol_left_out"),
            (
                count(|flow| flow.uncertain_packets) > 0,
                "uncertain_matches",
            ),
            (rate_varies, "rate_varies"),
            (has_jitter, "jitter"),
            (several_queues, "several_queues"),
            (series_cut, "series_cut"),
            (
                self.given_up > 0 || any(|facts| u64::from(facts.flows_left_out)),
                "limit_hit",
            ),
        ]
        .into_iter()
        .filter_map(|(holds, name)| holds.then_some(name))
        .chain(self.matched_without())
        .collect()
    }
}

impl PathAnalysis {
    /// Follows packets along the points, from each to the next.
    ///
    /// # Errors
    /// Fewer than two points; one without files; a capture that cannot be opened; two points without a packet in common, or hardly one.
    pub fn of(points: &[Point], config: &PathConfig) -> Result<Self, PathError> {
        Self::run(points, config, &Watch::default())
    }

    /// [`of`](Self::of) for those who want to see how far it is, or stop it: what was read by then
    /// is in the result, and the points' errors say that they were not read to their end.
    ///
    /// # Errors
    /// See [`of`](Self::of).
    pub fn run(points: &[Point], config: &PathConfig, watch: &Watch) -> Result<Self, PathError> {
        if points.len() < 2 {
            return Err(PathError::TooFewPoints);
        }
        if let Some(place) = points.iter().position(|point| point.files.is_empty()) {
            return Err(PathError::NoFiles { number: place + 1 });
        }
        let config = &PathConfig {
            bin_ns: config.bin_ns.max(1),
            patience_ns: config.patience_ns.clamp(1, PATIENCE_NS_MAX),
            ..config.clone()
        };
        let of_others = PathConfig {
            limit: None,
            capacity_bps: None,
            ..config.clone()
        };
        let of_pair = |at: usize, gaps: [Vec<(u64, u64)>; 2]| {
            let is_meant = config.hop.is_none_or(|hop| hop == at);
            let config = if is_meant { config } else { &of_others };
            hop([&points[at], &points[at + 1]], gaps, config, watch)
        };
        let pairs = 0..points.len() - 1;
        let mut hops = pairs
            .map(|at| of_pair(at, Default::default()))
            .collect::<Result<Vec<Hop>, _>>()?;
        for at in 0..hops.len() {
            let before = at.checked_sub(1).and_then(|before| hops.get(before));
            let gaps = [
                before.map(|hop| gaps::told(&hop.facts[1].gaps, &hops[at].facts[0].gaps)),
                hops.get(at + 1)
                    .map(|hop| gaps::told(&hop.facts[0].gaps, &hops[at].facts[1].gaps)),
            ]
            .map(Option::unwrap_or_default);
            if !watch.is_stopped() && gaps.iter().any(|gaps| !gaps.is_empty()) {
                hops[at] = of_pair(at, gaps)?;
            }
        }
        // Of what was read until a run was stopped nobody knows what it would have come to.
        let refused = hops.iter().find_map(strangers::refuse);
        match refused.filter(|_| !watch.is_stopped()) {
            Some(error) => Err(error),
            None => Ok(Self { hops }),
        }
    }
}

/// What happened between two points. `gaps` are those that other hops showed each capture to have, by the records
/// before and behind them.
fn hop(
    points: [&Point; 2],
    gaps: [Vec<(u64, u64)>; 2],
    config: &PathConfig,
    watch: &Watch,
) -> Result<Hop, PathError> {
    let mut sight = Sight {
        decode: config.decode,
        rules: Rules::STRICTEST,
        link_local: false,
        pieces: HashMap::new(),
        left_out: HashSet::new(),
        unseen: Vec::new(),
        flow_rules: HashMap::new(),
        repair: config.repair,
    };
    let probe = look(points, &sight, config)?;
    sight.rules = probe.rules;
    sight.link_local = probe.link_local;
    let mut start = Start {
        clock: probe.clock,
        headings: probe.headings,
        times_seen: probe.times_seen,
        in_order_ns: [steps::STEP_MIN_NS; 2],
        calibration: None,
        gaps,
        unseen: [false; 2],
        early: None,
    };
    let walked = walk_well(points, &mut sight, &mut start, config, watch)?;
    let mut accounted = walked.accounted;
    if let Some(estimate) = &mut accounted.calibration.estimate {
        let stamps_ns = stamps::error_ns(&walked.facts, probe.shown_tick_ns);
        estimate.uncertainty_ns = estimate.uncertainty_ns.map(|ns| ns + stamps_ns);
    }
    let mut flows = accounted.flows;
    if config.filter.is_some() {
        keep_asked_for(&mut flows, &mut accounted.ways, &accounted.asked_for);
        if flows.iter().all(Option::is_none) && !watch.is_stopped() {
            return Err(PathError::NoPackets {
                point: points[0].name.clone(),
                filtered: true,
            });
        }
    }
    Ok(Hop {
        points: points.map(|point| point.name.clone()),
        facts: walked.facts,
        identity: sight.rules.identity,
        options: sight.rules.options,
        of_some: sight.of_some(),
        clock_estimate: accounted.calibration.estimate,
        clock: accounted.calibration.clock,
        origin_ns: accounted.origin_ns,
        bin_ns: config.bin_ns,
        flows,
        is_filtered: config.filter.is_some(),
        ways: accounted.ways,
        packets: accounted.packets,
        capacity_bps: config.capacity_bps,
        merged_datagrams: offload::merged_datagrams(&walked.sizes),
        left_aside: walked.aside.facts(),
        unseen: sight.unseen,
        given_up: walked.given_up,
    })
}

/// Walks both captures, and again for as long as a walk shows what the next one would know better.
fn walk_well(
    points: [&Point; 2],
    sight: &mut Sight,
    start: &mut Start,
    config: &PathConfig,
    watch: &Watch,
) -> Result<Walked, PathError> {
    for _ in 1..ROUNDS_MAX {
        let walked = walk(points, sight, start, config, watch)?;
        if watch.is_stopped() || !improve(points, &walked, sight, start, config)? {
            return Ok(walked);
        }
    }
    Ok(walk(points, sight, start, config, watch)?)
}

/// Leaves flows that are asked for, and says how many packets of these went each way.
fn keep_asked_for(flows: &mut [Option<PathFlow>], ways: &mut [Way; 2], asked_for: &[bool]) {
    for (flow, is_asked_for) in flows.iter_mut().zip(asked_for) {
        *flow = flow.take().filter(|_| *is_asked_for);
    }
    for way in ways {
        let mut all = Amount::default();
        for flow in flows
            .iter()
            .flatten()
            .filter(|flow| flow.heading == way.heading)
        {
            all.packets += flow.packets;
            all.bytes += flow.ip_bytes;
        }
        way.asked_for = Some(all);
    }
}

/// Walks at most: one with what a look told; one more where offload, the headings of flows or what a
/// snap length left of headers were otherwise, or where the clocks of a capture beyond [`Spool`](spool::Spool) turned
/// out so.
const ROUNDS_MAX: u32 = 3;
