//! Apache Parquet.

mod pages;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::panic::catch_unwind;

use polars::prelude::*;

use super::error::{Fault, ImportErrorKind};
use super::{
    BYTES_MAX, MeasuredColumn, MeasuredFormat, MeasuredTable, MeasuredValues, check_cells,
};

/// First bytes of a file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// Reads a file whose pages hold what its end says.
///
/// Where they do not, polars may panic, which is a fault of the file here; or ask for more memory
/// than there is, which is why lengths of pages are looked at before.
pub(super) fn parse(bytes: &[u8]) -> Result<MeasuredTable, Fault> {
    catch_unwind(|| table(bytes)).unwrap_or_else(|_| Err(damaged()))
}

fn damaged() -> Fault {
    let text = "its pages do not hold what its end says: it is damaged";
    ImportErrorKind::Parquet(text.to_owned()).into()
}

fn table(bytes: &[u8]) -> Result<MeasuredTable, Fault> {
    let mut reader = ParquetReader::new(Cursor::new(bytes));
    // By the word of the file's end, before anything is decoded: a few bytes can stand for very
    // many equal cells.
    let rows = reader.num_rows().map_err(|error| fault(&error))? as u64;
    let columns = reader.schema().map_err(|error| fault(&error))?.len() as u64;
    check_cells(rows.saturating_mul(columns))?;
    if rows == 0 {
        return Err(ImportErrorKind::NoRows.into());
    }
    check_pages(bytes, &mut reader)?;
    let frame = reader.finish().map_err(|error| fault(&error))?;
    let columns = frame.columns().iter().map(column);
    Ok(MeasuredTable {
        format: MeasuredFormat::Parquet,
        columns: columns.collect::<Result<_, _>>()?,
        series: Vec::new(),
        metadata: BTreeMap::new(),
        lines: Vec::new(),
    })
}

/// Looks at the headers of all pages.
fn check_pages(bytes: &[u8], reader: &mut ParquetReader<Cursor<&[u8]>>) -> Result<(), Fault> {
    let metadata = reader.get_metadata().map_err(|error| fault(&error))?;
    for group in &metadata.row_groups {
        for chunk in group.parquet_columns() {
            let range = chunk.byte_range();
            let within = usize::try_from(range.start)
                .ok()
                .zip(usize::try_from(range.end).ok())
                .and_then(|(start, end)| bytes.get(start..end));
            within
                .and_then(|within| pages::check(within, chunk.num_values()))
                .ok_or_else(damaged)?;
        }
    }
    Ok(())
}

fn column(column: &Column) -> Result<MeasuredColumn, Fault> {
    let values = match column.dtype() {
        DataType::Null => MeasuredValues::Numbers(vec![None; column.len()]),
        kind if kind.is_primitive_numeric() => numbers(column)?,
        _ => texts(column)?,
    };
    Ok(MeasuredColumn::new(column.name().as_str(), values))
}

/// NaN stands for a missing value, as pandas writes it.
fn numbers(column: &Column) -> Result<MeasuredValues, Fault> {
    let cast = column
        .cast(&DataType::Float64)
        .map_err(|error| fault(&error))?;
    let numbers = cast.f64().map_err(|error| fault(&error))?;
    let present = |number: &f64| !number.is_nan();
    let numbers = numbers.iter().map(|number| number.filter(present));
    Ok(MeasuredValues::Numbers(numbers.collect()))
}

fn texts(column: &Column) -> Result<MeasuredValues, Fault> {
    let cast = column
        .cast(&DataType::String)
        .map_err(|_| unusable(column))?;
    let texts = cast.str().map_err(|error| fault(&error))?;
    // A dictionary keeps a long text once, however often it stands in the column.
    let bytes: usize = texts.iter().flatten().map(str::len).sum();
    if bytes as u64 > BYTES_MAX {
        return Err(too_large());
    }
    let texts = texts.iter().map(|text| text.map(str::to_owned));
    Ok(MeasuredValues::Texts(texts.collect()))
}

fn too_large() -> Fault {
    ImportErrorKind::TooLarge {
        limit_bytes: BYTES_MAX,
    }
    .into()
}

fn unusable(column: &Column) -> Fault {
    ImportErrorKind::Parquet(format!(
        "column '{}' is of type {}, neither number nor text: leave it out",
        column.name(),
        column.dtype()
    ))
    .into()
}

fn fault(error: &PolarsError) -> Fault {
    ImportErrorKind::Parquet(error.to_string()).into()
}
