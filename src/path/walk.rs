//! Walks two points side by side in time, and takes note of what becomes of each packet.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::PathConfig;
use super::clock::{Clock, Envelopes, Heading};
use super::feed::{Batch, Feed, Point, PointFacts, Sight};
use super::flows::PathFlow;
use super::link::Link;
use super::matcher::{Fate, MatchLimits, Matcher, Passage, Seen, Side};
use super::probe::TOLERANCE_NS;
use super::sighting::{FlowKey, Sighting};
use super::way::{Way, WayMaker};
use crate::capture::CaptureError;

/// What must be known before a walk, and is known better after it.
#[derive(Clone, Debug, Default)]
pub(super) struct Calibration {
    pub(super) clock: Clock,
    /// Which way flows go; others are told by their first packet.
    pub(super) headings: HashMap<FlowKey, Heading>,
    /// The links forward and back.
    pub(super) links: [Link; 2],
}

/// A packet on its way between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFate {
    /// Its flow: an index into the hop's flows.
    pub flow: u32,
    /// Its record where it came in; `None` where it was not seen coming in.
    pub entry_frame: Option<u64>,
    /// Its record where it left; `None` where it did not.
    pub exit_frame: Option<u64>,
    /// When it came in (or left, where it was not seen coming in), by the first point's clock.
    pub at_ns: i64,
    /// IP total length in bytes.
    pub ip_len: u32,
    /// From point to point, in ns.
    pub delay_ns: Option<i64>,
    /// Part of it spent waiting, in ns.
    pub queue_delay_ns: Option<i64>,
    /// What became of it.
    pub outcome: Outcome,
    /// Others with the same headers could be taken for it.
    pub uncertain: bool,
}

/// What became of a packet between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It came in and never left.
    Dropped,
    /// It left without having come in.
    Appeared,
    /// It is too near to an end of a capture to say.
    Undecided,
}

impl Outcome {
    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Dropped => "dropped",
            Self::Appeared => "appeared",
            Self::Undecided => "undecided",
        }
    }
}

/// What a walk found.
pub(super) struct Walked {
    pub(super) facts: [PointFacts; 2],
    pub(super) origin_ns: i64,
    pub(super) flows: Vec<Option<PathFlow>>,
    pub(super) ways: [Way; 2],
    pub(super) packets: Vec<PacketFate>,
    pub(super) given_up: u64,
    /// Raw delays, for the clocks.
    pub(super) envelopes: Envelopes,
    /// The links as they show themselves.
    pub(super) links: [Link; 2],
    /// Flows that turned out to go the other way.
    pub(super) turned: Vec<(FlowKey, Heading)>,
    /// Largest TCP payload of each flow at each point.
    pub(super) payloads: HashMap<FlowKey, [u32; 2]>,
}

/// Walks both points from start to end.
pub(super) fn walk(
    points: [&Point; 2],
    sight: &Sight,
    calibration: &Calibration,
    config: &PathConfig,
) -> Result<Walked, CaptureError> {
    let [first, second] = points.map(|point| Feed::open(point, sight));
    let (first, second) = (first?, second?);
    Ok(thread::scope(|scope| {
        let (first_out, first_in) = sync_channel(BATCHES_AHEAD);
        let (second_out, second_in) = sync_channel(BATCHES_AHEAD);
        let first = scope.spawn(move || first.run(&first_out));
        let second = scope.spawn(move || second.run(&second_out));
        let mut walk = Walk::new([first_in, second_in], calibration, config);
        walk.run();
        // A reader has no reason to panic; if it does, what it read before stands.
        let facts = [first, second].map(|reader| reader.join().unwrap_or_default());
        walk.finish(facts)
    }))
}

/// One point, as far as it has been walked.
struct Trail {
    batches: Receiver<Batch>,
    batch: std::vec::IntoIter<Sighting>,
    /// Flow numbers of the point as numbers of the walk.
    flows: Vec<u32>,
    next: Option<Seen>,
    /// First and last packet by the common clock.
    span: Option<(i64, i64)>,
}

struct Walk<'a> {
    calibration: &'a Calibration,
    config: &'a PathConfig,
    trails: [Trail; 2],
    matcher: Matcher,
    keys: Vec<FlowKey>,
    numbers: HashMap<FlowKey, u32>,
    headings: Vec<Option<Heading>>,
    /// Packets of each flow that arrived after they left, and before.
    signs: Vec<[u32; 2]>,
    /// Largest payload of each flow at each point.
    payloads: Vec<[u32; 2]>,
    flows: Vec<Option<PathFlow>>,
    ways: [WayMaker; 2],
    last_left: [Option<i64>; 2],
    envelopes: Envelopes,
    packets: Vec<PacketFate>,
    origin: i64,
}

impl<'a> Walk<'a> {
    fn new(
        batches: [Receiver<Batch>; 2],
        calibration: &'a Calibration,
        config: &'a PathConfig,
    ) -> Self {
        let trails = batches.map(|batches| Trail {
            batches,
            batch: Vec::new().into_iter(),
            flows: Vec::new(),
            next: None,
            span: None,
        });
        let way = |heading: Heading| {
            WayMaker::new(
                heading,
                calibration.links[heading as usize],
                config.bin_ns,
                0,
            )
        };
        Self {
            calibration,
            config,
            trails,
            matcher: Matcher::new(MatchLimits {
                patience_ns: config.patience_ns,
                waiting_max: WAITING_MAX,
            }),
            keys: Vec::new(),
            numbers: HashMap::new(),
            headings: Vec::new(),
            signs: Vec::new(),
            payloads: Vec::new(),
            flows: Vec::new(),
            ways: [way(Heading::Forward), way(Heading::Reverse)],
            last_left: [None; 2],
            envelopes: Envelopes::default(),
            packets: Vec::new(),
            origin: 0,
        }
    }

    fn run(&mut self) {
        self.refill(Side::First);
        self.refill(Side::Second);
        let starts = [Side::First, Side::Second].map(|side| self.trail(side).next);
        let origin = starts.iter().flatten().map(|seen| seen.at).min();
        self.origin = origin.unwrap_or(0);
        let config = self.config;
        let links = &self.calibration.links;
        self.ways = [Heading::Forward, Heading::Reverse].map(|heading| {
            WayMaker::new(heading, links[heading as usize], config.bin_ns, self.origin)
        });
        while let Some((side, seen)) = self.step() {
            self.take(side, seen);
            // All that waits is as old as the walk, or older.
            while let Some(fate) = self.next_fate(seen.at) {
                self.note(&fate);
            }
        }
        while let Some(fate) = self.next_fate(i64::MAX) {
            self.note(&fate);
        }
    }

    fn trail(&mut self, side: Side) -> &mut Trail {
        &mut self.trails[side as usize]
    }

    fn next_fate(&mut self, now: i64) -> Option<Fate> {
        let headings = &self.headings;
        self.matcher.next_fate(now, |flow| {
            Side::entry(headings[flow as usize].unwrap_or(Heading::Forward))
        })
    }

    /// The next packet of both points.
    fn step(&mut self) -> Option<(Side, Seen)> {
        let at = |trail: &Trail| trail.next.map(|seen| seen.at);
        let side = match (at(&self.trails[0]), at(&self.trails[1])) {
            (None, None) => return None,
            (Some(_), None) => Side::First,
            (Some(first), Some(second)) if first <= second => Side::First,
            (_, Some(_)) => Side::Second,
        };
        let seen = self.trail(side).next.take()?;
        let trail = self.trail(side);
        let (start, end) = trail.span.unwrap_or((seen.at, seen.at));
        trail.span = Some((start.min(seen.at), end.max(seen.at)));
        self.refill(side);
        Some((side, seen))
    }

    fn refill(&mut self, side: Side) {
        let clock = self.calibration.clock;
        let mut sighting = self.trail(side).batch.next();
        while sighting.is_none() {
            let Ok(batch) = self.trail(side).batches.recv() else {
                break;
            };
            for &key in &batch.new_flows {
                let number = self.number(key);
                self.trail(side).flows.push(number);
            }
            let trail = self.trail(side);
            trail.batch = batch.sightings.into_iter();
            sighting = trail.batch.next();
        }
        let trail = self.trail(side);
        trail.next = sighting.map(|mut sighting| {
            sighting.flow = trail.flows[sighting.flow as usize];
            Seen {
                at: match side {
                    Side::First => sighting.at,
                    Side::Second => clock.aligned(sighting.at),
                },
                sighting,
                left_before: None,
            }
        });
        if let Some(seen) = &self.trails[side as usize].next {
            let largest = &mut self.payloads[seen.sighting.flow as usize][side as usize];
            *largest = (*largest).max(seen.sighting.payload_len);
        }
    }

    /// The walk's number of a flow.
    fn number(&mut self, key: FlowKey) -> u32 {
        let next = self.keys.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
            self.headings
                .push(self.calibration.headings.get(&key).copied());
            self.signs.push([0; 2]);
            self.payloads.push([0; 2]);
            self.flows.push(None);
        }
        number
    }

    /// Finds a packet at the other point, or lets it wait.
    fn take(&mut self, side: Side, mut seen: Seen) {
        let flow = seen.sighting.flow as usize;
        let other = self.matcher.find(side, &seen);
        if let Some(other) = other {
            self.meet(side, &seen, &other);
        }
        let entry = self.headings[flow].map(Side::entry);
        let leaves = entry.is_some_and(|entry| entry != side);
        if let (true, Some(heading)) = (leaves, self.headings[flow]) {
            let last = &mut self.last_left[heading as usize];
            seen.left_before = last.replace(last.map_or(seen.at, |last| last.max(seen.at)));
        }
        if other.is_some() {
            self.matcher.settle(side, seen, !leaves);
        } else {
            self.matcher.wait(side, seen);
        }
    }

    /// Learns from two sightings of one packet about clocks and headings.
    fn meet(&mut self, side: Side, seen: &Seen, other: &Seen) {
        let (first, second) = match side {
            Side::First => (seen, other),
            Side::Second => (other, seen),
        };
        let aligned = second.at.saturating_sub(first.at);
        let flows = [first.sighting.flow as usize, second.sighting.flow as usize];
        let known = self.headings[flows[0]].or(self.headings[flows[1]]);
        let heading = known.unwrap_or_else(|| {
            let back = self.numbers.get(&self.keys[flows[0]].reversed());
            match back.and_then(|&back| self.headings[back as usize]) {
                Some(back) => back.opposite(),
                None if aligned >= 0 => Heading::Forward,
                None => Heading::Reverse,
            }
        });
        for flow in flows {
            self.headings[flow].get_or_insert(heading);
        }
        let delay = match heading {
            Heading::Forward => aligned,
            Heading::Reverse => -aligned,
        };
        let entry = flows[Side::entry(heading) as usize];
        let sign = &mut self.signs[entry][usize::from(delay < -TOLERANCE_NS)];
        *sign = sign.saturating_add(1);
        let raw = second.sighting.at.saturating_sub(first.sighting.at);
        self.envelopes.add(heading, second.sighting.at, raw);
    }

    fn note(&mut self, fate: &Fate) {
        match fate {
            Fate::Passed(passage) => self.note_passed(passage),
            Fate::Lost(entry, uncertain) => self.note_lost(entry, *uncertain),
            Fate::Appeared(exit) => self.note_appeared(exit),
        }
    }

    fn bin_of(&self, at: i64) -> i64 {
        at.saturating_sub(self.origin).max(0) / self.config.bin_ns
    }

    fn flow(&mut self, seen: &Seen) -> &mut PathFlow {
        let number = seen.sighting.flow as usize;
        let (key, heading) = (self.keys[number], self.headings[number]);
        self.flows[number]
            .get_or_insert_with(|| PathFlow::new(key, heading.unwrap_or(Heading::Forward), seen.at))
    }

    fn heading(&self, seen: &Seen) -> Heading {
        self.headings[seen.sighting.flow as usize].unwrap_or(Heading::Forward)
    }

    fn note_passed(&mut self, passage: &Passage) {
        let (entry, exit) = (&passage.entry, &passage.exit);
        let heading = self.heading(entry);
        let left = self.ways[heading as usize].pass(passage);
        let (delay, waited) = (
            exit.at.saturating_sub(entry.at),
            left.saturating_sub(entry.at),
        );
        let bin = self.bin_of(entry.at);
        let flow = self.flow(entry);
        flow.pass(bin, entry.sighting.ip_len, delay, waited);
        flow.uncertain_packets += u64::from(passage.uncertain);
        flow.reordered_packets += u64::from(passage.overtaken);
        let marked = exit.sighting.ecn == CE && entry.sighting.ecn != CE;
        flow.ce_marked_packets += u64::from(marked);
        self.keep(
            entry,
            PacketFate {
                exit_frame: Some(exit.sighting.frame),
                delay_ns: Some(delay),
                queue_delay_ns: Some(waited),
                outcome: Outcome::Passed,
                uncertain: passage.uncertain,
                ..came_in(entry)
            },
        );
    }

    fn note_lost(&mut self, entry: &Seen, uncertain: bool) {
        let outcome = if self.was_beyond_sight(entry) {
            self.flow(entry).undecided_packets += 1;
            Outcome::Undecided
        } else {
            let heading = self.heading(entry);
            self.ways[heading as usize].lose(entry, uncertain);
            let bin = self.bin_of(entry.at);
            let flow = self.flow(entry);
            flow.lose(bin, entry.sighting.ip_len, entry.sighting.payload_len);
            flow.uncertain_packets += u64::from(uncertain);
            Outcome::Dropped
        };
        self.keep(
            entry,
            PacketFate {
                outcome,
                uncertain,
                ..came_in(entry)
            },
        );
    }

    fn note_appeared(&mut self, exit: &Seen) {
        let heading = self.heading(exit);
        let delay_max = self.ways[heading as usize].delay_max_ns;
        let came = self.trails[Side::entry(heading) as usize].span;
        let covered = came
            .is_some_and(|(start, end)| (start.saturating_add(delay_max)..=end).contains(&exit.at));
        let outcome = if covered {
            self.flow(exit).appeared_packets += 1;
            Outcome::Appeared
        } else {
            self.flow(exit).undecided_packets += 1;
            Outcome::Undecided
        };
        self.keep(
            exit,
            PacketFate {
                entry_frame: None,
                exit_frame: Some(exit.sighting.frame),
                outcome,
                ..came_in(exit)
            },
        );
    }

    /// Whether a packet could have left before the other capture began, or after it ended.
    fn was_beyond_sight(&self, entry: &Seen) -> bool {
        let heading = self.heading(entry);
        let exit_side = Side::entry(heading.opposite());
        let exit = &self.trails[exit_side as usize];
        let Some((start, end)) = exit.span else {
            return true;
        };
        // A SYN without an answer is repeated before anything else happens: the capture at the
        // exit had begun, but had nothing to see.
        let before = entry.at < start && !entry.sighting.is_syn;
        let delay_max = self.ways[heading as usize].delay_max_ns;
        let ended = exit.next.is_none();
        let after = ended && entry.at.saturating_add(delay_max) > end;
        before || after && self.matcher.newest_found(entry.sighting.flow) < entry.at
    }

    fn keep(&mut self, _of: &Seen, fate: PacketFate) {
        if self.config.packets {
            self.packets.push(fate);
        }
    }

    fn finish(self, facts: [PointFacts; 2]) -> Walked {
        let mut flows = self.flows;
        let mut links = [Link::default(); 2];
        let ways = self.ways.map(|maker| {
            let heading = maker.heading();
            let forward = heading == Heading::Forward;
            let limit = self.config.limit.filter(|_| forward);
            let capacity = self.config.capacity_bps.filter(|_| forward);
            let (way, link) = maker.finish(limit, capacity, &mut flows);
            links[heading as usize] = link;
            way
        });
        let mut turned = Vec::new();
        for ((&key, heading), signs) in self.keys.iter().zip(&self.headings).zip(&self.signs) {
            if let (Some(heading), true) = (heading, signs[1] > signs[0]) {
                turned.push((key, heading.opposite()));
            }
        }
        let payloads = self.keys.iter().copied().zip(self.payloads).collect();
        Walked {
            facts,
            origin_ns: self.origin,
            flows,
            ways,
            packets: self.packets,
            given_up: self.matcher.given_up,
            envelopes: self.envelopes,
            links,
            turned,
            payloads,
        }
    }
}

fn came_in(seen: &Seen) -> PacketFate {
    PacketFate {
        flow: seen.sighting.flow,
        entry_frame: Some(seen.sighting.frame),
        exit_frame: None,
        at_ns: seen.at,
        ip_len: seen.sighting.ip_len,
        delay_ns: None,
        queue_delay_ns: None,
        outcome: Outcome::Undecided,
        uncertain: false,
    }
}

const CE: crate::decode::Ecn = crate::decode::Ecn::Ce;

/// Batches read ahead of the walk, at each point.
const BATCHES_AHEAD: usize = 2;

/// Packets that wait at one point to be found at the other; with more, the oldest is given up.
pub const WAITING_MAX: usize = 2 << 20;
