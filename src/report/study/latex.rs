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
    /// What it has in common with its neighbours.
    above: Option<String>,
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
            above,
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
            above,
        }
    }
}

impl Column {
    /// The number of each row.
    fn numbers(rows: usize) -> Self {
        Self::from(ReadableColumn {
            heading: "#".to_owned(),
            above: None,
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
    let all: Vec<&Column> = rest.chain(&values).copied().collect();
    // What stands below the same words stays together, where there is room for it.
    for kin in all.chunk_by(|one, next| are_kin(one, next)) {
        let room = form.page - taken;
        let is_more = |part: &Vec<&Column>| part.len() > again.len();
        if is_more(&part) && form.width_of(&part) + form.width_of(kin) > room {
            parts.push(std::mem::replace(&mut part, again.to_vec()));
        }
        for column in kin {
            part.push(column);
            if part.len() > again.len() + 1 && form.width_of(&part) > room {
                part.pop();
                parts.push(std::mem::replace(&mut part, again.to_vec()));
                part.push(column);
            }
        }
    }
    parts.push(part);
    let part = |columns| Part {
        numbers: numbers(),
        columns,
    };
    parts.into_iter().map(part).collect()
}

/// Whether two columns stand below the same words.
fn are_kin(one: &Column, next: &Column) -> bool {
    one.above.is_some() && one.above == next.above
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
                (Headings::Upright, _) => {
                    // Its end does not touch the rule above it.
                    let end = column.above.as_ref().map_or("", |_| "~");
                    format!("\\rotatebox{{90}}{{{name}{end}}}")
                }
                (Headings::TwoLines, [above, below]) if !below.is_empty() => {
                    let side = if column.is_text { "l" } else { "r" };
                    let [above, below] = [above, below].map(escaped);
                    format!("\\shortstack[{side}]{{\\strut {above}\\\\\\strut {below}}}")
                }
                (Headings::TwoLines | Headings::Line, _) => name,
            }
        });
        let names: Vec<String> = names.collect();
        Head {
            names: self.above() + &row(names.iter().map(String::as_str)),
            alignment: self
                .all_columns()
                .map(|column| column.alignment(form))
                .collect(),
        }
    }

    /// A line of what columns have in common, each with a rule over these; nothing where none has anything.
    fn above(&self) -> String {
        let columns: Vec<&Column> = self.all_columns().collect();
        if columns.iter().all(|column| column.above.is_none()) {
            return String::new();
        }
        let (mut cells, mut rules) = (Vec::new(), String::new());
        let mut first = 1;
        for kin in columns.chunk_by(|one, next| are_kin(one, next)) {
            match &kin[0].above {
                Some(above) => {
                    let last = first + kin.len() - 1;
                    let above = escaped(above);
                    cells.push(format!("\\multicolumn{{{}}}{{c}}{{{above}}}", kin.len()));
                    let _ = write!(rules, "\\cmidrule(lr){{{first}-{last}}}");
                }
                None => cells.push(String::new()),
            }
            first += kin.len();
        }
        format!("{} \\\\\n{rules}\n", row(cells.iter().map(String::as_str)))
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
    let parts = numbers_and_words(&text);
    let in_latex = parts.map(|part| match part.split_once('e') {
        Some((number, power)) => format!("${number}\\times 10^{{{power}}}$"),
        None => part.replace('-', "$-$").replace('±', "$\\pm$"),
    });
    in_latex.collect()
}

/// The numbers of a cell, and what stands between them: of a median its quartiles are numbers, too.
fn numbers_and_words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_number =
        |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | 'e' | '+' | '-');
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_number = is_of_number(rest.chars().next()?);
        let end = rest.find(|letter| is_of_number(letter) != is_number);
        let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        Some(part)
    })
}

/// Width of what a cell shows, in points at normal size.
fn width_of_cell(text: &str, cell: &Cell) -> f64 {
    if matches!(cell, Cell::Null | Cell::Text(_)) {
        return width(text);
    }
    let of_part = |part: &str| match part.split_once('e') {
        // Times ten, and a power in smaller letters.
        Some((number, power)) => width(number) + 24.0 + 0.8 * width(power),
        None => width(part),
    };
    let minus = text.matches('-').count() as f64;
    numbers_and_words(text).map(of_part).sum::<f64>() + 4.5 * minus
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
mod tests;
