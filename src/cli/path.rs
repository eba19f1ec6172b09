//! `ccanalyze path`: two points along a path, or more.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail, ensure};
use clap::{Arg, ArgAction, ArgMatches, Args as ClapArgs, Command, FromArgMatches, value_parser};

use super::charts::{ChartArgs, NameArgs};
use super::limits::CaptureArgs;
use super::progress::{self, Scope};
use super::values::{one_of, parse_limit, parse_rate, parse_time};
use super::writing::{Writing, Written};
use super::{ExitStatus, inputs, interrupt, outputs};
use crate::analyze::Watch;
use crate::capture::{CaptureSource, display_name};
use crate::path::{ClockChoice, PathAnalysis, PathConfig, PathError, Point, QueueLimit};
use crate::report::chart;
use crate::report::tables::{Metadata, Workers};
use crate::report::{OutputFolder, Pending, html, terminal};
use crate::table::{PacketTable, PathTables};

/// What happened between two points: delay, queue and drops, packet by packet.
///
/// Captures from before and after a queue are compared: each packet of one is found in the other
/// by what its headers keep. What never arrives was dropped; what has come in and not yet left is
/// the queue.
#[derive(Clone, Debug, ClapArgs)]
pub struct PathArgs {
    /// Capture from before the queue; the parts of a rotated one, in any order
    #[arg(
        long,
        value_name = "CAPTURE",
        num_args = 1..,
        required_unless_present = "point",
        requires = "after"
    )]
    pub before: Vec<PathBuf>,

    /// Capture from after the queue; the parts of a rotated one, in any order
    #[arg(
        long,
        value_name = "CAPTURE",
        num_args = 1..,
        required_unless_present = "point",
        requires = "before"
    )]
    pub after: Vec<PathBuf>,

    /// Points along a path, instead of these two
    #[command(flatten)]
    pub points: PointArgs,

    /// Write one row per flow to FILE, and beside it hops (the way from one point to the next), series
    /// over time, of flows too, episodes of drops, and charts; the ending decides the format:
    /// .parquet, .csv, .json or .jsonl (lines), .arrow or .feather
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write a report to FILE.html: one page with summary, tables, charts, and what bears on the
    /// numbers; it needs no other file and no network
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Write one row per packet to FILE: delay, time in the queue, dropped or not
    #[arg(long, value_name = "FILE")]
    pub packets: Option<PathBuf>,

    /// What the queue of the way forward holds at most, such as `100p` or `150kB`; without it, what
    /// the drops show
    #[arg(long, value_name = "LIMIT", value_parser = parse_limit)]
    pub limit: Option<QueueLimit>,

    /// Rate of the link behind the queue of the way forward, such as `50Mbit`, counted in IP
    /// packets; without it, what it sent while packets waited
    #[arg(short, long, value_name = "RATE", value_parser = parse_rate)]
    pub capacity: Option<f64>,

    /// Of several points, the hop that --limit and --capacity are of, else each: 1 is from the first
    /// point to the second
    #[arg(long, value_name = "NUMBER")]
    pub hop: Option<usize>,

    /// Correct the clocks where they contradict each other (auto), always (fix), or never (keep)
    #[arg(long, value_name = "HOW", default_value = ClockChoice::default().name(), value_parser = one_of(ClockChoice::ALL, ClockChoice::name))]
    pub clock: ClockChoice,

    /// A packet that is not found at the next point for so long was dropped
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_time)]
    pub patience: i64,

    /// Whose packets, drops and delays are told, such as `host 10.0.0.1 and port 443`; the queue and
    /// the link are those of all packets
    #[arg(short, long, value_name = "EXPRESSION")]
    pub filter: Option<String>,

    /// Follow the outermost IP packet; by default tunnels are followed to the innermost
    #[arg(long)]
    pub outer: bool,

    /// Length of a bin: the steps of time in which series are counted
    #[arg(short, long, value_name = "TIME", default_value = "100ms", value_parser = parse_time)]
    pub bin: i64,

    /// How charts are drawn.
    #[command(flatten)]
    pub charts: ChartArgs,

    /// What flows are called.
    #[command(flatten)]
    pub names: NameArgs,

    /// What holds for all captures.
    #[command(flatten)]
    pub reading: CaptureArgs,

    /// Print nothing but errors, and what was skipped
    #[arg(short, long)]
    pub quiet: bool,
}

/// `--point`, each with the files of one point: clap's derive has no options of lists of lists.
#[derive(Clone, Debug, Default)]
pub struct PointArgs {
    /// Points in order, each with its files.
    pub files: Vec<Vec<PathBuf>>,
}

const POINT: &str = "point";

impl ClapArgs for PointArgs {
    fn augment_args(command: Command) -> Command {
        let point = Arg::new(POINT)
            .long(POINT)
            .value_name("CAPTURE")
            .value_parser(value_parser!(PathBuf))
            .num_args(1..)
            .action(ArgAction::Append)
            .conflicts_with_all(["before", "after"])
            .help(
                "Capture at the next point along a path, or the parts of a rotated one: twice or \
                 more, in order; instead of --before and --after",
            );
        command.arg(point)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PointArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let points = matches.get_occurrences::<PathBuf>(POINT);
        Ok(Self {
            files: points
                .into_iter()
                .flatten()
                .map(|files| files.cloned().collect())
                .collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What the command can do about it, where that is something.
fn with_advice(error: PathError) -> anyhow::Error {
    match &error {
        PathError::NoPackets {
            point,
            filtered: false,
        } => anyhow!("{error} (`ccanalyze {point}` says what is in it)"),
        PathError::HardlyAnythingInCommon { .. } => {
            anyhow!("{error}: --patience says how long that is")
        }
        _ => error.into(),
    }
}

/// Runs the command.
pub(super) fn run(args: &PathArgs) -> anyhow::Result<ExitStatus> {
    let points = points(args)?;
    let config = config(args, points.len() - 1)?;
    let outputs = Outputs::open(args)?;
    let watch = Arc::new(Watch::default());
    interrupt::listen(&watch);
    let run = || PathAnalysis::run(&points, &config, &watch);
    let analysis = match progress::with_bar(&watch, scope(&points), args.quiet, run) {
        Err(PathError::Capture(error)) => {
            terminal::say_capture_errors(&[error], &[], &[]);
            return Ok(ExitStatus::Failed);
        }
        outcome => outcome.map_err(with_advice)?,
    };
    terminal::path::warn(&analysis, &config, args.quiet);
    if !args.quiet {
        super::charts::warn_of_unused(&config.names.unused_on(&analysis));
    }
    let facts = || analysis.hops.iter().flat_map(|hop| &hop.facts);
    if facts().all(|facts| facts.records == 0 && !facts.errors.is_empty()) {
        let errors = facts().flat_map(|facts| &facts.errors);
        terminal::say(super::nothing_written(errors));
        return Ok(ExitStatus::Failed);
    }
    let write = || outputs.write(&analysis, &config, args);
    let written = progress::with_note(progress::WRITING, args.quiet, write)?;
    let shown = args.quiet || terminal::path::summarise(&analysis, &config, &written.files);
    let damaged = analysis
        .hops
        .iter()
        .flat_map(|hop| &hop.facts)
        .any(|facts| !facts.errors.is_empty() || facts.is_repaired());
    Ok(if damaged || !shown || !written.is_drawn {
        ExitStatus::Partial
    } else {
        ExitStatus::Complete
    })
}

/// What is to be read: points between two others for both of their hops.
fn scope(points: &[Point]) -> Scope {
    let pairs = points.windows(2).flatten();
    let sizes = pairs.clone().flat_map(|point| &point.files);
    Scope {
        captures: pairs.count(),
        total_bytes: sizes
            .map(|path| CaptureSource::File(path.clone()).size_bytes())
            .sum(),
    }
}

fn points(args: &PathArgs) -> anyhow::Result<Vec<Point>> {
    let points = if args.before.is_empty() {
        args.points.files.clone()
    } else {
        vec![args.before.clone(), args.after.clone()]
    };
    ensure!(
        points.len() >= 2,
        "--point: a path needs two points at least; name the next one with another --point"
    );
    for path in points.iter().flatten() {
        ensure!(
            path.as_path() != Path::new("-"),
            "-: each capture is read more than once, which standard input cannot be; write it to a file first"
        );
        let is_stream = path
            .metadata()
            .is_ok_and(|is| !is.is_file() && !is.is_dir());
        ensure!(
            !is_stream,
            "{}: each capture is read more than once, which a pipe or a device cannot be; write it to a file first",
            display_name(path)
        );
    }
    // Such a file would show an empty queue without drops, or every packet twice.
    if let Some(twice) = inputs::given_twice(points.iter().map(Vec::as_slice)) {
        let name = display_name(twice.path);
        ensure!(
            twice.is_one_group,
            "{name}: is given at two points: name a capture from before the queue and another one, taken at the same time, from after it"
        );
        bail!("{name}: is given twice at one point: name each part of a capture once");
    }
    Ok(points.into_iter().map(Point::files).collect())
}

fn config(args: &PathArgs, hops: usize) -> anyhow::Result<PathConfig> {
    ensure!(
        args.bin >= BIN_NS_MIN,
        "--bin: must be 10us or longer, since queues change no faster than they can be timed"
    );
    ensure!(
        args.patience > 0,
        "--patience: must be longer than nothing, such as 10s"
    );
    let given = [
        ("--limit", args.limit.is_some()),
        ("--capacity", args.capacity.is_some()),
    ];
    let given = given.iter().find(|(_, is_given)| *is_given);
    match (args.hop, given) {
        (None, Some((option, _))) if hops > 1 && !args.quiet => terminal::say(&format!(
            "warning: {option} is taken to be that of each of {hops} hops: --hop NUMBER says which one is meant, from 1, the way from the first point to the second"
        )),
        (Some(hop), Some(_)) => ensure!(
            (1..=hops).contains(&hop),
            "--hop {hop}: hops are counted from 1, the way from the first point to the second, and the last one here is {hops}"
        ),
        (Some(_), None) => bail!(
            "--hop: says which queue is meant by --limit and --capacity: give one of these, too"
        ),
        (None, _) => {}
    }
    let filter = inputs::filter(args.filter.as_deref())?;
    Ok(PathConfig {
        decode: inputs::decode_options(args.outer),
        filter,
        names: args.names.flow_names(),
        bin_ns: args.bin,
        limit: args.limit,
        capacity_bps: args.capacity,
        hop: args.hop.map(|hop| hop - 1),
        clock: args.clock,
        patience_ns: args.patience,
        packets: args.packets.is_some(),
        memory_bytes: args.reading.memory,
        repair: args.reading.repair,
    })
}

/// Files and folders begun.
struct Outputs {
    results: Option<ResultFiles>,
    packets: Option<Pending>,
    charts: Option<OutputFolder>,
    report: Option<Pending>,
}

struct ResultFiles {
    flows: Pending,
    hops: Pending,
    series: Pending,
    flow_series: Pending,
    episodes: Pending,
}

impl Outputs {
    fn open(args: &PathArgs) -> anyhow::Result<Self> {
        let (out, packets) = (args.out.as_ref(), args.packets.as_ref());
        let tables = ["hops", "series", "flow_series", "episodes"];
        outputs::ensure_apart(out, &tables, "--packets", packets)?;
        let written = outputs::with_siblings(out, &tables).chain(packets.cloned());
        let written = written.chain(args.report.clone());
        outputs::ensure_spared(captures(args).map(PathBuf::as_path), written)?;
        let has_page = args.report.is_some();
        if out.is_some() || has_page {
            args.charts.warn_without_effect(has_page, args.quiet);
        } else {
            args.charts.warn_without_place(None, args.quiet);
        }
        let (mut results, mut charts) = (None, None);
        if let Some(out) = &args.out {
            let folder = outputs::charts_beside(out);
            let others = args.report.iter().chain(packets);
            outputs::ensure_outside(&folder, args.charts, others)?;
            let begin = |table: &str| outputs::begin_beside(out, table);
            results = Some(ResultFiles {
                flows: outputs::begin_table(out)?,
                hops: begin("hops")?,
                series: begin("series")?,
                flow_series: begin("flow_series")?,
                episodes: begin("episodes")?,
            });
            charts = outputs::begin_charts(&folder, args.charts, args.quiet)?;
        }
        let packets = args.packets.as_deref();
        Ok(Self {
            results,
            packets: packets.map(outputs::begin_table).transpose()?,
            charts,
            report: args
                .report
                .as_deref()
                .map(outputs::begin_page)
                .transpose()?,
        })
    }

    fn write(
        self,
        analysis: &PathAnalysis,
        config: &PathConfig,
        args: &PathArgs,
    ) -> anyhow::Result<Written> {
        let metadata = metadata(args);
        let mut writing = Writing::new(&metadata, Workers::new(None), args.quiet);
        if let Some(files) = self.results {
            let tables = PathTables::of(analysis, config);
            // Of these tables the results themselves come last: when they are there, the others are.
            writing.table(tables.ways(), files.hops)?;
            writing.table(tables.series(), files.series)?;
            writing.table(tables.flow_series(), files.flow_series)?;
            writing.table(tables.episodes(), files.episodes)?;
            writing.table(tables.flows(), files.flows)?;
        }
        if let Some(pending) = self.packets {
            writing.packed_table(&PacketTable::of(analysis), pending)?;
        }
        let has_place = self.charts.is_some() || self.report.is_some();
        let charts = if has_place && !args.charts.no_charts {
            writing.composed(|| chart::path::of_path(analysis, &config.names, args.charts.style()))
        } else {
            Vec::new()
        };
        if let Some(folder) = self.charts {
            writing.charts(folder, |folder| {
                chart::path::save_all(&charts, folder, args.charts.svg)
            })?;
        }
        if let Some(pending) = self.report {
            let theme = args.charts.chart_theme;
            let page = || html::of_path(analysis, config, &charts, theme, &metadata);
            writing.page(page, pending)?;
        }
        Ok(writing.put_in_place()?)
    }
}

/// The captures of all points.
fn captures(args: &PathArgs) -> impl Iterator<Item = &PathBuf> {
    let pair = args.before.iter().chain(&args.after);
    pair.chain(args.points.files.iter().flatten())
}

/// What the files say about how they were made.
fn metadata(args: &PathArgs) -> Metadata {
    let limit = args.limit.map(|limit| match limit {
        QueueLimit::Packets(packets) => format!("{packets}p"),
        QueueLimit::Bytes(bytes) => format!("{bytes}B"),
    });
    let mut options = serde_json::json!({
        "limit": limit,
        "capacity_bps": args.capacity,
        "hop": args.hop,
        "clock": args.clock.name(),
        "patience_ns": args.patience,
        "filter": args.filter,
        "outer": args.outer,
        "bin_ns": args.bin,
        "memory_bytes": args.reading.memory,
        "repair": args.reading.repair,
    });
    args.names.tell(&mut options);
    outputs::metadata(&options, captures(args))
}

/// Shortest bin, in ns.
const BIN_NS_MIN: i64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        path: PathArgs,
    }

    fn files_of(line: &[&str]) -> Vec<Vec<PathBuf>> {
        use clap::Parser as _;
        let line = Line::try_parse_from([&["path"], line].concat()).unwrap();
        let points = points(&line.path).unwrap();
        points.into_iter().map(|point| point.files).collect()
    }

    #[test]
    fn a_point_has_one_file_or_the_parts_of_a_rotated_one() {
        let two = [vec!["a0", "a1"], vec!["b"]]
            .map(|files| files.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(files_of(&["--before", "a0", "a1", "--after", "b"]), two);
        assert_eq!(files_of(&["--point", "a0", "a1", "--point", "b"]), two);
        assert_eq!(
            files_of(&["--point", "a", "--point", "b", "--point", "c"]).len(),
            3
        );
    }

    #[test]
    fn what_options_do_about_an_error_is_said_where_they_do() {
        let (first, second) = ("in".to_owned(), "out".to_owned());
        let few = PathError::HardlyAnythingInCommon {
            first,
            second,
            found: 1,
            dropped: 99,
            appeared: 99,
        };
        let said = with_advice(few).to_string();
        assert!(
            said.ends_with(": --patience says how long that is"),
            "{said}"
        );
        for filtered in [false, true] {
            let none = PathError::NoPackets {
                point: "in".to_owned(),
                filtered,
            };
            let said = with_advice(none).to_string();
            assert_eq!(said.contains("`ccanalyze in` says"), !filtered, "{said}");
        }
    }
}
