//! Frames of many packets.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{channel, sync_channel};

use super::super::feed::{BATCH_MAX, Feed, Sight};
use super::super::offload::Pieces;
use super::super::rules::Rules;
use super::super::sighting::FlowKey;
use super::*;
use crate::analyze::Watch;
use crate::decode::{DecodeOptions, Endpoint};

#[test]
fn a_batch_has_so_many_packets_however_many_a_window_of_frames_holds() {
    let frame = |n: u16| Packet {
        seq: 1 + u32::from(n) * 60_000,
        len: 60_000,
        snap: 54,
        ..data(n, SECOND + i64::from(n) * MS)
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames.pcap");
    fs::write(&path, file(&(0..3000).map(frame).collect::<Vec<_>>())).unwrap();
    let flow = FlowKey {
        src: Endpoint::v4([10, 0, 0, 1], 80),
        dst: Endpoint::v4([10, 0, 0, 2], 5001),
        protocol: 6,
    };
    let sight = Sight {
        decode: DecodeOptions::default(),
        rules: Rules::STRICTEST,
        link_local: false,
        pieces: HashMap::from([(
            flow,
            Pieces {
                packet_len: 576,
                ids_count: true,
            },
        )]),
        left_out: HashSet::new(),
        unseen: Vec::new(),
        flow_rules: HashMap::new(),
        repair: false,
    };
    let (out, batches) = sync_channel(100);
    let (_used, back) = channel();
    let (watch, point) = (Watch::default(), Point::file(path));
    let read = Feed::open(&point, &sight, (1, MS), &watch)
        .unwrap()
        .run(&out, &back);
    drop(out);
    // 60,000 bytes are 112 packets of 536.
    assert_eq!((read.facts.records, read.facts.packets), (3000, 3000 * 112));
    let batches: Vec<_> = batches.iter().map(|batch| batch.sightings).collect();
    assert!(batches.len() > 1);
    assert!(batches.iter().all(|batch| batch.len() < BATCH_MAX + 112));
    let frames = batches.iter().flatten().map(|sighting| sighting.frame);
    assert!(frames.clone().is_sorted());
    assert_eq!(frames.count(), 3000 * 112);
}

/// Segmentation by the card leaves CWR to the first packet of a frame, as it is said once (RFC 3168 section 6.1.2), or
/// has it in each, where it counts marks (RFC 9768 section 3.2).
#[test]
fn a_packet_of_a_frame_with_cwr_is_found_with_and_without_it() {
    for in_each in [false, true] {
        let mut first = Vec::new();
        let mut second = Vec::new();
        for n in 0..20_u16 {
            let at = SECOND + i64::from(n) * 10 * MS;
            let flags = if n % 5 == 0 { ACK | CWR } else { ACK };
            first.push(Packet {
                len: 3000,
                flags,
                ..data(3 * n, at)
            });
            first.push(ack(3 * n, at + 6 * MS));
            second.push(ack(3 * n, at + 5 * MS));
            for part in 0..3 {
                second.push(Packet {
                    flags: if part == 0 || in_each { flags } else { ACK },
                    ..data(3 * n + part, at + (2 + i64::from(part)) * MS)
                });
            }
        }
        let hop = hop(&first, &second);
        let flow = flow(&hop, Heading::Forward);
        assert_eq!((flow.packets, flow.passed_packets), (60, 60));
        assert_eq!((flow.dropped_packets, flow.appeared_packets), (0, 0));
    }
}

/// A router that translates the addresses of what a client behind it downloads, and merges three packets of it: the
/// flow has another receiver before it than behind it.
#[test]
fn frames_are_taken_apart_where_addresses_are_translated() {
    let translated = |packet: Packet| Packet {
        dst: [192, 168, 0, 9],
        ..packet
    };
    let mut first = Vec::new();
    let mut second = Vec::new();
    for n in 0..20_u16 {
        let at = SECOND + i64::from(n) * 10 * MS;
        first.push(Packet {
            len: 3000,
            ..data(3 * n, at)
        });
        for part in 0..3 {
            let delay = (2 + i64::from(part)) * MS;
            second.push(translated(data(3 * n + part, at + delay)));
        }
        for part in 0..4 {
            let number = 4 * n + part;
            first.push(ack(number, at + 6 * MS));
            second.push(translated(ack(number, at + 5 * MS)));
        }
    }
    second.retain(|packet| packet.back || packet.seq != 31_001);
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.packets, flow.dropped_packets), (60, 1));
    assert_eq!(flow.appeared_packets, 0);
    assert_eq!(hop.facts[0].super_segments, 20);
    let quality = hop.quality();
    for word in ["super_segments", "matched_without_addresses"] {
        assert!(quality.contains(&word), "{quality:?}");
    }
}

/// Packets that nobody may fragment need no id, and many senders put 0 into all (RFC 6864 section 4.1): the packets of
/// a frame do not count up from it then. Segmentation and merging change nothing but sequence numbers and lengths.
#[test]
fn packets_of_frames_are_found_where_all_have_the_same_id() {
    for (id, merging) in [(0, 0), (0, 1), (77, 0)] {
        let mut points = [Vec::new(), Vec::new()];
        for n in 0..20_u16 {
            let at = SECOND + i64::from(n) * 10 * MS;
            let times = [at, at + 2 * MS];
            points[merging].push(Packet {
                id,
                len: 3000,
                ..data(3 * n, times[merging])
            });
            for part in 0..3 {
                points[1 - merging].push(Packet {
                    id,
                    ..data(3 * n + part, times[1 - merging])
                });
            }
            points[0].push(Packet {
                id,
                ..ack(3 * n, at + 6 * MS)
            });
            points[1].push(Packet {
                id,
                ..ack(3 * n, at + 5 * MS)
            });
        }
        // The middle one of the sixth frame, where packets leave one by one.
        let lost = u64::from(merging == 0);
        if merging == 0 {
            points[1].retain(|packet| packet.back || packet.seq != 16_001);
        }
        let hop = hop(&points[0], &points[1]);
        let flow = flow(&hop, Heading::Forward);
        assert_eq!((flow.packets, flow.dropped_packets), (60, lost), "{id}");
        assert_eq!(flow.appeared_packets, 0, "{id}");
        assert_eq!(hop.facts[merging].super_segments, 20);
    }
}

/// Both points have frames of three packets of 1460 bytes, of which the path drops two, after the receiver's SYN or not.
#[test]
fn frames_that_both_points_have_are_the_packets_that_the_receiver_takes() {
    let of_frames = |with_syn: bool, len: u16| {
        let mut points = [Vec::new(), Vec::new()];
        let syn = Packet {
            flags: SYN,
            sacks: 1,
            ..ack(0, SECOND - 10 * MS)
        };
        for (point, late) in points.iter_mut().zip([5 * MS, 0]) {
            let at = syn.at + late;
            point.extend(with_syn.then_some(Packet { at, ..syn.clone() }));
        }
        for n in 0..20_u16 {
            let at = SECOND + i64::from(n) * 10 * MS;
            let frame = Packet {
                seq: 1 + u32::from(n) * u32::from(len),
                len,
                snap: 54,
                ..data(3 * n, at)
            };
            if n != 7 && n != 12 {
                points[1].push(Packet {
                    at: at + 2 * MS,
                    ..frame.clone()
                });
            }
            points[0].push(frame);
            points[0].push(ack(3 * n, at + 6 * MS));
            points[1].push(ack(3 * n, at + 5 * MS));
        }
        let hop = hop(&points[0], &points[1]);
        let flow = flow(&hop, Heading::Forward);
        let said = hop.quality().contains(&"super_segments");
        (flow.packets, flow.dropped_packets, said)
    };
    assert_eq!(of_frames(true, 3 * 1460), (60, 6, true));
    // They may be jumbo frames; of larger ones it is said that nothing tells.
    assert_eq!(of_frames(false, 3 * 1460), (20, 2, false));
    assert_eq!(of_frames(false, 10_000), (20, 2, true));
}
