//! What the latest ACKs of one direction's data told.

use super::half::HalfFlow;
use crate::event::{Direction, FlowSink};
use crate::time::CaptureTime;

/// Bits of a time in ns below [`unit_of`] it.
pub(super) const UNIT_BITS: u32 = 20;

/// A time in units of about a millisecond, which come again after 52 days; never 0, which stands for no time.
pub(super) fn unit_of(at: CaptureTime) -> u32 {
    ((at.as_ns() >> UNIT_BITS) as u32).max(1)
}

/// What the latest ACKs of one direction's data told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestAcks {
    /// When an ACK that told of data above passed last, as the [unit](unit_of) of that time; 0 before one.
    told_unit: u32,
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
        self.told_unit = unit_of(at);
    }

    /// Whether an ACK for a segment that was overtaken, without SACK, covers all that had overtaken it, `covered`
    /// segments with that one: as many as there were duplicate ACKs (RFC 5681 section 4.2). One that covers no more
    /// than the last one did may just as well be delayed after a copy of a segment.
    pub(super) fn covers_overtakers(&self, covered: u32) -> bool {
        covered > self.dup_run.into() && covered > self.last_cover.into()
    }

    /// Whether the receiver told of data above what it acknowledges in the `ns` before `at`, to the [unit](unit_of).
    pub(super) fn told_within(&self, ns: i64, at: CaptureTime) -> bool {
        self.told_unit != 0
            && i64::from(unit_of(at).wrapping_sub(self.told_unit)) << UNIT_BITS <= ns
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
    fn what_was_told_is_known_to_about_a_millisecond() {
        let at = |ms: i64| CaptureTime::from_ns(ms * 1_000_000);
        let mut acks = LatestAcks::default();
        assert!(!acks.told_within(i64::MAX, at(1_000)));
        acks.note_told(at(1_000));
        assert!(acks.told_within(12_000_000, at(1_010)));
        assert!(!acks.told_within(8_000_000, at(1_010)));
        // In the first millisecond of all.
        acks.note_told(at(0));
        assert!(acks.told_within(12_000_000, at(10)));
    }
}
