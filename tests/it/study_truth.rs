//! The studies of `examples/studies` against what the testbed and the simulator logged.

use std::fs;
use std::io::Read;
use std::path::Path;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Cells, Metric, ReportTable, StudyFlow, StudyPlan, StudyResults, StudyRun};
use flate2::read::GzDecoder;
use serde_json::Value;

use super::support::{root, shared_beside};

/// A study of `examples/studies`, as far as `wanted` names its runs.
fn study(name: &str, wanted: impl Fn(&str) -> bool) -> StudyResults {
    let mut plan = StudyPlan::read(&root().join("examples/studies").join(name))
        .unwrap_or_else(|error| panic!("{error}"));
    plan.runs.retain(|run| wanted(&run.name));
    plan.carry_out(None, &Watch::default())
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn label<'a>(results: &StudyResults, run: &'a StudyRun, name: &str) -> &'a str {
    let place = results
        .labels
        .iter()
        .position(|label| label.name == name)
        .unwrap();
    run.labels[place].as_ref().unwrap().text()
}

fn flow_label<'a>(results: &StudyResults, flow: &'a StudyFlow, name: &str) -> &'a str {
    let place = results
        .labels
        .iter()
        .position(|label| label.name == name)
        .unwrap();
    flow.labels[place].as_ref().unwrap().text()
}

/// The cells of a column of texts, or of numbers as texts.
fn column(table: &ReportTable, name: &str) -> Vec<Option<String>> {
    let column = table
        .columns
        .iter()
        .find(|column| column.name == name)
        .unwrap();
    match &column.cells {
        Cells::Text(cells) => cells.clone(),
        Cells::Real(cells) => cells
            .iter()
            .map(|cell| cell.map(|number| number.to_string()))
            .collect(),
        Cells::Count(cells) => cells
            .iter()
            .map(|cell| cell.map(|number| number.to_string()))
            .collect(),
    }
}

fn close(found: Option<f64>, expected: f64, tolerance: f64, what: &str) {
    let found = found.unwrap_or_else(|| panic!("{what}: nothing, for {expected}"));
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "{what}: {found} for {expected}"
    );
}

#[test]
fn the_testbed_study_agrees_with_its_log() {
    let Some(lab) = shared_beside("lab") else {
        return;
    };
    // Downloads alone, in company, and in pairs, at two of the four places.
    let results = study("lab.toml", |name| {
        (name.starts_with("s1-") || name.starts_with("s2-") || name.contains("-2bdp/"))
            && (name.contains("sender") || name.contains("egress"))
    });
    let mut flows = 0;
    for run in &results.runs {
        assert_eq!(run.error, None, "{}", run.name);
        let (scenario, file) = run.name.split_once('/').unwrap();
        let vantage = file.split('.').next().unwrap();
        let truth = json(&lab.join(scenario).join("truth.json"));
        let rate = truth["configured"]["rate_bps"].as_f64().unwrap();
        close(run.conditions.capacity_bps(), rate, 0.0, &run.name);
        assert_eq!(
            run.flows.len(),
            truth["flows"].as_array().unwrap().len(),
            "{}",
            run.name
        );
        for flow in &run.flows {
            let port = u64::from(flow.measure.ends.unwrap().sender.port());
            let known = truth["flows"]
                .as_array()
                .unwrap()
                .iter()
                .find(|known| known["sport"] == port);
            let known = known.unwrap();
            let seen = &known["seen_at"][vantage];
            let what = format!("{} port {port}", run.name);
            let value = |metric| flow.measure.values.get(metric);
            close(
                value(Metric::AckedBytes),
                seen["down_acked_bytes"].as_f64().unwrap(),
                0.0,
                &what,
            );
            close(
                value(Metric::IpBytes),
                seen["down_ip_bytes"].as_f64().unwrap(),
                0.0,
                &what,
            );
            // The log's rates are written with one digit behind the point.
            close(
                value(Metric::GoodputBps),
                seen["down_goodput_bps"].as_f64().unwrap(),
                1e-6,
                &what,
            );
            assert_eq!(flow_label(&results, flow, "cca"), known["cc"], "{what}");
            flows += 1;
        }
    }
    assert!(flows >= 60, "{flows}");
    let mixed = results
        .runs
        .iter()
        .find(|run| run.name.starts_with("s2-six-mixed"))
        .unwrap();
    assert_eq!(label(&results, mixed, "cca"), "bbr+cubic");
    assert_eq!(
        mixed
            .values
            .get(Metric::SharingBound)
            .map(|bound| (bound * 100.0).round()),
        Some(245.0)
    );
    // Three against three is a row of the access-network report, beside six of a kind.
    let report = results
        .reports
        .iter()
        .find(|table| table.name == "access-network")
        .unwrap();
    let connections = column(report, "connections");
    for expected in [
        "1 connection",
        "6 connections - same TCP",
        "3+3 connections (mixed)",
    ] {
        assert!(
            connections.contains(&Some(expected.to_owned())),
            "{expected} in {connections:?}"
        );
    }
}

/// Mean of the largest queue of each 10 ms between two times in ms; intervals in which nothing waited are not logged.
fn mean_queue_bytes(log: &Path, [from_ms, to_ms]: [f64; 2]) -> f64 {
    let mut text = String::new();
    let file = fs::File::open(log).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let number = |cell: Option<&str>| cell.unwrap().parse::<f64>().unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let mut cells = line.split(',');
        let [at_ms, _, bytes] = [0; 3].map(|_| number(cells.next()));
        (at_ms, bytes)
    });
    let within = rows.filter(|(at_ms, _)| (from_ms..=to_ms).contains(at_ms));
    within.map(|(_, bytes)| bytes).sum::<f64>() * 10.0 / (to_ms - from_ms)
}

#[test]
fn captures_from_before_the_queue_tell_how_full_it_is() {
    let Some(lab) = shared_beside("lab") else {
        return;
    };
    let results = study("pairs.toml", |name| name.starts_with("s3-two"));
    assert!(results.runs.len() >= 10, "{}", results.runs.len());
    let first_ns = |run: &StudyRun| run.flows[0].measure.span_ns.unwrap().0;
    let mut compared = 0;
    for run in &results.runs {
        let share = run.values.get(Metric::QueueShare);
        assert!(
            share.is_some_and(|share| share > 0.0),
            "{}: {share:?}",
            run.name
        );
        if label(&results, run, "buffer") != "2bdp" {
            continue;
        }
        // The second flow, which comes from another host, begins when the first one has filled the queue.
        let late = &run.flows[1].measure;
        let (start_ns, end_ns) = late.span_ns.unwrap();
        let log = lab.join(run.name.rsplit_once('/').unwrap().0);
        let full_bytes = 125_000.0;
        // The log counts from the run's first packet, its handshake of 50 ms.
        let within = [start_ns, end_ns].map(|ns| (ns - first_ns(run)) as f64 / 1e6 + 50.0);
        let expected = mean_queue_bytes(&log.join("queue.csv.gz"), within) / full_bytes;
        let share = late.values.get(Metric::QueueShare).unwrap();
        // The log has the largest of each 10 ms.
        assert!(
            (share - expected).abs() < 0.04,
            "{}: {share} for {expected}",
            run.name
        );
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

/// METRICS.md Y2: the lab's captures are of known places, and all that the simulator took are from behind its link.
#[test]
fn the_side_of_the_queue_is_told_by_packets_or_not_at_all() {
    let (Some(lab), Some(_)) = (shared_beside("lab"), shared_beside("ns3")) else {
        return;
    };
    let runs = [
        ("lab/s1-single-50m-*/{place}.pcap.zst", "\"50Mbit\""),
        ("lab/s3-two-*/{place}.pcap.zst", "\"10Mbit\""),
        ("lab/s5-loss?-d*/{place}.pcap.zst", "\"10Mbit\""),
        (
            "ns3/mobility/{name}/{place}.pcap.zst",
            "{ trace = \"ns3/mobility/{name}/rate.csv.zst\", time = \"t_s\", rate = \"bottleneck_mbps\", rate_unit = \"Mbit\" }",
        ),
    ];
    let runs = runs.map(|(files, capacity)| {
        format!("[[runs]]\nfiles = \"{files}\"\n[runs.conditions]\ncapacity = {capacity}\nbuffer = \"100 packets\"\n")
    });
    let manifest = format!(
        "[study]\nfolder = '{}'\ngroup_by = [\"place\"]\n{}",
        lab.parent().unwrap().display(),
        runs.concat()
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
    let results = plan.carry_out(None, &Watch::default());
    let mut told = 0;
    for run in &results.runs {
        let has_share = run.values.get(Metric::QueueShare).is_some();
        let is_before = ["sender", "ingress"].contains(&label(&results, run, "place"));
        assert!(!has_share || is_before, "{}", run.name);
        told += usize::from(has_share);
    }
    // Of all that were taken before it.
    let before = results
        .runs
        .iter()
        .filter(|run| ["sender", "ingress"].contains(&label(&results, run, "place")));
    assert_eq!(told, before.count());
    assert!(results.runs.len() > 100, "{}", results.runs.len());
}

#[test]
fn the_simulators_pairs_have_the_fness_that_it_counted() {
    let Some(ns3) = shared_beside("ns3") else {
        return;
    };
    let results = study("ns3.toml", |name| name.starts_with("pairs/"));
    for run in &results.runs {
        let scenario = run.name.rsplit_once('/').unwrap().0;
        let truth = json(&ns3.join(scenario).join("truth.json"));
        // The log's window ends with the last new ACK, ours with the last data of the shorter flow.
        let expected = truth["pair"]["egress"]["fness_data"].as_f64().unwrap();
        // Behind the link nothing shows of how long packets waited before it.
        assert_eq!(run.values.get(Metric::QueueShare), None, "{}", run.name);
        let found = run.values.get(Metric::Fness).unwrap();
        assert!(
            (found - expected).abs() < 0.01,
            "{}: {found} for {expected}",
            run.name
        );
        assert_eq!(
            flow_label(&results, &run.flows[0], "cca"),
            truth["flows"][0]["cca"]
        );
        assert_eq!(
            flow_label(&results, &run.flows[1], "cca"),
            truth["flows"][1]["cca"]
        );
    }
    assert!(results.runs.len() >= 13);
}

#[test]
fn a_capacity_that_changes_has_the_mean_that_was_simulated() {
    let Some(ns3) = shared_beside("ns3") else {
        return;
    };
    let results = study("ns3.toml", |name| {
        name.starts_with("mobility/") && name.contains("15-")
    });
    for run in &results.runs {
        let scenario = run.name.rsplit_once('/').unwrap().0;
        let truth = json(&ns3.join(scenario).join("truth.json"));
        let expected = truth["config"]["capacity_mean_mbps"].as_f64().unwrap() * 1e6;
        close(run.conditions.capacity_bps(), expected, 1e-6, &run.name);
        let seen = &truth["flows"][0]["points"]["egress"];
        let goodput = seen["goodput_mbps"].as_f64().unwrap() * 1e6;
        close(run.values.get(Metric::GoodputBps), goodput, 1e-4, &run.name);
        let utilisation = run.values.get(Metric::Utilisation).unwrap();
        assert!(
            utilisation > 0.2 && utilisation <= 1.0,
            "{}: {utilisation}",
            run.name
        );
    }
    assert!(results.runs.len() >= 9);
}

#[test]
fn the_grid_of_loss_and_delay_has_the_utilisation_that_was_simulated() {
    let Some(ns3) = shared_beside("ns3") else {
        return;
    };
    let results = study("ns3.toml", |name| name.starts_with("loss-grid/"));
    let grid = results
        .reports
        .iter()
        .find(|table| table.name == "utilisation-grid")
        .unwrap();
    let (ccas, losses) = (column(grid, "cca"), column(grid, "loss_percent"));
    let truth = fs::read_to_string(ns3.join("loss-grid/truth.jsonl")).unwrap();
    let mut cells = 0;
    for line in truth.lines() {
        let truth: Value = serde_json::from_str(line).unwrap();
        // cubic-loss1-owd20-seed1: captures are kept of the first seed only.
        let scenario = truth["scenario"].as_str().unwrap();
        let parts: Vec<&str> = scenario.split('-').collect();
        let [cca, loss, delay, "seed1"] = parts[..] else {
            continue;
        };
        let loss = loss.strip_prefix("loss").unwrap();
        let cell = column(
            grid,
            &format!("owd_ms_{}", delay.strip_prefix("owd").unwrap()),
        );
        let row = (0..cell.len())
            .find(|&row| ccas[row].as_deref() == Some(cca) && losses[row].as_deref() == Some(loss));
        let found = cell[row.unwrap()]
            .as_ref()
            .and_then(|cell| cell.parse().ok());
        let seen = &truth["flows"][0]["points"]["egress"];
        let goodput_mbps = seen["goodput_mbps"].as_f64().unwrap();
        // The rate of the link is 10 Mbit/s. The capture's clock ticks in microseconds.
        close(found, goodput_mbps / 10.0, 1e-5, scenario);
        cells += 1;
    }
    assert_eq!(cells, 60, "two algorithms, five losses, six delays");
    let counts = results
        .reports
        .iter()
        .find(|table| table.name == "split-counts")
        .unwrap();
    // 30 settings each. Every ordered pair whose losses add to at most 4 % and whose delays to at
    // most 100 ms on the grid of delays (1 ms vanishes) has its composed path on the grid.
    let loss_pairs = (0..5)
        .flat_map(|a| (0..5).map(move |b| a + b))
        .filter(|&sum| sum <= 4)
        .count();
    let on_grid = |a: i32, b: i32| match (a, b) {
        (1, _) | (_, 1) => true,
        _ => [20, 40, 60, 80, 100].contains(&(a + b)),
    };
    let delays = [1, 20, 40, 60, 80, 100];
    let delay_pairs = delays
        .iter()
        .flat_map(|&a| delays.iter().map(move |&b| (a, b)));
    let paths = loss_pairs * delay_pairs.filter(|&(a, b)| on_grid(a, b)).count();
    assert_eq!(
        column(counts, "paths"),
        [Some(paths.to_string()), Some(paths.to_string())]
    );
}
