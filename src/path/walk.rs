//! Walks two points side by side in time, and notes what becomes of each packet.

mod ahead;
mod meet;
mod undecided;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

use foldhash::fast::FixedState;

use super::PathConfig;
use super::account::{Account, Accounted, Known};
use super::aside::Aside;
use super::calibrate::{Calibration, calibrate};
use super::clock::{Clock, Heading, Side};
use super::early::{Early, Twins};
use super::envelope::Envelopes;
use super::evidence::Lately;
use super::feed::{Batch, Feed, Point, PointFacts, Read, Sight};
use super::gaps::{Gaps, Listener};
use super::hosts::Hosts;
use super::jumps;
use super::matcher::{Exit, Fate, MatchLimits, Matcher, Packet, Seen};
use super::offload::{Sizes, of_both};
use super::sighting::{FlowKey, Sighting};
use super::spool::{Kind, Note, Signs, Spool};
use super::steps::{NEAR_NS, STEP_MIN_NS, Steps};
use super::threads::joined;
use crate::analyze::Watch;
use crate::capture::CaptureError;

/// What is known before a walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    /// The second clock against the first, roughly: for the order in which packets are taken.
    pub(super) clock: Clock,
    /// Which way flows go; others are told by their first packet.
    pub(super) headings: HashMap<FlowKey, Heading>,
    /// How often each point has a packet.
    pub(super) times_seen: [u32; 2],
    /// Within what time packets of each point are put in order, in ns.
    pub(super) in_order_ns: [i64; 2],
    /// Clocks and links, where a walk before showed them.
    pub(super) calibration: Option<Calibration>,
    /// Records before and behind gaps of each capture that another hop showed.
    pub(super) gaps: [Vec<(u64, u64)>; 2],
    /// Whether each point has packets that the other one did not capture.
    pub(super) unseen: [bool; 2],
    /// What left too early to be what it was taken for, where a walk before has shown the clocks.
    pub(super) early: Option<Early>,
}

/// What a walk found.
pub(super) struct Walked {
    pub(super) facts: [PointFacts; 2],
    /// What became of packets.
    pub(super) accounted: Accounted,
    pub(super) given_up: u64,
    /// What was answered between the points.
    pub(super) aside: Aside,
    /// Clocks and links as they show themselves now, if the results rest on others.
    pub(super) otherwise: Option<Calibration>,
    /// How large the segments of each flow are at each point.
    pub(super) sizes: HashMap<FlowKey, [Sizes; 2]>,
    /// Hosts and protocols of packets that cannot be told apart at each point.
    pub(super) untold: [HashSet<FlowKey>; 2],
    /// Within what time packets of each point are to be put in order, in ns.
    pub(super) in_order_ns: [i64; 2],
    /// Keys of packets without an id that left after another of the same key had been found.
    pub(super) twins: Twins,
}

/// Walks both points from start to end.
pub(super) fn walk(
    points: [&Point; 2],
    sight: &Sight,
    start: &Start,
    config: &PathConfig,
    watch: &Watch,
) -> Result<Walked, CaptureError> {
    let open = |point: usize| {
        let known = (start.times_seen[point], start.in_order_ns[point]);
        Feed::open(points[point], sight, known, watch)
    };
    let (first, second) = (open(0)?, open(1)?);
    Ok(thread::scope(|scope| {
        let (first_out, first_in) = sync_channel(BATCHES_AHEAD);
        let (second_out, second_in) = sync_channel(BATCHES_AHEAD);
        let (first_used, first_back) = channel();
        let (second_used, second_back) = channel();
        let first = scope.spawn(move || first.run(&first_out, &first_back));
        let second = scope.spawn(move || second.run(&second_out, &second_back));
        let trails = [(first_in, first_used), (second_in, second_used)];
        let mut walk = Walk::new(trails, start, config);
        walk.run();
        walk.finish([first, second].map(joined))
    }))
}

/// One point, as far as it has been walked.
struct Trail {
    batches: Receiver<Batch>,
    /// Where batches go when they have been walked.
    used: Sender<Vec<Sighting>>,
    batch: Vec<Sighting>,
    at: usize,
    /// Flow numbers of the point as numbers of the walk.
    flows: Vec<u32>,
    next: Option<Seen>,
    /// Times of the last two records, by the point's own clock.
    last: [Option<i64>; 2],
    /// What its clock was set by, where that is much: for the order in which packets are taken.
    set_by: i64,
    /// How often its times jumped.
    jumps: u32,
}

impl Trail {
    fn new((batches, used): (Receiver<Batch>, Sender<Vec<Sighting>>)) -> Self {
        Self {
            batches,
            used,
            batch: Vec::new(),
            at: 0,
            flows: Vec::new(),
            next: None,
            last: [None; 2],
            set_by: 0,
            jumps: 0,
        }
    }
}

/// Where notes go.
enum Sink<'a> {
    /// Kept until clocks and links are known.
    Spool(Box<Spool>),
    /// They are.
    Account(Box<Account<'a>>),
}

struct Walk<'a> {
    config: &'a PathConfig,
    /// Which way flows go, from before.
    told: &'a HashMap<FlowKey, Heading>,
    /// For the order in which packets are taken.
    clock: Clock,
    trails: [Trail; 2],
    matcher: Matcher,
    numbers: HashMap<FlowKey, u32, FixedState>,
    known: Known,
    /// What the headings of flows tell of others, once all that was noted goes into an account.
    hosts: Hosts,
    /// Flows that are others at the second point, where addresses are translated.
    translated: BTreeMap<u32, u32>,
    /// Flows that go neither way.
    aside: Aside,
    /// Flows of which nothing passed when their heading was needed.
    decided: HashSet<u32, FixedState>,
    last_left: [Option<i64>; 2],
    /// Whether time ran backwards at a point, by as much as clocks are set.
    ran_back: bool,
    /// Where clocks were set, as far as that is known.
    steps: Steps,
    /// Raw delays but for these steps.
    envelopes: Envelopes,
    /// What packets took lately.
    lately: Lately,
    matches: u64,
    firsts: [Option<i64>; 2],
    /// Whether all that a point has seen so far asked for connections.
    asked_alone: [bool; 2],
    listener: Listener,
    sink: Sink<'a>,
    given: Option<&'a Calibration>,
}

impl<'a> Walk<'a> {
    fn new(
        trails: [(Receiver<Batch>, Sender<Vec<Sighting>>); 2],
        start: &'a Start,
        config: &'a PathConfig,
    ) -> Self {
        Self {
            config,
            told: &start.headings,
            clock: start.clock.clone(),
            trails: trails.map(Trail::new),
            matcher: Matcher::new(
                MatchLimits {
                    patience_ns: config.patience_ns,
                    waiting_max: waiting_max(config.memory_bytes / 4),
                },
                start.early.clone(),
            ),
            numbers: HashMap::default(),
            known: Known {
                unseen: start.unseen,
                ..Known::of_parts(&start.gaps)
            },
            hosts: Hosts::default(),
            translated: BTreeMap::new(),
            aside: Aside::default(),
            decided: HashSet::default(),
            last_left: [None; 2],
            ran_back: false,
            steps: start
                .calibration
                .as_ref()
                .map_or_else(Steps::default, |known| known.steps.clone()),
            envelopes: Envelopes::default(),
            lately: Lately::default(),
            matches: 0,
            firsts: [None; 2],
            asked_alone: [true; 2],
            listener: Listener::default(),
            sink: Sink::Spool(Box::new(Spool::new(config.memory_bytes / 4))),
            given: start.calibration.as_ref(),
        }
    }

    fn run(&mut self) {
        self.refill(Side::First);
        self.refill(Side::Second);
        self.firsts = self
            .trails
            .each_ref()
            .map(|trail| trail.next.map(|seen| seen.packet.own_at));
        while let Some((side, seen)) = self.step() {
            self.take(side, &seen);
            // All that waits is as old as the walk, or older.
            self.note_until(seen.packet.at);
        }
        self.note_until(i64::MAX);
    }

    /// Notes all whose fate is known, when the walk is at `now`.
    fn note_until(&mut self, now: i64) {
        while let Some(fate) = self.next_fate(now) {
            self.note(&fate);
        }
    }

    fn trail(&mut self, side: Side) -> &mut Trail {
        &mut self.trails[side as usize]
    }

    fn next_fate(&mut self, now: i64) -> Option<Fate> {
        let headings = &self.known.headings;
        self.matcher.next_fate(now, |flow| {
            Side::entry(headings[flow as usize].unwrap_or(Heading::Forward))
        })
    }

    /// The next packet of both points.
    fn step(&mut self) -> Option<(Side, Seen)> {
        let at = |trail: &Trail| trail.next.map(|seen| seen.packet.at);
        let side = match (at(&self.trails[0]), at(&self.trails[1])) {
            (None, None) => return None,
            (Some(_), None) => Side::First,
            (Some(first), Some(second)) if first <= second => Side::First,
            (_, Some(_)) => Side::Second,
        };
        let seen = self.trail(side).next.take()?;
        if self.known.spans[side as usize].is_none() {
            self.note_beginning(side, &seen.packet);
        }
        self.asked_alone[side as usize] &= seen.packet.has.has(Signs::SYN);
        let span = &mut self.known.spans[side as usize];
        let at = seen.packet.own_at;
        self.listener.hear(side, seen.packet.frame, at);
        let (start, end) = span.unwrap_or((at, at));
        self.ran_back |= end.saturating_sub(at) >= STEP_MIN_NS;
        *span = Some((start.min(at), end.max(at)));
        self.refill(side);
        Some((side, seen))
    }

    /// The first packet of a point is about to be taken.
    fn note_beginning(&mut self, side: Side, first: &Packet) {
        let asked_before = self.asked_alone[side.other() as usize];
        self.known.began_with_syns[side as usize] = asked_before && first.has.has(Signs::SYN);
    }

    fn refill(&mut self, side: Side) {
        while self.trail(side).at == self.trail(side).batch.len() {
            let Some(batch) = self.receive(side) else {
                return;
            };
            let trail = self.trail(side);
            let walked = std::mem::replace(&mut trail.batch, batch);
            trail.at = 0;
            // Who reads may have come to the end.
            let _ = trail.used.send(walked);
        }
        let trail = self.trail(side);
        let own_at = trail.batch[trail.at].at;
        let [_, last] = trail.last;
        if last.is_some_and(|last| own_at.abs_diff(last) > jumps::APART_NS.unsigned_abs()) {
            self.come_to_jump(side);
        }
        let trail = &self.trails[side as usize];
        let sighting = trail.batch[trail.at];
        let at = self.in_order(side, sighting.at);
        let trail = self.trail(side);
        trail.at += 1;
        trail.last = [trail.last[1], Some(sighting.at)];
        let flow = trail.flows[sighting.flow as usize];
        trail.next = Some(Seen::of(&sighting, flow, at));
    }

    /// The next batch of a point.
    fn receive(&mut self, side: Side) -> Option<Vec<Sighting>> {
        let batch = self.trail(side).batches.recv().ok()?;
        for &key in &batch.new_flows {
            let number = self.number(key);
            self.trail(side).flows.push(number);
            self.aside.see(number, side);
        }
        let ends = &mut self.known.parts[side as usize].ends;
        ends.extend(batch.file_ends);
        self.listener.note_damage(side, batch.damaged);
        Some(batch.sightings)
    }

    /// When a packet is taken, by the common clock.
    #[inline]
    fn in_order(&self, side: Side, own_at: i64) -> i64 {
        let at = own_at.saturating_sub(self.trails[side as usize].set_by);
        match side {
            Side::First => at,
            Side::Second => self.clock.aligned(at),
        }
    }

    /// The walk's number of a flow.
    fn number(&mut self, key: FlowKey) -> u32 {
        let next = self.known.keys.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.known.keys.push(key);
            self.known.headings.push(None);
            let filter = self.config.filter.as_ref();
            let is_asked_for = filter.is_none_or(|filter| key.is_kept_by(filter));
            self.known.asked_for.push(is_asked_for);
            if let Some(&told) = self.told.get(&key) {
                self.learn_heading(next, told);
            }
        }
        number
    }

    /// Finds a packet at the other point, or lets it wait.
    fn take(&mut self, side: Side, seen: &Seen) {
        let packet = &seen.packet;
        let flow = packet.flow as usize;
        let comes_in = self.known.headings[flow].map(Side::entry) == Some(side);
        let other = self.matcher.find(side, seen, comes_in);
        let mut seen = *seen;
        if let Some((_, other)) = &other {
            seen.packet
                .has
                .set(Signs::QUICK, self.meet(side, packet, other));
        }
        let heading = self.known.headings[flow];
        let leaves = heading.filter(|&heading| Side::entry(heading) != side);
        let left_before = leaves.and_then(|heading| {
            let last = &mut self.last_left[heading as usize];
            let at = packet.own_at;
            // Records may be out of order by a little; by more, the clock was set back.
            let is_near = |last: i64| last.saturating_sub(at) < NEAR_NS;
            last.replace(last.map_or(at, |last| if is_near(last) { last.max(at) } else { at }))
        });
        match other {
            Some((number, other)) => {
                // Of two flows that go opposite ways, which only loose rules take for one, it is the
                // one that tells where the packet leaves.
                let agree = self.known.headings[other.flow as usize] == heading;
                let flow = if agree { other.flow } else { packet.flow };
                let left = leaves.map(|_| (Exit::of(packet, left_before), flow));
                self.matcher.settle(side, &seen, number, left);
            }
            None => self.matcher.wait(side, seen, left_before),
        }
    }

    fn learn_heading(&mut self, flow: u32, heading: Heading) {
        self.known.headings[flow as usize] = Some(heading);
        if matches!(self.sink, Sink::Account(_)) {
            self.hosts.note(self.known.keys[flow as usize], heading);
        }
    }

    fn note(&mut self, fate: &Fate) {
        let mut note = match fate {
            Fate::Passed(entry, exit) => Note {
                left_at: exit.at,
                left_before: exit.left_before,
                left_frame: exit.frame,
                ..noted(Kind::Passed, entry)
            },
            Fate::Lost(entry) => noted(Kind::Lost, entry),
            Fate::Appeared(exit) => noted(Kind::Appeared, exit),
        };
        let told = self.known.headings[note.flow as usize];
        let heading = told.unwrap_or(Heading::Forward);
        let entry = Side::entry(match fate {
            Fate::Passed(..) | Fate::Lost(..) => heading,
            Fate::Appeared(_) => heading.opposite(),
        });
        note.has.set_seen_at(entry);
        // As long as nothing told which way its flow goes, what seems to have appeared may have come in.
        if note.kind == Kind::Lost || (told.is_none() && note.kind == Kind::Appeared) {
            let (Fate::Passed(seen, _) | Fate::Lost(seen) | Fate::Appeared(seen)) = fate;
            self.look_at_exit(&mut note, (seen.at, seen.frame), entry.other());
        }
        if matches!(self.sink, Sink::Account(_)) {
            if told.is_none() && self.is_aside(note.flow) {
                self.aside.leave_out(1);
                return;
            }
            self.decide_heading(note.flow);
        }
        match &mut self.sink {
            Sink::Spool(spool) => {
                spool.add(&note, told);
                if spool.is_full() {
                    let mut spool = std::mem::take(spool);
                    self.leave_aside(&mut spool);
                    // Those that go neither way yet are noted with both.
                    for note in spool.notes(Heading::Forward) {
                        self.decide_heading(note.flow);
                    }
                    let account = self.account(&spool);
                    self.steps = account.calibration().steps.clone();
                    self.sink = Sink::Account(Box::new(account));
                }
            }
            Sink::Account(account) => account.note(&note, &self.known),
        }
    }

    /// What is known, where a packet would have left that was not found, when it is given up.
    fn look_at_exit(&self, note: &mut Note, came: (i64, u64), exit: Side) {
        // A SYN that nobody answered is repeated before anything else happens: that capture went on, and had nothing to
        // see.
        let is_alone = note.has.has(Signs::SYN) && {
            let back = self.known.keys[note.flow as usize].reversed();
            !self.numbers.contains_key(&back)
        };
        let ended = self.trails[exit as usize].next.is_none() && !is_alone;
        let newest = self.matcher.newest_found(note.flow);
        note.has.set(Signs::EXIT_ENDED, ended);
        note.has.set(Signs::LATER_LEFT, newest > came);
    }

    /// Takes all notes of a spool into account, now that it is time to know clocks and links.
    fn account(&mut self, spool: &Spool) -> Account<'a> {
        let Known {
            headings, parts, ..
        } = &self.known;
        self.known.gaps = Gaps::find(spool, headings, &self.listener, parts);
        let calibration = match self.given {
            Some(given) => given.clone(),
            None => self.calibrated(spool),
        };
        Account::of_spool(self.config, &calibration, self.firsts, spool, &self.known)
    }

    /// Clocks and links as the notes of a spool show them.
    fn calibrated(&mut self, spool: &Spool) -> Calibration {
        let (calibration, envelopes) = calibrate(
            spool,
            &self.known.headings,
            std::mem::take(&mut self.envelopes),
            self.ran_back,
            self.config.clock,
            self.config.capacity_bps,
        );
        self.envelopes = envelopes;
        calibration
    }

    fn finish(mut self, read: [Read; 2]) -> Walked {
        let mut otherwise = None;
        let account = match std::mem::replace(&mut self.sink, Sink::Spool(Box::default())) {
            Sink::Spool(mut spool) => {
                if self.known.headings.contains(&None) {
                    self.leave_aside(&mut spool);
                }
                for flow in 0..self.known.keys.len() {
                    self.decide_heading(flow as u32);
                }
                self.account(&spool)
            }
            Sink::Account(account) => {
                let used = account.calibration();
                let now = used.with_clock(&self.envelopes, self.config.clock);
                let span = self.known.spans[Side::Second as usize];
                if now.clock.differs_ns(&used.clock, span) > CLOCK_NEAR_NS {
                    otherwise = Some(now);
                }
                *account
            }
        };
        let key = |flow: u32| self.known.keys[flow as usize];
        let sizes = [0, 1].map(|side| {
            let flows = self.trails[side].flows.iter().map(|&flow| key(flow));
            flows.zip(read[side].sizes.iter().copied())
        });
        let translated = self.translated.iter();
        let sizes = of_both(
            sizes,
            translated.map(|(&first, &second)| [key(first), key(second)]),
        );
        let in_order_ns = read.each_ref().map(|read| read.in_order_ns);
        let [first, second] = read;
        let untold = [first.untold, second.untold];
        let mut facts = [first.facts, second.facts];
        for (point, facts) in Side::BOTH.into_iter().zip(&mut facts) {
            facts.gaps = self.known.gaps.of_point(point).cloned().collect();
        }
        self.known.is_ethernet = facts.iter().any(|facts| facts.is_ethernet);
        Walked {
            facts,
            accounted: account.finish(&self.known),
            given_up: self.matcher.given_up,
            twins: self.matcher.twins,
            aside: self.aside,
            otherwise,
            sizes,
            untold,
            in_order_ns,
        }
    }
}

fn noted(kind: Kind, packet: &Packet) -> Note {
    Note {
        kind,
        flow: packet.flow,
        ip_len: packet.ip_len,
        at: packet.own_at,
        frame: packet.frame,
        has: packet.has.noted(),
        ..Note::default()
    }
}

/// Batches read ahead of the walk, at each point.
const BATCHES_AHEAD: usize = 2;

/// How many packets may wait at one point in so much memory.
fn waiting_max(bytes: u64) -> usize {
    let most = bytes / super::matcher::WAITING_BYTES;
    (most as usize).clamp(WAITING_MIN, WAITING_MAX)
}

/// Packets that may wait however little memory there is: what a queue of a slow link holds.
const WAITING_MIN: usize = 1 << 10;

/// Packets that wait at one point to be found at the other; with more, the oldest is given up.
pub const WAITING_MAX: usize = 2 << 20;

/// Clocks that were told apart by less than this give the same results, in ns.
const CLOCK_NEAR_NS: f64 = 20_000.0;
