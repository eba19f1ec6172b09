//! Clocks that do not run evenly against each other: heat bends them, time servers slew and set
//! them (METRICS.md B2).
//!
//! What a wrong line makes of such clocks shows in both ways at once: what is taken from the delays
//! forward is added to those back. Where both ways' smallest delays together are larger on either
//! side of an instant than over all, by the same amount, the clocks changed there; queues seldom
//! do that.

use std::ops::Range;

use super::envelope::Floor;
use super::line::{Line, line};

/// A time in which clocks run evenly against each other: from an instant of the second clock to
/// before another, in ns.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) line: Line,
    /// The part of it that certainly is of this piece: not beside where it was split.
    sure: (i64, i64),
    /// Whether the clock was set where this piece begins, and not only changed its pace.
    pub(super) is_set: bool,
}

/// The pieces that clocks run evenly in: one as a rule. `floors` are those of the ways forward and
/// back, `whole` is the line through all of it.
pub(super) fn pieces(floors: &[Floor; 2], origin_ns: i64, whole: Line) -> Vec<Piece> {
    let ends = floors.iter().flat_map(Floor::ends);
    let (Some(from), Some(last)) = (ends.clone().min(), ends.max()) else {
        return Vec::new();
    };
    let mut found = vec![Piece {
        from,
        to: last.saturating_add(1),
        line: whole,
        sure: (from, last.saturating_add(1)),
        is_set: false,
    }];
    let look = |piece: &Piece| split(floors, origin_ns, piece);
    let mut splits = vec![look(&found[0])];
    while found.len() < PIECES_MAX {
        let gain = |at: &usize| splits[*at].as_ref().map_or(f64::MIN, |split| split.gain);
        let best = (0..splits.len()).max_by(|one, other| gain(one).total_cmp(&gain(other)));
        let Some((at, split)) = best.and_then(|at| Some((at, splits[at].take()?))) else {
            break;
        };
        let [left, right] = split.halves(&found[at]);
        splits[at] = look(&left);
        splits.insert(at + 1, look(&right));
        found[at] = left;
        found.insert(at + 1, right);
    }
    found
}

/// Where a piece is two.
struct Split {
    at: i64,
    /// Around it, where the lines are not taken from.
    unsure: (i64, i64),
    lines: [Line; 2],
    is_step: bool,
    /// By how much the smallest delays of both ways together grow, in ns.
    gain: f64,
}

impl Split {
    fn halves(&self, piece: &Piece) -> [Piece; 2] {
        let [left, right] = self.lines;
        [
            Piece {
                to: self.at,
                line: left,
                sure: (piece.sure.0, self.unsure.0),
                ..piece.clone()
            },
            Piece {
                from: self.at,
                to: piece.to,
                line: right,
                sure: (self.unsure.1, piece.sure.1),
                is_set: self.is_step,
            },
        ]
    }
}

/// The smallest delays of both ways within a piece, in spans of one length.
struct Spans {
    coarse: [Floor; 2],
    from: i64,
    span_ns: i64,
    origin_ns: i64,
}

/// A span in which clocks may have changed.
struct Candidate {
    span: usize,
    /// By how much the smallest delays of both ways together grow when the piece is split there.
    gain: f64,
    /// How large they are then.
    expected_ns: f64,
    /// How far the delays of the steadier way are above the lines on both sides, in ns.
    above_ns: f64,
}

impl Spans {
    fn of(floors: &[Floor; 2], origin_ns: i64, piece: &Piece) -> Option<Self> {
        let (from, to) = piece.sure;
        let span_ns = to.saturating_sub(from) / SPANS as i64;
        if span_ns < SPAN_MIN_NS {
            return None;
        }
        let slopes = [piece.line.slope, -piece.line.slope];
        let coarse =
            [0, 1].map(|way: usize| floors[way].spans_of(from, span_ns, SPANS, slopes[way]));
        Some(Self {
            coarse,
            from,
            span_ns,
            origin_ns,
        })
    }

    /// When a span begins.
    fn start(&self, span: usize) -> i64 {
        self.from
            .saturating_add(self.span_ns.saturating_mul(span as i64))
    }

    /// The line through some spans.
    fn line(&self, spans: Range<usize>) -> Option<Line> {
        let parts = self
            .coarse
            .each_ref()
            .map(|floor| floor.part(spans.clone()));
        line(&parts, self.origin_ns).filter(|_| parts.iter().all(|part| part.ends().len() == 2))
    }

    /// The line through all but some spans.
    fn without(&self, spans: Range<usize>) -> Option<Line> {
        let rest = self.coarse.each_ref();
        line(
            &rest.map(|floor| floor.without(spans.clone())),
            self.origin_ns,
        )
    }

    /// The best span to split at; `all_ns` are the smallest delays of both ways over all spans.
    fn best(&self, all_ns: f64) -> Option<Candidate> {
        let found: Vec<Candidate> = (EDGE..SPANS - EDGE)
            .filter_map(|span| self.candidate(span, all_ns))
            .collect();
        let most = found.iter().map(|at| at.gain).max_by(f64::total_cmp)?;
        // Where a queue hides what is gained, it is as large at many places: then the way that has
        // none tells.
        found
            .into_iter()
            .filter(|at| at.gain >= most * ALIKE)
            .min_by(|one, other| one.above_ns.total_cmp(&other.above_ns))
    }

    fn candidate(&self, span: usize, all_ns: f64) -> Option<Candidate> {
        // Without the spans that the change may be in: times before and after a clock was set back
        // overlap.
        let parts = [0..span - 1, span + 2..SPANS];
        let [before, behind] = parts.clone().map(|part| self.line(part));
        let lines = [before?, behind?];
        let [left, right] = [lines[0].round_trip_ns?, lines[1].round_trip_ns?];
        // What packets of these spans alone made smaller, as one that was stamped late, is no change of the clocks.
        let rest = self.without(parts[0].end..parts[1].start)?.round_trip_ns?;
        let all_ns = all_ns.max(rest);
        let expected_ns = left.min(right);
        let gain = expected_ns - all_ns;
        let is_alike = (left - right).abs() <= (gain / 4.0).max(NEAR_NS);
        if gain < GAIN_MIN_NS || !(is_alike || all_ns < -NEAR_NS) {
            return None;
        }
        let above = |way: usize| -> f64 {
            let sides = lines.iter().zip(&parts);
            let above = sides
                .map(|(line, spans)| above_ns(&self.coarse[way], way, line, spans, self.origin_ns));
            above.sum()
        };
        Some(Candidate {
            span,
            gain,
            expected_ns,
            above_ns: above(0).min(above(1)),
        })
    }
}

/// The best place to split a piece, if there is a good one.
fn split(floors: &[Floor; 2], origin_ns: i64, piece: &Piece) -> Option<Split> {
    let (from, to) = piece.sure;
    let spans = Spans::of(floors, origin_ns, piece)?;
    let all_ns = spans.line(0..SPANS)?.round_trip_ns?;
    let Candidate {
        span,
        gain,
        expected_ns,
        ..
    } = spans.best(all_ns)?;
    // The lines of all windows but those of these spans.
    let (before, behind) = (spans.start(span - 1), spans.start(span + 2));
    let lines = [(from, before), (behind, to)].map(|(from, to)| {
        let parts = floors.each_ref().map(|floor| floor.within(from, to));
        line(&parts, origin_ns)
    });
    let [Some(left), Some(right)] = lines else {
        return None;
    };
    let [left, right] = unloaded([left, right]);
    let turn = (left.offset_ns - right.offset_ns) / (right.slope - left.slope) * 1e9;
    let turn = origin_ns.saturating_add(turn as i64);
    let is_within = (spans.start(EDGE)..spans.start(SPANS - EDGE)).contains(&turn);
    // A clock that bends does so where the lines meet: lines are near to most of their spans, so
    // that it need not be where the gain is largest.
    if is_within && let Some(lines) = bent_at(floors, origin_ns, piece, turn, expected_ns) {
        return Some(Split {
            at: turn,
            unsure: (
                turn.saturating_sub(spans.span_ns),
                turn.saturating_add(spans.span_ns),
            ),
            lines,
            is_step: false,
            gain,
        });
    }
    let middle = before.midpoint(behind);
    let by = right.ahead_ns(middle, origin_ns) - left.ahead_ns(middle, origin_ns);
    let is_step = by.abs() > STEP_MIN_NS;
    let at = if is_step {
        set_at(floors, origin_ns, [left, right], by, before..behind)
    } else {
        middle
    };
    Some(Split {
        at,
        unsure: (before, behind),
        lines: [left, right],
        is_step,
        gain,
    })
}

/// Where both ways together take longer beside one line than beside the other, a queue stood there
/// all the time: on the way that is less steady. So the other way tells how far the clock is ahead.
fn unloaded([one, other]: [Line; 2]) -> [Line; 2] {
    let (Some(first), Some(second)) = (one.round_trip_ns, other.round_trip_ns) else {
        return [one, other];
    };
    if first.min(second) < -NEAR_NS {
        // That line is none yet.
        [one, other]
    } else if second > first + NEAR_NS {
        [one, other.with_least_of(&one)]
    } else if first > second + NEAR_NS {
        [one.with_least_of(&other), other]
    } else {
        [one, other]
    }
}

/// How far above a line the smallest delays of one way are, in ns, all spans together.
fn above_ns(coarse: &Floor, way: usize, line: &Line, spans: &Range<usize>, origin_ns: i64) -> f64 {
    let sign = if way == 0 { 1.0 } else { -1.0 };
    let least = line.least_ns[way].unwrap_or(0.0);
    spans
        .clone()
        .filter_map(|span| coarse.value(span))
        .map(|(at, value)| value as f64 - sign * line.ahead_ns(at, origin_ns) - least)
        .sum()
}

/// The lines on both sides of an instant, if they meet there, and the smallest delays of both ways
/// together are as large beside both as is expected.
fn bent_at(
    floors: &[Floor; 2],
    origin_ns: i64,
    piece: &Piece,
    at: i64,
    expected_ns: f64,
) -> Option<[Line; 2]> {
    let part = |from: i64, to: i64| {
        let parts = floors.each_ref().map(|floor| floor.within(from, to));
        line(&parts, origin_ns)
    };
    let lines = unloaded([part(piece.sure.0, at)?, part(at, piece.sure.1)?]);
    let is_as_large = lines.iter().all(|line| {
        line.round_trip_ns
            .is_some_and(|ns| ns >= expected_ns - GAIN_MIN_NS)
    });
    let apart = lines[1].ahead_ns(at, origin_ns) - lines[0].ahead_ns(at, origin_ns);
    (is_as_large && apart.abs() <= STEP_MIN_NS).then_some(lines)
}

/// When within a time the clock was set: the first instant at which a packet would have been too
/// quick by the line before. A clock set forward makes those that go back too quick.
fn set_at(
    floors: &[Floor; 2],
    origin_ns: i64,
    [left, right]: [Line; 2],
    by: f64,
    within: Range<i64>,
) -> i64 {
    let quick = |way: usize, line: Line| {
        let sign = if way == 0 { 1.0 } else { -1.0 };
        let floor = floors[way].within(within.start, within.end);
        let least = line.least_ns[way].unwrap_or(f64::MIN);
        let points = floor.points().filter(move |&(at, value)| {
            value as f64 - sign * line.ahead_ns(at, origin_ns) < least - by.abs() * QUICK
        });
        points.map(|(at, _)| at).collect::<Vec<i64>>()
    };
    let (old, new) = if by > 0.0 { (0, 1) } else { (1, 0) };
    // After the last that is too quick by the line behind.
    let earliest = quick(old, right).last().map_or(within.start, |at| at + 1);
    let first = quick(new, left).into_iter().find(|&at| at >= earliest);
    let latest = first.unwrap_or(within.end);
    if by < 0.0 {
        return first.unwrap_or(earliest);
    }
    // What it was set forward by is missing: no packet is dated then.
    let mut dated: Vec<(i64, i64)> = floors
        .iter()
        .flat_map(|floor| floor.dated.iter().copied())
        .filter(|&(first, last)| last >= within.start && first <= latest)
        .collect();
    dated.sort_unstable();
    // Packets pause by themselves too; the last pause that is long enough is nearest to what shows
    // that the clock was set.
    let mut pause = None;
    let mut until = i64::MAX;
    for (first, last) in dated {
        let is_long = first.saturating_sub(until) as f64 >= by * MISSING;
        if first >= earliest && is_long {
            pause = Some(first);
        }
        until = if until == i64::MAX {
            last
        } else {
            until.max(last)
        };
    }
    pause.unwrap_or(latest)
}

/// Pieces at most.
const PIECES_MAX: usize = 16;
/// Spans of a piece, of which three are where it is split.
const SPANS: usize = 64;
/// Spans at either end of a piece in which it is not split.
const EDGE: usize = 4;
/// Shorter ones hold too few packets, in ns.
const SPAN_MIN_NS: i64 = 2_000_000;
/// The least that must be gained, in ns: less is what stamps and queues do.
const GAIN_MIN_NS: f64 = 50_000.0;
/// Part of what a clock was put forward by that a pause must have.
const MISSING: f64 = 0.9;
/// Part of what a clock was set by that makes a packet too quick.
const QUICK: f64 = 0.1;
/// Part of the most that can be gained which is as good.
const ALIKE: f64 = 0.8;
/// Smallest delays that are the same, in ns.
const NEAR_NS: f64 = 20_000.0;
/// The least by which a clock is set and does not just change its pace, in ns.
const STEP_MIN_NS: f64 = 100_000.0;

#[cfg(test)]
mod tests {
    use crate::path::clock::{ClockEstimate, Heading};
    use crate::path::envelope::Envelopes;

    const SECOND: i64 = 1_000_000_000;
    const MS: i64 = 1_000_000;

    /// Packets of 20 s, 1 ms apart, and how far the second clock is ahead at each. Forward they take
    /// 40 us and a queue that empties now and then, back 10 us and up.
    fn estimate(ahead: impl Fn(i64) -> i64) -> ClockEstimate {
        let mut envelopes = Envelopes::default();
        for step in 0..20_000_i64 {
            let at = step * MS;
            let queue = step * 7919 % 5000 * 1000;
            let back = 10_000 + step % 13 * 1000;
            let ahead = ahead(at);
            envelopes.add(Heading::Forward, at + ahead, ahead + 40_000 + queue, 1500);
            envelopes.add(Heading::Reverse, at + ahead, ahead - back, 60);
        }
        envelopes.estimate([0.0; 2]).unwrap()
    }

    /// The largest error of a time, but for those less than `unsure` from half-way.
    fn error(estimate: &ClockEstimate, ahead: impl Fn(i64) -> i64, unsure: i64) -> i64 {
        (0..20_000_i64)
            .map(|step| step * MS)
            .filter(|at| (at - 10 * SECOND).abs() >= unsure)
            .map(|at| (estimate.clock.aligned(at + ahead(at)) - at).abs())
            .max()
            .unwrap()
    }

    #[test]
    fn a_clock_that_runs_evenly_is_one_piece() {
        let ahead = |at: i64| 3 * SECOND + at / 20_000;
        let estimate = estimate(ahead);
        assert_eq!((estimate.pieces, estimate.steps.len()), (1, 0));
        // Half of 40 us less 10 us, and what the ends of the line are off.
        assert!(error(&estimate, ahead, 0) < 20_000);
    }

    /// From +50 ppm to -50 ppm: a line is off by 250 us somewhere.
    #[test]
    fn a_clock_that_bends_is_followed() {
        let ahead = |at: i64| 3 * SECOND + at.min(20 * SECOND - at) / 20_000;
        let estimate = estimate(ahead);
        assert_eq!((estimate.pieces, estimate.steps.len()), (2, 0));
        let error = error(&estimate, ahead, 0);
        assert!(error < 40_000, "{error}");
        assert!(error as f64 <= estimate.uncertainty_ns.unwrap());
    }

    #[test]
    fn a_clock_that_is_set_forward_is_seen_to_be() {
        let set = |at: i64| if at >= 10 * SECOND { 10 * MS } else { 0 };
        let ahead = |at: i64| 3 * SECOND + at / 20_000 + set(at);
        let estimate = estimate(ahead);
        assert_eq!((estimate.pieces, estimate.steps.len()), (2, 1));
        let step = estimate.steps[0];
        assert!((step.by_ns - 10e6).abs() < 50_000.0, "{step:?}");
        // Nothing is dated within the 10 ms that are missing, so all packets are told apart.
        let error = error(&estimate, ahead, 0);
        assert!(error < 40_000, "{error}");
    }

    #[test]
    fn a_clock_that_is_set_back_is_seen_to_be() {
        let set = |at: i64| if at >= 10 * SECOND { 10 * MS } else { 0 };
        let ahead = |at: i64| 3 * SECOND + at / 20_000 - set(at);
        let estimate = estimate(ahead);
        assert_eq!((estimate.pieces, estimate.steps.len()), (2, 1));
        assert!((estimate.steps[0].by_ns + 10e6).abs() < 50_000.0);
        // 10 ms are dated twice: within these a packet may be taken for one before or after.
        let error = error(&estimate, ahead, 25 * MS);
        assert!(error < 40_000, "{error}");
        assert!(estimate.clock.is_unsure(13 * SECOND + 495_000));
        assert!(!estimate.clock.is_unsure(13 * SECOND + 30 * MS));
    }

    /// For half of the time 3 ms wait forward, and none do back: that is a queue, and no clock.
    #[test]
    fn a_queue_that_stands_is_no_change_of_the_clock() {
        let mut envelopes = Envelopes::default();
        for step in 0..20_000_i64 {
            let (at, ahead) = (step * MS, 3 * SECOND);
            let queue = if step < 10_000 { 0 } else { 3 * MS };
            let jitter = step % 7 * 1000;
            envelopes.add(
                Heading::Forward,
                at + ahead,
                ahead + 40_000 + queue + jitter,
                1500,
            );
            envelopes.add(Heading::Reverse, at + ahead, ahead - 10_000 - jitter, 60);
        }
        assert_eq!(envelopes.estimate([0.0; 2]).unwrap().pieces, 1);
    }
}
