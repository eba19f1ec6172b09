//! The page of a study: what it says together, its charts, and its tables.

use std::collections::BTreeMap;

use crate::study::{StudyResults, StudyRun};
use crate::table::StudyTable;
use crate::table::cells::Cell as TableCell;

use super::super::chart::{StudyChart, Theme};
use super::super::study::{columns, in_full, rounded, shown};
use super::super::terminal::{counted, grouped, lacks};
use super::{Block, Cell, Page, PageTable, section};

/// Rows of a table; a page with more takes a browser too long.
const ROWS_MAX: usize = 400;

/// How the names of tables begin that are not folded away, where they are not long either.
const OPEN: &str = "report-";

/// Everything about a study. `warnings` are those that are printed of it; `made` tells how: names and values, such as
/// version and manifest.
#[must_use]
pub fn of_study(
    results: &StudyResults,
    tables: &[StudyTable],
    charts: &[StudyChart],
    theme: Theme,
    warnings: &[String],
    made: &[(String, String)],
) -> Page {
    let flows: usize = results.runs.iter().map(|run| run.flows.len()).sum();
    let failed: Vec<&StudyRun> = results
        .runs
        .iter()
        .filter(|run| run.error.is_some())
        .collect();
    let mut sections = vec![section("Runs that failed", vec![failures(&failed)])];
    let mut quality = quality(results);
    quality.extend_from_slice(warnings);
    if !quality.is_empty() {
        sections.push(section(
            "Quality of the captures",
            vec![Block::Notes(quality)],
        ));
    }
    for topic in charts.chunk_by(|one, two| one.topic == two.topic) {
        let figures = topic
            .iter()
            .map(|chart| Block::figure(&chart.canvas, &chart.stem));
        sections.push(section(topic[0].topic, figures.collect()));
    }
    let (reports, rest): (Vec<&StudyTable>, Vec<&StudyTable>) = tables
        .iter()
        .filter(|table| table.frame.height() > 0)
        .partition(|table| table.name.starts_with(OPEN));
    for (title, tables, open) in [
        ("Tables of the reports", reports, true),
        ("Tables of the study", rest, false),
    ] {
        if !tables.is_empty() {
            let folds = tables.into_iter().map(|table| fold(table, open));
            sections.push(section(title, folds.collect()));
        }
    }
    sections.push(section(
        "How this was made",
        vec![Block::Facts(made.to_vec())],
    ));
    Page {
        title: format!("Study: {}", results.name),
        subtitle: format!(
            "{}, {}, {}. A flow is one direction of a connection with payload. What each number means: METRICS.md of ccanalyze.",
            counted((results.runs.len() - failed.len()) as u64, "run"),
            counted(flows as u64, "flow"),
            counted(charts.len() as u64, "chart"),
        ),
        theme,
        sections,
    }
}

fn failures(failed: &[&StudyRun]) -> Block {
    if failed.is_empty() {
        return Block::Text("None: all runs were analysed.".to_owned());
    }
    let notes = failed.iter().map(|run| {
        let error = run.error.as_deref().unwrap_or_default();
        format!("{}: {error}", run.name)
    });
    Block::Notes(notes.collect())
}

/// How many flows bear each mark, and how many were too small to count.
fn quality(results: &StudyResults) -> Vec<String> {
    let mut marks: BTreeMap<&str, u64> = BTreeMap::new();
    let flows = results.runs.iter().flat_map(|run| &run.flows);
    for flow in flows {
        for mark in flow
            .measure
            .quality
            .split(',')
            .filter(|mark| !mark.is_empty())
        {
            *marks.entry(mark).or_default() += 1;
        }
    }
    let mut notes: Vec<String> = marks
        .into_iter()
        .map(|(mark, n)| {
            format!(
                "{mark}: {} (METRICS.md Q1 says what it means)",
                counted(n, "flow")
            )
        })
        .collect();
    let small: u64 = results
        .runs
        .iter()
        .filter_map(|run| run.flows_left_out)
        .sum();
    if small > 0 {
        notes.push(format!(
            "{} with little payload beside the largest of the run, as requests have, not counted (METRICS.md Y1)",
            counted(small, "flow")
        ));
    }
    notes.extend(results.runs.iter().flat_map(lacks));
    notes
}

fn fold(table: &StudyTable, open: bool) -> Block {
    let all = table.frame.height();
    Block::Fold {
        title: format!("{} ({})", table.title, counted(all as u64, "row")),
        open: open && all <= ROWS_MAX,
        blocks: vec![Block::Table(page_table(table))],
    }
}

/// A table as it is read.
fn page_table(table: &StudyTable) -> PageTable {
    let all = table.frame.height();
    let shown = all.min(ROWS_MAX);
    let columns = columns(table);
    let is_number =
        |cells: &[TableCell]| !cells.iter().any(|cell| matches!(cell, TableCell::Text(_)));
    PageTable {
        caption: if shown < all {
            format!(
                "The first {} of {} rows; all of them are in {}.csv.",
                grouped(shown as u64),
                grouped(all as u64),
                table.name
            )
        } else {
            String::new()
        },
        rows: (0..shown)
            .map(|row| {
                let cells = columns.iter().map(|column| cell(&column.cells[row]));
                cells.collect()
            })
            .collect(),
        columns: columns
            .iter()
            .map(|column| (column.whole_heading(), is_number(&column.cells)))
            .collect(),
    }
}

fn cell(cell: &TableCell) -> Cell {
    match cell {
        TableCell::Null => Cell::number(None, rounded),
        TableCell::Text(text) => Cell::text(text),
        TableCell::Whole(number) => Cell::number(Some(*number as f64), |_| number.to_string()),
        TableCell::Real(number) => Cell::number(Some(*number), rounded),
        TableCell::Below(_) => Cell::number(Some(0.0), |_| shown(cell)),
        TableCell::Label(number) => Cell::number(Some(*number), in_full),
        TableCell::Mean { value, .. } | TableCell::Median { value, .. } => {
            Cell::number(Some(*value), |_| shown(cell))
        }
    }
}
