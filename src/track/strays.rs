//! What does not fit the stream, until what follows tells whether it was a stray.
//!
//! A segment or an ACK far from where its sender can be comes from an earlier connection, from another
//! host, or is damaged; a receiver drops it (RFC 9293 section 3.10.7.4). But the capture may have
//! lost as much: then what follows goes on from there.

use super::half::{HalfFlow, REACH_MAX};
use super::ids::Step;
use super::telling::Taken;
use crate::decode::{Segment, TcpFlags};
use crate::event::{Class, Confidence, Direction, Evidence, FlowSink, Signal, Verdict};
use crate::seq::Seq;

/// How far above the window data is still taken for the stream's, besides another window, in bytes:
/// the capture may have lost ACKs that opened it.
const ABOVE: i64 = 1 << 20;

/// Where the scale of windows is unknown, one is taken to be so large, in bytes: few are larger.
const WINDOW: i64 = 1 << 24;

/// How far below the highest byte, besides a window, in bytes: it may have been larger.
const BELOW: i64 = 1 << 24;

/// Segments of one direction, and ACKs of it, that lie where the sender cannot be: in most flows
/// there are none, and then this takes no room.
#[derive(Clone, Debug, Default)]
pub(super) struct Strays(Option<Box<Seen>>);

#[derive(Clone, Debug, Default)]
struct Seen {
    segments: u64,
    /// The last segment, while its place is not known.
    data: Option<HeldData>,
    /// The last ACK of what cannot have been sent, while no other makes progress.
    ack: Option<HeldAck>,
}

#[derive(Clone, Copy, Debug)]
struct HeldData {
    start: i64,
    end: i64,
    segment: Segment,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
struct HeldAck {
    ack: i64,
    /// End of its window.
    end: i64,
    segment: Segment,
}

impl Strays {
    /// Segments out of reach, and SYNs of no connection.
    pub(super) fn segments(&self) -> u64 {
        self.0.as_ref().map_or(0, |seen| seen.segments)
    }

    /// One more.
    pub(super) fn add(&mut self) {
        self.0.get_or_insert_default().segments += 1;
    }

    /// Whether nothing waits for what follows.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.0
            .as_ref()
            .is_none_or(|seen| seen.data.is_none() && seen.ack.is_none())
    }

    /// Whether an ACK up to `ack` is that of the segment held.
    pub(super) fn reach(&self, ack: i64) -> bool {
        let held = self.0.as_ref().and_then(|seen| seen.data.as_ref());
        // A FIN takes a number more.
        held.is_some_and(|held| held.start < ack && ack <= held.end + 1)
    }

    /// Whether data from `start` on goes on from the segment held.
    fn go_on(&self, start: i64) -> bool {
        let held = self.0.as_ref().and_then(|seen| seen.data.as_ref());
        held.is_some_and(|held| (held.end..=held.end + ABOVE).contains(&start))
    }

    fn held_ack(&self) -> Option<&HeldAck> {
        self.0.as_ref()?.ack.as_ref()
    }

    /// An ACK that was believed has moved on.
    #[inline]
    pub(super) fn on_progress(&mut self) {
        if let Some(seen) = &mut self.0 {
            seen.ack = None;
        }
    }
}

impl HalfFlow {
    /// A segment with payload passed: finds its place in the stream.
    #[inline]
    pub(super) fn place_data<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        step: Step,
        sink: &mut S,
    ) {
        let first = first_byte(segment);
        let unwrapper = match self.unwrapper() {
            Some(unwrapper) => unwrapper,
            None => self.begin_mid_flow(segment, first),
        };
        if !self.strays.is_settled() {
            let start = unwrapper.offset(first, self.high);
            self.settle_stray(dir, self.strays.go_on(start), sink);
            let end = start + i64::from(segment.payload_len);
            let held = self.strays.held_ack();
            let goes_on = held.is_some_and(|held| held.ack <= end && start <= held.end);
            // What is far itself may be of the same earlier connection.
            if goes_on && self.may_begin_at(start) {
                self.believe_held(dir, sink);
            }
        }
        let start = unwrapper.offset(first, self.high);
        if self.fin.is_some_and(|fin| start >= fin && self.has_ended()) {
            self.on_data_behind_end(dir, segment, start, step, sink);
        } else if self.may_begin_at(start) {
            self.on_data(dir, segment, start, step, sink);
        } else {
            self.on_far_data(dir, segment, start, step, sink);
        }
    }

    /// Whether the peer has acknowledged the FIN: nothing more is sent.
    pub(super) fn has_ended(&self) -> bool {
        self.fin.is_some_and(|fin| self.una == Some(fin + 1))
    }

    /// Whether a FIN passed that the peer has not acknowledged.
    #[inline]
    pub(super) fn waits_for_end(&self) -> bool {
        self.fin.is_some() && !self.has_ended()
    }

    /// Payload at or behind a FIN that was acknowledged: a byte in its place looks whether the peer is still there (RFC
    /// 9293 section 3.8.4), anything else a receiver drops (section 3.10.7.4).
    #[cold]
    #[inline(never)]
    fn on_data_behind_end<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        start: i64,
        step: Step,
        sink: &mut S,
    ) {
        if segment.payload_len > 1 || Some(start) != self.fin {
            return self.on_stray(dir, segment, sink);
        }
        let verdict = self.verdict_of_probe(Class::KeepAlive, segment, step);
        if verdict.class == Class::KeepAlive {
            sink.signal(dir, segment.at, Signal::KeepAlive);
        }
        let taken = Taken::of(verdict, 0, segment.payload_len);
        self.report(dir, segment, start, taken, sink);
    }

    #[cold]
    #[inline(never)]
    fn on_far_data<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        start: i64,
        step: Step,
        sink: &mut S,
    ) {
        if start > self.high {
            self.steady = false;
            self.strays.0.get_or_insert_default().data = Some(HeldData {
                start,
                end: start + i64::from(segment.payload_len),
                segment: *segment,
                step,
            });
        } else {
            self.on_stray(dir, segment, sink);
        }
    }

    /// What follows the segment held has shown whether it was the stream's.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_stray<S: FlowSink>(&mut self, dir: Direction, is_own: bool, sink: &mut S) {
        if let Some(held) = self.strays.0.as_mut().and_then(|seen| seen.data.take()) {
            if is_own {
                self.on_data(dir, &held.segment, held.start, held.step, sink);
            } else {
                self.on_stray(dir, &held.segment, sink);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn on_stray<S: FlowSink>(&mut self, dir: Direction, segment: &Segment, sink: &mut S) {
        self.strays.add();
        let verdict = Verdict::of(Class::Ambiguous, Evidence::None, Confidence::Low);
        let taken = Taken::of(verdict, 0, segment.payload_len);
        self.report(dir, segment, self.high, taken, sink);
    }

    /// Whether a segment is where its sender can be (RFC 9293 section 3.10.7.4).
    pub(super) fn may_send(&self, segment: &Segment) -> bool {
        self.unwrapper().is_none_or(|unwrapper| {
            self.may_begin_at(unwrapper.offset(first_byte(segment), self.high))
        })
    }

    /// Whether data of this sender may begin at `start`: not far above what it has room for, nor
    /// below what it may still hold.
    #[inline]
    fn may_begin_at(&self, start: i64) -> bool {
        let ahead = start - self.high;
        // Nearly always.
        if (-BELOW..=ABOVE).contains(&ahead) {
            return true;
        }
        self.may_begin_far(ahead)
    }

    #[cold]
    #[inline(never)]
    fn may_begin_far(&self, ahead: i64) -> bool {
        if ahead.abs() > REACH_MAX {
            return false;
        }
        let una = self.una.unwrap_or(self.high);
        let (window, room) = match self.window.end() {
            Some(end) => ((end - una).max(0), (end - self.high).max(0)),
            None => (WINDOW, (una - self.high).max(0)),
        };
        (-window - BELOW..=room + window + ABOVE).contains(&ahead)
    }

    /// Whether an ACK up to `ack` is to be believed, or acknowledges what cannot have been sent (RFC
    /// 9293 section 3.10.7.4): more than was seen and than the receiver had room for.
    ///
    /// Where the capture has lost so much, both sides go on from there: the next ACK is above this one and within its
    /// window, or the next data is.
    #[inline]
    pub(super) fn believes<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        ack: i64,
        sink: &mut S,
    ) -> bool {
        ack <= self.high
            || self.may_have_sent(ack)
            || self.goes_on_from_stray(dir, segment, ack, sink)
    }

    /// Whether the window lets the sender come to `end`, above all that was seen.
    #[cold]
    #[inline(never)]
    pub(super) fn may_have_sent(&self, end: i64) -> bool {
        let seen = self.high.max(self.una.unwrap_or(self.high));
        let room = seen.max(self.window.end().unwrap_or(seen + WINDOW));
        let fin = self.fin.unwrap_or(i64::MIN);
        end <= room.max(fin) + self.slack()
    }

    /// By how much senders go beyond a window: FINs, probes, and a window that is too small for one
    /// packet, in bytes.
    fn slack(&self) -> i64 {
        let packet = self
            .packet_size
            .largest_payload
            .max(self.packet_size.mss.get().map_or(0, u32::from));
        i64::from(packet) + 1
    }

    #[cold]
    #[inline(never)]
    fn goes_on_from_stray<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        ack: i64,
        sink: &mut S,
    ) -> bool {
        let end_max = ack - self.slack();
        let held = self.strays.held_ack();
        if held.is_some_and(|held| held.ack < ack && end_max <= held.end) {
            self.believe_held(dir, sink);
            return true;
        }
        self.steady = false;
        let scaled = |scale| i64::from(segment.window) << scale;
        let window = self.window.scale.map_or(WINDOW, scaled);
        self.strays.0.get_or_insert_default().ack = Some(HeldAck {
            ack,
            end: ack + window,
            segment: *segment,
        });
        false
    }

    /// What follows the ACK held has shown that what it acknowledges was sent.
    #[cold]
    #[inline(never)]
    fn believe_held<S: FlowSink>(&mut self, dir: Direction, sink: &mut S) {
        let held = self.strays.0.as_mut().and_then(|seen| seen.ack.take());
        if let Some(held) = held {
            self.take_ack(dir, &held.segment, held.ack, sink);
            // It is not the ACK that has just come.
            self.acks.told = 0;
        }
    }
}

/// Sequence number of a segment's first byte of payload: a SYN takes one before it.
pub(super) fn first_byte(segment: &Segment) -> Seq {
    let syn = segment.flags.has(TcpFlags::SYN);
    segment.seq.plus(u32::from(syn))
}
