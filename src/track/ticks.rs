//! How finely a sender's timestamp clock ticks, as far as a judgement asks for it.

use super::half::HalfFlow;
use super::ranges::Hole;
use super::rtt::later;
use crate::time::CaptureTime;

impl HalfFlow {
    /// Whether the sender's clock ticks between the packet that opened `hole`, with the `TSval` `opener`, and the
    /// soonest repeat of what is missing: then what carries the same `TSval` is no repeat, unless a timer ran out in
    /// the very tick in which that packet was sent.
    ///
    /// Nothing else asks for a repeat sooner than a round trip after it. A quarter of the shortest one is believed: a
    /// queue that has stood since the flow began may have drained. A clock may tick as slowly as once a second (RFC
    /// 7323 section 5.4), so equal numbers tell nothing by themselves: either a later one passed so soon after that
    /// packet, or the clock went so fast before it.
    pub(super) fn ticks_before_repeat(&self, hole: &Hole, opener: u32) -> bool {
        let soonest_ns = self.delays.shortest_round_trip_ns() / 4;
        let within = |ns: i64| 0 < soonest_ns && ns <= soonest_ns;
        let ticked = self.echoes.passed_after(opener);
        ticked.is_some_and(|at| within(at.since(hole.opened_at)))
            || self.tick_ns(hole.opened_at, opener).is_some_and(within)
    }

    /// Whether the sender's clock must have gone on between a packet that passed at `passed` with the `TSval` `tsval`
    /// and one at `at`, were that emitted anew: so many ticks that delays which change do not account for them.
    pub(super) fn has_ticked(&self, passed: CaptureTime, tsval: u32, at: CaptureTime) -> bool {
        /// The way from the sender may have become so much shorter, in ticks.
        const TICKS_MIN: i64 = 4;
        let tick_ns = self.tick_ns(passed, tsval);
        tick_ns.is_some_and(|ns| at.since(passed) >= TICKS_MIN.saturating_mul(ns))
    }

    /// How long the sender of a segment that passes at `at` with `tsval`, later than all before, had sent nothing by its own
    /// clock, in ns: at least so long, as far as the packets before tell how it ticks.
    pub(super) fn own_silence_ns(&self, tsval: u32, at: CaptureTime) -> Option<i64> {
        /// No tick is believed to take longer, as delays that change are in what is measured.
        const TICK_NS_MAX: i64 = 1_000_000;
        let before = self.echoes.before_new(tsval, at)?;
        let tick_ns = self.tick_ns(at, before)?.min(TICK_NS_MAX);
        Some(i64::from(tsval.wrapping_sub(before)).saturating_mul(tick_ns))
    }

    /// The longest that a tick of the sender's clock takes, by what passed between the oldest packet remembered and
    /// one at `passed` with this `tsval`; `None` where that is less than two round trips: delays change.
    fn tick_ns(&self, passed: CaptureTime, tsval: u32) -> Option<i64> {
        let oldest = self.in_flight.get(0)?;
        let elapsed_ns = passed.since(oldest.at);
        let ticks = tsval.wrapping_sub(oldest.tsval);
        let long =
            elapsed_ns >= 2 * self.delays.shortest_round_trip_ns() && later(tsval, oldest.tsval);
        // The first and the last may have been cut short.
        (long && ticks > 1).then(|| elapsed_ns / i64::from(ticks - 1))
    }
}
