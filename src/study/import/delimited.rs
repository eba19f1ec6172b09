//! Text with a header line, separated by comma, semicolon or tab.

use std::collections::BTreeMap;

use csv::{ErrorKind, Position, ReaderBuilder, StringRecord, Trim};

use super::error::{Fault, ImportErrorKind, Place};
use super::{MeasuredColumn, MeasuredFormat, MeasuredTable, MeasuredValues, check_cells};

/// What may stand between cells: that of which the header has most, a comma if it has none.
const SEPARATORS: [u8; 3] = *b",;\t";

/// Bytes of a header that are looked at for its separator.
const HEADER_BYTES: usize = 64 << 10;

/// Cells, apart from empty ones, that mean that nothing was measured; in any case of letters.
const MISSING: [&str; 5] = ["na", "n/a", "nan", NONE, "null"];
/// The one of them that also is what a label says: no queue discipline, no loss.
const NONE: &str = "none";

pub(super) fn parse(bytes: &[u8], as_written: &[&str]) -> Result<MeasuredTable, Fault> {
    let text = text(bytes)?;
    let separator = separator(text);
    let cells_at_most = text
        .bytes()
        .filter(|&b| b == separator || b == b'\n')
        .count()
        + 1;
    check_cells(cells_at_most as u64)?;
    // Twice over the text, so that no cell is kept as text that turns out to be a number.
    let mut is_text: Vec<bool> = Vec::new();
    let mut lines = Vec::new();
    let header = for_each_row(text, separator, |row| {
        is_text.resize(row.len(), false);
        for (is_text, cell) in is_text.iter_mut().zip(row) {
            *is_text |= !is_missing(cell) && cell.parse::<f64>().is_err();
        }
        lines.push(row.position().map_or(0, |position| line_of(text, position)));
    })?;
    if lines.is_empty() {
        return Err(ImportErrorKind::NoRows.into());
    }
    let mut columns = empty_columns(&header, &is_text, lines.len(), as_written);
    for_each_row(text, separator, |row| {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.push(cell);
        }
    })?;
    Ok(MeasuredTable {
        format: MeasuredFormat::Csv,
        columns,
        series: Vec::new(),
        metadata: BTreeMap::new(),
        lines,
    })
}

/// Bytes as text; a fault names the line that is none.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(bytes).map_err(|error| {
        let before = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n');
        Fault::at(Place::Line(before.count() as u64), ImportErrorKind::NotUtf8)
    })
}

fn separator(text: &str) -> u8 {
    let header = text.trim_start().lines().next().unwrap_or_default();
    let header = &header.as_bytes()[..header.len().min(HEADER_BYTES)];
    let cells = |separator: u8| header.split(|&byte| byte == separator).count();
    let mut most = SEPARATORS[0];
    for separator in SEPARATORS {
        if cells(separator) > cells(most) {
            most = separator;
        }
    }
    most
}

/// Calls `f` for each row below the header, which is returned.
fn for_each_row(
    text: &str,
    separator: u8,
    mut f: impl FnMut(&StringRecord),
) -> Result<StringRecord, Fault> {
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|error| fault(text, &error))?
        .clone();
    let mut row = StringRecord::new();
    while reader
        .read_record(&mut row)
        .map_err(|error| fault(text, &error))?
    {
        f(&row);
    }
    Ok(header)
}

fn empty_columns(
    header: &StringRecord,
    is_text: &[bool],
    rows: usize,
    as_written: &[&str],
) -> Vec<MeasuredColumn> {
    let column = |(place, (name, &is_text)): (usize, (&str, &bool))| {
        let values = if is_text {
            MeasuredValues::Texts(Vec::with_capacity(rows))
        } else {
            MeasuredValues::Numbers(Vec::with_capacity(rows))
        };
        MeasuredColumn::new(name, values).among(place, as_written)
    };
    header.iter().zip(is_text).enumerate().map(column).collect()
}

impl MeasuredColumn {
    /// Adds a cell as it stands in a text.
    pub(super) fn push(&mut self, cell: &str) {
        let row = self.values.len();
        let present = Some(cell).filter(|cell| !is_missing(cell));
        let says_more = match &mut self.values {
            MeasuredValues::Numbers(numbers) => {
                let number: Option<f64> = present.and_then(|cell| cell.parse().ok());
                numbers.push(number);
                // A power of ten and `.0` are how a program writes a number, other digits may be what something is
                // called.
                let mut bytes = cell.bytes();
                let is_name = bytes.all(|byte| byte.is_ascii_digit() || byte == b'.')
                    && !cell.ends_with(".0");
                (is_name || self.is_as_written)
                    && number.is_some_and(|number| number.to_string() != cell)
            }
            MeasuredValues::Texts(texts) => {
                texts.push(present.map(str::to_owned));
                false
            }
            // No text has such a column.
            MeasuredValues::Other { cells, .. } => {
                *cells += 1;
                false
            }
        };
        if says_more || cell.eq_ignore_ascii_case(NONE) {
            self.written.push((row, cell.into()));
        }
    }
}

pub(super) fn is_missing(cell: &str) -> bool {
    cell.is_empty() || MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// The line on which a row begins, from 1. The reader stands before it: at the second half of a `\r\n`, or at empty
/// lines.
fn line_of(text: &str, before: &Position) -> u64 {
    let rest = usize::try_from(before.byte())
        .ok()
        .and_then(|at| text.as_bytes().get(at..));
    let ends = rest.unwrap_or_default().iter();
    let ends = ends.take_while(|byte| b"\r\n".contains(byte));
    before.line() + ends.filter(|&&byte| byte == b'\n').count() as u64
}

fn fault(text: &str, error: &csv::Error) -> Fault {
    let kind = match error.kind() {
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => ImportErrorKind::UnequalCells {
            cells: *len,
            header: *expected_len,
        },
        _ => ImportErrorKind::Csv(error.to_string()),
    };
    let line = error
        .position()
        .map(|position| Place::Line(line_of(text, position)));
    Fault { place: line, kind }
}
