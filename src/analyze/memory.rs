//! How much memory a capture's analysis may hold, and what it gives up to stay below that.
//!
//! Looked at after every so many records of the capture, whatever the windows and threads: what is
//! given up depends on the capture and the options alone.

use rayon::prelude::*;

use super::pruning::Pruning;
use crate::flow::FlowTable;
use crate::observe::{ConnectionRecord, FlowRecord, LiveConnection, Recorder};

/// Most that a record adds: a connection with a flow in its first bin, and room for more of them.
const RECORD_GROWTH_BYTES: u64 = 4096;

/// Most that a record of a connection that is there adds: a bin each way, a range, rows; or one that
/// waits for the next of its connection.
const RECORD_BYTES: u64 = 1280;

/// What becomes of a connection of one packet with payload: its record, with a bin and what the
/// allocator adds.
const SINGLE_BYTES: usize = size_of::<ConnectionRecord>() + size_of::<FlowRecord>() + 256;

/// Records between two looks when nothing more can be given up.
const RECORDS_MIN: u64 = 1 << 17;

/// Silences after which connections are put away, in ns, one after the other until it is enough.
const SILENCES_NS: [i64; 2] = [600_000_000_000, 60_000_000_000];

/// What was given up for want of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// Flows whose series, and rows of `--segments`, were given up.
    pub flows_without_series: u64,
    /// Connections that were put away, those of one packet among them.
    pub connections: u64,
    /// The time sequences of all flows but the largest.
    pub time_sequences: bool,
}

impl GivenUp {
    /// Whether anything was.
    #[must_use]
    pub fn anything(&self) -> bool {
        *self != Self::default()
    }
}

/// The memory of one capture's analysis.
#[derive(Debug)]
pub(super) struct Memory {
    /// Of what is counted here: a fifth is left for windows, tables in the making, and what the
    /// allocator needs.
    limit_bytes: u64,
    /// Position of the record before which it is looked at next.
    next_look: u64,
    counted: Counted,
    given_up: GivenUp,
}

/// What was held when it was last counted: that takes a walk through all connections.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    bytes: u64,
    /// Records read and connections begun by then.
    records: u64,
    opened: u64,
}

impl Memory {
    pub(super) fn new(memory_bytes: u64) -> Self {
        let mut memory = Self {
            limit_bytes: memory_bytes / 5 * 4,
            next_look: 0,
            counted: Counted::default(),
            given_up: GivenUp::default(),
        };
        memory.look_again_after(0);
        memory
    }

    pub(super) fn next_look(&self) -> u64 {
        self.next_look
    }

    pub(super) fn given_up(&self) -> GivenUp {
        self.given_up
    }

    /// Looks how much is held, and gives up what it takes to have a quarter of the limit free.
    pub(super) fn look<const SEGMENTS: bool>(
        &mut self,
        tables: &mut [FlowTable<Recorder<SEGMENTS>>],
    ) {
        let opened = tables.iter().map(|table| table.facts().opened).sum();
        let most = self.most_bytes(opened);
        if most < self.limit_bytes {
            self.look_again_after(most);
            return;
        }
        let mut held = held_bytes(tables);
        if held > self.limit_bytes {
            held = self.give_up(tables, held);
        }
        self.counted = Counted {
            bytes: held,
            records: self.next_look,
            opened,
        };
        self.look_again_after(held);
    }

    /// The most that can be held by now, where so many connections have been opened.
    fn most_bytes(&self, opened: u64) -> u64 {
        let Counted { bytes, records, .. } = self.counted;
        // What was there may have doubled: vectors that were full and took one more.
        2 * bytes
            + (self.next_look - records) * RECORD_BYTES
            + (opened - self.counted.opened) * RECORD_GROWTH_BYTES
    }

    fn look_again_after(&mut self, held_bytes: u64) {
        let records = self.limit_bytes.saturating_sub(held_bytes) / RECORD_GROWTH_BYTES;
        // Where the limit is small, so are the steps.
        let least = (self.limit_bytes / RECORD_GROWTH_BYTES / 8).clamp(64, RECORDS_MIN);
        self.next_look += records.max(least);
    }

    /// Gives up one thing after the other, until it is enough or nothing is left; what is held then.
    fn give_up<const SEGMENTS: bool>(
        &mut self,
        tables: &mut [FlowTable<Recorder<SEGMENTS>>],
        mut held: u64,
    ) -> u64 {
        let target = self.limit_bytes / 4 * 3;
        self.given_up.time_sequences |= Pruning::drop_sequences(tables, 1);
        let before = put_away(tables);
        tables
            .par_iter_mut()
            .for_each(FlowTable::put_away_half_open);
        for silent_ns in SILENCES_NS {
            held = held_bytes(tables);
            if held > target {
                tables
                    .par_iter_mut()
                    .for_each(|table| table.put_away_silent(silent_ns));
            }
        }
        held = held.min(held_bytes(tables));
        if held > target {
            self.drop_details(tables, held - target);
            held = held_bytes(tables);
        }
        if held > target {
            tables.par_iter_mut().for_each(FlowTable::put_away_quarter);
            held = held_bytes(tables);
        }
        self.given_up.connections += put_away(tables) - before;
        held
    }

    /// Gives up series and rows, those of the smallest flows first, until `excess_bytes` are free.
    fn drop_details<const SEGMENTS: bool>(
        &mut self,
        tables: &mut [FlowTable<Recorder<SEGMENTS>>],
        excess_bytes: u64,
    ) {
        let mut details: Vec<(u64, usize)> = Vec::new();
        for table in &mut *tables {
            details.extend(table.observer_mut().details());
            details.extend(table.sinks_mut().flat_map(|sink| sink.details()));
        }
        details.retain(|&(_, bytes)| bytes > 0);
        details.sort_unstable();
        let mut freed = 0;
        let Some(&(payload_bytes, _)) = details
            .iter()
            .find(|&&(_, bytes)| {
                freed += bytes as u64;
                freed >= excess_bytes
            })
            .or(details.last())
        else {
            return;
        };
        let dropped = tables.par_iter_mut().map(|table| {
            let ended = table.observer_mut().give_up_details(payload_bytes);
            let live = table
                .sinks_mut()
                .map(|sink| sink.give_up_details(payload_bytes));
            live.sum::<u64>() + ended
        });
        self.given_up.flows_without_series += dropped.sum::<u64>();
    }
}

fn held_bytes<const SEGMENTS: bool>(tables: &mut [FlowTable<Recorder<SEGMENTS>>]) -> u64 {
    let bytes = tables.par_iter_mut().map(|table| {
        let live = table.memory_bytes(LiveConnection::memory_bytes);
        let singles = table.singles_with_payload() * SINGLE_BYTES;
        (live + singles + table.observer_mut().memory_bytes()) as u64
    });
    bytes.sum()
}

fn put_away<const SEGMENTS: bool>(tables: &[FlowTable<Recorder<SEGMENTS>>]) -> u64 {
    tables.iter().map(|table| table.facts().cut_by_limit).sum()
}
