//! What an ACK says about the data it answers: progress, SACK, DSACK, round-trip times.

use super::cover::{Answer, Released, answers_to, is_single};
use super::dsacks::{are_left_over, find_dsack, stream_range};
use super::half::{HalfFlow, REACH_MAX};
use super::in_flight::{Marks, Sent};
use super::ranges::StreamRange;
use super::rtt::is_delay;
use super::window::closes_window;
use crate::decode::{Segment, TcpFlags};
use crate::event::{
    Acked, Class, Direction, Evidence, FlowSink, RttLabel, RttSample, Signal, StreamPart,
};
use crate::time::CaptureTime;

impl HalfFlow {
    /// A segment with ACK set came from the receiver of this direction, `dir`.
    pub(super) fn on_ack<S: FlowSink>(&mut self, dir: Direction, segment: &Segment, sink: &mut S) {
        let Some(unwrapper) = self.unwrapper() else {
            // In a capture that starts mid-flow, before its first data: where the ACK points is unknown.
            if closes_window(segment) {
                sink.signal(dir, segment.at, Signal::ZeroWindow);
            }
            if !segment.sack.as_slice().is_empty() {
                self.keep_early_report(segment);
            }
            return;
        };
        let near = self.una.unwrap_or(self.high);
        let ack = unwrapper.offset(segment.ack, near);
        if !self.strays.is_settled() && self.strays.reach(ack) {
            self.settle_stray(dir, true, sink);
        }
        if ack > self.high + REACH_MAX
            || ack < near - REACH_MAX
            || !self.believes(dir, segment, ack, sink)
        {
            return;
        }
        self.take_ack(dir, segment, ack, sink);
    }

    /// An ACK up to `ack` that is to be believed.
    // Hardly ever from where one was held.
    #[inline(always)]
    pub(super) fn take_ack<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        ack: i64,
        sink: &mut S,
    ) {
        let una_before = self.una;
        let una = una_before.unwrap_or(ack.min(self.high));
        let window_before = self.window.advertised;
        self.note_window(dir, segment, ack, sink);
        self.note_room(segment.at);
        let highest_before = self.board.highest_end();
        let reported_before = self.reported();
        let news = if segment.sack.as_slice().is_empty() {
            if segment.header_cut {
                self.on_cut_ack(segment);
            }
            false
        } else {
            self.sack.are_seen = true;
            self.on_sack(dir, segment, ack, una, sink)
        };
        let moves = ack > una || una_before.is_none();
        let newly = moves.then(|| self.newly_acked(ack));
        if let Some(newly) = newly {
            self.on_progress(dir, segment, ack, una, newly, highest_before, sink);
        } else if ack == una {
            self.on_repeat(dir, segment, window_before, news, sink);
        }
        self.tell_delivered(dir, segment.at, reported_before, newly, sink);
    }

    fn note_window<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        ack: i64,
        sink: &mut S,
    ) {
        let syn = segment.flags.has(TcpFlags::SYN);
        if closes_window(segment) {
            sink.signal(dir, segment.at, Signal::ZeroWindow);
        }
        // What was overtaken on its way has an old window (RFC 9293 section 3.10.7.4).
        if self.una.is_some_and(|una| ack < una) {
            return;
        }
        let scale = if syn { Some(0) } else { self.window.scale };
        if let Some(end) = self.window.take(segment.window, ack, scale) {
            sink.window(dir, segment.at, end);
        }
    }

    /// Enters the SACK blocks (RFC 2018); the first may be a DSACK (RFC 2883 section 4). Whether
    /// the scoreboard learnt of new bytes.
    #[inline(never)]
    fn on_sack<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        ack: i64,
        una: i64,
        sink: &mut S,
    ) -> bool {
        let Some(unwrapper) = self.unwrapper() else {
            return false;
        };
        let floor = una.max(ack);
        let highest_before = self.board.highest_end();
        let blocks = segment.sack.as_slice();
        let bounds = self.sack_bounds(ack);
        let range = |block| stream_range(unwrapper, block, ack, bounds);
        let dsack = find_dsack(blocks, ack, range);
        if let Some(dsack) = dsack {
            sink.signal(dir, segment.at, Signal::Dsack);
            if !(self.was_reported(dsack, ack) || are_left_over(blocks, ack, range)) {
                self.old_copies.on_dsack();
                if self.is_copied_behind(dsack) {
                    self.old_copies.note_copied_behind();
                }
                self.on_arrived_twice(dir, dsack, sink);
            }
        }
        let reported = &blocks[usize::from(dsack.is_some())..];
        if !reported.is_empty() {
            sink.signal(dir, segment.at, Signal::SackBlocks(reported.len() as u8));
        }
        // Nearly always one part, if any.
        let mut first = None;
        let mut others = self.board.take_fresh();
        self.board
            .report(reported, floor, self.packets, range, |part| {
                if first.is_none() {
                    first = Some(part);
                } else {
                    others.push(part);
                }
            });
        let news = first.is_some();
        // What came last is reported first, in three blocks beside timestamps, else in four (RFC 2018 sections 3, 4):
        // where all of them are news, there may be more.
        let most = if segment.timestamps.is_some() { 3 } else { 4 };
        if blocks.len() >= most && usize::from(news) + others.len() >= blocks.len() {
            self.board.note_crowded(una, highest_before);
            self.acks.told = u16::MAX;
        }
        // The first block holds what came last (RFC 2018 section 4), unless it tells what came twice.
        let last = range(blocks[0]).filter(|_| dsack.is_none());
        let is_within = |part: StreamRange| {
            last.is_some_and(|last| last.start <= part.start && part.end <= last.end)
        };
        if let Some(part) = first {
            let came_last = is_within(part) && !others.iter().any(|&other| is_within(other));
            self.on_fresh_sack(dir, segment.at, part, came_last, highest_before, sink);
        }
        if !others.is_empty() {
            let within = others.iter().filter(|&&part| is_within(part)).count();
            let alone = within + usize::from(first.is_some_and(is_within)) == 1;
            for part in others.drain(..) {
                let came_last = alone && is_within(part);
                self.on_fresh_sack(dir, segment.at, part, came_last, highest_before, sink);
            }
        }
        self.board.keep_fresh(others);
        self.amend_unneeded(dir, sink);
        if news {
            self.acks.note_told(segment.at);
            self.tell_holes(segment.at);
            self.note_beyond(segment.at);
        }
        news
    }

    /// The ACK at `at` has reported more by SACK: of which holes that tells the sender.
    #[inline(always)]
    pub(super) fn tell_holes(&mut self, at: CaptureTime) {
        if !self.holes.is_empty()
            && let Some(highest) = self.board.highest_end()
        {
            let clear = 2 * i64::from(self.packet_size.full());
            let recovering = self.repair.goes_on();
            self.holes.tell_below(highest, clear, recovering, at);
        }
    }

    /// Segments inside `part` have just been reported by SACK, at `at`; `came_last`: one of them is what the receiver
    /// answers.
    #[inline(always)]
    pub(super) fn on_fresh_sack<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        part: StreamRange,
        came_last: bool,
        highest_before: Option<i64>,
        sink: &mut S,
    ) {
        sink.sacked(
            dir,
            &StreamPart {
                at,
                start: part.start,
                end: part.end,
            },
        );
        let timing = self.ack_timing(at, highest_before);
        let missed_above = self.missed_from(part.start, part.end);
        for index in self.in_flight.reported(part.start, part.end) {
            let Some(sent) = self.in_flight.get_mut(index) else {
                break;
            };
            let inside = part.start <= sent.start && sent.end() <= part.end;
            if sent.marks.has(Marks::SACKED) {
                continue;
            }
            if !(inside || self.board.covers(sent.start, sent.end())) {
                if sent.end() <= part.end && sent.end() > missed_above {
                    self.sample_last_byte(dir, index, at, sink);
                }
                continue;
            }
            sent.marks.set(Marks::SACKED);
            self.times.reported_latest = self.times.reported_latest.max(Some(sent.at));
            self.acks.add_told(1);
            let sent = if sent.copies > 1 {
                let repeated = *sent;
                self.on_reported_copy(&repeated, timing);
                let Some(sent) = self.in_flight.get_mut(index) else {
                    break;
                };
                sent
            } else {
                sent
            };
            let (emitted_at, id) = (sent.at, sent.id);
            if !self.emissions.is_idle() {
                let effective = at.plus_ns(self.delays.upstream.min_ns().unwrap_or(0));
                let id = self.ids.unwrap_at(emitted_at, id);
                self.emissions.on_delivered(id, effective);
            }
            let single = is_single(sent);
            if single
                && sent.verdict.class == Class::New
                && highest_before.is_some_and(|high| sent.end() <= high)
                && (came_last && sent.start <= part.start && part.end <= sent.end()
                    || !self.board.leaves_out(sent.start, sent.end()))
            {
                sink.signal(dir, at, Signal::ReorderedAtReceiver);
            }
            if sent.marks.has(Marks::SAMPLED) {
                continue;
            }
            sent.marks.set(Marks::SAMPLED);
            if single
                && sent.end() > missed_above
                && !timing.is_of_missed_repeat(sent, &self.delays.downstream, None)
            {
                let (sent_at, row) = (sent.at, sent.row);
                self.old_copies.on_answer(sent_at, at);
                self.sample(dir, at, sent_at, row, false, RttLabel::Sack, sink);
            }
        }
    }

    /// SACK has reported the last byte of the range at `index`, but not all of it: a frame of several packets, of which
    /// others lack.
    #[cold]
    fn sample_last_byte<S: FlowSink>(
        &mut self,
        dir: Direction,
        index: usize,
        at: CaptureTime,
        sink: &mut S,
    ) {
        let sent = self.in_flight.get_mut(index);
        let due = sent.filter(|sent| is_single(sent) && !sent.marks.has(Marks::SAMPLED));
        if let Some(sent) = due {
            sent.marks.set(Marks::SAMPLED);
            let (sent_at, row) = (sent.at, sent.row);
            self.old_copies.on_answer(sent_at, at);
            self.sample(dir, at, sent_at, row, false, RttLabel::Sack, sink);
        }
    }

    /// The cumulative ACK moves from `una` to `ack`; `acked_before` bytes of payload were
    /// acknowledged, none before the first ACK that was seen.
    #[expect(clippy::too_many_arguments, reason = "the state before this ACK")]
    fn on_progress<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        ack: i64,
        una: i64,
        newly: u64,
        highest_before: Option<i64>,
        sink: &mut S,
    ) {
        let at = segment.at;
        let first_ack = self.una.is_none();
        if self.is_repairing() || !self.emissions.is_idle() {
            let tsval = segment.timestamps.map(|ts| ts.value);
            self.emissions.note_progress((at, una), tsval);
        }
        self.una = Some(ack);
        self.strays.on_progress();
        // What passes above may show that its last number was that of a FIN, or that it was not.
        self.steady &= ack <= self.high;
        if self.repair.last.is_timer() {
            let tsval = segment.timestamps.map(|ts| ts.value);
            self.emissions.note_answer(tsval);
        }
        // One that covers data from before the capture tells how far the stream is, too.
        if newly > 0 || first_ack || una < 0 {
            sink.acked(
                dir,
                &Acked {
                    at,
                    bytes: newly,
                    ack,
                },
            );
        }
        if !self.sack.are_seen && self.repair.has_repeated() {
            self.amend_overtaken(dir, at, una, ack, sink);
        }
        let flight = self.in_flight.unacked();
        self.release(dir, segment, ack, una, highest_before, sink);
        // It points at what was reported: the receiver has thrown that away (RFC 2018 section 8), and may have done so
        // with all of it.
        if self.board.holds(ack) && self.board.take_back() {
            self.in_flight.take_back_sack();
            self.times.reported_latest = None;
        }
        self.board.release_below(ack);
        self.in_flight.trim(flight, at);
        self.release_rows(dir, sink);
        self.times.progress_at = Some(at);
        self.count_time(at);
        self.note_repaired(dir, at, sink);
        self.acks.dup_run = 0;
        if !self.holes.is_empty() && self.repair.until().is_some_and(|until| ack < until) {
            // A partial ACK asks for the next hole (RFC 6582 section 3.2).
            self.holes.tell_at(ack, true, at);
        }
        self.repair.on_progress(ack);
    }

    /// Changes the judgement on what the last ACK showed to be unneeded.
    #[inline]
    pub(super) fn amend_unneeded<S: FlowSink>(&mut self, dir: Direction, sink: &mut S) {
        if !self.unneeded.is_empty() {
            self.amend_all_unneeded(dir, sink);
        }
    }

    #[cold]
    fn amend_all_unneeded<S: FlowSink>(&mut self, dir: Direction, sink: &mut S) {
        while let Some((start, evidence)) = self.unneeded.pop() {
            for index in self.in_flight.overlapping(start, start + 1) {
                self.amend(dir, index, evidence, sink);
            }
        }
    }

    /// Whether none of the copies before the latest one of what begins at the left edge, `una`, had come when the ACK
    /// that stopped there was sent, though each had been under way for as long as ACKs take: it would have gone further.
    /// Nor had one come for as long until the latest passed: where a queue made a timer run out in vain, one does.
    fn was_edge_missing(&self, una: i64) -> bool {
        let edge = self.in_flight.nth_unacked(0);
        let edge = edge.filter(|edge| edge.start == una && edge.copies > 1);
        let (Some(edge), Some(stopped_at)) = (edge, self.times.progress_at) else {
            return false;
        };
        let patience_ns = self.delays.downstream.patience_ns();
        let sent_by = stopped_at.plus_ns(-patience_ns);
        edge.at.since(stopped_at) > patience_ns
            && self.in_flight.earlier.of(una).all(|copy| copy.at < sent_by)
    }

    /// Takes what ends at or below `ack` out of flight, and an RTT sample of each where there is one.
    fn release<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        ack: i64,
        una: i64,
        highest_before: Option<i64>,
        sink: &mut S,
    ) {
        let at = segment.at;
        let cover = self.cover_by(segment, ack, una, highest_before);
        let timing = self.ack_timing(at, highest_before);
        let counts_ids = !self.emissions.is_idle();
        let was_edge_missing = self.was_edge_missing(una);
        let edge = self.begin_release(una);
        self.times.released_latest = self.times.latest_released_by(at);
        let mut released = Released::default();
        loop {
            let echoed = self.in_flight.next_with(una, cover.echo);
            let Some((sent, first)) = self.in_flight.release_next_copies(ack) else {
                break;
            };
            // A repeat takes the ranges above it along, which were sent before it.
            if counts_ids {
                released.note_delivered((sent.at, sent.id));
            }
            self.acks.add_told(answers_to(sent));
            let overtaken = self.times.released_latest > Some(sent.at);
            self.times.released_latest = self.times.released_latest.max(Some(sent.at));
            let waited = released.take(sent.at);
            // While the cumulative ACK stands below it, it has not come, however much is left out.
            let comes_now = sent.start <= una || !self.board.leaves_out(sent.start, sent.end());
            if comes_now && cover.shows_reordering(sent) {
                sink.signal(dir, at, Signal::ReorderedAtReceiver);
            }
            let (answer, unneeded) = cover.answer(sent, echoed, waited);
            let answer = answer.or_else(|| released.answer_to_rest(sent));
            let answers_latest = answer
                .as_ref()
                .is_some_and(|answer| answer.sent_at == sent.at);
            let is_part = released.goes_on(sent, answers_latest);
            if sent.copies > 1 && !answers_latest {
                let too_soon = self
                    .delays
                    .is_sooner_than_answers(sent, &first, highest_before);
                self.old_copies.on_released(sent, at, edge, too_soon);
            }
            let once = sent.copies == 1 && !sent.marks.has(Marks::COPIED);
            if answers_latest && !is_single(sent) && self.old_copies.has_copied_behind() {
                // The echo is the repeat's clock, so that brought these bytes: what comes twice is a copy of it.
                sent.marks.set(Marks::COPIED);
            }
            let may_be_needed = answers_latest || was_edge_missing && sent.start == una;
            if unneeded {
                self.unneeded.push((sent.start, Evidence::Dsack));
            } else if timing.is_too_soon_for(sent)
                && !may_be_needed
                && timing.may_answer_earlier(sent, &first, &self.delays.downstream)
            {
                self.unneeded.push((sent.start, Evidence::Timing));
            }
            if sent.marks.has(Marks::SAMPLED) {
                continue;
            }
            sent.marks.set(Marks::SAMPLED);
            let is_late = |sent: &Sent| {
                let echo = segment.timestamps.map(|ts| ts.echo);
                let delay = &self.delays.downstream;
                is_single(sent) && timing.is_of_missed_repeat(sent, delay, echo)
            };
            if let Some(answer) = answer.filter(|_| !is_part && !is_late(sent)) {
                let of_repeat = answers_latest && !is_single(sent);
                let exact = sent.exact_ack() == ack && once && !overtaken;
                self.take_answer(dir, at, &answer, exact, of_repeat, sink);
            }
        }
        self.amend_unneeded(dir, sink);
        if !self.superseded.is_empty() {
            let early = timing
                .soonest_ns
                .map(|ns| (at.plus_ns(-ns / 2), at.plus_ns(ns / 2)));
            self.amend_superseded(dir, &cover, early, sink);
        }
        let covered = self.note_released(released.ranges);
        if !cover.told_of_hole {
            self.acks.last_cover = covered;
        } else if cover.edge_was_overtaken && self.acks.covers_overtakers(released.ranges) {
            sink.signal(dir, at, Signal::ReorderedAtReceiver);
        }
        if let Some(latest) = released.delivered {
            self.note_delivered(latest, at);
            self.emissions.on_ack(ack >= self.high);
        }
    }

    /// Takes the RTT sample of a segment that an ACK which passes at `at` answers; `of_repeat`: its latest copy, a repeat.
    #[inline(always)]
    fn take_answer<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        answer: &Answer,
        exact: bool,
        of_repeat: bool,
        sink: &mut S,
    ) {
        self.old_copies.on_answer(answer.sent_at, at);
        self.sample(
            dir,
            at,
            answer.sent_at,
            answer.row,
            exact,
            answer.label,
            sink,
        );
        // Nor is there another one of what a repeat brought for the first time.
        if of_repeat
            && let Some(rest) = self.in_flight.nth_unacked_mut(0)
            && rest.marks.has(Marks::CONTINUES)
        {
            rest.marks.set(Marks::SAMPLED);
        }
    }

    /// The cumulative ACK stays where it is.
    fn on_repeat<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        window_before: Option<u16>,
        news: bool,
        sink: &mut S,
    ) {
        let outstanding = self.una.is_some_and(|una| self.high > una);
        let pure = segment.payload_len == 0
            && !segment
                .flags
                .any(TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST));
        let same_window = window_before == Some(segment.window);
        let answers_old = pure
            && same_window
            && !news
            && !self.old_copies.is_empty()
            && self.on_answer_to_old(dir, segment, sink);
        if !(outstanding && pure) {
            return;
        }
        if !self.sack.are_seen {
            self.times.stood_at = segment.at;
        }
        if same_window {
            sink.signal(dir, segment.at, Signal::DupAck);
        }
        if same_window || news {
            self.acks.dup_run = self.acks.dup_run.saturating_add(1);
            self.board.note_echo(segment.timestamps);
            self.acks.note_told(segment.at);
            if !news && let Some(una) = self.una {
                self.holes.tell_at(una, false, segment.at);
            }
            if !self.sack.are_seen && !self.emissions.is_idle() {
                self.note_overtaking(segment.at);
            }
            if !(self.sack.are_seen || answers_old) {
                self.note_held(segment.at);
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one sample, from two callers"
    )]
    #[inline(always)]
    pub(super) fn sample<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        sent_at: CaptureTime,
        row: u32,
        exact: bool,
        label: RttLabel,
        sink: &mut S,
    ) {
        let rtt_ns = at.since(sent_at);
        // A capture clock that stepped back makes no delay, nor does a record without a time.
        if !is_delay(rtt_ns) {
            return;
        }
        self.delays.downstream.add(rtt_ns);
        sink.rtt(
            dir,
            &RttSample {
                at,
                sent_at,
                rtt_ns,
                exact,
                label,
            },
        );
        if S::SEGMENTS
            && let Some(row) = self.rows.get_mut(row)
        {
            row.rtt = Some((rtt_ns, label));
        }
    }
}
