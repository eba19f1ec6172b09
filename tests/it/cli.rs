//! The command, run as a user runs it: what it writes, what it prints, what its options do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::support::{capture, captures, later, records, with_records};
use super::wire::{Format, Ipv4, Packet, pcap, tcp4};

/// How a run of the command ended.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the command in `folder`.
pub(crate) fn run<A: AsRef<std::ffi::OsStr>>(folder: &Path, args: &[A]) -> Run {
    ended(command(folder).args(args).output().unwrap())
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ccanalyze"));
    command
        .current_dir(folder)
        .env("COLUMNS", "160")
        .stdin(Stdio::null());
    command
}

fn ended(output: Output) -> Run {
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Names of everything in a folder.
pub(crate) fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

pub(crate) fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// One column of a CSV file without quoted commas in the columns before it.
fn column(path: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let place = lines
        .next()
        .unwrap()
        .split(',')
        .position(|column| column == name)
        .unwrap_or_else(|| panic!("{name} in {}", path.display()));
    lines
        .map(|line| line.split(',').nth(place).unwrap_or_default().to_owned())
        .collect()
}

/// A run with results as CSV in a folder of its own, without charts.
fn results(paths: &[PathBuf], options: &[&str]) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut args: Vec<&std::ffi::OsStr> = paths.iter().map(|path| path.as_os_str()).collect();
    args.extend(["--out", "r.csv", "--no-charts"].map(std::ffi::OsStr::new));
    args.extend(options.iter().map(std::ffi::OsStr::new));
    let run = run(folder.path(), &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    (folder, run)
}

#[test]
fn shells_and_manuals_are_told_of_every_command_and_option() {
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| {
        let run = run(folder.path(), args);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{args:?}");
        run.stdout
    };
    let commands = ["path", "study", "completions", "man"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = said(&["completions", shell]);
        for word in commands
            .into_iter()
            .chain(["fness-window", "init", "slide"])
        {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let page = said(&["man"]);
    assert!(page.contains(".TH ccanalyze 1 "), "{page}");
    for command in commands {
        let name = format!("ccanalyze\\-{command}(1)");
        assert!(page.contains(&name), "{name}");
        let page = said(&["man", command]);
        assert!(page.contains(&format!(".TH ccanalyze-{command} 1 ")));
    }
    assert!(said(&["man", "path"]).contains("\\-\\-patience"));
    assert!(said(&["man", "study", "init"]).contains("\\-\\-template"));
    let unknown = run(folder.path(), &["man", "study", "end"]);
    assert_eq!(unknown.status, 2);
    let words = "error: 'end' is no command of `ccanalyze study`";
    assert!(unknown.stderr.starts_with(words), "{}", unknown.stderr);
}

/// The queue of the testbed dropped 8 packets of this sender, which repeated them in 5 frames.
#[test]
fn frames_of_offload_are_shown_as_packets() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture("segmentation-offload.pcap.zst");
    let args = [
        capture.as_os_str(),
        "--report".as_ref(),
        "run.html".as_ref(),
    ];
    let run = run(folder.path(), &args);
    let shown = run.stdout.lines().find(|line| line.contains("5.00 MB"));
    let cells: Vec<&str> = shown.unwrap().split('┆').map(str::trim).collect();
    assert_eq!(cells[5], "8", "{cells:?}");
    let page = std::fs::read_to_string(folder.path().join("run.html")).unwrap();
    let cells = |row: &str, end: &str| -> Vec<String> {
        let cells = row.split(end);
        let text = |cell: &str| {
            cell.rsplit_once('>')
                .map_or(cell, |(_, text)| text)
                .to_owned()
        };
        cells.map(text).collect()
    };
    let row = page
        .split("<tr")
        .find(|row| row.contains("5.00 MB"))
        .unwrap();
    let head = page
        .split("<tr")
        .find(|row| row.contains(">retransmitted<"))
        .unwrap();
    let place = cells(head, "</button>")
        .iter()
        .position(|name| name == "retransmitted");
    assert_eq!(cells(row, "</td>")[place.unwrap()], "8", "{row}");
}

#[test]
fn the_main_job_writes_all_tables_and_nothing_else_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut args: Vec<std::ffi::OsString> = captures().into_iter().map(Into::into).collect();
    args.extend(["--out", "results.parquet", "--segments", "segments.parquet"].map(Into::into));
    let run = run(folder.path(), &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    // No progress on a pipe; but what bears on the numbers is said: one of the captures was taken
    // with segmentation offload.
    assert!(
        run.stderr.lines().all(|line| line.starts_with("warning: ")),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("segmentation-offload.pcap.zst: 845 segments are several packets"),
        "{}",
        run.stderr
    );
    let mut found = names(folder.path());
    found.remove("results.charts");
    let tables = set(&[
        "results.parquet",
        "results.pairs.parquet",
        "results.pair_series.parquet",
        "results.series.parquet",
        "results.captures.parquet",
        "segments.parquet",
    ]);
    assert_eq!(found, tables);
    for table in tables {
        let bytes = fs::read(folder.path().join(&table)).unwrap();
        assert_eq!(
            (&bytes[..4], &bytes[bytes.len() - 4..]),
            (&b"PAR1"[..], &b"PAR1"[..])
        );
    }
    for path in captures() {
        assert!(
            run.stdout.contains(&path.display().to_string()),
            "{}",
            run.stdout
        );
    }
    assert!(
        run.stdout.contains("Written: results.pairs.parquet"),
        "{}",
        run.stdout
    );
}

#[test]
fn the_ending_decides_the_format() {
    for (ending, begin) in [
        ("parquet", &b"PAR1"[..]),
        ("csv", b"capture,connection_id,"),
        ("json", b"{\"capture\":"),
        ("arrow", b"ARROW1"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let out = format!("r.{ending}");
        let path = capture("drop-one.pcap").into_os_string();
        let run = run(
            folder.path(),
            &[path, "--no-charts".into(), "--out".into(), (&out).into()],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(
            fs::read(folder.path().join(out))
                .unwrap()
                .starts_with(begin),
            "{ending}"
        );
        assert!(folder.path().join(format!("r.captures.{ending}")).exists());
    }
}

#[test]
fn an_older_result_is_replaced_only_by_a_complete_one() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r.csv");
    fs::write(&out, "old").unwrap();
    fs::write(
        folder.path().join("text.txt"),
        "no capture at all, but text",
    )
    .unwrap();
    let failed = run(
        folder.path(),
        &["text.txt", "--out", "r.csv", "--no-charts"],
    );
    assert_eq!(failed.status, 2);
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
    assert_eq!(names(folder.path()), set(&["r.csv", "text.txt"]));
    let path = capture("drop-one.pcap");
    let good = run(
        folder.path(),
        &[path.to_str().unwrap(), "--out", "r.csv", "--no-charts"],
    );
    assert_eq!(good.status, 0);
    assert_eq!(column(&out, "connection_id"), ["0", "0"]);
}

/// A capture of one ICMP echo request, of raw IP packets.
fn ping_capture() -> Vec<u8> {
    let ip = Ipv4 {
        protocol: 1,
        ..Ipv4::tcp([[10, 0, 0, 1], [10, 0, 0, 2]])
    };
    let echo = [8, 0, 0, 0, 0, 7, 0, 1];
    let bytes = [&ip.header(28)[..], &echo].concat();
    pcap([Packet::ipv4(1_000_000_000, bytes)])
}

#[test]
fn a_table_of_an_earlier_run_does_not_stay_beside_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let pings = folder.path().join("r.pings.csv");
    fs::write(folder.path().join("pings.pcap"), ping_capture()).unwrap();
    let good = capture("drop-one.pcap").display().to_string();
    let run_on = |capture: &str| {
        let run = run(folder.path(), &[capture, "--out", "r.csv", "--no-charts"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
    };
    run_on("pings.pcap");
    assert_eq!(column(&pings, "identifier"), ["7"]);
    run_on(&good);
    assert!(!pings.exists(), "there are no pings in this capture");
    // But what is no such table is somebody's own.
    fs::write(&pings, "mine").unwrap();
    run_on(&good);
    assert_eq!(fs::read(&pings).unwrap(), b"mine");
}

#[test]
fn a_filter_keeps_what_it_names() {
    let paths = [capture("two-flows-cubic-bbr.pcap.zst")];
    let (all, _) = results(&paths, &[]);
    assert_eq!(
        column(&all.path().join("r.csv"), "ip_version"),
        ["4", "4", "6", "6"]
    );
    let (some, run) = results(&paths, &["--filter", "host 10.77.0.1 and port 5001"]);
    assert_eq!(column(&some.path().join("r.csv"), "ip_version"), ["4", "4"]);
    assert!(run.stdout.contains("filtered"), "{}", run.stdout);
    // Of pings, too, which have no ports.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pings.pcap"), ping_capture()).unwrap();
    for (filter, kept) in [
        ("host 10.0.0.1", true),
        ("host 10.0.0.3", false),
        ("host 10.0.0.1 and port 5001", false),
    ] {
        let run = super::cli::run(folder.path(), &["pings.pcap", "-o", "r.csv", "-f", filter]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(folder.path().join("r.pings.csv").exists(), kept, "{filter}");
    }
}

#[test]
fn a_capacity_adds_utilisation_and_the_balanced_metric() {
    let paths = [capture("drop-one.pcap")];
    let (without, _) = results(&paths, &[]);
    let (with, _) = results(&paths, &["--capacity", "20Mbit"]);
    for name in ["utilisation", "pm"] {
        assert_eq!(column(&without.path().join("r.csv"), name), ["", ""]);
    }
    let goodputs = column(&with.path().join("r.csv"), "goodput_bps");
    let utilisations = column(&with.path().join("r.csv"), "utilisation");
    for (goodput, utilisation) in goodputs.iter().zip(utilisations) {
        let (goodput, utilisation): (f64, f64) =
            (goodput.parse().unwrap(), utilisation.parse().unwrap());
        assert!((goodput / 20e6 - utilisation).abs() < 1e-12);
    }
}

#[test]
fn bins_of_any_length_hold_the_same_bytes() {
    let paths = [capture("drop-one.pcap")];
    for (bin, longest) in [("50ms", 50_000_000), ("1s", 1_000_000_000)] {
        let (folder, _) = results(&paths, &["--bin", bin]);
        let series = folder.path().join("r.series.csv");
        let bytes: u64 = column(&series, "payload_bytes")
            .iter()
            .map(|bytes| bytes.parse::<u64>().unwrap())
            .sum();
        // 600,000 bytes down, a request of 64 bytes up.
        assert_eq!(bytes, 600_064, "{bin}");
        let starts = column(&series, "bin_start_ns");
        let indices = column(&series, "bin");
        let number = |texts: &[String], at: usize| texts[at].parse::<i64>().unwrap();
        for at in 0..starts.len() {
            let origin = number(&starts, 0) - number(&indices, 0) * longest;
            assert_eq!(number(&starts, at), origin + number(&indices, at) * longest);
        }
    }
}

#[test]
fn a_fness_window_cuts_both_flows_alike() {
    let paths = [capture("two-flows-cubic-bbr.pcap.zst")];
    let (folder, _) = results(&paths, &["--fness-window", "100ms+500ms"]);
    let pairs = folder.path().join("r.pairs.csv");
    let starts = column(&pairs, "start_ns");
    let ends = column(&pairs, "end_ns");
    assert!(!starts.is_empty());
    for (start, end) in starts.iter().zip(ends) {
        let (start, end): (i64, i64) = (start.parse().unwrap(), end.parse().unwrap());
        assert_eq!(end - start, 500_000_000 - 1, "both ends are within");
    }
}

#[test]
fn top_bounds_the_flows_that_are_paired() {
    let paths = [capture("two-flows-cubic-bbr.pcap.zst")];
    let (folder, _) = results(&paths, &["--top", "1"]);
    assert!(column(&folder.path().join("r.pairs.csv"), "fness").is_empty());
    let left = column(&folder.path().join("r.captures.csv"), "flows_left_unpaired");
    assert_eq!(
        left,
        ["1"],
        "the requests are of one packet and never paired"
    );
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let paths = captures();
    let (one, _) = results(&paths, &["--threads", "1"]);
    let (four, _) = results(&paths, &["--threads", "4"]);
    assert_eq!(names(one.path()), names(four.path()));
    for name in names(one.path()) {
        let read = |folder: &tempfile::TempDir| fs::read(folder.path().join(&name)).unwrap();
        assert!(read(&one) == read(&four), "{name} differs");
    }
}

#[test]
fn ports_are_kept_apart_from_ipv6_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), &[capture("two-flows-cubic-bbr.pcap.zst")]);
    // A download over IPv4 from port 5001, and one over IPv6 from port 5002.
    for flow in [" 10.77.0.1:5001 > ", " [fd77::1]:5002 > [fd77::"] {
        assert!(run.stdout.contains(flow), "{flow}: {}", run.stdout);
    }
}

#[test]
fn tables_fit_a_narrow_terminal() {
    let folder = tempfile::tempdir().unwrap();
    // In the order in which they would stand there.
    let fewest =
        "\nA wider terminal shows: data, overhead, RTT min/mean/max, reord, time, quality.\n";
    // What was left out first, and is narrow, has room when the rest is known.
    let few = "\nA wider terminal shows: data, overhead, reord, time, quality.\n";
    let most = "\nA wider terminal shows: data, overhead, reord, time.\n";
    for (columns, more) in [(50, fewest), (66, few), (80, most), (120, "")] {
        let output = command(folder.path())
            .env("COLUMNS", columns.to_string())
            .arg(capture("two-flows-cubic-bbr.pcap.zst"))
            .output();
        let run = ended(output.unwrap());
        let lines = run.stdout.lines().skip(1);
        let rows = lines.filter(|line| !line.starts_with("A wider terminal shows"));
        let widest = rows.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns, "{}", run.stdout);
        // Whole words, and what was left out.
        assert!(
            run.stdout.contains("[fd77::200:1]:47126 >"),
            "{}",
            run.stdout
        );
        let says_more = run.stdout.contains("A wider terminal shows: ");
        assert_eq!(says_more, !more.is_empty(), "{}", run.stdout);
        assert!(run.stdout.contains(more), "{}", run.stdout);
    }
}

#[test]
fn quiet_prints_nothing() {
    let (_, run) = results(&[capture("drop-one.pcap")], &["--quiet"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn standard_input_is_read_like_a_file() {
    let (by_name, _) = results(&[capture("drop-one.pcap")], &[]);
    let folder = tempfile::tempdir().unwrap();
    let mut piped = command(folder.path());
    piped.args(["-", "--out", "r.csv", "--no-charts"]);
    piped.stdin(fs::File::open(capture("drop-one.pcap")).unwrap());
    let run = ended(piped.output().unwrap());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let (file, pipe) = (by_name.path().join("r.csv"), folder.path().join("r.csv"));
    assert_eq!(column(&pipe, "capture"), ["-", "-"]);
    assert_eq!(without_capture(&file), without_capture(&pipe));
}

#[test]
fn a_split_capture_put_together_gives_the_flows_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(capture("drop-one.pcap")).unwrap();
    let all: Vec<&[u8]> = records(&whole).collect();
    let (begin, rest) = all.split_at(all.len() / 3);
    let first = folder.path().join("first.pcap");
    let second = folder.path().join("second.pcap");
    fs::write(&first, with_records(&whole, begin.iter().copied())).unwrap();
    fs::write(&second, with_records(&whole, rest.iter().copied())).unwrap();
    let (once, _) = results(&[capture("drop-one.pcap")], &[]);
    // In the wrong order: the times decide.
    let (parts, _) = results(&[second, first], &["--concat"]);
    assert_eq!(
        without_capture(&once.path().join("r.csv")),
        without_capture(&parts.path().join("r.csv"))
    );
}

/// A flow that goes on from one file to the other is two of them otherwise.
#[test]
fn parts_of_one_capture_that_are_named_apart_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(capture("drop-one.pcap")).unwrap();
    let all: Vec<&[u8]> = records(&whole).collect();
    let part = |of: &[&[u8]]| with_records(&whole, of.iter().copied());
    let third = all.len() / 3;
    let write = |name, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("run.pcap", &part(&all[..third]));
    write("run.pcap1", &part(&all[third..]));
    write("late.pcap1", &later(part(&all[third..]), 60));
    write("whole.pcap1", &later(whole.clone(), 1));
    let said = |args: &[&str]| {
        let run = run(folder.path(), args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let mut lines = run.stderr.lines();
        lines
            .find(|line| line.contains("`--concat`"))
            .map(str::to_owned)
    };
    let warning = said(&["run.pcap1", "run.pcap"]).unwrap();
    assert!(
        warning.starts_with(
            "warning: 10.77.0.1:5001 to 10.77.200.1:35364 goes on from run.pcap to run.pcap1"
        ),
        "{warning}"
    );
    // They are taken as one, a minute lies between them, or the second has its own beginning.
    assert_eq!(
        said(&["--concat", "--no-charts", "run.pcap1", "run.pcap"]),
        None
    );
    assert_eq!(said(&["run.pcap", "late.pcap1"]), None);
    assert_eq!(said(&["run.pcap", "whole.pcap1"]), None);
}

#[test]
fn help_and_version_are_answers() {
    let folder = tempfile::tempdir().unwrap();
    for (option, word) in [
        ("--help", "--fness-window"),
        ("--version", env!("CARGO_PKG_VERSION")),
    ] {
        let run = run(folder.path(), &[option]);
        assert_eq!(run.status, 0);
        assert!(run.stdout.contains(word), "{}", run.stdout);
    }
}

/// The lines of a CSV file without their first column, the name of the capture.
fn without_capture(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| line.split_once(',').unwrap().1.to_owned())
        .collect()
}

#[test]
fn a_capacity_that_is_too_small_is_said() {
    let (_folder, run) = results(&[capture("drop-one.pcap")], &["--capacity", "100kbit"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let said = "more than the capacity given, 100 kbit/s";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let (_folder, run) = results(&[capture("drop-one.pcap")], &["--capacity", "60Mbit"]);
    assert!(!run.stderr.contains("capacity"), "{}", run.stderr);
}

#[test]
fn parts_that_overlap_in_time_are_said_to() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["part.pcap", "again.pcap", "behind.pcap"] {
        fs::copy(capture("drop-one.pcap"), folder.path().join(name)).unwrap();
    }
    let parts = ["part.pcap", "again.pcap"];
    let concat = [&["--concat", "--no-charts"], &parts[..]].concat();
    let path = [&["path", "--after", "behind.pcap", "--before"], &parts[..]].concat();
    for args in [concat, path] {
        let said = run(folder.path(), &args).stderr;
        let [_, overlap] = said.split_once("again.pcap begins ").unwrap().into();
        let (by_ms, rest) = overlap.split_once(" ms before ").unwrap();
        assert!(by_ms.replace(',', "").parse::<u64>().unwrap() > 0, "{said}");
        assert!(rest.starts_with("part.pcap ends: "), "{said}");
    }
    let single = run(folder.path(), &["part.pcap", "--no-charts"]).stderr;
    assert!(!single.contains(" begins "), "{single}");
}

/// A connection that controls a download answers its cookie at once: that tells nothing of the download's times.
#[test]
fn a_clock_is_coarse_for_flows_that_count_alone() {
    let folder = tempfile::tempdir().unwrap();
    let flow = |port: u16, packets: u32, bytes: u16, rtt_us: i64| {
        let ends = [([10, 0, 0, 1], 5201), ([10, 0, 0, 2], port)];
        let [there, back] = [ends, [ends[1], ends[0]]];
        let packet = |at_us: i64, bytes| Packet::ipv4(at_us * 1000, bytes);
        let each = (0..packets).flat_map(move |number| {
            let at_us = 1_000_000 + i64::from(number) * 50_000 + i64::from(port);
            let seq = 1 + number * u32::from(bytes);
            [
                packet(at_us, tcp4(there, [seq, 1], 0x10, bytes)),
                packet(
                    at_us + rtt_us,
                    tcp4(back, [1, seq + u32::from(bytes)], 0x10, 0),
                ),
            ]
        });
        each.collect::<Vec<_>>()
    };
    let (download, control) = (flow(2, 40, 1000, 20_000), flow(1, 1, 37, 7));
    let warned = |packets: &[Packet]| {
        let mut packets: Vec<&Packet> = packets.iter().collect();
        packets.sort_by_key(|packet| packet.at_ns);
        let microseconds = Format {
            tick_ns: 1000,
            ..Format::RAW
        };
        fs::write(folder.path().join("x.pcap"), microseconds.file(packets)).unwrap();
        let run = run(folder.path(), &["x.pcap"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.stderr
            .contains("coarse for the shortest round-trip time, 7,000 ns")
    };
    assert!(warned(&control));
    assert!(!warned(&[download, control].concat()));
}
