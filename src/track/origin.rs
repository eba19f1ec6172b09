//! Where the stream of one direction begins.

use super::half::HalfFlow;
use crate::decode::{Segment, TcpFlags};
use crate::seq::{Seq, Unwrapper};

/// What is known of where a stream begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    #[default]
    Unknown,
    /// The capture starts mid-flow, and no payload has passed: all below this number had been sent.
    Below(Seq),
    /// From here on offsets are counted, since a SYN or, mid-flow, the first payload.
    At(Unwrapper),
}

impl HalfFlow {
    /// The stream's offsets, once it has an origin.
    #[inline(always)]
    pub(super) fn unwrapper(&self) -> Option<Unwrapper> {
        match self.origin {
            Origin::At(unwrapper) => Some(unwrapper),
            Origin::Unknown | Origin::Below(_) => None,
        }
    }

    /// A segment without payload passed, before any that had some, of a stream whose SYN was not seen.
    pub(super) fn note_sent_below(&mut self, segment: &Segment) {
        if !segment.flags.any(TcpFlags::FIN.with(TcpFlags::RST)) {
            self.origin = Origin::Below(segment.seq);
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
        let looks = segment.payload_len == 1 && !is_pushed && self.origin == Origin::Below(next);
        if looks {
            self.una = Some(0);
        }
        let unwrapper = Unwrapper::new(if looks { next } else { first });
        self.origin = Origin::At(unwrapper);
        unwrapper
    }
}
