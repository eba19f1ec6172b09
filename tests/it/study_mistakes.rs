//! `ccanalyze study`: manifests with mistakes.

use super::cli::run;
use super::study::{MANIFEST, folder_with};

/// A line of the manifest, what stands there instead, and what is said of it; nothing where it is said otherwise.
const MISTAKES: &[(usize, &str, &str)] = &[
    (
        3,
        "group_by = [\"ccaa\"]",
        "there is no label 'ccaa'; did you mean 'cca'?",
    ),
    (
        4,
        "baseline = { cca = \"cubik\" }",
        "no run has cca = 'cubik'; did you mean 'cubic'?",
    ),
    (
        3,
        "group_by = [\"cca\", \"run\", \"cca\"]",
        "label 'cca' is named a second time",
    ),
    (
        4,
        "baseline = { rate = \"20m\" }",
        "label 'rate' is in the baseline, but not in group_by",
    ),
    (
        4,
        "basline = { cca = \"cubic\" }",
        "unknown key 'basline' in [study]; did you mean 'baseline'?",
    ),
    (
        4,
        "report = \"pears\"",
        "there is no report 'pears'; did you mean 'pairs'?",
    ),
    (
        4,
        "metrics = [\"goodput\"]",
        "there is no metric 'goodput'; did you mean 'goodput_bps'?",
    ),
    (
        4,
        "report = [\"pairs\", \"pairs\"]",
        "report 'pairs' is named a second time",
    ),
    (
        7,
        "order = [\"20m\", \"10m\", \"20m\"]",
        "'20m' is named a second time in the order of label 'rate'",
    ),
    (6, "[labels.speed]", "no run has a label 'speed'"),
    (
        7,
        "unit = \"furlong\"",
        "'furlong' is no unit that is known here",
    ),
    (
        7,
        "unit = \"ms\"",
        "the values of label 'rate', such as '20m', are a rate (50Mbit, 1.5Gbit/s, 800kbit): write unit = \"Mbit\"",
    ),
    (
        10,
        "files = \"{cca}_{rate}_{run}.pcapng\"",
        "matches no file",
    ),
    // A folder that is not there, below one that is.
    (
        10,
        "files = \"traces/{cca}_{rate}_{run}.pcap\"",
        "'traces/{cca}_{rate}_{run}.pcap' matches no file below",
    ),
    (
        10,
        "files = \"cubic_20m_3.pcap\"",
        "there is no such file; did you mean 'cubic_20m_1.pcap'?",
    ),
    (
        11,
        "captured = \"behind\"\n[runs.conditions]",
        "a capture is taken \"before\" the queue or \"after\" it, not 'behind'",
    ),
    (
        11,
        "captured = \"before\"\nafter = \"{cca}_{rate}_{run}.pcap\"\n[runs.conditions]",
        "'captured' is not needed where 'before' or 'after' names the other side",
    ),
    (10, "files = \"{cca_{rate}_{run}.pcap\"", "is no label"),
    (
        10,
        "files = \"{cca}{rate}_{run}.pcap\"",
        "nothing tells where '{cca}' ends and '{rate}' begins",
    ),
    (
        12,
        "capacity = \"{speed}\"",
        "there is no label 'speed' here",
    ),
    (
        12,
        "capacity = \"{rate}s\"",
        "by its unit 'Mbit', and here its numbers are a time",
    ),
    (
        12,
        "buffer = \"deep\"",
        "is no buffer: write it as 100 packets, 64kB or 0.5BDP",
    ),
    (12, "base_rtt = 20", "has no unit of time"),
    (
        12,
        "base_rtt = \"{rate}ms\"",
        "label 'rate' is a rate (50Mbit, 1.5Gbit/s, 800kbit) by its unit 'Mbit', and here its numbers are a time",
    ),
    (
        12,
        "base_rtt = \"0ms\"",
        "'0ms' is no round-trip time: it must be above 0",
    ),
    (
        12,
        "capacity = { trace = \"rates.csv\", time = \"t\", rate = \"r\" }",
        "there is no such file",
    ),
];

#[test]
fn every_mistake_is_said_with_its_line_before_anything_is_analysed() {
    for &(line, text, said) in MISTAKES {
        let lines: Vec<&str> = MANIFEST.lines().collect();
        let mut changed = lines.clone();
        changed[line - 1] = text;
        let folder = folder_with(&changed.join("\n"));
        let run = run(folder.path(), &["study", "study.toml", "--out", "study"]);
        assert_eq!(run.status, 2, "{text}: {}", run.stderr);
        let place = format!("study.toml:{line}: ");
        assert!(run.stderr.contains(&place), "{text}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{text}: {}", run.stderr);
        assert!(
            !folder.path().join("study").exists(),
            "{text}: something was begun"
        );
    }
}

#[test]
fn all_mistakes_are_said_at_once() {
    let manifest = MANIFEST
        .replace("\"cubic\"", "\"cubik\"")
        .replace("{rate}\"", "{rat}\"");
    let folder = folder_with(&manifest);
    let run = run(folder.path(), &["study", "study.toml", "--out", "study"]);
    assert!(
        run.stderr.contains(":4: ") && run.stderr.contains(":12: "),
        "{}",
        run.stderr
    );
    let run = super::cli::run(folder.path(), &["study", "nowhere.toml", "--out", "study"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("nowhere.toml"), "{}", run.stderr);
}

#[test]
fn what_follows_from_a_mistake_is_not_said_and_what_is_so_of_all_runs_once() {
    for (metrics, conditions, said) in [
        (
            "metrics = [\"goodput\"]",
            "",
            "error: study.toml:5: there is no metric 'goodput'; did you mean 'goodput_bps'?\n",
        ),
        (
            "metrics = [\"goodput_bps\"]",
            "base_rtt = \"{run}\"\n",
            "error: study.toml:20: the values of '{run}' have no unit here: write \"{run}ms\"\n",
        ),
        (
            "metrics = [\"jain\"]",
            "",
            "error: study.toml:8: the study has no metric 'goodput_bps'; there is jain\n",
        ),
    ] {
        let report = "report = \"heat-map\"\n[reports.heat-map]\nmetric = \"goodput_bps\"\nrows = \"cca\"\ncolumns = \"rate\"\n[labels.run]\nunit = \"ms\"\n";
        let manifest = MANIFEST
            .replace("group_by = [\"cca\"]", "group_by = [\"cca\", \"rate\"]")
            .replace(
                "\n[labels.rate]",
                &format!("{metrics}\n{report}[labels.rate]"),
            );
        let folder = folder_with(&format!("{manifest}{conditions}"));
        let run = run(folder.path(), &["study", "study.toml", "--out", "study"]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert_eq!(run.stderr, said);
    }
}

/// Three numbers are asked for: others were left out before, so that four with a mistake were three without.
#[test]
fn weights_that_are_not_three_numbers_are_a_mistake() {
    for (weights, said) in [
        ("[1, 1]", "must be three numbers"),
        ("[1, 1, -1]", "none below 0"),
        ("[0, 0, 0]", "not all 0"),
        ("[1, -5, 1, 1]", "must be three numbers"),
        ("[1, \"x\", 1, 1]", "must be three numbers"),
        ("{ goodput = 1 }", "must be three numbers"),
    ] {
        let section = format!("[analysis]\nweights = {weights}\n[study]");
        let folder = folder_with(&MANIFEST.replace("[study]", &section));
        let run = run(folder.path(), &["study", "study.toml", "--out", "study"]);
        assert_eq!(run.status, 2, "{weights}: {}", run.stderr);
        assert!(
            run.stderr.contains("study.toml:3: "),
            "{weights}: {}",
            run.stderr
        );
        assert!(run.stderr.contains(said), "{weights}: {}", run.stderr);
    }
}

/// The flows of the runs would have got no label, or that of another, which was a warning behind the analysis.
#[test]
fn values_of_flows_are_a_list_by_start_and_a_table_by_all_else() {
    for (by, values, said) in [
        ("server", "[\"cubic\"]", "a list needs by = \"start\""),
        ("start", "{ 5001 = \"cubic\" }", "must be a list, such as"),
        ("server", "\"cubic\"", "must be a table"),
        ("start", "\"cubic\"", "must be a list"),
        ("server", "{ 5001 = \"cubic\" }", ""),
        ("start", "[\"cubic\"]", ""),
    ] {
        let rule = format!(
            "{MANIFEST}\n[[runs.flows]]\nlabel = \"of\"\nby = \"{by}\"\nvalues = {values}\n"
        );
        let line = 1 + rule
            .lines()
            .position(|line| line.starts_with("values"))
            .unwrap();
        let folder = folder_with(&rule);
        let run = run(folder.path(), &["study", "study.toml", "--out", "study"]);
        if said.is_empty() {
            assert_eq!(run.status, 0, "{by} {values}: {}", run.stderr);
            continue;
        }
        assert_eq!(run.status, 2, "{by} {values}: {}", run.stderr);
        let place = format!("study.toml:{line}: ");
        assert!(
            run.stderr.contains(&place) && run.stderr.contains(said),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_manifest_from_standard_input_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refused = run(folder.path(), &["study", "-", "--out", "s"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("not taken from standard input"),
        "{}",
        refused.stderr
    );
    assert!(!folder.path().join("s").exists());
}
