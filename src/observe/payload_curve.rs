//! Payload over time, exact at the instants that will be asked for.

use crate::time::CaptureTime;

/// Packets in a chunk: 1 KiB, or two, and a fair share of a flow between two looks at what may go.
const CHUNK_PACKETS: usize = 256;

/// Memory that a chunk takes once it is full, in bytes, where its packets are of one size.
const CHUNK_BYTES: usize = size_of::<Chunk>() + CHUNK_PACKETS * size_of::<u32>();

/// A run of packets: when each passed and how many payload bytes had then passed since the start
/// of the run.
#[derive(Clone, Debug)]
struct Chunk {
    start: CaptureTime,
    /// Start of the run after this one, whether that is still held or not.
    until: CaptureTime,
    bytes_before: u64,
    /// When each packet passed, in ns since the start: in this order, but where the clock stepped back. None of a run
    /// that was dropped there, of which the rest stays.
    after_ns: Vec<u32>,
    bytes: RunBytes,
}

/// Payload bytes that the packets of a run carried.
#[derive(Clone, Debug)]
enum RunBytes {
    /// Each as many: nearly all packets of a bulk transfer are full.
    Even(u32),
    /// Up to each packet, it included.
    Sums(Vec<u32>),
}

impl Chunk {
    /// Adds a packet, if there is room for it.
    #[inline]
    fn add(&mut self, at: CaptureTime, payload_len: u32) -> bool {
        let Some(&last_ns) = self.after_ns.last() else {
            return false;
        };
        let ns = at.since(self.start);
        ns >= i64::from(last_ns) && self.push(ns, payload_len)
    }

    /// The same, whether that is before the last one or not.
    #[inline(always)]
    fn push(&mut self, ns: i64, payload_len: u32) -> bool {
        let (Ok(ns), true) = (u32::try_from(ns), self.after_ns.len() < CHUNK_PACKETS) else {
            return false;
        };
        if !matches!(self.bytes, RunBytes::Even(len) if len == payload_len)
            && !self.bytes.add(self.after_ns.len(), payload_len)
        {
            return false;
        }
        self.after_ns.push(ns);
        true
    }

    /// When its latest packet passed, by the clock.
    fn latest(&self) -> CaptureTime {
        let latest_ns = self.after_ns.iter().max();
        self.start.plus_ns(latest_ns.map_or(0, |&ns| ns.into()))
    }

    /// Payload bytes of its packets that had passed at `at`, in whatever order they are.
    fn bytes_by(&self, at: CaptureTime) -> u64 {
        // Nearly always it is asked for an instant before all of them, or behind.
        if at < self.start {
            return 0;
        }
        if at >= self.until {
            return self.bytes_of(self.after_ns.len());
        }
        let after_ns = u32::try_from(at.since(self.start)).unwrap_or(u32::MAX);
        let has_passed = |ns: u32| ns <= after_ns;
        match &self.bytes {
            &RunBytes::Even(len) => {
                let passed = self.after_ns.iter().filter(|&&ns| has_passed(ns));
                passed.count() as u64 * u64::from(len)
            }
            RunBytes::Sums(sums) => {
                let before = std::iter::once(&0).chain(sums);
                let each = self.after_ns.iter().zip(sums.iter().zip(before));
                each.filter(|&(&ns, _)| has_passed(ns))
                    .map(|(_, (sum, before))| u64::from(sum - before))
                    .sum()
            }
        }
    }

    /// Drops its packets.
    fn clear(&mut self) {
        self.after_ns = Vec::new();
        self.bytes = RunBytes::Even(0);
    }

    /// Payload bytes of its first packets.
    fn bytes_of(&self, packets: usize) -> u64 {
        match &self.bytes {
            &RunBytes::Even(len) => packets as u64 * u64::from(len),
            RunBytes::Sums(sums) => packets.checked_sub(1).map_or(0, |last| sums[last].into()),
        }
    }
}

impl RunBytes {
    /// After so many packets, another one that is not as they are; whether their sum has room for it.
    #[inline(never)]
    fn add(&mut self, packets: usize, payload_len: u32) -> bool {
        let before = match self {
            &mut Self::Even(len) => len.checked_mul(packets as u32),
            Self::Sums(sums) => sums.last().copied(),
        };
        let Some(sum) = before.and_then(|before| before.checked_add(payload_len)) else {
            return false;
        };
        match self {
            &mut Self::Even(len) => {
                let sums = (1..=packets as u32).map(|packets| packets * len);
                *self = Self::Sums(sums.chain([sum]).collect());
            }
            Self::Sums(sums) => sums.push(sum),
        }
        true
    }
}

/// Payload bytes that had passed by some instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BytesBy {
    /// To the byte.
    Exact(u64),
    /// Interpolated, because the packets around that instant were not kept.
    Interpolated(u64),
}

impl BytesBy {
    /// The number, however it was found.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Exact(bytes) | Self::Interpolated(bytes) => bytes,
        }
    }
}

/// How many payload bytes of a flow had passed at any instant: what pairwise fairness needs,
/// since it cuts one flow where another begins or ends (METRICS.md N1).
///
/// Exactness would need every packet. But flows are only cut at instants that are known early:
/// where some flow began, and where some flow had its last packet so far. So packets are kept in
/// chunks, and pruning drops the chunks in which no such instant lies.
///
/// Where the capture's clock stepped back, chunks lie over each other: then each is asked, and of one that is dropped
/// it is kept from when to when it was.
#[derive(Clone, Debug, Default)]
pub struct PayloadCurve {
    chunks: Vec<Chunk>,
    /// Start of the first run, whether that is still held or not.
    first: CaptureTime,
    /// The clock stepped back.
    has_stepped: bool,
    bytes: u64,
}

impl PayloadCurve {
    /// That of a flow of which none is kept.
    pub(super) const NONE: Self = Self {
        chunks: Vec::new(),
        first: CaptureTime::MAX,
        has_stepped: false,
        bytes: 0,
    };

    /// Whether nothing was kept.
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// A packet with payload passed. Returns by how much the memory held has grown, in bytes.
    #[inline]
    pub fn add(&mut self, at: CaptureTime, payload_len: u32) -> usize {
        let bytes_before = self.bytes;
        self.bytes += u64::from(payload_len);
        let fits = self
            .chunks
            .last_mut()
            .is_some_and(|chunk| chunk.add(at, payload_len));
        if fits {
            0
        } else {
            self.add_chunk(at, bytes_before, payload_len)
        }
    }

    #[cold]
    fn add_chunk(&mut self, at: CaptureTime, bytes_before: u64, payload_len: u32) -> usize {
        let mut packets = 4;
        if let Some(last) = self.chunks.last_mut() {
            last.until = at;
            let latest = last.latest();
            if at < latest {
                self.has_stepped = true;
                if last.push(at.since(last.start), payload_len) {
                    last.until = CaptureTime::MAX;
                    return 0;
                }
                last.until = latest.plus_ns(1);
            }
            // Who has filled one mostly fills the next, which need not be moved as it grows.
            packets = last.after_ns.len().max(packets);
        } else {
            self.first = at;
            // Most flows end with their first chunk: no room for four, which is the default.
            self.chunks.reserve_exact(1);
        }
        let mut after_ns = Vec::with_capacity(packets);
        after_ns.push(0);
        self.chunks.push(Chunk {
            start: at,
            until: CaptureTime::MAX,
            bytes_before,
            after_ns,
            bytes: RunBytes::Even(payload_len),
        });
        CHUNK_BYTES
    }

    /// All payload bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory held, in bytes, as [`add`](Self::add) counts it: twice as much at most, where packets are of several
    /// sizes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let mut bytes = self.chunks.len() * CHUNK_BYTES;
        if self.has_stepped {
            let dropped = self.chunks.iter().filter(|chunk| chunk.after_ns.is_empty());
            bytes -= dropped.count() * (CHUNK_BYTES - size_of::<Chunk>());
        }
        bytes
    }

    /// Drops the chunks that hold none of `instants`, which are sorted. The last chunk stays: it
    /// still grows.
    pub(crate) fn prune(&mut self, instants: &[CaptureTime]) {
        let has_stepped = self.has_stepped;
        self.chunks.retain_mut(|chunk| {
            let first_after = instants.partition_point(|&instant| instant < chunk.start);
            let needed = instants
                .get(first_after)
                .is_some_and(|&instant| instant < chunk.until);
            let stays = needed || chunk.until == CaptureTime::MAX;
            if has_stepped && !stays {
                chunk.clear();
            }
            stays || has_stepped
        });
    }

    /// Payload bytes that had passed at `at`, packets at that very instant included.
    #[must_use]
    pub fn bytes_by(&self, at: CaptureTime) -> BytesBy {
        if self.has_stepped {
            return self.bytes_by_in_disorder(at);
        }
        if self.chunks.is_empty() || at < self.first {
            return BytesBy::Exact(0);
        }
        let index = self.chunks.partition_point(|chunk| chunk.start <= at);
        let before = index.checked_sub(1).map(|index| &self.chunks[index]);
        let (begin, bytes) = match before {
            None => (self.first, 0),
            Some(chunk) => {
                let passed = chunk
                    .after_ns
                    .partition_point(|&ns| i64::from(ns) <= at.since(chunk.start));
                let bytes = chunk.bytes_before + chunk.bytes_of(passed);
                if at < chunk.until {
                    return BytesBy::Exact(bytes);
                }
                (chunk.until, bytes)
            }
        };
        // Runs before the next one held were dropped: a straight line through them.
        let (end, end_bytes) = self
            .chunks
            .get(index)
            .map_or((at, self.bytes), |next| (next.start, next.bytes_before));
        let missing = end_bytes.saturating_sub(bytes) as f64;
        let share = at.since(begin) as f64 / end.since(begin).max(1) as f64;
        BytesBy::Interpolated(bytes + (missing * share) as u64)
    }

    /// The same where the clock stepped back.
    #[cold]
    fn bytes_by_in_disorder(&self, at: CaptureTime) -> BytesBy {
        let (mut bytes, mut is_exact) = (0, true);
        // From when to when the packets passed that were dropped between the runs held, and bytes up to them.
        let (mut from, mut until, mut bytes_before) = (self.first, None, 0);
        for chunk in &self.chunks {
            let dropped_bytes = chunk.bytes_before - bytes_before;
            if at >= until.unwrap_or(chunk.start) {
                bytes += dropped_bytes;
            } else if at >= from {
                bytes += dropped_bytes / 2;
                is_exact &= dropped_bytes == 0;
            }
            bytes += chunk.bytes_by(at);
            bytes_before = chunk.bytes_before + chunk.bytes_of(chunk.after_ns.len());
            (from, until) = if chunk.after_ns.is_empty() {
                (chunk.start, Some(chunk.until))
            } else {
                (chunk.until, None)
            };
        }
        if is_exact {
            BytesBy::Exact(bytes)
        } else {
            BytesBy::Interpolated(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: i64) -> CaptureTime {
        CaptureTime::from_ns(ns)
    }

    proptest! {
        /// Whatever is pruned, the answers at the instants kept are those of adding up.
        #[test]
        fn pruning_keeps_the_answers_at_the_instants_kept(
            gaps in proptest::collection::vec((0_i64..5_000_000_000, 0_u32..40), 1..2000),
            mut instants in proptest::collection::vec(0_i64..2_000_000_000_000, 0..5),
        ) {
            let mut curve = PayloadCurve::default();
            let mut packets = Vec::new();
            let mut now = 0;
            for (index, (gap, kind)) in gaps.into_iter().enumerate() {
                now += gap / if index % 3 == 0 { 1 } else { 1000 };
                // Of one size, but for a few, some of which no sum of 32 bits has room for.
                let len = match kind {
                    0 => 7,
                    1 => 3_000_000_000,
                    _ => 100,
                };
                curve.add(at(now), len);
                packets.push((now, u64::from(len)));
            }
            instants.push(packets[packets.len() / 2].0);
            instants.sort_unstable();
            let kept: Vec<CaptureTime> = instants.iter().map(|&ns| at(ns)).collect();
            curve.prune(&kept);
            for &instant in &instants {
                let passed = packets.iter().filter(|&&(ns, _)| ns <= instant);
                let bytes = passed.map(|&(_, len)| len).sum();
                prop_assert_eq!(curve.bytes_by(at(instant)), BytesBy::Exact(bytes));
            }
            prop_assert_eq!(curve.bytes(), packets.iter().map(|&(_, len)| len).sum::<u64>());
        }
    }

    proptest! {
        /// So it is where the clock steps back, by little or by much, whatever was dropped before.
        #[test]
        fn a_clock_that_steps_back_changes_no_answer(
            gaps in proptest::collection::vec((0_i64..1_000_000_000, 0_u32..200), 1..2000),
            mut instants in proptest::collection::vec(-100_000_000_000_i64..600_000_000_000, 0..5),
            look in 0_usize..2000,
        ) {
            instants.sort_unstable();
            let kept: Vec<CaptureTime> = instants.iter().map(|&ns| at(ns)).collect();
            let mut curve = PayloadCurve::default();
            let mut packets = Vec::new();
            let mut now = 0;
            for (index, (gap, kind)) in gaps.into_iter().enumerate() {
                now += match kind {
                    0 => -100 * gap,
                    1..4 => -gap / 1000,
                    _ => gap / if index % 3 == 0 { 1 } else { 1000 },
                };
                let len = match kind {
                    17 => 3_000_000_000,
                    _ if kind % 16 == 0 => 7,
                    _ => 100,
                };
                curve.add(at(now), len);
                packets.push((now, u64::from(len)));
                if index == look {
                    curve.prune(&kept);
                }
            }
            curve.prune(&kept);
            for &instant in &instants {
                let passed = packets.iter().filter(|&&(ns, _)| ns <= instant);
                let bytes = passed.map(|&(_, len)| len).sum();
                prop_assert_eq!(curve.bytes_by(at(instant)), BytesBy::Exact(bytes));
            }
        }
    }

    #[test]
    fn a_run_dropped_where_the_clock_stepped_back_is_said_to_be_interpolated() {
        let mut curve = PayloadCurve::default();
        let all: usize = (0..2000).map(|ns| curve.add(at(ns), 1)).sum();
        let all = all + (0..1000).map(|ns| curve.add(at(ns), 1)).sum::<usize>();
        assert_eq!(curve.memory_bytes(), all);
        assert_eq!(curve.bytes_by(at(99)), BytesBy::Exact(200));
        curve.prune(&[]);
        assert!(curve.memory_bytes() < all / 4);
        assert!(matches!(curve.bytes_by(at(99)), BytesBy::Interpolated(_)));
        assert_eq!(curve.bytes_by(at(2000)), BytesBy::Exact(3000));
        assert_eq!(curve.bytes_by(at(-1)), BytesBy::Exact(0));
    }

    #[test]
    fn an_instant_in_a_dropped_run_is_said_to_be_interpolated() {
        let mut curve = PayloadCurve::default();
        for ns in 0..2000 {
            curve.add(at(ns), 1);
        }
        curve.prune(&[]);
        assert_eq!(curve.bytes_by(at(700)), BytesBy::Interpolated(700));
        assert_eq!(curve.bytes_by(at(5000)), BytesBy::Exact(2000));
        assert_eq!(curve.bytes_by(at(-1)), BytesBy::Exact(0));
    }
}
