//! The segments of many flows in the order they passed.

use std::collections::VecDeque;

use super::OfFlow;
use crate::event::ClassifiedSegment;
use crate::observe::{Ordinals, Rest};

/// Positions that are put in order at a time: what fits well into the cache.
const SPAN: u64 = 1 << 16;

/// Bit of a turn: others come at the same position.
const OTHERS: u32 = 1 << 31;

/// The segments of one capture, by their positions in it.
///
/// Nearly all records are of one flow at most, so that a look at each position tells whose turn it is.
pub(super) struct InOrder<'a> {
    flows: &'a [OfFlow<'a>],
    /// Flows that have begun and have segments in the span or behind it.
    active: Vec<Active<'a>>,
    /// How many flows have begun.
    begun: usize,
    /// Whose segment is at each position of the span: place in `active` plus one; with [`OTHERS`], not its alone.
    turns: Vec<u32>,
    /// Those of the other segments at a position, an aggregate's of Wi-Fi frames, in order.
    others: VecDeque<(u64, u32)>,
    /// Where the span begins.
    start: u64,
    /// The next place in `turns`.
    next: usize,
}

/// A flow whose segments are being gone through.
struct Active<'a> {
    /// Place in `flows`.
    flow: u32,
    /// Of the segments behind the span.
    ordinals: Ordinals<'a>,
    rest: Rest<'a>,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(flows: &'a [OfFlow<'a>]) -> Self {
        Self {
            flows,
            active: Vec::new(),
            begun: 0,
            turns: Vec::new(),
            others: VecDeque::new(),
            start: 0,
            next: 0,
        }
    }

    /// Finds out about the next span; `false` when there are no more segments.
    fn turn(&mut self) -> bool {
        self.start += self.turns.len() as u64;
        self.active.retain(|flow| flow.ordinals.peek().is_some());
        if self.active.is_empty() {
            // Nothing can be before the next connection.
            let Some(flow) = self.flows.get(self.begun) else {
                return false;
            };
            self.start = self.start.max(flow.connection.first_ordinal);
        }
        let end = self.start + SPAN;
        while let Some(flow) = self.flows.get(self.begun)
            && flow.connection.first_ordinal < end
        {
            self.active.push(Active {
                flow: self.begun as u32,
                ordinals: flow.segments.ordinals(),
                rest: flow.segments.rest(),
            });
            self.begun += 1;
        }
        self.turns.clear();
        self.turns.resize(SPAN as usize, 0);
        self.next = 0;
        let (start, turns, others) = (self.start, &mut self.turns, &mut self.others);
        for (mark, Active { ordinals, .. }) in (1..).zip(&mut self.active) {
            while let Some(ordinal) = ordinals.peek().filter(|&ordinal| ordinal < end) {
                let turn = &mut turns[(ordinal - start) as usize];
                if *turn == 0 {
                    *turn = mark;
                } else {
                    *turn |= OTHERS;
                    others.push_back((ordinal, mark));
                }
                ordinals.next();
            }
        }
        others
            .make_contiguous()
            .sort_by_key(|&(ordinal, _)| ordinal);
        true
    }

    /// Calls `each` with the next segments, as many as are wanted at most, and the places of their
    /// flows among those of the capture. How many are still wanted then, as there are no more.
    #[inline]
    pub(super) fn take(
        &mut self,
        mut wanted: usize,
        mut each: impl FnMut(u32, ClassifiedSegment),
    ) -> usize {
        while wanted > 0 {
            let Some(turns) = self.turns.get(self.next..).filter(|rest| !rest.is_empty()) else {
                if self.turn() {
                    continue;
                }
                break;
            };
            let first = self.start + self.next as u64;
            let (mut looked_at, mut has_others) = (0, false);
            for &turn in turns {
                if let Some(place) = (turn & !OTHERS).checked_sub(1) {
                    if wanted == 0 {
                        break;
                    }
                    wanted -= 1;
                    let active = &mut self.active[place as usize];
                    each(active.flow, active.rest.next(first + looked_at));
                    if turn & OTHERS != 0 {
                        has_others = true;
                        break;
                    }
                }
                looked_at += 1;
            }
            self.next += looked_at as usize;
            if has_others {
                self.turns[self.next] = self.next_at(first + looked_at);
            }
        }
        wanted
    }

    /// The turn that comes next at a position that has had one.
    #[cold]
    fn next_at(&mut self, ordinal: u64) -> u32 {
        let Some((_, turn)) = self.others.pop_front() else {
            return 0;
        };
        let has_others = self.others.front().is_some_and(|&(at, _)| at == ordinal);
        if has_others { turn | OTHERS } else { turn }
    }
}
