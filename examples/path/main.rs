//! How right `ccanalyze path` is against exact truth: writes `docs/PATH.md`.
//!
//! ```sh
//! cargo run --release --no-default-features --example path -- ../shared > docs/PATH.md
//! ```
//!
//! With `--pair CAPTURE AFTER` it makes the capture behind a queue of one before it, with `--speed
//! BEFORE AFTER` it tells how long the analysis takes beside that of both captures alone.
//!
//! `--dispersion SHARED` writes the section about single captures alone, `--clocks SHARED` tells of each
//! scenario what remains of clocks that are wrong.
//!
//! The argument is the folder that holds `lab` and `ns3`: captures from before and after a
//! bottleneck's queue, with the log of what the queue did. Exit status 2 when a folder is missing,
//! 1 when a file cannot be read.
//!
//! | module | what |
//! | --- | --- |
//! | [`truth`] | what the emulator and the simulator logged |
//! | [`compare`] | one scenario against its truth |
//! | [`dispersion`] | the link's rate from one capture |
//! | [`records`] | what captures hold, record by record |
//! | [`limits`] | how far log and captures are apart by themselves |
//! | [`skew`] | captures whose clock is wrong |
//! | [`report`] | the document |
//! | [`testbed`] | a testbed of others, against the tables they made |
//! | [`pair`], [`speed`] | how long it takes |

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, not part of the tool"
)]

mod compare;
mod dispersion;
mod limits;
mod pair;
mod records;
mod report;
mod skew;
mod speed;
mod testbed;
mod truth;
#[path = "../../tests/support/wire.rs"]
#[allow(dead_code, reason = "shared with tests, which use other parts")]
mod wire;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["--pair", capture, after] => {
            pair::write(Path::new(capture), Path::new(after)).map(|()| String::new())
        }
        ["--speed", before, after] => speed::measure(Path::new(before), Path::new(after)),
        ["--clocks", shared] => truth::lab(Path::new(shared)).and_then(|mut lab| {
            lab.extend(truth::ns3(Path::new(shared))?);
            lab.iter().map(compare::clocks).collect()
        }),
        ["--dispersion", shared] => dispersion::section(Path::new(shared)),
        [shared] => return document(Path::new(shared)),
        _ => {
            eprintln!("usage: path SHARED, the folder that holds lab and ns3 (../shared)");
            return ExitCode::from(2);
        }
    };
    finish(done)
}

fn finish(done: Result<String, String>) -> ExitCode {
    match done {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn document(shared: &Path) -> ExitCode {
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
    let text = results.and_then(|results| {
        let sections = testbed::section(shared)? + &dispersion::section(shared)?;
        Ok(report::document(&results, &sections))
    });
    finish(text)
}
