//! What the ECN field tells of a packet (METRICS.md CLASS, `ecn`).
//!
//! Where both sides have agreed on ECN, a sender marks new data as ECN-capable, and neither what it repeats nor what has
//! no payload (RFC 3168 sections 6.1.4 and 6.1.5); queues may turn the mark into another, but never take it away or set
//! it. So the field tells first emissions from further ones, also where the first one was lost before it came here.
//! Some mark all that they send (RFC 8257): what is seen of a sender decides what its marks tell.

use super::copies::WhichCopy;
use super::half::HalfFlow;
use super::in_flight::Sent;
use crate::decode::{Ecn, Segment};
use crate::event::{Class, Confidence, Evidence, Verdict};

/// So many new packets in a row without the mark, and their sender has given it up.
const UNMARKED_MAX: u8 = 3;

/// Which emission of its bytes a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emission {
    /// The first.
    First,
    /// A further one.
    Again,
}

/// How a sender marks its packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marking {
    /// Both sides agreed on ECN as RFC 3168 has it.
    is_agreed: bool,
    /// New data is marked.
    marks_new: bool,
    /// Something else is not.
    spares_others: bool,
    /// Or is.
    marks_others: bool,
    /// New packets in a row that are not.
    unmarked: u8,
    /// Packets in a row that nothing but the missing mark told to be repeats.
    again: u16,
}

impl Marking {
    /// Both sides opened; `is_agreed`: and agreed on ECN as RFC 3168 has it.
    pub(super) fn on_agreement(&mut self, is_agreed: bool) {
        if is_agreed {
            self.is_agreed = true;
        } else {
            *self = Self::default();
        }
    }

    /// Whether a packet with payload that goes on with the stream and has this field tells more than that.
    #[inline(always)]
    pub(super) fn tells_more(self, ecn: Ecn) -> bool {
        self.is_agreed
            && match ecn {
                Ecn::NotEct => self.marks_new,
                _ => !self.marks_new || self.unmarked > 0 || self.again > 0,
            }
    }

    /// Which emission of its payload a segment is, as far as marks tell.
    fn emission(self, segment: &Segment) -> Option<Emission> {
        match segment.ecn {
            Ecn::NotEct => self.marks_new.then_some(Emission::Again),
            _ => (self.spares_others && !self.marks_others).then_some(Emission::First),
        }
    }

    /// Takes note of the segment that completes the handshake.
    pub(super) fn note_confirmation(&mut self, segment: &Segment) {
        if self.is_agreed && segment.payload_len == 0 {
            self.note_other(segment.ecn);
        }
    }

    /// Takes note of a segment with payload that was judged, all of which is what `verdict` says.
    #[inline]
    pub(super) fn note_data(&mut self, segment: &Segment, verdict: Verdict) {
        if self.is_agreed {
            self.learn(segment, verdict);
        }
    }

    #[cold]
    fn learn(&mut self, segment: &Segment, verdict: Verdict) {
        match (verdict.class, segment.ecn) {
            (Class::New, Ecn::NotEct) => {
                self.unmarked += u8::from(self.marks_new);
                if self.unmarked == UNMARKED_MAX {
                    *self = Self::default();
                }
            }
            (Class::New, _) => {
                self.marks_new = true;
                self.unmarked = 0;
                self.again = 0;
            }
            (Class::Retransmission, _) if verdict.evidence == Evidence::Ecn => {
                self.again = self.again.saturating_add(1);
            }
            (Class::Retransmission, ecn) if verdict.confidence == Confidence::High => {
                self.note_other(ecn);
            }
            _ => {}
        }
    }

    fn note_other(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => self.spares_others = true,
            _ => self.marks_others = true,
        }
    }
}

impl HalfFlow {
    /// Which emission of its bytes a segment is, as far as the ECN field tells.
    pub(super) fn emission_by_mark(&self, segment: &Segment) -> Option<Emission> {
        self.marking.emission(segment)
    }

    /// What a segment is whose bytes passed before as `earlier` and in no other packet, where its mark tells: the same
    /// packet, the original that its repeat has overtaken, or a repeat.
    pub(super) fn copy_by_mark(
        &self,
        segment: &Segment,
        earlier: &Sent,
    ) -> Option<(Class, WhichCopy)> {
        if self.ids.counts() || earlier.copies > 1 {
            return None;
        }
        let was_first = match earlier.verdict.class {
            Class::New | Class::Reordered => true,
            Class::Retransmission => false,
            _ => return None,
        };
        match (self.emission_by_mark(segment)?, was_first) {
            (Emission::First, true) => Some((Class::Duplicate, WhichCopy::Again)),
            (Emission::First, false) => Some((Class::Reordered, WhichCopy::LateOriginal)),
            (Emission::Again, true) => Some((Class::Retransmission, WhichCopy::Again)),
            (Emission::Again, false) => None,
        }
    }

    /// Whether a segment that extends the highest byte seen repeats what was lost before it came here, as the missing mark
    /// tells: behind a silence or in a repair, as all that is repeated there, or its sender has given up marking. Where ids
    /// count, some were skipped; and no more was lost than the window has room for.
    pub(super) fn is_lost_by_mark(&self, segment: &Segment) -> bool {
        let again = i64::from(self.marking.again) * i64::from(segment.payload_len);
        let window = self.window.end().zip(self.una).map(|(end, una)| end - una);
        let is_untold = self.do_ids_tell() && self.emissions.is_idle();
        self.emission_by_mark(segment) == Some(Emission::Again)
            && (self.is_repairing_tail(segment.at) || self.is_quiet(segment.at))
            && !is_untold
            && window.is_none_or(|window| again < window)
    }
}
