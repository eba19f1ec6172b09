//! Packed columns as pages of a Parquet file.
//!
//! Numbers that differ from row to row are written as differences (`DELTA_BINARY_PACKED`), values that
//! rows share as a dictionary; what zstd makes hardly smaller is left as it is.

mod deltas;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::FixedState;
use polars::prelude::PolarsResult;
use polars_parquet::parquet::CowBuffer;
use polars_parquet::parquet::compression::Compression;
use polars_parquet::parquet::encoding::Encoding;
use polars_parquet::parquet::encoding::hybrid_rle::Encoder;
use polars_parquet::parquet::metadata::Descriptor;
use polars_parquet::parquet::page::{
    CompressedDataPage, CompressedDictPage, CompressedPage, DataPage, DataPageHeader,
    DataPageHeaderV1, DictPage, Page,
};
use polars_parquet::parquet::schema::types::{PhysicalType, PrimitiveLogicalType};
use polars_parquet::parquet::statistics::{
    BinaryStatistics, BooleanStatistics, ParquetStatistics, PrimitiveStatistics,
};

pub(super) use zstd::bulk::Compressor;

use self::deltas::{number_range, put_deltas, put_uleb};
use crate::table::{Packed, Shared, Values};

/// A dictionary is worth it when its values are at most one in so many rows.
const ROWS_A_VALUE: usize = 8;

/// Takes half the time of level 1, and a fortieth more room.
const ZSTD_LEVEL: i32 = -1;

/// What pages are compressed with: one for those of a group.
///
/// # Errors
/// When there is no memory for it.
pub(super) fn compressor() -> PolarsResult<Compressor<'static>> {
    Ok(Compressor::new(ZSTD_LEVEL)?)
}

/// Compressed pages are kept when they are smaller by at least one in so many bytes.
const GAIN: usize = 16;

/// The pages of all columns of a group of rows.
///
/// # Errors
/// When compression fails.
pub(super) fn all_pages(
    columns: &[Packed<'_>],
    leaves: &[Descriptor],
    zstd: &mut Compressor<'_>,
) -> PolarsResult<Vec<Vec<CompressedPage>>> {
    let columns = columns.iter().zip(leaves);
    columns
        .map(|(column, of)| pages(column, of, zstd))
        .collect()
}

/// The pages of one column in a group of rows: that of the dictionary, where there is one, and one of
/// the data.
///
/// # Errors
/// When compression fails.
fn pages(
    column: &Packed<'_>,
    of: &Descriptor,
    zstd: &mut Compressor<'_>,
) -> PolarsResult<Vec<CompressedPage>> {
    match column {
        Packed::Numbers(numbers) => delta(numbers.values(), numbers.valid(), of, zstd),
        Packed::Reals(reals) => plain(reals, of, zstd),
        Packed::Truths(truths) => bits(truths, of, zstd),
        Packed::Shared { keys, runs, values } => {
            let rows = Rows { keys, runs };
            shared(rows, values, of, zstd)
        }
    }
}

/// Which value each row has, and the same as runs.
#[derive(Clone, Copy)]
struct Rows<'a> {
    keys: &'a [u32],
    runs: &'a [(u32, u32)],
}

fn shared(
    rows: Rows<'_>,
    values: &[Option<Shared<'_>>],
    of: &Descriptor,
    zstd: &mut Compressor<'_>,
) -> PolarsResult<Vec<CompressedPage>> {
    let is_text = of.primitive_type.physical_type == PhysicalType::ByteArray;
    let whole = |value: Option<Shared<'_>>| match value {
        Some(Shared::Whole(value)) => Some(value),
        _ => None,
    };
    let text = |value| match value {
        Some(Shared::Text(value)) => Some(value),
        _ => None,
    };
    if is_text {
        let texts = values.iter().map(|&value| text(value));
        return dictionary(rows, &Distinct::of(texts), of, zstd);
    }
    let numbers = values.iter().map(|&value| whole(value));
    let distinct = Distinct::of(numbers.clone());
    if distinct.values.len() <= rows.keys.len() / ROWS_A_VALUE || rows.keys.len() < ROWS_A_VALUE {
        return dictionary(rows, &distinct, of, zstd);
    }
    let numbers: Vec<Option<i64>> = numbers.collect();
    let cells = || rows.keys.iter().map(|&key| numbers[key as usize]);
    let valid: Vec<bool> = cells().map(|cell| cell.is_some()).collect();
    let values: Vec<i64> = cells().flatten().collect();
    let any_null = values.len() < valid.len();
    delta(&values, any_null.then_some(&valid), of, zstd)
}

/// Values without those that repeat.
struct Distinct<T> {
    values: Vec<T>,
    /// For each of the values with repeats its place in `values`, or [`NULL`].
    places: Vec<u32>,
}

/// The place of what is no value.
const NULL: u32 = u32::MAX;

impl<T: Copy + Eq + Hash> Distinct<T> {
    fn of(all: impl Iterator<Item = Option<T>>) -> Self {
        let mut found: HashMap<T, u32, FixedState> = HashMap::default();
        let mut values = Vec::new();
        let mut place = |value: T| {
            *found.entry(value).or_insert_with(|| {
                values.push(value);
                values.len() as u32 - 1
            })
        };
        let places = all.map(|value| value.map_or(NULL, &mut place)).collect();
        Self { values, places }
    }
}

/// A value of a dictionary.
trait Word: Copy + Ord {
    fn put(self, out: &mut Vec<u8>);
    fn statistics(range: Option<(Self, Self)>, nulls: usize, of: &Descriptor) -> ParquetStatistics;
}

impl Word for &str {
    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.len() as u32).to_le_bytes());
        out.extend_from_slice(self.as_bytes());
    }

    fn statistics(range: Option<(Self, Self)>, nulls: usize, of: &Descriptor) -> ParquetStatistics {
        BinaryStatistics {
            primitive_type: of.primitive_type.clone(),
            null_count: Some(nulls as i64),
            distinct_count: None,
            max_value: range.map(|(_, max)| max.as_bytes().to_vec()),
            min_value: range.map(|(min, _)| min.as_bytes().to_vec()),
        }
        .serialize()
    }
}

impl Word for i64 {
    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn statistics(range: Option<(Self, Self)>, nulls: usize, of: &Descriptor) -> ParquetStatistics {
        // The bits of counts from 2^63 on would be in another order.
        let unsigned = matches!(
            of.primitive_type.logical_type,
            Some(PrimitiveLogicalType::Integer(_))
        );
        let range = range.filter(|&(min, _)| min >= 0 || !unsigned);
        PrimitiveStatistics::<i64> {
            primitive_type: of.primitive_type.clone(),
            null_count: Some(nulls as i64),
            distinct_count: None,
            max_value: range.map(|(_, max)| max),
            min_value: range.map(|(min, _)| min),
        }
        .serialize()
    }
}

fn range<T: Word>(values: &[T]) -> Option<(T, T)> {
    let first = *values.first()?;
    let range = values.iter().fold((first, first), |(min, max), &value| {
        (min.min(value), max.max(value))
    });
    Some(range)
}

fn dictionary<T: Word>(
    shared: Rows<'_>,
    distinct: &Distinct<T>,
    of: &Descriptor,
    zstd: &mut Compressor<'_>,
) -> PolarsResult<Vec<CompressedPage>> {
    let values = &distinct.values;
    let mut words = Vec::new();
    for value in values {
        value.put(&mut words);
    }

    // A width of 0 is allowed, but not all readers know that.
    let width = (usize::BITS - values.len().saturating_sub(1).leading_zeros()).max(1);
    let rows: usize = shared.keys.len();
    let as_runs = is_shorter_as_runs(shared.runs.len(), rows, width);
    let bits = if as_runs {
        0
    } else {
        (width + 1) as usize * rows
    };
    let mut out = Vec::with_capacity(bits / 8 + 256);
    let mut nulls = 0;
    let code = |key: u32| distinct.places[key as usize];
    if as_runs {
        let runs = shared.runs.iter().map(|&(key, len)| (code(key), len));
        let runs = merged(runs);
        let valid = merged(runs.iter().map(|&(code, len)| (code != NULL, len)));
        put_level_runs(&mut out, &valid)?;
        out.push(width as u8);
        let some = runs.into_iter().filter(|&(code, _)| code != NULL);
        for (code, len) in merged(some) {
            u32::run_length_encode(&mut out, len as usize, code, width)?;
        }
        let null_runs = valid.iter().filter(|(valid, _)| !valid);
        nulls = null_runs.map(|&(_, len)| len as usize).sum();
    } else if distinct.places.contains(&NULL) {
        let mut codes: Vec<u32> = shared.keys.iter().map(|&key| code(key)).collect();
        let valid: Vec<bool> = codes.iter().map(|&code| code != NULL).collect();
        put_levels(&mut out, Some(&valid), rows)?;
        codes.retain(|&code| code != NULL);
        nulls = rows - codes.len();
        out.push(width as u8);
        u32::bitpacked_encode(&mut out, codes.into_iter(), width as usize)?;
    } else {
        put_levels(&mut out, None, rows)?;
        out.push(width as u8);
        let codes = shared.keys.iter().map(|&key| code(key));
        u32::bitpacked_encode(&mut out, codes, width as usize)?;
    }
    let encoded = Encoded {
        dictionary: Some((words, values.len())),
        data: out,
        rows,
        encoding: Encoding::RleDictionary,
        statistics: T::statistics(range(values), nulls, of),
    };
    encoded.pages(of, zstd)
}

fn delta(
    values: &[i64],
    valid: Option<&[bool]>,
    of: &Descriptor,
    zstd: &mut Compressor<'_>,
) -> PolarsResult<Vec<CompressedPage>> {
    let rows = valid.map_or(values.len(), <[bool]>::len);
    let mut out = Vec::with_capacity(values.len() * 4);
    put_levels(&mut out, valid, rows)?;
    put_deltas(&mut out, values);
    Encoded::values(
        out,
        rows,
        Encoding::DeltaBinaryPacked,
        i64::statistics(number_range(values), rows - values.len(), of),
    )
    .pages(of, zstd)
}

/// Real numbers, eight bytes each (`PLAIN`).
fn plain(
    reals: &Values<f64>,
    of: &Descriptor,
    zstd: &mut Compressor<'_>,
) -> PolarsResult<Vec<CompressedPage>> {
    let (values, rows) = (reals.values(), reals.len());
    let mut out = Vec::with_capacity(values.len() * 8 + 64);
    put_levels(&mut out, reals.valid(), rows)?;
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let range = values.iter().fold(None, |range, &value| {
        let (min, max) = range.unwrap_or((value, value));
        Some((value.min(min), value.max(max)))
    });
    // There are two zeros, and a range that begins or ends with one has both.
    let zeros = range.map(|(min, max): (f64, f64)| {
        let min = if min == 0.0 { -0.0 } else { min };
        (min, if max == 0.0 { 0.0 } else { max })
    });
    let statistics = PrimitiveStatistics::<f64> {
        primitive_type: of.primitive_type.clone(),
        null_count: Some((rows - values.len()) as i64),
        distinct_count: None,
        max_value: zeros.map(|(_, max)| max),
        min_value: zeros.map(|(min, _)| min),
    };
    Encoded::values(out, rows, Encoding::Plain, statistics.serialize()).pages(of, zstd)
}

/// Yes or no (`PLAIN`).
fn bits(
    truths: &Values<bool>,
    of: &Descriptor,
    zstd: &mut Compressor<'_>,
) -> PolarsResult<Vec<CompressedPage>> {
    let (values, rows) = (truths.values(), truths.len());
    let mut out = Vec::with_capacity(rows / 8 + 8);
    put_levels(&mut out, truths.valid(), rows)?;
    put_bits(&mut out, values);
    let statistics = BooleanStatistics {
        null_count: Some((rows - values.len()) as i64),
        distinct_count: None,
        max_value: values.iter().copied().max(),
        min_value: values.iter().copied().min(),
    };
    Encoded::values(out, rows, Encoding::Plain, statistics.serialize()).pages(of, zstd)
}

/// Yes or no, eight a byte, the first in its lowest bit.
fn put_bits(out: &mut Vec<u8>, truths: &[bool]) {
    /// Moves the lowest bit of each of eight bytes into the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let byte = |truths: [bool; 8]| {
        let bytes = u64::from_le_bytes(truths.map(u8::from));
        (bytes.wrapping_mul(GATHER) >> 56) as u8
    };
    let (eights, rest) = truths.as_chunks();
    out.extend(eights.iter().map(|&eight| byte(eight)));
    if !rest.is_empty() {
        let mut eight = [false; 8];
        eight[..rest.len()].copy_from_slice(rest);
        out.push(byte(eight));
    }
}

/// Whether small numbers take less room as so many runs than packed into bits.
fn is_shorter_as_runs(runs: usize, rows: usize, width: u32) -> bool {
    /// Most bytes that a run takes, besides its value: it is no longer than a group of rows.
    const RUN_BYTES: usize = 3;
    runs * (RUN_BYTES + width.div_ceil(8) as usize) < rows * width as usize / 8 || runs <= 1
}

/// Runs without those that go on with the value of the one before.
fn merged<T: PartialEq>(runs: impl Iterator<Item = (T, u32)>) -> Vec<(T, u32)> {
    let mut merged: Vec<(T, u32)> = Vec::new();
    for (value, len) in runs {
        match merged.last_mut() {
            Some((last, so_far)) if *last == value => *so_far += len,
            _ => merged.push((value, len)),
        }
    }
    merged
}

/// Which rows are null: definition levels, preceded by their length.
fn put_levels(out: &mut Vec<u8>, valid: Option<&[bool]>, rows: usize) -> PolarsResult<()> {
    let Some(valid) = valid else {
        return put_level_runs(out, &[(true, rows as u32)]);
    };
    if is_shorter_as_runs(1 + changes(valid), rows, 1) {
        let runs = valid.chunk_by(PartialEq::eq);
        let runs: Vec<_> = runs.map(|run| (run[0], run.len() as u32)).collect();
        return put_level_runs(out, &runs);
    }
    with_length(out, |out| {
        // How many bytes follow, and that they are no run.
        put_uleb(out, valid.len().div_ceil(8) << 1 | 1);
        put_bits(out, valid);
        Ok(())
    })
}

/// How many values differ from the one before.
fn changes(values: &[bool]) -> usize {
    // In parts whose sums are bytes: of these the compiler adds up many at once.
    const PART: usize = u8::MAX as usize;
    let next = values.get(1..).unwrap_or_default();
    let parts = values.chunks(PART).zip(next.chunks(PART));
    let of_part = |(values, next): (&[bool], &[bool])| -> u8 {
        let pairs = values.iter().zip(next);
        pairs.map(|(value, next)| u8::from(value != next)).sum()
    };
    parts.map(of_part).map(usize::from).sum()
}

fn put_level_runs(out: &mut Vec<u8>, runs: &[(bool, u32)]) -> PolarsResult<()> {
    with_length(out, |out| {
        for &(valid, len) in runs {
            bool::run_length_encode(out, len as usize, valid, 1)?;
        }
        Ok(())
    })
}

/// Puts something behind its length in bytes.
fn with_length(
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut Vec<u8>) -> PolarsResult<()>,
) -> PolarsResult<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    put(out)?;
    let bytes = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&bytes.to_le_bytes());
    Ok(())
}

/// The encoded cells of one column in a group of rows.
struct Encoded {
    /// The words of the dictionary, and how many there are.
    dictionary: Option<(Vec<u8>, usize)>,
    data: Vec<u8>,
    rows: usize,
    encoding: Encoding,
    statistics: ParquetStatistics,
}

impl Encoded {
    /// Cells that need no dictionary.
    fn values(
        data: Vec<u8>,
        rows: usize,
        encoding: Encoding,
        statistics: ParquetStatistics,
    ) -> Self {
        Self {
            dictionary: None,
            data,
            rows,
            encoding,
            statistics,
        }
    }

    fn pages(
        self,
        of: &Descriptor,
        zstd: &mut Compressor<'_>,
    ) -> PolarsResult<Vec<CompressedPage>> {
        let header = DataPageHeader::V1(DataPageHeaderV1 {
            num_values: self.rows as i32,
            encoding: self.encoding.into(),
            definition_level_encoding: Encoding::Rle.into(),
            repetition_level_encoding: Encoding::Rle.into(),
            statistics: Some(self.statistics),
        });
        let dictionary = self
            .dictionary
            .map(|(words, count)| Page::Dict(DictPage::new(CowBuffer::Owned(words), count, false)));
        let data = CowBuffer::Owned(self.data);
        let data = Page::Data(DataPage::new(header, data, of.clone(), self.rows));
        compressed(dictionary.into_iter().chain([data]).collect(), zstd)
    }
}

/// The pages of a column, compressed where that makes them smaller.
///
/// # Errors
/// When compression fails.
fn compressed(pages: Vec<Page>, zstd: &mut Compressor<'_>) -> PolarsResult<Vec<CompressedPage>> {
    let bytes = |page: &Page| match page {
        Page::Data(page) => page.buffer().len(),
        Page::Dict(page) => page.buffer.len(),
    };
    let small = pages.iter().map(|page| {
        Ok(match page {
            Page::Data(page) => zstd.compress(page.buffer())?,
            Page::Dict(page) => zstd.compress(&page.buffer)?,
        })
    });
    let small: Vec<Vec<u8>> = small.collect::<PolarsResult<_>>()?;
    let long: usize = pages.iter().map(bytes).sum();
    let short: usize = small.iter().map(Vec::len).sum();
    // One way for all pages of a column.
    let is_worth_it = short + long / GAIN <= long;
    let compression = if is_worth_it {
        Compression::Zstd
    } else {
        Compression::Uncompressed
    };
    let choose = |plain, small| {
        if is_worth_it {
            CowBuffer::Owned(small)
        } else {
            plain
        }
    };
    let pages = pages.into_iter().zip(small);
    let pages = pages.map(|(page, small)| {
        let bytes = bytes(&page);
        match page {
            Page::Dict(page) => CompressedPage::Dict(CompressedDictPage::new(
                choose(page.buffer, small),
                compression,
                bytes,
                page.num_values,
                page.is_sorted,
            )),
            Page::Data(mut page) => CompressedPage::Data(CompressedDataPage::new(
                page.header().clone(),
                choose(CowBuffer::Owned(std::mem::take(page.buffer_mut())), small),
                compression,
                bytes,
                page.descriptor.clone(),
                page.num_rows().unwrap_or(0),
            )),
        }
    });
    Ok(pages.collect())
}
