use std::num::NonZeroU16;

use bytemuck::Zeroable;
use proptest::prelude::*;

use super::*;
use crate::capture::{LinkType, Record};
use crate::decode::{Ecn, Endpoint, SackBlock, SynOptions, Timestamps, usual};
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
                    mss: mss.and_then(NonZeroU16::new),
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
            batch.clear(segments.first().map_or(0, |first| first.ordinal));
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
                let mut place = Kept::zeroed();
                let kept = packed.keep_in(&mut place, Direction::Reverse, start);
                let expected = Kept::of(Direction::Reverse, segment, start);
                let found = kept.map(|()| place);
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                let identity = ConnectionIdentity::of(other);
                let found = packed.direction(&identity);
                prop_assert_eq!(found, identity.direction(segment));
            }
        }
        let [start, end] = [ordinals.0, ordinals.1].map(|after| (7 << 40) + u64::from(after));
        let within = |shard| batch.within(shard, &(start..end.max(start))).segments();
        let found: Vec<Segment> = (0..SHARDS).flat_map(within).collect();
        segments.retain(|segment| (start..end).contains(&segment.ordinal));
        prop_assert_eq!(shown(&found), shown(&by_shard(&segments)));
    }

    /// A packet decoded right into its line becomes what its segment becomes.
    #[test]
    fn headers_and_their_segment_become_the_same(
        words in any::<[u32; 8]>(),
        flags in prop_oneof![Just(0x10_u8), Just(0x18), Just(0x11), Just(4), Just(0xd0)],
        blocks in proptest::collection::vec(any::<[u8; 8]>(), 0..4),
        timestamps in any::<Option<[u8; 8]>>(),
        more in 0..1460_u16,
        ordinal in any::<u32>(),
    ) {
        let mut options = Vec::new();
        if let Some(timestamps) = timestamps {
            options.extend([1, 1, 8, 10]);
            options.extend(timestamps);
        }
        if !blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
            options.extend(blocks.as_flattened());
        }
        let bytes = |word: usize| words[word].to_be_bytes();
        // What comes with an RST is no payload, and makes it unusual.
        let more = if flags & TcpFlags::RST.0 as u8 == 0 { more } else { 0 };
        let ip_len = 40 + options.len() as u16 + more;
        let mut frame = [&[2; 12], &[8, 0, 0x45, words[0] as u8][..]].concat();
        frame.extend(ip_len.to_be_bytes());
        frame.extend([bytes(1)[0], bytes(1)[1], 0x40, 0, 64, 6, 0, 0]);
        frame.extend([bytes(2), bytes(3), bytes(4), bytes(5), bytes(6)].as_flattened());
        frame.extend([(5 + options.len() as u8 / 4) << 4, flags]);
        frame.extend([bytes(7)[0], bytes(7)[1], 0, 0, 0, 0]);
        frame.extend(options);
        let record = Record {
            frame: 1,
            at: CaptureTime::from_ns(i64::from(words[0])),
            link: LinkType(1),
            bytes: &frame,
            original_len: 14 + u32::from(ip_len),
        };
        let ordinal = (7 << 40) + u64::from(ordinal);
        let segment = usual(&record, ordinal).unwrap();
        let shard = shard_of(&segment);
        let [mut one, mut other] = [SegmentBatch::default(), SegmentBatch::default()];
        for batch in [&mut one, &mut other] {
            batch.clear(7 << 40);
        }
        let after_records = (ordinal - (7 << 40)) as u32;
        let is_wanted = |usual: &Usual| usual.ends() == (segment.src, segment.dst);
        prop_assert_eq!(one.push_usual(&record, after_records, |_| false), Some(false));
        prop_assert_eq!(one.push_usual(&record, after_records, is_wanted), Some(true));
        other.push(shard, &segment);
        for batch in [&mut one, &mut other] {
            batch.sort();
            let found: Vec<Segment> = batch.all(shard).segments().collect();
            prop_assert_eq!(format!("{found:?}"), format!("[{segment:?}]"));
        }
    }
}

#[test]
fn shards_and_positions_that_there_are_not_are_none() {
    let [src, dst] = [1, 2].map(|host| Endpoint::v4([10, 0, 0, host], 80));
    let segment = Segment {
        ordinal: 5,
        ..Segment::empty(src, dst)
    };
    let mut batch = SegmentBatch::default();
    for (first_ordinal, shard) in [(100, 3), (u64::MAX, SHARDS - 1)] {
        batch.clear(first_ordinal);
        batch.push(shard, &segment);
        batch.sort();
        assert_eq!(batch.all(shard).segments().count(), 1);
        assert_eq!(batch.all(SHARDS).len() + batch.all(usize::MAX).len(), 0);
        let reversed = Range {
            start: u64::MAX,
            end: 0,
        };
        for shard in [shard, SHARDS] {
            assert_eq!(batch.within(shard, &reversed).len(), 0);
        }
    }
}
