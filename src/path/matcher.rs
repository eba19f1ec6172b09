//! Finds each packet of one point at the other, while both are walked side by side in time.
//!
//! Packets wait in a ring for each point, in the order they were seen, until they are found at
//! the other point or have waited too long. What leaves the ring of the point where packets of a
//! flow come in is in the order of arrival: that is what queues are made of.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::clock::Side;
use super::early::{Early, Passthrough, TWINS_MAX, Twins};
use super::latest::{Choice, Latest, Newest};
use super::sighting::Sighting;
use super::spool::Signs;

/// A packet as one point saw it, with its time on the common clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// When, by the first point's clock, in ns.
    pub(super) at: i64,
    /// When, by the point's own clock, in ns.
    pub(super) own_at: i64,
    /// Its record.
    pub(super) frame: u64,
    pub(super) flow: u32,
    /// IP total length in bytes.
    pub(super) ip_len: u32,
    /// Checksum of TCP or UDP, or 0.
    pub(super) checksum: u16,
    pub(super) has: Signs,
    state: State,
}

/// A packet that comes up, and what it is told from others by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) key: u64,
    pub(super) packet: Packet,
}

impl Seen {
    /// A sighting of a flow of the walk, dated by the first point's clock.
    #[inline]
    pub(super) fn of(sighting: &Sighting, flow: u32, at: i64) -> Self {
        Self {
            key: sighting.key,
            packet: Packet {
                at,
                own_at: sighting.at,
                frame: sighting.frame,
                flow,
                ip_len: sighting.ip_len,
                checksum: sighting.checksum,
                has: sighting.has,
                state: State::Waiting,
            },
        }
    }
}

/// How a packet was seen where it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    /// When, by that point's own clock, in ns.
    pub(super) at: i64,
    /// When the packet before it left, by the same clock.
    pub(super) left_before: Option<i64>,
    pub(super) frame: u64,
}

impl Exit {
    pub(super) fn of(packet: &Packet, left_before: Option<i64>) -> Self {
        Self {
            at: packet.own_at,
            left_before,
            frame: packet.frame,
        }
    }
}

/// What became of a sighting, in the order of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// Found at the other point.
    Passed(Packet, Exit),
    /// Came in, and never left while it was waited for.
    Lost(Packet),
    /// Left without having come in.
    Appeared(Packet),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    /// Found at the other point; this is where it came in.
    Passed,
    /// Found at the other point, where it came in.
    Left,
}

/// A place in a ring: a line of the cache, since behind a packet that is lost millions may wait.
#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    /// While it waits its key, the next slot with the same key, and when the packet before it left,
    /// where it is one that leaves; when it has passed its exit.
    words: [u64; 3],
}

const _: () = assert!(size_of::<Slot>() <= 64);

impl Slot {
    #[inline]
    fn waiting(seen: Seen, left_before: Option<i64>) -> Self {
        Self {
            packet: seen.packet,
            words: [seen.key, u64::MAX, word(left_before)],
        }
    }

    fn key(&self) -> u64 {
        self.words[0]
    }

    /// The next slot with the same key.
    fn next(&mut self) -> &mut u64 {
        &mut self.words[1]
    }

    #[inline]
    fn pass(&mut self, exit: Exit) {
        self.packet.state = State::Passed;
        self.words = [exit.at.cast_unsigned(), exit.frame, word(exit.left_before)];
    }

    #[inline]
    fn exit(&self) -> Exit {
        Exit {
            at: self.words[0].cast_signed(),
            left_before: self.left_before(),
            frame: self.words[1],
        }
    }

    #[inline]
    fn left_before(&self) -> Option<i64> {
        Some(self.words[2].cast_signed()).filter(|&at| at != NEVER)
    }
}

/// A time that may be none.
#[inline]
fn word(at: Option<i64>) -> u64 {
    at.unwrap_or(NEVER).cast_unsigned()
}

/// No packet is dated by this.
const NEVER: i64 = i64::MIN;

/// Slots with one key, first and last.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: u64,
    tail: u64,
}

/// How long, and how many packets wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchLimits {
    /// A packet that was not found for so long was lost, in ns.
    pub(super) patience_ns: i64,
    /// Packets that wait at one point; with more, the oldest waits no longer.
    pub(super) waiting_max: usize,
}

#[derive(Debug)]
pub(super) struct Matcher {
    limits: MatchLimits,
    rings: [Ring; 2],
    chains: HashMap<u64, Chain, BuildHasherDefault<Passthrough>>,
    /// By flow, of the newest packet that was found.
    newest: Vec<Newest>,
    /// Parts of the keys of packets that were found, the latest for each place that keys have.
    found: Box<[u32]>,
    /// By the point where packets leave, how many were seen to since one did clearly before it came in.
    in_order: [u32; 2],
    /// By the same, the latest of those that no other packet could be taken for.
    latest: [Latest; 2],
    /// What was seen to leave too early to be itself, in a walk before.
    early: Option<Early>,
    /// Packets given up before their time.
    pub(super) given_up: u64,
    /// Keys of packets without an id that left after another of the same key had been found.
    pub(super) twins: Twins,
}

#[derive(Debug, Default)]
struct Ring {
    slots: VecDeque<Slot>,
    /// Number of the first slot.
    base: u64,
}

impl Ring {
    /// Number of the next slot.
    fn end(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    fn get(&mut self, number: u64) -> Option<&mut Slot> {
        self.slots.get_mut(number.checked_sub(self.base)? as usize)
    }
}

impl Matcher {
    pub(super) fn new(limits: MatchLimits, early: Option<Early>) -> Self {
        Self {
            limits,
            rings: [Ring::default(), Ring::default()],
            chains: HashMap::default(),
            newest: Vec::new(),
            found: vec![0; FOUND].into(),
            in_order: [0; 2],
            latest: [Latest::default(); 2],
            early,
            given_up: 0,
            twins: Twins::default(),
        }
    }

    /// When the first packet that this is told from others by was seen at a point where it waits.
    pub(super) fn waits_since(&self, side: Side, of: u64) -> Option<i64> {
        let chain = self.chains.get(&key(side, of))?;
        let ring = &self.rings[side as usize];
        let slot = ring
            .slots
            .get(chain.head.checked_sub(ring.base)? as usize)?;
        Some(slot.packet.at)
    }

    /// The packet of the other point that this one is, if it waits there, and its place. It is for
    /// [`settle`](Self::settle) then, and nobody else finds it. `comes_in` says whether it is known to come in here.
    #[inline]
    pub(super) fn find(
        &mut self,
        side: Side,
        seen: &Seen,
        comes_in: bool,
    ) -> Option<(u64, Packet)> {
        let Chain { head, tail } = *self.chains.get(&key(side.other(), seen.key))?;
        let number = if head == tail {
            head
        } else {
            self.choose(side, seen, head, comes_in)
        };
        let other = self.rings[side.other() as usize].get(number)?.packet;
        if same_sums(&other, &seen.packet) == Some(false) {
            if self.sums_tell(&other) {
                return None;
            }
            if head != tail {
                self.doubt(side.other(), head);
            }
        }
        if head == tail {
            self.chains.remove(&key(side.other(), seen.key));
        } else {
            self.unlink(side.other(), seen.key, number);
        }
        let other = self.rings[side.other() as usize].get(number)?.packet;
        if comes_in
            && (self.left_as_a_copy(side, seen, &other) || self.left_too_early(side, seen, &other))
        {
            return None;
        }
        let (place, part) = found_at(seen.key);
        self.found[place] = part;
        Some((number, other))
    }

    /// Whether what waits at the other point left there as a copy of one before it, and clearly before this packet with
    /// the same headers came in, where all others leave after they come in: clocks are not why.
    fn left_as_a_copy(&self, side: Side, seen: &Seen, other: &Packet) -> bool {
        other.has.has(Signs::COPY)
            && self.in_order[side.other() as usize] >= IN_ORDER_MIN
            && seen.packet.at.saturating_sub(other.at) > CLEARLY_NS
    }

    /// Whether what waits at the other point left so long before this packet came in that it is another one, which looks
    /// alike.
    fn left_too_early(&self, side: Side, seen: &Seen, other: &Packet) -> bool {
        seen.packet.has.has(Signs::NO_ID)
            && self.early.as_ref().is_some_and(|early| {
                let earlier_ns = seen.packet.at.saturating_sub(other.at);
                earlier_ns > early.ns[side as usize] && early.twins.contains(&seen.key)
            })
    }

    /// Whether the clocks are known from a walk before.
    pub(super) fn knows_clocks(&self) -> bool {
        self.early.is_some()
    }

    /// Whether the checksum of a packet that waits tells it from others: those of its flow that were found last had the
    /// same at both points. What finds none for it may be why they have not: then it tells less.
    #[cold]
    fn sums_tell(&mut self, waiting: &Packet) -> bool {
        let newest = self.newest.get_mut(waiting.flow as usize);
        newest.is_some_and(Newest::sums_tell)
    }

    /// Of the packets from `head` on, which have the same headers, nothing tells which is the one that was found.
    #[cold]
    fn doubt(&mut self, side: Side, head: u64) {
        let mut number = head;
        for _ in 0..CHAIN_STEPS_MAX {
            let Some(slot) = self.rings[side as usize].get(number) else {
                return;
            };
            slot.packet.has.set(Signs::UNCERTAIN, true);
            number = *slot.next();
        }
    }

    /// Takes a packet that [`find`](Self::find) found nothing for.
    #[inline]
    pub(super) fn wait(&mut self, side: Side, seen: Seen, left_before: Option<i64>) {
        let ring = &mut self.rings[side as usize];
        let number = ring.end();
        let mut slot = Slot::waiting(seen, left_before);
        let (place, part) = found_at(seen.key);
        let is_copy = left_before.is_some() && self.found[place] == part;
        slot.packet.has.set(Signs::COPY, is_copy);
        if is_copy && seen.packet.has.has(Signs::NO_ID) && self.twins.len() < TWINS_MAX {
            self.twins.insert(seen.key);
        }
        let chain = self.chains.entry(key(side, seen.key)).or_insert(Chain {
            head: number,
            tail: number,
        });
        if chain.tail != number {
            if let Some(last) = ring.get(chain.tail) {
                *last.next() = number;
                // What the checksum tells apart is no twin.
                let is_twin = last.packet.checksum == seen.packet.checksum;
                last.packet.has.set(Signs::UNCERTAIN, is_twin);
                slot.packet.has.set(Signs::UNCERTAIN, is_twin);
            }
            chain.tail = number;
        }
        ring.slots.push_back(slot);
    }

    /// Takes a packet that was found at this place of the other point. `left` is how it was seen to
    /// leave and which flow's it is, if that is here; else it comes in here.
    #[inline]
    pub(super) fn settle(
        &mut self,
        side: Side,
        seen: &Seen,
        number: u64,
        left: Option<(Exit, u32)>,
    ) {
        let Some(slot) = self.rings[side.other() as usize].get(number) else {
            return;
        };
        let other = slot.packet;
        let (flow, came) = if let Some((exit, flow)) = left {
            let newest = self.newest.get(flow as usize);
            let behind = newest.map_or(0, |newest| newest.behind[side.other() as usize]);
            slot.packet.has.set(Signs::OVERTAKEN, number < behind);
            slot.packet
                .has
                .set(Signs::MARKED, is_marked(&other, &seen.packet));
            let is_quick = seen.packet.has.has(Signs::QUICK);
            slot.packet.has.set(Signs::QUICK, is_quick);
            slot.packet.flow = flow;
            if !slot.packet.has.has(Signs::UNCERTAIN) {
                let delay = seen.packet.at.saturating_sub(other.at);
                self.latest[side as usize].note(number, delay);
            }
            slot.pass(exit);
            let in_order = &mut self.in_order[side as usize];
            *in_order = in_order.saturating_add(1);
            (flow, (other.at, other.frame))
        } else {
            // Clocks or capturing put it after its exit; it takes its place in the order of
            // arrival all the same.
            if seen.packet.at.saturating_sub(other.at) > CLEARLY_NS {
                self.in_order[side.other() as usize] = 0;
            }
            let mut early = Slot::waiting(*seen, None);
            let is_twin = other.has.has(Signs::UNCERTAIN);
            early.packet.has.set(Signs::UNCERTAIN, is_twin);
            early
                .packet
                .has
                .set(Signs::MARKED, is_marked(&seen.packet, &other));
            early.pass(Exit::of(&other, slot.left_before()));
            slot.packet.state = State::Left;
            self.rings[side as usize].slots.push_back(early);
            (seen.packet.flow, (seen.packet.at, seen.packet.frame))
        };
        let mut behind = self.rings.each_ref().map(Ring::end);
        behind[side.other() as usize] = number + 1;
        let same_sums = same_sums(&other, &seen.packet);
        self.note_found(flow as usize, same_sums, came, behind);
    }

    fn note_found(
        &mut self,
        flow: usize,
        same_sums: Option<bool>,
        came: (i64, u64),
        behind: [u64; 2],
    ) {
        if flow >= self.newest.len() {
            self.newest.resize(flow + 1, Newest::NONE);
        }
        self.newest[flow].found(same_sums, came, behind);
    }

    /// When the newest packet of a flow that was found came in, and in which frame.
    pub(super) fn newest_found(&self, flow: u32) -> (i64, u64) {
        let newest = self.newest.get(flow as usize);
        newest.map_or((i64::MIN, 0), |newest| newest.came)
    }

    /// Among the packets with the same headers that wait at the other point, from `head` on: one with
    /// the same checksum rather than not; then the oldest of those behind the packet of the flow that
    /// was found last, since a queue keeps their order, but for those that were lost by all signs; then the oldest.
    fn choose(&mut self, side: Side, seen: &Seen, head: u64, comes_in: bool) -> u64 {
        let latest = &self.latest[side as usize];
        let usual = (!comes_in).then(|| latest.usual()).flatten();
        let ring = &mut self.rings[side.other() as usize];
        let mut best: Option<Choice> = None;
        let mut number = head;
        for _ in 0..CHAIN_STEPS_MAX {
            let Some(slot) = ring.get(number) else { break };
            let same = slot.packet.checksum == seen.packet.checksum;
            let newest = self.newest.get(slot.packet.flow as usize);
            let behind = newest.map_or(0, |newest| newest.behind[side.other() as usize]);
            let one = Choice {
                number,
                rank: (same, number >= behind),
                delay: seen.packet.at.saturating_sub(slot.packet.at),
            };
            let is_better = best.is_none_or(|best| {
                one.rank > best.rank
                    || one.rank == best.rank
                        && usual
                            .as_ref()
                            .is_some_and(|usual| latest.tell_lost(usual, &best, &one))
            });
            if is_better {
                best = Some(one);
            }
            number = *slot.next();
        }
        best.map_or(head, |best| best.number)
    }

    /// Takes a slot out of its chain.
    fn unlink(&mut self, side: Side, of: u64, number: u64) {
        let Entry::Occupied(mut entry) = self.chains.entry(key(side, of)) else {
            return;
        };
        let ring = &mut self.rings[side as usize];
        let next = ring.get(number).map_or(u64::MAX, |slot| *slot.next());
        let chain = entry.get_mut();
        if chain.head == number {
            if chain.tail == number {
                entry.remove();
            } else {
                chain.head = next;
            }
            return;
        }
        let mut before = chain.head;
        while let Some(slot) = ring.get(before) {
            if *slot.next() == number {
                *slot.next() = next;
                if chain.tail == number {
                    chain.tail = before;
                }
                return;
            }
            before = *slot.next();
        }
    }

    /// The next sighting whose fate is known, when the walk is at `now`; `None` when none is.
    /// `entry_of` says where packets of a flow come in.
    pub(super) fn next_fate(&mut self, now: i64, entry_of: impl Fn(u32) -> Side) -> Option<Fate> {
        loop {
            let side = self.next_side(now, &entry_of)?;
            let ring = &self.rings[side as usize];
            let (number, slot) = (ring.base, *ring.slots.front()?);
            let packet = slot.packet;
            if packet.state == State::Waiting {
                self.unlink(side, slot.key(), number);
                self.given_up += u64::from(!self.has_waited(&packet, now));
            }
            let ring = &mut self.rings[side as usize];
            ring.slots.pop_front();
            ring.base += 1;
            return Some(match packet.state {
                State::Left => continue,
                State::Passed => Fate::Passed(packet, slot.exit()),
                State::Waiting if entry_of(packet.flow) == side => Fate::Lost(packet),
                State::Waiting => Fate::Appeared(packet),
            });
        }
    }

    /// The ring whose first slot is next. That a packet did not come in is told last: all that came in by then, at the
    /// other point, is before it, whichever way it goes.
    fn next_side(&self, now: i64, entry_of: impl Fn(u32) -> Side) -> Option<Side> {
        let when = |side: Side| {
            let packet = &self.rings[side as usize].slots.front()?.packet;
            if packet.state != State::Waiting {
                return Some((side, None));
            }
            let crowded = self.rings[side as usize].slots.len() > self.limits.waiting_max;
            let has_appeared = entry_of(packet.flow) != side;
            let is_known = crowded || self.has_waited(packet, now);
            is_known.then_some((side, has_appeared.then_some(packet.at)))
        };
        let sides = [Side::First, Side::Second].into_iter().filter_map(when);
        let (side, _) = sides.min_by_key(|&(_, appeared)| appeared)?;
        Some(side)
    }

    /// Whether a packet has waited too long.
    fn has_waited(&self, packet: &Packet, now: i64) -> bool {
        now.saturating_sub(packet.at) > self.limits.patience_ns
    }
}

/// Where a key that was found is noted, and what is noted of it.
#[inline]
fn found_at(key: u64) -> (usize, u32) {
    (key as usize % FOUND, (key >> 32) as u32)
}

/// The two points have chains of their own.
#[inline]
fn key(side: Side, key: u64) -> u64 {
    match side {
        Side::First => key,
        Side::Second => !key,
    }
}

/// Whether two packets have the same checksum; `None` where one was not captured.
#[inline]
fn same_sums(one: &Packet, other: &Packet) -> Option<bool> {
    let both = one.checksum != 0 && other.checksum != 0;
    both.then_some(one.checksum == other.checksum)
}

/// Whether a packet came in without a mark of congestion and left with one.
#[inline]
fn is_marked(entry: &Packet, exit: &Packet) -> bool {
    exit.has.has(Signs::CE) && !entry.has.has(Signs::CE)
}

/// Memory of a packet that waits, in bytes: rings double, and its chain is beside it.
pub(super) const WAITING_BYTES: u64 = (2 * size_of::<Slot>() + 64) as u64;

/// Places of keys that were found: 128 KiB.
const FOUND: usize = 1 << 15;

/// So many packets that left after they came in show that clocks are right.
const IN_ORDER_MIN: u32 = 16;

/// Stamps are late by less, in ns.
const CLEARLY_NS: i64 = 100_000;

/// Packets with the same headers that are compared with one; in a crowd of more they are alike
/// anyway.
const CHAIN_STEPS_MAX: usize = 64;
