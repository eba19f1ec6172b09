//! Several files as one capture, progress, windows, and files from the wild.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::build::Pcap;
use super::compressed::{gzip, noisy};
use super::*;

#[test]
fn several_files_are_ordered_by_their_first_record() {
    let at = |second| {
        let pcap = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
        pcap.record(second, 0, &[1])
            .record(second + 1, 0, &[2])
            .bytes
    };
    let header = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4).bytes;
    let mut cut = at(15);
    cut.pop();
    let files = [
        ("empty", header),
        ("b", at(20)),
        ("a", at(10)),
        ("text", b"no capture".to_vec()),
        ("tie", at(20)),
        ("cut", cut),
    ];
    let dir = tempfile::tempdir().unwrap();
    let on_disk = files.iter().map(|(name, bytes)| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        CaptureSource::File(path)
    });
    let piped = files.iter().map(|(name, bytes)| source(name, bytes));
    for sources in [on_disk.collect::<Vec<_>>(), piped.collect()] {
        let outcome = read_sources(sources, WINDOW_BYTES);
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let order: Vec<_> = outcome
            .facts
            .iter()
            .map(|facts| name(&facts.path))
            .collect();
        assert_eq!(order, ["text", "a", "cut", "b", "tie", "empty"]);
        let seconds: Vec<_> = outcome
            .records
            .iter()
            .map(|record| (record.file, record.frame, record.at_ns / SECOND))
            .collect();
        assert_eq!(
            seconds,
            [
                (1, 1, 10),
                (1, 2, 11),
                (2, 1, 15),
                (3, 1, 20),
                (3, 2, 21),
                (4, 1, 20),
                (4, 2, 21)
            ]
        );
        let failed: Vec<_> = outcome
            .errors
            .iter()
            .map(|error| name(&error.path))
            .collect();
        assert_eq!(failed, ["text", "cut"]);
        let records: Vec<_> = outcome.facts.iter().map(|facts| facts.records).collect();
        assert_eq!(records, [0, 2, 1, 2, 2, 0]);
    }
}

/// Of seconds at which records are.
#[test]
fn parts_that_overlap_in_time_are_found() {
    let largest = |parts: &[&[u32]]| {
        let bytes_of = |seconds: &[u32]| {
            let header = Pcap::new(ByteOrder::Little, 0xa1b2_c3d4);
            let add = |pcap: Pcap, &second: &u32| pcap.record(second, 0, &[1]);
            seconds.iter().fold(header, add).bytes
        };
        [1, WINDOW_BYTES].map(|window_bytes| {
            let sources = parts.iter().zip(["0", "1", "2", "3"]);
            let sources = sources.map(|(seconds, name)| source(name, &bytes_of(seconds)));
            let facts = read_sources(sources.collect(), window_bytes).clean().facts;
            let overlap = Overlap::largest(&facts)?;
            let name = |facts: &FileFacts| facts.path.display().to_string();
            let by_s = overlap.by_ns / SECOND;
            Some((name(overlap.before), name(overlap.behind), by_s))
        })
    };
    let found =
        |before: &str, behind: &str, by_s| Some((before.to_owned(), behind.to_owned(), by_s));
    assert_eq!(largest(&[&[10, 20], &[20, 30], &[], &[31]]), [None, None]);
    // Side by side, one within another, and one that is there twice.
    let [one, all] = largest(&[&[10, 20], &[12, 22], &[40, 41]]);
    assert_eq!([&one, &all], [&found("0", "1", 8); 2]);
    let [one, all] = largest(&[&[10, 50], &[12, 13], &[48, 60]]);
    assert_eq!([&one, &all], [&found("0", "1", 38); 2]);
    let [one, all] = largest(&[&[10, 20], &[20, 30], &[20, 30]]);
    assert_eq!([&one, &all], [&found("1", "2", 10); 2]);
}

#[test]
fn progress_counts_input_bytes_once() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = gzip(&noisy(5_000));
    let paths: Vec<PathBuf> = ["1", "2"]
        .iter()
        .map(|name| dir.path().join(name))
        .collect();
    for path in &paths {
        std::fs::write(path, &bytes).unwrap();
    }
    let sources = paths.into_iter().map(CaptureSource::from).collect();
    let mut reader = CaptureReader::open(sources, &ReadOptions::default()).unwrap();
    let progress = reader.progress();
    assert_eq!(progress.bytes_consumed(), 0);
    let total = 2 * bytes.len() as u64;
    assert_eq!(reader.bytes_total(), Some(total));
    let mut window = Window::new();
    while reader.read_window(&mut window).unwrap() {}
    assert_eq!(
        (progress.bytes_consumed(), reader.bytes_consumed()),
        (total, total)
    );
    let piped = CaptureReader::open(vec![source("pipe", &noisy(1))], &ReadOptions::default());
    assert_eq!(piped.unwrap().bytes_total(), None);
}

#[test]
fn windows_are_refilled_without_growing() {
    let bytes = noisy(100_000);
    let mut reader =
        CaptureReader::open(vec![source("long", &bytes)], &ReadOptions::default()).unwrap();
    let mut window = Window::new();
    let (mut sizes, mut records) = (Vec::new(), 0);
    while reader.read_window(&mut window).unwrap() {
        sizes.push(window.bytes.len());
        records += window.len();
    }
    assert_eq!(records, 100_000);
    assert!(sizes.iter().all(|size| *size == WINDOW_BYTES), "{sizes:?}");
}

/// Every capture that lies beside the sources gives the records that its manifest counts.
#[test]
fn corpus_gives_the_records_its_manifest_counts() {
    let corpus = Path::new("../shared/corpus");
    let Ok(manifest) = std::fs::read_to_string(corpus.join("MANIFEST.tsv")) else {
        writeln!(
            io::stderr(),
            "note: no corpus at {}, nothing compared",
            corpus.display()
        )
        .unwrap();
        return;
    };
    // Wireshark counts custom blocks as frames: they are no packets.
    let custom_blocks = [("le_test018.pcapng", 4), ("le_test202.pcapng", 3)];
    let mut compared = 0;
    for line in manifest.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (name, format) = (columns[0], columns[6]);
        if !format.starts_with("pcap") {
            continue;
        }
        let expected: usize = columns[8].parse().unwrap();
        let custom = custom_blocks
            .iter()
            .find(|(file, _)| name.ends_with(file))
            .map_or(0, |(_, blocks)| *blocks);
        let outcome = read_sources(vec![corpus.join(name).into()], WINDOW_BYTES);
        assert_eq!(
            outcome.records.len(),
            expected - custom,
            "{name}: {:?}",
            outcome.errors
        );
        compared += 1;
    }
    assert!(compared > 0);
}
