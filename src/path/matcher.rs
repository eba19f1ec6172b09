//! Finds each packet of one point at the other, while both are walked side by side in time.
//!
//! Packets wait in a ring for each point, in the order they were seen, until they are found at
//! the other point or have waited too long. What leaves the ring of the point where packets of a
//! flow come in is in the order of arrival: that is what queues are made of.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::clock::Heading;
use super::sighting::Sighting;
use crate::decode::Ecn;

/// One of the two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Where packets of this heading come in.
    pub(super) const fn entry(heading: Heading) -> Self {
        match heading {
            Heading::Forward => Self::First,
            Heading::Reverse => Self::Second,
        }
    }
}

/// A sighting with its time on the common clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) sighting: Sighting,
    /// When, by the first point's clock, in ns.
    pub(super) at: i64,
}

/// How a packet was seen where it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    /// When, by that point's own clock, in ns.
    pub(super) at: i64,
    /// When the packet before it left, by the same clock.
    pub(super) left_before: Option<i64>,
    pub(super) frame: u64,
    pub(super) ecn: Ecn,
}

impl Exit {
    pub(super) fn of(sighting: &Sighting, left_before: Option<i64>) -> Self {
        Self {
            at: sighting.at,
            left_before,
            frame: sighting.frame,
            ecn: sighting.ecn,
        }
    }
}

/// A packet that is at both points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) entry: Seen,
    pub(super) exit: Exit,
    /// Other packets could not be told from it.
    pub(super) uncertain: bool,
    /// It left after a packet of its flow that had come in later.
    pub(super) overtaken: bool,
}

/// What became of a sighting, in the order of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// Found at the other point.
    Passed(Passage),
    /// Came in, and never left while it was waited for.
    Lost(Seen, bool),
    /// Left without having come in.
    Appeared(Seen),
}

/// A place in a ring.
#[derive(Clone, Copy, Debug)]
struct Slot {
    seen: Seen,
    /// When the packet before it left, where it is one that leaves.
    left_before: Option<i64>,
    /// The next one with the same key at the same point.
    next: u64,
    state: State,
    /// Another with the same key was waiting at the same time.
    has_twin: bool,
    /// When it was found, a packet of its flow that came in later had been.
    overtaken: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Waiting,
    /// Found: what it became, if this is the point where it came in.
    Found(Option<Exit>),
}

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
    /// Packets given up before their time.
    pub(super) given_up: u64,
}

/// The newest packet of a flow that was found.
#[derive(Clone, Copy, Debug)]
struct Newest {
    /// When it came in.
    came: i64,
    /// Numbers of the slots from which on packets are newer, by point: clocks that are set do not
    /// change the order of records.
    behind: [u64; 2],
}

impl Newest {
    const NONE: Self = Self {
        came: i64::MIN,
        behind: [0; 2],
    };
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
    pub(super) fn new(limits: MatchLimits) -> Self {
        Self {
            limits,
            rings: [Ring::default(), Ring::default()],
            chains: HashMap::default(),
            newest: Vec::new(),
            given_up: 0,
        }
    }

    /// The packet of the other point that this one is, if it waits there, and its place.
    pub(super) fn find(&mut self, side: Side, seen: &Seen) -> Option<(u64, Seen)> {
        let number = self.choose(side, seen)?;
        self.rings[side.other() as usize]
            .get(number)
            .map(|slot| (number, slot.seen))
    }

    /// Takes a packet that [`find`](Self::find) found nothing for.
    pub(super) fn wait(&mut self, side: Side, seen: Seen, left_before: Option<i64>) {
        let ring = &mut self.rings[side as usize];
        let number = ring.end();
        let mut slot = Slot {
            seen,
            left_before,
            next: u64::MAX,
            state: State::Waiting,
            has_twin: false,
            overtaken: false,
        };
        let chain = self.chains.entry(key(side, &seen)).or_insert(Chain {
            head: number,
            tail: number,
        });
        if chain.tail != number {
            if let Some(last) = ring.get(chain.tail) {
                last.next = number;
                // What the checksum tells apart is no twin.
                if last.seen.sighting.checksum == seen.sighting.checksum {
                    last.has_twin = true;
                    slot.has_twin = true;
                }
            }
            chain.tail = number;
        }
        self.rings[side as usize].slots.push_back(slot);
    }

    /// Takes a packet that was found: what waits at this place at the other point is this one.
    /// `left` is how it was seen to leave, if that is here; else it comes in here.
    pub(super) fn settle(&mut self, side: Side, seen: Seen, number: u64, left: Option<Exit>) {
        let chain_key = key(side.other(), &seen);
        self.unlink(side.other(), chain_key, number);
        let Some(slot) = self.rings[side.other() as usize].get(number) else {
            return;
        };
        let (flow, at) = if let Some(exit) = left {
            slot.state = State::Found(Some(exit));
            let newest = self.newest.get(slot.seen.sighting.flow as usize);
            let behind = newest.map_or(0, |newest| newest.behind[side.other() as usize]);
            slot.overtaken = number < behind;
            (slot.seen.sighting.flow, slot.seen.at)
        } else {
            // Clocks or capturing put it after its exit; it takes its place in the order of
            // arrival all the same.
            let early = Slot {
                seen,
                left_before: None,
                next: u64::MAX,
                state: State::Found(Some(Exit::of(&slot.seen.sighting, slot.left_before))),
                has_twin: slot.has_twin,
                overtaken: false,
            };
            slot.state = State::Found(None);
            self.rings[side as usize].slots.push_back(early);
            (seen.sighting.flow, seen.at)
        };
        let mut behind = self.rings.each_ref().map(Ring::end);
        behind[side.other() as usize] = number + 1;
        self.note_found(flow as usize, Newest { came: at, behind });
    }

    fn note_found(&mut self, flow: usize, found: Newest) {
        if flow >= self.newest.len() {
            self.newest.resize(flow + 1, Newest::NONE);
        }
        let newest = &mut self.newest[flow];
        newest.came = newest.came.max(found.came);
        for (newest, found) in newest.behind.iter_mut().zip(found.behind) {
            *newest = found.max(*newest);
        }
    }

    /// When the newest packet of a flow that was found came in.
    pub(super) fn newest_found(&self, flow: u32) -> i64 {
        let newest = self.newest.get(flow as usize);
        newest.map_or(i64::MIN, |newest| newest.came)
    }

    /// Among the packets with the same headers that wait at the other point: one with the same
    /// checksum rather than not; then the oldest of those behind the packet of the flow that was
    /// found last, since a queue keeps their order; then the oldest.
    fn choose(&mut self, side: Side, seen: &Seen) -> Option<u64> {
        let chain = *self.chains.get(&key(side.other(), seen))?;
        let ring = &mut self.rings[side.other() as usize];
        if chain.head == chain.tail {
            return Some(chain.head);
        }
        let (mut best, mut best_rank) = (chain.head, None);
        let mut number = chain.head;
        for _ in 0..CHAIN_STEPS_MAX {
            let Some(slot) = ring.get(number) else { break };
            let same = slot.seen.sighting.checksum == seen.sighting.checksum;
            let newest = self.newest.get(slot.seen.sighting.flow as usize);
            let behind = newest.map_or(0, |newest| newest.behind[side.other() as usize]);
            let rank = (same, number >= behind);
            if best_rank.is_none_or(|best| rank > best) {
                (best, best_rank) = (number, Some(rank));
            }
            number = slot.next;
        }
        Some(best)
    }

    /// Takes a slot out of its chain.
    fn unlink(&mut self, side: Side, chain_key: u64, number: u64) {
        let Entry::Occupied(mut entry) = self.chains.entry(chain_key) else {
            return;
        };
        let ring = &mut self.rings[side as usize];
        let next = ring.get(number).map_or(u64::MAX, |slot| slot.next);
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
            if slot.next == number {
                slot.next = next;
                if chain.tail == number {
                    chain.tail = before;
                }
                return;
            }
            before = slot.next;
        }
    }

    /// The next sighting whose fate is known, when the walk is at `now`; `None` when none is.
    /// `entry_of` says where packets of a flow come in.
    pub(super) fn next_fate(&mut self, now: i64, entry_of: impl Fn(u32) -> Side) -> Option<Fate> {
        for side in [Side::First, Side::Second] {
            while let Some(slot) = self.rings[side as usize].slots.front() {
                let fate = match slot.state {
                    State::Found(Some(exit)) => Some(Fate::Passed(Passage {
                        entry: slot.seen,
                        exit,
                        uncertain: slot.has_twin,
                        overtaken: slot.overtaken,
                    })),
                    State::Found(None) => None,
                    State::Waiting => {
                        let waited = now.saturating_sub(slot.seen.at) > self.limits.patience_ns;
                        let crowded =
                            self.rings[side as usize].slots.len() > self.limits.waiting_max;
                        if !waited && !crowded {
                            break;
                        }
                        let (seen, has_twin) = (slot.seen, slot.has_twin);
                        self.given_up += u64::from(!waited);
                        let number = self.rings[side as usize].base;
                        self.unlink(side, key(side, &seen), number);
                        Some(if entry_of(seen.sighting.flow) == side {
                            Fate::Lost(seen, has_twin)
                        } else {
                            Fate::Appeared(seen)
                        })
                    }
                };
                let ring = &mut self.rings[side as usize];
                ring.slots.pop_front();
                ring.base += 1;
                if fate.is_some() {
                    return fate;
                }
            }
        }
        None
    }
}

/// The two points have chains of their own.
fn key(side: Side, seen: &Seen) -> u64 {
    match side {
        Side::First => seen.sighting.key,
        Side::Second => !seen.sighting.key,
    }
}

/// Memory of a packet that waits, in bytes: rings double, and its chain is beside it.
pub(super) const WAITING_BYTES: u64 = (2 * size_of::<Slot>() + 64) as u64;

/// Packets with the same headers that are compared with one; in a crowd of more they are alike
/// anyway.
const CHAIN_STEPS_MAX: usize = 64;

/// Keys are hashes already.
#[derive(Default)]
struct Passthrough(u64);

impl Hasher for Passthrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
