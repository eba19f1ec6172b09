//! How right ccanalyze, tcptrace and tshark are against exact truth: writes `docs/ACCURACY.md`.
//!
//! ```sh
//! cargo run --release --no-default-features --example accuracy -- ../shared > docs/ACCURACY.md
//! ```
//!
//! The argument is the folder that holds `lab` and `ns3`: captures with the truth about each frame
//! and flow. tcptrace and tshark are run where they are installed. Exit status 2 when a folder is
//! missing, 1 when a file cannot be read.
//!
//! | module | what |
//! | --- | --- |
//! | [`inputs`] | captures and their truth |
//! | [`peers`] | runs tcptrace and tshark, reads what they print |
//! | [`compare`], [`lab`], [`ns3`] | one capture against its truth |
//! | [`tally`] | sums over captures |
//! | [`report`], [`delays`] | the document: tables of sections 1 to 5, and 6 |
//! | [`errors`] | the document: what is wrong, one by one |
//! | [`markdown`] | tables and numbers |

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, not part of the tool"
)]

mod compare;
mod delays;
mod errors;
mod inputs;
mod lab;
mod markdown;
mod ns3;
mod peers;
mod report;
mod tally;
#[path = "../../tests/support/wire.rs"]
#[allow(dead_code, reason = "shared with tests, which use other parts")]
mod wire;

use std::path::Path;
use std::process::ExitCode;

use rayon::prelude::*;

use compare::Outcome;
use inputs::{Capture, LabTruth, Ns3Truth};
use peers::Peers;
use tally::{LabTally, Ns3Tally};

/// Everything that the document is made of.
struct Results {
    peers: Peers,
    lab: Vec<(Capture<LabTruth>, Outcome<LabTally>)>,
    ns3: Vec<(Capture<Ns3Truth>, Outcome<Ns3Tally>)>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shared] = &arguments[..] else {
        eprintln!("usage: accuracy SHARED, the folder that holds lab and ns3 (../shared)");
        return ExitCode::from(2);
    };
    let shared = Path::new(shared);
    for folder in [shared.join("lab"), shared.join("ns3")] {
        if !folder.is_dir() {
            eprintln!(
                "{}: no such folder; the captures with truth are needed there",
                folder.display()
            );
            return ExitCode::from(2);
        }
    }
    match compare_all(shared) {
        Ok(results) => {
            print!("{}{}", report::tables(&results), errors::sections(&results));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare_all(shared: &Path) -> Result<Results, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let peers = Peers::installed();
    let lab = inputs::lab_captures(shared)?
        .into_par_iter()
        .map(|capture| {
            let outcome = lab::compare(&capture, &peers, scratch.path())?;
            Ok((capture, outcome))
        })
        .collect::<Result<_, String>>()?;
    let ns3 = inputs::ns3_captures(shared)?
        .into_par_iter()
        .map(|capture| {
            let outcome = ns3::compare(&capture, &peers, scratch.path())?;
            Ok((capture, outcome))
        })
        .collect::<Result<_, String>>()?;
    Ok(Results { peers, lab, ns3 })
}
