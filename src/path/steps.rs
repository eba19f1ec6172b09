//! Clocks that were set while packets were captured, found packet by packet (METRICS.md B2).
//!
//! A clock is set between two records of its capture: from the later one on, all that this capture
//! dates is later by the same time. Of packets that go forward and of those that go back, the last
//! one before and the first one behind show it alike in the differences of their two times; a queue
//! that grows or a machine that stands still makes delays longer, which moves these differences
//! apart. So the place is exact to the packet, and the size to what delays change from one packet
//! to the next.

mod place;

use std::collections::VecDeque;

use super::clock::{ClockStep, Heading, Side};
use super::envelope::Envelopes;
use super::spool::{Kind, Note, Notes, Signs, Spool};
use place::{Found, Met, most, remainder};

pub(super) use place::{NEAR_NS, STEP_MIN_NS};

/// Where the clocks of two points were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Steps {
    /// By point, in the order of their records.
    of: [Vec<Step>; 2],
}

/// A clock was set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// The first record behind it.
    frame: u64,
    /// When that was, by the clock as it was set.
    at: i64,
    /// By how much it was put forward, in ns.
    by_ns: i64,
    /// By how much by then with all steps before it, in ns.
    in_all_ns: i64,
    /// How far the delays that show it change by themselves, in ns.
    unsteady_ns: i64,
    /// Record of the first packet that left here behind it.
    first_left: u64,
}

impl Steps {
    pub(super) fn is_empty(&self) -> bool {
        self.of.iter().all(Vec::is_empty)
    }

    /// How much later than without any step a point dates a record, in ns.
    #[inline]
    pub(super) fn by_ns(&self, point: Side, frame: u64) -> i64 {
        let steps = &self.of[point as usize];
        if steps.is_empty() {
            return 0;
        }
        let behind = steps.partition_point(|step| step.frame <= frame);
        behind.checked_sub(1).map_or(0, |at| steps[at].in_all_ns)
    }

    /// The same of the packet that left a point before that of a record.
    pub(super) fn by_ns_before(&self, point: Side, frame: u64) -> i64 {
        let mut steps = self.of[point as usize].iter();
        match steps.find(|step| step.first_left == frame) {
            Some(step) => step.in_all_ns - step.by_ns,
            None => self.by_ns(point, frame),
        }
    }

    /// The same at the end of a capture.
    pub(super) fn by_ns_at_end(&self, point: Side) -> i64 {
        self.by_ns(point, u64::MAX)
    }

    /// For those who want to know, in the order of their points and times.
    pub(super) fn told(&self) -> impl Iterator<Item = ClockStep> + '_ {
        [0, 1].into_iter().flat_map(|point| {
            self.of[point].iter().map(move |step| ClockStep {
                point,
                at_ns: step.at,
                by_ns: step.by_ns as f64,
            })
        })
    }

    /// How far times may be off because of it that the clocks were set, in ns.
    pub(super) fn uncertainty_ns(&self) -> f64 {
        let all = self.of.iter().flatten();
        all.map(|step| step.unsteady_ns).sum::<i64>() as f64
    }

    fn add(&mut self, found: &Found) {
        let steps = &mut self.of[found.point as usize];
        steps.push(Step {
            frame: found.frame,
            at: found.at,
            by_ns: found.by_ns(),
            in_all_ns: 0,
            unsteady_ns: 0,
            first_left: u64::MAX,
        });
        steps.sort_by_key(|step| step.frame);
        self.sum_up();
    }

    /// Measures by how much the clocks were set; one gains so much on the other.
    fn measure(&mut self, matched: Matched<'_>, drift: f64) {
        for point in Side::BOTH {
            for at in 0..self.of[point as usize].len() {
                let frame = self.of[point as usize][at].frame;
                let packets = InOrder::new(matched, self, point, drift);
                let Some((beyond, unsteady_ns)) = remainder(point, frame, packets) else {
                    continue;
                };
                let step = &mut self.of[point as usize][at];
                step.by_ns += beyond;
                step.unsteady_ns = unsteady_ns;
                self.sum_up();
            }
        }
    }

    /// Forgets what was found where it is no step when it is measured.
    fn forget(&mut self, found: &Found) -> bool {
        let steps = &mut self.of[found.point as usize];
        let before = steps.len();
        steps.retain(|step| step.frame != found.frame || step.by_ns.abs() >= STEP_MIN_NS);
        let is_less = steps.len() < before;
        self.sum_up();
        is_less
    }

    fn sum_up(&mut self) {
        for steps in &mut self.of {
            let mut in_all = 0;
            for step in steps {
                in_all += step.by_ns;
                step.in_all_ns = in_all;
            }
        }
    }
}

/// Packets that were found at both points, and which way flows go.
#[derive(Clone, Copy)]
pub(super) struct Matched<'a> {
    pub(super) spool: &'a Spool,
    pub(super) headings: &'a [Option<Heading>],
}

/// Finds where the clocks were set, and the envelopes of raw delays as they were without it; `None`
/// where they were not.
pub(super) fn find(matched: Matched<'_>) -> Option<(Steps, Envelopes)> {
    let mut steps = Steps::default();
    for _ in 0..STEPS_MAX {
        let [first, second] = Side::BOTH.map(|point| {
            let packets = InOrder::new(matched, &steps, point, 0.0);
            most(point, packets)
        });
        let Some(found) = better(first, second) else {
            break;
        };
        steps.add(&found);
        steps.measure(matched, 0.0);
        if steps.forget(&found) {
            break;
        }
    }
    if steps.is_empty() {
        return None;
    }
    // What drift adds between the packets that show a step.
    let even = matched.envelopes(&steps).estimate_evenly([0.0; 2]);
    steps.measure(matched, even.map_or(0.0, |estimate| estimate.clock.drift));
    for point in Side::BOTH {
        for step in &mut steps.of[point as usize] {
            step.first_left = matched.first_left(point, step.frame);
        }
    }
    let envelopes = matched.envelopes(&steps);
    Some((steps, envelopes))
}

impl Matched<'_> {
    /// Those of one way, then those of the other. What was of neither when it was noted is there
    /// twice: nothing that passed.
    fn notes(&self) -> impl Iterator<Item = Note> + '_ {
        let ways = [Heading::Forward, Heading::Reverse];
        ways.into_iter().flat_map(|way| self.spool.notes(way))
    }

    /// The smallest raw delays, as they were if no clock had been set.
    fn envelopes(&self, steps: &Steps) -> Envelopes {
        let mut envelopes = Envelopes::default();
        let tells = |note: &Note| note.kind == Kind::Passed && !note.has.has(Signs::QUICK);
        for note in self.notes().filter(tells) {
            let [first, second] = sightings(&note)
                .map(|(point, at, frame)| at.saturating_sub(steps.by_ns(point, frame)));
            let raw = second.saturating_sub(first);
            envelopes.add(note.heading(self.headings), second, raw, note.ip_len);
        }
        envelopes
    }

    /// Record of the first packet that left a point from a record on.
    fn first_left(&self, point: Side, frame: u64) -> u64 {
        let left = self.notes().filter_map(|note| match note.kind {
            Kind::Passed => Some((note.seen_at().other(), note.left_frame)),
            Kind::Appeared => Some((note.seen_at(), note.frame)),
            Kind::Lost => None,
        });
        let behind = left.filter(|&(at, left)| at == point && left >= frame);
        behind.map(|(_, left)| left).min().unwrap_or(u64::MAX)
    }
}

/// Point, time and record of a packet at the first and at the second point.
fn sightings(note: &Note) -> [(Side, i64, u64); 2] {
    let came = (note.seen_at(), note.at, note.frame);
    let left = (note.seen_at().other(), note.left_at, note.left_frame);
    match note.seen_at() {
        Side::First => [came, left],
        Side::Second => [left, came],
    }
}

/// Packets in the order of the records of a point.
struct InOrder<'a> {
    ways: [Stream<'a>; 2],
}

/// Those of one way, some of which left in another order than they came.
struct Stream<'a> {
    notes: Notes<'a>,
    matched: Matched<'a>,
    steps: &'a Steps,
    point: Side,
    way: Heading,
    drift: f64,
    /// The next ones, in order.
    waiting: VecDeque<Met>,
}

impl<'a> InOrder<'a> {
    fn new(matched: Matched<'a>, steps: &'a Steps, point: Side, drift: f64) -> Self {
        Self {
            ways: [Heading::Forward, Heading::Reverse].map(|way| Stream {
                notes: matched.spool.notes(way),
                matched,
                steps,
                point,
                way,
                drift,
                waiting: VecDeque::new(),
            }),
        }
    }
}

impl Stream<'_> {
    fn fill(&mut self) {
        // Where packets come in they are in the order of time, and mostly in that of records.
        while self.waiting.len() < REORDERED_MAX {
            let Some(note) = self.notes.next() else {
                return;
            };
            let is_sure = note.kind == Kind::Passed && !note.has.has(Signs::UNCERTAIN);
            if !is_sure || note.heading(self.matched.headings) != self.way {
                continue;
            }
            let seen = sightings(&note);
            let [first, second] =
                seen.map(|(point, at, frame)| at.saturating_sub(self.steps.by_ns(point, frame)));
            let (_, _, frame) = seen[self.point as usize];
            let drifted = (second as f64 * self.drift) as i64;
            let raw = second.saturating_sub(first).saturating_sub(drifted);
            let met = Met {
                frame,
                at: [first, second][self.point as usize],
                raw: raw.clamp(-APART_MAX_NS, APART_MAX_NS),
                way: self.way as usize,
                is_quick: note.has.has(Signs::QUICK),
            };
            let place = match self.waiting.back() {
                Some(last) if last.frame > frame => {
                    self.waiting.partition_point(|before| before.frame <= frame)
                }
                _ => self.waiting.len(),
            };
            self.waiting.insert(place, met);
        }
    }
}

impl Iterator for InOrder<'_> {
    type Item = Met;

    fn next(&mut self) -> Option<Met> {
        self.ways.iter_mut().for_each(Stream::fill);
        let first = |way: usize| self.ways[way].waiting.front().map(|next| next.frame);
        let way = match (first(0), first(1)) {
            (None, None) => return None,
            (Some(forward), Some(back)) => usize::from(back < forward),
            (None, Some(_)) => 1,
            (Some(_), None) => 0,
        };
        self.ways[way].waiting.pop_front()
    }
}

/// The likelier of two: the one that shows it more; the second, where both do alike.
fn better(first: Option<Found>, second: Option<Found>) -> Option<Found> {
    let (Some(one), Some(other)) = (first, second) else {
        return first.or(second);
    };
    Some(if one.shown_ns > other.shown_ns {
        one
    } else {
        other
    })
}

/// Steps of both clocks.
const STEPS_MAX: usize = 16;
/// Packets that leave in another order than they came, at most.
const REORDERED_MAX: usize = 1 << 12;
/// Differences are taken to be no larger than this, in ns: two years.
const APART_MAX_NS: i64 = 1 << 56;
