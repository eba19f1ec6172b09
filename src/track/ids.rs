//! How a sender numbers its IP packets (RFC 6864), and what the numbers prove.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::hint::cold_path;

use super::half::HalfFlow;
use super::in_flight::Sent;
use super::turns::Turns;
use crate::decode::{Plain, Segment};
use crate::seq::{Seq, Unwrapper};
use crate::time::CaptureTime;

/// Unexplained skips from which on a counter may be one that connections share.
const DOUBTS_MIN: u16 = 4;

/// Steps observed before an id counter is believed.
const STEPS_MIN: u64 = 3;

/// Steps whose skips still count when the counter is believed only later: losses and swaps among
/// a flow's first packets delay that.
const EARLY_MAX: u32 = 8;

/// Steps that are counted, but for some more until it is looked at how many there are.
const STEPS_MAX: u32 = u32::MAX / 2;

/// Steps for each doubt, from which on a counter is this connection's even where most packets skip ids.
const PROVEN_STEPS: u64 = 64;

/// Steps in which ids would have been skipped more than once, while nothing was missing, did other connections count on
/// the same counter.
const OWN_STEPS: u64 = 1024;

/// The IPv4 identification of one direction's packets.
///
/// Linux counts up by one a packet on each connection; others count over all connections, send
/// zeros or random numbers. Only where a flow's ids are shown to count up by one are they
/// evidence, so each step is put into one of three boxes first.
#[derive(Clone, Debug, Default)]
pub(super) struct IdCounter {
    /// The highest id, unwrapped; starts well above 0 so that ids before it have a place. 0 before the first.
    unwrapped: u64,
    /// Packets that the last one will have become on the wire, under segmentation offload; 0 for a SYN, which may
    /// be numbered otherwise than what comes after it.
    last_packets: u16,
    /// Ids skipped by the last packet, as far as nothing explains them yet.
    last_skipped: u16,
    steps: u32,
    /// Packets on the wire of frames that a network card takes apart, besides one for each step; saturates.
    further: u32,
    /// Steps that were not by one, as far as nothing explains what they skipped.
    others: u32,
    /// Ids skipped for which neither a late packet nor bytes that are missing were seen; saturates.
    unexplained: u16,
    /// Saturates, as the next does.
    astray: u16,
    /// Skips while nothing was missing and nothing being repaired.
    doubts: u16,
    /// What [`counts`](Self::counts) said after the last packet.
    counting: bool,
    scope: Scope,
    turns: Turns,
}

/// Whose packets a counter counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    /// This connection's, as far as is known.
    #[default]
    Connection,
    /// The same for certain: its SYN-ACK had 0, as it came before there was a connection to count for.
    Own,
    /// Most likely those of all connections of its host, as of Windows.
    Host,
    /// Other connections' too, as so many skipped ids show; for good.
    Shared,
}

impl Scope {
    /// Whether it counts for this connection alone, as far as is known.
    fn is_connections(self) -> bool {
        matches!(self, Self::Connection | Self::Own)
    }
}

/// What one packet's id says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Unknown: the first packet, or ids that do not count.
    Unknown,
    /// Above the highest id so far, with so many skipped in between.
    Ahead(u16),
    /// Too early to know whether ids count: how many were skipped if they do, or how many are given back
    /// by one below the highest so far, negative.
    Early(i16),
    /// Below the highest id so far: overtaken on its way. So many ids are its own.
    Behind(u16),
    /// The same id again.
    Same,
}

impl Step {
    /// Ids skipped just before the packet, by a counter that is known to count.
    pub(super) fn skipped(self) -> u16 {
        match self {
            Self::Ahead(skipped) => skipped,
            Self::Unknown | Self::Early(_) | Self::Behind(_) | Self::Same => 0,
        }
    }
}

/// Ids skipped that nothing explains, besides two for each packet on the wire: repeats that an outage swallowed. With
/// more, others took them: the sender's host counts all that it sends, or a proxy for all its hosts.
const SKIPPED_MAX: u64 = 8;

impl IdCounter {
    /// Steps that can be told from noise: a counter of this flow cannot jump further between two
    /// packets seen here unless hundreds of packets in a row were lost.
    const JUMP_MAX: i16 = 1024;

    /// The same of a counter that is of this connection for certain: all that a queue of a quarter of a turn held was lost.
    const OUTAGE_MAX: i16 = Self::LATE_MAX;

    /// Packets that may overtake one whose bytes show it to be late or sent again: those of a quarter of a turn, which
    /// 10 Gbit/s carry in 20 ms. After more ids than the rest of the turn nobody sends again.
    const LATE_MAX: i16 = 1 << 14;

    /// Packets of a first flight: what ids may be apart before it is known that they count.
    const NEAR: i16 = 64;

    /// The highest id.
    fn last(&self) -> Option<u16> {
        (self.unwrapped > 0).then_some(self.unwrapped as u16)
    }

    /// Takes note of the id of a SYN, or of one more.
    pub(super) fn begin(&mut self, id: u16) {
        if self.steps == 0 {
            self.start_at(id, 0);
        }
    }

    /// Whether nothing but a SYN came before the packet with this id, which is the next one.
    pub(super) fn is_after_syn(&self, id: u16) -> bool {
        self.is_first() && self.last_packets == 0 && self.last() == Some(id.wrapping_sub(1))
    }

    /// Its host is one of those that count what they send on all connections.
    pub(super) fn suspect(&mut self) {
        if self.scope == Scope::Connection {
            self.scope = Scope::Host;
        }
    }

    /// Its host numbers a SYN-ACK with 0, as those do that count for each connection.
    pub(super) fn confirm(&mut self) {
        if self.scope == Scope::Connection {
            self.scope = Scope::Own;
        }
    }

    /// Whether it counts for this connection alone for certain.
    pub(super) fn is_confirmed(&self) -> bool {
        self.scope == Scope::Own
    }

    fn start_at(&mut self, id: u16, packets: u16) {
        self.last_packets = packets;
        self.unwrapped = (1 << 32) + u64::from(id);
    }

    /// Takes note of the id of a packet that stands for `packets` packets on the wire, where it is the next one of a
    /// counter, as nearly always; and a counter that is believed stays so by it. Else it is to be
    /// [observed](Self::observe).
    #[inline]
    fn takes_next(&mut self, id: u16, packets: u16) -> bool {
        let next = self.unwrapped + 1;
        let is_next = next as u16 == id
            && !Turns::are_due(id)
            && self.counting
            && packets == 1
            && self.last_packets == 1;
        if is_next {
            self.last_skipped = 0;
            self.unwrapped = next;
            // Which ends at `STEPS_MAX` whenever turns are due.
            self.steps += 1;
        }
        is_next
    }

    /// The same of any id. The packet passes at `at`; `is_below`: all its bytes lie below the highest one seen, so that
    /// it may be late by any number of packets.
    fn observe(&mut self, id: u16, packets: u16, at: CaptureTime, is_below: bool) -> Step {
        let before = self.unwrapped;
        let step = self.observe_any(id, packets, is_below);
        if self.counting {
            self.turns.note(before, self.unwrapped, at);
        }
        self.counting = self.counts();
        match step {
            _ if self.counting => step,
            Step::Ahead(skipped) if self.steps < EARLY_MAX => Step::Early(skipped.cast_signed()),
            Step::Behind(ids) if self.steps < EARLY_MAX => Step::Early(-ids.cast_signed()),
            _ => Step::Unknown,
        }
    }

    fn observe_any(&mut self, id: u16, packets: u16, is_below: bool) -> Step {
        let is_first = self.last_packets == 0;
        let Some(last) = self
            .last()
            .filter(|&last| !is_first || (1..=Self::NEAR).contains(&Self::distance(id, last)))
        else {
            self.start_at(id, packets);
            return Step::Unknown;
        };
        let delta = id.wrapping_sub(last).cast_signed();
        // What a host answers for a connection that is over for it, in TIME-WAIT say, it does not count.
        if id == 0 && self.counting && delta.unsigned_abs() > Self::JUMP_MAX.unsigned_abs() {
            return Step::Unknown;
        }
        self.steps = (self.steps + 1).min(STEPS_MAX);
        self.last_skipped = 0;
        match delta.cmp(&0) {
            Ordering::Equal => {
                // A packet seen twice says nothing of how its sender counts.
                self.steps -= 1;
                Step::Same
            }
            Ordering::Greater => {
                let own = i16::try_from(self.last_packets.max(1)).unwrap_or(i16::MAX);
                let skipped = (delta - own).max(0);
                let jump_max = if self.is_confirmed() && self.counting {
                    Self::OUTAGE_MAX
                } else {
                    Self::JUMP_MAX
                };
                if skipped > 0 {
                    self.others = self.others.saturating_add(1);
                    if delta > jump_max {
                        self.astray = self.astray.saturating_add(1);
                    } else {
                        self.last_skipped = skipped.unsigned_abs();
                        self.unexplained = self.unexplained.saturating_add(self.last_skipped);
                    }
                }
                self.last_packets = packets;
                let further = packets.saturating_sub(1);
                self.further = self.further.saturating_add(further.into());
                self.unwrapped += u64::from(delta.unsigned_abs());
                if delta > jump_max {
                    // Not so many packets in a row were lost: this id is no step of the counter.
                    Step::Unknown
                } else {
                    Step::Ahead(skipped as u16)
                }
            }
            Ordering::Less => {
                let late_max = if is_below && self.counting {
                    Self::LATE_MAX
                } else {
                    Self::JUMP_MAX
                };
                if delta < -late_max {
                    self.others = self.others.saturating_add(1);
                    self.astray = self.astray.saturating_add(1);
                    self.last_packets = packets;
                    self.unwrapped += 1 << 16;
                    self.unwrapped = self.unwrap(id);
                } else {
                    // A packet that comes late says nothing of how its sender counts.
                    self.steps -= 1;
                    self.explain(packets);
                }
                // No more are skipped at a time.
                Step::Behind(packets.min(Self::JUMP_MAX.unsigned_abs()))
            }
        }
    }

    /// The last packet left out bytes that take so many packets: those whose ids it skipped. Where that is all of them,
    /// it is the next one of a counter.
    pub(super) fn explain_last(&mut self, packets: i64) {
        let explained = packets.min(i64::from(self.last_skipped)) as u16;
        self.last_skipped -= explained;
        self.explain(explained);
        let is_next = explained > 0 && self.last_skipped == 0;
        self.others = self.others.saturating_sub(u32::from(is_next));
        self.counting = self.counts();
    }

    /// Bytes are missing that take so many packets, of a flow's first: those whose ids were skipped before.
    pub(super) fn explain_early(&mut self, packets: i64) {
        self.explain(u16::try_from(packets).unwrap_or(u16::MAX));
        self.counting = self.counts();
    }

    fn explain(&mut self, ids: u16) {
        if self.unexplained < u16::MAX {
            self.unexplained = self.unexplained.saturating_sub(ids);
        }
    }

    /// Ids were skipped, but no byte of the stream, and no loss was being repaired: another
    /// connection may have taken them. But not where they were as many as a frame of several packets has itself, which
    /// are most likely those of another frame: of this connection, unless its host counts over all, whose uploads beside
    /// each other have frames of one size.
    pub(super) fn doubt(&mut self) {
        let is_frame = self.last_packets > 1 && self.last_skipped == self.last_packets;
        if is_frame && self.scope.is_connections() {
            return;
        }
        self.doubts = self.doubts.saturating_add(1);
        if self.doubts >= DOUBTS_MIN && u64::from(self.doubts) * 20 > self.steps.into() {
            self.scope = Scope::Shared;
        }
        self.counting = self.counts();
    }

    /// Others count on it too, for certain.
    pub(super) fn share(&mut self) {
        self.scope = Scope::Shared;
        self.counting = false;
    }

    /// The unwrapped id nearest to the highest one so far: that of a packet which passes now.
    pub(super) fn unwrap(&self, id: u16) -> u64 {
        Self::nearest(self.unwrapped, id)
    }

    /// The unwrapped id of a packet that passed at `at`.
    pub(super) fn unwrap_at(&self, at: CaptureTime, id: u16) -> u64 {
        Self::nearest(self.turns.near(at).unwrap_or(self.unwrapped), id)
    }

    fn nearest(middle: u64, id: u16) -> u64 {
        let delta = id.wrapping_sub(middle as u16).cast_signed();
        middle.wrapping_add_signed(i64::from(delta))
    }

    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.turns.memory_bytes()
    }

    /// Whether the ids of this direction count up by one: most do, or hardly any is missing that no
    /// loss and no late packet explains, as where half of the packets are lost. Where hardly
    /// any was ever skipped but in a repair, three of four steps may skip some, as of a sender each of whose repeats has
    /// a new packet behind it that is lost.
    pub(super) fn counts(&self) -> bool {
        let steps = u64::from(self.steps);
        let proven_from = PROVEN_STEPS * u64::from(self.doubts.max(1));
        let is_proven = self.astray == 0 && steps >= proven_from;
        let most = if is_proven { 3 } else { 2 };
        steps >= STEPS_MIN
            && (u64::from(self.others) * 4 <= steps * most
                || u64::from(self.unexplained) * 4 <= steps)
            && u64::from(self.astray) * 20 <= steps
            && u64::from(self.unexplained) <= 2 * self.packets() + SKIPPED_MAX
            && self.scope != Scope::Shared
    }

    /// Packets on the wire that its steps were of.
    fn packets(&self) -> u64 {
        u64::from(self.steps) + u64::from(self.further)
    }

    /// Whether hardly any id was skipped before the last packet that no loss and no late packet explains: a host that
    /// counts all it sends skips those of its other connections.
    pub(super) fn is_of_its_own(&self) -> bool {
        let before = self.unexplained.saturating_sub(self.last_skipped);
        u64::from(before) * 4 <= self.steps.into()
    }

    /// Whether skipped ids were most likely this connection's: others would have shown by now, or its host is one that
    /// counts for each connection, which only one `is_known` tells of which its SYN or timestamps were seen.
    pub(super) fn is_unshared(&self, is_known: bool) -> bool {
        let is_own = is_known && self.scope.is_connections();
        is_own || u64::from(self.steps) >= OWN_STEPS * u64::from(self.doubts.max(1))
    }

    /// Whether ids tell the packets of this direction apart, however they are chosen: of the `packets` that passed,
    /// each no more than four times, nearly all had one that the one before had not.
    pub(super) fn tell_apart(&self, packets: u64) -> bool {
        self.steps > 0 && (u64::from(self.steps) + 1) * 4 >= packets
    }

    /// Ids skipped for which neither a late packet nor bytes that are missing were seen; saturates.
    pub(super) fn unexplained(&self) -> u16 {
        self.unexplained
    }

    /// The last packet stands for so many.
    pub(super) fn count_last(&mut self, packets: u16) {
        self.last_packets = packets;
    }

    /// Ids skipped before the last packet for which nothing that is missing was seen.
    #[inline]
    pub(super) fn last_skipped(&self) -> u16 {
        self.last_skipped
    }

    /// Whether none was far from the one before: all that were skipped are known.
    pub(super) fn is_near(&self) -> bool {
        self.astray == 0
    }

    /// Whether the last packet's id was the first one seen: what was sent before it skipped none.
    pub(super) fn is_first(&self) -> bool {
        self.unwrapped > 0 && self.steps == 0
    }

    /// Whether nothing but SYNs, or one packet, came before the last one.
    pub(super) fn is_second(&self) -> bool {
        self.steps == 1
    }

    /// Whether it may still turn out that what a flow's first packets skipped counts.
    pub(super) fn may_count(&self) -> bool {
        self.steps < EARLY_MAX && self.astray == 0 && self.scope != Scope::Shared
    }

    /// Whether ids count, or may turn out to, as one at least was the next.
    pub(super) fn may_be_a_counter(&self) -> bool {
        self.steps > self.others && (self.counting || self.may_count())
    }

    /// Whether ids may count, though too few have been seen to tell, and `id` is a little below
    /// `other`: a repeat has a later one of any counter, and hardly any random number is so near.
    pub(super) fn is_just_before(&self, id: u16, other: u16) -> bool {
        u64::from(self.steps) < STEPS_MIN
            && self.astray == 0
            && self.scope != Scope::Shared
            && (-Self::NEAR..0).contains(&Self::distance(id, other))
    }

    /// The same where `other` is a little below `id`, the latest one: that is a repeat's.
    pub(super) fn is_just_after(&self, id: u16, other: u16) -> bool {
        self.is_just_before(other, id) && self.last() == Some(id)
    }

    /// Whether a packet that passes now has the same id as one that passed at `at`, and not that of a later turn.
    pub(super) fn are_same(&self, own: Option<u16>, at: CaptureTime, id: u16) -> bool {
        own == Some(id) && self.unwrap(id) == self.unwrap_at(at, id)
    }

    /// Whether one packet was sent after another, by when they passed and, within an instant, by their ids.
    pub(super) fn is_later(one: (CaptureTime, u16), other: (CaptureTime, u16)) -> bool {
        one.0 > other.0 || one.0 == other.0 && Self::distance(one.1, other.1) > 0
    }

    /// Signed distance from `earlier` to `later` on the counter.
    fn distance(later: u16, earlier: u16) -> i16 {
        later.wrapping_sub(earlier).cast_signed()
    }
}

impl HalfFlow {
    /// Takes note of the id of a packet that stands for `packets` packets on the wire: what it says.
    #[inline]
    pub(super) fn observe_id<P: Plain>(&mut self, id: u16, packets: u16, packet: P) -> Step {
        if self.ids.takes_next(id, packets) {
            return Step::Ahead(0);
        }
        cold_path();
        self.observe_other_id(
            (id, packets),
            packet.at(),
            packet.seq(),
            packet.payload_len(),
        )
    }

    #[inline(never)]
    fn observe_other_id(
        &mut self,
        (id, packets): (u16, u16),
        at: CaptureTime,
        seq: Seq,
        len: u32,
    ) -> Step {
        let is_below = self.is_below_highest(seq, len);
        // An ACK that comes twice in a row, of a host that gives packets ids of their own.
        let is_again = len == 0 && id > 0 && self.ids.last() == Some(id) && self.ids.steps > 0;
        match self.ids.observe(id, packets, at, is_below) {
            Step::Unknown if is_again => Step::Same,
            step => step,
        }
    }

    /// Of so many ids that the last packet skipped, while the peer has sent nothing but SYNs, how many took the ACKs that
    /// these ask for: each copy one, as far as none of these ACKs can have passed before.
    pub(super) fn asked_by_syns(&self, peer: &Self, skipped: u16) -> u16 {
        let copies = if self.ids.is_second() {
            peer.packets
        } else {
            1
        };
        u16::try_from(copies).map_or(skipped, |copies| copies.min(skipped))
    }

    /// Whether a packet has payload, all of it below the highest byte seen.
    pub(super) fn is_below_highest(&self, seq: Seq, len: u32) -> bool {
        let end = |unwrapper: Unwrapper| unwrapper.offset(seq, self.high) + i64::from(len);
        len > 0 && self.unwrapper().is_some_and(|base| end(base) <= self.high)
    }

    /// Whether a packet whose bytes, up to `end`, are no longer remembered is the first that carried them, seen again,
    /// as where the records of two interfaces were written one after the other: since its id as many were taken as
    /// packets carry all that lies above, while a repeat comes after some of these.
    pub(super) fn is_first_copy_by_id(&self, segment: &Segment, end: i64) -> bool {
        let (Some(own), Some(last)) = (segment.ip_id, self.ids.last()) else {
            return false;
        };
        let above = (self.high - end) / i64::from(self.packet_size.full()).max(1);
        let since = i64::from(IdCounter::distance(last, own));
        self.ids.counts() && above > 0 && since >= above
    }

    /// Whether the id of a packet of this sender is its own: not 0, as of a host that does not number its packets, nor
    /// one that others have as well. Of the second packet that is seen nobody knows that it has another's.
    pub(super) fn is_numbered(&self, segment: &Segment) -> bool {
        let may_differ = self.packets == 1 || self.ids.tell_apart(self.packets);
        segment.ip_id.is_some_and(|id| id > 0) && may_differ
    }

    /// Whether neither the packet just below `sent` in the stream nor the one just above had the same id.
    pub(super) fn has_own_id(&self, sent: &Sent) -> bool {
        let index = self.in_flight.overlapping(sent.start, sent.end()).start;
        let parts = self.in_flight.one_packet(index);
        let beside = [parts.start.checked_sub(1), Some(parts.end)];
        let mut others = beside
            .into_iter()
            .flatten()
            .filter_map(|index| self.in_flight.get(index));
        others.all(|other| other.id != sent.id)
    }
}
