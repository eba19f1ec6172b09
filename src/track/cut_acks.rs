//! What there is to know of SACK where it is not seen: what was agreed, and what ACKs may have told of which the capture kept no
//! options.

use super::delays::nearly;
use super::half::HalfFlow;
use crate::decode::{Segment, TcpFlags};

/// Reports by SACK that are not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reports {
    /// None: all that there are are seen, as far as is known.
    #[default]
    Seen,
    /// The capture cut them off.
    Cut,
    /// There are none: so the SYNs agreed.
    Lacking,
}

impl HalfFlow {
    /// What the SYNs agreed about SACK; `None` while one has not been seen.
    pub(super) fn on_agreement(&mut self, sack: Option<bool>) {
        self.sacks = sack == Some(true);
        if self.reports != Reports::Cut {
            self.reports = match sack {
                Some(false) => Reports::Lacking,
                _ => Reports::Seen,
            };
        }
    }

    /// An ACK passes of which the options are cut off: SACK blocks, where there are more of them than timestamps take, and
    /// than another ACK had.
    #[cold]
    pub(super) fn on_cut_ack(&mut self, segment: &Segment) {
        /// A TCP header with timestamps, in bytes.
        const STAMPED: u32 = 32;
        self.sacks = false;
        let ip_header = if segment.ip_id.is_some() { 20 } else { 40 };
        let header = segment.ip_len.saturating_sub(segment.payload_len);
        if segment.flags.has(TcpFlags::SYN) {
            return;
        }
        let words = u8::try_from(header / 4).unwrap_or(u8::MAX);
        self.cut_words_min = match self.cut_words_min {
            0 => words,
            least => least.min(words),
        };
        if header <= ip_header + STAMPED || words == self.cut_words_min {
            return;
        }
        self.reports = Reports::Cut;
        // They tell of what lacks below data that came there by then.
        let soonest_ns = nearly(self.delays.downstream.min_ns().unwrap_or(0));
        let came = segment.at.plus_ns(-soonest_ns);
        let highest = self.holes.opened_until(came).unwrap_or(self.high);
        self.holes.tell_below(highest, i64::MAX, false, segment.at);
    }
}
