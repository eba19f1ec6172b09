//! Where the stream of one direction begins.

use super::half::HalfFlow;
use crate::decode::{Segment, TcpFlags};
use crate::seq::{Seq, Unwrapper};

/// What is known of where a stream begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    // No option of it: where data or an ACK has been placed, it is known without looking.
    unwrapper: Unwrapper,
    known: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing.
    Nothing,
    /// The capture starts mid-flow, and no payload has passed: all below this number had been sent.
    SentBelow,
    /// From here on offsets are counted, since a SYN or, mid-flow, the first payload.
    Begin,
}

impl Default for Origin {
    fn default() -> Self {
        Self {
            unwrapper: Unwrapper::new(Seq(0)),
            known: Known::Nothing,
        }
    }
}

impl Origin {
    /// The stream's first byte has the number `first`.
    pub(super) fn at(first: Seq) -> Self {
        Self {
            unwrapper: Unwrapper::new(first),
            known: Known::Begin,
        }
    }

    /// All below `number` had been sent before any payload was seen.
    fn above(number: Seq) -> Self {
        Self {
            known: Known::SentBelow,
            ..Self::at(number)
        }
    }

    /// The stream's offsets, once it has begun.
    #[inline(always)]
    pub(super) fn unwrapper(self) -> Option<Unwrapper> {
        (self.known == Known::Begin).then_some(self.unwrapper)
    }

    /// The same where data or an ACK has been placed in it.
    #[inline(always)]
    pub(super) fn certain(self) -> Unwrapper {
        debug_assert!(self.known == Known::Begin);
        self.unwrapper
    }

    /// Whether all below `number` had been sent before any payload was seen.
    pub(super) fn is_above(self, number: Seq) -> bool {
        self.known == Known::SentBelow && self.unwrapper.base() == number
    }
}

impl HalfFlow {
    /// The stream's offsets, once it has an origin.
    #[inline(always)]
    pub(super) fn unwrapper(&self) -> Option<Unwrapper> {
        self.origin.unwrapper()
    }

    /// A segment without payload passed, before any that had some, of a stream whose SYN was not seen.
    pub(super) fn note_sent_below(&mut self, segment: &Segment) {
        if !segment.flags.any(TcpFlags::FIN.with(TcpFlags::RST)) {
            self.origin = Origin::above(segment.seq);
        }
    }

    /// The first payload of a stream whose SYN was not seen begins at `first`: there it begins, but behind a keep-alive.
    ///
    /// That is a byte which had been sent and, as its sender was idle, acknowledged (RFC 9293 section 3.8.4). A message
    /// of one byte that is sent again is pushed.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_mid_flow(&mut self, segment: &Segment, first: Seq) -> Unwrapper {
        let next = first.plus(segment.payload_len);
        let is_pushed = segment.flags.any(TcpFlags::PSH.with(TcpFlags::FIN));
        let looks = segment.payload_len == 1 && !is_pushed && self.origin.is_above(next);
        if looks {
            self.una = Some(0);
        }
        self.origin = Origin::at(if looks { next } else { first });
        self.origin.certain()
    }
}
