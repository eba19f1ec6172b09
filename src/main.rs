//! The command: parse, run, exit.

use std::process::ExitCode;

/// Asks the system for memory in pages of 2 MiB where it has them: of hundreds of thousands of
/// connections, each packet finds another one's state, and with pages of 4 KiB that costs a walk
/// through the page tables on top of the wait for memory, and a fault for each of them at first.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ccanalyze::cli::run(&ccanalyze::cli::Args::from_command_line()).into()
}
