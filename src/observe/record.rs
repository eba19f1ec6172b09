//! What is kept of a connection after its end: its numbers in one piece of memory, each in as few bytes as it
//! takes. Of a million connections, hardly any number is ever large, and most are 0.

mod ahead;
mod flow;

pub(crate) use ahead::{Wanted, expect_ahead};
pub use flow::{FlowRecord, OutlinedFlow};

use super::dispersion::Spacing;
use super::live_series::LiveSeries;
use super::memory::gaps_bytes;
use super::payload_curve::PayloadCurve;
use super::quantiles::DelayDistribution;
use super::segment_rows::SegmentRows;
use super::series::{Series, SeriesFacts};
use super::summary::{DirectionSummary, Span};
use super::time_sequence::TimeSequence;
use crate::event::Direction;
use crate::flow::ConnectionIdentity;
use crate::packing::{Bits, first_of, put_all, take_all};
use crate::time::CaptureTime;
use crate::track::{HANDSHAKE_NUMBERS, HalfState, Handshake};

/// A connection with payload, after its end.
#[derive(Clone, Debug)]
pub struct ConnectionRecord {
    /// Who and when.
    pub identity: ConnectionIdentity,
    /// The [`Head`], one flow after the other, the handshake, and the series of the flows.
    packed: Box<[u8]>,
    /// What few flows have, by direction; `None` where neither has anything.
    extras: Option<Box<[FlowExtras; 2]>>,
}

/// What is only kept of some flows, or where it is asked for, and is too large or changes too often to be packed.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowExtras {
    pub(super) curve: PayloadCurve,
    pub(super) time_sequence: Option<Box<TimeSequence>>,
    pub(super) gaps: Option<Box<DelayDistribution>>,
    pub(super) segments: SegmentRows,
}

impl FlowExtras {
    fn is_empty(&self) -> bool {
        let Self {
            curve,
            time_sequence,
            gaps,
            segments,
        } = self;
        curve.is_empty() && time_sequence.is_none() && gaps.is_none() && segments.is_empty()
    }

    /// Memory that it holds besides itself, in bytes, without what has bounds of its own.
    fn memory_bytes(&self) -> usize {
        gaps_bytes(self.gaps.as_deref()) + self.segments.memory_bytes()
    }
}

/// What is known of a connection besides its flows, but for its handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionFacts {
    /// It was put away because too many were alive, or more of its segments were in flight than are remembered.
    pub cut_by_limit: bool,
    /// Packets of both directions.
    pub packets: [u64; 2],
    /// TCP headers of both directions that the snap length cut; saturates.
    pub headers_cut: [u32; 2],
    /// Packets of both directions that are older than the one before; saturates.
    pub clock_steps_back: [u32; 2],
}

/// What comes first: the connection's own numbers, and where those of its flows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Head {
    facts: ConnectionFacts,
    /// Bytes that each direction takes, without its series; 0 where it is no flow.
    flow_lens: [usize; 2],
    series: [SeriesFacts; 2],
}

const HEAD_NUMBERS: usize = 13;

impl Head {
    fn put(&self, bytes: &mut Vec<u8>) {
        let ConnectionFacts {
            cut_by_limit,
            packets,
            headers_cut,
            clock_steps_back,
        } = self.facts;
        let mut bits = Bits::default();
        bits.put_flag(cut_by_limit);
        for series in self.series {
            bits.put_flag(series.cut);
            bits.put_flag(series.given_up);
        }
        let pairs = [
            packets,
            headers_cut.map(u64::from),
            clock_steps_back.map(u64::from),
            self.flow_lens.map(|len| len as u64),
            self.series.map(|series| series.bins.into()),
            self.series.map(|series| series.len as u64),
        ];
        let mut numbers = [bits.number(); HEAD_NUMBERS];
        numbers[1..].copy_from_slice(pairs.as_flattened());
        put_all(bytes, &numbers);
    }

    fn take(bytes: &mut &[u8]) -> Self {
        let numbers: [u64; HEAD_NUMBERS] = take_all(bytes);
        let mut bits = Bits::of(numbers[0]);
        let pair = |place: usize| [numbers[1 + 2 * place], numbers[2 + 2 * place]];
        let cut_by_limit = bits.take_flag();
        let ([bins, next_bins], [len, next_len]) = (pair(4), pair(5));
        let series = [(bins, len), (next_bins, next_len)].map(|(bins, len)| SeriesFacts {
            bins: bins as u32,
            len: len as usize,
            cut: bits.take_flag(),
            given_up: bits.take_flag(),
        });
        Self {
            facts: ConnectionFacts {
                cut_by_limit,
                packets: pair(0),
                headers_cut: pair(1).map(|count| count as u32),
                clock_steps_back: pair(2).map(|count| count as u32),
            },
            flow_lens: pair(3).map(|len| len as usize),
            series,
        }
    }
}

/// A record in the making, whose room serves one connection after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Packer {
    head: Head,
    flows: Vec<u8>,
    series: Vec<u8>,
    extras: Option<Box<[FlowExtras; 2]>>,
    whole: Vec<u8>,
}

impl Packer {
    /// The next flow of a connection that began at `start`: forward before reverse.
    pub(super) fn add(
        &mut self,
        dir: Direction,
        (summary, state): (&DirectionSummary, HalfState),
        spacing: &Spacing,
        series: &mut LiveSeries,
        start: CaptureTime,
    ) {
        let before = self.flows.len();
        summary.put(state, spacing, start, &mut self.flows);
        self.head.flow_lens[dir.index()] = self.flows.len() - before;
        self.head.series[dir.index()] = series.end(&mut self.series);
    }

    /// What else that flow has.
    pub(super) fn add_extras(&mut self, dir: Direction, extras: FlowExtras) {
        if !extras.is_empty() {
            self.extras.get_or_insert_default()[dir.index()] = extras;
        }
    }

    /// The record; `None` of a connection without flows.
    pub(super) fn finish(
        &mut self,
        identity: &ConnectionIdentity,
        facts: ConnectionFacts,
        handshake: &Handshake,
    ) -> Option<Box<ConnectionRecord>> {
        if self.flows.is_empty() {
            return None;
        }
        let head = Head {
            facts,
            ..std::mem::take(&mut self.head)
        };
        self.whole.clear();
        head.put(&mut self.whole);
        self.whole.append(&mut self.flows);
        put_all(&mut self.whole, &handshake.numbers(identity.first_at));
        self.whole.append(&mut self.series);
        let packed = self.whole.as_slice().into();
        for room in [&mut self.flows, &mut self.series, &mut self.whole] {
            room.clear();
            room.shrink_to(ROOM_MAX);
        }
        Some(Box::new(ConnectionRecord {
            identity: *identity,
            packed,
            extras: self.extras.take(),
        }))
    }
}

/// What a packer holds on to between two connections, in bytes of each of its rooms: one series may take megabytes.
const ROOM_MAX: usize = 1 << 16;

impl ConnectionRecord {
    /// Its flows: one or two, forward before reverse.
    pub fn flows(&self) -> impl Iterator<Item = FlowRecord<'_>> {
        self.parts().flows()
    }

    /// How it opened and closed.
    #[must_use]
    pub fn handshake(&self) -> Handshake {
        self.parts().handshake()
    }

    /// What else is known of it as a whole.
    #[must_use]
    pub fn facts(&self) -> ConnectionFacts {
        self.head().0.facts
    }

    /// Where its flows, its handshake and its facts are, for who wants several of them.
    #[must_use]
    pub fn parts(&self) -> RecordParts<'_> {
        let (head, rest) = self.head();
        RecordParts {
            connection: self,
            head,
            rest,
        }
    }

    /// The head, and what comes behind it.
    fn head(&self) -> (Head, &[u8]) {
        let mut rest = &self.packed[..];
        (Head::take(&mut rest), rest)
    }

    fn extras_of(&self, dir: Direction) -> Option<&FlowExtras> {
        Some(&self.extras.as_deref()?[dir.index()])
    }

    /// Memory that it holds besides itself, in bytes, without what has bounds of its own.
    pub(super) fn memory_bytes(&self) -> usize {
        let extras = self.extras.as_deref().map_or(0, |extras| {
            size_of_val(extras) + extras.iter().map(FlowExtras::memory_bytes).sum::<usize>()
        });
        self.packed.len() + extras
    }

    /// Drops the curves of the flows that are not `wanted`, by payload bytes and first and last data instant, and calls
    /// `each` with the others; whether any flow is.
    pub(super) fn retain_curves(
        &mut self,
        wanted: impl Fn(u64, Option<Span>) -> bool,
        mut each: impl FnMut(&mut PayloadCurve),
    ) -> bool {
        let mut extras = self.extras.take();
        let mut any = false;
        for flow in self.flows() {
            let is_wanted = wanted(flow.payload_bytes(), flow.data_span());
            any |= is_wanted;
            if let Some(extras) = &mut extras {
                let curve = &mut extras[flow.dir.index()].curve;
                if is_wanted {
                    each(curve);
                } else {
                    *curve = PayloadCurve::default();
                }
            }
        }
        if let Some(extras) = extras {
            self.put_back(extras);
        }
        any
    }

    /// Gives up the time sequence of a direction.
    pub(super) fn drop_time_sequence(&mut self, dir: Direction) {
        if let Some(mut extras) = self.extras.take() {
            extras[dir.index()].time_sequence = None;
            self.put_back(extras);
        }
    }

    /// Gives up series and rows of the flows with at most so much payload.
    pub(super) fn give_up_details(&mut self, payload_bytes: u64) {
        let parts = self.parts();
        let given_up = parts
            .flows()
            .filter(|flow| flow.payload_bytes() <= payload_bytes && !flow.series().is_given_up());
        let given_up: Vec<Direction> = given_up.map(|flow| flow.dir).collect();
        if given_up.is_empty() {
            return;
        }
        let RecordParts { mut head, rest, .. } = parts;
        let series = [Direction::Forward, Direction::Reverse].map(|dir| parts.series(dir));
        let others = rest.len()
            - series
                .iter()
                .map(|series| series.packed.len())
                .sum::<usize>();
        let mut bytes = Vec::new();
        for dir in &given_up {
            head.series[dir.index()] = SeriesFacts::GIVEN_UP;
        }
        head.put(&mut bytes);
        bytes.extend_from_slice(&rest[..others]);
        for (series, facts) in series.iter().zip(head.series) {
            bytes.extend_from_slice(&series.packed[..facts.len]);
        }
        self.packed = bytes.into();
        if let Some(mut extras) = self.extras.take() {
            for dir in &given_up {
                extras[dir.index()].segments = SegmentRows::default();
            }
            self.put_back(extras);
        }
    }

    fn put_back(&mut self, extras: Box<[FlowExtras; 2]>) {
        self.extras = Some(extras).filter(|extras| !extras.iter().all(FlowExtras::is_empty));
    }
}

/// A record of which it is known where its parts are.
#[derive(Clone, Copy, Debug)]
pub struct RecordParts<'a> {
    connection: &'a ConnectionRecord,
    head: Head,
    /// What comes behind the head.
    rest: &'a [u8],
}

impl<'a> RecordParts<'a> {
    /// The connection's flows: one or two, forward before reverse.
    pub fn flows(self) -> impl Iterator<Item = FlowRecord<'a>> {
        let mut place = self.connection.packed.len() - self.rest.len();
        let dirs = [Direction::Forward, Direction::Reverse].into_iter();
        dirs.zip(self.head.flow_lens).filter_map(move |(dir, len)| {
            let record = FlowRecord {
                connection: self.connection,
                dir,
                place: place as u32,
                series: self.series(dir),
            };
            place += len;
            (len > 0).then_some(record)
        })
    }

    /// How it opened and closed.
    #[must_use]
    pub fn handshake(&self) -> Handshake {
        let numbers: [u64; HANDSHAKE_NUMBERS] = take_all(&mut self.behind_flows());
        Handshake::of_numbers(&numbers, self.connection.identity.first_at)
    }

    /// Whether a SYN of each direction was seen: of the handshake no more is unpacked.
    #[must_use]
    pub fn are_openings_seen(&self) -> [bool; 2] {
        let [first] = first_of::<HANDSHAKE_NUMBERS, 1>(self.behind_flows());
        Handshake::are_openings_seen(first)
    }

    /// The handshake, and the series behind it.
    fn behind_flows(&self) -> &'a [u8] {
        after(self.rest, self.head.flow_lens.iter().sum())
    }

    /// What else is known of it as a whole.
    #[must_use]
    pub fn facts(&self) -> ConnectionFacts {
        self.head.facts
    }

    fn series(&self, dir: Direction) -> Series<'a> {
        let [forward, reverse] = self.head.series;
        let (facts, behind) = match dir {
            Direction::Forward => (forward, reverse.len),
            Direction::Reverse => (reverse, 0),
        };
        // The last bytes.
        let end = self.rest.len().saturating_sub(behind);
        let packed = self.rest.get(end.saturating_sub(facts.len)..end);
        Series {
            packed: packed.unwrap_or_default(),
            facts,
        }
    }
}

/// What comes behind the first `len` of these bytes.
fn after(bytes: &[u8], len: usize) -> &[u8] {
    bytes.get(len..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Endpoint, Segment, Transport};
    use crate::event::PacketArrival;
    use proptest::prelude::*;

    const START: CaptureTime = CaptureTime::from_ns(1_700_000_000_000_000_000);

    fn facts() -> impl Strategy<Value = ConnectionFacts> {
        any::<(bool, [u64; 2], [u32; 2], [u32; 2])>().prop_map(
            |(cut_by_limit, packets, headers_cut, clock_steps_back)| ConnectionFacts {
                cut_by_limit,
                packets,
                headers_cut,
                clock_steps_back,
            },
        )
    }

    fn series_facts() -> impl Strategy<Value = SeriesFacts> {
        any::<(u32, usize, bool, bool)>().prop_map(|(bins, len, cut, given_up)| SeriesFacts {
            bins,
            len,
            cut,
            given_up,
        })
    }

    /// The flows of a record: payload and bins of each direction.
    fn record(facts: ConnectionFacts, flows: [Option<(u64, u64)>; 2]) -> Option<ConnectionRecord> {
        let identity = ConnectionIdentity {
            opener: Endpoint::v4([10, 0, 0, 1], 1),
            peer: Endpoint::v4([10, 0, 0, 2], 2),
            transport: Transport::Tcp,
            first_ordinal: 7,
            first_at: START,
        };
        let mut packer = Packer::default();
        for (dir, flow) in [Direction::Forward, Direction::Reverse]
            .into_iter()
            .zip(flows)
        {
            let Some((payload_bytes, bins)) = flow else {
                continue;
            };
            let mut summary = DirectionSummary::default();
            let packet = PacketArrival::from(&Segment {
                at: START,
                payload_len: payload_bytes as u32,
                ..Segment::empty(identity.opener, identity.peer)
            });
            summary.on_packet(&packet);
            if payload_bytes > 0 {
                summary.on_payload(&packet);
            }
            let mut series = LiveSeries::new(START, 100, Some(1000));
            for bin in 0..bins as i64 {
                series.at(START.plus_ns(100 * bin)).payload_bytes = payload_bytes;
            }
            let told = (&summary, HalfState::default());
            packer.add(dir, told, &Spacing::default(), &mut series, START);
        }
        let record = packer.finish(&identity, facts, &Handshake::default());
        record.map(|record| *record)
    }

    fn told(record: &ConnectionRecord) -> Vec<(Direction, u64, usize)> {
        let flows = record.flows();
        flows
            .map(|flow| {
                let bins = flow.series().bins();
                assert!(
                    bins.clone()
                        .all(|bin| bin.payload_bytes == flow.payload_bytes())
                );
                assert_eq!(flow.summary().payload_bytes, flow.payload_bytes());
                (flow.dir, flow.payload_bytes(), bins.len())
            })
            .collect()
    }

    proptest! {
        #[test]
        fn heads_come_back_as_they_were(
            facts in facts(),
            flow_lens: [usize; 2],
            series in prop::array::uniform2(series_facts()),
        ) {
            let head = Head { facts, flow_lens, series };
            let mut bytes = Vec::new();
            head.put(&mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(Head::take(&mut rest), head);
            prop_assert!(rest.is_empty());
        }

        /// Of two flows one, both or none have little enough payload.
        #[test]
        fn what_is_given_up_is_the_series_alone(
            facts in facts(),
            flows in prop::array::uniform2(proptest::option::of((0..100_u64, 1..40_u64))),
            given_up_bytes in 0..100_u64,
        ) {
            let Some(mut record) = record(facts, flows) else {
                prop_assert_eq!(flows, [None; 2]);
                return Ok(());
            };
            let expected = |given_up: bool| -> Vec<(Direction, u64, usize)> {
                let flows = [Direction::Forward, Direction::Reverse].into_iter().zip(flows);
                flows
                    .filter_map(|(dir, flow)| {
                        let (bytes, bins) = flow?;
                        let goes = given_up && bytes <= given_up_bytes;
                        Some((dir, bytes, if goes { 0 } else { bins as usize }))
                    })
                    .collect()
            };
            prop_assert_eq!(told(&record), expected(false));
            let before = record.memory_bytes();
            let small = flows.iter().flatten().filter(|(bytes, _)| *bytes <= given_up_bytes);
            record.give_up_details(given_up_bytes);
            let given_up = record.flows().filter(|flow| flow.series().is_given_up());
            prop_assert_eq!(given_up.count(), small.count());
            prop_assert_eq!(told(&record), expected(true));
            prop_assert!(record.memory_bytes() <= before);
            prop_assert_eq!(record.facts(), facts);
            prop_assert!(record.handshake().opening(Direction::Forward).is_none());
        }
    }
}
