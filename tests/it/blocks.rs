//! Large tables are made, encoded and written block by block: in any format, what is read is the whole
//! table, and the file is the same on any number of threads.

use std::fs::{self, File};
use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Watch};
use ccanalyze::capture::CaptureSource;
use ccanalyze::report::Pending;
use ccanalyze::report::tables::{Workers, fill};
use ccanalyze::table::{Blocks, RunTables, Tables};
use polars::prelude::*;

use super::support::{connections, csv};

/// Flows and bins for several blocks of their tables, most of which begin and end within a flow.
fn analysis(config: &Config) -> Analysis {
    let (many_flows, many_bins) = (connections(26_000, 1), connections(3, 50_000));
    let input = |(name, bytes): (&str, Vec<u8>)| CaptureInput {
        name: name.to_owned(),
        sources: vec![CaptureSource::Reader {
            name: name.to_owned(),
            reader: Box::new(std::io::Cursor::new(bytes)),
        }],
    };
    let inputs = [("flows", many_flows), ("bins", many_bins)].map(input);
    Analysis::run(inputs.into(), config, &Watch::default())
}

/// The bytes of the file, which are the same on any number of threads.
fn file<'a>(folder: &Path, name: &str, blocks: impl Fn() -> Blocks<'a>) -> Vec<u8> {
    let [alone, others @ ..] = [1, 2, 8].map(|threads| {
        let mut pending = Pending::create(&folder.join(name)).unwrap();
        let metadata = vec![("key".to_owned(), "value".to_owned())];
        let workers = Workers::new(Some(threads));
        fill(blocks(), &mut pending, &metadata, &workers).unwrap();
        fs::read(pending.commit().unwrap()).unwrap()
    });
    assert!(others.iter().all(|other| *other == alone), "{name}");
    alone
}

/// Writes a table in all formats, and reads or makes it again with polars alone.
fn check<'a>(mut whole: DataFrame, blocks: impl Fn() -> Blocks<'a>) {
    let folder = tempfile::tempdir().unwrap();
    let text = |name| String::from_utf8(file(folder.path(), name, &blocks)).unwrap();
    assert!(text("t.csv") == csv(&mut whole));
    let mut lines = Vec::new();
    let writer = JsonWriter::new(&mut lines).with_json_format(JsonFormat::JsonLines);
    { writer }.finish(&mut whole).unwrap();
    assert!(text("t.json").as_bytes() == lines);
    for name in ["t.parquet", "t.arrow"] {
        file(folder.path(), name, &blocks);
        let file = File::open(folder.path().join(name)).unwrap();
        let read = match name {
            "t.parquet" => ParquetReader::new(file).finish().unwrap(),
            _ => IpcReader::new(file).finish().unwrap(),
        };
        assert_eq!(read.schema(), whole.schema(), "{name}");
        assert!(read.equals_missing(&whole), "{name}");
    }
}

#[test]
fn a_table_of_many_blocks_is_written_as_one() {
    let config = Config::default();
    let analysis = analysis(&config);
    let (tables, whole) = (
        RunTables::of(&analysis, &config),
        Tables::of(&analysis, &config),
    );
    assert_eq!(whole.flows.height(), 26_003);
    assert_eq!(whole.series.height(), 26_000 + 3 * 50_000);
    assert!(tables.flows().count() > 2 && tables.series().count() > 2);
    // What is cut into blocks and put together again has every row once, as the analysis tells them.
    let flows = || analysis.captures.iter().flat_map(CaptureAnalysis::flows);
    let ports = flows().map(|flow| u64::from(flow.ends().0.port()));
    let src_ports = whole.flows.column("src_port").unwrap().u64().unwrap();
    assert!(src_ports.iter().flatten().eq(ports));
    let bins = flows().flat_map(|flow| flow.record.series().bins());
    let indices = whole.series.column("bin").unwrap().i64().unwrap();
    assert!(indices.iter().flatten().eq(bins.map(|bin| bin.index)));
    // Made block by block, and parts of what is there already.
    check(whole.flows.clone(), || tables.flows());
    check(whole.flows.clone(), || Blocks::from(&whole.flows));
    check(whole.series, || tables.series());
    // No rows, and so no blocks: what a table is called by is written all the same.
    assert_eq!((whole.pings.height(), tables.pings().count()), (0, 0));
    check(whole.pings, || tables.pings());
}
