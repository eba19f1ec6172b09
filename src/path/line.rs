//! How far one clock is ahead of another, if it gains evenly, by the smallest delays of both ways (METRICS.md B2).

use super::envelope::{Floor, Trend};

/// How far the second clock is ahead, where it gains evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// At an origin, in ns.
    pub(super) offset_ns: f64,
    /// In ns a second.
    pub(super) slope: f64,
    /// Smallest delays forward and back beside it, in ns.
    pub(super) least_ns: [Option<f64>; 2],
    /// Of both ways together.
    pub(super) round_trip_ns: Option<f64>,
    /// By how much the middle one of the smallest delays of spans is above these, of both ways together.
    middle_above_ns: f64,
    /// The way that shows the drift: forward (0) or back (1).
    steady: usize,
    /// How unsteady these are, and how far the line may be off at its ends for that.
    unsteady_ns: [f64; 2],
}

impl Line {
    pub(super) fn ahead_ns(&self, at: i64, origin_ns: i64) -> f64 {
        self.offset_ns + self.slope * at.saturating_sub(origin_ns) as f64 / 1e9
    }

    /// The line on which the steady way takes as little as it does beside another line.
    pub(super) fn with_least_of(self, other: &Self) -> Self {
        let [forward, back] = self.least_ns;
        let (Some(least), Some(others)) = (self.least_ns[self.steady], other.least_ns[self.steady])
        else {
            return self;
        };
        let shift = if self.steady == 0 {
            least - others
        } else {
            others - least
        };
        let [distance, at_ends] = self.unsteady_ns;
        Self {
            offset_ns: self.offset_ns + shift,
            least_ns: [forward.map(|ns| ns - shift), back.map(|ns| ns + shift)],
            unsteady_ns: [distance + shift.abs(), at_ends],
            ..self
        }
    }

    pub(super) fn uncertainty_ns(&self) -> Option<f64> {
        let [distance, at_ends] = self.unsteady_ns;
        let round_trip_ns = self.round_trip_ns?;
        // Below 0 one way took less than sending does, and the other one may have taken more by as much as both usually
        // do.
        let other_ns = if round_trip_ns < 0.0 {
            (round_trip_ns + self.middle_above_ns).max(0.0)
        } else {
            0.0
        };
        Some(round_trip_ns.abs() / 2.0 + other_ns + distance + at_ends)
    }
}

/// The line that fits the smallest delays of the ways forward and back; `None` without any.
pub(super) fn line(floors: &[Floor; 2], origin_ns: i64) -> Option<Line> {
    let [forward, reverse] = floors.each_ref().map(|floor| floor.trend(origin_ns));
    // The way that is less congested shows the drift better.
    let back = |trend: Trend| Trend {
        // Not -0.0 of clocks that run alike, which tables would show.
        slope: 0.0 - trend.slope,
        ..trend
    };
    let (steady, trend) = match (forward, reverse.map(back)) {
        (Some(forward), Some(reverse)) if reverse.distance < forward.distance => (1, reverse),
        (Some(forward), _) => (0, forward),
        (None, Some(reverse)) => (1, reverse),
        (None, None) => (0, Trend::default()),
    };
    // No clock is so wrong: a queue that filled looks like that.
    let believed = trend.slope.abs() <= SLOPE_MAX;
    let slope = if believed { trend.slope } else { 0.0 };
    let low = floors[0].intercept(slope, origin_ns);
    let high = floors[1].intercept(-slope, origin_ns);
    let offset_ns = match (low, high) {
        (Some(low), Some(high)) => f64::midpoint(low, -high),
        (Some(low), None) => low,
        (None, Some(high)) => 0.0 - high,
        (None, None) => return None,
    };
    let above = [0, 1].map(|way: usize| {
        let slope = [slope, -slope][way];
        floors[way].middle_above(slope, origin_ns).unwrap_or(0.0)
    });
    Some(Line {
        offset_ns,
        slope,
        middle_above_ns: above[0] + above[1],
        least_ns: [
            low.map(|low| low - offset_ns),
            high.map(|high| high + offset_ns),
        ],
        round_trip_ns: low.zip(high).map(|(low, high)| low + high),
        steady,
        unsteady_ns: [trend.distance, trend.at_ends],
    })
}

/// Drift that is believed, in ns a second: 1000 ppm, twice what time synchronisation slews by.
const SLOPE_MAX: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::super::clock::Heading;
    use super::super::envelope::Envelopes;

    /// What sending takes forward, in ns a byte: 1.25 ms for 1500 bytes.
    const SENDING: [f64; 2] = [1_250_000.0 / 1500.0, 0.0];

    /// Beside their sending, packets take 40 us forward and 10 us back. One was seen coming in 1.28 ms too late.
    fn envelopes() -> Envelopes {
        let mut envelopes = Envelopes::default();
        for step in 0..1000_i64 {
            let at = step * 10_000_000;
            let late = if step == 500 { 1_280_000 } else { 0 };
            envelopes.add(Heading::Forward, at, 1_290_000 - late, 1500);
            envelopes.add(Heading::Reverse, at, -10_000, 50);
        }
        envelopes
    }

    #[test]
    fn a_packet_that_took_less_than_its_sending_makes_the_offset_less_certain() {
        let estimate = envelopes().estimate_evenly(SENDING).unwrap();
        // It was 1.24 ms too quick, and those back take 10 us: half of both.
        let offset_ns = estimate.clock.offset_ns;
        assert!((offset_ns + 625_000.0).abs() < 1.0, "{estimate:?}");
        assert!(estimate.uncertainty_ns >= Some(625_000.0), "{estimate:?}");
    }

    #[test]
    fn one_packet_is_no_reason_to_take_a_clock_for_set() {
        let estimate = envelopes().estimate(SENDING).unwrap();
        assert_eq!((estimate.pieces, estimate.steps.len()), (1, 0));
    }
}
