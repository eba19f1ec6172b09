//! Packets of ICMP, alone and beside others.

use super::*;

/// An echo request, or the reply to it.
#[derive(Clone, Copy)]
struct Ping {
    at: i64,
    back: bool,
    src: [u8; 4],
    dst: [u8; 4],
    id: u16,
    identifier: u16,
    number: u16,
}

/// The `n`th request of a series, of 56 bytes that are all 0.
fn ping(n: u16, at: i64) -> Ping {
    Ping {
        at,
        back: false,
        src: [10, 0, 0, 1],
        dst: [10, 0, 0, 2],
        id: 7000 + n,
        identifier: 77,
        number: n,
    }
}

/// The reply to it.
fn pong(n: u16, at: i64) -> Ping {
    Ping {
        back: true,
        id: 9000 + n,
        ..ping(n, at)
    }
}

/// When a point saw a frame, and its bytes.
type Frame = (i64, Vec<u8>);

impl Ping {
    fn frame(self) -> Frame {
        let (kind, ends) = if self.back {
            (0, [self.dst, self.src])
        } else {
            (8, [self.src, self.dst])
        };
        let words = [kind << 8, self.identifier, self.number];
        let sum: u32 = words.iter().map(|&word| u32::from(word)).sum();
        let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
        let mut bytes = vec![2; 12];
        bytes.extend([8, 0, 0x45, 0, 0, 84]);
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0, 0, 64, 1, 0, 0]);
        bytes.extend(ends.concat());
        let header = [kind << 8, checksum, self.identifier, self.number];
        bytes.extend(header.iter().flat_map(|word| word.to_be_bytes()));
        bytes.resize(14 + 84, 0);
        (self.at, bytes)
    }
}

/// 30 requests, one every 10 ms, each 2 ms from point to point; replies take 1 ms back. `change` makes what the second
/// point sees.
fn pings(change: impl Fn(Ping) -> Ping) -> [Vec<Frame>; 2] {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..30_u16 {
        let at = SECOND + i64::from(n) * 10 * MS + 5 * MS;
        points[0].extend([ping(n, at), pong(n, at + 6 * MS)].map(Ping::frame));
        let there = [ping(n, at + 2 * MS), pong(n, at + 5 * MS)];
        points[1].extend(there.map(|ping| change(ping).frame()));
    }
    points
}

fn frames(packets: &[Packet]) -> Vec<Frame> {
    let frames = packets.iter();
    frames.map(|packet| (packet.at, packet.bytes())).collect()
}

/// The frames of two points, each of several kinds.
fn analyse_frames(
    kinds: &[[Vec<Frame>; 2]],
    config: &PathConfig,
) -> Result<PathAnalysis, PathError> {
    let folder = tempfile::tempdir().unwrap();
    let points = [0, 1].map(|point| {
        let mut frames: Vec<&Frame> = kinds.iter().flat_map(|kind| &kind[point]).collect();
        frames.sort_by_key(|&&(at, _)| at);
        let mut file = Pcap::new(ByteOrder::Little, 0xa1b2_3c4d);
        for (at, bytes) in frames {
            let at = [at / SECOND, at % SECOND].map(|part| part as u32);
            file = file.cut_record(at[0], at[1], bytes, bytes.len() as u32);
        }
        let path = folder.path().join(point.to_string());
        fs::write(&path, file.bytes).unwrap();
        Point::file(path)
    });
    PathAnalysis::of(&points, config)
}

/// Of a download, datagrams and pings.
#[test]
fn filters_tell_protocols_apart() {
    let kinds = [
        download(Some).map(|packets| frames(&packets)),
        download(Some).map(|packets| {
            let of_udp = |packet: Packet| Packet {
                udp: true,
                at: packet.at + MS,
                ..packet
            };
            let datagrams: Vec<Packet> = packets.into_iter().map(of_udp).collect();
            frames(&datagrams)
        }),
        pings(|ping| ping),
    ];
    for (filter, protocols) in [
        ("tcp", &[6][..]),
        ("not tcp", &[1, 17]),
        ("udp", &[17]),
        ("not (tcp or udp)", &[1]),
        ("port 80", &[6, 17]),
        ("not port 80", &[1]),
        ("host 10.0.0.1", &[1, 6, 17]),
    ] {
        let config = PathConfig {
            filter: Some(Filter::parse(filter).unwrap()),
            ..PathConfig::default()
        };
        let analysis = analyse_frames(&kinds, &config).unwrap();
        let flows = analysis.hops[0].flows.iter().flatten();
        let mut found: Vec<u8> = flows.map(|flow| flow.key.protocol).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, protocols, "{filter}");
    }
}

fn analyse_pings(change: impl Fn(Ping) -> Ping) -> Result<PathAnalysis, PathError> {
    analyse_frames(&[pings(change)], &PathConfig::default())
}

/// Behind a translator they have another address and another identifier. Where the addresses are the same, nothing is
/// translated, and pings with another identifier are those of another run.
#[test]
fn identifiers_of_pings_are_translated_with_addresses_alone() {
    let translated = |ping: Ping| Ping {
        src: [192, 0, 2, 9],
        identifier: 40_001,
        id: 0,
        ..ping
    };
    let analysis = analyse_pings(translated).unwrap();
    let flows = analysis.hops[0].flows.iter().flatten();
    let passed: Vec<u64> = flows.map(|flow| flow.passed_packets).collect();
    assert_eq!(passed, [30, 30]);
    let of_another_run = |ping: Ping| Ping {
        identifier: 78,
        id: ping.id + 500,
        ..ping
    };
    let error = analyse_pings(of_another_run).unwrap_err();
    assert!(
        matches!(error, PathError::NothingInCommon { .. }),
        "{error}"
    );
}

/// Pings that are all the same but for what a translator may have changed, beside 200 packets of another
/// run, or of the same one, of which a policer lets a fiftieth pass.
#[test]
fn pings_alone_do_not_make_two_captures_those_of_one_path() {
    let of_run = |first: u16, point: i64, is_there: fn(u16) -> bool| {
        let numbers = (first..first + 200).filter(|&n| is_there(n));
        let packets = numbers.map(|n| {
            let at = SECOND + i64::from(n - first) * MS;
            data(n, at + point * 2 * MS)
        });
        frames(&packets.collect::<Vec<_>>())
    };
    let translated = |ping: Ping| Ping {
        src: [192, 0, 2, 9],
        ..ping
    };
    let analyse = |second: Vec<Frame>, change: fn(Ping) -> Ping| {
        let kinds = [[of_run(0, 0, |_| true), second], pings(change)];
        analyse_frames(&kinds, &PathConfig::default())
    };
    let error = analyse(of_run(5000, 1, |_| true), translated).unwrap_err();
    let PathError::HardlyAnythingInCommon {
        found,
        dropped,
        appeared,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((found, dropped, appeared), (60, 198, 200));
    let policed = analyse(of_run(0, 1, |n| n % 50 == 0), |ping| ping).unwrap();
    let flows = policed.hops[0].flows.iter().flatten();
    assert_eq!(flows.map(|flow| flow.passed_packets).sum::<u64>(), 60 + 4);
}

/// Data and ACKs of which the second capture has one in 100: what it missed of the one way seems dropped, and of the
/// other to come from nowhere, but it has nothing that the first one has not.
#[test]
fn a_capture_that_has_hardly_anything_is_still_one_of_its_path() {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..3000_u16 {
        let at = SECOND + i64::from(n) * MS;
        points[0].extend([data(n, at), ack(n, at + 6 * MS)]);
        if n % 100 == 0 {
            points[1].extend([data(n, at + 2 * MS), ack(n, at + 5 * MS)]);
        }
    }
    let hop = hop(&points[0], &points[1]);
    let flows = hop.flows.iter().flatten();
    assert_eq!(flows.map(|flow| flow.passed_packets).sum::<u64>(), 60);
}
