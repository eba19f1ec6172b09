//! A flow's numbers, unpacked for who wants several of them.

use super::flow::{Flow, Limited, Quality};
use crate::decode::Transport;
use crate::metric;
use crate::observe::{
    ConnectionFacts, DelayStats, DirectionSummary, Incidents, Outline, OutlinedFlow, Span,
};
use crate::time::CaptureTime;
use crate::track::{HalfState, Handshake};

/// A flow's numbers, partly unpacked: the methods of a [`Flow`] unpack with each call, and a row of a table needs some
/// twenty of them.
#[derive(Clone, Copy, Debug)]
pub struct FlowFigures<'a> {
    flow: Flow<'a>,
    outlined: OutlinedFlow<'a>,
}

impl<'a> FlowFigures<'a> {
    pub(super) fn of(flow: Flow<'a>) -> Self {
        Self {
            flow,
            outlined: flow.record.outlined(),
        }
    }

    /// Sequence state at the end.
    #[must_use]
    pub fn state(&self) -> HalfState {
        self.outline().state
    }

    /// What else there is of the same numbers.
    #[must_use]
    pub fn outline(&self) -> &Outline {
        &self.outlined.outline
    }

    /// Counts and distributions. Unpacks some fifty numbers with each call: keep the result.
    #[must_use]
    pub fn summary(&self) -> DirectionSummary {
        self.outlined.summary()
    }

    /// Time of the last ACK that covered new payload; `None` where none did (a SYN does not count).
    #[must_use]
    pub fn last_new_ack_at(&self) -> Option<CaptureTime> {
        let newest = self.outline().last_new_ack_at;
        newest.filter(|_| self.state().acked_bytes > Some(0))
    }

    /// Payload that counts as delivered, in bytes: acknowledged or, of UDP, whose ACKs nobody sees, what passed.
    #[must_use]
    pub fn delivered_bytes(&self) -> Option<u64> {
        match self.flow.transport() {
            Transport::Tcp => self.state().acked_bytes,
            Transport::Udp => Some(self.outline().payload_bytes),
        }
    }

    /// Time of the last of it; `None` where nothing was delivered.
    #[must_use]
    pub fn last_delivered_at(&self) -> Option<CaptureTime> {
        match self.flow.transport() {
            Transport::Tcp => self.last_new_ack_at(),
            Transport::Udp => Some(self.outline().data_span?.last),
        }
    }

    /// The interval that goodput and throughput are taken over, in ns, and whether it ends with an
    /// ACK (`true`) or, in a one-way capture and of UDP, with the last data (METRICS.md G1); `None` where other
    /// packets of the receiver passed, but nothing was acknowledged.
    #[must_use]
    pub fn goodput_interval_ns(&self) -> Option<(i64, bool)> {
        let span = self.outline().data_span?;
        if self.state().acked_bytes.is_some() {
            Some((self.last_new_ack_at()?.since(span.first), true))
        } else {
            let is_told_by_data =
                self.flow.tcp().is_none() || self.is_one_way(&self.flow.connection().facts());
            is_told_by_data.then(|| (span.length_ns(), false))
        }
    }

    /// Round-trip times without their distribution (METRICS.md R2).
    #[must_use]
    pub fn rtt_stats(&self) -> DelayStats {
        self.outlined.rtt_stats()
    }

    /// What was out of the ordinary: of most flows nothing, which takes no more than a look.
    #[must_use]
    pub fn incidents(&self) -> Incidents {
        self.outlined.incidents()
    }

    /// Whether no packet of the other direction was seen (METRICS.md Q1): none of ACKs, which UDP has not.
    pub(super) fn is_one_way(&self, facts: &ConnectionFacts) -> bool {
        facts.packets[self.flow.dir().reversed().index()] == 0 && self.flow.tcp().is_some()
    }

    /// Whether a quarter or more of its data segments are copies of others.
    pub(super) fn has_copies(&self, incidents: &Incidents) -> bool {
        let copies = incidents.duplicate_packets;
        copies > 0
            && copies.saturating_mul(4) >= incidents.data_segments(self.outline().data_packets)
    }

    /// Bytes that were acknowledged and never seen (METRICS.md C6), `is_opening_seen` telling whether its SYN was; `None`
    /// where they may have been seen of a connection that was put away, which this one goes on.
    #[must_use]
    pub(crate) fn unseen_bytes(&self, is_opening_seen: bool) -> Option<u64> {
        let may_go_on = self.flow.within.has_put_away && !is_opening_seen;
        let unseen_bytes = self.state().unseen_bytes;
        unseen_bytes.filter(|&bytes| bytes == 0 || !may_go_on)
    }

    /// Payload that passed, each byte once as far as that can be told (METRICS.md C4): of UDP all of it.
    #[must_use]
    pub fn seen_bytes(&self) -> u64 {
        match self.flow.transport() {
            Transport::Tcp => self.state().unique_bytes,
            Transport::Udp => self.outline().payload_bytes,
        }
    }

    /// What was delivered or, where nobody tells, passed, in bytes: what the goodput is of (METRICS.md G1).
    #[must_use]
    pub fn goodput_bytes(&self) -> u64 {
        self.delivered_bytes().unwrap_or(self.seen_bytes())
    }

    /// Goodput in bits per second (METRICS.md G1); `None` with an empty interval.
    #[must_use]
    pub fn goodput_bps(&self) -> Option<f64> {
        let (interval_ns, _) = self.goodput_interval_ns()?;
        let bytes = self.goodput_bytes();
        if bytes == 0 {
            return None;
        }
        metric::rate_bps(bytes, interval_ns)
    }

    /// Throughput in bits per second (METRICS.md G2); `None` with an empty interval.
    #[must_use]
    pub fn throughput_bps(&self) -> Option<f64> {
        let (interval_ns, _) = self.goodput_interval_ns()?;
        metric::rate_bps(self.outline().ip_bytes, interval_ns)
    }

    /// Overhead (METRICS.md O1); `None` where nothing was acked.
    #[must_use]
    pub fn overhead(&self) -> Option<f64> {
        metric::overhead(self.outline().ip_bytes, self.state().acked_bytes?)
    }

    /// Packets on the wire, as far as the MSS tells how many a frame of offload is (METRICS.md C7).
    /// `incidents` are the flow's.
    #[must_use]
    pub fn wire_packets(&self, incidents: &Incidents) -> u64 {
        self.outline().packets + incidents.merged_packets
    }

    /// IP bytes of these, each with headers of its own, in bytes (METRICS.md C7). `incidents` are the flow's.
    #[must_use]
    pub fn wire_ip_bytes(&self, incidents: &Incidents) -> u64 {
        self.outline().ip_bytes + incidents.merged_headers_bytes
    }

    /// Retransmitted packets on the wire, as far as the MSS tells how many a frame of offload is (METRICS.md C7).
    /// `incidents` are the flow's.
    #[must_use]
    pub fn wire_retransmitted_packets(&self, incidents: &Incidents) -> u64 {
        incidents.retransmitted_packets + incidents.merged_retransmissions
    }

    /// Overhead of these (METRICS.md O2); `None` where nothing was acked. `incidents` are the flow's.
    #[must_use]
    pub fn wire_overhead(&self, incidents: &Incidents) -> Option<f64> {
        metric::overhead(self.wire_ip_bytes(incidents), self.state().acked_bytes?)
    }

    /// Data packets lost between the sender and the vantage point (METRICS.md X3): the holes that
    /// a second copy filled or, where ids count up, the ids that were skipped, which also tells of
    /// lost tails and lost retransmissions. `incidents` are the flow's.
    #[must_use]
    pub fn lost_upstream(&self, incidents: &Incidents) -> u64 {
        incidents.lost_upstream.max(self.state().skipped_packets)
    }

    /// Shares of the flow's time, from first data to the last new ACK, that were limited by the
    /// network, the receiver's window and the application (METRICS.md L1); they add up to 1.
    #[must_use]
    pub fn limited_by(&self) -> Option<Limited> {
        let (total_ns, true) = self.goodput_interval_ns()? else {
            return None;
        };
        let state = self.state();
        if total_ns <= 0 {
            return None;
        }
        let application_ns = state.application_limited_ns.clamp(0, total_ns);
        let receiver_ns = state
            .receiver_limited_ns
            .clamp(0, total_ns - application_ns);
        let share = |ns: i64| ns as f64 / total_ns as f64;
        Some(Limited {
            network: share(total_ns - application_ns - receiver_ns),
            receiver: share(receiver_ns),
            application: share(application_ns),
        })
    }

    /// Flow completion time in ns (METRICS.md F1).
    #[must_use]
    pub fn completion_ns(&self) -> Option<i64> {
        Some(self.completion_span()?.length_ns())
    }

    /// From the first data behind the handshake, if there is any, to the last data (METRICS.md F1).
    #[must_use]
    pub fn completion_span(&self) -> Option<Span> {
        let data = self.outline().data_span?;
        let first = data.first.plus_ns(self.incidents().ahead_of_handshake_ns);
        Some(Span {
            first: first.min(data.last),
            ..data
        })
    }

    /// Whether it has more bins than are kept; else bins that are missing were given up.
    pub(super) fn is_cut_by_bins(&self) -> bool {
        let series = self.flow.record.series();
        series.is_cut() && !series.is_given_up()
    }

    /// Whether packets of its two directions may be out of order of time.
    fn is_out_of_order(&self) -> bool {
        let disorder = self.flow.within.disorder.zip(self.outline().data_span);
        disorder.is_some_and(|(disorder, span)| {
            disorder.touches(&self.flow.connection().identity, span)
        })
    }

    /// What the reader must know (METRICS.md Q1), in a fixed order. `incidents` are the flow's, `handshake` and `facts`
    /// its connection's.
    pub fn quality(
        &self,
        incidents: &Incidents,
        handshake: &Handshake,
        facts: &ConnectionFacts,
    ) -> impl Iterator<Item = Quality> + use<> {
        let dir = self.flow.dir();
        let is_opening_seen = handshake.opening(dir).is_some();
        let are_both_seen = is_opening_seen && handshake.opening(dir.reversed()).is_some();
        let state = self.state();
        let unseen = state.unseen_bytes.unwrap_or(0);
        let is_known_unseen = self
            .unseen_bytes(is_opening_seen)
            .is_some_and(|bytes| bytes > 0);
        let (closing, acked) = (handshake.closing(), state.acked_bytes);
        let is_left = acked.is_some_and(|acked| acked < state.unique_bytes.saturating_add(unseen));
        let is_tcp = self.flow.tcp().is_some();
        [
            (Quality::Udp, !is_tcp),
            (Quality::MidStream, is_tcp && !is_opening_seen),
            (Quality::NoHandshake, is_tcp && !are_both_seen),
            (Quality::OneWay, self.is_one_way(facts)),
            (Quality::RecordsDropped, is_known_unseen),
            // Of a flow's ACKs, too: their options and times tell as much of it as its own.
            (Quality::HeadersCut, facts.headers_cut != [0; 2]),
            (Quality::SuperSegments, incidents.super_segments > 0),
            (Quality::LengthsFromFrame, incidents.lengths_from_frame > 0),
            (Quality::Copies, self.has_copies(incidents)),
            (
                Quality::ClockSteppedBack,
                facts.clock_steps_back != [0; 2] || self.is_out_of_order(),
            ),
            (
                Quality::LimitHit,
                facts.cut_by_limit || (unseen > 0 && !is_known_unseen),
            ),
            (Quality::SeriesCut, self.flow.record.series().is_cut()),
            (Quality::StraySegments, state.strays > 0),
            (
                Quality::Unfinished,
                is_tcp && !closing.fin[dir.index()] && !closing.reset,
            ),
            (Quality::Reset, closing.reset && is_left),
        ]
        .into_iter()
        .filter_map(|(quality, holds)| holds.then_some(quality))
    }
}
