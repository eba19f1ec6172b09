//! `[[measured]]`: runs that come as tables, alone and beside captures.

use std::fs;
use std::path::Path;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Metric, SampleKind, StudyPlan, StudyResults, StudyRun};

use super::published::{column, numbers, report};
use super::support::{capture, close};

/// A folder with these files and a manifest.
pub(super) fn folder_with(files: &[(&str, &str)], manifest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    folder
}

pub(super) fn carried_out(folder: &Path) -> StudyResults {
    let plan = StudyPlan::read(&folder.join("study.toml")).unwrap_or_else(|e| panic!("{e}"));
    plan.carry_out(None, &Watch::default())
}

#[track_caller]
pub(super) fn mistakes(folder: &Path) -> String {
    StudyPlan::read(&folder.join("study.toml"))
        .unwrap_err()
        .to_string()
}

#[track_caller]
pub(super) fn run<'a>(results: &'a StudyResults, name: &str) -> &'a StudyRun {
    let found = results.runs.iter().find(|run| run.name == name);
    found.unwrap_or_else(|| {
        let names: Vec<&str> = results.runs.iter().map(|run| run.name.as_str()).collect();
        panic!("{name} is none of {names:?}")
    })
}

const RUNS: &str = "\
algo,rate,goodput_mbps,loss_percent,rtt
cubic,10,9.5,1.5,20
cubic,10,8.5,,30
bbr,10,9.9,0.5,25
";

const MANIFEST: &str = r#"
[study]
group_by = ["cca", "rate"]
baseline = { cca = "cubic" }

[labels.rate]
unit = "Mbit"

[[measured]]
files = "runs.csv"
columns = { cca = "algo", rate = "rate" }
[measured.metrics]
goodput_bps = "goodput_mbps"
retransmission_rate = "loss_percent"
rtt_ns_mean = { column = "rtt", unit = "ms" }
[measured.conditions]
capacity = "{rate}Mbit"
"#;

#[test]
fn a_row_is_a_run_in_the_units_of_the_tables_and_an_empty_cell_is_null() {
    let folder = folder_with(&[("runs.csv", RUNS)], MANIFEST);
    let results = carried_out(folder.path());
    assert_eq!(results.runs.len(), 3);
    let first = run(&results, "runs.csv:2");
    assert_eq!(first.values.get(Metric::GoodputBps), Some(9.5e6));
    assert_eq!(first.values.get(Metric::RttNsMean), Some(20e6));
    close(
        first.values.get(Metric::RetransmissionRate).unwrap(),
        0.015,
        1e-12,
    );
    // Goodput over the capacity that the conditions give.
    assert_eq!(first.values.get(Metric::Utilisation), Some(0.95));
    assert_eq!(first.values.get(Metric::Jain), None);
    let second = run(&results, "runs.csv:3");
    assert_eq!(second.values.get(Metric::RetransmissionRate), None);
    let group = results.groups.iter().find(|group| {
        group.metric == Metric::GoodputBps && group.key[0].as_ref().unwrap().text() == "bbr"
    });
    // 9.9 against the mean of 9.5 and 8.5.
    close(group.unwrap().change_percent.unwrap(), 10.0, 1e-12);
}

#[test]
fn captures_and_tables_are_in_one_group() {
    let manifest = format!(
        "{MANIFEST}\n[[runs]]\nfiles = \"{{cca}}_{{rate}}_{{run}}.pcap\"\n[runs.conditions]\ncapacity = \"{{rate}}\"\n"
    );
    let folder = folder_with(&[("runs.csv", RUNS)], &manifest);
    fs::copy(
        capture("drop-one.pcap"),
        folder.path().join("cubic_10m_1.pcap"),
    )
    .unwrap();
    let results = carried_out(folder.path());
    let captured = run(&results, "cubic_10m_1.pcap")
        .values
        .get(Metric::GoodputBps);
    let group = results.groups.iter().find(|group| {
        group.metric == Metric::GoodputBps
            && group.kind == SampleKind::Run
            && group.key[0].as_ref().unwrap().text() == "cubic"
    });
    let statistics = group.unwrap().statistics;
    assert_eq!(statistics.n, 3);
    close(
        statistics.mean,
        (9.5e6 + 8.5e6 + captured.unwrap()) / 3.0,
        1e-12,
    );
}

/// Tables of one study may be runs of the next: columns called as the metrics are in their units.
#[test]
fn a_parquet_table_of_a_study_is_runs_of_another() {
    let folder = folder_with(&[("runs.csv", RUNS)], MANIFEST);
    let first = carried_out(folder.path());
    let found = super::cli::run(folder.path(), &["study", "study.toml", "--out", "out"]);
    assert_eq!(found.status, 0);
    let again = r#"
[[measured]]
files = "out/runs.parquet"
columns = { cca = "cca", rate = "rate_mbps" }
[measured.metrics]
goodput_bps = "goodput_bps"
rtt_ns_mean = "rtt_ns_mean"
utilisation = "utilisation"
"#;
    fs::write(folder.path().join("study.toml"), again).unwrap();
    let second = carried_out(folder.path());
    for (row, run_before) in first.runs.iter().enumerate() {
        let run_again = run(&second, &format!("out/runs.parquet#{}", row + 1));
        for metric in [Metric::GoodputBps, Metric::RttNsMean, Metric::Utilisation] {
            assert_eq!(run_again.values.get(metric), run_before.values.get(metric));
        }
        let cca = |run: &StudyRun| {
            run.labels
                .iter()
                .flatten()
                .any(|value| value.text() == "bbr")
        };
        assert_eq!(cca(run_again), cca(run_before));
    }
}

#[test]
fn every_mistake_in_a_measured_section_is_said_with_its_line() {
    let lines: Vec<&str> = MANIFEST.lines().collect();
    for (line, text, said) in [
        (
            10,
            "files = \"run.csv\"",
            "there is no such file; did you mean 'runs.csv'?",
        ),
        (10, "files = \"{cca}_*.csv\"", "matches no file"),
        (
            11,
            "columns = { cca = \"alg\" }",
            "runs.csv: there is no column 'alg'; did you mean 'algo'?",
        ),
        (
            11,
            "rows = \"run\"",
            "rows cannot be 'run'; did you mean 'runs'?",
        ),
        (
            11,
            "colums = { cca = \"algo\" }",
            "unknown key 'colums' in [[measured]]; did you mean 'columns'?",
        ),
        (
            13,
            "goodput_bps = \"goodput\"",
            "there is no column 'goodput'; did you mean 'goodput_mbps'?",
        ),
        (
            13,
            "goodput = \"goodput_mbps\"",
            "there is no metric 'goodput'; did you mean 'goodput_bps'?",
        ),
        (
            13,
            "goodput_bps = { column = \"goodput_mbps\", unit = \"ms\" }",
            "'ms' is no unit of a rate",
        ),
        (
            13,
            "goodput_bps = { column = \"goodput_mbps\", unit = \"furlong\" }",
            "'furlong' is no unit that is known",
        ),
        (
            13,
            "goodput_bps = { unit = \"Mbit\" }",
            "'goodput_bps' lacks 'column'",
        ),
        (
            13,
            "goodput_bps = \"algo\"",
            "column 'algo' is in no unit that is known: write goodput_bps = { column = \"algo\", unit = \"Mbit\" }",
        ),
        (
            13,
            "goodput_bps = { column = \"algo\", unit = \"Mbit\" }",
            "line 2: 'cubic' in column 'algo' is not a number",
        ),
        (
            14,
            "retransmission_rate = { column = \"loss_percent\", unit = \"Mbit\" }",
            "which is a ratio",
        ),
        (
            14,
            "retransmitted_packets = { column = \"rate\", unit = \"ms\" }",
            "a number of things",
        ),
        (
            15,
            "rtt_ns_mean = { column = \"rtt\", unit = \"ms\", points = 3 }",
            "it needs rows = \"points\"",
        ),
        (
            17,
            "capacity = \"{rate}s\"",
            "by its unit 'Mbit', and here its numbers are a time",
        ),
        (
            17,
            "capacity = \"{speed}\"",
            "there is no label 'speed' here",
        ),
        (
            9,
            "[[measured]]\nwindow = \"skip 1s\"",
            "'window' says nothing here: it needs rows = \"points\"",
        ),
    ] {
        let mut changed = lines.clone();
        changed[line - 1] = text;
        let folder = folder_with(&[("runs.csv", RUNS)], &changed.join("\n"));
        let found = mistakes(folder.path());
        let place = format!("study.toml:{}: ", line + text.matches('\n').count());
        let fits = found
            .lines()
            .any(|mistake| mistake.contains(&place) && mistake.contains(said));
        assert!(fits, "{place}{said} is not in\n{found}");
    }
}

#[test]
fn a_table_that_cannot_be_read_is_a_mistake_with_its_place() {
    let broken = format!("{RUNS}cubic,10\n");
    let folder = folder_with(&[("runs.csv", &broken)], MANIFEST);
    let found = mistakes(folder.path());
    assert!(
        found.contains("study.toml:10: ")
            && found.contains("runs.csv: line 5: this row has 2 cells, but the header has 5"),
        "{found}"
    );
}

#[test]
fn what_cannot_be_is_said_and_where_else_it_may_belong() {
    let failed = RUNS.replace("9.9", "-1");
    let folder = folder_with(&[("runs.csv", &failed)], MANIFEST);
    let found = mistakes(folder.path());
    assert!(
        found.contains("study.toml:13: runs.csv: line 4: a number below 0 in column 'goodput_mbps' is no 'goodput_bps'"),
        "{found}"
    );
    let folder = folder_with(&[("runs.csv", RUNS)], "[[runs]]\nfiles = \"runs.csv\"\n");
    let found = mistakes(folder.path());
    assert!(
        found.contains(
            "study.toml:2: runs.csv is a table and no capture: name it in a [[measured]] section"
        ),
        "{found}"
    );
    let measured = "[[measured]]\nfiles = \"a.pcap\"\nmetrics = { goodput_bps = \"x_mbps\" }\n";
    let folder = folder_with(&[], measured);
    fs::copy(capture("drop-one.pcap"), folder.path().join("a.pcap")).unwrap();
    let found = mistakes(folder.path());
    assert!(
        found.contains(
            "study.toml:2: a.pcap: is a capture and no table: name it in a [[runs]] section"
        ),
        "{found}"
    );
}

#[test]
fn rows_of_one_run_are_its_flows() {
    let table = "\
test,cca,bytes,sent,again,rtt_ms,buffer
1,cubic,1000,10,1,20,deep
1,bbr,3000,30,2,30,deep
2,cubic,2000,20,0,25,deep
";
    let manifest = r#"
[study]
group_by = ["cca", "buffer"]
[[measured]]
files = "flows.csv"
rows = "flows"
run = "test"
columns = { cca = "cca", buffer = "buffer" }
[measured.metrics]
acked_bytes = { column = "bytes", unit = "B" }
data_packets = "sent"
retransmitted_packets = "again"
rtt_ns_max = "rtt_ms"
"#;
    let folder = folder_with(&[("flows.csv", table)], manifest);
    let results = carried_out(folder.path());
    let pair = run(&results, "flows.csv [test=1]");
    let text = |place: usize| pair.labels[place].as_ref().unwrap().text();
    assert_eq!((text(0), text(1)), ("bbr+cubic", "deep"));
    assert_eq!(pair.flows.len(), 2);
    assert_eq!(pair.flows[1].labels[0].as_ref().unwrap().text(), "bbr");
    assert_eq!(pair.values.get(Metric::AckedBytes), Some(4000.0));
    assert_eq!(
        pair.values.get(Metric::RetransmissionRate),
        Some(3.0 / 40.0)
    );
    assert_eq!(pair.values.get(Metric::RttNsMax), Some(30e6));
    // When the flows began and ended the table does not say.
    assert_eq!(pair.values.get(Metric::GoodputBps), None);
    assert_eq!(pair.values.get(Metric::Flows), Some(2.0));
    let alone = run(&results, "flows.csv [test=2]");
    assert_eq!(alone.values.get(Metric::RttNsMax), Some(25e6));
}

#[test]
fn what_follows_from_counts_is_told_of_runs_of_one_flow_and_of_flows_too() {
    let table = "\
test,acked_bytes,ip_bytes,data_packets,again,overhead
1,1000,1050,10,1,
1,3000,3150,30,2,0.5
2,2000,2100,20,1,
3,2000,2100,,1,
";
    let manifest = r#"
[[measured]]
files = "flows.csv"
rows = "flows"
run = "test"
[measured.metrics]
acked_bytes = "acked_bytes"
ip_bytes = "ip_bytes"
data_packets = "data_packets"
retransmitted_packets = "again"
overhead = "overhead"
"#;
    let folder = folder_with(&[("flows.csv", table)], manifest);
    let results = carried_out(folder.path());
    let told = |values: &ccanalyze::study::Values| {
        [Metric::Overhead, Metric::RetransmissionRate].map(|metric| values.get(metric))
    };
    let of_counts = 2100.0 / 2000.0 - 1.0;
    let pair = run(&results, "flows.csv [test=1]");
    assert_eq!(told(&pair.values), [Some(of_counts), Some(0.075)]);
    assert_eq!(
        told(&pair.flows[0].measure.values),
        [Some(of_counts), Some(0.1)]
    );
    // What the table says stands.
    assert_eq!(
        told(&pair.flows[1].measure.values),
        [Some(0.5), Some(2.0 / 30.0)]
    );
    let alone = run(&results, "flows.csv [test=2]");
    assert_eq!(told(&alone.values), [Some(of_counts), Some(0.05)]);
    assert_eq!(told(&alone.flows[0].measure.values), told(&alone.values));
    let unknown = run(&results, "flows.csv [test=3]");
    assert_eq!(told(&unknown.values), [Some(of_counts), None]);
}

#[test]
fn seconds_are_known_by_the_end_of_a_columns_name() {
    let table = "completion_s,rtt_mean_s,sent_kb\n1.5,0.02,7\n";
    let metrics = "completion_ns = \"completion_s\"\nrtt_ns_mean = \"rtt_mean_s\"\n";
    let manifest = format!("[[measured]]\nfiles = \"runs.csv\"\n[measured.metrics]\n{metrics}");
    let folder = folder_with(&[("runs.csv", table)], &manifest);
    let results = carried_out(folder.path());
    let values = &run(&results, "runs.csv:2").values;
    assert_eq!(values.get(Metric::CompletionNs), Some(1.5e9));
    assert_eq!(values.get(Metric::RttNsMean), Some(20e6));
    // Of either thousand: a person has to say it.
    let manifest = format!("{manifest}acked_bytes = \"sent_kb\"\n");
    let folder = folder_with(&[("runs.csv", table)], &manifest);
    let found = mistakes(folder.path());
    assert!(
        found.contains("{ column = \"sent_kb\", unit = \"kB\" }"),
        "{found}"
    );
}

#[test]
fn two_sections_may_not_make_a_run_of_the_same_rows() {
    let section = &MANIFEST[MANIFEST.find("[[measured]]").unwrap()..];
    let folder = folder_with(&[("runs.csv", RUNS)], &format!("{MANIFEST}{section}"));
    let found = mistakes(folder.path());
    assert!(
        found.contains("runs.csv:2 is already a run by line 10"),
        "{found}"
    );
}

/// Utilisation by loss and delay, two runs a setting but for the last one; the ninth had two flows.
const SETTINGS: &str = "\
cca,loss,delay_ms,mbps,flows
bbr,0,1,9,1
bbr,0,1,8,1
bbr,0,50,7,1
bbr,0,50,6,1
bbr,2,1,6,1
bbr,2,1,5,1
bbr,2,50,1,1
bbr,2,50,1.5,
bbr,2,50,9,2
";

#[test]
fn a_measured_grid_of_loss_and_delay_has_its_reports_too() {
    let manifest = r#"
[study]
group_by = ["cca", "loss", "delay"]
report = "utilisation-grid"
[labels.loss]
unit = "%"
[labels.delay]
unit = "ms"
[[measured]]
files = "settings.csv"
columns = { cca = "cca", loss = "loss", delay = "delay_ms" }
metrics = { goodput_bps = "mbps", flow_count = "flows" }
[measured.conditions]
capacity = "10Mbit"
"#;
    let manifest = manifest.replace("\"mbps\"", "{ column = \"mbps\", unit = \"Mbit\" }");
    let folder = folder_with(&[("settings.csv", SETTINGS)], &manifest);
    let results = carried_out(folder.path());
    let grid = report(&results, "utilisation-grid");
    assert_eq!(column(grid, "runs"), ["4", "4"]);
    // Medians of 9 and 8, 7 and 6, 6 and 5, 1 and 1.5 of 10 Mbit/s.
    let near: Vec<f64> = numbers(grid, "delay_ms_1").into_iter().flatten().collect();
    let far: Vec<f64> = numbers(grid, "delay_ms_50").into_iter().flatten().collect();
    for (found, expected) in near.iter().chain(&far).zip([0.85, 0.55, 0.65, 0.125]) {
        close(*found, expected, 1e-12);
    }
    // A lossy last mile of 1 ms before 50 ms without loss: min(5.5, 6.5) against 1.25 from end to end.
    let splits = report(&results, "splits");
    let gains: Vec<f64> = numbers(splits, "gain").into_iter().flatten().collect();
    assert!(
        !gains.is_empty() && gains.iter().all(|gain| (gain - 4.4).abs() < 1e-9),
        "{gains:?}"
    );
}

#[test]
fn paths_that_profit_from_a_split_are_in_the_order_of_their_numbers() {
    let manifest = r#"
[study]
report = "utilisation-grid"
[labels.loss]
unit = "%"
[labels.delay]
unit = "ms"
[[measured]]
files = "settings.csv"
columns = { cca = "cca", loss = "loss", delay = "delay_ms" }
metrics = { goodput_bps = "goodput_mbps" }
[measured.conditions]
capacity = "10Mbit"
"#;
    let settings = "cca,loss,delay_ms,goodput_mbps\nbbr,0,100,9\nbbr,1,120,1\nbbr,1,140,1\nbbr,1,20,9\nbbr,1,40,9\n";
    let folder = folder_with(&[("settings.csv", settings)], manifest);
    let results = carried_out(folder.path());
    let splits = report(&results, "splits");
    let [first, second] = ["first_delay_ms", "second_delay_ms"].map(|name| {
        let delays = numbers(splits, name).into_iter();
        delays.flatten().collect::<Vec<f64>>()
    });
    assert_eq!(first, [20.0, 40.0, 100.0, 100.0]);
    assert_eq!(second, [100.0, 100.0, 20.0, 40.0]);
    // Of its ratios the utilisation is read in percent, as everywhere.
    let shares = splits.columns.iter().filter(|column| column.is_share);
    assert!(shares.map(|of| of.name.as_str()).eq(["split_utilisation"]));
}

#[test]
fn sections_may_take_other_columns_of_the_same_rows_under_other_labels() {
    let section = |cca: &str, column: &str| {
        format!(
            "[[measured]]\nfiles = \"both.csv\"\nlabels = {{ cca = \"{cca}\" }}\nmetrics = {{ goodput_bps = \"{column}\" }}\n"
        )
    };
    let manifest = section("bbr", "bbr_mbps") + &section("cubic", "cubic_mbps");
    let folder = folder_with(&[("both.csv", "bbr_mbps,cubic_mbps\n9,8\n")], &manifest);
    let results = carried_out(folder.path());
    let goodput = |name: &str| run(&results, name).values.get(Metric::GoodputBps);
    assert_eq!(goodput("both.csv:2"), Some(9e6));
    assert_eq!(goodput("both.csv:2 [cca=cubic]"), Some(8e6));
}

#[test]
fn a_mistake_in_many_files_is_said_once() {
    let files = [
        ("bbr.csv", "mbps\n9\n"),
        ("cubic.csv", "mbps\n8\n"),
        ("reno.csv", "mbps\n8\n"),
    ];
    let manifest = "[[measured]]\nfiles = \"{cca}.csv\"\nmetrics = { goodput_bps = \"mpbs\" }\n";
    let folder = folder_with(&files, manifest);
    let found = mistakes(folder.path());
    let said = "study.toml:3: bbr.csv: there is no column 'mpbs'; did you mean 'mbps'? (and so in 2 more files)";
    assert!(found.ends_with(said), "{found}");
    assert_eq!(found.lines().count(), 1);
}

#[test]
fn what_a_heat_map_cannot_show_is_a_mistake() {
    for (options, said) in [
        (
            "rows = \"cca\"",
            "study.toml:3: report 'heat-map' must know which label makes its columns",
        ),
        (
            "rows = \"cca\"\ncolumns = \"rat\"",
            "study.toml:22: there is no label 'rat'; did you mean 'rate'?",
        ),
        (
            "rows = \"cca\"\ncolumns = \"cca\"",
            "study.toml:3: the rows and the columns of a heat map are two labels",
        ),
        (
            "rows = \"cca\"\ncolumns = \"rep\"",
            "study.toml:22: label 'rep' is not in group_by, whose labels alone make groups: add it there",
        ),
        (
            "rows = \"cca\"\ncolumns = \"rate\"\nmetric = \"jain\"",
            "study.toml:23: the study has no metric 'jain'",
        ),
    ] {
        let manifest = MANIFEST
            .replace("rate = \"rate\" }", "rate = \"rate\", rep = \"rtt\" }")
            .replace("baseline", "metrics = [\"goodput_bps\"]\nbaseline");
        let manifest = format!("{manifest}[reports.heat-map]\n{options}\n");
        let manifest = manifest.replacen("[study]\n", "[study]\nreport = \"heat-map\"\n", 1);
        let folder = folder_with(&[("runs.csv", RUNS)], &manifest);
        let found = mistakes(folder.path());
        assert!(found.contains(said), "{found}");
    }
}

/// METRICS.md Y5: a variant that was measured where it is quick alone is no quicker for that.
#[test]
fn overall_only_settings_are_compared_that_have_all_values() {
    let rows = [
        ("cubic", 10, [9.0, 9.2]),
        ("cubic", 1000, [900.0, 920.0]),
        ("bbr", 10, [9.1, 9.3]),
        ("bbr", 1000, [910.0, 930.0]),
        ("reno", 10, [9.0, 9.4]),
    ];
    let lines = rows.iter().flat_map(|(algo, rate, goodputs)| {
        let line = move |goodput| format!("{algo},{rate},{goodput},1,20\n");
        goodputs.iter().map(line)
    });
    let head = "algo,rate,goodput_mbps,loss_percent,rtt\n".to_owned();
    let table: String = std::iter::once(head).chain(lines).collect();
    let results = carried_out(folder_with(&[("runs.csv", &table)], MANIFEST).path());
    let compared: Vec<(usize, f64)> = results
        .comparisons
        .iter()
        .filter(|row| row.overall && row.metric == Metric::GoodputBps)
        .filter(|row| results.labels[row.label].name == "cca")
        .map(|row| (row.n_a + row.n_b, row.change_percent.unwrap()))
        .collect();
    // At 10 Mbit/s alone, where all three were: means of 9.1, 9.2, and 9.2.
    assert_eq!(compared.len(), 3, "{compared:?}");
    for (samples, change_percent) in compared {
        assert_eq!(samples, 4);
        assert!(change_percent.abs() < 1.2, "{change_percent} %");
    }
}
