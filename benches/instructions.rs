//! Instructions a packet, counted by callgrind, and allocations a packet, counted by the allocator: a
//! gate that what else the machine does cannot move.
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
#![allow(unsafe_code, reason = "an allocator that counts")]

#[path = "support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with examples and tests, which use other parts"
)]
mod synth;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, Watch};
use ccanalyze::capture::Io;
use synth::Synth;
use synth::workloads::workloads;

/// The system's allocator, which counts how often it is asked.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all that is asked for is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that it makes here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// What a whole run takes, or a packet.
#[derive(Clone, Copy)]
struct Cost {
    instructions: f64,
    allocations: f64,
}

/// Packets by which the two runs differ.
const PACKETS: u64 = 100_000;

/// Growth that is too much.
const TOLERANCE: f64 = 0.02;

/// Allocations a packet that are none.
const FEW_ALLOCATIONS: f64 = 0.001;

const BASELINE: &str = "benches/instructions.tsv";

/// Files are mapped: which is faster is measured elsewhere, and would come out now so, now so.
const MAPPED: &str = "--mapped";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(place) = arguments
        .iter()
        .position(|argument| argument == "--analyze")
    {
        let io = if arguments.iter().any(|argument| argument == MAPPED) {
            Io::Mapped
        } else {
            Io::Read
        };
        return analyze(arguments.get(place + 1).map_or("", |path| path), io);
    }
    // `cargo test --benches` starts benches, too, to see that they work: it means no measurement.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("no valgrind, so no instructions are counted");
        return ExitCode::SUCCESS;
    }
    match measure().and_then(|costs| judge(&costs, &arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What is counted.
fn analyze(path: &str, io: Io) -> ExitCode {
    let config = Config {
        threads: Some(1),
        io,
        ..Config::default()
    };
    let input = CaptureInput::file(Path::new(path));
    let analysis = Analysis::run(vec![input], &config, &Watch::default());
    println!("{}", ALLOCATIONS.load(Ordering::Relaxed));
    let whole = analysis
        .captures
        .iter()
        .all(|capture| capture.errors.is_empty());
    ExitCode::from(u8::from(!whole))
}

/// What a packet of each workload takes.
fn measure() -> Result<Vec<(&'static str, Cost)>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    workloads(PACKETS)
        .into_iter()
        .map(|(name, synth)| {
            // As they mostly are where packets are large.
            let io = name.contains("full size").then_some(MAPPED);
            let once = count(folder.path(), synth, io)?;
            let twice = count(
                folder.path(),
                Synth {
                    packets: 2 * PACKETS,
                    ..synth
                },
                io,
            )?;
            let packet = |of: fn(&Cost) -> f64| (of(&twice) - of(&once)) / PACKETS as f64;
            let cost = Cost {
                instructions: packet(|cost| cost.instructions),
                allocations: packet(|cost| cost.allocations),
            };
            let Cost {
                instructions,
                allocations,
            } = cost;
            println!("{instructions:8.1} instructions, {allocations:6.4} allocations  {name}");
            Ok((name, cost))
        })
        .collect()
}

/// What a whole run over a capture takes.
fn count(folder: &Path, synth: Synth, io: Option<&str>) -> Result<Cost, String> {
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
        .args(io)
        .stdout(Stdio::piped())
        .output()
        .map_err(text)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let digits: Option<String> = said
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .map(|(_, number)| number.chars().filter(char::is_ascii_digit).collect());
    let instructions = digits.and_then(|digits| digits.parse().ok());
    let allocations = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    match instructions.zip(allocations) {
        Some((instructions, allocations)) if output.status.success() => Ok(Cost {
            instructions,
            allocations,
        }),
        _ => Err(format!("valgrind failed: {said}")),
    }
}

/// Compares with the baseline, or records a new one; `false` when something got dearer.
fn judge(costs: &[(&str, Cost)], arguments: &[String]) -> Result<bool, String> {
    let path = Path::new(BASELINE);
    let compiler = compiler();
    if arguments.iter().any(|argument| argument == "--record") {
        let mut text = format!("# instructions and allocations a packet\t{compiler}\n");
        for (name, cost) in costs {
            let (instructions, allocations) = (cost.instructions, cost.allocations);
            let _ = writeln!(text, "{name}\t{instructions:.1}\t{allocations:.4}");
        }
        return fs::write(path, text)
            .map(|()| true)
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let baseline =
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let same_compiler = baseline
        .lines()
        .next()
        .is_some_and(|line| line.ends_with(&compiler));
    let mut good = true;
    for (name, cost) in costs {
        let recorded = baseline.lines().find_map(|line| {
            let [known, instructions, allocations] = line.split('\t').collect::<Vec<_>>()[..]
            else {
                return None;
            };
            let numbers = (instructions.parse().ok()?, allocations.parse().ok()?);
            (known == *name).then_some(numbers)
        });
        let Some((instructions, allocations)): Option<(f64, f64)> = recorded else {
            return Err(format!("{BASELINE} has no '{name}': record it"));
        };
        let growth = cost.instructions / instructions - 1.0;
        let more = cost.allocations - allocations;
        println!("{:+7.2} %, {more:+6.4} allocations  {name}", growth * 100.0);
        good &= growth <= TOLERANCE;
        good &= more <= FEW_ALLOCATIONS.max(allocations * TOLERANCE);
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
