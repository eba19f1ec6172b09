//! Segments kept as they came, at less than half of what a [`Segment`] takes.

use crate::decode::{Ecn, Endpoint, SackBlocks, Segment, SynOptions, TcpFlags, Timestamps};
use crate::event::Direction;
use crate::seq::Seq;
use crate::time::CaptureTime;

/// A segment, without what none that is kept has, and without its ends, which whoever keeps it knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    at: CaptureTime,
    ordinal: u64,
    seq: Seq,
    ack: Seq,
    ip_len: u32,
    payload_len: u32,
    timestamps: Option<Timestamps>,
    syn: SynOptions,
    ip_id: Option<u16>,
    flags: TcpFlags,
    window: u16,
    ecn: Ecn,
    length_from_frame: bool,
    header_cut: bool,
    dir: Direction,
}

const _: () = assert!(size_of::<Kept>() <= 64);

impl Kept {
    /// Whether a segment can be kept: the usual one, which came in one packet and reports no ranges.
    #[inline]
    pub(super) fn takes(segment: &Segment) -> bool {
        segment.ip_packets == 1 && segment.sack.as_slice().is_empty()
    }

    #[inline]
    pub(super) fn of(dir: Direction, segment: &Segment) -> Self {
        Self {
            at: segment.at,
            ordinal: segment.ordinal,
            seq: segment.seq,
            ack: segment.ack,
            ip_len: segment.ip_len,
            payload_len: segment.payload_len,
            timestamps: segment.timestamps,
            syn: segment.syn,
            ip_id: segment.ip_id,
            flags: segment.flags,
            window: segment.window,
            ecn: segment.ecn,
            length_from_frame: segment.length_from_frame,
            header_cut: segment.header_cut,
            dir,
        }
    }

    /// The segment, from `src` to `dst`.
    pub(super) fn segment(&self, (src, dst): (Endpoint, Endpoint)) -> Segment {
        Segment {
            at: self.at,
            ordinal: self.ordinal,
            src,
            dst,
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            payload_len: self.payload_len,
            ip_len: self.ip_len,
            ip_packets: 1,
            ip_id: self.ip_id,
            ecn: self.ecn,
            timestamps: self.timestamps,
            syn: self.syn,
            sack: SackBlocks::default(),
            length_from_frame: self.length_from_frame,
            header_cut: self.header_cut,
        }
    }

    pub(super) fn at(&self) -> CaptureTime {
        self.at
    }

    pub(super) fn dir(&self) -> Direction {
        self.dir
    }

    pub(super) fn flags(&self) -> TcpFlags {
        self.flags
    }

    pub(super) fn payload_len(&self) -> u32 {
        self.payload_len
    }
}
