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
    let schema = reader.schema().map_err(|error| fault(&error))?;
    check_cells(rows.saturating_mul(schema.len() as u64))?;
    if rows == 0 {
        return Err(ImportErrorKind::NoRows.into());
    }
    check_pages(bytes, &mut reader)?;
    // A table of runs has when they began and the like beside what is asked for: that must not keep it from being read.
    let fields = || schema.iter_values();
    let readable = fields()
        .enumerate()
        .filter(|(_, of)| is_readable(&of.dtype));
    let reader = reader.with_projection(Some(readable.map(|(place, _)| place).collect()));
    let frame = reader.finish().map_err(|error| fault(&error))?;
    let mut read = frame.columns().iter();
    let column = |of: &ArrowField| {
        let found = if is_readable(&of.dtype) {
            read.next()
        } else {
            None
        };
        found.map_or_else(|| Ok(other(of, rows as usize)), column)
    };
    Ok(MeasuredTable {
        format: MeasuredFormat::Parquet,
        columns: fields().map(column).collect::<Result<_, _>>()?,
        series: Vec::new(),
        metadata: BTreeMap::new(),
        lines: Vec::new(),
    })
}

/// Whether a column has numbers or texts.
fn is_readable(kind: &ArrowDataType) -> bool {
    use ArrowDataType as Kind;
    match kind {
        Kind::Null
        | Kind::Boolean
        | Kind::Int8
        | Kind::Int16
        | Kind::Int32
        | Kind::Int64
        | Kind::UInt8
        | Kind::UInt16
        | Kind::UInt32
        | Kind::UInt64
        | Kind::Float32
        | Kind::Float64
        | Kind::Decimal(..)
        | Kind::Decimal32(..)
        | Kind::Decimal64(..)
        | Kind::Binary
        | Kind::LargeBinary
        | Kind::BinaryView
        | Kind::Utf8
        | Kind::LargeUtf8
        | Kind::Utf8View => true,
        Kind::Dictionary(_, kind, _) => is_readable(kind),
        _ => false,
    }
}

/// A column of something else.
fn other(field: &ArrowField, cells: usize) -> MeasuredColumn {
    use ArrowDataType as Kind;
    let kind = match &field.dtype {
        Kind::Timestamp(..) => "timestamp".to_owned(),
        Kind::Date32 | Kind::Date64 => "date".to_owned(),
        Kind::Time32(_) | Kind::Time64(_) => "time of day".to_owned(),
        Kind::Duration(_) => "duration".to_owned(),
        Kind::List(_) | Kind::LargeList(_) | Kind::FixedSizeList(..) => "list".to_owned(),
        Kind::Struct(_) => "struct".to_owned(),
        Kind::Map(..) => "map".to_owned(),
        // The reader of polars takes it for what cannot be.
        Kind::Float16 => "float of 16 bits".to_owned(),
        kind => format!("{kind:?}"),
    };
    MeasuredColumn::new(field.name.as_str(), MeasuredValues::Other { kind, cells })
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
        kind if kind.is_primitive_numeric() || kind.is_decimal() => numbers(column)?,
        _ => texts(column)?,
    };
    let mut measured = MeasuredColumn::new(column.name().as_str(), values);
    if *column.dtype() == DataType::Float32 {
        measured.written = as_short(&measured.values);
    }
    Ok(measured)
}

/// What numbers of half the digits are as labels: 0.1, and not 0.10000000149011612, which another table that has 0.1
/// would not be the same as.
fn as_short(values: &MeasuredValues) -> Vec<(usize, Box<str>)> {
    let MeasuredValues::Numbers(numbers) = values else {
        return Vec::new();
    };
    let numbers = numbers.iter().enumerate();
    let texts = numbers.filter_map(|(row, number)| {
        let number = (*number)?;
        let short = (number as f32).to_string();
        (short != number.to_string()).then(|| (row, short.into()))
    });
    texts.collect()
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
