//! One row a flow (METRICS.md section 1).

use super::schema::{Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Config, Flow, LinkRates};
use crate::event::Direction;
use crate::metric;
use crate::observe;
use crate::track::{EcnSetup, Opening};

/// What a row is made of.
pub(super) struct FlowRow<'a> {
    capture: &'a CaptureAnalysis,
    flow: Flow<'a>,
    config: &'a Config,
    /// Rate of the narrowest link that it passed, estimated.
    link_bps: Option<f64>,
}

pub(super) fn rows<'a>(
    analysis: &'a Analysis,
    config: &'a Config,
    links: &'a [LinkRates],
) -> impl Iterator<Item = FlowRow<'a>> {
    let captures = analysis.captures.iter().zip(links);
    captures.flat_map(move |(capture, links)| {
        let flows = capture.flows().zip(&links.flows_bps);
        flows.map(move |(flow, &link_bps)| FlowRow {
            capture,
            flow,
            config,
            link_bps,
        })
    })
}

impl FlowRow<'_> {
    fn opening(&self) -> Option<&Opening> {
        self.flow.connection.handshake.opening(self.flow.dir())
    }

    fn agreed(&self, option: impl Fn(&Opening) -> bool) -> Option<bool> {
        self.flow.connection.handshake.agreed(option)
    }

    fn ecn(&self) -> Option<EcnSetup> {
        self.flow.connection.handshake.ecn()
    }

    /// Packets of the receiver with ECE, where that is an echo and not a bit of a counter.
    fn ece_echoes(&self) -> Option<u64> {
        let echoes = self.flow.summary().incidents().ece_echoes;
        (self.ecn() != Some(EcnSetup::Accurate)).then_some(echoes)
    }

    /// MSS that the receiver announced: what bounds this flow's segments.
    fn mss(&self) -> Option<u16> {
        self.flow
            .connection
            .handshake
            .opening(self.flow.dir().reversed())?
            .options
            .mss
    }

    /// Shift of the windows that this flow's receiver advertises.
    fn window_scale(&self) -> Option<u8> {
        self.opening()?;
        self.flow
            .connection
            .handshake
            .opening(self.flow.dir().reversed())?
            .options
            .window_scale
    }
}

pub(super) fn columns<'a>() -> Vec<Column<FlowRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.capture.name);
    "connection_id" "-" Count |row| Some(row.flow.connection_id);
    "src_ip" "-" Address |row| Some(row.flow.ends().0.ip());
    "src_port" "-" Count |row| Some(u64::from(row.flow.ends().0.port()));
    "dst_ip" "-" Address |row| Some(row.flow.ends().1.ip());
    "dst_port" "-" Count |row| Some(u64::from(row.flow.ends().1.port()));
    "ip_version" "-" Count |row| Some(if row.flow.ends().0.ip().is_ipv4() { 4 } else { 6 });
    "direction" "-" Name |row| Some(match row.flow.dir() { Direction::Forward => "forward", Direction::Reverse => "reverse" });
    "start_ns" "-" Whole |row| Some(row.flow.summary().span?.first.as_ns());
    "end_ns" "-" Whole |row| Some(row.flow.summary().span?.last.as_ns());
    "packets" "C1" Count |row| Some(row.flow.summary().packets);
    "data_packets" "C1" Count |row| Some(row.flow.summary().data_packets);
    "ip_bytes" "C2" Count |row| Some(row.flow.summary().ip_bytes);
    "payload_bytes" "C3" Count |row| Some(row.flow.summary().payload_bytes);
    "unique_bytes" "C4" Count |row| Some(row.flow.record.state.unique_bytes);
    "acked_bytes" "C5" Count |row| row.flow.record.state.acked_bytes;
    "unseen_bytes" "C6" Count |row| row.flow.record.state.unseen_bytes;
    "goodput_bps" "G1" Real |row| row.flow.goodput_bps();
    "goodput_basis" "G1" Name |row| row.flow.goodput_bps().and(row.flow.goodput_interval_ns()).map(|(_, acked)| if acked { "acked" } else { "seen" });
    "throughput_bps" "G2" Real |row| row.flow.throughput_bps();
    "overhead" "O1" Real |row| row.flow.overhead();
    "utilisation" "N5" Real |row| metric::utilisation(row.flow.goodput_bps()?, row.config.capacity?.bps);
    "completion_ns" "F1" Whole |row| row.flow.completion_ns();
    "handshake_rtt_ns" "F2" Whole |row| row.flow.connection.handshake.round_trip_ns().map(|(all, _, _)| all);
    "handshake_server_ns" "F2" Whole |row| row.flow.connection.handshake.towards_server_ns();
    "handshake_client_ns" "F2" Whole |row| row.flow.connection.handshake.towards_client_ns();
    "rtt_ns_min" "R2" Whole |row| row.flow.summary().rtt.ns_min();
    "rtt_ns_mean" "R2" Real |row| row.flow.summary().rtt.ns_mean();
    "rtt_ns_max" "R2" Whole |row| row.flow.summary().rtt.ns_max();
    "rtt_ns_p50" "R2" Whole |row| row.flow.summary().rtt.ns_quantile(0.50);
    "rtt_ns_p95" "R2" Whole |row| row.flow.summary().rtt.ns_quantile(0.95);
    "rtt_ns_p99" "R2" Whole |row| row.flow.summary().rtt.ns_quantile(0.99);
    "rtt_samples" "R2" Count |row| Some(row.flow.summary().rtt.samples());
    "rtt_exact_ns_min" "R3" Whole |row| row.flow.summary().rtt_exact.ns_min();
    "rtt_exact_ns_mean" "R3" Real |row| row.flow.summary().rtt_exact.ns_mean();
    "rtt_exact_ns_max" "R3" Whole |row| row.flow.summary().rtt_exact.ns_max();
    "rtt_exact_samples" "R3" Count |row| Some(row.flow.summary().rtt_exact.samples());
    "rtt_ts_ns_min" "R4" Whole |row| row.flow.summary().rtt_ts.ns_min();
    "rtt_ts_ns_mean" "R4" Real |row| row.flow.summary().rtt_ts.ns_mean();
    "rtt_ts_ns_max" "R4" Whole |row| row.flow.summary().rtt_ts.ns_max();
    "rtt_ts_samples" "R4" Count |row| Some(row.flow.summary().rtt_ts.samples());
    "queue_delay_ns_mean" "R5" Real |row| Some(row.flow.summary().rtt.ns_mean()? - row.flow.summary().rtt.ns_min()? as f64);
    "queue_delay_ns_p95" "R5" Whole |row| Some(row.flow.summary().rtt.ns_quantile(0.95)? - row.flow.summary().rtt.ns_min()?);
    "queue_delay_ns_max" "R5" Whole |row| Some(row.flow.summary().rtt.ns_max()? - row.flow.summary().rtt.ns_min()?);
    "standing_queue_ns" "R6" Real |row| observe::standing_queue_ns(row.flow.record.series.bins(), row.flow.summary().rtt.ns_min()?);
    "delivery_bps_max" "R7" Real |row| observe::delivery_bps_max([row.flow.record.series.bins()], row.config.bin_ns);
    "link_bps_estimated" "R8" Real |row| row.link_bps;
    "in_flight_bytes_max" "I1" Count |row| row.flow.summary().in_flight_bytes_max();
    "in_flight_bytes_mean" "I1" Real |row| row.flow.summary().in_flight_bytes_mean();
    "retransmitted_packets" "X1" Count |row| Some(row.flow.summary().incidents().retransmitted_packets);
    "retransmitted_bytes" "X1" Count |row| Some(row.flow.summary().incidents().retransmitted_bytes);
    "retransmission_rate" "X1" Real |row| Some(row.flow.summary().incidents().retransmitted_packets as f64 / row.flow.summary().data_packets as f64);
    "rtx_fast" "X2" Count |row| Some(row.flow.summary().incidents().rtx_fast);
    "rtx_timeout" "X2" Count |row| Some(row.flow.summary().incidents().rtx_timeout);
    "rtx_tail_probe" "X2" Count |row| Some(row.flow.summary().incidents().rtx_tail_probe);
    "rtx_unneeded" "X2" Count |row| Some(row.flow.summary().incidents().rtx_unneeded);
    "lost_upstream" "X3" Count |row| Some(row.flow.lost_upstream());
    "lost_downstream" "X3" Count |row| Some(row.flow.summary().incidents().lost_downstream);
    "reordered_packets" "X4" Count |row| Some(row.flow.summary().incidents().reordered_packets);
    "reordering_extent_max" "X4" Count |row| Some(row.flow.summary()).filter(|flow| flow.incidents().reordered_packets > 0).map(|flow| flow.incidents().reordering_extent_max);
    "reordering_late_ns_max" "X4" Whole |row| Some(row.flow.summary()).filter(|flow| flow.incidents().reordered_packets > 0).map(|flow| flow.incidents().reordering_late_ns_max);
    "reordered_at_receiver" "X4" Count |row| Some(row.flow.summary().incidents().reordered_at_receiver);
    "duplicate_packets" "X5" Count |row| Some(row.flow.summary().incidents().duplicate_packets);
    "ambiguous_packets" "X6" Count |row| Some(row.flow.summary().incidents().ambiguous_packets);
    "dup_acks" "X7" Count |row| Some(row.flow.summary().incidents().dup_acks);
    "sack_blocks" "X7" Count |row| Some(row.flow.summary().incidents().sack_blocks);
    "dsacks" "X7" Count |row| Some(row.flow.summary().incidents().dsacks);
    "zero_windows" "X7" Count |row| Some(row.flow.summary().incidents().zero_windows);
    "window_full" "X7" Count |row| Some(row.flow.summary().incidents().window_full);
    "keepalives" "X7" Count |row| Some(row.flow.summary().incidents().keepalives);
    "window_probes" "X7" Count |row| Some(row.flow.summary().incidents().window_probes);
    "recovery_episodes" "X8" Count |row| Some(row.flow.summary().incidents().recovery_episodes);
    "recovery_timeout_episodes" "X8" Count |row| Some(row.flow.summary().incidents().recovery_timeout_episodes);
    "recovery_ns" "X8" Whole |row| Some(row.flow.summary().incidents().recovery_ns);
    "limited_network_share" "L1" Real |row| Some(row.flow.limited_by()?.network);
    "limited_receiver_share" "L1" Real |row| Some(row.flow.limited_by()?.receiver);
    "limited_application_share" "L1" Real |row| Some(row.flow.limited_by()?.application);
    "mss" "H1" Count |row| row.mss().map(u64::from);
    "window_scale" "H1" Count |row| row.window_scale().map(u64::from);
    "sack_permitted" "H1" Truth |row| row.agreed(|opening| opening.options.sack_permitted);
    "timestamps" "H1" Truth |row| row.agreed(|opening| opening.timestamps.is_some());
    "ecn" "H1" Truth |row| row.ecn().map(|ecn| ecn != EcnSetup::None);
    "ce_marks" "H1" Count |row| Some(row.flow.summary().incidents().ce_marks);
    "ece_echoes" "H1" Count FlowRow::ece_echoes;
    "pm" "P1" Real |row| super::series::pm_mean(&row.flow, row.config);
    "quality" "Q1" Text |row| Some(row.flow.quality().iter().map(|quality| quality.name()).collect::<Vec<_>>().join(","));
    ]
}
