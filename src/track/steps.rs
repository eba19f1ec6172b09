//! What the ids and numbers of one direction's packets tell of those that never came here.

use super::delays::{PROBE_NS_MIN, TIMER_NS_MIN, nearly};
use super::emissions::Gap;
use super::half::HalfFlow;
use super::ids::Step;
use super::repair::Last;
use super::rtt::later;
use super::times::Times;
use crate::decode::{Segment, TcpFlags};
use crate::event::{Direction, FlowSink, LossPlace};
use crate::time::CaptureTime;

/// More bytes than this are not lost in a row above all that was seen: a number so far away is damaged.
const UNSEEN_MAX: i64 = 1 << 24;

/// Packets that a sender sends at once at first (RFC 6928) and after a silence: of more that were skipped without a
/// trace while an ACK was owed, others of its host may have been most.
pub(super) const FLIGHT_MAX: u16 = 10;

impl HalfFlow {
    /// Data packets lost upstream, by skipped ids: those that the receiver got all the same were
    /// lost by the capture.
    pub(super) fn skipped_packets(&self) -> u64 {
        // A sender repeats what was lost: where it never did, others took the ids.
        let is_whole =
            !self.repair.has_repeated() && self.holes.first_within(0, self.high.max(1)).is_none();
        if !self.do_ids_tell() || is_whole {
            return 0;
        }
        let packet = u64::from(self.packet_size.full());
        let missed = self.unseen_packets();
        let lost = self.emissions.lost();
        // Where far more were skipped than came, and not for what is seen to be missing, others took them.
        let most = 2 * self.unique_bytes.div_ceil(packet);
        let may_be_others = !self.ids.is_confirmed();
        if may_be_others && lost > most && u64::from(self.ids.unexplained()) >= most {
            return 0;
        }
        lost.saturating_sub(missed)
    }

    /// Acked bytes that were never seen here (METRICS.md C6).
    pub(super) fn unseen_bytes(&self) -> Option<u64> {
        let una = self.una_of_data()?;
        Some(self.holes.bytes_below(una) + self.unseen_elsewhere(una))
    }

    /// The packets that these were, and those above all that was seen which may have passed while records were missing.
    fn unseen_packets(&self) -> u64 {
        let packet = self.packet_size.full();
        // What is repeated makes it somewhat less than a full one.
        let mean = (self.unique_bytes / self.packets.max(1)) as u32;
        let usual = if mean > packet / 2 { packet } else { mean };
        let unrecorded = self.emissions.unrecorded_at(self.high);
        self.una_of_data().map_or(unrecorded, |una| {
            let elsewhere = self.unseen_elsewhere(una).div_ceil(packet.into());
            self.holes.packets_below(una, packet, usual) + elsewhere.max(unrecorded)
        })
    }

    /// Up to where bytes have been acknowledged.
    fn una_of_data(&self) -> Option<i64> {
        Some(self.una?.min(self.fin.unwrap_or(i64::MAX)))
    }

    /// Those in no hole that is known.
    fn unseen_elsewhere(&self, una: i64) -> u64 {
        let above = self
            .payload_below(una)
            .saturating_sub(self.high.max(0) as u64);
        self.holes.forgotten_bytes() + above
    }

    /// Whether ids count, and those that are skipped tell of packets of this direction.
    pub(super) fn do_ids_tell(&self) -> bool {
        self.ids.counts() && self.are_ids_unshared()
    }

    /// Whether skipped ids tell of packets of this direction, and not of others that its host sent.
    pub(super) fn are_ids_unshared(&self) -> bool {
        let is_known = self.has_syn || self.echoes.newest().is_some();
        self.ids.is_unshared(is_known)
    }

    /// Repeats of the lowest segment that timers can have made within a silence before the one that ends it: each
    /// waits twice as long as the one before (RFC 6298 section 5), and a tail loss probe may come first
    /// (RFC 8985 section 7).
    fn timers_within(&self, silence_ns: i64) -> u16 {
        let first_ns = self.delays.round_trip_ns().max(TIMER_NS_MIN);
        let timers = (silence_ns.max(0) / first_ns + 1).ilog2() as u16;
        // The last of them is what ends it, and the first may come after a probe. After one or two duplicate ACKs
        // what was sent before a first timer may just as well be new (RFC 3042), after three it was a repeat.
        if timers == 1 && (1..3).contains(&self.acks.dup_run) {
            return 0;
        }
        timers
    }

    /// The same before a packet that passes at `at`.
    pub(super) fn timers_before(&self, at: CaptureTime) -> u16 {
        let silence_ns = self.times.silence_ns(at);
        self.timers_within(silence_ns)
    }

    /// So many packets more, or fewer, were lost upstream.
    pub(super) fn tell_lost_upstream<S: FlowSink>(
        &mut self,
        dir: Direction,
        packets: i32,
        sink: &mut S,
    ) {
        self.emissions.note_told(packets);
        sink.lost(dir, LossPlace::Upstream, packets);
    }

    /// What was told to be lost at `place` was not: a packet or, behind this point, so many of a frame of offload.
    pub(super) fn take_back_lost<S: FlowSink>(
        &mut self,
        dir: Direction,
        place: LossPlace,
        packets: u16,
        sink: &mut S,
    ) {
        match place {
            LossPlace::Upstream => self.tell_lost_upstream(dir, -1, sink),
            LossPlace::Downstream => sink.lost(dir, place, -i32::from(packets)),
        }
    }

    /// Whether as many packets are known to be lost upstream as ids were skipped: what is repeated beyond that, as
    /// where the path takes less than before, are pieces of these.
    pub(super) fn are_skipped_told(&self) -> bool {
        self.ids.counts() && self.ids.is_near() && self.emissions.are_told(self.ids.unexplained())
    }

    /// Takes note of how a packet's id follows the ones before; `acks`: of the ids that it skipped so many may be those
    /// of ACKs.
    pub(super) fn on_step(&mut self, step: Step, segment: &Segment, peer: &Self, acks: u16) {
        let Some(id) = segment.ip_id else { return };
        let is_data = segment.payload_len > 0;
        match step {
            Step::Ahead(0) | Step::Early(0) => {
                self.emissions.on_next(segment.at, self.repair.goes_on());
            }
            Step::Ahead(skipped) => {
                let acks = self.acks_beside_answer(skipped, acks, segment, peer);
                let gap = self.gap(id, skipped, segment, peer, acks);
                self.ids.explain_last(gap.due.into());
                self.emissions.on_skipped(&gap);
            }
            Step::Early(skipped @ 1..) => {
                let skipped = skipped.unsigned_abs();
                let acks = self.acks_beside_answer(skipped, acks, segment, peer);
                let gap = self.gap(id, skipped, segment, peer, acks);
                self.ids.explain_last(gap.asked_by_syns.into());
                self.ids.explain_last(gap.due.into());
                self.emissions.on_skipped_early(&gap);
            }
            Step::Behind(_) if self.has_passed(segment) => {}
            Step::Behind(ids) => self.on_late(id, ids, is_data),
            Step::Early(ids) => self.on_late(id, ids.unsigned_abs(), is_data),
            Step::Same | Step::Unknown => {}
        }
    }

    /// So many bytes were sent before the first packet whose id is known, and were lost or are late.
    pub(super) fn note_unnumbered(&mut self, bytes: i64) {
        // Where what comes was sent before what told of more, it tells of none.
        if self.packet_size.is_known() && (1..=UNSEEN_MAX).contains(&bytes) {
            let packets = bytes
                .unsigned_abs()
                .div_ceil(self.packet_size.full().into());
            self.emissions.on_unnumbered(packets);
        }
    }

    /// All below `sent_to` has been sent: what skipped ids do not account for of it came before the first id that was
    /// seen.
    pub(super) fn note_left_out(&mut self, sent_to: i64) {
        let bytes = (sent_to - self.sent_to()).max(0) as u64;
        if bytes > 0 && self.ids.may_be_a_counter() {
            let packets = bytes.div_ceil(self.packet_size.full().into());
            self.emissions.note_left_out(packets as u32);
        }
    }

    /// New data passed at `at`, just above the highest byte seen. Of ids that it skipped none was lost data, since no
    /// byte is missing, and where there was no reason to repeat any none was a repeat: how many went elsewhere.
    pub(super) fn note_elsewhere(&mut self, step: Step, at: CaptureTime) -> u16 {
        let skipped = match step {
            Step::Early(skipped) => skipped.max(0).unsigned_abs(),
            known => known.skipped(),
        };
        if skipped == 0 || !self.had_nothing_to_repeat(at) {
            return 0;
        }
        self.emissions.amend_lost(-i32::from(skipped));
        skipped
    }

    /// Whether the sender of new data that passes at `at`, just above the highest byte seen, had no reason to repeat
    /// any before: it was neither told of a loss lately, nor can a timer have run out.
    fn had_nothing_to_repeat(&self, at: CaptureTime) -> bool {
        let round_trip_ns = self.delays.round_trip_ns();
        let within =
            |since: Option<CaptureTime>, ns| since.is_some_and(|since| at.since(since) < ns);
        let told = self.acks.told_within(2 * round_trip_ns, at);
        !(told || self.owes_ack || self.repair.is_of_tail)
            && self.knows_of_no_loss()
            && within(self.times.packet_at(), round_trip_ns)
            && within(self.times.progress_at, round_trip_ns.max(TIMER_NS_MIN))
    }

    /// Whether a segment passed before, itself or as a part of a frame of several.
    fn has_passed(&self, segment: &Segment) -> bool {
        let Some(start) = self
            .unwrapper()
            .filter(|_| segment.payload_len > 0)
            .map(|unwrapper| unwrapper.offset(segment.seq, self.high))
        else {
            return false;
        };
        let earlier = self.in_flight.overlapping(start, start + 1).start;
        self.in_flight.get(earlier).is_some_and(|earlier| {
            let ids = [earlier.id, self.in_flight.first_copy(earlier).id];
            let same = earlier.start <= start && ids.map(Some).contains(&segment.ip_id);
            same || self.is_part_of(segment, start, earlier)
        })
    }

    /// An ACK that passes at `at` tells that a packet has been delivered, which passed when and with which id.
    pub(super) fn note_delivered(&mut self, (sent_at, id): (CaptureTime, u16), at: CaptureTime) {
        let effective = at.plus_ns(self.delays.upstream.min_ns().unwrap_or(0));
        let id = self.ids.unwrap_at(sent_at, id);
        self.emissions.on_delivered(id, effective);
    }

    /// A packet turned up late that has so many ids.
    fn on_late(&mut self, id: u16, ids: u16, is_data: bool) {
        let first = self.ids.unwrap(id);
        (first..first + u64::from(ids)).for_each(|id| self.emissions.on_late(id, is_data));
    }

    /// Where a segment's number shows its sender to be in the stream; `None` where it may not send or nothing is sent.
    fn sent_by(&self, number: i64) -> Option<i64> {
        let allowed = self.window.allows(number);
        // A FIN takes a number, too.
        let number = number.min(self.fin.unwrap_or(i64::MAX));
        (allowed && number - self.high <= UNSEEN_MAX).then_some(number)
    }

    /// A segment without payload carries the next number to be sent (RFC 9293 section 3.10.7.4): all below was sent.
    pub(super) fn note_number(&mut self, number: i64, at: CaptureTime) {
        if let Some(sent_to) = self.sent_by(number).filter(|&sent_to| sent_to > self.high) {
            if self.ids.is_first() {
                self.note_unnumbered(sent_to - self.sent_to());
            } else {
                self.note_left_out(sent_to);
            }
            self.emissions.note_sent(sent_to, at, false);
        }
    }

    /// Payload of a packet that was skipped before one with `len` bytes that ends `above` the highest byte seen: as
    /// large as any before, where what it leaves out were so many of these; else perhaps the first that was as large.
    pub(super) fn skipped_len(&self, above: i64, len: u32) -> u32 {
        let (full, left_out) = (self.packet_size.full(), above - i64::from(len));
        let skipped = self.emissions.skipped_at(self.high).unwrap_or(0);
        if left_out > 0 && left_out <= i64::from(skipped) * i64::from(full) {
            full
        } else {
            self.packet_size.full_with(len)
        }
    }

    /// Whether a packet above the highest byte seen that ends at `end` lies below what its sender had sent before it,
    /// as a segment without payload told: it may be late, but not where its id is later, or where it would have come by
    /// now, and after a silence or a repeat: senders go on with what they have to repeat.
    #[inline]
    pub(super) fn was_sent(&self, segment: &Segment, end: i64, step: Step) -> bool {
        self.emissions
            .sent_to()
            .is_some_and(|sent_to| end <= sent_to)
            && match step {
                Step::Ahead(_) => true,
                Step::Behind(_) | Step::Early(..0) => false,
                Step::Early(_) | Step::Same | Step::Unknown => self.is_sent_again(segment, end),
            }
    }

    /// The same where ids do not tell.
    fn is_sent_again(&self, segment: &Segment, end: i64) -> bool {
        let newest = self.echoes.newest();
        let is_late = segment
            .timestamps
            .is_some_and(|ts| newest.is_some_and(|newest| later(newest, ts.value)));
        // What is sent again was told a round trip before; what the one that told overtook comes sooner.
        let long_ns = match self.delays.upstream.min_ns() {
            Some(_) => self.delays.round_trip_ns().max(PROBE_NS_MIN),
            None => self.delays.run_out_ns(),
        };
        let told = self.emissions.sent_to_by(segment.at.plus_ns(-long_ns));
        !is_late
            && told.is_some_and(|sent_to| end <= sent_to)
            && (self.is_repairing_tail(segment.at) || self.is_quiet(segment.at))
    }

    /// Up to where the sender is known to have sent.
    pub(super) fn sent_to(&self) -> i64 {
        self.emissions.sent_to().unwrap_or(self.high).max(self.high)
    }

    /// What is known of the ids that were skipped before a packet.
    fn gap(&self, id: u16, skipped: u16, segment: &Segment, peer: &Self, acks: u16) -> Gap {
        let since = self.times.packet_at().unwrap_or(segment.at);
        let number = self
            .unwrapper()
            .map(|unwrapper| unwrapper.offset(segment.seq, self.high));
        let start = number.filter(|_| segment.payload_len > 0);
        let repeats = start.is_some_and(|start| start < self.sent_to());
        let unheard_at = segment
            .timestamps
            .and_then(|timestamps| peer.echoes.passed_after(timestamps.echo));
        let edge = start
            .filter(|_| repeats)
            .and_then(|start| self.edge_due_before(start, segment.at, unheard_at));
        let at_edge = repeats && start <= self.una && edge.is_none();
        let silence_ns = segment.at.since(since);
        let told_lately =
            start.is_some_and(|start| self.was_told_lately(start, segment.at, &peer.times));
        let soon = silence_ns < self.delays.round_trip_ns() / 4 * 3 || told_lately;
        let follows_syn = self.owes_ack && !peer.sent_data && peer.fin.is_none();
        let asked_by_syns = if follows_syn {
            self.asked_by_syns(peer, skipped)
        } else {
            0
        };
        let skipped = skipped - asked_by_syns;
        let left_out = number.map_or(0, |number| self.left_out_before(number));
        // One number above all without payload is a FIN's that was lost.
        let is_behind_fin = left_out == 1 && segment.payload_len == 0;
        let left_out = if is_behind_fin { 0 } else { left_out };
        let left_out = left_out.div_ceil(u64::from(self.packet_size.full()));
        // A probe repeats what was sent last (RFC 8985 section 7.3), and that was this FIN.
        let was_probed = segment.payload_len == 0
            && segment.flags.has(TcpFlags::FIN)
            && u64::from(skipped) <= left_out + 1;
        let are_records_missing = Self::has_heard_unseen(segment, peer);
        let may_all_be_acks = self.is_at_rest(segment)
            || (are_records_missing || self.has_told_unseen())
                && (self.owes_ack || (1..u16::MAX).contains(&acks))
            || is_behind_fin && self.una >= Some(self.high)
            || was_probed
            || self.repair.last == Last::Probe;
        let acks = if may_all_be_acks {
            u16::MAX
        } else if follows_syn {
            0
        } else {
            self.acks_among(skipped, acks)
        };
        let timer_ns = self.timer_ran_ns(segment.at);
        let timers = if at_edge {
            self.timers_within(timer_ns)
        } else {
            self.timers_of_tail(start, timer_ns, skipped.saturating_sub(acks))
        };
        let heard_by = self.heard_by(segment.at, unheard_at);
        let (old, repeated_to) = start.map_or((0, None), |start| {
            self.packets_since_repeat(start, edge, heard_by, skipped)
        });
        let before_timer = self.repeated_before_timer((start, segment.at), heard_by, skipped);
        let heard_all = self.una >= Some(self.high)
            && self.times.progress_at <= Some(heard_by)
            && silence_ns > self.delays.round_trip_ns();
        let went_on = if heard_all {
            self.went_on_unheard(start, skipped)
        } else {
            0
        };
        let is_in_round = silence_ns < self.delays.round_trip_ns() / 2 * 3;
        let behind_new = start.filter(|_| is_in_round && self.is_behind_new());
        Gap {
            id: self.ids.unwrap(id),
            skipped,
            old: old.max(timers).max(before_timer).max(went_on),
            due: if self.sack.are_seen { old } else { 0 },
            repeated_to,
            high: self.high,
            at: segment.at,
            since,
            recovering: self.repair.goes_on() || self.repair.last_repeat.is_some(),
            acks,
            follows_syn,
            asked_by_syns,
            left_out: u16::try_from(left_out).unwrap_or(u16::MAX),
            repeats: repeats && !(at_edge && self.was_repeated_unseen(start, segment.at)),
            first_repeat: at_edge && soon,
            begins: start < Some(self.high)
                && start >= self.una
                && self.sack.are_seen
                && !self.repair.goes_on()
                && (is_in_round || told_lately || self.begins_told(start, segment.at)),
            in_order: behind_new.is_some_and(|start| self.goes_back_for(start, heard_by))
                || self.goes_on_in_order(start, segment.at),
            missing_below: behind_new.and_then(|start| self.missing_since_new(start, skipped)),
            overdue_by: segment
                .timestamps
                .filter(|_| self.sack.are_seen)
                .map(|_| self.overdue_by(heard_by)),
            heard_all,
            tried: self.tried_unseen(start, segment.at, skipped),
            lay_above: start == Some(self.high) && self.has_nothing_below(silence_ns),
            are_records_missing,
            has_told_unseen: self.has_told_unseen(),
        }
    }

    /// Bytes above all that was known to be sent that `number`, at which a packet begins, leaves out.
    fn left_out_before(&self, number: i64) -> u64 {
        self.sent_by(number)
            .map_or(0, |sent_to| (sent_to - self.sent_to()).max(0) as u64)
    }

    /// Whether more has been acknowledged than was seen: records are missing here. One number more is that of a FIN.
    fn has_told_unseen(&self) -> bool {
        self.una > Some(self.high + 1)
    }

    /// Whether who sent `segment` has heard of what its `peer` sent and what was not seen here: records are missing here.
    fn has_heard_unseen(segment: &Segment, peer: &Self) -> bool {
        let newest = peer.echoes.newest();
        segment
            .timestamps
            .is_some_and(|timestamps| newest.is_some_and(|newest| later(timestamps.echo, newest)))
    }

    /// Of a tail that was lost timers repeat the first packet, the last of them with what passes now and begins at `start`
    /// after a silence: how many of the ids of `lost` packets with payload that were skipped were those before.
    fn timers_of_tail(&self, start: Option<i64>, silence_ns: i64, lost: u16) -> u16 {
        let of_tail = start == Some(self.high) && self.una >= Some(self.high) && lost > 0;
        if !of_tail {
            return 0;
        }
        let before = self.timers_within(silence_ns).saturating_sub(1);
        before.min(lost - 1)
    }

    /// Who had not heard yet that all had come went on from its last repeat with what no SACK had told it of, before it
    /// sent what begins at `start`: how many of the `skipped` ids these took.
    fn went_on_unheard(&self, start: Option<i64>, skipped: u16) -> u16 {
        let goes_higher = self.sack.are_seen && start >= Some(self.high);
        match self.repair.last_repeat.end(self.high) {
            Some(end) if goes_higher => self.in_flight.untold_within(end, self.high, skipped),
            _ => 0,
        }
    }

    /// The left edge of who repeats what begins at `start` and passes at `at`, where it lies below and was to be
    /// repeated before: it was sent earlier (RFC 8985 section 6.2), or has been missing for as long as a timer takes.
    /// What passed from `unheard_at` on has not moved it.
    fn edge_due_before(
        &self,
        start: i64,
        at: CaptureTime,
        unheard_at: Option<CaptureTime>,
    ) -> Option<i64> {
        let unheard = unheard_at.and_then(|unheard_at| self.emissions.edge_before(unheard_at));
        let edge = unheard.or(self.una).filter(|&edge| edge < start)?;
        let comes_first = match self.holes.first_within(edge, edge + 1) {
            Some(hole) => {
                at.since(hole.told_at?) >= nearly(TIMER_NS_MIN)
                    || self.holes.first_within(start, start + 1).is_some()
            }
            None => self.copy_before(edge)?.at < self.copy_before(start)?.at,
        };
        comes_first.then_some(edge)
    }

    /// Until when ACKs passed that the sender of a packet that passes at `at` can have heard of: none from `unheard_at`
    /// on.
    fn heard_by(&self, at: CaptureTime, unheard_at: Option<CaptureTime>) -> CaptureTime {
        let heard_by = at.plus_ns(-self.delays.upstream.min_ns().unwrap_or(0));
        unheard_at.map_or(heard_by, |unheard_at| heard_by.min(unheard_at.plus_ns(-1)))
    }

    /// Since when what waits has waited for too long at a sender that has heard all that passed by `heard_by`, as clocks
    /// tell: who lets packets be overtaken waits for a quarter of a round trip (RFC 8985 section 6.2).
    fn overdue_by(&self, heard_by: CaptureTime) -> CaptureTime {
        let upstream_ns = self.delays.upstream.min_ns().unwrap_or(0);
        heard_by.plus_ns(upstream_ns - self.delays.round_trip_ns() / 2)
    }

    /// Whether a packet that begins at `start` goes on in a repair that SACK steers where the repeat before it ended,
    /// or above that but not above the highest byte sent: what is missing in between is known.
    fn goes_on_in_order(&self, start: Option<i64>, at: CaptureTime) -> bool {
        let last = self.repair.last_repeat.end(self.high);
        self.sack.are_seen
            && self.is_repairing_tail(at)
            && !self.emissions.repeats_all()
            && last.is_some()
            && (start == last || start > last && start <= Some(self.sent_to()))
    }

    /// Whether what comes follows new data in a repair that SACK steers.
    fn is_behind_new(&self) -> bool {
        self.sack.are_seen
            && self.repair.goes_on()
            && !self.repair.last_repeat.is_some()
            && !self.emissions.repeats_all()
    }

    /// Whether a packet that begins at `start` goes back behind that, to what lies below all that was repeated before,
    /// when nothing above is missing that its sender has heard of by `heard_by`.
    fn goes_back_for(&self, start: i64, heard_by: CaptureTime) -> bool {
        let repeated_to = self.emissions.repeated_to().filter(|&to| start < to);
        repeated_to.is_some_and(|to| {
            self.holes
                .packets_missing(to, self.high, Some(heard_by), 1, 1)
                .0
                == 0
        })
    }

    /// Where it goes on behind that, above all that was repeated before: the packets missing in between, up to `most`.
    fn missing_since_new(&self, start: i64, most: u16) -> Option<u16> {
        let to = self.emissions.repeated_to().filter(|&to| to <= start)?;
        let from = to.max(self.una?);
        (start < self.high).then(|| self.missing_between(from, start, most))
    }

    /// Whether the sender cannot have repeated what is missing at `start` before what it sent at `at`, since it was told of
    /// that: it has not been silent for a round trip since, or nothing passed that tells of a lost repeat, which takes an
    /// answer to what is sent after that (RFC 8985 section 6.2), and no timer is so quick.
    fn was_told_lately(&self, start: i64, at: CaptureTime, peer: &Times) -> bool {
        let trip_ns =
            self.delays.upstream.min_ns().unwrap_or(0) + self.delays.round_trip_ns() / 4 * 3;
        let hole = self.holes.first_within(start, start + 1);
        hole.and_then(|hole| hole.told_at).is_some_and(|told_at| {
            let answered_ns = nearly(self.delays.shortest_round_trip_ns());
            let is_unanswered = peer
                .packet_at()
                .is_some_and(|latest| latest.since(told_at) < answered_ns);
            let within_ns = at.since(told_at);
            within_ns < trip_ns || is_unanswered && within_ns < nearly(TIMER_NS_MIN)
        })
    }

    /// Whether a segment shows that its sender has sent nothing above what was acknowledged here: an
    /// ACK, FIN or probe without data carries the next number to be sent, or the one before it
    /// (RFC 9293 section 3.4), where a FIN that was acknowledged has taken one, too. Then what was skipped before it
    /// were such segments too.
    fn is_at_rest(&self, segment: &Segment) -> bool {
        segment.payload_len <= 1
            && self.una.is_some_and(|una| una >= self.high)
            && self.unwrapper().is_some_and(|unwrapper| {
                let end = unwrapper.offset(segment.seq, self.high) + i64::from(segment.payload_len);
                end <= self.high + i64::from(self.has_ended())
            })
    }

    /// Whether a timer may have run out at `at`: that of a probe, in two round trips and a little, or that of a
    /// retransmission, whose floor counts the round trip in at some senders (RFC 6298 section 2.4) and not at others.
    pub(super) fn may_end_timer(&self, at: CaptureTime) -> bool {
        /// What timers and queues add to that, in ns.
        const LATE_NS: i64 = 10_000_000;
        let round_trip_ns = self.delays.round_trip_ns();
        let silence_ns = self.times.silence_ns(at);
        self.una.is_some()
            && (silence_ns <= 3 * round_trip_ns + LATE_NS || silence_ns >= nearly(TIMER_NS_MIN))
    }

    /// Where it is known now whether ids count: what was taken for new before, and skipped ids show to be repeated.
    /// Each of these packets explains three that were skipped at most, its first copy and two by timers, and two more
    /// may have been a probe and an ACK.
    #[cold]
    pub(super) fn settle_early<S: FlowSink>(&mut self, dir: Direction, sink: &mut S) {
        let explained = 3 * self.emissions.early() + 2;
        let known = self.ids.counts() && usize::from(self.ids.unexplained()) <= explained;
        if !known {
            if !self.ids.may_count() {
                self.emissions.give_up_early();
            }
            return;
        }
        for (start, end, now) in self.emissions.take_early() {
            self.judge_repeat(dir, (start, end), now, sink);
        }
    }
}
