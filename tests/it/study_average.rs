//! What stands for several runs: the mean, or the median with its quartiles.

use std::fs;

use super::cli::run;

/// Five runs of a variant, and one of another; the first of them an outlier.
const RUNS: &str = "cca,run,mbps\nbbr,1,90\nbbr,2,2\nbbr,3,1\nbbr,4,3\nbbr,5,4\ncubic,1,7\n";

const MANIFEST: &str = r#"
[study]
group_by = ["cca"]
average = "median"
report = "summary"
[[measured]]
files = "runs.csv"
columns = { cca = "cca", run = "run" }
metrics = { goodput_bps = { column = "mbps", unit = "Mbit" } }
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("runs.csv"), RUNS).unwrap();
    folder
}

#[test]
fn a_study_of_medians_has_them_in_its_summary_and_its_bars() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let carry_out = |manifest: &str| {
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let args = ["study", "s.toml", "--out", "s", "--svg"];
        let output = run(folder.path(), &args);
        assert_eq!(output.status, 0, "{}", output.stderr);
    };
    carry_out(MANIFEST);
    let csv = read("s/report-summary.csv");
    let head = "cca,n,goodput_mbps_median,goodput_mbps_q1,goodput_mbps_q3,goodput_mbps_n,";
    assert!(csv.starts_with(head), "{csv}");
    // Of 1, 2, 3, 4 and 90.
    assert!(csv.contains("\nbbr,5,3.0,2.0,4.0,5,"), "{csv}");
    let markdown = read("s/report-summary.md");
    assert!(markdown.contains("Medians of each group, with quartiles"));
    assert!(markdown.contains("| bbr | 5 | 3 [2, 4] |"), "{markdown}");
    assert!(markdown.contains("| cubic | 1 | 7 |"), "{markdown}");
    let bars = read("s/charts/bars-goodput.svg");
    for said in ["median of runs, with quartiles", "\n3.00\n", "\n7.00\n"] {
        assert!(bars.contains(said), "{said}: {bars}");
    }
    // Without it the mean.
    carry_out(&MANIFEST.replace("average = \"median\"\n", ""));
    assert!(read("s/report-summary.csv").contains("\nbbr,5,20.0,"));
    let bars = read("s/charts/bars-goodput.svg");
    assert!(bars.contains("mean of runs, with its 95 % confidence interval"));
}

#[test]
fn an_average_is_a_mean_or_a_median() {
    let folder = folder();
    let manifest = MANIFEST.replace("\"median\"", "\"medians\"");
    fs::write(folder.path().join("s.toml"), manifest).unwrap();
    let output = run(folder.path(), &["study", "s.toml", "--out", "s"]);
    assert_eq!(output.status, 2);
    for said in ["s.toml:4: ", "did you mean 'median'?"] {
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
}
