//! How well throughput was predicted, as the connection-splitting study checks its model.

use std::collections::BTreeMap;

use super::{Builder, ReportTable, key};
use crate::metric::stats::mean;
use crate::study::groups::GroupKey;
use crate::study::metrics::Metric;
use crate::study::results::{StudyResults, StudyRun};

/// Runs with the same labels.
struct Row {
    key: GroupKey,
    /// All runs together, whatever their labels are.
    overall: bool,
    /// Predicted over measured, less 1.
    errors: Vec<f64>,
}

impl Row {
    fn absolute(&self) -> Vec<f64> {
        self.errors.iter().map(|error| error.abs()).collect()
    }
}

/// A row a group, and one over all of them where there are several.
fn rows(results: &StudyResults, runs: &[(GroupKey, &StudyRun)]) -> Vec<Row> {
    let mut groups: BTreeMap<GroupKey, Vec<f64>> = BTreeMap::new();
    for (_, run) in runs {
        let errors = groups
            .entry(key(&run.labels, &results.group_by))
            .or_default();
        errors.extend(run.values.get(Metric::PredictionError));
    }
    let mut rows: Vec<Row> = groups
        .into_iter()
        .map(|(key, errors)| Row {
            key,
            overall: false,
            errors,
        })
        .collect();
    if rows.len() > 1 {
        rows.push(Row {
            key: vec![None; results.group_by.len()],
            overall: true,
            errors: rows.iter().flat_map(|row| row.errors.clone()).collect(),
        });
    }
    rows
}

pub(super) fn tables(results: &StudyResults) -> Vec<ReportTable> {
    let all: Vec<usize> = (0..results.labels.len()).collect();
    let runs: Vec<(GroupKey, &StudyRun)> = results
        .runs
        .iter()
        .filter(|run| run.values.get(Metric::PredictionError).is_some())
        .map(|run| (run.labels.clone(), run))
        .collect();
    let rows = rows(results, &runs);
    let percent = |value: Option<f64>| Some(value? * 100.0);
    let of = |run: &StudyRun, metric, unit: f64| Some(run.values.get(metric)? * unit);
    vec![
        Builder::new(rows)
            .labels(results, &results.group_by, |row| &row.key)
            .text("scope", |row| {
                Some(if row.overall { "overall" } else { "within" }.to_owned())
            })
            .count("n", |row| Some(row.errors.len() as u64))
            .real("error_percent_mean", |row| percent(mean(&row.errors)))
            .real("absolute_error_percent_mean", |row| {
                percent(mean(&row.absolute()))
            })
            .real("absolute_error_percent_max", |row| {
                percent(row.absolute().into_iter().reduce(f64::max))
            })
            .table(
                "split-accuracy",
                "Predicted over measured throughput, less 1",
            ),
        Builder::new(runs)
            .labels(results, &all, |(key, _)| key)
            .text("capture", |(_, run)| Some(run.name.clone()))
            .real("measured_mbps", |(_, run)| {
                of(run, Metric::GoodputBps, 1e-6)
            })
            .real("predicted_mbps", |(_, run)| {
                of(run, Metric::PredictedBps, 1e-6)
            })
            .real("error_percent", |(_, run)| {
                of(run, Metric::PredictionError, 100.0)
            })
            .table(
                "split-predictions",
                "Predicted beside measured throughput, run by run",
            ),
    ]
}
