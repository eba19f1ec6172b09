//! Segments that wait for others of their connection, so that its state is fetched once for all of them.

use super::{FlowTable, Head, Observer, Place};
use crate::decode::UsualRoom;
use crate::event::{Direction, FlowSink};
use crate::flow::batch::{BatchPart, Packed, V4Ends};
use crate::prefetch::prefetch;
use crate::time::CaptureTime;

/// Connections from which on they are not all in the cache.
const MANY: usize = 512;

/// Segments whose connections are looked for together.
const TOGETHER: usize = 16;

/// A segment that waits for the others of its connection.
struct Queued<'a> {
    packed: Packed<'a>,
    /// Place of the connection's next one in the queue; `NONE` where there is none.
    next: u32,
    dir: Direction,
}

/// The place of nothing.
pub(super) const NONE: u32 = u32::MAX;

/// What [`FlowTable::on_segments`] has put off: a queue for each connection, in one vector.
struct Queue<'a> {
    segments: Vec<Queued<'a>>,
    /// Places of the connections, in the order of their first segments here.
    flows: Vec<u32>,
}

/// Where the segment before this one belongs: packets come in trains.
#[derive(Clone, Copy)]
struct Recent {
    index: usize,
    ends: V4Ends,
}

impl<O: Observer> FlowTable<O> {
    /// Takes the next segments of this shard, in capture order: the same as
    /// [`on_segment`](Self::on_segment) for each, but connection by connection, so that the state of
    /// one is fetched from memory once for all of its segments.
    ///
    /// What one connection does never depends on another's segments, except when connections are
    /// put away: before that, all that waits is worked off.
    pub fn on_segments<'a>(&mut self, parts: impl Iterator<Item = BatchPart<'a>> + Clone) {
        let mut queue = Queue {
            segments: Vec::with_capacity(parts.clone().map(BatchPart::len).sum()),
            flows: Vec::new(),
        };
        let mut recent: Option<Recent> = None;
        let mut chunks = parts.flat_map(|part| part.chunks(TOGETHER)).peekable();
        while let Some(part) = chunks.next() {
            if let Some(next) = chunks.peek() {
                next.expect();
            }
            if self.flows.len() >= MANY {
                self.expect(part);
            }
            for packed in part.packed() {
                let at = packed.at();
                if self.turns_clock(at) {
                    self.work_off(&mut queue);
                    self.keep_house(at);
                    recent = None;
                }
                let plain = !packed.is_syn();
                if plain
                    && let Some(Recent { index, ends }) = recent
                    && let Some(dir) = packed.direction(&self.heads[index].identity, || ends)
                    && self.is_plain(index, at)
                {
                    self.enqueue(&mut queue, index, dir, packed);
                    continue;
                }
                recent = None;
                let hash = packed.hash(&self.hasher);
                let direction = |head: &Head| {
                    let identity = &head.identity;
                    packed.direction(identity, || V4Ends::of(identity))
                };
                let mut found = self.find(hash, direction);
                if found.is_none() {
                    if self.flows.len() >= self.limits.flows_max {
                        self.work_off(&mut queue);
                    }
                    found = self.begin(hash, &packed.segment());
                }
                let Some((index, dir)) = found else {
                    continue;
                };
                if plain && self.is_plain(index, at) {
                    self.enqueue(&mut queue, index, dir, packed);
                    let ends = V4Ends::of(&self.heads[index].identity);
                    recent = Some(Recent { index, ends });
                } else {
                    self.take_at_once(&mut queue, hash, (index, dir), packed);
                }
            }
        }
        self.work_off(&mut queue);
        // What is free is counted nowhere, so it plays no part when it is given back.
        if self.young.is_sparse() {
            self.shrink_young();
        }
    }

    /// Takes a segment that may be the first of a new connection, which the state of this one tells.
    #[inline(never)]
    fn take_at_once(
        &mut self,
        queue: &mut Queue<'_>,
        hash: u64,
        (index, dir): (usize, Direction),
        packed: Packed<'_>,
    ) {
        let segment = packed.segment();
        self.work_off_one(queue, index);
        self.grow_up_for(index, dir, &segment);
        if self.is_past(index, dir, &segment) {
            self.work_off(queue);
        }
        self.take(hash, index, dir, &segment);
    }

    /// Begins to fetch what it takes to find the connections of segments. Those of several are waited
    /// for together.
    #[inline(never)]
    fn expect(&self, part: BatchPart<'_>) {
        for packed in part.packed() {
            let hash = packed.hash(&self.hasher);
            let tag = Place::new(hash, 0).tag;
            if let Some(place) = self.index.find(hash, |place| place.tag == tag)
                && let Some(head) = self.heads.get(place.index as usize)
            {
                prefetch(head);
                prefetch(&self.flows[place.index as usize]);
            }
        }
    }

    /// Whether a segment without SYN belongs to its connection for certain.
    #[inline]
    fn is_plain(&self, index: usize, at: CaptureTime) -> bool {
        self.is_prompt(index, at) && self.heads[index].syns.is_empty()
    }

    #[inline]
    fn enqueue<'a>(
        &mut self,
        queue: &mut Queue<'a>,
        index: usize,
        dir: Direction,
        packed: Packed<'a>,
    ) {
        let place = queue.segments.len() as u32;
        let head = &mut self.heads[index];
        if head.first_queued == NONE {
            head.first_queued = place;
            queue.flows.push(index as u32);
        } else {
            queue.segments[head.last_queued as usize].next = place;
        }
        head.last_queued = place;
        queue.segments.push(Queued {
            packed,
            next: NONE,
            dir,
        });
    }

    fn work_off(&mut self, queue: &mut Queue<'_>) {
        /// Connections ahead: what takes as long as to fetch one.
        const AHEAD: usize = 3;
        for place in 0..queue.flows.len() {
            if let Some(&next) = queue.flows.get(place + AHEAD) {
                match &self.flows[next as usize] {
                    Some(flow) => prefetch(&**flow),
                    None => self.young.expect_next(&self.heads[next as usize].young),
                }
            }
            // What the next one's state points to, now that the state has come.
            if let Some(&next) = queue.flows.get(place + 1)
                && let Some(flow) = &self.flows[next as usize]
            {
                flow.sink.expect_events();
                flow.connection.expect_segments();
            }
            self.work_off_one(queue, queue.flows[place] as usize);
        }
        queue.flows.clear();
        queue.segments.clear();
    }

    fn work_off_one(&mut self, queue: &Queue<'_>, index: usize) {
        let first = std::mem::replace(&mut self.heads[index].first_queued, NONE);
        if first == NONE {
            return;
        }
        let waiting = |place: u32| queue.segments.get(place as usize);
        let mut next = waiting(first);
        while let Some(queued) = next
            && self.flows[index].is_none()
        {
            let Queued { packed, dir, .. } = *queued;
            if !self.keep(index, |start, place| packed.keep_in(place, dir, start)) {
                self.state(index);
                break;
            }
            next = waiting(queued.next);
        }
        if let Some(flow) = &mut self.flows[index] {
            let last_at = &mut self.heads[index].last_at;
            let mut room = UsualRoom::default();
            while let Some(queued) = next {
                next = waiting(queued.next);
                if let Some(next) = next {
                    next.packed.expect();
                }
                let segment = queued.packed.segment_in(&mut room);
                *last_at = segment.at.max(*last_at);
                flow.connection
                    .on_segment(queued.dir, segment, &mut flow.sink);
            }
        }
        self.count_memory(index);
    }
}
