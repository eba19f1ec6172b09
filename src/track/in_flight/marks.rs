//! What the SACK scoreboard, the RTT matching and the counting of losses know of a range.

use super::InFlight;

/// Yes-or-no facts about a [`Sent`](super::Sent).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::track) struct Marks(pub(super) u16);

impl Marks {
    /// Reported by SACK.
    pub(in crate::track) const SACKED: Self = Self(1);
    /// Gives no RTT sample any more: has given it, or is only a part of its segment.
    pub(in crate::track) const SAMPLED: Self = Self(2);
    /// The sender emitted some of these bytes more than once (Karn's rule applies).
    pub(in crate::track) const RESENT: Self = Self(4);

    /// Ends with the FIN of its segment, which takes one more sequence number.
    pub(in crate::track) const FIN: Self = Self(8);

    /// The network made a copy of it, or does most likely if it comes twice, for which no DSACK has come yet.
    pub(in crate::track) const COPIED: Self = Self(16);

    /// Its latest copy showed that an earlier one was lost upstream, and that was counted.
    pub(in crate::track) const LOST_UPSTREAM: Self = Self(32);

    /// The same downstream.
    pub(in crate::track) const LOST_DOWNSTREAM: Self = Self(64);

    /// Its latest copy is one packet with that of the range just below.
    pub(in crate::track) const CONTINUES: Self = Self(128);

    /// Its latest copy is one packet with that of a range below, from which a later repeat parts it:
    /// what became of that packet is told with the range below.
    pub(in crate::track) const REST: Self = Self(256);

    /// A part of a packet that a repeat has cut: its loss is told with the part below.
    pub(in crate::track) const PARTED: Self = Self(512);

    /// A part of a frame of several packets that a repeat has cut: it was a packet, or some, of its own.
    pub(in crate::track) const FRAMED: Self = Self(1024);

    /// It came late, when the receiver had told that it was missing: a repeat may follow at any time.
    pub(in crate::track) const ASKED_FOR: Self = Self(2048);

    /// Its latest copy is one packet with that of the range just above, which gives the sample.
    pub(in crate::track) const GOES_ON: Self = Self(4096);

    /// A duplicate ACK told, without SACK, that the receiver holds it.
    pub(in crate::track) const HELD: Self = Self(8192);

    /// It came with the only SYN until one was answered (RFC 7413): what the answer leaves out was refused.
    pub(in crate::track) const ON_SYN: Self = Self(16384);

    /// Its latest copy, a repeat, acknowledges less than what its sender had sent before: receivers need not echo its
    /// clock.
    pub(in crate::track) const OLD_ACK: Self = Self(32768);

    /// Takes a mark off; whether it was there.
    pub(in crate::track) fn take(&mut self, mark: Self) -> bool {
        let had = self.has(mark);
        self.0 &= !mark.0;
        had
    }

    pub(in crate::track) fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    pub(in crate::track) fn set(&mut self, mark: Self) {
        self.0 |= mark.0;
    }
}

impl InFlight {
    /// SACK has reported none of those that the cumulative ACK has not passed.
    #[cold]
    pub(in crate::track) fn take_back_sack(&mut self) {
        for sent in self.sent.range_mut(self.acked as usize..) {
            sent.marks.take(Marks::SACKED);
        }
    }

    /// The clock was set back since they passed: none of those that begin below `offset` and that the cumulative ACK has
    /// not passed gives an RTT sample, unless clocks are set so often that it would take too long; their sender has sent
    /// so many packets so far.
    #[cold]
    pub(in crate::track) fn take_samples(&mut self, offset: i64, packets: u64) {
        let acked = self.acked as usize;
        let below = self.sent.partition_point(|sent| sent.start < offset);
        let some = below.saturating_sub(acked);
        if some > 0 && self.moves.allow(some, 2 * some, packets) {
            for sent in self.sent.range_mut(acked..below) {
                sent.marks.set(Marks::SAMPLED);
            }
        }
    }
}
