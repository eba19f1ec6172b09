//! How much memory records hold, and what of it can be given up: never a count, first what is kept
//! of each bin and each packet.
//!
//! Payload curves and time sequences are left out: they have bounds of their own, and are looked at apart.

use super::payload_curve::PayloadCurve;
use super::quantiles::DelayDistribution;
use super::record::ConnectionRecord;
use super::recorder::{LiveConnection, LiveFlow, Recorder};
use super::segment_rows::SegmentRows;

/// A bin that is packed takes less as a rule, in bytes.
const PACKED_BYTES: usize = 40;

/// So does all else of a connection that is packed, in bytes.
const RECORD_BYTES: usize = 256;

fn gaps_bytes(gaps: Option<&DelayDistribution>) -> usize {
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

    /// Gives up series and rows of the flows with at most so much payload; of how many.
    pub(crate) fn give_up_details(&mut self, payload_bytes: u64) -> u64 {
        let mut given_up = 0;
        for (summary, flow) in self.directions.iter().zip(&mut self.data) {
            if let Some(flow) = flow
                .as_mut()
                .filter(|flow| summary.payload_bytes <= payload_bytes && !flow.series.is_given_up())
            {
                flow.series.give_up();
                flow.segments = SegmentRows::default();
                given_up += u64::from(summary.data_packets > 0);
            }
        }
        given_up
    }
}

impl<const SEGMENTS: bool> Recorder<SEGMENTS> {
    /// Memory that a connection of two flows in so many bins takes: without what can be given up,
    /// and that.
    pub(super) fn record_bytes(bins: usize) -> (usize, usize) {
        let record = size_of::<ConnectionRecord>() + RECORD_BYTES;
        (record, bins * 2 * PACKED_BYTES)
    }

    /// Memory that the records of connections that have ended take, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.kept_bytes
            + self.connections.len() * size_of::<ConnectionRecord>()
            + self.connections.capacity() * size_of::<usize>()
            + self.silent.capacity() * size_of::<u64>()
    }

    /// As [`LiveConnection::details`], of the flows that have ended.
    pub fn details(&self) -> impl Iterator<Item = (u64, usize)> {
        let flows = self.connections.iter().flat_map(|record| record.flows());
        flows.map(|flow| (flow.payload_bytes(), flow.detail_bytes()))
    }

    /// Gives up series and rows of the ended flows with at most so much payload; of how many.
    pub(crate) fn give_up_details(&mut self, payload_bytes: u64) -> u64 {
        let mut given_up = 0;
        self.change_all(|record| given_up += record.give_up_details(payload_bytes));
        given_up
    }

    /// Calls `each` with payload bytes and curve of the ended flows that have one.
    pub(crate) fn for_each_curve(&mut self, mut each: impl FnMut(u64, &mut PayloadCurve)) {
        self.change_all(|record| record.for_each_curve(&mut each));
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
