//! What became of packets, kept small: each as what it differs in from the one before of its way.

use super::clock::Heading;
use crate::packing::{put_signed, take, take_signed};

/// A packet on its way between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFate {
    /// Its flow: the number that [`Hop::flow`](super::Hop::flow) takes.
    pub flow: u32,
    /// Its record where it came in; `None` where it was not seen coming in.
    pub entry_frame: Option<u64>,
    /// Its record where it left; `None` where it did not.
    pub exit_frame: Option<u64>,
    /// When it came in (or left, where it was not seen coming in), by the first point's clock.
    pub at_ns: i64,
    /// IP total length in bytes.
    pub ip_len: u32,
    /// From point to point, in ns.
    pub delay_ns: Option<i64>,
    /// Part of it spent waiting, in ns; of a packet that was dropped at the head of its queue the
    /// time until then.
    pub queue_delay_ns: Option<i64>,
    /// What became of it.
    pub outcome: Outcome,
    /// Others with the same headers could be taken for it.
    pub uncertain: bool,
}

/// What became of a packet between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It came in and never left.
    Dropped,
    /// It left without having come in.
    Appeared,
    /// It is too near to an end of a capture, or in a gap of one, to say.
    Undecided,
}

impl Outcome {
    /// All of them, by their numbers.
    pub const ALL: &'static [Self] =
        &[Self::Passed, Self::Dropped, Self::Appeared, Self::Undecided];

    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Dropped => "dropped",
            Self::Appeared => "appeared",
            Self::Undecided => "undecided",
        }
    }
}

shown_by_name!(Outcome);

/// What became of each packet, by way, in the order in which they came in: some 15 bytes each, where
/// a [`PacketFate`] takes 88.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    ways: [OfWay; 2],
}

/// Those of a way that were seen coming in, and those that were not: that they did not come in is known only once all
/// that came in by then has been told.
#[derive(Clone, Debug, Default)]
struct OfWay {
    lanes: [Lane; 2],
}

/// Some of them, in order.
#[derive(Clone, Debug, Default)]
struct Lane {
    packets: usize,
    /// Parts of [`CHUNK_BYTES`], none of which is copied as it grows.
    chunks: Vec<Vec<u8>>,
    last: Last,
}

/// What the next one is told from; frames by their bits.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    flow: u32,
    entry_frame: i64,
    exit_frame: i64,
    at_ns: i64,
    ip_len: u32,
    delay_ns: i64,
    queue_delay_ns: i64,
}

const CHUNK_BYTES: usize = 1 << 20;

/// A head and seven numbers of eight bytes.
const FATE_BYTES_MAX: usize = HEAD_BYTES + 7 * 8;

/// A head has the lengths of what follows it, in bytes, four bits each, in the order of [`Last`]'s
/// fields; then the outcome, and whether it is uncertain. Length 0 is nothing where there may be
/// nothing, and no change elsewhere.
const HEAD_BYTES: usize = 4;
const LENGTH_BITS: u32 = 4;
const OUTCOME_SHIFT: u32 = 7 * LENGTH_BITS;
const UNCERTAIN: u32 = 1 << (OUTCOME_SHIFT + 2);

impl Fates {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let lanes = self.ways.iter().flat_map(|way| &way.lanes);
        lanes.map(|lane| lane.packets).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them: the way forward, then the way back.
    #[must_use]
    pub fn iter(&self) -> FateIter<'_> {
        FateIter {
            ways: self.ways.iter(),
            lanes: [LaneIter::default(), LaneIter::default()],
        }
    }

    /// Adds the next one of a way.
    pub(super) fn push(&mut self, heading: Heading, fate: &PacketFate) {
        let lane = usize::from(fate.entry_frame.is_none());
        self.ways[heading as usize].lanes[lane].push(fate);
    }

    /// Takes those of a way from another, in the place of its own.
    pub(super) fn take_way(&mut self, heading: Heading, other: &mut Self) {
        let way = heading as usize;
        self.ways[way] = std::mem::take(&mut other.ways[way]);
    }
}

impl<'a> IntoIterator for &'a Fates {
    type Item = PacketFate;
    type IntoIter = FateIter<'a>;

    fn into_iter(self) -> FateIter<'a> {
        self.iter()
    }
}

impl Lane {
    fn push(&mut self, fate: &PacketFate) {
        let last = &mut self.last;
        let mut row = Row::default();
        row.put_change(i64::from(fate.flow) - i64::from(last.flow));
        let [entry, exit] =
            [fate.entry_frame, fate.exit_frame].map(|frame| frame.map(u64::cast_signed));
        row.put(change(&mut last.entry_frame, entry));
        row.put(change(&mut last.exit_frame, exit));
        row.put_change(fate.at_ns.wrapping_sub(last.at_ns));
        row.put_change(i64::from(fate.ip_len) - i64::from(last.ip_len));
        row.put(change(&mut last.delay_ns, fate.delay_ns));
        row.put(change(&mut last.queue_delay_ns, fate.queue_delay_ns));
        (last.flow, last.at_ns, last.ip_len) = (fate.flow, fate.at_ns, fate.ip_len);
        let uncertain = if fate.uncertain { UNCERTAIN } else { 0 };
        let head = row.lengths | (fate.outcome as u32) << OUTCOME_SHIFT | uncertain;
        row.bytes[..HEAD_BYTES].copy_from_slice(&head.to_le_bytes());

        let is_full = |chunk: &Vec<u8>| chunk.len() + FATE_BYTES_MAX > CHUNK_BYTES;
        if self.chunks.last().is_none_or(is_full) {
            // The first part is as long as it has to be: many ways have few packets.
            let bytes = if self.chunks.is_empty() {
                0
            } else {
                CHUNK_BYTES
            };
            self.chunks.push(Vec::with_capacity(bytes));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(&row.bytes[..row.len]);
        }
        self.packets += 1;
    }
}

/// How much a number differs from the last one, which it becomes.
fn change(last: &mut i64, next: Option<i64>) -> Option<i64> {
    next.map(|next| next.wrapping_sub(std::mem::replace(last, next)))
}

/// The number that differs so much from the last one, which it becomes.
fn changed(last: &mut i64, change: Option<i64>) -> Option<i64> {
    change.map(|change| {
        *last = last.wrapping_add(change);
        *last
    })
}

/// One of them in the making.
struct Row {
    bytes: [u8; FATE_BYTES_MAX],
    len: usize,
    lengths: u32,
    numbers: u32,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            bytes: [0; FATE_BYTES_MAX],
            len: HEAD_BYTES,
            lengths: 0,
            numbers: 0,
        }
    }
}

impl Row {
    /// Adds a number that may be none.
    fn put(&mut self, value: Option<i64>) {
        if let Some(value) = value {
            let bytes = put_signed(&mut self.bytes, &mut self.len, value);
            self.lengths |= bytes << (self.numbers * LENGTH_BITS);
        }
        self.numbers += 1;
    }

    /// Adds a change that may be none.
    fn put_change(&mut self, change: i64) {
        self.put((change != 0).then_some(change));
    }
}

/// What became of one packet after the other.
#[derive(Clone, Debug)]
pub struct FateIter<'a> {
    ways: std::slice::Iter<'a, OfWay>,
    lanes: [LaneIter<'a>; 2],
}

impl Iterator for FateIter<'_> {
    type Item = PacketFate;

    fn next(&mut self) -> Option<PacketFate> {
        loop {
            let [came_in, not_seen] = &mut self.lanes;
            match (came_in.peek(), not_seen.peek()) {
                (Some(first), Some(second)) if second.at_ns < first.at_ns => {
                    return not_seen.take();
                }
                (Some(_), _) => return came_in.take(),
                (None, Some(_)) => return not_seen.take(),
                (None, None) => {
                    let lanes = &self.ways.next()?.lanes;
                    self.lanes = lanes.each_ref().map(LaneIter::of);
                }
            }
        }
    }
}

/// Those of a lane, one after the other.
#[derive(Clone, Debug, Default)]
struct LaneIter<'a> {
    chunks: std::slice::Iter<'a, Vec<u8>>,
    bytes: &'a [u8],
    last: Last,
    /// The next one, where that has been looked at.
    ahead: Option<PacketFate>,
}

impl<'a> LaneIter<'a> {
    fn of(lane: &'a Lane) -> Self {
        Self {
            chunks: lane.chunks.iter(),
            ..Self::default()
        }
    }

    #[inline]
    fn peek(&mut self) -> Option<&PacketFate> {
        if self.ahead.is_none() {
            self.ahead = self.unpack();
        }
        self.ahead.as_ref()
    }

    #[inline]
    fn take(&mut self) -> Option<PacketFate> {
        self.ahead.take()
    }

    fn unpack(&mut self) -> Option<PacketFate> {
        while self.bytes.is_empty() {
            self.bytes = self.chunks.next()?;
        }
        let (bytes, last) = (&mut self.bytes, &mut self.last);
        let head = take(bytes, HEAD_BYTES) as u32;
        let mut lengths = head;
        let mut number = || {
            let len = lengths & ((1 << LENGTH_BITS) - 1);
            lengths >>= LENGTH_BITS;
            (len > 0).then(|| take_signed(bytes, len as usize))
        };
        let short = |last: u32, change: Option<i64>| last.wrapping_add(change.unwrap_or(0) as u32);
        last.flow = short(last.flow, number());
        let entry = changed(&mut last.entry_frame, number());
        let exit = changed(&mut last.exit_frame, number());
        last.at_ns = last.at_ns.wrapping_add(number().unwrap_or(0));
        last.ip_len = short(last.ip_len, number());
        let delay_ns = changed(&mut last.delay_ns, number());
        let queue_delay_ns = changed(&mut last.queue_delay_ns, number());
        Some(PacketFate {
            flow: last.flow,
            entry_frame: entry.map(i64::cast_unsigned),
            exit_frame: exit.map(i64::cast_unsigned),
            at_ns: last.at_ns,
            ip_len: last.ip_len,
            delay_ns,
            queue_delay_ns,
            outcome: Outcome::ALL[(head >> OUTCOME_SHIFT & 3) as usize],
            uncertain: head & UNCERTAIN != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    /// Any number of any size: small ones, large ones, and those at the ends of their types.
    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0_u32..64).prop_map(|(value, shift)| value >> shift)
    }

    fn fate() -> impl Strategy<Value = PacketFate> {
        let frames = (option::of(number()), option::of(number()));
        let times = (number(), option::of(number()), option::of(number()));
        let signs = (prop::sample::select(Outcome::ALL), any::<bool>());
        ((any::<u32>(), any::<u32>()), frames, times, signs).prop_map(
            |((flow, ip_len), (entry_frame, exit_frame), (at, delay, queue_delay), signs)| {
                PacketFate {
                    flow: flow >> (ip_len & 31),
                    entry_frame,
                    exit_frame,
                    at_ns: at.cast_signed(),
                    ip_len,
                    delay_ns: delay.map(u64::cast_signed),
                    queue_delay_ns: queue_delay.map(u64::cast_signed),
                    outcome: signs.0,
                    uncertain: signs.1,
                }
            },
        )
    }

    proptest! {
        /// Nothing is assumed of what comes after what: all that is put in comes out, by way, and what was not seen
        /// coming in before what came in later.
        #[test]
        fn what_is_put_in_comes_out(all in proptest::collection::vec((any::<bool>(), fate()), 0..60)) {
            let mut fates = Fates::default();
            let heading = |back| if back { Heading::Reverse } else { Heading::Forward };
            for (back, fate) in &all {
                fates.push(heading(*back), fate);
            }
            let of = |wanted: bool| {
                let way = all.iter().filter(move |(back, _)| *back == wanted);
                way.map(|(_, fate)| *fate)
            };
            let in_order = |back: bool| {
                let (came_in, mut not_seen): (Vec<_>, Vec<_>) = of(back).partition(|fate| fate.entry_frame.is_some());
                let mut order = Vec::new();
                for fate in came_in {
                    let later = not_seen.iter().position(|other: &PacketFate| other.at_ns >= fate.at_ns);
                    order.extend(not_seen.drain(..later.unwrap_or(not_seen.len())));
                    order.push(fate);
                }
                order.extend(not_seen);
                order
            };
            let expected = [in_order(false), in_order(true)].concat();
            prop_assert_eq!(fates.len(), all.len());
            prop_assert_eq!(fates.iter().collect::<Vec<_>>(), expected);
        }
    }

    /// Two flows that take turns at a queue, over more than a chunk.
    #[test]
    fn a_usual_one_takes_fifteen_bytes() {
        let mut fates = Fates::default();
        let usual = |n: i64| PacketFate {
            flow: (n % 2) as u32,
            entry_frame: Some(2 * n as u64 + 1),
            exit_frame: Some(2 * n as u64 + 5),
            at_ns: n * 12_000 + n % 7 * 100,
            ip_len: 1500,
            delay_ns: Some(20_000_000 + n % 11 * 9000),
            queue_delay_ns: Some(10_000_000 + n % 11 * 9000),
            outcome: Outcome::Passed,
            uncertain: false,
        };
        for n in 0..200_000 {
            fates.push(Heading::Forward, &usual(n));
        }
        assert!(fates.iter().eq((0..200_000).map(usual)));
        let [forward, back] = &fates.ways;
        let [forward, back] = [&forward.lanes[0], &back.lanes[0]];
        assert!(forward.chunks.len() > 1 && back.chunks.is_empty());
        let bytes: usize = forward.chunks.iter().map(Vec::len).sum();
        assert!(bytes <= 15 * 200_000, "{bytes}");
    }
}
