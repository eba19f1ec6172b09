//! Makes docs/PERFORMANCE.md: whole processes, timed beside each other on generated captures.
//!
//! ```sh
//! cargo build --release && cargo run --release --no-default-features --example speed > docs/PERFORMANCE.md
//! ```
//!
//! `--packets N` sets the size of the captures (2,000,000), `--rounds N` how often each command runs
//! (5). Peers that are not installed, or cannot read a format, are left out of its table. All commands of a table take turns,
//! so what else the machine does meets them alike; but for tshark, which comes last: where the machine is a guest, its host
//! takes back meanwhile what memory is free, and who comes next waits for that.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, not part of the tool"
)]

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

use synth::{Format, Profile, Synth};

/// Packets of a prefix that slow peers are given.
const PREFIX_PACKETS: u64 = 200_000;

/// A capture to time, and what it stands for.
struct Workload {
    name: &'static str,
    synth: Synth,
}

fn workloads(packets: u64) -> Vec<Workload> {
    let work = |name, synth| Workload { name, synth };
    let mix = Synth::new(Profile::Mix, packets).snapped();
    vec![
        work("elephants and mice, 96 bytes a packet", mix),
        work(
            "elephants, full size",
            Synth::new(Profile::Bulk, packets / 2),
        ),
        work(
            "elephants, 96 bytes a packet",
            Synth::new(Profile::Bulk, packets).snapped(),
        ),
        work(
            "one flow, 96 bytes",
            Synth::new(Profile::One, packets).snapped(),
        ),
        work("ACKs of 64 bytes", Synth::new(Profile::Acks, packets)),
        work(
            "100,000 flows, 96 bytes",
            Synth::new(Profile::Many(100_000), packets).snapped(),
        ),
        work(
            "elephants and mice, 96 bytes, pcapng",
            Synth {
                format: Format::Pcapng,
                ..mix
            },
        ),
        work("100 packets", Synth::new(Profile::Mix, 100).snapped()),
    ]
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, command @ ..] = &arguments[..]
        && first == "--measure"
    {
        return measure::child(command);
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
    let mut tables = Vec::new();
    for Workload { name, synth } in workloads(packets) {
        eprintln!("{name}");
        let file = folder.join("capture");
        let records = write(&file, synth)?;
        let whole = measure::take_turns(&whole_file(&tool, &file), rounds)?;
        // tcptrace takes a pcapng file for an empty one.
        let prefix = if records > PREFIX_PACKETS && synth.format != Format::Pcapng {
            let prefix = Synth {
                packets: PREFIX_PACKETS,
                ..synth
            };
            write(&file, prefix)?;
            let peers = slow_peers(&tool, &file);
            let (near, tshark) = peers.split_at(peers.len() - 1);
            let mut timings = measure::take_turns(near, rounds)?;
            timings.extend(measure::take_turns(tshark, rounds.min(3))?);
            timings
        } else {
            Vec::new()
        };
        tables.push(report::Table {
            name,
            records,
            bytes: whole
                .iter()
                .map(|timing| timing.file_bytes)
                .max()
                .unwrap_or(0),
            whole,
            prefix_records: PREFIX_PACKETS.min(records),
            prefix,
        });
    }
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(report::document(&machine::describe(), rounds, &tables))
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

fn write(file: &Path, synth: Synth) -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let out = File::create(file).map_err(failed)?;
    let truth = synth
        .write(BufWriter::with_capacity(1 << 20, out))
        .map_err(failed)?;
    Ok(truth.records)
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

fn whole_file(tool: &Path, file: &Path) -> Vec<Command> {
    let (tool, path) = (tool.to_string_lossy(), file.to_string_lossy());
    let (tool, path) = (tool.as_ref(), path.as_ref());
    vec![
        command("`cat FILE`", file, &["cat", path]),
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
        command(
            "`ccanalyze FILE -q -t 1`",
            file,
            &[tool, path, "-q", "-t", "1"],
        ),
        command(
            "`ccanalyze FILE -q -t 2`",
            file,
            &[tool, path, "-q", "-t", "2"],
        ),
    ]
}

fn slow_peers(tool: &Path, file: &Path) -> Vec<Command> {
    let (tool, path) = (tool.to_string_lossy(), file.to_string_lossy());
    let (tool, path) = (tool.as_ref(), path.as_ref());
    vec![
        command(
            "`ccanalyze FILE -q -t 1`",
            file,
            &[tool, path, "-q", "-t", "1"],
        ),
        command(
            "`tcptrace -n -l -r FILE`",
            file,
            &["tcptrace", "-n", "-l", "-r", path],
        ),
        command(
            "`tshark -r FILE -T fields -e tcp.analysis…`",
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
