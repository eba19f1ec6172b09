//! The document.

use std::fmt::Write as _;
use std::time::Duration;

use crate::measure::Timing;

/// One workload.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) whole: Vec<Timing>,
    pub(crate) prefix_records: u64,
    pub(crate) prefix: Vec<Timing>,
}

/// What is aimed at, and where it is measured: workload, threads, million packets a second.
const TARGETS: [(&str, &str, f64); 6] = [
    (
        "elephants and mice, 96 bytes a packet",
        "`ccanalyze FILE -q -t 1`",
        12.0,
    ),
    (
        "elephants and mice, 96 bytes a packet",
        "`ccanalyze FILE -q -t 2`",
        20.0,
    ),
    (
        "elephants, 96 bytes a packet",
        "`ccanalyze FILE -q -t 1`",
        12.0,
    ),
    ("elephants, full size", "`ccanalyze FILE -q -t 1`", 6.0),
    // 10 Gbit/s of the smallest frames.
    ("ACKs of 64 bytes", "`ccanalyze FILE -q -t 1`", 14.88),
    ("one flow, 96 bytes", "`ccanalyze FILE -q -t 2`", 12.0),
];

pub(crate) fn document(machine: &str, rounds: usize, tables: &[Table]) -> String {
    let mut text = String::from(
        "# Performance\n\nMade by `cargo build --release && cargo run --release --no-default-features --example speed > docs/PERFORMANCE.md`.\n\n",
    );
    let _ = writeln!(
        text,
        "Whole processes, all metrics, no per-packet output, files in the page cache; medians of {rounds} rounds in which the commands took\n\
         turns (tshark after the others, of three). Captures are generated from a seed. *CPU* is user and system time of all threads: on a busy machine the number to\n\
         go by. *Memory* is the largest resident set, which counts pages of mapped files and of shared libraries.\n\nMachine: {machine}.\n"
    );
    targets(&mut text, tables);
    for table in tables {
        one(&mut text, table);
    }
    text
}

fn targets(text: &mut String, tables: &[Table]) {
    text.push_str("## What is reached, and what is not\n\n| capture | command | aim, million packets/s | measured by CPU time | by wall time |\n| --- | --- | ---: | ---: | ---: |\n");
    for (workload, command, aim) in TARGETS {
        let Some((table, timing)) = tables
            .iter()
            .find(|table| table.name == workload)
            .and_then(|table| Some((table, find(&table.whole, command)?)))
        else {
            continue;
        };
        let threads = if command.contains("-t 2") { 2.0 } else { 1.0 };
        let by = |time: Duration| table.records as f64 / time.as_secs_f64() / 1e6;
        let _ = writeln!(
            text,
            "| {workload} | {command} | {aim} | {:.1} | {:.1} |",
            by(timing.cpu) * threads,
            by(timing.wall)
        );
    }
    text.push('\n');
    over_cat(text, tables);
}

/// Full-size frames are to take no longer than to read them.
fn over_cat(text: &mut String, tables: &[Table]) {
    let full = tables
        .iter()
        .find(|table| table.name == "elephants, full size");
    let Some((cat, two)) = full.and_then(|table| {
        let two = find(&table.whole, "`ccanalyze FILE -q -t 2`")?;
        Some((find(&table.whole, "`cat FILE`")?, two))
    }) else {
        return;
    };
    let _ = writeln!(
        text,
        "Full size, two threads, wall time over that of `cat FILE`: aim 1.0, measured {:.2}.\n",
        two.wall.as_secs_f64() / cat.wall.as_secs_f64()
    );
}

fn find<'a>(timings: &'a [Timing], name: &str) -> Option<&'a Timing> {
    timings.iter().find(|timing| timing.name == name)
}

fn one(text: &mut String, table: &Table) {
    let _ = writeln!(
        text,
        "## {}\n\n{} packets, {:.1} MB.\n",
        table.name,
        thousands(table.records),
        table.bytes as f64 / 1e6
    );
    rows(text, &table.whole, table.records, "`cat FILE`");
    if !table.prefix.is_empty() {
        let _ = writeln!(
            text,
            "\nThe first {} packets:\n",
            thousands(table.prefix_records)
        );
        rows(
            text,
            &table.prefix,
            table.prefix_records,
            "`ccanalyze FILE -q -t 1`",
        );
    }
    text.push('\n');
}

fn rows(text: &mut String, timings: &[Timing], records: u64, base: &str) {
    let Some(base) = find(timings, base) else {
        return;
    };
    let _ = writeln!(
        text,
        "| command | wall, ms | CPU, ms | CPU a packet, ns | CPU over {} | wall over it | memory, MiB |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        base.name
    );
    for timing in timings {
        let ratio =
            |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64().max(1e-6);
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {:.0} | {:.2} | {:.2} | {:.0} |",
            timing.name,
            timing.wall.as_secs_f64() * 1e3,
            timing.cpu.as_secs_f64() * 1e3,
            timing.cpu.as_secs_f64() * 1e9 / records as f64,
            ratio(timing.cpu, base.cpu),
            ratio(timing.wall, base.wall),
            timing.resident_bytes as f64 / f64::from(1 << 20),
        );
    }
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
