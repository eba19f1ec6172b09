//! `ccanalyze` against connections whose every packet is accounted for (`testdata/suite/README.md`).

#[path = "truth_suite/random_paths.rs"]
mod random_paths;
mod suite;

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Flow, Watch};
use ccanalyze::capture::CaptureSource;
use ccanalyze::event::{Class, RttLabel};
use suite::parse::time;
use suite::play::{Played, play};
use suite::script::{Host, Script, VANTAGES};
use suite::truth::{FIELDS, flows, truth};
use suite::wire::{pcap, port};

/// One answer beside the truth.
struct Row {
    place: String,
    field: &'static str,
    truth: String,
    ours: String,
    right: bool,
    known_wrong: Option<String>,
}

#[test]
fn every_answer_is_true() {
    let folder = Path::new("testdata/suite");
    let scripts = suite::load(folder).expect("the traces are well-formed");
    let mut broken = Vec::new();
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    for script in &scripts {
        match play(script) {
            Ok(played) => cases.push((script, played)),
            Err(error) => broken.push(format!("{}: {error}", script.name)),
        }
    }
    for (script, played) in &cases {
        check(script, played, &mut rows, &mut broken);
        twins(script, played, &cases, &mut broken);
    }
    let wrong = rows
        .iter()
        .filter(|row| row.right == row.known_wrong.is_some())
        .count();
    let known = rows.iter().filter(|row| row.known_wrong.is_some()).count();
    assert!(
        broken.is_empty() && wrong == 0,
        "{wrong} of {} answers are wrong or no longer known to be wrong:\n{}\n{}",
        rows.len(),
        table(&rows),
        broken.join("\n"),
    );
    assert!(
        rows.len() > 1000,
        "only {} answers, {known} known to be wrong",
        rows.len()
    );
}

/// What is said to be undecided is: another history gives the same packets, and another truth.
fn twins(script: &Script, played: &Played, cases: &[(&Script, Played)], broken: &mut Vec<String>) {
    for undecided in &script.undecided {
        let (vantage, flow) = (undecided.vantage, undecided.flow);
        let of = |script: &Script, played: &Played| {
            let place = FIELDS.iter().position(|&field| field == undecided.field);
            place.map(|place| truth(script, played, vantage, flow).swap_remove(place))
        };
        let here = of(script, played);
        let Some(twin) = &undecided.twin else {
            continue;
        };
        let Some((other, other_played)) = cases.iter().find(|(script, _)| script.name == *twin)
        else {
            broken.push(format!("{}: there is no case {twin}", script.name));
            continue;
        };
        let name = format!("{} {} and {twin}", script.name, VANTAGES[vantage]);
        if pcap(script, played, vantage) != pcap(other, other_played, vantage) {
            broken.push(format!("{name}: the packets are not the same"));
        }
        if of(other, other_played) == here {
            broken.push(format!("{name}: {} is the same", undecided.field));
        }
    }
}

fn check(script: &Script, played: &Played, rows: &mut Vec<Row>, broken: &mut Vec<String>) {
    let mut hand_written = 0;
    let mut marked = 0;
    let mut undecided = 0;
    for (vantage, vantage_name) in VANTAGES.iter().enumerate() {
        let analysis = analyze(&script.name, pcap(script, played, vantage));
        let found: Vec<Flow<'_>> = analysis.flows().collect();
        let flows = flows(script, played, vantage);
        if found.len() != flows.len() || analysis.error().is_some() {
            broken.push(format!(
                "{} {vantage_name}: {} flows instead of {}",
                script.name,
                found.len(),
                flows.len()
            ));
        }
        for &flow in &flows {
            let name = format!("{} {vantage_name} {:?}{}", script.name, flow.1, flow.0);
            let found = of_flow(&found, flow);
            let truth = truth(script, played, vantage, flow);
            for (field, derived) in FIELDS.iter().zip(truth) {
                let is_here = |at: usize, of: (usize, Host), name: &str| {
                    at == vantage && of == flow && name == *field
                };
                let mut truth = derived.clone();
                for hand in &script.expected {
                    if is_here(hand.vantage, hand.flow, &hand.field) {
                        hand_written += 1;
                        // Two answers are not derived: they are as written.
                        if matches!(*field, "clean_rtt" | "ambiguous") {
                            truth.clone_from(&hand.value);
                        } else if hand.value != derived {
                            broken.push(format!(
                                "{name}: {field} is {derived} as played, {} as written",
                                hand.value
                            ));
                        }
                    }
                }
                for open in &script.undecided {
                    if is_here(open.vantage, open.flow, &open.field) {
                        undecided += 1;
                        if truth == open.value {
                            broken.push(format!("{name}: {field} is {truth} anyway"));
                        }
                        truth.clone_from(&open.value);
                    }
                }
                let ours = found.map_or_else(String::new, |flow| ours(flow, field));
                let known = script
                    .known_wrong
                    .iter()
                    .find(|known| is_here(known.vantage, known.flow, &known.field));
                marked += usize::from(known.is_some());
                rows.push(Row {
                    place: name.clone(),
                    field,
                    right: agrees(field, &truth, &ours),
                    truth,
                    ours,
                    known_wrong: known.map(|known| known.reason.clone()),
                });
            }
        }
    }
    if hand_written < script.expected.len()
        || marked < script.known_wrong.len()
        || undecided < script.undecided.len()
    {
        broken.push(format!(
            "{}: an answer is expected of no flow or field",
            script.name
        ));
    }
}

/// The flow of the analysis that is one of the played: by its connection and its sender's port.
fn of_flow<'a>(found: &'a [Flow<'a>], (incarnation, host): (usize, Host)) -> Option<&'a Flow<'a>> {
    let mut connections: Vec<u64> = found.iter().map(|flow| flow.connection_id).collect();
    connections.dedup();
    let connection = *connections.get(incarnation)?;
    found
        .iter()
        .find(|flow| flow.connection_id == connection && flow.ends().0.port() == port(host))
}

fn analyze(name: &str, bytes: Vec<u8>) -> CaptureAnalysis {
    let input = CaptureInput {
        name: name.to_owned(),
        sources: vec![CaptureSource::Reader {
            name: name.to_owned(),
            reader: Box::new(Cursor::new(bytes)),
        }],
    };
    let config = Config {
        segments: true,
        threads: Some(1),
        ..Config::default()
    };
    let mut analysis = Analysis::run(vec![input], &config, &Watch::default());
    analysis.captures.remove(0)
}

fn ours(flow: &Flow<'_>, field: &str) -> String {
    let summary = flow.summary();
    let state = flow.state();
    let count = match field {
        "retransmitted" => summary.incidents().retransmitted_packets,
        "reordered" => summary.incidents().reordered_packets,
        "duplicates" => summary.incidents().duplicate_packets,
        "ambiguous" => summary.incidents().ambiguous_packets,
        "unneeded" => summary.incidents().rtx_unneeded,
        "lost_upstream" => flow.lost_upstream(),
        "lost_downstream" => summary.incidents().lost_downstream,
        "reordered_at_receiver" => summary.incidents().reordered_at_receiver,
        "keepalives" => summary.incidents().keepalives,
        "window_probes" => summary.incidents().window_probes,
        "dsacks" => summary.incidents().dsacks,
        "zero_windows" => summary.incidents().zero_windows,
        "ce_marks" => summary.incidents().ce_marks,
        "ece_echoes" => summary.incidents().ece_echoes,
        "unique_bytes" => state.unique_bytes,
        "unseen_bytes" => state.unseen_bytes.unwrap_or(0),
        "rows_new" => {
            let rows = flow.record.segments().iter();
            rows.filter(|row| row.verdict.class == Class::New).count() as u64
        }
        "acked_bytes" => match state.acked_bytes {
            Some(bytes) => bytes,
            None => return "none".to_owned(),
        },
        "clean_rtt" => return clean_rtt(flow),
        _ => panic!("no such field: {field}"),
    };
    count.to_string()
}

fn clean_rtt(flow: &Flow<'_>) -> String {
    let clean = flow
        .record
        .segments()
        .iter()
        .filter_map(|row| match row.rtt {
            Some((ns, RttLabel::Clean)) => Some(ns),
            _ => None,
        });
    let (low, high) = clean.fold((i64::MAX, i64::MIN), |(low, high), ns| {
        (low.min(ns), high.max(ns))
    });
    if low > high {
        return "none".to_owned();
    }
    format!("{}us..{}us", low as f64 / 1e3, high as f64 / 1e3)
}

/// Whether an answer is true. A span of round-trip times must lie within the true one; where only
/// one is written, all must be as long. `0..2` allows some.
fn agrees(field: &str, truth: &str, ours: &str) -> bool {
    let span = |text: &str| {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        if field == "clean_rtt" {
            Some((time(low).ok()?, time(high).ok()?))
        } else {
            Some((low.parse().ok()?, high.parse().ok()?))
        }
    };
    match (span(truth), span(ours)) {
        (Some((low, high)), Some((min, max))) => low <= min && max <= high,
        _ => truth == ours,
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows
        .iter()
        .filter(|row| !row.right || row.known_wrong.is_some())
    {
        let state = match (row.right, &row.known_wrong) {
            (false, None) => "WRONG".to_owned(),
            (true, Some(reason)) => format!("RIGHT NOW, marked: {reason}"),
            (_, reason) => format!("known: {}", reason.as_deref().unwrap_or_default()),
        };
        let _ = writeln!(
            text,
            "{:48} {:22} truth {:>12} ours {:>12} {state}",
            row.place, row.field, row.truth, row.ours
        );
    }
    text
}
