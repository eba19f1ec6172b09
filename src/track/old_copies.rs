//! Without SACK: repeats of what the receiver had already, told by its duplicate ACKs.
//!
//! A receiver answers each segment that lies below what it has acknowledged at once, with the ACK
//! that it sent last (RFC 9293 section 3.10.7.4), and one that fills a gap at once, too (RFC 5681
//! section 4.2). After a repeat of the left edge, whose ACK leaps over what the receiver held, the
//! repeats that were sent behind it therefore bring a duplicate ACK each, in the order in which
//! they were sent: each tells that one of them was not needed.

use std::collections::VecDeque;

use super::half::HalfFlow;
use super::in_flight::{Marks, Sent};
use crate::event::{Class, Direction, Evidence, FlowSink};
use crate::time::CaptureTime;

/// Repeats covered by the last ACK that moved, sent behind that of its left edge, by where they
/// start, in the order in which they were sent: mostly none, in the room of a pointer.
#[derive(Debug, Default)]
pub(super) struct OldCopies(Option<Box<Starts>>);

#[derive(Debug, Default)]
struct Starts(VecDeque<i64>);

impl OldCopies {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|starts| starts.0.is_empty())
    }

    /// The cumulative ACK moves on: what is answered now was sent later.
    #[inline]
    pub(super) fn clear(&mut self) {
        if let Some(starts) = &mut self.0 {
            starts.0.clear();
        }
    }

    pub(super) fn add(&mut self, start: i64) {
        self.0.get_or_insert_default().0.push_back(start);
    }

    fn next(&self) -> Option<i64> {
        self.0.as_ref()?.0.front().copied()
    }

    fn take_next(&mut self) {
        if let Some(starts) = &mut self.0 {
            starts.0.pop_front();
        }
    }
}

impl Sent {
    /// Whether it is a repeat of what passed here before, sent behind one that passed at `edge_at`.
    pub(super) fn repeats_behind(&self, edge_at: CaptureTime) -> bool {
        self.copies >= 2
            && self.at >= edge_at
            && self.verdict.class == Class::Retransmission
            && !self.marks.has(Marks::CONTINUES)
    }
}

impl HalfFlow {
    /// When the left edge `una` was repeated last, where that is what the receiver waits for and
    /// no SACK tells what it holds.
    pub(super) fn edge_repeated_at(&self, una: i64) -> Option<CaptureTime> {
        let edge = self.in_flight.nth_unacked(0).filter(|_| !self.sacks)?;
        let repeated = edge.start <= una && edge.verdict.class == Class::Retransmission;
        repeated.then_some(edge.at)
    }

    /// A duplicate ACK passed at `at`.
    #[cold]
    pub(super) fn on_answer_to_old<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        sink: &mut S,
    ) {
        let Some(start) = self.old_copies.next() else {
            return;
        };
        let index = self.in_flight.overlapping(start, start + 1).start;
        let soonest = self.downstream.min_ns().unwrap_or(0);
        if let Some(sent) = self.in_flight.get(index) {
            // It answers something that was sent before.
            if at.since(sent.at) < soonest / 8 * 7 {
                return;
            }
            for part in self.in_flight.one_packet(index) {
                self.amend(dir, part, Evidence::Dsack, sink);
            }
        }
        self.old_copies.take_next();
    }
}
