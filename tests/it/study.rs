//! `ccanalyze study`: runs that fail, runs that are kept, what is found and written.

use std::fs;
use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{Config, Flow, Watch};
use ccanalyze::metric::{self, stats};
use ccanalyze::study::{Metric, SampleKind, StudyPlan, StudyResults, StudyRun};

use super::cli::{names, run};
use super::support::{capture, root};

/// Two runs of Cubic and one of BBR, all of one packet lost or none.
const CAPTURES: [(&str, &str); 3] = [
    ("drop-one.pcap", "cubic_20m_1.pcap"),
    ("tail-loss-probe.pcap.zst", "cubic_20m_2.pcap"),
    ("network-duplicate.pcap.zst", "bbr_20m_1.pcap"),
];

pub(super) const MANIFEST: &str = r#"
[study]
group_by = ["cca"]
baseline = { cca = "cubic" }

[labels.rate]
unit = "Mbit"

[[runs]]
files = "{cca}_{rate}_{run}.pcap"
[runs.conditions]
capacity = "{rate}"
"#;

/// A folder with the captures and a manifest of this text.
pub(super) fn folder_with(manifest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in CAPTURES {
        fs::copy(capture(from), folder.path().join(to)).unwrap();
    }
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    folder
}

fn carried_out(folder: &Path) -> StudyResults {
    let plan = StudyPlan::read(&folder.join("study.toml")).unwrap();
    plan.carry_out(None, &Watch::default())
}

/// Goodput of the largest flow of a capture, by the analysis itself.
fn goodput_bps(name: &str) -> f64 {
    let analysis = Analysis::of([capture(name)], &Config::default());
    let flows = analysis.captures[0].flows();
    let largest = flows.max_by_key(Flow::payload_bytes);
    largest.and_then(|flow| flow.goodput_bps()).unwrap()
}

/// A download that its client aborts has a goodput until then, and no completion time (METRICS.md Q1).
#[test]
fn what_was_reset_has_not_completed() {
    let folder = folder_with(MANIFEST);
    fs::copy(
        capture("reset.pcap.gz"),
        folder.path().join("bbr_20m_1.pcap"),
    )
    .unwrap();
    let results = carried_out(folder.path());
    let of = |name: &str| {
        let run = results.runs.iter().find(|run| run.name.contains(name));
        let values = &run.unwrap().flows[0].measure.values;
        [Metric::GoodputBps, Metric::CompletionNs].map(|metric| values.get(metric).is_some())
    };
    assert_eq!([of("bbr"), of("cubic")], [[true, false], [true; 2]]);
}

#[test]
fn tables_that_a_study_has_no_more_do_not_stay() {
    let folder = folder_with(&MANIFEST.replace("[study]", "[study]\nreport = \"series\""));
    let results = folder.path().join("s");
    let carry_out = || {
        let run = run(
            folder.path(),
            &["study", "study.toml", "--out", "s", "--no-charts"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        names(&results)
    };
    let with_series = carry_out();
    for ending in ["csv", "md", "parquet", "tex"] {
        assert!(with_series.contains(&format!("report-series.{ending}")));
    }
    // What is not of a study is somebody's own.
    fs::write(results.join("notes.parquet"), "mine").unwrap();
    fs::write(folder.path().join("study.toml"), MANIFEST).unwrap();
    let mut expected = with_series;
    expected.retain(|name| !name.starts_with("report-"));
    expected.insert("notes.parquet".to_owned());
    assert_eq!(carry_out(), expected);
}

#[test]
fn a_folder_of_charts_that_holds_something_else_is_refused_before_runs_are_analysed() {
    let folder = folder_with(MANIFEST);
    let charts = folder.path().join("s/charts");
    fs::create_dir_all(&charts).unwrap();
    fs::write(charts.join("notes.txt"), "mine").unwrap();
    let run = run(folder.path(), &["study", "study.toml", "--out", "s"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("'notes.txt' in it is no chart of an earlier run"),
        "{}",
        run.stderr
    );
    assert_eq!(
        names(&folder.path().join("s")).len(),
        1,
        "nothing was written"
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_a_run_that_failed() {
    let folder = folder_with(MANIFEST);
    std::os::unix::fs::symlink("gone.pcap", folder.path().join("cubic_20m_9.pcap")).unwrap();
    let args = ["study", "study.toml", "--out", "s", "--no-charts"];
    let done = run(folder.path(), &args);
    let said = "error: cubic_20m_9.pcap: left out: does not exist\n";
    assert_eq!(done.status, 1);
    assert!(done.stderr.starts_with(said), "{}", done.stderr);
    let runs = fs::read_to_string(folder.path().join("s/runs.csv")).unwrap();
    assert!(runs.contains(",does not exist,"), "{runs}");
}

#[test]
fn charts_that_stay_from_an_earlier_run_are_named() {
    let folder = folder_with(MANIFEST);
    let said = |results: &str| {
        let args = ["study", "study.toml", "--out", results, "--no-charts"];
        run(folder.path(), &args).stderr
    };
    let stay = ": those of an earlier run stay, for --no-charts puts none in their place";
    assert!(!said("s").contains(stay));
    fs::create_dir(folder.path().join("s/charts")).unwrap();
    assert!(said("s").contains(stay), "{}", said("s"));
    fs::create_dir(folder.path().join("r.charts")).unwrap();
    let args = ["cubic_20m_1.pcap", "--out", "r.csv", "--no-charts"];
    let run = run(folder.path(), &args);
    assert!(run.stderr.contains(stay), "{}", run.stderr);
}

#[test]
fn letters_that_pngs_lack_are_named_once() {
    let manifest = MANIFEST.replacen("[study]", "[study]\nname = \"日本, 日 Ü\"", 1);
    let folder = folder_with(&manifest);
    let said = |more| {
        let args = ["study", "study.toml", "--out", "s", more];
        run(folder.path(), &args).stderr
    };
    let study = said("--afresh");
    assert_eq!(study.matches("lacks: 日本; --svg").count(), 1, "{study}");
    assert!(["--svg", "-q"].iter().all(|of| !said(of).contains("lacks")));
}

#[test]
fn a_group_has_the_statistics_of_its_runs_and_its_change_against_the_baseline() {
    let folder = folder_with(MANIFEST);
    let results = carried_out(folder.path());
    let group = |cca: &str| {
        results
            .groups
            .iter()
            .find(|group| {
                group.kind == SampleKind::Run
                    && group.metric == Metric::GoodputBps
                    && group.key[0]
                        .as_ref()
                        .is_some_and(|value| value.text() == cca)
            })
            .unwrap()
    };
    let [one, two, bbr] = CAPTURES.map(|(name, _)| goodput_bps(name));
    let cubic = group("cubic");
    assert_eq!(cubic.statistics.n, 2);
    assert!((cubic.statistics.mean - f64::midpoint(one, two)).abs() < 1e-3);
    assert_eq!(
        (cubic.statistics.min, cubic.statistics.max),
        (one.min(two), one.max(two))
    );
    assert_eq!((cubic.baseline_mean, cubic.change_percent), (None, None));
    let change = stats::change_percent(bbr, f64::midpoint(one, two));
    assert_eq!(group("bbr").change_percent, change);
    // 20 Mbit/s by the files' names: utilisation is goodput over that.
    let bbr_run = results
        .runs
        .iter()
        .find(|run| run.name.starts_with("bbr"))
        .unwrap();
    assert_eq!(
        bbr_run.values.get(Metric::Utilisation),
        metric::utilisation(bbr, 20e6)
    );
}

#[test]
fn a_run_that_fails_is_left_out_and_the_others_are_not() {
    let folder = folder_with(MANIFEST);
    let damaged = fs::read(folder.path().join("cubic_20m_1.pcap")).unwrap();
    fs::write(
        folder.path().join("cubic_20m_3.pcap"),
        &damaged[..damaged.len() / 2],
    )
    .unwrap();
    let run = run(folder.path(), &["study", "study.toml", "--out", "study"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("cubic_20m_3.pcap: left out: "),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout
            .contains("3 runs, 3 flows; left out: 1 run that failed"),
        "{}",
        run.stdout
    );
    let results = carried_out(folder.path());
    for group in &results.groups {
        let cubic = group.key[0]
            .as_ref()
            .is_some_and(|value| value.text() == "cubic");
        let expected = if cubic { (2, 1) } else { (1, 0) };
        assert_eq!((group.statistics.n, group.runs_failed), expected);
    }
    let files = names(&folder.path().join("study"));
    for table in ["runs", "flows", "groups", "comparisons", "tests"] {
        for ending in ["parquet", "csv", "md", "tex"] {
            assert!(
                files.contains(&format!("{table}.{ending}")),
                "{table}.{ending}"
            );
        }
    }
}

#[test]
fn a_run_is_analysed_again_only_when_something_changed() {
    let folder = folder_with(MANIFEST);
    let cache = folder.path().join("cache");
    let again = || {
        let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
        plan.carry_out(Some(&cache), &Watch::default())
    };
    let first = again();
    assert_eq!(first.cached, 0);
    let second = again();
    assert_eq!(second.cached, 3);
    let numbers = |results: &StudyResults| -> Vec<_> {
        let values = |run: &StudyRun| (run.values.clone(), run.flows[0].measure.clone());
        results.runs.iter().map(values).collect()
    };
    assert_eq!(numbers(&first), numbers(&second));
    // Another file under the same name.
    fs::copy(
        capture("ack-loss-burst.pcap.zst"),
        folder.path().join("bbr_20m_1.pcap"),
    )
    .unwrap();
    assert_eq!(again().cached, 2);
    // Another option.
    let manifest = MANIFEST.replace("[[runs]]", "[analysis]\nbin = \"50ms\"\n[[runs]]");
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    assert_eq!(again().cached, 0);
    // A measure that was damaged is none.
    for name in names(&cache) {
        fs::write(cache.join(name), "{").unwrap();
    }
    assert_eq!(again().cached, 0);
}

#[test]
fn threads_and_kept_runs_change_no_byte_of_the_tables() {
    let folder = folder_with(MANIFEST);
    let tables = |args: &[&str]| -> Vec<(String, Vec<u8>)> {
        let run = run(folder.path(), args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let out = folder.path().join(args[3]);
        let files = names(&out)
            .into_iter()
            .filter(|name| name != "cache" && name != "charts");
        let charts = names(&out.join("charts")).into_iter();
        let charts = charts.map(|name| format!("charts/{name}"));
        files
            .chain(charts)
            .map(|name| (name.clone(), fs::read(out.join(&name)).unwrap()))
            .collect()
    };
    let one = tables(&["study", "study.toml", "--out", "one", "--threads", "1"]);
    let four = tables(&["study", "study.toml", "--out", "four", "--threads", "4"]);
    assert_eq!(one, four);
    assert_eq!(one, tables(&["study", "study.toml", "--out", "one"]));
}

#[test]
fn charts_and_the_page_hold_what_the_study_found() {
    let folder = folder_with(MANIFEST);
    fs::write(folder.path().join("cubic_20m_3.pcap"), "no capture").unwrap();
    let options = ["--chart-size", "one-column", "--report", "page.html"];
    let study = ["study", "study.toml", "--out", "study"];
    let done = run(folder.path(), &[&study[..], &options[..]].concat());
    assert_eq!(done.status, 1, "{}", done.stderr);
    let charts = folder.path().join("study/charts");
    let found = names(&charts);
    for wanted in ["bars-goodput.png", "bars-latency.png", "bars-overhead.png"] {
        assert!(found.contains(wanted), "{found:?}");
        let png = fs::read(charts.join(wanted)).unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{wanted}");
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for wanted in [
        "<h1>Study: study</h1>",
        "cubic_20m_3.pcap: ",
        "[labels.rate]",
        "<svg",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    // Charts of an earlier time go.
    let done = run(folder.path(), &[&study[..], &["--svg"]].concat());
    assert_eq!(done.status, 1, "{}", done.stderr);
    assert!(names(&charts).contains("bars-goodput.svg"));
    assert!(!names(&charts).contains("bars-goodput.png"));
    let mistaken = run(
        folder.path(),
        &[&study[..], &["--report", "page.pdf"]].concat(),
    );
    assert_eq!(mistaken.status, 2);
    assert!(
        mistaken.stderr.contains("end in .html"),
        "{}",
        mistaken.stderr
    );
}

#[test]
fn nothing_is_written_outside_the_folder() {
    let manifest = MANIFEST.replace("[study]", "[study]\nname = \"../../escape\"");
    let folder = folder_with(&manifest);
    let before = names(folder.path());
    let run = run(folder.path(), &["study", "study.toml", "--out", "study"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let mut after = names(folder.path());
    assert!(after.remove("study"));
    assert_eq!(after, before);
    assert!(!folder.path().parent().unwrap().join("escape").exists());
}

#[test]
fn a_draft_can_be_carried_out_as_it_is() {
    let folder = folder_with("");
    let draft = run(folder.path(), &["study", "init", "."]);
    assert_eq!(draft.status, 0, "{}", draft.stderr);
    fs::write(folder.path().join("draft.toml"), &draft.stdout).unwrap();
    let run = run(
        folder.path(),
        &["study", "draft.toml", "--out", "study", "-q"],
    );
    assert_eq!(run.status, 0, "{}\n{}", run.stderr, draft.stdout);
    assert!(
        draft.stdout.contains("files = \"{cca}_20m_{run}.pcap\""),
        "{}",
        draft.stdout
    );
}

#[test]
fn the_manifest_of_the_readme_has_no_mistake() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let manifest = readme
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("traces");
    fs::create_dir_all(traces.join("mixed")).unwrap();
    for name in [
        "cubic_50m_deep_1.pcap",
        "bbr_50m_shallow_1.pcap",
        "mixed/50m_deep_1.pcap",
    ] {
        fs::copy(capture("drop-one.pcap"), traces.join(name)).unwrap();
    }
    fs::write(folder.path().join("study.toml"), manifest.unwrap()).unwrap();
    let results = carried_out(folder.path());
    assert!(results.runs.iter().all(|run| run.error.is_none()));
    assert_eq!(results.runs.len(), 3);
}

/// A folder with a capture of two flows as three runs, and a report's table by a manifest.
fn report_of(manifest: &str, table: &str) -> Vec<csv::StringRecord> {
    let folder = tempfile::tempdir().unwrap();
    for run in 1..=3 {
        let name = format!("mixed_{run}.pcap.zst");
        fs::copy(
            capture("two-flows-cubic-bbr.pcap.zst"),
            folder.path().join(name),
        )
        .unwrap();
    }
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let run = run(
        folder.path(),
        &["study", "study.toml", "--out", "s", "--no-charts"],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let path = folder.path().join("s").join(format!("report-{table}.csv"));
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    std::iter::once(header)
        .chain(reader.records().map(Result::unwrap))
        .collect()
}

/// The values of a column.
fn column(rows: &[csv::StringRecord], name: &str) -> Vec<f64> {
    let place = rows[0].iter().position(|column| column == name).unwrap();
    rows[1..]
        .iter()
        .map(|row| row[place].parse().unwrap())
        .collect()
}

#[test]
fn flows_of_one_variant_in_a_run_are_one_value_of_the_mobility_report() {
    let rows = report_of(
        "[study]\ngroup_by = [\"cca\"]\nreport = \"mobility\"\n\n[[runs]]\nfiles = \"{cca}_{run}.pcap.zst\"\n",
        "mobility",
    );
    // METRICS.md Y5: the flows of a run are not independent, and three times the same is no spread.
    assert_eq!(column(&rows, "runs"), [3.0]);
    let mean = column(&rows, "goodput_mbps_mean")[0];
    assert_eq!(column(&rows, "goodput_mbps_ci95_low"), [mean]);
    // Each flow's mean over its bins of 100 ms.
    let analysis = Analysis::of(
        [capture("two-flows-cubic-bbr.pcap.zst")],
        &Config::default(),
    );
    let largest = analysis.captures[0]
        .flows()
        .map(|flow| flow.payload_bytes());
    let largest = largest.max().unwrap();
    let means: Vec<f64> = analysis.captures[0]
        .flows()
        .filter(|flow| flow.counts_beside(largest))
        .map(|flow| {
            let bins: Vec<_> = flow.record.series().bins().collect();
            let all = bins.last().unwrap().index - bins[0].index + 1;
            let acked: u64 = bins.iter().map(|bin| bin.acked_bytes).sum();
            8.0 * acked as f64 / (all as f64 * 0.1) / 1e6
        })
        .collect();
    assert_eq!(means.len(), 2);
    super::support::close(mean, means[0].midpoint(means[1]), 1e-12);
}

#[test]
fn steps_that_lie_in_part_within_a_window_or_the_flows_time_are_left_out() {
    let manifest = |window: &str| {
        format!(
            "[study]\ngroup_by = [\"cca\"]\nreport = \"series\"\n{window}\n[reports.series]\nstep = \"200ms\"\n\n[[runs]]\nfiles = \"{{cca}}_{{run}}.pcap.zst\"\n"
        )
    };
    let all = report_of(&manifest(""), "series");
    let cut = report_of(&manifest("[analysis]\nwindow = \"0.3s+0.9s\""), "series");
    let points = |rows: &[csv::StringRecord]| {
        let times = column(rows, "time_s").into_iter();
        times.zip(column(rows, "goodput_mbps")).collect::<Vec<_>>()
    };
    let within: Vec<(f64, f64)> = points(&all)
        .into_iter()
        .filter(|&(time_s, _)| (0.39..1.19).contains(&time_s))
        .collect();
    assert_eq!(within.len(), 12);
    assert_eq!(points(&cut), within);
    // Nor are those whole in which the flows begin, after a handshake, or end: they would look like a slow start, and
    // like a collapse.
    for (time_s, mbps) in points(&all) {
        assert!(time_s > 0.19 && mbps > 1.0, "{time_s} {mbps}");
    }
}

#[test]
fn harm_is_told_against_solo_runs_of_the_same_variant() {
    // METRICS.md N4. `set` tells solo runs from the others, so it cannot be the same.
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("drop-one.pcap", "cubic_one_1.pcap"),
        ("network-duplicate.pcap.zst", "bbr_one_1.pcap"),
        ("two-flows-cubic-bbr.pcap.zst", "cubic_two_1.pcap"),
    ] {
        fs::copy(capture(from), folder.path().join(to)).unwrap();
    }
    let manifest =
        "[study]\ngroup_by = [\"cca\", \"set\"]\n\n[[runs]]\nfiles = \"{cca}_{set}_{run}.pcap\"\n";
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let results = carried_out(folder.path());
    let solo = goodput_bps("drop-one.pcap");
    assert!((solo - goodput_bps("network-duplicate.pcap.zst")).abs() > 1.0);
    let competed: Vec<_> = results
        .runs
        .iter()
        .filter(|run| run.flows.len() > 1)
        .collect();
    assert_eq!(competed.len(), 1);
    for flow in &competed[0].flows {
        let values = &flow.measure.values;
        let (harm, own) = (Metric::HarmGoodput, Metric::GoodputBps);
        let expected = (solo - values.get(own).unwrap()) / solo;
        super::support::close(values.get(harm).unwrap(), expected, 1e-12);
    }
}

/// METRICS.md Y5: in each buffer two flows of Cubic, two of BBR, and one of each. Variants of as many flows are compared,
/// as one has each composition; buffers within a composition, as one of them is no other than itself.
#[test]
fn runs_of_several_compositions_are_compared_by_what_the_label_tells() {
    let rows = ["shallow", "deep"].into_iter().flat_map(|buffer| {
        let pairs = [("cubic", "cubic"), ("cubic", "bbr"), ("bbr", "bbr")];
        let runs = pairs.into_iter().flat_map(|pair| [(pair, 1), (pair, 2)]);
        runs.flat_map(move |((one, other), run)| {
            let row = move |cca| format!("{one}{other}{run}{buffer},{cca},{buffer},{run}\n");
            [row(one), row(other)]
        })
    });
    let table: String = std::iter::once("run,cca,buffer,goodput_mbps\n".to_owned())
        .chain(rows)
        .collect();
    let manifest = r#"
[study]
group_by = ["cca", "buffer"]
[[measured]]
files = "flows.csv"
rows = "flows"
run = "run"
columns = { cca = "cca", buffer = "buffer" }
[measured.metrics]
goodput_bps = "goodput_mbps"
"#;
    let folder = super::measured::folder_with(&[("flows.csv", &table)], manifest);
    let results = carried_out(folder.path());
    let compared = |label: &str| -> Vec<String> {
        let rows = results.comparisons.iter();
        rows.filter(|row| row.overall && row.kind == SampleKind::Run)
            .filter(|row| row.metric == Metric::Flows && results.labels[row.label].name == label)
            .map(|row| {
                let value = |of: &Option<ccanalyze::study::LabelValue>| match of {
                    Some(value) => value.text().to_owned(),
                    None => String::new(),
                };
                format!("{} {}", value(&row.a), value(&row.b))
            })
            .collect()
    };
    assert_eq!(compared("buffer"), ["deep shallow"; 2]);
    assert_eq!(
        compared("cca"),
        ["bbr bbr+cubic", "bbr cubic", "bbr+cubic cubic"]
    );
}

/// METRICS.md: a count of something that did not happen is 0, and not unknown.
#[test]
fn an_order_of_start_that_nobody_tried_has_no_runs() {
    let folder = tempfile::tempdir().unwrap();
    let two = capture("two-flows-cubic-bbr.pcap.zst");
    fs::copy(two, folder.path().join("cubic_bbr.pcap.zst")).unwrap();
    let manifest = r#"
[study]
group_by = ["cca"]
report = "pairs"
[[runs]]
files = "{first}_{second}.pcap.zst"
[[runs.flows]]
label = "cca"
by = "start"
values = ["{first}", "{second}"]
"#;
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let arguments = ["study", "study.toml", "--out", "s", "--no-charts"];
    let run = run(folder.path(), &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let orders = fs::read_to_string(folder.path().join("s/report-pairs-orders.csv")).unwrap();
    assert!(orders.contains("\nbbr,cubic,0,,1,-0."), "{orders}");
}
