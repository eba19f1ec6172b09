//! What the flows of a capture come to together.

use super::ahead::connections_ahead;
use super::figures::FlowFigures;
use super::flow::{Flow, OfCapture};
use super::parts::in_parts;
use crate::metric;
use crate::observe::{ConnectionFacts, ConnectionRecord, RecordParts, Span, Wanted};
use crate::time::CaptureTime;

/// Sums over all flows of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureTotals {
    /// How many flows there are.
    pub flows: u64,
    /// Bytes of their IP packets (METRICS.md C2).
    pub ip_bytes: u64,
    /// The shortest of their round-trip times, in ns (METRICS.md R2); `None` without samples.
    pub rtt_ns_min: Option<i64>,
    /// What bears on the numbers.
    pub quality: CaptureQuality,
    delivered: Delivering,
}

impl CaptureTotals {
    pub(super) fn of(connections: &[(u64, Box<ConnectionRecord>)], within: OfCapture<'_>) -> Self {
        let of_part = |part: &[(u64, Box<ConnectionRecord>)]| {
            let mut totals = Self::default();
            for (id, connection) in connections_ahead(part, Wanted::All) {
                totals.add(*id, connection.parts(), within);
            }
            totals
        };
        let parts = in_parts(connections, of_part).into_iter();
        parts.reduce(Self::with).unwrap_or_default()
    }

    /// What the flows delivered together: see [`Delivered::of`].
    #[must_use]
    pub fn delivered(&self) -> Option<Delivered> {
        self.delivered.end()
    }

    fn add(&mut self, connection_id: u64, connection: RecordParts<'_>, within: OfCapture<'_>) {
        let (facts, are_seen) = (connection.facts(), connection.are_openings_seen());
        self.quality.add_connection(&facts);
        for flow in Flow::all_of(connection_id, connection, within) {
            let figures = flow.figures();
            self.flows += 1;
            self.ip_bytes += figures.outline().ip_bytes;
            let shortest = figures.rtt_stats().ns_min();
            self.rtt_ns_min = self.rtt_ns_min.into_iter().chain(shortest).min();
            self.delivered.add(&figures);
            let is_opening_seen = flow.tcp().is_none() || are_seen[flow.dir().index()];
            self.quality.add_flow(&figures, is_opening_seen, &facts);
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            flows: self.flows + other.flows,
            ip_bytes: self.ip_bytes + other.ip_bytes,
            rtt_ns_min: self.rtt_ns_min.into_iter().chain(other.rtt_ns_min).min(),
            quality: self.quality.with(other.quality),
            delivered: self.delivered.with(other.delivered),
        }
    }
}

/// What the flows of a capture delivered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Payload that was newly acknowledged, in bytes (METRICS.md C5); of UDP what passed.
    pub bytes: u64,
    /// From the first data to the last new ACK; of UDP to the last data.
    pub span: Span,
}

impl Delivered {
    /// What these flows delivered together; `None` where there is no data, no new ACK, or flows of which no ACKs were seen
    /// have more than one hundredth of what is known to have been delivered and what they sent.
    #[must_use]
    pub fn of<'a>(flows: impl IntoIterator<Item = Flow<'a>>) -> Option<Self> {
        Delivering::of(flows).end()
    }

    /// Whether it is told what these flows delivered, if only that it was nothing.
    #[cfg(feature = "tables")]
    #[must_use]
    pub(crate) fn is_told<'a>(flows: impl IntoIterator<Item = Flow<'a>>) -> bool {
        Delivering::of(flows).is_told()
    }

    /// Goodput in bits per second (METRICS.md G1); `None` with an empty interval.
    #[must_use]
    pub fn goodput_bps(self) -> Option<f64> {
        metric::rate_bps(self.bytes, self.span.length_ns())
    }
}

/// The same of some of them, of which there may be none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Delivering {
    bytes: u64,
    /// Payload of flows of which nobody tells what was delivered.
    untold_bytes: u64,
    /// Whether there is a flow of which that is told.
    is_any_told: bool,
    first: Option<CaptureTime>,
    last: Option<CaptureTime>,
}

impl Delivering {
    fn of<'a>(flows: impl IntoIterator<Item = Flow<'a>>) -> Self {
        let mut delivering = Self::default();
        for flow in flows {
            delivering.add(&flow.figures());
        }
        delivering
    }

    fn add(&mut self, figures: &FlowFigures<'_>) {
        let first = figures.outline().data_span.map(|span| span.first);
        let delivered = figures.delivered_bytes();
        let untold = delivered.is_none().then(|| figures.outline().payload_bytes);
        *self = self.with(Self {
            bytes: delivered.unwrap_or(0),
            untold_bytes: untold.unwrap_or(0),
            is_any_told: delivered.is_some(),
            first,
            last: figures.last_delivered_at(),
        });
    }

    fn with(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            untold_bytes: self.untold_bytes.saturating_add(other.untold_bytes),
            is_any_told: self.is_any_told || other.is_any_told,
            first: self.first.into_iter().chain(other.first).min(),
            last: self.last.max(other.last),
        }
    }

    /// What some flows delivered is not all where of others nobody tells.
    fn is_told(self) -> bool {
        let all = self.bytes.saturating_add(self.untold_bytes);
        self.is_any_told && self.untold_bytes.saturating_mul(100) <= all
    }

    fn end(self) -> Option<Delivered> {
        if !self.is_told() {
            return None;
        }
        let (first, last) = (self.first?, self.last?);
        let span = Span { first, last };
        Some(Delivered {
            bytes: self.bytes,
            span,
        })
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
    /// Flows that have more bins than are kept.
    pub cut_flows: u64,
    /// Connections with payload that were put away, or of which segments in flight were forgotten, by a limit.
    pub limited_connections: u64,
}

impl CaptureQuality {
    fn add_connection(&mut self, facts: &ConnectionFacts) {
        let sum = |counts: [u32; 2]| counts.into_iter().map(u64::from).sum::<u64>();
        self.headers_cut += sum(facts.headers_cut);
        self.clock_steps_back += sum(facts.clock_steps_back);
        self.limited_connections += u64::from(facts.cut_by_limit);
    }

    fn add_flow(
        &mut self,
        figures: &FlowFigures<'_>,
        is_opening_seen: bool,
        facts: &ConnectionFacts,
    ) {
        let incidents = figures.incidents();
        self.unseen_bytes += figures.unseen_bytes(is_opening_seen).unwrap_or(0);
        self.duplicate_packets += incidents.duplicate_packets;
        self.super_segments += incidents.super_segments;
        self.lengths_from_frame += incidents.lengths_from_frame;
        // As `Quality` has it: of the other signs there are no counts.
        self.one_way_flows += u64::from(figures.is_one_way(facts));
        self.mid_stream_flows += u64::from(!is_opening_seen);
        self.copied_flows += u64::from(figures.has_copies(&incidents));
        self.cut_flows += u64::from(figures.is_cut_by_bins());
    }

    fn with(self, other: Self) -> Self {
        Self {
            unseen_bytes: self.unseen_bytes + other.unseen_bytes,
            duplicate_packets: self.duplicate_packets + other.duplicate_packets,
            headers_cut: self.headers_cut + other.headers_cut,
            super_segments: self.super_segments + other.super_segments,
            lengths_from_frame: self.lengths_from_frame + other.lengths_from_frame,
            clock_steps_back: self.clock_steps_back + other.clock_steps_back,
            one_way_flows: self.one_way_flows + other.one_way_flows,
            mid_stream_flows: self.mid_stream_flows + other.mid_stream_flows,
            copied_flows: self.copied_flows + other.copied_flows,
            cut_flows: self.cut_flows + other.cut_flows,
            limited_connections: self.limited_connections + other.limited_connections,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::analyze::{Analysis, CaptureInput, Config, Quality, Watch};
    use crate::capture::CaptureSource;

    #[test]
    fn totals_of_parts_add_up_to_those_of_all() {
        let analysis = Analysis::of(
            ["testdata/captures/port-reuse-loss.pcap.zst"],
            &Config::default(),
        );
        let capture = &analysis.captures[0];
        let all = capture.totals();
        assert_eq!(all.flows, capture.flows().count() as u64);
        let ip_bytes = capture.flows().map(|flow| flow.summary().ip_bytes);
        assert_eq!(all.ip_bytes, ip_bytes.sum::<u64>());
        let shortest = capture.flows().map(|flow| flow.summary().rtt.ns_min());
        assert_eq!(all.rtt_ns_min, shortest.flatten().min());
        assert_eq!(all.delivered(), Delivered::of(capture.flows()));
        assert!(all.delivered().is_some() && capture.connections.len() > 1);
        for end in 0..=capture.connections.len() {
            let (first, rest) = capture.connections.split_at(end);
            let of = |part| CaptureTotals::of(part, OfCapture::default());
            assert_eq!(of(first).with(of(rest)), *all);
        }
    }

    /// What a capture of one connection comes to with each record as often as `times` says of its place and length.
    fn with_records(times: impl Fn(usize, u32) -> usize) -> Analysis {
        let file = std::fs::read("testdata/captures/drop-one.pcap").unwrap();
        let (head, mut rest) = file.split_at(24);
        let mut changed = head.to_vec();
        for place in 0.. {
            let Some(len) = rest.get(8..12) else { break };
            let len = u32::from_le_bytes(len.try_into().unwrap()) as usize;
            let (record, behind) = rest.split_at(16 + len);
            let wire_len = u32::from_le_bytes(record[12..16].try_into().unwrap());
            changed.extend_from_slice(&record.repeat(times(place, wire_len)));
            rest = behind;
        }
        let name = "changed".to_owned();
        let reader = Box::new(Cursor::new(changed));
        let source = CaptureSource::Reader {
            name: name.clone(),
            reader,
        };
        let sources = vec![source];
        let input = CaptureInput { name, sources };
        Analysis::run(vec![input], &Config::default(), &Watch::default())
    }

    #[test]
    fn signs_are_counted_as_flows_have_them() {
        type Count = fn(&CaptureQuality) -> u64;
        let one_way = with_records(|_, len| usize::from(len > 200));
        let mid_stream = with_records(|place, _| usize::from(place > 10));
        let copied = with_records(|_, _| 2);
        let cases: [(Analysis, Quality, Count); 3] = [
            (one_way, Quality::OneWay, |quality| quality.one_way_flows),
            (mid_stream, Quality::MidStream, |quality| {
                quality.mid_stream_flows
            }),
            (copied, Quality::Copies, |quality| quality.copied_flows),
        ];
        for (analysis, sign, count) in cases {
            let capture = &analysis.captures[0];
            let flows = capture.flows();
            let with_sign = flows.filter(|flow| flow.quality().contains(&sign)).count();
            assert!(with_sign > 0, "{sign:?}");
            assert_eq!(count(&capture.quality()), with_sign as u64, "{sign:?}");
        }
    }

    #[test]
    fn no_sign_of_a_part_is_lost() {
        let part = CaptureQuality {
            unseen_bytes: 1,
            duplicate_packets: 2,
            headers_cut: 3,
            super_segments: 4,
            lengths_from_frame: 5,
            clock_steps_back: 6,
            one_way_flows: 7,
            mid_stream_flows: 8,
            copied_flows: 9,
            cut_flows: 10,
            limited_connections: 11,
        };
        let both = CaptureQuality {
            unseen_bytes: 2,
            duplicate_packets: 4,
            headers_cut: 6,
            super_segments: 8,
            lengths_from_frame: 10,
            clock_steps_back: 12,
            one_way_flows: 14,
            mid_stream_flows: 16,
            copied_flows: 18,
            cut_flows: 20,
            limited_connections: 22,
        };
        assert_eq!(part.with(part), both);
    }
}
