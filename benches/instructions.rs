//! Instructions a packet, counted by callgrind: a gate that what else the machine does cannot move.
//!
//! ```sh
//! cargo bench --no-default-features --bench instructions               # compares, fails above +2 %
//! cargo bench --no-default-features --bench instructions -- --record   # after a change that is meant
//! ```
//!
//! Each workload is run with so many packets and with twice as many, and the difference counts: what
//! starting and ending take falls out. Another compiler gives other counts, so the baseline,
//! `benches/instructions.tsv`, names its own; with another one the comparison is only printed. Without
//! valgrind there is nothing to do.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, not part of the tool"
)]

#[path = "support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with examples and tests, which use other parts"
)]
mod synth;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, Watch};
use synth::{Format, Profile, Synth};

/// Packets by which the two runs differ.
const PACKETS: u64 = 100_000;

/// Growth that is too much.
const TOLERANCE: f64 = 0.02;

const BASELINE: &str = "benches/instructions.tsv";

fn workloads() -> Vec<(&'static str, Synth)> {
    let mix = Synth::new(Profile::Mix, PACKETS).snapped();
    vec![
        ("bulk, full size", Synth::new(Profile::Bulk, PACKETS)),
        ("mix, 96 bytes", mix),
        (
            "mix, 96 bytes, pcapng",
            Synth {
                format: Format::Pcapng,
                ..mix
            },
        ),
        (
            "one flow, 96 bytes",
            Synth::new(Profile::One, PACKETS).snapped(),
        ),
        ("storm of ACKs", Synth::new(Profile::Acks, PACKETS)),
        (
            "ugly, 96 bytes",
            Synth::new(Profile::Ugly, PACKETS).snapped(),
        ),
    ]
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(place) = arguments
        .iter()
        .position(|argument| argument == "--analyze")
    {
        return analyze(arguments.get(place + 1).map_or("", |path| path));
    }
    // `cargo test` builds and starts benches, too, to see that they work: it means no measurement.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("no valgrind, so no instructions are counted");
        return ExitCode::SUCCESS;
    }
    match measure().and_then(|counts| judge(&counts, &arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What is counted.
fn analyze(path: &str) -> ExitCode {
    let config = Config {
        threads: Some(1),
        ..Config::default()
    };
    let input = CaptureInput::file(Path::new(path));
    let analysis = Analysis::run(vec![input], &config, &Watch::default());
    let whole = analysis
        .captures
        .iter()
        .all(|capture| capture.errors.is_empty());
    ExitCode::from(u8::from(!whole))
}

/// Instructions a packet of each workload.
fn measure() -> Result<Vec<(&'static str, f64)>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    workloads()
        .into_iter()
        .map(|(name, synth)| {
            let once = count(folder.path(), synth)?;
            let twice = count(
                folder.path(),
                Synth {
                    packets: 2 * PACKETS,
                    ..synth
                },
            )?;
            let packet = twice.saturating_sub(once) as f64 / PACKETS as f64;
            println!("{packet:8.1}  {name}");
            Ok((name, packet))
        })
        .collect()
}

/// Instructions of a whole run over a capture.
fn count(folder: &Path, synth: Synth) -> Result<u64, String> {
    let text = |error: std::io::Error| error.to_string();
    let capture = folder.join("capture");
    let out = File::create(&capture).map_err(text)?;
    synth.write(BufWriter::new(out)).map_err(text)?;
    let own = std::env::current_exe().map_err(text)?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .arg("--analyze")
        .arg(&capture)
        .stdout(Stdio::null())
        .output()
        .map_err(text)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let digits: Option<String> = said
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .map(|(_, number)| number.chars().filter(char::is_ascii_digit).collect());
    match digits.and_then(|digits| digits.parse().ok()) {
        Some(count) if output.status.success() => Ok(count),
        _ => Err(format!("valgrind failed: {said}")),
    }
}

/// Compares with the baseline, or records a new one; `false` when something got dearer.
fn judge(counts: &[(&str, f64)], arguments: &[String]) -> Result<bool, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(BASELINE);
    let compiler = compiler();
    if arguments.iter().any(|argument| argument == "--record") {
        let mut text = format!("# instructions a packet\t{compiler}\n");
        for (name, count) in counts {
            let _ = writeln!(text, "{name}\t{count:.1}");
        }
        return fs::write(&path, text)
            .map(|()| true)
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let baseline =
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let same_compiler = baseline
        .lines()
        .next()
        .is_some_and(|line| line.ends_with(&compiler));
    let mut good = true;
    for (name, count) in counts {
        let recorded: Option<f64> = baseline
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .find(|(known, _)| known == name)
            .and_then(|(_, count)| count.parse().ok());
        let Some(recorded) = recorded else {
            return Err(format!("{BASELINE} has no '{name}': record it"));
        };
        let growth = count / recorded - 1.0;
        println!("{:+7.2} %  {name}", growth * 100.0);
        good &= growth <= TOLERANCE;
    }
    if !same_compiler {
        println!("the baseline is of another compiler than {compiler}: nothing is judged");
    }
    Ok(good || !same_compiler)
}

fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output();
    version.map_or_else(
        |_| "an unknown compiler".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
