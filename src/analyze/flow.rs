//! One direction of a connection, and what is asked of it.

use std::net::IpAddr;

use super::figures::FlowFigures;
use super::order::Disorder;
use crate::decode::{Endpoint, Transport};
use crate::event::Direction;
use crate::observe::{
    Bin, BytesBy, ConnectionRecord, DirectionSummary, FlowRecord, RecordParts, Span,
};
use crate::time::CaptureTime;
use crate::track::HalfState;

/// One direction of a connection that carried payload: the unit of a results row.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// Rank of its connection by first record, from 0.
    pub connection_id: u64,
    /// What was kept of it.
    pub record: FlowRecord<'a>,
    /// What of its capture bears on it.
    pub within: OfCapture<'a>,
}

/// What of a capture bears on each of its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfCapture<'a> {
    /// Step of its clock, in ns, by the word of its files, the coarsest of several; 0 where it is finer than 1 ns, or none
    /// says.
    pub clock_step_ns: u32,
    /// Connections were put away by a limit: what goes on of them is another one, as if it had begun before the capture.
    pub has_put_away: bool,
    /// Its records are out of order of time.
    pub disorder: Option<&'a Disorder>,
}

impl<'a> Flow<'a> {
    /// Those of a connection, forward before reverse.
    pub(super) fn all_of(
        connection_id: u64,
        connection: RecordParts<'a>,
        within: OfCapture<'a>,
    ) -> impl Iterator<Item = Self> {
        connection.flows().map(move |record| Self {
            connection_id,
            record,
            within,
        })
    }

    /// A flow that was recorded apart from a capture, of which nothing is known: its connection counts as the first, and
    /// its clock as fine as its times.
    #[must_use]
    pub fn of_record(record: FlowRecord<'a>) -> Self {
        Self {
            connection_id: 0,
            record,
            within: OfCapture::default(),
        }
    }

    /// Whether it is of one size class with a flow of `largest` payload bytes, at least one hundredth of
    /// that: requests of a few bytes do not compete with the downloads they ask for, and charts do
    /// not show them.
    #[must_use]
    pub fn counts_beside(&self, largest: u64) -> bool {
        counts_beside(self.payload_bytes(), largest)
    }

    /// Its connection.
    #[must_use]
    pub fn connection(&self) -> &'a ConnectionRecord {
        self.record.connection
    }

    /// What its packets are of.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.connection().identity.transport
    }

    /// Itself where it is of TCP: of UDP nothing is known that takes sequence numbers, ACKs or a handshake to tell.
    #[must_use]
    pub fn tcp(&self) -> Option<&Self> {
        (self.transport() == Transport::Tcp).then_some(self)
    }

    /// Whether its round trips can be known: of UDP where QUIC's spin bit showed some (METRICS.md, "Flows of UDP").
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.tcp().is_some() || self.figures().rtt_stats().samples() > 0
    }

    /// The smallest RTT, in ns, that its balanced metric is taken against (METRICS.md P1); `None` without samples, and of
    /// UDP, whose retransmissions nobody knows.
    #[must_use]
    pub fn balance_floor_ns(&self) -> Option<i64> {
        self.tcp()?.figures().rtt_stats().ns_min()
    }

    /// Payload that counts as delivered in one of its bins, in bytes: newly acknowledged or, of UDP, whose ACKs nobody
    /// sees, what passed.
    #[must_use]
    pub fn delivered_in(&self, bin: &Bin) -> u64 {
        match self.transport() {
            Transport::Tcp => bin.acked_bytes,
            Transport::Udp => bin.payload_bytes,
        }
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

    /// Hosts of sender and receiver: flows that have the same share the path between them, this way.
    #[must_use]
    pub fn hosts(&self) -> (IpAddr, IpAddr) {
        let (sender, receiver) = self.ends();
        (sender.ip(), receiver.ip())
    }

    /// First and last packet with payload.
    #[must_use]
    pub fn data_span(&self) -> Option<Span> {
        self.record.data_span()
    }

    /// Payload bytes from the first to the last instant of `span`, both included, and whether the
    /// number is exact (METRICS.md N1).
    ///
    /// It is of the [largest flows](super::PairConfig::top), between instants at which a flow begins or ends or one of
    /// [`Config::windows`](super::Config::windows) does. Between others, where the packets around them were not kept, and
    /// of other flows, where all of them are within `span` or none, too; else it is what passed had these sent evenly.
    #[must_use]
    pub fn payload_within(&self, span: Span) -> (u64, bool) {
        if self.record.curve().bytes() == 0 {
            return self.payload_evenly_within(span);
        }
        let before = self.record.curve().bytes_by(span.first.plus_ns(-1));
        let until = self.record.curve().bytes_by(span.last);
        let exact = matches!((before, until), (BytesBy::Exact(_), BytesBy::Exact(_)));
        (until.bytes().saturating_sub(before.bytes()), exact)
    }

    /// The same of a flow whose packets are not known one by one.
    fn payload_evenly_within(&self, span: Span) -> (u64, bool) {
        let Some(own) = self.data_span() else {
            return (0, true);
        };
        let bytes = self.payload_bytes();
        match own.common(span) {
            None => (0, true),
            Some(common) if common == own => (bytes, true),
            Some(common) => {
                let share = common.length_ns() as f64 / own.length_ns() as f64;
                ((bytes as f64 * share) as u64, false)
            }
        }
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

    /// Payload that counts as delivered, in bytes: see [`FlowFigures::delivered_bytes`].
    #[must_use]
    pub fn delivered_bytes(&self) -> Option<u64> {
        self.figures().delivered_bytes()
    }

    /// Time of the last of it: see [`FlowFigures::last_delivered_at`].
    #[must_use]
    pub fn last_delivered_at(&self) -> Option<CaptureTime> {
        self.figures().last_delivered_at()
    }

    /// The interval that goodput and throughput are taken over, in ns, and whether it ends with an ACK (METRICS.md G1):
    /// see [`FlowFigures::goodput_interval_ns`].
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

    /// Overhead on the wire, where each packet of a frame of offload has headers of its own (METRICS.md O2); `None` where
    /// nothing was acked.
    #[must_use]
    pub fn wire_overhead(&self) -> Option<f64> {
        let figures = self.figures();
        figures.wire_overhead(&figures.incidents())
    }

    /// Data packets lost between the sender and the vantage point (METRICS.md X3): see [`FlowFigures::lost_upstream`].
    #[must_use]
    pub fn lost_upstream(&self) -> u64 {
        let figures = self.figures();
        figures.lost_upstream(&figures.incidents())
    }

    /// Shares of the flow's time that were limited by the network, the receiver's window and the application
    /// (METRICS.md L1): see [`FlowFigures::limited_by`].
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
        let (figures, parts) = (self.figures(), self.connection().parts());
        let quality = figures.quality(&figures.incidents(), &parts.handshake(), &parts.facts());
        quality.collect()
    }
}

/// Whether a flow of so many bytes is of one size class with one of `largest`: [`Flow::counts_beside`].
pub(crate) fn counts_beside(bytes: u64, largest: u64) -> bool {
    bytes.saturating_mul(100) >= largest
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quality {
    /// A flow of UDP: nothing is known that takes sequence numbers, ACKs or a handshake to tell.
    Udp,
    /// The capture starts after the flow: offset 0 is the first byte seen.
    MidStream,
    /// SYN or SYN-ACK was not seen: no window scale, no options.
    NoHandshake,
    /// Nothing of the other direction was seen: no ACKs, no round trips.
    OneWay,
    /// Bytes were acknowledged that the capture never saw: it dropped records, or started late. Not where they may have
    /// been seen of a connection that was put away.
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
    /// The connection was put away because too many were alive, or goes on from one that was, as far as what was
    /// acknowledged tells; or more of its segments were in flight than are remembered.
    LimitHit,
    /// There were too many bins, or no memory for them: its series ends early, or is missing.
    SeriesCut,
    /// Segments far outside the stream, most likely of an earlier connection.
    StraySegments,
    /// Neither FIN nor RST was seen: the capture ended before the flow did.
    Unfinished,
    /// An RST ended it before all that it had sent was acknowledged.
    Reset,
}

impl Quality {
    /// Those of flows that had not completed when their last payload passed.
    pub const INCOMPLETE: &'static [Self] = &[Self::Unfinished, Self::Reset];

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
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
            Self::Reset => "reset",
        }
    }
}

shown_by_name!(Quality);

/// The direction of a flow as seen from its connection.
impl Flow<'_> {
    /// Forward when the opener sent it.
    #[must_use]
    pub fn dir(&self) -> Direction {
        self.record.dir
    }
}
