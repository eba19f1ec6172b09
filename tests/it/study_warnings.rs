//! What `ccanalyze study` says of runs that are not as their manifest means them.

use std::fs;

use ccanalyze::Analysis;
use ccanalyze::analyze::Config;

use super::cli::run;
use super::support::capture;

#[test]
fn a_label_that_no_flow_gets_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("50m_1.pcap")).unwrap();
    // The server's port is 5001.
    for (port, said) in [("5099", true), ("5001", false)] {
        let study = format!(
            "[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap\"\n[[runs.flows]]\nlabel = \"cca\"\nby = \"server\"\nvalues = {{ {port} = \"cubic\" }}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let warning = "warning: label 'cca': no flow has got one";
        assert_eq!(run.stderr.contains(warning), said, "{}", run.stderr);
    }
    // What only flows have is known when they have been looked at.
    for (baseline, said) in [("reno", true), ("cubic", false)] {
        let study = format!(
            "[study]\nbaseline = {{ cca = \"{baseline}\" }}\ngroup_by = [\"cca\"]\n[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap\"\n[[runs.flows]]\nlabel = \"cca\"\nby = \"server\"\nvalues = {{ 5001 = \"cubic\", 5002 = \"reno\" }}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let warning = "warning: baseline: nothing has cca = \"reno\"";
        assert_eq!(run.stderr.contains(warning), said, "{}", run.stderr);
    }
}

/// The capture is of 2026 and takes half a second.
#[test]
fn a_capacity_trace_of_another_time_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("50m_1.pcap")).unwrap();
    for (times, origin, said) in [
        ([0.0, 0.1, 0.2], "first record", false),
        // Seconds of milliseconds, those of the epoch after the first record, and the other way round.
        ([0.0, 100.0, 200.0], "first record", true),
        ([1.7e9, 1.7e9 + 0.1, 1.7e9 + 0.2], "first record", true),
        ([0.0, 0.1, 0.2], "epoch", true),
    ] {
        let rows = times.map(|time| format!("{time},{}", 20.0 + time % 7.0));
        let rates = format!("t_s,mbps\n{}\n", rows.join("\n"));
        fs::write(folder.path().join("rates.csv"), rates).unwrap();
        let study = format!(
            "[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap\"\n[runs.conditions]\ncapacity = {{ trace = \"rates.csv\", time = \"t_s\", rate = \"mbps\", origin = \"{origin}\" }}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--no-charts"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let warning =
            "warning: 50m_1.pcap: its capacity trace has no other rate that begins during";
        assert_eq!(run.stderr.contains(warning), said, "{}", run.stderr);
    }
    // One rate is a constant.
    fs::write(folder.path().join("rates.csv"), "t_s,mbps\n0,20\n").unwrap();
    let run = run(
        folder.path(),
        &["study", "s.toml", "--out", "s", "--no-charts"],
    );
    assert!(!run.stderr.contains("capacity trace"), "{}", run.stderr);
}

#[test]
fn a_label_of_too_many_values_is_not_compared_two_by_two() {
    let folder = tempfile::tempdir().unwrap();
    // 64 values have 64 * 63 / 2 pairs.
    for (values, pairs) in [(64, 2016), (65, 0)] {
        let rows = (0..values).flat_map(|value| [(value, 10), (value, 11)]);
        let rows = rows.map(|(value, rate)| format!("t{value},{rate}"));
        let rows = rows.collect::<Vec<_>>().join("\n");
        fs::write(folder.path().join("r.csv"), format!("trace,mbps\n{rows}")).unwrap();
        let study = "[[measured]]\nfiles = \"r.csv\"\ncolumns = { trace = \"trace\" }\n[measured.metrics]\ngoodput_bps = { column = \"mbps\", unit = \"Mbit\" }\n";
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let args = ["study", "s.toml", "--out", "s", "--no-charts"];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let warning = "warning: label 'trace' has 65 values, too many to compare two by two";
        assert_eq!(run.stderr.contains(warning), pairs == 0, "{}", run.stderr);
        let rows = |table: &str| {
            let text = fs::read_to_string(folder.path().join("s").join(table));
            text.map_or(0, |text| text.lines().count() - 1)
        };
        assert_eq!(rows("comparisons.csv"), pairs);
        assert_eq!(rows("tests.csv"), 1);
    }
}

#[test]
fn where_a_label_has_fewer_values_it_is_compared_two_by_two() {
    let folder = tempfile::tempdir().unwrap();
    // All of 65 values have a rate, and two of them a round-trip time, too.
    let rows = (0..65).flat_map(|value| {
        let rtt = |ms: &'static str| if value < 2 { ms } else { "" };
        [
            format!("t{value},10,{}\n", rtt("5")),
            format!("t{value},11,{}\n", rtt("6")),
        ]
    });
    let rows: String = rows.collect();
    fs::write(
        folder.path().join("r.csv"),
        format!("trace,mbps,ms\n{rows}"),
    )
    .unwrap();
    let study = "[[measured]]\nfiles = \"r.csv\"\ncolumns = { trace = \"trace\" }\n[measured.metrics]\ngoodput_bps = { column = \"mbps\", unit = \"Mbit\" }\nrtt_ns_mean = { column = \"ms\", unit = \"ms\" }\n";
    fs::write(folder.path().join("s.toml"), study).unwrap();
    let args = ["study", "s.toml", "--out", "s", "--no-charts"];
    let run = run(folder.path(), &args);
    let said = "label 'trace' has 65 values, too many to compare two by two (64 at most): `comparisons` has those alone of metrics and settings that have fewer";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let text = fs::read_to_string(folder.path().join("s/comparisons.csv")).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn a_mistake_in_a_filter_says_that_it_is_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("50m_1.pcap")).unwrap();
    let study = "[analysis]\nfilter = \"prt 80\"\n[[runs]]\nfiles = \"{rate}_{run}.pcap\"\n";
    fs::write(folder.path().join("s.toml"), study).unwrap();
    let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    let said = "s.toml:2: filter 'prt 80': column 1: expected `host`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_window_without_a_whole_bin_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("50m_1.pcap")).unwrap();
    for (window, status) in [("0s+90ms", 2), ("0s+300ms", 0)] {
        let study = format!(
            "[analysis]\nwindow = \"{window}\"\n[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap\"\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, status, "{}", run.stderr);
        let said = run
            .stderr
            .contains("its window holds no whole bin of 100 ms");
        assert_eq!(said, status == 2, "{}", run.stderr);
    }
}

#[test]
fn a_baseline_that_no_flow_can_have_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("50m_1.pcap")).unwrap();
    let rule = "label = \"cca\"\nby = \"server\"\nvalues = { 5001 = \"cubic\", 5002 = \"bbr\" }";
    for (baseline, rule, said) in [
        (
            "cubik",
            rule,
            "s.toml:2: no run or flow has cca = 'cubik'; did you mean 'cubic'?",
        ),
        (
            "reno",
            rule,
            "s.toml:2: no run or flow has cca = 'reno'; there are bbr, cubic",
        ),
        // What runs of several flows are called.
        ("bbr+cubic", rule, ""),
        ("cubic+unlabelled", rule, ""),
        // One mistake has one message.
        (
            "cubic",
            "label = \"cca\"\nby = \"srver\"\nvalues = { 5001 = \"cubic\" }",
            "s.toml:8: flows cannot be told apart by 'srver'; did you mean 'server'?",
        ),
    ] {
        let study = format!(
            "[study]\nbaseline = {{ cca = \"{baseline}\" }}\ngroup_by = [\"cca\"]\n[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap\"\n[[runs.flows]]\n{rule}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, if said.is_empty() { 0 } else { 2 });
        let wrong = run.stderr.lines().filter(|line| line.contains("s.toml:"));
        let wrong: Vec<&str> = wrong.collect();
        match wrong.as_slice() {
            [] => assert!(said.is_empty(), "{}", run.stderr),
            [wrong] => assert!(wrong.ends_with(said) && !said.is_empty(), "{wrong}"),
            several => panic!("{several:?}"),
        }
    }
}

#[test]
fn runs_of_several_flows_that_nothing_tells_apart_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let pair = capture("two-flows-cubic-bbr.pcap.zst");
    fs::copy(pair, folder.path().join("50m_1.pcap.zst")).unwrap();
    let said = "warning: nothing tells the 2 flows of 50m_1.pcap.zst apart: [[runs.flows]] gives flows labels of their own, such as label = \"cca\", by = \"server\", values = { 5001 = \"...\", 5002 = \"...\" }\n";
    for (more, is_said) in [
        ("", true),
        ("labels = { cca = \"cubic\" }", false),
        (
            "[[runs.flows]]\nlabel = \"cca\"\nby = \"start\"\nvalues = [\"cubic\", \"bbr\"]",
            false,
        ),
    ] {
        let study = format!("[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap.zst\"\n{more}\n");
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(run.stderr.contains(said), is_said, "{}", run.stderr);
    }
}

#[test]
fn values_by_the_order_of_start_that_no_flow_gets_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let pair = capture("two-flows-cubic-bbr.pcap.zst");
    fs::copy(pair, folder.path().join("50m_1.pcap.zst")).unwrap();
    let said = "warning: label 'cca': 3 values by the order of start, and no run has so many flows that count: 50m_1.pcap.zst has 2 flows\n";
    for (values, is_said) in [
        ("\"cubic\", \"bbr\", \"reno\"", true),
        ("\"cubic\", \"bbr\"", false),
    ] {
        let study = format!(
            "[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap.zst\"\n[[runs.flows]]\nlabel = \"cca\"\nby = \"start\"\nvalues = [{values}]\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let args = ["study", "s.toml", "--out", "s", "--no-charts"];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(run.stderr.contains(said), is_said, "{}", run.stderr);
        assert_eq!(
            run.stderr.contains("order of start"),
            is_said,
            "{}",
            run.stderr
        );
    }
}

#[test]
fn flows_that_match_no_value_of_a_label_are_said_and_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let pair = capture("two-flows-cubic-bbr.pcap.zst");
    fs::copy(pair, folder.path().join("50m_1.pcap.zst")).unwrap();
    for (rule, said) in [
        (
            "by = \"start\"\nvalues = [\"cubic\"]",
            "label 'cca': 1 flow of 1 run got none, and stand in groups of their own: no `values` of its [[runs.flows]] fits; the first is number 2 to start of 50m_1.pcap.zst: name number 2 there, or",
        ),
        (
            "by = \"server\"\nvalues = { 5001 = \"cubic\" }",
            ":5002 of 50m_1.pcap.zst: name 5002 there, or give all that are left a value by `other`",
        ),
        ("by = \"start\"\nvalues = [\"cubic\"]\nother = \"bbr\"", ""),
    ] {
        let study = format!(
            "[[runs]]\nfiles = \"{{rate}}_{{run}}.pcap.zst\"\n[[runs.flows]]\nlabel = \"cca\"\n{rule}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(run.stderr.contains("label 'cca'"), !said.is_empty());
        assert!(run.stderr.contains(said), "{}", run.stderr);
        let runs = fs::read_to_string(folder.path().join("s/runs.csv")).unwrap();
        let called = if said.is_empty() {
            ",bbr+cubic,"
        } else {
            ",cubic+unlabelled,"
        };
        assert!(runs.contains(called), "{runs}");
    }
}

#[test]
fn a_capacity_that_a_run_exceeds_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for to in ["100k_1.pcap", "100k_2.pcap", "20m_1.pcap"] {
        fs::copy(capture("drop-one.pcap"), folder.path().join(to)).unwrap();
    }
    let said = ": its goodput is ";
    let more = "more than the capacity given, 100 kbit/s: figures that rest on the capacity, such as utilisation, are wrong";
    for (files, others) in [
        ("{rate}_{run}.pcap", Some("; so it is of 1 other run\n")),
        ("{rate}_2.pcap", Some("\n")),
        ("20m_{rate}.pcap", None),
    ] {
        let capacity = if others.is_some() { "{rate}" } else { "20Mbit" };
        let study = format!(
            "[[runs]]\nfiles = \"{files}\"\n[runs.conditions]\ncapacity = \"{capacity}\"\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--report", "s.html"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(run.stderr.contains(said), others.is_some());
        let page = fs::read_to_string(folder.path().join("s.html")).unwrap();
        assert_eq!(page.contains(more), others.is_some());
        if let Some(others) = others {
            let line = format!("{more}{others}");
            assert!(run.stderr.contains(&line), "{}", run.stderr);
        }
    }
}

#[test]
fn a_mistake_that_many_runs_show_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    for rate in ["10x", "20x"] {
        for repetition in 1..=3 {
            let name = format!("cubic_{rate}_{repetition}.pcap");
            fs::copy(capture("drop-one.pcap"), folder.path().join(name)).unwrap();
        }
    }
    for (line, said) in [
        (
            "[runs.conditions]\ncapacity = \"{rate}\"",
            &[
                "s.toml:4: '10x' has no unit of a rate ('x' is none): write it as 50Mbit, 1.5Gbit/s or 800kbit (from '{rate}', for cubic_10x_1.pcap) (and so for 2 more runs)",
                "s.toml:4: '20x' has no unit of a rate ('x' is none): write it as 50Mbit, 1.5Gbit/s or 800kbit (from '{rate}', for cubic_20x_1.pcap) (and so for 2 more runs)",
            ][..],
        ),
        (
            "after = \"{cca}_{rate}.pcap\"",
            &[
                "/cubic_10x.pcap: there is no such file; did you mean 'cubic_10x_1.pcap'? (and so for 5 more runs)",
            ],
        ),
        (
            "[runs.conditions]\ncapacity = { trace = \"{rate}.csv\", time = \"t\", rate = \"r\" }",
            &["/10x.csv: there is no such file (and so for 5 more runs)"],
        ),
        (
            "[labels.rate]\nunit = \"Mbit\"",
            &[
                "s.toml:2: cubic_10x_1.pcap: label 'rate': '10x' is not a rate (50Mbit, 1.5Gbit/s, 800kbit) (and so for 5 more runs)",
            ],
        ),
    ] {
        let study = format!("[[runs]]\nfiles = \"{{cca}}_{{rate}}_{{run}}.pcap\"\n{line}\n");
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), said.len(), "{}", run.stderr);
        for (line, said) in run.stderr.lines().zip(said) {
            assert!(line.contains(said), "{line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_capture_that_is_a_run_already_is_said_once_a_section() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("cubic_1.pcap")).unwrap();
    for repetition in 2..=4 {
        let name = folder.path().join(format!("cubic_{repetition}.pcap"));
        std::os::unix::fs::symlink("cubic_1.pcap", name).unwrap();
    }
    let section = "[[runs]]\nfiles = \"{cca}_{run}.pcap\"\n";
    for (study, said) in [
        (
            section.to_owned(),
            "error: s.toml:2: cubic_2.pcap is the same file as cubic_1.pcap, which is already a run by line 2: each capture may count only once (and so for 2 more runs)\n",
        ),
        (
            section.replace("{run}", "1").repeat(2),
            "error: s.toml:4: cubic_1.pcap is already a run by line 2: each capture may count only once\n",
        ),
    ] {
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!((run.status, run.stderr.as_str()), (2, said));
    }
}

#[test]
fn a_report_without_rows_says_what_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(
        capture("two-flows-cubic-bbr.pcap.zst"),
        folder.path().join("20m_1.pcap"),
    )
    .unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("50m_1.pcap")).unwrap();
    for (files, report, said) in [
        ("50m_{run}.pcap", "pairs", Some("runs of two flows")),
        ("20m_{run}.pcap", "pairs", None),
        (
            "50m_{run}.pcap",
            "split-accuracy",
            Some("runs with goodput_bps and predicted_bps"),
        ),
        ("50m_{run}.pcap", "mobility", None),
    ] {
        let study = format!(
            "[study]\nreport = \"{report}\"\n[[runs]]\nfiles = \"{files}\"\nlabels = {{ cca = \"any\" }}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--no-charts"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let warning =
            said.map(|takes| format!("warning: report '{report}' has no rows: it takes {takes}\n"));
        assert_eq!(
            run.stderr.contains("has no rows"),
            said.is_some(),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr.contains(&warning.unwrap_or_default()),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn round_trip_times_without_the_queue_of_the_link_are_said_to_be_so() {
    // One capture was taken behind the queue of its bottleneck, the other before it.
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("reno_1.pcap")).unwrap();
    fs::copy(
        capture("tail-loss-probe.pcap.zst"),
        folder.path().join("cubic_1.pcap.zst"),
    )
    .unwrap();
    let said = "reno_1.pcap: was captured behind the link, so that its round-trip times lack the queue there: ";
    let note = "captured behind the link";
    for (files, is_said, notes) in [
        ("\"{cca}_1.pcap\"", true, ["; captured", note]),
        (
            "[\"{cca}_1.pcap\", \"{cca}_1.pcap.zst\"]",
            true,
            ["; 1 of all 2 runs captured", note],
        ),
        ("\"{cca}_1.pcap.zst\"", false, [""; 2]),
    ] {
        let study = format!("[[runs]]\nfiles = {files}\n");
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let args = [
            "study", "s.toml", "--out", "s", "--svg", "--report", "s.html",
        ];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(
            run.stderr.contains(&format!("warning: {said}")),
            is_said,
            "{}",
            run.stderr
        );
        let page = fs::read_to_string(folder.path().join("s.html")).unwrap();
        assert_eq!(page.contains(said), is_said);
        let chart = |name: &str| {
            let path = folder.path().join("s/charts").join(name);
            fs::read_to_string(path).unwrap()
        };
        let latency = chart("bars-latency.svg");
        assert!(notes.iter().all(|note| latency.contains(note)), "{files}");
        assert_eq!(latency.contains(note), is_said, "{files}");
        assert!(!chart("bars-goodput.svg").contains(note), "{files}");
    }
}

#[test]
fn flows_that_exceed_the_capacity_of_their_run_are_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let table =
        "rep,mbps,bytes\n1,5,1000000\n1,14,2896\n1,12,5792\n2,5,1000000\n2,11,1448\n3,9,1000000\n";
    fs::write(folder.path().join("flows.csv"), table).unwrap();
    for (capacity, said) in [
        (
            "10Mbit",
            "warning: flows.csv [rep=1]: 2 of 3 flows with a goodput above the capacity given, 10.0 Mbit/s, the most 14.0 Mbit/s (2,896 bytes): what is told of these by the capacity, such as utilisation, is wrong; `min_flow` leaves out flows of captures that are too small to fill a link; so it is of 1 other run\n",
        ),
        ("20Mbit", ""),
    ] {
        let study = format!(
            "[[measured]]\nfiles = \"flows.csv\"\nrows = \"flows\"\nrun = [\"rep\"]\ncolumns = {{ rep = \"rep\" }}\n[measured.metrics]\ngoodput_bps = \"mbps\"\nacked_bytes = {{ column = \"bytes\", unit = \"B\" }}\n[measured.conditions]\ncapacity = \"{capacity}\"\n"
        );
        fs::write(
            folder.path().join("s.toml"),
            study.replace("\"mbps\"", "{ column = \"mbps\", unit = \"Mbit\" }"),
        )
        .unwrap();
        let args = ["study", "s.toml", "--out", "s", "--report", "s.html"];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let page = fs::read_to_string(folder.path().join("s.html")).unwrap();
        for text in [&run.stderr, &page] {
            assert_eq!(
                text.contains("with a goodput above"),
                !said.is_empty(),
                "{text}"
            );
        }
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_run_whose_flows_are_all_too_small_says_how_large_they_are() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("cubic_1.pcap")).unwrap();
    let analysis = Analysis::of([capture("drop-one.pcap")], &Config::default());
    let flows = analysis.captures[0].flows();
    let largest = flows.map(|flow| flow.payload_bytes()).max().unwrap();
    for (min_flow, status) in [(largest + 1, 2), (largest, 0)] {
        let study = format!(
            "[analysis]\nmin_flow = \"{min_flow}B\"\n[[runs]]\nfiles = \"{{cca}}_{{run}}.pcap\"\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, status, "{}", run.stderr);
        let said = format!(
            "error: cubic_1.pcap: left out: no flow has as much payload as `min_flow` asks for, {min_flow} bytes: the largest has {largest}\n"
        );
        assert_eq!(run.stderr.contains(&said), status == 2, "{}", run.stderr);
    }
}

#[test]
fn runs_of_one_group_that_hold_the_same_connection_are_said() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("drop-one.pcap", "cubic_1.pcap"),
        ("drop-one.pcap", "cubic_2.pcap"),
        ("drop-one.pcap", "cubic_3.pcap"),
        ("keep-alive.pcap", "cubic_4.pcap"),
        ("drop-one.pcap", "bbr_1.pcap"),
    ] {
        fs::copy(capture(from), folder.path().join(to)).unwrap();
    }
    let study = |files: &str| {
        let study = format!("[study]\ngroup_by = [\"cca\"]\n[[runs]]\nfiles = {files}\n");
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--report", "s.html"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let page = fs::read_to_string(folder.path().join("s.html")).unwrap();
        assert_eq!(
            run.stderr.contains("hold the same connection"),
            page.contains("hold the same connection")
        );
        run.stderr
    };
    let said = study("\"{cca}_{run}.pcap\"");
    let line = "warning: cubic_1.pcap and cubic_2.pcap hold the same connection, ";
    assert!(said.contains(line), "{said}");
    assert!(said.contains("; so do 2 other pairs\n"), "{said}");
    // One in each group, and two of one group that are not the same.
    let said = study("[\"cubic_3.pcap\", \"cubic_4.pcap\", \"{cca}_1.pcap\"]");
    assert!(!said.contains("hold the same connection"), "{said}");
}
