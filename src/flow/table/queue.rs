//! Segments that wait for others of their connection, so that its state is fetched once for all of them.

use super::{FlowTable, Observer, Place};
use crate::decode::{Segment, TcpFlags};
use crate::event::{Direction, FlowSink};
use crate::flow::prefetch::prefetch;

/// Connections from which on they are not all in the cache.
const MANY: usize = 512;

/// Segments whose connections are looked for together.
const TOGETHER: usize = 16;

/// A segment that waits for the others of its connection.
struct Queued<'a> {
    segment: &'a Segment,
    dir: Direction,
    /// Place of the connection's next one in the queue.
    next: Option<u32>,
}

/// What [`FlowTable::on_segments`] has put off: a queue for each connection, in one vector.
struct Queue<'a> {
    segments: Vec<Queued<'a>>,
    /// Places of the connections, in the order of their first segments here.
    flows: Vec<u32>,
}

impl<O: Observer> FlowTable<O> {
    /// Takes the next segments of this shard, in capture order: the same as
    /// [`on_segment`](Self::on_segment) for each, but connection by connection, so that the state of
    /// one is fetched from memory once for all of its segments.
    ///
    /// What one connection does never depends on another's segments, except when connections are
    /// put away: before that, all that waits is worked off.
    pub fn on_segments<'a>(&mut self, parts: impl Iterator<Item = &'a [Segment]> + Clone) {
        let mut queue = Queue {
            segments: Vec::with_capacity(parts.clone().map(<[Segment]>::len).sum()),
            flows: Vec::new(),
        };
        // Where the segment before this one belongs: packets come in trains.
        let mut recent: Option<usize> = None;
        for segments in parts.flat_map(|part| part.chunks(TOGETHER)) {
            if self.flows.len() >= MANY {
                self.expect(segments);
            }
            for segment in segments {
                if self.turns_clock(segment.at) {
                    self.work_off(&mut queue);
                    self.keep_house(segment.at);
                    recent = None;
                }
                let plain = !segment.flags.has(TcpFlags::SYN);
                if plain
                    && let Some(index) = recent
                    && let Some(dir) = self.heads[index].identity.direction(segment)
                    && self.is_plain(index, segment)
                {
                    self.enqueue(&mut queue, index, dir, segment);
                    continue;
                }
                recent = None;
                let hash = self.hasher.hash(&segment.src, &segment.dst);
                let mut found = self.find(hash, segment);
                if found.is_none() {
                    if self.flows.len() >= self.limits.flows_max {
                        self.work_off(&mut queue);
                    }
                    found = self.begin(hash, segment);
                }
                let Some((index, dir)) = found else {
                    continue;
                };
                if plain && self.is_plain(index, segment) {
                    self.enqueue(&mut queue, index, dir, segment);
                    recent = Some(index);
                } else {
                    // It may be the first of a new connection, which the state of this one tells.
                    self.work_off_one(&queue, index);
                    self.grow_up_for(index, dir, segment);
                    if self.is_past(index, dir, segment) {
                        self.work_off(&mut queue);
                    }
                    self.take(hash, index, dir, segment);
                }
            }
        }
        self.work_off(&mut queue);
    }

    /// Begins to fetch what it takes to find the connections of segments. Those of several are waited
    /// for together.
    #[inline(never)]
    fn expect(&self, segments: &[Segment]) {
        for segment in segments {
            let hash = self.hasher.hash(&segment.src, &segment.dst);
            let tag = Place::new(hash, 0).tag;
            if let Some(place) = self.index.find(hash, |place| place.tag == tag)
                && let Some(head) = self.heads.get(place.index as usize)
            {
                prefetch(head);
            }
        }
    }

    /// Whether a segment without SYN belongs to its connection for certain.
    #[inline]
    fn is_plain(&self, index: usize, segment: &Segment) -> bool {
        self.is_prompt(index, segment) && self.heads[index].syns.is_empty()
    }

    #[inline]
    fn enqueue<'a>(
        &mut self,
        queue: &mut Queue<'a>,
        index: usize,
        dir: Direction,
        segment: &'a Segment,
    ) {
        let place = queue.segments.len() as u32;
        let queued = &mut self.heads[index].queued;
        if let Some((_, last)) = queued {
            queue.segments[*last as usize].next = Some(place);
            *last = place;
        } else {
            *queued = Some((place, place));
            queue.flows.push(index as u32);
        }
        queue.segments.push(Queued {
            segment,
            dir,
            next: None,
        });
    }

    fn work_off(&mut self, queue: &mut Queue<'_>) {
        /// Connections ahead: what takes as long as to fetch one.
        const AHEAD: usize = 3;
        for place in 0..queue.flows.len() {
            if let Some(&next) = queue.flows.get(place + AHEAD) {
                match &self.flows[next as usize] {
                    Some(flow) => prefetch(&**flow),
                    None => self.heads[next as usize].expect_packet(),
                }
            }
            // What the next one's state points to, now that the state has come.
            if let Some(&next) = queue.flows.get(place + 1)
                && let Some(flow) = &self.flows[next as usize]
            {
                flow.sink.expect_events();
            }
            self.work_off_one(queue, queue.flows[place] as usize);
        }
        queue.flows.clear();
        queue.segments.clear();
    }

    fn work_off_one(&mut self, queue: &Queue<'_>, index: usize) {
        let Some((first, _)) = self.heads[index].queued.take() else {
            return;
        };
        let mut next = Some(first);
        while let Some(queued) = next.and_then(|place| queue.segments.get(place as usize)) {
            self.pass(index, queued.dir, queued.segment);
            next = queued.next;
        }
        self.count_memory(index);
    }
}
