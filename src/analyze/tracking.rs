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
use super::shard::Shard;
use crate::decode::Datagram;
use crate::flow::{
    BatchPart, ConnectionTable, ConversationTable, Observer, SHARDS, shard_of, shard_of_datagram,
};
use crate::observe::RecordConfig;
use crate::time::CaptureTime;

/// The connections of a capture that is on its way.
#[derive(Clone)]
pub(super) struct Tracking<const SEGMENTS: bool> {
    shards: Vec<Shard<SEGMENTS>>,
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
            bins_max: Some(config.bins_max),
            time_sequence: config.time_sequence,
            gaps: config.gaps,
            curves: config.pairs.top > 1,
            curve_growth: curve_growth.clone(),
        };
        Self {
            shards: (0..SHARDS).map(|_| Shard::new(&record, config)).collect(),
            memory: Memory::new(config.memory_bytes),
            pruning: Pruning::new(config, curve_growth),
        }
    }

    /// Tracks the next segments, and looks at how much memory that takes where it is time to.
    pub(super) fn take(&mut self, batch: &Batch) {
        let Self {
            shards,
            memory,
            pruning,
        } = self;
        let Range { mut start, end } = batch.ordinals;
        loop {
            let until = memory.next_look().min(pruning.next_look());
            if until >= end {
                break;
            }
            track(shards, batch, start..until);
            if memory.next_look() == until {
                memory.look(shards);
            }
            if pruning.next_look() == until {
                pruning.look(shards);
            }
            start = until;
        }
        track(shards, batch, start..end);
    }

    /// The records have ended: `facts` are what is known besides connections.
    pub(super) fn finish(self, facts: CaptureFacts, config: &Config) -> CaptureAnalysis {
        let Self {
            mut shards,
            memory,
            pruning,
        } = self;
        pruning.end(&mut shards);
        let ended = shards.into_par_iter().flat_map_iter(Shard::finish);
        let (recorders, table_facts): (Vec<_>, Vec<_>) = ended.unzip();
        let facts = CaptureFacts {
            cut_by_limit: table_facts.iter().map(|facts| facts.cut_by_limit).sum(),
            given_up: memory.given_up(&recorders),
            ..facts
        };
        CaptureAnalysis::merge(facts, recorders, config)
    }

    /// What there would be if the records ended here.
    pub(super) fn so_far(&mut self, facts: CaptureFacts, config: &Config) -> CaptureAnalysis {
        // The count is shared with the copy, whose flows end.
        let growth = self.pruning.growth_bytes();
        let found = self.clone().finish(facts, config);
        self.pruning.set_growth_bytes(growth);
        found
    }
}

/// Those whose positions, told by `ordinal`, are among `ordinals`.
fn part<'a, T>(all: &'a [T], ordinal: fn(&T) -> u64, ordinals: &Range<u64>) -> &'a [T] {
    let start = all.partition_point(|one| ordinal(one) < ordinals.start);
    let end = all.partition_point(|one| ordinal(one) < ordinals.end);
    &all[start..end]
}

/// Tracks what of a batch is among `ordinals`, shard by shard.
fn track<const SEGMENTS: bool>(
    shards: &mut [Shard<SEGMENTS>],
    batch: &Batch,
    ordinals: Range<u64>,
) {
    shards
        .par_iter_mut()
        .enumerate()
        .for_each(|(place, shard)| {
            track_segments(&mut shard.connections, place, batch, &ordinals);
            if let Some(conversations) = &mut shard.conversations {
                track_datagrams(conversations, place, batch, &ordinals);
            }
        });
}

/// Tracks those of a batch's segments that are among `ordinals` and of this shard.
fn track_segments<O: Observer>(
    table: &mut ConnectionTable<O>,
    shard: usize,
    batch: &Batch,
    ordinals: &Range<u64>,
) {
    let all = *ordinals == batch.ordinals;
    let mut whole = part(&batch.whole, |segment| segment.ordinal, ordinals)
        .iter()
        .filter(|segment| shard_of(segment) == shard)
        .peekable();
    let parts = batch.chunks.iter().map(|chunk| {
        if all {
            chunk.segments.all(shard)
        } else {
            chunk.segments.within(shard, ordinals)
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
}

/// The same of its datagrams.
fn track_datagrams<O: Observer>(
    table: &mut ConversationTable<O>,
    shard: usize,
    batch: &Batch,
    ordinals: &Range<u64>,
) {
    let ordinal = |datagram: &Datagram| datagram.ordinal;
    let mut whole = part(&batch.whole_datagrams, ordinal, ordinals)
        .iter()
        .filter(|datagram| shard_of_datagram(datagram) == shard)
        .peekable();
    let chunks = batch.chunks.iter();
    for datagram in chunks.flat_map(|chunk| part(chunk.datagrams(shard), ordinal, ordinals)) {
        while let Some(earlier) = whole.next_if(|whole| whole.ordinal < datagram.ordinal) {
            table.on_datagram(earlier);
        }
        table.on_datagram(datagram);
    }
    whole.for_each(|datagram| table.on_datagram(datagram));
}

#[cfg(test)]
mod tests;
