//! A testbed that others tapped before and after its bottleneck, against the tables they made.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ccanalyze::path::{Heading, Hop, PathAnalysis, PathConfig, Point};

use crate::limits::{forward, part};
use crate::truth::{csv, number};

/// A value in a 200 ms interval of the authors' tables, by flow and interval.
type Table = BTreeMap<(usize, i64), f64>;

/// A section of the document; empty where the captures are missing.
pub(crate) fn section(shared: &Path) -> Result<String, String> {
    let captures = shared.join("corpus/bbrv2-behaviour-analysis");
    let tables = shared.join("corpus/studies/bbrv2-behaviour-analysis");
    if !captures.is_dir() || !tables.is_dir() {
        return Ok(String::new());
    }
    let points = ["s1", "s3"]
        .map(|point| captures.join(format!("{RUN}__{point}.pcap.gz")))
        .map(Point::file);
    let config = PathConfig {
        packets: true,
        ..PathConfig::default()
    };
    let analysis = PathAnalysis::of(&points, &config).map_err(|error| error.to_string())?;
    let hop = &analysis.hops[0];
    let numbers = numbers(hop);
    let (mut sent, mut arrived, mut delays) = (Table::new(), Table::new(), Table::new());
    let mut counts = Table::new();
    for packet in forward(hop) {
        let flow = numbers[packet.flow as usize];
        let interval = |at: i64| (flow, (at - hop.origin_ns).div_euclid(INTERVAL_NS));
        let bps = f64::from(packet.ip_len) * 8e9 / INTERVAL_NS as f64;
        *sent.entry(interval(packet.at_ns)).or_default() += bps;
        if let Some(delay) = packet.delay_ns {
            let left = interval(packet.at_ns + delay);
            *arrived.entry(left).or_default() += bps;
            *delays.entry(left).or_default() += delay as f64;
            *counts.entry(left).or_default() += 1.0;
        }
    }
    for (place, delay) in &mut delays {
        *delay /= counts[place];
    }
    let table = |name: &str| {
        let path = tables.join(format!("{RUN}__csv_data__{name}.csv.gz"));
        table(&path, hop)
    };
    let mut text = INTRODUCTION.to_owned();
    for (what, ours, theirs) in [
        ("sending rate, at s1", &sent, table("sending_rate")?),
        ("throughput, at s3", &arrived, table("throughput")?),
    ] {
        rates(&mut text, what, ours, &theirs);
    }
    round_trips(&mut text, &delays, &table("avg_rtt")?);
    Ok(text)
}

/// Numbers of the flows in the order they began; the way back has none of its own.
fn numbers(hop: &Hop) -> Vec<usize> {
    let mut numbers = vec![0; hop.flows.len()];
    let order = hop.flows_in_order();
    let ahead = order.iter().filter(|flow| flow.heading == Heading::Forward);
    for (number, flow) in ahead.enumerate() {
        let at = hop
            .flows
            .iter()
            .flatten()
            .position(|one| one.key == flow.key);
        if let Some(place) = at.and_then(|at| numbers.get_mut(at)) {
            *place = number;
        }
    }
    numbers
}

/// Pairs of columns: the interval's end in seconds, and a value.
fn table(path: &Path, hop: &Hop) -> Result<Table, String> {
    let mut table = Table::new();
    for row in csv(path)? {
        let cells: Vec<&str> = row.iter().flat_map(|row| row.split(';')).collect();
        for (flow, pair) in cells.chunks_exact(2).take(FLOWS).enumerate() {
            if pair.iter().any(|cell| cell.is_empty()) {
                continue;
            }
            let end = (number::<f64>(pair[0])? * 1e9).round() as i64;
            let interval = (end - hop.origin_ns + INTERVAL_NS / 2) / INTERVAL_NS - 1;
            table.insert((flow, interval), number(pair[1])?);
        }
    }
    Ok(table)
}

fn rates(text: &mut String, what: &str, ours: &Table, theirs: &Table) {
    let sum = |table: &Table, flow: usize| {
        let of_flow = theirs.keys().filter(|place| place.0 == flow);
        of_flow
            .map(|place| table.get(place).copied().unwrap_or(0.0))
            .sum::<f64>()
    };
    for (flow, algorithm) in ALGORITHMS.iter().enumerate() {
        let intervals = theirs.keys().filter(|place| place.0 == flow).count();
        let same = theirs.iter().filter(|(place, value)| {
            let ours = ours.get(place).copied().unwrap_or(0.0);
            place.0 == flow && (ours - **value).abs() <= PACKET_BPS * 1.01
        });
        let (ours, theirs) = (sum(ours, flow), sum(theirs, flow));
        let _ = writeln!(
            text,
            "| {what} | {} | {:.4} Mbit/s | {:.4} Mbit/s | {} of {intervals} within a packet |",
            algorithm,
            theirs / intervals as f64 / 1e6,
            ours / intervals as f64 / 1e6,
            same.count()
        );
    }
}

/// The round trip at s1 is the way to s3, and what lies behind it: 40 ms and the ACK's way.
fn round_trips(text: &mut String, delays: &Table, theirs: &Table) {
    for (flow, algorithm) in ALGORITHMS.iter().enumerate() {
        let both: Vec<(f64, f64)> = theirs
            .iter()
            .filter(|(place, _)| place.0 == flow)
            // An ACK comes back 40 ms after its packet left.
            .filter_map(|(place, rtt)| Some((*delays.get(place)? / 1e6, *rtt)))
            .collect();
        let mean =
            |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / both.len() as f64;
        let rests: Vec<i64> = both
            .iter()
            .map(|(delay, rtt)| ((rtt - delay) * 1e6) as i64)
            .collect();
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|at| part(rests.clone(), at) as f64 / 1e6);
        let _ = writeln!(
            text,
            "| round trip at s1 less delay from s1 to s3 | {} | {:.3} ms | less {:.3} ms | {middle:.3} ms; 90 % within {low:.3} and {high:.3} |",
            algorithm,
            mean(|both| both.1),
            mean(|both| both.0),
        );
    }
}

const RUN: &str = "1121_143647_example_bbrv2";
const ALGORITHMS: [&str; FLOWS] = ["reno", "cubic", "bbr"];
const FLOWS: usize = 3;
const INTERVAL_NS: i64 = 200_000_000;
/// A packet of 1500 bytes in an interval.
const PACKET_BPS: f64 = 60_000.0;

const INTRODUCTION: &str = "
## A testbed of others

`../shared/corpus/bbrv2-behaviour-analysis`: three downloads over a bottleneck of 10 Mbit/s with 40 ms, tapped before (s1) and after it (s3), and
the tables that the authors made of these captures, in intervals of 200 ms.

| what | flow | theirs | ours | |
| --- | --- | --: | --: | --- |
";
