//! The quiet path: what nearly every segment of a capture is, judged with a fraction of the work.
//!
//! Nothing is decided here that [`Connection`](super::Connection) would decide otherwise: a segment
//! is taken only when all the evidence that the general path weighs is absent, and then leaves the
//! same state and tells the same events. The tests play random traces both ways and compare. When
//! in doubt, a check fails and the general path takes the segment.

use std::hint::cold_path;

use super::dsacks::around_first;
use super::half::{HalfFlow, REACH_MAX};
use super::ids::Step;
use super::in_flight::{Marks, Sent};
use crate::decode::Plain;
use crate::event::{Acked, Class, DataArrival, Direction, FlowSink, RttLabel, Signal, Verdict};
use crate::seq::Seq;

/// A plain segment, one packet on the wire, that tells no more than that all goes well; `false`, and nothing changed,
/// when it may tell more.
#[inline]
pub(super) fn on_quiet<P: Plain, S: FlowSink>(
    sender: &mut HalfFlow,
    peer: &mut HalfFlow,
    dir: Direction,
    plain: P,
    step: Step,
    sink: &mut S,
) -> bool {
    let skips_none = match step {
        Step::Ahead(0) | Step::Same | Step::Unknown => true,
        // Whether ids count is not known yet: where none was ever skipped, it makes no difference.
        Step::Early(0) => sender.emissions.are_none(),
        Step::Ahead(_) | Step::Early(_) | Step::Behind(_) => false,
    };
    if !skips_none {
        return false;
    }
    if plain.payload_len() == 0 {
        return sender.emissions.is_idle()
            && sender.continues_empty(plain.seq())
            && if plain.reports() {
                // The very ACK that came just now says nothing twice.
                step != Step::Same && peer.on_next_sack(dir.reversed(), plain, sink)
            } else {
                peer.on_next_ack(dir.reversed(), plain, sink)
            };
    }
    let quiet = !plain.reports()
        && sender.continues(plain.seq(), plain.payload_len())
        && !sender.marking.tells_more(plain.ecn())
        && peer.is_acked_as_before(plain.ack());
    if quiet {
        peer.on_same_ack(dir.reversed(), plain, sink);
        peer.owes_ack = true;
        if sender.is_answered() {
            let is_unheard = sender.has_not_heard(plain.timestamps(), plain.at(), &peer.echoes);
            sender.note_pause(dir, plain.at(), is_unheard, sink);
            sender.note_by_itself(peer, plain.at());
        }
        sender.on_next_data(dir, plain, step, sink);
    }
    quiet
}

impl HalfFlow {
    /// Whether nothing is missing, being repaired or in doubt on the way to the receiver. Once true it
    /// stays so until the general path changes it: the quiet path never does.
    fn is_calm(&self) -> bool {
        self.sent_data
            && self.una.is_some_and(|una| self.holes.are_below(una))
            && self.knows_of_no_loss()
            && self.unneeded.is_empty()
            && self.superseded.is_empty()
            && self.old_copies.is_empty()
            && self.emissions.is_idle()
            && !self.is_repairing()
            // One that was taken back is over with an ACK, too.
            && self.repair.timeout.is_none()
            && self.strays.is_settled()
    }

    /// Whether no ACK tells of a loss and none is being repaired.
    #[inline]
    pub(super) fn knows_of_no_loss(&self) -> bool {
        !self.repair.goes_on()
            && self.repair.after_timeout().is_none()
            && self.acks.dup_run == 0
            && self.acks.still_held == 0
            && self.board.highest_end().is_none()
    }

    /// Whether a segment of the peer with this `ack` tells this direction nothing but a window.
    #[inline]
    pub(super) fn is_acked_as_before(&self, ack: Seq) -> bool {
        match self.una {
            Some(una) => self.origin.certain().seq(una) == ack,
            None => self.unwrapper().is_none(),
        }
    }

    /// Whether a segment without payload continues the stream, so that it is no probe.
    #[inline]
    fn continues_empty(&self, seq: Seq) -> bool {
        match self.unwrapper() {
            Some(unwrapper) => unwrapper.seq(self.high) == seq,
            None => self.origin.is_above(seq),
        }
    }

    /// Whether a segment with payload is the next part of the stream.
    #[inline]
    pub(super) fn continues(&self, seq: Seq, payload_len: u32) -> bool {
        // A single byte may be a probe.
        payload_len > 1
            && self.steady
            && !self.window.is_closed()
            && self.repair.after_timeout().is_none()
            && (self.emissions.is_idle()
                || !self.repair.last.is_timer() && !self.emissions.may_repeat())
            && self.origin.certain().seq(self.high) == seq
    }

    /// Takes the window of a segment that acknowledges `ack`.
    #[inline(always)]
    fn take_window<P: Plain, S: FlowSink>(
        &mut self,
        dir: Direction,
        plain: P,
        ack: i64,
        sink: &mut S,
    ) {
        let scale = self.window.scale;
        if let Some(end) = self.window.take(plain.window(), ack, scale) {
            sink.window(dir, plain.at(), end);
        }
        self.note_room(plain.at());
    }

    /// A segment of the peer that [`is_acked_as_before`](Self::is_acked_as_before).
    #[inline]
    fn on_same_ack<P: Plain, S: FlowSink>(&mut self, dir: Direction, plain: P, sink: &mut S) {
        if let Some(una) = self.una {
            self.take_window(dir, plain, una, sink);
        }
    }

    /// A segment that [`continues`](Self::continues) the stream.
    #[inline]
    fn on_next_data<P: Plain, S: FlowSink>(
        &mut self,
        dir: Direction,
        plain: P,
        step: Step,
        sink: &mut S,
    ) {
        let (start, len) = (self.high, plain.payload_len());
        let end = start + i64::from(len);
        if !self.emissions.is_idle() {
            let recovering = self.repair.goes_on();
            if matches!(step, Step::Ahead(_)) {
                self.emissions.on_next(plain.at(), recovering);
            }
            self.note_higher((plain.at(), len), end, false);
        }
        self.high = end;
        let ids = (plain.timestamps(), plain.ip_id());
        self.in_flight.push(Sent::once(plain.at(), start, len, ids));
        self.unique_bytes += u64::from(len);
        self.packet_size.note(len);
        if self.window.ends_at(end) {
            cold_path();
            sink.signal(dir, plain.at(), Signal::WindowFull);
        }
        // Put together here, where all of it is known: handed on in parts and put together elsewhere,
        // it takes a tenth of the time of all that is done for a packet.
        let arrival = DataArrival {
            ordinal: plain.ordinal(),
            at: plain.at(),
            offset: start,
            payload_len: len,
            unique_len: len,
            repeated_len: 0,
            in_flight_bytes: self.in_flight_bytes(),
            verdict: Verdict::NEW,
            extent: None,
        };
        sink.data(dir, &arrival);
        if S::SEGMENTS {
            self.keep_next_row(plain.seq(), &arrival);
        }
        self.times.data_at = Some(plain.at());
        self.repair.on_new();
        self.note_room(plain.at());
    }

    /// An ACK that stays where it is and reports more at the end of a range, as nearly all do while a hole is open.
    /// `false`, and nothing changed, when that is not all there is to it.
    // By itself: what all other packets need stays in registers.
    #[inline(never)]
    fn on_next_sack<P: Plain, S: FlowSink>(
        &mut self,
        dir: Direction,
        plain: P,
        sink: &mut S,
    ) -> bool {
        let Some(una) = self.una else {
            return false;
        };
        let unwrapper = self.origin.certain();
        let blocks = plain.sack();
        let Some(first) = blocks.first() else {
            return false;
        };
        let start = unwrapper.offset(first.start, una);
        let end = unwrapper.offset(first.end, una);
        let sane = una <= start && start < end && end - start <= REACH_MAX && end <= self.high;
        if unwrapper.seq(una) != plain.ack()
            || !sane
            || around_first(blocks).is_some()
            || !self.strays.is_settled()
        {
            return false;
        }
        let highest_before = self.board.highest_end();
        let Some(part) = self
            .board
            .grow_first(blocks, start, end, plain.timestamps())
        else {
            return false;
        };
        let window_before = self.window.advertised;
        self.take_window(dir, plain, una, sink);
        self.sack.are_seen = true;
        sink.signal(dir, plain.at(), Signal::SackBlocks(blocks.len() as u8));
        self.on_fresh_sack(dir, plain.at(), part, true, highest_before, sink);
        self.acks.told = 0;
        self.amend_unneeded(dir, sink);
        self.tell_holes(plain.at());
        // What is reported is outstanding.
        if window_before == Some(plain.window()) {
            sink.signal(dir, plain.at(), Signal::DupAck);
        }
        self.acks.dup_run = self.acks.dup_run.saturating_add(1);
        self.acks.note_told(plain.at());
        sink.delivered(dir, plain.at(), (part.end - part.start) as u64);
        true
    }

    /// An ACK without payload moves over segments that passed once and in order, while all is
    /// calm. `false`, and nothing changed, when that is not all there is to it.
    #[inline]
    fn on_next_ack<P: Plain, S: FlowSink>(
        &mut self,
        dir: Direction,
        plain: P,
        sink: &mut S,
    ) -> bool {
        if !self.calm {
            self.calm = self.is_calm();
        }
        // What may answer a timer's packet is kept for what comes next.
        let is_calm = self.calm && !self.repair.last.is_timer();
        let (true, Some(una)) = (is_calm, self.una) else {
            return false;
        };
        let at = plain.at();
        let ack = self.origin.certain().offset(plain.ack(), una);
        if ack <= una || ack > self.high {
            return false;
        }
        let mut latest = self.times.latest_released_by(at);
        let mut covered = 0;
        for sent in self.in_flight.unacked_ranges() {
            // What was acknowledged before it passed gives no round trip.
            if covered == 0 && sent.end() <= una {
                return false;
            }
            if sent.end() > ack {
                break;
            }
            let once = sent.copies == 1 && sent.marks == Marks::default();
            if !(once && sent.verdict.class == Class::New && latest <= Some(sent.at)) {
                return false;
            }
            latest = Some(sent.at);
            covered += 1;
        }
        self.take_window(dir, plain, ack, sink);
        let bytes = self.newly_acked(ack);
        self.una = Some(ack);
        if bytes > 0 || una < 0 {
            sink.acked_at_once(dir, &Acked { at, bytes, ack });
        }
        let flight = self.in_flight.unacked();
        while let Some(sent) = self.in_flight.release_next(ack) {
            sent.marks.set(Marks::SAMPLED);
            let (sent_at, row, exact) = (sent.at, sent.row, sent.end() == ack);
            let label = match (covered, exact) {
                (3.., _) => RttLabel::StretchAck,
                (_, true) => RttLabel::Clean,
                (_, false) => RttLabel::DelayedAck,
            };
            self.sample(dir, at, sent_at, row, exact, label, sink);
        }
        if let Some(sent_at) = latest.filter(|_| covered > 0) {
            self.old_copies.note_rtt(at.since(sent_at));
        }
        self.times.released_latest = latest;
        self.acks.last_cover = covered.min(usize::from(u16::MAX)) as u16;
        self.in_flight.trim(flight, at);
        self.release_rows(dir, sink);
        self.times.progress_at = Some(at);
        self.count_time(at);
        true
    }
}
