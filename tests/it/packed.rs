//! The Parquet files of `--segments` and `path --packets` are encoded by our own hand: other code
//! reads the tables from them.

use std::fs::{self, File};
use std::io::Cursor;
use std::path::PathBuf;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Watch};
use ccanalyze::path::{Hop, PacketFate, PathAnalysis, PathConfig, Point};
use ccanalyze::report::Pending;
use ccanalyze::report::tables::{Workers, fill_packed};
use ccanalyze::table::{PackedTable, PacketTable, SegmentTable};
use polars::prelude::*;

use super::support::{captures, later, records, with_records};
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
fn file(table: &impl PackedTable) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let [alone, others @ ..] = [1, 2, 8].map(|threads| {
        let mut pending = Pending::create(&folder.path().join("table.parquet")).unwrap();
        let metadata = vec![("key".to_owned(), "value".to_owned())];
        let workers = Workers::new(Some(threads));
        fill_packed(table, &mut pending, &metadata, &workers).unwrap();
        fs::read(pending.commit().unwrap()).unwrap()
    });
    assert!(others.iter().all(|other| *other == alone));
    alone
}

/// Writes the file and reads it again.
fn check(table: &impl PackedTable) {
    let read = ParquetReader::new(Cursor::new(file(table)))
        .finish()
        .unwrap();
    let expected = table.blocks(usize::MAX).into_frame();
    assert_eq!(read.schema(), expected.schema());
    for (read, expected) in read.columns().iter().zip(expected.columns()) {
        assert!(read.equals_missing(expected), "{}", expected.name());
    }
}

#[test]
fn what_the_file_holds_is_the_table() {
    check(&SegmentTable::of(&analysis(&captures())));
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
    let rows: usize = rows.map(|flow| flow.record.segments().len()).sum();
    assert!(rows > 2 << 17, "{rows} rows are not enough groups");
    check(&SegmentTable::of(&analysis));
}

/// A table without rows is a file with the same columns.
#[test]
fn no_rows_are_a_file_too() {
    check(&SegmentTable::of(&analysis(&[])));
    check(&PacketTable::of(&PathAnalysis { hops: Vec::new() }));
}

/// The same capture a little later, without some of its packets.
fn further_on(capture: &[u8], dropped_one_in: usize) -> Vec<u8> {
    let passed = (1..)
        .zip(records(capture))
        .filter(|(number, _)| number % dropped_one_in > 0);
    let passed = with_records(capture, passed.map(|(_, record)| record));
    later(passed, 1)
}

/// Three points, with drops on both ways and at both hops, and more packets than a group has.
#[test]
fn packets_of_a_path_are_those_of_its_analysis() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Vec::new();
    let synth = Synth::new(Profile::Many(500), 150_000).snapped();
    synth.write(&mut first).unwrap();
    let second = further_on(&first, 50);
    let third = further_on(&second, 40);
    let captures = [first, second, third].into_iter().enumerate();
    let points = captures.map(|(number, bytes)| {
        let path = folder.path().join(format!("{number}.pcap"));
        fs::write(&path, bytes).unwrap();
        Point::file(path)
    });
    let config = PathConfig {
        packets: true,
        ..PathConfig::default()
    };
    let points: Vec<Point> = points.collect();
    let analysis = PathAnalysis::of(&points, &config).unwrap();
    let table = PacketTable::of(&analysis);
    check(&table);

    let frame = table.blocks(1 << 10).into_frame();
    let fates = || analysis.hops.iter().flat_map(|hop| &hop.packets);
    assert!(frame.height() > 2 << 17, "{} rows", frame.height());
    let delays = frame.column("delay_ns").unwrap().i64().unwrap();
    assert!(delays.iter().eq(fates().map(|fate| fate.delay_ns)));
    let entries = frame.column("frame_in").unwrap().u64().unwrap();
    assert!(entries.iter().eq(fates().map(|fate| fate.entry_frame)));
    let sources = frame.column("src_port").unwrap().u64().unwrap();
    let source = |hop: &Hop, fate: PacketFate| {
        let flow = hop.flows[fate.flow as usize].as_ref();
        flow.map(|flow| u64::from(flow.key.src.port()))
    };
    let of_hops = analysis.hops.iter();
    let expected = of_hops.flat_map(|hop| hop.packets.iter().map(move |fate| source(hop, fate)));
    assert!(sources.iter().eq(expected));
    // One in fifty of the first point's, and one in forty of the second's, was seen at one point.
    let nulls = |name: &str| frame.column(name).unwrap().null_count();
    let seen_once = nulls("frame_in") + nulls("frame_out");
    assert_eq!(seen_once, 150_000 / 50 + 147_000 / 40);
    let outcomes = frame.column("outcome").unwrap().str().unwrap();
    let expected = fates().map(|fate| Some(fate.outcome.name()));
    assert!(outcomes.iter().eq(expected));
}
