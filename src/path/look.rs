//! The first look at both points, before they are walked.

use super::feed::{self, Point, Sight};
use super::probe::{self, Probe};
use super::sighting::{Print, Rules};
use super::{PathConfig, PathError, threads};
use crate::capture::CaptureError;

/// A first look at both captures: at their beginnings, and where these have nothing in common at a
/// part of all packets.
pub(super) fn look(
    points: [&Point; 2],
    sight: &Sight,
    config: &PathConfig,
) -> Result<Probe, PathError> {
    let beginnings = Print::is_told_apart;
    // Of what a snap length cut, the sequence number is what both points have.
    let sampled = |print: &Print| {
        let keys = [Some(print.key(Rules::LOOSEST)), print.seq_key()];
        let mut keys = keys.into_iter().flatten();
        print.is_told_apart() && keys.any(|key| key.is_multiple_of(SAMPLE_ONE_IN))
    };
    let [one, other] = both(points, |point| {
        feed::prints(point, sight, LOOK_RECORDS, usize::MAX, beginnings)
    });
    if let Some(probe) = probe::compare([one?, other?], config.clock)
        && probe.matches >= LOOK_MATCHES
    {
        return Ok(probe);
    }
    let [one, other] = both(points, |point| {
        feed::prints(point, sight, u64::MAX, SAMPLE_MAX, sampled)
    });
    let wide = probe::compare([one?, other?], config.clock);
    let [one, other] = both(points, |point| {
        feed::prints(point, sight, LOOK_RECORDS, usize::MAX, beginnings)
    });
    let near = probe::compare([one?, other?], config.clock);
    let matches = |probe: &Option<Probe>| probe.as_ref().map_or(0, |probe| probe.matches);
    let best = if matches(&wide) > matches(&near) {
        wide
    } else {
        near
    };
    best.ok_or_else(|| nothing_in_common(points, sight))
}

/// Why two points have no packet in common.
fn nothing_in_common(points: [&Point; 2], sight: &Sight) -> PathError {
    let mut begin = [0; 2];
    for (point, begin) in points.iter().zip(&mut begin) {
        let first = |wanted: fn(&Print) -> bool| feed::prints(point, sight, u64::MAX, 1, wanted);
        match first(Print::is_told_apart).as_deref() {
            Ok([]) => {
                let point = point.name.clone();
                return if first(|_| true).is_ok_and(|any| any.is_empty()) {
                    let filtered = sight.filter.is_some();
                    PathError::NoPackets { point, filtered }
                } else {
                    PathError::HeadersCut { point }
                };
            }
            Ok([first, ..]) => *begin = first.at,
            Err(_) => {}
        }
    }
    PathError::NothingInCommon {
        first: points[0].name.clone(),
        second: points[1].name.clone(),
        apart_s: begin[0].abs_diff(begin[1]) / 1_000_000_000,
    }
}

/// Looks at both points at once.
pub(super) fn both(
    points: [&Point; 2],
    look: impl Fn(&Point) -> Result<Vec<Print>, CaptureError> + Sync,
) -> [Result<Vec<Print>, CaptureError>; 2] {
    let [first, second] = points;
    threads::both(|| look(first), || look(second)).into()
}

/// Records of each capture that the first look is at.
const LOOK_RECORDS: u64 = 1 << 14;
/// Packets in common that make a first look enough.
const LOOK_MATCHES: usize = 16;
/// Of all packets, one in so many is compared where the beginnings have nothing in common.
const SAMPLE_ONE_IN: u64 = 64;
/// Packets compared at most.
pub(super) const SAMPLE_MAX: usize = 1 << 20;
