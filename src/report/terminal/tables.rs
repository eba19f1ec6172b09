//! Tables, and how they fit a terminal.

use std::fmt::Write as _;
use std::io;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use terminal_size::{Width, terminal_size_of};

/// What a table can do without, in that order.
const SPARED: [&str; 16] = [
    "overhead",
    "reord",
    "share",
    "data",
    "packets",
    "episodes (shared)",
    "of the queue",
    "time",
    "over",
    "rtx",
    "quality",
    "IP bytes",
    "way",
    "rate",
    "RTT min/mean/max",
    "delay min/mean/max",
];

/// Rows under a header; the `numbers` columns stand to the right. Where that is wider than the terminal, ends of flows
/// stand below each other, and columns are left out.
pub(super) fn flows_table(
    header: &[&str],
    rows: &[Vec<String>],
    numbers: std::ops::Range<usize>,
) -> String {
    let columns = header.iter().enumerate().map(|(index, &name)| {
        let cells = rows.iter().map(|row| row[index].clone());
        TableColumn {
            name: name.to_owned(),
            is_number: numbers.contains(&index),
            cells: cells.collect(),
        }
    });
    let whole: Vec<TableColumn> = columns.collect();
    match width() {
        Some(width) => fit(whole, width.into()),
        None => draw(&whole),
    }
}

/// What stands before a table of flows at `place`, where any has a name: a column of these, empty for who has none.
pub(super) fn add_names(
    header: &mut Vec<&str>,
    rows: &mut [Vec<String>],
    place: usize,
    names: Vec<String>,
) {
    if names.iter().all(|name| name.trim().is_empty()) {
        return;
    }
    header.insert(place, "name");
    for (row, name) in rows.iter_mut().zip(names) {
        let lines: Vec<String> = name.split('\n').map(cut).collect();
        row.insert(place, lines.join("\n"));
    }
}

/// As much of a name as leaves room for numbers; tables and charts have all of it.
fn cut(name: &str) -> String {
    const MOST: usize = 24;
    match name.char_indices().nth(MOST) {
        Some(_) => name.chars().take(MOST - 1).chain(['…']).collect(),
        None => name.to_owned(),
    }
}

/// The table in lines of no more than so many characters, as far as that can be had.
fn fit(mut columns: Vec<TableColumn>, width: usize) -> String {
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= width);
    let mut text = draw(&columns);
    if fits(&text) {
        return text;
    }
    columns.retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        let cells = columns.iter_mut().map(|column| &mut column.cells[row]);
        put_ends_below_each_other(&mut cells.collect::<Vec<_>>());
    }
    text = draw(&columns);
    let place = |name: &&str| columns.iter().position(|column| column.name == *name);
    let spared: Vec<usize> = SPARED.iter().filter_map(place).collect();
    let without = |left_out: &[usize]| {
        let all = columns.iter().enumerate();
        draw(all.filter_map(|(place, column)| (!left_out.contains(&place)).then_some(column)))
    };
    let mut left_out = Vec::new();
    for place in spared {
        if fits(&text) {
            break;
        }
        left_out.push(place);
        text = without(&left_out);
    }
    // Where one was wide, others may have room after all.
    for place in left_out.clone().into_iter().rev() {
        let fewer: Vec<usize> = left_out.iter().copied().filter(|&of| of != place).collect();
        let more = without(&fewer);
        if fits(&more) {
            (left_out, text) = (fewer, more);
        }
    }
    if !left_out.is_empty() {
        // As they would stand there.
        left_out.sort_unstable();
        let names = left_out.iter().map(|&place| columns[place].name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "A wider terminal shows: {names}.");
    }
    text
}

/// Gives each end of a flow a line of its own. What a cell of the row says of the flow below it goes on beside that one.
fn put_ends_below_each_other(cells: &mut [&mut String]) {
    const ARROW: &str = " > ";
    let lines = cells.iter().map(|cell| cell.lines().count()).max();
    let is_flow = |line: usize| {
        let mut at_line = cells.iter().filter_map(|cell| cell.lines().nth(line));
        at_line.any(|text| text.contains(ARROW))
    };
    let are_flows: Vec<bool> = (0..lines.unwrap_or(0)).map(is_flow).collect();
    for cell in cells {
        let lines: Vec<String> = cell
            .lines()
            .zip(&are_flows)
            .map(|(text, &is_flow)| match text.split_once(ARROW) {
                Some((sender, receiver)) => format!("{sender} >\n{receiver}"),
                None if is_flow => format!("{text}\n"),
                None => text.to_owned(),
            })
            .collect();
        lines.join("\n").trim_end().clone_into(cell);
    }
}

/// A name and what stands below it.
struct TableColumn {
    name: String,
    is_number: bool,
    cells: Vec<String>,
}

/// The columns beside each other, as wide as they are.
fn draw<'a>(columns: impl IntoIterator<Item = &'a TableColumn>) -> String {
    let columns: Vec<&TableColumn> = columns.into_iter().collect();
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| &column.name));
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        table.add_row(columns.iter().map(|column| &column.cells[row]));
    }
    for (index, _) in columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.is_number)
    {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

/// Characters in a line of the terminal, where there is one or `COLUMNS` tells.
fn width() -> Option<u16> {
    let told = std::env::var("COLUMNS").ok();
    let told = told.and_then(|columns| columns.parse().ok());
    told.or_else(|| terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_flows_of_a_pair_stand_with_their_ends_below_each_other_where_room_is_short() {
        let column = |name: &str, cell: &str| TableColumn {
            name: name.to_owned(),
            is_number: false,
            cells: vec![cell.to_owned()],
        };
        let pair = || {
            vec![
                column(
                    "flows together",
                    "[fd77::1:1]:5001 > [fd77::200:1]:40000\n10.0.0.1:80 > 10.0.0.2:90",
                ),
                column("rate", "1 kbit/s\n2 kbit/s"),
                column("fness", "+0.5"),
            ]
        };
        // 38 letters of a flow, 8 of a rate, 5 of fness; a frame of 4 strokes with a blank on either side.
        assert_eq!(fit(pair(), 61), draw(&pair()));
        let lines = "\
┌─────────────────────┬──────────┬───────┐
│ flows together      ┆ rate     ┆ fness │
╞═════════════════════╪══════════╪═══════╡
│ [fd77::1:1]:5001 >  ┆ 1 kbit/s ┆ +0.5  │
│ [fd77::200:1]:40000 ┆          ┆       │
│ 10.0.0.1:80 >       ┆ 2 kbit/s ┆       │
│ 10.0.0.2:90         ┆          ┆       │
└─────────────────────┴──────────┴───────┘
";
        assert_eq!(fit(pair(), 60), lines);
    }
}
