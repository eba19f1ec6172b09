//! One row per flow (METRICS.md, "Per flow").

use std::num::NonZeroU16;
use std::rc::Rc;
use std::sync::Arc;

use super::blocks::{self, Blocks};
use super::captures::CaptureFigures;
use super::schema::{Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Config, Flow, FlowFigures, Limited, Quality};
use crate::decode::Endpoint;
use crate::metric;
use crate::observe::{
    self, ConnectionFacts, ConnectionRecord, DirectionSummary, Incidents, Series, Wanted,
    expect_ahead,
};
use crate::track::{EcnSetup, Handshake, Opening};

/// What a row is made of.
pub(super) struct FlowRow<'a> {
    capture: &'a CaptureAnalysis,
    flow: Flow<'a>,
    /// Unpacked once for all columns.
    summary: DirectionSummary,
    figures: FlowFigures<'a>,
    ends: (Endpoint, Endpoint),
    name: Option<Arc<str>>,
    connection: Rc<Connection<'a>>,
    series: Series<'a>,
    /// Median, 95th and 99th percentile of its round-trip times.
    rtt_ns: [Option<i64>; 3],
    goodput_bps: Option<f64>,
    limited_by: Option<Limited>,
    config: &'a Config,
    /// Rate of the narrowest link that it passed, estimated.
    link_bps: Option<f64>,
}

/// What is unpacked once for the rows of both flows of a connection.
struct Connection<'a> {
    record: &'a ConnectionRecord,
    handshake: Handshake,
    facts: ConnectionFacts,
}

/// The table, block by block.
pub(super) fn blocks<'a>(
    analysis: &'a Analysis,
    config: &'a Config,
    figures: &'a [CaptureFigures<'a>],
) -> Blocks<'a> {
    let rows_max = blocks::rows_max(columns().len());
    let captures = analysis.captures.iter().zip(figures);
    let mut flows = captures.flat_map(move |(capture, figures)| {
        let flows = capture.flows().zip(&figures.links.flows_bps);
        flows.map(move |(flow, &link_bps)| (capture, flow, link_bps))
    });
    let groups = std::iter::from_fn(move || {
        let mut group = Vec::with_capacity(rows_max);
        group.extend(flows.by_ref().take(rows_max));
        (!group.is_empty()).then_some(group)
    });
    blocks::of_groups(columns, groups, move |group| {
        let len = group.len();
        let mut last: Option<Rc<Connection<'_>>> = None;
        let rows = (0..len).map(move |place| {
            expect_ahead(&group, place, Wanted::All, |(_, flow, _)| flow.connection());
            let (capture, flow, link_bps) = group[place];
            let known = last.take().filter(|last| last.is_of(&flow));
            let connection = known.unwrap_or_else(|| Rc::new(Connection::of(&flow)));
            last = Some(Rc::clone(&connection));
            FlowRow::of(capture, flow, connection, link_bps, config)
        });
        (len, rows)
    })
}

impl<'a> Connection<'a> {
    fn of(flow: &Flow<'a>) -> Self {
        let record = flow.connection();
        let parts = record.parts();
        Self {
            record,
            handshake: parts.handshake(),
            facts: parts.facts(),
        }
    }

    fn is_of(&self, flow: &Flow<'_>) -> bool {
        std::ptr::eq(self.record, flow.connection())
    }
}

impl<'a> FlowRow<'a> {
    fn of(
        capture: &'a CaptureAnalysis,
        flow: Flow<'a>,
        connection: Rc<Connection<'a>>,
        link_bps: Option<f64>,
        config: &'a Config,
    ) -> Self {
        let figures = flow.figures();
        let summary = figures.summary();
        Self {
            capture,
            flow,
            rtt_ns: summary.rtt.ns_quantiles([0.50, 0.95, 0.99]),
            summary,
            figures,
            ends: flow.ends(),
            name: config.names.of(&flow),
            connection,
            series: flow.record.series(),
            goodput_bps: figures.goodput_bps(),
            limited_by: figures.limited_by(),
            config,
            link_bps,
        }
    }
}

impl FlowRow<'_> {
    fn handshake(&self) -> &Handshake {
        &self.connection.handshake
    }

    fn opening(&self) -> Option<&Opening> {
        self.handshake().opening(self.flow.dir())
    }

    fn agreed(&self, option: impl Fn(&Opening) -> bool) -> Option<bool> {
        self.handshake().agreed(option)
    }

    fn ecn(&self) -> Option<EcnSetup> {
        self.handshake().ecn()
    }

    /// Itself where it is of TCP: of UDP what takes sequence numbers, ACKs or a handshake to tell is not known.
    fn tcp(&self) -> Option<&Self> {
        self.flow.tcp().and(Some(self))
    }

    /// So many round trips: of UDP, of which they need not be known, where there are some.
    fn known(&self, round_trips: u64) -> Option<u64> {
        (self.tcp().is_some() || round_trips > 0).then_some(round_trips)
    }

    /// What was out of the ordinary.
    fn odd(&self) -> &Incidents {
        self.summary.incidents()
    }

    /// Packets of the receiver with ECE, where that is an echo and not a bit of a counter.
    fn ece_echoes(&self) -> Option<u64> {
        let echoes = self.tcp()?.odd().ece_echoes;
        (self.ecn() != Some(EcnSetup::Accurate)).then_some(echoes)
    }

    /// The SYN of the flow's receiver.
    fn answer(&self) -> Option<&Opening> {
        self.handshake().opening(self.flow.dir().reversed())
    }

    /// MSS that the receiver announced: what bounds this flow's segments.
    fn mss(&self) -> Option<u16> {
        self.answer()?.options.mss.map(NonZeroU16::get)
    }

    /// In words.
    fn quality(&self) -> String {
        let Connection {
            handshake, facts, ..
        } = &*self.connection;
        let quality = self.figures.quality(self.odd(), handshake, facts);
        let mut words = String::new();
        for word in quality.map(Quality::name) {
            // Of most flows there is none.
            if !words.is_empty() {
                words.push(',');
            }
            words.push_str(word);
        }
        words
    }

    /// Shift of the windows that this flow's receiver advertises.
    fn window_scale(&self) -> Option<u8> {
        self.opening()?;
        self.answer()?.options.window_scale
    }
}

pub(super) fn columns<'a>() -> Vec<Column<FlowRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.capture.name);
    "connection_id" "-" Count |row| Some(row.flow.connection_id);
    "src_ip" "-" Address |row| Some(row.ends.0.ip());
    "src_port" "-" Count |row| Some(u64::from(row.ends.0.port()));
    "dst_ip" "-" Address |row| Some(row.ends.1.ip());
    "dst_port" "-" Count |row| Some(u64::from(row.ends.1.port()));
    "name" "-" Name |row| row.name.as_deref();
    "ip_version" "-" Count |row| Some(if row.ends.0.ip().is_ipv4() { 4 } else { 6 });
    "direction" "-" Name |row| Some(row.flow.dir().name());
    "start_ns" "-" Whole |row| Some(row.summary.span?.first.as_ns());
    "end_ns" "-" Whole |row| Some(row.summary.span?.last.as_ns());
    "packets" "C1" Count |row| Some(row.summary.packets);
    "data_packets" "C1" Count |row| Some(row.summary.data_packets);
    "ip_bytes" "C2" Count |row| Some(row.summary.ip_bytes);
    "payload_bytes" "C3" Count |row| Some(row.summary.payload_bytes);
    "unique_bytes" "C4" Count |row| Some(row.tcp()?.figures.state().unique_bytes);
    "acked_bytes" "C5" Count |row| row.figures.state().acked_bytes;
    "unseen_bytes" "C6" Count |row| row.figures.unseen_bytes(row.opening().is_some());
    "wire_packets" "C7" Count |row| Some(row.tcp()?.figures.wire_packets(row.odd()));
    "wire_ip_bytes" "C7" Count |row| Some(row.tcp()?.figures.wire_ip_bytes(row.odd()));
    "goodput_bps" "G1" Real |row| row.goodput_bps;
    "goodput_basis" "G1" Name |row| row.goodput_bps.and(row.figures.goodput_interval_ns()).map(|(_, acked)| if acked { "acked" } else { "seen" });
    "throughput_bps" "G2" Real |row| row.figures.throughput_bps();
    "overhead" "O1" Real |row| row.figures.overhead();
    "wire_overhead" "O2" Real |row| row.tcp()?.figures.wire_overhead(row.odd());
    "utilisation" "N5" Real |row| metric::utilisation(row.goodput_bps?, row.config.capacity?.bps);
    "completion_ns" "F1" Whole |row| row.figures.completion_ns();
    "handshake_rtt_ns" "F2" Whole |row| row.handshake().round_trip_ns().map(|(all, _, _)| all);
    "handshake_server_ns" "F2" Whole |row| row.handshake().towards_server_ns();
    "handshake_client_ns" "F2" Whole |row| row.handshake().towards_client_ns();
    "rtt_ns_min" "R2" Whole |row| row.summary.rtt.ns_min();
    "rtt_ns_mean" "R2" Real |row| row.summary.rtt.ns_mean();
    "rtt_ns_max" "R2" Whole |row| row.summary.rtt.ns_max();
    "rtt_ns_p50" "R2" Whole |row| row.rtt_ns[0];
    "rtt_ns_p95" "R2" Whole |row| row.rtt_ns[1];
    "rtt_ns_p99" "R2" Whole |row| row.rtt_ns[2];
    "rtt_samples" "R2" Count |row| row.known(row.summary.rtt.samples());
    "rtt_exact_ns_min" "R3" Whole |row| row.summary.rtt_exact.ns_min();
    "rtt_exact_ns_mean" "R3" Real |row| row.summary.rtt_exact.ns_mean();
    "rtt_exact_ns_max" "R3" Whole |row| row.summary.rtt_exact.ns_max();
    "rtt_exact_samples" "R3" Count |row| Some(row.tcp()?.summary.rtt_exact.samples());
    "rtt_ts_ns_min" "R4" Whole |row| row.summary.rtt_ts.ns_min();
    "rtt_ts_ns_mean" "R4" Real |row| row.summary.rtt_ts.ns_mean();
    "rtt_ts_ns_max" "R4" Whole |row| row.summary.rtt_ts.ns_max();
    "rtt_ts_samples" "R4" Count |row| row.known(row.summary.rtt_ts.samples());
    "queue_delay_ns_mean" "R5" Real |row| Some(row.summary.rtt.ns_mean()? - row.summary.rtt.ns_min()? as f64);
    "queue_delay_ns_p95" "R5" Whole |row| Some(row.rtt_ns[1]? - row.summary.rtt.ns_min()?);
    "queue_delay_ns_max" "R5" Whole |row| Some(row.summary.rtt.ns_max()? - row.summary.rtt.ns_min()?);
    "standing_queue_ns" "R6" Real |row| observe::standing_queue_ns(row.series.whole()?.rtts_ns_min(), row.summary.rtt.ns_min()?);
    "delivery_bps_max" "R7" Real |row| observe::delivery_bps_max([row.series.whole()?.deliveries()], row.config.bin_ns);
    "link_bps_estimated" "R8" Real |row| row.link_bps;
    "in_flight_bytes_max" "I1" Count |row| row.summary.in_flight_bytes_max();
    "in_flight_bytes_mean" "I1" Real |row| row.summary.in_flight_bytes_mean();
    "retransmitted_packets" "X1" Count |row| Some(row.tcp()?.odd().retransmitted_packets);
    "wire_retransmitted_packets" "C7" Count |row| Some(row.tcp()?.figures.wire_retransmitted_packets(row.odd()));
    "retransmitted_bytes" "X1" Count |row| Some(row.tcp()?.odd().retransmitted_bytes);
    "retransmission_rate" "X1" Real |row| row.tcp()?.summary.retransmission_rate();
    "rtx_fast" "X2" Count |row| Some(row.tcp()?.odd().rtx_fast);
    "rtx_timeout" "X2" Count |row| Some(row.tcp()?.odd().rtx_timeout);
    "rtx_tail_probe" "X2" Count |row| Some(row.tcp()?.odd().rtx_tail_probe);
    "rtx_unneeded" "X2" Count |row| Some(row.tcp()?.odd().rtx_unneeded);
    "lost_upstream" "X3" Count |row| Some(row.tcp()?.figures.lost_upstream(row.odd()));
    "lost_downstream" "X3" Count |row| Some(row.tcp()?.odd().lost_downstream);
    "reordered_packets" "X4" Count |row| Some(row.tcp()?.odd().reordered_packets);
    "reordering_extent_max" "X4" Count |row| Some(row.odd()).filter(|odd| odd.reordered_packets > 0).map(|odd| odd.reordering_extent_max);
    "reordering_late_ns_max" "X4" Whole |row| Some(row.odd()).filter(|odd| odd.reordered_packets > 0).map(|odd| odd.reordering_late_ns_max);
    "reordered_at_receiver" "X4" Count |row| Some(row.tcp()?.odd().reordered_at_receiver);
    "duplicate_packets" "X5" Count |row| Some(row.tcp()?.odd().duplicate_packets);
    "ambiguous_packets" "X6" Count |row| Some(row.tcp()?.odd().ambiguous_packets);
    "dup_acks" "X7" Count |row| Some(row.tcp()?.odd().dup_acks);
    "sack_blocks" "X7" Count |row| Some(row.tcp()?.odd().sack_blocks);
    "dsacks" "X7" Count |row| Some(row.tcp()?.odd().dsacks);
    "zero_windows" "X7" Count |row| Some(row.tcp()?.odd().zero_windows);
    "window_full" "X7" Count |row| Some(row.tcp()?.odd().window_full);
    "keepalives" "X7" Count |row| Some(row.tcp()?.odd().keepalives);
    "window_probes" "X7" Count |row| Some(row.tcp()?.odd().window_probes);
    "recovery_episodes" "X8" Count |row| Some(row.tcp()?.odd().recovery_episodes);
    "recovery_timeout_episodes" "X8" Count |row| Some(row.tcp()?.odd().recovery_timeout_episodes);
    "recovery_ns" "X8" Whole |row| Some(row.tcp()?.odd().recovery_ns);
    "limited_network_share" "L1" Real |row| Some(row.limited_by?.network);
    "limited_receiver_share" "L1" Real |row| Some(row.limited_by?.receiver);
    "limited_application_share" "L1" Real |row| Some(row.limited_by?.application);
    "mss" "H1" Count |row| row.mss().map(u64::from);
    "window_scale" "H1" Count |row| row.window_scale().map(u64::from);
    "sack_permitted" "H1" Truth |row| row.agreed(|opening| opening.options.sack_permitted);
    "multipath" "H1" Truth |row| row.agreed(|opening| opening.options.multipath);
    "timestamps" "H1" Truth |row| row.agreed(|opening| opening.timestamps.is_some());
    "ecn" "H1" Truth |row| row.ecn().map(|ecn| ecn != EcnSetup::None);
    "ce_marks" "H1" Count |row| Some(row.odd().ce_marks);
    "ece_echoes" "H1" Count FlowRow::ece_echoes;
    "pm" "P1" Real |row| super::series::pm_mean(&row.flow, row.config);
    "quality" "Q1" Text |row| Some(row.quality());
    ]
}
