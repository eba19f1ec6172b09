//! The clocks of two points against each other (METRICS.md B2).
//!
//! A packet's raw delay is its time at the second point minus that at the first, each by its own
//! clock: the delay plus the clocks' offset. Packets that go the other way have the offset minus
//! their delay. So the offset lies above all the one and below all the other; how far the
//! smallest of each are apart bounds the error.

/// How the second point's clock runs against the first's.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Clock {
    /// By how much it is ahead at `origin_ns`, in ns.
    pub offset_ns: f64,
    /// By how much it gains, in seconds a second: 0.000050 is 50 ppm.
    pub drift: f64,
    /// Instant by the second clock at which `offset_ns` holds, in ns.
    pub origin_ns: i64,
}

impl Clock {
    /// A time of the second clock as the first would have shown it.
    #[inline]
    #[must_use]
    pub fn aligned(&self, at: i64) -> i64 {
        if self.offset_ns == 0.0 && self.drift == 0.0 {
            return at;
        }
        let ahead = self.ahead_ns(at);
        at.saturating_sub((ahead + 0.5_f64.copysign(ahead)) as i64)
    }

    /// How far two clocks are apart at most, between two instants, in ns; 0 without these.
    pub(super) fn differs_ns(&self, other: &Self, span: Option<(i64, i64)>) -> f64 {
        let Some((first, last)) = span else {
            return 0.0;
        };
        [first, last]
            .map(|at| (self.ahead_ns(at) - other.ahead_ns(at)).abs())
            .into_iter()
            .fold(0.0, f64::max)
    }

    /// How far ahead the second clock is when it shows `at`, in ns.
    fn ahead_ns(&self, at: i64) -> f64 {
        self.offset_ns + self.drift * at.saturating_sub(self.origin_ns) as f64
    }
}

/// What to do about clocks that do not agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// Correct them where they contradict each other: a packet would have arrived before it left.
    #[default]
    Auto,
    /// Always correct them.
    Fix,
    /// Believe them: both captures were made on one machine.
    Keep,
}

/// What is known of the clocks when all packets have been matched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockEstimate {
    /// Offset and drift.
    pub clock: Clock,
    /// The true offset lies within this of the estimate, in ns: half the sum of the smallest
    /// delays of both directions, and how unsteady these are. `None` where packets went one way only, and the smallest delay
    /// is taken for 0.
    pub uncertainty_ns: Option<f64>,
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

/// Spans of time whose smallest delays show the drift.
const SPANS: usize = 64;

/// Smallest delays that change by no more than this show the clocks, not a queue, in ns.
const STEADY_NS: f64 = 200_000.0;

/// Drift that is believed, in ns a second: 1000 ppm, twice what time synchronisation slews by.
const SLOPE_MAX: f64 = 1e6;

/// IP bytes up to which a packet is small: ACKs and handshakes.
pub(super) const SMALL_MAX: u32 = 200;

/// IP bytes from which a packet is large.
pub(super) const LARGE_MIN: u32 = 1000;

/// Windows of an envelope; when there would be more, two become one.
pub(super) const WINDOWS_MAX: usize = 4096;

/// The smallest raw delays over time of the packets that go one way. Of those that go the other
/// way the largest, kept with the sign changed, so that both are lower envelopes.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    window_ns: i64,
    origin: Option<i64>,
    /// By window, for small, middling and large packets: the smallest value.
    lowest: Vec<[Option<Low>; 3]>,
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

impl Default for Envelope {
    fn default() -> Self {
        Self {
            window_ns: 1_000_000,
            origin: None,
            lowest: Vec::new(),
        }
    }
}

impl Envelope {
    #[inline]
    pub(super) fn add(&mut self, at: i64, value: i64, ip_len: u32) {
        let origin = *self.origin.get_or_insert(at);
        // What is stamped before the first packet goes into the first window.
        let since = at.saturating_sub(origin).max(0);
        while since / self.window_ns >= WINDOWS_MAX as i64 {
            self.halve();
        }
        let window = (since / self.window_ns) as usize;
        if window >= self.lowest.len() {
            self.lowest.resize(window + 1, [None; 3]);
        }
        let size = usize::from(ip_len > SMALL_MAX) + usize::from(ip_len >= LARGE_MIN);
        let lowest = &mut self.lowest[window][size];
        if lowest.is_none_or(|low| value < low.value) {
            *lowest = Some(Low { at, value, ip_len });
        }
    }

    /// Windows of twice the length.
    fn halve(&mut self) {
        self.window_ns *= 2;
        let smaller = |pair: &[[Option<Low>; 3]]| {
            std::array::from_fn(|size| {
                let of_size = pair.iter().filter_map(|window| window[size]);
                of_size.min_by_key(|low| low.value)
            })
        };
        self.lowest = self.lowest.chunks(2).map(smaller).collect();
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
            lowest: self.lowest.iter().map(lowest).collect(),
        }
    }
}

/// The lower edge of an [`Envelope`]: time by the second clock and value, by window.
struct Floor {
    lowest: Vec<Option<(i64, i64)>>,
}

impl Floor {
    fn points(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
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
    fn trend(&self, origin_ns: i64) -> Option<Trend> {
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
            at_ends,
        })
    }

    /// Where the line of this slope that touches the points from below passes `origin_ns`.
    fn intercept(&self, slope: f64, origin_ns: i64) -> Option<f64> {
        self.points()
            .map(|(at, value)| value as f64 - slope * at.saturating_sub(origin_ns) as f64 / 1e9)
            .min_by(f64::total_cmp)
    }
}

/// How smallest values change.
#[derive(Clone, Copy, Default)]
struct Trend {
    /// In ns a second.
    slope: f64,
    /// How far they are from a line, in ns.
    distance: f64,
    /// How far the line may be off at its ends for that, in ns.
    at_ends: f64,
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
    /// ways forward and back, before packets are stamped. `None` without packets.
    pub(super) fn estimate(&self, ns_per_byte: [f64; 2]) -> Option<ClockEstimate> {
        let origin_ns = self.forward.origin.or(self.reverse.origin)?;
        let floors = [
            self.forward.floor(ns_per_byte[0]),
            self.reverse.floor(ns_per_byte[1]),
        ];
        let [forward, reverse] = floors.each_ref().map(|floor| floor.trend(origin_ns));
        // The way that is less congested shows the drift better.
        let back = |trend: Trend| Trend {
            slope: -trend.slope,
            ..trend
        };
        let trend = match (forward, reverse.map(back)) {
            (Some(forward), Some(reverse)) if reverse.distance < forward.distance => reverse,
            (Some(trend), _) | (None, Some(trend)) => trend,
            (None, None) => Trend::default(),
        };
        // No clock is so wrong: a queue that filled looks like that.
        let believed = trend.slope.abs() <= SLOPE_MAX;
        let slope = if believed { trend.slope } else { 0.0 };
        let low = floors[0].intercept(slope, origin_ns);
        let high = floors[1].intercept(-slope, origin_ns);
        let (offset_ns, uncertainty_ns) = match (low, high) {
            (Some(low), Some(high)) => {
                let half = (low + high).abs() / 2.0;
                let half = half + trend.distance + trend.at_ends;
                (f64::midpoint(low, -high), Some(half))
            }
            (Some(low), None) => (low, None),
            (None, Some(high)) => (-high, None),
            (None, None) => return None,
        };
        let drift = slope / 1e9;
        let clock = Clock {
            offset_ns,
            drift,
            origin_ns,
        };
        Some(ClockEstimate {
            clock,
            uncertainty_ns,
        })
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
