//! Repeats of one direction that repair what was lost, while they go on.

use std::num::NonZeroI64;

use super::last_repeat::LastRepeat;
use super::timeouts::AfterTimeout;

/// What a sender had heard of a hole by what it sends then, as far as its echo or id tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Heard {
    #[default]
    Unknown,
    /// The same, and what it sends was sent before another packet that has passed, as ids tell.
    UnknownLate,
    /// No ACK that told of it.
    Nothing,
    /// One that asked for it, and nothing that passed long after that.
    Asked,
    /// One that asked for it, and what passed round trips after that: it had repeated it before.
    AskedLongAgo,
}

/// What the last packet of a sender was, as far as ids that are skipped before the next one are judged by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Last {
    #[default]
    Other,
    /// A keep-alive or a window probe, which others may have followed that never came here.
    Probe,
    /// A timer's, the first that repeats bytes at or above the highest byte seen, as far as skipped ids tell.
    Timer,
    /// The same, and ids were skipped in a pause just before it.
    TimerBehindSkipped,
}

impl Last {
    /// A timer's, `behind` ids that were skipped in a pause.
    pub(super) fn timer(behind: bool) -> Self {
        if behind {
            Self::TimerBehindSkipped
        } else {
            Self::Timer
        }
    }

    #[inline(always)]
    pub(super) fn is_timer(self) -> bool {
        self >= Self::Timer
    }
}

/// What the repeats of a sender have shown of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Repeated {
    /// There were none.
    #[default]
    Nothing,
    /// There were some.
    Some,
    /// It finds out which of them are lost: it went back below what it had repeated as it was asked for.
    Lost,
}

/// What one direction has repeated, and how far it will go on with that.
#[derive(Clone, Debug, Default)]
pub(super) struct Repair {
    /// Repair of losses goes on until this offset is acknowledged.
    until: MaybeOffset,
    /// Where what was repeated as it was asked for ended highest, since ever.
    asked_to: MaybeOffset,
    /// Repair after a timeout, while it goes on, or may go on though it was told to be for nothing.
    pub(super) timeout: Option<Box<AfterTimeout>>,
    /// Nobody probes before this offset is acknowledged: in the room of a number, so that what is 0 is not known.
    probed_to: Option<NonZeroI64>,
    pub(super) last_repeat: LastRepeat,
    /// The last data packet at or above the highest byte seen repeated bytes, as far as skipped ids
    /// tell.
    pub(super) is_of_tail: bool,
    pub(super) last: Last,
    repeated: Repeated,
    /// Of the hole that the data fills that is about to be taken in.
    pub(super) heard: Heard,
}

/// An offset, or none, in the room of an offset: the lowest of all is none, and stands for that as 0, which is found out
/// quickest.
#[derive(Clone, Copy, Debug, Default)]
struct MaybeOffset(i64);

impl MaybeOffset {
    const NONE: Self = Self(0);

    #[inline(always)]
    fn is_some(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    fn get(self) -> Option<i64> {
        self.is_some().then_some(self.0 ^ i64::MIN)
    }

    /// This or that, whichever is higher.
    fn or_higher(self, offset: i64) -> Self {
        let higher = self.get().map_or(offset, |known| known.max(offset));
        Self(higher ^ i64::MIN)
    }
}

impl Repair {
    /// Up to where acknowledgements end the repair of losses that goes on; `None` where none does.
    #[inline(always)]
    pub(super) fn until(&self) -> Option<i64> {
        self.until.get()
    }

    /// `start..end` was repeated as it was asked for, where all below `edge` is acknowledged. SACK asks for each packet once,
    /// the lowest first (RFC 6675 section 5): who goes back has found a repeat to be lost (RFC 8985 section 6.2).
    pub(super) fn note_asked(&mut self, start: i64, end: i64, edge: Option<i64>) {
        let was_asked = Some(start) > edge && self.asked_to.get() > Some(start);
        if was_asked && self.heard != Heard::UnknownLate {
            self.repeated = Repeated::Lost;
        }
        self.asked_to = self.asked_to.or_higher(end);
    }

    /// Whether its sender is known to find out which of its repeats are lost.
    pub(super) fn finds_lost(&self) -> bool {
        self.repeated == Repeated::Lost
    }

    /// A packet that repeats bytes was seen.
    pub(super) fn note_repeated(&mut self) {
        self.repeated = self.repeated.max(Repeated::Some);
    }

    /// Whether one was.
    pub(super) fn has_repeated(&self) -> bool {
        self.repeated > Repeated::Nothing
    }

    /// Whether a sender that knows no more than what lies below `edge` to have arrived is in a fast repair: it was asked for
    /// something above, and leaves that repair when more than that is acknowledged (RFC 6675 section 5).
    pub(super) fn was_asked_above(&self, edge: i64) -> bool {
        self.asked_to.get() > Some(edge)
    }

    /// Repair after a timeout, while it goes on as far as is known.
    pub(super) fn after_timeout(&self) -> Option<&AfterTimeout> {
        self.timeout.as_deref().filter(|after| !after.taken_back)
    }

    /// Whether losses are being repaired.
    #[inline(always)]
    pub(super) fn goes_on(&self) -> bool {
        self.until.is_some()
    }

    /// A repeat has passed: what had been sent, up to `high`, is under repair.
    pub(super) fn extend_to(&mut self, high: i64) {
        self.until = self.until.or_higher(high);
    }

    /// A probe repeats the last of all that had been sent, up to `sent_to`: until more than that is acknowledged there is no
    /// other (RFC 8985 section 7.4.2, `TLP.end_seq`), unless that one [is over](Self::end_probe) before.
    pub(super) fn begin_probe(&mut self, sent_to: i64) {
        self.probed_to = NonZeroI64::new(sent_to + 1);
    }

    /// A DSACK told that the last probe was for nothing, or its sender repairs what was lost: it has no probe any more.
    pub(super) fn end_probe(&mut self) {
        self.probed_to = None;
    }

    /// Whether the last packet may be probed for where all below `una` is acknowledged.
    pub(super) fn may_probe(&self, una: i64) -> bool {
        self.probed_to.is_none_or(|to| una >= to.get())
    }

    /// Nobody probes before all below `sent_to` is acknowledged (RFC 8985 section 7.3).
    pub(super) fn put_off_probes(&mut self, sent_to: i64) {
        self.probed_to = self.probed_to.max(NonZeroI64::new(sent_to));
    }

    /// The next part of the stream has passed, and repeats nothing.
    #[inline(always)]
    pub(super) fn on_new(&mut self) {
        self.last = Last::Other;
        self.is_of_tail = false;
        self.last_repeat = LastRepeat::NONE;
    }

    /// The cumulative ACK moves to `ack`.
    #[inline(always)]
    pub(super) fn on_progress(&mut self, ack: i64) {
        if self.until().is_some_and(|until| ack >= until) {
            self.until = MaybeOffset::NONE;
        }
        if self
            .timeout
            .as_ref()
            .is_some_and(|after| after.ends_at(ack))
        {
            self.timeout = None;
        }
    }

    /// What began it was no repeat.
    pub(super) fn forget(&mut self) {
        self.until = MaybeOffset::NONE;
        self.timeout = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Heard, Repair};

    #[test]
    fn a_repair_goes_on_until_all_that_had_been_sent_is_acknowledged() {
        let mut repair = Repair::default();
        assert!(!repair.goes_on());
        repair.extend_to(3000);
        repair.extend_to(2000);
        repair.on_progress(2999);
        assert!(repair.goes_on());
        repair.on_progress(3000);
        assert!(!repair.goes_on());
    }

    #[test]
    fn who_was_asked_for_more_than_has_arrived_is_in_a_fast_repair_in_whatever_order() {
        let mut repair = Repair::default();
        assert!(!repair.was_asked_above(-1));
        repair.note_asked(4000, 5000, None);
        repair.note_asked(1000, 2000, None);
        assert!(repair.was_asked_above(4000));
        assert!(!repair.was_asked_above(5000));
    }

    #[test]
    fn who_goes_back_above_the_lowest_bytes_finds_out_which_repeats_are_lost() {
        let finds_lost = |heard: Heard, start: i64, edge: i64| {
            let mut repair = Repair::default();
            repair.note_asked(2000, 3000, Some(edge));
            repair.note_asked(5000, 6000, Some(edge));
            repair.heard = heard;
            repair.note_asked(start, start + 1000, Some(edge));
            repair.finds_lost()
        };
        assert!(finds_lost(Heard::Unknown, 3000, 2000));
        assert!(!finds_lost(Heard::Unknown, 6000, 2000));
        // A timer may have brought them.
        assert!(!finds_lost(Heard::Unknown, 2000, 2000));
        // The network has turned them round.
        assert!(!finds_lost(Heard::UnknownLate, 3000, 2000));
    }
}
