//! What a user sees when a run is interrupted, the disk is full, or nobody listens; and that
//! nothing half-written stays.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::cli::{command, names, run};
use super::support::{capture, connections};

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
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(sent.success());
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
    for name in ["-INT", "-TERM"] {
        let mut run = Waiting::new(&["--no-charts"]);
        run.signal(name);
        let line = run.first_line();
        assert_eq!(
            line,
            "interrupted: what has been read is analysed and written; again to stop at once\n"
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
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
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

/// Runs a script of the shell that may mount things, in a namespace of its own. `None`, with a
/// note, where that is not allowed.
fn with_mounts(folder: &Path, script: &str) -> Option<(i32, String)> {
    let can = Command::new("unshare").args(["-rm", "true"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("note: unshare -rm is not allowed here, a full disk was not tried");
        return None;
    }
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", script])
        .arg(env!("CARGO_BIN_EXE_ccanalyze"))
        .arg(capture("drop-one.pcap"))
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.code().unwrap_or(-1), said))
}

#[test]
fn a_full_disk_is_told_and_the_older_results_stay() {
    let folder = tempfile::tempdir().unwrap();
    // Room for the older results and for some of the new ones, not for all.
    let script = r#"
        mkdir disk && mount -t tmpfs -o size=16k none disk || exit 99
        echo old > disk/r.csv
        "$0" "$1" --no-charts --out disk/r.csv
        status=$?
        [ "$(cat disk/r.csv)" = old ] || exit 98
        [ "$(ls -A disk)" = r.csv ] || { ls -A disk >&2; exit 97; }
        exit $status"#;
    let Some((status, said)) = with_mounts(folder.path(), script) else {
        return;
    };
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("error: disk/r."), "{said}");
    assert!(
        said.contains("cannot be written: No space left on device"),
        "{said}"
    );
    assert!(said.contains("make room, or take another folder"), "{said}");
}

#[test]
fn a_disk_that_is_full_is_told_alike_whatever_was_to_be_written() {
    let folder = tempfile::tempdir().unwrap();
    for (size, options, file) in [
        ("8k", "--no-charts", "disk/r."),
        ("100k", "", "disk/r.charts/"),
    ] {
        let script = format!(
            r#"mkdir -p disk && mount -t tmpfs -o size={size} none disk || exit 99
            "$0" "$1" {options} --out disk/r.parquet
            status=$?
            [ -z "$(ls -A disk)" ] || {{ ls -A disk >&2; exit 97; }}
            exit $status"#
        );
        let Some((status, said)) = with_mounts(folder.path(), &script) else {
            return;
        };
        assert_eq!(status, 2, "{said}");
        assert!(said.starts_with(&format!("error: {file}")), "{said}");
        let why = "cannot be written: No space left on device";
        assert!(
            said.contains(why) && said.contains("make room, or take another folder"),
            "{said}"
        );
    }
}

#[test]
fn a_limit_of_the_size_of_files_is_told_and_nothing_half_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new("sh")
        .args(["-c", r#"ulimit -f 4; "$0" "$1" --out r.csv"#])
        .arg(env!("CARGO_BIN_EXE_ccanalyze"))
        .arg(capture("drop-one.pcap"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("error: r."), "{said}");
    assert!(
        said.contains("cannot be written: File too large; lift the limit of"),
        "{said}"
    );
    assert_eq!(names(folder.path()).len(), 0);
}

/// What takes nothing, as a disk that is full.
fn full() -> fs::File {
    let mut options = fs::OpenOptions::new();
    options.write(true).open("/dev/full").unwrap()
}

#[test]
fn a_summary_that_cannot_be_printed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = capture("drop-one.pcap");
    let run = command(folder.path())
        .arg(&path)
        .stdout(full())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(
        said.contains("error: standard output cannot be written: No space left"),
        "{said}"
    );
}

#[test]
fn help_that_cannot_be_printed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for words in [
        &["--help"][..],
        &["--version"],
        &["path", "-h"],
        &["study", "init", "--help"],
        &["completions", "bash"],
        &["man"],
    ] {
        let mut help = command(folder.path());
        let run = help.args(words).stdout(full()).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{words:?}: {said}");
        assert!(
            said.starts_with("error: standard output cannot be written: No space left"),
            "{words:?}: {said}"
        );
    }
}

#[test]
fn a_pipe_that_nobody_reads_is_told_and_the_results_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path())
        .arg(capture("drop-one.pcap"))
        .args(["--no-charts", "--out", "r.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("error: standard output was closed before all was printed"),
        "{said}"
    );
    assert!(folder.path().join("r.csv").exists());
}

#[test]
fn errors_that_cannot_be_printed_change_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let run = command(folder.path())
        .arg("missing.pcap")
        .stderr(full())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
}

#[test]
fn runs_at_the_same_time_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<Child> = (0..4)
        .map(|_| {
            command(folder.path())
                .arg(capture("drop-one.pcap"))
                .args(["--out", "r.csv", "--svg"])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut run in runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let table = fs::read_to_string(folder.path().join("r.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "a header and two flows");
    let left = names(folder.path());
    assert!(
        left.contains("r.charts") && !left.iter().any(|name| name.contains(".part")),
        "{left:?}"
    );
}

#[test]
fn charts_of_the_run_before_are_replaced_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let good = capture("drop-one.pcap");
    let draw = |options: &[&str]| {
        let args = [&[good.to_str().unwrap(), "--out", "r.csv"], options].concat();
        run(folder.path(), &args)
    };
    for options in [&[][..], &["--svg"], &[]] {
        let run = draw(options);
        assert_eq!(run.status, 0, "{}", run.stderr);
    }
    let charts = folder.path().join("r.charts");
    let ours = names(&charts);
    assert!(!ours.iter().any(|name| name.contains(".svg")), "{ours:?}");
    let chart = ours.first().unwrap();
    fs::copy(charts.join(chart), charts.join("for-the-paper.png")).unwrap();
    let run = draw(&["--svg"]);
    assert_eq!(run.status, 2);
    let said = "'for-the-paper.png' in it is no chart of an earlier run";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(names(&charts).len(), ours.len() + 1);
}

#[test]
fn too_many_connections_for_the_limit_are_told_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    // 300 connections of three segments each, all alive at the same time.
    fs::write(folder.path().join("many.pcap"), connections(300, 3)).unwrap();
    let args = ["many.pcap", "--no-charts", "--out", "r.csv"];
    let all = run(folder.path(), &args);
    assert_eq!(all.status, 0, "{}", all.stderr);
    assert!(!all.stderr.contains("put away"), "{}", all.stderr);
    let rows = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(rows("r.csv").lines().count(), 301);
    let few = run(folder.path(), &[&args[..], &["--max-flows", "64"]].concat());
    assert_eq!(few.status, 0, "{}", few.stderr);
    assert!(
        few.stderr.contains("warning: many.pcap: ")
            && few
                .stderr
                .contains("connections were put away because too many were alive at once"),
        "{}",
        few.stderr
    );
    // Nothing is lost: what goes on after it was put away is a connection, and a row, of its own.
    let table = rows("r.csv");
    assert!(table.contains("limit_hit"));
    assert!(table.lines().count() > 301, "{}", table.lines().count());
    let renamed = [&args[..], &["--max-connections", "64"]].concat();
    assert_eq!(run(folder.path(), &renamed).status, 0);
    assert_eq!(rows("r.csv"), table, "the other name of the same option");
    let none = run(folder.path(), &["many.pcap", "--max-flows", "0"]);
    assert_eq!(none.status, 2);
    assert!(none.stderr.contains("--max-flows"), "{}", none.stderr);
}

#[test]
fn a_run_that_cannot_be_kept_leaves_no_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("a.pcap")).unwrap();
    fs::write(
        folder.path().join("study.toml"),
        "[[runs]]\nfiles = \"{name}.pcap\"\n",
    )
    .unwrap();
    let args = ["study", "study.toml", "--out", "out", "--no-charts"];
    assert_eq!(run(folder.path(), &args).status, 0);
    // What cannot be replaced, as nothing can be written on a disk that is full.
    let cache = folder.path().join("out/cache");
    for name in names(&cache) {
        fs::remove_file(cache.join(&name)).unwrap();
        fs::create_dir(cache.join(&name)).unwrap();
    }
    let kept = names(&cache);
    assert_eq!(run(folder.path(), &args).status, 0);
    assert_eq!(names(&cache), kept);
}

#[test]
fn the_folder_of_results_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture("drop-one.pcap");
    let args = [
        capture.as_os_str(),
        "--out".as_ref(),
        "new/deeper/r.csv".as_ref(),
        "--report".as_ref(),
        "pages/r.html".as_ref(),
    ];
    let run = run(folder.path(), &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(folder.path().join("new/deeper/r.csv").is_file());
    assert!(folder.path().join("new/deeper/r.charts").is_dir());
    assert!(folder.path().join("pages/r.html").is_file());
}

/// On Linux, where a limit on processes counts threads, and root is free of it.
#[cfg(target_os = "linux")]
#[test]
fn without_threads_to_be_had_the_results_are_the_same() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;

    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let for_all = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777));
    for_all(folder.path()).unwrap();
    for (from, to) in [
        (Path::new(env!("CARGO_BIN_EXE_ccanalyze")), "ccanalyze"),
        (&capture("two-flows-cubic-bbr.pcap.zst"), "two.pcap.zst"),
    ] {
        let copy = folder.path().join(to);
        fs::copy(from, &copy).unwrap();
        for_all(&copy).unwrap();
    }
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let results_of = |out: &str, limit: &str| {
        let mut command = Command::new("bash");
        command
            .args([
                "-c",
                "ulimit -u \"$0\"; exec ./ccanalyze two.pcap.zst --out \"$1\"",
                limit,
                out,
            ])
            .current_dir(folder.path());
        if is_root {
            command.uid(NOBODY);
        }
        let run = command.output().unwrap();
        assert!(run.status.success(), "{limit}: {run:?}");
        let table = fs::read(folder.path().join(out)).unwrap();
        (table, String::from_utf8(run.stdout).unwrap())
    };
    let as_usual = results_of("usual.parquet", "unlimited");
    assert_eq!(results_of("alone.parquet", "1").0, as_usual.0);
    assert!(as_usual.1.contains("2 connections"), "{}", as_usual.1);
}
