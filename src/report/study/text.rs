//! Tables for reading, in Markdown: numbers rounded to four digits.

use std::fmt::Write as _;

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
        .map(|column| escaped_markdown(&column.heading));
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
    }
}

/// A number with four digits that count, and all before the point; very large and very small ones with an exponent.
pub(in crate::report) fn rounded(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let exponent = number.abs().log10().floor() as i32;
    if !(-5..15).contains(&exponent) {
        return format!("{number:.3e}");
    }
    let digits = (3 - exponent).max(0) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        return if text == "-0" {
            "0".to_owned()
        } else {
            text.to_owned()
        };
    }
    text
}

/// A number with all digits that it was given: as many as are told apart, which leaves out what a change of units leaves
/// behind.
pub(in crate::report) fn in_full(number: f64) -> String {
    const BEHIND_FIRST: usize = f64::DIGITS as usize - 1;
    let number: f64 = format!("{number:.BEHIND_FIRST$e}")
        .parse()
        .unwrap_or(number);
    number.to_string()
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
    fn numbers_keep_four_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (2.0, "2"),
            (1_404.103_3, "1404"),
            (151.064_491, "151.1"),
            (12_345_678.9, "12345679"),
            (0.000_123_456_78, "0.0001235"),
            (2.69e-57, "2.690e-57"),
            (-3.631_23, "-3.631"),
        ] {
            assert_eq!(rounded(number), text);
        }
    }

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
