//! What takes longest where captures are small: their charts, as PNG, on one thread.

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
use ccanalyze::report::chart::{ChartOptions, draw_all};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patience::configured;
use synth::{Profile, Synth};

const PACKETS: u64 = 50_000;

fn analysed() -> Analysis {
    let mut file = Vec::new();
    let synth = Synth::new(Profile::Mix, PACKETS).snapped();
    synth.write(&mut file).expect("memory does not fail");
    let name = "generated".to_owned();
    let reader = Box::new(Cursor::new(file));
    let input = CaptureInput {
        name: name.clone(),
        sources: vec![CaptureSource::Reader { name, reader }],
    };
    let config = Config {
        time_sequence: true,
        gaps: true,
        ..Config::default()
    };
    Analysis::run(vec![input], &config, &Watch::default())
}

fn charts(criterion: &mut Criterion) {
    let analysis = analysed();
    let options = ChartOptions {
        threads: Some(1),
        ..ChartOptions::default()
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let draw = || draw_all(&analysis, folder.path(), &options).expect("room for charts");
    let names = draw().names;
    assert!(
        names
            .iter()
            .any(|name| name.ends_with("01-generated-time-sequence.png"))
    );
    let is_picture =
        |name| std::fs::metadata(folder.path().join(name)).is_ok_and(|file| file.len() > 4096);
    assert!(names.iter().all(is_picture));
    let mut group = criterion.benchmark_group("charts");
    group.throughput(Throughput::Elements(names.len() as u64));
    group.bench_function("of a capture, as PNG", |bencher| {
        bencher.iter(|| assert_eq!(draw().names, names));
    });
}

criterion_group! {
    name = benches;
    config = configured(1);
    targets = charts
}
criterion_main!(benches);
