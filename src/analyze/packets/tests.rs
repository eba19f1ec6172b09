//! Packets that are pushed come to what a capture that holds them comes to.

use std::path::{Path, PathBuf};

use super::*;
use crate::analyze::{Analysis, CaptureInput, Watch};
use crate::capture::tests::build::Pcap;
use crate::capture::{CaptureReader, CaptureSource, ReadOptions, Window};
use crate::decode::Filter;

/// The captures that are shipped, and that are read to their ends.
fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/captures");
    let mut captures: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    captures.sort();
    assert!(captures.len() >= 20, "{captures:?}");
    captures
}

#[test]
fn results_cross_threads_and_say_what_they_are() {
    fn crosses<T: Send + std::fmt::Debug>() {}
    crosses::<Analysis>();
    crosses::<PacketAnalysis>();
    crosses::<CaptureInput>();
    crosses::<Watch>();
    let packets = PacketAnalysis::new("a.pcap".to_owned(), Config::default());
    let said = format!("{packets:?}");
    assert!(said.contains("PacketAnalysis { name: \"a.pcap\""), "{said}");
    let source = CaptureSource::Reader {
        name: "b".to_owned(),
        reader: Box::new(std::io::empty()),
    };
    assert_eq!(format!("{source:?}"), "Reader { name: \"b\", .. }");
}

/// Hands over the first packets of a capture, so many, one by one.
fn push_first(path: &Path, records: u64, mut push: impl FnMut(&Record<'_>)) {
    let sources = vec![CaptureSource::File(path.to_path_buf())];
    let mut reader = CaptureReader::open(sources, &ReadOptions::default()).unwrap();
    let mut window = Window::new();
    while reader.read_window(&mut window).unwrap() {
        for record in window.all().filter(|record| record.frame <= records) {
            push(&record);
        }
    }
}

/// What is found in the first packets of a capture, so many; and each time before a packet of these numbers comes.
fn of_packets_of(
    path: &Path,
    config: &Config,
    records: u64,
    asked: &[u64],
) -> (CaptureAnalysis, Vec<CaptureAnalysis>) {
    let mut packets = PacketAnalysis::new(path.display().to_string(), config.clone());
    let mut so_far = Vec::new();
    push_first(path, records, |record| {
        if asked.contains(&record.frame) {
            so_far.push(packets.so_far());
        }
        packets.push(record.at, record.link, record.bytes, record.original_len);
    });
    (packets.finish(), so_far)
}

fn of_file(path: &Path, config: &Config) -> CaptureAnalysis {
    let mut captures = Analysis::of([path], config).captures;
    let capture = captures.pop().unwrap();
    assert!(capture.errors.is_empty(), "{:?}", capture.errors);
    CaptureAnalysis {
        files: Vec::new(),
        ..capture
    }
}

/// Less memory than some of the captures take.
fn with_little() -> Config {
    Config {
        memory_bytes: 40_000,
        ..Config::default()
    }
}

/// With each of these options, all that is known of each capture is the same: [`BATCH_PACKETS`] being small here, packets of
/// all of them are tracked in several parts.
#[test]
fn packets_come_to_what_their_capture_comes_to() {
    let usual = Config::default;
    let with_all = Config {
        segments: true,
        time_sequence: true,
        gaps: true,
        threads: Some(1),
        ..usual()
    };
    let of_one_host = Config {
        filter: Some(Filter::parse("port 5001 or host 10.0.0.2").unwrap()),
        ..usual()
    };
    let mut given_up = 0;
    for config in [usual(), with_all, of_one_host, with_little()] {
        for path in captures() {
            let expected = of_file(&path, &config);
            assert!(
                u64::from(BATCH_PACKETS) < expected.records,
                "{}",
                path.display()
            );
            let (pushed, _) = of_packets_of(&path, &config, u64::MAX, &[]);
            assert_eq!(
                format!("{pushed:?}"),
                format!("{expected:?}"),
                "{}",
                path.display()
            );
            given_up += u32::from(expected.given_up.anything());
        }
    }
    assert!(given_up > 0, "the memory was enough");
}

/// Before the first packet, before the second, within a part that is tracked together, and in the midst of all.
#[test]
fn results_so_far_are_those_of_the_packets_before_and_change_nothing() {
    let usual = Config::default;
    let with_all = Config {
        segments: true,
        time_sequence: true,
        gaps: true,
        udp: true,
        ..usual()
    };
    for config in [usual(), with_all, with_little()] {
        for path in captures() {
            let records = of_file(&path, &config).records;
            let asked = [1, 2, 40, records / 2];
            let (whole, so_far) = of_packets_of(&path, &config, u64::MAX, &asked);
            let (not_asked, _) = of_packets_of(&path, &config, u64::MAX, &[]);
            assert_eq!(format!("{whole:?}"), format!("{not_asked:?}"));
            assert_eq!(so_far.len(), asked.len(), "{}", path.display());
            for (before, found) in asked.into_iter().zip(so_far) {
                let (alone, _) = of_packets_of(&path, &config, before - 1, &[]);
                assert_eq!(
                    format!("{found:?}"),
                    format!("{alone:?}"),
                    "{} before {before}",
                    path.display()
                );
            }
        }
    }
}

/// A datagram of `protocol` from 10.0.0.`src` to 10.0.0.`dst`, or the part of it whose flags and offset these are.
fn datagram(src: u8, dst: u8, protocol: u8, part: u16, data: &[u8]) -> Vec<u8> {
    let len = (20 + data.len()) as u16;
    let mut bytes = vec![0x45, 0];
    bytes.extend(len.to_be_bytes());
    bytes.extend([0, 7]);
    bytes.extend(part.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 10, 0, 0, src, 10, 0, 0, dst]);
    bytes.extend(data);
    bytes
}

/// A ping and its reply, a segment in two fragments with its ACK between others, and a fragment whose rest never comes.
fn in_parts() -> Vec<Vec<u8>> {
    const MORE: u16 = 0x2000;
    let ends = [0, 80, 4, 0];
    let tcp = [
        &ends[..],
        &[0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0],
    ]
    .concat();
    let data = [&tcp[..], &[b'x'; 28]].concat();
    let ack = [
        4, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 29, 0x50, 0x10, 1, 0, 0, 0, 0, 0,
    ];
    let ping = |kind| [kind, 0, 0, 0, 0, 1, 0, 1];
    vec![
        datagram(1, 2, 1, 0, &ping(8)),
        datagram(1, 2, 6, MORE, &data[..24]),
        datagram(2, 1, 1, 0, &ping(0)),
        datagram(1, 2, 6, 3, &data[24..]),
        datagram(2, 1, 6, 0, &ack),
        datagram(1, 2, 17, 0, &[0; 8]),
        datagram(1, 2, 6, MORE, &data[..24]),
        vec![0xff],
    ]
}

/// Packets that begin with their IP header, as captures name that.
const RAW_IP: u16 = 101;

/// A capture of these packets, one a second.
fn file_of(packets: &[Vec<u8>]) -> Vec<u8> {
    let seconds = (1..).zip(packets);
    let file = seconds.fold(Pcap::raw_ip(0xa1b2_3c4d), |file, (second, bytes)| {
        file.record(second, 0, bytes)
    });
    file.bytes
}

/// What is known of a capture that is called `mine`, but for its file.
fn of_capture(file: Vec<u8>) -> CaptureAnalysis {
    let name = "mine".to_owned();
    let reader = Box::new(std::io::Cursor::new(file));
    let input = CaptureInput {
        name: name.clone(),
        sources: vec![CaptureSource::Reader { name, reader }],
    };
    let mut captures = Analysis::run(vec![input], &Config::default(), &Watch::default()).captures;
    CaptureAnalysis {
        files: Vec::new(),
        ..captures.remove(0)
    }
}

#[test]
fn what_is_in_parts_and_what_is_no_tcp_comes_to_the_same() {
    let mut packets = PacketAnalysis::new("mine", Config::default());
    for (second, bytes) in (1..).zip(in_parts()) {
        let at = CaptureTime::from_ns(second * 1_000_000_000);
        packets.push(at, LinkType(RAW_IP), &bytes, bytes.len() as u32);
    }
    let expected = of_capture(file_of(&in_parts()));
    let pushed = packets.finish();
    assert_eq!(format!("{pushed:?}"), format!("{expected:?}"));
    // What it is made of: a ping that was answered after two seconds, and a segment whose fragments were put together.
    assert_eq!(pushed.pings[0].rtt_ns, Some(2_000_000_000));
    let flow = pushed.flows().next().unwrap();
    assert_eq!(flow.state().acked_bytes, Some(28));
    // Two fragments and the ACK are TCP's; the ping's two, UDP's, the fragment alone and what is nothing are not.
    assert_eq!((pushed.records, pushed.tcp_records), (8, 3));
}

#[test]
fn no_packets_come_to_what_an_empty_capture_comes_to() {
    assert_eq!(
        format!(
            "{:?}",
            PacketAnalysis::new("mine", Config::default()).finish()
        ),
        format!("{:?}", of_capture(file_of(&[])))
    );
}
