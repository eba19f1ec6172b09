//! The first look at both points, before they are walked.

use std::collections::HashSet;

use super::feed::{self, Point, Sight};
use super::probe::{self, MATCHES_MIN, Probe};
use super::rules::Rules;
use super::sighting::Print;
use super::{PathConfig, PathError, threads};
use crate::capture::CaptureError;

/// A first look at both captures: at their beginnings, and where these have nothing in common at all packets or, of
/// long captures, at a part of them.
pub(super) fn look(
    points: [&Point; 2],
    sight: &Sight,
    config: &PathConfig,
) -> Result<Probe, PathError> {
    let near = || -> Result<_, PathError> {
        let [one, other] = both(points, |point| {
            feed::prints(point, sight, LOOK_RECORDS, usize::MAX, Print::is_told_apart)
        });
        Ok(probe::compare([one?, other?], config.clock))
    };
    if let Some(probe) = near()?
        && probe.matches >= MATCHES_MIN
    {
        return Ok(probe);
    }
    let wide = probe::compare(far_and_wide(points, sight)?, config.clock);
    let near = near()?;
    let matches = |probe: &Option<Probe>| probe.as_ref().map_or(0, |probe| probe.matches);
    let best = if matches(&wide) > matches(&near) {
        wide
    } else {
        near
    };
    best.ok_or_else(|| nothing_in_common(points, sight))
}

/// Packets from the beginnings to the ends: all of captures that are short, and of a longer one those that a short one
/// may have, too; of two that are long a part, the same of both.
fn far_and_wide(points: [&Point; 2], sight: &Sight) -> Result<[Vec<Print>; 2], PathError> {
    let read = |point: &Point, max, wanted: &(dyn Fn(&Print) -> bool + Sync)| {
        feed::prints(point, sight, u64::MAX, max, wanted)
    };
    let [one, other] = both(points, |point| read(point, ALL_MAX, &Print::is_told_apart));
    let mut all = [one?, other?];
    let are_short = all.each_ref().map(|prints| prints.len() < ALL_MAX);
    let sampled = |print: &Print| {
        print.is_told_apart() && keys(print).any(|key| key.is_multiple_of(SAMPLE_ONE_IN))
    };
    match are_short {
        [true, true] => {}
        [false, false] => {
            let [one, other] = both(points, |point| read(point, SAMPLE_MAX, &sampled));
            all = [one?, other?];
        }
        [one_is_short, _] => {
            let (short, long) = if one_is_short { (0, 1) } else { (1, 0) };
            let known: HashSet<u64> = all[short].iter().flat_map(keys).collect();
            let may_be_there = |print: &Print| {
                print.is_told_apart() && keys(print).any(|key| known.contains(&key))
            };
            all[long] = read(points[long], SAMPLE_MAX, &may_be_there)?;
        }
    }
    Ok(all)
}

/// What even the loosest rules keep of a packet. Of what a snap length cut, the sequence number is what both points
/// have.
fn keys(print: &Print) -> impl Iterator<Item = u64> + use<> {
    let keys = [Some(print.key(Rules::LOOSEST)), print.seq_key()];
    keys.into_iter().flatten()
}

/// Why two points have no packet in common.
fn nothing_in_common(points: [&Point; 2], sight: &Sight) -> PathError {
    let mut begin = [0; 2];
    for (point, begin) in points.iter().zip(&mut begin) {
        let first = |wanted: fn(&Print) -> bool| feed::prints(point, sight, u64::MAX, 1, wanted);
        match first(Print::is_told_apart).as_deref() {
            Ok([]) => {
                let name = point.name.clone();
                if first(|_| true).is_ok_and(|any| !any.is_empty()) {
                    return PathError::HeadersCut { point: name };
                }
                // What is damaged before its first packet has none for that reason.
                return feed::first_error(point, sight).map_or_else(
                    || PathError::NoPackets {
                        point: name,
                        filtered: false,
                    },
                    PathError::from,
                );
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
/// A capture of fewer packets is short.
const ALL_MAX: usize = 1 << 16;
/// Of all packets of long captures, one in so many is compared where the beginnings have nothing in common.
const SAMPLE_ONE_IN: u64 = 64;
/// Packets compared at most.
pub(super) const SAMPLE_MAX: usize = 1 << 20;
