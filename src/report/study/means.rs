//! Means and their intervals, medians and quartiles as they are read: in one column, with the digits that count.

use std::collections::BTreeMap;

use super::digits::rounded;
use crate::table::cells::Cell;

/// A column as it is in a table: its name and its cells.
type Column = (String, Vec<Cell>);

/// Columns, of which a mean, half of its interval (or both of its ends) and the number of its values are one. `above`:
/// what stands above columns, by their names.
pub(super) fn merged(columns: &[Column], above: &BTreeMap<String, String>) -> Vec<Column> {
    const ENDINGS: [&str; 5] = ["_mean", "_ci95_half", "_n", "_ci95_low", "_ci95_high"];
    const OF_INTERVALS: [&str; 2] = [ENDINGS[1], ENDINGS[4]];
    let base = |name: &str| {
        let (place, ending) = (0..)
            .zip(ENDINGS)
            .find(|(_, ending)| name.ends_with(ending))?;
        Some((name.strip_suffix(ending)?.to_owned(), place))
    };
    let has = |name: String| columns.iter().any(|(known, _)| *known == name);
    let is_mean = |of: &str| {
        let mut names = OF_INTERVALS.iter().map(|ending| format!("{of}{ending}"));
        has(format!("{of}{}", ENDINGS[0])) && names.any(has)
    };
    let cells = |name: &str| {
        columns
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, cells)| cells)
    };
    // How many values all of a row have, or those of its columns below the same words.
    let usual = |name: &str| match above.get(name) {
        Some(above) => cells(&format!("{above}_n")),
        None => cells("n"),
    };
    let mut merged = Vec::new();
    for (name, own) in columns {
        if let Some((of, place)) = median_of(name, cells) {
            if place == 0 {
                let medians = medians(&of, (own, usual(name)), cells);
                merged.push((of, medians));
            }
            continue;
        }
        let Some((of, place)) = base(name).filter(|(of, _)| is_mean(of)) else {
            merged.push((name.clone(), own.clone()));
            continue;
        };
        if place > 0 {
            continue;
        }
        let [halves, counts, lows, highs] =
            [1, 2, 3, 4].map(|place| cells(&format!("{of}{}", ENDINGS[place])));
        let mean = |row: usize| {
            let at =
                |cells: Option<&Vec<Cell>>| cells.map_or(Cell::Null, |cells| cells[row].clone());
            let count = at(counts);
            // The interval of a mean lies evenly about it.
            let between = || Some((at(highs).number()? - at(lows).number()?) / 2.0);
            own[row].number().map_or(Cell::Null, |value| Cell::Mean {
                value,
                half: at(halves).number().or_else(between),
                n: count
                    .number()
                    .filter(|_| count != at(usual(name)))
                    .map(|n| n as u64),
            })
        };
        let means = (0..own.len()).map(mean).collect();
        merged.push((of, means));
    }
    merged
}

/// What the columns of a median, its quartiles and the number of its values end in.
const OF_MEDIANS: [&str; 4] = ["_median", "_q1", "_q3", "_n"];

/// Of what a column is the median, or what belongs to one, and which of these; where all are there.
fn median_of<'c>(
    name: &str,
    cells: impl Fn(&str) -> Option<&'c Vec<Cell>>,
) -> Option<(String, usize)> {
    let mut endings = OF_MEDIANS.iter().enumerate();
    let (place, ending) = endings.find(|(_, ending)| name.ends_with(**ending))?;
    let of = name.strip_suffix(ending)?;
    let mut all = OF_MEDIANS.iter();
    all.all(|ending| cells(&format!("{of}{ending}")).is_some())
        .then(|| (of.to_owned(), place))
}

/// Medians with their quartiles, and with their own number of values where that of the row is another.
fn medians<'c>(
    of: &str,
    (own, usual): (&[Cell], Option<&Vec<Cell>>),
    cells: impl Fn(&str) -> Option<&'c Vec<Cell>>,
) -> Vec<Cell> {
    let cell = |cells: Option<&Vec<Cell>>, row: usize| {
        cells.map_or(Cell::Null, |cells| cells[row].clone())
    };
    let at = |name: &str, row: usize| cell(cells(name), row);
    let [low, high, count] = [1, 2, 3].map(|place| format!("{of}{}", OF_MEDIANS[place]));
    let median = |row: usize| {
        let (n, usual) = (at(&count, row), cell(usual, row));
        own[row].number().map_or(Cell::Null, |value| Cell::Median {
            value,
            quartiles: (n != Cell::Whole(1))
                .then(|| Some([at(&low, row).number()?, at(&high, row).number()?]))
                .flatten(),
            n: n.number().filter(|_| n != usual).map(|n| n as u64),
        })
    };
    (0..own.len()).map(median).collect()
}

/// A median with its quartiles in brackets.
pub(super) fn shown_median(value: f64, quartiles: Option<[f64; 2]>, n: Option<u64>) -> String {
    let text = match quartiles.map(|quartiles| quartiles.map(rounded)) {
        Some([low, high]) => format!("{} [{low}, {high}]", rounded(value)),
        None => rounded(value),
    };
    with_number(text, n)
}

/// A text with the number of values behind it, where there is one.
fn with_number(text: String, n: Option<u64>) -> String {
    match n {
        Some(n) => format!("{text} (n = {n})"),
        None => text,
    }
}

/// A mean: the half of its interval with two digits that count, and itself with as many behind the point; two of its
/// own where that is wide.
pub(super) fn shown(value: f64, half: Option<f64>, n: Option<u64>) -> String {
    const DIGITS_MAX: i32 = 12;
    let text = match half {
        None => rounded(value),
        Some(half) if half > 0.0 => {
            let behind = |of: f64| 1 - of.log10().floor() as i32;
            let own = if value == 0.0 { 0 } else { behind(value.abs()) };
            let digits = behind(half).max(own).clamp(0, DIGITS_MAX) as usize;
            format!("{value:.digits$} ± {half:.digits$}")
        }
        Some(_) => format!("{} ± 0", rounded(value)),
    };
    with_number(text, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_its_interval_and_their_number_are_one_column() {
        let real = |of: [Option<f64>; 2]| of.map(|of| of.map_or(Cell::Null, Cell::Real)).to_vec();
        let whole = |of: [i128; 2]| of.map(Cell::Whole).to_vec();
        let columns = [
            ("n", whole([3, 3])),
            ("rtt_ms_mean", real([Some(9.0), Some(8.0)])),
            ("rtt_ms_ci95_half", real([Some(2.0), None])),
            ("rtt_ms_n", whole([2, 3])),
            ("fness_mean", real([Some(0.5), None])),
        ];
        let columns = columns.map(|(name, cells)| (name.to_owned(), cells));
        let merged = merged(&columns, &BTreeMap::new());
        let names: Vec<&str> = merged.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["n", "rtt_ms", "fness_mean"]);
        let mean = |value, half, n| Cell::Mean { value, half, n };
        let means = [mean(9.0, Some(2.0), Some(2)), mean(8.0, None, None)];
        assert_eq!(merged[1].1, means);
    }

    #[test]
    fn the_ends_of_an_interval_are_half_of_it_on_either_side() {
        let real = |of: [Option<f64>; 2]| of.map(|of| of.map_or(Cell::Null, Cell::Real)).to_vec();
        let columns = [
            ("pm_mean", real([Some(9.0), Some(8.0)])),
            ("pm_ci95_low", real([Some(7.0), None])),
            ("pm_ci95_high", real([Some(11.0), None])),
        ];
        let columns = columns.map(|(name, cells)| (name.to_owned(), cells));
        let merged = merged(&columns, &BTreeMap::new());
        let mean = |value, half| Cell::Mean {
            value,
            half,
            n: None,
        };
        let means = vec![mean(9.0, Some(2.0)), mean(8.0, None)];
        assert_eq!(merged, [("pm".to_owned(), means)]);
    }

    #[test]
    fn a_median_stands_before_its_quartiles() {
        let real = |of: [Option<f64>; 3]| of.map(|of| of.map_or(Cell::Null, Cell::Real)).to_vec();
        let columns = [
            ("n", [5, 1, 5].map(Cell::Whole).to_vec()),
            ("rtt_ms_median", real([Some(9.0), Some(8.0), None])),
            ("rtt_ms_q1", real([Some(7.5), Some(8.0), None])),
            ("rtt_ms_q3", real([Some(12.0), Some(8.0), None])),
            ("rtt_ms_n", [4, 1, 0].map(Cell::Whole).to_vec()),
            // Of one that lacks the number of its values each is a column of its own.
            ("fness_median", real([Some(0.5), None, None])),
            ("fness_q1", real([Some(0.25), None, None])),
        ];
        let columns = columns.map(|(name, cells)| (name.to_owned(), cells));
        let merged = merged(&columns, &BTreeMap::new());
        let names: Vec<&str> = merged.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["n", "rtt_ms", "fness_median", "fness_q1"]);
        let shown = merged[1].1.iter().map(super::super::text::shown);
        let shown: Vec<String> = shown.collect();
        assert_eq!(shown, ["9 [7.5, 12] (n = 4)", "8", ""]);
    }

    #[test]
    fn means_have_as_many_digits_as_their_intervals() {
        for (value, half, n, text) in [
            (9.496_7, Some(0.048_3), None, "9.497 ± 0.048"),
            (94.97, Some(12.3), None, "95 ± 12"),
            (3.081, Some(12.34), None, "3.1 ± 12.3"),
            (12_345.6, Some(234.0), Some(2), "12346 ± 234 (n = 2)"),
            (0.5, None, Some(1), "0.5 (n = 1)"),
            (8.5, Some(0.0), None, "8.5 ± 0"),
        ] {
            assert_eq!(shown(value, half, n), text);
        }
    }

    #[test]
    fn below_the_same_words_columns_have_a_usual_number_of_their_own() {
        let columns = [
            ("deep_n", vec![Cell::Whole(3)]),
            ("deep_rtt_ms_mean", vec![Cell::Real(9.0)]),
            ("deep_rtt_ms_ci95_half", vec![Cell::Real(2.0)]),
            ("deep_rtt_ms_n", vec![Cell::Whole(3)]),
            ("shallow_n", vec![Cell::Whole(5)]),
            ("shallow_rtt_ms_median", vec![Cell::Real(7.0)]),
            ("shallow_rtt_ms_q1", vec![Cell::Real(6.0)]),
            ("shallow_rtt_ms_q3", vec![Cell::Real(8.0)]),
            ("shallow_rtt_ms_n", vec![Cell::Whole(4)]),
        ];
        let above = columns.each_ref().map(|(name, _)| {
            let (above, _) = name.split_once('_').unwrap();
            ((*name).to_owned(), above.to_owned())
        });
        let columns = columns.map(|(name, cells)| (name.to_owned(), cells));
        let merged = merged(&columns, &above.into_iter().collect());
        let names: Vec<&str> = merged.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["deep_n", "deep_rtt_ms", "shallow_n", "shallow_rtt_ms"]
        );
        let shown = merged
            .iter()
            .map(|(_, cells)| super::super::text::shown(&cells[0]));
        let shown: Vec<String> = shown.collect();
        assert_eq!(shown, ["3", "9.0 ± 2.0", "5", "7 [6, 8] (n = 4)"]);
    }
}
