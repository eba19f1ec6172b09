//! What held a sender back, and for how long: repairs of losses, the receiver's window, nothing to
//! send.

use super::answers::Answers;
use super::half::HalfFlow;
use super::rtt::{Echoes, is_delay};
use crate::decode::Timestamps;
use crate::event::{Direction, FlowSink, Recovery};
use crate::time::CaptureTime;

/// Times of one direction in which something other than the network held the sender back
/// (METRICS.md L1), and the repair that is going on (X8).
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// Nothing was in flight, beyond the time that an ACK takes to the sender and new data back.
    pub(super) application_ns: i64,
    /// No room for a full packet was left in the advertised window, until the last new ACK.
    pub(super) receiver_ns: i64,
    /// While there is no room, since when that does not count yet; else how long there was none since the last new ACK.
    uncounted_ns: i64,
    /// When there was room again, or what the sender took for outstanding was answered, the last time.
    freed_at: Option<CaptureTime>,
    /// When the repair that is going on began.
    pub(super) repair_start: Option<CaptureTime>,
    /// Offset after all that had been sent when it began (RFC 6582, `recover`).
    repair_until: i64,
    /// The pause before the data in flight, which counts when that is acknowledged.
    pause: Pause,
    is: Is,
    /// How it answers its peer: who never does by itself sends no ACK besides.
    pub(super) answers: Answers,
}

impl Limits {
    /// Whether there is room was found at `at` to be otherwise than before.
    #[cold]
    fn turn_full(&mut self, at: CaptureTime) {
        let now = at.as_ns();
        if self.is.full() {
            self.freed_at = Some(at);
            self.uncounted_ns = now.saturating_sub(self.uncounted_ns).max(0);
        } else {
            self.uncounted_ns = now.saturating_sub(self.uncounted_ns);
        }
        self.is.0 ^= Is::FULL;
    }

    /// The time without room counts up to a new ACK at `at`.
    #[cold]
    fn count_full(&mut self, at: CaptureTime) {
        let (full_ns, rest) = if self.is.full() {
            let now = at.as_ns();
            (now.saturating_sub(self.uncounted_ns).max(0), now)
        } else {
            (self.uncounted_ns, 0)
        };
        self.receiver_ns = self.receiver_ns.saturating_add(full_ns);
        self.uncounted_ns = rest;
    }

    /// Whether who sent the data that is about to be taken in had not heard of the ACK after which nothing was in
    /// flight.
    pub(super) fn set_unheard(&mut self, is_unheard: bool) {
        self.is.set(Is::UNHEARD, is_unheard);
    }

    pub(super) fn is_unheard(&self) -> bool {
        self.is.has(Is::UNHEARD)
    }
}

/// What is so or not, in a byte: more make no room for a connection's state.
#[derive(Clone, Copy, Debug, Default)]
struct Is(u8);

impl Is {
    /// A timer began the repair that is going on.
    const TIMEOUT: u8 = 1;
    /// See [`Limits::set_unheard`].
    const UNHEARD: u8 = 2;
    /// There is no room in the window.
    const FULL: u8 = 4;

    fn set(&mut self, bit: u8, is: bool) {
        self.0 = self.0 & !bit | if is { bit } else { 0 };
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    fn full(self) -> bool {
        self.has(Self::FULL)
    }
}

/// A time in six bytes: more make no room for a connection's state. Up to 39 hours to the ns, and what is longer to
/// 2^16 of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pause([u16; 3]);

impl Pause {
    /// Bit that tells of the coarser unit.
    const COARSE: i64 = 1 << 47;

    fn of_ns(ns: i64) -> Self {
        let ns = ns.max(0);
        let bits = if ns < Self::COARSE {
            ns
        } else {
            ns >> 16 | Self::COARSE
        };
        Self([bits as u16, (bits >> 16) as u16, (bits >> 32) as u16])
    }

    fn ns(self) -> i64 {
        let [low, middle, high] = self.0.map(i64::from);
        let bits = low | middle << 16 | high << 32;
        if bits < Self::COARSE {
            bits
        } else {
            (bits ^ Self::COARSE) << 16
        }
    }
}

impl HalfFlow {
    /// Whether nothing is in flight of what was sent.
    pub(super) fn is_answered(&self) -> bool {
        self.sent_data && self.una == Some(self.high)
    }

    /// Whether the echo of what passed `rtt_ns` before `at` took longer than the path: its sender had nothing to send, or
    /// one of both was dated wrong.
    #[inline]
    pub(super) fn is_late_echo(&self, at: CaptureTime, rtt_ns: i64) -> bool {
        if self.is_answered() {
            rtt_ns > self.delays.upstream.patience_ns() || self.holds_a_pause(at, rtt_ns)
        } else {
            !is_delay(rtt_ns)
        }
    }

    /// New data passed at `at` while nothing was in flight; `is_unheard`: its sender had not heard of the ACK after
    /// which nothing was, so that it was held up on its way.
    pub(super) fn note_pause<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        is_unheard: bool,
        sink: &mut S,
    ) {
        let Some(emptied_at) = self.times.progress_at.filter(|_| !is_unheard) else {
            return;
        };
        if self.delays.upstream.may_take(at.since(emptied_at)) {
            sink.delivered(dir, at, 0);
        }
        if self.limits.is.full() {
            return;
        }
        let pause_ns = at
            .since(self.idle_from(emptied_at))
            .saturating_sub(self.delays.upstream.smoothed_ns());
        self.limits.pause = Pause::of_ns(pause_ns);
    }

    /// Whether nothing is in flight, and who sent a segment with these `timestamps`, which passes at `at`, had not heard of
    /// the ACK since which that is so; `echoes` are those that the receiver's timestamps wait for.
    pub(super) fn has_not_heard(
        &self,
        timestamps: Option<Timestamps>,
        at: CaptureTime,
        echoes: &Echoes,
    ) -> bool {
        let emptied_at = self.times.progress_at.filter(|_| self.is_answered());
        emptied_at.is_some_and(|emptied_at| {
            echoes.are_before(timestamps, emptied_at)
                && !self.was_silent_itself(timestamps, at, emptied_at)
        })
    }

    /// Whether a sender had sent nothing for most of the time since `emptied_at` by its own clock: who waits for his ACK takes
    /// no clock of what comes meanwhile (RFC 7323 section 4.3), and echoes an old one, whatever he has heard.
    fn was_silent_itself(
        &self,
        timestamps: Option<Timestamps>,
        at: CaptureTime,
        emptied_at: CaptureTime,
    ) -> bool {
        let own_ns = timestamps.and_then(|own| self.own_silence_ns(own.value, at));
        own_ns.is_some_and(|own_ns| own_ns > at.since(emptied_at) / 2)
    }

    /// From when on nothing but the application held the sender back, of which the last data was acknowledged at
    /// `emptied_at`.
    fn idle_from(&self, emptied_at: CaptureTime) -> CaptureTime {
        let freed_at = self.limits.freed_at;
        freed_at.map_or(emptied_at, |freed_at| freed_at.max(emptied_at))
    }

    /// Whether an echo that comes at `at`, `rtt_ns` after what it answers, while nothing is in flight, tells how long
    /// the sender had nothing to send: what the last ACK asked for would have come by now. A quarter more than usual
    /// may be the way's.
    #[inline]
    pub(super) fn holds_a_pause(&self, at: CaptureTime, rtt_ns: i64) -> bool {
        let usual_ns = self.delays.upstream.smoothed_ns();
        self.delays.upstream.min_ns().is_some()
            && rtt_ns > usual_ns + usual_ns / 4
            && self
                .times
                .progress_at
                .is_some_and(|emptied_at| at.since(self.idle_from(emptied_at)) > usual_ns)
    }

    /// A repeat passed at `at`, before which its sender was not idle: of what was lost before it came here, where it
    /// `is_higher` than all that was seen; or of what was acknowledged, of which its sender had not heard: it waited
    /// for the ACK that comes now.
    pub(super) fn note_unheard(&mut self, at: CaptureTime, is_higher: bool) {
        if is_higher {
            self.limits.pause = Pause::default();
        } else if self.is_answered() {
            self.limits.freed_at = Some(at.plus_ns(self.delays.downstream.recent_ns()));
        }
    }

    /// The cumulative ACK has moved at `at`: time counts up to here.
    #[inline]
    pub(super) fn count_time(&mut self, at: CaptureTime) {
        if self.limits.uncounted_ns != 0 {
            self.limits.count_full(at);
        }
        // Nearly always there was none.
        if self.limits.pause != Pause::default() {
            let pause_ns = std::mem::take(&mut self.limits.pause).ns();
            self.limits.application_ns = self.limits.application_ns.saturating_add(pause_ns);
        }
    }

    /// Whether a loss is being repaired.
    pub(super) fn is_repairing(&self) -> bool {
        self.limits.repair_start.is_some()
    }

    /// Data or a window has passed at `at`: whether there is room for more.
    #[inline]
    pub(super) fn note_room(&mut self, at: CaptureTime) {
        let full = self.window.end().is_some_and(|end| {
            let room = end - self.high;
            // A frame of several packets is larger than one that waits; mostly there is room for that.
            room < i64::from(self.packet_size.largest_payload)
                && room < i64::from(self.packet_size.full())
                && self.sent_data
        });
        if full != self.limits.is.full() {
            self.limits.turn_full(at);
        }
    }

    /// A retransmission of what ends at `end` passed at `at`.
    pub(super) fn note_repair(&mut self, at: CaptureTime, end: i64, timeout: bool) {
        let sent_to = self.sent_to().max(self.repairs_to());
        let limits = &mut self.limits;
        if limits.repair_start.is_some() {
            limits
                .is
                .set(Is::TIMEOUT, limits.is.has(Is::TIMEOUT) || timeout);
        } else if self.una.is_none_or(|una| una < end) {
            limits.repair_start = Some(at);
            limits.repair_until = sent_to;
            limits.is.set(Is::TIMEOUT, timeout);
        }
    }

    /// The repeat that passed at `at` was no timer's.
    pub(super) fn forget_timeout_of(&mut self, at: CaptureTime) {
        if self.limits.repair_start == Some(at) {
            self.limits.is.set(Is::TIMEOUT, false);
        }
    }

    /// What passed at `at` was no retransmission: a repair that began with it is none.
    pub(super) fn forget_repair(&mut self, at: CaptureTime) {
        if self.limits.repair_start == Some(at) {
            self.limits.repair_start = None;
            self.repair.forget();
        }
    }

    /// The cumulative ACK has moved at `at`: whether that ends a repair.
    pub(super) fn note_repaired<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        sink: &mut S,
    ) {
        // Nearly always there was none.
        if self.is_repairing() && self.una.is_some_and(|una| una >= self.limits.repair_until) {
            self.end_repair(dir, at, sink);
        }
    }

    /// A repair, where one goes on, has ended at `at`, or nothing more will come.
    pub(super) fn end_repair<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        sink: &mut S,
    ) {
        if let Some(start) = self.limits.repair_start.take() {
            sink.recovery(
                dir,
                &Recovery {
                    start,
                    end: at.max(start),
                    timeout: self.limits.is.has(Is::TIMEOUT),
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_of_up_to_39_hours_are_kept_to_the_nanosecond_and_longer_ones_nearly() {
        let kept = |ns| Pause::of_ns(ns).ns();
        for ns in [0, 1, 65_535, 65_536, 1_234_567_890_123, (1 << 47) - 1] {
            assert_eq!(kept(ns), ns);
        }
        assert_eq!(kept(-1), 0);
        // A year, and the longest time there is, short of a unit.
        for ns in [1 << 47, 365 * 86_400_000_000_000, i64::MAX] {
            assert!(
                (0..1 << 16).contains(&(ns - kept(ns))),
                "{ns}: {}",
                kept(ns)
            );
        }
    }
}
