//! Captures of a run at both sides of the queue: its occupancy and drops, against the emulator's log.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ccanalyze::analyze::Watch;
use ccanalyze::capture::read_small_file;
use ccanalyze::study::{Metric, StudyPlan, StudyRun};
use serde_json::Value;

use super::cli::run;
use super::support::{capture, close, shared};
use super::udp::{MS, in_order};
use super::wire::{Packet, pcap, tcp4};

/// Bytes of IP and TCP headers with timestamps: what a data packet has besides payload.
const HEADERS: f64 = 52.0;

/// Bytes times microseconds that data packets waited on their way down, by flow, as the emulator
/// logged it: those of an ACK or a SYN do not matter.
fn waited(folder: &Path) -> BTreeMap<u64, f64> {
    let bytes = read_small_file(&folder.join("egress.truth.csv.gz"), 1 << 26).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut waited = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (flow, len): (u64, f64) = (cells[3].parse().unwrap(), cells[5].parse().unwrap());
        if let ("d", Ok(delay)) = (cells[4], cells[10].parse::<f64>()) {
            *waited.entry(flow).or_default() += (len + HEADERS) * delay;
        }
    }
    waited
}

#[test]
fn queue_and_drops_of_a_run_and_its_flows_are_those_of_the_log() {
    let Some(lab) = shared("lab") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let manifest = format!(
        r#"
[study]
folder = "{}"
report = "pairs"
[[runs]]
files = "s3-two-{{first}}-{{second}}-{{buffer}}/client.pcap.zst"
except = ["s3-two-*codel/*", "s3-two-cubic-cubic-*/*", "s3-two-bbr-bbr-*/*"]
before = "s3-two-{{first}}-{{second}}-{{buffer}}/ingress.pcap.zst"
after = "s3-two-{{first}}-{{second}}-{{buffer}}/egress.pcap.zst"
[runs.conditions]
capacity = "10Mbit"
base_rtt = "50ms"
buffer = "{{buffer}}"
[[runs.flows]]
label = "cca"
by = "start"
values = ["{{first}}", "{{second}}"]
"#,
        lab.canonicalize().unwrap().display()
    );
    let path = folder.path().join("study.toml");
    fs::write(&path, manifest).unwrap();
    let plan = StudyPlan::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let results = plan.carry_out(None, &Watch::default());
    assert_eq!(results.runs.len(), 4);
    for run in &results.runs {
        assert_eq!(run.error, None);
        check(run, lab.join(&run.name).parent().unwrap());
    }
}

fn check(run: &StudyRun, folder: &Path) {
    let text = fs::read_to_string(folder.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&text).unwrap();
    let waited = waited(folder);
    let limit = truth["configured"]["limit_bytes"].as_f64().unwrap();
    let duration_us = truth["duration_s"].as_f64().unwrap() * 1e6;
    let all = waited.values().sum::<f64>() / duration_us / limit;
    // The capture's time and the run's duration differ by a few ms of seconds.
    close(run.values.get(Metric::QueueOccupancy).unwrap(), all, 0.02);
    let mut dropped = 0.0;
    for (place, flow) in truth["flows"].as_array().unwrap().iter().enumerate() {
        let port = flow["sport"].as_u64().unwrap();
        let found = run
            .flows
            .iter()
            .find(|found| u64::from(found.measure.ends.unwrap().sender.port()) == port);
        let values = &found.unwrap().measure.values;
        let part = waited[&(place as u64)] / duration_us / limit;
        close(values.get(Metric::QueueOccupancy).unwrap(), part, 0.02);
        let logged = &flow["network_events"]["down.bn.drop-tail"]["packets"];
        let logged = logged.as_f64().unwrap_or(0.0);
        assert_eq!(values.get(Metric::QueueDroppedPackets), Some(logged));
        dropped += logged;
    }
    assert_eq!(run.values.get(Metric::QueueDroppedPackets), Some(dropped));
}

/// The queue held 10 packets.
#[test]
fn a_buffer_that_what_waited_contradicts_is_said_and_not_used() {
    let Some(lab) = shared("lab") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let lab = lab.canonicalize().unwrap();
    let occupancies = ["10 packets", "1000 packets", "3 packets"].map(|buffer| {
        let scenario = "s1-single-50m-cubic-shallow";
        let manifest = format!(
            "[study]\nfolder = \"{}\"\n[[runs]]\nfiles = \"{scenario}/client.pcap.zst\"\nbefore = \"{scenario}/ingress.pcap.zst\"\nafter = \"{scenario}/egress.pcap.zst\"\n[runs.conditions]\nbuffer = \"{buffer}\"\n",
            lab.display()
        );
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s", "--no-charts"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let said = "client.pcap.zst: what waited in its queue contradicts the buffer given";
        assert_eq!(run.stderr.contains(said), buffer != "10 packets", "{}", run.stderr);
        let runs = fs::read_to_string(folder.path().join("s/runs.csv")).unwrap();
        let rows: Vec<Vec<&str>> = runs.lines().map(|row| row.split(',').collect()).collect();
        let place = rows[0].iter().position(|name| *name == "queue_occupancy");
        rows[1][place.unwrap()].to_owned()
    });
    assert!(!occupancies[0].is_empty());
    assert_eq!([&occupancies[1], &occupancies[2]], [&occupancies[0]; 2]);
}

/// The link carried 50 Mbit/s.
#[test]
fn a_capacity_that_what_left_contradicts_is_said() {
    let Some(lab) = shared("lab") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let lab = lab.canonicalize().unwrap();
    for (capacity, is_said) in [("50Mbit", false), ("500Mbit", true)] {
        let scenario = "s1-single-50m-cubic-shallow";
        let manifest = format!(
            "[study]\nfolder = \"{}\"\n[[runs]]\nfiles = \"{scenario}/client.pcap.zst\"\nbefore = \"{scenario}/ingress.pcap.zst\"\nafter = \"{scenario}/egress.pcap.zst\"\n[runs.conditions]\ncapacity = \"{capacity}\"\n",
            lab.display()
        );
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--no-charts"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let said = "contradicts the capacity given: what is told by that";
        assert_eq!(run.stderr.contains(said), is_said, "{}", run.stderr);
    }
}

/// Captures of another run, and the two the wrong way round.
#[test]
fn a_queue_of_something_else_fails_the_run() {
    let Some(lab) = shared("lab") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (before, after, said) in [
        (
            "s1-single-50m-bbr-deep/ingress",
            "s1-single-50m-bbr-deep/egress",
            "is that of another run?",
        ),
        (
            "s1-single-50m-reno-deep/client",
            "s1-single-50m-reno-deep/sender",
            "the wrong way round?",
        ),
        (
            "s1-single-50m-bbr-deep/ingress",
            "s1-single-50m-reno-deep/egress",
            "none of its packets is in",
        ),
    ] {
        let manifest = format!(
            "[study]\nfolder = \"{}\"\n[[runs]]\nfiles = \"s1-single-50m-reno-deep/egress.pcap.zst\"\nbefore = \"{before}.pcap.zst\"\nafter = \"{after}.pcap.zst\"\n",
            lab.canonicalize().unwrap().display()
        );
        let path = folder.path().join("study.toml");
        fs::write(&path, manifest).unwrap();
        let plan = StudyPlan::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let results = plan.carry_out(None, &Watch::default());
        let error = results.runs[0].error.clone().unwrap_or_default();
        assert!(
            error.contains("its queue: ") && error.contains(said),
            "{error}"
        );
    }
}

#[test]
fn a_queue_that_cannot_be_is_a_mistake() {
    let Some(lab) = shared("lab") else {
        return;
    };
    for (keys, said) in [
        (
            "before = \"s2-six-bbr/ingres.pcap.zst\"",
            "there is no such file; did you mean 'ingress.pcap.zst'?",
        ),
        (
            "before = \"s2-six-{ccaa}/ingress.pcap.zst\"",
            "there is no label 'ccaa' here; did you mean 'cca'?",
        ),
        (
            "after = \"s2-six-{cca}/client.pcap.zst\"",
            "before and after the queue is the same capture",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let manifest = format!(
            "[study]\nfolder = \"{}\"\n[[runs]]\nfiles = \"s2-six-{{cca}}/client.pcap.zst\"\n{keys}\n",
            lab.canonicalize().unwrap().display()
        );
        let path = folder.path().join("study.toml");
        fs::write(&path, manifest).unwrap();
        let error = StudyPlan::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("study.toml:5: ") && error.contains(said),
            "{error}"
        );
    }
}

/// `{run}` holds `1-in`, too.
#[test]
fn captures_at_both_sides_of_the_queue_are_no_runs_though_they_are_called_like_some() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "bbr_1",
        "bbr_1-in",
        "bbr_1-out",
        "bbr_2",
        "bbr_2-in",
        "bbr_2-out",
    ] {
        let from = super::support::capture("drop-one.pcap");
        fs::copy(from, folder.path().join(format!("{name}.pcap"))).unwrap();
    }
    let path = folder.path().join("study.toml");
    let template = "{cca}_{run}";
    let manifest = format!(
        "[[runs]]\nfiles = \"{template}.pcap\"\nbefore = \"{template}-in.pcap\"\nafter = \"{template}-out.pcap\"\n"
    );
    fs::write(&path, manifest).unwrap();
    let plan = StudyPlan::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let results = plan.carry_out(None, &Watch::default());
    let names: Vec<&str> = results.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["bbr_1.pcap", "bbr_2.pcap"]);
    for run in &results.runs {
        assert_eq!(run.values.get(Metric::QueueDroppedPackets), Some(0.0));
    }
}

/// The path of the capture takes 40 ms both ways (testdata/README.md), and so does its handshake, wherever that is seen: of
/// a base RTT that is longer by more than a tenth something else is wrong, too.
#[test]
fn a_base_rtt_that_no_handshake_takes_and_a_buffer_without_bdp_are_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("cubic_1.pcap")).unwrap();
    let contradicted = "than the RTT of the empty path given (`base_rtt`), ";
    let no_base_rtt = "without `base_rtt` it is of no size";
    let no_capacity = "without `capacity` it is of no size";
    for (conditions, said) in [
        ("base_rtt = \"40ms\"", ""),
        ("base_rtt = \"4ms\"", ""),
        ("base_rtt = \"50ms\"", contradicted),
        ("capacity = \"20Mbit\"\nbuffer = \"1BDP\"", no_base_rtt),
        ("base_rtt = \"40ms\"\nbuffer = \"1BDP\"", no_capacity),
        (
            "capacity = \"20Mbit\"\nbase_rtt = \"40ms\"\nbuffer = \"1BDP\"",
            "",
        ),
        ("capacity = \"20Mbit\"\nbuffer = \"100kB\"", ""),
        // Only what the runs are called.
        ("buffer = \"1BDP\"", ""),
    ] {
        let study = format!(
            "[[runs]]\nfiles = \"{{cca}}_{{run}}.pcap\"\n[runs.conditions]\n{conditions}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let arguments = ["study", "s.toml", "--out", "s", "--no-charts"];
        let run = run(folder.path(), &arguments);
        assert_eq!(run.status, 0, "{}", run.stderr);
        for message in [contradicted, no_base_rtt, no_capacity] {
            let is_said = run.stderr.contains(message);
            assert_eq!(is_said, message == said, "{conditions}: {}", run.stderr);
        }
    }
}

/// Two downloads of one host at once, of which the second finds the queue of the first: 5 to 30 ms, and never less than 25.
#[test]
fn delays_that_lack_what_a_flow_always_waited_are_said_whatever_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let flow = |port: u16, least_ms: i64| {
        let ends = [([10, 0, 0, 1], port), ([10, 0, 0, 9], 5000)];
        (0..400).flat_map(move |index| {
            let (at, seq) = (5 * index * MS, 1 + 1000 * index as u32);
            let rtt_ms = (5 + index % 26).max(least_ms);
            let data = tcp4(ends, [seq, 1], 0x10, 1000);
            let ack = tcp4([ends[1], ends[0]], [1, seq + 1000], 0x10, 0);
            [Packet::ipv4(at, data), Packet::ipv4(at + rtt_ms * MS, ack)]
        })
    };
    let all = "";
    let rates = "[study]\nmetrics = [\"goodput_bps\"]\n";
    for (least_ms, metrics, is_said) in [(25, all, true), (25, rates, false), (5, all, false)] {
        let packets = in_order(flow(443, 5).chain(flow(444, least_ms)).collect());
        fs::write(folder.path().join("1.pcap"), pcap(packets)).unwrap();
        let manifest = "[[runs]]\nfiles = \"{run}.pcap\"\n[[runs.flows]]\nlabel = \"cca\"\nby = \"server\"\nvalues = { 443 = \"bbr\", 444 = \"cubic\" }\n";
        fs::write(folder.path().join("s.toml"), metrics.to_owned() + manifest).unwrap();
        let run = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let warning =
            "queue_delay_ns_mean counts from each flow's own smallest round-trip time, of one 25";
        assert_eq!(run.stderr.contains(warning), is_said, "{}", run.stderr);
    }
}
