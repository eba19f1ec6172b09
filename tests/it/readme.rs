//! What README.md shows is what happens.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::cli::{Run, run};
use super::support::root;

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

fn study_of(folder: &Path, manifest: &str) -> Run {
    fs::write(folder.join("study.toml"), manifest).unwrap();
    run(
        folder,
        &["study", "study.toml", "--out", "s", "--no-charts"],
    )
}

/// `*.pcap` of the example, as a shell puts it.
const CAPTURES: [&str; 3] = ["drop-one.pcap", "keep-alive.pcap", "refused.pcap"];

#[test]
fn the_first_example_prints_what_it_says() {
    let text = readme();
    let example = text.split("```console\n").nth(1).unwrap();
    let (command, output) = example.split_once('\n').unwrap();
    assert_eq!(
        command,
        "$ cargo run --release -- testdata/captures/*.pcap --out results.parquet"
    );
    let folder = tempfile::tempdir().unwrap();
    let captures = folder.path().join("testdata/captures");
    fs::create_dir_all(&captures).unwrap();
    for name in CAPTURES {
        fs::copy(
            root().join("testdata/captures").join(name),
            captures.join(name),
        )
        .unwrap();
    }
    let mut args = CAPTURES
        .map(|name| format!("testdata/captures/{name}"))
        .to_vec();
    args.extend(["--out", "results.parquet"].map(String::from));
    let run = run(folder.path(), &args);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, output.split("```").next().unwrap());
}

#[test]
fn the_example_of_two_flows_prints_what_it_says() {
    let text = readme();
    let command = "$ ccanalyze testdata/captures/two-flows-cubic-bbr.pcap.zst --capacity 20Mbit\n";
    let output = text.split(command).nth(1).unwrap();
    let args = [
        "testdata/captures/two-flows-cubic-bbr.pcap.zst",
        "--capacity",
        "20Mbit",
    ];
    let run = run(root(), &args);
    assert_eq!(run.status, 0);
    let said = run.stderr + &run.stdout;
    assert_eq!(said, output.split("```").next().unwrap());
}

#[test]
fn what_is_said_of_tables_of_points_and_lines_is_so() {
    let text = readme();
    let points = r#"goodput_bps = { column = "sum {cca}", unit = "Mbit" }"#;
    let time = r#"time = { column = "t", unit = "s" }"#;
    let lines = r#"lines = "{cca}: {goodput} Mbit/s""#;
    let label = r#"columns = { cca = "cca" }"#;
    for words in [points, time, lines, label, "points = 301"] {
        assert!(text.contains(&format!("`{words}`")), "{words}");
    }
    let folder = tempfile::tempdir().unwrap();
    let table = "t,sum cubic,sum bbr\n0,1,2\n1,3,4\n";
    fs::write(folder.path().join("series.csv"), table).unwrap();
    fs::write(
        folder.path().join("log.txt"),
        "# a log\ncubic: 9.5 Mbit/s\n",
    )
    .unwrap();
    let points = points.replace(" }", ", points = 301 }");
    let manifest = format!(
        "[[measured]]\nfiles = \"series.csv\"\nrows = \"points\"\n{time}\n[measured.metrics]\n{points}\n\
         [[measured]]\nfiles = \"log.txt\"\n{lines}\n{label}\n[measured.metrics]\n\
         goodput_bps = {{ column = \"goodput\", unit = \"Mbit\" }}\n"
    );
    let run = study_of(folder.path(), &manifest);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let runs = fs::read_to_string(folder.path().join("s/runs.csv")).unwrap();
    let mut rows = runs.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (cca, goodput) = (place("cca"), place("goodput_bps"));
    let mut found: Vec<(&str, f64)> = rows
        .map(|row| (row[cca], row[goodput].parse().unwrap()))
        .collect();
    found.sort_by(|one, two| one.1.total_cmp(&two.1));
    // Means of the points, and the line's number.
    assert_eq!(found, [("cubic", 2e6), ("bbr", 3e6), ("cubic", 9.5e6)]);
}

#[test]
fn the_mistake_that_is_shown_is_reported_like_that() {
    let text = readme();
    let shown = text
        .split("```text\n")
        .find(|block| block.starts_with("study.toml:"));
    let shown = shown.and_then(|block| block.lines().next()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cubic_deep.pcap"), "").unwrap();
    let manifest =
        "[[runs]]\nfiles = \"{cca}_{buffer}.pcap\"\n\n[study]\n\ngroup_by = [\"bufer\"]\n";
    let run = study_of(folder.path(), manifest);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains(shown), "{shown}\n{}", run.stderr);
}

#[test]
fn what_is_said_of_how_to_do_things_exists() {
    let text = readme();
    let section = text.split("\n## How to\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let metrics = fs::read_to_string(root().join("METRICS.md")).unwrap();
    let help = run(root(), &["--help"]).stdout;
    let mut code: Vec<&str> = section.split('`').skip(1).step_by(2).collect();
    code.retain(|word| !word.contains(' '));
    let columns: Vec<&&str> = code.iter().filter(|word| word.contains('_')).collect();
    assert!(columns.len() > 7, "{columns:?}");
    for column in columns {
        assert!(metrics.contains(&format!("| `{column}` |")), "{column}");
    }
    let ours = section.split('`').skip(1).step_by(2);
    let ours = ours.filter(|code| code.starts_with("--") || code.contains("ccanalyze"));
    let options = ours.flat_map(|code| code.split([' ', '|']));
    let options: Vec<&str> = options.filter(|word| word.starts_with("--")).collect();
    assert!(options.len() > 6, "{options:?}");
    for option in options {
        assert!(help.contains(option), "{option}");
    }
    // Each part of a rotated capture alone, and all of it.
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(root().join("testdata/captures/drop-one.pcap")).unwrap();
    fs::write(folder.path().join("run.pcap0"), &whole).unwrap();
    fs::write(folder.path().join("run.pcap1"), &whole[..24]).unwrap();
    let said = run(
        folder.path(),
        &["--concat", "run.pcap0", "run.pcap1", "--out", "run.parquet"],
    );
    assert_eq!(said.status, 0, "{}", said.stderr);
}

#[test]
fn every_option_of_the_help_is_in_the_readme_and_the_other_way_round() {
    let helps = [
        &["--help"][..],
        &["path", "--help"],
        &["study", "--help"],
        &["study", "init", "--help"],
    ];
    let helps = helps.map(|words| run(root(), words).stdout);
    let named = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let options = words.filter(|word| word.len() > 2 && word.starts_with("--"));
        options.map(str::to_owned).collect()
    };
    let defined: BTreeSet<String> = helps
        .iter()
        .flat_map(|help| help.lines().map(str::trim_start))
        .filter(|line| line.starts_with('-') || line.starts_with("[alias"))
        .flat_map(named)
        .collect();
    assert!(defined.contains("--patience") && defined.contains("--max-connections"));
    let text = readme();
    let missing: Vec<_> = defined.difference(&named(&text)).cloned().collect();
    assert!(missing.is_empty(), "not in README.md: {missing:?}");
    // What stands in tables of options, and other code that is no command of somebody else.
    let code = text.split('`').skip(1).step_by(2);
    let ours = code.filter(|code| code.starts_with('-') || code.starts_with("ccanalyze"));
    let ours: BTreeSet<String> = ours.flat_map(named).collect();
    let unknown: Vec<_> = ours.difference(&defined).collect();
    assert!(
        ours.len() > 20 && unknown.is_empty(),
        "no options: {unknown:?}"
    );
}

/// Its headings as a browser is sent to them: lower case, without signs, and a hyphen for each space.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let plain = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading
            .chars()
            .filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(plain).collect()
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut links = 0;
    for document in [
        "README.md",
        "METRICS.md",
        "ARCHITECTURE.md",
        "docs/DESIGN.md",
        "docs/PATH.md",
        "docs/TUTORIAL.md",
        "testdata/README.md",
    ] {
        let document = root().join(document);
        let text = fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                document.clone()
            } else {
                document.with_file_name(file)
            };
            assert!(target.exists(), "{link} in {}", document.display());
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&target).unwrap());
                assert!(
                    there.iter().any(|heading| heading == anchor),
                    "{link} in {}",
                    document.display()
                );
            }
            links += 1;
        }
    }
    assert!(links > 40, "{links}");
}
