//! Plain segments: data and ACKs of an established connection, as nearly all are.

use super::segment::{Ecn, SackBlock, Segment, TcpFlags, Timestamps};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// A plain segment, however it is kept: one with a window and, of all flags, ACK and perhaps PSH, that came in one
/// packet, whole and with its length.
///
/// What is asked for is looked up where it lies. All of it together, as a [`Segment`] has it, would be written before
/// it is read, for each packet.
pub(crate) trait Plain: Copy {
    fn at(self) -> CaptureTime;
    /// Position in the capture.
    fn ordinal(self) -> u64;
    fn seq(self) -> Seq;
    fn ack(self) -> Seq;
    fn flags(self) -> TcpFlags;
    fn window(self) -> u16;
    fn payload_len(self) -> u32;
    fn ip_len(self) -> u32;
    fn ip_id(self) -> Option<u16>;
    fn ecn(self) -> Ecn;
    fn timestamps(self) -> Option<Timestamps>;
    /// Whether it has SACK blocks.
    fn reports(self) -> bool;
    fn sack<'a>(self) -> &'a [SackBlock]
    where
        Self: 'a;
    /// All of it, for who has to look at more than plain segments.
    fn segment(self) -> Segment;
}

/// Whether a segment that came in one packet, whole and with its length, is plain with these flags and this window.
#[inline]
pub(crate) fn is_plain(flags: TcpFlags, window: u16) -> bool {
    flags.0 & !TcpFlags::PSH.0 == TcpFlags::ACK.0 && window > 0
}

impl Segment {
    /// As what it is, where it is plain.
    #[inline]
    pub(crate) fn plain(&self) -> Option<&Self> {
        let is_whole = self.ip_packets == 1 && !self.length_from_frame && !self.header_cut;
        (is_whole && is_plain(self.flags, self.window)).then_some(self)
    }
}

impl Plain for &Segment {
    #[inline]
    fn at(self) -> CaptureTime {
        self.at
    }
    #[inline]
    fn ordinal(self) -> u64 {
        self.ordinal
    }
    #[inline]
    fn seq(self) -> Seq {
        self.seq
    }
    #[inline]
    fn ack(self) -> Seq {
        self.ack
    }
    #[inline]
    fn flags(self) -> TcpFlags {
        self.flags
    }
    #[inline]
    fn window(self) -> u16 {
        self.window
    }
    #[inline]
    fn payload_len(self) -> u32 {
        self.payload_len
    }
    #[inline]
    fn ip_len(self) -> u32 {
        self.ip_len
    }
    #[inline]
    fn ip_id(self) -> Option<u16> {
        self.ip_id
    }
    #[inline]
    fn ecn(self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn timestamps(self) -> Option<Timestamps> {
        self.timestamps
    }
    #[inline]
    fn reports(self) -> bool {
        !self.sack.as_slice().is_empty()
    }
    #[inline]
    fn sack<'a>(self) -> &'a [SackBlock]
    where
        Self: 'a,
    {
        self.sack.as_slice()
    }
    fn segment(self) -> Segment {
        *self
    }
}
