//! How long it takes to draw a run with very many samples: one connection in bins of a microsecond.
//!
//! ```console
//! cargo run --release --example charts -- 10000000 FOLDER
//! ```
//!
//! The first argument is the number of records to generate, of which about two thirds carry data,
//! each in a bin of its own. The charts are put into the folder.

#![expect(clippy::print_stdout, reason = "it tells what it measured")]
#![expect(
    clippy::disallowed_methods,
    reason = "the wall clock is what it is about"
)]

#[path = "../benches/support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with benches and tests, which use other parts"
)]
mod synth;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

use ccanalyze::Analysis;
use ccanalyze::analyze::Config;
use ccanalyze::report::chart::{ChartOptions, for_each_chart};
use synth::{Profile, Synth};

const BIN_NS: i64 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(records), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: charts RECORDS FOLDER".into());
    };
    let out = PathBuf::from(out);
    let folder = tempfile::tempdir()?;
    let capture = folder.path().join("one.pcap");
    let synth = Synth::new(Profile::One, records.parse()?).snapped();
    synth.write(BufWriter::new(File::create(&capture)?))?;
    let config = Config {
        bin_ns: BIN_NS,
        bins_max: u32::MAX,
        gaps: true,
        ..Config::default()
    };
    let analysis = Analysis::of([&capture], &config);
    let bins: usize = analysis.captures[0]
        .flows()
        .map(|flow| flow.record.series().bins().len())
        .sum();
    println!("{bins} bins with something in them");
    let options = ChartOptions {
        bin_ns: BIN_NS,
        ..ChartOptions::default()
    };
    let start = Instant::now();
    let mut charts = Vec::new();
    for_each_chart(&analysis, &options, |_, stem, canvas| {
        charts.push((stem.to_owned(), canvas));
        Ok::<(), std::convert::Infallible>(())
    })?;
    println!("{} charts laid out: {}", charts.len(), millis(start));
    for (stem, canvas) in charts {
        let start = Instant::now();
        canvas.save(&out, &stem, false)?;
        println!("{stem} drawn: {}", millis(start));
    }
    Ok(())
}

fn millis(start: Instant) -> String {
    format!("{:.0} ms", 1e3 * start.elapsed().as_secs_f64())
}
