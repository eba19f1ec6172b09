//! Rows of measured tables: which count, as what, and how often.

use super::cli::run;
use super::measured::{carried_out, folder_with, mistakes};
use super::published::{column, numbers, report};
use super::support::capture;
use ccanalyze::study::{Metric, SampleKind};

/// A row is a run; of two variants alone, in one table as runs and in the other with numbers of flows.
const MANIFEST: &str = r#"
[study]
group_by = ["cca"]
report = "access-network"
[reports.access-network]
reference = "bbr"

[[measured]]
files = "runs.csv"
columns = { cca = "cca" }
[measured.metrics]
goodput_bps = { column = "goodput", unit = "Mbit" }
"#;

#[test]
fn a_row_that_says_of_no_flows_is_a_run_of_one_in_the_report_of_access_networks() {
    let runs = "cca,goodput,flows\nbbr,9,\nbbr,11,1\nbbr,90,2\nreno,8,\n";
    let manifest = format!("{MANIFEST}flow_count = \"flows\"\n");
    let folder = folder_with(&[("runs.csv", runs)], &manifest);
    let results = carried_out(folder.path());
    let table = report(&results, "access-network");
    assert_eq!(column(table, "other"), ["reno"]);
    assert_eq!(column(table, "connections"), ["1 connection"]);
    // 9 and 11, mean 10; what each of two flows had of 90 nobody knows.
    assert_eq!(column(table, "reference_runs"), ["2"]);
    assert_eq!(numbers(table, "reference_goodput_mbps"), [Some(10.0)]);
    // 10 is a quarter more than 8.
    assert_eq!(numbers(table, "change_goodput_percent"), [Some(25.0)]);
}

const REPEATED: &str = "[study]\ngroup_by = [\"cca\"]\n";

/// A section that takes these files, and the column of this metric.
fn measured(files: &str, metric: &str) -> String {
    format!(
        "[[measured]]\nfiles = {files}\ncolumns = {{ cca = \"cca\", rep = \"rep\" }}\nmetrics = {{ {metric} = \"{metric}\" }}\n"
    )
}

#[test]
fn a_repetition_that_two_tables_have_is_said() {
    let rows =
        "cca,rep,goodput_bps,throughput_bps\nbbr,1,9e6,9.5e6\nbbr,2,8e6,8.5e6\nreno,1,7e6,7.5e6\n";
    let other = rows.replace(",1,", ",3,").replace(",2,", ",4,");
    let unnumbered = rows.replace(",1,", ",,").replace(",2,", ",,");
    let files = [
        ("a.csv", rows),
        ("copy.csv", rows),
        ("other.csv", &other),
        ("unnumbered.csv", &unnumbered),
    ];
    let goodput = |files: &str| measured(files, "goodput_bps");
    let twice = "warning: a.csv:2 and copy.csv:2 are the same repetition by all their labels, rep = 1: they count as two and are one (a label that tells them apart, or `except`, helps); so do 2 other pairs";
    for (sections, said) in [
        (goodput("[\"a.csv\", \"copy.csv\"]"), twice),
        // Other repetitions, and rows that do not say which they are.
        (goodput("[\"a.csv\", \"other.csv\"]"), ""),
        (goodput("\"unnumbered.csv\""), ""),
        // Other numbers of the same runs, of which each counts once.
        (
            goodput("\"a.csv\"") + &measured("\"copy.csv\"", "throughput_bps"),
            "",
        ),
    ] {
        let folder = folder_with(&files, &format!("{REPEATED}{sections}"));
        let args = ["study", "study.toml", "--out", "out", "--no-charts"];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(
            run.stderr.contains(twice),
            !said.is_empty(),
            "{}",
            run.stderr
        );
        assert_eq!(run.stderr.contains("same repetition"), !said.is_empty());
    }
}

#[test]
fn a_repetition_that_a_table_and_a_capture_have_is_said() {
    let rows = "cca,rep,goodput_bps,harm_rtt\nbbr,1,9e6,0.1\nbbr,2,8e6,0.2\n";
    for (metric, name, said) in [
        ("goodput_bps", "bbr-1.pcap", true),
        // Another repetition, and a number that the capture has not.
        ("goodput_bps", "bbr-3.pcap", false),
        ("harm_rtt", "bbr-1.pcap", false),
    ] {
        let section = measured("\"a.csv\"", metric);
        let study = format!(
            "{REPEATED}{section}[[runs]]\nfiles = [\"{{cca}}-{{rep}}.pcap\", \"copy/{{cca}}-{{rep}}.pcap\"]\n"
        );
        let folder = folder_with(&[("a.csv", rows)], &study);
        // Whether two captures are of one run their connections tell.
        std::fs::create_dir(folder.path().join("copy")).unwrap();
        for copy in [name.to_owned(), format!("copy/{name}")] {
            std::fs::copy(capture("drop-one.pcap"), folder.path().join(copy)).unwrap();
        }
        let args = ["study", "study.toml", "--out", "out", "--no-charts"];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let twice = "are the same repetition by all their labels, rep = 1: they count as two and are one (a label that tells them apart, or `except`, helps); so does another pair\n";
        assert_eq!(run.stderr.contains(twice), said, "{name} {}", run.stderr);
    }
}

#[test]
fn rows_that_two_sections_make_runs_of_are_said_of_the_first() {
    let rows = "cca,rep,goodput_bps\nbbr,1,9e6\nbbr,2,8e6\nbbr,3,7e6\n";
    let section = measured("\"a.csv\"", "goodput_bps");
    let manifest = format!("{REPEATED}{section}{section}");
    let folder = folder_with(&[("a.csv", rows)], &manifest);
    let said = mistakes(folder.path());
    let lines: Vec<&str> = said.lines().collect();
    let [line] = lines[..] else {
        panic!("{said}");
    };
    let expected = "study.toml:8: a.csv:2 is already a run by line 4: each may count only once (and so for 2 more runs)";
    assert!(line.ends_with(expected), "{line}");
}

#[test]
fn a_section_of_no_metric_at_all_is_a_mistake() {
    let section = measured("\"a.csv\"", "goodput_bps");
    let (start, _) = section.split_once("metrics").unwrap();
    let manifest = format!("{REPEATED}{start}[measured.metrics]\n");
    let folder = folder_with(&[("a.csv", "cca,rep,goodput_bps\nbbr,1,9e6\n")], &manifest);
    let said = mistakes(folder.path());
    assert!(
        said.contains("study.toml:6: [[measured]] lacks its metrics"),
        "{said}"
    );
}

#[test]
fn a_table_that_is_not_there_is_said_and_not_what_follows_from_it() {
    let manifest = "[study]\ngroup_by = [\"cca\"]\nbaseline = { cca = \"cubic\" }\nmetrics = [\"godput_bps\"]\n[labels.rate]\nunit = \"Mbit\"\n[[measured]]\nfiles = \"{cca}_{rate}.csv\"\nmetrics = { goodput_bps = \"goodput_bps\" }\n";
    let folder = folder_with(&[], manifest);
    let said = mistakes(folder.path());
    // What no table could mend is said beside it.
    for line in [
        "study.toml:4: there is no metric",
        "study.toml:8: '{cca}_{rate}.csv' matches no file",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(said.lines().count(), 2, "{said}");
    // With a template of which nothing can be told, no label has a name either.
    let folder = folder_with(&[], &manifest.replace("{rate}", "{rate"));
    let said = mistakes(folder.path());
    assert!(
        said.contains("study.toml:8: in '{cca}_{rate.csv'"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn ratios_in_the_cells_of_reports_are_read_in_percent_as_those_of_groups() {
    let rows = "cca,loss,delay,goodput\nbbr,0,20,8.5\ncubic,0,20,7.5\n";
    let manifest = r#"
[study]
group_by = ["loss", "delay", "cca"]
report = ["heat-map", "utilisation-grid"]
[reports.heat-map]
rows = "loss"
columns = "delay"
metric = "utilisation"
[labels.loss]
unit = "%"
[labels.delay]
unit = "ms"
[[measured]]
files = "runs.csv"
columns = { cca = "cca", loss = "loss", delay = "delay" }
metrics = { goodput_bps = { column = "goodput", unit = "Mbit" } }
[measured.conditions]
capacity = "10Mbit"
"#;
    let folder = folder_with(&[("runs.csv", rows)], manifest);
    let args = ["study", "study.toml", "--out", "out", "--no-charts"];
    let run = run(folder.path(), &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let read = |name: &str| {
        let path = folder.path().join("out").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    // 8.5 of 10 Mbit/s.
    for (table, unit, cell) in [
        ("report-heat-map.md", "| Utilisation (%) |", "| 85 |"),
        (
            "report-utilisation-grid.md",
            "| Delay 20 ms (%) |",
            "| 85 |",
        ),
    ] {
        let text = read(table);
        assert!(text.contains(unit) && text.contains(cell), "{text}");
    }
    // For programs it is the ratio that METRICS.md names.
    for table in ["report-heat-map.csv", "report-utilisation-grid.csv"] {
        assert!(read(table).contains("0.85"), "{}", read(table));
    }
}

#[test]
fn what_is_no_number_of_flows_is_said() {
    let manifest = format!("{MANIFEST}flow_count = \"flows\"\n");
    for (flows, is_said) in [("0", true), ("2.5", true), ("", false), ("2", false)] {
        let runs = format!("cca,goodput,flows\nbbr,9,1\nbbr,11,{flows}\nreno,8,\n");
        let folder = folder_with(&[("runs.csv", &runs)], &manifest);
        let said = format!("line 3: {flows} in column 'flows' is no number of flows");
        if is_said {
            let found = mistakes(folder.path());
            assert!(found.contains(&said), "{found}");
        } else {
            assert_eq!(carried_out(folder.path()).runs.len(), 3);
        }
    }
}

/// METRICS.md, rules of Y7.
#[test]
fn a_label_whose_type_is_text_has_all_digits_of_its_cells() {
    let runs = "cca,goodput\n5.0,9\n5,11\n1e3,8\n+5,7\n";
    for (kind, expected) in [
        ("[labels.cca]\ntype = \"text\"\n", ["5.0", "5", "1e3", "+5"]),
        ("", ["5", "5", "1000", "5"]),
    ] {
        let (study, measured) = MANIFEST.split_once("[[measured]]").unwrap();
        let study = study.replace("report = \"access-network\"", "");
        let (study, _) = study.split_once("[reports").unwrap();
        let manifest = format!("{study}{kind}[[measured]]{measured}");
        let folder = folder_with(&[("runs.csv", runs)], &manifest);
        let results = carried_out(folder.path());
        let values = results.runs.iter().map(|run| run.labels[0].clone());
        let texts: Vec<String> = values
            .flatten()
            .map(|value| value.text().to_owned())
            .collect();
        assert_eq!(texts, expected);
    }
}

/// Two flows in each run, and runs of which no flows are known.
const SUMMARY: &str = r#"
[study]
group_by = ["cca"]
report = "summary"
[[measured]]
files = "flows.csv"
rows = "flows"
run = ["run"]
columns = { run = "run", cca = "cca" }
metrics = { goodput_bps = "a_bps", rtt_ns_mean = "rtt_ns", queue_delay_ns_mean = "queue_ns" }
[[measured]]
files = "runs.csv"
columns = { run = "run", cca = "cca" }
metrics = { goodput_bps = "a_bps" }
"#;

#[test]
fn a_summary_tells_what_shared_the_link_where_labels_do_not() {
    let has_compositions = |alone: &str| {
        let flows =
            "run,cca,a_bps,rtt_ns,queue_ns\n1,bbr,8e6,,\n1,reno,1e6,,\n2,bbr,9e6,,\n2,reno,3e6,,\n";
        let alone = format!("run,cca,a_bps,rtt_ns,queue_ns\n3,{alone},5e6,,\n4,{alone},6e6,,\n");
        let manifest = SUMMARY.replace("\"flows.csv\"", "[\"flows.csv\", \"alone.csv\"]");
        let manifest = manifest.rsplit_once("[[measured]]").unwrap().0;
        let tables = [("flows.csv", flows), ("alone.csv", &alone)];
        let results = carried_out(folder_with(&tables, manifest).path());
        let columns = &report(&results, "summary").columns;
        columns.iter().any(|column| column.name == "composition")
    };
    assert!(has_compositions("bbr"));
    assert!(!has_compositions("vegas"));
}

fn summary_of(more: &str) -> tempfile::TempDir {
    let flows = "run,cca,a_bps,rtt_ns,queue_ns\n1,bbr,8e6,40e6,2e7\n1,reno,1e6,50e6,3e7\n2,bbr,9e6,,1e7\n2,reno,3e6,60e6,3e7\n";
    let runs = "run,cca,a_bps\n3,vegas,5e6\n";
    folder_with(
        &[("flows.csv", flows), ("runs.csv", runs)],
        &format!("{SUMMARY}{more}"),
    )
}

#[test]
fn a_summary_has_what_flows_got_and_runs_where_no_flows_are_known() {
    let results = carried_out(summary_of("").path());
    let table = report(&results, "summary");
    // No run of both as a whole.
    assert_eq!(column(table, "cca"), ["bbr", "reno", "vegas"]);
    assert_eq!(column(table, "n"), ["2", "2", "1"]);
    assert_eq!(column(table, "rtt_ms_n")[..2], ["1", "2"]);
    let goodputs = numbers(table, "goodput_mbps_mean");
    assert_eq!(goodputs, [Some(8.5), Some(2.0), Some(5.0)]);
    // t(0.975, 1) = 12.706: times s / sqrt(2), which is half of the difference.
    let halves = numbers(table, "goodput_mbps_ci95_half");
    assert!(
        (halves[0].unwrap() - 12.706 * 0.5).abs() < 1e-3,
        "{halves:?}"
    );
    assert_eq!(halves[2], None);
    let folder = summary_of("");
    let args = ["study", "study.toml", "--out", "out", "--no-charts"];
    assert_eq!(run(folder.path(), &args).status, 0);
    let read = |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let text = read("report-summary.md");
    let title = "# study: Means of each group, ± half of their 95 % confidence interval\n";
    assert!(text.starts_with(title), "{text}");
    assert!(
        text.contains("| n | Goodput (Mbit/s) | RTT (ms) |\n"),
        "{text}"
    );
    assert!(text.contains(" | 2 | 8.5 ± 6.4 | 40 (n = 1) |\n"), "{text}");
    assert!(text.contains(" | 1 | 5 |  |\n"), "{text}");
    let text = read("report-summary.tex");
    let caption = "\\caption{study: Means of each group, ± half of their 95 \\% confidence interval}\\label{tab:study-report-summary}\n";
    assert!(text.contains(caption), "{text}");
    assert!(
        text.contains(" & 2 & 8.5 $\\pm$ 6.4 & 40 (n = 1) \\\\\n"),
        "{text}"
    );
}

#[test]
fn a_summary_speaks_of_intervals_where_it_has_some() {
    let runs = "run,cca,a_bps\n3,vegas,5e6\n";
    let (study, runs_alone) = SUMMARY.split_once("[[measured]]").unwrap();
    let (_, runs_alone) = runs_alone.split_once("[[measured]]").unwrap();
    let study = format!("{study}[[measured]]{runs_alone}");
    for (more, title) in [
        ("", "Means of each group"),
        (
            "4,vegas,6e6\n",
            "Means of each group, ± half of their 95 % confidence interval",
        ),
    ] {
        let runs = format!("{runs}{more}");
        let results = carried_out(folder_with(&[("runs.csv", &runs)], &study).path());
        assert_eq!(report(&results, "summary").title, title);
    }
}

#[test]
fn a_summary_tells_of_the_queue_where_the_manifest_says_so() {
    let section = "[reports.summary]\ndelay = \"queue_delay_ns_mean\"\n";
    let results = carried_out(summary_of(section).path());
    let delays = numbers(report(&results, "summary"), "queue_delay_ms_mean");
    assert_eq!(delays, [Some(15.0), Some(30.0), None]);
    let said = mistakes(summary_of(&section.replace("queue_delay_ns_mean", "rtt_ns_max")).path());
    assert!(said.contains("'delay' cannot be 'rtt_ns_max'"), "{said}");
}

/// Of runs of one flow some come with their flow and others without it; so do runs of two flows.
#[test]
fn a_summary_takes_all_runs_of_one_flow_together_and_what_several_got_apart() {
    let flows = "run,cca,a_bps,rtt_ns\n1,bbr,8e6,40e6\n2,bbr,6e6,\n3,reno,1e6,\n3,reno,3e6,\n";
    let runs = "run,cca,a_bps,flows\n4,bbr,1e6,\n5,bbr,5e6,1\n6,reno,9e6,2\n";
    let study = SUMMARY.replace(", queue_delay_ns_mean = \"queue_ns\"", "");
    let study = study.replace(
        "{ goodput_bps = \"a_bps\" }",
        "{ goodput_bps = \"a_bps\", flow_count = \"flows\" }",
    );
    for (more, words) in [
        (
            "",
            [Some("1 flow"), Some("2 flows"), Some("2 flows together")],
        ),
        (
            "compositions = \"together\"\n[[measured]]",
            [None, None, Some("together")],
        ),
    ] {
        let study = match more {
            "" => study.clone(),
            more => study.replacen("[[measured]]", more, 1),
        };
        let tables = [("flows.csv", flows), ("runs.csv", runs)];
        let results = carried_out(folder_with(&tables, &study).path());
        let table = report(&results, "summary");
        assert_eq!(column(table, "cca"), ["bbr", "reno", "reno"]);
        let words = words.map(|words| words.unwrap_or_default().to_owned());
        assert_eq!(column(table, "composition"), words);
        assert_eq!(column(table, "goodput_mbps_n"), ["4", "1", "1"]);
        let goodputs = numbers(table, "goodput_mbps_mean");
        assert_eq!(goodputs, [Some(5.0), Some(2.0), Some(9.0)]);
        // What no run without flows tells is of the others.
        assert_eq!(column(table, "rtt_ms_n")[0], "1");
        let of_runs = results
            .groups
            .iter()
            .find(|group| (group.kind, group.metric) == (SampleKind::Run, Metric::GoodputBps));
        let statistics = &of_runs.unwrap().statistics;
        assert_eq!(statistics.n, 4);
        assert!((statistics.mean - 5e6).abs() < 1e-3, "{}", statistics.mean);
    }
}
