//! Whether a packet is one that passed before: the network copies packets, captures of several places have each more
//! than once, and hosts merge them to frames and cut these.

use super::delays::{TIMER_NS_MIN, nearly};
use super::earlier_copies::EarlierCopy;
use super::half::HalfFlow;
use super::in_flight::{Marks, Sent};
use super::rtt::{OwnEcho, later};
use crate::decode::Segment;
use crate::event::{Class, Evidence};

/// Without ids that count and clocks, a copy of a first repeat is the network's only when it follows
/// this closely, in ns: mirror ports and bonded links copy within microseconds.
const COPY_GAP_NS: i64 = 1_000_000;

impl HalfFlow {
    /// Whether a segment that begins at `start` is the very packet that passed as `earlier`, and what
    /// shows it.
    pub(super) fn is_network_copy(
        &self,
        segment: &Segment,
        start: i64,
        earlier: &Sent,
    ) -> Option<Evidence> {
        let first = self.in_flight.first_copy(earlier);
        let same_tsval = segment
            .timestamps
            .is_none_or(|ts| ts.value == earlier.tsval || ts.value == first.tsval);
        if !same_tsval {
            return None;
        }
        let may_count = self.ids.counts() || self.ids.may_count();
        if may_count
            && (self.is_part_of(segment, start, earlier)
                || self.is_small_part_of(segment, start, earlier))
        {
            return Some(Evidence::IpId);
        }
        if self.ids.counts() {
            let is = |copy: EarlierCopy| self.ids.are_same(segment.ip_id, copy.at, copy.id);
            let latest = earlier.latest();
            // A repeat may be cut otherwise than the range it repeats, or go on above the hole that it fills.
            let is_repeated = earlier.copies > 1 || earlier.marks.has(Marks::RESENT);
            let same = is(latest) && is_repeated
                || (is(latest) || is(first)) && segment.payload_len == earlier.len;
            return same.then_some(Evidence::IpId);
        }
        if self.cannot_be_a_copy() {
            return None;
        }
        let gap_ns = segment.at.since(earlier.at).saturating_abs();
        let is_cut = self.is_cut_otherwise(segment, start, earlier)
            && (gap_ns <= COPY_GAP_NS || self.is_cut_by_cards(segment, start, earlier));
        if is_cut && self.is_too_soon(segment, earlier, gap_ns) {
            return Some(Evidence::Timing);
        }
        let same_id = segment.ip_id.is_none_or(|id| id == earlier.id);
        if !same_id {
            return None;
        }
        // A repeat that was cut otherwise has no range of its own: the last one ended there, too.
        let end = start + i64::from(segment.payload_len);
        let same_bytes = earlier.start == start && segment.payload_len == earlier.len
            || earlier.copies > 1 && segment.timestamps.is_some() && self.last_repeat_ended_at(end)
            || self.passed_whole(start, end);
        if !same_bytes {
            return None;
        }
        // Nothing holds a copy up for as long as a timer takes, and a sender may keep the packet as it was.
        let before_timer = gap_ns < TIMER_NS_MIN;
        if before_timer && self.is_numbered(segment) && self.has_own_id(earlier) {
            return Some(Evidence::IpId);
        }
        // The sender's clock had gone on before it came, or must have: it was not emitted now, unless it is of a sender
        // that keeps its packets as they were.
        let newest = self.echoes.newest();
        let before_timeout = before_timer || gap_ns < self.delays.timeout_ns();
        if segment.timestamps.is_some_and(|ts| {
            before_timeout && newest.is_some_and(|newest| later(newest, ts.value))
                || before_timer
                    && ts.value == earlier.tsval
                    && self.has_ticked(earlier.at, ts.value, segment.at)
        }) {
            return Some(Evidence::Tsval);
        }
        // What a timer makes the sender repeat, it repeats in order, up to what it sent last.
        let is_next =
            self.last_repeat_ended_at(start) || self.is_edge_due(earlier, start, segment.at);
        if is_next && gap_ns > COPY_GAP_NS {
            return None;
        }
        // Where copies pass, a queue may hold them up for longer than the shortest round trip.
        let held_up =
            self.seen_acks.expects_copies() && self.has_no_reason(start, end, earlier, gap_ns);
        let close = self.is_too_soon(segment, earlier, gap_ns);
        (close || held_up || self.copies_follow(earlier, gap_ns)).then_some(Evidence::Timing)
    }

    /// Whether one packet brought `start..end`, of which a part had passed before.
    fn passed_whole(&self, start: i64, end: i64) -> bool {
        let lowest = self.in_flight.overlapping(start, end).start;
        let parts = self.in_flight.one_packet(lowest);
        let begins = |sent: &Sent| sent.start == start;
        let ends = |sent: &Sent| sent.end() == end;
        self.in_flight.get(parts.start).is_some_and(begins)
            && self.in_flight.get(parts.end - 1).is_some_and(ends)
    }

    /// Whether the segment that is judged echoes what no packet of its sender did before, so that it is none of these
    /// again, and later than all of them. Where copies pass, the ACK that it echoes may have been recorded too late.
    pub(super) fn cannot_be_a_copy(&self) -> bool {
        matches!(self.own_echo, OwnEcho::News | OwnEcho::Counted)
            && !self.seen_acks.expects_copies()
    }

    /// Whether a segment passes too soon after a copy of its bytes, `earlier`, to be a further one of its sender.
    fn is_too_soon(&self, segment: &Segment, earlier: &Sent, gap_ns: i64) -> bool {
        let soon_ns = nearly(self.delays.shortest_round_trip_ns()).min(TIMER_NS_MIN);
        // A clock that need not have gone on since tells no more than none.
        let ticks = |value| self.has_ticked(earlier.at, value, segment.at);
        let told =
            segment.timestamps.is_some_and(|ts| ticks(ts.value)) || !self.may_be_asked_for(earlier);
        (told && gap_ns < soon_ns)
            || gap_ns <= COPY_GAP_NS.min(self.delays.upstream.min_ns().unwrap_or(COPY_GAP_NS) / 2)
    }

    /// Whether what comes `gap_ns` after a repeat, `earlier`, is its copy and not the original, late: other packets
    /// have copies, too.
    fn copies_follow(&self, earlier: &Sent, gap_ns: i64) -> bool {
        earlier.copies == 1
            && earlier.verdict.class == Class::Retransmission
            && gap_ns < nearly(self.delays.shortest_round_trip_ns()).min(TIMER_NS_MIN)
            && self.seen_acks.are_copied(self.packets)
    }

    /// Whether, where no clock tells, the sender may have been asked for what passed as `earlier` less than a round
    /// trip before: what follows a first repeat so soon may be the original, late, and what follows a late original
    /// the repeat, as that was sent long before it passed. Without SACK a partial ACK asks for what begins there,
    /// however lately it was sent (RFC 6582 section 3.2).
    fn may_be_asked_for(&self, earlier: &Sent) -> bool {
        let may_be = match earlier.verdict.class {
            Class::Retransmission | Class::Reordered => true,
            _ if self.sack.are_seen || self.seen_acks.expects_copies() => false,
            _ => self.repair.until() > Some(earlier.start),
        };
        (may_be || earlier.marks.has(Marks::ASKED_FOR)) && earlier.copies == 1
    }

    /// Whether the last data packet, but for copies, repeated bytes up to `offset`.
    pub(super) fn last_repeat_ended_at(&self, offset: i64) -> bool {
        self.repair.last_repeat.end(self.high) == Some(offset)
    }

    /// Whether a segment that begins at `start` and the frame `earlier` share bytes, and one of them is several
    /// packets: what a machine forwards is seen before and after its cards merge or cut it.
    fn shares_frame(&self, segment: &Segment, start: i64, earlier: &Sent) -> bool {
        let within = earlier.start <= start && start < earlier.end();
        within && segment.payload_len.max(earlier.len) > self.packet_size.full()
    }

    /// The same, where they are not the same bytes.
    fn is_cut_otherwise(&self, segment: &Segment, start: i64, earlier: &Sent) -> bool {
        let same_bytes = earlier.start == start && segment.payload_len == earlier.len;
        !same_bytes && self.shares_frame(segment, start, earlier)
    }

    /// Whether a segment that begins at `start` may be what network cards make of the frame `earlier`, or made that of:
    /// they cut and merge at full packets. A sender that has been told that its packets are too big cuts at less (RFC
    /// 8201).
    fn is_cut_by_cards(&self, segment: &Segment, start: i64, earlier: &Sent) -> bool {
        /// What the timestamps option takes of each packet (RFC 7323 appendix A).
        const TIMESTAMPS_BYTES: i64 = 12;
        let (offset, len) = (start - earlier.start, i64::from(segment.payload_len));
        let ends_with_it = start + len >= earlier.end();
        let is_cut_at =
            |packet: i64| packet > 0 && offset % packet == 0 && (ends_with_it || len % packet == 0);
        let full = i64::from(self.packet_size.full());
        is_cut_at(full) || is_cut_at(full - TIMESTAMPS_BYTES)
    }

    /// Whether a segment that begins at `start` and the frame `earlier` are the same packets, by their ids.
    pub(super) fn is_part_of(&self, segment: &Segment, start: i64, earlier: &Sent) -> bool {
        let packet = i64::from(self.packet_size.full());
        // To the nearest one: with timestamps packets are a little shorter.
        let before = (start - earlier.start + packet / 2) / packet;
        let same_tsval = segment
            .timestamps
            .is_none_or(|ts| ts.value == earlier.tsval);
        // All packets of who does not count have 0.
        let is_counted = segment.ip_id != Some(0);
        self.shares_frame(segment, start, earlier)
            && same_tsval
            && earlier.copies == 1
            && is_counted
            && self.ids.are_same(
                segment.ip_id,
                earlier.at,
                earlier.id.wrapping_add(before as u16),
            )
    }

    /// The same of packets that are smaller than any can be, where nothing is repeated so soon: by its id a segment is
    /// one of the frame's, if those before it are all of one size, which it has, too, or less where it is the last.
    fn is_small_part_of(&self, segment: &Segment, start: i64, earlier: &Sent) -> bool {
        let ids = segment.ip_id.map_or(0, |id| id.wrapping_sub(earlier.id));
        let (ids, before) = (i64::from(ids), start - earlier.start);
        let gap_ns = segment.at.since(earlier.at).saturating_abs();
        ids > 0
            && before % ids == 0
            && before / ids >= i64::from(segment.payload_len)
            && self.is_cut_otherwise(segment, start, earlier)
            && self.is_too_soon(segment, earlier, gap_ns)
    }
}
