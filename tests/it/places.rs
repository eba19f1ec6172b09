//! Which files are read, and what results take the place of.
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

/// In some folders the kernel alone makes files.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_not_said_to_be_missing() {
    let folder = with_capture();
    for (option, name) in [("--out", "r.csv"), ("--report", "r.html")] {
        let place = format!("/proc/{name}");
        let refused = run(folder.path(), &["a.pcap", option, &place]);
        assert_eq!(refused.status, 2);
        let said = "cannot be written: no file can be made in its folder; take another one";
        let said = format!("{place}: {said}");
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
    }
}

#[test]
fn a_page_of_an_empty_capture_says_that_it_is_empty() {
    let folder = with_capture();
    let bytes = fs::read(folder.path().join("a.pcap")).unwrap();
    fs::write(folder.path().join("none.pcap"), &bytes[..24]).unwrap();
    for captures in [&["none.pcap"][..], &["a.pcap", "none.pcap"]] {
        let args = [captures, &["--no-charts", "--report", "r.html"]].concat();
        assert_eq!(run(folder.path(), &args).status, 0);
        let page = fs::read_to_string(folder.path().join("r.html")).unwrap();
        let said =
            "none.pcap: no TCP flow with payload: no packet was captured; check the interface, ";
        assert!(page.contains(said), "{page}");
        assert!(
            !page.contains("nothing was found that speaks against"),
            "{page}"
        );
    }
}

/// What passed two places, in one file: round-trip times are of neither.
#[test]
fn of_packets_that_are_there_twice_round_trips_are_said_to_be_of_no_place() {
    let folder = with_capture();
    let bytes = fs::read(folder.path().join("a.pcap")).unwrap();
    let (head, mut rest) = bytes.split_at(24);
    let mut twice = head.to_vec();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap());
        let (record, others) = rest.split_at(16 + length as usize);
        twice.extend([record, record].concat());
        rest = others;
    }
    fs::write(folder.path().join("twice.pcap"), twice).unwrap();
    let said = run(folder.path(), &["twice.pcap"]).stderr;
    let expected = "round-trip times, from the first copy of data to the first of its ACK, are those of no place where the copies are of several";
    assert!(said.contains(expected), "{said}");
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

#[test]
fn names_that_are_no_text_stay_apart_and_do_nothing_to_the_terminal() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let folder = with_capture();
    let names = [&b"a\xff.pcap"[..], b"a\xfe.pcap", b"x\nerror: forged.pcap"];
    let mut args = Vec::new();
    for name in names.map(OsStr::from_bytes) {
        // Not every file system takes them.
        if fs::copy(folder.path().join("a.pcap"), folder.path().join(name)).is_err() {
            eprintln!("not checked: names that are no text");
            return;
        }
        args.push(name);
    }
    args.extend(["--no-charts", "--out", "r.csv"].map(OsStr::new));
    let done = run(folder.path(), &args);
    assert_eq!(done.status, 0, "{}", done.stderr);
    let table = fs::read_to_string(folder.path().join("r.captures.csv")).unwrap();
    let captures: Vec<&str> = table
        .lines()
        .skip(1)
        .filter_map(|row| row.split(',').next())
        .collect();
    let expected = ["a\\xff.pcap", "a\\xfe.pcap", "x\\nerror: forged.pcap"];
    assert_eq!(captures, expected);
    let is_forged = |said: &str| said.lines().any(|line| line.starts_with("error: forged"));
    assert!(!is_forged(&done.stdout) && done.stdout.contains(expected[2]));
    // Nor of what is not there.
    let refused = run(folder.path(), &["y\nerror: forged"]);
    assert!(!is_forged(&refused.stderr) && refused.stderr.contains("y\\nerror: forged"));
}

#[test]
fn a_file_is_the_same_under_two_names_and_a_pipe_is_read_once() {
    let folder = with_capture();
    let at = |name: &str| folder.path().join(name);
    fs::hard_link(at("a.pcap"), at("hard.pcap")).unwrap();
    symlink("a.pcap", at("soft.pcap")).unwrap();
    for other in ["./a.pcap", "hard.pcap", "soft.pcap"] {
        let done = run(folder.path(), &["a.pcap", other]);
        assert_eq!(done.status, 0);
        let said = format!("warning: {other}: is given twice");
        assert!(done.stderr.contains(&said), "{}", done.stderr);
        let refused = run(
            folder.path(),
            &["path", "--before", "a.pcap", "--after", other],
        );
        assert!(
            refused.stderr.contains("is given at two points"),
            "{}",
            refused.stderr
        );
    }
    let pipe = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(pipe.success());
    let refused = run(folder.path(), &["pipe", "./pipe"]);
    assert_eq!(refused.status, 2);
    let said = "./pipe: is given twice, and what comes through a pipe can be read only once";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

#[test]
fn captures_are_called_by_what_they_are() {
    let folder = with_capture();
    fs::copy(
        capture("two-flows-cubic-bbr.pcap.zst"),
        folder.path().join("b.pcap"),
    )
    .unwrap();
    let said = |args: &[&str]| run(folder.path(), args);
    let in_parts = said(&["--concat", "a.pcap", "b.pcap"]).stdout;
    assert!(
        in_parts.contains("a.pcap and 1 further part: "),
        "{in_parts}"
    );
    // What --top leaves out is said where it leaves nothing to compare, too.
    let top = said(&["b.pcap", "--top", "1"]).stdout;
    assert!(
        top.contains("neither Jain's index nor fness, as --top leaves no two flows"),
        "{top}"
    );
    // A command is the first word, and behind `--` is none.
    let is_hinted = |args: &[&str]| said(args).stderr.contains("if this is to be a command");
    assert!(is_hinted(&["studdy"]) && !is_hinted(&["a.pcap", "studdy"]));
    let behind = said(&["a.pcap", "--", "-q"]).stderr;
    assert!(
        behind.contains("-q: does not exist; what follows `--` are captures"),
        "{behind}"
    );
    let mut piped = super::cli::command(folder.path());
    let file = fs::File::open(folder.path().join("a.pcap")).unwrap();
    let piped = piped.arg("-").stdin(file).output().unwrap();
    let piped = String::from_utf8(piped.stdout).unwrap();
    assert!(
        piped.starts_with("standard input: 752 packets, "),
        "{piped}"
    );
}
