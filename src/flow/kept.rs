//! Segments kept as they came, at a quarter of what a [`Segment`] takes.

use std::num::NonZeroU16;

use bytemuck::Zeroable;

use super::table::ConnectionIdentity;
use crate::decode::{
    Ecn, Endpoint, Plain, SackBlock, Segment, SynOptions, TcpFlags, Timestamps, Usual, is_plain,
};
use crate::event::Direction;
use crate::seq::Seq;
use crate::time::CaptureTime;

/// When and where in the capture a connection began: what the times and places of its packets are
/// told from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) at: CaptureTime,
    pub(super) ordinal: u64,
}

impl Start {
    pub(super) fn of(first: &Segment) -> Self {
        Self {
            at: first.at,
            ordinal: first.ordinal,
        }
    }
}

/// A usual segment: without what none that is kept has, without its ends, which whoever keeps it
/// knows, and with times, places and lengths in as many bits as usual ones take.
#[derive(Clone, Copy, Debug, Zeroable)]
pub(super) struct Kept {
    /// The lower bits of the time since the start, in ns, and the upper ones.
    after_ns_low: u32,
    after_ns_high: i16,
    mss: u16,
    /// Records since the start.
    after_records: u32,
    seq: u32,
    ack: u32,
    timestamp: u32,
    timestamp_echo: u32,
    ip_len: u16,
    payload_len: u16,
    ip_id: u16,
    window: u16,
    bits: Bits,
}

// Five million connections of one or two are a scan of half an hour: half a gigabyte.
const _: () = assert!(size_of::<Kept>() <= 40);

/// Flags of a segment, and which of its fields count.
#[derive(Clone, Copy, Debug, Zeroable)]
struct Bits(u32);

impl Bits {
    /// The lowest are TCP's flags.
    const FLAGS: u32 = 12;
    const REVERSE: u32 = 12;
    const TIMESTAMPS: u32 = 13;
    const IP_ID: u32 = 14;
    const MULTIPATH: u32 = 15;
    const SACK_PERMITTED: u32 = 16;
    const LENGTH_FROM_FRAME: u32 = 17;
    const HEADER_CUT: u32 = 18;
    /// Two.
    const ECN: u32 = 19;
    const WINDOW_SCALE: u32 = 21;
    /// Eight: the shift.
    const SHIFT: u32 = 22;
    const TTL_ABOVE_64: u32 = 30;
    /// Nothing the packet says.
    const GAVE_UP: u32 = 31;

    fn of(dir: Direction, segment: &Segment) -> Self {
        let syn = &segment.syn;
        let set = [
            (Self::REVERSE, dir == Direction::Reverse),
            (Self::TIMESTAMPS, segment.timestamps.is_some()),
            (Self::IP_ID, segment.ip_id.is_some()),
            (Self::SACK_PERMITTED, syn.sack_permitted),
            (Self::MULTIPATH, syn.multipath),
            (Self::LENGTH_FROM_FRAME, segment.length_from_frame),
            (Self::HEADER_CUT, segment.header_cut),
            (Self::WINDOW_SCALE, syn.window_scale.is_some()),
            (Self::TTL_ABOVE_64, syn.ttl_above_64),
        ];
        let ecn = (segment.ecn as u32) << Self::ECN;
        let shift = u32::from(syn.window_scale.unwrap_or(0)) << Self::SHIFT;
        let bits = u32::from(segment.flags.0) | ecn | shift;
        Self(
            set.iter()
                .fold(bits, |bits, &(bit, is_set)| bits | u32::from(is_set) << bit),
        )
    }

    #[inline]
    fn of_usual(dir: Direction, usual: &Usual) -> Self {
        let flags = u32::from(usual.flags().0);
        let ecn = (usual.ecn() as u32) << Self::ECN;
        let reverse = u32::from(dir == Direction::Reverse) << Self::REVERSE;
        let timestamps = u32::from(usual.has(Usual::TIMESTAMPS)) << Self::TIMESTAMPS;
        let ip_id = u32::from(usual.has(Usual::IP_ID)) << Self::IP_ID;
        Self(flags | ecn | reverse | timestamps | ip_id)
    }

    fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 != 0
    }

    fn flags(self) -> TcpFlags {
        TcpFlags((self.0 & ((1 << Self::FLAGS) - 1)) as u16)
    }

    fn ecn(self) -> Ecn {
        Ecn::from_bits((self.0 >> Self::ECN) as u8)
    }

    fn window_scale(self) -> Option<u8> {
        self.has(Self::WINDOW_SCALE)
            .then_some((self.0 >> Self::SHIFT) as u8)
    }
}

impl Kept {
    /// A segment of a connection that began at `start`; `None` for one that is not usual: which
    /// came in several packets, reports ranges, or has a number that is too large.
    #[inline]
    pub(super) fn of(dir: Direction, segment: &Segment, start: Start) -> Option<Self> {
        let after_ns = segment.at.since(start.at);
        let usual = segment.ip_packets == 1
            && segment.sack.as_slice().is_empty()
            && segment.flags.0 >> Bits::FLAGS == 0;
        if !usual {
            return None;
        }
        Some(Self {
            after_ns_low: after_ns as u32,
            after_ns_high: i16::try_from(after_ns >> 32).ok()?,
            mss: segment.syn.mss.map_or(0, NonZeroU16::get),
            after_records: u32::try_from(segment.ordinal.checked_sub(start.ordinal)?).ok()?,
            seq: segment.seq.0,
            ack: segment.ack.0,
            timestamp: segment.timestamps.map_or(0, |timestamps| timestamps.value),
            timestamp_echo: segment.timestamps.map_or(0, |timestamps| timestamps.echo),
            ip_len: u16::try_from(segment.ip_len).ok()?,
            payload_len: u16::try_from(segment.payload_len).ok()?,
            ip_id: segment.ip_id.unwrap_or(0),
            window: segment.window,
            bits: Bits::of(dir, segment),
        })
    }

    /// The same as [`of`](Self::of) the segment, which has no SACK blocks.
    #[inline]
    pub(super) fn of_usual(
        dir: Direction,
        usual: &Usual,
        ordinal: u64,
        start: Start,
    ) -> Option<Self> {
        let after_ns = usual.at.since(start.at);
        let timestamps = usual.any_timestamps();
        Some(Self {
            after_ns_low: after_ns as u32,
            after_ns_high: i16::try_from(after_ns >> 32).ok()?,
            mss: 0,
            after_records: u32::try_from(ordinal.checked_sub(start.ordinal)?).ok()?,
            seq: usual.seq().0,
            ack: usual.ack().0,
            timestamp: timestamps.value,
            timestamp_echo: timestamps.echo,
            ip_len: usual.ip_len,
            payload_len: usual.payload_len,
            ip_id: usual.ip_id,
            window: usual.window,
            bits: Bits::of_usual(dir, usual),
        })
    }

    /// The segment, from `src` to `dst`, of a connection that began at `start`.
    pub(super) fn segment(&self, (src, dst): (Endpoint, Endpoint), start: Start) -> Segment {
        let bits = self.bits;
        Segment {
            at: self.at(start),
            ordinal: self.ordinal(start),
            seq: Seq(self.seq),
            ack: Seq(self.ack),
            flags: self.flags(),
            window: self.window,
            payload_len: self.payload_len(),
            ip_len: u32::from(self.ip_len),
            ip_id: self.ip_id(),
            ecn: bits.ecn(),
            timestamps: self.timestamps(),
            syn: SynOptions {
                mss: NonZeroU16::new(self.mss),
                window_scale: bits.window_scale(),
                sack_permitted: bits.has(Bits::SACK_PERMITTED),
                multipath: bits.has(Bits::MULTIPATH),
                ttl_above_64: bits.has(Bits::TTL_ABOVE_64),
            },
            length_from_frame: bits.has(Bits::LENGTH_FROM_FRAME),
            header_cut: bits.has(Bits::HEADER_CUT),
            ..Segment::empty(src, dst)
        }
    }

    /// As what it is in a connection, where it is plain.
    #[inline]
    pub(super) fn plain<'a>(&'a self, identity: &'a ConnectionIdentity) -> Option<PlainKept<'a>> {
        let odd = 1 << Bits::LENGTH_FROM_FRAME | 1 << Bits::HEADER_CUT;
        let is_plain = is_plain(self.flags(), self.window) && self.bits.0 & odd == 0;
        is_plain.then_some(PlainKept {
            kept: self,
            identity,
        })
    }

    fn ordinal(&self, start: Start) -> u64 {
        start.ordinal + u64::from(self.after_records)
    }

    fn ip_id(&self) -> Option<u16> {
        self.bits.has(Bits::IP_ID).then_some(self.ip_id)
    }

    fn timestamps(&self) -> Option<Timestamps> {
        self.bits.has(Bits::TIMESTAMPS).then_some(Timestamps {
            value: self.timestamp,
            echo: self.timestamp_echo,
        })
    }

    pub(super) fn at(&self, start: Start) -> CaptureTime {
        let after_ns = i64::from(self.after_ns_high) << 32 | i64::from(self.after_ns_low);
        start.at.plus_ns(after_ns)
    }

    pub(super) fn dir(&self) -> Direction {
        if self.bits.has(Bits::REVERSE) {
            Direction::Reverse
        } else {
            Direction::Forward
        }
    }

    /// The same in the other direction.
    pub(super) fn reversed(mut self) -> Self {
        self.bits.0 ^= 1 << Bits::REVERSE;
        self
    }

    pub(super) fn flags(&self) -> TcpFlags {
        self.bits.flags()
    }

    /// Of its connection no more is kept than has to be.
    pub(super) fn give_up(&mut self) {
        self.bits.0 |= 1 << Bits::GAVE_UP;
    }

    /// Whether that was said.
    pub(super) fn gave_up(&self) -> bool {
        self.bits.has(Bits::GAVE_UP)
    }

    pub(super) fn payload_len(&self) -> u32 {
        u32::from(self.payload_len)
    }
}

/// A plain segment that was kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainKept<'a> {
    kept: &'a Kept,
    identity: &'a ConnectionIdentity,
}

impl Plain for PlainKept<'_> {
    #[inline]
    fn at(self) -> CaptureTime {
        self.kept.at(self.identity.start())
    }
    #[inline]
    fn ordinal(self) -> u64 {
        self.kept.ordinal(self.identity.start())
    }
    #[inline]
    fn seq(self) -> Seq {
        Seq(self.kept.seq)
    }
    #[inline]
    fn ack(self) -> Seq {
        Seq(self.kept.ack)
    }
    #[inline]
    fn flags(self) -> TcpFlags {
        self.kept.flags()
    }
    #[inline]
    fn window(self) -> u16 {
        self.kept.window
    }
    #[inline]
    fn payload_len(self) -> u32 {
        self.kept.payload_len()
    }
    #[inline]
    fn ip_len(self) -> u32 {
        self.kept.ip_len.into()
    }
    #[inline]
    fn ip_id(self) -> Option<u16> {
        self.kept.ip_id()
    }
    #[inline]
    fn ecn(self) -> Ecn {
        self.kept.bits.ecn()
    }
    #[inline]
    fn timestamps(self) -> Option<Timestamps> {
        self.kept.timestamps()
    }
    #[inline]
    fn reports(self) -> bool {
        false
    }
    #[inline]
    fn sack<'s>(self) -> &'s [SackBlock]
    where
        Self: 's,
    {
        &[]
    }
    fn segment(self) -> Segment {
        let ends = self.identity.ends(self.kept.dir());
        self.kept.segment(ends, self.identity.start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A segment with whatever fields a usual one can have, of a connection that began at `start`.
    fn usual(start: Start) -> impl Strategy<Value = Segment> {
        let option = || proptest::option::of(any::<(u32, u32)>());
        let since = (-(1_i64 << 47)..1 << 47, any::<u32>());
        let numbers = any::<(u32, u32, u16, u8, u16)>();
        let lens = any::<(u16, u16)>();
        let flags = (0..1_u16 << 12, any::<[bool; 5]>());
        (since, numbers, lens, (option(), option(), option()), flags).prop_map(
            move |(
                (after_ns, after_records),
                (seq, ack, window, ecn, mss),
                (ip_len, payload_len),
                (timestamps, ip_id, scale),
                (
                    flags,
                    [
                        sack_permitted,
                        multipath,
                        ttl_above_64,
                        length_from_frame,
                        header_cut,
                    ],
                ),
            )| Segment {
                at: start.at.plus_ns(after_ns),
                ordinal: start.ordinal + u64::from(after_records),
                seq: Seq(seq),
                ack: Seq(ack),
                flags: TcpFlags(flags),
                window,
                payload_len: u32::from(payload_len),
                ip_len: u32::from(ip_len),
                ip_id: ip_id.map(|(id, _)| id as u16),
                ecn: Ecn::from_bits(ecn),
                timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                syn: SynOptions {
                    mss: NonZeroU16::new(mss),
                    window_scale: scale.map(|(shift, _)| shift as u8),
                    sack_permitted,
                    multipath,
                    ttl_above_64,
                },
                length_from_frame,
                header_cut,
                ..Segment::empty(
                    Endpoint::v4([10, 0, 0, 1], 1),
                    Endpoint::v4([10, 0, 0, 2], 2),
                )
            },
        )
    }

    const START: Start = Start {
        at: CaptureTime::from_ns(1_700_000_000_000_000_000),
        ordinal: 12_345_678_901,
    };

    proptest! {
        #[test]
        fn what_is_kept_is_the_segment(segment in usual(START), reverse in any::<bool>()) {
            let dir = if reverse { Direction::Reverse } else { Direction::Forward };
            let kept = Kept::of(dir, &segment, START).unwrap();
            let again = kept.segment((segment.src, segment.dst), START);
            prop_assert_eq!(format!("{again:?}"), format!("{segment:?}"));
            prop_assert_eq!((kept.dir(), kept.at(START)), (dir, segment.at));
            if let Some(usual) = Usual::of(&segment) {
                let again = Kept::of_usual(dir, &usual, segment.ordinal, START);
                prop_assert_eq!(format!("{again:?}"), format!("{:?}", Some(kept)));
            }
        }
    }

    #[test]
    fn what_usual_segments_have_fits() {
        let ends = (
            Endpoint::v4([10, 0, 0, 1], 1),
            Endpoint::v4([10, 0, 0, 2], 2),
        );
        let first = Segment::empty(ends.0, ends.1);
        let start = Start::of(&first);
        let usual = Segment {
            at: first.at.plus_ns(86_400_000_000_000),
            ordinal: u64::from(u32::MAX),
            flags: TcpFlags(0xfff),
            payload_len: 65_483,
            ip_len: 65_535,
            syn: SynOptions {
                window_scale: Some(14),
                ..SynOptions::default()
            },
            ..first
        };
        assert!(Kept::of(Direction::Reverse, &usual, start).is_some());
        let early = Segment {
            at: first.at.plus_ns(-86_400_000_000_000),
            ..usual
        };
        assert!(Kept::of(Direction::Forward, &early, start).is_some());
        let unusual = [
            Segment {
                ip_packets: 2,
                ..usual
            },
            Segment {
                ip_len: 65_536,
                ..usual
            },
            Segment {
                flags: TcpFlags(0x1000),
                ..usual
            },
            Segment {
                at: CaptureTime::MAX,
                ..usual
            },
            Segment {
                ordinal: 1 << 32,
                ..usual
            },
        ];
        for segment in unusual {
            assert!(
                Kept::of(Direction::Forward, &segment, start).is_none(),
                "{segment:?}"
            );
        }
    }
}
