//! What a run does that is told to end, and that nothing half-written stays of it.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::cli::{command, names};
use super::support::{capture, connections};

/// Sends a signal. Who runs the tests may have begun all this in the background of a script, with Ctrl-C ignored, which
/// then means nothing to the command, either: another one takes its place.
fn send(name: &str, child: &Child) {
    let said = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_ignored = said.lines().any(|line| {
        let mask = line.strip_prefix("SigIgn:").map(str::trim);
        let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok());
        mask.is_some_and(|mask| mask & 0b11 != 0)
    });
    let name = if is_ignored { "-TERM" } else { name };
    let id = child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status().unwrap();
    assert!(sent.success());
}

/// The command reading a capture from a pipe that stays open: it waits for more.
struct Waiting {
    child: Child,
    folder: tempfile::TempDir,
}

impl Waiting {
    fn new(options: &[&str]) -> Self {
        let bytes = fs::read(capture("drop-one.pcap")).unwrap();
        Self::having_read(&bytes, options)
    }

    fn having_read(bytes: &[u8], options: &[&str]) -> Self {
        let mut waiting = Self::on(tempfile::tempdir().unwrap(), "-", options);
        let stdin = waiting.child.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        waiting
    }

    fn on_named_pipe() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        Self::on(folder, "pipe", &["--no-charts"])
    }

    fn on(folder: tempfile::TempDir, input: &str, options: &[&str]) -> Self {
        let child = command(folder.path())
            .args([input, "--out", "r.csv"])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Outputs are begun first; a moment for the signals to be listened to.
        while !names(folder.path())
            .iter()
            .any(|name| name.contains(".part"))
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        Self { child, folder }
    }

    fn signal(&self, name: &str) {
        send(name, &self.child);
    }

    /// Its status and what it said until it ended. The pipe stays open, so only the signal can have ended it.
    fn end(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        let stderr = self.child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }

    fn first_line(&mut self) -> String {
        let mut line = String::new();
        let stderr = self.child.stderr.as_mut().unwrap();
        BufReader::with_capacity(1, stderr)
            .read_line(&mut line)
            .unwrap();
        line
    }
}

#[test]
fn the_first_signal_writes_what_was_read() {
    for name in ["-INT", "-TERM", "-HUP"] {
        let mut run = Waiting::new(&["--no-charts"]);
        run.signal(name);
        let line = run.first_line();
        assert_eq!(
            line,
            "interrupted: finishing with what has been read; again to stop at once\n"
        );
        let (status, said) = run.end();
        assert!(
            said.contains("standard input: was not read to its end: the run was interrupted; the 752 records before it are used"),
            "{said}"
        );
        assert_eq!(status, Some(1), "{said}");
        let table = fs::read_to_string(run.folder.path().join("r.csv")).unwrap();
        assert_eq!(table.lines().count(), 3, "a header and two flows");
        let captures = fs::read_to_string(run.folder.path().join("r.captures.csv")).unwrap();
        assert!(captures.contains("interrupted"), "{captures}");
        let left = names(run.folder.path());
        assert!(!left.iter().any(|name| name.contains(".part")), "{left:?}");
    }
}

/// Of a quiet interface a pipe has the header of the file alone, which `tcpdump -U` writes at once.
#[test]
fn a_signal_before_the_first_packet_is_an_interruption_too() {
    let bytes = fs::read(capture("drop-one.pcap")).unwrap();
    for name in ["-INT", "-TERM"] {
        let mut run = Waiting::having_read(&bytes[..24], &["--no-charts"]);
        run.signal(name);
        let (status, said) = run.end();
        let unread = "standard input: was not read to its end: the run was interrupted";
        assert!(said.contains(unread), "{said}");
        assert_eq!(status, Some(1), "{said}");
        let captures = fs::read_to_string(run.folder.path().join("r.captures.csv")).unwrap();
        assert!(captures.contains("interrupted"), "{captures}");
        let mut shown = String::new();
        let stdout = run.child.stdout.as_mut().unwrap();
        stdout.read_to_string(&mut shown).unwrap();
        assert!(!shown.contains("check the interface"), "{shown}");
    }
}

#[test]
fn the_second_signal_ends_the_run_and_leaves_nothing() {
    // What was read until the first signal takes longer to be written than the second to come.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("big.pcap"), connections(60_000, 8)).unwrap();
    let mut run = Waiting::on(folder, "big.pcap", &["--segments", "segments.csv"]);
    fs::write(run.folder.path().join("mine.txt"), "mine").unwrap();
    run.signal("-INT");
    run.first_line();
    run.signal("-INT");
    assert_eq!(run.child.wait().unwrap().code(), Some(130));
    let left: Vec<String> = names(run.folder.path()).into_iter().collect();
    assert_eq!(left, ["big.pcap", "mine.txt"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_named_pipe_that_nobody_opens_is_not_waited_for() {
    let mut run = Waiting::on_named_pipe();
    run.signal("-INT");
    let (status, said) = run.end();
    assert_eq!(status, Some(2), "{said}");
    let unread =
        "error: pipe: was not read to its end: the run was interrupted\nnothing was written";
    assert!(said.contains(unread), "{said}");
    assert_eq!(names(run.folder.path()).len(), 1, "the pipe");
}

#[test]
fn a_named_pipe_waits_for_who_writes_into_it() {
    let mut run = Waiting::on_named_pipe();
    let bytes = fs::read(capture("drop-one.pcap")).unwrap();
    let pipe = run.folder.path().join("pipe");
    let mut pipe = fs::File::options().write(true).open(pipe).unwrap();
    // Open for a while before anything comes, and once more in between.
    for part in bytes.chunks(bytes.len().div_ceil(2)) {
        std::thread::sleep(Duration::from_millis(200));
        pipe.write_all(part).unwrap();
    }
    drop(pipe);
    let (status, said) = run.end();
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let table = fs::read_to_string(run.folder.path().join("r.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "a header and two flows");
}

#[test]
fn a_pipe_that_says_nothing_or_too_little_is_not_waited_for() {
    for bytes in [&b""[..], b"\xd4\xc3", &[0x1f, 0x8b, 8, 0]] {
        let mut run = Waiting::having_read(bytes, &[]);
        run.signal("-INT");
        let (status, said) = run.end();
        assert_eq!(status, Some(2), "{said}");
        let unread = "error: standard input: was not read to its end: the run was interrupted\nnothing was written";
        assert!(said.contains(unread), "{bytes:x?}: {said}");
        assert!(names(run.folder.path()).is_empty());
    }
}

#[test]
fn what_is_little_or_compressed_is_not_lost_with_the_signal() {
    for name in ["refused.pcap", "two-flows-cubic-bbr.pcap.zst"] {
        let bytes = fs::read(capture(name)).unwrap();
        let mut run = Waiting::having_read(&bytes, &["--no-charts"]);
        run.signal("-INT");
        let (status, said) = run.end();
        assert_eq!(status, Some(1), "{name}: {said}");
        let read = fs::read_to_string(run.folder.path().join("r.csv")).unwrap();
        let whole = super::cli::run(
            run.folder.path(),
            &[capture(name).to_str().unwrap(), "--out", "whole.csv"],
        );
        assert_eq!(whole.status, 0, "{}", whole.stderr);
        let whole = fs::read_to_string(run.folder.path().join("whole.csv")).unwrap();
        assert_eq!(read.lines().count(), whole.lines().count(), "{name}");
    }
}

#[test]
fn a_pipe_that_ends_with_the_signal_was_read_to_its_end() {
    let mut run = Waiting::new(&["--no-charts"]);
    run.signal("-INT");
    run.first_line();
    drop(run.child.stdin.take());
    let (status, said) = run.end();
    assert_eq!(status, Some(0), "{said}");
    assert!(!said.contains("was not read to its end"), "{said}");
}

#[test]
fn a_folder_as_standard_input_is_refused_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path())
        .arg("-")
        .stdin(fs::File::open(folder.path()).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "error: standard input: is a directory, not a capture file";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_comes_drop_by_drop_does_not_hold_up_the_end() {
    let mut run = Waiting::new(&["--no-charts"]);
    let mut stdin = run.child.stdin.take().unwrap();
    // Headers of records that never end, until nobody reads any more.
    let drops = std::thread::spawn(move || {
        let drop = [[0; 8], [1, 0, 0, 0, 1, 0, 0, 0]].concat();
        while stdin.write_all(&drop).is_ok() && stdin.write_all(&[7]).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    run.signal("-TERM");
    assert_eq!(run.child.wait().unwrap().code(), Some(1));
    drops.join().unwrap();
    let table = fs::read_to_string(run.folder.path().join("r.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "a header and two flows");
}

#[test]
fn a_study_that_is_interrupted_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[[runs]]\nfiles = \"{cca}_{run}.pcap\"\n";
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    // Takes longer than to be told to stop.
    fs::write(folder.path().join("bbr_1.pcap"), connections(60_000, 8)).unwrap();
    let mut child = command(folder.path())
        .args(["study", "study.toml", "--out", "s", "--report", "r.html"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let is_begun = |name: &String| name.contains(".part");
    while !folder.path().join("s").exists() || !names(&folder.path().join("s")).iter().any(is_begun)
    {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("the same command goes on with the others"),
        "{said}"
    );
    assert!(!names(folder.path()).iter().any(is_begun));
    assert!(!names(&folder.path().join("s")).iter().any(is_begun));
}

/// As under `nohup`, and as a shell does with what runs in the background of a script.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_at_the_start_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let ignoring = "trap '' HUP INT; exec \"$0\" - --out r.csv --no-charts";
    let mut child = Command::new("sh")
        .args(["-c", ignoring, env!("CARGO_BIN_EXE_ccanalyze")])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes = fs::read(capture("drop-one.pcap")).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&bytes[..bytes.len() / 2]).unwrap();
    let is_begun = |name: &String| name.contains(".part");
    while !names(folder.path()).iter().any(is_begun) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    for name in ["-HUP", "-INT"] {
        let id = child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(sent.success());
    }
    std::thread::sleep(Duration::from_millis(300));
    stdin.write_all(&bytes[bytes.len() / 2..]).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains("interrupted"), "{said}");
}
