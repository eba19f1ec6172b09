//! Columns of numbers: which they are, in which unit, and what they become.

use super::{Reader, pairs};
use crate::study::import::{COLUMNS_LISTED, MeasuredColumn, MeasuredFormat};
use crate::study::manifest::{ColumnText, Located, did_you_mean, nearest, suggestion};
use crate::study::measure::SeriesKind;
use crate::study::measured::MeasuredPoints;
use crate::study::metrics::{Metric, Values};
use crate::study::plan::Texts;
use crate::study::template::Template;
use crate::study::units::{Dimension, Unit};

/// A metric and its numbers, row by row.
pub(super) struct MetricCells {
    metric: Metric,
    cells: Vec<Option<f64>>,
}

/// What runs have over time: labels that the names of columns give, and the columns.
pub(super) type Series = Vec<(Texts, Vec<SeriesCells>)>;

/// A column of points in time, in the units of [`SeriesKind`].
#[derive(Clone)]
pub(super) struct SeriesCells {
    kind: SeriesKind,
    cells: Vec<Option<f64>>,
    /// Only so many values count.
    points: Option<usize>,
    /// Every single value with its own time, where the table keeps them besides the points.
    singles: Vec<f64>,
}

/// The metrics of a row.
pub(super) fn values(metrics: &[MetricCells], row: usize) -> Values {
    let mut values = Values::default();
    for MetricCells { metric, cells } in metrics {
        values.set(*metric, cells[row]);
    }
    values
}

/// The points of some rows; rows without a time and without values are left out.
///
/// # Errors
/// What is wrong with which row: it is before the one above it, or has values and no time.
pub(super) fn points(
    times_ns: &[Option<i64>],
    series: &[SeriesCells],
    rows: &[usize],
) -> Result<MeasuredPoints, (usize, &'static str)> {
    let has_values = |row: usize| series.iter().any(|column| column.cells[row].is_some());
    let lost = rows
        .iter()
        .find(|&&row| times_ns[row].is_none() && has_values(row));
    if let Some(&row) = lost {
        return Err((row, "has values, but no time that can be counted in ns"));
    }
    let timed: Vec<(usize, i64)> = rows
        .iter()
        .filter_map(|&row| Some((row, times_ns[row]?)))
        .collect();
    if let Some(pair) = timed.windows(2).find(|pair| pair[1].1 < pair[0].1) {
        return Err((pair[1].0, "times must ascend within a run"));
    }
    let mut points = MeasuredPoints::default();
    for column in series {
        let mut left = column.points.unwrap_or(usize::MAX);
        let cells = timed.iter().map(|&(row, _)| {
            let cell = column.cells[row].filter(|_| left > 0);
            left -= usize::from(cell.is_some());
            cell
        });
        points.series.push((column.kind, cells.collect()));
        if column.kind == SeriesKind::Ping && column.points.is_none() {
            points.pings_ns.extend(&column.singles);
        }
    }
    points.times_ns = timed.into_iter().map(|(_, time)| time).collect();
    Ok(points)
}

/// What the numbers of a column are.
#[derive(Clone, Copy)]
struct Quantity<'a> {
    /// What the manifest calls it.
    name: &'a Located<String>,
    /// What they measure; `None` for counts and ratios.
    dimension: Option<Dimension>,
    /// They are a ratio, which may be in percent.
    is_ratio: bool,
}

impl Reader<'_, '_> {
    /// The metrics of runs or flows, row by row.
    pub(super) fn metrics(&mut self, of_flows: bool) -> Option<Vec<MetricCells>> {
        let section = self.context.section;
        let mut metrics = Vec::new();
        let mut all_well = true;
        for (name, column) in &section.metrics {
            let cells = self.metric(name, column, of_flows);
            all_well &= cells.is_some();
            metrics.extend(cells);
        }
        all_well.then_some(metrics)
    }

    fn metric(
        &mut self,
        name: &Located<String>,
        column: &ColumnText,
        of_flows: bool,
    ) -> Option<MetricCells> {
        let known: Vec<&str> = Metric::ALL
            .iter()
            .copied()
            .filter(|metric| !of_flows || metric.is_of_flows())
            .map(Metric::name)
            .collect();
        let metric = Metric::named(&name.value).filter(|_| known.contains(&name.value.as_str()));
        let Some(metric) = metric else {
            let of = if of_flows { " of flows" } else { "" };
            let hint = suggestion(&name.value, &known);
            self.mistake(
                name.line,
                format!("there is no metric '{}'{of}{hint}", name.value),
            );
            return None;
        };
        if let Some(points) = &column.points {
            let message = "'points' says nothing here: it needs rows = \"points\"";
            self.mistake(points.line, message);
        }
        let quantity = Quantity {
            name,
            dimension: metric.dimension(),
            is_ratio: !metric.is_count(),
        };
        let column_name = self.existing(&column.names)?;
        let factor = self.factor(quantity, column, &column_name.value)?;
        let cells = self.numbers(&column_name, factor)?;
        if metric.dimension().is_some() || metric.is_count() {
            self.not_below_zero(name, &column_name, &cells)?;
        }
        if metric == Metric::Flows {
            self.whole_from_one(&column_name, &cells)?;
        }
        Some(MetricCells { metric, cells })
    }

    /// The instant of each row, in ns.
    pub(super) fn time(&mut self) -> Option<Vec<Option<i64>>> {
        let section = self.context.section;
        let name = Located {
            value: "time".to_owned(),
            line: section.line,
        };
        let quantity = Quantity {
            name: &name,
            dimension: Some(Dimension::Time),
            is_ratio: false,
        };
        let cells = match &section.time {
            Some(column) => {
                let column_name = self.existing(&column.names)?;
                let factor = self.factor(quantity, column, &column_name.value)?;
                self.numbers(&column_name, factor)?
            }
            None if self.table.format == MeasuredFormat::Flent => {
                let column = name.with("time_s".to_owned());
                self.numbers(&column, 1e9)?
            }
            None => {
                let message = "rows are points in time, but [[measured]] lacks 'time': write time = { column = \"t\", unit = \"s\" }";
                self.mistake(section.line, message);
                return None;
            }
        };
        // Beyond 2^53 ns a float counts no further exactly; times since the epoch are near 2^61 and
        // keep 256 ns.
        let whole = |ns: f64| (ns.abs() < 9.2e18).then(|| ns.round() as i64);
        Some(cells.into_iter().map(|cell| whole(cell?)).collect())
    }

    /// What the runs of the table have over time.
    pub(super) fn series(&mut self) -> Option<Series> {
        let section = self.context.section;
        let mut found: Vec<(Texts, SeriesCells)> = Vec::new();
        let mut all_well = true;
        for (name, column) in &section.metrics {
            let columns = self.series_of(name, column);
            all_well &= columns.is_some();
            found.extend(columns.into_iter().flatten());
        }
        if !all_well {
            return None;
        }
        let mut runs: Vec<Texts> = Vec::new();
        for (assigned, _) in &found {
            let same = |run: &Texts| pairs(run).eq(pairs(assigned));
            if !assigned.is_empty() && !runs.iter().any(same) {
                runs.push(assigned.clone());
            }
        }
        let names = |texts: &Texts| -> Vec<String> {
            texts.iter().map(|(label, _)| label.clone()).collect()
        };
        if let Some(other) = runs.iter().find(|run| names(run) != names(&runs[0])) {
            let message = format!(
                "columns beside each other must have the same labels in their names: '{}' and '{}'",
                names(&runs[0]).join(", "),
                names(other).join(", ")
            );
            self.mistake(section.line, message);
            return None;
        }
        if runs.is_empty() {
            runs.push(Texts::new());
        }
        let mut series: Series = runs.into_iter().map(|run| (run, Vec::new())).collect();
        for (assigned, cells) in found {
            for (run, of_run) in &mut series {
                if assigned.is_empty() || pairs(run).eq(pairs(&assigned)) {
                    of_run.push(cells.clone());
                }
            }
        }
        Some(series)
    }

    /// The columns of one kind, with what their names say.
    fn series_of(
        &mut self,
        name: &Located<String>,
        column: &ColumnText,
    ) -> Option<Vec<(Texts, SeriesCells)>> {
        let Some(kind) = SeriesKind::named(&name.value) else {
            let names: Vec<&str> = SeriesKind::ALL.iter().map(|kind| kind.name()).collect();
            let hint = suggestion(&name.value, &names);
            let message = format!("points in time have no metric '{}'{hint}", name.value);
            self.mistake(name.line, message);
            return None;
        };
        let quantity = Quantity {
            name,
            dimension: Some(kind.dimension()),
            is_ratio: false,
        };
        let points = match column
            .points
            .as_ref()
            .map(|points| (points.value.parse(), points.line))
        {
            None => None,
            Some((Ok(points), _)) if points > 0 => Some(points),
            Some((_, line)) => {
                self.mistake(line, "'points' must be a number of values, from 1");
                return None;
            }
        };
        let mut columns = Vec::new();
        for (texts, column_name) in self.matching(&column.names)? {
            let factor = self.factor(quantity, column, &column_name.value)?;
            let cells = self.numbers(&column_name, factor)?;
            self.not_below_zero(name, &column_name, &cells)?;
            let singles = self.table.series.iter();
            let singles = singles
                .filter(|series| series.name == column_name.value)
                .flat_map(|series| series.points.iter().map(|(_, value)| value * factor));
            let cells = SeriesCells {
                kind,
                cells,
                points,
                singles: singles.collect(),
            };
            columns.push((texts, cells));
        }
        Some(columns)
    }

    /// The columns that a template or a name means, with what their names say: of several the first
    /// that any column fits.
    fn matching(&mut self, names: &[Located<String>]) -> Option<Vec<(Texts, Located<String>)>> {
        for name in names.iter().filter(|name| name.value.contains('{')) {
            let template = match Template::parse(&name.value) {
                Ok(template) => template,
                Err(fault) => {
                    let message = format!("in '{}': {}", name.value, fault.message);
                    self.mistake(name.line, message);
                    return None;
                }
            };
            let fits = |column: &MeasuredColumn| {
                let labels = template.take_apart(&column.name)?;
                let texts = labels
                    .into_iter()
                    .map(|(label, text)| (label, name.with(text)));
                Some((texts.collect(), name.with(column.name.clone())))
            };
            let found: Vec<_> = self.table.columns.iter().filter_map(fits).collect();
            if !found.is_empty() {
                return Some(found);
            }
        }
        let name = self.existing(names)?;
        Some(vec![(Texts::new(), name)])
    }

    /// The first of these names that a column has, or a place such as `#2`; a mistake where there
    /// is none.
    pub(super) fn existing(&mut self, names: &[Located<String>]) -> Option<Located<String>> {
        let there = |name: &&Located<String>| {
            let named = self
                .table
                .columns
                .iter()
                .any(|column| column.name == name.value);
            named || self.table.column(&name.value).is_ok()
        };
        if let Some(name) = names.iter().find(there) {
            return Some(name.clone());
        }
        let columns: Vec<&str> = self
            .table
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .filter(|column| !column.is_empty())
            .collect();
        let wanted: Vec<String> = names
            .iter()
            .map(|name| format!("'{}'", name.value))
            .collect();
        let hint = match names.first() {
            None => String::new(),
            Some(name) if columns.len() <= COLUMNS_LISTED => suggestion(&name.value, &columns),
            Some(name) => nearest(&name.value, &columns).map_or_else(
                || {
                    let listed = columns[..COLUMNS_LISTED].join(", ");
                    let more = columns.len() - COLUMNS_LISTED;
                    format!("; there are {listed} and {more} more")
                },
                did_you_mean,
            ),
        };
        let message = format!("there is no column {}{hint}", wanted.join(" or "));
        let line = names
            .first()
            .map_or(self.context.section.line, |name| name.line);
        self.fault(line, message);
        None
    }

    /// The numbers of a column times `factor`; a mistake where a cell is none.
    fn numbers(&mut self, name: &Located<String>, factor: f64) -> Option<Vec<Option<f64>>> {
        match self.table.numbers(&name.value) {
            Ok(numbers) => Some(numbers.iter().map(|cell| Some((*cell)? * factor)).collect()),
            Err(kind) => {
                self.fault(name.line, kind.to_string());
                None
            }
        }
    }

    /// Whether all these are amounts: a mistake where one is below 0, as some write what failed.
    fn not_below_zero(
        &mut self,
        name: &Located<String>,
        column: &Located<String>,
        cells: &[Option<f64>],
    ) -> Option<()> {
        let below = cells.iter().position(|cell| cell.is_some_and(|n| n < 0.0));
        let Some(row) = below else {
            return Some(());
        };
        let message = format!(
            "{}: a number below 0 in column '{}' is no '{}': leave the cell empty where nothing was measured",
            self.table.place(row),
            column.value,
            name.value
        );
        self.fault(column.line, message);
        None
    }

    /// A fault where a run would have no flow, or a part of one.
    fn whole_from_one(&mut self, column: &Located<String>, cells: &[Option<f64>]) -> Option<()> {
        let is_none = |flows: f64| flows < 1.0 || flows.fract() != 0.0;
        let mut counts = cells.iter().enumerate();
        let found = counts.find_map(|(row, cell)| Some((row, cell.filter(|&cell| is_none(cell))?)));
        let Some((row, flows)) = found else {
            return Some(());
        };
        let message = format!(
            "{}: {flows} in column '{}' is no number of flows, which is 1 or more and whole: leave the cell empty where it is not known",
            self.table.place(row),
            column.value
        );
        self.fault(column.line, message);
        None
    }

    /// What the numbers of a column are multiplied by to be in the unit of a metric: by the word of
    /// the manifest, of the archive, or of the column's name.
    fn factor(&mut self, of: Quantity<'_>, column: &ColumnText, name: &str) -> Option<f64> {
        let factor = match of.dimension {
            Some(dimension) => self.factor_of_unit(of, dimension, column, name),
            None => factor_of_ratio(of, column, name),
        };
        factor
            .map_err(|(line, message)| self.fault(line, message))
            .ok()
    }

    fn factor_of_unit(
        &self,
        of: Quantity<'_>,
        dimension: Dimension,
        column: &ColumnText,
        name: &str,
    ) -> Result<f64, (usize, String)> {
        if let Some(unit) = &column.unit {
            let found = Unit::of(&unit.value, dimension);
            return found
                .map(|unit| unit.factor)
                .map_err(|message| (unit.line, message));
        }
        // A table of ours, or one that says it as ours do.
        if name == of.name.value {
            return Ok(1.0);
        }
        let stated = self
            .table
            .metadata
            .get(&format!("SERIES_META.{name}.UNITS"));
        stated
            .and_then(|unit| Unit::of(unit, dimension).ok())
            .or_else(|| Unit::of_column(name, dimension))
            .map(|unit| unit.factor)
            .ok_or_else(|| {
                let message = format!(
                    "column '{name}' is in no unit that is known: write {} = {{ column = \"{name}\", unit = \"{}\" }}",
                    of.name.value,
                    example(name, dimension)
                );
                (column.names.first().map_or(of.name.line, |name| name.line), message)
            })
    }
}

/// What counts and ratios are multiplied by: ratios may be in percent.
fn factor_of_ratio(
    of: Quantity<'_>,
    column: &ColumnText,
    name: &str,
) -> Result<f64, (usize, String)> {
    let Some(unit) = &column.unit else {
        let percent = Unit::of_column(name, Dimension::Percent).filter(|_| of.is_ratio);
        return Ok(percent.map_or(1.0, |_| 0.01));
    };
    if of.is_ratio && Unit::of(&unit.value, Dimension::Percent).is_ok() {
        return Ok(0.01);
    }
    let what = if of.is_ratio {
        "a ratio: leave the unit out, or write \"%\""
    } else {
        "a number of things: leave the unit out"
    };
    let message = format!(
        "'{}' makes no sense for '{}', which is {what}",
        unit.value, of.name.value
    );
    Err((unit.line, message))
}

/// A unit to show how one is written: that which the column's name seems to end in, or a usual one.
fn example(name: &str, dimension: Dimension) -> &'static str {
    let seeming = Unit::guessed(name).filter(|unit| unit.dimension == dimension);
    if let Some(unit) = seeming {
        return unit.name();
    }
    match dimension {
        Dimension::Rate => "Mbit",
        Dimension::Time => "ms",
        Dimension::Size => "MB",
        Dimension::Packets => "packets",
        Dimension::Percent => "%",
        Dimension::Bdp => "BDP",
    }
}
