//! How right `ccanalyze path` is against exact truth: writes `docs/PATH.md`.
//!
//! ```sh
//! cargo run --release --no-default-features --example path -- ../shared > docs/PATH.md
//! ```
//!
//! The argument is the folder that holds `lab` and `ns3`: captures from before and after a
//! bottleneck's queue, with the log of what the queue did. Exit status 2 when a folder is missing,
//! 1 when a file cannot be read.
//!
//! | module | what |
//! | --- | --- |
//! | [`truth`] | what the emulator and the simulator logged |
//! | [`compare`] | one scenario against its truth |
//! | [`limits`] | how far log and captures are apart by themselves |
//! | [`skew`] | captures whose clock is wrong |
//! | [`report`] | the document |

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, not part of the tool"
)]

mod compare;
mod limits;
mod report;
mod skew;
mod truth;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shared] = &arguments[..] else {
        eprintln!("usage: path SHARED, the folder that holds lab and ns3 (../shared)");
        return ExitCode::from(2);
    };
    let shared = Path::new(shared);
    for folder in ["lab", "ns3"] {
        if !shared.join(folder).is_dir() {
            eprintln!("{}: no such folder", shared.join(folder).display());
            return ExitCode::from(2);
        }
    }
    let results = truth::lab(shared).and_then(|lab| {
        let ns3 = truth::ns3(shared)?;
        let results = lab.iter().chain(&ns3).map(compare::compare);
        results.collect::<Result<Vec<_>, _>>()
    });
    match results {
        Ok(results) => {
            print!("{}", report::document(&results));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
