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
        let rests = flows.iter().map(|flow| flow.record.segments.rest());
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
            self.start = self.start.max(flow.connection.identity.first_ordinal);
        }
        let end = self.start + SPAN;
        while let Some(flow) = self.flows.get(self.begun)
            && flow.connection.identity.first_ordinal < end
        {
            let ordinals = flow.record.segments.ordinals();
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
}

impl Iterator for InOrder<'_> {
    /// Place of the flow among those of the capture, and its segment.
    type Item = (u32, ClassifiedSegment);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while let Some(&turn) = self.turns.get(self.next) {
                let ordinal = self.start + self.next as u64;
                self.next += 1;
                if let Some(flow) = turn.checked_sub(1) {
                    return Some((flow, self.rests[flow as usize].next(ordinal)));
                }
            }
            if !self.turn() {
                return None;
            }
        }
    }
}
