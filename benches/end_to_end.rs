//! From files to results: packets and bytes a second, on one thread and on two, and whether the
//! answer was right.

#[path = "support/patience.rs"]
mod patience;
#[path = "support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with an example and tests, which use other parts"
)]
mod synth;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Watch};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use patience::configured;
use synth::workloads::workloads;
use synth::{Counts, Profile, Synth};

const PACKETS: u64 = 200_000;

/// Small captures, as a study has them by the thousand, and packets of each.
const SMALL_FILES: u64 = 1000;
const SMALL_PACKETS: u64 = 100;

fn captures() -> Vec<(&'static str, Synth)> {
    let mut captures = workloads(PACKETS);
    captures.push((
        "many, 96 bytes",
        Synth::new(Profile::Many(10_000), PACKETS).snapped(),
    ));
    captures.push((
        "captures in payload",
        Synth::new(Profile::PcapInPayload, PACKETS / 2),
    ));
    captures
}

/// Analyses the files and compares the sums over all flows with what was generated.
fn run(paths: &[PathBuf], threads: usize, (records, total): (u64, &Counts)) {
    let config = Config {
        threads: Some(threads),
        ..Config::default()
    };
    let inputs = paths.iter().map(|path| CaptureInput::file(path)).collect();
    let analysis = Analysis::run(inputs, &config, &Watch::default());
    let captures = &analysis.captures;
    assert_eq!(
        captures.iter().map(|capture| capture.records).sum::<u64>(),
        records
    );
    let (mut packets, mut unique, mut acked, mut again) = (0, 0, 0, 0);
    for flow in captures.iter().flat_map(CaptureAnalysis::flows) {
        packets += flow.summary().packets;
        unique += flow.state().unique_bytes;
        acked += flow.state().acked_bytes.unwrap_or(0);
        again += flow.summary().incidents().retransmitted_packets;
    }
    assert_eq!(
        (packets, unique, acked, again),
        (
            total.packets,
            total.unique_bytes,
            total.acked_bytes,
            total.retransmissions
        )
    );
}

/// Writes captures of these traces, and times their analysis.
fn time(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, traces: &[Synth]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (mut records, mut bytes, mut total) = (0, 0, Counts::default());
    let mut paths = Vec::new();
    for (number, trace) in traces.iter().enumerate() {
        let path = dir.path().join(format!("{number}.pcap"));
        let file = File::create(&path).expect("a writable directory");
        let truth = trace.write(BufWriter::new(file)).expect("a full disk?");
        records += truth.records;
        bytes += truth.file_bytes;
        total.add(&truth.total);
        paths.push(path);
    }
    group.throughput(Throughput::ElementsAndBytes {
        elements: records,
        bytes,
    });
    for threads in [1, 2] {
        group.bench_function(format!("{name}, threads {threads}"), |bencher| {
            bencher.iter(|| run(&paths, threads, (records, &total)));
        });
    }
}

fn end_to_end(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("end to end");
    for (name, trace) in captures() {
        time(&mut group, name, &[trace]);
    }
    let small = |seed| Synth {
        seed,
        ..Synth::new(Profile::Mix, SMALL_PACKETS).snapped()
    };
    let many: Vec<Synth> = (0..SMALL_FILES).map(small).collect();
    time(&mut group, "a thousand files of 100 packets", &many);
}

criterion_group! {
    name = whole;
    config = configured(2);
    targets = end_to_end
}
criterion_main!(whole);
