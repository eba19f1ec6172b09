//! A report on one page: a single HTML file with tables that can be sorted and charts in it, which
//! needs no network and no other file.
//!
//! A [`Page`] is plain data, so that whatever has tables and charts can make one. All of its text
//! is escaped: names of files and flows come from strangers.

mod path;
mod run;
mod study;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::chart::{self, Canvas, Theme};
use super::terminal::{delay, duration, grouped};

pub use path::of_path;
pub use run::of_run;
pub use study::of_study;

/// Rows of a table of flows and the like; a page with more takes a browser too long.
const ROWS_MAX: usize = 1000;

/// What stands on the page, in order.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// What it is about, in a line.
    pub subtitle: String,
    /// What it is drawn on; its charts should be of the same theme.
    pub theme: Theme,
    /// Its parts, each with an entry in the table of contents.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What it consists of.
    pub blocks: Vec<Block>,
}

/// One thing on a page.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Things that the reader must know.
    Notes(Vec<String>),
    /// Names and what they stand for.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(PageTable),
    /// A chart as SVG, and what it shows.
    Figure {
        /// As [`Canvas::to_svg`] makes it: the only text that is not escaped here.
        svg: String,
        /// What it shows, for those who do not see it.
        title: String,
    },
    /// Charts that could not be drawn, and why.
    Undrawn(String),
    /// Blocks that can be folded away.
    Fold {
        /// What is said when it is folded.
        title: String,
        /// Whether it is not folded at first.
        open: bool,
        /// What is folded.
        blocks: Vec<Block>,
    },
}

impl Block {
    /// A chart; what is said in its place where it cannot be drawn.
    #[must_use]
    pub fn figure(canvas: &Canvas, title: &str) -> Self {
        match canvas.to_svg() {
            Ok(svg) => Self::Figure {
                svg,
                title: title.to_owned(),
            },
            Err(said) => Self::Undrawn(format!("{title}: the chart cannot be drawn: {said}")),
        }
    }

    /// Why charts in it could not be drawn.
    fn undrawn(&self) -> Vec<&str> {
        match self {
            Self::Undrawn(said) => vec![said],
            Self::Fold { blocks, .. } => blocks.iter().flat_map(Self::undrawn).collect(),
            _ => Vec::new(),
        }
    }
}

/// A table on a page.
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    /// What it shows, and what was left out.
    pub caption: String,
    /// Headings, and whether the column holds numbers: these are sorted as such.
    pub columns: Vec<(String, bool)>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What is written.
    pub text: String,
    /// What it is sorted by, in a column of numbers; `None` comes last.
    pub key: Option<f64>,
}

/// In the place of a number that there is not.
const NOTHING: &str = "–";

impl Cell {
    /// Words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            key: None,
        }
    }

    /// A number, as `write` writes it; a dash where there is none.
    #[must_use]
    pub fn number(value: Option<f64>, write: impl Fn(f64) -> String) -> Self {
        let value = value.filter(|value| value.is_finite());
        Self {
            text: value.map_or_else(|| NOTHING.to_owned(), write),
            key: value,
        }
    }

    /// Whether anything is written in it.
    fn tells(&self) -> bool {
        !self.text.is_empty() && self.text != NOTHING
    }

    /// A count.
    #[must_use]
    pub fn count(count: u64) -> Self {
        Self::number(Some(count as f64), |_| grouped(count))
    }
}

impl Page {
    /// Why charts on it could not be drawn, a line each.
    #[must_use]
    pub fn undrawn(&self) -> Vec<&str> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.flat_map(Block::undrawn).collect()
    }

    /// Writes the page.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.to_html().as_bytes())
    }

    /// The whole file.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut html = String::new();
        // Nothing may be fetched, whatever the page holds.
        html.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        html.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src data:; img-src data:\">\n");
        html.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        // A browser asks for an icon unless it is told that there is none.
        html.push_str("<link rel=\"icon\" href=\"data:,\">\n");
        let _ = write!(html, "<title>{}</title>\n<style>\n", escaped(&self.title));
        for (weight, font) in [("100 500", chart::FONT), ("501 900", chart::BOLD_FONT)] {
            let _ = writeln!(
                html,
                "@font-face {{ font-family: Inter; font-weight: {weight}; src: url(data:font/otf;base64,{}) }}",
                STANDARD.encode(font)
            );
        }
        html.push_str(include_str!("html/style.css"));
        let class = match self.theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        let _ = write!(
            html,
            "</style>\n</head>\n<body class=\"{class}\">\n<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n<nav>\n",
            escaped(&self.title),
            escaped(&self.subtitle)
        );
        for (index, section) in self.sections.iter().enumerate() {
            let _ = writeln!(
                html,
                "<a href=\"#s{index}\">{}</a>",
                escaped(&section.title)
            );
        }
        html.push_str("</nav>\n<main>\n");
        for (index, section) in self.sections.iter().enumerate() {
            let _ = writeln!(
                html,
                "<section id=\"s{index}\">\n<h2>{}</h2>",
                escaped(&section.title)
            );
            put_blocks(&mut html, &section.blocks);
            html.push_str("</section>\n");
        }
        html.push_str("</main>\n<script>\n");
        html.push_str(include_str!("html/sort.js"));
        html.push_str("</script>\n</body>\n</html>\n");
        html
    }
}

/// Blocks in order; figures that follow each other stand side by side where there is room.
fn put_blocks(html: &mut String, blocks: &[Block]) {
    let is_figure = |block: &Block| matches!(block, Block::Figure { .. });
    for run in blocks.chunk_by(|one, two| is_figure(one) && is_figure(two)) {
        // One alone is no wider than several are.
        let are_figures = is_figure(&run[0]);
        if are_figures {
            html.push_str("<div class=\"figures\">\n");
        }
        for block in run {
            put_block(html, block);
        }
        if are_figures {
            html.push_str("</div>\n");
        }
    }
}

fn put_block(html: &mut String, block: &Block) {
    match block {
        Block::Text(text) | Block::Undrawn(text) => {
            let _ = writeln!(html, "<p>{}</p>", with_code(text));
        }
        Block::Notes(notes) => {
            html.push_str("<ul class=\"notes\">\n");
            for note in notes {
                let _ = writeln!(html, "<li>{}</li>", with_code(note));
            }
            html.push_str("</ul>\n");
        }
        Block::Facts(facts) => {
            html.push_str("<dl>\n");
            for (name, value) in facts {
                let _ = writeln!(
                    html,
                    "<dt>{}</dt><dd>{}</dd>",
                    escaped(name),
                    escaped(value)
                );
            }
            html.push_str("</dl>\n");
        }
        Block::Table(table) => put_table(html, table),
        Block::Figure { svg, title } => {
            let _ = writeln!(
                html,
                "<figure role=\"img\" aria-label=\"{}\">\n{svg}</figure>",
                escaped(title)
            );
        }
        Block::Fold {
            title,
            open,
            blocks,
        } => {
            let open = if *open { " open" } else { "" };
            let _ = writeln!(
                html,
                "<details{open}>\n<summary>{}</summary>",
                escaped(title)
            );
            put_blocks(html, blocks);
            html.push_str("</details>\n");
        }
    }
}

fn put_table(html: &mut String, table: &PageTable) {
    /// Longer cells of text may be broken.
    const WIDE: usize = 60;
    html.push_str("<div class=\"scroll\">\n<table>\n");
    if !table.caption.is_empty() {
        let _ = writeln!(html, "<caption>{}</caption>", escaped(&table.caption));
    }
    // What no row has anything in takes room from what they have.
    let is_told = |place: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(place));
        table.rows.is_empty() || cells.any(Cell::tells)
    };
    let told: Vec<bool> = (0..table.columns.len()).map(is_told).collect();
    html.push_str("<thead>\n<tr>");
    for ((name, number), _) in table.columns.iter().zip(&told).filter(|(_, told)| **told) {
        let class = if *number { " class=\"n\"" } else { "" };
        let _ = write!(
            html,
            "<th scope=\"col\"{class}><button type=\"button\">{}</button></th>",
            escaped(name)
        );
    }
    html.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        let cells = row.iter().zip(&table.columns).zip(&told);
        for ((cell, (_, number)), _) in cells.filter(|(_, told)| **told) {
            let text = if *number {
                escaped(&cell.text)
            } else {
                with_breaks(&escaped(&cell.text))
            };
            let _ = match (number, cell.key) {
                (true, Some(key)) => write!(html, "<td class=\"n\" data-k=\"{key}\">{text}</td>"),
                (true, None) => write!(html, "<td class=\"n\">{text}</td>"),
                (false, _) if cell.text.chars().count() > WIDE => {
                    write!(html, "<td class=\"wide\">{text}</td>")
                }
                (false, _) => write!(html, "<td>{text}</td>"),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
}

fn section(title: &str, blocks: Vec<Block>) -> Section {
    Section {
        title: title.to_owned(),
        blocks,
    }
}

fn columns(names: &[(&str, bool)]) -> Vec<(String, bool)> {
    names
        .iter()
        .map(|&(name, number)| (name.to_owned(), number))
        .collect()
}

/// Puts a column of what flows are called at `place`, where any has a name.
fn add_names(table: &mut PageTable, place: usize, names: Vec<String>) {
    if names.iter().all(String::is_empty) {
        return;
    }
    table.columns.insert(place, ("name".to_owned(), false));
    for (row, name) in table.rows.iter_mut().zip(names) {
        row.insert(place, Cell::text(name));
    }
}

/// What bears on the numbers of captures, and that nothing does where nothing was found.
fn notes_on_captures(notes: Vec<String>) -> Block {
    if notes.is_empty() {
        Block::Text(
            "Every capture was read to its end, and nothing was found that speaks against its numbers."
                .to_owned(),
        )
    } else {
        Block::Notes(notes)
    }
}

/// That a table has not all rows, where it has not.
fn left_out(which: &str, what: &str, all: usize, shown: usize) -> String {
    if all > shown {
        let [all, shown] = [all, shown].map(|number| grouped(number as u64));
        format!(
            "The {shown} {which} of {all} {what}; all of them are in the tables that --out writes."
        )
    } else {
        String::new()
    }
}

/// How long something took, in ns.
fn took(ns: f64) -> String {
    duration(ns as i64)
}

/// Escaped text that may also go on in the next line behind what addresses and names of files have in them.
fn with_breaks(escaped: &str) -> String {
    const SHORT: usize = 14;
    if escaped.len() <= SHORT {
        return escaped.to_owned();
    }
    let mut broken = String::with_capacity(2 * escaped.len());
    for letter in escaped.chars() {
        broken.push(letter);
        if matches!(letter, '/' | ':' | ',' | '_') {
            broken.push_str("<wbr>");
        }
    }
    broken
}

/// Escaped text between tags, in which what stands between two backticks is code, as names of options and columns are.
fn with_code(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`')
        && let Some((code, after)) = behind.split_once('`')
    {
        safe.push_str(&escaped(before));
        if code.is_empty() {
            safe.push_str("``");
        } else {
            safe.push_str("<code>");
            safe.push_str(&escaped(code));
            safe.push_str("</code>");
        }
        rest = after;
    }
    safe + &escaped(rest)
}

/// Text that is nothing but text wherever it stands: between tags or in an attribute.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' => safe.push('\n'),
            letter => safe.push(chart::visible(letter)),
        }
    }
    safe
}
