//! Where results go: through links, over older results with their permissions, and into nothing that is no file.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use super::cli::{names, run, set};
use super::support::capture;

/// A folder with a capture.
fn with_capture() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("a.pcap")).unwrap();
    folder
}

#[test]
fn results_are_written_where_links_lead() {
    let folder = with_capture();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("disk")).unwrap();
    fs::create_dir(at("disk/charts")).unwrap();
    fs::write(at("disk/flows.csv"), "of an earlier run").unwrap();
    symlink("disk/flows.csv", at("r.csv")).unwrap();
    symlink("disk/segments.csv", at("s.csv")).unwrap();
    symlink("disk/charts", at("r.charts")).unwrap();
    let done = run(
        folder.path(),
        &["a.pcap", "--out", "r.csv", "--segments", "s.csv"],
    );
    assert_eq!(done.status, 0, "{}", done.stderr);
    for link in ["r.csv", "s.csv", "r.charts"] {
        assert!(at(link).is_symlink(), "{link}");
    }
    let rows = |name: &str| fs::read_to_string(at(name)).unwrap().lines().count();
    assert!(rows("disk/flows.csv") > 1 && rows("disk/segments.csv") > 1);
    assert!(!names(&at("disk/charts")).is_empty());
    assert_eq!(
        names(&at("disk")),
        set(&["charts", "flows.csv", "segments.csv"])
    );
    // However they are called, these are one file, and that is read.
    symlink("disk/flows.csv", at("again.csv")).unwrap();
    symlink("a.pcap", at("c.csv")).unwrap();
    for (args, said) in [
        (
            ["a.pcap", "--out", "r.csv", "--segments", "again.csv"],
            "cannot share a file",
        ),
        (
            ["a.pcap", "--out", "c.csv", "--segments", "t.csv"],
            "c.csv: is one of the files that are read",
        ),
    ] {
        let refused = run(folder.path(), &args);
        assert_eq!(refused.status, 2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}

#[test]
fn results_may_be_read_by_who_might_read_the_older_ones() {
    let folder = with_capture();
    let at = |name: &str| folder.path().join(name);
    let mode = || fs::metadata(at("r.csv")).unwrap().permissions().mode() & 0o777;
    fs::write(at("r.csv"), "").unwrap();
    let args = ["a.pcap", "--out", "r.csv", "--no-charts"];
    for asked in [0o600, 0o640] {
        fs::set_permissions(at("r.csv"), fs::Permissions::from_mode(asked)).unwrap();
        assert_eq!(run(folder.path(), &args).status, 0);
        assert_eq!(mode(), asked);
    }
    // What nobody may write stays.
    fs::write(at("r.csv"), "mine").unwrap();
    fs::set_permissions(at("r.csv"), fs::Permissions::from_mode(0o444)).unwrap();
    let refused = run(folder.path(), &args);
    assert_eq!(refused.status, 2);
    assert!(
        refused
            .stderr
            .contains("r.csv: cannot be written: it is read-only")
    );
    assert_eq!(fs::read_to_string(at("r.csv")).unwrap(), "mine");
}

#[test]
fn nothing_is_written_in_the_place_of_a_pipe() {
    let folder = with_capture();
    let pipe = folder.path().join("r.csv");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let refused = run(folder.path(), &["a.pcap", "--out", "r.csv"]);
    assert_eq!(refused.status, 2);
    let said = "r.csv: cannot be written: it is no file but a pipe or device";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert_eq!(names(folder.path()), set(&["a.pcap", "r.csv"]));
}

#[test]
fn a_run_without_results_leaves_no_folders_for_them() {
    let folder = with_capture();
    let args = ["nosuch.pcap", "--out", "new/place/r.csv"];
    assert_eq!(run(folder.path(), &args).status, 2);
    assert_eq!(names(folder.path()), set(&["a.pcap"]));
    let args = ["a.pcap", "--out", "new/place/r.csv", "--no-charts"];
    assert_eq!(run(folder.path(), &args).status, 0);
    assert!(folder.path().join("new/place/r.csv").exists());
}
