//! The segments of many flows in the order they passed.

use crate::analyze::{CaptureAnalysis, Flow};
use crate::event::ClassifiedSegment;
use crate::observe::{Ordinals, Rest};

/// Positions that are put in order at a time: what fits well into the cache.
const SPAN: u64 = 1 << 16;

/// The segments of one capture, by their positions in it.
///
/// A record is of one flow at most, so that a look at each position tells whose turn it is.
pub(super) struct InOrder<'a> {
    flows: Vec<Flow<'a>>,
    rests: Vec<Rest<'a>>,
    /// Flows that have begun and have segments left, by their place in `flows`.
    active: Vec<(usize, Ordinals<'a>)>,
    /// How many flows have begun.
    begun: usize,
    /// Whose segment is at each position of the span: place in `flows` plus one.
    turns: Vec<u32>,
    /// Where the span begins.
    start: u64,
    /// The next place in `turns`.
    next: usize,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(capture: &'a CaptureAnalysis) -> Self {
        let flows: Vec<Flow<'a>> = capture.flows().collect();
        let rests = flows.iter().map(|flow| flow.record.segments().rest());
        Self {
            rests: rests.collect(),
            flows,
            active: Vec::new(),
            begun: 0,
            turns: Vec::new(),
            start: 0,
            next: 0,
        }
    }

    /// Finds out about the next span; `false` when there are no more segments.
    fn turn(&mut self) -> bool {
        self.start += self.turns.len() as u64;
        if self.active.is_empty() {
            // Nothing can be before the next connection.
            let Some(flow) = self.flows.get(self.begun) else {
                return false;
            };
            self.start = self.start.max(flow.connection().identity.first_ordinal);
        }
        let end = self.start + SPAN;
        while let Some(flow) = self.flows.get(self.begun)
            && flow.connection().identity.first_ordinal < end
        {
            let ordinals = flow.record.segments().ordinals();
            self.active.push((self.begun, ordinals));
            self.begun += 1;
        }
        self.turns.clear();
        self.turns.resize(SPAN as usize, 0);
        self.next = 0;
        let (start, turns) = (self.start, &mut self.turns);
        self.active.retain_mut(|(flow, ordinals)| {
            while let Some(ordinal) = ordinals.peek().filter(|&ordinal| ordinal < end) {
                let turn = &mut turns[(ordinal - start) as usize];
                debug_assert_eq!(*turn, 0, "two segments of one record");
                *turn = *flow as u32 + 1;
                ordinals.next();
            }
            ordinals.peek().is_some()
        });
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
            let mut looked_at = 0;
            for &turn in turns {
                if let Some(flow) = turn.checked_sub(1) {
                    if wanted == 0 {
                        break;
                    }
                    wanted -= 1;
                    each(flow, self.rests[flow as usize].next(first + looked_at));
                }
                looked_at += 1;
            }
            self.next += looked_at as usize;
        }
        wanted
    }
}
