//! How long `path` takes, beside the plain analysis of both its captures.

#![expect(clippy::disallowed_methods, reason = "it measures wall time")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ccanalyze::Analysis;
use ccanalyze::analyze::Config;
use ccanalyze::path::{PathAnalysis, PathConfig, Point};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::skew::{self, Wrong};

/// Wall time and processor time of all threads.
type Took = [Duration; 2];

/// One line for each of plain analysis, and `path` with clocks that agree and that do not.
pub(crate) fn measure(before: &Path, after: &Path) -> Result<String, String> {
    let skewed = skew::copy(after, Wrong::Fast)?;
    let files = [before, after].map(Path::to_path_buf);
    let plain = least(|| {
        Analysis::of(&files, &Config::default());
        Ok(())
    })?;
    let mut text = String::from("| | wall | processor | part of plain, wall | processor |\n");
    let mut line = |what: &str, took: Took| {
        let [wall, cpu] = took.map(|time| time.as_secs_f64());
        let [plain_wall, plain_cpu] = plain.map(|time| time.as_secs_f64());
        let _ = writeln!(
            text,
            "| {what} | {wall:.3} s | {cpu:.3} s | {:.2} | {:.2} |",
            plain_wall / wall,
            plain_cpu / cpu
        );
    };
    line("plain analysis of both", plain);
    line("path", least(|| path([before, after]))?);
    line(
        "path, clocks apart",
        least(|| path([before, skewed.path()]))?,
    );
    Ok(text)
}

fn path(files: [&Path; 2]) -> Result<(), String> {
    let points = files.map(|file| Point::file(PathBuf::from(file)));
    PathAnalysis::of(&points, &PathConfig::default()).map_err(|error| error.to_string())?;
    Ok(())
}

/// The quickest of some runs.
fn least(mut run: impl FnMut() -> Result<(), String>) -> Result<Took, String> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let (wall, cpu) = (Instant::now(), processor()?);
        run()?;
        let took = [wall.elapsed(), processor()?.saturating_sub(cpu)];
        best = [best[0].min(took[0]), best[1].min(took[1])];
    }
    Ok(best)
}

fn processor() -> Result<Duration, String> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|error| error.to_string())?;
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(us as u64))
}

const ROUNDS: usize = 3;
