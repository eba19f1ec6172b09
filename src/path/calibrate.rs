//! Clocks and links, from what became of all packets (METRICS.md B2, B5).

use std::thread;

use super::clock::{Clock, ClockChoice, ClockEstimate, Heading};
use super::envelope::Envelopes;
use super::link::{IdleDelays, Link, Passed, Served, TapPlace, sending_ns};
use super::probe::TOLERANCE_NS;
use super::spool::{Kind, Note, Signs, Spool};

/// What must be known before queues and delays can be told.
#[derive(Clone, Debug, Default)]
pub(super) struct Calibration {
    /// The second clock against the first, as far as can be said.
    pub(super) estimate: Option<ClockEstimate>,
    /// The correction: none where the clocks are believed.
    pub(super) clock: Clock,
    /// The links forward and back.
    pub(super) links: [Link; 2],
    /// What sending takes before packets are stamped, on the ways forward and back.
    ns_per_byte: [f64; 2],
    /// Rates of the links forward and back.
    rates_bps: [Option<f64>; 2],
}

impl Calibration {
    /// What sending a full packet takes on the way forward (0) or back (1), in ns; 0 where no rate
    /// is known.
    pub(super) fn sending_ns(&self, way: usize) -> f64 {
        self.rates_bps[way].map_or(0.0, |bps| sending_ns(FULL_PACKET, bps))
    }

    /// The same links with the clocks as they show themselves by now.
    pub(super) fn with_clock(&self, envelopes: &Envelopes, choice: ClockChoice) -> Self {
        let fix = match choice {
            ClockChoice::Keep => false,
            ClockChoice::Fix => true,
            ClockChoice::Auto => !envelopes.agree(TOLERANCE_NS),
        };
        let estimate = if fix {
            envelopes.estimate(self.ns_per_byte)
        } else {
            envelopes.estimate_evenly(self.ns_per_byte)
        };
        let clock = estimate.as_ref().filter(|_| fix);
        Self {
            clock: clock.map_or_else(Clock::default, |estimate| estimate.clock.clone()),
            estimate,
            ..self.clone()
        }
    }
}

/// Finds clocks and links. `headings` are those of the flows, by number.
pub(super) fn calibrate(
    spool: &Spool,
    headings: &[Option<Heading>],
    envelopes: &Envelopes,
    choice: ClockChoice,
    capacity_bps: Option<f64>,
) -> Calibration {
    // The clocks tell which packets found the link idle, and what sending takes tells the clocks.
    let mut found = Calibration::default().with_clock(envelopes, choice);
    for _ in 0..ROUNDS {
        let fixed = found.clock != Clock::default();
        let ways = measure(spool, headings, &found);
        let rates = [capacity_bps, None];
        let rates = [0, 1].map(|at: usize| rates[at].or_else(|| ways[at].rate_bps()));
        let mut links = [0, 1].map(|at: usize| ways[at].idle.link(rates[at], 0));
        for at in [0, 1] {
            // What the clocks took from the delays of one way they added to those of the other.
            let other = 1 - at;
            let apart = rates[other]
                .filter(|_| fixed)
                .and_then(|bps| ways[other].idle.least_ns(&links[other], bps));
            links[at] = ways[at].idle.link(rates[at], apart.unwrap_or(0));
        }
        found.links = links;
        found.rates_bps = rates;
        found.ns_per_byte = [0, 1].map(|at: usize| match (links[at].tap, rates[at]) {
            (TapPlace::AfterLink, Some(bps)) => {
                let quick = ways[at].served.quick_ns_per_byte();
                quick.map_or(8e9 / bps, |quick| quick.min(8e9 / bps))
            }
            _ => 0.0,
        });
        found = found.with_clock(envelopes, choice);
    }
    found
}

/// What shows the link of one way.
#[derive(Default)]
struct WayShown {
    idle: IdleDelays,
    served: Served,
    span: Option<(i64, i64)>,
}

impl WayShown {
    fn rate_bps(&self) -> Option<f64> {
        let (first, last) = self.span?;
        self.served.rate_bps(last.saturating_sub(first))
    }
}

fn measure(spool: &Spool, headings: &[Option<Heading>], known: &Calibration) -> [WayShown; 2] {
    let of_way = |heading| measure_way(spool, headings, known, heading);
    thread::scope(|scope| {
        let back = scope.spawn(|| of_way(Heading::Reverse));
        let forward = of_way(Heading::Forward);
        // It has no reason to panic; if it does, nothing shows the link back.
        [forward, back.join().unwrap_or_default()]
    })
}

fn measure_way(
    spool: &Spool,
    headings: &[Option<Heading>],
    known: &Calibration,
    heading: Heading,
) -> WayShown {
    let mut way = WayShown::default();
    let link = &known.links[heading as usize];
    for note in spool.notes().filter(|note| note.kind == Kind::Passed) {
        let of_note = headings.get(note.flow as usize).copied().flatten();
        if of_note.unwrap_or(Heading::Forward) != heading {
            continue;
        }
        let came_at_second = note.has.has(Signs::AT_SECOND);
        if known.clock.is_unsure(if came_at_second {
            note.at
        } else {
            note.left_at
        }) {
            continue;
        }
        let passed = passed(&note, &known.clock);
        let (first, last) = way.span.unwrap_or((passed.at, passed.at));
        way.span = Some((first.min(passed.at), last.max(passed.left_at)));
        if let Some(ns) = passed.idle_ns() {
            way.idle.add(note.ip_len, ns);
        } else if let Some(ns) = passed.served_ns(link) {
            way.served.add(note.ip_len, ns);
        }
    }
    way
}

/// The times of a note by the first point's clock.
#[inline]
pub(super) fn passed(note: &Note, clock: &Clock) -> Passed {
    let came_at_second = note.has.has(Signs::AT_SECOND);
    let by_clock = |at: i64, at_second: bool| if at_second { clock.aligned(at) } else { at };
    Passed {
        at: by_clock(note.at, came_at_second),
        left_at: by_clock(note.left_at, !came_at_second),
        left_before: note
            .left_before
            .map(|before| by_clock(before, !came_at_second)),
    }
}

/// The first without knowing what sending takes, the second with the links as the first shows them.
const ROUNDS: usize = 2;

/// IP bytes of a usual full packet.
const FULL_PACKET: u32 = 1500;
