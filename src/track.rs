//! What each segment means for its connection: sequence space, ACKs, round trips, losses.
//!
//! [`Connection`] is a state machine without a clock and without I/O: it takes segments in capture
//! order and pushes events into a [`FlowSink`]. A segment's class is decided when it passes (one far
//! from the stream: when the next one does), by what is known then; a DSACK, an echoed timestamp or
//! a late original may still change the reason, and does so for as long as the segment is
//! remembered: until its bytes are acknowledged and as many segments as were in flight have been
//! acknowledged after them. Then it is final.

mod acks;
mod anew;
mod answers;
mod beyond;
mod classify;
mod copies;
mod cover;
mod cut_acks;
mod delays;
mod dsacks;
mod earlier_copies;
mod emissions;
mod ends;
mod half;
mod handshake;
mod held;
mod higher;
mod ids;
mod in_flight;
mod last_repeat;
mod latest_acks;
mod limits;
mod lost_edges;
mod marking;
mod merged_frames;
mod network_copies;
mod old_copies;
mod origin;
mod packet_size;
mod probes;
mod quic_handshake;
mod quiet;
mod ranges;
mod reasons;
mod repair;
mod rows;
mod rtt;
mod scoreboard;
mod seen_acks;
mod set_back;
mod silence;
mod spin;
mod steps;
mod strays;
mod succession;
mod telling;
#[cfg(test)]
mod tests;
mod ticks;
mod timeouts;
mod times;
mod too_long;
mod turns;
mod unasked;
mod verdicts;
mod window;

use std::hint::cold_path;

use half::HalfFlow;
use ids::Step;
use packet_size::Mss;
use quiet::on_quiet;
use repair::Heard;
use rtt::{OwnEcho, is_delay};
use set_back::on_dated_back;

pub(crate) use handshake::HANDSHAKE_NUMBERS;
pub use handshake::{Closing, EcnSetup, Handshake, Opening};
pub use spin::RoundTrips;
pub(crate) use succession::{SynPlace, SynSign};

use crate::decode::{Plain, Segment, TcpFlags};
use crate::event::{Direction, FlowSink, PacketArrival};
use crate::seq::seq_len;
use crate::time::CaptureTime;

/// Sequence state of one direction at some moment, for summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfState {
    /// Payload bytes covered by the highest cumulative ACK (METRICS.md C5); `None` without ACK.
    pub acked_bytes: Option<u64>,
    /// Distinct stream bytes seen (METRICS.md C4).
    pub unique_bytes: u64,
    /// Acked bytes that the capture never saw (METRICS.md C6); `None` without ACK.
    pub unseen_bytes: Option<u64>,
    /// Data packets lost upstream by the ids that were skipped, this capture's own losses taken
    /// off (METRICS.md X3); 0 where ids do not count up.
    pub skipped_packets: u64,
    /// Time in which the application had nothing to send (METRICS.md L1), in ns.
    pub application_limited_ns: i64,
    /// Time in which the receiver's window was full (METRICS.md L1), in ns.
    pub receiver_limited_ns: i64,
    /// Segments far outside the stream, most likely strays of an earlier connection, and SYNs with
    /// another number that it outlived.
    pub strays: u64,
}

/// How much of one direction is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackLimits {
    /// Ranges of segments in flight, at least 1. One more forgets the lowest: it gives no RTT sample,
    /// and a copy of it has nothing to be compared with.
    pub in_flight_max: u32,
    /// Holes: bytes that have not been seen although later ones have; at least 1. One more gives up
    /// the lowest: it counts as lost by the capture, and what fills it as repeated.
    pub holes_max: u32,
}

impl Default for TrackLimits {
    fn default() -> Self {
        Self {
            in_flight_max: in_flight::IN_FLIGHT_MAX,
            holes_max: ranges::HOLES_MAX,
        }
    }
}

/// Both directions of one TCP conversation.
#[derive(Clone, Debug)]
pub struct Connection {
    halves: [HalfFlow; 2],
    handshake: Handshake,
    /// Keeps off the quiet path, to compare.
    #[cfg(test)]
    loud: bool,
    /// Segments that took it.
    #[cfg(test)]
    quiet: u64,
}

impl Default for Connection {
    fn default() -> Self {
        Self::new()
    }
}

impl Connection {
    /// A connection of which nothing was seen.
    #[must_use]
    pub fn new() -> Self {
        Self {
            halves: [HalfFlow::default(), HalfFlow::default()],
            handshake: Handshake::default(),
            #[cfg(test)]
            loud: false,
            #[cfg(test)]
            quiet: 0,
        }
    }

    /// A connection of which nothing was seen, that remembers so much of each direction.
    #[must_use]
    pub fn with_limits(limits: TrackLimits) -> Self {
        let mut connection = Self::new();
        for half in &mut connection.halves {
            half.in_flight.ranges_max = limits.in_flight_max.max(1);
            half.holes.most = limits.holes_max.max(1);
        }
        connection
    }

    /// Memory that it holds besides itself, in bytes, as far as it can grow without end.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let held = |half: &HalfFlow| {
            half.in_flight.memory_bytes()
                + half.rows.memory_bytes()
                + half.holes.memory_bytes()
                + half.board.memory_bytes()
                + half.echoes.memory_bytes()
                + half.old_copies.memory_bytes()
                + half.seen_acks.memory_bytes()
                + half.ids.memory_bytes()
                + half.emissions.memory_bytes()
        };
        self.halves.iter().map(held).sum()
    }

    /// How it opened and closed.
    #[must_use]
    pub fn handshake(&self) -> &Handshake {
        &self.handshake
    }

    /// Sequence state of one direction.
    #[must_use]
    pub fn state(&self, dir: Direction) -> HalfState {
        let half = &self.halves[dir.index()];
        HalfState {
            acked_bytes: half.acked_bytes(),
            unique_bytes: half.unique_bytes,
            unseen_bytes: half.unseen_bytes(),
            skipped_packets: half.skipped_packets(),
            application_limited_ns: half.limits.application_ns,
            receiver_limited_ns: half.limits.receiver_ns,
            strays: half.strays.segments(),
        }
    }

    /// Whether more segments were in flight than are remembered, so that some gave no RTT sample.
    #[must_use]
    pub fn has_forgotten_segments(&self) -> bool {
        self.halves.iter().any(|half| half.in_flight.has_forgotten)
    }

    /// Whether payload of either direction was seen.
    #[must_use]
    pub fn has_payload(&self) -> bool {
        self.halves.iter().any(|half| half.sent_data)
    }

    /// Segments come soon: begins to fetch from memory what they will change.
    #[inline]
    pub(crate) fn expect_segments(&self) {
        self.halves.iter().for_each(|half| half.in_flight.expect());
    }

    /// So many segments with payload come soon, by direction, of which there are to be rows or not.
    pub(crate) fn make_room(&mut self, with_payload: [usize; 2], with_rows: bool) {
        for (half, segments) in self.halves.iter_mut().zip(with_payload) {
            half.in_flight.reserve(segments);
            if with_rows {
                half.rows.reserve(segments);
            }
        }
    }

    /// Takes the next segment, which went in direction `dir`.
    pub fn on_segment<S: FlowSink>(&mut self, dir: Direction, segment: &Segment, sink: &mut S) {
        match segment.plain() {
            Some(plain) => self.on_plain(dir, plain, sink),
            None => self.on_other(dir, segment, sink),
        }
    }

    /// The same of a plain segment.
    // In the loops that take one segment after the other.
    #[inline(always)]
    pub(crate) fn on_plain<P: Plain, S: FlowSink>(
        &mut self,
        dir: Direction,
        plain: P,
        sink: &mut S,
    ) {
        if self.handshake.awaits(dir) || self.is_loud() {
            cold_path();
            self.on_other(dir, &plain.segment(), sink);
            return;
        }
        let at = plain.at();
        sink.packet(dir, &PacketArrival::of_plain(plain));
        let (sender, peer) = sides(&mut self.halves, dir);
        if sender.times.is_dated_back(at) {
            on_dated_back(sender, peer, &plain.segment());
        }
        let timestamps = plain.timestamps();
        if let Some(timestamps) = timestamps {
            sender.echoes.sent(timestamps.value, at);
            if let Some(rtt_ns) = peer.echoes.echoed(timestamps.echo, at) {
                sender.on_echo(dir, at, rtt_ns, false, sink);
            }
        }
        let stamped = timestamps.is_some();
        let wire_packets = sender.packet_size.mss.packets(plain.payload_len(), stamped);
        let step = match plain.ip_id() {
            Some(id) => sender.observe_id(id, wire_packets, plain),
            None => Step::Unknown,
        };
        let quiet = wire_packets == 1
            && !sender.seen_acks.expects_copies()
            && on_quiet(sender, peer, dir, plain, step, sink);
        if quiet {
            sender.has_sent(at);
            #[cfg(test)]
            {
                self.quiet += 1;
            }
        } else {
            self.on_general(dir, &plain.segment(), wire_packets, step, sink);
            self.halves[dir.index()].has_sent(at);
        }
    }

    /// Takes a segment that need not be plain.
    #[inline(never)]
    fn on_other<S: FlowSink>(&mut self, dir: Direction, segment: &Segment, sink: &mut S) {
        let flags = segment.flags;
        sink.packet(dir, &PacketArrival::from(segment));
        let chooses = self.handshake.on_segment(dir, segment);
        if flags.has(TcpFlags::SYN) {
            self.on_syn(dir, segment);
        } else if chooses {
            self.on_syn_chosen(segment.at);
        }
        if flags.any(TcpFlags::FIN.with(TcpFlags::RST)) {
            self.on_end(dir, segment);
        }
        let (sender, peer) = sides(&mut self.halves, dir);
        if sender.times.is_dated_back(segment.at) {
            on_dated_back(sender, peer, segment);
        }
        if let Some(timestamps) = segment.timestamps {
            sender.echoes.sent(timestamps.value, segment.at);
            if flags.has(TcpFlags::ACK)
                && let Some(rtt_ns) = peer.echoes.echoed(timestamps.echo, segment.at)
            {
                let by_timer = flags.has(TcpFlags::SYN) && self.handshake.may_be_timers(rtt_ns);
                sender.on_echo(dir, segment.at, rtt_ns, by_timer, sink);
            }
        }
        let wire_packets = if segment.ip_packets > 1 {
            // What comes in fragments was one, with one id.
            1
        } else {
            let stamped = segment.timestamps.is_some();
            sender.packet_size.mss.packets(segment.payload_len, stamped)
        };
        let step = match segment.ip_id {
            // A SYN-ACK or an RST may come from a host that has no counter for the connection.
            Some(id) if !flags.any(TcpFlags::SYN.with(TcpFlags::RST)) => {
                sender.observe_id(id, wire_packets, segment)
            }
            _ => Step::Unknown,
        };
        self.on_general(dir, segment, wire_packets, step, sink);
        self.halves[dir.index()].has_sent(segment.at);
    }

    /// Whether it is kept off the quiet path.
    #[cfg(test)]
    fn is_loud(&self) -> bool {
        self.loud
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests keep some off it")]
    fn is_loud(&self) -> bool {
        false
    }

    /// What both sides agree on when one of them opens.
    #[cold]
    fn on_syn(&mut self, dir: Direction, segment: &Segment) {
        let (sender, _) = sides(&mut self.halves, dir);
        sender.on_syn(segment.seq, segment.at);
        // A SYN-ACK of who had sent a SYN, where both sides opened at once, is the next packet of the same host.
        let is_answer = segment.flags.has(TcpFlags::ACK);
        if let Some(id) = segment.ip_id
            && !segment.flags.has(TcpFlags::RST)
        {
            let continues = !is_answer || sender.ids.is_after_syn(id);
            if continues {
                sender.ids.begin(id);
            }
            // Who counts for each connection numbers a SYN-ACK with 0, as it comes before there is one; small devices and
            // proxies count it with all else that they send, and use no timestamps. Their own SYNs offer no window scale
            // either: of those that count for each connection all do, whichever of the two is turned off.
            let is_plain = segment.timestamps.is_none()
                && (!continues || segment.syn.window_scale.is_none() && !segment.header_cut);
            let counts_all = id != 0 && is_plain;
            if segment.syn.ttl_above_64 || counts_all {
                sender.ids.suspect();
            } else if !continues && id == 0 {
                sender.ids.confirm();
            }
        }
        self.agree(dir);
    }

    /// Another SYN-ACK than the last one turns out to be the connection's.
    #[cold]
    fn on_syn_chosen(&mut self, at: CaptureTime) {
        for dir in [Direction::Forward, Direction::Reverse] {
            if let Some(answer) = self.handshake.opening(dir).filter(|opening| opening.answer) {
                self.halves[dir.index()].on_syn(answer.isn, at);
                self.agree(dir);
            }
        }
    }

    /// What the SYN of a direction and the one that it answers agree on.
    fn agree(&mut self, dir: Direction) {
        let (sender, peer) = sides(&mut self.halves, dir);
        // The shift that each side announced applies to the windows it sends, and only when both
        // announced one (RFC 7323 section 2.2).
        let scales = self.handshake.window_scales();
        sender.window.scale = scales.map(|scales| scales[dir.reversed().index()]);
        peer.window.scale = scales.map(|scales| scales[dir.index()]);
        peer.packet_size.mss = Mss::of(self.handshake.mss(dir));
        let agreed = self
            .handshake
            .agreed(|opening| opening.options.sack_permitted);
        sender.sack.on_agreement(agreed);
        peer.sack.on_agreement(agreed);
        let has_ecn = self.handshake.ecn() == Some(EcnSetup::Classic);
        sender.marking.on_agreement(has_ecn);
        peer.marking.on_agreement(has_ecn);
    }

    /// A FIN or an RST ends what it belongs to; a receiver drops one from elsewhere.
    #[cold]
    fn on_end(&mut self, dir: Direction, segment: &Segment) {
        if self.halves[dir.index()].may_send(segment) {
            self.handshake.on_end(dir, segment.flags);
        }
    }

    /// A segment that may tell more than that all goes well.
    #[inline(never)]
    fn on_general<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        wire_packets: u16,
        step: Step,
        sink: &mut S,
    ) {
        let flags = segment.flags;
        let (sender, peer) = sides(&mut self.halves, dir);
        // A copy of an ACK says nothing twice.
        let again =
            sender.seen_acks.expects_copies() && sender.has_said(segment, peer.reports_in(segment));
        // While data of the peer is unanswered, an ACK of this side may have been lost.
        sender.owes_ack |= peer.may_miss_ack();
        // The very packet that came just now, before any was expected to come again.
        let again = again
            || step == Step::Same
                && peer.is_acked_as_before(segment.ack)
                && (segment.payload_len == 0
                    || sender.is_below_highest(segment.seq, segment.payload_len));
        let received_before = peer.received();
        sender.note_probe(peer, segment, step);
        if flags.has(TcpFlags::ACK) && !flags.any(TcpFlags::RST) {
            if again {
                sender.expect_copies(peer);
                peer.on_ack_again(dir.reversed(), segment, sink);
            } else {
                peer.on_ack(dir.reversed(), segment, sink);
            }
        }
        sender.note_answer(peer, segment, step, received_before.has);
        if wire_packets > 1 {
            sink.signal(dir, segment.at, sender.super_segment(segment, wire_packets));
        }
        // Nearly always the next id, and nothing to find out.
        let mut step = step;
        if step != Step::Ahead(0) || !sender.emissions.is_idle() {
            if sender.ids.last_skipped() > 0 {
                step = sender.learn_packet_len(segment, step);
                sender.note_stale_echo(segment, peer);
            }
            if sender.emissions.is_early() {
                sender.settle_early(dir, sink);
            }
            let acks = peer.acks_before(segment, &received_before);
            sender.on_step(step, segment, peer, acks);
        }
        peer.acks.told = 0;

        peer.owes_ack |= seq_len(
            segment.payload_len,
            flags.has(TcpFlags::SYN),
            flags.has(TcpFlags::FIN),
        ) > 0;
        if segment.payload_len > 0 {
            // Of one byte alone its headers tell as well that it is the same packet.
            let is_same = again && segment.payload_len == 1;
            let step = if is_same { Step::Same } else { step };
            on_payload(sender, peer, dir, segment, step, sink);
        } else {
            sender.on_empty(dir, segment, again, step, sink);
        }
        if flags.has(TcpFlags::FIN) {
            sender.on_fin(dir, segment, sink);
        }
        if self.handshake.took_round_trip(dir) {
            sender.marking.note_confirmation(segment);
            self.note_handshake_trip();
        }
        for half in &mut self.halves {
            half.calm = false;
        }
    }

    /// The handshake has taken its round trip: without timestamps it is the only look at the path towards the sender.
    fn note_handshake_trip(&mut self) {
        for dir in [Direction::Forward, Direction::Reverse] {
            let half_ns = self.handshake.half_ns(dir.reversed());
            if let Some(ns) = half_ns.filter(|&ns| !self.handshake.may_be_timers(ns)) {
                self.halves[dir.reversed().index()].delays.upstream.add(ns);
                self.halves[dir.index()].delays.downstream.add(ns);
            }
        }
    }

    /// The capture has ended, or the connection was put away: hands out what was held back.
    pub fn finish<S: FlowSink>(&mut self, sink: &mut S) {
        for dir in [Direction::Forward, Direction::Reverse] {
            let half = &mut self.halves[dir.index()];
            half.settle_stray(dir, false, sink);
            half.release_all_rows(dir, sink);
            if let Some(at) = half.times.packet_at() {
                half.end_repair(dir, at, sink);
            }
        }
    }
}

impl HalfFlow {
    /// A segment of this sender, `dir`, echoes for the first time what passed `rtt_ns` before; `by_timer`: what was
    /// sent then may have been a timer's.
    #[inline]
    fn on_echo<S: FlowSink>(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        rtt_ns: i64,
        by_timer: bool,
        sink: &mut S,
    ) {
        // For the data of `dir`, the peer's echo is the way to the sender and back; and the
        // time that it had nothing to send.
        let is_late = by_timer || self.is_late_echo(at, rtt_ns);
        self.own_echo = if is_late {
            OwnEcho::News
        } else {
            self.delays.upstream.add(rtt_ns);
            OwnEcho::Counted
        };
        if !is_late || is_delay(rtt_ns) {
            sink.timestamp_rtt(dir.reversed(), at, rtt_ns);
        }
    }

    /// A packet of this sender passed at `at`, and all that it tells has been told.
    #[inline]
    fn has_sent(&mut self, at: CaptureTime) {
        // A segment of the peer asks for an ACK, which takes an id of its own.
        self.owes_ack = false;
        self.own_echo = OwnEcho::Old;
        self.packets += 1;
        self.times.note_packet(at);
    }
}

/// A segment with payload of `sender` passed.
#[inline(always)]
fn on_payload<S: FlowSink>(
    sender: &mut HalfFlow,
    peer: &mut HalfFlow,
    dir: Direction,
    segment: &Segment,
    step: Step,
    sink: &mut S,
) {
    sender.times.heard_at = peer.times.packet_at();
    let is_unheard = sender.has_not_heard(segment.timestamps, segment.at, &peer.echoes);
    sender.limits.set_unheard(is_unheard);
    if !sender.continues(segment.seq, segment.payload_len) {
        // How soon can it be an answer? The peer's data goes this sender's way and back, too.
        sender
            .delays
            .upstream
            .lower(peer.delays.downstream.min_ns());
        sender.repair.heard = match (sender.has_heard(segment, peer), step) {
            (Heard::Unknown, Step::Behind(_)) => Heard::UnknownLate,
            (heard, _) => heard,
        };
        sender.note_stale_echo(segment, peer);
    }
    sender.place_data(dir, segment, step, sink);
    sender.limits.set_unheard(false);
    sender.repair.heard = Heard::Unknown;
    if sender.repair.last_repeat.is_some() {
        sender.note_old_ack(segment, peer);
    }
    if sender.seen_acks.take_news() {
        peer.seen_acks.expect_copies();
    }
}

/// The side that sends in direction `dir`, and its peer.
#[inline]
fn sides(halves: &mut [HalfFlow; 2], dir: Direction) -> (&mut HalfFlow, &mut HalfFlow) {
    let [forward, reverse] = halves;
    match dir {
        Direction::Forward => (forward, reverse),
        Direction::Reverse => (reverse, forward),
    }
}
