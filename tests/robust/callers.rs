//! What programs on the library ask for, at the ends of what they may.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, FnessWindow, PairConfig, Watch};
use ccanalyze::capture::{CaptureSource, read_small_file};

use super::packets::{STEP_BYTES, Twist, pcap, play};

/// Two downloads at a time.
fn downloads() -> Vec<CaptureInput> {
    let steps = (0..80_u8).map(|step| {
        let (connection, back) = (step & 1, step & 2 != 0);
        let mut bytes = [0; STEP_BYTES];
        bytes[0] = 0x40 | connection | if back { 0x14 } else { 0 };
        (bytes[1], bytes[7]) = (1, 4);
        bytes
    });
    let reader = Box::new(std::io::Cursor::new(pcap(&play(
        &steps.collect::<Vec<_>>().concat(),
        Twist::default(),
    ))));
    let name = "downloads".to_owned();
    vec![CaptureInput {
        name: name.clone(),
        sources: vec![CaptureSource::Reader { name, reader }],
    }]
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
    for length_ns in [0, -1, i64::MIN, i64::MAX] {
        pairs(Some(1), length_ns);
    }
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
