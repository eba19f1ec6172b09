//! How finely the clocks of two points stamp packets (METRICS.md B2).

use super::feed::PointFacts;
use super::sighting::Print;
use crate::capture::TimeResolution;
use crate::metric::{self, Step};

/// The tick of the clock that stamped these packets, in ns, as far as they tell: files say what they can hold, not how
/// fine the clock was. `None` where they are few, or no two that follow each other are stamped alike.
pub(super) fn shown_tick_ns(prints: &[Print]) -> Option<u32> {
    let steps = || {
        let pairs = prints.windows(2);
        let pauses = pairs.map(|two| two[1].at.saturating_sub(two[0].at));
        // Those of more than 4 s, and those back in time, tell nothing that others do not.
        let short = pauses.filter_map(|ns| u32::try_from(ns).ok());
        short.map(|ns| Step { ns, bytes: 0 })
    };
    let is_enough = steps().nth(metric::STEPS_MIN - 1).is_some();
    is_enough.then(|| metric::tick_ns(steps())).flatten()
}

/// How much too long or too short a time from one point to the other may be, in ns, because both stamps are cut to
/// ticks: a tick of the coarser clock, by what its file says or, if that is more, by what its stamps show.
pub(super) fn error_ns(facts: &[PointFacts; 2], shown_tick_ns: [Option<u32>; 2]) -> f64 {
    let files = facts.iter().flat_map(|facts| &facts.files);
    let told = files.filter_map(|file| file.resolution);
    let shown = shown_tick_ns.into_iter().flatten();
    told.map(TimeResolution::step_ns)
        .chain(shown.map(f64::from))
        .fold(0.0, f64::max)
}
