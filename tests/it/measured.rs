//! `[[measured]]`: runs that come as tables, alone and beside captures.

use std::fs;
use std::io::Write;
use std::path::Path;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Metric, SampleKind, SeriesKind, StudyPlan, StudyResults, StudyRun};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::published::{column, numbers, report};
use super::support::{capture, close};

/// A folder with these files and a manifest.
fn folder_with(files: &[(&str, &str)], manifest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    folder
}

fn carried_out(folder: &Path) -> StudyResults {
    let plan = StudyPlan::read(&folder.join("study.toml")).unwrap_or_else(|e| panic!("{e}"));
    plan.carry_out(None, &Watch::default())
}

#[track_caller]
fn mistakes(folder: &Path) -> String {
    StudyPlan::read(&folder.join("study.toml"))
        .unwrap_err()
        .to_string()
}

#[track_caller]
fn run<'a>(results: &'a StudyResults, name: &str) -> &'a StudyRun {
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
        (17, "capacity = \"{rate}s\"", "has no unit of a rate"),
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

const POINTS: &str = "\
t,a mbit,b mbit,ping a
0.0,,1,5
0.2,10,2,6
0.4,20,3,
0.6,30,4,8
";

const OF_POINTS: &str = r#"
[study]
report = "series"
[[measured]]
files = "points.csv"
rows = "points"
time = { column = "t", unit = "s" }
[measured.metrics]
goodput_bps = { column = "{cca} mbit", unit = "Mbit" }
ping_ns = { column = "ping {cca}", unit = "ms" }
"#;

#[test]
fn columns_beside_each_other_are_runs_over_time() {
    let folder = folder_with(&[("points.csv", POINTS)], OF_POINTS);
    let results = carried_out(folder.path());
    let a = run(&results, "points.csv [cca=a]");
    assert_eq!(a.values.get(Metric::GoodputBps), Some(20e6));
    assert_eq!(a.values.get(Metric::PingNsMax), Some(8e6));
    close(a.values.get(Metric::PingNsMean).unwrap(), 19e6 / 3.0, 1e-12);
    assert_eq!(a.series.len(), 4);
    let b = run(&results, "points.csv [cca=b]");
    assert_eq!(b.values.get(Metric::GoodputBps), Some(2.5e6));
    assert_eq!(b.values.get(Metric::PingNsMean), None);
    // By hand: means 20 and 2.5 of 3 and 4 values, squares within 200 and 5; 5000/49 x 3 + 2500/49 x 4
    // around the mean of all, 10: 300 + 225.
    let anova = report(&results, "series-anova");
    assert_eq!(
        column(anova, "source"),
        ["Between Groups", "Within Groups", "Total"]
    );
    let ss: Vec<f64> = numbers(anova, "ss").into_iter().flatten().collect();
    for (found, expected) in ss.into_iter().zip([525.0, 205.0, 730.0]) {
        close(found, expected, 1e-12);
    }
}

#[test]
fn a_window_and_a_number_of_points_cut_a_run_over_time() {
    let windowed = OF_POINTS.replace("rows = ", "window = \"0.2s+0.3s\"\nrows = ");
    let folder = folder_with(&[("points.csv", POINTS)], &windowed);
    let results = carried_out(folder.path());
    // From 0.2 s after the first point, which has a ping only, to before 0.5 s.
    let a = run(&results, "points.csv [cca=a]");
    assert_eq!(a.values.get(Metric::GoodputBps), Some(15e6));
    let first_two = OF_POINTS.replace("unit = \"Mbit\"", "unit = \"Mbit\", points = 2");
    let folder = folder_with(&[("points.csv", POINTS)], &first_two);
    let results = carried_out(folder.path());
    assert_eq!(
        run(&results, "points.csv [cca=a]")
            .values
            .get(Metric::GoodputBps),
        Some(15e6)
    );
    assert_eq!(
        run(&results, "points.csv [cca=b]")
            .values
            .get(Metric::GoodputBps),
        Some(1.5e6)
    );
}

#[test]
fn rows_below_each_other_are_runs_over_time_too() {
    let table = "cca,t_ms,rtt_ms\nbbr,0,20\nbbr,100,30\ncubic,0,40\ncubic,100,60\n";
    let manifest = r#"
[study]
group_by = ["cca"]
[[measured]]
files = "long.csv"
rows = "points"
time = "t_ms"
columns = { cca = "cca" }
metrics = { rtt_ns = "rtt_ms" }
"#;
    let folder = folder_with(&[("long.csv", table)], manifest);
    let results = carried_out(folder.path());
    let cubic = run(&results, "long.csv [cca=cubic]");
    assert_eq!(cubic.values.get(Metric::RttNsMean), Some(50e6));
    assert_eq!(cubic.values.get(Metric::QueueDelayNsMean), Some(10e6));
    let unordered = table.replace("cubic,100", "cubic,-100");
    let folder = folder_with(&[("long.csv", &unordered)], manifest);
    let found = mistakes(folder.path());
    assert!(found.contains("line 5: times must ascend"), "{found}");
}

const ARCHIVE: &str = r#"{"version": 4, "metadata": {"SERIES_META": {"TCP upload": {"UNITS": "Mbits/s"},
"Ping (ms) ICMP": {"UNITS": "ms"}}}, "x_values": [0.0, 0.2, 0.4],
"results": {"TCP upload": [90.0, null, 94.0], "Ping (ms) ICMP": [2.0, 3.0, 4.0]},
"raw_values": {"Ping (ms) ICMP": [{"t": 1.0, "val": 1.5}, {"t": 1.1, "val": 4.5}]}}"#;

#[test]
fn an_archive_of_flent_is_a_run_in_its_own_units_and_a_broken_one_is_left_out() {
    let folder = folder_with(
        &[],
        r#"
[study]
group_by = ["cca"]
report = "series"
[[measured]]
files = "{cca}_{run}.flent.gz"
[measured.metrics]
goodput_bps = ["TCP upload sum", "TCP upload"]
ping_ns = "Ping (ms) ICMP"
"#,
    );
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(ARCHIVE.as_bytes()).unwrap();
    let bytes = gz.finish().unwrap();
    fs::write(folder.path().join("bbr_1.flent.gz"), &bytes).unwrap();
    let half = &bytes[..bytes.len() / 2];
    fs::write(folder.path().join("bbr_2.flent.gz"), half).unwrap();
    let results = carried_out(folder.path());
    let whole = run(&results, "bbr_1.flent.gz");
    assert_eq!(whole.values.get(Metric::GoodputBps), Some(92e6));
    // The single pings, not those interpolated to the common times.
    assert_eq!(whole.values.get(Metric::PingNsMin), Some(1.5e6));
    assert_eq!(whole.values.get(Metric::PingNsMax), Some(4.5e6));
    let broken = run(&results, "bbr_2.flent.gz");
    assert!(broken.error.is_some());
    let group = &results.groups[0];
    assert_eq!((group.statistics.n, group.runs_failed), (1, 1));
    // The command writes the tables all the same, and its exit status tells.
    let manifest = folder.path().join("study.toml");
    let found = super::cli::run(folder.path(), &["study", "study.toml", "--out", "out"]);
    assert_eq!(found.status, 1);
    assert!(
        folder
            .path()
            .join("out/report-series-boxes.parquet")
            .is_file()
    );
    let asked_wrongly = fs::read_to_string(&manifest)
        .unwrap()
        .replace("files =", "rows = \"runs\"\nfiles =");
    fs::write(&manifest, asked_wrongly).unwrap();
    assert!(mistakes(folder.path()).contains("whose rows are points in time"));
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

#[test]
fn a_capture_in_steps_adds_up_to_its_bytes_and_stands_beside_an_archive() {
    let folder = folder_with(
        &[("points.csv", POINTS)],
        &format!("{OF_POINTS}\n[[runs]]\nfiles = \"{{cca}}.pcap.zst\"\n"),
    );
    fs::copy(
        capture("two-flows-cubic-bbr.pcap.zst"),
        folder.path().join("both.pcap.zst"),
    )
    .unwrap();
    let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
    let cache = folder.path().join("cache");
    let results = plan.carry_out(Some(&cache), &Watch::default());
    let both = run(&results, "both.pcap.zst");
    let bytes = |kind| -> f64 {
        let rates = both.series.iter().filter_map(|point| point.get(kind));
        rates.map(|bps| bps * 0.2 / 8.0).sum()
    };
    let value = |metric| both.values.get(metric).unwrap();
    close(bytes(SeriesKind::Goodput), value(Metric::AckedBytes), 1e-9);
    // Bins begin with a flow's first data: of each flow the SYN-ACK and an ACK or two come before.
    let before = value(Metric::IpBytes) - bytes(SeriesKind::Throughput);
    assert!((0.0..2.0 * 200.0).contains(&before), "{before}");
    let steps = both.series.windows(2);
    assert!(
        steps
            .map(|pair| pair[1].time_ns - pair[0].time_ns)
            .all(|ns| ns == 200_000_000)
    );
    // Round-trip times lie within those of the whole run.
    let rtts = both.series.iter().filter_map(|p| p.get(SeriesKind::Rtt));
    let (least, most) = (value(Metric::RttNsMin), value(Metric::RttNsMax));
    assert!(rtts.into_iter().all(|ns| (least..=most).contains(&ns)));
    // Pings where a run has them, round-trip times where it has none.
    let series = report(&results, "series");
    let (runs, delays) = (column(series, "capture"), column(series, "delay"));
    for (run, delay) in runs.iter().zip(&delays) {
        let expected = match run.as_str() {
            "both.pcap.zst" => "rtt_ms",
            "points.csv [cca=a]" => "ping_ms",
            _ => "",
        };
        assert!(delay.is_empty() || delay == expected, "{run}: {delay}");
    }
    // What was kept is what was measured.
    let again = plan.carry_out(Some(&cache), &Watch::default());
    assert_eq!(again.cached, 1);
    assert_eq!(run(&again, "both.pcap.zst").series, both.series);
}

#[test]
fn what_a_series_cannot_show_is_a_mistake() {
    for (option, said) in [
        ("step = \"250ms\"", "no whole number of bins"),
        ("step = \"0.2\"", "has no unit of time"),
        ("rate = \"rtt_ns\"", "'rate' cannot be 'rtt_ns'"),
        ("delay = \"ping\"", "did you mean 'ping_ns'?"),
        (
            "stop = \"1s\"",
            "unknown key 'stop' in [reports.series]; did you mean 'step'?",
        ),
    ] {
        let manifest = format!("{OF_POINTS}\n[reports.series]\n{option}\n");
        let folder = folder_with(&[("points.csv", POINTS)], &manifest);
        let found = mistakes(folder.path());
        assert!(
            found.contains("study.toml:13: ") && found.contains(said),
            "{found}"
        );
    }
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
