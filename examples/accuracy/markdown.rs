//! Tables and numbers of the document.

use std::fmt::Write;

/// `1,234,567`.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A line of a table.
pub(crate) fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// The head of a table, columns between bars: the first ones are text, the others numbers.
pub(crate) fn head(text: &mut String, words: usize, columns: &str) {
    let rule = |index: usize| if index < words { "---" } else { "--:" };
    let rules: Vec<&str> = (0..columns.split(" | ").count()).map(rule).collect();
    let _ = writeln!(text, "\n| {columns} |\n| {} |", rules.join(" | "));
}

/// The number with so many decimals, `-` for none.
pub(crate) fn optional(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.decimals$}"))
}

/// A count of a peer that may not be there.
pub(crate) fn peer(installed: Option<&String>, value: u64) -> String {
    installed.map_or_else(|| "not installed".into(), |_| number(value))
}
