//! The stream of one flow over time: what a time-sequence graph draws, in bounded memory.

use crate::event::{Amendment, Class, DataArrival, LossPlace, Reason, StreamPart, Verdict};
use crate::time::CaptureTime;

/// Slots kept of one flow; one more doubles their length. More than a chart has pixels, and
/// 112 KiB at most.
pub(super) const SLOTS_MAX: usize = 2048;

/// Anomalies, and again parts of holes and SACK, kept one by one; one more merges those of the
/// same kind and time slot. 64 KiB each at most.
pub(super) const MARKS_MAX: usize = 2048;

/// The length of the first slots as a power of two: about a microsecond, so that in a short flow
/// every packet has a slot of its own.
const FIRST_SHIFT: u32 = 10;

// But where eight bytes need not lie at a multiple of eight, as on 32 bits.
const _: () = assert!(align_of::<i64>() < 8 || size_of::<Slot>() == 56 && size_of::<Mark>() == 32);

/// Offsets reached within one slot: from the lowest to the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reach {
    /// The lowest stream offset.
    pub min: i64,
    /// The highest.
    pub max: i64,
}

/// One stretch of time of a flow. Within a slot only extremes are known; of the cumulative ACK
/// the lowest is also the first, and the highest the last.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    number: i64,
    data: PackedReach,
    ack: PackedReach,
    window: PackedReach,
}

impl Slot {
    /// First transmissions: from the first byte to the one after the last.
    #[must_use]
    pub fn data(&self) -> Option<Reach> {
        self.data.get()
    }

    /// The cumulative ACK.
    #[must_use]
    pub fn ack(&self) -> Option<Reach> {
        self.ack.get()
    }

    /// The end of the advertised window.
    #[must_use]
    pub fn window(&self) -> Option<Reach> {
        self.window.get()
    }
}

/// A [`Reach`] in 16 bytes, or none. Lengths saturate at 4 GiB: only a slot in which more than
/// that passed shows less.
#[derive(Clone, Copy, Debug, Default)]
struct PackedReach {
    min: i64,
    len: u32,
    seen: bool,
}

impl PackedReach {
    fn get(self) -> Option<Reach> {
        self.seen.then(|| Reach {
            min: self.min,
            max: self.min + i64::from(self.len),
        })
    }

    #[inline]
    fn include(&mut self, min: i64, max: i64) {
        let (min, max) = match self.get() {
            Some(reach) => (min.min(reach.min), max.max(reach.max)),
            None => (min, max),
        };
        *self = Self {
            min,
            len: u32::try_from(max - min).unwrap_or(u32::MAX),
            seen: true,
        };
    }

    fn merge(&mut self, other: Self) {
        if let Some(reach) = other.get() {
            self.include(reach.min, reach.max);
        }
    }
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MarkKind {
    /// A retransmission for a copy lost between sender and vantage point.
    LostUpstream,
    /// A retransmission for a copy lost between vantage point and receiver.
    LostDownstream,
    /// A retransmission of what the receiver had already.
    Unneeded,
    /// A late original.
    Reordered,
    /// A copy made by the network or the capture, or an anomaly that nothing decides.
    Undecided,
    /// Bytes skipped by the segment above them.
    Hole,
    /// Bytes reported by SACK for the first time.
    Sacked,
}

impl MarkKind {
    /// The kind of a judgement; `None` for data in its place, keep-alives and window probes.
    fn of(verdict: Verdict) -> Option<Self> {
        match (verdict.class, verdict.lost, verdict.reason) {
            (Class::New | Class::KeepAlive | Class::WindowProbe, ..) => None,
            (Class::Retransmission, Some(LossPlace::Upstream), _) => Some(Self::LostUpstream),
            (Class::Retransmission, Some(LossPlace::Downstream), _) => Some(Self::LostDownstream),
            (Class::Retransmission, None, Some(Reason::Unneeded)) => Some(Self::Unneeded),
            (Class::Reordered, ..) => Some(Self::Reordered),
            (Class::Retransmission | Class::Duplicate | Class::Ambiguous, ..) => {
                Some(Self::Undecided)
            }
        }
    }
}

/// Something out of the ordinary at one instant; or, after merging, several of a kind within a
/// short time: the first instant, the lowest and the highest offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// When it passed.
    pub at: CaptureTime,
    /// Stream offset of its first byte.
    pub start: i64,
    /// Stream offset after its last byte.
    pub end: i64,
    /// How many it stands for; the largest value means that many or more.
    pub count: u16,
    /// What it is.
    pub kind: MarkKind,
}

/// Marks in the order they came, merged by time when there are too many.
#[derive(Clone, Debug, Default)]
struct Marks {
    entries: Vec<Mark>,
    shift: u32,
    /// Marks whose offsets are farther apart than this are not merged, in bytes: a line between
    /// them would claim what was not there.
    slack: i64,
}

impl Marks {
    fn push(&mut self, mark: Mark, origin: CaptureTime) {
        if self.entries.len() >= MARKS_MAX {
            self.shift = self.shift.max(FIRST_SHIFT);
            let low = self
                .entries
                .iter()
                .map(|mark| mark.start)
                .min()
                .unwrap_or(0);
            let high = self.entries.iter().map(|mark| mark.end).max().unwrap_or(0);
            // At most as many marks of a kind in one slot, so that merging comes to an end.
            self.slack = (high - low) / 128;
            while self.entries.len() > MARKS_MAX / 2 && self.shift < i64::BITS - 1 {
                self.shift += 1;
                self.thin(origin);
            }
        }
        if self.shift == 0 || !self.join(&mark, origin, self.entries.len()) {
            self.entries.push(mark);
        }
    }

    /// Merges what shares kind and slot, in place.
    fn thin(&mut self, origin: CaptureTime) {
        let mut kept = 0;
        for index in 0..self.entries.len() {
            let mark = self.entries[index];
            if !self.join(&mark, origin, kept) {
                self.entries[kept] = mark;
                kept += 1;
            }
        }
        self.entries.truncate(kept);
    }

    /// Adds `mark` to one of its kind and slot among the first `len`, if there is one.
    fn join(&mut self, mark: &Mark, origin: CaptureTime, len: usize) -> bool {
        let (shift, slack) = (self.shift, self.slack);
        let near = |other: &Mark| {
            mark.start <= other.end.saturating_add(slack)
                && other.start <= mark.end.saturating_add(slack)
        };
        let slot = |mark: &Mark| mark.at.since(origin) >> shift;
        let number = slot(mark);
        let mut recent = self.entries[..len]
            .iter_mut()
            .rev()
            .take_while(|other| slot(other) == number);
        let Some(other) = recent.find(|other| other.kind == mark.kind && near(other)) else {
            return false;
        };
        other.start = other.start.min(mark.start);
        other.end = other.end.max(mark.end);
        other.count = other.count.saturating_add(mark.count);
        true
    }
}

/// One flow's data, cumulative ACKs, window, holes, SACK blocks and anomalies over time.
///
/// Memory is bounded whatever the flow's length: time is cut into slots of which only the
/// extremes are kept, and whenever there are 2,048 of them, two become one. Anomalies are
/// kept one by one up to as many, then merged the same way, never dropped. A short flow
/// takes as much as it has packets.
#[derive(Clone, Debug)]
pub struct TimeSequence {
    origin: CaptureTime,
    shift: u32,
    slots: Vec<Slot>,
    anomalies: Marks,
    parts: Marks,
}

impl TimeSequence {
    /// Nothing yet; slots are counted from `origin`.
    #[must_use]
    pub fn new(origin: CaptureTime) -> Self {
        Self {
            origin,
            shift: FIRST_SHIFT,
            slots: Vec::new(),
            anomalies: Marks::default(),
            parts: Marks::default(),
        }
    }

    /// The slots in which anything happened, in order of time, with the middle of each.
    pub fn slots(&self) -> impl Iterator<Item = (CaptureTime, &Slot)> {
        self.slots.iter().map(|slot| {
            (
                self.origin
                    .plus_ns((slot.number << self.shift) + self.slot_ns() / 2),
                slot,
            )
        })
    }

    /// Length of a slot, in ns.
    #[must_use]
    pub fn slot_ns(&self) -> i64 {
        1 << self.shift
    }

    /// Retransmissions, late originals, copies, and what nothing decides.
    #[must_use]
    pub fn anomalies(&self) -> &[Mark] {
        &self.anomalies.entries
    }

    /// Holes and parts reported by SACK.
    #[must_use]
    pub fn parts(&self) -> &[Mark] {
        &self.parts.entries
    }

    /// A data segment passed.
    #[inline]
    pub fn on_data(&mut self, data: &DataArrival) {
        let end = data.offset + i64::from(data.payload_len);
        self.on_range(data.at, (data.offset, end), data.verdict);
    }

    // Apart: kept of some flows only, and asked for with every packet.
    #[inline(never)]
    fn on_range(&mut self, at: CaptureTime, (start, end): (i64, i64), verdict: Verdict) {
        match MarkKind::of(verdict) {
            None => self.slot(at).data.include(start, end),
            Some(kind) => {
                let mark = Mark {
                    at,
                    start,
                    end,
                    count: 1,
                    kind,
                };
                self.anomalies.push(mark, self.origin);
            }
        }
    }

    /// The cumulative ACK reached `ack`.
    #[inline(never)]
    pub fn on_ack(&mut self, at: CaptureTime, ack: i64) {
        self.slot(at).ack.include(ack, ack);
    }

    /// The advertised window reached up to `end`.
    #[inline(never)]
    pub(crate) fn on_window(&mut self, at: CaptureTime, end: i64) {
        self.slot(at).window.include(end, end);
    }

    /// Bytes were skipped, or reported by SACK.
    pub(crate) fn on_part(&mut self, part: &StreamPart, kind: MarkKind) {
        let mark = Mark {
            at: part.at,
            start: part.start,
            end: part.end,
            count: 1,
            kind,
        };
        self.parts.push(mark, self.origin);
    }

    /// A judgement was changed. A mark that was merged with others keeps the first one.
    pub(crate) fn on_amendment(&mut self, amendment: &Amendment) {
        let Some(was) = MarkKind::of(amendment.was) else {
            return;
        };
        let entries = &mut self.anomalies.entries;
        let found = entries
            .iter()
            .enumerate()
            .rev()
            .take_while(|(_, mark)| mark.at >= amendment.sent_at)
            .find(|(_, mark)| mark.at == amendment.sent_at && mark.kind == was && mark.count == 1);
        let Some((index, _)) = found else {
            return;
        };
        match MarkKind::of(amendment.now) {
            Some(now) => entries[index].kind = now,
            None => {
                entries.remove(index);
            }
        }
    }

    /// The slot of the instant `at`; the last one, where the clock stepped back.
    #[inline]
    fn slot(&mut self, at: CaptureTime) -> &mut Slot {
        let mut number = at.since(self.origin) >> self.shift;
        if self.slots.last().is_none_or(|last| number > last.number) {
            while self.slots.len() >= SLOTS_MAX {
                self.thin();
                number = at.since(self.origin) >> self.shift;
            }
            if self.slots.last().is_none_or(|last| number > last.number) {
                let none = PackedReach::default();
                self.slots.push(Slot {
                    number,
                    data: none,
                    ack: none,
                    window: none,
                });
            }
        }
        let last = self.slots.len() - 1;
        &mut self.slots[last]
    }

    /// Two slots become one.
    #[cold]
    fn thin(&mut self) {
        self.shift += 1;
        if let Some(first) = self.slots.first_mut() {
            first.number >>= 1;
        }
        self.slots.dedup_by(|next, kept| {
            // `kept` has its new number already, `next` not yet.
            let same = next.number >> 1 == kept.number;
            if same {
                kept.data.merge(next.data);
                kept.ack.merge(next.ack);
                kept.window.merge(next.window);
            } else {
                next.number >>= 1;
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Confidence, Evidence};
    use proptest::prelude::*;

    fn data(at_ns: i64, offset: i64, verdict: Verdict) -> DataArrival {
        DataArrival {
            ordinal: 0,
            at: CaptureTime::from_ns(at_ns),
            offset,
            payload_len: 100,
            unique_len: 100,
            repeated_len: 0,
            in_flight_bytes: None,
            verdict,
            extent: None,
        }
    }

    fn lost(place: LossPlace) -> Verdict {
        let verdict = Verdict::of(
            Class::Retransmission,
            Evidence::SeenBefore,
            Confidence::High,
        );
        Verdict {
            reason: Some(Reason::Fast),
            lost: Some(place),
            ..verdict
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Against keeping everything, the slow and obvious twin.
        #[test]
        fn thinning_keeps_the_extremes_of_every_slot(
            steps in proptest::collection::vec((0_i64..5_000_000, 1_i64..3000), 1..6000),
        ) {
            let mut sequence = TimeSequence::new(CaptureTime::from_ns(0));
            let (mut at, mut offset) = (0, 0);
            let mut all = Vec::new();
            for (ns, bytes) in steps {
                at += ns;
                offset += bytes;
                sequence.on_data(&data(at, offset, Verdict::NEW));
                sequence.on_ack(CaptureTime::from_ns(at), offset - 50);
                all.push((at, offset));
            }
            prop_assert!(sequence.slots().count() <= SLOTS_MAX);
            let slot_ns = sequence.slot_ns();
            let mut seen = 0;
            for (middle, slot) in sequence.slots() {
                let start = middle.as_ns() - slot_ns / 2;
                let inside: Vec<i64> =
                    all.iter().filter(|&&(at, _)| (start..start + slot_ns).contains(&at)).map(|&(_, offset)| offset).collect();
                seen += inside.len();
                let (min, max) = (inside[0], inside[inside.len() - 1]);
                prop_assert_eq!(slot.data(), Some(Reach { min, max: max + 100 }));
                prop_assert_eq!(slot.ack(), Some(Reach { min: min - 50, max: max - 50 }));
            }
            prop_assert_eq!(seen, all.len());
        }
    }

    #[test]
    fn a_short_flow_keeps_every_packet() {
        let mut sequence = TimeSequence::new(CaptureTime::from_ns(0));
        for packet in 0..1000 {
            sequence.on_data(&data(packet * 2000, packet * 100, Verdict::NEW));
        }
        assert_eq!(sequence.slots().count(), 1000);
    }

    #[test]
    fn too_many_anomalies_are_merged_by_kind_and_none_is_dropped() {
        let mut sequence = TimeSequence::new(CaptureTime::from_ns(0));
        for packet in 0..50_000 {
            let place = if packet % 3 == 0 {
                LossPlace::Upstream
            } else {
                LossPlace::Downstream
            };
            sequence.on_data(&data(packet * 10_000, packet * 100, lost(place)));
        }
        let marks = sequence.anomalies();
        assert!(marks.len() <= MARKS_MAX, "{}", marks.len());
        let count = |kind| -> u64 {
            marks
                .iter()
                .filter(|mark| mark.kind == kind)
                .map(|mark| u64::from(mark.count))
                .sum()
        };
        assert_eq!(
            (
                count(MarkKind::LostUpstream),
                count(MarkKind::LostDownstream)
            ),
            (16_667, 33_333)
        );
        assert_eq!(
            marks.iter().map(|mark| mark.end).max(),
            Some(49_999 * 100 + 100)
        );
    }

    #[test]
    fn a_retransmission_that_turns_out_unneeded_changes_its_mark() {
        let mut sequence = TimeSequence::new(CaptureTime::from_ns(0));
        let was = lost(LossPlace::Downstream);
        sequence.on_data(&data(5, 0, was));
        sequence.on_data(&data(9, 100, was));
        let now = Verdict {
            reason: Some(Reason::Unneeded),
            lost: None,
            ..was
        };
        let amendment = Amendment {
            ordinal: None,
            sent_at: CaptureTime::from_ns(5),
            offset: 0,
            payload_len: 100,
            was,
            now,
        };
        sequence.on_amendment(&amendment);
        let kinds: Vec<MarkKind> = sequence.anomalies().iter().map(|mark| mark.kind).collect();
        assert_eq!(kinds, [MarkKind::Unneeded, MarkKind::LostDownstream]);
    }

    #[test]
    fn a_clock_that_steps_back_widens_the_last_slot() {
        let mut sequence = TimeSequence::new(CaptureTime::from_ns(0));
        sequence.on_data(&data(1_000_000, 0, Verdict::NEW));
        sequence.on_data(&data(10, 100, Verdict::NEW));
        let slots: Vec<Option<Reach>> = sequence.slots().map(|(_, slot)| slot.data()).collect();
        assert_eq!(slots, [Some(Reach { min: 0, max: 200 })]);
    }
}
