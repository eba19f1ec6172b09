//! METRICS.md and the tables say the same.

use std::collections::{BTreeMap, BTreeSet};

use ccanalyze::study::ReportTable;
use ccanalyze::table::all_schemas;

use super::measured::{carried_out, folder_with};
use super::support::{files_below, root};

/// Column, type, metric.
type Row = (String, String, String);

#[test]
fn every_column_is_in_metrics_md_with_its_type_and_metric_and_the_reverse() {
    let text = std::fs::read_to_string(root().join("METRICS.md")).unwrap();
    let documented = tables(&text);
    let names: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    let schemas = all_schemas();
    let expected: Vec<&str> = schemas.iter().map(|schema| schema.name).collect();
    assert_eq!(names, expected, "the tables under `### Table`");
    for (schema, (name, rows)) in schemas.iter().zip(&documented) {
        let columns: Vec<Row> = schema
            .columns
            .iter()
            .map(|column| {
                let parts = [column.name, column.kind, column.metric];
                let [name, kind, metric] = parts.map(str::to_owned);
                (name, kind, metric)
            })
            .collect();
        for column in &columns {
            assert!(rows.contains(column), "{name}: METRICS.md lacks {column:?}");
        }
        for row in rows {
            assert!(columns.contains(row), "{name}: there is no column {row:?}");
        }
        assert_eq!(*rows, columns, "{name}: the order of the columns");
    }
}

#[test]
fn every_metric_that_a_column_cites_has_an_entry() {
    let text = std::fs::read_to_string(root().join("METRICS.md")).unwrap();
    for schema in all_schemas() {
        for column in schema.columns {
            let entry = format!("| {} |", column.metric);
            let entries = text.lines().filter(|line| line.starts_with(&entry));
            assert!(
                column.metric == "-" || entries.count() == 1,
                "{}.{} cites {}, which METRICS.md does not define once",
                schema.name,
                column.name,
                column.metric
            );
        }
    }
}

#[test]
fn every_heading_of_the_definitions_that_the_code_cites_is_there() {
    let text = std::fs::read_to_string(root().join("METRICS.md")).unwrap();
    let headings: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let mut cited = 0;
    for path in files_below(&root().join("src")) {
        let code = std::fs::read_to_string(&path).unwrap();
        for rest in code.split("METRICS.md, \"").skip(1) {
            let heading = rest.split('"').next().unwrap();
            assert!(
                headings.contains(&heading),
                "{heading} in {}",
                path.display()
            );
            cited += 1;
        }
        assert!(!code.contains("METRICS.md section"), "{}", path.display());
    }
    assert!(cited > 10);
}

#[test]
fn every_column_of_a_report_is_in_metrics_md_and_the_reverse() {
    let text = std::fs::read_to_string(root().join("METRICS.md")).unwrap();
    let reports = all_reports();
    let names: BTreeSet<&str> = reports.iter().map(|report| report.name.as_str()).collect();
    let (_, section) = text.split_once("### Reports of a study").unwrap();
    let (section, _) = section.split_once("\n### ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: BTreeMap<&str, BTreeSet<String>> = rows
        .map(|row| {
            let (name, rest) = row.split_once('`').unwrap();
            let cells = rest.rsplit(" | ").next().unwrap();
            let words = cells.split('`').skip(1).step_by(2);
            (name, words.flat_map(each_of_braces).collect())
        })
        .collect();
    assert_eq!(documented.keys().copied().collect::<BTreeSet<_>>(), names);
    for report in &reports {
        let documented = &documented[report.name.as_str()];
        // A value of a label is in the names of its columns.
        let is_of_value = |name: &str| name.starts_with("delay_ms_");
        let is_label = |name: &str| ["cca", "loss_percent", "delay_ms", "run"].contains(&name);
        let columns = report.columns.iter().map(|column| column.name.as_str());
        for column in columns.clone() {
            let name = if is_of_value(column) {
                "<label>_<value>"
            } else {
                column
            };
            let is_said = documented.contains(name) || is_label(name);
            assert!(is_said, "{}: METRICS.md lacks {column}", report.name);
        }
        for name in documented {
            let is_there = columns.clone().any(|column| column == name)
                || name == "<label>_<value>" && columns.clone().any(is_of_value);
            // Words of other tables, and what is there only where it tells something.
            let is_spared = match report.name.as_str() {
                "heat-map" => {
                    ["composition", "rows", "columns", "group_by"].contains(&name.as_str())
                }
                "heat-map-change" => name == "composition",
                "summary" => {
                    let of_medians = ["_median", "_q1", "_q3"];
                    ["composition", "<value>_<column>"].contains(&name.as_str())
                        || name.starts_with("queue_delay_ms_")
                        || of_medians.iter().any(|ending| name.ends_with(ending))
                }
                "pairs-cross" => name.starts_with("<first>_"),
                "series" => {
                    ["flow", "throughput_mbps", "ping_ms", "rtt_ms"].contains(&name.as_str())
                }
                "series-boxes" => ["goodput_mbps", "series"].contains(&name.as_str()),
                "series-anova" => name == "tests",
                "split-accuracy" => ["within", "overall"].contains(&name.as_str()),
                _ => false,
            };
            assert!(
                is_there || is_spared,
                "{}: there is no column {name}",
                report.name
            );
        }
    }
}

/// `a_b` and `a_c` of `a_{b,c}`.
fn each_of_braces(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else {
        return vec![text.to_owned()];
    };
    let (words, behind) = rest.split_once('}').unwrap();
    let each = words
        .split(',')
        .map(|word| format!("{before}{word}{behind}"));
    each.flat_map(|text| each_of_braces(&text)).collect()
}

/// The tables of all reports, of a study of measured runs. Those of captures alone have no rows, and columns.
fn all_reports() -> Vec<ReportTable> {
    let runs =
        "cca,loss,delay,run,mbps\ncubic,0,1,1,9\ncubic,1,50,1,8\nbbr,0,1,1,9\nbbr,1,50,1,7\n";
    let manifest = r#"
[study]
group_by = ["cca", "loss", "delay"]
baseline = { cca = "cubic" }
report = ["access-network", "heat-map", "mobility", "pairs", "series", "split-accuracy", "summary", "utilisation-grid"]
[labels.loss]
unit = "%"
[labels.delay]
unit = "ms"
[reports.access-network]
reference = "bbr"
[reports.heat-map]
metric = "goodput_bps"
rows = "loss"
columns = "delay"
[reports.utilisation-grid]
paths = ["50ms 0% | 1ms 1%"]
[[measured]]
files = "runs.csv"
columns = { cca = "cca", loss = "loss", delay = "delay", run = "run" }
metrics = { goodput_bps = { column = "mbps", unit = "Mbit" } }
[measured.conditions]
capacity = "10Mbit"
"#;
    let folder = folder_with(&[("runs.csv", runs)], manifest);
    carried_out(folder.path()).reports
}

/// The rows of every table under a heading such as ``### Table `results` ``.
fn tables(text: &str) -> Vec<(String, Vec<Row>)> {
    let mut tables: Vec<(String, Vec<Row>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with('#') {
            let name = line
                .strip_prefix("### Table `")
                .and_then(|rest| rest.split('`').next());
            inside = name.is_some();
            tables.extend(name.map(|name| (name.to_owned(), Vec::new())));
        } else if let (true, Some(row), Some((_, rows))) =
            (inside, line.strip_prefix("| `"), tables.last_mut())
        {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let column = cells[0].trim_end_matches('`');
            rows.push((column.to_owned(), cells[1].to_owned(), cells[2].to_owned()));
        }
    }
    tables
}
