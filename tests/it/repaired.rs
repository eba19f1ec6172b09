//! `--repair` and `--memory` where captures are compared or studied: the same as with one capture.

use std::fs;
use std::path::Path;

use super::cli::run;
use super::damage::damaged;
use super::support::{capture, connections};

const MANIFEST: &str = r#"
[[runs]]
files = "{cca}.pcap"
"#;

fn table(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Between a capture and itself with garbage in it nothing was dropped, once that is repaired.
#[test]
fn a_point_that_is_damaged_is_repaired_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, at) = damaged();
    fs::write(folder.path().join("after.pcap"), bytes).unwrap();
    for name in ["before.pcap", "intact.pcap"] {
        fs::copy(capture("drop-one.pcap"), folder.path().join(name)).unwrap();
    }
    let args = ["path", "--before", "before.pcap", "--after"];
    let with = |after: &str, more: &[&str]| {
        let out = [after, "--no-charts", "--out", "p.csv"];
        run(folder.path(), &[&args[..], &out, more].concat())
    };
    let plain = with("after.pcap", &[]);
    assert_eq!(plain.status, 1, "{}", plain.stderr);
    let error = format!("error: after.pcap: record 401 at byte {at}: ");
    assert!(
        plain.stderr.contains(&error)
            && plain
                .stderr
                .contains("; --repair goes on behind the damage"),
        "{}",
        plain.stderr
    );
    let mended = with("after.pcap", &["--repair"]);
    assert_eq!(mended.status, 1, "{}", mended.stderr);
    for line in [
        format!(
            "warning: after.pcap: record 401 at byte {at}: 5000 bytes are no record; repaired\n"
        ),
        "warning: after.pcap: damaged in one place, 5,000 bytes were skipped".to_owned(),
    ] {
        assert!(mended.stderr.contains(&line), "{}", mended.stderr);
    }
    let tables = ["p.csv", "p.series.csv", "p.flow_series.csv"];
    let of_mended = tables.map(|name| table(folder.path(), name));
    assert!(table(folder.path(), "p.hops.csv").contains("capture_damaged"));
    let intact = with("intact.pcap", &["--repair"]);
    assert_eq!(intact.status, 0, "{}", intact.stderr);
    let says = super::path_said::says_only_that_one_is_a_copy(&intact.stderr);
    assert!(says, "{}", intact.stderr);
    assert_eq!(of_mended, tables.map(|name| table(folder.path(), name)));
    assert!(!table(folder.path(), "p.hops.csv").contains("capture_damaged"));
}

/// Every second packet of 3000 within 3 ms never leaves: 1500 wait for ten seconds, of which a
/// megabyte holds 1024.
#[test]
fn packets_between_points_wait_as_long_as_there_is_memory() {
    let folder = tempfile::tempdir().unwrap();
    let all = connections(3000, 2);
    let (head, records) = all.split_at(24);
    let half: Vec<u8> = records.chunks(66).step_by(2).flatten().copied().collect();
    fs::write(folder.path().join("before.pcap"), &all).unwrap();
    fs::write(folder.path().join("after.pcap"), [head, &half].concat()).unwrap();
    let args = ["path", "--before", "before.pcap", "--after", "after.pcap"];
    let much = run(folder.path(), &[&args[..], &["--memory", "1GB"]].concat());
    assert_eq!(much.status, 0, "{}", much.stderr);
    assert!(!much.stderr.contains("given up"), "{}", much.stderr);
    let little = run(folder.path(), &[&args[..], &["--memory", "1MB"]].concat());
    assert_eq!(little.status, 0, "{}", little.stderr);
    let warning = "packets were given up early, because too many waited to be found";
    assert!(little.stderr.contains(warning), "{}", little.stderr);
    let wrong = run(folder.path(), &[&args[..], &["--memory", "1"]].concat());
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("--memory <SIZE>"), "{}", wrong.stderr);
}

#[test]
fn a_run_that_is_damaged_is_left_out_or_repaired_and_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, at) = damaged();
    fs::write(folder.path().join("bad.pcap"), bytes).unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("good.pcap")).unwrap();
    fs::write(folder.path().join("study.toml"), MANIFEST).unwrap();
    let args = ["study", "study.toml", "--out", "out", "--no-charts"];
    let with = |more: &[&str]| run(folder.path(), &[&args[..], more].concat());
    let left_out = format!("error: bad.pcap: left out: record 401 at byte {at}: ");
    for _ in 0..2 {
        let plain = with(&[]);
        assert_eq!(plain.status, 1, "{}", plain.stderr);
        assert!(plain.stderr.contains(&left_out), "{}", plain.stderr);
        // Nothing of it is.
        assert!(!plain.stderr.contains("are used"), "{}", plain.stderr);
        assert!(
            plain
                .stderr
                .contains("; --repair goes on behind the damage"),
            "{}",
            plain.stderr
        );
    }
    // What was kept of a run says so too.
    for cached in ["", "2 runs had not changed"] {
        let mended = with(&["--repair"]);
        assert_eq!(mended.status, 1, "{}", mended.stderr);
        let said = "warning: bad.pcap: damaged in one place, 5,000 bytes were skipped: what they held is missing in all numbers\n";
        assert!(mended.stderr.starts_with(said), "{}", mended.stderr);
        assert!(mended.stdout.contains(cached), "{}", mended.stdout);
        // Both runs hold the same packets.
        let runs = table(folder.path(), "out/runs.csv");
        let numbers: Vec<&str> = runs.lines().skip(1).map(after_three).collect();
        assert_eq!(numbers.len(), 2);
        assert_eq!(numbers[0], numbers[1]);
    }
}

/// A row without file, label and error.
fn after_three(row: &str) -> &str {
    row.splitn(4, ',').last().unwrap_or_default()
}

#[test]
fn the_runs_of_a_study_share_the_memory_and_say_what_was_given_up() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("many.pcap"), connections(3000, 20)).unwrap();
    fs::write(folder.path().join("study.toml"), MANIFEST).unwrap();
    let args = ["study", "study.toml", "--out", "out", "--no-charts"];
    let with = |more: &[&str]| run(folder.path(), &[&args[..], more].concat());
    let all = with(&[]);
    let one_way = "warning: many.pcap: of 3,000 of 3,000 flows only one direction was seen: no ACKs, no round-trip times, and the run has no goodput\n";
    assert_eq!((all.status, all.stderr.as_str()), (0, one_way));
    let flows = table(folder.path(), "out/flows.csv");
    for _ in 0..2 {
        let few = with(&["--memory", "72MB", "--report", "r.html"]);
        assert_eq!(few.status, 0, "{}", few.stderr);
        assert!(
            few.stderr
                .contains("warning: many.pcap: the memory limit was reached and this was given up: series and rows of the "),
            "{}",
            few.stderr
        );
        assert!(table(folder.path(), "r.html").contains("the memory limit was reached"));
        let cut = table(folder.path(), "out/flows.csv");
        assert_eq!(cut.lines().count(), flows.lines().count());
        assert!(cut.contains("series_cut"), "{}", few.stderr);
    }
    let again = with(&[]);
    assert_eq!(again.stderr, one_way);
    assert_eq!(flows, table(folder.path(), "out/flows.csv"));
}
