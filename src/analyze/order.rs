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
pub(super) struct Times {
    /// Of the first record.
    first: CaptureTime,
    /// Of the last record.
    last: CaptureTime,
    /// From the earliest to the latest.
    span: Span,
    disorder: Option<Disorder>,
}

impl Times {
    fn of_one(at: CaptureTime) -> Self {
        Self {
            first: at,
            last: at,
            span: Span {
                first: at,
                last: at,
            },
            disorder: None,
        }
    }

    /// First and last instant.
    pub(super) fn span(&self) -> Span {
        self.span
    }

    pub(super) fn disorder(&self) -> Option<Disorder> {
        self.disorder
    }

    /// With those of the records that follow, the first of which is at `ordinal`; `None` is of none.
    pub(super) fn joined(before: Option<Self>, next: Self, ordinal: u64) -> Self {
        let Some(before) = before else {
            return next;
        };
        let between = Disorder::between(before.last, next.first, ordinal);
        let disorder = [before.disorder, between, next.disorder];
        Self {
            first: before.first,
            last: next.last,
            span: before.span.joined(next.span),
            disorder: disorder.into_iter().flatten().reduce(Disorder::joined),
        }
    }

    /// With the next record, which is at `ordinal`.
    pub(super) fn and(before: Option<Self>, at: CaptureTime, ordinal: u64) -> Self {
        Self::joined(before, Self::of_one(at), ordinal)
    }
}

/// What is noted of times as they come: little as long as each is as late as the one before it.
#[derive(Debug, Default)]
pub(super) struct Steps(Option<Times>);

impl Steps {
    /// A record is older than the one before it, of the time `before`. `first` is the earliest so far.
    #[cold]
    #[inline(never)]
    pub(super) fn back(
        &mut self,
        first: CaptureTime,
        before: CaptureTime,
        at: CaptureTime,
        ordinal: u64,
    ) {
        // What came until the first step was in order.
        let so_far = self.0.unwrap_or_else(|| Times::of_one(first));
        let so_far = Times {
            last: before,
            span: so_far.span.joined(Times::of_one(before).span),
            ..so_far
        };
        self.0 = Some(Times::and(Some(so_far), at, ordinal));
    }

    /// The times of all records, of which `first` is the earliest, and `last` that of the last; `None` of none.
    pub(super) fn end(self, first: CaptureTime, last: CaptureTime) -> Option<Times> {
        let Some(times) = self.0 else {
            return (first <= last).then_some(Times {
                first,
                last,
                span: Span { first, last },
                disorder: None,
            });
        };
        Some(Times {
            last,
            span: times.span.joined(Times::of_one(last).span),
            ..times
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::net::SocketAddr;

    use super::*;
    use crate::decode::{Endpoint, Transport};

    /// What chunks of these times come to, as they are taken one after the other.
    fn taken(times: &[i64], chunk_len: usize) -> Option<Times> {
        let mut all = None;
        for (number, chunk) in times.chunks(chunk_len).enumerate() {
            let first_ordinal = (number * chunk_len) as u64;
            let mut steps = Steps::default();
            let (mut earliest, mut last) = (CaptureTime::MAX, CaptureTime::MIN);
            for (ordinal, &ns) in (first_ordinal..).zip(chunk) {
                let at = CaptureTime::from_ns(ns);
                if at < last {
                    steps.back(earliest, last, at, ordinal);
                }
                earliest = earliest.min(at);
                last = at;
            }
            let chunk = steps.end(earliest, last).unwrap();
            all = Some(Times::joined(all, chunk, first_ordinal));
        }
        all
    }

    proptest! {
        #[test]
        fn chunks_change_nothing(
            times in prop::collection::vec(-300_000..300_000_i64, 1..60),
            chunk_len in 1_usize..20,
        ) {
            let told = taken(&times, chunk_len).unwrap();
            let at = CaptureTime::from_ns;
            let span = Span { first: at(*times.iter().min().unwrap()), last: at(*times.iter().max().unwrap()) };
            prop_assert_eq!(told.span(), span);
            let steps = times.windows(2).map(|pair| pair[0] - pair[1]).filter(|&back| back > ASIDE_NS);
            // However they are cut into chunks, or one by one.
            prop_assert_eq!(Some(told), taken(&times, times.len()));
            let each = (0..).zip(&times).fold(None, |before, (ordinal, &ns)| Some(Times::and(before, at(ns), ordinal)));
            prop_assert_eq!(Some(told), each);
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
        let disorder = taken(&times, 3).unwrap().disorder().unwrap();
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
