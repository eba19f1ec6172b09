//! Where a stream ends.

use super::half::{HalfFlow, REACH_MAX};
use crate::decode::Segment;
use crate::event::{Direction, FlowSink};

impl HalfFlow {
    /// A segment with FIN passed.
    pub(super) fn on_fin<S: FlowSink>(&mut self, dir: Direction, segment: &Segment, sink: &mut S) {
        let Some(unwrapper) = self.unwrapper() else {
            return;
        };
        let offset = unwrapper.offset(segment.seq, self.high) + i64::from(segment.payload_len);
        // A FIN comes behind all data, and one that was acknowledged stands.
        let stands = self
            .fin
            .is_some_and(|fin| self.una > Some(fin) && offset > fin);
        if offset < self.high || offset - self.high > REACH_MAX || stands {
            return;
        }
        let told = self.acked_bytes();
        self.fin = Some(offset);
        self.steady = false;
        // The end of the stream is where all data has been sent: what is missing below is a hole,
        // unless the number lies where the sender may not send.
        let allowed = self.window.allows(offset);
        if offset > self.high && allowed {
            self.sent_data = true;
            self.open_hole(dir, segment, offset, sink);
            self.note_higher((segment.at, segment.payload_len), offset, false);
            self.repair.last_repeat = self.repair.last_repeat.below(offset, self.high);
            self.high = offset;
        }
        // Timers start anew with what is sent last, and a probe may repeat the FIN alone (RFC 8985 section 7.3).
        if self.sent_data {
            self.times.data_at = Some(segment.at);
        }
        self.amend_acked(dir, told, sink);
        self.note_seen_beyond();
    }
}
