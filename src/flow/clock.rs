//! What time it is for a table, by the records that come: one with an absurd time must not make all look idle.

use crate::time::CaptureTime;

/// How far one record can move the clock, in ns of capture time.
pub(super) const JUMP_NS: i64 = 60_000_000_000;

/// How many records it takes, with hardly any between them that go on as before, to believe that the capture's clock was
/// set, and not only some are damaged.
const LEAPS_MIN: u32 = 1000;

/// How often what is silent is looked for, in ns of capture time.
const SWEEP_NS: i64 = 10_000_000_000;

/// A silence of 30 days is none, in ns: the capture's clock was set, and what was silent goes on.
const LEAP_NS: i64 = 30 * 86_400 * 1_000_000_000;

/// Whether nothing was heard for `least_ns` or longer, and the capture's clock was not set in the meantime.
pub(super) fn is_silence(silent_ns: i64, least_ns: i64) -> bool {
    (least_ns..LEAP_NS).contains(&silent_ns)
}

/// A table's clock.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// The latest instant seen.
    pub(super) now: CaptureTime,
    /// When it is next looked for what is silent.
    sweep_at: CaptureTime,
    /// Records that were so far ahead of the clock that it must have been set, if they are many.
    leaps: u32,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            now: CaptureTime::MIN,
            sweep_at: CaptureTime::MIN,
            leaps: 0,
        }
    }
}

impl Clock {
    /// Sets it; `true`, and nothing is changed, when there is more to do at that instant: [`turn`](Self::turn).
    #[inline]
    pub(super) fn turns(&mut self, at: CaptureTime) -> bool {
        let ahead_ns = at.since(self.now);
        let more = ahead_ns > JUMP_NS || (ahead_ns > 0 && at >= self.sweep_at);
        if ahead_ns > 0 && !more {
            self.now = at;
        }
        more
    }

    /// No instant before it [turns](Self::turns) the clock.
    #[inline]
    pub(super) fn turns_not_until(&self) -> CaptureTime {
        self.now.plus_ns(JUMP_NS).min(self.sweep_at)
    }

    /// Sets it; whether it is time to look for what is silent.
    #[cold]
    pub(super) fn turn(&mut self, at: CaptureTime) -> bool {
        let ahead_ns = at.since(self.now);
        self.now = if self.now == CaptureTime::MIN {
            at
        } else if ahead_ns < LEAP_NS {
            // Those that leapt before were some of many.
            self.leaps = 0;
            // One record with an absurd time must not make all connections look idle.
            self.now.plus_ns(ahead_ns.min(JUMP_NS))
        } else if self.leaps < LEAPS_MIN {
            // Nor must a clock that is set: on the way to there each of them would have been silent for too long.
            self.leaps += 1;
            return false;
        } else {
            self.leaps = 0;
            at
        };
        let sweeps = self.now >= self.sweep_at;
        if sweeps {
            self.sweep_at = self.now.plus_ns(SWEEP_NS);
        }
        sweeps
    }

    /// Until when it is sure that time has come, whatever one record said: what is put away by it rests on more.
    pub(super) fn surely(&self) -> CaptureTime {
        self.now.plus_ns(-JUMP_NS)
    }
}
