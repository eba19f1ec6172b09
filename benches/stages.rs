//! Each stage by itself, on one thread, over a generated capture in memory: packets and bytes a
//! second, and whether the answer was right.

#[path = "support/patience.rs"]
mod patience;
#[path = "support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with an example and tests, which use other parts"
)]
mod synth;

use std::hint::black_box;
use std::io::Cursor;

use ccanalyze::analyze::Config;
use ccanalyze::capture::{CaptureReader, CaptureSource, ReadOptions, Window};
use ccanalyze::decode::{DecodeOptions, Decoded, Segment, Skip, decode, decode_into};
use ccanalyze::event::{DataArrival, Direction, FlowSink};
use ccanalyze::flow::{ConnectionIdentity, ConnectionTable, Observer, SHARDS, shard_of};
use ccanalyze::observe::{RecordConfig, Recorder};
use ccanalyze::track::Connection;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patience::configured;
use synth::{Format, Profile, Synth, Truth};

/// Enough packets to leave the caches, few enough for a run of seconds.
const PACKETS: u64 = 200_000;

fn generated(synth: &Synth) -> (Vec<u8>, Truth) {
    let mut file = Vec::new();
    let truth = synth.write(&mut file).expect("memory does not fail");
    (file, truth)
}

fn open(file: &[u8]) -> CaptureReader {
    let source = CaptureSource::Reader {
        name: "generated".to_owned(),
        reader: Box::new(Cursor::new(file.to_vec())),
    };
    CaptureReader::open(vec![source], &ReadOptions::default()).expect("a capture")
}

/// All records, as the windows they are read in.
fn windows(file: &[u8]) -> Vec<Window> {
    let mut reader = open(file);
    let mut windows = Vec::new();
    loop {
        let mut window = Window::new();
        if !reader.read_window(&mut window).expect("a whole capture") {
            return windows;
        }
        windows.push(window);
    }
}

/// The segments, those of one shard after those of another, as the pipeline hands them on.
fn segments(windows: &[Window]) -> Vec<Vec<Segment>> {
    let mut shards = vec![Vec::new(); SHARDS];
    let mut ordinal = 0;
    for window in windows {
        for index in 0..window.len() {
            if let Decoded::Segment(segment) =
                decode(&window.record(index), ordinal, &DecodeOptions::default())
            {
                shards[shard_of(&segment)].push(segment);
            }
            ordinal += 1;
        }
    }
    shards
}

fn throughput(truth: &Truth) -> Throughput {
    Throughput::ElementsAndBytes {
        elements: truth.records,
        bytes: truth.file_bytes,
    }
}

fn captures() -> Vec<(&'static str, Synth)> {
    let bulk = Synth::new(Profile::Bulk, PACKETS);
    vec![
        ("bulk, full size", bulk),
        ("mix, 96 bytes", Synth::new(Profile::Mix, PACKETS).snapped()),
        (
            "many, 96 bytes",
            Synth::new(Profile::Many(10_000), PACKETS).snapped(),
        ),
        (
            "mix, 96 bytes, pcapng",
            Synth {
                format: Format::Pcapng,
                ..Synth::new(Profile::Mix, PACKETS).snapped()
            },
        ),
        ("storm of ACKs", Synth::new(Profile::Acks, PACKETS)),
    ]
}

fn walk(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("capture");
    for (name, synth) in captures() {
        let (file, truth) = generated(&synth);
        group.throughput(throughput(&truth));
        group.bench_function(name, |bencher| {
            let mut window = Window::new();
            bencher.iter_batched(
                || open(&file),
                |mut reader| {
                    let mut records = 0;
                    while reader.read_window(&mut window).expect("a whole capture") {
                        records += window.len() as u64;
                    }
                    assert_eq!(records, truth.records);
                },
                criterion::BatchSize::PerIteration,
            );
        });
    }
}

fn decoding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for (name, synth) in captures() {
        let (file, truth) = generated(&synth);
        let windows = windows(&file);
        group.throughput(throughput(&truth));
        group.bench_function(name, |bencher| {
            let mut found = Decoded::Skipped(Skip::NonIp);
            let options = DecodeOptions::default();
            bencher.iter(|| {
                let (mut ordinal, mut payload_bytes) = (0, 0);
                for window in &windows {
                    for index in 0..window.len() {
                        decode_into(&window.record(index), ordinal, &options, &mut found);
                        if let Decoded::Segment(segment) = black_box(&found) {
                            payload_bytes += u64::from(segment.payload_len);
                        }
                        ordinal += 1;
                    }
                }
                assert_eq!(payload_bytes, truth.total.payload_bytes);
            });
        });
    }
}

/// Counts data and nothing else: what tracking costs without what is kept.
#[derive(Default)]
struct Unique(u64);

impl FlowSink for Unique {
    fn data(&mut self, _dir: Direction, data: &DataArrival) {
        self.0 += u64::from(data.unique_len);
    }
}

impl Observer for Unique {
    type Sink = Self;

    fn open(&mut self, _identity: &ConnectionIdentity) -> Self {
        Self(0)
    }

    fn close(&mut self, _: &ConnectionIdentity, _: &Connection, flow: Self, _: bool) {
        self.0 += flow.0;
    }
}

fn tracking(criterion: &mut Criterion) {
    let limits = Config::default().limits;
    let mut group = criterion.benchmark_group("flow and track");
    for (name, synth) in captures() {
        let (file, truth) = generated(&synth);
        let shards = segments(&windows(&file));
        group.throughput(throughput(&truth));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let unique: u64 = shards
                    .iter()
                    .map(|segments| {
                        let mut table = ConnectionTable::new(Unique::default(), limits);
                        for segment in segments {
                            table.on_segment(segment);
                        }
                        table.finish().0.0
                    })
                    .sum();
                assert_eq!(unique, truth.total.unique_bytes);
            });
        });
        group.bench_function(format!("{name}, kept"), |bencher| {
            bencher.iter(|| {
                let flows: usize = shards
                    .iter()
                    .map(|segments| {
                        let record = RecordConfig {
                            origin: segments.first().map(|first| first.at).unwrap_or_default(),
                            bins_max: Some(u32::MAX),
                            bin_ns: 100_000_000,
                            curves: true,
                            time_sequence: false,
                            gaps: false,
                            curve_growth: std::sync::Arc::default(),
                        };
                        let mut table =
                            ConnectionTable::new(Recorder::<false>::new(record), limits);
                        for segment in segments {
                            table.on_segment(segment);
                        }
                        let mut recorder = table.finish().0;
                        recorder
                            .take_ended()
                            .iter()
                            .map(|one| one.flows().count())
                            .sum::<usize>()
                    })
                    .sum();
                assert_eq!(flows, truth.flows.len());
            });
        });
    }
}

criterion_group! {
    name = stages;
    config = configured(1);
    targets = walk, decoding, tracking
}
criterion_main!(stages);
