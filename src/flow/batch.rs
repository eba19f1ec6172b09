//! Segments on their way from decoding to tracking, in a line of memory each.
//!
//! A [`Segment`] takes more than two, most of it for what hardly any has. Each is written once and read
//! once, by another thread and after many others, and both wait for memory.

use std::ops::Range;

use super::kept::{Kept, Start};
use super::key::{EndWords, EndsHasher, SHARDS, shard_between};
use super::table::FlowIdentity;
use crate::capture::Record;
use crate::decode::{
    Endpoint, SackBlocks, Segment, TcpFlags, Usual, UsualRoom, parse_usual, push_sack_blocks,
};
use crate::event::Direction;
use crate::prefetch::prefetch;
use crate::time::CaptureTime;

/// Segments of all shards, in capture order.
///
/// In one vector, and beside it where those of each shard are: a vector a shard grows to the most that one ever had,
/// which in all is several times what a batch has.
#[derive(Debug, Default)]
pub struct SegmentBatch {
    /// Position of the first one in the capture.
    first_ordinal: u64,
    lines: Vec<Line>,
    /// How many of `lines` each shard has.
    lens: [u32; SHARDS],
    /// Places in `lines`, shard by shard, and where those of each shard end: nothing until they are sorted.
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
    /// Records after the batch's first.
    after_records: u32,
    side: Side,
    shard: u8,
}

const _: () = assert!(size_of::<Line>() == 64 && SHARDS <= 1 << u8::BITS);

impl Line {
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
    pub(super) fn of(identity: &FlowIdentity) -> Self {
        match Usual::pack_ends(&identity.opener, &identity.peer) {
            Some((addresses, ports)) => Self {
                addresses,
                ports: ports.into(),
            },
            None => Self {
                addresses: 0,
                ports: u64::MAX,
            },
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
    /// Empties it, but keeps its memory.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.lens = [0; SHARDS];
        self.places.clear();
        self.ends = [0; SHARDS];
        self.sacks.clear();
        self.others.clear();
    }

    /// Adds a segment of a shard that comes after all others, fewer than 2^32 records after the first. It
    /// can be had once the batch is [sorted](Self::sort).
    pub fn push(&mut self, shard: usize, segment: &Segment) {
        let Some(usual) = Usual::of(segment) else {
            self.push_other(shard, segment);
            return;
        };
        let side = self.side_of(segment.sack);
        self.push_line(shard, usual, side, segment.ordinal);
    }

    #[inline]
    fn push_line(&mut self, shard: usize, usual: Usual, side: Side, ordinal: u64) {
        if self.lines.is_empty() {
            self.first_ordinal = ordinal;
        }
        self.lines.push(Line {
            usual,
            after_records: (ordinal - self.first_ordinal) as u32,
            side,
            shard: shard as u8,
        });
        self.lens[shard % SHARDS] += 1;
    }

    /// Finds out where the segments of each shard are, once all have been added.
    pub fn sort(&mut self) {
        let mut start = 0;
        for (end, len) in self.ends.iter_mut().zip(self.lens) {
            *end = start;
            start += len;
        }
        self.places.resize(self.lines.len(), 0);
        for (place, line) in (0..).zip(&self.lines) {
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

    /// As [`side_of`](Self::side_of), of blocks as they are in the option: put together where they stay.
    // A copy would be made in larger pieces than these were written in: for such, the processor waits
    // until all that was written before is in the cache.
    #[inline]
    fn side_of_option(&mut self, blocks: &[[u8; 8]]) -> Side {
        if blocks.is_empty() {
            return Side::NOTHING;
        }
        push_sack_blocks(self.sacks.push_mut(SackBlocks::default()), blocks);
        Side(self.sacks.len() as u32)
    }

    #[inline(never)]
    fn push_other(&mut self, shard: usize, segment: &Segment) {
        let side = Side(Side::OTHER | self.others.len() as u32);
        self.others.push(*segment);
        let usual = Usual::nothing(segment.at, segment.flags);
        self.push_line(shard, usual, side, segment.ordinal);
    }

    /// All of a shard that have been [sorted](Self::sort).
    #[must_use]
    pub fn all(&self, shard: usize) -> BatchPart<'_> {
        BatchPart {
            batch: self,
            places: self.places_of(shard),
        }
    }

    fn places_of(&self, shard: usize) -> &[u32] {
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start as usize..self.ends[shard] as usize]
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
            places: &places[start..end],
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
    fn other(self) -> Option<&'a Segment> {
        if self.line.side.is_other() {
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

    /// Its direction in a connection with these `ends`; `None` where it is of another one.
    #[inline]
    pub(super) fn direction(
        self,
        identity: &FlowIdentity,
        ends: impl FnOnce() -> V4Ends,
    ) -> Option<Direction> {
        if self.line.side.is_other() {
            return self.direction_of_other(identity);
        }
        ends().direction(&self.line.usual)
    }

    #[inline(never)]
    fn direction_of_other(self, identity: &FlowIdentity) -> Option<Direction> {
        identity.direction(self.other()?)
    }

    /// Begins to fetch it.
    #[inline]
    pub(super) fn expect(self) {
        prefetch(self.line);
    }

    fn ordinal(self) -> u64 {
        self.batch.first_ordinal + u64::from(self.line.after_records)
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

    /// The segment, put there where it is not to be had otherwise.
    #[inline]
    pub(super) fn segment_in<'r>(self, room: &'r mut UsualRoom) -> &'r Segment
    where
        'a: 'r,
    {
        match self.other() {
            Some(other) => other,
            None => room.put(&self.line.usual, self.ordinal(), self.sack()),
        }
    }
}

/// A segment as most are, on its way into a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualSegment<'a> {
    usual: Usual,
    blocks: &'a [[u8; 8]],
}

impl<'a> UsualSegment<'a> {
    /// `None` when it takes the general way to tell what a record is.
    #[inline]
    pub(crate) fn of(record: &Record<'a>) -> Option<Self> {
        let (usual, blocks) = parse_usual(record)?;
        Some(Self { usual, blocks })
    }

    /// Sender and receiver.
    #[inline]
    pub(crate) fn ends(&self) -> (Endpoint, Endpoint) {
        self.usual.ends()
    }

    /// The same as [`shard_of`](super::shard_of) the segment.
    #[inline]
    pub(crate) fn shard(&self) -> usize {
        let [one, other] = end_words(&self.usual);
        shard_between(one, other)
    }

    /// The same as [`SegmentBatch::push`].
    #[inline]
    pub(crate) fn push_to(self, batch: &mut SegmentBatch, shard: usize, ordinal: u64) {
        let side = batch.side_of_option(self.blocks);
        batch.push_line(shard, self.usual, side, ordinal);
    }
}

#[inline]
fn end_words(usual: &Usual) -> [EndWords; 2] {
    usual
        .v4_ends()
        .map(|(address, port)| EndWords::v4(address, port))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decode::{Ecn, SackBlock, SynOptions, Timestamps};
    use crate::flow::shard_of;
    use crate::seq::Seq;

    fn any_segment() -> impl Strategy<Value = Segment> {
        // Few, so that some meet.
        let end = || {
            let v4 = (0..3_u8, 0..2_u16).prop_map(|(ip, port)| Endpoint::v4([0, 0, 0, ip], port));
            let v6 = (0..2_u8, 0..2_u16).prop_map(|(ip, port)| Endpoint::v6([ip; 16], port));
            prop_oneof![4 => v4, 1 => v6]
        };
        let blocks = proptest::collection::vec(any::<(u32, u32)>(), 0..5);
        let numbers = any::<(u32, u32, u16, u8, i64, u32)>();
        let options = any::<(Option<(u32, u32)>, Option<u16>, Option<u16>)>();
        let odd = prop_oneof![8 => Just((1_u16, false, false)), 1 => (1..3_u16, any::<bool>(), any::<bool>())];
        let lens = prop_oneof![9 => 0..65_536_u32, 1 => any::<u32>()];
        (
            end(),
            end(),
            blocks,
            numbers,
            options,
            odd,
            (0..0x400_u16, lens),
        )
            .prop_map(
                |(
                    src,
                    dst,
                    blocks,
                    (seq, ack, window, ecn, ns, ordinal),
                    (ts, ip_id, mss),
                    odd,
                    (flags, len),
                )| {
                    let mut sack = SackBlocks::default();
                    for (start, end) in blocks {
                        let (start, end) = (Seq(start), Seq(end));
                        sack.push(SackBlock { start, end });
                    }
                    let syn = SynOptions {
                        mss,
                        ..SynOptions::default()
                    };
                    Segment {
                        at: CaptureTime::from_ns(ns),
                        ordinal: (7 << 40) + u64::from(ordinal),
                        seq: Seq(seq),
                        ack: Seq(ack),
                        flags: TcpFlags(flags),
                        window,
                        payload_len: len / 2,
                        ip_len: len,
                        ip_packets: odd.0,
                        ip_id,
                        ecn: Ecn::from_bits(ecn),
                        timestamps: ts.map(|(value, echo)| Timestamps { value, echo }),
                        syn: if flags & TcpFlags::SYN.0 > 0 {
                            syn
                        } else {
                            SynOptions::default()
                        },
                        sack,
                        length_from_frame: odd.1,
                        header_cut: odd.2,
                        ..Segment::empty(src, dst)
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn what_comes_out_is_what_went_in(
            mut segments in proptest::collection::vec(any_segment(), 0..20),
            ordinals in any::<(u32, u32)>(),
        ) {
            segments.sort_by_key(|segment| segment.ordinal);
            let hasher = EndsHasher::new();
            let mut batch = SegmentBatch::default();
            for _ in 0..2 {
                batch.clear();
                for segment in &segments {
                    batch.push(shard_of(segment), segment);
                }
                prop_assert!((0..SHARDS).all(|shard| batch.all(shard).len() == 0));
                batch.sort();
                batch.sort();
            }
            let shown = |segments: &[Segment]| format!("{segments:?}");
            let all_of = |batch: &SegmentBatch| -> Vec<Segment> {
                (0..SHARDS).flat_map(|shard| batch.all(shard).segments().collect::<Vec<_>>()).collect()
            };
            let by_shard = |segments: &[Segment]| {
                let mut segments = segments.to_vec();
                segments.sort_by_key(shard_of);
                segments
            };
            let sorted = by_shard(&segments);
            prop_assert_eq!(shown(&all_of(&batch)), shown(&sorted));
            let packed = (0..SHARDS).flat_map(|shard| batch.all(shard).packed());
            for (packed, segment) in packed.zip(&sorted) {
                prop_assert_eq!(packed.at(), segment.at);
                prop_assert_eq!(packed.is_syn(), segment.flags.has(TcpFlags::SYN));
                let hash = hasher.hash(&segment.src, &segment.dst);
                prop_assert_eq!(packed.hash(&hasher), hash);
                for other in &segments {
                    let start = Start::of(other);
                    let mut place = Kept::NOTHING;
                    let kept = packed.keep_in(&mut place, Direction::Reverse, start);
                    let expected = Kept::of(Direction::Reverse, segment, start);
                    let found = kept.map(|()| place);
                    prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                    let identity = FlowIdentity::of(other);
                    let found = packed.direction(&identity, || V4Ends::of(&identity));
                    prop_assert_eq!(found, identity.direction(segment));
                }
                if let Some(usual) = Usual::of(segment) {
                    let bytes = |block: &SackBlock| {
                        let two = u64::from(block.start.0) << 32 | u64::from(block.end.0);
                        two.to_be_bytes()
                    };
                    let blocks: Vec<[u8; 8]> = segment.sack.as_slice().iter().map(bytes).collect();
                    let usual = UsualSegment { usual, blocks: &blocks };
                    prop_assert_eq!(usual.shard(), shard_of(segment));
                    prop_assert_eq!(usual.ends(), (segment.src, segment.dst));
                    let mut alone = SegmentBatch::default();
                    usual.push_to(&mut alone, 5, segment.ordinal);
                    alone.sort();
                    prop_assert_eq!(shown(&all_of(&alone)), shown(&[*segment]));
                }
            }
            let [start, end] = [ordinals.0, ordinals.1].map(|after| (7 << 40) + u64::from(after));
            let within = |shard| batch.within(shard, &(start..end.max(start))).segments();
            let found: Vec<Segment> = (0..SHARDS).flat_map(within).collect();
            segments.retain(|segment| (start..end).contains(&segment.ordinal));
            prop_assert_eq!(shown(&found), shown(&by_shard(&segments)));
        }
    }
}
