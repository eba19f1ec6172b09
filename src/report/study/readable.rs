//! Tables of a study as they are read: columns called by words, and in units in which numbers are short.

use std::collections::BTreeMap;

use super::means;
use crate::study::Metric;
use crate::study::units::Unit;
use crate::table::StudyTable;
use crate::table::cells::{Cell, cells};

/// A column as it is read.
pub(in crate::report) struct ReadableColumn {
    /// What it is called: words, and the unit of its numbers.
    pub(in crate::report) heading: String,
    /// What stands above that, where it has it in common with its neighbours.
    pub(in crate::report) above: Option<String>,
    /// Its cells, in that unit.
    pub(in crate::report) cells: Vec<Cell>,
    /// It tells rows apart.
    pub(in crate::report) is_key: bool,
}

impl ReadableColumn {
    /// What it is called where nothing stands above it.
    pub(in crate::report) fn whole_heading(&self) -> String {
        match &self.above {
            Some(above) => format!("{above}: {}", self.heading),
            None => self.heading.clone(),
        }
    }
}

/// The columns of a table that hold anything; of a table without rows, all.
///
/// Numbers in bit/s, ns and bytes are in the unit that is right for the middle one of their column; where a row is
/// about a metric, for what that metric is like in the whole study. Ratios that the charts show in percent are in
/// percent. Labels stay as the manifest has them.
pub(in crate::report) fn columns(table: &StudyTable) -> Vec<ReadableColumn> {
    let columns = cells(&table.frame);
    // Means with their intervals first, as of one run each none has any.
    let mut columns = means::merged(&columns, &table.above);
    columns.retain(|(_, cells)| cells.is_empty() || cells.iter().any(holds_anything));
    let metrics = MetricUnits::of(&columns, &table.usual);
    let readable = |(name, cells): (String, Vec<Cell>)| {
        let is_key = table.keys.contains(&name);
        let above = above(table, &name).cloned();
        // Its own name is what comes behind that.
        let own = above.as_ref().and_then(|above| name.strip_prefix(above));
        let own = own.map(|own| own.trim_start_matches('_').to_owned());
        let name = own.unwrap_or(name);
        let cells = if is_key && !TIMES.contains(&name.as_str()) {
            cells.into_iter().map(label).collect()
        } else {
            cells
        };
        let (heading, cells) = if METRICS.contains(&name.as_str()) {
            (heading(&name, ""), metrics.named(cells))
        } else if let Some(power) = power_of_metric(&name) {
            (heading(&name, ""), metrics.scaled(cells, power))
        } else if table.shares.contains(&name) {
            // Where rows say what they are about, they say its unit, too.
            let symbol = if metrics.rows.is_empty() { "%" } else { "" };
            let cells = cells.into_iter().map(|cell| Scale::PERCENT.scaled(cell, 1));
            (heading(&name, symbol), cells.collect())
        } else if INSTANTS.contains(&name.as_str()) {
            let cells = cells.iter().map(in_utc).collect();
            (heading(&name, "UTC"), cells)
        } else {
            let scale = if is_key {
                Scale::own(&name)
            } else {
                Scale::of(&name, cells.iter().filter_map(Cell::number))
            };
            let cells = cells.into_iter().map(|cell| scale.scaled(cell, 1));
            let cells: Vec<Cell> = if PROBABILITIES.contains(&name.as_str()) {
                cells.map(probability).collect()
            } else {
                cells.collect()
            };
            (heading(&name, scale.symbol), cells)
        };
        ReadableColumn {
            heading,
            above,
            cells,
            is_key,
        }
    };
    columns.into_iter().map(readable).collect()
}

/// What stands above a column; above one that several became, as above each of these.
fn above<'t>(table: &'t StudyTable, name: &str) -> Option<&'t String> {
    let of = |ending: &str| table.above.get(&format!("{name}{ending}"));
    ["", "_mean", "_median"].into_iter().find_map(of)
}

/// Columns of times, which tell rows apart and are no labels.
const TIMES: [&str; 1] = ["time_s"];

/// Columns of what tests find as likely as the samples, which is never 0.
const PROBABILITIES: [&str; 7] = [
    "p",
    "anova_p",
    "kruskal_p",
    "welch_p",
    "welch_p_holm",
    "rank_p",
    "rank_p_holm",
];

/// A probability: numbers end a little below that power of ten, and what is less became 0.
fn probability(cell: Cell) -> Cell {
    const LEAST: i32 = -300;
    match cell {
        Cell::Real(number) if number < 10_f64.powi(LEAST) => Cell::Below(LEAST),
        cell => cell,
    }
}

/// A cell of a label.
fn label(cell: Cell) -> Cell {
    match cell {
        Cell::Real(number) => Cell::Label(number),
        cell => cell,
    }
}

/// Whether there is anything to read in a cell; flows of which there is nothing to say have a quality without words.
fn holds_anything(cell: &Cell) -> bool {
    match cell {
        Cell::Null => false,
        Cell::Text(text) => !text.is_empty(),
        _ => true,
    }
}

/// Columns that say what a row is about.
const METRICS: [&str; 2] = ["metric", "measure"];

/// Columns that are in the unit of what their row is about.
const OF_METRIC: [&str; 14] = [
    "mean",
    "median",
    "std_dev",
    "q1",
    "q3",
    "ci95_low",
    "ci95_high",
    "min",
    "max",
    "baseline_mean",
    "mean_a",
    "mean_b",
    "difference",
    "sum",
];

/// Columns that are in the square of that.
const OF_SQUARE: [&str; 4] = ["ss_between", "ms_between", "ss_within", "ms_within"];

/// The power of the unit of its row's metric that a column is in.
fn power_of_metric(name: &str) -> Option<i32> {
    if OF_METRIC.contains(&name) {
        Some(1)
    } else {
        OF_SQUARE.contains(&name).then_some(2)
    }
}

/// Columns of instants, in ns since the epoch.
const INSTANTS: [&str; 4] = ["start_ns", "end_ns", "window_start_ns", "window_end_ns"];

/// A unit to read numbers in.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    symbol: &'static str,
    /// What numbers as they are in tables are multiplied with; `None`: they stay.
    factor: Option<f64>,
}

impl Scale {
    const PERCENT: Self = Self {
        symbol: "%",
        factor: Some(100.0),
    };

    /// The unit for the numbers of a column, or a metric, of this name.
    fn of(name: &str, numbers: impl Iterator<Item = f64>) -> Self {
        if Metric::named(name).is_some_and(Metric::is_share) {
            return Self::PERCENT;
        }
        let is_base = |unit: &Unit| ["bps", "ns", "bytes"].contains(&unit.suffix);
        match Name::of(name).unit_of_numbers().filter(is_base) {
            Some(unit) => {
                let unit = unit.dimension.for_reading(middle(numbers));
                Self {
                    symbol: unit.symbol(),
                    factor: Some(1.0 / unit.factor),
                }
            }
            None => Self::own(name),
        }
    }

    /// The unit that its name says.
    fn own(name: &str) -> Self {
        let unit = Name::of(name).unit_of_numbers();
        Self {
            symbol: unit.map_or("", Unit::symbol),
            factor: None,
        }
    }

    fn scaled(self, cell: Cell, power: i32) -> Cell {
        match (cell.number(), self.factor) {
            (Some(number), Some(factor)) => Cell::Real(number * factor.powi(power)),
            _ => cell,
        }
    }
}

/// The magnitude in the middle of some numbers, those that are 0 left out.
fn middle(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut magnitudes: Vec<f64> = numbers.map(f64::abs).filter(|&of| of > 0.0).collect();
    magnitudes.sort_by(f64::total_cmp);
    magnitudes.get(magnitudes.len() / 2).copied().unwrap_or(0.0)
}

/// The units of a table in which rows are about one metric or another.
struct MetricUnits {
    /// What each row is about.
    rows: Vec<Option<String>>,
    units: BTreeMap<String, Scale>,
}

impl MetricUnits {
    fn of(columns: &[(String, Vec<Cell>)], usual: &BTreeMap<String, f64>) -> Self {
        let metrics = columns
            .iter()
            .find(|(name, _)| METRICS.contains(&name.as_str()));
        let rows: Vec<Option<String>> = metrics.map_or_else(Vec::new, |(_, cells)| {
            let name = |cell: &Cell| match cell {
                Cell::Text(name) => Some(name.clone()),
                _ => None,
            };
            cells.iter().map(name).collect()
        });
        let mut magnitudes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (name, cells) in columns {
            let Some(power) = power_of_metric(name) else {
                continue;
            };
            for (row, cell) in rows.iter().zip(cells) {
                let of = magnitudes.entry(row.as_deref().unwrap_or("")).or_default();
                let root = |number: f64| number.abs().powf(1.0 / f64::from(power));
                of.extend(cell.number().map(root));
            }
        }
        let scale = |(name, of): (&str, Vec<f64>)| {
            // What varies little has squares that tell of another unit.
            let usual = usual.get(name).copied();
            let scale = match usual {
                Some(usual) => Scale::of(name, std::iter::once(usual)),
                None => Scale::of(name, of.into_iter()),
            };
            (name.to_owned(), scale)
        };
        let units = magnitudes.into_iter().map(scale).collect();
        Self { rows, units }
    }

    /// Cells in the unit of their row, to this power.
    fn scaled(&self, cells: Vec<Cell>, power: i32) -> Vec<Cell> {
        let rows = self.rows.iter().chain(std::iter::repeat(&None));
        let unit = |row: &Option<String>| self.units.get(row.as_deref()?);
        let scaled = |(cell, row)| match unit(row) {
            Some(unit) => unit.scaled(cell, power),
            None => cell,
        };
        cells.into_iter().zip(rows).map(scaled).collect()
    }

    /// The names of metrics in words, with the unit of their rows.
    fn named(&self, cells: Vec<Cell>) -> Vec<Cell> {
        let named = |cell| match cell {
            Cell::Text(name) => {
                let unit = self.units.get(&name).copied();
                let is_share = Metric::named(&name).is_some_and(Metric::is_share);
                let own = || {
                    if is_share {
                        Scale::PERCENT
                    } else {
                        Scale::own(&name)
                    }
                };
                let unit = unit.unwrap_or_else(own);
                Cell::Text(heading(&name, unit.symbol))
            }
            cell => cell,
        };
        cells.into_iter().map(named).collect()
    }
}

/// What the name of a column is made of.
struct Name<'a> {
    words: Vec<&'a str>,
    unit: Option<Unit>,
    /// A value in that unit, where the column is about that value: `delay_ms_20`.
    value: Option<&'a str>,
}

impl<'a> Name<'a> {
    fn of(name: &'a str) -> Self {
        let mut words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
        let place = (1..words.len()).rfind(|&place| Unit::ending(words[place]).is_some());
        let unit = place.and_then(|place| Unit::ending(words[place]));
        let is_value =
            |place: usize| place + 2 == words.len() && words[place + 1].parse::<f64>().is_ok();
        let value = place.filter(|&place| is_value(place));
        let value = value.and_then(|_| words.pop());
        // What is in percent of a column in Mbit/s has both in its name.
        let mut index = 0;
        words.retain(|word| {
            index += 1;
            index == 1 || Unit::ending(word).is_none()
        });
        Self { words, unit, value }
    }

    /// What the numbers of the column are in: nothing that is known where its name is about a value.
    fn unit_of_numbers(&self) -> Option<Unit> {
        self.unit.filter(|_| self.value.is_none())
    }
}

/// A column's name in words, with the unit of its numbers.
fn heading(name: &str, symbol: &str) -> String {
    let known = HEADINGS.iter().find(|(known, _)| *known == name);
    let words = known.map_or_else(|| in_words(name), |(_, words)| (*words).to_owned());
    if symbol.is_empty() {
        words
    } else {
        format!("{words} ({symbol})")
    }
}

/// A name in words: `Other RTT max` of `other_rtt_ms_max`, `Delay 20 ms` of `delay_ms_20`.
fn in_words(name: &str) -> String {
    let Name { words, unit, value } = Name::of(name);
    let mut text = words.into_iter().map(word).collect::<Vec<_>>().join(" ");
    if let (Some(unit), Some(value)) = (unit, value) {
        text = format!("{text} {value} {}", unit.symbol());
    }
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn word(word: &str) -> String {
    match word {
        "ci95" => "95 % CI".to_owned(),
        "cca" | "rtt" | "owd" | "bdp" | "aqm" | "ecn" | "mss" | "iw" | "ip" | "q1" | "q3" => {
            word.to_ascii_uppercase()
        }
        word => word.to_owned(),
    }
}

/// What columns and metrics are called, without their units, where the words of their names would not say it.
const HEADINGS: &[(&str, &str)] = &[
    ("start_ns", "Start"),
    ("end_ns", "End"),
    ("window_start_ns", "Window from"),
    ("window_end_ns", "Window to"),
    ("path_capacity_bps", "Capacity"),
    ("path_base_rtt_ns", "Base RTT"),
    ("path_buffer_bytes", "Buffer"),
    ("path_buffer_packets", "Buffer (packets)"),
    ("path_buffer_bdp", "Buffer"),
    ("path_qdisc", "Queue discipline"),
    ("connection_id", "Connection"),
    ("src_ip", "Source"),
    ("src_port", "Source port"),
    ("dst_ip", "Destination"),
    ("dst_port", "Destination port"),
    ("flow_direction", "Direction"),
    ("ip_bytes", "IP volume"),
    ("wire_ip_bytes", "IP volume on the wire"),
    ("wire_overhead", "Overhead on the wire"),
    ("wire_retransmitted_packets", "Retransmitted on the wire"),
    ("acked_bytes", "Acknowledged"),
    ("completion_ns", "Completion time"),
    ("rtt_ns_min", "Min. RTT"),
    ("rtt_ns_mean", "Mean RTT"),
    ("rtt_ns_max", "Max. RTT"),
    ("rtt_ns_p50", "Median RTT"),
    ("rtt_ns_p95", "RTT, 95th percentile"),
    ("rtt_ns_p99", "RTT, 99th percentile"),
    ("queue_delay_ns_mean", "Mean queueing delay"),
    ("queue_dropped_packets", "Dropped packets"),
    ("in_flight_bytes_max", "Max. in flight"),
    ("pm", "Pm"),
    ("pm_goodput", "Pm, goodput"),
    ("pm_delay", "Pm, delay"),
    ("pm_retransmission", "Pm, retransmissions"),
    ("harm_goodput", "Harm to goodput"),
    ("harm_rtt", "Harm to the RTT"),
    ("harm_completion", "Harm to completion"),
    ("flow_count", "Flows"),
    ("fness", "fness"),
    ("jain", "Jain's index"),
    ("ping_ns_min", "Min. ping"),
    ("ping_ns_mean", "Mean ping"),
    ("ping_ns_max", "Max. ping"),
    ("ping_loss", "Pings lost"),
    ("predicted_bps", "Predicted throughput"),
    ("n", "n"),
    ("std_dev", "Std. dev."),
    ("min", "Min."),
    ("max", "Max."),
    ("a", "A"),
    ("b", "B"),
    ("n_a", "n of A"),
    ("n_b", "n of B"),
    ("mean_a", "Mean of A"),
    ("mean_b", "Mean of B"),
    ("composition_a", "Composition of A"),
    ("composition_b", "Composition of B"),
    ("welch_t", "Welch's t"),
    ("welch_df", "Welch's df"),
    ("welch_p", "P of Welch's t"),
    ("welch_p_holm", "P of Welch's t, Holm"),
    ("cohen_d", "Cohen's d"),
    ("rank_u", "Mann-Whitney U"),
    ("rank_p", "P of U"),
    ("rank_p_holm", "P of U, Holm"),
    ("rank_effect", "U over n of A times n of B"),
    ("ss_between", "SS between"),
    ("df_between", "df between"),
    ("ms_between", "MS between"),
    ("ss_within", "SS within"),
    ("df_within", "df within"),
    ("ms_within", "MS within"),
    ("anova_f", "F"),
    ("anova_p", "P of F"),
    ("f_crit", "F crit."),
    ("kruskal_h", "Kruskal-Wallis H"),
    ("kruskal_df", "df of H"),
    ("kruskal_p", "P of H"),
    ("ss", "SS"),
    ("df", "df"),
    ("ms", "MS"),
    ("f", "F"),
    ("p", "P"),
];

/// An instant as people write it, to the millisecond.
fn in_utc(cell: &Cell) -> Cell {
    /// Days to the epoch from 1 March of the year 0: years that begin then have their leap day at their end.
    const EPOCH: i128 = 719_468;
    let Cell::Whole(ns) = cell else {
        return Cell::Null;
    };
    let ms = ns.div_euclid(1_000_000);
    let (day, ms) = (ms.div_euclid(86_400_000) + EPOCH, ms.rem_euclid(86_400_000));
    // The calendar repeats itself every 400 years.
    let (cycle, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (400 * cycle + year, month + 3),
        _ => (400 * cycle + year + 1, month - 9),
    };
    let (hour, minute) = (ms / 3_600_000, ms / 60_000 % 60);
    let (second, ms) = (ms / 1_000 % 60, ms % 1_000);
    Cell::Text(format!(
        "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{ms:03}"
    ))
}

#[cfg(test)]
mod tests;
