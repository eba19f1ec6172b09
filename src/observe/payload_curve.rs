//! Payload over time, exact at the instants that will be asked for.

use crate::time::CaptureTime;

/// Packets in a chunk: 2 KiB, and a fair share of a flow between two looks at what may go.
const CHUNK_PACKETS: usize = 256;

/// A run of packets: when each passed and how many payload bytes had then passed since the start
/// of the run.
#[derive(Clone, Debug)]
struct Chunk {
    start: CaptureTime,
    /// Start of the run after this one, whether that is still held or not.
    until: CaptureTime,
    bytes_before: u64,
    points: Vec<(u32, u32)>,
}

impl Chunk {
    /// Adds a packet, if there is room for it.
    #[inline]
    fn add(&mut self, at: CaptureTime, payload_len: u32) -> bool {
        let Some(&(last_ns, last_bytes)) = self.points.last() else {
            return false;
        };
        // A clock that steps back stands still here: the curve must not fall.
        let ns = at.since(self.start).max(i64::from(last_ns));
        let (Ok(ns), true) = (u32::try_from(ns), self.points.len() < CHUNK_PACKETS) else {
            return false;
        };
        self.points
            .push((ns, last_bytes.saturating_add(payload_len)));
        true
    }
}

/// Payload bytes that had passed by some instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
/// chunks, and [`prune`](Self::prune) drops the chunks in which no such instant lies.
#[derive(Clone, Debug, Default)]
pub struct PayloadCurve {
    chunks: Vec<Chunk>,
    /// Start of the first run, whether that is still held or not.
    first: Option<CaptureTime>,
    bytes: u64,
}

impl PayloadCurve {
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
        let mut start = at;
        if let Some(last) = self.chunks.last_mut() {
            start = last.start.max(at);
            last.until = start;
        }
        self.first.get_or_insert(start);
        if self.chunks.is_empty() {
            // Most flows end with their first chunk: no room for four, which is the default.
            self.chunks.reserve_exact(1);
        }
        let mut points = Vec::with_capacity(4);
        points.push((0, payload_len));
        self.chunks.push(Chunk {
            start,
            until: CaptureTime::MAX,
            bytes_before,
            points,
        });
        size_of::<Chunk>() + CHUNK_PACKETS * size_of::<(u32, u32)>()
    }

    /// All payload bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory held, in bytes, as [`add`](Self::add) counts it.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.chunks.len() * (size_of::<Chunk>() + CHUNK_PACKETS * size_of::<(u32, u32)>())
    }

    /// Drops the chunks that hold none of `instants`, which are sorted. The last chunk stays: it
    /// still grows.
    pub fn prune(&mut self, instants: &[CaptureTime]) {
        self.chunks.retain(|chunk| {
            let first_after = instants.partition_point(|&instant| instant < chunk.start);
            let needed = instants
                .get(first_after)
                .is_some_and(|&instant| instant < chunk.until);
            needed || chunk.until == CaptureTime::MAX
        });
    }

    /// Payload bytes that had passed at `at`, packets at that very instant included.
    #[must_use]
    pub fn bytes_by(&self, at: CaptureTime) -> BytesBy {
        if self.first.is_none_or(|first| at < first) {
            return BytesBy::Exact(0);
        }
        let index = self.chunks.partition_point(|chunk| chunk.start <= at);
        let Some(chunk) = index
            .checked_sub(1)
            .and_then(|index| self.chunks.get(index))
        else {
            // The runs at the start were dropped: about half of what they held.
            return BytesBy::Interpolated(
                self.chunks.first().map_or(0, |next| next.bytes_before) / 2,
            );
        };
        let passed = chunk
            .points
            .partition_point(|&(ns, _)| i64::from(ns) <= at.since(chunk.start));
        let bytes = chunk.bytes_before
            + passed
                .checked_sub(1)
                .map_or(0, |last| u64::from(chunk.points[last].1));
        if at < chunk.until {
            return BytesBy::Exact(bytes);
        }
        // Runs between this one and the next one held were dropped: a straight line through them.
        let (end, end_bytes) = self
            .chunks
            .get(index)
            .map_or((at, self.bytes), |next| (next.start, next.bytes_before));
        let missing = end_bytes.saturating_sub(bytes) as f64;
        let share = at.since(chunk.until) as f64 / end.since(chunk.until).max(1) as f64;
        BytesBy::Interpolated(bytes + (missing * share) as u64)
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
            gaps in proptest::collection::vec(0_i64..5_000_000_000, 1..2000),
            mut instants in proptest::collection::vec(0_i64..2_000_000_000_000, 0..5),
        ) {
            let mut curve = PayloadCurve::default();
            let mut packets = Vec::new();
            let mut now = 0;
            for (index, gap) in gaps.into_iter().enumerate() {
                now += gap / if index % 3 == 0 { 1 } else { 1000 };
                curve.add(at(now), 100);
                packets.push(now);
            }
            instants.push(packets[packets.len() / 2]);
            instants.sort_unstable();
            let kept: Vec<CaptureTime> = instants.iter().map(|&ns| at(ns)).collect();
            curve.prune(&kept);
            for &instant in &instants {
                let passed = packets.iter().filter(|&&ns| ns <= instant).count() as u64;
                prop_assert_eq!(curve.bytes_by(at(instant)), BytesBy::Exact(100 * passed));
            }
            prop_assert_eq!(curve.bytes(), 100 * packets.len() as u64);
        }
    }

    #[test]
    fn an_instant_in_a_dropped_run_is_said_to_be_interpolated() {
        let mut curve = PayloadCurve::default();
        for ns in 0..2000 {
            curve.add(at(ns), 1);
        }
        curve.prune(&[]);
        assert!(matches!(curve.bytes_by(at(700)), BytesBy::Interpolated(_)));
        assert_eq!(curve.bytes_by(at(5000)), BytesBy::Exact(2000));
        assert_eq!(curve.bytes_by(at(-1)), BytesBy::Exact(0));
    }
}
