//! Lines of a text taken apart by a template: what a script or a notebook printed.

use std::collections::BTreeMap;

use super::delimited::is_missing;
use super::error::{Fault, ImportErrorKind};
use super::{MeasuredColumn, MeasuredFormat, MeasuredTable, MeasuredValues, check_cells};
use crate::study::template::Template;

/// A row a line that is as the template says; other lines are left out.
pub(super) fn parse(
    bytes: &[u8],
    template: &Template,
    as_written: &[&str],
) -> Result<MeasuredTable, Fault> {
    let text = super::delimited::text(bytes)?;
    let names = template.labels();
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(cells) = template.take_apart(line.trim()) else {
            continue;
        };
        lines.push(index as u64 + 1);
        check_cells((lines.len() * names.len()) as u64)?;
        for (column, (_, cell)) in columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }
    if lines.is_empty() {
        let template = template.text().to_owned();
        return Err(ImportErrorKind::NoLine { template }.into());
    }
    let column = |(place, (name, cells)): (usize, (&str, Vec<String>))| {
        let is_number = |cell: &String| is_missing(cell) || cell.parse::<f64>().is_ok();
        let values = if cells.iter().all(is_number) {
            MeasuredValues::Numbers(Vec::new())
        } else {
            MeasuredValues::Texts(Vec::new())
        };
        let mut column = MeasuredColumn::new(name, values).among(place, as_written);
        for cell in &cells {
            column.push(cell);
        }
        column
    };
    Ok(MeasuredTable {
        format: MeasuredFormat::Lines,
        columns: names
            .into_iter()
            .zip(columns)
            .enumerate()
            .map(column)
            .collect(),
        series: Vec::new(),
        metadata: BTreeMap::new(),
        lines,
    })
}
