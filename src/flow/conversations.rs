//! Conversations of UDP: who exchanges datagrams between the same ports, until they fall silent.

use std::fmt;
use std::ops::RangeInclusive;

use super::clock::{Clock, is_silence};
use super::index::Index;
use super::key::EndsHasher;
use super::room::rank_at;
use super::table::{ConnectionIdentity, Observer, TableFacts, YoungPayload};
use crate::decode::{Datagram, Endpoint};
use crate::event::{Direction, FlowSink, PacketArrival};
use crate::time::CaptureTime;
use crate::track::{Connection, RoundTrips};

/// A conversation ends after so long a silence, in ns of capture time: what NATs are asked to remember it for
/// (RFC 4787, REQ-5).
pub const CONVERSATION_SILENCE_NS: i64 = 300_000_000_000;

/// Datagrams of a conversation that are kept as they came. Most are a question and its answer, and what is kept of a
/// longer one takes some 2 KB.
const DATAGRAMS_MAX: usize = if cfg!(test) { 3 } else { 32 };

/// The conversations of one shard that go on.
///
/// Of a datagram its [`Observer`] hears that a packet passed: what UDP carries is not known, but for the round trips that
/// QUIC shows. As with [connections](super::ConnectionTable) it hears of the first ones late.
#[derive(Clone)]
pub struct ConversationTable<O: Observer> {
    observer: O,
    conversations_max: usize,
    hasher: EndsHasher,
    /// Places in `all`, by the hash of the ends.
    index: Index,
    all: Vec<Conversation<O::Sink>>,
    /// Sum over all.
    held_bytes: usize,
    clock: Clock,
    facts: TableFacts,
    /// What is known of each by sequence numbers and ACKs.
    nothing: Connection,
}

#[derive(Clone)]
struct Conversation<F> {
    hash: u64,
    identity: ConnectionIdentity,
    last_at: CaptureTime,
    payload_bytes: u64,
    /// What it was last counted with.
    held_bytes: usize,
    /// Where a datagram began as QUIC's do.
    round_trips: Option<Box<RoundTrips>>,
    state: State<F>,
}

#[derive(Clone)]
enum State<F> {
    /// Its datagrams.
    Young(Young),
    Grown(Box<F>),
}

#[derive(Clone, Default)]
struct Young {
    datagrams: Vec<(Direction, PacketArrival)>,
    /// How many parts they are in that are kept apart.
    parts: u8,
    /// What can be spared of it was given up.
    gave_up: bool,
}

/// Without its conversations, of which there may be millions.
impl<O: Observer> fmt::Debug for ConversationTable<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationTable")
            .field("len", &self.len())
            .field("conversations_max", &self.conversations_max)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Young {
    /// Tells of its datagrams.
    fn tell<O: Observer>(self, sink: &mut O::Sink) {
        for (dir, packet) in &self.datagrams {
            sink.packet(*dir, packet);
        }
        if self.gave_up {
            O::give_up(sink);
        }
    }
}

impl<F> Conversation<F> {
    /// Payload of a young one in both directions, where they have any.
    fn payloads_when_young(&self) -> [Option<YoungPayload>; 2] {
        let mut payloads = [None::<YoungPayload>; 2];
        let State::Young(young) = &self.state else {
            return payloads;
        };
        for (dir, packet) in young
            .datagrams
            .iter()
            .filter(|(_, packet)| packet.payload_len > 0)
        {
            let payload = payloads[dir.index()].get_or_insert(YoungPayload {
                bytes: 0,
                first_at: packet.at,
                last_at: packet.at,
            });
            payload.bytes += u64::from(packet.payload_len);
            payload.last_at = payload.last_at.max(packet.at);
        }
        payloads
    }

    /// Memory that what is known of its round trips takes.
    fn round_trips_bytes(&self) -> usize {
        let bytes = |round_trips: &RoundTrips| size_of::<RoundTrips>() + round_trips.memory_bytes();
        self.round_trips.as_deref().map_or(0, bytes)
    }

    /// Memory that it takes, and memory that what is kept of it will take: without what can be given up, and that.
    fn bytes<O: Observer<Sink = F>>(&self) -> (usize, (usize, usize)) {
        let expected = |parts: usize| match self.payload_bytes {
            0 => (0, 0),
            // Of datagrams there are no rows.
            _ => O::expected_bytes(parts, 0),
        };
        let round_trips = self.round_trips_bytes();
        match &self.state {
            State::Young(young) => {
                let held = round_trips
                    + young.datagrams.capacity() * size_of::<(Direction, PacketArrival)>();
                let (kept, details) = expected(young.parts.into());
                (held, (kept, if young.gave_up { 0 } else { details }))
            }
            State::Grown(sink) => {
                let held = round_trips + size_of::<F>() + O::memory_bytes(sink);
                (held, (expected(0).0, 0))
            }
        }
    }
}

impl<O: Observer> ConversationTable<O> {
    /// An empty table, of so many conversations at a time. One more puts away a quarter: first those without payload,
    /// and of these and the others those that have been silent longest.
    #[must_use]
    pub fn new(observer: O, conversations_max: usize) -> Self {
        Self {
            observer,
            conversations_max,
            hasher: EndsHasher::new(),
            index: Index::default(),
            all: Vec::new(),
            held_bytes: 0,
            clock: Clock::default(),
            facts: TableFacts::default(),
            nothing: Connection::new(),
        }
    }

    /// Takes the next datagram of this shard, in capture order.
    pub fn on_datagram(&mut self, datagram: &Datagram) {
        let at = datagram.at;
        if self.clock.turns(at) && self.clock.turn(at) {
            self.put_away_until(self.clock.surely(), CONVERSATION_SILENCE_NS, false);
        }
        let hash = self.hasher.hash(&datagram.src, &datagram.dst);
        let mut found = self.find(hash, &datagram.src, &datagram.dst);
        if let Some((place, _)) = found
            && is_silence(at.since(self.all[place].last_at), CONVERSATION_SILENCE_NS)
        {
            self.close(place, false);
            found = None;
        }
        let (place, dir) = found.unwrap_or_else(|| self.open(hash, datagram));
        self.take(place, dir, datagram);
    }

    fn find(&self, hash: u64, src: &Endpoint, dst: &Endpoint) -> Option<(usize, Direction)> {
        let mut dir = None;
        let place = self.index.find(hash, |place| {
            dir = self.all[place].identity.direction_between(src, dst);
            dir.is_some()
        })?;
        Some((place, dir?))
    }

    fn open(&mut self, hash: u64, first: &Datagram) -> (usize, Direction) {
        if self.all.len() >= self.conversations_max {
            self.make_room_among(|_| true);
        }
        let place = self.all.len();
        self.index.insert(hash, place);
        self.all.push(Conversation {
            hash,
            identity: ConnectionIdentity::of_datagram(first),
            last_at: first.at,
            payload_bytes: 0,
            held_bytes: 0,
            round_trips: None,
            state: State::Young(Young::default()),
        });
        (place, Direction::Forward)
    }

    fn take(&mut self, place: usize, dir: Direction, datagram: &Datagram) {
        let packet = &PacketArrival::from(datagram);
        let conversation = &mut self.all[place];
        let before = conversation.last_at;
        conversation.last_at = before.max(packet.at);
        conversation.payload_bytes += u64::from(packet.payload_len);
        if let Some(header) = datagram.quic {
            let round_trips = conversation.round_trips.get_or_insert_default();
            round_trips.pass(dir, packet.at, packet.payload_len, header);
        }
        match &mut conversation.state {
            State::Grown(sink) => {
                sink.packet(dir, packet);
                if let Some(round_trips) = &mut conversation.round_trips {
                    round_trips.tell(&mut **sink);
                }
            }
            State::Young(young) if young.datagrams.len() < DATAGRAMS_MAX => {
                let is_first = young.datagrams.is_empty();
                let is_apart = is_first || self.observer.is_apart(before, packet.at);
                young.parts += u8::from(is_apart);
                young.datagrams.push((dir, *packet));
            }
            State::Young(young) => {
                let mut sink = Box::new(self.observer.open(&conversation.identity));
                std::mem::take(young).tell::<O>(&mut sink);
                sink.packet(dir, packet);
                conversation.state = State::Grown(sink);
            }
        }
        self.count_memory(place);
    }

    fn close(&mut self, place: usize, cut_by_limit: bool) {
        let Conversation {
            hash,
            identity,
            payload_bytes,
            held_bytes,
            round_trips,
            state,
            ..
        } = self.all.swap_remove(place);
        self.index.remove(hash, place);
        if let Some(moved) = self.all.get(place) {
            self.index.renumber(moved.hash, self.all.len(), place);
        }
        self.held_bytes -= held_bytes;
        self.facts.cut_by_limit += u64::from(cut_by_limit);
        let mut sink = match state {
            State::Grown(sink) => *sink,
            State::Young(young) => {
                let mut sink = self.observer.open_ended(&identity, payload_bytes);
                young.tell::<O>(&mut sink);
                sink
            }
        };
        let mut opened = None;
        if let Some(mut round_trips) = round_trips {
            round_trips.tell(&mut sink);
            opened = round_trips.handshake().map(Connection::opened);
        }
        let connection = opened.as_ref().unwrap_or(&self.nothing);
        self.observer
            .close(&identity, connection, sink, cut_by_limit);
    }

    /// Puts away those that have been silent for so long by `now`.
    fn put_away_until(&mut self, now: CaptureTime, silent_ns: i64, cut_by_limit: bool) {
        // The last first: what takes the place of one that is taken out has been looked at.
        for place in (0..self.all.len()).rev() {
            if is_silence(now.since(self.all[place].last_at), silent_ns) {
                self.close(place, cut_by_limit);
            }
        }
    }

    /// Puts away a quarter of those that are `wanted`.
    fn make_room_among(&mut self, wanted: impl Fn(&Conversation<O::Sink>) -> bool) {
        let rank = |one: &Conversation<O::Sink>| (one.payload_bytes > 0, one.last_at);
        let all = self.all.iter().filter(|one| wanted(one));
        let ranks: Vec<_> = all.map(rank).collect();
        let quarter = ranks.len() / 4;
        let Some(limit) = rank_at(ranks, quarter) else {
            return;
        };
        for place in (0..self.all.len()).rev() {
            let one = &self.all[place];
            if rank(one) <= limit && wanted(one) {
                self.close(place, true);
            }
        }
    }

    /// How many go on.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether none goes on.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The observer.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// What it has held so far.
    #[must_use]
    pub fn facts(&self) -> TableFacts {
        self.facts
    }

    /// The capture has ended: closes what goes on and hands back the observer.
    pub fn finish(mut self) -> (O, TableFacts) {
        for place in (0..self.all.len()).rev() {
            self.close(place, false);
        }
        (self.observer, self.facts)
    }
}

/// Memory.
impl<O: Observer> ConversationTable<O> {
    /// Memory that they take, in bytes, or that what is kept of them will take where that is more.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let place = size_of::<Conversation<O::Sink>>() + Index::ENTRY_BYTES;
        self.all.capacity() * place + self.held_bytes
    }

    fn count_memory(&mut self, place: usize) {
        let conversation = &mut self.all[place];
        let (held, (kept, details)) = conversation.bytes::<O>();
        let held = held.max(kept) + details;
        self.held_bytes = self.held_bytes + held - conversation.held_bytes;
        conversation.held_bytes = held;
    }

    /// The sinks of those that are longer than a few datagrams.
    pub fn sinks_mut(&mut self) -> impl Iterator<Item = &mut O::Sink> {
        self.all.iter_mut().filter_map(|one| match &mut one.state {
            State::Young(_) => None,
            State::Grown(sink) => Some(&mut **sink),
        })
    }

    fn young(&self) -> impl Iterator<Item = &Conversation<O::Sink>> {
        let all = self.all.iter();
        all.filter(|one| matches!(one.state, State::Young(_)))
    }

    /// Payload of each of the others, in bytes.
    pub fn young_bytes(&self) -> impl Iterator<Item = u64> {
        self.young().map(|one| one.payload_bytes)
    }

    /// Payload of each direction of those of them whose total of both lies in `bytes`.
    pub fn young_payloads(&self, bytes: RangeInclusive<u64>) -> impl Iterator<Item = YoungPayload> {
        let wanted = self
            .young()
            .filter(move |one| bytes.contains(&one.payload_bytes));
        wanted.flat_map(|one| one.payloads_when_young().into_iter().flatten())
    }

    /// Payload of each of them, in bytes, and memory that can be given up of it.
    pub fn young_details(&self) -> impl Iterator<Item = (u64, usize)> {
        let details = |one: &Conversation<O::Sink>| one.bytes::<O>().1.1;
        self.young()
            .map(move |one| (one.payload_bytes, details(one)))
    }

    /// Gives up what can be given up of those of them with at most so much payload, and lets `change` make the sinks of
    /// the others smaller.
    pub fn give_up(&mut self, payload_bytes: u64, mut change: impl FnMut(&mut O::Sink)) {
        for place in 0..self.all.len() {
            let one = &mut self.all[place];
            match &mut one.state {
                State::Young(young) => young.gave_up |= one.payload_bytes <= payload_bytes,
                State::Grown(sink) => change(sink),
            }
            self.count_memory(place);
        }
    }

    /// Puts away those that have been silent for so long, in ns of capture time.
    pub fn put_away_silent(&mut self, silent_ns: i64) {
        self.put_away_until(self.clock.now, silent_ns, true);
        self.shrink();
    }

    /// Memory that closing all would free, in bytes: what they hold beyond what their records will take.
    #[must_use]
    pub fn excess_bytes(&self) -> usize {
        self.all.iter().map(Self::excess_of).sum()
    }

    fn excess_of(one: &Conversation<O::Sink>) -> usize {
        let (held, (kept, _)) = one.bytes::<O>();
        // Bins of a longer one become those of its record.
        let held = match one.state {
            State::Young(_) => held,
            State::Grown(_) => size_of::<O::Sink>() + one.round_trips_bytes(),
        };
        held.saturating_sub(kept)
    }

    /// Puts away a quarter of those that hold more than what is kept of them.
    pub fn put_away_excess(&mut self) {
        self.make_room_among(|one| Self::excess_of(one) > 0);
        self.shrink();
    }

    /// Gives back most of the memory that is not in use.
    fn shrink(&mut self) {
        let room = self.all.len() / 4 * 5;
        self.all.shrink_to(room);
    }
}
