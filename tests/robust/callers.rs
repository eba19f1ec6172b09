//! What programs on the library ask for, at the ends of what they may.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use ccanalyze::Analysis;
#[cfg(feature = "tables")]
use ccanalyze::analyze::LinkSide;
use ccanalyze::analyze::{CaptureInput, Config, FnessWindow, PacketAnalysis, PairConfig, Watch};
use ccanalyze::capture::{
    CaptureErrorKind, CaptureReader, CaptureSource, LinkType, ReadOptions, read_small_file,
};
use ccanalyze::path::Point;
#[cfg(feature = "tables")]
use ccanalyze::study::{Conditions, MeasureOptions, RunMeasure, SeriesOf, Window};
use ccanalyze::time::CaptureTime;

use super::packets::{Packet, RAW_IP, STEP_BYTES, Twist, pcap, play};

/// A step of two downloads at a time.
fn step(number: u8) -> [u8; STEP_BYTES] {
    let (connection, back) = (number & 1, number & 2 != 0);
    let mut bytes = [0; STEP_BYTES];
    bytes[0] = 0x40 | connection | if back { 0x14 } else { 0 };
    (bytes[1], bytes[7]) = (1, 4);
    bytes
}

fn capture_of(packets: &[Packet]) -> CaptureInput {
    let name = "downloads".to_owned();
    let reader = Box::new(std::io::Cursor::new(pcap(packets)));
    CaptureInput {
        name: name.clone(),
        sources: vec![CaptureSource::Reader { name, reader }],
    }
}

/// Two downloads at a time, in 80 packets.
fn downloads() -> Vec<CaptureInput> {
    let steps: Vec<u8> = (0..80).flat_map(step).collect();
    vec![capture_of(&play(&steps, Twist::default()))]
}

#[test]
fn what_a_reducer_says_when_it_panics_comes_to_its_caller() {
    for threads in [Some(1), Some(2)] {
        let config = Config {
            threads,
            ..Config::default()
        };
        let reduce = |_, _| panic!("no room");
        let each = || {
            Analysis::each::<()>(downloads(), &config, &Watch::default(), reduce);
        };
        let said = catch_unwind(AssertUnwindSafe(each)).unwrap_err();
        assert_eq!(said.downcast_ref(), Some(&"no room"));
    }
}

#[test]
fn any_number_of_threads_and_any_window_are_honoured_as_far_as_there_are() {
    let pairs = |threads, length_ns| {
        let window = Some(FnessWindow {
            offset_ns: 0,
            length_ns,
        });
        let config = Config {
            threads,
            pairs: PairConfig {
                window,
                ..PairConfig::default()
            },
            ..Config::default()
        };
        let analysis = Analysis::run(downloads(), &config, &Watch::default());
        format!("{:?}", analysis.captures[0].pairs)
    };
    let usual = pairs(None, 1 << 40);
    assert!(usual.contains("fness"), "{usual}");
    for threads in [Some(0), Some(usize::MAX)] {
        assert_eq!(pairs(threads, 1 << 40), usual);
    }
    assert!(pairs(Some(1), i64::MAX).contains("fness"));
    for length_ns in [0, -1, i64::MIN] {
        let none = pairs(Some(1), length_ns);
        assert!(none.starts_with("Pairs { pairs: [], "), "{none}");
    }
}

#[test]
fn a_capture_without_sources_is_an_error_and_not_an_empty_one() {
    let input = |name: &str| CaptureInput {
        name: name.to_owned(),
        sources: Vec::new(),
    };
    let inputs = vec![input("mine"), CaptureInput::concatenated(&[])];
    let captures = Analysis::run(inputs, &Config::default(), &Watch::default()).captures;
    let said = captures
        .iter()
        .map(|capture| capture.error().unwrap().to_string());
    let expected = "has no files: a capture is read from one at least";
    assert!(said.eq([
        format!("mine: {expected}"),
        format!("(no name): {expected}")
    ]));
    assert_eq!(Point::from(PathBuf::from("mine")), Point::file("mine"));
    let error = CaptureReader::open(Vec::new(), &ReadOptions::default()).err();
    assert!(matches!(error.unwrap().kind, CaptureErrorKind::NoSources));
}

#[test]
fn a_small_file_is_read_whole_where_no_limit_is_meant() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "all of it").unwrap();
    let read = |bytes_max| read_small_file(file.path(), bytes_max);
    assert_eq!(read(u64::MAX).unwrap(), b"all of it");
    assert_eq!(read(9).unwrap(), b"all of it");
    assert!(read(8).is_err());
}

/// A thread of a pool does nothing else while it waits for an analysis: what it began would lie on the same stack, and
/// could wait for what it holds.
#[test]
fn who_waits_for_an_analysis_begins_no_other() {
    /// More than one batch.
    const PACKETS: i64 = 10_000;
    let config = Config {
        threads: Some(1),
        ..Config::default()
    };
    let of_files = || {
        let captures = Analysis::run(downloads(), &config, &Watch::default()).captures;
        assert_eq!(captures[0].records, 80);
    };
    let of_packets = || {
        let mut packets = PacketAnalysis::new("pushed", config.clone());
        for ns in 1..=PACKETS {
            packets.push(CaptureTime::from_ns(ns), LinkType(RAW_IP), &[0x45], 40);
        }
        assert_eq!(packets.finish().records, PACKETS as u64);
    };
    let ways: [&(dyn Fn() + Sync); 2] = [&of_files, &of_packets];
    for way in ways {
        let (alive, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        pool.unwrap().scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|_| {
                    most.fetch_max(alive.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    way();
                    alive.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }
}

/// The same packets, in batches that are just full, or not, or several.
#[test]
fn however_many_packets_are_pushed_they_come_to_the_same() {
    let steps: Vec<u8> = (0..80_u8).flat_map(step).collect();
    let all = play(&steps.repeat(260), Twist::default());
    for packets in [8191, 8192, 8193, 20_000] {
        let packets = &all[..packets];
        let mut pushed = PacketAnalysis::new("downloads", Config::default());
        for packet in packets {
            let at = CaptureTime::from_ns(packet.at_ns);
            pushed.push(at, LinkType(RAW_IP), &packet.bytes, packet.original_len);
        }
        let inputs = vec![capture_of(packets)];
        let mut captures = Analysis::run(inputs, &Config::default(), &Watch::default()).captures;
        captures[0].files.clear();
        let pushed = pushed.finish();
        assert_eq!(format!("{pushed:?}"), format!("{:?}", captures[0]));
    }
}

#[cfg(feature = "tables")]
#[test]
fn a_run_is_measured_whatever_bins_it_is_told_to_have() {
    let window = Window::parse("skip 0s").unwrap();
    for bin_ns in [i64::MIN, 0, 1, i64::MAX] {
        let config = Config {
            bin_ns,
            ..Config::default()
        };
        let analysis = Analysis::run(downloads(), &config, &Watch::default());
        let options = MeasureOptions {
            config: &config,
            conditions: &Conditions::default(),
            window,
            min_flow_bytes: None,
            captured: LinkSide::Unknown,
            samples: true,
            steps: Some((SeriesOf::Flows, 1_000_000)),
        };
        // In bins of a nanosecond some lie in the window as a whole, in the longest none.
        let measured = RunMeasure::of(&analysis.captures[0], &options);
        assert_eq!(measured.is_ok(), bin_ns <= 1, "{bin_ns}: {measured:?}");
    }
}
