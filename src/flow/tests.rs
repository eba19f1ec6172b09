//! Segment by segment against connection by connection: the same connections, with the same in them.

mod strays;

use proptest::prelude::*;

use super::*;
use crate::decode::{Ecn, Endpoint, SackBlocks, Segment, SynOptions, TcpFlags};
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

#[derive(Default)]
struct Ended(Vec<End>);

impl Observer for Ended {
    type Flow = Taken;

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
            ..between(src, dst)
        }
    };
    steps.iter().enumerate().map(one).collect()
}

/// An empty segment between two ends.
fn between(src: Endpoint, dst: Endpoint) -> Segment {
    Segment {
        at: CaptureTime::from_ns(0),
        ordinal: 0,
        src,
        dst,
        seq: Seq(0),
        ack: Seq(0),
        flags: TcpFlags(0),
        window: 500,
        payload_len: 0,
        ip_len: 40,
        ip_packets: 1,
        ip_id: None,
        ecn: Ecn::NotEct,
        timestamps: None,
        syn: SynOptions::default(),
        sack: SackBlocks::default(),
        length_from_frame: false,
        header_cut: false,
    }
}

fn in_order((ended, _): (Ended, TableFacts)) -> Vec<End> {
    let mut connections = ended.0;
    connections.sort();
    connections
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn by_connection_is_as_by_segment(
        steps in proptest::collection::vec(step(), 1..80),
        part_len in 1_usize..40,
        few in any::<bool>(),
    ) {
        let segments = segments(&steps);
        let mut limits = FlowLimits::default();
        if few {
            (limits.flows_max, limits.half_open_max) = (2, 2);
        }
        let mut one_by_one = FlowTable::new(Ended::default(), limits);
        for segment in &segments {
            one_by_one.on_segment(segment);
        }
        let mut by_connection = FlowTable::new(Ended::default(), limits);
        // Two parts at a time, as a window has several chunks.
        for window in segments.chunks(2 * part_len) {
            by_connection.on_segments(window.chunks(part_len));
        }
        let expected = in_order(one_by_one.finish());
        prop_assert_eq!(&in_order(by_connection.finish()), &expected);
        if !few {
            // What came in two packets is not kept as a first packet: nothing waits.
            let mut all_at_once = FlowTable::new(Ended::default(), limits);
            for segment in &segments {
                all_at_once.on_segment(&Segment { ip_packets: 2, ..*segment });
            }
            prop_assert_eq!(&in_order(all_at_once.finish()), &expected);
        }
        let mut seen: Vec<u64> = expected.iter().flat_map(|(_, taken, _)| taken).map(|&(_, ordinal)| ordinal).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..segments.len() as u64).collect::<Vec<_>>(), "each segment once");
    }
}
