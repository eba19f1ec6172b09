//! Clocks and links, from what became of all packets (METRICS.md B2, B5).

use super::clock::{Clock, ClockChoice, ClockEstimate, Heading, Side};
use super::envelope::Envelopes;
use super::idle::IdleDelays;
use super::jitter;
use super::link::{Dispersion, Link, Passed, TapPlace, sending_ns};
use super::probe::TOLERANCE_NS;
use super::spool::{Kind, Note, Signs, Spool};
use super::steps::{self, Matched, Steps};
use super::threads;
use crate::decode::FULL_PACKET_LEN;

/// What must be known before queues and delays can be told.
#[derive(Clone, Debug, Default)]
pub(super) struct Calibration {
    /// The second clock against the first, as far as can be said.
    pub(super) estimate: Option<ClockEstimate>,
    /// Whether the clocks are corrected.
    is_fixed: bool,
    /// The correction: none where the clocks are believed.
    pub(super) clock: Clock,
    /// Where they were set, and that was found packet by packet; `clock` is without it.
    pub(super) steps: Steps,
    /// The links forward and back.
    pub(super) links: [Link; 2],
    /// What sending takes before packets are stamped, on the ways forward and back.
    ns_per_byte: [f64; 2],
    /// What left so long before it came in, in ns, is another packet, on the ways forward and back.
    early_ns: [i64; 2],
    /// Rates of the links forward and back.
    pub(super) rates_bps: [Option<f64>; 2],
    /// Delays of the way forward or back change whatever is ahead of packets: no queue with a rate.
    pub(super) has_jitter: [bool; 2],
}

impl Calibration {
    /// What sending a full packet takes on the way forward (0) or back (1), in ns; 0 where no rate
    /// is known.
    pub(super) fn sending_ns(&self, way: usize) -> f64 {
        self.rates_bps[way].map_or(0.0, |bps| sending_ns(FULL_PACKET_LEN, bps))
    }

    /// The times of a note by the first point's clock.
    #[inline]
    pub(super) fn passed(&self, note: &Note) -> Passed {
        let came = note.seen_at();
        let left = came.other();
        let before = |at: i64| {
            self.by_clock(
                left,
                at.saturating_sub(self.steps.by_ns_before(left, note.left_frame)),
            )
        };
        Passed {
            at: self.aligned(came, note.at, note.frame),
            left_at: self.aligned(left, note.left_at, note.left_frame),
            left_before: note.left_before.map(before),
        }
    }

    /// The time that a point gives to a record, by the first point's clock.
    #[inline]
    pub(super) fn aligned(&self, point: Side, at: i64, frame: u64) -> i64 {
        self.by_clock(point, at.saturating_sub(self.steps.by_ns(point, frame)))
    }

    /// The first and the last time of a point, by the first point's clock.
    pub(super) fn aligned_span(&self, point: Side, (first, last): (i64, i64)) -> (i64, i64) {
        let last = last.saturating_sub(self.steps.by_ns_at_end(point));
        (self.by_clock(point, first), self.by_clock(point, last))
    }

    /// A time of a point, but for what its clock was set by, by the first point's clock.
    #[inline]
    pub(super) fn by_clock(&self, point: Side, at: i64) -> i64 {
        match point {
            Side::First => at,
            Side::Second => self.clock.aligned(at),
        }
    }

    /// Whether a packet that may be another left earlier before it came in than any that tells of the clocks.
    pub(super) fn left_too_early(&self, note: &Note, heading: Heading, delay_ns: i64) -> bool {
        note.has.has(Signs::QUICK) && delay_ns < -self.early_ns[heading as usize]
    }

    /// What left so long before another packet came in, in ns, is not that one, by the way; where the clocks are the
    /// same all the time.
    pub(super) fn early_ns(&self) -> Option<[i64; 2]> {
        let estimate = self.estimate.as_ref()?;
        estimate.steps.is_empty().then_some(self.early_ns)
    }

    /// The same links with the clocks as they show themselves by now.
    pub(super) fn with_clock(&self, envelopes: &Envelopes, choice: ClockChoice) -> Self {
        // What contradicted itself until a step was found does so without it.
        let fix = self.is_fixed || are_wrong(envelopes, choice);
        let mut estimate = if fix {
            envelopes.estimate(self.ns_per_byte)
        } else {
            envelopes.estimate_evenly(self.ns_per_byte)
        };
        if let Some(estimate) = &mut estimate {
            estimate.steps.extend(self.steps.told());
            estimate.pieces += self.steps.told().count();
            let uncertainty = &mut estimate.uncertainty_ns;
            *uncertainty = uncertainty.map(|ns| ns + self.steps.uncertainty_ns());
        }
        let clock = estimate.as_ref().filter(|_| fix);
        Self {
            is_fixed: fix,
            clock: clock.map_or_else(Clock::default, |estimate| estimate.clock.clone()),
            estimate,
            ..self.clone()
        }
    }
}

/// Whether clocks are to be corrected.
fn are_wrong(envelopes: &Envelopes, choice: ClockChoice) -> bool {
    match choice {
        ClockChoice::Keep => false,
        ClockChoice::Fix => true,
        ClockChoice::Auto => !envelopes.agree(TOLERANCE_NS),
    }
}

/// Finds clocks and links, and the envelopes without what clocks were set by. `headings` are those
/// of the flows, by number; `ran_back` is whether a point dated a record much earlier than one before.
pub(super) fn calibrate(
    spool: &Spool,
    headings: &[Option<Heading>],
    envelopes: Envelopes,
    ran_back: bool,
    choice: ClockChoice,
    capacity_bps: Option<f64>,
) -> (Calibration, Envelopes) {
    let is_fixed = are_wrong(&envelopes, choice);
    // Long captures are searched only where something else tells that a clock was set.
    let (steps, envelopes) = Some(Matched { spool, headings })
        .filter(|_| is_fixed && (spool.is_short() || ran_back || envelopes.seem_uneven()))
        .and_then(steps::find)
        .unwrap_or_else(|| (Steps::default(), envelopes));
    let start = Calibration {
        is_fixed,
        steps,
        ..Calibration::default()
    };
    // The clocks tell which packets found the link idle, and what sending takes tells the clocks.
    let mut found = start.with_clock(&envelopes, choice);
    // As long as the transit is not known, it is what the quickest packet took: with less, all that come while the one
    // before is still on a long way would seem to wait, and the times between them to be a link's.
    found.links = quickest_ns(spool, headings, &found).map(|transit_ns| Link {
        transit_ns,
        ..Link::default()
    });
    for _ in 0..ROUNDS {
        let fixed = found.clock != Clock::default();
        let ways = measure(spool, headings, &found);
        let given = [capacity_bps, None];
        let rates = [0, 1].map(|at: usize| given[at].or_else(|| ways[at].rate_bps()));
        let links = links_of(&ways, given, rates, fixed);
        found.links = links;
        found.rates_bps = rates;
        for (at, heading) in [Heading::Forward, Heading::Reverse].into_iter().enumerate() {
            let is_uneven = given[at].is_none() && ways[at].dispersion.served().is_uneven();
            found.has_jitter[at] =
                is_uneven && !jitter::goes_with_backlog(spool, headings, &found, heading);
            if found.has_jitter[at] {
                found.rates_bps[at] = None;
                found.links[at] = ways[at].idle.link(None, None, 0);
            }
        }
        found.ns_per_byte =
            [0, 1].map(|at: usize| ways[at].ns_per_byte(links[at].tap, found.rates_bps[at]));
        found = found.with_clock(&envelopes, choice);
    }
    found.early_ns =
        quickest_ns(spool, headings, &found).map(|ns| TOLERANCE_NS.saturating_sub(ns.min(0)));
    (found, envelopes)
}

/// The links by what shows them and their rates, of which some are `given`; `fixed`: the clocks are corrected.
fn links_of(
    ways: &[WayShown; 2],
    given: [Option<f64>; 2],
    rates: [Option<f64>; 2],
    fixed: bool,
) -> [Link; 2] {
    let link = |at: usize, apart_ns| {
        let quick = ways[at].dispersion.served().quick_bps();
        let quick = quick.filter(|_| given[at].is_none());
        ways[at].idle.link(rates[at], quick, apart_ns)
    };
    let mut links = [0, 1].map(|at| link(at, 0));
    for at in [0, 1] {
        // What the clocks took from the delays of one way they added to those of the other.
        let other = 1 - at;
        let apart = rates[other]
            .filter(|_| fixed)
            .and_then(|bps| ways[other].idle.least_ns(&links[other], bps));
        links[at] = link(at, apart.unwrap_or(0));
    }
    links
}

/// What shows the link of one way.
#[derive(Default)]
struct WayShown {
    idle: IdleDelays,
    dispersion: Dispersion,
    span: Option<(i64, i64)>,
}

impl WayShown {
    /// What sending takes that is in the delays: nothing where the tap is before the link.
    fn ns_per_byte(&self, tap: TapPlace, rate_bps: Option<f64>) -> f64 {
        match (tap, rate_bps) {
            (TapPlace::AfterLink, Some(bps)) => {
                let quick = self.dispersion.served().quick_ns_per_byte();
                quick.map_or(8e9 / bps, |quick| quick.min(8e9 / bps))
            }
            _ => 0.0,
        }
    }

    fn rate_bps(&self) -> Option<f64> {
        let (first, last) = self.span?;
        let served = self.dispersion.served();
        served.rate_bps(last.saturating_sub(first))
    }
}

fn measure(spool: &Spool, headings: &[Option<Heading>], known: &Calibration) -> [WayShown; 2] {
    of_both(|heading| measure_way(spool, headings, known, heading))
}

/// What the quickest packet of each way took, in ns; 0 without packets.
fn quickest_ns(spool: &Spool, headings: &[Option<Heading>], known: &Calibration) -> [i64; 2] {
    of_both(|heading| {
        let all = passed(spool, headings, known, heading);
        let delays = all.map(|(_, passed)| passed.left_at.saturating_sub(passed.at));
        delays.min().unwrap_or(0)
    })
}

/// The same of the way forward and of the way back.
fn of_both<T: Send>(of_way: impl Fn(Heading) -> T + Sync) -> [T; 2] {
    threads::both(|| of_way(Heading::Forward), || of_way(Heading::Reverse)).into()
}

/// Lengths and times of the packets that passed one way, but for those of which the clocks do not tell when.
fn passed<'a>(
    spool: &'a Spool,
    headings: &'a [Option<Heading>],
    known: &'a Calibration,
    heading: Heading,
) -> impl Iterator<Item = (u32, Passed)> + 'a {
    let notes = spool.notes(heading);
    let notes = notes.filter(|note| note.kind == Kind::Passed && !note.has.has(Signs::QUICK));
    notes.filter_map(move |note| {
        let by_second = match note.seen_at() {
            Side::First => note.left_at,
            Side::Second => note.at,
        };
        let counts = note.heading(headings) == heading && !known.clock.is_unsure(by_second);
        counts.then(|| (note.ip_len, known.passed(&note)))
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
    for (ip_len, passed) in passed(spool, headings, known, heading) {
        let (first, last) = way.span.unwrap_or((passed.at, passed.at));
        way.span = Some((first.min(passed.at), last.max(passed.left_at)));
        way.idle.see(ip_len, &passed);
        way.dispersion.see(ip_len, &passed, link);
    }
    way
}

/// The first without knowing what sending takes, the second with the links as the first shows them.
const ROUNDS: usize = 2;
