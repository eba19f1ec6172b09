//! Reads one point's captures and turns records into sightings, ahead of those who match them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;

use foldhash::fast::FixedState;

use super::arranger::Arranger;
use super::copies::Copies;
use super::gaps::CaptureGap;
use super::offload::{Pieces, Sizes};
use super::others::{UDP, UdpTally};
use super::rules::{Identity, Rules};
use super::sighting::{FlowKey, Print, Sighting, usual_checksum};
use super::unseen::Unseen;
use crate::analyze::Watch;
use crate::capture::{
    CaptureError, CaptureReader, CaptureSource, FileFacts, Io, LinkType, ReadOptions, Window,
    display_name,
};
use crate::decode::{DecodeOptions, Segment, usual};

/// A place on the path where packets were captured: a file, or rotated files that follow each
/// other. Files are read more than once, so standard input is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// What the results call it: the first path as given.
    pub name: String,
    /// Its files: one at least.
    pub files: Vec<PathBuf>,
}

impl Point {
    /// The point whose packets are in one file.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::files(vec![path.into()])
    }

    /// The point whose packets are in rotated files, which are ordered by time.
    #[must_use]
    pub fn files(files: Vec<PathBuf>) -> Self {
        Self {
            name: files
                .first()
                .map_or_else(String::new, |path| display_name(path).to_string()),
            files,
        }
    }
}

/// The point whose packets are in this file.
impl From<PathBuf> for Point {
    fn from(path: PathBuf) -> Self {
        Self::file(path)
    }
}

/// What is known of a point when it has been read.
#[derive(Debug, Default)]
pub struct PointFacts {
    /// Records read.
    pub records: u64,
    /// IP packets among them that were followed; the pieces of a frame of offload count each.
    pub packets: u64,
    /// Frames that held several packets (offload).
    pub super_segments: u64,
    /// Frames of TCP that are larger than any packet, of which nothing tells how large those in them are: each counts as
    /// one.
    pub whole_frames: u64,
    /// Packets whose TCP header the snap length cut.
    pub headers_cut: u64,
    /// Packets without an IP id whose headers the snap length cut so short that they all look alike: they were left
    /// out.
    pub untold: u64,
    /// Records older than the one before them.
    pub clock_steps_back: u64,
    /// Records that come too late to be put in order (METRICS.md B1), where these are so many that no clock was set as
    /// often.
    pub out_of_order: u64,
    /// Further copies of packets that the point has more than once (METRICS.md B1), which do not count.
    pub copies: u64,
    /// There were so many flows that some are not told apart.
    pub flows_left_out: bool,
    /// Time of the first and the last packet by the point's own clock, in ns.
    pub span: Option<(i64, i64)>,
    /// What kept its files from being read to their end.
    pub errors: Vec<CaptureError>,
    /// Its files, in the order of their time.
    pub files: Vec<FileFacts>,
    /// Times in which it saw nothing of what the other point of the hop saw, in order: 64 at most.
    pub gaps: Vec<CaptureGap>,
    /// Whether records of it are of Ethernet.
    pub(super) is_ethernet: bool,
    /// Checksums of UDP that senders left to their cards.
    pub(super) udp: UdpTally,
    /// Packets of which the snap length cut so much that strict rules do not find them.
    pub(super) heads_cut: u64,
}

/// How records become sightings.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub(super) decode: DecodeOptions,
    pub(super) rules: Rules,
    /// Packets of addresses of a link are at both points, which are on one then; else nobody passes them on.
    pub(super) link_local: bool,
    /// What the frames of flows are taken apart into that hold several packets.
    pub(super) pieces: HashMap<FlowKey, Pieces>,
    /// Flows that do not count, as the other point cannot tell their packets apart or did not capture them.
    pub(super) left_out: HashSet<FlowKey>,
    /// What one point alone captured; its flows are among those that do not count.
    pub(super) unseen: Vec<Unseen>,
    /// What packets of flows are told apart by where it is not [`rules`](Self::rules).
    pub(super) flow_rules: HashMap<FlowKey, Rules>,
    /// Go on behind damage in a file.
    pub(super) repair: bool,
}

impl Sight {
    /// What packets of a flow are told apart by.
    fn rules_of(&self, flow: &FlowKey) -> Rules {
        let own = self.flow_rules.get(flow);
        own.map_or(self.rules, |own| own.cut(self.rules.options))
    }

    /// What packets of some flows alone are told apart by, and whether IP ids do not count where they are translated.
    pub(super) fn of_some(&self) -> Vec<Identity> {
        let rules = self.flow_rules.values();
        let of_rules = rules.flat_map(|rules| {
            [
                Some(rules.identity),
                Some(rules.options),
                rules.without_id(),
            ]
        });
        let of_rules = of_rules.chain([self.rules.without_id()]).flatten();
        let usual = [self.rules.identity, self.rules.options];
        let mut all: Vec<Identity> = of_rules.filter(|of| !usual.contains(of)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// What some windows of a capture say.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) sightings: Vec<Sighting>,
    /// Flows seen for the first time: numbers go on where the last batch's ended.
    pub(super) new_flows: Vec<FlowKey>,
    /// Numbers of the last records of files that have come to their end.
    pub(super) file_ends: Vec<u64>,
    /// Numbers of the records behind places where files are damaged.
    pub(super) damaged: Vec<u64>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.sightings.is_empty() && self.new_flows.is_empty()
    }
}

/// What is known of a point when it has been read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) facts: PointFacts,
    /// How large the segments of each flow are, by the point's number.
    pub(super) sizes: Vec<Sizes>,
    /// Hosts and protocols of packets that cannot be told apart.
    pub(super) untold: HashSet<FlowKey>,
    /// Within what time packets are to be put in order, in ns.
    pub(super) in_order_ns: i64,
}

/// Reads a point from its start to its end.
pub(super) struct Feed<'a> {
    name: &'a str,
    watch: &'a Watch,
    reader: CaptureReader,
    window: Window,
    /// The record of the window that comes next.
    next: usize,
    /// Records of the files before that of the window.
    frames_before: u64,
    /// Damaged places of its file that have been told.
    damaged: usize,
    sight: &'a Sight,
    flows: Flows,
    /// Where the point has packets more than once.
    copies: Option<Copies>,
    arranger: Arranger,
    untold: HashSet<FlowKey>,
    facts: PointFacts,
}

/// Flows of a point, by number.
struct Flows {
    numbers: HashMap<FlowKey, u32, FixedState>,
    known: Vec<PointFlow>,
    /// Flows of late packets, each where its ports put it: most packets are of one of these.
    recent: Vec<Option<(FlowKey, u32)>>,
    left_out: bool,
}

/// What is known of a flow.
struct PointFlow {
    sizes: Sizes,
    /// What its frames are taken apart into, where they hold several packets.
    pieces: Option<Pieces>,
    /// None of its packets leaves its link, or can be told apart at the other point: it does not count.
    stays: bool,
    rules: Rules,
}

impl Default for Flows {
    fn default() -> Self {
        Self {
            numbers: HashMap::default(),
            known: Vec::new(),
            recent: vec![None; RECENT],
            left_out: false,
        }
    }
}

impl Flows {
    #[inline]
    fn number(&mut self, key: &FlowKey, sight: &Sight, new_flows: &mut Vec<FlowKey>) -> u32 {
        let place = usize::from(key.src.port() ^ key.dst.port().rotate_left(3)) % RECENT;
        if let Some((recent, number)) = &self.recent[place]
            && recent == key
        {
            return *number;
        }
        let number = match self.numbers.get(key) {
            Some(&number) => number,
            None => self.add(*key, sight, new_flows),
        };
        self.recent[place] = Some((*key, number));
        number
    }

    #[cold]
    fn add(&mut self, key: FlowKey, sight: &Sight, new_flows: &mut Vec<FlowKey>) -> u32 {
        let number = self.numbers.len() as u32;
        let key = if self.numbers.len() < FLOWS_MAX {
            key
        } else {
            self.left_out = true;
            FlowKey::others()
        };
        *self.numbers.entry(key).or_insert_with(|| {
            new_flows.push(key);
            self.known.push(PointFlow {
                sizes: Sizes::default(),
                pieces: sight.pieces.get(&key).copied(),
                rules: sight.rules_of(&key),
                stays: !sight.link_local && key.is_link_local() || sight.left_out.contains(&key),
            });
            number
        })
    }
}

impl<'a> Feed<'a> {
    pub(super) fn open(
        point: &'a Point,
        sight: &'a Sight,
        (times_seen, in_order_ns): (u32, i64),
        watch: &'a Watch,
    ) -> Result<Self, CaptureError> {
        let reader = open(point, sight)?;
        watch.add(reader.progress());
        Ok(Self {
            name: &point.name,
            watch,
            reader,
            window: Window::new(),
            next: 0,
            frames_before: 0,
            damaged: 0,
            sight,
            flows: Flows::default(),
            copies: Copies::of(times_seen),
            arranger: Arranger::new(in_order_ns),
            untold: HashSet::new(),
            facts: PointFacts::default(),
        })
    }

    /// Sends batch after batch until the end, or until nobody listens. What comes through `used`
    /// is filled again.
    pub(super) fn run(mut self, out: &SyncSender<Batch>, used: &Receiver<Vec<Sighting>>) -> Read {
        while let Some(batch) = self.next(used) {
            if out.send(batch).is_err() {
                break;
            }
        }
        self.watch.add_done();
        self.facts.flows_left_out = self.flows.left_out;
        self.facts.files = self.reader.files().to_vec();
        self.facts.out_of_order = self.arranger.left();
        Read {
            facts: self.facts,
            untold: self.untold,
            in_order_ns: self.arranger.needed_ns(),
            sizes: self.flows.known.iter().map(|flow| flow.sizes).collect(),
        }
    }

    fn next(&mut self, used: &Receiver<Vec<Sighting>>) -> Option<Batch> {
        let mut batch = Batch {
            sightings: used.try_recv().unwrap_or_default(),
            ..Batch::default()
        };
        batch.sightings.clear();
        loop {
            self.arranger.give_back(&mut batch.sightings);
            let held = batch.sightings.len();
            let mut goes_on = true;
            while goes_on && batch.sightings.len() < held + BATCH {
                goes_on = self.add_records(&mut batch);
            }
            self.arranger.arrange(&mut batch.sightings, held, goes_on);
            // All that came may be held.
            if !goes_on || !batch.sightings.is_empty() {
                return (!batch.is_empty()).then_some(batch);
            }
        }
    }

    /// Adds what the next window holds, or as much of it as a batch takes; `false` at the end.
    fn add_records(&mut self, batch: &mut Batch) -> bool {
        if self.watch.is_stopped() {
            // Said when what was read by then has been sent.
            if batch.is_empty() {
                let name = PathBuf::from(self.name);
                let error = CaptureError::interrupted(name, self.facts.records);
                self.facts.errors.push(error);
            }
            return false;
        }
        // Of a window that was truncated in between less may be left than has been added.
        while self.next >= self.window.len() {
            self.next -= self.window.len();
            match self.reader.read_window(&mut self.window) {
                Ok(true) => self.begin_window(batch),
                Ok(false) => return false,
                // A damaged file of several does not end the capture.
                Err(error) => return self.go_on_behind(error),
            }
        }
        let (before, first) = (batch.sightings.len(), self.next);
        let mut fresh = self.decode(batch);
        match self.reader.confirm(&mut self.window) {
            Ok(true) => {}
            // The file was truncated meanwhile: what is left of the window is in memory now.
            Ok(false) => {
                batch.sightings.truncate(before);
                // Of packets that came right before it, copies may count: there is hardly more to be had.
                self.copies = self.copies.as_ref().and_then(Copies::anew);
                self.next = first;
                fresh = self.decode(batch);
            }
            Err(error) => {
                batch.sightings.truncate(before);
                return self.go_on_behind(error);
            }
        }
        self.facts.add(&fresh);
        self.watch.add_records(fresh.records);
        true
    }

    /// Numbers of records go on from file to file.
    fn begin_window(&mut self, batch: &mut Batch) {
        let before = self.reader.files().iter().take(self.window.file());
        let frames_before = before.map(|file| file.records).sum();
        if frames_before > self.frames_before {
            (self.frames_before, self.damaged) = (frames_before, 0);
            batch.file_ends.push(frames_before);
        }
        let gaps = self.reader.files().get(self.window.file());
        let gaps = gaps.map_or(&[][..], |file| &file.gaps);
        for gap in gaps.iter().skip(self.damaged) {
            batch.damaged.push(frames_before + gap.record_index);
        }
        self.damaged = gaps.len();
    }

    /// Takes note of damage, and that nothing is left of the window.
    fn go_on_behind(&mut self, error: CaptureError) -> bool {
        self.facts.errors.push(error);
        self.window = Window::new();
        self.next = 0;
        true
    }

    /// Adds what the window holds from the next record on to a batch, until that has enough.
    fn decode(&mut self, batch: &mut Batch) -> PointFacts {
        let mut fresh = PointFacts {
            span: self.facts.span,
            ..PointFacts::default()
        };
        while self.next < self.window.len() && batch.sightings.len() < BATCH_MAX {
            fresh.records += 1;
            let mut record = self.window.record(self.next);
            record.frame += self.frames_before;
            fresh.is_ethernet |= record.link == LinkType::ETHERNET;
            self.next += 1;
            if let Some(segment) = &usual(&record, record.frame) {
                self.add_usual(segment, usual_checksum(&record), batch, &mut fresh);
            } else if let Some(print) = Print::of_unusual(&record, self.sight.decode) {
                if print.is_told_apart() {
                    self.add(&print, batch, &mut fresh);
                } else {
                    fresh.untold += 1;
                    if self.untold.len() < FLOWS_MAX {
                        self.untold.insert(print.flow.of_hosts());
                    }
                }
            }
        }
        fresh
    }

    /// Adds a segment in a frame as nearly all are, with its checksum.
    #[inline]
    fn add_usual(
        &mut self,
        segment: &Segment,
        checksum: u16,
        batch: &mut Batch,
        fresh: &mut PointFacts,
    ) {
        let key = FlowKey::of(segment);
        let flow = self.flows.number(&key, self.sight, &mut batch.new_flows);
        let known = &mut self.flows.known[flow as usize];
        if known.stays {
            return;
        }
        if known.pieces.is_some() || self.copies.is_some() {
            self.add(&Print::of_usual(segment, checksum), batch, fresh);
            return;
        }
        known.sizes.see(segment);
        fresh.see(segment.at.as_ns(), segment.header_cut);
        fresh.packets += 1;
        fresh.whole_frames += u64::from(segment.ip_len > JUMBO_LEN);
        let sighting = Sighting::of_usual(segment, checksum, &key, flow, known.rules);
        batch.sightings.push(sighting);
    }

    fn add(&mut self, print: &Print, batch: &mut Batch, fresh: &mut PointFacts) {
        let flow = self
            .flows
            .number(&print.flow, self.sight, &mut batch.new_flows);
        let known = &mut self.flows.known[flow as usize];
        if known.stays {
            return;
        }
        if let Some(segment) = print.segment() {
            known.sizes.see(segment);
        } else if print.packet.protocol == UDP {
            known.sizes.see_datagram(print.packet.len);
        }
        fresh.see(print.at, print.header_cut());
        fresh.udp.see(&print.packet);
        fresh.heads_cut += u64::from(print.head_cut());
        let (mut parts, rules) = (0, known.rules);
        for part in print.split(known.pieces) {
            parts += 1;
            if let Some(copies) = &mut self.copies
                && copies.is_copy(&part)
            {
                fresh.copies += 1;
                continue;
            }
            fresh.packets += 1;
            batch.sightings.push(Sighting::of(&part, flow, rules));
        }
        fresh.super_segments += u64::from(parts > 1);
        let len = print.segment().map_or(0, |segment| segment.ip_len);
        fresh.whole_frames += u64::from(parts == 1 && len > JUMBO_LEN);
    }
}

impl PointFacts {
    /// Whether a file was damaged, and reading went on behind the damage.
    #[must_use]
    pub fn is_repaired(&self) -> bool {
        self.files.iter().any(|file| file.gaps_total > 0)
    }

    #[inline]
    fn see(&mut self, at: i64, header_cut: bool) {
        let (first, last) = self.span.unwrap_or((at, at));
        self.clock_steps_back += u64::from(at < last);
        self.span = Some((first.min(at), last.max(at)));
        self.headers_cut += u64::from(header_cut);
    }

    /// Adds what another window says.
    fn add(&mut self, fresh: &Self) {
        self.records += fresh.records;
        self.is_ethernet |= fresh.is_ethernet;
        self.packets += fresh.packets;
        self.super_segments += fresh.super_segments;
        self.whole_frames += fresh.whole_frames;
        self.headers_cut += fresh.headers_cut;
        self.untold += fresh.untold;
        self.clock_steps_back += fresh.clock_steps_back;
        self.copies += fresh.copies;
        self.udp.add(fresh.udp);
        self.heads_cut += fresh.heads_cut;
        self.span = fresh.span;
    }
}

/// The headers of a point's packets that `wanted` says yes to, at most `max` of them, from among
/// the first `records_max` records.
pub(super) fn prints(
    point: &Point,
    sight: &Sight,
    records_max: u64,
    max: usize,
    wanted: impl Fn(&Print) -> bool,
) -> Result<Vec<Print>, CaptureError> {
    let mut reader = open(point, sight)?;
    let mut window = Window::new();
    let mut prints = Vec::new();
    let mut records = 0;
    // A capture that is damaged further on, or a part of which is, is still a capture; the walk itself reports it. So
    // is one that is truncated meanwhile: what rests on pages that went is found nowhere.
    loop {
        match reader.read_window(&mut window) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => continue,
        }
        for index in 0..window.len() {
            if records == records_max || prints.len() == max {
                return Ok(prints);
            }
            let print = Print::of(&window.record(index), sight.decode);
            records += 1;
            prints.extend(print.filter(&wanted));
        }
        if !matches!(reader.confirm(&mut window), Ok(true)) {
            break;
        }
    }
    Ok(prints)
}

/// What keeps a point from being read to its end.
pub(super) fn first_error(point: &Point, sight: &Sight) -> Option<CaptureError> {
    let mut window = Window::new();
    let read = |mut reader: CaptureReader| {
        while reader.read_window(&mut window)? {}
        Ok(())
    };
    open(point, sight).and_then(read).err()
}

/// Flows of one point that are told apart; all further ones are one together.
const FLOWS_MAX: usize = 1 << 20;

/// Sightings from which on a batch is sent: enough that waking who walks does not count, and few
/// enough to be in the cache when they are walked.
const BATCH: usize = 1 << 13;

/// No IP packet of a link is longer, in bytes: jumbo frames have up to so many.
const JUMBO_LEN: u32 = 9216;

/// Sightings from which on no more of a window is added: frames of offload are many packets each, and a window has
/// tens of thousands.
pub(super) const BATCH_MAX: usize = 1 << 18;

/// Flows whose numbers are at hand.
const RECENT: usize = 128;

fn open(point: &Point, sight: &Sight) -> Result<CaptureReader, CaptureError> {
    let sources = point.files.iter().cloned().map(CaptureSource::File);
    let options = ReadOptions {
        io: Io::Auto,
        repair: sight.repair,
        // There are two points, mostly.
        decompressors: thread::available_parallelism().map_or(1, |all| all.get() / 2),
        ..ReadOptions::default()
    };
    CaptureReader::open(sources.collect(), &options)
}
