//! Arguments checked and outputs opened, before the first byte is read.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::args::{Args, IoChoice};
use super::inputs::{decode_options, filter, given_twice};
use super::outputs;
use crate::analyze::{Capacity, CaptureInput, Config, PairConfig};
use crate::capture::{Io, display_name};
use crate::report::chart::Style;
use crate::report::tables::Metadata;
use crate::report::{OutputFolder, Pending, terminal};

/// What will be done.
pub struct Plan {
    /// The captures.
    pub(super) inputs: Vec<CaptureInput>,
    /// How they are analysed.
    pub(super) config: Config,
    /// Print nothing but errors.
    pub(super) quiet: bool,
    /// What goes into the files about how they were made.
    pub(super) metadata: Metadata,
    /// Where the results go.
    pub(super) outputs: Outputs,
}

/// Files and folders begun.
#[derive(Default)]
pub(super) struct Outputs {
    pub(super) results: Option<ResultFiles>,
    pub(super) segments: Option<Pending>,
    pub(super) charts: Option<OutputFolder>,
    pub(super) report: Option<Pending>,
    /// Whether the report has charts.
    pub(super) report_charts: bool,
    pub(super) svg: bool,
    pub(super) style: Style,
    /// Whether nothing is said of what is written.
    pub(super) quiet: bool,
}

/// The tables of `--out`.
pub(super) struct ResultFiles {
    pub(super) flows: Pending,
    pub(super) pairs: Pending,
    pub(super) pair_series: Pending,
    pub(super) series: Pending,
    pub(super) captures: Pending,
    pub(super) pings: Pending,
}

impl Plan {
    /// Checks the arguments against each other and begins the outputs.
    ///
    /// # Errors
    /// Names the first argument that cannot be honoured.
    pub fn from_args(args: &Args) -> anyhow::Result<Self> {
        args.ensure_command_comes_first()?;
        let stdin = args
            .captures
            .iter()
            .filter(|path| *path == Path::new("-"))
            .count();
        ensure!(stdin <= 1, "-: standard input can be read only once");
        ensure!(
            args.bin > 0,
            "--bin: must be longer than nothing, such as 100ms"
        );
        refuse_or_warn_of_repeated(args)?;
        warn_of_options_without_effect(args);
        let config = config(args)?;
        let metadata = metadata(args);
        let outputs = open_outputs(args)?;
        let inputs = if args.concat {
            vec![CaptureInput::concatenated(&args.captures)]
        } else {
            args.captures
                .iter()
                .map(|path| CaptureInput::file(path))
                .collect()
        };
        Ok(Self {
            inputs,
            config,
            quiet: args.quiet,
            metadata,
            outputs,
        })
    }
}

/// A part that is read twice would count twice; two rows of one capture are what was asked for.
fn refuse_or_warn_of_repeated(args: &Args) -> anyhow::Result<()> {
    let Some(twice) = given_twice(std::iter::once(args.captures.as_slice())) else {
        return Ok(());
    };
    let name = display_name(twice.path);
    ensure!(
        !args.concat,
        "{name}: is given twice: with --concat name each part of the capture once"
    );
    let is_file = twice.path.metadata().is_ok_and(|there| there.is_file());
    ensure!(
        is_file || twice.path.is_dir(),
        "{name}: is given twice, and what comes through a pipe can be read only once"
    );
    if !args.quiet {
        terminal::say(&format!(
            "warning: {name}: is given twice, and so are its results"
        ));
    }
    Ok(())
}

/// Says which options do nothing since neither tables nor charts, or no charts, are written.
fn warn_of_options_without_effect(args: &Args) {
    if args.out.is_some() || args.report.is_some() {
        let has_page = args.report.is_some();
        args.charts.warn_without_effect(has_page, args.quiet);
        let drawn = if args.concat { 1 } else { args.captures.len() };
        let is_asked = !args.charts.no_charts && !args.quiet;
        if let Some(said) = many_charts(drawn).filter(|_| is_asked) {
            terminal::say(&said);
        }
        return;
    }
    let bin = (args.bin != Config::default().bin_ns).then_some("--bin");
    // Where nothing is written nobody expects charts.
    let none = (args.segments.is_some() && args.charts.no_charts).then_some("--no-charts");
    let others = none.into_iter().chain(bin);
    args.charts.warn_without_place(others, args.quiet);
}

/// What to say of charts of so many captures.
fn many_charts(captures: usize) -> Option<String> {
    /// So many are drawn in some seconds.
    const MANY: usize = 200;
    (captures > MANY).then(|| {
        format!(
            "warning: charts of {captures} captures take longer than all else; --no-charts leaves them out"
        )
    })
}

/// How captures are analysed.
fn config(args: &Args) -> anyhow::Result<Config> {
    let filter = filter(args.filter.as_deref())?;
    let charts = (args.out.is_some() || args.report.is_some()) && !args.charts.no_charts;
    let mut config = Config {
        decode: decode_options(args.outer),
        filter,
        bin_ns: args.bin,
        capacity: args.capacity.map(|bps| Capacity { bps }),
        names: args.names.flow_names(),
        pairs: PairConfig {
            top: args.top,
            window: args.fness_window,
        },
        udp: args.udp,
        segments: args.segments.is_some(),
        time_sequence: charts,
        gaps: charts,
        threads: args.threads.map(usize::from),
        io: match args.io {
            IoChoice::Auto => Io::Auto,
            IoChoice::Mmap => Io::Mapped,
            IoChoice::Read => Io::Read,
        },
        repair: args.reading.repair,
        ..Config::default()
    };
    let captures = if args.concat { 1 } else { args.captures.len() };
    args.limits.apply(&mut config);
    config.memory_bytes = args.reading.memory_bytes_each(captures);
    if args.out.is_none() && args.report.is_none() && args.quiet {
        // Nobody will see the pairs.
        config.pairs.top = config.pairs.top.min(1);
    }
    Ok(config)
}

fn open_outputs(args: &Args) -> anyhow::Result<Outputs> {
    let mut begun = Outputs {
        svg: args.charts.svg,
        style: args.charts.style(),
        quiet: args.quiet,
        ..Outputs::default()
    };
    let (out, segments) = (args.out.as_ref(), args.segments.as_ref());
    let tables = ["pairs", "pair_series", "series", "captures", "pings"];
    outputs::ensure_apart(out, &tables, "--segments", segments)?;
    let written = outputs::with_siblings(out, &tables);
    let written = written.chain(segments.cloned()).chain(args.report.clone());
    outputs::ensure_spared(args.captures.iter().map(PathBuf::as_path), written)?;
    if let Some(out) = &args.out {
        let folder = outputs::charts_beside(out);
        let others = args.report.iter().chain(segments);
        outputs::ensure_outside(&folder, args.charts, others)?;
        let begin = |table: &str| outputs::begin_beside(out, table);
        begun.results = Some(ResultFiles {
            flows: outputs::begin_table(out)?,
            pairs: begin("pairs")?,
            pair_series: begin("pair_series")?,
            series: begin("series")?,
            captures: begin("captures")?,
            pings: begin("pings")?,
        });
        begun.charts = outputs::begin_charts(&folder, args.charts, args.quiet)?;
    }
    if let Some(report) = &args.report {
        begun.report = Some(outputs::begin_page(report)?);
        begun.report_charts = !args.charts.no_charts;
    }
    let segments = args.segments.as_deref();
    begun.segments = segments.map(outputs::begin_table).transpose()?;
    Ok(begun)
}

/// What the files say about how they were made. Threads are left out: they change nothing.
fn metadata(args: &Args) -> Metadata {
    let mut options = serde_json::json!({
        "concat": args.concat,
        "filter": args.filter,
        "outer": args.outer,
        "capacity_bps": args.capacity,
        "bin_ns": args.bin,
        "fness_window_ns": args.fness_window.map(|window| [window.offset_ns, window.length_ns]),
        "top": args.top,
        "memory_bytes": args.reading.memory,
        "max_flows": args.limits.max_flows,
        "max_half_open": args.limits.max_half_open,
        "max_bins": args.limits.max_bins,
        "max_in_flight": args.limits.max_in_flight,
        "max_holes": args.limits.max_holes,
        "repair": args.reading.repair,
    });
    // Not said where it is not asked for, as files have always said.
    if args.udp {
        options["udp"] = true.into();
    }
    args.names.tell(&mut options);
    outputs::metadata(&options, args.captures.iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_charts_of_very_many_captures_take_is_said() {
        assert_eq!(many_charts(200), None);
        assert!(many_charts(201).is_some_and(|said| said.contains("charts of 201 captures")));
    }
}
