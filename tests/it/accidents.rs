//! What a user sees when the disk is full, or nobody listens; and that nothing half-written stays.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::cli::{command, names, run};
use super::support::{capture, connections};

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
    let run_with = |out: &str, limit: &str| {
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
        command.output().unwrap()
    };
    let results_of = |out: &str, limit: &str| {
        let run = run_with(out, limit);
        assert!(run.status.success(), "{limit}: {run:?}");
        let table = fs::read(folder.path().join(out)).unwrap();
        (table, String::from_utf8(run.stdout).unwrap())
    };
    let as_usual = results_of("usual.parquet", "unlimited");
    assert_eq!(results_of("alone.parquet", "1").0, as_usual.0);
    assert!(as_usual.1.contains("2 connections"), "{}", as_usual.1);
    // CSV is not written without: that is said before the capture is read, and nothing is left.
    let refused = run_with("alone.csv", "1");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert_eq!(
        said,
        "error: alone.csv: cannot be written: no threads are to be had; raise the limit on processes (ulimit -u, or that of the container), or take the name of a .parquet file: what writes CSV starts some of its own\n"
    );
    let names = fs::read_dir(folder.path()).unwrap();
    let named = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().contains("csv");
    assert_eq!(names.flatten().filter(named).count(), 0);
}
