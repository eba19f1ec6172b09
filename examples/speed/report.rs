//! The document.

use std::fmt::Write as _;
use std::time::Duration;

use crate::goals;
use crate::measure::Timing;
use crate::{CAT, ONE_THREAD};

/// One workload.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) records: u64,
    pub(crate) data_packets: u64,
    pub(crate) bytes: u64,
    /// Largest anonymous memory of two threads, where it was looked at.
    pub(crate) anonymous_bytes: u64,
    pub(crate) whole: Vec<Timing>,
    pub(crate) prefix_records: u64,
    pub(crate) prefix: Vec<Timing>,
}

pub(crate) fn document(machine: &str, rounds: usize, tables: &[Table]) -> String {
    let mut text = String::from(
        "# Performance\n\nMade by `cargo build --release && cargo run --release --no-default-features --example speed > docs/PERFORMANCE.md`.\n\n",
    );
    let all = |table: &Table| -> Vec<u64> {
        let timings = table.whole.iter().chain(&table.prefix);
        timings.map(|timing| timing.touch_ps).collect()
    };
    let prices: Vec<u64> = tables.iter().flat_map(all).collect();
    let in_ns = |price: Option<&u64>| price.map_or(0.0, |&ps| ps as f64 / 1e3);
    let (cheapest, dearest) = (in_ns(prices.iter().min()), in_ns(prices.iter().max()));
    let _ = writeln!(
        text,
        "Whole processes, all metrics, no per-packet output but where it is named, files in the page cache; medians of {rounds} rounds in each of which every\n\
         command of every table ran once (tshark in three of them). Captures are generated from a seed. Before each run another process touches as much memory as the command takes and some more: where the machine is a guest, its host takes back what is free, and whoever touches it next waits for it (here {cheapest:.2} to {dearest:.2} ns a byte, medians of the commands). *CPU* is user and system time of all threads: on a busy machine the number to\n\
         go by. *Memory* is the largest resident set, which counts pages of mapped files and of shared libraries.\n\nMachine: {machine}.\n"
    );
    text.push_str(&goals::section(tables));
    for table in tables {
        one(&mut text, table);
    }
    text
}

pub(crate) fn find<'a>(timings: &'a [Timing], name: &str) -> Option<&'a Timing> {
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
    rows(text, &table.whole, table.records, CAT);
    if !table.prefix.is_empty() {
        let _ = writeln!(
            text,
            "\nThe first {} packets:\n",
            thousands(table.prefix_records)
        );
        rows(text, &table.prefix, table.prefix_records, ONE_THREAD);
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
