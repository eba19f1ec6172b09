//! Connections of one capture, shard by shard.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rayon::prelude::*;

use super::capture::{CaptureAnalysis, CaptureFacts};
use super::chunk::Batch;
use super::config::Config;
use super::memory::Memory;
use super::pruning::Pruning;
use crate::decode::Segment;
use crate::flow::{BatchPart, ConnectionTable, SHARDS, shard_of};
use crate::observe::{RecordConfig, Recorder};
use crate::time::CaptureTime;

/// The connections of a capture that is on its way.
pub(super) struct Tracking<const SEGMENTS: bool> {
    tables: Vec<ConnectionTable<Recorder<SEGMENTS>>>,
    memory: Memory,
    pruning: Pruning,
}

impl<const SEGMENTS: bool> Tracking<SEGMENTS> {
    /// A capture of which nothing was seen. Bins are counted from `origin`.
    pub(super) fn new(config: &Config, origin: CaptureTime) -> Self {
        let curve_growth = Arc::new(AtomicUsize::new(0));
        let record = RecordConfig {
            origin,
            bin_ns: config.bin_ns,
            bins_max: config.bins_max,
            time_sequence: config.time_sequence,
            gaps: config.gaps,
            curves: config.pairs.top > 1,
            curve_growth: curve_growth.clone(),
        };
        Self {
            tables: (0..SHARDS)
                .map(|_| ConnectionTable::new(Recorder::new(record.clone()), config.limits))
                .collect(),
            memory: Memory::new(config.memory_bytes),
            pruning: Pruning::new(config.pairs, config.time_sequence, curve_growth),
        }
    }

    /// Tracks the next segments, and looks at how much memory that takes where it is time to.
    pub(super) fn take(&mut self, batch: &Batch) {
        let Self {
            tables,
            memory,
            pruning,
        } = self;
        let Range { mut start, end } = batch.ordinals;
        loop {
            let until = memory.next_look().min(pruning.next_look());
            if until >= end {
                break;
            }
            track(tables, batch, start..until);
            if memory.next_look() == until {
                memory.look(tables);
            }
            if pruning.next_look() == until {
                pruning.look(tables);
            }
            start = until;
        }
        track(tables, batch, start..end);
    }

    /// The records have ended: `facts` are what is known besides connections.
    pub(super) fn finish(self, facts: CaptureFacts, config: &Config) -> CaptureAnalysis {
        let Self {
            mut tables,
            memory,
            pruning,
        } = self;
        pruning.end(&mut tables);
        let (recorders, table_facts): (Vec<_>, Vec<_>) =
            tables.into_par_iter().map(ConnectionTable::finish).unzip();
        let facts = CaptureFacts {
            cut_by_limit: table_facts.iter().map(|facts| facts.cut_by_limit).sum(),
            given_up: memory.given_up(&recorders),
            ..facts
        };
        CaptureAnalysis::merge(facts, recorders, config)
    }
}

/// The segments whose positions are among `ordinals`.
fn part<'a>(segments: &'a [Segment], ordinals: &Range<u64>) -> &'a [Segment] {
    let start = segments.partition_point(|segment| segment.ordinal < ordinals.start);
    let end = segments.partition_point(|segment| segment.ordinal < ordinals.end);
    &segments[start..end]
}

/// Tracks those of a batch's segments that are among `ordinals`, shard by shard.
fn track<const SEGMENTS: bool>(
    tables: &mut [ConnectionTable<Recorder<SEGMENTS>>],
    batch: &Batch,
    ordinals: Range<u64>,
) {
    let all = ordinals == batch.ordinals;
    tables
        .par_iter_mut()
        .enumerate()
        .for_each(|(shard, table)| {
            let mut whole = part(&batch.whole, &ordinals)
                .iter()
                .filter(|segment| shard_of(segment) == shard)
                .peekable();
            let parts = batch.chunks.iter().map(|chunk| {
                if all {
                    chunk.segments.all(shard)
                } else {
                    chunk.segments.within(shard, &ordinals)
                }
            });
            if whole.peek().is_none() {
                table.on_segments(parts);
                return;
            }
            for segment in parts.flat_map(BatchPart::segments) {
                while let Some(earlier) = whole.next_if(|whole| whole.ordinal < segment.ordinal) {
                    table.on_segment(earlier);
                }
                table.on_segment(&segment);
            }
            whole.for_each(|segment| table.on_segment(segment));
        });
}

#[cfg(test)]
mod tests;
