//! What did the user ask: arguments to a plan, the plan to results, the outcome to an exit status.

mod args;
mod charts;
mod inputs;
mod interrupt;
mod limits;
mod manuals;
mod mistakes;
mod outputs;
mod path;
mod plan;
mod progress;
mod study;
mod values;
mod writing;

use std::process::ExitCode;
use std::sync::Arc;

use crate::analyze::{Analysis, CaptureAnalysis, CaptureInput, Config, Watch};
use crate::capture::{CaptureError, CaptureSource};
use crate::report::{self, ReportError, tables, terminal};
use crate::table::{RunTables, SegmentTable};

pub use args::{Args, Command};
pub use path::PathArgs;
use plan::Outputs;
pub use plan::Plan;
pub use study::{StudyArgs, StudyCommand};
use writing::{Writing, Written};

/// How a run ended, and the status that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Every capture was read to its end.
    Complete = 0,
    /// Results were written, but at least one capture was damaged or cut short, the run was
    /// interrupted, or a chart could not be drawn or the summary not be printed.
    Partial = 1,
    /// Nothing was written.
    Failed = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

/// Runs the command.
#[must_use]
pub fn run(args: &Args) -> ExitStatus {
    interrupt::take_size_limit_as_error();
    let outcome = match &args.command {
        Some(Command::Path(args)) => path::run(args),
        Some(Command::Study(args)) => study::run(args),
        Some(Command::Completions { shell }) => Ok(manuals::print_completions(*shell)),
        Some(Command::Man { command }) => manuals::print_manual(command),
        None => Plan::from_args(args).and_then(carry_out),
    };
    outcome.unwrap_or_else(|error| {
        terminal::complain(&error);
        ExitStatus::Failed
    })
}

/// Prints what was asked for on standard output.
fn printed(text: &str) -> ExitStatus {
    if terminal::print(text) {
        ExitStatus::Complete
    } else {
        ExitStatus::Failed
    }
}

fn carry_out(plan: Plan) -> anyhow::Result<ExitStatus> {
    let (config, quiet) = (plan.config, plan.quiet);
    let analysis = analyse(plan.inputs, &config, quiet);
    terminal::report_damage(&analysis, &args::commands());
    let captures = &analysis.captures;
    if captures.iter().all(is_unread) {
        let errors = captures.iter().flat_map(|capture| &capture.errors);
        terminal::say(nothing_written(errors));
        return Ok(ExitStatus::Failed);
    }
    let write = || write(&analysis, &config, &plan.metadata, plan.outputs);
    let written = progress::with_note(progress::WRITING, quiet, write)?;
    let mut shown = true;
    if !quiet {
        terminal::warn(&analysis, &config);
        charts::warn_of_unused(&config.names.unused_in(&analysis));
        shown = terminal::summarise(&analysis, &config, &written.files);
    }
    let mut captures = analysis.captures.iter();
    let damaged = captures.any(|capture| !capture.errors.is_empty() || capture.is_repaired());
    // The process is about to end: taking millions of records apart first would be for nothing.
    std::mem::forget(analysis);
    Ok(if damaged || !shown || !written.is_drawn {
        ExitStatus::Partial
    } else {
        ExitStatus::Complete
    })
}

/// Whether nothing could be read of a capture. Of a pipe that had given the header of a file and no packet yet when the
/// run was told to stop, that is known, and that it was no more.
fn is_unread(capture: &CaptureAnalysis) -> bool {
    let is_begun = !capture.files.is_empty();
    let mut errors = capture.errors.iter();
    capture.records == 0 && errors.any(|error| !(is_begun && error.is_interrupted()))
}

/// What is said where nothing was read of any capture, for these reasons.
fn nothing_written<'a>(mut errors: impl Iterator<Item = &'a CaptureError>) -> &'static str {
    if errors.all(CaptureError::is_interrupted) {
        "nothing was written: the run was interrupted before any packet was read"
    } else {
        "nothing was written: no capture could be read"
    }
}

/// Analyses captures, and shows how far that is.
fn analyse(inputs: Vec<CaptureInput>, config: &Config, quiet: bool) -> Analysis {
    let watch = Arc::new(Watch::default());
    interrupt::listen(&watch);
    // Known only where every capture is a file: a pipe ends when it ends.
    let total_bytes: Option<u64> = inputs
        .iter()
        .flat_map(|input| &input.sources)
        .map(CaptureSource::size_bytes)
        .sum();
    let scope = progress::Scope {
        captures: inputs.len(),
        total_bytes,
    };
    let run = || Analysis::run(inputs, config, &watch);
    progress::with_bar(&watch, scope, quiet, run)
}

/// From so many connections on, threads are begun for what whole captures come to.
const CONNECTIONS_SHARED: usize = 20_000;

/// Writes what was asked for; what was written.
fn write(
    analysis: &Analysis,
    config: &Config,
    metadata: &tables::Metadata,
    outputs: Outputs,
) -> Result<Written, ReportError> {
    let workers = tables::Workers::new(config.threads);
    let mut writing = Writing::new(metadata, workers, outputs.quiet);
    let mut without_rows = None;
    if let Some(results) = outputs.results {
        let captures = analysis.captures.iter();
        let connections: usize = captures.map(|capture| capture.connections.len()).sum();
        let all = if connections < CONNECTIONS_SHARED {
            RunTables::of(analysis, config)
        } else {
            writing.workers().run(|| RunTables::of(analysis, config))
        };
        // Of these tables the results themselves come last: when they are there, the others are.
        writing.table(all.pairs(), results.pairs)?;
        writing.table(all.pair_series(), results.pair_series)?;
        writing.table(all.series(), results.series)?;
        writing.table(all.captures(), results.captures)?;
        let mut captures = analysis.captures.iter();
        if captures.any(|capture| !capture.pings.is_empty()) {
            writing.table(all.pings(), results.pings)?;
        } else {
            without_rows = Some((results.pings, all.pings().empty().clone()));
        }
        writing.table(all.flows(), results.flows)?;
    }
    if let Some(pending) = outputs.segments {
        writing.packed_table(&SegmentTable::of(analysis), pending)?;
    }
    let options = report::chart::ChartOptions {
        svg: outputs.svg,
        style: outputs.style,
        bin_ns: config.bin_ns,
        capacity_bps: config.capacity.map(|capacity| capacity.bps),
        threads: config.threads,
        names: config.names.clone(),
        ..report::chart::ChartOptions::default()
    };
    if let Some(folder) = outputs.charts {
        writing.charts(folder, |folder| {
            report::chart::draw_all(analysis, folder, &options)
        })?;
    }
    if let Some(pending) = outputs.report {
        let options = outputs.report_charts.then_some(&options);
        let theme = outputs.style.theme;
        let page = || report::html::of_run(analysis, config, options, theme, metadata);
        writing.page(page, pending)?;
    }
    if let Some((pending, table)) = without_rows {
        tables::withdraw(&table, pending)?;
    }
    writing.put_in_place()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::CaptureErrorKind;

    #[test]
    fn a_run_that_was_interrupted_is_not_said_to_have_read_what_nobody_can() {
        let interrupted = || CaptureError::interrupted("a.pcap".into(), 0);
        let said = nothing_written([interrupted(), interrupted()].iter());
        assert_eq!(
            said,
            "nothing was written: the run was interrupted before any packet was read"
        );
        let damaged = CaptureError {
            kind: CaptureErrorKind::Hole,
            ..interrupted()
        };
        let errors = [interrupted(), damaged];
        let said = nothing_written(errors.iter());
        assert_eq!(said, "nothing was written: no capture could be read");
    }
}
