//! `ccanalyze study`: values of labels that are called otherwise than files call them.

use std::fs;

use super::cli::run;
use super::support::capture;

/// One pair, which its file names in the order of start, and a solo run.
const MANIFEST: &str = r#"
[study]
group_by = ["cca"]
baseline = { cca = "cubic" }
report = "pairs"
[labels.cca]
order = ["BBRv1", "cubic"]
names = { cubic = "CUBIC", bbr = "BBRv1" }
[[runs]]
files = "{first}-{second}_{run}.pcap.zst"
[[runs.flows]]
label = "cca"
by = "start"
values = ["{first}", "{second}"]
[[runs]]
files = "{cca}_{run}.pcap"
[runs.conditions]
capacity = { by = "cca", cubic = "20Mbit" }
"#;

/// What the manifest with one line in the place of another makes of the captures.
fn carried_out(line: &str, instead: &str) -> (super::cli::Run, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("two-flows-cubic-bbr.pcap.zst", "cubic-bbr_1.pcap.zst"),
        ("drop-one.pcap", "cubic_1.pcap"),
    ] {
        fs::copy(capture(from), folder.path().join(to)).unwrap();
    }
    assert!(MANIFEST.contains(line), "{line}");
    let manifest = MANIFEST.replace(line, instead);
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let arguments = ["study", "study.toml", "--out", "s"];
    (run(folder.path(), &arguments), folder)
}

/// Words of a file's name are one for each value: papers write others. Templates, and what is told `by` a label, have the
/// words of the files; baseline and order either.
#[test]
fn tables_and_charts_call_values_by_their_names() {
    for (line, instead) in [
        ("", ""),
        ("cca = \"cubic\"", "cca = \"CUBIC\""),
        ("[\"BBRv1\", \"cubic\"]", "[\"bbr\", \"CUBIC\"]"),
    ] {
        let (run, folder) = carried_out(line, instead);
        assert_eq!(run.status, 0, "{instead}: {}", run.stderr);
        let read = |name: &str| fs::read_to_string(folder.path().join("s").join(name)).unwrap();
        let flows = read("flows.csv");
        let mut reader = csv::Reader::from_reader(flows.as_bytes());
        let header = reader.headers().unwrap().clone();
        let place = header.iter().position(|name| name == "cca").unwrap();
        let called: Vec<String> = reader
            .records()
            .map(|row| row.unwrap()[place].to_owned())
            .collect();
        // As ordered; the solo run is cubic's, and so is a flow of the pair.
        assert_eq!(called, ["CUBIC", "BBRv1", "CUBIC"], "{instead}: {flows}");
        let groups = read("groups.md");
        assert!(groups.contains("| 1 BBRv1 + 1 CUBIC |"), "{groups}");
        // The baseline is found: what it is compared with has a change.
        let table = read("groups.csv");
        let mut table = csv::Reader::from_reader(table.as_bytes());
        let header = table.headers().unwrap().clone();
        let change = header.iter().position(|name| name.starts_with("change"));
        let rows: Vec<_> = table.records().map(Result::unwrap).collect();
        let of_bbr = rows
            .iter()
            .filter(|row| row.iter().any(|cell| cell == "BBRv1"));
        let changes: Vec<&str> = of_bbr.map(|row| &row[change.unwrap()]).collect();
        assert!(changes.iter().any(|change| !change.is_empty()), "{rows:?}");
        assert!(read("report-pairs.csv").contains("CUBIC,BBRv1"));
        for table in [
            "flows.csv",
            "groups.md",
            "report-pairs.csv",
            "report-pairs.tex",
        ] {
            let text = read(table);
            let cells = text.split(['|', ',', '&']).map(str::trim);
            let raw: Vec<&str> = cells
                .filter(|cell| ["cubic", "bbr"].contains(cell))
                .collect();
            // The labels that the pair's file name has keep its words.
            let of_files = if table == "flows.csv" { 4 } else { 0 };
            assert_eq!(raw.len(), of_files, "{table}: {text}");
        }
    }
}

#[test]
fn a_word_and_its_name_are_one_value_of_an_order() {
    let (run, _folder) = carried_out("[\"BBRv1\", \"cubic\"]", "[\"bbr\", \"BBRv1\"]");
    assert_eq!(run.status, 2, "{}", run.stderr);
    let said = "study.toml:7: 'BBRv1' is named a second time in the order of label 'cca'";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_name_of_nothing_and_two_of_one_name_are_mistakes() {
    let names = "names = { cubic = \"CUBIC\", bbr = \"BBRv1\" }";
    for (instead, said) in [
        (
            "names = { cubik = \"CUBIC\" }",
            "no run or flow has cca = 'cubik'; did you mean 'cubic'?",
        ),
        (
            "names = { cubic = \"TCP\", bbr = \"TCP\" }",
            "label 'cca': 'bbr' cannot be called 'TCP', which is 'cubic'",
        ),
        (
            "names = { cubic = \"bbr\", bbr = \"BBRv1\" }",
            "label 'cca': 'cubic' cannot be called 'bbr', which is 'bbr'",
        ),
        (
            "names = { cubic = \"bbr\" }",
            "label 'cca': 'cubic' cannot be called 'bbr', which others are",
        ),
        (
            "names = { cubik = \"cubic\" }",
            "label 'cca': 'cubik' cannot be called 'cubic', which others are",
        ),
        (
            "names = { cubic = \" \" }",
            "'cubic' of label 'cca' needs a name",
        ),
        (
            "names = [\"CUBIC\"]",
            "'names' in [labels.cca] must be a table of texts",
        ),
        (
            "type = \"number\"\nnames = { cubic = \"CUBIC\" }",
            "the values of label 'cca' are numbers",
        ),
    ] {
        let (run, _folder) =
            carried_out(&format!("order = [\"BBRv1\", \"cubic\"]\n{names}"), instead);
        assert_eq!(run.status, 2, "{instead}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{instead}: {}", run.stderr);
        let line = 7 + instead.matches('\n').count();
        let place = format!("study.toml:{line}: ");
        assert!(run.stderr.contains(&place), "{instead}: {}", run.stderr);
    }
}

/// A draft has the names as a comment: whoever wants other words than those of the files need not look for how.
#[test]
fn a_draft_shows_where_names_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["cubic_1.pcap", "cubic_2.pcap", "bbr_1.pcap", "bbr_2.pcap"] {
        fs::copy(capture("drop-one.pcap"), folder.path().join(name)).unwrap();
    }
    let draft = run(folder.path(), &["study", "init", "."]).stdout;
    let (before, commented) = draft.split_once("# [labels.cca]\n# names").unwrap();
    fs::write(
        folder.path().join("study.toml"),
        format!("{before}[labels.cca]\nnames{commented}"),
    )
    .unwrap();
    let run = run(
        folder.path(),
        &["study", "study.toml", "--out", "s", "--no-charts"],
    );
    assert_eq!(run.status, 0, "{draft}\n{}", run.stderr);
    let runs = fs::read_to_string(folder.path().join("s/runs.csv")).unwrap();
    assert!(runs.contains(",BBR,") && runs.contains(",CUBIC,"), "{runs}");
}
