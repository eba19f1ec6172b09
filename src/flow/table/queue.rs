//! Segments that wait for others of their connection, so that its state is fetched once for all of them.

use std::hint::cold_path;

use super::train::Train;
use super::{ConnectionTable, Observer, Tracked};
use crate::event::{Direction, FlowSink};
use crate::flow::batch::{BatchPart, Packed};
use crate::prefetch::prefetch;
use crate::time::CaptureTime;

/// Connections from which on they are not all in the cache; few in tests, so that these go both ways.
const MANY: usize = if cfg!(test) { 2 } else { 512 };

/// Connections up to which none is in another's way: all are near, and each segment is taken where it comes.
const FEW: usize = if cfg!(test) { 1 } else { 4 };

/// Segments whose connections are looked for together.
const TOGETHER: usize = 16;

/// Connections ahead of the one that takes its segments whose state is asked for; and what that points to, once it has
/// come; and what that does. For the first of a window there is no time for the last.
const STATE_AHEAD: usize = 5;
const EVENTS_AHEAD: usize = 3;
const DETAILS_AHEAD: usize = 1;

/// Segments that come next, and in what order is asked for what they need.
#[derive(Default)]
struct Ahead<'a> {
    /// They themselves are on their way.
    coming: Option<BatchPart<'a>>,
    /// Their places in the index are.
    hashed: Option<Sought<'a>>,
    /// Their connections are.
    found: Option<Sought<'a>>,
    /// Where those that are young keep their next packets is.
    ready: Option<Sought<'a>>,
}

impl Ahead<'_> {
    fn is_empty(&self) -> bool {
        let sought = [&self.hashed, &self.found, &self.ready];
        self.coming.is_none() && sought.iter().all(|sought| sought.is_none())
    }
}

/// At most so many segments as are looked for together.
struct Sought<'a> {
    part: BatchPart<'a>,
    /// Of their ends.
    hashes: [u64; TOGETHER],
    /// Where their connections are, most likely; [`NONE`] where that is not known.
    places: [u32; TOGETHER],
}

/// A segment that waits for the others of its connection.
pub(super) struct Queued<'a> {
    pub(super) packed: Packed<'a>,
    /// Place of the connection's next one in the queue; `NONE` where there is none.
    pub(super) next: u32,
    pub(super) dir: Direction,
}

/// The place of nothing.
pub(super) const NONE: u32 = u32::MAX;

/// Of a connection of which nothing waits, but whose memory is to be counted.
const TAKEN: u32 = NONE - 1;

/// What [`ConnectionTable::on_segments`] has put off: a queue for each connection, in one vector.
pub(super) struct Queue<'a> {
    pub(super) segments: Vec<Queued<'a>>,
    /// Places of the connections, in the order of their first segments here.
    connections: Vec<u32>,
    /// Connections are few, and nothing waits.
    is_for_few: bool,
}

impl<O: Observer> ConnectionTable<O> {
    /// Takes the next segments of this shard, in capture order: the same as
    /// [`on_segment`](Self::on_segment) for each, but connection by connection, so that the state of
    /// one is fetched from memory once for all of its segments.
    ///
    /// What one connection does never depends on another's segments, except when connections are
    /// put away: before that, all that waits is worked off.
    ///
    /// Of the pipeline alone, as the parts of batches are.
    #[doc(hidden)]
    pub fn on_segments<'a>(&mut self, parts: impl Iterator<Item = BatchPart<'a>> + Clone) {
        let is_for_few = self.tracked.len() < FEW;
        let waiting = if is_for_few {
            0
        } else {
            parts.clone().map(BatchPart::len).sum()
        };
        let mut queue = Queue {
            segments: Vec::with_capacity(waiting),
            connections: Vec::new(),
            is_for_few,
        };
        let mut train = None;
        let mut chunks = parts.flat_map(|part| part.chunks(TOGETHER));
        if self.tracked.len() < MANY {
            let mut chunks = chunks.peekable();
            while let Some(part) = chunks.next() {
                if let Some(next) = chunks.peek() {
                    next.expect();
                }
                self.sort(&mut queue, &mut train, part, None);
            }
        } else {
            let mut ahead = Ahead::default();
            while let Some(sought) = self.advance(&mut ahead, || chunks.next()) {
                self.sort(&mut queue, &mut train, sought.part, Some(&sought));
            }
        }
        self.work_off(&mut queue);
        // What is free is counted nowhere, so it plays no part when it is given back.
        if self.young.is_sparse() {
            self.shrink_young();
        }
    }

    /// Puts segments, whose connections may have been sought, into the queues of these, or takes them at once.
    #[inline]
    fn sort<'a>(
        &mut self,
        queue: &mut Queue<'a>,
        train: &mut Option<Train>,
        part: BatchPart<'a>,
        sought: Option<&Sought<'a>>,
    ) {
        let mut place = 0;
        while let Some(packed) = part.get(place) {
            if let Some(train) = &*train
                && self.continues(train, packed)
            {
                let coming = part.from(place);
                let taken = if self.tracked[train.index].is_none() {
                    self.keep_train(train, coming)
                } else if queue.is_for_few {
                    self.take_train(train, coming)
                } else {
                    self.queue_train(queue, train, coming)
                };
                if taken > 0 {
                    place += taken;
                    continue;
                }
            }
            let found = sought.map(|sought| {
                let at = place % TOGETHER;
                (sought.hashes[at], sought.places[at])
            });
            *train = self.sort_one(queue, packed, found);
            place += 1;
        }
    }

    /// The same of one segment, of whose ends the hash may be known, and where its connection is most likely; the train
    /// that it begins, where it is of its connection for certain.
    #[inline]
    fn sort_one<'a>(
        &mut self,
        queue: &mut Queue<'a>,
        packed: Packed<'a>,
        sought: Option<(u64, u32)>,
    ) -> Option<Train> {
        let at = packed.at();
        if self.clock.turns(at) {
            cold_path();
            self.work_off(queue);
            self.keep_house(at);
        }
        let (hash, place) = sought.unwrap_or_else(|| (packed.hash(&self.hasher), NONE));
        // Another connection may be there meanwhile.
        let mut found = self.heads.get(place as usize).and_then(|head| {
            let dir = packed.direction(&head.identity)?;
            Some((place as usize, dir))
        });
        if found.is_none() {
            found = self.find(hash, |head| packed.direction(&head.identity));
        }
        if found.is_none() {
            if self.tracked.len() >= self.limits.connections_max {
                self.work_off(queue);
            }
            found = self.begin(hash, &packed.segment());
        }
        let (index, dir) = found?;
        if packed.is_syn() || !self.is_plain(index, at) {
            self.take_at_once(queue, hash, (index, dir), packed);
            return None;
        }
        let train = Train::of(index, dir, packed);
        if self.tracked[index].is_none() {
            if self.keep(index, |start, place| packed.keep_in(place, dir, start)) {
                return Some(train);
            }
            self.state(index);
        }
        if queue.is_for_few {
            self.take_now(queue, index, dir, packed);
        } else {
            self.enqueue(queue, index, dir, packed);
        }
        Some(train)
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

    /// The segments whose turn it is; `None` after the last. Of those that come after them, begins to
    /// fetch what it takes to find their connections, one step of it at a time: what the step before asked
    /// for has come.
    #[inline]
    fn advance<'a>(
        &self,
        ahead: &mut Ahead<'a>,
        mut next: impl FnMut() -> Option<BatchPart<'a>>,
    ) -> Option<Sought<'a>> {
        loop {
            let now = ahead.ready.take();
            ahead.ready = ahead.found.take();
            if let Some(found) = &ahead.ready {
                self.expect_rooms(found);
            }
            ahead.found = ahead.hashed.take();
            if let Some(hashed) = &mut ahead.found {
                self.expect_connections(hashed);
            }
            ahead.hashed = ahead.coming.take().map(|part| self.hashed(part));
            ahead.coming = next();
            if let Some(part) = ahead.coming {
                part.expect();
            }
            if now.is_some() || ahead.is_empty() {
                return now;
            }
        }
    }

    /// Segments whose places in the index are on their way.
    #[inline]
    fn hashed<'a>(&self, part: BatchPart<'a>) -> Sought<'a> {
        let mut hashes = [0; TOGETHER];
        for (hash, packed) in hashes.iter_mut().zip(part.packed()) {
            *hash = packed.hash(&self.hasher);
            packed.expect_other();
            self.index.expect(*hash);
        }
        Sought {
            part,
            hashes,
            places: [NONE; TOGETHER],
        }
    }

    /// Finds out where the connections of segments are, most likely, and begins to fetch them.
    #[inline]
    fn expect_connections(&self, sought: &mut Sought<'_>) {
        let Sought {
            part,
            hashes,
            places,
        } = sought;
        for (&hash, place) in hashes.iter().zip(places).take(part.len()) {
            // The first whose tag is the same: nearly always the one.
            if let Some(index) = self.index.find(hash, |_| true)
                && let Some(head) = self.heads.get(index)
            {
                *place = index as u32;
                prefetch(head);
                prefetch(&self.tracked[index]);
            } else {
                self.half_open.expect(hash);
            }
        }
    }

    /// Begins to fetch the room for the next packets of connections that are young, and those that have come no further
    /// than an answer.
    #[inline]
    fn expect_rooms(&self, sought: &Sought<'_>) {
        let Sought {
            part,
            hashes,
            places,
        } = sought;
        for (&hash, &place) in hashes.iter().zip(places).take(part.len()) {
            match self.heads.get(place as usize) {
                Some(head) => self.young.expect_next(&head.young),
                None => self.half_open.expect_found(hash),
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
            // The first come while none is worked off.
            if queue.connections.len() < STATE_AHEAD
                && let Some(flow) = &self.tracked[index]
            {
                prefetch(&**flow);
            }
            queue.connections.push(index as u32);
        } else {
            queue.segments[head.last_queued as usize].next = place;
        }
        head.last_queued = place;
        packed.expect_sacks();
        queue.segments.push(Queued {
            packed,
            next: NONE,
            dir,
        });
    }

    /// Takes a segment at once instead.
    #[inline]
    fn take_now(
        &mut self,
        queue: &mut Queue<'_>,
        index: usize,
        dir: Direction,
        packed: Packed<'_>,
    ) {
        let head = &mut self.heads[index];
        if head.first_queued == NONE {
            head.first_queued = TAKEN;
            queue.connections.push(index as u32);
        }
        if let Some(flow) = &mut self.tracked[index] {
            head.last_at = packed.at().max(head.last_at);
            flow.take(dir, packed);
        }
    }

    /// The connection at a place in the queue, where it has state.
    #[inline]
    fn waiting(&self, queue: &Queue<'_>, place: usize) -> Option<&Tracked<O::Sink>> {
        let index = *queue.connections.get(place)?;
        self.tracked[index as usize].as_deref()
    }

    /// Begins to fetch what the state points to of the connection at a place in the queue: the state has come.
    #[inline]
    fn expect_events(&self, queue: &Queue<'_>, place: usize) {
        if let Some(flow) = self.waiting(queue, place) {
            flow.sink.expect_events();
            flow.connection.expect_segments();
        }
    }

    fn work_off(&mut self, queue: &mut Queue<'_>) {
        let first = 0..EVENTS_AHEAD.min(queue.connections.len());
        first.for_each(|place| self.expect_events(queue, place));
        for place in 0..queue.connections.len() {
            if let Some(flow) = self.waiting(queue, place + STATE_AHEAD) {
                prefetch(flow);
            }
            self.expect_events(queue, place + EVENTS_AHEAD);
            if let Some(flow) = self.waiting(queue, place + DETAILS_AHEAD) {
                flow.sink.expect_details();
            }
            self.work_off_one(queue, queue.connections[place] as usize);
        }
        queue.connections.clear();
        queue.segments.clear();
    }

    fn work_off_one(&mut self, queue: &Queue<'_>, index: usize) {
        let first = std::mem::replace(&mut self.heads[index].first_queued, NONE);
        if first == NONE {
            return;
        }
        let waiting = |place: u32| queue.segments.get(place as usize);
        let mut next = waiting(first);
        if let Some(flow) = &mut self.tracked[index] {
            let last_at = &mut self.heads[index].last_at;
            while let Some(queued) = next {
                next = waiting(queued.next);
                if let Some(next) = next {
                    next.packed.expect();
                }
                *last_at = queued.packed.at().max(*last_at);
                flow.take(queued.dir, queued.packed);
            }
        }
        self.count_memory(index);
    }
}

impl<F: FlowSink> Tracked<F> {
    #[inline]
    pub(super) fn take(&mut self, dir: Direction, packed: Packed<'_>) {
        let Self { connection, sink } = self;
        if let Some(plain) = packed.plain() {
            connection.on_plain(dir, plain, sink);
            return;
        }
        cold_path();
        if let Some(other) = packed.other() {
            connection.on_segment(dir, other, sink);
        } else {
            connection.on_segment(dir, &packed.segment(), sink);
        }
    }
}
