//! Keep-alives and window probes, with a byte and without.

use super::delays::TIMER_NS_MIN;
use super::half::HalfFlow;
use super::ids::Step;
use super::in_flight::Marks;
use super::repair::Last;
use crate::decode::{Segment, TcpFlags};
use crate::event::{Class, Confidence, Direction, Evidence, FlowSink, Signal, Verdict};
use crate::time::CaptureTime;

impl HalfFlow {
    /// A segment without payload passed; `again`: a copy of one that had.
    pub(super) fn on_empty<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        again: bool,
        step: Step,
        sink: &mut S,
    ) {
        let flags = segment.flags;
        let Some(unwrapper) = self.unwrapper() else {
            self.note_sent_below(segment);
            return;
        };
        if flags.any(TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST)) {
            return;
        }
        let offset = unwrapper.offset(segment.seq, self.high);
        let probes = self.is_probe_at(offset, segment, step);
        // Else it is the next byte itself (section 3.10.7.4): the sender has sent nothing above.
        if probes || offset == self.high {
            self.emissions.forget_unseen();
        }
        if offset > self.high {
            self.note_number(offset, segment.at);
        }
        if probes {
            self.repair.last = Last::Probe;
        }
        if probes && !again {
            sink.signal(
                dir,
                segment.at,
                if self.window.is_closed() {
                    Signal::WindowProbe
                } else {
                    Signal::KeepAlive
                },
            );
        }
    }

    /// Whether a segment without payload at `offset` only looks whether the peer is there, or has room.
    #[inline]
    fn is_probe_at(&self, offset: i64, segment: &Segment, step: Step) -> bool {
        // One below the next byte is where only a probe looks (RFC 9293 section 3.8.4), if it is no ACK from before
        // that byte, late: a keep-alive comes when nothing was sent for long, as one in the place of a FIN that is
        // acknowledged.
        let (below, has_ended) = (self.sent_below(), self.has_ended());
        if offset != below - 1 && !(offset == below && has_ended) {
            return false;
        }
        let is_idle = self.is_idle_at(segment.at);
        let is_late = matches!(step, Step::Behind(_) | Step::Early(..0));
        let next = below + i64::from(has_ended && is_idle);
        offset == next - 1
            && self.una.is_some_and(|una| una >= self.high)
            && (is_idle || self.window.is_closed() && !is_late || self.is_sent_last(segment, step))
    }

    /// A segment passes whose ACK is not entered yet: if it has no payload and only looks whether `peer` is there, duplicate
    /// ACKs from now on answer no repeat before it.
    #[inline]
    pub(super) fn note_probe(&mut self, peer: &mut Self, segment: &Segment, step: Step) {
        let waits = || !(self.old_copies.is_empty() && peer.old_copies.is_empty());
        if segment.payload_len == 0 && waits() && self.is_probe(segment, step) {
            self.old_copies.on_probe();
            peer.old_copies.on_probe();
        }
    }

    #[cold]
    fn is_probe(&self, segment: &Segment, step: Step) -> bool {
        let others = TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST);
        !segment.flags.any(others)
            && self.unwrapper().is_some_and(|unwrapper| {
                self.is_probe_at(unwrapper.offset(segment.seq, self.high), segment, step)
            })
    }

    /// Bytes that passed before did so again as a probe.
    pub(super) fn on_probe(&mut self, start: i64, end: i64) {
        self.mark(start, end, Marks::RESENT);
        self.repair.last = Last::Probe;
        self.old_copies.on_probe();
    }

    /// Up to where its sender has sent: also what the capture lost and the peer acknowledged, if that is more than the
    /// number of a FIN.
    fn sent_below(&self) -> i64 {
        let una = self.una.filter(|&una| una > self.high + 1);
        una.unwrap_or(self.high)
    }

    /// What a segment below the highest byte seen, from `start` to `end`, is if it only looks whether the peer is
    /// there, or has room.
    pub(super) fn judge_probe(
        &self,
        segment: &Segment,
        start: i64,
        end: i64,
        step: Step,
    ) -> Option<Verdict> {
        let is_highest = end == self.high;
        // Where the window was closed below what had been sent, a probe looks at its edge.
        let is_edge = self.window.is_closed() && self.una == Some(start);
        if segment.payload_len > 1 || !(is_highest || is_edge) {
            return None;
        }
        let is_answered = match self.una {
            Some(una) => una >= self.high,
            None => self.is_looked_for(segment, start),
        };
        let class = if self.window.is_closed() {
            Class::WindowProbe
        } else if is_answered
            && !self.is_message(segment, start)
            && (self.is_idle_at(segment.at) || self.holes.first_within(start, end).is_none())
        {
            // A byte that was not seen yet and follows another packet so soon is late.
            Class::KeepAlive
        } else {
            return None;
        };
        Some(self.verdict_of_probe(class, segment, step))
    }

    /// Whether a byte that begins at `start` was the last of a longer packet, where no ACK tells whether that has come:
    /// who repeats it begins where it began, and pushes it.
    fn is_looked_for(&self, segment: &Segment, start: i64) -> bool {
        let longer = self.in_flight.overlapping(start, start + 1).start;
        let longer = self.in_flight.get(longer);
        let last = self.times.data_at;
        segment.payload_len == 1
            && !segment.flags.has(TcpFlags::PSH)
            && longer.is_some_and(|sent| sent.start < start)
            && last.is_none_or(|last| segment.at.since(last) >= TIMER_NS_MIN)
    }

    /// Whether its sender had sent nothing for long before `at`, as who looks whether the peer is there.
    fn is_idle_at(&self, at: CaptureTime) -> bool {
        let last = self.times.packet_at();
        last.is_none_or(|last| at.since(last) >= TIMER_NS_MIN)
    }

    /// Whether a segment was sent later than all that passed before, as its id or `TSval` tells: it is no ACK that is
    /// late.
    fn is_sent_last(&self, segment: &Segment, step: Step) -> bool {
        let stamp = segment.timestamps.map(|timestamps| timestamps.value);
        matches!(step, Step::Ahead(_))
            || self.times.packet_at() < Some(segment.at)
                && stamp.is_some_and(|tsval| self.echoes.is_new(tsval, segment.at))
    }

    /// The verdict on such a segment: who looks again sends another packet.
    pub(super) fn verdict_of_probe(&self, class: Class, segment: &Segment, step: Step) -> Verdict {
        if step != Step::Same {
            return Verdict::of(class, Evidence::Sequence, Confidence::High);
        }
        let evidence = if self.is_numbered(segment) {
            Evidence::IpId
        } else {
            Evidence::SeenBefore
        };
        Verdict::of(Class::Duplicate, evidence, Confidence::High)
    }
}
