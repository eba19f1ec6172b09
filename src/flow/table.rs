//! The connections of one shard.

use hashbrown::HashTable;

use super::key::EndsHasher;
use crate::decode::{Endpoint, Segment, TcpFlags};
use crate::event::{Direction, FlowSink};
use crate::time::CaptureTime;
use crate::track::Connection;

/// Who talks to whom, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowIdentity {
    /// Who opened the connection: sent the SYN or, in a capture that starts later, the first
    /// segment.
    pub opener: Endpoint,
    /// The other side.
    pub peer: Endpoint,
    /// Position of the connection's first record in the capture; orders connections.
    pub first_ordinal: u64,
    /// When that record was captured.
    pub first_at: CaptureTime,
}

impl FlowIdentity {
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
        if segment.src == self.opener && segment.dst == self.peer {
            Some(Direction::Forward)
        } else if segment.src == self.peer && segment.dst == self.opener {
            Some(Direction::Reverse)
        } else {
            None
        }
    }
}

/// Watches connections: gives each a sink when it begins and takes it back when it ends.
///
/// Each shard has an observer of its own, so observers need no locks; what they have gathered is
/// put together by [`FlowIdentity::first_ordinal`].
pub trait Observer {
    /// What is kept of one connection.
    type Flow: FlowSink;
    /// A connection begins.
    fn open(&mut self, identity: &FlowIdentity) -> Self::Flow;
    /// A connection has ended, was put away, or the capture has ended.
    fn close(
        &mut self,
        identity: &FlowIdentity,
        connection: &Connection,
        flow: Self::Flow,
        cut_by_limit: bool,
    );
}

/// When connections are put away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLimits {
    /// Connections alive at a time in one shard. One more puts away the quarter that has been
    /// silent longest; each is marked as cut by a limit, and counts as a new one when it goes on.
    pub flows_max: usize,
    /// A connection that is over (FIN both ways or RST) is put away after so long, in ns of
    /// capture time: late copies still belong to it.
    pub linger_ns: i64,
    /// A connection of which nothing was seen for so long is put away, in ns of capture time.
    pub idle_ns: i64,
}

impl Default for FlowLimits {
    fn default() -> Self {
        Self {
            flows_max: (4 << 20) / super::SHARDS,
            // Linux keeps TIME-WAIT for 60 s; nothing late can come after.
            linger_ns: 60_000_000_000,
            // RFC 9293 section 3.8.4 has keep-alives after two hours at the earliest.
            idle_ns: 7_500_000_000_000,
        }
    }
}

/// How much a table held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableFacts {
    /// Connections put away because there were too many.
    pub cut_by_limit: u64,
}

#[derive(Debug)]
struct Flow<F> {
    hash: u64,
    identity: FlowIdentity,
    last_at: CaptureTime,
    connection: Connection,
    sink: F,
}

/// The connections of one shard that are alive.
pub struct FlowTable<O: Observer> {
    observer: O,
    limits: FlowLimits,
    hasher: EndsHasher,
    /// Places in `flows`, by the hash of the ends.
    index: HashTable<Place>,
    flows: Vec<Flow<O::Flow>>,
    /// The latest instant seen: the table's clock.
    now: CaptureTime,
    /// When connections are next looked through.
    sweep_at: CaptureTime,
    facts: TableFacts,
}

/// Where a connection is, with as much of its hash as tells it from nearly all others: a probe that
/// fails does not touch the connection.
#[derive(Clone, Copy, Debug)]
struct Place {
    tag: u32,
    index: u32,
}

impl Place {
    fn new(hash: u64, index: usize) -> Self {
        Self {
            tag: (hash >> 32) as u32,
            index: index as u32,
        }
    }
}

/// How far one record can move the table's clock, in ns of capture time.
const JUMP_NS: i64 = 60_000_000_000;

/// How often connections are looked through for those to put away, in ns of capture time.
const SWEEP_NS: i64 = 10_000_000_000;

impl<O: Observer> FlowTable<O> {
    /// An empty table.
    #[must_use]
    pub fn new(observer: O, limits: FlowLimits) -> Self {
        Self {
            observer,
            limits,
            hasher: EndsHasher::new(),
            index: HashTable::new(),
            flows: Vec::new(),
            now: CaptureTime::MIN,
            sweep_at: CaptureTime::MIN,
            facts: TableFacts::default(),
        }
    }

    /// Takes the next segment of this shard, in capture order.
    pub fn on_segment(&mut self, segment: &Segment) {
        self.keep_house(segment.at);
        let hash = self.hasher.hash(&segment.src, &segment.dst);
        let tag = Place::new(hash, 0).tag;
        let flows = &self.flows;
        let known = self.index.find(hash, |place| {
            place.tag == tag
                && flows
                    .get(place.index as usize)
                    .is_some_and(|flow| flow.identity.direction(segment).is_some())
        });
        let mut index = match known {
            Some(place) => place.index as usize,
            None => self.open(hash, segment),
        };
        let mut dir = self.direction(index, segment);
        if segment.flags.has(TcpFlags::SYN)
            && self.flows[index].connection.is_superseded_by(dir, segment)
        {
            self.close(index, false);
            index = self.open(hash, segment);
            dir = self.direction(index, segment);
        }
        let flow = &mut self.flows[index];
        flow.last_at = flow.last_at.max(segment.at);
        flow.connection.on_segment(dir, segment, &mut flow.sink);
    }

    /// Connections alive.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether no connection is alive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The sinks of the connections that are alive.
    pub fn sinks_mut(&mut self) -> impl Iterator<Item = &mut O::Flow> {
        self.flows.iter_mut().map(|flow| &mut flow.sink)
    }

    /// The observer.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The capture has ended: closes what is alive and hands back the observer.
    pub fn finish(mut self) -> (O, TableFacts) {
        while !self.flows.is_empty() {
            self.close(self.flows.len() - 1, false);
        }
        (self.observer, self.facts)
    }

    #[inline]
    fn direction(&self, index: usize, segment: &Segment) -> Direction {
        if segment.src == self.flows[index].identity.opener {
            Direction::Forward
        } else {
            Direction::Reverse
        }
    }

    #[cold]
    fn open(&mut self, hash: u64, segment: &Segment) -> usize {
        if self.flows.len() >= self.limits.flows_max {
            self.make_room();
        }
        // A SYN-ACK first means that the SYN was missed: the other side opened.
        let answered = segment.flags.has(TcpFlags::SYN.with(TcpFlags::ACK));
        let (opener, peer) = if answered {
            (segment.dst, segment.src)
        } else {
            (segment.src, segment.dst)
        };
        let identity = FlowIdentity {
            opener,
            peer,
            first_ordinal: segment.ordinal,
            first_at: segment.at,
        };
        let sink = self.observer.open(&identity);
        let index = self.flows.len();
        self.flows.push(Flow {
            hash,
            identity,
            last_at: segment.at,
            connection: Connection::new(),
            sink,
        });
        let flows = &self.flows;
        self.index
            .insert_unique(hash, Place::new(hash, index), |place| {
                flows[place.index as usize].hash
            });
        index
    }

    fn close(&mut self, index: usize, cut_by_limit: bool) {
        let mut flow = self.flows.swap_remove(index);
        let (last, place) = (self.flows.len() as u32, index as u32);
        if let Ok(entry) = self
            .index
            .find_entry(flow.hash, |entry| entry.index == place)
        {
            entry.remove();
        }
        if let Some(moved) = self.flows.get(index)
            && let Some(entry) = self.index.find_mut(moved.hash, |entry| entry.index == last)
        {
            entry.index = place;
        }
        flow.connection.finish(&mut flow.sink);
        self.facts.cut_by_limit += u64::from(cut_by_limit);
        self.observer
            .close(&flow.identity, &flow.connection, flow.sink, cut_by_limit);
    }

    #[inline]
    fn keep_house(&mut self, at: CaptureTime) {
        if at > self.now {
            self.turn_clock(at);
        }
    }

    fn turn_clock(&mut self, at: CaptureTime) {
        // One record with an absurd time must not make all connections look idle.
        let soon = if self.now == CaptureTime::MIN {
            at
        } else {
            self.now.plus_ns(JUMP_NS)
        };
        self.now = at.min(soon);
        if self.now >= self.sweep_at {
            self.sweep_at = self.now.plus_ns(SWEEP_NS);
            self.sweep();
        }
    }

    /// Puts away what is over, and what has been silent for too long.
    fn sweep(&mut self) {
        let mut index = self.flows.len();
        while index > 0 {
            index -= 1;
            let flow = &self.flows[index];
            let silent_ns = self.now.since(flow.last_at);
            let over = flow.connection.handshake().closing().is_over();
            if silent_ns >= self.limits.idle_ns || (over && silent_ns >= self.limits.linger_ns) {
                self.close(index, false);
            }
        }
    }

    /// Puts away the quarter of the connections that has been silent longest.
    fn make_room(&mut self) {
        let mut last: Vec<CaptureTime> = self.flows.iter().map(|flow| flow.last_at).collect();
        let quarter = last.len() / 4;
        let (_, &mut limit, _) = last.select_nth_unstable(quarter);
        let mut index = self.flows.len();
        while index > 0 {
            index -= 1;
            if self.flows[index].last_at <= limit {
                self.close(index, true);
            }
        }
    }
}
