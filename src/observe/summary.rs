//! One direction of a connection, summed up.

mod incidents;
mod packed;

pub use incidents::Incidents;
pub use packed::Outline;

use std::hint::cold_path;

use super::quantiles::{DelayDistribution, DelayStats};
use crate::decode::{Ecn, TcpFlags};
use crate::event::{
    Acked, Amendment, Class, DataArrival, LossPlace, PacketArrival, Reason, Recovery, RttSample,
    Signal, Verdict,
};
use crate::time::CaptureTime;

/// First and last instant of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first.
    pub first: CaptureTime,
    /// The last.
    pub last: CaptureTime,
}

impl Span {
    /// Up to `at`; whether that is before its end.
    #[inline]
    fn extend(span: &mut Option<Self>, at: CaptureTime) -> bool {
        match span {
            None => {
                *span = Some(Self {
                    first: at,
                    last: at,
                });
                false
            }
            Some(span) if at < span.last => true,
            Some(span) => {
                span.last = at;
                false
            }
        }
    }

    /// From the earlier beginning to the later end.
    #[must_use]
    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    /// From first to last, in ns; 0 or more, as the last is the latest.
    #[must_use]
    pub fn length_ns(&self) -> i64 {
        self.last.since(self.first)
    }

    /// The shorter of both; of two as long this one.
    #[must_use]
    pub fn shorter(self, other: Self) -> Self {
        if other.length_ns() < self.length_ns() {
            other
        } else {
            self
        }
    }

    /// What lies in both; `None` where nothing does.
    #[must_use]
    pub fn common(self, other: Self) -> Option<Self> {
        let both = Self {
            first: self.first.max(other.first),
            last: self.last.min(other.last),
        };
        (both.first <= both.last).then_some(both)
    }
}

/// Counts and distributions of one direction; names and definitions as in METRICS.md, "Per flow".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionSummary {
    /// IP packets of this direction (METRICS.md C1).
    pub packets: u64,
    /// IP packets with payload; of a segment in fragments each of them (C1).
    pub data_packets: u64,
    /// Sum of IP total lengths, in bytes (C2).
    pub ip_bytes: u64,
    /// TCP payload, every copy counted, in bytes (C3).
    pub payload_bytes: u64,
    /// First and last packet of this direction.
    pub span: Option<Span>,
    /// First and last packet with payload, but for keep-alives; while packets come, also but for SYNs.
    pub data_span: Option<Span>,
    /// When the cumulative ACK last covered new payload.
    pub last_new_ack_at: Option<CaptureTime>,
    /// Times from data to the first ACK that covers it, in ns (R1, R2).
    pub rtt: DelayDistribution,
    /// Round-trip times of packets that passed once and end where the cumulative ACK points, in ns (R3).
    pub rtt_exact: DelayStats,
    /// Times from timestamps to their first echoes, in ns (R4).
    pub rtt_ts: DelayStats,
    in_flight_bytes_max: u64,
    /// Bytes in flight (I1) at each data segment, added up; saturates.
    pub in_flight_bytes_sum: u64,
    /// Data segments at which bytes in flight are known.
    pub in_flight_samples: u64,
    /// Where there is any.
    incidents: Option<Box<Incidents>>,
}

static NONE: Incidents = Incidents::NONE;

impl DirectionSummary {
    /// Memory that it holds besides itself, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let incidents = self
            .incidents
            .as_ref()
            .map_or(0, |_| size_of::<Incidents>());
        self.rtt.memory_bytes() + incidents
    }

    /// What was out of the ordinary.
    #[must_use]
    pub fn incidents(&self) -> &Incidents {
        self.incidents.as_deref().unwrap_or(&NONE)
    }

    /// The same, where nothing else is wanted.
    pub(super) fn into_incidents(self) -> Incidents {
        self.incidents
            .map_or_else(Incidents::default, |incidents| *incidents)
    }

    #[inline]
    pub(super) fn incidents_mut(&mut self) -> &mut Incidents {
        /// The first of them all.
        #[cold]
        fn first() -> Box<Incidents> {
            Box::default()
        }
        self.incidents.get_or_insert_with(first)
    }

    /// Any packet; where it has payload, [`on_payload`](Self::on_payload) takes that.
    // Called where tracking tells of one: a call would cost a twentieth of what a packet takes.
    #[inline(always)]
    pub(super) fn on_packet(&mut self, packet: &PacketArrival) {
        self.packets += u64::from(packet.ip_packets);
        self.ip_bytes += u64::from(packet.ip_len);
        let stepped_back = Span::extend(&mut self.span, packet.at);
        if stepped_back
            || packet.ecn != Ecn::NotEct
            || packet.length_from_frame
            || packet.header_cut
        {
            cold_path();
            let (cut, from_frame) = (packet.header_cut, packet.length_from_frame);
            let payload_len = packet.payload_len;
            self.on_odd_packet(packet.ecn, cut, from_frame, stepped_back, payload_len);
        }
    }

    /// The payload of a packet.
    #[inline(always)]
    pub(super) fn on_payload(&mut self, packet: &PacketArrival) {
        self.data_packets += u64::from(packet.ip_packets);
        self.payload_bytes += u64::from(packet.payload_len);
        match &mut self.data_span {
            Some(span) if !packet.flags.has(TcpFlags::SYN) => {
                span.last = span.last.max(packet.at);
            }
            _ => self.on_first_data(packet.at, packet.flags),
        }
        if packet.ip_packets > 1 {
            cold_path();
            self.incidents_mut().further_fragments += u64::from(packet.ip_packets) - 1;
        }
    }

    /// Data of a SYN, or the first behind the handshake.
    #[inline(never)]
    fn on_first_data(&mut self, at: CaptureTime, flags: TcpFlags) {
        if flags.has(TcpFlags::SYN) {
            // A copy that comes behind data is no longer ahead of it.
            if self.data_span.is_none() {
                Span::extend(&mut self.incidents_mut().syn_data, at);
            }
            return;
        }
        if let Some(incidents) = &mut self.incidents
            && let Some(syn_data) = incidents.syn_data
        {
            incidents.ahead_of_handshake_ns = at.since(syn_data.first);
        }
        Span::extend(&mut self.data_span, at);
    }

    /// Packets with payload, those of SYNs included, but for keep-alives.
    pub(super) fn all_data(&self) -> Option<Span> {
        let syn_data = self.incidents().syn_data;
        let both = syn_data.zip(self.data_span);
        both.map(|(syn_data, span)| Span {
            first: syn_data.first,
            last: span.last.max(syn_data.last),
        })
        .or(self.data_span)
        .or(syn_data)
    }

    /// When the last packet with payload passed.
    #[inline]
    pub(super) fn last_data_at(&self) -> Option<CaptureTime> {
        // Behind the handshake nearly always, and then nothing of it is later.
        if let Some(span) = self.data_span {
            return Some(span.last);
        }
        cold_path();
        Some(self.all_data()?.last)
    }

    /// What passed as the last data was a keep-alive's byte; the data before it passed at `before`, if any had.
    pub(super) fn take_back_byte(&mut self, before: Option<CaptureTime>) {
        let latest = self.incidents().latest_data_at;
        let before = before.map(|before| latest.map_or(before, |latest| latest.max(before)));
        // The data before it may have been a SYN's.
        let is_first = (self.incidents().syn_data).is_some_and(|syn| before <= Some(syn.last));
        let span = self.data_span.zip(before.filter(|_| !is_first));
        if is_first {
            self.incidents_mut().ahead_of_handshake_ns = 0;
        }
        self.data_span = span.map(|(span, before)| Span {
            last: before.max(span.first),
            ..span
        });
    }

    // Not the packet itself: it would have to lie in memory for all others, too.
    #[inline(never)]
    fn on_odd_packet(
        &mut self,
        ecn: Ecn,
        header_cut: bool,
        length_from_frame: bool,
        stepped_back: bool,
        payload_len: u32,
    ) {
        let latest_data_at = self.data_span.map(|span| span.last);
        let incidents = self.incidents_mut();
        if stepped_back && payload_len > 0 {
            incidents.latest_data_at = latest_data_at;
        }
        incidents.clock_steps_back += u64::from(stepped_back);
        incidents.ecn_capable_packets += u64::from(ecn != Ecn::NotEct);
        incidents.ce_marks += u64::from(ecn == Ecn::Ce);
        incidents.lengths_from_frame += u64::from(length_from_frame);
        incidents.headers_cut += u64::from(header_cut);
    }

    #[inline]
    pub(super) fn on_data(&mut self, data: &DataArrival) {
        if let Some(in_flight) = data.in_flight_bytes {
            self.in_flight_bytes_max = self.in_flight_bytes_max.max(in_flight);
            self.in_flight_bytes_sum = self.in_flight_bytes_sum.saturating_add(in_flight);
            self.in_flight_samples += 1;
        }
        if data.repeated_len > 0 || data.verdict != Verdict::NEW {
            cold_path();
            self.on_odd_data(data.verdict, data.repeated_len, data.extent);
        }
    }

    #[inline(never)]
    fn on_odd_data(&mut self, verdict: Verdict, repeated_len: u32, extent: Option<(u32, i64)>) {
        self.count(verdict, 1, repeated_len);
        let incidents = self.incidents_mut();
        incidents.retransmitted_bytes += u64::from(repeated_len);
        if let Some((extent, late_ns)) = extent {
            incidents.reordering_extent_max =
                incidents.reordering_extent_max.max(u64::from(extent));
            incidents.reordering_late_ns_max = incidents.reordering_late_ns_max.max(late_ns);
        }
    }

    pub(super) fn on_amendment(&mut self, amendment: &Amendment) {
        self.count(amendment.was, -1, amendment.payload_len);
        self.count(amendment.now, 1, amendment.payload_len);
        let (bytes, payload_len) = (
            &mut self.incidents_mut().retransmitted_bytes,
            u64::from(amendment.payload_len),
        );
        if amendment.now.class == Class::New {
            *bytes = bytes.saturating_sub(payload_len);
            self.forget_recovery(amendment.sent_at);
        } else if amendment.was.class == Class::New {
            *bytes += payload_len;
        }
    }

    /// Counts what was judged so, or no longer is: a segment with so much payload that was there before.
    fn count(&mut self, verdict: Verdict, by: i64, len: u32) {
        let add = |counter: &mut u64| *counter = counter.saturating_add_signed(by);
        if matches!(
            verdict.class,
            Class::New | Class::KeepAlive | Class::WindowProbe
        ) {
            return;
        }
        let incidents = self.incidents_mut();
        match verdict.class {
            Class::New | Class::KeepAlive | Class::WindowProbe => {}
            Class::Duplicate => add(&mut incidents.duplicate_packets),
            Class::Reordered => add(&mut incidents.reordered_packets),
            Class::Ambiguous => add(&mut incidents.ambiguous_packets),
            Class::Retransmission => {
                add(&mut incidents.retransmitted_packets);
                incidents.count_merged(len, by);
                match verdict.reason {
                    Some(Reason::Fast) => add(&mut incidents.rtx_fast),
                    Some(Reason::Timeout) => add(&mut incidents.rtx_timeout),
                    Some(Reason::TailProbe) => add(&mut incidents.rtx_tail_probe),
                    Some(Reason::Unneeded) => add(&mut incidents.rtx_unneeded),
                    None => {}
                }
            }
        }
    }

    pub(super) fn on_lost(&mut self, place: LossPlace, packets: i32) {
        let incidents = self.incidents_mut();
        let counter = match place {
            LossPlace::Upstream => &mut incidents.lost_upstream,
            LossPlace::Downstream => &mut incidents.lost_downstream,
        };
        *counter = counter.saturating_add_signed(i64::from(packets));
    }

    #[inline]
    pub(super) fn on_rtt(&mut self, sample: &RttSample) {
        self.rtt.add(sample.rtt_ns);
        if sample.exact {
            self.rtt_exact.add(sample.rtt_ns);
        }
    }

    #[inline]
    pub(super) fn on_acked(&mut self, acked: &Acked) {
        if acked.bytes > 0 || self.last_new_ack_at.is_none() {
            self.last_new_ack_at = Some(acked.at);
        }
    }

    pub(super) fn on_recovery(&mut self, recovery: &Recovery) {
        let incidents = self.incidents_mut();
        incidents.recovery_episodes += 1;
        incidents.recovery_timeout_episodes += u64::from(recovery.timeout);
        let ns = recovery.end.since(recovery.start);
        incidents.recovery_ns = incidents.recovery_ns.saturating_add(ns);
        incidents.latest_recovery = Some(*recovery);
    }

    /// What passed at `start` was no retransmission: a repair that began with it was none.
    fn forget_recovery(&mut self, start: CaptureTime) {
        let incidents = self.incidents_mut();
        let Some(recovery) = incidents
            .latest_recovery
            .take_if(|recovery| recovery.start == start)
        else {
            return;
        };
        incidents.recovery_episodes -= 1;
        incidents.recovery_timeout_episodes -= u64::from(recovery.timeout);
        let ns = recovery.end.since(recovery.start);
        incidents.recovery_ns = incidents.recovery_ns.saturating_sub(ns);
    }

    pub(super) fn on_signal(&mut self, signal: Signal) {
        let incidents = self.incidents_mut();
        match signal {
            Signal::DupAck => incidents.dup_acks += 1,
            Signal::SackBlocks(blocks) => incidents.sack_blocks += u64::from(blocks),
            Signal::Dsack => incidents.dsacks += 1,
            Signal::ZeroWindow => incidents.zero_windows += 1,
            Signal::WindowFull => incidents.window_full += 1,
            Signal::KeepAlive => incidents.keepalives += 1,
            Signal::WindowProbe => incidents.window_probes += 1,
            Signal::SuperSegment {
                further,
                headers_len,
                full_len,
            } => {
                incidents.on_super_segment(further, headers_len, full_len);
            }
            Signal::ReorderedAtReceiver => incidents.reordered_at_receiver += 1,
        }
    }

    /// Segments with payload.
    #[must_use]
    pub fn data_segments(&self) -> u64 {
        self.incidents().data_segments(self.data_packets)
    }

    /// Share of the data segments that are retransmissions (METRICS.md X1); `None` without any.
    #[must_use]
    pub fn retransmission_rate(&self) -> Option<f64> {
        let segments = self.data_segments();
        (segments > 0).then(|| self.incidents().retransmitted_packets as f64 / segments as f64)
    }

    /// Most bytes in flight at a data segment; `None` where no ACK was seen.
    #[must_use]
    pub fn in_flight_bytes_max(&self) -> Option<u64> {
        (self.in_flight_samples > 0).then_some(self.in_flight_bytes_max)
    }

    /// Mean of the bytes in flight over the data segments; `None` where no ACK was seen.
    #[must_use]
    pub fn in_flight_bytes_mean(&self) -> Option<f64> {
        (self.in_flight_samples > 0)
            .then(|| self.in_flight_bytes_sum as f64 / self.in_flight_samples as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Confidence, Evidence};

    #[test]
    fn a_repair_is_none_when_what_began_it_turns_out_to_be_new() {
        let at = |ms: i64| CaptureTime::from_ns(ms * 1_000_000);
        let repeat = Verdict {
            reason: Some(Reason::Timeout),
            ..Verdict::of(Class::Retransmission, Evidence::IpId, Confidence::Medium)
        };
        let mut summary = DirectionSummary::default();
        for (start, end) in [(100, 140), (900, 950)] {
            summary.count(repeat, 1, 1000);
            summary.on_recovery(&Recovery {
                start: at(start),
                end: at(end),
                timeout: true,
            });
        }
        let new_after_all = |sent_at| Amendment {
            ordinal: None,
            sent_at,
            offset: 0,
            payload_len: 1000,
            was: repeat,
            now: Verdict::NEW,
        };
        // One that began none changes nothing.
        summary.on_amendment(&new_after_all(at(120)));
        assert_eq!(summary.incidents().recovery_episodes, 2);
        summary.on_amendment(&new_after_all(at(900)));
        let incidents = summary.incidents();
        assert_eq!(incidents.recovery_episodes, 1);
        assert_eq!(incidents.recovery_timeout_episodes, 1);
        assert_eq!(incidents.recovery_ns, 40_000_000);
        assert_eq!(incidents.retransmitted_packets, 0);
    }

    #[test]
    fn what_a_frame_repeats_counts_in_packets_of_the_wire_as_long_as_it_counts_at_all() {
        let repeat = Verdict::of(Class::Retransmission, Evidence::IpId, Confidence::Medium);
        let judged = |was, now, payload_len| Amendment {
            ordinal: None,
            sent_at: CaptureTime::from_ns(0),
            offset: 0,
            payload_len,
            was,
            now,
        };
        let mut summary = DirectionSummary::default();
        // Of a flow without frames of offload each repeat is a packet.
        summary.on_odd_data(repeat, 3000, None);
        assert_eq!(summary.incidents().merged_retransmissions, 0);
        summary.on_signal(Signal::SuperSegment {
            further: 2,
            headers_len: 52,
            full_len: 1000,
        });
        // Three packets, one, and two of which the second is short.
        for (len, further) in [(3000, 2), (1000, 2), (1001, 3)] {
            summary.on_odd_data(repeat, len, None);
            assert_eq!(summary.incidents().merged_retransmissions, further, "{len}");
        }
        summary.on_amendment(&judged(repeat, Verdict::NEW, 3000));
        assert_eq!(summary.incidents().merged_retransmissions, 1);
        summary.on_amendment(&judged(Verdict::NEW, repeat, 2500));
        assert_eq!(summary.incidents().merged_retransmissions, 3);
        let incidents = summary.incidents();
        assert_eq!(
            (incidents.merged_packets, incidents.merged_headers_bytes),
            (2, 104)
        );
    }
}
