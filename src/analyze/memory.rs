//! How much memory a capture's analysis may hold, and what it gives up to stay below that.
//!
//! Looked at after every so many records of the capture, whatever the windows and threads: what is
//! given up depends on the capture and the options alone.

use rayon::prelude::*;

use super::pruning::Pruning;
use super::shard::Shard;
use crate::flow::ConnectionTable;
use crate::observe::Recorder;

/// Most that a record adds: a connection with a flow in its first bin, and room for more of them.
const RECORD_GROWTH_BYTES: u64 = 4096;

/// Records between two looks, at most: a look adds up what each shard has counted.
const RECORDS_MAX: u64 = 1 << 17;

/// Silences after which connections are put away, in ns, one after the other until it is enough.
const SILENCES_NS: [i64; 2] = [600_000_000_000, 60_000_000_000];

/// What was given up for want of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// Flows whose series, and rows of `--segments`, were given up.
    pub flows_without_series: u64,
    /// Connections that were put away, those of one packet among them.
    pub connections: u64,
    /// Whether the time sequences of all flows but the largest were given up.
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
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// Of what is counted here: a fifth is left for windows, tables in the making, and what the
    /// allocator needs.
    limit_bytes: u64,
    /// Beyond it something is given up: the limit or, where what cannot be given up comes near it or is more, a
    /// quarter of the limit beyond that. All would be looked through for what is left, again and again.
    give_up_bytes: u64,
    /// Whether series and rows of any flow were given up.
    drops_details: bool,
    /// Position of the record before which it is looked at next.
    next_look: u64,
    given_up: GivenUp,
}

impl Memory {
    pub(super) fn new(memory_bytes: u64) -> Self {
        let limit_bytes = memory_bytes / 5 * 4;
        let mut memory = Self {
            limit_bytes,
            give_up_bytes: limit_bytes,
            drops_details: false,
            next_look: 0,
            given_up: GivenUp::default(),
        };
        memory.look_again_after(0);
        memory
    }

    pub(super) fn next_look(&self) -> u64 {
        self.next_look
    }

    /// What was given up in all, once the capture has ended.
    pub(super) fn given_up<const SEGMENTS: bool>(&self, ended: &[Recorder<SEGMENTS>]) -> GivenUp {
        // Not before: of those that were young, or had no payload yet, nobody knew how many flows they would be.
        let flows = ended.iter().filter(|_| self.drops_details);
        GivenUp {
            flows_without_series: flows.map(Recorder::flows_without_series).sum(),
            ..self.given_up
        }
    }

    /// Looks how much is held, and gives up what it takes to have a quarter of the limit free.
    pub(super) fn look<const SEGMENTS: bool>(&mut self, shards: &mut [Shard<SEGMENTS>]) {
        let mut held = held_bytes(shards);
        if held > self.give_up_bytes {
            held = self.give_up(shards, held);
            self.give_up_bytes = self.limit_bytes.max(held + self.limit_bytes / 4);
        }
        self.look_again_after(held);
    }

    fn look_again_after(&mut self, held_bytes: u64) {
        let records = self.give_up_bytes.saturating_sub(held_bytes) / RECORD_GROWTH_BYTES;
        // Where the limit is small, so are the steps.
        let least = (self.limit_bytes / RECORD_GROWTH_BYTES / 8).clamp(64, RECORDS_MAX);
        self.next_look += records.clamp(least, RECORDS_MAX);
    }

    /// Gives up one thing after the other, until it is enough or nothing is left; what is held then.
    fn give_up<const SEGMENTS: bool>(
        &mut self,
        shards: &mut [Shard<SEGMENTS>],
        mut held: u64,
    ) -> u64 {
        let target = self.limit_bytes / 4 * 3;
        self.given_up.time_sequences |= Pruning::drop_sequences(shards, 1);
        let before = put_away(shards);
        let connections = shards.par_iter_mut().map(|shard| &mut shard.connections);
        connections.for_each(ConnectionTable::put_away_half_open);
        for silent_ns in SILENCES_NS {
            held = held_bytes(shards);
            if held > target {
                shards
                    .par_iter_mut()
                    .for_each(|shard| shard.put_away_silent(silent_ns));
            }
        }
        held = held.min(held_bytes(shards));
        if held > target {
            self.drop_details(shards, held - target);
            held = held_bytes(shards);
        }
        // Records of results stay. Where it is them that are too many, putting away what takes no more than its
        // record would only make more of them, and so would what goes on; but what takes more is bounded.
        while held > target {
            let excess: u64 = shards.iter().map(|shard| shard.excess_bytes() as u64).sum();
            let is_enough = held.saturating_sub(excess) <= target;
            if !is_enough && excess <= self.limit_bytes / 4 {
                break;
            }
            shards.par_iter_mut().for_each(Shard::put_away_excess);
            held = held_bytes(shards);
        }
        self.given_up.connections += put_away(shards) - before;
        held
    }

    /// Gives up series and rows, those of the smallest flows first, until `excess_bytes` are free.
    fn drop_details<const SEGMENTS: bool>(
        &mut self,
        shards: &mut [Shard<SEGMENTS>],
        excess_bytes: u64,
    ) {
        let mut details: Vec<(u64, usize)> = shards.iter_mut().flat_map(Shard::details).collect();
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
        self.drops_details = true;
        shards
            .par_iter_mut()
            .for_each(|shard| shard.give_up_details(payload_bytes));
    }
}

fn held_bytes<const SEGMENTS: bool>(shards: &mut [Shard<SEGMENTS>]) -> u64 {
    let bytes = shards.iter_mut().map(|shard| shard.memory_bytes() as u64);
    bytes.sum()
}

fn put_away<const SEGMENTS: bool>(shards: &[Shard<SEGMENTS>]) -> u64 {
    shards.iter().map(Shard::put_away).sum()
}
