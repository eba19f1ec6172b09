//! Repeats of the left edge that were lost before they came here, after a timeout.

use super::delays::nearly;
use super::half::HalfFlow;
use super::ids::Step;
use super::timeouts::AfterTimeout;
use crate::time::CaptureTime;

/// The left edge, whose repeat was lost before it came here.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostEdge {
    start: i64,
    /// When what was sent next passed.
    since: CaptureTime,
    /// That was a repeat of what lies above.
    is_passed_over: bool,
}

impl HalfFlow {
    /// Data that begins at `start` passes at `at` after a timeout: it may tell that a repeat of the left edge was lost before it
    /// came here (METRICS.md RF1).
    #[cold]
    pub(super) fn note_lost_edge(&mut self, start: i64, at: CaptureTime, step: Step) {
        let skipped = self.skipped_repeats(at, step);
        let left_out = self.left_out(start, step, skipped);
        let edge = left_out.or_else(|| self.skipped_edge(start, skipped));
        let (Some(edge), Some(una)) = (edge, self.una) else {
            return;
        };
        let is_passed_over = start < self.high;
        let Some(after) = self.repair.timeout.as_deref_mut() else {
            return;
        };
        match &mut after.lost_edge {
            Some(known) if known.start == edge => known.is_passed_over |= is_passed_over,
            // That is not acknowledged yet, and comes first.
            Some(known) if (una..edge).contains(&known.start) => {}
            _ => {
                after.lost_edge = Some(LostEdge {
                    start: edge,
                    since: at,
                    is_passed_over,
                });
            }
        }
    }

    /// How many ids were skipped before what passes at `at` that may have been of repeats which the ACK asked for that moved the
    /// left edge.
    fn skipped_repeats(&self, at: CaptureTime, step: Step) -> u16 {
        let trip_ns = nearly(self.delays.upstream.min_ns().unwrap_or(i64::MAX));
        let has_heard = (self.times.progress_at).is_some_and(|heard| at.since(heard) >= trip_ns);
        if has_heard && self.do_ids_tell() && !self.owes_ack {
            step.skipped()
        } else {
            0
        }
    }

    /// The lowest bytes that are missing, where data that begins at `start` leaves them out after a timeout: what that gave up is
    /// repeated in order (RFC 5681 section 3.1, RFC 6675 section 5.1). Some senders send new data in between, which tells where
    /// all that is missing below was `skipped` just before it.
    fn left_out(&self, start: i64, step: Step, skipped: u16) -> Option<i64> {
        let una = self.una?;
        let hole = self.holes.first_within(una, start);
        let lowest = hole.map_or(self.high, |hole| hole.start).max(una);
        let tells = if start < self.high {
            !matches!(step, Step::Behind(_))
        } else {
            self.missing_between(lowest, start, skipped.saturating_add(1)) <= skipped
        };
        (tells && lowest < start).then_some(lowest)
    }

    /// The left edge, where data that begins at `start` leaves nothing out behind ids that were `skipped`: in a repair of all that
    /// was outstanding they were of repeats, of which the left edge comes first.
    fn skipped_edge(&self, start: i64, skipped: u16) -> Option<i64> {
        // Above the highest byte seen lies what ids told to have been given up, too.
        let given_up_to = self.repair.timeout.as_deref().map(|after| after.until);
        let leaves_nothing_out = start <= self.high || Some(start) < given_up_to;
        self.una
            .filter(|&una| skipped > 0 && una < start && leaves_nothing_out)
    }

    /// When the left edge was repeated by what was lost before it came here, or a little later, if what begins at `start`
    /// and passes at `at` repeats it a round trip after that, and what was sent since has been reported (RFC 8985 section
    /// 6.2). Who knows by that repeats it before anything else.
    pub(super) fn lost_edge_at(
        &self,
        after: &AfterTimeout,
        start: i64,
        at: CaptureTime,
    ) -> Option<CaptureTime> {
        let LostEdge {
            since,
            is_passed_over,
            ..
        } = after.lost_edge.filter(|edge| edge.start == start)?;
        let highest = self.board.highest_end()?;
        let soonest_ns = nearly(self.delays.shortest_round_trip_ns());
        // Queues on the way to here make it longer.
        let recent_ns = self.delays.downstream.recent_ns() + self.delays.upstream.recent_ns();
        let is_first = is_passed_over
            || self
                .times
                .data_at
                .is_none_or(|last| last.since(since) < nearly(recent_ns));
        let tells = self.una == Some(start)
            && is_first
            && at.since(since) >= soonest_ns
            && self
                .in_flight
                .has_reported(&(since..CaptureTime::MAX), highest);
        tells.then_some(since)
    }
}
