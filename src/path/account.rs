//! Takes note of what became of each packet: flows, queues, drops.

use std::collections::HashMap;

use super::PathConfig;
use super::beginnings::Beginnings;
use super::calibrate::Calibration;
use super::clock::{Heading, Side};
use super::fates::{Fates, Outcome, PacketFate};
use super::flows::PathFlow;
use super::gaps::{CaptureGap, Gaps, PointParts};
use super::held::{self, Held};
use super::link::Passed;
use super::losses::{DropCause, DroppedPacket};
use super::overtaken;
use super::probe::TOLERANCE_NS;
use super::queue::Amount;
use super::sighting::FlowKey;
use super::spool::{Kind, Note, Signs, Spool};
use super::threads;
use super::way::{Way, WayMaker};

/// What a walk knows of flows and points, by now.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Flows by number.
    pub(super) keys: Vec<FlowKey>,
    pub(super) headings: Vec<Option<Heading>>,
    /// Whether each point has packets that the other one did not capture.
    pub(super) unseen: [bool; 2],
    /// Whether one of the captures is of Ethernet.
    pub(super) is_ethernet: bool,
    /// Which of them are asked for: those that a filter keeps at either point.
    pub(super) asked_for: Vec<bool>,
    /// Times of the first and the last packet of each point, by its own clock.
    pub(super) spans: [Option<(i64, i64)>; 2],
    /// Whether all that the other point had seen when a point's capture began, and its own first packet, asked for
    /// connections: then it had begun before, and had nothing to see.
    pub(super) began_with_syns: [bool; 2],
    /// Files of each point, and what another hop told of it.
    pub(super) parts: [PointParts; 2],
    /// What is missing in the captures, as the notes show it.
    pub(super) gaps: Gaps,
}

impl Known {
    /// What is known before a walk: gaps that another hop showed, by the records before and behind them.
    pub(super) fn of_parts(gaps: &[Vec<(u64, u64)>; 2]) -> Self {
        let parts = gaps.clone().map(|gaps| PointParts {
            gaps,
            ..PointParts::default()
        });
        Self {
            parts,
            ..Self::default()
        }
    }
}

/// The results, as far as they have come.
pub(super) struct Account<'a> {
    config: &'a PathConfig,
    calibration: Calibration,
    origin: i64,
    flows: Vec<Option<PathFlow>>,
    ways: [WayMaker; 2],
    packets: Fates,
    /// Packets of each flow that arrived after they left, and before.
    signs: Vec<[u32; 2]>,
    /// Packets that left so long before they came in that they are others, which look alike.
    early_packets: u64,
    /// The only way that counts; both do without.
    only: Option<Heading>,
    /// When dropped packets left, of the next notes of what was seen at one point alone.
    held: std::vec::IntoIter<Option<i64>>,
    /// Of the next notes of packets that were overtaken, who overtook them.
    overtaken: std::vec::IntoIter<Passed>,
    beginnings: Beginnings,
}

/// From when until when a capture is seen, if it is at all.
type Seen = Option<(i64, i64)>;

/// What was found.
pub(super) struct Accounted {
    pub(super) calibration: Calibration,
    pub(super) origin_ns: i64,
    pub(super) flows: Vec<Option<PathFlow>>,
    /// Which of them are asked for.
    pub(super) asked_for: Vec<bool>,
    pub(super) ways: [Way; 2],
    pub(super) packets: Fates,
    /// Which way flows go, as the walk had it at its end.
    pub(super) headings: Vec<(FlowKey, Heading)>,
    /// Flows that turned out to go the other way.
    pub(super) turned: Vec<(FlowKey, Heading)>,
    /// Packets that left so long before they came in that they are others, which look alike.
    pub(super) early_packets: u64,
}

impl<'a> Account<'a> {
    /// `firsts` are the times of the first packet of each point, by its own clock.
    fn new(config: &'a PathConfig, calibration: Calibration, firsts: [Option<i64>; 2]) -> Self {
        let [first, second] = firsts;
        let second = second.map(|at| calibration.by_clock(Side::Second, at));
        let origin = first.into_iter().chain(second).min().unwrap_or(0);
        let ways = [Heading::Forward, Heading::Reverse].map(|heading| {
            let way = heading as usize;
            let link = (calibration.links[way], calibration.rates_bps[way]);
            let mut maker = WayMaker::new(heading, link, config, origin);
            maker.has_jitter = calibration.has_jitter[way];
            maker
        });
        Self {
            config,
            calibration,
            origin,
            flows: Vec::new(),
            ways,
            packets: Fates::default(),
            signs: Vec::new(),
            early_packets: 0,
            only: None,
            held: Vec::new().into_iter(),
            overtaken: Vec::new().into_iter(),
            beginnings: Beginnings::default(),
        }
    }

    /// Takes all notes of a spool into account, each way by a thread of its own: flows go one way.
    pub(super) fn of_spool(
        config: &'a PathConfig,
        calibration: &Calibration,
        firsts: [Option<i64>; 2],
        spool: &Spool,
        known: &Known,
    ) -> Self {
        let of_way = |heading: Heading, held: Held| {
            let mut account = Self::new(config, calibration.clone(), firsts);
            account.only = Some(heading);
            account.ways[heading as usize].drops_at_head = held.at_head;
            account.held = held.until.into_iter();
            account.prepare(spool, heading, known);
            for note in spool.notes(heading) {
                account.note(&note, known);
            }
            account
        };
        let by_law = |heading: Heading| {
            let held = held::find(spool, known, calibration, heading);
            // Drops of a full queue may come when `CoDel` would drop, by chance.
            let tail = held.at_head.then(|| of_way(heading, Held::default()));
            tail.filter(|account| account.ways[heading as usize].is_drop_tail())
                .unwrap_or_else(|| of_way(heading, held))
        };
        let (mut both, back) =
            threads::both(|| by_law(Heading::Forward), || by_law(Heading::Reverse));
        both.merge(back);
        both
    }

    /// Prepares for the notes of a way: when the capture began in which its packets would come in, or went on, and in
    /// which times nobody knows what waited.
    fn prepare(&mut self, spool: &Spool, heading: Heading, known: &Known) {
        let entry = Side::entry(heading);
        let transit_ns = self.calibration.links[heading as usize].transit_ns;
        let mut starts: Vec<i64> = self
            .span(known, entry)
            .map(|(start, _)| start)
            .into_iter()
            .collect();
        let mut unseen = Vec::new();
        for (point, earlier_ns) in [(entry, 0), (entry.other(), transit_ns)] {
            for gap in known.gaps.of_captures(point) {
                let (from, to) = self.gap_span(point, gap);
                let times = [from, to].map(|at| at.saturating_sub(earlier_ns));
                // Not where a clock was put back meanwhile.
                unseen.extend((from < to).then_some((times[0], times[1])));
                starts.extend((point == entry).then_some(to));
            }
        }
        starts.sort_unstable();
        self.ways[heading as usize].leave_out(unseen);
        let (headings, calibration) = (&known.headings, &self.calibration);
        self.overtaken =
            overtaken::find(spool, &known.headings, &self.calibration, heading).into_iter();
        self.beginnings = Beginnings::find(starts, spool, headings, calibration, heading);
    }

    /// When a gap of a point's capture began and ended, by the first clock.
    fn gap_span(&self, point: Side, gap: &CaptureGap) -> (i64, i64) {
        let (from, to) = gap.span_ns;
        let (before, behind) = gap.frames;
        let aligned = |at, frame| self.calibration.aligned(point, at, frame);
        (aligned(from, before), aligned(to, behind))
    }

    /// Adds the way back.
    fn merge(&mut self, mut back: Self) {
        self.only = None;
        self.early_packets += back.early_packets;
        self.packets.take_way(Heading::Reverse, &mut back.packets);
        let [_, way] = back.ways;
        self.ways[Heading::Reverse as usize] = way;
        let flows = self.flows.len().max(back.flows.len());
        self.flows.resize_with(flows, || None);
        self.signs.resize(flows, [0; 2]);
        for (number, (flow, signs)) in back.flows.into_iter().zip(back.signs).enumerate() {
            if flow.is_some() {
                self.flows[number] = flow;
                self.signs[number] = signs;
            }
        }
    }

    /// The clocks and links that all rests on.
    pub(super) fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    pub(super) fn note(&mut self, note: &Note, known: &Known) {
        let flow = note.flow as usize;
        let heading = note.heading(&known.headings);
        let held_until = match note.kind {
            Kind::Passed => None,
            Kind::Lost | Kind::Appeared => self.held.next().flatten(),
        };
        if self.only.is_some_and(|only| only != heading) {
            return;
        }
        if flow >= self.flows.len() {
            self.flows.resize_with(flow + 1, || None);
            self.signs.resize(flow + 1, [0; 2]);
        }
        let at = self
            .calibration
            .aligned(note.seen_at(), note.at, note.frame);
        let kind = note.kind_of(heading);
        self.flows[flow]
            .get_or_insert_with(|| PathFlow::new(known.keys[flow], heading))
            .see(at, !matches!(kind, Kind::Appeared));
        let way = &mut self.ways[heading as usize];
        self.beginnings
            .come_to(at, |start, held| way.hold_from(start, held));
        match kind {
            Kind::Passed => self.note_passed(note, heading, known),
            Kind::Lost => self.note_lost(note, at, heading, held_until, known),
            Kind::Appeared => self.note_appeared(note, at, heading, known),
        }
    }

    fn bin_of(&self, at: i64) -> i64 {
        at.saturating_sub(self.origin).max(0) / self.config.bin_ns
    }

    fn note_passed(&mut self, note: &Note, heading: Heading, known: &Known) {
        let passed = self.calibration.passed(note);
        let is_overtaken = note.has.has(Signs::OVERTAKEN);
        let overtaker = is_overtaken.then(|| self.overtaken.next()).flatten();
        let left = self.ways[heading as usize].pass(note.ip_len, passed, overtaker);
        let delay = passed.left_at.saturating_sub(passed.at);
        let waited = left.map(|left| left.saturating_sub(passed.at));
        let way = &mut self.ways[heading as usize];
        way.see_order(note.flow, passed.left_at, is_overtaken);
        let bin = self.bin_of(passed.at);
        let is_early = self.calibration.left_too_early(note, heading, delay);
        self.early_packets += u64::from(is_early);
        let uncertain = is_early || note.has.has(Signs::UNCERTAIN);
        if !is_early {
            let sign = &mut self.signs[note.flow as usize][usize::from(delay < -TOLERANCE_NS)];
            *sign = sign.saturating_add(1);
        }
        if let Some(flow) = &mut self.flows[note.flow as usize] {
            flow.pass(bin, note.ip_len, delay, waited);
            flow.uncertain_packets += u64::from(uncertain);
            flow.reordered_packets += u64::from(is_overtaken);
            flow.ce_marked_packets += u64::from(note.has.has(Signs::MARKED));
        }
        self.keep(note, heading, known, || PacketFate {
            exit_frame: Some(note.left_frame),
            delay_ns: Some(delay),
            queue_delay_ns: waited,
            outcome: Outcome::Passed,
            uncertain,
            ..came_in(note, passed.at)
        });
    }

    fn note_lost(
        &mut self,
        note: &Note,
        at: i64,
        heading: Heading,
        held_until: Option<i64>,
        known: &Known,
    ) {
        let uncertain = note.has.has(Signs::UNCERTAIN);
        if let Some(seen) = self.was_beyond_sight(note, at, heading, known) {
            self.note_undecided(note, at, heading, seen);
            let fate = || PacketFate {
                uncertain,
                ..came_in(note, at)
            };
            return self.keep(note, heading, known, fate);
        }
        let bin = self.bin_of(at);
        let waited_ns = held_until.map(|until| until.saturating_sub(at));
        if let Some(flow) = &mut self.flows[note.flow as usize] {
            let has_payload = note.has.has(Signs::PAYLOAD);
            flow.lose(bin, note.ip_len, has_payload, waited_ns.unwrap_or(0));
            flow.uncertain_packets += u64::from(uncertain);
        }
        if !known.asked_for[note.flow as usize] {
            return self.ways[heading as usize].lose_another(at, held_until, note.ip_len);
        }
        let drop = DroppedPacket {
            at_ns: at,
            flow: note.flow,
            frame: note.frame,
            ip_len: note.ip_len,
            found: Amount::default(),
            with_it: Amount::default(),
            run_before: 0,
            uncertain,
            cause: DropCause::default(),
        };
        self.ways[heading as usize].lose(drop, held_until);
        self.keep(note, heading, known, || PacketFate {
            outcome: Outcome::Dropped,
            queue_delay_ns: waited_ns,
            uncertain,
            ..came_in(note, at)
        });
    }

    /// A packet came in at `at`, and where it would have left the capture had not begun yet, had ended, or has a gap:
    /// it waited as long as is `seen`.
    fn note_undecided(&mut self, note: &Note, at: i64, heading: Heading, seen: Seen) {
        let waited_ns = match seen {
            Some((start, end)) if (start..=end).contains(&at) => {
                self.ways[heading as usize].hold_until(end, at, note.ip_len)
            }
            _ => 0,
        };
        let bin = self.bin_of(at);
        if let Some(flow) = &mut self.flows[note.flow as usize] {
            flow.hold(bin, note.ip_len, waited_ns);
        }
    }

    fn note_appeared(&mut self, note: &Note, at: i64, heading: Heading, known: &Known) {
        let delay_max = self.ways[heading as usize].delay_max_ns;
        let entry = note.seen_at().other();
        let covered = self
            .span(known, entry)
            .is_some_and(|(start, end)| (start.saturating_add(delay_max)..=end).contains(&at));
        let held = self.beginnings.take(at);
        let in_gap = known.gaps.hides(entry, note, heading);
        let has_appeared = covered && held.is_none() && in_gap.is_none();
        let (start, waited_ns) = held.unwrap_or((at, 0));
        let bin = self.bin_of(start);
        if let Some(flow) = &mut self.flows[note.flow as usize] {
            if has_appeared {
                flow.appeared_packets += 1;
            } else {
                flow.hold(bin, note.ip_len, waited_ns);
            }
        }
        self.keep(note, heading, known, || PacketFate {
            entry_frame: None,
            exit_frame: Some(note.frame),
            outcome: if has_appeared {
                Outcome::Appeared
            } else {
                Outcome::Undecided
            },
            ..came_in(note, at)
        });
    }

    /// First and last packet of a point by the first one's clock.
    fn span(&self, known: &Known, point: Side) -> Option<(i64, i64)> {
        let span = known.spans[point as usize]?;
        Some(self.calibration.aligned_span(point, span))
    }

    /// Whether a packet could have left before the other capture began, after it ended, or in a gap of it: then until
    /// when it is seen whether packets leave.
    fn was_beyond_sight(
        &self,
        note: &Note,
        at: i64,
        heading: Heading,
        known: &Known,
    ) -> Option<Seen> {
        let exit = note.seen_at().other();
        let Some((start, end)) = self.span(known, exit) else {
            return Some(None);
        };
        if let Some(gap) = known.gaps.hides(exit, note, heading) {
            let (from, _) = self.gap_span(exit, gap);
            return Some(Some((start, from)));
        }
        // A SYN without an answer is repeated before anything else happens: the capture at the
        // exit had begun, but had nothing to see.
        let had_nothing_to_see = note.has.has(Signs::SYN) && known.began_with_syns[exit as usize];
        let before = at < start && !had_nothing_to_see;
        let delay_max = self.ways[heading as usize].delay_max_ns;
        let ended = note.has.has(Signs::EXIT_ENDED);
        let after = ended && at.saturating_add(delay_max) >= end;
        (before || after && !note.has.has(Signs::LATER_LEFT)).then_some(Some((start, end)))
    }

    fn keep(
        &mut self,
        note: &Note,
        heading: Heading,
        known: &Known,
        fate: impl FnOnce() -> PacketFate,
    ) {
        if self.config.packets && known.asked_for[note.flow as usize] {
            self.packets.push(heading, &fate());
        }
    }

    pub(super) fn finish(self, known: &Known) -> Accounted {
        let mut flows = self.flows;
        flows.resize_with(known.keys.len(), || None);
        let ways = self.ways.map(|mut maker| {
            let forward = maker.heading() == Heading::Forward;
            let limit = self.config.limit.filter(|_| forward);
            maker.is_ethernet = known.is_ethernet;
            maker.is_incomplete = known.unseen[Side::entry(maker.heading()) as usize];
            maker.finish(limit, &mut flows)
        });
        let turned = turned(known, &self.signs);
        // Where nothing passed, nothing told: that is decided anew by the next walk.
        let passed = self.signs.iter().map(|signs| *signs != [0; 2]);
        let headings = known.keys.iter().zip(&known.headings).zip(passed);
        Accounted {
            headings: headings
                .filter(|&(_, passed)| passed)
                .filter_map(|((&key, heading), _)| Some((key, (*heading)?)))
                .collect(),
            calibration: self.calibration,
            origin_ns: self.origin,
            flows,
            asked_for: known.asked_for.clone(),
            ways,
            packets: self.packets,
            turned,
            early_packets: self.early_packets,
        }
    }
}

fn came_in(note: &Note, at: i64) -> PacketFate {
    PacketFate {
        flow: note.flow,
        entry_frame: Some(note.frame),
        exit_frame: None,
        at_ns: at,
        ip_len: note.ip_len,
        delay_ns: None,
        queue_delay_ns: None,
        outcome: Outcome::Undecided,
        uncertain: false,
    }
}

/// Flows most of whose packets left before they came in: they go the other way, unless the other
/// flow of their connection goes that way already and does so rightly.
fn turned(known: &Known, signs: &[[u32; 2]]) -> Vec<(FlowKey, Heading)> {
    let headings: HashMap<FlowKey, (Heading, bool)> = known
        .keys
        .iter()
        .zip(&known.headings)
        .zip(signs)
        .filter(|&(_, signs)| *signs != [0; 2])
        .filter_map(|((&key, heading), signs)| Some((key, ((*heading)?, signs[1] > signs[0]))))
        .collect();
    let is_turned = |key: &FlowKey| {
        let &(heading, seems_so) = headings.get(key)?;
        let other = headings.get(&key.reversed());
        let is_taken = other.is_some_and(|&(other, turns)| other == heading.opposite() && !turns);
        (seems_so && !is_taken).then_some((*key, heading.opposite()))
    };
    known.keys.iter().filter_map(is_turned).collect()
}
