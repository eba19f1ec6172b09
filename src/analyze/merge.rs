//! Shard results in one order: that of each connection's first record, whatever ran where.

use super::config::Config;
use super::directions::counts_towards_capacity;
use super::figures::FlowFigures;
use super::frames::FrameIndex;
use super::memory::GivenUp;
use super::pairs::Pairs;
use super::pings::Ping;
use crate::capture::{CaptureError, FileFacts};
use crate::decode::{Endpoint, Tally};
use crate::event::Direction;
use crate::metric;
use crate::observe::{BytesBy, ConnectionRecord, DirectionSummary, FlowRecord, Recorder, Span};
use crate::prefetch::prefetch;
use crate::time::CaptureTime;
use crate::track::HalfState;

/// What is known of a capture besides its connections.
pub(super) struct CaptureFacts {
    pub(super) name: String,
    pub(super) files: Vec<FileFacts>,
    pub(super) records: u64,
    pub(super) tcp_records: u64,
    pub(super) tally: Tally,
    pub(super) span: Option<Span>,
    pub(super) origin: CaptureTime,
    pub(super) frames: FrameIndex,
    pub(super) pings: Vec<Ping>,
    pub(super) cut_by_limit: u64,
    pub(super) given_up: GivenUp,
    pub(super) errors: Vec<CaptureError>,
}

/// Everything found in one capture.
#[derive(Debug)]
pub struct CaptureAnalysis {
    /// The capture: the path as given.
    pub name: String,
    /// The files it was read from.
    pub files: Vec<FileFacts>,
    /// Records read.
    pub records: u64,
    /// Records that belong to a TCP segment that was analysed.
    pub tcp_records: u64,
    /// Records that were skipped, by reason. With [`tcp_records`](Self::tcp_records) they add up
    /// to [`records`](Self::records).
    pub skipped: Tally,
    /// First and last instant of all records.
    pub span: Option<Span>,
    /// Start of bin 0 of all series.
    pub origin: CaptureTime,
    /// Frame numbers.
    pub frames: FrameIndex,
    /// Connections with payload, by their first record, each with its `connection_id`.
    pub connections: Vec<(u64, Box<ConnectionRecord>)>,
    /// Connections in all, also those without payload.
    pub connections_total: u64,
    /// Connections put away because too many were alive at once.
    pub cut_by_limit: u64,
    /// What was given up for want of memory.
    pub given_up: GivenUp,
    /// Flows compared with each other.
    pub pairs: Pairs,
    /// ICMP echo requests.
    pub pings: Vec<Ping>,
    /// What kept it from being read to its end, of each file that failed; empty when all went well.
    pub errors: Vec<CaptureError>,
}

impl CaptureAnalysis {
    /// A capture that could not even be opened.
    pub(super) fn unread(name: String, error: CaptureError) -> Self {
        Self {
            name,
            files: Vec::new(),
            records: 0,
            tcp_records: 0,
            skipped: Tally::default(),
            span: None,
            origin: CaptureTime::default(),
            frames: FrameIndex::default(),
            connections: Vec::new(),
            connections_total: 0,
            cut_by_limit: 0,
            given_up: GivenUp::default(),
            pairs: Pairs::default(),
            pings: Vec::new(),
            errors: vec![error],
        }
    }

    pub(super) fn merge<const SEGMENTS: bool>(
        facts: CaptureFacts,
        recorders: Vec<Recorder<SEGMENTS>>,
        config: &Config,
    ) -> Self {
        assert_eq!(
            facts.records,
            facts.tcp_records + facts.tally.total(),
            "a record got lost"
        );
        // Each with its first record beside it: sorted where they are, they would be fetched from all over
        // the memory again and again.
        let mut connections: Vec<(u64, Box<ConnectionRecord>)> = Vec::new();
        let mut silent: Vec<u64> = Vec::new();
        for mut recorder in recorders {
            let records = recorder.connections.into_iter();
            connections.extend(records.map(|record| (record.identity.first_ordinal, record)));
            silent.append(&mut recorder.silent);
        }
        connections.sort_unstable_by_key(|&(first_ordinal, _)| first_ordinal);
        silent.sort_unstable();
        let connections_total = (connections.len() + silent.len()) as u64;
        for (rank, (id, _)) in connections.iter_mut().enumerate() {
            let before = silent.partition_point(|&ordinal| ordinal < *id);
            *id = (rank + before) as u64;
        }
        let mut analysis = Self {
            name: facts.name,
            files: facts.files,
            records: facts.records,
            tcp_records: facts.tcp_records,
            skipped: facts.tally,
            span: facts.span,
            origin: facts.origin,
            frames: facts.frames,
            connections,
            connections_total,
            cut_by_limit: facts.cut_by_limit,
            given_up: facts.given_up,
            pairs: Pairs::default(),
            pings: facts.pings,
            errors: facts.errors,
        };
        analysis.pairs = Pairs::of(&analysis, config.pairs);
        analysis
    }

    /// The first thing that kept it from being read to its end.
    #[must_use]
    pub fn error(&self) -> Option<&CaptureError> {
        self.errors.first()
    }

    /// Whether a file was damaged, and reading went on behind the damage.
    #[must_use]
    pub fn is_repaired(&self) -> bool {
        self.files.iter().any(|file| file.gaps_total > 0)
    }

    /// Goodput of all flows together, in bits per second: all acked bytes, from the first data to
    /// the last new ACK (METRICS.md G1); `None` with an empty interval.
    #[must_use]
    pub fn goodput_bps(&self) -> Option<f64> {
        self.delivered()?.goodput_bps()
    }

    /// The bytes and the interval that [`goodput_bps`](Self::goodput_bps) divides; `None` where there is no data, or no new
    /// ACK.
    #[must_use]
    pub fn delivered(&self) -> Option<Delivered> {
        Delivered::of(self.flows())
    }

    /// The flows that a link's capacity is for (METRICS.md N5): those of one of its directions or, where next to nothing
    /// goes the other way, all.
    #[must_use]
    pub fn towards_capacity(&self) -> Vec<Flow<'_>> {
        let flows: Vec<Flow<'_>> = self.flows().collect();
        let counts = counts_towards_capacity(&flows);
        let flows = flows.into_iter().zip(counts);
        flows
            .filter_map(|(flow, counts)| counts.then_some(flow))
            .collect()
    }

    /// What these flows delivered together: what utilisation is made of.
    #[must_use]
    pub fn delivered_towards_capacity(&self) -> Option<Delivered> {
        Delivered::of(self.towards_capacity())
    }

    /// What bears on the capture's numbers, summed over its flows.
    #[must_use]
    pub fn quality(&self) -> CaptureQuality {
        let mut quality = CaptureQuality::default();
        for (id, connection) in self.connections_ahead() {
            let sum = |counts: [u32; 2]| counts.into_iter().map(u64::from).sum::<u64>();
            let (facts, handshake) = (connection.facts(), connection.handshake());
            quality.headers_cut += sum(facts.headers_cut);
            quality.clock_steps_back += sum(facts.clock_steps_back);
            for flow in Flow::all_of(*id, connection) {
                let figures = flow.figures();
                let incidents = figures.incidents();
                quality.unseen_bytes += figures.state().unseen_bytes.unwrap_or(0);
                quality.duplicate_packets += incidents.duplicate_packets;
                quality.super_segments += incidents.super_segments;
                quality.lengths_from_frame += incidents.lengths_from_frame;
                for each in figures.signs(&incidents, &handshake, &facts) {
                    quality.one_way_flows += u64::from(each == Quality::OneWay);
                    quality.mid_stream_flows += u64::from(each == Quality::MidStream);
                    quality.copied_flows += u64::from(each == Quality::Copies);
                }
            }
        }
        quality
    }

    /// The flows, by connection, forward before reverse.
    pub fn flows(&self) -> impl Iterator<Item = Flow<'_>> {
        let connections = self.connections_ahead();
        connections.flat_map(|(id, connection)| Flow::all_of(*id, connection))
    }

    /// The connections; what comes soon is asked for on the way.
    fn connections_ahead(&self) -> impl Iterator<Item = &(u64, Box<ConnectionRecord>)> {
        /// Connections ahead: each is somewhere else in the memory, and its numbers are elsewhere again.
        const AHEAD: usize = 8;
        let ahead = |place: usize| {
            self.connections
                .get(place)
                .map(|(_, connection)| connection)
        };
        let connections = self.connections.iter().enumerate();
        connections.map(move |(place, connection)| {
            if let Some(coming) = ahead(place + 2 * AHEAD) {
                prefetch(&**coming);
            }
            if let Some(come) = ahead(place + AHEAD) {
                come.expect();
            }
            connection
        })
    }
}

/// What the flows of a capture delivered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Payload that was newly acknowledged, in bytes (METRICS.md C5).
    pub acked_bytes: u64,
    /// From the first data to the last new ACK.
    pub span: Span,
}

impl Delivered {
    /// What these flows delivered together; `None` where there is no data, or no new ACK.
    #[must_use]
    pub fn of<'a>(flows: impl IntoIterator<Item = Flow<'a>>) -> Option<Self> {
        let (mut acked_bytes, mut first, mut last) = (0, None, None);
        for flow in flows {
            let figures = flow.figures();
            acked_bytes += figures.state().acked_bytes.unwrap_or(0);
            if let Some(span) = figures.outline().data_span {
                first = Some(first.map_or(span.first, |first| span.first.min(first)));
            }
            last = last.max(figures.last_new_ack_at());
        }
        let (first, last) = (first?, last?);
        let span = Span { first, last };
        Some(Self { acked_bytes, span })
    }

    /// Goodput in bits per second (METRICS.md G1); `None` with an empty interval.
    #[must_use]
    pub fn goodput_bps(self) -> Option<f64> {
        metric::rate_bps(self.acked_bytes, self.span.length_ns())
    }
}

/// How far a capture can be trusted (METRICS.md Q1): counts over all its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureQuality {
    /// Bytes that receivers acknowledged and the capture never saw: it dropped records.
    pub unseen_bytes: u64,
    /// Copies made by the network or a mirror port.
    pub duplicate_packets: u64,
    /// TCP headers cut by the snap length, of connections with payload, both directions.
    pub headers_cut: u64,
    /// Segments that are several packets on the wire (offload).
    pub super_segments: u64,
    /// IP lengths of 0, taken from the frame (offload).
    pub lengths_from_frame: u64,
    /// Packets older than one before them in their direction, of connections with payload.
    pub clock_steps_back: u64,
    /// Flows of which only one direction was seen.
    pub one_way_flows: u64,
    /// Flows whose start was not seen.
    pub mid_stream_flows: u64,
    /// Flows of which many packets are there more than once.
    pub copied_flows: u64,
}

/// One direction of a connection that carried payload: the unit of a results row.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// Rank of its connection by first record, from 0.
    pub connection_id: u64,
    /// What was kept of it.
    pub record: FlowRecord<'a>,
}

impl<'a> Flow<'a> {
    /// Those of a connection, forward before reverse.
    fn all_of(connection_id: u64, connection: &'a ConnectionRecord) -> impl Iterator<Item = Self> {
        connection.flows().map(move |record| Self {
            connection_id,
            record,
        })
    }

    /// Whether it is of one size class with a flow of `largest` payload bytes, at least one hundredth of
    /// that: requests of a few bytes do not compete with the downloads they ask for, and charts do
    /// not show them.
    #[must_use]
    pub fn counts_beside(&self, largest: u64) -> bool {
        self.payload_bytes().saturating_mul(100) >= largest
    }

    /// Its connection.
    #[must_use]
    pub fn connection(&self) -> &'a ConnectionRecord {
        self.record.connection
    }

    /// Counts and distributions. Unpacks about a hundred numbers with each call: keep the result.
    #[must_use]
    pub fn summary(&self) -> DirectionSummary {
        self.record.summary()
    }

    /// Sequence state at the end.
    #[must_use]
    pub fn state(&self) -> HalfState {
        self.record.state()
    }

    /// Payload of all its packets, in bytes (METRICS.md C3).
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        self.record.payload_bytes()
    }

    /// Sender and receiver.
    #[must_use]
    pub fn ends(&self) -> (Endpoint, Endpoint) {
        self.connection().identity.ends(self.record.dir)
    }

    /// First and last packet with payload.
    #[must_use]
    pub fn data_span(&self) -> Option<Span> {
        self.record.data_span()
    }

    /// Payload bytes from the first to the last instant of `span`, both included, and whether the
    /// number is exact (METRICS.md N1); instants at which some flow begins or ends always are.
    #[must_use]
    pub fn payload_within(&self, span: Span) -> (u64, bool) {
        let before = self.record.curve().bytes_by(span.first.plus_ns(-1));
        let until = self.record.curve().bytes_by(span.last);
        let exact = matches!((before, until), (BytesBy::Exact(_), BytesBy::Exact(_)));
        (until.bytes().saturating_sub(before.bytes()), exact)
    }

    /// Its numbers unpacked, for who wants several of those below.
    #[must_use]
    pub fn figures(self) -> FlowFigures<'a> {
        FlowFigures::of(self)
    }

    /// Time of the last ACK that covered new payload; `None` where none did (a SYN does not count).
    #[must_use]
    pub fn last_new_ack_at(&self) -> Option<CaptureTime> {
        self.figures().last_new_ack_at()
    }

    /// The interval that goodput and throughput are taken over, in ns, and whether it ends with an ACK (METRICS.md G1): see
    /// [`FlowFigures::goodput_interval_ns`].
    #[must_use]
    pub fn goodput_interval_ns(&self) -> Option<(i64, bool)> {
        self.figures().goodput_interval_ns()
    }

    /// Goodput in bits per second (METRICS.md G1); `None` with an empty interval.
    #[must_use]
    pub fn goodput_bps(&self) -> Option<f64> {
        self.figures().goodput_bps()
    }

    /// Throughput in bits per second (METRICS.md G2); `None` with an empty interval.
    #[must_use]
    pub fn throughput_bps(&self) -> Option<f64> {
        self.figures().throughput_bps()
    }

    /// Overhead (METRICS.md O1); `None` where nothing was acked.
    #[must_use]
    pub fn overhead(&self) -> Option<f64> {
        self.figures().overhead()
    }

    /// Data packets lost between the sender and the vantage point (METRICS.md X3): see [`FlowFigures::lost_upstream`].
    #[must_use]
    pub fn lost_upstream(&self) -> u64 {
        let figures = self.figures();
        figures.lost_upstream(&figures.incidents())
    }

    /// Shares of the flow's time that were limited by the network, the receiver's window and the application (METRICS.md
    /// L1): see [`FlowFigures::limited_by`].
    #[must_use]
    pub fn limited_by(&self) -> Option<Limited> {
        self.figures().limited_by()
    }

    /// Flow completion time in ns (METRICS.md F1).
    #[must_use]
    pub fn completion_ns(&self) -> Option<i64> {
        self.figures().completion_ns()
    }

    /// What the reader must know (METRICS.md Q1), in a fixed order.
    #[must_use]
    pub fn quality(&self) -> Vec<Quality> {
        let (figures, handshake) = (self.figures(), self.connection().handshake());
        figures.quality(&figures.incidents(), &handshake)
    }
}

/// What limited a flow, as shares of its time (METRICS.md L1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limited {
    /// Congestion control, or the path itself: neither of the other two.
    pub network: f64,
    /// No room for a full packet in the receiver's window.
    pub receiver: f64,
    /// Nothing in flight although the sender could have sent.
    pub application: f64,
}

/// What bears on a flow's numbers (METRICS.md Q1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// The capture starts after the flow: offset 0 is the first byte seen.
    MidStream,
    /// SYN or SYN-ACK was not seen: no window scale, no options.
    NoHandshake,
    /// Nothing of the other direction was seen: no ACKs, no round trips.
    OneWay,
    /// Bytes were acknowledged that the capture never saw: it dropped records, or started late.
    RecordsDropped,
    /// The snap length cut TCP headers of the flow or of its ACKs: options may be missing.
    HeadersCut,
    /// Segments larger than the MSS: captured before segmentation or after merging (offload).
    SuperSegments,
    /// IP lengths of 0: taken from the frame's original length (offload).
    LengthsFromFrame,
    /// Many packets are there more than once: a mirror port, or a capture of all interfaces.
    Copies,
    /// The capture's clock stepped back.
    ClockSteppedBack,
    /// The connection was put away because too many were alive.
    LimitHit,
    /// There were too many bins, or no memory for them: its series ends early, or is missing.
    SeriesCut,
    /// Segments far outside the stream, most likely of an earlier connection.
    StraySegments,
    /// Neither FIN nor RST was seen: the capture ended before the flow did.
    Unfinished,
}

impl Quality {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MidStream => "mid_stream",
            Self::NoHandshake => "no_handshake",
            Self::OneWay => "one_way",
            Self::RecordsDropped => "records_dropped",
            Self::HeadersCut => "headers_cut",
            Self::SuperSegments => "super_segments",
            Self::LengthsFromFrame => "lengths_from_frame",
            Self::Copies => "copies",
            Self::ClockSteppedBack => "clock_stepped_back",
            Self::LimitHit => "limit_hit",
            Self::SeriesCut => "series_cut",
            Self::StraySegments => "stray_segments",
            Self::Unfinished => "unfinished",
        }
    }
}

/// The direction of a flow as seen from its connection.
impl Flow<'_> {
    /// Forward when the opener sent it.
    #[must_use]
    pub fn dir(&self) -> Direction {
        self.record.dir
    }
}

#[cfg(test)]
mod tests;
