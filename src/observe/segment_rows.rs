//! The rows of `--segments` of one flow, kept small: each as what it differs in from the one before.

use crate::event::{ClassifiedSegment, RttLabel, Verdict};
use crate::packing::{put_signed, take, take_signed};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// The data segments of one flow, in the order they passed: some 10 bytes each instead of 72.
///
/// A class may become final as late as the connection's end, and tables have their rows in capture
/// order, so all rows of a capture wait in memory for its end.
#[derive(Clone, Debug, Default)]
pub struct SegmentRows(Option<Box<Held>>);

/// Most flows have none: these are only wanted for `--segments`. Where they are, most have a few.
#[derive(Clone, Debug)]
struct Held {
    rows: usize,
    /// What rows say besides their positions, and behind that these.
    bytes: Box<[u8]>,
    /// Where the positions begin.
    ordinals_at: usize,
    verdicts: Box<[Verdict]>,
}

/// The rows of a flow that goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveRows(Option<Box<Growing>>);

#[derive(Clone, Debug)]
struct Growing {
    rows: usize,
    /// Positions in the capture, apart from the rest: rows of several flows are put in order by
    /// these alone.
    ordinals: Vec<u8>,
    last_ordinal: u64,
    rest: Vec<u8>,
    last: Last,
    /// Each verdict that is not [`Verdict::NEW`], once.
    verdicts: Vec<Verdict>,
}

/// What the next row is told from.
#[derive(Clone, Copy, Debug)]
struct Last {
    at_ns: i64,
    /// Offset behind the last byte.
    end: i64,
    payload_len: u32,
    rtt_ns: i64,
    in_flight_bytes: u64,
    /// Sequence number of offset 0.
    base: u32,
}

impl Last {
    /// What the first row is told from.
    const START: Self = Self {
        at_ns: 0,
        end: 0,
        payload_len: 0,
        rtt_ns: 0,
        in_flight_bytes: 0,
        base: 0,
    };
}

/// A row's first two bytes: what follows them, in this order, and the label of its RTT sample.
mod mark {
    /// It does not begin where the one before ended, or its sequence number is not that of its
    /// offset: by how much, and which.
    pub(super) const PLACE: u16 = 1;
    /// Its length is another than that of the one before.
    pub(super) const LENGTH: u16 = 1 << 1;
    /// It is not new: place of its verdict.
    pub(super) const VERDICT: u16 = 1 << 2;
    /// The bytes in flight are known.
    pub(super) const IN_FLIGHT: u16 = 1 << 3;
    /// The label counted from 1, where there is a sample.
    pub(super) const LABEL_SHIFT: u32 = 4;
    /// Bytes, less one, of the change in time, of that in flight, and of that in round-trip time.
    pub(super) const TIME_SHIFT: u32 = 7;
    pub(super) const IN_FLIGHT_SHIFT: u32 = 10;
    pub(super) const RTT_SHIFT: u32 = 13;
}

impl LiveRows {
    /// Adds the next one.
    #[inline]
    pub(super) fn push(&mut self, segment: &ClassifiedSegment) {
        self.0
            .get_or_insert_with(|| {
                Box::new(Growing {
                    rows: 0,
                    ordinals: Vec::new(),
                    last_ordinal: 0,
                    rest: Vec::new(),
                    last: Last::START,
                    verdicts: Vec::new(),
                })
            })
            .push(segment);
    }

    /// Memory that they hold besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |growing| {
            size_of::<Growing>()
                + growing.ordinals.capacity()
                + growing.rest.capacity()
                + growing.verdicts.capacity() * size_of::<Verdict>()
        })
    }

    /// All of them: the flow has ended.
    pub(super) fn end(&mut self) -> SegmentRows {
        SegmentRows(self.0.take().map(|growing| {
            let Growing {
                rows,
                mut ordinals,
                rest: mut bytes,
                verdicts,
                ..
            } = *growing;
            let ordinals_at = bytes.len();
            // Of a large flow the rest is gigabytes: it stays where it is, or grows by the little that comes behind it.
            bytes.append(&mut ordinals);
            drop(ordinals);
            Box::new(Held {
                rows,
                bytes: bytes.into(),
                ordinals_at,
                verdicts: verdicts.into(),
            })
        }))
    }
}

impl SegmentRows {
    /// Those of a flow of which none are kept.
    pub(super) const NONE: Self = Self(None);

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |held| held.rows)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// All of them.
    #[must_use]
    pub fn iter(&self) -> SegmentIter<'_> {
        SegmentIter {
            ordinals: self.ordinals(),
            rest: self.rest(),
        }
    }

    /// Their positions in the capture.
    #[must_use]
    pub fn ordinals(&self) -> Ordinals<'_> {
        let bytes = self.0.as_ref().map(|held| &held.bytes[held.ordinals_at..]);
        let mut ordinals = Ordinals {
            bytes: bytes.unwrap_or_default(),
            next: Some(0),
        };
        ordinals.advance();
        ordinals
    }

    /// What there is besides their positions.
    #[must_use]
    pub fn rest(&self) -> Rest<'_> {
        let held = self.0.as_ref();
        Rest {
            bytes: held.map_or(&[], |held| &held.bytes[..held.ordinals_at]),
            last: Last::START,
            verdicts: held.map_or(&[], |held| &held.verdicts),
        }
    }

    /// Memory that they hold besides this, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |held| {
            size_of::<Held>() + held.bytes.len() + size_of_val(&*held.verdicts)
        })
    }
}

impl<'a> IntoIterator for &'a SegmentRows {
    type Item = ClassifiedSegment;
    type IntoIter = SegmentIter<'a>;

    fn into_iter(self) -> SegmentIter<'a> {
        self.iter()
    }
}

impl Growing {
    fn push(&mut self, segment: &ClassifiedSegment) {
        let step = segment.ordinal.wrapping_sub(self.last_ordinal);
        put_step(&mut self.ordinals, step);
        self.last_ordinal = segment.ordinal;
        self.rows += 1;

        let last = &mut self.last;
        let at_ns = segment.at.as_ns();
        let base = segment.seq.0.wrapping_sub(segment.offset as u32);
        let mut row = Row::default();
        let mut marks = row.put(at_ns.wrapping_sub(last.at_ns)) << mark::TIME_SHIFT;
        last.at_ns = at_ns;
        if let Some(bytes) = segment.in_flight_bytes {
            let change = bytes.wrapping_sub(last.in_flight_bytes) as i64;
            marks |= mark::IN_FLIGHT | row.put(change) << mark::IN_FLIGHT_SHIFT;
            last.in_flight_bytes = bytes;
        }
        if let Some((ns, label)) = segment.rtt {
            marks |= (label as u16 + 1) << mark::LABEL_SHIFT;
            marks |= row.put(ns.wrapping_sub(last.rtt_ns)) << mark::RTT_SHIFT;
            last.rtt_ns = ns;
        }
        let out = &mut self.rest;
        if segment.payload_len != last.payload_len
            || segment.offset != last.end
            || base != last.base
            || segment.verdict != Verdict::NEW
        {
            marks |= row.put_rare(segment, base, last, &mut self.verdicts);
        }
        last.end = segment.offset.wrapping_add(i64::from(segment.payload_len));
        row.bytes[..2].copy_from_slice(&marks.to_le_bytes());
        out.extend_from_slice(&row.bytes[..row.len]);
    }
}

/// One row in the making.
struct Row {
    bytes: [u8; ROW_BYTES_MAX],
    len: usize,
}

/// Marks, six numbers of eight bytes at most, and what is written behind the last of them.
const ROW_BYTES_MAX: usize = 64;

impl Default for Row {
    fn default() -> Self {
        Self {
            bytes: [0; ROW_BYTES_MAX],
            len: 2,
        }
    }
}

impl Row {
    /// Adds a number in as few bytes as it takes; how many, less one.
    #[inline]
    fn put(&mut self, value: i64) -> u16 {
        put_signed(&mut self.bytes, &mut self.len, value) as u16 - 1
    }

    /// Adds a number in so many bytes, 8 at most.
    fn put_whole(&mut self, value: u64, bytes: usize) {
        self.bytes[self.len..self.len + 8].copy_from_slice(&value.to_le_bytes());
        self.len += bytes;
    }

    /// Adds what is usually as in the row before.
    #[cold]
    fn put_rare(
        &mut self,
        segment: &ClassifiedSegment,
        base: u32,
        last: &mut Last,
        verdicts: &mut Vec<Verdict>,
    ) -> u16 {
        let mut marks = 0;
        if segment.offset != last.end || base != last.base {
            marks |= mark::PLACE;
            self.put_whole(segment.offset.wrapping_sub(last.end) as u64, 8);
            self.put_whole(base.into(), 4);
            last.base = base;
        }
        if segment.payload_len != last.payload_len {
            marks |= mark::LENGTH;
            self.put_whole(segment.payload_len.into(), 4);
            last.payload_len = segment.payload_len;
        }
        if segment.verdict != Verdict::NEW {
            marks |= mark::VERDICT;
            let place = verdicts
                .iter()
                .position(|known| *known == segment.verdict)
                .unwrap_or_else(|| {
                    verdicts.push(segment.verdict);
                    verdicts.len() - 1
                });
            // There are fewer combinations than two bytes tell.
            self.put_whole(place as u64, 2);
        }
        marks
    }
}

/// The segments of one flow, one after the other.
#[derive(Clone, Debug)]
pub struct SegmentIter<'a> {
    ordinals: Ordinals<'a>,
    rest: Rest<'a>,
}

impl Iterator for SegmentIter<'_> {
    type Item = ClassifiedSegment;

    fn next(&mut self) -> Option<ClassifiedSegment> {
        self.ordinals.next().map(|ordinal| self.rest.next(ordinal))
    }
}

/// The positions of one flow's segments in the capture.
#[derive(Clone, Debug)]
pub struct Ordinals<'a> {
    bytes: &'a [u8],
    next: Option<u64>,
}

impl Ordinals<'_> {
    /// The next one, which stays the next one.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<u64> {
        self.next
    }

    #[inline]
    fn advance(&mut self) {
        self.next = if self.bytes.is_empty() {
            None
        } else {
            let step = take_step(&mut self.bytes);
            self.next.map(|last| last.wrapping_add(step))
        };
    }
}

impl Iterator for Ordinals<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let next = self.next;
        self.advance();
        next
    }
}

/// The segments of one flow without their positions.
#[derive(Clone, Debug)]
pub struct Rest<'a> {
    bytes: &'a [u8],
    last: Last,
    verdicts: &'a [Verdict],
}

impl Rest<'_> {
    /// The next segment, whose position is that of the same place among [`SegmentRows::ordinals`].
    // Called in one place that matters, where what it gives then needs no place in memory.
    #[inline(always)]
    pub fn next(&mut self, ordinal: u64) -> ClassifiedSegment {
        let (bytes, last) = (&mut self.bytes, &mut self.last);
        let marks = take(bytes, 2) as u16;
        let len = |shift: u32| usize::from(marks >> shift & 7) + 1;
        last.at_ns = last
            .at_ns
            .wrapping_add(take_signed(bytes, len(mark::TIME_SHIFT)));
        let in_flight_bytes = (marks & mark::IN_FLIGHT != 0).then(|| {
            let change = take_signed(bytes, len(mark::IN_FLIGHT_SHIFT));
            last.in_flight_bytes = last.in_flight_bytes.wrapping_add(change as u64);
            last.in_flight_bytes
        });
        let label = usize::from(marks >> mark::LABEL_SHIFT & 7).checked_sub(1);
        let rtt = label
            .and_then(|label| RttLabel::ALL.get(label))
            .map(|&label| {
                let change = take_signed(bytes, len(mark::RTT_SHIFT));
                last.rtt_ns = last.rtt_ns.wrapping_add(change);
                (last.rtt_ns, label)
            });
        let mut offset = last.end;
        if marks & mark::PLACE != 0 {
            offset = offset.wrapping_add(take(bytes, 8) as i64);
            last.base = take(bytes, 4) as u32;
        }
        if marks & mark::LENGTH != 0 {
            last.payload_len = take(bytes, 4) as u32;
        }
        last.end = offset.wrapping_add(i64::from(last.payload_len));
        let verdict = if marks & mark::VERDICT == 0 {
            Verdict::NEW
        } else {
            let verdict = self.verdicts.get(take(bytes, 2) as usize);
            verdict.copied().unwrap_or(Verdict::NEW)
        };
        ClassifiedSegment {
            ordinal,
            at: CaptureTime::from_ns(last.at_ns),
            seq: Seq(last.base.wrapping_add(offset as u32)),
            offset,
            payload_len: last.payload_len,
            verdict,
            rtt,
            in_flight_bytes,
        }
    }
}

/// Seven bits a byte, lowest first; the eighth says that more follow (LEB128).
#[inline]
fn put_step(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn take_step(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    while let Some(&byte) = bytes.split_off_first() {
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 63 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::{Class, Confidence, Evidence, LossPlace, Reason};

    /// Any number of any size: small ones, large ones, and those at the ends of their types.
    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0_u32..64).prop_map(|(value, shift)| value >> shift)
    }

    fn verdict() -> impl Strategy<Value = Verdict> {
        let rare = Verdict {
            class: Class::Retransmission,
            reason: Some(Reason::Fast),
            lost: Some(LossPlace::Upstream),
            evidence: Evidence::Sack,
            confidence: Confidence::Medium,
        };
        let late = Verdict::of(Class::Reordered, Evidence::IpId, Confidence::High);
        prop_oneof![5 => Just(Verdict::NEW), 1 => Just(rare), 1 => Just(late)]
    }

    fn segment() -> impl Strategy<Value = ClassifiedSegment> {
        let rtt = proptest::option::of((number(), 0_usize..RttLabel::ALL.len()));
        (
            (number(), number(), any::<u32>(), number(), number()),
            verdict(),
            rtt,
            proptest::option::of(number()),
        )
            .prop_map(
                |((ordinal, at, seq, offset, len), verdict, rtt, in_flight_bytes)| {
                    ClassifiedSegment {
                        ordinal,
                        at: CaptureTime::from_ns(at as i64),
                        seq: Seq(seq),
                        offset: offset as i64,
                        payload_len: len as u32,
                        verdict,
                        rtt: rtt.map(|(ns, label)| (ns as i64, RttLabel::ALL[label])),
                        in_flight_bytes,
                    }
                },
            )
    }

    proptest! {
        /// Nothing is assumed of what comes after what: all that is put in comes out.
        #[test]
        fn what_is_put_in_comes_out(segments in proptest::collection::vec(segment(), 0..50)) {
            let mut live = LiveRows::default();
            for segment in &segments {
                live.push(segment);
            }
            let rows = live.end();
            prop_assert_eq!(rows.is_empty(), segments.is_empty());
            prop_assert_eq!(rows.len(), segments.len());
            let ordinals: Vec<u64> = segments.iter().map(|segment| segment.ordinal).collect();
            prop_assert_eq!(rows.ordinals().collect::<Vec<_>>(), ordinals);
            prop_assert_eq!(rows.iter().collect::<Vec<_>>(), segments);
        }
    }

    /// A download in order, a packet every 12 us, half of them timed: what rows mostly look like.
    #[test]
    fn a_usual_row_takes_ten_bytes() {
        const ROWS: u32 = 10_000;
        let mut live = LiveRows::default();
        for n in 0..ROWS {
            live.push(&ClassifiedSegment {
                ordinal: u64::from(n) * 3,
                at: CaptureTime::from_ns(i64::from(n) * 12_000 + i64::from(n % 7) * 100),
                seq: Seq(77_u32.wrapping_add(n * 1448)),
                offset: i64::from(n) * 1448,
                payload_len: 1448,
                verdict: Verdict::NEW,
                rtt: (n % 2 == 0).then(|| (20_000_000 + i64::from(n % 11) * 9000, RttLabel::Clean)),
                in_flight_bytes: Some(100_000 + u64::from(n % 5) * 1448),
            });
        }
        assert!(live.end().memory_bytes() <= 10 * ROWS as usize);
    }
}
