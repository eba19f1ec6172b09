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
use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, Watch};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patience::configured;
use synth::workloads::workloads;
use synth::{Profile, Synth, Truth};

const PACKETS: u64 = 200_000;

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

/// Analyses the file and compares the sums over all flows with what was generated.
fn run(path: &Path, threads: usize, truth: &Truth) {
    let config = Config {
        threads: Some(threads),
        ..Config::default()
    };
    let analysis = Analysis::run(vec![CaptureInput::file(path)], &config, &Watch::default());
    let capture = &analysis.captures[0];
    assert_eq!(capture.records, truth.records);
    let (mut packets, mut unique, mut acked, mut again) = (0, 0, 0, 0);
    for flow in capture.flows() {
        packets += flow.summary().packets;
        unique += flow.state().unique_bytes;
        acked += flow.state().acked_bytes.unwrap_or(0);
        again += flow.summary().incidents().retransmitted_packets;
    }
    let total = &truth.total;
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

fn end_to_end(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut group = criterion.benchmark_group("end to end");
    for (name, synth) in captures() {
        let path = dir.path().join("generated");
        let file = File::create(&path).expect("a writable directory");
        let truth = synth.write(BufWriter::new(file)).expect("a full disk?");
        group.throughput(Throughput::ElementsAndBytes {
            elements: truth.records,
            bytes: truth.file_bytes,
        });
        for threads in [1, 2] {
            group.bench_function(format!("{name}, threads {threads}"), |bencher| {
                bencher.iter(|| run(&path, threads, &truth));
            });
        }
    }
}

criterion_group! {
    name = whole;
    config = configured(2);
    targets = end_to_end
}
criterion_main!(whole);
