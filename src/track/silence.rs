//! How long a sender had been silent, by what it had heard.

use super::delays::{PROBE_NS_MIN, nearly};
use super::half::HalfFlow;
use super::rtt::OwnEcho;
use crate::decode::Segment;
use crate::time::CaptureTime;

impl HalfFlow {
    /// Since when the sender has been silent by what it sent at `at`, as far as it knew: an ACK that passed here
    /// shortly before had not yet come to it.
    fn quiet_since(&self, at: CaptureTime) -> Option<CaptureTime> {
        let passed = self.heard_progress(at).map(|(passed, _)| passed);
        self.times.data_at.max(passed)
    }

    /// How long that was at `at`, in ns.
    pub(super) fn quiet_ns(&self, at: CaptureTime) -> i64 {
        self.quiet_since(at).map_or(0, |since| at.since(since))
    }

    /// When the ACK passed that made progress last, and when it came to its sender, where that was before `at`.
    pub(super) fn heard_progress(&self, at: CaptureTime) -> Option<(CaptureTime, CaptureTime)> {
        let trip_ns = nearly(self.delays.upstream.min_ns().unwrap_or(0));
        let passed = self
            .times
            .progress_at
            .filter(|_| self.own_echo != OwnEcho::Stale)?;
        let heard = passed.plus_ns(trip_ns);
        (heard <= at).then_some((passed, heard))
    }

    /// How long a timer may have run at `at`, in ns: it begins with the last packet, and anew when an ACK has come to its
    /// sender that made progress (RFC 6298 section 5).
    pub(super) fn timer_ran_ns(&self, at: CaptureTime) -> i64 {
        let heard = self.heard_progress(at).map(|(_, heard)| heard);
        let since = self.times.packet_at().max(heard);
        since.map_or(0, |since| at.since(since))
    }

    /// Whether neither data nor progress passed for so long before `at` that a timer may have run out.
    pub(super) fn is_quiet(&self, at: CaptureTime) -> bool {
        // Timers begin anew when an ACK has come to the sender that made progress (RFC 6298 section 5, RFC 8985
        // section 7.2).
        let heard = self.heard_progress(at).map(|(_, heard)| heard);
        let since = self.times.data_at.max(heard);
        is_silence(since, at, self.delays.round_trip_ns())
    }

    /// Whether the last packet may be probed for at `at`: two round trips later (RFC 8985 section 7.2), of which a queue
    /// may have made the last ones longer than those before.
    pub(super) fn may_be_probed(&self, at: CaptureTime) -> bool {
        is_silence(
            self.quiet_since(at),
            at,
            self.delays.round_trip_ns() / 2 * 3,
        )
    }

    /// Takes note of whether `segment` tells by its timestamps that its sender had heard of nothing since the packet before,
    /// and so not of the ACK that made progress last, as far as all came to it that `peer` sent: it takes the clock of
    /// what comes in its turn alone (RFC 7323 section 4.3).
    #[inline]
    pub(super) fn note_stale_echo(&mut self, segment: &Segment, peer: &Self) {
        if self.own_echo == OwnEcho::Old && segment.timestamps.is_some() {
            self.judge_old_echo(segment, peer);
        }
    }

    /// Whether who sends `segment` the other way has all that this direction sent.
    pub(super) fn is_whole_at(&self, segment: &Segment) -> bool {
        self.una.is_some_and(|una| una >= self.sent_to()) && segment.sack.as_slice().is_empty()
    }

    #[cold]
    fn judge_old_echo(&mut self, segment: &Segment, peer: &Self) {
        let is_whole = peer.is_whole_at(segment);
        let unheard = |passed_at| peer.echoes.are_before(segment.timestamps, passed_at);
        // Some take no clock of what has no payload: the sender's own tells that it was silent.
        let round_trip_ns = nearly(self.delays.shortest_round_trip_ns());
        let was_silent = || {
            let tsval = segment.timestamps.map(|timestamps| timestamps.value);
            let own_ns = tsval.and_then(|tsval| self.own_silence_ns(tsval, segment.at));
            own_ns.is_some_and(|own_ns| own_ns >= round_trip_ns)
        };
        if is_whole && self.times.progress_at.is_some_and(unheard) && was_silent() {
            self.own_echo = OwnEcho::Stale;
        }
    }
}

/// Whether what passes at `at` comes so long after `since`, in ns, or for as long as any timer takes; or after nothing.
fn is_silence(since: Option<CaptureTime>, at: CaptureTime, ns: i64) -> bool {
    since.is_none_or(|since| at.since(since) >= ns.max(PROBE_NS_MIN))
}
