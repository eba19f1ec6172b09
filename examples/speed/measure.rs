//! What a command takes: wall time, processor time, memory.

use std::process::{Command as Process, ExitCode, Stdio};
use std::time::{Duration, Instant};

use memmap2::{Advice, MmapMut};
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
    /// What memory cost that was touched before, in ps a byte.
    pub(crate) touch_ps: u64,
}

/// Memory that is touched before each run, in bytes, at least and at most.
const TOUCHED_MIN: u64 = 64 << 20;
const TOUCHED_MAX: u64 = 4 << 30;

/// Commands that take turns, and what each run of them took.
pub(crate) struct Turns {
    commands: Vec<Command>,
    /// Of each command, as [`once`] has them.
    samples: Vec<Vec<[u64; 4]>>,
    /// Memory that is touched before it runs again, in bytes.
    touched: Vec<u64>,
}

impl Turns {
    pub(crate) fn new(commands: Vec<Command>) -> Self {
        Self {
            samples: vec![Vec::new(); commands.len()],
            touched: vec![TOUCHED_MIN; commands.len()],
            commands,
        }
    }

    /// Runs each command once.
    pub(crate) fn round(&mut self, counts: bool) -> Result<(), String> {
        let all = self.commands.iter().zip(&mut self.samples);
        for ((command, samples), touched) in all.zip(&mut self.touched) {
            let Some(sample) = once(&command.words, *touched)? else {
                continue;
            };
            // As much as it takes, and some more.
            *touched = (sample[2] * 1024 * 3 / 2).clamp(TOUCHED_MIN, TOUCHED_MAX);
            if counts {
                samples.push(sample);
            }
        }
        Ok(())
    }

    /// The words of the command of that name.
    pub(crate) fn words(&self, name: &str) -> Option<&[String]> {
        let command = self.commands.iter().find(|command| command.name == name)?;
        Some(&command.words)
    }

    /// Medians of those that ran.
    pub(crate) fn timings(&self) -> Vec<Timing> {
        let all = self.commands.iter().zip(&self.samples);
        let timings = all.filter_map(|(command, samples)| {
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
                touch_ps: median(3)?,
            })
        });
        timings.collect()
    }
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

/// Wall and processor time in microseconds and resident kilobytes of one run, and what so much memory cost that was
/// touched before it; `None` when there is no such command.
fn once(words: &[String], touched_bytes: u64) -> Result<Option<[u64; 4]>, String> {
    let (_, touched) = apart("--touch", &[touched_bytes.to_string()])?;
    let (succeeded, numbers) = apart("--measure", words)?;
    match (succeeded, &numbers[..]) {
        (true, &[wall, cpu, resident]) => {
            let touch = touched.first().copied().unwrap_or(0);
            Ok(Some([wall, cpu, resident, touch]))
        }
        (true, _) => Ok(None),
        // Some peers do not read every format.
        (false, _) => {
            eprintln!("left out: `{}` failed", words.join(" "));
            Ok(None)
        }
    }
}

/// Runs one of the other halves, and gives back whether it succeeded and what numbers it printed. In a process of its
/// own: the system adds up what all children took, and what memory a process had counts for what it starts.
fn apart(half: &str, words: &[String]) -> Result<(bool, Vec<u64>), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Process::new(own)
        .arg(half)
        .args(words)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let words = text.split_whitespace();
    let numbers = words.filter_map(|word| word.parse().ok());
    Ok((output.status.success(), numbers.collect()))
}

/// One half: touches so much memory, gives it back, and prints what that took, in ps a byte.
///
/// Where the machine is a guest, its host takes back what memory is free, and gives it anew, page by page, to whoever
/// touches it next: 2 to 3 ns a byte, more than most commands take for all they do. Here that is paid before.
#[expect(
    clippy::disallowed_methods,
    reason = "the time that memory takes is what it measures"
)]
pub(crate) fn touch(words: &[String]) -> ExitCode {
    let bytes: usize = words
        .first()
        .and_then(|word| word.parse().ok())
        .unwrap_or(0);
    let Ok(mut memory) = MmapMut::map_anon(bytes) else {
        eprintln!("no {bytes} bytes of memory");
        return ExitCode::FAILURE;
    };
    // Without them it takes longer, no more.
    let _ = memory.advise(Advice::HugePage);
    let start = Instant::now();
    memory.chunks_mut(4096).for_each(|page| page[0] = 1);
    println!(
        "{}",
        start.elapsed().as_nanos() * 1000 / bytes.max(1) as u128
    );
    ExitCode::SUCCESS
}

/// The other half: runs the command and prints what it took, or nothing when there is no such command.
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
