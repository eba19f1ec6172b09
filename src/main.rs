//! The command: parse, run, exit.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    ccanalyze::cli::run(&ccanalyze::cli::Args::parse()).into()
}
