//! The clocks of two points against each other (METRICS.md B2).
//!
//! A packet's raw delay is its time at the second point minus that at the first, each by its own
//! clock: the delay plus the clocks' offset. Packets that go the other way have the offset minus
//! their delay. So the offset lies above all the one and below all the other; how far the
//! smallest of each are apart bounds the error.

use super::bends::Piece;

/// How the second point's clock runs against the first's.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Clock {
    /// By how much it is ahead at `origin_ns`, in ns.
    pub offset_ns: f64,
    /// By how much it gains, in seconds a second: 0.000050 is 50 ppm. Where it does not gain evenly,
    /// from the first packet to the last, without what it was set by.
    pub drift: f64,
    /// Instant by the second clock at which `offset_ns` holds, in ns.
    pub origin_ns: i64,
    /// Where it does not gain evenly, how far ahead it is at some instants; evenly between two.
    knots: Vec<Knot>,
    /// From and until when it is not known of each packet whether it came before or after the clock
    /// was set.
    unsure: Vec<(i64, i64)>,
}

/// An instant by the second clock, and how far it is ahead then, both in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    at: i64,
    ahead_ns: f64,
    /// How much more it is ahead for each ns until the next such instant.
    slope: f64,
}

impl Knot {
    fn new(at: i64, ahead_ns: f64) -> Self {
        Self {
            at,
            ahead_ns,
            slope: 0.0,
        }
    }
}

impl Clock {
    /// A clock that gains evenly.
    pub(super) fn even(offset_ns: f64, drift: f64, origin_ns: i64) -> Self {
        Self {
            offset_ns,
            drift,
            origin_ns,
            ..Self::default()
        }
    }

    /// A clock that gains evenly in each of several pieces.
    pub(super) fn of_pieces(pieces: &[Piece], origin_ns: i64) -> Self {
        let mut clock = Self::default();
        let mut set_by = 0.0;
        for (index, piece) in pieces.iter().enumerate() {
            let ahead = piece.line.ahead_ns(piece.from, origin_ns);
            let before = index
                .checked_sub(1)
                .map(|before| pieces[before].line.ahead_ns(piece.from, origin_ns));
            let ahead_ns = match before {
                Some(before) if piece.is_set => {
                    let just_before = piece.from.saturating_sub(1);
                    clock.knots.push(Knot::new(just_before, before));
                    set_by += ahead - before;
                    let by = (ahead - before).abs() as i64;
                    let unsure = (piece.from.saturating_sub(by), piece.from.saturating_add(by));
                    clock.unsure.push(unsure);
                    ahead
                }
                Some(before) => f64::midpoint(before, ahead),
                None => ahead,
            };
            clock.knots.push(Knot::new(piece.from, ahead_ns));
        }
        if let Some(last) = pieces.last() {
            let ahead_ns = last.line.ahead_ns(last.to, origin_ns);
            clock.knots.push(Knot::new(last.to, ahead_ns));
        }
        for at in 1..clock.knots.len() {
            let [one, other] = [clock.knots[at - 1], clock.knots[at]];
            let length = other.at.saturating_sub(one.at).max(1) as f64;
            clock.knots[at - 1].slope = (other.ahead_ns - one.ahead_ns) / length;
        }
        if let (Some(first), Some(last)) = (clock.knots.first(), clock.knots.last()) {
            let duration = last.at.saturating_sub(first.at).max(1) as f64;
            clock.drift = (last.ahead_ns - first.ahead_ns - set_by) / duration;
            (clock.offset_ns, clock.origin_ns) = (first.ahead_ns, first.at);
        }
        clock
    }

    /// A time of the second clock as the first would have shown it.
    #[inline]
    #[must_use]
    pub fn aligned(&self, at: i64) -> i64 {
        if self.offset_ns == 0.0 && self.drift == 0.0 && self.knots.is_empty() {
            return at;
        }
        let ahead = self.ahead_ns(at);
        at.saturating_sub((ahead + 0.5_f64.copysign(ahead)) as i64)
    }

    /// Whether a packet that is dated so may have come before or after the clock was set.
    #[inline]
    pub(super) fn is_unsure(&self, at: i64) -> bool {
        self.unsure
            .iter()
            .any(|&(from, until)| (from..=until).contains(&at))
    }

    /// How far two clocks are apart at most, between two instants, in ns; 0 without these.
    pub(super) fn differs_ns(&self, other: &Self, span: Option<(i64, i64)>) -> f64 {
        let Some((first, last)) = span else {
            return 0.0;
        };
        let knots = self.knots.iter().chain(&other.knots);
        let knots = knots.map(|knot| knot.at.clamp(first, last));
        [first, last]
            .into_iter()
            .chain(knots)
            .map(|at| (self.ahead_ns(at) - other.ahead_ns(at)).abs())
            .fold(0.0, f64::max)
    }

    /// How far ahead the second clock is when it shows `at`, in ns.
    fn ahead_ns(&self, at: i64) -> f64 {
        if self.knots.is_empty() {
            return self.offset_ns + self.drift * at.saturating_sub(self.origin_ns) as f64;
        }
        let behind = self.knots.partition_point(|knot| knot.at <= at);
        let behind = behind.clamp(1, self.knots.len() - 1);
        let knot = self.knots[behind - 1];
        knot.ahead_ns + knot.slope * at.saturating_sub(knot.at) as f64
    }
}

/// A clock was set, by itself or by someone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockStep {
    /// Whose: that of the first point (0) or of the second (1).
    pub point: usize,
    /// When, by this clock, in ns.
    pub at_ns: i64,
    /// By how much it was put forward, in ns.
    pub by_ns: f64,
}

/// What to do about clocks that do not agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClockChoice {
    /// Correct them where they contradict each other: a packet would have arrived before it left.
    #[default]
    Auto,
    /// Always correct them.
    Fix,
    /// Believe them: both captures were made on one machine.
    Keep,
}

impl ClockChoice {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Auto, Self::Fix, Self::Keep];

    /// The word of the option, and in what files say of how they were made.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Fix => "fix",
            Self::Keep => "keep",
        }
    }
}

shown_by_name!(ClockChoice);

/// What is known of the clocks when all packets have been matched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClockEstimate {
    /// Offset and drift.
    pub clock: Clock,
    /// The true offset lies within this of the estimate, in ns: half the sum of the smallest
    /// delays of both directions, how unsteady these are, and how coarse the stamps. `None` where packets
    /// went one way only, and the smallest delay is taken for 0.
    pub uncertainty_ns: Option<f64>,
    /// Times in which the clocks run evenly against each other: one as a rule.
    pub pieces: usize,
    /// Where the clocks were set.
    pub steps: Vec<ClockStep>,
}

/// Which way a packet goes between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heading {
    /// From the first point to the second.
    Forward,
    /// Back, from the second point to the first.
    Reverse,
}

impl Heading {
    /// The other way.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }

    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "back",
        }
    }
}

shown_by_name!(Heading);

/// One of the two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::First, Self::Second];

    pub(super) const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Where packets of this heading come in.
    pub(super) const fn entry(heading: Heading) -> Self {
        match heading {
            Heading::Forward => Self::First,
            Heading::Reverse => Self::Second,
        }
    }

    /// Where they leave.
    pub(super) const fn exit(heading: Heading) -> Self {
        Self::entry(heading).other()
    }
}
