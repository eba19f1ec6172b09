//! What the latest ACKs of one direction's data told.

use super::half::HalfFlow;
use crate::event::{Direction, FlowSink};
use crate::time::CaptureTime;

/// A time in units of 8 us, as finely as a connection has room for: much finer than round trips, or the clock would
/// decide what was lately. They come again after 10 hours; never 0, which stands for no time.
#[derive(Clone, Copy, Debug, Default)]
struct Moment(u32);

impl Moment {
    #[inline]
    fn of(at: CaptureTime) -> Self {
        Self(((at.as_ns() >> Self::UNIT_BITS) as u32).max(1))
    }

    /// How long it was ago at `at`, in ns; `None` of no time. Hours where the clock was set back since.
    fn age_ns(self, at: CaptureTime) -> Option<i64> {
        let age = Self::of(at).0.wrapping_sub(self.0);
        (self.0 != 0).then_some(i64::from(age) << Self::UNIT_BITS)
    }

    /// Bits of a time in ns below its unit.
    const UNIT_BITS: u32 = 13;
}

/// What the latest ACKs of one direction's data told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestAcks {
    /// When an ACK that told of data above passed last.
    told_at: Moment,
    /// ACKs in a row that did not move and told of data above; saturates.
    pub(super) dup_run: u16,
    /// Packets that such ACKs have told of and that are still not acknowledged: they are above a further hole.
    pub(super) still_held: u16,
    /// Packets that the ACK that is judged has told to have come, for the first time; saturates, as where it had no
    /// room for all. 0 between segments.
    pub(super) told: u16,
    /// Segments that the last ACK of new data covered, where no duplicate ACK came before it; saturates.
    pub(super) last_cover: u16,
}

impl LatestAcks {
    /// The ACK that is judged tells that so many packets more have come.
    #[inline(always)]
    pub(super) fn add_told(&mut self, packets: u16) {
        self.told = self.told.saturating_add(packets);
    }

    /// The receiver told at `at` of data above what it acknowledges.
    #[inline]
    pub(super) fn note_told(&mut self, at: CaptureTime) {
        self.told_at = Moment::of(at);
    }

    /// Whether an ACK for a segment that was overtaken, without SACK, covers all that had overtaken it, `covered`
    /// segments with that one: as many as there were duplicate ACKs (RFC 5681 section 4.2). One that covers no more
    /// than the last one did may just as well be delayed after a copy of a segment.
    pub(super) fn covers_overtakers(&self, covered: u32) -> bool {
        covered > self.dup_run.into() && covered > self.last_cover.into()
    }

    /// Whether the receiver told of data above what it acknowledges in the `ns` before `at`.
    pub(super) fn told_within(&self, ns: i64, at: CaptureTime) -> bool {
        self.told_at.age_ns(at).is_some_and(|age_ns| age_ns <= ns)
    }
}

/// What SACK and duplicate ACKs have reported of one direction's data above the highest number acknowledged.
#[derive(Clone, Copy)]
pub(super) struct Reported {
    /// By SACK.
    bytes: u64,
    /// Duplicate ACKs without SACK told that more came, but not how much.
    is_more: bool,
}

impl HalfFlow {
    pub(super) fn reported(&self) -> Reported {
        let bytes = self.board.bytes();
        Reported {
            bytes,
            is_more: self.acks.dup_run > 0 && bytes == 0,
        }
    }

    /// Tells what the ACK that passed at `at` was the first to report. It acknowledged `newly` bytes of payload more by
    /// its number; `None` where that covered nothing more.
    #[inline]
    pub(super) fn tell_delivered<S: FlowSink>(
        &self,
        dir: Direction,
        at: CaptureTime,
        before: Reported,
        newly: Option<u64>,
        sink: &mut S,
    ) {
        let bytes = (newly.unwrap_or(0) + self.board.bytes()).saturating_sub(before.bytes);
        if before.is_more && newly.is_some() {
            sink.delivered(dir, at, 0);
        } else if bytes > 0 {
            sink.delivered(dir, at, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LatestAcks;
    use crate::time::CaptureTime;

    #[test]
    fn what_was_told_is_known_to_some_microseconds() {
        let mut acks = LatestAcks::default();
        assert!(!acks.told_within(i64::MAX, CaptureTime::from_ns(1)));
        // In the first moment of all, and wherever else the clock stands.
        for ns in [0_i64, 1_048_575, 1_048_576, 1_700_000_000_123_456_789] {
            let after = |us: i64| CaptureTime::from_ns(ns + 1000 * us);
            acks.note_told(after(0));
            assert!(acks.told_within(100_000, after(90)), "{ns}");
            assert!(!acks.told_within(100_000, after(120)), "{ns}");
            assert!(
                !acks.told_within(100_000, after(-10)),
                "{ns}: the clock was set back"
            );
        }
    }
}
