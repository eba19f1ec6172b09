//! What a sender emitted that was lost before it came here, told from the ids it skipped.
//!
//! A skipped id is one packet lost upstream. Whether it carried new bytes or repeated old ones
//! cannot be seen, but follows from the order in which senders work: what is known to be lost is
//! repeated first, new data comes only when nothing waits to be repeated (RFC 6675 section 5,
//! `NextSeg`). And what the sender knew is here to be seen too, since the ACKs pass by: a packet is
//! lost when one that was emitted after it has been delivered (RFC 8985 section 6.2). So the
//! skipped ids are played through, and with them the sender's highest byte, which this capture
//! may not have seen: what begins below it is a retransmission, even where it extends the highest
//! byte seen.

mod frames;
mod gap;
mod skips;

use std::collections::VecDeque;

use self::frames::Frames;
pub(super) use self::gap::Gap;
use super::rtt::later;
use super::too_long::Piece;
use crate::event::{Evidence, Verdict};
use crate::time::CaptureTime;

/// The sender of one direction as far as skipped ids tell of it: in most flows nothing, and then it
/// takes no room.
#[derive(Clone, Debug, Default)]
pub(super) struct Emissions(Option<Box<Skips>>);

/// A packet that was taken for a timer's repeat of a lost tail.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer {
    /// Its `TSecr`.
    pub(super) echo: Option<u32>,
    /// An ACK after it made progress.
    pub(super) is_answered: bool,
    /// `TSval` of the first such ACK.
    pub(super) answer: Option<u32>,
    /// More ids were skipped before it than timers can have taken: others were lost with the first copy, and are
    /// repeated as soon as it is acknowledged.
    pub(super) surplus: bool,
}

/// An id that was skipped.
#[derive(Clone, Copy, Debug)]
struct Slot {
    id: u64,
    /// Its bytes have been repeated since by a timer.
    repeated: bool,
    /// It may have been an ACK's: how many were lost does not count on it.
    may_be_ack: bool,
}

#[derive(Clone, Debug, Default)]
struct Skips {
    /// Skipped ids that the sender did not yet know to be lost, lowest first.
    skipped: VecDeque<Slot>,
    /// Highest id delivered, and when the sender's reaction to it can come by at the earliest.
    on_the_way: VecDeque<(CaptureTime, u64)>,
    /// Highest id that the sender knew to be delivered.
    delivered: u64,
    /// ACKs that moved the cumulative ACK: when each passed, and where that was before.
    progress: VecDeque<(CaptureTime, i64)>,
    /// `TSval` of the last of these.
    progress_tsval: Option<u32>,
    /// When the sender can have known at the earliest, for each packet that is lost and not repeated.
    waiting: VecDeque<CaptureTime>,
    /// Repeats that passed when none was known to wait: of what is known to be lost later so many are repeated already.
    ahead: u32,
    /// After a timeout all is taken for lost (RFC 5681 section 3.1), and nothing new is sent before all has been repeated.
    all_lost: bool,
    /// First copies among packets skipped since the highest byte was seen, lowest id first: when each can have been sent at the earliest.
    unseen_new: VecDeque<(u64, CaptureTime)>,
    /// Packets skipped so far that were no ACKs and did not turn up late.
    lost: u64,
    /// Those behind a SYN that left no bytes out.
    lost_with_syn: u64,
    /// Ids skipped so far, whatever they were, that did not turn up late, and packets before the first one.
    all: u32,
    /// Of those skipped last, the ones of ACKs.
    acks: u16,
    /// Packets told to be lost upstream as the bytes of which are repeated.
    told: u32,
    /// The highest byte seen when ids were skipped last while records were missing here, and how many packets with payload these were.
    unrecorded: (i64, u32),
    /// Ids skipped since the highest byte was seen, whatever they were, and that byte.
    at_high: (i64, u32),
    /// The highest byte seen when data was skipped last that lay above, of the packet that begins there; whether any came late.
    lay_above: Option<i64>,
    has_late: bool,
    /// The highest byte repeated in the repair that is going on (RFC 6675 section 2, `HighRxt`).
    repeated_to: i64,
    /// Up to where the sender is known to have sent, above the highest byte seen.
    sent_to: Option<i64>,
    /// When that was told last.
    sent_to_at: CaptureTime,
    /// Skipped ids told of it, and no number.
    is_cut: bool,
    /// Ids were skipped, and it is not known yet whether they count.
    is_early: bool,
    /// That, or `sent_to` or `piece` is known: asked for with every packet.
    is_pending: bool,
    /// Any of `skipped`, `waiting` and `unseen_new`, or `all_lost`, or `is_pending`: asked for several times a packet.
    is_busy: bool,
    /// The last packet that was taken for a timer's.
    timer: Timer,
    /// Packets that repeated bytes if they do, and what they are then.
    early: Vec<(i64, i64, Verdict)>,
    /// The last data packet, where it may be a piece of one that was too long for the path.
    piece: Option<Piece>,
    /// What ids tell of the packets of merged frames.
    frames: Frames,
}

impl Emissions {
    /// Memory that they hold besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |skips| skips.memory_bytes())
    }

    /// A frame of `len` bytes took so many ids: see [`Frames::note`].
    pub(super) fn note_frame(&mut self, len: u32, packets: u16) -> Option<(u32, bool)> {
        self.0.get_or_insert_default().frames.note(len, packets)
    }

    /// See [`Frames::note_cut`].
    pub(super) fn note_cut(&mut self, len: u32, packets: u64) {
        self.0.get_or_insert_default().frames.note_cut(len, packets);
    }

    /// See [`Frames::take_cut`].
    pub(super) fn take_cut(&mut self, packets: u64) -> Option<u32> {
        self.0.as_mut()?.frames.take_cut(packets)
    }

    /// Whether nothing is going on.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.0.as_ref().is_none_or(|skips| skips.is_idle())
    }

    /// Lets `change` change what goes on, where anything ever did.
    #[inline]
    fn change<T>(&mut self, change: impl FnOnce(&mut Skips) -> T) -> Option<T> {
        let skips = self.0.as_mut()?;
        let changed = change(skips);
        skips.settle();
        Some(changed)
    }

    /// The same where nothing may have gone on before.
    fn begin<T>(&mut self, change: impl FnOnce(&mut Skips) -> T) -> T {
        let skips = self.0.get_or_insert_default();
        let changed = change(skips);
        skips.settle();
        changed
    }

    /// Whether nothing ever went on.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.0.is_none()
    }

    /// Data packets lost upstream, as far as skipped ids tell.
    pub(super) fn lost(&self) -> u64 {
        self.0.as_ref().map_or(0, |skips| skips.lost)
    }

    /// Packets with payload that were skipped last, above `high`, the highest byte seen, while records were missing here.
    pub(super) fn unrecorded_at(&self, high: i64) -> u64 {
        let last = self.0.as_ref().map(|skips| skips.unrecorded);
        last.filter(|last| last.0 == high)
            .map_or(0, |last| last.1.into())
    }

    /// So many packets more, or fewer, are told to be lost upstream.
    #[inline]
    pub(super) fn note_told(&mut self, packets: i32) {
        if let Some(skips) = &mut self.0 {
            skips.told = skips.told.saturating_add_signed(packets);
        }
    }

    /// So many packets were sent before what came now: those that are more than the ids skipped of which nothing is
    /// told were sent before the first id.
    pub(super) fn note_left_out(&mut self, packets: u32) {
        let skips = self.0.get_or_insert_default();
        let known = skips.all.saturating_sub(skips.told);
        skips.all = skips.all.saturating_add(packets.saturating_sub(known));
    }

    /// Whether as many packets are told to be lost upstream as ids were skipped, `unexplained` of which at least are
    /// known.
    pub(super) fn are_told(&self, unexplained: u16) -> bool {
        self.0
            .as_ref()
            .is_some_and(|skips| skips.told >= skips.all && skips.all >= u32::from(unexplained))
    }

    /// Whether what comes next may repeat bytes that were skipped above all that was seen, or tell whether it may.
    #[inline]
    pub(super) fn may_repeat(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|skips| !skips.unseen_new.is_empty() || skips.is_pending)
    }

    /// A packet passed before which nothing was skipped.
    #[inline(always)]
    pub(super) fn on_next(&mut self, at: CaptureTime, recovering: bool) {
        if let Some(skips) = &mut self.0 {
            skips.learn(at, recovering);
        }
    }

    /// Ids skipped since `high` was reached, the highest byte seen, whatever they were; `None` where none were.
    pub(super) fn skipped_at(&self, high: i64) -> Option<u32> {
        let (at, skipped) = self.0.as_ref()?.at_high;
        (at == high && skipped > 0).then_some(skipped)
    }

    /// The highest byte repeated in the repair that is going on; `None` where no ids were skipped.
    pub(super) fn repeated_to(&self) -> Option<i64> {
        self.0.as_ref().map(|skips| skips.repeated_to)
    }

    /// A packet that ends at `end` repeats bytes; `begins`: first in a repair, or after a timeout.
    pub(super) fn note_repeat(&mut self, end: i64, begins: bool) {
        if let Some(skips) = &mut self.0 {
            skips.repeated_to = if begins {
                end
            } else {
                end.max(skips.repeated_to)
            };
        }
    }

    /// A packet passed before which ids were skipped.
    pub(super) fn on_skipped(&mut self, gap: &Gap) {
        self.begin(|skips| skips.on_skipped(gap));
    }

    /// The same while it is not known yet whether ids count.
    pub(super) fn on_skipped_early(&mut self, gap: &Gap) {
        self.begin(|skips| {
            skips.is_early = true;
            skips.is_pending = true;
            skips.on_skipped(gap);
        });
    }

    /// If ids count, the packet `start..end` repeated bytes: what it is then.
    pub(super) fn note_early(&mut self, start: i64, end: i64, verdict: Verdict) {
        if let Some(skips) = &mut self.0 {
            skips.early.push((start, end, verdict));
        }
    }

    /// Ids were skipped while it was not known whether they count.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        self.0.as_ref().is_some_and(|skips| skips.is_early)
    }

    /// Packets that repeated bytes if ids count.
    pub(super) fn early(&self) -> usize {
        self.0.as_ref().map_or(0, |skips| skips.early.len())
    }

    /// Ids count: the packets that repeated bytes, and what they are.
    pub(super) fn take_early(&mut self) -> Vec<(i64, i64, Verdict)> {
        let early = self.change(|skips| {
            skips.is_early = false;
            skips.settle_pending();
            if !skips.early.is_empty() {
                skips.lost += std::mem::take(&mut skips.lost_with_syn);
            }
            std::mem::take(&mut skips.early)
        });
        early.unwrap_or_default()
    }

    /// What was skipped early tells nothing, but for how much it was if ids should count after all.
    pub(super) fn give_up_early(&mut self) {
        if let Some(skips) = self.0.as_mut().filter(|skips| skips.is_early) {
            let before = std::mem::take(&mut **skips);
            **skips = Skips {
                lost: before.lost,
                all: before.all,
                told: before.told,
                sent_to: before.sent_to,
                sent_to_at: before.sent_to_at,
                is_cut: before.is_cut,
                is_pending: before.sent_to.is_some(),
                is_busy: before.sent_to.is_some(),
                ..Skips::default()
            };
        }
    }

    /// So many more of the ids that were skipped were lost packets', or, negative, so many were not.
    pub(super) fn amend_lost(&mut self, ids: i32) {
        if let Some(skips) = &mut self.0 {
            skips.lost = skips.lost.saturating_add_signed(ids.into());
        }
    }

    /// So many packets with payload were lost, or are late, before the first one whose id is known.
    pub(super) fn on_unnumbered(&mut self, packets: u64) {
        let skips = self.0.get_or_insert_default();
        skips.lost += packets;
        skips.all = (skips.all).saturating_add(u32::try_from(packets).unwrap_or(u32::MAX));
    }

    /// A packet turned up late, with payload or without: it was not lost.
    pub(super) fn on_late(&mut self, id: u64, is_data: bool) {
        self.change(|skips| skips.on_late(id, is_data));
    }

    /// The packet `id` has been delivered; a reaction can come by from `effective` on. Of interest
    /// only while something goes on.
    #[inline(always)]
    pub(super) fn on_delivered(&mut self, id: u64, effective: CaptureTime) {
        if let Some(skips) = &mut self.0 {
            skips.on_delivered(id, effective);
        }
    }

    /// An ACK with this `TSval` passes at `at` that moves the cumulative ACK on from `edge`.
    #[inline]
    pub(super) fn note_progress(&mut self, (at, edge): (CaptureTime, i64), tsval: Option<u32>) {
        if let Some(skips) = &mut self.0 {
            skips.note_progress(at, edge);
            skips.progress_tsval = tsval;
        }
    }

    /// Whether who sent a packet with this `TSecr` had heard of more than the last ACK that made progress.
    pub(super) fn has_heard_more(&self, echo: Option<u32>) -> bool {
        let tsval = self.0.as_ref().and_then(|skips| skips.progress_tsval);
        echo.zip(tsval)
            .is_some_and(|(echo, tsval)| later(echo, tsval))
    }

    /// Where the cumulative ACK was before what passed from `at` on, if that has moved it.
    pub(super) fn edge_before(&self, at: CaptureTime) -> Option<i64> {
        let progress = &self.0.as_ref()?.progress;
        let first = progress.partition_point(|&(moved_at, _)| moved_at < at);
        progress.get(first).map(|&(_, edge)| edge)
    }

    /// Whether a packet that ends `above` bytes above the highest byte seen, with `len` bytes of
    /// payload, begins below the sender's highest byte, if so many bytes below it were skipped, too;
    /// `mss` bytes are in a full packet, and nothing is repeated that was sent after `by`, nor, where
    /// the repair is `steered`, what was sent after all that has been delivered.
    pub(super) fn was_sent_before(
        &self,
        above: i64,
        below: i64,
        len: u32,
        mss: u32,
        by: CaptureTime,
        steered: bool,
    ) -> bool {
        let Some(skips) = self.0.as_ref().filter(|skips| !skips.unseen_new.is_empty()) else {
            return false;
        };
        let old = skips
            .unseen_new
            .partition_point(|&(id, since)| since <= by && (!steered || id < skips.delivered));
        // What lies below took a packet for each full one's bytes, and one for a shorter rest.
        let (mss, len) = (i64::from(mss.max(1)), i64::from(len));
        let beyond = (old as i64 - (below + mss - 1) / mss) * mss;
        // Half a packet of tolerance: packets at the end of a write are shorter.
        beyond > len.min(above) / 2
    }

    /// Whether data skipped just before a packet that begins at `high`, the highest byte seen, lay above.
    pub(super) fn lay_above(&self, high: i64) -> bool {
        matches!(&self.0, Some(skips) if skips.lay_above == Some(high))
    }

    /// First transmissions that were skipped since the highest byte seen was reached.
    pub(super) fn unseen_new(&self) -> usize {
        self.0.as_ref().map_or(0, |skips| skips.unseen_new.len())
    }

    /// What was skipped since the highest byte seen was reached carried no new bytes.
    pub(super) fn forget_unseen(&mut self) {
        self.change(|skips| {
            skips.unseen_new.clear();
            skips.sent_to = None;
            skips.settle_pending();
        });
    }

    /// What was skipped since the highest byte was seen carried no new bytes, as far as ids tell.
    pub(super) fn forget_unseen_new(&mut self) {
        self.change(|skips| skips.unseen_new.clear());
    }

    /// What was taken for a timer's was none: what was skipped before it carried no new bytes.
    pub(super) fn forget_timer(&mut self) {
        self.forget_unseen();
        self.give_up_early();
    }

    /// The sender has sent all below `offset`, which is above the highest byte seen, as the number of a segment
    /// without payload tells that passes at `at`, or, `is_cut`, ids that were skipped before packets that became shorter.
    pub(super) fn note_sent(&mut self, offset: i64, at: CaptureTime, is_cut: bool) {
        self.begin(|skips| {
            // All that was skipped before it lies below.
            skips.unseen_new.clear();
            if skips.sent_to < Some(offset) {
                skips.sent_to = Some(offset);
                skips.sent_to_at = at;
                skips.is_cut = is_cut;
            }
            skips.is_pending = true;
        });
    }

    /// What tells up to where the sender has sent.
    pub(super) fn sent_to_evidence(&self) -> Evidence {
        match &self.0 {
            Some(skips) if skips.is_cut => Evidence::IpId,
            _ => Evidence::Sequence,
        }
    }

    /// Up to where the sender is known to have sent, if that is above the highest byte seen.
    #[inline]
    pub(super) fn sent_to(&self) -> Option<i64> {
        self.0.as_ref().filter(|skips| skips.is_pending)?.sent_to
    }

    /// The same, where that was told at `by` or before.
    pub(super) fn sent_to_by(&self, by: CaptureTime) -> Option<i64> {
        self.sent_to()
            .filter(|_| self.0.as_ref().is_some_and(|skips| skips.sent_to_at <= by))
    }

    /// A packet that repeats bytes passed.
    pub(super) fn on_repeat(&mut self) {
        self.change(Skips::on_repeat);
    }

    /// A packet passed that ends at `end`, `above` bytes above the highest byte seen until then, and
    /// whether it repeats bytes. Reactions come up to `slack_ns` late.
    pub(super) fn on_higher(
        &mut self,
        end: i64,
        above: i64,
        mss: u32,
        repeats: bool,
        at: CaptureTime,
        slack_ns: i64,
    ) {
        self.change(|skips| {
            let mut above = above;
            if skips.is_pending {
                // What is known to have been sent by its number is none of what ids tell of.
                let beyond = skips.sent_to.map_or(above, |sent_to| end - sent_to);
                if repeats {
                    above = above.min(beyond.max(0));
                }
                skips.sent_to = skips.sent_to.filter(|&sent_to| sent_to > end);
                skips.settle_pending();
            }
            skips.on_higher(above, mss, repeats, at, slack_ns);
        });
    }

    /// Whether all is repeated after a timeout.
    pub(super) fn repeats_all(&self) -> bool {
        self.0.as_ref().is_some_and(|skips| skips.all_lost)
    }

    /// A timeout, or a repeat of what had arrived, which only a timeout explains: all will be
    /// repeated.
    pub(super) fn on_timeout(&mut self) {
        self.begin(Skips::on_timeout);
    }

    /// There was no timeout.
    pub(super) fn forget_timeout(&mut self) {
        self.change(|skips| skips.all_lost = false);
    }

    /// A packet passed that was taken for a timer's.
    pub(super) fn note_timer(&mut self, timer: Timer) {
        if let Some(skips) = &mut self.0 {
            skips.timer = timer;
        }
    }

    /// An ACK with this `TSval` made progress.
    pub(super) fn note_answer(&mut self, tsval: Option<u32>) {
        if let Some(skips) = &mut self.0 {
            skips.timer.is_answered = true;
            skips.timer.answer = skips.timer.answer.or(tsval);
        }
    }

    /// A packet passed that may be a piece of one that was too long for the path.
    pub(super) fn note_piece(&mut self, piece: Piece) {
        self.change(|skips| {
            skips.piece = Some(piece);
            skips.is_pending = true;
        });
    }

    /// The last data packet, where it may have been one.
    pub(super) fn take_piece(&mut self) -> Option<Piece> {
        let piece = self.0.as_ref()?.piece?;
        self.change(|skips| {
            skips.piece = None;
            skips.settle_pending();
        });
        Some(piece)
    }

    /// Whether any ACK since the timer's packet made progress.
    pub(super) fn timer_is_answered(&self) -> bool {
        self.0.as_ref().is_some_and(|skips| skips.timer.is_answered)
    }

    /// Whether a packet with this `TSecr` was sent before its sender had got any ACK since the timer's.
    pub(super) fn is_unheard(&self, echo: Option<u32>) -> bool {
        self.0.as_ref().is_some_and(|skips| {
            let Timer {
                echo: before,
                answer,
                ..
            } = skips.timer;
            let unheard = |(before, answer)| later(answer, before);
            echo == before && before.zip(answer).is_some_and(unheard)
        })
    }

    /// How many of the ids that were skipped last were those of ACKs.
    pub(super) fn acks_skipped(&self) -> u16 {
        self.0.as_ref().map_or(0, |skips| skips.acks)
    }

    /// Whether more ids were skipped before the timer's packet than timers can have taken.
    pub(super) fn has_surplus(&self) -> bool {
        self.0.as_ref().is_some_and(|skips| skips.timer.surplus)
    }

    /// An ACK passed; `all_acked` when it covers all that was seen.
    pub(super) fn on_ack(&mut self, all_acked: bool) {
        self.change(|skips| skips.on_ack(all_acked));
    }
}
