//! Connections of one packet so far, or of a SYN and its answer: what floods and scans consist of, and
//! damage that looks like packets. The packets are kept as they came, at a small part of what a
//! connection takes.

use std::num::NonZeroU32;

use super::clock::is_silence;
use super::index::Index;
use super::kept::{Kept, Start};
use super::key::EndsHasher;
use super::pieces::Pieces;
use super::room::rank_at;
use super::table::{ConnectionIdentity, YoungPayload};
use crate::decode::{Endpoint, Segment, TcpFlags};
use crate::event::Direction;
use crate::prefetch::prefetch;
use crate::time::CaptureTime;

/// The connections of one shard that have come no further.
#[derive(Clone, Debug)]
pub(super) struct HalfOpen {
    hasher: EndsHasher,
    /// Places in `begun`, by the hash of the ends.
    index: Index,
    begun: Pieces<Begun>,
    answers: Answers,
    /// How many of them have payload, and of how many of these what can be spared was given up.
    with_payload: usize,
    given_up: usize,
    /// None has been silent for longer, and none of those whose SYN was refused: without these, time
    /// and again all would be looked through in vain.
    silent_since: CaptureTime,
    refused_since: CaptureTime,
}

/// A first packet, from `src` to `dst`, and what answered it.
#[derive(Clone, Copy, Debug)]
struct Begun {
    src: Endpoint,
    dst: Endpoint,
    answer: Option<Place>,
    start: Start,
    packet: Kept,
}

// Five million of these are a scan of half an hour: half a gigabyte.
const _: () = assert!(size_of::<Begun>() <= 96);

/// Answers to SYNs, apart from those: most of a flood is not answered.
#[derive(Clone, Debug, Default)]
struct Answers {
    packets: Pieces<Kept>,
    free: Vec<Place>,
}

/// What there was of a connection that goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    src: Endpoint,
    dst: Endpoint,
    pub(super) start: Start,
    /// The first packet, which is forward.
    first: Kept,
    /// What answered it.
    answer: Option<Kept>,
}

impl Beginning {
    /// Its packets, as they came.
    pub(super) fn segments(&self) -> Vec<Segment> {
        let ends = [(self.src, self.dst), (self.dst, self.src)];
        let packets = self.packets().zip(ends);
        packets
            .map(|(packet, ends)| packet.segment(ends, self.start))
            .collect()
    }

    /// The same as they are kept.
    pub(super) fn packets(&self) -> impl Iterator<Item = Kept> + use<> {
        std::iter::once(self.first).chain(self.answer)
    }

    /// Whether what can be spared of them was given up.
    pub(super) fn gave_up(&self) -> bool {
        self.first.gave_up()
    }

    /// Who talks to whom, and in which direction the first packet goes.
    pub(super) fn identity(&self) -> (ConnectionIdentity, Direction) {
        ConnectionIdentity::from_first((self.src, self.dst), self.first.flags(), self.start)
    }
}

/// A place in `packets` of [`Answers`], and one.
#[derive(Clone, Copy, Debug)]
struct Place(NonZeroU32);

impl Place {
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Answers {
    fn get(&self, place: Option<Place>) -> Option<&Kept> {
        self.packets.get(place?.index())
    }

    /// Keeps one; `None` where there is no room for more.
    fn add(&mut self, packet: Kept) -> Option<Place> {
        if let Some(place) = self.free.pop() {
            self.packets[place.index()] = packet;
            return Some(place);
        }
        let place = NonZeroU32::new(u32::try_from(self.packets.len() + 1).ok()?)?;
        self.packets.push(packet);
        Some(Place(place))
    }
}

impl Begun {
    fn is_between(&self, segment: &Segment) -> bool {
        (self.src == segment.src && self.dst == segment.dst)
            || (self.src == segment.dst && self.dst == segment.src)
    }

    fn beginning(&self, answers: &Answers) -> Beginning {
        Beginning {
            src: self.src,
            dst: self.dst,
            start: self.start,
            first: self.packet,
            answer: answers.get(self.answer).copied(),
        }
    }

    /// Payload of its packet, in bytes.
    fn payload_bytes(&self) -> u64 {
        self.packet.payload_len().into()
    }

    /// A SYN without payload.
    fn is_syn(&self) -> bool {
        let flags = self.packet.flags();
        flags.has(TcpFlags::SYN)
            && !flags.any(TcpFlags::ACK.with(TcpFlags::RST))
            && self.packet.payload_len() == 0
    }
}

impl HalfOpen {
    /// None yet; their ends are hashed by `hasher`.
    pub(super) fn new(hasher: EndsHasher) -> Self {
        Self {
            hasher,
            index: Index::default(),
            begun: Pieces::default(),
            answers: Answers::default(),
            with_payload: 0,
            given_up: 0,
            silent_since: CaptureTime::MAX,
            refused_since: CaptureTime::MAX,
        }
    }

    /// Memory that they take, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let entries = self.begun.len() * Index::ENTRY_BYTES;
        let free = self.answers.free.capacity() * size_of::<Place>();
        self.begun.memory_bytes() + self.answers.packets.memory_bytes() + entries + free
    }

    /// Gives back memory that is not in use.
    pub(super) fn shrink(&mut self) {
        self.begun.shrink();
        if !self.answers.free.is_empty() {
            let scattered = std::mem::take(&mut self.answers);
            for begun in self.begun.iter_mut() {
                let answer = scattered.get(begun.answer);
                begun.answer = answer.and_then(|&packet| self.answers.add(packet));
            }
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.begun.len()
    }

    /// How many have payload.
    pub(super) fn with_payload(&self) -> usize {
        self.with_payload
    }

    /// How many have payload and more kept of them than has to be.
    pub(super) fn with_details(&self) -> usize {
        self.with_payload - self.given_up
    }

    /// Payload of each of these, in bytes.
    pub(super) fn details(&self) -> impl Iterator<Item = u64> {
        let kept = self.begun.iter().filter(|begun| !begun.packet.gave_up());
        kept.map(Begun::payload_bytes).filter(|&bytes| bytes > 0)
    }

    /// No more is kept of those of them with at most so much payload than has to be.
    pub(super) fn give_up(&mut self, payload_bytes: u64) {
        let small = 1..=payload_bytes;
        for begun in self.begun.iter_mut() {
            if small.contains(&begun.payload_bytes()) && !begun.packet.gave_up() {
                begun.packet.give_up();
                self.given_up += 1;
            }
        }
    }

    /// Memory that would be free without them, in bytes: of those with payload as much or more would be
    /// kept.
    pub(super) fn excess_bytes(&self) -> usize {
        (self.begun.len() - self.with_payload) * size_of::<Begun>()
    }

    /// Payload of those that have some.
    pub(super) fn payloads(&self) -> impl Iterator<Item = YoungPayload> {
        let payloads = self.begun.iter().map(|begun| YoungPayload {
            bytes: begun.payload_bytes(),
            first_at: begun.start.at,
            last_at: begun.start.at,
        });
        payloads.filter(|payload| payload.bytes > 0)
    }

    /// Keeps the first packet of a connection; `false` where it is not a usual one.
    pub(super) fn add(&mut self, hash: u64, segment: &Segment) -> bool {
        let start = Start::of(segment);
        let Some(packet) = Kept::of(Direction::Forward, segment, start) else {
            return false;
        };
        self.with_payload += usize::from(segment.payload_len > 0);
        self.silent_since = self.silent_since.min(start.at);
        self.index.insert(hash, self.begun.len());
        self.begun.push(Begun {
            src: segment.src,
            dst: segment.dst,
            answer: None,
            start,
            packet,
        });
        true
    }

    /// Keeps the answer to a SYN that nothing else followed; `false` where it is none, or comes
    /// `late_ns` later or more.
    pub(super) fn answer(&mut self, hash: u64, segment: &Segment, late_ns: i64) -> bool {
        let answers = segment.flags.has(TcpFlags::SYN.with(TcpFlags::ACK))
            || (segment.flags.has(TcpFlags::RST) && !segment.flags.has(TcpFlags::SYN));
        if !answers || segment.payload_len > 0 {
            return false;
        }
        let Some(place) = self.find(hash, segment) else {
            return false;
        };
        let begun = &mut self.begun[place];
        let asked = begun.is_syn()
            && begun.answer.is_none()
            && begun.src == segment.dst
            // One with itself has no other side that could answer.
            && begun.src != begun.dst
            && segment.at.since(begun.start.at) < late_ns;
        if asked && let Some(packet) = Kept::of(Direction::Reverse, segment, begun.start) {
            begun.answer = self.answers.add(packet);
            if segment.flags.has(TcpFlags::RST) {
                self.refused_since = self.refused_since.min(segment.at.max(begun.start.at));
            }
        }
        asked && begun.answer.is_some()
    }

    /// Takes out the packets between the ends of a segment, in either direction.
    pub(super) fn take(&mut self, hash: u64, segment: &Segment) -> Option<Beginning> {
        let place = self.find(hash, segment)?;
        self.remove(hash, place)
    }

    /// The packets of each, in no particular order; room is given back on the way.
    pub(super) fn into_beginnings(self) -> impl Iterator<Item = Beginning> {
        let answers = self.answers;
        let begun = self.begun.into_iter();
        begun.map(move |begun| begun.beginning(&answers))
    }

    /// Takes out all that have been silent for `least_ns` at `now`: the packets of each. Waits until there may be
    /// some that have been silent for `more_ns` longer, so that all are looked through less often.
    pub(super) fn take_silent(
        &mut self,
        now: CaptureTime,
        least_ns: i64,
        more_ns: i64,
    ) -> Vec<Beginning> {
        if now.since(self.silent_since) < least_ns.saturating_add(more_ns) {
            return Vec::new();
        }
        let is_silent = |at| is_silence(now.since(at), least_ns);
        let taken = self.take_all(|all, begun| is_silent(all.last_at(begun)));
        let times = self.begun.iter().map(|begun| self.last_at(begun));
        self.silent_since = earliest(times, now, least_ns);
        taken
    }

    /// The same of those whose SYN was answered by RST.
    pub(super) fn take_refused(
        &mut self,
        now: CaptureTime,
        least_ns: i64,
        more_ns: i64,
    ) -> Vec<Beginning> {
        if now.since(self.refused_since) < least_ns.saturating_add(more_ns) {
            return Vec::new();
        }
        let is_silent = |at| is_silence(now.since(at), least_ns);
        let taken = self.take_all(|all, begun| all.refused_at(begun).is_some_and(is_silent));
        let times = self.begun.iter().filter_map(|begun| self.refused_at(begun));
        self.refused_since = earliest(times, now, least_ns);
        taken
    }

    /// Takes out a quarter: first those without payload, then those that have been silent longest.
    pub(super) fn take_quarter(&mut self) -> Vec<Beginning> {
        let ranks: Vec<_> = self.begun.iter().map(|begun| self.rank(begun)).collect();
        let quarter = ranks.len() / 4;
        self.take_first(ranks, quarter)
    }

    /// Takes out the half of those without payload that has been silent longest.
    pub(super) fn take_silent_half(&mut self) -> Vec<Beginning> {
        let ranks = self.begun.iter().map(|begun| self.rank(begun));
        let silent: Vec<_> = ranks.filter(|&(payload, _)| !payload).collect();
        let half = silent.len() / 2;
        self.take_first(silent, half)
    }

    /// Takes out those up to the rank that is at `place` in order.
    fn take_first(&mut self, ranks: Vec<(bool, CaptureTime)>, place: usize) -> Vec<Beginning> {
        let Some(until) = rank_at(ranks, place) else {
            return Vec::new();
        };
        self.take_all(|all, begun| all.rank(begun) <= until)
    }

    fn take_all(&mut self, wanted: impl Fn(&Self, &Begun) -> bool) -> Vec<Beginning> {
        let mut taken = Vec::new();
        for place in (0..self.begun.len()).rev() {
            if wanted(self, &self.begun[place]) {
                let hash = hash_of(&self.hasher, &self.begun[place]);
                taken.extend(self.remove(hash, place));
            }
        }
        taken
    }

    /// The order in which they are put away: first those without payload, then those that have been
    /// silent longest.
    fn rank(&self, begun: &Begun) -> (bool, CaptureTime) {
        (begun.payload_bytes() > 0, self.last_at(begun))
    }

    fn last_at(&self, begun: &Begun) -> CaptureTime {
        let answer = self.answers.get(begun.answer);
        let answered_at = answer.map(|answer| answer.at(begun.start));
        answered_at.map_or(begun.start.at, |at| at.max(begun.start.at))
    }

    /// When the connection was last heard of, where its SYN was answered by RST.
    fn refused_at(&self, begun: &Begun) -> Option<CaptureTime> {
        let answer = self.answers.get(begun.answer)?;
        let is_refused = answer.flags().has(TcpFlags::RST);
        is_refused.then(|| self.last_at(begun))
    }

    fn find(&self, hash: u64, segment: &Segment) -> Option<usize> {
        self.index
            .find(hash, |place| self.begun[place].is_between(segment))
    }

    /// Begins to fetch what it takes to find the connection of a segment.
    #[inline]
    pub(super) fn expect(&self, hash: u64) {
        self.index.expect(hash);
    }

    /// The same, once it is known where that is, most likely.
    #[inline]
    pub(super) fn expect_found(&self, hash: u64) {
        if let Some(place) = self.index.find(hash, |_| true)
            && let Some(begun) = self.begun.get(place)
        {
            prefetch(begun);
        }
    }

    /// Takes out the one at `place`, whose ends have this `hash`.
    fn remove(&mut self, hash: u64, place: usize) -> Option<Beginning> {
        let begun = self.begun.swap_remove(place)?;
        self.index.remove(hash, place);
        if let Some(moved) = self.begun.get(place) {
            let hash = hash_of(&self.hasher, moved);
            self.index.renumber(hash, self.begun.len(), place);
        }
        self.with_payload -= usize::from(begun.payload_bytes() > 0);
        self.given_up -= usize::from(begun.packet.gave_up());
        let beginning = begun.beginning(&self.answers);
        self.answers.free.extend(begun.answer);
        Some(beginning)
    }
}

/// The earliest time that is less than `least_ns` before `now`: from before the clock was set, none will be silent
/// for so long.
fn earliest(
    times: impl Iterator<Item = CaptureTime>,
    now: CaptureTime,
    least_ns: i64,
) -> CaptureTime {
    let recent = times.filter(|&at| now.since(at) < least_ns);
    recent.min().unwrap_or(CaptureTime::MAX)
}

fn hash_of(hasher: &EndsHasher, begun: &Begun) -> u64 {
    hasher.hash(&begun.src, &begun.dst)
}
