//! METRICS.md and the tables say the same.

use ccanalyze::table::all_schemas;

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
