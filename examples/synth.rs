//! Writes a generated capture to standard output, for benchmarks.
//!
//! ```sh
//! cargo run --release --no-default-features --example synth -- mix --packets 6000000 --snap 96 --seed 7 > mix.pcap
//! ```
//!
//! The first argument is a profile: `bulk`, `mix`, `many`, `one`, `acks`, `ugly` or
//! `pcap_in_payload`. Options, each with its value: `--packets N` (records to write, 1,000,000),
//! `--flows N` (connections of `many`, 100,000), `--snap BYTES` (whole packets), `--seed N` (7),
//! `--format us|ns|pcapng` (`ns`), `--losses N` (segments lost of
//! 10,000, 20). What is true of the capture goes to standard error.

#![expect(
    clippy::print_stderr,
    reason = "a command of its own, not part of the tool"
)]

#[path = "../benches/support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with benches and tests, which use other parts"
)]
mod synth;

use std::io::{self, BufWriter};
use std::process::ExitCode;

use synth::{Format, Profile, Synth};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(synth) = parse(&arguments) else {
        eprintln!(
            "usage: synth PROFILE [--packets N] [--flows N] [--snap BYTES] [--seed N] [--losses N] [--format us|ns|pcapng]"
        );
        return ExitCode::from(2);
    };
    match synth.write(BufWriter::with_capacity(1 << 20, io::stdout().lock())) {
        Ok(truth) => {
            eprintln!(
                "{} records, {} bytes, {} flows: {:?}",
                truth.records,
                truth.file_bytes,
                truth.flows.len(),
                truth.total
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<Synth> {
    let (profile, options) = arguments.split_first()?;
    let mut flows = 100_000;
    let mut synth = Synth::new(Profile::Bulk, 1_000_000);
    for option in options.chunks(2) {
        let [name, value] = option else {
            return None;
        };
        match name.as_str() {
            "--packets" => synth.packets = value.parse().ok()?,
            "--flows" => flows = value.parse().ok()?,
            "--snap" => synth.snap = value.parse().ok()?,
            "--losses" => synth.losses = value.parse().ok()?,
            "--seed" => synth.seed = value.parse().ok()?,
            "--format" => {
                synth.format = match value.as_str() {
                    "us" => Format::Micros,
                    "ns" => Format::Nanos,
                    "pcapng" => Format::Pcapng,
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    synth.profile = match profile.as_str() {
        "bulk" => Profile::Bulk,
        "mix" => Profile::Mix,
        "many" => Profile::Many(flows),
        "one" => Profile::One,
        "acks" => Profile::Acks,
        "ugly" => Profile::Ugly,
        "pcap_in_payload" => Profile::PcapInPayload,
        _ => return None,
    };
    Some(synth)
}
