//! Repeats of the left edge that were lost before they came here, after a timeout.

use super::delays::nearly;
use super::half::HalfFlow;
use super::timeouts::AfterTimeout;
use crate::time::CaptureTime;

impl HalfFlow {
    /// Data that begins at `start`, with nothing left out before it, passes at `at` behind ids that were skipped. After a
    /// timeout, in a repair of all that was outstanding, they were of repeats, of which the left edge comes first (METRICS.md
    /// RF1).
    pub(super) fn note_lost_edge(&mut self, start: i64, at: CaptureTime) {
        let tells = self.do_ids_tell() && !self.owes_ack;
        // Above the highest byte seen lies what ids told to have been given up, too.
        let given_up_to = self.repair.timeout.as_deref().map(|after| after.until);
        let leaves_nothing_out = start <= self.high || Some(start) < given_up_to;
        let Some(edge) = self
            .una
            .filter(|&una| tells && una < start && leaves_nothing_out)
        else {
            return;
        };
        let trip_ns = nearly(self.delays.upstream.min_ns().unwrap_or(i64::MAX));
        let has_heard = (self.times.progress_at).is_some_and(|heard| at.since(heard) >= trip_ns);
        if let Some(after) = self.repair.timeout.as_deref_mut()
            && has_heard
            && after.lost_edge.is_none_or(|(known, _)| known < edge)
        {
            after.lost_edge = Some((edge, at));
        }
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
        let (_, since) = after.lost_edge.filter(|&(edge, _)| edge == start)?;
        let highest = self.board.highest_end()?;
        let soonest_ns = nearly(self.delays.shortest_round_trip_ns());
        let is_first = self
            .times
            .data_at
            .is_none_or(|last| last.since(since) < soonest_ns);
        let tells = self.una == Some(start)
            && is_first
            && at.since(since) >= soonest_ns
            && self
                .in_flight
                .has_reported(&(since..CaptureTime::MAX), highest);
        tells.then_some(since)
    }
}
