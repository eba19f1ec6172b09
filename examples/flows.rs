//! The shortest program on the library: captures in, a line a flow out.
//!
//! `cargo run --release --no-default-features --example flows -- CAPTURE...`

#![expect(clippy::print_stdout, reason = "a line a flow is what it is for")]

use std::process::ExitCode;

use ccanalyze::Analysis;
use ccanalyze::analyze::Config;

fn main() -> ExitCode {
    let analysis = Analysis::of(std::env::args_os().skip(1), &Config::default());
    for capture in &analysis.captures {
        println!("{}: {} packets", capture.name, capture.records);
        for flow in capture.flows() {
            let (src, dst) = flow.ends();
            println!(
                "{src} > {dst}  {:?} bit/s  {} retransmitted",
                flow.goodput_bps(),
                flow.summary().incidents().retransmitted_packets
            );
        }
        for error in &capture.errors {
            println!("{error}");
        }
    }
    ExitCode::from(u8::from(
        analysis.captures.iter().any(|c| !c.errors.is_empty()),
    ))
}
