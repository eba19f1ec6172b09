//! Means and their intervals as they are read: in one column, with the digits that count.

use super::digits::rounded;
use crate::table::cells::Cell;

/// Columns, of which a mean, half of its interval and the number of its values are one.
pub(super) fn merged(columns: &[(String, Vec<Cell>)]) -> Vec<(String, Vec<Cell>)> {
    const ENDINGS: [&str; 3] = ["_mean", "_ci95_half", "_n"];
    let base = |name: &str| {
        let (place, ending) = (0..)
            .zip(ENDINGS)
            .find(|(_, ending)| name.ends_with(ending))?;
        Some((name.strip_suffix(ending)?.to_owned(), place))
    };
    let is_mean = |of: &str| {
        let name = format!("{of}{}", ENDINGS[1]);
        columns.iter().any(|(known, _)| *known == name)
    };
    let cells = |name: &str| {
        columns
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, cells)| cells)
    };
    let usual = cells("n");
    let mut merged = Vec::new();
    for (name, own) in columns {
        let Some((of, place)) = base(name).filter(|(of, _)| is_mean(of)) else {
            merged.push((name.clone(), own.clone()));
            continue;
        };
        if place > 0 {
            continue;
        }
        let [halves, counts] = [1, 2].map(|place| cells(&format!("{of}{}", ENDINGS[place])));
        let mean = |row: usize| {
            let at =
                |cells: Option<&Vec<Cell>>| cells.map_or(Cell::Null, |cells| cells[row].clone());
            let count = at(counts);
            own[row].number().map_or(Cell::Null, |value| Cell::Mean {
                value,
                half: at(halves).number(),
                n: count
                    .number()
                    .filter(|_| count != at(usual))
                    .map(|n| n as u64),
            })
        };
        let means = (0..own.len()).map(mean).collect();
        merged.push((of, means));
    }
    merged
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
    match n {
        Some(n) => format!("{text} (n = {n})"),
        None => text,
    }
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
        let merged = merged(&columns);
        let names: Vec<&str> = merged.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["n", "rtt_ms", "fness_mean"]);
        let mean = |value, half, n| Cell::Mean { value, half, n };
        let means = [mean(9.0, Some(2.0), Some(2)), mean(8.0, None, None)];
        assert_eq!(merged[1].1, means);
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
}
