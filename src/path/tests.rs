//! Hand-made captures of two points, with what happened between them.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::capture::ByteOrder;
use crate::capture::tests::build::Pcap;
use crate::decode::Filter;

mod alike;
mod aside;
mod beginnings;
mod clocks;
mod datagrams;
mod drops;
mod filtered;
mod frames;
mod gaps;
mod jitter;
mod matching;
mod parts;
mod pings;

const US: i64 = 1000;
const MS: i64 = 1000 * US;
const SECOND: i64 = 1000 * MS;

const ACK: u8 = 0x10;
const SYN: u8 = 0x02;
const CWR: u8 = 0x80;

/// A TCP packet, and how a point sees it.
#[derive(Clone)]
struct Packet {
    at: i64,
    /// How far the point's clock is ahead then.
    ahead: i64,
    back: bool,
    src: [u8; 4],
    dst: [u8; 4],
    sport: u16,
    id: u16,
    seq: u32,
    len: u16,
    checksum: u16,
    ttl: u8,
    vlan: bool,
    raw_ip: bool,
    snap: usize,
    /// Blocks of SACK behind a timestamp, or what a SYN asks for; no options with 0.
    sacks: u8,
    timestamp: u32,
    flags: u8,
    /// A datagram: what TCP alone has does not count.
    udp: bool,
}

/// The `n`th packet of a download: 1000 bytes of payload each.
fn data(n: u16, at: i64) -> Packet {
    Packet {
        at,
        ahead: 0,
        back: false,
        src: [10, 0, 0, 1],
        dst: [10, 0, 0, 2],
        sport: 80,
        id: 100 + n,
        seq: 1 + u32::from(n) * 1000,
        len: 1000,
        checksum: 7 + n,
        ttl: 64,
        vlan: false,
        raw_ip: false,
        snap: 96,
        sacks: 0,
        timestamp: 100 + u32::from(n),
        flags: ACK,
        udp: false,
    }
}

/// The `n`th ACK of it.
fn ack(n: u16, at: i64) -> Packet {
    Packet {
        back: true,
        id: 5000 + n,
        len: 0,
        ..data(n, at)
    }
}

impl Packet {
    /// A timestamp and SACK blocks above what the packet acknowledges.
    fn options(&self) -> Vec<u8> {
        if self.sacks == 0 {
            return Vec::new();
        }
        if self.flags & SYN != 0 {
            // As Linux asks: segment size, SACK, timestamps, window scale.
            let mut options = vec![2, 4, 5, 180, 4, 2, 8, 10];
            options.extend(self.timestamp.to_be_bytes());
            options.extend([0, 0, 0, 0, 1, 3, 3, 7]);
            return options;
        }
        let mut options = vec![1, 1, 8, 10];
        options.extend(self.timestamp.to_be_bytes());
        options.extend([0, 0, 0, 0, 1, 1, 5, 2 + 8 * self.sacks]);
        for block in 1..=u32::from(self.sacks) {
            let acked = if self.back { self.seq } else { 1 };
            let start = acked + 2000 * block;
            options.extend(start.to_be_bytes());
            options.extend((start + 1000).to_be_bytes());
        }
        options
    }

    fn bytes(&self) -> Vec<u8> {
        let peer = (self.dst, 5001);
        let (src, dst) = if self.back {
            (peer, (self.src, self.sport))
        } else {
            ((self.src, self.sport), peer)
        };
        let mut bytes = Vec::new();
        if !self.raw_ip {
            bytes.extend([2; 12]);
            if self.vlan {
                bytes.extend([0x81, 0, 0, 5]);
            }
            bytes.extend([8, 0]);
        }
        bytes.extend([0x45, 0]);
        let options = self.options();
        let (protocol, header_len) = if self.udp { (17, 8) } else { (6, 20) };
        bytes.extend((20 + header_len + options.len() as u16 + self.len).to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, self.ttl, protocol, 0, 0]);
        bytes.extend(src.0);
        bytes.extend(dst.0);
        bytes.extend(src.1.to_be_bytes());
        bytes.extend(dst.1.to_be_bytes());
        if self.udp {
            bytes.extend((8 + self.len).to_be_bytes());
            bytes.extend(self.checksum.to_be_bytes());
            bytes.resize(bytes.len() + usize::from(self.len), 0);
            return bytes;
        }
        let (seq, ack) = if self.back {
            (1, self.seq)
        } else {
            (self.seq, 1)
        };
        bytes.extend(seq.to_be_bytes());
        bytes.extend(ack.to_be_bytes());
        bytes.extend([0x50 + (options.len() as u8 / 4 * 16), self.flags, 1, 0]);
        bytes.extend(self.checksum.to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(options);
        bytes.resize(bytes.len() + usize::from(self.len), 0);
        bytes
    }
}

/// The packets of a point as a nanosecond pcap file.
fn file(packets: &[Packet]) -> Vec<u8> {
    let mut packets = packets.to_vec();
    packets.sort_by_key(|packet| packet.at);
    let raw_ip = packets.iter().any(|packet| packet.raw_ip);
    let mut file = if raw_ip {
        Pcap::raw_ip(0xa1b2_3c4d)
    } else {
        Pcap::new(ByteOrder::Little, 0xa1b2_3c4d)
    };
    for packet in packets {
        let bytes = packet.bytes();
        let kept = bytes.len().min(packet.snap);
        let at = packet.at + packet.ahead;
        let at = [at / SECOND, at % SECOND].map(|part| part as u32);
        file = file.cut_record(at[0], at[1], &bytes[..kept], bytes.len() as u32);
    }
    file.bytes
}

/// Points, each with the packets it saw.
fn analyse(points: &[&[Packet]], config: &PathConfig) -> Result<PathAnalysis, PathError> {
    let folder = tempfile::tempdir().unwrap();
    let points = points.iter().enumerate().map(|(number, packets)| {
        let path: PathBuf = folder.path().join(format!("{number}.pcap"));
        fs::write(&path, file(packets)).unwrap();
        Point::file(path)
    });
    PathAnalysis::of(&points.collect::<Vec<_>>(), config)
}

/// The only hop between two points.
fn hop(first: &[Packet], second: &[Packet]) -> Hop {
    let mut analysis = analyse(&[first, second], &PathConfig::default()).unwrap();
    analysis.hops.remove(0)
}

/// The flow that goes one way.
fn flow(hop: &Hop, heading: Heading) -> &PathFlow {
    let mut flows = hop.flows.iter().flatten();
    flows.find(|flow| flow.heading == heading).unwrap()
}

/// A download of 40 packets, one every 10 ms, each 2 ms from point to point; ACKs take 1 ms back.
/// `second` makes what the second point sees of what the first saw.
fn download(change: impl Fn(Packet) -> Option<Packet>) -> [Vec<Packet>; 2] {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..40_u16 {
        let at = SECOND + i64::from(n) * 10 * MS;
        points[0].push(data(n, at));
        points[1].extend(change(data(n, at + 2 * MS)));
        points[0].push(ack(n, at + 6 * MS));
        points[1].extend(change(ack(n, at + 5 * MS)));
    }
    points
}

/// What must hold of a download that lost nothing, however the second point saw it.
fn check_clean(change: impl Fn(Packet) -> Option<Packet>) -> Hop {
    let [first, second] = download(change);
    let hop = hop(&first, &second);
    for (heading, delay) in [(Heading::Forward, 2 * MS), (Heading::Reverse, MS)] {
        let flow = flow(&hop, heading);
        assert_eq!((flow.packets, flow.passed_packets), (40, 40), "{heading:?}");
        assert_eq!(flow.delay.ns_min(), Some(delay), "{heading:?}");
        assert_eq!(flow.delay.ns_max(), Some(delay), "{heading:?}");
        assert_eq!((flow.appeared_packets, flow.uncertain_packets), (0, 0));
    }
    hop
}

#[test]
fn packets_are_followed_both_ways() {
    let hop = check_clean(Some);
    assert_eq!(hop.quality(), Vec::<&str>::new());
    assert!(!hop.clock_is_fixed());
    // Half of the smallest round trip between the points, and a tick of the stamps.
    let clock = hop.clock_estimate.unwrap();
    assert_eq!(clock.uncertainty_ns.map(f64::round), Some(1.5e6 + 1.0));
}

#[test]
fn what_never_arrives_was_dropped_and_when() {
    let [first, second] = download(|packet| {
        let lost = !packet.back && (110..113).contains(&packet.id);
        (!lost).then_some(packet)
    });
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.packets, flow.dropped_packets), (40, 3));
    assert_eq!((flow.dropped_bytes, flow.dropped_run_max), (3 * 1040, 3));
    let way = &hop.ways[Heading::Forward as usize];
    let times: Vec<i64> = way.drops.iter().map(|drop| drop.at_ns - SECOND).collect();
    assert_eq!(times, [100 * MS, 110 * MS, 120 * MS]);
    // Nothing waited: packets are 10 ms apart.
    assert!(way.drops.iter().all(|drop| drop.cause == DropCause::Idle));
    assert_eq!(way.episodes.len(), 1);
    assert_eq!(way.episodes[0].run_max, 3);
    assert_eq!(hop.ways[Heading::Reverse as usize].drops, []);
}

#[test]
fn a_second_copy_is_no_packet_that_came_in() {
    let [first, mut second] = download(Some);
    second.push(data(20, SECOND + 203 * MS));
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.passed_packets, flow.appeared_packets), (40, 1));
    assert_eq!(flow.delay.ns_max(), Some(2 * MS));
    assert_eq!(hop.quality(), ["packets_appeared"]);
}

/// Hosts on both sides ask, in equal words, before they have an address: one flow that goes both ways.
#[test]
fn packets_of_a_host_without_an_address_tell_no_way() {
    let [mut first, mut second] = download(Some);
    let nobody = |n: u16, at: i64| Packet {
        src: [0; 4],
        vlan: true,
        ..data(n, at)
    };
    first.push(nobody(1, SECOND + 52 * MS));
    second.push(nobody(1, SECOND + 54 * MS));
    for (n, at) in [(2, SECOND + 71 * MS), (3, SECOND + 81 * MS)] {
        second.push(nobody(n, at));
        first.push(nobody(n, at + MS));
    }
    let hop = hop(&first, &second);
    assert!(!hop.clock_is_fixed());
    for (heading, delay) in [(Heading::Forward, 2 * MS), (Heading::Reverse, MS)] {
        let flow = flow(&hop, heading);
        assert_eq!((flow.packets, flow.passed_packets), (40, 40), "{heading:?}");
        assert_eq!(flow.delay.ns_min(), Some(delay), "{heading:?}");
        assert_eq!(flow.delay.ns_max(), Some(delay), "{heading:?}");
    }
}

#[test]
fn packets_overtaken_between_the_points_keep_their_delay() {
    let [first, second] = download(|packet| {
        let late = !packet.back && packet.id == 120;
        let at = packet.at + if late { 25 * MS } else { 0 };
        Some(Packet { at, ..packet })
    });
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.passed_packets, flow.reordered_packets), (40, 1));
    assert_eq!(flow.delay.ns_max(), Some(27 * MS));
}

/// Without IP ids, a repeat looks like what it repeats.
#[test]
fn a_repeat_is_not_taken_for_the_copy_that_was_lost() {
    let plain = |packet: Packet| Packet { id: 0, ..packet };
    let [first, second] = download(|packet| Some(plain(packet)));
    let mut first: Vec<Packet> = first.into_iter().map(plain).collect();
    let lost = second
        .iter()
        .position(|packet| !packet.back && packet.seq == 10_001);
    let mut second = second;
    second.remove(lost.unwrap());
    first.push(plain(data(10, SECOND + 305 * MS)));
    second.push(plain(data(10, SECOND + 307 * MS)));
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.packets, flow.dropped_packets), (41, 1));
    assert_eq!(flow.delay.ns_max(), Some(2 * MS), "the repeat took 2 ms");
    let way = &hop.ways[Heading::Forward as usize];
    assert_eq!(
        way.drops[0].at_ns,
        SECOND + 100 * MS,
        "the first copy was lost"
    );
    assert_eq!(flow.uncertain_packets, 2);
}

#[test]
fn checksums_tell_packets_with_equal_headers_apart() {
    let [mut first, mut second] = download(Some);
    // Two keep-alives at once, of which the first is lost.
    let twin = |checksum: u16, at: i64| Packet {
        checksum,
        len: 1,
        ..data(39, at)
    };
    first.push(twin(1, SECOND + 500 * MS));
    first.push(twin(2, SECOND + 501 * MS));
    second.push(twin(2, SECOND + 503 * MS));
    let mut closing = data(41, SECOND + 600 * MS);
    first.push(closing.clone());
    closing.at += 2 * MS;
    second.push(closing);
    let hop = hop(&first, &second);
    let way = &hop.ways[Heading::Forward as usize];
    assert_eq!(way.drops.len(), 1);
    assert_eq!(way.drops[0].at_ns, SECOND + 500 * MS);
    assert_eq!(flow(&hop, Heading::Forward).uncertain_packets, 0);
}

/// Frames of three packets at the first point (receive offload), of which the second is dropped.
#[test]
fn frames_of_offload_are_taken_apart() {
    let mut first = Vec::new();
    let mut second = Vec::new();
    for n in 0..20_u16 {
        let at = SECOND + i64::from(n) * 10 * MS;
        let merged = Packet {
            len: 3000,
            ..data(3 * n, at)
        };
        first.push(merged);
        first.push(ack(3 * n, at + 6 * MS));
        second.push(ack(3 * n, at + 5 * MS));
        let parts = (3 * n..).zip([2 * MS, 3 * MS, 4 * MS]);
        second.extend(parts.map(|(part, delay)| data(part, at + delay)));
    }
    second.retain(|packet| packet.back || packet.seq != 31_001);
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.packets, flow.dropped_packets), (60, 1));
    assert_eq!(hop.facts[0].super_segments, 20);
    assert!(hop.quality().contains(&"super_segments"));
}

/// A sender that has received, and lost, data itself: its segments are as much shorter as the SACK blocks
/// in them take, 12 bytes for one and 20 for two, beside 12 of timestamps. The kernel cuts its frames into
/// packets of one length.
#[test]
fn packets_of_offload_with_sack_blocks_hold_less() {
    let mut first = Vec::new();
    let mut second = Vec::new();
    let (mut seq, mut id) = (1, 100);
    for n in 0..20_u16 {
        let at = SECOND + i64::from(n) * 10 * MS;
        let sacks = (n % 2 + 1) as u8;
        let len = 1460 - 12 - (4 + 8 * u16::from(sacks));
        let frame = Packet {
            seq,
            id,
            len: 3 * len,
            sacks,
            ..data(n, at)
        };
        for part in 0..3_u16 {
            second.push(Packet {
                seq: seq + u32::from(part * len),
                id: id + part,
                len,
                at: at + (2 + i64::from(part)) * MS,
                ..frame.clone()
            });
        }
        first.push(frame);
        first.push(ack(3 * n, at + 6 * MS));
        second.push(ack(3 * n, at + 5 * MS));
        seq += u32::from(3 * len);
        id += 3;
    }
    let hop = hop(&first, &second);
    let flow = flow(&hop, Heading::Forward);
    assert_eq!((flow.packets, flow.passed_packets), (60, 60));
    assert_eq!((flow.dropped_packets, flow.appeared_packets), (0, 0));
}

/// A link of 8 Mbit/s: 1040 bytes take 1.04 ms. Ten packets come at once, and are stamped when
/// they have been sent: the n-th waits n times as long.
#[test]
fn a_queue_is_what_has_come_and_is_not_yet_being_sent() {
    let sending = 1040 * US;
    let mut first = Vec::new();
    let mut second = Vec::new();
    for burst in 0..20_i64 {
        for n in 0..10_i64 {
            let number = (burst * 10 + n) as u16;
            let at = SECOND + burst * 20 * MS;
            first.push(data(number, at + n));
            second.push(data(number, at + (n + 1) * sending));
        }
        // An ACK, which is small, goes ahead of each burst: 40 bytes take 40 us.
        let small = Packet {
            len: 0,
            id: 9000 + burst as u16,
            ..data(burst as u16 * 10, SECOND + burst * 20 * MS - 5 * MS)
        };
        first.push(small.clone());
        second.push(Packet {
            at: small.at + 40 * US,
            ..small
        });
    }
    let hop = hop(&first, &second);
    let way = &hop.ways[Heading::Forward as usize];
    assert_eq!(way.link.tap, TapPlace::AfterLink);
    assert!(
        (way.rate_bps.unwrap() - 8e6).abs() < 1e4,
        "{:?}",
        way.rate_bps
    );
    assert_eq!(way.max().packets, 9);
    let waited: u128 = way.bins.iter().map(|bin| bin.packets_ns).sum();
    // 0 + 1 + ... + 9 times the time to send one, less the few ns that they came later.
    let expected = 20 * 45 * sending as u128;
    assert!(
        waited.abs_diff(expected) <= 20 * 45 * 2,
        "{waited} for {expected}"
    );
    assert_eq!(way.pattern(), None);
}

#[test]
fn captures_without_a_packet_in_common_are_refused() {
    let [first, _] = download(Some);
    let other: Vec<Packet> = (0..40).map(|n| data(n + 5000, SECOND)).collect();
    let error = analyse(&[&first, &other], &PathConfig::default()).unwrap_err();
    assert!(
        matches!(error, PathError::NothingInCommon { .. }),
        "{error}"
    );
    assert!(matches!(
        analyse(&[&first], &PathConfig::default()),
        Err(PathError::TooFewPoints)
    ));
    let points = [Point::file("before.pcap"), Point::files(Vec::new())];
    let error = PathAnalysis::of(&points, &PathConfig::default()).unwrap_err();
    assert!(matches!(error, PathError::NoFiles { number: 2 }), "{error}");
    // What a filter leaves out is not what the points are blamed for.
    let config = PathConfig {
        filter: Some(Filter::parse("ip6").unwrap()),
        ..PathConfig::default()
    };
    let error = analyse(&[&first, &first], &config).unwrap_err().to_string();
    assert!(
        error.ends_with("no IP packet in it that the filter keeps"),
        "{error}"
    );
}

#[test]
fn three_points_show_at_which_hop_a_packet_was_dropped() {
    let [first, second] = download(|packet| (packet.id != 105).then_some(packet));
    let third: Vec<Packet> = second
        .iter()
        .filter(|packet| packet.id != 130)
        .map(|packet| Packet {
            at: packet.at + if packet.back { -MS } else { MS },
            ..packet.clone()
        })
        .collect();
    let analysis = analyse(&[&first, &second, &third], &PathConfig::default()).unwrap();
    let drops: Vec<i64> = analysis
        .hops
        .iter()
        .map(|hop| hop.ways[0].drops[0].at_ns - SECOND)
        .collect();
    assert_eq!(drops, [50 * MS, 302 * MS]);
}

#[test]
fn the_ends_of_captures_are_not_taken_for_drops() {
    let [first, second] = download(Some);
    // The second capture is of the middle only.
    let (from, to) = (SECOND + 100 * MS, SECOND + 300 * MS);
    let second: Vec<Packet> = second
        .into_iter()
        .filter(|packet| (from..to).contains(&packet.at))
        .collect();
    let hop = hop(&first, &second);
    for heading in [Heading::Forward, Heading::Reverse] {
        let flow = flow(&hop, heading);
        assert_eq!(flow.dropped_packets, 0, "{heading:?}");
        assert_eq!(flow.appeared_packets, 0, "{heading:?}");
        assert_eq!(
            flow.passed_packets + flow.undecided_packets,
            40,
            "{heading:?}"
        );
    }
}

#[test]
fn a_run_that_is_stopped_says_so_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = download(Some);
    let points = [("a", first), ("b", second)].map(|(name, packets)| {
        let path = folder.path().join(name);
        fs::write(&path, file(&packets)).unwrap();
        Point::file(path)
    });
    let watch = Watch::default();
    watch.stop();
    let analysis = PathAnalysis::run(&points, &PathConfig::default(), &watch).unwrap();
    for facts in &analysis.hops[0].facts {
        assert_eq!(facts.records, 0);
        assert!(
            facts.errors[0].to_string().contains("interrupted"),
            "{facts:?}"
        );
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    /// Whatever bytes are changed, lengths and times among them: results or an error.
    #[test]
    fn damaged_captures_are_no_reason_to_panic(
        changes in proptest::collection::vec((0_usize..2, 24_usize..8000, proptest::num::u8::ANY), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut files = download(Some).map(|packets| file(&packets));
        for (which, at, value) in changes {
            if let Some(byte) = files[which].get_mut(at) {
                *byte = value;
            }
        }
        let points = [0, 1].map(|which| {
            let path = folder.path().join(which.to_string());
            fs::write(&path, &files[which]).unwrap();
            Point::file(path)
        });
        for clock in [ClockChoice::Auto, ClockChoice::Fix, ClockChoice::Keep] {
            let config = PathConfig { clock, packets: true, ..PathConfig::default() };
            if let Ok(analysis) = PathAnalysis::run(&points, &config, &Watch::default()) {
                let hop = &analysis.hops[0];
                proptest::prop_assert!(hop.flows.iter().flatten().count() > 0);
            }
        }
    }
}

#[test]
fn results_cross_threads() {
    fn crosses<T: Send>() {}
    crosses::<PathAnalysis>();
    crosses::<PathError>();
}
