//! The study of streams with ping beside: runs in steps of time, box statistics of the steps, and
//! their analysis of variance.

use std::collections::BTreeMap;

use super::{Builder, ReportTable, conditions, key};
use crate::metric::stats::{Anova, AnovaRow, BoxPlot, GroupSummary};
use crate::study::groups::GroupKey;
use crate::study::labels::LabelValue;
use crate::study::measure::{SeriesKind, SeriesPoint};
use crate::study::results::{StudyResults, StudyRun};

/// What the report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesReport {
    /// Place of the label that tells variants apart.
    pub variant: usize,
    /// Steps of captures, in ns.
    pub step_ns: i64,
    /// Goodput or throughput.
    pub rate: SeriesKind,
    /// Pings or round-trip times; `None`: pings, and of a run without any the round-trip times.
    pub delay: Option<SeriesKind>,
}

impl SeriesReport {
    /// What stands for the delay of a run.
    fn delay_of(&self, run: &StudyRun) -> SeriesKind {
        let has_pings = || {
            run.series
                .iter()
                .any(|point| point.get(SeriesKind::Ping).is_some())
        };
        self.delay.unwrap_or_else(|| {
            if has_pings() {
                SeriesKind::Ping
            } else {
                SeriesKind::Rtt
            }
        })
    }
}

/// The column of a kind of values: in Mbit/s or ms.
const fn column(kind: SeriesKind) -> &'static str {
    match kind {
        SeriesKind::Goodput => "goodput_mbps",
        SeriesKind::Throughput => "throughput_mbps",
        SeriesKind::Rtt => "rtt_ms",
        SeriesKind::Ping => "ping_ms",
    }
}

/// A step of a run.
struct Row<'a> {
    key: GroupKey,
    variant: Option<LabelValue>,
    run: &'a StudyRun,
    point: SeriesPoint,
    delay: SeriesKind,
}

/// All steps of the runs of one variant under one condition that have a value.
#[derive(Clone)]
struct Sample {
    key: GroupKey,
    kind: SeriesKind,
    variant: Option<LabelValue>,
    runs: u64,
    values: Vec<f64>,
}

/// A line of the source-of-variation table.
struct Source {
    key: GroupKey,
    kind: SeriesKind,
    row: AnovaRow,
}

pub(super) fn tables(results: &StudyResults, report: SeriesReport) -> Vec<ReportTable> {
    let places = conditions(results, report.variant);
    let rows = rows(results, report, &places);
    let samples = samples(&rows, report);
    let sources: Vec<Source> = samples
        .chunk_by(|a, b| (&a.key, a.kind) == (&b.key, b.kind))
        .flat_map(sources)
        .collect();
    let [boxes, summary] = sample_tables(results, report, &places, samples);
    vec![
        point_table(results, report, &places, rows),
        boxes,
        summary,
        source_table(results, &places, sources),
    ]
}

fn point_table(
    results: &StudyResults,
    report: SeriesReport,
    places: &[usize],
    rows: Vec<Row<'_>>,
) -> ReportTable {
    let label = results.labels[report.variant].column();
    let rate = column(report.rate);
    Builder::new(rows)
        .labels(results, places, |row| &row.key)
        .label(&label, |row| row.variant.as_ref())
        .text("capture", |row| Some(row.run.name.clone()))
        .real("time_s", |row| Some(row.point.time_ns as f64 / 1e9))
        .real(rate, |row| Some(row.point.get(report.rate)? / 1e6))
        .text("delay", |row| {
            row.point.get(row.delay)?;
            Some(column(row.delay).to_owned())
        })
        .real("delay_ms", |row| Some(row.point.get(row.delay)? / 1e6))
        .table("series", "Runs in steps of time, with the delay beside")
}

/// Box plots of samples, and the summary that stands above an analysis of their variance.
fn sample_tables(
    results: &StudyResults,
    report: SeriesReport,
    places: &[usize],
    samples: Vec<Sample>,
) -> [ReportTable; 2] {
    let label = results.labels[report.variant].column();
    let about = |samples| {
        Builder::new(samples)
            .labels(results, places, |sample: &Sample| &sample.key)
            .text("measure", |sample| Some(column(sample.kind).to_owned()))
            .label(&label, |sample| sample.variant.as_ref())
    };
    let boxed = |sample: &Sample| BoxPlot::of(&sample.values);
    let summary = |sample: &Sample| GroupSummary::of(&sample.values);
    let boxes = about(samples.clone())
        .count("runs", |sample| Some(sample.runs))
        .count("n", |sample| Some(sample.values.len() as u64))
        .real("whisker_low", |sample| Some(boxed(sample)?.whisker_low))
        .real("q1", |sample| Some(boxed(sample)?.q1))
        .real("median", |sample| Some(boxed(sample)?.median))
        .real("q3", |sample| Some(boxed(sample)?.q3))
        .real("whisker_high", |sample| Some(boxed(sample)?.whisker_high))
        .count("outliers", |sample| {
            Some(boxed(sample)?.outliers.len() as u64)
        })
        .table("series-boxes", "Box plots of the steps of all runs");
    let summaries = about(samples)
        .count("n", |sample| Some(summary(sample)?.n))
        .real("sum", |sample| Some(summary(sample)?.sum))
        .real("mean", |sample| Some(summary(sample)?.average()))
        .real("variance", |sample| summary(sample)?.variance)
        .table(
            "series-summary",
            "Summary of the analysis of variance over steps",
        );
    [boxes, summaries]
}

fn source_table(results: &StudyResults, places: &[usize], sources: Vec<Source>) -> ReportTable {
    Builder::new(sources)
        .labels(results, places, |source| &source.key)
        .text("measure", |source| Some(column(source.kind).to_owned()))
        .text("source", |source| Some(source.row.source.to_owned()))
        .real("ss", |source| Some(source.row.ss))
        .count("df", |source| Some(source.row.df))
        .real("ms", |source| source.row.ms)
        .real("f", |source| source.row.f)
        .real("p", |source| source.row.p)
        .real("f_crit", |source| source.row.f_crit)
        .table(
            "series-anova",
            "Source of variation of the analysis of variance over steps",
        )
}

fn rows<'a>(results: &'a StudyResults, report: SeriesReport, places: &[usize]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for run in &results.runs {
        let delay = report.delay_of(run);
        for &point in &run.series {
            if point.get(report.rate).or(point.get(delay)).is_none() {
                continue;
            }
            rows.push(Row {
                key: key(&run.labels, places),
                variant: run.labels[report.variant].clone(),
                run,
                point,
                delay,
            });
        }
    }
    // Stable: runs stay in their order, and points in theirs.
    rows.sort_by(|a, b| (&a.key, &a.variant).cmp(&(&b.key, &b.variant)));
    rows
}

/// The steps of each variant: first of the rate, then of the delay.
fn samples(rows: &[Row<'_>], report: SeriesReport) -> Vec<Sample> {
    let mut samples: BTreeMap<(&GroupKey, SeriesKind, &Option<LabelValue>), Sample> =
        BTreeMap::new();
    for of_run in rows.chunk_by(|a, b| std::ptr::eq(a.run, b.run)) {
        let Row {
            key,
            variant,
            delay,
            ..
        } = &of_run[0];
        for kind in [report.rate, *delay] {
            let values = of_run.iter().filter_map(|row| row.point.get(kind));
            let values: Vec<f64> = values.map(|value| value / 1e6).collect();
            if values.is_empty() {
                continue;
            }
            let sample = samples.entry((key, kind, variant));
            let sample = sample.or_insert_with(|| Sample {
                key: key.clone(),
                kind,
                variant: variant.clone(),
                runs: 0,
                values: Vec::new(),
            });
            sample.runs += 1;
            sample.values.extend(values);
        }
    }
    samples.into_values().collect()
}

/// The analysis of variance of all variants under one condition.
fn sources(samples: &[Sample]) -> Vec<Source> {
    let values: Vec<&Vec<f64>> = samples.iter().map(|sample| &sample.values).collect();
    let rows = Anova::of_samples(&values).map(|anova| anova.rows());
    let source = |row| Source {
        key: samples[0].key.clone(),
        kind: samples[0].kind,
        row,
    };
    rows.into_iter().flatten().map(source).collect()
}
