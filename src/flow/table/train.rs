//! Trains: segments of one connection that follow each other, as packets mostly come.

use super::queue::{NONE, Queue, Queued};
use super::{ConnectionTable, Observer};
use crate::event::Direction;
use crate::flow::batch::{BatchPart, Packed, V4Ends};
use crate::time::CaptureTime;

/// The connection that the segment before belongs to.
#[derive(Clone, Copy)]
pub(super) struct Train {
    pub(super) index: usize,
    ends: V4Ends,
}

impl Train {
    /// The train that a segment begins, of the connection at `index` and in direction `dir`, which has been taken or
    /// kept, or is in the queue.
    #[inline]
    pub(super) fn of(index: usize, dir: Direction, first: Packed<'_>) -> Self {
        Self {
            index,
            ends: first.ends(dir),
        }
    }
}

impl<O: Observer> ConnectionTable<O> {
    /// Whether a segment may belong to a train, as far as its ends tell.
    #[inline]
    pub(super) fn continues(&self, train: &Train, packed: Packed<'_>) -> bool {
        let identity = &self.heads[train.index].identity;
        packed.direction_in_train(train.ends, identity).is_some()
    }

    /// Up to when segments of a train are of its connection for certain, as no silence has ended that, and leave the
    /// table's clock alone.
    fn is_plain_until(&self, train: &Train) -> CaptureTime {
        let last_at = self.heads[train.index].last_at;
        last_at
            .plus_ns(self.prompt_ns())
            .min(self.clock.turns_not_until())
    }

    /// Takes those segments, from the first on, that belong to a train; how many there were.
    pub(super) fn take_train(&mut self, train: &Train, part: BatchPart<'_>) -> usize {
        let until = self.is_plain_until(train);
        let Some(flow) = &mut self.tracked[train.index] else {
            return 0;
        };
        let head = &mut self.heads[train.index];
        let direction = |packed: Packed<'_>| packed.direction_in_train(train.ends, &head.identity);
        let (taken, latest) = follow(part, direction, until, |dir, packed| {
            flow.take(dir, packed);
        });
        head.last_at = head.last_at.max(latest);
        self.clock.now = self.clock.now.max(latest);
        taken
    }

    /// The same of a connection that is young, which keeps them.
    pub(super) fn keep_train(&mut self, train: &Train, part: BatchPart<'_>) -> usize {
        let until = self.is_plain_until(train);
        let mut taken = 0;
        for packed in part.packed() {
            let (at, identity) = (packed.at(), &self.heads[train.index].identity);
            let dir = packed.direction_in_train(train.ends, identity);
            let Some(dir) = dir.filter(|_| at < until) else {
                break;
            };
            if !self.keep(train.index, |start, place| {
                packed.keep_in(place, dir, start)
            }) {
                break;
            }
            self.clock.now = self.clock.now.max(at);
            taken += 1;
        }
        taken
    }

    /// The same of one that waits for its turn, into the queue.
    pub(super) fn queue_train<'a>(
        &mut self,
        queue: &mut Queue<'a>,
        train: &Train,
        part: BatchPart<'a>,
    ) -> usize {
        let until = self.is_plain_until(train);
        let head = &mut self.heads[train.index];
        if head.first_queued == NONE {
            return 0;
        }
        let direction = |packed: Packed<'_>| packed.direction_in_train(train.ends, &head.identity);
        let segments = &mut queue.segments;
        let first = segments.len() as u32;
        let mut next = first;
        let (taken, latest) = follow(part, direction, until, |dir, packed| {
            next += 1;
            packed.expect_sacks();
            segments.push(Queued { packed, next, dir });
        });
        if taken > 0 {
            queue.segments[head.last_queued as usize].next = first;
            head.last_queued = next - 1;
            queue.segments[next as usize - 1].next = NONE;
            self.clock.now = self.clock.now.max(latest);
        }
        taken
    }
}

/// Hands on those segments, from the first on, that have a `direction` and come before `until`; how many there are, and
/// the latest instant of them.
// Two loops, in which nothing else is done for most segments.
#[inline(always)]
fn follow<'a>(
    part: BatchPart<'a>,
    direction: impl Fn(Packed<'a>) -> Option<Direction>,
    until: CaptureTime,
    mut put: impl FnMut(Direction, Packed<'a>),
) -> (usize, CaptureTime) {
    let (mut count, mut latest) = (0, CaptureTime::MIN);
    for packed in part.packed() {
        let at = packed.at();
        let dir = direction(packed).filter(|_| at < until);
        let Some(dir) = dir else { break };
        latest = latest.max(at);
        put(dir, packed);
        count += 1;
    }
    (count, latest)
}
