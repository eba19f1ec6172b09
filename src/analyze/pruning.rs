//! When and where payload curves are cut down, so that memory follows the flows, not the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::config::{Config, FnessWindow};
use super::shard::Shard;
use crate::flow::YoungPayload;
use crate::observe::{PayloadCurve, Span};
use crate::time::CaptureTime;

/// Memory of all curves of a capture at which they are looked through the first time.
const FIRST_LOOK_BYTES: usize = 1 << 20;

/// Records between two looks, whatever the windows: what is kept depends on the capture and the options
/// alone. A window is tracked in two parts for each.
const LOOK_RECORDS: u64 = 1 << 17;

/// Live flows whose edges are kept; with more, the largest. So it is with ended flows of one packet; with more, none.
const LIVE_EDGES_MAX: usize = 4096;

/// Flows alive at once of which all keep a time sequence.
const SEQUENCES_MAX: usize = 1024;

/// Decides when curves are pruned. The results do not depend on it, except where more than
/// [`LIVE_EDGES_MAX`] flows are alive at once: a pair that needs an edge that was not kept says so.
#[derive(Clone, Debug)]
pub(super) struct Pruning {
    /// So many of the largest flows are compared.
    top: usize,
    /// Windows that are asked for, from the first data of any flow.
    windows: Vec<FnessWindow>,
    /// Whether flows have time sequences.
    sequences: bool,
    /// How many looks there were.
    looks: u64,
    next_look_bytes: usize,
    held_bytes: usize,
    /// What the curves have grown by since the last look.
    growth: Arc<AtomicUsize>,
}

impl Pruning {
    pub(super) fn new(config: &Config, growth: Arc<AtomicUsize>) -> Self {
        let windows = config.pairs.window.iter().chain(&config.windows);
        Self {
            top: config.pairs.top,
            windows: windows.copied().collect(),
            sequences: config.time_sequence,
            looks: 0,
            next_look_bytes: FIRST_LOOK_BYTES,
            held_bytes: 0,
            growth,
        }
    }

    pub(super) fn growth_bytes(&self) -> usize {
        self.growth.load(Ordering::Relaxed)
    }

    pub(super) fn set_growth_bytes(&mut self, bytes: usize) {
        self.growth.store(bytes, Ordering::Relaxed);
    }

    /// Position of the record before which it is looked at next.
    pub(super) fn next_look(&self) -> u64 {
        (self.looks + 1) * LOOK_RECORDS
    }

    /// Looks how much is held, and drops what no pair can need where it is much; gives up time sequences
    /// where they are many.
    pub(super) fn look<const SEGMENTS: bool>(&mut self, shards: &mut [Shard<SEGMENTS>]) {
        self.looks += 1;
        // What was counted before may have been dropped since.
        let growth = self.growth.swap(0, Ordering::Relaxed);
        self.held_bytes = self.held_bytes.wrapping_add(growth);
        if self.held_bytes >= self.next_look_bytes {
            self.prune(shards);
        }
        if self.sequences {
            Self::thin_sequences(shards);
        }
    }

    /// Looks through all curves and drops what no pair can need.
    fn prune<const SEGMENTS: bool>(&mut self, shards: &mut [Shard<SEGMENTS>]) {
        let mut live: Vec<(u64, Span)> = Vec::new();
        let mut ended: Vec<(u64, Span)> = Vec::new();
        // Of the connections with the most payload, each has a flow with half of it or more: what has less
        // is not among the largest.
        let most = LIVE_EDGES_MAX.max(self.top);
        let least_bytes = largest_young(shards, most).map_or(0, |bytes| bytes / 2);
        for shard in &mut *shards {
            for sink in shard.sinks_mut() {
                sink.for_each_curve(|span, bytes, _| live.push((bytes, span)));
            }
            live.extend(shard.young_payloads(least_bytes..=u64::MAX).map(spanned));
            live.extend(shard.connections.single_payloads().map(spanned));
            ended.extend(shard.recorders_mut().flat_map(|kept| kept.comparable()));
        }
        let floor = self.floor_of(live.iter().chain(&ended)).unwrap_or(0);
        // The order does not matter, only which they are.
        if live.len() > LIVE_EDGES_MAX {
            live.select_nth_unstable_by_key(LIVE_EDGES_MAX, |&(bytes, span)| {
                (std::cmp::Reverse(bytes), span.first, span.last)
            });
            live.truncate(LIVE_EDGES_MAX);
        }
        // A flow of one packet is compared with none, so that it cuts none; where they are few, a study may ask.
        let single = ended.iter().filter(|(_, span)| span.length_ns() == 0);
        let few_single = single.count() <= LIVE_EDGES_MAX;
        let is_wanted = |bytes: u64, span: Option<Span>| {
            bytes >= floor && (few_single || span.is_none_or(|span| span.length_ns() > 0))
        };
        ended.retain(|&(bytes, span)| is_wanted(bytes, Some(span)));
        let mut edges: Vec<CaptureTime> = live
            .iter()
            .chain(&ended)
            .flat_map(|&(_, span)| self.edges(span))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        self.held_bytes = 0;
        let mut held = 0;
        let mut prune = |curve: &mut PayloadCurve| {
            curve.prune(&edges);
            held += curve.memory_bytes();
        };
        for shard in shards {
            for sink in shard.sinks_mut() {
                sink.for_each_curve(|_, _, curve| prune(curve));
            }
            for recorder in shard.recorders_mut() {
                recorder.curve_floor_bytes = floor;
                recorder.retain_comparable(is_wanted, &mut prune);
            }
        }
        self.held_bytes = held;
        self.next_look_bytes = (2 * held).max(FIRST_LOOK_BYTES);
    }

    /// The capture has ended. Where many flows are alive, the curves of those that are not among the largest
    /// need not be made, or can go.
    pub(super) fn end<const SEGMENTS: bool>(&self, shards: &mut [Shard<SEGMENTS>]) {
        let alive: usize = shards.iter().map(Shard::len).sum();
        if alive <= LIVE_EDGES_MAX {
            return;
        }
        let mut flows: Vec<(u64, Span)> = Vec::new();
        for sink in shards.iter_mut().flat_map(Shard::sinks_mut) {
            sink.for_each_curve(|span, bytes, _| flows.push((bytes, span)));
        }
        // Of young connections, only those with the most payload are looked at, and of those with as much as the
        // least of them no more: any flows do, as long as they are as many as are compared.
        let most = self.top.saturating_mul(2);
        let least_bytes = largest_young(shards, most).unwrap_or(0);
        for shard in &*shards {
            let payloads = shard.young_payloads(least_bytes.saturating_add(1)..=u64::MAX);
            flows.extend(payloads.map(spanned));
        }
        let more = most.saturating_sub(flows.len());
        let payloads = shards
            .iter()
            .flat_map(|shard| shard.young_payloads(least_bytes..=least_bytes));
        flows.extend(payloads.take(more).map(spanned));
        if let Some(floor) = self.floor_of(&flows) {
            for recorder in shards.iter_mut().flat_map(Shard::recorders_mut) {
                let kept = &mut recorder.curve_floor_bytes;
                *kept = floor.max(*kept);
            }
        }
    }

    /// Payload below which a flow cannot be among the largest, which are compared, as there are these; `None`
    /// where they are too few. A flow of one packet is compared with none.
    fn floor_of<'a>(&self, flows: impl IntoIterator<Item = &'a (u64, Span)>) -> Option<u64> {
        let longer = flows.into_iter().filter(|(_, span)| span.length_ns() > 0);
        let mut sizes: Vec<u64> = longer.map(|&(bytes, _)| bytes).collect();
        largest(&mut sizes, self.top)
    }

    /// With many flows alive, gives up the time sequences of those that are far from being the
    /// largest: each may take a few hundred KiB.
    fn thin_sequences<const SEGMENTS: bool>(shards: &mut [Shard<SEGMENTS>]) {
        let live: usize = shards.iter().map(|shard| shard.connections.len()).sum();
        if live <= SEQUENCES_MAX {
            return;
        }
        Self::drop_sequences(shards, 10);
    }

    /// Gives up the time sequences of the flows alive with less than this part of the largest one's
    /// payload; whether there were any.
    pub(super) fn drop_sequences<const SEGMENTS: bool>(
        shards: &mut [Shard<SEGMENTS>],
        part: u64,
    ) -> bool {
        let largest = shards
            .iter_mut()
            .flat_map(|shard| shard.connections.sinks_mut())
            .map(|sink| sink.largest_payload_bytes())
            .max()
            .unwrap_or(0);
        let mut any = false;
        for sink in shards.iter_mut().flat_map(Shard::sinks_mut) {
            any |= sink.drop_sequences_below(largest / part);
        }
        any
    }

    /// The instants at which a flow may cut another.
    fn edges(&self, span: Span) -> impl Iterator<Item = CaptureTime> {
        let of_windows = self.windows.iter().flat_map(move |window| {
            let start = span.first.plus_ns(window.offset_ns);
            [
                start.plus_ns(-1),
                start.plus_ns(window.length_ns.saturating_sub(1)),
            ]
        });
        let own = [span.first.plus_ns(-1), span.last];
        own.into_iter().chain(of_windows)
    }
}

fn spanned(payload: YoungPayload) -> (u64, Span) {
    let span = Span {
        first: payload.first_at,
        last: payload.last_at,
    };
    (payload.bytes, span)
}

/// Payload of the largest young connection but so many; `None` where there are no more.
fn largest_young<const SEGMENTS: bool>(shards: &[Shard<SEGMENTS>], but: usize) -> Option<u64> {
    let mut young: Vec<u64> = shards.iter().flat_map(Shard::young_bytes).collect();
    largest(&mut young, but)
}

/// The largest number but so many; `None` where there are no more.
fn largest(numbers: &mut [u64], but: usize) -> Option<u64> {
    (but < numbers.len()).then(|| {
        let (_, &mut number, _) = numbers.select_nth_unstable_by(but, |a, b| b.cmp(a));
        number
    })
}
