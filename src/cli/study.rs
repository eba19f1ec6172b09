//! `ccanalyze study`: from a manifest to a folder of tables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::charts::ChartArgs;
use super::limits::CaptureArgs;
use super::outputs::{self, begin_charts};
use super::plan::begin_page;
use super::{ExitStatus, fill_page};
use super::{interrupt, progress};
use crate::analyze::Watch;
use crate::capture::CaptureSource;
use crate::report::chart::{CHARTS_MAX, StudyChart, StudyCharts, of_study, save_study};
use crate::report::html;
use crate::report::study::{MADE_OF, files_of, fill_tables, make_folder, remove_older};
use crate::report::tables::Metadata;
use crate::report::terminal;
use crate::study::{PlannedRun, StudyPlan, StudyResults, StudyRun, draft};
use crate::table::study_tables;

/// Arguments of `ccanalyze study`.
///
/// Exit status: 0 when all runs were analysed, 1 when some failed and were left out or were repaired, or the summary
/// could not be printed, 2 when nothing was written, 130 when interrupted.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct StudyArgs {
    /// Something else than carrying a study out
    #[command(subcommand)]
    pub command: Option<StudyCommand>,

    /// The file that describes the study: which runs, with which labels, under which conditions
    #[arg(required = true, value_name = "MANIFEST")]
    pub manifest: Option<PathBuf>,

    /// The folder of the results, made where it is not there: runs, flows, groups, comparisons,
    /// tests and reports, each as .parquet, .csv, .md and .tex, and a folder of charts
    #[arg(short, long, required = true, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// Write a report to FILE.html: one page with charts, tables, failed runs, and how it was made;
    /// it needs no other file and no network
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// How charts are drawn.
    #[command(flatten)]
    pub charts: ChartArgs,

    /// What holds for all captures.
    #[command(flatten)]
    pub reading: CaptureArgs,

    /// Analyse every run, also those that were analysed before and have not changed
    #[arg(long)]
    pub afresh: bool,

    /// Threads to work with; one a core by default. The results do not depend on it
    #[arg(short, long, value_name = "N", value_parser = super::limits::whole::<u16, 1, 1024>)]
    pub threads: Option<u16>,

    /// Print nothing but errors, and what was given up or skipped
    #[arg(short, long)]
    pub quiet: bool,
}

/// What else there is to do about studies.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum StudyCommand {
    /// Draft a manifest from the captures below a folder, on standard output
    Init {
        /// The folder that the captures are in; tables and flent archives where there are none
        #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        folder: PathBuf,

        /// How their names are made, such as `{network}_{rate}_{buffer}_{cca}_{run}.pcap`; guessed
        /// without it
        #[arg(long, value_name = "TEMPLATE")]
        template: Option<String>,
    },
}

/// Folder of the runs analysed before, within that of the results.
const CACHE: &str = "cache";

/// Folder of the charts, likewise.
const CHARTS: &str = "charts";

pub(super) fn run(args: &StudyArgs) -> ExitStatus {
    let outcome = match &args.command {
        Some(StudyCommand::Init { folder, template }) => draft(folder, template.as_deref())
            .map(|text| {
                if terminal::print(&text) {
                    ExitStatus::Complete
                } else {
                    ExitStatus::Failed
                }
            })
            .map_err(anyhow::Error::from),
        None => carry_out(args),
    };
    outcome.unwrap_or_else(|error| {
        terminal::complain(&error);
        ExitStatus::Failed
    })
}

fn carry_out(args: &StudyArgs) -> anyhow::Result<ExitStatus> {
    let (Some(manifest), Some(out)) = (&args.manifest, &args.out) else {
        anyhow::bail!("a manifest and --out FOLDER are needed");
    };
    let mut plan = StudyPlan::read(manifest)?;
    plan.config.threads = args.threads.map(usize::from);
    plan.config.memory_bytes = args.reading.memory;
    plan.config.repair = args.reading.repair;
    interrupt::end_cleanly(if args.afresh {
        "interrupted: nothing was written"
    } else {
        "interrupted: nothing was written; runs that were analysed are kept, and the same command goes on with the others"
    });
    // Begun before the first capture is read, so that a folder that cannot be is not found out late.
    make_folder(out)?;
    outputs::ensure_spared(inputs(&plan, manifest), args.report.iter().cloned())?;
    args.charts
        .warn_without_effect(args.report.is_some(), args.quiet);
    let charts_folder = out.join(CHARTS);
    outputs::ensure_outside(&charts_folder, args.charts, args.report.iter())?;
    let page = args.report.as_deref().map(begin_page).transpose()?;
    let folder = begin_charts(&charts_folder, args.charts, args.quiet)?;
    let cache = out.join(CACHE);
    let watch = Watch::default();
    let captures = || plan.runs.iter().filter(|run| run.measured.is_none());
    let sizes = captures().map(|run| CaptureSource::File(run.path.clone()).size_bytes());
    let scope = progress::Scope {
        captures: captures().count(),
        total_bytes: sizes.sum(),
    };
    let carry_out = || plan.carry_out((!args.afresh).then_some(cache.as_path()), &watch);
    let results = progress::with_bar(&watch, scope, args.quiet, carry_out);
    terminal::report_runs(&results);
    if results.runs.iter().all(|run| run.error.is_some()) {
        terminal::say("nothing was written: no run could be analysed");
        return Ok(ExitStatus::Failed);
    }
    let metadata = metadata(&results, args);
    let tables = study_tables(&results);
    outputs::ensure_spared(inputs(&plan, manifest), files_of(&tables, out))?;
    warn_of_flows_without_a_label(&plan, &results, args.quiet);
    if !args.quiet {
        let warnings = [
            terminal::too_much_for_capacity(&results),
            terminal::flows_above_capacity(&results),
            terminal::traces_beside_runs(&results),
            terminal::silent_in_window(&results),
            terminal::refuted_buffers(&results),
            terminal::captured_behind_link(&results),
            terminal::no_repetitions(&results),
            terminal::measured_twice(&results),
            terminal::told_apart_by_nothing(&plan, &results),
        ];
        let mut others = terminal::too_many_to_compare(&results);
        others.extend(terminal::taken_together(&plan, &results));
        others.extend(terminal::empty_reports(&plan, &results));
        others.extend(terminal::starts_of_nobody(&plan, &results));
        for warning in warnings.into_iter().flatten().chain(others) {
            terminal::say(&format!("warning: {warning}"));
        }
    }
    warn_of_a_baseline_that_nothing_is(&plan, &results, args.quiet);
    let write = || -> anyhow::Result<usize> {
        // All of it is written before the first of it is put in its place: tables of two studies are none of any.
        let charts = charts(&plan, &results, args);
        let mut complete = fill_tables(&tables, out, &metadata)?;
        if let Some(folder) = &folder {
            let threads = args.threads.map(usize::from);
            let drawn = save_study(&charts, folder.filling(), args.charts.svg, threads)
                .map_err(|error| folder.failed(error))?;
            outputs::warn_of_letters(&drawn.lacking, args.quiet);
        }
        if let Some(mut pending) = page {
            let theme = args.charts.chart_theme;
            let page = html::of_study(&results, &tables, &charts, theme, &metadata);
            fill_page(page, &mut pending)?;
            complete.push(pending);
        }
        let files = complete.len() + charts.len();
        outputs::put_in_place(complete, folder)?;
        remove_older(out, &tables)?;
        Ok(files)
    };
    let files = progress::with_note(progress::WRITING, args.quiet, write)?;
    let shown = args.quiet || terminal::summarise_study(&results, out, files);
    let incomplete = |run: &StudyRun| run.error.is_some() || run.shortfall.damaged_places > 0;
    Ok(if results.runs.iter().any(incomplete) || !shown {
        ExitStatus::Partial
    } else {
        ExitStatus::Complete
    })
}

/// The files that a study is made from.
fn inputs<'a>(plan: &'a StudyPlan, manifest: &'a Path) -> impl Iterator<Item = &'a Path> {
    let of_run = |run: &'a PlannedRun| {
        let queue = run.queue.iter();
        let points = queue.flat_map(|queue| [queue.before.as_path(), queue.after.as_path()]);
        std::iter::once(run.path.as_path()).chain(points)
    };
    let traces = plan.traces.iter().map(PathBuf::as_path);
    std::iter::once(manifest)
        .chain(traces)
        .chain(plan.runs.iter().flat_map(of_run))
}

/// Says which flows were to get a label and got none, and what would give them one.
fn warn_of_flows_without_a_label(plan: &StudyPlan, results: &StudyResults, quiet: bool) {
    if quiet {
        return;
    }
    let rules = plan.runs.iter().flat_map(|run| &run.flow_rules);
    let places: BTreeSet<usize> = rules.map(|rule| rule.label).collect();
    let warnings = places
        .into_iter()
        .filter_map(|place| terminal::unlabelled(plan, results, place));
    for warning in warnings {
        terminal::say(&format!("warning: {warning}"));
    }
}

/// Says what the groups were to be compared with, where no run and no flow is that.
fn warn_of_a_baseline_that_nothing_is(plan: &StudyPlan, results: &StudyResults, quiet: bool) {
    if quiet {
        return;
    }
    for (place, value) in &plan.baseline {
        let of_flows = results.runs.iter().flat_map(|run| &run.flows);
        let of_flows = of_flows.map(|flow| &flow.labels);
        let mut labels = results.runs.iter().map(|run| &run.labels).chain(of_flows);
        if !labels.any(|labels| labels[*place].as_ref() == Some(value)) {
            let name = &plan.labels[*place].name;
            terminal::say(&format!(
                "warning: baseline: nothing has {name} = \"{}\", so change_percent is empty: give it a value that some runs have",
                value.text()
            ));
        }
    }
}

/// The charts that are wanted; says of which there would be more.
fn charts(plan: &StudyPlan, results: &StudyResults, args: &StudyArgs) -> Vec<StudyChart> {
    if args.charts.no_charts {
        return Vec::new();
    }
    let StudyCharts { charts, left_out } = of_study(&plan.reports, results, args.charts.style());
    if !args.quiet && !left_out.is_empty() {
        terminal::say(&format!(
            "warning: only the first {CHARTS_MAX} charts of {} were drawn; the tables hold all settings, and fewer labels in group_by make fewer charts",
            left_out.join(", ")
        ));
    }
    charts
}

/// What the files say about how they were made: with the manifest what else bears on the results.
fn metadata(results: &StudyResults, args: &StudyArgs) -> Metadata {
    let options = serde_json::json!({
        "memory_bytes": args.reading.memory,
        "repair": args.reading.repair,
    });
    vec![
        (
            "ccanalyze.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        (MADE_OF.to_owned(), results.manifest.clone()),
        ("ccanalyze.options".to_owned(), options.to_string()),
    ]
}
