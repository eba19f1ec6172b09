//! Paths that the report `utilisation-grid` is told: what to expect of them, whole and split.

use std::fs;
use std::path::Path;

use super::cli::run;

/// What two variants make of two losses and three delays, on a link of 10 Mbit/s.
const RUNS: &str = "cca,loss,owd,mbps\n\
    bbr,0,20,9\nbbr,0,40,8\nbbr,0,60,7\nbbr,1,20,6\nbbr,1,40,5\nbbr,1,60,4\nbbr,0,1,9.5\nbbr,1,1,7.5\n\
    cubic,0,20,9\ncubic,0,40,9\ncubic,0,60,9\ncubic,1,20,3\ncubic,1,40,2\ncubic,1,60,1\ncubic,0,1,9\ncubic,1,1,8\n";

const MANIFEST: &str = r#"
[study]
name = "grid"
group_by = ["cca", "loss", "owd"]
report = "utilisation-grid"
[reports.utilisation-grid]
paths = ["20ms 0% | 40ms 1%", "1% 1ms|60ms 0%"]
[labels.loss]
unit = "%"
[labels.owd]
unit = "ms"
[[measured]]
files = "runs.csv"
columns = { cca = "cca", loss = "loss", owd = "owd" }
metrics = { goodput_bps = { column = "mbps", unit = "Mbit" } }
[measured.conditions]
capacity = "10Mbit"
"#;

fn carry_out(folder: &Path, manifest: &str) -> String {
    fs::write(folder.join("runs.csv"), RUNS).unwrap();
    fs::write(folder.join("s.toml"), manifest).unwrap();
    run(folder, &["study", "s.toml", "--out", "s", "--svg"]).stderr
}

#[test]
fn paths_are_told_whole_and_split() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    carry_out(folder.path(), MANIFEST);
    // The path of 60 ms and 1 %; split the slower of 20 ms without loss and of 40 ms with it. A hop of 1 ms vanishes.
    assert_eq!(
        read("s/report-split-paths.csv"),
        "path,cca,rate_mbps,end_to_end_mbps,split_mbps,end_to_end_utilisation,split_utilisation,gain\n\
         \"20 ms, 0 % | 40 ms, 1 %\",bbr,10.0,4.0,5.0,0.4,0.5,1.25\n\
         \"20 ms, 0 % | 40 ms, 1 %\",cubic,10.0,1.0,2.0,0.1,0.2,2.0\n\
         \"1 ms, 1 % | 60 ms, 0 %\",bbr,10.0,4.0,7.0,0.4,0.7,1.75\n\
         \"1 ms, 1 % | 60 ms, 0 %\",cubic,10.0,1.0,8.0,0.1,0.8,8.0\n"
    );
    let markdown = read("s/report-split-paths.md");
    let row = "| 20 ms, 0 % \\| 40 ms, 1 % | bbr | 10 | 4 | 5 | 40 | 50 | 1.25 |";
    assert!(markdown.contains(row), "{markdown}");
    let svg = read("s/charts/split-path-02.svg");
    for said in [
        "Utilisation of 1 ms, 1 % | 60 ms, 0 %",
        "end to end",
        "split",
        "\n40.0\n",
        "\n70.0\n",
        "\n10.0\n",
        "\n80.0\n",
        "n = 1",
    ] {
        assert!(svg.contains(said), "{said}: {svg}");
    }
}

#[test]
fn without_paths_there_is_no_table_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let manifest: Vec<&str> = MANIFEST
        .lines()
        .filter(|line| !line.starts_with("paths"))
        .collect();
    carry_out(folder.path(), &manifest.join("\n"));
    assert!(folder.path().join("s/report-splits.csv").exists());
    assert!(!folder.path().join("s/report-split-paths.csv").exists());
    assert!(!folder.path().join("s/charts/split-path.svg").exists());
}

#[test]
fn a_path_is_two_measured_segments_whose_whole_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    for (path, said) in [
        (
            "20ms 0%",
            "'20ms 0%' is no path of two segments, each with a delay and a loss: write paths = [\"20ms 0% | 40ms 1%\"]",
        ),
        (
            "20ms 40ms | 20ms 0%",
            "'20ms 40ms | 20ms 0%' is no path of two segments",
        ),
        ("20ms 0% | 30ms 1%", "no run has owd = '30ms'"),
        ("20ms 0% | 40ms 2%", "no run has loss = '2%'"),
        (
            "60ms 0% | 40ms 1%",
            "nothing can be expected of '60ms 0% | 40ms 1%' end to end: no run has owd = '100'",
        ),
    ] {
        let manifest = MANIFEST.replace("1% 1ms|60ms 0%", path);
        let stderr = carry_out(folder.path(), &manifest);
        assert!(stderr.contains("s.toml:7: "), "{stderr}");
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
    let manifest = MANIFEST.replace("1% 1ms|60ms 0%", "20ms 0% | 1% 40ms");
    let stderr = carry_out(folder.path(), &manifest);
    let said = "s.toml:7: path '20ms 0% | 1% 40ms' is named twice";
    assert!(stderr.contains(said), "{stderr}");
}
