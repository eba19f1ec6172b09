//! Whether records come in order of time: what compares one direction of a connection with the other, such as bytes in
//! flight and the reasons of repeats, takes them as they come.

use crate::flow::ConnectionIdentity;
use crate::observe::Span;
use crate::time::CaptureTime;

/// By how much a record may be older than the one before it, in ns: several processors note what arrives and what is
/// sent a little out of order.
const ASIDE_NS: i64 = 100_000;

/// Records that are older than the one before them by more than 100 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// How many there are.
    pub steps_back: u64,
    /// By how much one is older, at most, in ns.
    pub largest_ns: i64,
    /// Position of the last of them.
    last_ordinal: u64,
    /// From the earliest of them to the latest of those before them.
    within: Span,
}

impl Disorder {
    /// Whether records of a connection with packets in `span` may be out of order: it had begun before the last step, and
    /// lasted to the time that came twice.
    pub(super) fn touches(&self, identity: &ConnectionIdentity, span: Span) -> bool {
        identity.first_ordinal < self.last_ordinal && self.within.common(span).is_some()
    }

    /// A record at `ordinal` of the time `at` comes after one of the time `before`.
    fn between(before: CaptureTime, at: CaptureTime, ordinal: u64) -> Option<Self> {
        let largest_ns = before.since(at);
        (largest_ns > ASIDE_NS).then_some(Self {
            steps_back: 1,
            largest_ns,
            last_ordinal: ordinal,
            within: Span {
                first: at,
                last: before,
            },
        })
    }

    /// These, in their order, as one.
    fn all<const N: usize>(parts: [Option<Self>; N]) -> Option<Self> {
        parts.into_iter().flatten().reduce(Self::joined)
    }

    fn joined(self, next: Self) -> Self {
        Self {
            steps_back: self.steps_back + next.steps_back,
            largest_ns: self.largest_ns.max(next.largest_ns),
            last_ordinal: next.last_ordinal,
            within: self.within.joined(next.within),
        }
    }
}

/// The times of records that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordTimes {
    /// Of the first record, where the earliest is another one.
    first: Option<CaptureTime>,
    last: CaptureTime,
    earliest: CaptureTime,
    /// The latest of those that an older one follows.
    latest: CaptureTime,
    disorder: Option<Disorder>,
}

impl Default for RecordTimes {
    /// Of no record.
    fn default() -> Self {
        Self {
            first: None,
            last: CaptureTime::MIN,
            earliest: CaptureTime::MAX,
            latest: CaptureTime::MIN,
            disorder: None,
        }
    }
}

impl RecordTimes {
    /// Takes the time of the next record, whose position `ordinal` gives.
    #[inline(always)]
    pub(super) fn note(&mut self, at: CaptureTime, ordinal: impl FnOnce() -> u64) {
        if at < self.last {
            // By value, so that what is noted of every record can be in registers.
            *self = self.stepped_back(at, ordinal());
        }
        self.earliest = self.earliest.min(at);
        self.last = at;
    }

    /// With that the record at `ordinal` is older than the one before.
    #[cold]
    #[inline(never)]
    fn stepped_back(mut self, at: CaptureTime, ordinal: u64) -> Self {
        self.first = self.first();
        self.latest = self.latest.max(self.last);
        self.disorder = Disorder::all([self.disorder, Disorder::between(self.last, at, ordinal)]);
        self
    }

    /// Of the first record: until one is older than the one before it, the earliest.
    fn first(&self) -> Option<CaptureTime> {
        self.first.or_else(|| self.span().map(|span| span.first))
    }

    /// With those of the records that follow, the first of which is at `ordinal`.
    pub(super) fn joined(self, next: Self, ordinal: u64) -> Self {
        let (Some(_), Some(next_first)) = (self.first(), next.first()) else {
            return if next.span().is_none() { self } else { next };
        };
        Self {
            first: self.first(),
            last: next.last,
            earliest: self.earliest.min(next.earliest),
            latest: self.latest.max(self.last).max(next.latest),
            disorder: Disorder::all([
                self.disorder,
                Disorder::between(self.last, next_first, ordinal),
                next.disorder,
            ]),
        }
    }

    /// First and last instant; `None` of no record.
    pub(super) fn span(&self) -> Option<Span> {
        let (first, last) = (self.earliest, self.latest.max(self.last));
        (first <= last).then_some(Span { first, last })
    }

    pub(super) fn disorder(&self) -> Option<Disorder> {
        self.disorder
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::net::SocketAddr;

    use super::*;
    use crate::decode::{Endpoint, Transport};

    /// What chunks of these times come to, as they are taken one after the other.
    fn taken(times: &[i64], chunk_len: usize) -> RecordTimes {
        let mut all = RecordTimes::default();
        for (number, chunk) in times.chunks(chunk_len).enumerate() {
            let first_ordinal = (number * chunk_len) as u64;
            let mut of_chunk = RecordTimes::default();
            for (ordinal, &ns) in (first_ordinal..).zip(chunk) {
                of_chunk.note(CaptureTime::from_ns(ns), || ordinal);
            }
            all = all.joined(of_chunk, first_ordinal);
        }
        all
    }

    proptest! {
        #[test]
        fn chunks_change_nothing(
            times in prop::collection::vec(-300_000..300_000_i64, 1..60),
            chunk_len in 1_usize..20,
        ) {
            let told = taken(&times, chunk_len);
            let at = CaptureTime::from_ns;
            let span = Span { first: at(*times.iter().min().unwrap()), last: at(*times.iter().max().unwrap()) };
            prop_assert_eq!(told.span(), Some(span));
            let steps = times.windows(2).map(|pair| pair[0] - pair[1]).filter(|&back| back > ASIDE_NS);
            prop_assert_eq!(told.first(), Some(at(times[0])));
            // The last step, and the time that came twice, too.
            prop_assert_eq!(told.disorder(), taken(&times, times.len()).disorder());
            let told = told.disorder();
            prop_assert_eq!(told.map_or(0, |told| told.steps_back), steps.clone().count() as u64);
            prop_assert_eq!(told.map(|told| told.largest_ns), steps.max());
        }
    }

    /// Blocks of 10 ms of one direction before those of the other; a connection ends before, one lasts, one begins after.
    #[test]
    fn connections_that_had_begun_and_last_are_touched() {
        let ms = |ms: i64| ms * 1_000_000;
        let times: Vec<i64> = [0, 5, 10, 20, 30, 25, 35, 40].map(ms).to_vec();
        let disorder = taken(&times, 3).disorder().unwrap();
        assert_eq!((disorder.steps_back, disorder.largest_ns), (1, ms(5)));
        let touches = |first_ordinal: u64, first: i64, last: i64| {
            let at = |number| CaptureTime::from_ns(ms(number));
            let end = |port| Endpoint::from(SocketAddr::from(([10, 0, 0, 1], port)));
            let identity = ConnectionIdentity {
                opener: end(1),
                peer: end(2),
                transport: Transport::Tcp,
                first_ordinal,
                first_at: at(first),
            };
            let span = Span {
                first: at(first),
                last: at(last),
            };
            disorder.touches(&identity, span)
        };
        assert!(!touches(0, 0, 10));
        assert!(touches(0, 0, 40));
        assert!(touches(3, 20, 25));
        assert!(!touches(5, 25, 40));
    }
}
