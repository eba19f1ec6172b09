//! The study of streams with ping beside: runs, or their flows, in steps of time, box statistics of the steps, and
//! their analysis of variance.

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, ReportTable, conditions, key};
use crate::metric::stats::{Anova, AnovaRow, BoxPlot, GroupSummary};
use crate::study::groups::GroupKey;
use crate::study::labels::LabelValue;
use crate::study::measure::{SeriesKind, SeriesOf, SeriesPoint};
use crate::study::results::{StudyFlow, StudyResults, StudyRun};

/// What the report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesReport {
    /// Place of the label that tells variants apart.
    pub variant: usize,
    /// Whether it follows runs, or each of their flows.
    pub of: SeriesOf,
    /// Steps of captures, in ns.
    pub step_ns: i64,
    /// Goodput or throughput.
    pub rate: SeriesKind,
    /// Pings or round-trip times; `None`: pings, and of a run without any the round-trip times.
    pub delay: Option<SeriesKind>,
}

/// A run over time, or one of its flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesLine<'a> {
    /// The run.
    pub(crate) run: &'a StudyRun,
    /// The flow; `None`: all of the run.
    flow: Option<&'a StudyFlow>,
    /// Its steps: some.
    pub(crate) points: &'a [SeriesPoint],
    /// When the first step of its run begins, in ns.
    pub(crate) start_ns: i64,
}

impl<'a> SeriesLine<'a> {
    /// Its value of a label.
    pub(crate) fn label(&self, place: usize) -> Option<&'a LabelValue> {
        let labels = self.flow.map_or(&self.run.labels, |flow| &flow.labels);
        labels[place].as_ref()
    }

    /// Whether any of its steps has a value of this kind.
    pub(crate) fn has(&self, kind: SeriesKind) -> bool {
        self.points.iter().any(|point| point.get(kind).is_some())
    }
}

impl SeriesReport {
    /// What it follows of a run: the run, or each of its flows; of one that was measured elsewhere, of which flows are
    /// not known over time, the run.
    pub(crate) fn lines<'a>(&self, run: &'a StudyRun) -> Vec<SeriesLine<'a>> {
        let line = |flow: Option<&'a StudyFlow>, points: &'a [SeriesPoint]| SeriesLine {
            run,
            flow,
            points,
            start_ns: points.first().map_or(0, |point| point.time_ns),
        };
        let mut lines: Vec<SeriesLine<'a>> = match self.of {
            SeriesOf::Runs => vec![line(None, &run.series)],
            SeriesOf::Flows => {
                let flows = run.flows.iter();
                let flows = flows.map(|flow| line(Some(flow), &flow.measure.series));
                flows.chain([line(None, &run.series)]).collect()
            }
        };
        lines.retain(|line| !line.points.is_empty());
        // Flows of one run stay beside each other in time.
        let start_ns = lines.iter().map(|line| line.start_ns).min();
        for line in &mut lines {
            line.start_ns = start_ns.unwrap_or(line.start_ns);
        }
        lines
    }

    /// What stands for the delay of a run or a flow.
    fn delay_of(&self, line: &SeriesLine<'_>) -> SeriesKind {
        self.delay.unwrap_or_else(|| {
            if line.has(SeriesKind::Ping) {
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

/// A step of a run or a flow.
struct Row<'a> {
    key: GroupKey,
    variant: Option<LabelValue>,
    /// Place of the run among all.
    place: usize,
    line: SeriesLine<'a>,
    point: SeriesPoint,
    delay: SeriesKind,
}

/// All steps of the runs of one variant under one condition that have a value.
#[derive(Clone)]
struct Sample {
    key: GroupKey,
    kind: SeriesKind,
    variant: Option<LabelValue>,
    /// Places of the runs.
    runs: BTreeSet<usize>,
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
    let mut builder = Builder::new(rows)
        .labels(results, places, |row| &row.key)
        .label(&label, |row| row.variant.as_ref())
        .text("capture", |row| Some(row.line.run.name.clone()));
    if report.of == SeriesOf::Flows {
        builder = builder.count("flow", |row| Some(row.line.flow?.start as u64));
    }
    let title = match report.of {
        SeriesOf::Runs => "Runs in steps of time, with the delay beside",
        SeriesOf::Flows => "Flows in steps of time, with the delay beside",
    };
    builder
        .real("time_s", |row| Some(row.point.time_ns as f64 / 1e9))
        .real(rate, |row| Some(row.point.get(report.rate)? / 1e6))
        .text("delay", |row| {
            row.point.get(row.delay)?;
            Some(column(row.delay).to_owned())
        })
        .real("delay_ms", |row| Some(row.point.get(row.delay)? / 1e6))
        .table("series", title)
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
    let title = match report.of {
        SeriesOf::Runs => "Box plots of the steps of all runs",
        SeriesOf::Flows => "Box plots of the steps of all flows",
    };
    let boxed = |sample: &Sample| BoxPlot::of(&sample.values);
    let summary = |sample: &Sample| GroupSummary::of(&sample.values);
    let boxes = about(samples.clone())
        .count("runs", |sample| Some(sample.runs.len() as u64))
        .count("n", |sample| Some(sample.values.len() as u64))
        .real("whisker_low", |sample| Some(boxed(sample)?.whisker_low))
        .real("q1", |sample| Some(boxed(sample)?.q1))
        .real("median", |sample| Some(boxed(sample)?.median))
        .real("q3", |sample| Some(boxed(sample)?.q3))
        .real("whisker_high", |sample| Some(boxed(sample)?.whisker_high))
        .count("outliers", |sample| {
            Some(boxed(sample)?.outliers.len() as u64)
        })
        .table("series-boxes", title);
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
    let lines = results.runs.iter().enumerate();
    let lines = lines.flat_map(|(place, run)| {
        let lines = report.lines(run).into_iter();
        lines.map(move |line| (place, line))
    });
    for (place, line) in lines {
        let delay = report.delay_of(&line);
        for &point in line.points {
            if point.get(report.rate).or(point.get(delay)).is_none() {
                continue;
            }
            rows.push(Row {
                key: key(&line.run.labels, places),
                variant: line.label(report.variant).cloned(),
                place,
                line,
                point,
                delay,
            });
        }
    }
    // Stable: runs and flows stay in their order, and points in theirs.
    rows.sort_by(|a, b| (&a.key, &a.variant).cmp(&(&b.key, &b.variant)));
    rows
}

/// The steps of each variant: first of the rate, then of the delay.
fn samples(rows: &[Row<'_>], report: SeriesReport) -> Vec<Sample> {
    let mut samples: BTreeMap<(&GroupKey, SeriesKind, &Option<LabelValue>), Sample> =
        BTreeMap::new();
    let is_of_one = |a: &Row<'_>, b: &Row<'_>| std::ptr::eq(a.line.points, b.line.points);
    for of_line in rows.chunk_by(is_of_one) {
        let Row {
            key,
            variant,
            delay,
            place,
            ..
        } = &of_line[0];
        for kind in [report.rate, *delay] {
            let values = of_line.iter().filter_map(|row| row.point.get(kind));
            let values: Vec<f64> = values.map(|value| value / 1e6).collect();
            if values.is_empty() {
                continue;
            }
            let sample = samples.entry((key, kind, variant));
            let sample = sample.or_insert_with(|| Sample {
                key: key.clone(),
                kind,
                variant: variant.clone(),
                runs: BTreeSet::new(),
                values: Vec::new(),
            });
            sample.runs.insert(*place);
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
