//! The report `series` of each flow of a run (METRICS.md Y8).

use std::fs;
use std::path::Path;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Cells, ReportTable, StudyPlan, StudyResults};

use super::cli::run;
use super::study_windows::{folder_with, long_and_short};

/// The flows of [`long_and_short`] by their ports.
const MANIFEST: &str = r#"
[study]
group_by = ["cca"]
report = "series"
[reports.series]
of = "flows"
[[runs]]
files = "{run}.pcap"
[[runs.flows]]
label = "cca"
by = "client"
values = { 1001 = "long", 1002 = "short" }
"#;

fn carried_out(folder: &Path, manifest: &str, cache: Option<&Path>) -> StudyResults {
    fs::write(folder.join("s.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.join("s.toml")).unwrap();
    plan.carry_out(cache, &Watch::default())
}

fn report<'r>(results: &'r StudyResults, name: &str) -> &'r ReportTable {
    let mut reports = results.reports.iter();
    reports.find(|report| report.name == name).unwrap()
}

fn words(report: &ReportTable, name: &str) -> Vec<String> {
    let column = report.columns.iter().find(|column| column.name == name);
    match &column.unwrap().cells {
        Cells::Text(cells) => cells.iter().map(|cell| cell.clone().unwrap()).collect(),
        Cells::Real(cells) => cells.iter().map(|cell| cell.unwrap().to_string()).collect(),
        Cells::Count(cells) => cells.iter().map(|cell| cell.unwrap().to_string()).collect(),
    }
}

fn numbers(report: &ReportTable, name: &str) -> Vec<f64> {
    let numbers = words(report, name);
    numbers.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn each_flow_has_the_steps_in_which_it_did_something() {
    let folder = folder_with(long_and_short());
    let results = carried_out(folder.path(), MANIFEST, None);
    let series = report(&results, "series");
    let variants = words(series, "cca");
    // Packets of 1000 bytes, of the long flow every 10 ms from 1 s to 5 s, of the short one every 20 ms from 2 s to 3 s,
    // and the first record is the first packet: steps of 0.2 s that lie within its time are 20, and 5.
    let of = |variant: &str| variants.iter().filter(|of| *of == variant).count();
    assert_eq!((of("long"), of("short")), (20, 5));
    assert_eq!(
        words(series, "flow"),
        [vec!["1"; 20], vec!["2"; 5]].concat()
    );
    // By the same clock, so that flows of a run are beside each other.
    let times = words(series, "time_s");
    assert_eq!([&times[0], &times[19]], ["0", "3.8"]);
    assert_eq!([&times[20], &times[24]], ["1", "1.8"]);
    // 20 ACKs of 1000 bytes in each step, of the short one 10.
    let goodputs = numbers(series, "goodput_mbps");
    assert_eq!(goodputs, [vec![0.8; 20], vec![0.4; 5]].concat());
    assert_eq!(numbers(series, "delay_ms"), vec![5.0; 25]);
    let boxes = report(&results, "series-boxes");
    assert_eq!(words(boxes, "cca"), ["long", "short", "long", "short"]);
    assert_eq!(words(boxes, "runs"), ["1"; 4]);
    assert_eq!(words(boxes, "n"), ["20", "5", "20", "5"]);
    let anova = report(&results, "series-anova");
    assert_eq!(words(anova, "df")[..3], ["1", "23", "24"]);
}

#[test]
fn in_a_window_a_flow_has_no_steps_from_before_or_after_its_time() {
    let folder = folder_with(long_and_short());
    let manifest = MANIFEST.replace("[[runs]]\n", "[[runs]]\nwindow = \"skip 0.4s\"\n");
    let results = carried_out(folder.path(), &manifest, None);
    let variants = words(report(&results, "series"), "cca");
    let of = |variant: &str| variants.iter().filter(|of| *of == variant).count();
    // Of the 20 steps of the long one the window leaves out two, and of the short one none.
    assert_eq!((of("long"), of("short")), (18, 5));
}

#[test]
fn flows_of_one_run_are_one_run_however_many_there_are() {
    let folder = folder_with(long_and_short());
    let manifest = MANIFEST.replace("\"short\"", "\"long\"");
    let results = carried_out(folder.path(), &manifest, None);
    let boxes = report(&results, "series-boxes");
    let [runs, n] = ["runs", "n"].map(|name| words(boxes, name)[0].clone());
    assert_eq!((runs.as_str(), n.as_str()), ("1", "25"));
}

#[test]
fn runs_as_a_whole_have_no_column_of_flows() {
    let folder = folder_with(long_and_short());
    let manifest = MANIFEST.replace("of = \"flows\"", "of = \"runs\"");
    let results = carried_out(folder.path(), &manifest, None);
    let series = report(&results, "series");
    assert!(series.columns.iter().all(|column| column.name != "flow"));
    assert_eq!(words(series, "cca"), ["long+short"; 20]);
}

#[test]
fn pings_of_a_flow_are_those_between_its_hosts() {
    let mut wire = long_and_short();
    // From the sender of the long flow to its receiver or the other way, and from that to somebody else: in every step
    // one of each.
    for step in 0..20 {
        let at_ns = (1050 + 200 * u64::from(step)) * 1_000_000;
        let ends = if step % 2 == 0 { [1, 3] } else { [3, 1] };
        wire.ping(at_ns, ends, step, 7_000_000);
        wire.ping(at_ns + 1_000_000, [3, 4], step, 50_000_000);
    }
    let folder = folder_with(wire);
    let results = carried_out(folder.path(), MANIFEST, None);
    let series = report(&results, "series");
    // The short flow, of other hosts, has none.
    let of = words(series, "delay");
    assert_eq!(of, [vec!["ping_ms"; 20], vec!["rtt_ms"; 5]].concat());
    let delays = numbers(series, "delay_ms");
    assert_eq!(delays, [vec![7.0; 20], vec![5.0; 5]].concat());
}

#[test]
fn flows_that_are_kept_are_what_they_were() {
    let folder = folder_with(long_and_short());
    let cache = folder.path().join("cache");
    let both = [0, 1].map(|kept| {
        let results = carried_out(folder.path(), MANIFEST, Some(&cache));
        assert_eq!(results.cached, kept);
        results.reports
    });
    assert_eq!(both[0], both[1]);
    // What was kept of whole runs has no flows over time.
    let whole = MANIFEST.replace("of = \"flows\"", "of = \"runs\"");
    assert_eq!(carried_out(folder.path(), &whole, Some(&cache)).cached, 0);
    assert_eq!(carried_out(folder.path(), MANIFEST, Some(&cache)).cached, 0);
}

#[test]
fn what_is_followed_is_runs_or_flows() {
    let folder = folder_with(long_and_short());
    let manifest = MANIFEST.replace("\"flows\"", "\"flow\"");
    fs::write(folder.path().join("s.toml"), manifest).unwrap();
    let output = run(folder.path(), &["study", "s.toml", "--out", "s"]);
    assert_eq!(output.status, 2);
    let said = "s.toml:6: 'of' cannot be 'flow'; did you mean 'flows'?";
    assert!(output.stderr.contains(said), "{}", output.stderr);
}

#[test]
fn what_is_followed_is_one_thing() {
    let folder = folder_with(long_and_short());
    let manifest = MANIFEST.replace("\"flows\"", "[\"flows\", \"runs\"]");
    fs::write(folder.path().join("s.toml"), manifest).unwrap();
    let output = run(folder.path(), &["study", "s.toml", "--out", "s"]);
    assert_eq!(output.status, 2);
    let said = "s.toml:6: 'of' in [reports.series] is one value and no list";
    assert!(output.stderr.contains(said), "{}", output.stderr);
}
