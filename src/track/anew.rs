//! Timers that begin again with the lowest bytes: what was skipped before these.

use super::delays::{TIMER_NS_MIN, nearly};
use super::half::HalfFlow;
use crate::time::CaptureTime;

/// New packets with which a sender may find out whether its timer ran out too soon (RFC 5682 section 2.1, step 2).
const TRIED_MAX: u16 = 2;

impl HalfFlow {
    /// Whether a timer may have run out that brings what begins at `start` and passes at `at`, the lowest bytes that are
    /// missing: it goes on with nothing that was repeated before.
    pub(super) fn begins_anew(&self, start: Option<i64>, at: CaptureTime) -> bool {
        let timer_ns = nearly(TIMER_NS_MIN).max(self.delays.round_trip_ns());
        start.is_some() && start == self.una && self.timer_ran_ns(at) >= timer_ns
    }

    /// The same where SACK had told what is missing.
    pub(super) fn begins_told(&self, start: Option<i64>, at: CaptureTime) -> bool {
        self.board.highest_end().is_some() && self.begins_anew(start, at)
    }

    /// How many of the ids that were `skipped` before a packet, which begins at `start` and passes at `at`, were of what
    /// its sender had tried that is new, where nothing else passed since the ACK of a timer's repeat until a further timer
    /// ran out. Who is in a repair already does not try that (RFC 5682 section 2.1, step 1).
    pub(super) fn tried_unseen(&self, start: Option<i64>, at: CaptureTime, skipped: u16) -> u16 {
        let is_answered = self.times.progress_at > self.times.data_at;
        let may_try = self.repair.after_timeout().is_some_and(|after| {
            let is_first = after.alone && !after.ends_fast_repair && !after.goes_on;
            is_first && self.times.data_at == Some(after.at)
        });
        if may_try && is_answered && self.begins_anew(start, at) {
            skipped.min(TRIED_MAX)
        } else {
            0
        }
    }

    /// How many of them repeated what SACK had told their sender of by `heard_by`, before a timer began anew: it repeats
    /// that before it sends what is new (RFC 6675 section 5, `NextSeg`), and before anything of it was seen no more than
    /// was reported to have come (RFC 6937 section 3).
    pub(super) fn repeated_before_timer(
        &self,
        (start, at): (Option<i64>, CaptureTime),
        heard_by: CaptureTime,
        skipped: u16,
    ) -> u16 {
        let Some(edge) = self.una.filter(|_| self.begins_told(start, at)) else {
            return 0;
        };
        let packet = self.packet_size.full();
        let (from, most) = if self.repair.goes_on() {
            (self.emissions.repeated_to().unwrap_or(edge), skipped)
        } else {
            let reported = self.board.bytes().div_ceil(packet.into());
            let reported = u16::try_from(reported).unwrap_or(u16::MAX);
            (edge, skipped.min(reported))
        };
        self.holes
            .packets_missing(from, self.high, Some(heard_by), packet, most)
            .0
    }
}
