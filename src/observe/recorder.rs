//! The built-in observer: a record of each connection, flows with summary, series and curve.

use std::hint::cold_path;
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::dispersion::LiveSpacing;
use super::live_series::{LiveSeries, bin_of, span_of};
use super::payload_curve::PayloadCurve;
use super::quantiles::DelayDistribution;
use super::record::{ConnectionFacts, ConnectionRecord, FlowExtras, Packer};
use super::segment_rows::LiveRows;
use super::summary::{DirectionSummary, Incidents};
use super::time_sequence::{MarkKind, TimeSequence};
use crate::decode::TcpFlags;
use crate::event::{
    Acked, Amendment, Class, ClassifiedSegment, DataArrival, Direction, FlowSink, LossPlace,
    PacketArrival, Recovery, RttSample, Signal, StreamPart,
};
use crate::flow::{ConnectionIdentity, Observer};
use crate::prefetch::prefetch;
use crate::time::CaptureTime;
use crate::track::Connection;

/// What a run keeps.
#[derive(Clone, Debug)]
pub struct RecordConfig {
    /// Start of bin 0, such as the time of the first record: bins are numbered from it, so that they go with this of
    /// whoever reads them.
    pub origin: CaptureTime,
    /// Length of a bin, in ns, at least 1.
    pub bin_ns: i64,
    /// Bins of a flow: those that come later are not kept, and the flow says so in its quality
    /// ([`Quality::SeriesCut`](crate::analyze::Quality::SeriesCut)). `None` asks for no series, of which nothing is missing
    /// then; who asks for one says its [`origin`](Self::origin), too.
    pub bins_max: Option<u32>,
    /// Keep the curves that pairs of flows are compared by.
    pub curves: bool,
    /// Keep the time sequence of the flow with the most payload.
    pub time_sequence: bool,
    /// Keep how far apart the data packets of each flow are.
    pub gaps: bool,
    /// Grows by the memory that new parts of the curves take, and shrinks by that of those that are dropped when their
    /// flow ends, in bytes; wraps around. For who prunes curves: others leave it at its default.
    pub curve_growth: Arc<AtomicUsize>,
}

impl Default for RecordConfig {
    /// Counts and distributions alone: no series, curves, sequences and gaps.
    fn default() -> Self {
        Self {
            origin: CaptureTime::from_ns(0),
            bin_ns: super::BIN_NS,
            bins_max: None,
            curves: false,
            time_sequence: false,
            gaps: false,
            curve_growth: Arc::default(),
        }
    }
}

/// Keeps what the tables need. `SEGMENTS` adds a row for each data segment.
///
/// With an [`Engine`](crate::analyze::Engine) it makes a monitor, by the second example there.
#[derive(Clone, Debug)]
pub struct Recorder<const SEGMENTS: bool> {
    config: Arc<RecordConfig>,
    /// Connections with payload that have ended, in no particular order.
    #[expect(clippy::vec_box, reason = "pointers are put in order later")]
    pub(crate) connections: Vec<Box<ConnectionRecord>>,
    /// First records of the ended connections without payload: they count in `connection_id`.
    pub(crate) silent: Vec<u64>,
    /// Payload bytes below which a flow that has ended cannot be among the largest any more.
    pub(crate) curve_floor_bytes: u64,
    /// Places of the connections of which a flow may be among the largest: to look through all others, time and again,
    /// would take longer the longer the capture is.
    pub(super) comparable: Vec<u32>,
    /// Memory that `connections` hold besides themselves, in bytes.
    pub(super) kept_bytes: usize,
    /// The flow that has a time sequence: payload bytes, place of its connection, and its direction.
    pub(super) largest: Option<(u64, usize, Direction)>,
    packer: Packer,
    /// From when to when the bin lasts in which the packet before was: mostly the next one is in it, too, and finding
    /// out takes a division.
    bin: Range<CaptureTime>,
}

impl<const SEGMENTS: bool> Recorder<SEGMENTS> {
    /// A recorder that has seen nothing.
    #[must_use]
    pub fn new(config: RecordConfig) -> Self {
        Self {
            config: Arc::new(config),
            connections: Vec::new(),
            silent: Vec::new(),
            curve_floor_bytes: 0,
            comparable: Vec::new(),
            kept_bytes: 0,
            largest: None,
            packer: Packer::default(),
            bin: CaptureTime::MAX..CaptureTime::MIN,
        }
    }

    #[cold]
    fn turn_to(&mut self, at: CaptureTime) {
        let RecordConfig { origin, bin_ns, .. } = *self.config;
        let bin_ns = bin_ns.max(1);
        self.bin = span_of(origin, bin_ns, bin_of(origin, bin_ns, at));
    }

    /// Of the connection put away last and the largest flow before it, only the larger one keeps
    /// its time sequence; of two that are equal, the older connection's.
    fn keep_largest_time_sequence(&mut self) {
        let Some(place) = self
            .connections
            .len()
            .checked_sub(1)
            .filter(|_| self.config.time_sequence)
        else {
            return;
        };
        let flows = self.connections[place].flows();
        let flows: Vec<(Direction, u64)> =
            flows.map(|flow| (flow.dir, flow.payload_bytes())).collect();
        for (dir, bytes) in flows {
            let rank =
                |place: usize| std::cmp::Reverse(self.connections[place].identity.first_ordinal);
            let loser = match self.largest {
                Some((most, holder, _)) if (most, rank(holder)) >= (bytes, rank(place)) => {
                    Some((place, dir))
                }
                Some((_, holder, its_dir)) => {
                    self.largest = Some((bytes, place, dir));
                    Some((holder, its_dir))
                }
                None => {
                    self.largest = Some((bytes, place, dir));
                    None
                }
            };
            if let Some((place, dir)) = loser {
                self.connections[place].drop_time_sequence(dir);
            }
        }
    }
}

/// What is kept of one connection while it is alive.
#[derive(Clone, Debug)]
pub struct LiveConnection<const SEGMENTS: bool> {
    config: Arc<RecordConfig>,
    /// Whether its flows have curves.
    curves: bool,
    /// Whether time sequences are wanted: asked with every ACK, when what the configuration says may be far away in
    /// memory.
    sequences: bool,
    /// Whether the times between packets are.
    gaps: bool,
    pub(super) directions: [DirectionSummary; 2],
    pub(super) data: [Option<Box<LiveFlow>>; 2],
}

// A table holds both in one block, and allocators round up: one byte more would take 256.
#[cfg(not(test))]
const _: () = assert!(size_of::<Connection>() + size_of::<LiveConnection<false>>() <= 1792);

/// What only a direction with payload, or with ACKs of one, needs.
#[derive(Clone, Debug)]
pub(super) struct LiveFlow {
    pub(super) series: LiveSeries,
    /// How many data packets there were with the last keep-alive, and when data had passed last before it and those
    /// just before it, if any had.
    keep_alive: Option<(u64, Option<CaptureTime>)>,
    curve: PayloadCurve,
    time_sequence: Option<Box<TimeSequence>>,
    pub(super) gaps: Option<Box<DelayDistribution>>,
    pub(super) spacing: LiveSpacing,
    pub(super) segments: LiveRows,
}

impl LiveFlow {
    #[cold]
    fn new(config: &RecordConfig) -> Box<Self> {
        Box::new(Self {
            series: LiveSeries::new(config.origin, config.bin_ns, config.bins_max),
            keep_alive: None,
            curve: PayloadCurve::default(),
            time_sequence: config
                .time_sequence
                .then(|| Box::new(TimeSequence::new(config.origin))),
            gaps: config.gaps.then(Box::default),
            spacing: LiveSpacing::default(),
            segments: LiveRows::default(),
        })
    }
}

impl<const SEGMENTS: bool> LiveConnection<SEGMENTS> {
    #[inline]
    fn data(&mut self, dir: Direction) -> &mut LiveFlow {
        let config = &self.config;
        self.data[dir.index()].get_or_insert_with(|| LiveFlow::new(config))
    }

    /// A packet with payload passed at `at`: how long after the one before.
    #[inline(never)]
    fn note_gap(&mut self, dir: Direction, at: CaptureTime) {
        if let Some(data) = &mut self.data[dir.index()]
            && let Some(gaps) = &mut data.gaps
            && let Some(before) = self.directions[dir.index()].last_data_at()
        {
            gaps.add(at.since(before));
        }
    }

    /// An ACK covered more; that may have come `AT_ONCE`, since the ACK before.
    #[inline(always)]
    fn take_acked<const AT_ONCE: bool>(&mut self, dir: Direction, acked: &Acked) {
        self.directions[dir.index()].on_acked(acked);
        if let Some(sequence) = self.sequence(dir) {
            sequence.on_ack(acked.at, acked.ack);
        }
        if acked.bytes > 0 {
            let data = self.data(dir);
            data.series.at(acked.at).acked_bytes += acked.bytes;
            if AT_ONCE {
                data.spacing.on_ack(acked.at, acked.bytes);
            }
        }
    }

    /// The time sequence of a direction that has sent payload.
    #[inline]
    fn sequence(&mut self, dir: Direction) -> Option<&mut TimeSequence> {
        if !self.sequences {
            return None;
        }
        self.data[dir.index()]
            .as_mut()?
            .time_sequence
            .as_deref_mut()
    }

    /// A data packet passed that was not new. The byte of a keep-alive, and of a copy of one, is no data: a flow
    /// neither begins nor ends with it.
    #[cold]
    fn on_odd_data(&mut self, dir: Direction, class: Class, payload_len: u32) {
        let summary = &mut self.directions[dir.index()];
        let Some(live) = &mut self.data[dir.index()] else {
            return;
        };
        let packets = summary.data_packets;
        let just_before = live
            .keep_alive
            .filter(|&(then, _)| then.saturating_add(1) == packets);
        let is_one = match class {
            Class::KeepAlive => true,
            Class::Duplicate => payload_len == 1 && just_before.is_some(),
            _ => false,
        };
        if is_one {
            let last = (packets > 1).then(|| live.spacing.last_data_at());
            let before = just_before.map_or(last, |(_, before)| before);
            live.keep_alive = Some((packets, before));
            summary.take_back_byte(before);
        }
    }

    /// Payload bytes of the larger of its flows.
    #[must_use]
    pub(crate) fn largest_payload_bytes(&self) -> u64 {
        self.directions
            .iter()
            .map(|summary| summary.payload_bytes)
            .max()
            .unwrap_or(0)
    }

    /// Gives up the time sequences of the flows with less payload than this, and keeps none for
    /// what they send from now on; whether there was any.
    pub(crate) fn drop_sequences_below(&mut self, payload_bytes: u64) -> bool {
        let mut any = false;
        for (summary, data) in self.directions.iter().zip(&mut self.data) {
            if let Some(data) = data
                .as_mut()
                .filter(|_| summary.payload_bytes < payload_bytes)
            {
                any |= data.time_sequence.take().is_some();
            }
        }
        any
    }

    /// Calls `each` with first and last data instant, payload bytes and curve of its flows.
    pub(crate) fn for_each_curve(
        &mut self,
        mut each: impl FnMut(super::Span, u64, &mut PayloadCurve),
    ) {
        for (summary, data) in self.directions.iter().zip(&mut self.data) {
            if let (Some(span), Some(data)) = (summary.all_data(), data) {
                each(span, summary.payload_bytes, &mut data.curve);
            }
        }
    }
}

impl<const SEGMENTS: bool> FlowSink for LiveConnection<SEGMENTS> {
    const SEGMENTS: bool = SEGMENTS;

    #[inline]
    fn expect_events(&self) {
        for data in self.data.iter().flatten() {
            prefetch(&**data);
        }
    }

    #[inline]
    fn expect_details(&self) {
        for data in self.data.iter().flatten() {
            data.spacing.expect();
        }
    }

    // Called once a packet, and elsewhere hardly ever: a call would cost as much as its work.
    #[inline(always)]
    fn packet(&mut self, dir: Direction, packet: &PacketArrival) {
        self.directions[dir.index()].on_packet(packet);
        // The receiver of a flow echoes the marks that the flow's packets carried.
        if packet.flags.has(TcpFlags::ECE) && !packet.flags.has(TcpFlags::SYN) {
            cold_path();
            self.directions[dir.reversed().index()]
                .incidents_mut()
                .ece_echoes += 1;
        }
        if packet.payload_len == 0 {
            if let Some(data) = &mut self.data[dir.index()] {
                data.series.at(packet.at).ip_bytes += u64::from(packet.ip_len);
            }
            return;
        }
        if self.gaps {
            self.note_gap(dir, packet.at);
        }
        self.directions[dir.index()].on_payload(packet);
        let curves = self.curves;
        let data = self.data(dir);
        let bin = data.series.at(packet.at);
        bin.ip_bytes += u64::from(packet.ip_len);
        bin.payload_bytes += u64::from(packet.payload_len);
        bin.data_packets += u64::from(packet.ip_packets);
        if packet.ip_packets > 1 {
            cold_path();
            bin.further_fragments += u64::from(packet.ip_packets) - 1;
        }
        let grown = if curves {
            data.curve.add(packet.at, packet.payload_len)
        } else {
            0
        };
        if grown > 0 {
            self.config.curve_growth.fetch_add(grown, Ordering::Relaxed);
        }
    }

    // Most of what it is given is known where it is called.
    #[inline(always)]
    fn data(&mut self, dir: Direction, data: &DataArrival) {
        self.directions[dir.index()].on_data(data);
        let is_new = data.verdict.class == Class::New;
        if !is_new {
            self.on_odd_data(dir, data.verdict.class, data.payload_len);
        }
        let live = LiveConnection::data(self, dir);
        if let Some(sequence) = &mut live.time_sequence {
            sequence.on_data(data);
        }
        live.spacing.on_data(data.at, data.payload_len, is_new);
        let bin = live.series.at(data.at);
        bin.in_flight_bytes_max = bin.in_flight_bytes_max.max(data.in_flight_bytes);
        bin.retransmitted_bytes += u64::from(data.repeated_len);
        bin.retransmitted_packets += u64::from(data.verdict.class == Class::Retransmission);
    }

    fn amended(&mut self, dir: Direction, amendment: &Amendment) {
        self.directions[dir.index()].on_amendment(amendment);
        if let Some(sequence) = self.sequence(dir) {
            sequence.on_amendment(amendment);
        }
        let (was_new, is_new) = (
            amendment.was.class == Class::New,
            amendment.now.class == Class::New,
        );
        if was_new != is_new {
            let bin = LiveConnection::data(self, dir).series.at(amendment.sent_at);
            let (bytes, packets) = (&mut bin.retransmitted_bytes, &mut bin.retransmitted_packets);
            let payload_len = u64::from(amendment.payload_len);
            if is_new {
                *bytes = bytes.saturating_sub(payload_len);
                *packets = packets.saturating_sub(1);
            } else {
                *bytes += payload_len;
                *packets += 1;
            }
        }
    }

    fn lost(&mut self, dir: Direction, place: LossPlace, packets: i32) {
        self.directions[dir.index()].on_lost(place, packets);
    }

    #[inline(always)]
    fn rtt(&mut self, dir: Direction, sample: &RttSample) {
        self.directions[dir.index()].on_rtt(sample);
        let bin = self.data(dir).series.at(sample.at);
        if bin.rtt_samples == 0 {
            bin.rtt_ns_min = sample.rtt_ns;
            bin.rtt_ns_max = sample.rtt_ns;
        }
        bin.rtt_samples += 1;
        bin.rtt_ns_sum = bin.rtt_ns_sum.saturating_add(sample.rtt_ns);
        bin.rtt_ns_min = bin.rtt_ns_min.min(sample.rtt_ns);
        bin.rtt_ns_max = bin.rtt_ns_max.max(sample.rtt_ns);
    }

    #[inline]
    fn timestamp_rtt(&mut self, dir: Direction, _at: CaptureTime, rtt_ns: i64) {
        self.directions[dir.index()].rtt_ts.add(rtt_ns);
    }

    #[inline]
    fn acked(&mut self, dir: Direction, acked: &Acked) {
        self.take_acked::<false>(dir, acked);
    }

    #[inline(always)]
    fn acked_at_once(&mut self, dir: Direction, acked: &Acked) {
        self.take_acked::<true>(dir, acked);
    }

    #[inline(always)]
    fn delivered(&mut self, dir: Direction, at: CaptureTime, bytes: u64) {
        if let Some(live) = &mut self.data[dir.index()] {
            live.spacing.on_ack(at, bytes);
        }
    }

    #[cold]
    fn acked_less(&mut self, dir: Direction, at: CaptureTime, bytes: u64) {
        let bin = self.data(dir).series.at(at);
        bin.acked_bytes = bin.acked_bytes.saturating_sub(bytes);
    }

    // Called once a packet, mostly to find that nothing is to be done.
    #[inline(always)]
    fn window(&mut self, dir: Direction, at: CaptureTime, end: i64) {
        if let Some(sequence) = self.sequence(dir) {
            sequence.on_window(at, end);
        }
    }

    fn sacked(&mut self, dir: Direction, part: &StreamPart) {
        if let Some(sequence) = self.sequence(dir) {
            sequence.on_part(part, MarkKind::Sacked);
        }
    }

    fn hole(&mut self, dir: Direction, part: &StreamPart) {
        if let Some(sequence) = &mut LiveConnection::data(self, dir).time_sequence {
            sequence.on_part(part, MarkKind::Hole);
        }
    }

    fn recovery(&mut self, dir: Direction, recovery: &Recovery) {
        self.directions[dir.index()].on_recovery(recovery);
    }

    fn signal(&mut self, dir: Direction, _at: CaptureTime, signal: Signal) {
        self.directions[dir.index()].on_signal(signal);
    }

    fn segment(&mut self, dir: Direction, segment: &ClassifiedSegment) {
        let data = self.data(dir);
        if !data.series.is_given_up() {
            data.segments.push(segment);
        }
    }
}

impl<const SEGMENTS: bool> Observer for Recorder<SEGMENTS> {
    type Sink = LiveConnection<SEGMENTS>;
    const WAITS: bool = true;

    #[inline]
    fn memory_bytes(flow: &Self::Sink) -> usize {
        flow.memory_bytes()
    }

    #[inline]
    fn is_apart(&mut self, before: CaptureTime, at: CaptureTime) -> bool {
        if !self.bin.contains(&at) {
            self.turn_to(at);
        }
        !self.bin.contains(&before)
    }

    fn expected_bytes(parts: usize, segments: usize) -> (usize, usize) {
        Self::record_bytes(parts, segments)
    }

    fn give_up(flow: &mut Self::Sink) {
        flow.give_up_details(u64::MAX);
    }

    fn open(&mut self, _identity: &ConnectionIdentity) -> Self::Sink {
        LiveConnection {
            config: self.config.clone(),
            curves: self.config.curves,
            sequences: self.config.time_sequence,
            gaps: self.config.gaps,
            directions: [DirectionSummary::default(), DirectionSummary::default()],
            data: [None, None],
        }
    }

    fn open_ended(&mut self, identity: &ConnectionIdentity, payload_bytes: u64) -> Self::Sink {
        let mut flow = self.open(identity);
        // None of them can be among the largest flows: none is asked for.
        flow.curves &= payload_bytes >= self.curve_floor_bytes;
        flow
    }

    fn close(
        &mut self,
        identity: &ConnectionIdentity,
        connection: &Connection,
        mut flow: Self::Sink,
        cut_by_limit: bool,
    ) {
        let packets = [0, 1].map(|dir: usize| flow.directions[dir].packets);
        // Those of ACKs, too, of which nothing else is kept.
        let count = |of: fn(&Incidents) -> u64| {
            let count = |dir: usize| of(flow.directions[dir].incidents());
            [0, 1].map(|dir| u32::try_from(count(dir)).unwrap_or(u32::MAX))
        };
        let headers_cut = count(|incidents| incidents.headers_cut);
        let clock_steps_back = count(|incidents| incidents.clock_steps_back);
        let mut is_comparable = false;
        for dir in [Direction::Forward, Direction::Reverse] {
            let summary = &flow.directions[dir.index()];
            let data = flow.data[dir.index()].as_mut();
            let Some(data) = data.filter(|_| summary.data_packets > 0) else {
                continue;
            };
            let told = (summary, connection.state(dir));
            let spacing = data.spacing.take_spacing();
            let start = identity.first_at;
            self.packer
                .add(dir, told, &spacing, &mut data.series, start);
            let is_small = summary.payload_bytes < self.curve_floor_bytes;
            is_comparable |= !is_small;
            let mut curve = take(&mut data.curve);
            // When a single packet passed is known without.
            if !curve.is_empty() && (is_small || summary.data_packets == 1) {
                let bytes = curve.memory_bytes();
                self.config.curve_growth.fetch_sub(bytes, Ordering::Relaxed);
                curve = PayloadCurve::default();
            }
            self.packer.add_extras(
                dir,
                FlowExtras {
                    curve,
                    time_sequence: data.time_sequence.take(),
                    gaps: data.gaps.take(),
                    segments: data.segments.end(),
                },
            );
        }
        let facts = ConnectionFacts {
            cut_by_limit: cut_by_limit || connection.has_forgotten_segments(),
            packets,
            headers_cut,
            clock_steps_back,
        };
        let Some(record) = self.packer.finish(identity, facts, connection.handshake()) else {
            self.silent.push(identity.first_ordinal);
            return;
        };
        self.kept_bytes += record.memory_bytes();
        if is_comparable && self.config.curves {
            self.comparable.push(self.connections.len() as u32);
        }
        self.connections.push(record);
        self.keep_largest_time_sequence();
    }
}
