//! What becomes of judgements later.

use crate::event::{Confidence, Evidence, Reason, Verdict};

impl Verdict {
    /// Whether it is that of a repeat, which begins at `start`, of what the receiver had refused (RFC 7413 section
    /// 4.2.2): of what was lost the place is told, but for bytes from before the first that were seen.
    pub(super) fn is_of_refused(self, start: i64) -> bool {
        // What SACK alone shows to be a repeat has no place, either.
        self.reason == Some(Reason::Fast)
            && self.lost.is_none()
            && self.evidence == Evidence::SeenBefore
            && start >= 0
    }

    /// What a retransmission is that turns out not to have been needed.
    pub(super) fn as_unneeded(self, evidence: Evidence) -> Self {
        let confidence = match evidence {
            // An ACK may come as soon where a queue drains.
            Evidence::Timing => Confidence::Medium,
            // Only timing said so until now, and of what passed before.
            _ if self.reason == Some(Reason::Unneeded) => Confidence::High,
            _ => self.confidence,
        };
        Self {
            reason: Some(Reason::Unneeded),
            lost: None,
            evidence,
            confidence,
            ..self
        }
    }
}
