//! What comes behind the analysis, on one thread: rows a second of the tables of many short flows, and what the whole
//! capture comes to.

#[path = "support/patience.rs"]
mod patience;
#[path = "support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with an example and tests, which use other parts"
)]
mod synth;

use std::io::Cursor;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, Watch};
use ccanalyze::capture::CaptureSource;
use ccanalyze::report::Pending;
use ccanalyze::report::tables::{Metadata, Workers, fill};
use ccanalyze::table::{Blocks, RunTables};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patience::configured;
use synth::{Profile, Synth, Truth};

const PACKETS: u64 = 200_000;
const CONNECTIONS: u64 = 20_000;

fn analysed(config: &Config) -> (Analysis, Truth) {
    let mut file = Vec::new();
    let synth = Synth::new(Profile::Many(CONNECTIONS), PACKETS).snapped();
    let truth = synth.write(&mut file).expect("memory does not fail");
    let name = "generated".to_owned();
    let reader = Box::new(Cursor::new(file));
    let input = CaptureInput {
        name: name.clone(),
        sources: vec![CaptureSource::Reader { name, reader }],
    };
    (Analysis::run(vec![input], config, &Watch::default()), truth)
}

fn tables(criterion: &mut Criterion) {
    let config = Config::default();
    let (analysis, truth) = analysed(&config);
    let flows = truth.flows.len();
    let mut group = criterion.benchmark_group("tables");
    group.throughput(Throughput::Elements(flows as u64));
    group.bench_function("what captures come to", |bencher| {
        bencher.iter(|| {
            let captures = RunTables::of(&analysis, &config).captures().into_frame();
            let counted = captures.column("flows").and_then(|column| column.get(0));
            assert_eq!(counted.unwrap().try_extract::<usize>().unwrap(), flows);
        });
    });
    let tables = RunTables::of(&analysis, &config);
    let workers = Workers::new(Some(1));
    let folder = tempfile::tempdir().expect("a temporary directory");
    // Each with all rows, which are looked at here, not while they are timed.
    let rows = |blocks: Blocks<'_>| blocks.map(|block| block.fill().len()).sum::<usize>();
    assert_eq!(rows(tables.flows()), flows);
    for ending in ["parquet", "csv"] {
        let path = folder.path().join(format!("flows.{ending}"));
        group.bench_function(format!("flows, {ending}"), |bencher| {
            bencher.iter(|| {
                let mut pending = Pending::create(&path).expect("a new file");
                fill(tables.flows(), &mut pending, &Metadata::new(), &workers).expect("room");
            });
        });
    }
    let bins = rows(tables.series());
    assert!(bins >= flows);
    group.throughput(Throughput::Elements(bins as u64));
    let path = folder.path().join("series.parquet");
    group.bench_function("series, parquet", |bencher| {
        bencher.iter(|| {
            let mut pending = Pending::create(&path).expect("a new file");
            fill(tables.series(), &mut pending, &Metadata::new(), &workers).expect("room");
        });
    });
}

criterion_group! {
    name = benches;
    config = configured(1);
    targets = tables
}
criterion_main!(benches);
