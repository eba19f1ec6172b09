//! The report `pairs`: from which variant pairs are seen, and its cross table.

use std::fs;
use std::path::Path;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Cells, ReportTable, StudyPlan};

use super::cli::run;
use super::directions::Wire;

const MS: u64 = 1_000_000;

/// A flow of a packet every `first_ms` from 0 s on, and one of a packet every `second_ms` from 1 s on, both to 3 s.
fn pair(first_ms: u64, second_ms: u64) -> Vec<u8> {
    let mut wire = Wire::default();
    let steps = |begin_ms: u64, every_ms: u64| {
        let further = (3000 - begin_ms) / every_ms;
        let rest = (0..further).map(move |_| every_ms * MS);
        std::iter::once(begin_ms * MS).chain(rest)
    };
    wire.flow([1, 3], 1001, steps(0, first_ms));
    wire.flow([2, 3], 1002, steps(1000, second_ms));
    wire.pcap()
}

const MANIFEST: &str = r#"
[study]
group_by = ["cca"]
report = "pairs"
[reports.pairs]
reference = ["reno", "bbr"]
[[runs]]
files = "{first}_{second}_{run}.pcap"
[[runs.flows]]
label = "cca"
by = "start"
values = ["{first}", "{second}"]
"#;

/// Pairs of three variants: `bbr` sends a packet every 10 ms, `cubic` every 20, `reno` every 40.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let every_ms = |variant: &str| match variant {
        "bbr" => 10,
        "cubic" => 20,
        _ => 40,
    };
    for (first, second) in [
        ("bbr", "cubic"),
        ("cubic", "bbr"),
        ("reno", "bbr"),
        ("reno", "cubic"),
        ("cubic", "cubic"),
        ("bbr", "bbr"),
    ] {
        let name = format!("{first}_{second}_1.pcap");
        let bytes = pair(every_ms(first), every_ms(second));
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn reports(folder: &Path, manifest: &str) -> Vec<ReportTable> {
    fs::write(folder.join("s.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.join("s.toml")).unwrap();
    plan.carry_out(None, &Watch::default()).reports
}

fn cells(reports: &[ReportTable], report: &str, name: &str) -> Vec<String> {
    let report = reports.iter().find(|of| of.name == report).unwrap();
    let column = report.columns.iter().find(|column| column.name == name);
    let shown = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    match &column.unwrap().cells {
        Cells::Text(cells) => cells.iter().cloned().map(shown).collect(),
        Cells::Real(cells) => {
            let cells = cells.iter().map(|cell| cell.map(|of| format!("{of:.2}")));
            cells.map(shown).collect()
        }
        Cells::Count(cells) => {
            let cells = cells.iter().map(|cell| cell.map(|of| of.to_string()));
            cells.map(shown).collect()
        }
    }
}

#[test]
fn pairs_are_seen_from_their_references() {
    let folder = folder();
    let seen = reports(folder.path(), MANIFEST);
    let of = |seen: &[ReportTable], name: &str| cells(seen, "pairs-orders", name);
    // In the order of the manifest; of reno and bbr from either.
    assert_eq!(of(&seen, "a"), ["reno", "reno", "bbr", "bbr"]);
    assert_eq!(of(&seen, "b"), ["bbr", "cubic", "cubic", "reno"]);
    // bbr sends four times what reno does, and cubic twice, while both are active: fness is 1 - 1/4, and 1 - 1/2.
    assert_eq!(of(&seen, "a_first_fness"), ["0.75", "0.50", "-0.50", "-"]);
    assert_eq!(of(&seen, "b_first_fness"), ["-", "-", "-0.50", "-0.75"]);
    // Without references from the one that stands first.
    let alone = MANIFEST.replace("reference = [\"reno\", \"bbr\"]", "");
    let seen = reports(folder.path(), &alone);
    assert_eq!(of(&seen, "a"), ["bbr", "bbr", "cubic"]);
    assert_eq!(of(&seen, "a_first_fness"), ["-0.50", "-", "-"]);
    assert_eq!(of(&seen, "b_first_fness"), ["-0.50", "-0.75", "-0.50"]);
}

#[test]
fn the_cross_table_has_second_flows_below_each_other_and_first_ones_side_by_side() {
    let folder = folder();
    let crossed = reports(folder.path(), MANIFEST);
    assert_eq!(cells(&crossed, "pairs-cross", "second"), ["bbr", "cubic"]);
    let table = crossed.iter().find(|of| of.name == "pairs-cross").unwrap();
    let above = table.columns.iter().filter_map(|of| of.above.as_deref());
    let above: Vec<&str> = above.collect();
    assert_eq!(above, [["reno"; 4], ["bbr"; 4]].concat());
    // What stands there is what the table of pairs has: nothing was sent again.
    let name = "bbr_first_retransmitted_packets";
    assert_eq!(cells(&crossed, "pairs-cross", name), ["0.00", "0.00"]);
    // Where references are not told, whatever began first.
    let alone = MANIFEST.replace("reference = [\"reno\", \"bbr\"]", "");
    let crossed = reports(folder.path(), &alone);
    for first in ["bbr", "cubic", "reno"] {
        let name = format!("{first}_second_retransmitted_packets");
        assert_eq!(cells(&crossed, "pairs-cross", &name), ["0.00", "0.00"]);
    }
}

#[test]
fn first_variants_stand_above_their_columns() {
    let folder = folder();
    fs::write(folder.path().join("s.toml"), MANIFEST).unwrap();
    let args = ["study", "s.toml", "--out", "s", "--no-charts"];
    let output = run(folder.path(), &args);
    assert_eq!(output.status, 0, "{}", output.stderr);
    let read = |ending: &str| {
        let name = format!("s/report-pairs-cross.{ending}");
        fs::read_to_string(folder.path().join(name)).unwrap()
    };
    let tex = read("tex");
    let above = "\n & \\multicolumn{2}{c}{reno} & \\multicolumn{2}{c}{bbr} \\\\\n\\cmidrule(lr){2-3}\\cmidrule(lr){4-5}\n";
    assert!(tex.contains(above), "{tex}");
    let markdown = read("md");
    let head = "| Second | reno: First retransmitted packets | reno: Second retransmitted packets | bbr: First";
    assert!(markdown.contains(head), "{markdown}");
    assert!(read("csv").starts_with("second,reno_queue_share_percent,"));
}

#[test]
fn a_reference_is_a_variant_of_some_run_and_named_once() {
    let folder = folder();
    for (references, said) in [
        (
            "[\"reno\", \"bbrr\"]",
            "no run or flow has cca = 'bbrr'; did you mean 'bbr'?",
        ),
        ("[\"reno\", \"reno\"]", "reference 'reno' is named twice"),
    ] {
        let manifest = MANIFEST.replace("[\"reno\", \"bbr\"]", references);
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let output = run(folder.path(), &["study", "s.toml", "--out", "s"]);
        assert_eq!(output.status, 2);
        let said = format!("s.toml:6: {said}");
        assert!(output.stderr.contains(&said), "{}", output.stderr);
    }
}
