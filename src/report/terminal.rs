//! The summary on the terminal; the only place that prints.

mod alone;
mod capacity;
mod captured;
pub(super) mod clocks;
mod delays;
mod lengths;
mod nothing;
mod pairs;
pub(crate) mod path;
mod queues;
mod rotated;
mod runs;
mod studies;
mod tables;
mod text;
mod warnings;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::analyze::{Analysis, CaptureAnalysis, Config, Flow, FlowNames};
use crate::capture::{CaptureError, CaptureErrorKind, FileFacts, display_name};
use crate::metric;
pub(super) use crate::study::with_causes;
use crate::study::words::Thousands;
use crate::study::{StudyResults, StudyRun};

use super::largest::largest_flows;
use delays::millis;
pub(super) use delays::{delay, delays};
pub(super) use nothing::nothing_found;
pub(super) use pairs::compared;
use rotated::parts_of_one;
pub(crate) use studies::study_warnings;
use tables::{add_names, flows_table};
use text::{gathered, printable, without_numbers};
use warnings::{damaged, doubt, is_mostly_silent, overlap, timeless};
pub(super) use warnings::{given_up, put_away, repairs, warnings};

/// Flows shown in the table: what fits a screen.
const FLOWS_SHOWN: usize = 20;

/// Prints a message for the user, who reads standard error.
pub(crate) fn say(message: &str) {
    let text = line(message, HAS_PROGRESS.load(Ordering::Relaxed));
    // Where standard error cannot be written to there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Whether the line that the cursor is in shows how far a run is.
static HAS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Notes whether a line of standard error shows how far a run is: messages take its place, and it
/// comes again below them.
pub(crate) fn note_progress(is_shown: bool) {
    HAS_PROGRESS.store(is_shown, Ordering::Relaxed);
}

/// A message as a line of its own.
fn line(message: &str, has_progress: bool) -> String {
    let clear = if has_progress { "\r\x1b[2K" } else { "" };
    format!("{clear}{}\n", printable(&without_numbers(message)))
}

/// Prints a result to standard output; whether that could be done. Says why not.
#[must_use]
pub(crate) fn print(text: &str) -> bool {
    let mut out = io::stdout();
    let text = printable(text);
    was_printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Whether what was to be printed was; says why not.
pub(crate) fn was_printed(outcome: io::Result<()>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            say("error: standard output was closed before all was printed");
            false
        }
        Err(error) => {
            say(&format!(
                "error: standard output cannot be written: {error}"
            ));
            false
        }
    }
}

/// Prints which runs of a study failed and are left out, and what others lack; also when the rest
/// is quiet.
pub(crate) fn report_runs(results: &StudyResults) {
    for run in &results.runs {
        if let Some(error) = &run.error {
            say(&format!("error: {}: left out: {error}", run.name));
        }
        for lack in lacks(run) {
            say(&format!("warning: {lack}"));
        }
    }
}

/// What of a run's captures is not in its numbers.
pub(super) fn lacks(run: &StudyRun) -> Vec<String> {
    let shortfall = &run.shortfall;
    let damage = damaged(&run.name, shortfall.damaged_places, shortfall.skipped_bytes);
    let given_up = given_up(shortfall.given_up).map(|text| format!("{}: {text}", run.name));
    damage.into_iter().chain(given_up).collect()
}

/// Prints what a study was made of, and where it is.
#[must_use]
pub(crate) fn summarise_study(results: &StudyResults, folder: &Path, files: usize) -> bool {
    let failed = results
        .runs
        .iter()
        .filter(|run| run.error.is_some())
        .count();
    let flows: usize = results.runs.iter().map(|run| run.flows.len()).sum();
    let mut text = format!(
        "{}: {}, {}",
        results.name,
        counted((results.runs.len() - failed) as u64, "run"),
        counted(flows as u64, "flow")
    );
    if failed > 0 {
        let _ = write!(
            text,
            "; left out: {} that failed",
            counted(failed as u64, "run")
        );
    }
    if results.cached > 0 {
        let _ = write!(
            text,
            "; {} had not changed",
            counted(results.cached as u64, "run")
        );
    }
    print(&format!(
        "{text}\nWritten: {files} files in {}\n",
        display_name(folder)
    ))
}

/// Prints an error with all its causes, on one line.
pub(crate) fn complain(error: &anyhow::Error) {
    say(&format!("error: {}", with_causes(error.as_ref())));
}

/// Prints a line a capture, what went wrong, and the largest flows; whether that could be done.
pub(crate) fn summarise(analysis: &Analysis, config: &Config, written: &[PathBuf]) -> bool {
    let mut text = String::new();
    let several = analysis.captures.len() > 1;
    for (index, capture) in analysis.captures.iter().enumerate() {
        if several {
            // What the column of that name in the tables below means.
            let _ = write!(text, "#{} ", index + 1);
        }
        text.push_str(&capture_line(capture, config));
        text.push('\n');
    }
    text.push_str(&flow_table(analysis, &config.names));
    text.push_str(&pairs::pair_table(analysis, &config.names));
    text.push_str(&written_line(written));
    print(&text)
}

/// What was written; nothing where nothing was.
fn written_line(written: &[PathBuf]) -> String {
    if written.is_empty() {
        return String::new();
    }
    let names = written.iter().map(|path| display_name(path).to_string());
    format!("Written: {}\n", names.collect::<Vec<_>>().join(", "))
}

/// Prints what kept captures from being read to their end; also when the rest is quiet.
///
/// A name that is no file may be meant as one of `commands`.
pub(crate) fn report_damage(analysis: &Analysis, commands: &[String]) {
    for (place, capture) in analysis.captures.iter().enumerate() {
        // A command is the first word.
        let commands = if place == 0 { commands } else { &[] };
        say_capture_errors(&capture.errors, commands, &capture.files);
        if let Some(text) = given_up(capture.given_up) {
            say(&format!("warning: {}: {text}", called(capture)));
        }
        for repair in repairs(&capture.files) {
            say(&format!("warning: {repair}"));
        }
        if let Some(text) = put_away(capture) {
            say(&format!("warning: {}: {text}", called(capture)));
        }
    }
}

/// What a capture is called: standard input by its name, and of parts of one capture not the first alone.
fn called(capture: &CaptureAnalysis) -> String {
    let name = match capture.name.as_str() {
        "-" => "standard input",
        name => name,
    };
    match capture.files.len() {
        0 | 1 => name.to_owned(),
        files => format!("{name} and {}", counted(files as u64 - 1, "further part")),
    }
}

/// Prints what is wrong with a capture of these `files`, and what to do about it.
pub(crate) fn say_capture_errors(
    errors: &[CaptureError],
    commands: &[String],
    files: &[FileFacts],
) {
    for error in errors {
        let (doubt, hint) = (doubt(error, files), hint(error, commands));
        say(&format!("error: {error}{doubt}{hint}"));
    }
}

/// What to do about an error, where that depends on the command.
fn hint(error: &CaptureError, commands: &[String]) -> Cow<'static, str> {
    let name = error.path.to_string_lossy();
    let is_manifest = || {
        error
            .path
            .extension()
            .is_some_and(|ending| ending == "toml")
    };
    let text = match &error.kind {
        kind if kind.is_damage() => "; --repair goes on behind the damage",
        // What a shell finds nothing for, it passes on as it is written.
        CaptureErrorKind::Io(io)
            if io.kind() == io::ErrorKind::NotFound && name.contains(['*', '?', '[']) =>
        {
            "; if this is a pattern, no file matches it"
        }
        CaptureErrorKind::Io(io)
            if io.kind() == io::ErrorKind::NotFound && name.starts_with('-') =>
        {
            "; what follows `--` are captures: write options before it"
        }
        // A command that is not known is taken for a file.
        CaptureErrorKind::Io(io)
            if io.kind() == io::ErrorKind::NotFound && !name.contains(['.', '/', '\\']) =>
        {
            return match commands {
                [] => "".into(),
                [only] => format!("; if this is to be a command, there is `{only}`").into(),
                [first @ .., last] => {
                    let first = first.join("`, `");
                    format!("; if this is to be a command, there are `{first}` and `{last}`").into()
                }
            };
        }
        CaptureErrorKind::NotACapture { .. } if is_manifest() => {
            "; a study's manifest is for `ccanalyze study MANIFEST --out FOLDER`"
        }
        _ => "",
    };
    text.into()
}

/// Prints what bears on the numbers of each capture, and on which.
pub(crate) fn warn(analysis: &Analysis, config: &Config) {
    let of_captures = analysis.captures.iter();
    let all = of_captures.flat_map(|capture| {
        let said = warnings(capture, config).into_iter();
        said.map(move |warning| (called(capture), warning))
    });
    for warning in gathered(all.collect()) {
        say(&format!("warning: {warning}"));
    }
    if let Some(warning) = parts_of_one(analysis) {
        say(&format!("warning: {warning}"));
    }
}

fn capture_line(capture: &CaptureAnalysis, config: &Config) -> String {
    if capture.records == 0 && !capture.errors.is_empty() {
        return format!("{}: not read", called(capture));
    }
    let mut line = format!(
        "{}: {}, {} TCP",
        called(capture),
        counted(capture.records, "packet"),
        grouped(capture.tcp_records)
    );
    if let Some(udp) = capture.udp_records() {
        let _ = write!(line, ", {} UDP", grouped(udp));
    }
    let skipped: Vec<String> = capture
        .left_out()
        .map(|(skip, n)| format!("{} {}", grouped(n), skip.name()))
        .collect();
    if !skipped.is_empty() {
        let _ = write!(
            line,
            ", skipped {} ({})",
            grouped(capture.left_out().map(|(_, n)| n).sum()),
            skipped.join(", ")
        );
    }
    if let Some(span) = capture.span {
        let _ = write!(line, "; {}", duration(span.length_ns()));
        if let Some(bps) = metric::rate_bps(capture.totals().ip_bytes, span.length_ns()) {
            // Of flows of either direction (METRICS.md G2).
            let _ = write!(line, ", throughput {} both ways", rate(bps));
        }
    }
    if let Some(share) = utilisation(capture, config) {
        let _ = write!(line, ", utilisation {}", percent(share));
        if is_of_one_way(capture) {
            line.push_str(" one way");
        }
    }
    let _ = write!(
        line,
        "; {}, {}",
        counted(capture.connections_total, "connection"),
        counted(capture.totals().flows, "flow")
    );
    if let Some(jain) = capture.pairs.jain {
        let _ = write!(line, "; Jain's index {jain:.3}");
    }
    if capture.pairs.left_out > 0 && capture.pairs.paired.len() <= 1 {
        let _ = write!(
            line,
            "; neither Jain's index nor fness, as --top leaves no two flows"
        );
    } else if capture.pairs.left_out > 0 {
        let _ = write!(
            line,
            "; fness for the {} largest flows, {} left out (--top)",
            capture.pairs.paired.len(),
            grouped(capture.pairs.left_out as u64)
        );
    }
    line
}

/// What was delivered of the link's capacity, where that is known (METRICS.md N5).
pub(super) fn utilisation(capture: &CaptureAnalysis, config: &Config) -> Option<f64> {
    let capacity_bps = config.capacity.as_ref()?.bps;
    let delivered = capture.delivered_towards_capacity()?;
    metric::utilisation(delivered.goodput_bps()?, capacity_bps)
}

/// Whether that is of the flows that go one way, as others that go the other way take nothing from them.
pub(super) fn is_of_one_way(capture: &CaptureAnalysis) -> bool {
    (capture.towards_capacity().len() as u64) < capture.totals().flows
}

fn flow_table(analysis: &Analysis, names: &FlowNames) -> String {
    let (flows, all) = largest_flows(&analysis.captures, FLOWS_SHOWN);
    if flows.is_empty() {
        return format!("No {}.\n", nothing_found(&analysis.captures));
    }
    let several = analysis.captures.len() > 1;
    let mut header = vec![
        "flow",
        "goodput",
        "data",
        "overhead",
        "RTT min/mean/max",
        "rtx",
        "reord",
        "time",
        "quality",
    ];
    if several {
        header.insert(0, "#");
    }
    let named = flows.iter().map(|(_, flow)| name_of(names, flow));
    let named: Vec<String> = named.collect();
    let mut rows: Vec<Vec<String>> = flows
        .into_iter()
        .map(|(index, flow)| {
            let mut cells = flow_cells(&flow);
            if several {
                cells.insert(0, (index + 1).to_string());
            }
            cells
        })
        .collect();
    let columns = header.len();
    add_names(&mut header, &mut rows, usize::from(several), named);
    // Numbers begin with the goodput, behind the flow.
    let texts = usize::from(several) + 1 + header.len() - columns;
    flows_table(&header, &rows, texts..header.len() - 1) + &not_shown(all)
}

/// What a flow is called; empty without a name.
pub(super) fn name_of(names: &FlowNames, flow: &Flow<'_>) -> String {
    names.of(flow).as_deref().unwrap_or_default().to_owned()
}

/// What a flow is called, as it stands before its ends; nothing without a name.
pub(super) fn before_ends(name: Option<Arc<str>>) -> String {
    name.map_or_else(String::new, |name| format!("{name}: "))
}

/// That the table above has not all flows, where it has not.
fn not_shown(all: usize) -> String {
    if all <= FLOWS_SHOWN {
        return String::new();
    }
    format!(
        "The {FLOWS_SHOWN} largest of {} flows; the table of --out has all.\n",
        grouped(all as u64)
    )
}

fn flow_cells(flow: &Flow<'_>) -> Vec<String> {
    let (src, dst) = flow.ends();
    let summary = flow.summary();
    let figures = flow.figures();
    let dash = || "-".to_owned();
    let of_tcp = |count: u64| flow.tcp().map_or_else(dash, |_| grouped(count));
    let rtt = match (
        summary.rtt.ns_min(),
        summary.rtt.ns_mean(),
        summary.rtt.ns_max(),
    ) {
        (Some(min), Some(mean), Some(max)) => delays([min as f64, mean, max as f64]),
        _ => dash(),
    };
    vec![
        format!("{src} > {dst}"),
        flow.goodput_bps().map_or_else(dash, rate),
        volume(figures.goodput_bytes()),
        flow.wire_overhead().map_or_else(dash, percent),
        rtt,
        of_tcp(figures.wire_retransmitted_packets(summary.incidents())),
        of_tcp(summary.incidents().reordered_packets),
        flow.completion_ns().map_or_else(dash, duration),
        flow.quality()
            .iter()
            .map(|quality| quality.name())
            .collect::<Vec<_>>()
            .join(","),
    ]
}

/// How long something took: in seconds, from two hours on in hours, from a month on in days.
pub(super) fn duration(ns: i64) -> String {
    /// From so many seconds on, days are fine enough.
    const MONTH: f64 = 30.0 * 86_400.0;
    let seconds = ns as f64 / 1e9;
    if seconds < 7200.0 {
        format!("{seconds:.3} s")
    } else if seconds < MONTH {
        format!("{:.3} h", seconds / 3600.0)
    } else {
        format!("{} days", grouped((seconds / 86_400.0).round() as u64))
    }
}

/// A ratio in percent; beyond ten times, which only flows of a few bytes reach, just that.
pub(super) fn percent(ratio: f64) -> String {
    if ratio > 10.0 {
        ">1,000 %".to_owned()
    } else {
        format!("{:.1} %", 100.0 * ratio)
    }
}

/// A rate with the unit that leaves one to three digits before the point.
pub(super) fn rate(bps: f64) -> String {
    engineering(bps, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"])
}

pub(super) fn volume(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    engineering(bytes as f64, &["B", "kB", "MB", "GB", "TB"])
}

fn engineering(mut value: f64, units: &[&str]) -> String {
    let mut units = units.iter();
    let mut unit = units.next().unwrap_or(&"");
    for next in units {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    let digits = if value < 9.995 {
        2
    } else {
        usize::from(value < 99.95)
    };
    format!("{value:.digits$} {unit}")
}

/// `1 flow`, `2 flows`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    Thousands::Comma.counted(number, noun)
}

/// A number with its thousands apart.
pub(super) fn grouped(number: u64) -> String {
    Thousands::Comma.grouped(number)
}

/// Whether a progress bar would be seen.
#[must_use]
pub(crate) fn progress_is_seen() -> bool {
    std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::GivenUp;

    #[test]
    fn a_message_takes_the_place_of_a_progress_line() {
        assert_eq!(line("error: a", false), "error: a\n");
        assert_eq!(line("error: a", true), "\r\x1b[2Kerror: a\n");
    }

    /// What goes on when its connection was put away is a connection more.
    #[test]
    fn counts_depend_on_connections_that_were_put_away_and_on_nothing_else() {
        for (connections, said) in [
            (0, "no count depends on it"),
            (7, "counts as a new connection"),
        ] {
            let text = given_up(GivenUp {
                flows_without_series: 3,
                connections,
                time_sequences: true,
            });
            let text = text.unwrap();
            assert!(
                text.ends_with(&format!("{said}, and --memory raises it")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_took_two_hours_is_told_in_hours() {
        for (seconds, text) in [
            (0.25, "0.250 s"),
            (7199.9, "7199.900 s"),
            (7200.0, "2.000 h"),
            (100_000.0, "27.778 h"),
            (535_246_524.0, "6,195 days"),
        ] {
            assert_eq!(duration((seconds * 1e9) as i64), text);
        }
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn rates_keep_three_digits() {
        for (bps, text) in [
            (9.5, "9.50 bit/s"),
            (12_345.0, "12.3 kbit/s"),
            (999_600.0, "1.00 Mbit/s"),
            (48.6e6, "48.6 Mbit/s"),
            (123.4e9, "123 Gbit/s"),
        ] {
            assert_eq!(rate(bps), text);
        }
    }
}
