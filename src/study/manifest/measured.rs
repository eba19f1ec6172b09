//! `[[measured]]`: runs that come as tables instead of captures.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::Section;
use super::{ConditionsSection, Document, Located, inner_conditions};

/// `[[measured]]`.
#[derive(Clone, Debug)]
pub(in crate::study) struct MeasuredSection {
    /// The line it begins on.
    pub line: usize,
    /// Files, or templates of their names.
    pub files: Vec<Located<String>>,
    /// Files that are not meant, or templates of their names.
    pub except: Vec<Located<String>>,
    /// What a row is.
    pub rows: Option<Located<String>>,
    /// How a line of a text is taken apart into columns.
    pub lines: Option<Located<String>>,
    /// Columns whose values tell runs apart, where a row is a flow.
    pub run: Vec<Located<String>>,
    /// Column of times, where a row is a point in time.
    pub time: Option<ColumnText>,
    /// Labels of all runs.
    pub labels: Vec<(Located<String>, Located<String>)>,
    /// Labels and the columns that they stand in.
    pub columns: Vec<(Located<String>, Located<String>)>,
    /// Metrics and the columns that they stand in.
    pub metrics: Vec<(Located<String>, ColumnText)>,
    /// Conditions of all runs.
    pub conditions: ConditionsSection,
    /// Which part of a run counts, where a row is a point in time.
    pub window: Option<Located<String>>,
}

/// A column of numbers: `"goodput_mbps"`, or `{ column = "goodput", unit = "Mbit" }`.
#[derive(Clone, Debug)]
pub(in crate::study) struct ColumnText {
    /// Its name, or a template of names; of several the first that is there counts.
    pub names: Vec<Located<String>>,
    /// Unit of its numbers.
    pub unit: Option<Located<String>>,
    /// Only so many values count.
    pub points: Option<Located<String>>,
}

/// Reads a `[[measured]]` section.
pub(super) fn section(
    document: &mut Document,
    table: &DeTable<'_>,
    span: &Range<usize>,
) -> MeasuredSection {
    let keys = [
        "files",
        "except",
        "rows",
        "lines",
        "run",
        "time",
        "labels",
        "columns",
        "metrics",
        "conditions",
        "window",
    ];
    let section = Section::new(document, "[[measured]]", table, span, &keys);
    if section.get("files").is_none() {
        let message = "[[measured]] lacks 'files': write files = \"results.csv\", or a template such as \"{cca}_{run}.flent.gz\"";
        document.mistake(section.line, message);
    }
    let given = section.get("metrics");
    let is_empty =
        |value: &Spanned<DeValue<'_>>| value.get_ref().as_table().is_some_and(DeTable::is_empty);
    if given.is_none_or(is_empty) {
        let message = "[[measured]] lacks its metrics: write metrics = { goodput_bps = { column = \"goodput\", unit = \"Mbit\" } }";
        let line = given.map_or(section.line, |value| document.line(&value.span()));
        document.mistake(line, message);
    }
    MeasuredSection {
        line: section.line,
        files: section.texts(document, "files").unwrap_or_default(),
        except: section.texts(document, "except").unwrap_or_default(),
        rows: section.text(document, "rows"),
        lines: section.text(document, "lines"),
        run: section.texts(document, "run").unwrap_or_default(),
        time: section
            .get("time")
            .and_then(|_| column(document, &section, "time")),
        labels: section.pairs(document, "labels").unwrap_or_default(),
        columns: section.pairs(document, "columns").unwrap_or_default(),
        metrics: metrics(document, &section),
        conditions: inner_conditions(document, &section, "measured"),
        window: section.text(document, "window"),
    }
}

fn metrics(document: &mut Document, parent: &Section<'_>) -> Vec<(Located<String>, ColumnText)> {
    let Some(value) = parent.get("metrics") else {
        return Vec::new();
    };
    let Some(table) = value.get_ref().as_table() else {
        let expected = "a table of metrics and columns, such as { goodput_bps = { column = \"goodput\", unit = \"Mbit\" } }";
        parent.wrong(document, "metrics", expected);
        return Vec::new();
    };
    let names: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
    let section = Section::new(document, "[measured.metrics]", table, &value.span(), &names);
    let metrics = section.entries().into_iter().filter_map(|(key, _)| {
        let name = Located {
            value: key.get_ref().to_string(),
            line: document.line(&key.span()),
        };
        Some((name, column(document, &section, key.get_ref())?))
    });
    metrics.collect()
}

/// The column that a key names, as a text, a list, or a table with more about it.
fn column(document: &mut Document, section: &Section<'_>, key: &str) -> Option<ColumnText> {
    let value = section.get(key)?;
    let Some(table) = value.get_ref().as_table() else {
        return Some(ColumnText {
            names: section.texts(document, key)?,
            unit: None,
            points: None,
        });
    };
    let inner = Section::new(
        document,
        key,
        table,
        &value.span(),
        &["column", "unit", "points"],
    );
    if inner.get("column").is_none() {
        let message =
            format!("'{key}' lacks 'column': write {{ column = \"...\", unit = \"...\" }}");
        document.mistake(inner.line, message);
    }
    Some(ColumnText {
        names: inner.texts(document, "column")?,
        unit: inner.text(document, "unit"),
        points: inner.text(document, "points"),
    })
}
