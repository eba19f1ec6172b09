//! What a command takes: wall time, processor time, memory.

use std::process::{Command as Process, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

use crate::Command;

/// Medians over all rounds of one command.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    pub(crate) name: &'static str,
    pub(crate) wall: Duration,
    /// User and system time of all threads.
    pub(crate) cpu: Duration,
    /// Largest resident set, in bytes. Pages of a mapped file count, too.
    pub(crate) resident_bytes: u64,
    pub(crate) file_bytes: u64,
}

/// What takes less runs twice in its turn, in microseconds.
const SHORT_MICROS: u64 = 3_000_000;

/// Runs all commands in turn, `rounds` times, after one round that counts for nothing. Of those that take less
/// than three seconds the second run in a turn counts: where the machine is a guest, its host gives memory anew to
/// whoever asks for more than the one before.
pub(crate) fn take_turns(commands: &[Command], rounds: usize) -> Result<Vec<Timing>, String> {
    let mut samples: Vec<Vec<[u64; 3]>> = vec![Vec::new(); commands.len()];
    for round in 0..=rounds {
        for (command, samples) in commands.iter().zip(&mut samples) {
            let Some(mut sample) = once(&command.words)? else {
                continue;
            };
            if sample[0] < SHORT_MICROS
                && let Some(again) = once(&command.words)?
            {
                sample = again;
            }
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let timings = commands
        .iter()
        .zip(samples)
        .filter_map(|(command, samples)| {
            let median = |field: usize| {
                let mut values: Vec<u64> = samples.iter().map(|sample| sample[field]).collect();
                values.sort_unstable();
                values.get(values.len() / 2).copied()
            };
            Some(Timing {
                name: command.name,
                wall: Duration::from_micros(median(0)?),
                cpu: Duration::from_micros(median(1)?),
                resident_bytes: median(2)? * 1024,
                file_bytes: std::fs::metadata(&command.file).map_or(0, |meta| meta.len()),
            })
        });
    Ok(timings.collect())
}

/// The largest anonymous memory of a command, in bytes, the median of five runs; 0 where the system does not
/// tell.
pub(crate) fn anonymous_bytes(words: &[String]) -> Result<u64, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(0);
    };
    let mut peaks = [0; 5];
    for most in &mut peaks {
        let mut process = Process::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let status = format!("/proc/{}/status", process.id());
        while process
            .try_wait()
            .map_err(|error| error.to_string())?
            .is_none()
        {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            let kilobytes =
                line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            *most = kilobytes.map_or(0, |kilobytes| kilobytes * 1024).max(*most);
        }
    }
    peaks.sort_unstable();
    Ok(peaks[2])
}

/// Wall and processor time in microseconds and resident kilobytes of one run; `None` when there is
/// no such command. In a process of its own, since the system adds up what all children took.
fn once(words: &[String]) -> Result<Option<[u64; 3]>, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Process::new(own)
        .arg("--measure")
        .args(words)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    match (output.status.success(), &numbers[..]) {
        (true, &[wall, cpu, resident]) => Ok(Some([wall, cpu, resident])),
        (true, _) => Ok(None),
        // Some peers do not read every format.
        (false, _) => {
            eprintln!("left out: `{}` failed", words.join(" "));
            Ok(None)
        }
    }
}

/// The other half: runs the command and prints what it took, or nothing when there is no such
/// command.
#[expect(
    clippy::disallowed_methods,
    reason = "the time a process takes is what it measures"
)]
pub(crate) fn child(words: &[String]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else {
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    let status = Process::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let wall = start.elapsed();
    let status = match status {
        Ok(status) => status,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else {
        return ExitCode::FAILURE;
    };
    let micros =
        |time: nix::sys::time::TimeVal| time.tv_sec() as u64 * 1_000_000 + time.tv_usec() as u64;
    let cpu = micros(usage.user_time()) + micros(usage.system_time());
    println!("{} {cpu} {}", wall.as_micros(), usage.max_rss());
    if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
