//! What results are not written over, and not written into.

use std::fs;

use super::cli::{names, run};
use super::support::capture;

#[test]
fn nothing_else_is_written_into_a_folder_of_charts() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("a_1.pcap")).unwrap();
    let study = "[[runs]]\nfiles = \"{cca}_{run}.pcap\"\n";
    fs::write(folder.path().join("s.toml"), study).unwrap();
    for (args, page) in [
        (&["study", "s.toml", "--out", "s"][..], "s/charts/page.html"),
        (&["a_1.pcap", "--out", "r.csv"], "r.charts/page.html"),
    ] {
        // Whether that is there or not.
        let said = format!("{page}: is in a folder of charts, which is replaced as a whole");
        let refused = || {
            let refused = run(folder.path(), &[args, &["--report", page]].concat());
            assert_eq!(refused.status, 2, "{}", refused.stderr);
            assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        };
        refused();
        let first = run(folder.path(), args);
        assert_eq!(first.status, 0, "{}", first.stderr);
        refused();
        // Where they stay as they are, it may be there.
        let kept = [args, &["--report", page, "--no-charts"]].concat();
        assert_eq!(run(folder.path(), &kept).status, 0);
    }
}

#[test]
fn results_are_not_written_over_what_they_are_made_from() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(capture("drop-one.pcap")).unwrap();
    let table = "cca,run,goodput_mbps\ncubic,1,9.5\nbbr,2,9\n";
    let study = "[[measured]]\nfiles = \"runs.csv\"\ncolumns = { cca = \"cca\" }\n[measured.metrics]\ngoodput_bps = \"goodput_mbps\"\n";
    let traced = |trace: &str| {
        format!(
            "[[runs]]\nfiles = \"in.pcap\"\n[runs.conditions]\ncapacity = {{ trace = \"{trace}\", time = \"t_s\", rate = \"rate_mbps\" }}\n"
        )
    };
    for (args, input) in [
        (&["in.csv", "--out", "./in.csv"][..], "in.csv"),
        // The table of pairs would be called like the capture.
        (&["in.pairs.csv", "--out", "in.csv"], "in.pairs.csv"),
        (&["in.csv", "--segments", "in.csv"], "in.csv"),
        (&["in.html", "--report", "in.html"], "in.html"),
        (
            &[
                "path",
                "--before",
                "in.pcap",
                "--after",
                "b.hops.csv",
                "--out",
                "b.csv",
            ],
            "b.hops.csv",
        ),
        (
            &[
                "path", "--before", "in.pcap", "--after", "in.html", "--report", "in.html",
            ],
            "in.html",
        ),
        (&["study", "s.toml", "--out", "."], "runs.csv"),
        (&["study", "flows.csv.toml", "--out", "."], "flows.csv"),
        (
            &[
                "study",
                "page.html.toml",
                "--out",
                "o",
                "--report",
                "page.html",
            ],
            "page.html",
        ),
    ] {
        let at = |name: &str| folder.path().join(name);
        for name in ["in.csv", "in.pairs.csv", "in.html", "in.pcap", "b.hops.csv"] {
            fs::write(at(name), &bytes).unwrap();
        }
        fs::write(at("runs.csv"), table).unwrap();
        fs::write(at("s.toml"), study).unwrap();
        for name in ["flows.csv", "page.html"] {
            fs::write(at(&format!("{name}.toml")), traced(name)).unwrap();
            fs::write(at(name), "t_s,rate_mbps\n0,50\n1,25\n").unwrap();
        }
        let before = fs::read(at(input)).unwrap();
        let run = run(folder.path(), args);
        assert_eq!(run.status, 2, "{args:?}: {}", run.stderr);
        let said = format!("{input}: is one of the files that are read");
        assert!(run.stderr.contains(&said), "{args:?}: {}", run.stderr);
        assert_eq!(fs::read(at(input)).unwrap(), before, "{args:?}");
    }
}

#[test]
fn a_name_that_is_too_long_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let drop_one = capture("drop-one.pcap");
    let name = format!("{}.csv", "n".repeat(240));
    let run = run(folder.path(), &[drop_one.to_str().unwrap(), "--out", &name]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    let said = "cannot be written: File name too long; take another name\n";
    assert!(run.stderr.ends_with(said), "{}", run.stderr);
    assert!(names(folder.path()).is_empty());
}

/// Tables of which some are of this study and some of the one before would be taken for one.
#[cfg(unix)]
#[test]
fn a_study_that_cannot_be_written_as_a_whole_leaves_all_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("bbr.pcap")).unwrap();
    fs::write(
        folder.path().join("s.toml"),
        "[[runs]]\nfiles = \"{cca}.pcap\"\n",
    )
    .unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/runs.csv"), "old").unwrap();
    // Texts of a few rows have less than 8 KiB, and Parquet files of runs more.
    let script = r#"ulimit -f 16; "$0" study s.toml --out out --no-charts --report s.html"#;
    let run = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_ccanalyze")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(
        said.contains(".parquet: cannot be written: File too large"),
        "{said}"
    );
    let left = names(&folder.path().join("out"));
    assert!(left.iter().eq(["cache", "runs.csv"]), "{left:?}");
    assert_eq!(
        fs::read(folder.path().join("out/runs.csv")).unwrap(),
        b"old"
    );
    assert!(!folder.path().join("s.html").exists());
}
