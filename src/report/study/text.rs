//! Tables for reading: Markdown and LaTeX, numbers rounded to four digits.

use std::fmt::Write as _;

use crate::table::StudyTable;
use crate::table::cells::{Cell, cells};

/// A table in Markdown.
pub(super) fn markdown(table: &StudyTable) -> String {
    let columns = columns_with_values(table);
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
/// longtable. One that is wider than a page lies across it, in small letters and with upright names
/// of columns: with graphicx and pdflscape.
pub(super) fn latex(table: &StudyTable) -> String {
    let columns = columns_with_values(table);
    let alignment: String = columns
        .iter()
        .map(|(_, column)| if is_text(column) { 'l' } else { 'r' })
        .collect();
    let is_wide = columns.iter().map(letters).sum::<usize>() > PAGE;
    let names = columns.iter().map(|(name, _)| {
        let name = escaped_latex(name);
        if is_wide {
            format!("\\rotatebox{{90}}{{{name}}}")
        } else {
            name
        }
    });
    let header = names.collect::<Vec<_>>().join(" & ");
    let (packages, begin, end) = if is_wide {
        (
            "booktabs,longtable,graphicx,pdflscape",
            "\\begin{landscape}\n\\scriptsize\\setlength{\\tabcolsep}{3pt}\n",
            "\\end{landscape}\n",
        )
    } else {
        ("booktabs,longtable", "", "")
    };
    let mut text = format!(
        "% \\usepackage{{{packages}}}\n{begin}\\begin{{longtable}}{{{alignment}}}\n\\caption{{{}}}\\\\\n\\toprule\n{header} \\\\\n\\midrule\n\\endhead\n",
        escaped_latex(&table.title)
    );
    for row in 0..table.frame.height() {
        let shown = columns.iter().map(|(_, column)| in_latex(&column[row]));
        let _ = writeln!(text, "{} \\\\", shown.collect::<Vec<_>>().join(" & "));
    }
    text.push_str("\\bottomrule\n\\end{longtable}\n");
    text.push_str(end);
    text
}

/// Letters beside each other on a page.
const PAGE: usize = 100;

/// Letters that a column takes, with the space beside it.
fn letters((name, column): &(String, Vec<Cell>)) -> usize {
    let widest = column.iter().map(|cell| shown(cell).chars().count()).max();
    name.chars().count().max(widest.unwrap_or(0)) + 2
}

/// A cell in LaTeX: numbers with a minus sign, and powers of ten as such.
fn in_latex(cell: &Cell) -> String {
    let text = shown(cell);
    if matches!(cell, Cell::Null | Cell::Text(_)) {
        return escaped_latex(&text);
    }
    match text.split_once('e') {
        Some((number, power)) => format!("${number}\\times 10^{{{power}}}$"),
        None => text.replace('-', "$-$"),
    }
}

/// Names and cells of the columns that hold anything; of a table without rows, all.
fn columns_with_values(table: &StudyTable) -> Vec<(String, Vec<Cell>)> {
    let mut columns = cells(&table.frame);
    columns.retain(|(_, cells)| {
        cells.is_empty() || cells.iter().any(|cell| !matches!(cell, Cell::Null))
    });
    columns
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
    fn a_table_that_is_wider_than_a_page_lies_across_it() {
        use polars::prelude::*;
        let narrow = df!("cca" => ["bbr"], "change_percent" => [-3.5]).unwrap();
        let mut wide = narrow.clone();
        for column in 0..8 {
            let name = format!("some_long_name_{column}");
            wide.with_column(Column::new(name.into(), [1.0])).unwrap();
        }
        let latex = |frame| {
            let (name, title) = ("groups".to_owned(), "Of groups".to_owned());
            latex(&StudyTable { name, title, frame })
        };
        let (narrow, wide) = (latex(narrow), latex(wide));
        assert_eq!(
            narrow,
            "% \\usepackage{booktabs,longtable}\n\\begin{longtable}{lr}\n\\caption{Of groups}\\\\\n\\toprule\n\
             cca & change\\_percent \\\\\n\\midrule\n\\endhead\nbbr & $-$3.5 \\\\\n\\bottomrule\n\\end{longtable}\n"
        );
        assert!(wide.contains("\\rotatebox{90}{some\\_long\\_name\\_7}"));
        let [begin, end] = ["\\begin{landscape}", "\\end{landscape}\n"];
        assert!(wide.contains(begin) && wide.ends_with(end), "{wide}");
    }

    #[test]
    fn a_column_that_holds_nothing_is_not_read() {
        use polars::prelude::*;
        let frame = df!(
            "cca" => ["bbr", "cubic"],
            "queue_percent" => [None::<f64>, None],
            "harm" => [None, Some(0.5)]
        );
        let table = StudyTable {
            name: "groups".to_owned(),
            title: "Of groups".to_owned(),
            frame: frame.unwrap(),
        };
        let text = "# Of groups\n\n| cca | harm |\n| --- | --: |\n| bbr |  |\n| cubic | 0.5 |\n";
        assert_eq!(markdown(&table), text);
        assert!(latex(&table).contains("\ncca & harm \\\\\n"));
        let empty = StudyTable {
            frame: table.frame.head(Some(0)),
            ..table
        };
        assert!(markdown(&empty).contains("| cca | queue_percent | harm |"));
    }

    #[test]
    fn numbers_in_latex_are_typeset() {
        for (cell, text) in [
            (Cell::Real(-37.462), "$-$37.46"),
            (Cell::Real(2.69e-57), "$2.690\\times 10^{-57}$"),
            (Cell::Whole(1200), "1200"),
            (Cell::Text("bbr-lt".to_owned()), "bbr-lt"),
            (Cell::Null, ""),
        ] {
            assert_eq!(in_latex(&cell), text);
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
