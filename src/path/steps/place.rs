//! The place among packets that follow each other where a clock was set.

use std::collections::VecDeque;
use std::ops::Range;

use crate::path::clock::Side;
#[cfg(doc)]
use crate::path::spool::Signs;

/// A packet that was found at both points, as one of them dates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Met {
    pub(super) frame: u64,
    pub(super) at: i64,
    /// Its time at the second point less that at the first.
    pub(super) raw: i64,
    pub(super) way: usize,
    /// It may be another packet, which looks alike ([`Signs::QUICK`]).
    pub(super) is_quick: bool,
}

/// How well it is seen that differences grow by so much, in ns, where packets are so far apart. A clock
/// that was set forward leaves a pause that is as long; one that was set back makes time run
/// backwards, unless there was a pause.
fn shown(point: Side, grow_ns: i64, pause_ns: i64) -> i64 {
    let by_ns = forward(point, grow_ns);
    let rest = pause_ns.saturating_sub(by_ns).saturating_abs();
    let most = if by_ns > 0 { by_ns / 2 } else { -by_ns };
    grow_ns.abs() - rest.min(most)
}

/// What two have in common, if they have the same sign; else 0.
fn common([one, other]: [i64; 2]) -> i64 {
    if one.signum() == other.signum() {
        one.abs().min(other.abs()) * one.signum()
    } else {
        0
    }
}

/// A place where a clock seems to have been set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) point: Side,
    pub(super) frame: u64,
    pub(super) at: i64,
    /// By how much the differences of both ways grow there, in ns.
    grow_ns: i64,
    /// How well that is seen, in ns: by both ways, and by time that ran backwards.
    pub(super) shown_ns: i64,
}

impl Found {
    /// By how much the clock was put forward: the first one's makes the differences smaller.
    pub(super) fn by_ns(&self) -> i64 {
        forward(self.point, self.grow_ns)
    }
}

/// By how much a point's clock was put forward where differences grow by so much.
fn forward(point: Side, grow_ns: i64) -> i64 {
    match point {
        Side::First => -grow_ns,
        Side::Second => grow_ns,
    }
}

/// The place at which the most was set.
pub(super) fn most(point: Side, packets: impl Iterator<Item = Met>) -> Option<Found> {
    let mut packets = packets.fuse();
    let mut part: Vec<Met> = packets.by_ref().take(PART).collect();
    let mut most: Option<Found> = None;
    // The first packet of the part that was not looked at from both sides.
    let mut from = 0;
    loop {
        let fresh: Vec<Met> = packets.by_ref().take(PART).collect();
        let is_last = fresh.is_empty();
        let to = if is_last {
            part.len()
        } else {
            part.len() - OVERLAP
        };
        for found in Part::new(&part).places(point, from..to) {
            if most.is_none_or(|most| found.shown_ns > most.shown_ns) {
                most = Some(found);
            }
        }
        if is_last {
            return most;
        }
        part.drain(..part.len() - 2 * OVERLAP);
        from = OVERLAP;
        part.extend(fresh);
    }
}

/// By how much more than is known the clock was set at a record, and how unsteady what shows it is,
/// both in ns.
pub(super) fn remainder(
    point: Side,
    frame: u64,
    packets: impl Iterator<Item = Met>,
) -> Option<(i64, i64)> {
    let mut before = VecDeque::new();
    let mut around = Vec::new();
    let mut behind = 0;
    for packet in packets {
        if packet.frame < frame {
            if before.len() == OVERLAP {
                before.pop_front();
            }
            before.push_back(packet);
        } else if behind < OVERLAP {
            around.push(packet);
            behind += 1;
        } else {
            break;
        }
    }
    let place = before.len();
    let part: Vec<Met> = before.into_iter().chain(around).collect();
    let (grow, unsteady) = Part::new(&part).growth(place)?;
    Some((forward(point, grow), unsteady))
}

/// Packets that follow each other at a point.
struct Part<'a> {
    all: &'a [Met],
    /// Differences of those that go forward, and of those that go back with their sign changed, so
    /// that in both a longer delay is more.
    of_way: [Vec<i64>; 2],
    /// How many of each way come before each packet.
    before: Vec<[usize; 2]>,
}

impl<'a> Part<'a> {
    fn new(all: &'a [Met]) -> Self {
        let mut of_way = [Vec::new(), Vec::new()];
        let mut before = Vec::with_capacity(all.len());
        let mut quick = Vec::new();
        for packet in all {
            before.push([of_way[0].len(), of_way[1].len()]);
            let delay = if packet.way == 0 {
                packet.raw
            } else {
                -packet.raw
            };
            if packet.is_quick {
                quick.push((packet.way, of_way[packet.way].len()));
            }
            of_way[packet.way].push(delay);
        }
        for (way, at) in quick {
            confirm(&mut of_way[way][at..]);
        }
        Self {
            all,
            of_way,
            before,
        }
    }

    /// The places within a range of packets where the clock seems to have been set.
    fn places(&self, point: Side, within: Range<usize>) -> impl Iterator<Item = Found> + '_ {
        within.filter_map(move |place| self.place(point, place))
    }

    fn place(&self, point: Side, place: usize) -> Option<Found> {
        let (before, behind) = (self.all[place.checked_sub(1)?], self.all[place]);
        let pause_ns = behind.at.saturating_sub(before.at);
        let least = STEP_MIN_NS.saturating_add(pause_ns.saturating_abs() / DRIFT_ONE_IN);
        let enough = [0, 1].iter().all(|&way: &usize| {
            let at = self.before[place][way];
            at >= NEAR_PACKETS && self.of_way[way].len() - at >= NEAR_PACKETS
        });
        let grows = self.grows(place, 1)?;
        let both = common(grows);
        let found = |grow_ns: i64| Found {
            point,
            frame: behind.frame,
            at: behind.at,
            grow_ns,
            shown_ns: shown(point, grow_ns, pause_ns) + both.abs(),
        };
        let possible = [grows[0], grows[1], both].into_iter();
        possible
            .filter(|grow_ns| enough && grow_ns.abs() >= least)
            .filter(|&grow_ns| self.is_step(place, grow_ns, forward(point, grow_ns), pause_ns))
            .map(found)
            .max_by_key(|found| found.shown_ns)
    }

    /// Whether a clock was set by so much at a place, where packets are so far apart by it.
    fn is_step(&self, place: usize, grow_ns: i64, by_ns: i64, pause_ns: i64) -> bool {
        let rest = pause_ns.saturating_sub(by_ns);
        // Without the step time runs on; its size is known only roughly yet.
        let is_possible = rest >= -(NEAR_NS + by_ns.abs() / 50);
        if !is_possible {
            return false;
        }
        // It was set by what packets are apart: a pause as long as that, or time that ran backwards.
        let is_all_of_it = rest.saturating_abs() <= by_ns.abs() / 4;
        let is_common = self.is_common(place, grow_ns);
        let is_steady = is_common || self.is_steady(place, grow_ns);
        is_all_of_it && (is_common || is_steady && pause_ns < 0)
            || is_steady && self.gains(place, grow_ns) >= grow_ns.abs() / 2
    }

    /// By how much the differences grow at a place by each way's smallest delays, in ns.
    fn grows(&self, place: usize, packets: usize) -> Option<[i64; 2]> {
        let [forward, back] = self.changes(place, packets);
        Some([forward?, -back?])
    }

    /// By how much the smallest delay of some packets of each way behind a place is larger than that
    /// of as many before it, in ns.
    fn changes(&self, place: usize, packets: usize) -> [Option<i64>; 2] {
        [0, 1].map(|way: usize| {
            let [before, behind] = self.least(place, packets, way)?;
            Some(behind.saturating_sub(before))
        })
    }

    /// The smallest delays of some packets of a way before and behind a place, in ns.
    fn least(&self, place: usize, packets: usize, way: usize) -> Option<[i64; 2]> {
        let delays = &self.of_way[way];
        let at = self.before[place][way];
        let before = delays[at.saturating_sub(packets)..at].iter().min();
        let behind = delays[at..(at + packets).min(delays.len())].iter().min();
        Some([*before?, *behind?])
    }

    /// Whether one way shows the same at the packets next to a place and at many around it.
    fn is_steady(&self, place: usize, grow_ns: i64) -> bool {
        let near = NEAR_NS + grow_ns.abs() / 20;
        [0, 1].iter().any(|&way: &usize| {
            [1, NEAR_PACKETS, FAR_PACKETS[0], FAR_PACKETS[1]]
                .iter()
                .all(|&packets| {
                    let grows = self.grows(place, packets);
                    grows.is_some_and(|grows| grows[way].abs_diff(grow_ns) <= near.unsigned_abs())
                })
        })
    }

    /// Whether both ways show at least half of it next to a place, and one of them does far from
    /// there, as queues fill and drain meanwhile.
    fn is_common(&self, place: usize, grow_ns: i64) -> bool {
        let half = grow_ns.abs() / 2;
        let near = self.grows(place, NEAR_PACKETS).map_or(0, common);
        near.signum() == grow_ns.signum()
            && near.abs() >= half
            && FAR_PACKETS.iter().all(|&packets| {
                let grows = self.grows(place, packets).unwrap_or([0; 2]);
                grows
                    .iter()
                    .any(|grow| grow.abs_diff(grow_ns) <= half.unsigned_abs())
            })
    }

    /// By how much the smallest delays of both ways together grow without the step, in ns.
    fn gains(&self, place: usize, grow_ns: i64) -> i64 {
        let gain = |way: usize, grow_ns: i64| {
            let Some([before, behind]) = self.least(place, OVERLAP, way) else {
                return 0;
            };
            before
                .min(behind.saturating_sub(grow_ns))
                .saturating_sub(before.min(behind))
        };
        gain(0, grow_ns).saturating_add(gain(1, -grow_ns))
    }

    /// By how much differences grow at a place, and how unsteady they are, in ns: by the way whose
    /// delays are steadier.
    fn growth(&self, place: usize) -> Option<(i64, i64)> {
        let changes = self.changes(place, SIZE_PACKETS);
        let unsteady = [0, 1].map(|way: usize| {
            let delays = &self.of_way[way];
            let at = self.before.get(place)?[way];
            let before = above_least(&delays[at.saturating_sub(SIZE_PACKETS)..at])?;
            let behind = above_least(&delays[at..(at + SIZE_PACKETS).min(delays.len())])?;
            Some(before + behind)
        });
        let [forward, back] = [changes[0]?, -changes[1]?];
        let [forwards, backs] = [unsteady[0]?, unsteady[1]?];
        // Where the other way is steady too and says otherwise, one of them is wrong.
        let apart = forward.abs_diff(back).cast_signed();
        let is_doubted = apart > forwards.max(backs) && apart < STEP_MIN_NS;
        let doubt = if is_doubted { apart } else { 0 };
        Some(if forwards <= backs {
            (forward, forwards.max(doubt))
        } else {
            (back, backs.max(doubt))
        })
    }
}

/// What one packet took that may be another shows nothing that the next ones do not.
fn confirm(delays: &mut [i64]) {
    let Some((quick, next)) = delays.split_first_mut() else {
        return;
    };
    let mut next: Vec<i64> = next.iter().take(NEAR_PACKETS).copied().collect();
    next.sort_unstable();
    let shown = next.get(1).copied().unwrap_or(*quick);
    *quick = shown.max(*quick);
}

/// How far the middle value is above the least.
fn above_least(delays: &[i64]) -> Option<i64> {
    let mut sorted = delays.to_vec();
    sorted.sort_unstable();
    Some(sorted.get(sorted.len() / 2)? - sorted.first()?)
}

/// The least that is looked for, in ns: less is what delays change by themselves.
pub(in super::super) const STEP_MIN_NS: i64 = 1_000_000;
/// Stamps are no nearer to each other than this, in ns.
pub(in super::super) const NEAR_NS: i64 = 100_000;
/// Clocks drift by no more than this part of a pause as a rule: 200 ppm.
const DRIFT_ONE_IN: i64 = 5000;
/// Packets of each way that show a step at once.
const NEAR_PACKETS: usize = 4;
/// Packets of one way that still do.
const FAR_PACKETS: [usize; 2] = [32, 128];
/// Packets of a way that show its size.
const SIZE_PACKETS: usize = 32;
/// Packets that are looked at together, and those on both sides of a place that show it.
const PART: usize = 1 << 14;
const OVERLAP: usize = 1 << 10;
