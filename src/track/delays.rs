//! How long packets, answers and timers take.

use super::rtt::Estimate;

/// No timer is shorter, in ns: two ticks of 1000 a second.
pub(super) const PROBE_NS_MIN: i64 = 2_000_000;

/// What no retransmission timer is shorter than: Linux's floor.
pub(super) const TIMER_NS_MIN: i64 = 200_000_000;

/// As much after the last progress a timer may run out that progress in a repair did not set anew (RFC 6582 section 4), in ns.
pub(super) const UNSET_TIMER_NS_MIN: i64 = TIMER_NS_MIN / 2;

/// How late the timer of who lets packets be overtaken may be, in ns: three of 250 ticks a second, as common senders add
/// two to what they round up.
pub(super) const TICKS_NS: i64 = 12_000_000;

/// The longest that common receivers let an ACK wait, in ns: RFC 8985's assumption, which is Linux's limit.
const ACK_DELAY_NS_MAX: i64 = 200_000_000;

/// Seven eighths of a time, in ns: what comes sooner than this came too soon, and what takes as long may have taken all
/// of it. Stamps are late by some microseconds and queues come and go, so that no two trips take the same time.
pub(super) const fn nearly(ns: i64) -> i64 {
    ns / 8 * 7
}

/// The two halves of a path, for the data of one direction, by way of its receiver and of its sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delays {
    /// Vantage point - receiver - vantage point.
    pub(super) downstream: Estimate,
    /// Vantage point - sender - vantage point.
    pub(super) upstream: Estimate,
}

impl Delays {
    /// Smoothed round-trip time of the whole path, as far as both halves are known, in ns.
    pub(super) fn round_trip_ns(&self) -> i64 {
        self.downstream.smoothed_ns() + self.upstream.smoothed_ns()
    }

    /// Shortest round-trip time of the whole path, as far as both halves are known, in ns.
    pub(super) fn shortest_round_trip_ns(&self) -> i64 {
        self.downstream.min_ns().unwrap_or(0) + self.upstream.min_ns().unwrap_or(0)
    }

    /// The silence, in ns, in which a sender's retransmission timer has run out: nearly the timer, but no less than a
    /// round trip and half of what common senders wait beyond one (RFC 6298 section 2.3, with 200 ms for the
    /// variation), since what asks for a repeat comes back a round trip after what it answers; a quarter of one later
    /// where packets may have been overtaken (RFC 8985 section 6.2), where that is more, but nearly what they wait.
    pub(super) fn run_out_ns(&self) -> i64 {
        let round_trip_ns = self.round_trip_ns();
        let later_ns = (round_trip_ns / 4 + TICKS_NS).clamp(TIMER_NS_MIN / 2, nearly(TIMER_NS_MIN));
        nearly(self.timeout_ns()).max(round_trip_ns + later_ns)
    }

    /// The longest silence, in ns, that a tail loss probe ends: half as much again as two round trips and the longest
    /// that an ACK is delayed (RFC 8985 section 7.2); `None` where a half of the path is not known.
    pub(super) fn probe_ns_max(&self) -> Option<i64> {
        self.downstream.min_ns()?;
        self.upstream.min_ns()?;
        // What the sender waited now is in the upstream half already, and in its variation four times.
        let round_trip_ns = self.downstream.patience_ns() + self.upstream.smoothed_ns();
        Some((self.round_trip_ns() + round_trip_ns + ACK_DELAY_NS_MAX) / 2 * 3)
    }

    /// What a sender's retransmission timer would be at least, in ns: RFC 6298's with the floor of
    /// 200 ms that is common, since the standard's one second is not.
    pub(super) fn timeout_ns(&self) -> i64 {
        (self.downstream.patience_ns() + self.upstream.smoothed_ns()).max(TIMER_NS_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::{Delays, TIMER_NS_MIN};

    #[test]
    fn who_lets_packets_be_overtaken_waits_for_a_quarter_of_a_long_round_trip() {
        let run_out_ms = |round_trip_ms: i64| {
            let mut delays = Delays::default();
            // So often that it varies no more.
            (0..50).for_each(|_| delays.downstream.add(round_trip_ms * 1_000_000));
            delays.run_out_ns() / 1_000_000
        };
        // Half of 200 ms, a quarter with three ticks of 4 ms, and seven eighths of 200 ms.
        assert_eq!(run_out_ms(200), 200 + 100);
        assert_eq!(run_out_ms(480), 480 + 120 + 12);
        assert_eq!(run_out_ms(900), 900 + 175);
    }

    #[test]
    fn a_round_trip_is_both_halves_as_far_as_they_are_known() {
        let mut delays = Delays::default();
        assert_eq!(delays.shortest_round_trip_ns(), 0);
        assert_eq!(delays.timeout_ns(), TIMER_NS_MIN);
        delays.downstream.add(300_000_000);
        assert_eq!(delays.round_trip_ns(), 300_000_000);
        delays.upstream.add(20_000_000);
        delays.upstream.add(12_000_000);
        assert_eq!(delays.shortest_round_trip_ns(), 312_000_000);
        // An eighth of the way from 20 ms to 12 ms (RFC 6298 section 2.3).
        assert_eq!(delays.round_trip_ns(), 319_000_000);
        // 300 ms and four times half of it, and the other half of the path.
        assert_eq!(delays.timeout_ns(), 919_000_000);
    }
}
