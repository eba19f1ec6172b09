//! Segment by segment against connection by connection: the same connections, with the same in them.

mod conversations;
mod strays;

use proptest::prelude::*;

use super::*;
use crate::decode::{Endpoint, Segment, TcpFlags};
use crate::event::{Direction, FlowSink, PacketArrival};
use crate::seq::Seq;
use crate::time::CaptureTime;
use crate::track::Connection;

/// The segments of one connection, each with its direction, in the order they were taken.
#[derive(Default)]
struct Taken(Vec<(Direction, u64)>);

impl FlowSink for Taken {
    fn packet(&mut self, dir: Direction, packet: &PacketArrival) {
        self.0.push((dir, packet.ordinal));
    }
}

/// A connection that has ended: first record, segments, whether a limit ended it.
type End = (u64, Vec<(Direction, u64)>, bool);

/// Those that have ended; `WAITS`: told of the first packets when more follow.
#[derive(Default)]
struct Ended<const WAITS: bool>(Vec<End>);

impl<const WAITS: bool> Observer for Ended<WAITS> {
    type Sink = Taken;
    const WAITS: bool = WAITS;

    fn open(&mut self, _identity: &ConnectionIdentity) -> Taken {
        Taken::default()
    }

    fn close(&mut self, identity: &ConnectionIdentity, _: &Connection, flow: Taken, cut: bool) {
        self.0.push((identity.first_ordinal, flow.0, cut));
    }
}

/// One of four clients and a server; which way, flags, sequence number, bytes, time since the last.
type Step = (u8, bool, u16, u32, u32, i64);

fn step() -> impl Strategy<Value = Step> {
    let flags = prop_oneof![6 => Just(TcpFlags::ACK), 2 => Just(TcpFlags::SYN),
        1 => Just(TcpFlags::SYN.with(TcpFlags::ACK)), 1 => Just(TcpFlags::FIN.with(TcpFlags::ACK)),
        1 => Just(TcpFlags::RST)];
    // Milliseconds, and now and then what ends a connection that is over, or any; or a step back.
    let seconds = prop_oneof![20 => Just(0_i64), 2 => Just(61), 1 => Just(7600), 1 => Just(-5)];
    (0..4_u8, any::<bool>(), flags, 0..4_u32, 0..2_u32, seconds).prop_map(
        |(client, back, flags, seq, data, seconds)| (client, back, flags.0, seq, data, seconds),
    )
}

fn segments(steps: &[Step]) -> Vec<Segment> {
    let mut now = CaptureTime::from_ns(1_000_000_000_000);
    let server = Endpoint::v4([10, 0, 0, 9], 80);
    let one = |(ordinal, &(client, back, flags, seq, data, seconds)): (usize, &Step)| {
        now = now.plus_ns(seconds * 1_000_000_000 + 1_000_000);
        let client = Endpoint::v4([10, 0, 0, client], 1000);
        let (src, dst) = if back {
            (server, client)
        } else {
            (client, server)
        };
        Segment {
            at: now,
            ordinal: ordinal as u64,
            seq: Seq(seq * 100),
            ack: Seq(100),
            flags: TcpFlags(flags),
            payload_len: data * 100,
            ip_len: 40 + data * 100,
            ..Segment::empty(src, dst)
        }
    };
    steps.iter().enumerate().map(one).collect()
}

fn in_order<const WAITS: bool>((ended, _): (Ended<WAITS>, TableFacts)) -> Vec<End> {
    let mut connections = ended.0;
    connections.sort();
    connections
}

fn one_by_one<const WAITS: bool>(segments: &[Segment], limits: ConnectionLimits) -> Vec<End> {
    let mut table = ConnectionTable::new(Ended::<WAITS>::default(), limits);
    for segment in segments {
        table.on_segment(segment);
    }
    in_order(table.finish())
}

/// Two parts at a time, as a window has several chunks.
fn by_connection<const WAITS: bool>(
    segments: &[Segment],
    part_len: usize,
    limits: ConnectionLimits,
) -> Vec<End> {
    let mut table = ConnectionTable::new(Ended::<WAITS>::default(), limits);
    for window in segments.chunks(2 * part_len) {
        let batch = |segments: &[Segment]| {
            let mut batch = SegmentBatch::default();
            batch.clear(segments[0].ordinal);
            for segment in segments {
                batch.push(0, segment);
            }
            batch.sort();
            batch
        };
        let batches: Vec<SegmentBatch> = window.chunks(part_len).map(batch).collect();
        table.on_segments(batches.iter().map(|batch| batch.all(0)));
    }
    in_order(table.finish())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn by_connection_is_as_by_segment(
        steps in proptest::collection::vec(step(), 1..120),
        part_len in 1_usize..40,
        few in any::<bool>(),
    ) {
        let segments = segments(&steps);
        let mut limits = ConnectionLimits::default();
        if few {
            (limits.connections_max, limits.half_open_max) = (2, 2);
        }
        let expected = one_by_one::<false>(&segments, limits);
        prop_assert_eq!(&by_connection::<false>(&segments, part_len, limits), &expected);
        let waiting = one_by_one::<true>(&segments, limits);
        prop_assert_eq!(&by_connection::<true>(&segments, part_len, limits), &waiting);
        if !few {
            prop_assert_eq!(&waiting, &expected);
            // What came in two packets is not kept, neither as a first packet nor of a young
            // connection: nothing waits.
            let in_two = |segment: &Segment| Segment { ip_packets: 2, ..*segment };
            let fragments: Vec<Segment> = segments.iter().map(in_two).collect();
            prop_assert_eq!(&one_by_one::<true>(&fragments, limits), &expected);
        }
        let mut seen: Vec<u64> = expected.iter().flat_map(|(_, taken, _)| taken).map(|&(_, ordinal)| ordinal).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..segments.len() as u64).collect::<Vec<_>>(), "each segment once");
    }
}

/// A connection of more packets than are kept, with nothing in it that needs its state before: whether
/// the last that is kept is also the last of a part, or not.
#[test]
fn a_connection_grows_up_when_it_has_many_packets() {
    for packets in 85..95 {
        let steps: Vec<Step> = (0..packets)
            .map(|number| (0, number % 3 == 0, TcpFlags::ACK.0, number, 1, 0))
            .collect();
        let segments = segments(&steps);
        let limits = ConnectionLimits::default();
        let expected = one_by_one::<false>(&segments, limits);
        assert_eq!(expected[0].1.len(), packets as usize);
        assert_eq!(one_by_one::<true>(&segments, limits), expected);
        for part_len in [1, 30, 45, 64] {
            assert_eq!(by_connection::<true>(&segments, part_len, limits), expected);
        }
    }
}

const SYN: TcpFlags = TcpFlags::SYN;
const SYN_ACK: TcpFlags = TcpFlags::SYN.with(TcpFlags::ACK);

/// Connections of so many clients, 3 s apart, with packets a second apart: the client's flags and the
/// server's in turn.
fn attempts(clients: u16, flags: impl Fn(u16) -> Vec<TcpFlags>) -> Vec<Segment> {
    let server = Endpoint::v4([10, 0, 0, 9], 80);
    let attempt = |number: u16| {
        let client = Endpoint::v4([10, 1, 0, 1], number);
        let flags = flags(number).into_iter().enumerate();
        let packets = flags.map(|(place, flags)| {
            let ordinal = 3 * u64::from(number) + place as u64;
            let ends = [(client, server), (server, client)][place % 2];
            Segment {
                at: CaptureTime::from_ns(ordinal as i64 * 1_000_000_000),
                ordinal,
                flags,
                ..Segment::empty(ends.0, ends.1)
            }
        });
        packets.collect::<Vec<_>>()
    };
    (0..clients).flat_map(attempt).collect()
}

/// Handshakes that nothing follows, half of them complete, over more than an hour: none is over, so
/// what its state would take is not taken.
#[test]
fn silent_handshakes_stay_as_small_as_they_are() {
    let mut table = ConnectionTable::new(Ended::<true>::default(), ConnectionLimits::default());
    let parts = |number: u16| [SYN, SYN_ACK, TcpFlags::ACK][..2 + usize::from(number % 2)].to_vec();
    for segment in attempts(2000, parts) {
        table.on_segment(&segment);
    }
    assert!(
        table.memory_bytes() < 2000 * 400,
        "{}",
        table.memory_bytes()
    );
    let (ended, facts) = table.finish();
    let packets: Vec<usize> = ended.0.iter().map(|(_, taken, _)| taken.len()).collect();
    let of = |count| packets.iter().filter(|&&packets| packets == count).count();
    assert_eq!(
        (packets.len(), of(2), of(3), facts.cut_by_limit),
        (2000, 1000, 1000, 0)
    );
}

/// A SYN that was refused is over: it is put away some minutes later, and no others with it.
#[test]
fn refused_attempts_do_not_stay() {
    let refusal = TcpFlags::RST.with(TcpFlags::ACK);
    for (answer, ended_early) in [(refusal, 1900..2000), (SYN_ACK, 0..1)] {
        let mut table = ConnectionTable::new(Ended::<true>::default(), ConnectionLimits::default());
        for segment in attempts(2000, |_| vec![SYN, answer]) {
            table.on_segment(&segment);
        }
        let ended = table.observer_mut().0.clone();
        assert!(ended_early.contains(&ended.len()), "{}", ended.len());
        let whole = |(_, taken, cut): &End| taken.len() == 2 && !cut;
        assert!(ended.iter().all(whole));
        let (ended, _) = table.finish();
        assert!(ended.0.len() == 2000 && ended.0.iter().all(whole));
    }
}

/// A clock that is set by 50 years (a router's, when it is told the time) ends no connection, however much passes of
/// others until it goes on: neither one of several packets, nor one of a SYN so far.
#[test]
fn a_clock_that_is_set_ends_no_connection() {
    let leap_ns = 50 * 365 * 86_400 * 1_000_000_000;
    let data = |client: u8, number: u32| (client, false, TcpFlags::ACK.0, number, 1, 0);
    for others in [100, 3000] {
        let before = [
            (0, false, SYN.0, 0, 0, 0),
            data(1, 0),
            data(1, 1),
            data(2, 0),
            data(2, 1),
        ];
        let after = (2..others).map(|number| data(2, number));
        let steps: Vec<Step> = before
            .into_iter()
            .chain(after)
            .chain([data(0, 1), data(1, 2)])
            .collect();
        let mut segments = segments(&steps);
        for segment in &mut segments[before.len()..] {
            segment.at = segment.at.plus_ns(leap_ns);
        }
        let limits = ConnectionLimits::default();
        for ended in [
            one_by_one::<true>(&segments, limits),
            by_connection::<true>(&segments, 1000, limits),
        ] {
            let packets: Vec<usize> = ended.iter().map(|(_, taken, _)| taken.len()).collect();
            assert_eq!(packets, [2, 3, others as usize], "{others}");
        }
    }
}

/// The table's clock goes on from where it was set to: what falls silent there is put away as ever.
#[test]
fn silence_ends_connections_after_the_clock_was_set() {
    let data = |client: u8, number: u32| (client, false, TcpFlags::ACK.0, number, 1, 0);
    let steps: Vec<Step> = (0..3000)
        .map(|number| data(number as u8 % 2, number))
        .collect();
    let mut segments = segments(&steps);
    for segment in &mut segments[2..] {
        segment.at = segment.at.plus_ns(1 << 60);
    }
    let mut table = ConnectionTable::new(Ended::<true>::default(), ConnectionLimits::default());
    for segment in &segments {
        table.on_segment(segment);
    }
    // A walk of 60 s with each record, after three hours without any.
    let late = segments[2999].at.plus_ns(3 * 3_600_000_000_000);
    for number in 0..200 {
        let at = late.plus_ns(number * 1_000_000);
        table.on_segment(&Segment { at, ..segments[0] });
    }
    assert_eq!(table.len(), 1);
    assert_eq!(table.observer_mut().0.len(), 2);
}

/// Damaged records, however many, are no clock that was set, as long as others come between them: what falls silent is
/// put away as ever.
#[test]
fn scattered_leaps_do_not_stop_the_clock() {
    let data = |client: u8, number: u32| (client, false, TcpFlags::ACK.0, number, 1, 0);
    let steps: Vec<Step> = (0..9000).map(|number| data(1, number)).collect();
    let mut segments = segments(&[vec![data(0, 0)], steps].concat());
    // A second with each; every other one, 50 years later.
    let first = segments[0].at;
    for (number, segment) in (0..).zip(&mut segments[1..]) {
        let leap_ns = number % 2 * 50 * 365 * 86_400 * 1_000_000_000;
        segment.at = first.plus_ns(number * 1_000_000_000 + leap_ns);
    }
    let mut table = ConnectionTable::new(Ended::<true>::default(), ConnectionLimits::default());
    for segment in &segments {
        table.on_segment(segment);
    }
    let ended = table.observer_mut().0.iter();
    let packets: Vec<usize> = ended.map(|(_, taken, _)| taken.len()).collect();
    assert_eq!((packets, table.len()), (vec![1], 1));
}

/// When half of them are put away for want of memory, the answers that stay move closer together.
#[test]
fn answers_stay_with_what_they_answer() {
    let clients = 1000;
    let mut table = ConnectionTable::new(Ended::<true>::default(), ConnectionLimits::default());
    // Every third is not answered.
    let answered = |number: u16| !number.is_multiple_of(3);
    let parts = |number: u16| [SYN, SYN_ACK][..=usize::from(answered(number))].to_vec();
    for segment in attempts(clients, parts) {
        table.on_segment(&segment);
    }
    let before = table.memory_bytes();
    table.put_away_half_open();
    assert!(table.memory_bytes() < before * 3 / 4, "{before}");
    let (ended, facts) = table.finish();
    let cut = facts.cut_by_limit;
    assert!((490..=510).contains(&cut), "{cut}");
    for (first, taken, _) in &ended.0 {
        let ordinals: Vec<u64> = taken.iter().map(|&(_, ordinal)| ordinal).collect();
        let packets = 1 + u64::from(answered((first / 3) as u16));
        assert_eq!(ordinals, (*first..first + packets).collect::<Vec<_>>());
    }
    assert_eq!(ended.0.len(), usize::from(clients));
}
