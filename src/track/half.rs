//! One direction of a connection, as its data's sender.

use thin_vec::ThinVec;

use super::copies::{Superseded, WhichCopy, sent_of};
use super::cut_acks::SackReports;
use super::delays::Delays;
use super::emissions::{Emissions, Timer};
use super::higher::Told;
use super::ids::{IdCounter, Step};
use super::in_flight::{InFlight, Marks};
use super::last_repeat::LastRepeat;
use super::latest_acks::LatestAcks;
use super::limits::Limits;
use super::marking::Marking;
use super::old_copies::OldCopies;
use super::origin::Origin;
use super::packet_size::PacketSize;
use super::ranges::{Hole, Holes};
use super::repair::{Last, Repair};
use super::rows::Rows;
use super::rtt::{Echoes, OwnEcho};
use super::scoreboard::Scoreboard;
use super::seen_acks::SeenAcks;
use super::set_back::DatedBack;
use super::strays::Strays;
use super::telling::Taken;
use super::times::Times;
use super::window::Window;
use crate::decode::Segment;
use crate::event::{
    Acked, Class, Confidence, Direction, Evidence, FlowSink, LossPlace, Reason, Signal, StreamPart,
    Verdict,
};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// Farther from the highest byte than this, in either direction, a segment cannot belong to the
/// stream: RFC 7323 section 2.3 bounds windows to 2^30 bytes.
pub(super) const REACH_MAX: i64 = 1 << 30;

/// State of one direction: what its sender emitted as seen here, and what the peer said about it.
#[derive(Clone, Debug, Default)]
pub(super) struct HalfFlow {
    // The stream.
    pub(super) origin: Origin,
    /// A SYN told it.
    pub(super) has_syn: bool,
    /// Payload was seen, or a FIN that comes after some.
    pub(super) sent_data: bool,
    /// The last data was the stream's, no FIN came after it, and no ACK or SACK tells of anything above it, or may: the
    /// quiet path never changes that.
    pub(super) steady: bool,
    /// Highest cumulative ACK; one beyond the last payload byte once the FIN is acknowledged.
    pub(super) una: Option<i64>,
    /// Offset after the highest payload byte seen.
    pub(super) high: i64,
    /// Offset of the FIN: just after the last payload byte.
    pub(super) fin: Option<i64>,
    pub(super) unique_bytes: u64,
    pub(super) holes: Holes,
    pub(super) in_flight: InFlight,
    pub(super) rows: Rows,
    pub(super) strays: Strays,

    // Its packets.
    pub(super) packets: u64,
    pub(super) packet_size: PacketSize,
    pub(super) times: Times,
    pub(super) dated_back: DatedBack,
    pub(super) ids: IdCounter,
    /// What skipped ids tell of packets that never came here.
    pub(super) emissions: Emissions,
    /// The peer has sent something since this sender's last packet: an ACK may be under way.
    pub(super) owes_ack: bool,
    /// What the packet that is judged echoes.
    pub(super) own_echo: OwnEcho,
    pub(super) seen_acks: SeenAcks,
    pub(super) marking: Marking,

    // Its receiver.
    pub(super) window: Window,
    pub(super) sack: SackReports,
    pub(super) board: Scoreboard,
    pub(super) acks: LatestAcks,

    // The path.
    pub(super) echoes: Echoes,
    pub(super) delays: Delays,

    // Repeats.
    pub(super) repair: Repair,
    /// Ranges whose latest copy the last ACK showed to be unneeded: empty between ACKs.
    pub(super) unneeded: ThinVec<(i64, Evidence)>,
    /// Repeats that were repeated themselves and are not acknowledged.
    pub(super) superseded: ThinVec<Superseded>,
    pub(super) old_copies: OldCopies,

    // All of it.
    pub(super) limits: Limits,
    /// Nothing is missing, being repaired or in doubt, as was found out since the general path last
    /// passed: see [`is_calm`](Self::is_calm).
    pub(super) calm: bool,
}

impl HalfFlow {
    /// Payload bytes covered by the highest cumulative ACK, counted from offset 0 (METRICS.md C5).
    pub(super) fn acked_bytes(&self) -> Option<u64> {
        self.una.map(|una| self.payload_below(una))
    }

    /// Payload bytes that an ACK of `ack` covers and none before it did.
    #[inline]
    pub(super) fn newly_acked(&self, ack: i64) -> u64 {
        self.payload_below(ack)
            .saturating_sub(self.acked_bytes().unwrap_or(0))
    }

    /// Data or a FIN passed, before which `told` bytes were acknowledged: what was taken for a FIN's number was a byte
    /// after all, or the other way round.
    #[cold]
    fn tell_acked_anew<S: FlowSink>(&mut self, dir: Direction, told: u64, sink: &mut S) {
        let (Some(ack), Some(at)) = (self.una, self.times.progress_at) else {
            return;
        };
        let acked_bytes = self.payload_below(ack);
        let bytes = acked_bytes.saturating_sub(told);
        if bytes > 0 {
            sink.acked(dir, &Acked { at, bytes, ack });
        } else {
            sink.acked_less(dir, at, told - acked_bytes);
        }
    }

    /// The same, where that is so; `told_before` is `None` where it cannot be.
    #[inline]
    pub(super) fn amend_acked<S: FlowSink>(
        &mut self,
        dir: Direction,
        told_before: Option<u64>,
        sink: &mut S,
    ) {
        if let Some(told) = told_before
            && self.acked_bytes() != Some(told)
        {
            self.tell_acked_anew(dir, told, sink);
        }
    }

    /// Payload bytes below `ack`, without the number of the FIN.
    #[inline]
    pub(super) fn payload_below(&self, ack: i64) -> u64 {
        let end = match self.fin {
            Some(fin) => ack.min(fin),
            None => ack - i64::from(self.takes_unseen_fin(ack)),
        };
        end.max(0) as u64
    }

    /// One number above all that was seen is most likely that of a FIN that was not.
    #[inline]
    fn takes_unseen_fin(&self, ack: i64) -> bool {
        self.fin.is_none() && ack == self.high + 1
    }

    /// Bytes in flight (METRICS.md I1); `None` before the first ACK, or where what was reported above all that was seen
    /// lies in very many pieces.
    #[inline]
    pub(super) fn in_flight_bytes(&self) -> Option<u64> {
        let una = self.una?;
        // What was reported from above the highest byte seen is the FIN, or never passed here.
        let beyond = match self.board.highest_end() {
            Some(end) if end > self.high => self.board.bytes_from(self.high)?,
            _ => 0,
        };
        let reported = self.board.bytes() - beyond;
        Some(((self.high - una).max(0) as u64).saturating_sub(reported))
    }

    /// Whether the stream is known to begin at `number`: one after its SYN's.
    pub(super) fn begins_at(&self, number: Seq) -> bool {
        self.unwrapper()
            .is_some_and(|unwrapper| unwrapper.base() == number)
    }

    /// Takes note of a SYN of this direction: its data begins one after `isn`.
    pub(super) fn on_syn(&mut self, isn: Seq, at: CaptureTime) {
        // Once acknowledged, the number stands: a repeat changes nothing, and one with another
        // number is a late answer of another host or to another attempt.
        if self.sent_data || self.una.is_some() {
            // Which copy will be answered nobody knows: the one with the data may have been lost.
            if self.una.is_none()
                && let Some(sent) = self.in_flight.get_mut(0)
            {
                let (silence_ns, len) = (at.since(sent.at), sent.len);
                let came_with_it = sent.marks.take(Marks::ON_SYN);
                if came_with_it && silence_ns > self.delays.run_out_ns() {
                    // The timer of a SYN gives up its data, too, which is sent again once a repeat of the SYN is
                    // answered (RFC 7413 section 4.1.3).
                    self.timed_out(at, len);
                    self.repair.extend_to(self.high);
                }
            }
            return;
        }
        self.has_syn = true;
        self.origin = Origin::at(isn.plus(1));
        self.una = None;
    }

    /// A segment with payload passed that begins at `start`.
    #[inline]
    pub(super) fn on_data<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        start: i64,
        step: Step,
        sink: &mut S,
    ) {
        let len = segment.payload_len;
        let end = start + i64::from(len);
        let is_higher = end > self.high;
        let told = if self.steady {
            None
        } else {
            self.acked_bytes()
        };
        if is_higher && self.is_answered() {
            self.note_pause(dir, segment.at, self.limits.is_unheard(), sink);
        }
        // Data above a FIN shows that it was none of this stream.
        self.fin = self.fin.filter(|&fin| end <= fin);
        if !self.sent_data {
            self.on_first_data(segment, start);
        }
        if self.repair.timeout.is_some() {
            self.note_lost_edge(start, segment.at, step);
        }
        if start < self.high {
            self.emissions.take_piece();
            self.doubt_timeout(dir, (start, end), segment.at, sink);
        }
        let taken = if start >= self.high {
            self.on_new(dir, segment, start, end, step, sink)
        } else if end > self.high {
            self.on_partly_new(segment, start, end)
        } else {
            self.on_old(dir, segment, (start, end), step, sink)
        };
        let verdict = taken.verdict;
        self.unique_bytes += u64::from(taken.unique_len);
        self.packet_size.note(len);
        let fills = !matches!(
            verdict.class,
            Class::Duplicate | Class::KeepAlive | Class::WindowProbe
        );
        if fills && self.window.ends_at(end) {
            sink.signal(dir, segment.at, Signal::WindowFull);
        }
        if verdict.class == Class::Retransmission && !verdict.is_of_refused(start) {
            self.on_repair_packet(segment.at, (start, end), &taken, is_higher);
        } else if verdict.class != Class::Duplicate {
            self.repair.last_repeat = LastRepeat::NONE;
        }
        match verdict.class {
            Class::KeepAlive => sink.signal(dir, segment.at, Signal::KeepAlive),
            Class::WindowProbe => sink.signal(dir, segment.at, Signal::WindowProbe),
            _ => {}
        }
        if taken.repeated_len == 0 || verdict.class != Class::New {
            self.marking.note_data(segment, verdict);
        }
        if taken.lost_upstream {
            self.tell_lost_upstream(dir, 1, sink);
        }
        if taken.lost_downstream > 0 {
            let packets = taken.lost_downstream.cast_signed();
            sink.lost(dir, LossPlace::Downstream, packets);
        }
        self.report(dir, segment, start, taken, sink);
        // A copy that the network made is nothing that the sender did.
        if verdict.class != Class::Duplicate {
            self.times.data_at = Some(segment.at);
        }
        self.amend_acked(dir, told, sink);
        let is_beyond = self.note_seen_beyond() || self.una > Some(self.high);
        self.steady = self.fin.is_none() && !is_beyond && self.strays.is_settled();
        self.note_room(segment.at);
    }

    /// The first payload that is seen begins at `start`.
    fn on_first_data(&mut self, segment: &Segment, start: i64) {
        self.sent_data = true;
        // Where the handshake was seen, the first data may not have been.
        self.high = 0;
        if start <= 0 && !self.has_syn {
            self.enter_early_report();
            // What came before the capture began was not seen, and may still turn up.
            self.holes
                .open(Hole::new(start - REACH_MAX, start, segment, self.packets));
        }
    }

    /// A packet passed at `at` that repairs `start..end`; `is_higher`: it ended above the highest byte seen.
    fn on_repair_packet(
        &mut self,
        at: CaptureTime,
        (start, end): (i64, i64),
        taken: &Taken,
        is_higher: bool,
    ) {
        self.repair.last_repeat = LastRepeat::up_to(end, self.high);
        self.repair.note_repeated();
        if taken.unique_len > 0 && !is_higher {
            self.emissions.on_repeat();
        }
        let timeout = taken.verdict.reason == Some(Reason::Timeout);
        let begins = !self.repair.goes_on() || (timeout && Some(start) <= self.una);
        self.emissions.note_repeat(end, begins);
        self.note_repair(at, end, timeout);
        self.note_unheard(at, is_higher);
        self.repair.extend_to(self.high);
        if taken.verdict.reason == Some(Reason::Fast) {
            self.repair.note_asked(start, end, self.una);
        }
        if taken.verdict.reason != Some(Reason::TailProbe) {
            self.repair.end_probe();
        }
        if self.ids.counts() && self.emissions.unseen_new() > 0 {
            self.repair
                .put_off_probes(self.reached((end - start) as u32));
        }
    }

    /// Payload at or above the highest byte seen.
    fn on_new<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        start: i64,
        end: i64,
        step: Step,
        sink: &mut S,
    ) -> Taken {
        let len = segment.payload_len;
        let skips = step.skipped() > 0;
        let goes_on = start == self.high;
        let in_pieces = self.goes_on_in_pieces(dir, segment, start, sink);
        let unexplained = skips
            && goes_on
            && self.has_nothing_missing()
            && !(self.repair.is_of_tail || self.owes_ack || self.repair.last == Last::Probe);
        // Of who counts for this connection for certain they may be those of a tail that was lost.
        if unexplained && !self.ids.is_confirmed() {
            self.ids.doubt();
        }
        if goes_on {
            self.doubt_timeout(dir, (start, end), segment.at, sink);
            if self.repair.last.is_timer() && !in_pieces {
                self.doubt_timer(dir, segment, step, sink);
            }
        } else {
            self.explain_left_out(start);
            self.give_up_left_out(start);
            self.open_hole(dir, segment, start, sink);
        }
        let repairs_to = self.repairs_to();
        let (verdict, how) = self.judge_higher(segment, (start, end), step);
        let repeats = verdict.class == Class::Retransmission;
        // It is told when it is known that ids count.
        let is_told = how != Told::Order;
        let is_early = repeats && !is_told && self.emissions.is_early();
        if is_early {
            self.hold_early(segment.at, start, end, verdict);
        }
        let verdict = if is_early { Verdict::NEW } else { verdict };
        let is_new = verdict == Verdict::NEW;
        if is_new && self.repair.timeout.is_some() {
            self.take_back_gone_on(segment, end);
        }
        if is_new && unexplained && self.ids.is_confirmed() {
            self.ids.doubt();
        }
        let repeats = repeats && !(is_early && self.emissions.is_idle());
        let is_asked = start < repairs_to || self.goes_on_repairing(segment.at, start);
        let is_timer = repeats && !is_asked && !is_told && !self.goes_on_giving_up(segment.at);
        let is_next = goes_on && is_new;
        let elsewhere = is_next.then(|| self.note_elsewhere(step, segment.at));
        // After a repair, ids are skipped by losses.
        let pause = is_timer && skips && !self.is_repairing_tail(segment.at);
        self.repair.last = Last::Other;
        if is_timer {
            self.repair.last = Last::timer(pause);
            self.on_timer_packet(segment, step);
        }
        self.repair.is_of_tail = repeats;
        self.note_piece(segment, start, elsewhere);
        self.note_higher((segment.at, len), end, repeats);
        self.high = end;
        let mut sent = sent_of(segment, start, len, verdict);
        if verdict.class == Class::Retransmission {
            sent.marks.set(Marks::RESENT);
        }
        let mut taken = Taken::of(verdict, len, len);
        if how == Told::SentTo && self.are_skipped_told() {
            sent.marks.take(Marks::LOST_UPSTREAM);
            taken.lost_upstream = false;
        }
        self.in_flight.push(sent);
        taken
    }

    /// A timer brought a packet at or above the highest byte seen.
    fn on_timer_packet(&mut self, segment: &Segment, step: Step) {
        // A frame of several packets is sent, and lost, as one.
        let mss = self.packet_size.mss;
        let packets = mss.packets(segment.payload_len, segment.timestamps.is_some());
        let skipped = step.skipped().saturating_sub(self.emissions.acks_skipped());
        let skipped = skipped.div_ceil(packets.max(1));
        self.emissions.note_timer(Timer {
            echo: segment.timestamps.map(|ts| ts.echo),
            is_answered: false,
            answer: None,
            surplus: skipped > self.timers_before(segment.at) + 1
                && self.emissions.unseen_new() > 1,
        });
    }

    /// Ids that were skipped are those of the packets up to `start` that were left out.
    fn explain_left_out(&mut self, start: i64) {
        let mss = i64::from(self.packet_size.full());
        let left_out = (start - self.high + mss - 1) / mss;
        self.ids.explain_last(left_out);
        // What a timer repeated before it had been sent together with them.
        if self.emissions.is_early() {
            self.ids.explain_early(left_out);
        }
    }

    /// Whether no byte is missing, here or as far as ACKs tell, and nothing is being repaired.
    fn has_nothing_missing(&self) -> bool {
        self.knows_of_no_loss() && self.una.is_none_or(|una| self.holes.are_below(una))
    }

    /// A packet `start..end` that passes at `at` is a repeat by `verdict` if ids count, which is not known yet.
    fn hold_early(&mut self, at: CaptureTime, start: i64, end: i64, verdict: Verdict) {
        if self.repair.is_of_tail || self.may_end_timer(at) {
            self.emissions.note_early(start, end, verdict);
        } else {
            self.emissions.give_up_early();
        }
    }

    /// What lies between the highest byte seen and `end` has not been seen although later numbers have.
    pub(super) fn open_hole<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        end: i64,
        sink: &mut S,
    ) {
        let (at, start) = (segment.at, self.high);
        sink.hole(dir, &StreamPart { at, start, end });
        if self.ids.is_first() {
            self.note_unnumbered(end - start);
        }
        let mut hole = Hole::new(start, end, segment, self.packets);
        hole.missing = self.emissions.skipped_at(start);
        if hole.missing.is_none() {
            self.note_left_out(end);
        }
        self.holes.open(hole);
    }

    /// A packet that passes at `at` with `len` bytes and ends at `end`, above the highest byte seen, tells what skipped
    /// ids were.
    #[inline]
    pub(super) fn note_higher(&mut self, (at, len): (CaptureTime, u32), end: i64, repeats: bool) {
        if !self.emissions.is_idle() {
            let slack_ns = self.delays.round_trip_ns() / 2 + 5_000_000;
            let above = end - self.high;
            let mss = self.skipped_len(above, len);
            self.emissions
                .on_higher(end, above, mss, repeats, at, slack_ns);
        }
    }

    /// Payload on both sides of the highest byte seen: judged by its new part.
    fn on_partly_new(&mut self, segment: &Segment, start: i64, end: i64) -> Taken {
        let old_end = self.high;
        self.note_timer_of_longer(start, segment.at, segment.payload_len);
        let filled = self.holes.fill(start, old_end, self.packets) as u32;
        let lost_downstream = self.cover(segment, start, old_end, Verdict::NEW, WhichCopy::Again);
        self.high = end;
        let mut sent = sent_of(segment, old_end, (end - old_end) as u32, Verdict::NEW);
        sent.marks.set(Marks::RESENT);
        sent.marks.set(Marks::CONTINUES);
        self.in_flight.push(sent);
        let new = (end - old_end) as u32;
        Taken {
            repeated_len: segment.payload_len - new,
            lost_upstream: filled > 0,
            lost_downstream,
            ..Taken::of(Verdict::NEW, new + filled, segment.payload_len)
        }
    }

    /// Payload below the highest byte seen.
    fn on_old<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        (start, end): (i64, i64),
        step: Step,
        sink: &mut S,
    ) -> Taken {
        let len = segment.payload_len;
        if let Some(verdict) = self.judge_probe(segment, start, end, step) {
            self.on_probe(start, end);
            return Taken::of(verdict, 0, len);
        }
        let Some(hole) = self.holes.first_within(start, end) else {
            let (mut verdict, copy) = self.judge_copy(segment, start, end);
            let mut lost_downstream = 0;
            if verdict.class == Class::Reordered {
                self.blame_first_copy(dir, start, end, sink);
            }
            if verdict.reason == Some(Reason::Unneeded) {
                if self.sack.are_seen {
                    self.old_copies.add(segment.at, start);
                } else if self.is_held(start, end) {
                    // The answer may have been another packet's.
                    verdict.confidence = Confidence::Medium;
                }
            }
            if verdict.class == Class::Duplicate {
                self.mark(start, end, Marks::COPIED);
                self.seen_acks.on_copy(self.packets);
            } else {
                lost_downstream = self.cover(segment, start, end, verdict, copy);
            }
            return Taken {
                extent: self.extent(verdict, self.in_flight.opened(start), segment.at),
                lost_downstream,
                ..Taken::of(verdict, 0, len)
            };
        };
        self.find_timer_below(dir, (segment, start), &hole, sink);
        let verdict = self.judge_fill(segment, start, end, &hole);
        let filled = self.holes.fill(start, end, self.packets) as u32;
        let copy = if verdict.class == Class::Reordered {
            WhichCopy::First
        } else {
            WhichCopy::Again
        };
        let lost_downstream = self.cover(segment, start, end, verdict, copy);
        if hole.told_at.is_some() {
            self.mark(start, end, Marks::ASKED_FOR);
        }
        // Packets repeated in smaller pieces, as where SACK blocks take room, were lost once each: no
        // more than the ids skipped. Without ids, small ones may have been lost, but for the rest of a full one.
        let is_rest = if self.ids.counts() {
            hole.missing
                .map_or_else(|| self.are_skipped_told(), |missing| missing == 0)
        } else {
            self.is_cut_off(start, len)
        };
        if is_rest {
            for index in self.in_flight.overlapping(start, end) {
                if let Some(sent) = self.in_flight.get_mut(index) {
                    sent.marks.take(Marks::LOST_UPSTREAM);
                }
            }
        }
        let opened = hole.opened();
        if verdict.class == Class::Retransmission {
            self.in_flight.note_filled(start, end, opened);
        }
        Taken {
            extent: self.extent(verdict, Some(opened), segment.at),
            lost_downstream,
            lost_upstream: verdict.lost == Some(LossPlace::Upstream) && !is_rest,
            ..Taken::of(verdict, filled, len)
        }
    }
}
