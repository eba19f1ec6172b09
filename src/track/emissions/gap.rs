//! What is known of ids that were skipped.

use crate::time::CaptureTime;

/// Ids that were skipped before a packet, and that packet.
#[derive(Clone, Copy, Debug)]
pub(in crate::track) struct Gap {
    /// Its id.
    pub(in crate::track) id: u64,
    /// How many were skipped.
    pub(in crate::track) skipped: u16,
    /// How many packets fit between the repeat before it and itself, where what was skipped lay there.
    pub(in crate::track) old: u16,
    /// So many of these were due to be repeated by then, as SACK had told.
    pub(in crate::track) due: u16,
    /// Up to where that is, where it is known.
    pub(in crate::track) repeated_to: Option<i64>,
    /// The highest byte seen before it.
    pub(in crate::track) high: i64,
    /// When it passed.
    pub(in crate::track) at: CaptureTime,
    /// When the packet before it passed.
    pub(in crate::track) since: CaptureTime,
    /// Losses are being repaired.
    pub(in crate::track) recovering: bool,
    /// Of what was skipped so many may have been ACKs without payload, which nobody repeats.
    pub(in crate::track) acks: u16,
    /// Nothing but a SYN came before it, and whether its sender counts on from that is to be seen.
    pub(in crate::track) follows_syn: bool,
    /// Ids skipped before it besides, which ACKs of SYNs took.
    pub(in crate::track) asked_by_syns: u16,
    /// Packets with payload that its number shows for the first time to have been sent before it.
    pub(in crate::track) left_out: u16,
    /// It repeats older bytes itself, so of those that wait one waits for it.
    pub(in crate::track) repeats: bool,
    /// It repeats the left edge, and the packet before it passed less than a round trip ago: what came in between was no
    /// repeat, since there is nothing lower to repeat, and nothing is repeated twice within a round trip.
    pub(in crate::track) first_repeat: bool,
    /// It begins a repair, before any timer, but for `old` packets: of those skipped no more were repeats.
    pub(in crate::track) begins: bool,
    /// It goes on in a repair in which all that lies between is known, so that of those skipped no more than `old` were
    /// repeats, either.
    pub(in crate::track) in_order: bool,
    /// It goes on in such a repair behind new data, above what was repeated before, and so many packets are missing in
    /// between: of those skipped no more were repeats, and came last, as new data is sent when nothing waits.
    pub(in crate::track) missing_below: Option<u16>,
    /// Where SACK steers the repair: what its sender knew by then to be lost has been repeated before any new data, and
    /// neither of these says otherwise.
    pub(in crate::track) overdue_by: Option<CaptureTime>,
    /// Its sender has heard that all that was seen before is acknowledged.
    pub(in crate::track) heard_all: bool,
    /// So many of those skipped, the first of them, its sender tried as new data after a timer's repeat.
    pub(in crate::track) tried: u16,
    /// Nothing else below the highest byte seen was to be repeated: what was skipped lay above.
    pub(in crate::track) lay_above: bool,
    /// Records are missing here: what was skipped may have passed.
    pub(in crate::track) are_records_missing: bool,
    /// More has been acknowledged than was seen: some of what was skipped may have passed, or all of it.
    pub(in crate::track) has_told_unseen: bool,
}
