//! Segments on their way from decoding to tracking, in a line of memory each.
//!
//! A [`Segment`] takes more than two, most of it for what hardly any has. Each is written once and read
//! once, by another thread and after many others, and both wait for memory.

use std::hint::cold_path;
use std::ops::Range;

use super::kept::{Kept, Start};
use super::key::{EndWords, EndsHasher, SHARDS, shard_between};
use super::table::ConnectionIdentity;
use crate::capture::Record;
use crate::decode::{Ecn, Plain, SackBlock, SackBlocks, Segment, TcpFlags, Timestamps, Usual};
use crate::event::Direction;
use crate::prefetch::prefetch;
use crate::seq::Seq;
use crate::time::CaptureTime;

/// Lines that a batch has room for at first.
const ROOM_MIN: usize = 64;

/// Segments of all shards, in capture order.
///
/// One vector for all shards, with an index of where those of each are: a vector per shard would keep its peak
/// capacity, in all several times what a batch holds.
#[derive(Debug, Default)]
pub struct SegmentBatch {
    /// Position in the capture that theirs are counted from.
    first_ordinal: u64,
    /// A line each, and behind those room for more.
    lines: Vec<Line>,
    len: usize,
    /// How many of them each shard has.
    lens: [u32; SHARDS],
    /// Places in `lines`, shard by shard, and where those of each shard end: 0 until they are sorted. Behind the last of these
    /// are places of batches before.
    places: Vec<u32>,
    ends: [u32; SHARDS],
    /// SACK blocks of those that have some.
    sacks: Vec<SackBlocks>,
    /// Segments that do not fit a line: SYNs, IPv6, fragments.
    others: Vec<Segment>,
}

/// A segment, or where it is.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    /// All but SACK blocks.
    usual: Usual,
    /// Records after the first position of the batch.
    after_records: u32,
    side: Side,
    shard: u8,
}

const _: () = assert!(size_of::<Line>() == 64 && SHARDS <= 1 << u8::BITS);

impl Line {
    const NOTHING: Self = Self {
        usual: Usual::NOTHING,
        after_records: 0,
        side: Side::NOTHING,
        shard: 0,
    };

    #[inline]
    fn shard(&self) -> usize {
        usize::from(self.shard) % SHARDS
    }
}

/// What a line does not hold: where in `sacks` the segment's blocks are, and one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side(u32);

impl Side {
    const NOTHING: Self = Self(0);
    /// With this bit: where in `others` the segment is, of which the line holds nothing but time and flags.
    const OTHER: u32 = 1 << 31;

    #[inline]
    fn sacks(self) -> Option<usize> {
        (self.0 as usize).checked_sub(1)
    }

    #[inline]
    fn is_other(self) -> bool {
        self.0 & Self::OTHER != 0
    }

    fn other(self) -> Option<usize> {
        self.is_other().then_some((self.0 & !Self::OTHER) as usize)
    }
}

/// The ends of a connection, as those of a [`Usual`] segment of its opener.
#[derive(Clone, Copy, Debug)]
pub(super) struct V4Ends {
    addresses: u64,
    /// 32 bits; more where one of the ends has no IPv4 address.
    ports: u64,
}

impl V4Ends {
    /// Of no connection between IPv4 hosts.
    const NONE: Self = Self {
        addresses: 0,
        ports: u64::MAX,
    };

    pub(super) fn of(identity: &ConnectionIdentity) -> Self {
        match Usual::pack_ends(&identity.opener, &identity.peer) {
            Some((addresses, ports)) => Self {
                addresses,
                ports: ports.into(),
            },
            None => Self::NONE,
        }
    }

    #[inline]
    fn direction(self, usual: &Usual) -> Option<Direction> {
        let is = |addresses, ports| self.addresses == addresses && self.ports == u64::from(ports);
        if is(usual.addresses, usual.ports) {
            Some(Direction::Forward)
        } else if is(usual.addresses.rotate_left(32), usual.ports.rotate_left(16)) {
            Some(Direction::Reverse)
        } else {
            None
        }
    }
}

impl SegmentBatch {
    /// Empties it, but keeps its memory: for segments whose positions in the capture are `first_ordinal` and fewer than
    /// 2^32 records after it. Segments of any other position come back with one of these.
    pub fn clear(&mut self, first_ordinal: u64) {
        self.first_ordinal = first_ordinal;
        self.len = 0;
        self.lens = [0; SHARDS];
        self.ends = [0; SHARDS];
        self.sacks.clear();
        self.others.clear();
    }

    /// How many segments there are, sorted or not.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a segment of a shard, below [`SHARDS`], that comes after all others, at a position that
    /// [`clear`](Self::clear) was told of. Call [`sort`](Self::sort) before reading it back.
    pub fn push(&mut self, shard: usize, segment: &Segment) {
        let (usual, side) = if let Some(usual) = Usual::of(segment) {
            (usual, self.side_of(segment.sack))
        } else {
            let side = Side(Side::OTHER | self.others.len() as u32);
            self.others.push(*segment);
            (Usual::nothing(segment.at, segment.flags), side)
        };
        let after_records = segment.ordinal.wrapping_sub(self.first_ordinal) as u32;
        *self.next_line() = Line {
            usual,
            after_records,
            side,
            shard: shard as u8,
        };
        self.lens[shard % SHARDS] += 1;
        self.len += 1;
    }

    /// The same as [`push`](Self::push) of the segment of a [usual](Usual::fill) packet, so many records after the first,
    /// to its shard, where it is wanted; whether it is. `None` where the packet is not usual.
    #[inline(always)]
    pub(crate) fn push_usual(
        &mut self,
        record: &Record<'_>,
        after_records: u32,
        is_wanted: impl FnOnce(&Usual) -> bool,
    ) -> Option<bool> {
        let line = self.next_line();
        let blocks = line.usual.fill(record)?;
        if !is_wanted(&line.usual) {
            return Some(false);
        }
        let [one, other] = end_words(&line.usual);
        let shard = shard_between(one, other);
        line.after_records = after_records;
        line.side = Side::NOTHING;
        line.shard = shard as u8;
        if !blocks.is_empty() {
            self.put_blocks(blocks);
        }
        self.lens[shard % SHARDS] += 1;
        self.len += 1;
        Some(true)
    }

    /// The line of the segment that comes next, in which nothing is right yet.
    #[inline(always)]
    fn next_line(&mut self) -> &mut Line {
        if self.len >= self.lines.len() {
            self.make_room();
        }
        &mut self.lines[self.len]
    }

    #[cold]
    fn make_room(&mut self) {
        let len = (2 * self.lines.len()).max(ROOM_MIN);
        self.lines.resize(len, Line::NOTHING);
    }

    /// Finds out where the segments of each shard are, once all have been added.
    pub fn sort(&mut self) {
        let mut start = 0;
        for (end, len) in self.ends.iter_mut().zip(self.lens) {
            *end = start;
            start += len;
        }
        // What they were before does not matter: all that count are written.
        if self.places.len() < self.len {
            self.places.resize(self.len, 0);
        }
        for (place, line) in (0..).zip(&self.lines[..self.len]) {
            let end = &mut self.ends[line.shard()];
            self.places[*end as usize] = place;
            *end += 1;
        }
    }

    #[inline]
    fn side_of(&mut self, sack: SackBlocks) -> Side {
        if sack.as_slice().is_empty() {
            return Side::NOTHING;
        }
        self.sacks.push(sack);
        Side(self.sacks.len() as u32)
    }

    /// Puts SACK blocks, as they are in the option, beside the line of the segment that comes next.
    #[inline(never)]
    fn put_blocks(&mut self, blocks: &[[u8; 8]]) {
        self.sacks.push_mut(SackBlocks::default()).put(blocks);
        self.lines[self.len].side = Side(self.sacks.len() as u32);
    }

    /// All of a shard that have been [sorted](Self::sort); none of a shard that there is not.
    #[must_use]
    pub fn all(&self, shard: usize) -> BatchPart<'_> {
        BatchPart {
            batch: self,
            places: self.places_of(shard),
        }
    }

    fn places_of(&self, shard: usize) -> &[u32] {
        let Some(&end) = self.ends.get(shard) else {
            return &[];
        };
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start as usize..end as usize]
    }

    /// Of these, those whose positions in the capture are among `ordinals`.
    #[must_use]
    pub fn within(&self, shard: usize, ordinals: &Range<u64>) -> BatchPart<'_> {
        let below = |end: u64| move |&place: &u32| self.at_place(place).ordinal() < end;
        let places = self.places_of(shard);
        let start = places.partition_point(below(ordinals.start));
        let end = places.partition_point(below(ordinals.end));
        BatchPart {
            batch: self,
            // None where the end is before the start.
            places: places.get(start..end).unwrap_or_default(),
        }
    }

    #[inline]
    fn at_place(&self, place: u32) -> Packed<'_> {
        Packed {
            batch: self,
            line: &self.lines[place as usize],
        }
    }
}

/// Some segments of one shard of a [`SegmentBatch`] that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct BatchPart<'a> {
    batch: &'a SegmentBatch,
    places: &'a [u32],
}

impl<'a> BatchPart<'a> {
    /// How many segments there are.
    pub(super) fn len(self) -> usize {
        self.places.len()
    }

    /// The segment at `place` among them.
    #[inline]
    pub(super) fn get(self, place: usize) -> Option<Packed<'a>> {
        let &place = self.places.get(place)?;
        Some(self.batch.at_place(place))
    }

    /// Those from `place` on.
    #[inline]
    pub(super) fn from(self, place: usize) -> Self {
        let places = self.places.get(place..).unwrap_or_default();
        Self { places, ..self }
    }

    /// The segments.
    pub fn segments(self) -> impl Iterator<Item = Segment> + use<'a> {
        self.packed().map(Packed::segment)
    }

    pub(super) fn packed(self) -> impl Iterator<Item = Packed<'a>> {
        let batch = self.batch;
        self.places.iter().map(|&place| batch.at_place(place))
    }

    /// Begins to fetch the segments.
    #[inline]
    pub(super) fn expect(self) {
        self.packed().for_each(Packed::expect);
    }

    /// The same, `len` at a time.
    pub(super) fn chunks(self, len: usize) -> impl Iterator<Item = Self> {
        let batch = self.batch;
        let chunks = self.places.chunks(len);
        chunks.map(move |places| Self { batch, places })
    }
}

/// A segment of a [`SegmentBatch`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    batch: &'a SegmentBatch,
    line: &'a Line,
}

impl<'a> Packed<'a> {
    /// The hash of its ends.
    #[inline]
    pub(super) fn hash(self, hasher: &EndsHasher) -> u64 {
        if let Some(other) = self.other() {
            return hasher.hash(&other.src, &other.dst);
        }
        let [one, other] = end_words(&self.line.usual);
        hasher.hash_between(one, other)
    }

    /// The segment, where it does not fit a line.
    #[inline]
    pub(super) fn other(self) -> Option<&'a Segment> {
        if self.line.side.is_other() {
            cold_path();
            self.beside()
        } else {
            None
        }
    }

    /// Apart, so that the usual way is short.
    #[inline(never)]
    fn beside(self) -> Option<&'a Segment> {
        let place = self.line.side.other()?;
        self.batch.others.get(place)
    }

    /// When it was captured.
    #[inline]
    pub(super) fn at(self) -> CaptureTime {
        self.line.usual.at
    }

    /// Whether it has SYN.
    #[inline]
    pub(super) fn is_syn(self) -> bool {
        self.line.usual.flags().has(TcpFlags::SYN)
    }

    /// Its direction in a connection; `None` where it is of another one.
    #[inline]
    pub(super) fn direction(self, identity: &ConnectionIdentity) -> Option<Direction> {
        if self.line.side.is_other() {
            cold_path();
            return self.direction_of_other(identity);
        }
        V4Ends::of(identity).direction(&self.line.usual)
    }

    /// The same in a connection with these `ends`, or this identity where it has others; `None` also where it has SYN.
    #[inline]
    pub(super) fn direction_in_train(
        self,
        ends: V4Ends,
        identity: &ConnectionIdentity,
    ) -> Option<Direction> {
        if self.is_syn() {
            None
        } else if self.line.side.is_other() {
            cold_path();
            self.direction_of_other(identity)
        } else {
            ends.direction(&self.line.usual)
        }
    }

    /// The ends of its connection, in which it goes in direction `dir`.
    #[inline]
    pub(super) fn ends(self, dir: Direction) -> V4Ends {
        let usual = &self.line.usual;
        let (addresses, ports) = match dir {
            _ if self.line.side.is_other() => return V4Ends::NONE,
            Direction::Forward => (usual.addresses, usual.ports),
            Direction::Reverse => (usual.addresses.rotate_left(32), usual.ports.rotate_left(16)),
        };
        let ports = ports.into();
        V4Ends { addresses, ports }
    }

    #[inline(never)]
    fn direction_of_other(self, identity: &ConnectionIdentity) -> Option<Direction> {
        identity.direction(self.other()?)
    }

    /// Begins to fetch it.
    #[inline]
    pub(super) fn expect(self) {
        prefetch(self.line);
    }

    /// The same of what does not fit a line, once that has come.
    #[inline]
    pub(super) fn expect_other(self) {
        if let Some(other) = self.other() {
            prefetch(other);
        }
    }

    /// The same of the ranges that it reports, once the line has come.
    #[inline]
    pub(super) fn expect_sacks(self) {
        if self.line.side != Side::NOTHING
            && let Some(sacks) = self.sack()
        {
            prefetch(sacks);
        }
    }

    fn ordinal(self) -> u64 {
        let after_records = u64::from(self.line.after_records);
        self.batch.first_ordinal.wrapping_add(after_records)
    }

    fn sack(self) -> Option<&'a SackBlocks> {
        self.batch.sacks.get(self.line.side.sacks()?)
    }

    /// The segment.
    pub(super) fn segment(self) -> Segment {
        match self.other() {
            Some(other) => *other,
            None => self.line.usual.segment(self.ordinal(), self.sack()),
        }
    }

    /// Puts there the same as [`Kept::of`] the segment, where that is something.
    #[inline]
    pub(super) fn keep_in(self, place: &mut Kept, dir: Direction, start: Start) -> Option<()> {
        if self.line.side != Side::NOTHING {
            return self.keep_other_in(place, dir, start);
        }
        *place = Kept::of_usual(dir, &self.line.usual, self.ordinal(), start)?;
        Some(())
    }

    #[inline(never)]
    fn keep_other_in(self, place: &mut Kept, dir: Direction, start: Start) -> Option<()> {
        // Whoever reports ranges is not usual.
        *place = Kept::of(dir, self.other()?, start)?;
        Some(())
    }

    /// As what it is, where it is plain and fits a line.
    #[inline]
    pub(super) fn plain(self) -> Option<PlainLine<'a>> {
        (!self.line.side.is_other() && self.line.usual.is_plain()).then_some(PlainLine(self))
    }
}

/// A plain segment that fits a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainLine<'a>(Packed<'a>);

impl Plain for PlainLine<'_> {
    #[inline]
    fn at(self) -> CaptureTime {
        self.0.at()
    }
    #[inline]
    fn ordinal(self) -> u64 {
        self.0.ordinal()
    }
    #[inline]
    fn seq(self) -> Seq {
        self.0.line.usual.seq()
    }
    #[inline]
    fn ack(self) -> Seq {
        self.0.line.usual.ack()
    }
    #[inline]
    fn flags(self) -> TcpFlags {
        self.0.line.usual.flags()
    }
    #[inline]
    fn window(self) -> u16 {
        self.0.line.usual.window
    }
    #[inline]
    fn payload_len(self) -> u32 {
        self.0.line.usual.payload_len.into()
    }
    #[inline]
    fn ip_len(self) -> u32 {
        self.0.line.usual.ip_len.into()
    }
    #[inline]
    fn ip_id(self) -> Option<u16> {
        self.0.line.usual.ip_id()
    }
    #[inline]
    fn ecn(self) -> Ecn {
        self.0.line.usual.ecn()
    }
    #[inline]
    fn timestamps(self) -> Option<Timestamps> {
        self.0.line.usual.timestamps()
    }
    #[inline]
    fn reports(self) -> bool {
        self.0.line.side != Side::NOTHING
    }
    #[inline]
    fn sack<'s>(self) -> &'s [SackBlock]
    where
        Self: 's,
    {
        self.0.sack().map_or(&[], SackBlocks::as_slice)
    }
    fn segment(self) -> Segment {
        self.0.segment()
    }
}

#[inline]
fn end_words(usual: &Usual) -> [EndWords; 2] {
    usual
        .v4_ends()
        .map(|(address, port)| EndWords::v4(address, port))
}

#[cfg(test)]
mod tests;
