//! Tables of a study in LaTeX, that fit a page: numbers rounded to four digits.

mod form;
mod letters;

use std::fmt::Write as _;

use form::{Form, Headings};
use letters::{escaped, needs, row};

use super::readable::{self, ReadableColumn};
use super::text::{is_text, shown};
use crate::table::StudyTable;
use crate::table::cells::Cell;

/// A table in LaTeX, with the packages that it needs in its first line.
///
/// One that fits a page floats, and stands in documents of one and of two columns; a longer one is a
/// `longtable` that runs over pages, which two columns have no place for, as its second line says.
///
/// One that is wider than a page has smaller letters; one that is wider then has names of columns in two lines, or
/// upright ones; one that is a little wider even so is made smaller where the page is as narrow, which it is not in
/// documents of two columns; one that is wider than that lies across the page; and what is too wide for that is cut into
/// several below each other, each with the columns that tell rows apart. One without rows is a sentence.
pub(super) fn latex(table: &StudyTable) -> String {
    let columns = readable::columns(table).into_iter();
    let columns: Vec<Column> = columns.map(Column::from).collect();
    let all: Vec<&Column> = columns.iter().collect();
    let rows = table.frame.height();
    let form = Form::ALL.into_iter().find(|form| form.suits(&all, rows));
    let form = form.unwrap_or(Form::ACROSS);
    let title = escaped(&table.title);
    let label = format!("\\label{{{}}}", table.label);
    let parts = parts(&columns, form, rows);
    let mut text = match parts.as_slice() {
        _ if rows == 0 => format!("{title}: no rows.\n"),
        [whole] if form.fits_page(&whole.columns, rows) => {
            float(whole, (&title, &label), form, rows)
        }
        parts => over_pages(parts, (&title, &label), form, rows),
    };
    if let Some(needs) = needs(&text) {
        // Behind what else is said to the reader.
        let comments = text.lines().take_while(|line| line.starts_with('%'));
        let begin = comments.map(|line| line.len() + 1).sum();
        text.insert_str(begin, &needs);
    }
    text
}

/// A table that fits a page.
fn float(whole: &Part<'_>, (title, label): (&str, &str), form: Form, rows: usize) -> String {
    let Head { alignment, names } = whole.head(form);
    let [begin, end] = form.float;
    let [fitted, fitted_end] = form.fitted.unwrap_or_default();
    let letters = form.letters_begin;
    let mut text = format!("% \\usepackage{{{}}}\n", form.packages_of_float);
    let _ = write!(
        text,
        "{begin}\n\\centering{letters}\n\\caption{{{title}}}{label}\n\\smallskip\n{fitted}\\begin{{tabular}}{{{alignment}}}\n\\toprule\n{names} \\\\\n\\midrule\n"
    );
    whole.write_rows(&mut text, rows);
    let _ = write!(text, "\\bottomrule\n\\end{{tabular}}{fitted_end}\n{end}\n");
    text
}

/// A table that runs over pages, in parts below each other.
fn over_pages(parts: &[Part<'_>], (title, label): (&str, &str), form: Form, rows: usize) -> String {
    let mut text = format!(
        "% \\usepackage{{{}}}\n% runs over pages: in a document of two columns put \\onecolumn before it and \\twocolumn behind it\n{}{}\n",
        form.packages, form.begin, form.letters_begin
    );
    for (place, part) in parts.iter().enumerate() {
        let title = match parts.len() {
            1 => title.to_owned(),
            all => format!("{title} ({} of {all})", place + 1),
        };
        if place > 0 {
            // All of them are one table, which has one number.
            text.push_str("\\addtocounter{table}{-1}\n");
        }
        let label = if place == 0 { label } else { "" };
        write_part(&mut text, part, (&title, label), form, rows);
    }
    text.push_str(form.end);
    text
}

/// Words that are wider than that take several lines.
const WORDS_WIDTH: f64 = 150.0;

/// A column as it is typeset, with widths in points at normal size.
struct Column {
    name: String,
    is_text: bool,
    is_key: bool,
    cells: Vec<String>,
    header_width: f64,
    /// The same in two lines.
    stacked_width: f64,
    cells_width: f64,
}

impl From<ReadableColumn> for Column {
    fn from(column: ReadableColumn) -> Self {
        let ReadableColumn {
            heading,
            cells,
            is_key,
        } = column;
        let cells = &cells;
        let is_text = is_text(cells);
        let widest = cells.iter().map(|cell| width_of_cell(&shown(cell), cell));
        let cells_width = widest.fold(0.0, f64::max);
        let breaks = is_text && cells_width > WORDS_WIDTH;
        let typeset = cells.iter().map(|cell| match in_latex(cell) {
            text if breaks => with_breaks(&text),
            text => text,
        });
        Self {
            is_text,
            is_key,
            cells: typeset.collect(),
            header_width: width(&heading),
            stacked_width: stacked(&heading).map(width).into_iter().fold(0.0, f64::max),
            cells_width,
            name: heading,
        }
    }
}

impl Column {
    /// The number of each row.
    fn numbers(rows: usize) -> Self {
        Self::from(ReadableColumn {
            heading: "#".to_owned(),
            cells: (1..=rows).map(|row| Cell::Whole(row as i128)).collect(),
            is_key: false,
        })
    }

    /// Lines that its longest words take.
    fn lines(&self) -> f64 {
        if self.is_text {
            (self.cells_width / WORDS_WIDTH).ceil()
        } else {
            1.0
        }
    }

    /// How it is aligned; words that would be too wide are set as paragraphs.
    fn alignment(&self, form: Form) -> String {
        if !self.is_text {
            "r".to_owned()
        } else if self.cells_width > WORDS_WIDTH {
            format!("p{{{:.0}pt}}", WORDS_WIDTH * form.letters)
        } else {
            "l".to_owned()
        }
    }
}

/// One of the tables that a table is cut into.
struct Part<'a> {
    /// Numbers of rows, where what tells rows apart takes too much room to be said again.
    numbers: Option<Column>,
    columns: Vec<&'a Column>,
}

/// Part of a page that what tells rows apart may take in each of several tables.
const KEYS_MAX: f64 = 0.4;

/// Columns in tables that each fit a page.
fn parts(columns: &[Column], form: Form, rows: usize) -> Vec<Part<'_>> {
    let all: Vec<&Column> = columns.iter().collect();
    if form.holds(&all) {
        return vec![Part {
            numbers: None,
            columns: all,
        }];
    }
    let (keys, values): (Vec<&Column>, Vec<&Column>) =
        all.into_iter().partition(|column| column.is_key);
    let by_number = form.width_of(&keys) > KEYS_MAX * form.page;
    let numbers = || by_number.then(|| Column::numbers(rows));
    let taken = numbers().map_or(0.0, |numbers| form.width(&numbers));
    let again = if by_number { &[][..] } else { &keys };
    let mut parts: Vec<Vec<&Column>> = Vec::new();
    let mut part = again.to_vec();
    let rest = if by_number { keys.iter() } else { [].iter() };
    for column in rest.chain(&values) {
        let is_more = part.len() > again.len();
        if is_more && taken + form.width_of(&part) + form.width(column) > form.page {
            parts.push(std::mem::replace(&mut part, again.to_vec()));
        }
        part.push(column);
    }
    parts.push(part);
    let part = |columns| Part {
        numbers: numbers(),
        columns,
    };
    parts.into_iter().map(part).collect()
}

/// A name of a column in two lines: its unit is the second one, or what comes behind the space nearest to its middle;
/// the second one of a single word is empty.
fn stacked(name: &str) -> [&str; 2] {
    let from_middle = |&(place, _): &(usize, &str)| (2 * place).abs_diff(name.len());
    let unit = name.rfind(" (");
    let middle = name.match_indices(' ').min_by_key(from_middle);
    match unit.or(middle.map(|(place, _)| place)) {
        Some(place) => [&name[..place], &name[place + 1..]],
        None => [name, ""],
    }
}

/// What stands above the rows of a table.
struct Head {
    alignment: String,
    names: String,
}

impl Part<'_> {
    fn all_columns(&self) -> impl Iterator<Item = &Column> {
        self.numbers.iter().chain(self.columns.iter().copied())
    }

    fn head(&self, form: Form) -> Head {
        let names = self.all_columns().map(|column| {
            let name = escaped(&column.name);
            match (form.headings, stacked(&column.name)) {
                (Headings::Upright, _) => format!("\\rotatebox{{90}}{{{name}}}"),
                (Headings::TwoLines, [above, below]) if !below.is_empty() => {
                    let side = if column.is_text { "l" } else { "r" };
                    let [above, below] = [above, below].map(escaped);
                    format!("\\shortstack[{side}]{{\\strut {above}\\\\\\strut {below}}}")
                }
                (Headings::TwoLines | Headings::Line, _) => name,
            }
        });
        Head {
            names: row(names.collect::<Vec<_>>().iter().map(String::as_str)),
            alignment: self
                .all_columns()
                .map(|column| column.alignment(form))
                .collect(),
        }
    }

    fn write_rows(&self, text: &mut String, rows: usize) {
        for place in 0..rows {
            let cells = self
                .all_columns()
                .map(|column| column.cells[place].as_str());
            let _ = writeln!(text, "{} \\\\", row(cells));
        }
    }
}

fn write_part(
    text: &mut String,
    part: &Part<'_>,
    (title, label): (&str, &str),
    form: Form,
    rows: usize,
) {
    let Head { alignment, names } = part.head(form);
    let head = format!("\\toprule\n{names} \\\\\n\\midrule");
    // The title of each further page is in no list of tables.
    let _ = write!(
        text,
        "\\begin{{longtable}}{{{alignment}}}\n\\caption{{{title}}}{label}\\\\\n{head}\n\\endfirsthead\n\\caption[]{{{title}, continued}}\\\\\n{head}\n\\endhead\n"
    );
    part.write_rows(text, rows);
    text.push_str("\\bottomrule\n\\end{longtable}\n");
}

/// A cell in LaTeX: numbers with a minus sign, and powers of ten as such.
fn in_latex(cell: &Cell) -> String {
    let text = shown(cell);
    match cell {
        Cell::Null | Cell::Text(_) => return escaped(&text),
        Cell::Below(power) => return format!("$<10^{{{power}}}$"),
        _ => {}
    }
    match text.split_once('e') {
        Some((number, power)) => format!("${number}\\times 10^{{{power}}}$"),
        None => text.replace('-', "$-$").replace('±', "$\\pm$"),
    }
}

/// Width of what a cell shows, in points at normal size.
fn width_of_cell(text: &str, cell: &Cell) -> f64 {
    let minus = text.matches('-').count() as f64;
    let is_number = !matches!(cell, Cell::Null | Cell::Text(_));
    match text.split_once('e').filter(|_| is_number) {
        // Times ten, and a power in smaller letters.
        Some((number, power)) => width(number) + 24.0 + 0.8 * width(power) + 4.5 * minus,
        None if is_number => width(text) + 4.5 * minus,
        None => width(text),
    }
}

/// Width of words, in points at normal size.
fn width(text: &str) -> f64 {
    text.chars().map(width_of_letter).sum()
}

/// Width of a letter of Computer Modern, rounded up.
fn width_of_letter(letter: char) -> f64 {
    match letter {
        'i' | 'l' | '.' | ',' | ':' | ';' | '!' | '\'' | '|' => 2.8,
        'f' | 'j' | '-' | ' ' => 3.4,
        'r' | 's' | 't' | '(' | ')' | '[' | ']' | '_' => 4.0,
        'c' | 'e' | 'z' => 4.5,
        '0'..='9' | 'a' | 'g' | 'o' | '/' | '*' => 5.0,
        'b' | 'd' | 'h' | 'k' | 'n' | 'p' | 'q' | 'u' | 'v' | 'x' | 'y' => 5.6,
        'w' => 7.3,
        'm' | '%' | '#' => 8.4,
        letter if letter.is_ascii() || letter == '±' => 7.8,
        _ => 10.0,
    }
}

/// Words in LaTeX that may also go on in the next line behind what names of files have in them, and within what is longer
/// than any word, such as the hash of a version.
fn with_breaks(text: &str) -> String {
    /// Letters and digits of a word.
    const WORD: usize = 16;
    let mut broken = String::new();
    let (mut in_command, mut letters) = (false, 0);
    for c in text.chars() {
        in_command = c == '\\' || in_command && c.is_ascii_alphabetic();
        broken.push(c);
        letters = if c.is_alphanumeric() && !in_command {
            letters + 1
        } else {
            0
        };
        if matches!(c, '/' | '-' | '_' | '.' | ',' | '=' | ':') || letters == WORD {
            broken.push_str("\\allowbreak{}");
            letters = 0;
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;
    use polars::prelude::{Column as PolarsColumn, DataFrame, df};

    #[test]
    fn long_words_break_between_letters_and_never_within_a_command() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let parts = ["0123456789abcdef"; 2].join("\\allowbreak{}");
        assert_eq!(
            with_breaks(hash),
            format!("{parts}\\allowbreak{{}}01234567")
        );
        assert_eq!(
            with_breaks("congestioncontro"),
            "congestioncontro\\allowbreak{}"
        );
        let command = "\\textasciicircumandmuchmore{}";
        assert_eq!(with_breaks(command), command);
        assert_eq!(with_breaks("a\\_b"), "a\\_\\allowbreak{}b");
    }

    fn of(frame: DataFrame) -> String {
        latex(&StudyTable {
            name: "groups".to_owned(),
            title: "Of groups".to_owned(),
            label: "tab:s-groups".to_owned(),
            keys: vec!["capture".to_owned(), "cca".to_owned()],
            shares: Vec::new(),
            usual: std::collections::BTreeMap::new(),
            frame,
        })
    }

    /// A table with so many more columns of numbers.
    fn with_numbers(frame: DataFrame, columns: usize) -> DataFrame {
        with_columns(frame, "some_long_name", columns)
    }

    /// The same with names that begin with this.
    fn with_columns(mut frame: DataFrame, name: &str, columns: usize) -> DataFrame {
        for column in 0..columns {
            let name = format!("{name}_{column}");
            let numbers = vec![12_345_678.9; frame.height()];
            let column = PolarsColumn::new(name.into(), numbers);
            frame.with_column(column).unwrap();
        }
        frame
    }

    fn narrow() -> DataFrame {
        df!("cca" => ["bbr"], "change_percent" => [-3.5]).unwrap()
    }

    #[test]
    fn a_table_is_as_large_as_fits_a_page() {
        assert_eq!(
            of(narrow()),
            "% \\usepackage{booktabs}\n\\begin{table*}\n\\centering\n\\caption{Of groups}\\label{tab:s-groups}\n\\smallskip\n\\begin{tabular}{lr}\n\\toprule\n\
             CCA & Change (\\%) \\\\\n\\midrule\nbbr & $-$3.5 \\\\\n\\bottomrule\n\\end{tabular}\n\\end{table*}\n"
        );
        let small = of(with_numbers(narrow(), 3));
        assert!(
            small.contains("\n\\centering\\footnotesize\\setlength"),
            "{small}"
        );
        assert!(!small.contains("rotatebox"), "{small}");
        assert!(!small.contains("shortstack"), "{small}");
        // Names of columns are the widest of it.
        let stacked = of(with_numbers(narrow(), 4));
        assert!(
            stacked.contains("\n\\centering\\footnotesize\\setlength"),
            "{stacked}"
        );
        let names = "\nCCA & \\shortstack[r]{\\strut Change\\\\\\strut (\\%)} & \\shortstack[r]{\\strut Some long\\\\\\strut name 0} & ";
        assert!(stacked.contains(names), "{stacked}");
        let upright = of(with_columns(narrow(), "incomprehensibilities", 6));
        assert!(upright.starts_with(
            "% \\usepackage{booktabs,graphicx}\n\\begin{table*}\n\\centering\\footnotesize"
        ));
        assert!(
            upright.contains("\\rotatebox{90}{Incomprehensibilities 5}"),
            "{upright}"
        );
        assert!(!upright.contains("minipage"), "{upright}");
        // Wider than the text of `article`, and not than that of two columns.
        let fitted = of(with_numbers(narrow(), 8));
        let begin = "\\smallskip\n\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%\n\\begin{tabular}";
        assert!(fitted.contains(begin), "{fitted}");
        assert!(
            fitted.ends_with("\\end{tabular}}\n\\end{table*}\n"),
            "{fitted}"
        );
        assert!(!fitted.contains("minipage"), "{fitted}");
        let wide = of(with_numbers(narrow(), 11));
        assert!(wide.starts_with("% \\usepackage{booktabs,graphicx}\n"));
        assert!(wide.contains("\\rotatebox{90}{Some long name 7}"));
        // It stands in the class `acmart`, too, which does not know sideways tables.
        let begin = "\n\\begin{table*}[p]\n\\centering\\rotatebox{90}{\\begin{minipage}{\\textheight}\n\\centering";
        let end = "\\end{tabular}\n\\end{minipage}}\n\\end{table*}\n";
        assert!(wide.contains(begin) && wide.ends_with(end), "{wide}");
        assert_eq!(wide.matches("\\begin{tabular}").count(), 1, "{wide}");
    }

    #[test]
    fn a_table_longer_than_a_page_runs_over_pages_and_is_listed_once() {
        let rows =
            |rows: usize| of(df!("cca" => vec!["bbr"; rows], "harm" => vec![0.5; rows]).unwrap());
        // A line of `article` is 12 points high, and its text 598 or 550 points, as the paper is.
        assert!(!rows(35).contains("longtable"));
        let long = rows(50);
        assert!(
            long.starts_with("% \\usepackage{booktabs,longtable}\n% runs over pages: "),
            "{long}"
        );
        assert_eq!(long.matches("\\caption{").count(), 1, "{long}");
        assert_eq!(
            long.matches("\\caption[]{Of groups, continued}").count(),
            1,
            "{long}"
        );
        assert_eq!(
            long.matches("\nCCA & Harm ").count(),
            2,
            "on the first page, and on others"
        );
        let across = of(with_numbers(df!("cca" => vec!["bbr"; 40]).unwrap(), 11));
        assert!(across.starts_with("% \\usepackage{booktabs,longtable,graphicx,pdflscape}\n"));
        assert!(across.contains("\n\\begin{landscape}") && across.ends_with("\\end{landscape}\n"));
    }

    #[test]
    fn a_table_that_fits_no_page_is_cut_and_says_again_what_its_rows_are() {
        let text = of(with_numbers(narrow(), 30));
        let parts: Vec<&str> = text.split("\\begin{longtable}").skip(1).collect();
        assert_eq!(parts.len(), 3, "{text}");
        for (place, part) in parts.iter().enumerate() {
            assert!(part.contains(&format!("\\caption{{Of groups ({} of 3)}}", place + 1)));
            assert!(part.contains("\nbbr & "), "{part}");
            let is_referred_to = part.contains("(1 of 3)}\\label{tab:s-groups}\\\\\n");
            assert_eq!(is_referred_to, place == 0, "{part}");
            assert_eq!(part.matches("\\label").count(), usize::from(place == 0));
            assert_eq!(part.matches("{CCA}").count(), 2, "{part}");
        }
        assert_eq!(
            text.matches("Some long").count(),
            60,
            "each column in one part, with its two heads"
        );
        assert_eq!(text.matches("\\addtocounter{table}{-1}").count(), 2);
    }

    #[test]
    fn rows_are_numbered_where_what_they_are_takes_much_of_a_page() {
        let name = "bbr-100mbit-0.1percent/a-long-name-of-a-capture_1.pcap";
        let frame = df!(
            "capture" => [name, "b.pcap"],
            "cca" => ["a name of a variant that goes on and on".repeat(2), String::new()]
        );
        let text = of(with_numbers(frame.unwrap(), 20));
        let parts: Vec<&str> = text.split("\\begin{longtable}").skip(1).collect();
        assert!(parts.len() > 1, "{text}");
        for part in &parts {
            assert!(part.contains("\\rotatebox{90}{\\#} & "), "{part}");
            assert!(part.contains("\n1 & ") && part.contains("\n2 & "), "{part}");
        }
        // Said once, in lines that end where names of files may be taken apart.
        assert!(parts[0].starts_with("{rp{120pt}p{120pt}r"), "{}", parts[0]);
        assert!(
            parts[0].contains("bbr-\\allowbreak{}100mbit"),
            "{}",
            parts[0]
        );
        assert!(!parts[1].contains("pcap"), "{}", parts[1]);
    }

    #[test]
    fn a_column_that_holds_nothing_is_left_out() {
        let frame = df!("cca" => ["bbr"], "queue_percent" => [None::<f64>], "harm" => [0.5]);
        assert!(of(frame.unwrap()).contains("\nCCA & Harm \\\\\n"));
    }

    #[test]
    fn a_table_without_rows_is_a_sentence() {
        let frame = df!("cca" => Vec::<String>::new(), "harm" => Vec::<f64>::new());
        assert_eq!(of(frame.unwrap()), "Of groups: no rows.\n");
    }

    #[test]
    fn numbers_in_latex_are_typeset() {
        for (cell, text) in [
            (Cell::Real(-37.462), "$-$37.46"),
            (Cell::Real(2.69e-57), "$2.690\\times 10^{-57}$"),
            (Cell::Whole(1200), "1200"),
            (Cell::Below(-300), "$<10^{-300}$"),
            (Cell::Text("bbr-lt".to_owned()), "bbr-lt"),
            (Cell::Null, ""),
            (
                Cell::Mean {
                    value: -0.5,
                    half: Some(0.25),
                    n: None,
                },
                "$-$0.50 $\\pm$ 0.25",
            ),
        ] {
            assert_eq!(in_latex(&cell), text);
        }
    }
}
