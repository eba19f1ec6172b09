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
    // Those that may be overtaken by what comes: their places, and when they were stamped.
    let mut of_flows: Vec<Vec<(usize, i64)>> = vec![Vec::new(); headings.len()];
    let notes = spool.notes(way).filter(|note| note.kind == Kind::Passed);
    for note in notes.filter(|note| note.heading(headings) == way) {
        let is_overtaken = note.has.has(Signs::OVERTAKEN);
        let flow = note.flow as usize;
        if flow >= of_flows.len() {
            of_flows.resize(flow + 1, Vec::new());
        }
        let late = &mut of_flows[flow];
        if late.is_empty() && !is_overtaken {
            continue;
        }
        let passed = calibration.passed(&note);
        late.retain(|&(_, left_at)| left_at > passed.at);
        for &(place, _) in &*late {
            if passed.left_at < found[place].left_at {
                found[place] = passed;
            }
        }
        if is_overtaken {
            late.push((found.len(), passed.left_at));
            found.push(passed);
        }
    }
    found
}
