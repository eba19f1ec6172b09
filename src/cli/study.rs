//! `ccanalyze study`: from a manifest to a folder of tables.

use std::path::{Path, PathBuf};

use super::charts::ChartArgs;
use super::limits::CaptureArgs;
use super::outputs::{self, begin_charts, begin_page};
use super::writing::{Writing, Written};
use super::{ExitStatus, interrupt, printed, progress};
use crate::analyze::Watch;
use crate::capture::CaptureSource;
use crate::report::chart::{CHARTS_MAX, StudyChart, StudyCharts, of_study, save_study};
use crate::report::html;
use crate::report::study::{MADE_OF, files_of, fill_tables, make_folder, remove_older};
use crate::report::tables::{Metadata, Workers};
use crate::report::{OutputFolder, Pending, terminal};
use crate::study::{PlannedRun, StudyPlan, StudyResults, StudyRun, draft};
use crate::table::{StudyTable, study_tables};

/// Arguments of `ccanalyze study`.
///
/// Exit status: 0 when all runs were analysed, 1 when some failed and were left out or were repaired, a chart could not
/// be drawn or the summary could not be printed, 2 when nothing was written, 130 when interrupted.
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
    #[arg(short, long, value_name = "N", value_parser = super::values::whole::<u16, 1, 1024>)]
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

/// Runs the command.
pub(super) fn run(args: &StudyArgs) -> anyhow::Result<ExitStatus> {
    let Some(StudyCommand::Init { folder, template }) = &args.command else {
        return carry_out(args);
    };
    let text = draft(folder, template.as_deref())?;
    Ok(printed(&text))
}

fn carry_out(args: &StudyArgs) -> anyhow::Result<ExitStatus> {
    let (Some(manifest), Some(out)) = (&args.manifest, &args.out) else {
        anyhow::bail!("a manifest and --out FOLDER are needed");
    };
    if manifest.as_os_str() == "-" {
        anyhow::bail!(
            "a manifest is not taken from standard input, as the files it names are looked for beside it: write it to a file (`./-` is one called so)"
        );
    }
    let mut plan = StudyPlan::read(manifest)?;
    plan.config.threads = args.threads.map(usize::from);
    plan.config.memory_bytes = args.reading.memory;
    plan.config.repair = args.reading.repair;
    interrupt::end_cleanly(if args.afresh {
        "interrupted: nothing was written"
    } else {
        "interrupted: nothing was written; runs that were analysed are kept, and the same command goes on with the others"
    });
    let begun = Begun::begin(&plan, manifest, out, args)?;
    let results = analyzed(&plan, out, args);
    terminal::report_runs(&results);
    if results.runs.iter().all(|run| run.error.is_some()) {
        terminal::say("nothing was written: no run could be analysed");
        return Ok(ExitStatus::Failed);
    }
    let tables = study_tables(&results);
    outputs::ensure_spared(inputs(&plan, manifest), files_of(&tables, out))?;
    let warnings = terminal::study_warnings(&plan, &results);
    if !args.quiet {
        for warning in &warnings {
            terminal::say(&format!("warning: {warning}"));
        }
    }
    let write = || begun.write(&plan, &results, (&tables, &warnings), out, args);
    let written = progress::with_note(progress::WRITING, args.quiet, write)?;
    let shown = args.quiet || terminal::summarise_study(&results, out, written.count);
    let incomplete = |run: &StudyRun| run.error.is_some() || run.shortfall.damaged_places > 0;
    let incomplete = results.runs.iter().any(incomplete);
    Ok(if incomplete || !shown || !written.is_drawn {
        ExitStatus::Partial
    } else {
        ExitStatus::Complete
    })
}

/// What is begun before the first capture is read, so that what cannot be written is not found out late.
struct Begun {
    charts: Option<OutputFolder>,
    page: Option<Pending>,
}

impl Begun {
    fn begin(
        plan: &StudyPlan,
        manifest: &Path,
        out: &Path,
        args: &StudyArgs,
    ) -> anyhow::Result<Self> {
        make_folder(out)?;
        outputs::ensure_spared(inputs(plan, manifest), args.report.iter().cloned())?;
        args.charts
            .warn_without_effect(args.report.is_some(), args.quiet);
        let charts = out.join(CHARTS);
        outputs::ensure_outside(&charts, args.charts, args.report.iter())?;
        let page = args.report.as_deref().map(begin_page).transpose()?;
        Ok(Self {
            charts: begin_charts(&charts, args.charts, args.quiet)?,
            page,
        })
    }

    /// Writes all of it.
    fn write(
        self,
        plan: &StudyPlan,
        results: &StudyResults,
        (tables, warnings): (&[StudyTable], &[String]),
        out: &Path,
        args: &StudyArgs,
    ) -> anyhow::Result<Written> {
        let metadata = metadata(results, args);
        let mut writing = Writing::new(&metadata, Workers::new(None), args.quiet);
        writing.complete_tables(fill_tables(tables, out, &metadata)?);
        let charts = writing.composed(|| charts(plan, results, args));
        if let Some(folder) = self.charts {
            let threads = args.threads.map(usize::from);
            writing.charts(folder, |folder| {
                save_study(&charts, folder, args.charts.svg, threads)
            })?;
        }
        if let Some(pending) = self.page {
            let theme = args.charts.chart_theme;
            let page = || html::of_study(results, tables, &charts, theme, warnings, &metadata);
            writing.page(page, pending)?;
        }
        let written = writing.put_in_place()?;
        remove_older(out, tables)?;
        Ok(written)
    }
}

/// The results of all runs; those of runs that were analysed before come from the folder's cache.
fn analyzed(plan: &StudyPlan, out: &Path, args: &StudyArgs) -> StudyResults {
    let cache = out.join(CACHE);
    let watch = Watch::default();
    let captures = || plan.runs.iter().filter(|run| run.measured.is_none());
    let sizes = captures().map(|run| CaptureSource::File(run.path.clone()).size_bytes());
    let scope = progress::Scope {
        captures: captures().count(),
        total_bytes: sizes.sum(),
    };
    let carry_out = || plan.carry_out((!args.afresh).then_some(cache.as_path()), &watch);
    progress::with_bar(&watch, scope, args.quiet, carry_out)
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
