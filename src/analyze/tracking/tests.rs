//! What is kept of curves: whatever the windows, and of how many flows.

use super::*;
use crate::analyze::chunk::Chunk;
use crate::decode::{Endpoint, Segment, TcpFlags};
use crate::seq::Seq;

/// Forty flows in turns. Each packet is so much later than the one before it that its curve takes new
/// memory, 1 kB by the count: 1 MiB after a thousand.
fn slow_flows() -> Vec<Segment> {
    let server = Endpoint::v4([10, 0, 0, 1], 80);
    let one = |ordinal: u64| Segment {
        at: CaptureTime::from_ns(ordinal as i64 * 200_000_000),
        ordinal,
        seq: Seq(ordinal as u32 / 40 * 100),
        flags: TcpFlags::ACK,
        payload_len: 100,
        ip_len: 140,
        ..Segment::empty(server, Endpoint::v4([10, 0, 1, 0], ordinal as u16 % 40))
    };
    (0..140_000).map(one).collect()
}

/// The connections after so many records were taken at a time.
fn tracked_in_windows(config: &Config, segments: &[Segment], records: usize) -> Tracking<false> {
    let mut tracking = Tracking::new(config, CaptureTime::default());
    for window in segments.chunks(records) {
        let mut chunk = Chunk::default();
        for segment in window {
            chunk.segments.push(shard_of(segment), segment);
        }
        chunk.segments.sort();
        let start = window[0].ordinal;
        tracking.take(&Batch {
            chunks: vec![chunk],
            ordinals: start..start + window.len() as u64,
            ..Batch::default()
        });
    }
    tracking
}

/// Memory of the curves that are kept when so many records were read at a time, flow by flow.
fn kept_in_windows(segments: &[Segment], records: usize) -> Vec<usize> {
    let mut tracking = tracked_in_windows(&Config::default(), segments, records);
    let mut kept = Vec::new();
    for sink in tracking.shards.iter_mut().flat_map(Shard::sinks_mut) {
        sink.for_each_curve(|_, _, curve| kept.push(curve.memory_bytes()));
    }
    kept
}

#[test]
fn what_is_kept_of_curves_does_not_depend_on_windows() {
    let segments = slow_flows();
    let expected = kept_in_windows(&segments, segments.len());
    for records in [1_000, 50_000, 1 << 17] {
        assert_eq!(kept_in_windows(&segments, records), expected);
    }
    // It was looked once, behind 2^17 packets, and hardly any of what they took is left.
    let after = segments.len() - (1 << 17);
    let kept: usize = expected.iter().sum();
    assert_eq!(expected.len(), 40);
    assert!((after * 1024..2 * after * 1024).contains(&kept), "{kept}");
}

/// What a flow that ends adds to curves counts towards the next look at them.
#[test]
fn flows_that_end_in_results_so_far_do_not_count_towards_the_next_look() {
    let config = Config::default();
    // Three packets of each flow: it is young, and its curve is made when it ends.
    let mut tracking = tracked_in_windows(&config, &slow_flows()[..120], 1000);
    let before = tracking.pruning.growth_bytes();
    let found = tracking.so_far(CaptureFacts::default(), &config);
    assert_eq!(found.flows().count(), 40);
    assert_eq!(tracking.pruning.growth_bytes(), before);
    let _ = tracking.clone().finish(CaptureFacts::default(), &config);
    assert_ne!(tracking.pruning.growth_bytes(), before);
}

/// Five thousand connections that send twice as many bytes as their number, in two packets a second
/// apart; and a hundred of one packet that is larger than all that, half of them answered.
fn many_small_flows() -> Vec<Segment> {
    let server = Endpoint::v4([10, 0, 0, 1], 80);
    let client = |number: u64| Endpoint::v4([10, 0, 1, 0], number as u16);
    let one = |number: u64, second: i64, payload_len: u32| Segment {
        at: CaptureTime::from_ns(second * 1_000_000_000 + number as i64),
        flags: TcpFlags::ACK,
        seq: Seq(second as u32 * payload_len),
        payload_len,
        ip_len: payload_len + 40,
        ..Segment::empty(client(number), server)
    };
    let twice = |second| (0..5000).map(move |number| one(number, second, number as u32));
    let large = (5000..5100).map(|number| one(number, 1, 50_000));
    let answers = (5000..5050).map(|number| Segment {
        at: CaptureTime::from_ns(2_000_000_000),
        flags: TcpFlags::ACK,
        ..Segment::empty(server, client(number))
    });
    let all = twice(0).chain(large).chain(twice(1)).chain(answers);
    (0..)
        .zip(all)
        .map(|(ordinal, segment)| Segment { ordinal, ..segment })
        .collect()
}

#[test]
fn of_many_flows_those_that_are_compared_have_curves() {
    let config = Config::default();
    let Tracking {
        mut shards,
        pruning,
        ..
    } = tracked_in_windows(&config, &many_small_flows(), 1000);
    pruning.end(&mut shards);
    let recorders = shards
        .into_iter()
        .flat_map(Shard::finish)
        .map(|(recorder, _)| recorder);
    let connections: Vec<_> = recorders
        .flat_map(|recorder| recorder.connections)
        .collect();
    let mut flows: Vec<(u64, u64)> = connections
        .iter()
        .flat_map(|connection| connection.flows())
        .filter(|flow| flow.data_span().is_some_and(|span| span.length_ns() > 0))
        .map(|flow| (flow.payload_bytes(), flow.curve().bytes()))
        .collect();
    flows.sort_unstable();
    assert_eq!(flows.len(), 4999);
    let (small, large) = flows.split_at(flows.len() - config.pairs.top);
    assert!(
        large.iter().all(|&(payload, curve)| payload == curve),
        "{large:?}"
    );
    let kept = small.iter().filter(|&&(_, curve)| curve > 0).count();
    assert!(kept < 200, "{kept} of {}", small.len());
}

/// Seventy thousand connections, one after the other, of two packets a second apart, which are put away in silence, as
/// many of each of a thousand sizes; and before them those of one packet, or of none that are compared.
#[test]
fn of_many_flows_that_have_ended_those_that_are_compared_are_looked_through() {
    let server = Endpoint::v4([10, 0, 0, 1], 80);
    let one = |ordinal: u64| {
        let number = ordinal / 2;
        let payload_len = if number < 10_000 {
            9000
        } else {
            number as u32 * 7919 % 1000 + 1
        };
        let is_single = number < 10_000 && ordinal % 2 == 1;
        let [low, high] = (number as u16).to_le_bytes();
        Segment {
            at: CaptureTime::from_ns(ordinal as i64 * 1_000_000_000),
            ordinal,
            flags: TcpFlags::ACK,
            seq: Seq(if is_single {
                payload_len
            } else {
                ordinal as u32 % 2 * payload_len
            }),
            payload_len: if is_single { 0 } else { payload_len },
            ip_len: 40 + payload_len,
            ..Segment::empty(
                Endpoint::v4([10, (number >> 16) as u8, high, low], 1000),
                server,
            )
        }
    };
    let segments: Vec<Segment> = (0..140_000).map(one).collect();
    let config = Config::default();
    let tracking = tracked_in_windows(&config, &segments, 1000);
    let recorders: Vec<_> = tracking
        .shards
        .into_iter()
        .flat_map(Shard::finish)
        .map(|(recorder, _)| recorder)
        .collect();
    let flows = recorders.iter().flat_map(|recorder| &recorder.connections);
    let mut flows: Vec<(u64, u64)> = flows
        .flat_map(|connection| connection.flows())
        .filter(|flow| flow.data_span().is_some_and(|span| span.length_ns() > 0))
        .map(|flow| (flow.payload_bytes(), flow.curve().bytes()))
        .collect();
    assert_eq!(flows.len(), 60_000);
    flows.sort_unstable();
    let largest = flows[flows.len() - config.pairs.top].0;
    // Of equal ones any may be compared.
    let compared = flows.iter().filter(|&&(payload, _)| payload >= largest);
    assert!(compared.clone().all(|&(payload, curve)| payload == curve));
    let listed: usize = recorders
        .iter()
        .map(|recorder| recorder.comparable().count())
        .sum();
    assert!((config.pairs.top..300).contains(&listed), "{listed}");
    assert!(compared.count() <= listed);
}
