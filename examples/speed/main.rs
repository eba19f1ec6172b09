//! Makes docs/PERFORMANCE.md: whole processes, timed beside each other on generated captures.
//!
//! ```sh
//! cargo build --release && cargo run --release --no-default-features --example speed > docs/PERFORMANCE.md
//! ```
//!
//! `--packets N` sets the size of the captures (2,000,000), `--rounds N` how often each command runs
//! (5). Peers that are not installed, or cannot read a format, are left out of its table. All commands of all tables take
//! turns, so what else the machine does, for a moment or for minutes, meets them alike; tshark takes part in three rounds
//! only: it takes too long. All captures lie in the folder of temporary files (5 GB with 2,000,000 packets).

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, not part of the tool"
)]

mod goals;
mod machine;
mod measure;
mod report;
#[path = "../../benches/support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with benches and tests, which use other parts"
)]
mod synth;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use measure::Turns;
use synth::{Format, Profile, Synth, Truth};

/// Packets of a prefix that slow peers are given.
const PREFIX_PACKETS: u64 = 200_000;

/// A capture to time, and what it stands for.
struct Workload {
    name: &'static str,
    synth: Synth,
    /// Results are timed, too, by these commands.
    results: &'static [&'static str],
    /// What it holds is looked at, too.
    memory: bool,
}

const MIX: &str = "elephants and mice, 96 bytes a packet";
const PCAPNG: &str = "elephants and mice, 96 bytes, pcapng";
const FULL: &str = "elephants, full size";
const ELEPHANTS: &str = "elephants, 96 bytes a packet";
const ELEPHANTS_LONG: &str = "elephants, 96 bytes a packet, four times as many";
const ONE: &str = "one flow, 96 bytes";
const ACKS: &str = "ACKs of 64 bytes";
const MANY: &str = "100,000 connections, 96 bytes";
const MILLION: &str = "a million connections, 96 bytes";
const SMALL: &str = "100 packets";

fn workloads(packets: u64) -> Vec<Workload> {
    let work = |name, synth| Workload {
        name,
        synth,
        results: match name {
            MIX => &[TABLES, TABLES_ON_TWO, TABLES_AND_ROWS],
            MANY | MILLION => &[TABLES_ON_TWO],
            _ => &[],
        },
        memory: name == ELEPHANTS || name == ELEPHANTS_LONG || name == MANY,
    };
    let snapped = |profile, packets| Synth::new(profile, packets).snapped();
    let mix = snapped(Profile::Mix, packets);
    let pcapng = Synth {
        format: Format::Pcapng,
        ..mix
    };
    vec![
        work(MIX, mix),
        work(FULL, Synth::new(Profile::Bulk, packets / 2)),
        work(ELEPHANTS, snapped(Profile::Bulk, packets)),
        work(ELEPHANTS_LONG, snapped(Profile::Bulk, 4 * packets)),
        work(ONE, snapped(Profile::One, packets)),
        work(ACKS, Synth::new(Profile::Acks, packets)),
        work(MANY, snapped(Profile::Many(100_000), packets)),
        work(MILLION, snapped(Profile::Many(1_000_000), 10 * packets)),
        work(PCAPNG, pcapng),
        work(SMALL, snapped(Profile::Mix, 100)),
    ]
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((first, command)) if first == "--measure" => return measure::child(command),
        Some((first, bytes)) if first == "--touch" => return measure::touch(bytes),
        _ => {}
    }
    let number = |name: &str, default: u64| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments
            .get(place + 1)
            .map_or(Some(default), |text| text.parse().ok())
    };
    let packets = number("--packets", 2_000_000).unwrap_or(2_000_000);
    let rounds = number("--rounds", 5).unwrap_or(5) as usize;
    match run(packets, rounds.max(1)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(packets: u64, rounds: usize) -> Result<String, String> {
    let tool = tool()?;
    let folder = std::env::temp_dir().join("ccanalyze-speed");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut scenes = Vec::new();
    for (index, workload) in workloads(packets).into_iter().enumerate() {
        eprintln!("writing: {}", workload.name);
        scenes.push(Scene::new(&tool, &folder, index, workload)?);
    }
    // The first round counts for nothing.
    for round in 0..=rounds {
        eprintln!("round {round} of {rounds}");
        for scene in &mut scenes {
            scene.round(round)?;
        }
    }
    let results: Result<Vec<_>, _> = scenes.into_iter().map(Scene::table).collect();
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(report::document(&machine::describe(), rounds, &results?))
}

/// A workload with its captures, and the commands that take turns over them.
struct Scene {
    workload: Workload,
    file: PathBuf,
    truth: Truth,
    /// Over the whole capture, without tables and with them.
    whole: Turns,
    tables: Turns,
    /// Over its beginning; tshark is apart, as it takes too long for each round.
    near: Turns,
    tshark: Turns,
}

/// How many rounds tshark takes part in, without the first.
const TSHARK_ROUNDS: usize = 3;

impl Scene {
    fn new(tool: &Path, folder: &Path, index: usize, workload: Workload) -> Result<Self, String> {
        let Workload { name, synth, .. } = workload;
        let file = folder.join(format!("capture-{index}"));
        let truth = write(&file, synth)?;
        let mut whole = whole_file(tool, &file);
        // A start and the first pages of memory are a third of what a prefix takes, and nothing to a capture as people
        // have them.
        if name == MIX {
            whole.push(tcptrace(&file));
        }
        let mut tables = tables(tool, &file, folder);
        tables.retain(|command| workload.results.contains(&command.name));
        // tcptrace takes a pcapng file for an empty one, and beginnings of the same are one capture.
        let is_other = name != ELEPHANTS_LONG && name != MILLION;
        let has_prefix =
            truth.records > PREFIX_PACKETS && synth.format != Format::Pcapng && is_other;
        let (mut near, mut tshark) = (Vec::new(), Vec::new());
        if has_prefix {
            let prefix = Synth {
                packets: PREFIX_PACKETS,
                ..synth
            };
            let file = folder.join(format!("prefix-{index}"));
            write(&file, prefix)?;
            near = slow_peers(tool, &file);
            tshark.extend(near.pop());
        }
        Ok(Self {
            workload,
            file,
            truth,
            whole: Turns::new(whole),
            tables: Turns::new(tables),
            near: Turns::new(near),
            tshark: Turns::new(tshark),
        })
    }

    /// Every command once.
    fn round(&mut self, round: usize) -> Result<(), String> {
        // All captures together may be more than the system keeps.
        File::open(&self.file)
            .and_then(|mut file| std::io::copy(&mut file, &mut std::io::sink()))
            .map_err(|error| format!("{}: {error}", self.file.display()))?;
        self.whole.round(round > 0)?;
        self.tables.round(round > 0)?;
        self.near.round(round > 0)?;
        if round <= TSHARK_ROUNDS {
            self.tshark.round(round > 0)?;
        }
        Ok(())
    }

    fn table(self) -> Result<report::Table, String> {
        let records = self.truth.records;
        let words = self.whole.words(TWO_THREADS);
        let anonymous_bytes = match words.filter(|_| self.workload.memory) {
            Some(words) => measure::anonymous_bytes(words)?,
            None => 0,
        };
        let of_two = |one: &Turns, other: &Turns| [one.timings(), other.timings()].concat();
        let whole = of_two(&self.whole, &self.tables);
        Ok(report::Table {
            name: self.workload.name,
            records,
            data_packets: self.truth.total.data_packets,
            anonymous_bytes,
            bytes: whole
                .iter()
                .map(|timing| timing.file_bytes)
                .max()
                .unwrap_or(0),
            whole,
            prefix_records: PREFIX_PACKETS.min(records),
            prefix: of_two(&self.near, &self.tshark),
        })
    }
}

/// The release build of the command, which lies beside this example's folder.
fn tool() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let tool = own.ancestors().nth(2).unwrap_or(&own).join("ccanalyze");
    if tool.is_file() {
        Ok(tool)
    } else {
        Err(format!(
            "{}: build it first: cargo build --release",
            tool.display()
        ))
    }
}

fn write(file: &Path, synth: Synth) -> Result<Truth, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let out = File::create(file).map_err(failed)?;
    synth
        .write(BufWriter::with_capacity(1 << 20, out))
        .map_err(failed)
}

/// A command by its name in the tables.
pub(crate) struct Command {
    name: &'static str,
    words: Vec<String>,
    file: PathBuf,
}

fn command(name: &'static str, file: &Path, words: &[&str]) -> Command {
    Command {
        name,
        words: words.iter().map(|&word| word.to_owned()).collect(),
        file: file.to_owned(),
    }
}

const CAT: &str = "`cat FILE`";
const ONE_THREAD: &str = "`ccanalyze FILE -q -t 1`";
const TWO_THREADS: &str = "`ccanalyze FILE -q -t 2`";
const TABLES: &str = "`ccanalyze FILE -q -t 1 --no-charts -o …`";
const TABLES_ON_TWO: &str = "`ccanalyze FILE -q -t 2 --no-charts -o …`";
const TABLES_AND_ROWS: &str = "`ccanalyze FILE -q -t 1 --no-charts -o … --segments …`";
const TCPTRACE: &str = "`tcptrace -n -l -r FILE`";
const TSHARK: &str = "`tshark -r FILE -T fields -e tcp.analysis…`";

/// Tables in Parquet, without and with a row for each data segment.
fn tables(tool: &Path, file: &Path, folder: &Path) -> Vec<Command> {
    let (results, rows) = (folder.join("flows.parquet"), folder.join("rows.parquet"));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (tool, path) = (text(tool), text(file));
    let (results, rows) = (text(&results), text(&rows));
    let on = |threads| {
        let words = [&tool, &path, "-q", "-t", threads, "--no-charts", "-o"];
        [&words[..], &[&results]].concat()
    };
    let more = [&on("1")[..], &["--segments", &rows]].concat();
    vec![
        command(TABLES, file, &on("1")),
        command(TABLES_ON_TWO, file, &on("2")),
        command(TABLES_AND_ROWS, file, &more),
    ]
}

fn whole_file(tool: &Path, file: &Path) -> Vec<Command> {
    let (tool, path) = (tool.to_string_lossy(), file.to_string_lossy());
    let (tool, path) = (tool.as_ref(), path.as_ref());
    vec![
        command(CAT, file, &["cat", path]),
        command(
            "`tcpdump -nr FILE --count`",
            file,
            &["tcpdump", "-nr", path, "--count"],
        ),
        command(
            "`capinfos -M -c FILE`",
            file,
            &["capinfos", "-M", "-c", path],
        ),
        command(ONE_THREAD, file, &[tool, path, "-q", "-t", "1"]),
        command(TWO_THREADS, file, &[tool, path, "-q", "-t", "2"]),
    ]
}

fn tcptrace(file: &Path) -> Command {
    let path = file.to_string_lossy();
    command(TCPTRACE, file, &["tcptrace", "-n", "-l", "-r", &path])
}

fn slow_peers(tool: &Path, file: &Path) -> Vec<Command> {
    let (tool, path) = (tool.to_string_lossy(), file.to_string_lossy());
    let (tool, path) = (tool.as_ref(), path.as_ref());
    vec![
        command(ONE_THREAD, file, &[tool, path, "-q", "-t", "1"]),
        tcptrace(file),
        command(
            TSHARK,
            file,
            &[
                "tshark",
                "-r",
                path,
                "-T",
                "fields",
                "-e",
                "frame.number",
                "-e",
                "tcp.stream",
                "-e",
                "tcp.analysis.retransmission",
                "-e",
                "tcp.analysis.out_of_order",
                "-e",
                "tcp.analysis.ack_rtt",
                "-e",
                "tcp.analysis.bytes_in_flight",
            ],
        ),
    ]
}
