//! The arguments, as typed.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::charts::{ChartArgs, NameArgs};
use super::limits::{CaptureArgs, LimitArgs};
use super::path::PathArgs;
use super::study::StudyArgs;
use super::values::{parse_rate, parse_time, parse_window, whole};
use crate::analyze::PairConfig;

pub(super) const EXAMPLES: &str = "Examples:
  ccanalyze capture.pcap                           what is in it
  ccanalyze *.pcap --out results.parquet           tables and charts
  ccanalyze *.pcap --report run.html -c 50Mbit     one page with all of it";

const PATH_USAGE: &str = "ccanalyze path --before <CAPTURE>... --after <CAPTURE>... [OPTIONS]
       ccanalyze path --point <CAPTURE>... --point <CAPTURE>... [OPTIONS]";

const PATH_EXAMPLES: &str = "Example:
  ccanalyze path --before ingress.pcap --after egress.pcap --limit 100p --out path.parquet

Exit status: 0 when all captures were read to their end, 1 when results were written but one was
damaged or cut short, the run was interrupted, a chart could not be drawn or the summary could not
be printed, 2 when nothing was written, 130 when interrupted twice. What the numbers mean is in
METRICS.md.";

/// What `--memory` bounds there is something else than in the main command.
const PATH_MEMORY: &str = "Memory for notes of what became of packets, and for packets that wait, such as `4GB` or \
`512MiB`; beyond it those that wait longest count as dropped, and `limit_hit` says so";

const STUDY_EXAMPLES: &str = "Example:
  ccanalyze study init traces/ > study.toml        a draft of the manifest: read it, say more
  ccanalyze study study.toml --out study/

Exit status: 0 when all runs were analysed, 1 when some failed and were left out, or were repaired,
a chart could not be drawn or the summary could not be printed, 2 when nothing was written, 130 when
interrupted: the same command goes on from there. What a manifest may say is in README.md.";

const COMPLETIONS_EXAMPLES: &str = "Examples:
  source <(ccanalyze completions bash)             in this shell
  ccanalyze completions bash > ~/.local/share/bash-completion/completions/ccanalyze
  ccanalyze completions fish > ~/.config/fish/completions/ccanalyze.fish
  ccanalyze completions zsh > ~/.zfunc/_ccanalyze  (a folder in fpath before compinit)
  eval (ccanalyze completions elvish | slurp)      in ~/.config/elvish/rc.elv
  ccanalyze completions powershell | Out-String | Invoke-Expression     in $PROFILE of PowerShell";

const MAN_EXAMPLES: &str = "Examples:
  ccanalyze man > ~/.local/share/man/man1/ccanalyze.1
  ccanalyze man path > ~/.local/share/man/man1/ccanalyze-path.1";

/// Goodput, latency, loss, reordering and fairness of TCP flows, from packet captures.
///
/// Exit status: 0 when all captures were read to their end, 1 when results were written but a
/// capture was damaged or cut short, the run was interrupted, a chart could not be drawn or the
/// summary could not be printed, 2 when nothing was written, 130 when interrupted twice.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    /// Something else than analysing captures one by one
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Capture files (pcap or pcapng; plain or compressed with gzip, zstd, xz, lz4); `-` is
    /// standard input
    #[arg(required = true, value_name = "CAPTURE")]
    pub captures: Vec<PathBuf>,

    /// Write one row per flow to FILE, and beside it pairs of flows, series over time, captures and
    /// charts (FILE's name with .pairs, .series, ... in it); the ending decides the format:
    /// .parquet, .csv, .json or .jsonl (lines), .arrow or .feather
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write one row per data segment to FILE: class, reason, evidence, RTT, bytes in flight
    #[arg(long, value_name = "FILE")]
    pub segments: Option<PathBuf>,

    /// Write a report to FILE.html: one page with summary, tables, charts, and what bears on the
    /// numbers; it needs no other file and no network
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Take all files as one capture in rotated parts, ordered by time
    #[arg(long)]
    pub concat: bool,

    /// Only packets that match, such as `host 10.0.0.1 and port 443` or `net 192.168.0.0/16`
    #[arg(short, long, value_name = "EXPRESSION")]
    pub filter: Option<String>,

    /// Leave out packets in tunnels; by default tunnels are followed to the innermost TCP header
    #[arg(long)]
    pub outer: bool,

    /// Take conversations of UDP, such as those of QUIC, for flows too: payload that passed, rates and
    /// fairness; what takes ACKs to tell is not known
    #[arg(long)]
    pub udp: bool,

    /// Capacity of the shared link, such as `50Mbit`: adds utilisation and the balanced metric
    /// (goodput, delay and retransmissions in one number)
    #[arg(short, long, value_name = "RATE", value_parser = parse_rate)]
    pub capacity: Option<f64>,

    /// Length of a bin: the steps of time in which series are counted
    #[arg(short, long, value_name = "TIME", default_value = "100ms", value_parser = parse_time)]
    pub bin: i64,

    /// Compare pairs of flows (fness: -1 one alone, 0 even, 1 the other alone) over a window:
    /// OFFSET after the later flow's start, LENGTH long, such as `5s+35s`; by default over the
    /// timespan of the shorter flow
    #[arg(long, value_name = "OFFSET+LENGTH", value_parser = parse_window)]
    pub fness_window: Option<crate::analyze::FnessWindow>,

    /// Compare the N flows with the most payload of each capture
    #[arg(long, value_name = "N", default_value_t = PairConfig::default().top, value_parser = whole::<usize, 0, 1000>)]
    pub top: usize,

    /// How charts are drawn.
    #[command(flatten)]
    pub charts: ChartArgs,

    /// What flows are called.
    #[command(flatten)]
    pub names: NameArgs,

    /// What holds for all captures.
    #[command(flatten)]
    pub reading: CaptureArgs,

    /// Threads to work with; one a core by default. The results do not depend on it
    #[arg(short, long, value_name = "N", value_parser = whole::<u16, 1, 1024>)]
    pub threads: Option<u16>,

    /// How files are taken in: mapped into memory or read. The results do not depend on it; pipes
    /// and compressed files are always read
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub io: IoChoice,

    /// Print nothing but errors, and what was given up or skipped
    #[arg(short, long)]
    pub quiet: bool,

    /// How much is kept: last, since its heading holds for all that follows.
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// The names of all commands.
pub(super) fn commands() -> Vec<String> {
    let args = Args::command();
    let commands = args.get_subcommands();
    commands
        .map(|command| command.get_name().to_owned())
        .collect()
}

/// What else the command does.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Compare captures from before and after a queue: delay, queue and drops
    #[command(after_help = PATH_EXAMPLES, override_usage = PATH_USAGE)]
    #[command(mut_arg("memory", |memory| memory.help(PATH_MEMORY)))]
    Path(Box<PathArgs>),
    /// Many runs together: labels, groups, statistics, and the tables of a paper
    #[command(after_help = STUDY_EXAMPLES)]
    Study(Box<StudyArgs>),
    /// Print what lets a shell complete commands, options and files
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL", value_enum)]
        shell: Shell,
    },
    /// Print a page for `man`, of everything or of one command
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// The command, such as `path` or `study init`
        #[arg(value_name = "COMMAND", value_parser = CommandWord, hide_possible_values = true)]
        command: Vec<String>,
    },
}

/// A word of the name of a command. Shells are told which there are; what is none is answered with more than that by
/// who looks for the command.
#[derive(Clone)]
struct CommandWord;

impl TypedValueParser for CommandWord {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        word: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, word)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(COMMAND_WORDS.into_iter().map(PossibleValue::new)))
    }
}

/// The commands, and those within them.
const COMMAND_WORDS: [&str; 5] = ["path", "study", "init", "completions", "man"];

/// How files are taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum IoChoice {
    /// Whichever is faster
    #[default]
    Auto,
    /// Mapped into memory
    Mmap,
    /// Read
    Read,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::Config;
    use crate::path::PathConfig;
    use crate::report::chart::Style;

    #[test]
    fn the_definitions_agree_with_each_other() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
    }

    #[test]
    fn what_is_not_typed_is_as_the_library_has_it() {
        let args = Args::parse_from(["ccanalyze", "a.pcap"]);
        let library = Config::default();
        let mut typed = Config::default();
        args.limits.apply(&mut typed);
        assert_eq!(args.bin, library.bin_ns);
        assert_eq!(args.top, library.pairs.top);
        assert_eq!(args.reading.memory, library.memory_bytes);
        assert_eq!(typed.bins_max, library.bins_max);
        assert_eq!(typed.limits, library.limits);
        assert_eq!(args.charts.style(), Style::default());
        let args = Args::parse_from(["ccanalyze", "path", "--before", "a", "--after", "b"]);
        let Some(Command::Path(args)) = args.command else {
            panic!("{args:?}");
        };
        let library = PathConfig::default();
        assert_eq!(args.bin, library.bin_ns);
        assert_eq!(args.patience, library.patience_ns);
        assert_eq!(args.clock, library.clock);
        assert_eq!(args.reading.memory, library.memory_bytes);
    }

    #[test]
    fn shells_are_told_of_every_command_that_has_a_page() {
        fn words(command: &clap::Command) -> Vec<&str> {
            let within = |of| [vec![clap::Command::get_name(of)], words(of)].concat();
            command.get_subcommands().flat_map(within).collect()
        }
        assert_eq!(words(&Args::command()), COMMAND_WORDS);
    }
}
