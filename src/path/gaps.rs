//! Gaps in captures: a part is missing, or capturing stopped for a while (METRICS.md B1).
//!
//! While the points are walked, times are noted in which one of them saw nothing and the other one much. When all notes
//! are there, they tell what of that never came to the silent point, and what left that it should have seen come in.
//! Records bound a gap, not times: what the clocks turn out to be does not matter.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::FixedState;

use super::clock::{Heading, Side};
use super::spool::{Kind, Note, Spool};

/// A time in which a point saw nothing, and the other one packets that did not come from there, or did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureGap {
    /// Numbers of the point's records before it and behind it, through all of its files.
    pub frames: (u64, u64),
    /// When these were seen, by the point's own clock, in ns.
    pub span_ns: (i64, i64),
    /// Packets that came in at the other point, and would have left here.
    pub not_left: u64,
    /// Packets that left at the other point, and would have come in here.
    pub not_come_in: u64,
    /// What it was.
    pub why: GapKind,
}

/// Why a point saw nothing for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GapKind {
    /// It is between two parts of the capture: what would have been seen then is undecided.
    BetweenParts,
    /// Packets of that time were seen that must have passed here: the capture missed them, and what would have been
    /// seen then is undecided.
    Missed,
    /// The capture is damaged there, and was repaired: what would have been seen then is undecided.
    Damaged,
    /// Nothing tells the capture from the path: what did not leave counts as dropped.
    Open,
}

impl GapKind {
    /// Whether it is one of the capture, so that nobody knows what passed.
    #[must_use]
    pub fn is_of_capture(self) -> bool {
        self != Self::Open
    }
}

/// Listens to two points that are walked side by side, for when one of them falls silent.
#[derive(Debug, Default)]
pub(super) struct Listener {
    points: [Heard; 2],
}

#[derive(Debug, Default)]
struct Heard {
    /// The latest packet: its record, and when.
    last: Option<(u64, i64)>,
    /// Usual time between two packets, in ns.
    pause_ns: i64,
    /// Packets of the other point since then, and the records of the first and the last of these.
    others: u64,
    of_others: (u64, u64),
    /// Records behind damage, those that have come left out.
    damaged: VecDeque<u64>,
    silences: Vec<Silence>,
}

/// A time in which a point saw nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Silence {
    frames: (u64, u64),
    span_ns: (i64, i64),
    /// Records of the other point meanwhile, first and last; these two in the wrong order where there are none.
    others: (u64, u64),
    /// Whether the capture is damaged there.
    is_damaged: bool,
}

impl Silence {
    fn length_ns(&self) -> i64 {
        self.span_ns.1.saturating_sub(self.span_ns.0)
    }
}

impl Listener {
    /// The next packet of both points is one of `point`.
    #[inline]
    pub(super) fn hear(&mut self, point: Side, frame: u64, at: i64) {
        let other = &mut self.points[point.other() as usize];
        other.others += 1;
        if other.others == 1 {
            other.of_others.0 = frame;
        }
        other.of_others.1 = frame;
        let last = other.last.map_or(0, |(frame, _)| frame);
        self.points[point as usize].hear(frame, at, last);
    }

    /// A point's capture is damaged before these records.
    pub(super) fn note_damage(&mut self, point: Side, records: Vec<u64>) {
        self.points[point as usize].damaged.extend(records);
    }

    /// The times in which a point was silent.
    pub(super) fn silences(&self, point: Side) -> &[Silence] {
        &self.points[point as usize].silences
    }
}

impl Heard {
    #[inline]
    fn hear(&mut self, frame: u64, at: i64, last_of_other: u64) {
        let is_damaged = self.damaged.front().is_some_and(|&behind| behind <= frame);
        while self.damaged.front().is_some_and(|&behind| behind <= frame) {
            self.damaged.pop_front();
        }
        if let Some((before, since)) = self.last.replace((frame, at)) {
            let pause_ns = at.saturating_sub(since);
            if is_damaged || self.others >= PACKETS_MIN && pause_ns >= PAUSE_MIN_NS {
                let none = (last_of_other + 1, last_of_other);
                self.fell_silent(Silence {
                    frames: (before, frame),
                    span_ns: (since, at),
                    others: if self.others > 0 {
                        self.of_others
                    } else {
                        none
                    },
                    is_damaged,
                });
            }
            self.pause_ns += pause_ns.saturating_sub(self.pause_ns) / PAUSES;
        }
        self.others = 0;
    }

    #[cold]
    fn fell_silent(&mut self, silence: Silence) {
        if silence.length_ns() / LONGER <= self.pause_ns && !silence.is_damaged {
            return;
        }
        if self.silences.len() == SILENCES_MAX {
            // The longest half stays, in order, and of damage all, as long as that is not most of them.
            let mut lengths: Vec<i64> = self.silences.iter().map(Silence::length_ns).collect();
            let (_, &mut middle, _) = lengths.select_nth_unstable(SILENCES_MAX / 2);
            let damaged = self.silences.iter().filter(|silence| silence.is_damaged);
            let keeps_damaged = damaged.count() <= SILENCES_MAX / 2;
            self.silences.retain(|silence| {
                silence.is_damaged && keeps_damaged || silence.length_ns() > middle
            });
        }
        self.silences.push(silence);
    }
}

/// The gaps of both captures, and what lies in them.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    points: [Vec<Gap>; 2],
}

/// A gap of one capture, and which packets of the other one lie in it.
#[derive(Debug)]
struct Gap {
    told: CaptureGap,
    is_damaged: bool,
    ways: [Within; 2],
}

/// Records of the other point between which packets of one way lie in a gap: behind the last packet that the silent
/// point saw before it, and before the first one that it saw behind it.
#[derive(Debug)]
struct Within {
    /// Records that were seen meanwhile: where nothing was found before the gap, or behind it, these count.
    meanwhile: Bounds,
    of_way: Bounds,
    of_flows: HashMap<u32, Bounds, FixedState>,
}

/// The last record before, and the first one behind.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    before: Option<u64>,
    behind: Option<u64>,
}

impl Bounds {
    fn narrow(&mut self, record: u64, is_before: bool) {
        if is_before {
            self.before = self.before.max(Some(record));
        } else {
            self.behind = Some(self.behind.map_or(record, |behind| behind.min(record)));
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            before: self.before.or(other.before),
            behind: self.behind.or(other.behind),
        }
    }

    fn has(self, record: u64) -> bool {
        self.before.is_none_or(|before| before < record)
            && self.behind.is_none_or(|behind| record < behind)
    }
}

impl Within {
    fn of((first, last): (u64, u64)) -> Self {
        Self {
            meanwhile: Bounds {
                before: first.checked_sub(1),
                behind: last.checked_add(1),
            },
            of_way: Bounds::default(),
            of_flows: HashMap::default(),
        }
    }

    /// A packet that was found at both points bounds it.
    fn bound(&mut self, flow: u32, record: u64, is_before: bool) {
        self.of_way.narrow(record, is_before);
        if self.of_flows.len() < FLOWS_MAX || self.of_flows.contains_key(&flow) {
            let of_flow = self.of_flows.entry(flow).or_default();
            of_flow.narrow(record, is_before);
        }
    }

    /// Whether a packet lies in it: between those of its flow, as each may have a queue of its own; where there is none
    /// of its flow, between those of all.
    fn has(&self, flow: u32, record: u64) -> bool {
        let of_flow = self.of_flows.get(&flow).copied().unwrap_or_default();
        of_flow.or(self.of_way).or(self.meanwhile).has(record)
    }

    /// Whether packets of a flow were found right before it and right behind it: so it takes this path.
    fn goes_through(&self, flow: u32) -> bool {
        let of_flow = self.of_flows.get(&flow);
        of_flow.is_some_and(|bounds| bounds.before.is_some() && bounds.behind.is_some())
    }
}

/// A packet that was seen at one point alone.
struct Alone {
    /// Where it was seen.
    point: Side,
    frame: u64,
    flow: u32,
    heading: Heading,
    kind: Kind,
}

/// What is known of a point beside its packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PointParts {
    /// Records up to the end of each of its files.
    pub(super) ends: Vec<u64>,
    /// Records before and behind gaps that another hop showed to be some of its capture.
    pub(super) gaps: Vec<(u64, u64)>,
}

impl PointParts {
    fn is_between_parts(&self, (before, behind): (u64, u64)) -> bool {
        let part = self.ends.partition_point(|&end| end < before);
        self.ends.get(part).is_some_and(|&end| end < behind)
    }
}

impl Gaps {
    /// The gaps of both captures, from what became of all packets.
    pub(super) fn find(
        spool: &Spool,
        headings: &[Option<Heading>],
        listener: &Listener,
        parts: &[PointParts; 2],
    ) -> Self {
        let mut gaps = Self::looked_at(spool, headings, listener);
        if gaps.is_empty() {
            return gaps;
        }
        for heading in [Heading::Forward, Heading::Reverse] {
            for note in of_way(spool, headings, heading) {
                if note.kind == Kind::Passed {
                    gaps.add_passed(&note, heading);
                }
            }
        }
        for alone in alone(spool, headings) {
            let silent = alone.point.other() as usize;
            for gap in &mut gaps.points[silent] {
                let within = &gap.ways[alone.heading as usize];
                if within.goes_through(alone.flow) && within.has(alone.flow, alone.frame) {
                    let count = match alone.kind {
                        Kind::Appeared => &mut gap.told.not_come_in,
                        Kind::Lost | Kind::Passed => &mut gap.told.not_left,
                    };
                    *count += 1;
                }
            }
        }
        for (of_point, parts) in gaps.points.iter_mut().zip(parts) {
            of_point.retain_mut(|gap| {
                let why = judge(&gap.told, gap.is_damaged, parts);
                gap.told.why = why.unwrap_or(GapKind::Open);
                why.is_some()
            });
        }
        gaps
    }

    /// Silences in which enough was seen at the other point alone, with nothing known of them yet.
    fn looked_at(spool: &Spool, headings: &[Option<Heading>], listener: &Listener) -> Self {
        let silences = Side::BOTH.map(|point| listener.silences(point));
        let mut counts = silences.map(|silences| vec![0_u64; silences.len()]);
        if counts.iter().all(Vec::is_empty) {
            return Self::default();
        }
        for alone in alone(spool, headings) {
            let silent = alone.point.other() as usize;
            let at = silences[silent].partition_point(|silence| silence.others.1 < alone.frame);
            if let Some(silence) = silences[silent].get(at)
                && silence.others.0 <= alone.frame
            {
                counts[silent][at] += 1;
            }
        }
        let points = [0, 1].map(|point| {
            let mut many: Vec<(u64, Silence)> = counts[point]
                .iter()
                .copied()
                .zip(silences[point].iter().copied())
                .filter(|(count, silence)| silence.is_damaged || *count >= PACKETS_MIN)
                .collect();
            many.sort_by_key(|(count, silence)| std::cmp::Reverse((silence.is_damaged, *count)));
            many.truncate(GAPS_MAX);
            many.sort_by_key(|(_, silence)| silence.frames);
            many.into_iter()
                .map(|(_, silence)| Gap::of(silence))
                .collect()
        });
        Self { points }
    }

    fn is_empty(&self) -> bool {
        self.points.iter().all(Vec::is_empty)
    }

    /// A packet was found at both points: it bounds the gaps before it and behind it.
    fn add_passed(&mut self, note: &Note, heading: Heading) {
        let came = note.seen_at();
        let seen = [
            (came, note.frame, note.left_frame),
            (came.other(), note.left_frame, note.frame),
        ];
        for (point, frame, other) in seen {
            let gaps = &mut self.points[point as usize];
            let next = gaps.partition_point(|gap| gap.told.frames.1 <= frame);
            if let Some(gap) = gaps.get_mut(next) {
                gap.ways[heading as usize].bound(note.flow, other, true);
            }
            if let Some(gap) = next.checked_sub(1).and_then(|last| gaps.get_mut(last)) {
                gap.ways[heading as usize].bound(note.flow, other, false);
            }
        }
    }

    /// The gap of the capture of `point` in which a packet of the other one lies, if it is one.
    pub(super) fn hides(&self, point: Side, note: &Note, heading: Heading) -> Option<&CaptureGap> {
        let gaps = self.points[point as usize].iter();
        gaps.filter(|gap| gap.told.why.is_of_capture())
            .find(|gap| gap.ways[heading as usize].has(note.flow, note.frame))
            .map(|gap| &gap.told)
    }

    /// What is told of those of a point, in order.
    pub(super) fn of_point(&self, point: Side) -> impl Iterator<Item = &CaptureGap> {
        self.points[point as usize].iter().map(|gap| &gap.told)
    }

    /// Those that are gaps of the point's capture.
    pub(super) fn of_captures(&self, point: Side) -> impl Iterator<Item = &CaptureGap> {
        let gaps = self.of_point(point);
        gaps.filter(|gap| gap.why.is_of_capture())
    }
}

impl Gap {
    fn of(silence: Silence) -> Self {
        Self {
            told: CaptureGap {
                frames: silence.frames,
                span_ns: silence.span_ns,
                not_left: 0,
                not_come_in: 0,
                why: GapKind::Open,
            },
            is_damaged: silence.is_damaged,
            ways: [Within::of(silence.others), Within::of(silence.others)],
        }
    }
}

/// What a silence was; `None` where too little was seen meanwhile. A link that was down lets nothing through either,
/// but then nothing comes from there.
fn judge(gap: &CaptureGap, is_damaged: bool, parts: &PointParts) -> Option<GapKind> {
    let all = gap.not_left + gap.not_come_in;
    if is_damaged {
        (all > 0).then_some(GapKind::Damaged)
    } else if gap.not_come_in >= PACKETS_MIN || all > 0 && parts.gaps.contains(&gap.frames) {
        Some(GapKind::Missed)
    } else if parts.is_between_parts(gap.frames) && all >= PACKETS_MIN {
        Some(GapKind::BetweenParts)
    } else {
        (gap.not_left >= OPEN_MIN).then_some(GapKind::Open)
    }
}

/// The gaps that one hop showed a capture to have, and that are open in another one, by the records before and behind
/// them there.
pub(super) fn told(shown: &[CaptureGap], here: &[CaptureGap]) -> Vec<(u64, u64)> {
    let missed = shown.iter().filter(|gap| gap.why == GapKind::Missed);
    let is_shown = |gap: &&CaptureGap| {
        let mut missed = missed.clone();
        missed.any(|shown| shown.frames == gap.frames)
    };
    let open = here.iter().filter(|gap| gap.why != GapKind::Missed);
    open.filter(is_shown).map(|gap| gap.frames).collect()
}

/// The notes of a way.
fn of_way<'a>(
    spool: &'a Spool,
    headings: &'a [Option<Heading>],
    heading: Heading,
) -> impl Iterator<Item = Note> + 'a {
    let notes = spool.notes(heading);
    notes.filter(move |note| note.heading(headings) == heading)
}

/// All packets that were seen at one point alone.
fn alone<'a>(
    spool: &'a Spool,
    headings: &'a [Option<Heading>],
) -> impl Iterator<Item = Alone> + 'a {
    [Heading::Forward, Heading::Reverse]
        .into_iter()
        .flat_map(move |heading| {
            let notes = of_way(spool, headings, heading);
            let notes = notes.filter(|note| note.kind != Kind::Passed);
            notes.map(move |note| Alone {
                point: note.seen_at(),
                frame: note.frame,
                flow: note.flow,
                heading,
                kind: note.kind_of(heading),
            })
        })
}

/// Packets from which on a silence is looked at, and taken for a gap of the capture.
const PACKETS_MIN: u64 = 16;

/// Packets that nobody saw leave from which on a silence is told that nothing explains.
const OPEN_MIN: u64 = 100;

/// A silence lasts so long at least, in ns.
const PAUSE_MIN_NS: i64 = 1_000_000;

/// How many times longer than usual a silence is.
const LONGER: i64 = 8;

/// The usual pause is a mean of about so many.
const PAUSES: i64 = 16;

/// Silences of one point that are noted, of which with more the longest are kept.
const SILENCES_MAX: usize = 1 << 12;

/// Gaps of one point that are told: those with the most packets.
pub(super) const GAPS_MAX: usize = 64;

/// Flows of which is noted what was found before and behind a gap; the others are told by those of all.
const FLOWS_MAX: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet every second, with damage before each: all silences are of damage.
    #[test]
    fn as_many_silences_are_kept_whatever_is_damaged() {
        let mut listener = Listener::default();
        let places = 4 * SILENCES_MAX as u64;
        listener.note_damage(Side::First, (0..places).collect());
        for frame in 0..places {
            // Pauses of many lengths.
            let at = frame.cast_signed() * 1_000_000_000 + (frame % 7).cast_signed() * 1000;
            listener.hear(Side::First, frame, at);
        }
        let silences = listener.silences(Side::First).len();
        assert!((1..=SILENCES_MAX).contains(&silences), "{silences}");
    }
}
