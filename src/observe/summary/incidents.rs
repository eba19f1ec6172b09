//! What is out of the ordinary in one direction of a connection, summed up.

use super::Span;
use crate::event::Recovery;
use crate::time::CaptureTime;

/// What is out of the ordinary in a flow, and in most flows never happens; names and definitions as
/// in METRICS.md, "Per flow".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incidents {
    /// Data segments of class `retransmission` (X1).
    pub retransmitted_packets: u64,
    /// Their payload, with the old part of segments that are partly new, in bytes (X1).
    pub retransmitted_bytes: u64,
    /// Retransmissions that were asked for (X2).
    pub rtx_fast: u64,
    /// Retransmissions that a timer brought (X2).
    pub rtx_timeout: u64,
    /// Retransmissions that probed for a lost tail (X2).
    pub rtx_tail_probe: u64,
    /// Retransmissions of what the receiver had (X2).
    pub rtx_unneeded: u64,
    /// Packets lost before they came here (X3), as far as repeats tell: what skipped IP ids tell besides, such as of lost
    /// tails, is in [`Flow::lost_upstream`](crate::analyze::Flow::lost_upstream), which is what tables have.
    pub lost_upstream: u64,
    /// Packets lost behind here (X3).
    pub lost_downstream: u64,
    /// Originals that came late here (X4).
    pub reordered_packets: u64,
    /// Packets that overtook one of them, at most (X4); 0 without any.
    pub reordering_extent_max: u64,
    /// How late one of them was, at most, in ns (X4); 0 without any.
    pub reordering_late_ns_max: i64,
    /// Segments that were overtaken behind here (X4).
    pub reordered_at_receiver: u64,
    /// Copies that the network made (X5).
    pub duplicate_packets: u64,
    /// Segments of which nothing decides what they are (X6).
    pub ambiguous_packets: u64,
    /// Duplicate ACKs (X7).
    pub dup_acks: u64,
    /// SACK blocks, without DSACKs (X7).
    pub sack_blocks: u64,
    /// DSACKs (X7).
    pub dsacks: u64,
    /// Segments of the receiver that say that it has no room (X7).
    pub zero_windows: u64,
    /// Data segments that end where the window ends (X7).
    pub window_full: u64,
    /// Keep-alives of the sender (X7).
    pub keepalives: u64,
    /// Probes of a closed window (X7).
    pub window_probes: u64,
    /// Packets marked ECT(0), ECT(1) or CE (H1).
    pub ecn_capable_packets: u64,
    /// Packets marked CE: congestion experienced (H1).
    pub ce_marks: u64,
    /// Segments of the receiver that echo that (H1).
    pub ece_echoes: u64,
    /// Data packets larger than the MSS: captured before segmentation or after merging.
    pub super_segments: u64,
    /// Packets that these were on the wire besides the first of each (C7).
    pub merged_packets: u64,
    /// The headers of those, in bytes (C7).
    pub merged_headers_bytes: u64,
    /// Retransmitted ones among them (C7).
    pub merged_retransmissions: u64,
    /// Packets whose length the frame alone says (C2).
    pub lengths_from_frame: u64,
    /// TCP headers that the snap length cut (Q1).
    pub headers_cut: u64,
    /// Packets that are older than the one before them (Q1).
    pub clock_steps_back: u64,
    /// Repairs of losses (X8).
    pub recovery_episodes: u64,
    /// Those in which a timer ran out (X8).
    pub recovery_timeout_episodes: u64,
    /// Their time together, in ns (X8).
    pub recovery_ns: i64,
    /// Fragments of data segments but for one of each: what `data_packets` counts besides segments.
    pub further_fragments: u64,
    /// From the data of the first SYN that has some to the first data behind the handshake, in ns; 0 without both
    /// (F1, RFC 7413).
    pub ahead_of_handshake_ns: i64,
    /// Payload of full packets of the latest of the frames that are several, in bytes; 0 before one.
    pub(super) merged_len: u16,
    /// SYNs with payload.
    pub(super) syn_data: Option<Span>,
    /// The latest of the repairs: what began it may turn out to be new.
    pub(super) latest_recovery: Option<Recovery>,
    /// The latest instant of data before the last data packet that the clock stepped back to.
    pub(super) latest_data_at: Option<CaptureTime>,
}

impl Incidents {
    /// A frame was so many packets more on the wire, with headers as long, and each but the last with as much payload.
    #[cold]
    #[inline(never)]
    pub(super) fn on_super_segment(&mut self, further: u16, headers_len: u16, full_len: u16) {
        self.super_segments += 1;
        self.merged_len = full_len;
        self.merged_packets += u64::from(further);
        self.merged_headers_bytes += u64::from(further) * u64::from(headers_len);
    }

    /// What was repeated is so many packets more on the wire, if by frames of offload, or no longer counts.
    pub(super) fn count_merged(&mut self, len: u32, by: i64) {
        if self.merged_len > 0 {
            let further = i64::from(len.div_ceil(self.merged_len.into())) - 1;
            let counter = &mut self.merged_retransmissions;
            *counter = counter.saturating_add_signed(further.max(0) * by);
        }
    }

    /// Of so many data packets, the segments: one that came in fragments is as many packets (METRICS.md C1, X1).
    #[must_use]
    pub fn data_segments(&self, data_packets: u64) -> u64 {
        data_packets.saturating_sub(self.further_fragments)
    }
}
