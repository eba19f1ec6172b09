//! When packets left the queue that were late behind it (METRICS.md B4).
//!
//! A queue keeps the packets of a flow in order. One that is stamped after a packet of its flow that had come in behind
//! it had left the queue before that one did, and took the rest of its time elsewhere.

use super::calibrate::Calibration;
use super::clock::Heading;
use super::link::Passed;
use super::spool::{Kind, Signs, Spool};

/// For each note of a way of a packet that was overtaken by one of its flow, in their order: the first of these to leave,
/// or itself where none is known.
pub(super) fn find(
    spool: &Spool,
    headings: &[Option<Heading>],
    calibration: &Calibration,
    way: Heading,
) -> Vec<Passed> {
    let mut found: Vec<Passed> = Vec::new();
    if spool.overtaken() == 0 {
        return found;
    }
    let mut of_flows: Vec<Late> = Vec::new();
    of_flows.resize_with(headings.len(), Late::default);
    let notes = spool.notes(way).filter(|note| note.kind == Kind::Passed);
    for note in notes.filter(|note| note.heading(headings) == way) {
        let is_overtaken = note.has.has(Signs::OVERTAKEN);
        let flow = note.flow as usize;
        if flow >= of_flows.len() {
            of_flows.resize_with(flow + 1, Late::default);
        }
        let late = &mut of_flows[flow];
        if late.places.is_empty() && !is_overtaken {
            continue;
        }
        late.pass(calibration.passed(&note), is_overtaken, &mut found);
    }
    for late in &mut of_flows {
        late.settle(&mut found);
    }
    found
}

/// Packets of a flow that may still be overtaken, in the order they came in.
#[derive(Debug, Default)]
struct Late {
    /// Where they are among all.
    places: Vec<usize>,
    /// Who has left first of what came in behind them, and from which of them on: later for those further behind, so that
    /// each who overtakes some has the last of them, which then have the same.
    overtakers: Vec<(usize, Passed)>,
}

impl Late {
    /// The next packet of the flow passed, and was overtaken itself or not.
    fn pass(&mut self, passed: Passed, is_overtaken: bool, found: &mut Vec<Passed>) {
        // Nothing that comes in now leaves before any of them.
        if (self.overtakers.last()).is_some_and(|(_, last)| passed.at >= last.left_at) {
            self.settle(found);
        }
        let is_before = |(_, last): &mut (usize, Passed)| passed.left_at < last.left_at;
        let mut first = None;
        while let Some((start, _)) = self.overtakers.pop_if(is_before) {
            first = Some(start);
        }
        self.overtakers.extend(first.map(|start| (start, passed)));
        if is_overtaken {
            self.overtakers.push((self.places.len(), passed));
            self.places.push(found.len());
            found.push(passed);
        }
    }

    /// No other overtakes them.
    fn settle(&mut self, found: &mut [Passed]) {
        for (start, overtaker) in self.overtakers.drain(..).rev() {
            for place in self.places.drain(start..) {
                found[place] = overtaker;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a look at all that came in behind each.
        #[test]
        fn the_first_that_left_of_all_behind_is_found(
            steps in proptest::collection::vec((0..5_i64, 0..40_i64, any::<bool>()), 0..200)
        ) {
            let (mut late, mut found) = (Late::default(), Vec::new());
            let mut at = 0;
            let mut all = Vec::new();
            for (step, took, is_overtaken) in steps {
                at += step;
                let passed = Passed { at, left_at: at + took, left_before: None };
                late.pass(passed, is_overtaken, &mut found);
                all.push((passed, is_overtaken));
            }
            late.settle(&mut found);
            let first_behind = |place: usize| {
                let behind = all[place..].iter().map(|(passed, _)| passed.left_at);
                behind.min().unwrap()
            };
            let expected: Vec<i64> = (0..all.len())
                .filter(|&place| all[place].1)
                .map(first_behind)
                .collect();
            let found: Vec<i64> = found.iter().map(|passed| passed.left_at).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
