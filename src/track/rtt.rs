//! Delays on both sides of the vantage point: echoes of timestamps, smoothed estimates.

use std::collections::VecDeque;

use crate::decode::Timestamps;
use crate::time::CaptureTime;

/// `TSval`s waiting for their echo, for one direction: as many packets as 10 Gbit/s over 150 ms hold, of which a clock
/// of microseconds gives each its own. One more forgets the oldest, which then gives no sample.
const ECHOES_MAX: usize = 1 << 17;

/// The same while none has been echoed, as where the other direction passes elsewhere: a second of a clock of
/// milliseconds, four times over.
const UNECHOED_MAX: usize = 4096;

/// A `TSval` that comes late waits where it is among so many of the latest; one from further back gives no sample.
const LATE_MAX: usize = 4096;

/// Passed `TSval`s that still wait for an echo that was overtaken on its way, until one was: in a line or two of memory.
const PASSED_MAX: u8 = 8;

/// The same from then on: what paths of several ways delay one behind another, in ticks of a millisecond.
const OVERTAKEN_MAX: u8 = 64;

/// Room for those that passed and as many that wait, which is all that most flows ever have: asked for once.
const ROOM: usize = 2 * PASSED_MAX as usize;

/// No packet is overtaken by so many ticks: 17 minutes of a clock of milliseconds, a second of one of microseconds.
const FAR: u32 = 1 << 20;

/// A `TSval` that has passed.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    tsval: u32,
    /// Only one of those [`passed`](Echoes::passed) may have been.
    is_echoed: bool,
    /// When it passed for the first time.
    at: CaptureTime,
}

impl Waiting {
    fn new(tsval: u32, at: CaptureTime) -> Self {
        Self {
            tsval,
            is_echoed: false,
            at,
        }
    }
}

/// The `TSval`s of one direction that were not echoed yet, each with the time of its first
/// appearance (METRICS.md R4). One entry a clock tick, whatever the packet rate.
#[derive(Clone, Debug)]
pub(super) struct Echoes {
    /// In the order of the clock.
    waiting: VecDeque<Waiting>,
    /// The latest `TSval`, where one was seen.
    newest: u32,
    seen: bool,
    /// The latest `TSval` that was echoed, or a later one, where one was.
    latest: u32,
    echoed: bool,
    /// How many passed `TSval`s are remembered: more from when an echo comes after a later one, as more may.
    keep: u8,
    /// How many at the front are not later than the latest echo.
    passed: u8,
    /// The latest `TSval` when one came that was [`FAR`] behind it.
    doubted: u32,
}

impl Default for Echoes {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            newest: 0,
            seen: false,
            latest: 0,
            echoed: false,
            keep: PASSED_MAX,
            passed: 0,
            doubted: 0,
        }
    }
}

impl Echoes {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Waiting>()
    }

    /// Takes note of a `TSval` that passed.
    #[inline]
    pub(super) fn sent(&mut self, tsval: u32, at: CaptureTime) {
        if self.seen && !later(tsval, self.newest) {
            if tsval != self.newest {
                self.sent_late(tsval, at);
            }
            return;
        }
        if !self.seen {
            self.make_first_room();
        }
        (self.newest, self.seen) = (tsval, true);
        if self.waiting.len() >= UNECHOED_MAX {
            self.make_room();
        }
        self.waiting.push_back(Waiting::new(tsval, at));
    }

    #[cold]
    #[inline(never)]
    fn make_first_room(&mut self) {
        self.waiting.reserve_exact(ROOM);
    }

    /// Forgets the oldest `TSval` where no more are to wait.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.is_full() {
            self.waiting.pop_front();
            self.passed = self.passed.saturating_sub(1);
        }
    }

    /// Whether no more `TSval`s are to wait.
    fn is_full(&self) -> bool {
        self.waiting.len()
            >= if self.echoed {
                ECHOES_MAX
            } else {
                UNECHOED_MAX
            }
    }

    /// The same for a `TSval` that comes after a later one: it was overtaken on its way, or the later one is not of
    /// this sender's clock, as that of a segment of an earlier connection.
    #[cold]
    fn sent_late(&mut self, tsval: u32, at: CaptureTime) {
        if self.newest.wrapping_sub(tsval) > FAR {
            // Once, it may be a stray; when the next one is no later either, the latest was: damaged on its way, or of
            // another clock.
            if self.doubted == self.newest {
                self.newest = tsval;
                while self
                    .waiting
                    .back()
                    .is_some_and(|other| later(other.tsval, tsval))
                {
                    self.waiting.pop_back();
                }
                let left = u8::try_from(self.waiting.len()).unwrap_or(u8::MAX);
                self.passed = self.passed.min(left);
            }
            self.doubted = self.newest;
        }
        let is_passed = self.echoed && !later(tsval, self.latest);
        if is_passed || self.is_full() {
            return;
        }
        let place = self
            .waiting
            .partition_point(|other| !later(other.tsval, tsval));
        let before = place
            .checked_sub(1)
            .map(|before| self.waiting[before].tsval);
        let is_near = self.waiting.len() - place <= LATE_MAX;
        if before != Some(tsval) && is_near {
            self.waiting.insert(place, Waiting::new(tsval, at));
        }
    }

    /// The clock by which they are dated was set back: no echo of those that passed tells a delay.
    #[cold]
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
        self.passed = 0;
    }

    /// The latest `TSval`, where one was seen.
    pub(super) fn newest(&self) -> Option<u32> {
        self.seen.then_some(self.newest)
    }

    /// Whether `tsval`, which passed at `at`, is later than all that passed before.
    pub(super) fn is_new(&self, tsval: u32, at: CaptureTime) -> bool {
        self.waiting
            .back()
            .is_some_and(|latest| (latest.tsval, latest.at) == (tsval, at))
    }

    /// The latest `TSval` before `tsval`, which passed at `at`, where that is later than all that passed before.
    pub(super) fn before_new(&self, tsval: u32, at: CaptureTime) -> Option<u32> {
        let before = self.waiting.len().checked_sub(2)?;
        let before = self.waiting.get(before)?;
        self.is_new(tsval, at).then_some(before.tsval)
    }

    /// When a `TSval` later than `tsval` passed for the first time; or some time after that, as those that were echoed
    /// are forgotten, but for the latest.
    pub(super) fn passed_after(&self, tsval: u32) -> Option<CaptureTime> {
        let first = self
            .waiting
            .partition_point(|other| !later(other.tsval, tsval));
        self.waiting.get(first).map(|later| later.at)
    }

    /// Whether who sent a segment with these `timestamps` had not got what passed at `at`: it echoes an older `TSval`.
    #[cold]
    pub(super) fn are_before(&self, timestamps: Option<Timestamps>, at: CaptureTime) -> bool {
        timestamps
            .and_then(|timestamps| self.passed_after(timestamps.echo))
            .is_some_and(|later_at| later_at <= at)
    }

    /// Takes note of a `TSecr` that came back; the delay in nanoseconds, where it is a first echo.
    #[inline]
    pub(super) fn echoed(&mut self, tsecr: u32, at: CaptureTime) -> Option<i64> {
        if self.echoed && !later(tsecr, self.latest) {
            // Mostly the same as before: a tick of the clock lasts for many packets.
            if tsecr == self.latest {
                return None;
            }
            return self.overtaken(tsecr, at);
        }
        let mut index = usize::from(self.passed);
        let mut delay = None;
        while let Some(next) = self.waiting.get_mut(index)
            && !later(next.tsval, tsecr)
        {
            (self.latest, self.echoed) = (next.tsval, true);
            if next.tsval == tsecr {
                delay = Some(at.since(next.at)).filter(|&ns| ns >= 0);
                next.is_echoed = true;
            }
            if index < usize::from(self.keep) {
                index += 1;
            } else {
                self.waiting.pop_front();
            }
        }
        self.passed = index as u8;
        delay
    }

    /// The same for an echo that comes after a later one.
    #[cold]
    fn overtaken(&mut self, tsecr: u32, at: CaptureTime) -> Option<i64> {
        self.keep = OVERTAKEN_MAX;
        let passed = usize::from(self.passed);
        let overtaken = self
            .waiting
            .iter_mut()
            .take(passed)
            .find(|other| other.tsval == tsecr && !other.is_echoed)?;
        overtaken.is_echoed = true;
        let delay = at.since(overtaken.at);
        (delay >= 0).then_some(delay)
    }
}

/// What the packet that is judged echoes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OwnEcho {
    /// Nothing, or what one before it did.
    #[default]
    Old,
    /// The same, and its sender had not heard of the ACK that made progress last.
    Stale,
    /// What none before it did.
    News,
    /// The same, and the time since that is the latest in the [`Estimate`] of the way to the sender and back.
    Counted,
}

/// Whether timestamp `a` is later than `b`, modulo 2^32 (RFC 7323 section 5.2).
#[inline]
pub(super) fn later(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

/// Longest delay that is believed, in ns: an hour is far beyond every retransmission timer.
const DELAY_NS_MAX: i64 = 3_600_000_000_000;

/// Whether so much may have passed between a packet and its answer: not where either was dated wrong.
pub(super) fn is_delay(ns: i64) -> bool {
    (0..=DELAY_NS_MAX).contains(&ns)
}

/// Whole microseconds, below the largest number.
fn microseconds(ns: i64) -> u32 {
    u32::try_from(ns / 1000).map_or(u32::MAX - 1, |us| us.min(u32::MAX - 1))
}

/// Smoothed delay and its variation (RFC 6298 section 2), and the smallest delay, of one half of
/// the path. Steers judgements; what users see is computed from the samples themselves. All in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    smoothed: i64,
    variation: i64,
    /// Smallest and latest, in microseconds; the smallest is the largest number before the first sample.
    min_us: u32,
    latest_us: u32,
}

impl Default for Estimate {
    fn default() -> Self {
        Self {
            smoothed: 0,
            variation: 0,
            min_us: u32::MAX,
            latest_us: 0,
        }
    }
}

impl Estimate {
    #[inline(always)]
    pub(super) fn add(&mut self, rtt_ns: i64) {
        // A clock that jumped by years must not make the sums overflow.
        let rtt_ns = rtt_ns.clamp(0, DELAY_NS_MAX);
        if self.min_us == u32::MAX {
            self.smoothed = rtt_ns;
            self.variation = rtt_ns / 2;
        } else {
            self.variation += ((rtt_ns - self.smoothed).abs() - self.variation) / 4;
            self.smoothed += (rtt_ns - self.smoothed) / 8;
        }
        self.latest_us = microseconds(rtt_ns);
        self.min_us = self.min_us.min(self.latest_us);
    }

    /// The same before the latest sample, but for the smallest delay: RFC 6298's steps backwards, to a microsecond.
    pub(super) fn before_latest(&self) -> Self {
        let latest = i64::from(self.latest_us) * 1000;
        let smoothed = (8 * self.smoothed - latest) / 7;
        let variation = (4 * self.variation - (latest - smoothed).abs()) / 3;
        Self {
            smoothed: smoothed.max(0),
            variation: variation.max(0),
            ..*self
        }
    }

    /// Whether there was one sample alone.
    pub(super) fn is_single(&self) -> bool {
        self.min_us == self.latest_us
            && self.variation == self.smoothed / 2
            && microseconds(self.smoothed) == self.latest_us
    }

    /// Lowers the smallest delay to `ns`, which was measured otherwise, where one is known.
    pub(super) fn lower(&mut self, ns: Option<i64>) {
        if self.min_us < u32::MAX
            && let Some(ns) = ns
        {
            self.min_us = self.min_us.min(microseconds(ns));
        }
    }

    /// Smallest delay; `None` before the first sample.
    pub(super) fn min_ns(&self) -> Option<i64> {
        (self.min_us < u32::MAX).then_some(i64::from(self.min_us) * 1000)
    }

    /// The latest delay, or the smoothed one where that is smaller: a queue that has drained is long
    /// gone when an average shows it. 0 before the first sample.
    pub(super) fn recent_ns(&self) -> i64 {
        self.smoothed.min(i64::from(self.latest_us) * 1000)
    }

    /// Smoothed delay; 0 before the first sample.
    pub(super) fn smoothed_ns(&self) -> i64 {
        self.smoothed
    }

    /// Smoothed delay plus four variations (RFC 6298 section 2.3), without any floor.
    pub(super) fn patience_ns(&self) -> i64 {
        self.smoothed + 4 * self.variation
    }

    /// Whether what took `ns` may have been such a delay: no shorter than all of them, nor by four variations than the
    /// smoothed one. `false` before the first sample.
    #[inline]
    pub(super) fn may_take(&self, ns: i64) -> bool {
        self.min_ns().is_some_and(|min_ns| ns >= min_ns) && ns >= self.smoothed - 4 * self.variation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_of_microseconds_gives_a_sample_for_each_packet_of_a_long_flight() {
        // One packet a microsecond, answered 60,000 later: so many are on their way.
        const FLIGHT: i64 = 60_000;
        let at = |us: i64| CaptureTime::from_ns(1_000 * us);
        let mut echoes = Echoes::default();
        // A handshake.
        echoes.sent(u32::MAX, at(-1));
        assert_eq!(echoes.echoed(u32::MAX, at(-1)), Some(0));
        let mut samples = 0;
        for us in 0..3 * FLIGHT {
            echoes.sent(us as u32, at(us));
            if let Some(sent) = us.checked_sub(FLIGHT).filter(|&sent| sent >= 0)
                && let Some(delay_ns) = echoes.echoed(sent as u32, at(us))
            {
                assert_eq!(delay_ns, 1_000 * FLIGHT);
                samples += 1;
            }
        }
        assert_eq!(samples, 2 * FLIGHT);
    }

    #[test]
    fn the_latest_sample_is_taken_out_again_to_some_microseconds() {
        let mut before = Estimate::default();
        for ns in [20_000_000, 26_000_000, 21_000_000] {
            before.add(ns);
        }
        for latest in [1_000, 23_456_789, 168_000_999] {
            let mut with = before;
            with.add(latest);
            let again = with.before_latest();
            // The latest is known to a microsecond, and four variations count.
            let off_ns = [
                again.smoothed_ns() - before.smoothed_ns(),
                again.patience_ns() - before.patience_ns(),
            ];
            assert!(off_ns.iter().all(|ns| ns.abs() < 2_000), "{off_ns:?}");
        }
    }

    #[test]
    fn what_came_much_sooner_than_usual_took_no_such_delay() {
        let mut delay = Estimate::default();
        assert!(!delay.may_take(i64::MAX));
        // A short packet, and then full ones that a slow link takes 10 ms for.
        delay.add(10_000_000);
        assert!(!delay.may_take(9_999_999));
        assert!(delay.may_take(10_000_000));
        for _ in 0..100 {
            delay.add(20_000_000);
        }
        assert!(!delay.may_take(15_000_000));
        assert!(delay.may_take(20_000_000));
    }
}
