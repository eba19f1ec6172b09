//! How much memory records hold, and what of it can be given up: never a count, first what is kept
//! of each bin and each packet.
//!
//! Payload curves and time sequences are left out: they have bounds of their own, and are looked at apart.

use std::mem::take;

use super::payload_curve::PayloadCurve;
use super::quantiles::DelayDistribution;
use super::record::ConnectionRecord;
use super::recorder::{LiveConnection, LiveFlow, Recorder};
use super::segment_rows::LiveRows;
use super::summary::Span;

/// Memory for what is kept of captures, in bytes, where nobody grants more or less.
pub const MEMORY_BYTES: u64 = 4_000_000_000;

/// A bin that is packed takes less as a rule, in bytes.
const PACKED_BYTES: usize = 40;

/// So does all else of a connection that is packed, in bytes.
const RECORD_BYTES: usize = 256;

/// What the rows of a flow take besides themselves, in bytes: until the end, and as they are written.
const ROWS_BYTES: usize = 320;

/// A row takes less as a rule, in bytes.
const ROW_BYTES: usize = 16;

/// Memory that the times between a flow's packets take, in bytes, where they are kept.
pub(super) fn gaps_bytes(gaps: Option<&DelayDistribution>) -> usize {
    gaps.map_or(0, |gaps| {
        size_of::<DelayDistribution>() + gaps.memory_bytes()
    })
}

impl LiveFlow {
    fn detail_bytes(&self) -> usize {
        self.series.memory_bytes() + self.segments.memory_bytes()
    }
}

impl<const SEGMENTS: bool> LiveConnection<SEGMENTS> {
    /// Memory that it holds besides itself, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let flows = self.data.iter().flatten().map(|flow| {
            size_of::<LiveFlow>()
                + flow.detail_bytes()
                + gaps_bytes(flow.gaps.as_deref())
                + flow.spacing.memory_bytes()
        });
        let summaries = self
            .directions
            .iter()
            .map(super::DirectionSummary::memory_bytes);
        flows.sum::<usize>() + summaries.sum::<usize>()
    }

    /// Payload bytes of each of its flows, and the memory that what is kept of each bin and packet
    /// takes.
    pub fn details(&self) -> impl Iterator<Item = (u64, usize)> {
        self.directions
            .iter()
            .zip(&self.data)
            .filter_map(|(summary, flow)| {
                Some((summary.payload_bytes, flow.as_ref()?.detail_bytes()))
            })
    }

    /// Gives up series and rows of the flows with at most so much payload.
    pub(crate) fn give_up_details(&mut self, payload_bytes: u64) {
        for (summary, flow) in self.directions.iter().zip(&mut self.data) {
            if let Some(flow) = flow
                .as_mut()
                .filter(|flow| summary.payload_bytes <= payload_bytes && !flow.series.is_given_up())
            {
                flow.series.give_up();
                flow.segments = LiveRows::default();
            }
        }
    }
}

impl<const SEGMENTS: bool> Recorder<SEGMENTS> {
    /// Memory that a connection of so many segments in so many bins takes: without what can be given up, and that.
    pub(super) fn record_bytes(bins: usize, segments: usize) -> (usize, usize) {
        let record = size_of::<ConnectionRecord>() + RECORD_BYTES;
        let rows = if SEGMENTS {
            segments.min(2) * ROWS_BYTES + segments * ROW_BYTES
        } else {
            0
        };
        (record, bins * 2 * PACKED_BYTES + rows)
    }

    /// Memory that the records of connections that have ended take, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.kept_bytes
            + self.connections.len() * size_of::<ConnectionRecord>()
            + self.connections.capacity() * size_of::<usize>()
            + self.silent.capacity() * size_of::<u64>()
            + self.comparable.capacity() * size_of::<u32>()
    }

    /// Takes out the connections with payload that have ended, in no particular order, and forgets all that have.
    pub fn take_ended(&mut self) -> Vec<Box<ConnectionRecord>> {
        self.silent.clear();
        self.comparable.clear();
        self.kept_bytes = 0;
        self.largest = None;
        take(&mut self.connections)
    }

    /// Payload bytes of each flow that has ended, and the memory that what is kept of its bins and packets takes.
    pub fn details(&self) -> impl Iterator<Item = (u64, usize)> {
        let flows = self.connections.iter().flat_map(|record| record.flows());
        flows.map(|flow| (flow.payload_bytes(), flow.detail_bytes()))
    }

    /// Gives up series and rows of the ended flows with at most so much payload.
    pub(crate) fn give_up_details(&mut self, payload_bytes: u64) {
        self.change_all(|record| record.give_up_details(payload_bytes));
    }

    /// Ended flows of which these were given up, whenever that was.
    pub(crate) fn flows_without_series(&self) -> u64 {
        let flows = self.connections.iter().flat_map(|record| record.flows());
        flows.filter(|flow| flow.series().is_given_up()).count() as u64
    }

    /// Payload bytes and first and last data instant of the ended flows that may still be compared with others, and of
    /// those that are kept with them.
    pub(crate) fn comparable(&self) -> impl Iterator<Item = (u64, Span)> {
        let records = self.comparable.iter();
        let flows = records.flat_map(|&place| self.connections[place as usize].flows());
        flows.filter_map(|flow| Some((flow.payload_bytes(), flow.data_span()?)))
    }

    /// Calls `each` with the curves of those that are `wanted`, by the same two, and drops those of the others, for
    /// good.
    pub(crate) fn retain_comparable(
        &mut self,
        wanted: impl Fn(u64, Option<Span>) -> bool,
        mut each: impl FnMut(&mut PayloadCurve),
    ) {
        let (connections, kept_bytes) = (&mut self.connections, &mut self.kept_bytes);
        self.comparable.retain(|&place| {
            let record = &mut connections[place as usize];
            let before = record.memory_bytes();
            let any = record.retain_curves(&wanted, &mut each);
            *kept_bytes = *kept_bytes + record.memory_bytes() - before;
            any
        });
    }

    /// Lets `change` make records smaller, and counts what they hold then.
    fn change_all(&mut self, mut change: impl FnMut(&mut ConnectionRecord)) {
        for record in &mut self.connections {
            let before = record.memory_bytes();
            change(record);
            self.kept_bytes = self.kept_bytes + record.memory_bytes() - before;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::decode::{Endpoint, Segment, Transport};
    use crate::event::{Acked, Direction, FlowSink, PacketArrival};
    use crate::flow::{ConnectionIdentity, Observer};
    use crate::observe::RecordConfig;
    use crate::time::CaptureTime;
    use crate::track::Connection;

    /// The capture misses a part: ACKs of a direction come before its first data, and its series is given up in
    /// between.
    #[test]
    fn a_flow_whose_series_was_given_up_before_its_first_data_counts() {
        let at = CaptureTime::from_ns(0);
        let ends = [1, 2].map(|host| Endpoint::v4([10, 0, 0, host], 80));
        let identity = ConnectionIdentity {
            opener: ends[0],
            peer: ends[1],
            transport: Transport::Tcp,
            first_ordinal: 0,
            first_at: at,
        };
        let data = Segment {
            payload_len: 100,
            ip_len: 140,
            ..Segment::empty(ends[0], ends[1])
        };
        for given_up in [true, false] {
            let mut recorder = Recorder::<false>::new(RecordConfig {
                origin: at,
                bin_ns: 100_000_000,
                bins_max: Some(1000),
                curves: false,
                time_sequence: false,
                gaps: false,
                curve_growth: Arc::default(),
            });
            let mut flow = recorder.open(&identity);
            let acked = Acked {
                at,
                bytes: 100,
                ack: 100,
            };
            flow.acked(Direction::Forward, &acked);
            if given_up {
                flow.give_up_details(u64::MAX);
            }
            flow.packet(Direction::Forward, &PacketArrival::from(&data));
            recorder.close(&identity, &Connection::new(), flow, false);
            assert_eq!(recorder.flows_without_series(), u64::from(given_up));
        }
    }
}
