//! The link's rate from one capture (METRICS.md R8), at every vantage point.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ccanalyze::Analysis;
use ccanalyze::analyze::{Config, Flow, LinkRates};

use crate::truth::{self, Link};

/// Where a capture was taken, in the order of the path.
const PLACES: [&str; 4] = ["sender", "ingress", "egress", "receiver"];

/// What captures of one place show.
#[derive(Default)]
struct Place {
    /// By capture: what it shows, over the true rate; `None` where it shows nothing.
    captures: Vec<Option<f64>>,
    /// The same by flow with at least 100,000 bytes.
    flows: Vec<Option<f64>>,
}

impl Place {
    fn merge(&mut self, other: &Self) {
        self.captures.extend(&other.captures);
        self.flows.extend(&other.flows);
    }
}

/// The section of the document.
pub(crate) fn section(shared: &Path) -> Result<String, String> {
    let mut text = INTRODUCTION.to_owned();
    let mut rows = String::new();
    let mut totals: BTreeMap<(&str, usize), Place> = BTreeMap::new();
    for link in truth::links(shared)? {
        let kind = link.name.split('/').next().unwrap_or_default();
        let kind = if kind == "lab" { "lab" } else { "ns-3" };
        let mut cells = Vec::new();
        for (index, word) in PLACES.iter().enumerate() {
            let place = measure(&link, word)?;
            cells.push(cell(&place));
            totals.entry((kind, index)).or_default().merge(&place);
        }
        let mbps = link.rate_bps / 1e6;
        let _ = writeln!(rows, "| `{}` | {mbps} | {} |", link.name, cells.join(" | "));
    }
    for ((kind, index), place) in &totals {
        let _ = writeln!(
            text,
            "| {kind} | {} | {} | {} |",
            PLACES[*index],
            summary(&place.captures),
            summary(&place.flows)
        );
    }
    text.push_str(BY_SCENARIO);
    text.push_str(&rows);
    text.push('\n');
    Ok(text)
}

fn measure(link: &Link, word: &str) -> Result<Place, String> {
    let mut place = Place::default();
    let config = Config::default();
    for capture in captures(&link.folder, word)? {
        let analysis = Analysis::of([&capture], &config);
        let capture = &analysis.captures[0];
        let flows: Vec<Flow<'_>> = capture.flows().collect();
        let rates = LinkRates::of(&flows, capture.main_way(), capture.bin_ns);
        let is_down = |sender: std::net::IpAddr| link.senders.contains(&sender);
        // What goes back passes another link.
        let shared = rates.shared.map(|place| flows[place]);
        let shared_bps = shared
            .filter(|flow| is_down(flow.ends().0.ip()))
            .and_then(|_| rates.shared_bps(capture.delivered_most().bps_at_least));
        let flows = flows.iter().zip(rates.flows_bps);
        let flows: Vec<Option<f64>> = flows
            .filter(|(flow, _)| is_down(flow.ends().0.ip()))
            .filter(|(flow, _)| flow.payload_bytes() >= 100_000)
            .map(|(_, bps)| bps.map(|bps| bps / link.rate_bps))
            .collect();
        if flows.is_empty() {
            continue;
        }
        place
            .captures
            .push(shared_bps.map(|bps| bps / link.rate_bps));
        place.flows.extend(flows);
    }
    Ok(place)
}

/// The captures of one place: one, or one for each host.
fn captures(folder: &Path, word: &str) -> Result<Vec<PathBuf>, String> {
    let word = match word {
        "receiver" if folder.join("client.pcap.zst").exists() => "client",
        word => word,
    };
    let failed = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = name
            .strip_prefix(word)
            .and_then(|rest| rest.strip_suffix(".pcap.zst"));
        if number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The error of the worst capture, and how many show nothing.
fn cell(place: &Place) -> String {
    let errors = place
        .captures
        .iter()
        .flatten()
        .map(|ratio| 100.0 * (ratio - 1.0));
    let worst = errors.max_by(|one, other| one.abs().total_cmp(&other.abs()));
    let none = place
        .captures
        .iter()
        .filter(|ratio| ratio.is_none())
        .count();
    match (worst, none) {
        (None, 0) => "-".into(),
        (None, _) => "none".into(),
        (Some(worst), 0) => format!("{worst:+.1} %"),
        (Some(worst), none) => format!("{worst:+.1} %, {none} none"),
    }
}

/// Number, with a value, within 3 %, mean error of those with a value.
fn summary(ratios: &[Option<f64>]) -> String {
    let errors: Vec<f64> = ratios
        .iter()
        .flatten()
        .map(|ratio| (ratio - 1.0).abs())
        .collect();
    let near = errors.iter().filter(|&&error| error <= 0.03).count();
    let mut sorted = errors.clone();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted
        .get(sorted.len() / 2)
        .map_or("-".into(), |middle| format!("{:.2} %", 100.0 * middle));
    let worst = sorted
        .last()
        .map_or("-".into(), |worst| format!("{:.1} %", 100.0 * worst));
    format!(
        "{} | {} | {near} | {middle} | {worst}",
        ratios.len(),
        errors.len()
    )
}

const INTRODUCTION: &str = "
## The link's rate from one capture

The estimate R8 of METRICS.md, from the dispersion of packets in a single capture, beside the rate that the link was set to, at every vantage
point: *sender* and *ingress* are before the link, *egress* and *receiver* behind it. Scenarios whose rate changes are left out, and flows with
less than 100,000 bytes. *shown*: how many have a value; *near*: how many of these are within 3 %; *middle* and *worst* error of those that have one.

| | vantage point | captures | shown | near | middle | worst | flows | shown | near | middle | worst |
| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
";

const BY_SCENARIO: &str = "
Without a value: ACKs that waited for a slow link of their own (`s7-ack-congestion`) or came together with data of the other way (`s7-bidir` before
the link; behind it most payload goes that way, so the capture's link is that of it, 10 Mbit/s), where
receive offload at the receiver makes one ACK of many (`s8-gro-client`), and flows whose packets always had others between. Wrong: a capture at one
sender of several, all of whose packets alternate with those of the others (`c10-fqcodel-3flows`): from there it looks like half the rate.

By scenario, the error of the capture (of several at that place the worst; how many show nothing):

| scenario | Mbit/s | sender | ingress | egress | receiver |
| --- | --: | --: | --: | --: | --: |
";
