//! The report `pairs`: from which variant pairs are seen, and its cross table.

use std::fs;
use std::path::Path;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Cells, ReportTable, StudyPlan};

use super::cli::run;
use super::directions::Wire;

const MS: u64 = 1_000_000;

/// A flow of a packet every so many ms from 0 s on, and one of a packet every so many from 1 s on, both to 3 s; of each so
/// many packets are sent again, half a second later.
fn pair(every_ms: [u64; 2], again: [u16; 2]) -> Vec<u8> {
    let mut wire = Wire::default();
    for (place, begin_ms) in [0, 1000].into_iter().enumerate() {
        let (every_ms, hosts) = (every_ms[place], [1 + place as u8, 3]);
        let port = 1001 + place as u16;
        let further = (3000 - begin_ms) / every_ms;
        let rest = (0..further).map(|_| every_ms * MS);
        let steps = std::iter::once(begin_ms * MS).chain(rest);
        wire.flow(hosts, port, steps);
        for number in 0..again[place] {
            let at_ns = (begin_ms + every_ms * u64::from(number) + 501) * MS;
            let seq = 1 + 1000 * u32::from(number);
            wire.packet(at_ns, hosts, [port, 80], [seq, 1], 1000);
        }
    }
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

/// Pairs of three variants: `bbr` sends a packet every 10 ms, `cubic` every 20, `reno` every 40; and so many again.
fn folder(again: fn(&str) -> u16) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let every_ms = |variant: &str| match variant {
        "bbr" => 10,
        "cubic" => 20,
        _ => 40,
    };
    for both in [
        ["bbr", "cubic"],
        ["cubic", "bbr"],
        ["reno", "bbr"],
        ["reno", "cubic"],
        ["cubic", "cubic"],
        ["bbr", "bbr"],
    ] {
        let name = format!("{}_1.pcap", both.join("_"));
        let bytes = pair(both.map(every_ms), both.map(again));
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn nothing(_: &str) -> u16 {
    0
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
    let folder = folder(nothing);
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
    let folder = folder(|variant| match variant {
        "bbr" => 3,
        "cubic" => 2,
        _ => 1,
    });
    let crossed = reports(folder.path(), MANIFEST);
    assert_eq!(cells(&crossed, "pairs-cross", "second"), ["bbr", "cubic"]);
    let table = crossed.iter().find(|of| of.name == "pairs-cross").unwrap();
    let above = table.columns.iter().filter_map(|of| of.above.as_deref());
    let above: Vec<&str> = above.collect();
    assert_eq!(above, [["reno"; 4], ["bbr"; 4]].concat());
    // Each flow's own, whoever began: below each other the second flow is bbr, then cubic.
    let again = |seen: &[ReportTable], name: &str| {
        cells(
            seen,
            "pairs-cross",
            &format!("{name}_retransmitted_packets"),
        )
    };
    assert_eq!(again(&crossed, "bbr_first"), ["3.00", "3.00"]);
    assert_eq!(again(&crossed, "bbr_second"), ["3.00", "2.00"]);
    assert_eq!(again(&crossed, "reno_first"), ["1.00", "1.00"]);
    assert_eq!(again(&crossed, "reno_second"), ["3.00", "2.00"]);
    // Where references are not told, whatever began first.
    let alone = MANIFEST.replace("reference = [\"reno\", \"bbr\"]", "");
    let crossed = reports(folder.path(), &alone);
    assert_eq!(again(&crossed, "cubic_first"), ["2.00", "2.00"]);
    assert_eq!(again(&crossed, "cubic_second"), ["3.00", "2.00"]);
}

#[test]
fn a_cross_table_has_columns_of_64_variants_at_most() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..65 {
        let name = format!("v{number}_cubic_1.pcap");
        fs::write(folder.path().join(name), pair([500, 500], [0, 0])).unwrap();
    }
    let columns = |manifest: &str| {
        let reports = reports(folder.path(), manifest);
        let table = reports.iter().find(|of| of.name == "pairs-cross").unwrap();
        table.columns.iter().filter(|of| of.above.is_some()).count()
    };
    let named = |references: &str| MANIFEST.replace("reference = [\"reno\", \"bbr\"]", references);
    assert_eq!(columns(&named("")), 0);
    assert_eq!(columns(&named("reference = [\"v3\", \"v5\"]")), 2 * 4);
    fs::remove_file(folder.path().join("v0_cubic_1.pcap")).unwrap();
    assert_eq!(columns(&named("")), 64 * 4);
}

#[test]
fn first_variants_stand_above_their_columns() {
    let folder = folder(nothing);
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
    let folder = folder(nothing);
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
