//! Segment by segment against connection by connection: the same connections, with the same in them.

mod strays;

use proptest::prelude::*;

use super::*;
use crate::decode::{Endpoint, Segment, TcpFlags};
use crate::event::{Direction, FlowSink};
use crate::seq::Seq;
use crate::time::CaptureTime;
use crate::track::Connection;

/// The segments of one connection, each with its direction, in the order they were taken.
#[derive(Default)]
struct Taken(Vec<(Direction, u64)>);

impl FlowSink for Taken {
    fn packet(&mut self, dir: Direction, segment: &Segment) {
        self.0.push((dir, segment.ordinal));
    }
}

/// A connection that has ended: first record, segments, whether a limit ended it.
type End = (u64, Vec<(Direction, u64)>, bool);

/// Those that have ended; `WAITS`: told of the first packets when more follow.
#[derive(Default)]
struct Ended<const WAITS: bool>(Vec<End>);

impl<const WAITS: bool> Observer for Ended<WAITS> {
    type Flow = Taken;
    const WAITS: bool = WAITS;

    fn open(&mut self, _identity: &FlowIdentity) -> Taken {
        Taken::default()
    }

    fn close(&mut self, identity: &FlowIdentity, _: &Connection, flow: Taken, cut: bool) {
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

fn one_by_one<const WAITS: bool>(segments: &[Segment], limits: FlowLimits) -> Vec<End> {
    let mut table = FlowTable::new(Ended::<WAITS>::default(), limits);
    for segment in segments {
        table.on_segment(segment);
    }
    in_order(table.finish())
}

/// Two parts at a time, as a window has several chunks.
fn by_connection<const WAITS: bool>(
    segments: &[Segment],
    part_len: usize,
    limits: FlowLimits,
) -> Vec<End> {
    let mut table = FlowTable::new(Ended::<WAITS>::default(), limits);
    for window in segments.chunks(2 * part_len) {
        table.on_segments(window.chunks(part_len));
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
        let mut limits = FlowLimits::default();
        if few {
            (limits.flows_max, limits.half_open_max) = (2, 2);
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

/// Handshakes that nothing follows, half of them complete, over more than an hour: none is over, so
/// what its state would take is not taken.
#[test]
fn silent_handshakes_stay_as_small_as_they_are() {
    const SYN: u16 = TcpFlags::SYN.0;
    const SYN_ACK: u16 = TcpFlags::SYN.with(TcpFlags::ACK).0;
    let client = |number: u16| Endpoint::v4([10, 1, 0, 1], number);
    let server = Endpoint::v4([10, 0, 0, 9], 80);
    let mut table = FlowTable::new(Ended::<true>::default(), FlowLimits::default());
    for number in 0..2000_u16 {
        let packets = [
            (client(number), server, SYN),
            (server, client(number), SYN_ACK),
            (client(number), server, TcpFlags::ACK.0),
        ];
        let packets = packets.into_iter().take(2 + usize::from(number % 2));
        for (place, (src, dst, flags)) in packets.enumerate() {
            let ordinal = 3 * u64::from(number) + place as u64;
            table.on_segment(&Segment {
                at: CaptureTime::from_ns(ordinal as i64 * 1_000_000_000),
                ordinal,
                flags: TcpFlags(flags),
                ..Segment::empty(src, dst)
            });
        }
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
