//! What held a sender back, and for how long: repairs of losses, the receiver's window, nothing to
//! send.

use super::half::HalfFlow;
use crate::event::{Direction, FlowSink, Recovery};
use crate::time::CaptureTime;

/// Times of one direction in which something other than the network held the sender back
/// (METRICS.md L1), and the repair that is going on (X8).
#[derive(Debug, Default)]
pub(super) struct Limits {
    /// Nothing was in flight, beyond the time that an ACK takes to the sender and new data back.
    pub(super) application_ns: i64,
    /// No room for a full packet was left in the advertised window.
    pub(super) receiver_ns: i64,
    full_since: Option<CaptureTime>,
    /// When there was room again, the last time.
    opened_at: Option<CaptureTime>,
    repair: Option<Repair>,
}

#[derive(Clone, Copy, Debug)]
struct Repair {
    start: CaptureTime,
    /// Offset after all that had been sent when it began (RFC 6582, `recover`).
    until: i64,
    timeout: bool,
}

impl HalfFlow {
    /// Whether nothing is in flight of what was sent.
    pub(super) fn is_answered(&self) -> bool {
        self.sent_data && self.una == Some(self.high)
    }

    /// Data is about to be taken in that passed at `at`.
    pub(super) fn note_pause(&mut self, at: CaptureTime) {
        let Some(emptied_at) = self.progress_at.filter(|_| self.is_answered()) else {
            return;
        };
        if self.limits.full_since.is_some() {
            return;
        }
        let since = self
            .limits
            .opened_at
            .map_or(emptied_at, |opened_at| opened_at.max(emptied_at));
        let pause_ns = at.since(since).saturating_sub(self.upstream.smoothed_ns());
        // A clock that jumps makes no pause longer than the flow.
        self.limits.application_ns = self.limits.application_ns.saturating_add(pause_ns.max(0));
    }

    /// Whether a loss is being repaired.
    pub(super) fn is_repairing(&self) -> bool {
        self.limits.repair.is_some()
    }

    /// Data or a window has passed at `at`: whether there is room for more.
    pub(super) fn note_room(&mut self, at: CaptureTime) {
        let full = self.window_end.is_some_and(|end| {
            let room = end - self.high;
            // A frame of several packets is larger than one that waits; mostly there is room for that.
            room < i64::from(self.largest_payload)
                && room < i64::from(self.packet_payload())
                && self.sent_data
        });
        match (full, self.limits.full_since) {
            (true, None) => self.limits.full_since = Some(at),
            (false, Some(since)) => {
                self.limits.full_since = None;
                self.limits.opened_at = Some(at);
                let ns = at.since(since).max(0);
                self.limits.receiver_ns = self.limits.receiver_ns.saturating_add(ns);
            }
            _ => {}
        }
    }

    /// A retransmission passed at `at`.
    pub(super) fn note_repair(&mut self, at: CaptureTime, timeout: bool) {
        if let Some(repair) = &mut self.limits.repair {
            repair.timeout |= timeout;
        } else if self.una.is_none_or(|una| una < self.high) {
            self.limits.repair = Some(Repair {
                start: at,
                until: self.high,
                timeout,
            });
        }
    }

    /// The repeat that passed at `at` was no timer's.
    pub(super) fn forget_timeout_of(&mut self, at: CaptureTime) {
        if let Some(repair) = self
            .limits
            .repair
            .as_mut()
            .filter(|repair| repair.start == at)
        {
            repair.timeout = false;
        }
    }

    /// What passed at `at` was no retransmission: a repair that began with it is none.
    pub(super) fn forget_repair(&mut self, at: CaptureTime) {
        if self.limits.repair.is_some_and(|repair| repair.start == at) {
            self.limits.repair = None;
            self.recovery_until = None;
            self.timeout_until = None;
        }
    }

    /// The cumulative ACK has moved at `at`; `over`: nothing more will come.
    pub(super) fn note_repaired<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        over: bool,
        sink: &mut S,
    ) {
        let Some(repair) = self.limits.repair else {
            return;
        };
        if over || self.una.is_some_and(|una| una >= repair.until) {
            self.limits.repair = None;
            let Repair { start, timeout, .. } = repair;
            sink.recovery(
                dir,
                &Recovery {
                    start,
                    end: at.max(start),
                    timeout,
                },
            );
        }
    }
}
