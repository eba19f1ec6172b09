//! A direction in as few bytes as it takes, for connections that have ended.

use super::{DirectionSummary, Incidents, Span};
use crate::observe::dispersion::Spacing;
use crate::observe::quantiles::{DelayDistribution, DelayStats, STATS_NUMBERS};
use crate::packing::{
    Bits, first_of, put_all, step, stepped, take_all, take_many, unzigzag, zigzag,
};
use crate::time::CaptureTime;
use crate::track::HalfState;

/// What rates are made of: the numbers of a flow that come first, and are unpacked without the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// IP packets of this direction (METRICS.md C1).
    pub packets: u64,
    /// IP packets with payload; of a segment in fragments each of them (C1).
    pub data_packets: u64,
    /// Sum of IP total lengths, in bytes (C2).
    pub ip_bytes: u64,
    /// TCP payload, every copy counted, in bytes (C3).
    pub payload_bytes: u64,
    /// Packets with payload.
    pub data_span: Option<Span>,
    /// When the cumulative ACK last covered new payload.
    pub last_new_ack_at: Option<CaptureTime>,
    /// Sequence state at the end.
    pub state: HalfState,
    has_span: bool,
    /// Whether there are steps between packets or ACKs.
    pub(in crate::observe) has_steps: bool,
    /// Which numbers of the incidents are not 0.
    incidents: u64,
}

const OUTLINE_NUMBERS: usize = 16;
/// What holds or not.
const FLAGS: usize = 6;
/// The places among these of whether there is data, and whether there are steps.
const HAS_DATA: usize = 1;
const HAS_STEPS: usize = 5;

impl Outline {
    fn of(
        summary: &DirectionSummary,
        state: HalfState,
        spacing: &Spacing,
        incidents: Option<&[u64; INCIDENTS]>,
    ) -> Self {
        let not_zero = |(place, &number): (usize, &u64)| u64::from(number != 0) << place;
        let incidents = incidents.into_iter().flatten();
        Self {
            packets: summary.packets,
            data_packets: summary.data_packets,
            ip_bytes: summary.ip_bytes,
            payload_bytes: summary.payload_bytes,
            data_span: summary.all_data(),
            last_new_ack_at: summary.last_new_ack_at,
            state,
            has_span: summary.span.is_some(),
            has_steps: spacing.lens() != [0; 2],
            incidents: incidents.enumerate().map(not_zero).sum(),
        }
    }

    /// Writes it behind `bytes`, with times told from `start`.
    fn put(&self, start: CaptureTime, bytes: &mut Vec<u8>) {
        let HalfState {
            acked_bytes,
            unique_bytes,
            unseen_bytes,
            skipped_packets,
            application_limited_ns,
            receiver_limited_ns,
            strays,
        } = self.state;
        let mut bits = Bits::default();
        bits.put_flag(self.has_span);
        bits.put_flag(self.data_span.is_some());
        bits.put_flag(self.last_new_ack_at.is_some());
        bits.put_flag(acked_bytes.is_some());
        bits.put_flag(unseen_bytes.is_some());
        bits.put_flag(self.has_steps);
        let data_span = self.data_span.unwrap_or(Span {
            first: start,
            last: start,
        });
        let last_new_ack_at = self.last_new_ack_at.unwrap_or(data_span.last);
        let numbers: [u64; OUTLINE_NUMBERS] = [
            self.payload_bytes,
            bits.number(),
            step(self.payload_bytes, self.ip_bytes),
            self.packets,
            step(self.packets, self.data_packets),
            zigzag(data_span.first.since(start)),
            zigzag(data_span.length_ns()),
            zigzag(last_new_ack_at.since(data_span.last)),
            // Nearly always all of the payload.
            step(self.payload_bytes, unique_bytes),
            step(unique_bytes, acked_bytes.unwrap_or(unique_bytes)),
            unseen_bytes.unwrap_or(0),
            skipped_packets,
            zigzag(application_limited_ns),
            zigzag(receiver_limited_ns),
            strays,
            self.incidents,
        ];
        put_all(bytes, &numbers);
    }

    /// What [`put`](Self::put) wrote.
    #[inline]
    pub(in crate::observe) fn take(start: CaptureTime, bytes: &mut &[u8]) -> Self {
        let numbers: [u64; OUTLINE_NUMBERS] = take_all(bytes);
        let [
            has_span,
            has_data,
            has_new_ack,
            has_acked,
            has_unseen,
            has_steps,
        ] = Self::flags(numbers[1]);
        let payload_bytes = numbers[0];
        let data_span = Self::data_span_from(start, numbers[5], numbers[6]);
        let unique_bytes = stepped(payload_bytes, numbers[8]);
        Self {
            packets: numbers[3],
            data_packets: stepped(numbers[3], numbers[4]),
            ip_bytes: stepped(payload_bytes, numbers[2]),
            payload_bytes,
            data_span: has_data.then_some(data_span),
            last_new_ack_at: has_new_ack.then(|| data_span.last.plus_ns(unzigzag(numbers[7]))),
            state: HalfState {
                acked_bytes: has_acked.then(|| stepped(unique_bytes, numbers[9])),
                unique_bytes,
                unseen_bytes: has_unseen.then_some(numbers[10]),
                skipped_packets: numbers[11],
                application_limited_ns: unzigzag(numbers[12]),
                receiver_limited_ns: unzigzag(numbers[13]),
                strays: numbers[14],
            },
            has_span,
            has_steps,
            incidents: numbers[15],
        }
    }

    /// The payload alone, in bytes: of a million flows the largest are looked for.
    #[inline]
    pub(in crate::observe) fn payload_of(bytes: &[u8]) -> u64 {
        let [payload_bytes] = first_of::<OUTLINE_NUMBERS, 1>(bytes);
        payload_bytes
    }

    /// First and last packet with payload, alone: of a million flows those are looked for that have both.
    #[inline]
    pub(in crate::observe) fn data_span_of(start: CaptureTime, bytes: &[u8]) -> Option<Span> {
        let [_, bits, _, _, _, first, length] = first_of::<OUTLINE_NUMBERS, 7>(bytes);
        Self::flags(bits)[HAS_DATA].then(|| Self::data_span_from(start, first, length))
    }

    fn data_span_from(start: CaptureTime, first: u64, length: u64) -> Span {
        let first = start.plus_ns(unzigzag(first));
        Span {
            first,
            last: first.plus_ns(unzigzag(length)),
        }
    }

    /// Whether there are steps, alone: of a million flows those that have some are looked for.
    #[inline]
    pub(in crate::observe) fn has_steps_of(bytes: &[u8]) -> bool {
        let [_, bits] = first_of::<OUTLINE_NUMBERS, 2>(bytes);
        Self::flags(bits)[HAS_STEPS]
    }

    /// What holds of it, as [`put`](Self::put) wrote it.
    fn flags(bits: u64) -> [bool; FLAGS] {
        let mut bits = Bits::of(bits);
        [(); FLAGS].map(|()| bits.take_flag())
    }

    /// Whether anything was out of the ordinary.
    pub(in crate::observe) fn has_incidents(&self) -> bool {
        self.incidents != 0
    }

    /// What the span of all packets is told from.
    fn span_near(&self, start: CaptureTime) -> Span {
        self.data_span.unwrap_or(Span {
            first: start,
            last: start,
        })
    }
}

/// Numbers besides the outline: the span and bytes in flight, and three kinds of delays.
const REST_NUMBERS: usize = BEFORE_DELAYS + 3 * STATS_NUMBERS;
const BEFORE_DELAYS: usize = 5;

/// Of these numbers, delays of one kind, which are told from others.
fn stats(numbers: &[u64], kind: usize, like: &DelayStats) -> DelayStats {
    DelayStats::of_numbers(numbers[BEFORE_DELAYS..].as_chunks().0[kind], like)
}

impl DirectionSummary {
    /// Writes all that is known of a flow behind `bytes`, with times told from `start`.
    pub(in crate::observe) fn put(
        &self,
        state: HalfState,
        spacing: &Spacing,
        start: CaptureTime,
        bytes: &mut Vec<u8>,
    ) {
        let incidents = self.incidents.as_deref().map(Incidents::numbers);
        let outline = Outline::of(self, state, spacing, incidents.as_ref());
        outline.put(start, bytes);
        let near = outline.span_near(start);
        let span = self.span.unwrap_or(near);
        let mut numbers = [0; REST_NUMBERS];
        let (head, delays) = numbers.split_at_mut(BEFORE_DELAYS);
        head.copy_from_slice(&[
            zigzag(span.first.since(near.first)),
            zigzag(span.last.since(near.last)),
            self.in_flight_bytes_max,
            self.in_flight_bytes_sum,
            self.in_flight_samples,
        ]);
        let rtt = self.rtt.stats();
        let told = [
            rtt.numbers(&DelayStats::default()),
            self.rtt_exact.numbers(rtt),
            self.rtt_ts.numbers(rtt),
        ];
        delays.copy_from_slice(told.as_flattened());
        put_all(bytes, &numbers);
        self.rtt.put_buckets(bytes);
        if outline.has_incidents() {
            let all = incidents.into_iter().flatten();
            let not_zero = all.filter(|&number| number != 0);
            put_all(bytes, &not_zero.collect::<Vec<u64>>());
        }
        if outline.has_steps {
            put_all(bytes, &spacing.lens());
            spacing.put(bytes);
        }
    }

    /// Of what [`put`](Self::put) wrote behind the outline, the round-trip times.
    pub(in crate::observe) fn rtt_stats_behind(bytes: &[u8]) -> DelayStats {
        let first: [u64; BEFORE_DELAYS + STATS_NUMBERS] = first_of::<REST_NUMBERS, _>(bytes);
        stats(&first, 0, &DelayStats::default())
    }

    /// What [`put`](Self::put) wrote behind the outline.
    pub(in crate::observe) fn take_behind(
        outline: &Outline,
        start: CaptureTime,
        bytes: &mut &[u8],
    ) -> (Self, Spacing) {
        let near = outline.span_near(start);
        let numbers: [u64; REST_NUMBERS] = take_all(bytes);
        let rtt = stats(&numbers, 0, &DelayStats::default());
        let (rtt_exact, rtt_ts) = (stats(&numbers, 1, &rtt), stats(&numbers, 2, &rtt));
        let rtt = DelayDistribution::take(rtt, bytes);
        let incidents =
            (outline.incidents != 0).then(|| Box::new(Incidents::take(outline.incidents, bytes)));
        let span = Span {
            first: near.first.plus_ns(unzigzag(numbers[0])),
            last: near.last.plus_ns(unzigzag(numbers[1])),
        };
        let summary = Self {
            packets: outline.packets,
            data_packets: outline.data_packets,
            ip_bytes: outline.ip_bytes,
            payload_bytes: outline.payload_bytes,
            span: outline.has_span.then_some(span),
            data_span: outline.data_span,
            last_new_ack_at: outline.last_new_ack_at,
            rtt,
            rtt_exact,
            rtt_ts,
            in_flight_bytes_max: numbers[2],
            in_flight_bytes_sum: numbers[3],
            in_flight_samples: numbers[4],
            incidents,
        };
        let spacing = if outline.has_steps {
            let lens = take_all(bytes);
            Spacing::take(bytes, lens)
        } else {
            Spacing::default()
        };
        (summary, spacing)
    }
}

/// Numbers of the incidents.
const INCIDENTS: usize = 36;
// Which of them are not 0 is said by a bit each.
const _: () = assert!(INCIDENTS <= u64::BITS as usize);

/// Makes numbers of incidents and incidents of numbers, in this order: a field is its number, or what the first
/// function makes of it, of which the second one makes the field.
macro_rules! numbers_of_incidents {
    ($($field:ident $(: $put:ident, $take:ident)?;)*) => {
        impl Incidents {
            /// Its numbers, without what is kept while packets come.
            fn numbers(&self) -> [u64; INCIDENTS] {
                let Self { $($field,)* merged_len: _, syn_data: _, latest_recovery: _, latest_data_at: _ } = *self;
                [$($($put)? ($field)),*]
            }

            /// That of which [`numbers`](Self::numbers) gave these.
            const fn of_numbers(numbers: [u64; INCIDENTS]) -> Self {
                let [$($field),*] = numbers;
                Self {
                    $($field: $($take)? ($field),)*
                    merged_len: 0,
                    syn_data: None,
                    latest_recovery: None,
                    latest_data_at: None,
                }
            }
        }
    };
}

numbers_of_incidents! {
    retransmitted_packets;
    retransmitted_bytes;
    rtx_fast;
    rtx_timeout;
    rtx_tail_probe;
    rtx_unneeded;
    lost_upstream;
    lost_downstream;
    reordered_packets;
    reordering_extent_max;
    reordering_late_ns_max: zigzag, unzigzag;
    reordered_at_receiver;
    duplicate_packets;
    ambiguous_packets;
    dup_acks;
    sack_blocks;
    dsacks;
    zero_windows;
    window_full;
    keepalives;
    window_probes;
    ecn_capable_packets;
    ce_marks;
    ece_echoes;
    super_segments;
    merged_packets;
    merged_headers_bytes;
    merged_retransmissions;
    lengths_from_frame;
    headers_cut;
    clock_steps_back;
    recovery_episodes;
    recovery_timeout_episodes;
    recovery_ns: zigzag, unzigzag;
    further_fragments;
    ahead_of_handshake_ns: zigzag, unzigzag;
}

impl Incidents {
    pub(super) const NONE: Self = Self::of_numbers([0; INCIDENTS]);

    /// That of whose numbers only those that are set in `not_zero` are written.
    fn take(not_zero: u64, bytes: &mut &[u8]) -> Self {
        let written = take_many(bytes, not_zero.count_ones() as usize);
        let mut written = written.into_iter();
        let numbers = std::array::from_fn(|place| {
            let is_written = not_zero >> place & 1 != 0;
            is_written.then(|| written.next()).flatten().unwrap_or(0)
        });
        Self::of_numbers(numbers)
    }
}

#[cfg(test)]
mod tests;
