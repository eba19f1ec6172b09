//! What becomes of skipped ids: delivered, waiting to be repeated, repeated.

use std::collections::VecDeque;

use super::{Gap, Skips, Slot};
use crate::time::CaptureTime;

/// Skipped ids remembered until they are known to be lost, which may be all that 10 Gbit/s over 150 ms hold; beyond,
/// the oldest is forgotten and never counts as waiting.
const SKIPPED_MAX: usize = 1 << 17;

/// ACKs remembered on their way from here to the sender. Where there are more, every other one stands for two, and what
/// it tells is known that much later.
const ON_THE_WAY_MAX: usize = 8192;

/// ACKs remembered that moved the cumulative ACK, 16 KiB of them. Where there are more, every other one stands for two,
/// and the sender's left edge is taken for that much higher than it is.
const PROGRESS_MAX: usize = 1024;

/// Packets emitted later that must have been delivered before one counts as lost, outside of
/// recovery (RFC 5681 section 3.2, RFC 8985 section 6.2).
const LATER_MIN: u64 = 3;

impl Skips {
    /// Memory that they hold, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.skipped.capacity() * size_of::<Slot>()
            + self.unseen_new.capacity() * size_of::<(u64, CaptureTime)>()
            + self.on_the_way.capacity() * size_of::<(CaptureTime, u64)>()
            + self.progress.capacity() * size_of::<(CaptureTime, i64)>()
            + self.waiting.capacity() * size_of::<CaptureTime>()
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        debug_assert_eq!(self.is_busy, self.has_any());
        !self.is_busy
    }

    fn has_any(&self) -> bool {
        !(self.skipped.is_empty() && self.waiting.is_empty() && self.unseen_new.is_empty())
            || self.all_lost
            || self.is_pending
    }

    /// Finds out anew whether anything goes on.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.is_busy = self.has_any();
    }

    /// Finds out anew whether anything is pending.
    pub(super) fn settle_pending(&mut self) {
        self.is_pending = self.is_early || self.sent_to.is_some() || self.piece.is_some();
    }

    pub(super) fn on_skipped(&mut self, gap: &Gap) {
        let Gap {
            id,
            skipped,
            old,
            due,
            repeated_to,
            high,
            at,
            since,
            recovering,
            acks,
            follows_syn,
            asked_by_syns: _,
            left_out,
            repeats,
            first_repeat,
            begins,
            in_order,
            missing_below,
            overdue_by,
            heard_all,
            tried,
            lay_above,
            are_records_missing,
            has_told_unseen,
        } = *gap;
        let lay_above = lay_above && !self.has_late;
        self.learn(at, recovering);
        if heard_all {
            self.on_ack(true);
        }
        if overdue_by.is_some() && !self.waiting.is_empty() {
            self.learn_in_repair(at);
        }
        let known_by = |by| self.waiting.partition_point(|&known| known <= by);
        // One of them waits for this packet, which is in the repair.
        let is_overdue = overdue_by.is_some_and(|by| known_by(by) > 1);
        let old = missing_below.unwrap_or(old);
        // What waits above all that was seen was repeated first.
        let above = if heard_all { self.waiting.len() } else { 0 };
        let old = old.saturating_add(u16::try_from(above).unwrap_or(u16::MAX));
        let old = if lay_above { 0 } else { old };
        let begins = begins || (in_order || missing_below.is_some()) && !is_overdue;
        let first_repeat = first_repeat && !is_overdue || lay_above;
        self.repeated_to = self.repeated_to.max(repeated_to.unwrap_or(i64::MIN));
        let certain = left_out.saturating_add(due).min(skipped);
        let data = certain.max(skipped.saturating_sub(acks));
        self.acks = skipped - data;
        // What is numbered no higher than its sender was known to have sent leaves nothing more out.
        let is_told = left_out == 0 && self.sent_to > Some(high);
        let more = match (is_told, are_records_missing || has_told_unseen) {
            (true, _) => 0,
            (false, true) => data,
            (false, false) => skipped,
        };
        self.at_high = add_at(self.at_high, high, more);
        self.all = self.all.saturating_add(u32::from(skipped));
        if lay_above && data > 0 {
            self.lay_above = Some(high);
        }
        if follows_syn {
            self.lost += u64::from(certain);
            self.lost_with_syn = u64::from(skipped - certain);
        } else {
            self.lost += u64::from(data);
        }
        if are_records_missing {
            self.unrecorded = add_at(self.unrecorded, high, data);
            return;
        }
        let first = id - u64::from(skipped);
        let news = if begins {
            first..first + u64::from(data.saturating_sub(old))
        } else {
            first + u64::from(old)..first + u64::from(data)
        };
        for id in first..id {
            if self.skipped.len() == SKIPPED_MAX {
                self.skipped.pop_front();
            }
            self.skipped.push_back(Slot {
                id,
                repeated: false,
                may_be_ack: data < skipped,
            });
            let is_new = news.contains(&id);
            let is_tried = id < first + u64::from(tried);
            let may_repeat = !(is_tried || first_repeat || begins && is_new);
            if may_repeat && self.waiting.len() > usize::from(repeats) {
                self.waiting.pop_front();
            } else if is_tried || !self.all_lost && is_new {
                if self.unseen_new.len() == SKIPPED_MAX {
                    self.unseen_new.pop_front();
                }
                self.unseen_new.push_back((id, since));
            }
        }
    }

    /// What the sender knows by the time it emits a packet that passes at `at`.
    #[inline(always)]
    pub(super) fn learn(&mut self, at: CaptureTime, recovering: bool) {
        while let Some(&(effective, id)) = self.on_the_way.front() {
            if effective > at {
                break;
            }
            self.delivered = self.delivered.max(id);
            self.on_the_way.pop_front();
            let later = if recovering { 1 } else { LATER_MIN };
            while let Some(slot) = self.skipped.front().copied()
                && slot.id + later <= self.delivered
            {
                self.skipped.pop_front();
                self.wait(slot, effective);
                self.settle();
            }
        }
    }

    /// What the sender knows at `at` once it has begun to repeat what it knew to be lost, all copies of which may be
    /// among the skipped: then each packet counts as lost that one sent later was delivered of (RFC 8985 section 6.2).
    fn learn_in_repair(&mut self, at: CaptureTime) {
        while let Some(slot) = self.skipped.front().copied()
            && slot.id < self.delivered
        {
            self.skipped.pop_front();
            self.wait(slot, at);
        }
    }

    /// What was skipped as `slot` is known to be lost from `since` on, and waits to be repeated, if it has not been.
    fn wait(&mut self, slot: Slot, since: CaptureTime) {
        if slot.repeated {
            return;
        }
        match self.ahead.checked_sub(1) {
            Some(others) => self.ahead = others,
            None => self.waiting.push_back(since),
        }
    }

    pub(super) fn note_progress(&mut self, at: CaptureTime, edge: i64) {
        if self.progress.len() == PROGRESS_MAX {
            thin_out(&mut self.progress);
        }
        self.progress.push_back((at, edge));
    }

    /// Where an id is among those that were skipped.
    pub(super) fn place(&self, id: u64) -> Option<usize> {
        self.skipped.binary_search_by_key(&id, |slot| slot.id).ok()
    }

    pub(super) fn on_late(&mut self, id: u64, is_data: bool) {
        self.has_late = true;
        self.all = self.all.saturating_sub(1);
        let slot = self.place(id).and_then(|index| self.skipped.remove(index));
        if slot.is_none() {
            self.waiting.pop_back();
        }
        // Where some were ACKs, one without payload is one of them.
        if is_data || slot.is_none_or(|slot| !slot.may_be_ack) {
            self.lost = self.lost.saturating_sub(1);
        }
        if let Ok(index) = self.unseen_new.binary_search_by_key(&id, |&(id, _)| id) {
            self.unseen_new.remove(index);
        }
    }

    #[inline(always)]
    pub(super) fn on_delivered(&mut self, id: u64, effective: CaptureTime) {
        if self.on_the_way.back().is_some_and(|&(_, last)| last >= id) {
            return;
        }
        if self.on_the_way.len() == ON_THE_WAY_MAX {
            thin_out(&mut self.on_the_way);
        }
        self.on_the_way.push_back((effective, id));
    }

    pub(super) fn on_repeat(&mut self) {
        // Its sender may have known by fewer packets that it is lost.
        if self.waiting.pop_front().is_none() {
            self.ahead += 1;
        }
    }

    pub(super) fn on_higher(
        &mut self,
        above: i64,
        mss: u32,
        repeats: bool,
        at: CaptureTime,
        slack_ns: i64,
    ) {
        if repeats {
            let packets = (above as u64).div_ceil(u64::from(mss.max(1))) as usize;
            let mut some = false;
            // Mostly the sender does not know yet that these are lost, and when it does, they are repeated already.
            for _ in 0..packets.min(self.unseen_new.len()) {
                let Some((id, _)) = self.unseen_new.pop_front() else {
                    break;
                };
                if let Some(slot) = self.place(id).and_then(|index| self.skipped.get_mut(index)) {
                    slot.repeated = true;
                    some = true;
                }
            }
            if !some {
                self.on_repeat();
            }
        } else {
            // New data is sent only when nothing waits.
            self.unseen_new.clear();
            self.all_lost = false;
            while self
                .waiting
                .front()
                .is_some_and(|&known| at.since(known) > slack_ns)
            {
                self.waiting.pop_front();
            }
        }
    }

    pub(super) fn on_timeout(&mut self) {
        self.all_lost = true;
        self.waiting.clear();
        self.ahead = 0;
    }

    pub(super) fn on_ack(&mut self, all_acked: bool) {
        if all_acked && self.unseen_new.is_empty() {
            // Nothing is left of what a timeout gave up, either.
            self.waiting.clear();
            self.ahead = 0;
            self.all_lost = false;
        }
    }
}

/// So many packets more, counted from 0 again where `high`, the highest byte seen, is another one than they were counted at.
fn add_at((reached, packets): (i64, u32), high: i64, more: u16) -> (i64, u32) {
    let before = if reached == high { packets } else { 0 };
    (high, before.saturating_add(more.into()))
}

/// Takes out every other one, the first of all among them: what it tells is told by the next as well.
#[cold]
fn thin_out<T>(list: &mut VecDeque<T>) {
    let mut stays = true;
    list.retain(|_| {
        stays = !stays;
        stays
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_acks_than_are_kept_on_their_way_the_sender_hears_somewhat_later() {
        // One a microsecond, of one more id each, of which all are on their way at once.
        let mut skips = Skips::default();
        let at = |id: u64| CaptureTime::from_ns(1_000 * id.cast_signed());
        let acks = 4 * ON_THE_WAY_MAX as u64;
        for id in 1..=acks {
            skips.on_delivered(id, at(id));
            skips.note_progress(at(id), id.cast_signed());
        }
        assert!(skips.on_the_way.len() <= ON_THE_WAY_MAX && skips.progress.len() <= PROGRESS_MAX);
        for now in (1..=acks).step_by(777) {
            skips.learn(at(now), false);
            // Thinned out at 8,192 and each 4,096 more, seven times: of the oldest one in 128 is left.
            let late = now - skips.delivered;
            assert!(late < 128, "{now}: {late} later");
        }
        skips.learn(at(acks), false);
        assert_eq!(skips.delivered, acks);
    }

    #[test]
    fn what_was_repeated_early_is_forgotten_when_all_is_given_up_or_acknowledged() {
        // How many wait to be repeated once id 1, which was skipped, is known to be lost by a later one.
        let waiting = |forget: fn(&mut Skips)| {
            let mut skips = Skips::default();
            skips.on_repeat();
            forget(&mut skips);
            skips.skipped.push_back(Slot {
                id: 1,
                repeated: false,
                may_be_ack: false,
            });
            let at = CaptureTime::from_ns(1);
            skips.on_delivered(1 + LATER_MIN, at);
            skips.learn(at, false);
            skips.waiting.len()
        };
        // The repeat was of this one, of which its sender knew sooner.
        assert_eq!(waiting(|_| {}), 0);
        // It was of what came before.
        assert_eq!(waiting(Skips::on_timeout), 1);
        assert_eq!(waiting(|skips| skips.on_ack(true)), 1);
    }
}
