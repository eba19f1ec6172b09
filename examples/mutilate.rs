//! Cuts captures short and flips bytes in them, and looks that nothing breaks: no panic, no result
//! that contradicts itself, no more than a second a megabyte, and no more than 200 MB of memory
//! beyond the capture.
//!
//! ```console
//! $ cargo run --release --no-default-features --example mutilate -- 200 FOLDER...
//! ```
//!
//! analyses each file below the folders 800 times: cut at 200 places, then with 1 to 8 of its bytes
//! replaced, 200 times, each as it is and with repair. It prints the slowest and the largest run, and fails when one is
//! beyond the bounds. Memory is known on Linux only.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it measures and tells"
)]

#[path = "../tests/robust/answers.rs"]
#[allow(dead_code, reason = "shared with tests, which use other parts")]
mod answers;
#[path = "../tests/robust/noise.rs"]
mod noise;
#[path = "../tests/robust/packets.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "shared with tests, which use other parts"
)]
mod packets;

use std::fmt;
use std::fs;
use std::io::{self, Cursor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ccanalyze::analyze::Config;
use ccanalyze::capture::CaptureSource;
use noise::Noise;

/// Most time a megabyte may take.
const TIME_PER_MB: Duration = Duration::from_secs(1);

/// Most memory beyond the capture, in KiB.
const MEMORY_KIB_MAX: u64 = 200 * 1000 * 1000 / 1024;

/// What one analysis cost, and of what.
#[derive(Clone, Default)]
struct Cost {
    what: String,
    time: Duration,
    megabytes: f64,
    memory_kib: u64,
}

impl Cost {
    fn time_per_mb(&self) -> Duration {
        // Below a megabyte it is the fixed cost that counts.
        self.time.div_f64(self.megabytes.max(1.0))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, seconds, megabytes) = (&self.what, self.time.as_secs_f64(), self.megabytes);
        let memory = self.memory_kib;
        write!(
            f,
            "{what}: {seconds:.3} s for {megabytes:.3} MB, {memory} KiB beyond it"
        )
    }
}

fn main() -> io::Result<ExitCode> {
    let mut args = std::env::args().skip(1);
    let places = args.next().and_then(|places| places.parse().ok());
    let Some(places) = places else {
        println!("usage: mutilate PLACES FOLDER...");
        return Ok(ExitCode::from(2));
    };
    let mut files = Vec::new();
    for folder in args {
        files_below(Path::new(&folder), &mut files)?;
    }
    files.sort();
    let mut noise = Noise(0x2545_f491_4f6c_dd1d);
    let (mut runs, mut faults) = (0_u64, 0_u64);
    let (mut slowest, mut largest) = (Cost::default(), Cost::default());
    for path in &files {
        let whole = fs::read(path)?;
        for turn in 0..2 * places {
            let mut bytes = whole.clone();
            let name = path.display();
            let what = if turn < places {
                let cut = noise.below(bytes.len());
                bytes.truncate(cut);
                format!("{name} cut at {cut}")
            } else {
                let flips: Vec<(usize, u8)> = (0..=noise.below(8))
                    .map(|_| (noise.below(bytes.len()), noise.below(256) as u8))
                    .collect();
                for &(place, value) in &flips {
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte = value;
                    }
                }
                format!("{name} with {flips:?}")
            };
            for (repair, how) in [(false, ""), (true, ", repaired")] {
                runs += 1;
                let Some(cost) = analyze(bytes.clone(), repair, format!("{what}{how}")) else {
                    println!("PANIC: {what}{how}");
                    faults += 1;
                    continue;
                };
                if cost.time_per_mb() > TIME_PER_MB || cost.memory_kib > MEMORY_KIB_MAX {
                    println!("BEYOND: {cost}");
                    faults += 1;
                }
                if cost.time_per_mb() > slowest.time_per_mb() {
                    slowest = cost.clone();
                }
                if cost.memory_kib > largest.memory_kib {
                    largest = cost;
                }
            }
        }
    }
    println!("{} files, {runs} runs, {faults} faults", files.len());
    println!("slowest: {slowest}");
    println!("largest: {largest}");
    Ok(ExitCode::from(u8::from(faults > 0)))
}

/// Analyses a capture on one thread; `None` when that panicked.
fn analyze(bytes: Vec<u8>, repair: bool, what: String) -> Option<Cost> {
    let size = bytes.len();
    let before = reset_peak_kib();
    let start = Instant::now();
    let run = || {
        let reader = Box::new(Cursor::new(bytes));
        let name = "mutilated".to_owned();
        let config = Config {
            threads: Some(1),
            repair,
            ..Config::default()
        };
        let sources = vec![CaptureSource::Reader { name, reader }];
        answers::analyze_with(sources, &config).records
    };
    catch_unwind(AssertUnwindSafe(run)).ok()?;
    Some(Cost {
        what,
        time: start.elapsed(),
        megabytes: size as f64 / 1e6,
        memory_kib: status_kib("VmHWM:").saturating_sub(before),
    })
}

/// Begins to look for the peak anew, and says what is held now.
fn reset_peak_kib() -> u64 {
    // Where that cannot be reset, the peak of all runs so far is what is compared.
    let _ = fs::write("/proc/self/clear_refs", "5");
    status_kib("VmRSS:")
}

fn status_kib(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

fn files_below(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            files_below(&entry?.path(), files)?;
        }
    } else if fs::metadata(path)?.len() > 0 {
        files.push(path.to_path_buf());
    }
    Ok(())
}
