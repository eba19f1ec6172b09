//! What a cumulative ACK covers, and which copy of it is answered.

use super::earlier_copies::EarlierCopy;
use super::half::HalfFlow;
use super::ids::IdCounter;
use super::in_flight::{Marks, Sent};
use super::rtt::{Estimate, later};
use crate::decode::Segment;
use crate::event::{Class, RttLabel};
use crate::time::CaptureTime;

/// Whether the sender emitted these bytes once, as far as is known (Karn's rule).
pub(super) fn is_single(sent: &Sent) -> bool {
    sent.copies == 1 && !sent.marks.has(Marks::RESENT)
}

/// How many ACKs the copies of `sent` that passed here can have asked for, besides those that told of it by SACK: each
/// that came has one, and a second by what the network copied.
#[inline]
pub(super) fn answers_to(sent: &Sent) -> u16 {
    let copied = u16::from(sent.marks.has(Marks::COPIED));
    let told = u16::from(sent.marks.has(Marks::SACKED));
    u16::from(sent.copies) + copied - told
}

/// When an ACK comes: what that tells of the copy that it answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckTiming {
    /// When it passes.
    pub(super) at: CaptureTime,
    /// The soonest that any ACK ever came.
    pub(super) soonest_ns: Option<i64>,
    /// Up to where SACK had reported data.
    pub(super) highest_before: Option<i64>,
}

impl AckTiming {
    /// Whether it comes too soon for the latest copy of a segment: then it answers an earlier one, and the latest was
    /// not needed.
    #[inline]
    pub(super) fn is_too_soon_for(&self, sent: &Sent) -> bool {
        // Half is let off: a queue that has stood since the flow began may drain. What is as long before the copy as
        // that was captured in disorder; before that the clock stepped back, and nothing is known.
        let since_ns = self.at.since(sent.at).unsigned_abs();
        sent.copies >= 2
            && self
                .soonest_ns
                .is_some_and(|ns| since_ns < ns.unsigned_abs() / 2)
    }

    /// Whether a segment that passed once, of which SACK had shown that it was overtaken, is answered so late that this
    /// capture missed a repeat of it: half as late again as ACKs take, `delay`, with their variations. Not where the ACK
    /// echoes its own clock, `echo`.
    #[inline(always)]
    pub(super) fn is_of_missed_repeat(
        &self,
        sent: &Sent,
        delay: &Estimate,
        echo: Option<u32>,
    ) -> bool {
        self.highest_before > Some(sent.end()) && self.is_late_for(sent, delay, echo)
    }

    #[cold]
    fn is_late_for(&self, sent: &Sent, delay: &Estimate, echo: Option<u32>) -> bool {
        self.at.since(sent.at) > delay.patience_ns() / 2 * 3 && echo != Some(sent.tsval)
    }

    /// Whether it may answer an earlier one, of which `first` was the first; `delay`: that of ACKs. Where SACK had
    /// reported data above it, that copy was overtaken, and so it is late, by no more than twice the time that ACKs take,
    /// or lost: a queue that has stood since the flow began may have drained since. Of more than two copies, it may
    /// answer one in between.
    #[cold]
    pub(super) fn may_answer_earlier(
        &self,
        sent: &Sent,
        first: &EarlierCopy,
        delay: &Estimate,
    ) -> bool {
        let overtaken = self.highest_before > Some(sent.end());
        sent.copies > 2 || !overtaken || self.at.since(first.at) <= 2 * delay.patience_ns()
    }
}

/// What a cumulative ACK has released so far.
#[derive(Default)]
pub(super) struct Released {
    pub(super) ranges: u32,
    latest_at: Option<CaptureTime>,
    /// When what was sent last of it passed, and its id.
    pub(super) delivered: Option<(CaptureTime, u16)>,
    /// When the repeat passed that the ACK answers and that goes on in the next range.
    goes_on_from: Option<CaptureTime>,
}

impl Released {
    /// A packet that passed when and with which id, as far as ids count.
    #[inline]
    pub(super) fn note_delivered(&mut self, emitted: (CaptureTime, u16)) {
        if self
            .delivered
            .is_none_or(|latest| IdCounter::is_later(emitted, latest))
        {
            self.delivered = Some(emitted);
        }
    }

    /// One range more, whose latest copy passed at `sent_at`. Whether a hole held it back: it is acknowledged with what
    /// closed that, while what comes later has an ACK of its own.
    #[inline]
    pub(super) fn take(&mut self, sent_at: CaptureTime) -> bool {
        self.ranges += 1;
        let waited = self.latest_at > Some(sent_at);
        self.latest_at = self.latest_at.max(Some(sent_at));
        waited
    }

    /// What is answered of a range that goes on the repeat which the range before it was answered by.
    #[inline]
    pub(super) fn answer_to_rest(&self, sent: &Sent) -> Option<Answer> {
        let is_rest = self.goes_on_from == Some(sent.at) && sent.marks.has(Marks::CONTINUES);
        is_rest.then(|| Answer::to_repeat(sent))
    }

    /// Whether the repeat that is answered goes on in the next range: one sample a segment, of its last byte (METRICS.md
    /// R1).
    #[inline]
    pub(super) fn goes_on(&mut self, sent: &Sent, answers_latest: bool) -> bool {
        let is_part = answers_latest && sent.marks.has(Marks::GOES_ON);
        self.goes_on_from = is_part.then_some(sent.at);
        is_part
    }
}

/// The copy of a segment that an ACK answers.
pub(super) struct Answer {
    pub(super) sent_at: CaptureTime,
    /// Its row, for `--segments`.
    pub(super) row: u32,
    pub(super) label: RttLabel,
}

impl Answer {
    /// To the latest copy of a segment, a repeat.
    pub(super) fn to_repeat(sent: &Sent) -> Self {
        Self {
            sent_at: sent.at,
            row: sent.row,
            label: RttLabel::Recovery,
        }
    }
}

/// A cumulative ACK that covers new segments, and what was known when it came.
pub(super) struct Cover {
    pub(super) ack: i64,
    pub(super) una: i64,
    pub(super) echo: Option<u32>,
    /// The bytes, from where to where, that the receiver had got before what made it send the ACK (RFC 2883).
    pub(super) again: Option<(i64, i64)>,
    /// Without SACK: when the left edge had passed, and what came in one burst with it, where the ACK shows that the
    /// receiver held data above it, so that it acknowledged the edge at once (RFC 5681 section 4.2).
    pub(super) edge_at: Option<CaptureTime>,
    /// What passed from then on and has a later clock than the echo had not come: the ACK answers earlier copies of it.
    pub(super) nothing_since: Option<CaptureTime>,
    pub(super) highest_sacked: Option<i64>,
    pub(super) sacks: bool,
    pub(super) recovering: bool,
    pub(super) told_of_hole: bool,
    /// Without SACK, when the last passed that the receiver may still hold, above what it asked for next.
    held_by: CaptureTime,
    /// When an ACK passed last that did not move, where SACK does not tell: as for what comes while a hole is open.
    pub(super) stood_at: CaptureTime,
    /// The echo is the left edge's own clock, so that one came in its turn.
    pub(super) proves_edge: bool,
    /// When that copy of the left edge passed of which alone the echo is the clock: nothing that passed later and was not
    /// reported waited for another copy of it.
    pub(super) in_turn_since: Option<CaptureTime>,
    /// Without SACK, duplicate ACKs told that the left edge, which was sent once, had been overtaken.
    pub(super) edge_was_overtaken: bool,
    /// What ends at or below this offset has other ACKs than this one, or was acknowledged before it passed.
    pub(super) answered_to: i64,
    /// It covers more than two segments.
    pub(super) stretch: bool,
}

impl Cover {
    /// Whether a segment arrived after others that were sent after it, without a second copy.
    pub(super) fn shows_reordering(&self, sent: &Sent) -> bool {
        is_single(sent)
            && sent.verdict.class == Class::New
            && !sent.marks.has(Marks::SACKED)
            && self.highest_sacked.is_some_and(|high| sent.end() < high)
    }

    /// Whether a segment did not wait for what below it was sent after it.
    #[inline(never)]
    fn shows_no_wait(&self, sent: &Sent, at_edge: bool) -> bool {
        let told_of_hole = self.told_of_hole || (!self.sacks && self.stood_at > sent.at);
        let came_in_turn = (self.sacks || !told_of_hole)
            && self.in_turn_since.is_some_and(|since| sent.at >= since);
        // Where the edge came in its turn and there was no sign of a hole, so did what came with it.
        came_in_turn || self.proves_edge && (at_edge || !told_of_hole)
    }

    /// Whether a repeat of what lies above the left edge, which passed at `sent_at` with the clock `tsval`, did not bring
    /// about what covers it.
    pub(super) fn is_not_due_to(&self, sent_at: CaptureTime, tsval: u32) -> bool {
        let since = self.edge_at.or(self.nothing_since);
        since.is_some_and(|since| sent_at >= since)
            && self.echo.is_some_and(|echo| later(tsval, echo))
    }

    /// Which copy of a segment is answered, and whether a repeat of it was not needed. `echoed`: the only copy that had
    /// the timestamp of the echo. `waited`: something below it was sent after it.
    pub(super) fn answer(
        &self,
        sent: &Sent,
        echoed: Option<EarlierCopy>,
        waited: bool,
    ) -> (Option<Answer>, bool) {
        if sent.end() <= self.answered_to {
            return (None, false);
        }
        let at_edge = sent.start <= self.una;
        if is_single(sent) {
            // Without SACK a segment that was held back cannot be told from one that came last;
            // with it, what was held back has been reported, as nearly all has that waited.
            let held = sent.marks.has(Marks::SACKED)
                || ((self.told_of_hole || sent.at <= self.held_by) && !at_edge && !self.sacks)
                || (waited && !self.shows_no_wait(sent, at_edge));
            if held {
                return (None, false);
            }
            let label = if self.recovering {
                RttLabel::Recovery
            } else if self.stretch {
                RttLabel::StretchAck
            } else if sent.exact_ack() == self.ack {
                RttLabel::Clean
            } else {
                RttLabel::DelayedAck
            };
            return (
                Some(Answer {
                    sent_at: sent.at,
                    row: sent.row,
                    label,
                }),
                false,
            );
        }
        // The echo is that of the segment at the left edge (RFC 7323 section 4.3), so it tells
        // which copy of that one was answered.
        let Some(echo) = self.echo.filter(|_| at_edge) else {
            // What was repeated after it came later still, and found its bytes there.
            return (None, self.is_not_due_to(sent.at, sent.tsval));
        };
        let older = later(sent.tsval, echo);
        // What answers a copy that came again echoes the clock of the one before, whose own ACK was lost.
        let is_again = self
            .again
            .is_some_and(|(start, end)| start < sent.end() && sent.start < end);
        let answered =
            echoed.filter(|copy| (older || echo == sent.tsval) && !(is_again || copy.is_sampled));
        let answer = answered.map(|copy| Answer {
            sent_at: copy.at,
            row: copy.row,
            label: RttLabel::Recovery,
        });
        (answer, older)
    }
}

impl HalfFlow {
    /// An ACK passes at `at`, before which SACK had reported data up to `highest_before`.
    #[inline]
    pub(super) fn ack_timing(&self, at: CaptureTime, highest_before: Option<i64>) -> AckTiming {
        AckTiming {
            at,
            soonest_ns: self.delays.downstream.min_ns(),
            highest_before,
        }
    }

    /// What an ACK of `ack` is known to cover, and what was known before it.
    pub(super) fn cover_by(
        &self,
        segment: &Segment,
        ack: i64,
        una: i64,
        highest_before: Option<i64>,
    ) -> Cover {
        let edge = self.in_flight.nth_unacked(0);
        // Whichever copy of the edge came, its clock is no older than that of the first (RFC 7323 section 4.3): some
        // receivers echo nothing, or one time for ever, or acknowledge a FIN before they take that clock.
        let is_stale = |edge: &Sent, echo: u32| {
            edge.start <= una && later(self.in_flight.first_copy(edge).tsval, echo)
        };
        // Some take no clock older than the newest that came: that of a repeat which others overtook, which SACK reports.
        let is_overtaken = |edge: &Sent, echo: u32| {
            edge.copies > 1 && self.board.echoes(echo) && self.times.reported_latest > Some(edge.at)
        };
        let tells = |echo: &u32| {
            edge.is_none_or(|edge| {
                let is_doubtful = edge.marks.has(Marks::OLD_ACK) || is_stale(edge, *echo);
                edge.tsval == *echo || !(is_doubtful || is_overtaken(edge, *echo))
            })
        };
        let echo = segment.timestamps.map(|ts| ts.echo).filter(tells);
        let recovering = self.repair.until().is_some_and(|until| una < until);
        let told_of_hole = self.acks.dup_run > 0;
        let single_edge = edge.filter(|edge| is_single(edge));
        let in_turn_since = self.edge_in_turn(una, echo);
        // Its latest copy may share its clock with another one.
        let echoes_latest =
            || edge.is_some_and(|edge| edge.start <= una && echo == Some(edge.tsval));
        let echoes_edge = in_turn_since.is_some() || echoes_latest();
        let proves_edge = in_turn_since.is_some() && single_edge.is_some();
        // What was acknowledged before it passed has its ACK behind it: the capture has them in the
        // wrong order, or the bytes came another way.
        let answered = self.times.progress_at.map_or(i64::MIN, |_| una);
        let is_answered = |&place: &usize| {
            let sent = self.in_flight.nth_unacked(place);
            sent.is_some_and(|sent| sent.end() <= answered)
        };
        let passed = (0..self.in_flight.unacked())
            .take_while(is_answered)
            .count();
        let missed_above = if echoes_edge {
            i64::MIN
        } else {
            self.missed_from(una, ack)
        };
        Cover {
            ack,
            una,
            echo,
            again: self.told_again(segment, ack),
            edge_at: edge
                .filter(|edge| {
                    !self.sack.are_seen
                        && edge.start <= una
                        && ack > una + 2 * i64::from(self.packet_size.largest_payload)
                })
                .map(|edge| {
                    // What came in one burst with it may have been acknowledged with it, late, by the clock of the first.
                    let is_older = echo.is_some_and(|echo| later(edge.tsval, echo));
                    let burst_ns = if is_older { 0 } else { self.burst_ns() };
                    edge.at.plus_ns(burst_ns)
                }),
            nothing_since: self.nothing_since(
                ack,
                edge,
                echo,
                in_turn_since.filter(|_| recovering),
            ),
            highest_sacked: highest_before,
            sacks: self.sack.are_seen,
            recovering,
            told_of_hole,
            held_by: self.held_by(),
            stood_at: self.times.stood_at,
            proves_edge,
            in_turn_since,
            edge_was_overtaken: told_of_hole
                && !recovering
                && !self.sack.are_seen
                && single_edge.is_some_and(|edge| edge.verdict.class == Class::New),
            answered_to: answered.max(missed_above),
            stretch: self
                .in_flight
                .nth_unacked(passed + 2)
                .is_some_and(|third| third.end() <= ack),
        }
    }

    /// When that copy of the left edge, at `una`, passed which alone had the clock of the `echo`.
    fn edge_in_turn(&self, una: i64, echo: Option<u32>) -> Option<CaptureTime> {
        let edge = self.in_flight.nth_unacked(0)?;
        if is_single(edge) {
            return (edge.start <= una && echo == Some(edge.tsval)).then_some(edge.at);
        }
        self.in_flight.next_with(una, echo).map(|copy| copy.at)
    }

    /// From when on nothing that passed had come when the receiver sent an ACK of `ack` with the `echo` of the copy of the
    /// left edge that passed at `edge_at`. It had sent none since that came, or the next one to come in its turn would
    /// have set the echo (RFC 7323 section 4.3), and it sends one at once when a copy of the edge comes again, or what lies
    /// above a hole (RFC 5681 section 4.2): neither had come.
    fn nothing_since(
        &self,
        ack: i64,
        edge: Option<&Sent>,
        echo: Option<u32>,
        edge_at: Option<CaptureTime>,
    ) -> Option<CaptureTime> {
        let (edge, echo, edge_at) = (edge?, echo?, edge_at?);
        if later(edge.tsval, echo) {
            let mut repeats = self.in_flight.earlier.of(edge.start).map(|copy| copy.at);
            return repeats.find(|&at| at > edge_at).or(Some(edge.at));
        }
        let topmost = self.in_flight.overlapping(ack - 1, ack).start;
        let topmost = self.in_flight.get(topmost)?;
        let came_in_turn =
            is_single(topmost) && topmost.at >= edge_at && topmost.start > edge.start;
        came_in_turn.then_some(topmost.at)
    }

    /// What the DSACK of an ACK of `ack` tells, if it has one: it comes first, and lies below (RFC 2883 section 4).
    fn told_again(&self, segment: &Segment, ack: i64) -> Option<(i64, i64)> {
        let first = segment.sack.as_slice().first()?;
        let unwrapper = self.unwrapper()?;
        let (start, end) = (
            unwrapper.offset(first.start, ack),
            unwrapper.offset(first.end, ack),
        );
        (start < end && end <= ack).then_some((start, end))
    }

    /// Where the highest bytes begin that an ACK or SACK for `start..end` covers and this capture never saw,
    /// where they are more than a receiver leaves unanswered (RFC 5681 section 4.2): it lost their ACKs,
    /// and with them most likely those for what lies below.
    #[inline(always)]
    pub(super) fn missed_from(&self, start: i64, end: i64) -> i64 {
        // Nearly always.
        if end <= self.high && self.holes.are_below(start) {
            return i64::MIN;
        }
        let answered_at_once = 2 * i64::from(self.packet_size.full());
        // Nearly always so few are covered at all.
        if end - start <= answered_at_once {
            return i64::MIN;
        }
        if end - self.high > answered_at_once {
            return self.high;
        }
        let hole = self.holes.last_wide(start, end, answered_at_once);
        hole.unwrap_or(i64::MIN)
    }
}
