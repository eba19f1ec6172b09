//! How far apart data packets and ACKs of a flow are: what shows the link (METRICS.md R8).

use std::mem::take;

use thin_vec::ThinVec;

use crate::metric::Step;
use crate::packing::{put_all, take_many};
use crate::prefetch::prefetch_line;
use crate::time::CaptureTime;

/// Steps between the data packets of a flow, and between the ACKs for them: some of all, evenly
/// chosen.
#[derive(Clone, Debug, Default)]
pub struct Spacing {
    data: ThinVec<Step>,
    acks: ThinVec<Step>,
}

impl Spacing {
    /// From data packet to data packet.
    #[must_use]
    pub fn data(&self) -> &[Step] {
        &self.data
    }

    /// From ACK to ACK.
    #[must_use]
    pub fn acks(&self) -> &[Step] {
        &self.acks
    }

    /// Steps between data packets, then those between ACKs.
    pub(crate) fn into_steps(self) -> impl Iterator<Item = Step> {
        self.data.into_iter().chain(self.acks)
    }

    /// How many steps of either kind there are.
    pub(super) fn lens(&self) -> [u64; 2] {
        [self.data.len() as u64, self.acks.len() as u64]
    }

    /// Writes all steps behind `bytes`.
    pub(super) fn put(&self, bytes: &mut Vec<u8>) {
        for steps in [&self.data, &self.acks] {
            let numbers = steps.iter().flat_map(|step| [step.ns, step.bytes]);
            put_all(bytes, &numbers.map(u64::from).collect::<Vec<u64>>());
        }
    }

    /// So many steps of either kind, as [`put`](Self::put) wrote them.
    pub(super) fn take(bytes: &mut &[u8], lens: [u64; 2]) -> Self {
        let [data, acks] = lens.map(|len| {
            let numbers = take_many(bytes, 2 * len as usize);
            let steps = numbers.chunks_exact(2).map(|step| Step {
                ns: step[0] as u32,
                bytes: step[1] as u32,
            });
            steps.collect()
        });
        Self { data, acks }
    }
}

/// The steps of a flow that is alive.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveSpacing {
    data: Steps,
    acks: Steps,
}

impl LiveSpacing {
    /// A data packet passed. Only steps between two neighbours of one size, both new, count.
    #[inline]
    pub(super) fn on_data(&mut self, at: CaptureTime, payload_len: u32, is_new: bool) {
        let bytes = if is_new && payload_len >= DATA_MIN {
            payload_len
        } else {
            0
        };
        if self.data.last_bytes == bytes {
            self.data.add(at, bytes);
        } else {
            self.data.begin(at, bytes);
        }
    }

    /// When the last data packet passed; nothing of use before the first.
    pub(super) fn last_data_at(&self) -> CaptureTime {
        self.data.last_at
    }

    /// An ACK reported so many bytes more; 0 where that is not known, and then there is no step to it or from it.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, at: CaptureTime, bytes: u64) {
        // Nor is the next step kept, so that nothing of this ACK is needed. Where no step can begin with the one before,
        // it counts in the place of the last that is passed over, which then does not.
        if self.acks.skip > 1 && bytes > 0 {
            self.acks.skip -= 1;
            return;
        }
        let bytes = u32::try_from(bytes).unwrap_or(0);
        if self.acks.last_bytes > 0 {
            self.acks.add(at, bytes);
        }
        self.acks.begin(at, bytes);
    }

    /// Packets and ACKs come soon: begins to fetch what they will change.
    #[inline]
    pub(super) fn expect(&self) {
        self.data.expect();
        self.acks.expect();
    }

    /// The flow has ended.
    pub(super) fn take_spacing(&mut self) -> Spacing {
        Spacing {
            data: take(&mut self.data).kept,
            acks: take(&mut self.acks).kept,
        }
    }

    /// Memory that it holds besides itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.data.kept.capacity() + self.acks.kept.capacity()) * size_of::<Step>()
    }
}

/// Steps of one kind.
#[derive(Clone, Debug)]
struct Steps {
    last_at: CaptureTime,
    /// Bytes of the packet before; 0 where no step can begin.
    last_bytes: u32,
    /// Steps until the next that is kept.
    skip: u32,
    /// One in so many is kept.
    every: u32,
    /// How many are, which `kept` knows as well, but far away in memory.
    len: u32,
    kept: ThinVec<Step>,
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            last_at: CaptureTime::from_ns(0),
            last_bytes: 0,
            skip: FIRST,
            every: 1,
            len: 0,
            kept: ThinVec::new(),
        }
    }
}

impl Steps {
    #[inline]
    fn begin(&mut self, at: CaptureTime, bytes: u32) {
        self.last_at = at;
        self.last_bytes = bytes;
    }

    /// A step from the last packet to one of so many bytes.
    #[inline]
    fn add(&mut self, at: CaptureTime, bytes: u32) {
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.keep(at.since(self.last_at), bytes);
        }
        self.last_at = at;
    }

    /// Begins to fetch where the next step that is kept goes, and what says that there is room.
    #[inline]
    fn expect(&self) {
        /// How many there are and have room, which lies before the first.
        const BEFORE_BYTES: usize = 2 * size_of::<usize>();
        // Where the first is, the vector tells without looking there: what is looked up for a slice is not used.
        let first = self.kept.as_ptr();
        prefetch_line(first.cast::<u8>().wrapping_sub(BEFORE_BYTES));
        prefetch_line(first.wrapping_add(self.len as usize).cast());
    }

    #[inline(never)]
    fn keep(&mut self, ns: i64, bytes: u32) {
        // Longer ones, and those of clocks that step back, show no link.
        let (Ok(ns), 1..) = (u32::try_from(ns), bytes) else {
            return;
        };
        if self.len as usize == KEPT_MAX {
            // By an odd number, as packets often come in pairs.
            let every = THIN as usize;
            for place in 0..KEPT_MAX / every {
                self.kept[place] = self.kept[place * every];
            }
            self.kept.truncate(KEPT_MAX / every);
            self.len = (KEPT_MAX / every) as u32;
            self.every = self.every.saturating_mul(THIN);
        }
        self.kept.push(Step { ns, bytes });
        self.len += 1;
        debug_assert_eq!(self.len as usize, self.kept.len(), "both count the same");
        self.skip = self.every - 1;
    }
}

/// Payload from which on a packet takes a link long enough, in bytes.
const DATA_MIN: u32 = 500;
/// Steps that are not kept: most flows are short, and show nothing.
const FIRST: u32 = 8;
/// Steps kept of a kind.
const KEPT_MAX: usize = 384;
/// Beyond it, one of so many is kept.
const THIN: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(us: i64) -> CaptureTime {
        CaptureTime::from_ns(us * 1000)
    }

    fn steps() -> impl Strategy<Value = ThinVec<Step>> {
        let steps = prop::collection::vec(any::<(u32, u32)>(), 0..40);
        steps.prop_map(|steps| {
            let steps = steps.into_iter();
            steps.map(|(ns, bytes)| Step { ns, bytes }).collect()
        })
    }

    proptest! {
        #[test]
        fn steps_come_back_as_they_were(data in steps(), acks in steps()) {
            let spacing = Spacing { data, acks };
            let mut bytes = Vec::new();
            spacing.put(&mut bytes);
            let again = Spacing::take(&mut &bytes[..], spacing.lens());
            prop_assert_eq!(again.data(), spacing.data());
            prop_assert_eq!(again.acks(), spacing.acks());
        }
    }

    /// Steps between ACKs, by the number of the one that each begins with, of which the ACKs in `silent` do not tell
    /// how much came: all are looked at, and then those chosen that are kept.
    fn kept_of(acks: u32, silent: &[u32]) -> Vec<u32> {
        let tells = |ack: &u32| !silent.contains(ack);
        let steps: Vec<u32> = (0..acks - 1).filter(tells).collect();
        let (mut kept, mut every) = (Vec::new(), 1);
        let mut place = FIRST as usize;
        while let Some(&step) = steps.get(place) {
            if tells(&(step + 1)) {
                if kept.len() == KEPT_MAX {
                    kept = kept.into_iter().step_by(THIN as usize).collect();
                    every *= THIN as usize;
                }
                kept.push(step);
                place += every;
            } else {
                // The next one that can be.
                place += 1;
            }
        }
        kept
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn steps_are_chosen_as_if_all_were_looked_at(silent in prop::collection::vec(0_u32..3000, 0..200)) {
            let mut spacing = LiveSpacing::default();
            for ack in 0..3000 {
                let bytes = if silent.contains(&ack) { 0 } else { 1448 };
                spacing.on_ack(at(i64::from(ack * ack)), bytes);
            }
            let spacing = spacing.take_spacing();
            let numbers = spacing.acks().iter().map(|step| (step.ns / 1000 - 1) / 2);
            prop_assert_eq!(numbers.collect::<Vec<u32>>(), kept_of(3000, &silent));
        }
    }

    #[test]
    fn only_neighbours_of_one_size_make_a_step() {
        let mut spacing = LiveSpacing::default();
        for packet in 0..=i64::from(FIRST) {
            spacing.on_data(at(packet * 10), 1448, true);
        }
        assert_eq!(spacing.data.kept, []);
        // Packet 8 came at 80 us.
        for (us, payload_len, is_new) in [
            (100, 1448, true),
            (110, 1448, false),
            (120, 1448, true),
            (130, 700, true),
            (140, 1448, true),
            (155, 1448, true),
            (160, 100, true),
            (170, 100, true),
        ] {
            spacing.on_data(at(us), payload_len, is_new);
        }
        let spacing = spacing.take_spacing();
        let ns = spacing.data().iter().map(|step| step.ns);
        assert_eq!(ns.collect::<Vec<_>>(), [20_000, 15_000]);
    }

    #[test]
    fn no_step_is_to_an_ack_that_tells_not_how_much_came_or_from_it() {
        let mut spacing = LiveSpacing::default();
        for ack in 0..20 {
            spacing.on_ack(at(ack * 10), if ack == 15 { 0 } else { 2896 });
        }
        // Of 19 steps the first 8 do not count.
        assert_eq!(spacing.take_spacing().acks().len(), 19 - 8 - 2);
    }

    #[test]
    fn ten_thousand_acks_are_thinned_to_some_hundred() {
        let mut spacing = LiveSpacing::default();
        for ack in 0..10_000 {
            spacing.on_ack(at(ack * ack), 2896);
        }
        // 384 of the first, then every third, ninth and 27th: 128 more steps of 3, 9 and 27 each
        // time that there are 384.
        let spacing = spacing.take_spacing();
        let kept = spacing.acks();
        assert!((128..=KEPT_MAX).contains(&kept.len()), "{}", kept.len());
        // From ACK n to the next it is 2n + 1 us: every 27th step, from the ninth on.
        let numbers = kept.iter().map(|step| (step.ns / 1000 - 1) / 2);
        let numbers: Vec<u32> = numbers.collect();
        assert_eq!(numbers[..3], [8, 35, 62]);
        assert!(numbers.windows(2).all(|two| two[1] - two[0] == 27));
    }
}
