//! Tables for reading: Markdown and LaTeX, numbers rounded to six digits.

use std::fmt::Write as _;

use crate::table::StudyTable;
use crate::table::cells::{Cell, cells};

/// A table in Markdown.
pub(super) fn markdown(table: &StudyTable) -> String {
    let columns = cells(&table.frame);
    let mut text = format!("# {}\n\n", table.title);
    let names = columns.iter().map(|(name, _)| escaped_markdown(name));
    let _ = writeln!(text, "| {} |", names.collect::<Vec<_>>().join(" | "));
    let rules = columns
        .iter()
        .map(|(_, column)| if is_text(column) { "---" } else { "--:" });
    let _ = writeln!(text, "| {} |", rules.collect::<Vec<_>>().join(" | "));
    for row in 0..table.frame.height() {
        let shown = columns
            .iter()
            .map(|(_, column)| escaped_markdown(&shown(&column[row])));
        let _ = writeln!(text, "| {} |", shown.collect::<Vec<_>>().join(" | "));
    }
    text
}

/// A table in LaTeX, as a `longtable` that runs over pages: needs the packages booktabs and
/// longtable.
pub(super) fn latex(table: &StudyTable) -> String {
    let columns = cells(&table.frame);
    let alignment: String = columns
        .iter()
        .map(|(_, column)| if is_text(column) { 'l' } else { 'r' })
        .collect();
    let names = columns.iter().map(|(name, _)| escaped_latex(name));
    let header = names.collect::<Vec<_>>().join(" & ");
    let mut text = format!(
        "% \\usepackage{{booktabs,longtable}}\n\\begin{{longtable}}{{{alignment}}}\n\\caption{{{}}}\\\\\n\\toprule\n{header} \\\\\n\\midrule\n\\endhead\n",
        escaped_latex(&table.title)
    );
    for row in 0..table.frame.height() {
        let shown = columns
            .iter()
            .map(|(_, column)| escaped_latex(&shown(&column[row])));
        let _ = writeln!(text, "{} \\\\", shown.collect::<Vec<_>>().join(" & "));
    }
    text.push_str("\\bottomrule\n\\end{longtable}\n");
    text
}

fn is_text(column: &[Cell]) -> bool {
    column.iter().any(|cell| matches!(cell, Cell::Text(_)))
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Whole(number) => number.to_string(),
        Cell::Real(number) => rounded(*number),
    }
}

/// A number with six digits that count; very large and very small ones with an exponent.
pub(in crate::report) fn rounded(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let exponent = number.abs().log10().floor() as i32;
    if !(-5..15).contains(&exponent) {
        return format!("{number:.5e}");
    }
    let digits = (5 - exponent).max(0) as usize;
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

fn escaped_markdown(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace(['\n', '\r'], " ")
}

fn escaped_latex(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (2.0, "2"),
            (1_404.103_3, "1404.1"),
            (151.064_491, "151.064"),
            (12_345_678.9, "12345679"),
            (0.000_123_456_78, "0.000123457"),
            (2.69e-57, "2.69000e-57"),
            (-3.631_2, "-3.6312"),
        ] {
            assert_eq!(rounded(number), text);
        }
    }

    #[test]
    fn what_has_a_meaning_is_escaped() {
        assert_eq!(
            escaped_latex("50% of a_b & c\\d"),
            "50\\% of a\\_b \\& c\\textbackslash{}d"
        );
        assert_eq!(escaped_markdown("a|b\nc"), "a\\|b c");
    }
}
