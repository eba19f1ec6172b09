//! The Parquet file of `--segments` is encoded by our own hand: other code reads the table from it.

use std::fs::{self, File};
use std::io::Cursor;
use std::path::PathBuf;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Watch};
use ccanalyze::report::Pending;
use ccanalyze::report::tables::{Workers, fill_with_segments};
use ccanalyze::table::SegmentTable;
use polars::prelude::*;

use super::support::captures;
use super::synth::traces::{Profile, Synth};

fn analysis(paths: &[PathBuf]) -> Analysis {
    let config = Config {
        segments: true,
        ..Config::default()
    };
    let mut inputs: Vec<CaptureInput> = paths.iter().map(|path| CaptureInput::file(path)).collect();
    // Several files of one capture too.
    inputs.push(CaptureInput::concatenated(paths));
    Analysis::run(inputs, &config, &Watch::default())
}

/// The bytes of the file, which are the same on any number of threads.
fn file(analysis: &Analysis) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let [alone, others @ ..] = [1, 2, 8].map(|threads| {
        let mut pending = Pending::create(&folder.path().join("segments.parquet")).unwrap();
        let metadata = vec![("key".to_owned(), "value".to_owned())];
        let workers = Workers::new(Some(threads));
        fill_with_segments(analysis, &mut pending, &metadata, &workers).unwrap();
        fs::read(pending.commit().unwrap()).unwrap()
    });
    assert!(others.iter().all(|other| *other == alone));
    alone
}

/// Writes the file and reads it again.
fn check(analysis: &Analysis) {
    let read = ParquetReader::new(Cursor::new(file(analysis)))
        .finish()
        .unwrap();
    let expected = SegmentTable::of(analysis).blocks(usize::MAX).into_frame();
    assert_eq!(read.schema(), expected.schema());
    assert_eq!(read.schema(), SegmentTable::empty().schema());
    for (read, expected) in read.columns().iter().zip(expected.columns()) {
        assert!(read.equals_missing(expected), "{}", expected.name());
    }
}

#[test]
fn what_the_file_holds_is_the_table() {
    check(&analysis(&captures()));
}

/// More rows than a group has, of few flows and of many.
#[test]
fn groups_of_rows_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, profile, records| {
        let path = folder.path().join(name);
        let synth = Synth::new(profile, records).snapped();
        synth.write(File::create(&path).unwrap()).unwrap();
        path
    };
    let paths = [
        write("one", Profile::One, 150_000),
        write("many", Profile::Many(10_000), 60_000),
        write("ugly", Profile::Ugly, 30_000),
    ];
    let analysis = analysis(&paths);
    let rows = analysis.captures.iter().flat_map(CaptureAnalysis::flows);
    let rows: usize = rows.map(|flow| flow.record.segments.len()).sum();
    assert!(rows > 2 << 17, "{rows} rows are not enough groups");
    check(&analysis);
}

/// A table without rows is a file with the same columns.
#[test]
fn no_rows_are_a_file_too() {
    check(&analysis(&[]));
}
