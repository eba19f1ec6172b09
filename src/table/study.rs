//! The tables of a study: fixed columns by schema, with a column for each label put in.

mod statistics;

use std::collections::BTreeMap;

use polars::prelude::{Column as PolarsColumn, DataFrame, DataType, NamedFrom, Series};

use super::filled::frame;
use super::schema::{Column, column_list, value};
use crate::study::{
    Buffer, Cells, Label, LabelKind, LabelValue, Metric, ReportTable, StudyFlow, StudyResults,
    StudyRun,
};

pub(super) use statistics::{comparison_columns, group_columns, test_columns};

/// A table of a study.
#[derive(Debug)]
pub struct StudyTable {
    /// Its name, for files.
    pub name: String,
    /// What it shows, and of which study.
    pub title: String,
    /// What a paper refers to it by: letters, digits, `:` and `-`.
    pub label: String,
    /// The columns that tell rows apart, those that stand first.
    pub keys: Vec<String>,
    /// Columns of ratios that are read in percent, which their names do not say.
    pub shares: Vec<String>,
    /// What stands above columns, by their names, which begin with it: what neighbours have in common.
    pub above: BTreeMap<String, String>,
    /// What numbers of a metric are like in the whole study, by its name: what rows about it are read in the unit of,
    /// in all tables.
    pub usual: BTreeMap<String, f64>,
    /// The table.
    pub frame: DataFrame,
}

/// All tables of a study, those of its reports last.
#[must_use]
pub fn study_tables(results: &StudyResults) -> Vec<StudyTable> {
    let flows: Vec<FlowRow<'_>> = results
        .runs
        .iter()
        .flat_map(|run| run.flows.iter().map(move |flow| FlowRow { run, flow }))
        .collect();
    let all: Vec<usize> = (0..results.labels.len()).collect();
    let runs: Vec<&StudyRun> = results.runs.iter().collect();
    let usual = usual(results);
    let table = |name: &str, title: &str, frame| StudyTable {
        name: name.to_owned(),
        title: format!("{}: {title}", results.name),
        label: reference(&results.name, name),
        keys: keys(&frame, &results.labels),
        shares: Vec::new(),
        above: BTreeMap::new(),
        usual: usual.clone(),
        frame,
    };
    let mut tables = vec![
        table(
            "runs",
            "one row per run",
            with_labels(
                frame(&run_columns(), &runs),
                &runs,
                results,
                &all,
                1,
                |run| &run.labels,
            ),
        ),
        table(
            "flows",
            "one row per flow",
            with_labels(
                frame(&flow_columns(), &flows),
                &flows,
                results,
                &all,
                1,
                |row| &row.flow.labels,
            ),
        ),
    ];
    tables.extend(
        statistics::tables(results)
            .into_iter()
            .map(|(name, title, frame)| table(name, title, frame)),
    );
    let reports = results.reports.iter();
    tables.extend(reports.map(|table| report(table, results, &usual)));
    tables
}

/// The mean of the middle group of each metric.
fn usual(results: &StudyResults) -> BTreeMap<String, f64> {
    let mut means: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for group in &results.groups {
        let of = means.entry(group.metric.name().to_owned()).or_default();
        of.push(group.statistics.mean.abs());
    }
    let middle = |(name, mut means): (String, Vec<f64>)| {
        means.retain(|&mean| mean > 0.0);
        means.sort_by(f64::total_cmp);
        Some((name, *means.get(means.len() / 2)?))
    };
    means.into_iter().filter_map(middle).collect()
}

/// What a row of flows is made of.
pub(super) struct FlowRow<'a> {
    run: &'a StudyRun,
    flow: &'a StudyFlow,
}

pub(super) fn run_columns<'a>() -> Vec<Column<&'a StudyRun>> {
    let mut columns: Vec<Column<&StudyRun>> = column_list![
    "capture" "-" Text |run| Some(run.name.clone());
    "error" "-" Text |run| run.error.clone();
    "records" "-" Count |run| run.records;
    "start_ns" "-" Whole |run| Some(run.span_ns?.0);
    "end_ns" "-" Whole |run| Some(run.span_ns?.1);
    "window_start_ns" "Y3" Whole |run| Some(run.window_ns?.0);
    "window_end_ns" "Y3" Whole |run| Some(run.window_ns?.1);
    "flows_left_out" "Y1" Count |run| run.flows_left_out;
    "path_capacity_bps" "Y4" Real |run| run.conditions.capacity_bps();
    "path_base_rtt_ns" "Y4" Whole |run| run.conditions.base_rtt_ns;
    "path_buffer_bytes" "Y4" Real |run| run.conditions.buffer_bytes();
    "path_buffer_packets" "Y4" Real |run| match run.conditions.buffer? { Buffer::Packets(packets) => Some(packets), _ => None };
    "path_buffer_bdp" "Y4" Real |run| run.conditions.buffer_bdp();
    "path_qdisc" "Y4" Text |run| run.conditions.qdisc.clone();
    ];
    columns.extend(Metric::ALL.iter().copied().map(|metric| Column {
        name: metric.name(),
        metric: metric.entry(),
        value: value!(Real move |run: &&StudyRun| run.values.get(metric)),
    }));
    columns
}

pub(super) fn flow_columns<'a>() -> Vec<Column<FlowRow<'a>>> {
    let mut columns: Vec<Column<FlowRow<'_>>> = column_list![
    "capture" "-" Text |row| Some(row.run.name.clone());
    "flow" "Y1" Count |row| Some(row.flow.start as u64);
    "connection_id" "-" Count |row| row.flow.measure.connection_id;
    "src_ip" "-" Address |row| Some(row.flow.measure.ends?.sender.ip());
    "src_port" "-" Count |row| Some(u64::from(row.flow.measure.ends?.sender.port()));
    "dst_ip" "-" Address |row| Some(row.flow.measure.ends?.receiver.ip());
    "dst_port" "-" Count |row| Some(u64::from(row.flow.measure.ends?.receiver.port()));
    "flow_direction" "-" Text |row| Some(row.flow.measure.ends?.direction.name().to_owned());
    "start_ns" "-" Whole |row| Some(row.flow.measure.span_ns?.0);
    "end_ns" "-" Whole |row| Some(row.flow.measure.span_ns?.1);
    "quality" "Q1" Text |row| row.flow.measure.ends.map(|_| row.flow.measure.quality.clone());
    ];
    columns.extend(
        Metric::ALL
            .iter()
            .copied()
            .filter(|metric| metric.is_of_flows())
            .map(|metric| Column {
                name: metric.name(),
                metric: metric.entry(),
                value: value!(Real move |row: &FlowRow<'_>| row.flow.measure.values.get(metric)),
            }),
    );
    columns
}

/// Puts a column for each of these labels into a table, from column `at` on.
///
/// # Panics
/// Never: labels are not called like columns, which the manifest is checked for, and there is a
/// value a row.
fn with_labels<R>(
    mut frame: DataFrame,
    rows: &[R],
    results: &StudyResults,
    places: &[usize],
    at: usize,
    labels_of: impl Fn(&R) -> &Vec<Option<LabelValue>>,
) -> DataFrame {
    for (index, &place) in places.iter().enumerate() {
        let values: Vec<Option<&LabelValue>> = rows
            .iter()
            .map(|row| labels_of(row)[index].as_ref())
            .collect();
        let column = label_column(&results.labels[place], &values);
        frame
            .insert_column(at + index, column)
            .expect("labels have names of their own and a value a row");
    }
    frame
}

fn label_column(label: &Label, values: &[Option<&LabelValue>]) -> PolarsColumn {
    let name = label.column();
    let as_numbers = matches!(label.kind, LabelKind::Number(_))
        && values
            .iter()
            .flatten()
            .all(|value| value.number().is_some());
    let series = if as_numbers {
        let numbers: Vec<Option<f64>> = values
            .iter()
            .map(|value| value.and_then(LabelValue::number))
            .collect();
        Series::new(name.into(), numbers)
    } else {
        let texts: Vec<Option<&str>> = values
            .iter()
            .map(|value| value.map(LabelValue::text))
            .collect();
        Series::new(name.into(), texts)
    };
    series.into()
}

/// A report as a table.
///
/// # Panics
/// Never: the columns of a report have distinct names and one length.
fn report(
    table: &ReportTable,
    results: &StudyResults,
    usual: &BTreeMap<String, f64>,
) -> StudyTable {
    let mut rows = 0;
    let columns: Vec<PolarsColumn> = table
        .columns
        .iter()
        .map(|column| {
            let name = column.name.as_str().into();
            let series = match &column.cells {
                Cells::Text(cells) => Series::new(name, cells),
                Cells::Real(cells) => Series::new(name, cells),
                Cells::Count(cells) => Series::new(name, cells),
            };
            rows = series.len();
            series.into()
        })
        .collect();
    let frame = DataFrame::new(rows, columns)
        .expect("columns of a report have distinct names and one length");
    let name = format!("report-{}", table.name);
    StudyTable {
        title: format!("{}: {}", results.name, table.title),
        label: reference(&results.name, &name),
        name,
        keys: keys(&frame, &results.labels),
        shares: (table.columns.iter())
            .filter(|column| column.is_share)
            .map(|column| column.name.clone())
            .collect(),
        above: (table.columns.iter())
            .filter_map(|column| Some((column.name.clone(), column.above.clone()?)))
            .collect(),
        usual: usual.clone(),
        frame,
    }
}

/// What a paper refers to a table by: tables of several studies have names of their own.
fn reference(study: &str, table: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let study: String = study.chars().map(plain).collect();
    format!("tab:{study}-{table}")
}

/// The columns that tell the rows of a table apart: those in front that hold words or labels, and
/// what counts rows of the same ones.
fn keys(frame: &DataFrame, labels: &[Label]) -> Vec<String> {
    let is_key = |column: &&PolarsColumn| {
        let name = column.name().as_str();
        let is_words = *column.dtype() == DataType::String && name != "error";
        is_words
            || ["flow", "time_s"].contains(&name)
            || labels.iter().any(|label| label.column() == name)
    };
    let columns = frame.columns().iter().take_while(is_key);
    columns.map(|column| column.name().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::RESERVED;

    #[test]
    fn what_a_table_is_referred_to_by_has_no_letters_with_a_meaning() {
        assert_eq!(reference("loss 1_%", "groups"), "tab:loss-1---groups");
    }

    #[test]
    fn no_label_can_be_called_like_a_column() {
        let fixed = crate::table::all_schemas()
            .into_iter()
            .filter(|schema| schema.name.starts_with("study/"))
            .flat_map(|schema| schema.columns);
        for column in fixed {
            assert!(
                RESERVED.contains(&column.name) || Metric::named(column.name).is_some(),
                "{} is not reserved",
                column.name
            );
        }
    }
}
