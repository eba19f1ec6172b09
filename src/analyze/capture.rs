//! What was found in one capture.

use super::directions::towards_capacity;
use super::flow::{Flow, Quality, all_ahead};
use super::frames::FrameIndex;
use super::memory::GivenUp;
use super::pairs::Pairs;
use super::pings::Ping;
use crate::capture::{CaptureError, FileFacts};
use crate::decode::Tally;
use crate::metric;
use crate::observe::{ConnectionRecord, Span, delivery_bps_max, expect_ahead};
use crate::time::CaptureTime;

/// What is known of a capture besides its connections.
#[derive(Default)]
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
        Self::of_facts(CaptureFacts {
            name,
            errors: vec![error],
            ..CaptureFacts::default()
        })
    }

    /// One of which no connection is known.
    pub(super) fn of_facts(facts: CaptureFacts) -> Self {
        Self {
            name: facts.name,
            files: facts.files,
            records: facts.records,
            tcp_records: facts.tcp_records,
            skipped: facts.tally,
            span: facts.span,
            origin: facts.origin,
            frames: facts.frames,
            connections: Vec::new(),
            connections_total: 0,
            cut_by_limit: facts.cut_by_limit,
            given_up: facts.given_up,
            pairs: Pairs::default(),
            pings: facts.pings,
            errors: facts.errors,
        }
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

    /// The bytes and the interval that [`goodput_bps`](Self::goodput_bps) divides; `None` where there is no data, or no
    /// new ACK.
    #[must_use]
    pub fn delivered(&self) -> Option<Delivered> {
        Delivered::of(self.flows())
    }

    /// The flows that a link's capacity is for (METRICS.md N5): those of one of its directions or, where next to
    /// nothing goes the other way, all.
    #[must_use]
    pub fn towards_capacity(&self) -> Vec<Flow<'_>> {
        towards_capacity(&self.flows().collect::<Vec<_>>())
    }

    /// What these flows delivered together: what utilisation is made of.
    #[must_use]
    pub fn delivered_towards_capacity(&self) -> Option<Delivered> {
        Delivered::of(all_ahead(&self.towards_capacity()).copied())
    }

    /// The highest rate that these flows together were delivered for a second, in bits of payload a second (METRICS.md
    /// R7); `bin_ns` is that of the series.
    #[must_use]
    pub fn capacity_estimated_bps(&self, bin_ns: i64) -> Option<f64> {
        let counted = self.towards_capacity();
        delivery_bps_max(
            all_ahead(&counted).map(|flow| flow.record.series().bins()),
            bin_ns,
        )
    }

    /// What bears on the capture's numbers, summed over its flows.
    #[must_use]
    pub fn quality(&self) -> CaptureQuality {
        let mut quality = CaptureQuality::default();
        for (id, connection) in self.connections_ahead() {
            let sum = |counts: [u32; 2]| counts.into_iter().map(u64::from).sum::<u64>();
            let parts = connection.parts();
            let (facts, handshake) = (parts.facts(), parts.handshake());
            quality.headers_cut += sum(facts.headers_cut);
            quality.clock_steps_back += sum(facts.clock_steps_back);
            for flow in Flow::all_of(*id, parts) {
                let figures = flow.figures();
                let incidents = figures.incidents();
                quality.unseen_bytes += figures.state().unseen_bytes.unwrap_or(0);
                quality.duplicate_packets += incidents.duplicate_packets;
                quality.super_segments += incidents.super_segments;
                quality.lengths_from_frame += incidents.lengths_from_frame;
                for each in figures.quality(&incidents, &handshake, &facts) {
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
        connections.flat_map(|(id, connection)| Flow::all_of(*id, connection.parts()))
    }

    /// The connections; what comes soon is asked for on the way.
    fn connections_ahead(&self) -> impl Iterator<Item = &(u64, Box<ConnectionRecord>)> {
        let connections = self.connections.iter().enumerate();
        connections.map(|(place, connection)| {
            expect_ahead(&self.connections, place, |(_, record)| record);
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

#[cfg(test)]
mod tests;
