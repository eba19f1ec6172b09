//! Tables for reading, in Markdown: numbers rounded to four digits.

use std::fmt::Write as _;

use super::digits::{in_full, rounded};
use super::means;
use super::readable::columns;
use crate::table::StudyTable;
use crate::table::cells::Cell;

/// A table in Markdown.
pub(super) fn markdown(table: &StudyTable) -> String {
    let columns = columns(table);
    let mut text = format!("# {}\n\n", table.title);
    if table.frame.height() == 0 {
        text.push_str("No rows.\n");
        return text;
    }
    let names = columns
        .iter()
        .map(|column| escaped_markdown(&column.whole_heading()));
    let _ = writeln!(text, "| {} |", names.collect::<Vec<_>>().join(" | "));
    let rules = columns
        .iter()
        .map(|column| if is_text(&column.cells) { "---" } else { "--:" });
    let _ = writeln!(text, "| {} |", rules.collect::<Vec<_>>().join(" | "));
    for row in 0..table.frame.height() {
        let shown = columns
            .iter()
            .map(|column| escaped_markdown(&shown(&column.cells[row])));
        let _ = writeln!(text, "| {} |", shown.collect::<Vec<_>>().join(" | "));
    }
    text
}

pub(super) fn is_text(column: &[Cell]) -> bool {
    column.iter().any(|cell| matches!(cell, Cell::Text(_)))
}

pub(in crate::report) fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Whole(number) => number.to_string(),
        Cell::Real(number) => rounded(*number),
        Cell::Label(number) => in_full(*number),
        Cell::Below(power) => format!("< 10^{power}"),
        Cell::Mean { value, half, n } => means::shown(*value, *half, *n),
        Cell::Median {
            value,
            quartiles,
            n,
        } => means::shown_median(*value, *quartiles, *n),
    }
}

/// A text whose letters are letters: none ends a cell, begins a tag or a link, or makes what follows slanted.
fn escaped_markdown(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.replace(['\n', '\r'], " ").chars() {
        if ['\\', '|', '<', '*', '`'].contains(&letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped.replace("](", "]\\(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_holds_nothing_is_not_read() {
        use polars::prelude::*;
        let frame = df!(
            "cca" => ["bbr", "cubic"],
            "queue_percent" => [None::<f64>, None],
            "quality" => ["", ""],
            "harm" => [None, Some(0.5)]
        );
        let table = StudyTable {
            name: "groups".to_owned(),
            title: "Of groups".to_owned(),
            label: "tab:s-groups".to_owned(),
            keys: Vec::new(),
            shares: Vec::new(),
            above: std::collections::BTreeMap::new(),
            usual: std::collections::BTreeMap::new(),
            frame: frame.unwrap(),
        };
        let text = "# Of groups\n\n| CCA | Harm |\n| --- | --: |\n| bbr |  |\n| cubic | 0.5 |\n";
        assert_eq!(markdown(&table), text);
        let empty = StudyTable {
            frame: table.frame.head(Some(0)),
            ..table
        };
        // Names of columns alone would look like a table whose rows were lost.
        assert_eq!(markdown(&empty), "# Of groups\n\nNo rows.\n");
    }

    #[test]
    fn what_has_a_meaning_is_escaped() {
        assert_eq!(escaped_markdown("a|b\nc"), "a\\|b c");
        assert_eq!(escaped_markdown("<b>x</b> *y*"), "\\<b>x\\</b> \\*y\\*");
        assert_eq!(escaped_markdown("cubic_10m (2)"), "cubic_10m (2)");
        assert_eq!(escaped_markdown("[1, 2] [a](b)"), "[1, 2] [a]\\(b)");
    }
}
