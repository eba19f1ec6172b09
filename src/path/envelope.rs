//! The smallest delays between two points over time, and what they say about the clocks
//! (METRICS.md B2).

use super::bends::{self, Piece};
use super::clock::{Clock, ClockEstimate, ClockStep, Heading};
use super::line::line;

/// Spans of time whose smallest delays show the drift.
const SPANS: usize = 64;

/// Spans whose middle value shows where the smallest delays are meanwhile.
const POINTS_NEAR: usize = 4;

/// Smallest delays that change by no more than this show the clocks, not a queue, in ns.
const STEADY_NS: f64 = 200_000.0;

/// IP bytes up to which a packet is small: ACKs and handshakes.
pub(super) const SMALL_MAX: u32 = 200;

/// IP bytes from which a packet is large.
pub(super) const LARGE_MIN: u32 = 1000;

/// The shortest windows of an envelope, in ns.
const WINDOW_NS: i64 = 1_000_000;

/// Windows of an envelope; when there would be more, two become one.
pub(super) const WINDOWS_MAX: usize = 4096;

/// The smallest raw delays over time of the packets that go one way. Of those that go the other
/// way the largest, kept with the sign changed, so that both are lower envelopes.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope {
    /// Windows are [`WINDOW_NS`] long, doubled so often.
    doubled: u32,
    origin: Option<i64>,
    /// By window, for small, middling and large packets: the smallest value.
    lowest: Vec<[Option<Low>; 3]>,
    /// By window: when its first and its last packet are dated.
    dated: Vec<Option<(i64, i64)>>,
}

/// A small value of a window.
#[derive(Clone, Copy, Debug)]
struct Low {
    /// Time by the second clock, in ns.
    at: i64,
    value: i64,
    ip_len: u32,
}

impl Low {
    /// Without the time that a link needs to send it, at so many ns a byte.
    fn less_sending(self, ns_per_byte: f64) -> (i64, i64) {
        let sending = f64::from(self.ip_len) * ns_per_byte;
        (self.at, self.value.saturating_sub(sending.round() as i64))
    }
}

impl Envelope {
    #[inline]
    pub(super) fn add(&mut self, at: i64, value: i64, ip_len: u32) {
        let origin = *self.origin.get_or_insert(at);
        // What is stamped before the first packet goes into the first window.
        let since = at.saturating_sub(origin).max(0);
        // By a constant and a shift: a division by what is not known takes as long as all the rest.
        let shortest = since / WINDOW_NS;
        while shortest >> self.doubled >= WINDOWS_MAX as i64 {
            self.halve();
        }
        let window = (shortest >> self.doubled) as usize;
        if window >= self.lowest.len() {
            self.lowest.resize(window + 1, [None; 3]);
            self.dated.resize(window + 1, None);
        }
        let size = usize::from(ip_len > SMALL_MAX) + usize::from(ip_len >= LARGE_MIN);
        let (first, last) = self.dated[window].unwrap_or((at, at));
        self.dated[window] = Some((first.min(at), last.max(at)));
        let lowest = &mut self.lowest[window][size];
        if lowest.is_none_or(|low| value < low.value) {
            *lowest = Some(Low { at, value, ip_len });
        }
    }

    /// Windows of twice the length.
    fn halve(&mut self) {
        self.doubled += 1;
        let smaller = |pair: &[[Option<Low>; 3]]| {
            std::array::from_fn(|size| {
                let of_size = pair.iter().filter_map(|window| window[size]);
                of_size.min_by_key(|low| low.value)
            })
        };
        self.lowest = self.lowest.chunks(2).map(smaller).collect();
        let both = |pair: &[Option<(i64, i64)>]| {
            let dated = pair.iter().copied().flatten();
            dated.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
        };
        self.dated = self.dated.chunks(2).map(both).collect();
    }

    /// Smallest value of all.
    fn min(&self) -> Option<i64> {
        let all = self.lowest.iter().flatten().flatten();
        all.map(|low| low.value).min()
    }

    /// The smallest value of each window, without the time to send the packet.
    fn floor(&self, ns_per_byte: f64) -> Floor {
        let lowest = |window: &[Option<Low>; 3]| {
            let sizes = window.iter().flatten();
            sizes
                .map(|low| low.less_sending(ns_per_byte))
                .min_by_key(|&(_, value)| value)
        };
        Floor {
            origin_ns: self.origin.unwrap_or(0),
            window_ns: WINDOW_NS << self.doubled,
            lowest: self.lowest.iter().map(lowest).collect(),
            dated: self.dated.iter().copied().flatten().collect(),
        }
    }
}

/// The lower edge of an [`Envelope`]: time by the second clock and value, by window.
pub(super) struct Floor {
    origin_ns: i64,
    window_ns: i64,
    lowest: Vec<Option<(i64, i64)>>,
    /// When the first and the last packet of windows are dated, where it is of a whole envelope.
    pub(super) dated: Vec<(i64, i64)>,
}

impl Floor {
    /// Times of the first and the last value; nothing without two.
    pub(super) fn ends(&self) -> Vec<i64> {
        let first = self.points().next();
        let last = self
            .points()
            .next_back()
            .filter(|&last| Some(last) != first);
        first
            .zip(last)
            .map_or(Vec::new(), |(one, other)| vec![one.0, other.0])
    }

    /// The values from an instant to before another.
    pub(super) fn within(&self, from: i64, to: i64) -> Self {
        let window = |at: i64| (at.saturating_sub(self.origin_ns) / self.window_ns).max(0) as usize;
        let behind = window(to).saturating_add(1).min(self.lowest.len());
        let first = window(from).min(behind);
        let is_within = |&(at, _): &(i64, i64)| (from..to).contains(&at);
        let values = self.lowest[first..behind].iter();
        Self {
            origin_ns: self
                .origin_ns
                .saturating_add(self.window_ns.saturating_mul(first as i64)),
            window_ns: self.window_ns,
            lowest: values.map(|low| low.filter(is_within)).collect(),
            dated: Vec::new(),
        }
    }

    /// The value of each of `count` spans of time that is smallest beside a line of a slope in ns a
    /// second.
    pub(super) fn spans_of(&self, from: i64, span_ns: i64, count: usize, slope: f64) -> Self {
        let mut lowest: Vec<Option<(i64, i64)>> = vec![None; count];
        let beside =
            |(at, value): (i64, i64)| value as f64 - slope * at.saturating_sub(from) as f64 / 1e9;
        for point in self.points() {
            let span = point.0.saturating_sub(from).div_euclid(span_ns.max(1));
            let span = usize::try_from(span)
                .ok()
                .and_then(|span| lowest.get_mut(span));
            if let Some(low) = span
                && low.is_none_or(|low| beside(point) < beside(low))
            {
                *low = Some(point);
            }
        }
        Self {
            origin_ns: from,
            window_ns: span_ns,
            lowest,
            dated: Vec::new(),
        }
    }

    /// The value of a window.
    pub(super) fn value(&self, window: usize) -> Option<(i64, i64)> {
        self.lowest.get(window).copied().flatten()
    }

    /// Some of its windows.
    pub(super) fn part(&self, windows: std::ops::Range<usize>) -> Self {
        Self {
            origin_ns: self.origin_ns,
            window_ns: self.window_ns,
            lowest: self.lowest[windows].to_vec(),
            dated: Vec::new(),
        }
    }

    /// Without some of its windows.
    pub(super) fn without(&self, windows: std::ops::Range<usize>) -> Self {
        let mut rest = self.part(0..self.lowest.len());
        rest.lowest[windows].fill(None);
        rest
    }

    pub(super) fn points(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> + '_ {
        self.lowest.iter().copied().flatten()
    }

    /// The smallest values of some equal spans of time, as seconds since `origin_ns` and ns.
    fn spans(&self, origin_ns: i64) -> Vec<(f64, f64)> {
        let length = self.lowest.len().div_ceil(SPANS).max(1);
        self.lowest
            .chunks(length)
            .filter_map(|span| span.iter().flatten().min_by_key(|&&(_, value)| value))
            .map(|&(at, value)| (at.saturating_sub(origin_ns) as f64 / 1e9, value as f64))
            .collect()
    }

    /// How the smallest values change with time: the middle of all slopes between two spans (Theil
    /// and Sen), and the middle of the distances from that line.
    ///
    /// Where queues never drain these distances are large, and the line below all values that is
    /// closest to them is a better guess.
    pub(super) fn trend(&self, origin_ns: i64) -> Option<Trend> {
        let points = self.spans(origin_ns);
        let slopes = points.iter().enumerate().flat_map(|(index, one)| {
            let later = points[index + 1..].iter();
            later.map(move |other| (other.1 - one.1) / (other.0 - one.0))
        });
        let slope = middle(slopes.filter(|slope| slope.is_finite()).collect())?;
        let level = |point: &(f64, f64)| point.1 - slope * point.0;
        let height = middle(points.iter().map(level).collect())?;
        let distance = middle(
            points
                .iter()
                .map(|point| (level(point) - height).abs())
                .collect(),
        )?;
        // Where the line does not hold for long, the clocks do not run evenly.
        let wander = points
            .chunks(POINTS_NEAR)
            .filter_map(|near| middle(near.iter().map(|point| level(point) - height).collect()));
        let wander = wander.map(f64::abs).fold(0.0, f64::max);
        // Of normal errors the middle one is 0.67 standard deviations, and the slope of a line
        // through n points puts it off by sqrt(12 / n) of these at either end, twice that rarely.
        let at_ends = 2.0 * distance / 0.67 * (12.0 / points.len() as f64).sqrt();
        let slope = if distance <= STEADY_NS {
            slope
        } else {
            slope_below(points)?
        };
        Some(Trend {
            slope,
            distance,
            at_ends: at_ends.max(wander),
        })
    }

    /// By how much the middle one of the smallest values of some spans is above the line of this slope that touches all
    /// from below.
    pub(super) fn middle_above(&self, slope: f64, origin_ns: i64) -> Option<f64> {
        let points = self.spans(origin_ns).into_iter();
        let level = middle(points.map(|(at, value)| value - slope * at).collect())?;
        Some(level - self.intercept(slope, origin_ns)?)
    }

    /// Where the line of this slope that touches the points from below passes `origin_ns`.
    pub(super) fn intercept(&self, slope: f64, origin_ns: i64) -> Option<f64> {
        self.points()
            .map(|(at, value)| value as f64 - slope * at.saturating_sub(origin_ns) as f64 / 1e9)
            .min_by(f64::total_cmp)
    }
}

/// How smallest values change.
#[derive(Clone, Copy, Default)]
pub(super) struct Trend {
    /// In ns a second.
    pub(super) slope: f64,
    /// How far they are from a line, in ns.
    pub(super) distance: f64,
    /// How far the line may be off at its ends for that, in ns.
    pub(super) at_ends: f64,
}

/// The middle value; `None` without any.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Slope of the line below all points that is closest to them: it passes through the edge of the
/// lower convex hull over their mean (Moon, Skelly, Towsley: "Estimation and removal of clock skew
/// from network delay measurements", 1999).
fn slope_below(points: Vec<(f64, f64)>) -> Option<f64> {
    let mean = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
    let hull = lower_hull(points);
    let edge = hull
        .windows(2)
        .find(|edge| edge[0].0 <= mean && mean <= edge[1].0)?;
    Some((edge[1].1 - edge[0].1) / (edge[1].0 - edge[0].0))
}

/// The corners of the lower convex hull, from left to right.
fn lower_hull(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    points.dedup_by_key(|point| point.0);
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        while let [.., a, b] = hull[..] {
            if (b.0 - a.0) * (point.1 - a.1) > (b.1 - a.1) * (point.0 - a.0) {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// The raw delays of both ways.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelopes {
    forward: Envelope,
    reverse: Envelope,
}

impl Envelopes {
    /// A packet of `ip_len` bytes seen at `second_at` by the second clock, `raw` after it was seen
    /// at the first.
    #[inline]
    pub(super) fn add(&mut self, heading: Heading, second_at: i64, raw: i64, ip_len: u32) {
        match heading {
            Heading::Forward => self.forward.add(second_at, raw, ip_len),
            Heading::Reverse => self.reverse.add(second_at, raw.saturating_neg(), ip_len),
        }
    }

    /// Whether no packet arrived before it left, when both clocks are believed; `tolerance_ns` is
    /// what their steps and the capturing may hide.
    pub(super) fn agree(&self, tolerance_ns: i64) -> bool {
        [&self.forward, &self.reverse]
            .into_iter()
            .filter_map(Envelope::min)
            .all(|min| min >= -tolerance_ns)
    }

    /// Offset, drift, and how certain the offset is, where sending takes so many ns a byte on the
    /// ways forward and back, before packets are stamped; of clocks that are taken to run evenly.
    /// `None` without packets.
    pub(super) fn estimate_evenly(&self, ns_per_byte: [f64; 2]) -> Option<ClockEstimate> {
        let origin_ns = self.forward.origin.or(self.reverse.origin)?;
        let whole = line(&self.floors(ns_per_byte), origin_ns)?;
        Some(ClockEstimate {
            clock: Clock::even(whole.offset_ns, whole.slope / 1e9, origin_ns),
            uncertainty_ns: whole.uncertainty_ns(),
            pieces: 1,
            steps: Vec::new(),
        })
    }

    /// Whether the clocks seem to bend, or to have been set.
    pub(super) fn seem_uneven(&self) -> bool {
        self.estimate([0.0; 2])
            .is_some_and(|estimate| estimate.pieces > 1)
    }

    /// The same of clocks that may bend and be set.
    pub(super) fn estimate(&self, ns_per_byte: [f64; 2]) -> Option<ClockEstimate> {
        let origin_ns = self.forward.origin.or(self.reverse.origin)?;
        let floors = self.floors(ns_per_byte);
        let whole = line(&floors, origin_ns)?;
        let pieces = bends::pieces(&floors, origin_ns, whole);
        if pieces.len() < 2 {
            return self.estimate_evenly(ns_per_byte);
        }
        let step = |two: &[Piece]| {
            let ahead = [0, 1].map(|at: usize| two[at].line.ahead_ns(two[1].from, origin_ns));
            two[1].is_set.then_some(ClockStep {
                point: 1,
                at_ns: two[1].from,
                by_ns: ahead[1] - ahead[0],
            })
        };
        let uncertain = pieces
            .iter()
            .filter_map(|piece| piece.line.uncertainty_ns());
        let steps: Vec<ClockStep> = pieces.windows(2).filter_map(step).collect();
        let set_by = steps.iter().map(|step| step.by_ns.abs());
        let set_by = set_by.fold(0.0, f64::max);
        Some(ClockEstimate {
            clock: Clock::of_pieces(&pieces, origin_ns),
            // Where it was set is not known to the packet.
            uncertainty_ns: uncertain.reduce(f64::max).map(|ns| ns + set_by),
            pieces: pieces.len(),
            steps,
        })
    }

    fn floors(&self, ns_per_byte: [f64; 2]) -> [Floor; 2] {
        [
            self.forward.floor(ns_per_byte[0]),
            self.reverse.floor(ns_per_byte[1]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Packets of 20 s; the second clock is 3 s ahead and gains 50 ppm. Forward there is a queue
    /// that empties now and then, down to 40 us; back it takes 10 us and up.
    fn envelopes() -> Envelopes {
        let mut envelopes = Envelopes::default();
        for step in 0..20_000_i64 {
            let at = step * SECOND / 1000;
            let ahead = 3 * SECOND + at / 20_000;
            let queue = (step * 7919 % 5000) * 1000;
            envelopes.add(Heading::Forward, at + ahead, ahead + 40_000 + queue, 1500);
            envelopes.add(
                Heading::Reverse,
                at + ahead,
                ahead - 10_000 - step % 13 * 1000,
                60,
            );
        }
        envelopes
    }

    #[test]
    fn three_seconds_and_fifty_ppm_are_found_within_the_stated_uncertainty() {
        let estimate = envelopes().estimate([0.0; 2]).unwrap();
        assert!((estimate.clock.drift - 50e-6).abs() < 1e-6, "{estimate:?}");
        // Half of 40 us and 10 us together, a step of drift more.
        let uncertainty = estimate.uncertainty_ns.unwrap();
        assert!((20_000.0..30_000.0).contains(&uncertainty), "{estimate:?}");
        for at in [0, 10 * SECOND, 20 * SECOND] {
            let ahead = 3 * SECOND + at / 20_000;
            let error = estimate.clock.aligned(at + ahead) - at;
            assert!(
                error.unsigned_abs() as f64 <= uncertainty,
                "{error} at {at}"
            );
        }
    }

    /// Back, the link takes 2 ms for each ACK and forward 0.6 ms for each full packet, and hardly
    /// anything else takes time: without these the offset is exact to what is left.
    #[test]
    fn what_sending_takes_is_no_reason_to_doubt_the_offset() {
        let mut envelopes = Envelopes::default();
        for step in 0..1000_i64 {
            let at = step * SECOND / 100;
            envelopes.add(Heading::Forward, at, SECOND + 600_000 + 5000, 1500);
            envelopes.add(Heading::Reverse, at, SECOND - 2_000_000 - 7000, 50);
        }
        let plain = envelopes.estimate([0.0; 2]).unwrap();
        assert_eq!(plain.uncertainty_ns, Some(1_306_000.0));
        let better = envelopes.estimate([400.0, 40_000.0]).unwrap();
        assert_eq!(better.uncertainty_ns, Some(6000.0));
        assert!((better.clock.offset_ns - 999_999_000.0).abs() < 1.0);
    }

    /// Delays of the way back are steadier and tell the drift, which is none.
    #[test]
    fn clocks_that_run_alike_do_not_lose_anything() {
        let mut envelopes = Envelopes::default();
        for step in 0..1000_i64 {
            let at = step * SECOND / 100;
            envelopes.add(Heading::Forward, at, 5000 + step * 7919 % 5000, 1500);
            envelopes.add(Heading::Reverse, at, -7000, 50);
        }
        let clock = envelopes.estimate([0.0; 2]).unwrap().clock;
        assert_eq!(clock.drift.to_bits(), 0.0_f64.to_bits(), "{clock:?}");
    }

    #[test]
    fn a_packet_that_arrives_before_it_left_shows_that_clocks_disagree() {
        let mut envelopes = Envelopes::default();
        envelopes.add(Heading::Forward, SECOND, 500, 60);
        envelopes.add(Heading::Reverse, SECOND, -200, 60);
        assert!(envelopes.agree(0));
        envelopes.add(Heading::Reverse, 2 * SECOND, 5000, 60);
        assert!(!envelopes.agree(2000));
        assert!(envelopes.agree(5000));
    }

    #[test]
    fn one_way_alone_gives_an_offset_without_a_bound() {
        let mut envelopes = Envelopes::default();
        for step in 0..100 {
            envelopes.add(Heading::Forward, step * SECOND, -7000 + step % 3 * 100, 60);
        }
        let estimate = envelopes.estimate([0.0; 2]).unwrap();
        assert_eq!(estimate.uncertainty_ns, None);
        assert!(
            (estimate.clock.offset_ns + 7000.0).abs() < 1.0,
            "{estimate:?}"
        );
    }

    #[test]
    fn a_capture_of_years_keeps_its_envelope_small() {
        let mut envelope = Envelope::default();
        for step in 0..10_000 {
            envelope.add(step * 100_000 * SECOND, step, 60);
        }
        assert!(envelope.lowest.len() <= WINDOWS_MAX);
        assert_eq!(envelope.min(), Some(0));
        // Windows have become 1 ms * 2^28 long; the last one begins after 3724 of them, at
        // 999,653,638 s, so its smallest value is of the next full 100,000 s.
        assert_eq!(
            envelope.floor(0.0).points().last(),
            Some((999_700_000 * SECOND, 9997))
        );
    }
}
