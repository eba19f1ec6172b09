//! What there is to know of SACK where it is not seen: what was agreed, and what ACKs may have told of which the
//! capture kept no options.

use super::delays::nearly;
use super::half::HalfFlow;
use crate::decode::{Segment, TcpFlags};

/// What there is of the receiver's reports by SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackReports {
    /// The receiver reports holes by SACK, as was agreed or seen, and headers are not cut before it.
    pub(super) are_seen: bool,
    /// So it was agreed, whether they are seen or not.
    are_agreed: bool,
    unseen: Unseen,
    /// Shortest header of the receiver's that was cut off, but a SYN's, with that of IP, in words of four bytes; 0
    /// before one.
    cut_words_min: u8,
}

/// Reports by SACK that are not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unseen {
    /// None: all that there are are seen, as far as is known.
    #[default]
    None,
    /// The capture cut them off.
    Cut,
    /// There are none: so the SYNs agreed.
    Lacking,
}

impl SackReports {
    /// What the SYNs agreed; `None` while one has not been seen.
    pub(super) fn on_agreement(&mut self, sack: Option<bool>) {
        self.are_seen = sack == Some(true);
        self.are_agreed = self.are_seen;
        if self.unseen != Unseen::Cut {
            self.unseen = match sack {
                Some(false) => Unseen::Lacking,
                _ => Unseen::None,
            };
        }
    }

    /// Whether the capture has cut off some.
    pub(super) fn are_cut(self) -> bool {
        self.unseen == Unseen::Cut
    }

    /// Whether the receiver makes none, as the SYNs agreed and nothing has shown otherwise.
    pub(super) fn are_lacking(self) -> bool {
        self.unseen == Unseen::Lacking && !self.are_seen
    }

    /// A header of so many words was cut off, that of IP included: whether another one was shorter.
    fn note_cut(&mut self, words: u8) -> bool {
        self.cut_words_min = match self.cut_words_min {
            0 => words,
            least => least.min(words),
        };
        words > self.cut_words_min
    }
}

impl HalfFlow {
    /// Whether the receiver would have reported by SACK in `ack` what came since its ACK before: it does so, and either
    /// what the ACK reports is not cut off, or all packets pass twice.
    pub(super) fn reports_in(&self, ack: &Segment) -> bool {
        let is_whole = !ack.header_cut || self.seen_acks.are_copied(self.packets);
        self.sack.are_seen || is_whole && (self.sack.are_agreed || self.sack.are_cut())
    }

    /// An ACK passes of which the options are cut off: SACK blocks, where there are more of them than timestamps take,
    /// and than another ACK had.
    #[cold]
    pub(super) fn on_cut_ack(&mut self, segment: &Segment) {
        /// A TCP header with timestamps, in bytes.
        const STAMPED: u32 = 32;
        self.sack.are_seen = false;
        let ip_header = if segment.ip_id.is_some() { 20 } else { 40 };
        let header = segment.ip_len.saturating_sub(segment.payload_len);
        if segment.flags.has(TcpFlags::SYN) {
            return;
        }
        let words = u8::try_from(header / 4).unwrap_or(u8::MAX);
        let is_longer = self.sack.note_cut(words);
        if header <= ip_header + STAMPED || !is_longer {
            return;
        }
        self.sack.unseen = Unseen::Cut;
        // They tell of what lacks below data that came there by then.
        let soonest_ns = nearly(self.delays.downstream.min_ns().unwrap_or(0));
        let came = segment.at.plus_ns(-soonest_ns);
        let highest = self.holes.opened_until(came).unwrap_or(self.high);
        self.holes.tell_below(highest, i64::MAX, false, segment.at);
    }
}
