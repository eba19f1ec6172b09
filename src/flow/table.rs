//! The connections of one shard.

mod ended;
mod held;
mod memory;
mod packets;
mod queue;
mod sweep;
mod train;
mod young;

use std::fmt;

use thin_vec::ThinVec;

use ended::Ended;
use packets::{PacketStore, Young};
use young::SIDE_BY_SIDE;
pub use young::YoungPayload;

use super::clock::{Clock, is_silence};
use super::half_open::{Beginning, HalfOpen};
use super::index::Index;
use super::kept::{Kept, Start};
use super::key::EndsHasher;
use crate::decode::{Datagram, Endpoint, Segment, TcpFlags, Transport};
use crate::event::{Direction, FlowSink};
use crate::time::CaptureTime;
use crate::track::{Connection, TrackLimits};

/// Who talks to whom, over what, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionIdentity {
    /// Who opened the connection: sent the SYN or, in a capture that starts later, the first
    /// segment. Of UDP, who sent the first datagram that was seen.
    pub opener: Endpoint,
    /// The other side.
    pub peer: Endpoint,
    /// What their packets are of.
    pub transport: Transport,
    /// Position of the connection's first record in the capture; orders connections.
    pub first_ordinal: u64,
    /// When that record was captured.
    pub first_at: CaptureTime,
}

impl ConnectionIdentity {
    /// Of the connection that begins with `segment`.
    pub(super) fn of(segment: &Segment) -> Self {
        let ends = (segment.src, segment.dst);
        Self::from_first(ends, segment.flags, Start::of(segment)).0
    }

    /// Of the connection whose first segment goes from one of these ends to the other, and in which direction
    /// of it that goes.
    pub(super) fn from_first(
        (src, dst): (Endpoint, Endpoint),
        flags: TcpFlags,
        start: Start,
    ) -> (Self, Direction) {
        // A SYN-ACK first means that the SYN was missed: the other side opened.
        let (opener, peer) = if flags.has(TcpFlags::SYN.with(TcpFlags::ACK)) {
            (dst, src)
        } else {
            (src, dst)
        };
        // Of one with itself all is forward.
        let dir = if src == opener {
            Direction::Forward
        } else {
            Direction::Reverse
        };
        let identity = Self {
            opener,
            peer,
            transport: Transport::Tcp,
            first_ordinal: start.ordinal,
            first_at: start.at,
        };
        (identity, dir)
    }

    /// Of the conversation that begins with `datagram`.
    pub(super) fn of_datagram(datagram: &Datagram) -> Self {
        Self {
            opener: datagram.src,
            peer: datagram.dst,
            transport: Transport::Udp,
            first_ordinal: datagram.ordinal,
            first_at: datagram.at,
        }
    }

    pub(super) fn start(&self) -> Start {
        Start {
            at: self.first_at,
            ordinal: self.first_ordinal,
        }
    }

    /// Sender and receiver of a direction.
    #[must_use]
    pub fn ends(&self, dir: Direction) -> (Endpoint, Endpoint) {
        match dir {
            Direction::Forward => (self.opener, self.peer),
            Direction::Reverse => (self.peer, self.opener),
        }
    }

    /// The direction of a segment; `None` when it is not between these two ends.
    #[inline]
    #[must_use]
    pub fn direction(&self, segment: &Segment) -> Option<Direction> {
        self.direction_between(&segment.src, &segment.dst)
    }

    /// The direction of what goes from one end to another; `None` when these are not its two ends.
    // Whatever is found by its hash is compared with it.
    #[inline(always)]
    pub(super) fn direction_between(&self, src: &Endpoint, dst: &Endpoint) -> Option<Direction> {
        if *src == self.opener && *dst == self.peer {
            Some(Direction::Forward)
        } else if *src == self.peer && *dst == self.opener {
            Some(Direction::Reverse)
        } else {
            None
        }
    }
}

/// Watches connections: gives each a sink when it begins and takes it back when it ends.
///
/// Each shard has an observer of its own, so observers need no locks; what they have gathered is
/// put together by [`ConnectionIdentity::first_ordinal`]. Two observers of the same connections are one, as a tuple.
pub trait Observer {
    /// What is kept of one connection.
    type Sink: FlowSink;
    /// Whether what the first packets of a connection say may be told when more follow, or when the
    /// connection ends: the same in the same order, for less memory and time. Of connections of one packet, or of a SYN
    /// and its answer, nothing is told before either, whatever this says: many have no more.
    const WAITS: bool = false;
    /// Memory that it holds besides itself, in bytes, as far as it counts towards a limit.
    fn memory_bytes(_flow: &Self::Sink) -> usize {
        0
    }
    /// Whether events at `before` and at `at` are kept apart, as those of different bins are.
    fn is_apart(&mut self, _before: CaptureTime, _at: CaptureTime) -> bool {
        false
    }
    /// Memory that what is kept of a connection in so many parts that are [apart](Self::is_apart), and of so many
    /// segments, will take, in bytes: without what can be given up, and that.
    #[must_use]
    fn expected_bytes(_parts: usize, _segments: usize) -> (usize, usize) {
        (0, 0)
    }
    /// Drops what can be spared of a connection.
    fn give_up(_flow: &mut Self::Sink) {}
    /// A connection begins.
    fn open(&mut self, identity: &ConnectionIdentity) -> Self::Sink;
    /// A connection begins that has ended: told of late, and of so much payload in both directions.
    fn open_ended(&mut self, identity: &ConnectionIdentity, _payload_bytes: u64) -> Self::Sink {
        self.open(identity)
    }
    /// A connection has ended, was put away, or the capture has ended.
    fn close(
        &mut self,
        identity: &ConnectionIdentity,
        connection: &Connection,
        flow: Self::Sink,
        cut_by_limit: bool,
    );
}

/// When connections are put away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections alive at a time in one shard. One more puts away a quarter: first those without
    /// payload, and of these and the others those that have been silent longest. Each is marked as
    /// cut by a limit, and counts as a new one when it goes on.
    pub connections_max: usize,
    /// Connections of one packet so far, or of a SYN and its answer, at a time in one shard; not counted in
    /// [`connections_max`](Self::connections_max). One more puts away a quarter: first those without payload, of these
    /// and the others those that have been silent longest, marked in the same way.
    pub half_open_max: usize,
    /// A connection that is over (FIN both ways or RST) ends after so long a silence, in ns of
    /// capture time: late copies still belong to it.
    pub linger_ns: i64,
    /// Any other connection ends after so long a silence, in ns of capture time.
    pub idle_ns: i64,
    /// How much of each connection is remembered.
    pub track: TrackLimits,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections_max: (4 << 20) / super::SHARDS,
            half_open_max: (8 << 20) / super::SHARDS,
            // Linux keeps TIME-WAIT for 60 s; nothing late can come after.
            linger_ns: 60_000_000_000,
            // RFC 9293 section 3.8.4 has keep-alives after two hours at the earliest.
            idle_ns: 7_500_000_000_000,
            track: TrackLimits::default(),
        }
    }
}

impl ConnectionLimits {
    /// The default of one table that has all connections, and not those of one shard.
    #[must_use]
    pub fn of_all() -> Self {
        let of_shard = Self::default();
        Self {
            connections_max: of_shard.connections_max * super::SHARDS,
            half_open_max: of_shard.half_open_max * super::SHARDS,
            ..of_shard
        }
    }

    /// Whether so long a silence ends a connection.
    fn ended<F>(&self, flow: &Tracked<F>, silent_ns: i64) -> bool {
        let is_over = || flow.connection.handshake().closing().is_over();
        is_silence(silent_ns, self.idle_ns) || (is_silence(silent_ns, self.linger_ns) && is_over())
    }
}

/// How much a table held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableFacts {
    /// Connections put away because there were too many.
    pub cut_by_limit: u64,
}

/// What it takes to find a connection and to tell whether it has ended. Kept apart from its state,
/// which is fourteen times as large: a segment that only has to be put into a queue touches no more
/// than this.
// In lines of its own: what is asked for is all of them.
#[derive(Clone)]
#[repr(align(64))]
#[derive(Debug)]
struct Head {
    hash: u64,
    identity: ConnectionIdentity,
    last_at: CaptureTime,
    /// First and last of its segments in the queue; [`NONE`](queue::NONE) where none waits.
    first_queued: u32,
    last_queued: u32,
    /// What its state held besides itself when it was last counted, in bytes.
    held_bytes: usize,
    /// SYNs of which it is not known yet whether they are its own, oldest first. Nearly always none.
    syns: ThinVec<Segment>,
    /// The connection as long as it has no state yet.
    young: Young,
}

// Two lines of memory: the first that is fetched for a segment, of one flow after the other.
const _: () = assert!(size_of::<Head>() <= 128);

/// A connection that is no longer young: its state, and what is kept of it.
#[derive(Clone, Debug)]
struct Tracked<F> {
    connection: Connection,
    sink: F,
}

/// The connections of one shard that are alive.
#[derive(Clone)]
pub struct ConnectionTable<O: Observer> {
    observer: O,
    limits: ConnectionLimits,
    hasher: EndsHasher,
    /// Places in `heads` and `tracked`, by the hash of the ends.
    index: Index,
    heads: Vec<Head>,
    /// One for each of `heads`. Each on its own: a vector of the states themselves would be copied
    /// to twice the memory again and again as it grows, hundreds of megabytes that the system has
    /// to fill with zeros first. `None` for those that are young.
    tracked: Vec<Option<Box<Tracked<O::Sink>>>>,
    young: PacketStore,
    half_open: HalfOpen,
    /// Sum over `heads`.
    held_bytes: usize,
    clock: Clock,
    facts: TableFacts,
}

/// Without its connections, of which there may be millions.
impl<O: Observer> fmt::Debug for ConnectionTable<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionTable")
            .field("len", &self.len())
            .field("limits", &self.limits)
            .field("now", &self.clock.now)
            .finish_non_exhaustive()
    }
}

impl<O: Observer> ConnectionTable<O> {
    /// An empty table.
    #[must_use]
    pub fn new(observer: O, limits: ConnectionLimits) -> Self {
        let hasher = EndsHasher::new();
        Self {
            observer,
            limits,
            half_open: HalfOpen::new(hasher.clone()),
            hasher,
            index: Index::default(),
            heads: Vec::new(),
            tracked: Vec::new(),
            young: PacketStore::default(),
            held_bytes: 0,
            clock: Clock::default(),
            facts: TableFacts::default(),
        }
    }

    /// Takes the next segment of this shard, in capture order.
    pub fn on_segment(&mut self, segment: &Segment) {
        self.keep_house(segment.at);
        let hash = self.hasher.hash(&segment.src, &segment.dst);
        let found = self
            .find(hash, |head| head.identity.direction(segment))
            .or_else(|| self.begin(hash, segment));
        if let Some((index, dir)) = found {
            self.take(hash, index, dir, segment);
        }
    }

    /// Time has come to `at` without a segment of this shard: ends what a segment would have shown to be over by then.
    pub fn pass_time(&mut self, at: CaptureTime) {
        self.keep_house(at);
    }

    /// The connection of a segment, and the segment's `direction` in it.
    #[inline]
    fn find(
        &self,
        hash: u64,
        direction: impl Fn(&Head) -> Option<Direction>,
    ) -> Option<(usize, Direction)> {
        let mut dir = None;
        let index = self.index.find(hash, |index| {
            dir = self.heads.get(index).and_then(&direction);
            dir.is_some()
        })?;
        Some((index, dir?))
    }

    /// Gives a segment to the connection at `index`, or to a new one when it begins one.
    #[inline]
    fn take(&mut self, hash: u64, mut index: usize, mut dir: Direction, segment: &Segment) {
        self.grow_up_for(index, dir, segment);
        if self.is_past(index, dir, segment) {
            (index, dir) = self.succeed(hash, index, dir, segment);
        } else if self.is_syn_or_waits(index, segment) {
            if segment.flags.has(TcpFlags::SYN) && self.hold(index, dir, segment) {
                self.count_memory(index);
                return;
            }
            self.let_strays_go(index, dir, segment);
        }
        self.pass(index, dir, segment);
        self.count_memory(index);
    }

    /// Gives a segment to the connection at `index`, which it belongs to.
    #[inline]
    fn pass(&mut self, index: usize, dir: Direction, segment: &Segment) {
        let put = |start, place: &mut Kept| {
            *place = Kept::of(dir, segment, start)?;
            Some(())
        };
        if self.tracked[index].is_none() && self.keep(index, put) {
            return;
        }
        let head = &mut self.heads[index];
        head.last_at = head.last_at.max(segment.at);
        let flow = self.state(index);
        flow.connection.on_segment(dir, segment, &mut flow.sink);
    }

    /// Connections alive.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tracked.len()
    }

    /// Whether no connection is alive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tracked.is_empty()
    }

    /// The sinks of the connections that are alive, but for [those](Observer::WAITS) of few packets.
    pub fn sinks_mut(&mut self) -> impl Iterator<Item = &mut O::Sink> {
        self.tracked.iter_mut().flatten().map(|flow| &mut flow.sink)
    }

    /// The observer.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The observer, to be changed.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The capture has ended: closes what is alive and hands back the observer.
    pub fn finish(mut self) -> (O, TableFacts) {
        // None is looked for any more.
        self.index = Index::default();
        let mut ended = Vec::with_capacity(SIDE_BY_SIDE);
        while let (Some(head), Some(flow)) = (self.heads.pop(), self.tracked.pop()) {
            if let Some(next) = self.heads.iter().rev().nth(SIDE_BY_SIDE - 1) {
                self.young.expect_all(&next.young);
            }
            self.end(&mut ended, Ended::of(head, flow, false));
        }
        self.hand_back(&mut ended);
        let none = HalfOpen::new(self.hasher.clone());
        for before in std::mem::replace(&mut self.half_open, none).into_beginnings() {
            self.put_away_begun(&before, false);
        }
        (self.observer, self.facts)
    }

    fn direction(&self, index: usize, segment: &Segment) -> Direction {
        if segment.src == self.heads[index].identity.opener {
            Direction::Forward
        } else {
            Direction::Reverse
        }
    }

    /// The connection that a segment of none begins; `None` for one that waits for what follows.
    #[cold]
    fn begin(&mut self, hash: u64, segment: &Segment) -> Option<(usize, Direction)> {
        let late_ns = self.limits.linger_ns.min(self.limits.idle_ns);
        if self.half_open.answer(hash, segment, late_ns) {
            return None;
        }
        let Some(before) = self.half_open.take(hash, segment) else {
            if self.half_open.len() >= self.limits.half_open_max {
                for before in self.half_open.take_quarter() {
                    self.put_away_begun(&before, true);
                }
            }
            if self.half_open.add(hash, segment) {
                return None;
            }
            let index = self.open(hash, ConnectionIdentity::of(segment));
            return Some((index, self.direction(index, segment)));
        };
        let (identity, first_dir) = before.identity();
        let index = self.open(hash, identity);
        for mut packet in before.packets() {
            if first_dir == Direction::Reverse {
                packet = packet.reversed();
            }
            let put = |_, place: &mut Kept| {
                *place = packet;
                Some(())
            };
            if !self.keep(index, put) {
                let dir = packet.dir();
                let segment = packet.segment(identity.ends(dir), before.start);
                self.pass(index, dir, &segment);
            }
        }
        if before.gave_up() {
            match &mut self.tracked[index] {
                Some(flow) => O::give_up(&mut flow.sink),
                None => self.heads[index].young.gave_up = true,
            }
        }
        Some((index, self.direction(index, segment)))
    }

    /// Nothing came after the packets of a connection.
    fn put_away_begun(&mut self, before: &Beginning, cut_by_limit: bool) {
        self.put_away(&before.segments(), before.gave_up(), cut_by_limit);
    }

    /// The same of any packets; `gave_up` where no more is kept of them than has to be.
    fn put_away(&mut self, packets: &[Segment], gave_up: bool, cut_by_limit: bool) {
        let Some(first) = packets.first() else { return };
        let identity = ConnectionIdentity::of(first);
        let lens = packets.iter().map(|packet| u64::from(packet.payload_len));
        let mut sink = self.observer.open_ended(&identity, lens.sum());
        let mut connection = Connection::with_limits(self.limits.track);
        for packet in packets {
            let dir = identity.direction(packet).unwrap_or(Direction::Forward);
            connection.on_segment(dir, packet, &mut sink);
        }
        connection.finish(&mut sink);
        if gave_up {
            O::give_up(&mut sink);
        }
        self.facts.cut_by_limit += u64::from(cut_by_limit);
        self.observer
            .close(&identity, &connection, sink, cut_by_limit);
    }

    fn open(&mut self, hash: u64, identity: ConnectionIdentity) -> usize {
        if self.tracked.len() >= self.limits.connections_max {
            self.make_room();
        }
        let index = self.tracked.len();
        self.heads.push(Head {
            hash,
            identity,
            last_at: identity.first_at,
            first_queued: queue::NONE,
            last_queued: queue::NONE,
            held_bytes: 0,
            syns: ThinVec::new(),
            young: Young::default(),
        });
        self.tracked.push(None);
        self.index.insert(hash, index);
        index
    }

    /// Whether a segment follows the one before it in its connection so closely that no silence
    /// can have ended that.
    #[inline]
    fn is_prompt(&self, index: usize, at: CaptureTime) -> bool {
        at.since(self.heads[index].last_at) < self.prompt_ns()
    }

    /// Silence that ends no connection, in ns.
    #[inline]
    fn prompt_ns(&self) -> i64 {
        self.limits.linger_ns.min(self.limits.idle_ns)
    }

    /// Whether a connection had ended before a segment: by its own silence, or because the segment
    /// begins the next one.
    #[inline]
    fn is_past(&self, index: usize, dir: Direction, segment: &Segment) -> bool {
        self.fell_silent(index, segment)
            || (self.is_syn_or_waits(index, segment) && self.begins_next(index, dir, segment))
    }

    /// Whether a connection had ended by its own silence before a segment: other connections and when
    /// they were looked through play no part.
    #[inline]
    fn fell_silent(&self, index: usize, segment: &Segment) -> bool {
        let silent_ns = segment.at.since(self.heads[index].last_at);
        !self.is_prompt(index, segment.at)
            && self.tracked[index]
                .as_ref()
                .is_some_and(|flow| self.limits.ended(flow, silent_ns))
    }

    /// Whether a segment has SYN, or SYNs are held that it may tell of.
    #[inline]
    fn is_syn_or_waits(&self, index: usize, segment: &Segment) -> bool {
        segment.flags.has(TcpFlags::SYN) || !self.heads[index].syns.is_empty()
    }
}
