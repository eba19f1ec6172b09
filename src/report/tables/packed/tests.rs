use std::io::Cursor;

use polars::prelude::*;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::table::Numbers;

/// A file with one column, read again by other code than wrote it.
fn write_and_read(column: &Packed<'_>, rows: usize, as_frame: &Series) -> Series {
    let empty = DataFrame::new(0, vec![as_frame.clear().into()]).unwrap();
    let mut file = Cursor::new(Vec::new());
    let mut writer = ParquetWriter::new(&mut file)
        .batched(empty.schema())
        .unwrap();
    let of = writer.parquet_schema().columns()[0].descriptor.clone();
    let pages = pages(column, &of, &mut compressor().unwrap()).unwrap();
    writer.write_row_group(rows as u64, &[pages]).unwrap();
    writer.finish().unwrap();
    let read = ParquetReader::new(file).finish().unwrap();
    read.columns()[0].as_materialized_series().clone()
}

/// Numbers of any size, many of them near each other.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0_i64..1000,
        1 => any::<i64>(),
        1 => Just(i64::MIN),
        1 => Just(i64::MAX),
    ]
}

fn cells<T: std::fmt::Debug>(
    cell: impl Strategy<Value = T>,
) -> impl Strategy<Value = Vec<Option<T>>> {
    let cell = std::rc::Rc::new(cell);
    // Without nulls, with some, and with nothing else.
    (0_u32..3).prop_flat_map(move |nulls| {
        let cell = cell.clone();
        vec((cell, 0_u32..2), 1..700).prop_map(move |cells| {
            let cells = cells.into_iter();
            let keep = move |some: u32| nulls == 0 || (nulls == 1 && some == 1);
            cells
                .map(|(cell, some)| keep(some).then_some(cell))
                .collect()
        })
    })
}

fn runs_of(keys: &[u32]) -> Vec<(u32, u32)> {
    merged(keys.iter().map(|&key| (key, 1)))
}

proptest! {
    #[test]
    fn numbers_are_read_as_they_were(cells in cells(number())) {
        let mut numbers = Numbers::default();
        numbers.extend_some(cells.iter().copied());
        let packed = Packed::Numbers(&numbers);
        let whole = Series::new("n".into(), &cells);
        prop_assert!(write_and_read(&packed, cells.len(), &whole).equals_missing(&whole));
        let counts: Vec<Option<u64>> =
            cells.iter().map(|cell| cell.map(|value| value as u64)).collect();
        let counts = Series::new("n".into(), counts);
        prop_assert!(write_and_read(&packed, cells.len(), &counts).equals_missing(&counts));
    }

    /// As in most columns: whole blocks of differences are 0, or all but one.
    #[test]
    fn numbers_that_stay_the_same_are_read_as_they_were(
        parts in vec((number(), 1_usize..400), 1..4),
    ) {
        let parts = parts.into_iter();
        let all: Vec<i64> = parts.flat_map(|(number, rows)| std::iter::repeat_n(number, rows)).collect();
        let mut numbers = Numbers::default();
        numbers.extend_all(&all);
        let whole = Series::new("n".into(), &all);
        prop_assert!(write_and_read(&Packed::Numbers(&numbers), all.len(), &whole).equals(&whole));
        let range = all.iter().min().copied().zip(all.iter().max().copied());
        prop_assert_eq!(number_range(&all), range);
    }

    #[test]
    fn yes_and_no_are_read_as_they_were(cells in cells(any::<bool>())) {
        let truths: Values<bool> = cells.iter().copied().collect();
        let expected = Series::new("n".into(), &cells);
        let read = write_and_read(&Packed::Truths(&truths), cells.len(), &expected);
        prop_assert!(read.equals_missing(&expected));
    }

    #[test]
    fn real_numbers_are_read_as_they_were(
        cells in cells(prop_oneof![any::<f64>().prop_filter("finite", |real| real.is_finite()), Just(0.0), Just(-0.0)]),
    ) {
        let reals: Values<f64> = cells.iter().copied().collect();
        let expected = Series::new("n".into(), &cells);
        let read = write_and_read(&Packed::Reals(&reals), cells.len(), &expected);
        prop_assert!(read.equals_missing(&expected));
    }

    /// Few values and many, each with repeats of its own.
    #[test]
    fn shared_values_are_read_as_they_were(
        values in cells("[a-c]{0,3}"),
        keys in vec(0_usize..700, 1..700),
        runs in 1_usize..40,
    ) {
        let keys: Vec<u32> = keys
            .iter()
            .flat_map(|key| std::iter::repeat_n((key % values.len()) as u32, runs))
            .collect();
        let texts = || values.iter().map(|value| value.as_deref());
        let expected: Vec<Option<&str>> =
            keys.iter().map(|&key| values[key as usize].as_deref()).collect();
        let expected = Series::new("n".into(), expected);
        let packed = Packed::Shared {
            keys: &keys,
            runs: &runs_of(&keys),
            values: texts().map(|text| text.map(Shared::Text)).collect(),
        };
        prop_assert!(write_and_read(&packed, keys.len(), &expected).equals_missing(&expected));
        let length = |text: &str| text.len() as i64 * 1000 + i64::from(text.as_bytes().first().copied().unwrap_or(0));
        let numbers: Vec<Option<i64>> = texts().map(|text| text.map(length)).collect();
        let expected: Vec<Option<i64>> =
            keys.iter().map(|&key| numbers[key as usize]).collect();
        let expected = Series::new("n".into(), expected);
        let packed = Packed::Shared {
            keys: &keys,
            runs: &runs_of(&keys),
            values: numbers.iter().map(|number| number.map(Shared::Whole)).collect(),
        };
        prop_assert!(write_and_read(&packed, keys.len(), &expected).equals_missing(&expected));
    }
}
