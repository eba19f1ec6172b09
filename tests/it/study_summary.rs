//! The report `summary` with a label in columns.

use std::fs;
use std::path::Path;

use super::cli::run;

/// Three runs of each variant in either movement, but of one variant one in one of them.
const RUNS: &str = "cca,movement,run,mbps\nbbr,forward,1,10\nbbr,forward,2,12\nbbr,forward,3,14\nbbr,backward,1,7\n\
cubic,forward,1,20\ncubic,forward,2,20\ncubic,forward,3,20\ncubic,backward,1,1\ncubic,backward,2,2\ncubic,backward,3,3\n";

const MANIFEST: &str = r#"
[study]
name = "movements"
group_by = ["cca", "movement"]
report = "summary"
[reports.summary]
columns = "movement"
[labels.movement]
order = ["forward", "backward"]
[[measured]]
files = "runs.csv"
columns = { cca = "cca", movement = "movement", run = "run" }
metrics = { goodput_bps = { column = "mbps", unit = "Mbit" } }
"#;

fn carry_out(folder: &Path, runs: &str, manifest: &str) -> String {
    fs::write(folder.join("runs.csv"), runs).unwrap();
    fs::write(folder.join("s.toml"), manifest).unwrap();
    let args = ["study", "s.toml", "--out", "s", "--no-charts"];
    let output = run(folder, &args);
    output.stderr
}

#[test]
fn the_values_of_a_label_stand_above_columns_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let said = carry_out(folder.path(), RUNS, MANIFEST);
    assert!(!said.contains("error"), "{said}");
    let csv = read("s/report-summary.csv");
    let head = "cca,forward_n,forward_goodput_mbps_mean,forward_goodput_mbps_ci95_half,forward_goodput_mbps_n,";
    assert!(csv.starts_with(head), "{csv}");
    let (rows, cubic) = (csv.lines().count(), csv.lines().nth(2).unwrap());
    assert_eq!(rows, 3, "{csv}");
    assert!(cubic.starts_with("cubic,3,20.0,0.0,3,"), "{csv}");
    let markdown = read("s/report-summary.md");
    for wanted in [
        "Means of each group, ± half of their 95 % confidence interval, movement in columns",
        "| CCA | forward: n | forward: Goodput (Mbit/s) | backward: n | backward: Goodput (Mbit/s) |",
        // Half of the interval of 10, 12 and 14 is 2 / sqrt 3 of 4.303.
        "| bbr | 3 | 12.0 ± 5.0 | 1 | 7 |",
        "| cubic | 3 | 20 ± 0 | 3 | 2.0 ± 2.5 |",
    ] {
        assert!(markdown.contains(wanted), "{wanted}: {markdown}");
    }
    let latex = read("s/report-summary.tex");
    let above = " & \\multicolumn{2}{c}{forward} & \\multicolumn{2}{c}{backward} \\\\\n\\cmidrule(lr){2-3}\\cmidrule(lr){4-5}\n";
    assert!(latex.contains(above), "{latex}");
}

#[test]
fn medians_of_a_label_in_columns_have_their_quartiles() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = MANIFEST.replace(
        "[reports.summary]",
        "average = \"median\"\n[reports.summary]",
    );
    carry_out(folder.path(), RUNS, &manifest);
    let markdown = fs::read_to_string(folder.path().join("s/report-summary.md")).unwrap();
    let row = "| bbr | 3 | 12 [11, 13] | 1 | 7 |";
    assert!(markdown.contains(row), "{markdown}");
}

#[test]
fn numbers_in_columns_have_their_unit_and_runs_without_one_are_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = MANIFEST.replace("order = [\"forward\", \"backward\"]", "unit = \"ms\"");
    let runs = RUNS.replace("forward", "20ms").replace("backward", "");
    carry_out(folder.path(), &runs, &manifest);
    let csv = fs::read_to_string(folder.path().join("s/report-summary.csv")).unwrap();
    let head = csv.lines().next().unwrap();
    for wanted in ["unlabelled_goodput_mbps_mean", "20 ms_goodput_mbps_mean"] {
        assert!(head.contains(wanted), "{csv}");
    }
}

#[test]
fn more_values_than_columns_have_room_for_are_rows_which_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..65).map(|place| format!("bbr,place{place},1,9\n"));
    let runs = format!("cca,movement,run,mbps\n{}", rows.collect::<String>());
    let manifest = MANIFEST.replace("order = [\"forward\", \"backward\"]", "");
    carry_out(folder.path(), &runs, &manifest);
    let markdown = fs::read_to_string(folder.path().join("s/report-summary.md")).unwrap();
    let said = "Means of each group; movement has more than 64 values, too many for columns";
    assert!(markdown.contains(said), "{markdown}");
    assert!(markdown.contains("| bbr | place64 | 1 | 9 |"), "{markdown}");
}

#[test]
fn the_label_in_columns_makes_groups() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = MANIFEST.replace("[\"cca\", \"movement\"]", "[\"cca\"]");
    let said = carry_out(folder.path(), RUNS, &manifest);
    let wanted = "s.toml:7: label 'movement' is not in group_by, whose labels alone make groups: add it there";
    assert!(said.contains(wanted), "{said}");
    let manifest = MANIFEST.replace("columns = \"movement\"", "columns = \"movment\"");
    let said = carry_out(folder.path(), RUNS, &manifest);
    let wanted = "s.toml:7: there is no label 'movment'; did you mean 'movement'?";
    assert!(said.contains(wanted), "{said}");
}
