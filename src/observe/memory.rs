//! How much memory records hold, and what of it can be given up: never a count, first what is kept
//! of each bin and each packet.
//!
//! Payload curves and time sequences are left out: they have bounds of their own, and are looked at apart.

use super::quantiles::DelayDistribution;
use super::recorder::{ConnectionRecord, FlowRecord, LiveConnection, LiveFlow, Recorder};
use super::segment_rows::SegmentRows;

/// A bin that is packed takes less as a rule, in bytes.
const PACKED_BYTES: usize = 40;

fn gaps_bytes(gaps: Option<&DelayDistribution>) -> usize {
    gaps.map_or(0, |gaps| {
        size_of::<DelayDistribution>() + gaps.memory_bytes()
    })
}

impl FlowRecord {
    fn detail_bytes(&self) -> usize {
        self.series.memory_bytes() + self.segments.memory_bytes()
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.summary.memory_bytes()
            + self.detail_bytes()
            + gaps_bytes(self.gaps.as_deref())
            + self.spacing.memory_bytes()
    }
}

impl ConnectionRecord {
    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.flows.iter().map(FlowRecord::memory_bytes).sum()
    }
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
    pub fn give_up_details(&mut self, payload_bytes: u64) -> u64 {
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
        let record = size_of::<ConnectionRecord>() + 2 * size_of::<FlowRecord>();
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
        let flows = self.connections.iter().flat_map(|record| &record.flows);
        flows.map(|flow| (flow.summary.payload_bytes, flow.detail_bytes()))
    }

    /// Gives up series and rows of the ended flows with at most so much payload; of how many.
    pub fn give_up_details(&mut self, payload_bytes: u64) -> u64 {
        let mut given_up = 0;
        for flow in self
            .connections
            .iter_mut()
            .flat_map(|record| &mut record.flows)
        {
            if flow.summary.payload_bytes <= payload_bytes && !flow.series.is_given_up() {
                let before = flow.detail_bytes();
                flow.series.give_up();
                flow.segments = SegmentRows::default();
                self.kept_bytes = self.kept_bytes + flow.detail_bytes() - before;
                given_up += 1;
            }
        }
        given_up
    }
}
